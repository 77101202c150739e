"""What of a plan stays on the host: before and after the part that JAX runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.jax.bodies import VARIABLES
from tensorkeep.jax.survey import Refused, Survey
from tensorkeep.jax.values import CannotTraceError
from tensorkeep.runtime.partitions.part_graphs import PartGraph, graph_of_part
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.plans.splitting import Part, Split, split_plan
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session


@dataclass(frozen=True)
class HostPart:
    """Operations that our kernels run, with variables that have the values they are given."""

    part: Part
    graph: PartGraph
    session: Session
    captured: Mapping[Tensor, object]
    reads: Mapping[Tensor, VariableResource]
    """Tensors of the part's graph that are the value of a variable."""

    @property
    def inputs(self) -> list[Tensor]:
        """What it takes, besides what is captured."""
        return [tensor for tensor in self.part.inputs if tensor not in self.captured]

    def run(self, values: Mapping[Tensor, Any], variables: Mapping[VariableResource, Any]) -> dict[Tensor, Array]:
        """What the part gives for the values of what it takes."""
        feeds: dict[Any, Any] = {}
        for tensor, own in self.graph.inputs.items():
            feeds[own] = self.captured[tensor] if tensor in self.captured else _on_host(values[tensor])
        feeds.update((tensor, _on_host(variables[variable])) for tensor, variable in self.reads.items())
        found = self.session.run(list(self.graph.outputs.values()), feeds)
        return dict(zip(self.graph.outputs, found, strict=True))


def _on_host(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def split_for_jax(plan: Plan, found: Survey, captured: Mapping[Tensor, object]) -> Split:
    """Divides a plan so that nothing of the middle has to stay on the host."""
    try:
        split = split_plan(plan, lambda op: op not in found.refused, held=captured)
    except UnstructuredError as error:
        raise CannotTraceError(f"the branches and loops of the graph cannot be told apart: {error}") from error
    if not split.middle.outputs:
        raise CannotTraceError("nothing of it is left for JAX:\n" + format_refused(list(found.refused.values())))
    return split


def host_part(
    part: Part, session: Session, captured: Mapping[Tensor, object], held: Mapping[Tensor, VariableResource]
) -> HostPart | None:
    """A part of a plan for our kernels to run; None of one without operations that anybody wants."""
    if not part.outputs:
        return None
    graph = graph_of_part(part, session.graph)
    own = {tensor: item for tensor, item in captured.items() if tensor in part.inputs}
    reads = {
        graph.graph.operation(op.name).outputs[0]: held[op.outputs[0] if op.type in VARIABLES else op.inputs[0]]
        for op in part.ops
        if _reads(op) and (op.outputs[0] if op.type in VARIABLES else op.inputs[0]) in held
    }
    return HostPart(part, graph, session.beside(graph.graph), own, reads)


def _reads(op: Operation) -> bool:
    return op.type == "ReadVariableOp" or (op.type in VARIABLES and op.type != "VarHandleOp")


def format_refused(refused: Sequence[Refused], most: int = 20) -> str:
    """Operations that cannot be traced, one line each."""
    lines = [f"  {item}" for item in refused[:most]]
    return "\n".join(lines + ([f"  and {len(refused) - most} more"] if len(refused) > most else []))
