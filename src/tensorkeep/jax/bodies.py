"""What does not change from trace to trace: plans, bodies of functions, and facts about single operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import tensorkeep.ops.every  # noqa: F401 - a graph may use any op
from tensorkeep.arrays import Array
from tensorkeep.graph.functions import FunctionBody, attrs_key, find_function, function_body
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.jax.registry import LOWERINGS, Lowering
from tensorkeep.jax.values import CannotTraceError
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.kernels import reads_values
from tensorkeep.runtime.plans.blocks import Block, structure
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import Plan, is_pure, make_plan

CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall", "RemoteCall"))
VARIABLES: Final = frozenset(("VariableV2", "Variable", "VarHandleOp"))


@dataclass(frozen=True)
class Facts:
    """What is known of an operation before it is traced."""

    lowering: Lowering | None
    reads: tuple[bool, ...]
    """Of each input, whether the value of the variable is taken that a reference leads to."""
    is_pure: bool
    """Whether it always gives the same for the same inputs, and does nothing else."""
    constant: Array | None


class Bodies:
    """Plans, bodies and facts of one model, each worked out once."""

    def __init__(self) -> None:
        self._facts: dict[Operation, Facts] = {}
        self._bodies: dict[Any, FunctionBody] = {}
        self._blocks: dict[Any, Block] = {}

    def facts(self, op: Operation) -> Facts:
        """The facts about an operation."""
        found = self._facts.get(op)
        if found is None:
            found = self._facts[op] = Facts(LOWERINGS.get(op.type), reads_values(op), is_pure(op), _constant(op))
        return found

    def body(self, op: Operation, reference: FunctionRef) -> FunctionBody:
        """The body of a function that an operation calls."""
        key = (reference.name, attrs_key(reference.attrs))
        found = self._bodies.get(key)
        if found is None:
            library = op.graph.functions
            found = function_body(find_function(reference.name, library), library, reference.attrs)
            self._bodies[key] = found
        return found

    def block(self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> Block:
        """What computes tensors from others, as nested blocks."""
        key = (tuple(fetches), tuple(targets), tuple(feeds))
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = plan_block(make_plan(tuple(fetches), targets, tuple(feeds)))
        return found


def plan_block(plan: Plan) -> Block:
    """A plan as nested blocks; an error if its branches and loops cannot be told apart."""
    try:
        return structure(plan).block
    except UnstructuredError as error:
        raise CannotTraceError(f"the branches and loops of the graph cannot be told apart: {error}") from error


def _constant(op: Operation) -> Array | None:
    return array_of_tensor(op.attr("value"), f'constant "{op.name}"') if op.type == "Const" else None
