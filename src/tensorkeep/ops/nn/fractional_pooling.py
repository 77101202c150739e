"""Fractional pooling: the maximum or the average of windows whose sizes are drawn anew for every run."""

from __future__ import annotations

from collections.abc import Iterator
from secrets import randbits
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.nn._fractional_windows import Cells, output_size, pooling_sequence
from tensorkeep.ops.random.philox import PhiloxStream
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape, checked_shape

Floats = tuple[float, ...]


def _pooling(name: str) -> OpSpec:
    return op(
        f"{name}(value: T) -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
        "pooling_ratio: list(float) >= 4",
        "pseudo_random: bool = false",
        "overlapping: bool = false",
        "deterministic: bool = false",
        "seed: int = 0",
        "seed2: int = 0",
        "T: {float, double, int32, int64}",
    )


fractional_max_pool = _pooling("FractionalMaxPool")
fractional_avg_pool = _pooling("FractionalAvgPool")


@fractional_max_pool.shape
@fractional_avg_pool.shape
def fractional_pool_shape(value: Tensor, *, pooling_ratio: Floats) -> tuple[Shape, Shape, Shape]:
    sizes = with_rank(value, 4)
    if len(pooling_ratio) != 4:
        raise InvalidArgumentError("pooling_ratio field must specify 4 dimensions")
    pooled = (
        None if size is None else output_size(size, ratio) for size, ratio in zip(sizes, pooling_ratio, strict=True)
    )
    return Shape(tuple(pooled)), Shape((None,)), Shape((None,))


def _check_options(pooling_ratio: Floats, deterministic: bool, seed: int, seed2: int) -> None:
    for ratio in pooling_ratio:
        if ratio < 1:
            raise InvalidArgumentError(f"pooling_ratio cannot be smaller than 1, got: {ratio:g}")
    if pooling_ratio[0] != 1 or pooling_ratio[3] != 1:
        raise UnimplementedError("Fractional pooling is not yet supported on the batch nor channel dimension.")
    if not deterministic and (seed or seed2):
        raise InvalidArgumentError("Both seed and seed2 should be 0 if deterministic is false.")


def _sequences(value: Array, pooling_ratio: Floats, pseudo_random: bool, seed: int, seed2: int) -> tuple[Array, Array]:
    """The windows of rows and of columns."""
    if value.ndim != 4:
        raise InvalidArgumentError("tensor_in must be 4-dimensional")
    for axis, (size, ratio) in enumerate(zip(value.shape, pooling_ratio, strict=True)):
        if size < ratio:
            raise InvalidArgumentError(
                f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: {size} "
                f"pooling ratio: {ratio:g}"
            )
    stream = PhiloxStream(seed, seed2) if seed or seed2 else PhiloxStream(randbits(63) + 1, randbits(63))

    def sequence(axis: int) -> Array:
        count = output_size(value.shape[axis], pooling_ratio[axis])
        return pooling_sequence(value.shape[axis], count, stream, pseudo_random)

    return sequence(1), sequence(2)


def _cells(
    shape: tuple[int, ...], row_sequence: Array, column_sequence: Array, overlapping: bool
) -> tuple[Cells, Cells]:
    rows = Cells.of_sequence(row_sequence, shape[1], overlapping, "row_pooling_sequence")
    return rows, Cells.of_sequence(column_sequence, shape[2], overlapping, "col_pooling_sequence")


def _steps(rows: Cells, columns: Cells) -> Iterator[tuple[Any, Array]]:
    """For each place in a window, row by row: where it is in the images, and which windows have it."""
    for row, has_row in rows.steps():
        for column, has_column in columns.steps():
            at = np.where(has_row, row, rows.last), np.where(has_column, column, columns.last)
            yield (slice(None), *np.ix_(*at)), (has_row[:, None] & has_column)[..., None]


