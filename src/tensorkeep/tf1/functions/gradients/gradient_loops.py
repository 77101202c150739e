"""The loops that undo loops.

The gradient of a loop is a loop that runs as many rounds. The forward loop gets a counter; whatever the gradient needs
of a forward round is pushed on a stack there and popped here, last round first. Pushes and pops of different rounds
must not overtake each other, which is what all the control inputs here are for. Values that stay the same in all rounds
need no stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, RESOURCE, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import colocate_with, control_dependencies, unique_name
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor, held_behind, held_shape
from tensorkeep.ops.arrays.constants import control_trigger, identity
from tensorkeep.ops.control.control_flow import merge, switch
from tensorkeep.ops.control.tensor_arrays import stack_pop_v2, stack_push_v2, stack_v2
from tensorkeep.ops.shared.expressions import zeros
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.contexts import (
    CondContext,
    Context,
    WhileContext,
    announce,
    close_loop,
    context_of,
    current_context,
    enter_tensor,
    exit_tensor,
    inside_context,
    is_constant_enter,
    is_exit,
    is_loop_switch,
    is_switch,
    loop_condition,
    next_iteration_of,
    output_context,
    outside_context,
    switch_tensor,
    while_context,
    while_context_of,
)
from tensorkeep.tf1.functions.structures import flatten


def shape_node(tensor: Tensor) -> Tensor:
    """The sizes of a tensor as a node, even where they are known."""
    return emit("Shape", tensor, name="Shape")


# ---------------------------------------------------------------------------------------------------- One loop


class GradientLoop:
    """The loop that undoes another one, and what it remembers of it."""

    def __init__(self, forward: WhileContext, outer: GradientLoop | None) -> None:
        self.forward_context = forward
        self.outer = outer
        self.history: dict[str, Tensor] = {}
        """The forward values that gradients have asked for, by name: what stands for them here."""
        self.switches: dict[Operation, Any] = {}
        """The forward loop's switches that have been visited, and the merges that undo them."""
        self.unused_exits: list[Tensor] = []
        self.deferred_exits: list[Tensor] = []
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(forward.loop_exits)
        self._forward_sync: Operation | None = None
        self._gradient_sync: Operation | None = None
        around = forward.outer_context if outer is None else outer.forward_context
        with inside_context(around):
            count, self._forward_index = _count_rounds(forward, outer)
        if outer is None:
            with inside_context(around):
                self.context = self._opened()
                self._index = _count_down(self.context, count, None)
        else:
            outer.forward_context.values.add(count.name)
            history = outer.remember(count)
            with inside_context(outer.context):
                self.context = self._opened()
                self._index = _count_down(self.context, outer.recall(history, count), outer)

    def _opened(self) -> WhileContext:
        forward = self.forward_context
        return WhileContext(
            forward.graph,
            unique_name(forward.name, forward.graph),
            maximum_iterations=forward.maximum_iterations,
            parallel_iterations=forward.parallel_iterations,
            back_prop=forward.back_prop,
            swap_memory=forward.swap_memory,
            gradient_state=self,
        )

    @property
    def increment(self) -> Operation:
        """What adds one to the forward loop's counter: a push comes after that of its own round."""
        return self._forward_index.op.inputs[0].op

    @property
    def forward_sync(self) -> Operation:
        """What the next forward round waits for: pushes in branches, which may not run."""
        if self._forward_sync is None:
            with control_dependencies(None, self.forward_context.graph):
                self._forward_sync = control_trigger(name="f_sync")
            self._forward_sync.control_flow_context = self.forward_context
            self._forward_index.op.add_control_inputs((self._forward_sync,))
        return self._forward_sync

    @property
    def gradient_sync(self) -> Operation:
        """What the next round of the gradient waits for: all pops of this one."""
        if self._gradient_sync is None:
            with control_dependencies(None, self.forward_context.graph):
                self._gradient_sync = control_trigger(name="b_sync")
            self._gradient_sync.control_flow_context = self.context
            self._index.op.add_control_inputs((self._gradient_sync,))
        return self._gradient_sync

    # ------------------------------------------------------------------------------------------ memory

    def remember(self, value: Tensor, dead_branch: bool = False) -> Tensor:
        """A stack that has the value of every forward round.

        To be called where `gradients` was called. The value may be in a branch within the loop; with `dead_branch`
        it is what stands for the branch that is not taken.
        """
        graph = value.graph
        called_from = current_context(graph)
        with control_dependencies(None, graph):
            with inside_context(called_from), colocate_with(value):
                stack = emit(stack_v2, constant(-1, INT32), elem_type=value.dtype.base_dtype, name="f_acc")
            inside = self.forward_context.add_value(stack)
            context = output_context(value.op)
            if context is self.forward_context:
                push = self._push(context, inside, value)
                self._forward_index.op.add_control_inputs((push,))
            else:
                if not isinstance(context, CondContext):
                    raise WrongTypeError(f'"{value.name}" is neither of the loop nor of a branch inside it')
                if dead_branch:
                    push = self._push(context.outer_context, inside, value)
                    push.control_flow_context = context
                else:
                    push = self._push(context, inside, value)
                self.forward_sync.add_control_inputs((push,))
            push.add_control_inputs((self.increment,))
            return stack

    def _push(self, context: Context | None, stack: Tensor, value: Tensor) -> Operation:
        with inside_context(context):
            pushed = emit(stack_push_v2, stack, value, swap_memory=self.forward_context.swap_memory)
        return pushed.op

    def recall(self, stack: Tensor, value: Tensor, dead_branch: bool = False) -> Tensor:
        """What the value on top of the stack was. Of a value in a branch, only popped if the branch was taken."""
        branch = self._branch_of(value, context_of(stack.op))
        with control_dependencies(None, value.graph), inside_context(self.context):
            if branch is not None:
                pred = self._recalled_pred(branch)
                way = 1 - branch.branch if dead_branch else branch.branch
                stack = switch_tensor(stack, pred)[way]
            popped = emit(stack_pop_v2, stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.static_shape)
        if self.context.parallel_iterations > 1:
            self.gradient_sync.add_control_inputs((popped.op,))
        return popped

    def _branch_of(self, value: Tensor, until: Context | None) -> CondContext | None:
        context = context_of(value.op)
        while context is not None and context is not until:
            if isinstance(context, CondContext):
                return context
            context = context.outer_context
        return None

    def _recalled_pred(self, branch: CondContext) -> Tensor:
        loop: GradientLoop | None = self
        while loop is not None:
            if branch.pred.name in loop.history:
                return loop.history[branch.pred.name]
            loop = loop.outer
        return branch.pred

    def real_value(self, value: Tensor) -> Tensor:
        """What stands here for a value of the forward loop. To be called in this loop's context."""
        found = self.history.get(value.name)
        if found is None:
            found = self.history[value.name] = self._real_value(value)
        return found

    def _real_value(self, value: Tensor) -> Tensor:
        loop: GradientLoop = self
        while True:
            constant_enter = _constant_enter(value)
            if constant_enter is None:
                break
            value = constant_enter.inputs[0]
            if loop.outer is None:
                return self.context.add_value(value)
            loop = loop.outer
        if value.op.type == "Const":
            known = constant_value(value)
            assert known is not None
            return constant(known, value.dtype)
        with outside_context(self.context):
            stack = loop.remember(value)
        real = loop.recall(stack, value)
        return real if loop is self else self.context.add_value(real)


