"""The plugin's icons; all of them are our own drawings."""

from __future__ import annotations

import os

from qgis.PyQt.QtGui import QIcon

FOLDER = os.path.dirname(__file__)


def icon_path(name: str = "icon") -> str:
    return os.path.join(FOLDER, "icons", f"{name}.svg")


def icon(name: str = "icon") -> QIcon:
    return QIcon(icon_path(name))
