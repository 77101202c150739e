"""Listings arranged: which tensors are wanted, in which order, and all of them by scope.

layer/dense/kernel      is in the scope `layer`, and there in `dense`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tensorkeep.edit.names import Selection
from tensorkeep.inspect.listing import StoredTensor


class SortKey(Enum):
    """What tensors are sorted by. Sizes come largest first."""

    NAME = "name"
    BYTES = "bytes"
    ELEMENTS = "elements"
    TYPE = "type"
    STORED = "stored"
    """The order in the checkpoint."""


@dataclass(frozen=True)
class Order:
    """In which order tensors come."""

    key: SortKey = SortKey.STORED
    is_reversed: bool = False


def selected(
    tensors: Iterable[StoredTensor], selection: Selection = Selection(), order: Order = Order()
) -> list[StoredTensor]:
    """The tensors that are wanted, in the order that is wanted; none, if the selection fits none."""
    found = list(tensors)
    if selection != Selection():
        wanted = set(selection.among(tensor.name for tensor in found))
        found = [tensor for tensor in found if tensor.name in wanted]
    if order.key is not SortKey.STORED:
        found.sort(key=_KEYS[order.key])
    return found[::-1] if order.is_reversed else found


_KEYS: dict[SortKey, Callable[[StoredTensor], Any]] = {
    SortKey.NAME: lambda tensor: tensor.name,
    SortKey.BYTES: lambda tensor: (-(tensor.nbytes or 0), tensor.name),
    SortKey.ELEMENTS: lambda tensor: (-tensor.elements, tensor.name),
    SortKey.TYPE: lambda tensor: (tensor.dtype.name, tensor.name),
}


@dataclass
class Scope:
    """A scope, or the whole of a checkpoint, whose name is empty."""

    name: str
    scopes: dict[str, Scope] = field(default_factory=dict)
    tensors: list[StoredTensor] = field(default_factory=list)
    count: int = 0
    """The tensors in it and in the scopes below it."""
    elements: int = 0
    nbytes: int = 0

    def add(self, parts: list[str], tensor: StoredTensor) -> None:
        """Adds a tensor whose name, from here on, has these parts."""
        self.count += 1
        self.elements += tensor.elements
        self.nbytes += tensor.nbytes or 0
        if len(parts) == 1:
            self.tensors.append(tensor)
        else:
            self.scopes.setdefault(parts[0], Scope(parts[0])).add(parts[1:], tensor)

    def walk(self, depth: int | None = None, level: int = 0) -> Iterator[tuple[int, Scope | StoredTensor]]:
        """What is in it, scopes before tensors, with the level of each; to a depth, if one is given."""
        for scope in self.scopes.values():
            yield level, scope
            if depth is None or level + 1 < depth:
                yield from scope.walk(depth, level + 1)
        for tensor in self.tensors:
            yield level, tensor


def scope_tree(tensors: Iterable[StoredTensor]) -> Scope:
    """All tensors by their scopes."""
    root = Scope("")
    for tensor in tensors:
        root.add(_parts(tensor.name), tensor)
    return root


def _parts(name: str) -> list[str]:
    """The parts of a name. Names with absurdly many slashes are not taken apart for ever."""
    return name.split("/", 64)
