"""The NDVI of every item of a project that has red and near infrared, as a table."""

from __future__ import annotations

import json
import sys

from connect import connect, first_project
from groundtrack import ProblemError

gt = connect()
rows: list[tuple[str, str, float | None, float | None]] = []
for item in gt.items.list(project_id=first_project(gt)):
    try:
        bands = {band.name.lower(): band.index for band in gt.items.detect_asset_bands(item_id=item.id).bands}
    except ProblemError:
        continue
    if "red" not in bands or "nir" not in bands:
        continue
    red, nir = bands["red"], bands["nir"]
    try:
        values = gt.items.tile.statistics(item_id=item.id, expression=f"(b{nir}-b{red})/(b{nir}+b{red})")
        rows.append((item.name, (item.datetime or "")[:10], values.p2, values.p98))
    except ProblemError as problem:
        print(f"{item.name}: {problem}", file=sys.stderr)
print("name,date,p2,p98")
for name, date, p2, p98 in rows:
    print(json.dumps(name, ensure_ascii=False), date, "" if p2 is None else f"{p2:.3f}", "" if p98 is None else f"{p98:.3f}", sep=",")
