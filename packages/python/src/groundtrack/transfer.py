"""
Uploads and downloads, directly to and from the object store. Both resume after a failure, and both compare the SHA-256 of what
was transferred with the store's.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict, Union, cast

from .errors import DownloadError, GroundtrackError, NetworkError, ProblemError, UploadError, disk_error, problem_of, reason_of
from .flows import Chunks, Close, Do, Flow, NextChunk, Pause, Read, Send
from .progress import bar
from .retry import delay

if TYPE_CHECKING:
    import httpx

    from .client import BaseClient
    from .generated.types import Upload
    from .generated.uploads import UploadsCompleteInputPositions

MAX_FAILURES = 8
"""Consecutive failures without progress. With backoff this takes more than a minute."""
CHUNK_SECONDS = 300.0
"""A hanging connection would otherwise end only after many minutes."""
READ_BYTES = 1024 * 1024
MIN_CHUNK_BYTES = 8 * 1024 * 1024
PARTS_FROM_BYTES = 32 * 1024 * 1024
"""Larger files are sent in parts, each to its own signed URL, unless smaller chunks are asked for."""
SAMPLE_PARTS = 64
"""A file can take hours to read, so that a resumed upload compares a sample of what has arrived, and all of it once a part differs."""
PAGE_PARTS = 32
"""URLs per call: they expire, so that a slow connection would not use more of them."""

Progress = Union[bool, Callable[[int, int], None]]
FileLike = Union[str, "os.PathLike[str]", tuple[str, Union[bytes, BinaryIO]]]
"""A path, or a name with bytes or an open binary file that can seek."""

_SHA256 = re.compile(r'^"?([0-9a-f]{64})"?$')


class _Source:
    """A file to upload, read in chunks and never loaded whole."""

    def __init__(self, file: FileLike) -> None:
        if isinstance(file, tuple):
            self.name, data = file
            self._stream: BinaryIO = io.BytesIO(data) if isinstance(data, (bytes, bytearray, memoryview)) else data
            self._owns = False
        else:
            path = Path(file)
            self.name = path.name
            try:
                self._stream = path.open("rb")
            except OSError as error:
                raise UploadError(f"Cannot read {path}: {error.strerror}. Check the path and its permissions.") from error
            self._owns = True
        self.size = self._stream.seek(0, io.SEEK_END)

    def read(self, start: int, end: int) -> bytes:
        try:
            self._stream.seek(start)
            data = self._stream.read(end - start)
        except OSError as error:
            raise UploadError(f"Cannot read {self.name}: {error.strerror or error}. Check the disk, then upload it again.") from error
        if len(data) != end - start:
            raise UploadError(f"{self.name} became shorter while it was uploaded. Upload it again.")
        return data

    def sha256(self, end: int) -> Any:
        """A hash of the first bytes, to go on with."""
        digest = hashlib.sha256()
        for start in range(0, end, READ_BYTES):
            digest.update(self.read(start, min(end, start + READ_BYTES)))
        return digest

    def md5(self, start: int, end: int) -> bytes:
        digest = hashlib.md5(usedforsecurity=False)
        for at in range(start, end, READ_BYTES):
            digest.update(self.read(at, min(end, at + READ_BYTES)))
        return digest.digest()

    def close(self) -> None:
        if self._owns:
            self._stream.close()


class _State(TypedDict):
    """What is needed to go on later, also in another process."""

    upload_id: str
    files: dict[str, int]
    done: list[str]


def upload(
    client: BaseClient,
    files: FileLike | Sequence[FileLike],
    target: Mapping[str, Any],
    *,
    positions: Sequence[UploadsCompleteInputPositions] | None,
    as_one_item: bool,
    content_type: str,
    state_file: str | os.PathLike[str] | None,
    progress: Progress,
    chunk_bytes: int,
) -> Flow[Upload]:
    """Opens a session, sends each file, and completes the session. Without a state file, a failure aborts the session."""
    from .generated.types import Upload

    listed = cast("list[FileLike]", [files] if isinstance(files, (str, os.PathLike)) or _is_named(files) else list(cast("Any", files)))
    sources: list[_Source] = []
    try:
        sources.extend(_Source(file) for file in listed)
        path = None if state_file is None else Path(state_file)
        is_resumed = path is not None and path.exists()
        state = yield from _begin(client, sources, target, path)
        total = sum(source.size for source in sources)
        shown = bar(progress is True, "upload", total, "B")

        def report(sent: int) -> None:
            shown.update_to(sent)
            if callable(progress):
                progress(sent, total)

        try:
            before = 0
            for source in sources:
                if source.name not in state["done"]:
                    file = _File(client, source, state["upload_id"], content_type, chunk_bytes, is_resumed)
                    yield from file.send(lambda sent: report(before + sent))
                    state["done"].append(source.name)
                    _save(path, state)
                before += source.size
                report(before)
            yield from _complete(client, state["upload_id"], positions, as_one_item)
        except BaseException as error:
            if path is None and not _awaits_position(error):
                yield from _abort(client, state["upload_id"])
            if path is not None and isinstance(error, NetworkError):
                raise UploadError(f"The upload was interrupted ({error}). Call upload again with the same state_file to resume.") from error
            raise
        finally:
            shown.close()
        if path is not None:
            path.unlink(missing_ok=True)
        return Upload((yield from client.json_flow("uploads.progress", {"upload_id": state["upload_id"]})), client)
    finally:
        for source in sources:
            source.close()


def _is_named(files: Any) -> bool:
    return isinstance(files, tuple) and len(files) == 2 and not isinstance(files[1], (str, os.PathLike, tuple))


def _awaits_position(error: BaseException) -> bool:
    return isinstance(error, ProblemError) and error.slug == "position-required"


def _begin(client: BaseClient, sources: Sequence[_Source], target: Mapping[str, Any], path: Path | None) -> Flow[_State]:
    sizes = {source.name: source.size for source in sources}
    if len(sizes) != len(sources):
        raise UploadError("Two files have the same name. Rename one, or upload them separately.")
    if path is not None and path.exists():
        state = _read_state(path)
        if state["files"] != sizes:
            raise UploadError(f"{path} belongs to an upload of other files. Delete it to start again.")
        if (yield from _is_open(client, state["upload_id"])):
            return state
    fields = {**target, "transfer_method": "signed_url", "file_count": len(sources), "total_bytes": sum(sizes.values())}
    opened = yield from client.json_flow("uploads.initiate", fields, None, "keyed")
    begun: _State = {"upload_id": opened["id"], "files": sizes, "done": []}
    _save(path, begun)
    return begun


def _read_state(path: Path) -> _State:
    try:
        state = cast("_State", json.loads(path.read_text("utf-8")))
        if isinstance(state["upload_id"], str) and isinstance(state["files"], dict) and isinstance(state["done"], list):
            return state
    except OSError as error:
        raise UploadError(f"Cannot read {path}: {error.strerror or error}. Check the path and its permissions.") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise UploadError(f"{path} is not the state of an upload. Delete it to start again, or name another state_file.")


def _is_open(client: BaseClient, upload_id: str) -> Flow[bool]:
    """Whether a session can go on. The service aborts one that nobody has continued for a day; then the upload starts again."""
    try:
        return bool((yield from client.json_flow("uploads.progress", {"upload_id": upload_id}))["status"] != "failed")
    except ProblemError as error:
        if error.slug in ("not-found", "forbidden"):
            return False
        raise


def _save(path: Path | None, state: _State) -> None:
    if path is None:
        return
    part = path.with_name(f"{path.name}.tmp")
    try:
        part.write_text(json.dumps(state), "utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UploadError(disk_error(error, path, path.parent.resolve())) from error


def _abort(client: BaseClient, upload_id: str) -> Flow[None]:
    """Releases what the session has reserved. The service aborts it later by itself, if it cannot be reached."""
    try:
        yield from client.json_flow("uploads.fail", {"upload_id": upload_id, "error_message": "Aborted by the client"}, {"max_retries": 0, "timeout": 10}, "keyed")
    except (GroundtrackError, OSError):
        pass


def _complete(client: BaseClient, upload_id: str, positions: Sequence[Any] | None, as_one_item: bool) -> Flow[None]:
    fields: dict[str, Any] = {"upload_id": upload_id}
    if positions:
        fields["positions"] = positions
    if as_one_item:
        fields["as_one_item"] = True
    try:
        yield from client.json_flow("uploads.complete", fields, None, "keyed")
    except ProblemError as error:
        if not _awaits_position(error):
            raise
        advice = f"{error.detail} The file is kept: call gt.uploads.complete(upload_id={upload_id!r}, positions=[…])."
        raise ProblemError(error.problem, error.operation, error.idempotency_key, error.retry_after, advice) from error


class _File:
    """
    Uploads one file, however long it takes. Each attempt requests a new URL, because the last one may have expired, and resumes at
    the store's offset. Only failures without progress count.
    """

    def __init__(
        self, client: BaseClient, source: _Source, upload_id: str, content_type: str, chunk_bytes: int, may_have_started: bool
    ) -> None:
        self._client, self._source, self._upload_id = client, source, upload_id
        self._type, self._chunk_bytes = content_type, chunk_bytes
        self._may_have_started = may_have_started
        self._is_resumed = may_have_started
        self._is_large = source.size > PARTS_FROM_BYTES and chunk_bytes >= MIN_CHUNK_BYTES
        self._compared: set[int] = set()
        self._compares_all = False
        self._report: Callable[[int], None] = lambda sent: None
        self._sent = 0
        self._failures = 0
        self._digest = hashlib.sha256()
        self._digested = 0

    def send(self, report: Callable[[int], None]) -> Flow[None]:
        self._report = report
        fields = {"upload_id": self._upload_id, "file_name": self._source.name, "content_type": self._type, "size_bytes": self._source.size}
        while True:
            try:
                if self._is_large:
                    return (yield from self._send_missing())
                target = yield from self._client.json_flow("uploads.signed_url", fields)
                part = target.get("part")
                if part is not None:
                    yield from self._send_part(target["upload_url"], part["offset"], part["length"])
                else:
                    yield from self._send_chunks(target["upload_url"])
                if self._sent >= self._source.size:
                    return
            except (ProblemError, NetworkError) as error:
                if not _is_transient(error) or self._failures >= MAX_FAILURES:
                    raise
                wait = 0.0 if _is_expired(error) and self._failures == 0 else delay(self._failures)
                self._failures += 1
                yield Pause(wait)
            self._may_have_started = True

    def _send_missing(self) -> Flow[None]:
        """All parts that have not arrived, a page of URLs at a time. What another process has sent is compared with the file."""
        after: int | None = 0
        arrived: int | None = None
        while after is not None:
            page = yield from self._request_parts({"after": after, "limit": PAGE_PARTS})
            arrived = page["received_bytes"] if arrived is None else arrived
            self._moved(arrived)
            changed: list[int] = yield Do(lambda: self._changed_parts(page))
            if changed and not self._compares_all:
                self._compares_all = True
                after = 0
                continue
            for first in range(0, len(changed), PAGE_PARTS):
                numbers = changed[first : first + PAGE_PARTS]
                for part in (yield from self._request_parts({"numbers": numbers}))["parts"]:
                    yield from self._put_part(part)
                    self._compared.add(part["number"])
            for part in page["parts"]:
                yield from self._put_part(part)
                self._compared.add(part["number"])
                arrived += part["length"]
                self._moved(arrived)
            after = page["next"]

    def _request_parts(self, page: Mapping[str, Any]) -> Flow[Any]:
        fields = {"upload_id": self._upload_id, "file_name": self._source.name, "content_type": self._type, "size_bytes": self._source.size}
        return (yield from self._client.json_flow("uploads.parts", {**fields, **page}))

    def _changed_parts(self, page: Mapping[str, Any]) -> list[int]:
        """Parts that arrived from a file of the same name and size, but with other bytes: the file has changed since."""
        changed: list[int] = []
        every = 1 if self._compares_all else -(-page["part_count"] // SAMPLE_PARTS)
        for part in page["received"] if self._is_resumed else []:
            number, md5 = part["number"], part["md5"]
            if md5 is None or number in self._compared or (number - 1) % every != 0:
                continue
            offset = (number - 1) * page["part_bytes"]
            if self._source.md5(offset, min(self._source.size, offset + page["part_bytes"])).hex() == md5:
                self._compared.add(number)
            else:
                changed.append(number)
        return changed

    def _put_part(self, part: Mapping[str, Any]) -> Flow[None]:
        yield from self._put_verified(part["upload_url"], part["offset"], part["length"])

    def _put_verified(self, url: str, offset: int, length: int) -> Flow[None]:
        """The store compares the MD5 that we send."""
        data: bytes = yield Do(lambda: self._source.read(offset, offset + length))
        md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        yield from self._put(url, {"content-md5": md5}, data)

    def _moved(self, offset: int) -> None:
        if offset > self._sent:
            self._failures = 0
        self._sent = offset
        self._report(offset)

    def _send_part(self, url: str, offset: int, length: int) -> Flow[None]:
        """Each part has its own URL; the next response gives the next part."""
        if length > 0 or self._source.size == 0:
            yield from self._put_verified(url, offset, length)
        self._moved(offset + length)

    def _send_chunks(self, url: str) -> Flow[None]:
        size = self._source.size
        offset = (yield from self._current_offset(url)) if self._may_have_started else 0
        self._moved(offset)
        if offset == 0 and size <= self._chunk_bytes:
            response = yield from self._put(url, {}, (yield from self._read(0, size)))
            return self._verify(response)
        while offset < size:
            end = min(size, offset + self._chunk_bytes)
            data = yield from self._read(offset, end)
            response = yield from self._put(url, {"content-range": f"bytes {offset}-{end - 1}/{size}"}, data)
            if response.status_code != 308:
                return self._verify(response)
            offset = int(response.headers.get("upload-offset", end))
            self._moved(offset)

    def _read(self, start: int, end: int) -> Flow[bytes]:
        """Reads a chunk and adds it to the hash, once, whatever is sent again."""
        if self._digested != start:
            self._digest = yield Do(lambda: self._source.sha256(start))
        data: bytes = yield Do(lambda: self._source.read(start, end))
        self._digest.update(data)
        self._digested = end
        return data

    def _verify(self, response: httpx.Response) -> None:
        stored = _SHA256.match(response.headers.get("etag", ""))
        if stored is not None and stored.group(1) != self._digest.hexdigest():
            raise UploadError(f"{self._source.name} was damaged on the way: its checksum differs. Upload it again.")
        self._moved(self._source.size)

    def _current_offset(self, url: str) -> Flow[int]:
        response = yield from self._put(url, {"content-range": f"bytes */{self._source.size}"}, b"")
        return int(response.headers.get("upload-offset", 0)) if response.status_code == 308 else self._source.size

    def _put(self, url: str, headers: Mapping[str, str], data: bytes) -> Flow[httpx.Response]:
        import httpx

        name = f"PUT {self._source.name}"
        extensions = {"timeout": self._client.new_timeout(CHUNK_SECONDS).as_dict()}
        request = httpx.Request("PUT", url, headers={"content-type": self._type, **headers}, content=data, extensions=extensions)
        try:
            response: httpx.Response = yield Send(request)
        except httpx.TransportError as error:
            raise NetworkError(name, _origin(url), reason_of(error)) from error
        if response.status_code < 300 or response.status_code == 308:
            return response
        if response.status_code == 400 and b"BadDigest" in response.content:
            raise UploadError(f"{self._source.name} was damaged on the way: its checksum differs. Upload it again.")
        raise problem_of(response, name, None, _origin(url), False)


def _origin(url: str) -> str:
    """Without the path and the query, which hold a signature."""
    return "/".join(url.split("/")[:3])


def _is_expired(error: Exception) -> bool:
    """An expired URL: our store returns a problem, S3 returns 403 with XML."""
    return isinstance(error, ProblemError) and error.status == 403 and error.slug in ("expired-signature", "unknown")


def _is_transient(error: Exception) -> bool:
    """Whether a retry may succeed. `upload-offset`: another client wrote, or our offset differs from the store's."""
    if isinstance(error, NetworkError) or _is_expired(error):
        return True
    return isinstance(error, ProblemError) and (error.status >= 500 or error.status in (408, 429) or error.slug in ("upload-offset", "checksum-mismatch"))


