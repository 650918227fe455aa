"""The search panel: what to search, what was found, and the cart."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from qgis.core import QgsFeedback, QgsProject, QgsVectorLayer
from qgis.PyQt.QtCore import QDate, QSize, Qt
from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDateEdit,
    QDockWidget,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from . import tasks
from .cart import Cart, Quote, await_delivery, place, quote
from .connection import Connection
from .dialogs import confirm_order, project_box
from .errors import PluginError
from .geometry import extent_in_degrees
from .layers import add_item, get_item
from .log import Messages
from .search import Query, Scene, illustrate, layer_of, new_folder, search, thumbnails

THUMBNAIL_PX = 72
DAYS_BACK = 365


class SearchDock(QDockWidget):
    """`canvas` gives the area; `confirm` asks before an order, so that a test can answer."""

    def __init__(
        self,
        connection: Connection,
        canvas: Any,
        messages: Messages,
        parent: QWidget | None = None,
        confirm: Callable[[Quote, str, QWidget | None], bool] = confirm_order,
    ) -> None:
        super().__init__("Groundtrack", parent)
        self.setObjectName("GroundtrackSearch")
        self._connection, self._canvas, self._messages, self._confirm = connection, canvas, messages, confirm
        self.cart = Cart()
        self.scenes: list[Scene] = []
        self._layer_id = ""
        self.placed: list[str] = []
        self._box: list[float] = []
        self._folders: list[str] = []
        self._build()

    def _build(self) -> None:
        body = QWidget()
        layout = QVBoxLayout(body)
        form = QFormLayout()
        today = QDate.currentDate()
        self.start, self.end = QDateEdit(today.addDays(-DAYS_BACK)), QDateEdit(today)
        for date in (self.start, self.end):
            date.setCalendarPopup(True)
            date.setDisplayFormat("yyyy-MM-dd")
        self.cloud = QSpinBox()
        self.cloud.setRange(0, 100)
        self.cloud.setValue(30)
        self.cloud.setSuffix(" %")
        self.any_date = QCheckBox("Any date")
        form.addRow("From", self.start)
        form.addRow("To", self.end)
        form.addRow("", self.any_date)
        form.addRow("Clouds up to", self.cloud)
        layout.addLayout(form)
        self.search_button = _button("Search in the map extent", self.search, layout)
        self.results = _list(layout)
        self.results.itemSelectionChanged.connect(self._show_selected)
        row = QHBoxLayout()
        self.add_button = _button("Add to cart", self.add_selected, row)
        self.save_button = _button("Save open scene", self.save_selected, row)
        layout.addLayout(row)
        self.cart_list = _list(layout)
        self.cart_list.setMaximumHeight(120)
        self.total = QLabel("The cart is empty.")
        self.total.setWordWrap(True)
        layout.addWidget(self.total)
        self.project = QComboBox()
        layout.addWidget(self.project)
        row = QHBoxLayout()
        self.remove_button = _button("Remove", self.remove_selected, row)
        self.price_button = _button("Price", self.price, row)
        self.order_button = _button("Order…", self.order, row)
        layout.addLayout(row)
        self.setWidget(body)

    @property
    def layer(self) -> QgsVectorLayer | None:
        """The footprints; None if the user has removed them, or opened another project."""
        found: QgsVectorLayer | None = QgsProject.instance().mapLayer(self._layer_id)
        return found

    def fill_projects(self) -> None:
        filled = project_box(self._connection.service)
        self.project.clear()
        for index in range(filled.count()):
            self.project.addItem(filled.itemText(index), filled.itemData(index))

    def stop(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, title: str, work: Callable[[QgsFeedback, Callable[[float], None]], Any], then: Callable[[Any], None]) -> None:
        """Buttons wait for the work, so that nobody starts it twice."""
        buttons = (self.search_button, self.price_button, self.order_button, self.save_button)
        for button in buttons:
            button.setEnabled(False)

        def done(result: Any) -> None:
            for button in buttons:
                button.setEnabled(True)
            try:
                then(result)
            except Exception as error:
                self._messages.failure(error)

        def failed(error: BaseException) -> None:
            for button in buttons:
                button.setEnabled(True)
            self._messages.failure(error)

        tasks.run(f"Groundtrack: {title}", work, done, failed)

    def query(self) -> Query:
        settings = self._canvas.mapSettings()
        box = extent_in_degrees(settings.visibleExtent(), settings.destinationCrs())
        if self.start.date() > self.end.date():
            raise PluginError("The first date is after the last one. Swap them, then search again.")
        dates = f"{self.start.date().toString('yyyy-MM-dd')}/{self.end.date().toString('yyyy-MM-dd')}"
        return Query(box, None if self.any_date.isChecked() else dates, self.cloud.value())

    def search(self) -> None:
        try:
            service, query = self._connection.service, self.query()
            if self.project.count() == 0:
                self.fill_projects()
        except Exception as error:
            return self._messages.failure(error)

        def show(scenes: list[Scene]) -> None:
            self._box = query.box
            self._show(scenes)
            folder = new_folder()
            self._folders.append(folder)
            tasks.run(
                "Groundtrack: thumbnails",
                lambda feedback, progress: thumbnails(service, scenes, folder, feedback, progress),
                self._illustrate,
                self._messages.failure,
            )

        self._run("search", lambda feedback, progress: search(service, query, feedback), show)

    def _show(self, scenes: list[Scene]) -> None:
        self.scenes = scenes
        self.results.clear()
        for scene in scenes:
            item = QListWidgetItem(_line(scene))
            item.setData(Qt.ItemDataRole.UserRole, scene.id)
            self.results.addItem(item)
        if self.layer is not None:
            QgsProject.instance().removeMapLayer(self._layer_id)
        layer = layer_of(scenes)
        self._layer_id = layer.id()
        QgsProject.instance().addMapLayer(layer)
        self._messages.success(f"{len(scenes)} scenes found." if scenes else "No scenes found. Search a longer time, or allow more clouds.")

    def _illustrate(self, images: dict[str, str]) -> None:
        """Thumbnails come after the scenes, which nobody should wait for."""
        for row in range(self.results.count()):
            item = self.results.item(row)
            path = images.get(item.data(Qt.ItemDataRole.UserRole))
            if path is not None:
                item.setIcon(QIcon(path))
        if self.layer is not None:
            illustrate(self.layer, images)

    def _selected(self) -> list[Scene]:
        ids = {item.data(Qt.ItemDataRole.UserRole) for item in self.results.selectedItems()}
        return [scene for scene in self.scenes if scene.id in ids]

    def _show_selected(self) -> None:
        """The footprints of what is selected in the list are selected on the map."""
        if self.layer is None:
            return
        ids = ",".join("'" + scene.id.replace("'", "''") + "'" for scene in self._selected())
        self.layer.selectByExpression(f'"id" in ({ids})') if ids else self.layer.removeSelection()

    def add_selected(self) -> None:
        try:
            chosen = self._selected()
            if not chosen:
                raise PluginError("Nothing is selected. Select scenes in the list first.")
            for scene in chosen:
                self.cart.add(scene, self._box)
        except Exception as error:
            self._messages.failure(error)
        self._show_cart()

    def remove_selected(self) -> None:
        for item in self.cart_list.selectedItems():
            self.cart.remove(item.data(Qt.ItemDataRole.UserRole))
        self._show_cart()

    def _show_cart(self, words: str | None = None) -> None:
        self.cart_list.clear()
        for scene in self.cart.scenes:
            item = QListWidgetItem(_line(scene))
            item.setData(Qt.ItemDataRole.UserRole, scene.id)
            self.cart_list.addItem(item)
        count = len(self.cart)
        self.total.setText(
            words or ("The cart is empty." if count == 0 else f"{count} scene{'' if count == 1 else 's'}, cut to the area that was searched.")
        )

    def price(self, then: Callable[[Quote], None] | None = None) -> None:
        try:
            service, captures = self._connection.service, self.cart.captures()
        except Exception as error:
            return self._messages.failure(error)

        def show(quoted: Quote) -> None:
            self._show_cart(f"Price: {quoted.text}")
            if callable(then):
                then(quoted)

        self._run("price", lambda feedback, progress: quote(service, captures, feedback), show)

    def order(self) -> None:
        """Asks for the price first, then for a confirmation of exactly that price."""
        self.price(self._confirm_and_place)

    def _confirm_and_place(self, quoted: Quote) -> None:
        project_id = self.project.currentData()
        if not project_id:
            raise PluginError("You have no project to deliver to. Create one in the console first.")
        if not self._confirm(quoted, self.project.currentText(), self):
            return
        service = self._connection.service
        self._run("order", lambda feedback, progress: place(service, quoted, project_id, "Ordered in QGIS"), self._placed)

    def _placed(self, order: dict[str, Any]) -> None:
        self.placed.append(str(order["id"]))
        self.cart.clear()
        self._show_cart("Ordered. The images are added to the map when they are delivered.")
        self._messages.success(f"Order {order['id']} was placed.")
        service = self._connection.service
        tasks.run(
            "Groundtrack: delivery",
            lambda feedback, progress: await_delivery(service, str(order["id"]), feedback),
            self._delivered,
            self._messages.failure,
        )

    def _delivered(self, order: dict[str, Any]) -> None:
        try:
            if order["status"] != "fulfilled":
                raise PluginError(f"The order {order['id']} is {order['status']}: {order.get('failureReason') or 'see it in the console'}.")
            for item_id in order["itemIds"]:
                add_item(self._connection, get_item(self._connection.service, item_id))
            self._messages.success(f"The order {order['id']} was delivered.")
        except Exception as error:
            self._messages.failure(error)

    def save_selected(self) -> None:
        """Open scenes cost nothing: they are saved in the project by reference and shown."""
        try:
            service, project_id = self._connection.service, self.project.currentData()
            chosen = [scene for scene in self._selected() if not scene.is_for_sale]
            if not chosen:
                raise PluginError("No open scene is selected. Select one in the list, or add scenes for sale to the cart.")
        except Exception as error:
            return self._messages.failure(error)

        def work(feedback: QgsFeedback, progress: Callable[[float], None]) -> list[dict[str, Any]]:
            return [
                service.call("catalog.scene.save", {"project_id": project_id, "host_name": scene.host, "id": scene.id}, is_keyed=True)["item"]
                for scene in chosen
            ]

        def show(saved: list[dict[str, Any]]) -> None:
            for item in saved:
                add_item(self._connection, item)

        self._run("save", work, show)


def _line(scene: Scene) -> str:
    cloud = "" if scene.cloud is None else f", {scene.cloud:.0f} % clouds"
    price = "open data" if scene.price is None else f"{scene.price:g} credits per km²"
    simulated = " (simulated)" if scene.is_simulated else ""
    return f"{scene.date[:10]}  {scene.source}{simulated}\n{price}{cloud}"


def _button(text: str, action: Callable[[], None], layout: Any) -> QPushButton:
    button = QPushButton(text)
    button.clicked.connect(lambda checked=False: action())
    layout.addWidget(button)
    return button


def _list(layout: Any) -> QListWidget:
    found = QListWidget()
    found.setWordWrap(True)
    found.setIconSize(QSize(THUMBNAIL_PX, THUMBNAIL_PX))
    found.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    layout.addWidget(found)
    return found
