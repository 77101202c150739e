"""Graphs as columns, the attributes of a node, shapes and costs, differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tensorkeep.dtypes import dtype_of_number
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.inspect.costs import node_costs
from tensorkeep.inspect.graph_differences import compare_graphs
from tensorkeep.inspect.graphs import End, summarize
from tensorkeep.proto.messages import NodeDef
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.viewer.answers.arrays import array_data
from tensorkeep.viewer.asking import Asked
from tensorkeep.viewer.sources import OpenedGraph

_VARIABLES: Final = frozenset(
    ("VarHandleOp", "VariableV2", "Variable", "TemporaryVariable", "KvVarHandleOp", "AutoReloadVariable")
)
_MOST_FOUND: Final = 1000
_MOST_LETTERS: Final = 2000  # of an attribute
_MOST_VALUE: Final = 1 << 24  # bytes of a constant that are looked at


def graphs(asked: Asked) -> Mapping[str, Any]:
    """The graphs of a source, by their tags."""
    return {"graphs": [{"label": item.label, "nodes": len(item.shown.nodes)} for item in asked.source.graphs]}


def graph(asked: Asked) -> Mapping[str, Any]:
    """A graph with its functions written out: nodes as columns, edges as triples of numbers."""
    opened = asked.graph
    nodes = opened.shown.nodes
    ops = list(dict.fromkeys(node.op for node in nodes))
    numbers = {op: number for number, op in enumerate(ops)}
    edges = [
        part
        for target, node in enumerate(nodes)
        for source, slot in zip(node.input, node.slots, strict=True)
        if source in opened.numbers
        for part in (opened.numbers[source], target, slot)
    ]
    says, sizes = _contents(opened)
    return {
        "label": opened.label,
        "names": [node.name for node in nodes],
        "ops": ops,
        "op": [numbers[node.op] for node in nodes],
        "edges": edges,
        "says": says,
        "bytes": sizes,
        "signatures": _signatures(opened),
        "functions": len(opened.meta_graph.graph_def.library.function),
    }


def _contents(opened: OpenedGraph) -> tuple[dict[int, str], dict[int, int]]:
    """Of constants, variables and placeholders their type and shape, and of the first two how many bytes they take."""
    says: dict[int, str] = {}
    sizes: dict[int, int] = {}
    for number, node in enumerate(opened.shown.nodes):
        if node.op != "Const" and node.op not in _VARIABLES and not node.op.startswith("Placeholder"):
            continue
        told = _type_and_shape(opened.message(number))
        if told is None:
            continue
        dtype, sizes_of, nbytes = told
        says[number] = f"{dtype} [{','.join('?' if size < 0 else str(size) for size in sizes_of)}]"
        if nbytes is not None and not node.op.startswith("Placeholder"):
            sizes[number] = nbytes
    return says, sizes


def _type_and_shape(node: NodeDef) -> tuple[str, list[int], int | None] | None:
    attributes = node.attr
    if "value" in attributes and node.op == "Const":
        proto = attributes["value"].tensor
        number, shape = proto.dtype, proto.tensor_shape
    elif "dtype" in attributes and "shape" in attributes:
        number, shape = attributes["dtype"].type, attributes["shape"].shape
    else:
        return None
    try:
        dtype = dtype_of_number(number)
    except TensorKeepError:
        return None
    dims = [dim.size for dim in shape.dim]
    count = 1
    for size in dims:
        count *= max(size, 0)
    is_known = not dtype.is_object and not shape.unknown_rank and min(dims, default=0) >= 0
    return dtype.name, dims, count * dtype.itemsize if is_known else None


def _signatures(opened: OpenedGraph) -> list[dict[str, Any]]:
    summary = summarize(opened.label, opened.meta_graph)

    def told(end: End) -> dict[str, Any]:
        node = opened.numbers.get(opened.shown.source(end.tensor))
        return {"name": end.name, "tensor": end.tensor, "dtype": end.dtype, "shape": end.shape, "node": node}

    return [
        {"name": name, "inputs": [told(end) for end in inputs], "outputs": [told(end) for end in outputs]}
        for name, (inputs, outputs) in summary.signatures.items()
    ]


# ---------------------------------------------------------------------------------------------------------------- nodes


def node(asked: Asked) -> Mapping[str, Any]:
    """What is written of one node: attributes, device, the function that has it, and the value of a constant."""
    opened, number = asked.graph, asked.integer("node")
    if not 0 <= number < len(opened.shown.nodes):
        raise InvalidArgumentError(f"the graph has {len(opened.shown.nodes):,} nodes, and no node {number}")
    shown, message = opened.shown.nodes[number], opened.message(number)
    told: dict[str, Any] = {
        "name": shown.name,
        "op": message.op,
        "device": message.device,
        "function": shown.place.function,
        "own_name": shown.place.node,
        "calls": list(shown.place.calls),
        "attributes": [[key, attribute_text(message.attr[key])] for key in sorted(message.attr)],
        "value": None,
    }
    if message.op == "Const" and message.attr["value"].tensor.ByteSize() <= _MOST_VALUE:
        try:
            told["value"] = array_data(array_of_tensor(message.attr["value"].tensor, shown.name))
        except TensorKeepError as error:
            told["attributes"].append(["value", f"cannot be read: {error}"])
    return told


def graph_search(asked: Asked) -> Mapping[str, Any]:
    """The nodes that have a text in an attribute, its name or what it says; those of a page's own are found there."""
    opened, text = asked.graph, asked.text("text").lower()
    found: list[int] = []
    for number in range(len(opened.shown.nodes)) if text else ():
        attributes = opened.message(number).attr
        if any(text in key.lower() or text in attribute_text(attributes[key]).lower() for key in attributes):
            found.append(number)
            if len(found) == _MOST_FOUND:
                break
    return {"nodes": found}


