"""Default arguments of functions for a stretch of a program.

    with arg_scope([conv2d], padding="VALID"):
        net = conv2d(net, 32, 3)

A function takes part if it is decorated by `add_arg_scope`. A scope inside another one adds to it; what is passed in a
call comes before both. The scope that `arg_scope` gives is a dictionary, which can be opened again elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final, TypeAlias, TypeVar, cast

from tensorkeep.errors import InvalidArgumentError, WrongTypeError

Scope: TypeAlias = "dict[str, dict[str, Any]]"
"""By the key of a function, its arguments by name."""
Function = TypeVar("Function", bound=Callable[..., Any])

_KEY: Final = "_key_op"  # TensorFlow's name of the attribute, which programs copy to functions of their own
_current: ContextVar[Mapping[str, Mapping[str, Any]]] = ContextVar("arg_scope", default={})  # noqa: B039 - never changed


def arg_scope_func_key(op: Callable[..., Any]) -> str:
    """The key under which scopes keep the default arguments of a function."""
    return str(getattr(op, _KEY, op))


def current_arg_scope() -> Scope:
    """The arguments in force, as a dictionary that can be opened again."""
    return {key: dict(arguments) for key, arguments in _current.get().items()}


@contextmanager
def arg_scope(list_ops_or_scope: Scope | Sequence[Callable[..., Any]], **kwargs: object) -> Iterator[Scope]:
    """Gives functions default arguments while it is open; or opens a scope again, which takes the place of others."""
    scope = _reopen_scope(list_ops_or_scope, kwargs) if isinstance(list_ops_or_scope, dict) else None
    if scope is None:
        scope = _extend_scope(list_ops_or_scope, kwargs)
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)


def _reopen_scope(scope: Scope, kwargs: Mapping[str, Any]) -> Scope:
    if kwargs:
        raise InvalidArgumentError(
            "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty. Got: "
            f"{', '.join(sorted(kwargs))}"
        )
    return dict(scope)


def _extend_scope(functions: Any, kwargs: Mapping[str, Any]) -> Scope:
    if not isinstance(functions, list | tuple):
        raise WrongTypeError(
            f"list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict), not {type(functions).__name__}"
        )
    scope = current_arg_scope()
    for function in functions:
        if not has_arg_scope(function):
            name = (getattr(function, "__module__", None), getattr(function, "__name__", repr(function)))
            raise InvalidArgumentError(f"{name} is not decorated with @add_arg_scope")
        key = arg_scope_func_key(function)
        scope[key] = {**scope.get(key, {}), **kwargs}
    return scope


def add_arg_scope(func: Function) -> Function:
    """Decorates a function, which then takes default arguments from the `arg_scope`s around its calls."""
    key = arg_scope_func_key(func)

    @wraps(func)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        arguments = _current.get().get(key)
        return func(*args, **({**arguments, **kwargs} if arguments else kwargs))

    setattr(scoped, _KEY, key)
    return cast("Function", scoped)


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether a function takes arguments from scopes."""
    return hasattr(func, _KEY)


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments that a scope can set for a function: those with defaults."""
    if not has_arg_scope(func):
        raise InvalidArgumentError(f"{func} is not decorated with @add_arg_scope")
    parameters = signature(func).parameters.values()
    return tuple(item.name for item in parameters if item.default is not Parameter.empty)
