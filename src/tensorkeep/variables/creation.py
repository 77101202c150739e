"""Which kind of variable `Variable(...)` makes."""

from __future__ import annotations

from typing import Any

from tensorkeep.variables.reference import RefVariable
from tensorkeep.variables.resource import BaseResourceVariable, ResourceVariable
from tensorkeep.variables.scope import variable_state
from tensorkeep.variables.variable import CREATE, Variable


def create_variable(*, use_resource: bool | None = None, expected_shape: Any = None, **arguments: Any) -> Variable:
    """Makes a resource variable if told so by the program, the scope, or else the graph; if not, a reference."""
    state = variable_state()
    if use_resource is None:
        use_resource = state.scope.use_resource
    if use_resource is None:
        use_resource = state.use_resource
    return ResourceVariable(**arguments) if use_resource else RefVariable(**arguments)


def is_resource_variable(value: Any) -> bool:
    return isinstance(value, BaseResourceVariable)


CREATE.append(create_variable)
