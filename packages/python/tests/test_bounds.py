"""Goal: every loop, wait and buffer of the client ends, whatever a server sends, and says so in one sentence; docs/bounds.md lists the limits."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import groundtrack.events as event_module
import groundtrack.pages as pages
import groundtrack.transfer as transfer
import groundtrack.wait as waiting
import httpx
import pytest
from conftest import Connect
from groundtrack import Groundtrack, GroundtrackError, NetworkError, ProblemError, UploadError, WaitTimeoutError, maps
from groundtrack.client import CONNECT_SECONDS, MAX_RETRIES, TIMEOUT_SECONDS
from groundtrack.retry import MAX_DELAY, delay

BUSY = {"code": "overloaded", "status": 503, "title": "Busy", "detail": "Busy. Try again", "instance": ""}


@contextmanager
def _server(answer: Any) -> Iterator[tuple[str, list[Any]]]:
    """A server that answers each request with what `answer(body)` yields, and keeps the bodies."""
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
            seen.append(body)
            self._send(answer(self.path, body))

        def do_GET(self) -> None:
            seen.append(self.path)
            self._send(answer(self.path, {}))

        def _send(self, chunks: Iterator[bytes] | dict[str, Any]) -> None:
            is_json = isinstance(chunks, dict)
            self.send_response(int(chunks.get("status", 200)) if isinstance(chunks, dict) and "code" in chunks else 200)
            self.send_header("content-type", "application/json" if is_json else "application/x-ndjson")
            self.end_headers()
            try:
                for chunk in [json.dumps(chunks).encode()] if isinstance(chunks, dict) else chunks:
                    self.wfile.write(chunk)
            except OSError:
                pass  # The client has had enough.

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()


def test_a_call_is_sent_four_times_at_most(connect: Connect) -> None:
    sent: list[str] = []

    def fail(request: httpx.Request) -> None:
        sent.append(request.url.path)
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(NetworkError):
        connect(before=fail).projects.list().fetch()
    assert len(sent) == 1 + MAX_RETRIES == 4
    sent.clear()

    def busy(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        return httpx.Response(503, json=BUSY)

    with pytest.raises(ProblemError, match="Busy. Try again"):
        connect(before=busy).projects.create(name="x")
    assert len(sent) == 4


def test_the_time_between_attempts_grows_to_twenty_seconds() -> None:
    longest = [max(delay(attempt) for _ in range(200)) for attempt in range(12)]
    assert longest[0] <= 0.5 and max(longest) <= MAX_DELAY == 20
    assert min(delay(20) for _ in range(200)) >= 10
    assert delay(3, 7) == 7, "the server's own time, if it says one"


def test_requests_time_out(connect: Connect) -> None:
    limits: list[dict[str, float]] = []
    gt = connect(before=lambda request: limits.append(request.extensions["timeout"]))
    gt.projects.list().fetch()
    gt.projects.list(options={"timeout": 5}).fetch()
    assert (limits[0]["read"], limits[0]["connect"]) == (TIMEOUT_SECONDS, CONNECT_SECONDS) == (120, 20)
    assert (limits[1]["read"], limits[1]["connect"]) == (5, 5)


@pytest.mark.parametrize("kind", ["token", "offset"])
def test_a_list_that_never_ends(connect: Connect, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    assert pages.MAX_PAGES == 100_000
    monkeypatch.setattr(pages, "MAX_PAGES", 5)
    answer = {"features": [], "next": "again"} if kind == "token" else {"projects": [{"id": "1"}], "total": 10**9}
    with _server(lambda path, body: answer) as (url, seen):
        gt = connect(base_url=url)
        listed = gt.stac.search() if kind == "token" else gt.projects.list(limit=1)
        with pytest.raises(GroundtrackError, match="has more than 5 pages. Narrow the search"):
            listed.all()
        assert len(seen) == 6


def test_a_line_that_never_ends(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pages.MAX_LINE_BYTES == 64 * 1024 * 1024
    monkeypatch.setattr(pages, "MAX_LINE_BYTES", 10_000)

    def endless(_path: str, _body: Any) -> Iterator[bytes]:
        yield b'{"type": "Feature", "id": "first"}\n'
        for _ in range(1_000):
            yield b"x" * 1_000

    with _server(endless) as (url, _):
        with pytest.raises(GroundtrackError, match="a line of more than 10000 bytes"):
            list(connect(base_url=url).catalog.search_stream(host_name="h"))


def test_a_stream_that_is_cut(connect: Connect) -> None:
    class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self) -> Any:
            yield b'{"type": "Feature", "id": "first"}\n'
            raise httpx.ReadError("cut")

        async def __aiter__(self) -> Any:
            yield b'{"type": "Feature", "id": "first"}\n'
            raise httpx.ReadError("cut")

    gt = connect(before=lambda request: httpx.Response(200, stream=Cut()))
    with pytest.raises(NetworkError, match=r"catalog\.search_stream: no response from .* \(cut\)\. Check that the service is running"):
        list(gt.catalog.search_stream(host_name="h"))


def test_events_reconnect_twenty_times(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    assert event_module.MAX_ATTEMPTS == 20
    opened: list[int] = []

    def fail(request: httpx.Request) -> httpx.Response:
        opened.append(1)
        if len(opened) % 2:
            return httpx.Response(200, content=b": still here\n\n")
        raise httpx.ReadError("cut", request=request)

    with pytest.raises(NetworkError):
        next(iter(connect(before=fail).events()))
    assert 20 < len(opened) <= 22
    monkeypatch.setattr(event_module, "MAX_LINE_BYTES", 1_000)
    with pytest.raises(GroundtrackError, match="an event of more than 1000 bytes"):
        next(iter(connect(before=lambda request: httpx.Response(200, content=b"data: 0123456789\n" * 200)).events()))


def test_waiting_polls_ever_less_and_ends(monkeypatch: pytest.MonkeyPatch, api_key: str) -> None:
    now, naps = [0.0], list[float]()

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    pending = {"job": {"id": "j", "status": "running", "progress": 10, "stage": "reading"}}
    http = httpx.Client(transport=httpx.MockTransport(lambda request: httpx.Response(200, json=pending)))
    with pytest.raises(WaitTimeoutError, match="The job j is still running after 300 s. It goes on"):
        Groundtrack("http://service.example", api_key, http=http, sleep=sleep).wait(job="j", timeout=300)
    assert sum(naps) <= 300 and max(naps) == waiting.MAX_POLL == 10 and len(naps) < 50


def test_eight_failures_in_a_row_end_a_transfer(connect: Connect, project_id: str, field: Path, tmp_path: Path, uploaded: str) -> None:
    assert (transfer.MAX_FAILURES, transfer.CHUNK_SECONDS) == (8, 300)
    puts: list[dict[str, float]] = []

    def broken(request: httpx.Request) -> None:
        if request.method in ("PUT", "GET"):
            puts.append(request.extensions["timeout"])
            raise httpx.ConnectError("down", request=request)

    with pytest.raises(NetworkError):
        connect(before=broken).upload(field, project_id=project_id)
    assert len(puts) == 9 and puts[0]["read"] == 300
    puts.clear()
    with pytest.raises(NetworkError):
        connect(before=broken).download(uploaded, tmp_path / "x.tif")
    assert len(puts) == 9 and list(tmp_path.glob("*.tif")) == []


def test_progress_resets_the_count_of_failures(connect: Connect, project_id: str, field: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "MAX_FAILURES", 1)
    puts: list[str] = []

    def cut(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method == "PUT" and not request.headers.get("content-range", "").startswith("bytes */"):
            puts.append(request.headers["content-range"])
            raise httpx.ReadError("cut", request=request)
        return response

    upload = connect(after=cut).upload(field, project_id=project_id, chunk_bytes=128 * 1024)
    assert upload.item_ids and len(puts) == -(-field.stat().st_size // (128 * 1024)), "each part failed once, and none was sent twice"


def test_a_file_is_never_held_in_memory(connect: Connect, project_id: str, field: Path) -> None:
    sizes: list[int] = []
    connect(before=lambda request: sizes.append(len(request.content)) if request.method == "PUT" else None).upload(
        field, project_id=project_id, chunk_bytes=100_000
    )
    assert max(sizes) == 100_000 and sum(sizes) == field.stat().st_size


def test_maps_have_sixteen_tiles_at_most(demo: Any) -> None:
    assert maps.MAX_TILES == 16
    for most in (1, 4, 16):
        tiles = maps.tiles_of(demo.gt, "items.tile", {"item_id": demo.item.id}, most)
        assert 1 <= len(tiles) <= most
    world = (-180.0, -90.0, 180.0, 90.0)
    zoom, columns, rows = maps._grid(world, 24, 16)
    assert zoom == 2 and len(columns) * len(rows) == 16
    date_line = maps._grid((179.0, -10.0, 180.0, 10.0), 24, 4)
    assert len(date_line[1]) * len(date_line[2]) <= 4


def test_a_state_file_that_is_damaged_or_cannot_be_written(connect: Connect, project_id: str, field: Path, tmp_path: Path) -> None:
    gt = connect()
    state = tmp_path / "state.json"
    for text in ("{", "[]", '{"upload_id": 1}', ""):
        state.write_text(text)
        with pytest.raises(UploadError, match="is not the state of an upload. Delete it to start again"):
            gt.upload(field, project_id=project_id, state_file=state)
    state.write_text(json.dumps({"upload_id": "x", "files": {"other.tif": 3}, "done": []}))
    with pytest.raises(UploadError, match="belongs to an upload of other files. Delete it to start again"):
        gt.upload(field, project_id=project_id, state_file=state)
    with pytest.raises(UploadError, match="Cannot write .*nowhere.*Check the folder"):
        gt.upload(field, project_id=project_id, state_file=tmp_path / "nowhere" / "state.json")
    if Path("/dev/full").exists():
        (tmp_path / "full.json.tmp").symlink_to("/dev/full")
        with pytest.raises(UploadError, match="is full. Free some space, or use another disk"):
            gt.upload(field, project_id=project_id, state_file=tmp_path / "full.json")
        assert not (tmp_path / "full.json").exists() and not (tmp_path / "full.json.tmp").is_symlink()


def test_a_session_that_ended_meanwhile_starts_again(connect: Connect, project_id: str, field: Path, tmp_path: Path) -> None:
    gt, state = connect(), tmp_path / "state.json"
    for ended in (None, "01a1dd96-0000-7000-8000-000000000000"):
        session = ended or gt.uploads.initiate(project_id=project_id, file_count=1, total_bytes=field.stat().st_size).id
        if ended is None:
            gt.uploads.fail(upload_id=session, error_message="Nobody went on")
        state.write_text(json.dumps({"upload_id": session, "files": {field.name: field.stat().st_size}, "done": []}))
        upload = gt.upload(field, project_id=project_id, state_file=state)
        assert upload.id != session and upload.item_ids and not state.exists()


def test_images_are_saved_completely_or_not_at_all(demo: Any, tmp_path: Path) -> None:
    tile = demo.gt.items.tile.render(item_id=demo.item.id, z=0, x=0, y=0, format="png")
    assert tile.save(tmp_path / "tile.png").read_bytes() == bytes(tile)
    with pytest.raises(GroundtrackError, match="Cannot write .*nowhere/tile.png: No such file or directory. Check the folder"):
        tile.save(tmp_path / "nowhere" / "tile.png")
    if Path("/dev/full").exists():
        (tmp_path / ".full.png.part").symlink_to("/dev/full")
        with pytest.raises(GroundtrackError, match="is full. Free some space"):
            tile.save(tmp_path / "full.png")
    assert sorted(os.listdir(tmp_path)) == ["tile.png"]
