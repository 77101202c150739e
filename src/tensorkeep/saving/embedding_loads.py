"""The rows that loading gives an embedding variable, by doing nothing of the graph but what loads them.

Initializers of embedding variables and imports of their rows are copied into a graph of their own, in which all other
inputs are constants; its session may read, and do nothing else. The default rows of new keys are often random: then the
few operations that make these are run too, as any loader does, in a session that may only compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import RESOURCE
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.capabilities import Allowed, Capability
from tensorkeep.graph.rewriting.frozen_tables import TableRows
from tensorkeep.ops.embedding.session_tables import EmbeddingResource
from tensorkeep.ops.files.checkpoint_access import CheckpointAccess
from tensorkeep.proto.messages import GraphDef
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.session import Session
from tensorkeep.saving.following import PATH, Followed, Handle, Step, Unknown, Value

_MAKING_DEFAULTS: Final = frozenset(
    "Add AddV2 Cast Const Fill Identity Mul Pack RandomStandardNormal RandomUniform RealDiv Reshape Sub "  # noqa: SIM905
    "TruncatedNormal".split()
)
_MAY_READ: Final = Allowed(frozenset((Capability.READS_FILES,)))


class EmbeddingLoads:
    """What loads the rows of embedding variables of one graph."""

    def __init__(
        self, followed: Followed, evaluated: Callable[[Value], Array], reader: CheckpointReader | None
    ) -> None:
        self._followed = followed
        self._evaluated = evaluated
        self._reader = reader
        self._access = _access_to(reader)

    def rows(self, handle: Handle, steps: Sequence[Step]) -> TableRows:
        """The rows that an embedding variable holds after these steps, which are run in a graph of their own."""
        graph_def = GraphDef()
        names = [self._add_step(graph_def, number, step) for number, step in enumerate(steps)]
        graph = Graph()
        import_graph(graph_def, graph, name="")
        with closing(Session(graph, allowed=_MAY_READ)) as session:
            for name in names:
                session.run(graph.operation(name), checkpoints=self._access)
            found = session.resources.find(handle.container, handle.name)
            assert isinstance(found, EmbeddingResource)
            return rows_of(found)

    def _add_step(self, graph_def: GraphDef, number: int, step: Step) -> str:
        node = graph_def.node.add()
        node.CopyFrom(step.op.node_def)
        node.name, node.device = f"step_{number}", ""
        del node.input[:]
        if "_class" in node.attr:
            del node.attr["_class"]
        if "storage_type" in node.attr:
            node.attr["storage_type"].i = 0  # whatever it is later, it has to be in memory now
        for index, value in enumerate(step.values):
            node.input.append(self._add_input(graph_def, f"step_{number}_{index}", value, step.op.inputs[index]))
        name: str = node.name
        return name

    def _add_input(self, graph_def: GraphDef, name: str, value: Value, tensor: Tensor) -> str:
        if isinstance(value, Handle):
            return self._add_handle(graph_def, value)
        if value == PATH:
            array = np.array(b"" if self._reader is None else str(self._reader.path).encode(), object)
        else:
            array = self._default_rows(tensor, value) if isinstance(value, Unknown) else self._evaluated(value)
        node = graph_def.node.add(name=name, op="Const")
        node.attr["dtype"].type = tensor.dtype.base_dtype.number
        node.attr["value"].tensor.CopyFrom(tensor_of_array(np.asarray(array), tensor.dtype.base_dtype))
        return name

    def _add_handle(self, graph_def: GraphDef, handle: Handle) -> str:
        op = self._followed.embeddings[handle]
        name = f"handle_of_{op.name}"
        if not any(node.name == name for node in graph_def.node):
            node = graph_def.node.add()
            node.CopyFrom(op.node_def)
            node.name, node.device = name, ""
            node.attr["shared_name"].s = handle.name.encode()
        return name

    def _default_rows(self, tensor: Tensor, value: Unknown) -> Array:
        """The default rows that a tensor gives when it is run; an error unless it is computed by a few harmless
        operations alone, which draw random numbers and scale them.
        """
        graph = self._followed.graph
        if tensor.op.graph is not graph or tensor.dtype is RESOURCE:
            raise _not_known(tensor.op, value)
        plan = make_plan([tensor], (), ())
        if any(op.type not in _MAKING_DEFAULTS for op in plan.ops):
            raise _not_known(tensor.op, value)
        with closing(Session(graph, allowed=Allowed())) as session:
            return np.asarray(session.run(tensor))


def _access_to(reader: CheckpointReader | None) -> CheckpointAccess | None:
    """Has kernels read the checkpoint, whatever path they are given; None has them do so by themselves."""
    if reader is None:
        return None
    checkpoint = SurveyedCheckpoint(reader)
    return CheckpointAccess(open=lambda path: checkpoint)


def _not_known(op: Operation, value: Unknown) -> FailedPreconditionError:
    return FailedPreconditionError(
        f'what loading makes of "{op.name}" ({op.type}) is not known without running the model ({value.reason}). '
        "If you trust it, have what restores and initializes it run (--run-initializers, "
        "FreezeOptions(run_initializers=True))"
    )


def rows_of(variable: EmbeddingResource) -> TableRows:
    """What an embedding variable holds, copied."""
    snapshot = variable.table.snapshot()
    try:
        keys = np.array(snapshot.keys)
        rows = np.array(snapshot.rows(variable.column, 0, len(keys)))
    finally:
        snapshot.close()
    is_slot = bool(variable.column)
    default = variable.default_matrix.copy() if is_slot else variable.table.absent_rows()
    return TableRows(keys.astype(variable.key_dtype.array_dtype), rows, default)
