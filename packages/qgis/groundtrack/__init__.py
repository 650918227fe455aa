"""The Groundtrack plugin: search, buy, show and process satellite imagery in QGIS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .plugin import GroundtrackPlugin


def classFactory(iface: Any) -> GroundtrackPlugin:  # noqa: N802: QGIS calls it by this name.
    """Called by QGIS when it loads the plugin."""
    from .plugin import GroundtrackPlugin

    return GroundtrackPlugin(iface)
