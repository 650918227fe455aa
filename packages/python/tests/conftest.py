"""
A running service with the demo, an account of these tests' own, and both clients behind one interface. `test/python/client.ts` starts
the service and several of these at once, so what changes or counts something does so in the own account.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from groundtrack import AsyncGroundtrack, Groundtrack

URL = os.environ["GROUNDTRACK_URL"]
EMAIL, PASSWORD = os.environ["GROUNDTRACK_EMAIL"], os.environ["GROUNDTRACK_PASSWORD"]
DEMO_EMAIL, DEMO_PASSWORD = os.environ.get("DEMO_EMAIL", ""), os.environ.get("DEMO_PASSWORD", "")
TLS = httpx.create_ssl_context()
"""Made once: each costs as much as a call."""
ROOT = Path(__file__).parents[3]


class Blocking:
    """An async client used as if it were not: awaits what its methods return, in the loop of another thread."""

    def __init__(self, target: Any, portal: BlockingPortal) -> None:
        self._target = target
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return Blocking(value, self._portal) if callable(value) or type(value).__name__.startswith("Async") else value

    def __call__(self, *args: Any, **fields: Any) -> Any:
        return self._settled(self._portal.call(self._called, args, fields))

    async def _called(self, args: Any, fields: Any) -> Any:
        result = self._target(*args, **fields)
        return await result if inspect.isawaitable(result) else result

    def _settled(self, value: Any) -> Any:
        return Blocking(value, self._portal) if hasattr(value, "__aiter__") else value

    def __iter__(self) -> Iterator[Any]:
        iterator: AsyncIterator[Any] = self._portal.call(self._target.__aiter__)

        async def step() -> tuple[bool, Any]:
            try:
                return True, await iterator.__anext__()
            except StopAsyncIteration:
                return False, None

        try:
            while True:
                is_more, value = self._portal.call(step)
                if not is_more:
                    return
                yield value
        finally:
            close = getattr(iterator, "aclose", None)
            if close is not None:
                self._portal.call(close)


class Faults(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """The network, with faults. `before` can answer instead of the service or fail, `after` can change or lose its answer."""

    def __init__(self, before: Callable[[httpx.Request], httpx.Response | None] | None, after: Callable[[httpx.Request, httpx.Response], httpx.Response] | None):
        self._before = before or (lambda request: None)
        self._after = after or (lambda request, response: response)
        self._sync = httpx.HTTPTransport(verify=TLS)
        self._async = httpx.AsyncHTTPTransport(verify=TLS)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._before(request) or self._after(request, self._sync.handle_request(request))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._before(request) or self._after(request, await self._async.handle_async_request(request))


Connect = Callable[..., Any]


READY = os.environ.get("SERVICE_READY", "")
READY_SECONDS = 900


def await_service() -> None:
    """It starts while packages are installed and types are checked, which need none."""
    deadline = time.monotonic() + READY_SECONDS
    while READY and not os.path.exists(READY):
        assert time.monotonic() < deadline, "the service did not start"
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def service(request: pytest.FixtureRequest) -> None:
    if request.path.name != "test_package.py":
        await_service()


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="session")
def api_key() -> str:
    await_service()
    with Groundtrack(URL) as gt:
        gt.auth.sign_in(email=EMAIL, password=PASSWORD)
        return gt.api_keys.create(name="pytest", permissions=["read", "write", "process"], expires_in_days=1).key


@pytest.fixture(params=["sync", "async"])
def connect(request: pytest.FixtureRequest, portal: BlockingPortal, api_key: str) -> Connect:
    """Makes a client of the kind that is tested; waits between attempts take no time."""

    def make(*, before: Any = None, after: Any = None, **options: Any) -> Any:
        given = {"base_url": URL, "api_key": api_key, **options}
        faults = {"transport": Faults(before, after)} if before or after else {}
        if request.param == "sync":
            return Groundtrack(**given, http=httpx.Client(verify=TLS, **faults), sleep=lambda seconds: None)
        client = portal.call(lambda: _async(given, faults))
        return Blocking(client, portal)

    return make


async def _async(given: dict[str, Any], faults: dict[str, Any]) -> AsyncGroundtrack:
    return AsyncGroundtrack(**given, http=httpx.AsyncClient(verify=TLS, **faults))


@pytest.fixture
def gt(connect: Connect) -> Any:
    return connect()


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Backoff without its time, and no account of whoever runs the tests."""
    for module in ("groundtrack.client", "groundtrack.transfer", "groundtrack.events"):
        __import__(module)
        monkeypatch.setattr(sys.modules[module], "delay", lambda attempt, retry_after=None: 0)
    monkeypatch.setenv("GROUNDTRACK_CONFIG", str(tmp_path / "accounts.json"))
    for name in ("GROUNDTRACK_API_KEY", "GROUNDTRACK_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def project_id(api_key: str) -> str:
    with Groundtrack(URL, api_key) as gt:
        return next(project.id for project in gt.projects.list() if project.name == "Demo")


@pytest.fixture(scope="session")
def demo() -> Iterator[Any]:
    """A client of the demo's account, its first scene and its collection of seasons; nothing there may be changed."""
    from types import SimpleNamespace

    await_service()
    with Groundtrack(URL) as person:
        person.auth.sign_in(email=DEMO_EMAIL, password=DEMO_PASSWORD)
        key = person.api_keys.create(name="pytest", permissions=["read", "write", "process"], expires_in_days=1).key
    with Groundtrack(URL, key) as gt:
        project_id = next(project.id for project in gt.projects.list() if project.name == "Demo")
        collection = next(each for each in gt.collections.list(project_id=project_id) if each.name == os.environ["DEMO_COLLECTION"])
        item = next(each for each in gt.items.list(project_id=project_id) if each.name == os.environ["DEMO_ITEM"])
        yield SimpleNamespace(gt=gt, project_id=project_id, collection=collection, item=item)


@pytest.fixture(scope="session")
def field() -> Path:
    """A small GeoTIFF."""
    return Path(os.environ["FIELD_TIF"])


@pytest.fixture(scope="session")
def uploaded(api_key: str, project_id: str, field: Path) -> str:
    """An item with that file."""
    with Groundtrack(URL, api_key) as gt:
        return gt.upload(field, project_id=project_id).wait().item_ids[0]


@pytest.fixture(scope="session")
def furnished(api_key: str, project_id: str, uploaded: str, field: Path) -> str:
    """The project, with several items in it."""
    with Groundtrack(URL, api_key) as gt:
        for name in ("north.tif", "south.tif"):
            gt.upload((name, field.read_bytes()), project_id=project_id).wait()
    return project_id
