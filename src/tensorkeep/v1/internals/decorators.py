"""Decorators that TensorFlow puts around its functions, and programs around theirs: they change nothing but words."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Final, ParamSpec, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Given = TypeVar("Given")
Taken = ParamSpec("Taken")
LOG: Final = logging.getLogger("tensorkeep")


def unchanged_function(function: Decorated) -> Decorated:
    """The function itself, for decorators that have nothing to do."""
    return function


def call_with_own_gradient(f: Callable[Taken, Any], *args: Taken.args, **kwargs: Taken.kwargs) -> Any:
    """What a function gives that also gives its gradient, called under `tf.custom_gradient`."""
    return custom_gradient(f)(*args, **kwargs)


def do_not_convert(func: Callable[..., Any] | None = None, *_: object, **__: object) -> Callable[..., Any]:
    """The function as it is, as all are here: AutoGraph does not rewrite any."""
    return unchanged_function if func is None else func


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Decorated], Decorated]:
    """Decorates a function that will go: its first call says so in the log."""

    def decorate(function: Decorated) -> Decorated:
        said: list[bool] = []

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not said:
                said.append(True)
                LOG.warning("%s is deprecated: %s", function.__qualname__, instructions)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *deprecated_arg_names_or_tuples: str | tuple[str, object], **kwargs: bool
) -> Callable[[Decorated], Decorated]:
    """Decorates a function some of whose arguments will go."""
    return unchanged_function


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **deprecated_kwargs: object
) -> Callable[[Decorated], Decorated]:
    """Decorates a function some values of whose arguments will go."""
    return unchanged_function


def deprecated_alias(deprecated_name: str, name: str, func_or_class: Given, warn_once: bool = True) -> Given:
    """Another name of a function or class."""
    return func_or_class


def deprecated_endpoints(*args: str) -> Callable[[Decorated], Decorated]:
    """Decorates what has names that will go."""
    return unchanged_function


def deprecated_argument_lookup(new_name: str, new_value: Given, old_name: str, old_value: Given) -> Given:
    """The value of an argument that has two names, of which one is given."""
    if old_value is not None and new_value is not None:
        raise InvalidArgumentError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return new_value if old_value is None else old_value


def tf_export(*args: str, **kwargs: object) -> Callable[[Decorated], Decorated]:
    """Decorates what TensorFlow offers under some names."""
    return unchanged_function


keras_export = estimator_export = tf_export


def should_use_result(
    fn: Callable[..., Any] | None = None, warn_in_eager: bool = False, error_in_function: bool = False
) -> Callable[..., Any]:
    """Decorates a function whose result is to be used."""
    return unchanged_function if fn is None else fn


def keyword_args_only(func: Decorated) -> Decorated:
    """Decorates a function all of whose arguments are given by name."""

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise InvalidArgumentError(f"The function {func.__name__} only accepts keyword arguments.")
        return func(**kwargs)

    return call  # type: ignore[return-value]


def make_decorator(
    target: Callable[..., Any], decorator_func: Callable[..., Any], *args: object, **kwargs: object
) -> Callable[..., Any]:
    """A function in the place of another, which it is named after."""
    return functools.update_wrapper(decorator_func, target)


def unwrap(maybe_tf_decorator: Callable[..., Any]) -> tuple[list[Any], Any]:
    """What decorates a function, and the function itself."""
    return [], inspect.unwrap(maybe_tf_decorator)


def make_all(module_name: str, doc_string_modules: object = None) -> list[str]:
    """The public names of a module."""
    return [name for name in dir(import_module(module_name)) if not name.startswith("_")]


def remove_undocumented(
    module_name: str, allowed_exception_list: object = None, doc_string_modules: object = None
) -> None:
    """Nothing to do: names stay."""


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a function, or of what can be called."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(fn).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind in kinds)


def has_kwargs(fn: Callable[..., Any]) -> bool:
    """Whether a function takes any arguments by name."""
    parameters = inspect.signature(fn).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


class LazyLoader(ModuleType):
    """A module that is imported when something of it is first asked for."""

    def __init__(
        self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None
    ) -> None:
        super().__init__(name)
        self._local_name, self._parent_module_globals = local_name, parent_module_globals

    def __getattr__(self, item: str) -> Any:
        module = self._parent_module_globals[self._local_name] = import_module(self.__name__)
        return getattr(module, item)
