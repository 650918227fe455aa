"""
Builds the plugin's zip: python3 packages/qgis/build.py [folder]. Two builds of the same files are equal, byte for byte: entries are
sorted, and have the same time and permissions.
"""

from __future__ import annotations

import configparser
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent
PLUGIN = ROOT / "groundtrack"
KINDS = (".py", ".svg", ".txt", ".html")
LONG_AGO = (2020, 1, 1, 0, 0, 0)


def version() -> str:
    metadata = configparser.ConfigParser(interpolation=None)
    metadata.read(PLUGIN / "metadata.txt", encoding="utf-8")
    return metadata["general"]["version"]


def build(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"groundtrack-qgis-{version()}.zip"
    files = {f"groundtrack/{path.relative_to(PLUGIN).as_posix()}": path for path in PLUGIN.rglob("*") if path.suffix in KINDS}
    files["groundtrack/LICENSE"] = ROOT.parent.parent / "LICENSE"
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            archive.writestr(entry, files[name].read_bytes())
    return target


if __name__ == "__main__":
    print(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"))
