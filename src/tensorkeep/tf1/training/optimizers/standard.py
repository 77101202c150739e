"""TensorFlow 1's optimizers, each the sum of its rule, slots and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit_operation
from tensorkeep.graph.building import colocate_with, control_dependencies, device, init_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import fill, identity, ones, ones_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, sqrt
from tensorkeep.tf1.training.optimizers.base import Number, Optimizer, RuleOptimizer, Trained, Update
from tensorkeep.tf1.variables.assignments import assign, assign_sub, scatter_add
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.initializers import Constant, Ones
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.partitioned import PartitionInfo
from tensorkeep.tf1.variables.reference import RefVariable
from tensorkeep.tf1.variables.resource import BaseResourceVariable
from tensorkeep.tf1.variables.variable import Variable

AddRows: TypeAlias = Callable[[Variable, Tensor, Tensor], Step]
"""Adds rows to those of a slot, by their indices; gives what the slot is then."""


class GradientDescentOptimizer(RuleOptimizer):
    """var -= learning_rate * gradient"""

    _rule = "GradientDescent"
    _number_arguments = {"alpha": "_learning_rate_tensor"}  # noqa: RUF012 - class data, not to be changed

    def __init__(self, learning_rate: Number, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._call_if_callable(self._learning_rate), name="learning_rate")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Update:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        assert isinstance(var, RefVariable)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: BaseResourceVariable, indices: Tensor
    ) -> Update:
        step = -grad * cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        return emit_operation("ResourceScatterAdd", handle.handle, indices, step)


class _Proximal(RuleOptimizer):
    """An optimizer that applies l1 and l2 regularization after its step."""

    _casts = False
    _learning_rate: TensorLike
    _l1_regularization_strength: float
    _l2_regularization_strength: float

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._learning_rate, name="learning_rate")
        self._l1_regularization_strength_tensor = convert(
            self._l1_regularization_strength, name="l1_regularization_strength"
        )
        self._l2_regularization_strength_tensor = convert(
            self._l2_regularization_strength, name="l2_regularization_strength"
        )


class ProximalGradientDescentOptimizer(_Proximal):
    """Gradient descent with l1 and l2 regularization applied after the step."""

    _rule = "ProximalGradientDescent"
    _number_arguments = {  # noqa: RUF012
        "alpha": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
    }

    def __init__(
        self,
        learning_rate: TensorLike,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength


class MomentumOptimizer(RuleOptimizer):
    """accumulation = momentum * accumulation + gradient;  var -= learning_rate * accumulation"""

    _rule = "Momentum"
    _slot_arguments = {"accum": "momentum"}  # noqa: RUF012
    _number_arguments = {"lr": "_learning_rate_tensor", "momentum": "_momentum_tensor"}  # noqa: RUF012
    _flags = {"use_nesterov": "_use_nesterov"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number,
        momentum: Number,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._momentum_tensor = convert(self._call_if_callable(self._momentum), name="momentum")


class AdagradOptimizer(RuleOptimizer):
    """Steps shrink by the root of the sum of all squared gradients so far."""

    _rule = "Adagrad"
    _slot_arguments = {"accum": "accumulator"}  # noqa: RUF012
    _number_arguments = {"lr": "_learning_rate_tensor"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise InvalidArgumentError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            if var.get_shape().is_fully_known:
                initializer: InitializerLike = Constant(self._initial_accumulator_value, dtype=dtype)
            else:
                initializer = self._filled(var, dtype)
            self._get_or_make_slot_with_initializer(var, initializer, var.get_shape(), dtype, "accumulator", self._name)

    def _filled(self, var: Trained, dtype: DType) -> Callable[[], Tensor]:
        return lambda: cast(fill(shape_of(var), self._initial_accumulator_value), dtype)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._call_if_callable(self._learning_rate), name="learning_rate")


class ProximalAdagradOptimizer(_Proximal):
    """Adagrad with l1 and l2 regularization applied after the step."""

    _rule = "ProximalAdagrad"
    _slot_arguments = {"accum": "accumulator"}  # noqa: RUF012
    _number_arguments = {  # noqa: RUF012
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength_tensor",
        "l2": "_l2_regularization_strength_tensor",
    }

    def __init__(
        self,
        learning_rate: TensorLike,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise InvalidArgumentError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            with colocate_with(var):
                value = constant(self._initial_accumulator_value, var.dtype.base_dtype, var.get_shape())
            self._get_or_make_slot(var, value, "accumulator", self._name)


class AdagradDAOptimizer(RuleOptimizer):
    """Adagrad with dual averaging, for sparse linear models."""

    _rule = "AdagradDA"
    _slot_arguments = {  # noqa: RUF012
        "gradient_accumulator": "gradient_accumulator",
        "gradient_squared_accumulator": "gradient_squared_accumulator",
    }
    _number_arguments = {  # noqa: RUF012
        "lr": "_learning_rate_tensor",
        "l1": "_l1_regularization_strength",
        "l2": "_l2_regularization_strength",
    }

    def __init__(
        self,
        learning_rate: TensorLike,
        global_step: Step,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise InvalidArgumentError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_squares = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            with colocate_with(var):
                sums = constant(0.0, var.dtype.base_dtype, var.get_shape())
                squares = constant(self._initial_squares, var.dtype.base_dtype, var.get_shape())
            self._get_or_make_slot(var, sums, "gradient_accumulator", self._name)
            self._get_or_make_slot(var, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._learning_rate, name="learning_rate")
        with colocate_with(self._learning_rate_tensor):
            self._step_on_worker = identity(self._global_step) + 1

    def _apply(self, prefix: str, var: Trained, gradient: Tensor, indices: Tensor | None) -> Any:
        with device(var.device):
            self._step = identity(self._step_on_worker)
        return super()._apply(prefix, var, gradient, indices)

    def _number(self, argument: str, var: Trained) -> Tensor:
        return self._step if argument == "global_step" else super()._number(argument, var)


class AdadeltaOptimizer(RuleOptimizer):
    """Steps in proportion to the recent size of steps over that of gradients."""

    _rule = "Adadelta"
    _slot_arguments = {"accum": "accum", "accum_update": "accum_update"}  # noqa: RUF012
    _number_arguments = {"lr": "_lr_t", "rho": "_rho_t", "epsilon": "_epsilon_t"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number = 0.001,
        rho: Number = 0.95,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            self._zeros_slot(var, "accum", self._name)
            self._zeros_slot(var, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert(self._call_if_callable(self._lr), name="lr")
        self._rho_t = convert(self._call_if_callable(self._rho), name="rho")
        self._epsilon_t = convert(self._call_if_callable(self._epsilon), name="epsilon")


class RMSPropOptimizer(RuleOptimizer):
    """Steps shrink by the root of a moving average of squared gradients; centered, of their variance."""

    _slot_arguments = {"ms": "rms", "mg": "mg", "mom": "momentum"}  # noqa: RUF012
    _number_arguments = {  # noqa: RUF012
        "lr": "_learning_rate_tensor",
        "rho": "_decay_tensor",
        "momentum": "_momentum_tensor",
        "epsilon": "_epsilon_tensor",
    }

    def __init__(
        self,
        learning_rate: Number,
        decay: Number = 0.9,
        momentum: Number = 0.0,
        epsilon: Number = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _rule_for(self, var: Trained) -> str:
        return "CenteredRMSProp" if self._centered else "RMSProp"

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            ones_like_var = Ones(dtype=dtype) if var.get_shape().is_fully_known else ones_like(var)
            self._get_or_make_slot_with_initializer(var, ones_like_var, var.get_shape(), dtype, "rms", self._name)
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._decay_tensor = convert(self._call_if_callable(self._decay), name="decay")
        self._momentum_tensor = convert(self._call_if_callable(self._momentum), name="momentum")
        self._epsilon_tensor = convert(self._call_if_callable(self._epsilon), name="epsilon")


class FtrlOptimizer(RuleOptimizer):
    """Follow the regularized leader: sparse models with l1, l2 and shrinkage."""

    _slot_arguments = {"accum": "accum", "linear": "linear"}  # noqa: RUF012
    _number_arguments = {  # noqa: RUF012
        "lr": "_learning_rate_tensor",
        "l1": "_l1_tensor",
        "l2": "_l2_tensor",
        "l2_shrinkage": "_l2_shrinkage_tensor",
        "lr_power": "_power_tensor",
    }

    def __init__(
        self,
        learning_rate: TensorLike,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        if initial_accumulator_value < 0.0:
            raise InvalidArgumentError(
                f"initial_accumulator_value {initial_accumulator_value:f} needs to be positive or zero"
            )
        if learning_rate_power > 0.0:
            raise InvalidArgumentError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for what, strength in strengths.items():
            if strength < 0.0:
                raise InvalidArgumentError(f"{what} {strength:f} needs to be positive or zero")
        self._learning_rate, self._learning_rate_power = learning_rate, learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._l2_shrinkage = l2_shrinkage_regularization_strength
        self._beta = 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _rule_for(self, var: Trained) -> str:
        return "Ftrl" if self._l2_shrinkage <= 0.0 else "FtrlV2"

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        def initializer(
            shape: ShapeLike, dtype: DTypeLike = FLOAT32, partition_info: PartitionInfo | None = None
        ) -> Tensor:
            return ones(shape=shape, dtype=dtype) * self._initial_accumulator_value

        for var in var_list:
            self._get_or_make_slot_with_initializer(
                var, initializer, var.get_shape(), var.dtype.base_dtype, "accum", self._accum_name or self._name
            )
            self._zeros_slot(var, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._learning_rate, name="learning_rate")
        self._l1_tensor = convert(self._l1, name="l1_regularization_strength")
        self._l2_tensor = convert(
            self._l2 + self._beta / (2.0 * maximum(self._learning_rate, 1e-36)),
            name="adjusted_l2_regularization_strength",
        )
        convert(self._beta, name="beta")
        self._l2_shrinkage_tensor = convert(self._l2_shrinkage, name="l2_shrinkage_regularization_strength")
        self._power_tensor = convert(self._learning_rate_power, name="learning_rate_power")


class AdamOptimizer(RuleOptimizer):
    """Steps along a moving average of gradients, over the root of one of their squares."""

    _rule = "Adam"
    _slot_arguments = {"m": "m", "v": "v"}  # noqa: RUF012
    _number_arguments = {  # noqa: RUF012
        "lr": "_lr_t",
        "beta1": "_beta1_t",
        "beta2": "_beta2_t",
        "epsilon": "_epsilon_t",
    }

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        first = min(var_list, key=lambda var: str(var.name))
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = convert(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert(self._call_if_callable(self._epsilon), name="epsilon")

    def _get_beta_accumulators(self) -> tuple[Variable, Variable]:
        with init_scope():
            first, second = (self._get_non_slot_variable(f"{beta}_power") for beta in ("beta1", "beta2"))
        assert first is not None  # `_create_slots` has made both
        assert second is not None
        return first, second

    def _number(self, argument: str, var: Trained) -> Tensor:
        if argument not in ("beta1_power", "beta2_power"):
            return super()._number(argument, var)
        return cast(self._get_beta_accumulators()[argument == "beta2_power"], var.dtype.base_dtype)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Update:
        def add(slot: Variable, indices: Tensor, values: Tensor) -> Step:
            return scatter_add(slot, indices, values, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, add)

    def _resource_apply_sparse(self, grad: Tensor, handle: BaseResourceVariable, indices: Tensor) -> Update:
        return self._apply_sparse_shared(grad, handle, indices, self._resource_scatter_add)

    def _resource_scatter_add(self, x: Variable, i: Tensor, v: Tensor) -> Step:
        """Adds rows to a slot, and gives it as it is then."""
        assert isinstance(x, BaseResourceVariable)
        with control_dependencies([emit_operation("ResourceScatterAdd", x.handle, i, v)]):
            return x.value()

    def _apply_sparse_shared(self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: AddRows) -> Operation:
        """All rows decay and move, those with a gradient by it as well: what Adam on a dense gradient would do."""
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power = (cast(power, dtype) for power in self._get_beta_accumulators())
        lr_t, beta1_t = cast(self._lr_t, dtype), cast(self._beta1_t, dtype)
        beta2_t, epsilon_t = cast(self._beta2_t, dtype), cast(self._epsilon_t, dtype)
        rate = lr_t * sqrt(1 - beta2_power) / (1 - beta1_power)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        assert isinstance(m, Variable)
        assert isinstance(v, Variable)
        scaled = grad * (1 - beta1_t)
        m_t = assign(m, m * beta1_t, use_locking=self._use_locking)
        with control_dependencies([m_t]):
            m_t = scatter_add(m, indices, scaled)
        scaled = grad * grad * (1 - beta2_t)
        v_t = assign(v, v * beta2_t, use_locking=self._use_locking)
        with control_dependencies([v_t]):
            v_t = scatter_add(v, indices, scaled)
        root = sqrt(v_t)
        update = assign_sub(var, rate * m_t / (root + epsilon_t), use_locking=self._use_locking)
        return group(update, m_t, v_t)

    def _finish(self, update_ops: list[Update], name_scope: str) -> Operation:
        with control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with colocate_with(beta1_power):
                first = beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking)
                second = beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking)
        return group(*update_ops, first, second, name=name_scope)


__all__ = [
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
]
