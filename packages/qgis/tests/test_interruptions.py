"""
Goal: an upload or download that is interrupted halfway goes on where it was, or ends with one sentence and leaves nothing half-done;
and whatever happens to the network or the service, nothing waits forever.
"""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cases import LAKE, Case, answering, patched, tiff
from line import Line
from osgeo import gdal
from qgis.core import QgsNetworkAccessManager, QgsProcessingFeedback, QgsRasterLayer
from support import EMAIL, PASSWORD, URL, WORK, demo_project, item_named, messages, plugin, until

from groundtrack import cart, transfers
from groundtrack import service as service_module
from groundtrack.algorithms import algorithm as algorithm_module
from groundtrack.errors import ProblemError
from groundtrack.export import Plan
from groundtrack.layers import get_item
from groundtrack.service import Credential, Service
from groundtrack.transfers import download, upload

CHUNK = 256 * 1024
CONTROL = os.environ.get("GROUNDTRACK_CONTROL", "")
"""Ends and starts the service when it is asked to."""
HEADERS = 4_096
"""More than the headers of a request take."""


class Interruptible(Service):
    """The service by a line, and its store by another."""

    def __init__(self) -> None:
        self.api = Line(URL)
        self.store: Line | None = None
        self.after: Callable[[str], None] = lambda operation: None
        """Called when an operation has answered."""
        super().__init__(self.api.url, Credential(EMAIL, PASSWORD))

    def call(self, operation: str, *args: Any, **options: Any) -> Any:
        answer = super().call(operation, *args, **options)
        for name in ("upload_url", "url"):
            if isinstance(answer, dict) and name in answer:
                answer[name] = self._by_line(answer[name])
        self.after(operation)
        return answer

    def _by_line(self, address: str) -> str:
        origin = "/".join(address.split("/")[:3])
        self.store = self.store or Line(origin)
        return self.store.url + address[len(origin) :]

    def leave(self) -> None:
        for line in self._lines():
            line.leave()

    def come_back(self) -> None:
        for line in self._lines():
            line.come_back()

    def _lines(self) -> list[Line]:
        return [self.api] if self.store is None else [self.api, self.store]


class BackOff:
    """In place of the time between attempts: counts them, and lets something happen at one of them."""

    def __init__(self, at: int = 0, then: Callable[[], None] = lambda: None) -> None:
        self.failures: list[int] = []
        self._at, self._then = at, then

    def __call__(self, failures: int, _feedback: Any) -> None:
        self.failures.append(failures)
        if len(self.failures) == self._at:
            self._then()


class Once:
    """Does something when progress has reached a share, and not again."""

    def __init__(self, percent: float, run: Callable[[], object]) -> None:
        self._percent, self._run = percent, run
        self.is_done = False

    def __call__(self, percent: float) -> None:
        if percent >= self._percent and not self.is_done:
            self.is_done = True
            self._run()


def control(action: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(f"{CONTROL}/{action}", method="POST"), timeout=300) as response:
        assert response.status == 200


class Interrupted(Case):
    @contextmanager
    def transfers_by_line(self, back_off: BackOff) -> Iterator[Interruptible]:
        service = Interruptible()
        service.call("projects.list", {"limit": 1})  # Signed in.
        try:
            with patched(transfers, CHUNK_BYTES=CHUNK, _back_off=back_off):
                yield service
        finally:
            service.leave()

    def stored_bytes(self) -> int:
        return int(plugin().connection.service.call("usage.current")["storage_bytes"])

    def names(self) -> list[str]:
        return [str(each["name"]) for each in plugin().connection.service.pages("items.list", {"project_id": demo_project()}, "items")]

    def newest_upload(self) -> dict[str, Any]:
        found: dict[str, Any] = plugin().connection.service.call("uploads.list", {"project_id": demo_project()})["uploads"][0]
        return found


