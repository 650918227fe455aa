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
    # Pixels that a kernel of two source pixels on each side cannot reach from anything missing, nor from the edge.
    near = np.pad(m | n, 4, constant_values=True)
    for axis in (0, 1): near = np.logical_or.reduce([np.roll(near, k, axis) for k in range(-4, 5)])
    far = both & ~near[4:-4, 4:-4]
    out.append(dict(far=int((np.abs(p - q)[far] > 0.01).sum()), pixels=int(both.sum()), masks=int((m != n).sum()), differ=int((d > 0).sum()),
        most=float(d.max()) if d.size else 0.0, mean=float(d.mean()) if d.size else 0.0))
print(json.dumps(out))
