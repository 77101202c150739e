"""Asks a server the same question over and over, by some connections at a time, and says how long answers took.

    python -m benchmarks.serving.client grpc 127.0.0.1:8500 request.bin --connections 32 --seconds 5
    python -m benchmarks.serving.client rest 127.0.0.1:8501 request.bin --connections 32 --seconds 5 --usual

The file has the bytes of a PredictRequest, or of a whole HTTP request. The client shares the machine with the server,
and should take little of it: it speaks raw bytes by sockets, and looks at answers no further than to tell errors. With
`--usual` it is what programs use: the package grpcio, and for HTTP the streams of asyncio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import grpc

from benchmarks.serving.asking import Answers, Conversation, keep_asking
from benchmarks.serving.light_grpc import GrpcConversation
from benchmarks.serving.light_rest import RestConversation

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
    parser.add_argument("--usual", action="store_true")
    given = parser.parse_args()
    payload = given.request.read_bytes()
    if given.usual:
        found = _by_usual_client(given, payload)
    else:
        found = keep_asking(given.target, partial(_conversation, given, payload), given.connections, given.seconds)
    taken = sorted(found.seconds)
    middle = taken[len(taken) // 2] if taken else float("nan")
    late = taken[min(len(taken) * 99 // 100, len(taken) - 1)] if taken else float("nan")
    rate = len(taken) / found.elapsed
    print(json.dumps({"answers": len(taken), "errors": found.errors, "median": middle, "p99": late, "rate": rate}))
    return 0


def _conversation(given: argparse.Namespace, payload: bytes) -> Conversation:
    if given.protocol == "grpc":
        return GrpcConversation(given.target, METHOD, payload)
    return RestConversation(payload)


# ------------------------------------------------------------------------------------------------- what programs use


def _by_usual_client(given: argparse.Namespace, payload: bytes) -> Answers:
    if given.protocol == "grpc" and given.connections == 1:
        return _one_by_one(given.target, payload, given.seconds)
    return asyncio.run(_many(given, payload))


def _one_by_one(target: str, payload: bytes, seconds: float) -> Answers:
    """One connection, by gRPC's blocking client, which waits the least; an error ends it."""
    with grpc.insecure_channel(target, _OPTIONS) as channel:
        ask = channel.unary_unary(METHOD)
        for _ in range(20):
            ask(payload)
        taken = []
        start = now = time.perf_counter()
        while (before := now) < start + seconds:
            ask(payload)
            now = time.perf_counter()
            taken.append(now - before)
    return Answers(taken, 0, now - start)


async def _many(given: argparse.Namespace, payload: bytes) -> Answers:
    """Many connections in one event loop."""
    open_connection = _grpc_connection if given.protocol == "grpc" else _rest_connection
    asks = [await open_connection(given.target, payload) for _ in range(given.connections)]
    for ask in asks:
        await ask()
    taken: list[float] = []
    errors = 0
    begin = time.perf_counter()

    async def keep_asking(ask: Ask) -> None:
        nonlocal errors
        while (start := time.perf_counter()) < begin + given.seconds:
            try:
                await ask()
            except (grpc.RpcError, ValueError):
                errors += 1
                continue
            taken.append(time.perf_counter() - start)

    await asyncio.gather(*map(keep_asking, asks))
    return Answers(taken, errors, time.perf_counter() - begin)


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
