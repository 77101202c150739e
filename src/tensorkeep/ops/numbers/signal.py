"""Fourier transforms along the last one, two or three dimensions, of complex and of real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.building import graph_of, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.linear_algebra.matmul import matmul
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    conj,
    constant,
    every_axis,
    minus,
    ones,
    over,
    plain,
    plus,
    rank_of,
    real_dtype,
    reflected_operator,
    reshape,
    shape_of,
    span,
    times,
    zeros,
    zeros_like,
)
from tensorkeep.ops.shared.indexing import item, stack, static_value
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import unknown, with_rank, with_rank_at_least
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_COMPLEX: Final = "Tcomplex: {complex64, complex128} = complex64"
_REAL: Final = "Treal: {float, double} = float"
_SUFFIXES: Final = {1: "", 2: "2D", 3: "3D"}


def _axes(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


# ---------------------------------------------------------------------------------------------------- Complex


def _complex_transform(name: str, rank: int, compute: Callable[..., Any]) -> OpSpec:
    spec = op(f"{name}(input: Tcomplex) -> output: Tcomplex", _COMPLEX)
    old = op(f"Batch{name}(input: complex64) -> output: complex64", f"deprecated 15 'Use {name}'")
    old.shape(unknown)

    @spec.shape
    def transform_shape(input: Tensor) -> Shape:
        return with_rank_at_least(input, rank)

    @spec.kernel
    @old.kernel
    def transform_kernel(input: Array) -> Array:
        if input.ndim < rank:
            raise InvalidArgumentError(f"Input must have rank of at least {rank} but got: {list(input.shape)}")
        return compute(input, axes=_axes(rank)).astype(input.dtype, copy=False) if input.size else input

    transform_kernel.__name__ = transform_kernel.__qualname__ = f"{name.lower()}_kernel"
    return spec


def _forward_gradient(inverse: OpSpec, rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, dy: Tensor) -> Gradients:
        size = cast(_element_count(dy, rank), dy.dtype.base_dtype)
        return times(inverse(dy), size)

    return gradient


def _inverse_gradient(forward: OpSpec, rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, dy: Tensor) -> Gradients:
        count = cast(_element_count(dy, rank), real_dtype(dy.dtype))
        share = cast(reflected_operator("RealDiv", 1.0, count, "truediv"), dy.dtype.base_dtype)
        return times(forward(dy), share)

    return gradient


def _element_count(x: Tensor, rank: int) -> Tensor:
    """How many elements one transform has."""
    sizes = item(shape_of(x), slice(-rank, None))
    return emit("Prod", sizes, every_axis(sizes))


FORWARD: Final = {rank: _complex_transform(f"FFT{suffix}", rank, np.fft.fftn) for rank, suffix in _SUFFIXES.items()}
INVERSE: Final = {rank: _complex_transform(f"IFFT{suffix}", rank, np.fft.ifftn) for rank, suffix in _SUFFIXES.items()}
for _rank in _SUFFIXES:
    FORWARD[_rank].gradient(_forward_gradient(INVERSE[_rank], _rank))
    INVERSE[_rank].gradient(_inverse_gradient(FORWARD[_rank], _rank))


# ---------------------------------------------------------------------------------------------------- Real


def _check_lengths(input: Any, fft_length: Any, rank: int) -> tuple[int, ...]:
    if input.ndim < rank:
        raise InvalidArgumentError(f"Input must have rank of at least {rank} but got: {list(input.shape)}")
    if fft_length.shape != (rank,):
        raise InvalidArgumentError(f"fft_length must have shape [{rank}]")
    lengths = tuple(int(length) for length in fft_length)
    if any(length < 0 for length in lengths):
        raise InvalidArgumentError(f"fft_length must be >= 0, but got: {list(lengths)}")
    return lengths


def _check_width(given: np.dtype[Any], wanted: DType) -> None:
    if given != wanted.array_dtype:
        raise InvalidArgumentError(f"Wrong types for a real FFT: parts of {given} in, of {wanted.name} out")


def _refuse_shorter(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Each dimension must be as long as what is transformed of it, or empty."""
    for axis, (size, length) in enumerate(zip(shape[-len(wanted) :], wanted, strict=True)):
        if 0 < size < length:
            raise InvalidArgumentError(
                f"Input dimension {len(shape) - len(wanted) + axis} must have length of at least {length}, got: {size}"
            )


