"""Compares two rasters band by band; a third argument says that values are degrees."""

import sys, json, numpy as np
from osgeo import gdal
a, b = [gdal.Open(p) for p in sys.argv[1:3]]
shape = lambda r: (r.RasterXSize, r.RasterYSize, r.RasterCount)
assert shape(a) == shape(b), (shape(a), shape(b))
assert np.allclose(a.GetGeoTransform(), b.GetGeoTransform(), atol=1e-6), (a.GetGeoTransform(), b.GetGeoTransform())
out = []
for i in range(a.RasterCount):
    x, y = [d.GetRasterBand(i + 1) for d in (a, b)]
    p, q = x.ReadAsArray().astype(np.float64), y.ReadAsArray().astype(np.float64)
    m, n = [np.isnan(v) | (v == (band.GetNoDataValue() if band.GetNoDataValue() is not None else np.nan)) for v, band in ((p, x), (q, y))]
    both = ~m & ~n
    d = np.abs(p - q)[both]
    if len(sys.argv) > 3: d = np.minimum(d, 360 - d) # North is 0 and 360.
    out.append(dict(pixels=int(both.sum()), masks=int((m != n).sum()), differ=int((d > 0).sum()),
        most=float(d.max()) if d.size else 0.0, mean=float(d.mean()) if d.size else 0.0))
print(json.dumps(out))
