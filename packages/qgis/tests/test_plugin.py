"""
Goal: everything that the plugin offers works in the real QGIS, against a running service: sign-in, Browser panel, layers and
legends, search, cart and order, upload, share links, algorithms alone and in models; and every failure is one sentence.
"""

from __future__ import annotations

import http.server
import json
import os
import threading
import urllib.error
import urllib.request
from typing import Any

import processing
from cases import LAKE, MOUNTAINS, Case, answering, patched, tiff
from qgis.core import (
    QgsApplication,
    QgsAuthMethodConfig,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsFeature,
    QgsGeometry,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsMimeDataUtils,
    QgsPointXY,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelOutput,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsSettings,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize, Qt
from qgis.PyQt.QtGui import QColor
from qgis.utils import iface
from support import EMAIL, PASSWORD, URL, WORK, demo_project, item_named, messages, plugin, until

from groundtrack import cart as cart_module
from groundtrack import http as http_module
from groundtrack import layers as layers_module
from groundtrack import renewal as renewal_module
from groundtrack import search as search_module
from groundtrack import service as service_module
from groundtrack import transfers
from groundtrack.algorithms import algorithm as algorithm_module
from groundtrack.algorithms import provider as provider_module
from groundtrack.browser import BrowserProvider, Catalogue, Entry
from groundtrack.cart import Cart
from groundtrack.connection import Connection, stored
from groundtrack.dialogs import ShareDialog, SignInDialog, create_link
from groundtrack.errors import NotSignedInError, PluginError, ProblemError
from groundtrack.export import Plan
from groundtrack.geometry import _limited, extent_in_degrees
from groundtrack.layers import Style, add_collection, add_file, add_item, get_item, item_of
from groundtrack.legend import draw as draw_legend, legend_of
from groundtrack.plugin import share_target
from groundtrack.service import Credential, Service
from groundtrack.transfers import download


def drawn(layer: Any, extent: QgsRectangle) -> Any:
    """The layer as an image, by QGIS's own renderer."""
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setOutputSize(QSize(200, 200))
    settings.setDestinationCrs(layer.crs())
    settings.setExtent(extent)
    settings.setBackgroundColor(Qt.GlobalColor.white)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    try:
        until("the drawing", lambda: not job.isActive())
    finally:
        job.cancelWithoutBlocking()
    return job.renderedImage()


def colours(image: Any) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)})


