"""`optimize_loss`: a training step with decay of the learning rate, noise, clipping and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.variables import assert_or_get_global_step
from tensorkeep.tf1.functions.arrays.shapes import ones_like, where
from tensorkeep.tf1.functions.control.assertions import assert_scalar
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.data.summaries import histogram, scalar
from tensorkeep.tf1.functions.numbers.clipping import clip_by_global_norm, global_norm
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, log, maximum, minimum, sqrt, square
from tensorkeep.tf1.functions.random.numbers import truncated_normal
from tensorkeep.tf1.training.optimizers.base import Optimizer
from tensorkeep.tf1.training.optimizers.moving_averages import assign_moving_average
from tensorkeep.tf1.training.optimizers.standard import (
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.initializers import Constant, Zeros
from tensorkeep.tf1.variables.listing import trainable_variables
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable

Gradients: TypeAlias = "list[tuple[Any, Any]]"
"""Gradients and their variables."""

OPTIMIZER_CLS_NAMES: Final[dict[str, Callable[..., Optimizer]]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES: Final = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]
_USUAL_SUMMARIES: Final = ("loss", "learning_rate", "global_gradient_norm")


def optimize_loss(
    loss: TensorLike,
    global_step: Step | None,
    learning_rate: Tensor | float | None,
    optimizer: str | type[Optimizer] | Optimizer | Callable[..., Optimizer],
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Callable[[Gradients], Gradients] | None = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Iterable[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """A tensor of the loss; running it also takes a step of training.

    Operations in the collection of updates run first, unless others are given. The learning rate is a variable of the
    scope "OptimizeLoss" if it is a number.
    """
    found = convert(loss)
    assert_scalar(found)
    step = assert_or_get_global_step(None, global_step)
    wanted = _checked_summaries(summaries)
    with variable_scope(name, "OptimizeLoss", [found, step]):
        updates = get_collection(current_graph(), GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
        if updates:
            found = with_dependencies(list(dict.fromkeys(updates)), found)
        rate = _rate(learning_rate)
        if rate is not None and learning_rate_decay_fn is not None:
            if step is None:
                raise InvalidArgumentError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, step)
            if "learning_rate" in wanted:
                scalar("learning_rate", rate)
        chosen = _optimizer(optimizer, rate)
        trained = trainable_variables() if variables is None else list(variables)
        gradients: Gradients = chosen.compute_gradients(
            found, trained, colocate_gradients_with_ops=colocate_gradients_with_ops
        )
        gradients = _changed_gradients(gradients, gradient_noise_scale, gradient_multipliers, wanted)
        gradients = _clipped_gradients(gradients, clip_gradients)
        _summarize(found, gradients, wanted, is_clipped=clip_gradients is not None)
        applied = chosen.apply_gradients(gradients, step if increment_global_step else None, name="train")
        return with_dependencies([applied], found)


def _checked_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    for item in summaries or ():
        if item not in OPTIMIZER_SUMMARIES:
            raise InvalidArgumentError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {item}."
            )
    return _USUAL_SUMMARIES if summaries is None else summaries


def _rate(learning_rate: Any) -> Any:
    """The learning rate as a tensor or a variable, if there is one."""
    if learning_rate is None or (isinstance(learning_rate, Tensor) and learning_rate.get_shape().rank == 0):
        return learning_rate
    if not isinstance(learning_rate, float):
        raise InvalidArgumentError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise InvalidArgumentError(f"Invalid learning_rate {learning_rate}.")
    return get_variable("learning_rate", [], trainable=False, initializer=Constant(learning_rate))


def _optimizer(optimizer: Any, rate: Any) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, str | type) and rate is None:
        raise InvalidArgumentError(
            f"Learning rate is None, but should be specified if optimizer is string or class ({optimizer})."
        )
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise InvalidArgumentError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, Optimizer):
        made: Callable[..., Optimizer] = optimizer
        return made(learning_rate=rate)
    found = (optimizer() if rate is None else optimizer(rate)) if callable(optimizer) else optimizer
    if not isinstance(found, Optimizer):
        raise InvalidArgumentError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer or "
            f"function with one argument that returns one. Got {found}."
        )
    return found


def _changed_gradients(
    gradients: Gradients, noise: float | None, multipliers: Any, summaries: Sequence[str]
) -> Gradients:
    if noise is not None:
        gradients = [(None if each is None else _noisy(each, noise), item) for each, item in gradients]
    if multipliers is not None:
        gradients = [(_multiplied_gradient(each, item, multipliers), item) for each, item in gradients]
        if not gradients:
            raise InvalidArgumentError(
                "Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an improper "
                "value of gradient_multipliers."
            )
    if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
        scalar("global_norm/gradient_norm", global_norm([each for each, _ in gradients]))
    return gradients


def _noisy(gradient: Any, scale: float) -> Any:
    shape = gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.get_shape()
    return gradient + truncated_normal(shape) * scale


def _multiplied_gradient(gradient: Any, item: Any, multipliers: Mapping[Any, Any]) -> Any:
    by_variable = {id(key): value for key, value in multipliers.items()}
    factor = by_variable.get(
        id(item), {key: value for key, value in multipliers.items() if isinstance(key, str)}.get(item.name)
    )
    if gradient is None or factor is None:
        return gradient
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * cast(factor, gradient.dtype)


def _clipped_gradients(gradients: Gradients, clip: Any) -> Gradients:
    if clip is None:
        return gradients
    if isinstance(clip, float):
        clipped, _ = clip_by_global_norm([each for each, _ in gradients], clip)
        return [(each, item) for each, (_, item) in zip(clipped, gradients, strict=True)]
    if not callable(clip):
        raise InvalidArgumentError(f"Unknown type {type(clip)} for clip_gradients")
    found: Gradients = clip(gradients)
    return found


def _summarize(loss: Tensor, gradients: Gradients, wanted: Sequence[str], is_clipped: bool) -> None:
    if "loss" in wanted:
        scalar("loss", loss)
    for gradient, item in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is not None:
            name = item.name.replace(":", "_")
            if "gradients" in wanted:
                histogram(f"gradients/{name}", values)
            if "gradient_norm" in wanted:
                scalar(f"gradient_norm/{name}", global_norm([values]))
    if is_clipped and ("global_gradient_norm" in wanted or "gradient_norm" in wanted):
        scalar("global_norm/clipped_gradient_norm", global_norm([each for each, _ in gradients]))


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: TensorLike = 0.95,
    static_max_norm: float | None = None,
    global_step: Step | None = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Gradients], Gradients]:
    """A function that scales gradients down if they are longer than those of past steps were.

    It follows the mean and the deviation of the logarithm of their length; those which are `std_factor` deviations
    above the mean become as long as the mean.
    """

    def clipped(grads_and_vars: Gradients) -> Gradients:
        norm = global_norm([each for each, _ in grads_and_vars])
        most, mean = _adaptive_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            scalar("global_norm/adaptive_max_gradient_norm", most)
        factor = where(norm < most, ones_like(norm), exp(mean) / norm)
        if static_max_norm is not None:
            factor = minimum(static_max_norm / norm, factor)
        return [(None if each is None else _scaled_gradient(each, factor), item) for each, item in grads_and_vars]

    return clipped


def _scaled_gradient(gradient: Any, factor: Tensor) -> Any:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _adaptive_norm(norm: Any, factor: float, decay: Any, step: Any, epsilon: float, name: Any) -> tuple[Any, Any]:
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        length = log(norm + epsilon)
        if step is not None:  # quicker at the beginning
            steps = cast(step, FLOAT32)
            decay = minimum(decay, steps / (steps + 1.0))

        def averaged(name: str, value: Any) -> Any:
            kept = get_variable(name, shape=value.get_shape(), dtype=value.dtype, initializer=Zeros(), trainable=False)
            assert isinstance(kept, Variable)
            return assign_moving_average(kept, value, decay, zero_debias=False)

        mean = averaged("mean", length)
        variance = averaged("sq_mean", square(length)) - square(mean)
        return exp(mean + factor * sqrt(maximum(epsilon, variance))), mean
