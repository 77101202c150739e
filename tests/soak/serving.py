"""Loads a server for some minutes while versions come and go and bad requests arrive, and says what came of it.

    python -m tests.soak.serving --minutes 10 --every 20 --workers 2 --seed 1

The model multiplies by the number of its version, so that an answer tells who gave it. Every `--every` seconds a new
version is copied into the model's folder, slowly, file by file, and the oldest goes away; some versions are damaged and
never serve. Good requests go on by gRPC and by HTTP all the while, with bad ones of many kinds between them. A good
request that fails, an answer that no version gives, memory that grows, a thread or a file that is left: each is a
finding, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import numpy as np

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.serving import PredictRequest, PredictResponse
from tensorkeep.proto.tensors import tensor_of_array
from tests.support.server_processes import Measured, free_ports, measured

PREDICT = "/tensorflow.serving.PredictionService/Predict"
WIDTH = 256
CONNECTIONS = 4  # of each protocol
GROWTH = 1.10  # of memory, from the first third of the time to the last

BAD_BODIES = (
    b"",
    b"{",
    b"[1, 2]",
    b'{"instances": []}',
    b'{"instances": [[1.0, "x"]]}',
    b'{"instances": [[1.0, 2.0], [1.0]]}',
    b'{"inputs": {"nothing": 1}}',
    b'{"signature_name": "other", "instances": [[1.0]]}',
    b'{"instances": ' + b"[" * 5000,
    b"\xff\xfe\x00",
)


@dataclass
class Record:
    """What happened, counted, and what is wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    samples: list[Measured] = field(default_factory=list)
    """Of the server and its workers, one each second."""

    def wrong(self, what: str) -> None:
        self.counts["wrong"] += 1
        if len(self.findings) < 20:
            self.findings.append(what)


def export(folder: Path, version: int) -> None:
    """A version of the model: it multiplies what it gets by its number, through a table of weights of some size."""

    def scaled(x: Any) -> dict[str, Any]:
        weights = tf.get_variable("weights", initializer=tf.constant(np.eye(WIDTH, dtype=np.float32) * version))
        return {"y": tf.matmul(x, weights)}

    tk.saved_model.from_function(scaled, {"x": (tf.float32, [None, WIDTH])}, str(folder / str(version)))