def _real_shape(input: Tensor, fft_length: Tensor, rank: int, forward: bool) -> Shape:
    shape, sizes = with_rank_at_least(input, rank), with_rank(fft_length, 1)
    if sizes[0] not in (None, rank):
        raise InvalidArgumentError(f"Dimension must be {rank} but is {sizes[0]}")
    if shape.dims is None:
        return UNKNOWN_SHAPE
    lengths = constant_value(fft_length)
    if lengths is None:
        return Shape((*shape.dims[:-rank], *(None,) * rank))
    found = [int(length) for length in lengths]
    if forward and found[-1]:
        found[-1] = found[-1] // 2 + 1
    return Shape((*shape.dims[:-rank], *found))


def _real_forward(rank: int) -> OpSpec:
    name = f"RFFT{_SUFFIXES[rank]}"
    spec = op(f"{name}(input: Treal, fft_length: int32) -> output: Tcomplex", _REAL, _COMPLEX)

    @spec.shape
    def forward_shape(input: Tensor, fft_length: Tensor) -> Shape:
        return _real_shape(input, fft_length, rank, True)

    @spec.kernel
    def forward_kernel(input: Array, fft_length: Array, *, Tcomplex: DType) -> Array:  # noqa: N803
        _check_width(input.dtype, Tcomplex.real_dtype)
        lengths, dtype = _check_lengths(input, fft_length, rank), Tcomplex.array_dtype
        _refuse_shorter(input.shape, lengths)
        halved = (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
        check_allocation((*input.shape[:-rank], *lengths), dtype)
        if not input.size or 0 in lengths:
            return np.zeros((*input.shape[:-rank], *halved), dtype)
        return np.fft.rfftn(input, lengths, _axes(rank)).astype(dtype, copy=False)

    forward_kernel.__name__ = forward_kernel.__qualname__ = f"{name.lower()}_kernel"
    return spec


def _real_inverse(rank: int) -> OpSpec:
    name = f"IRFFT{_SUFFIXES[rank]}"
    spec = op(f"{name}(input: Tcomplex, fft_length: int32) -> output: Treal", _REAL, _COMPLEX)

    @spec.shape
    def inverse_shape(input: Tensor, fft_length: Tensor) -> Shape:
        return _real_shape(input, fft_length, rank, False)

    @spec.kernel
    def inverse_kernel(input: Array, fft_length: Array, *, Treal: DType) -> Array:  # noqa: N803
        _check_width(input.real.dtype, Treal)
        lengths, dtype = _check_lengths(input, fft_length, rank), Treal.array_dtype
        _refuse_shorter(input.shape, (*lengths[:-1], lengths[-1] // 2 + 1))
        check_allocation((*input.shape[:-rank], *lengths), dtype)
        if not input.size or 0 in lengths:
            return np.zeros((*input.shape[:-rank], *lengths), dtype)
        return np.fft.irfftn(input, lengths, _axes(rank)).astype(dtype, copy=False)

    inverse_kernel.__name__ = inverse_kernel.__qualname__ = f"{name.lower()}_kernel"
    return spec


REAL_FORWARD: Final = {rank: _real_forward(rank) for rank in _SUFFIXES}
REAL_INVERSE: Final = {rank: _real_inverse(rank) for rank in _SUFFIXES}


# ---------------------------------------------------------------------------------------------------- Building


def real_transform(x: TensorLike, fft_length: TensorLike | None, rank: int, name: str | None = None) -> Tensor:
    """Adds the transform of real numbers, padded where they are shorter than `fft_length`."""
    with name_scope(name or f"rfft{_SUFFIXES[rank].lower()}", graph_of((x, fft_length))) as scope:
        x = convert(x, preferred_dtype=FLOAT32)
        if x.dtype.base_dtype not in (FLOAT32, FLOAT64):
            raise InvalidArgumentError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
        target = COMPLEX64 if x.dtype.base_dtype is FLOAT32 else COMPLEX128
        with_rank_at_least(x, rank)
        fft_length = _own_length(x, rank) if fft_length is None else convert(fft_length, INT32)
        x = _pad_to_length(x, fft_length, rank, False)
        known = static_value(fft_length)
        sizes = fft_length if known is None else known
        return emit(REAL_FORWARD[rank], x, sizes, Tcomplex=target, name=scope)


def real_inverse(x: TensorLike, fft_length: TensorLike | None, rank: int, name: str | None = None) -> Tensor:
    """Adds the transform back to real numbers, padded where it is shorter than `fft_length` asks for."""
    with name_scope(name or f"irfft{_SUFFIXES[rank].lower()}", graph_of((x, fft_length))) as scope:
        x = convert(x, preferred_dtype=COMPLEX64)
        with_rank_at_least(x, rank)
        if x.dtype.base_dtype not in (COMPLEX64, COMPLEX128):
            raise InvalidArgumentError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
        fft_length = _whole_length(x, rank) if fft_length is None else convert(fft_length, INT32)
        x = _pad_to_length(x, fft_length, rank, True)
        known = static_value(fft_length)
        target = real_dtype(x.dtype)
        sizes = fft_length if known is None else known
        return emit(REAL_INVERSE[rank], x, sizes, Treal=target, name=scope)


def _last_sizes(x: Tensor, rank: int) -> list[int] | None:
    """The last sizes of a tensor if they are all known."""
    sizes = (x.static_shape.dims or (None,) * rank)[-rank:]
    found = [size for size in sizes if size is not None]
    return found if len(found) == rank else None


def _own_length(x: Tensor, rank: int) -> Tensor:
    known = _last_sizes(x, rank)
    if known is None:
        return item(shape_of(x), slice(-rank, None))
    return convert(known, INT32)


def _whole_length(x: Tensor, rank: int) -> Tensor:
    known = _last_sizes(x, rank)
    if known is None:
        sizes = list(emit_tensors("Unpack", item(shape_of(x), slice(-rank, None)), num=rank, axis=0, name="unstack"))
        doubled = reflected_operator("Mul", 2, plain("Sub", sizes[-1], 1, "sub"), "mul")
        sizes[-1] = emit("Maximum", 0, doubled)
        return stack(sizes)
    return convert([*known[:-1], max(0, 2 * (known[-1] - 1))], INT32)


def _pad_to_length(x: Tensor, fft_length: Tensor, rank: int, inverse: bool) -> Tensor:
    """A tensor with zeros behind its last `rank` axes, up to the lengths of a transform; of an inverse one, up to the
    lengths of its input.
    """
    dims = x.static_shape.dims
    if dims is not None and 0 in dims:
        return x
    lengths, known = static_value(fft_length), _last_sizes(x, rank)
    if lengths is not None and known is not None and dims is not None:
        wanted = [int(length) for length in lengths]
        if inverse:
            wanted[-1] = wanted[-1] // 2 + 1
        around = [[0, max(length - size, 0)] for length, size in zip(wanted, known, strict=True)]
        if not any(behind for _, behind in around):
            return x
        return emit("Pad", x, [[0, 0]] * (len(dims) - rank) + around)
    count = rank_of(x)
    sizes = item(shape_of(x), slice(-rank, None))
    outer = emit("Maximum", 0, plain("Sub", count, rank, "sub"))
    before = zeros([outer], fft_length.dtype.base_dtype)
    if inverse:
        first = item(fft_length, slice(None, -1))
        last = plain("FloorDiv", item(fft_length, slice(-1, None)), 2, "floordiv")
        fft_length = concat([first, plain("AddV2", last, 1, "add")])
    behind = emit("Maximum", 0, minus(fft_length, sizes))
    amounts = concat([before, behind])
    return emit("Pad", x, stack([zeros_like(amounts), amounts], 1))


# ---------------------------------------------------------------------------------------------------- Gradients


def _numbers(length: Any, dtype: DType) -> Tensor:
    """The first `length` of 1, -1, 1, -1, …"""
    odd = plain("FloorMod", span(0, length), 2, "mod")
    return cast(reflected_operator("Sub", 1, reflected_operator("Mul", 2, odd, "mul"), "sub"), dtype)


def _real_forward_gradient(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, dy: Tensor) -> Gradients:
        fft_length, dtype = op.inputs[1], dy.dtype.base_dtype
        sizes = shape_of(op.inputs[0])
        last = item(fft_length, -1)
        is_even = cast(reflected_operator("Sub", 1, plain("FloorMod", last, 2, "mod"), "sub"), dtype)
        first_column = item(dy, (..., slice(0, 1)))
        if rank == 1:
            last_column = item(dy, (..., slice(-1, None)))
            extra = plus(first_column, times(times(is_even, last_column), _numbers(item(sizes, -1), dtype)))
        else:
            extra = _extra_of_planes(dy, sizes, first_column, is_even)
        count = cast(_element_count(op.inputs[0], rank), real_dtype(dtype))
        back = real_inverse(dy, fft_length, rank)
        scaled = times(back, count)
        real = emit("Real", extra, Tout=real_dtype(dtype))
        return reflected_operator("Mul", 0.5, plus(scaled, real), "mul"), None

    return gradient


def _extra_of_planes(dy: Any, sizes: Tensor, first_column: Tensor, is_even: Tensor) -> Tensor:
    """What the columns that have no mirror image add, in two dimensions."""
    mask = _tiled_mask(_mask(item(sizes, -2), dy.dtype.base_dtype), first_column)
    extra = matmul(mask, conj(first_column))
    last_column = item(dy, (..., slice(-1, None)))
    term = matmul(mask, conj(last_column))
    inner = item(sizes, -1)
    repeats = concat([ones([plain("Sub", rank_of(dy), 1, "sub")], INT32), [inner]])
    term = times(emit("Tile", term, repeats), _numbers(inner, dy.dtype.base_dtype))
    return plus(extra, times(is_even, term))


def _mask(length: Tensor, dtype: DType) -> Tensor:
    a = emit("Tile", emit("ExpandDims", span(0, length), 0), [length, 1])
    with name_scope("transpose") as scope:
        b = emit("Transpose", a, np.array([1, 0], np.int32), name=scope)
    power = reflected_operator("Mul", -2j * np.pi, cast(times(a, b), dtype), "mul")
    return emit("Exp", over(power, cast(length, dtype)))


def _tiled_mask(mask: Tensor, x: Tensor) -> Tensor:
    leading = ones([plain("Sub", rank_of(x), 2, "sub")], INT32)
    wide = reshape(mask, concat([leading, shape_of(mask)]))
    return emit("Tile", wide, concat([item(shape_of(x), slice(None, -2)), [1, 1]]))


def _real_inverse_gradient(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, dy: Tensor) -> Gradients:
        fft_length, dtype = op.inputs[1], dy.dtype.base_dtype
        target = COMPLEX64 if dtype is FLOAT32 else COMPLEX128
        known = static_value(fft_length)
        last = item(fft_length, -1) if known is None else np.int32(known[-1])
        is_odd = emit("FloorMod", last, 2, name="mod")
        inner = item(shape_of(op.inputs[0]), -1)
        middle = plus(plain("Sub", inner, 2, "sub"), is_odd)
        twice = reflected_operator("Mul", 2.0, ones([middle], dtype), "mul")
        one = ones([reflected_operator("Sub", 1, is_odd, "sub")], dtype)
        mask = concat([constant(np.ones(1), dtype, "concat/values_0"), twice, one])
        share = emit("Reciprocal", cast(_element_count(dy, rank), dtype))
        forward = real_transform(dy, fft_length if known is None else known, rank)
        return times(forward, cast(times(share, mask), target)), None

    return gradient


for _rank in (1, 2):
    REAL_FORWARD[_rank].gradient(_real_forward_gradient(_rank))
    REAL_INVERSE[_rank].gradient(_real_inverse_gradient(_rank))
