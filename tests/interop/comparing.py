"""A generated program, built and run by TensorFlow and by us: what differs, if anything does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.proto.messages import GraphDef
from tests.interop.generated import Program
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1

# Graph optimizers aside, TensorFlow runs the graph that was built; one thread makes it do so in one order. It has to be
# the session's own: what all sessions share is as large as the first session of the process asked for, so that this
# number would mean nothing here, or else be that of every test that comes later; as would a number within operations.
CONFIG = v1.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True


# Where some gradient functions of TensorFlow cannot go on with rows (IndexedSlices), we make them dense; and our loops
# may carry as many rows as they like.
THEIR_LIMITS = ("'IndexedSlices'", "Cannot update edge, incompatible shapes")


@dataclass(frozen=True)
class Outcome:
    """What came of a comparison: "same", "refused" by both, or a difference."""

    kind: str
    text: str = ""


def compare(program: Program) -> Outcome:
    """Builds and runs a program with both modules, and each graph also with the other."""
    graph, result, error = _built(ours, program)
    with tensorflow_1():
        their_graph, their_result, their_error = _built(v1, program)
        if error or their_error:
            return _refusals(error, their_error)
        for check in (_nodes, _shapes, _collections):
            if found := check(graph, their_graph):
                return Outcome(check.__name__[1:], found)
        fetches = _names(their_result)
        if _names(result) != fetches:
            return Outcome("fetches", f"{_names(result)}\n{fetches}")
        runs = {
            "theirs": _TheirRun(their_graph),
            "ours": _OurRun(graph),
            "theirs, of our graph": _TheirRun(_in_tensorflow(graph)),
            "ours, of their graph": _OurRun(_in_tensorkeep(their_graph)),
        }
        return _results(runs, fetches, program)


def _built(module: Any, program: Program) -> tuple[Any, Any, Exception | None]:
    graph = module.Graph()
    with graph.as_default():
        try:
            return graph, program(module), None
        except Exception as error:
            return graph, None, error


def _refusals(error: Exception | None, other: Exception | None) -> Outcome:
    if error is None and any(limit in str(other) for limit in THEIR_LIMITS):
        return Outcome("refused", str(other))
    if error is None or other is None:
        return Outcome("building", f"ours:   {error!r}\ntheirs: {other!r}")
    alike = [kind for kind in (ValueError, TypeError, LookupError, NotImplementedError) if isinstance(other, kind)]
    if alike and not isinstance(error, alike[0]):
        return Outcome("refusals", f"ours:   {error!r}\ntheirs: {other!r}")
    return Outcome("refused", f"ours:   {error!r}\ntheirs: {other!r}")


def _nodes(graph: Any, their_graph: Any) -> str:
    ours, theirs = our_nodes(graph), their_nodes(their_graph)
    try:
        assert_same_nodes(ours, theirs)
    except AssertionError as error:
        return str(error).split("\nassert")[0]
    order = [(mine, other) for mine, other in zip(ours, theirs, strict=True) if mine != other]
    return f"in another order: {order}" if order else ""


def _shapes(graph: Any, their_graph: Any) -> str:
    lines = []
    for op in their_graph.get_operations():
        mine = graph.get_operation_by_name(op.name)
        for output, other in zip(mine.outputs, op.outputs, strict=True):
            dims, their_dims = output.static_shape.dims, other.shape.as_list() if other.shape.rank is not None else None
            constant = constant_value(output)
            if constant is not None and dims == constant.shape:
                continue  # we know the value, so the shape, where TensorFlow does not always look
            if (None if dims is None else list(dims)) != their_dims:
                lines.append(f"{other.name} ({op.type}): ours {dims}, theirs {their_dims}")
    return "\n".join(lines)


def _collections(graph: Any, their_graph: Any) -> str:
    found = []
    for each in (graph, their_graph):
        keys = sorted(map(str, each.get_all_collection_keys()))
        found.append({key: [getattr(item, "name", None) for item in each.get_collection(key)] for key in keys})
    return "" if found[0] == found[1] else f"ours:   {found[0]}\ntheirs: {found[1]}"


def _names(result: Any) -> dict[str, Any]:
    return {
        "values": [_element(value) for value in result["values"]],
        "updates": [update.op.name if hasattr(update, "handle") else update.name for update in result["updates"]],
        "init": result["init"].name,
    }


def _element(value: Any) -> str:
    """The name of the tensor that is fetched for a tensor or a variable."""
    find = getattr(value, "_as_graph_element", None)
    return str(value.name if find is None else find().name)


def _in_tensorflow(graph: Any) -> Any:
    """Our graph as one of TensorFlow's."""
    found = v1.Graph()
    with found.as_default():
        v1.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    return found


