"""Fetches of any structure: what to compute for them, and how to give the results the same structure.

fetch = tensor | operation | name | variable | None
      | list | tuple | namedtuple | dict | view of a dict's keys or values | attrs class of fetches
      | anything registered with `register_fetch`: SparseTensor, IndexedSlices, …
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping, Sequence, ValuesView
from typing import Any, Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.runtime.elements import graph_element

Rebuild: TypeAlias = Callable[[dict[Any, Any]], Any]
Expansion: TypeAlias = Callable[[Any], tuple[Sequence[Any], Callable[[list[Any]], Any]]]
FeedExpansion: TypeAlias = Callable[[Any, Any], Sequence[tuple[Any, Any]]]

_EXPANSIONS: Final[list[tuple[type, Expansion, FeedExpansion | None]]] = []


def register_fetch(kind: type, expand: Expansion, expand_feed: FeedExpansion | None = None) -> None:
    """Lets objects of a type be fetched: `expand` gives their parts and a function that rebuilds a result from these.

    `expand_feed` gives the pairs to feed for an object and a value.
    """
    _EXPANSIONS.insert(0, (kind, expand, expand_feed))


class FetchPlan:
    """A structure of fetches, flattened."""

    def __init__(self, fetches: Any, graph: Graph) -> None:
        self._graph = graph
        self.tensors: dict[Tensor, None] = {}
        self.operations: dict[Operation, None] = {}
        self.rebuild = self._visit(fetches)
        is_list = type(fetches) is list and all(isinstance(fetch, Tensor) for fetch in fetches)
        self.is_list_of_tensors = is_list and len(self.tensors) == len(fetches)
        """Whether the results, in the order of `tensors`, are what is to be rebuilt."""

    def _visit(self, fetch: Any) -> Rebuild:
        if fetch is None:
            raise WrongTypeError(
                "Fetch argument None has invalid type NoneType: fetch tensors, operations, or structures of them"
            )
        if isinstance(fetch, Tensor | Operation | str | bytes):
            return self._leaf(fetch)
        for kind, expand, _ in _EXPANSIONS:
            if isinstance(fetch, kind):
                parts, contract = expand(fetch)
                return self._sequence(list(parts), contract)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if isinstance(fetch, list | tuple):
            return self._sequence(list(fetch), _contract_like(fetch))
        if isinstance(fetch, KeysView | ValuesView):  # lists in Python 2
            return self._sequence(list(fetch), list)
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
            return self._sequence([getattr(fetch, name) for name in names], lambda items: type(fetch)(*items))
        return self._leaf(fetch)

    def _sequence(self, fetches: list[Any], contract: Callable[[list[Any]], Any]) -> Rebuild:
        parts = [self._visit(fetch) for fetch in fetches]
        return lambda values: contract([part(values) for part in parts])

    def _mapping(self, fetches: Mapping[Any, Any]) -> Rebuild:
        kind = type(fetches)
        parts = {key: self._visit(fetch) for key, fetch in fetches.items()}

        def rebuild(values: dict[Any, Any]) -> Any:
            results = {key: part(values) for key, part in parts.items()}
            return results if kind is dict else _mapping_like(fetches, results)

        return rebuild

    def _leaf(self, fetch: Any) -> Rebuild:
        element = graph_element(fetch, self._graph, "Fetch")
        if (element if isinstance(element, Operation) else element.op) in self._graph.unfetchable:
            raise InvalidArgumentError(f"Operation '{element.name}' has been marked as not fetchable.")
        if isinstance(element, Operation):
            self.operations[element] = None
            return lambda values: None
        self.tensors[element] = None
        return lambda values: values[element]


def _contract_like(fetch: Sequence[Any]) -> Callable[[list[Any]], Any]:
    kind = type(fetch)
    if kind is list:
        return lambda items: items
    if hasattr(kind, "_fields"):
        return lambda items: kind(*items)
    return lambda items: kind(items)  # type: ignore[call-arg]


def _mapping_like(fetches: Mapping[Any, Any], results: dict[Any, Any]) -> Any:
    factory = getattr(fetches, "default_factory", None)
    return type(fetches)(factory, results) if factory is not None else type(fetches)(results)  # type: ignore[call-arg]


def expand_feeds(feeds: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Feeds with composite ones, such as sparse tensors and tuples of tensors, taken apart."""
    if type(feeds) is not dict and not isinstance(feeds, Mapping):  # the first is told in a tenth of the time
        raise WrongTypeError(
            f"feeds are a mapping of tensors to values, got {type(feeds).__name__} {feeds!r}: write {{tensor: value}}"
        )
    pairs: list[tuple[Any, Any]] = []
    for key, value in feeds.items():
        if isinstance(key, Tensor | str):
            pairs.append((key, value))
        else:
            _take_apart(key, value, pairs)
    return pairs


def _take_apart(key: Any, value: Any, pairs: list[tuple[Any, Any]]) -> None:
    for kind, _, expand in _EXPANSIONS:
        if expand is not None and isinstance(key, kind):
            pairs.extend(expand(key, value))
            return
    if not isinstance(key, tuple):
        pairs.append((key, value))
        return
    if not isinstance(value, list | tuple) or len(value) != len(key):
        raise InvalidArgumentError(
            f"a feed of {len(key)} tensors takes as many values, got {type(value).__name__} {value!r} for {key!r}"
        )
    for part, part_value in zip(key, value, strict=True):
        _take_apart(part, part_value, pairs)
