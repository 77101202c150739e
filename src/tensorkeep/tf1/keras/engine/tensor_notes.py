"""What Keras knows of tensors: which call of a layer made one, and which of its places are masked.

Tensors have no room for notes of others; these are kept with their graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Graph, Operation, Tensor

_NOTES: Final = object()  # the key of the notes, in `graph.extras`


class History(NamedTuple):
    """The call that made a tensor: the layer, the number of the call, and which of its outputs it is."""

    layer: Any
    node_index: int
    tensor_index: int


class _Notes:
    def __init__(self) -> None:
        self.history: dict[int, tuple[Any, History]] = {}
        self.masks: dict[int, tuple[Any, Any]] = {}
        self.unconditional: set[Any] = set()


def _notes(graph: Graph) -> _Notes:
    found: _Notes | None = graph.extras.get(_NOTES)
    if found is None:
        found = graph.extras[_NOTES] = _Notes()
    return found


def _graph_of(tensor: Any) -> Graph | None:
    graph: Graph | None = getattr(tensor, "graph", None)
    return graph


def history_of(tensor: TensorLike) -> History | None:
    """The call of a layer that made a tensor; None if there was none."""
    graph = _graph_of(tensor)
    found = None if graph is None else _notes(graph).history.get(id(tensor))
    return None if found is None else found[1]


def set_history(tensor: Tensor, history: History) -> None:
    """Notes the call that made a tensor. The tensor is kept as long as its graph is."""
    _notes(tensor.graph).history[id(tensor)] = (tensor, history)


def has_any_history(graph: Graph) -> bool:
    """Whether any tensor of a graph comes from `Input`."""
    return bool(_notes(graph).history)


def mask_of(tensor: object) -> Tensor | None:
    """Which places of a tensor count, as a tensor of booleans; None if all do."""
    graph = _graph_of(tensor)
    found = None if graph is None else _notes(graph).masks.get(id(tensor))
    return None if found is None else found[1]


def set_mask(tensor: Tensor, mask: Tensor | None) -> None:
    """Notes which places of a tensor count."""
    graph = _graph_of(tensor)
    if graph is None:
        return
    if mask is None:
        _notes(graph).masks.pop(id(tensor), None)
    else:
        _notes(graph).masks[id(tensor)] = (tensor, mask)


def is_unconditional(item: Tensor | Operation) -> bool:
    """Whether a loss or an update counts whatever inputs a model has been called with."""
    return item in _notes(item.graph).unconditional


def set_unconditional(item: Tensor | Operation, is_so: bool) -> None:
    """Notes whether a loss or an update counts whatever the inputs are."""
    if is_so:
        _notes(item.graph).unconditional.add(item)


def reachable_from(inputs: Iterable[Any], targets: Iterable[Any] | None = None) -> set[Any]:
    """The tensors and operations that depend on some tensors; the search ends when all targets are found."""
    wanted = None if targets is None else set(targets)
    found: set[Any] = set()
    queue: list[Any] = list(inputs)
    while queue:
        item = queue.pop()
        if item in found:
            continue
        found.add(item)
        if wanted is not None:
            wanted.discard(item)
            if not wanted:
                break
        if isinstance(item, Operation):
            queue.extend([*item.outputs, *item.control_outputs])
        elif isinstance(item, Tensor):
            queue.extend(item.consumers())
        elif hasattr(item, "handle"):
            queue.append(item.handle)
        elif hasattr(item, "values") and hasattr(item, "indices"):
            queue.extend([item.indices, item.values])
    return found
