"""Our polygons beside GDAL's: which are not valid in shapely, and how areas of each class compare."""

import json
import sys
from collections import Counter, defaultdict

import rasterio
import shapely
from rasterio.features import shapes
from shapely.geometry import shape

folder = sys.argv[1]
with open(f"{folder}/polygons.geojson") as file:
    ours = [(feature["properties"]["value"], shape(feature["geometry"])) for feature in json.load(file)["features"]]
with rasterio.open(f"{folder}/classes.tif") as source:
    band = source.read(1)
    theirs = [(value, shape(found)) for found, value in shapes(band, mask=band != source.nodata, connectivity=4, transform=source.transform)]


def areas(found):
    total = defaultdict(float)
    for value, polygon in found:
        total[value] += polygon.area
    return total


mine, gdal = areas(ours), areas(theirs)
print(
    json.dumps(
        {
            "count": len(ours),
            "invalid": [shapely.is_valid_reason(polygon) for _, polygon in ours if not polygon.is_valid],
            "same_count": Counter(value for value, _ in ours) == Counter(value for value, _ in theirs),
            "largest_difference": max(abs(mine[value] / gdal[value] - 1) for value in gdal),
        }
    )
)
