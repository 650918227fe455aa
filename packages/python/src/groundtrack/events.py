"""The organization's events as they happen (`GET /v1/events`, server-sent events)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING

from .errors import GroundtrackError, NetworkError, ProblemError, reason_of
from .pages import MAX_LINE_BYTES, LineReader
from .retry import delay
from .webhooks import event_of

if TYPE_CHECKING:
    import httpx

    from .client import AsyncClient, BaseClient, Client
    from .flows import Flow
    from .generated.events import Event

MAX_ATTEMPTS = 20
"""Consecutive attempts without an event."""
_FINAL = (401, 403, 404, 422)
"""Responses that only a change by the caller can fix; all other failures are retried."""
IDLE_SECONDS = 300.0
"""The service sends a comment more often, so a silent connection is dead."""


class _Frames:
    """Server-sent events of a stream of bytes, and the ID of the last one."""

    def __init__(self, last: str | None) -> None:
        self.last = last
        self.reset()

    def reset(self) -> None:
        self._reader = LineReader()
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        complete: list[str] = []
        for line in self._reader.feed(chunk):
            if line == "":
                if self._data:
                    complete.append("\n".join(self._data))
                self._data = []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                self._data.append(value)
                if sum(map(len, self._data)) > MAX_LINE_BYTES:
                    raise GroundtrackError(f"The service sent an event of more than {MAX_LINE_BYTES} bytes. Check GROUNDTRACK_URL or base_url.")
            elif field == "id":
                self.last = value
        return complete


def _open(client: BaseClient, last: str | None) -> Flow[httpx.Response]:
    headers = {"accept": "text/event-stream", **({} if last is None else {"last-event-id": last})}
    return client.route_flow("GET", "/v1/events", None, {"headers": headers, "max_retries": 0, "timeout": IDLE_SECONDS}, stream=True)


def _raise_if_final(client: BaseClient, error: Exception, attempt: int) -> None:
    if attempt >= MAX_ATTEMPTS and not isinstance(error, GroundtrackError):
        raise NetworkError("/v1/events", client.base_url, reason_of(error)) from error
    if (isinstance(error, ProblemError) and error.status in _FINAL) or attempt >= MAX_ATTEMPTS:
        raise error


def events(client: Client, last_event_id: str | None, on_open: Callable[[], None] | None, sleep: Callable[[float], None]) -> Generator[Event, None, None]:
    """An endless stream of events. It reconnects after a failure and resumes after the last event."""
    import httpx

    frames = _Frames(last_event_id)
    attempt = 0
    while True:
        try:
            response = client.run(_open(client, frames.last))
            try:
                if on_open is not None:
                    on_open()
                for chunk in response.iter_bytes():
                    for data in frames.feed(chunk):
                        attempt = 0
                        yield event_of(json.loads(data), client)
            finally:
                response.close()
        except (ProblemError, NetworkError, httpx.TransportError) as error:
            _raise_if_final(client, error, attempt)
        frames.reset()
        sleep(delay(min(attempt, 5)))
        attempt += 1


async def async_events(client: AsyncClient, last_event_id: str | None, on_open: Callable[[], None] | None) -> AsyncGenerator[Event, None]:
    """An endless stream of events. It reconnects after a failure and resumes after the last event."""
    import anyio
    import httpx

    frames = _Frames(last_event_id)
    attempt = 0
    while True:
        try:
            response = await client.run(_open(client, frames.last))
            try:
                if on_open is not None:
                    on_open()
                async for chunk in response.aiter_bytes():
                    for data in frames.feed(chunk):
                        attempt = 0
                        yield event_of(json.loads(data), client)
            finally:
                await response.aclose()
        except (ProblemError, NetworkError, httpx.TransportError) as error:
            _raise_if_final(client, error, attempt)
        frames.reset()
        await anyio.sleep(delay(min(attempt, 5)))
        attempt += 1
