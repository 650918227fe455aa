"""
Retries, sessions, uploads and waiting are written once, as generators that yield what they want done. `run` does it with
blocking calls and `run_async` by awaiting, so both clients behave alike.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, Union

if TYPE_CHECKING:
    import threading

    import anyio
    import httpx

T = TypeVar("T")


class Send:
    """Sends a request. A streamed response is read later."""

    __slots__ = ("request", "stream")

    def __init__(self, request: httpx.Request, stream: bool = False) -> None:
        self.request = request
        self.stream = stream


class Pause:
    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Read:
    """Reads the body of a streamed response."""

    __slots__ = ("response",)

    def __init__(self, response: httpx.Response) -> None:
        self.response = response


class Close:
    __slots__ = ("response",)

    def __init__(self, response: httpx.Response) -> None:
        self.response = response


class NextChunk:
    """The next bytes of a streamed response, or None at its end."""

    __slots__ = ("chunks",)

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks


class Do:
    """Runs a function that blocks, such as reading a file. The async client runs it in a thread."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function


class Acquire:
    __slots__ = ()


class Release:
    __slots__ = ()


Effect = Union[Send, Pause, Read, Close, NextChunk, Do, Acquire, Release]
Flow = Generator[Effect, Any, T]


class Chunks:
    """The body of a response in chunks, for either client."""

    __slots__ = ("_response", "_iterator")

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._iterator: Any = None

    def next(self) -> bytes | None:
        if self._iterator is None:
            self._iterator = self._response.iter_raw()
        iterator: Iterator[bytes] = self._iterator
        return next(iterator, None)

    async def next_async(self) -> bytes | None:
        if self._iterator is None:
            self._iterator = self._response.aiter_raw()
        iterator: AsyncIterator[bytes] = self._iterator
        try:
            return await iterator.__anext__()
        except StopAsyncIteration:
            return None


def run(flow: Flow[T], http: httpx.Client, lock: threading.Lock, sleep: Callable[[float], None]) -> T:
    """Runs a flow to its end with blocking calls."""
    result: Any = None
    failure: BaseException | None = None
    while True:
        try:
            effect = flow.send(result) if failure is None else flow.throw(failure)
        except StopIteration as end:
            value: T = end.value
            return value
        result, failure = None, None
        try:
            if type(effect) is Send:
                result = http.send(effect.request, stream=effect.stream)
            elif type(effect) is Pause:
                sleep(effect.seconds)
            elif type(effect) is Read:
                effect.response.read()
            elif type(effect) is Close:
                effect.response.close()
            elif type(effect) is NextChunk:
                result = effect.chunks.next()
            elif type(effect) is Do:
                result = effect.function()
            elif type(effect) is Acquire:
                lock.acquire()
            else:
                lock.release()
        except BaseException as error:  # The flow decides, also about an interrupt.
            failure = error


async def run_async(flow: Flow[T], http: httpx.AsyncClient, lock: anyio.Lock) -> T:
    """Runs a flow to its end by awaiting."""
    import anyio
    import anyio.to_thread

    result: Any = None
    failure: BaseException | None = None
    while True:
        try:
            effect = flow.send(result) if failure is None else flow.throw(failure)
        except StopIteration as end:
            value: T = end.value
            return value
        result, failure = None, None
        try:
            if type(effect) is Send:
                result = await http.send(effect.request, stream=effect.stream)
            elif type(effect) is Pause:
                await anyio.sleep(effect.seconds)
            elif type(effect) is Read:
                await effect.response.aread()
            elif type(effect) is Close:
                await effect.response.aclose()
            elif type(effect) is NextChunk:
                result = await effect.chunks.next_async()
            elif type(effect) is Do:
                result = await anyio.to_thread.run_sync(effect.function)
            elif type(effect) is Acquire:
                await lock.acquire()
            else:
                lock.release()
        except BaseException as error:  # The flow decides, also about a cancellation.
            failure = error
