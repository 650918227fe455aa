"""Goal: the wheel is small, quick to import, needs httpx alone, and is typed for its users."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from built import EXAMPLES, PACKAGE, TESTS, installed, run

__all__ = ["installed"]
IMPORT_SECONDS = 0.15


def test_import_is_quick(installed: Path) -> None:
    program = "import time; t = time.process_time(); import groundtrack; print(time.process_time() - t); import sys; print('httpx' in sys.modules)"
    timed = [run(sys.executable, "-c", program, env={"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": ""}).split() for _ in range(5)]
    seconds = min(float(seconds) for seconds, _ in timed)
    assert seconds < IMPORT_SECONDS, f"{seconds * 1000:.0f} ms of computing"
    assert timed[0][1] == "False", "httpx is imported with the first client"


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
