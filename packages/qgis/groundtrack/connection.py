"""
The connection to a service. QGIS's settings hold its address; its authentication store, which is encrypted, holds the credential.

Layers need a credential that QGIS itself can send, also when a project is opened again. A session token expires after minutes, so
the plugin creates a read-only API key for layers and stores it beside the credential. A project file names it only by its ID.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import NamedTuple

from qgis.core import QgsApplication, QgsAuthMethodConfig, QgsSettings

from .errors import NotSignedInError, PluginError
from .service import Credential, Service

_PREFIX = "groundtrack"
KEY_PREFIX = "svc_"
KEY_USER = "api-key"
"""The service ignores the user name beside a key, but QGIS sends no credential without one."""
KEY_DAYS = 365


class Stored(NamedTuple):
    url: str
    credential_id: str
    layers_id: str
    layers_key_id: str
    """The ID of the API key for layers, to revoke it on sign-out; empty if there is none."""


def _settings(name: str) -> str:
    return f"{_PREFIX}/{name}"


def stored() -> Stored | None:
    settings = QgsSettings()
    values = [str(settings.value(_settings(name), "") or "") for name in Stored._fields]
    found = Stored(*values)
    return found if found.url and found.credential_id else None


def _remember(connection: Stored) -> None:
    settings = QgsSettings()
    for name, value in connection._asdict().items():
        settings.setValue(_settings(name), value)


def _store_secret(name: str, url: str, user: str, secret: str) -> str:
    manager = QgsApplication.authManager()
    if manager.isDisabled():
        raise PluginError("QGIS's authentication store is disabled. Enable it under Settings > Options > Authentication.")
    config = QgsAuthMethodConfig("Basic")
    config.setId(manager.uniqueConfigId())
    config.setName(name)
    config.setUri(url)
    config.setConfig("username", user)
    config.setConfig("password", secret)
    manager.storeAuthenticationConfig(config)
    if config.id() not in manager.configIds():
        raise PluginError("QGIS's authentication store did not accept the sign-in. Enter its master password and try again.")
    return str(config.id())


def _load_secret(id: str) -> Credential:
    config = QgsAuthMethodConfig()
    QgsApplication.authManager().loadAuthenticationConfig(id, config, True)
    user, secret = config.config("username"), config.config("password")
    if not secret:
        raise NotSignedInError
    return Credential(user, secret)


def _forget_secret(id: str) -> None:
    if id and id in QgsApplication.authManager().configIds():
        QgsApplication.authManager().removeAuthenticationConfig(id)


def normalized(url: str) -> str:
    text = url.strip().rstrip("/")
    if not text.startswith(("http://", "https://")):
        raise PluginError("The server's address must begin with https:// or http://, such as https://imagery.example.")
    return text


class Connection:
    """The service that the user is signed in to, and who is told when that changes."""

    def __init__(self) -> None:
        self._service: Service | None = None
        self._listeners: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    @property
    def is_stored(self) -> bool:
        return stored() is not None

    @property
    def url(self) -> str:
        found = stored()
        return found.url if found else ""

    @property
    def service(self) -> Service:
        """The credential is read here, in the main thread, because QGIS may ask for its master password."""
        if self._service is None:
            found = stored()
            if found is None:
                raise NotSignedInError
            self._service = Service(found.url, _load_secret(found.credential_id))
        return self._service

    def sign_in(self, url: str, user: str, secret: str) -> Service:
        """Tries the credential before anything is stored. An API key is its own user."""
        address = normalized(url)
        credential = Credential(KEY_USER if secret.startswith(KEY_PREFIX) else user.strip(), secret.strip())
        if not credential.secret or not credential.user:
            raise PluginError("Enter your email address and password, or an API key alone.")
        service = Service(address, credential)
        service.call("projects.list", {"limit": 1})
        self._forget()
        host = address.split("://", 1)[1]
        id = _store_secret(f"Groundtrack: {host}", address, credential.user, credential.secret)
        layers_id, key_id = (id, "") if credential.is_key else ("", "")
        _remember(Stored(address, id, layers_id, key_id))
        self._service = service
        self._changed()
        return service

    def layers_auth(self) -> str:
        """The ID in the authentication store of the key that layers use; created when the first layer needs it."""
        found = stored()
        if found is None:
            raise NotSignedInError
        if found.layers_id and found.layers_id in QgsApplication.authManager().configIds():
            return found.layers_id
        name = f"QGIS layers on {platform.node() or 'a computer'}"[:100]
        made = self.service.call("api_keys.create", {"name": name, "permissions": ["read"], "expires_in_days": KEY_DAYS}, is_keyed=True)
        host = found.url.split("://", 1)[1]
        id = _store_secret(f"Groundtrack layers: {host}", found.url, KEY_USER, made["key"])
        _remember(found._replace(layers_id=id, layers_key_id=made["id"]))
        return id

    def sign_out(self) -> None:
        """Revokes the key for layers and removes all credentials; the server being away does not keep anybody signed in here."""
        found = stored()
        try:
            if found is not None and found.layers_key_id:
                self.service.call("api_keys.revoke", {"key_id": found.layers_key_id})
            if self._service is not None:
                self._service.sign_out()
        except PluginError:
            pass
        self._forget()
        self._changed()

    def _forget(self) -> None:
        found = stored()
        if found is not None:
            _forget_secret(found.credential_id)
            _forget_secret(found.layers_id)
        _remember(Stored("", "", "", ""))
        self._service = None

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()
