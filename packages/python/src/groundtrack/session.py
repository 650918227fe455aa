"""A user's session, which is renewed before it expires."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

RENEW_BEFORE_SECONDS = 30.0


class SessionTokens(NamedTuple):
    """What is needed to go on with a session later. Keep it as secret as a password."""

    access_token: str
    refresh_token: str | None
    expires_at: float
    """When the access token expires, in seconds since 1970."""
    organization_id: str | None = None

    def __repr__(self) -> str:
        return f"SessionTokens(organization_id={self.organization_id!r})"

    @property
    def is_stale(self) -> bool:
        return self.expires_at - time.time() < RENEW_BEFORE_SECONDS


class Session:
    """The current tokens, and who is told when they change."""

    def __init__(self, tokens: SessionTokens | None, on_change: Callable[[SessionTokens | None], None] | None) -> None:
        self.tokens = tokens
        self._on_change = on_change

    def adopt(self, grant: Mapping[str, Any]) -> None:
        self._set(
            SessionTokens(
                access_token=grant["access_token"],
                refresh_token=grant.get("refresh_token"),
                expires_at=time.time() + grant["expires_in"],
                organization_id=grant.get("organization_id"),
            )
        )

    def end(self) -> None:
        if self.tokens is not None:
            self._set(None)

    def _set(self, tokens: SessionTokens | None) -> None:
        self.tokens = tokens
        if self._on_change is not None:
            self._on_change(tokens)
