"""The price of a call before it is made, by the operation that estimates it. Only the service knows prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import PriceError
from .flows import Flow

if TYPE_CHECKING:
    from .client import BaseClient

CREDITS_PER_AUD = 100


class Price(NamedTuple):
    """A price in credits and Australian dollars; None if it is only known afterwards, then `note` says why."""

    credits: float | None
    aud: float | None
    note: str = ""


Fields = Mapping[str, Any]
Estimate = Callable[["BaseClient", Fields], Flow[Price]]


def _of(credits: float, note: str = "") -> Price:
    return Price(credits, credits / CREDITS_PER_AUD, note)


def _unknown(note: str) -> Price:
    return Price(None, None, note)


def _pick(fields: Fields, *names: str) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def _total(estimate: Fields) -> Price:
    """The first number under one of these names, at the top or in `summary`."""
    errors = estimate.get("errors") or []
    # The whole call would be rejected, so there is no price for a part of it.
    if errors:
        raise PriceError(". ".join(str(error.get("reason") or error.get("message") or "No price") for error in errors))
    fields = {**estimate, **(estimate.get("summary") or {})}
    for name in ("totalCredits", "total_credits", "credits"):
        if isinstance(fields.get(name), (int, float)):
            return _of(fields[name])
    return _unknown("The estimate has no price")


def _estimated_by(operation: str, *names: str) -> Estimate:
    def estimate(client: BaseClient, fields: Fields) -> Flow[Price]:
        return _total((yield from client.json_flow(operation, _pick(fields, *names))))

    return estimate


def _catalogue(client: BaseClient, process: str, inputs: Fields) -> Flow[Price]:
    return _total((yield from client.json_flow("processing.catalog.estimate", {"process_id": process, "inputs": inputs})))


def _processing(client: BaseClient, fields: Fields) -> Flow[Price]:
    types = (yield from client.json_flow("processing.job_types.list", {}))["job_types"]
    wanted = (fields.get("job_type_id"), fields.get("process_id"))
    known = next((kind["process_id"] for kind in types if kind["id"] in wanted), None)
    process = known or fields.get("process_id") or fields.get("job_type_id")
    inputs = fields.get("inputs")
    return (yield from _catalogue(client, str(process), fields.get("input_params") or {} if inputs is None else inputs))


def _clip(client: BaseClient, fields: Fields) -> Flow[Price]:
    inputs = {"item_id": fields["source_item_id"], "geometry": fields["aoi_geometry"], **_pick(fields, "asset_keys")}
    return _catalogue(client, "cog_clip", inputs)


def _clip_of_area(client: BaseClient, fields: Fields) -> Flow[Price]:
    area = yield from client.json_flow("clip.area.metadata", {"area": fields["area"]})
    unknown = [kind for kind in fields.get("mosaic_types") or () if kind not in area["mosaic_types"]]
    if unknown:
        raise PriceError(f"{area['name']} has no mosaic {', '.join(unknown)}; it has {', '.join(area['mosaic_types'])}")
    return (yield from _catalogue(client, "cog_clip", {"geometry": fields["aoi_geometry"]}))


def _scene_copy(client: BaseClient, fields: Fields) -> Flow[Price]:
    inputs = {"host_name": fields["host_name"], "scene_id": fields["id"]}
    if fields.get("assets"):
        inputs["asset_keys"] = fields["assets"]
    if fields.get("area"):
        inputs["geometry"] = fields["area"]
    return _catalogue(client, "scene_copy", inputs)


def _study(client: BaseClient, fields: Fields) -> Flow[Price]:
    studies = (yield from client.json_flow("orders.tasking.feasibility_studies.list", {"id": fields["study_id"]}))["content"]
    options = [option for study in studies if study["id"] == fields["study_id"] for option in study["options"]]
    option = next((option for option in options if option["id"] == fields.get("acceptedOptionId")), None)
    return _unknown("No such option") if option is None else _of(option["credits"])


def _quotation(client: BaseClient, fields: Fields) -> Flow[Price]:
    if fields.get("decision") == "REJECTED":
        return _of(0)
    found = (yield from client.json_flow("orders.tasking.quotations.list", {"id": fields["quotation_id"]}))["content"]
    quotation = next((each for each in found if each["id"] == fields["quotation_id"]), None)
    return _unknown("No such quotation") if quotation is None else _of(quotation["creditsPrice"])


def _topup(_client: BaseClient, fields: Fields) -> Flow[Price]:
    credits = fields.get("credits")
    return _of(fields.get("aud_cents") or 0 if credits is None else credits, "Charged to the default card")
    yield


def _approval(client: BaseClient, fields: Fields) -> Flow[Price]:
    if fields.get("decision") == "REJECTED":
        return _of(0)
    response = yield from client.json_flow("billing.approvals.get", {"approval_id": fields["approval_id"]})
    request = response.get("approval") or response
    if request.get("operation") not in ESTIMATES or not request.get("input"):
        return _unknown("The request has no price")
    return (yield from price_of(client, request["operation"], request["input"]))


def _nothing(_client: BaseClient, _fields: Fields) -> Flow[Price]:
    return _of(0)
    yield


def _month(_client: BaseClient, _fields: Fields) -> Flow[Price]:
    return _unknown("Calculated when the month is closed: plan fees, orders and jobs on account, and commitment shortfalls")
    yield


ESTIMATES: dict[str, Estimate] = {
    "orders.archive.place": _estimated_by("orders.archive.estimate", "captures", "splitByDate"),
    "orders.tasking.place": _estimated_by("orders.tasking.estimate", "groups"),
    "orders.place": _estimated_by("orders.estimate", "displayName", "dataProduct", "params", "featureCollection", "tags"),
    "orders.tasking.feasibility_decide": _study,
    "orders.tasking.quotation_decide": _quotation,
    "orders.cancel": _nothing,
    "processing.create": _processing,
    "processing.create_and_dispatch": _processing,
    "processing.execute": _processing,
    "processing.dispatch": _nothing,
    "processing.job.register": _nothing,
    "clip.create_from_item": _clip,
    "clip.create_from_area": _clip_of_area,
    "catalog.scene.copy": _scene_copy,
    "billing.topup": _topup,
    "billing.approvals.approve": _approval,
    "billing.run_monthly_for_org": _month,
}


def price_of(client: BaseClient, operation: str, fields: Fields) -> Flow[Price]:
    """Fails as the estimate fails, because the call itself would fail alike."""
    estimate = ESTIMATES.get(operation)
    if estimate is None:
        return _unknown("This operation has no estimate")
    return (yield from estimate(client, fields))