class Listening(QgsProcessingFeedback):
    """What a user reads in the log of an algorithm."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[str] = []

    def reportError(self, error: str, fatalError: bool = False) -> None:  # noqa: N802, N803: QGIS calls it by these names.
        self.errors.append(error)


class Test1SignIn(Case):
    def test_loaded(self) -> None:
        menus = [action.text().replace("&", "") for action in iface.webMenu().actions()]
        self.assertIn("Groundtrack", menus)
        self.assertIsNotNone(QgsApplication.processingRegistry().providerById("groundtrack"))

    def test_wrong_credentials_and_servers(self) -> None:
        connection = Connection()
        before = stored()
        self.fails("does not know this email address and password", lambda: connection.sign_in(URL, EMAIL, "not the password"))
        self.fails("rejected the stored sign-in", lambda: connection.sign_in(URL, "", "svc_abcdefgh_" + "x" * 40))
        self.fails("must begin with https://", lambda: connection.sign_in("imagery.example", EMAIL, PASSWORD))
        self.fails("Enter your email address and password", lambda: connection.sign_in(URL, "", PASSWORD))
        self.fails("No response from http://127.0.0.1:9", lambda: connection.sign_in("http://127.0.0.1:9", EMAIL, PASSWORD))
        self.assertEqual(stored(), before, "what failed is not stored")

    def test_an_old_server_and_another_kind_of_server(self) -> None:
        class Old(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                body = (
                    b"<html>"
                    if self.path.startswith("/other")
                    else json.dumps({"code": "unknown-operation", "status": 404, "title": "Not Found"}).encode()
                )
                self.send_response(404)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Old)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        key = Credential("api-key", "svc_abcdefgh_" + "x" * 40)
        self.fails("is too old for this plugin: it has no projects.list", lambda: Service(address, key).call("projects.list"))
        self.fails("is not a Groundtrack service, or is too old", lambda: Service(f"{address}/other", key).call("projects.list"))
        server.shutdown()

    def test_the_dialog_and_the_store(self) -> None:
        dialog = SignInDialog(plugin().connection)
        dialog.url.setText(URL)
        dialog.user.setText(EMAIL)
        dialog.secret.setText("not the password")
        dialog.accept()
        self.assertIn("does not know", dialog.note.text())
        dialog.secret.setText(PASSWORD)
        dialog.accept()
        self.assertEqual(dialog.result(), 1)
        connection = stored()
        assert connection is not None
        settings = QgsSettings()
        settings.sync()
        with open(settings.fileName(), encoding="utf-8") as file:
            self.assertNotIn(PASSWORD, file.read())
        self.assertIn(connection.credential_id, QgsApplication.authManager().configIds())
        self.assertNotIn(PASSWORD, repr(plugin().connection.service) + repr(Credential(EMAIL, PASSWORD)))

    def test_a_session_that_the_server_ended(self) -> None:
        service = Service(URL, Credential(EMAIL, PASSWORD))
        service.call("projects.list")
        assert service._tokens is not None
        service._tokens = service._tokens._replace(access="ended")
        self.assertTrue(service.call("projects.list")["projects"])


class Test2Browser(Case):
    def test_from_the_panel_to_the_map(self) -> None:
        model = iface.browserModel()

        def child(parent: Any, name: str) -> Any:
            def found() -> Any:
                if model.canFetchMore(parent):
                    model.fetchMore(parent)
                rows = [model.index(row, 0, parent) for row in range(model.rowCount(parent))]
                return next((row for row in rows if str(model.data(row)).startswith(name)), None)

            return until(f"{name} in the Browser panel", found)

        root = next(model.index(row, 0) for row in range(model.rowCount()) if model.data(model.index(row, 0)) == "Groundtrack")
        collection = child(child(root, "Demo"), "Seasons")
        item = child(collection, LAKE)
        for index, provider in [
            (item, "wms"),
            (child(collection, "All of Seasons"), "wms"),
            (child(item, f"{LAKE}, NDVI"), "wms"),
            (child(item, f"{LAKE}, File data"), "gdal"),
        ]:
            mime = model.mimeData([index])
            uri = QgsMimeDataUtils.decodeUriList(mime)[0]
            self.assertEqual(uri.providerKey, provider)
            layer = iface.addRasterLayer(uri.uri, uri.name, uri.providerKey)  # What the window does with a drop.
            self.assertTrue(layer.isValid(), uri.uri)
            if provider == "wms":
                self.assertGreater(colours(drawn(layer, self.lake(layer))), 5, f"{uri.name} is a picture")

    def test_a_failure_is_an_entry(self) -> None:
        catalogue = plugin().catalogue
        seen: list[Any] = []

        def failing() -> list[Any]:
            raise PluginError("The server is away. Try again later.")

        until("the failure", lambda: seen.append(catalogue.children("groundtrack:/nowhere", failing)) or seen[-1][1])
        self.assertEqual(seen[-1], (None, "The server is away. Try again later."))

    def test_without_a_credential(self) -> None:
        """As in the middle of a sign-in: entries of before are there, and nobody is signed in."""
        connection = Connection()
        connection.layers_auth = _refuse  # type: ignore[method-assign]
        catalogue = Catalogue(connection, lambda path: None)
        catalogue._entries["groundtrack:"] = [Entry("1", "Demo", "project")]
        (child,) = BrowserProvider(catalogue).createDataItem("", None).createChildren()
        self.assertEqual((type(child).__name__, child.name()), ("QgsErrorItem", str(NotSignedInError())))


def _refuse() -> str:
    raise NotSignedInError


class Test3Layers(Case):
    def test_legends_say_what_tiles_are_drawn_with(self) -> None:
        service, item_id = plugin().connection.service, item_named(LAKE)["id"]
        ndvi = legend_of(service, item_id, "ndvi")
        told = service.call("items.tile.legend", {"item_id": item_id, "profile": "ndvi"})
        self.assertEqual((ndvi.low, ndvi.high), (told["legend"]["low"], told["legend"]["high"]))
        self.assertEqual([color for _, color in ndvi.stops], told["legend"]["colors"])
        self.assertEqual((ndvi.stops[0][0], ndvi.stops[-1][0], ndvi.title), (0, 1, told["names"][0]))
        natural = legend_of(service, item_id, "default")
        self.assertEqual((natural.stops, len(natural.channels)), ([], 3))
        image = draw_legend(ndvi)
        left, first = image.pixelColor(3, 22), QColor(told["legend"]["colors"][0])
        differences = [abs(left.red() - first.red()), abs(left.green() - first.green()), abs(left.blue() - first.blue())]
        self.assertLess(max(differences), 12, "the bar begins with the first colour")

    def test_styles_and_legends(self) -> None:
        connection = plugin().connection
        natural = add_item(connection, item_named(LAKE))
        ndvi = add_item(connection, item_named(LAKE), Style("ndvi", "NDVI"))
        self.assertNotEqual(drawn(natural, self.lake(natural)), drawn(ndvi, self.lake(ndvi)))
        for layer in (natural, ndvi):
            path = until("a legend", layer.legendPlaceholderImage)
            self.assertTrue(os.path.getsize(path) > 200)
            node = QgsProject.instance().layerTreeRoot().findLayer(layer.id())
            shown = iface.layerTreeView().layerTreeModel().layerLegendNodes(node)
            self.assertEqual([type(each).__name__ for each in shown], ["QgsWmsLegendNode", "QgsImageLegendNode"])
        self.assertEqual(item_of(natural), item_named(LAKE)["id"])

    def test_a_collection(self) -> None:
        service = plugin().connection.service
        seasons = next(each for each in service.call("collections.list", {"project_id": demo_project()}) if each["name"] == "Seasons")
        layer = add_collection(plugin().connection, seasons)
        self.assertGreater(colours(drawn(layer, self.lake(layer))), 5)
        self.assertEqual(share_target(layer), ("collection", seasons["id"]))

    def test_the_file_for_analysis_survives_in_a_project(self) -> None:
        item = item_named(LAKE)
        layer = add_file(plugin().connection, item, {"key": "data", "media_type": "image/tiff"})
        self.assertEqual((layer.providerType(), layer.bandCount()), ("gdal", 12))
        centre = layer.extent().center()
        value = layer.dataProvider().sample(centre, 4)[0]
        self.assertGreater(value, 0)
        plugin().renewal.renew()
        self.assertEqual(layer.dataProvider().sample(centre, 4)[0], value, "also at its renewed address")
        path = os.path.join(WORK, "saved.qgs")
        self.assertTrue(QgsProject.instance().write(path))
        with open(path, encoding="utf-8") as file:
            saved = file.read()
        for secret in ("signature=", "svc_", PASSWORD):
            self.assertFalse(secret in saved, secret)
        QgsProject.instance().clear()
        self.assertTrue(QgsProject.instance().read(path))
        (again,) = QgsProject.instance().mapLayers().values()
        self.assertTrue(again.isValid())
        self.assertEqual(again.dataProvider().sample(centre, 4)[0], value)
        self.assertEqual(item_of(again), item["id"])


class Test4Algorithms(Case):
    def run_algorithm(self, id: str, values: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = processing.run(f"groundtrack:{id}", values)
        return result

    def test_every_process_is_an_algorithm(self) -> None:
        service = plugin().connection.service
        offered = {each["id"] for each in service.call("processing.catalog.list")["processes"] if not each["created_by"]}
        self.assertEqual({each.name() for each in plugin().provider.algorithms()}, offered)
        for algorithm in plugin().provider.algorithms():
            self.assertTrue(algorithm.shortHelpString() and algorithm.group() and algorithm.create(), algorithm.name())

    def test_band_math_within_an_area(self) -> None:
        source = add_file(plugin().connection, item_named(LAKE), {"key": "data", "media_type": "image/tiff"})
        area = QgsVectorLayer("Polygon?crs=EPSG:3857", "Area", "memory")
        feature = QgsFeature()
        centre = source.extent().center()
        half = source.extent().width() / 8
        feature.setGeometry(QgsGeometry.fromRect(QgsRectangle(centre.x() - half, centre.y() - half, centre.x() + half, centre.y() + half)))
        geometry = feature.geometry()
        geometry.transform(QgsCoordinateTransform(source.crs(), area.crs(), QgsProject.instance()))
        feature.setGeometry(geometry)
        area.dataProvider().addFeatures([feature])
        path = os.path.join(WORK, "ndvi.tif")
        result = self.run_algorithm("band_math", {"item_id_layer": source, "expression": "(b8-b4)/(b8+b4)", "geometry": area, "OUTPUT": path})
        made = QgsRasterLayer(result["OUTPUT"], "NDVI", "gdal")
        red, nir = (source.dataProvider().sample(centre, band)[0] for band in (4, 8))
        self.assertAlmostEqual(made.dataProvider().sample(centre, 1)[0], (nir - red) / (nir + red), places=4)
        self.assertLess(made.extent().width(), source.extent().width() / 2)
        self.assertEqual(get_item(plugin().connection.service, result["ITEM_ID"])["job_id"], result["JOB_ID"])

    def test_hillshade_and_contours(self) -> None:
        mountains = item_named(MOUNTAINS)["id"]
        shade = self.run_algorithm("hillshade", {"item_id": mountains, "azimuth": 315, "OUTPUT": os.path.join(WORK, "shade.tif")})
        self.assertTrue(QgsRasterLayer(shade["OUTPUT"], "Hillshade", "gdal").isValid())
        for name in ("contours.gpkg", "contours.geojson"):
            lines = self.run_algorithm("contour", {"item_id": mountains, "interval": 200, "OUTPUT": os.path.join(WORK, name)})
            layer = QgsVectorLayer(lines["OUTPUT"], "Contours", "ogr")
            self.assertGreater(layer.featureCount(), 5)
            self.assertTrue(all(feature["elev"] % 200 == 0 for feature in layer.getFeatures()))
            self.assertFalse(os.path.exists(f"{lines['OUTPUT']}.geojson"))

    def test_in_a_model(self) -> None:
        model = QgsProcessingModelAlgorithm("Shade of a slope", "tests")
        static = QgsProcessingModelChildParameterSource.fromStaticValue
        slope = QgsProcessingModelChildAlgorithm("groundtrack:slope")
        slope.setChildId("slope")
        slope.addParameterSources("item_id", [static(item_named(MOUNTAINS)["id"])])
        resample = QgsProcessingModelChildAlgorithm("groundtrack:band_math")
        resample.setChildId("math")
        resample.addParameterSources("item_id", [QgsProcessingModelChildParameterSource.fromChildOutput("slope", "ITEM_ID")])
        resample.addParameterSources("expression", [static("b1*2")])
        output = QgsProcessingModelOutput("Doubled")
        output.setChildId("math")
        output.setChildOutputName("OUTPUT")
        resample.setModelOutputs({"Doubled": output})
        for child in (slope, resample):
            model.addChildAlgorithm(child)
        model.updateDestinationParameters()
        name = next(each.name() for each in model.destinationParameterDefinitions())
        result = processing.run(model, {name: os.path.join(WORK, "doubled.tif")})
        self.assertTrue(QgsRasterLayer(result[name], "Doubled", "gdal").isValid())

    def test_in_batch(self) -> None:
        """As a user fills in the table of Processing's own batch window."""
        from processing.gui.BatchAlgorithmDialog import BatchAlgorithmDialog

        algorithm = QgsApplication.processingRegistry().createAlgorithmById("groundtrack:hillshade")
        dialog = BatchAlgorithmDialog(algorithm, iface.mainWindow())
        panel, mountains, context = dialog.mainWidget(), item_named(MOUNTAINS)["id"], QgsProcessingContext()
        paths = [os.path.join(WORK, f"batch-{azimuth}.tif") for azimuth in (90, 270)]
        while panel.batchRowCount() < len(paths):
            panel.addRow()
        for row, (azimuth, path) in enumerate(zip((90, 270), paths)):
            for name, value in (("item_id", mountains), ("azimuth", azimuth)):
                panel.wrappers[row][panel.parameter_to_column[name]].setParameterValue(value, context)
            panel.tblParameters.cellWidget(row + 1, panel.parameter_to_column["OUTPUT"]).setValue(path)
        dialog.show()
        dialog.runAlgorithm()
        until("both results", lambda: all(os.path.exists(path) for path in paths))
        until("their layers", lambda: len(QgsProject.instance().mapLayers()) >= 2 or not panel.checkLoadLayersOnCompletion.isChecked())
        east, west = (QgsRasterLayer(path, "Hillshade", "gdal") for path in paths)
        self.assertTrue(east.isValid() and west.isValid())
        samples = [[layer.dataProvider().sample(layer.extent().center(), 1)[0]] for layer in (east, west)]
        self.assertNotEqual(drawn(east, east.extent()), drawn(west, west.extent()), samples)
        dialog.close()

    def test_failures_are_sentences_and_start_nothing(self) -> None:
        service = plugin().connection.service
        jobs = service.call("processing.jobs.list", {})["total"]
        mountains = item_named(MOUNTAINS)["id"]
        local = QgsRasterLayer(tiff(os.path.join(WORK, "local.tif")), "Local", "gdal")
        area = QgsVectorLayer("Polygon", "No CRS", "memory")
        area.setCrs(QgsCoordinateReferenceSystem())
        for id, values, words in [
            ("slope", {"item_id": mountains, "MAX_CREDITS": 0}, "above the maximum of 0"),
            ("slope", {"item_id_layer": local}, "Local is not a layer of Groundtrack"),
            ("slope", {}, "select a layer of Groundtrack"),
            ("band_math", {"item_id": mountains, "expression": "b1 +"}, "expression"),
            ("band_math", {"item_id": mountains, "expression": "b1", "geometry": area}, "has no CRS"),
            ("mosaic", {"item_ids": mountains, "bands": "one"}, "cannot be read"),
        ]:
            feedback = Listening()
            with self.assertRaises(QgsProcessingException) as caught:
                processing.run(f"groundtrack:{id}", {**values, "OUTPUT": "TEMPORARY_OUTPUT"}, feedback=feedback)
            said = " ".join([*feedback.errors, str(caught.exception)])
            self.assertIn(words, said)
            self.assertNotIn("Traceback", said)
        self.assertEqual(service.call("processing.jobs.list", {})["total"], jobs)

    def test_cancel(self) -> None:
        class Impatient(QgsProcessingFeedback):
            def pushInfo(self, info: str) -> None:
                if info.startswith("Job "):
                    self.job = info.split()[1]
                    self.cancel()

        feedback = Impatient()
        algorithm = QgsApplication.processingRegistry().createAlgorithmById("groundtrack:cog_convert")
        context = QgsProcessingContext()
        results, is_done = algorithm.run({"item_id": item_named(LAKE)["id"], "OUTPUT": "TEMPORARY_OUTPUT"}, context, feedback)
        status = plugin().connection.service.call("processing.job.get", {"job_id": feedback.job})["job"]["status"]
        self.assertEqual((results.get("OUTPUT"), status), (None, "cancelled"))


