"""Gradient descent that allows for gradients being late, and Adagrad that need not count gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.training.optimizers.base import Gradient, Number, Optimizer, Trained
from tensorkeep.tf1.training.optimizers.standard import AdagradOptimizer
from tensorkeep.tf1.variables.assignments import assign, assign_sub
from tensorkeep.tf1.variables.global_step import Step


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad, of whose gradients some need not count: those of losses of weights, which shrink no later steps."""

    _flags = {"update_slots": "_should_update_slots"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """While it is open, gradients are applied without being counted."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before


class DelayCompensatedGradientDescentOptimizer(Optimizer):
    """Gradient descent with late gradients moved to where the variable is now, after Zheng et al. (2017).

    A gradient g that a worker computed at its shadow of the variable counts as g + lambda g g (variable - shadow); the
    shadow then becomes the variable. It takes whole gradients only.
    """

    def __init__(
        self,
        learning_rate: TensorLike,
        variance_parameter: TensorLike,
        num_workers: int = 1,
        use_locking: bool = False,
        name: str = "DelayCompensatedGradientDescent",
    ) -> None:
        if num_workers <= 0:
            raise InvalidArgumentError(f"num_workers must be positive: {num_workers}")
        super().__init__(use_locking, name)
        self._learning_rate, self._lambda = learning_rate, variance_parameter
        self._num_workers, self._worker = num_workers, 0

    def minimize(
        self,
        loss: Tensor,
        global_step: Step | None = None,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Tensor | None = None,
        worker_index: int | None = None,
    ) -> Operation:
        """One step by a worker towards a smaller loss."""
        self._checked_worker(worker_index)
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        return self.apply_gradients(pairs, global_step, name, worker_index)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
        worker_index: int | None = None,
    ) -> Operation:
        self._worker = self._checked_worker(worker_index)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _checked_worker(self, index: int | None) -> int:
        if index is not None and not 0 <= index < self._num_workers:
            raise InvalidArgumentError(f"worker index must be in the range [0, num_workers): {index}")
        return index or 0

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for index in range(self._num_workers):
            for var in var_list:
                self._get_or_make_slot(var, identity(var.initialized_value()), f"shadow_{index}", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._learning_rate, name="learning_rate")
        self._lambda_tensor = convert(self._lambda, name="lambda")

    def _moved(self, grad: Tensor, var: Any) -> Operation:
        shadow: Any = self.get_slot(var, f"shadow_{self._worker}")
        rate, share = (cast(item, grad.dtype.base_dtype) for item in (self._learning_rate_tensor, self._lambda_tensor))
        late = var.read_value() - shadow.read_value()
        changed = assign_sub(var, rate * (grad + share * grad * grad * late), use_locking=self._use_locking)
        with control_dependencies([changed]):
            return group(assign(shadow, var.read_value(), use_locking=self._use_locking))

    def _apply_dense(self, grad: Tensor, var: Any) -> Operation:
        return self._moved(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Operation:
        return self._moved(grad, handle)
