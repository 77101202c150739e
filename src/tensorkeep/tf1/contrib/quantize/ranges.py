"""Numbers rounded to few bits, within a range that variables remember.

Below the scope of a quantization are the variables "min" and "max"; where the range is a moving average, these have
"biased" and "local_step" below them. Names are TensorFlow 1.15's, so that checkpoints of quantized networks fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.graph.building import name_scope
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.numbers.elementwise import maximum, minimum
from tensorkeep.tf1.functions.numbers.quantization import fake_quant_with_min_max_vars
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_min
from tensorkeep.tf1.training.optimizers.moving_averages import assign_moving_average
from tensorkeep.tf1.variables.assignments import assign, assign_add
from tensorkeep.tf1.variables.initializers import Constant, Zeros
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

_DECAY: Final = 0.999
_STEP: Final = "fake_quantization_step"


@dataclass(frozen=True)
class Rounding:
    """To how many bits, and in which range at first.

    A narrow range leaves out the smallest number, so that there are as many on both sides of zero; a symmetric one
    reaches as far to both sides.
    """

    bits: int
    is_averaged: bool = True
    is_narrow: bool = False
    is_symmetric: bool = False
    first_min: float = -6.0
    first_max: float = 6.0


def rounded_tensor(inputs: Tensor, prefix: str, rounding: Rounding, is_training: bool) -> Tensor:
    """The tensor as it would be with few bits. In training its range is learned: of the last batch, or on average."""
    with variable_scope(None, default_name=prefix, values=[inputs]) as scope:
        scope.set_partitioner(None)
        least, most = _end("min", rounding.first_min), _end("max", rounding.first_max)
        if is_training:
            seen_least, seen_most = _seen_range(inputs, rounding)
            least = _learned_end(least, seen_least, "Min", rounding.is_averaged)
            most = _learned_end(most, seen_most, "Max", rounding.is_averaged)
        return fake_quant_with_min_max_vars(
            inputs, least, most, num_bits=rounding.bits, narrow_range=rounding.is_narrow
        )


def _end(name: str, value: float) -> Any:
    return get_variable(
        name, shape=[], initializer=Constant(value), collections=[GraphKeys.GLOBAL_VARIABLES], trainable=False
    )


def _seen_range(inputs: Tensor, rounding: Rounding) -> tuple[Tensor, Tensor]:
    """The range of a batch, with zero in it."""
    least, most = reduce_min(inputs, name="BatchMin"), reduce_max(inputs, name="BatchMax")
    if not rounding.is_symmetric:
        return minimum(least, 0.0), maximum(most, 0.0)
    count = 1 << rounding.bits
    ratio = -1 if rounding.is_narrow else -(count - 2) / count  # there is one number more below zero
    return minimum(least, most / ratio), maximum(most, least * ratio)


def _learned_end(variable: Any, seen: Tensor, end: str, is_averaged: bool) -> Any:
    """An end of the range after this batch."""
    if is_averaged:
        return assign_moving_average(variable, seen, _DECAY, name=f"Assign{end}Ema")
    return assign(variable, seen, name=f"Assign{end}Last")


def quantization_step(graph: Graph) -> Tensor:
    """How often the graph has run, which counts it: one variable, however often it is asked for."""
    if f"{_STEP}/Identity" in graph:
        found: Tensor = graph.tensor(f"{_STEP}/Identity:0")
        return found
    with name_scope(None):
        step: Any = get_variable(
            _STEP,
            shape=[],
            dtype="int64",
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
        )
        with name_scope(f"{step.op.name}/"):
            return identity(assign_add(step, 1))