def _in_tensorkeep(graph: Any) -> Any:
    """TensorFlow's graph as one of ours."""
    found = ours.Graph()
    import_graph(GraphDef.FromString(graph.as_graph_def().SerializeToString()), found, name="")
    return found


class _OurRun:
    def __init__(self, graph: Any) -> None:
        self._session = ours.Session(graph=graph)

    def __call__(self, fetches: Any, feeds: Any) -> Any:
        try:
            return self._session.run(fetches, feeds)
        except TensorKeepError as error:
            return error


class _TheirRun:
    def __init__(self, graph: Any) -> None:
        self._session = v1.Session(graph=graph, config=CONFIG)

    def __call__(self, fetches: Any, feeds: Any) -> Any:
        try:
            return self._session.run(fetches, feeds)
        except tf.errors.OpError as error:
            return error


def _results(runs: dict[str, Any], fetches: dict[str, Any], program: Program) -> Outcome:
    """Variables are made, values fetched for each set of feeds, updates run one by one, and values fetched again."""
    steps: list[tuple[Any, Any]] = [(fetches["init"], {})]
    steps += [(fetches["values"], feeds) for feeds in program.feeds]
    steps += [(update, program.feeds[i % 3]) for i, update in enumerate(fetches["updates"])]
    steps += [(fetches["values"], program.feeds[0])]
    for wanted, feeds in steps:
        feeds = {f"{name}:0": value for name, value in feeds.items()}
        expected = runs["theirs"](wanted, feeds)
        for who, run in runs.items():
            if who == "theirs":
                continue
            found = run(wanted, feeds)
            if text := _difference(wanted, found, expected):
                return Outcome("results", f"{who}: {text}\nfeeds: {feeds}")
        if isinstance(expected, Exception) and wanted == fetches["init"]:
            return Outcome("refused", f"initialisation: {expected.message}")
    return Outcome("same")


def _difference(names: Any, found: Any, expected: Any) -> str:
    if isinstance(expected, Exception) or isinstance(found, Exception):
        alike = isinstance(expected, tf.errors.InternalError) or type(found).__name__ == type(expected).__name__
        if isinstance(expected, Exception) and isinstance(found, Exception) and alike:
            return ""
        return f"{names}: {found!r}\nexpected {expected!r}"
    if isinstance(names, str):
        names, found, expected = [names], [found], [expected]
    for name, mine, other in zip(names, found, expected, strict=True):
        if other is None and mine is None:
            continue
        mine, other = np.asarray(mine), np.asarray(other)
        if (mine.dtype, mine.shape) != (other.dtype, other.shape):
            return f"{name}: {mine.dtype} {mine.shape}, expected {other.dtype} {other.shape}"
        if not _close(mine, other):
            return f"{name}: {mine.tolist()}, expected {other.tolist()}"
    return ""


def _close(mine: Any, other: Any) -> bool:
    """Equal for whole numbers; for others, up to rounding, of which long computations have more."""
    if mine.dtype.kind != "f":
        return bool(np.array_equal(mine, other))
    finite = np.abs(other[np.isfinite(other)])
    scale = max(float(finite.max()), 1e-3) if finite.size else 1.0
    return bool(np.allclose(mine, other, rtol=2e-3, atol=max(2e-4 * scale, 2e-5), equal_nan=True))
