"""Which calls are retried, and after how long."""

from __future__ import annotations

from typing import Literal

from .errors import ProblemError

Repeat = Literal["read", "keyed", "write"]
"""The effect of running a call twice: none, none because of its idempotency key, or twice."""

FIRST_DELAY = 0.5
MAX_DELAY = 20.0
MAX_RETRY_AFTER = 60.0
"""A longer `Retry-After` fails the call instead."""

_NOT_STARTED = (429, 503)
"""Rejected before anything ran: always safe to retry."""
_MAYBE_DONE = (500, 502, 504)
"""The call may have run: safe to retry if running it twice has no effect."""


def can_retry(error: ProblemError, repeat: Repeat) -> bool:
    if (error.retry_after or 0) > MAX_RETRY_AFTER or error.slug == "billing-not-configured":
        return False
    if error.slug == "idempotency-in-progress":
        return True
    return error.status in _NOT_STARTED or (error.status in _MAYBE_DONE and repeat != "write")


def delay(attempt: int, retry_after: float | None = None) -> float:
    """Exponential backoff with jitter, so that callers that failed together do not retry together."""
    if retry_after is not None:
        return retry_after
    import random

    return min(MAX_DELAY, FIRST_DELAY * 2.0**attempt) * (0.5 + random.random() / 2)
