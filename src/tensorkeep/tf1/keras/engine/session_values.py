"""Values of variables in the session in force, which initializes those that have none yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.keras.surroundings import SessionInForce, surroundings
from tensorkeep.tf1.variables.variable import Variable, is_variable_initialized

_STATE: Final = object()  # the key of what is kept for a graph, in `graph.extras`


class _Kept:
    """What a graph has for Keras: placeholders that give variables values, and which variables have one."""

    def __init__(self) -> None:
        self.assignments: dict[int, tuple[Any, Any, Any]] = {}
        self.checks: dict[int, Any] = {}
        self.uncollected: list[Any] = []
        self.initialized: WeakKeyDictionary[Any, set[int]] = WeakKeyDictionary()


def _kept_values(graph: Graph) -> _Kept:
    found: _Kept | None = graph.extras.get(_STATE)
    if found is None:
        found = graph.extras[_STATE] = _Kept()
    return found


def track_variable(variable: Variable) -> None:
    """Has a variable that is in no collection initialized with the others."""
    _kept_values(variable.graph).uncollected.append(variable)


def initialized_session() -> SessionInForce:
    """The session in force for the graph being built, all of whose variables have values.

    Those that have one already, because the program gave it to them, are left as they are.
    """
    session = surroundings().session()
    graph = session.graph
    kept = _kept_values(graph)
    known = kept.initialized.setdefault(session, set())
    variables = [*get_collection(graph, GraphKeys.GLOBAL_VARIABLES), *get_collection(graph, GraphKeys.LOCAL_VARIABLES)]
    variables += kept.uncollected
    new = [item for item in variables if id(item) not in known and isinstance(item, Variable)]
    if new:
        with building(graph):
            checks = [_check(kept, item) for item in new]
        has_value = session.run(checks)
        wanting = [item.initializer for item, is_set in zip(new, has_value, strict=True) if not is_set]
        if wanting:
            session.run(wanting)
        known.update(id(item) for item in new)
    return session


def _check(kept: _Kept, variable: Any) -> Any:
    if id(variable) not in kept.checks:
        kept.checks[id(variable)] = is_variable_initialized(variable)
    return kept.checks[id(variable)]


def have_values(variables: Sequence[Any]) -> bool:
    """Whether some of the variables have a value in the session in force."""
    if not variables:
        return False
    graph = variables[0].graph
    with building(graph):
        session = surroundings().session()
        return any(session.run([_check(_kept_values(graph), item) for item in variables]))


def batch_get_value(variables: Sequence[Any]) -> list[Array]:
    """The values of variables as arrays, in the session in force."""
    if not variables:
        return []
    with building(variables[0].graph):
        values: list[Array] = initialized_session().run(list(variables))
    return values


def batch_set_value(pairs: Iterable[tuple[Any, Any]]) -> None:
    """Gives variables values, from pairs of a variable and its value, in the session in force."""
    wanted = list(pairs)
    if not wanted:
        return
    graph = wanted[0][0].graph if hasattr(wanted[0][0], "graph") else current_graph()
    with building(graph):
        operations, feeds = [], {}
        for variable, value in wanted:
            place, operation = _assignment(graph, variable)
            operations.append(operation)
            feeds[place] = np.asarray(value, dtype=variable.dtype.base_dtype.as_numpy_dtype)
        initialized_session().run(operations, feed_dict=feeds)


def _assignment(graph: Graph, variable: Any) -> tuple[Any, Any]:
    kept = _kept_values(graph).assignments
    if id(variable) not in kept:
        place = placeholder(variable.dtype.base_dtype, shape=[None] * variable.get_shape().rank)
        kept[id(variable)] = (variable, place, variable.assign(place).op)
    return kept[id(variable)][1:]
