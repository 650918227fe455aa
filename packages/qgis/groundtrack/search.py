"""Search of all sources in an area, and its result as a layer of footprints with thumbnails and prices."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

from qgis.core import (
    QgsCategorizedSymbolRenderer,
    QgsFeature,
    QgsFeedback,
    QgsFillSymbol,
    QgsRendererCategory,
    QgsSimpleLineSymbolLayer,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QColor

from . import log
from .errors import CanceledError, PluginError
from .geometry import geometry_of
from .service import Service

MAX_SCENES = 200
"""Per source that sells, and of all open sources together."""
MAX_THUMBNAILS = 40
FIELDS = (
    ("id", "string"),
    ("source", "string"),
    ("host", "string"),
    ("date", "string"),
    ("cloud", "double"),
    ("resolution", "double"),
    ("access", "string"),
    ("credits_km2", "double"),
    ("aud_km2", "double"),
    ("simulated", "string"),
    ("thumbnail", "string"),
)
OPEN, FOR_SALE = "open", "for sale"

MAP_TIP = """<b>[% "source" %]</b><br>[% "date" %], [% coalesce(round("cloud"), '?') %] % clouds<br>
[% if("access" = 'open', 'open data', "credits_km2" || ' credits per km²') %]<br>
[% if("thumbnail" = '', '', '<img width="256" src="file://' || "thumbnail" || '">') %]"""


class Query(NamedTuple):
    box: list[float]
    datetime: str | None
    max_cloud: int | None


class Scene(NamedTuple):
    """A scene that was found. `price` is in credits per km²; None for open data."""

    id: str
    host: str
    source: str
    date: str
    cloud: float | None
    resolution: float | None
    price: float | None
    price_aud: float | None
    is_simulated: bool
    footprint: dict[str, Any]
    has_thumbnail: bool

    @property
    def is_for_sale(self) -> bool:
        return self.price is not None


def search(service: Service, query: Query, feedback: QgsFeedback) -> list[Scene]:
    """Scenes of all sources, newest first. A source that does not respond is logged and does not hide the others."""
    sources = service.call("catalog.sources.list", {"data_type": "raster"}, feedback=feedback)["sources"]
    titles = {source["host_name"]: source["title"] for source in sources}
    fields: dict[str, Any] = {"bbox": query.box, "limit": MAX_SCENES}
    if query.datetime:
        fields["datetime"] = query.datetime
    if query.max_cloud is not None:
        fields["query"] = {"cloudCoverage": {"LTE": query.max_cloud}}
    found: list[Scene] = []
    failures: list[PluginError] = []
    open_ids = [source["id"] for source in sources if source["access_model"] == "open"]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("catalog.search", {**fields, "host_name": each["host_name"]}) for each in sources if each["access_model"] == "commercial"
    ]
    if open_ids:
        calls.append(("catalog.federated_search", {**fields, "source_ids": open_ids, "data_types": ["raster"]}))
    for operation, call in calls:
        try:
            answer = service.call(operation, call, feedback=feedback)
        except CanceledError:
            raise
        except PluginError as error:
            log.warning(f"{call.get('host_name', 'open sources')}: {error}")
            failures.append(error)
            continue
        for report in answer.get("sources", []):
            if report["error"]:
                log.warning(f"{report['title']}: {report['error']}")
        found += [scene for feature in answer["features"][:MAX_SCENES] if (scene := _scene_of(feature, titles)) is not None]
    if calls and len(failures) == len(calls):
        raise failures[0]
    return sorted(found, key=lambda scene: scene.date, reverse=True)


def _scene_of(feature: dict[str, Any], titles: dict[str, str]) -> Scene | None:
    footprint = feature.get("geometry")
    if not footprint or footprint["type"] not in ("Polygon", "MultiPolygon"):
        return None
    properties = feature["properties"]
    host = str(properties.get("hostName", ""))
    return Scene(
        id=str(feature["id"]),
        host=host,
        source=str(properties.get("sourceTitle") or titles.get(host) or host),
        date=str(properties.get("datetime") or "")[:19].replace("T", " "),
        cloud=properties.get("eo:cloud_cover", properties.get("cloudCoverage")),
        resolution=properties.get("gsd", properties.get("resolution")),
        price=properties.get("creditsPerSqKm"),
        price_aud=properties.get("pricePerSqKm"),
        is_simulated=bool(properties.get("simulated")),
        footprint=footprint,
        has_thumbnail=any(link.get("rel") == "thumbnail" for link in feature.get("links", [])),
    )


def thumbnails(service: Service, scenes: list[Scene], folder: str, feedback: QgsFeedback, progress: Callable[[float], None]) -> dict[str, str]:
    """Saves small previews of the first scenes; one that fails is left out."""
    saved: dict[str, str] = {}
    wanted = [scene for scene in scenes if scene.has_thumbnail][:MAX_THUMBNAILS]
    for index, scene in enumerate(wanted):
        if feedback.isCanceled():
            raise CanceledError
        path = os.path.join(folder, f"{index}.png")
        try:
            content = service.image("catalog.image.thumbnail", {"host_name": scene.host, "image_id": scene.id})
            with open(path, "wb") as file:
                file.write(content)
            saved[scene.id] = path
        except (PluginError, OSError) as error:
            log.warning(f"No thumbnail of {scene.id}: {error}")
        progress(100 * (index + 1) / len(wanted))
    return saved


def new_folder() -> str:
    return tempfile.mkdtemp(prefix="groundtrack-search-")


def layer_of(scenes: list[Scene], name: str = "Groundtrack search") -> QgsVectorLayer:
    """Footprints as a layer in memory, with everything that is known as attributes, and a map tip with the image."""
    fields = "&".join(f"field={field}:{kind}" for field, kind in FIELDS)
    layer = QgsVectorLayer(f"MultiPolygon?crs=EPSG:4326&{fields}", name, "memory")
    features = []
    for scene in reversed(scenes):  # The newest is drawn last, so it is on top.
        feature = QgsFeature(layer.fields())
        feature.setGeometry(geometry_of(scene.footprint))
        feature.setAttributes(
            [
                scene.id,
                scene.source,
                scene.host,
                scene.date,
                None if scene.cloud is None else float(scene.cloud),
                None if scene.resolution is None else float(scene.resolution),
                FOR_SALE if scene.is_for_sale else OPEN,
                None if scene.price is None else float(scene.price),
                None if scene.price_aud is None else float(scene.price_aud),
                "yes" if scene.is_simulated else "no",
                "",
            ]
        )
        features.append(feature)
    layer.dataProvider().addFeatures(features)
    layer.updateExtents()
    layer.setMapTipTemplate(MAP_TIP)
    layer.setDisplayExpression('"date" || \' \' || "source"')
    layer.setRenderer(_renderer())
    return layer


def illustrate(layer: QgsVectorLayer, images: dict[str, str]) -> None:
    """Adds the thumbnails to a layer that is already on the map."""
    column = layer.fields().indexOf("thumbnail")
    changes = {feature.id(): {column: images[feature["id"]]} for feature in layer.getFeatures() if feature["id"] in images}
    layer.dataProvider().changeAttributeValues(changes)
    layer.triggerRepaint()


def _renderer() -> QgsCategorizedSymbolRenderer:
    def symbol(line: str) -> QgsFillSymbol:
        """Only a line: hundreds of footprints over each other would hide the map, and so would the fill of a selected one."""
        outline = QgsFillSymbol.createSimple({})
        outline.changeSymbolLayer(0, QgsSimpleLineSymbolLayer(QColor(line), 0.4))
        return outline

    categories = [
        QgsRendererCategory(FOR_SALE, symbol("#e8590c"), "For sale"),
        QgsRendererCategory(OPEN, symbol("#2f9e44"), "Open data"),
    ]
    return QgsCategorizedSymbolRenderer("access", categories)
