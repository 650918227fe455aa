"""Takes the screenshots of the guide in QGIS's own window, with the demo's images."""

from __future__ import annotations

import os
from typing import Any

from qgis.core import QgsCoordinateReferenceSystem, QgsProject, QgsRectangle
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QDialog, QDockWidget, QTreeView
from qgis.utils import iface
from support import item_named, plugin, sign_in, unlock_store, until

from groundtrack.cart import quote
from groundtrack.layers import Style, add_item

LAKE = "Lake and fields, June"
MOUNTAINS = "Mountains"
SIZE = (1180, 760)
PANEL_WIDTH = 380
"""Of the panels at the left: names of styles are long."""
DAYS = 5
"""Of the search: footprints of a year would hide the map."""
JPEG_QUALITY = 84


def take(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    unlock_store()
    sign_in()
    window = iface.mainWindow()
    window.resize(*SIZE)

    def save(name: str, widget: Any = window) -> None:
        until("the map", lambda: not iface.mapCanvas().isDrawing())
        iface.messageBar().clearWidgets()  # What QGIS says about tasks that nobody waits for.
        assert widget.grab().save(os.path.join(folder, f"qgis-{name}.jpg"), "JPG", JPEG_QUALITY)

    _map(save)
    _search(save)
    _algorithm(save)


def _map(save: Any) -> None:
    iface.mapCanvas().setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:3857"))
    add_item(plugin().connection, item_named(LAKE))
    ndvi = add_item(plugin().connection, item_named(LAKE), Style("ndvi", "NDVI"))
    until("the legend", ndvi.legendPlaceholderImage)
    _show_legend(ndvi)
    browser = iface.mainWindow().findChild(QDockWidget, "Browser")
    browser.setMinimumHeight(300)
    iface.mainWindow().resizeDocks([browser], [PANEL_WIDTH], Qt.Orientation.Horizontal)
    iface.mapCanvas().setExtent(ndvi.extent())
    iface.mapCanvas().refresh()
    _expand_browser()
    save("map")


def _show_legend(layer: Any) -> None:
    """QGIS folds a layer when its legend is replaced."""
    node = QgsProject.instance().layerTreeRoot().findLayer(layer.id())
    tree = iface.layerTreeView()
    index = tree.node2index(node)

    def is_open() -> bool:
        node.setExpanded(True)
        tree.setExpanded(index, True)
        return bool(tree.isExpanded(index) and len(tree.layerTreeModel().layerLegendNodes(node)) > 0)

    until("the legend of the layer", is_open)


def _expand_browser() -> None:
    dock = iface.mainWindow().findChild(QDockWidget, "Browser")
    tree = dock.findChild(QTreeView)
    model = tree.model()

    def child(parent: Any, name: str) -> Any:
        def found() -> Any:
            tree.expand(parent)
            rows = [model.index(row, 0, parent) for row in range(model.rowCount(parent))]
            return next((row for row in rows if str(model.data(row)).startswith(name)), None)

        return until(name, found)

    root = next(model.index(row, 0) for row in range(model.rowCount()) if model.data(model.index(row, 0)) == "Groundtrack")
    item = child(child(child(root, "Demo"), "Seasons"), LAKE)
    child(item, f"{LAKE}, NDVI")
    tree.scrollTo(item, QTreeView.ScrollHint.PositionAtTop)


def _search(save: Any) -> None:
    QgsProject.instance().clear()
    dock = plugin().dock
    plugin().show_search()
    add_item(plugin().connection, item_named(LAKE))
    canvas = iface.mapCanvas()
    canvas.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:4326"))
    canvas.setExtent(QgsRectangle(2.28, 48.185, 2.32, 48.215))
    dock.start.setDate(dock.end.date().addDays(-DAYS))
    dock.search()
    until("scenes", lambda: dock.scenes)
    until("thumbnails", lambda: any(feature["thumbnail"] for feature in dock.layer.getFeatures()))
    dearest = max((scene for scene in dock.scenes if scene.is_for_sale), key=lambda scene: scene.price)
    for row in range(dock.results.count()):
        item = dock.results.item(row)
        if item.data(Qt.ItemDataRole.UserRole) == dearest.id:
            item.setSelected(True)
            dock.results.scrollToItem(item)
    dock.add_selected()
    _show_legend(dock.layer)
    quoted = quote(plugin().connection.service, dock.cart.captures())
    dock.total.setText(f"Price: {quoted.text}")
    save("search")
    dock.hide()


def _algorithm(save: Any) -> None:
    import processing

    QgsProject.instance().clear()
    mountains = add_item(plugin().connection, item_named(MOUNTAINS))
    dialog: QDialog = processing.createAlgorithmDialog("groundtrack:hillshade", {"item_id_layer": mountains.id(), "azimuth": 315, "altitude": 45})
    dialog.resize(860, 560)
    dialog.show()
    until("the form", dialog.isVisible)
    save("algorithm", dialog)
    dialog.close()
