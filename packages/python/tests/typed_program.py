"""A program as users write it, which `test_package.py` checks with mypy and pyright in strict mode. It is not run."""

from __future__ import annotations

from groundtrack import AsyncGroundtrack, Groundtrack, ProblemError, verify_webhook
from groundtrack.types import Item, Order, ProcessingJob

gt = Groundtrack("http://127.0.0.1:8080", api_key="svc_x")


def names(project_id: str) -> list[str]:
    items: list[Item] = gt.items.list(project_id=project_id).all()
    return [item.name for item in items]


def cloud(item: Item) -> float:
    return item.cloud_cover if item.cloud_cover is not None else 100.0


def buy(project_id: str, scene_id: str, ring: list[list[float]]) -> Order:
    captures = gt.price("orders.archive.place", captures=[{"id": scene_id, "geometry": {"type": "Polygon", "coordinates": [ring]}}])
    if captures.credits is None or captures.credits > 5000:
        raise SystemExit(captures.note)
    order = gt.orders.archive.place(
        projectId=project_id,
        captures=[{"id": scene_id, "geometry": {"type": "Polygon", "coordinates": [ring]}}],
        options={"idempotency_key": f"buy-{scene_id}"},
    )
    return gt.wait(order=order.id, progress=True)


def ndvi(item_id: str, ring: list[list[float]]) -> float | None:
    answer = gt.analytics.execute(
        operation="zonal_stats",
        params={"item_id": item_id, "geometry": {"type": "Polygon", "coordinates": [ring]}, "index_name": "ndvi", "statistics": ["mean"]},
    )
    return answer.result.zones[0].results[0].mean


def created(body: bytes, signature: str, secret: str) -> list[float] | None:
    event = verify_webhook(body, signature, secret)
    if event.event_type == "item.created":
        return event.data.bbox
    return None


def convert(project_id: str, item_id: str) -> ProcessingJob:
    return gt.processing.create_and_dispatch(project_id=project_id, job_type_id="cog_convert", input_params={"item_id": item_id}).job.wait()


async def all_names(project_id: str) -> list[str]:
    async with AsyncGroundtrack() as agt:
        found = [item.name async for item in agt.items.list(project_id=project_id)]
        first = await agt.items.list(project_id=project_id).first()
        if first is not None:
            await agt.download(first.id, "first.tif", progress=True)
        try:
            upload = await agt.upload("field.tif", project_id=project_id)
            await agt.wait(upload=upload.id)
        except ProblemError as problem:
            print(problem.slug, [error.field for error in problem.errors], problem.invocation_id)
        async for event in agt.events():
            return [*found, event.event_type]
        return found
