"""Goal: uploads and downloads survive a bad network, never leave half a file, and find damage; waits, events and webhooks work."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Connect
from groundtrack import DownloadError, Groundtrack, NetworkError, ProblemError, SignatureError, UploadError, WaitTimeoutError, sign_webhook, verify_webhook


def test_an_upload_becomes_an_item_and_comes_back(gt: Any, project_id: str, field: Path, tmp_path: Path) -> None:
    sent: list[tuple[int, int]] = []
    upload = gt.upload(field, project_id=project_id, progress=lambda done, total: sent.append((done, total)))
    size = field.stat().st_size
    assert sent[-1] == (size, size)
    states: list[str] = []
    ready = gt.wait(upload=upload.id, progress=lambda session: states.append(session.status))
    assert [file.state for file in ready.files] == ["ready"] and states[-1] == "completed"
    received: list[int] = []
    copy = gt.download(ready.item_ids[0], tmp_path / "copy.tif", progress=lambda done, total: received.append(done))
    assert copy.read_bytes() == field.read_bytes() and received[-1] == size
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


def test_chunks_resume_after_cuts(connect: Connect, project_id: str, field: Path) -> None:
    puts: list[str] = []

    def cut(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method == "PUT":
            puts.append(request.headers.get("content-range", ""))
            if len(puts) % 3 == 2:
                raise httpx.ReadError("cut", request=request)
        return response

    upload = connect(after=cut).upload(field, project_id=project_id, chunk_bytes=64 * 1024)
    assert upload.item_ids and len(puts) > field.stat().st_size // (64 * 1024)
    assert any(put.startswith("bytes */") for put in puts), "the store was asked how far it got"


def test_damage_on_the_way_up_is_found_and_nothing_is_kept(connect: Connect, project_id: str, field: Path) -> None:
    def damage(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method == "PUT":
            response.headers["etag"] = f'"{hashlib.sha256(b"other").hexdigest()}"'
        return response

    gt = connect(after=damage)
    with pytest.raises(UploadError, match="was damaged on the way"):
        gt.upload(field, project_id=project_id)
    assert connect().uploads.list(project_id=project_id, limit=1).first().status == "failed"


def test_a_state_file_lets_another_process_go_on(connect: Connect, project_id: str, field: Path, tmp_path: Path) -> None:
    puts: list[str] = []

    def broken(request: httpx.Request) -> None:
        if request.method == "PUT":
            puts.append(request.headers.get("content-range", ""))
            if len(puts) > 3:
                raise httpx.ConnectError("down", request=request)

    state = tmp_path / "state.json"
    fields = {"project_id": project_id, "state_file": state, "chunk_bytes": 64 * 1024}
    with pytest.raises(UploadError, match="same state_file to resume"):
        connect(before=broken).upload(field, **fields)
    done: list[int] = []
    resumed = connect().upload(field, **fields, progress=lambda sent, total: done.append(sent))
    assert done[0] >= 3 * 64 * 1024 and resumed.item_ids and not state.exists()


def test_an_upload_that_fails_is_aborted(connect: Connect, project_id: str, field: Path) -> None:
    def broken(request: httpx.Request) -> None:
        if request.method == "PUT":
            raise httpx.ConnectError("down", request=request)

    with pytest.raises(NetworkError, match="no response"):
        connect(before=broken).upload(field, project_id=project_id)
    assert connect().uploads.list(project_id=project_id, limit=1).first().status == "failed"
    with pytest.raises(UploadError, match="Cannot read .*No such file.*Check the path"):
        connect().upload("nowhere.tif", project_id=project_id)


def test_an_interrupt_aborts_the_upload(project_id: str, field: Path, api_key: str) -> None:
    gt = Groundtrack(os.environ["GROUNDTRACK_URL"], api_key)

    def interrupt(_sent: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gt.upload(("interrupted.tif", field.read_bytes()), project_id=project_id, progress=interrupt)
    session = gt.uploads.list(project_id=project_id, limit=1).first()
    assert session is not None and session.status == "failed"


def test_an_image_without_a_position_is_kept(gt: Any, project_id: str) -> None:
    plain = Path(os.environ["PLAIN_TIF"])
    with pytest.raises(ProblemError, match=r"The file is kept: call gt\.uploads\.complete\(upload_id='") as caught:
        gt.upload(plain, project_id=project_id)
    assert caught.value.slug == "position-required"
    session = gt.uploads.list(project_id=project_id, limit=1).first()
    done = gt.uploads.complete(upload_id=session.id, positions=[{"crs": "EPSG:4326", "bounds": [1, 1, 2, 2]}])
    assert len(done.item_ids) == 1


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The first bytes of a body, and then the end of the connection."""

    def __init__(self, response: httpx.Response, keep: int, damage: bool = False) -> None:
        self._response, self._keep, self._damage = response, keep, damage

    def __iter__(self) -> Any:
        for chunk in self._response.stream:  # type: ignore[union-attr]
            yield self._part(chunk)
            if self._keep <= 0:
                raise httpx.ReadError("cut")

    async def __aiter__(self) -> Any:
        async for chunk in self._response.stream:  # type: ignore[union-attr]
            yield self._part(chunk)
            if self._keep <= 0:
                raise httpx.ReadError("cut")

    def _part(self, chunk: bytes) -> bytes:
        part, self._keep = chunk[: self._keep], self._keep - len(chunk)
        return bytes(255 - byte for byte in part) if self._damage else part

    def close(self) -> None:
        self._response.stream.close()  # type: ignore[union-attr]

    async def aclose(self) -> None:
        await self._response.stream.aclose()  # type: ignore[union-attr]


