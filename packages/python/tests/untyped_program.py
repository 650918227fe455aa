"""Mistakes that a type checker must find, one a line; `test_package.py` counts them. It is not run."""

from __future__ import annotations

from groundtrack import Groundtrack

gt = Groundtrack()
gt.items.list(project="x")
gt.items.list(project_id=3)
print(gt.items.list(project_id="x").fetch().itmes)
gt.items.tile.render(item_id="x", z=0, x=0, y=0, format="bmp")
gt.orders.archive.place(projectId="x", captures=[{"id": "x"}])
gt.analytics.execute(operation="zonal_stats", params={"item": "x"})
