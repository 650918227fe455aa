"""The normalized difference of bands 4 and 3, by numpy."""

import sys, numpy as np
from osgeo import gdal
a = gdal.Open(sys.argv[1]); p = a.ReadAsArray().astype(np.float64)
with np.errstate(all='ignore'): v = (p[3] - p[2]) / (p[3] + p[2])
v[(p[3] == 0) | (p[2] == 0)] = np.nan
o = gdal.GetDriverByName('GTiff').Create(sys.argv[2], a.RasterXSize, a.RasterYSize, 1, gdal.GDT_Float32, ['TILED=YES', 'COMPRESS=DEFLATE'])
o.SetGeoTransform(a.GetGeoTransform()); o.SetProjection(a.GetProjection())
o.GetRasterBand(1).WriteArray(v.astype(np.float32)); o.GetRasterBand(1).SetNoDataValue(np.nan)
