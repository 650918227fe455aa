"""Calls over HTTP: credentials, retries, an idempotency key for each call that must run once, typed problems."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .credentials import find
from .errors import GroundtrackError, NetworkError, ProblemError, install_excepthook, problem_of, reason_of
from .flows import Acquire, Flow, Pause, Read, Release, Send, run, run_async
from .omit import Omit
from .options import CallOptions
from .pages import AsyncLines, AsyncPage, Lines, Page, Paging
from .records import Content, Record
from .retry import Repeat, can_retry, delay
from .session import Session, SessionTokens

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self

T = TypeVar("T")
R = TypeVar("R", bound=Record)

VERSION = "0.1.0"
MAX_RETRIES = 3
TIMEOUT_SECONDS = 120.0
CONNECT_SECONDS = 20.0

Fields = Mapping[str, Any]


def encode(fields: Fields) -> bytes:
    """The JSON of a call, without the fields that were left out."""
    sent = {name: value for name, value in fields.items() if not isinstance(value, Omit)}
    return json.dumps(sent, default=_plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")


def _plain(value: Any) -> Any:
    """JSON for what is not plain: records, shapely geometries, GeoDataFrames, times, numbers of numpy."""
    if isinstance(value, Record) and not hasattr(type(value), "__geo_interface__"):
        return value.to_dict()
    geojson = getattr(value, "__geo_interface__", None)
    if geojson is not None:
        return _without_bbox(geojson)
    import datetime
    import uuid

    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise GroundtrackError(f"{value!r} has no time zone. Use datetime(…, tzinfo=timezone.utc).")
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, (datetime.date, uuid.UUID)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, range)) or hasattr(value, "__iter__"):
        return list(cast("Any", value))
    raise GroundtrackError(f"{type(value).__name__} cannot be sent as JSON")


def _without_bbox(geojson: Any) -> Any:
    """GeoDataFrames add a bounding box to each feature, which says nothing new."""
    if isinstance(geojson, Mapping) and cast("Mapping[str, Any]", geojson).get("type") in ("Feature", "FeatureCollection"):
        return {key: _without_bbox(value) for key, value in cast("Mapping[str, Any]", geojson).items() if key != "bbox"}
    if isinstance(geojson, (list, tuple)):
        return [_without_bbox(value) for value in cast("list[Any]", geojson)]
    return geojson


class _Call:
    """A request before it has its credential. `name` is the operation ID or the path; errors name it."""

    __slots__ = ("name", "method", "path", "body", "repeat", "is_anonymous", "stream")

    def __init__(
        self, name: str, method: str, path: str, body: bytes | None, repeat: Repeat, is_anonymous: bool = False, stream: bool = False
    ) -> None:
        self.name, self.method, self.path, self.body = name, method, path, body
        self.repeat, self.is_anonymous, self.stream = repeat, is_anonymous, stream


class BaseClient:
    """What both clients have in common."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        account: str | None = None,
        session: SessionTokens | None = None,
        on_session: Callable[[SessionTokens | None], None] | None = None,
        max_retries: int = MAX_RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        install_excepthook()
        import httpx

        self._httpx = httpx
        if session is not None and base_url is not None:
            self.base_url, self._api_key, on_renewal = base_url.rstrip("/"), None, on_session
        else:
            found = find(base_url, api_key, account)
            self.base_url = found.server.rstrip("/")
            self._api_key = None if session is not None else found.api_key
            session, on_renewal = session or found.session, on_session or found.save_session
        self.session = Session(session, on_renewal)
        self._max_retries = max_retries
        self._timeout = timeout
        self._headers = {"user-agent": f"groundtrack-python/{VERSION}", **(headers or {})}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    def __getstate__(self) -> Any:
        raise GroundtrackError("A client cannot be pickled, because it holds a credential. Create one where you need it.")

    def new_timeout(self, seconds: float | None = None) -> httpx.Timeout:
        limit = self._timeout if seconds is None else seconds
        return self._httpx.Timeout(limit, connect=min(CONNECT_SECONDS, limit))

    def _request(self, call: _Call, options: CallOptions, key: str | None, token: str | None) -> httpx.Request:
        headers = dict(self._headers)
        if call.body is not None:
            headers["content-type"] = "application/json"
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        if key is not None:
            headers["idempotency-key"] = key
        headers.update(options.get("headers") or {})
        extensions = {"timeout": self.new_timeout(options.get("timeout")).as_dict()}
        return self._httpx.Request(call.method, self.base_url + call.path, headers=headers, content=call.body, extensions=extensions)

    def exchange(self, call: _Call, options: CallOptions | None = None) -> Flow[httpx.Response]:
        """Sends a call until it has succeeded or may not be retried. The idempotency key is the same for all attempts."""
        options = options or {}
        key = (options.get("idempotency_key") or os.urandom(16).hex()) if call.repeat == "keyed" else None
        max_retries = options.get("max_retries", self._max_retries)
        has_renewed = False
        for attempt in count():
            token = None if call.is_anonymous else (self._api_key or (yield from self._access_token()))
            error: ProblemError | NetworkError
            cause: Exception | None = None
            try:
                response: httpx.Response = yield Send(self._request(call, options, key, token), call.stream)
                if response.status_code < 300:
                    return response
                if call.stream:
                    yield Read(response)
                error = problem_of(response, call.name, key, self.base_url, token is not None and token == self._api_key)
            except self._httpx.TransportError as failure:
                cause = failure
                error = NetworkError(call.name, self.base_url, reason_of(failure), key)
            if isinstance(error, ProblemError):
                if error.status == 401 and token is not None and token != self._api_key and not has_renewed:
                    has_renewed = True  # The token expired early, or our clock is wrong. Nothing ran, so the call can be sent again.
                    yield from self._renew(token)
                    continue
                is_retryable = can_retry(error, call.repeat)
            else:
                is_retryable = call.repeat != "write"
            if not is_retryable or attempt >= max_retries:
                raise error from cause
            yield Pause(delay(attempt, error.retry_after if isinstance(error, ProblemError) else None))
        raise AssertionError

    def _access_token(self) -> Flow[str | None]:
        tokens = self.session.tokens
        if tokens is not None and tokens.is_stale:
            yield from self._renew(tokens.access_token)
            tokens = self.session.tokens
        return None if tokens is None else tokens.access_token

    def _renew(self, stale: str) -> Flow[None]:
        """A refresh token works once, so callers with the same stale token share one renewal."""
        yield Acquire()
        try:
            tokens = self.session.tokens
            if tokens is None or tokens.access_token != stale:
                return
            try:
                grant = yield from self._grant("/auth/refresh", {} if tokens.refresh_token is None else {"refresh_token": tokens.refresh_token})
                self.session.adopt(grant)
            except ProblemError as error:
                if error.status == 401:
                    self.session.end()  # Rejected, so it will never work again; after an outage the next call retries.
                raise
        finally:
            yield Release()

    def _grant(self, path: str, fields: Fields, options: CallOptions | None = None) -> Flow[dict[str, Any]]:
        response = yield from self.exchange(_Call(path, "POST", path, encode(fields), "write", is_anonymous=True), options)
        grant: dict[str, Any] = response.json()
        return grant

    def _refresh_token(self) -> dict[str, str]:
        tokens = self.session.tokens
        return {} if tokens is None or tokens.refresh_token is None else {"refresh_token": tokens.refresh_token}

    def sign_in_flow(self, path: str, fields: Fields, options: CallOptions | None) -> Flow[dict[str, Any]]:
        given = {name: value for name, value in fields.items() if not isinstance(value, Omit)}
        sent = {**self._refresh_token(), **given} if path == "/auth/refresh" else given
        grant = yield from self._grant(path, sent, options)
        self._api_key = None  # From now on, this user calls.
        self.session.adopt(grant)
        return grant

    def sign_out_flow(self, path: str, fields: Fields, options: CallOptions | None) -> Flow[None]:
        given = {name: value for name, value in fields.items() if not isinstance(value, Omit)}
        yield from self.exchange(_Call(path, "POST", path, encode({**self._refresh_token(), **given}), "write"), options)
        self.session.end()

    def response_flow(
        self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat = "read", stream: bool = False
    ) -> Flow[httpx.Response]:
        return self.exchange(_Call(operation, "POST", f"/v1/op/{operation}", encode(fields), repeat, stream=stream), options)

    def json_flow(self, operation: str, fields: Fields, options: CallOptions | None = None, repeat: Repeat = "read") -> Flow[Any]:
        response = yield from self.response_flow(operation, fields, options, repeat)
        return _body(response, operation, self.base_url)

    def route_flow(self, method: str, path: str, fields: Fields | None, options: CallOptions | None, stream: bool = False) -> Flow[httpx.Response]:
        body = None if fields is None else encode(fields)
        return self.exchange(_Call(path, method, path, body, "read" if method == "GET" else "write", stream=stream), options)


