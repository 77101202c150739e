"""What a flag may be: how its text becomes a value, and a value its text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

_TRUE: Final = ("true", "t", "1")
_FALSE: Final = ("false", "f", "0")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of flag. `parse` takes what a command line or a default says; TypeError or ValueError if it cannot."""

    parse: Callable[[Any], Any]
    serialize: Callable[[Any], str] = str
    restriction: str = ""
    is_boolean: bool = False


def parse_string(argument: Any) -> str:
    if not isinstance(argument, str):
        raise TypeError(f'flag value must be a string, found "{type(argument)}"')
    return argument


def parse_boolean(argument: Any) -> bool:
    text = argument.lower() if isinstance(argument, str) else str(int(argument)) if isinstance(argument, int) else ""
    if text not in (*_TRUE, *_FALSE):
        raise ValueError("Non-boolean argument to boolean flag", argument)
    return text in _TRUE


def parse_integer(argument: Any) -> int:
    if isinstance(argument, bool) or not isinstance(argument, str | int):
        raise TypeError(f"Expect argument to be a string or int, found {type(argument)}")
    if isinstance(argument, int):
        return argument
    base = {"0o": 8, "0x": 16}.get(argument[:2], 10) if len(argument) > 2 else 10
    return int(argument, base)


def parse_float(argument: Any) -> float:
    if isinstance(argument, bool) or not isinstance(argument, str | int | float):
        raise TypeError(f"Expect argument to be a string, int, or float, found {type(argument)}")
    return float(argument)


def parse_comma_list(argument: Any) -> list[str]:
    if isinstance(argument, list) or not argument:
        return argument or []
    try:
        return [part.strip() for part in next(csv.reader([argument], strict=True))]
    except csv.Error as error:
        raise ValueError(f"Unable to parse the value {argument!r} as a comma-separated list: {error}") from None


def serialize_comma_list(values: Sequence[Any]) -> str:
    """Values with commas between them; one that holds a comma, a quote or a line's end stands in quotes."""
    texts = [str(value) for value in values]
    quoted = ['"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text for text in texts]
    return ",".join(quoted) if quoted != [""] else '""'


def space_list(comma_compat: bool) -> Kind:
    """Words with white space between them, or also commas."""

    def parse(argument: Any) -> list[str]:
        if isinstance(argument, list) or not argument:
            return argument or []
        return str(argument.replace(",", " ") if comma_compat else argument).split()

    restriction = "a whitespace (or comma) separated list" if comma_compat else "a whitespace separated list"
    return Kind(parse, " ".join, restriction)


def enumeration(values: Sequence[str], case_sensitive: bool = True) -> Kind:
    """One of some words."""
    words = {value if case_sensitive else value.lower(): value for value in values}
    if not words:
        raise ValueError("enum_values cannot be empty")

    def parse(argument: Any) -> str:
        wanted = argument if case_sensitive else str(argument).lower()
        if wanted not in words:
            raise ValueError(f"value should be one of <{'|'.join(values)}>")
        return words[wanted]

    return Kind(parse)


def enumeration_class(members: type[Enum], case_sensitive: bool = False) -> Kind:
    """A member of an `Enum`, by its name."""
    named = enumeration([str(name) for name in members.__members__], case_sensitive)

    def parse(argument: Any) -> Enum:
        return argument if isinstance(argument, members) else members[named.parse(argument)]

    return Kind(parse, lambda member: str(member.name if case_sensitive else member.name.lower()))


def bounds_text(article: str, noun: str, lower: float | None, upper: float | None) -> str:
    """Which numbers lie within the bounds, in words."""
    if lower is not None and upper is not None:
        return f"{article} {noun} in the range [{lower}, {upper}]"
    known: dict[tuple[float | None, float | None], str] = {
        (1, None): "positive",
        (None, -1): "negative",
        (0, None): "non-negative",
        (None, 0): "non-positive",
    }
    if word := known.get((lower, upper)):
        return f"a {word} {noun}"
    limit = f" >= {lower}" if lower is not None else f" <= {upper}" if upper is not None else ""
    return f"{noun}{limit}" if limit else f"{article} {noun}"


def within(lower: float | None, upper: float | None) -> Callable[[Any], bool]:
    """Whether a number, if there is one, lies within the bounds."""
    return lambda value: value is None or ((lower is None or value >= lower) and (upper is None or value <= upper))


def number(parse: Callable[[Any], Any], restriction: str, lower: float | None, upper: float | None) -> Kind:
    """A number within bounds."""
    is_within = within(lower, upper)

    def parse_within(argument: Any) -> Any:
        value = parse(argument)
        if not is_within(value):
            raise ValueError(f"{value} is not {restriction}")
        return value

    return Kind(parse_within, repr if parse is parse_float else str, restriction)


def integer(lower: int | None = None, upper: int | None = None) -> Kind:
    return number(parse_integer, bounds_text("an", "integer", lower, upper), lower, upper)


def floating(lower: float | None = None, upper: float | None = None) -> Kind:
    return number(parse_float, bounds_text("a", "number", lower, upper), lower, upper)


STRING: Final = Kind(parse_string)
BOOLEAN: Final = Kind(parse_boolean, lambda value: "true" if value else "false", is_boolean=True)
COMMA_LIST: Final = Kind(parse_comma_list, serialize_comma_list, "a comma separated list")
