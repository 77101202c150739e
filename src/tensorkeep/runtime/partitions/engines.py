"""Engines that run parts of a plan in the place of our kernels: what they are asked, and what they answer.

When a plan is compiled, the engine of the session is shown it, and says which parts of it it runs. A part is one line
of the compiled function, `v5, v6 = p0(f0, v2)`, in the place of the lines of its operations. What the engine does not
take, our kernels run as ever.

What an engine may take is decided here as well: operations that only compute, and reads of variables that nothing in
the plan changes. All others run in the order that the plan has them in. An engine that changes variables itself says
which items it cannot run; then whatever reads or changes a variable keeps its order with what changes the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, Final, Protocol, TypeAlias

from tensorkeep.dtypes import RESOURCE
from tensorkeep.graph.functions import called_functions
from tensorkeep.graph.graph import PLACEHOLDERS, Operation, Tensor
from tensorkeep.graph.ordering import LOOP_BACK
from tensorkeep.graph.registry.capabilities import capabilities_of_node
from tensorkeep.graph.registry.opspec import capabilities_of, find_op
from tensorkeep.proto.messages import FunctionDef, NodeDef
from tensorkeep.runtime.kernels import Kernels
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Item, Loop, PartCall, Step
from tensorkeep.runtime.plans.plan import CONTROL_FLOW, Plan

# What reads a variable without changing it.
READS: Final = frozenset(
    ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp")
)
# What has functions, which are looked at in its place.
_CALLS: Final = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "While", "StatelessWhile", "Case",
     "StatelessCase", "For", "StatelessFor")
)  # fmt: skip
_CHECKS: Final = frozenset(("Abort", "Assert", "CheckNumerics", "CheckNumericsV2", "EnsureShape", "Print", "PrintV2"))
_LOCAL: Final = "TensorArray"  # stateful, and made anew in every run
_PASS_ON: Final = frozenset(("Identity", "RefIdentity", "Enter", "RefEnter", "Switch", "RefSwitch"))
_LOOPS: Final = frozenset(("While", "StatelessWhile", "For", "StatelessFor", "MapDefun"))
_VARIABLES: Final = frozenset(("VarHandleOp", "_VarHandlesOp", "Variable", "VariableV2"))

_ANY: Final = "any variable"
_ENDLESS: Final = 1 << 60
_MOST_COUNTED: Final = 1_000_000  # nodes of a call
_DEEPEST: Final = 100  # calls in each other

Own: TypeAlias = Callable[..., Sequence[Any]]


@dataclass(frozen=True, eq=False)
class Part:
    """Some items of a plan's block that an engine runs as one."""

    items: tuple[Item, ...]
    inputs: tuple[Tensor, ...]
    """What it takes; of a variable, the handle or the reference, and with it the resource."""
    outputs: tuple[Tensor, ...]
    run: Own
    """Gives the values of the outputs for those of the inputs."""
    copied: tuple[Item, ...] = ()
    """Items besides, whose values are known beforehand, and which it computes for itself."""

    @property
    def ops(self) -> list[Operation]:
        return [op for item in self.items for op in operations_in(item)]


@dataclass(frozen=True)
class Kept:
    """An operation that our kernels run, and why."""

    op: Operation
    reason: str


@dataclass(frozen=True)
class Split:
    """Who runs what of a plan."""

    parts: tuple[Part, ...] = ()
    kept: tuple[Kept, ...] = ()
    graph: ItemGraph | None = None
    """Which items wait for which, where that is not as the question has it."""


@dataclass(frozen=True, eq=False)
class PlanToSplit:
    """A plan that an engine may run parts of."""

    plan: Plan
    block: Block
    """Its operations in their order, those of branches and loops in blocks of their own."""
    wanted: frozenset[Tensor]
    """What is wanted when all has run."""
    resources: Mapping[Tensor, object]
    """Of tensors that lead to resources, what they lead to, as far as that is known."""
    counts_steps: bool
    """Whether the rounds of loops have to be counted, so that our kernels have to run them."""
    own: Callable[[Plan, Sequence[Item]], Own]
    """Makes a function of our kernels of a plan, whose operations are in these items, to be called if the engine cannot
    run a part after all.
    """
    anew: Callable[[Plan, Sequence[Item], Mapping[Tensor, object]], Own]
    """The same, but the engine is asked once more; given what some feeds lead to."""
    kernels: Kernels
    """Contexts of operations, and the resources that they give."""

    @cached_property
    def graph(self) -> ItemGraph:
        return ItemGraph(self)


class Engine(Protocol):
    """Runs parts of plans."""

    def split(self, question: PlanToSplit) -> Split:
        """Which parts of a plan it runs."""
        ...


# --------------------------------------------------------------------------------------------- items of a block


