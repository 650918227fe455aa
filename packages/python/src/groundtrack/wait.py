"""Waits for an order, a processing job or the conversion of an upload."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import WaitTimeoutError
from .flows import Flow, Pause
from .progress import bar
from .records import Record

if TYPE_CHECKING:
    from .client import BaseClient
    from .generated.types import Order, ProcessingJob, Upload

R = TypeVar("R", bound=Record)

FIRST_POLL = 0.5
MAX_POLL = 10.0
_ENDED = ("fulfilled", "completed", "failed", "cancelled")


def wait_for_order(client: BaseClient, id: str, timeout: float, progress: bool | Callable[[Order], None]) -> Flow[Order]:
    from .generated.types import Order

    def share(order: dict[str, Any]) -> float:
        return 100.0 if order["status"] in _ENDED else 50.0 if order["status"] != "pending" else 0.0

    return _wait(client, ("order", id), ("orders.get", {"id": id}), Order, share, timeout, progress)


def wait_for_job(client: BaseClient, id: str, timeout: float, progress: bool | Callable[[ProcessingJob], None]) -> Flow[ProcessingJob]:
    from .generated.types import ProcessingJob

    def share(job: dict[str, Any]) -> float:
        return float(job["progress"])

    return _wait(client, ("job", id), ("processing.job.get", {"job_id": id}), ProcessingJob, share, timeout, progress)


def wait_for_upload(client: BaseClient, id: str, timeout: float, progress: bool | Callable[[Upload], None]) -> Flow[Upload]:
    from .generated.types import Upload

    def share(upload: dict[str, Any]) -> float:
        files = upload["files"]
        return 100.0 * sum(file["state"] not in ("awaiting", "converting") for file in files) / max(1, len(files))

    return _wait(client, ("upload", id), ("uploads.progress", {"upload_id": id}), Upload, share, timeout, progress)


def _has_ended(kind: str, record: dict[str, Any]) -> bool:
    if kind == "upload" and record["status"] == "completed":
        return all(file["state"] != "converting" for file in record["files"])
    return record["status"] in _ENDED


def _wait(
    client: BaseClient,
    target: tuple[str, str],
    call: tuple[str, dict[str, Any]],
    record: type[R],
    share: Callable[[dict[str, Any]], float],
    timeout: float,
    progress: bool | Callable[[R], None],
) -> Flow[R]:
    kind, id = target
    deadline = time.monotonic() + timeout
    poll = FIRST_POLL
    seen: Any = None
    shown = bar(progress is True, kind, 100, "%")
    try:
        while True:
            current = yield from client.json_flow(*call)
            current = current.get("job", current) if kind == "job" else current
            if current != seen:
                seen = current
                shown.update_to(share(current), current.get("stage") or current["status"])
                if callable(progress):
                    progress(record(current, client))
            if _has_ended(kind, current):
                return record(current, client)
            if time.monotonic() + poll > deadline:
                raise WaitTimeoutError(f"The {kind} {id} is still {current['status']} after {timeout:g} s. It goes on; wait for it again later.")
            yield Pause(poll)
            poll = min(MAX_POLL, poll * 1.5)
    finally:
        shown.close()