class Test0Uploads(Interrupted):
    def send(self, service: Service, name: str, progress: Callable[[float], None]) -> str:
        path = os.path.join(WORK, f"{name}.tif")
        if not os.path.exists(path):
            tiff(path, size=600)
        return upload(service, path, demo_project(), name=f"{name}.tif", progress=progress, feedback=QgsProcessingFeedback())

    def is_whole(self, item_id: str, name: str) -> None:
        """The item has the values of the file on this disk, and is the only one of its name."""
        self.assertEqual(get_item(plugin().connection.service, item_id)["name"], name)
        self.assertEqual(self.names().count(name), 1)
        copy = os.path.join(WORK, f"{name}.copy")
        nothing = QgsProcessingFeedback()
        download(plugin().connection.service, item_id, {"key": "data"}, copy, progress=lambda percent: None, feedback=nothing)
        received, sent = gdal.Open(copy), gdal.Open(os.path.join(WORK, f"{name}.tif"))
        for band in (1, 2, 3):
            self.assertTrue(received.GetRasterBand(band).ReadRaster() == sent.GetRasterBand(band).ReadRaster(), f"band {band}")

    def test_a_connection_that_is_cut(self) -> None:
        name, back_off = "Cut twice", BackOff()
        with self.transfers_by_line(back_off) as service:

            def cut_again() -> None:
                assert service.store is not None
                service.store.cut(up=HEADERS + 70_000)

            def cut() -> None:
                assert service.store is not None
                service.store.cut(up=HEADERS + 100_000, then=cut_again)

            once = Once(10, cut)
            self.is_whole(self.send(service, name, once), name)
            assert service.store is not None and once.is_done
            size = os.path.getsize(os.path.join(WORK, f"{name}.tif"))
            self.assertGreater(size, 7 * CHUNK)
            self.assertLess(len(service.store.passed), size + 2 * CHUNK + 30 * HEADERS, "the rest is sent, not everything again")

    def test_a_service_that_is_gone_and_back(self) -> None:
        name = "Gone and back"
        back_off = BackOff(3, lambda: service.come_back())
        with self.transfers_by_line(back_off) as service:
            self.is_whole(self.send(service, name, Once(40, service.leave)), name)
            self.assertEqual(back_off.failures, [1, 2, 3])
            assert service.store is not None
            asked = [each for each in service.store.ranges() if each.startswith("bytes */")]
            self.assertEqual(len(asked), 1, "the store was asked how far it got")
            self.assertLess(len(service.store.passed), os.path.getsize(os.path.join(WORK, f"{name}.tif")) + CHUNK)

    def test_a_service_that_stays_away(self) -> None:
        name, back_off = "Gone for good", BackOff()
        before, stored = self.names(), self.stored_bytes()
        with self.transfers_by_line(back_off) as service:
            self.fails("No response from", lambda: self.send(service, name, Once(40, service.leave)))
        self.assertEqual(back_off.failures, list(range(1, transfers.MAX_FAILURES + 1)))
        self.assertEqual((self.names(), self.stored_bytes()), (before, stored), "half a file is not an item")
        self.assertNotEqual(self.newest_upload()["status"], "completed")

    def test_a_store_that_stays_away(self) -> None:
        name, back_off = "No store", BackOff()
        before, stored = self.names(), self.stored_bytes()
        with self.transfers_by_line(back_off) as service:

            def leave() -> None:
                assert service.store is not None
                service.store.leave()

            self.fails("No response from", lambda: self.send(service, name, Once(40, leave)))
        session = self.newest_upload()
        self.assertEqual((session["status"], session["reserved_bytes"]), ("failed", 0))
        self.assertEqual((self.names(), self.stored_bytes()), (before, stored))

    def test_answers_that_are_lost(self) -> None:
        """The last part has arrived, and the session is complete, but the plugin is told neither."""
        name, back_off = "Lost answers", BackOff()
        with self.transfers_by_line(back_off) as service:

            def lose_the_next() -> None:
                assert service.store is not None
                service.store.cut(down=0)

            path = tiff(os.path.join(WORK, f"{name}.tif"), size=600)
            last = 90 * (os.path.getsize(path) // CHUNK) * CHUNK / os.path.getsize(path)
            steps = [Once(last - 0.01, lose_the_next), Once(90, lambda: service.api.cut(down=0))]
            self.is_whole(self.send(service, name, lambda percent: [step(percent) for step in steps] and None), name)
            self.assertTrue(all(step.is_done for step in steps))

    def test_the_answer_to_the_last_part_is_lost(self) -> None:
        """In S3, where each part has its own address: the next answer says that nothing is left, and nothing is sent again."""
        path = tiff(os.path.join(WORK, "parts.tif"))
        size, half, sent = os.path.getsize(path), os.path.getsize(path) // 2, list[int]()

        class Parts(Service):
            def call(self, operation: str, *args: Any, **options: Any) -> Any:
                arrived = sum(sent)
                return {"upload_url": "http://127.0.0.1:9/x", "part": {"offset": arrived, "length": min(half, size - arrived)}}

        def put(url: str, headers: dict[str, str], data: bytes, feedback: Any = None) -> Any:
            sent.append(len(data))
            if sum(sent) == size:
                raise transfers.http.NetworkError("the store", "reset")
            return transfers.http.Response(200, {}, b"")

        back_off, reported = BackOff(), list[int]()
        with patched(transfers, _back_off=back_off), patched(transfers.http, put=put), open(path, "rb") as file:
            service = Parts(URL, Credential(EMAIL, PASSWORD))
            transfers._Upload(service, "1", file, "parts.tif", size, reported.append, QgsProcessingFeedback()).send()
        self.assertEqual((sum(sent), reported[-1], back_off.failures), (size, size, [1]))

    def test_a_service_that_leaves_while_it_converts(self) -> None:
        name, naps = "Converted meanwhile", list[float]()
        real = transfers.wait

        def wait(seconds: float, feedback: Any) -> None:
            naps.append(seconds)
            if len(naps) == 3:
                service.come_back()
            if len(naps) >= 3:
                real(seconds, feedback)  # What is converted takes its time; asking without a pause would only keep the service busy.

        with self.transfers_by_line(BackOff()) as service:
            service.after = lambda operation: service.leave() if operation == "uploads.complete" else None
            with patched(transfers, wait=wait):
                self.is_whole(self.send(service, name, lambda percent: None), name)
            self.assertGreaterEqual(len(naps), 3)

    def test_a_service_that_never_comes_back_while_it_converts(self) -> None:
        naps: list[float] = []
        with self.transfers_by_line(BackOff()) as service:
            service.after = lambda operation: service.leave() if operation == "uploads.complete" else None
            with patched(transfers, wait=lambda seconds, feedback: naps.append(seconds)):
                self.fails("The file was uploaded, but the server no longer responds", lambda: self.send(service, "Unseen", lambda percent: None))
        self.assertEqual(len(naps), service_module.MAX_FAILED_POLLS)
        until("the item all the same", lambda: all(file["state"] == "ready" for file in self.newest_upload()["files"]))
        self.assertIn("Unseen", self.names())

    def test_in_the_background_of_the_window(self) -> None:
        """As a user sees it: the layer goes up in a task of QGIS, the way is interrupted, and a message says that it is there."""
        layer = QgsRasterLayer(tiff(os.path.join(WORK, "window.tif"), size=600), "In the window", "gdal")
        back_off = BackOff(2, lambda: service.come_back())
        with self.transfers_by_line(back_off) as service, patched(plugin().connection, _service=service):
            left: list[int] = []

            def leave(operation: str) -> None:
                if operation == "uploads.signed_url" and not left:
                    left.append(1)
                    assert service.store is not None
                    service.store.cut(up=3 * CHUNK + 10_000, then=service.leave)

            service.after = leave
            plugin().start_upload(Plan(layer), demo_project())
            until("the upload", lambda: any("In the window was uploaded as item" in text for text in messages))
        self.assertGreaterEqual(len(back_off.failures), 2)

    def test_a_service_that_is_killed_and_started_again(self) -> None:
        name = "Killed"
        back_off = BackOff(2, lambda: control("start"))
        with self.transfers_by_line(back_off) as service:
            self.is_whole(self.send(service, name, Once(40, lambda: control("kill"))), name)
        self.assertEqual(back_off.failures, [1, 2])


class Test0Downloads(Interrupted):
    """The demo's scene has several parts."""

    def receive(self, service: Service, name: str, progress: Callable[[float], None]) -> str:
        path = os.path.join(WORK, name)
        download(service, item_named(LAKE)["id"], {"key": "data"}, path, progress=progress, feedback=QgsProcessingFeedback())
        return path

    def is_whole(self, path: str) -> None:
        whole = self.receive(plugin().connection.service, "whole.tif", lambda percent: None)
        with open(whole, "rb") as expected, open(path, "rb") as received:
            self.assertEqual(received.read(), expected.read())
        self.assertFalse(os.path.exists(f"{path}.part"))

    def test_a_connection_that_is_cut(self) -> None:
        back_off = BackOff()
        with self.transfers_by_line(back_off) as service:

            def cut() -> None:
                assert service.store is not None
                service.store.cut(down=100_000)

            once = Once(10, cut)
            self.is_whole(self.receive(service, "cut.tif", once))
            assert service.store is not None and once.is_done
            self.assertEqual(back_off.failures, [1])
            asked = service.store.ranges()
            self.assertEqual(len(asked), len(set(asked)) + 1, "one part was asked for twice")

    def test_a_service_that_is_gone_and_back(self) -> None:
        back_off = BackOff(4, lambda: service.come_back())
        with self.transfers_by_line(back_off) as service:
            self.is_whole(self.receive(service, "back.tif", Once(10, service.leave)))
        self.assertEqual(back_off.failures, [1, 2, 3, 4])

    def test_a_service_that_stays_away(self) -> None:
        back_off = BackOff()
        with self.transfers_by_line(back_off) as service:
            self.fails("No response from", lambda: self.receive(service, "away.tif", Once(10, service.leave)))
        self.assertEqual(back_off.failures, list(range(1, transfers.MAX_FAILURES + 1)))
        self.assertEqual([name for name in os.listdir(WORK) if name.startswith("away.tif")], [])

    def test_a_service_that_is_killed_and_started_again(self) -> None:
        back_off = BackOff(2, lambda: control("start"))
        with self.transfers_by_line(back_off) as service:
            self.is_whole(self.receive(service, "killed.tif", Once(10, lambda: control("kill"))))
        self.assertEqual(back_off.failures, [1, 2])


class Test0Calls(Interrupted):
    def test_half_an_answer_is_no_answer(self) -> None:
        service = Interruptible()
        service.call("projects.list")
        before = service.api.received
        service.call("projects.list")
        whole = service.api.received - before
        for missing in (1, 100):
            service.api.cut(down=whole - missing)
            self.fails("No response from", lambda: service.call("projects.list"))
        self.assertTrue(service.call("projects.list")["projects"])
        service.leave()

    def test_a_server_that_says_nothing(self) -> None:
        service, before = Interruptible(), QgsNetworkAccessManager.timeout()
        service.call("projects.list")
        service.api.fall_silent()
        QgsNetworkAccessManager.setTimeout(1_000)
        try:
            self.fails("No response from", lambda: service.call("projects.list"))
            self.fails("No response from", lambda: transfers.http.put(f"{service.api.url}/x", {}, b"x" * 100_000))
        finally:
            QgsNetworkAccessManager.setTimeout(before)
            service.leave()

    def test_polls_outlast_an_update_of_the_service(self) -> None:
        busy = {"code": "overloaded", "status": 503, "title": "Busy", "detail": "Busy. Try again later"}
        naps: list[float] = []
        nap = {"wait": lambda seconds, feedback: naps.append(seconds)}
        feedback = QgsProcessingFeedback()
        algorithm = plugin().provider.algorithms()[0].create()
        waits: list[Callable[[Service], Any]] = [
            lambda service: cart.await_delivery(service, "1", feedback),
            lambda service: algorithm._await_end(service, {"jobID": "1"}, feedback),
        ]
        with patched(cart, **nap), patched(algorithm_module, **nap):
            for wait_with in waits:
                left = [3 * service_module.MAX_ATTEMPTS]

                def answer(path: str, body: Any, left: list[int] = left) -> tuple[int, Any]:
                    left[0] -= 1
                    return (503, busy) if left[0] >= 0 else (200, {"status": "successful" if path.startswith("/jobs") else "fulfilled"})

                with answering(answer) as (service, _):
                    naps.clear()
                    wait_with(service)
                    self.assertEqual(len(naps), 3)
                with answering(lambda path, body: (503, busy)) as (service, asked):
                    with self.assertRaises(ProblemError):
                        wait_with(service)
                    self.assertEqual(len(asked), (service_module.MAX_FAILED_POLLS + 1) * service_module.MAX_ATTEMPTS)
                self.fails("continues there", lambda wait_with=wait_with: wait_with(service))  # type: ignore[misc]
