"""Templates: functions that make variables when they are called first, and use them again ever after.

As TensorFlow's python/ops/template.py has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.tf1.variables.options import CustomGetter
from tensorkeep.tf1.variables.scope import VariableScope, variable_state
from tensorkeep.tf1.variables.scopes import variable_scope


class Template:
    """A function in a variable scope of its own, which is made by the first call or along with the template."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: CustomGetter | None = None,
    ) -> None:
        if name is None:
            raise InvalidArgumentError("name cannot be None.")
        self.name, self.func = name, func
        self._unique_name, self._custom_getter = unique_name, custom_getter
        self._was_called = False
        self.variable_scope: VariableScope | None = None
        if create_scope_now:
            own = unique_name or variable_state(current_graph()).unique_scope_name(name)
            with variable_scope(own, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self.variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.variable_scope is not None:
            with variable_scope(self.variable_scope, reuse=self._was_called):
                return self._called(args, kwargs)
        with variable_scope(self._unique_name, self.name, custom_getter=self._custom_getter) as scope:
            self.variable_scope = scope
            return self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = len(get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES))
        was_called, self._was_called = self._was_called, True
        try:
            result = self.func(*args, **kwargs)
        except BaseException:
            self._was_called = was_called
            raise
        made = get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES)[before:]
        if was_called and made:
            raise InvalidArgumentError(
                "Trainable variable created when calling a template after the first time, perhaps you used "
                f"tf.Variable when you meant tf.get_variable: {made}"
            )
        return result

    @property
    def var_scope(self) -> VariableScope | None:
        return self.variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of the scope, with a slash at its end."""
        if self.variable_scope is None:
            return None
        name = self.variable_scope.name
        return name if not name or name.endswith("/") else f"{name}/"

    def _collected(self, key: str) -> list[Any]:
        return get_collection(current_graph(), key, self.variable_scope_name) if self._was_called else []

    @property
    def variables(self) -> list[Any]:
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        trained = set(map(id, self.trainable_variables))
        return [variable for variable in self.global_variables if id(variable) not in trained]

    @property
    def global_variables(self) -> list[Any]:
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def weights(self) -> list[Any]:
        return self.variables

    @property
    def trainable_weights(self) -> list[Any]:
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Any]:
        return self.non_trainable_variables


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: CustomGetter | None = None,
    **kwargs: object,
) -> Template:
    """A function whose variables are made by the first call and used again by all others."""
    function = partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


__all__ = ["make_template"]
