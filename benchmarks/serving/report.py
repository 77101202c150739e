"""The measurements of serving: latency, requests a second, batching, bodies, start, memory."""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.serving.models import ServedModel, dense, mobile_net
from benchmarks.serving.servers import LIGHT, OURS, THEIRS, USUAL, RunningServer, running
from benchmarks.timing import Contender, Report, medians, table, take_turns
from tensorkeep.native.json_tape import JsonLimits
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.serving.rest.binary_bodies import NPY, inputs_of, read_binary
from tensorkeep.serving.rest.predict_bodies import read_predict_body

_SECONDS: Final = 3.0
_CONNECTIONS: Final = 32
_PAIR: Final = (OURS, THEIRS)
_CLIENTS: Final = (LIGHT, USUAL)
_WHY: Final = (
    "Bars are read from the light client: raw bytes by sockets, the same for both servers. The usual one (grpcio; for "
    "HTTP the streams of asyncio) takes a good part of the processors that it shares with the server, and so measures "
    "itself"
)


def serving(folder: Path, rounds: int, case: str = "") -> Report:
    """All tables, or those whose names contain `case`.

    Contenders take turns; both servers run all the while, idle but for whoever's turn it is.
    """
    folder.mkdir(parents=True)
    small = dense(folder, "small", 2, 64)
    parts = {
        "latency": lambda: _latency(small, rounds),
        "throughput": lambda: _throughput(small, rounds),
        "batching": lambda: _batching(mobile_net(folder), rounds),
        "bodies": lambda: _bodies(mobile_net(folder), rounds),
        "starts": lambda: _starts({"small model": small, "model of 100 MB": dense(folder, "large", 25, 1024)}, rounds),
        "memory": lambda: _memory(dense(folder, "huge", 31, 2048)),
    }
    return Report("\n\n".join(part() for name, part in parts.items() if case in name))


def _directory(who: str, model: ServedModel) -> str:
    return str(model.base) if who == OURS else model.version


def _latency(model: ServedModel, rounds: int) -> str:
    signature = load_saved_model(model.version).signatures["serving_default"]
    signature(**model.row)
    request = model.grpc_request()
    found: dict[tuple[str, str], list[dict[str, Any]]] = {(client, who): [] for client in _CLIENTS for who in _PAIR}
    bare = []
    with (
        running(OURS, _directory(OURS, model), model.body) as ours,
        running(THEIRS, _directory(THEIRS, model), model.body) as theirs,
    ):
        servers = {OURS: ours, THEIRS: theirs}
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(1000):
                signature(**model.row)
            bare.append((time.perf_counter() - start) / 1000)
            for (client, who), results in found.items():
                results.append(servers[who].ask("grpc", request, 1, _SECONDS / 2, client=client))
    engine = statistics.median(bare)
    rows = []
    for (client, who), results in found.items():
        middle = statistics.median(item["median"] for item in results)
        late = statistics.median(item["p99"] for item in results)
        rows.append([client, who, f"{middle * 1e3:.3f}", f"{(middle - engine) * 1e3:.3f}", f"{late / middle:.1f}"])
    head = ["client", "", "median, ms", "over the bare call, ms (bar: 0.6)", "99th percentile, of the median (bar: 3)"]
    return (
        f"gRPC Predict, one connection, dense model of 2 layers of 64; the bare engine call takes {engine * 1e3:.3f} ms"
        f". {_WHY}\n\n{table(head, rows)}"
    )


def _rates(
    servers: Mapping[str, RunningServer], protocol: str, request: Path, rounds: int, *, client: str = LIGHT
) -> dict[str, float]:
    """Answers a second of each server, the median over rounds; errors end it."""
    found: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(rounds):
        for name, server in servers.items():
            result = server.ask(protocol, request, _CONNECTIONS, _SECONDS, client=client)
            if result["errors"]:
                raise RuntimeError(f"{name} answered {result['errors']} requests with errors")
            found[name].append(result["rate"])
    return {name: statistics.median(values) for name, values in found.items()}


def _throughput(model: ServedModel, rounds: int) -> str:
    rows = []
    with (
        running(OURS, _directory(OURS, model), model.body, workers=2) as ours,
        running(THEIRS, _directory(THEIRS, model), model.body, workers=2) as theirs,
    ):
        servers = {OURS: ours, THEIRS: theirs}
        for protocol, request, bar in (("grpc", model.grpc_request(), 2.0), ("rest", model.rest_request(), 1.5)):
            for client in _CLIENTS:
                rates = _rates(servers, protocol, request, rounds, client=client)
                figures = [f"{rates[who]:.0f}" for who in _PAIR]
                rows.append([protocol, client, *figures, _times(rates), f"{bar:.1f}" if client == LIGHT else ""])
    head = ["", "client", f"{OURS}, requests/s", f"{THEIRS}, requests/s", "times", "bar"]
    return f"{_CONNECTIONS} connections, 2 workers, dense model of 2 layers of 64. {_WHY}\n\n{table(head, rows)}"


