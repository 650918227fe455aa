"""
Layers of items and collections. Three kinds: WMTS (drawn by the service, with a style), XYZ tiles of a collection, and the file
itself for analysis. Their sources name the stored key by its ID, so a project file holds no credential.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from qgis.core import QgsMapLayer, QgsProject, QgsRasterLayer, QgsVectorLayer

from .connection import Connection
from .errors import PluginError
from .service import Service

ITEM = "groundtrack/item"
ASSET = "groundtrack/asset"
COLLECTION = "groundtrack/collection"
RASTER_TYPES = ("image/tiff", "image/geotiff", "image/x.geotiff")
VECTOR_TYPES = ("application/geo+json",)

_WMTS = re.compile(r"/wmts/([0-9a-zA-Z-]{1,100})")
_FILE = re.compile(r"/api/v1/items/([^/?'\s]+)/assets/([^/?'\s]+)")
_TILES = re.compile(r"/api/v1/collections/([^/?'\s]+)/tiles/")
_OGC = {"w": "http://www.opengis.net/wmts/1.0", "ows": "http://www.opengis.net/ows/1.1"}


class Style(NamedTuple):
    id: str
    title: str


def wmts_uri(url: str, auth: str, item_id: str, style: str = "default") -> str:
    """As QGIS's own dialog writes it. The set ends at the image's resolution, and PNG keeps its pixels."""
    address = quote(f"{url}/wmts/{item_id}", safe=":/")
    return (
        f"authcfg={auth}&contextualWMSLegend=0&crs=EPSG:3857&dpiMode=7&featureCount=10&format=image/png"
        f"&layers={quote(item_id)}&styles={quote(style)}&tileMatrixSet=ImageResolution&url={address}"
    )


def file_address(url: str, item_id: str, asset_key: str) -> str:
    return f"{url}/api/v1/items/{quote(item_id)}/assets/{quote(asset_key)}"


def file_uri(url: str, auth: str, item_id: str, asset_key: str = "data") -> str:
    """The file's stable address, which redirects to a signed one. GDAL reads only the parts that it needs."""
    return f"/vsicurl/{file_address(url, item_id, asset_key)} authcfg='{auth}'"


def collection_uri(auth: str, tilejson: dict[str, Any]) -> str:
    """From zoom 0, although small scales show only the newest items: QGIS would otherwise request thousands of tiles there."""
    template = quote(tilejson["tiles"][0], safe=":/{}")
    return f"type=xyz&url={template}&zmin=0&zmax={tilejson['maxzoom']}&authcfg={auth}"


def styles_of(service: Service, item_id: str) -> list[Style]:
    """The styles in the item's WMTS capabilities, the default first."""
    response = service.request("GET", f"/wmts/{quote(item_id)}")
    layer = ElementTree.fromstring(response.body).find(".//w:Layer", _OGC)
    found = [] if layer is None else layer.findall("w:Style", _OGC)
    return [Style(each.findtext("ows:Identifier", "", _OGC), each.findtext("ows:Title", "", _OGC)) for each in found]


def get_item(service: Service, item_id: str) -> dict[str, Any]:
    item: dict[str, Any] = service.call("items.get", {"item_id": item_id})["item"]
    return item


def add_item(connection: Connection, item: dict[str, Any], style: Style | None = None) -> QgsRasterLayer:
    uri = wmts_uri(connection.url, connection.layers_auth(), item["id"], style.id if style else "default")
    name = f"{item['name']}, {style.title}" if style and style.id != "default" else str(item["name"])
    layer = QgsRasterLayer(uri, name, "wms")
    if not layer.isValid():
        raise PluginError(f"{item['name']} cannot be shown: {connection.url} did not describe its tiles. The message log says why.")
    return _added(layer)


def add_collection(connection: Connection, collection: dict[str, Any]) -> QgsRasterLayer:
    tilejson = connection.service.call("collections.tile.tilejson", {"collection_id": collection["id"], "format": "png"})
    layer = QgsRasterLayer(collection_uri(connection.layers_auth(), tilejson), str(collection["name"]), "wms")
    if not layer.isValid():
        raise PluginError(f"{collection['name']} cannot be shown. The message log says why.")
    return _added(layer)


def add_file(connection: Connection, item: dict[str, Any], asset: dict[str, Any]) -> QgsMapLayer:
    """The file itself: pixels for analysis, or features."""
    name = str(item["name"]) if asset["key"] == "data" else f"{item['name']}, {asset['key']}"
    address = signed_address(connection.service, item["id"], asset["key"])
    is_vector = asset.get("media_type") in VECTOR_TYPES
    layer = QgsVectorLayer(f"/vsicurl/{address}", name, "ogr") if is_vector else QgsRasterLayer(f"/vsicurl/{address}", name, "gdal")
    if not layer.isValid():
        raise PluginError(f"The file {asset['key']} of {item['name']} cannot be opened. The message log says why.")
    mark(layer, item["id"], asset["key"])
    return _added(layer)


def _added(layer: Any) -> Any:
    QgsProject.instance().addMapLayer(layer)
    return layer


def mark(layer: QgsMapLayer, item_id: str, asset_key: str) -> None:
    layer.setCustomProperty(ITEM, item_id)
    layer.setCustomProperty(ASSET, asset_key)


def signed_address(service: Service, item_id: str, asset_key: str) -> str:
    """Valid for 15 minutes; it needs no credential."""
    return str(service.call("items.asset.download", {"item_id": item_id, "asset_id": asset_key})["url"])


def is_raster(asset: dict[str, Any]) -> bool:
    return str(asset.get("media_type") or "").split(";")[0] in RASTER_TYPES


def is_file(asset: dict[str, Any]) -> bool:
    """Whether QGIS can open it as a layer."""
    return asset.get("state", "ready") == "ready" and (is_raster(asset) or asset.get("media_type") in VECTOR_TYPES)


def item_of(layer: QgsMapLayer) -> str | None:
    """The item that a layer shows, however it came into the project."""
    known = layer.customProperty(ITEM)
    if known:
        return str(known)
    source = unquote(layer.source())
    found = _WMTS.search(source) or _FILE.search(source)
    return found.group(1) if found else _item_of_path(source)


def collection_of(layer: QgsMapLayer) -> str | None:
    found = _TILES.search(unquote(layer.source()))
    return found.group(1) if found else None


def style_of(layer: QgsMapLayer) -> str:
    found = re.search(r"(?:^|&)styles=([^&]*)", layer.source())
    return unquote(found.group(1)) if found and found.group(1) else "default"


def file_of(layer: QgsMapLayer) -> tuple[str, str] | None:
    """The item and asset of a layer that reads a file from the service."""
    if not layer.source().startswith("/vsicurl/"):
        return None
    item, asset = layer.customProperty(ITEM), layer.customProperty(ASSET)
    if item and asset:
        return str(item), str(asset)
    found = _FILE.search(unquote(layer.source()))
    return (found.group(1), found.group(2)) if found else None


_paths: dict[str, str] = {}
_MAX_PATHS = 1_000


def remember_path(path: str, item_id: str) -> None:
    """A downloaded result, so that the next algorithm of a model knows which item it is."""
    while len(_paths) >= _MAX_PATHS:
        _paths.pop(next(iter(_paths)))
    _paths[path] = item_id


def _item_of_path(source: str) -> str | None:
    return _paths.get(source.split("|")[0])
