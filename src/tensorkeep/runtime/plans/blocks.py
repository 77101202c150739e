"""The branches and loops of a graph, found again in its Switch, Merge, Enter and Exit nodes. Pure.

    block  = {step | arm | choice | loop | part}
    step   = an operation
    arm    = a merge takes one of its inputs
    choice = predicate, block if it holds, block if not
    loop   = variables, header block, condition, body block, block after the last round
    part   = what an engine runs in the place of several items; only in plans that were split

Every operation lives under a condition, which `liveness` finds; operations are put into blocks by it. Inside a loop,
what lives under no condition runs once more than what lives under the loop's; the latter is the body. What cannot be
read so is unstructured, and is left to `frames`, which can run any graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, TypeAlias

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.plans.liveness import (
    ALWAYS,
    EXITS,
    MERGES,
    Condition,
    Frame,
    Liveness,
    UnstructuredError,
    assign_frames,
    is_loop_head,
    loop_ends,
)
from tensorkeep.runtime.plans.plan import Plan, source_operations

if TYPE_CHECKING:
    from tensorkeep.runtime.partitions.engines import Part

Steps: TypeAlias = tuple[tuple[Tensor, bool], ...]
"""A condition in an order in which its predicates can be asked."""

_DEEPEST: Final = 80  # blocks in each other; Python takes no more than 100
_MOST_LOOPS: Final = 16  # of which are loops; Python takes no more than 20


@dataclass(slots=True, eq=False)
class Block:
    """Items in the order in which they run, and where the block itself stands: in which item of which block."""

    parent: Block | None = None
    position: int = 0
    depth: int = 0
    loops: int = 0  # how many loops the block is in
    items: list[Item] = field(default_factory=list)

    def inner(self, in_loop: bool = False) -> Block:
        """A new block inside this one, at the place of the item that is added next."""
        depth, loops = self.depth + 1, self.loops + in_loop
        if depth > _DEEPEST or loops > _MOST_LOOPS:
            raise UnstructuredError("branches and loops in each other, too deep for one function")
        return Block(self, len(self.items), depth, loops)


@dataclass(slots=True, eq=False)
class Step:
    """An item of a block: this operation is run."""

    op: Operation


@dataclass(slots=True, eq=False)
class Arm:
    """An item at the end of one side of a choice: the merge takes the value of its input number `index`."""

    merge: Operation
    index: int


@dataclass(slots=True, eq=False)
class Choice:
    """What runs if a predicate holds, and what runs if not."""

    predicate: Tensor
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True, eq=False)
class LoopVariable:
    """What a loop carries from round to round: the merge that holds it, the first value, the next one."""

    merge: Operation
    start: Tensor
    following: Tensor
    condition: Steps = ()
    """What must hold outside for the loop to have this variable at all."""


@dataclass(slots=True, eq=False)
class Loop:
    """header; leave unless condition; body; variables take their next values; again. Then what follows the last."""

    variables: list[LoopVariable]
    condition: Tensor
    op: Operation
    header: Block
    body: Block
    after: Block


@dataclass(slots=True, eq=False)
class PartCall:
    """An item that an engine runs, in the place of several."""

    part: Part


Item: TypeAlias = Step | Arm | Choice | Loop | PartCall


@dataclass(frozen=True)
class Structure:
    """A plan as nested blocks, and for each fetched tensor the condition under which it has a value; None if it never
    has one.
    """

    block: Block
    fetches: tuple[Steps | None, ...]


def structure(plan: Plan) -> Structure:
    """The plan's operations as nested blocks. Raises UnstructuredError if they are not."""
    if not plan.has_control_flow:
        return Structure(Block(items=[Step(op) for op in plan.ops]), ((),) * len(plan.fetches))
    return _Arrangement(plan).result()


# ---------------------------------------------------------------------------------------------------- Order


@dataclass(slots=True, eq=False)
class _Unit:
    """Something to be put into a block: an item, or none where only the order matters."""

    index: int
    condition: Condition
    op: Operation | None = None
    arm: int = -1
    frame: Frame | None = None
    waiting: int = 0
    sources: list[_Unit] = field(default_factory=list)
    followers: list[_Unit] = field(default_factory=list)


