"""Which kind of variable `Variable(...)` makes."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.building import current_graph
from tensorkeep.graph.scopes import prepend_name_scope
from tensorkeep.proto.messages import VariableDef
from tensorkeep.tf1.variables.embedding_variables.handle import HANDLE, EmbeddingVariable
from tensorkeep.tf1.variables.options import VariableArguments
from tensorkeep.tf1.variables.reference import RefVariable
from tensorkeep.tf1.variables.resource import BaseResourceVariable, ResourceVariable
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.variable import CREATE, Variable


def create_variable(**arguments: Any) -> Variable:
    """Makes a resource variable if told so by the program, the scope, or else the graph; if not, a reference.

    The arguments are those of `tf.Variable`; creators of variables pass them on by name.
    """
    given = VariableArguments(**arguments)
    if _describes_embedding(given.variable_def, given.import_scope):
        return EmbeddingVariable(
            variable_def=given.variable_def, import_scope=given.import_scope, constraint=given.constraint
        )
    state = variable_state()
    use_resource = given.use_resource
    if use_resource is None:
        use_resource = state.scope.use_resource
    if use_resource is None:
        use_resource = state.use_resource
    return ResourceVariable(given) if use_resource else RefVariable(given)


def _describes_embedding(proto: VariableDef | None, import_scope: str | None) -> bool:
    """Whether what a VariableDef describes is an embedding variable: the graph tells, by the handle."""
    if proto is None or not proto.is_resource:
        return False
    name = prepend_name_scope(proto.variable_name, import_scope).partition(":")[0]
    graph = current_graph()
    return name in graph and graph.operation(name).type == HANDLE


def is_embedding_variable(value: object) -> bool:
    return isinstance(value, EmbeddingVariable)


def is_resource_variable(value: object) -> bool:
    return isinstance(value, BaseResourceVariable)


CREATE.append(create_variable)
