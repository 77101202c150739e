"""`tf.flags`: flags of a program, and `FLAGS`, which reads the command line when a flag is first asked for."""

# ruff: noqa: N802 - the names are TensorFlow's

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, ParamSpec, TypeVar

from tensorkeep.v1 import flag_kinds
from tensorkeep.v1.flag_values import (
    DuplicateFlagError,
    Error,
    Flag,
    FlagNameConflictsWithMethodError,
    FlagValues,
    IllegalFlagValueError,
    MultiFlag,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
    ValidationError,
    Validator,
)

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def process_arguments() -> list[str]:
    """The command line of this process."""
    return sys.argv


FLAGS = FlagValues(process_arguments)


class FlagHolder:
    """What defining a flag returns: its value, for those who do not ask `FLAGS`."""

    def __init__(self, flag_values: FlagValues, flag: Flag, ensure_non_none_value: bool = False) -> None:
        self.flag_values = flag_values
        self.name = flag.name
        self._is_never_none = ensure_non_none_value

    @property
    def value(self) -> Any:
        value = getattr(self.flag_values, self.name)
        if value is None and self._is_never_none:
            raise IllegalFlagValueError(f"Unexpected None value for flag {self.name}")
        return value

    @property
    def default(self) -> Any:
        return self.flag_values[self.name].default

    @property
    def present(self) -> bool:
        return bool(self.flag_values[self.name].present)


