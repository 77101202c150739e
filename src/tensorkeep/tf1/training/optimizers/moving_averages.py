"""Moving averages of variables: shadows that follow them, named and saved as TensorFlow does.

    shadow -= (1 - decay) * (shadow - variable)

The shadow of "v" is "v/ExponentialMovingAverage". It begins as the variable begins; that of a tensor begins with zeros.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import (
    chosen_name,
    colocate_with,
    current_graph,
    device,
    graph_of,
    init_scope,
    name_scope,
    unique_name,
)
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.scopes import free_name
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import cast, minimum, pow
from tensorkeep.tf1.training.optimizers.slots import create_slot, create_zeros_slot
from tensorkeep.tf1.variables.assignments import assign, assign_sub
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.hash_tables.table import HashTable
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.listing import global_variables, moving_average_variables, trainable_variables
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.scope import get_variable_scope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable, is_variable_initialized

Averaged: TypeAlias = Variable | Tensor
"""What averages are kept of."""

_AVERAGED: Final = (BFLOAT16, FLOAT16, FLOAT32, FLOAT64)
_VARIABLE_OPS: Final = ("Variable", "VariableV2", "VarHandleOp")


def assign_moving_average(
    variable: Variable, value: Averaged, decay: float | Tensor, zero_debias: bool = True, name: str | None = None
) -> Step:
    """Moves a variable towards a value; gives the variable after that.

    With `zero_debias` the variable is taken to have begun with zeros, and what that pulls it down by is made up for:
    two more variables below its name, "biased" and "local_step", keep count.
    """
    graph = graph_of([item for item in (variable, value, decay) if hasattr(item, "graph")])
    with name_scope(chosen_name(name, "AssignMovingAvg"), graph) as scope:
        rate = convert(1.0 - decay, name="decay")
        if rate.dtype is not variable.dtype.base_dtype:
            rate = cast(rate, variable.dtype.base_dtype)
        if zero_debias:
            return _assign_without_bias(variable, value, rate, scope)
        return assign_sub(variable, (variable - value) * rate, name=scope)


def _assign_without_bias(variable: Variable, value: Averaged, rate: Tensor, scope: str) -> Step:
    with variable_scope(variable.op.name), colocate_with(variable):
        biased = _unbiasing_variable("biased", variable.get_shape(), variable.dtype.base_dtype)
        local_step = _unbiasing_variable("local_step", [], variable.dtype.base_dtype)
    moved = assign_sub(biased, (biased - value) * rate)
    counted = local_step.assign_add(1)
    assert not isinstance(counted, Operation)
    factor = 1 - pow(1.0 - rate, counted)
    return assign(variable, moved / factor, name=scope)


def _unbiasing_variable(name: str, shape: ShapeLike, dtype: DType) -> Variable:
    """A variable of zeros in the open scope; where its name is taken and not to be reused, with a number behind it."""
    scope = get_variable_scope()
    taken = set() if scope.reuse else {variable.op.name for variable in scope.global_variables()}
    unique = free_name(f"{scope.name}/{name}", taken).removeprefix(f"{scope.name}/")
    made: Any = get_variable(unique, shape=shape, dtype=dtype, initializer=Zeros(), trainable=False)
    variable: Variable = made  # cut where the scope has a partitioner, which TensorFlow does not mind either
    return variable


def _as_variable(slot: Variable | HashTable) -> Variable:
    assert isinstance(slot, Variable)  # no averages are kept of tables by key
    return slot


class ExponentialMovingAverage:
    """Keeps moving averages of variables and tensors, the older values counting `decay` as much at each update.

    With `num_updates` the decay is `min(decay, (1 + num_updates) / (10 + num_updates))`: averages move faster at first.
    """

    def __init__(
        self,
        decay: float | Tensor,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Averaged, Variable] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, var_list: Iterable[Averaged] | None = None) -> Operation:
        """An operation that moves all shadows; those of variables not met before are made."""
        averaged = trainable_variables() if var_list is None else list(var_list)
        whole = [variable.name for variable in averaged if isinstance(variable, PartitionedVariable)]
        if whole:
            raise WrongTypeError(
                f"averages are kept of the parts of a partitioned variable: pass list(variable), not {', '.join(whole)}"
            )
        wrong = [variable.name for variable in averaged if variable.dtype.base_dtype not in _AVERAGED]
        if wrong:
            raise WrongTypeError(f"The variables must be half, float, or double: {', '.join(wrong)}")
        debiased = {
            variable for variable in averaged if variable not in self._averages and not isinstance(variable, Variable)
        }
        for variable in averaged:
            if variable not in self._averages:
                with init_scope():
                    self._averages[variable] = self._shadow(variable)
        with name_scope(self._name) as scope:
            decay = self._decay_tensor()
            updates = [
                assign_moving_average(
                    self._averages[variable], variable, decay, self._zero_debias and variable in debiased
                )
                for variable in averaged
            ]
            return group(*updates, name=scope)

    def _shadow(self, variable: Averaged) -> Variable:
        if not isinstance(variable, Variable):
            is_variable = variable.op.type in _VARIABLE_OPS
            return _as_variable(create_zeros_slot(variable, self._name, colocate_with_primary=is_variable))
        with device(variable.device):
            initial = cond(is_variable_initialized(variable), variable.read_value, lambda: variable.initial_value)
        shadow = _as_variable(create_slot(variable, initial, self._name))
        add_to_collection(current_graph(), GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
        return shadow

    def _decay_tensor(self) -> Tensor:
        decay = convert(self._decay, FLOAT32, name="decay")
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, FLOAT32, name="num_updates")
        found: Tensor = minimum(decay, (1.0 + count) / (10.0 + count))
        return found

    def average(self, var: Averaged) -> Variable | None:
        """The shadow of a variable, or None if no average of it is kept."""
        return self._averages.get(var)

    def average_name(self, var: Averaged) -> str:
        """The name of the shadow of a variable: the one it has, or the one that `apply` would give it here."""
        shadow = self._averages.get(var)
        if shadow is not None:
            return str(shadow.op.name)
        return unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Iterable[Averaged] | None = None) -> dict[str, Averaged]:
        """What to restore by which name: averaged variables by that of their shadow, all others by their own.

        By default those with an average are the trainable ones, and those that an average was made of.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = dict.fromkeys(moving_avg_variables)
        found = {self.average_name(variable): variable for variable in averaged}
        names = {variable.name for variable in averaged}
        for variable in global_variables():
            if variable.name not in names:
                found.setdefault(variable.op.name, variable)
        return found
