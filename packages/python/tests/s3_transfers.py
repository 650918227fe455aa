"""
Goal: uploads to and downloads from S3 go on after interruptions and are verified. `test/python/s3.ts` runs this file on its own,
with a service that stores files in S3; a file has several parts there, each with its own address.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Connect
from groundtrack import NetworkError, UploadError
from test_transfers import _cutting

PART = 16 * 1024 * 1024
SIZE = 2 * PART + 54_321


@pytest.fixture(scope="session")
def large(field: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GeoTIFF of three parts: bytes that follow the image belong to no raster."""
    path = tmp_path_factory.mktemp("large") / "large.tif"
    path.write_bytes(field.read_bytes())
    with path.open("r+b") as file:
        file.truncate(SIZE)
        file.seek(SIZE - 5_000)
        file.write(bytes(range(250)) * 20)
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_parts_are_repeated_and_verified(connect: Connect, project_id: str, large: Path, tmp_path: Path) -> None:
    sent: list[int] = []

    def lose(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        if request.method == "PUT":
            assert request.headers["content-md5"]
            sent.append(len(request.content))
            if len(sent) == 2:
                raise httpx.ReadError("cut", request=request)
        return response

    upload = connect(after=lose).upload(large, project_id=project_id)
    assert len(upload.item_ids) == 1 and max(sent) == PART
    assert sum(sent) in (SIZE, SIZE + PART), "a part whose answer was lost is there, or is sent again"
    ranges: list[str] = []
    copy = connect(after=_cutting(20_000_000, 1, ranges)).download(upload.item_ids[0], tmp_path / "copy.tif")
    assert digest(copy) == digest(large)
    assert ranges[0] == "" and ranges[1].startswith("bytes=2") and len(ranges) == 2


def test_another_process_goes_on_with_the_next_part(connect: Connect, project_id: str, large: Path, tmp_path: Path) -> None:
    sent: list[int] = []

    def broken(request: httpx.Request) -> None:
        if request.method == "PUT":
            if len(sent) == 1:
                raise httpx.ConnectError("down", request=request)
            sent.append(len(request.content))

    state = tmp_path / "state.json"
    with pytest.raises(UploadError, match="same state_file to resume"):
        connect(before=broken).upload(large, project_id=project_id, state_file=state)
    assert sent == [PART] and state.exists()
    sent.clear()

    def count(request: httpx.Request) -> None:
        if request.method == "PUT":
            sent.append(len(request.content))

    upload = connect(before=count).upload(large, project_id=project_id, state_file=state)
    assert sent == [PART, SIZE - 2 * PART] and upload.item_ids and not state.exists()


def test_a_damaged_part_is_refused_and_nothing_is_kept(connect: Connect, project_id: str, field: Path) -> None:
    def damage(request: httpx.Request) -> None:
        if request.method == "PUT":
            request.headers["content-md5"] = "1B2M2Y8AsgTpgAmY7PhCfg=="  # Of no bytes at all.

    with pytest.raises(UploadError, match="was damaged on the way: its checksum differs. Upload it again"):
        connect(before=damage).upload(field, project_id=project_id)
    assert connect().uploads.list(project_id=project_id, limit=1).first().status == "failed"


def test_a_store_that_is_away(connect: Connect, project_id: str, field: Path) -> None:
    def away(request: httpx.Request) -> Any:
        if request.method == "PUT":
            raise httpx.ConnectError("refused", request=request)

    with pytest.raises(NetworkError, match=r"PUT field\.tif: no response from http://[\w.:]+ \(refused\)"):
        connect(before=away).upload(field, project_id=project_id)
    session = connect().uploads.list(project_id=project_id, limit=1).first()
    assert (session.status, session.reserved_bytes) == ("failed", 0)
