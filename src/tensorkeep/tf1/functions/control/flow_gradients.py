"""Gradients of branches and loops.

The gradient of a `cond` is a `cond` that sends gradients back the way the values came: a Merge for a Switch, a Switch
for a Merge. The gradient of a loop is a loop: an Enter for an Exit, an Exit for an Enter. What enters a loop and stays
the same in all rounds has the sum of the rounds' gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, RESOURCE
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import colocate_with, name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.control.control_flow import (
    enter,
    exit,
    loop_cond,
    merge,
    next_iteration,
    ref_enter,
    ref_exit,
    ref_merge,
    ref_next_iteration,
    ref_switch,
    switch,
)
from tensorkeep.ops.shared.expressions import cast, concat, first_size, span, zeros
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.contexts import (
    CondContext,
    WhileContext,
    announce,
    close_loop,
    context_of,
    current_context,
    enter_tensor,
    exit_tensor,
    inside_context,
    next_iteration_of,
    output_context,
    outside_context,
    switch_tensor,
    while_context,
    while_context_of,
)
from tensorkeep.tf1.functions.gradients.gradient_loops import GradientLoop, is_of_table, shape_node, source_of_handle
from tensorkeep.tf1.functions.structures import assert_same_structure, flatten, map_structure, pack_sequence_as

# ---------------------------------------------------------------------------------------------------- Composites


def as_slices(value: Tensor | IndexedSlices, optimize: bool = True) -> IndexedSlices:
    """A dense gradient as slices: all of its rows."""
    if isinstance(value, IndexedSlices):
        return value
    known = value.static_shape
    if optimize and known.is_fully_known:
        shape = constant(np.array(known.as_tuple(), np.int32), name="Shape")
    else:
        shape = shape_node(value)
    return IndexedSlices(value, span(0, first_size(shape)), shape)


def as_slices_alike(values: Sequence[Any], optimize: bool = True) -> list[IndexedSlices]:
    """All values as slices, with indices of one type."""
    slices = [as_slices(value, optimize) for value in values]
    if len({item.indices.dtype.base_dtype for item in slices}) == 1:
        return slices
    return [IndexedSlices(item.values, cast(item.indices, INT64), item.dense_shape) for item in slices]


def merge_values(values: Sequence[Any], name: str = "Merge") -> tuple[Any, Tensor]:
    """Whichever of the values is not dead, and its place among them. If one is of slices, all are."""
    if all(isinstance(value, Tensor) for value in values):
        output, index = merge(values, name=name)
        return output, index
    with name_scope(name):
        alike = values
        if all(isinstance(value, Tensor | IndexedSlices) for value in values):
            alike = as_slices_alike(values, optimize=False)
        for other in alike[1:]:
            assert_same_structure(alike[0], other, expand_composites=True)
        columns = zip(*(flatten(item, expand_composites=True) for item in alike), strict=True)
        merged = [merge(column) for column in columns]
        return pack_sequence_as(alike[0], [pair[0] for pair in merged], expand_composites=True), merged[0][1]


def switch_value(value: Tensor | IndexedSlices | SparseTensor, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    """Both ways that a value may go, one of them dead."""
    if isinstance(value, Tensor):
        return switch_tensor(value, pred, name)
    with colocate_with(value, ignore_existing=True):
        return _switch_parts(value, pred, name)


def _switch_parts(value: Any, pred: Tensor, name: str = "Switch") -> tuple[Any, Any]:
    with name_scope(name):
        pairs = [switch(part, pred) for part in flatten(value, expand_composites=True)]
        off, on = (pack_sequence_as(value, [pair[way] for pair in pairs], expand_composites=True) for way in (0, 1))
        return off, on


# ---------------------------------------------------------------------------------------------------- Rules


def _loop_in_force(op: Operation) -> GradientLoop | None:
    context = current_context(op.graph)
    state = None if context is None else context.gradient_state
    assert state is None or isinstance(state, GradientLoop)
    return state


@switch.gradient
@ref_switch.gradient
def switch_gradient(op: Operation, *grads: Tensor | IndexedSlices | None) -> tuple[Tensor | IndexedSlices | None, None]:
    """A merge. The switch at the head of a loop is visited twice: for what leaves, then for what goes round."""
    context = context_of(op)
    if isinstance(context, WhileContext):
        loop = _loop_in_force(op)
        assert loop is not None
        head = loop.switches.get(op)
        if head is not None:
            if grads[1] is not None:
                _add_back_edge(head, grads[1])
            return None, None
        if grads[0] is None:
            return None, None
        head = loop.switches[op] = merge_values([grads[0], grads[0]], "b_switch")[0]
        return head, None
    if isinstance(context, CondContext):
        if grads[1 - context.branch] is None:
            if op.inputs[0].dtype is RESOURCE:
                return merge_values([grads[context.branch]] * 2, "cond_resource_grad")[0], None
            return None, None
        return merge_values(grads, "cond_grad")[0], None
    off = _plain_switched(grads[0], op.inputs[1])[0]
    on = _plain_switched(grads[1], op.inputs[1])[1]
    return merge_values([off, on])[0], None


def _plain_switched(value: Any, pred: Tensor) -> Any:
    return switch(value, pred) if isinstance(value, Tensor) else _switch_parts(value, pred)


def _add_back_edge(head: Any, value: Any) -> None:
    if isinstance(head, IndexedSlices):
        value = as_slices(value, optimize=False)
    elif isinstance(head, Tensor):
        value = convert(value)
    following = map_structure(next_iteration_of, value, expand_composites=True)
    for part, tensor in zip(flatten(head, True), flatten(following, True), strict=True):
        close_loop(part, tensor)


@merge.gradient
@ref_merge.gradient
def merge_gradient(
    op: Operation, grad: Tensor | IndexedSlices, _: Tensor | None
) -> Sequence[Tensor | IndexedSlices | None]:
    """A switch, by what decided which input there was."""
    context = output_context(op.inputs[0].op)
    in_force = current_context(op.graph)
    if isinstance(context, WhileContext):
        assert isinstance(in_force, WhileContext)
        return switch_value(grad, in_force.pivot)
    if isinstance(context, CondContext):
        pred = context.pred
        loop = _loop_in_force(op)
        if loop is not None:
            pred = _predicate(loop, pred)
        return switch_value(grad, pred, "cond_grad")
    chosen = [emit("Equal", op.outputs[1], i, name="Equal") for i in range(len(op.inputs))]
    return [switch_value(grad, pred)[1] for pred in chosen]


def _predicate(loop: GradientLoop, pred: Tensor) -> Tensor:
    """What a predicate in the forward loop was."""
    found = loop.history.get(pred.name)
    if found is None:
        with outside_context(loop.context):
            stack = loop.remember(pred)
        found = loop.history[pred.name] = loop.recall(stack, pred)
    return found


@exit.gradient
@ref_exit.gradient
def exit_gradient(op: Operation, grad: Tensor | IndexedSlices) -> Tensor | IndexedSlices | None:
    """An Enter of the gradient's loop."""
    forward = while_context_of(op)
    context = while_context(current_context(op.graph))
    if context is None or not context.back_prop:
        return None
    if forward is not None and forward.gradient_state is not None:
        raise WrongTypeError("Second-order gradient for while loops not supported.")
    context.values.update(tensor.name for tensor in flatten(grad, expand_composites=True))
    with inside_context(context):
        if isinstance(grad, Tensor):
            inside: Tensor | IndexedSlices = enter_tensor(grad, context, name="b_exit")
        else:
            inside = map_structure(lambda part: enter_tensor(part, context), grad, expand_composites=True)
    context.loop_enters.extend(flatten(inside, expand_composites=True))
    return inside