def operations_in(item: Item) -> Iterator[Operation]:
    """The operations of an item, with those of its branches and rounds; a merge once for each of its arms."""
    if isinstance(item, Step):
        yield item.op
    elif isinstance(item, Arm):
        yield item.merge
    elif isinstance(item, Choice):
        yield from _in_blocks(item.then, item.otherwise)
    elif isinstance(item, Loop):
        for variable in item.variables:
            yield variable.merge
        yield from _in_blocks(item.header, item.body, item.after)
    else:
        for inner in item.part.items:
            yield from operations_in(inner)


def _in_blocks(*blocks: Block) -> Iterator[Operation]:
    for block in blocks:
        for item in block.items:
            yield from operations_in(item)


def taken_by(item: Item, fed: frozenset[Tensor]) -> set[Tensor]:
    """The tensors that an item takes from others, or is fed."""
    ops = list(dict.fromkeys(operations_in(item)))
    own = {tensor for op in ops for tensor in op.outputs if tensor not in fed}
    found = {tensor for op in ops for tensor in op.inputs}
    if isinstance(item, Choice):
        found.add(item.predicate)
    return found - own


class ItemGraph:
    """Which items of a plan's block have to run before which, and which of them do more than compute."""

    def __init__(self, question: PlanToSplit, reasons: Sequence[str] | None = None) -> None:
        """`reasons` are why the engine does not run each item, empty of those it runs, if it changes variables itself;
        else what it may run is decided here.
        """
        self._question = question
        self._fed = frozenset(question.plan.feeds)
        self.items = tuple(question.block.items)
        self.makers: dict[Tensor, list[int]] = {}
        """The items that make a tensor: one, or each of those that has an arm of its merge."""
        makers_of_ops: dict[Operation, list[int]] = {}
        for number, item in enumerate(self.items):
            for op in dict.fromkeys(operations_in(item)):
                makers_of_ops.setdefault(op, []).append(number)
                for tensor in op.outputs:
                    if tensor not in self._fed:
                        self.makers.setdefault(tensor, []).append(number)
        self.takes = [taken_by(item, self._fed) for item in self.items]
        self.takers: dict[Tensor, list[int]] = {}
        """The items that take a tensor."""
        for number, takes in enumerate(self.takes):
            for tensor in takes:
                self.takers.setdefault(tensor, []).append(number)
        self.sources: list[set[int]] = []
        for number, item in enumerate(self.items):
            found = {maker for tensor in self.takes[number] for maker in self.makers.get(tensor, ())}
            for op in operations_in(item):
                for before in op.control_inputs:
                    found.update(makers_of_ops.get(before, ()))
            self.sources.append({source for source in found if source < number})
        self._effects: dict[Operation, str] = {}
        self._changed = self._changed_resources()
        self._may_change_all = any(node.op in _VARIABLES for op in question.plan.ops for node in _nodes_called(op))
        """Whether a function gets hold of variables by their names: which ones is not looked at."""
        self._changed_objects = {id(question.resources[root]) for root in self._changed if root in question.resources}
        if reasons is not None:
            self._keep_order_of_access()
        self.reasons = list(reasons) if reasons is not None else [self._reason(item) for item in self.items]
        """Why an item must be run by our kernels, each in its turn; empty if it need not."""
        last = None
        for number, reason in enumerate(self.reasons):
            if reason:
                if last is not None:
                    self.sources[number].add(last)
                last = number

    def sources_without(self, gone: Collection[int]) -> list[set[int]]:
        """The items that have to run before each, if some are not there: it waits for what these waited for."""
        found: list[set[int]] = []
        for before in self.sources:
            kept = {source for source in before if source not in gone}
            found.append(kept.union(*(found[source] for source in before if source in gone)))
        return found

    def _keep_order_of_access(self) -> None:
        """Has whatever changes a variable wait for what comes before it and uses the same, and the other way round."""
        changed_by: dict[object, int] = {}
        read_by: dict[object, list[int]] = {}
        for number, item in enumerate(self.items):
            reads, changes = self._accesses(item)
            for variable in reads | changes:
                if variable in changed_by:
                    self.sources[number].add(changed_by[variable])
            for variable in changes:
                self.sources[number].update(read_by.pop(variable, ()))
                changed_by[variable] = number
            for variable in reads - changes:
                read_by.setdefault(variable, []).append(number)

    def _accesses(self, item: Item) -> tuple[set[object], set[object]]:
        """What an item reads, and what it may change: variables, or the tensors that lead to them."""
        reads: set[object] = set()
        changes: set[object] = set()
        for op in operations_in(item):
            if any(node.op in _VARIABLES for node in _nodes_called(op)):  # by their names: it may be any of them
                changes.add(_ANY)
            for at, tensor in enumerate(op.inputs):
                if is_resource(tensor):
                    root = root_of(tensor)
                    found = self._question.resources.get(root)
                    key = root if found is None else id(found)
                    (changes if self._may_change(op, at) else reads).add(key)
                    reads.add(_ANY)
        return reads, changes

    def _reason(self, item: Item) -> str:
        for op in operations_in(item):
            if any(tensor in self._fed for tensor in op.outputs) and op.type not in CONTROL_FLOW:
                return "its value is fed"
            if reason := self._effect(op):
                return reason
            if self._question.counts_steps and repeats(op):
                return "its rounds are counted, for a limit"
            for tensor in op.inputs:
                if is_resource(tensor) and self._is_changed(tensor):
                    return "the plan changes the variable"
        return ""

    def _effect(self, op: Operation) -> str:
        found = self._effects.get(op)
        if found is None:
            found = self._effects[op] = _effect(op)
        return found

    def _changed_resources(self) -> set[Tensor]:
        """The tensors by which a plan gets hold of resources that it may change."""
        return {
            root_of(tensor)
            for op in self._question.plan.ops
            for at, tensor in enumerate(op.inputs)
            if is_resource(tensor) and self._may_change(op, at)
        }

    def _is_changed(self, tensor: Tensor) -> bool:
        """Whether a plan may change what a tensor leads to, be it by another handle of the same."""
        root = root_of(tensor)
        held = self._question.resources.get(root)
        return self._may_change_all or root in self._changed or id(held) in self._changed_objects

    def _may_change(self, op: Operation, at: int) -> bool:
        if op.type in READS or op.type in _PASS_ON or op.type in CONTROL_FLOW or op.type.startswith(_LOCAL):
            return False
        if op.inputs[at].dtype.is_ref:
            args = op.spec.schema.inputs
            return op.spec.has_list_inputs or at >= len(args) or args[at].is_ref
        return bool(self._effect(op))


