"""The forms: sign-in, upload, share link, and the confirmation of an order."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta, timezone
from typing import Any

from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from .cart import Quote
from .service import Service

DEFAULT_URL = "http://127.0.0.1:8080"
WORDS_IN_PASSWORD = 12
"""Bytes of randomness, as 16 characters."""


class _Form(QDialog):
    def __init__(self, title: str, accept: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(440)
        self.form = QFormLayout()
        self.note = QLabel()
        self.note.setWordWrap(True)
        self.note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText(accept)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(self.form)
        layout.addWidget(self.note)
        layout.addWidget(self.buttons)


class SignInDialog(_Form):
    """Stays open until the server has accepted the sign-in."""

    def __init__(self, connection: Any, parent: QWidget | None = None) -> None:
        super().__init__("Sign in to Groundtrack", "Sign in", parent)
        self._connection = connection
        self.url = QLineEdit(connection.url or DEFAULT_URL)
        self.user = QLineEdit()
        self.user.setPlaceholderText("Leave empty for an API key")
        self.secret = QLineEdit()
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.form.addRow("Server", self.url)
        self.form.addRow("Email address", self.user)
        self.form.addRow("Password or API key", self.secret)
        self.note.setText("Stored in QGIS's encrypted authentication store. To buy imagery, sign in with your email address.")

    def accept(self) -> None:
        from .log import sentence

        try:
            self._connection.sign_in(self.url.text(), self.user.text(), self.secret.text())
        except Exception as error:
            self.note.setText(f"<span style='color:#b00020'>{sentence(error)}</span>")
            return
        super().accept()


def project_box(service: Service) -> QComboBox:
    """The projects to put something in."""
    box = QComboBox()
    for project in service.pages("projects.list", {}, "projects"):
        box.addItem(str(project["name"]), project["id"])
    return box


class UploadDialog(_Form):
    def __init__(self, service: Service, layer_name: str, parent: QWidget | None = None) -> None:
        super().__init__("Upload a layer", "Upload", parent)
        self._service = service
        self.project = project_box(service)
        self.collection = QComboBox()
        self.form.addRow("Layer", QLabel(layer_name))
        self.form.addRow("Project", self.project)
        self.form.addRow("Collection", self.collection)
        self.project.currentIndexChanged.connect(lambda index: self._fill())
        self._fill()
        self.note.setText("The layer becomes an item. It counts towards the storage of your plan.")

    def _fill(self) -> None:
        self.collection.clear()
        self.collection.addItem("(none)", "")
        if self.project.currentData():
            for collection in self._service.call("collections.list", {"project_id": self.project.currentData()}):
                self.collection.addItem(str(collection["name"]), collection["id"])


class ShareDialog(_Form):
    """Creates a link; the token and the password are shown once."""

    def __init__(self, service: Service, target: tuple[str, str], name: str, parent: QWidget | None = None) -> None:
        super().__init__("Share link", "Create link", parent)
        self._service, self._target = service, target
        self.password = QLineEdit(secrets.token_urlsafe(WORDS_IN_PASSWORD))
        self.days = QSpinBox()
        self.days.setRange(1, 3650)
        self.days.setValue(30)
        self.download = QCheckBox("Visitors can also download the files")
        self.link = QLineEdit()
        self.link.setReadOnly(True)
        self.form.addRow("Layer", QLabel(name))
        self.form.addRow("Password", self.password)
        self.form.addRow("Valid for days", self.days)
        self.form.addRow("", self.download)
        self.form.addRow("Link", self.link)
        self.note.setText("Anyone with the link and the password can see the layer. Send the two separately.")

    def accept(self) -> None:
        from .log import sentence

        if self.link.text():
            return super().accept()
        try:
            self.link.setText(create_link(self._service, self._target, self.password.text(), self.days.value(), self.download.isChecked()))
        except Exception as error:
            self.note.setText(f"<span style='color:#b00020'>{sentence(error)}</span>")
            return
        clipboard = QApplication.clipboard()
        if clipboard is not None:
            clipboard.setText(self.link.text())
        self.note.setText("The link is in the clipboard. It is shown only now; send the password separately.")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setText("Close")


def create_link(service: Service, target: tuple[str, str], password: str, days: int, may_download: bool) -> str:
    kind, id = target
    expires = datetime.now(timezone.utc) + timedelta(days=days)
    fields = {
        "target_type": kind,
        "target_id": id,
        "password": password,
        "permission": "download" if may_download else "view",
        "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    made = service.call("share.link.create", fields)
    return f"{service.url}/s/{made['token']}"


def confirm_order(quoted: Quote, project: str, parent: QWidget | None = None) -> bool:
    """The last question before money is spent; the answer is no unless someone says yes."""
    count = len(quoted.captures)
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Order imagery")
    box.setText(f"Order {count} scene{'' if count == 1 else 's'} for {quoted.text}?")
    box.setInformativeText(
        f"The images are delivered to the project {project}. The amount is reserved now and charged on delivery. If the price has changed, nothing is ordered."
    )
    box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No)
    box.setDefaultButton(QMessageBox.StandardButton.No)
    return bool(box.exec() == QMessageBox.StandardButton.Yes)
