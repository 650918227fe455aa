"""A statistic of each band over scenes that lie on one grid, by numpy."""

import sys, numpy as np, warnings
from osgeo import gdal
warnings.simplefilter('ignore')
statistic, out, *paths = sys.argv[1:]
ds = [gdal.Open(p) for p in paths]
left = min(d.GetGeoTransform()[0] for d in ds); top = max(d.GetGeoTransform()[3] for d in ds)
right = max(d.GetGeoTransform()[0] + 10 * d.RasterXSize for d in ds); bottom = min(d.GetGeoTransform()[3] - 10 * d.RasterYSize for d in ds)
w, h = round((right - left) / 10), round((top - bottom) / 10)
stack = np.full((len(ds), ds[0].RasterCount, h, w), np.nan)
for i, d in enumerate(ds):
    g = d.GetGeoTransform(); x, y = round((g[0] - left) / 10), round((top - g[3]) / 10)
    p = d.ReadAsArray().astype(np.float64); p[:, (p == 0).all(axis=0)] = np.nan
    stack[i, :, y:y + d.RasterYSize, x:x + d.RasterXSize] = p
v = dict(median=np.nanmedian, mean=np.nanmean, max=np.nanmax, min=np.nanmin)[statistic](stack, axis=0)
o = gdal.GetDriverByName('GTiff').Create(out, w, h, v.shape[0], gdal.GDT_Float32, ['TILED=YES', 'COMPRESS=DEFLATE'])
o.SetGeoTransform([left, 10, 0, top, 0, -10]); o.SetProjection(ds[0].GetProjection())
for i, plane in enumerate(v): o.GetRasterBand(i + 1).WriteArray(plane.astype(np.float32)); o.GetRasterBand(i + 1).SetNoDataValue(np.nan)
