"""Calls of up42-py against a service. What each gave, or the error that it raised, is printed as one line of JSON."""
import dataclasses
import json
import pathlib
import sys
import tempfile
import warnings

import up42
from up42 import budgets, glossary, host, order, order_template, processing, processing_templates, stac, tasking

given = json.loads(sys.argv[1])
address, project, order_id, job_id = given["address"], given["project"], given["order"], given["job"]
warnings.simplefilter("ignore")

# The whole setup of a user who moves here.
realm = f"{address}/realms/public/protocol/openid-connect"
host.endpoint = lambda path: address + path
host.token_endpoint = lambda: f"{realm}/token"
host.user_info_endpoint = lambda: f"{realm}/userinfo"

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


@call("wrong password")
def _():
    up42.authenticate(username=given["email"], password="wrong")


@call("config file")
def _():
    config = folder / "credentials.json"
    config.write_text(json.dumps({"username": given["email"], "password": given["password"]}))
    up42.authenticate(cfg_file=config)
    return up42.base.workspace.id


up42.authenticate(username=given["email"], password=given["password"])
results["workspace"] = up42.base.workspace.id

collections = list(up42.ProductGlossary.get_collections(sort_by=glossary.CollectionSorting.name))
provider = next(p for c in collections for p in c.providers if p.name == given["host"])
products = {p.name: p for c in collections for p in c.data_products}
BOX = [2.2, 48.8, 2.4, 48.9]
JUNE = {"start_date": "2026-06-01", "end_date": "2026-06-30"}


@call("collections")
def _():
    archive = list(up42.ProductGlossary.get_collections(collection_type=glossary.CollectionType.ARCHIVE))
    return {"names": [c.name for c in collections], "archive": len(archive), "host": provider.is_host}


@call("schema")
def _():
    return products[given["product"]].schema["type"]


@call("provider search")
def _():
    scenes = provider.search(bbox=BOX, query={"cloudCoverage": {"LTE": 90}}, **JUNE)
    found = [scene for scene, _ in zip(scenes, range(120))]
    picture = found[0].quicklook.download(folder)
    return {
        "scenes": len({scene.id for scene in found}),
        "clouds": max(scene.cloud_coverage or 0 for scene in found),
        "quicklook": picture.read_bytes()[:4].hex(),
    }


@call("invalid provider search")
def _():
    list(provider.search(bbox=BOX, query={"sunElevation": {"LTE": 90}}))


@call("catalog collections")
def _():
    client = up42.catalog_client()
    one = client.get_collection(given["host"])
    return {"names": sorted(c.id for c in client.get_collections()), "one": [one.id, one.title]}


@call("catalog search")
def _():
    wanted = {"bbox": BOX, "datetime": "2026-06-01/2026-06-30", "collections": [given["host"]]}
    client = up42.catalog_client()
    items = list(client.search(**wanted, query={"eo:cloud_cover": {"lt": 50}}, max_items=120, limit=50).items())
    by_get = list(client.search(**wanted, query=["eo:cloud_cover<50"], max_items=3, method="GET").items())
    item = items[0]
    again = client.get_collection(item.collection_id).get_item(item.id)
    return {
        "scenes": len({each.id for each in items}),
        "clouds": max(each.properties["eo:cloud_cover"] for each in items),
        "get": [each.id for each in by_get] == [each.id for each in items[:3]],
        "again": again.id == item.id,
        "self": item.get_self_href(),
        "assets": sorted(item.assets),
        "picture": up42.base.workspace.session.get(item.assets["quicklook"].href).content[:4].hex(),
    }


@call("catalog search everywhere")
def _():
    hosts = {item.properties["hostName"] for item in up42.catalog_client().search(
        ids=given["scenes"], datetime="2020-01-01/..", max_items=10).items()}
    return sorted(hosts)


@call("invalid catalog search")
def _():
    list(up42.catalog_client().search(bbox=BOX, query={"view:azimuth": {"lt": 5}}).items())


@call("unknown catalog collection")
def _():
    list(up42.catalog_client().search(bbox=BOX, collections=["sandbox-rh"]).items())


def template(product, **params):
    return up42.BatchOrderTemplate(
        data_product_id=products[product].id,
        display_name="From Python",
        features=given["features"],
        params=params,
        tags=["python"],
    )


@call("archive order")
def _():
    archive = template(given["product"], id=given["scenes"][0])
    (reference,) = archive.place()
    placed = reference.order
    return {
        "estimate": [archive.estimate.credits, archive.estimate.unit, type(archive.estimate.items[0]).__name__],
        "order": [placed.id, placed.type, placed.workspace_id, placed.tags, placed.details.image_id, placed.is_fulfilled],
        "cancel": attempt(placed.cancel),
    }


@call("tasking order")
def _():
    (reference,) = template("sandbox-vhr-quoted", **given["window"]).place()
    placed = up42.Order.get(reference.id)
    cancelled = placed.cancel()
    return [placed.status, placed.details.acquisition_start, cancelled.status, attempt(lambda: placed.track(report_time=0))]


@call("order lists")
def _():
    ids = lambda **filters: sorted(each.id for each in up42.Order.all(**filters))
    return {
        "ids": ids(workspace_id=project, ids=[order_id], sort_by=up42.OrderSorting.created_at.desc),
        "fulfilled": ids(status=["FULFILLED"], order_type="ARCHIVE"),
        "quoted": ids(sub_status=["QUOTATION_WAITING_RESPONSE"]),
        "budgets": ids(budget_ids=[project]),
        "named": ids(display_name="From Python", tags=["python"], order_type="TASKING"),
    }


