"""
The inputs of a process as parameters of an algorithm. A process describes its inputs in JSON Schema; each becomes the parameter that
QGIS has the best form for:

- an item: a layer of the project, and its ID as an advanced parameter for models and scripts
- an area or zones: a polygon layer, in any CRS
- choices, numbers, switches and texts: as they are
- lists: texts with commas; anything else: JSON
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from qgis.core import (
    QgsProcessing,
    QgsProcessingContext,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterMapLayer,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterString,
)

from ..errors import PluginError
from ..geometry import area_of_source, zones_of_source
from ..layers import item_of

LAYER_SUFFIX = "_layer"
AREA_NAMES = ("geometry", "area", "aoi")


class Input(NamedTuple):
    """An input of a process: its parameters, and how its value is read from them. A value of None is not sent."""

    name: str
    parameters: list[QgsProcessingParameterDefinition]
    read: Callable[[Any, dict[str, Any], QgsProcessingContext], Any]


def input_of(name: str, described: dict[str, Any]) -> Input:
    schema = described["schema"]
    is_optional = int(described.get("minOccurs", 1)) == 0
    title = _title(name)
    if name == "item_id" or name.endswith("_item_id"):
        return _item(name, title)
    if name == "item_ids":
        return _items(name)
    if _is_collection(schema):
        return _features(name, title, is_optional, zones_of_source)
    if name in AREA_NAMES and schema.get("type", "object") == "object":
        return _features(name, title, is_optional, area_of_source)
    return _value(name, title, schema, is_optional)


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _is_collection(schema: dict[str, Any]) -> bool:
    kind = schema.get("properties", {}).get("type", {})
    return kind.get("const") == "FeatureCollection"


def _advanced(parameter: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    parameter.setFlags(parameter.flags() | QgsProcessingParameterDefinition.Flag.FlagAdvanced)
    return parameter


def _item(name: str, title: str) -> Input:
    label = "Layer" if name == "item_id" else title.removesuffix(" item id")
    layer = QgsProcessingParameterMapLayer(
        f"{name}{LAYER_SUFFIX}", f"{label} of Groundtrack", optional=True, types=[QgsProcessing.SourceType.TypeRaster]
    )
    text = _advanced(QgsProcessingParameterString(name, f"{label}: item ID, instead of the layer", optional=True))

    def read(algorithm: Any, values: dict[str, Any], context: QgsProcessingContext) -> str:
        given = algorithm.parameterAsString(values, name, context).strip()
        if given:
            return str(given)
        chosen = algorithm.parameterAsLayer(values, f"{name}{LAYER_SUFFIX}", context)
        if chosen is None:
            raise PluginError(f"{label}: select a layer of Groundtrack, or enter the ID of an item.")
        return _known(chosen)

    return Input(name, [layer, text], read)


def _items(name: str) -> Input:
    layer = QgsProcessingParameterMultipleLayers(f"{name}{LAYER_SUFFIX}", "Layers of Groundtrack", QgsProcessing.SourceType.TypeRaster, optional=True)
    text = _advanced(QgsProcessingParameterString(name, "Item IDs with commas, instead of the layers", optional=True))

    def read(algorithm: Any, values: dict[str, Any], context: QgsProcessingContext) -> list[str]:
        given = [each.strip() for each in algorithm.parameterAsString(values, name, context).split(",") if each.strip()]
        chosen = given or [_known(layer) for layer in algorithm.parameterAsLayerList(values, f"{name}{LAYER_SUFFIX}", context) or []]
        if not chosen:
            raise PluginError("Select layers of Groundtrack, or enter the IDs of items.")
        return chosen

    return Input(name, [layer, text], read)


def _known(layer: Any) -> str:
    item_id = item_of(layer)
    if item_id is None:
        raise PluginError(f"{layer.name()} is not a layer of Groundtrack. Upload it first, under Web > Groundtrack > Upload layer.")
    return item_id


def _features(name: str, title: str, is_optional: bool, convert: Callable[[Any, str, Any], dict[str, Any]]) -> Input:
    parameter = QgsProcessingParameterFeatureSource(
        name, title if name not in AREA_NAMES else "Area", [QgsProcessing.SourceType.TypeVectorPolygon], optional=is_optional
    )

    def read(algorithm: Any, values: dict[str, Any], context: QgsProcessingContext) -> dict[str, Any] | None:
        source = algorithm.parameterAsSource(values, name, context)
        if source is None:
            if is_optional and not values.get(name):
                return None
            raise PluginError(f"{parameter.description()}: select a polygon layer.")
        return convert(source, parameter.description(), context)

    return Input(name, [parameter], read)


def _value(name: str, title: str, schema: dict[str, Any], is_optional: bool) -> Input:
    kind = schema.get("type")
    default = schema.get("default")
    may_omit = is_optional or default is not None
    if isinstance(schema.get("enum"), list):
        choice = QgsProcessingParameterEnum(
            name, title, [str(each) for each in schema["enum"]], defaultValue=default, optional=may_omit, usesStaticStrings=True
        )
        return Input(name, [choice], lambda algorithm, values, context: algorithm.parameterAsEnumString(values, name, context) or None)
    if kind == "boolean":
        switch = QgsProcessingParameterBoolean(name, title, defaultValue=bool(default), optional=may_omit)
        return Input(name, [switch], lambda algorithm, values, context: bool(algorithm.parameterAsBool(values, name, context)))
    if kind in ("number", "integer"):
        return _number(name, title, schema, may_omit)
    text = QgsProcessingParameterString(name, _hinted(title, schema), defaultValue=_shown(default), optional=may_omit, multiLine=kind == "object")
    return Input(name, [text], lambda algorithm, values, context: _parsed(algorithm.parameterAsString(values, name, context), title, schema))


def _number(name: str, title: str, schema: dict[str, Any], may_omit: bool) -> Input:
    is_integer = schema["type"] == "integer"
    kind = QgsProcessingParameterNumber.Type.Integer if is_integer else QgsProcessingParameterNumber.Type.Double
    number = QgsProcessingParameterNumber(name, title, kind, defaultValue=schema.get("default"), optional=may_omit)
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None:
        number.setMinimum(low)
    if high is not None:
        number.setMaximum(high)

    def read(algorithm: Any, values: dict[str, Any], context: QgsProcessingContext) -> Any:
        if values.get(name, schema.get("default")) in (None, ""):
            return None
        return algorithm.parameterAsInt(values, name, context) if is_integer else algorithm.parameterAsDouble(values, name, context)

    return Input(name, [number], read)


def _hinted(title: str, schema: dict[str, Any]) -> str:
    hints = {"array": " (with commas)", "object": " (JSON)"}
    return f"{title}{hints.get(str(schema.get('type')), '')}"


def _shown(default: Any) -> str | None:
    if default is None:
        return None
    if isinstance(default, list):
        return ", ".join(str(each) for each in default)
    return default if isinstance(default, str) else json.dumps(default)


def _parsed(text: str, title: str, schema: dict[str, Any]) -> Any:
    words = text.strip()
    if not words:
        return None
    kind = schema.get("type")
    try:
        if kind == "string":
            return words
        if kind == "array" and not words.startswith("["):
            return [_element(each.strip(), schema.get("items", {})) for each in words.split(",") if each.strip()]
        return json.loads(words)
    except ValueError as error:
        wanted = "values with commas" if kind == "array" else "JSON"
        raise PluginError(f"{title}: {words[:40]!r} cannot be read. Enter {wanted}.") from error


def _element(text: str, schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    return int(text) if kind == "integer" else float(text) if kind == "number" else text
