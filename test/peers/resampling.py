"""Makes a noisy raster, draws tiles of it with rio-tiler and integrates them exactly, each into a file of a folder.

Takes the folder. Writes scene.tif, jpeg-*.tif with jpeg-*.raw (their pixels by libjpeg-turbo), and for each tile and method three
rasters of float64: rio-tiler's pixels as it warps by default (by the nearest pixel), its pixels when it warps by the method itself, and
the integral: the kernel over the ground of the target pixel, times the source as the steps that its pixels are.
"""

import json
import math
import sys
import warnings
from pathlib import Path

import numpy
import pyproj
import rasterio
from PIL import Image
from rasterio.transform import from_origin
from rio_tiler.io import Reader

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
SIDE, PIXEL, WEST, NORTH = 1200, 10, 500_000, 5_000_000
WORLD = 2 * math.pi * 6378137
CUT = 32
STEPS = 24

random = numpy.random.default_rng(3)
rows, columns = numpy.mgrid[0:SIDE, 0:SIDE]
waves = 128 + 60 * numpy.sin(columns / 9) + 40 * numpy.cos(rows / 7)
samples = (waves + random.normal(0, 25, (SIDE, SIDE))).clip(0, 255).astype("uint8")
place = {"crs": "EPSG:32633", "transform": from_origin(WEST, NORTH, PIXEL, PIXEL), "driver": "GTiff", "dtype": "uint8"}
with rasterio.open(folder / "scene.tif", "w", width=SIDE, height=SIDE, count=1, tiled=True, **place) as file:
    file.write(samples, 1)

colors = random.integers(0, 256, (3, 333, 441)).astype("uint8")
for name, layout in {"tiles": {"tiled": True, "blockxsize": 128, "blockysize": 128}, "strips": {}, "tall": {"blockysize": 48}}.items():
    path = folder / f"jpeg-{name}.tif"
    with rasterio.open(path, "w", width=441, height=333, count=3, compress="jpeg", photometric="ycbcr", **place, **layout) as file:
        file.write(colors)
    # Pillow's GeoTIFFs are decoded by libjpeg-turbo, as in most builds of GDAL; rasterio's wheels have the IJG's libjpeg 9 instead,
    # which enlarges colours in the frequency domain and is tens of levels away from both.
    numpy.asarray(Image.open(path).convert("RGB")).transpose(2, 0, 1).tofile(folder / f"jpeg-{name}.raw")


def kernel(method, offsets):
    distance = numpy.abs(offsets)
    if method == "bilinear":
        return numpy.clip(1 - distance, 0, None)
    near = 1.5 * distance**3 - 2.5 * distance**2 + 1
    far = -0.5 * distance**3 + 2.5 * distance**2 - 4 * distance + 2
    return numpy.where(distance < 1, near, numpy.where(distance < 2, far, 0))


to_mercator = pyproj.Transformer.from_crs(32633, 3857, always_xy=True)
from_mercator = pyproj.Transformer.from_crs(3857, 32633, always_xy=True)
middle = to_mercator.transform(WEST + SIDE * PIXEL / 2, NORTH - SIDE * PIXEL / 2)
offsets = (numpy.arange(4 * STEPS) + 0.5) / STEPS - 2
tiles = []
for zoom in (11, 12):
    count = 2**zoom
    x, y = int((middle[0] + WORLD / 2) / WORLD * count), int((WORLD / 2 - middle[1]) / WORLD * count)
    left, top, step = -WORLD / 2 + x * WORLD / count, WORLD / 2 - y * WORLD / count, WORLD / count / 256
    column = max(0, min(256 - CUT, int((middle[0] - left) / step) - CUT // 2))
    row = max(0, min(256 - CUT, int((top - middle[1]) / step) - CUT // 2))
    for method in ("bilinear", "cubic"):
        name = f"{zoom}-{method}"
        tiles.append({"name": name, "method": method, "z": zoom, "x": x, "y": y, "column": column, "row": row, "cut": CUT})
        with Reader(str(folder / "scene.tif")) as reader:
            for kind, how in {"nearest": {}, "same": {"reproject_method": method}}.items():
                drawn = numpy.asarray(reader.tile(x, y, zoom, resampling_method=method, **how).data[0], dtype="float64")
                drawn[row : row + CUT, column : column + CUT].tofile(folder / f"{name}-{kind}.raw")
        weights = numpy.outer(kernel(method, offsets), kernel(method, offsets))
        exact = numpy.zeros((CUT, CUT))
        for i in range(CUT):
            for j in range(CUT):
                across, down = left + (column + j + 0.5 + offsets) * step, top - (row + i + 0.5 + offsets) * step
                grid = from_mercator.transform(*numpy.meshgrid(across[:: len(across) - 1], down[:: len(down) - 1]))
                u = (offsets - offsets[0]) / (offsets[-1] - offsets[0])
                bent = [
                    numpy.outer(1 - u, corner[0, 0] * (1 - u) + corner[0, 1] * u) + numpy.outer(u, corner[1, 0] * (1 - u) + corner[1, 1] * u)
                    for corner in grid
                ]
                sx = numpy.floor((bent[0] - WEST) / PIXEL).astype(int)
                sy = numpy.floor((NORTH - bent[1]) / PIXEL).astype(int)
                inside = weights * ((sx >= 0) & (sx < SIDE) & (sy >= 0) & (sy < SIDE))
                exact[i, j] = (inside * samples[sy.clip(0, SIDE - 1), sx.clip(0, SIDE - 1)]).sum() / inside.sum()
        exact.tofile(folder / f"{name}-exact.raw")
json.dump(tiles, sys.stdout)
