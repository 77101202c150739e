"""LARS: a rate for each variable, by how long it is and how long its gradient.

The rule: You, Gitman and Ginsburg, Large Batch Training of Convolutional Networks (2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import where
from tensorkeep.tf1.functions.linear_algebra.matrices import norm
from tensorkeep.tf1.training.optimizers.base import Number, Trained
from tensorkeep.tf1.training.optimizers.standard import MomentumOptimizer


class LARSOptimizer(MomentumOptimizer):
    """Momentum whose rate is multiplied by eeta * |var| / (|gradient| + weight_decay * |var| + epsilon).

    Variables with a name of `skip_list` in theirs, and sparse gradients, have the rate itself.
    """

    def __init__(
        self,
        learning_rate: Number,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise InvalidArgumentError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise InvalidArgumentError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skipped = tuple(skip_list or ())

    def compute_lr(self, grad: Tensor, var: Trained) -> Tensor:
        """The rate of one variable."""
        rate = convert(self._call_if_callable(self._learning_rate))
        if any(word in var.name for word in self._skipped):
            return rate
        length, slope = norm(convert(var), ord=2), norm(grad, ord=2)
        scaled = self._eeta * length / (slope + self._weight_decay * length + self._epsilon)
        one = convert(1.0, length.dtype)
        return rate * where(length > 0, where(slope > 0, scaled, one), one)

    def _apply(self, prefix: str, var: Trained, gradient: Tensor, indices: Tensor | None) -> Any:
        kept = self._learning_rate_tensor
        if indices is None:
            self._learning_rate_tensor = self.compute_lr(gradient, var)
        try:
            return super()._apply(prefix, var, gradient, indices)
        finally:
            self._learning_rate_tensor = kept
