"""
Goal: the plugin's code also runs with Qt 6. There, an enum member must be named with its enum (`Qt.ItemDataRole.UserRole`), some methods
have lost their underscore, and only `qgis.PyQt` hides which Qt it is. Where PyQt6 is installed, each name is looked up in it.

    python3 packages/qgis/tests/qt6.py [folder]
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

PLUGIN = Path(__file__).parents[1] / "groundtrack"
REMOVED = {"exec_", "print_", "toTime_t"}
MOVED = {"QAction": "QtGui", "QShortcut": "QtGui"}
"""qgis.PyQt offers them where Qt 5 had them."""


def names_of(tree: ast.AST) -> dict[str, str]:
    """Names that were imported from Qt or QGIS, and their modules."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("qgis."):
            found |= {alias.asname or alias.name: node.module for alias in node.names}
    return found


def chain(node: ast.AST) -> list[str]:
    """`a.b.c` as its parts; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def mistakes_in(path: Path) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    imported = names_of(tree)
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found: list[str] = []
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found += [f"{path.name}:{node.lineno} imports {name}; use qgis.PyQt" for name in modules if name.startswith(("PyQt", "PySide", "sip"))]
        if not isinstance(node, ast.Attribute) or id(node) in inner:
            continue
        parts = chain(node)
        if node.attr in REMOVED:
            found.append(f"{path.name}:{node.lineno} calls {node.attr}, which Qt 6 does not have")
        if not parts or parts[0] not in imported:
            continue
        if len(parts) == 2 and parts[1][0].isupper() and id(node) not in called:
            found.append(f"{path.name}:{node.lineno} {'.'.join(parts)} does not name its enum")
        found += [f"{path.name}:{node.lineno} {words}" for words in unknown(imported[parts[0]], parts)]
    return found


def unknown(module: str, parts: list[str]) -> list[str]:
    """Whether PyQt6 lacks a name; nothing where it is not installed, or for QGIS's own classes."""
    if not module.startswith("qgis.PyQt."):
        return []
    name = module.removeprefix("qgis.PyQt.")
    try:
        target = importlib.import_module(f"PyQt6.{MOVED.get(parts[0], name)}")
    except ImportError:
        return []
    for part in parts:
        if not hasattr(target, part):
            return [f"PyQt6 has no {'.'.join(parts)}"]
        target = getattr(target, part)
    return []


def is_installed() -> bool:
    try:
        importlib.import_module("PyQt6.QtWidgets")
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PLUGIN
    files = sorted(folder.rglob("*.py"))
    wrong = [mistake for path in files for mistake in mistakes_in(path)]
    print("\n".join([*wrong, f"{len(files)} files, {'names looked up in PyQt6' if is_installed() else 'PyQt6 is not installed'}"]))
    sys.exit(1 if wrong or not files else 0)
