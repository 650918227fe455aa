"""For programs that QGIS runs with `--code`: waiting with its event loop, messages, and an account to sign in with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from qgis.core import QgsApplication, QgsProject
from qgis.PyQt.QtCore import QCoreApplication, QEventLoop
from qgis.utils import iface, plugins

T = TypeVar("T")

URL = os.environ["GROUNDTRACK_URL"]
EMAIL = os.environ["GROUNDTRACK_EMAIL"]
PASSWORD = os.environ["GROUNDTRACK_PASSWORD"]
WORK = os.environ["GROUNDTRACK_WORK"]
PATIENT_SECONDS = float(os.environ.get("GROUNDTRACK_PATIENT_SECONDS", "300"))
"""What has not happened by then is broken, on any machine."""

messages: list[str] = []
"""Everything in the Groundtrack tab of the message log."""
QgsApplication.messageLog().messageReceived.connect(lambda text, tag, level: messages.append(text) if tag == "Groundtrack" else None)


def plugin() -> Any:
    return plugins["groundtrack"]


def until(what: str, condition: Callable[[], T | None]) -> T:
    """Runs QGIS's event loop until something is there."""
    deadline = time.monotonic() + PATIENT_SECONDS
    while True:
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}; the log ends with {messages[-3:]}")


def unlock_store() -> None:
    """In the window, QGIS asks for the master password when it is first needed."""
    assert QgsApplication.authManager().setMasterPassword("master password of the tests", True)


def sign_in() -> None:
    plugin().connection.sign_in(URL, EMAIL, PASSWORD)
    until("the algorithms", lambda: plugin().provider.algorithms())


def demo_project() -> str:
    return next(str(each["id"]) for each in plugin().connection.service.pages("projects.list", {}, "projects") if each["name"] == "Demo")


def item_named(name: str) -> dict[str, Any]:
    return next(each for each in plugin().connection.service.pages("items.list", {"project_id": demo_project()}, "items") if each["name"] == name)


def clear() -> None:
    QgsProject.instance().clear()
    iface.messageBar().clearWidgets()
