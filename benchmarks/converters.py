"""Two converters to ONNX side by side: ours, and tf2onnx in an environment of its own, with TensorFlow 2.15.

    python -m benchmarks.converters                            all models that both might take
    python -m benchmarks.converters ResNet50 LSTM              those whose names contain one of the words
    python -m benchmarks.converters --results FOLDER           keeps models, files and figures, and goes on there if cut
    python -m benchmarks.converters --results FOLDER --page docs/performance.md   all that is kept, into that page

The environment variable TENSORKEEP_TF2ONNX_PYTHON names the other's interpreter, of an environment made by

    python3.11 -m venv ENV && ENV/bin/pip install "tensorflow-cpu==2.15.*" tf2onnx "numpy<2" "onnx<1.17"

There, TensorFlow 2.15 writes each model as a SavedModel. Of that, each converter makes a file for the same opset, in a
process of its own; processor time is told, from when everything has been imported until the file is there. Nodes are
counted with those of subgraphs. Then one process runs both files in ONNX Runtime, in turns, with one thread: processor
time again. A file whose answer is another than TensorFlow's does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.other_converter import BATCHES

VARIABLE: Final = "TENSORKEEP_TF2ONNX_PYTHON"
SECTION: Final = re.compile(r"(?<=<!-- converters -->\n).*(?=<!-- end of converters -->)", re.DOTALL)
OPSET: Final = 18  # the newest that the other one writes
LONGEST: Final = 600  # seconds that one step may take
_AGREES: Final = 1e-4  # of the largest element
_ROUND: Final = 0.3  # seconds, about, of calls in one round
_WHO: Final = ("ours", "theirs")
_HEAD: Final = (
    "model", "export, s", "tf2onnx, s", "nodes", "tf2onnx nodes",
    *(cell for batch in BATCHES for cell in (f"batch {batch} ms", "tf2onnx ms", "ours / its")),
)  # fmt: skip


# ------------------------------------------------------------------------------------------------- in processes of ours


def export(source: str, file: str) -> dict[str, Any]:
    """Converts a SavedModel by us; how long it took."""
    import time

    import tensorkeep.convert.onnx.files
    import tensorkeep.onnx.models  # noqa: F401 - imported before the clock runs, as the other one's modules are
    from tensorkeep.convert.onnx.exporting import export_onnx

    start = time.perf_counter(), time.process_time()
    export_onnx(source, file, opset=OPSET, overwrite=True)
    return {"seconds": time.perf_counter() - start[0], "processor": time.process_time() - start[1]}


def compare(source: str, rounds: int) -> dict[str, Any]:
    """Nodes of both files, and milliseconds of a call of each in ONNX Runtime, for each batch."""
    import time

    import numpy as np

    from benchmarks.timing import Contender, medians, take_turns

    files = {who: f"{source}.{who}.onnx" for who in _WHO if os.path.exists(f"{source}.{who}.onnx")}
    notes: dict[str, str] = {}
    sessions = {}
    for who, file in files.items():
        try:
            sessions[who] = _session(file)
        except Exception as failure:
            notes[who] = f"{type(failure).__name__}: {failure}".replace(source, "the file")[:160].replace("\n", " ")
    times: dict[str, dict[str, float]] = {}
    for batch in BATCHES:
        with np.load(f"{source}-inputs-{batch}.npz") as stored:
            inputs = dict(stored)
        with np.load(f"{source}-answers-{batch}.npz") as stored:
            wanted = dict(stored)
        calls = {}
        for who, session in sessions.items():
            if fault := _fault(session, inputs, wanted):
                notes[who] = f"batch {batch}: {fault}"
            else:
                calls[who] = lambda session=session, inputs=inputs: session.run(None, inputs)  # type: ignore[misc]
        start = time.process_time()
        for call in calls.values():
            call()
        repeats = max(1, int(_ROUND * len(calls) / max(time.process_time() - start, 1e-6)))
        contenders = [
            Contender(who, lambda call=call: [call() for _ in range(repeats)])  # type: ignore[misc] # noqa: B023
            for who, call in calls.items()
        ]
        seconds = medians(take_turns(contenders, rounds, clock=time.process_time))
        times[str(batch)] = {who: value / repeats * 1e3 for who, value in seconds.items()}
    return {"nodes": {who: nodes_in(file) for who, file in files.items()}, "times": times, "notes": notes}


def _session(file: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _fault(session: Any, inputs: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What is wrong with a file's answer, or with running it at all."""
    from benchmarks.zoo import off

    names = [output.name for output in session.get_outputs()]
    try:
        answer = dict(zip(names, session.run(names, dict(inputs)), strict=True))
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}"[:160].replace("\n", " ")
    error = off(answer, wanted)
    return f"its answer is off by {error:.1e}" if error > _AGREES else ""


def nodes_in(file: str) -> int:
    """The nodes of a model, with those of its subgraphs and functions."""
    import onnx

    def count(nodes: Any) -> int:
        graphs = [graph for node in nodes for attr in node.attribute for graph in (attr.g, *attr.graphs)]
        return len(nodes) + sum(count(graph.node) for graph in graphs)

    model = onnx.load(file, load_external_data=False)
    return count(model.graph.node) + sum(count(function.node) for function in model.functions)


# ------------------------------------------------------------------------------------------------------ around it all


