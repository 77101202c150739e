"""Outputs in collections under names, collections of variables by the kind of variable, and sizes of tensors.

An output has names besides its own, those of the scopes that gave it: its aliases. Networks return their outputs by
these names, as end points.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, SupportsIndex, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import add_to_collections, get_collection
from tensorkeep.graph.collections import clear_collection as clear_graph_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.variables.options import CollectionNames

_ALIASES: Final = object()  # the key of the aliases by the names of tensors, in `graph.extras`
VariableCollections: TypeAlias = "Sequence[str] | Mapping[str, Sequence[str]] | None"
"""Collections that variables go to: for all kinds, or by the kind of variable ("weights", "biases" ...)."""


def collect_named_outputs(collections: CollectionNames | None, alias: str, outputs: Tensor) -> Tensor:
    """Adds outputs to collections under an alias, and gives them back."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(current_graph(), collections, outputs)
    return outputs


def append_tensor_alias(tensor: Tensor, alias: str) -> Tensor:
    """Adds an alias to a tensor, and gives the tensor back."""
    _aliases(tensor).append(alias[:-1] if alias.endswith("/") else alias)
    return tensor


def _aliases(tensor: Any) -> list[str]:
    kept: dict[str, list[str]] = tensor.graph.extras.setdefault(_ALIASES, {})
    return kept.setdefault(tensor.name, [])


def get_tensor_aliases(tensor: Tensor) -> list[str]:
    """The names that a tensor is known by: its aliases, or its own name without the number of the output."""
    aliases = _aliases(tensor)
    if aliases:
        return list(aliases)
    name = tensor.name
    return [name[:-2] if name.endswith(":0") else name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The names that some tensors are known by."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> OrderedDict[str, Any]:
    """The tensors of a collection by the names that they are known by; the collection is emptied if so told."""
    graph = current_graph()
    found = [(alias, tensor) for tensor in get_collection(graph, collection) for alias in get_tensor_aliases(tensor)]
    if clear_collection:
        clear_graph_collection(graph, collection)
    return OrderedDict(found)


def get_variable_collections(variables_collections: VariableCollections, name: str) -> Sequence[str] | None:
    """The collections for variables of that kind."""
    if isinstance(variables_collections, Mapping):
        return variables_collections.get(name)
    return variables_collections


def two_element_tuple(int_or_tuple: IntegersLike | TensorShape) -> tuple[int, int]:
    """A pair of numbers, given as one for both, as two, or as a shape of two."""
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    sizes: Any = int_or_tuple.as_list() if isinstance(int_or_tuple, TensorShape) else int_or_tuple
    if not isinstance(sizes, list | tuple) or len(sizes) != 2 or None in sizes:
        raise InvalidArgumentError(
            f"Must be an int, a list with 2 elements or a TensorShape of length 2: {int_or_tuple}"
        )
    return int(sizes[0]), int(sizes[1])


def n_positive_integers(n: int, value: IntegersLike | TensorShape) -> tuple[int, ...]:
    """`n` numbers above zero, given as one for all or one by one."""
    count = operator.index(n)
    if count < 1:
        raise InvalidArgumentError(f"n must be a positive integer, not {n}")
    given: Any = value.as_list() if isinstance(value, TensorShape) else value
    numbers = (given,) * count if isinstance(given, int) else tuple(given)
    if len(numbers) != count or any(not isinstance(item, SupportsIndex) or int(item) < 1 for item in numbers):
        raise InvalidArgumentError(f"Need {count} positive integers or one for all, got {value}")
    return tuple(int(item) for item in numbers)


def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """The size of the last dimension, which must be known."""
    return _dimension(shape, -1, min_rank)


def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """How many channels a tensor has, which must be known."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def _dimension(shape: TensorShape, axis: int, min_rank: int) -> int:
    if shape.rank is None:
        raise InvalidArgumentError("dims of shape must be known but is None")
    if shape.rank < min_rank:
        raise InvalidArgumentError(f"rank of shape must be at least {min_rank} not: {shape.rank}")
    size = shape[axis].value
    if size is None:
        raise InvalidArgumentError(f"dimension {axis} of shape {shape} must be known but is None")
    return size


def data_format_name(data_format: str | None, allowed: Sequence[str]) -> str:
    """What layers call a data format by; the contrib layers know it by letters."""
    if data_format is not None and data_format not in allowed:
        raise InvalidArgumentError(f"data_format has to be either {' or '.join(allowed)}. Got: {data_format}")
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"