class Test5SearchAndOrder(Case):
    def search(self) -> Any:
        dock = plugin().dock
        canvas = iface.mapCanvas()
        canvas.setDestinationCrs(QgsCoordinateReferenceSystem("EPSG:4326"))
        canvas.setExtent(QgsRectangle(2.29, 48.195, 2.31, 48.205))
        dock.any_date.setChecked(True)
        dock.cloud.setValue(100)
        dock.scenes = []
        dock.search()
        until("scenes", lambda: dock.scenes)
        until("the buttons", dock.search_button.isEnabled)
        return dock

    def test_search_cart_price_order_delivery(self) -> None:
        dock, service = self.search(), plugin().connection.service
        self.assertEqual(dock.layer.featureCount(), len(dock.scenes))
        for_sale = [scene for scene in dock.scenes if scene.is_for_sale]
        self.assertTrue(for_sale and all(scene.price > 0 for scene in for_sale))
        images = until("thumbnails", lambda: [feature["thumbnail"] for feature in dock.layer.getFeatures() if feature["thumbnail"]])
        self.assertTrue(all(os.path.getsize(path) > 100 for path in images))
        dates = [scene.date for scene in dock.scenes]
        self.assertEqual(dates, sorted(dates, reverse=True))

        cheapest = min(for_sale, key=lambda scene: scene.price)
        for row in range(dock.results.count()):
            dock.results.item(row).setSelected(dock.results.item(row).data(Qt.ItemDataRole.UserRole) == cheapest.id)
        self.assertEqual([feature["id"] for feature in dock.layer.selectedFeatures()], [cheapest.id])
        dock.add_selected()
        self.assertEqual(len(dock.cart), 1)

        orders, balance = service.call("orders.list", {})["totalElements"], service.call("billing.credits.balance")
        asked: list[Any] = []
        dock._confirm = lambda quoted, project, parent: bool(asked.append(quoted))
        dock.order()
        until("the question", lambda: asked)
        until("the buttons", dock.order_button.isEnabled)
        self.assertIn("credits", dock.total.text())
        self.assertEqual(service.call("orders.list", {})["totalElements"], orders, "no is no")

        dock.project.setCurrentIndex(dock.project.findText("Demo"))
        dock._confirm = lambda quoted, project, parent: project == "Demo"
        before = len(QgsProject.instance().mapLayers())
        dock.order()
        order_id = until("the order", lambda: dock.placed and dock.placed[-1])
        order = service.call("orders.get", {"id": order_id})
        self.assertEqual(order["displayName"], "Ordered in QGIS")
        self.assertEqual(len(dock.cart), 0)
        until("the delivered image on the map", lambda: len(QgsProject.instance().mapLayers()) > before)
        after = service.call("billing.credits.balance")
        self.assertEqual(_total(balance) - _total(after), asked[0].credits, "exactly the price that was confirmed")

    def test_what_cannot_be_bought(self) -> None:
        dock = self.search()
        self.fails("The cart is empty", Cart().captures)
        scene = next(scene for scene in dock.scenes if scene.is_for_sale)
        self.fails("outside the area that was searched", lambda: Cart().add(scene, [100, 10, 101, 11]))
        self.fails("Open scenes cost nothing", lambda: Cart().add(scene._replace(price=None), [2.29, 48.195, 2.31, 48.205]))
        self.fails("The map shows no area", lambda: extent_in_degrees(QgsRectangle(), QgsCoordinateReferenceSystem("EPSG:4326")))


