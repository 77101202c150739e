"""Which tensors of a listing are wanted, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
