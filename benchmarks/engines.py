"""Engines side by side: the eighteen models at the sizes that people run, by TensorFlow, by us, and by ONNX Runtime.

    python -m benchmarks engines                              all models, one and two threads
    python -m benchmarks.engines LSTM ResNet --threads 1      those whose names contain one of the words
    python -m benchmarks.engines --memory ResNet50            peaks of memory, each contender in a process of its own
    python -m benchmarks.engines --results FOLDER             keeps what each model took, and goes on there if cut
    python -m benchmarks.engines --results FOLDER --page docs/performance.md     all that is kept, into that page

Each model has processes of its own, one for each number of threads, in which the contenders take turns: TensorFlow; our
kernels (engine="numpy"); engine="auto"; and ONNX Runtime by hand, with the file that `export_onnx` makes. A contender
whose answer is another than TensorFlow's does not count. With one thread it is processor time that is told.
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
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count
from math import exp, log
from pathlib import Path
from typing import Any, Final

SECTION: Final = re.compile(r"(?<=<!-- engines -->\n).*(?=<!-- end of engines -->)", re.DOTALL)
BATCHES: Final = (1, 32)
WARM: Final = 17  # calls of engine="auto", at least, before they count
_FOUND: Final = 2.5  # seconds of them, about, by which it has found the fastest way
_ROUND: Final = 0.3  # seconds, about, of calls in one round
_PAUSE: Final = 0.05  # seconds; OpenBLAS's threads turn in circles for 20 ms after their work
_AGREES: Final = 1e-4  # of the largest element
_HEAD: Final = (
    "model", "input", "threads", "batch", "TF ms", "numpy ms", "auto ms", "ORT ms", "numpy/TF", "auto/TF", "auto/ORT",
)  # fmt: skip
# The bars: geometric mean and most of auto/TF, and most of auto/ORT by batch; of numpy/TF the same two.
_MEAN_TO_TF: Final = 0.60
_NUMPY_MEAN_TO_TF: Final = 1.0
_NUMPY_MOST_TO_TF: Final = {1: 1.3, 32: 1.6}
_MOST_TO_TF: Final = 1.0
_MOST_TO_ORT: Final = {1: 1.15, 32: 1.05}
_SWIFT: Final = {"LSTM": 0.8, "bidirectional GRU": 0.8, "BERT small": 0.8, "wide and deep, integers": 0.8}

Call = Callable[[Mapping[str, Any]], Mapping[str, Any]]


# ---------------------------------------------------------------------------------------------------- in the process


def _by_hand(folder: str, threads: int) -> Call:
    """A function that asks ONNX Runtime, with the file that we export."""
    import onnxruntime

    file = f"{folder}.onnx"
    if not os.path.exists(file):
        from tensorkeep.convert.onnx.exporting import export_onnx

        export_onnx(folder, file)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def _ours(folder: str, engine: str) -> Call:
    from tensorkeep.saved_model.load.model_loading import load_saved_model

    signature = load_saved_model(folder, engine=engine).signatures["serving_default"]
    return lambda inputs: signature(**inputs)


def _theirs(folder: str) -> Call:
    import tensorflow as tf

    model = tf.saved_model.load(folder)
    signature = model.signatures["serving_default"]

    def call(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        found = signature(**{key: tf.constant(value) for key, value in inputs.items()})
        return {key: value.numpy() for key, value in found.items()}

    call.model = model  # type: ignore[attr-defined]
    return call


def _contenders(folder: str, threads: int, notes: dict[str, str]) -> dict[str, Call]:
    made: dict[str, Call] = {"TF": _theirs(folder), "numpy": _ours(folder, "numpy"), "auto": _ours(folder, "auto")}
    try:
        made["ORT"] = _by_hand(folder, threads)
    except Exception as failure:
        notes["ORT"] = f"{type(failure).__name__}: {failure}".replace(folder, "the model")[:160].replace("\n", " ")
    return made


def _woken(call: Call, inputs: Mapping[str, Any]) -> object:
    """Calls once, off the clock, when the threads of the contender before have gone to sleep."""
    time.sleep(_PAUSE)
    return call(inputs)


def _warmed(call: Call, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """What it answers when it has been called for a while."""
    start = time.perf_counter()
    for number in count(1):
        answer = call(inputs)
        if number >= WARM and time.perf_counter() - start > _FOUND:
            break
    return answer


def measure(name: str, folder: str, threads: int, rounds: int) -> dict[str, Any]:
    """Milliseconds of each contender for each batch, and why one is missing."""
    from benchmarks.real_models import MODELS
    from benchmarks.timing import Contender, medians, take_turns
    from benchmarks.zoo import off

    model = MODELS[name]
    if not os.path.exists(folder):
        model.export(folder)
    notes: dict[str, str] = {}
    calls = _contenders(folder, threads, notes)
    clock = time.process_time if threads == 1 else time.perf_counter
    times: dict[str, dict[str, float]] = {}
    for batch in BATCHES:
        inputs = model.inputs(batch)
        wanted = calls["TF"](inputs)
        counted = {"TF": calls["TF"]}
        for who in ("numpy", "auto", "ORT"):
            if who not in calls:
                continue
            try:
                answer = _warmed(calls[who], inputs) if who == "auto" else calls[who](inputs)
                error = off(answer, wanted)
            except Exception as failure:
                notes[who] = f"batch {batch}: {type(failure).__name__}: {failure}"[:160]
                continue
            if error > _AGREES:
                notes[who] = f"batch {batch}: its answer is off by {error:.1e}"
                continue
            counted[who] = calls[who]
        start = clock()
        calls["auto"](inputs)
        repeats = max(1, int(_ROUND / max(clock() - start, 1e-6)))
        contenders = [
            Contender(
                who,
                lambda call=call: [call(inputs) for _ in range(repeats)],  # type: ignore[misc] # noqa: B023
                prepare=lambda call=call: _woken(call, inputs),  # type: ignore[misc] # noqa: B023
            )
            for who, call in counted.items()
        ]
        seconds = medians(take_turns(contenders, rounds if repeats > 1 else min(rounds, 3), clock=clock))
        times[str(batch)] = {who: value / repeats * 1e3 for who, value in seconds.items()}
    return {"times": times, "notes": notes}


def peak(folder: str, who: str) -> dict[str, int]:
    """The most memory that one contender had, in MiB: before it was loaded, and after some calls at batch 1.

    `share` is what the process has in the end, with what others have as well counted in parts.
    """
    import numpy as np

    if who != "ORT":
        import tensorkeep.onnx.engine.engine
        import tensorkeep.saved_model.load.model_loading  # noqa: F401 - counted before
    import onnxruntime  # noqa: F401

    with np.load(f"{folder}.npz") as stored:
        inputs = dict(stored)
    before = _most_memory()
    call = _by_hand(folder, 1) if who == "ORT" else _ours(folder, who)
    for _ in range(3):
        call(inputs)
    return {"before": before, "peak": _most_memory(), "share": _memory_line("smaps_rollup", "Pss:")}


def _most_memory() -> int:
    """The most that this process has had in memory so far, in MiB."""
    return _memory_line("status", "VmHWM:")


def _memory_line(file: str, name: str) -> int:
    """What the system says of this process's memory, in MiB."""
    lines = Path("/proc/self", file).read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) >> 10


