"""Flags where absl-py is not installed: text, numbers, yes or no, lists and choices, as absl reads them.

--name=value  --name value  -name=value  --yes  --noyes  --  rest
"""

# ruff: noqa: N802 - the names are absl's

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn

from tensorkeep.errors import InvalidArgumentError, UnimplementedError

_ABSLS_OWN: Final = ("flagfile", "undefok", "fromenv", "tryfromenv")


class Error(InvalidArgumentError):
    """A flag was defined or given in a way that makes no sense."""


class DuplicateFlagError(Error):
    """Two flags have the same name."""


class IllegalFlagValueError(Error):
    """A flag cannot have that value, or has none and needs one."""


class UnparsedFlagAccessError(Error):
    """A flag was asked for before the command line was read."""


class UnrecognizedFlagError(Error):
    """The command line, or the program, names a flag that was not defined."""


class Flag:
    """A flag: its name, how it is read, what it is without being given, and what it is."""

    def __init__(self, name: str, parse: Callable[[Any], Any], default: object, help: str | None) -> None:
        self.name, self.help, self.present, self.required = name, help or "", 0, False
        self._parse = parse
        self.boolean = parse is _parse_boolean
        self.default = self.value = None if default is None else self._parsed(default)

    def _parsed(self, argument: Any) -> Any:
        try:
            return self._parse(argument)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={argument}: {error}") from error

    def parse(self, argument: str) -> None:
        """Makes it what the command line says."""
        self.value = self._parsed(argument)
        self.present += 1


