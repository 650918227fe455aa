"""Options of a single call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class CallOptions(TypedDict, total=False):
    """What every method accepts as `options`."""

    idempotency_key: str
    """Your own key instead of a generated one. Calls with the same key and input run once."""
    timeout: float
    """Seconds to wait for the response."""
    max_retries: int
    """Retries before the call fails."""
    headers: Mapping[str, str]
    """Headers to send with the call."""
