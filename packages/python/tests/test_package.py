"""Goal: the wheel is small, quick to import, needs httpx alone, and is typed for its users; its README and all examples run."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, URL
from groundtrack import sign_webhook

PACKAGE = ROOT / "packages/python"
EXAMPLES = ROOT / "examples"
TESTS = Path(__file__).parent
WHEEL_BYTES = 300_000
IMPORT_SECONDS = 0.15


def run(*command: str, env: dict[str, str] | None = None, cwd: Path = TESTS, code: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **(env or {})})
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as it is built, unpacked into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=PACKAGE)
    (wheel,) = folder.glob("*.whl")
    assert wheel.stat().st_size < WHEEL_BYTES, f"{wheel.stat().st_size} bytes"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        archive.extractall(folder / "site")
    assert all(name.startswith("groundtrack") for name in names) and "groundtrack/py.typed" in names
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert [re.split(r"[<>=]", line.split(": ")[1])[0] for line in required] == ["httpx"]
    return folder / "site"


def test_import_is_quick(installed: Path) -> None:
    program = "import time; t = time.process_time(); import groundtrack; print(time.process_time() - t); import sys; print('httpx' in sys.modules)"
    timed = [run(sys.executable, "-c", program, env={"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": ""}).split() for _ in range(3)]
    seconds = min(float(seconds) for seconds, _ in timed)
    assert seconds < IMPORT_SECONDS, f"{seconds * 1000:.0f} ms of computing"
    assert timed[0][1] == "False", "httpx is imported with the first client"


def blocks_of(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (PACKAGE / "README.md").read_text("utf-8"), re.S | re.M)


OTHERS = os.environ.get("PYTHONS", "").split()
"""Other versions of Python to test with."""


@pytest.fixture(scope="session", params=[sys.executable, *OTHERS], ids=lambda path: path)
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment, and in it the client as the README installs it, without the extras. Gives its Python."""
    folder = tmp_path_factory.mktemp("environment")
    run(request.param, "-m", "venv", "venv", cwd=folder)
    pip = str(folder / "venv/bin/pip")
    reached = subprocess.run([pip, "download", "--quiet", "--no-deps", "-d", "reached", "httpx"], cwd=folder, capture_output=True)
    if reached.returncode != 0:
        pytest.skip("Python's package index is not reachable")
    (folder / "packages").symlink_to(ROOT / "packages")
    build, install, _with_extras = [line.split("#")[0].split() for line in blocks_of("console")[0].splitlines()]
    for command in (build, install):
        assert command[0] == "pip"
        run(pip, "--quiet", *command[1:], cwd=folder, env={"PYTHONPATH": ""})
    return folder / "venv/bin/python"


def test_five_minutes_in_an_empty_environment(environment: Path, tmp_path: Path, field: Path) -> None:
    listed = json.loads(run(str(environment.parent / "pip"), "list", "--format", "json", env={"PYTHONPATH": ""}))
    names = {each["name"] for each in listed}
    assert {"groundtrack", "httpx"} <= names and not names & {"shapely", "rasterio", "pandas", "tqdm", "keyring", "requests", "pydantic"}, names
    program = blocks_of("python")[0].replace("http://127.0.0.1:8080", URL)
    (tmp_path / "field.tif").write_bytes(field.read_bytes())
    printed = run(str(environment), "-c", program, env={"PYTHONPATH": ""}, cwd=tmp_path)
    assert re.search(r"NDVI from -?\d\.\d\d to \d\.\d\d", printed) and (tmp_path / "copy.tif").read_bytes() == field.read_bytes()


