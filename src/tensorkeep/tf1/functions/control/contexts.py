"""The branches and loops that a graph is built in.

While a context is in force, every operation that is made is shown to it. A branch lets values from outside in through a
Switch, a loop through an Enter; both see to it that operations without inputs wait for the branch or round to run. A
value that has been let in once is known from then on.

Contexts are written to meta graphs, so that gradients can be taken of imported branches and loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, TypeAlias, cast

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorSource, emit
from tensorkeep.graph.building import colocate_with, control_dependencies, controls_for, unique_name
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.control.control_flow import (
    enter,
    exit,
    loop_cond,
    next_iteration,
    ref_enter,
    ref_exit,
    ref_next_iteration,
    ref_switch,
    switch,
)
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.control.tensor_array import TensorArray

Context: TypeAlias = "CondContext | WhileContext"

_SIZES: Final = frozenset(("Shape", "Size", "Rank"))


class GradientState(Protocol):
    """What the loop of a gradient knows of the loop that it undoes."""

    @property
    def forward_context(self) -> WhileContext: ...

    def real_value(self, value: Tensor) -> Tensor:
        """The tensor that has, in each round of the gradient, what `value` had in the round that is being undone."""


# ---------------------------------------------------------------------------------------------------- Contexts in force


def context_of(op: Operation) -> Context | None:
    """The branch or loop that an operation belongs to."""
    return cast("Context | None", op.control_flow_context)


def current_context(graph: Graph) -> Context | None:
    """The branch or loop that operations are being added to."""
    return cast("Context | None", graph.scopes.control_flow)


def output_context(op: Operation) -> Context | None:
    """The branch or loop that an operation's outputs belong to: those of an Exit are outside."""
    context = context_of(op)
    return context.outer_context if context is not None and is_exit(op) else context


def while_context(context: Context | None) -> WhileContext | None:
    """The innermost loop around a context: itself if it is one."""
    while context is not None and not isinstance(context, WhileContext):
        context = context.outer_context
    return context


def while_context_of(op: Operation) -> WhileContext | None:
    return while_context(context_of(op))


def contains(outer: Context | None, context: Context | None) -> bool:
    """Whether `context` is `outer`, or somewhere inside it."""
    while context is not outer:
        if context is None:
            return False
        context = context.outer_context
    return True


@contextmanager
def inside_context(context: Context | None) -> Iterator[None]:
    """Operations made inside belong to `context`. None changes nothing."""
    if context is None:
        yield
        return
    scopes = context.graph.scopes
    context.entered_from.append(current_context(context.graph))
    scopes.control_flow = context
    try:
        yield
    finally:
        scopes.control_flow = context.entered_from.pop()


@contextmanager
def outside_context(context: Context) -> Iterator[None]:
    """Operations made inside belong to where `context` was entered from; afterwards it is in force again."""
    scopes = context.graph.scopes
    scopes.control_flow = context.entered_from.pop()
    try:
        yield
    finally:
        context.entered_from.append(current_context(context.graph))
        scopes.control_flow = context


def announce(context: Context, tensors: Iterable[Tensor]) -> None:
    """Makes the results of a context known to the one around it."""
    if context.outer_context is not None:
        context.outer_context.values.update(tensor.name for tensor in tensors)


# ---------------------------------------------------------------------------------------------------- Operations


def is_switch(op: Operation) -> bool:
    return op.type in ("Switch", "RefSwitch")


