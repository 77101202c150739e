"""The executor for any control flow: values move as tokens through frames and their rounds.

    token = a value, or dead             on an edge, in one round of one frame
    frame = parent frame, round of the parent, name; rounds 0, 1, …

An operation runs in a round once all its inputs and control inputs have arrived there. If one of them is dead, so are
its outputs. A Switch kills one of its outputs; a Merge passes on its first live input and dies only if all are dead.
Enter sends its value into round 0 of a frame, into every round if it is constant; NextIteration sends it to the next
round and dead tokens nowhere; Exit sends it to the parent's round, dead ones only when the frame is done. This is
TensorFlow's rule, kept to the letter and not to its speed: `blocks` runs all that programs usually write.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import PLACEHOLDERS, Operation, Tensor
from tensorkeep.graph.ordering import LOOP_BACK
from tensorkeep.runtime.limits import count_step
from tensorkeep.runtime.plans.liveness import ENTERS, EXITS, MERGES, SWITCHES, assign_frames
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.plans.program import explained_error, no_value
from tensorkeep.runtime.resources import VariableResource, dereference

BoundKernel = Callable[[list[Any]], list[Any]]

_SAME: Final = ("Identity", "PreventGradient", "StopGradient")
_PASSES_ON: Final = frozenset(("LoopCond", *_SAME, *ENTERS, *EXITS, *LOOP_BACK))


def _give_nothing(_: list[Any]) -> list[Any]:
    return [None]


class _Dead:
    """The token of what did not run."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()


class _Read:
    """The token of what was read of a reference variable.

    In TensorFlow it is the variable's memory, so that it changes with the variable until an operation takes it.
    """

    __slots__ = ("_variable",)

    def __init__(self, variable: VariableResource) -> None:
        variable.read()  # which fails if it has no value
        self._variable = variable

    @property
    def value(self) -> Any:
        return self._variable.read()


def _value(token: Any) -> Any:
    return token.value if type(token) is _Read else token


@dataclass(slots=True, eq=False)
class _Node:
    """An operation, with where its outputs go: (node, input) per output, and the nodes that only wait for it."""

    op: Operation
    kernel: BoundKernel | None
    inputs: int
    controls: int
    data: list[list[tuple[_Node, int]]]
    waiting: list[_Node] = field(default_factory=list)
    preset: dict[int, Any] = field(default_factory=dict)
    """Inputs that are fed, and so never arrive."""


@dataclass(slots=True, eq=False)
class _Round:
    """What has arrived in one round of a frame: per node the inputs, how many are missing, how many were dead.

    It is busy with operations that are ready, and with frames inside that are not done.
    """

    busy: int = 0

    arrived: dict[_Node, list[Any]] = field(default_factory=dict)
    missing: dict[_Node, int] = field(default_factory=dict)
    dead: dict[_Node, int] = field(default_factory=dict)
    started: set[_Node] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class _Frame:
    name: str
    parent: _Frame | None
    parent_round: int
    entries: int  # how many Enter nodes have not come yet
    rounds: dict[int, _Round] = field(default_factory=lambda: {0: _Round()})
    first: int = 0  # the first round that is not done
    last: int = 0  # the last one that has begun
    constants: list[tuple[_Node, Any]] = field(default_factory=list)
    dead_exits: dict[_Node, None] = field(default_factory=dict)
    children: dict[tuple[int, str], _Frame] = field(default_factory=dict)


