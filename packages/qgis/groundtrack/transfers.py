"""Uploads and downloads, in parts that are verified. What fails leaves nothing half-done, on the server or on the disk."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable
from typing import Any, BinaryIO

from qgis.core import QgsFeedback

from . import http
from .errors import CanceledError, PluginError, ProblemError, disk_error
from .layers import signed_address
from .service import Service, problem_of, wait

CHUNK_BYTES = 8 * 1024 * 1024
MAX_FAILURES = 5
"""In a row, without progress."""
FIRST_POLL, MAX_POLL = 0.5, 10.0
MAX_CONVERSION_SECONDS = 3_600.0
_SHA256 = re.compile(r'^"?([0-9a-f]{64})"?$')
_TYPE = "image/tiff"

Progress = Callable[[float], None]


def upload(
    service: Service, path: str, project_id: str, *, name: str, collection_id: str | None = None, progress: Progress, feedback: QgsFeedback
) -> str:
    """Uploads a GeoTIFF and returns the ID of its item, once the item can be shown."""
    size = os.path.getsize(path)
    fields = {"project_id": project_id, "transfer_method": "signed_url", "file_count": 1, "total_bytes": size}
    if collection_id:
        fields["target_collection_id"] = collection_id
    session = service.call("uploads.initiate", fields, is_keyed=True)["id"]
    try:
        with open(path, "rb") as file:
            _Upload(service, session, file, name, size, lambda sent: progress(90 * sent / max(1, size)), feedback).send()
        item_ids = service.call("uploads.complete", {"upload_id": session}, is_keyed=True)["item_ids"]
    except BaseException as error:
        _abort(service, session)
        if isinstance(error, OSError):
            raise PluginError(f"{path} cannot be read: {error.strerror or error}. Check the file.") from error
        raise
    _await_conversion(service, session, feedback)
    progress(100)
    return str(item_ids[0])


def _abort(service: Service, session: str) -> None:
    """Releases what the session has reserved; if the server is away, it does so itself after a day."""
    try:
        service.call("uploads.fail", {"upload_id": session, "error_message": "Aborted in QGIS"})
    except PluginError:
        pass


def _await_conversion(service: Service, session: str, feedback: QgsFeedback) -> None:
    waited, poll = 0.0, FIRST_POLL
    while waited < MAX_CONVERSION_SECONDS:
        files = service.call("uploads.progress", {"upload_id": session})["files"]
        failed = next((file for file in files if file["state"] in ("failed", "refused")), None)
        if failed:
            raise PluginError(f"{failed['name']} was not accepted: {failed['error']}.")
        if all(file["state"] == "ready" for file in files):
            return
        wait(poll, feedback)
        waited, poll = waited + poll, min(MAX_POLL, poll * 1.5)
    raise PluginError("The upload is still being converted. It continues on the server; look for it in the Browser panel later.")


class _Upload:
    """One file. Each attempt asks for a new address and goes on where the store says that it is."""

    def __init__(
        self, service: Service, session: str, file: BinaryIO, name: str, size: int, report: Callable[[int], None], feedback: QgsFeedback
    ) -> None:
        self._service, self._file, self._size = service, file, size
        self._report, self._feedback = report, feedback
        self._fields = {"upload_id": session, "file_name": name, "content_type": _TYPE, "size_bytes": size}
        self._sent = 0

    def send(self) -> None:
        failures = 0
        while True:
            before = self._sent
            try:
                target = self._service.call("uploads.signed_url", self._fields)
                part = target.get("part")
                if part is not None:
                    self._send_part(target["upload_url"], part["offset"], part["length"])
                    is_done = self._sent >= self._size
                else:
                    is_done = self._send_chunks(target["upload_url"], is_resumed=failures > 0)
                if is_done:
                    return
            except (http.NetworkError, ProblemError) as error:
                failures = 1 if self._sent > before else failures + 1
                if failures > MAX_FAILURES or not _is_transient(error):
                    raise
                wait(0.5 * 2**failures, self._feedback)

    def _send_part(self, url: str, offset: int, length: int) -> None:
        data = self._read(offset, offset + length)
        md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        self._put(url, {"content-md5": md5}, data)
        self._moved(offset + length)

    def _send_chunks(self, url: str, *, is_resumed: bool) -> bool:
        offset = self._current_offset(url) if is_resumed else 0
        while offset < self._size:
            end = min(self._size, offset + CHUNK_BYTES)
            response = self._put(url, {"content-range": f"bytes {offset}-{end - 1}/{self._size}"}, self._read(offset, end))
            offset = end if response.status != 308 else int(response.headers.get("upload-offset", end))
            self._moved(offset)
            if response.status != 308:
                self._verify(response)
        return True

    def _current_offset(self, url: str) -> int:
        response = self._put(url, {"content-range": f"bytes */{self._size}"}, b"")
        return int(response.headers.get("upload-offset", 0)) if response.status == 308 else self._size

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(end - start)
        if len(data) != end - start:
            raise PluginError("The file became shorter while it was uploaded. Upload it again.")
        return data

    def _verify(self, response: http.Response) -> None:
        stored = _SHA256.match(response.headers.get("etag", ""))
        if stored is None:
            return
        digest = hashlib.sha256()
        for start in range(0, self._size, CHUNK_BYTES):
            digest.update(self._read(start, min(self._size, start + CHUNK_BYTES)))
        if stored.group(1) != digest.hexdigest():
            raise PluginError("The file was damaged on its way: its checksum differs. Upload it again.")

    def _put(self, url: str, headers: dict[str, str], data: bytes) -> http.Response:
        response = http.put(url, {"content-type": _TYPE, **headers}, data, self._feedback)
        if response.status >= 400:
            raise problem_of(response, "PUT", http.origin(url))
        return response

    def _moved(self, offset: int) -> None:
        self._sent = offset
        self._report(offset)


def _is_transient(error: PluginError) -> bool:
    if isinstance(error, http.NetworkError):
        return True
    return isinstance(error, ProblemError) and (error.status >= 500 or error.status in (403, 408, 429) or error.slug == "upload-offset")


def download(service: Service, item_id: str, asset: dict[str, Any], path: str, *, progress: Progress, feedback: QgsFeedback) -> None:
    """Saves a file. It gets its name when it is complete; what fails leaves nothing."""
    part = f"{path}.part"
    try:
        with open(part, "wb") as file:
            _receive(service, item_id, str(asset["key"]), file, progress, feedback)
        os.replace(part, path)
    except BaseException as error:
        if os.path.exists(part):
            os.unlink(part)
        if isinstance(error, OSError):
            raise disk_error(error, os.path.dirname(path) or path) from error
        raise


def _receive(service: Service, item_id: str, key: str, file: BinaryIO, progress: Progress, feedback: QgsFeedback) -> None:
    address = signed_address(service, item_id, key)
    digest, offset, total, failures, etag = hashlib.sha256(), 0, None, 0, ""
    while total is None or offset < total:
        if feedback.isCanceled():
            raise CanceledError
        try:
            response = http.send("GET", address, {"range": f"bytes={offset}-{offset + CHUNK_BYTES - 1}"}, b"", feedback)
            if response.status >= 400:
                raise problem_of(response, "GET", http.origin(address))
        except (http.NetworkError, ProblemError) as error:
            failures += 1
            if failures > MAX_FAILURES or not _is_transient(error):
                raise
            wait(0.5 * 2**failures, feedback)
            address = signed_address(service, item_id, key)
            continue
        if etag and response.headers.get("etag", "") != etag:
            raise PluginError("The file was replaced while it was downloaded. Download it again.")
        etag, failures = response.headers.get("etag", ""), 0
        total = _total(response)
        file.write(response.body)
        digest.update(response.body)
        offset += len(response.body)
        progress(100 * offset / max(1, total))
        if not response.body:
            break
    stored = _SHA256.match(etag)
    if offset != total or (stored is not None and stored.group(1) != digest.hexdigest()):
        raise PluginError("The file was damaged on its way: its checksum differs. Download it again.")


def _total(response: http.Response) -> int:
    found = re.search(r"/(\d+)$", response.headers.get("content-range", ""))
    return int(found.group(1)) if found else len(response.body)
