"""Writes src/raster/statistics/reference.json: what numpy says about samples that the tests make by the same rules.

Run in a throw-away virtual environment with numpy 2, from the repository's root; the file it makes is committed.
"""

import json

import numpy as np

PERCENTILES = [0, 2, 25, 50, 61.8, 98, 100]
SIDE = 100


def samples(kind):
    i = np.arange(SIDE * SIDE, dtype=np.int64)
    mixed = (i * 7919 + 13) % 10007
    if kind == "uint8":
        return (mixed % 256).astype(np.uint8)
    if kind == "uint16":
        return (mixed * 5).astype(np.uint16)
    if kind == "int16":
        return (mixed - 5000).astype(np.int16)
    if kind == "float32":
        return np.where(mixed % 11 == 0, np.nan, mixed / 7 - 300).astype(np.float32)
    return mixed * 1e6 + mixed / 3


def describe(values, weights=None):
    values = values.astype(np.float64)
    counts, edges = np.histogram(values, bins=7, weights=weights)
    mean = np.average(values, weights=weights)
    method = "linear" if weights is None else "inverted_cdf"
    return {
        "count": float(len(values) if weights is None else weights.sum()),
        "min": float(values.min()),
        "max": float(values.max()),
        "mean": float(mean),
        "std": float(np.sqrt(np.average((values - mean) ** 2, weights=weights))),
        "sum": float(values.sum() if weights is None else (values * weights).sum()),
        "percentiles": [float(v) for v in np.percentile(values, PERCENTILES, method=method, weights=weights)],
        "histogram": {"counts": [float(c) for c in counts], "edges": [float(e) for e in edges]},
    }


cases = {}
for kind in ["uint8", "uint16", "int16", "float32", "float64"]:
    data = samples(kind)
    valid = np.isfinite(data) if kind == "float32" else data != data[17]
    cases[kind] = {"nodata": None if kind == "float32" else float(data[17]), **describe(data[valid])}

numbers = samples("float64")
weights = ((np.arange(SIDE * SIDE) * 31) % 17) / 16
keep = weights > 0
cases["weighted"] = describe(numbers[keep], weights[keep])
bytes_ = samples("uint8")
cases["weighted_uint8"] = describe(bytes_[keep], weights[keep])
ratio = samples("uint16").astype(np.float64) / (samples("uint8").astype(np.float64))
cases["expression"] = describe(ratio[np.isfinite(ratio)])

with open("src/raster/statistics/reference.json", "w") as file:
    json.dump({"percentiles": PERCENTILES, "side": SIDE, "cases": cases}, file, indent=1)
