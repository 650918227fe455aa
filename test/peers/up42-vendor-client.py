"""Calls of up42-py against the simulated UP42. What each gave, or the error that it raised, is printed as one line of JSON."""
import json
import pathlib
import sys
import tempfile
import warnings

import requests
import up42
from up42 import glossary, host

given = json.loads(sys.argv[1])
address = given["address"]
warnings.simplefilter("ignore")

host.endpoint = lambda path: address + path
host.token_endpoint = lambda: f"{given['auth']}/token"
host.user_info_endpoint = lambda: f"{given['auth']}/userinfo"

results = {}
folder = pathlib.Path(tempfile.mkdtemp())


def call(name):
    def run(function):
        try:
            results[name] = function()
        except Exception as error:  # The test says which errors are right.
            results[name] = f"{type(error).__name__}: {error}"
        return function

    return run


def attempt(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__


def control(**faults):
    """The test's own switch, which UP42 does not have."""
    requests.post(given["control"], json=faults, timeout=60).raise_for_status()


@call("wrong password")
def _():
    up42.authenticate(username=given["user"], password="wrong")


up42.authenticate(username=given["user"], password=given["password"])
results["workspace"] = up42.base.workspace.id

collections = list(up42.ProductGlossary.get_collections(sort_by=glossary.CollectionSorting.name))
by_name = {c.name: c for c in collections}
archive = by_name["phr"]
provider = next(p for p in archive.providers if p.is_host)
display = archive.data_products[0]
tasking = by_name["pneo-tasking"].data_products[0]


@call("collections")
def _():
    return {
        "names": sorted(by_name),
        "archive": len(list(up42.ProductGlossary.get_collections(collection_type=glossary.CollectionType.ARCHIVE))),
        "host": provider.name,
        "resolution": archive.metadata.resolution_class,
        "eula": display.eula_id is not None,
    }


@call("schema")
def _():
    return sorted(display.schema["required"])


scenes = []


@call("search")
def _():
    found = provider.search(
        bbox=given["box"], query={"cloudCoverage": {"LTE": 90}}, collections=["phr"],
        start_date="2026-01-01", end_date="2026-06-30")
    scenes.extend(scene for scene, _ in zip(found, range(25)))
    picture = scenes[0].quicklook.download(folder)
    return {
        "scenes": len({scene.id for scene in scenes}),
        "clouds": max(scene.cloud_coverage for scene in scenes),
        "collection": scenes[0].collection,
        "producer": scenes[0].producer,
        "quicklook": picture.read_bytes()[:4].hex(),
    }


@call("invalid search")
def _():
    list(provider.search(bbox=given["box"], query={"sunElevation": {"LTE": 90}}))


def template(product, **params):
    return up42.BatchOrderTemplate(
        data_product_id=product.id,
        display_name="From Python",
        features=given["features"],
        params={"radiometricProcessing": "display", **params},
        tags=["gt-python"],
    )


orders = []


@call("archive order")
def _():
    form = template(display, id=scenes[0].id)
    (reference,) = form.place()
    order = reference.order
    orders.append(order)
    return {
        "estimate": [form.estimate.credits > 0, form.estimate.unit, type(form.estimate.items[0]).__name__],
        "order": [order.status, order.type, order.tags, order.details.image_id == scenes[0].id, order.data_product_id == display.id],
        "listed": [each.id for each in up42.Order.all(tags=["gt-python"], sort_by=up42.OrderSorting.created_at.desc)] == [order.id],
        "elsewhere": len(list(up42.Order.all(tags=["gt-other"]))),
    }


@call("invalid order")
def _():
    (error,) = template(display, id="no such scene").estimate.items
    return [type(error).__name__, error.details]


@call("cancellation")
def _():
    (reference,) = template(display, id=scenes[1].id).place()
    order = reference.order
    cancelled = order.cancel()
    return [cancelled.status, up42.Order.get(order.id).status, attempt(lambda: up42.Order.get(order.id).track(report_time=0))]


@call("late cancellation")
def _():
    control(steps=2)
    return [up42.Order.get(orders[0].id).status, attempt(up42.Order.get(orders[0].id).cancel)]


@call("delivery")
def _():
    (order,) = orders
    control(steps=10, ready=order.id)
    order.track(report_time=0.2)
    control(steps=1)
    client = up42.stac_client()
    (item,) = client.search(filter={"op": "=", "args": [{"property": "order_id"}, order.id]}).items()
    image = next(asset for asset in item.assets.values() if "multispectral" in (asset.roles or []))
    coverage = up42.OrderCoverage.get(order.id)
    collection = client.get_collection(item.collection_id)
    return {
        "fulfilled": order.is_fulfilled,
        "item": [item.up42.order_id == order.id, item.up42.product_id == display.id, item.up42.collection_name, item.up42.source],
        "archive": collection.up42.asset_id == item.up42.asset_id,
        "assets": sorted(item.assets),
        "downloaded": image.file.download(folder).stat().st_size == image.extra_fields["file:size"],
        "covered": coverage.covered.percentage,
    }


WINDOW = {"acquisitionStart": "2026-12-01T00:00:00Z", "acquisitionEnd": "2026-12-20T00:00:00Z"}


@call("tasking")
def _():
    (reference,) = template(tasking, **WINDOW).place()
    order = reference.order
    first = [order.status, order.details.sub_status, len(list(up42.FeasibilityStudy.all(order_id=order.id)))]
    control(steps=1)
    (study,) = up42.FeasibilityStudy.all(order_id=order.id, decision=["NOT_DECIDED"])
    undecided = attempt(study.save)
    study.accept(study.options[0]["id"])
    study.save()
    control(steps=1)
    (quotation,) = up42.Quotation.all(order_id=order.id, decision=["NOT_DECIDED"])
    quotation.accept()
    quotation.save()
    again = up42.Order.get(order.id)
    return {
        "placed": first,
        "study": [undecided, study.decision, study.decision_option.id == study.options[0]["id"]],
        "quotation": [quotation.decision, quotation.credits_price > 0, quotation.decided_at is not None],
        "order": [again.status, again.details.sub_status],
    }


@call("rejected quotation")
def _():
    (reference,) = template(tasking, **WINDOW).place()
    control(steps=1)
    (study,) = up42.FeasibilityStudy.all(order_id=reference.id)
    study.accept(study.options[1]["id"])
    study.save()
    control(steps=1)
    (quotation,) = up42.Quotation.all(order_id=reference.id)
    quotation.reject()
    quotation.save()
    return [quotation.decision, up42.Order.get(reference.id).status]


print(json.dumps(results, default=str))
