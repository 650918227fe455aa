"""Writes src/raster/colormap/reference.json: a few entries of matplotlib's colormaps, which ours must match.

Run in a throw-away virtual environment with matplotlib, from the repository's root; the file it makes is committed.
"""

import json

import numpy as np
from matplotlib import colormaps

PATH = "src/raster/colormap/reference.json"
INDICES = [0, 31, 63, 95, 127, 159, 191, 223, 255]

with open(PATH) as file:
    known = json.load(file)["colors"]

colors = {}
for name in colormaps:
    if name.lower() in known and not name.endswith("_r"):
        table = np.round(colormaps[name](np.linspace(0, 1, 256))[:, :3] * 255).astype(int)
        colors[name.lower()] = " ".join("%02x%02x%02x" % tuple(table[i]) for i in INDICES)

with open(PATH, "w") as file:
    json.dump({"indices": INDICES, "colors": {name: colors[name] for name in known}}, file, indent=1)
