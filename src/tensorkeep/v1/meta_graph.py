"""Meta graphs: `tf.train.export_meta_graph`, `import_meta_graph`, and TensorFlow's module `framework.meta_graph`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.metagraph import exporting, files, importing, op_list
from tensorkeep.metagraph.collections import register_proto_function
from tensorkeep.metagraph.files import loaded_meta_graph, read_meta_graph_file
from tensorkeep.metagraph.importing import copy_scope
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, OpList, SaverDef
from tensorkeep.v1.defaults import get_default_graph
from tensorkeep.v1.stored.saving import Saver


def export_meta_graph(
    filename: PathLike | None = None,
    meta_info_def: MetaGraphDef.MetaInfoDef | None = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> MetaGraphDef:
    """The graph with all that goes with it as a message, which is written to a file if one is named."""
    return export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )[0]


def export_scoped_meta_graph(
    filename: PathLike | None = None,
    graph_def: GraphDef | None = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    clear_devices: bool = False,
    saver_def: SaverDef | None = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: object,
) -> tuple[MetaGraphDef, dict[str, Any]]:
    """What `export_meta_graph` gives, and the variables of the scope by their names without it."""
    proto, variables = exporting.export_scoped_meta_graph(
        graph or get_default_graph(),
        graph_def=graph_def,
        saver_def=saver_def,
        export_scope=export_scope,
        unbound_inputs_col_name=unbound_inputs_col_name,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    files.write_exported(proto, filename, as_text=as_text, save_debug_info=save_debug_info)
    return proto, variables


def import_meta_graph(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds the nodes of a meta graph to the graph, and its collections; gives its saver, None if nothing is saved."""
    proto = loaded_meta_graph(meta_graph_or_file)
    variables, _ = import_scoped_meta_graph_with_return_elements(
        proto, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )
    saver: Saver | None = importing.saver_for(proto, import_scope, variables, Saver)
    return saver


def import_scoped_meta_graph(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> dict[str, Any]:
    """Adds the nodes of a meta graph to a graph, and its collections; gives the variables by their names in it."""
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file,
        clear_devices,
        graph,
        import_scope,
        input_map,
        unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: MetaGraphDef | PathLike,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = "unbound_inputs",
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[Tensor | Operation] | None]:
    """As `import_scoped_meta_graph`, with the tensors and operations that `return_elements` names."""
    imported = importing.import_meta_graph(
        loaded_meta_graph(meta_graph_or_file),
        graph or get_default_graph(),
        clear_devices=clear_devices,
        import_scope=import_scope,
        input_map=input_map,
        unbound_inputs_col_name=unbound_inputs_col_name,
        restore_collections_predicate=restore_collections_predicate,
        return_elements=return_elements,
    )
    return imported.variables, imported.elements


def copy_scoped_meta_graph(
    from_scope: str, to_scope: str, from_graph: Graph | None = None, to_graph: Graph | None = None
) -> dict[str, Any]:
    """Copies all of a scope into another one; gives the copied variables."""
    return copy_scope(from_graph or get_default_graph(), from_scope, to_graph or get_default_graph(), to_scope)


def stripped_op_list_for_graph(graph_def: GraphDef) -> OpList:
    """The signatures of the ops that a graph uses."""
    return op_list.stripped_op_list(graph_def)


def ops_used_by_graph_def(graph_def: GraphDef) -> list[str]:
    """The names of the ops that a graph uses."""
    return list(op_list.ops_used_by(graph_def))


__all__ = [
    "copy_scoped_meta_graph",
    "export_meta_graph",
    "export_scoped_meta_graph",
    "import_meta_graph",
    "import_scoped_meta_graph",
    "import_scoped_meta_graph_with_return_elements",
    "ops_used_by_graph_def",
    "read_meta_graph_file",
    "register_proto_function",
    "stripped_op_list_for_graph",
]
