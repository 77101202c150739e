"""Optimizers like Adam: they leave rows alone, count by the global step, look ahead, or keep the largest gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.graph.building import colocate_with, control_dependencies, init_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import abs as abs_
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, sqrt, square
from tensorkeep.tf1.functions.numbers.elementwise import pow as pow_
from tensorkeep.tf1.training.optimizers.base import Number
from tensorkeep.tf1.training.optimizers.standard import AdamOptimizer, AddRows
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.variable import Variable


def _rate(optimizer: AdamOptimizer, dtype: DType) -> Tensor:
    """The learning rate of Adam, corrected for averages that began with zeros."""
    beta1_power, beta2_power = (cast(power, dtype) for power in optimizer._get_beta_accumulators())
    return cast(optimizer._lr_t, dtype) * sqrt(1 - beta2_power) / (1 - beta1_power)


class LazyAdamOptimizer(AdamOptimizer):
    """Adam that changes and decays only rows that have a gradient."""

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _apply_sparse_shared(self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: AddRows) -> Operation:
        return _changed_rows(self, grad, var, indices)


def _changed_rows(optimizer: AdamOptimizer, grad: Tensor, var: Variable, indices: Tensor) -> Operation:
    """A step of Adam in which rows without a gradient stay as they are, with their slots."""
    dtype = var.dtype.base_dtype
    beta1, beta2 = cast(optimizer._beta1_t, dtype), cast(optimizer._beta2_t, dtype)
    m: Any = optimizer.get_slot(var, "m")
    v: Any = optimizer.get_slot(var, "v")
    new_m = beta1 * gather(m, indices) + (1 - beta1) * grad
    new_v = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
    steps = _rate(optimizer, dtype) * new_m / (sqrt(new_v) + cast(optimizer._epsilon_t, dtype))
    table: Any = var
    return group(
        m.scatter_update(IndexedSlices(new_m, indices)),
        v.scatter_update(IndexedSlices(new_v, indices)),
        table.scatter_sub(IndexedSlices(steps, indices)),
    )


class AdamGSOptimizer(AdamOptimizer):
    """Adam that counts its steps by the global step, in the place of variables of its own."""

    def __init__(
        self,
        global_step: Step | int = 0,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._global_step_on_worker = cast(identity(self._global_step) + 1, FLOAT32)

    def _get_beta_accumulators(self) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        number = self._global_step_on_worker
        return pow_(self._beta1_t, number), pow_(self._beta2_t, number)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        return group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """The same, changing and decaying only rows that have a gradient."""

    def _apply_sparse_shared(self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: AddRows) -> Operation:
        return _changed_rows(self, grad, var, indices)


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum."""

    _flags = {"use_nesterov": "_use_nesterov"}  # noqa: RUF012
    _use_nesterov = True

    def _apply_sparse_shared(self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: AddRows) -> Operation:
        dtype = var.dtype.base_dtype
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        m: Any = self.get_slot(var, "m")
        v: Any = self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        new_m = assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([new_m]):
            new_m = scatter_add(m, indices, scaled)
            ahead = scaled + beta1 * gather(new_m, indices)
        new_v = assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([new_v]):
            new_v = scatter_add(v, indices, (grad * grad) * (1 - beta2))
        roots = gather(sqrt(new_v), indices) + cast(self._epsilon_t, dtype)
        moved = scatter_add(var, indices, -_rate(self, dtype) * ahead / roots)
        return group(moved, new_m, new_v)


class AdaMaxOptimizer(AdamOptimizer):
    """Adam with the largest of past gradients in the place of the mean of their squares."""

    _rule = "AdaMax"

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda var: str(var.name))
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _get_beta_accumulators(self) -> tuple[Variable, Variable]:
        with init_scope():
            first = self._get_non_slot_variable("beta1_power")
        assert first is not None  # `_create_slots` has made it
        return first, first

    def _apply_sparse_shared(self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: AddRows) -> Operation:
        dtype = var.dtype.base_dtype
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        m: Any = self.get_slot(var, "m")
        v: Any = self.get_slot(var, "v")
        new_m = beta1 * gather(m, indices) + (1 - beta1) * grad
        new_v = maximum(beta2 * gather(v, indices), abs_(grad))
        rate = cast(self._lr_t, dtype) / (1 - cast(self._get_beta_accumulators()[0], dtype))
        steps = rate * (new_m / (new_v + cast(self._epsilon_t, dtype)))
        table: Any = var
        return group(
            m.scatter_update(IndexedSlices(new_m, indices)),
            v.scatter_update(IndexedSlices(new_v, indices)),
            table.scatter_sub(IndexedSlices(steps, indices)),
        )

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        power, _ = self._get_beta_accumulators()
        with control_dependencies(update_ops), colocate_with(power):
            following = assign(power, power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, following, name=name_scope)
