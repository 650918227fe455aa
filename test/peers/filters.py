"""What cql2-rs finds: features and filters in, the ids of each filter out. A filter that it cannot evaluate on a feature does not find it."""

import json
import sys

import cql2

given = json.load(sys.stdin)
found = []
for filter in given["filters"]:
    try:
        expression = cql2.Expr(filter if isinstance(filter, str) else json.dumps(filter))
    except Exception:
        found.append(None)
        continue
    ids = []
    for feature in given["features"]:
        try:
            if expression.matches(feature):
                ids.append(feature["id"])
        except Exception:
            continue
    found.append(ids)
print(json.dumps(found))
