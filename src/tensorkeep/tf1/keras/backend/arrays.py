"""Shapes of tensors, and tensors made of tensors: concatenated, repeated, padded, resized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.arrays.slicing import gather as gather_rows
from tensorkeep.tf1.functions.constants import constant as make_constant
from tensorkeep.tf1.functions.images.geometry import resize_bilinear, resize_nearest_neighbor
from tensorkeep.tf1.functions.numbers import elementwise
from tensorkeep.tf1.functions.sparse.tensors import sparse_concat
from tensorkeep.tf1.keras.backend.sessions import variable
from tensorkeep.tf1.keras.backend.settings import chosen_data_format, chosen_dtype
from tensorkeep.tf1.variables.variable import Variable


def shape(x: TensorLike) -> Tensor:
    """The sizes of a tensor, as a tensor."""
    return shapes.shape(x)


def int_shape(x: Tensor) -> tuple[int | None, ...] | None:
    """The sizes that are known, None for those that are not; None if not even their number is."""
    known = x.get_shape()
    return None if known.rank is None else tuple(known.as_list())


def ndim(x: Tensor | Variable) -> int | None:
    """How many axes there are."""
    rank: int | None = x.get_shape().rank
    return rank


def dtype(x: Tensor) -> str:
    """The name of the type."""
    return str(x.dtype.base_dtype.name)


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str | None = None
) -> Tensor:
    return make_constant(value, chosen_dtype(dtype), shape, name or "Const")


def identity(x: TensorLike, name: str | None = None) -> Tensor:
    return shapes.identity(x, name=name)


def _filled_value(
    made: Callable[..., Tensor], shape: ShapeLike, dtype: DTypeLike | None, name: str | None
) -> Variable | Tensor:
    """A variable if the shape is known, a tensor otherwise."""
    sizes = list(shape) if isinstance(shape, list | tuple) else shape
    if isinstance(sizes, Tensor) or (isinstance(sizes, list) and any(isinstance(size, Tensor) for size in sizes)):
        return made(sizes, chosen_dtype(dtype), name)
    kept: Variable = variable(made(sizes, chosen_dtype(dtype)), dtype=dtype, name=name)
    return kept


def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Variable | Tensor:
    """A variable of zeros."""
    return _filled_value(shapes.zeros, shape, dtype, name)


def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Variable | Tensor:
    """A variable of ones."""
    return _filled_value(shapes.ones, shape, dtype, name)


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> Variable:
    """A variable with the identity matrix."""
    made: Variable = variable(np.eye(size), dtype=dtype, name=name)
    return made


def zeros_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return shapes.zeros_like(x, dtype=None if dtype is None else DType.of(dtype), name=name)


def ones_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    return shapes.ones_like(x, dtype=None if dtype is None else DType.of(dtype), name=name)


def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    values: Tensor = elementwise.cast(x, dtype)
    return values


def transpose(x: Tensor) -> Tensor:
    return shapes.transpose(x)


def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    """Rows by their numbers."""
    return gather_rows(reference, indices)


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Tensor | SparseTensor:
    """Tensors one after the other along an axis."""
    rank = ndim(tensors[0])
    if axis < 0:
        axis = axis % rank if rank else 0
    if all(isinstance(item, SparseTensor) for item in tensors):
        return sparse_concat(axis, list(tensors))
    return shapes.concat([convert(item) for item in tensors], axis)


def stack(x: Sequence[Any], axis: int = 0) -> Tensor:
    return shapes.stack(list(x), axis=axis)


def reshape(x: TensorLike, shape: ShapeLike) -> Tensor:
    return shapes.reshape(x, shape)


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    return shapes.transpose(x, perm=list(pattern))


def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    """Each element along an axis, `rep` times."""
    values = convert(x)
    known: list[Any] = values.get_shape().as_list()
    at = axis % len(known)
    if known[at] is not None:
        parts = shapes.split(values, known[at], axis=at)
        return shapes.concat([part for part in parts for _ in range(rep)], at)
    wide = shapes.tile(shapes.expand_dims(values, at + 1), [1] * (at + 1) + [rep] + [1] * (len(known) - at - 1))
    sizes = shapes.shape(values)
    merged = shapes.reshape(wide, shapes.stack([sizes[i] * (rep if i == at else 1) for i in range(len(known))]))
    merged.set_shape([None if i == at else size for i, size in enumerate(known)])
    return merged


def repeat(x: TensorLike, n: int) -> Tensor:
    """A matrix, `n` times along a new second axis."""
    values = convert(x)
    if values.get_shape().rank != 2:
        raise InvalidArgumentError(f"repeat takes a matrix; got shape {values.get_shape()}")
    return shapes.tile(shapes.expand_dims(values, 1), [1, n, 1])


def arange(
    start: Tensor | float, stop: Tensor | float | None = None, step: int = 1, dtype: DTypeLike = "int32"
) -> Tensor:
    """Numbers from `start` to `stop`; from zero if there is no `stop`."""
    if stop is None and not isinstance(start, Tensor) and start < 0:
        start = 0
    found = elementwise.range(start, limit=stop, delta=step)
    return found if DType.of(dtype) is INT32 else elementwise.cast(found, dtype)


def tile(x: TensorLike, n: TensorLike) -> Tensor:
    return shapes.tile(x, [n] if isinstance(n, int) else n)


def flatten(x: TensorLike) -> Tensor:
    return shapes.reshape(x, [-1])


def batch_flatten(x: TensorLike) -> Tensor:
    """Each item of a batch as a row."""
    values = convert(x)
    known: list[Any] = values.get_shape().as_list()[1:]
    width = int(np.prod(known)) if None not in known else None
    if width is not None:
        return shapes.reshape(values, shapes.stack([-1, width]))
    from_sizes = shapes.shape(values)
    count = elementwise.multiply(from_sizes[1], 1)
    for at in range(2, len(known) + 1):
        count = count * from_sizes[at]
    return shapes.reshape(values, shapes.stack([-1, count]))


def expand_dims(x: Tensor, axis: int = -1) -> Tensor:
    return shapes.expand_dims(x, axis)


def squeeze(x: Tensor, axis: int) -> Tensor:
    return shapes.squeeze(x, [axis])


def reverse(x: TensorLike, axes: int | Sequence[int]) -> Tensor:
    return shapes.reverse(x, [axes] if isinstance(axes, int) else list(axes))


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    return shapes.one_hot(indices, depth=num_classes, axis=-1)


def stop_gradient(variables: Any) -> Any:
    """Tensors that have no gradient, one or a list of them."""
    if isinstance(variables, list | tuple):
        return [shapes.stop_gradient(convert(item)) for item in variables]
    return shapes.stop_gradient(convert(variables) if isinstance(variables, Variable) else variables)


# ---------------------------------------------------------------------------------------------------- Images


def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Zeros before and after the middle axis."""
    return shapes.pad(x, [[0, 0], list(padding), [0, 0]])