class Test6Upload(Case):
    def upload(self, layer: QgsRasterLayer) -> str:
        plugin().start_upload(Plan(layer), demo_project())
        said = until("the upload", lambda: next((text for text in messages if "was uploaded as item" in text), None))
        return said.rstrip(".").split()[-1]

    def test_a_file_and_a_layer_with_its_own_crs(self) -> None:
        service = plugin().connection.service
        stated = QgsRasterLayer(tiff(os.path.join(WORK, "stated.tif"), size=2000), "Stated fields", "gdal")
        item = get_item(service, self.upload(stated))
        self.assertEqual(item["name"], "Stated fields")
        messages.clear()
        chosen = QgsRasterLayer(tiff(os.path.join(WORK, "chosen.tif"), epsg=None), "Chosen CRS", "gdal")
        chosen.setCrs(QgsCoordinateReferenceSystem("EPSG:32631"))
        item = get_item(service, self.upload(chosen))
        self.assertAlmostEqual(item["bbox"][0], 2.3, delta=0.2)
        self.assertEqual([name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("groundtrack-upload-")], [])

    def test_a_store_that_stays_away(self) -> None:
        service, tries = plugin().connection.service, list[float]()

        def away(*_: Any) -> Any:
            raise transfers.http.NetworkError("the store", "refused")

        with patched(transfers, _back_off=lambda failures, feedback: tries.append(failures)), patched(transfers.http, put=away):
            self.fails(
                "No response from the store",
                lambda: transfers.upload(
                    service,
                    tiff(os.path.join(WORK, "away.tif")),
                    demo_project(),
                    name="away.tif",
                    progress=lambda percent: None,
                    feedback=QgsProcessingFeedback(),
                ),
            )
        self.assertEqual(len(tries), transfers.MAX_FAILURES)
        newest = service.call("uploads.list", {"project_id": demo_project()})["uploads"][0]
        self.assertEqual((newest["status"], newest["reserved_bytes"]), ("failed", 0))

    def test_what_cannot_be_uploaded(self) -> None:
        nowhere = QgsRasterLayer(tiff(os.path.join(WORK, "nowhere.tif"), epsg=None), "Nowhere", "gdal")
        nowhere.setCrs(QgsCoordinateReferenceSystem())
        self.fails("Nowhere has no CRS", lambda: Plan(nowhere))
        self.fails("No layer is selected", lambda: Plan(None))
        self.fails("is not a raster layer", lambda: Plan(QgsVectorLayer("Point", "Points", "memory")))
        self.fails("is an online map", lambda: Plan(add_item(plugin().connection, item_named(LAKE))))

    def test_a_failure_leaves_nothing(self) -> None:
        service = plugin().connection.service
        path = os.path.join(WORK, "broken.tif")
        layer = QgsRasterLayer(tiff(path), "Broken", "gdal")
        plan = Plan(layer)
        plan.export = lambda feedback: _Garbage(path)  # type: ignore[method-assign]
        before = service.call("usage.current")["storage_bytes"]
        plugin().start_upload(plan, demo_project())
        until("the failure", lambda: any("not" in text and "." in text and "uploads." not in text for text in messages))
        newest = service.call("uploads.list", {"project_id": demo_project()})["uploads"][0]
        self.assertEqual((newest["status"], newest["reserved_bytes"]), ("failed", 0))
        self.assertEqual(service.call("usage.current")["storage_bytes"], before)


