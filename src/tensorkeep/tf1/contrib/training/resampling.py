"""Examples of a batch more often than once, or not at all: by a rate for each, or by weights."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import INT32
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import size, stop_gradient
from tensorkeep.tf1.functions.arrays.slicing import gather, repeat
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean
from tensorkeep.tf1.functions.random.numbers import random_poisson
from tensorkeep.tf1.training.inputs.input_producers import scope_for
from tensorkeep.tf1.training.optimizers.moving_averages import assign_moving_average
from tensorkeep.tf1.variables.scopes import get_local_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable


def resample_at_rate(
    inputs: Sequence[TensorLike],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """Rows of some tensors, the same of all: each as often as a Poisson distribution of its rate says."""
    with scope_for(scope, "resample_at_rate", [*inputs, rates]):
        rate = convert(rates, name="rates")
        counts = cast(random_poisson(rate, [], rate.dtype, seed=seed), INT32)
        indices = repeat(range_tensor(size(counts)), counts)
        if not back_prop:
            indices = stop_gradient(indices)
        return [gather(tensor, indices) for tensor in inputs]


def weighted_resample(
    inputs: Sequence[TensorLike],
    weights: TensorLike,
    overall_rate: TensorLike,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Rows at rates that go by their weights and are `overall_rate` on average, and the rate of each row.

    The average weight is a moving one, over this and the runs before.
    """
    with scope_for(scope, "weighted_resample", list(inputs)) as name:
        weight = convert(weights)
        with variable_scope(scope, "estimate_mean", list(inputs)):
            estimated = get_local_variable("estimated_mean", initializer=cast(0, weight.dtype), dtype=weight.dtype)
            assert isinstance(estimated, Variable)  # a scalar is not cut into parts
            mean = assign_moving_average(estimated, reduce_mean(weight), mean_decay)
        rates = weight * overall_rate / mean
        found_rates, *found = resample_at_rate([rates, *inputs], rates, scope=name, seed=seed)
        return found, found_rates
