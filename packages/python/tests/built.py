"""The wheel as it is built, and programs that use it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "packages/python"
EXAMPLES = ROOT / "examples"
TESTS = Path(__file__).parent
WHEEL_BYTES = 300_000


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