class _Garbage:
    """A file that is no image."""

    def __init__(self, path: str) -> None:
        self.path = f"{path}.garbage"
        with open(self.path, "wb") as file:
            file.write(b"This is not a GeoTIFF." * 100)

    def discard(self) -> None:
        os.unlink(self.path)


class Test7Share(Case):
    def test_a_link_that_opens(self) -> None:
        layer = add_item(plugin().connection, item_named(LAKE))
        dialog = ShareDialog(plugin().connection.service, share_target(layer), layer.name())
        dialog.accept()
        link = dialog.link.text()
        self.assertTrue(link.startswith(f"{URL}/s/"))
        with urllib.request.urlopen(link) as response:
            self.assertEqual(response.status, 200)
        self.fails("password", lambda: create_link(plugin().connection.service, share_target(layer), "short", 3, False))
        self.fails("is not a layer of Groundtrack", lambda: share_target(QgsVectorLayer("Point", "Points", "memory")))


class Test8Bounds(Case):
    """Every loop and buffer of the plugin ends, whatever a server sends; docs/bounds.md lists the limits."""

    def test_attempts_and_the_time_between_them(self) -> None:
        busy = {"code": "overloaded", "status": 503, "title": "Busy", "detail": "Busy. Try again later"}
        with answering(lambda path, body: (503, busy)) as (service, asked):
            for is_keyed in (False, True):
                self.fails("Try again later", lambda is_keyed=is_keyed: service.call("projects.list", is_keyed=is_keyed))  # type: ignore[misc]
        self.assertEqual(len(asked), 2 * 4)
        with answering(lambda path, body: (502, b"<html>")) as (service, asked):
            self.fails("is not a Groundtrack service", lambda: service.call("projects.create"))
        self.assertEqual(len(asked), 1, "what may have run is not repeated without a key")
        late = http_module.Response(503, {"retry-after": "86400"}, json.dumps(busy).encode())
        self.assertEqual(service_module.problem_of(late, "x", "y").retry_after, 30)

    def test_the_size_of_a_response(self) -> None:
        self.assertEqual(http_module.MAX_BYTES, 256 * 1024 * 1024)
        with patched(http_module, MAX_BYTES=1_000_000), answering(lambda path, body: (200, b"x" * 2_000_000)) as (service, _):
            self.fails("sent more than 0 MiB at once", lambda: service.call("projects.list"))

    def test_lists(self) -> None:
        self.assertEqual((service_module.PAGE, service_module.MAX_RECORDS), (500, 10_000))
        page = {"items": [{"id": "1"}, {"id": "2"}], "total": 10**9}
        with patched(service_module, PAGE=2, MAX_RECORDS=7), answering(lambda path, body: (200, page)) as (service, asked):
            self.assertEqual((len(service.pages("items.list", {}, "items")), len(asked)), (7, 4))
        self.assertTrue(any("only the first 7 of 1000000000 are shown" in text for text in messages))

    def test_scenes_thumbnails_and_the_cart(self) -> None:
        ring = [[2.29, 48.19], [2.31, 48.19], [2.31, 48.21], [2.29, 48.21], [2.29, 48.19]]
        links = [{"rel": "thumbnail", "href": "x"}]

        def feature(host: str, index: int) -> dict[str, Any]:
            properties = {"hostName": host, "datetime": "2026-01-01T00:00:00Z", "creditsPerSqKm": 10}
            return {"id": f"{host}-{index}", "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": properties, "links": links}

        def answer(path: str, body: Any) -> tuple[int, Any]:
            if path.endswith("catalog.sources.list"):
                names = ("one", "two")
                return 200, {"sources": [{"id": n, "host_name": n, "title": n, "access_model": "commercial"} for n in names]}
            if path.endswith("catalog.search"):
                self.assertEqual(body["limit"], 200)
                return 200, {"features": [feature(body["host_name"], index) for index in range(300)]}
            return 200, b"an image"

        with answering(answer) as (service, asked):
            found = search_module.search(service, search_module.Query([2.2, 48.1, 2.4, 48.3], None, None), QgsProcessingFeedback())
            self.assertEqual(len(found), 400, "200 of each source")
            saved = search_module.thumbnails(service, found, WORK, QgsProcessingFeedback(), lambda percent: None)
        self.assertEqual((len(saved), sum("thumbnail" in path for path in asked)), (40, 40))
        self.assertEqual(search_module.layer_of(found).featureCount(), 400)
        cart = Cart()
        for scene in found[:200]:
            cart.add(scene, [2.29, 48.19, 2.31, 48.21])
        self.fails("at most 200 scenes", lambda: cart.add(found[200], [2.29, 48.19, 2.31, 48.21]))

    def test_waits_end(self) -> None:
        naps: list[float] = []
        nap = {"wait": lambda seconds, feedback: naps.append(seconds)}
        feedback = QgsProcessingFeedback()
        with answering(lambda path, body: (200, {"status": "processing", "files": [{"name": "x", "state": "converting"}]})) as (service, _):
            with patched(cart_module, MAX_WAIT_SECONDS=600.0, **nap):
                self.assertEqual(cart_module.await_delivery(service, "1", feedback)["status"], "processing")
            self.assertTrue(600 <= sum(naps) <= 630 and max(naps) == 30, naps)
            naps.clear()
            with patched(transfers, MAX_CONVERSION_SECONDS=300.0, **nap):
                self.fails("still being converted", lambda: transfers._await_conversion(service, "1", feedback))
            self.assertTrue(300 <= sum(naps) <= 310 and max(naps) == 10, naps)
            naps.clear()
            algorithm = plugin().provider.algorithms()[0].create()
            with patched(algorithm_module, MAX_WAIT_SECONDS=300.0, **nap):
                self.fails("has not ended after a day", lambda: algorithm._await_end(service, {"jobID": "1"}, feedback))
            self.assertTrue(300 <= sum(naps) <= 305 and max(naps) == 5, naps)
        limits = (cart_module.MAX_WAIT_SECONDS, transfers.MAX_CONVERSION_SECONDS, algorithm_module.MAX_WAIT_SECONDS)
        self.assertEqual(limits, (6 * 3600, 3600, 24 * 3600))
        self.assertEqual((transfers.CHUNK_BYTES, transfers.MAX_FAILURES), (8 * 1024 * 1024, 5))

    def test_what_is_kept(self) -> None:
        for index in range(1_100):
            layers_module.remember_path(f"/nowhere/{index}", str(index))
        self.assertEqual(len(layers_module._paths), 1_000)
        before = provider_module.kept()
        try:
            provider_module.keep([{"id": str(index)} for index in range(600)])
            self.assertEqual(len(provider_module.kept()), 500)
        finally:
            provider_module.keep(before)

    def test_renewals(self) -> None:
        layers = [QgsRasterLayer("/vsicurl/http://127.0.0.1:9/x", str(index), "gdal") for index in range(60)]
        for layer in layers:
            layers_module.mark(layer, "item", "data")
        renewed: list[str] = []
        with patched(renewal_module, signed_address=lambda service, item_id, key: renewed.append(item_id) or "http://127.0.0.1:9/y"):
            plugin().renewal._renew(layers)
        self.assertEqual(len(renewed), 50)

    def test_vertices(self) -> None:
        circle = QgsGeometry.fromPointXY(QgsPointXY(2.3, 48.2)).buffer(0.01, 2_000)
        self.assertGreater(circle.constGet().nCoordinates(), 5_000)
        simple = _limited(circle, "Area")  # Held, because it owns what constGet returns.
        self.assertLessEqual(simple.constGet().nCoordinates(), 999)


