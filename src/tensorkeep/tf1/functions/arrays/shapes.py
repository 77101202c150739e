"""Shapes, joins, orders and fillings of tensors, under the names that TensorFlow 1 gives them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Final, NamedTuple, TypeGuard, TypeVar, overload

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64, STRING, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import chosen_name, graph_of, name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.graph.tensor_shape import Dimension, TensorShape, plain_shape
from tensorkeep.ops.arrays import constants, gathering, joining, ordering, padding, shapes
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.constants import constant

newaxis: Final = None

_Given = TypeVar("_Given")
_Composite = TypeVar("_Composite", IndexedSlices, SparseTensor)

_SMALL: Final = 1000  # elements; fewer zeros or ones are a constant, more are filled in when the graph runs


def scope_of(name: str | None, default: str, *values: object) -> name_scope:
    """The name scope of a function: `name`, or its default name, in the graph of its arguments."""
    return name_scope(chosen_name(name, default), graph_of(values))


def either(new: str, new_value: _Given, old: str, old_value: _Given) -> _Given:
    """The value of an argument that may be given by its old name instead. Giving both is an error."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise InvalidArgumentError(f"Cannot specify both '{old}' and '{new}'.")
    return old_value


def of_one(spec: OpSpec, doc: str) -> Callable[..., Tensor]:
    """The Python function of an op that has one input and no attributes."""

    def function(input: Any, name: str | None = None) -> Tensor:
        return emit(spec, input, name=name)

    function.__doc__ = doc
    return function


# ---------------------------------------------------------------------------------------------------- Sources


def placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Tensor:
    """A tensor that must be fed."""
    return emit(constants.placeholder, dtype=DType.of(dtype).base_dtype, shape=plain_shape(shape), name=name)


def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor that may be fed, and is `input` otherwise."""
    return emit(constants.placeholder_with_default, input, shape=plain_shape(shape), name=name)


def sparse_placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor that must be fed."""

    def named(part: str) -> str | None:
        return None if name is None else f"{name}/{part}"

    if shape is None:
        rank_: int | None = None
        dense_shape = placeholder(INT64, [None], named("shape"))
        told = UNKNOWN_SHAPE
    else:
        told = constant_shape(shape) if isinstance(shape, Tensor) else plain_shape(shape)
        if not isinstance(shape, Tensor):
            sizes = [-1 if size is None else size for size in told.dims or ()]
            shape = convert(np.array(sizes, np.int64), INT64, named("shape_default"))
        rank_ = shape.static_shape[0]
        dense_shape = placeholder_with_default(shape, shape.static_shape, named("shape"))
    values = placeholder(dtype, [None], named("values"))
    made = SparseTensor(placeholder(INT64, [None, rank_], named("indices")), values, dense_shape)
    made.set_shape(told)
    return made


@overload
def identity(input: _Composite, name: str | None = None) -> _Composite: ...  # type: ignore[overload-overlap]
@overload
def identity(input: TensorLike, name: str | None = None) -> Tensor: ...
def identity(input: TensorLike, name: str | None = None) -> Tensor | IndexedSlices | SparseTensor:
    """The same value as another tensor."""
    return _each(constants.identity, input, name)