def _cutting(keep: int, times: int, ranges: list[str], damage: bool = False) -> Any:
    left = [times]

    def after(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method != "GET":
            return response
        ranges.append(request.headers.get("range", ""))
        left[0] -= 1
        if left[0] < 0:
            return response
        return httpx.Response(response.status_code, headers=response.headers, stream=Cut(response, keep, damage))

    return after


def test_downloads_resume(connect: Connect, uploaded: str, field: Path, tmp_path: Path) -> None:
    ranges: list[str] = []
    target = tmp_path / "resumed.tif"
    connect(after=_cutting(50_000, 2, ranges)).download(uploaded, target)
    assert ranges == ["", "bytes=50000-", "bytes=100000-"]
    assert target.read_bytes() == field.read_bytes()


def test_a_later_download_goes_on(connect: Connect, uploaded: str, field: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundtrack.transfer.MAX_FAILURES", 0)
    target, ranges = tmp_path / "later.tif", list[str]()
    with pytest.raises(NetworkError):
        connect(after=_cutting(50_000, 9, ranges)).download(uploaded, target)
    assert not target.exists()
    ranges.clear()
    connect(after=_cutting(0, 0, ranges)).download(uploaded, target)
    assert ranges == ["bytes=50000-"] and target.read_bytes() == field.read_bytes()
    assert list(tmp_path.glob(".*.part")) == []


def test_damage_on_the_way_down_is_found(connect: Connect, uploaded: str, tmp_path: Path) -> None:
    target = tmp_path / "damaged.tif"
    with pytest.raises(DownloadError, match="was damaged on the way"):
        connect(after=_cutting(10**9, 1, [], damage=True)).download(uploaded, target)
    assert list(tmp_path.glob("*.tif")) == list(tmp_path.glob(".*.part")) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(gt: Any, uploaded: str, field: Path, tmp_path: Path) -> None:
    etag = hashlib.sha256(field.read_bytes()).hexdigest()
    (tmp_path / f".full.tif.{etag}.part").symlink_to("/dev/full")
    with pytest.raises(DownloadError, match="is full. Free some space, or use another disk"):
        gt.download(uploaded, tmp_path / "full.tif")
    assert not (tmp_path / "full.tif").exists() and list(tmp_path.glob(".*.part")) == []


def test_where_a_download_cannot_go(gt: Any, uploaded: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="is a folder. Pass the path of a file"):
        gt.download(uploaded, tmp_path)
    with pytest.raises(DownloadError, match="There is no folder .*/nowhere. Create it first"):
        gt.download(uploaded, tmp_path / "nowhere" / "x.tif")
    with pytest.raises(DownloadError, match="has no asset 'red'; its assets are data"):
        gt.download(uploaded, tmp_path / "x.tif", asset_key="red")


def test_waiting_for_a_job(gt: Any, project_id: str, uploaded: str) -> None:
    job = gt.processing.create_and_dispatch(project_id=project_id, job_type_id="cog_convert", input_params={"item_id": uploaded}).job
    states: list[str] = []
    done = gt.wait(job=job.id, progress=lambda job: states.append(job.status))
    assert done.status == "completed" and states[-1] == "completed" and len(done.output_item_ids) == 1
    with pytest.raises(TypeError, match="needs one of order, job and upload"):
        gt.wait()


def test_records_wait(project_id: str, uploaded: str, api_key: str) -> None:
    gt = Groundtrack(os.environ["GROUNDTRACK_URL"], api_key)
    job = gt.processing.create(project_id=project_id, job_type_id="cog_convert", input_params={"item_id": uploaded}).job
    with pytest.raises(WaitTimeoutError, match="is still pending after 0 s. It goes on; wait for it again later"):
        job.wait(timeout=0)
    gt.processing.dispatch(job_id=job.id)
    assert job.wait(progress=True).status == "completed"


def test_events_arrive_and_resume(connect: Connect, project_id: str) -> None:
    gt = connect()
    opened: list[int] = []

    def create() -> None:
        opened.append(1)

    events = iter(connect(after=_cutting(10**9, 0, [])).events(on_open=create))
    import threading

    name = f"Heard {time.time_ns()}"

    def act() -> None:
        while not opened:
            time.sleep(0.01)
        gt.collections.create(project_id=project_id, name=name)

    thread = threading.Thread(target=act)
    thread.start()
    event = next(each for each in events if each.event_type == "collection.created" and each.data.name == name)
    thread.join()
    gt.collections.create(project_id=project_id, name=f"{name} too")
    again = next(each for each in connect().events(last_event_id=event.event_id) if each.event_type == "collection.created")
    assert again.data.name == f"{name} too", "events since the last one are sent first"


def test_events_that_may_not_be_read(connect: Connect) -> None:
    with pytest.raises(ProblemError, match="rejected the API key"):
        next(iter(connect(api_key="svc_wrong").events()))


def test_webhooks() -> None:
    body = b'{"event_id": "1", "event_type": "item.created", "data": {"name": "Reef"}}'
    signature = sign_webhook(body, "whsec_test")
    event = verify_webhook(body, signature, "whsec_test")
    assert event.event_type == "item.created" and event.data.name == "Reef"
    for wrong in (None, "", "sha256=00", signature.replace("sha256=", "md5="), sign_webhook(body, "other")):
        with pytest.raises(SignatureError):
            verify_webhook(body, wrong, "whsec_test")
    with pytest.raises(SignatureError):
        verify_webhook(body + b" ", signature, "whsec_test")
