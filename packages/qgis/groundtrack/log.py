"""Messages: the whole story in QGIS's message log, one sentence in the message bar."""

from __future__ import annotations

import traceback
from typing import Any

from qgis.core import Qgis, QgsMessageLog

from .errors import CanceledError, PluginError

TAG = "Groundtrack"


def info(text: str) -> None:
    QgsMessageLog.logMessage(text, TAG, Qgis.MessageLevel.Info, False)


def warning(text: str) -> None:
    QgsMessageLog.logMessage(text, TAG, Qgis.MessageLevel.Warning, False)


def sentence(error: BaseException) -> str:
    """
    What a user reads about a failure. One that we did not foresee is described in the log, with its traceback, because nobody can
    act on a traceback in the middle of the screen.
    """
    if isinstance(error, PluginError):
        warning(str(error))
        return str(error)
    QgsMessageLog.logMessage("".join(traceback.format_exception(type(error), error, error.__traceback__)), TAG, Qgis.MessageLevel.Critical, False)
    return f"Something unexpected went wrong ({type(error).__name__}). The Groundtrack tab of the message log has the details."


class Messages:
    """The message bar of the main window; without a window, only the log."""

    def __init__(self, iface: Any) -> None:
        self._iface = iface

    def success(self, text: str) -> None:
        info(text)
        self._push(text, Qgis.MessageLevel.Success)

    def failure(self, error: BaseException) -> None:
        text = sentence(error)
        if not isinstance(error, CanceledError):
            self._push(text, Qgis.MessageLevel.Warning)

    def _push(self, text: str, level: Any) -> None:
        if self._iface is not None:
            self._iface.messageBar().pushMessage(TAG, text, level, 10)
