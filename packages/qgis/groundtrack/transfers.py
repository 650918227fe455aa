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
from .service import Patience, Service, is_transient, new_key, problem_of, wait

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
        item_ids = _complete(service, session, feedback)
    except BaseException as error:
        _abort(service, session)
        if isinstance(error, OSError):
            raise PluginError(f"{path} cannot be read: {error.strerror or error}. Check the file.") from error
        raise
    _await_conversion(service, session, feedback)
    progress(100)
    return item_ids[0]


def _abort(service: Service, session: str) -> None:
    """Releases what the session has reserved; if the server is away, it does so itself after a day."""
    try:
        service.call("uploads.fail", {"upload_id": session, "error_message": "Aborted in QGIS"})
    except PluginError:
        pass


def _complete(service: Service, session: str, feedback: QgsFeedback) -> list[str]:
    """With one key, so that a session whose answer was lost is not completed again."""
    key, failures = new_key(), 0
    while True:
        try:
            return [str(id) for id in service.call("uploads.complete", {"upload_id": session}, key=key, feedback=feedback)["item_ids"]]
        except (http.NetworkError, ProblemError) as error:
            failures += 1
            if failures > MAX_FAILURES or not is_transient(error):
                raise
            _back_off(failures, feedback)


def _await_conversion(service: Service, session: str, feedback: QgsFeedback) -> None:
    waited, poll, patience = 0.0, FIRST_POLL, Patience()
    while waited < MAX_CONVERSION_SECONDS:
        try:
            files = patience.ask(lambda: service.call("uploads.progress", {"upload_id": session}, feedback=feedback)["files"])
        except http.NetworkError as error:
            raise PluginError("The file was uploaded, but the server no longer responds. Look for it in the Browser panel later.") from error
        failed = next((file for file in files or [] if file["state"] in ("failed", "refused")), None)
        if failed:
            raise PluginError(f"{failed['name']} was not accepted: {failed['error']}.")
        if files is not None and all(file["state"] == "ready" for file in files):
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
        """Ends: each attempt gets further than all before it, or counts as a failure."""
        failures, furthest = 0, 0
        while True:
            try:
                target = self._service.call("uploads.signed_url", self._fields, feedback=self._feedback)
                part = target.get("part")
                if part is not None:
                    self._send_part(target["upload_url"], part["offset"], part["length"])
                else:
                    self._send_chunks(target["upload_url"], is_resumed=failures > 0)
                if self._sent >= self._size:
                    return
            except (http.NetworkError, ProblemError) as error:
                failures = 1 if self._sent > furthest else failures + 1
                furthest = max(furthest, self._sent)
                if failures > MAX_FAILURES or not _may_go_on(error):
                    raise
                _back_off(failures, self._feedback)

    def _send_part(self, url: str, offset: int, length: int) -> None:
        """Nothing is left to send if the answer to the last part was lost."""
        if length > 0:
            data = self._read(offset, offset + length)
            md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
            self._put(url, {"content-md5": md5}, data)
        self._moved(offset + length)

    def _send_chunks(self, url: str, *, is_resumed: bool) -> None:
        if is_resumed and self._is_complete(url):
            return
        offset = self._sent if is_resumed else 0
        while offset < self._size:
            end = min(self._size, offset + CHUNK_BYTES)
            response = self._put(url, {"content-range": f"bytes {offset}-{end - 1}/{self._size}"}, self._read(offset, end))
            if response.status != 308:
                return self._verify(response)
            reached = int(response.headers.get("upload-offset", end))
            if reached <= offset:
                raise http.NetworkError(http.origin(url), "it did not keep what was sent")
            offset = reached
            self._moved(offset)

    def _is_complete(self, url: str) -> bool:
        """Asks the store how far it got: what an interrupted request has sent may have arrived."""
        response = self._put(url, {"content-range": f"bytes */{self._size}"}, b"")
        if response.status != 308:
            self._verify(response)
            return True
        self._moved(int(response.headers.get("upload-offset", 0)))
        return False

    def _read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        data = self._file.read(end - start)
        if len(data) != end - start:
            raise PluginError("The file became shorter while it was uploaded. Upload it again.")
        return data

    def _verify(self, response: http.Response) -> None:
        stored = _SHA256.match(response.headers.get("etag", ""))
        if stored is not None:
            digest = hashlib.sha256()
            for start in range(0, self._size, CHUNK_BYTES):
                digest.update(self._read(start, min(self._size, start + CHUNK_BYTES)))
            if stored.group(1) != digest.hexdigest():
                raise PluginError("The file was damaged on its way: its checksum differs. Upload it again.")
        self._moved(self._size)

    def _put(self, url: str, headers: dict[str, str], data: bytes) -> http.Response:
        response = http.put(url, {"content-type": _TYPE, **headers}, data, self._feedback)
        if response.status >= 400:
            raise problem_of(response, "PUT", http.origin(url))
        return response

    def _moved(self, offset: int) -> None:
        self._sent = offset
        self._report(offset)


def _may_go_on(error: PluginError) -> bool:
    """With a new address: the last one may have expired, or the store may be at another offset than we thought."""
    return is_transient(error) or (isinstance(error, ProblemError) and (error.status == 403 or error.slug == "upload-offset"))


def _back_off(failures: int, feedback: QgsFeedback) -> None:
    wait(0.5 * 2**failures, feedback)


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
    address, digest, offset, total, failures, etag = "", hashlib.sha256(), 0, None, 0, ""
    while total is None or offset < total:
        if feedback.isCanceled():
            raise CanceledError
        try:
            address = address or signed_address(service, item_id, key)
            response = http.send("GET", address, {"range": f"bytes={offset}-{offset + CHUNK_BYTES - 1}"}, b"", feedback)
            if response.status >= 400:
                raise problem_of(response, "GET", http.origin(address))
        except (http.NetworkError, ProblemError) as error:
            failures += 1
            if failures > MAX_FAILURES or not _may_go_on(error):
                raise
            address = ""
            _back_off(failures, feedback)
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
