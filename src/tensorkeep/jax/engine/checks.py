"""What our kernels would refuse by its values, as a truth value that the device computes.

A device cannot fail. What a kernel would refuse is computed beside the result of its lowering, and noted; a step that
notes something changes no variable, and is run by our kernels, whose error is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import jax.numpy as jnp
import numpy as np

from tensorkeep.graph.graph import Operation
from tensorkeep.jax.registry import LOWERINGS
from tensorkeep.jax.values import Value, is_known, is_on_device, shape_of

Check: TypeAlias = Callable[[Operation, Sequence[Value], Sequence[Value]], Any]
"""Of an operation, its inputs and its results: whether its kernel takes them; None if it surely does."""


def _within(indices: Value, size: int) -> Any:
    if is_known(indices) and not (np.size(indices) and (np.min(indices) < 0 or np.max(indices) >= size)):
        return None
    return jnp.all((jnp.asarray(indices) >= 0) & (jnp.asarray(indices) < size))


def _rows_are_there(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    axis = int(inputs[2]) if len(inputs) > 2 else (op.attr("batch_dims") if op.type == "ResourceGather" else 0)
    return _within(inputs[1], shape_of(inputs[0])[axis])


def _elements_are_there(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    depth = shape_of(inputs[1])[-1]
    return _all(_within(inputs[1][..., at], shape_of(inputs[0])[at]) for at in range(depth))


def _changed_rows_are_there(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    names = [arg.name for arg in op.spec.schema.inputs]
    return _within(inputs[names.index("indices")], shape_of(inputs[0])[0])


def _labels_are_there(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    return _within(inputs[1], shape_of(inputs[0])[-1])


def _divisors_are_not_zero(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    if not op.inputs[1].dtype.is_integer or (is_known(inputs[1]) and np.all(inputs[1] != 0)):
        return None
    return jnp.all(jnp.asarray(inputs[1]) != 0)


def _segments_are_there(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    return jnp.all(jnp.asarray(inputs[1]) < inputs[2])


def _assertion_holds(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    return jnp.all(jnp.asarray(inputs[0]))


def _bounds_are_in_order(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    return jnp.all(jnp.asarray(inputs[1]) < jnp.asarray(inputs[2]))


def _results_are_finite(op: Operation, inputs: Sequence[Value], results: Sequence[Value]) -> Any:
    return _all(jnp.all(jnp.isfinite(result)) for result in results if is_on_device(result))


def _all(truths: Any) -> Any:
    found = None
    for truth in truths:
        found = truth if found is None or truth is None else found & truth
    return found


_CHANGES_OF_ROWS: Final = tuple(
    f"{kind}Scatter{how}" for kind in ("", "Resource") for how in ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
)
_CHANGES_OF_ELEMENTS: Final = tuple(
    f"{kind}ScatterNd{how}" for kind in ("", "Resource") for how in ("Update", "Add", "Sub")
)


def checks() -> dict[str, Check]:
    """The checks of ops, by name; of those ops that have a lowering."""
    found: dict[str, Check] = {
        **dict.fromkeys(("Gather", "GatherV2", "ResourceGather"), _rows_are_there),
        **dict.fromkeys(("GatherNd", "ResourceGatherNd", *_CHANGES_OF_ELEMENTS), _elements_are_there),
        **dict.fromkeys(_CHANGES_OF_ROWS, _changed_rows_are_there),
        **dict.fromkeys((op for op in LOWERINGS if op.startswith(("SparseApply", "ResourceSparseApply"))),
                        _changed_rows_are_there),
        **dict.fromkeys(("Div", "FloorDiv", "Mod", "FloorMod", "TruncateDiv", "TruncateMod"), _divisors_are_not_zero),
        **dict.fromkeys((f"UnsortedSegment{how}" for how in ("Sum", "Prod", "Min", "Max")), _segments_are_there),
        **dict.fromkeys(("CheckNumerics", "CheckNumericsV2", "Cholesky", "MatrixInverse", "MatrixSolve"),
                        _results_are_finite),
        "SparseSoftmaxCrossEntropyWithLogits": _labels_are_there,
        "RandomUniformInt": _bounds_are_in_order,
        "Assert": _assertion_holds,
    }  # fmt: skip
    return {op: check for op, check in found.items() if op in LOWERINGS}
