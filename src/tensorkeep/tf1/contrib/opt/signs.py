"""PowerSign and AddSign: gradients count more where they have the sign of their mean over the last steps.

The rules: Bello et al., Neural Optimizer Search with Reinforcement Learning (2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import where
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import cast, cos, exp, maximum, minimum, mod, sign
from tensorkeep.tf1.training.optimizers.base import Number, RuleOptimizer, Trained, Update

SignDecay: TypeAlias = Callable[[Any], Any]
"""A function of the step: how much signs count then."""


class _SignOptimizer(RuleOptimizer):
    """What both share: a mean of the gradients, and how much signs count."""

    _slot_arguments = {"m": "m"}  # noqa: RUF012

    def __init__(
        self, learning_rate: Number, beta: float, decay: SignDecay | None, use_locking: bool, name: str
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta, self._sign_decay_fn = learning_rate, beta, decay

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert(self._call_if_callable(self._lr), name="learning_rate")
        self._beta_t = convert(self._beta, name="beta")
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert(1.0, name="sign_decay")

    def _weighed(self, agreement: Tensor, var: Any) -> Tensor:
        """How much gradients count that agree with their mean (1), or not (-1)."""
        raise NotImplementedError

    def _apply_rows(self, grad: Any, var: Any, indices: Any) -> Update:
        beta = cast(self._beta_t, var.dtype.base_dtype)
        m: Any = self.get_slot(var, "m")
        decayed = m.assign(m * beta)
        with control_dependencies([decayed]):
            mean = m.scatter_add(IndexedSlices(grad * (1 - beta), indices))
        with control_dependencies([mean]):
            agreement = sign(gather(m, indices)) * sign(grad)
            step = cast(self._lr_t, var.dtype.base_dtype) * self._weighed(agreement, var) * grad
        return group(var.scatter_sub(IndexedSlices(step, indices)), mean)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Update:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Update:
        return self._apply_rows(grad, handle, indices)


class PowerSignOptimizer(_SignOptimizer):
    """var -= learning_rate * base ** (decay * sign(gradient) * sign(mean)) * gradient"""

    _rule = "PowerSign"
    _number_arguments = {  # noqa: RUF012
        "lr": "_lr_t", "logbase": "_logbase_t", "sign_decay": "_sign_decay_t", "beta": "_beta_t",
    }  # fmt: skip

    def __init__(
        self,
        learning_rate: Number = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: SignDecay | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _prepare(self) -> None:
        super()._prepare()
        self._logbase_t = convert(self._logbase, name="logbase")

    def _weighed(self, agreement: Tensor, var: Any) -> Tensor:
        kind = var.dtype.base_dtype
        return exp(cast(self._logbase_t, kind) * cast(self._sign_decay_t, kind) * agreement)


class AddSignOptimizer(_SignOptimizer):
    """var -= learning_rate * (alpha + decay * sign(gradient) * sign(mean)) * gradient"""

    _rule = "AddSign"
    _number_arguments = {  # noqa: RUF012
        "lr": "_lr_t", "alpha": "_alpha_t", "sign_decay": "_sign_decay_t", "beta": "_beta_t",
    }  # fmt: skip

    def __init__(
        self,
        learning_rate: Number = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: SignDecay | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare(self) -> None:
        super()._prepare()
        self._alpha_t = convert(self._alpha, name="alpha")

    def _weighed(self, agreement: Tensor, var: Any) -> Tensor:
        kind = var.dtype.base_dtype
        return cast(self._alpha_t, kind) + cast(self._sign_decay_t, kind) * agreement


def get_linear_decay_fn(decay_steps: int) -> SignDecay:
    """From 1 to 0 in a line."""

    def linear_decay_fn(global_step: Any) -> Tensor:
        reached = minimum(_needed(global_step, "linear_decay"), decay_steps)
        return maximum(0.0, cast(decay_steps - cast(reached, INT32), FLOAT32) / float(decay_steps))

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None) -> SignDecay:
    """From 1 along so many periods of a cosine between 1 and 0; 0 after so many."""

    def cosine_decay_fn(global_step: Any) -> Tensor:
        reached = minimum(_needed(global_step, "cosine_decay"), decay_steps)
        periods = 2.0 * num_periods * (cast(reached, FLOAT32) / float(decay_steps))
        decayed = 0.5 * (1.0 + cos(math.pi * periods))
        return decayed if zero_after is None else where(periods >= 2 * zero_after, 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps: int, num_periods: float = 1, zero_after: float | None = None) -> SignDecay:
    """From 1 to 0 along half a cosine, so many times; 0 after so many."""

    def restart_decay_fn(global_step: Any) -> Tensor:
        reached = cast(minimum(_needed(global_step, "cosine_decay"), decay_steps), FLOAT32)
        periods = num_periods * reached
        decayed = 0.5 * (1.0 + cos(math.pi * (mod(periods, float(decay_steps)) / float(decay_steps))))
        return decayed if zero_after is None else where(periods / float(decay_steps) >= zero_after, 0.0, decayed)

    return restart_decay_fn


def _needed(global_step: Any, word: str) -> Any:
    if global_step is None:
        raise InvalidArgumentError(f"global_step is required for {word}: give it to minimize or apply_gradients")
    return global_step