@next_iteration.gradient
@ref_next_iteration.gradient
def next_iteration_gradient(op: Operation, grad: Tensor | IndexedSlices) -> Tensor | IndexedSlices:
    """Nothing to do: the gradient's own NextIteration is made where the loop's switch is undone."""
    return grad


@enter.gradient
@ref_enter.gradient
def enter_gradient(op: Operation, grad: Tensor | IndexedSlices) -> Tensor | IndexedSlices:
    """An Exit; for a value that stays the same in all rounds, of the sum over them."""
    context = current_context(op.graph)
    if context is None or not context.back_prop or context.gradient_state is None:
        return grad
    assert isinstance(context, WhileContext)
    if op.attr("is_constant"):
        if isinstance(grad, IndexedSlices):
            return _accumulated_slices(context, op, grad)
        return _accumulate_gradient(context, op, grad)
    result: Tensor | IndexedSlices = map_structure(exit_tensor, grad, expand_composites=True)
    exits = flatten(result, expand_composites=True)
    context.loop_exits.extend(exits)
    announce(context, exits)
    return result


@loop_cond.gradient
def loop_cond_gradient(op: Operation, *_: Tensor | None) -> None:
    return None


def _accumulate_gradient(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """The sum of a gradient over all rounds.

    acc = 0; while pivot: acc += grad
    """
    with outside_context(context):
        start = _start_of_sum(context, op, grad)
    context.values.add(start.name)
    inside = enter_tensor(start, context, name="b_acc")
    context.loop_enters.append(inside)
    head = merge([inside, inside], name="b_acc")[0]
    off, on = switch(head, context.pivot)
    close_loop(head, next_iteration_of(emit("AddV2", on, grad, name="Add")))
    result = exit_tensor(off, name="b_acc")
    context.loop_exits.append(result)
    announce(context, [result])
    return result


def _start_of_sum(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """Zeros of the right shape, which matters if there are no rounds."""
    dtype = grad.dtype.base_dtype
    outer_context = context.outer_context
    if grad.static_shape.is_fully_known:
        with inside_context(outer_context):
            return constant(0, dtype, shape=grad.static_shape, name="b_acc")
    value = op.inputs[0]
    if isinstance(outer_context, WhileContext) and outer_context.gradient_state is not None:
        loop = context.gradient_state
        assert isinstance(loop, GradientLoop)
        outer = loop.outer
        assert outer is not None
        with inside_context(loop.forward_context.outer_context):
            sizes = shape_node(value)
        history = outer.remember(sizes)
        with inside_context(outer_context):
            return zeros(outer.recall(history, sizes), dtype)
    with inside_context(outer_context):
        return zeros(shape_node(value), dtype)


def _accumulated_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """The slices of all rounds, one after the other, behind a first one of zeros."""
    with outside_context(context):
        starts = _start_of_slices(context, op, grad)
    context.values.update(start.name for start in starts)
    insides = [enter_tensor(start, context, use_input_shape=False, name="b_acc") for start in starts]
    insides[0].set_shape(Shape((None,)))
    dims = starts[1].static_shape.dims
    if dims is not None:
        insides[1].set_shape(Shape((None, *dims[1:])))
    context.loop_enters.extend(insides)
    heads = [merge([inside, inside], name="b_acc")[0] for inside in insides]
    switches = [switch(head, context.pivot) for head in heads]
    sums = [concat([on, new]) for (_, on), new in zip(switches[:2], (grad.indices, grad.values), strict=True)]
    if grad.dense_shape is not None:
        sums.append(emit("Maximum", grad.dense_shape, switches[2][1], name="Maximum"))
    followings = [next_iteration_of(total) for total in sums]
    for head, following in zip(heads, followings, strict=True):
        close_loop(head, following)
    exits = [exit_tensor(off, name="b_acc") for off, _ in switches]
    context.loop_exits.extend(exits)
    announce(context, exits)
    return IndexedSlices(exits[1], exits[0], exits[2] if grad.dense_shape is not None else None)


def _start_of_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> list[Tensor]:
    outer_context = context.outer_context
    values, dense_shape = grad.values, grad.dense_shape
    with inside_context(outer_context):
        known = values.static_shape
        if known.is_fully_known:
            start = constant(0, values.dtype, shape=Shape((1, *(known.dims or ())[1:])), name="b_acc")
        else:
            start = zeros(concat([[1], _row_shape(op.inputs[0])]), values.dtype.base_dtype)
        starts = [constant([0], grad.indices.dtype), start]
        if dense_shape is not None:
            if dense_shape.static_shape.is_fully_known:
                starts.append(constant(0, dense_shape.dtype, shape=dense_shape.static_shape))
            else:
                sizes = emit("Shape", op.inputs[0], out_type=dense_shape.dtype.base_dtype, name="Shape")
                starts.append(emit("ZerosLike", sizes, name="zeros_like"))
    return starts


def _row_shape(value: Tensor) -> Any:
    """The sizes of a row of a tensor, or of the variable behind a handle."""
    if value.dtype is RESOURCE:
        shape: Shape = source_of_handle(value).get_attr("shape")
        return np.array(shape.as_tuple()[0 if is_of_table(value) else 1 :], np.int32)
    sizes = shape_node(value)
    with name_scope("strided_slice") as scope:
        ends = [constant([at], name="stack") for at in (1, 0, 1)]
        return emit("StridedSlice", sizes, *ends, end_mask=1, name=scope)