def is_enter(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter")


def is_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def is_constant_enter(op: Operation) -> bool:
    """Whether an operation brings a value into a loop that stays the same in all rounds."""
    return is_enter(op) and bool(op.attr("is_constant"))


def is_loop_switch(op: Operation) -> bool:
    """Whether an operation is the switch at the head of a loop, rather than one of a branch inside it."""
    return is_switch(op) and isinstance(context_of(op), WhileContext) and not _feeds_branches_only(op)


def _feeds_branches_only(op: Operation) -> bool:
    """Switches of branches do not always belong to them, but all that hangs on them does."""
    for tensor in op.outputs:
        for consumer in tensor.consumers():
            context = context_of(consumer)
            if is_enter(consumer) and context is not None:
                context = context.outer_context
            if not isinstance(context, CondContext):
                return False
    return True


def switch_tensor(data: Tensor, pred: Tensor, name: str = "Switch") -> tuple[Tensor, Tensor]:
    """Sends a value one of two ways: gives the tensor that has it if the predicate is false, then the other."""
    with colocate_with(data, ignore_existing=True):
        spec = ref_switch if data.dtype.is_ref else switch
        return tuple(spec(data, pred, name=name))


def enter_tensor(
    tensor: Tensor,
    frame: WhileContext,
    *,
    is_constant: bool = False,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Tensor:
    """The tensor inside a loop."""
    made: Tensor = (ref_enter if tensor.dtype.is_ref else enter)(
        tensor,
        frame_name=frame.name,
        is_constant=is_constant,
        parallel_iterations=frame.parallel_iterations,
        name=name,
    )
    if use_input_shape:
        made.set_shape(tensor.static_shape)
    return made


def exit_tensor(tensor: Tensor, name: str | None = None) -> Tensor:
    """The tensor outside the loop: its last value."""
    made: Tensor = (ref_exit if tensor.dtype.is_ref else exit)(tensor, name=name)
    return made


def next_iteration_of(tensor: Tensor) -> Tensor:
    """The tensor in the next round."""
    made: Tensor = (ref_next_iteration if tensor.dtype.is_ref else next_iteration)(tensor)
    return made


def close_loop(merged: Tensor, value: Tensor) -> None:
    """Makes a merge at the head of a loop take `value` in later rounds."""
    if merged.dtype.base_dtype is not value.dtype.base_dtype:
        raise InvalidArgumentError(
            f"Input 1 of node {merged.op.name} was passed {value.dtype.base_dtype.label} from {value.name} "
            f"incompatible with expected {merged.dtype.base_dtype.label}."
        )
    merged.op.set_input(1, value)


def loop_condition(pred: Tensor, name: str = "LoopCond") -> Tensor:
    return emit(loop_cond, pred, name=name)


def _without_external_controls(context: Context, op: Operation) -> tuple[list[Operation], list[Operation]]:
    """Takes the control inputs from outside the loop away; gives those that stay and those taken."""
    loop = while_context(context)
    if loop is None:
        return op.control_inputs, []
    internal: list[Operation] = []
    external: list[Operation] = []
    for control in op.control_inputs:
        found = output_context(control)
        (internal if found is not None and while_context(found) is loop else external).append(control)
    if external:
        op.clear_control_inputs()
        op.add_control_inputs(internal)
    return internal, external


def _move_to_end(edges: list[int | Operation], i: int) -> None:
    """TensorFlow keeps the edges into an operation in a set: what is taken out of it is replaced by the last."""
    at = edges.index(i)
    edges[at] = edges[-1]
    edges[-1] = i


def check_use(source: Operation, user: Operation) -> None:
    """Raises if an operation takes what is made in a loop that it is not part of.

    Between branches this is allowed, although it fails when run if the branch is not taken.
    """
    source_context = output_context(source)
    context = context_of(user)
    if source_context is None or context is source_context:
        return
    loop, source_loop = while_context(context), while_context(source_context)
    if source_loop is None or is_enter(user) or is_switch(user):
        return
    if loop is None:
        raise InvalidArgumentError(
            f"Cannot use '{source.name}' as input to '{user.name}' because '{source.name}' is in a while loop."
        )
    if not (contains(source_loop, loop) or _undoes(loop, source_loop) or _is_undone(loop, source_loop)):
        raise InvalidArgumentError(
            f"Cannot use '{source.name}' as input to '{user.name}' because they are in different while loops."
        )


def _undoes(loop: WhileContext, source: WhileContext) -> bool:
    """Whether `loop` is the gradient of `source`, or of a loop directly inside or around it."""
    state = loop.gradient_state
    return state is not None and (
        contains(source, state.forward_context) or source.outer_context is state.forward_context
    )


def _is_undone(loop: WhileContext, source: WhileContext) -> bool:
    """Whether `source` is a gradient of `loop`, or the gradient of one."""
    state = source.gradient_state
    if state is None:
        return False
    inner = state.forward_context.gradient_state
    return state.forward_context is loop or (inner is not None and inner.forward_context is loop)


def _link(context: Context, graph: Graph) -> Context | None:
    """Makes the context one of those inside the context in force."""
    outer = current_context(graph)
    if outer is not None:
        outer.nested_contexts.append(context)
    return outer


# ---------------------------------------------------------------------------------------------------- Branches


class CondContext:
    """One branch of a `cond`. `pivot` runs if the branch does; `branch` is 1 for true, 0 for false."""

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str) -> None:
        self.graph = pred.graph
        self.name = name
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.nested_contexts: list[Context] = []
        self.entered_from: list[Context | None] = []
        self.values: set[str] = set()
        self.external_values: dict[str, Tensor] = {}
        self.outer_context = _link(self, pred.graph)

    @classmethod
    def begin(cls, pred: Tensor, pivot: Tensor, branch: int) -> CondContext:
        """The context of a branch that is about to be built."""
        made = cls(pred, pivot, branch, unique_name("cond_text", pred.graph))
        made.values.update((pred.name, pivot.name))
        made.external_values[pred.name] = pred
        pivot.op.control_flow_context = made
        return made

    @property
    def gradient_state(self) -> GradientState | None:
        loop = while_context(self)
        return None if loop is None else loop.gradient_state

    @property
    def back_prop(self) -> bool:
        loop = while_context(self)
        return loop is not None and loop.back_prop

    @property
    def control_pivot(self) -> Tensor | None:
        """What an operation must wait for in order to run only if the branch does."""
        return self.pivot

    def add_value(self, value: Tensor) -> Tensor:
        """The tensor that stands for `value` in this branch; a Switch the first time."""
        if value.name in self.values:
            return self.external_values.get(value.name, value)
        result = value
        self.values.add(value.name)
        if self.outer_context is not None:
            result = self.outer_context.add_value(value)
            self.values.add(result.name)
            self.external_values[result.name] = result
        with control_dependencies(None, value.graph):
            result = switch_tensor(result, self.pred)[self.branch]
        value.graph.unfetchable.add(result.op)
        result.op.control_flow_context = self
        self._know((result,))
        self.external_values[value.name] = result
        return result

    def _know(self, tensors: Iterable[Tensor]) -> None:
        """Marks tensors as known here and in all contexts around."""
        names = [tensor.name for tensor in tensors]
        context: Context | None = self
        while context is not None:
            context.values.update(names)
            context = context.outer_context

    def add_op(self, op: Operation) -> None:
        """Takes in an operation: its inputs come through switches, and without inputs it waits for the pivot."""
        if not op.inputs:
            _without_external_controls(self, op)
            if not any(contains(self, context_of(control)) for control in op.control_inputs):
                op.add_control_inputs((self.pivot.op,))
        else:
            for i, tensor in enumerate(op.inputs):
                if op.type == "Merge" and tensor.op.type == "NextIteration":
                    continue  # of a loop that is being imported, whose end has not been shown to us yet
                real = self.add_value(tensor)
                if real is not tensor:
                    op.set_input(i, real)
            _without_external_controls(self, op)
            if op.type in op.graph.functions or op.type == "SymbolicGradient":
                op.add_control_inputs((self.pivot.op,))
        self._know(op.outputs)
        if self.outer_context is not None or not is_exit(op):
            op.graph.unfetchable.add(op)

    def check_use(self, source: Operation, user: Operation) -> None:
        check_use(source, user)

    def result(self, value: Tensor | TensorSource | Operation | None) -> Tensor:
        """A result of the branch as a tensor of it; of an operation, the pivot behind it."""
        if isinstance(value, Operation):
            return with_dependencies([value], self.pivot)
        tensor = convert(value.flow if isinstance(value, TensorArray) else value)
        if tensor.name in self.values:
            return self.external_values.get(tensor.name, tensor)
        real = tensor
        self.values.add(tensor.name)
        if self.outer_context is not None:
            real = self.outer_context.add_value(tensor)
            self.values.add(real.name)
            self.external_values[real.name] = real
        real = switch_tensor(real, self.pred)[self.branch]
        self.external_values[tensor.name] = real
        return real


# ---------------------------------------------------------------------------------------------------- Loops


class WhileContext:
    """A loop. Its name is that of its frame; `gradient_state` is set if it undoes another loop."""

    def __init__(
        self,
        graph: Graph,
        name: str,
        *,
        maximum_iterations: Tensor | None = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        gradient_state: GradientState | None = None,
    ) -> None:
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise InvalidArgumentError(f"'parallel_iterations' must be a positive integer: {parallel_iterations}")
        self.graph = graph
        self.name = name
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.back_prop = back_prop
        self.swap_memory = swap_memory
        self.gradient_state = gradient_state
        self.nested_contexts: list[Context] = []
        self.entered_from: list[Context | None] = []
        self.values: set[str] = set()
        self.external_values: dict[str, Tensor] = {}
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []
        self.pivot_for_pred: Tensor | None = None  # what the condition's constants wait for
        self.pivot_for_body: Tensor | None = None  # what the body's constants wait for
        self._pivot: Tensor | None = None
        self.outer_context = _link(self, graph)

    @property
    def pivot(self) -> Tensor:
        """What decides whether there is another round."""
        assert self._pivot is not None
        return self._pivot

    @pivot.setter
    def pivot(self, tensor: Tensor) -> None:
        self._pivot = tensor

    @property
    def control_pivot(self) -> Tensor | None:
        """What an operation must wait for in order to run once in every round."""
        return self.pivot_for_pred if self.pivot_for_body is None else self.pivot_for_body

    # ------------------------------------------------------------------------------------------ taking in

    def add_value(self, value: Tensor) -> Tensor:
        """The tensor that stands for `value` in this loop: an Enter the first time, or what a gradient remembers."""
        if value.name in self.values or value.op.control_flow_context is self:
            return self.external_values.get(value.name, value)
        self.values.add(value.name)
        remembered = self._remembered(value)
        if remembered is not None:
            self.external_values[value.name] = remembered
            return remembered
        result = value if self.outer_context is None else self.outer_context.add_value(value)
        with control_dependencies(None, value.graph):
            inside = enter_tensor(result, self, is_constant=True)
            self.graph.unfeedable.add(inside)
        self.adopt_enters([inside])
        self.values.add(inside.name)
        self.external_values[value.name] = inside
        return inside

    def _remembered(self, value: Tensor) -> Tensor | None:
        """In the loop of a gradient, what stands for a value of the loop that it undoes."""
        loop = while_context(current_context(self.graph))
        if loop is None or loop.gradient_state is None:
            return None
        forward = while_context_of(value.op)
        if is_exit(value.op) and forward is not None:
            forward = while_context(forward.outer_context)
        if forward is not loop.gradient_state.forward_context:
            return None
        return loop.gradient_state.real_value(value)

    def add_op(self, op: Operation) -> None:
        """Takes in an operation.

        The sizes of a value of the forward loop are computed there, so that the gradient remembers the sizes rather
        than the value.
        """
        if op.type in _SIZES:
            loop = while_context(current_context(self.graph))
            if loop is not None and loop.gradient_state is not None:
                source = op.inputs[0].op
                if while_context_of(source) is loop.gradient_state.forward_context:
                    home = context_of(source)
                    assert home is not None
                    op.control_flow_context = home
                    home.take_in(op) if isinstance(home, WhileContext) else home.add_op(op)
                    return
        self.take_in(op)

    def check_use(self, source: Operation, user: Operation) -> None:
        check_use(source, user)

    def take_in(self, op: Operation) -> None:
        """Lets the operation's inputs in, and moves what it waits for outside into the loop."""
        if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
            self._wait(op)
        if not op.inputs:
            internal, external = _without_external_controls(self, op)
            if not internal:
                self._wait(op)
        else:
            edges: list[int | Operation] = [*range(len(op.inputs)), *op.control_inputs]
            for i, tensor in enumerate(op.inputs):
                real = self.add_value(tensor)
                if real is not tensor:
                    op.set_input(i, real)
                    _move_to_end(edges, i)
            _, external = _without_external_controls(self, op)
            external.sort(key=edges.index)
            if self._is_free(op):
                self._wait(op)
        self.values.update(tensor.name for tensor in op.outputs)
        if external:
            with control_dependencies(None, op.graph), inside_context(self):
                inside = [identity(control.outputs[0]).op for control in external if control.outputs]
            op.add_control_inputs(inside)
        if self.outer_context is not None or not is_exit(op):
            op.graph.unfetchable.add(op)
            op.graph.unfeedable.update(op.outputs)

    def _wait(self, op: Operation) -> None:
        assert self.control_pivot is not None
        op.add_control_inputs((self.control_pivot.op,))

    def _is_free(self, op: Operation) -> bool:
        """Whether nothing keeps an operation from running more often than the loop does."""
        if op.control_inputs:
            return False
        if op.type in op.graph.functions or op.type == "SymbolicGradient":
            return True
        return all(is_constant_enter(tensor.op) for tensor in op.inputs)

    def adopt_enters(self, enters: Sequence[Tensor]) -> None:
        """Makes Enters part of the loop. They keep what they wait for in contexts around it."""
        outer_loop = while_context(self.outer_context)
        for tensor in enters:
            op = tensor.op
            kept: list[Operation] = []
            for control in controls_for(self.graph, op.inputs):
                wanted = output_context(control)
                context = self.outer_context
                while context is not wanted and context is not None and context is not outer_loop:
                    context = context.outer_context
                if context is wanted:
                    kept.append(control)
            op.control_flow_context = self
            if kept:
                op.add_control_inputs(kept)
            for entry in self.graph.scopes.control_dependencies:
                entry.seen.add(op)


def fits(shape: Shape, invariant: Shape) -> bool:
    """Whether every array of the shape keeps to the invariant."""
    if invariant.dims is None:
        return True
    if shape.dims is None or len(shape.dims) != len(invariant.dims):
        return False
    return all(b is None or a == b for a, b in zip(shape.dims, invariant.dims, strict=True))