def _times(rates: Mapping[str, float]) -> str:
    return f"{rates[OURS] / rates[THEIRS]:.2f}"


def _batching(model: ServedModel, rounds: int) -> str:
    """Requests of many connections one by one and together, by our kernels and by ONNX Runtime, beside the opponent."""
    request = model.grpc_request()
    by_engine = ["--engine", "onnxruntime", "--threads", "1"]
    ours, theirs = _directory(OURS, model), _directory(THEIRS, model)
    with (
        running(OURS, ours, model.body) as plain,
        running(OURS, ours, model.body, options=["--batching"]) as batched,
        running(OURS, ours, model.body, options=by_engine) as fast,
        running(OURS, ours, model.body, options=[*by_engine, "--batching"]) as fast_batched,
        running(THEIRS, theirs, model.body, options=["--batching"]) as opponent,
    ):
        servers = {
            f"{OURS}, off": plain,
            f"{OURS}, on": batched,
            f"{OURS}, ONNX Runtime, off": fast,
            f"{OURS}, ONNX Runtime, on": fast_batched,
            f"{THEIRS}, on": opponent,
        }
        rates = _rates(servers, "grpc", request, rounds)
    base = rates[f"{OURS}, off"]
    rows = [[name, f"{rate:.1f}", f"{rate / base:.2f}"] for name, rate in rates.items()]
    head = ["batching", "requests/s", "of ours without it (bar: 1.3, and not behind the opponent)"]
    return f"MobileNetV2, 224 x 224 pixels, {_CONNECTIONS} connections, one worker\n\n{table(head, rows)}"


def _bodies(model: ServedModel, rounds: int) -> str:
    """One image as a body: JSON and .npy to an array, by ours and by hand, and whole requests to a small model."""
    ((name, image),) = model.row.items()
    text, plain = model.body, _npy(image)
    signature = SignatureDef()
    signature.inputs[name].dtype = 1
    limits = JsonLimits()
    contenders = [
        Contender("JSON, json and NumPy by hand", lambda: np.array(json.loads(text)["instances"], np.float32)),
        Contender("JSON, tensorkeep", lambda: read_predict_body(text, limits).arrays(signature)),
        Contender(".npy, tensorkeep", lambda: inputs_of(read_binary(NPY, NPY, plain, 1 << 30), signature)),
    ]
    middle = medians(take_turns(contenders, rounds * 3))
    hand, ours, binary = middle.values()
    rows = [[item, f"{seconds * 1e3:.3f}", f"{hand / seconds:.1f}"] for item, seconds in middle.items()]
    head = ["", "ms", "times faster than by hand"]
    return (
        f"A body of 224 x 224 x 3 floats ({len(text) >> 10} KiB of JSON) to an array (bars: JSON 3 times by hand, "
        f".npy 10 times JSON; here {hand / ours:.1f} and {ours / binary:.1f})\n\n{table(head, rows)}"
    )


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _starts(models: Mapping[str, ServedModel], rounds: int) -> str:
    rows = []
    for (name, model), bar in zip(models.items(), (0.8, 1.2), strict=True):
        found: dict[str, list[float]] = {who: [] for who in _PAIR}
        for _ in range(rounds):
            for who in _PAIR:
                with running(who, _directory(who, model), model.body) as server:
                    found[who].append(server.started)
        ours, theirs = (statistics.median(found[who]) for who in _PAIR)
        rows.append([name, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}", f"{bar}"])
    head = ["", f"{OURS}, s", f"{THEIRS}, s", "times faster", "bar, s"]
    return f"From the start of the process to the first answer\n\n{table(head, rows)}"


def _memory(model: ServedModel) -> str:
    found = {}
    for workers in (1, 4):
        with running(OURS, _directory(OURS, model), model.body, workers=workers) as server:
            server.ask("rest", model.rest_request(), 8, 2.0)
            found[workers] = server.memory()
    rows = [[str(number), f"{size / 1e6:.0f}", f"{size / found[1]:.2f}"] for number, size in found.items()]
    return f"Memory with a model of 500 MB\n\n{table(['workers', 'MB (PSS)', 'of one (bar: 1.3)'], rows)}"
