"""Operations that a model runs when it is loaded."""

from __future__ import annotations

from tensorkeep.graph.building import control_dependencies, current_graph
from tensorkeep.graph.graph import Operation
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.data.lookup_tables import tables_initializer
from tensorkeep.tf1.variables.listing import global_variables_initializer, local_variables_initializer


def main_op() -> Operation:
    """An operation that initializes variables, local variables and tables of the graph being built."""
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name: str | Operation) -> Operation:
    """An operation that does that, and then what is named."""
    found = current_graph().operation(restore_op_name) if isinstance(restore_op_name, str) else restore_op_name
    with control_dependencies([main_op()]):
        return group(found)
