"""Parts of tensors by index and by mask, and values put into them; `tensor[key]` too."""

from __future__ import annotations

import builtins
from typing import Any, TypeGuard

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, IndexLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import OPERATORS, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays import gathering, scatter, slicing
from tensorkeep.ops.shared.indexing import item, static_value
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_to,
    concat,
    expand_dims,
    meshgrid,
    ones,
    rank,
    reshape,
    scope_of,
    shape,
    shape_internal,
    squeeze,
    stack,
    tile,
    transpose,
    unstack,
    where_v2,
    zeros,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.embedding.keys import is_embedding_variable, keys_of

# ---------------------------------------------------------------------------------------------------- Slices


def slice(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """The block of a tensor that begins at `begin` and has sizes `size`; -1 is all that is left."""
    return emit(slicing.slice_op, input_, begin, size, name=name)


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_[begin:end:strides]` along each dimension; bits of the masks say which bounds are left open."""
    if strides is None:
        strides = _ones_like(begin)
    return emit(
        slicing.strided_slice,
        input_,
        begin,
        end,
        strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


def _ones_like(begin: Any) -> Tensor:
    with scope_of(None, "ones_like", begin) as scope:
        tensor = convert(begin, name="tensor")
        return ones(shape_internal(tensor), tensor.dtype, scope)


def getitem(tensor: TensorLike, key: IndexLike) -> Tensor:
    """`tensor[key]`: integers, slices, None, `...`, scalar tensors, or one mask."""
    tensor = convert(tensor)
    if _is_mask(key):
        return boolean_mask(tensor, key)
    return item(tensor, key)


def _is_mask(key: IndexLike) -> TypeGuard[Tensor | Array | bool]:
    if isinstance(key, Tensor):
        return key.dtype.base_dtype is BOOL
    return isinstance(key, bool) or (isinstance(key, np.ndarray) and key.dtype == bool)


OPERATORS["getitem"] = getitem

# ---------------------------------------------------------------------------------------------------- Masks


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str | None = "boolean_mask", axis: int | Tensor | None = None
) -> Tensor:
    """The elements, or rows, where a mask holds."""
    with scope_of(name, "boolean_mask", tensor, mask):
        tensor = convert(tensor, name="tensor")
        mask = convert(mask, name="mask")
        depth = mask.static_shape.rank
        if depth == 0:
            raise InvalidArgumentError("mask cannot be scalar.")
        if depth is None:
            raise InvalidArgumentError(
                "Number of mask dimensions must be specified, even if some dimensions are None. "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = 0 if axis is None else axis
        known = static_value(axis) if isinstance(axis, Tensor) else axis
        whole = tensor.shape
        behind: int | Tensor
        if known is not None:
            axis, behind = int(known), int(known) + depth
            whole[axis:behind].assert_is_compatible_with(mask.static_shape)
        else:
            behind = emit("AddV2", axis, depth, name="add")
        count = emit("Prod", item(shape(tensor), builtins.slice(axis, behind)), [0])
        ahead = item(shape(tensor), builtins.slice(None, axis))
        after = item(shape(tensor), builtins.slice(behind, None))
        flat = reshape(tensor, concat([ahead, [count], after], 0))
        if isinstance(axis, int) and isinstance(behind, int):
            masked = whole[axis:behind].num_elements()
            flat.set_shape(whole[:axis].concatenate([masked]).concatenate(whole[behind:]))
        places = squeeze(where_v2(reshape(mask, [-1])), axis=[1])
        return gather(flat, places, axis=axis)


def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = BOOL, name: str | None = None
) -> Tensor:
    """For each length a row of truth values, of which that many at the beginning are true."""
    with scope_of(name, "SequenceMask", lengths, maxlen):
        lengths = convert(lengths)
        if maxlen is None:
            longest = emit("Max", lengths, _all_dimensions(lengths))
            maxlen = emit("Maximum", constant(0, longest.dtype), longest)
        else:
            maxlen = convert(maxlen)
        if maxlen.static_shape.rank not in (None, 0):
            raise InvalidArgumentError(
                f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen} with shape "
                f"'{maxlen.shape}' instead"
            )
        kind = maxlen.dtype.base_dtype
        row = emit("Range", constant(0, kind), maxlen, constant(1, kind))
        column = emit("Cast", expand_dims(lengths, -1), DstT=kind)
        mask = emit("Less", row, column)
        if dtype is None or DType.of(dtype) is BOOL:
            return mask
        return emit("Cast", mask, DstT=DType.of(dtype))


def _all_dimensions(x: Tensor) -> Tensor:
    known = x.static_shape.rank
    if known is not None:
        return constant(np.arange(known), INT32)
    return emit("Range", 0, rank(x), 1)


def sparse_mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Slices without the rows whose indices are in `mask_indices`."""
    with scope_of(name, "sparse_mask", a, mask_indices) as scope:
        kept, places = gathering.list_diff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), kept, a.dense_shape)


# ---------------------------------------------------------------------------------------------------- Gather


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: int | Tensor | None = None,
    batch_dims: int = 0,
    ev_init_value: TensorLike | None = None,
    counts: TensorLike | None = None,
) -> Tensor:
    """The slices of a tensor along one dimension that indices name.

    DeepRec's last two arguments are for embedding variables: what new keys begin as, and how often each occurred.
    """
    if ev_init_value is not None or counts is not None:
        return _gathered_by_key(params, indices, name, ev_init_value=ev_init_value, counts=counts)
    if axis is None:
        axis = batch_dims
    known = static_value(axis) if isinstance(axis, Tensor) else axis
    if known is None or int(known) != 0:
        return emit(gathering.gather_v2, params, indices, axis, batch_dims=batch_dims, name=name)
    read = getattr(params, "sparse_read", None)
    if read is not None:
        try:
            rows: Tensor = read(indices, name=name)
            return rows
        except AttributeError:
            pass
    return emit(gathering.gather_v2, params, indices, axis, name=name)


def _gathered_by_key(params: Any, indices: Any, name: str | None, **options: Any) -> Tensor:
    if not is_embedding_variable(params):
        said = " and ".join(key for key, value in options.items() if value is not None)
        raise InvalidArgumentError(f"{said}: only the keys of embedding variables have them, not {params}")
    rows: Tensor = params.sparse_read(keys_of(params, indices), name=name, **options)
    return rows


def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    name: str | None = None,
    batch_dims: int | Tensor = 0,
    bad_indices_policy: str = "",
) -> Tensor:
    """The elements, or slices, that rows of coordinates name."""
    known = static_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if known is None or int(known):
        return _batch_gather_nd(params, indices, batch_dims if known is None else int(known), name, bad_indices_policy)
    read = getattr(params, "gather_nd", None) if bad_indices_policy in ("", "DEFAULT") else None
    if read is not None:
        try:
            found: Tensor = read(indices, name=name)
            return found
        except AttributeError:
            pass
    return emit(gathering.gather_nd, params, indices, bad_indices_policy=bad_indices_policy, name=name)


def _check_batch_dims(batch_dims: Any, params: Tensor, indices: Tensor) -> None:
    if not isinstance(batch_dims, int):
        raise WrongTypeError(f"Argument `batch_dims` must be an int; got {batch_dims}")
    for what, tensor in (("indices", indices), ("params", params)):
        known = tensor.static_shape.rank
        if known is not None and not 0 <= batch_dims < known:
            raise InvalidArgumentError(
                f"Argument `batch_dims` = {batch_dims} must be less than rank(`{what}`) = {known}"
            )


def _batch_gather_nd(params: Any, indices: Any, batch_dims: Any, name: str | None, policy: str) -> Tensor:
    with scope_of(name, "BatchGatherND", params, indices):
        indices = convert(indices, name="indices")
        params = convert(params, name="params")
        _check_batch_dims(batch_dims, params, indices)
        params_shape, indices_shape = shape(params), shape(indices)
        batch_shape = item(params_shape, builtins.slice(None, batch_dims))
        batch_size = emit("Prod", batch_shape, [0])
        inner = emit("Sub", emit("Sub", rank(indices), batch_dims, name="sub"), 1, name="sub")
        inner_shape = item(indices_shape, builtins.slice(batch_dims, -1))
        sizes = unstack(batch_shape, axis=0)
        ranges = [
            emit("Cast", emit("Range", 0, emit("Cast", x, DstT=INT32), 1), DstT=indices.dtype.base_dtype) for x in sizes
        ]
        flat = [reshape(x, (-1,)) for x in meshgrid(*ranges, indexing="ij")]
        grid = transpose(stack(flat, axis=0))
        grid_shape = shape(grid)
        ahead = item(grid_shape, builtins.slice(None, 1))
        between = ones(inner, grid_shape.dtype)
        behind = item(grid_shape, builtins.slice(1, None))
        grid = reshape(grid, concat([ahead, between, behind], 0))
        grid = tile(grid, concat(((1,), inner_shape, (1,)), 0))
        flat_shape = concat(([batch_size], item(indices_shape, builtins.slice(batch_dims, None))), 0)
        places = concat((grid, reshape(indices, flat_shape)), -1)
        found = gathering.gather_nd(params, places, bad_indices_policy=policy)
        found_shape = shape(found)
        return reshape(found, concat((batch_shape, item(found_shape, builtins.slice(1, None))), 0))


def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """In each of many tensors, the slices that its own indices name."""
    with scope_of(name, "BatchGather", params, indices):
        indices = convert(indices, name="indices")
        params = convert(params, name="params")
        depth = indices.static_shape.rank
        if depth is None:
            raise InvalidArgumentError("batch_gather does not allow indices with unknown shape.")
        batch_dims = depth - 1
        _check_batch_dims(batch_dims, params, indices)
        indices_shape, params_shape = shape(indices), shape(params)
        flat_places = reshape(_batch_offsets(params_shape, indices, batch_dims), [-1])
        outer = item(params_shape, builtins.slice(batch_dims + 1, None))
        count = emit("Prod", item(params_shape, builtins.slice(None, batch_dims + 1)), [0], keep_dims=False)
        flat = reshape(params, concat([[count], outer], 0))
        result = reshape(gather(flat, flat_places), concat([indices_shape, outer], 0))
        batches = indices.shape[:batch_dims].merge_with(params.shape[:batch_dims])
        rest = TensorShape(indices.shape[batch_dims:]).concatenate(params.shape[batch_dims + 1 :])
        result.set_shape(batches.concatenate(rest))
        return result


def _batch_offsets(params_shape: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """Indices into all tensors laid end to end."""
    dtype = indices.dtype.base_dtype
    depth = indices.static_shape.rank or 0
    step = ones((), dtype)
    sizes = emit("Cast", params_shape, DstT=dtype)
    found = indices
    for dim in range(batch_dims, 0, -1):
        size = item(sizes, dim - 1)
        step = emit("Mul", step, item(sizes, dim), name="mul")
        start, delta = zeros((), dtype), ones((), dtype)
        starts = emit("Mul", emit("Range", start, size, delta), step, name="mul")
        along = stack([1] * (dim - 1) + [size] + [1] * (depth - dim), axis=0)
        found = emit("AddV2", found, reshape(starts, along), name="add")
    return found


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = INT32,
    name: str | None = None,
) -> Tensor:
    """Where values would be put into sorted rows so that these stay sorted."""
    row_size, count = item(shape_internal(sorted_sequence), -1), item(shape_internal(values), -1)
    rows, wanted = reshape(sorted_sequence, [-1, row_size]), reshape(values, [-1, count])
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    bound = gathering.upper_bound if side == "right" else gathering.lower_bound
    found = bound(rows, wanted, out_type=DType.of(out_type), name=name)
    return reshape(found, shape_internal(values))


def repeat(input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each slice of a tensor as often as `repeats` says; without an axis, each element."""
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    if not isinstance(axis, int):
        raise WrongTypeError(f"Argument `axis` must be an int. Received `axis` = {axis} of type {type(axis).__name__}")
    with scope_of(name, "Repeat", input, repeats):
        data = _with_rank(convert(input, name="data"), _integers(repeats, "repeats"))
        return _repeat_elements(*data, axis)


def _integers(values: Any, name: str) -> Tensor:
    tensor = convert(values, name=name, preferred_dtype=INT32)
    if not tensor.dtype.is_integer:
        raise WrongTypeError(f"Argument `tensor` (name: {name}) must be of type integer. Received {tensor}")
    return emit("Cast", tensor, DstT=INT32)


def _with_rank(data: Tensor, repeats: Tensor) -> tuple[Tensor, Tensor]:
    """The data, of rank 1 at least."""
    repeats.shape.with_rank_at_most(1)
    known = data.static_shape.rank
    if known == 0:
        return stack([data]), repeats
    if known is None:
        sizes, count = shape(data), rank(data)
        back = emit("Neg", count)
        return reshape(data, item(concat([[1], sizes], 0), builtins.slice(back, None))), repeats
    return data, repeats


def _positive_axis(axis: int, known: int | None) -> int:
    if known is None:
        if axis < 0:
            raise InvalidArgumentError(f"axis={axis} may only be negative if rank(data) is statically known.")
        return axis
    if not -known <= axis < known:
        raise InvalidArgumentError(f"axis={axis} out of bounds: expected {-known}<=axis<{known}")
    return axis % known


def _repeat_elements(data: Tensor, repeats: Tensor, axis: int) -> Tensor:
    sizes = shape(data, out_type=repeats.dtype)
    axis = _positive_axis(axis, data.static_shape.rank)
    if repeats.static_shape.element_count() == 1:
        repeats = reshape(repeats, [])
        tiled = _tile_one(expand_dims(data, axis + 1), axis + 1, repeats)
        ahead = item(sizes, builtins.slice(None, axis))
        here = emit("Mul", repeats, item(sizes, axis), name="mul")
        behind = item(sizes, builtins.slice(axis + 1, None))
        return reshape(tiled, concat([ahead, [here], behind], 0))
    if repeats.static_shape.rank == 1:
        data.shape[axis].assert_is_compatible_with(repeats.shape[0])
    given = repeats = broadcast_to(repeats, [item(sizes, axis)])
    if repeats.static_shape.rank != axis + 1:
        own, count = shape(repeats), rank(repeats)
        ahead = item(sizes, builtins.slice(None, _before(axis, count)))
        repeats = broadcast_to(repeats, concat([ahead, own], 0))
        repeats.set_shape([None] * (axis + 1))
    longest = emit("Max", repeats, _all_dimensions(repeats))
    longest = emit("Maximum", convert(0, longest.dtype, "zero"), longest)
    mask = sequence_mask(repeats, longest)
    tiled = _tile_one(expand_dims(data, axis + 1), axis + 1, longest)
    result = boolean_mask(tiled, mask)
    if axis:
        total = emit("Sum", given, emit("Range", 0, rank(given), 1))
        ahead, behind = item(sizes, builtins.slice(None, axis)), item(sizes, builtins.slice(axis + 1, None))
        result = reshape(result, concat([ahead, [total], behind], 0))
    if data.static_shape.rank is not None:
        size_here = 0 if repeats.static_shape.dims and repeats.static_shape.dims[0] == 0 else None
        result.set_shape(data.shape[:axis].concatenate([size_here]).concatenate(data.shape[axis + 1 :]))
    return result


def _before(axis: int, count: Tensor) -> Tensor:
    """`axis + 1 - count`."""
    with scope_of(None, "sub", count) as scope:
        return emit("Sub", constant(axis + 1, count.dtype, name="x"), count, name=scope)


def _tile_one(data: Tensor, axis: int, multiple: Tensor) -> Tensor:
    known = data.static_shape.rank
    if known is not None:
        multiples: Any = [1] * known
        multiples[axis] = multiple
        return tile(data, multiples)
    whole = ones(rank(data), INT32)
    ahead, behind = item(whole, builtins.slice(None, axis)), item(whole, builtins.slice(axis + 1, None))
    return tile(data, concat([ahead, [multiple], behind], 0))


# ---------------------------------------------------------------------------------------------------- Scatter


def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: ShapeLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros, with updates added at the coordinates that indices name."""
    return emit(scatter.scatter_nd, indices, updates, shape, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """The tensor with updates at the coordinates that indices name."""
    return emit(scatter.tensor_scatter_update, tensor, indices, updates, name=name)


def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """The tensor with updates added at the coordinates that indices name."""
    return emit(scatter.tensor_scatter_add, tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """The tensor with updates subtracted at the coordinates that indices name."""
    return emit(scatter.tensor_scatter_sub, tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """The tensor with the larger of its elements and updates at the coordinates that indices name."""
    return emit(scatter.tensor_scatter_max, tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """The tensor with the smaller of its elements and updates at the coordinates that indices name."""
    return emit(scatter.tensor_scatter_min, tensor, indices, updates, bad_indices_policy=bad_indices_policy, name=name)


tensor_scatter_update = tensor_scatter_nd_update
tensor_scatter_add = tensor_scatter_nd_add
tensor_scatter_sub = tensor_scatter_nd_sub


__all__ = [
    "batch_gather",
    "boolean_mask",
    "gather",
    "gather_nd",
    "repeat",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "slice",
    "sparse_mask",
    "strided_slice",
    "tensor_scatter_add",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]
