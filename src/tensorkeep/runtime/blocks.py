"""The branches and loops of a graph, found again in its Switch, Merge, Enter and Exit nodes. Pure.

    block  = {step | arm | choice | loop}
    step   = an operation
    arm    = a merge takes one of its inputs
    choice = predicate, block if it holds, block if not
    loop   = variables, header block, condition, body block, block after the last round

Every operation has a condition under which it lives: a set of predicates, each with the truth it must have. A switch
adds one, a merge of two sides that differ in one takes it away. Inside a loop, what lives under no condition runs once
more than what lives under the loop's; the latter is the body. What cannot be read so is unstructured, and is left to
`frames`, which can run any graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.plan import LOOP_BACK, Plan, sources

SWITCHES: Final = frozenset(("Switch", "RefSwitch"))
MERGES: Final = frozenset(("Merge", "RefMerge"))
ENTERS: Final = frozenset(("Enter", "RefEnter"))
EXITS: Final = frozenset(("Exit", "RefExit"))
_SAME_VALUE: Final = frozenset(("Identity", "LoopCond", *SWITCHES, *ENTERS))

Condition: TypeAlias = frozenset[tuple[Tensor, bool]]
ALWAYS: Final[Condition] = frozenset()

_DEEPEST: Final = 80  # blocks in each other; Python takes no more than 100
_MOST_LOOPS: Final = 16  # of which are loops; Python takes no more than 20


class UnstructuredError(Exception):
    """The graph's control flow is not made of nested branches and loops."""


@dataclass(slots=True, eq=False)
class Block:
    """Items in the order in which they run, and where the block itself stands: in which item of which block."""

    parent: Block | None = None
    position: int = 0
    depth: int = 0
    loops: int = 0  # how many loops the block is in
    items: list[Item] = field(default_factory=list)

    def inner(self, in_loop: bool = False) -> Block:
        """A block for the item that comes next."""
        depth, loops = self.depth + 1, self.loops + in_loop
        if depth > _DEEPEST or loops > _MOST_LOOPS:
            raise UnstructuredError("branches and loops in each other, too deep for one function")
        return Block(self, len(self.items), depth, loops)


@dataclass(slots=True, eq=False)
class Step:
    """An operation."""

    op: Operation


@dataclass(slots=True, eq=False)
class Arm:
    """A merge that takes its input of this index."""

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


@dataclass(slots=True, eq=False)
class Loop:
    """header; leave unless condition; body; variables take their next values; again. Then what follows the last."""

    variables: list[LoopVariable]
    condition: Tensor
    op: Operation
    header: Block
    body: Block
    after: Block


Item: TypeAlias = Step | Arm | Choice | Loop


@dataclass(frozen=True)
class Structure:
    """A plan as a block, with what must hold for each fetched tensor to have a value; None if it never has one."""

    block: Block
    fetches: tuple[tuple[tuple[Tensor, bool], ...] | None, ...]


def structure(plan: Plan) -> Structure:
    """The plan's operations as nested blocks. Raises UnstructuredError if they are not."""
    if not plan.has_control_flow:
        return Structure(Block(items=[Step(op) for op in plan.ops]), ((),) * len(plan.fetches))
    return _Arrangement(plan).result()


# ---------------------------------------------------------------------------------------------------- Frames


@dataclass(slots=True, eq=False)
class Frame:
    """A loop's frame as the nodes state it: all that is entered from one frame under one name."""

    name: str
    parent: Frame | None
    enters: list[Operation] = field(default_factory=list)
    ops: list[Operation] = field(default_factory=list)
    condition: Condition | None = ALWAYS  # in the parent
    loop_cond: Operation | None = None
    variables: list[LoopVariable] = field(default_factory=list)


@dataclass(frozen=True)
class Frames:
    """In which frame each operation runs, and in which its outputs are: Enter and Exit lead from one to another."""

    root: Frame
    inner: list[Frame]
    of: dict[Operation, Frame]
    given: dict[Operation, Frame]


def assign_frames(plan: Plan) -> Frames:
    """The frames of a plan's operations. Inputs from different frames are an error."""
    fed = frozenset(plan.feeds)
    root = Frame("", None)
    children: dict[tuple[int, str], Frame] = {}
    of: dict[Operation, Frame] = {}
    given: dict[Operation, Frame] = {}
    for op in plan.ops:
        frame, origin = root, None
        for source in sources(op, fed):
            if origin is None:
                frame, origin = given[source], source
            elif given[source] is not frame:
                raise InvalidArgumentError(
                    f"{{{{node {op.name}}}}} has inputs from different frames. The input {{{{node {origin.name}}}}} is "
                    f"in frame '{frame.name}'. The input {{{{node {source.name}}}}} is in frame '{given[source].name}'."
                )
        of[op] = given[op] = frame
        frame.ops.append(op)
        if op.type in ENTERS:
            name = op.attr("frame_name").decode(errors="replace")
            child = children.setdefault((id(frame), name), Frame(name, frame))
            child.enters.append(op)
            given[op] = child
        elif op.type in EXITS:
            if frame.parent is None:
                raise InvalidArgumentError(f"{{{{node {op.name}}}}} leaves a loop that nothing has entered")
            given[op] = frame.parent
    return Frames(root, list(children.values()), of, given)


