"""Branches and loops as nodes: what a switch lets through, a merge takes up, and a frame keeps apart.

A Switch sends its data to one of its outputs; what hangs on the other one is dead. A Merge passes on whichever input is
not dead. A loop is a frame: Enter brings values in, NextIteration carries them to the next round, Exit lets the last
ones out; LoopCond is what the loop's switches ask. These nodes have no kernels: the compiler reads them as structure.

Their gradients add nodes to the branch or loop that undoes the forward one, and stand with these, in
`functions.control_flow_gradients`.
"""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import AbortedError, InvalidArgumentError
from tensorkeep.graph.graph import HandleShape, Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import of_rank
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR, same
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape


def _both(data: Tensor, pred: Tensor) -> tuple[Shape, Shape]:
    of_rank(pred.static_shape, 0)
    return data.static_shape, data.static_shape


switch = op("Switch(data: T, pred: bool) -> output_false: T, output_true: T", "T: type")
switch.shape(_both)

ref_switch = op(
    "RefSwitch(data: Ref(T), pred: bool) -> output_false: Ref(T), output_true: Ref(T)",
    "T: type",
    "allows_uninitialized_input",
)
ref_switch.shape(_both)

switch_n = op("_SwitchN(data: T, output_index: int32) -> outputs: num_outs * T", "num_outs: int >= 1", "T: type")


@switch_n.shape
def switch_n_shape(data: Tensor, output_index: Tensor, *, num_outs: int) -> list[Shape]:
    return [data.static_shape] * num_outs


def _merged_shapes(inputs: list[Tensor]) -> tuple[Shape, Shape]:
    """What all inputs agree on. A resource is known by what it leads to, which the first input tells."""
    first = inputs[0].static_shape
    if isinstance(first, HandleShape):
        return first, SCALAR
    dims = first.dims
    for tensor in inputs[1:]:
        other = tensor.static_shape.dims
        if dims is None or other is None or len(other) != len(dims):
            return UNKNOWN_SHAPE, SCALAR
        dims = tuple(a if a == b else None for a, b in zip(dims, other, strict=True))
    return Shape(dims), SCALAR


merge = op("Merge(inputs: N * T) -> output: T, value_index: int32", "T: type", "N: int >= 1")
merge.shape(_merged_shapes)

ref_merge = op("RefMerge(inputs: Ref(N * T)) -> output: Ref(T), value_index: int32", "T: type", "N: int >= 1")
ref_merge.shape(_merged_shapes)


def _entered_shape(data: Tensor, *, is_constant: bool) -> Shape:
    """The shape of a value that enters a loop: its own if it stays the same in all rounds, or is a handle; else
    unknown, for the builder of the loop to state.
    """
    shape = data.static_shape
    return shape if is_constant or isinstance(shape, HandleShape) else UNKNOWN_SHAPE


enter = op(
    "Enter(data: T) -> output: T",
    "T: type",
    "frame_name: string",
    "is_constant: bool = false",
    "parallel_iterations: int = 10",
)
enter.shape(_entered_shape)

ref_enter = op(
    "RefEnter(data: Ref(T)) -> output: Ref(T)",
    "T: type",
    "frame_name: string",
    "is_constant: bool = false",
    "parallel_iterations: int = 10",
)
ref_enter.shape(same)

exit = op("Exit(data: T) -> output: T", "T: type")
exit.shape(same)

ref_exit = op("RefExit(data: Ref(T)) -> output: Ref(T)", "T: type")
ref_exit.shape(same)

next_iteration = op("NextIteration(data: T) -> output: T", "T: type")
next_iteration.shape(same)

ref_next_iteration = op("RefNextIteration(data: Ref(T)) -> output: Ref(T)", "T: type")
ref_next_iteration.shape(same)

loop_cond = op("LoopCond(input: bool) -> output: bool")


@loop_cond.shape
def loop_cond_shape(input: Tensor) -> Shape:
    of_rank(input.static_shape, 0)
    return SCALAR


ref_identity = op("RefIdentity(input: Ref(T)) -> output: Ref(T)", "T: type", "allows_uninitialized_input")
ref_identity.shape(same)


@ref_identity.kernel
def ref_identity_kernel(input: Handle) -> Handle:
    return input


@ref_identity.gradient
def ref_identity_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy


ref_select = op("RefSelect(index: int32, inputs: Ref(N * T)) -> output: Ref(T)", "T: type", "N: int >= 1")
not_differentiable(ref_select)


@ref_select.shape
def ref_select_shape(index: Tensor, inputs: list[Tensor]) -> Shape:
    of_rank(index.static_shape, 0)
    first = inputs[0].static_shape
    if not first.is_fully_known:
        return UNKNOWN_SHAPE
    return first if all(tensor.static_shape.dims == first.dims for tensor in inputs) else UNKNOWN_SHAPE


@ref_select.kernel
def ref_select_kernel(index: Array, inputs: list[Any]) -> Handle:
    at = int(index)
    if not 0 <= at < len(inputs):
        raise InvalidArgumentError(f"Index must be in the range [0, {len(inputs)}) but got {at}")
    return inputs[at]


abort = op("Abort()", "error_msg: string = ''", "exit_without_error: bool = false")


@abort.kernel
def abort_kernel(*, error_msg: bytes) -> None:
    raise AbortedError(error_msg.decode(errors="replace") or "the graph asked to end the process")
