"""Evaluates expressions over several one-band files with rasterio and numpy, on the grid of the first file.

Takes a folder with cases.json; writes for each case its values as float64 (NaN without data) into <name>.raw.
With `warps` as second argument, warps the files of warps.json to Web Mercator, bilinearly, into <name>.warp.
"""

import json
import sys
from pathlib import Path

import numpy
import rasterio
from affine import Affine
from rasterio.enums import Resampling
from rasterio.vrt import WarpedVRT
from rasterio.windows import Window

folder = Path(sys.argv[1])


def read(file, reference, window):
    """Samples of a file on the pixels of the reference, and where they are data."""
    options = {
        "crs": reference.crs,
        "transform": reference.transform,
        "width": reference.width,
        "height": reference.height,
        "resampling": Resampling.nearest,
    }
    # The transformation between equal systems is exact; a tolerance of 0 is refused.
    with rasterio.open(folder / file) as source, WarpedVRT(source, **options) as warped:
        return warped.read(1, window=window), warped.read_masks(1, window=window) != 0


def warp(case):
    """Bilinear samples of a file on the pixels of a Web Mercator tile."""
    options = {
        "crs": "EPSG:3857",
        "transform": Affine(case["pixelM"], 0, case["left"], 0, -case["pixelM"], case["top"]),
        "width": case["size"],
        "height": case["size"],
        "resampling": Resampling.bilinear,
        "dtype": "float64",
        "tolerance": 0.001,
    }
    with rasterio.open(folder / case["file"]) as source, WarpedVRT(source, **options) as warped:
        warped.read(1).astype("float64").tofile(folder / f"{case['name']}.warp")


if sys.argv[2:] == ["warps"]:
    for case in json.loads((folder / "warps.json").read_text()):
        warp(case)
    sys.exit()

for case in json.loads((folder / "cases.json").read_text()):
    window = Window(*case["window"])
    bands, valid = {}, True
    with rasterio.open(folder / case["reference"]) as reference:
        for name, band in case["bands"].items():
            samples, is_data = read(band["file"], reference, window)
            bands[name] = samples.astype("float64") * band["scale"] + band["offset"]
            valid = valid & is_data
    with numpy.errstate(all="ignore"):
        values = eval(case["python"], {"numpy": numpy}, bands)
    values = numpy.where(valid & numpy.isfinite(values), values, numpy.nan)
    values.astype("float64").tofile(folder / f"{case['name']}.raw")
