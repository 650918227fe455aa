"""Calls of up42-py against a service: its address, a token, a project, a product, an order and a job are given, what came is printed."""
import dataclasses
import json
import sys

import requests
import up42
from up42 import base, budgets, glossary, host, order, processing, tasking

address, token, project, host_name, product, order_id, job_id = sys.argv[1:]
host.endpoint = lambda path: address + path


class Token(requests.auth.AuthBase):
    def __call__(self, request):
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    def __deepcopy__(self, memo):
        return self


from up42.http import session

base.workspace._auth = Token()
base.workspace._session = session.create(base.workspace._auth)
base.workspace._id = project

collections = list(up42.ProductGlossary.get_collections(sort_by=glossary.CollectionSorting.name))
archive = list(up42.ProductGlossary.get_collections(collection_type=glossary.CollectionType.ARCHIVE))
provider = next(p for c in collections for p in c.providers if p.name == host_name)
scenes = provider.search(bbox=[2.2, 48.8, 2.4, 48.9], start_date="2026-06-01", end_date="2026-06-30", query={"cloudCoverage": {"LTE": 90}})
found = [scene for scene, _ in zip(scenes, range(120))]
products = [p for c in collections for p in c.data_products]
schema = next(p for p in products if p.name == product).schema
updated = order.Order.update(order_id, tags=["from", "python"])
coverage = tasking.OrderCoverage.get(order_id)
orders = list(order.Order.all(workspace_id=project, ids=[order_id]))
job = processing.Job.get(job_id)
jobs = list(processing.Job.all(workspace_id=project, page_size=1, sort_by=processing.JobSorting.created))
successful = list(processing.Job.all(status=[processing.JobStatus.SUCCESSFUL], process_id=["band_math", "slope"], min_duration=0))
none = list(processing.Job.all(status=[processing.JobStatus.RELEASED]))
job.track(wait=0, retries=2)
stac = up42.stac_client()
items = list(stac.search(max_items=5).items())

print(json.dumps({
    "collections": [c.name for c in collections],
    "archive": len(archive),
    "scenes": len({scene.id for scene in found}),
    "clouds": max(scene.cloud_coverage or 0 for scene in found),
    "schema": schema["type"],
    "tags": updated.tags,
    "status": updated.status,
    "covered": coverage.covered.percentage + coverage.remainder.percentage,
    "orders": [each.id for each in orders],
    "job": [job.status.value, job.process_id, job.workspace_id, job.credits, job.finished is not None],
    "jobs": [each.id for each in jobs],
    "successful": [each.id for each in successful],
    "none": len(none),
    "budgets": [dataclasses.asdict(b) for b in budgets.Budget.all()],
    "enforced": budgets.BudgetSettings.get().enforcement_enabled,
    "items": [item.id for item in items],
}))
