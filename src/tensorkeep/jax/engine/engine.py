"""The engine itself: asked for the parts of a plan, it finds what JAX can run.

All that has a lowering runs on the device, with the variables that it reads and changes. Everything else stays on the
host: strings, tables, files, embedding variables, ops without a lowering, and what would be computed once from nothing,
as initial values are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Final

import jax

from tensorkeep.devices.jax_arrays import JaxFramework
from tensorkeep.dtypes import RESOURCE, STRING, VARIANT
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import capabilities_of
from tensorkeep.jax.bodies import VARIABLES
from tensorkeep.jax.engine.options import JaxDevice
from tensorkeep.jax.engine.parts import Device, JaxPart, PartEnds
from tensorkeep.jax.survey import ItemSurvey, survey_items
from tensorkeep.runtime.context import LOG
from tensorkeep.runtime.partitions.engine_groups import Candidates, Ends, ends_of, made_in_every_run
from tensorkeep.runtime.partitions.engines import (
    ItemGraph,
    Kept,
    Part,
    PlanToSplit,
    Split,
    is_resource,
    operations_in,
    repeats,
    root_of,
)
from tensorkeep.runtime.plans.blocks import Item, Step
from tensorkeep.runtime.plans.plan import CONTROL_FLOW
from tensorkeep.runtime.resources import VariableResource

ON_HOST: Final = frozenset(
    ("RandomShuffle", "Multinomial", "Print", "PrintV2", "Abort", "IsVariableInitialized", "VarIsInitializedOp")
)
"""Ops that have a lowering and stay on the host: they print, or their numbers would not be TensorFlow's."""

_LIGHT: Final = frozenset((
    "Assign", "AssignVariableOp", "Const", "ControlTrigger", "Identity", "IdentityN", "NoOp", "ReadVariableOp",
    "RefIdentity", "Shape", "StopGradient", "VarHandleOp", "Variable", "VariableShape", "VariableV2", "Reshape",
))  # fmt: skip
"""Ops for which alone nothing is compiled."""
_SETS: Final = frozenset(("Assign", "AssignVariableOp"))
_PRECISIONS: Final = {
    "default": jax.lax.Precision.DEFAULT,
    "high": jax.lax.Precision.HIGH,
    "highest": jax.lax.Precision.HIGHEST,
}
_LISTED: Final = 12
_SHAPE_FEED: Final = 16  # elements of whole numbers that may decide a shape; for their values calls are compiled
_FLOWS: Final = frozenset(("flow", "flow_out"))
_FLOW: Final = "flow_in"


