"""Plans whose step is made of several batches: DeepRec's `micro_batch_num`.

What the gradients of a plan need is there several times, and what is learned is told the sum of them all:

    y = ApplyAdam(…, grad)      becomes      y = ApplyAdam(…, AddN(grad, grad/dup0, grad/dup1))

The gradients of single rows are joined, and those of the same row added; embedding variables do that themselves, and
count how often they see a key. This is what DeepRec's `PipelineGraph` does (in its
core/common_runtime/graph_execution_state.cc) with `ExtendGraph` (core/graph/graph_constructor.cc): the sum, and not
the mean; for the updates of Adagrad, Adam and FTRL, and no others; what is not needed for a gradient, such as a loss
that is fetched, a counter of steps or a moving average, is that of the first batch, and there once. Constants, what is
fed and variables are the same for all batches.

Two things are otherwise. There an iterator or a queue without a shared name is copied with the rest, so that the copy
is not initialized, or begins with the first element again; here all batches take from the same one, each the next
element. And a key counts once in a step there, but here as often as it occurs, as it does in a large batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import INT32, RESOURCE
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import building
from tensorkeep.graph.flattening import copied_graph
from tensorkeep.graph.graph import PLACEHOLDERS, Graph, Operation, Tensor
from tensorkeep.runtime.context import LOG
from tensorkeep.runtime.plans.plan import Plan, make_plan

Kept: TypeAlias = "dict[Operation, dict[str, Any]]"

_DENSE: Final = ("Adagrad", "Adam", "Ftrl", "FtrlV2")
_SPARSE: Final = ("Adagrad", "Ftrl", "FtrlV2")
_TABLE_PREFIX: Final = "KvResource"
_OF_TABLES: Final = ("Adagrad", "Adam", "AdamAsync", "Ftrl", "FtrlV2")
SUMMED: Final = frozenset(
    (
        *(f"{prefix}Apply{name}" for prefix in ("", "Resource") for name in _DENSE),
        *(f"{prefix}SparseApply{name}" for prefix in ("", "Resource") for name in _SPARSE),
        *(f"{_TABLE_PREFIX}SparseApply{name}{end}" for end in ("", "WithCounts") for name in _OF_TABLES),
    )
)
"""The updates that are told the sum."""
_CHANGES: Final = ("Apply", "Scatter", "AssignAdd", "AssignSub")
_CONSTANTS: Final = frozenset((*PLACEHOLDERS, "PlaceholderWithDefault", "Const"))


def sums_gradients(plan: Plan) -> bool:
    """Whether there is an update in a plan that would be told a sum of gradients."""
    return any(op.type in SUMMED for op in plan.ops)


def tell_other_updates(plan: Plan) -> None:
    """Says which variables a plan lets learn from the first batch alone."""
    variables = plan.ops[0].graph.collections.get("trainable_variables", ()) if plan.ops else ()
    trainable = {getattr(getattr(variable, "op", None), "name", None) for variable in variables}
    changing = [op for op in plan.ops if op.inputs and any(word in op.type for word in _CHANGES)]
    summed = {op.inputs[0].op.name for op in changing if op.type in SUMMED}
    if others := sorted({op.inputs[0].op.name for op in changing} & trainable - summed):
        LOG.warning(
            "micro_batch_num: as in DeepRec, only the updates of Adagrad, Adam and FTRL are told the sum of the "
            "gradients of all batches; these variables are updated otherwise, from the first batch alone: %s",
            ", ".join(others),
        )


def make_plan_of_batches(
    fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor], batches: int, kept: Kept
) -> Plan:
    """As `make_plan`, for so many batches in the place of one, in a graph of its own.

    `kept` is what operations keep from run to run. Those that were there before share theirs with their copies of other
    plans, and so does what is there once more for the second batch, the third, and so on.
    """
    whole = make_plan(fetches, targets, feeds, is_whole=True)
    copy = copied_graph(whole.ops[0].graph, {tensor: tensor.static_shape for tensor in feeds}, only=whole.ops)
    before = {op.name: op for op in whole.ops}
    for op in copy.graph.operations:
        if op.name in before:
            kept[op] = kept.setdefault(before[op.name], {})
    updates = [op for op in copy.graph.operations if op.type in SUMMED]
    repeated = _Repetition(copy.graph, updates, batches).rewrite()
    for at, copies in enumerate(repeated):
        for op, copied in copies.items():
            kept[copied] = kept.setdefault(op, {}).setdefault(f"batch {at + 1}", {})
    wanted = [copy.graph.operation(op.name) for op in targets]
    return make_plan([copy.tensor(tensor) for tensor in fetches], wanted, [copy.tensor(tensor) for tensor in feeds])


class _Repetition:
    """A graph while what its updates need is being repeated."""

    def __init__(self, graph: Graph, updates: Sequence[Operation], batches: int) -> None:
        self._graph = graph
        self._updates = updates
        self._repeated: list[dict[Operation, Operation]] = [{} for _ in range(batches - 1)]

    def rewrite(self) -> Sequence[Mapping[Operation, Operation]]:
        """Does it; gives for the second batch and each after it what was repeated, and the copies."""
        with building(self._graph):
            operations = self._operations_to_repeat()
            for at in range(len(self._repeated)):
                for op in operations:
                    self._repeat(op, at)
                for op in operations:
                    self._close_loop(op, at)
            self._graph.infer_shapes()
            for update in self._updates:
                self._sum_gradient(update)
        return self._repeated

    def _operations_to_repeat(self) -> list[Operation]:
        """What the gradients need, without what is the same for all batches; in the order of the graph."""
        pending = [tensor.op for update in self._updates for tensor in _gradient(update).values()]
        found: set[Operation] = set()
        while pending:
            op = pending.pop()
            if op not in found:
                found.add(op)
                pending.extend(tensor.op for tensor in op.inputs)
                pending.extend(op.control_inputs)
        kept_once = {op for op in found if op.type in SUMMED or _is_shared(op)}
        return [op for op in self._graph.operations if op in found and op not in kept_once]

    def _repeat(self, op: Operation, at: int) -> None:
        name = f"{op.name}/dup{at}"
        while name in self._graph:
            name += "_"
        inputs = [self._of(tensor, at) for tensor in op.inputs]
        waits = [self._repeated[at].get(control, control) for control in op.control_inputs]
        copied = self._graph.add_operation(op.spec, name, inputs, dict(op.attrs), waits, op.device)
        frame = op.attr("frame_name") if op.type in ("Enter", "RefEnter") else None
        if isinstance(frame, bytes):  # each copy of a loop has rounds of its own
            copied.set_attr("frame_name", frame + f"/dup{at}".encode())
        self._repeated[at][op] = copied

    def _close_loop(self, op: Operation, at: int) -> None:
        """Has the copy of a loop's head take what the copy of its end gives, which was not there when it was made."""
        copied = self._repeated[at][op]
        for index, tensor in enumerate(op.inputs):
            if copied.inputs[index] is not (wanted := self._of(tensor, at)):
                copied.set_input(index, wanted)

    def _of(self, tensor: Tensor, at: int) -> Tensor:
        copied = self._repeated[at].get(tensor.op)
        return tensor if copied is None else copied.outputs[tensor.index]

    def _of_all_batches(self, tensor: Tensor) -> list[Tensor]:
        return [tensor, *(self._of(tensor, at) for at in range(len(self._repeated)))]

    def _sum_gradient(self, update: Operation) -> None:
        told = _gradient(update)
        if "indices" not in told:
            summed = {"grad": emit("AddN", self._of_all_batches(told["grad"]), name=f"{update.name}/aggr_addn")}
        else:
            summed = {name: self._join(tensor, update) for name, tensor in told.items()}
            if not update.type.startswith(_TABLE_PREFIX):
                summed = self._add_equal_rows(summed, update)
        names = _input_names(update)
        for name, tensor in summed.items():
            update.set_input(names.index(name), tensor)

    def _add_equal_rows(self, joined: Mapping[str, Tensor], update: Operation) -> dict[str, Tensor]:
        unique, positions = emit_tensors("Unique", joined["indices"], out_idx=INT32, name=f"{update.name}/aggr_unique")
        size = emit("Size", unique, out_type=INT32, name=f"{update.name}/aggr_size")
        scope = f"{update.name}/aggr_unsorted_segment_sum"
        return {"indices": unique, "grad": emit("UnsortedSegmentSum", joined["grad"], positions, size, name=scope)}

    def _join(self, tensor: Tensor, update: Operation) -> Tensor:
        return emit("ConcatV2", self._of_all_batches(tensor), 0, name=f"{update.name}/aggr_concat")


def _gradient(update: Operation) -> dict[str, Tensor]:
    """What an update is told of a gradient: it, and if it is one of rows, which rows, and how often each was seen."""
    named = zip(_input_names(update), update.inputs, strict=True)
    return {name: tensor for name, tensor in named if name in ("grad", "indices", "indices_counts")}


def _input_names(update: Operation) -> list[str]:
    return [arg.name for arg in update.spec.schema.inputs]


def _is_shared(op: Operation) -> bool:
    """Whether all batches use one: what is constant or fed, variables, tables, iterators, queues."""
    if op.type in _CONSTANTS:
        return not op.control_inputs  # which a constant of a loop has: each copy of the loop has its own
    return not op.inputs and bool(op.outputs) and all(out.dtype is RESOURCE or out.dtype.is_ref for out in op.outputs)
