"""The Processing provider: one algorithm for each process. Their descriptions are kept, so that QGIS starts without the network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from qgis.core import QgsApplication, QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from .. import log, tasks
from ..connection import Connection
from ..icons import icon, icon_path
from ..service import Service
from .algorithm import ProcessAlgorithm

MAX_PROCESSES = 500


class GroundtrackProvider(QgsProcessingProvider):
    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    def id(self) -> str:
        return "groundtrack"

    def name(self) -> str:
        return "Groundtrack"

    def icon(self) -> QIcon:
        return icon()

    def svgIconPath(self) -> str:  # noqa: N802: QGIS calls it by this name.
        return icon_path()

    def loadAlgorithms(self) -> None:  # noqa: N802: QGIS calls it by this name.
        for process in kept():
            self.addAlgorithm(ProcessAlgorithm(process, self._connection))

    def update(self, on_error: Callable[[BaseException], None]) -> None:
        """Asks the server for its processes in the background."""
        if not self._connection.is_stored:
            keep([])
            self.refreshAlgorithms()
            return
        try:
            service = self._connection.service
        except Exception as error:
            return on_error(error)

        def done(processes: list[dict[str, Any]]) -> None:
            keep(processes)
            self.refreshAlgorithms()

        tasks.run("Groundtrack: processes", lambda feedback, progress: described(service), done, on_error)


def described(service: Service) -> list[dict[str, Any]]:
    """Every process that a caller can start, with its inputs."""
    listed = json.loads(service.request("GET", f"/processes?limit={MAX_PROCESSES}").body)["processes"]
    elsewhere = {each["id"] for each in service.call("processing.catalog.list")["processes"] if each["created_by"]}
    ids = [each["id"] for each in listed if each["id"] not in elsewhere]
    return [json.loads(service.request("GET", f"/processes/{quote(id)}").body) for id in ids]


def _path() -> str:
    return os.path.join(QgsApplication.qgisSettingsDirPath(), "groundtrack", "processes.json")


def keep(processes: list[dict[str, Any]]) -> None:
    path = _path()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.tmp", "w", encoding="utf-8") as file:
            json.dump(processes, file)
        os.replace(f"{path}.tmp", path)
    except OSError as error:
        log.warning(f"The list of processes cannot be kept in {path}: {error}")


def kept() -> list[dict[str, Any]]:
    try:
        with open(_path(), encoding="utf-8") as file:
            processes: list[dict[str, Any]] = json.load(file)
    except (OSError, ValueError):
        return []
    return processes[:MAX_PROCESSES]
