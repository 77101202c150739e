"""One call of an op, here and in TensorFlow, and how the two outcomes differ."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import tensorflow as tf

from tensorkeep.dtypes import DType, dtype_of_array
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tests.interop.twins import Twins, marked, plain
from tests.ops.sample import Sample
from tests.ops.variations import Variation
from tests.ops.walking import OneNode

v1 = tf.compat.v1

# How far results may be apart, of the largest number among them: the sums of many are rounded in another order.
ALLOWED = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-11,
    "complex128": 1e-11,
}
# What TensorFlow says where it has no kernel of that type or layout, or where it builds no graph of an old op.
NOT_OFFERED = (
    "No OpKernel was registered",
    "Could not find device",
    "is not available in GraphDef version",
    "only supports NHWC",
    "only supports NDHWC",
    "only support NHWC",
    "does not yet support dilation rates larger than 1",
)


@dataclass(frozen=True)
class Outcome:
    """What came of a call: arrays, or an error with TensorFlow's number for its class."""

    results: list[Any] = field(default_factory=list)
    code: int = 0
    message: str = ""


@dataclass(frozen=True)
class Difference:
    """How two outcomes differ: a word for the kind, and what was seen."""

    kind: str
    text: str


@dataclass(frozen=True)
class Report:
    """What came of one variation: how the outcomes differ, in which the kind is empty where they do not."""

    op: str
    number: int
    label: str
    kind: str
    text: str


def compare(name: str, variation: Variation, announce: Callable[[str], None] = lambda side: None) -> Difference | None:
    """How our outcome differs from TensorFlow's, if it does. `announce` is told which side begins."""
    announce("tensorkeep")
    sample = variation.sample
    try:
        node = OneNode(name, sample, variation.shapes)
    except Exception as error:
        ours, node = _refusal(error), None
    else:
        ours = _attempt(lambda: Session(node.graph).run(list(node.outputs), node.feeds))
    announce("TensorFlow")
    theirs = _attempt(lambda: _in_tensorflow(name, sample, variation.shapes, node))
    announce("")
    dtypes = [tensor.dtype for tensor in node.outputs] if node else []
    return _difference(ours, theirs, dtypes, sample.unspecified)


def _attempt(run: Callable[[], list[Any]]) -> Outcome:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Outcome([np.asarray(result) for result in run()])
    except Exception as error:
        return _refusal(error)


def _refusal(error: Exception) -> Outcome:
    """An error of either side. One that belongs to neither's errors has no number."""
    if isinstance(error, TensorKeepError):
        cause = f" (from {type(error.__cause__).__name__})" if error.__cause__ is not None else ""
        return Outcome(code=error.error_code, message=f"{type(error).__name__}{cause}: {error}")
    if isinstance(error, tf.errors.OpError):
        return Outcome(code=error.error_code, message=f"{type(error).__name__}: {_core(error.message)}")
    return Outcome(code=-1, message=f"{type(error).__name__}: {error}")


def _core(message: str) -> str:
    """TensorFlow's message without where in the program the node was made."""
    return message.rpartition("Node: 'node'\n")[2].split("\n\t [[", maxsplit=1)[0]


def _in_tensorflow(name: str, sample: Sample, shapes: str, node: OneNode | None) -> list[Any]:
    """TensorFlow's results: of the graph that we built, or if we refused to build one, of one that it builds itself."""
    try:
        if node is not None:
            twin = Twins([node])
            return twin.run([twin.tensor(tensor) for tensor in node.outputs])
        graph, outputs, feeds = _built_alone(name, sample, shapes)
    except (ValueError, TypeError) as error:
        raise tf.errors.InvalidArgumentError(None, None, str(error)) from error
    with v1.Session(graph=graph) as session:
        return [plain(result) for result in session.run(outputs, feeds)]


