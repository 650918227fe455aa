"""
HTTP through QGIS's own network stack, so that its proxy, certificates and timeout apply. QGIS's Python has no HTTP client library
that we could rely on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from qgis.core import QgsBlockingNetworkRequest, QgsFeedback, QgsNetworkAccessManager
from qgis.PyQt.QtCore import QByteArray, QEventLoop, QUrl
from qgis.PyQt.QtNetwork import QNetworkRequest

from .errors import CanceledError, PluginError, code_of

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 256 * 1024 * 1024
"""Of one response: documents and images are far smaller, and files are read in parts."""
_LAST_NETWORK_ERROR = 199
"""Of QNetworkReply: those above it come from a response, such as 404."""


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class NetworkError(PluginError):
    """No response."""

    def __init__(self, server: str, reason: str) -> None:
        super().__init__(f"No response from {server} ({reason}). Check your connection and the server's address.")


def origin(url: str) -> str:
    """Scheme, host and port: no path and no query, which can hold a signature."""
    return "/".join(url.split("/")[:3])


def send(method: str, url: str, headers: Mapping[str, str], body: bytes = b"", feedback: QgsFeedback | None = None) -> Response:
    """Sends one request and waits for its response, on any thread. Fails if there is none, or only a part of one."""
    request = QNetworkRequest(QUrl(url))
    for name, value in headers.items():
        request.setRawHeader(name.encode(), value.encode())
    blocking = QgsBlockingNetworkRequest()
    _send_by(blocking, method, body, request, feedback)
    if feedback is not None and feedback.isCanceled():
        raise CanceledError
    reply = blocking.reply()
    status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
    if status is None:
        raise NetworkError(origin(url), _reason(blocking.errorMessage()))
    content = bytes(reply.content())
    if len(content) > MAX_BYTES:
        raise PluginError(f"{origin(url)} sent more than {MAX_BYTES // 1024 // 1024} MiB at once. Check the server's address.")
    received = {_text(name).lower(): _text(reply.rawHeader(name)) for name in reply.rawHeaderList()}
    if method != "HEAD" and _is_cut(code_of(reply.error()), received, content):
        raise NetworkError(origin(url), _reason(blocking.errorMessage() or "the connection was closed"))
    return Response(int(status), received, content)


def _is_cut(error: int, headers: Mapping[str, str], content: bytes) -> bool:
    """Whether the connection ended before the response did. QGIS then still has the status, and the bytes that had arrived."""
    if 0 < error <= _LAST_NETWORK_ERROR:
        return True
    length = headers.get("content-length", "")
    return length.isdigit() and "content-encoding" not in headers and len(content) < int(length)


def _text(header: QByteArray) -> str:
    return bytes(header).decode("latin1")


def put(url: str, headers: Mapping[str, str], body: bytes, feedback: QgsFeedback | None = None) -> Response:
    """
    Sends a part of a file, on any thread. The store answers 308 without an address to all parts but the last, which
    QgsBlockingNetworkRequest takes for a redirect to nowhere.
    """
    request = QNetworkRequest(QUrl(url))
    for name, value in headers.items():
        request.setRawHeader(name.encode(), value.encode())
    request.setAttribute(QNetworkRequest.Attribute.RedirectPolicyAttribute, QNetworkRequest.RedirectPolicy.ManualRedirectPolicy)
    reply = QgsNetworkAccessManager.instance().put(request, QByteArray(body))
    loop = QEventLoop()
    reply.finished.connect(loop.quit)
    if feedback is not None:
        feedback.canceled.connect(reply.abort)
    if not reply.isFinished():
        loop.exec()
    try:
        if feedback is not None and feedback.isCanceled():
            raise CanceledError
        status = reply.attribute(QNetworkRequest.Attribute.HttpStatusCodeAttribute)
        if status is None:
            raise NetworkError(origin(url), _reason(reply.errorString()))
        received = {_text(name).lower(): _text(reply.rawHeader(name)) for name in reply.rawHeaderList()}
        return Response(int(status), received, bytes(reply.readAll()))
    finally:
        reply.deleteLater()


def _send_by(blocking: QgsBlockingNetworkRequest, method: str, body: bytes, request: QNetworkRequest, feedback: QgsFeedback | None) -> None:
    always_new = True  # Otherwise a response could come from QGIS's cache.
    methods: dict[str, Callable[[], object]] = {
        "GET": lambda: blocking.get(request, always_new, feedback),
        "HEAD": lambda: blocking.head(request, always_new, feedback),
        "POST": lambda: blocking.post(request, QByteArray(body), always_new, feedback),
        "DELETE": lambda: blocking.deleteResource(request, feedback),
    }
    methods[method]()


def _reason(message: str) -> str:
    return message.strip().rstrip(".") or "the request failed"
