"""Servers as processes of their own: ours and the opponent, started, asked and stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.server_processes import free_ports, measured

OURS = "tensorkeep"
THEIRS = "TensorFlow behind the same servers"
LIGHT = "light"
"""The client that takes little of the machine, which servers are measured by."""
USUAL = "usual"
"""The client that programs use."""


@dataclass(frozen=True)
class RunningServer:
    """A server that answers: its ports, and its process."""

    port: int
    rest_port: int
    process: subprocess.Popen[bytes]
    started: float
    """Seconds from the start of the process to the first answer."""

    def ask(
        self, protocol: str, request: Path, connections: int, seconds: float, *, client: str = LIGHT
    ) -> dict[str, Any]:
        """What a client in a process of its own measured."""
        port = self.port if protocol == "grpc" else self.rest_port
        command = [sys.executable, "-m", "benchmarks.serving.client", protocol, f"127.0.0.1:{port}", str(request)]
        command += ["--connections", str(connections), "--seconds", str(seconds)]
        command += ["--usual"] if client == USUAL else []
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def memory(self) -> int:
        """The bytes of memory that the server and its workers have, shared ones counted once (PSS)."""
        return measured(self.process.pid).memory


@contextmanager
def running(
    who: str, directory: str, body: bytes, *, workers: int = 1, options: Sequence[str] = (), threads: int = 0
) -> Iterator[RunningServer]:
    """A server of one model, called "m", until the context ends. `body` is a JSON request that it answers."""
    port, rest_port = free_ports(2)
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    if who == OURS:
        command = [sys.executable, "-m", "tensorkeep", "serve", "--model", f"m={directory}", "--host", "127.0.0.1"]
        if threads:
            environment["TENSORKEEP_THREADS"] = str(threads)
    else:
        command = [sys.executable, "-m", "benchmarks.serving.opponent", directory]
        environment["OPPONENT_THREADS"] = str(threads)
    command += ["--port", str(port), "--rest-port", str(rest_port), "--workers", str(workers), *options]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _wait_for_answer(process, rest_port, body)
        yield RunningServer(port, rest_port, process, time.perf_counter() - start)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _wait_for_answer(process: subprocess.Popen[bytes], port: int, body: bytes) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/models/m:predict", body)
    end = time.perf_counter() + 120
    while time.perf_counter() < end:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()
                return
        except (urllib.error.URLError, ConnectionError):
            if process.poll() is not None:
                raise RuntimeError(
                    f"the server ended: {(process.stderr.read() if process.stderr else b'')!r}"
                ) from None
            time.sleep(0.01)
    raise RuntimeError("the server did not answer within two minutes")