def _constant_enter(value: Tensor) -> Operation | None:
    """The Enter that a value comes from, if it stays the same in all rounds."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if is_constant_enter(op) else None


def _count_rounds(forward: WhileContext, outer: GradientLoop | None) -> tuple[Tensor, Tensor]:
    """Adds a counter to the forward loop: how many rounds there were, and the count in the next round.

    n = 0; while pivot: n += 1
    """
    zero = constant(0, name="f_count")
    if outer is not None:
        # The pushes of one run of an inner loop come before those of its next run.
        zero.op.add_control_inputs((outer.increment,))
    with inside_context(forward):
        forward.values.add(zero.name)
        inside = enter_tensor(zero, forward, name="f_count")
        forward.loop_enters.append(inside)
        head = merge([inside, inside])[0]
        off, on = switch(head, forward.pivot)
        following = next_iteration_of(emit("AddV2", on, 1, name="Add"))
        close_loop(head, following)
        total = exit_tensor(off, name="f_count")
        forward.loop_exits.append(total)
        announce(forward, [total])
    return total, following


def _count_down(context: WhileContext, count: Tensor, outer: GradientLoop | None) -> Tensor:
    """Adds the counter that ends the gradient's loop; gives the count in the next round.

    n = count; while n >= 1: n -= 1
    """
    one = constant(1, name="b_count")
    with inside_context(context):
        context.values.add(count.name)
        inside = enter_tensor(count, context, name="b_count")
        context.loop_enters.append(inside)
        head = merge([inside, inside])[0]
        context.pivot_for_pred = head
        context.pivot = loop_condition(emit("GreaterEqual", head, one, name="GreaterEqual"), "b_count")
        off, on = switch(head, context.pivot)
        context.pivot_for_body = emit("Sub", on, one, name="Sub")
        following = next_iteration_of(context.pivot_for_body)
        close_loop(head, following)
        zero = exit_tensor(off, name="b_count")
        context.loop_exits.append(zero)
        if outer is not None:
            # The pops of one run of an inner loop come before those of its next run.
            outer.gradient_sync.add_control_inputs((zero.op,))
        announce(context, [zero])
    return following


# ---------------------------------------------------------------------------------------------------- All loops


class LoopState:
    """The loops that one call of `gradients` undoes."""

    def __init__(self) -> None:
        self._loops: dict[WhileContext, GradientLoop] = {}

    @classmethod
    def of(
        cls, between: list[Operation], members: set[Operation], colocated: Callable[[Operation], Any]
    ) -> LoopState | None:
        """The state for the operations between targets and sources, or None if there is no loop among them.

        All exits of a loop take part in its gradient, and are added to the operations.
        """
        state: LoopState | None = None
        for op in between:
            if is_exit(op) and while_context_of(op) is not None:
                state = state or cls()
                with colocated(op):
                    state._add_loop(op, between, members)
        return state

    def _add_loop(self, op: Operation, between: list[Operation], members: set[Operation]) -> None:
        forward = while_context_of(op)
        assert forward is not None
        if forward in self._loops:
            return
        outer = while_context(forward.outer_context)
        loop = GradientLoop(forward, None if outer is None else self._loops.get(outer))
        self._loops[forward] = loop
        for tensor in loop.forward_exits:
            if tensor.op not in members:
                members.add(tensor.op)
                between.append(tensor.op)

    def loop_of(self, op: Operation, before: bool = False) -> GradientLoop | None:
        """The loop that undoes the operation's; `before` an Exit is undone, that of the context around it."""
        forward = while_context_of(op)
        if before and is_exit(op) and forward is not None:
            forward = while_context(forward.outer_context)
        return None if forward is None else self._loops.get(forward)

    @contextmanager
    def inside_loop_of(self, op: Operation, before: bool = False) -> Iterator[None]:
        """Operations made inside belong to the loop that undoes the operation's."""
        loop = self.loop_of(op, before)
        with inside_context(None if loop is None else loop.context):
            yield

    def unused_exits(self, pending: dict[Operation, int], targets: set[Operation]) -> list[Tensor]:
        """The exits that no gradient reaches, of loops all of whose exits are accounted for already."""
        found: list[Tensor] = []
        for loop in self._loops.values():
            for tensor in loop.forward_exits:
                if pending.get(tensor.op, 0) == 0:
                    loop.pending_exits -= 1
                    if tensor.op not in targets:
                        loop.unused_exits.append(tensor)
                    if loop.pending_exits == 0:
                        found.extend(loop.unused_exits)
            for tensor in loop.forward_context.loop_enters:
                if pending.get(tensor.op, 0) == 0:
                    pending[tensor.op] = 1
        return found

    def exit_is_ready(
        self, op: Operation, has_gradient: Callable[[Operation], bool]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Says that all gradients of an exit are there.

        When that is so of all exits of a loop, gives those with gradients and those without; the latter are to get
        zeros if there are any of the former.
        """
        loop = self.loop_of(op)
        assert loop is not None
        loop.deferred_exits.append(op.outputs[0])
        loop.pending_exits -= 1
        if loop.pending_exits:
            return [], []
        with_gradient = [tensor for tensor in loop.deferred_exits if has_gradient(tensor.op)]
        loop.unused_exits.extend(tensor for tensor in loop.deferred_exits if not has_gradient(tensor.op))
        return with_gradient, loop.unused_exits

    # ------------------------------------------------------------------------------------------ zeros

    def zeros_like_exit(self, tensor: Tensor) -> Tensor:
        """Zeros as the gradient of an exit that no gradient reaches. To be called where `gradients` was called."""
        shape, dtype = tensor.static_shape, tensor.dtype.base_dtype
        forward = while_context_of(tensor.op)
        assert forward is not None
        outer_context = while_context(forward.outer_context)
        outer = None if outer_context is None else self._loops.get(outer_context)
        if outer is None:
            if shape.is_fully_known:
                return zeros(shape.as_tuple(), dtype)
            return emit("ZerosLike", tensor, name="zeros_like")
        if shape.is_fully_known:
            with inside_context(outer.context):
                return zeros(shape.as_tuple(), dtype)
        with inside_context(forward.outer_context):
            sizes = shape_node(tensor)
        history = outer.remember(sizes)
        with inside_context(outer.context):
            return zeros(outer.recall(history, sizes), dtype)

    def zeros_like(self, op: Operation, index: int) -> Tensor | None:
        """Zeros as the gradient of an output that none reached. To be called in the context of the gradient."""
        if is_loop_switch(op):
            return None
        forward = while_context_of(op)
        loop = None if forward is None else self._loops.get(forward)
        if loop is None:
            return zeros_like_output(op, index)
        value = op.outputs[index]
        if value.static_shape.is_fully_known:
            return self._known_zeros(op, value, loop)
        return self._remembered_zeros(op, value, loop)

    def _known_zeros(self, op: Operation, value: Tensor, loop: GradientLoop) -> Tensor:
        if value.dtype is RESOURCE:
            made = zeros_like_variable(value)
        else:
            made = constant(0, value.dtype.base_dtype, shape=value.static_shape)
        branch = context_of(op)
        if is_switch(op):
            assert isinstance(branch, CondContext)
            made = switch_tensor(made, loop.history[branch.pred.name])[1 - branch.branch]
        return made

    def _remembered_zeros(self, op: Operation, value: Tensor, loop: GradientLoop) -> Tensor:
        """Zeros of a shape that differs from round to round."""
        context = context_of(op)
        assert context is not None
        dead_branch = is_switch(op)
        if dead_branch:
            assert isinstance(context, CondContext)
            with inside_context(context.outer_context):
                value = switch_tensor(op.inputs[0], context.pred)[1 - context.branch]
                sizes = shape_node(value)
            value.op.control_flow_context = context
            sizes.op.control_flow_context = context
        else:
            with inside_context(context):
                sizes = shape_node(value)
        with outside_context(loop.context):
            history = loop.remember(sizes, dead_branch)
        return zeros(loop.recall(history, sizes, dead_branch), value.dtype.base_dtype)

    # ------------------------------------------------------------------------------------------ the end

    def finish(self) -> None:
        """Closes the loops of variables whose next value does not depend on the last one: their gradient is zero."""
        for loop in self._loops.values():
            for head in loop.switches.values():
                for part in flatten(head, expand_composites=True):
                    if part.op.inputs[0] is part.op.inputs[1]:
                        close_loop(part, self._zeros_after_first(loop, part.op.inputs[0]))

    def _zeros_after_first(self, loop: GradientLoop, inside: Tensor) -> Tensor:
        if inside.static_shape.is_fully_known:
            with inside_context(loop.context):
                return next_iteration_of(constant(0, inside.dtype.base_dtype, shape=inside.static_shape))
        with inside_context(loop.context.outer_context):
            made = zeros(shape_node(inside.op.inputs[0]), inside.dtype.base_dtype)
        with inside_context(loop.context):
            return next_iteration_of(made)


# ---------------------------------------------------------------------------------------------------- Zeros


def zeros_like_output(op: Operation, index: int) -> Tensor | None:
    """A gradient of zeros for an output that no gradient reached; None where nothing tells what it should be like."""
    value = op.outputs[index]
    if not is_switch(op):
        if value.dtype is RESOURCE:
            return None if held_behind(value) is None else _zeros_of_variable(value, value)
        return emit("ZerosLike", value, name="zeros_like")
    branch = context_of(op)
    if branch is None:
        return emit("ZerosLike", value, name="zeros_like")
    assert isinstance(branch, CondContext)
    other = switch(op.inputs[0], branch.pred)[1 - branch.branch]
    # The zeros are to be made only if the branch is the one taken, which this node tells.
    pivot = identity(other)
    if value.dtype is RESOURCE:
        with control_dependencies([pivot]):
            return _zeros_of_variable(other, value)
    sizes = shape_node(other)
    with control_dependencies([pivot]):
        return zeros(sizes, value.dtype.base_dtype)


def zeros_like_variable(handle: Tensor) -> Tensor:
    """Zeros of the shape of the variable behind a handle."""
    shape = held_shape(handle)
    if shape.is_fully_known and not is_of_table(handle):
        sizes = np.array(shape.as_tuple(), np.int32)
        return zeros(constant(sizes, name="Const"), _element_dtype(handle))
    return _zeros_of_variable(handle, handle)


def is_of_table(handle: Tensor) -> bool:
    """Whether a handle is that of an embedding variable, whose rows go by keys, so that it has no shape of its own."""
    return source_of_handle(handle).type == "KvVarHandleOp"


def source_of_handle(handle: Tensor) -> Operation:
    """The operation that a handle comes from, past what it was passed on by."""
    while handle.op.inputs:
        handle = handle.op.inputs[0]
    return handle.op


def _zeros_of_variable(handle: Tensor, value: Tensor) -> Tensor:
    if is_of_table(value):  # no row of it
        sizes = np.array((0, *held_shape(value).as_tuple()), np.int32)
        return zeros(constant(sizes, name="Const"), _element_dtype(value))
    return zeros(emit("VariableShape", handle), _element_dtype(value))


def _element_dtype(handle: Tensor) -> DType:
    held = held_behind(handle)
    if held is None:
        raise InvalidArgumentError(
            f'the type of the variable behind "{handle.name}" is not known, so it can have no gradient'
        )
    return held.element_dtype
