"""What the plugin adds to QGIS: a menu, the search panel, a branch of the Browser panel, and a Processing provider."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from qgis.core import QgsApplication, QgsFeedback, QgsMapLayer, QgsProject
from qgis.PyQt.QtCore import Qt, QUrl
from qgis.PyQt.QtGui import QDesktopServices
from qgis.PyQt.QtWidgets import QAction, QDialog

from . import layers, tasks
from .algorithms.provider import GroundtrackProvider
from .browser import BrowserProvider, Catalogue
from .connection import Connection
from .dialogs import ShareDialog, SignInDialog, UploadDialog
from .errors import PluginError
from .export import Plan
from .icons import icon
from .legend import Legend, attach, legend_of
from .log import Messages
from .renewal import Renewal
from .search_dock import SearchDock
from .transfers import upload

MENU = "Groundtrack"


class GroundtrackPlugin:
    """`iface` is QGIS's main window; without one, as in qgis_process, only Processing is added."""

    def __init__(self, iface: Any) -> None:
        self._iface = iface
        self.messages = Messages(iface)
        self.connection = Connection()
        self.catalogue = Catalogue(self.connection, self._refresh_browser)
        self.provider: GroundtrackProvider | None = None
        self.browser: BrowserProvider | None = None
        self.dock: SearchDock | None = None
        self.renewal: Renewal | None = None
        self._actions: list[QAction] = []

    def initProcessing(self) -> None:  # noqa: N802: QGIS calls it by this name.
        self.provider = GroundtrackProvider(self.connection)
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self) -> None:  # noqa: N802: QGIS calls it by this name.
        self.initProcessing()
        self.browser = BrowserProvider(self.catalogue)
        QgsApplication.dataItemProviderRegistry().addProvider(self.browser)
        self.renewal = Renewal(self.connection, self.messages.failure)
        self.connection.on_change(self._connection_changed)
        QgsProject.instance().layersAdded.connect(self.add_legends)
        window = self._iface.mainWindow()
        self.dock = SearchDock(self.connection, self._iface.mapCanvas(), self.messages, window)
        self._iface.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.dock.hide()
        self._action("Search and order…", "search", self.show_search, in_toolbar=True)
        self._action("Upload layer…", "upload", self.upload_layer, in_toolbar=True)
        self._action("Share layer…", "share", self.share_layer, in_toolbar=True)
        self._action("Add the file of the layer", "item", self.add_file)
        self._action("Sign in…", "icon", self.sign_in)
        self._action("Sign out", "icon", self.sign_out)
        self._action("Help", "icon", self.show_help)

    def _action(self, text: str, name: str, run: Callable[[], None], in_toolbar: bool = False) -> None:
        action = QAction(icon(name), text, self._iface.mainWindow())
        action.triggered.connect(lambda checked=False: self._guard(run))
        self._iface.addPluginToWebMenu(MENU, action)
        if in_toolbar:
            self._iface.addWebToolBarIcon(action)
        self._actions.append(action)

    def _guard(self, run: Callable[[], object]) -> None:
        try:
            run()
        except Exception as error:
            self.messages.failure(error)

    def unload(self) -> None:
        tasks.cancel_all()
        if self.provider is not None:
            QgsApplication.processingRegistry().removeProvider(self.provider)
        if self.browser is not None:
            QgsApplication.dataItemProviderRegistry().removeProvider(self.browser)
        if self.renewal is not None:
            self.renewal.stop()
            QgsProject.instance().layersAdded.disconnect(self.add_legends)
        for action in self._actions:
            self._iface.removePluginWebMenu(MENU, action)
            self._iface.removeWebToolBarIcon(action)
        if self.dock is not None:
            self.dock.stop()
            self._iface.removeDockWidget(self.dock)
            self.dock.deleteLater()
        self.provider, self.browser, self.renewal, self.dock, self._actions = None, None, None, None, []

    def _refresh_browser(self, path: str) -> None:
        model = self._iface.browserModel() if self._iface is not None else None
        if model is not None:
            model.refresh(path)

    def _connection_changed(self) -> None:
        self.catalogue.clear()
        self._refresh_browser("groundtrack:")
        if self.provider is not None:
            self.provider.update(self.messages.failure)

    def sign_in(self) -> None:
        dialog = SignInDialog(self.connection, self._iface.mainWindow())
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.messages.success(f"Signed in to {self.connection.url}.")

    def sign_out(self) -> None:
        self.connection.sign_out()
        self.messages.success("Signed out. The stored credentials were removed.")

    def show_search(self) -> None:
        assert self.dock is not None
        self.dock.fill_projects()
        self.dock.show()
        self.dock.raise_()

    def add_legends(self, added: list[QgsMapLayer]) -> None:
        """Each WMTS layer of an item gets the legend of its style."""
        for layer in added:
            if layer.providerType() == "wms" and layers.item_of(layer) and self.connection.is_stored and layer.source().find("/wmts/") >= 0:
                self._guard(lambda layer=layer: self._add_legend(layer))  # type: ignore[misc]

    def _add_legend(self, layer: QgsMapLayer) -> None:
        service, item_id, style, id = self.connection.service, str(layers.item_of(layer)), layers.style_of(layer), layer.id()

        def show(legend: Legend | None) -> None:
            present = QgsProject.instance().mapLayer(id)
            if legend is not None and present is not None:
                self._guard(lambda: attach(present, legend))

        tasks.run("Groundtrack: legend", lambda feedback, progress: legend_of(service, item_id, style), show, self.messages.failure)

    def upload_layer(self) -> None:
        plan, service = Plan(self._iface.activeLayer()), self.connection.service
        dialog = UploadDialog(service, plan.title, self._iface.mainWindow())
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.start_upload(plan, dialog.project.currentData(), dialog.collection.currentData())

    def start_upload(self, plan: Plan, project_id: str, collection_id: str = "") -> None:
        service = self.connection.service

        def work(feedback: QgsFeedback, progress: Callable[[float], None]) -> str:
            exported = plan.export(feedback)
            try:
                return upload(
                    service, exported.path, project_id, name=plan.file_name, collection_id=collection_id or None, progress=progress, feedback=feedback
                )
            finally:
                exported.discard()

        def done(item_id: str) -> None:
            self.catalogue.forget(f"groundtrack:/{project_id}")
            self._refresh_browser(f"groundtrack:/{project_id}")
            self.messages.success(f"{plan.title} was uploaded as item {item_id}.")

        tasks.run(f"Groundtrack: upload of {plan.title}", work, done, self.messages.failure)

    def share_layer(self) -> None:
        target = share_target(self._iface.activeLayer())
        ShareDialog(self.connection.service, target, self._iface.activeLayer().name(), self._iface.mainWindow()).exec()

    def add_file(self) -> None:
        """The file behind the selected layer, for analysis."""
        layer = self._iface.activeLayer()
        item_id = None if layer is None else layers.item_of(layer)
        if item_id is None:
            raise PluginError("Select a layer of a Groundtrack item first.")
        service = self.connection.service
        assets = [asset for asset in service.call("items.list_assets", {"item_id": item_id}) if layers.is_file(asset)]
        if not assets:
            raise PluginError("This item has no file that QGIS can open.")
        layers.add_file(self.connection, layers.get_item(service, item_id), next((each for each in assets if each["key"] == "data"), assets[0]))

    def show_help(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(os.path.join(os.path.dirname(__file__), "help", "index.html")))


def share_target(layer: QgsMapLayer | None) -> tuple[str, str]:
    if layer is None:
        raise PluginError("No layer is selected. Select a layer of Groundtrack in the Layers panel.")
    collection_id = layers.collection_of(layer)
    if collection_id is not None:
        return "collection", collection_id
    item_id = layers.item_of(layer)
    if item_id is None:
        raise PluginError(f"{layer.name()} is not a layer of Groundtrack. Upload it first, under Web > Groundtrack > Upload layer.")
    return "item", item_id
