"""`tf.contrib.opt`: optimizers that leave rows alone, look ahead, shrink weights, average variables, or serve tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import FailedPreconditionError, NotFoundError
from tensorkeep.graph.building import colocate_with, control_dependencies, init_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.numbers.clipping import clip_by_global_norm
from tensorkeep.tf1.functions.numbers.elementwise import abs as abs_
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import count_nonzero
from tensorkeep.tf1.training.loops.scaffold import no_saver
from tensorkeep.tf1.training.optimizers.base import Number, Optimizer
from tensorkeep.tf1.training.optimizers.moving_averages import ExponentialMovingAverage
from tensorkeep.tf1.training.optimizers.standard import AdamOptimizer, AddRows, MomentumOptimizer
from tensorkeep.tf1.variables.assignments import assign, assign_add
from tensorkeep.tf1.variables.listing import global_variables
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

    def _apply_rows(self, grad: Tensor, var: Variable, indices: Tensor, add: AddRows) -> Operation:
        dtype = var.dtype.base_dtype
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        m: Any = self.get_slot(var, "m")
        v: Any = self.get_slot(var, "v")
        new_m = beta1 * gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * gather(v, indices) + (1 - beta2) * square(grad)
        steps = _rate(self, dtype) * new_m / (sqrt(new_v) + cast(self._epsilon_t, dtype))
        table: Any = var
        return group(
            m.scatter_update(IndexedSlices(new_m, indices)),
            v.scatter_update(IndexedSlices(new_v, indices)),
            table.scatter_sub(IndexedSlices(steps, indices)),
        )


class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum."""

    _flags = {"use_nesterov": "_use_nesterov"}  # noqa: RUF012
    _use_nesterov = True

    def _apply_rows(self, grad: Tensor, var: Variable, indices: Tensor, add: AddRows) -> Operation:
        dtype = var.dtype.base_dtype
        beta1, beta2 = cast(self._beta1_t, dtype), cast(self._beta2_t, dtype)
        m: Any = self.get_slot(var, "m")
        v: Any = self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        new_m = assign(m, m * beta1, use_locking=self._use_locking)
        with control_dependencies([new_m]):
            new_m = add(m, indices, scaled)
            ahead = scaled + beta1 * gather(new_m, indices)
        new_v = assign(v, v * beta2, use_locking=self._use_locking)
        with control_dependencies([new_v]):
            new_v = add(v, indices, (grad * grad) * (1 - beta2))
        roots = gather(sqrt(new_v), indices) + cast(self._epsilon_t, dtype)
        moved = add(var, indices, -_rate(self, dtype) * ahead / roots)
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

    def _apply_rows(self, grad: Tensor, var: Variable, indices: Tensor, add: AddRows) -> Operation:
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


# ---------------------------------------------------------------------------------------------------- Wrappers


class MovingAverageOptimizer(Optimizer):
    """An optimizer after whose steps moving averages of the variables are taken."""

    new_saver: Callable[..., Any] = staticmethod(no_saver)

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(use_locking=False, name="MovingAverageOptimizer")
        self._optimizer = opt
        self._average = ExponentialMovingAverage(average_decay, num_updates)
        self._averaged: list[Any] | None = None
        self._is_sequential = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Operation:
        pairs = list(grads_and_vars)
        applied = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        self._averaged = [item for _, item in pairs]
        with control_dependencies([applied] if self._is_sequential else []):
            averaged = self._average.apply(self._averaged)
        return group(applied, averaged, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that saves averages under the names of the variables, and so restores them."""
        if self._averaged is None:
            raise FailedPreconditionError("Must call apply_gradients or minimize before creating the swapping_saver")
        given = global_variables() if var_list is None else var_list
        stored = dict(given) if isinstance(given, Mapping) else {item.op.name: item for item in given}
        swapped = dict(stored)
        for item in self._averaged:
            own, average = item.op.name, self._average.average_name(item)
            if own not in stored or average not in stored:
                missing = own if own not in stored else average
                raise NotFoundError(f"Variable {missing} to swap is not part of variables to save.")
            swapped[own], swapped[average] = stored[average], stored[own]
        return self.new_saver(swapped, name=name, **kwargs)


class MultitaskOptimizerWrapper:
    """An optimizer that leaves variables alone, and their slots, whose gradients are all zero."""

    def __init__(self, opt: Optimizer) -> None:
        self._optimizer = opt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """One step; each variable is changed only if its gradient is not zero."""
        pairs = [(gradient, item) for gradient, item in grads_and_vars if gradient is not None]
        self._optimizer._create_slots([item for _, item in pairs])
        changes = []
        for gradient, item in pairs:
            values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
            some = count_nonzero(values) > 0
            change = partial(self._changed, gradient, item)
            changes.append(cond(some, change, no_op))
        if global_step is not None:
            with control_dependencies(changes):
                changes.append(assign_add(global_step, 1))
        return group(*changes, name=name)

    def _changed(self, gradient: Any, item: Any) -> Operation:
        return group(self._optimizer.apply_gradients([(gradient, item)]))

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, **kwargs: Any) -> Any:
        """One step towards a smaller loss."""
        name = kwargs.pop("name", None)
        pairs = self._optimizer.compute_gradients(loss, var_list=var_list, **kwargs)
        return self.apply_gradients(pairs, global_step, name)


def clip_gradients_by_global_norm(gradients_variables: Any, clip_norm: float = 20.0) -> Any:
    """Gradients scaled down together if they are longer than that."""
    pairs = list(gradients_variables)
    clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], clip_norm)
    return tuple((gradient, item) for gradient, (_, item) in zip(clipped, pairs, strict=True))


class DecoupledWeightDecayExtension:
    """What is mixed into an optimizer so that variables shrink by a share of themselves before each step."""

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: list[Any] | None = None
        super().__init__(*args, **kwargs)

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """One step; of the variables only those given shrink, or all."""
        self._decay_var_list = None if decay_var_list is None else list(decay_var_list)
        return super().minimize(loss, *args, **kwargs)  # type: ignore[misc]

    def apply_gradients(self, grads_and_vars: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        if decay_var_list is not None:
            self._decay_var_list = list(decay_var_list)
        return super().apply_gradients(grads_and_vars, *args, **kwargs)  # type: ignore[misc]

    def _shrunk(self, var: Any, indices: Any = None) -> list[Any]:
        if self._decay_var_list is not None and not any(var is item for item in self._decay_var_list):
            return []
        told = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        share = cast(convert(told, name="weight_decay"), var.dtype.base_dtype)
        if indices is None:
            return [var.assign_sub(share * identity(var))]
        return [var.scatter_sub(IndexedSlices(share * gather(var, indices), indices))]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._shrunk(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        with control_dependencies(self._shrunk(handle)):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with control_dependencies(self._shrunk(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        with control_dependencies(self._shrunk(handle, indices)):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> Any:
    """The class of an optimizer whose first argument is the decay, and the others those of another optimizer."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[valid-type,misc]
        """The optimizer, with variables that shrink."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum, with variables that shrink."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)