def _pad_spatial_axes(x: Any, padding: Sequence[Sequence[int]], data_format: str | None) -> Tensor:
    around = [list(pair) for pair in padding]
    none = [[0, 0]]
    first = chosen_data_format(data_format) == "channels_first"
    return shapes.pad(x, none + none + around if first else none + around + none)


def spatial_2d_padding(
    x: TensorLike, padding: Sequence[Sequence[int]] = ((1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Zeros around images."""
    return _pad_spatial_axes(x, padding, data_format)


def spatial_3d_padding(
    x: TensorLike, padding: Sequence[Sequence[int]] = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Zeros around volumes."""
    return _pad_spatial_axes(x, padding, data_format)


def resize_images(
    x: TensorLike, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Tensor:
    """Images made larger by whole factors."""
    if interpolation not in ("nearest", "bilinear"):
        raise InvalidArgumentError('interpolation should be one of "nearest" or "bilinear".')
    is_first = chosen_data_format(data_format) == "channels_first"
    values = convert(x)
    if is_first:
        values = shapes.transpose(values, [0, 2, 3, 1])
    known = values.get_shape().as_list()
    sizes = shapes.shape(values)[1:3] * make_constant([height_factor, width_factor])
    resize = resize_nearest_neighbor if interpolation == "nearest" else resize_bilinear
    found = resize(values, sizes, half_pixel_centers=True)  # as `tf.image.resize` of version 2, which Keras calls
    larger = [
        None if size is None else size * by for size, by in zip(known[1:3], (height_factor, width_factor), strict=True)
    ]
    found.set_shape([known[0], *larger, known[3]])
    return shapes.transpose(found, [0, 3, 1, 2]) if is_first else found


def resize_volumes(x: Tensor, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> Tensor:
    """Volumes made larger by whole factors."""
    first = 2 if chosen_data_format(data_format) == "channels_first" else 1
    for at, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = repeat_elements(x, factor, axis=at)
    result: Tensor = x
    return result
