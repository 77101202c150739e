"""What functions make of the elements of a dataset: one by one, as datasets, with a state, by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.tf1.datasets.arguments import AUTOTUNE, as_int64, deterministic_text, int64_of
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.functions import ElementFunction, argument_types, trace_function, traced_with_state
from tensorkeep.tf1.datasets.structures import (
    DatasetSpec,
    Element,
    element_of,
    flat_kinds,
    map_leaves,
    normalize_element,
    spec_of,
    tensors_of,
)
from tensorkeep.tf1.functions.type_specs import TensorSpec


def map_elements(
    dataset: Dataset,
    map_func: Callable[..., Any],
    num_parallel_calls: TensorLike | None = None,
    deterministic: bool | None = None,
    *,
    preserves: bool = True,
    is_parallel: bool = True,
) -> Dataset:
    """What a function makes of each element; with `num_parallel_calls`, of several at a time, in their order."""
    made = trace_function(map_func, dataset._element_spec, "Dataset_map")
    shared = {
        "f": made.reference,
        "Targuments": argument_types(made.captured),
        "use_inter_op_parallelism": is_parallel,
        "preserve_cardinality": preserves,
    }
    if num_parallel_calls is None:
        return dataset._changed("MapDataset", list(made.captured), spec=made.specs, **shared)
    calls = int64_of(num_parallel_calls, "num_parallel_calls")
    order = deterministic_text(deterministic)
    captured = list(made.captured)
    return dataset._changed("ParallelMapDatasetV2", captured, calls, spec=made.specs, deterministic=order, **shared)


def flat_map(dataset: Dataset, map_func: Callable[..., Any]) -> Dataset:
    """The datasets that a function makes of the elements, one after the other."""
    made = inner_datasets(dataset, map_func, "Dataset_flat_map")
    return dataset._changed(
        "FlatMapDataset",
        list(made.captured),
        spec=made.specs.element_spec,
        f=made.reference,
        Targuments=argument_types(made.captured),
    )


def interleave(
    dataset: Dataset,
    map_func: Callable[..., Any],
    cycle_length: TensorLike | None = None,
    block_length: TensorLike | None = None,
    num_parallel_calls: TensorLike | None = None,
    deterministic: bool | None = None,
) -> Dataset:
    """The datasets that a function makes of the elements, `cycle_length` at a time, a block of each in turn."""
    cycle, block = AUTOTUNE if cycle_length is None else cycle_length, 1 if block_length is None else block_length
    made = inner_datasets(dataset, map_func, "Dataset_interleave")
    numbers = [int64_of(cycle, "cycle_length"), int64_of(block, "block_length")]
    shared = {"f": made.reference, "Targuments": argument_types(made.captured)}
    spec, captured = made.specs.element_spec, list(made.captured)
    if num_parallel_calls is None:
        return dataset._changed("InterleaveDataset", captured, *numbers, spec=spec, **shared)
    buffers = [int64_of(AUTOTUNE, "buffer_output_elements"), int64_of(AUTOTUNE, "prefetch_input_elements")]
    return dataset._changed(
        "ParallelInterleaveDatasetV4",
        captured,
        *numbers,
        *buffers,
        int64_of(num_parallel_calls, "num_parallel_calls"),
        spec=spec,
        deterministic=deterministic_text(deterministic),
        **shared,
    )


def inner_datasets(dataset: Dataset, map_func: Callable[..., Any], name: str) -> ElementFunction:
    """A function that makes a dataset of each element, traced."""
    made = trace_function(map_func, dataset._element_spec, name)
    if not isinstance(made.specs, DatasetSpec):
        raise WrongTypeError(f"The `map_func` argument must return a `Dataset` object. Got {made.specs!r}.")
    return made


def choose_elements(dataset: Dataset, op: str, predicate: Callable[..., Any], name: str) -> Dataset:
    """The elements that an op chooses by a predicate: all of which it is true, or those before one that is not."""
    made = trace_function(predicate, dataset._element_spec, name)
    if (
        not isinstance(made.specs, TensorSpec)
        or made.specs.dtype is not BOOL
        or made.specs.shape.ndims not in (0, None)
    ):
        raise InvalidArgumentError(
            f"Invalid `predicate`: it must return a scalar boolean tensor, but its return type is {made.specs!r}."
        )
    types = argument_types(made.captured)
    return dataset._changed(op, list(made.captured), predicate=made.reference, Targuments=types)


def scan(dataset: Dataset, initial_state: Element, scan_func: Callable[..., Any]) -> Dataset:
    """What a function of a state and an element gives besides the next state, one element after the other."""
    state = normalize_element(initial_state)
    state_spec = map_leaves(spec_of, state)
    made, state_spec = traced_with_state(scan_func, state_spec, dataset._element_spec, "Dataset_scan", True)
    return dataset._changed(
        "ScanDataset",
        tensors_of(state),
        list(made.captured),
        spec=made.specs[1],
        f=made.reference,
        Tstate=flat_kinds(state_spec)["output_types"],
        Targuments=argument_types(made.captured),
        preserve_cardinality=True,
    )


def reduce(dataset: Dataset, initial_state: Element, reduce_func: Callable[..., Any]) -> Any:
    """What a function of a state and an element makes of all elements, beginning with a state."""
    with name_scope("initial_state"):
        state = normalize_element(initial_state)
    state_spec = map_leaves(spec_of, state)
    made, state_spec = traced_with_state(reduce_func, state_spec, dataset._element_spec, "reduce", False)
    found = emit_tensors(
        "ReduceDataset",
        dataset._variant_tensor,
        tensors_of(state),
        list(made.captured),
        f=made.reference,
        Tstate=flat_kinds(state_spec)["output_types"],
        Targuments=argument_types(made.captured),
        **flat_kinds(state_spec),
    )
    return element_of(state_spec, found)


def group_by_window(
    dataset: Dataset,
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: TensorLike | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Dataset:
    """What a function makes of elements with the same key, whenever there are so many of them."""
    if (window_size is None) == (window_size_func is None):
        raise InvalidArgumentError("Either the `window_size` argument or the `window_size_func` argument is given")

    def key_func_wrapper(*args: Any) -> Any:
        return as_int64(key_func(*args))

    def window_size_func_wrapper(key: Any) -> Any:
        return as_int64(window_size if window_size_func is None else window_size_func(key))

    number = TensorSpec([], INT64)
    key = trace_function(key_func_wrapper, dataset._element_spec, "Dataset_group_by_window")
    reduce = trace_function(reduce_func, (number, DatasetSpec(dataset._element_spec)), "Dataset_group_by_window")
    size = trace_function(window_size_func_wrapper, number, "Dataset_group_by_window")
    if not isinstance(reduce.specs, DatasetSpec):
        raise WrongTypeError(f"`reduce_func` must return a single `Dataset` object. Got {reduce.specs!r}.")
    return dataset._changed(
        "GroupByWindowDataset",
        list(key.captured),
        list(reduce.captured),
        list(size.captured),
        spec=reduce.specs.element_spec,
        key_func=key.reference,
        reduce_func=reduce.reference,
        window_size_func=size.reference,
        Tkey_func_other_arguments=argument_types(key.captured),
        Treduce_func_other_arguments=argument_types(reduce.captured),
        Twindow_size_func_other_arguments=argument_types(size.captured),
    )
