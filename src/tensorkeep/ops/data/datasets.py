"""Datasets inside graphs: sources, functions of elements, batches, parts.

A dataset is the value of a variant tensor: something that can be gone through any number of times, an element after the
other, each a tuple of tensors (`passes`). Nothing is computed before somebody wants the element, but for what is to be
done ahead of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.control.functional import truth
from tensorkeep.ops.data._dataset_ops import (
    ARGUMENTS,
    KINDS,
    METADATA,
    bound_function,
    dataset_op,
    inner_dataset,
    owned_function,
    row_function,
    told_shapes,
)
from tensorkeep.ops.data.passes.background import ahead
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of, scalar_count
from tensorkeep.ops.data.passes.batching import batch_elements, padding, sliced_rows, unbatch_elements
from tensorkeep.ops.data.passes.joining import (
    concatenate_datasets,
    flatten_datasets,
    repeat_elements,
    skip_elements,
    take_elements,
    zip_datasets,
)
from tensorkeep.ops.data.passes.mapping import filter_elements, map_elements, scan_elements
from tensorkeep.ops.data.passes.rows import Element
from tensorkeep.ops.data.passes.sources import dataset_of_rows, range_of
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.proto.wire import fields
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.keeping import Caller, called_by

# ------------------------------------------------------------------------------------------------------------- Sources

tensor_dataset = dataset_op(
    "TensorDataset(components: Toutput_types)",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    METADATA,
    "stateful",
    types="Toutput_types",
)


@tensor_dataset.kernel
def tensor_dataset_kernel(components: list[Array]) -> Dataset:
    return dataset_of_rows([tuple(components)])


tensor_slice_dataset = dataset_op(
    "TensorSliceDataset(components: Toutput_types)",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    "is_files: bool = false",
    METADATA,
    "replicate_on_split: bool = false",
    "stateful",
    types="Toutput_types",
)


@tensor_slice_dataset.kernel
def tensor_slice_dataset_kernel(components: list[Array]) -> Dataset:
    return dataset_of_rows(sliced_rows(components))


range_dataset = dataset_op(
    "RangeDataset(start: int64, stop: int64, step: int64)",
    *KINDS,
    METADATA,
    "replicate_on_split: bool = false",
    "stateful",
)


@range_dataset.kernel
def range_dataset_kernel(start: Array, stop: Array, step: Array, *, output_types: Sequence[DType]) -> Dataset:
    numbers = [scalar_count(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step"))]
    if not numbers[2]:
        raise InvalidArgumentError("step must be a non-zero integer.")
    (dtype,) = output_types
    return range_of(range(*numbers), dtype.array_dtype)


# ----------------------------------------------------------------------------------------------------------- Functions


def map_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    *,
    f: FunctionRef,
    preserve_cardinality: bool,
) -> Dataset:
    return map_elements(
        dataset_of(input_dataset), row_function(ctx, f, other_arguments), preserves=preserve_cardinality
    )


def parallel_map_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    num_parallel_calls: Array,
    *,
    f: FunctionRef,
    preserve_cardinality: bool,
) -> Dataset:
    parallel = checked_parallelism(num_parallel_calls)
    function = row_function(ctx, f, other_arguments)
    return map_elements(dataset_of(input_dataset), function, preserves=preserve_cardinality, parallel=parallel)


def checked_parallelism(num_parallel_calls: Array) -> int:
    """How many calls are made at a time: a number, or -1 for as many as are good."""
    parallel = scalar_count(num_parallel_calls, "num_parallel_calls")
    if parallel < 1 and parallel != -1:
        raise InvalidArgumentError("num_parallel_calls must be greater than zero.")
    return parallel


map_dataset = dataset_op(
    "MapDataset(input_dataset: variant, other_arguments: Targuments)",
    "f: func",
    ARGUMENTS,
    *KINDS,
    "use_inter_op_parallelism: bool = true",
    "preserve_cardinality: bool = false",
    "force_synchronous: bool = false",
    METADATA,
)
map_dataset.stateful_kernel(map_dataset_kernel)

parallel_map_dataset = dataset_op(
    "ParallelMapDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32)",
    "f: func",
    ARGUMENTS,
    *KINDS,
    "use_inter_op_parallelism: bool = true",
    "sloppy: bool = false",
    "preserve_cardinality: bool = false",
    METADATA,
)
parallel_map_dataset.stateful_kernel(parallel_map_dataset_kernel)

parallel_map_dataset_v2 = dataset_op(
    "ParallelMapDatasetV2(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64)",
    "f: func",
    ARGUMENTS,
    *KINDS,
    "use_inter_op_parallelism: bool = true",
    "deterministic: string = 'default'",
    "preserve_cardinality: bool = false",
    "use_unbounded_threadpool: bool = false",
    METADATA,
)
parallel_map_dataset_v2.stateful_kernel(parallel_map_dataset_kernel)

flat_map_dataset = dataset_op(
    "FlatMapDataset(input_dataset: variant, other_arguments: Targuments)", "f: func", ARGUMENTS, *KINDS, METADATA
)


@flat_map_dataset.stateful_kernel
def flat_map_dataset_kernel(
    ctx: KernelContext, input_dataset: Handle, other_arguments: list[Array], *, f: FunctionRef
) -> Dataset:
    return flatten_datasets(dataset_of(input_dataset), inner_dataset(ctx, f, other_arguments))


def _choosing(name: str, stops: bool) -> OpSpec:
    """An op that gives those elements of a dataset that a predicate chooses."""
    made = dataset_op(
        f"{name}(input_dataset: variant, other_arguments: Targuments)", "predicate: func", ARGUMENTS, *KINDS, METADATA
    )

    @made.stateful_kernel
    def kernel(
        ctx: KernelContext, input_dataset: Any, other_arguments: list[Array], *, predicate: FunctionRef
    ) -> Dataset:
        return chosen_elements(ctx, input_dataset, other_arguments, predicate, stops)

    return made


def chosen_elements(
    ctx: KernelContext, input_dataset: object, other_arguments: list[Array], predicate: FunctionRef, stops: bool
) -> Dataset:
    """The elements of which a predicate is true; with `stops`, those before the first of which it is not."""
    function = bound_function(ctx, predicate, other_arguments)

    def holds(element: Element) -> bool:
        return truth(function(*element)[0])

    return filter_elements(dataset_of(input_dataset), holds, stops=stops)


filter_dataset = _choosing("FilterDataset", False)
take_while_dataset = _choosing("TakeWhileDataset", True)

scan_dataset = dataset_op(
    "ScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments)",
    "f: func",
    "Tstate: list(type) >= 1",
    ARGUMENTS,
    *KINDS,
    "preserve_cardinality: bool = false",
    "use_default_device: bool = true",
    METADATA,
)


@scan_dataset.stateful_kernel
def scan_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    initial_state: list[Array],
    other_arguments: list[Array],
    *,
    f: FunctionRef,
    preserve_cardinality: bool,
) -> Dataset:
    function = owned_function(ctx, f)

    def step(*values: Any) -> Sequence[Any]:
        try:
            return function(*values, *other_arguments)
        except OutOfRangeError as error:
            if not preserve_cardinality:
                raise
            raise InvalidArgumentError(f"Function invocation produced OutOfRangeError: {error.message}") from error

    return scan_elements(dataset_of(input_dataset), initial_state, step, preserve_cardinality)


reduce_dataset = op(
    "ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> "
    "components: output_types",
    "f: func",
    "Tstate: list(type) >= 1",
    ARGUMENTS,
    *KINDS,
    "use_inter_op_parallelism: bool = true",
    METADATA,
    "stateful",
)


@reduce_dataset.stateful_kernel
def reduce_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    initial_state: list[Array],
    other_arguments: list[Array],
    *,
    f: FunctionRef,
) -> list[Array]:
    function = owned_function(ctx, f)
    state: Sequence[Any] = initial_state
    with called_by(Caller()):
        for element in dataset_of(input_dataset).copied().elements():
            state = function(*state, *element, *other_arguments)
    return list(state)


# ------------------------------------------------------------------------------------------------------------- Batches


batch_dataset = dataset_op("BatchDataset(input_dataset: variant, batch_size: int64)", *KINDS, METADATA)


@batch_dataset.kernel
def batch_dataset_kernel(input_dataset: Handle, batch_size: Array) -> Dataset:
    return batch_elements(dataset_of(input_dataset), scalar_count(batch_size, "batch_size"), False)


batch_dataset_v2 = dataset_op(
    "BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool)",
    "parallel_copy: bool = false",
    *KINDS,
    METADATA,
)


@batch_dataset_v2.kernel
def batch_dataset_v2_kernel(input_dataset: Handle, batch_size: Array, drop_remainder: Array) -> Dataset:
    return batch_elements(dataset_of(input_dataset), scalar_count(batch_size, "batch_size"), bool(drop_remainder))


parallel_batch_dataset = dataset_op(
    "ParallelBatchDataset(input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool)",
    "parallel_copy: bool = false",
    *KINDS,
    "deterministic: string = 'default'",
    METADATA,
)


@parallel_batch_dataset.kernel
def parallel_batch_dataset_kernel(
    input_dataset: Handle, batch_size: Array, num_parallel_calls: Array, drop_remainder: Array
) -> Dataset:
    return batch_dataset_v2_kernel(input_dataset, batch_size, drop_remainder)


_PADDED = (
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    "N: int >= 1",
    METADATA,
)
padded_batch_dataset = dataset_op(
    "PaddedBatchDataset(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, "
    "padding_values: Toutput_types)",
    *_PADDED,
    types="Toutput_types",
)


@padded_batch_dataset.kernel
def padded_batch_dataset_kernel(
    input_dataset: Handle, batch_size: Array, padded_shapes: list[Array], padding_values: list[Array]
) -> Dataset:
    return padded_batch_dataset_v2_kernel(input_dataset, batch_size, padded_shapes, padding_values, np.array(False))


padded_batch_dataset_v2 = dataset_op(
    "PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, "
    "padding_values: Toutput_types, drop_remainder: bool)",
    "parallel_copy: bool = false",
    *_PADDED,
    types="Toutput_types",
)


@padded_batch_dataset_v2.kernel
def padded_batch_dataset_v2_kernel(
    input_dataset: Handle,
    batch_size: Array,
    padded_shapes: list[Array],
    padding_values: list[Array],
    drop_remainder: Array,
) -> Dataset:
    stack = padding([np.asarray(shape).tolist() for shape in padded_shapes], padding_values)
    return batch_elements(
        dataset_of(input_dataset), scalar_count(batch_size, "batch_size"), bool(drop_remainder), stack
    )


unbatch_dataset = dataset_op("UnbatchDataset(input_dataset: variant)", *KINDS, METADATA)


@unbatch_dataset.kernel
def unbatch_dataset_kernel(input_dataset: Handle) -> Dataset:
    return unbatch_elements(dataset_of(input_dataset))


# ---------------------------------------------------------------------------------------------------- Parts and joints

take_dataset = dataset_op("TakeDataset(input_dataset: variant, count: int64)", *KINDS, METADATA)


@take_dataset.kernel
def take_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    return take_elements(dataset_of(input_dataset), scalar_count(count, "count"))


skip_dataset = dataset_op("SkipDataset(input_dataset: variant, count: int64)", *KINDS, METADATA)


@skip_dataset.kernel
def skip_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    return skip_elements(dataset_of(input_dataset), scalar_count(count, "count"))


repeat_dataset = dataset_op("RepeatDataset(input_dataset: variant, count: int64)", *KINDS, METADATA)


@repeat_dataset.kernel
def repeat_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    return repeat_elements(dataset_of(input_dataset), scalar_count(count, "count"))


concatenate_dataset = dataset_op(
    "ConcatenateDataset(input_dataset: variant, another_dataset: variant)", *KINDS, METADATA
)


@concatenate_dataset.kernel
def concatenate_dataset_kernel(input_dataset: Handle, another_dataset: Handle) -> Dataset:
    return concatenate_datasets([dataset_of(input_dataset), dataset_of(another_dataset)])


zip_dataset = dataset_op("ZipDataset(input_datasets: N * variant)", *KINDS, "N: int >= 1", METADATA)


@zip_dataset.kernel
def zip_dataset_kernel(input_datasets: list[Any]) -> Dataset:
    return zip_datasets([dataset_of(item) for item in input_datasets])


def _same_dataset(input_dataset: Any, *_: Any) -> Dataset:
    """The dataset itself: what is asked for changes how fast elements come, not which."""
    return dataset_of(input_dataset)


prefetch_dataset = dataset_op(
    "PrefetchDataset(input_dataset: variant, buffer_size: int64)",
    *KINDS,
    "slack_period: int = 0",
    "legacy_autotune: bool = true",
    "buffer_size_min: int = 0",
    METADATA,
)


@prefetch_dataset.kernel
def prefetch_dataset_kernel(input_dataset: Handle, buffer_size: Array) -> Dataset:
    size = scalar_count(buffer_size, "buffer_size")
    if size < -1:
        raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return ahead(dataset_of(input_dataset), size)


options_dataset = dataset_op("OptionsDataset(input_dataset: variant)", "serialized_options: string", *KINDS, METADATA)
_OPTIMIZATION, _BY_DEFAULT = 3, 1  # fields of TensorFlow's messages of options


@options_dataset.kernel
def options_dataset_kernel(input_dataset: Handle, *, serialized_options: bytes) -> Dataset:
    """Where no rewriting is asked for, TensorFlow makes no copy of the dataset for an iterator, and nor do we."""
    found = dataset_of(input_dataset)
    said = {number: value for number, _, value in fields(serialized_options, "options")}.get(_OPTIMIZATION, b"")
    assert not isinstance(said, int)
    rewritings = {number: value for number, _, value in fields(said, "options")}
    is_kept = rewritings.pop(_BY_DEFAULT, 1) == 0 and not any(rewritings.values())
    return replace(found, again=lambda: found) if is_kept else found


rewrite_dataset = dataset_op("RewriteDataset(input_dataset: variant, rewrite_name: string)", *KINDS)
rewrite_dataset.kernel(_same_dataset)


# ------------------------------------------------------------------------------------------------------------ Elements


reduce_dataset.shape(told_shapes)

dataset_to_single_element = op(
    "DatasetToSingleElement(dataset: variant) -> components: output_types", *KINDS, METADATA, "stateful"
)
dataset_to_single_element.shape(told_shapes)


@dataset_to_single_element.stateful_kernel
def dataset_to_single_element_kernel(ctx: KernelContext, dataset: Handle) -> list[Array]:
    with called_by(ctx.keep("caller", Caller)):
        found = list(islice(dataset_of(dataset).elements(), 2))
    if len(found) != 1:
        raise InvalidArgumentError("Dataset had more than one element." if found else "Dataset was empty.")
    return list(found[0])
