"""Progress bars of tqdm, where it is installed."""

from __future__ import annotations

from typing import Any, Protocol


class Bar(Protocol):
    """What we use of a progress bar."""

    def update_to(self, value: float, text: str = "") -> None: ...
    def close(self) -> None: ...


class _NoBar:
    def update_to(self, value: float, text: str = "") -> None:
        pass

    def close(self) -> None:
        pass


class _Tqdm:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm

    def update_to(self, value: float, text: str = "") -> None:
        if text:
            self._tqdm.set_postfix_str(text, refresh=False)
        self._tqdm.n = value
        self._tqdm.refresh()

    def close(self) -> None:
        self._tqdm.close()


def bar(is_wanted: bool, label: str, total: float | None, unit: str) -> Bar:
    if not is_wanted:
        return _NoBar()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _NoBar()
    is_bytes = unit == "B"
    return _Tqdm(tqdm(desc=label, total=total, unit=unit, unit_scale=is_bytes, unit_divisor=1024 if is_bytes else 1000))
