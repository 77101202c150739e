"""A plan in three: what comes before a part that something else runs, that part, and what comes after.

    fed ──▶ before ──▶ middle ──▶ after ──▶ fetched        each may also take what is fed, and what any before it gives

The middle is the most work that something else can do at once: no way leads out of it and back in. What needs nothing
that is fed (constants, variables that are read, handles of tables) is in every part that takes it, so that no cut goes
through a weight. Handles, lists of tensors, and values inside the branches and loops of TensorFlow 1 are never cut
either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tensorkeep.dtypes import RESOURCE, STRING, VARIANT
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import capabilities_of
from tensorkeep.runtime.plans.liveness import ALWAYS, Liveness, assign_frames
from tensorkeep.runtime.plans.plan import Plan, operations_behind

Weigh: TypeAlias = Callable[[Operation], int]

_READS: Final = frozenset(("ReadVariableOp", "VariableV2", "Variable", "VariableShape"))
_CHECKS: Final = frozenset(("Assert", "PrintV2", "Abort"))  # which others do not do: nothing there waits for them
_HEAVY: Final = ("Conv", "DepthwiseConv", "FusedConv", "MatMul", "BatchMatMul", "Einsum", "BlockLSTM", "While", "If",
                 "StatelessWhile", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall")  # fmt: skip


@dataclass(frozen=True)
class Part:
    """Some operations of a plan, in its order, with what goes in and what comes out."""

    ops: tuple[Operation, ...]
    inputs: tuple[Tensor, ...]
    """Tensors that are fed, or that a part before this one gives."""
    outputs: tuple[Tensor, ...]
    """Tensors that are fetched, or that a part behind this one takes."""


@dataclass(frozen=True)
class Split:
    """The parts of a plan. Whoever runs them one after the other has all that is fetched."""

    before: Part
    middle: Part
    after: Part


def work_of(op: Operation) -> int:
    """How much an operation counts where parts of a plan are compared: much, if it multiplies matrices."""
    return 50 if op.type.startswith(_HEAVY) else 1


def is_numeric(op: Operation, known: Collection[Operation] = ()) -> bool:
    """Whether an operation has nothing to do with strings, but those that `known` operations give it."""
    taken = (tensor for tensor in op.inputs if tensor.op not in known)
    return not any(tensor.dtype.base_dtype is STRING for tensor in (*taken, *op.outputs))


# ---------------------------------------------------------------------------------------------------- Parts


def split_plan(
    plan: Plan,
    translatable: Callable[[Operation], bool],
    weigh: Weigh = work_of,
    held: Collection[Tensor] = (),
) -> Split:
    """Divides a plan so that all operations of the middle are translatable, and weigh as much as any middle can.

    `held` are tensors that are fed the same in every run, as handles always are: what a function captures. Raises
    UnstructuredError for branches and loops of TensorFlow 1 that cannot be told apart.
    """
    fed = frozenset(plan.feeds)
    anywhere = same_anywhere(plan, translatable, held)
    placed = [op for op in plan.ops if op not in anywhere]
    number = {op: i for i, op in enumerate(placed)}
    edges, bound = _edges(plan, number, fed)
    weights = [max(weigh(op), 0) if translatable(op) else None for op in placed]
    levels = best_levels(weights, edges, bound)
    by_level = [[op for op in placed if levels[number[op]] == level] for level in range(3)]
    return _parts(plan, by_level, anywhere)


def same_anywhere(
    plan: Plan, translatable: Callable[[Operation], bool], held: Collection[Tensor] = ()
) -> set[Operation]:
    """Operations that give the same in every part: they need nothing that is fed, and change nothing."""
    fed = frozenset(plan.feeds)
    same = {tensor for tensor in fed if tensor in held or tensor.dtype is RESOURCE}
    found: set[Operation] = set()
    for op in plan.ops:
        if not op.outputs or any(tensor in fed for tensor in op.outputs):
            continue
        is_same = all(tensor in same or (tensor not in fed and tensor.op in found) for tensor in op.inputs)
        if not is_same or not all(control in found for control in op.control_inputs):
            continue
        if not op.inputs or (translatable(op) and _only_computes(op)):
            found.add(op)
    return found


def _only_computes(op: Operation) -> bool:
    spec = op.spec
    is_stateful = spec.schema.is_stateful or spec.kernel_takes_context or bool(capabilities_of(op))
    return op.type in _READS or not (is_stateful or op.type in op.graph.functions)


def _edges(
    plan: Plan, number: Mapping[Operation, int], fed: frozenset[Tensor]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Which operation comes before which, and which must be in the same part."""
    is_whole = _whole_values(plan)
    edges: list[tuple[int, int]] = []
    bound: list[tuple[int, int]] = []
    for op, here in number.items():
        for tensor in op.inputs:
            source = number.get(tensor.op)
            if source is None or tensor in fed:
                continue
            edges.append((source, here))
            if tensor.dtype.base_dtype in (RESOURCE, VARIANT) or tensor.dtype.is_ref or not is_whole(tensor):
                bound.append((source, here))
        waits = (control for control in op.control_inputs if control in number and control.type not in _CHECKS)
        edges.extend((number[control], here) for control in waits)
    return edges, bound


