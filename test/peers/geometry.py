"""What shapely says of geometries: one JSON list of polygons on each line in, one JSON object on each line out.

Repeated points and spikes are taken out first, with exact fractions. Areas are measured on a plane on which the ellipsoid of
WGS 84 keeps its areas: x is the longitude, y the authalic function of the latitude.
"""

import json
import math
import sys
from fractions import Fraction

import shapely

A = 6378.137
F = 1 / 298.257223563
E2 = F * (2 - F)
E = math.sqrt(E2)


def authalic(latitude):
    s = math.sin(math.radians(latitude))
    return A * A * (1 - E2) / 2 * (s / (1 - E2 * s * s) + math.atanh(E * s) / E)


def turns_back(a, b, c):
    if a == c:
        return True
    ax, ay, bx, by, cx, cy = (Fraction(v) for v in (*a, *b, *c))
    cross = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
    along = (bx - ax) * (cx - bx) + (by - ay) * (cy - by)
    return cross == 0 and along < 0


def tidy(ring):
    points = [tuple(p[:2]) for p in ring[:-1]]
    changed = True
    while changed:
        changed = False
        for i in range(len(points)):
            if len(points) < 3:
                return None
            a, b, c = points[i - 1], points[i], points[(i + 1) % len(points)]
            if a == b or turns_back(a, b, c):
                del points[i]
                changed = True
                break
    return points + points[:1] if len(points) > 2 else None


def shape(polygons):
    parts = [shapely.Polygon(rings[0], rings[1:]) for rings in polygons]
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


for line in sys.stdin:
    polygons = [[tidy(ring) for ring in rings] for rings in json.loads(line)]
    if any(ring is None for rings in polygons for ring in rings):
        print(json.dumps({"valid": False, "reason": "a ring without area"}))
        continue
    found = shape(polygons)
    if not shapely.is_valid(found):
        print(json.dumps({"valid": False, "reason": shapely.is_valid_reason(found)}))
        continue
    flat = shape([[[(math.radians(x), authalic(y)) for x, y in ring] for ring in rings] for rings in polygons])
    made = shapely.make_valid(found)
    print(json.dumps({"valid": True, "sqKm": flat.area, "repairedShare": made.area / found.area}))
