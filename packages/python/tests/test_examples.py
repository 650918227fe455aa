"""Goal: every example is there in both languages and does the same in both."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import DEMO_EMAIL, DEMO_PASSWORD
from groundtrack import sign_webhook
from built import EXAMPLES, installed, run

__all__ = ["installed"]


def pair(installed: Path, name: str, *words: str, folders: tuple[Path, Path]) -> tuple[str, str]:
    """What both versions of an example print, at the same time, with IDs and numbers of orders left out, which differ each time."""
    commands = ([sys.executable, str(EXAMPLES / f"{name}.py")], [os.environ["NODE"], str(EXAMPLES / f"{name}.ts")])
    with ThreadPoolExecutor() as both:
        jobs = [
            both.submit(run, *command, *words, env={"PYTHONPATH": str(installed)}, cwd=folder) for command, folder in zip(commands, folders)
        ]
        ours, theirs = (plain(job.result()) for job in jobs)
    return ours, theirs


def plain(text: str) -> str:
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", re.sub(r"svc_\w+", "KEY", text))


def test_every_example_is_there_in_both_languages() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {path.stem for path in EXAMPLES.glob("*.ts")} == {"connect", "webhook-receiver", *COMPARED}
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    assert all(f"]({name}.py)" in listed and f"]({name}.ts)" in listed for name in names - {"connect"})


COMPARED = {
    "ndvi-report": (),
    "monitor-field": ("2",),
    "buy-scene": ("sandbox-hr", "151.20,-33.87,151.21,-33.86", "2026-01-01/2026-06-30", "--buy"),
    "upload-and-map": ("field.tif", "map.html"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_both_versions_of_an_example_do_the_same(
    installed: Path, tmp_path: Path, field: Path, name: str, furnished: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDTRACK_PROJECT", furnished)
    folders = (tmp_path / "py", tmp_path / "ts")
    for folder in folders:
        folder.mkdir()
        (folder / "field.tif").write_bytes(field.read_bytes())
    if name == "buy-scene":  # The demo has credits.
        monkeypatch.setenv("GROUNDTRACK_EMAIL", DEMO_EMAIL)
        monkeypatch.setenv("GROUNDTRACK_PASSWORD", DEMO_PASSWORD)
        monkeypatch.setenv("GROUNDTRACK_PROJECT", request.getfixturevalue("demo").project_id)
    ours, theirs = pair(installed, name, *COMPARED[name], folders=folders)
    if name == "buy-scene":  # How often a status is seen depends on when we look.
        ours, theirs = ("\n".join(dict.fromkeys(text.split("\n"))).replace("pending\n", "") for text in (ours, theirs))
        assert "is fulfilled" in ours, ours
    if name == "upload-and-map":
        assert json.loads(ours) == json.loads(theirs)
        pages = [same_page((folder / "map.html").read_text("utf-8")) for folder in folders]
        assert pages[0] == pages[1]
        return
    assert ours == theirs and len(ours.splitlines()) >= LINES[name], ours


LINES = {"ndvi-report": 4, "monitor-field": 2, "buy-scene": 4}
"""At least: a line of names and three items; two items; a scene, its price and how the order went."""


def same_page(page: str) -> str:
    """The page without what differs each time; its map has tiles."""
    tiles = re.search(r'"(http[^"]+)"\], tileSize', page)
    assert tiles is not None
    with urllib.request.urlopen(tiles.group(1).replace("{z}/{x}/{y}", "0/0/0")) as tile:
        assert tile.headers["content-type"] == "image/png"
    return re.sub(r"\s|, ?", "", plain(page))


@pytest.mark.parametrize("language", ["py", "ts"])
def test_the_webhook_receiver(installed: Path, language: str) -> None:
    program = sys.executable if language == "py" else os.environ["NODE"]
    env = {**os.environ, "PYTHONPATH": str(installed), "WEBHOOK_SECRET": "whsec_test"}
    with subprocess.Popen([program, str(EXAMPLES / f"webhook-receiver.{language}"), "0"], stdout=subprocess.PIPE, text=True, env=env) as child:
        try:
            assert child.stdout is not None
            port = int(re.search(r"\"port\": ?(\d+)", child.stdout.readline()).group(1))  # type: ignore[union-attr]
            body = json.dumps({"event_id": "1", "event_type": "item.created", "timestamp": "2030-01-01T00:00:00.000Z", "entity_id": "item-1"}).encode()

            def send(signature: str) -> int:
                head = f"POST / HTTP/1.0\r\nContent-Length: {len(body)}\r\nX-Svc-Signature: {signature}\r\n\r\n".encode()
                with socket.create_connection(("127.0.0.1", port)) as connection:
                    connection.sendall(head + body)
                    return int(connection.makefile().readline().split()[1])

            signature = sign_webhook(body, "whsec_test")
            assert [send("sha256=00"), send(signature), send(signature)] == [401, 204, 204]
            child.kill()
            assert child.stdout.read().count("item.created item-1") == 1
        finally:
            child.kill()
