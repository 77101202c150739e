"""The viewer in a real browser, beside Netron on the same files.

A first view is counted from the address to the moment the graph is drawn: of ours, laid out on its canvas; of Netron,
nodes in the SVG that it shows. Netron draws every node, and ours its scopes folded; how long it takes to open them all
is told beside. Memory is the most that the server's process had resident. The browser has no graphics card. Netron asks
a question about cookies before it draws: it was answered before.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright

import tensorkeep as tk
from benchmarks.timing import Report, table
from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry, Header
from tensorkeep.dtypes import FLOAT32
from tensorkeep.proto.messages import GraphDef
from tensorkeep.table.table_writer import TableWriter
from tensorkeep.viewer.page import static_file

CHROMIUM: Final = "/usr/bin/chromium"
_NETRON_PATIENCE: Final = 20.0  # seconds for 10 GB: its server reads all of it into memory
_OURS: Final = """
import sys
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
            const told = document.querySelector(".toolbar .quiet");
            const isNew = () => told.textContent.includes(" of ") && told.dataset.seen !== told.textContent;
            const wait = () => (isNew() ? resolve() : setTimeout(wait, 0));
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
        for op, inputs in (
            ("MatMul", [source, kernel.name]),
            ("Relu", [f"{scope}/MatMul"]),
            ("Tanh", [f"{scope}/Relu"]),
        ):
            graph.node.add(name=f"{scope}/{op}", op=op, input=inputs).attr["T"].type = 1
        source, layer = f"{scope}/Tanh", layer + 1
    graph.node.add(name="output", op="Identity", input=[source]).attr["T"].type = 1
    path.write_bytes(graph.SerializeToString())
    return path


def _large(prefix: Path, gigabytes: int) -> Path:
    """A checkpoint of so many gigabytes, of which none is on disk: its data file is one long hole."""
    count, columns = 50, 1024
    rows = gigabytes * 10**9 // count // (4 * columns)
    size = rows * columns * 4
    entries = {
        f"layer_{at:02}/kernel": Entry("", FLOAT32, (rows, columns), 0, at * size, size, 0).encode()
        for at in range(count)
    }
    with open(f"{prefix}.index", "wb") as file:
        writer = TableWriter(file)
        writer.add(HEADER_KEY, Header(1).encode())
        for name, value in entries.items():
            writer.add(name.encode(), value)
        writer.finish()
    with open(f"{prefix}.data-00000-of-00001", "wb") as file:
        file.truncate(count * size)
    return prefix


