"""Values that are known before a graph runs: constants, and what can be computed from constants and static shapes.

Shape rules ask for them: how a tensor is reshaped is a value, and often a constant or an arithmetic on shapes. A value
is found by running the kernels of the ops between, as long as these are pure and what they give stays small.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import VARIANT
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph, Operation, Tensor, held_shape
from tensorkeep.graph.registry.opspec import capabilities_of, flatten, group, kernel_of, keyword_names
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_LARGE: Final = 1 << 16  # elements; what is larger is no shape arithmetic
_MANY: Final = 1 << 20  # elements; equal ones beyond this are not listed
_UNKNOWN: Final = object()
_CACHE: Final = object()  # the key of the values that were found, in `graph.extras`


def constant_value(tensor: Tensor) -> Array | None:
    """The tensor's value if it is known before running, else None. Do not write to it."""
    cache = _cache_of(tensor.graph)
    pending = [tensor]
    while pending:
        current = pending[-1]
        if current in cache:
            pending.pop()
            continue
        value = _from_shape(current)
        if value is not None:
            cache[current] = value
            continue
        if not _foldable(current.op):
            cache[current] = _UNKNOWN
            continue
        missing = [item for item in current.op.inputs if item not in cache]
        if missing and len(pending) < 10_000:
            pending.extend(missing)
            continue
        _evaluate(current.op, cache)
    found = cache[tensor]
    return None if found is _UNKNOWN else found


def _cache_of(graph: Graph) -> dict[Tensor, Any]:
    """The values found so far, forgotten when operations change."""
    edits, cache = graph.extras.get(_CACHE, (None, {}))
    if edits != graph.edits:
        cache = {}
        graph.extras[_CACHE] = (graph.edits, cache)
    return cache  # type: ignore[no-any-return]


def _foldable(op: Operation) -> bool:
    if op.type == "Const":
        return True
    return bool(op.inputs) and op.type != "PlaceholderWithDefault" and only_computes(op)


def only_computes(op: Operation) -> bool:
    """Whether an operation has a kernel that takes nothing but its inputs, and does nothing but compute."""
    spec = op.spec
    if capabilities_of(op) or spec.schema.is_stateful or spec.kernel_takes_context or spec.kernel_function is None:
        return False
    if any(tensor.dtype is VARIANT for tensor in op.outputs):  # lists belong to the run that makes them
        return False
    return not any(tensor.dtype.is_ref for tensor in op.inputs)


def _from_shape(tensor: Tensor) -> Array | None:
    """The value of Shape, Size or Rank of a tensor whose shape is known."""
    op = tensor.op
    if op.type == "StridedSlice":
        return _picked_size(op, tensor.dtype.array_dtype)
    if op.type not in ("Shape", "ShapeN", "Size", "Rank", "VariableShape"):
        return None
    shape = held_shape(op.inputs[0]) if op.type == "VariableShape" else op.inputs[tensor.index].static_shape
    dtype = tensor.dtype.array_dtype
    if op.type == "Rank":
        return None if shape.rank is None else np.array(shape.rank, dtype)
    if not shape.is_fully_known:
        return None
    try:
        return np.array(shape.element_count(), dtype) if op.type == "Size" else np.array(shape.as_tuple(), dtype)
    except OverflowError:  # sizes that the type cannot state
        return None


def _picked_size(op: Operation, dtype: Any) -> Array | None:
    """One size picked from the shape of a tensor of which that size is known, though others may not be."""
    source = op.inputs[0].op
    if source.type not in ("Shape", "ShapeN") or op.inputs[1].op.type != "Const":
        return None
    if op.attr("shrink_axis_mask") != 1 or any(op.attr(name) for name in ("ellipsis_mask", "new_axis_mask")):
        return None
    dims, begin = source.inputs[op.inputs[0].index].static_shape.dims, constant_value(op.inputs[1])
    if dims is None or begin is None or begin.size != 1 or not -len(dims) <= begin[0] < len(dims):
        return None
    size = dims[int(begin[0])]
    return None if size is None else np.array(size, dtype)


def _evaluate(op: Operation, cache: dict[Tensor, Any]) -> None:
    if op.type == "Const":
        value, dtype = op.attr("value"), op.outputs[0].dtype
        if value.dtype != dtype.number:
            raise InvalidArgumentError(f'constant "{op.name}" is of type {dtype}, but its value is of another')
        found = array_of_tensor(value, f'constant "{op.name}"')
        # A few bytes may state any number of equal elements: nobody should be tempted to list them.
        is_splat = found.size > _MANY and not any(found.strides)
        cache[op.outputs[0]] = _UNKNOWN if is_splat else found
        return
    values = [cache.get(tensor, _UNKNOWN) for tensor in op.inputs]
    results: list[Any] = [_UNKNOWN] * len(op.outputs)
    large = any(tensor._shape is not None and (tensor._shape.element_count() or 0) > _LARGE for tensor in op.outputs)
    if not large and not any(value is _UNKNOWN or np.size(value) > _LARGE for value in values):
        results = _run(op, values)
    for tensor, result in zip(op.outputs, results, strict=True):
        cache[tensor] = result if np.size(result) <= _LARGE else _UNKNOWN


