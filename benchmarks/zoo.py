"""The model zoo: of every model whether it loads, runs and agrees with TensorFlow, and in how much of its time.

    python -m benchmarks.zoo [name ...]          those whose names contain one of the words; all by default
    python -m benchmarks.zoo --page docs/zoo.md  the table into that page, in the place of its last one

Models are small, so that many fit into a test run; benchmarks/real_sizes.py has those at the sizes of real use. They
are made by live TensorFlow and Keras (tests/interop/model_zoo.py) with random weights. An output agrees if no element
is off by more than 1e-5 of the largest one. An output whose elements are all alike proves nothing, and is reported as
such.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np

from benchmarks.timing import Contender, medians, table, take_turns

HEAD: Final = (
    "model",
    "input",
    "loads",
    "runs",
    "agrees",
    "largest error",
    "to first answer, of TF's",
    "call, ms",
    "TF, ms",
    "of TF's",
)
AGREES: Final = 1e-5
SECTION: Final = re.compile(r"(?<=<!-- small models -->\n).*(?=<!-- end of small models -->)", re.DOTALL)
_ROUND: Final = 0.05  # seconds, about, of calls in one round


def off(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> float:
    """The largest error of any output, as a part of that output's largest element; infinite for other differences."""
    worst = 0.0 if found.keys() == wanted.keys() else np.inf
    for name in found.keys() & wanted.keys():
        ours, theirs = np.asarray(found[name]), np.asarray(wanted[name])
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return np.inf
        if theirs.dtype.kind == "f" and theirs.size:
            largest = float(np.abs(theirs).max()) or 1.0
            worst = max(worst, float(np.abs(ours - theirs).max()) / largest)
        elif not np.array_equal(ours, theirs):
            return np.inf
    return worst


def proves(wanted: Mapping[str, Any]) -> bool:
    """Whether some output has elements that differ."""
    return any(array.size > 1 and (array != array.flat[0]).any() for array in map(np.asarray, wanted.values()))


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measured(name: str, export: Callable[[str], Any], folder: str, rounds: int) -> list[str]:
    """A row of the table."""
    import tensorflow as tf

    from tensorkeep.saved_model.load.model_loading import load_saved_model

    signature, inputs = export(folder)
    size = ", ".join(" x ".join(map(str, np.shape(value))) or "1" for value in inputs.values())
    tensors = {key: tf.constant(value) for key, value in inputs.items()}
    their_load, theirs = _seconds(lambda: tf.saved_model.load(folder))
    their_signature = theirs.signatures[signature]
    their_first, answer = _seconds(lambda: their_signature(**tensors))
    wanted = {key: value.numpy() for key, value in answer.items()}
    try:
        our_load, model = _seconds(lambda: load_saved_model(folder))
    except Exception as error:
        return [name, size, f"no: {_line(error)}", *["-"] * (len(HEAD) - 3)]
    with model:
        ours = model.signatures[signature]
        try:
            our_first, found = _seconds(lambda: ours(**inputs))  # variables are read only now
            largest = off(found, wanted)
        except Exception as failure:
            return [name, size, "yes", f"no: {_line(failure)}", *["-"] * (len(HEAD) - 4)]
        agrees = "no" if largest > AGREES else "yes" if proves(wanted) else "nothing to tell"
        calls = max(1, int(_ROUND / _seconds(lambda: ours(**inputs))[0]))
        seconds = medians(
            take_turns(
                [
                    Contender("ours", lambda: [ours(**inputs) for _ in range(calls)]),
                    Contender("theirs", lambda: [their_signature(**tensors) for _ in range(calls)]),
                ],
                rounds,
            )
        )
    mine, other = seconds["ours"] / calls * 1e3, seconds["theirs"] / calls * 1e3
    times = [
        f"{(our_load + our_first) / (their_load + their_first):.2f}",
        f"{mine:.3f}",
        f"{other:.3f}",
        f"{mine / other:.2f}",
    ]
    return [name, size, "yes", "yes", agrees, f"{largest:.1e}", *times]


def _line(error: Exception) -> str:
    """What is wrong, without what to do about it; of an op that is missing, its name."""
    return f"{type(error).__name__}: {str(error).splitlines()[0].partition('. ')[0].partition(': tensorkeep')[0][:60]}"


def section(rows: Sequence[Sequence[str]], rounds: int) -> str:
    """What the page of the documentation says of these models."""
    import keras
    import tensorflow as tf

    import tensorkeep as tk

    made = f"Run by tensorkeep {tk.__version__}, made by TensorFlow {tf.__version__} and Keras {keras.__version__}"
    how = f"{os.cpu_count()} threads, time that passed; medians of {rounds} rounds, taken in turn"
    return f"{made}; {how}.\n\n{table(HEAD, rows)}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", help="only models whose names contain one of these")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first, which warms up")
    parser.add_argument("--page", type=Path, help="put the table into this page of the documentation")
    options = parser.parse_args(arguments)

    from tests.interop.model_zoo import ZOO

    chosen = [name for name in ZOO if not options.names or any(part in name for part in options.names)]
    rows = []
    for name in chosen:
        with tempfile.TemporaryDirectory(prefix=".zoo-", dir=Path.cwd()) as folder:
            rows.append(measured(name, ZOO[name], f"{folder}/model", options.rounds))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table(HEAD, rows))
    if options.page:
        text = section(rows, options.rounds)
        options.page.write_text(SECTION.sub(lambda _: text, options.page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0 if all(row[4] == "yes" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
