"""A server as a process, on free ports of this machine, for tests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
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

from tests.support.golden import golden
from tests.support.server_processes import free_ports

PATIENCE = 60.0  # seconds, for a machine that has other things to do
ROW = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def put_model(folder: Path, version: int = 1, case: str = "g26_tf1_simple_save") -> Path:
    """Copies a model below a base path, which is given back."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(golden(case) / "model", folder / str(version))
    return folder


@dataclass
class Running:
    """A server that runs."""

    process: subprocess.Popen[str]
    port: int
    rest_port: int
    log: Path
    context: ssl.SSLContext | None = None

    @property
    def said(self) -> str:
        return self.log.read_text()

    def url(self, path: str) -> str:
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.rest_port}{path}"

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """The status and the body of an answer."""
        return self._ask(urllib.request.Request(self.url(path), headers=headers))

    def post(self, path: str, body: object, **headers: str) -> tuple[int, Any]:
        """The status of an answer, and its JSON."""
        request = urllib.request.Request(self.url(path), json.dumps(body).encode(), headers=headers)
        status, text = self._ask(request)
        return status, json.loads(text)

    def predict(self, model: str = "m", **headers: str) -> tuple[int, Any]:
        return self.post(f"/v1/models/{model}:predict", {"instances": [ROW]}, **headers)

    def _ask(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def until_said(self, text: str, count: int = 1) -> None:
        """Waits until the log has a text so many times."""
        self.until(lambda: self.said.count(text) >= count)

    def until(self, holds: Any) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert self.process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.02)

    def stop(self) -> int:
        """Tells the server to stop; gives its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def environment() -> dict[str, str]:
    """That of this process, without what other tests may have set for TensorFlow's logs: the server heeds it, too."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TF_CPP_")}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tensorkeep", "serve", *arguments]


def original_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tensorkeep.tools.model_server", *arguments]


@contextmanager
def running(
    folder: Path, *arguments: str, original: bool = False, context: ssl.SSLContext | None = None
) -> Iterator[Running]:
    """A server that listens, stopped at the end if it has not stopped before."""
    port, rest_port = free_ports(2)
    if original:
        line = original_command(f"--port={port}", f"--rest_api_port={rest_port}", *arguments)
    else:
        line = command("--port", str(port), "--rest-port", str(rest_port), *arguments)
    log = folder / "log"
    with (
        log.open("w") as stream,
        subprocess.Popen(line, stdout=stream, stderr=stream, text=True, env=environment()) as process,
    ):
        server = Running(process, port, rest_port, log, context)
        try:
            server.until_said("Exporting HTTP/REST API at:")
            yield server
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise


def ended(line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """What a server said that did not start."""
    return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment())
