"""
What a call of the Python client costs over bare httpx.

    PYTHONPATH=packages/python/src python bench/python-client.py

Calls go to a small server in a process of its own, client and bare httpx in pairs whose order changes. What counts is the computing time
of this process: time by the clock is mostly somebody else's on a shared machine, and the service's own time would hide the overhead.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

WARM_UP = 300
PAIRS = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
KEPT = 0.9
"""The rest met a collection of garbage or somebody else's work."""
ANSWER = json.dumps({"projects": [{"id": "0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10", "name": "Demo", "item_count": 12}], "total": 1}).encode()


class Answering(asyncio.Protocol):
    """Answers each request that has arrived whole."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        if len(body) < length:
            return
        self.received = b""
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER))  # type: ignore[attr-defined]


def serve(parent: Connection) -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        parent.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def cpu_ms(call: Callable[[], object]) -> float:
    before = time.process_time_ns()
    call()
    return (time.process_time_ns() - before) / 1e6


def mean(values: list[float]) -> float:
    """Without the dearest."""
    kept = sorted(values)[: int(len(values) * KEPT)]
    return sum(kept) / len(kept)


if __name__ == "__main__":
    import httpx
    from groundtrack import Groundtrack

    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(there,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}"
    gt, bare = Groundtrack(url, "svc_bench"), httpx.Client(timeout=120)

    def with_client() -> str:
        return gt.projects.list(limit=10).fetch().projects[0].name

    def with_httpx() -> str:
        response = bare.post(f"{url}/v1/op/projects.list", json={"limit": 10}, headers={"authorization": "Bearer svc_bench"})
        response.raise_for_status()
        name: str = response.json()["projects"][0]["name"]
        return name

    assert with_client() == with_httpx() == "Demo"
    for _ in range(WARM_UP):
        with_client(), with_httpx()
    client, httpx_alone = list[float](), list[float]()
    for pair in range(PAIRS):
        sides = [(with_client, client), (with_httpx, httpx_alone)]
        for call, times in sides if pair % 2 else reversed(sides):
            times.append(cpu_ms(call))
    ours, theirs = mean(client), mean(httpx_alone)
    print(f"{PAIRS} pairs, load {os.getloadavg()[0]:.1f}: client {ours:.3f} ms, httpx {theirs:.3f} ms of computing a call: {100 * (ours / theirs - 1):+.1f} %")
    server.terminate()
