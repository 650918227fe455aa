"""PROJ's way between datums without grid files: for each pair of geographic systems whose areas overlap, a point and where it goes.

Takes a JSON list of EPSG codes, gives a JSON list of {from, to, accuracy, point: [lon, lat, lon there, lat there]}. Pairs for which
nothing is published are left out.
"""

import itertools
import json
import math
import sys
import warnings

import pyproj
from pyproj.aoi import AreaOfInterest
from pyproj.transformer import TransformerGroup

warnings.simplefilter("ignore")
pyproj.network.set_network_enabled(False)


def overlap(a, b):
    west, east = max(a.west, b.west), min(a.east, b.east)
    south, north = max(a.south, b.south, -85), min(a.north, b.north, 85)
    if a.west > a.east or b.west > b.east or west >= east or south >= north:
        return None
    return west, south, east, north


systems = {code: pyproj.CRS.from_epsg(code) for code in json.loads(sys.argv[1])}
pairs = []
for one, other in itertools.combinations(systems, 2):
    box = overlap(systems[one].area_of_use, systems[other].area_of_use)
    if box is None:
        continue
    west, south, east, north = box
    lon, lat = (west + east) / 2, (south + north) / 2
    # The area tells PROJ which of the published ways is meant here.
    area = AreaOfInterest(max(west, lon - 0.1), max(south, lat - 0.1), min(east, lon + 0.1), min(north, lat + 0.1))
    group = TransformerGroup(systems[one], systems[other], always_xy=True, area_of_interest=area)
    best = next(iter(group.transformers), None)
    if best is None or best.accuracy < 0:
        continue
    there = best.transform(lon, lat)
    if all(map(math.isfinite, there)):
        pairs.append({"from": one, "to": other, "accuracy": best.accuracy, "point": [lon, lat, *there]})
json.dump(pairs, sys.stdout)
