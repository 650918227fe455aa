"""
Errors that programs can distinguish. Each says in one sentence what to do. An uncaught one prints that sentence without a
traceback, in a program and in a notebook; set `GROUNDTRACK_TRACEBACK=1` to print the traceback too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    import httpx

    from .generated.problems import ProblemSlug


def _shows_traceback() -> bool:
    return os.environ.get("GROUNDTRACK_TRACEBACK", "") not in ("", "0")


class GroundtrackError(Exception):
    """All errors of this package."""

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter print."""
        if _shows_traceback():
            import traceback

            return traceback.format_exception(type(self), self, self.__traceback__)
        return [_sentence(self)]


def _sentence(error: GroundtrackError) -> str:
    return f"{type(error).__name__}: {error}"


def install_excepthook() -> None:
    """Makes uncaught errors of this package print one sentence; all others are printed as before."""
    before = sys.excepthook
    if getattr(before, "_is_groundtrack", False):
        return

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, GroundtrackError) and not _shows_traceback():
            print(_sentence(error), file=sys.stderr)
        else:
            before(kind, error, trace)

    hook._is_groundtrack = True  # type: ignore[attr-defined]
    sys.excepthook = hook


class FieldError:
    """An invalid field, and what it must be."""

    __slots__ = ("field", "message")

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message

    def __repr__(self) -> str:
        return f"FieldError(field={self.field!r}, message={self.message!r})"


class ProblemError(GroundtrackError):
    """The service rejected the request or failed; `slug` is the kind of problem."""

    slug: ProblemSlug | str
    """The kind, for example `insufficient-credits`. A newer service can return others."""
    status: int
    """HTTP status."""
    title: str
    """Short name of the kind."""
    detail: str
    """What the service said."""
    invocation_id: str
    """Identifies the call; quote it in bug reports."""
    errors: list[FieldError]
    """With `invalid-input`: each invalid field, and what it must be."""
    problem: Mapping[str, Any]
    """The whole problem document, with members that only some kinds have."""
    operation: str
    """The operation ID or path that was called."""
    idempotency_key: str | None
    """The key of the call, if any. Repeating the call with it runs it at most once."""
    retry_after: float | None
    """The `Retry-After` header, in seconds."""

    def __init__(
        self,
        problem: Mapping[str, Any],
        operation: str,
        idempotency_key: str | None = None,
        retry_after: float | None = None,
        advice: str = "",
    ) -> None:
        self.problem = problem
        self.slug = str(problem.get("code", "unknown"))
        self.status = int(problem.get("status", 0))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail") or self.title)
        self.invocation_id = str(problem.get("instance", "")).removeprefix("urn:uuid:")
        self.errors = [FieldError(str(e.get("field")), str(e.get("message"))) for e in problem.get("errors") or ()]
        self.operation = operation
        self.idempotency_key = idempotency_key
        self.retry_after = retry_after
        super().__init__(advice or self.detail)


class NetworkError(GroundtrackError):
    """No response: the network failed, or the request timed out."""

    def __init__(self, operation: str, server: str, reason: str, idempotency_key: str | None = None) -> None:
        super().__init__(
            f"{operation}: no response from {server} ({reason}). Check that the service is running and that GROUNDTRACK_URL or base_url is right."
        )
        self.operation = operation
        self.idempotency_key = idempotency_key
        """The call may have run; repeating it with this key runs it at most once."""


class CredentialsError(GroundtrackError):
    """Stored credentials cannot be read or written."""


class UploadError(GroundtrackError):
    """A file could not be uploaded. Nothing of the session is kept, unless it has a state file."""


class DownloadError(GroundtrackError):
    """A file could not be downloaded or saved."""


class WaitTimeoutError(GroundtrackError):
    """The wait timed out; the order, job or upload goes on."""


class PriceError(GroundtrackError):
    """The request is not possible, so it has no price."""


class SignatureError(GroundtrackError):
    """A webhook delivery was not signed with this secret, or was modified in transit."""


class MissingExtraError(GroundtrackError, ImportError):
    """A package of an extra is not installed."""

    def __init__(self, package: str, extra: str = "geo") -> None:
        super().__init__(f"{package} is not installed. Install it with: pip install 'groundtrack[{extra}]'")


def reason_of(failure: Exception) -> str:
    """Why there was no response, in a few words."""
    name = type(failure).__name__
    return "the request timed out" if "Timeout" in name else str(failure) or name


def disk_error(error: OSError, path: object, folder: object) -> str:
    """What to do about a file that cannot be written."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk of {folder} is full. Free some space, or use another disk."
    return f"Cannot write {path}: {error.strerror or error}. Check the folder and its permissions."


def is_problem(error: BaseException, *slugs: ProblemSlug | str) -> bool:
    """Whether an error is a problem, and of one of the given kinds, if any."""
    return isinstance(error, ProblemError) and (not slugs or error.slug in slugs)


def problem_of(response: httpx.Response, operation: str, key: str | None, server: str, has_key: bool) -> ProblemError:
    """The problem in a response whose body was read. A proxy may respond with something else."""
    retry_after = _retry_after(response.headers.get("retry-after"))
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("code"), str):
        return ProblemError(body, operation, key, retry_after, _advice(body, operation, server, has_key))
    title = response.reason_phrase or "Unexpected response"
    detail = f"{operation}: HTTP {response.status_code} {title}"
    if response.status_code in (404, 405):
        detail += f". {server} may not be a Groundtrack service; check GROUNDTRACK_URL or base_url."
    return ProblemError({"title": title, "status": response.status_code, "detail": detail, "code": "unknown"}, operation, key, retry_after)


def _advice(body: Mapping[str, Any], operation: str, server: str, has_key: bool) -> str:
    """What to do, where the service's own words are about HTTP."""
    code, detail = body["code"], str(body.get("detail") or body.get("title"))
    if code == "unauthorized":
        if has_key:
            return f"{server} rejected the API key: {detail}. Create a new key, or check GROUNDTRACK_API_KEY."
        return f"{detail}. Set GROUNDTRACK_API_KEY, pass api_key, or call gt.auth.sign_in."
    if code == "unknown-operation":
        return f"{server} has no operation {operation}: it is older than this client. Update the service, or install the client of its version."
    if code == "invalid-input" and body.get("errors"):
        fields = "; ".join(f"{e.get('field')} {e.get('message')}" for e in body["errors"][:5])
        return f"{operation}: {fields}"
    return ""


def _retry_after(header: str | None) -> float | None:
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    import email.utils
    import time

    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
