"""What to run, and in which order, for some fetches and feeds. Pure.

Only operations that a fetch depends on are run, and nothing behind a fed tensor. They run in the order in which they
were added to the graph wherever inputs and control inputs leave a choice, so that a run can be repeated. What others
only wait for, and what would only compute a value that nobody wants, is not run; what it waits for still is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.ordering import LOOP_BACK, MERGES, topological
from tensorkeep.graph.registry.opspec import capabilities_of
from tensorkeep.runtime.plans.turns import turns_to_wait_for

_FRAME_OPS = ("Switch", "Merge", "Enter", "Exit", "NextIteration")
_CHECKS = frozenset(("Abort", "CheckNumerics", "CheckNumericsV2", "EnsureShape"))  # their point is that they may fail
_RANDOM = ("Random", "Multinomial", "TruncatedNormal", "ParameterizedTruncatedNormal")
CONTROL_FLOW = frozenset((*_FRAME_OPS, *(f"Ref{name}" for name in _FRAME_OPS), "LoopCond", "_SwitchN"))


@dataclass(frozen=True)
class Plan:
    """Operations in an order in which they can run."""

    feeds: tuple[Tensor, ...]
    fetches: tuple[Tensor, ...]
    ops: tuple[Operation, ...]

    @property
    def has_control_flow(self) -> bool:
        return any(op.type in CONTROL_FLOW for op in self.ops)


def make_plan(
    fetches: Sequence[Tensor], targets: Iterable[Operation], feeds: Sequence[Tensor], *, is_whole: bool = False
) -> Plan:
    """The plan to compute `fetches` and to run `targets`, given `feeds`. A whole one has all that others wait for."""
    fed = frozenset(feeds)
    goals = [tensor.op for tensor in fetches if tensor not in fed]
    goals.extend(targets)
    needed = operations_behind(goals, fed)
    order = _ordered_operations(needed, fed)
    has_branches = any(op.type in CONTROL_FLOW for op in order)  # where waiting for a value also says whether to run
    if not (is_whole or has_branches):
        wanted = _wanted_operations(goals, fed)
        order = [op for op in order if op in wanted]
    return Plan(tuple(feeds), tuple(fetches), tuple(order))


def _wanted_operations(goals: Sequence[Operation], fed: frozenset[Tensor]) -> set[Operation]:
    """The operations whose values are wanted, or that do more than compute one."""
    wanted: set[Operation] = set()
    passed: set[Operation] = set()
    pending = [(op, True) for op in goals]
    while pending:
        op, is_wanted = pending.pop()
        if op in wanted or (op in passed and not is_wanted):
            continue
        is_wanted = is_wanted or not _only_computes(op)
        (wanted if is_wanted else passed).add(op)
        pending.extend((tensor.op, is_wanted) for tensor in op.inputs if tensor not in fed)
        pending.extend((other, False) for other in op.control_inputs)
    return wanted


def _only_computes(op: Operation) -> bool:
    """Whether an operation that nobody takes a value from need not run: it keeps nothing and checks nothing."""
    spec = op.spec
    return not (
        spec.kernel_takes_context
        or capabilities_of(op)
        or spec.is_opaque
        or op.type in _CHECKS
        or op.type.startswith("TensorArray")  # the older ones have strings for handles
        or not (op.outputs or op.type == "NoOp")
        or op.type in op.graph.functions
        or spec.schema.is_stateful
        or any(tensor.dtype.is_ref for tensor in op.inputs)
        or any(tensor.dtype in (RESOURCE, VARIANT) for tensor in op.inputs)
    )


def operations_behind(
    goals: Iterable[Operation], fed: frozenset[Tensor], among: Collection[Operation] | None = None
) -> set[Operation]:
    """Operations, with all that they need and is not fed; of these only what is in `among`, if that is given."""
    needed: set[Operation] = set()
    pending = list(goals)
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        needed.add(op)
        sources = [*(tensor.op for tensor in op.inputs if tensor not in fed), *op.control_inputs]
        pending.extend(sources if among is None else [source for source in sources if source in among])
    return needed


def source_operations(op: Operation, fed: frozenset[Tensor] = frozenset()) -> list[Operation]:
    """The operations that one must run after, without those behind the edges that close loops."""
    found = [tensor.op for tensor in op.inputs if tensor not in fed]
    if op.type in MERGES:
        found = [source for source in found if source.type not in LOOP_BACK]
    return found + op.control_inputs if op.control_inputs else found


def _ordered_operations(needed: set[Operation], fed: frozenset[Tensor]) -> list[Operation]:
    order = sorted(needed, key=lambda op: op.index)
    turns = turns_to_wait_for(order, partial(source_operations, fed=fed))
    if not turns and all(source.index < op.index for op in order for source in source_operations(op, fed)):
        return order
    position = {op: i for i, op in enumerate(order)}
    sources = [[*source_operations(op, fed), *turns.get(op, ())] for op in order]
    result = topological([[position[source] for source in before] for before in sources])
    if len(result) < len(order):
        stuck = order[min(set(range(len(order))) - set(result))]
        raise InvalidArgumentError(f'the graph has a cycle that no loop closes; "{stuck.name}" is part of it')
    return [order[i] for i in result]


def is_pure(op: Operation) -> bool:
    """Whether an operation always gives the same for the same inputs, and does nothing else."""
    spec = op.spec
    return not (
        capabilities_of(op)
        or spec.schema.is_stateful
        or spec.kernel_takes_context
        or spec.kernel_function is None
        or op.type in op.graph.functions
        or op.type.startswith(_RANDOM)
        or any(tensor.dtype in (RESOURCE, VARIANT) or tensor.dtype.is_ref for tensor in (*op.inputs, *op.outputs))
    )
