"""Functions that `Dataset.apply` takes, as `tf.data.experimental` and `tf.contrib.data` have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.datasets.arguments import int64_of, seed_tensors
from tensorkeep.tf1.datasets.batches import ragged_batch, sparse_batch
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.files import legacy_interleave
from tensorkeep.tf1.datasets.functions import argument_types, trace_function
from tensorkeep.tf1.datasets.mixing import rejection_resample as resampled
from tensorkeep.tf1.datasets.structures import Element, Shapes, Specs, flat, map_leaves, pack_leaves, with_rows
from tensorkeep.tf1.functions.parsing.examples import parse_example
from tensorkeep.tf1.functions.type_specs import TensorSpec

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: TensorLike) -> Transformation:
    """Fails in the end if a dataset has another number of elements."""
    return lambda dataset: dataset._changed(
        "AssertCardinalityDataset", int64_of(expected_cardinality, "expected_cardinality")
    )


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Shapes = None,
    padding_values: Element = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of about the same length."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements a dataset has, as far as that is known."""
    return dataset.cardinality()


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same dataset: there is one device."""
    return lambda dataset: dataset


def Counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = INT64) -> Dataset:  # noqa: N802 - TensorFlow's name
    """A dataset of numbers without end."""
    return Dataset.counter(start, step, dtype)


def dense_to_ragged_batch(
    batch_size: TensorLike, drop_remainder: TensorLike = False, row_splits_dtype: DTypeLike = INT64
) -> Transformation:
    """So many elements of different sizes as one ragged tensor."""
    return lambda dataset: ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: TensorLike, row_shape: ShapeLike) -> Transformation:
    """So many elements of different sizes as one sparse tensor."""
    return lambda dataset: sparse_batch(dataset, batch_size, row_shape)


def enumerate_dataset(start: TensorLike = 0) -> Transformation:
    """The elements with their numbers before them."""
    return lambda dataset: dataset.enumerate(start)


def from_variant(variant: Tensor, structure: Specs) -> Dataset:
    """The dataset that a variant tensor holds."""
    return Dataset(variant, structure)


def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor that holds a dataset."""
    return dataset._variant_tensor


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset."""
    return dataset.get_single_element()


@dataclass(frozen=True)
class Reducer:
    """Makes one value of many: a first state, what becomes of it with each element, and a last step."""

    init_func: Callable[[Any], Any]
    reduce_func: Callable[..., Any]
    finalize_func: Callable[..., Any]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element for each key: what a reducer makes of all elements with it."""

    def applied(dataset: Dataset) -> Dataset:
        name = "tf_data_experimental_group_by_reducer"
        key = trace_function(key_func, dataset.element_spec, name)
        if not isinstance(key.specs, TensorSpec) or key.specs.dtype is not INT64:
            raise InvalidArgumentError(f"`key_func` must return a single tf.int64 tensor. Got {key.specs!r}.")
        first = trace_function(reducer.init_func, TensorSpec([], INT64), name)
        step = trace_function(reducer.reduce_func, (first.specs, dataset.element_spec), name)
        last = trace_function(reducer.finalize_func, first.specs, name)
        parts = {"key": key, "init": first, "reduce": step, "finalize": last}
        functions = {f"{part}_func": made.reference for part, made in parts.items()}
        types = {f"T{part}_func_other_arguments": argument_types(made.captured) for part, made in parts.items()}
        captured = [list(made.captured) for made in parts.values()]
        return dataset._changed("GroupByReducerDataset", *captured, spec=last.specs, **functions, **types)

    return applied


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: TensorLike | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """What a function makes of elements with the same key, whenever there are so many of them."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """The elements whose making does not fail."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: int | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Transformation:
    """Batches of what a function makes of elements, several at a time."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise InvalidArgumentError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls`")

    def applied(dataset: Dataset) -> Dataset:
        made = trace_function(map_func, dataset.element_spec, "tf_data_experimental_map_and_batch")
        size = int64_of(batch_size, "batch_size")
        calls: Any = 1 if num_parallel_calls is None else num_parallel_calls
        if num_parallel_batches is not None:
            calls = emit("Mul", size, int64_of(num_parallel_batches, "num_parallel_batches"))
        known = batch_size if isinstance(batch_size, int) and drop_remainder is True else None
        return dataset._changed(
            "MapAndBatchDataset",
            list(made.captured),
            size,
            int64_of(calls, "num_parallel_calls"),
            convert(drop_remainder, BOOL, "drop_remainder"),
            spec=map_leaves(lambda spec: with_rows(spec, known), made.specs),
            f=made.reference,
            Targuments=argument_types(made.captured),
            preserve_cardinality=True,
        )

    return applied


def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: int | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Transformation:
    """The same as `map_and_batch`."""
    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: bool | None = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Transformation:
    """The datasets that a function makes of elements, several at a time, a block of each in turn, made ahead."""
    outputs: Any = buffer_output_elements
    if outputs is None and isinstance(block_length, int):
        outputs = 2 * block_length
    inputs: Any = prefetch_input_elements
    if inputs is None and isinstance(cycle_length, int):
        inputs = 2 * cycle_length
    return lambda dataset: legacy_interleave(dataset, map_func, cycle_length, block_length, sloppy, outputs, inputs)


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: TensorLike | None = 1, deterministic: bool | None = None
) -> Transformation:
    """Batches of Examples, parsed."""
    if features is None:
        raise InvalidArgumentError("`features` must not be None.")

    def applied(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.shape.is_compatible_with(TensorShape([None])):
            raise WrongTypeError(f"Input dataset should be a dataset of vectors of strings, got {spec!r}.")
        calls = None if num_parallel_calls == 1 else num_parallel_calls
        return dataset._mapped(lambda serialized: parse_example(serialized, features), calls, deterministic)

    return applied


def prefetch_to_device(device: str, buffer_size: TensorLike | None = None) -> Transformation:
    """The elements, some of which are made before they are asked for; there is one device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Transformation:
    """Elements with their classes, of which some are left out so that classes have another distribution."""
    return lambda dataset: resampled(dataset, class_func, target_dist, initial_dist, seed)


