"""Datasets in other orders: at random, several at a time, one chosen by another; and options that change no element."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.ops.data._dataset_ops import ARGUMENTS, KINDS, METADATA, dataset_op, inner_dataset
from tensorkeep.ops.data.datasets import checked_parallelism
from tensorkeep.ops.data.passes.background import ahead
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of, scalar_count
from tensorkeep.ops.data.passes.batching import rebatch_elements
from tensorkeep.ops.data.passes.joining import (
    choose_from_datasets,
    forgiving,
    interleave_datasets,
    of_known_count,
    shard_elements,
)
from tensorkeep.ops.data.passes.shuffling import SeedGenerator, random_numbers, shuffle_elements
from tensorkeep.ops.shared.kernel_types import Array, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import LOG, KernelContext

# ----------------------------------------------------------------------------------------------------------- At random

_RESHUFFLES = "reshuffle_each_iteration: bool = true"


def _buffer(input_dataset: Any, buffer_size: Array) -> tuple[Dataset, int]:
    """A dataset, and how many of its elements a buffer holds: -2 stands for all of them."""
    source, size = dataset_of(input_dataset), scalar_count(buffer_size, "buffer_size")
    if size == -2:
        return source, max(source.cardinality, 1) if source.cardinality >= 0 else 1 << 62
    return source, size


def _seeds(seed: Array, seed2: Array, reshuffles: bool) -> SeedGenerator:
    return SeedGenerator(scalar_count(seed, "seed"), scalar_count(seed2, "seed2"), reshuffles)


shuffle_dataset = dataset_op(
    "ShuffleDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64)",
    _RESHUFFLES,
    *KINDS,
    METADATA,
)


@shuffle_dataset.kernel
def shuffle_dataset_kernel(
    input_dataset: Handle, buffer_size: Array, seed: Array, seed2: Array, *, reshuffle_each_iteration: bool
) -> Dataset:
    return shuffle_elements(*_buffer(input_dataset, buffer_size), _seeds(seed, seed2, reshuffle_each_iteration))


shuffle_dataset_v2 = dataset_op(
    "ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource)",
    *KINDS,
    METADATA,
    "stateful",
)


@shuffle_dataset_v2.kernel
def shuffle_dataset_v2_kernel(input_dataset: Handle, buffer_size: Array, seed_generator: Handle) -> Dataset:
    if not isinstance(seed_generator, SeedGenerator):
        raise InvalidArgumentError(f"expected a generator of seeds, got a {type(seed_generator).__name__}")
    return shuffle_elements(*_buffer(input_dataset, buffer_size), seed_generator)


shuffle_dataset_v3 = dataset_op(
    "ShuffleDatasetV3(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource)",
    _RESHUFFLES,
    *KINDS,
    METADATA,
    "stateful",
)


@shuffle_dataset_v3.kernel
def shuffle_dataset_v3_kernel(
    input_dataset: Handle,
    buffer_size: Array,
    seed: Array,
    seed2: Array,
    seed_generator: Handle,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    own = seed_generator if isinstance(seed_generator, SeedGenerator) else _seeds(seed, seed2, reshuffle_each_iteration)
    return shuffle_elements(*_buffer(input_dataset, buffer_size), own)


shuffle_and_repeat_dataset = dataset_op(
    "ShuffleAndRepeatDataset(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64)",
    *KINDS,
    _RESHUFFLES,
    METADATA,
)


@shuffle_and_repeat_dataset.kernel
def shuffle_and_repeat_dataset_kernel(
    input_dataset: Handle,
    buffer_size: Array,
    seed: Array,
    seed2: Array,
    count: Array,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    seeds = _seeds(seed, seed2, reshuffle_each_iteration)
    return shuffle_elements(*_buffer(input_dataset, buffer_size), seeds, scalar_count(count, "count"))


shuffle_and_repeat_dataset_v2 = dataset_op(
    "ShuffleAndRepeatDatasetV2(input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64, "
    "seed_generator: resource)",
    _RESHUFFLES,
    *KINDS,
    METADATA,
    "stateful",
)


@shuffle_and_repeat_dataset_v2.kernel
def shuffle_and_repeat_dataset_v2_kernel(
    input_dataset: Handle,
    buffer_size: Array,
    seed: Array,
    seed2: Array,
    count: Array,
    seed_generator: Handle,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    own = seed_generator if isinstance(seed_generator, SeedGenerator) else _seeds(seed, seed2, reshuffle_each_iteration)
    return shuffle_elements(*_buffer(input_dataset, buffer_size), own, scalar_count(count, "count"))


dummy_seed_generator = op("DummySeedGenerator() -> handle: resource", "stateful")
dummy_seed_generator.shape(lambda: SCALAR)


@dummy_seed_generator.kernel
def dummy_seed_generator_kernel() -> None:
    """None, as a handle: the ops that take it are given seeds beside it, which count."""


anonymous_seed_generator = op(
    "AnonymousSeedGenerator(seed: int64, seed2: int64, reshuffle: bool) -> handle: resource, deleter: variant",
    "stateful",
)
anonymous_seed_generator.shape(lambda *_: (SCALAR, SCALAR))


@anonymous_seed_generator.kernel
def anonymous_seed_generator_kernel(seed: Array, seed2: Array, reshuffle: Array) -> tuple[SeedGenerator, None]:
    return _seeds(seed, seed2, bool(reshuffle)), None


anonymous_random_seed_generator = op(
    "AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> handle: resource, deleter: variant", "stateful"
)
anonymous_random_seed_generator.shape(lambda *_: (SCALAR, SCALAR))


@anonymous_random_seed_generator.kernel
def anonymous_random_seed_generator_kernel(seed: Array, seed2: Array) -> tuple[SeedGenerator, None]:
    return _seeds(seed, seed2, True), None


def _random(name: str, *more: str) -> OpSpec:
    return dataset_op(f"{name}(seed: int64, seed2: int64)", *KINDS, *more, "stateful")


random_dataset = _random("RandomDataset", METADATA)
experimental_random_dataset = _random("ExperimentalRandomDataset")


@experimental_random_dataset.kernel
@random_dataset.kernel
def random_dataset_kernel(seed: Array, seed2: Array) -> Dataset:
    made = random_numbers(_seeds(seed, seed2, False))
    return replace(made, again=lambda: random_dataset_kernel(seed, seed2))


random_dataset_v2 = dataset_op(
    "RandomDatasetV2(seed: int64, seed2: int64, seed_generator: resource)",
    "rerandomize_each_iteration: bool = false",
    *KINDS,
    METADATA,
    "stateful",
)


@random_dataset_v2.kernel
def random_dataset_v2_kernel(
    seed: Array, seed2: Array, seed_generator: Handle, *, rerandomize_each_iteration: bool
) -> Dataset:
    if isinstance(seed_generator, SeedGenerator):
        return random_numbers(seed_generator)
    made = random_numbers(_seeds(seed, seed2, rerandomize_each_iteration))
    again = partial(
        random_dataset_v2_kernel, seed, seed2, seed_generator, rerandomize_each_iteration=rerandomize_each_iteration
    )
    return replace(made, again=again)


# ---------------------------------------------------------------------------------------------------- Several at a time

interleave_dataset = dataset_op(
    "InterleaveDataset(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64)",
    "f: func",
    ARGUMENTS,
    *KINDS,
    METADATA,
)


@interleave_dataset.stateful_kernel
def interleave_dataset_kernel(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    cycle_length: Array,
    block_length: Array,
    *,
    f: FunctionRef,
) -> Dataset:
    cycle, block = scalar_count(cycle_length, "cycle_length"), scalar_count(block_length, "block_length")
    cycle = thread_limit() if cycle == -1 else cycle
    return interleave_datasets(dataset_of(input_dataset), inner_dataset(ctx, f, other_arguments), cycle, block)


def _made_ahead(
    ctx: KernelContext,
    input_dataset: Handle,
    other_arguments: list[Array],
    cycle_length: Array,
    block_length: Array,
    f: FunctionRef,
) -> Dataset:
    """The elements come in the order of InterleaveDataset, whichever is allowed, and are made ahead of time."""
    made = interleave_dataset_kernel(ctx, input_dataset, other_arguments, cycle_length, block_length, f=f)
    return ahead(made, max(scalar_count(cycle_length, "cycle_length"), 1) * scalar_count(block_length, "block_length"))


_INTERLEAVING = "(input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64, "
_BUFFERS = "buffer_output_elements: int64, prefetch_input_elements: int64"
_DETERMINISTIC = "deterministic: string = 'default'"


def _parallel_interleave(name: str, inputs: str, *attrs: str) -> OpSpec:
    made = dataset_op(f"{name}{_INTERLEAVING}{inputs})", *attrs)
    says_calls = inputs.endswith("num_parallel_calls: int64")

    @made.stateful_kernel
    def parallel_interleave_dataset_kernel(ctx: KernelContext, *given: Any, f: FunctionRef) -> Dataset:
        if says_calls:
            checked_parallelism(given[-1])
        return _made_ahead(ctx, given[0], given[1], given[2], given[3], f)

    return made


parallel_interleave_dataset = _parallel_interleave(
    "ParallelInterleaveDataset", f"sloppy: bool, {_BUFFERS}", "f: func", ARGUMENTS, *KINDS, METADATA
)
experimental_parallel_interleave_dataset = _parallel_interleave(
    "ExperimentalParallelInterleaveDataset", f"sloppy: bool, {_BUFFERS}", "f: func", ARGUMENTS, *KINDS
)
legacy_parallel_interleave_dataset_v2 = _parallel_interleave(
    "LegacyParallelInterleaveDatasetV2", _BUFFERS, "f: func", _DETERMINISTIC, ARGUMENTS, *KINDS, METADATA
)
parallel_interleave_dataset_v2 = _parallel_interleave(
    "ParallelInterleaveDatasetV2",
    "num_parallel_calls: int64",
    "f: func",
    ARGUMENTS,
    *KINDS,
    "sloppy: bool = false",
    METADATA,
)
parallel_interleave_dataset_v3 = _parallel_interleave(
    "ParallelInterleaveDatasetV3",
    "num_parallel_calls: int64",
    "f: func",
    _DETERMINISTIC,
    ARGUMENTS,
    *KINDS,
    METADATA,
)
parallel_interleave_dataset_v4 = _parallel_interleave(
    "ParallelInterleaveDatasetV4",
    f"{_BUFFERS}, num_parallel_calls: int64",
    "f: func",
    _DETERMINISTIC,
    ARGUMENTS,
    *KINDS,
    METADATA,
)


def _directing(name: str, *more: str) -> OpSpec:
    return dataset_op(
        f"{name}(selector_input_dataset: variant, data_input_datasets: N * variant)", *KINDS, "N: int >= 1", *more
    )


directed_interleave_dataset = _directing("DirectedInterleaveDataset", "stop_on_empty_dataset: bool = false")
experimental_directed_interleave_dataset = _directing("ExperimentalDirectedInterleaveDataset")


@directed_interleave_dataset.kernel
def directed_interleave_dataset_kernel(
    selector_input_dataset: Handle, data_input_datasets: list[Any], *, stop_on_empty_dataset: bool
) -> Dataset:
    sources = [dataset_of(item) for item in data_input_datasets]
    return choose_from_datasets(dataset_of(selector_input_dataset), sources, stop_on_empty_dataset)


@experimental_directed_interleave_dataset.kernel
def experimental_directed_interleave_dataset_kernel(
    selector_input_dataset: Handle, data_input_datasets: list[Any]
) -> Dataset:
    return directed_interleave_dataset_kernel(selector_input_dataset, data_input_datasets, stop_on_empty_dataset=False)


shard_dataset = dataset_op(
    "ShardDataset(input_dataset: variant, num_shards: int64, index: int64)",
    "require_non_empty: bool = false",
    *KINDS,
    METADATA,
)


@shard_dataset.kernel
def shard_dataset_kernel(input_dataset: Handle, num_shards: Array, index: Array, *, require_non_empty: bool) -> Dataset:
    count, at = scalar_count(num_shards, "num_shards"), scalar_count(index, "index")
    return shard_elements(dataset_of(input_dataset), count, at, require_non_empty)


rebatch_dataset_v2 = dataset_op(
    "RebatchDatasetV2(input_dataset: variant, batch_sizes: int64, drop_remainder: bool)", *KINDS
)


@rebatch_dataset_v2.kernel
def rebatch_dataset_v2_kernel(input_dataset: Handle, batch_sizes: Array, drop_remainder: Array) -> Dataset:
    return rebatch_elements(
        dataset_of(input_dataset), np.asarray(batch_sizes).reshape(-1).tolist(), bool(drop_remainder)
    )


# ------------------------------------------------------------------------------------------------------- What may fail


def _tell(error: Exception) -> None:
    LOG.warning("Error raised with error message %s", error)


def _forgiving(name: str) -> OpSpec:
    made = dataset_op(f"{name}(input_dataset: variant)", *KINDS, "log_warning: bool = false")

    @made.kernel
    def ignore_errors_dataset_kernel(input_dataset: Handle, *, log_warning: bool) -> Dataset:
        return forgiving(dataset_of(input_dataset), _tell if log_warning else lambda _: None)

    return made


ignore_errors_dataset = _forgiving("IgnoreErrorsDataset")
experimental_ignore_errors_dataset = _forgiving("ExperimentalIgnoreErrorsDataset")

assert_cardinality_dataset = dataset_op("AssertCardinalityDataset(input_dataset: variant, cardinality: int64)", *KINDS)


@assert_cardinality_dataset.kernel
def assert_cardinality_dataset_kernel(input_dataset: Handle, cardinality: Array) -> Dataset:
    return of_known_count(dataset_of(input_dataset), scalar_count(cardinality, "cardinality"))


def _cardinality(name: str, *attrs: str) -> OpSpec:
    made = op(f"{name}(input_dataset: variant) -> cardinality: int64", *attrs)
    made.shape(lambda _: SCALAR)

    @made.kernel
    def dataset_cardinality_kernel(input_dataset: Handle) -> Array:
        return np.array(dataset_of(input_dataset).cardinality, np.int64)

    return made


dataset_cardinality = _cardinality("DatasetCardinality", "cardinality_options: string = ''")
experimental_dataset_cardinality = _cardinality("ExperimentalDatasetCardinality")


# ------------------------------------------------------------------------------------------------------------- Options


def _without_effect(inputs: str, *attrs: str) -> OpSpec:
    """An op that gives the dataset itself: it says how elements are made, and not which."""
    made = dataset_op(inputs, *attrs)
    made.kernel(lambda input_dataset, *_: dataset_of(input_dataset))
    return made


model_dataset = _without_effect(
    "ModelDataset(input_dataset: variant)",
    "algorithm: int = 0",
    "cpu_budget: int = 0",
    "ram_budget: int = 0",
    *KINDS,
)
optimize_dataset = _without_effect(
    "OptimizeDataset(input_dataset: variant, optimizations: string)", *KINDS, "optimization_configs: list(string) = []"
)
optimize_dataset_v2 = _without_effect(
    "OptimizeDatasetV2(input_dataset: variant, optimizations_enabled: string, optimizations_disabled: string, "
    "optimizations_default: string)",
    *KINDS,
    "optimization_configs: list(string) = []",
)
finalize_dataset = _without_effect("FinalizeDataset(input_dataset: variant)", "has_captured_ref: bool = false", *KINDS)
max_intra_op_parallelism_dataset = _without_effect(
    "MaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64)", *KINDS
)
experimental_max_intra_op_parallelism_dataset = _without_effect(
    "ExperimentalMaxIntraOpParallelismDataset(input_dataset: variant, max_intra_op_parallelism: int64)", *KINDS
)
private_thread_pool_dataset = _without_effect(
    "PrivateThreadPoolDataset(input_dataset: variant, num_threads: int64)", *KINDS
)
experimental_private_thread_pool_dataset = _without_effect(
    "ExperimentalPrivateThreadPoolDataset(input_dataset: variant, num_threads: int64)", *KINDS
)
non_serializable_dataset = _without_effect("NonSerializableDataset(input_dataset: variant)", *KINDS)
experimental_non_serializable_dataset = _without_effect(
    "ExperimentalNonSerializableDataset(input_dataset: variant)", *KINDS
)