class JaxEngine:
    """Runs what JAX can compute on a device, variables and their changes included."""

    def __init__(self, options: JaxDevice = JaxDevice()) -> None:
        place = JaxFramework().place(options.device)
        if not isinstance(place, jax.Device):
            raise InvalidArgumentError(f"an engine runs on one device, got {place!r}")
        if options.precision not in _PRECISIONS:
            raise InvalidArgumentError(f"precision: one of {', '.join(_PRECISIONS)}, got {options.precision!r}")
        self._device = Device(place, _PRECISIONS[options.precision])
        self._told: set[str] = set()

    def split(self, question: PlanToSplit) -> Split:
        """The largest parts that JAX can run."""
        items = question.block.items
        surveyed = self._surveyed(question)
        reasons = [self._reason(question, item) or reason for item, reason in zip(items, surveyed.reasons, strict=True)]
        graph = ItemGraph(question, reasons)
        free = _free_tensors(question, reasons, self._device)
        candidates = Candidates(
            graph,
            question.wanted,
            [_is_free(item, free) for item in items],
            free,
            [_weight(item) for item in items],
            _Border(question),
        )
        groups = [(members, ends) for members in candidates.groups(reasons, 1.0)
                  if _is_fed(ends := ends_of(candidates, members, question.resources))]  # fmt: skip
        inside = {number for members, _ in groups for number in members}
        for number in range(len(items)):
            if number not in inside and not candidates.is_free[number] and not reasons[number]:
                reasons[number] = "it is too little to do, or is done once"
        graph.reasons[:] = reasons
        parts = [self._part(question, graph, members, ends, surveyed, inside) for members, ends in groups]
        kept = [
            Kept(op, reasons[number])
            for number, item in enumerate(items)
            if number not in inside and not candidates.is_free[number]
            for op in dict.fromkeys(operations_in(item))
        ]
        self._tell(items, surveyed)
        return Split(tuple(parts), tuple(kept), graph)

    def _surveyed(self, question: PlanToSplit) -> ItemSurvey:
        """What each item does, and why it may have to stay on the host. Feeds that decide shapes count as known, if
        they are a few integers each.
        """
        items = [
            (tuple(dict.fromkeys(operations_in(item))), not isinstance(item, Step)) for item in question.block.items
        ]
        on_host: frozenset[str | Operation] = ON_HOST | self._device.refused
        known: set[Tensor] = set()
        while True:
            found = survey_items(
                items, question.resources, known, self._device.bodies, question.kernels.shared_resource, on_host
            )
            more = {feed for tensor in found.wanting for feed in _feeds_behind(tensor, question, found.known)}
            if more <= known:
                return found
            known |= more

    def _reason(self, question: PlanToSplit, item: Item) -> str:
        """Why an item stays on the host whatever its lowering says."""
        fed = frozenset(question.plan.feeds)
        for op in operations_in(item):
            if any(tensor in fed for tensor in op.outputs) and op.type not in CONTROL_FLOW:
                return "its value is fed"
            if question.counts_steps and repeats(op):
                return "its rounds are counted, for a limit"
            makes_handle = any(tensor.dtype is RESOURCE or tensor.dtype.is_ref for tensor in op.outputs)
            if makes_handle and not op.inputs and isinstance(item, Step):
                held = question.resources.get(op.outputs[0])
                if not isinstance(held, VariableResource) and not op.type.startswith("TensorArray"):
                    return "its handle is made on the host"
        return ""

    def _part(
        self, question: PlanToSplit, graph: ItemGraph, members: Sequence[int], ends: Ends, surveyed: ItemSurvey,
        inside: Collection[int],
    ) -> Part:  # fmt: skip
        inputs = (*ends.arrays, *ends.variables)
        arrays = tuple(tensor for tensor in inputs if not is_resource(tensor))
        handles = tuple(tensor for tensor in inputs if is_resource(tensor))
        staying = frozenset(
            tensor
            for tensor in ends.outputs
            if tensor not in question.wanted and all(taker in inside for taker in graph.takers.get(tensor, ()))
        )
        known = frozenset(tensor for tensor in arrays if tensor in surveyed.known)
        run = JaxPart(self._device, PartEnds(ends.items, arrays, handles, ends.outputs, known, staying), question)
        items = tuple(graph.items[number] for number in members)
        copied = tuple(item for item in ends.items if item not in items)
        return Part(items, (*arrays, *handles), ends.outputs, run, copied)

    def _tell(self, items: Sequence[Item], surveyed: ItemSurvey) -> None:
        """Says once of each operation that it stays on the host, unless it could be nowhere else."""
        named = {
            f'"{op.name}" ({op.type}): {reason}'
            for item, reason in zip(items, surveyed.reasons, strict=True)
            if reason
            for op in [next(operations_in(item))]
            if _could_be_elsewhere(op)
        }
        new = sorted(named - self._told)
        if new:
            self._told.update(new)
            shown = "; ".join(new[:_LISTED]) + (f" and {len(new) - _LISTED} more" if len(new) > _LISTED else "")
            LOG.warning('engine "jax": operations that run on the host: %s', shown)