def scan(initial_state: Element, scan_func: Callable[..., Any]) -> Transformation:
    """What a function of a state and an element gives besides the next state."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: int | None = None
) -> Transformation:
    """The elements at random, several times over; those of one pass come before those of the next."""

    def applied(dataset: Dataset) -> Dataset:
        size = int64_of(buffer_size, "buffer_size")
        times = int64_of(-1 if count is None else count, "count")
        return dataset._changed("ShuffleAndRepeatDataset", size, *seed_tensors(seed), times)

    return applied


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first of which a predicate is not true."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """The rows of the elements along their first dimension."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """The elements that were not there before."""
    return lambda dataset: dataset.unique()


def assert_element_shape(expected_shapes: Shapes) -> Transformation:
    """The elements, whose shapes are said to be these, and looked at in every run."""

    def applied(dataset: Dataset) -> Dataset:
        shapes = [TensorShape(shape) for shape in _shapes(dataset.element_spec, expected_shapes)]

        def checked(*args: Any) -> Any:
            element = args if isinstance(dataset.element_spec, tuple) else args[0]
            leaves = [
                emit("EnsureShape", leaf, shape=shape.plain) for leaf, shape in zip(flat(element), shapes, strict=True)
            ]
            return pack_leaves(dataset.element_spec, leaves)

        return dataset.map(checked)

    return applied


def _shapes(specs: Any, shapes: Any) -> list[Any]:
    if isinstance(specs, tuple):
        return [leaf for part, item in zip(specs, shapes, strict=True) for leaf in _shapes(part, item)]
    if isinstance(specs, Mapping):
        return [leaf for key in sorted(specs) for leaf in _shapes(specs[key], shapes[key])]
    return [shapes]


def batch_and_drop_remainder(batch_size: TensorLike) -> Transformation:
    """Batches of one size; the last elements, if they are fewer, are dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: Shapes, padding_values: Element = None
) -> Transformation:
    """Batches of elements that are filled up to a shape; a last batch that is not full is left out."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sliding_window_batch(window_size: int, window_shift: int = 1, window_stride: int = 1) -> Transformation:
    """Batches that overlap: each begins `window_shift` after the one before."""

    def applied(dataset: Dataset) -> Dataset:
        windows = dataset.window(window_size, window_shift, window_stride, drop_remainder=True)

        def batched(*args: Any) -> Dataset:
            element = args if isinstance(windows.element_spec, tuple) else args[0]
            parts = [leaf.batch(window_size, drop_remainder=True) for leaf in flat(element)]
            return Dataset.zip(pack_leaves(dataset.element_spec, parts)) if len(parts) > 1 else parts[0]

        return windows.flat_map(batched)

    return applied


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """What a reducer makes of all elements of a dataset."""
    first = reducer.init_func(0)
    state = dataset.reduce(first, reducer.reduce_func)
    return reducer.finalize_func(state)
