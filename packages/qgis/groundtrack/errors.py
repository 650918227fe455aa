"""What can go wrong, each in one sentence that says what to do. Nothing else is shown to users; the log has the details."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any


class PluginError(Exception):
    """A failure that a user can understand. Its text is shown as it is."""


class NotSignedInError(PluginError):
    """No connection is stored, or its credential is gone."""

    def __init__(self) -> None:
        super().__init__("You are not signed in to Groundtrack. Choose Web > Groundtrack > Sign in.")


class CanceledError(PluginError):
    """The user canceled."""

    def __init__(self) -> None:
        super().__init__("Canceled.")


class ProblemError(PluginError):
    """The service rejected the request or failed."""

    def __init__(self, problem: Mapping[str, Any], operation: str, server: str) -> None:
        self.problem = problem
        self.slug = str(problem.get("code", "unknown"))
        self.status = int(problem.get("status", 0))
        self.retry_after = 0.0
        super().__init__(_sentence(problem, self.slug, operation, server))


def _sentence(problem: Mapping[str, Any], slug: str, operation: str, server: str) -> str:
    detail = str(problem.get("detail") or problem.get("title") or "The request failed").strip()
    if slug == "unauthorized":
        return f"{server} rejected the stored sign-in. Sign in again under Web > Groundtrack > Sign in."
    if slug == "unknown-operation":
        return f"{server} is too old for this plugin: it has no {operation}. Ask its operator to update it."
    if slug == "user-authorization-required":
        return "An API key cannot buy imagery. Sign in with your email address and password instead."
    if slug == "insufficient-credits":
        return f"{_ended(detail)} Add credits in the console under Billing."
    if slug == "licence-acceptance-required":
        return f"{_ended(detail)} Accept the licence in the console, then order again."
    if slug == "invalid-input" and problem.get("errors"):
        fields = "; ".join(f"{each.get('field')} {each.get('message')}" for each in list(problem["errors"])[:3])
        return _ended(fields)
    return _ended(detail)


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def code_of(result: Any) -> int:
    """The number of a result, which is an int with Qt 5 and an enum with Qt 6."""
    return int(getattr(result, "value", result))


def disk_error(error: OSError, path: str) -> PluginError:
    """A failed write, as a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PluginError(f"The disk of {path} is full. Free some space, or choose another folder.")
    return PluginError(f"Cannot write {path}: {error.strerror or error}. Choose another folder.")
