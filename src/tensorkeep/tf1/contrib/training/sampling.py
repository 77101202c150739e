"""Batches of some examples and not of others: kept at random, as a function says or to give classes their shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, identity, one_hot, squeeze, where, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.assertions import (
    assert_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
)
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.control.logging import Print
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal, is_nan, less, logical_or, not_equal, truediv
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_max, reduce_sum
from tensorkeep.tf1.functions.random.numbers import random_uniform
from tensorkeep.tf1.training.inputs.batching import Batch, batch, maybe_batch
from tensorkeep.tf1.training.inputs.input_producers import scope_for
from tensorkeep.tf1.variables.scopes import variable_scope
from tensorkeep.tf1.variables.variable import Variable

_SEEN_BEFORE: Final = 10
"""How many examples of each class are taken to have been seen before the first one, where shares are estimated."""
_TOLERANCE: Final = 1e-6
"""How far from one the shares of all classes may be together."""


def rejection_sample(
    tensors: Sequence[TensorLike],
    accept_prob_fn: Callable[[list[Tensor]], Tensor],
    batch_size: TensorLike,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Tensor]:
    """Batches of examples, each kept with the probability that `accept_prob_fn` gives for it."""
    with variable_scope(name, "rejection_sample", list(tensors)):
        example = [convert(tensor) for tensor in tensors]
        if enqueue_many:
            _check_rows(example, example[0])
            example = _one_by_one(example, prebatch_capacity, prebatch_threads)
        probability = accept_prob_fn(example)
        if runtime_checks:
            within = [assert_less_equal(0.0, probability), assert_less_equal(probability, 1.0)]
            probability = identity(with_dependencies(within, probability), name="prob_with_checks")
        kept = random_uniform([]) < probability
        return _listed_tensors(maybe_batch(example, kept, batch_size, num_threads=queue_threads))


def stratified_sample(
    tensors: Sequence[TensorLike],
    labels: TensorLike,
    target_probs: TensorLike,
    batch_size: TensorLike,
    init_probs: TensorLike | None = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Batches in which classes have the shares `target_probs`, and the labels of their examples.

    `init_probs` are the shares in the input; if they are not given, they are estimated from the labels that came.
    """
    with scope_for(name, "stratified_sample", [*tensors, labels]):
        data, label = [convert(tensor) for tensor in tensors], convert(labels)
        target = convert(target_probs, FLOAT32)
        if not enqueue_many:
            data, label = [expand_dims(tensor, 0) for tensor in data], expand_dims(label, 0)
        initial = _estimated_shares(label, _class_count(target)) if init_probs is None else convert(init_probs, FLOAT32)
        data, label, initial, target = _checked_inputs(data, label, initial, target)
        accepted = _acceptance(initial, target)
        *values, one_label = _one_by_one([*data, label], queue_capacity, threads_per_queue)
        kept = random_uniform([]) < gather(accepted, one_label)
        taken = _listed_tensors(maybe_batch([*values, one_label], kept, batch_size, num_threads=threads_per_queue))
        return taken[:-1], taken[-1]


def _one_by_one(tensors: list[Tensor], capacity: int, threads: int) -> list[Tensor]:
    """The rows of some tensors, one after the other."""
    taken = batch(tensors, batch_size=1, num_threads=threads, capacity=capacity, enqueue_many=True)
    return [squeeze(tensor, [0]) for tensor in _listed_tensors(taken)]


def _listed_tensors(taken: Batch) -> list[Tensor]:
    assert not isinstance(taken, dict | SparseTensor)  # dense tensors are given as a list
    given = [taken] if isinstance(taken, Tensor) else taken
    return [tensor for tensor in given if isinstance(tensor, Tensor)]


def _class_count(shares: Tensor) -> int:
    dims = shares.static_shape.dims
    if dims is None or len(dims) != 1 or dims[0] is None:
        raise InvalidArgumentError(
            f"shares of classes must be a vector whose length is known, got the shape {shares.static_shape}"
        )
    return dims[0]


def _estimated_shares(labels: Tensor, classes: int) -> Tensor:
    """The share of each class in the labels that came up to now; in the beginning all are alike."""
    seen = Variable([_SEEN_BEFORE] * classes, trainable=False, name="class_count", dtype=INT64)
    here = reduce_sum(one_hot(labels, classes, dtype=INT64), 0)
    counts = convert(seen.assign_add(here)) + 0  # a copy, which other threads do not change
    return cast(truediv(counts, reduce_sum(counts)), FLOAT32)


def _acceptance(initial: Tensor, target: Tensor) -> Tensor:
    """With what probability an example of each class is kept, for its share to become another one."""
    is_possible = reduce_all(logical_or(not_equal(initial, 0), equal(target, 0)))
    said = "All classes with zero initial probability must also have zero target probability: "
    initial = with_dependencies([Assert(is_possible, [said, initial, target])], initial)
    ratios = target / initial
    ratios = where(is_nan(ratios), zeros_like(ratios), ratios)
    accepted = ratios / reduce_max(ratios)
    rejected = reduce_sum((1 - accepted) * initial)
    warning = "Proportion of examples rejected by sampler is high."
    found: Tensor = cond(
        less(rejected, 0.5), lambda: accepted, lambda: Print(accepted, [accepted], message=warning, first_n=10)
    )
    return found


def _checked_inputs(
    tensors: list[Tensor], labels: Tensor, initial: Tensor, target: Tensor
) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
    """What is looked at when it is run: that shares are shares, that rows belong together, that labels are classes."""
    classes, wanted = _class_count(initial), _class_count(target)
    if classes != wanted:
        raise InvalidArgumentError(
            f"Probability parameters must have the same length: init_probs has {classes}, target_probs {wanted}"
        )
    if labels.static_shape.rank != 1:
        raise InvalidArgumentError(f"labels must be one for each example, got the shape {labels.static_shape}")
    _check_rows(tensors, labels)
    count = shape_of(labels)[0]
    some = assert_positive(count)
    rows = [with_dependencies([some, assert_equal(shape_of(item)[0], count)], item) for item in tensors]
    behind = with_dependencies([some], labels)
    are_classes = [
        assert_integer(behind),
        assert_non_negative(behind),
        assert_less(behind, cast(classes, behind.dtype)),
    ]
    return rows, with_dependencies(are_classes, behind), _checked_shares(initial), _checked_shares(target)


def _checked_shares(shares: Tensor) -> Tensor:
    total = reduce_sum(shares)
    checks = [
        assert_non_negative(shares),
        assert_less(total, 1.0 + _TOLERANCE),
        assert_less(1.0 - _TOLERANCE, total),
    ]
    return with_dependencies(checks, shares)


def _check_rows(tensors: Sequence[Tensor], like: Tensor) -> None:
    """Refuses tensors of which it is known that they hold other numbers of examples."""
    for tensor in tensors:
        shape = tensor.static_shape
        if shape.rank == 0:
            raise InvalidArgumentError(f'"{tensor.name}" is a scalar: its first dimension has to be that of examples')
        pair = [item.dims[0] if item.dims else None for item in (shape, like.static_shape)]
        if None not in pair and pair[0] != pair[1]:
            raise InvalidArgumentError(f'"{tensor.name}" has {pair[0]} examples, "{like.name}" has {pair[1]}')
