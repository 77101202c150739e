"""Modules: objects that hold variables and other modules, and a name scope for what they compute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, ClassVar, Final, TypeVar

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.training.objects.trackable import AutoTrackable
from tensorkeep.tf1.variables.variable import Variable

_HUMP: Final = re.compile(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")

Method = TypeVar("Method", bound=Callable[..., Any])


class Module(AutoTrackable):
    """A named container of variables and other modules, which are whatever its attributes hold."""

    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _HUMP.sub(r"_\1", type(self).__name__).lower()
        elif not _NAME.fullmatch(name):
            raise InvalidArgumentError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        self._scope_name = _new_scope(name)

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> AbstractContextManager[str]:
        """The name scope of the module, to be entered by `with`."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of the module, by the names of the attributes, then those of the modules in it."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in this one, and in them, and so on."""
        return tuple(self._flatten(predicate=lambda leaf: isinstance(leaf, Module)))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None) -> Iterator[Any]:
        """What the attributes hold, each thing once, in the order of their names."""
        yield from _leaves(self, recursive, predicate or (lambda leaf: True), {id(self)})

    @classmethod
    def with_name_scope(cls, method: Method) -> Method:
        """Has a method enter the name scope of its module."""

        @wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped  # type: ignore[return-value]


def _new_scope(name: str) -> str:
    try:
        with name_scope(name) as scope:
            return scope
    except FailedPreconditionError:  # no graph is being built: there are no names to keep apart
        return f"{name}/"


def _leaves(module: Module, recursive: bool, predicate: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    inner: list[Module] = []
    hidden = module._TF_MODULE_IGNORED_PROPERTIES | {"_checkpoint_dependencies"}
    for name, value in sorted(vars(module).items()):
        for leaf in () if name in hidden else flatten(value):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if predicate(leaf):
                yield leaf
            if recursive and isinstance(leaf, Module):
                inner.append(leaf)
    for found in inner:
        yield from _leaves(found, recursive, predicate, seen)
