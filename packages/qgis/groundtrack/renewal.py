"""
Keeps file layers readable. Their signed addresses expire after 15 minutes, so they are replaced every ten; a project file gets the
stable address instead, which QGIS can open with the stored key alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qgis.core import QgsDataProvider, QgsMapLayer, QgsProject
from qgis.PyQt.QtCore import QObject, QTimer

from . import log
from .connection import Connection
from .layers import ITEM, file_of, file_uri, mark, signed_address

EVERY_MS = 10 * 60 * 1000
MAX_LAYERS = 50
"""A project with more file layers than this renews the first ones; the others are renewed when they are opened again."""


class Renewal(QObject):
    def __init__(self, connection: Connection, on_error: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._connection, self._on_error = connection, on_error
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.renew)
        self._timer.start(EVERY_MS)
        project = QgsProject.instance()
        project.layersAdded.connect(self.adopt)
        project.writeMapLayer.connect(self.write)
        project.writeProject.connect(self.write_tree)

    def stop(self) -> None:
        self._timer.stop()
        project = QgsProject.instance()
        project.layersAdded.disconnect(self.adopt)
        project.writeMapLayer.disconnect(self.write)
        project.writeProject.disconnect(self.write_tree)

    def adopt(self, layers: list[QgsMapLayer]) -> None:
        """Layers from the Browser panel or a project file begin with their stable address."""
        self._renew([layer for layer in layers if not layer.customProperty(ITEM) or "authcfg=" in layer.source()])

    def renew(self) -> None:
        self._renew(list(QgsProject.instance().mapLayers().values()))

    def _renew(self, layers: list[QgsMapLayer]) -> None:
        if not self._connection.is_stored:
            return
        own = [(layer, file) for layer in layers if (file := file_of(layer)) is not None]
        for layer, (item_id, asset_key) in own[:MAX_LAYERS]:
            try:
                address = signed_address(self._connection.service, item_id, asset_key)
            except Exception as error:
                self._on_error(error)
                return
            mark(layer, item_id, asset_key)
            layer.setDataSource(f"/vsicurl/{address}", layer.name(), layer.providerType() or "gdal", QgsDataProvider.ProviderOptions())
            log.info(f"{layer.name()}: signed address renewed")

    def write(self, layer: QgsMapLayer, element: Any, document: Any) -> None:
        """Called for each layer that is saved in a project file."""
        uri, source = self._stable(layer), element.firstChildElement("datasource")
        if uri is None or source.isNull():
            return
        while not source.firstChild().isNull():
            source.removeChild(source.firstChild())
        source.appendChild(document.createTextNode(uri))

    def write_tree(self, document: Any) -> None:
        """The tree of layers in a project file repeats their sources."""
        nodes = document.elementsByTagName("layer-tree-layer")
        for index in range(nodes.count()):
            element = nodes.at(index).toElement()
            layer = QgsProject.instance().mapLayer(element.attribute("id"))
            uri = None if layer is None else self._stable(layer)
            if uri is not None:
                element.setAttribute("source", uri)

    def _stable(self, layer: QgsMapLayer) -> str | None:
        file = file_of(layer)
        if file is None or not self._connection.is_stored:
            return None
        try:
            return file_uri(self._connection.url, self._connection.layers_auth(), *file)
        except Exception as error:
            self._on_error(error)
            return None
