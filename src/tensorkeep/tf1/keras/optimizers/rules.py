"""Gradient descent, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam and Ftrl, as `tf.keras` has them.

Dense updates are the training operations that `tf.train` uses too, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, pow, sqrt, square
from tensorkeep.tf1.keras.backend.settings import epsilon as least_number
from tensorkeep.tf1.keras.optimizers.optimizer import ApplyState, Hyper, OptimizerV2
from tensorkeep.tf1.keras.optimizers.schedules import LearningRateSchedule
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.modes import VariableAggregation

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.optimizers.optimizer import NadamOptions, OptimizerOptions


def _has_momentum(momentum: Any) -> bool:
    """Whether there is one; an error if it is not between zero and one."""
    if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
        raise InvalidArgumentError(f"`momentum` must be between [0, 1]. Received: momentum={momentum}")
    return isinstance(momentum, Tensor) or callable(momentum) or momentum > 0


def _operation(changed: Any) -> Operation:
    found: Operation = changed if isinstance(changed, Operation) else changed.op
    return found


class _Rule(OptimizerV2):
    """An optimizer with a learning rate and a decay, and further numbers: `_hypers`, those of its configuration."""

    _hypers: tuple[str, ...] = ()

    def _set_numbers(self, learning_rate: Any, told: OptimizerOptions, **numbers: Any) -> None:
        self._set_hyper("learning_rate", told.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        for name, value in numbers.items():
            self._set_hyper(name, value)

    def _share(self, var_device: str, var_dtype: DType, apply_state: ApplyState, *names: str) -> dict[str, Tensor]:
        """What updates of a type share: the learning rate, and numbers by name."""
        numbers = apply_state[(var_device, var_dtype)]
        for name in names:
            numbers[name] = identity(self._get_hyper(name, var_dtype))
        return numbers

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        config["learning_rate"] = self._serialize_hyperparameter("learning_rate")
        config["decay"] = self._initial_decay
        config.update({name: self._serialize_hyperparameter(name) for name in self._hypers})
        return config


class SGD(_Rule):
    """Gradient descent, with momentum if it is told."""

    _hypers = ("momentum",)

    def __init__(
        self,
        learning_rate: Hyper = 0.01,
        momentum: Hyper = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        self._momentum = _has_momentum(momentum)
        self._set_numbers(learning_rate, kwargs, momentum=momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list if self._momentum else ():
            self.add_slot(var, "momentum")

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        self._share(var_device, var_dtype, apply_state, "momentum")

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        if not self._momentum:
            values = {"var": var, "alpha": numbers["lr_t"], "delta": grad}
            return self._apply_rule("ResourceApplyGradientDescent", values)
        return self._apply_rule(
            "ResourceApplyKerasMomentum", self._with_momentum(grad, var, numbers), use_nesterov=self.nesterov
        )

    def _with_momentum(self, grad: Tensor, var: Any, numbers: dict[str, Tensor]) -> dict[str, Any]:
        slot = self.get_slot(var, "momentum")
        return {"var": var, "accum": slot, "lr": numbers["lr_t"], "grad": grad, "momentum": numbers["momentum"]}

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, var: Any, indices: Tensor, **kwargs: Any) -> Any:
        if self._momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, var, indices, **kwargs)
        rate = self._numbers_for(var, kwargs.get("apply_state"))["lr_t"]
        return emit_operation("ResourceScatterAdd", var.handle, indices, -grad * rate)

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        values = self._with_momentum(grad, var, self._numbers_for(var, apply_state))
        return self._apply_rule(
            "ResourceSparseApplyKerasMomentum", {**values, "indices": indices}, use_nesterov=self.nesterov
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "nesterov": self.nesterov}


class RMSprop(_Rule):
    """Steps shrink by the root of a moving average of squared gradients; centered, of their variance."""

    _hypers = ("rho", "momentum")
    _defaults_to_zero_step = True

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        rho: Hyper = 0.9,
        momentum: Hyper = 0.0,
        epsilon: float | None = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        self._momentum = _has_momentum(momentum)
        self._set_numbers(learning_rate, kwargs, rho=rho, momentum=momentum)
        self.epsilon = epsilon or least_number()
        self.centered = centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in ("rms", *["momentum"] * self._momentum, *["mg"] * self.centered):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = self._share(var_device, var_dtype, apply_state, "rho", "momentum")
        numbers["neg_lr_t"] = -numbers["lr_t"]
        numbers["epsilon"] = convert(self.epsilon, var_dtype)
        numbers["one_minus_rho"] = 1.0 - numbers["rho"]

    def _by_rule(self, prefix: str, grad: Tensor, var: Any, numbers: dict[str, Tensor], **more: Any) -> Operation:
        values = {"var": var, "ms": self.get_slot(var, "rms"), "mom": self.get_slot(var, "momentum"), "grad": grad}
        if self.centered:
            values["mg"] = self.get_slot(var, "mg")
        values.update(lr=numbers["lr_t"], rho=numbers["rho"], momentum=numbers["momentum"], epsilon=numbers["epsilon"])
        kind = "CenteredRMSProp" if self.centered else "RMSProp"
        return self._apply_rule(f"{prefix}{kind}", {**values, **more})

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        if self._momentum:
            return self._by_rule("ResourceApply", grad, var, numbers)
        rms: Any = self.get_slot(var, "rms")
        spread: Any = assign(rms, numbers["rho"] * rms + numbers["one_minus_rho"] * square(grad))
        if self.centered:
            mg: Any = self.get_slot(var, "mg")
            spread = spread - square(assign(mg, numbers["rho"] * mg + numbers["one_minus_rho"] * grad))
        return _operation(assign(var, var - numbers["lr_t"] * grad / (sqrt(spread) + numbers["epsilon"])))

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        if self._momentum:
            return self._by_rule("ResourceSparseApply", grad, var, numbers, indices=indices)
        rms_t = self._decayed_rows(self.get_slot(var, "rms"), indices, grad * grad, numbers)
        spread, updates = gather(rms_t, indices), [rms_t]
        if self.centered:
            mg_t = self._decayed_rows(self.get_slot(var, "mg"), indices, grad, numbers)
            spread = spread - square(gather(mg_t, indices))
            updates.append(mg_t)
        step = numbers["neg_lr_t"] * grad / (sqrt(spread) + numbers["epsilon"])
        return group(self._resource_scatter_add(var, indices, step), *updates)

    def _decayed_rows(self, slot: Any, indices: Tensor, rows: Tensor, numbers: dict[str, Tensor]) -> Tensor:
        """All of a slot decays; some rows are then added to."""
        scaled = rows * numbers["one_minus_rho"]
        with control_dependencies([_operation(assign(slot, slot * numbers["rho"]))]):
            return self._resource_scatter_add(slot, indices, scaled)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "epsilon": self.epsilon, "centered": self.centered}


class Adagrad(_Rule):
    """Steps shrink by the root of the sum of squared gradients."""

    _defaults_to_zero_step = True

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str = "Adagrad",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise InvalidArgumentError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_numbers(learning_rate, kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or least_number()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            first = Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype)
            self.add_slot(var, "accumulator", first)

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = apply_state[(var_device, var_dtype)]
        numbers["epsilon"] = convert(self.epsilon, var_dtype)

    def _values(self, grad: Tensor, var: Any, apply_state: Any) -> dict[str, Any]:
        numbers = self._numbers_for(var, apply_state)
        slot = self.get_slot(var, "accumulator")
        return {"var": var, "accum": slot, "lr": numbers["lr_t"], "epsilon": numbers["epsilon"], "grad": grad}

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        return self._apply_rule("ResourceApplyAdagradV2", self._values(grad, var, apply_state))

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        values = self._values(grad, var, apply_state)
        return self._apply_rule("ResourceSparseApplyAdagradV2", {**values, "indices": indices})

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "initial_accumulator_value": self._initial_accumulator_value, "epsilon": self.epsilon}


class Adadelta(_Rule):
    """Steps in proportion to the recent size of steps over that of gradients."""

    _hypers = ("rho",)
    _defaults_to_zero_step = True

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        rho: Hyper = 0.95,
        epsilon: float | None = 1e-7,
        name: str = "Adadelta",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_numbers(learning_rate, kwargs, rho=rho)
        self.epsilon = epsilon or least_number()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, name)

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = self._share(var_device, var_dtype, apply_state, "rho")
        numbers["epsilon"] = convert(self.epsilon, var_dtype)

    def _values(self, grad: Tensor, var: Any, apply_state: Any) -> dict[str, Any]:
        numbers = self._numbers_for(var, apply_state)
        return {
            "var": var,
            "accum": self.get_slot(var, "accum_grad"),
            "accum_update": self.get_slot(var, "accum_var"),
            "lr": numbers["lr_t"],
            "rho": numbers["rho"],
            "epsilon": numbers["epsilon"],
            "grad": grad,
        }

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        return self._apply_rule("ResourceApplyAdadelta", self._values(grad, var, apply_state))

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        values = self._values(grad, var, apply_state)
        return self._apply_rule("ResourceSparseApplyAdadelta", {**values, "indices": indices})

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "epsilon": self.epsilon}


class _Moments(_Rule):
    """An optimizer with moving averages of gradients and of their squares."""

    _hypers = ("beta_1", "beta_2")

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def _values(self, grad: Tensor, var: Any, numbers: dict[str, Tensor]) -> dict[str, Any]:
        return {
            "var": var,
            "m": self.get_slot(var, "m"),
            "v": self.get_slot(var, "v"),
            "beta1_power": numbers["beta_1_power"],
            "lr": numbers["lr_t"],
            "beta1": numbers["beta_1_t"],
            "beta2": numbers["beta_2_t"],
            "epsilon": numbers["epsilon"],
            "grad": grad,
        }

    def _averaged_rows(self, slot: Any, indices: Tensor, rows: Tensor, rate: Tensor, rest: Tensor) -> Tensor:
        """All of a slot decays; some rows are then added to."""
        scaled = rows * rest
        with control_dependencies([_operation(assign(slot, slot * rate))]):
            return self._resource_scatter_add(slot, indices, scaled)


class Adam(_Moments):
    """Steps along a moving average of gradients, over the root of one of their squares, or of its maximum."""

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        beta_1: Hyper = 0.9,
        beta_2: Hyper = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_numbers(learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or least_number()
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        super()._create_slots(var_list)
        for var in var_list if self.amsgrad else ():
            self.add_slot(var, "vhat")

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = apply_state[(var_device, var_dtype)]
        step = cast(self.iterations + 1, var_dtype)
        first, second = (identity(self._get_hyper(name, var_dtype)) for name in ("beta_1", "beta_2"))
        first_power, second_power = pow(first, step), pow(second, step)
        numbers.update(
            lr=numbers["lr_t"] * (sqrt(1 - second_power) / (1 - first_power)),
            epsilon=convert(self.epsilon, var_dtype),
            beta_1_t=first,
            beta_1_power=first_power,
            one_minus_beta_1_t=1 - first,
            beta_2_t=second,
            beta_2_power=second_power,
            one_minus_beta_2_t=1 - second,
        )

    def set_weights(self, weights: Sequence[Any]) -> None:
        mine, given = self.weights, list(weights)
        count = (len(mine) - 1) // 2
        if len(given) == 3 * count + 1:  # of Keras's own optimizer, which keeps the maxima whether it uses them or not
            given = given[: len(mine)]
        super().set_weights(given)

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        values = {**self._values(grad, var, numbers), "beta2_power": numbers["beta_2_power"]}
        if not self.amsgrad:
            return self._apply_rule("ResourceApplyAdam", values)
        return self._apply_rule("ResourceApplyAdamWithAmsgrad", {**values, "vhat": self.get_slot(var, "vhat")})

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = self._averaged_rows(m, indices, grad, numbers["beta_1_t"], numbers["one_minus_beta_1_t"])
        v_t = self._averaged_rows(v, indices, grad * grad, numbers["beta_2_t"], numbers["one_minus_beta_2_t"])
        updates: list[Any] = [m_t, v_t]
        spread: Any = v_t
        if self.amsgrad:
            vhat: Any = self.get_slot(var, "vhat")
            with control_dependencies([v_t]):
                spread = assign(vhat, maximum(vhat, v_t))
            updates.append(_operation(spread))
        step = numbers["lr"] * m_t / (sqrt(spread) + numbers["epsilon"])
        return group(_operation(var.assign_sub(step)), *updates)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "epsilon": self.epsilon, "amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Adam with the largest gradient in the place of the root of squares."""

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        beta_1: Hyper = 0.9,
        beta_2: Hyper = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adamax",
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_numbers(learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or least_number()

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = apply_state[(var_device, var_dtype)]
        step = cast(self.iterations + 1, var_dtype)
        first, second = (identity(self._get_hyper(name, var_dtype)) for name in ("beta_1", "beta_2"))
        power = pow(first, step)
        numbers.update(
            neg_scaled_lr=-numbers["lr_t"] / (1 - power),
            epsilon=convert(self.epsilon, var_dtype),
            beta_1_t=first,
            beta_1_power=power,
            one_minus_beta_1_t=1 - first,
            beta_2_t=second,
        )

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        values = self._values(grad, var, self._numbers_for(var, apply_state))
        return self._apply_rule("ResourceApplyAdaMax", values)

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        average = gather(m, indices) * numbers["beta_1_t"] + grad * numbers["one_minus_beta_1_t"]
        with control_dependencies([average]):
            m_t = self._resource_scatter_update(m, indices, average)
        largest = maximum(gather(v, indices) * numbers["beta_2_t"], absolute(grad))
        with control_dependencies([largest]):
            v_t = self._resource_scatter_update(v, indices, largest)
        step = numbers["neg_scaled_lr"] * (average / (largest + numbers["epsilon"]))
        with control_dependencies([step]):
            return group(self._resource_scatter_add(var, indices, step), m_t, v_t)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "epsilon": self.epsilon}


