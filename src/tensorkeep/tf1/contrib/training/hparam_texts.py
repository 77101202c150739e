"""Texts that set hyperparameters.

    text       = assignment *("," assignment)
    assignment = name ["[" index "]"] "=" (value / "[" value *("," value) "]")

A value has no comma and no bracket. Truth values are "true", "True", "false", "False" and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError

_ASSIGNMENT: Final = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])(?:$|,\s*)"
)
_TRUTHS: Final = {"true": True, "True": True, "false": False, "False": False}


def parse_values(values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """The values of a text by name, of the types that a map tells; of `name[i]=` a dictionary by index."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(values):
        match = _ASSIGNMENT.match(values, at)
        if match is None:
            raise InvalidArgumentError(f"Malformed hyperparameter value: {values[at:]}")
        at = match.end()
        name = match["name"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise InvalidArgumentError(f"Unknown hyperparameter type for {name}")
        _take(found, match, type_map[name], values)
    return found


def _take(found: dict[str, Any], match: re.Match[str], kind: Any, text: str) -> None:
    name, index = match["name"], match["index"]
    if match["values"] is not None:
        if index is not None:
            raise InvalidArgumentError(f"Could not parse hparam {name} in {text}: a list cannot be an element")
        if name in found:
            raise InvalidArgumentError(f"Multiple assignments to variable '{name}' in {text}")
        parts = [part.strip() for part in match["values"].split(",")] if match["values"].strip() else []
        found[name] = [_parse_value(name, kind, part, text) for part in parts]
        return
    value = _parse_value(name, kind, match["value"].strip(), text)
    if index is None:
        if name in found:
            raise InvalidArgumentError(f"Multiple assignments to variable '{name}' in {text}")
        found[name] = value
        return
    elements = found.setdefault(name, {})
    if not isinstance(elements, dict) or int(index) in elements:
        raise InvalidArgumentError(f"Multiple assignments to variable '{name}[{index}]' in {text}")
    elements[int(index)] = value


def _parse_value(name: str, kind: Any, text: str, whole: str) -> Any:
    try:
        if kind is bool:
            return _TRUTHS[text] if text in _TRUTHS else bool(int(text))
        return kind(text)
    except (ValueError, TypeError):
        raise InvalidArgumentError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in {whole}"
        ) from None