def attribute_text(value: Any) -> str:
    """An attribute in words; of tensors their type and shape."""
    kind = value.WhichOneof("value")
    if kind is None:
        return "nothing"
    if kind == "list":
        found = value.list
        for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            if len(items := getattr(found, name)):
                return _cut_text(f"[{', '.join(_item_text(name, item) for item in items[:200])}]")
        return "[]"
    return _cut_text(_item_text(kind, getattr(value, kind)))


def _item_text(kind: str, item: Any) -> str:
    if kind == "s":
        return item.decode("utf-8", "backslashreplace") if isinstance(item, bytes) else str(item)
    if kind == "type":
        return _type_text(item)
    if kind == "shape":
        return _shape_text(item)
    if kind == "tensor":
        return f"{_type_text(item.dtype)} {_shape_text(item.tensor_shape)}"
    if kind == "func":
        return f"function {item.name}"
    return f"{item:.8g}" if isinstance(item, float) else str(item)


def _type_text(number: int) -> str:
    try:
        return dtype_of_number(number).name
    except TensorKeepError:
        return f"type {number}"


def _shape_text(shape: Any) -> str:
    if shape.unknown_rank:
        return "of any shape"
    return f"[{','.join('?' if dim.size < 0 else str(dim.size) for dim in shape.dim)}]"


def _cut_text(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}… ({len(text):,} letters)"


# ---------------------------------------------------------------------------------------------------- shapes and costs


def graph_costs(asked: Asked) -> Mapping[str, Any]:
    """Of each node the type and shape of what it gives, and how many floating-point operations it takes."""
    opened = asked.graph
    found = asked.source.kept(
        f"costs {asked.integer('graph', 0)}", lambda: node_costs(opened.meta_graph.graph_def, asked.progress)
    )
    outputs: list[list[str]] = []
    operations: list[int | None] = []
    for item in opened.shown.nodes:
        known = found.get((item.place.function, item.place.node))
        outputs.append([] if known is None else list(known.outputs))
        operations.append(None if known is None else known.operations)
    return {"outputs": outputs, "operations": operations}


# ---------------------------------------------------------------------------------------------------------- differences


def graph_difference(asked: Asked) -> Mapping[str, Any]:
    """How the graph of a source differs from that of another: by the numbers of its nodes what was added or changed."""
    opened = asked.graph
    before = asked.sources[asked.integer("before")].graph(asked.integer("graph", 0))
    found = compare_graphs(before.meta_graph, opened.meta_graph, opened.label)
    numbers = dict(_numbered_nodes(opened))
    return {
        "same": found.same,
        "removed": [[name, op] for name, op in found.removed.items()],
        "added": [[name, op, numbers.get(name)] for name, op in found.added.items()],
        "changed": [[name, list(texts), numbers.get(name)] for name, texts in found.changed.items()],
        "signatures": [[name, what] for name, what in found.signatures.items()],
    }


def _numbered_nodes(opened: OpenedGraph) -> Iterator[tuple[str, int]]:
    """The nodes that are shown, by the names that a comparison gives them."""
    for number, item in enumerate(opened.shown.nodes):
        yield (f"{item.place.function}:{item.place.node}" if item.place.function else item.place.node), number
