"""What shapely says of two geometries: a JSON list of two on each line in; the six relations, or null where one is not valid, out."""

import json
import sys

from shapely.geometry import shape

for line in sys.stdin:
    a, b = (shape(each) for each in json.loads(line))
    valid = a.is_valid and b.is_valid
    found = [a.contains(b), a.crosses(b), a.equals(b), a.overlaps(b), a.touches(b), a.within(b)]
    print(json.dumps([bool(each) for each in found] if valid else None))
