"""
Projects, collections and items in the Browser panel. Layers can be dragged onto the map: an item as WMTS in each of its styles, a
collection as one layer, and files for analysis.

What the server says is fetched in the background and kept in a tree of records; the panel only reads that tree, so it never waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qgis.core import Qgis, QgsDataCollectionItem, QgsDataItem, QgsDataItemProvider, QgsDataProvider, QgsErrorItem, QgsLayerItem

from . import layers, log, tasks
from .connection import Connection
from .errors import PluginError
from .icons import icon

ROOT = "groundtrack:"
NAME = "Groundtrack"


class Entry(NamedTuple):
    """A node of the tree, without QGIS's objects, which belong to the main thread."""

    key: str
    name: str
    kind: str
    uri: str = ""
    provider: str = ""
    record: dict[str, Any] = {}


class Catalogue:
    """What was fetched, by the path of the node that it is below."""

    def __init__(self, connection: Connection, on_loaded: Callable[[str], None]) -> None:
        self._connection, self._on_loaded = connection, on_loaded
        self._entries: dict[str, list[Entry]] = {}
        self._failures: dict[str, str] = {}
        self._loading: set[str] = set()

    @property
    def connection(self) -> Connection:
        return self._connection

    def clear(self) -> None:
        self._entries.clear()
        self._failures.clear()
        self._loading.clear()

    def forget(self, path: str) -> None:
        for kept in (self._entries, self._failures):
            for known in [each for each in kept if each.startswith(path)]:
                kept.pop(known)

    def children(self, path: str, load: Callable[[], list[Entry]]) -> tuple[list[Entry] | None, str | None]:
        """The entries, or why there are none. None and None: they are being fetched, and the panel is told when they are there."""
        if path in self._entries:
            return self._entries[path], None
        if path in self._failures:
            return None, self._failures[path]
        if path not in self._loading:
            self._loading.add(path)
            self._start(path, load)
        return None, None

    def _start(self, path: str, load: Callable[[], list[Entry]]) -> None:
        def loaded(entries: list[Entry]) -> None:
            self._loading.discard(path)
            self._entries[path] = entries
            self._on_loaded(path)

        def failed(error: BaseException) -> None:
            self._loading.discard(path)
            self._failures[path] = log.sentence(error)
            self._on_loaded(path)

        try:
            _ = self._connection.service  # The credential is read in the main thread.
        except Exception as error:
            return failed(error)
        tasks.run("Groundtrack: Browser", lambda feedback, progress: load(), loaded, failed)


def projects(connection: Connection) -> list[Entry]:
    records = connection.service.pages("projects.list", {}, "projects")
    return [Entry(each["id"], each["name"], "project", record=each) for each in records]


def contents(connection: Connection, auth: str, project_id: str) -> list[Entry]:
    """Collections, then the items that are in none."""
    found = connection.service.call("collections.list", {"project_id": project_id})
    collections = [Entry(each["id"], f"{each['name']} ({each['item_count']})", "collection", record=each) for each in found]
    return collections + items(connection, auth, {"project_id": project_id, "uncollected": True})


def collection_contents(connection: Connection, auth: str, record: dict[str, Any]) -> list[Entry]:
    entries = items(connection, auth, {"project_id": record["project_id"], "collection_id": record["id"]})
    if not entries:
        return entries
    tilejson = connection.service.call("collections.tile.tilejson", {"collection_id": record["id"], "format": "png"})
    whole = Entry(f"{record['id']}/all", f"All of {record['name']}", "layer", layers.collection_uri(auth, tilejson), "wms", record)
    return [whole, *entries]


def items(connection: Connection, auth: str, fields: dict[str, Any]) -> list[Entry]:
    records = connection.service.pages("items.list", fields, "items")
    return [Entry(each["id"], each["name"], "item", layers.wmts_uri(connection.url, auth, each["id"]), "wms", each) for each in records]


def forms(connection: Connection, auth: str, record: dict[str, Any]) -> list[Entry]:
    """The styles of an item, then its files."""
    assets = connection.service.call("items.list_assets", {"item_id": record["id"]})
    has_raster = any(layers.is_raster(asset) for asset in assets)
    styles = layers.styles_of(connection.service, record["id"]) if has_raster else []
    drawn = [
        Entry(f"style/{style.id}", style.title, "layer", layers.wmts_uri(connection.url, auth, record["id"], style.id), "wms", record)
        for style in styles
    ]
    files = [
        Entry(
            f"file/{asset['key']}",
            f"File {asset['key']}",
            "layer" if layers.is_raster(asset) else "features",
            layers.file_uri(connection.url, auth, record["id"], asset["key"]),
            "gdal" if layers.is_raster(asset) else "ogr",
            record,
        )
        for asset in assets
        if layers.is_file(asset)
    ]
    return drawn + files


