"""Loss scaling: gradients of a loss made larger, so that small ones are not lost in small types.

A scale may be fixed, or grow while gradients are finite and shrink when they are not; a step whose gradients are not
finite is left out. What the graph keeps of it are two variables, `current_loss_scale` and `good_steps`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.building import current_graph, operation_of
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.runtime.context import LOG
from tensorkeep.tf1.functions.control.control_flow import cond, smart_cond
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum
from tensorkeep.tf1.functions.numbers.reductions import reduce_all
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Slot, Trained, VarList
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.variable import Variable


class LossScale(ABC):
    """By what a loss is multiplied, and how that changes with the gradients."""

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Graph], Variable] = {}

    @abstractmethod
    def __call__(self) -> Tensor:
        """The scale, as a scalar of type float32."""

    @abstractmethod
    def update(self, grads: Any) -> tuple[Operation, bool | Tensor]:
        """What changes the scale after a step, and whether the step may be taken, given the unscaled gradients."""

    @abstractmethod
    def get_config(self) -> dict[str, Any]:
        """The arguments by which it was made."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LossScale:
        """The scale that such arguments make."""
        return cls(**config)

    def _add_weight(self, name: str, initial_value: InitializerLike, dtype: DTypeLike | None = None) -> Variable:
        """A variable of the scale; one of a name in each graph."""
        key = (name, current_graph())
        if key in self._weights:
            raise InvalidArgumentError(f'the loss scale has a variable "{name}" in this graph already')
        self._weights[key] = Variable(initial_value, name=name, dtype=dtype, trainable=False, use_resource=True)
        return self._weights[key]

    def _checkpoint_children(self) -> dict[str, Any]:
        """What checkpoints of objects keep: the variables in the graph being built."""
        graph = current_graph()
        return {
            name: variable for (name, owner), variable in sorted(self._weights.items(), key=_name) if owner is graph
        }


def _name(item: tuple[tuple[str, Graph], Variable]) -> str:
    return item[0][0]


class FixedLossScale(LossScale):
    """Always the same scale. Steps whose gradients are not finite are taken."""

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, int | float):
            raise InvalidArgumentError(
                f"loss_scale_value must be a Python int or float, got {type(loss_scale_value).__name__}"
            )
        if loss_scale_value < 1:
            raise InvalidArgumentError(f"loss_scale_value must be at least 1, got {loss_scale_value}")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return convert(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Operation, bool]:
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A scale that is multiplied after so many steps with finite gradients, and divided after each without."""

    def __init__(
        self, initial_loss_scale: float = 2.0**15, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, FLOAT32)
        self._num_good_steps = self._add_weight("good_steps", 0, INT64)

    @property
    def initial_loss_scale(self) -> float:
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        return self._increment_period

    @property
    def multiplier(self) -> float:
        return self._multiplier

    def __call__(self) -> Tensor:
        return convert(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Operation, Tensor]:
        is_finite = are_finite(flatten(grads))
        return cond(is_finite, self._after_a_good_step, self._after_a_bad_step), is_finite

    def _after_a_good_step(self) -> Any:
        is_enough = self._num_good_steps + 1 >= self._increment_period
        return cond(is_enough, self._grown, lambda: operation_of(self._num_good_steps.assign_add(1)))

    def _grown(self) -> Operation:
        larger = self._current_loss_scale * self._multiplier
        grown = cond(_is_finite(larger), lambda: operation_of(self._current_loss_scale.assign(larger)), no_op)
        return group(grown, self._num_good_steps.assign(0))

    def _after_a_bad_step(self) -> Operation:
        smaller = maximum(self._current_loss_scale / self._multiplier, 1)
        return group(self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller))

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.get_config().items())
        return f"DynamicLossScale({told})"


LossScaleLike: TypeAlias = "LossScale | float | str"
"""A scale, a number that does not change, or "dynamic"."""


def loss_scale_of(identifier: object) -> LossScale:
    """The scale that an argument stands for."""
    if isinstance(identifier, LossScale):
        return identifier
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    raise InvalidArgumentError(f'a loss scale is a number, "dynamic" or a LossScale, got {identifier!r}')


def are_finite(grads: Sequence[Gradient | None]) -> Tensor:
    """Whether all elements of all gradients are finite; there may be none for some variables."""
    found = [gradient.values if isinstance(gradient, IndexedSlices) else gradient for gradient in grads]
    return reduce_all([reduce_all(_is_finite(values)) for values in found if values is not None])


def _is_finite(values: TensorLike) -> Tensor:
    return emit("IsFinite", values)


def scaled_gradient(gradient: Gradient, factor: Tensor) -> Gradient:
    """A gradient times a number."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    product: Tensor = gradient * factor
    return product


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that is given gradients of a loss that was made larger by a scale, made smaller by it again."""

    def __init__(self, opt: Optimizer, loss_scale: LossScaleLike) -> None:
        if not isinstance(opt, Optimizer):
            raise InvalidArgumentError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)

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
        scale = self._loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._optimizer.compute_gradients(
            value * cast(scale, value.dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        factor = 1 / self._loss_scale()
        return [(None if gradient is None else scaled_gradient(gradient, factor), item) for gradient, item in pairs]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        """Takes the step, and counts it, if a dynamic scale finds all gradients finite; then it changes the scale."""
        pairs = tuple(grads_and_vars)
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(pairs, global_step, name)
        chosen = self.get_name() if name is None else name
        update, is_good = self._loss_scale.update([gradient for gradient, _ in pairs])
        step = partial(self._optimizer.apply_gradients, pairs, global_step, f"{chosen}-wrapped")
        return group(smart_cond(is_good, step, no_op), update, name=chosen)

    def variables(self) -> list[Slot]:
        return [*self._optimizer.variables(), *self._loss_scale._weights.values()]

    def _checkpoint_children(self) -> dict[str, Any]:
        """What checkpoints of objects follow."""
        return {"base_optimizer": self._optimizer, "loss_scale": self._loss_scale}


def enable_mixed_precision_graph_rewrite(
    opt: Optimizer, loss_scale: LossScaleLike = "dynamic"
) -> MixedPrecisionLossScaleOptimizer:
    """An optimizer with loss scaling. No graph is rewritten: as TensorFlow does without a GPU, we compute in the types
    that the graph says.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise InvalidArgumentError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer: '
            "enable_mixed_precision_graph_rewrite wraps the optimizer with one"
        )
    if not isinstance(opt, Optimizer):
        raise InvalidArgumentError(
            f'"opt" must be an instance of a tf.train.Optimizer, but got: {opt!r}. Optimizers of tf.keras need no loss '
            "scaling here: nothing is computed in float16 that the model does not say"
        )
    LOG.warning("mixed precision: the graph is not rewritten to float16, which needs a GPU; the loss is scaled")
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Says that graphs are not to be rewritten, which none is."""
    LOG.warning("disable_mixed_precision_graph_rewrite() has nothing to disable: graphs are not rewritten to float16")