class _Border:
    """Whether values can be handed over between the device and our kernels: arrays, and handles of variables."""

    def __init__(self, question: PlanToSplit) -> None:
        self._always_there = made_in_every_run(question.block.items)
        self._flows: set[Tensor] = set()
        for op in question.plan.ops:
            if op.type.startswith("TensorArray"):  # what is in the array travels with its flow
                names = [arg.name for arg in op.spec.schema.outputs]
                self._flows.update(tensor for tensor, name in zip(op.outputs, names, strict=True) if name in _FLOWS)
                if len(op.inputs) == len(op.spec.schema.inputs) and op.spec.schema.inputs[-1].name == _FLOW:
                    self._flows.add(op.inputs[-1])

    def __call__(self, tensor: Tensor) -> bool:
        dtype = tensor.dtype
        if (
            tensor not in self._always_there
            or tensor in self._flows
            or dtype is VARIANT
            or dtype.base_dtype is STRING
            or dtype.quantized
        ):
            return False
        return not (dtype is RESOURCE and root_of(tensor).op.type.startswith(("TensorArray", "Stack")))


def _weight(item: Item) -> float:
    return float(not isinstance(item, Step) or item.op.type not in _LIGHT)


def _is_free(item: Item, free: Collection[Tensor]) -> bool:
    return isinstance(item, Step) and bool(item.op.outputs) and all(tensor in free for tensor in item.op.outputs)


def _free_tensors(question: PlanToSplit, reasons: Sequence[str], device: Device) -> set[Tensor]:
    """Tensors that a part can have at no cost: handles of variables, constants, and what is computed from constants
    alone.
    """
    free = {tensor for tensor, held in question.resources.items() if isinstance(held, VariableResource)}
    handles = set(free)
    for item, reason in zip(question.block.items, reasons, strict=True):
        if not isinstance(item, Step) or reason or item.op.type in VARIABLES:
            continue
        op = item.op
        inputs = [tensor for tensor in op.inputs if tensor not in handles]
        is_constant = len(inputs) == len(op.inputs) and all(tensor in free for tensor in inputs)
        if op.type == "Const" or (op.inputs and is_constant and device.bodies.facts(op).is_pure):
            free.update(op.outputs)
    return free


def _is_fed(ends: Ends) -> bool:
    """Whether a group of items needs any value: an array that is given, or the value of a variable that it reads."""
    if any(not is_resource(tensor) for tensor in ends.arrays):
        return True
    return any(
        is_resource(tensor) and not (op.type in _SETS and at == 0)
        for op in ends.operations
        for at, tensor in enumerate(op.inputs)
    )


def _feeds_behind(tensor: Tensor, question: PlanToSplit, known: Collection[Tensor]) -> set[Tensor]:
    """The fed tensors, each of a few integers, that a value is computed from; none if it depends on anything else that
    is not known before the run.
    """
    fed, found = frozenset(question.plan.feeds), set()
    pending, seen = [tensor], {tensor}
    while pending:
        at = pending.pop()
        if at in known:
            continue
        if at in fed:
            dims = at.static_shape.dims
            if (
                not at.dtype.is_integer
                or dims is None
                or len(dims) > 1
                or prod(size or 0 for size in dims) > _SHAPE_FEED
            ):
                return set()
            found.add(at)
            continue
        if is_resource(at) or at.op.spec.schema.is_stateful or not at.op.inputs or at.op.type in CONTROL_FLOW:
            return set()
        pending.extend(other for other in at.op.inputs if other not in seen)
        seen.update(at.op.inputs)
    return found


def _could_be_elsewhere(op: Operation) -> bool:
    """Whether an operation computes numbers from numbers, so that one may wonder why it is not on the device."""
    tensors = (*op.inputs, *op.outputs)
    if not op.outputs or not op.inputs or capabilities_of(op) or op.type in ON_HOST:
        return False
    return not any(tensor.dtype is RESOURCE or tensor.dtype is VARIANT or tensor.dtype.base_dtype is STRING
                   for tensor in tensors)  # fmt: skip
