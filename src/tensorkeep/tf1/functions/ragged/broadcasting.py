"""Ragged tensors of different shapes stretched to one, and what Python's operators and element-wise functions do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import reshape, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_sum
from tensorkeep.tf1.functions.ragged.arrays import assert_splits_match, lengths_to_splits, repeat_ranges, tile
from tensorkeep.tf1.functions.ragged.ragged_tensor import (
    RaggedLike,
    RaggedTensor,
    Values,
    as_ragged,
    as_ragged_or_tensor,
    is_ragged,
    match_row_splits,
    nrows,
)
from tensorkeep.tf1.functions.ragged.row_partition import integers


class RaggedShape:
    """The shape of a ragged tensor when it runs.

    Of the dimensions that rows part there is a size each, or a vector of lengths; of the others one vector of sizes.
    """

    def __init__(self, parted: Sequence[Any], inner: Tensor, dtype: DType | None = None) -> None:
        with scope_of(None, "RaggedTensorDynamicShape", *parted, inner):
            sizes = [convert(size, name=f"partitioned_dimension_size_{i}") for i, size in enumerate(parted)]
            rest = convert(inner, name="inner_dim_sizes")
            if any(size.static_shape.rank is None for size in sizes):
                raise InvalidArgumentError("rank of partitioned_dim_sizes is unknown")
            if sizes and sizes[0].static_shape.rank == 1:
                raise InvalidArgumentError("outermost partitioned dimension must be uniform")
            if sizes and sizes[-1].static_shape.rank == 0:
                raise InvalidArgumentError("innermost partitioned dimension must be ragged")
            rest.shape.assert_has_rank(1)
            if dtype is None:
                found = {size.dtype for size in sizes if size.static_shape.rank == 1}
                if len(found) > 1:
                    raise InvalidArgumentError("partitioned_dim_sizes must have matching dtypes")
                dtype = found.pop() if found else INT64
            self.parted: tuple[Tensor, ...] = tuple(cast(size, dtype) for size in sizes)
            self.inner: Tensor = cast(rest, dtype)

    @classmethod
    def of(cls, tensor: Values, dtype: DType | None = None) -> RaggedShape:
        """The shape of a tensor, ragged or not."""
        with scope_of(None, "RaggedTensorDynamicShapeFromTensor", tensor):
            if not isinstance(tensor, RaggedTensor):
                return cls([], shape_of(tensor), dtype)
            parted = (tensor.nrows(), *tensor.nested_row_lengths())
            return cls(parted, shape_of(tensor.flat_values)[1:], dtype)

    @property
    def dtype(self) -> DType:
        return self.inner.dtype

    @property
    def inner_rank(self) -> int:
        known = self.inner.static_shape.with_rank(1)[0]
        if known is None:
            raise InvalidArgumentError("Unable to broadcast: unknown rank")
        return known

    @property
    def rank(self) -> int:
        return len(self.parted) + self.inner_rank

    def size(self, axis: int) -> Tensor:
        return self.parted[axis] if axis < len(self.parted) else self.inner[axis - len(self.parted)]

    def is_ragged(self, axis: int) -> bool:
        return 0 < axis < len(self.parted) and self.parted[axis].static_shape.rank == 1

    def with_rank(self, rank: int) -> RaggedShape:
        more = rank - self.rank
        if more == 0:
            return self
        if self.parted:
            return RaggedShape((*(1,) * more, *self.parted), self.inner, self.dtype)
        return RaggedShape([], shapes.concat([shapes.ones([more], self.dtype), self.inner], axis=0), self.dtype)

    def stretch_axis(self, axis: int, lengths: TensorLike) -> RaggedShape:
        """The shape with one dimension as large as another's; an error when it runs if that cannot be."""
        lengths = integers(lengths, "lengths", self.dtype)
        is_one = lengths.static_shape.rank == 0
        own = None if self.is_ragged(axis) else self.size(axis)
        if own is None:
            fits = equal(lengths, 1) if is_one else reduce_all(equal(lengths, self.size(axis)))
        elif is_one:
            fits = equal(lengths, 1) | equal(own, 1) | equal(own, lengths)
        else:
            fits = equal(own, 1)
        told = ["Unable to broadcast: dimension size mismatch in dimension", axis, "lengths=", lengths]
        told += ["dim_size=", self.size(axis)]
        with control_dependencies([Assert(fits, told, summarize=10)]):
            if axis < len(self.parted):
                if self.is_ragged(axis):
                    return RaggedShape(self.parted, shapes.identity(self.inner), self.dtype)
                return self._stretched_parted(axis, lengths)
            if is_one:
                return self._stretched_inner(axis, lengths)
            if axis == 0:
                raise InvalidArgumentError("Unable to broadcast: outermost dimension must be uniform.")
            at = axis - len(self.parted)
            parted = (*self.parted, *(self.inner[i] for i in range(at)), lengths)
            return RaggedShape(parted, self.inner[at + 1 :])

    def _count(self, axis: int) -> Tensor:
        """How many slices there are of a dimension."""
        if axis < 0:
            return constant(1, self.dtype)
        if self.is_ragged(axis):
            return reduce_sum(self.parted[axis])
        own = self.size(axis)
        return own * self._count(axis - 1)

    def _stretched_parted(self, axis: int, lengths: Tensor) -> RaggedShape:
        own = self.size(axis)
        parted = list(self.parted[:axis])
        if lengths.static_shape.rank == 0:
            lengths = shapes.where(equal(own, 1), lengths, own)
            repeats = shapes.where(equal(own, 1), lengths, 1)
            splits = shapes.stack([0, self._count(axis)])
        else:
            splits = range_of(shapes.size(lengths, out_type=self.dtype) + 1)
            repeats = lengths
        parted.append(lengths)
        for size in self.parted[axis + 1 :]:
            if size.static_shape.rank == 0:
                parted.append(size)
                splits = splits * size
            else:
                parted.append(repeat_ranges(size, splits, repeats))
                splits = slicing.gather(lengths_to_splits(size), splits)
        return RaggedShape(parted, self.inner, self.dtype)

    def _stretched_inner(self, axis: int, length: Tensor) -> RaggedShape:
        own, at = self.size(axis), axis - len(self.parted)
        pieces: list[TensorLike] = [self.inner[:at], [shapes.where(equal(own, 1), length, own)], self.inner[at + 1 :]]
        return RaggedShape(self.parted, shapes.concat(pieces, axis=0), self.dtype)


