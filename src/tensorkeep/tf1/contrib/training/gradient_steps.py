"""A training step of a loss: gradients multiplied, clipped, summarized and applied."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection, get_collection_ref
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import no_op, with_dependencies
from tensorkeep.tf1.functions.control.logging import check_numerics as nn_check_numerics
from tensorkeep.tf1.functions.data.summaries import histogram, scalar
from tensorkeep.tf1.functions.numbers.clipping import clip_by_norm, global_norm
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer
from tensorkeep.tf1.variables.global_step import Step, get_or_create_global_step
from tensorkeep.tf1.variables.listing import trainable_variables

Gradients: TypeAlias = "list[tuple[Any, Any]]"
"""Gradients and their variables."""
USE_GLOBAL_STEP: Final = 0
_log = logging.getLogger(__name__)


def changed_values(gradient: Gradient | None, change: Callable[[Any], Any]) -> Gradient | None:
    """A gradient with its values changed; None if there is none."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
    return None if gradient is None else change(gradient)


def clip_gradient_norms(gradients_to_variables: Gradients, max_norm: TensorLike) -> Gradients:
    """The gradients, each cut to a length."""
    return [
        (changed_values(gradient, lambda values: clip_by_norm(values, max_norm)), item)
        for gradient, item in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: TensorLike) -> Callable[[Gradients], Gradients]:
    """A function that cuts gradients to a length."""
    return lambda gradients: clip_gradient_norms(gradients, max_norm)


def multiply_gradients(grads_and_vars: Gradients, gradient_multipliers: Mapping[Any, Any]) -> Gradients:
    """The gradients, of which some are multiplied: by the variable, or the name of its operation."""
    if not isinstance(grads_and_vars, list):
        raise InvalidArgumentError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise InvalidArgumentError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise InvalidArgumentError("`gradient_multipliers` must be a dict.")
    by_variable = {id(key): value for key, value in gradient_multipliers.items() if not isinstance(key, str)}
    by_name = {key: value for key, value in gradient_multipliers.items() if isinstance(key, str)}
    found: Gradients = []
    for gradient, item in grads_and_vars:
        factor = by_variable.get(id(item), by_name.get(item.op.name))
        if factor is None:
            found.append((gradient, item))
            continue
        if gradient is None:
            raise InvalidArgumentError(f"Requested multiple of `None` gradient of {item.op.name}.")
        number = factor if isinstance(factor, Tensor) else constant(factor, dtype=gradient.dtype)
        found.append((changed_values(gradient, partial(_times, number)), item))
    return found


def _times(factor: Tensor, values: Any) -> Any:
    return values * factor


def add_gradients_summaries(grads_and_vars: Gradients, joined_by: str = "_") -> list[Tensor]:
    """A histogram of each gradient, and its length."""
    summaries = []
    for gradient, item in grads_and_vars:
        if gradient is None:
            _log.info("Var %s has no gradient", item.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = f"{item.op.name}{joined_by}gradient"
        summaries += [histogram(name, values), scalar(f"{name}_norm", global_norm([values]))]
    return summaries


def create_train_op(
    total_loss: Tensor,
    optimizer: Optimizer,
    global_step: Step | int | None = USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Sequence[Any] | None = None,
    transform_grads_fn: Callable[[Gradients], Gradients] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Tensor:
    """A tensor of the loss; running it also takes a step of training.

    Operations in the collection of updates run before it, unless others are given.
    """
    step: Any = get_or_create_global_step() if global_step is USE_GLOBAL_STEP else global_step
    updates = _updates(update_ops)
    if updates:
        with control_dependencies(updates):
            barrier = no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    gradients: Gradients = optimizer.compute_gradients(
        total_loss,
        _trained_variables(variables_to_train),
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        gradients = transform_grads_fn(gradients)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(gradients)
    applied = optimizer.apply_gradients(gradients, global_step=step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = nn_check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = with_dependencies([applied], total_loss)
    collected = get_collection_ref(current_graph(), GraphKeys.TRAIN_OP)
    if not any(train_op is other for other in collected):
        collected.append(train_op)
    return train_op


def _updates(given: Iterable[Any] | None) -> list[Any]:
    collected = list(dict.fromkeys(get_collection(current_graph(), GraphKeys.UPDATE_OPS)))
    if given is None:
        return collected
    wanted = list(dict.fromkeys(given))
    if not all(any(item is other for other in wanted) for item in collected):
        _log.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    return wanted


def _trained_variables(given: Sequence[Any] | None) -> list[Any]:
    trainable = trainable_variables()
    if given is None:
        return trainable
    strangers = [item.op.name for item in given if not any(item is other for other in trainable)]
    if strangers:
        raise InvalidArgumentError(f"variables_to_train are not trainable: {', '.join(strangers)}")
    return list(given)
