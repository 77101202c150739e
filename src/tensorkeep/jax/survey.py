"""What a plan does, found before it is traced: variables it uses and changes, random numbers, and what JAX cannot do.

Handles are followed through functions, branches and loops, so that each operation is known to change the variables that
it changes. A value counts as known if it depends on shapes and constants alone; what needs a known value and is given
another stays on the host, as do strings, tables, files, and ops without a lowering.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import tensorkeep.jax.lowerings.every  # noqa: F401 - makes the lowerings known
from tensorkeep.dtypes import RESOURCE, STRING
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import group
from tensorkeep.jax.bodies import CALLS, VARIABLES, Bodies
from tensorkeep.jax.lowerings.passing import CHECKS
from tensorkeep.jax.registry import Lowering
from tensorkeep.jax.tracing import ResourceOf
from tensorkeep.jax.values import CannotTraceError, is_known
from tensorkeep.runtime.plans.liveness import ALWAYS, Liveness, UnstructuredError, assign_frames
from tensorkeep.runtime.plans.plan import Plan, make_plan
from tensorkeep.runtime.resources import VariableResource

RANDOM: Final = frozenset(
    ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "RandomShuffle", "Multinomial")
)
"""Ops that draw numbers from a key that the function is given."""

_BRANCHES: Final = {"If": 1, "StatelessIf": 1, "Case": 1, "StatelessCase": 1}
_LOOPS: Final = {"While": 0, "StatelessWhile": 0, "For": 3}
_PASSING: Final = frozenset((
    "Identity", "RefIdentity", "Switch", "RefSwitch", "Enter", "RefEnter", "Exit", "RefExit", "Merge", "RefMerge",
    "NextIteration", "RefNextIteration", "IdentityN", "LoopCond",
))  # fmt: skip
_READS: Final = frozenset(
    ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp",
     "IsVariableInitialized")
)  # fmt: skip
_DEEPEST: Final = 100


@dataclass(frozen=True)
class Refused:
    """An operation that JAX cannot compute, and why."""

    node: str
    op: str
    reason: str

    def __str__(self) -> str:
        return f'"{self.node}" ({self.op}): {self.reason}'


@dataclass
class Survey:
    """What a plan does."""

    variables: dict[VariableResource, None] = field(default_factory=dict)
    """Those that are used, in the order in which they are met."""
    changed: dict[VariableResource, None] = field(default_factory=dict)
    """Those of them that may have another value afterwards."""
    random: dict[Operation, bool] = field(default_factory=dict)
    """Operations that draw random numbers, and whether they do so in a branch or loop."""
    unchecked: list[str] = field(default_factory=list)
    """Operations that check or print values, which the function does not do."""
    refused: dict[Operation, Refused] = field(default_factory=dict)
    """Operations of the plan itself that stay on the host."""
    inside: list[Refused] = field(default_factory=list)
    """Operations inside branches and loops that cannot stay there."""


class _Surveyor:
    """Goes through a plan and the functions that it calls."""

    def __init__(self, bodies: Bodies, resource_of: ResourceOf, on_host: Collection[str | Operation] = ()) -> None:
        self.found = Survey()
        self._bodies = bodies
        self._resource_of = resource_of
        self._on_host = on_host
        self._depth = 0

    def walk(self, plan: Plan, held: dict[Tensor, object], known: set[Tensor], scope: str, in_flow: bool) -> None:
        """Goes through the operations of a plan; adds to what tensors lead to, and to what is known."""
        self.look_at(plan.ops, held, known, scope, _inside_flow(plan), in_flow)

    def look_at(
        self, ops: Iterable[Operation], held: dict[Tensor, object], known: set[Tensor], scope: str = "",
        inside: Collection[Operation] = (), in_flow: bool = False,
    ) -> None:  # fmt: skip
        """Goes through operations, of which some are `inside` branches or loops of TensorFlow 1; all are, `in_flow`."""
        for op in ops:
            if op.type in self._on_host or op in self._on_host:
                self._refuse(op, f"{op.type} is left to the host", scope, in_flow or op in inside)
            elif op.type == "Const":
                known.add(op.outputs[0])
            elif op.type in VARIABLES or (not op.inputs and any(tensor.dtype is RESOURCE for tensor in op.outputs)):
                held.update((tensor, self._resource_of(op)) for tensor in op.outputs)
            elif op.type in _PASSING and not _passes_strings(op, known):
                self._pass(op, held, known)
            elif op.type in CALLS or op.type in op.graph.functions or op.type in _BRANCHES or op.type in _LOOPS:
                self._call(op, held, known, scope, in_flow)
            else:
                self._look(op, held, known, scope, in_flow or op in inside)

    def _pass(self, op: Operation, held: dict[Tensor, object], known: set[Tensor]) -> None:
        first = op.inputs[0]
        for at, tensor in enumerate(op.outputs):
            source = op.inputs[at] if op.type == "IdentityN" else first
            if source in held:
                item = held[tensor] = held[source]
                if op.type == "Identity" and isinstance(item, VariableResource):  # a read of a reference
                    self.found.variables[item] = None
            if source in known:
                known.add(tensor)

    def _look(
        self, op: Operation, held: Mapping[Tensor, object], known: set[Tensor], scope: str, in_flow: bool
    ) -> None:
        name = f"{scope}{op.name}"
        variables = [item for tensor in op.inputs if isinstance(item := held.get(tensor), VariableResource)]
        self.found.variables.update(dict.fromkeys(variables))
        facts = self._bodies.facts(op)
        if facts.is_pure and all(tensor in known for tensor in op.inputs):
            known.update(op.outputs)
            return
        if facts.lowering is not None and facts.lowering.of_shapes:
            known.update(op.outputs)
        reason = self._reason(op, facts.lowering, held, known)
        if reason:
            self._refuse(op, reason, scope, in_flow)
            return
        if op.type in RANDOM:
            self.found.random[op] = in_flow or self.found.random.get(op, False)
        if op.type in CHECKS:
            self.found.unchecked.append(name)
        if op.type not in _READS and facts.lowering is not None and facts.lowering.takes_tracing:
            self.found.changed.update(dict.fromkeys(_changed_variables(op, held)))

    def _refuse(self, op: Operation, reason: str, scope: str, in_flow: bool) -> None:
        refused = Refused(f"{scope}{op.name}", op.type, reason)
        if in_flow:
            self.found.inside.append(refused)
        else:
            self.found.refused[op] = refused

    def _reason(
        self, op: Operation, lowering: Lowering | None, held: Mapping[Tensor, object], known: set[Tensor]
    ) -> str:
        """Why JAX cannot compute an operation; empty if it can."""
        if op.type in CHECKS or op.type in ("NoOp", "ControlTrigger"):
            return ""
        tensors = [*(tensor for tensor in op.inputs if tensor not in known), *op.outputs]
        if any(tensor.dtype.base_dtype is STRING for tensor in tensors):
            return "strings stay on the host"
        if lowering is None:
            return f"{op.type} has no lowering to JAX"
        others = [held[tensor] for tensor in op.inputs if tensor in held]
        if any(item is not None and not isinstance(item, VariableResource) for item in others):
            return f"a {type(next(item for item in others if item is not None)).__name__} stays on the host"
        for word, tensors in _needed(op, lowering).items():
            if not all(tensor in known for tensor in tensors):
                return f'its input "{word}" decides the shape of its result, and depends on values'
        return ""

    # ------------------------------------------------------------------------------------------------- functions

    def _call(self, op: Operation, held: dict[Tensor, object], known: set[Tensor], scope: str, in_flow: bool) -> None:
        """Goes through the functions that an operation calls."""
        is_flow = op.type in _BRANCHES or op.type in _LOOPS
        skipped = _BRANCHES.get(op.type, _LOOPS.get(op.type, 1 if op.type == "RemoteCall" else 0))
        given = op.inputs[skipped:]
        references = [FunctionRef(op.type, dict(op.attrs))] if op.type in op.graph.functions else _references(op)
        if self._depth >= _DEEPEST:
            self.found.inside.append(Refused(f"{scope}{op.name}", op.type, "functions call each other without end"))
            return
        self._depth += 1
        results = []
        inside, variables = self.found.inside, self.found.variables
        if is_flow and not in_flow:  # what stays on the host may do so as a whole, unless it has parameters
            self.found.inside, self.found.variables = [], {}
        try:
            for reference in references:
                body = self._bodies.body(op, reference)
                arguments = body.inputs[len(body.inputs) - len(given) :] if op.type == "For" else body.inputs
                own = {mine: held[tensor] for mine, tensor in zip(arguments, given, strict=False) if tensor in held}
                sure = {mine for mine, tensor in zip(arguments, given, strict=False) if tensor in known}
                plan = make_plan(body.outputs, body.controls, body.inputs)
                self.walk(plan, own, sure, f"{scope}{op.name}/", in_flow or is_flow)
                results.append((body.outputs, own, sure))
        finally:
            self._depth -= 1
            if is_flow and not in_flow:
                self._take(op, inside, variables, scope)
        if op.type in ("While", "StatelessWhile"):
            results = results[1:] or results  # the condition comes first, and gives no values
            held.update(
                (after, held[before]) for before, after in zip(given, op.outputs, strict=True) if before in held
            )
        for at, tensor in enumerate(op.outputs):
            outputs = [(body[at], own, sure) for body, own, sure in results if at < len(body)]
            if outputs and all(output in sure for output, _, sure in outputs) and not _is_varied(op, at, known):
                known.add(tensor)
            if outputs and outputs[0][0] in outputs[0][1]:
                held.setdefault(tensor, outputs[0][1][outputs[0][0]])

    def _take(self, op: Operation, inside: list[Refused], variables: dict[VariableResource, None], scope: str) -> None:
        """Adds what was found inside a branch or loop to what was found before it."""
        found = self.found
        if found.inside and not found.variables:
            first = found.inside[0]
            found.refused[op] = Refused(f"{scope}{op.name}", op.type, f"it runs {first}")
        else:
            inside.extend(found.inside)
        found.inside, found.variables = inside, {**variables, **found.variables}


def _inside_flow(plan: Plan) -> set[Operation]:
    """The operations of a plan that are inside branches and loops of TensorFlow 1."""
    if not plan.has_control_flow:
        return set()
    try:
        frames = assign_frames(plan)
        liveness = Liveness(plan, frames)
    except UnstructuredError as error:
        raise CannotTraceError(f"the branches and loops of the graph cannot be told apart: {error}") from error
    return {op for op in plan.ops if frames.of[op] is not frames.root or liveness.of.get(op, ALWAYS) != ALWAYS}


def _changed_variables(op: Operation, held: Mapping[Tensor, object]) -> list[VariableResource]:
    """The variables that an operation is given to change them: those whose values it does not merely read."""
    found = []
    for tensor in op.inputs:
        item = held.get(tensor)
        if isinstance(item, VariableResource) and (tensor.dtype is RESOURCE or not _reads(op, tensor)):
            found.append(item)
    return found


def _passes_strings(op: Operation, known: set[Tensor]) -> bool:
    return any(tensor.dtype.base_dtype is STRING and tensor not in known for tensor in op.inputs)


def _is_varied(op: Operation, at: int, known: set[Tensor]) -> bool:
    """Whether the output `at` of a branch or loop is one of several known values, and which one is not known."""
    if op.type in _BRANCHES:
        return op.inputs[0] not in known
    return op.type in _LOOPS and op.inputs[_LOOPS[op.type] + at] not in known


def _references(op: Operation) -> list[FunctionRef]:
    found: list[FunctionRef] = []
    names = ("cond", "body", "f", "then_branch", "else_branch", "branches")
    for name in names:
        if name in op.spec.schema.attr_by_name:
            value = op.attr(name)
            found += [item for item in (value if isinstance(value, list | tuple) else [value])
                      if isinstance(item, FunctionRef)]  # fmt: skip
    return found


def _reads(op: Operation, tensor: Tensor) -> bool:
    """Whether an operation takes the value of the variable that a reference leads to, not the reference."""
    schema = op.spec.schema
    for arg, item in zip(schema.inputs, group(schema.inputs, op.inputs, op.attr), strict=True):
        if not arg.is_list and item is tensor:
            return not arg.is_ref
    return True


def _needed(op: Operation, lowering: Lowering) -> dict[str, list[Tensor]]:
    """The inputs of an operation that must be known, by the names that its lowering has for them."""
    if not lowering.known:
        return {}
    code = lowering.function.__code__
    names = code.co_varnames[lowering.takes_tracing : code.co_argcount]
    grouped = group(op.spec.schema.inputs, op.inputs, op.attr)
    return {
        name: list(item) if isinstance(item, list) else [item]
        for name, item in zip(names, grouped, strict=False)
        if name in lowering.known
    }


def survey(plan: Plan, given: Mapping[Tensor, object], bodies: Bodies, resource_of: ResourceOf) -> Survey:
    """What a plan does. `given` has what tensors lead to that are given with them: captured variables, tables."""
    surveyor = _Surveyor(bodies, resource_of)
    arrays = {tensor for tensor, item in given.items() if is_known(item)}
    held = {tensor: item for tensor, item in given.items() if tensor not in arrays}
    surveyor.walk(plan, held, arrays, "", in_flow=False)
    return surveyor.found


@dataclass
class ItemSurvey:
    """What items of a plan do that may each run on the device or on the host."""

    reasons: list[str]
    """Why an item has to stay on the host; empty if it need not."""
    found: Survey
    known: set[Tensor]
    """Values that depend on shapes and constants alone."""
    wanting: list[Tensor]
    """Values that decide the shape of something that stays on the host since they are not known."""


def survey_items(
    items: Sequence[tuple[Sequence[Operation], bool]], given: Mapping[Tensor, object], known: Collection[Tensor],
    bodies: Bodies, resource_of: ResourceOf, on_host: Collection[str | Operation],
) -> ItemSurvey:  # fmt: skip
    """What each of some items does: its operations, and whether they are a branch or loop.

    `given` are what tensors lead to, `known` those whose values will be known, `on_host` ops and operations that are
    not to run on the device.
    """
    surveyor = _Surveyor(bodies, resource_of, on_host)
    held, sure = dict(given), set(known)
    outcome = ItemSurvey([], surveyor.found, sure, [])
    for ops, is_flow in items:
        before = len(surveyor.found.refused), len(surveyor.found.inside)
        surveyor.look_at(ops, held, sure, in_flow=is_flow)
        refused = list(surveyor.found.refused.values())[before[0] :] + surveyor.found.inside[before[1] :]
        outcome.reasons.append(_reason_of_item(ops, refused))
        if is_flow:  # which side is taken, and how many rounds there are, is not looked at
            sure.difference_update(tensor for op in ops for tensor in op.outputs)
        elif refused and (facts := bodies.facts(ops[0])).lowering is not None:
            wanted = _needed(ops[0], facts.lowering).values()
            outcome.wanting += [tensor for tensors in wanted for tensor in tensors if tensor not in sure]
    return outcome


def _reason_of_item(ops: Sequence[Operation], refused: Sequence[Refused]) -> str:
    if not refused:
        return ""
    first = refused[0]
    return first.reason if len(ops) == 1 and first.node == ops[0].name else f"it runs {first}"