def other_python() -> str | None:
    """The interpreter of the other environment; None, with a word about how to have one, if it is not there."""
    found = os.environ.get(VARIABLE, "")
    if found and os.access(found, os.X_OK):
        return found
    reason = f'"{found}" is no program' if found else "it is not set"
    print(
        f"{VARIABLE} is to name the interpreter of an environment with TensorFlow 2.15 and tf2onnx; {reason}. Nothing "
        "was compared. To make one:\n"
        '    python3.11 -m venv ENV && ENV/bin/pip install "tensorflow-cpu==2.15.*" tf2onnx "numpy<2" "onnx<1.17"',
        file=sys.stderr,
    )
    return None


def _in_a_process(*command: str) -> dict[str, Any]:
    """What a process says in its last line; what hindered it, as `failed`, if it ended badly."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if command[0] != sys.executable:  # nothing of ours but this folder is for that environment
        environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": f"it was not done after {LONGEST} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1][:160]
        return {"failed": f"it ended with {done.returncode}; the last that it said: {last}"}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(name: str, source: str, python: str, rounds: int) -> dict[str, Any]:
    """Has a model written, converted by both, and run."""
    if not os.path.exists(source):
        saved = _in_a_process(python, "-m", "benchmarks.other_converter", "save", name, source)
        if "failed" in saved:
            return {"notes": {"TensorFlow": saved["failed"]}}
    theirs = [python, "-m", "benchmarks.other_converter", "convert", source, f"{source}.theirs.onnx", str(OPSET)]
    ours = [sys.executable, "-m", "benchmarks.converters", "--export", source]
    exports = {"theirs": _in_a_process(*theirs), "ours": _in_a_process(*ours)}
    failed = {who: result.pop("failed") for who, result in exports.items() if "failed" in result}
    found = _in_a_process(sys.executable, "-m", "benchmarks.converters", "--compare", source, "--rounds", str(rounds))
    if "failed" in found:
        return {"notes": {**failed, "ONNX Runtime": found["failed"]}}
    return {**found, "export": exports, "notes": {**found["notes"], **failed}}


def row_of(name: str, result: Mapping[str, Any]) -> list[str]:
    """A model's row of the table."""
    exports, nodes, times = result.get("export", {}), result.get("nodes", {}), result.get("times", {})
    cells = [name, *(_shown(exports.get(who, {}).get("processor")) for who in _WHO)]
    cells += [str(nodes.get(who, "-")) for who in _WHO]
    for batch in BATCHES:
        taken = times.get(str(batch), {})
        cells += [_shown(taken.get(who)) for who in _WHO]
        both = [taken.get(who) for who in _WHO]
        cells.append(f"{both[0] / both[1]:.2f}" if all(both) else "-")
    return cells


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def joined(names: Sequence[str], kept: Path) -> str:
    """The table of all results in a folder, and which models miss a bar, as text."""
    from benchmarks.timing import table

    results = {
        name: json.loads(_result_file(kept, name).read_text()) for name in names if _result_file(kept, name).exists()
    }
    rows = [row_of(name, result) for name, result in results.items()]
    more = [row[0] for row in rows if "-" not in row[3:5] and int(row[3]) > int(row[4])]
    late = [f"{row[0]} ({row[5 + 3 * at + 2]}, batch {batch})" for row in rows for at, batch in enumerate(BATCHES)
            if row[5 + 3 * at + 2] != "-" and float(row[5 + 3 * at + 2]) > 1.05]  # fmt: skip
    said = [
        f"more nodes than tf2onnx's file: {', '.join(more) or 'none'}",
        f"more than 1.05 of the time of tf2onnx's file: {', '.join(late) or 'none'}",
    ]
    said += [f"{name}: {who}: {what}" for name, result in results.items() for who, what in result["notes"].items()]
    return f"{table(_HEAD, rows)}\n" + "".join(f"\n- {line}" for line in said) + "\n"


def _result_file(kept: Path, name: str) -> Path:
    return kept / f"{re.sub('[^A-Za-z0-9]+', '-', name)}.json"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.converters", description=__doc__)
    parser.add_argument("names", nargs="*", help="only models whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which warms up")
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="where models, files and results are kept")
    parser.add_argument(
        "--page", type=Path, help="put the table of the results there into this page, measuring nothing"
    )
    parser.add_argument("--export", help=argparse.SUPPRESS)
    parser.add_argument("--compare", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    if options.export:
        print(json.dumps(export(options.export, f"{options.export}.ours.onnx")))
        return 0
    if options.compare:
        from benchmarks.real_sizes import limited_to

        limited_to(1)
        print(json.dumps(compare(options.compare, options.rounds)))
        return 0
    python = None if options.page else other_python()
    if python is None and not options.page:
        return 2
    from benchmarks.converted_models import MODELS

    with tempfile.TemporaryDirectory(prefix=".converters-", dir=Path.cwd()) as passing:
        kept = options.results or Path(passing)
        if python is None:
            from benchmarks.engines import put_into

            return put_into(options.page, SECTION, "converters", joined(list(MODELS), kept))
        kept.mkdir(parents=True, exist_ok=True)
        for name in MODELS:
            file = _result_file(kept, name)
            if file.exists() or (options.names and not any(part in name for part in options.names)):
                continue
            result = measure(name, str(file.with_suffix("").resolve()), python, options.rounds)
            print(" | ".join(row_of(name, result)), result["notes"], file=sys.stderr, flush=True)
            file.write_text(json.dumps(result))
        print(joined(list(MODELS), kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
