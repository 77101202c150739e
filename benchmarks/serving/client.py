"""Asks a server the same question over and over, by some connections at a time, and says how long answers took.

    python -m benchmarks.serving.client grpc 127.0.0.1:8500 request.bin --connections 32 --seconds 5
    python -m benchmarks.serving.client rest 127.0.0.1:8501 request.bin --connections 32 --seconds 5

The file has the bytes of a PredictRequest, or of a whole HTTP request. Answers are received whole and looked at no
further than to tell errors: the client shares the machine with the server, and should take little of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc

METHOD = "/tensorflow.serving.PredictionService/Predict"
Ask = Callable[[], Awaitable[None]]

_OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),  # a connection for each channel
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
]


def main() -> int:
    parser = argparse.ArgumentParser(prog="client", description=__doc__)
    parser.add_argument("protocol", choices=["grpc", "rest"])
    parser.add_argument("target")
    parser.add_argument("request", type=Path)
    parser.add_argument("--connections", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    payload = given.request.read_bytes()
    if given.protocol == "grpc" and given.connections == 1:
        taken, errors = _one_by_one(given.target, payload, given.seconds)
    else:
        taken, errors = asyncio.run(_many(given, payload))
    taken.sort()
    middle = taken[len(taken) // 2] if taken else float("nan")
    late = taken[min(len(taken) * 99 // 100, len(taken) - 1)] if taken else float("nan")
    rate = len(taken) / given.seconds
    print(json.dumps({"answers": len(taken), "errors": errors, "median": middle, "p99": late, "rate": rate}))
    return 0


def _one_by_one(target: str, payload: bytes, seconds: float) -> tuple[list[float], int]:
    """The seconds of each answer, one connection, by gRPC's blocking client, which waits the least."""
    with grpc.insecure_channel(target, _OPTIONS) as channel:
        ask = channel.unary_unary(METHOD)
        for _ in range(20):
            ask(payload)
        taken = []
        end = time.perf_counter() + seconds
        while (start := time.perf_counter()) < end:
            ask(payload)
            taken.append(time.perf_counter() - start)
    return taken, 0


async def _many(given: argparse.Namespace, payload: bytes) -> tuple[list[float], int]:
    """The seconds of each answer, and how many errors, by that many connections."""
    open_connection = _grpc_connection if given.protocol == "grpc" else _rest_connection
    asks = [await open_connection(given.target, payload) for _ in range(given.connections)]
    for ask in asks:
        await ask()
    taken: list[float] = []
    errors = 0
    end = time.perf_counter() + given.seconds

    async def keep_asking(ask: Ask) -> None:
        nonlocal errors
        while (start := time.perf_counter()) < end:
            try:
                await ask()
            except (grpc.RpcError, ValueError):
                errors += 1
                continue
            taken.append(time.perf_counter() - start)

    await asyncio.gather(*map(keep_asking, asks))
    return taken, errors


async def _grpc_connection(target: str, payload: bytes) -> Ask:
    call = grpc.aio.insecure_channel(target, _OPTIONS).unary_unary(METHOD)

    async def ask() -> None:
        await call(payload)

    return ask


async def _rest_connection(target: str, payload: bytes) -> Ask:
    host, _, port = target.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 24)

    async def ask() -> None:
        writer.write(payload)
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 200"):
            raise ValueError(body[:200])

    return ask


if __name__ == "__main__":
    sys.exit(main())
