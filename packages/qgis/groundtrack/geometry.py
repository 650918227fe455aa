"""Areas of QGIS as GeoJSON in longitude and latitude, which is what the service takes."""

from __future__ import annotations

import json
from typing import Any

from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsCsException,
    QgsFeatureRequest,
    QgsGeometry,
    QgsMapLayer,
    QgsProject,
    QgsRectangle,
)

from .errors import PluginError

WGS84 = "EPSG:4326"
MAX_VERTICES = 999
DECIMALS = 8


def wgs84() -> QgsCoordinateReferenceSystem:
    return QgsCoordinateReferenceSystem(WGS84)


def require_crs(layer: QgsMapLayer) -> QgsCoordinateReferenceSystem:
    if not layer.crs().isValid():
        raise PluginError(f"The layer {layer.name()} has no CRS. Set it under Layer > Set CRS of Layer(s), then try again.")
    return layer.crs()


def extent_in_degrees(extent: QgsRectangle, crs: QgsCoordinateReferenceSystem) -> list[float]:
    """West, south, east, north."""
    if extent.isEmpty() or not crs.isValid():
        raise PluginError("The map shows no area. Add a layer, or zoom to a place, then search again.")
    try:
        box = QgsCoordinateTransform(crs, wgs84(), QgsProject.instance()).transformBoundingBox(extent)
    except QgsCsException as error:
        raise PluginError("The map shows more than the Earth in this projection. Zoom in, then search again.") from error
    west, east = max(-180.0, box.xMinimum()), min(180.0, box.xMaximum())
    south, north = max(-90.0, box.yMinimum()), min(90.0, box.yMaximum())
    if not (west < east and south < north):
        raise PluginError("The map shows no place on the Earth. Zoom to a place, then search again.")
    return [round(each, DECIMALS) for each in (west, south, east, north)]


def polygon_of_box(box: list[float]) -> dict[str, Any]:
    west, south, east, north = box
    return {"type": "Polygon", "coordinates": [[[west, south], [east, south], [east, north], [west, north], [west, south]]]}


def geometry_of(geojson: dict[str, Any]) -> QgsGeometry:
    """A polygon from GeoJSON."""
    rings = geojson["coordinates"] if geojson["type"] == "MultiPolygon" else [geojson["coordinates"]]
    polygons = ",".join("(" + ",".join("(" + ",".join(f"{x!r} {y!r}" for x, y, *_ in ring) + ")" for ring in polygon) + ")" for polygon in rings)
    return QgsGeometry.fromWkt(f"MULTIPOLYGON({polygons})")


def geojson_of(geometry: QgsGeometry) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(geometry.asJson(DECIMALS))
    return result


def overlap(footprint: dict[str, Any], box: list[float]) -> dict[str, Any] | None:
    """The part of a scene within a box; None if there is none."""
    part = geometry_of(footprint).intersection(QgsGeometry.fromRect(QgsRectangle(*box)))
    if part.isEmpty() or part.area() <= 0:
        return None
    part.convertGeometryCollectionToSubclass(part.type())
    if part.isMultipart() and len(part.asGeometryCollection()) == 1:
        part.convertToSingleType()
    return geojson_of(part)


def area_of_source(source: Any, name: str, context: Any = None) -> dict[str, Any]:
    """All polygons of a source as one area."""
    return geojson_of(_limited(QgsGeometry.unaryUnion([geometry for _, geometry in _polygons(source, name, context)]), name))


def zones_of_source(source: Any, name: str, context: Any = None) -> dict[str, Any]:
    """Each polygon as a zone, with its feature ID."""
    features = [
        {"type": "Feature", "id": id, "properties": {}, "geometry": geojson_of(_limited(geometry, name))}
        for id, geometry in _polygons(source, name, context)
    ]
    return {"type": "FeatureCollection", "features": features}


def _polygons(source: Any, name: str, context: Any) -> list[tuple[int, QgsGeometry]]:
    if not source.sourceCrs().isValid():
        raise PluginError(f"The layer of {name} has no CRS. Set it under Layer > Set CRS of Layer(s), then try again.")
    transform_context = context.transformContext() if context is not None else QgsProject.instance().transformContext()
    request = QgsFeatureRequest().setDestinationCrs(wgs84(), transform_context)
    found = [(feature.id(), feature.geometry()) for feature in source.getFeatures(request) if not feature.geometry().isEmpty()]
    if not found:
        raise PluginError(f"The layer of {name} has no polygons. Select another layer, or draw the area first.")
    return found


def _limited(geometry: QgsGeometry, name: str) -> QgsGeometry:
    """The service takes 999 vertices; a finer outline is simplified, in steps, until it fits."""
    tolerance = 1e-6
    simple = geometry
    while simple.constGet().nCoordinates() > MAX_VERTICES:
        if tolerance > 1:
            raise PluginError(f"{name} has too many vertices. Simplify it under Vector > Geometry Tools > Simplify.")
        simple = geometry.simplify(tolerance).makeValid()
        tolerance *= 4
    return simple