# ------------------------------------------------------------------------------------------------------ around it all


def _in_a_process(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.engines", *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def rows_of(name: str, size: str, threads: int, result: Mapping[str, Any]) -> list[list[str]]:
    """A row for each batch: times, and what part of the others' ours is."""
    rows = []
    for batch in BATCHES:
        times: dict[str, float] = result["times"][str(batch)]
        cells = [name, size, str(threads), str(batch)]
        cells += [f"{times[who]:.3g}" if who in times else "-" for who in ("TF", "numpy", "auto", "ORT")]
        for mine, other in (("numpy", "TF"), ("auto", "TF"), ("auto", "ORT")):
            cells.append(f"{times[mine] / times[other]:.2f}" if mine in times and other in times else "-")
        rows.append(cells)
    return rows


def bars(rows: Sequence[Sequence[str]]) -> list[str]:
    """What became of the bars."""
    to_tf = {tuple(row[:4]): float(row[9]) for row in rows if row[9] != "-"}
    if not to_tf:
        return []
    mean = _geometric_mean(to_tf.values())
    said = [f"auto to TensorFlow: geometric mean {mean:.2f} (bar {_MEAN_TO_TF}), {len(to_tf)} of {len(rows)} figures"]
    above = [f"{row[0]} ({row[2]} threads, batch {row[3]}): {value:.2f}" for row, value in to_tf.items()
             if value > _MOST_TO_TF]  # fmt: skip
    said.append(f"above {_MOST_TO_TF} of TensorFlow's: {'; '.join(above) or 'none'}")
    slow = [f"{row[0]} ({row[2]} threads, batch {row[3]}): {row[10]}" for row in rows
            if row[10] != "-" and float(row[10]) > _MOST_TO_ORT[int(row[3])]]  # fmt: skip
    said.append(f"above the bar to ONNX Runtime by hand (batch 1: 1.15, 32: 1.05): {'; '.join(slow) or 'none'}")
    late = [f"{row[0]} ({row[2]} threads, batch {row[3]}): {value:.2f}" for row, value in to_tf.items()
            if value > _SWIFT.get(row[0], value)]  # fmt: skip
    said.append(f"LSTM, GRU, transformer, wide and deep above 0.8 of TensorFlow's: {'; '.join(late) or 'none'}")
    return said + _bars_without_onnx_runtime(rows)


def _bars_without_onnx_runtime(rows: Sequence[Sequence[str]]) -> list[str]:
    """What became of the bars of our own kernels."""
    own = [row for row in rows if row[8] != "-"]
    means = "; ".join(
        f"batch {batch}: {_geometric_mean([float(row[8]) for row in own if row[3] == str(batch)]):.2f}"
        for batch in BATCHES
        if any(row[3] == str(batch) for row in own)
    )
    above = [f"{row[0]} ({row[2]} threads, batch {row[3]}): {row[8]}" for row in own
             if float(row[8]) > _NUMPY_MOST_TO_TF[int(row[3])]]  # fmt: skip
    return [
        f"numpy to TensorFlow: geometric mean, {means} (bar {_NUMPY_MEAN_TO_TF})",
        f"numpy above the bar to TensorFlow (batch 1: 1.3, 32: 1.6): {'; '.join(above) or 'none'}",
    ]


def _geometric_mean(values: Collection[float]) -> float:
    return exp(sum(map(log, values)) / len(values))


def run(names: Sequence[str], sizes: Mapping[str, str], counts: Sequence[int], rounds: int, kept: Path) -> str:
    """Measures what is not in the folder `kept` yet; the table of all that is then, as text."""
    for name in names:
        missing = [threads for threads in counts if not _result_file(kept, name, threads).exists()]
        with tempfile.TemporaryDirectory(prefix=".engines-", dir=Path.cwd()) as folder:
            for threads in missing:
                result = _in_a_process(
                    "--one", name, "--folder", f"{folder}/model", "--threads", str(threads), "--rounds", str(rounds)
                )
                for row in rows_of(name, sizes[name], threads, result):
                    print(" | ".join(row), file=sys.stderr, flush=True)
                _result_file(kept, name, threads).write_text(json.dumps(result))
    return joined(sizes, kept)


def _result_file(kept: Path, name: str, threads: int) -> Path:
    return kept / f"{re.sub('[^A-Za-z0-9]+', '-', name)}-{threads}.json"


def joined(sizes: Mapping[str, str], kept: Path) -> str:
    """The table of all results in a folder, and what became of the bars, as text."""
    from benchmarks.timing import table

    rows: list[list[str]] = []
    notes: list[str] = []
    for name in sizes:
        for threads in (1, 2):
            file = _result_file(kept, name, threads)
            if file.exists():
                result = json.loads(file.read_text())
                rows += rows_of(name, sizes[name], threads, result)
                notes += [f"{name}, {threads} threads: {who}: {what}" for who, what in result["notes"].items()]
    listed = "".join(f"\n- {note}" for note in [*bars(rows), *notes])
    return f"{table(_HEAD, rows)}\n{listed}\n"


def memory(name: str) -> str:
    """The peaks of memory, as text."""
    import numpy as np

    from benchmarks.real_models import MODELS
    from benchmarks.timing import table

    with tempfile.TemporaryDirectory(prefix=".engines-", dir=Path.cwd()) as folder:
        place = f"{folder}/model"
        MODELS[name].export(place)
        np.savez(f"{place}.npz", **MODELS[name].inputs(1))
        _by_hand(place, 1)
        found = {who: _in_a_process("--peak", who, "--folder", place) for who in ("ORT", "onnxruntime", "numpy")}
    rows = [
        [
            who,
            *(str(result[what]) for what in ("before", "peak", "share")),
            f"{result['peak'] / found['ORT']['peak']:.2f}",
            f"{result['share'] / found['ORT']['share']:.2f}",
        ]
        for who, result in found.items()
    ]
    head = ("contender", "MiB before", "MiB at the peak", "MiB in the end (PSS)", "peak to ORT's", "end to ORT's")
    return table(head, rows)


def engines(folder: Path, rounds: int, case: str) -> Any:
    """The report of `python -m benchmarks engines`."""
    from benchmarks.timing import Report

    sizes = model_sizes()
    folder.mkdir(parents=True, exist_ok=True)
    return Report(run([name for name in sizes if case in name], sizes, (1, 2), rounds, folder))


def model_sizes() -> dict[str, str]:
    """The models by name, with what goes into them, in words."""
    from benchmarks.real_models import MODELS

    return {name: model.size for name, model in MODELS.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.engines", description=__doc__)
    parser.add_argument("names", nargs="*", help="only models whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which warms up")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2], help="numbers of threads")
    parser.add_argument("--memory", metavar="MODEL", help="measure memory instead, of this model")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where results are kept, one file for each run")
    parser.add_argument(
        "--page", type=Path, help="put the table of the results there into this page, measuring nothing"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    from benchmarks.real_sizes import limited_to

    if options.peak:
        limited_to(1)
        print(json.dumps(peak(options.folder, options.peak)))
        return 0
    if options.one:
        limited_to(options.threads[0])
        print(json.dumps(measure(options.one, options.folder, options.threads[0], options.rounds)))
        return 0
    if options.memory:
        print(memory(options.memory))
        return 0
    sizes = model_sizes()
    chosen = [name for name in sizes if not options.names or any(part in name for part in options.names)]
    with tempfile.TemporaryDirectory() as passing:
        kept = options.results or Path(passing)
        kept.mkdir(parents=True, exist_ok=True)
        text = joined(sizes, kept) if options.page else run(chosen, sizes, options.threads, options.rounds, kept)
    if not options.page:
        print(text)
        return 0
    return put_into(options.page, SECTION, "engines", text)


def put_into(path: Path, section: re.Pattern[str], mark: str, text: str) -> int:
    """Puts a text between the marks of a page; 1, and says so, if the page has none."""
    page, count = section.subn(lambda _: text, path.read_text(encoding="utf-8"))
    if not count:
        print(f'"{path}" has no lines <!-- {mark} --> and <!-- end of {mark} -->: nothing was written', file=sys.stderr)
        return 1
    path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
