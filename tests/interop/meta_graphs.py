"""Meta graphs beside TensorFlow's, field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import meta_graph as their_meta_graph

import tensorkeep.v1 as ours
from tensorkeep.graph.devices import canonical_device
from tensorkeep.graph.messages.attrs import decode_attr
from tensorkeep.metagraph.exporting import export_scoped_meta_graph
from tensorkeep.metagraph.importing import Imported, import_meta_graph
from tensorkeep.proto.messages import CondContextDef, Message, MetaGraphDef, WhileContextDef
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1
_CONTEXTS = {"cond_context": CondContextDef, "while_context": WhileContextDef}


def our_graph(program: Callable[[Any], Any]) -> Any:
    with ours.Graph().as_default() as graph:
        program(ours)
    return graph


def their_graph(program: Callable[[Any], Any]) -> Any:
    with tensorflow_1(), v1.Graph().as_default() as graph:
        program(v1)
    return graph


def our_export(graph: Any, **options: Any) -> MetaGraphDef:
    return export_scoped_meta_graph(graph, **options)[0]


def their_export(graph: Any, **options: Any) -> MetaGraphDef:
    """What TensorFlow exports, as our message."""
    with tensorflow_1(), graph.as_default():
        proto, _ = their_meta_graph.export_scoped_meta_graph(graph=graph, **options)
    return as_ours(proto)


def as_ours(proto: Any) -> MetaGraphDef:
    return MetaGraphDef.FromString(proto.SerializeToString())


def as_theirs(proto: MetaGraphDef) -> Any:
    return v1.MetaGraphDef.FromString(proto.SerializeToString())


def our_import(proto: MetaGraphDef, prepare: Callable[[Any], dict[str, Any]] | None = None, **options: Any) -> Any:
    """A graph of ours that the meta graph was imported into; `prepare` makes its input map."""
    return _our_import(proto, prepare, **options)[0]


def _our_import(proto: MetaGraphDef, prepare: Any, **options: Any) -> tuple[Any, Imported]:
    with ours.Graph().as_default() as graph:
        bound = prepare(ours) if prepare is not None else None
        return graph, import_meta_graph(proto, graph, input_map=bound, **options)


def their_import(proto: MetaGraphDef, prepare: Callable[[Any], dict[str, Any]] | None = None, **options: Any) -> Any:
    with tensorflow_1(), v1.Graph().as_default() as graph:
        bound = prepare(v1) if prepare is not None else None
        their_meta_graph.import_scoped_meta_graph(as_theirs(proto), input_map=bound, **options)
    return graph


def differences(ours: MetaGraphDef, theirs: MetaGraphDef, is_part: bool = False) -> list[str]:
    """What is not the same in two meta graphs, in words. Shapes that we know better are the same.

    Of a part of a graph TensorFlow does not sort the control inputs of nodes, and may write ":0" where others do not.
    """
    found: list[str] = []
    for name in ("meta_info_def", "saver_def", "signature_def", "asset_file_def", "object_graph_def"):
        if getattr(ours, name) != getattr(theirs, name):
            found.append(f"{name}: {_first_difference(getattr(ours, name), getattr(theirs, name))}")
    found += _node_differences(ours, theirs, is_part)
    if ours.graph_def.versions != theirs.graph_def.versions:
        found.append(f"versions: {ours.graph_def.versions} {theirs.graph_def.versions}")
    if _library(ours) != _library(theirs):
        found.append(f"library: {sorted(_library(ours))} {sorted(_library(theirs))}")
    mine, other = set(ours.collection_def), set(theirs.collection_def)
    if mine != other:
        found.append(f"collections: surplus {sorted(mine - other)}, missing {sorted(other - mine)}")
    for key in sorted(mine & other):
        a, b = _normal(key, ours.collection_def[key]), _normal(key, theirs.collection_def[key])
        if a != b:
            found.append(f"collection {key}:\n{a}\n{b}")
    return found


def _library(proto: MetaGraphDef) -> dict[str, Any]:
    """Functions and gradients by name: TensorFlow writes them in the order of a hash table.

    It forgets, importing, the gradients that are registered by the name of an op; we do not.
    """
    library = proto.graph_def.library
    functions = {function.signature.name: function for function in library.function}
    gradients = {f"gradient of {item.function_name}": item.gradient_func for item in library.gradient}
    return {**functions, **gradients}


def _node_differences(ours: MetaGraphDef, theirs: MetaGraphDef, is_part: bool) -> list[str]:
    mine, other = list(ours.graph_def.node), list(theirs.graph_def.node)
    if [node.name for node in mine] != [node.name for node in other]:
        return [f"nodes: {[node.name for node in mine]}\n{[node.name for node in other]}"]
    found = []
    for a, b in zip(mine, other, strict=True):
        if _is_known_better(a.attr, b.attr):
            a.attr.pop("_output_shapes", None)
            b.attr.pop("_output_shapes", None)
        if "_class" in b.attr:  # TensorFlow, importing, takes the device from the operation that the node is to be with
            a.device = b.device = ""
        for node in (a, b):
            node.device = canonical_device(node.device)
            if is_part:
                node.input[:] = _edges(node.input)
        if a != b:
            found.append(f"node {a.name}: {_first_difference(a, b)}")
    return found


def _edges(inputs: Iterable[str]) -> list[str]:
    """Inputs in one form and order."""
    controls = [edge for edge in inputs if edge.startswith("^")]
    return [edge.removesuffix(":0") for edge in inputs if not edge.startswith("^")] + sorted(controls)


def _is_known_better(ours: Any, theirs: Any) -> bool:
    """Whether we know all that TensorFlow does of a node's shapes: it does not look into every constant."""
    if "_output_shapes" not in ours or "_output_shapes" not in theirs:
        return False
    mine, other = decode_attr(ours["_output_shapes"]), decode_attr(theirs["_output_shapes"])
    pairs = zip(mine, other, strict=False)
    return len(mine) == len(other) and all(a.is_compatible(b) and a.merge(b) == a for a, b in pairs)


def _first_difference(a: Message, b: Message) -> str:
    mine, other = str(a).splitlines(), str(b).splitlines()
    for i, (left, right) in enumerate(zip(mine, other, strict=False)):
        if left != right:
            return "\n".join(["", *mine[max(0, i - 9) : i + 12], "--- theirs:", *other[max(0, i - 9) : i + 12]])
    return f"{len(mine)} and {len(other)} lines"


def _normal(key: str, collection: Any) -> Any:
    """A collection to compare: messages as such, since the bytes of maps inside them have no fixed order."""
    if key in _CONTEXTS:
        return [_CONTEXTS[key].FromString(value) for value in collection.bytes_list.value]
    return collection


def assert_same(ours: MetaGraphDef, theirs: MetaGraphDef, is_part: bool = False) -> None:
    found = differences(ours, theirs, is_part)
    assert not found, "\n".join(found[:5])
