"""Datasets whose elements are made of several: windows, groups, batches that are parsed, mapped or sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.data._dataset_ops import (
    ARGUMENTS,
    KINDS,
    METADATA,
    bound_function,
    dataset_op,
    owned_function,
    row_function,
)
from tensorkeep.ops.data.datasets import chosen_elements, scan_dataset_kernel, unbatch_dataset_kernel
from tensorkeep.ops.data.passes.background import ahead
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of, scalar_count
from tensorkeep.ops.data.passes.batching import as_array, batch_elements
from tensorkeep.ops.data.passes.grouping import group_elements, reduced, unique, windows
from tensorkeep.ops.data.passes.mapping import RowFunction, map_elements
from tensorkeep.ops.data.passes.rows import Element, Rows
from tensorkeep.ops.data.passes.sources import dataset_of_rows, generate_elements
from tensorkeep.ops.parsing.examples import parse_example_v2_kernel
from tensorkeep.ops.parsing.stored_tensors import StoredTensor, rows_of
from tensorkeep.ops.ragged.variants import ragged_tensor_to_variant_kernel
from tensorkeep.ops.shared.kernel_types import Array, Handle, string_array
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

# ------------------------------------------------------------------------------------------------------------- Windows

window_dataset = dataset_op(
    "WindowDataset(input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool)",
    *KINDS,
    METADATA,
)


@window_dataset.kernel
def window_dataset_kernel(
    input_dataset: Handle, size: Array, shift: Array, stride: Array, drop_remainder: Array
) -> Dataset:
    return windows(
        dataset_of(input_dataset),
        scalar_count(size, "size"),
        scalar_count(shift, "shift"),
        scalar_count(stride, "stride"),
        bool(drop_remainder),
    )


def _with_functions(
    ctx: KernelContext, references: Sequence[FunctionRef], captured: Sequence[list[Array]]
) -> list[Callable[..., Sequence[Any]]]:
    """Functions of the library that take tensors from outside after their own arguments."""
    return [bound_function(ctx, reference, last) for reference, last in zip(references, captured, strict=True)]


def _key_of(function: Callable[..., Sequence[Any]]) -> Callable[[Element], int]:
    return lambda element: int(np.asarray(function(*element)[0]))


def _grouping(name: str, *more: str) -> OpSpec:
    made = dataset_op(
        f"{name}(input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
        "reduce_func_other_arguments: Treduce_func_other_arguments, "
        "window_size_func_other_arguments: Twindow_size_func_other_arguments)",
        "key_func: func",
        "reduce_func: func",
        "window_size_func: func",
        "Tkey_func_other_arguments: list(type) >= 0",
        "Treduce_func_other_arguments: list(type) >= 0",
        "Twindow_size_func_other_arguments: list(type) >= 0",
        *KINDS,
        *more,
    )
    made.stateful_kernel(group_by_window_dataset_kernel)
    return made


def group_by_window_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    key_func_other_arguments: list[Array],
    reduce_func_other_arguments: list[Array],
    window_size_func_other_arguments: list[Array],
    *,
    key_func: FunctionRef,
    reduce_func: FunctionRef,
    window_size_func: FunctionRef,
) -> Dataset:
    key, reduce, size = _with_functions(
        ctx,
        (key_func, reduce_func, window_size_func),
        (key_func_other_arguments, reduce_func_other_arguments, window_size_func_other_arguments),
    )

    def size_of(number: int) -> int:
        return int(np.asarray(size(np.int64(number))[0]))

    def reduced_window(number: int, window: Dataset) -> Dataset:
        return dataset_of(reduce(np.int64(number), window)[0])

    return group_elements(dataset_of(input_dataset), _key_of(key), size_of, reduced_window)


group_by_window_dataset = _grouping("GroupByWindowDataset", METADATA)
experimental_group_by_window_dataset = _grouping("ExperimentalGroupByWindowDataset")


def _reducing(name: str) -> OpSpec:
    parts = ("key", "init", "reduce", "finalize")
    inputs = ", ".join(f"{part}_func_other_arguments: T{part}_func_other_arguments" for part in parts)
    made = dataset_op(
        f"{name}(input_dataset: variant, {inputs})",
        *(f"{part}_func: func" for part in parts),
        *(f"T{part}_func_other_arguments: list(type) >= 0" for part in parts),
        *KINDS,
        "stateful",
    )
    made.stateful_kernel(group_by_reducer_dataset_kernel)
    return made


def group_by_reducer_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    *captured: list[Array],
    key_func: FunctionRef,
    init_func: FunctionRef,
    reduce_func: FunctionRef,
    finalize_func: FunctionRef,
) -> Dataset:
    references = (key_func, init_func, reduce_func, finalize_func)
    key, first, reduce, finish = _with_functions(ctx, references, captured)
    return reduced(dataset_of(input_dataset), _key_of(key), lambda number: first(np.int64(number)), reduce, finish)


group_by_reducer_dataset = _reducing("GroupByReducerDataset")
experimental_group_by_reducer_dataset = _reducing("ExperimentalGroupByReducerDataset")


def _unique(name: str, *more: str) -> OpSpec:
    made = dataset_op(f"{name}(input_dataset: variant)", *KINDS, *more)
    made.kernel(lambda input_dataset: unique(dataset_of(input_dataset)))
    return made


unique_dataset = _unique("UniqueDataset", METADATA)
experimental_unique_dataset = _unique("ExperimentalUniqueDataset")


# ----------------------------------------------------------------------------------------------------- Batches of more


def _map_and_batch(name: str, *more: str) -> OpSpec:
    made = dataset_op(
        f"{name}(input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, "
        "drop_remainder: bool)",
        "f: func",
        ARGUMENTS,
        *KINDS,
        "preserve_cardinality: bool = false",
        *more,
    )
    made.stateful_kernel(map_and_batch_dataset_kernel)
    return made


def map_and_batch_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    batch_size: Array,
    num_parallel_calls: Array,
    drop_remainder: Array,
    *,
    f: FunctionRef,
    preserve_cardinality: bool,
) -> Dataset:
    parallel = scalar_count(num_parallel_calls, "num_parallel_calls")
    if parallel < 1 and parallel != -1:
        raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
    function = row_function(ctx, f, other_arguments)
    rows = map_elements(dataset_of(input_dataset), function, preserves=preserve_cardinality, parallel=parallel)
    size = scalar_count(batch_size, "batch_size")
    return ahead(batch_elements(rows, size, bool(drop_remainder), spends=True), 1)


map_and_batch_dataset = _map_and_batch("MapAndBatchDataset", METADATA)
experimental_map_and_batch_dataset = _map_and_batch("ExperimentalMapAndBatchDataset")


def _sparse_batches(name: str) -> OpSpec:
    made = dataset_op(f"{name}(input_dataset: variant, batch_size: int64, row_shape: int64)", *KINDS)
    made.kernel(dense_to_sparse_batch_dataset_kernel)
    return made


def dense_to_sparse_batch_dataset_kernel(input_dataset: Handle, batch_size: Array, row_shape: Array) -> Dataset:
    told = np.asarray(row_shape).tolist()

    def stack(rows: Rows) -> Element:
        return (_sparse_batch([as_array(row[0]) for row in rows], told),)

    return batch_elements(dataset_of(input_dataset), scalar_count(batch_size, "batch_size"), False, stack)


def _sparse_batch(arrays: Sequence[Array], told: Sequence[int]) -> Array:
    """Arrays as the rows of a sparse tensor whose rows have a shape, or the largest where that is -1."""
    for array in arrays:
        if array.ndim != len(told):
            raise InvalidArgumentError(
                f"Input element had shape ({list(array.shape)}) that is incompatible with the row shape ({told})."
            )
        if any(size > most for size, most in zip(array.shape, told, strict=True) if most >= 0):
            raise DataLossError(
                f"Input element had shape ({list(array.shape)}) that is larger than the row shape ({told})."
            )
    largest = [max((array.shape[axis] for array in arrays), default=0) for axis in range(len(told))]
    shape = [len(arrays), *(most if most >= 0 else size for size, most in zip(largest, told, strict=True))]
    places = [np.argwhere(np.ones(array.shape, np.bool_)) for array in arrays]
    owners = np.repeat(np.arange(len(arrays)), [array.size for array in arrays])[:, None]
    indices = np.concatenate([owners, np.concatenate(places)], axis=1).astype(np.int64)
    parts = (indices, np.concatenate([array.reshape(-1) for array in arrays]), np.array(shape, np.int64))
    return string_array([StoredTensor(part) for part in parts], (3,))  # type: ignore[misc]


dense_to_sparse_batch_dataset = _sparse_batches("DenseToSparseBatchDataset")
experimental_dense_to_sparse_batch_dataset = _sparse_batches("ExperimentalDenseToSparseBatchDataset")

_FEATURES = (
    "sparse_keys: list(string) >= 0",
    "dense_keys: list(string) >= 0",
    "sparse_types: list({float, int64, string}) >= 0",
    "Tdense: list({float, int64, string}) >= 0",
    "dense_shapes: list(shape) >= 0",
    *KINDS,
)
_RAGGED = (
    "ragged_keys: list(string) >= 0 = []",
    "ragged_value_types: list({float, int64, string}) >= 0 = []",
    "ragged_split_types: list({int32, int64}) >= 0 = []",
)
_PARSING = "(input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense)"
parse_example_dataset = dataset_op(f"ParseExampleDataset{_PARSING}", *_FEATURES, "sloppy: bool = false", *_RAGGED)
parse_example_dataset_v2 = dataset_op(
    f"ParseExampleDatasetV2{_PARSING}", *_FEATURES, "deterministic: string = 'default'", *_RAGGED
)


@parse_example_dataset_v2.kernel
@parse_example_dataset.kernel
def parse_example_dataset_kernel(
    input_dataset: Handle,
    num_parallel_calls: Array,
    dense_defaults: list[Array],
    *,
    sparse_keys: Sequence[bytes],
    dense_keys: Sequence[bytes],
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],  # noqa: N803 - the attribute's name
    dense_shapes: Sequence[Shape],
    ragged_keys: Sequence[bytes],
    ragged_value_types: Sequence[DType],
    ragged_split_types: Sequence[DType],
) -> Dataset:
    order = sorted([*sparse_keys, *dense_keys, *ragged_keys])
    sparse, dense, ragged = (string_array(items, (len(items),)) for items in (sparse_keys, dense_keys, ragged_keys))

    def parsed(serialized: Array) -> Element:
        found = parse_example_v2_kernel(
            serialized,
            string_array([], (0,)),
            sparse,
            dense,
            ragged,
            dense_defaults,
            Tdense=Tdense,
            sparse_types=sparse_types,
            ragged_value_types=ragged_value_types,
            ragged_split_types=ragged_split_types,
            dense_shapes=dense_shapes,
        )
        by_key: dict[bytes, Any] = dict(zip(dense_keys, found[3], strict=True))
        for at, key in enumerate(sparse_keys):
            by_key[key] = _serialized_rows(found[0][at], found[1][at], found[2][at])
        for key, values, splits in zip(ragged_keys, found[4], found[5], strict=True):
            by_key[key] = ragged_tensor_to_variant_kernel([splits], values, batched_input=False)
        return tuple(by_key[key] for key in order)

    return map_elements(dataset_of(input_dataset), RowFunction(parsed, (), None), preserves=True)


def _serialized_rows(indices: Array, values: Array, shape: Array) -> Array:
    """A sparse tensor as its three parts, as one element of a dataset has it."""
    return string_array([StoredTensor(part) for part in (indices, values, shape)], (3,))  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------------ Other sources

sparse_tensor_slice_dataset = op(
    "SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64) -> handle: variant :: "
    "DATASET[TENSOR[$Tvalues]]",
    "Tvalues: type",
    "stateful",
)
sparse_tensor_slice_dataset.shape(scalar)


@sparse_tensor_slice_dataset.kernel
def sparse_tensor_slice_dataset_kernel(indices: Array, values: Array, dense_shape: Array) -> Dataset:
    if np.ndim(indices) != 2 or np.ndim(values) != 1 or np.ndim(dense_shape) != 1 or not np.size(dense_shape):
        raise InvalidArgumentError("Input indices must be a matrix, values and shape vectors")
    order = np.asarray(indices)[:, 0]
    if np.any(order[1:] < order[:-1]):
        raise InvalidArgumentError(
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not "
            "currently supported."
        )
    rows = rows_of(np.asarray(indices), np.asarray(values), np.asarray(dense_shape))
    return dataset_of_rows([tuple(row) for row in rows])


generator_dataset = dataset_op(
    "GeneratorDataset(init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args)",
    "init_func: func",
    "next_func: func",
    "finalize_func: func",
    "Tinit_func_args: list(type) >= 0",
    "Tnext_func_args: list(type) >= 0",
    "Tfinalize_func_args: list(type) >= 0",
    *KINDS,
    METADATA,
    "stateful",
)


@generator_dataset.stateful_kernel
def generator_dataset_kernel(
    ctx: KernelContext,
    *captured: list[Array],
    init_func: FunctionRef,
    next_func: FunctionRef,
    finalize_func: FunctionRef,
) -> Dataset:
    begin, finish = _with_functions(ctx, (init_func, finalize_func), (captured[0], captured[2]))
    advance = owned_function(ctx, next_func)
    return generate_elements(begin, lambda *state: advance(*state, *captured[1]), finish)


# --------------------------------------------------------------------------------------------- Under their older names

experimental_unbatch_dataset = dataset_op("ExperimentalUnbatchDataset(input_dataset: variant)", *KINDS)
experimental_unbatch_dataset.kernel(unbatch_dataset_kernel)

experimental_scan_dataset = dataset_op(
    "ExperimentalScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments)",
    "f: func",
    "Tstate: list(type) >= 1",
    ARGUMENTS,
    *KINDS,
    "preserve_cardinality: bool = false",
)
experimental_scan_dataset.stateful_kernel(scan_dataset_kernel)

experimental_take_while_dataset = dataset_op(
    "ExperimentalTakeWhileDataset(input_dataset: variant, other_arguments: Targuments)",
    "predicate: func",
    ARGUMENTS,
    *KINDS,
)


@experimental_take_while_dataset.stateful_kernel
def experimental_take_while_dataset_kernel(
    ctx: KernelContext, input_dataset: Handle, other_arguments: list[Array], *, predicate: FunctionRef
) -> Dataset:
    return chosen_elements(ctx, input_dataset, other_arguments, predicate, True)


parallel_filter_dataset = dataset_op(
    "ParallelFilterDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64)",
    "predicate: func",
    "deterministic: string = 'default'",
    ARGUMENTS,
    *KINDS,
    METADATA,
)


@parallel_filter_dataset.stateful_kernel
def parallel_filter_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    num_parallel_calls: Array,
    *,
    predicate: FunctionRef,
) -> Dataset:
    return chosen_elements(ctx, input_dataset, other_arguments, predicate, False)
