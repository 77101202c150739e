"""Models at the sizes that people run, beside TensorFlow and ONNX Runtime, with one thread and with all.

    python -m benchmarks.real_sizes [name ...]              those whose names contain one of the words; all by default
    python -m benchmarks.real_sizes --page docs/zoo.md      the tables into that page, in the place of its last ones
    python -m benchmarks.real_sizes --engine numpy          our own kernels, beside TensorFlow alone

Each model has processes of its own, one for each number of threads, in which the contenders take turns. ONNX Runtime
gets the file that tf2onnx makes of the SavedModel; where that fails, or its answer is another, a dash stands for it
and a note below the table says why. `pip install tf2onnx onnxruntime` brings both; without them the columns are empty.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

SECTION: Final = re.compile(r"(?<=<!-- real sizes -->\n).*(?=<!-- end of real sizes -->)", re.DOTALL)
BATCHES: Final = (1, 32)
_AGREES: Final = 1e-4  # of the largest element, for a contender to count
_ROUND: Final = 0.3  # seconds, about, of calls in one round
_HEAD: Final = (
    "model",
    "input",
    *(f"{what}, batch {batch}" for batch in BATCHES for what in ("ms", "to TF", "to ORT")),
)


# ---------------------------------------------------------------------------------------------------- in the process


def limited_to(threads: int) -> None:
    """Gives this process so many processors, before any library counts them."""
    if threads and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(threads)


def _onnx_call(folder: str, threads: int) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that asks ONNX Runtime. Raises whatever the converter or the runtime raise."""
    import onnxruntime

    file = f"{folder}.onnx"
    if not os.path.exists(file):
        command = [sys.executable, "-m", "tf2onnx.convert", "--saved-model", folder, "--output", file, "--opset", "17"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not os.path.exists(file):
            raise RuntimeError(f"tf2onnx: {(done.stderr.strip().splitlines() or ['no file'])[-1][:100]}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def _differs(answer: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    from benchmarks.zoo import off

    error = off(answer, wanted)
    return None if error <= _AGREES else f"its answer is off by {error:.1e}"


def measure(name: str, folder: str, threads: int, rounds: int, engine: str) -> dict[str, Any]:
    """Milliseconds of each contender for each batch, and why one is missing. With one thread it is processor time."""
    import tensorflow as tf

    from benchmarks.real_models import MODELS
    from benchmarks.timing import Contender, medians, take_turns
    from tensorkeep.saved_model.load.model_loading import load_saved_model

    model = MODELS[name]
    if not os.path.exists(folder):
        model.export(folder)
    theirs = tf.saved_model.load(folder).signatures["serving_default"]
    ours = load_saved_model(folder, engine=engine).signatures["serving_default"]
    notes: dict[str, str] = {}
    try:
        onnx = None if engine == "numpy" else _onnx_call(folder, threads)
    except Exception as failure:
        onnx, notes["ORT"] = None, f"{type(failure).__name__}: {failure}"[:160]
    clock = time.process_time if threads == 1 else time.perf_counter
    times: dict[str, dict[str, float]] = {}
    for batch in BATCHES:
        inputs = model.inputs(batch)
        tensors = {key: tf.constant(value) for key, value in inputs.items()}
        wanted = {key: value.numpy() for key, value in theirs(**tensors).items()}
        if fault := _differs(ours(**inputs), wanted):
            notes["tensorkeep"] = f"batch {batch}: {fault}"
        if onnx is not None:
            try:
                fault = _differs(onnx(inputs), wanted)
            except Exception as failure:
                fault = f"{type(failure).__name__}: {failure}"[:160]
            if fault:
                onnx, notes["ORT"] = None, f"batch {batch}: {fault}"
        start = clock()
        ours(**inputs)
        calls = max(1, int(_ROUND / max(clock() - start, 1e-6)))
        contenders = [
            Contender("tensorkeep", lambda: [ours(**inputs) for _ in range(calls)]),  # noqa: B023 - run at once
            Contender("TF", lambda: [theirs(**tensors) for _ in range(calls)]),  # noqa: B023
        ]
        if onnx is not None:
            contenders.append(Contender("ORT", lambda: [onnx(inputs) for _ in range(calls)]))  # noqa: B023
        seconds = medians(take_turns(contenders, rounds if calls > 1 else min(rounds, 3), clock=clock))
        times[str(batch)] = {key: value / calls * 1e3 for key, value in seconds.items()}
    return {"times": times, "notes": notes}


# ------------------------------------------------------------------------------------------------------ around it all


def _in_a_process(name: str, folder: str, threads: int, rounds: int, engine: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.real_sizes", "--one", name, "--folder", folder, "--engine", engine]
    command += ["--threads", str(threads), "--rounds", str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def row(name: str, size: str, result: Mapping[str, Any]) -> list[str]:
    """A row of a table: our time, and what part of the others' it is."""
    cells = [name, size]
    for batch in BATCHES:
        times = result["times"][str(batch)]
        mine = times["tensorkeep"]
        ratios = (f"{mine / times[other]:.2f}" if other in times else "-" for other in ("TF", "ORT"))
        cells += [f"{mine:.3g}" if mine < 100 else f"{mine:.0f}", *ratios]
    return cells


def _section(rows: Sequence[Sequence[str]], notes: Sequence[str], threads: int, rounds: int) -> str:
    from benchmarks.timing import table

    spelled = "**One thread**, processor time" if threads == 1 else f"**{threads} threads**, time that passed"
    listed = "".join(f"\n- {note}" for note in notes)
    said = f"\n\nWithout ONNX Runtime:\n{listed}" if notes else ""
    return f"{spelled}; medians of up to {rounds} rounds.\n\n{table(_HEAD, rows)}{said}\n"


def _versions() -> str:
    from importlib.metadata import PackageNotFoundError, version

    packages = {
        "tensorkeep": "tensorkeep",
        "TensorFlow": "tensorflow",
        "ONNX Runtime": "onnxruntime",
        "tf2onnx": "tf2onnx",
    }
    found = []
    for name, package in packages.items():
        try:
            found.append(f"{name} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def run(names: Sequence[str], sizes: Mapping[str, str], counts: Sequence[int], rounds: int, engine: str) -> str:
    """The tables of all numbers of threads, as text."""
    rows: dict[int, list[list[str]]] = {threads: [] for threads in counts}
    notes: dict[int, list[str]] = {threads: [] for threads in counts}
    for name in names:
        with tempfile.TemporaryDirectory(prefix=".sizes-", dir=Path.cwd()) as folder:
            for threads in counts:
                result = _in_a_process(name, f"{folder}/model", threads, rounds, engine)
                rows[threads].append(row(name, sizes[name], result))
                notes[threads] += [f"{name}: {who}: {what}" for who, what in result["notes"].items()]
                print(threads, " | ".join(rows[threads][-1]), file=sys.stderr, flush=True)
    tables = [_section(rows[threads], notes[threads], threads, rounds) for threads in counts]
    return "\n".join([f"Measured with {_versions()}.\n", *tables])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.real_sizes", description=__doc__)
    parser.add_argument("names", nargs="*", help="only models whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which warms up")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, os.cpu_count() or 1], help="numbers of threads")
    parser.add_argument("--page", type=Path, help="put the tables into this page of the documentation")
    parser.add_argument("--engine", default="auto", help="what runs our models, as `load_saved_model` takes it")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    if options.one:
        limited_to(options.threads[0])
        print(json.dumps(measure(options.one, options.folder, options.threads[0], options.rounds, options.engine)))
        return 0
    from benchmarks.real_models import MODELS

    chosen = [name for name in MODELS if not options.names or any(part in name for part in options.names)]
    text = run(chosen, {name: MODELS[name].size for name in chosen}, options.threads, options.rounds, options.engine)
    print(text)
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(SECTION.sub(lambda _: text, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