def broadcast_shapes(x: RaggedShape, y: RaggedShape) -> RaggedShape:
    """The shape that both can be stretched to."""
    rank = max(x.rank, y.rank)
    x, y = x.with_rank(rank), y.with_rank(rank)
    for axis in range(rank):
        x = x.stretch_axis(axis, y.size(axis))
        y = y.stretch_axis(axis, x.size(axis))
    return x


def broadcast_to(tensor: Values, shape: RaggedShape) -> Values:
    """A tensor, ragged or not, with the rows of a shape; the inner dimensions are left to the op."""
    if not shape.parted:
        if isinstance(tensor, RaggedTensor):
            raise InvalidArgumentError("Incompatible with shape: ragged rank mismatch")
        return tensor
    if tensor.shape.rank is None:
        raise InvalidArgumentError("Unable to broadcast: unknown rank")
    source = RaggedShape.of(tensor).with_rank(shape.rank)
    tensor = _with_rows(tensor, shape)
    multiples: list[Any] = [1] * shape.rank
    for axis in range(len(shape.parted)):
        if not source.is_ragged(axis) and not shape.is_ragged(axis):
            mine, wanted = source.size(axis), shape.size(axis)
            if static_value(mine) in (1, None) and static_value(wanted) != 1:
                multiples[axis] = shapes.where(equal(mine, 1), wanted, 1)
    if any(isinstance(count, Tensor) for count in multiples):
        tensor = tile(tensor, shapes.stack(multiples, axis=0))
    for axis in range(len(shape.parted)):
        if not source.is_ragged(axis) and shape.is_ragged(axis):
            tensor = _tiled_axis(tensor, axis, shape.size(axis), shape.dtype)
    return tensor