@call("order update and track")
def _():
    updated = order.Order.update(order_id, tags=["from", "python"])
    updated.track(report_time=0)
    coverage = up42.OrderCoverage.get(order_id)
    return [updated.tags, updated.is_fulfilled, round(coverage.covered.percentage + coverage.remainder.percentage)]


@call("quotations")
def _():
    (quotation,) = up42.Quotation.all(order_id=given["quoted"], decision=["NOT_DECIDED"], sort_by=up42.QuotationSorting.created_at)
    quotation.accept()
    quotation.save()
    (rejected,) = up42.Quotation.all(order_id=given["rejected"], workspace_id=project)
    rejected.reject()
    rejected.save()
    return [quotation.decision, quotation.decided_at is not None, quotation.credits_price > 0, rejected.decision]


@call("studies")
def _():
    (study,) = up42.FeasibilityStudy.all(order_id=given["studied"], sort_by=up42.FeasibilityStudySorting.created_at)
    undecided = attempt(study.save)
    study.accept(study.options[0]["id"])
    study.save()
    return [undecided, study.decision, study.decision_option.id == study.options[0]["id"]]


@call("jobs")
def _():
    job = processing.Job.get(job_id)
    job.track(wait=0, retries=2)
    ids = lambda **filters: sorted(each.id for each in up42.Job.all(**filters))
    return {
        "job": [job.status.value, job.process_id, job.workspace_id, job.credits, job.finished is not None],
        "collection": job.collection and job.collection.id,
        "all": ids(workspace_id=project, page_size=1, sort_by=up42.JobSorting.created),
        "successful": ids(status=[up42.JobStatus.SUCCESSFUL], process_id=["band_math", "slope"], min_duration=0),
        "ids": ids(ids=[job_id]),
        "released": ids(status=[up42.JobStatus.RELEASED]),
    }


client = up42.stac_client()


@call("assets")
def _():
    wanted = {"op": "=", "args": [{"property": "up42-order:id"}, order_id]}
    (item,) = client.search(filter=wanted).items()
    asset = next(iter(item.assets.values()))
    up = item.up42
    return {
        "item": [up.order_id, up.account_id, up.workspace_id, up.job_id, up.source, up.asset_id == item.get_self_href().split("/")[-1]],
        "text": [each.id for each in client.search(filter=f"\"up42-order:id\" = '{order_id}'", filter_lang="cql2-text", method="GET").items()] == [item.id],
        "downloaded": asset.file.download(folder).stat().st_size == asset.extra_fields["file:size"],
        "root": client.get_self_href(),
        "foreign": stac.pystac.Asset("https://elsewhere.example/a.tif").file,
    }


@call("item update")
def _():
    collection = client.get_collection(given["collection"])
    item = collection.get_item(given["item"])
    before = item.properties["datetime"]
    item.up42.title = "Renamed in Python"
    item.up42.tags = ["reef", "2026"]
    item.update()
    again = collection.get_item(given["item"])
    loose = next(client.get_items(given["loose"]))
    loose.up42.tags = ["loose"]
    loose.update()
    return [item.up42.title, again.up42.title, again.up42.tags, again.properties["datetime"] == before, loose.up42.tags, collection.up42.title]


@call("deletion")
def _():
    part = attempt(lambda: up42.BulkDeletion(given["doomed"][0]).delete())
    up42.BulkDeletion(*given["doomed"]).delete()
    return [part, len(list(client.get_items(*given["doomed"])))]


@dataclasses.dataclass
class BandMath(processing_templates.WorkspaceIdSingleItemTemplate):
    process_id = "band_math"
    expression: str = "b1"

    @property
    def inputs(self):
        return {**super().inputs, "expression": self.expression}


item = client.get_collection(given["collection"]).get_item(given["item"])


def ready(job):
    """Its price, and the job that it starts."""
    if not job.is_valid:
        return sorted([error.name, error.message] for error in job.errors)
    started = job.execute()
    return [job.cost.credits, job.cost.unit, job.cost.size > 0, job.cost >= 1, started.id, started.status.value, started.credits]


@call("own template")
def _():
    return ready(BandMath("Doubled", item, expression="b1*2"))


@call("change template")
def _():
    return ready(processing_templates.DetectionChangeSimularity("Changed", item, item, sensitivity=4))


@call("pansharpening template")
def _():
    return ready(processing_templates.Pansharpening("Sharp", item))


@call("grey weights")
def _():
    weights = [processing_templates.GreyWeight("red", 0.2)]
    return ready(processing_templates.Pansharpening("Sharp", item, grey_weights=weights))


@call("wrong expression")
def _():
    return ready(BandMath("Wrong", item, expression="b9"))


@call("missing item")
def _():
    missing = item.clone()
    missing.set_self_href(f"{address}/v2/assets/stac/items/nothing")
    return ready(BandMath("Missing", missing))


@call("unknown process")
def _():
    return ready(processing_templates.DetectionTreesSpacept("Trees", item))


@call("budgets")
def _():
    return [
        [dataclasses.asdict(b) for b in budgets.Budget.all(status=["ACTIVE"], include_usage=True)],
        budgets.BudgetSettings.get().enforcement_enabled,
        attempt(lambda: up42.Budget.get(project)),
    ]


print(json.dumps(results, default=str))
