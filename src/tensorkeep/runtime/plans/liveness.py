"""Under which condition each operation of a plan runs, and in which loop. Pure.

A condition is a set of predicates, each with the truth it must have. A switch adds one to what lives on either side; a
merge of two sides that differ in one takes it away. Conditions are stated within a loop's frame: what holds for the
loop as a whole is left out. Operations whose life cannot be said so are `UnstructuredError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.ordering import LOOP_BACK
from tensorkeep.runtime.plans.plan import Plan, source_operations

SWITCHES: Final = frozenset(("Switch", "RefSwitch"))
MERGES: Final = frozenset(("Merge", "RefMerge"))
ENTERS: Final = frozenset(("Enter", "RefEnter"))
EXITS: Final = frozenset(("Exit", "RefExit"))
_SAME_VALUE: Final = frozenset(("Identity", "LoopCond", *SWITCHES, *ENTERS))

Condition: TypeAlias = frozenset[tuple[Tensor, bool]]
ALWAYS: Final[Condition] = frozenset()


class UnstructuredError(Exception):
    """The graph's control flow is not made of nested branches and loops."""


# ---------------------------------------------------------------------------------------------------- Frames


@dataclass(slots=True, eq=False)
class Frame:
    """A loop's frame as the nodes state it: all that is entered from one frame under one name."""

    name: str
    parent: Frame | None
    enters: list[Operation] = field(default_factory=list)
    ops: list[Operation] = field(default_factory=list)
    loop_conds: list[Operation] = field(default_factory=list)
    condition: Condition | None = ALWAYS  # under which the loop runs, in the parent
    is_held_back: bool = False  # whether it runs less often than TensorFlow would run it, and nobody should notice


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
        for source in source_operations(op, fed):
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
        elif op.type == "LoopCond":
            frame.loop_conds.append(op)
    return Frames(root, list(children.values()), of, given)


# ---------------------------------------------------------------------------------------------------- Conditions


def condition_of_all(conditions: Iterable[Condition | None]) -> Condition | None:
    """The condition under which all of these hold; None if they contradict each other."""
    found: Condition = ALWAYS
    for condition in conditions:
        if condition is None:
            return None
        if condition:
            found = found | condition
    if len(found) > 1 and any((predicate, not truth) in found for predicate, truth in found):
        return None
    return found


def condition_of_any(conditions: Sequence[Condition]) -> Condition:
    """The condition under which one of these holds, given that they are the sides of nested branches.

    {p}, {not p, q} and {not p, not q} together hold always: pairs that differ in one predicate are put together, until
    one is left. UnstructuredError if they cannot be.
    """
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


