"""A terrain of waves and noise with a hole, three scenes of four bands that overlap in part, classes, and a panchromatic band."""

import sys, numpy as np
from osgeo import gdal, osr
gdal.UseExceptions()
folder, size = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(7)
srs = osr.SpatialReference(); srs.ImportFromEPSG(32755)
def write(name, planes, kind, transform, nodata=None):
    ds = gdal.GetDriverByName('GTiff').Create(f'{folder}/{name}.tif', planes.shape[2], planes.shape[1], planes.shape[0], kind,
      ['TILED=YES', 'BLOCKXSIZE=256', 'BLOCKYSIZE=256', 'COMPRESS=DEFLATE', 'INTERLEAVE=PIXEL'])
    ds.SetProjection(srs.ExportToWkt()); ds.SetGeoTransform(transform)
    for i, plane in enumerate(planes):
        ds.GetRasterBand(i + 1).WriteArray(plane)
        if nodata is not None: ds.GetRasterBand(i + 1).SetNoDataValue(nodata)
    ds = None
y, x = np.mgrid[0:size, 0:size].astype(np.float64)
heights = (500 + 200 * np.sin(x / 60) * np.cos(y / 45) + rng.normal(0, 2, (size, size))).astype(np.float32)
heights[300:340, 200:280] = -9999
write('dem', heights[None], gdal.GDT_Float32, [600000, 10, 0, 6100000, 0, -10], -9999)
for i, shift in enumerate([0, 40, 90]):
    bands = rng.integers(200, 6000, (4, size, size)).astype(np.uint16)
    bands[:, (x + y) % 211 < 20 * (i + 1)] = 0
    write(f'scene{i}', bands, gdal.GDT_UInt16, [600000 + 10 * shift, 10, 0, 6100000 - 10 * shift, 0, -10], 0)
waves = np.sin(x / 70)[None] * np.cos(y / 50)[None] * np.array([1, .8, .6, .9])[:, None, None]
smooth = np.clip(3000 + 2000 * waves, 1, 9000).astype(np.uint16)
write('colours', smooth[:, ::4, ::4], gdal.GDT_UInt16, [600000, 40, 0, 6100000, 0, -40])
pan = (smooth.mean(axis=0) + rng.integers(-200, 200, (size, size)))[None].astype(np.uint16)
write('pan', pan, gdal.GDT_UInt16, [600000, 10, 0, 6100000, 0, -10])
classes = ((np.sin(x / 40) + np.cos(y / 33)) * 2 + 5).astype(np.uint8); classes[10:60, 10:60] = 0
write('classes', classes[None], gdal.GDT_Byte, [600000, 10, 0, 6100000, 0, -10], 0)
