"""How two graphs differ, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.proto.messages import MetaGraphDef

_MOST_LETTERS: Final = 60  # of an attribute
_ARROW: Final = "->"
_DERIVED: Final = frozenset(("_output_shapes",))  # attributes that follow from the rest


@dataclass(frozen=True)
class GraphComparison:
    """How two graphs differ. Nodes of functions go by the name of the function, a colon, and their own."""

    label: str
    """What tells the pair from other pairs of the same models: tags, or nothing."""
    removed: Mapping[str, str]
    """In the first only, with the op of each."""
    added: Mapping[str, str]
    """In the second only."""
    changed: Mapping[str, Sequence[str]]
    """In both, with what differs of each: `op MatMul -> Conv2D`, `inputs …`, `device …`, `shape …`."""
    signatures: Mapping[str, str]
    """Signatures that are "added", "removed" or "changed"."""
    same: int
    """How many nodes are the same."""

    @property
    def is_same(self) -> bool:
        return not (self.removed or self.added or self.changed or self.signatures)


def compare_graphs(first: MetaGraphDef, second: MetaGraphDef, label: str = "") -> GraphComparison:
    """Compares nodes by name: their ops, inputs, devices and attributes; and signatures by key."""
    old, new = dict(_nodes(first)), dict(_nodes(second))
    shared = [name for name in old if name in new]
    differences = {name: node_differences(old[name], new[name]) for name in shared}
    changed = {name: found for name, found in differences.items() if found}
    return GraphComparison(
        label,
        {name: node.op for name, node in old.items() if name not in new},
        {name: node.op for name, node in new.items() if name not in old},
        changed,
        dict(_signatures(first, second)),
        len(shared) - len(changed),
    )


def compare_all_graphs(
    first: Sequence[tuple[str, MetaGraphDef]], second: Sequence[tuple[str, MetaGraphDef]]
) -> list[GraphComparison]:
    """Compares the graphs of two models, those with the same tags with each other; two lone ones whatever their tags.

    A graph without a partner is compared with an empty one.
    """
    if len(first) == len(second) == 1:
        return [compare_graphs(first[0][1], second[0][1], first[0][0])]
    old, new = dict(first), dict(second)
    labels = list(dict.fromkeys((*old, *new)))
    nothing = MetaGraphDef()
    return [compare_graphs(old.get(label, nothing), new.get(label, nothing), label) for label in labels]


def _nodes(meta_graph: MetaGraphDef) -> Iterator[tuple[str, Any]]:
    for node in meta_graph.graph_def.node:
        yield node.name, node
    for function in meta_graph.graph_def.library.function:
        for node in function.node_def:
            yield f"{function.signature.name}:{node.name}", node


def node_differences(first: Any, second: Any) -> list[str]:
    """What differs of two nodes, in words."""
    found = [
        f"{what} {_short(old)} {_ARROW} {_short(new)}"
        for what, old, new in (
            ("op", first.op, second.op),
            ("inputs", ", ".join(first.input), ", ".join(second.input)),
            ("device", first.device, second.device),
        )
        if old != new
    ]
    for key in sorted({*first.attr, *second.attr} - _DERIVED):
        if key not in second.attr:
            found.append(f"{key} {_value(first.attr[key])} {_ARROW} not there")
        elif key not in first.attr:
            found.append(f"{key} not there {_ARROW} {_value(second.attr[key])}")
        elif _bytes(first.attr[key]) != _bytes(second.attr[key]):
            old, new = _value(first.attr[key]), _value(second.attr[key])
            found.append(f"{key} {old} {_ARROW} {new}" if old != new else f"{key} has another value")
    return found


def _bytes(value: Any) -> bytes:
    found: bytes = value.SerializeToString(deterministic=True)
    return found


def _value(value: Any) -> str:
    """An attribute in a few words; tensors by their type and shape."""
    kind = value.WhichOneof("value")
    if kind is None:
        return "nothing"
    if kind == "tensor":
        sizes = ",".join(str(dim.size) for dim in value.tensor.tensor_shape.dim)
        return f"a tensor [{sizes}]"
    content = getattr(value, kind)
    return _short(" ".join(str(content).split()) or "empty")


def _short(text: str) -> str:
    if not text:
        return "none"
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def _signatures(first: MetaGraphDef, second: MetaGraphDef) -> Iterator[tuple[str, str]]:
    for key in sorted({*first.signature_def, *second.signature_def}):
        if key not in second.signature_def:
            yield key, "removed"
        elif key not in first.signature_def:
            yield key, "added"
        elif _bytes(first.signature_def[key]) != _bytes(second.signature_def[key]):
            yield key, "changed"
