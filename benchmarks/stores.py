"""Checkpoints in an S3 server on the loopback, beside boto3 with s3transfer and obstore's plain put and get.

The server is s3rver (npm) if `s3rver` is on the path, else moto, which is slow: it reads a whole object for each range.
Both compute in one thread, and share the machine with those who ask. Requests are counted by what obstore is asked.
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import boto3  # type: ignore[import-untyped]
import numpy as np
import obstore
import obstore.store

import tensorkeep as tk
from benchmarks.timing import Contender, Report, medians, spread, table, take_turns
from tensorkeep.io.stores import objects

_BUCKET: Final = "bench"
_USER: Final = {"s3rver": "S3RVER", "moto": "someone"}  # name and password alike
_ROW: Final = 64  # elements of float32
_COUNT: Final = 50_000


def stores(folder: Path, size: int, rounds: int) -> Report:
    """Saves, loads, lists and looks up rows."""
    folder.mkdir(parents=True, exist_ok=True)
    with _server(folder) as (kind, endpoint):
        user = _USER[kind]
        options = {"endpoint": endpoint, "region": "us-east-1", "access_key_id": user, "secret_access_key": user}
        tk.storage(f"s3://{_BUCKET}", **options)  # type: ignore[arg-type]
        client = boto3.client(
            "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=user, aws_secret_access_key=user
        )
        if kind == "moto":
            client.create_bucket(Bucket=_BUCKET)
        plain: Any = obstore.store.from_url(
            f"s3://{_BUCKET}", client_options={"allow_http": True, "timeout": "600s"}, **options
        )
        text = [f"Stores: {size >> 20} MiB, {kind} on the loopback", _throughput(client, plain, size, rounds)]
        text += [_listing(), _rows(size, rounds)]
    return Report("\n\n".join(text))


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, str]]:
    """Starts an S3 server. Gives which it is, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kind = "s3rver" if shutil.which("s3rver") else "moto"
    command = {
        "s3rver": ["s3rver", "-d", str(folder), "-a", "127.0.0.1", "--silent", "--configure-bucket", _BUCKET],
        "moto": [sys.executable, "-m", "moto.server"],
    }[kind]
    process = subprocess.Popen([*command, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield kind, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _throughput(client: Any, plain: Any, size: int, rounds: int) -> str:
    array = np.random.default_rng(0).integers(0, 255, size, np.uint8)
    data = array.tobytes()
    prefix = f"s3://{_BUCKET}/run/model"
    put = take_turns(
        [
            Contender("tensorkeep", lambda: tk.save_checkpoint(prefix, {"w": array})),
            Contender("boto3", lambda: client.upload_fileobj(io.BytesIO(data), _BUCKET, "by-boto3")),
            Contender("obstore", lambda: obstore.put(plain, "by-obstore", data)),
        ],
        rounds,
    )
    got = take_turns(
        [
            Contender("tensorkeep", lambda: tk.load_tensors(prefix)),
            Contender("boto3", lambda: client.download_fileobj(_BUCKET, "by-boto3", io.BytesIO())),
            Contender("obstore", lambda: obstore.get(plain, "by-obstore").bytes()),
        ],
        rounds,
        backed=size,
    )
    rows = []
    for what, seconds in (("save", put), ("load", got)):
        middle = medians(seconds)
        for name, taken in middle.items():
            ratio = "" if name == "tensorkeep" else f"{taken / middle['tensorkeep']:.2f}"
            rows.append([what, name, f"{taken:.2f}", spread(seconds[name]), f"{size / taken / 1e6:.0f}", ratio])
    return table(["work", "by", "s", "range", "MB/s", "ours is, of theirs"], rows)


def _listing() -> str:
    prefix = f"s3://{_BUCKET}/many/model"
    tk.save_checkpoint(prefix, {f"layer/{number}/weights": np.zeros(4, np.float32) for number in range(_COUNT)})
    with _counted() as requests:
        start = time.perf_counter()
        with tk.open_checkpoint(prefix) as reader:
            count = len(reader.infos())
        taken = time.perf_counter() - start
    return f"Open and list {count} tensors: {sum(requests.values())} requests, {taken:.3f} s"


def _rows(size: int, rounds: int) -> str:
    """Rows of a table: anywhere, and as vocabularies are used that are sorted by frequency."""
    count = size // (4 * _ROW)
    random = np.random.default_rng(1)
    prefix = f"s3://{_BUCKET}/table/model"
    tk.save_checkpoint(prefix, {"table": random.random((count, _ROW), np.float32)})
    often = np.minimum((count ** random.random(1000)).astype(np.int64), count - 1)
    wanted = {"anywhere": random.integers(0, count, 1000), "by frequency (log-uniform)": often}
    whole = medians(take_turns([Contender("all", lambda: tk.load_tensor(prefix, "table"))], rounds, backed=size))["all"]
    rows = []
    for name, chosen in wanted.items():
        with _counted() as requests, tk.open_checkpoint(prefix) as reader:
            requests.clear()
            reader.read_rows("table", chosen)
        look = Contender(name, lambda chosen=chosen: _look_up(prefix, chosen))  # type: ignore[misc]
        taken = medians(take_turns([look], rounds))[name]
        rows.append([name, str(sum(requests.values())), f"{taken:.3f}", f"{whole:.3f}", f"{whole / taken:.1f}"])
    return table(["1,000 rows", "requests", "s", "all of it, s", "times faster"], rows)


def _look_up(prefix: str, rows: Any) -> object:
    with tk.open_checkpoint(prefix) as reader:
        return reader.read_rows("table", rows)


@contextmanager
def _counted() -> Iterator[Counter[str]]:
    """Counts what obstore is asked for."""
    requests: Counter[str] = Counter()
    known = objects.imported_obstore

    class Counted:
        def __init__(self, module: Any) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Any:
            requests[name] += 1
            return getattr(self._module, name)

    objects.imported_obstore = lambda url: Counted(known(url))
    try:
        yield requests
    finally:
        objects.imported_obstore = known