# ---------------------------------------------------------------------------------------------------- Conditions


def _joined(conditions: Iterable[Condition | None]) -> Condition | None:
    """What must hold for all to hold; None if they exclude each other."""
    found: Condition = ALWAYS
    for condition in conditions:
        if condition is None:
            return None
        if condition:
            found = found | condition
    if len(found) > 1 and any((predicate, not truth) in found for predicate, truth in found):
        return None
    return found


def _either(conditions: Sequence[Condition]) -> Condition:
    """What must hold for one of several to hold that are the sides of nested branches."""
    found = list(conditions)
    while len(found) > 1:
        for i, first in enumerate(found):
            match = next((j for j in range(i + 1, len(found)) if _are_sides(first, found[j])), None)
            if match is not None:
                found[i] = first & found.pop(match)
                break
        else:
            raise UnstructuredError("a merge of what are not the sides of a branch")
    return found[0]


def _are_sides(first: Condition, second: Condition) -> bool:
    """Whether two conditions differ in the truth of one predicate only."""
    difference = first ^ second
    if len(difference) != 2:
        return False
    (a, _), (b, _) = difference
    return a is b


class _Liveness:
    """The condition under which each operation lives, in the frame it runs in; None if it never does."""

    def __init__(self, plan: Plan, frames: Frames) -> None:
        self._fed = frozenset(plan.feeds)
        self._frames = frames
        self._keys: dict[Tensor, Tensor] = {}
        self._left: set[Frame] = set()
        self.of: dict[Operation, Condition | None] = {}
        for op in plan.ops:
            self.of[op] = self._condition(op)
        for frame in frames.inner:
            self._check(frame)

    def key(self, tensor: Tensor) -> Tensor:
        """The tensor whose value a predicate has, however often it has been passed on."""
        found = self._keys.get(tensor)
        if found is None:
            found = tensor
            while found not in self._fed and found.op.type in _SAME_VALUE and not found.op.inputs[0].dtype.is_ref:
                found = found.op.inputs[0]
            self._keys[tensor] = found
        return found

    def of_tensor(self, tensor: Tensor) -> Condition | None:
        """The condition under which a tensor has a value, in the frame it is in."""
        if tensor in self._fed:
            return ALWAYS
        op = tensor.op
        if op.type in SWITCHES:
            side = _joined((self.of[op], frozenset(((self.key(op.inputs[1]), bool(tensor.index)),))))
            return self._relative(side, self._frames.of[op])
        return self._passed(op)

    def _relative(self, condition: Condition | None, frame: Frame) -> Condition | None:
        """A condition without what the loops around it stand under already."""
        around: Frame | None = frame
        while condition and around is not None:
            if around.condition:
                if _joined((condition, around.condition)) is None:
                    return None
                condition = condition - around.condition
            around = around.parent
        return condition

    def _passed(self, op: Operation) -> Condition | None:
        """What an operation's life means for those that wait for it."""
        if op.type in ENTERS or op.type == "ControlTrigger":
            return ALWAYS
        if op.type in EXITS:
            self._left.add(self._frames.of[op])
            return self._frames.of[op].condition
        return self.of[op]

    def _condition(self, op: Operation) -> Condition | None:
        kind = op.type
        if kind in MERGES:
            return self._merged(op)
        if kind == "_SwitchN":
            raise UnstructuredError("a switch of many ways")
        condition = _joined((*map(self.of_tensor, op.inputs), *map(self._passed, op.control_inputs)))
        if kind in ENTERS:
            frame = self._frames.given[op]
            wanted = _joined((frame.condition, condition))
            if wanted != frame.condition and frame in self._left:
                raise UnstructuredError("a loop that may be left before it is entered")
            frame.condition = wanted
        elif kind == "LoopCond":
            frame = self._frames.of[op]
            if frame.loop_cond is not None or condition or frame.parent is None:
                raise UnstructuredError("a loop without one condition that every round asks")
            frame.loop_cond = op
        elif kind == "ControlTrigger" and condition is None:  # it waits for both sides of a branch
            sides = [side for side in map(self._passed, op.control_inputs) if side is not None]
            condition = frozenset.intersection(*sides) if sides else ALWAYS
        return condition

    def _merged(self, op: Operation) -> Condition | None:
        following = [tensor for tensor in op.inputs if tensor.op.type in LOOP_BACK and tensor not in self._fed]
        if not following:
            sides = [side for side in map(self.of_tensor, op.inputs) if side is not None]
            return _either(sides) if sides else None
        starts = [tensor for tensor in op.inputs if tensor not in following]
        frame = self._frames.of[op]
        if len(op.inputs) != 2 or len(starts) != 1 or self._frames.given[starts[0].op] is not frame:
            raise UnstructuredError("a merge that is neither of a branch nor the head of a loop")
        if starts[0].op.type not in ENTERS or starts[0] in self._fed:
            raise UnstructuredError("a loop variable whose first value does not come from outside")
        frame.variables.append(LoopVariable(op, starts[0], following[0].op.inputs[0]))
        return ALWAYS

    def _check(self, frame: Frame) -> None:
        """Sees that a frame is a loop: one condition, and next values and exits on its two sides."""
        if frame.loop_cond is None:
            raise UnstructuredError("a frame without a condition")
        key = self.key(frame.loop_cond.outputs[0])
        again: Condition = frozenset(((key, True),))
        done: Condition = frozenset(((key, False),))
        nexts = [op for op in frame.ops if op.type in LOOP_BACK]
        exits = [op for op in frame.ops if op.type in EXITS]
        if any(self.of[op] != again for op in nexts) or any(self.of[op] != done for op in exits):
            raise UnstructuredError("a loop that is left or goes on under another condition than its own")
        if frame.condition is not None and any(self.of[op] != frame.condition for op in frame.enters):
            self._check_partial(frame)

    def _check_partial(self, frame: Frame) -> None:
        """Sees that a loop into which only some values come does nothing then.

        What a loop only reads, such as a weight, may come where its variables do not: in the last round of a loop
        around it. TensorFlow then runs what needs nothing else once, which nobody sees if it keeps no state.
        """
        needs: dict[Operation, Condition] = {op: self.of[op] or ALWAYS for op in frame.enters}
        for op in frame.ops:
            found = ALWAYS
            for source in sources(op, self._fed):
                needed = needs.get(source)
                if needed is None and source.type in EXITS:
                    needed = ALWAYS.union(*(needs.get(enter, ALWAYS) for enter in self._frames.of[source].enters))
                found = found | (needed or ALWAYS)
            needs[op] = found
            keeps_state = op.spec.schema.is_stateful or op.spec.kernel_takes_context
            if (op is frame.loop_cond or keeps_state) and found != frame.condition:
                raise UnstructuredError("a loop that may be entered in part")


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