class _Ready:
    """Units that wait for nothing: by their condition, and by each step of it, so that none has to be searched for."""

    def __init__(self) -> None:
        self._under: dict[Condition, list[tuple[int, int, _Unit]]] = {}
        self._below: dict[tuple[Tensor, bool] | None, list[tuple[int, int, _Unit]]] = {}
        self._taken: set[int] = set()

    def add(self, unit: _Unit, number: int) -> None:
        entry = (unit.index, number, unit)
        heappush(self._under.setdefault(unit.condition, []), entry)
        for step in (None, *unit.condition):
            heappush(self._below.setdefault(step, []), entry)

    def take(self, condition: Condition) -> _Unit | None:
        """The first unit under exactly this condition."""
        heap = self._under.get(condition)
        if not heap:
            return None
        _, number, unit = heappop(heap)
        self._taken.add(number)
        return unit

    def first_below(self, here: Condition, last: tuple[Tensor, bool] | None) -> Condition | None:
        """The condition of the first unit under all of `here`, of which `last` is a step, and more."""
        heap = self._below.get(last, [])
        while heap and heap[0][1] in self._taken:
            heappop(heap)
        if not heap or here < heap[0][2].condition:
            return heap[0][2].condition if heap else None
        entries = (entry for entry in heap if entry[1] not in self._taken and here < entry[2].condition)
        first = min(entries, default=None)
        return None if first is None else first[2].condition


