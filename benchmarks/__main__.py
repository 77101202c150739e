"""Runs the measurements: `python -m benchmarks [name ...]`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        help="which to run: save load rows small memory footprint graphs saver embedding embedding_files start "
        "models engines editing images serving cluster stores view steps inputs (all)",
    )
    parser.add_argument("--mib", type=int, default=1024, help="size of the large checkpoint")
    parser.add_argument("--edited", type=int, default=4096, help="size of the checkpoint that is edited, in MiB")
    parser.add_argument("--count", type=int, default=50_000, help="number of small tensors")
    parser.add_argument("--rounds", type=int, default=7, help="rounds after the first, which warms up")
    parser.add_argument("--keys", type=int, default=10_000_000, help="number of keys of an embedding table")
    parser.add_argument(
        "--case",
        default="",
        help="of graphs, engines, serving, cluster, steps and inputs, only the cases whose names contain this",
    )
    parser.add_argument(
        "--fragmented", type=float, metavar="GIB", help="fragment all memory meanwhile, but for so much that stays free"
    )
    parser.add_argument("--chart", type=Path, help="draw the speeds as an SVG picture")
    parser.add_argument("--folder", type=Path, help="where to put files (default: a temporary folder here)")
    arguments = parser.parse_args()

    import numpy as np
    import tensorflow as tf

    import tensorkeep as tk
    from benchmarks import (
        chart,
        cluster,
        editing,
        embedding,
        embedding_files,
        engines,
        footprint,
        graphs,
        images,
        inputs,
        large,
        memory,
        models,
        pressure,
        saver,
        small,
        start,
        steps,
        stores,
        view,
    )
    from benchmarks.serving import report as server_report

    size, rounds = arguments.mib << 20, arguments.rounds
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=arguments.folder or Path.cwd()) as name:
        folder = Path(name)
        runs = {
            "save": lambda: large.saving(folder / "save", size, rounds),
            "load": lambda: large.loading(folder / "load", size, rounds),
            "rows": lambda: large.rows(folder / "rows", size, rounds),
            "small": lambda: small.small_tensors(folder / "small", arguments.count, rounds),
            "memory": lambda: memory.memory(folder / "memory", size),
            "footprint": lambda: footprint.footprint(folder / "footprint", rounds),
            "graphs": lambda: graphs.graphs(rounds, arguments.case),
            "saver": lambda: saver.savers(folder / "saver", size, rounds),
            "embedding": lambda: embedding.embeddings(arguments.keys, rounds),
            "embedding_files": lambda: embedding_files.embedding_files(folder / "embedding", arguments.keys, rounds),
            "start": lambda: start.start(folder / "start", arguments.count, rounds),
            "models": lambda: models.models(folder / "models", rounds),
            "engines": lambda: engines.engines(folder / "engines", rounds, arguments.case),
            "images": lambda: images.images(rounds),
            "cluster": lambda: cluster.clusters(
                folder / "cluster", 2 * size, arguments.keys, min(rounds, 5), arguments.case
            ),
            "serving": lambda: server_report.serving(folder / "serving", min(rounds, 3), arguments.case),
            "stores": lambda: stores.stores(folder / "stores", size, min(rounds, 3)),
            "view": lambda: view.view(folder / "view", min(rounds, 3)),
            "steps": lambda: steps.steps(min(rounds, 5), arguments.case),
            "inputs": lambda: inputs.inputs(folder / "inputs", min(rounds, 5), arguments.case),
            "editing": lambda: editing.editing(folder / "editing", arguments.edited << 20, min(rounds, 3)),
        }
        wanted = arguments.names or list(runs)
        if unknown := [item for item in wanted if item not in runs]:
            parser.error(f"unknown: {', '.join(unknown)}; known are {', '.join(runs)}")
        print(
            f"tensorkeep {tk.__version__}, TensorFlow {tf.__version__}, NumPy {np.__version__}, Python "
            f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors, {rounds} rounds\n"
        )
        bars: dict[str, float] = {}
        leave = arguments.fragmented
        for item in wanted:
            with nullcontext() if leave is None else pressure.fragmented(int(leave * (1 << 30))):
                report = runs[item]()
            bars.update(report.bars)
            print(report.text, "\n", flush=True)
    if arguments.chart:
        arguments.chart.write_text(chart.draw(bars))
    return 0


if __name__ == "__main__":
    sys.exit(main())