def _with_rows(tensor: Any, shape: RaggedShape) -> RaggedTensor:
    """The tensor with as many dimensions as the shape, and ragged where that is."""
    if shape.rank > tensor.shape.rank:
        if tensor.shape.rank < shape.inner_rank + 1:
            tensor = reshape(tensor, shapes.concat([[-1], shape.inner], axis=0))
        for _ in range(shape.rank - tensor.shape.rank):
            count = tensor.nrows() if isinstance(tensor, RaggedTensor) else nrows(tensor, shape.dtype)
            tensor = RaggedTensor.from_row_lengths(tensor, [count], validate=False)
    if not isinstance(tensor, RaggedTensor):
        return RaggedTensor.from_tensor(tensor, ragged_rank=len(shape.parted) - 1, row_splits_dtype=shape.dtype)
    deeper = (tensor.flat_values.static_shape.rank or 0) - 1 - shape.inner_rank
    if deeper > 0:
        flat = RaggedTensor.from_tensor(tensor.flat_values, ragged_rank=deeper, row_splits_dtype=shape.dtype)
        tensor = tensor.with_flat_values(flat)
    return as_ragged(tensor)


def _tiled_axis(tensor: Values, axis: int, repeats: Tensor, dtype: DType) -> RaggedTensor:
    """Each row as often as `repeats` says."""
    if not isinstance(tensor, RaggedTensor):
        tensor = RaggedTensor.from_tensor(tensor, ragged_rank=1, row_splits_dtype=dtype)
    if axis > 1:
        return tensor.with_values(_tiled_axis(tensor.values, axis - 1, repeats, dtype))
    nested, lengths = tensor.nested_row_splits, tensor.nested_row_lengths()
    splits = nested[0]
    found = [repeats]
    for i in range(1, len(lengths)):
        found.append(repeat_ranges(lengths[i], splits, repeats))
        splits = slicing.gather(nested[i], splits)
    values = repeat_ranges(tensor.flat_values, splits, repeats)
    return RaggedTensor.from_nested_row_lengths(values, found, validate=False)


# ------------------------------------------------------------------------------------------------- Element-wise


def unary(op: Callable[..., Any], x: RaggedLike, *args: object, **kwargs: object) -> RaggedTensor:
    """An element-wise function of one ragged tensor."""
    rows = as_ragged(x)
    values = rows.values
    inner = unary(op, values, *args, **kwargs) if isinstance(values, RaggedTensor) else op(values, *args, **kwargs)
    return rows.with_values(inner)


def binary(op: Callable[..., Any], x: RaggedLike, y: RaggedLike, *args: object, **kwargs: object) -> RaggedTensor:
    """An element-wise function of two tensors, of which one or both are ragged."""
    is_x, is_y = is_ragged(x), is_ragged(y)
    x = as_ragged_or_tensor(x, preferred_dtype=y.dtype if isinstance(y, RaggedTensor) else None)
    y = as_ragged_or_tensor(y, preferred_dtype=x.dtype)
    if _need_stretching(x, y, is_x, is_y):
        dtype = match_row_splits(x, y)
        shape = broadcast_shapes(RaggedShape.of(x, dtype), RaggedShape.of(y, dtype))
        x, y = broadcast_to(x, shape), broadcast_to(y, shape)
    checks = []
    if isinstance(x, RaggedTensor) and isinstance(y, RaggedTensor):
        checks = assert_splits_match([x.nested_row_splits, y.nested_row_splits])
    with control_dependencies(checks):
        flat = (part.flat_values if isinstance(part, RaggedTensor) else part for part in (x, y))
        result = op(*flat, *args, **kwargs)
    return as_ragged(x if isinstance(x, RaggedTensor) else y).with_flat_values(result)


def _need_stretching(x: Any, y: Any, is_x: bool, is_y: bool) -> bool:
    if is_x and is_y:
        return True
    ragged, dense = (x, y) if is_x else (y, x)
    inner, rank = ragged.flat_values.static_shape.rank, dense.static_shape.rank
    if inner is None or rank is None:
        raise InvalidArgumentError("Unable to broadcast: unknown rank")
    return bool(inner <= rank)
