"""What `array_ops`, `math_ops`, `nn_ops` and `control_flow_ops` of TensorFlow have besides the names of `tf`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, IndexLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.composites import IndexedSlices, SparseTensor, is_composite
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import rank, shape, size
from tensorkeep.tf1.functions.arrays.slicing import getitem
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.flow_gradients import merge_values, switch_value
from tensorkeep.tf1.functions.data import summaries
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.v1.framework import convert_to_tensor


def rank_internal(input: TensorLike, name: str | None = None, optimize: bool = True) -> Tensor:
    """The rank of a tensor, as a constant where it is known."""
    return rank(input, name)


def size_internal(
    input: TensorLike, name: str | None = None, optimize: bool = True, out_type: DTypeLike = INT32
) -> Tensor:
    """How many elements a tensor has, as a constant where that is known."""
    return size(input, name, DType.of(out_type))


def slice_tensor(tensor: TensorLike, slice_spec: IndexLike, var: object = None) -> Tensor:
    """The part of a tensor that `tensor[slice_spec]` gives."""
    return getitem(tensor, slice_spec)


def autopacking_conversion(
    v: Sequence[Any], dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """The tensor of a list of tensors and numbers."""
    return convert_to_tensor(v, dtype, name)


def reduction_dims(x: TensorLike, axis: AxisLike, reduction_indices: AxisLike = None) -> AxisLike:
    """The axes of a reduction: those given, else all of them."""
    given = reduction_indices if axis is None else axis
    if given is not None:
        return given
    known = convert_to_tensor(x).static_shape.rank
    return number_range(0, rank(x)) if known is None else constant(list(range(known)), INT32)


def reduced_shape(input_shape: TensorLike, axes: TensorLike) -> Tensor:
    """The shape of what a reduction over some axes keeps, with ones in the places of these axes."""
    sizes, chosen = cast(input_shape, INT32), cast(axes, INT32)
    count = size(sizes)
    chosen = (chosen + count) % count
    ones = emit("Fill", shape(chosen), constant(1, INT32))
    return emit("DynamicStitch", [number_range(count), chosen], [sizes, ones])


def batch_matmul(
    x: TensorLike, y: TensorLike, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Tensor:
    """The products of two stacks of matrices."""
    return emit("BatchMatMulV2", x, y, adj_x=adj_x, adj_y=adj_y, name=name)


def tensor_equals(x: object, y: object) -> bool:
    """What `==` of tensors is in TensorFlow 1: whether they are one and the same."""
    return x is y


def noise_shape_of(x: Tensor, noise_shape: ShapeLike) -> ShapeLike:
    """The shape of a dropout's noise: the given one, with the sizes of `x` where it has None."""
    if noise_shape is None:
        return shape(x)
    known = x.static_shape.dims
    if not isinstance(noise_shape, list | tuple) or known is None or len(known) != len(noise_shape):
        return noise_shape
    return [size if size is not None else mine for size, mine in zip(noise_shape, known, strict=True)]


class Switch(NamedTuple):
    """A value where a condition is false, and where it is true: one of the two is there."""

    output_false: Any
    output_true: Any


class Merge(NamedTuple):
    """Whichever of some values is there, and which of them that is."""

    output: Any
    value_index: Tensor


def switch(
    data: TensorLike | IndexedSlices | SparseTensor,
    pred: Tensor,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Switch:
    """The op Switch: two tensors. The first has the value if the condition is false, the second if it is true."""
    value: Any = data if is_composite(data) else convert_to_tensor(data, dtype)
    return Switch(*switch_value(value, pred, name or "Switch"))


def merge(inputs: Sequence[Any], name: str | None = None) -> Merge:
    """The op Merge: whichever of the values is there, and its place among them. If one is of slices, all become it."""
    if any(value is None for value in inputs):
        raise InvalidArgumentError(f"None of the values to merge may be None: {inputs!r}")
    values = [value if is_composite(value) else convert_to_tensor(value) for value in inputs]
    return Merge(*merge_values(values, name or "Merge"))


def variable_op_v2(
    shape: ShapeLike, dtype: DTypeLike, name: str = "Variable", container: str = "", shared_name: str = ""
) -> Tensor:
    """The node of a variable without anything that initializes it."""
    return emit(
        "VariableV2", shape=shape, dtype=DType.of(dtype), container=container, shared_name=shared_name, name=name
    )


variable_op = variable_op_v2


def skip_summary() -> bool:
    """Whether summaries are left out, as in all replicas but the first: never."""
    return False


def summary_scope(
    name: str, family: str | None = None, default_name: str | None = None, values: Sequence[Any] | None = None
) -> AbstractContextManager[tuple[str, str]]:
    """The tag of a summary, and the scope that its operation is made in."""
    return summaries.summary_scope(name, family, values[0] if values else None, default_name)