def download(
    client: BaseClient,
    item_id: str,
    path: str | os.PathLike[str],
    *,
    asset_key: str = "data",
    asset_id: str | None = None,
    progress: bool | Callable[[int, int | None], None] = False,
) -> Flow[Path]:
    """
    Saves an asset. It gets its name only when it is complete and verified; until then it is `.<name>.<etag>.part`, from which a later
    download goes on.
    """
    target = Path(path)
    if target.is_dir():
        raise DownloadError(f"{target} is a folder. Pass the path of a file.")
    if asset_id is None:
        asset_id = yield from _asset_of(client, item_id, asset_key)
    transfer = _Download(client, {"item_id": item_id, "asset_id": asset_id}, target, progress)
    try:
        yield from transfer.receive()
    except OSError as error:
        transfer.discard()
        raise DownloadError(disk_error(error, target, target.parent.resolve())) from error
    finally:
        transfer.close()
    return target


def _asset_of(client: BaseClient, item_id: str, key: str) -> Flow[str]:
    assets = yield from client.json_flow("items.list_assets", {"item_id": item_id})
    for asset in assets:
        if asset["key"] == key:
            return str(asset["id"])
    raise DownloadError(f"The item has no asset {key!r}; its assets are {', '.join(asset['key'] for asset in assets) or 'none'}.")


