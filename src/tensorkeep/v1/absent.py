"""Names of TensorFlow 1 that are not here, and what does their work: for the error of a program that asks for them.

A module that is added takes its row away.
"""

from __future__ import annotations

from typing import Final

from tensorkeep.graph.registry.opspec import find_op

_CORE: Final = "variables, tf.layers, tf.losses, the optimizers of tf.train and tf.train.MonitoredTrainingSession"
_LOAD: Final = "tensorkeep.load_saved_model runs what it exported"
_ONE_PROCESS: Final = "sessions run in this process, on one machine"

# By name below `tf`: what to use instead.
INSTEAD: Final[dict[str, str]] = {
    "LMDBReader": "other readers are tf.TFRecordReader, tf.TextLineReader, tf.WholeFileReader",
    "autograph": "write tf.cond and tf.while_loop",
    "config": "sessions take a tf.ConfigProto",
    "distribute": _ONE_PROCESS,
    "distributions": "use tf.random and tf.math",
    "experimental": "what is not experimental any more is in tf itself",
    "keras": f"use {_CORE}; {_LOAD}, and tensorkeep.saved_model.from_layers builds models of layers",
    "lite": "graphs are frozen by tf.graph_util and `tensorkeep saved-model freeze`, for a converter of your choice",
    "mixed_precision": "cast by tf.cast",
    "mlir": "graphs run as they are",
    "profiler": "use a profiler of Python: a compiled run is a Python function",
    "train.experimental": "cast by tf.cast",
    "wrap_function": "use tf.function",
    "xla": "runs are compiled without asking",
}


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of ours does not have: what to use instead, where that is known."""
    path = ".".join(
        [*module.removeprefix("tensorkeep.v1").removeprefix("tensorflow").strip(".").split("."), name]
    ).strip(".")
    instead = advice(path)
    said = f" (tf.{path}): {instead}" if instead else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{said}", name=name)


def advice(path: str) -> str | None:
    """What to use for a name below `tf` that is not here, or whose module is not; None if nothing is known."""
    names = path.removeprefix("python.").split(".")
    starts = (".".join(names[:length]) for length in range(len(names), 0, -1))
    return next((INSTEAD[start] for start in starts if start in INSTEAD), None) or _as_op(path)


def _as_op(path: str) -> str | None:
    """What to use for a function that is an op and no more, such as DeepRec has many of in `tf`."""
    op = "".join(word.capitalize() for word in path.split("_"))
    if op.startswith("_") or not op.isidentifier() or find_op(op) is None:
        return None
    return f"it is an op, tf.raw_ops.{op}, which takes its arguments by keyword"