def _whole_values(plan: Plan) -> Callable[[Tensor], bool]:
    """Says of a tensor whether it has one value in a run: not inside branches and loops of TensorFlow 1."""
    if not plan.has_control_flow:
        return lambda tensor: True
    frames = assign_frames(plan)
    liveness = Liveness(plan, frames)
    return lambda tensor: frames.given[tensor.op] is frames.root and liveness.of_tensor(tensor) == ALWAYS


def _parts(plan: Plan, by_level: Sequence[Sequence[Operation]], anywhere: Collection[Operation]) -> Split:
    owners = {op: level for level, ops in enumerate(by_level) for op in ops}
    fed, fetched = frozenset(plan.feeds), frozenset(plan.fetches)
    # Each with all it needs of what is in every part.
    wholes = [operations_behind(ops, fed, anywhere) for ops in by_level]
    free = [tensor for tensor in plan.fetches if tensor.op in anywhere and tensor not in fed]
    wholes[1] |= operations_behind([tensor.op for tensor in free], fed, anywhere)
    taken: list[list[Tensor]] = []
    for ops in wholes:
        inputs = (tensor for op in plan.ops if op in ops for tensor in op.inputs)
        taken.append(listed_once(tensor for tensor in inputs if tensor in fed or tensor.op not in ops))
    parts: list[Part] = []
    for level, ops in enumerate(wholes):
        wanted = {tensor for later in taken[level + 1 :] for tensor in later} | fetched
        own = [tensor for op in plan.ops if owners.get(op) == level for tensor in op.outputs]
        outputs = [tensor for tensor in own if tensor in wanted and tensor not in fed]
        outputs += listed_once(free) if level == 1 else []
        parts.append(Part(tuple(op for op in plan.ops if op in ops), tuple(taken[level]), tuple(outputs)))
    return Split(*parts)


def listed_once(tensors: Iterable[Tensor]) -> list[Tensor]:
    return list(dict.fromkeys(tensors))


# ---------------------------------------------------------------------------------------------------- Levels


def best_levels(
    weights: Sequence[int | None], edges: Iterable[tuple[int, int]], bound: Iterable[tuple[int, int]] = ()
) -> list[int]:
    """A level for each item, 0, 1 or 2: never falling along an edge, the same for items that are bound, and such that
    the weights at level 1 add up to the most that is possible. An item whose weight is None is not at level 1.

    It is a cut of least cost. Of each item two things are to be decided: whether it is beyond level 0, which costs its
    weight if it is not, and whether it is beyond level 1, which costs its weight if it is.
    """
    count = len(weights)
    source, sink = 2 * count, 2 * count + 1
    endless = sum(weight or 0 for weight in weights) + 1
    network = _Network(2 * count + 2)
    for item, weight in enumerate(weights):
        network.add(count + item, item, endless)  # beyond level 1 is beyond level 0
        if weight is None:
            network.add(item, count + item, endless)
        elif weight:
            network.add(source, item, weight)
            network.add(count + item, sink, weight)
    both_ways = [*edges, *((there, here) for pair in bound for here, there in (pair, pair[::-1]))]
    for here, there in both_ways:
        network.add(here, there, endless)
        network.add(count + here, count + there, endless)
    beyond = network.cut(source, sink)
    return [int(beyond[item]) + int(beyond[count + item]) for item in range(count)]


class _Network:
    """Pipes between points, through which as much flows as can: Dinic's way."""

    def __init__(self, points: int) -> None:
        self._leaving: list[list[int]] = [[] for _ in range(points)]
        self._ends: list[int] = []
        self._room: list[int] = []

    def add(self, here: int, there: int, room: int) -> None:
        for start, end, size in ((here, there, room), (there, here, 0)):
            self._leaving[start].append(len(self._ends))
            self._ends.append(end)
            self._room.append(size)

    def cut(self, source: int, sink: int) -> list[bool]:
        """For each point whether it is on the source's side of a cut of least cost."""
        while (distances := self._distances(source))[sink] >= 0:
            self._fill(source, sink, distances)
        return [distance >= 0 for distance in distances]

    def _distances(self, source: int) -> list[int]:
        distances = [-1] * len(self._leaving)
        distances[source] = 0
        reached = [source]
        for point in reached:
            for pipe in self._leaving[point]:
                end = self._ends[pipe]
                if self._room[pipe] and distances[end] < 0:
                    distances[end] = distances[point] + 1
                    reached.append(end)
        return distances

    def _fill(self, source: int, sink: int, distances: Sequence[int]) -> None:
        """Fills all shortest ways."""
        following = [0] * len(self._leaving)
        way: list[int] = []
        point = source
        while True:
            if point == sink:
                least = min(self._room[pipe] for pipe in way)
                for pipe in way:
                    self._room[pipe] -= least
                    self._room[pipe ^ 1] += least
                full = next(place for place, pipe in enumerate(way) if not self._room[pipe])
                point = self._ends[way[full] ^ 1]
                del way[full:]
                continue
            pipes = self._leaving[point]
            while following[point] < len(pipes):
                pipe = pipes[following[point]]
                if self._room[pipe] and distances[self._ends[pipe]] == distances[point] + 1:
                    break
                following[point] += 1
            if following[point] < len(pipes):
                way.append(pipes[following[point]])
                point = self._ends[way[-1]]
            elif way:
                point = self._ends[way.pop() ^ 1]
                following[point] += 1
            else:
                return