class Test8FullDisk(Case):
    def test_one_sentence_and_no_file(self) -> None:
        path = os.path.join(WORK, "full.tif")
        os.symlink("/dev/full", f"{path}.part")  # Every write to it fails as on a full disk.
        service = plugin().connection.service
        self.fails(
            "is full",
            lambda: download(service, item_named(LAKE)["id"], {"key": "data"}, path, progress=lambda percent: None, feedback=QgsProcessingFeedback()),
        )
        self.assertFalse(os.path.lexists(f"{path}.part") or os.path.exists(path))


class Test9SignOut(Case):
    def test_nothing_is_left(self) -> None:
        connection = plugin().connection
        layers_id = connection.layers_auth()
        config = QgsAuthMethodConfig()
        QgsApplication.authManager().loadAuthenticationConfig(layers_id, config, True)
        key = config.config("password")

        def status() -> int:
            request = urllib.request.Request(f"{URL}/v1/event-types", headers={"x-api-key": key})
            try:
                with urllib.request.urlopen(request) as response:
                    return int(response.status)
            except urllib.error.HTTPError as error:
                return error.code

        self.assertEqual(status(), 200)
        with self.assertRaises(ProblemError):
            Service(URL, Credential("api-key", key)).call("projects.create", {"name": "Not with a key that can only read"})
        connection.sign_out()
        self.assertEqual(status(), 401, "the key for layers is revoked")
        self.assertIsNone(stored())
        self.assertEqual(QgsApplication.authManager().configIds(), [])
        self.fails("You are not signed in", lambda: connection.service)
        until("no algorithms", lambda: not plugin().provider.algorithms())


def _total(balance: dict[str, Any]) -> int:
    return int(balance["available_credits"])
