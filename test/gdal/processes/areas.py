"""Counts and areas of polygons, by value."""

import sys, json, collections
from osgeo import ogr, osr
ogr.UseExceptions()
def read(path, field, project):
    d = ogr.Open(path); out = collections.defaultdict(list)
    for f in d.GetLayer(0):
        g = f.GetGeometryRef().Clone()
        if project: g.Transform(project)
        assert g.IsValid(), f.GetField(field)
        out[int(f.GetField(field))].append(g.Area())
    return {k: (len(v), sorted(round(a / 100) for a in v)) for k, v in out.items()}
utm, ll = osr.SpatialReference(), osr.SpatialReference()
utm.ImportFromEPSG(32755); ll.ImportFromEPSG(4326); ll.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
a, b = read(sys.argv[1], 'value', osr.CoordinateTransformation(ll, utm)), read(sys.argv[2], 'DN', None)
print(json.dumps(dict(same=a == b, ours={k: v[0] for k, v in a.items()}, theirs={k: v[0] for k, v in b.items()})))
