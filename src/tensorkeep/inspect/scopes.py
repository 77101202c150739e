"""Tensors by the scopes in their names: `layer/dense/kernel` is in `layer`, and there in `dense`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tensorkeep.inspect.listing import StoredTensor


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
