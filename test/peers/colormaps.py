"""Prints the 256 colours of Matplotlib's colormaps as JSON: names in lower case, colours in hexadecimal."""

import json

import matplotlib
import numpy

places = numpy.linspace(0, 1, 256)
tables = {
    name.lower(): matplotlib.colormaps[name](places, bytes=True)[:, :3].astype(numpy.uint8).tobytes().hex()
    for name in matplotlib.colormaps
    if not name.endswith("_r")
}
print(json.dumps(tables))
