"""What all optimizers of Keras share: numbers that are variables, slots, and gradients that are clipped.

An optimizer says what numbers it has (`_set_hyper`), which slots (`_create_slots`), what it computes once for all
variables of a type (`_prepare_local`), and how it changes a variable (`_resource_apply_dense`,
`_resource_apply_sparse`). These are the names that programs override.

Variables are named as TensorFlow names them: `Adam/iter`, `Adam/beta_1`, and the slot `m` of `dense/kernel` is
`Adam/dense/kernel/m`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypedDict

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT16, FLOAT32, FLOAT64, INT64, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit_operation
from tensorkeep.graph.building import building, colocate_with, control_dependencies, device, init_scope, name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.numbers.clipping import clip_by_norm, clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras import initializers
from tensorkeep.tf1.keras.backend.settings import chosen_dtype
from tensorkeep.tf1.keras.engine.session_values import batch_get_value, batch_set_value
from tensorkeep.tf1.keras.optimizers import schedules
from tensorkeep.tf1.keras.optimizers.schedules import LearningRateSchedule
from tensorkeep.tf1.training.optimizers.base import FailedConstraintError, VarList, sum_equal_indices
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.resource import BaseResourceVariable
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

Gradient: TypeAlias = Tensor | IndexedSlices
ApplyState: TypeAlias = "dict[tuple[str, DType], dict[str, Tensor]]"
"""By device and type of variables, the numbers that their updates share."""
Hyper: TypeAlias = "TensorLike | Callable[[], TensorLike] | LearningRateSchedule"
"""A number of an optimizer, a function that gives it, or how it changes with the step."""


class OptimizerOptions(TypedDict, total=False):
    """What any optimizer may be told besides its own arguments; `lr` is an older name of the learning rate."""

    clipnorm: float | None
    clipvalue: float | None
    lr: Hyper
    decay: float


class NadamOptions(OptimizerOptions, total=False):
    """What Nadam may be told besides."""

    schedule_decay: float


class OptimizerV2:
    """An optimizer; see the module for what to override."""

    _defaults_to_zero_step: ClassVar[bool] = False  # whether weights without the step are welcome

    def __init__(self, name: str, **kwargs: Unpack[OptimizerOptions]) -> None:
        allowed = {"clipnorm", "clipvalue", "lr", "decay"}
        if unknown := sorted(set(kwargs) - allowed):
            raise WrongTypeError(f"Unexpected keyword argument passed to optimizer: {unknown[0]}")
        numbers: dict[str, Any] = {**kwargs}
        for key, value in numbers.items():
            if value is not None and value < 0:
                raise InvalidArgumentError(f"Expected {key} >= 0, received: {value}")
        self._use_locking = True
        self._name = name
        self._hyper: dict[str, Any] = {}
        self._slots: dict[int, dict[str, Variable]] = {}
        self._slotted: dict[int, Any] = {}
        self._slot_names: list[str] = []
        self._weights: list[Any] = []
        self._named_weights: dict[str, Any] = {}
        self._iterations: Any = None
        decay = kwargs.pop("decay", 0.0)
        if decay < 0.0:
            raise InvalidArgumentError(f"decay cannot be less than 0: {decay}")
        self._initial_decay = decay
        self.clipnorm = kwargs.pop("clipnorm", None)
        self.clipvalue = kwargs.pop("clipvalue", None)
        self._hypers_created = False

    # ------------------------------------------------------------------------------------------ the two halves

    def minimize(
        self,
        loss: Tensor | Callable[[], Tensor],
        var_list: VarList | Callable[[], VarList],
        grad_loss: Tensor | None = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that takes one step towards a smaller loss, a tensor or a function that gives it."""
        value = loss() if callable(loss) else loss
        variables = flatten(var_list() if callable(var_list) else var_list)
        with building(value.graph), name_scope(f"{self._name}/gradients"):
            found = self._clip_gradients(gradients(value, _targets(variables), grad_ys=grad_loss))
        pairs = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes([variable for gradient, variable in pairs if gradient is not None])
        return self.apply_gradients(pairs, name=name)

    def get_gradients(self, loss: Tensor, params: Sequence[Any]) -> list[Any]:
        """The gradients of a loss, clipped; each variable has one."""
        variables = flatten(params)
        with building(loss.graph), name_scope(f"{self._name}/gradients"):
            found = gradients(loss, _targets(variables))
            for gradient, variable in zip(found, variables, strict=True):
                if gradient is None:
                    raise InvalidArgumentError(
                        f"Variable {variable} has `None` for gradient. Please make sure that all of your ops have a "
                        "gradient defined (i.e. are differentiable). Common ops without gradient: K.argmax, K.round, "
                        "K.eval."
                    )
            return self._clip_gradients(found)

    def _clip_gradients(self, grads: Sequence[Any]) -> list[Any]:
        found = list(grads)
        if self.clipnorm is not None:
            found = [None if item is None else clip_by_norm(item, self.clipnorm) for item in found]
        if self.clipvalue is not None:
            found = [None if item is None else clip_by_value(item, -self.clipvalue, self.clipvalue) for item in found]
        return found

    def get_updates(self, loss: Tensor, params: Sequence[Variable]) -> list[Operation]:
        """The operations of one step."""
        pairs = list(zip(self.get_gradients(loss, params), params, strict=True))
        self._assert_valid_dtypes([variable for _, variable in pairs])
        return [self.apply_gradients(pairs)]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], name: str | None = None) -> Operation:
        """An operation that applies gradients to variables, and then counts the step."""
        pairs = _with_gradients(list(grads_and_vars))
        if not pairs:
            return no_op()
        variables = [variable for _, variable in pairs]
        with building(variables[0].graph), name_scope(self._name):
            with init_scope():
                _ = self.iterations
                self._create_hypers()
                self._create_slots(variables)
            state = self._prepare(variables)
            with name_scope(name or self._name):
                updates = [self._update(gradient, variable, state) for gradient, variable in pairs]
                with control_dependencies(updates):
                    counted = self.iterations.assign_add(1)
            return counted if isinstance(counted, Operation) else counted.op

    def _update(self, gradient: Gradient, variable: Any, state: Any) -> Any:
        with colocate_with(variable), name_scope(f"update_{variable.op.name}"):
            if isinstance(gradient, IndexedSlices):
                if variable.constraint is not None:
                    raise FailedConstraintError("Cannot use a constraint function on a sparse variable.")
                method = self._resource_apply_sparse_duplicate_indices
                told = _takes_state(self._resource_apply_sparse) and {"apply_state": state}
                return method(gradient.values, variable, gradient.indices, **(told or {}))
            told = _takes_state(self._resource_apply_dense) and {"apply_state": state}
            update = self._resource_apply_dense(gradient, variable, **(told or {}))
            if variable.constraint is None:
                return update
            with control_dependencies([update]):
                return variable.assign(variable.constraint(variable))

    # ------------------------------------------------------------------------------------------ numbers

    def _set_hyper(self, name: str, value: Any) -> None:
        """Gives a number of the optimizer a value; if it is a variable by now, in the session in force."""
        before = self._hyper.get(name)
        if isinstance(before, Variable) and not callable(value) and not isinstance(value, Tensor):
            batch_set_value([(before, value)])
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Any:
        """A number of the optimizer: a variable, a tensor, or a schedule."""
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value):
            value = value()
        return value if dtype is None else cast(value, dtype)

    def _create_hypers(self) -> None:
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, Tensor | Variable) and not callable(value):
                self._hyper[name] = self.add_weight(
                    name,
                    shape=[],
                    trainable=False,
                    initializer=value,
                    aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
                )
        self._hypers_created = True

    def __getattr__(self, name: str) -> Any:
        numbers = self.__dict__.get("_hyper", {})
        found = "learning_rate" if name == "lr" else name
        if found in numbers:
            return self._get_hyper(found)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        found = "learning_rate" if name == "lr" else name
        if found in self.__dict__.get("_hyper", {}):
            self._set_hyper(found, value)
        else:
            object.__setattr__(self, found, value)

    @property
    def iterations(self) -> Variable:
        """How many steps were taken: a variable."""
        if self._iterations is None:
            self._iterations = self.add_weight(
                "iter",
                shape=[],
                dtype=INT64,
                trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self._weights.append(self._iterations)
        steps: Variable = self._iterations
        return steps

    @iterations.setter
    def iterations(self, variable: Step | None) -> None:
        if self._iterations is not None:
            raise FailedPreconditionError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created"
            )
        self._iterations = variable
        self._weights.append(variable)

    def _decayed_lr(self, var_dtype: DTypeLike) -> Tensor:
        """The learning rate at the step, by its schedule and its decay."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = cast(rate(cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = cast(self.iterations, var_dtype)
            rate = rate / (1.0 + cast(convert(self._initial_decay), var_dtype) * step)
        result: Tensor = rate
        return result

    def _prepare(self, var_list: Sequence[Any]) -> Any:
        state: ApplyState = {}
        for key in dict.fromkeys((variable.device, variable.dtype.base_dtype) for variable in var_list):
            state[key] = {}
            with device(key[0]):
                self._prepare_local(key[0], key[1], state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: DType, apply_state: ApplyState) -> None:
        """Computes what the updates of variables of a device and a type share."""
        if "learning_rate" in self._hyper:
            apply_state[(var_device, var_dtype)]["lr_t"] = identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device: str, var_dtype: DType) -> dict[str, Tensor]:
        """The same, where an update was not told it."""
        state: ApplyState = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[(var_device, var_dtype)]

    def _numbers_for(self, variable: Any, apply_state: ApplyState | None) -> dict[str, Tensor]:
        key = (variable.device, variable.dtype.base_dtype)
        return (apply_state or {}).get(key) or self._fallback_apply_state(*key)

    # ------------------------------------------------------------------------------------------ variables

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = "zeros",
        trainable: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Variable:
        """A variable of the optimizer as a whole."""
        kind = chosen_dtype(dtype)
        if synchronization is VariableSynchronization.ON_READ and trainable:
            raise InvalidArgumentError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables."
            )
        value = initializer
        if isinstance(initializer, str) or callable(initializer):
            made = initializers.get(initializer)
            value = lambda: made(shape, dtype=kind)  # noqa: E731 - what makes the value, when it is wanted
        variable = Variable(
            initial_value=value,
            name=name,
            trainable=bool(trainable),
            dtype=kind,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        self._named_weights[name] = variable
        return variable

    def add_slot(self, var: Variable, slot_name: str, initializer: InitializerLike = "zeros") -> Variable:
        """The slot of that name of a variable, made if there is none."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(id(var), {})
        self._slotted[id(var)] = var
        if slot_name not in slots:
            value = initializer
            if isinstance(initializer, str) or callable(initializer):
                made = initializers.get(initializer)
                value = lambda: made(var.get_shape(), dtype=var.dtype.base_dtype)  # noqa: E731 - as above
            with colocate_with(var):
                slots[slot_name] = Variable(
                    initial_value=value,
                    name=f"{var.op.name}/{slot_name}",
                    dtype=var.dtype.base_dtype,
                    trainable=False,
                    use_resource=True,
                )
            self._weights.append(slots[slot_name])
        return slots[slot_name]

    def get_slot(self, var: Variable, slot_name: str) -> Variable:
        """The slot of that name of a variable."""
        return self._slots[id(var)][slot_name]

    def get_slot_names(self) -> list[str]:
        return self._slot_names

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots that updates of these variables need."""

    def _checkpoint_children(self) -> Mapping[str, Any]:
        """What a checkpoint of objects holds of the optimizer itself, by name; slots are found by `get_slot`."""
        return dict(self._named_weights)

    @property
    def weights(self) -> list[Any]:
        """The step and the slots, in the order of their making."""
        return self._weights

    def variables(self) -> list[Any]:
        return self._weights

    def get_weights(self) -> list[Array]:
        """The values of the step and the slots, in the session in force."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives the step and the slots these values, in the order of `weights`, in the session in force."""
        mine, given = self.weights, list(weights)
        if self._defaults_to_zero_step and len(mine) == len(given) + 1:  # of Keras's own optimizers, which count none
            given = [np.array(0), *given]
        if len(mine) != len(given):
            raise InvalidArgumentError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a weight list of length "
                f"{len(given)}, but the optimizer was expecting {len(mine)} weights. Weights are made by the first "
                "training step that is built"
            )
        for variable, value in zip(mine, given, strict=True):
            if tuple(variable.get_shape().as_list()) != np.shape(value):
                raise InvalidArgumentError(
                    f"Optimizer weight shape {tuple(variable.get_shape().as_list())} not compatible with provided "
                    f"weight shape {np.shape(value)} ({variable.name})"
                )
        batch_set_value(list(zip(mine, given, strict=True)))

    # ------------------------------------------------------------------------------------------ configuration

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {"name": self._name}
        if self.clipnorm is not None:
            config["clipnorm"] = self.clipnorm
        if self.clipvalue is not None:
            config["clipvalue"] = self.clipvalue
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None) -> OptimizerV2:
        told = dict(config)
        if "lr" in told:
            told["learning_rate"] = told.pop("lr")
        if isinstance(told.get("learning_rate"), dict):
            told["learning_rate"] = schedules.deserialize(told["learning_rate"], custom_objects)
        return cls(**told)

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        value = self._hyper[hyperparameter_name]
        if isinstance(value, LearningRateSchedule):
            return schedules.serialize(value)
        if callable(value):
            return value()
        if isinstance(value, Variable | Tensor):
            return batch_get_value([value])[0]
        return value

    # ------------------------------------------------------------------------------------------ to override

    def _valid_dtypes(self) -> set[DType]:
        return {FLOAT16, FLOAT32, FLOAT64}

    def _assert_valid_dtypes(self, tensors: Sequence[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise InvalidArgumentError(
                    f"Invalid type {tensor.dtype.base_dtype} for {tensor.name}, expected: {sorted(map(str, valid))}."
                )

    def _resource_apply_dense(self, grad: Tensor, var: Any, apply_state: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no update of a variable by a dense gradient")

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor, apply_state: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no update of a variable by slices")

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, var: Any, indices: Tensor, **kwargs: Any) -> Any:
        values, distinct = sum_equal_indices(grad, indices)
        return self._resource_apply_sparse(values, var, distinct, **kwargs)

    def _resource_scatter_add(self, x: Any, i: Tensor, v: Tensor) -> Tensor:
        """Adds rows to a variable; its value after that."""
        with control_dependencies([emit_operation("ResourceScatterAdd", x.handle, i, v)]):
            value: Tensor = x.value()
            return value

    def _resource_scatter_update(self, x: Any, i: Tensor, v: Tensor) -> Tensor:
        """Replaces rows of a variable; its value after that."""
        with control_dependencies([emit_operation("ResourceScatterUpdate", x.handle, i, v)]):
            value: Tensor = x.value()
            return value

    def _apply_rule(self, op: str, values: Mapping[str, Any], **flags: Any) -> Operation:
        """One operation that updates a variable: its inputs by name, variables among them."""
        inputs = [values[argument.name] for argument in get_op(op).schema.inputs]
        handles = [item.handle if isinstance(item, BaseResourceVariable) else item for item in inputs]
        return emit_operation(op, *handles, use_locking=self._use_locking, **flags)


def _takes_state(method: Callable[..., Any]) -> bool:
    """Whether a method that updates a variable has the parameter `apply_state`; those of older programs lack it."""
    return "apply_state" in signature(method).parameters


def _targets(variables: Sequence[Any]) -> list[Any]:
    for variable in variables:
        if not isinstance(variable, BaseResourceVariable):
            raise WrongTypeError(
                f"Trying to optimize {variable!r}, expected a resource variable: make it in a scope with "
                "use_resource=True, or by a layer of Keras"
            )
    return [variable.handle for variable in variables]


def _with_gradients(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs that have a gradient; an error if none has."""
    if not pairs:
        return []
    found = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
    if not found:
        raise InvalidArgumentError(
            f"No gradients provided for any variable: {[variable.name for _, variable in pairs]}."
        )
    return found


Optimizer = OptimizerV2
