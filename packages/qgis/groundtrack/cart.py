"""The cart: scenes for sale, cut to the area of interest. Its price is exact, and an order never costs more than was confirmed."""

from __future__ import annotations

from typing import Any, NamedTuple

from qgis.core import QgsFeedback

from . import http
from .errors import PluginError
from .geometry import overlap
from .search import Scene
from .service import Patience, Service, wait

MAX_CAPTURES = 200
FIRST_POLL, MAX_POLL = 1.0, 30.0
MAX_WAIT_SECONDS = 6 * 3_600.0
ENDED = ("fulfilled", "failed", "cancelled")


class Quote(NamedTuple):
    credits: int
    aud: float
    billed_by_vendor: list[str]
    captures: list[dict[str, Any]]

    @property
    def text(self) -> str:
        own = f"{self.credits:,} credits (A${self.aud:,.2f})"
        return own if not self.billed_by_vendor else f"{own}, and the vendor bills you {', '.join(self.billed_by_vendor)}"


class Cart:
    def __init__(self) -> None:
        self._captures: dict[str, dict[str, Any]] = {}
        self._scenes: dict[str, Scene] = {}

    def __len__(self) -> int:
        return len(self._captures)

    @property
    def scenes(self) -> list[Scene]:
        return list(self._scenes.values())

    def add(self, scene: Scene, box: list[float]) -> None:
        """Only the part within the box is bought."""
        if not scene.is_for_sale:
            raise PluginError("Open scenes cost nothing. Save them to a project instead.")
        if len(self) >= MAX_CAPTURES and scene.id not in self._captures:
            raise PluginError(f"An order has at most {MAX_CAPTURES} scenes. Order these first.")
        part = overlap(scene.footprint, box)
        if part is None:
            raise PluginError("The scene is outside the area that was searched. Search again where you need it.")
        self._captures[scene.id] = {"id": scene.id, "geometry": part, "host": scene.host}
        self._scenes[scene.id] = scene

    def remove(self, scene_id: str) -> None:
        self._captures.pop(scene_id, None)
        self._scenes.pop(scene_id, None)

    def clear(self) -> None:
        self._captures.clear()
        self._scenes.clear()

    def captures(self) -> list[dict[str, Any]]:
        if not self._captures:
            raise PluginError("The cart is empty. Select scenes for sale and add them first.")
        return list(self._captures.values())


def quote(service: Service, captures: list[dict[str, Any]], feedback: QgsFeedback | None = None) -> Quote:
    """The exact price; nothing is reserved."""
    estimate = service.call("orders.archive.estimate", {"captures": captures}, feedback=feedback)
    if estimate["errors"]:
        reasons = "; ".join(str(error.get("message") or error.get("detail") or error) for error in estimate["errors"][:3])
        raise PluginError(f"Not all scenes can be ordered: {reasons}.")
    billed = [group["billedByVendor"] for group in estimate["groups"] if group.get("billedByVendor")]
    return Quote(estimate["total_credits"], estimate["total_aud"], [f"{each['amount']} {each['currency']}" for each in billed], captures)


def place(service: Service, quoted: Quote, project_id: str, name: str) -> dict[str, Any]:
    """Orders what was quoted. If the price has risen since, nothing is bought."""
    fields: dict[str, Any] = {"projectId": project_id, "captures": quoted.captures, "maxCredits": quoted.credits}
    if name.strip():
        fields["displayName"] = name.strip()
    order: dict[str, Any] = service.call("orders.archive.place", fields, is_keyed=True)
    return order


def await_delivery(service: Service, order_id: str, feedback: QgsFeedback) -> dict[str, Any]:
    """The order once it has ended, or as it is after some hours."""
    waited, poll, patience = 0.0, FIRST_POLL, Patience()
    while True:
        try:
            order = patience.ask(lambda: _order(service, order_id, feedback))
        except http.NetworkError as error:
            raise PluginError(f"The server no longer responds. The order {order_id} continues there; see it in the console later.") from error
        if order is not None and (order["status"] in ENDED or waited >= MAX_WAIT_SECONDS):
            return order
        wait(poll, feedback)
        waited, poll = waited + poll, min(MAX_POLL, poll * 1.5)


def _order(service: Service, order_id: str, feedback: QgsFeedback) -> dict[str, Any]:
    order: dict[str, Any] = service.call("orders.get", {"id": order_id}, feedback=feedback)
    return order