def is_resource(tensor: Tensor) -> bool:
    """Whether a tensor leads to something that outlives a run."""
    return tensor.dtype is RESOURCE or tensor.dtype.is_ref


def root_of(tensor: Tensor) -> Tensor:
    """The tensor that a handle or reference comes from, through all that passes it on."""
    while tensor.op.type in _PASS_ON and tensor.op.inputs and is_resource(tensor.op.inputs[0]):
        tensor = tensor.op.inputs[0]
    return tensor


def _effect(op: Operation) -> str:
    """What an operation does besides computing values and reading variables; empty if nothing."""
    if op.type in PLACEHOLDERS:
        return "its value is fed"
    if capabilities_of(op):
        return "it does more than compute"
    functions = op.graph.functions
    if op.type in functions or op.type in _CALLS:
        return _effect_of_functions([op.type] if op.type in functions else _functions_of(op), functions)
    return _effect_of_op(op.type)


def repeats(op: Operation) -> bool:
    """Whether an operation is, or calls, a loop."""
    if op.type in _LOOPS or op.type == "LoopCond":
        return True
    return any(node.op in _LOOPS or node.op in LOOP_BACK for node in _nodes_called(op))


def _nodes_called(op: Operation) -> Iterator[NodeDef]:
    """The nodes of the functions that an operation calls, and of those that these call."""
    pending, library = [*_functions_of(op), op.type], op.graph.functions
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name in library and name not in seen:
            seen.add(name)
            yield from library[name].node_def
            pending.extend(called for node in library[name].node_def for called in called_functions(node, library))


def _functions_of(op: Operation) -> list[str]:
    return [name for value in op.attrs.values() for name in referred_functions(value)]


def referred_functions(value: object) -> Iterator[str]:
    """The functions that an attribute names."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from referred_functions(item)
    elif (name := getattr(value, "name", None)) is not None and hasattr(value, "attrs"):
        yield str(name)


def types_in(op: Operation) -> Counter[str]:
    """The types of the operations that an operation stands for: itself, or those of the functions that it calls."""
    functions = op.graph.functions
    called = [name for name in (op.type, *_functions_of(op)) if name in functions]
    if not called or WrittenOut().of(op) > _MOST_COUNTED:
        return Counter((op.type,))
    found: Counter[str] = Counter()
    while called:
        for node in functions[called.pop()].node_def:
            inner = list(called_functions(node, functions))
            called.extend(inner)
            if not inner:
                found[node.op] += 1
    return found


class WrittenOut:
    """How many nodes calls have when the functions are written in their places."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def of(self, op: Operation) -> int:
        """The number of nodes of a call; 1 of any other operation."""
        functions = op.graph.functions
        called = [name for name in (op.type, *_functions_of(op)) if name in functions]
        return 1 + sum(self._of_function(name, functions, 0) for name in called)

    def _of_function(self, name: str, library: Mapping[str, FunctionDef], depth: int) -> int:
        known = self._sizes.get(name)
        if known is None:
            self._sizes[name] = _ENDLESS  # while it is looked at: what calls itself has no end
            if depth > _DEEPEST:
                return _ENDLESS
            known = len(library[name].node_def)
            for node in library[name].node_def:
                known += sum(self._of_function(other, library, depth + 1) for other in called_functions(node, library))
            self._sizes[name] = known
        return known