def _built_alone(name: str, sample: Sample, shapes: str) -> tuple[Any, list[Any], dict[Any, Any]]:
    graph, feeds = tf.Graph(), {}

    def tensor(position: int, value: Any) -> Any:
        array = np.asarray(value)
        dtype = dtype_of_array(array.dtype)
        if position in sample.constant:
            return tf.constant(array, dtype.name)
        shape: Any = {"known": array.shape, "nothing": None}[shapes]
        made = v1.placeholder(dtype.name, shape)
        feeds[made] = marked(dtype, plain(array))
        return made

    with graph.as_default():
        schema = get_op(name).schema
        arguments = {
            arg.name: [tensor(at, part) for part in item] if isinstance(item, list) else tensor(at, item)
            for at, (arg, item) in enumerate(zip(schema.inputs, sample.inputs, strict=True))
        }
        attrs = {key: value.name if isinstance(value, DType) else value for key, value in sample.attrs.items()}
        outputs = getattr(tf.raw_ops, name)(**arguments, **attrs)
    return graph, tf.nest.flatten(outputs), feeds


# ------------------------------------------------------------------------------------------------------ Differences


def _difference(ours: Outcome, theirs: Outcome, dtypes: list[DType], unspecified: tuple[int, ...]) -> Difference | None:
    if theirs.code and any(words in theirs.message for words in NOT_OFFERED):
        return None  # TensorFlow has no kernel of that type to be compared with
    if ours.code == -1:
        return Difference("foreign error", f"{ours.message}, TensorFlow: {theirs.message or 'results'}")
    if ours.code and theirs.code:
        return _other_error(ours, theirs)
    if ours.code:
        return Difference("refused here alone", ours.message)
    if theirs.code:
        return Difference("refused there alone", theirs.message)
    for at, (mine, other, dtype) in enumerate(zip(ours.results, theirs.results, dtypes, strict=True)):
        found = None if at in unspecified else _array_difference(mine, other, dtype)
        if found:
            return Difference(found.kind, f"output {at}: {found.text}")
    return None


def _other_error(ours: Outcome, theirs: Outcome) -> Difference | None:
    if ours.code == theirs.code:
        return None
    return Difference("other error", f"{ours.message}, TensorFlow: {theirs.message}")


def _array_difference(ours: Any, theirs: Any, dtype: DType) -> Difference | None:
    if ours.shape != theirs.shape or (not dtype.is_object and ours.dtype != dtype.array_dtype):
        return Difference("shape", f"{ours.dtype}{list(ours.shape)}, TensorFlow: {theirs.dtype}{list(theirs.shape)}")
    if dtype.is_object or not (dtype.is_floating or dtype.is_complex):
        equal = ours == theirs
        return None if np.all(equal) else _told("values", ours, theirs, ~np.asarray(equal))
    wide = np.complex128 if dtype.is_complex else np.float64
    mine, other = ours.astype(wide), theirs.astype(wide)
    with np.errstate(all="ignore"):
        apart = np.abs(mine - other)
        same = (mine == other) | (np.isnan(mine) & np.isnan(other)) | (apart < _least(dtype))
        special = ~same & ~(np.isfinite(mine) & np.isfinite(other))
        if special.any():
            return _told("infinite or no number", ours, theirs, special)
        largest = np.max(np.abs(other), where=np.isfinite(other), initial=0.0)
        far = ~same & (apart > ALLOWED[dtype.name] * largest)
        if far.any():
            rough = bool((apart[far] > 1e-2 * largest).any())
            return _told("values" if rough else "last digits", ours, theirs, far)
        signs = (mine == 0) & (other == 0) & (np.signbit(mine.real) != np.signbit(other.real))
    return _told("sign of zero", ours, theirs, signs) if signs.any() else None


def _least(dtype: DType) -> float:
    """Below this numbers lose digits, and TensorFlow's threads take them for zero."""
    return float(ml_dtypes.finfo(dtype.real_dtype.array_dtype).tiny)


def _told(kind: str, ours: Any, theirs: Any, differing: Any) -> Difference:
    where = np.argwhere(np.atleast_1d(differing))
    mine, other = np.atleast_1d(ours)[tuple(where[0])], np.atleast_1d(theirs)[tuple(where[0])]
    return Difference(
        kind, f"{mine!r} at {where[0].tolist()}, TensorFlow: {other!r} ({len(where)} of {ours.size}, {ours.dtype})"
    )
