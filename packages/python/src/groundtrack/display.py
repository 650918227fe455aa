"""Records in a notebook: a small table, and an image. Nothing of it needs the service or a credential when it is opened later."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from .errors import GroundtrackError
from .maps import data_url, tiles_of

if TYPE_CHECKING:
    from .records import Content, Record

MAX_TILES = 4
_CELL = "text-align:left;padding:1px 8px 1px 0"


def image_html(content: Content) -> str:
    return f'<img src="{data_url(content, content.media_type)}" alt="">'


def _table(title: str, rows: list[tuple[str, Any]], image: str = "") -> str:
    cells = "".join(
        f'<tr><th style="{_CELL}">{html.escape(name)}</th><td style="{_CELL}">{html.escape(str(value))}</td></tr>'
        for name, value in rows
        if value is not None and value != ""
    )
    return f"<div><strong>{html.escape(title)}</strong><div>{image}</div><table>{cells}</table></div>"


def _picture(record: Record, item_id: str | None) -> str:
    """The item as up to four tiles; empty if it has no raster, is not ready, or cannot be reached."""
    from .client import Client

    client = record._client  # pyright: ignore[reportPrivateUsage]
    if item_id is None or not isinstance(client, Client):
        return ""
    try:
        tiles = tiles_of(client, "items.tile", {"item_id": item_id}, MAX_TILES)
    except GroundtrackError:
        return ""
    rows: dict[int, str] = {}
    for tile in tiles:
        style = "display:block;width:160px;height:160px"
        image = f'<img src="{tile.image}" style="{style}" alt="">' if tile.image else f'<div style="{style}"></div>'
        rows[tile.row] = rows.get(tile.row, "") + image
    return "".join(f'<div style="display:flex">{row}</div>' for row in rows.values())


def item_html(item: Record) -> str:
    data = item.to_dict()
    properties = data.get("properties") or {}
    cloud = data.get("cloud_cover", properties.get("eo:cloud_cover"))
    gsd = data.get("gsd", properties.get("gsd"))
    rows = [
        ("ID", data["id"]),
        ("Acquired", data.get("datetime") or properties.get("datetime")),
        ("Cloud cover", None if cloud is None else f"{cloud:g} %"),
        ("Resolution", None if gsd is None else f"{gsd:g} m"),
    ]
    return _table(str(data.get("name") or properties.get("title") or "Item"), rows, _picture(item, data["id"]))


def order_html(order: Record) -> str:
    data = order.to_dict()
    items = data.get("itemIds") or [None]
    rows = [("ID", data["id"]), ("Status", data["status"]), ("Credits", data.get("totalCredits")), ("Items", len(data.get("itemIds") or []))]
    return _table(str(data.get("displayName") or "Order"), rows, _picture(order, items[0]))


def job_html(job: Record) -> str:
    data = job.to_dict()
    items = data.get("output_item_ids") or [None]
    rows = [
        ("ID", data["id"]),
        ("Status", data["status"]),
        ("Progress", f"{data['progress']:g} %, {data['stage']}"),
        ("Credits", data.get("captured_credits") or data.get("reserved_credits")),
        ("Error", data.get("error")),
    ]
    return _table(str(data.get("job_type") or "Job"), rows, _picture(job, items[0]))
