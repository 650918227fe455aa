"""Pieces of contour lines, by level."""

import sys, json, collections, numpy as np
from osgeo import gdal, ogr
gdal.UseExceptions()
p = gdal.Open(sys.argv[3]).ReadAsArray().astype(np.float64); p[p == -9999] = np.nan
v = ~np.isnan(p); full = v[:-1, :-1] & v[1:, :-1] & v[:-1, 1:] & v[1:, 1:]
ours, theirs = collections.Counter(), collections.Counter()
for f in json.load(open(sys.argv[1]))['features']: ours[round(f['properties']['elev'])] += len(f['geometry']['coordinates']) - 1
kept = ogr.Open(sys.argv[2]) # Its layers do not outlive it.
for f in kept.GetLayer(0): theirs[round(f.GetField('elev'))] += f.GetGeometryRef().GetPointCount() - 1
wrong = 0
for level in theirs:
    a, b, c, d = [(x >= level)[full].astype(int) for x in (p[:-1, :-1], p[:-1, 1:], p[1:, :-1], p[1:, 1:])]
    n = a + b + c + d
    wrong += abs(int(((n > 0) & (n < 4)).sum() + ((n == 2) & (a == d)).sum()) - ours[level])
print(json.dumps(dict(levels=sorted(ours) == sorted(theirs), wrong=wrong, segments=sum(ours.values()), theirs=sum(theirs.values()))))
