"""
Maps for notebooks. Their tiles are fetched here and put into the map as images, so a saved notebook shows them without the service
and contains neither a credential nor an address that works.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import MissingExtraError

if TYPE_CHECKING:
    from .client import Client

MAX_TILES = 16
MAX_LATITUDE = 85.0511


class Tile(NamedTuple):
    """A tile as an image, with its bounds."""

    column: int
    row: int
    image: str
    """A `data:` URL."""
    south: float
    west: float
    north: float
    east: float


def _column(longitude: float, zoom: int) -> int:
    return max(0, min((1 << zoom) - 1, math.floor((longitude + 180) / 360 * (1 << zoom))))


def _row(latitude: float, zoom: int) -> int:
    limited = math.radians(max(-MAX_LATITUDE, min(MAX_LATITUDE, latitude)))
    return max(0, min((1 << zoom) - 1, math.floor((1 - math.asinh(math.tan(limited)) / math.pi) / 2 * (1 << zoom))))


def _longitude(column: int, zoom: int) -> float:
    return column / (1 << zoom) * 360 - 180


def _latitude(row: int, zoom: int) -> float:
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * row / (1 << zoom)))))


def _grid(bounds: tuple[float, float, float, float], max_zoom: int, max_tiles: int) -> tuple[int, range, range]:
    """The highest zoom at which at most so many tiles cover the bounds."""
    west, south, east, north = bounds
    for zoom in range(max_zoom, 0, -1):
        columns = range(_column(west, zoom), _column(east, zoom) + 1)
        rows = range(_row(north, zoom), _row(south, zoom) + 1)
        if len(columns) * len(rows) <= max_tiles:
            return zoom, columns, rows
    return 0, range(1), range(1)


def data_url(data: bytes, media_type: str) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


def tiles_of(client: Client, operation: str, fields: Mapping[str, Any], max_tiles: int = MAX_TILES) -> list[Tile]:
    """The tiles of an item (`items.tile`) or a collection (`collections.tile`), in reading order."""
    target = {name: fields[name] for name in ("item_id", "collection_id") if name in fields}
    document = client.call(f"{operation}.tilejson", target, repeat="read")
    bounds = tuple(document["bounds"])
    zoom, columns, rows = _grid((bounds[0], bounds[1], bounds[2], bounds[3]), document["maxzoom"], max_tiles)
    tiles: list[Tile] = []
    for row in rows:
        for column in columns:
            image = client.content(f"{operation}.render", {**fields, "z": zoom, "x": column, "y": row, "format": "png"}, None)
            south, north = _latitude(row + 1, zoom), _latitude(row, zoom)
            place = (south, _longitude(column, zoom), north, _longitude(column + 1, zoom))
            tiles.append(Tile(column, row, data_url(image, image.media_type) if image else "", *place))
    return tiles


def item_map(client: Client, item_id: str, style: Mapping[str, str]) -> Any:
    return _map(tiles_of(client, "items.tile", {"item_id": item_id, **style}))


def collection_map(client: Client, collection_id: str, style: Mapping[str, str]) -> Any:
    return _map(tiles_of(client, "collections.tile", {"collection_id": collection_id, **style}))


def _map(tiles: list[Tile]) -> Any:
    try:
        import folium
    except ImportError:
        raise MissingExtraError("folium") from None
    bounds = [[min(t.south for t in tiles), min(t.west for t in tiles)], [max(t.north for t in tiles), max(t.east for t in tiles)]]
    shown: Any = folium.Map()
    for tile in tiles:
        if tile.image:
            folium.raster_layers.ImageOverlay(tile.image, [[tile.south, tile.west], [tile.north, tile.east]]).add_to(shown)
    shown.fit_bounds(bounds)
    return shown
