"""Datasets made of several: sampled at random, chosen, and resampled to another distribution of classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.datasets.dataset import Dataset, Weights
from tensorkeep.tf1.datasets.structures import common_specs, flat_kinds
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_min, reduce_sum
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.functions.type_specs import TensorSpec


def _interleave_datasets(selector: Dataset, datasets: Sequence[Dataset], stops: bool) -> Dataset:
    spec = reduce(common_specs, [dataset.element_spec for dataset in datasets])
    variants = [dataset._variant_tensor for dataset in datasets]
    variant = emit(
        "DirectedInterleaveDataset",
        selector._variant_tensor,
        variants,
        stop_on_empty_dataset=bool(stops),
        **flat_kinds(spec),
    )
    return Dataset(variant, spec)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Weights = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
    rerandomize_each_iteration: bool | None = None,
) -> Dataset:
    """Elements of several datasets, each drawn from one of them at random, as often as weights say."""
    if not datasets:
        raise InvalidArgumentError("Invalid `datasets`. `datasets` should not be empty.")
    if len(datasets) == 1:
        return datasets[0]
    if isinstance(weights, Dataset):
        logits = weights._mapped(lambda *p: _logits(p[0] if len(p) == 1 else list(p)))
        return _interleave_datasets(
            _selected_by(logits, seed, rerandomize_each_iteration), datasets, stop_on_empty_dataset
        )
    rows = [[1.0] * len(datasets)] if weights is None else _constant_logits(weights, len(datasets))

    def select_dataset_constant_logits(seeds: Tensor) -> Tensor:
        return _draw_index(convert(rows), seeds)

    seeds = Dataset.random(seed, rerandomize_each_iteration).batch(2)
    selector = seeds._mapped(select_dataset_constant_logits, is_parallel=False)
    return _interleave_datasets(selector, datasets, stop_on_empty_dataset)


def _constant_logits(weights: TensorLike, count: int) -> Tensor:
    """The logits of chances that are always the same, as a row."""
    chances: Any = weights
    if not isinstance(weights, Tensor):
        numbers = np.asarray(weights)
        if numbers.shape != (count,):
            raise InvalidArgumentError(f"Invalid `weights`: expected {count} numbers, got {weights!r}.")
        if numbers.dtype not in (np.float32, np.float64):
            raise WrongTypeError(f"Invalid `weights`: type must be float32 or float64, got {numbers.dtype}.")
        chances = numbers.tolist()
    logits = emit("Log", convert(chances, name="weights"), name="logits")
    return emit("ExpandDims", logits, constant(0, name="ExpandDims/dim"))


def _draw_index(logits: Tensor, seeds: Tensor) -> Tensor:
    drawn = emit("StatelessMultinomial", logits, constant(1, INT32), seeds, output_dtype=INT64)
    return emit("Squeeze", drawn, squeeze_dims=(0, 1))


def _logits(chances: Any) -> Tensor:
    return emit("Log", convert([chances], name="x"), name="logits")


def _selected_by(logits: Dataset, seed: int | None, rerandomizes: bool | None) -> Dataset:
    """A dataset of numbers of datasets, drawn with chances that are themselves a dataset."""

    def select_dataset_varying_logits(chances: Tensor, seeds: Tensor) -> Tensor:
        return _draw_index(chances, seeds)

    both = Dataset.zip((logits, Dataset.random(seed, rerandomizes).batch(2)))
    return both._mapped(select_dataset_varying_logits, is_parallel=False)


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements of several datasets, in the order that a dataset of their numbers says."""
    if not datasets:
        raise InvalidArgumentError("Invalid `datasets`. `datasets` should not be empty.")
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or spec.dtype is not INT64 or spec.shape.ndims not in (0, None):
        raise WrongTypeError(f"`choice_dataset` must have elements of type int64 and shape [], got {spec!r}.")
    rewritten = choice_dataset._changed("RewriteDataset", b"replicate_on_split")
    return _interleave_datasets(rewritten, datasets, stop_on_empty_dataset)


# ---------------------------------------------------------------------------------------------------------- Resampling

_TINY = float(np.finfo(np.float32).tiny)


def rejection_resample(
    dataset: Dataset,
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Dataset:
    """Pairs of a class and an element, of which some are left out so that classes have the distribution wanted."""
    target = convert(target_dist, name="target_dist")
    classes = dataset.map(class_func)
    if initial_dist is not None:
        initial = convert(initial_dist, name="initial_dist")
        acceptance, unchanged = _chances(initial, target)
        given: Dataset = Dataset.from_tensors(initial).repeat()
        accept, keep = Dataset.from_tensors(acceptance).repeat(), Dataset.from_tensors(unchanged).repeat()
    else:
        given = _estimated_distributions(classes, target)
        both = given._mapped(lambda chances: _chances(chances, target))
        accept, keep = both._mapped(lambda first, _: first), both._mapped(lambda _, second: second)
    filtered = _filter_pairs(dataset, class_func, accept, given, seed)
    plain = dataset.map(lambda *args: (class_func(*args), args[0] if len(args) == 1 else args))
    weights = keep._mapped(lambda chance: (chance, 1.0 - chance))
    return sample_from_datasets([plain, filtered], weights, seed, stop_on_empty_dataset=True)


def _chances(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """With which chance elements of each class are let through, and with which all are."""
    ratios = target / (initial + _TINY)
    largest, smallest = reduce_max(ratios), reduce_min(ratios)
    return (ratios - smallest) / (largest - smallest), smallest


def _filter_pairs(
    dataset: Dataset, class_func: Callable[..., Any], accept: Dataset, given: Dataset, seed: int | None
) -> Dataset:
    """Pairs of a class and an element, of which those are left out that a draw against their chance says."""
    del given  # its only use is a warning when much is rejected

    def _gather_and_copy(chances: Tensor, element: Any) -> Any:
        number = class_func(*element) if isinstance(element, tuple) else class_func(element)
        found = emit("GatherV2", chances, convert(number), constant(0), batch_dims=0)
        return number, found, element

    def _reject(_: Any, chance: Tensor, __: Any) -> Tensor:
        with name_scope(""):
            drawn = random_uniform([], seed=seed, dtype=FLOAT32)
        return emit("Less", drawn, chance)

    both = Dataset.zip((accept, dataset))._mapped(_gather_and_copy)
    return both.filter(_reject)._mapped(lambda number, _, element: (number, element)).prefetch(None)


def _estimated_distributions(classes: Dataset, target: Tensor) -> Dataset:
    """The distribution of the classes seen so far, one for each element."""
    count = target.static_shape.dims[0] if target.static_shape.dims else None
    if count is None:
        raise InvalidArgumentError("the number of classes in `target_dist` must be known")

    def update(counts: Tensor, number: Tensor) -> Any:
        hot = emit("OneHot", number, constant(count), constant(1, INT64), constant(0, INT64), axis=-1)
        new = counts + hot
        total = emit("Cast", new, DstT=FLOAT32)
        return new, total / reduce_sum(total)

    return classes.scan(np.full(count, 16, np.int64), update)