class Liveness:
    """The condition under which each operation lives, in the frame it runs in; None if it never does."""

    def __init__(self, plan: Plan, frames: Frames) -> None:
        self._fed = frozenset(plan.feeds)
        self._frames = frames
        self._keys: dict[Tensor, Tensor] = {}
        self._unentered = {frame: len(frame.enters) for frame in frames.inner}
        self.of: dict[Operation, Condition | None] = {}
        self._find(plan)
        for frame in frames.inner:
            self._check(frame)

    def _find(self, plan: Plan) -> None:
        """Finds all conditions: those inside a loop once all ways into it are known."""
        pending = list(plan.ops)
        while pending:
            later: list[Operation] = []
            for op in pending:
                if all(self._is_known(source) for source in source_operations(op, self._fed)):
                    self.of[op] = self._condition(op)
                else:
                    later.append(op)
            if len(later) == len(pending):
                raise UnstructuredError("a loop that needs its own results to begin")
            pending = later

    def _is_known(self, op: Operation) -> bool:
        return op in self.of and (op.type not in ENTERS or self._unentered[self._frames.given[op]] == 0)

    def key(self, tensor: Tensor) -> Tensor:
        """The tensor whose value a predicate has, however often it has been passed on."""
        found = self._keys.get(tensor)
        if found is None:
            found = tensor
            while found not in self._fed and found.op.type in _SAME_VALUE and not found.op.inputs[0].dtype.is_ref:
                found = found.op.inputs[0]
            self._keys[tensor] = found
        return found

    def loop_key(self, frame: Frame) -> Tensor:
        """The predicate that decides whether a loop goes on."""
        return self.key(frame.loop_conds[0].outputs[0])

    def of_tensor(self, tensor: Tensor) -> Condition | None:
        """The condition under which a tensor has a value, in the frame it is in."""
        if tensor in self._fed:
            return ALWAYS
        op = tensor.op
        if op.type in SWITCHES:
            side = condition_of_all((self.of[op], frozenset(((self.key(op.inputs[1]), bool(tensor.index)),))))
            return self._relative(side, self._frames.of[op])
        return self._passed(op)

    def _relative(self, condition: Condition | None, frame: Frame) -> Condition | None:
        """The condition without what holds in all of this frame anyway; None if it contradicts what holds there."""
        around: Frame | None = frame
        while around is not None and condition is not None:
            if around.condition is None or condition_of_all((condition, around.condition)) is None:
                return None
            condition = condition - around.condition
            around = around.parent
        return condition

    def _passed(self, op: Operation) -> Condition | None:
        """The condition under which the successors of an operation get a value from it; None if they never do."""
        if op.type in ENTERS:
            return self._relative(self.of[op], self._frames.given[op])
        if op.type in EXITS:
            condition, frame = self.of[op], self._frames.of[op]
            if condition is None or frame.condition is None:
                return None
            outer = frozenset(step for step in condition if step[0] is not self.loop_key(frame))
            return condition_of_all((frame.condition, outer))
        return ALWAYS if op.type == "ControlTrigger" else self.of[op]

    def _condition(self, op: Operation) -> Condition | None:
        kind = op.type
        if kind in MERGES:
            return self._merged(op)
        if kind == "_SwitchN":
            raise UnstructuredError("a switch of many ways")
        condition = condition_of_all((*map(self.of_tensor, op.inputs), *map(self._passed, op.control_inputs)))
        if kind in ENTERS:
            frame = self._frames.given[op]
            self.of[op] = condition
            self._unentered[frame] -= 1
            if not self._unentered[frame]:
                self._enter(frame)
        elif kind == "ControlTrigger" and condition is None:  # it waits for both sides of a branch
            sides = [side for side in map(self._passed, op.control_inputs) if side is not None]
            condition = frozenset.intersection(*sides) if sides else ALWAYS
        return condition

    def _enter(self, frame: Frame) -> None:
        """Finds the condition under which a loop runs: that of all that its own condition depends on.

        What comes in under more conditions is, inside, under those. What comes in under fewer waits for the loop. In
        the last round of a loop around it, which only what the body makes is missing from, the loop need not run.
        """
        if len(frame.loop_conds) != 1:
            raise UnstructuredError("a frame without one condition that every round asks")
        needed = self._entries_behind(frame.loop_conds[0], frame)
        frame.condition = condition_of_all(self.of[op] for op in needed)
        everything = condition_of_all(self.of[op] for op in frame.enters)
        if frame.condition is None or everything is None or frame.parent is None or not frame.parent.loop_conds:
            return
        if everything - frame.condition == {(self.loop_key(frame.parent), True)}:
            frame.condition, frame.is_held_back = everything, True

    def _entries_behind(self, op: Operation, frame: Frame) -> set[Operation]:
        """The ways into a frame that an operation in it depends on, in any round."""
        entries = set(frame.enters)
        seen = {op}
        pending = [op]
        while pending:
            current = pending.pop()
            if current in entries:
                continue
            before = [tensor.op for tensor in current.inputs if tensor not in self._fed] + current.control_inputs
            for source in before:
                inner = self._frames.of[source]
                found = inner.enters if source.type in EXITS and inner is not frame else (source,)
                pending.extend(item for item in found if item not in seen)
                seen.update(found)
        return entries & seen

    def _merged(self, op: Operation) -> Condition | None:
        if not is_loop_head(op, self._fed):
            sides = [side for side in map(self.of_tensor, op.inputs) if side is not None]
            return condition_of_any(sides) if sides else None
        start, _ = loop_ends(op)
        if len(op.inputs) != 2 or start.op.type not in ENTERS or start in self._fed:
            raise UnstructuredError("a merge that is neither of a branch nor the head of a loop")
        return self.of_tensor(start)

    def _check(self, frame: Frame) -> None:
        """Sees that a frame is a loop: values go on and leave on the two sides of its condition."""
        if frame.condition is None:
            return
        key = self.loop_key(frame)
        if self.of[frame.loop_conds[0]] != ALWAYS:
            raise UnstructuredError("a loop whose condition some rounds do not ask")
        for op in frame.ops:
            condition = self.of[op]
            if op.type in EXITS and condition is not None and not self._leaves(condition, key, frame):
                raise UnstructuredError("a loop that is left under another condition than its own")
            if op.type in MERGES and condition is not None and is_loop_head(op, self._fed):
                _, following = loop_ends(op)
                if self.of.get(following.op) != condition | {(key, True)}:
                    raise UnstructuredError("a loop that goes on under another condition than its own")
        if any(self.of[op] != frame.condition for op in frame.enters):
            self._check_partial(frame, frame.condition)
        if frame.is_held_back:
            self._check_unseen(frame)

    def _check_unseen(self, frame: Frame) -> None:
        """Raises UnstructuredError if a result of a loop is used which only some of the loop's values may enter."""
        assert frame.parent is not None
        behind = {op for op in frame.ops if op.type in EXITS}
        for op in frame.parent.ops:
            if behind.isdisjoint(source_operations(op, self._fed)):
                continue
            behind.add(op)
            sides = [self.of_tensor(tensor) for tensor in op.inputs if tensor.op in behind]
            if self.of[op] is None or (op.type in MERGES and None in sides):
                raise UnstructuredError("a result of a loop is wanted that was entered only in part")

    def _leaves(self, condition: Condition, key: Tensor, frame: Frame) -> bool:
        """Whether a condition says that the loop ends (`key` is false), and nothing else that differs by round."""
        others = [predicate for predicate, _ in condition if predicate is not key]
        inside = (predicate not in self._fed and self._frames.given[predicate.op] is frame for predicate in others)
        return (key, False) in condition and not any(inside)

    def _check_partial(self, frame: Frame, condition: Condition) -> None:
        """Raises UnstructuredError if an operation with state could run in a round that only some of the loop's values
        reach.

        What a loop only reads, such as a weight, may come where its variables do not: in the last round of a loop
        around it. TensorFlow then runs what needs nothing else once, which nobody sees if it keeps no state.
        """
        needs: dict[Operation, Condition] = {op: self.of[op] or ALWAYS for op in frame.enters}
        for op in frame.ops:
            found = ALWAYS
            for source in source_operations(op, self._fed):
                needed = needs.get(source)
                if needed is None and source.type in EXITS:
                    needed = ALWAYS.union(*(needs.get(enter, ALWAYS) for enter in self._frames.of[source].enters))
                found = found | (needed or ALWAYS)
            needs[op] = found
            keeps_state = op.spec.schema.is_stateful or op.spec.kernel_takes_context
            if keeps_state and not found >= condition:
                raise UnstructuredError("a loop that does something though it is entered only in part")


def is_loop_head(merge: Operation, fed: frozenset[Tensor]) -> bool:
    """Whether a merge is where a loop's rounds begin."""
    return any(tensor.op.type in LOOP_BACK and tensor not in fed for tensor in merge.inputs)


def loop_ends(merge: Operation) -> tuple[Tensor, Tensor]:
    """What comes into the head of a loop: from outside, and from the round before."""
    back = [tensor for tensor in merge.inputs if tensor.op.type in LOOP_BACK]
    outside = [tensor for tensor in merge.inputs if tensor.op.type not in LOOP_BACK]
    if len(back) != 1 or len(outside) != 1:
        raise UnstructuredError("a merge that is neither of a branch nor the head of a loop")
    return outside[0], back[0]
