"""Flags and their values: what a program defines, and what its command line says."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1.flag_kinds import Kind

_WIDTH: Final = 80


class Error(InvalidArgumentError):
    """A flag was defined or given in a way that makes no sense."""


class DuplicateFlagError(Error):
    """Two flags have the same name."""


class FlagNameConflictsWithMethodError(Error):
    """A flag has the name of something that `FLAGS` does."""


class IllegalFlagValueError(Error):
    """A flag cannot have that value."""


class UnparsedFlagAccessError(Error):
    """A flag was asked for before the command line was read."""


class ValidationError(Error):
    """A validator does not accept the values of some flags."""


class UnrecognizedFlagError(Error):
    """The command line holds a flag that was not defined."""

    def __init__(self, flagname: str, flagvalue: Any = "", suggestions: Sequence[str] = ()) -> None:
        self.flagname = flagname
        self.flagvalue = flagvalue
        hint = f". Did you mean: {', '.join(suggestions)} ?" if suggestions else ""
        super().__init__(f"Unknown command line flag '{flagname}'{hint}")


class Flag:
    """A flag: its name, what it may be, what it is without being given, and what it is."""

    def __init__(self, kind: Kind, name: str, default: Any, help_string: str | None, short_name: str | None) -> None:
        self.kind = kind
        self.name = name
        self.help = help_string or "(no help available)"
        self.short_name = short_name
        self.default = self.convert_default(default)
        self.validators: list[Validator] = []
        self.unparse()

    @property
    def boolean(self) -> bool:
        return self.kind.is_boolean

    def unparse(self) -> None:
        """Makes it what it is without being given."""
        self.value = self.default
        self.present = 0
        self.using_default_value = True

    def convert(self, argument: Any) -> Any:
        try:
            return self.kind.parse(argument)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={argument}: {error}") from error

    def convert_default(self, value: Any) -> Any:
        return None if value is None else self.convert(value)

    def set_default(self, value: Any) -> None:
        """Makes it something else without being given."""
        self.default = self.convert_default(value)
        if self.using_default_value:
            self.unparse()

    def parse(self, argument: str) -> None:
        """Makes it what the command line says."""
        self.value = self.convert(argument)
        self.present += 1
        self.using_default_value = False

    def arguments(self) -> list[str]:
        """What a command line says to make it what it is."""
        if self.value is None:
            return []
        if self.boolean:
            return [f"--{self.name}" if self.value else f"--no{self.name}"]
        return [f"--{self.name}={self.kind.serialize(self.value)}"]

    def serialize(self) -> str:
        return "\n".join(self.arguments())

    def default_text(self) -> str:
        return "" if self.default is None else f"(default: {self.kind.serialize(self.default)!r})"

    def description(self) -> str:
        """Its paragraph in a help text."""
        name = f"--[no]{self.name}" if self.boolean else f"--{self.name}"
        names = f"-{self.short_name},{name}" if self.short_name else name
        wrapper = textwrap.TextWrapper(_WIDTH, initial_indent="  ", subsequent_indent="    ")
        notes = [self.default_text(), f"({self.kind.restriction})" if self.kind.restriction else ""]
        lines = [*wrapper.wrap(f"{names}: {self.help}"), *(f"    {note}" for note in notes if note)]
        return "\n".join(lines)


class MultiFlag(Flag):
    """A flag that may be given several times: its value is a list."""

    def convert_default(self, value: Any) -> Any:
        values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        return None if value is None else [self.convert(each) for each in values]

    def parse(self, argument: str) -> None:
        self.value = [*(self.value if self.present else ()), self.convert(argument)]
        self.present += 1
        self.using_default_value = False

    def arguments(self) -> list[str]:
        return [f"--{self.name}={self.kind.serialize(value)}" for value in self.value or ()]

    def default_text(self) -> str:
        return "" if self.default is None else f'(default: "{[self.kind.serialize(each) for each in self.default]}")'


class Validator:
    """A condition on the values of some flags."""

    def __init__(self, names: Sequence[str], checker: Callable[[Any], Any], message: str, *, is_single: bool) -> None:
        self.names = tuple(names)
        self._checker = checker
        self._message = message
        self._is_single = is_single

    def problem(self, flags: Mapping[str, Flag]) -> str | None:
        """What is wrong with the values, or None."""
        values = {name: flags[name].value for name in self.names}
        shown = ", ".join(f"{'--' if self._is_single else ''}{name}={value}" for name, value in values.items())
        try:
            is_fine = self._checker(values[self.names[0]] if self._is_single else values)
        except ValidationError as error:
            return f"flag{'' if self._is_single else 's'} {shown}: {error}"
        return None if is_fine else f"flag{'' if self._is_single else 's'} {shown}: {self._message}"


class _Reading:
    """One walk over the arguments of a command line."""

    def __init__(self, flags: Mapping[str, Flag], arguments: Sequence[str], *, known_only: bool) -> None:
        self._flags = flags
        self._left = list(reversed(arguments))
        self._known_only = known_only
        self._tolerated: set[str] = set()
        self._unknown: list[tuple[str, str, str]] = []
        self._rest: list[str | None] = []

    def read(self) -> list[str]:
        """Gives the flags their values, and returns the other arguments."""
        while self._left:
            self._read_argument(self._left.pop())
        return self._finish()

    def _read_argument(self, argument: str) -> None:
        if argument == "--":
            self._rest += [*(["--"] if self._known_only else []), *reversed(self._left)]
            self._left.clear()
        elif argument.startswith("-") and argument.lstrip("-")[:1] not in ("", "="):
            name, equals, value = argument.removeprefix("-").removeprefix("-").partition("=")
            self._read_flag(argument, name, value if equals else None)
        else:
            self._rest.append(argument)

    def _read_flag(self, argument: str, name: str, value: str | None) -> None:
        positive = self._flags.get(name.removeprefix("no"))
        if name == "undefok":
            self._tolerated |= set(self._given(argument, value).split(","))
        elif flag := self._flags.get(name):
            flag.parse("true" if flag.boolean and value is None else self._given(argument, value))
        elif name.startswith("no") and positive is not None and positive.boolean:
            self._refuse(argument, value)
            positive.parse("false")
        else:
            self._unknown.append((argument, name, value or ""))
            self._rest.append(argument if self._known_only else None)

    def _given(self, argument: str, value: str | None) -> str:
        if value is None and not self._left:
            raise Error(f"Missing value for flag {argument}")
        return self._left.pop() if value is None else value

    def _refuse(self, argument: str, value: str | None) -> None:
        if value is not None:
            raise IllegalFlagValueError(f"{argument} does not take an argument")

    def _finish(self) -> list[str]:
        fine = self._tolerated | {f"no{name}" for name in self._tolerated}
        wrong = [(name, value) for _, name, value in self._unknown if name not in fine]
        if wrong and not self._known_only:
            raise UnrecognizedFlagError(*wrong[0], _similar(wrong[0][0], self._flags))
        dropped = {argument for argument, name, _ in self._unknown if name in fine}
        return [argument for argument in self._rest if argument is not None and argument not in dropped]


def _similar(name: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(name, list(known), n=3, cutoff=0.72)


class FlagValues:
    """Flags by name: as an attribute each is its value, as an item itself. Called with arguments, it reads them.

    Made with `arguments`, it reads what that returns when a flag is first asked for.
    """

    def __init__(self, arguments: Callable[[], Sequence[str]] | None = None) -> None:
        self.__dict__.update({"__flags": {}, "__is_parsed": False, "__arguments": arguments})

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Reads a command line, its program first, and returns what is not a flag. Unknown flags are errors or rest."""
        if isinstance(argv, str | bytes) or not argv:
            raise IllegalFlagValueError(f"argv is a list of strings, the program first; got {argv!r}")
        rest = _Reading(self._flags(), argv[1:], known_only=known_only).read()
        self.mark_as_parsed()
        self.validate_all_flags()
        return [argv[0], *rest]

    def _flags(self) -> dict[str, Flag]:
        return self.__dict__["__flags"]  # type: ignore[no-any-return]

    def is_parsed(self) -> bool:
        return bool(self.__dict__["__is_parsed"])

    def mark_as_parsed(self) -> None:
        self.__dict__["__is_parsed"] = True

    def unparse_flags(self) -> None:
        """Makes every flag what it is without being given."""
        for flag in self._flags().values():
            flag.unparse()
        self.__dict__["__is_parsed"] = False

    def validate_all_flags(self) -> None:
        """IllegalFlagValueError that lists what validators have to say."""
        self._check(validator for flag in self._flags().values() for validator in flag.validators)

    def _check(self, validators: Iterable[Validator]) -> None:
        problems = [validator.problem(self._flags()) for validator in dict.fromkeys(validators)]
        if found := [problem for problem in problems if problem is not None]:
            raise IllegalFlagValueError("\n".join(found))

    def __setitem__(self, name: str, flag: Flag) -> None:
        if not name or " " in name:
            raise Error(f"a flag has a name without spaces, got {name!r}")
        if hasattr(type(self), name):
            raise FlagNameConflictsWithMethodError(f'Cannot define a flag named "{name}": FLAGS.{name} is a method')
        for each in [*([flag.short_name] if flag.short_name else []), name]:
            if (first := self._flags().get(each)) is not None and first is not flag:
                what = f"The flag '{each}' is defined twice. Description from first occurrence: {first.help}"
                raise DuplicateFlagError(what)
            self._flags()[each] = flag

    def __getitem__(self, name: str) -> Flag:
        return self._flags()[name]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__.get("__flags", {}):
            raise AttributeError(name)
        arguments = self.__dict__["__arguments"]
        if not self.is_parsed() and arguments is not None:
            self(arguments())
        if not self.is_parsed() and not self._flags()[name].present:
            raise UnparsedFlagAccessError(f"Trying to access flag --{name} before flags were parsed.")
        return self._flags()[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        flag = self._known(name, value)
        before, flag.value = flag.value, value
        try:
            self._check(flag.validators)
        except BaseException:
            flag.value = before
            raise
        flag.using_default_value = False

    def _known(self, name: str, value: Any) -> Flag:
        if name not in self._flags():
            raise UnrecognizedFlagError(name, value, _similar(name, self._flags()))
        return self._flags()[name]

    def __delattr__(self, name: str) -> None:
        if self._flags().pop(name, None) is None:
            raise AttributeError(name)

    def set_default(self, name: str, value: Any) -> None:
        self._known(name, value).set_default(value)
        self._check(self._flags()[name].validators)

    def __contains__(self, name: str) -> bool:
        return name in self._flags()

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags())

    def __len__(self) -> int:
        return len(self._flags())

    def __dir__(self) -> list[str]:
        return sorted(self._flags())

    def flag_values_dict(self) -> dict[str, Any]:
        """The value of each flag."""
        return {name: flag.value for name, flag in self._flags().items()}

    def flags_into_string(self) -> str:
        """The lines of a command line that makes the flags what they are."""
        lines = [line for _, flag in self._sorted() for line in flag.arguments()]
        return "".join(f"{line}\n" for line in lines)

    def get_help(self) -> str:
        """What the flags are for."""
        return "\n".join(flag.description() for _, flag in self._sorted())

    def _sorted(self) -> list[tuple[str, Flag]]:
        return sorted((name, flag) for name, flag in self._flags().items() if name == flag.name)
