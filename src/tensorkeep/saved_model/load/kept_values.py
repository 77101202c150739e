"""Values that variables and tables of a model get when it is loaded, by its initialization and not by a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType, dtype_in_graph
from tensorkeep.graph.building import building
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.rewriting.freezing import VariableNode
from tensorkeep.graph.scopes import free_name
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.constants import MAIN_OP_KEY
from tensorkeep.saved_model.files.layout import init_op_name
from tensorkeep.saving.loaded_values import LoadedValues

_DENSE: Final = "MutableDenseHashTable"
_CHANGING: Final = ("MutableHashTable", _DENSE)  # and "OfTensors", "V2": these a checkpoint fills


def table_contents(loaded: Session | LoadedValues, graph_def: GraphDef) -> dict[str, tuple[Array, Array]]:
    """The keys and values that tables of a graph have once loaded, by their nodes: of those that can be changed."""
    tables = [node for node in graph_def.node if node.op.startswith(_CHANGING)]
    if isinstance(loaded, LoadedValues):
        return {node.name: loaded.table(node.name) for node in tables}
    return {node.name: _contents(loaded, node) for node in tables}


def _contents(session: Session, node: NodeDef) -> tuple[Array, Array]:
    table = session.graph.operation(node.name)
    types = [dtype_in_graph(node.attr[key].type) for key in ("key_dtype", "value_dtype")]
    with building(session.graph):
        exported = get_op(f"LookupTableExport{_version(node)}")(table.outputs[0], Tkeys=types[0], Tvalues=types[1])
    keys, values = session.run(list(exported))
    if not node.op.startswith(_DENSE):
        return keys, values
    free = [np.asarray(item) for item in session.run(list(table.inputs))]  # keys of places that are not taken
    keys = keys.reshape(-1, *free[0].shape)
    sizes = [dim.size for dim in node.attr["value_shape"].shape.dim] if "value_shape" in node.attr else []
    values = values.reshape(-1, *sizes)
    inner = tuple(range(1, keys.ndim))
    taken = np.all([(keys != key).any(axis=inner) if inner else keys != key for key in free], axis=0)
    return keys[taken], values[taken]


def set_values_first(
    meta_graph: MetaGraphDef,
    variables: Sequence[VariableNode],
    values: Mapping[str, Array],
    tables: Mapping[str, tuple[Array, Array]],
) -> None:
    """Changes what initializes a meta graph of TensorFlow 1: it sets these variables and tables first, as stated, and
    then does what it did before.
    """
    if not variables and not tables:
        return
    taken = {node.name for node in meta_graph.graph_def.node}
    assigned = [_add_assignment(meta_graph, item, values[item.name], taken) for item in variables]
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    assigned += [_add_insertion(meta_graph, nodes[name], contents, taken) for name, contents in tables.items()]
    start = init_op_name(meta_graph)
    made = meta_graph.graph_def.node.add(name=_free(taken, "set_kept_values"), op="NoOp")
    made.input.extend(f"^{name}" for name in [*assigned, *([start] if start else [])])
    meta_graph.collection_def[MAIN_OP_KEY].node_list.value[:] = [made.name]


def _add_assignment(meta_graph: MetaGraphDef, variable: VariableNode, value: Array, taken: set[str]) -> str:
    dtype = variable.dtype.base_dtype
    constant = _add_constant(meta_graph, f"{variable.name}/kept_value", value, dtype, taken)
    assign: NodeDef = meta_graph.graph_def.node.add(name=_free(taken, f"{variable.name}/keep_value"))
    assign.op = "AssignVariableOp" if variable.is_resource else "Assign"
    assign.input.extend([variable.name, constant])
    assign.attr["dtype" if variable.is_resource else "T"].type = dtype.number
    return assign.name


def _add_insertion(meta_graph: MetaGraphDef, table: NodeDef, contents: tuple[Array, Array], taken: set[str]) -> str:
    types = [dtype_in_graph(table.attr[key].type) for key in ("key_dtype", "value_dtype")]
    sides = zip(("kept_keys", "kept_values"), contents, types, strict=True)
    constants = [_add_constant(meta_graph, f"{table.name}/{word}", array, dtype, taken) for word, array, dtype in sides]
    fill: NodeDef = meta_graph.graph_def.node.add(name=_free(taken, f"{table.name}/keep_values"))
    fill.op = f"LookupTableInsert{_version(table)}"
    fill.input.extend([table.name, *constants])
    fill.attr["Tin"].type, fill.attr["Tout"].type = types[0].number, types[1].number
    return fill.name


def _version(table: NodeDef) -> str:
    return "V2" if table.op.endswith("V2") else ""


def _add_constant(meta_graph: MetaGraphDef, name: str, value: Array, dtype: DType, taken: set[str]) -> str:
    constant = meta_graph.graph_def.node.add(name=_free(taken, name), op="Const")
    constant.attr["dtype"].type = dtype.number
    constant.attr["value"].tensor.CopyFrom(tensor_of_array(value, dtype))
    found: str = constant.name
    return found


def _free(taken: set[str], name: str) -> str:
    found = free_name(name, taken)
    taken.add(found)
    return found
