"""Moving averages of batches, and the corrections that batch renormalization makes of them."""

from __future__ import annotations

from typing import Any, Protocol

from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import colocate_with, control_dependencies, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity, ones, zeros_like
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, minimum, sqrt
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.assignments import assign, assign_sub
from tensorkeep.tf1.variables.variable import Variable


def assign_moving_average(variable: Variable, value: TensorLike, momentum: Tensor | float) -> Variable | Tensor:
    """Moves a variable towards a value, by `1 - momentum` of the way."""
    with name_scope("AssignMovingAvg") as scope, colocate_with(variable):
        decay = convert(1.0 - momentum, name="decay")
        if decay.dtype is not variable.dtype.base_dtype:
            decay = cast(decay, variable.dtype.base_dtype)
        return assign_sub(variable, (variable - cast(value, variable.dtype)) * decay, name=scope)


def ones_like(value: Tensor) -> Tensor:
    """Ones of the shape of another tensor: a constant if that is known."""
    with name_scope("ones_like") as scope:
        shape = value.get_shape()
        if shape.is_fully_defined():
            return ones(shape, value.dtype.base_dtype, scope)
        return emit("OnesLike", value, name=scope)


def assign_new_value(variable: Variable, value: TensorLike) -> Variable | Tensor:
    """Gives a variable another value."""
    with name_scope("AssignNewValue") as scope, colocate_with(variable):
        return assign(variable, value, name=scope)


class Renormalizing(Protocol):
    """What is needed of a layer that renormalizes batches: its averages, and how they move and correct."""

    epsilon: float
    renorm_mean: Any
    renorm_stddev: Any
    renorm_clipping: dict[str, Any]
    renorm_momentum: float


def renormalize_batch(
    layer: Renormalizing, mean: Tensor, variance: Tensor, training: Training
) -> tuple[Any, Any, Any, Any]:
    """The corrections r and d of a batch, and its mean and variance, which wait for the averages to have moved."""
    deviation = sqrt(variance + layer.epsilon)
    average = maximum(layer.renorm_stddev, sqrt(layer.epsilon))
    r = deviation / average
    d = (mean - layer.renorm_mean) / average
    with control_dependencies([r, d]):  # the corrections are those before the averages move
        mean, deviation = identity(mean), identity(deviation)
    r, d = _clip_corrections(r, d, layer.renorm_clipping)
    is_trained: Any = training
    r_used = smart_cond(is_trained, lambda: r, lambda: ones_like(r))
    d_used = smart_cond(is_trained, lambda: d, lambda: zeros_like(d))
    moved = [
        _moved_average(layer.renorm_mean, mean, layer.renorm_momentum, training),
        _moved_average(layer.renorm_stddev, deviation, layer.renorm_momentum, training),
    ]
    with control_dependencies(moved):
        return r_used, d_used, identity(mean), identity(variance)


def _clip_corrections(r: Any, d: Any, bounds: dict[str, Any]) -> tuple[Any, Any]:
    if bounds.get("rmin") is not None:
        r = maximum(r, bounds["rmin"])
    if bounds.get("rmax") is not None:
        r = minimum(r, bounds["rmax"])
    if bounds.get("dmax") is not None:
        d = minimum(maximum(d, -bounds["dmax"]), bounds["dmax"])
    return r, d


def _moved_average(variable: Any, value: Any, momentum: Any, training: Any) -> Any:
    value = identity(value)
    return smart_cond(training, lambda: assign_moving_average(variable, value, momentum), lambda: identity(variable))
