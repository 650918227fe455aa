"""The peer of `bench/zonal.ts`: the same questions to exactextract, timed inside the process. Writes peer.json, or peer-series.json."""

import json
import resource
import sys
import time

import numpy as np
import rasterio
from exactextract import exact_extract
from exactextract.raster import NumPyRasterSource

folder, field, scenes, forms = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
only_series = sys.argv[5:] == ["series"]
features = [] if only_series else json.load(open(f"{folder}/parcels.json"))["features"]
for number, feature in enumerate(features):
    feature["id"] = number

BASIC = ["count", "sum", "mean", "min", "max", "stdev", "variance"]
NAMES = {"quantile(q=0.1)": "quantile_10", "quantile(q=0.9)": "quantile_90"}
ALL = BASIC + ["median", "majority", "minority", "variety", "quantile(q=0.1)", "quantile(q=0.9)"]


def timed(work):
    started, used = time.perf_counter(), time.process_time()
    result = work()
    return {"result": result, "ms": (time.perf_counter() - started) * 1000, "cpuMs": (time.process_time() - used) * 1000}


def many(ops, strategy):
    with rasterio.open(f"{folder}/large.tif") as file:
        found = exact_extract(file, features, ops, strategy=strategy)
    names = [NAMES.get(op, op) for op in ops]
    return [[None if one["properties"][name] is None else float(one["properties"][name]) for name in names] for one in found]


def series(form):
    means = []
    wanted = [{"type": "Feature", "id": 0, "properties": {}, "geometry": field}]
    xs = [x for x, _ in field["coordinates"][0]]
    ys = [y for _, y in field["coordinates"][0]]
    for index in range(scenes):
        with rasterio.open(f"{folder}/{form}-{index % 20}.tif") as file:
            window = file.window(min(xs), min(ys), max(xs), max(ys)).round_offsets(op="floor").round_lengths(op="ceil")
            window = rasterio.windows.Window(window.col_off, window.row_off, window.width + 1, window.height + 1)
            red, nir = (band.astype("float64") for band in file.read([1, 2], window=window))
            west, south, east, north = rasterio.windows.bounds(window, file.transform)
            source = NumPyRasterSource((nir - red) / (nir + red), xmin=west, ymin=south, xmax=east, ymax=north)
        means.append(float(exact_extract(source, wanted, ["mean"])[0]["properties"]["mean"]))
    return means


def pixels_of_different(mine, theirs):
    """Value and share of each pixel of the parcels about which the two sides do not agree."""
    differ = [
        number
        for number, (a, b) in enumerate(zip(mine, theirs))
        if any(abs((x or 0) - (y or 0)) > 1e-6 * max(1e-12, abs(y or 0)) for x, y in list(zip(a, b))[: len(BASIC)] + list(zip(a, b))[8:11])
    ]
    with rasterio.open(f"{folder}/large.tif") as file:
        found = exact_extract(file, [features[number] for number in differ], ["values", "coverage"]) if differ else []
    pairs = [zip(one["properties"]["values"], one["properties"]["coverage"]) for one in found]
    return {number: [[float(value), float(share)] for value, share in each] for number, each in zip(differ, pairs)}


def timed_series():
    """The second one of each form, when files are in the page cache."""
    times = {}
    for form in forms:
        series(form)
        times[form] = timed(lambda: series(form))
    return times


if only_series:
    json.dump(timed_series(), open(f"{folder}/peer-series.json", "w"))
    sys.exit()

# Whichever of its two ways is faster here.
runs = [timed(lambda: many(BASIC, strategy)) for strategy in ("raster-sequential", "feature-sequential")]
best = min((0, 1), key=lambda k: runs[k]["cpuMs"])
everything = timed(lambda: many(ALL, ("raster-sequential", "feature-sequential")[best]))
answer = {
    "basic": runs[best],
    "all": everything,
    "time": timed_series(),
    "pixels": pixels_of_different(json.load(open(f"{folder}/ours.json"))["all"]["result"], everything["result"]),
    "maxRssMb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}
json.dump(answer, open(f"{folder}/peer.json", "w"))
print("exactextract ran", ("raster-sequential", "feature-sequential")[best], file=sys.stderr)
