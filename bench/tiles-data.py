"""Makes the rasters of `bench:tiles` in the folder given: a UTM scene of four 16-bit bands, an aerial JPEG and a DEM.
With `plain` as the second argument, makes of these, which must be there, what people upload: tiles, deflate, no overviews.
With `types`, COGs of other sample types of the same ground: bytes, 16-bit heights and heights in doubles.

Runs in the virtual environment of the peer, so both sides read the same files, written by GDAL's own COG driver.
"""

import os
import sys

import numpy as np
import rasterio
from rasterio.crs import CRS
from rasterio.shutil import copy
from rasterio.transform import from_bounds, from_origin

folder = sys.argv[1]
if sys.argv[2:] == ["plain"]:
    for name, predictor in [("utm", 2), ("dem", 3)]:
        copy(f"{folder}/{name}.tif", f"{folder}/{name}-plain.tif", driver="GTiff", TILED="YES", COMPRESS="DEFLATE", PREDICTOR=predictor)
    sys.exit()
if sys.argv[2:] == ["types"]:
    for name, made, change in [
        ("utm", "utm-uint8", lambda band: np.where(band == 0, 0, np.clip((band.astype(np.float32) - 400) / 2600 * 255, 1, 255)).astype(np.uint8)),
        ("dem", "dem-int16", lambda band: np.round(band).astype(np.int16)),
        ("dem", "dem-float64", lambda band: band.astype(np.float64)),
    ]:
        with rasterio.open(f"{folder}/{name}.tif") as file:
            bands = [change(file.read(number)) for number in range(1, min(3, file.count) + 1)]
            profile = dict(crs=file.crs, transform=file.transform, nodata=file.nodata, width=file.width, height=file.height, count=len(bands), dtype=bands[0].dtype)
        with rasterio.open(f"{folder}/{made}.scratch.tif", "w", driver="GTiff", tiled=True, **profile) as file:
            for number, band in enumerate(bands, 1):
                file.write(band, number)
        copy(f"{folder}/{made}.scratch.tif", f"{folder}/{made}.tif", driver="COG", BLOCKSIZE=512, NUM_THREADS=2, COMPRESS="DEFLATE", PREDICTOR="YES")
        os.remove(f"{folder}/{made}.scratch.tif")
    sys.exit()
SCENE, DEM = 4096, 2048


def fractal(size, octaves, seed, gain=0.55):
    """Smooth noise over many scales, from 0 to 1: compresses and looks like land."""
    random = np.random.default_rng(seed)
    total = np.zeros((size, size), np.float32)
    amplitude = 1.0
    for octave in range(octaves):
        cells = 2 ** (octave + 2)
        if cells > size:
            break
        nodes = random.standard_normal((cells + 1, cells + 1)).astype(np.float32)
        place = np.linspace(0, cells, size, endpoint=False, dtype=np.float32)
        index = place.astype(int)
        share = place - index
        share = share * share * (3 - 2 * share)
        rows = nodes[index] * (1 - share)[:, None] + nodes[index + 1] * share[:, None]
        total += amplitude * (rows[:, index] * (1 - share) + rows[:, index + 1] * share)
        amplitude *= gain
    total -= total.min()
    return total / total.max()


def write(name, bands, options, **profile):
    height, width = bands[0].shape
    path, scratch = f"{folder}/{name}.tif", f"{folder}/{name}.scratch.tif"
    with rasterio.open(scratch, "w", driver="GTiff", width=width, height=height, count=len(bands), dtype=bands[0].dtype, tiled=True, **profile) as file:
        for number, band in enumerate(bands, 1):
            file.write(band, number)
    copy(scratch, path, driver="COG", BLOCKSIZE=512, NUM_THREADS=2, **options)
    os.remove(scratch)


plants, soil, detail = fractal(SCENE, 11, 1), fractal(SCENE, 11, 2), fractal(SCENE, 12, 3, 0.8)
scene = []
for number, (a, b, c) in enumerate([(400, 900, 500), (600, 1100, 500), (500, 1600, 600), (2600, 900, 700)]):
    band = (plants if number == 3 else 1 - plants) * a + soil * b + detail * c + 200
    band += np.random.default_rng(10 + number).normal(0, 60, band.shape).astype(np.float32)
    scene.append(np.clip(band, 1, 10000).astype(np.uint16))
rows, columns = np.mgrid[0:SCENE, 0:SCENE]
outside = (columns + rows * 0.25 < 600) | ((SCENE - columns) + (SCENE - rows) * 0.25 < 600)
for band in scene:
    band[outside] = 0
write("utm", scene, dict(COMPRESS="DEFLATE", PREDICTOR="YES", OVERVIEW_RESAMPLING="AVERAGE"), crs=CRS.from_epsg(32755), transform=from_origin(600000, 6100000, 10, 10), nodata=0)

aerial = [np.clip((scene[i].astype(np.float32) - 400) / 2600 * 255, 0, 255).astype(np.uint8) for i in (2, 1, 0)]
PIXEL_M = 1.1943285668550503
write("jpeg", aerial, dict(COMPRESS="JPEG", QUALITY=85), crs=CRS.from_epsg(3857), transform=from_origin(16400000, -4500000, PIXEL_M, PIXEL_M), photometric="RGB")

heights = (fractal(DEM, 11, 5, 0.5) * 1800 - 20 + np.random.default_rng(99).normal(0, 0.3, (DEM, DEM))).astype(np.float32)
heights[:150, :250] = -9999
write("dem", [heights], dict(COMPRESS="DEFLATE", PREDICTOR="YES"), crs=CRS.from_epsg(4326), transform=from_bounds(147, -37, 148.1, -36, DEM, DEM), nodata=-9999)