class _Download:
    def __init__(self, client: BaseClient, fields: Mapping[str, str], target: Path, progress: bool | Callable[[int, int | None], None]) -> None:
        self._client, self._fields, self._target, self._progress = client, fields, target, progress
        self._received = 0
        self._total: int | None = None
        self._etag: str | None = None
        self._part: Path | None = None
        self._out: BinaryIO | None = None
        self._digest = hashlib.sha256()
        self._shown = bar(False, "", None, "B")

    def receive(self) -> Flow[None]:
        yield Do(self._find_part)
        failures = 0
        while True:
            before = self._received
            try:
                signed = yield from self._client.json_flow("items.asset.download", self._fields)
                yield from self._receive_from(signed["url"])
                if self._total is None or self._received >= self._total:
                    break
            except (ProblemError, NetworkError) as error:
                is_final = isinstance(error, ProblemError) and error.status < 500 and not _is_expired(error)
                if is_final or failures >= MAX_FAILURES:
                    raise
            failures = 0 if self._received > before else failures + 1
            yield Pause(delay(failures))
        yield Do(self._finish)

    def _find_part(self) -> None:
        """What an earlier download has left."""
        if not self._target.parent.is_dir():
            raise DownloadError(f"There is no folder {self._target.parent}. Create it first.")
        for part in self._target.parent.glob(f".{self._target.name}.*.part"):
            etag = part.name[len(self._target.name) + 2 : -len(".part")]
            if re.fullmatch(r"[0-9a-f-]+", etag) and part.stat().st_size > 0:
                self._etag, self._part, self._received = f'"{etag}"', part, part.stat().st_size
                return

    def _receive_from(self, url: str) -> Flow[None]:
        import httpx

        headers = {"accept-encoding": "identity"}
        if self._received > 0:
            headers |= {"range": f"bytes={self._received}-", "if-match": self._etag or "*"}
        extensions = {"timeout": self._client.new_timeout().as_dict()}
        try:
            response: httpx.Response = yield Send(httpx.Request("GET", url, headers=headers, extensions=extensions), True)
            try:
                if response.status_code in (412, 416):
                    return self._restart()  # The file has changed since; begin again.
                if response.status_code >= 300:
                    yield Read(response)
                    raise problem_of(response, "download", None, _origin(url), False)
                if response.status_code == 200:
                    self._restart()
                yield Do(lambda: self._open(response))
                chunks = Chunks(response)
                while (chunk := (yield NextChunk(chunks))) is not None:
                    data: bytes = chunk
                    yield Do(lambda: self._write(data))
            finally:
                yield Close(response)
        except httpx.TransportError as error:
            raise NetworkError("download", _origin(url), reason_of(error)) from error

    def _restart(self) -> None:
        self.discard()
        self._received, self._etag = 0, None
        self._digest = hashlib.sha256()

    def _open(self, response: httpx.Response) -> None:
        length = response.headers.get("content-length")
        self._total = None if length is None else self._received + int(length)
        self._etag = response.headers.get("etag", self._etag)
        if self._out is None:
            if self._part is None:
                name = (self._etag or "").strip('W/"')
                self._part = self._target.with_name(f".{self._target.name}.{name or 'new'}.part")
            elif self._received > 0:
                with self._part.open("rb") as begun:
                    while data := begun.read(READ_BYTES):
                        self._digest.update(data)
            self._out = self._part.open("ab" if self._received > 0 else "wb")
        self._shown.close()
        self._shown = bar(self._progress is True, self._target.name, self._total, "B")

    def _write(self, data: bytes) -> None:
        assert self._out is not None
        self._out.write(data)
        self._digest.update(data)
        self._received += len(data)
        self._shown.update_to(self._received)
        if callable(self._progress):
            self._progress(self._received, self._total)

    def _finish(self) -> None:
        assert self._out is not None and self._part is not None
        self._out.close()
        stored = _SHA256.match(self._etag or "")
        if stored is not None and stored.group(1) != self._digest.hexdigest():
            self.discard()
            raise DownloadError(f"{self._target.name} was damaged on the way: its checksum differs. Download it again.")
        os.replace(self._part, self._target)

    def discard(self) -> None:
        self.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)
        self._part = None

    def close(self) -> None:
        self._shown.close()
        if self._out is not None:
            try:
                self._out.close()
            except OSError:
                pass  # A full disk, which has been reported.
        self._out = None