class TokenMachine:
    """A plan to be run by tokens."""

    def __init__(self, plan: Plan, bind: Callable[[Operation], BoundKernel], awaits_feeds: bool = False) -> None:
        """If it awaits feeds, they come while it runs, and not before."""
        assign_frames(plan)  # inputs from different frames are an error before anything runs
        self._awaited = frozenset(plan.feeds if awaits_feeds else ())
        self._plan = plan
        self._fed = {} if awaits_feeds else {tensor: i for i, tensor in enumerate(plan.feeds)}
        self._nodes: dict[Operation, _Node] = {}
        self._entries: dict[str, int] = {}
        given = {tensor.op for tensor in plan.feeds if tensor.op.type in PLACEHOLDERS}  # for which others only wait
        special = _PASSES_ON | SWITCHES | MERGES | {"_SwitchN", "NoOp", "ControlTrigger"}
        for op in plan.ops:
            kernel = _give_nothing if op in given else None if op.type in special else bind(op)
            edges: list[list[tuple[_Node, int]]] = [[] for _ in op.outputs]
            self._nodes[op] = _Node(op, kernel, len(op.inputs), len(op.control_inputs), edges)
            if op.type in ENTERS:
                name = _frame_name(op)
                self._entries[name] = self._entries.get(name, 0) + 1
        for node in self._nodes.values():
            self._connect(node)

    def _connect(self, node: _Node) -> None:
        for i, tensor in enumerate(node.op.inputs):
            if tensor in self._fed:
                node.preset[i] = self._fed[tensor]
            elif tensor not in self._awaited:
                self._nodes[tensor.op].data[tensor.index].append((node, i))
        for source in node.op.control_inputs:
            self._nodes[source].waiting.append(node)

    def begun(self) -> _Run:
        """A run for which the tensors that are awaited are still to come."""
        run = _Run(self._nodes, self._entries, self._plan, self._fed, ())
        run.begin()
        return run

    def run(self, *feeds: object) -> tuple[Any, ...]:
        """The values of the fetches; an error if one is dead."""
        run = _Run(self._nodes, self._entries, self._plan, self._fed, feeds)
        run.begin()
        return run.result()


def _frame_name(op: Operation) -> str:
    return str(op.attr("frame_name").decode(errors="replace"))


class SteppedRun:
    """One run of a plan whose feeds come one after the other. What can run by then does so, once."""

    def __init__(self, plan: Plan, bind: Callable[[Operation], BoundKernel]) -> None:
        """The plan has to be a whole one. What needs none of the feeds runs now."""
        frames = assign_frames(plan)
        self._edges: dict[Tensor, list[tuple[Operation, int]]] = {tensor: [] for tensor in plan.feeds}
        for op in plan.ops:
            for i, tensor in enumerate(op.inputs):
                if tensor not in self._edges:
                    continue
                if frames.of[op] is not frames.root:
                    raise InvalidArgumentError(
                        f"{tensor.name} is taken by {op.name}, which is inside of a loop: such a tensor is fed by "
                        "Session.run only"
                    )
                self._edges[tensor].append((op, i))
        self._run = TokenMachine(plan, bind, awaits_feeds=True).begun()

    def feed(self, values: Mapping[Tensor, Any]) -> None:
        """Runs what can run with these values besides those that came before."""
        for tensor, value in values.items():
            for op, index in self._edges[tensor]:
                self._run.give(op, index, value)
        self._run.go_on()

    def value(self, index: int) -> object:
        """The value of a fetch that can be computed from what was fed; an error if it is dead."""
        return self._run.value(index)