def _body(response: httpx.Response, name: str, server: str) -> Any:
    try:
        return json.loads(response.content)
    except ValueError:
        raise GroundtrackError(f"{name}: the response is not JSON. {server} may not be a Groundtrack service; check GROUNDTRACK_URL.") from None


def _content(response: httpx.Response) -> Content:
    return Content(response.content, response.headers.get("content-type", "application/octet-stream").split(";")[0])


class Client(BaseClient):
    """Calls operations by their ID. `Groundtrack` adds a method for each operation."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        account: str | None = None,
        session: SessionTokens | None = None,
        on_session: Callable[[SessionTokens | None], None] | None = None,
        max_retries: int = MAX_RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            base_url: URL of the service; default `GROUNDTRACK_URL`, then the stored account, then `http://127.0.0.1:8080`
            api_key: An API key, `svc_…`; default `GROUNDTRACK_API_KEY`, then the stored account, then the keyring
            account: Name of an account that the command line has stored
            session: A session from an earlier sign-in, as passed to `on_session`
            on_session: Called whenever the session changes, so that you can save it; None when it has ended
            max_retries: Retries before a call fails
            timeout: Seconds to wait for a response
            headers: Headers to send with every call
            http: Your own httpx client, for example with a proxy
            sleep: Waits between attempts
        """
        super().__init__(
            base_url,
            api_key,
            account=account,
            session=session,
            on_session=on_session,
            max_retries=max_retries,
            timeout=timeout,
            headers=headers,
        )
        self.http: httpx.Client = http or self._httpx.Client(timeout=self.new_timeout())
        self._lock = threading.Lock()
        self._sleep = sleep

    def run(self, flow: Flow[T]) -> T:
        return run(flow, self.http, self._lock, self._sleep)

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def call(self, operation: str, fields: Fields | None = None, options: CallOptions | None = None, repeat: Repeat = "keyed") -> Any:
        """Calls any operation by its ID, including one that is newer than this client. Returns plain JSON."""
        return self.run(self.json_flow(operation, fields or {}, options, repeat))

    def mapping(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat) -> dict[str, Any]:
        found: dict[str, Any] = self.run(self.json_flow(operation, fields, options, repeat))
        return found

    def record_by(
        self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, kind: str, records: Mapping[str, type[Record]]
    ) -> Any:
        return records.get(kind, Record)(self.run(self.json_flow(operation, fields, options, repeat)), self)

    def record(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> R:
        return record(self.run(self.json_flow(operation, fields, options, repeat)), self)

    def record_list(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> list[R]:
        return [record(element, self) for element in self.run(self.json_flow(operation, fields, options, repeat))]

    def record_map(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> dict[str, R]:
        found: dict[str, Any] = self.run(self.json_flow(operation, fields, options, repeat))
        return {name: record(element, self) for name, element in found.items()}

    def page(
        self, operation: str, fields: Fields, options: CallOptions | None, page: type[Record], record: type[Record], paging: Paging
    ) -> Page[Any, Any]:
        def load(more: Fields) -> Any:
            return self.run(self.json_flow(operation, {**fields, **more}, options))

        return Page(load, fields, page, record, paging, self)

    def lines(self, operation: str, fields: Fields, options: CallOptions | None, record: type[Record]) -> Lines[Any]:
        return Lines(operation, record, self, lambda: self.run(self.response_flow(operation, fields, options, stream=True)))

    def content(self, operation: str, fields: Fields, options: CallOptions | None) -> Content:
        return _content(self.run(self.response_flow(operation, fields, options)))

    def text(self, operation: str, fields: Fields, options: CallOptions | None) -> str:
        return self.run(self.response_flow(operation, fields, options)).text

    def route(self, method: str, path: str, fields: Fields | None, options: CallOptions | None, record: type[R]) -> R:
        return record(_body(self.run(self.route_flow(method, path, fields, options)), path, self.base_url), self)

    def route_empty(self, method: str, path: str, fields: Fields | None, options: CallOptions | None) -> None:
        self.run(self.route_flow(method, path, fields, options))

    def sign_in(self, path: str, fields: Fields, options: CallOptions | None, record: type[R]) -> R:
        return record(self.run(self.sign_in_flow(path, fields, options)), self)

    def sign_out(self, path: str, fields: Fields, options: CallOptions | None) -> None:
        self.run(self.sign_out_flow(path, fields, options))


class AsyncClient(BaseClient):
    """Calls operations by their ID, for asyncio and trio. `AsyncGroundtrack` adds a method for each operation."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        account: str | None = None,
        session: SessionTokens | None = None,
        on_session: Callable[[SessionTokens | None], None] | None = None,
        max_retries: int = MAX_RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        headers: Mapping[str, str] | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """The arguments are those of `Client`; `http` is an `httpx.AsyncClient`."""
        super().__init__(
            base_url,
            api_key,
            account=account,
            session=session,
            on_session=on_session,
            max_retries=max_retries,
            timeout=timeout,
            headers=headers,
        )
        import anyio

        self.http: httpx.AsyncClient = http or self._httpx.AsyncClient(timeout=self.new_timeout())
        self._lock = anyio.Lock()

    async def run(self, flow: Flow[T]) -> T:
        return await run_async(flow, self.http, self._lock)

    async def close(self) -> None:
        """Closes the connections."""
        await self.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def call(self, operation: str, fields: Fields | None = None, options: CallOptions | None = None, repeat: Repeat = "keyed") -> Any:
        """Calls any operation by its ID, including one that is newer than this client. Returns plain JSON."""
        return await self.run(self.json_flow(operation, fields or {}, options, repeat))

    async def mapping(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat) -> dict[str, Any]:
        found: dict[str, Any] = await self.run(self.json_flow(operation, fields, options, repeat))
        return found

    async def record_by(
        self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, kind: str, records: Mapping[str, type[Record]]
    ) -> Any:
        return records.get(kind, Record)(await self.run(self.json_flow(operation, fields, options, repeat)), self)

    async def record(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> R:
        return record(await self.run(self.json_flow(operation, fields, options, repeat)), self)

    async def record_list(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> list[R]:
        return [record(element, self) for element in await self.run(self.json_flow(operation, fields, options, repeat))]

    async def record_map(self, operation: str, fields: Fields, options: CallOptions | None, repeat: Repeat, record: type[R]) -> dict[str, R]:
        found: dict[str, Any] = await self.run(self.json_flow(operation, fields, options, repeat))
        return {name: record(element, self) for name, element in found.items()}

    def page(
        self, operation: str, fields: Fields, options: CallOptions | None, page: type[Record], record: type[Record], paging: Paging
    ) -> AsyncPage[Any, Any]:
        async def load(more: Fields) -> Any:
            return await self.run(self.json_flow(operation, {**fields, **more}, options))

        return AsyncPage(load, fields, page, record, paging, self)

    def lines(self, operation: str, fields: Fields, options: CallOptions | None, record: type[Record]) -> AsyncLines[Any]:
        return AsyncLines(operation, record, self, lambda: self.run(self.response_flow(operation, fields, options, stream=True)))

    async def content(self, operation: str, fields: Fields, options: CallOptions | None) -> Content:
        return _content(await self.run(self.response_flow(operation, fields, options)))

    async def text(self, operation: str, fields: Fields, options: CallOptions | None) -> str:
        return (await self.run(self.response_flow(operation, fields, options))).text

    async def route(self, method: str, path: str, fields: Fields | None, options: CallOptions | None, record: type[R]) -> R:
        return record(_body(await self.run(self.route_flow(method, path, fields, options)), path, self.base_url), self)

    async def route_empty(self, method: str, path: str, fields: Fields | None, options: CallOptions | None) -> None:
        await self.run(self.route_flow(method, path, fields, options))

    async def sign_in(self, path: str, fields: Fields, options: CallOptions | None, record: type[R]) -> R:
        return record(await self.run(self.sign_in_flow(path, fields, options)), self)

    async def sign_out(self, path: str, fields: Fields, options: CallOptions | None) -> None:
        await self.run(self.sign_out_flow(path, fields, options))


class Namespace:
    """Operations whose IDs begin alike."""

    __slots__ = ("_client",)

    def __init__(self, client: Client) -> None:
        self._client = client


class AsyncNamespace:
    """Operations whose IDs begin alike."""

    __slots__ = ("_client",)

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
