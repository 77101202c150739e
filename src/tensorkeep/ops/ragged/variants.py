"""Ragged tensors as single values of variant tensors, which data pipelines and loops carry."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.ragged.rows import RaggedVariant, checked_splits, split_apart, stack_variants, variant_array
from tensorkeep.ops.shared.expressions import constant, shape_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank, with_rank_at_least
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

ragged_tensor_to_variant = op(
    "RaggedTensorToVariant(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues) -> "
    "encoded_ragged: variant :: RAGGED[$Tvalues]",
    "RAGGED_RANK: int >= 0",
    "Tvalues: type",
    "Tsplits: {int32, int64} = int64",
    "batched_input: bool",
)


@ragged_tensor_to_variant.shape
def ragged_tensor_to_variant_shape(
    rt_nested_splits: list[Tensor], rt_dense_values: Tensor, *, batched_input: bool
) -> Shape:
    for splits in rt_nested_splits:
        with_rank(splits, 1)
    if rt_nested_splits:
        with_rank_at_least(rt_dense_values, 1)
    if not batched_input:
        return Shape(())
    if rt_nested_splits:
        count = rt_nested_splits[0].static_shape.with_rank(1)[0]
        return Shape((None if count is None else count - 1,))
    sizes = with_rank_at_least(rt_dense_values, 1).dims
    return Shape((None if sizes is None else sizes[0],))


@ragged_tensor_to_variant.kernel
def ragged_tensor_to_variant_kernel(
    rt_nested_splits: list[Array], rt_dense_values: Array, *, batched_input: bool
) -> RaggedVariant | Array:
    values = np.asarray(rt_dense_values)
    counts = [*(len(splits) - 1 for splits in rt_nested_splits[1:]), len(values) if values.ndim else 0]
    for splits, count in zip(rt_nested_splits, counts, strict=bool(rt_nested_splits)):
        checked_splits(splits, count)
    whole = RaggedVariant(rt_nested_splits, values)
    if not batched_input:
        return whole
    if values.ndim == 0:
        raise InvalidArgumentError("rt_dense_values must have rank >= 1 when batched_input is true")
    return variant_array(split_apart(whole))


@ragged_tensor_to_variant.gradient
def ragged_tensor_to_variant_gradient_rule(op: Operation, encoded: Tensor) -> Gradients:
    flat, count = op.inputs[-1], len(op.inputs) - 1
    splits = op.inputs[0] if count else constant(0, name="RaggedTensorToVariantGradient/row_splits")
    grad = ragged_tensor_to_variant_gradient(encoded, splits, shape_of(flat), Tvalues=flat.dtype)
    return [*[None] * count, grad]


ragged_tensor_from_variant = op(
    "RaggedTensorFromVariant(encoded_ragged: variant) -> output_nested_splits: output_ragged_rank * Tsplits, "
    "output_dense_values: Tvalues",
    "input_ragged_rank: int >= -1",
    "output_ragged_rank: int >= 0",
    "Tvalues: type",
    "Tsplits: {int32, int64} = int64",
)


@ragged_tensor_from_variant.shape
def ragged_tensor_from_variant_shape(
    encoded_ragged: Tensor, *, input_ragged_rank: int, output_ragged_rank: int
) -> tuple[list[Shape], Shape]:
    rank = encoded_ragged.static_shape.rank
    if rank is not None:
        _input_rank(rank, input_ragged_rank, output_ragged_rank)
    return [Shape((None,))] * output_ragged_rank, UNKNOWN_SHAPE


def _input_rank(dimensions: int, told: int, output: int) -> int:
    """The ragged rank of each value; with that and the dimensions around them comes the rank of the whole."""
    found = output - dimensions if told == -1 else told
    if found < 0 or found + dimensions != output:
        raise InvalidArgumentError(
            f"output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.ndims; output_ragged_rank: "
            f"{output}, input_ragged_rank: {told}, encoded_ragged.ndims: {dimensions}"
        )
    return found


def _the_variants(encoded: Any, rank: int, dtype: DType) -> list[RaggedVariant]:
    items = [encoded] if isinstance(encoded, RaggedVariant) else list(np.asarray(encoded, object).reshape(-1))
    for item in items:
        if not isinstance(item, RaggedVariant):
            raise InvalidArgumentError(f"Input Variant doesn't hold a RaggedTensorVariant: {type(item).__name__}")
        if item.values.dtype != dtype.array_dtype:
            raise InvalidArgumentError(f"Expected values Tensor dtype: {dtype}, found: {item.values.dtype}")
        if len(item.nested_splits) != rank:
            raise InvalidArgumentError(f"Ragged rank of each value must be {rank}, got {len(item.nested_splits)}")
    return items


@ragged_tensor_from_variant.kernel
def ragged_tensor_from_variant_kernel(
    encoded_ragged: RaggedVariant | Array,
    *,
    input_ragged_rank: int,
    output_ragged_rank: int,
    Tvalues: DType,  # noqa: N803
    Tsplits: DType,  # noqa: N803
) -> tuple[list[Any], Any]:
    shape: tuple[int, ...] = () if isinstance(encoded_ragged, RaggedVariant) else np.shape(encoded_ragged)
    rank = _input_rank(len(shape), input_ragged_rank, output_ragged_rank)
    items = _the_variants(encoded_ragged, rank, Tvalues)
    if not shape:
        return list(items[0].nested_splits), items[0].values
    if any(item.values.ndim == 0 for item in items) or any(
        splits.dtype != Tsplits.array_dtype for item in items for splits in item.nested_splits
    ):
        raise InvalidArgumentError(f"Expected values with dimensions, and row splits of type {Tsplits}")
    found = stack_variants(items, rank, Tvalues, Tsplits.array_dtype)
    outer = [
        (np.arange(int(np.prod(shape[:axis])) + 1) * shape[axis]).astype(Tsplits.array_dtype)
        for axis in range(1, len(shape))
    ]
    return [*outer, *found.nested_splits], found.values


@ragged_tensor_from_variant.gradient
def ragged_tensor_from_variant_gradient(op: Operation, *grads: Tensor) -> Gradients:
    rank = op.inputs[0].static_shape.rank
    if rank is not None and rank > 1:
        raise InvalidArgumentError(
            "Unable to compute gradient: RaggedTensorToVariant can currently only generate 0D or 1D output."
        )
    batched = op.attr("output_ragged_rank") > 0 if rank is None else rank == 1
    return (ragged_tensor_to_variant(op.outputs[:-1], grads[-1], batched_input=batched),)


ragged_tensor_to_variant_gradient = op(
    "RaggedTensorToVariantGradient(encoded_ragged_grad: variant, row_splits: Tsplits, dense_values_shape: int32) -> "
    "dense_values_grad: Tvalues",
    "Tvalues: type",
    "Tsplits: {int32, int64} = int64",
)


@ragged_tensor_to_variant_gradient.shape
def ragged_tensor_to_variant_gradient_shape(
    encoded_ragged_grad: Tensor, row_splits: Tensor, dense_values_shape: Tensor
) -> Shape:
    return constant_shape(dense_values_shape)


@ragged_tensor_to_variant_gradient.kernel
def ragged_tensor_to_variant_gradient_kernel(
    encoded_ragged_grad: RaggedVariant | Array,
    row_splits: Array,
    dense_values_shape: Array,
    *,
    Tvalues: DType,  # noqa: N803
) -> Array:
    shape = tuple(np.asarray(dense_values_shape).tolist())
    items = [encoded_ragged_grad] if isinstance(encoded_ragged_grad, RaggedVariant) else list(encoded_ragged_grad)
    parts = [item.values for item in items]
    if isinstance(encoded_ragged_grad, RaggedVariant):
        joined = parts[0]
    elif np.ndim(row_splits) == 0:
        joined = np.stack(parts) if parts else np.zeros((0,), Tvalues.array_dtype)
    else:
        joined = np.concatenate(parts) if parts else np.zeros((0,), Tvalues.array_dtype)
    if joined.shape != shape:
        raise InvalidArgumentError(f"Unable to make a gradient of shape {list(shape)} of one of {list(joined.shape)}")
    return joined
