"""`tf.flags`: flags of a program, and `FLAGS`, which reads the command line when a flag is first asked for.

They are absl's, as in TensorFlow (`tensorflow/python/platform/flags.py`), imported when one is first asked for. Where
absl-py is not installed, `basic_flags` has the usual kinds, and the other names say which package they need.
"""

# ruff: noqa: F822 - absl's names, imported when one is asked for

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, Final

from tensorkeep.v1 import basic_flags

_OLD_NAMES: Final = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_WITH_OLD_NAMES: Final = ("DEFINE_string", "DEFINE_boolean", "DEFINE_bool", "DEFINE_float", "DEFINE_integer")


def process_arguments() -> list[str]:
    """The command line of this process."""
    return sys.argv


def flag_library() -> ModuleType:
    """absl.flags, or the small module instead of it where absl-py is not installed."""
    try:
        import absl.flags
    except ModuleNotFoundError:
        return basic_flags
    return absl.flags


class ParsingFlagValues:
    """The flags of a program; asked for one before the command line was read, they read it first."""

    def __init__(self, flag_values: object) -> None:
        self.__dict__["__wrapped"] = flag_values

    def __getattr__(self, name: str) -> Any:
        flag_values = self.__dict__["__wrapped"]
        if name in flag_values and not flag_values.is_parsed():
            flag_values(process_arguments())
        return getattr(flag_values, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["__wrapped"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["__wrapped"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["__wrapped"])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["__wrapped"][name]

    def __setitem__(self, name: str, flag: object) -> None:
        self.__dict__["__wrapped"][name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["__wrapped"]

    def __len__(self) -> int:
        return len(self.__dict__["__wrapped"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["__wrapped"])

    def __str__(self) -> str:
        return str(self.__dict__["__wrapped"])

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        rest: list[str] = self.__dict__["__wrapped"](argv, known_only)
        return rest


def _with_old_names(define: Callable[..., Any]) -> Callable[..., Any]:
    """Accepts what the arguments were called in the first TensorFlows."""

    @functools.wraps(define)
    def define_flag(*args: Any, **kwargs: Any) -> Any:
        return define(*args, **{_OLD_NAMES.get(name, name): value for name, value in kwargs.items()})

    return define_flag


def _offered_value(library: ModuleType, name: str) -> Any:
    """What `tf.flags` has under a name. What absl alone has raises AttributeError where it is not installed."""
    if not hasattr(library, name) and library is basic_flags:
        what = f'tf.flags.{name} needs the package absl-py, which is not installed: pip install "tensorkeep[flags]"'
        raise AttributeError(what, name=name)
    value = getattr(library, name)
    if name == "FLAGS":
        return ParsingFlagValues(value)
    return _with_old_names(value) if name in _WITH_OLD_NAMES else value


__all__ = [
    "ArgumentParser",
    "ArgumentSerializer",
    "BaseListParser",
    "BooleanFlag",
    "BooleanParser",
    "CantOpenFlagFileError",
    "CsvListSerializer",
    "DEFINE",
    "DEFINE_alias",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_enum_class",
    "DEFINE_flag",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi",
    "DEFINE_multi_enum",
    "DEFINE_multi_enum_class",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_spaceseplist",
    "DEFINE_string",
    "DuplicateFlagError",
    "EnumClassFlag",
    "EnumClassListSerializer",
    "EnumClassParser",
    "EnumClassSerializer",
    "EnumFlag",
    "EnumParser",
    "Error",
    "FLAGS",
    "Flag",
    "FlagHolder",
    "FlagNameConflictsWithMethodError",
    "FlagValues",
    "FloatParser",
    "IllegalFlagValueError",
    "IntegerParser",
    "ListParser",
    "ListSerializer",
    "MultiEnumClassFlag",
    "MultiFlag",
    "UnparsedFlagAccessError",
    "UnrecognizedFlagError",
    "ValidationError",
    "WhitespaceSeparatedListParser",
    "adopt_module_key_flags",
    "declare_key_flag",
    "disclaim_key_flags",
    "doc_to_help",
    "flag_dict_to_args",
    "get_help_width",
    "mark_bool_flags_as_mutual_exclusive",
    "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive",
    "mark_flags_as_required",
    "multi_flags_validator",
    "override_value",
    "register_multi_flags_validator",
    "register_validator",
    "set_default",
    "text_wrap",
    "validator",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    library = flag_library()
    if hasattr(library, "disclaim_key_flags"):
        library.disclaim_key_flags()  # flags are the caller's, and not this module's, in help texts
    globals()[name] = _offered_value(library, name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
