"""Tells of each item, first those that are there and then each new one, how green it is: `monitor-field.py [how many]`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from connect import connect, first_project
from groundtrack import GroundtrackError

NDVI = "(b4-b3)/(b4+b3)"

gt = connect()
project_id = first_project(gt)


def items() -> Iterator[tuple[str, str]]:
    for item in gt.items.list(project_id=project_id):
        yield item.id, item.name
    for event in gt.events():
        if event.event_type == "item.created" and event.data.project_id == project_id:
            yield event.data.id, event.data.name


def tell(id: str, name: str) -> None:
    try:
        values = gt.items.tile.statistics(item_id=id, expression=NDVI)
        print(f"{name}: NDVI from {values.p2:.2f} to {values.p98:.2f}")
    except GroundtrackError as error:
        print(f"{name}: {error}")


left = int(sys.argv[1]) if len(sys.argv) > 1 else -1
for id, name in items():
    tell(id, name)
    left -= 1
    if left == 0:
        break
