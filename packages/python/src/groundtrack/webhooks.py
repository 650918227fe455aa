"""Verifies webhook deliveries."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from .errors import SignatureError

if TYPE_CHECKING:
    from .generated.events import Event

_PREFIX = "sha256="


def verify_webhook(body: bytes | str, signature: str | None, secret: str) -> Event:
    """
    Returns the event of a delivery. A delivery can arrive twice: deduplicate by `event_id`.

    Args:
        body: The raw body, not parsed and serialized again
        signature: The header `X-Svc-Signature`
        secret: The secret of the subscription, `whsec_…`
    """
    data = body.encode("utf-8") if isinstance(body, str) else body
    if not signature or not signature.startswith(_PREFIX):
        raise SignatureError("The X-Svc-Signature header is missing or not sha256=<hex>. Pass the header of the delivery.")
    if not hmac.compare_digest(sign_webhook(data, secret).encode(), signature.encode("utf-8", "replace")):
        raise SignatureError("The signature does not match the body. Pass the raw body, and the secret of this subscription.")
    return event_of(json.loads(data))


def sign_webhook(body: bytes | str, secret: str) -> str:
    """The signature header of a body, for testing a receiver and for forwarding."""
    data = body.encode("utf-8") if isinstance(body, str) else body
    return _PREFIX + hmac.new(secret.encode("utf-8"), data, hashlib.sha256).hexdigest()


def event_of(data: dict[str, Any], client: Any = None) -> Event:
    from .generated.events import EVENT_CLASSES
    from .records import EventBase

    event: Any = EVENT_CLASSES.get(data.get("event_type", ""), EventBase)(data, client)
    return event  # type: ignore[no-any-return]
