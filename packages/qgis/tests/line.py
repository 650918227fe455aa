"""A way to a server that a test can interrupt: bytes are passed on until the line is cut, is silent, or is gone."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

SOCKET_SECONDS = 60.0
"""No thread waits longer for a byte, so that none outlives its test by much."""


class Line:
    """Listens on a port of its own, which it keeps while it is gone, as a service does that is started again."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._target = (str(parts.hostname), int(parts.port or 80))
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self._open: list[socket.socket] = []
        self._left: dict[str, int | None] = {"up": None, "down": None}
        self._then: Callable[[], None] = lambda: None
        self._is_silent = False
        self._port = 0
        self.passed = bytearray()
        """What was sent to the server, as far as it was passed on."""
        self.received = 0
        """Bytes that came back."""
        self.come_back()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def ranges(self) -> list[str]:
        """The parts of files that were sent, asked for, or asked about."""
        return [each.decode() for each in re.findall(rb"\r\n(?:content-)?range: ?(bytes[^\r]*)\r\n", bytes(self.passed), re.IGNORECASE)]

    def cut(self, *, up: int | None = None, down: int | None = None, then: Callable[[], None] = lambda: None) -> None:
        """Once so many bytes have passed, the connection that they belong to is reset."""
        with self._lock:
            self._left, self._then = {"up": up, "down": down}, then

    def fall_silent(self) -> None:
        """Connections are accepted, and nothing is ever answered."""
        self._is_silent = True

    def leave(self) -> None:
        """Connections are reset, and new ones refused."""
        with self._lock:
            listener, self._listener = self._listener, None
            closing, self._open = self._open, []
        if listener is not None:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for each in closing:
            _reset(each)

    def come_back(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        listener.listen()
        self._port = int(listener.getsockname()[1])
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return  # It has left.
            try:
                far = socket.create_connection(self._target, SOCKET_SECONDS)
            except OSError:
                _reset(near)
                continue
            near.settimeout(SOCKET_SECONDS)
            with self._lock:
                self._open += [near, far]
            threading.Thread(target=self._pass_on, args=(near, far, "up"), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(far, near, "down"), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, direction: str) -> None:
        try:
            while data := source.recv(65_536):
                if self._is_silent:
                    continue
                kept, is_cut = self._allowed(direction, data)
                if direction == "up":
                    self.passed += kept
                else:
                    self.received += len(kept)
                sink.sendall(kept)
                if is_cut:
                    _reset(source)
                    _reset(sink)
                    self._then()
                    return
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            _reset(source)
            _reset(sink)

    def _allowed(self, direction: str, data: bytes) -> tuple[bytes, bool]:
        with self._lock:
            left = self._left[direction]
            if left is None:
                return data, False
            if len(data) < left:
                self._left[direction] = left - len(data)
                return data, False
            self._left = {"up": None, "down": None}
            return data[:left], True


def _reset(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)  # Wakes a thread that is reading from it.
    except OSError:
        pass
    connection.close()
