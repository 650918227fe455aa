"""GeoJSON, and objects that can say what they are in GeoJSON: shapely geometries, GeoDataFrames, items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Union

Geometry = dict[str, Any]
"""A GeoJSON geometry in longitude and latitude. `groundtrack.geo.shape` makes a shapely geometry of it."""


class GeoInterface(Protocol):
    """Anything with `__geo_interface__`, such as a shapely geometry."""

    @property
    def __geo_interface__(self) -> Any: ...


GeometryInput = Union[Mapping[str, Any], GeoInterface]
