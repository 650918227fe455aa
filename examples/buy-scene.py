"""Finds the clearest scene of an area and buys it: `buy-scene.py HOST WEST,SOUTH,EAST,NORTH FROM/TO [--buy]`."""

from __future__ import annotations

import sys

from connect import connect, first_project
from groundtrack import ProblemError
from groundtrack.types import CatalogScene

DEFAULTS = ["sandbox-vhr", "151.20,-33.87,151.21,-33.86", "2026-01-01/2026-03-31", ""]
host, area, datetime, mode = (sys.argv[1:] + DEFAULTS[len(sys.argv) - 1 :])[:4]
west, south, east, north = (float(edge) for edge in area.split(","))
gt = connect()


def cloud(scene: CatalogScene) -> float:
    return float(scene.properties.get("cloudCoverage", scene.properties.get("eo:cloud_cover", 100)))


scenes = gt.catalog.search(host_name=host, bbox=[west, south, east, north], datetime=datetime, limit=50).fetch().features
if not scenes:
    raise SystemExit("No scene of this area and time")
best = min(scenes, key=cloud)
print(f"{best.id}: {cloud(best):g} % cloud, {best.properties.get('creditsPerSqKm', 'no')} credits/km²")

ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
geometry = {"type": "Polygon", "coordinates": [ring]}
price = gt.price("orders.archive.place", captures=[{"id": best.id, "geometry": geometry, "host": host}])
print(f"Price: {price.credits} credits (A${price.aud})")
if mode == "--buy":
    try:
        order = gt.orders.archive.place(projectId=first_project(gt), captures=[{"id": best.id, "geometry": geometry, "host": host}])
        done = gt.wait(order=order.id, progress=lambda now: print(now.status))
        print(f"The order {order.id} is {done.status}")
    except ProblemError as problem:
        if problem.slug != "insufficient-credits":
            raise
        print("Not enough credits; top up with gt.billing.topup")
