"""Compares a computed raster with what rasterio and numpy compute from the same files on its grid.

Takes a file of JSON with the result's path, the expression and the bands; writes how many pixels were compared, and by how many units in the
last place of a 32-bit float they differ at most.
"""

import json
import sys
from pathlib import Path

import numpy
import rasterio
from rasterio.enums import Resampling
from rasterio.vrt import WarpedVRT

case = json.loads(Path(sys.argv[1]).read_text())
with rasterio.open(case["result"]) as result:
    ours = result.read(1)
    grid = {"crs": result.crs, "transform": result.transform, "width": result.width, "height": result.height}

bands, valid = {}, True
environment = {"GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR"}
with rasterio.Env(**environment):
    for name, band in case["bands"].items():
        with rasterio.open("/vsicurl/" + band["url"]) as source, WarpedVRT(source, resampling=Resampling.nearest, **grid) as warped:
            samples = warped.read(band["band"]).astype("float64")
            valid = valid & (warped.read_masks(band["band"]) != 0)
            bands[name] = samples * band["scale"] + band["offset"]

with numpy.errstate(all="ignore"):
    theirs = eval(case["expression"], {}, bands)
inside = ~numpy.isnan(ours)
if not (valid & numpy.isfinite(theirs))[inside].all():
    sys.exit("the result has values where the files have none")
ours, theirs = ours[inside], theirs[inside].astype("float32")
ulps = numpy.abs(ours.astype("float64") - theirs) / numpy.spacing(numpy.maximum(numpy.abs(theirs), numpy.float32(1e-6)))
print(json.dumps({"pixels": int(inside.size), "compared": int(inside.sum()), "worstUlps": float(ulps.max(initial=0))}))