def _old_names(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Accepts what the arguments were called in the first TensorFlows."""
    renamed = {"flag_name": "name", "default_value": "default", "docstring": "help"}

    @functools.wraps(function)
    def define(*args: Any, **kwargs: Any) -> _Result:
        return function(*args, **{renamed.get(name, name): value for name, value in kwargs.items()})

    return define


def DEFINE_flag(
    flag: Flag, flag_values: FlagValues = FLAGS, module_name: str | None = None, required: bool = False
) -> FlagHolder:
    if required and flag.default is not None:
        raise IllegalFlagValueError(f"Required flag --{flag.name} needs to have None as its default")
    flag_values[flag.name] = flag
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag, ensure_non_none_value=required or flag.default is not None)


def _define(
    kind: flag_kinds.Kind,
    described: tuple[str, Any, str | None],
    flag_values: FlagValues,
    required: bool,
    others: dict[str, Any],
    flag: type[Flag] = Flag,
) -> FlagHolder:
    known = {"short_name", "module_name", "allow_override", "allow_overwrite", "allow_hide_cpp", "allow_override_cpp"}
    if unknown := sorted(set(others) - known):
        raise IllegalFlagValueError(f"a flag has no {', '.join(unknown)}")
    return DEFINE_flag(flag(kind, *described, others.get("short_name")), flag_values, required=required)


def _define_bounded(
    kind: flag_kinds.Kind,
    bounds: tuple[float | None, float | None],
    described: tuple[str, Any, str | None],
    flag_values: FlagValues,
    required: bool,
    others: dict[str, Any],
) -> FlagHolder:
    """Defines a flag that a program, too, can set to no number beyond its bounds."""
    holder = _define(kind, described, flag_values, required, others)
    is_within = flag_kinds.within(*bounds)

    def check(value: Any) -> bool:
        if not is_within(value):
            raise ValidationError(f"{value} is not {kind.restriction}")
        return True

    register_validator(holder, check, flag_values=holder.flag_values)
    return holder


@_old_names
def DEFINE_string(
    name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS, required: bool = False, **args: Any
) -> FlagHolder:
    return _define(flag_kinds.STRING, (name, default, help), flag_values, required, args)


@_old_names
def DEFINE_boolean(
    name: str,
    default: Any,
    help: str | None,
    flag_values: FlagValues = FLAGS,
    module_name: str | None = None,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    return _define(flag_kinds.BOOLEAN, (name, default, help), flag_values, required, args)


DEFINE_bool = DEFINE_boolean


@_old_names
def DEFINE_float(
    name: str,
    default: Any,
    help: str | None,
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    bounds = (lower_bound, upper_bound)
    return _define_bounded(flag_kinds.floating(*bounds), bounds, (name, default, help), flag_values, required, args)


@_old_names
def DEFINE_integer(
    name: str,
    default: Any,
    help: str | None,
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    bounds = (lower_bound, upper_bound)
    return _define_bounded(flag_kinds.integer(*bounds), bounds, (name, default, help), flag_values, required, args)


def DEFINE_enum(
    name: str,
    default: Any,
    enum_values: Sequence[str],
    help: str | None,
    flag_values: FlagValues = FLAGS,
    module_name: str | None = None,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    kind = flag_kinds.enumeration(enum_values, args.pop("case_sensitive", True))
    return _define(kind, (name, default, _with_choices(enum_values, help)), flag_values, required, args)


def _with_choices(choices: Iterable[str], help: str | None) -> str:
    return f"<{'|'.join(choices)}>: {help}"


def DEFINE_enum_class(
    name: str,
    default: Any,
    enum_class: type[Enum],
    help: str | None,
    flag_values: FlagValues = FLAGS,
    module_name: str | None = None,
    case_sensitive: bool = False,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    kind = flag_kinds.enumeration_class(enum_class, case_sensitive)
    text = _with_choices((kind.serialize(member) for member in enum_class), help)
    return _define(kind, (name, default, text), flag_values, required, args)


def DEFINE_list(
    name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS, required: bool = False, **args: Any
) -> FlagHolder:
    return _define(flag_kinds.COMMA_LIST, (name, default, help), flag_values, required, args)


def DEFINE_spaceseplist(
    name: str,
    default: Any,
    help: str | None,
    comma_compat: bool = False,
    flag_values: FlagValues = FLAGS,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    return _define(flag_kinds.space_list(comma_compat), (name, default, help), flag_values, required, args)


def _define_multi(
    kind: flag_kinds.Kind,
    described: tuple[str, Any, str | None],
    flag_values: FlagValues,
    required: bool,
    others: dict[str, Any],
) -> FlagHolder:
    name, default, help = described
    text = f"{help}; repeat this option to specify a list of values"
    return _define(kind, (name, default, text), flag_values, required, others, MultiFlag)


def DEFINE_multi_string(
    name: str, default: Any, help: str | None, flag_values: FlagValues = FLAGS, required: bool = False, **args: Any
) -> FlagHolder:
    return _define_multi(flag_kinds.STRING, (name, default, help), flag_values, required, args)


def DEFINE_multi_integer(
    name: str,
    default: Any,
    help: str | None,
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    kind = flag_kinds.integer(lower_bound, upper_bound)
    return _define_multi(kind, (name, default, help), flag_values, required, args)


def DEFINE_multi_float(
    name: str,
    default: Any,
    help: str | None,
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    kind = flag_kinds.floating(lower_bound, upper_bound)
    return _define_multi(kind, (name, default, help), flag_values, required, args)


def DEFINE_multi_enum(
    name: str,
    default: Any,
    enum_values: Sequence[str],
    help: str | None,
    flag_values: FlagValues = FLAGS,
    case_sensitive: bool = True,
    required: bool = False,
    **args: Any,
) -> FlagHolder:
    kind = flag_kinds.enumeration(enum_values, case_sensitive)
    return _define_multi(kind, (name, default, _with_choices(enum_values, help)), flag_values, required, args)


def _names(flag_names: Sequence[str | FlagHolder]) -> list[str]:
    return [flag if isinstance(flag, str) else flag.name for flag in flag_names]


def _known(name: str, flag_values: FlagValues) -> Flag:
    if name not in flag_values:
        raise AttributeError(f"no flag is called {name!r}")
    return flag_values[name]


def register_validator(
    flag_name: str | FlagHolder,
    checker: Callable[[Any], Any],
    message: str = "Flag validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    (name,) = _names([flag_name])
    _known(name, flag_values).validators.append(Validator([name], checker, message, is_single=True))


def register_multi_flags_validator(
    flag_names: Sequence[str | FlagHolder],
    multi_flags_checker: Callable[[dict[str, Any]], Any],
    message: str = "Flags validation failed",
    flag_values: FlagValues = FLAGS,
) -> None:
    validator = Validator(_names(flag_names), multi_flags_checker, message, is_single=False)
    for name in validator.names:
        _known(name, flag_values).validators.append(validator)


def validator(
    flag_name: str | FlagHolder, message: str = "Flag validation failed", flag_values: FlagValues = FLAGS
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    def register(checker: Callable[[Any], Any]) -> Callable[[Any], Any]:
        register_validator(flag_name, checker, message, flag_values)
        return checker

    return register


def mark_flag_as_required(flag_name: str | FlagHolder, flag_values: FlagValues = FLAGS) -> None:
    (name,) = _names([flag_name])
    if _known(name, flag_values).default is not None:
        what = f"Flag --{name} has a non-None default value: it is never missing, and need not be required"
        warnings.warn(what, stacklevel=2)
    message = f"Flag --{name} must have a value other than None."
    register_validator(name, lambda value: value is not None, message, flag_values)


def mark_flags_as_required(flag_names: Sequence[str | FlagHolder], flag_values: FlagValues = FLAGS) -> None:
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(
    flag_names: Sequence[str | FlagHolder], required: bool = False, flag_values: FlagValues = FLAGS
) -> None:
    wanted = (1,) if required else (0, 1)
    names = ", ".join(_names(flag_names))
    message = f"{'Exactly' if required else 'At most'} one of ({names}) must have a value other than None."
    register_multi_flags_validator(
        flag_names,
        lambda values: sum(value is not None for value in values.values()) in wanted,
        message,
        flag_values,
    )


def set_default(flag_holder: FlagHolder, value: Any) -> None:
    flag_holder.flag_values.set_default(flag_holder.name, value)


__all__ = [
    "FLAGS",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_enum_class",
    "DEFINE_flag",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi_enum",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_spaceseplist",
    "DEFINE_string",
    "DuplicateFlagError",
    "Error",
    "Flag",
    "FlagHolder",
    "FlagNameConflictsWithMethodError",
    "FlagValues",
    "IllegalFlagValueError",
    "MultiFlag",
    "UnparsedFlagAccessError",
    "UnrecognizedFlagError",
    "ValidationError",
    "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive",
    "mark_flags_as_required",
    "register_multi_flags_validator",
    "register_validator",
    "set_default",
    "validator",
]
