"""Learning rates that change with the step.

Formulas and node names are those of `tf.train` in TensorFlow 1 (python/training/learning_rate_decay.py there).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import where_v2
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.cases import case
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    cast,
    ceil,
    cos,
    divide,
    equal,
    exp,
    floor,
    log,
    minimum,
    multiply,
    negative,
    pow,
    sqrt,
)
from tensorkeep.tf1.functions.random.numbers import random_normal


def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps); with `staircase`, in whole steps."""
    with name_scope(name or "ExponentialDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        steps, factor = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        progress = cast(global_step, rate.dtype) / steps
        if staircase:
            progress = floor(progress)
        return multiply(rate, pow(factor, progress), name=scope)


def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)"""
    return exponential_decay(learning_rate, global_step, decay_steps, exp(negative(decay_rate)), staircase, name)


def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)"""
    with name_scope(name or "InverseTimeDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        steps, factor = cast(decay_steps, rate.dtype), cast(decay_rate, rate.dtype)
        progress = cast(global_step, rate.dtype) / steps
        if staircase:
            progress = floor(progress)
        one = cast(constant(1), rate.dtype)
        return divide(rate, add(one, multiply(factor, progress)), name=scope)


def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From one rate to another along a power of the part of steps that is left; with `cycle`, again and again."""
    with name_scope(name or "PolynomialDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        end, exponent = cast(end_learning_rate, rate.dtype), cast(power, rate.dtype)
        step, steps = cast(global_step, rate.dtype), cast(decay_steps, rate.dtype)
        if cycle:
            rounds = where_v2(equal(step, 0), 1.0, ceil(step / decay_steps))
            steps = multiply(steps, rounds)
        else:
            step = minimum(step, steps)
        progress = divide(step, steps)
        return add(multiply(rate - end, pow(1 - progress, exponent)), end, name=scope)


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[TensorLike], values: Sequence[TensorLike], name: str | None = None
) -> Tensor:
    """`values[0]` up to the first boundary, then `values[1]`, and so on."""
    limits = [convert(item) for item in boundaries]
    levels = [convert(item) for item in values]
    step = convert(x)
    for i, limit in enumerate(limits):
        if limit.dtype.base_dtype is not step.dtype.base_dtype:
            if limit.dtype.base_dtype is not INT32 or step.dtype.base_dtype is not INT64:
                raise InvalidArgumentError(
                    f"Boundaries ({limit.dtype.base_dtype}) must have the same dtype as x ({step.dtype.base_dtype})."
                )
            limits[i] = cast(limit, step.dtype.base_dtype)
    for level in levels[1:]:
        if level.dtype.base_dtype is not levels[0].dtype.base_dtype:
            raise InvalidArgumentError(
                "Values must have elements all with the same dtype "
                f"({levels[0].dtype.base_dtype} vs {level.dtype.base_dtype})."
            )
    if len(limits) != len(levels) - 1:
        raise InvalidArgumentError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name or "PiecewiseConstant"):
        pairs: list[tuple[Tensor, Callable[[], Tensor]]] = [
            (step <= limits[0], lambda: levels[0]),
            (step > limits[-1], lambda: levels[-1]),
        ]
        for low, high, level in zip(limits[:-1], limits[1:], levels[1:-1], strict=True):
            pairs.append(((step > low) & (step <= high), partial(_same, level)))
        chosen: Tensor = case(pairs, lambda: levels[0], exclusive=True)
        return chosen


def _same(level: Tensor) -> Tensor:
    return level


def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: float | Tensor = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a wave of a cosine, from learning_rate down to alpha * learning_rate."""
    with name_scope(name or "CosineDecay"):
        rate = convert(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        step = minimum(cast(global_step, rate.dtype), steps)
        wave = _half_wave(step / steps)
        return multiply(rate, (1 - alpha) * wave + alpha)


def _half_wave(progress: Tensor) -> Tensor:
    return 0.5 * (1.0 + cos(constant(math.pi) * progress))


def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: TensorLike,
    t_mul: TensorLike = 2.0,
    m_mul: TensorLike = 1.0,
    alpha: TensorLike = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay that starts over, each time `t_mul` times longer and `m_mul` times as high."""
    with name_scope(name or "SGDRDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        first = cast(first_decay_steps, rate.dtype)
        floor_rate, longer, higher = cast(alpha, rate.dtype), cast(t_mul, rate.dtype), cast(m_mul, rate.dtype)
        progress = cast(global_step, rate.dtype) / first

        def equal_rounds() -> tuple[Tensor, Tensor]:
            restarts = floor(progress)
            return restarts, progress - restarts

        def growing_rounds() -> tuple[Tensor, Tensor]:
            restarts = floor(log(1.0 - progress * (1.0 - longer)) / log(longer))
            before = (1.0 - longer**restarts) / (1.0 - longer)
            return restarts, (progress - before) / longer**restarts

        restarts, within = cond(equal(longer, 1.0), equal_rounds, growing_rounds)
        height = higher**restarts
        wave = 0.5 * height * (1.0 + cos(constant(math.pi) * within))
        return multiply(rate, (1 - floor_rate) * wave + floor_rate, name=scope)


def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """A line times a cosine."""
    with name_scope(name or "LinearCosineDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        steps, periods = cast(decay_steps, rate.dtype), cast(num_periods, rate.dtype)
        raised, rest = cast(alpha, rate.dtype), cast(beta, rate.dtype)
        step = minimum(cast(global_step, rate.dtype), steps)
        line = (steps - step) / steps
        progress = step / steps
        wave = _half_wave(2.0 * periods * progress)
        return multiply(rate, (raised + line) * wave + rest, name=scope)


def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: TensorLike = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """A noisy line times a cosine; the noise shrinks with the step."""
    with name_scope(name or "NoisyLinearCosineDecay") as scope:
        rate = convert(learning_rate, name="initial_learning_rate")
        steps = cast(decay_steps, rate.dtype)
        first, shrinking = cast(initial_variance, rate.dtype), cast(variance_decay, rate.dtype)
        periods = cast(num_periods, rate.dtype)
        raised, rest = cast(alpha, rate.dtype), cast(beta, rate.dtype)
        step = minimum(cast(global_step, rate.dtype), steps)
        line = (steps - step) / steps
        deviation = sqrt(first / pow(1.0 + step, shrinking))
        noisy = line + random_normal(line.shape, stddev=deviation)
        progress = step / steps
        wave = _half_wave(2.0 * periods * progress)
        return multiply(rate, (raised + noisy) * wave + rest, name=scope)
