"""
Where the server and its credential come from: arguments, then the environment (`GROUNDTRACK_URL`, `GROUNDTRACK_API_KEY`), then the
accounts file of the command line, then the keyring. What is stored for one server is never sent to another.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

from .errors import CredentialsError, MissingExtraError
from .session import SessionTokens

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_SERVER = "http://127.0.0.1:8080"
_KEYRING_SERVICE = "groundtrack"


class Credentials(NamedTuple):
    """The server, and an API key or a session for it."""

    server: str
    api_key: str | None = None
    session: SessionTokens | None = None
    save_session: Callable[[SessionTokens | None], None] | None = None

    def __repr__(self) -> str:
        kind = "API key" if self.api_key else "session" if self.session else "no credential"
        return f"Credentials({self.server!r}, {kind})"


def find(server: str | None = None, api_key: str | None = None, account: str | None = None) -> Credentials:
    """The credentials that a client uses when it is created without any."""
    name = account or os.environ.get("GROUNDTRACK_ACCOUNT")
    accounts = _read_accounts()
    name = name or str(accounts.get("current", "default"))
    stored: dict[str, Any] = accounts.get("accounts", {}).get(name) or {}
    if account is not None and not stored:
        raise CredentialsError(f"There is no account named {account!r}. Create it with: groundtrack sign-in --account {account}")
    url = server or os.environ.get("GROUNDTRACK_URL") or stored.get("server") or DEFAULT_SERVER
    key = api_key or os.environ.get("GROUNDTRACK_API_KEY")
    if key:
        return Credentials(url, key)
    if _origin(url) == _origin(str(stored.get("server", ""))):
        if stored.get("apiKey"):
            return Credentials(url, stored["apiKey"])
        if stored.get("session"):
            return Credentials(url, session=_tokens(stored["session"]), save_session=lambda tokens: _save_session(name, tokens))
    return Credentials(url, _from_keyring(url))


def save_key(api_key: str, server: str | None = None, store: Literal["keyring", "file"] = "keyring") -> None:
    """
    Stores an API key, so that programs and notebooks need not contain it.

    Args:
        api_key: The key, `svc_…`
        server: URL of the service; default `GROUNDTRACK_URL`
        store: The keyring of the operating system, or the accounts file that the command line uses, which only its owner can read
    """
    url = server or os.environ.get("GROUNDTRACK_URL") or DEFAULT_SERVER
    if store == "keyring":
        try:
            import keyring
        except ImportError:
            raise MissingExtraError("keyring", "keyring") from None
        keyring.set_password(_KEYRING_SERVICE, _origin(url), api_key)
        return
    accounts = _read_accounts()
    name = str(accounts.setdefault("current", "default"))
    accounts.setdefault("accounts", {})[name] = {"server": url, "apiKey": api_key}
    _write_accounts(accounts)


def _from_keyring(url: str) -> str | None:
    try:
        import keyring
        import keyring.errors
    except ImportError:
        return None
    try:
        key: str | None = keyring.get_password(_KEYRING_SERVICE, _origin(url))
    except keyring.errors.KeyringError:
        return None  # A machine without a keyring has nothing stored in one.
    return key


def _accounts_file() -> Path:
    from pathlib import Path

    named = os.environ.get("GROUNDTRACK_CONFIG")
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "groundtrack" / "accounts.json"


def _read_accounts() -> dict[str, Any]:
    file = _accounts_file()
    try:
        accounts: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except OSError:
        return {}
    except ValueError:
        raise CredentialsError(f"{file} is not valid JSON. Fix or delete it.") from None
    return accounts


def _write_accounts(accounts: dict[str, Any]) -> None:
    """Atomically, and never readable by other users."""
    file = _accounts_file()
    part = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            json.dump(accounts, out, indent=2)
        part.replace(file)
    except OSError as error:
        raise CredentialsError(f"Cannot write {file}: {error.strerror}. Set GROUNDTRACK_CONFIG to a file that you can write.") from error


def _tokens(stored: dict[str, Any]) -> SessionTokens:
    return SessionTokens(stored["accessToken"], stored.get("refreshToken"), stored["expiresAt"] / 1000, stored.get("organizationId"))


def _save_session(name: str, tokens: SessionTokens | None) -> None:
    accounts = _read_accounts()
    account = accounts.get("accounts", {}).get(name)
    if account is None:
        return
    account.pop("session", None)
    if tokens is not None:
        account["session"] = {
            "accessToken": tokens.access_token,
            "refreshToken": tokens.refresh_token,
            "expiresAt": int(tokens.expires_at * 1000),
            "organizationId": tokens.organization_id,
        }
    _write_accounts(accounts)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
