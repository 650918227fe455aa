"""The value of a field that is not sent. `None` is sent as null, which is a value of its own."""

from __future__ import annotations

from typing import Final


class Omit:
    """The type of `OMIT`."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "OMIT"


OMIT: Final = Omit()
