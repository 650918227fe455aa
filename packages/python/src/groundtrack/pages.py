"""Lists and streams. The API has four paging conventions; here they all work the same way."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

from .errors import GroundtrackError, NetworkError, ProblemError, reason_of
from .omit import Omit
from .records import Record

if TYPE_CHECKING:
    import httpx

O = TypeVar("O")
E = TypeVar("E")

Paging = tuple[str | None, str, str, int]
"""The field with the records (None if the response is the list itself), the convention, the field of the page size and its default."""

MAX_PAGES = 100_000
"""A list with more never ends."""
MAX_LINE_BYTES = 64 * 1024 * 1024
"""The service sends no longer lines."""


class _Paged:
    """Which page follows."""

    def __init__(self, fields: Mapping[str, Any], page: type[Record], record: type[Record], paging: Paging, client: Any) -> None:
        self._fields = fields
        self._page = page
        self._record = record
        self._paging = paging
        self._client = client

    def _raw_records(self, page: Any) -> list[Any]:
        name = self._paging[0]
        records = page if name is None else page.get(name)
        return cast("list[Any]", records or [])

    def _records(self, page: Any) -> list[Any]:
        return [self._record(record, self._client) for record in self._raw_records(page)]

    def _output(self, page: Any) -> Any:
        return self._records(page) if self._paging[0] is None else self._page(page, self._client)

    def _next(self, page: Any, count: int) -> dict[str, Any] | None:
        """The fields that request the page after `count` pages; None after the last."""
        _, kind, size_field, default_size = self._paging
        if kind == "token":
            cursor = _cursor(page)
            return None if cursor is None else {"next": cursor}
        size = int(self._given(size_field, default_size))
        if len(self._raw_records(page)) < size:
            return None
        if kind == "offset":
            return {"offset": int(self._given("offset", 0)) + count * size}
        return {"page": int(self._given("page", 0)) + count}

    def _given(self, name: str, default: int) -> Any:
        value = self._fields.get(name)
        return default if value is None or isinstance(value, Omit) else value


def _cursor(page: Mapping[str, Any]) -> str | None:
    if page.get("next") is not None:
        return str(page["next"])
    for link in page.get("links") or ():
        if link.get("rel") == "next":
            cursor = (link.get("body") or {}).get("next") or next(iter(parse_qs(urlsplit(link.get("href", "")).query).get("next", [])), None)
            return None if cursor is None else str(cursor)
    return None


def _endless() -> GroundtrackError:
    return GroundtrackError(f"The list has more than {MAX_PAGES} pages. Narrow the search, or request larger pages.")


class Page(_Paged, Generic[O, E]):
    """
    A list. Iterate over it for all its records; `fetch()` returns the requested page as the service sends it. Nothing is sent
    before that.
    """

    def __init__(self, load: Callable[[Mapping[str, Any]], Any], *paged: Any) -> None:
        super().__init__(*paged)
        self._load = load

    def __iter__(self) -> Generator[E, None, None]:
        for page in self._pages():
            yield from self._records(page)

    def _pages(self) -> Generator[Any, None, None]:
        page = self._load({})
        for count in range(1, MAX_PAGES + 1):
            yield page
            following = self._next(page, count)
            if following is None:
                return
            page = self._load(following)
        raise _endless()

    def fetch(self) -> O:
        """The requested page."""
        output: O = self._output(self._load({}))
        return output

    def pages(self) -> Generator[O, None, None]:
        """The pages, from the requested one to the last."""
        for page in self._pages():
            yield self._output(page)

    def all(self) -> list[E]:
        """All records; for short lists."""
        return list(self)

    def first(self) -> E | None:
        """The first record; None if there is none."""
        return next(iter(self._records(self._load({}))), None)


class AsyncPage(_Paged, Generic[O, E]):
    """A list. Iterate over it with `async for` for all its records; `await fetch()` returns the requested page."""

    def __init__(self, load: Callable[[Mapping[str, Any]], Awaitable[Any]], *paged: Any) -> None:
        super().__init__(*paged)
        self._load = load

    async def __aiter__(self) -> AsyncGenerator[E, None]:
        async for page in self._pages():
            for record in self._records(page):
                yield record

    async def _pages(self) -> AsyncGenerator[Any, None]:
        page = await self._load({})
        for count in range(1, MAX_PAGES + 1):
            yield page
            following = self._next(page, count)
            if following is None:
                return
            page = await self._load(following)
        raise _endless()

    async def fetch(self) -> O:
        """The requested page."""
        output: O = self._output(await self._load({}))
        return output

    async def pages(self) -> AsyncGenerator[O, None]:
        """The pages, from the requested one to the last."""
        async for page in self._pages():
            yield self._output(page)

    async def all(self) -> list[E]:
        """All records; for short lists."""
        return [record async for record in self]

    async def first(self) -> E | None:
        """The first record; None if there is none."""
        return next(iter(self._records(await self._load({}))), None)


class LineReader:
    """Cuts bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > MAX_LINE_BYTES:
            raise GroundtrackError(f"The service sent a line of more than {MAX_LINE_BYTES} bytes. Check GROUNDTRACK_URL or base_url.")
        return [line.decode("utf-8").rstrip("\r") for line in lines]

    def end(self) -> list[str]:
        return [self._rest.decode("utf-8")] if self._rest else []


def _value(line: str, operation: str, record: type[Record], client: Any) -> Any:
    value = json.loads(line)
    # After the first line the status can no longer change, so an error arrives as a line.
    if isinstance(value, dict) and cast("dict[str, Any]", value).get("type") == "Error":
        raise ProblemError(cast("dict[str, Any]", value), operation)
    return record(value, client)


class Lines(Generic[E]):
    """Records that arrive one by one. Leaving the loop early closes the connection."""

    def __init__(self, operation: str, record: type[Record], client: Any, open: Callable[[], httpx.Response]) -> None:
        self._operation, self._record, self._client, self._open = operation, record, client, open

    def __iter__(self) -> Generator[E, None, None]:
        import httpx

        response = self._open()
        reader = LineReader()
        try:
            for chunk in response.iter_bytes():
                for line in reader.feed(chunk):
                    if line:
                        yield _value(line, self._operation, self._record, self._client)
            for line in reader.end():
                yield _value(line, self._operation, self._record, self._client)
        except httpx.TransportError as error:
            raise NetworkError(self._operation, self._client.base_url, reason_of(error)) from error
        finally:
            response.close()


class AsyncLines(Generic[E]):
    """Records that arrive one by one. Leaving the loop early closes the connection."""

    def __init__(self, operation: str, record: type[Record], client: Any, open: Callable[[], Awaitable[httpx.Response]]) -> None:
        self._operation, self._record, self._client, self._open = operation, record, client, open

    async def __aiter__(self) -> AsyncGenerator[E, None]:
        import httpx

        response = await self._open()
        reader = LineReader()
        try:
            async for chunk in response.aiter_bytes():
                for line in reader.feed(chunk):
                    if line:
                        yield _value(line, self._operation, self._record, self._client)
            for line in reader.end():
                yield _value(line, self._operation, self._record, self._client)
        except httpx.TransportError as error:
            raise NetworkError(self._operation, self._client.base_url, reason_of(error)) from error
        finally:
            await response.aclose()
