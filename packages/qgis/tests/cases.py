"""What tests of the plugin share: a bound on each test, failures as sentences, files, and servers whose answers are ours."""

from __future__ import annotations

import contextlib
import faulthandler
import http.server
import json
import os
import threading
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from osgeo import gdal, osr
from qgis.core import QgsCoordinateReferenceSystem, QgsCoordinateTransform, QgsProject, QgsRectangle
from support import PATIENT_SECONDS, clear, item_named, messages, sign_in, unlock_store

from groundtrack.connection import stored
from groundtrack.errors import PluginError
from groundtrack.service import Credential, Service

LAKE = "Lake and fields, June"
MOUNTAINS = "Mountains"
TEST_SECONDS = 2 * PATIENT_SECONDS
"""A test that has not ended by then never will. QGIS ends with what each thread was doing."""


_report = open(os.environ["GROUNDTRACK_REPORT"], "a", encoding="utf-8")  # noqa: SIM115: as long as QGIS runs.


def tiff(path: str, *, epsg: int | None = 32631, size: int = 300) -> str:
    dataset = gdal.GetDriverByName("GTiff").Create(path, size, size, 3, gdal.GDT_UInt16)
    dataset.SetGeoTransform((450_000, 10, 0, 5_340_000, 0, -10))
    if epsg:
        reference = osr.SpatialReference()
        reference.ImportFromEPSG(epsg)
        dataset.SetProjection(reference.ExportToWkt())
    for band in (1, 2, 3):
        rows = b"".join(int(1 + (x * band + y) % 900).to_bytes(2, "little") for y in range(size) for x in range(size))
        dataset.GetRasterBand(band).WriteRaster(0, 0, size, size, rows)
    dataset.FlushCache()
    return path


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        unlock_store()
        if stored() is None:
            sign_in()

    def setUp(self) -> None:
        faulthandler.dump_traceback_later(TEST_SECONDS, exit=True, file=_report)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        clear()
        messages.clear()

    def tearDown(self) -> None:
        self.assertEqual([text for text in messages if "Traceback" in text], [], "a failure that nobody foresaw")

    def fails(self, words: str, run: Any) -> PluginError:
        with self.assertRaises(PluginError) as caught:
            run()
        sentence = str(caught.exception)
        self.assertIn(words, sentence)
        self.assertTrue(sentence.endswith(".") and "\n" not in sentence and len(sentence) < 300, sentence)
        return caught.exception

    def lake(self, layer: Any) -> QgsRectangle:
        """Where the demo's scenes are, in the CRS of a layer."""
        box = QgsRectangle(*item_named(LAKE)["bbox"])
        return QgsCoordinateTransform(QgsCoordinateReferenceSystem("EPSG:4326"), layer.crs(), QgsProject.instance()).transformBoundingBox(box)


@contextlib.contextmanager
def patched(module: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


@contextlib.contextmanager
def answering(answer: Callable[[str, Any], tuple[int, Any]]) -> Iterator[tuple[Service, list[str]]]:
    """A server whose answers are ours, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.answer(json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}"))

        def do_GET(self) -> None:
            self.answer({})

        def answer(self, body: Any) -> None:
            asked.append(self.path)
            status, content = answer(self.path, body)
            sent = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Service(f"http://127.0.0.1:{server.server_port}", Credential("api-key", "svc_abcdefgh_" + "x" * 40)), asked
    finally:
        server.shutdown()
        server.server_close()