@fractional_max_pool.kernel
def fractional_max_pool_kernel(
    value: Array,
    *,
    pooling_ratio: Floats,
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[Array, Array, Array]:
    _check_options(pooling_ratio, deterministic, seed, seed2)
    sequences = _sequences(value, pooling_ratio, pseudo_random, seed, seed2)
    pooled: Any = None
    for index, _ in _steps(*_cells(value.shape, *sequences, overlapping)):
        pooled = value[index] if pooled is None else np.fmax(pooled, value[index])
    return pooled, *sequences


@fractional_avg_pool.kernel
def fractional_avg_pool_kernel(
    value: Array,
    *,
    pooling_ratio: Floats,
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[Array, Array, Array]:
    _check_options(pooling_ratio, deterministic, seed, seed2)
    sequences = _sequences(value, pooling_ratio, pseudo_random, seed, seed2)
    rows, columns = _cells(value.shape, *sequences, overlapping)
    total = np.zeros((len(value), len(rows), len(columns), value.shape[3]), value.dtype)
    for index, is_inside in _steps(rows, columns):
        np.add(total, value[index], out=total, where=is_inside)
    return _divide_by_counts(total, np.outer(rows.sizes, columns.sizes)[..., None]), *sequences


def _divide_by_counts(values: Array, counts: Array) -> Array:
    """Quotients of the values' type; of whole numbers, rounded towards zero."""
    counts = counts.astype(values.dtype)
    if values.dtype.kind == "f":
        quotients: Array = values / counts
        return quotients
    whole: Array = np.sign(values) * (np.abs(values) // counts)
    return whole


fractional_max_pool_grad = op(
    "FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64) -> output: T",
    "overlapping: bool = false",
    "T: {float, double, int32, int64}",
)
fractional_avg_pool_grad = op(
    "FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64) -> output: T",
    "overlapping: bool = false",
    "T: {float, double, int32, int64}",
)


@fractional_max_pool_grad.shape
def fractional_max_pool_grad_shape(orig_input: Tensor, *_: Tensor) -> Shape:
    return with_rank(orig_input, 4)


@fractional_avg_pool_grad.shape
def fractional_avg_pool_grad_shape(orig_input_tensor_shape: Tensor, *_: Tensor) -> Shape:
    known = constant_shape(orig_input_tensor_shape)
    return Shape((None,) * 4) if known.dims is None else known


def _check_gradient(shape: tuple[int, ...], gradient: Array, rows: Cells, columns: Cells) -> None:
    wanted = (shape[0], len(rows), len(columns), shape[3])
    if gradient.shape != wanted:
        raise InvalidArgumentError(f"out_backprop has shape {list(gradient.shape)}, but the output {list(wanted)}")


@fractional_max_pool_grad.kernel
def fractional_max_pool_grad_kernel(
    orig_input: Array,
    orig_output: Array,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    *,
    overlapping: bool,
) -> Array:
    if orig_input.ndim != 4:
        raise InvalidArgumentError("orig_input must be 4-dimensional")
    rows, columns = _cells(orig_input.shape, row_pooling_sequence, col_pooling_sequence, overlapping)
    _check_gradient(orig_input.shape, out_backprop, rows, columns)
    best: Any = None
    for index, _ in _steps(rows, columns):
        here = np.broadcast_arrays(orig_input[index], index[1][..., None] * orig_input.shape[2] + index[2][..., None])
        if best is None:
            best = [part.copy() for part in here]
        else:
            is_greater = here[0] > best[0]
            best = [np.where(is_greater, new, old) for new, old in zip(here, best, strict=True)]
    if not np.array_equal(best[0], orig_output):
        raise InvalidArgumentError("tensor_out_dup is not the same as tensor_out: the output is of another input")
    batch, channel = np.arange(len(orig_input))[:, None, None, None], np.arange(orig_input.shape[3])
    result = np.zeros_like(orig_input)
    np.add.at(result.reshape(len(orig_input), -1, orig_input.shape[3]), (batch, best[1], channel), out_backprop)
    return result


@fractional_avg_pool_grad.kernel
def fractional_avg_pool_grad_kernel(
    orig_input_tensor_shape: Array,
    out_backprop: Array,
    row_pooling_sequence: Array,
    col_pooling_sequence: Array,
    *,
    overlapping: bool,
) -> Array:
    if np.shape(orig_input_tensor_shape) != (4,):
        raise InvalidArgumentError("original input tensor shape must be 1-dimensional and 4 elements")
    shape = checked_shape(orig_input_tensor_shape.tolist())
    check_allocation(shape, np.float64)
    rows, columns = _cells(shape, row_pooling_sequence, col_pooling_sequence, overlapping)
    _check_gradient(shape, out_backprop, rows, columns)
    share = _divide_by_counts(out_backprop, np.outer(rows.sizes, columns.sizes)[..., None]).astype(np.float64)
    result = np.zeros(shape)
    for index, is_inside in _steps(rows, columns):
        np.add.at(result, index, np.where(is_inside, share, 0.0))
    return result.astype(out_backprop.dtype)


@fractional_max_pool.gradient
def fractional_max_pool_gradient(op: Operation, dy: Tensor, *_: Tensor) -> Gradients:
    given = (op.inputs[0], op.outputs[0], dy, op.outputs[1], op.outputs[2])
    return emit("FractionalMaxPoolGrad", *given, overlapping=op.attr("overlapping"))


@fractional_avg_pool.gradient
def fractional_avg_pool_gradient(op: Operation, dy: Tensor, *_: Tensor) -> Gradients:
    shape = np.array(op.inputs[0].static_shape.dims, np.int64)
    given = (shape, dy, op.outputs[1], op.outputs[2])
    return emit("FractionalAvgPoolGrad", *given, overlapping=op.attr("overlapping"))