class Nadam(_Moments):
    """Adam that looks ahead along its moving average, as Nesterov's momentum does."""

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        beta_1: Hyper = 0.9,
        beta_2: Hyper = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Nadam",
        **kwargs: Unpack[NadamOptions],
    ) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise InvalidArgumentError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate."
            )
        super().__init__(name, **dict[str, Any](kwargs))
        self._set_numbers(learning_rate, kwargs, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or least_number()
        self._m_cache: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache",
                shape=[],
                dtype=var_list[0].dtype.base_dtype,
                initializer="ones",
                trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list: Sequence[Any]) -> Any:
        self._m_cache_read = identity(self._m_cache)
        return super()._prepare(var_list)

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        rate = identity(self._get_hyper("learning_rate", var_dtype))
        first, second = (identity(self._get_hyper(name, var_dtype)) for name in ("beta_1", "beta_2"))
        step, following = cast(self.iterations + 1, var_dtype), cast(self.iterations + 2, var_dtype)
        base = cast(convert(0.96), var_dtype)
        m_t, m_t_1 = (first * (1.0 - 0.5 * pow(base, self._initial_decay * at)) for at in (step, following))
        product = cast(self._m_cache_read, var_dtype) * m_t
        if var_dtype is self._m_cache.dtype.base_dtype:
            product = identity(assign(self._m_cache, product))
        apply_state[(var_device, var_dtype)] = {
            "lr_t": rate,
            "neg_lr_t": -rate,
            "epsilon": convert(self.epsilon, var_dtype),
            "beta_1_t": first,
            "beta_2_t": second,
            "m_t": m_t,
            "m_t_1": m_t_1,
            "one_minus_beta_1_t": 1 - first,
            "one_minus_beta_2_t": 1 - second,
            "one_minus_m_t": 1.0 - m_t,
            "one_minus_m_schedule_new": 1.0 - product,
            "one_minus_m_schedule_next": 1.0 - product * m_t_1,
            "v_t_prime_denominator": 1.0 - pow(second, step),
        }

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t: Any = assign(m, numbers["beta_1_t"] * m + numbers["one_minus_beta_1_t"] * grad)
        v_t: Any = assign(v, numbers["beta_2_t"] * v + numbers["one_minus_beta_2_t"] * square(grad))
        step = numbers["lr_t"] * self._ahead(grad, m_t, numbers) / self._root(v_t, numbers)
        return _operation(assign(var, var - step))

    def _ahead(self, grad: Tensor, average: Any, numbers: dict[str, Tensor]) -> Tensor:
        now = grad / numbers["one_minus_m_schedule_new"]
        after = average / numbers["one_minus_m_schedule_next"]
        result: Tensor = numbers["one_minus_m_t"] * now + numbers["m_t_1"] * after
        return result

    def _root(self, squares: Any, numbers: dict[str, Tensor]) -> Tensor:
        return sqrt(squares / numbers["v_t_prime_denominator"]) + numbers["epsilon"]

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_t = self._averaged_rows(m, indices, grad, numbers["beta_1_t"], numbers["one_minus_beta_1_t"])
        v_t = self._averaged_rows(v, indices, grad * grad, numbers["beta_2_t"], numbers["one_minus_beta_2_t"])
        ahead, root = self._ahead(grad, gather(m_t, indices), numbers), self._root(gather(v_t, indices), numbers)
        return group(self._resource_scatter_add(var, indices, numbers["neg_lr_t"] * ahead / root), ahead, v_t)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "epsilon": self.epsilon}


