"""Optimizers around optimizers: they average, shrink or clip variables, serve several tasks, drop late gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity, reshape
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.clipping import clip_by_global_norm, clip_by_norm
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import count_nonzero
from tensorkeep.tf1.training.loops.roles import GraphSaver
from tensorkeep.tf1.training.loops.scaffold import no_saver
from tensorkeep.tf1.training.optimizers.base import Gradient, Number, Optimizer, Trained
from tensorkeep.tf1.training.optimizers.moving_averages import ExponentialMovingAverage
from tensorkeep.tf1.training.optimizers.standard import MomentumOptimizer
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.global_step import Step, get_global_step
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.listing import global_variables
from tensorkeep.tf1.variables.scopes import get_variable


class MovingAverageOptimizer(Optimizer):
    """An optimizer after whose steps moving averages of the variables are taken."""

    new_saver: Callable[..., Any] = staticmethod(no_saver)

    def __init__(
        self,
        opt: Optimizer,
        average_decay: float = 0.9999,
        num_updates: TensorLike | None = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(use_locking=False, name="MovingAverageOptimizer")
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates)
        self._averaged: list[Any] | None = None
        self._is_sequential = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        pairs = list(grads_and_vars)
        applied = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        self._averaged = [item for _, item in pairs]
        with control_dependencies([applied] if self._is_sequential else []):
            averaged = self._ema.apply(self._averaged)
        return group(applied, averaged, name="train_with_avg")

    def swapping_saver(
        self, var_list: Sequence[Any] | Mapping[str, Any] | None = None, name: str = "swapping_saver", **kwargs: object
    ) -> GraphSaver:
        """A saver that saves averages under the names of the variables, and so restores them."""
        if self._averaged is None:
            raise FailedPreconditionError("Must call apply_gradients or minimize before creating the swapping_saver")
        given = global_variables() if var_list is None else var_list
        stored = dict(given) if isinstance(given, Mapping) else {item.op.name: item for item in given}
        swapped = dict(stored)
        for item in self._averaged:
            own, average = item.op.name, self._ema.average_name(item)
            if own not in stored or average not in stored:
                missing = own if own not in stored else average
                raise NotFoundError(f"Variable {missing} to swap is not part of variables to save.")
            swapped[own], swapped[average] = stored[average], stored[own]
        saver: GraphSaver = self.new_saver(swapped, name=name, **kwargs)
        return saver


class MultitaskOptimizerWrapper:
    """An optimizer that leaves variables alone, and their slots, whose gradients are all zero."""

    def __init__(self, opt: Optimizer) -> None:
        self._optimizer = opt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
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


def clip_gradients_by_global_norm(
    gradients_variables: Iterable[tuple[Gradient | None, Trained]], clip_norm: float = 20.0
) -> tuple[tuple[Gradient | None, Trained], ...]:
    """Gradients scaled down together if they are longer than that."""
    pairs = list(gradients_variables)
    clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], clip_norm)
    return tuple((gradient, item) for gradient, (_, item) in zip(clipped, pairs, strict=True))


class DecoupledWeightDecayExtension:
    """What is mixed into an optimizer so that variables shrink by a share of themselves before each step."""

    def __init__(self, weight_decay: Number, *args: object, **kwargs: object) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: list[Any] | None = None
        super().__init__(*args, **kwargs)

    def minimize(
        self, loss: Tensor, *args: object, decay_var_list: Iterable[Trained] | None = None, **kwargs: object
    ) -> Operation:
        """One step; of the variables only those given shrink, or all."""
        self._decay_var_list = None if decay_var_list is None else list(decay_var_list)
        stepped: Operation = super().minimize(loss, *args, **kwargs)  # type: ignore[misc]
        return stepped

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        *args: object,
        decay_var_list: Iterable[Trained] | None = None,
        **kwargs: object,
    ) -> Operation:
        if decay_var_list is not None:
            self._decay_var_list = list(decay_var_list)
        applied: Operation = super().apply_gradients(grads_and_vars, *args, **kwargs)  # type: ignore[misc]
        return applied

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


def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Any]:
    """The class of an optimizer whose first argument is the decay, and the others those of another optimizer."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):  # type: ignore[valid-type,misc]
        """The optimizer, with variables that shrink."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum, with variables that shrink."""

    def __init__(
        self,
        weight_decay: Number,
        learning_rate: Number,
        momentum: Number,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)


class _Around(Optimizer):
    """An optimizer that has another one do the work."""

    def __init__(self, opt: Optimizer, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot_names(*args, **kwargs)


class VariableClippingOptimizer(_Around):
    """An optimizer after whose steps variables are made no longer than a norm, along some of their axes."""

    def __init__(
        self,
        opt: Optimizer,
        vars_to_clip_dims: Mapping[Any, Sequence[int]],
        max_norm: TensorLike,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._axes = {var: list(axes) for var, axes in vars_to_clip_dims.items()}
        self._max_norm = max_norm

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        pairs = list(grads_and_vars)
        with name_scope(name or self._name) as scope:
            applied = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = []
            with control_dependencies([applied]):
                for gradient, var in pairs:
                    if gradient is not None and var in self._axes:
                        with name_scope(f"clip_{var.op.name}"):
                            clipped.append(self._clipped(gradient, var))
            return group(applied, *clipped, name=scope)

    def _clipped(self, gradient: Any, var: Any) -> Any:
        axes = self._axes[var]
        if isinstance(gradient, IndexedSlices) and 0 not in axes:
            rows = gather(var, gradient.indices)
            change = rows - clip_by_norm(rows, self._max_norm, axes)
            return var.scatter_sub(IndexedSlices(change, gradient.indices, gradient.dense_shape))
        value = var.read_value()
        return var.assign_sub(value - clip_by_norm(value, self._max_norm, axes), use_locking=self._use_locking)


class DropStaleGradientOptimizer(_Around):
    """An optimizer that leaves gradients out if more than so many steps were taken since they were computed."""

    def __init__(
        self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient"
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._staleness = staleness

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        step: Any = get_global_step()
        if step is None:
            raise FailedPreconditionError("DropStaleGradientOptimizer needs a global step: tf.train.create_global_step")
        self._begun = step.read_value() + 0
        with control_dependencies([self._begun]):
            return self._opt.compute_gradients(identity(loss), *args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        if global_step is None:
            raise InvalidArgumentError("DropStaleGradientOptimizer needs global_step, by which it knows what is late")
        pairs = list(grads_and_vars)
        dropped: Any = get_variable("stale_counter", [], initializer=Zeros(), trainable=False)

        def accept() -> Tensor:
            with control_dependencies([self._opt.apply_gradients(pairs, global_step=global_step, name=name)]):
                return identity(0.0)

        done = [
            gradient if isinstance(gradient, Tensor) else gradient.op for gradient, _ in pairs if gradient is not None
        ]
        with control_dependencies(done):
            late = reshape(global_step.read_value() - self._begun, [])
        applied = dropped.assign_add(cond(late <= self._staleness, accept, lambda: identity(1.0)))
        share = dropped / cast(global_step.read_value() + 1, FLOAT32)
        scalar("Gradient staleness percentage", share)
        return applied
