"""Datasets inside graphs: those that models make of their inputs, as `from_tensor_slices(...).map(...).batch(...)`.

A dataset is the value of a variant tensor: something that can be gone through any number of times, an element after the
other, each a tuple of tensors. Nothing is computed before somebody wants the element. What TensorFlow does in parallel
or ahead of time is done here when it is wanted, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat, takewhile
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.control.functional import truth
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.allocation import check_allocation
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import counted_items
from tensorkeep.shapes import Shape

Element: TypeAlias = tuple[Any, ...]

_KINDS: Final = ("output_types: list(type) >= 1", "output_shapes: list(shape) >= 1")
_ARGUMENTS: Final = "Targuments: list(type) >= 0"
_METADATA: Final = "metadata: string = ''"


@dataclass(frozen=True)
class Dataset:
    """A dataset: what makes its elements anew, from the first on."""

    elements: Callable[[], Iterator[Element]]


def _dataset(inputs: str, *attrs: str, types: str = "output_types") -> OpSpec:
    """An op that gives a dataset of elements of certain types."""
    made = op(f"{inputs} -> handle: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[${types}], ${types}]]", *attrs)
    made.shape(scalar)
    return made


def _of(value: Any) -> Dataset:
    if not isinstance(value, Dataset):
        raise InvalidArgumentError(f"expected a dataset, got a {type(value).__name__}")
    return value


def _count(value: Any, what: str) -> int:
    if np.ndim(value):
        raise InvalidArgumentError(f"{what} must be a scalar")
    return int(value)


# ------------------------------------------------------------------------------------------------------------- Sources

tensor_dataset = _dataset(
    "TensorDataset(components: Toutput_types)",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    _METADATA,
    "stateful",
    types="Toutput_types",
)


@tensor_dataset.kernel
def tensor_dataset_kernel(components: list[Array]) -> Dataset:
    return Dataset(lambda: iter((tuple(components),)))


tensor_slice_dataset = _dataset(
    "TensorSliceDataset(components: Toutput_types)",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    "is_files: bool = false",
    _METADATA,
    "replicate_on_split: bool = false",
    "stateful",
    types="Toutput_types",
)


@tensor_slice_dataset.kernel
def tensor_slice_dataset_kernel(components: list[Array]) -> Dataset:
    arrays = [np.asarray(component) for component in components]
    if not all(array.ndim for array in arrays):
        raise InvalidArgumentError("All components must be at least 1-dimensional")
    if len({len(array) for array in arrays}) > 1:
        raise InvalidArgumentError("All components must have the same size in the 0th dimension")
    return Dataset(lambda: (tuple(array[i, ...] for array in arrays) for i in range(len(arrays[0]))))


range_dataset = _dataset(
    "RangeDataset(start: int64, stop: int64, step: int64)",
    *_KINDS,
    _METADATA,
    "replicate_on_split: bool = false",
    "stateful",
)


@range_dataset.kernel
def range_dataset_kernel(start: Array, stop: Array, step: Array, *, output_types: Sequence[DType]) -> Dataset:
    numbers = [_count(value, name) for value, name in ((start, "start"), (stop, "stop"), (step, "step"))]
    if not numbers[2]:
        raise InvalidArgumentError("step must be a non-zero integer.")
    (dtype,) = output_types
    return Dataset(lambda: counted_items((dtype.array_dtype.type(i),) for i in range(*numbers)))


# ----------------------------------------------------------------------------------------------------------- Functions


def map_dataset_kernel(
    ctx: KernelContext, input_dataset: Handle, other_arguments: list[Array], *_: Any, f: FunctionRef
) -> Dataset:
    source, function = _of(input_dataset), ctx.function(f)
    return Dataset(lambda: (tuple(function(*element, *other_arguments)) for element in source.elements()))


map_dataset = _dataset(
    "MapDataset(input_dataset: variant, other_arguments: Targuments)",
    "f: func",
    _ARGUMENTS,
    *_KINDS,
    "use_inter_op_parallelism: bool = true",
    "preserve_cardinality: bool = false",
    "force_synchronous: bool = false",
    _METADATA,
)
map_dataset.stateful_kernel(map_dataset_kernel)

parallel_map_dataset = _dataset(
    "ParallelMapDataset(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32)",
    "f: func",
    _ARGUMENTS,
    *_KINDS,
    "use_inter_op_parallelism: bool = true",
    "sloppy: bool = false",
    "preserve_cardinality: bool = false",
    _METADATA,
)
parallel_map_dataset.stateful_kernel(map_dataset_kernel)

parallel_map_dataset_v2 = _dataset(
    "ParallelMapDatasetV2(input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64)",
    "f: func",
    _ARGUMENTS,
    *_KINDS,
    "use_inter_op_parallelism: bool = true",
    "deterministic: string = 'default'",
    "preserve_cardinality: bool = false",
    "use_unbounded_threadpool: bool = false",
    _METADATA,
)
parallel_map_dataset_v2.stateful_kernel(map_dataset_kernel)

flat_map_dataset = _dataset(
    "FlatMapDataset(input_dataset: variant, other_arguments: Targuments)", "f: func", _ARGUMENTS, *_KINDS, _METADATA
)


@flat_map_dataset.stateful_kernel
def flat_map_dataset_kernel(
    ctx: KernelContext, input_dataset: Handle, other_arguments: list[Array], *, f: FunctionRef
) -> Dataset:
    source, function = _of(input_dataset), ctx.function(f)

    def inner(element: Element) -> Iterator[Element]:
        return _of(function(*element, *other_arguments)[0]).elements()

    return Dataset(lambda: chain.from_iterable(map(inner, source.elements())))


def _choosing(name: str, choose: Callable[[Callable[[Element], bool], Iterator[Element]], Iterator[Element]]) -> OpSpec:
    """An op that gives those elements of a dataset that a predicate chooses."""
    made = _dataset(
        f"{name}(input_dataset: variant, other_arguments: Targuments)",
        "predicate: func",
        _ARGUMENTS,
        *_KINDS,
        _METADATA,
    )

    @made.stateful_kernel
    def kernel(
        ctx: KernelContext, input_dataset: Any, other_arguments: list[Array], *, predicate: FunctionRef
    ) -> Dataset:
        source, function = _of(input_dataset), ctx.function(predicate)

        def holds(element: Element) -> bool:
            return truth(function(*element, *other_arguments)[0])

        return Dataset(lambda: choose(holds, source.elements()))

    return made


filter_dataset = _choosing("FilterDataset", filter)
take_while_dataset = _choosing("TakeWhileDataset", takewhile)

scan_dataset = _dataset(
    "ScanDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments)",
    "f: func",
    "Tstate: list(type) >= 1",
    _ARGUMENTS,
    *_KINDS,
    "preserve_cardinality: bool = false",
    "use_default_device: bool = true",
    _METADATA,
)


@scan_dataset.stateful_kernel
def scan_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    initial_state: list[Array],
    other_arguments: list[Array],
    *,
    f: FunctionRef,
) -> Dataset:
    source, function = _of(input_dataset), ctx.function(f)

    def elements() -> Iterator[Element]:
        state: Sequence[Any] = initial_state
        for element in source.elements():
            results = function(*state, *element, *other_arguments)
            state = results[: len(initial_state)]
            yield tuple(results[len(initial_state) :])

    return Dataset(elements)


reduce_dataset = op(
    "ReduceDataset(input_dataset: variant, initial_state: Tstate, other_arguments: Targuments) -> "
    "components: output_types",
    "f: func",
    "Tstate: list(type) >= 1",
    _ARGUMENTS,
    *_KINDS,
    "use_inter_op_parallelism: bool = true",
    _METADATA,
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
    function = ctx.function(f)
    state: Sequence[Any] = initial_state
    for element in _of(input_dataset).elements():
        state = function(*state, *element, *other_arguments)
    return list(state)


# ------------------------------------------------------------------------------------------------------------- Batches


def _stacked(components: Sequence[Any], place: int) -> Any:
    arrays = [np.asarray(component) for component in components]
    for number, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {place}. First element had shape "
                f"{list(arrays[0].shape)} and element {number} had shape {list(array.shape)}."
            )
    return np.stack(arrays)


def _batched(source: Dataset, size: int, drops: bool, stack: Callable[[Sequence[Any], int], Any]) -> Dataset:
    if size < 1:
        raise InvalidArgumentError("Batch size must be greater than zero.")

    def elements() -> Iterator[Element]:
        pending = source.elements()
        while rows := list(islice(pending, size)):
            if drops and len(rows) < size:
                return
            yield tuple(stack(column, place) for place, column in enumerate(zip(*rows, strict=True)))

    return Dataset(elements)


batch_dataset = _dataset("BatchDataset(input_dataset: variant, batch_size: int64)", *_KINDS, _METADATA)


@batch_dataset.kernel
def batch_dataset_kernel(input_dataset: Handle, batch_size: Array) -> Dataset:
    return _batched(_of(input_dataset), _count(batch_size, "batch_size"), False, _stacked)


batch_dataset_v2 = _dataset(
    "BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool)",
    "parallel_copy: bool = false",
    *_KINDS,
    _METADATA,
)


@batch_dataset_v2.kernel
def batch_dataset_v2_kernel(input_dataset: Handle, batch_size: Array, drop_remainder: Array) -> Dataset:
    return _batched(_of(input_dataset), _count(batch_size, "batch_size"), bool(drop_remainder), _stacked)


parallel_batch_dataset = _dataset(
    "ParallelBatchDataset(input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool)",
    "parallel_copy: bool = false",
    *_KINDS,
    "deterministic: string = 'default'",
    _METADATA,
)


@parallel_batch_dataset.kernel
def parallel_batch_dataset_kernel(
    input_dataset: Handle, batch_size: Array, num_parallel_calls: Array, drop_remainder: Array
) -> Dataset:
    return batch_dataset_v2_kernel(input_dataset, batch_size, drop_remainder)


padded_batch_dataset_v2 = _dataset(
    "PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, "
    "padding_values: Toutput_types, drop_remainder: bool)",
    "parallel_copy: bool = false",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    "N: int >= 1",
    _METADATA,
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
    shapes = [np.asarray(shape).tolist() for shape in padded_shapes]

    def stack(components: Sequence[Any], place: int) -> Any:
        return _padded([np.asarray(item) for item in components], shapes[place], padding_values[place], place)

    return _batched(_of(input_dataset), _count(batch_size, "batch_size"), bool(drop_remainder), stack)


def _padded(arrays: Sequence[Any], told: Sequence[int], value: Any, place: int) -> Any:
    """Arrays of one rank in a batch, each filled up to what is told, or to the largest of them where that is -1."""
    if any(array.ndim != len(told) for array in arrays):
        raise InvalidArgumentError(
            "All elements in a batch must have the same rank as the padded shape for component"
            f"{place}: expected rank {len(told)} but got element with rank "
            f"{next(array.ndim for array in arrays if array.ndim != len(told))}"
        )
    largest = [max(sizes) for sizes in zip(*(array.shape for array in arrays), strict=True)]
    dims = [most if size < 0 else size for size, most in zip(told, largest, strict=True)]
    if any(most > size for size, most in zip(dims, largest, strict=True)):
        raise InvalidArgumentError(
            f"Attempted to pad to a smaller size than the input element: component {place} has shape {largest}, "
            f"padded to {dims}"
        )
    check_allocation((len(arrays), *dims), arrays[0].dtype)
    out = np.full((len(arrays), *dims), np.asarray(value)[()], arrays[0].dtype)
    for number, array in enumerate(arrays):
        corner: tuple[slice, ...] = tuple(map(slice, array.shape))
        out[number, ...][corner] = array
    return out


unbatch_dataset = _dataset("UnbatchDataset(input_dataset: variant)", *_KINDS, _METADATA)


@unbatch_dataset.kernel
def unbatch_dataset_kernel(input_dataset: Handle) -> Dataset:
    source = _of(input_dataset)

    def rows(element: Element) -> Iterator[Element]:
        return tensor_slice_dataset_kernel(list(element)).elements()

    return Dataset(lambda: chain.from_iterable(map(rows, source.elements())))


# ---------------------------------------------------------------------------------------------------- Parts and joints

take_dataset = _dataset("TakeDataset(input_dataset: variant, count: int64)", *_KINDS, _METADATA)


@take_dataset.kernel
def take_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    source, most = _of(input_dataset), _count(count, "count")
    return source if most < 0 else Dataset(lambda: islice(source.elements(), most))


skip_dataset = _dataset("SkipDataset(input_dataset: variant, count: int64)", *_KINDS, _METADATA)


@skip_dataset.kernel
def skip_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    source, first = _of(input_dataset), _count(count, "count")
    return Dataset(lambda: islice(source.elements(), first, None) if first >= 0 else iter(()))


repeat_dataset = _dataset("RepeatDataset(input_dataset: variant, count: int64)", *_KINDS, _METADATA)


@repeat_dataset.kernel
def repeat_dataset_kernel(input_dataset: Handle, count: Array) -> Dataset:
    source, times = _of(input_dataset), _count(count, "count")

    def elements() -> Iterator[Element]:
        for _ in repeat(None) if times < 0 else range(times):
            is_empty = True
            for element in source.elements():
                is_empty = False
                yield element
            if is_empty:
                return

    return Dataset(lambda: counted_items(elements()))


concatenate_dataset = _dataset(
    "ConcatenateDataset(input_dataset: variant, another_dataset: variant)", *_KINDS, _METADATA
)


@concatenate_dataset.kernel
def concatenate_dataset_kernel(input_dataset: Handle, another_dataset: Handle) -> Dataset:
    first, second = _of(input_dataset), _of(another_dataset)
    return Dataset(lambda: chain(first.elements(), second.elements()))


zip_dataset = _dataset("ZipDataset(input_datasets: N * variant)", *_KINDS, "N: int >= 1", _METADATA)


@zip_dataset.kernel
def zip_dataset_kernel(input_datasets: list[Any]) -> Dataset:
    sources = [_of(item) for item in input_datasets]

    def elements() -> Iterator[Element]:
        rows = zip(*(source.elements() for source in sources), strict=False)  # the shortest says when it ends
        return (tuple(chain.from_iterable(row)) for row in rows)

    return Dataset(elements)


def _same_dataset(input_dataset: Any, *_: Any) -> Dataset:
    """The dataset itself: what is asked for changes how fast elements come, not which."""
    return _of(input_dataset)


prefetch_dataset = _dataset(
    "PrefetchDataset(input_dataset: variant, buffer_size: int64)",
    *_KINDS,
    "slack_period: int = 0",
    "legacy_autotune: bool = true",
    "buffer_size_min: int = 0",
    _METADATA,
)
prefetch_dataset.kernel(_same_dataset)

options_dataset = _dataset("OptionsDataset(input_dataset: variant)", "serialized_options: string", *_KINDS, _METADATA)
options_dataset.kernel(_same_dataset)

rewrite_dataset = _dataset("RewriteDataset(input_dataset: variant, rewrite_name: string)", *_KINDS)
rewrite_dataset.kernel(_same_dataset)


# ------------------------------------------------------------------------------------------------------------ Elements


def _told(*_: Any, output_types: Sequence[DType], output_shapes: Sequence[Shape]) -> list[Shape]:
    if len(output_types) != len(output_shapes):
        raise InvalidArgumentError(
            f"`output_shapes` must be the same length as `output_types` ({len(output_shapes)} vs. {len(output_types)})"
        )
    return list(output_shapes)


reduce_dataset.shape(_told)

dataset_to_single_element = op(
    "DatasetToSingleElement(dataset: variant) -> components: output_types", *_KINDS, _METADATA, "stateful"
)
dataset_to_single_element.shape(_told)


@dataset_to_single_element.stateful_kernel
def dataset_to_single_element_kernel(ctx: KernelContext, dataset: Handle) -> list[Array]:
    found = list(islice(_of(dataset).elements(), 2))
    if len(found) != 1:
        raise InvalidArgumentError("Dataset had more than one element." if found else "Dataset was empty.")
    return list(found[0])
