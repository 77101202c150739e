"""What `variables` and `variable_scope` of TensorFlow have besides the names of `tf`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.tf1.variables.listing import global_variables
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.store import VariableStore
from tensorkeep.tf1.variables.variable import Variable

VariableV1 = Variable


def variable(initial_value: InitializerLike = None, *args: Any, **kwargs: Any) -> Variable:
    """`tf.Variable`, as a function."""
    return Variable(initial_value, *args, **kwargs)


def default_variable_creator(next_creator: Callable[..., Any] | None = None, **kwargs: Any) -> Variable:
    """Makes a variable as `tf.Variable` does where no `variable_creator_scope` is in force."""
    return Variable(**kwargs)


class EagerVariableStore:
    """Keeps the variables that `get_variable` makes inside `as_default`, as a program for two modes has it."""

    def __init__(self, store: VariableStore | None = None) -> None:
        self._held: list[Any] = []

    @contextmanager
    def as_default(self) -> Iterator[None]:
        before = set(map(id, global_variables()))
        yield
        self._held += [variable for variable in global_variables() if id(variable) not in before]

    def variables(self) -> list[Any]:
        """All variables that were made, sorted by name."""
        return sorted(self._held, key=lambda variable: str(variable.name))

    def trainable_variables(self) -> list[Any]:
        """The variables that were made and are trained, sorted by name."""
        trained = set(map(id, _collection(GraphKeys.TRAINABLE_VARIABLES)))
        return [variable for variable in self.variables() if id(variable) in trained]

    def non_trainable_variables(self) -> list[Any]:
        """The variables that were made and are not trained, sorted by name."""
        trained = set(map(id, self.trainable_variables()))
        return [variable for variable in self.variables() if id(variable) not in trained]


def _collection(key: str) -> list[Any]:
    return get_collection(current_graph(), key)