def _new_page(browser: Any, address: str) -> Any:
    """A page that asks nothing of other machines, in which Netron's question about cookies was answered before."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "consent", "value": str(int(time.time() * 1000)), "url": address}])
    context.route(lambda url: not url.startswith(_own_origins(address)), lambda route: route.abort())
    return context.new_page()


def _own_origins(address: str) -> tuple[str, ...]:
    return (address.partition("?")[0], "blob:", "data:")


def _first_view(browser: Any, address: str, is_drawn: Callable[[Any], bool], limit: float) -> tuple[float | None, Any]:
    """Seconds from the address to the drawing, and the page; None if it did not come in time."""
    page = _new_page(browser, address)
    start = time.perf_counter()
    page.goto(address)
    while time.perf_counter() - start < limit:
        try:
            if is_drawn(page):
                return time.perf_counter() - start, page
        except PlaywrightError:  # the page is on its way
            pass
        time.sleep(0.01)
    return None, page


def _ours_drawn(page: Any) -> bool:
    return bool(page.evaluate("Boolean(document.querySelector('canvas.graph[data-ready]'))"))


def _netron_drawn(page: Any) -> bool:
    # By a locator: its page forbids evaluating anything in it. It shows its drawing when all of it is placed.
    return bool(page.locator("body.default svg#canvas g.node").count())


def view(folder: Path, rounds: int) -> Report:
    """First views, frames, filtering, opening and weights of the page, beside Netron."""
    folder.mkdir(parents=True)
    lines: list[list[str]] = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for nodes in (1_000, 20_000, 100_000):
            path = _graph(folder / f"graph-{nodes}.pb", nodes)
            limit = 120.0 if nodes > 20_000 else 60.0
            ours, theirs = (
                _views(
                    browser, program, path, drawn, limit, min(rounds, 3) if nodes < 20_000 or program is _OURS else 1
                )
                for program, drawn in ((_OURS, _ours_drawn), (_NETRON, _netron_drawn))
            )
            lines.append(
                [
                    f"first view of {nodes:,} nodes, s",
                    _shown(ours, limit),
                    _shown(theirs, limit),
                    "2" if nodes == 20_000 else "",
                ]
            )
        lines += _of_frames(browser, folder / "graph-20000.pb")
        lines += _of_weights(browser, folder, rounds)
        browser.close()
    weight = sum(len(gzip.compress(static_file(name))) for name in ("index.html", "app.css", "app.js"))
    lines.append(["the page, compressed, KB", f"{weight / 1000:.0f}", "", "1,500"])
    text = table(["", "tensorkeep", "Netron", "bar"], lines)
    return Report(f"The viewer in Chromium without a graphics card, beside Netron {_netron_version()}\n\n{text}", {})


def _netron_version() -> str:
    return version("netron")


def _shown(seconds: float | None, limit: float) -> str:
    return f"not within {limit:.0f}" if seconds is None else f"{seconds:.2f}"


def _views(
    browser: Any, program: str, path: Path, drawn: Callable[[Any], bool], limit: float, rounds: int
) -> float | None:
    """The median of first views, each of a server that nobody has asked anything before; None if one did not come."""
    found: list[float] = []
    for _ in range(rounds):
        with _served(program, path) as (address, _, _):
            seconds, page = _first_view(browser, address, drawn, limit)
            page.context.close()
        if seconds is None:
            return None
        found.append(seconds)
    return median(found)


def _of_frames(browser: Any, path: Path) -> list[list[str]]:
    """Frames a second while panning, folded as it is at first and with everything open and in sight."""
    with _served(_OURS, path) as (address, _, _):
        _, page = _first_view(browser, address, _ours_drawn, 60)
        folded = page.evaluate(_FRAMES, 2)
        page.evaluate("tensorkeepGraph.openAll()")
        start = time.perf_counter()
        while page.evaluate("tensorkeepGraph.renderer.drawnBoxes") < 15_000 and time.perf_counter() - start < 60:
            time.sleep(0.05)
        opening = time.perf_counter() - start
        page.evaluate("tensorkeepGraph.renderer.fit(0.3)")
        time.sleep(0.5)
        opened = page.evaluate(_FRAMES, 2)
        boxes = page.evaluate("tensorkeepGraph.renderer.drawnBoxes")
        page.context.close()
    return [
        ["frames a second, panning, scopes folded", f"{folded[0]:.0f}", "", "30"],
        [f"frames a second, panning, {boxes:,} boxes", f"{opened[0]:.0f}", "", "30"],
        ["the longest of these frames, ms", f"{opened[1]:.0f}", "", ""],
        ["opening all scopes of 20,000 nodes, s", f"{opening:.1f}", "", ""],
    ]


def _of_weights(browser: Any, folder: Path, rounds: int) -> list[list[str]]:
    many = folder / "many"
    tk.save_checkpoint(
        str(many),
        {f"layer_{at // 2}/{'kernel' if at % 2 else 'bias'}": np.zeros(1, np.float32) for at in range(50_000)},
    )
    with _served(_OURS, many) as (address, _, _):
        page = browser.new_page()
        page.goto(f"{address}#/0/weights")
        page.wait_for_selector("#filter", timeout=60_000)
        times = page.evaluate(_FILTER)
        page.close()
    large = _large(folder / "large", 10)
    opening, memory = [], 0.0
    with _served(_OURS, large) as (address, pid, start):
        for _ in range(max(rounds, 1)):
            begun = time.perf_counter()
            page = browser.new_page()
            page.goto(f"{address}#/0/weights")
            page.wait_for_selector(".row.pick", timeout=60_000)
            opening.append(time.perf_counter() - begun)
            page.close()
        memory = _resident(pid)
    theirs, their_memory = _netron_opens(browser, Path(f"{large}.index"))
    return [
        ["filtering 50,000 tensors, ms, longest of five", f"{max(times):.0f}", "", "50"],
        ["opening 10 GB, s: the page", f"{median(opening):.2f}", theirs, "1"],
        ["opening 10 GB, s: the server's start", f"{start:.2f}", "", ""],
        ["opening 10 GB, MB of the server's memory", f"{memory:.0f}", their_memory, "200"],
    ]


def _netron_opens(browser: Any, path: Path) -> tuple[str, str]:
    """The seconds until Netron shows a checkpoint, and the MB that its server has in memory then, or at the end."""
    with _served(_NETRON, path) as (address, pid, _):
        seconds, page = _first_view(browser, address, _netron_drawn, _NETRON_PATIENCE)
        memory = f"{_resident(pid):,.0f}"
        page.context.close()
    return _shown(seconds, _NETRON_PATIENCE), memory if seconds is not None else f"{memory} by then"