class _Run:
    """One run."""

    def __init__(
        self,
        nodes: dict[Operation, _Node],
        entries: dict[str, int],
        plan: Plan,
        fed: dict[Any, int],
        feeds: tuple[Any, ...],
    ) -> None:
        self._nodes = nodes
        self._entries = entries
        self._plan = plan
        self._fed = fed
        self._feeds = feeds
        self._root = _Frame("", None, 0, 0)
        self._ready: deque[tuple[_Node, _Frame, int, list[Any], bool]] = deque()
        self._wanted = {tensor.op for tensor in plan.fetches if tensor not in fed}
        self._results: dict[Operation, list[Any]] = {}

    def begin(self) -> None:
        """Runs what needs nothing that is still to come."""
        for node in self._nodes.values():
            is_complete = node.inputs == len(node.preset) or (node.preset and node.op.type in MERGES)
            if is_complete and node.controls == 0:
                self._begin(node, self._root, 0, self._inputs(node, self._root.rounds[0]), False)
        self.go_on()

    def give(self, op: Operation, index: int, value: Any) -> None:
        """A value for an input of an operation outside of loops."""
        node = self._nodes[op]
        if op.type in MERGES:
            self._to_merge(node, self._root, 0, index, value, False)
        else:
            self._arrive(node, self._root, 0, index, value)

    def go_on(self) -> None:
        """Runs what is ready, and what becomes so."""
        while self._ready:
            node, frame, at, inputs, is_dead = self._ready.popleft()
            outputs = self._outputs(node, inputs, is_dead)
            if node.op in self._wanted and not is_dead:
                self._keep(node.op, frame, outputs)
            self._propagate(node, frame, at, outputs, is_dead)
            frame.rounds[at].busy -= 1
            self._finish(frame)

    def result(self) -> tuple[Any, ...]:
        return tuple(self.value(i) for i in range(len(self._plan.fetches)))

    def _keep(self, op: Operation, frame: _Frame, outputs: list[Any]) -> None:
        """Keeps what is fetched, unless it is a value inside a loop."""
        if (frame.parent if op.type in EXITS else frame) is self._root and op.type not in ENTERS:
            self._results[op] = outputs

    def value(self, index: int) -> Any:
        """The value of a fetch; an error if it is dead."""
        tensor = self._plan.fetches[index]
        if tensor in self._fed:
            return self._feeds[self._fed[tensor]]
        outputs = self._results.get(tensor.op)
        if outputs is None or outputs[tensor.index] is DEAD:
            raise no_value(index)
        value = _value(outputs[tensor.index])
        return dereference(value) if tensor.dtype.is_ref else value

    # -------------------------------------------------------------------------------------------- running

    def _outputs(self, node: _Node, inputs: list[Any], is_dead: bool) -> list[Any]:
        op = node.op
        if is_dead:
            return [DEAD] * len(op.outputs)
        try:
            if node.kernel is not None:
                return node.kernel([_value(token) for token in inputs])
            return self._passed(op, inputs)
        except Exception as error:
            raise explained_error(error, op) from error

    def _passed(self, op: Operation, inputs: list[Any]) -> list[Any]:
        """The outputs of the nodes that are control flow."""
        if op.type in MERGES:
            index = next(i for i, value in enumerate(inputs) if value is not DEAD)
            return [self._read(op, index, inputs[index]), np.int32(index)]
        if op.type in SWITCHES:
            value = self._read(op, 0, inputs[0])
            return [DEAD, value] if bool(_value(inputs[1])) else [value, DEAD]
        if op.type == "_SwitchN":
            count = len(op.outputs)
            index = int(_value(inputs[1]))
            taken = index if 0 <= index < count else count - 1
            value = self._read(op, 0, inputs[0])
            return [value if i == taken else DEAD for i in range(count)]
        return [self._read(op, i, inputs[i]) for i in range(len(op.outputs))]

    def _read(self, op: Operation, index: int, value: Any) -> Any:
        reads = op.inputs[index].dtype.is_ref and not op.outputs[0].dtype.is_ref
        return _Read(value) if reads and isinstance(value, VariableResource) else value

    # ----------------------------------------------------------------------------------------- propagation

    def _propagate(self, node: _Node, frame: _Frame, at: int, outputs: list[Any], is_dead: bool) -> None:
        kind = node.op.type
        if kind in ENTERS:
            child = self._child(node.op, frame, at)
            if node.op.attr("is_constant"):
                child.constants.append((node, outputs[0]))
                for number in list(child.rounds):
                    self._send(node, child, number, outputs, is_dead)
            else:
                self._send(node, child, 0, outputs, is_dead)
            child.entries -= 1
            self._finish(child)
        elif kind in EXITS:
            assert frame.parent is not None
            if is_dead:
                if at == frame.last:
                    frame.dead_exits[node] = None
            else:
                frame.dead_exits.pop(node, None)
                self._send(node, frame.parent, frame.parent_round, outputs, False)
        elif kind in LOOP_BACK:
            if not is_dead:
                if at == frame.last:
                    self._next_round(frame)
                self._send(node, frame, at + 1, outputs, False)
        else:
            self._send(node, frame, at, outputs, is_dead)

    def _child(self, op: Operation, frame: _Frame, at: int) -> _Frame:
        name = _frame_name(op)
        found = frame.children.get((at, name))
        if found is None:
            found = frame.children[at, name] = _Frame(name, frame, at, self._entries[name])
            frame.rounds[at].busy += 1
        return found

    def _next_round(self, frame: _Frame) -> None:
        count_step()
        frame.last += 1
        frame.rounds[frame.last] = _Round()
        frame.dead_exits.clear()
        for node, value in frame.constants:
            self._send(node, frame, frame.last, [value], value is DEAD)

    def _finish(self, frame: _Frame) -> None:
        """Lets go of rounds in which nothing can happen any more; after the last, dead exits go to the parent."""
        while frame.entries == 0:
            while frame.first < frame.last and frame.rounds[frame.first].busy == 0:
                del frame.rounds[frame.first]
                frame.first += 1
            if frame.parent is None or frame.first < frame.last or frame.rounds[frame.first].busy:
                return
            parent, at = frame.parent, frame.parent_round
            frame.entries = -1
            for node in frame.dead_exits:
                self._send(node, parent, at, [DEAD], True)
            del parent.children[at, frame.name]
            parent.rounds[at].busy -= 1
            frame = parent

    def _send(self, node: _Node, frame: _Frame, at: int, outputs: list[Any], is_dead: bool) -> None:
        for value, edges in zip(outputs, node.data, strict=True):
            for target, index in edges:
                if target.op.type in MERGES:
                    self._to_merge(target, frame, at, index, value, node.op.type in ENTERS)
                else:
                    self._arrive(target, frame, at, index, value)
        for target in node.waiting:
            if target.op.type in MERGES:
                self._to_merge(target, frame, at, -1, None, False)
            else:
                self._arrive(target, frame, at, -1, DEAD if is_dead else None)

    def _arrive(self, node: _Node, frame: _Frame, at: int, index: int, value: Any) -> None:
        """Notes a token at an operation that waits for all of its inputs."""
        state = frame.rounds[at]
        inputs = self._inputs(node, state)
        if index >= 0:
            inputs[index] = value
        if value is DEAD:
            state.dead[node] = state.dead.get(node, 0) + 1
        missing = state.missing[node] = state.missing[node] - 1
        if missing == 0:
            is_dead = state.dead.get(node, 0) > 0 and node.op.type != "ControlTrigger"
            self._begin(node, frame, at, inputs, is_dead)

    def _to_merge(self, node: _Node, frame: _Frame, at: int, index: int, value: Any, entered: bool) -> None:
        """Notes a token at a merge: it runs with its first live input, or dies with its last dead one."""
        state = frame.rounds[at]
        if node in state.started:
            return
        inputs = self._inputs(node, state)
        if index < 0:
            state.missing[node] -= 1
        elif value is DEAD:
            state.dead[node] = state.dead.get(node, 0) + 1
        elif all(item is DEAD for item in inputs):
            inputs[index] = value
        if state.missing[node] > node.inputs - len(node.preset):
            return
        is_live = any(item is not DEAD for item in inputs)
        all_dead = state.dead.get(node, 0) == node.inputs or (entered and value is DEAD)
        if is_live or all_dead:
            self._begin(node, frame, at, inputs, not is_live)

    def _inputs(self, node: _Node, state: _Round) -> list[Any]:
        inputs = state.arrived.get(node)
        if inputs is None:
            inputs = state.arrived[node] = [DEAD] * node.inputs
            for i, position in node.preset.items():
                inputs[i] = self._feeds[position]
            state.missing[node] = node.inputs - len(node.preset) + node.controls
        return inputs

    def _begin(self, node: _Node, frame: _Frame, at: int, inputs: list[Any], is_dead: bool) -> None:
        state = frame.rounds[at]
        state.started.add(node)
        state.arrived.pop(node, None)
        state.busy += 1
        self._ready.append((node, frame, at, inputs, is_dead))