def _effect_of_functions(names: Sequence[str], library: Mapping[str, FunctionDef]) -> str:
    pending, seen = list(names), set(names)
    while pending:
        name = pending.pop()
        if name not in library:
            return f"there is no function {name}"
        for node in library[name].node_def:
            if capabilities_of_node(node):
                return f'"{node.name}" ({node.op}) in function {name} does more than compute'
            called = list(called_functions(node, library))
            if not called and node.op not in _CALLS and (found := _effect_of_op(node.op)):
                return found
            pending.extend(other for other in called if other not in seen)
            seen.update(called)
    return ""


def _effect_of_op(name: str) -> str:
    if name in _CHECKS:
        return f"{name} checks values"
    spec = find_op(name)
    if spec is None or spec.is_opaque:
        return f"{name} is not known"
    if name in READS or name.startswith(_LOCAL) or name in CONTROL_FLOW:
        return ""
    return f"{name} keeps something from run to run" if spec.schema.is_stateful else ""


# ---------------------------------------------------------------------------------------------------- arrangement


def with_parts(question: PlanToSplit, split: Split) -> Block:
    """A plan's block in which each part is one item, in the place of the items that it runs; it runs as soon as all
    that it takes is there.

    Items that only parts had a use for are gone.
    """
    parts, graph = split.parts, question.graph if split.graph is None else split.graph
    numbers = {id(item): number for number, item in enumerate(graph.items)}
    part_of = {numbers[id(item)]: at for at, part in enumerate(parts) for item in part.items}
    groups: list[Item] = [PartCall(part) for part in parts]
    needs: list[set[int]] = [set() for _ in parts]
    firsts: list[int] = [max(numbers[id(item)] for item in part.items) for part in parts]
    group_of = dict(part_of)
    for number in _kept_items(question, graph, parts, part_of):
        group_of[number] = len(groups)
        groups.append(graph.items[number])
        firsts.append(number)
        needs.append(set())
    for at, part in enumerate(parts):
        needs[at].update(
            group_of[maker] for tensor in part.inputs for maker in graph.makers.get(tensor, ()) if maker in group_of
        )
    own = graph.sources_without({numbers[id(item)] for part in parts for item in part.copied})
    for number, at in group_of.items():
        sources = own[number] if number in part_of else graph.sources[number]
        needs[at].update(group_of[source] for source in sources if source in group_of)
    order = _sort_parts([found - {at} for at, found in enumerate(needs)], firsts)
    return block_of([groups[at] for at in order])


def block_of(items: Sequence[Item]) -> Block:
    """A block of some items, in their order; the blocks in them are in it from now on."""
    arranged = Block(items=list(items))
    for position, item in enumerate(arranged.items):
        for block in _blocks_of(item):
            block.parent, block.position = arranged, position
    return arranged


def _kept_items(
    question: PlanToSplit, graph: ItemGraph, parts: Sequence[Part], part_of: Mapping[int, int]
) -> list[int]:
    """The numbers of the items that stay outside of parts. An item that only computes values for parts is not among
    them: the parts compute these values themselves.
    """
    wanted = set(question.wanted).union(*(part.inputs for part in parts))
    by_parts = set().union(*(graph.takes[number] for number in part_of))
    kept: list[int] = []
    for number in reversed(range(len(graph.items))):
        if number in part_of:
            continue
        made = {tensor for op in operations_in(graph.items[number]) for tensor in op.outputs}
        if graph.reasons[number] or made & wanted or not made & by_parts:
            kept.append(number)
            wanted |= graph.takes[number]
        else:
            by_parts |= graph.takes[number]
    return kept[::-1]


def _blocks_of(item: Item) -> tuple[Block, ...]:
    if isinstance(item, Choice):
        return item.then, item.otherwise
    return (item.header, item.body, item.after) if isinstance(item, Loop) else ()


def _sort_parts(needs: Sequence[set[int]], ranks: Sequence[int]) -> list[int]:
    """An order in which each comes after what it needs; among those that could be next, by rank."""
    waiting = [len(found) for found in needs]
    followers: list[list[int]] = [[] for _ in needs]
    for at, found in enumerate(needs):
        for source in found:
            followers[source].append(at)
    ready = [(ranks[at], at) for at, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, at = heappop(ready)
        order.append(at)
        for follower in followers[at]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready, (ranks[follower], follower))
    assert len(order) == len(needs), "parts of an engine wait for each other"
    return order
