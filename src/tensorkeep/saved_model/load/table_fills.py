"""What has to run before signatures do, in graphs that name no operation for it: tables are filled.

TensorFlow 2 loads such a model by what `Scaffold` has by default, the initializers of tables and of local variables in
its collections. Here only those count that the signatures need: the others may read files that are long gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.rewriting.pruning import needed_nodes, source_of
from tensorkeep.proto.messages import CollectionDef, MetaGraphDef, SignatureDef, VariableDef, parse
from tensorkeep.saved_model.files.layout import init_op_name, signature_keys
from tensorkeep.saved_model.files.tensor_info import tensor_names

_TABLES: Final = frozenset(("HashTable", "HashTableV2"))  # those that are empty until an operation fills them
_FILLS: Final = ("InitializeTable", "LookupTableImport")  # and what comes behind, such as "V2"


def initial_operations(meta_graph: MetaGraphDef) -> list[str]:
    """What runs before signatures: what the model names for it, otherwise what its signatures need."""
    if init := init_op_name(meta_graph):
        return [init]
    signatures = [meta_graph.signature_def[key] for key in signature_keys(meta_graph)]
    return [*local_initializers(meta_graph, signatures), *needed_fills(meta_graph, signatures)]


def needed_fills(meta_graph: MetaGraphDef, signatures: Iterable[SignatureDef]) -> list[str]:
    """The operations that fill the tables which these signatures need: of the collection, else of the graph."""
    tables = {node.name for node in meta_graph.graph_def.node if node.op in _TABLES}
    tables = tables and tables & _reached_nodes(meta_graph, signatures)
    if not tables:
        return []
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    collection = _collection(meta_graph, GraphKeys.TABLE_INITIALIZERS)
    listed = [source_of(name) for name in collection.node_list.value]
    fills = listed or [name for name, node in nodes.items() if node.op.startswith(_FILLS)]
    return [name for name in fills if name in nodes and tables & needed_nodes(meta_graph.graph_def, [name])]


def local_initializers(meta_graph: MetaGraphDef, signatures: Iterable[SignatureDef]) -> list[str]:
    """The operations that set the local variables which these signatures need."""
    collection = _collection(meta_graph, GraphKeys.LOCAL_VARIABLES)
    items = [parse(VariableDef, data, "a local variable") for data in collection.bytes_list.value]
    reached = _reached_nodes(meta_graph, signatures) if items else set()
    return [source_of(item.initializer_name) for item in items if source_of(item.variable_name) in reached]


def _collection(meta_graph: MetaGraphDef, key: str) -> CollectionDef:
    return meta_graph.collection_def[key] if key in meta_graph.collection_def else CollectionDef()


def _reached_nodes(meta_graph: MetaGraphDef, signatures: Iterable[SignatureDef]) -> set[str]:
    graph_def = meta_graph.graph_def
    names = {node.name for node in graph_def.node}
    outputs = [info for signature in signatures for info in signature.outputs.values()]
    wanted = {source_of(name) for info in outputs for name in tensor_names(info)}
    return needed_nodes(graph_def, wanted & names)