class _Node(QgsDataCollectionItem):
    """A folder of the tree."""

    def __init__(self, parent: QgsDataItem | None, name: str, path: str, catalogue: Catalogue, load: Callable[[], list[Entry]]) -> None:
        super().__init__(parent, name, path, NAME)
        self._catalogue, self._load, self._at = catalogue, load, path
        self.setIcon(icon("folder" if parent is not None else "icon"))
        # `Fast` lets QGIS call createChildren in the main thread, where Python objects are safe; it does not wait for the network.
        self.setCapabilitiesV2(_capabilities())

    def createChildren(self) -> list[QgsDataItem]:  # noqa: N802: QGIS calls it by this name.
        return _children(self, self._at, self._catalogue, self._load)


class _Item(QgsLayerItem):
    """An item: itself a layer in its default style, and a folder of its styles and files."""

    def __init__(self, parent: QgsDataItem, entry: Entry, path: str, catalogue: Catalogue, load: Callable[[], list[Entry]]) -> None:
        super().__init__(parent, entry.name, path, entry.uri, Qgis.BrowserLayerType.Raster, entry.provider)
        self.record = entry.record
        self._catalogue, self._load, self._at = catalogue, load, path
        self.setIcon(icon("item"))
        self.setToolTip(_tip(entry.record))
        self.setCapabilitiesV2(_capabilities())
        self.setState(Qgis.BrowserItemState.NotPopulated)

    def createChildren(self) -> list[QgsDataItem]:  # noqa: N802: QGIS calls it by this name.
        return _children(self, self._at, self._catalogue, self._load)


def _children(node: QgsDataItem, at: str, catalogue: Catalogue, load: Callable[[], list[Entry]]) -> list[QgsDataItem]:
    """QGIS can ask while somebody signs in or out, when there is no credential: then a node says so until the panel is refreshed."""
    entries, failure = catalogue.children(at, load)
    if entries is None:
        return [QgsErrorItem(node, failure or "Loading…", f"{at}/{'failed' if failure else 'loading'}")]
    try:
        return [node_of(node, entry, at, catalogue) for entry in entries]
    except PluginError as error:
        return [QgsErrorItem(node, str(error), f"{at}/failed")]


def node_of(parent: QgsDataItem, entry: Entry, at: str, catalogue: Catalogue) -> QgsDataItem:
    path = f"{at}/{entry.key}"
    connection = catalogue.connection
    if entry.kind in ("layer", "features"):
        layer_type = Qgis.BrowserLayerType.Raster if entry.kind == "layer" else Qgis.BrowserLayerType.Vector
        name = entry.name if entry.key.endswith("/all") else f"{entry.record['name']}, {entry.name}"
        leaf = QgsLayerItem(parent, name, path, entry.uri, layer_type, entry.provider)
        leaf.setState(Qgis.BrowserItemState.Populated)
        return leaf
    auth = connection.layers_auth()
    if entry.kind == "item":
        return _Item(parent, entry, path, catalogue, lambda: forms(connection, auth, entry.record))
    if entry.kind == "collection":
        return _Node(parent, entry.name, path, catalogue, lambda: collection_contents(connection, auth, entry.record))
    return _Node(parent, entry.name, path, catalogue, lambda: contents(connection, auth, entry.key))


class BrowserProvider(QgsDataItemProvider):
    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue

    def name(self) -> str:
        return NAME

    def dataProviderKey(self) -> str:  # noqa: N802: QGIS calls it by this name.
        return "groundtrack"

    def capabilities(self) -> Any:
        return QgsDataProvider.DataCapability.Net

    def createDataItem(self, path: str, parent: QgsDataItem | None) -> QgsDataItem | None:  # noqa: N802: QGIS calls it by this name.
        if path:
            return None
        connection = self._catalogue.connection
        root = _Node(None, NAME, ROOT, self._catalogue, lambda: projects(connection))
        self._root = root  # QGIS owns it, but Python must not lose the part that is written in Python.
        return root


def _tip(record: dict[str, Any]) -> str:
    facts = [record["name"], (record.get("datetime") or "")[:10]]
    if record.get("gsd"):
        facts.append(f"{record['gsd']:g} m per pixel")
    if record.get("cloud_cover") is not None:
        facts.append(f"{record['cloud_cover']:.0f} % clouds")
    return "\n".join(fact for fact in facts if fact)


def _capabilities() -> Any:
    return Qgis.BrowserItemCapabilities(Qgis.BrowserItemCapability.Fertile) | Qgis.BrowserItemCapability.Fast
