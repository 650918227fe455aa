"""Goal: the wheel can be installed in an empty environment of every version of Python that it supports, and the README's program runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, URL
from built import PACKAGE, run

QUICK = {**os.environ, "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def blocks_of(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (PACKAGE / "README.md").read_text("utf-8"), re.S | re.M)


OTHER = os.environ.get("OTHER_PYTHON", "")
"""Another version of Python to test with."""


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment, and in it the client as the README installs it, without the extras. Gives its Python."""
    folder = tmp_path_factory.mktemp("environment")
    run(OTHER or sys.executable, "-m", "venv", "venv", cwd=folder)
    pip = str(folder / "venv/bin/pip")
    (folder / "packages").symlink_to(ROOT / "packages")
    build, install, _with_extras = [line.split("#")[0].split() for line in blocks_of("console")[0].splitlines()]
    for command in (build, install):
        assert command[0] == "pip"
        done = subprocess.run([pip, "--quiet", *command[1:]], cwd=folder, env={**QUICK, "PYTHONPATH": ""}, capture_output=True, text=True)
        if done.returncode != 0:
            reached = subprocess.run([pip, "download", "--quiet", "--no-deps", "-d", "reached", "httpx"], cwd=folder, capture_output=True)
            if reached.returncode != 0:
                pytest.skip("Python's package index is not reachable")
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "venv/bin/python"


def test_five_minutes_in_an_empty_environment(environment: Path, tmp_path: Path, field: Path) -> None:
    listed = json.loads(run(str(environment.parent / "pip"), "list", "--format", "json", env={"PYTHONPATH": ""}))
    names = {each["name"] for each in listed}
    assert {"groundtrack", "httpx"} <= names and not names & {"shapely", "rasterio", "pandas", "tqdm", "keyring", "requests", "pydantic"}, names
    program = blocks_of("python")[0].replace("http://127.0.0.1:8080", URL)
    (tmp_path / "field.tif").write_bytes(field.read_bytes())
    printed = run(str(environment), "-c", program, env={"PYTHONPATH": ""}, cwd=tmp_path)
    assert re.search(r"NDVI from -?\d\.\d\d to \d\.\d\d", printed) and (tmp_path / "copy.tif").read_bytes() == field.read_bytes()


@pytest.mark.skipif(not OTHER, reason="OTHER_PYTHON names no other version of Python")
def test_another_version_of_python(environment: Path) -> None:
    run(str(environment.parent / "pip"), "--quiet", "install", "pytest", env={**QUICK, "PYTHONPATH": ""})
    files = ["test_calls.py", "test_transfers.py", "test_bounds.py"]
    printed = run(str(environment), "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, env={"PYTHONPATH": ""})
    print(printed.splitlines()[-1])
