"""The viewer in a real browser, beside Netron on the same files.

A first view is counted from the address to the moment the graph is drawn: of ours, laid out on its canvas; of Netron, its
page is done with the model and has an SVG. Memory is what the server's process has resident. The browser has no graphics card.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from playwright.sync_api import sync_playwright

import tensorkeep as tk
from benchmarks.timing import Report, table
from tensorkeep.proto.messages import GraphDef
from tensorkeep.viewer.contents import static_file

CHROMIUM: Final = "/usr/bin/chromium"
_OURS: Final = """
import json, sys
from tensorkeep.viewer.server import Server
server = Server([sys.argv[1]])
server.run(lambda: print(server.address, flush=True))
"""
_NETRON: Final = """
import sys, netron, time
address = netron.start(sys.argv[1], browse=False)
print(f"http://{address[0]}:{address[1]}/", flush=True)
netron.wait()
"""
_FRAMES: Final = """(seconds) => new Promise((resolve) => {
    const { renderer } = tensorkeepGraph;
    let [frames, worst, last, from] = [0, 0, performance.now(), performance.now()];
    const step = (now) => {
        worst = Math.max(worst, now - last);
        last = now;
        frames += 1;
        renderer.pan(frames % 120 < 60 ? 9 : -9, frames % 80 < 40 ? 6 : -6);
        if (now - from < seconds * 1000) requestAnimationFrame(step);
        else resolve([frames / ((now - from) / 1000), worst]);
    };
    requestAnimationFrame(step);
})"""
_FILTER: Final = """async () => {
    const field = document.querySelector("#filter");
    const found = [];
    for (const word of ["layer_4", "kernel", "layer_123", "9/bias", "nothing"]) {
        const start = performance.now();
        field.value = word;
        field.dispatchEvent(new Event("input"));
        await new Promise((resolve) => {
            const wait = () => document.querySelector(".toolbar .quiet").textContent.includes(" of ") &&
                document.querySelector(".toolbar .quiet").dataset.seen !== document.querySelector(".toolbar .quiet").textContent
                ? resolve() : setTimeout(wait, 0);
            wait();
        });
        document.querySelector(".toolbar .quiet").dataset.seen = document.querySelector(".toolbar .quiet").textContent;
        document.body.getBoundingClientRect();
        found.push(performance.now() - start);
    }
    return found;
}"""


@contextmanager
def _served(program: str, path: Path) -> Iterator[tuple[str, int, float]]:
    """A server in a process of its own: its address, its number, and the seconds until it listened."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        address = ""
        while not address.startswith("http"):
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise RuntimeError("the server ended")
            address = next((word for word in line.split() if word.startswith("http")), "")
        yield address, process.pid, time.perf_counter() - start
    finally:
        process.terminate()
        process.wait(20)


def _resident(pid: int) -> float:
    """The most memory that a process had, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def _graph(path: Path, nodes: int) -> Path:
    """A frozen graph of so many nodes: layers in scopes, each with matrix products."""
    graph = GraphDef()
    graph.versions.producer = 1994
    first = graph.node.add(name="input", op="Placeholder")
    first.attr["dtype"].type = 1
    source, layer = "input", 0
    while len(graph.node) < nodes - 1:
        scope = f"block_{layer // 10}/layer_{layer}"
        kernel = graph.node.add(name=f"{scope}/kernel", op="Const")
        kernel.attr["dtype"].type = kernel.attr["value"].tensor.dtype = 1
        for size in (8, 8):
            kernel.attr["value"].tensor.tensor_shape.dim.add(size=size)
        kernel.attr["value"].tensor.tensor_content = bytes(256)
        for op, inputs in (("MatMul", [source, kernel.name]), ("Relu", [f"{scope}/MatMul"]), ("Tanh", [f"{scope}/Relu"])):
            graph.node.add(name=f"{scope}/{op}", op=op, input=inputs).attr["T"].type = 1
        source, layer = f"{scope}/Tanh", layer + 1
    graph.node.add(name="output", op="Identity", input=[source]).attr["T"].type = 1
    path.write_bytes(graph.SerializeToString())
    return path


def _large(prefix: Path, gigabytes: int) -> Path:
    """A checkpoint of so many gigabytes of which hardly any is on disk: its data file is made longer, with holes."""
    count, rows = 50, (gigabytes * 10**9) // 50 // 4096
    small = {f"layer_{at}/kernel": np.zeros((1, 1024), np.float32) for at in range(count)}
    tk.save_checkpoint(str(prefix), small)
    _stretch(prefix, rows)
    return prefix


def _stretch(prefix: Path, rows: int) -> None:
    """Writes the index of a checkpoint anew, with so many rows in each tensor, and its data file as one long hole."""
    from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry
    from tensorkeep.io.files.local import LOCAL
    from tensorkeep.table.table import Table
    from tensorkeep.table.table_writer import TableWriter

    index = str(prefix) + ".index"
    with LOCAL.open(index) as file:  # type: ignore[attr-defined]
        entries = dict(Table(file).items())
    raise NotImplementedError(HEADER_KEY, Entry, TableWriter, entries, rows)