class _Arrangement:
    """Puts operations into blocks, frame by frame."""

    def __init__(self, plan: Plan) -> None:
        self._fed = frozenset(plan.feeds)
        self._frames = assign_frames(plan)
        self._liveness = _Liveness(plan, self._frames)
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

    def _fetched(self, tensor: Tensor) -> tuple[tuple[Tensor, bool], ...] | None:
        if tensor not in self._fed and self._frames.given[tensor.op] is not self._frames.root:
            raise UnstructuredError("a tensor inside a loop is fetched")
        condition = self._liveness.of_tensor(tensor)
        return None if condition is None else tuple(sorted(condition, key=self._rank))

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
                _link(unit, (ends[op] for op in inner.enters))
                ends.update((op, unit) for op in inner.ops if op.type in EXITS)
        for op in frame.ops:
            if op in ends:
                units.extend(self._linked(op, ends))
        return units

    def _linked(self, op: Operation, ends: dict[Operation, _Unit]) -> list[_Unit]:
        """Makes an operation wait for its sources. The sides of a merge are units of their own, which it waits for."""
        unit = ends[op]
        if op.type not in MERGES or any(tensor.op.type in LOOP_BACK for tensor in op.inputs):
            _link(unit, (ends[source] for source in sources(op, self._fed) if source in ends))
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
        inside = set(map(id, units))
        path: list[tuple[Tensor, bool]] = []
        blocks = [block]
        ready: dict[Condition, list[tuple[int, int, _Unit]]] = {}
        for number, unit in enumerate(units):
            unit.waiting = sum(id(source) in inside for source in unit.sources)
            if unit.waiting == 0:
                heappush(ready.setdefault(unit.condition, []), (unit.index, number, unit))
        numbers = {id(unit): number for number, unit in enumerate(units)}
        here: Condition = ALWAYS
        left = len(units)
        while left:
            queue = ready.get(here)
            if queue:
                _, _, unit = heappop(queue)
                if not queue:
                    del ready[here]
                left -= 1
                self._place(unit, blocks[-1])
                for follower in unit.followers:
                    if id(follower) in inside:
                        follower.waiting -= 1
                        if follower.waiting == 0:
                            entry = (follower.index, numbers[id(follower)], follower)
                            heappush(ready.setdefault(follower.condition, []), entry)
                continue
            deeper = [(heap[0][:2], condition) for condition, heap in ready.items() if here < condition]
            if deeper:
                step = self._next_step(min(deeper, key=lambda entry: entry[0])[1] - here)
                path.append(step)
                blocks.append(_opened(blocks[-1], step))
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
        assert frame.loop_cond is not None
        key = self._liveness.key(frame.loop_cond.outputs[0])
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
        return Loop(frame.variables, key, frame.loop_cond, *blocks)


def _link(unit: _Unit, before: Iterable[_Unit]) -> None:
    for source in before:
        unit.sources.append(source)
        source.followers.append(unit)


def _opened(block: Block, step: tuple[Tensor, bool]) -> Block:
    """The block for one side of a predicate: that of the choice made last, if it is about the same predicate."""
    predicate, truth = step
    last = block.items[-1] if block.items else None
    if not isinstance(last, Choice) or last.predicate is not predicate:
        last = Choice(predicate, block.inner(), block.inner())
        block.items.append(last)
    return last.then if truth else last.otherwise