def _run(op: Operation, values: list[Any]) -> list[Any]:
    try:
        results = run_kernel(op, values)
        return [
            np.asarray(result, tensor.dtype.array_dtype) for result, tensor in zip(results, op.outputs, strict=True)
        ]
    except Exception:  # a constant expression that fails is reported when it runs
        return [_UNKNOWN] * len(op.outputs)


def run_kernel(op: Operation, values: list[Any]) -> list[Any]:
    """What the kernel of an operation that only computes gives for the values of its inputs. Raises what it raises."""
    kernel = kernel_of(op.spec)
    arguments = group(op.spec.schema.inputs, values, op.attr) if op.spec.has_list_inputs else values
    with np.errstate(all="ignore"):
        return list(flatten(kernel(*arguments, **{name: op.attr(name) for name in keyword_names(kernel)})))


def constant_shape(tensor: Tensor) -> Shape:
    """The shape that a tensor of sizes states, as far as it is known before running; -1 is an unknown size."""
    if tensor.op.type == "Shape":  # what it is the shape of is not computed for that
        return tensor.op.inputs[0].static_shape
    value = constant_value(tensor)
    if value is not None:
        if value.ndim == 0:
            if int(value) == -1:
                return UNKNOWN_SHAPE
            raise InvalidArgumentError(f"a shape must be a vector of sizes, got the scalar {int(value)}")
        if value.ndim > 1:
            raise InvalidArgumentError(f"Shape must be rank 1 but is rank {value.ndim}")
        return Shape(tuple(None if size < 0 else int(size) for size in value))
    return _partial(tensor, 0)


def _partial(tensor: Tensor, depth: int) -> Shape:
    """What is known of a vector of sizes that is not constant as a whole."""
    op = tensor.op
    known = tensor.static_shape
    rank = known.dims[0] if known.dims is not None and len(known.dims) == 1 else None
    unknown = UNKNOWN_SHAPE if rank is None else Shape((None,) * rank)
    if depth > 100:
        return unknown
    if op.type == "Shape":
        return op.inputs[0].static_shape
    if op.type == "ShapeN":
        return op.inputs[tensor.index].static_shape
    if op.type == "VariableShape":
        return held_shape(op.inputs[0])
    if op.type in ("Identity", "Cast", "StopGradient"):
        return _vector(op.inputs[0], depth)
    if op.type == "Pack" and op.attr("axis") in (0, -1):
        return Shape(tuple(map(_size, op.inputs)))
    if op.type in ("ConcatV2", "Concat"):
        parts = op.inputs[:-1] if op.type == "ConcatV2" else op.inputs[1:]
        shape = Shape(())
        for part in parts:
            shape = shape.concatenate(_vector(part, depth))
        return shape
    if op.type == "StridedSlice":
        return _sliced_sizes(op, depth) or unknown
    return unknown


def _vector(tensor: Tensor, depth: int) -> Shape:
    value = constant_value(tensor)
    if value is not None and value.ndim == 1:
        return Shape(tuple(None if size < 0 else int(size) for size in value))
    return _partial(tensor, depth + 1)


def _size(tensor: Tensor) -> int | None:
    """The value of a scalar that is an element picked from a shape; None if it is not known."""
    value = constant_value(tensor)
    if value is not None:
        return int(value) if value.ndim == 0 and value >= 0 else None
    op = tensor.op
    if op.type == "Cast":
        return _size(op.inputs[0])
    if op.type == "StridedSlice" and op.attr("shrink_axis_mask") == 1:
        begin = constant_value(op.inputs[1])
        dims = _partial(op.inputs[0], 1).dims
        if begin is not None and begin.size == 1 and dims is not None and -len(dims) <= begin[0] < len(dims):
            return dims[int(begin[0])]
    return None


def _sliced_sizes(op: Operation, depth: int) -> Shape | None:
    """A part of a vector of sizes, taken as a program takes it: `shape[1:3]`."""
    begin, end, strides = (constant_value(tensor) for tensor in op.inputs[1:4])
    masked = any(op.attr(name) for name in ("shrink_axis_mask", "ellipsis_mask", "new_axis_mask"))
    if begin is None or end is None or strides is None or masked or begin.size != 1:
        return None
    dims = _vector(op.inputs[0], depth).dims
    if dims is None:
        return None
    start = None if op.attr("begin_mask") & 1 else int(begin[0])
    stop = None if op.attr("end_mask") & 1 else int(end[0])
    return Shape(dims[slice(start, stop, int(strides[0]))])
