"""The legend of a style as an image: a colour bar with its values, or the bands of a composite."""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

from qgis.core import QgsApplication, QgsMapLayer, QgsMapLayerLegend, QgsProject
from qgis.PyQt.QtCore import QPointF, QRectF, Qt
from qgis.PyQt.QtGui import QColor, QFont, QFontMetricsF, QImage, QLinearGradient, QPainter

from .errors import PluginError, disk_error
from .layers import item_of, style_of
from .service import Service

WIDTH, BAR_HEIGHT, LINE_HEIGHT = 190, 12, 16
CHANNELS = (("Red", "#d03030"), ("Green", "#30a040"), ("Blue", "#3060d0"))


class Legend(NamedTuple):
    title: str
    low: float | None
    high: float | None
    stops: list[tuple[float, str]]
    """Positions from 0 to 1 and their colours; empty for a composite."""
    channels: list[str]


def legend_of(service: Service, item_id: str, style: str) -> Legend | None:
    """What the service draws with this style; None for classes, whose colours are in the file."""
    answer = service.call("items.tile.legend", {"item_id": item_id, **({} if style == "default" else {"profile": style})})
    drawn, names = answer["legend"], [str(name) for name in answer["names"]]
    if drawn is None:
        return None
    if drawn["kind"] == "composite":
        return Legend("Red, green, blue", None, None, [], [str(channel) for channel in drawn["channels"]][: len(CHANNELS)])
    colors = [str(color) for color in drawn["colors"]]
    stops = [(index / max(1, len(colors) - 1), color) for index, color in enumerate(colors)]
    title = ", ".join(names) + (f" ({drawn['unit']})" if drawn["unit"] else "")
    return Legend(title, drawn["low"], drawn["high"], stops, [])


def draw(legend: Legend) -> QImage:
    lines = 2 if legend.stops else 1 + len(legend.channels)
    height = lines * LINE_HEIGHT + (BAR_HEIGHT + 2 if legend.stops else 0) + 4
    image = QImage(WIDTH, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    font = QFont(painter.font())
    font.setPixelSize(11)
    painter.setFont(font)
    metrics = QFontMetricsF(font)

    def text(at: float, left: float, words: str) -> None:
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, WIDTH - left - 2)
        painter.setPen(QColor("#303030"))
        painter.drawText(QPointF(left, at + LINE_HEIGHT - 4), shown)

    text(0, 0, legend.title)
    if legend.stops:
        gradient = QLinearGradient(0, 0, WIDTH - 2, 0)
        for position, color in legend.stops:
            gradient.setColorAt(min(1.0, max(0.0, position)), QColor(color))
        painter.setPen(QColor("#808080"))
        painter.setBrush(gradient)
        painter.drawRect(QRectF(0.5, LINE_HEIGHT + 0.5, WIDTH - 2, BAR_HEIGHT))
        below = float(LINE_HEIGHT + BAR_HEIGHT + 2)
        high = _number(legend.high)
        text(below, 0, _number(legend.low))
        text(below, WIDTH - 2 - metrics.horizontalAdvance(high) - 2, high)
    for row, (band, (channel, color)) in enumerate(zip(legend.channels, CHANNELS), start=1):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(color))
        painter.drawRect(QRectF(1, row * LINE_HEIGHT + 3, 10, 10))
        text(row * LINE_HEIGHT, 16, f"{channel}: {band}")
    painter.end()
    return image


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def attach(layer: QgsMapLayer, legend: Legend) -> str:
    """Shows the legend below the layer's name, in the Layers panel and in layouts. It is a file, to which project files refer."""
    folder = os.path.join(QgsApplication.qgisSettingsDirPath(), "groundtrack", "legends")
    name = hashlib.sha256(f"{item_of(layer)} {style_of(layer)} {legend!r}".encode()).hexdigest()[:24]
    path = os.path.join(folder, f"{name}.png")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from error
    if not draw(legend).save(path, "PNG"):
        raise PluginError(f"The legend cannot be written to {folder}. Check that the disk is not full.")
    layer.setLegendPlaceholderImage(path)
    layer.setLegend(QgsMapLayerLegend.defaultRasterLegend(layer))  # Otherwise the panel would not look again.
    node = QgsProject.instance().layerTreeRoot().findLayer(layer.id())
    if node is not None:
        node.setExpanded(True)
    return path
