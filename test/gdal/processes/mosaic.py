"""Whether each pixel of a mosaic is that of the scene whose number stands there, and whether that is the right scene."""

import sys, json, numpy as np
from osgeo import gdal
choice, data, index, *paths = sys.argv[1:]
m, k = gdal.Open(data), gdal.Open(index).ReadAsArray()
g = m.GetGeoTransform(); p = m.ReadAsArray()
stack = np.zeros((len(paths),) + p.shape, p.dtype)
for i, path in enumerate(paths):
    d = gdal.Open(path); t = d.GetGeoTransform(); x, y = round((t[0] - g[0]) / 10), round((g[3] - t[3]) / 10)
    stack[i, :, y:y + d.RasterYSize, x:x + d.RasterXSize] = d.ReadAsArray()
wrong = 0
for i in range(len(paths)): wrong += int(((k == i + 1) & (p != stack[i]).any(axis=0)).sum())
valid = (stack != 0).any(axis=1)
score = stack.astype(np.float64).sum(axis=1); score[~valid] = np.nan
order = dict(first=lambda: np.where(valid, -np.arange(len(paths))[:, None, None], -1e9),
    brightest=lambda: np.where(valid, score, -1), darkest=lambda: np.where(valid, -score, -1e9),
  median=lambda: np.where(valid, -np.abs(score - np.nanmedian(score, axis=0)), -1e9))[choice]()
expected = np.where(valid.any(axis=0), order.argmax(axis=0) + 1, 0)
print(json.dumps(dict(wrong=wrong, other=int((k != expected).sum()), empty=int(((k == 0) & valid.any(axis=0)).sum()), pixels=int(k.size))))
