"""The peer of `bench/stats.ts`: the same numbers by rasterio and numpy, timed inside the process. Prints JSON."""

import json
import sys
import time

import numpy as np
import rasterio
from rasterio.features import geometry_mask, geometry_window
from rasterio.warp import transform_geom

path, geometry, repeats = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])


def describe():
    with rasterio.open(path) as file:
        shape = transform_geom("EPSG:4326", file.crs, geometry)
        window = geometry_window(file, [shape])
        samples = file.read(1, window=window, masked=True)
        outside = geometry_mask([shape], samples.shape, file.window_transform(window))
        values = samples[~outside].compressed()
    counts, edges = np.histogram(values, bins=10)
    low, middle, high = np.percentile(values, [2, 50, 98])
    return {"count": int(values.size), "min": float(values.min()), "max": float(values.max()), "mean": float(values.mean(dtype="float64")), "std": float(values.std(dtype="float64")), "p2": float(low), "p98": float(high)}


describe()
times, cpu = [], []
for _ in range(repeats):
    started, used = time.perf_counter(), time.process_time()
    result = describe()
    times.append((time.perf_counter() - started) * 1000)
    cpu.append((time.process_time() - used) * 1000)
print(json.dumps({"ms": sorted(times)[repeats // 2], "cpuMs": min(cpu), **result}))