class _Arrangement:
    """Puts operations into blocks, frame by frame."""

    def __init__(self, plan: Plan) -> None:
        self._fed = frozenset(plan.feeds)
        self._frames = assign_frames(plan)
        self._liveness = Liveness(plan, self._frames)
        self._plan = plan
        self._children: dict[Frame, list[Frame]] = {}
        for frame in self._frames.inner:
            assert frame.parent is not None
            self._children.setdefault(frame.parent, []).append(frame)

    def result(self) -> Structure:
        fetches = tuple(map(self._fetched, self._plan.fetches))
        block = Block()
        self._schedule(self._units(self._frames.root), block)
        return Structure(block, fetches)

    def _fetched(self, tensor: Tensor) -> Steps | None:
        if tensor not in self._fed and self._frames.given[tensor.op] is not self._frames.root:
            raise UnstructuredError("a tensor inside a loop is fetched")
        condition = self._liveness.of_tensor(tensor)
        return None if condition is None else self._steps(condition)

    def _steps(self, condition: Condition) -> Steps:
        return tuple(sorted(condition, key=self._rank))

    def _units(self, frame: Frame) -> list[_Unit]:
        """What is to be done in one round of a frame, inner loops as one unit each."""
        units: list[_Unit] = []
        ends: dict[Operation, _Unit] = {}
        for op in frame.ops:
            condition = self._liveness.of[op]
            if condition is not None:
                ends[op] = _Unit(op.index, condition, op)
                units.append(ends[op])
        for inner in self._children.get(frame, ()):
            if inner.condition is not None:
                unit = _Unit(inner.enters[0].index, inner.condition, frame=inner)
                units.append(unit)
                if any(op not in ends for op in inner.enters):
                    raise UnstructuredError("a loop that is entered from elsewhere as well")
                _link(unit, (ends[op] for op in inner.enters))
                ends.update((op, unit) for op in inner.ops if op.type in EXITS)
        for op in frame.ops:
            if op in ends:
                units.extend(self._linked(op, ends))
        return units

    def _linked(self, op: Operation, ends: dict[Operation, _Unit]) -> list[_Unit]:
        """Makes an operation wait for its sources. The sides of a merge are units of their own, which it waits for."""
        unit = ends[op]
        if op.type not in MERGES or is_loop_head(op, self._fed):
            _link(unit, (ends[source] for source in source_operations(op, self._fed) if source in ends))
            return []
        controls = [ends[source] for source in op.control_inputs if source in ends]
        arms = []
        for i, tensor in enumerate(op.inputs):
            condition = self._liveness.of_tensor(tensor)
            if condition is not None:
                arm = _Unit(op.index, condition, op, i)
                if tensor not in self._fed and tensor.op in ends:
                    _link(arm, (ends[tensor.op],))
                _link(arm, controls)
                arms.append(arm)
        _link(unit, arms)
        return arms

    def _schedule(self, units: list[_Unit], block: Block) -> None:
        """Fills a block with units, in an order that keeps what runs under one condition together."""
        numbers = {id(unit): number for number, unit in enumerate(units)}
        path: list[tuple[Tensor, bool]] = []
        blocks = [block]
        ready = _Ready()
        for number, unit in enumerate(units):
            unit.waiting = sum(id(source) in numbers for source in unit.sources)
            if unit.waiting == 0:
                ready.add(unit, number)
        here: Condition = ALWAYS
        left = len(units)
        while left:
            found = ready.take(here)
            if found is not None:
                left -= 1
                self._place(found, blocks[-1])
                for follower in found.followers:
                    if id(follower) in numbers:
                        follower.waiting -= 1
                        if follower.waiting == 0:
                            ready.add(follower, numbers[id(follower)])
                continue
            deeper = ready.first_below(here, path[-1] if path else None)
            if deeper is not None:
                step = self._next_step(deeper - here)
                path.append(step)
                blocks.append(_open_side(blocks[-1], step))
            elif path:
                path.pop()
                blocks.pop()
            else:
                raise UnstructuredError("operations that wait for each other")
            here = frozenset(path)

    def _next_step(self, wanted: Condition) -> tuple[Tensor, bool]:
        """Which of several predicates to ask first: one that does not live under the others."""
        return min(wanted, key=self._rank)

    def _rank(self, step: tuple[Tensor, bool]) -> tuple[int, int]:
        return len(self._liveness.of_tensor(step[0]) or ()), step[0].op.index

    def _place(self, unit: _Unit, block: Block) -> None:
        if unit.frame is not None:
            block.items.append(self._loop(unit.frame, block))
        elif unit.arm >= 0:
            assert unit.op is not None
            block.items.append(Arm(unit.op, unit.arm))
        elif unit.op is not None and unit.op.type not in MERGES:
            block.items.append(Step(unit.op))

    def _loop(self, frame: Frame, block: Block) -> Loop:
        key = self._liveness.loop_key(frame)
        header: list[_Unit] = []
        body: list[_Unit] = []
        after: list[_Unit] = []
        for unit in self._units(frame):
            region = body if (key, True) in unit.condition else after if (key, False) in unit.condition else header
            region.append(unit)
        early, late = set(map(id, header)), set(map(id, after))
        if any(id(source) not in early for unit in header for source in unit.sources):
            raise UnstructuredError("what every round of a loop needs depends on what only some rounds do")
        if any(id(source) in late for unit in body for source in unit.sources):
            raise UnstructuredError("a round of a loop depends on what follows the last one")
        for unit in (*body, *after):
            unit.condition = frozenset(step for step in unit.condition if step[0] is not key)
        blocks = [block.inner(in_loop=True) for _ in range(3)]
        for units, part in zip((header, body, after), blocks, strict=True):
            self._schedule(units, part)
        return Loop(self._variables(frame), key, frame.loop_conds[0], *blocks)

    def _variables(self, frame: Frame) -> list[LoopVariable]:
        variables = []
        for op in frame.ops:
            condition = self._liveness.of[op]
            if op.type in MERGES and condition is not None and is_loop_head(op, self._fed):
                start, back = loop_ends(op)
                variables.append(LoopVariable(op, start, back.op.inputs[0], self._steps(condition)))
        return variables


def _link(unit: _Unit, before: Iterable[_Unit]) -> None:
    for source in before:
        unit.sources.append(source)
        source.followers.append(unit)


def _open_side(block: Block, step: tuple[Tensor, bool]) -> Block:
    """The block for one side of a predicate: that of the choice made last, if it is about the same predicate."""
    predicate, truth = step
    last = block.items[-1] if block.items else None
    if not isinstance(last, Choice) or last.predicate is not predicate:
        last = Choice(predicate, block.inner(), block.inner())
        block.items.append(last)
    return last.then if truth else last.otherwise


def merged_in(block: Block) -> list[Operation]:
    """The merges that take a value in a block, whichever way its own branches go."""
    found: dict[Operation, None] = {}
    for item in block.items:
        if isinstance(item, Arm):
            found[item.merge] = None
        elif isinstance(item, Choice):
            both = set(merged_in(item.otherwise))
            found.update((merge, None) for merge in merged_in(item.then) if merge in both)
    return list(found)
