"""`tf.contrib.mixed_precision`: loss scaling as TensorFlow 1.15 has it there.

What the graph keeps are three variables, `loss_scale`, `good_steps` and `bad_steps`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Slot, Trained, VarList
from tensorkeep.tf1.training.optimizers.loss_scaling import are_finite, scaled_gradient
from tensorkeep.tf1.variables.assignments import assign, assign_add
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.variable import Variable


class LossScaleManager(ABC):
    """By what a loss is multiplied, and how that changes with the gradients."""

    @abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale, as a scalar of type float32."""

    @abstractmethod
    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        """What changes the scale after a step, given whether its gradients are finite."""


class FixedLossScaleManager(LossScaleManager):
    """Always the same scale."""

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise InvalidArgumentError(f"loss scale must be at least 1, got {loss_scale}")
        self._loss_scale = convert(loss_scale, FLOAT32)

    def get_loss_scale(self) -> Tensor:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that is multiplied after so many steps with finite gradients in a row, and made smaller after so many
    without, which need not be in a row.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = Variable(
            convert(init_loss_scale, FLOAT32), name="loss_scale", dtype=FLOAT32, trainable=False
        )
        self._num_good_steps = Variable(0, name="good_steps", dtype=INT32, trainable=False)
        self._num_bad_steps = Variable(0, name="bad_steps", dtype=INT32, trainable=False)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        updated: Operation = cond(finite_grads, self._after_a_good_step, self._after_a_bad_step)
        return updated

    def _after_a_good_step(self) -> Any:
        is_enough = self._num_good_steps + 1 >= self._incr_every_n_steps
        return cond(is_enough, self._grown, lambda: assign_add(self._num_good_steps, 1).op)

    def _grown(self) -> Operation:
        def larger() -> Any:
            return self._loss_scale * self._incr_ratio

        changed = cond(emit("IsFinite", larger()), larger, lambda: self._loss_scale)
        return group(assign(self._loss_scale, changed), self._without_counts())

    def _after_a_bad_step(self) -> Any:
        return cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, self._shrunk, self._counted)

    def _shrunk(self) -> Operation:
        smaller = maximum(1.0, self._loss_scale * self._decr_ratio)
        return group(assign(self._loss_scale, smaller), self._without_counts())

    def _counted(self) -> Operation:
        return group(assign_add(self._num_bad_steps, 1), assign(self._num_good_steps, 0))

    def _without_counts(self) -> Operation:
        return group(assign(self._num_good_steps, 0), assign(self._num_bad_steps, 0))


class LossScaleOptimizer(Optimizer):
    """An optimizer that is given gradients of a loss that was made larger by a scale, made smaller by it again. A step
    whose gradients are not all finite is left out.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(opt._use_locking, opt.get_name())
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def doing_loss_scaling(self) -> bool:
        return True

    def compute_gradients(
        self,
        loss: Tensor | Callable[[], Tensor],
        var_list: VarList | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Tensor | None = None,
    ) -> list[tuple[Gradient | None, Trained]]:
        """Pairs of gradient and variable, of the loss as it was given."""
        scale = self._loss_scale_manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * cast(scale, value.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        factor = emit("Reciprocal", scale)
        return [(None if gradient is None else _scaled(gradient, factor), item) for gradient, item in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        """Takes the step, and counts it, if all gradients are finite; then the scale is changed."""
        pairs = list(grads_and_vars)
        is_good = are_finite([gradient for gradient, _ in pairs])  # type: ignore[misc]
        step = partial(self._opt.apply_gradients, pairs, global_step, name)
        return group(cond(is_good, step, no_op), self._loss_scale_manager.update_loss_scale(is_good))

    def get_slot(self, var: Trained, name: str) -> Slot | None:
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        return self._opt.get_slot_names()

    def variables(self) -> list[Slot]:
        return self._opt.variables()


def _scaled(gradient: Gradient, factor: Tensor) -> Gradient:
    return scaled_gradient(gradient, cast(factor, gradient.dtype.base_dtype))