def identity_n(input: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """The same values as other tensors."""
    return list(constants.identity_n(input, name=name))


@overload
def stop_gradient(input: _Composite, name: str | None = None) -> _Composite: ...  # type: ignore[overload-overlap]
@overload
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor: ...
def stop_gradient(input: TensorLike, name: str | None = None) -> Tensor | IndexedSlices | SparseTensor:
    """The same value, through which no gradient flows."""
    return _each(constants.stop_gradient, input, name)


def _each(spec: OpSpec, value: TensorLike, name: str | None) -> Tensor | IndexedSlices | SparseTensor:
    """An op of one input applied to a tensor, or to every tensor that a value is made of."""
    if isinstance(value, IndexedSlices):
        values, indices = emit(spec, value.values), emit(spec, value.indices)
        return IndexedSlices(values, indices, None if value.dense_shape is None else emit(spec, value.dense_shape))
    if isinstance(value, SparseTensor):
        return SparseTensor(spec(value.indices), spec(value.values), spec(value.dense_shape))
    return emit(spec, value, name=name)


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """The tensor itself, with the promise that it is the same in every run."""
    return emit(shapes.guarantee_const, input, name=name)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """The same value, which must not have NaN or infinities."""
    return emit(shapes.check_numerics, tensor, message=message, name=name)


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same value, which must have that shape."""
    return emit(shapes.ensure_shape, x, shape=plain_shape(shape), name=name)


# ---------------------------------------------------------------------------------------------------- Sizes


def shape(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """The sizes of a tensor: a constant if they are known."""
    return shape_internal(input, name, out_type=INT32 if out_type is None else DType.of(out_type))


def shape_internal(
    input: TensorLike, name: str | None = None, optimize: bool = True, out_type: DType | None = None
) -> Tensor:
    """As `shape`; without a type, the sizes are what a static shape becomes as a tensor."""
    with scope_of(name, "Shape", input) as scope:
        if _is_sparse(input):
            return emit("Cast", input.dense_shape, DstT=out_type or INT32)
        tensor = convert(input)
        known = tensor.static_shape
        if optimize and known.is_fully_known:
            sizes = known.as_tuple()
            if out_type is None:
                return convert(Shape(sizes))
            return constant(np.array(sizes, out_type.array_dtype), out_type, name=scope)
        return emit(shapes.shape, tensor, out_type=out_type or INT32, name=scope)


def _is_sparse(value: object) -> TypeGuard[SparseTensor]:
    return isinstance(value, SparseTensor) or (hasattr(value, "dense_shape") and hasattr(value, "indices"))


def shape_n(input: Sequence[TensorLike], out_type: DTypeLike = INT32, name: str | None = None) -> list[Tensor]:
    """The sizes of several tensors."""
    return list(shapes.shape_n(input, out_type=DType.of(out_type), name=name))


def size(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """The number of elements: a constant if it is known."""
    dtype = INT32 if out_type is None else DType.of(out_type)
    with scope_of(name, "Size", input) as scope:
        if _is_sparse(input):
            sizes = emit("Cast", input.dense_shape, DstT=dtype)
            return emit("Prod", sizes, 0, name=scope)
        tensor = convert(input)
        count = tensor.static_shape.element_count()
        if count is not None:
            return constant(count, dtype, name=scope)
        return emit(shapes.size, tensor, out_type=dtype, name=scope)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions: a constant if it is known."""
    with scope_of(name, "Rank", input) as scope:
        if _is_sparse(input):
            return emit(shapes.size, input.dense_shape, name=scope)
        tensor = convert(input)
        known = tensor.static_shape.rank
        if known is not None:
            return constant(known, INT32, name=scope)
        return emit(shapes.rank, tensor, name=scope)


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """The shape of an element-wise result of two, as far as it is known."""
    first, second = plain_shape(shape_x), plain_shape(shape_y)
    if first.dims is None or second.dims is None:
        return TensorShape(None)
    try:
        return TensorShape(first.broadcast(second))
    except InvalidArgumentError:
        raise InvalidArgumentError(
            "Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are "
            f"either equal or one of them is 1. Received: {shape_x} and {shape_y}."
        ) from None


def broadcast_dynamic_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> Tensor:
    """The sizes of an element-wise result of two, found when the graph runs."""
    return emit(shapes.broadcast_args, shape_x, shape_y)


# ---------------------------------------------------------------------------------------------------- Other shapes


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The elements in another shape; one size may be -1."""
    return emit(shapes.reshape_op, tensor, shape, name=name)


def expand_dims(input: TensorLike, axis: AxisLike = None, name: str | None = None, dim: AxisLike = None) -> Tensor:
    """The tensor with one more dimension, of size 1."""
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise InvalidArgumentError("Must specify an axis argument to tf.expand_dims()")
    return emit(shapes.expand_dims, input, axis, name=name)


def squeeze(input: TensorLike, axis: AxisLike = None, name: str | None = None, squeeze_dims: AxisLike = None) -> Tensor:
    """The tensor without dimensions of size 1: those named, or all."""
    axis = either("axis", axis, "squeeze_dims", squeeze_dims)
    axes = [axis] if np.isscalar(axis) else axis
    return emit(shapes.squeeze, input, squeeze_dims=axes, name=name)


def bitcast(input: TensorLike, type: DTypeLike, name: str | None = None) -> Tensor:
    """The bits of a tensor as those of another type."""
    return emit(shapes.bitcast, input, type=DType.of(type), name=name)


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The tensor stretched to a shape."""
    return emit(shapes.broadcast_to, input, shape, name=name)


def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """The tensor repeated along each of its dimensions."""
    return emit(shapes.tile, input, multiples, name=name)


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """The tensor with zeros, a value, or its own mirror image around it."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if _is_zero(constant_values):
            result = emit(padding.pad, tensor, paddings, name=name)
        else:
            result = emit(padding.pad_v2, tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = emit(padding.mirror_pad, tensor, paddings, mode=mode, name=name)
    else:
        raise InvalidArgumentError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    if not result.static_shape.is_fully_known:
        result.set_shape(_padded_shape(result.op.inputs[0].static_shape, paddings))
    return result


def _is_zero(value: Any) -> bool:
    return not hasattr(value, "graph") and np.ndim(value) == 0 and bool(value == np.zeros_like(value))


def _padded_shape(known: Shape, paddings: Any) -> Shape:
    """What is known of a padded shape where some paddings are."""
    amounts = _known_amounts(paddings)
    if known.dims is None or amounts is None:
        return Shape(None)
    sizes: list[int | None] = []
    for whole, around in zip(known.dims, amounts, strict=True):
        open_ = whole is None or around is None or any(amount is None for amount in around)
        sizes.append(None if open_ or whole is None else whole + sum(int(amount) for amount in around))
    return Shape(tuple(sizes))


def _known_amounts(paddings: Any) -> Any:
    if isinstance(paddings, Tensor):
        return static_value(paddings)
    if isinstance(paddings, list | tuple):
        return [_known_amounts(item) for item in paddings]
    return paddings


# ---------------------------------------------------------------------------------------------------- Joins and splits


def stack(values: TensorLike, axis: int = 0, name: str | None = "stack") -> Tensor:
    """Tensors of one shape as one tensor, one rank higher."""
    if axis == 0:
        try:
            return convert(values, name=name)
        except (TypeError, ValueError, NotImplementedError):
            pass
    rows: Any = values
    known = convert(rows[0], name=name).static_shape.rank
    if known is not None and not -known - 1 <= axis <= known:
        raise InvalidArgumentError(f"Argument `axis` = {axis} not in range [{-known - 1}, {known + 1})")
    return emit(joining.pack, values, axis=axis, name=name)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> list[Tensor]:
    """Splits a tensor along one dimension into tensors that lack it, one for each place."""
    if num is None:
        value = convert(value)
        dims = value.static_shape.dims
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise InvalidArgumentError(f"Argument `axis` = {axis} not in range [{-len(dims)}, {len(dims)})")
            num = dims[axis]
        if num is None:
            raise InvalidArgumentError(f"Cannot infer argument `num` from shape {value.shape}")
    return list(joining.unpack(value, num=num, axis=axis, name=name))


def parallel_stack(values: Sequence[TensorLike], name: str | None = "parallel_stack") -> Tensor:
    """As `stack` along the first dimension, of tensors whose shapes are known."""
    with scope_of(name, "parallel_stack", *values):
        known = convert(values[0]).static_shape
        whole = Shape((len(values),)).concatenate(known)
        rows = [expand_dims(value, 0) for value in values]
        return emit(joining.parallel_concat, rows, shape=whole)


def concat(values: TensorLike, axis: AxisLike, name: str | None = "concat") -> Tensor:
    """Tensors one after the other along one of their dimensions.

    An axis before the tensors, the order of TensorFlow before 1.0, is known by its type.
    """
    if isinstance(values, Integral) and isinstance(axis, list | tuple):
        values, axis = axis, int(values)
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        with scope_of(name, "concat", *values):
            convert(axis, INT32, name="concat_dim").shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return emit(joining.concat_v2, values, axis, name=name)


def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: AxisLike = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """A tensor as equal parts, or parts of these sizes, along one of its dimensions.

    An axis before the tensor, the order of TensorFlow before 1.0, is known by its type.
    """
    if isinstance(value, Integral) and not isinstance(axis, Integral) and isinstance(num_or_size_splits, Integral):
        value, axis = axis, int(value)
    if isinstance(num_or_size_splits, Integral | Dimension):
        return list(joining.split(axis, value, num_split=int(num_or_size_splits), name=name))
    sizes = convert(num_or_size_splits)
    dims = sizes.static_shape.dims
    if dims == ():
        raise InvalidArgumentError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: "
            f"{num_or_size_splits}"
        )
    if num is None:
        num = dims[0] if dims else None
        if num is None:
            raise InvalidArgumentError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return list(joining.split_v(value, sizes, axis, num_split=num, name=name))


def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of a tensor, sorted into `num_partitions` tensors."""
    return list(joining.dynamic_partition(data, partitions, num_partitions=num_partitions, name=name))


def dynamic_stitch(indices: Sequence[TensorLike], data: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Rows of several tensors put in their places in one."""
    return emit(joining.dynamic_stitch, indices, data, name=name)


# ---------------------------------------------------------------------------------------------------- Orders


def transpose(
    a: TensorLike, perm: TensorLike | None = None, name: str | None = "transpose", conjugate: bool = False
) -> Tensor:
    """The tensor with its dimensions in another order, by default the reverse."""
    with scope_of(name, "transpose", a) as scope:
        tensor = convert(a, name="a")
        turn = ordering.conjugate_transpose if conjugate and tensor.dtype.is_complex else ordering.transpose
        if perm is None:
            known = tensor.static_shape.rank
            if known is None:
                last = emit("Sub", shapes.rank(tensor), 1, name="sub")
                perm = emit("Range", last, -1, -1)
            else:
                perm = np.arange(known - 1, -1, -1, dtype=np.int32)
        found: Tensor = turn(tensor, perm, name=scope)
        return found


def matrix_transpose(a: TensorLike, name: str | None = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The tensor with its last two dimensions exchanged."""
    with scope_of(name, "matrix_transpose", a):
        given: object = a
        tensor = convert(a, name="a")
        known = tensor.static_shape.rank
        perm: Any
        if known is None:
            count = rank(tensor)
            others = emit("Range", 0, emit("Sub", count, 2, name="sub"), 1)
            ends = [emit("Sub", count, back, name="sub") for back in (1, 2)]
            perm = concat((others, ends), 0)
        else:
            if known < 2:
                raise InvalidArgumentError(
                    f"Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = {given} with shape: "
                    f"{tensor.shape}"
                )
            perm = [*builtins.range(known - 2), known - 1, known - 2]
        return transpose(tensor, perm, conjugate=conjugate)


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation that undoes another."""
    return emit(ordering.invert_permutation, x, name=name)


def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """The tensor with some of its dimensions reversed."""
    return emit(ordering.reverse_v2, tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """The tensor with the first elements of each sequence reversed, as many as its length says."""
    axes = {
        "seq_dim": either("seq_axis", seq_axis, "seq_dim", seq_dim),
        "batch_dim": either("batch_axis", batch_axis, "batch_dim", batch_dim),
    }
    return emit(ordering.reverse_sequence, input, seq_lengths, name=name, **axes)


def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """The tensor shifted along some of its dimensions; what leaves at one end enters at the other."""
    return emit(ordering.roll, input, shift, axis, name=name)


# ---------------------------------------------------------------------------------------------------- Fillings


def fill(dims: ShapeLike, value: TensorLike, name: str | None = None, layout: None = None) -> Tensor:
    """A tensor of one value."""
    return emit(shapes.fill, dims, value, name=name)


def zeros(shape: ShapeLike, dtype: DTypeLike = FLOAT32, name: str | None = None, layout: None = None) -> Tensor:
    """A tensor of zeros: a constant if it is small."""
    kind = DType.of(dtype).base_dtype
    zero: Any = False if kind is BOOL else "" if kind is STRING else 0
    return _filled_tensor(zero, shape, kind, name, "zeros")


def ones(shape: ShapeLike, dtype: DTypeLike = FLOAT32, name: str | None = None, layout: None = None) -> Tensor:
    """A tensor of ones: a constant if it is small."""
    kind = DType.of(dtype).base_dtype
    if kind is STRING:
        raise WrongTypeError("Expected string, but got 1 of type 'int'.")
    one: Any = True if kind is BOOL else 1
    return _filled_tensor(one, shape, kind, name, "ones")


def _filled_tensor(value: Any, shape: Any, dtype: DType, name: str | None, default: str) -> Tensor:
    with scope_of(name, default, shape, *(shape if isinstance(shape, list | tuple) else ())) as scope:
        if not isinstance(shape, Tensor):
            known = _sizes(shape)
            is_small = known is not None and np.prod(known, dtype=np.float64) < _SMALL
            if is_small and scope and not isinstance(shape, Integral):
                return constant(value, dtype, known, scope)
            # A constant must have a name, and in no scope it has none: TensorFlow's array_ops.py then fills, too.
            shape = convert(Shape(known)) if known is not None and scope else convert(shape, INT32)
        if not shape.static_shape.dims:
            shape = reshape(shape, [-1])
        return fill(shape, constant(value, dtype), name=scope)


def _sizes(shape: Any) -> tuple[int, ...] | None:
    """A shape that is no tensor and holds none, if it is fully known."""
    items = shape if isinstance(shape, list | tuple) else [shape]
    if any(isinstance(getattr(item, "dtype", None), DType) for item in items):
        return None
    return plain_shape(shape).as_tuple()


def zeros_like(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros of the shape of another tensor."""
    with scope_of(name, "zeros_like", tensor) as scope:
        # Of a variable or of rows, the shape may be known without their value.
        found: Any = tensor if hasattr(tensor, "op") else convert(tensor, name="tensor")
        known, own = plain_shape(found.shape), found.dtype.base_dtype
        wanted = own if dtype is None else DType.of(dtype).base_dtype
        if optimize and known.is_fully_known and own is not VARIANT:
            return zeros(known, wanted, scope)
        if wanted is not own and wanted is not VARIANT:
            return zeros(shape_internal(found, optimize=optimize), wanted, scope)
        return emit(shapes.zeros_like, found, name=scope)


def ones_like(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Ones of the shape of another tensor."""
    with scope_of(name, "ones_like", tensor) as scope:
        found = convert(tensor, name="tensor")
        sizes = shape_internal(found, optimize=optimize)
        result = ones(sizes, found.dtype if dtype is None else dtype, scope)
        result.set_shape(found.static_shape)
        return result


def one_hot(
    indices: TensorLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Rows of `off_value` with one `on_value` each, at the index."""
    kind = None if dtype is None else DType.of(dtype)
    with scope_of(name, "one_hot", indices, depth, on_value, off_value) as scope:
        on = None if on_value is None else convert(on_value, preferred_dtype=kind)
        off = None if off_value is None else convert(off_value, preferred_dtype=kind)
        for what, value in (("on_value", on), ("off_value", off)):
            if kind is not None and value is not None and value.dtype.base_dtype is not kind:
                raise WrongTypeError(f"dtype {value.dtype} of {what} does not match dtype parameter {kind}")
        given = on if on is not None else off
        kind = kind or (FLOAT32 if given is None else given.dtype.base_dtype)
        on = convert(1, kind, "on_value") if on is None else on
        off = convert(0, kind, "off_value") if off is None else off
        if on.dtype.base_dtype is not off.dtype.base_dtype:
            raise WrongTypeError(f"dtype {on.dtype} of on_value does not match dtype {off.dtype} of off_value")
        return emit(shapes.one_hot, indices, depth, on, off, axis=axis, name=scope)


# ---------------------------------------------------------------------------------------------------- By value


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Where a condition holds: the coordinates, or elements of `x` there and of `y` elsewhere."""
    return _where("Select", condition, x, y, name)


def where_v2(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """As `where`, with broadcasting."""
    return _where("SelectV2", condition, x, y, name)


def _where(select: str, condition: Any, x: Any, y: Any, name: str | None) -> Tensor:
    if (x is None) != (y is None):
        raise InvalidArgumentError("x and y must both be non-None or both be None.")
    if x is not None:
        return emit(select, condition, x, y, name=name)
    with scope_of(name, "Where", condition) as scope:
        return emit(gathering.where, convert(condition, name="condition", preferred_dtype=BOOL), name=scope)


class Unique(NamedTuple):
    """Distinct elements, and for each element the place among these of its equal."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """Distinct elements, for each element the place among these of its equal, and how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


class ListDiff(NamedTuple):
    """Elements that are left over, and their places."""

    out: Tensor
    idx: Tensor


def unique(x: TensorLike, out_idx: DTypeLike = INT32, name: str | None = None) -> Unique:
    """The distinct elements, and which of them each element is."""
    return Unique(*emit_tensors(gathering.unique, x, out_idx=DType.of(out_idx), name=name))


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = INT32, name: str | None = None) -> UniqueWithCounts:
    """As `unique`, and how often each occurs."""
    return UniqueWithCounts(*emit_tensors(gathering.unique_with_counts, x, out_idx=DType.of(out_idx), name=name))


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = INT32, name: str | None = None) -> ListDiff:
    """The elements of `x` that `y` does not have, and their places in `x`."""
    return ListDiff(*emit_tensors(gathering.list_diff, x, y, out_idx=DType.of(index_dtype), name=name))


def meshgrid(*args: TensorLike, **kwargs: str) -> list[Tensor]:
    """Coordinates along each axis as tensors of all points of the grid."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise WrongTypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with scope_of(name, "meshgrid", *args):
        count = len(args)
        ones_ = (1,) * count
        if not count:
            return []
        grids = [reshape(stack(x), (*ones_[:i], -1, *ones_[i + 1 :])) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = convert(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            grids[0] = reshape(grids[0], (1, -1) + (1,) * (count - 2))
            grids[1] = reshape(grids[1], (-1, 1) + (1,) * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        whole = ones(sizes, dtype)
        return [emit("Mul", grid, whole, name="mul") for grid in grids]


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str | None = "edit_distance"
) -> Tensor:
    """How many edits lead from one sequence to another, for the sequences of two sparse tensors."""
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not _is_sparse(value):
            raise WrongTypeError(f"{what} must be a SparseTensor.")
    parts: Sequence[Any] = [part for s in (hypothesis, truth) for part in (s.indices, s.values, s.dense_shape)]
    return emit(gathering.edit_distance, *parts, normalize=normalize, name=name)


__all__ = [
    "bitcast",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "check_numerics",
    "concat",
    "dynamic_partition",
    "dynamic_stitch",
    "edit_distance",
    "ensure_shape",
    "expand_dims",
    "fill",
    "guarantee_const",
    "identity",
    "identity_n",
    "invert_permutation",
    "matrix_transpose",
    "meshgrid",
    "newaxis",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "parallel_stack",
    "placeholder",
    "placeholder_with_default",
    "rank",
    "reshape",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "roll",
    "setdiff1d",
    "shape",
    "shape_n",
    "size",
    "sparse_placeholder",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "transpose",
    "unique",
    "unique_with_counts",
    "unstack",
    "where",
    "where_v2",
    "zeros",
    "zeros_like",
]
