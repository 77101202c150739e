"""What the caller of an import says: the inputs that are replaced, the elements that are returned, the scope.

Names may be text or bytes, as in TensorFlow. A tensor is "op:1", or "op" for its first output; an operation that
others wait for is "^op". Complaints are in the words of TensorFlow's importer.py, which programs look for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor, is_index


class open_scope:  # noqa: N801 - stands in for name_scope
    """The scope that is open already."""

    def __init__(self, graph: Graph) -> None:
        self._name = graph.scopes.name

    def __enter__(self) -> str:
        return f"{self._name}/" if self._name else ""

    def __exit__(self, *_: object) -> None:
        pass


def wanted_names(return_elements: Iterable[Any] | None) -> tuple[str, ...] | None:
    """The names of what is to be returned, as text."""
    if return_elements is None:
        return None
    given = list(return_elements)
    if not all(isinstance(name, str | bytes) for name in given):
        raise WrongTypeError(f"Argument `return_elements` must be a list of strings. Obtained {given}.")
    return tuple(_as_text(name, "return_elements") for name in given)


def mapped_names(input_map: Mapping[str, Any] | Mapping[bytes, Any] | None) -> dict[str, Any]:
    """The map by names as text."""
    if input_map is None:
        return {}
    if not isinstance(input_map, Mapping):
        raise WrongTypeError(f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}")
    keys = list(input_map)
    if not all(isinstance(key, str | bytes) for key in keys):
        raise WrongTypeError(f"All keys for argument `input_map` must be strings. Obtained keys: {keys}")
    return {_as_text(key, "input_map"): value for key, value in input_map.items()}


def replacements(input_map: Mapping[str, Any], prefix: str, graph: Graph) -> dict[str, Tensor | Operation]:
    """The map with keys in one form ("op:0", "^op"), and with tensors made of values that are none."""
    replaced: dict[str, Tensor | Operation] = {}
    for key, value in input_map.items():
        if key.startswith("^"):
            replaced[key] = value if isinstance(value, Operation) else value.op
            continue
        name, index = tensor_name_parts(key if ":" in key else f"{key}:0")
        if not isinstance(value, Tensor):
            if not prefix:
                raise InvalidArgumentError(
                    "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. "
                    "Try calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
                )
            with name_scope("_inputs", graph):
                value = convert(value)
        replaced[f"{name}:{index}"] = value
    return replaced


def tensor_name_parts(name: str) -> tuple[str, int]:
    """("op", 1) of "op:1"."""
    parts = name.split(":")
    if len(parts) != 2:
        raise InvalidArgumentError(
            f"Cannot convert {name!r} to a tensor name. Tensor names should not contain more than 1 `:`. "
            f"Obtained {len(parts) - 1}"
        )
    if not is_index(parts[1]):
        raise InvalidArgumentError(
            f"Cannot convert {name!r} to a tensor name. Second component of the name following the `:` should be an "
            f"int. Got {parts[1]}."
        )
    return parts[0], int(parts[1])


def _as_text(name: str | bytes, argument: str) -> str:
    try:
        return name if isinstance(name, str) else name.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{argument}: {name!r} is no name, for it is not UTF-8: {error}") from None