@pytest.mark.skipif(not OTHERS, reason="PYTHONS names no other versions of Python")
def test_other_versions_of_python(environment: Path) -> None:
    if environment.resolve() == Path(sys.executable).resolve():
        return
    run(str(environment.parent / "pip"), "--quiet", "install", "pytest", env={"PYTHONPATH": ""})
    files = ["test_calls.py", "test_transfers.py", "test_bounds.py"]
    run(str(environment), "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, env={"PYTHONPATH": ""})


MISTAKES = [8, 9, 10, 11, 12, 13]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs of users in a folder of theirs: one that is right, one with a mistake a line, and all examples."""
    folder = tmp_path_factory.mktemp("programs")
    for path in (TESTS / "typed_program.py", TESTS / "untyped_program.py", *EXAMPLES.glob("*.py")):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    return folder


def test_mypy_is_strict_with_programs_and_the_package(programs: Path, tmp_path: Path) -> None:
    names = sorted(path.name for path in programs.glob("*.py"))
    source = PACKAGE / "src"
    settings = ["--config-file", str(PACKAGE / "pyproject.toml"), "--strict", "--cache-dir", str(tmp_path)]
    printed = run(sys.executable, "-m", "mypy", *settings, *names, str(source / "groundtrack"), env={"MYPYPATH": str(source)}, cwd=programs, code=1)
    errors = re.findall(r"^(\S+?):(\d+): error", printed, re.M)
    assert sorted({int(line) for name, line in errors if name == "untyped_program.py"}) == MISTAKES, printed
    assert {name for name, _ in errors} == {"untyped_program.py"}, printed


def test_pyright_is_strict_with_programs(installed: Path, programs: Path) -> None:
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(installed)], "include": ["."]}
    (programs / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(programs)]
    checked = subprocess.run(command, capture_output=True, text=True)
    found: list[Any] = json.loads(checked.stdout)["generalDiagnostics"]
    errors = [(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"]) for each in found]
    assert sorted({line for name, line, _ in errors if name == "untyped_program.py"}) == MISTAKES, errors
    assert [error for error in errors if error[0] != "untyped_program.py"] == []


def example(installed: Path, name: str, *words: str, cwd: Path) -> str:
    return run(sys.executable, str(EXAMPLES / name), *words, env={"PYTHONPATH": str(installed)}, cwd=cwd)


def pair(installed: Path, name: str, *words: str, cwd: Path) -> tuple[str, str]:
    """What both versions of an example print, with IDs and numbers of orders left out, which differ each time."""
    ours = example(installed, f"{name}.py", *words, cwd=cwd)
    theirs = run(os.environ["NODE"], str(EXAMPLES / f"{name}.ts"), *words, cwd=cwd)
    return plain(ours), plain(theirs)


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
    "buy-scene": ("sandbox-vhr", "151.20,-33.87,151.21,-33.86", "2026-01-01/2026-06-30", "--buy"),
    "upload-and-map": ("field.tif", "map.html"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_both_versions_of_an_example_do_the_same(
    installed: Path, tmp_path: Path, field: Path, name: str, project_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDTRACK_PROJECT", project_id)
    (tmp_path / "field.tif").write_bytes(field.read_bytes())
    if name != "upload-and-map":
        ours, theirs = pair(installed, name, *COMPARED[name], cwd=tmp_path)
        if name == "buy-scene":  # How often a status is seen depends on when we look.
            ours, theirs = ("\n".join(dict.fromkeys(text.split("\n"))).replace("pending\n", "") for text in (ours, theirs))
            assert "is fulfilled" in ours, ours
        assert ours == theirs and ours.strip()
        return
    pages: list[str] = []
    printed: list[str] = []
    for command in ([sys.executable, str(EXAMPLES / f"{name}.py")], [os.environ["NODE"], str(EXAMPLES / f"{name}.ts")]):
        printed.append(plain(run(*command, *COMPARED[name], env={"PYTHONPATH": str(installed)}, cwd=tmp_path)))
        page = (tmp_path / "map.html").read_text("utf-8")
        tiles = re.search(r'"(http[^"]+)"\], tileSize', page)
        assert tiles is not None
        with urllib.request.urlopen(tiles.group(1).replace("{z}/{x}/{y}", "0/0/0")) as tile:
            assert tile.headers["content-type"] == "image/png"
        pages.append(re.sub(r"\s|, ?", "", plain(page)))
    assert json.loads(printed[0]) == json.loads(printed[1]) and pages[0] == pages[1]


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