class FlagValues:
    """Flags by name: as an attribute each is its value, as an item itself. Called with arguments, it reads them."""

    def __init__(self) -> None:
        self.__dict__.update({"__flags": {}, "__is_parsed": False})

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Reads a command line, its program first, and returns what is not a flag. Unknown flags are errors or rest."""
        rest, left = [argv[0]], list(argv[:0:-1])
        while left:
            argument = left.pop()
            if argument == "--":
                rest += [*(["--"] if known_only else []), *reversed(left)]
                break
            if not self._read(argument, left, known_only):
                rest.append(argument)
        self._mark_parsed()
        return rest

    def _read(self, argument: str, left: list[str], known_only: bool) -> bool:
        """Makes a flag what an argument says, the next one too if that is its value; False if it is no flag."""
        name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
        if not argument.startswith("-") or not name.strip("-"):
            return False
        flag, is_off = self._meant_by(name)
        if flag is None:
            return _left_unread(name, known_only)
        if is_off and equals:
            raise IllegalFlagValueError(f"{argument} does not take an argument")
        flag.parse(value if equals else "false" if is_off else _following(flag, argument, left))
        return True

    def _meant_by(self, name: str) -> tuple[Flag | None, bool]:
        """The flag that a command line names, and whether it says no to it."""
        flag, denied = self._flags().get(name), self._flags().get(name.removeprefix("no"))
        if flag is None and denied is not None and denied.boolean:
            return denied, True
        return flag, False

    def _mark_parsed(self) -> None:
        self.__dict__["__is_parsed"] = True
        missing = [flag.name for flag in self._flags().values() if flag.required and flag.value is None]
        if missing:
            lines = (f"flag --{name}=None: Flag --{name} must have a value other than None." for name in missing)
            raise IllegalFlagValueError("\n".join(lines))

    def _flags(self) -> dict[str, Flag]:
        return self.__dict__["__flags"]  # type: ignore[no-any-return]

    def is_parsed(self) -> bool:
        return bool(self.__dict__["__is_parsed"])

    def __setitem__(self, name: str, flag: Flag) -> None:
        if name in self._flags() or hasattr(type(self), name):
            raise DuplicateFlagError(f"The flag '{name}' is defined twice, or is a method of FLAGS")
        self._flags()[name] = flag

    def __getitem__(self, name: str) -> Flag:
        return self._flags()[name]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("__flags", {}):
            raise AttributeError(name)
        if not self.is_parsed() and not self._flags()[name].present:
            raise UnparsedFlagAccessError(f"Trying to access flag --{name} before flags were parsed.")
        return self._flags()[name].value

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self._flags():
            raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
        self._flags()[name].value = value

    def __contains__(self, name: str) -> bool:
        return name in self._flags()

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags())

    def __len__(self) -> int:
        return len(self._flags())

    def flag_values_dict(self) -> dict[str, Any]:
        """The value of each flag."""
        return {name: flag.value for name, flag in self._flags().items()}

    def get_help(self) -> str:
        """What each flag is for, and what it is without being given."""
        flags = [self._flags()[name] for name in sorted(self._flags())]
        return "\n".join(f"  --{flag.name}: {flag.help}\n    (default: {flag.default!r})" for flag in flags)


class FlagHolder:
    """What defining a flag returns: its value, for those who do not ask `FLAGS`."""

    def __init__(self, flag_values: FlagValues, name: str) -> None:
        self.name = name
        self._flag_values = flag_values

    @property
    def value(self) -> Any:
        return getattr(self._flag_values, self.name)


def _needs_absl(what: str) -> str:
    return f'{what} needs the package absl-py, which is not installed: pip install "tensorkeep[flags]"'


def _left_unread(name: str, known_only: bool) -> bool:
    """False, for a flag that nobody defined may be left to others; UnrecognizedFlagError if it may not."""
    if name in _ABSLS_OWN:
        raise UnimplementedError(_needs_absl(f"--{name}"))
    if not known_only:
        raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
    return False


def _following(flag: Flag, argument: str, left: list[str]) -> str:
    """The value of a flag that stands behind it; yes, for one that is yes or no."""
    if flag.boolean:
        return "true"
    if not left:
        raise Error(f"Missing value for flag {argument}")
    return left.pop()


FLAGS = FlagValues()


def _parse_boolean(argument: Any) -> bool:
    told = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(str(argument).lower())
    if told is None:
        raise ValueError("Non-boolean argument to boolean flag", argument)
    return told


def _parse_integer(argument: Any) -> int:
    if not isinstance(argument, str):
        return int(argument)
    digits = argument.lstrip("+-").lower()
    return int(argument, 16 if digits.startswith("0x") else 8 if digits.startswith("0o") else 10)


def _parse_list(argument: Any) -> list[str]:
    if isinstance(argument, list):
        return argument
    return [part.strip() for part in next(csv.reader([argument], strict=True), [])]


def _definer(parse: Callable[[Any], Any]) -> Callable[..., FlagHolder]:
    def define(
        name: str,
        default: Any,
        help: str | None,
        *args: Any,
        flag_values: FlagValues = FLAGS,
        required: bool = False,
        **others: Any,
    ) -> FlagHolder:
        if args or others:
            what = f"flag --{name} with bounds, a short name or the like ({[*args, *others]})"
            raise UnimplementedError(_needs_absl(what))
        flag_values[name] = Flag(name, parse, default, help)
        flag_values[name].required = required
        return FlagHolder(flag_values, name)

    return define


DEFINE_string = _definer(str)
DEFINE_boolean = DEFINE_bool = _definer(_parse_boolean)
DEFINE_float = _definer(float)
DEFINE_integer = _definer(_parse_integer)
DEFINE_list = _definer(_parse_list)


def DEFINE_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str | None, **options: object
) -> FlagHolder:
    def parse(argument: Any) -> str:
        if argument not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return str(argument)

    return _definer(parse)(name, default, f"<{'|'.join(enum_values)}>: {help}", **options)


def mark_flag_as_required(flag_name: str, flag_values: FlagValues = FLAGS) -> None:
    flag_values[flag_name].required = True


def mark_flags_as_required(flag_names: Sequence[str], flag_values: FlagValues = FLAGS) -> None:
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def run(main: Callable[[list[str]], Any], argv: list[str] | None, flags_parser: Callable[[Any], list[str]]) -> NoReturn:
    """Calls `main` with what is left of the command line; `--help` ends the program instead."""
    if "help" not in FLAGS:
        DEFINE_boolean("help", False, "show this help")
    rest = flags_parser(argv)
    if FLAGS.help:
        described = getattr(sys.modules["__main__"], "__doc__", None) or f"USAGE: {rest[0]} [flags]"
        sys.exit(f"{described}\nflags:\n\n{FLAGS.get_help()}")
    sys.exit(main(rest))