class Ftrl(_Rule):
    """Follow the regularized leader: sparse models with l1, l2 and shrinkage."""

    _hypers = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")

    def __init__(
        self,
        learning_rate: Hyper = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(name, **kwargs)
        least = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for what, value in least.items():
            if value < 0.0:
                raise InvalidArgumentError(f"{what} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise InvalidArgumentError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._set_numbers(
            learning_rate,
            kwargs,
            learning_rate_power=learning_rate_power,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self.add_slot(var, "accumulator", Constant(self._initial_accumulator_value, dtype=var.dtype.base_dtype))
            self.add_slot(var, "linear")

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        numbers = self._share(var_device, var_dtype, apply_state, *self._hypers)
        numbers["l2_shrinkage"] = cast(convert(self._l2_shrinkage_regularization_strength), var_dtype)

    def _by_rule(self, prefix: str, grad: Tensor, var: Any, apply_state: Any, **more: Any) -> Operation:
        numbers = self._numbers_for(var, apply_state)
        values: dict[str, Any] = {
            "var": var,
            "accum": self.get_slot(var, "accumulator"),
            "linear": self.get_slot(var, "linear"),
            "grad": grad,
            "lr": numbers["lr_t"],
            "l1": numbers["l1_regularization_strength"],
            "l2": numbers["l2_regularization_strength"],
            "l2_shrinkage": numbers["l2_shrinkage"],
            "lr_power": numbers["learning_rate_power"],
        }
        kind = "Ftrl" if self._l2_shrinkage_regularization_strength <= 0.0 else "FtrlV2"
        return self._apply_rule(f"{prefix}{kind}", {**values, **more})

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Operation:
        return self._by_rule("ResourceApply", grad, var, apply_state)

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Operation:
        return self._by_rule("ResourceSparseApply", grad, var, apply_state, indices=indices)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "initial_accumulator_value": self._initial_accumulator_value,
            "l2_shrinkage_regularization_strength": self._l2_shrinkage_regularization_strength,
        }