class Soak:
    """A server under load, and the folder of its model."""

    def __init__(self, folder: Path, given: argparse.Namespace) -> None:
        self.base, self.made = folder / "model", folder / "made"
        self.base.mkdir()
        self.given = given
        self.chance = random.Random(given.seed)
        self.record = Record()
        self.possible = {1}  # versions that may answer
        self.end = time.monotonic() + 60 * given.minutes
        self.port, self.rest_port = free_ports(2)
        export(self.base, 1)

    async def run(self, server: subprocess.Popen[bytes]) -> Record:
        await self._until_ready(server)
        tasks = [self._keep_asking_grpc() for _ in range(CONNECTIONS)]
        tasks += [self._keep_asking_rest() for _ in range(CONNECTIONS)]
        tasks += [self._keep_asking_badly(), self._switch_versions(), self._watch(server)]
        await asyncio.gather(*tasks)
        return self.record

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.end

    def _row(self) -> np.ndarray[Any, Any]:
        return np.full((1, WIDTH), self.chance.randrange(1, 100), np.float32)

    def _check(self, row: Any, answer: Any, how: str) -> None:
        found = np.asarray(answer, np.float32).reshape(-1)
        scale = float(found[0] / row[0, 0]) if found.size == WIDTH else 0.0
        if scale not in self.possible or not np.array_equal(found, row[0] * scale):
            self.record.wrong(
                f"{how} answered {found[:3]} for {row[0, :3]}; versions {sorted(self.possible)} may answer"
            )
        self.record.counts[f"answers by {how}"] += 1

    async def _keep_asking_grpc(self) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options) as channel:
            ask = channel.unary_unary(PREDICT, serialize, PredictResponse.FromString)
            while not self.is_over:
                row = self._row()
                request = PredictRequest()
                request.model_spec.name = "m"
                request.inputs["x"].CopyFrom(tensor_of_array(row))
                try:
                    response = await ask(request, timeout=20)
                except grpc.RpcError as error:
                    self.record.wrong(f"gRPC: {error.code()} {error.details()}")  # type: ignore[attr-defined]
                else:
                    self._check(row, response.outputs["y"].float_val, "gRPC")
                await asyncio.sleep(self.given.pause)

    async def _keep_asking_rest(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.rest_port)
        while not self.is_over:
            row = self._row()
            status, body = await http(reader, writer, json.dumps({"instances": row.tolist()}).encode())
            if status != 200:
                self.record.wrong(f"HTTP: {status} {body[:200]!r}")
            else:
                self._check(row, json.loads(body)["predictions"], "HTTP")
            await asyncio.sleep(self.given.pause)
        writer.close()

    async def _keep_asking_badly(self) -> None:
        while not self.is_over:
            kind = self.chance.randrange(4)
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.rest_port)
                if kind == 0:  # hangs up in the middle
                    writer.write(b"POST /v1/models/m:predict HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{")
                    await writer.drain()
                elif kind == 1:  # no HTTP at all
                    writer.write(self.chance.randbytes(200))
                    await writer.drain()
                else:
                    path = self.chance.choice(["/v1/models/m:predict", "/v1/models/none:predict", "/v1/models/m:fly"])
                    status, _ = await http(reader, writer, self.chance.choice(BAD_BODIES), path)
                    if not 400 <= status < 500:
                        self.record.wrong(f"a bad request was answered by {status}")
                writer.close()
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            self.record.counts["bad requests"] += 1
            await asyncio.sleep(0.05)

    async def _switch_versions(self) -> None:
        version = 1
        while not self.is_over:
            await asyncio.sleep(self.given.every)
            version += 1
            if version % 5 == 0:  # a damaged version, which must never answer
                await self._copied(version, damaged=True)
                self.record.counts["damaged versions"] += 1
                continue
            self.possible.add(version)
            await self._copied(version)
            self.record.counts["versions"] += 1
            for old in sorted(self.base.iterdir(), key=lambda path: int(path.name))[:-3]:
                shutil.rmtree(old)

    async def _copied(self, version: int, damaged: bool = False) -> None:
        """Puts a version into the model's folder as slow copies do: one file after the other."""
        await asyncio.get_running_loop().run_in_executor(None, export, self.made, version)
        source = self.made / str(version)
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            target = self.base / file.relative_to(self.made)
            target.parent.mkdir(parents=True, exist_ok=True)
            data = file.read_bytes()
            target.write_bytes(data[: len(data) // 2] if damaged else data)
            await asyncio.sleep(0.3)
        shutil.rmtree(source)

    async def _watch(self, server: subprocess.Popen[bytes]) -> None:
        while not self.is_over:
            self.record.samples.append(measured(server.pid))
            if server.poll() is not None:
                self.record.wrong(f"the server ended with {server.returncode}")
                self.end = 0
            await asyncio.sleep(1)

    async def _until_ready(self, server: subprocess.Popen[bytes]) -> None:
        for _ in range(600):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.rest_port)
                writer.close()
                return
            except ConnectionError:
                if server.poll() is not None:
                    raise SystemExit(f"the server ended with {server.returncode}") from None
                await asyncio.sleep(0.1)
        raise SystemExit("the server did not start within a minute")


async def http(reader: Any, writer: Any, body: bytes, path: str = "/v1/models/m:predict") -> tuple[int, bytes]:
    """The status and body of the answer to a POST."""
    writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    return int(head.split()[1]), await reader.readexactly(length)


def growth(record: Record) -> list[str]:
    """What grew: the middle of the last third beside that of the first, which is past the start."""
    samples = record.samples[len(record.samples) // 10 :]
    third = len(samples) // 3
    if third < 5:
        return []
    first, last = (
        [sorted(item[at] for item in part)[third // 2] for at in range(3)]
        for part in (samples[:third], samples[-third:])
    )
    found = [f"memory grew from {first[0] >> 20} to {last[0] >> 20} MiB"] if last[0] > first[0] * GROWTH else []
    found += [f"threads grew from {first[1]} to {last[1]}"] if last[1] > first[1] + 2 else []
    found += [f"open files grew from {first[2]} to {last[2]}"] if last[2] > first[2] + 8 else []
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.serving", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=20, help="seconds between two versions")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two requests of a connection")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        soak = Soak(Path(name), given)
        command = [sys.executable, "-m", "tensorkeep", "serve", "--model", f"m={soak.base}", "--host", "127.0.0.1"]
        command += ["--port", str(soak.port), "--rest-port", str(soak.rest_port), "--workers", str(given.workers)]
        server = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
        try:
            record = asyncio.run(soak.run(server))
        finally:
            server.send_signal(signal.SIGTERM)
            code = server.wait(60)
    findings = [*record.findings, *growth(record)]
    findings += [f"the server ended with {code}"] if code else []
    for what, count in sorted(record.counts.items()):
        print(f"{count:8} {what}")
    first, last = record.samples[len(record.samples) // 10], record.samples[-1]
    print(f"memory {first.memory >> 20} -> {last.memory >> 20} MiB, threads {first.threads} -> {last.threads}")
    print(f"open files {first.files} -> {last.files}")
    print("\n".join(f"WRONG: {what}" for what in findings) or "nothing is wrong")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
