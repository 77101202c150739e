"""Values that variables of a model get when it is loaded, by its initialization rather than by a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from tensorkeep.graph.freezing import VariableNode
from tensorkeep.proto.messages import MetaGraphDef, NodeDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.saved_model.constants import MAIN_OP_KEY
from tensorkeep.saved_model.layout import init_op_name


def set_values_first(
    meta_graph: MetaGraphDef, variables: Sequence[VariableNode], values: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Has the operation that initializes a meta graph of TensorFlow 1 set variables to values, and do what it did."""
    if not variables:
        return
    taken = {node.name for node in meta_graph.graph_def.node}
    assigned = [_add_assignment(meta_graph, item, values[item.name], taken) for item in variables]
    start = init_op_name(meta_graph)
    made = meta_graph.graph_def.node.add(name=_free(taken, "set_kept_values"), op="NoOp")
    made.input.extend(f"^{name}" for name in [*assigned, *([start] if start else [])])
    meta_graph.collection_def[MAIN_OP_KEY].node_list.value[:] = [made.name]


def _add_assignment(meta_graph: MetaGraphDef, variable: VariableNode, value: npt.NDArray[Any], taken: set[str]) -> str:
    nodes = meta_graph.graph_def.node
    constant = nodes.add(name=_free(taken, f"{variable.name}/kept_value"), op="Const")
    constant.attr["dtype"].type = variable.dtype.base_dtype.number
    constant.attr["value"].tensor.CopyFrom(tensor_of_array(value, variable.dtype.base_dtype))
    assign: NodeDef = nodes.add(name=_free(taken, f"{variable.name}/keep_value"))
    assign.op = "AssignVariableOp" if variable.is_resource else "Assign"
    assign.input.extend([variable.name, constant.name])
    assign.attr["dtype" if variable.is_resource else "T"].type = variable.dtype.base_dtype.number
    return assign.name


def _free(taken: set[str], name: str) -> str:
    found, count = name, 0
    while found in taken:
        count += 1
        found = f"{name}_{count}"
    taken.add(found)
    return found


__all__ = ["set_values_first"]
