"""Calls of operations: sign-in, one idempotency key across retries, problems as sentences."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from qgis.core import QgsApplication, QgsFeedback
from qgis.PyQt.QtCore import QThread

from . import http, log
from .errors import CanceledError, PluginError, ProblemError

T = TypeVar("T")

MAX_ATTEMPTS = 4
FIRST_DELAY = 0.5
MAX_DELAY = 30.0
_NOT_STARTED = (429, 503)
"""Rejected before anything ran: always safe to repeat."""
MAX_FAILED_POLLS = 20
"""In a row; some minutes, because polls become rarer."""
RENEW_BEFORE_SECONDS = 60.0
PAGE = 500
MAX_RECORDS = 10_000
"""Of a list: a tree with more entries helps nobody."""


class Credential(NamedTuple):
    user: str
    secret: str

    @property
    def is_key(self) -> bool:
        return self.secret.startswith("svc_")

    def __repr__(self) -> str:
        return f"Credential({self.user!r})"


class _Tokens(NamedTuple):
    access: str
    refresh: str
    expires_at: float


class Service:
    """A service and the user's session there. Safe to use on several threads."""

    def __init__(self, url: str, credential: Credential) -> None:
        self.url = url
        self._credential = credential
        self._tokens: _Tokens | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Service({self.url!r})"

    @property
    def is_key(self) -> bool:
        return self._credential.is_key

    def call(
        self,
        operation: str,
        fields: Mapping[str, Any] | None = None,
        *,
        is_keyed: bool = False,
        key: str | None = None,
        feedback: QgsFeedback | None = None,
    ) -> Any:
        """Calls an operation. With `is_keyed`, retries run it at most once; with a `key` of the caller's, its calls with that key too."""
        headers = {"content-type": "application/json"}
        if key or is_keyed:
            headers["idempotency-key"] = key or new_key()
        body = json.dumps(fields or {}).encode()
        response = self._send("POST", f"/v1/op/{operation}", operation, headers, body, feedback)
        return json.loads(response.body) if response.body else None

    def image(self, operation: str, fields: Mapping[str, Any]) -> bytes:
        """An operation that returns bytes."""
        headers = {"content-type": "application/json"}
        return self._send("POST", f"/v1/op/{operation}", operation, headers, json.dumps(fields).encode(), None).body

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        is_keyed: bool = False,
        headers: Mapping[str, str] | None = None,
        feedback: QgsFeedback | None = None,
    ) -> http.Response:
        """Any other address of the service."""
        sent = dict(headers or {})
        if body is not None:
            sent["content-type"] = "application/json"
        if is_keyed:
            sent["idempotency-key"] = new_key()
        return self._send(method, path, f"{method} {path.split('?')[0]}", sent, b"" if body is None else json.dumps(body).encode(), feedback)

    def pages(self, operation: str, fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
        """All records of a list, up to a bound that is logged when it is reached."""
        records: list[dict[str, Any]] = []
        while len(records) < MAX_RECORDS:
            page = self.call(operation, {**fields, "limit": PAGE, "offset": len(records)})
            records += page[name]
            if not page[name] or len(records) >= page["total"]:
                return records
        log.warning(f"{operation}: only the first {MAX_RECORDS} of {page['total']} are shown.")
        return records[:MAX_RECORDS]

    def _send(self, method: str, path: str, operation: str, headers: dict[str, str], body: bytes, feedback: QgsFeedback | None) -> http.Response:
        may_repeat = method in ("GET", "HEAD") or "idempotency-key" in headers
        for attempt in range(MAX_ATTEMPTS):
            is_last = attempt == MAX_ATTEMPTS - 1
            try:
                response = http.send(method, f"{self.url}{path}", {**headers, "authorization": self._authorization()}, body, feedback)
            except http.NetworkError:
                if is_last or not may_repeat:
                    raise
                _pause(FIRST_DELAY * 2**attempt, feedback)
                continue
            if response.status < 400:
                log.info(f"{operation}: {response.status}")
                return response
            problem = problem_of(response, operation, self.url)
            log.info(f"{operation}: {response.status} {problem.slug} {problem.problem.get('instance', '')}")
            if response.status == 401 and self._drop_session() and attempt == 0:
                continue
            if is_last or not (response.status in _NOT_STARTED or (response.status == 502 and may_repeat)):
                raise problem
            _pause(max(problem.retry_after, FIRST_DELAY * 2**attempt), feedback)
        raise AssertionError("unreachable")

    def _authorization(self) -> str:
        if self._credential.is_key:
            return f"Bearer {self._credential.secret}"
        with self._lock:
            if self._tokens is None or self._tokens.expires_at - time.time() < RENEW_BEFORE_SECONDS:
                self._tokens = self._renewed(self._tokens)
            return f"Bearer {self._tokens.access}"

    def _renewed(self, tokens: _Tokens | None) -> _Tokens:
        if tokens is not None:
            response = self._auth("refresh", {"refresh_token": tokens.refresh})
            if response.status < 400:
                return _tokens_of(response)
        response = self._auth("sign-in", {"email": self._credential.user, "password": self._credential.secret})
        if response.status == 401:
            raise PluginError(f"{self.url} does not know this email address and password. Check both, or use an API key.")
        if response.status >= 400:
            raise problem_of(response, "sign-in", self.url)
        return _tokens_of(response)

    def _auth(self, name: str, fields: Mapping[str, str]) -> http.Response:
        return http.send("POST", f"{self.url}/auth/{name}", {"content-type": "application/json"}, json.dumps(fields).encode())

    def _drop_session(self) -> bool:
        """Whether there was a session, which the server ended early; a new one may be accepted."""
        with self._lock:
            had_session, self._tokens = self._tokens is not None, None
            return had_session

    def sign_out(self) -> None:
        tokens, self._tokens = self._tokens, None
        if tokens is not None:
            self._auth("sign-out", {"refresh_token": tokens.refresh})


def new_key() -> str:
    return f"qgis-{uuid.uuid4()}"


class Patience:
    """For loops that poll: a service that is away for a while, such as for an update, does not end them."""

    def __init__(self) -> None:
        self._failures = 0

    def ask(self, read: Callable[[], T]) -> T | None:
        """What was read; None if the service is away and should be asked again later."""
        try:
            found = read()
        except (http.NetworkError, ProblemError) as error:
            self._failures += 1
            if self._failures > MAX_FAILED_POLLS or not is_transient(error):
                raise
            return None
        self._failures = 0
        return found


def is_transient(error: PluginError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, http.NetworkError) or (isinstance(error, ProblemError) and (error.status >= 500 or error.status in (408, 429)))


def _tokens_of(response: http.Response) -> _Tokens:
    grant = json.loads(response.body)
    return _Tokens(grant["access_token"], grant["refresh_token"], time.time() + float(grant["expires_in"]))


def problem_of(response: http.Response, operation: str, server: str) -> ProblemError:
    """The problem in a response. A proxy, or another kind of server, may respond with something else."""
    try:
        body = json.loads(response.body)
    except ValueError:
        body = None
    if not isinstance(body, dict) or "code" not in body:
        detail = f"{server} is not a Groundtrack service, or is too old: {operation} returned HTTP {response.status}. Check its address"
        body = {"code": "unknown", "status": response.status, "detail": detail}
    problem = ProblemError(body, operation, server)
    try:
        problem.retry_after = min(MAX_DELAY, max(0.0, float(response.headers.get("retry-after", "0"))))
    except ValueError:
        pass
    return problem


def is_main_thread() -> bool:
    application = QgsApplication.instance()
    return application is None or QThread.currentThread() == application.thread()


def _pause(seconds: float, feedback: QgsFeedback | None) -> None:
    """The window must not freeze while we wait, so the main thread repeats at once."""
    if is_main_thread():
        return
    wait(min(seconds, MAX_DELAY), feedback)


def wait(seconds: float, feedback: QgsFeedback | None) -> None:
    """Waits, but not for someone who has canceled."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if feedback is not None and feedback.isCanceled():
            raise CanceledError
        time.sleep(min(0.1, max(0.0, until - time.monotonic())))
