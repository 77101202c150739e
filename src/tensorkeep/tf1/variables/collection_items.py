"""Variables, branches and loops in the collections of meta graphs: how each becomes a message, and comes back.

Importing this registers them, as importing `variables` does.
"""

from __future__ import annotations

from typing import Final, Protocol

from tensorkeep.graph.collections import GraphKeys
from tensorkeep.metagraph.collections import register_proto_function
from tensorkeep.proto.messages import CondContextDef, VariableDef, WhileContextDef
from tensorkeep.tf1.functions.control.context_messages import (
    cond_context_from_proto,
    context_to_proto,
    while_context_from_proto,
)
from tensorkeep.tf1.variables.variable import Variable

_OF_VARIABLES: Final = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.GLOBAL_STEP,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.EMBEDDING_VARIABLES,
)


class _Describable(Protocol):
    """A variable, or a hash table, which has no message."""

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None: ...


def variable_to_proto(variable: _Describable, export_scope: str | None = None) -> VariableDef | None:
    """A variable as a message; None if it is outside of the scope that is exported."""
    return variable.to_proto(export_scope=export_scope)


for _key in _OF_VARIABLES:
    register_proto_function(_key, VariableDef, variable_to_proto, Variable.from_proto)
register_proto_function(GraphKeys.COND_CONTEXT, CondContextDef, context_to_proto, cond_context_from_proto)
register_proto_function(GraphKeys.WHILE_CONTEXT, WhileContextDef, context_to_proto, while_context_from_proto)
