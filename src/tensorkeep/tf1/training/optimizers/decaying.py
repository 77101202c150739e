"""DeepRec's optimizers: Adagrad with a decaying accumulator, Adam with weight decay, Adam for asynchronous training.

They train embedding variables by ops of their own, and other variables by a step written with TensorFlow's: a dense
gradient changes all rows, slices change the rows that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, ClassVar, TypeAlias

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import colocate_with, control_dependencies
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import sizes_of
from tensorkeep.tf1.functions.arrays.shapes import identity, ones_like, reshape, size, stack, where
from tensorkeep.tf1.functions.arrays.slicing import gather, gather_nd
from tensorkeep.tf1.functions.control.grouping import group, no_op
from tensorkeep.tf1.functions.numbers.elementwise import cast, floordiv, maximum, mod, sqrt
from tensorkeep.tf1.training.optimizers.base import Number, RuleOptimizer, Trained
from tensorkeep.tf1.training.optimizers.slots import create_shared_slot
from tensorkeep.tf1.training.optimizers.standard import AdamOptimizer
from tensorkeep.tf1.variables.creation import is_embedding_variable, is_resource_variable
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.hash_tables.table import is_hash_table
from tensorkeep.tf1.variables.initializers import Constant, Zeros
from tensorkeep.tf1.variables.reference import RefVariable
from tensorkeep.tf1.variables.resource import BaseResourceVariable

Stepped: TypeAlias = tuple[Sequence[Any], Callable[[], list[Any]]]
"""The rows of a variable and its slots after a step, and what makes the operations that change something else."""


class RowOptimizer(RuleOptimizer):
    """An optimizer whose step is written once, for whole variables and for some of their rows."""

    _row_slots: ClassVar[tuple[str, ...]]
    """The slots that have a row for each row of a variable."""

    def _step(self, rows: Sequence[Any], grad: Tensor, var: Any, indices: Tensor | None) -> Stepped:
        """A step on the rows that `indices` name, or on all."""
        raise NotImplementedError

    def _changed(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        places = [var, *(self.get_slot(var, name) for name in self._row_slots)]
        if indices is None:
            rows = [place.read_value() if is_resource_variable(place) else identity(place) for place in places]
        else:
            rows = [gather(place, indices) for place in places]
        with control_dependencies(rows):
            changed, others = self._step(rows, grad, var, indices)
        with control_dependencies(list(changed)):
            if indices is None:
                updates = [place.assign(value) for place, value in zip(places, changed, strict=True)]
            else:
                slices = [IndexedSlices(value, indices) for value in changed]
                updates = [place.scatter_update(value) for place, value in zip(places, slices, strict=True)]
            updates += others()
        return group(*updates)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._changed(grad, var, None)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        return self._changed(grad, handle, None)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._changed(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        return self._changed(grad, handle, indices)


class AdagradDecayOptimizer(RowOptimizer):
    """Adagrad whose accumulator decays by a rate every so many steps, and not below where it began.

    How often it has decayed is the slot `accumulator_decay_power`, of the global step's type, and of the variable's
    shape as DeepRec has it, which uses few of its elements: the first for a dense gradient; for slices the one that
    comes n-th, if all are counted through, for row n; and the first of each row of an embedding variable.
    """

    _rule = "AdagradDecay"
    _row_slots = ("accumulator",)
    _slot_arguments = {"accum": "accumulator", "accum_decay_power": "accumulator_decay_power"}  # noqa: RUF012
    _number_arguments = {"lr": "_learning_rate_tensor", "decay_rate": "_rate", "baseline": "_baseline"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number,
        global_step: Step | int,
        initial_accumulator_value: float = 0.1,
        accumulator_decay_step: int = 100000,
        accumulator_decay_rate: float = 0.9,
        use_locking: bool = False,
        name: str = "AdagradDecay",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise InvalidArgumentError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        if accumulator_decay_step <= 0:
            raise InvalidArgumentError(f"accumulator_decay_step must be positive: {accumulator_decay_step}")
        if not 0.0 < accumulator_decay_rate < 1.0:
            raise InvalidArgumentError(f"accumulator_decay_rate must be in (0.0, 1.0): {accumulator_decay_rate}")
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step if hasattr(global_step, "dtype") else convert(global_step, INT64)
        self._initial_accumulator_value = initial_accumulator_value
        self._decay_step = accumulator_decay_step
        self._decay_rate = accumulator_decay_rate

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        step_dtype = self._global_step.dtype.base_dtype
        for var in var_list:
            dtype, shape = var.dtype.base_dtype, var.get_shape()
            begin = Constant(self._initial_accumulator_value, dtype=dtype)
            self._get_or_make_slot_with_initializer(var, begin, shape, dtype, "accumulator", self._name)
            zero, power_shape = Zeros(dtype=step_dtype), self._power_shape(var)
            self._get_or_make_slot_with_initializer(
                var, zero, power_shape, step_dtype, "accumulator_decay_power", self._name
            )

    def _power_shape(self, var: Any) -> Any:
        return var.get_shape()

    def _prepare(self) -> None:
        self._learning_rate_tensor = convert(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._rate = convert(self._decay_rate, name="accumulator_decay_rate")
        self._baseline = convert(self._initial_accumulator_value, name="accumulator_baseline")
        step_dtype = self._global_step.dtype.base_dtype
        self._decay_step_tensor = convert(self._decay_step, step_dtype, name="accumulator_decay_step")
        # The step that is being taken, counted from 1 (adagrad_decay.py, _prepare).
        self._step_tensor = identity(self._global_step) + 1

    def _number(self, argument: str, var: Trained) -> Tensor:
        return self._decay_step_tensor if argument == "decay_step" else super()._number(argument, var)

    def _embedding_argument(self, argument: str, grad: IndexedSlices, var: Any, counts: Tensor | None) -> Any:
        if argument == "global_step":
            return self._step_tensor
        return super()._embedding_argument(argument, grad, var, counts)

    def _changed(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        return no_op() if var.get_shape().num_elements() == 0 else super()._changed(grad, var, indices)

    def _step(self, rows: Sequence[Any], grad: Tensor, var: Any, indices: Tensor | None) -> Stepped:
        value, accum = rows
        powers = self.get_slot(var, "accumulator_decay_power")
        assert isinstance(powers, RefVariable | BaseResourceVariable)  # tables by key have ops of their own
        places = _places_of_powers(sizes_of(powers.get_shape()), indices)
        read = powers.read_value() if places is None else gather_nd(powers, places)
        is_due = floordiv(self._step_tensor, self._decay_step_tensor) > read
        decayed = maximum(accum * self._number("decay_rate", var), self._number("baseline", var))
        accum = where(reshape(is_due, []) if indices is None else is_due, decayed, accum) + grad * grad
        value = value - grad * self._number("lr", var) / sqrt(accum)
        more = cast(is_due, powers.dtype.base_dtype)

        def note() -> list[Any]:
            return [powers.assign_add(more) if places is None else powers.scatter_nd_add(places, more)]

        return (value, accum), note


def _places_of_powers(shape: Sequence[int], indices: Tensor | None) -> Any:
    """Where in a slot of that shape it says how often rows have decayed; None if it is a single number.

    DeepRec takes the slot as a vector whose n-th element belongs to row n (training_ali_ops.cc,
    SparseApplyAdagradDecayOp), and for a dense gradient the first (ApplyAdagradDecayOp).
    """
    if not shape:
        return None
    if indices is None:
        return [[0] * len(shape)]
    counted = [floordiv(indices, prod(shape[axis + 1 :])) for axis in range(len(shape))]
    return stack([counted[0], *(mod(counted[axis], shape[axis]) for axis in range(1, len(shape)))], axis=1)


class AdagradDecayOptimizerV2(AdagradDecayOptimizer):
    """AdagradDecayOptimizer with a slot `accumulator_decay_power` that has one number for each row.

    The two have the same default name, as in DeepRec: which of them a checkpoint is of, only the slot's shape tells.
    """

    def _power_shape(self, var: Any) -> Any:
        return [1] if is_embedding_variable(var) else var.get_shape()[:1]


class AdamWOptimizer(AdamOptimizer):
    """Adam, with variables that shrink by a share of themselves at every step, whatever the learning rate."""

    def __init__(
        self,
        weight_decay: Number,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._weight_decay = weight_decay

    def _prepare(self) -> None:
        super()._prepare()
        self._weight_decay_t = convert(self._call_if_callable(self._weight_decay), name="weight_decay")

    def _rule_for(self, var: Trained) -> str:
        return "AdamW" if is_embedding_variable(var) or is_hash_table(var) else "Adam"

    def _number(self, argument: str, var: Trained) -> Tensor:
        if argument == "weight_decay":
            return cast(self._weight_decay_t, var.dtype.base_dtype)
        return super()._number(argument, var)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        with control_dependencies([var.assign_sub(self._number("weight_decay", var) * identity(var))]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        with control_dependencies([handle.assign_sub(self._number("weight_decay", handle) * handle.read_value())]):
            return super()._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        with control_dependencies([self._decayed_rows(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        with control_dependencies([self._decayed_rows(handle, indices)]):
            return super()._resource_apply_sparse(grad, handle, indices)

    def _decayed_rows(self, var: Any, indices: Tensor) -> Any:
        rows = gather(var, indices) * self._number("weight_decay", var)
        return var.scatter_sub(IndexedSlices(rows, indices))


class AdamAsyncOptimizer(RowOptimizer):
    """Adam without anything that variables share: each has powers of the betas of its own.

    With `apply_sparse_rmsprop`, slices are applied by RMSProp with momentum.
    """

    _rule = "AdamAsync"
    _row_slots = ("m", "v")
    _slot_arguments = {  # noqa: RUF012
        "m": "m",
        "v": "v",
        "beta1_power": "beta1_power",
        "beta2_power": "beta2_power",
    }
    _number_arguments = {  # noqa: RUF012
        "lr": "_lr_t",
        "beta1": "_beta1_t",
        "beta2": "_beta2_t",
        "epsilon": "_epsilon_t",
    }
    _flags = {"apply_sparse_rmsprop": "_apply_sparse_rmsprop"}  # noqa: RUF012

    def __init__(
        self,
        learning_rate: Number = 0.001,
        beta1: Number = 0.9,
        beta2: Number = 0.999,
        epsilon: Number = 1e-8,
        use_locking: bool = False,
        apply_sparse_rmsprop: bool = False,
        name: str = "AdamAsync",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon
        self._apply_sparse_rmsprop = apply_sparse_rmsprop

    def _create_slots(self, var_list: Sequence[Trained]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)
            for name, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
                dtype = var.dtype.base_dtype
                first: Any = self._call_if_callable(beta)  # a number, which `Constant` sees to
                begin = Constant(first, dtype=dtype)
                shape = [1] if is_embedding_variable(var) else []  # adam_async.py, _create_slots
                self._slot(var, name, partial(create_shared_slot, var, begin, shape, dtype, self._name))

    def _prepare(self) -> None:
        self._lr_t = convert(self._call_if_callable(self._lr), name="learning_rate")
        self._beta1_t = convert(self._call_if_callable(self._beta1), name="beta1")
        self._beta2_t = convert(self._call_if_callable(self._beta2), name="beta2")
        self._epsilon_t = convert(self._call_if_callable(self._epsilon), name="epsilon")

    def _step(self, rows: Sequence[Any], grad: Tensor, var: Any, indices: Tensor | None) -> Stepped:
        value, m, v = rows
        lr, beta1, beta2, epsilon = (self._number(name, var) for name in ("lr", "beta1", "beta2", "epsilon"))
        v = v * beta2 + grad * grad * (1 - beta2)
        if indices is not None and self._apply_sparse_rmsprop:
            m = m * beta1 + grad * lr / sqrt(v + epsilon)
            return (value - m, m, v), list
        m = m * beta1 + grad * (1 - beta1)
        power1, power2 = (self._power(var, name).value() for name in ("beta1_power", "beta2_power"))
        rate = lr * sqrt(1 - power2) / (1 - power1)
        return (value - m / (sqrt(v) + epsilon) * rate, m, v), partial(self._advanced_powers, var, indices)

    def _power(self, var: Any, name: str) -> Any:
        return self.get_slot(var, name)

    def _advanced_powers(self, var: Any, indices: Tensor | None) -> list[Any]:
        """Slices of no rows are no step (training_ali_ops.cc, SparseApplyAdamAsyncOp)."""
        changes = []
        for name, beta in (("beta1_power", "beta1"), ("beta2_power", "beta2")):
            power, factor = self._power(var, name), self._number(beta, var)
            if indices is not None:
                factor = where(size(indices) > 0, factor, ones_like(factor))
            with colocate_with(power):
                changes.append(power.assign(power.value() * factor))
        return changes
