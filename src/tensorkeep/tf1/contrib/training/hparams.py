"""Hyperparameters: numbers, texts, truth values and lists of them, given by name.

hparams = HParams(learning_rate=0.1, num_hidden_units=100)
hparams.parse("learning_rate=0.3")
hparams.learning_rate
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.tf1.contrib.training.hparam_texts import parse_values

_INTEGERS: Final = (int, np.integer)


class HParams:
    """A set of hyperparameters, which are attributes. Each keeps the type of the value that it began with."""

    def __init__(self, model_structure: object = None, **kwargs: object) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: object) -> None:
        """Adds one, whose type is that of the value, or of the first element of a list."""
        if getattr(self, name, None) is not None:
            raise InvalidArgumentError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, list | tuple):
            if not value:
                raise InvalidArgumentError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: object) -> None:
        """Sets one that is there; a value of another type is converted if nothing is lost."""
        kind, is_list = self._hparam_types[name] if name in self._hparam_types else _missing(name)
        if isinstance(value, list):
            if not is_list:
                raise InvalidArgumentError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_convert_value(kind, item, name) for item in value])
            return
        if is_list:
            raise InvalidArgumentError(f"Must pass a list for multi-valued parameter: {name}.")
        setattr(self, name, _convert_value(kind, value, name))

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets hyperparameters from a text such as "a=1,b=[2,3]"."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets hyperparameters by name; of a list some elements by index."""
        for name, value in values_dict.items():
            if isinstance(value, dict) and self._hparam_types.get(name, (None, False))[1]:
                whole = list(getattr(self, name))
                for index, item in value.items():
                    if index >= len(whole):
                        raise InvalidArgumentError(f"{name}[{index}]: there are {len(whole)} elements")
                    whole[index] = item
                value = whole
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: Mapping[str, Any]) -> HParams:
        """As `override_from_dict`, under its old name."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: object) -> None:
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        return self._model_structure

    def to_json(
        self,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """The values by name, as JSON; functions are left out."""
        known = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(known, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        """Sets hyperparameters from JSON."""
        try:
            values = json.loads(values_json)
        except json.JSONDecodeError as error:
            raise InvalidArgumentError(f"not JSON: {values_json!r}: {error}") from None
        return self.override_from_dict(values)

    def values(self) -> dict[str, Any]:
        """The values of all hyperparameters, by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of one, or a default of the same type if there is none."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            if isinstance(default, list) != is_list:
                raise InvalidArgumentError(f"Hparam '{key}' of type '{kind}' is incompatible with default={default}")
            for item in default if is_list else [default]:
                _convert_value(kind, item, key)
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


def _missing(name: str) -> Any:
    raise NotFoundError(f"there is no hyperparameter {name!r}")


def _convert_value(kind: type, value: Any, name: str) -> Any:
    """A value as one of a type, if that can be without losing anything."""
    if kind is type(None) or value is None:
        return value
    refusal = InvalidArgumentError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    if issubclass(kind, str | bytes) and not isinstance(value, str | bytes):
        return str(value)
    if issubclass(kind, bool) != isinstance(value, bool) and not isinstance(value, str):
        raise refusal
    if issubclass(kind, _INTEGERS) and not issubclass(kind, bool) and not isinstance(value, _INTEGERS):
        raise refusal
    if isinstance(value, str) and not issubclass(kind, str | bytes):
        raise refusal
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise refusal from None
