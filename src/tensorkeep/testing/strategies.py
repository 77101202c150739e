"""Hypothesis strategies for what checkpoints hold: arrays of every type in every memory layout, names, partitions.

Arrays are made from arbitrary bits, so that every NaN, every denormal and both zeros occur; compare them with
`assert_identical`, which compares bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, PartitionedArray, Variant
from tensorkeep.dtypes import ALL_DTYPES, VARIANT, DType
from tensorkeep.shapes import element_count

Saveable = ArrayLike | ArraySource | PartitionedArray

STORABLE: Final[tuple[DType, ...]] = tuple(dtype for dtype in ALL_DTYPES if dtype.is_storable)


def storable_dtypes() -> st.SearchStrategy[DType]:
    """Every type that a checkpoint can hold."""
    return st.sampled_from(STORABLE)


def shapes(max_rank: int = 3, max_side: int = 5, min_side: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of up to `max_rank` dimensions: scalars, empty ones, and small ones."""
    return st.lists(st.integers(min_side, max_side), max_size=max_rank).map(tuple)


def arrays(dtype: DType, shape: st.SearchStrategy[tuple[int, ...]] | None = None) -> st.SearchStrategy[Array]:
    """Arrays of a type: any bits, any memory layout. Strings and variants are arrays of `bytes` and `Variant`."""
    sizes = shapes() if shape is None else shape
    if dtype.is_object:
        return string_arrays(sizes, Variant if dtype is VARIANT else bytes)
    return _numeric(dtype, sizes)


def string_arrays(
    shape: st.SearchStrategy[tuple[int, ...]] | None = None, kind: Callable[[bytes], bytes] = bytes
) -> st.SearchStrategy[Array]:
    """Arrays of strings of any bytes, some of them long enough that their lengths take two."""
    element = st.one_of(st.binary(max_size=20), st.binary(min_size=1, max_size=1).map(lambda byte: byte * 200))
    return st.composite(_draw_strings)(shapes() if shape is None else shape, element.map(kind))


def _draw_strings(
    draw: st.DrawFn, shape: st.SearchStrategy[tuple[int, ...]], element: st.SearchStrategy[bytes]
) -> Array:
    sizes = draw(shape)
    count = element_count(sizes)
    array: Array = np.empty(count, dtype=object)
    array[:] = draw(st.lists(element, min_size=count, max_size=count))
    return draw(st.sampled_from((_as_it_is, _fortran, _reversed_array, _strided_array)))(array.reshape(sizes))


def _numeric(dtype: DType, shape: st.SearchStrategy[tuple[int, ...]]) -> st.SearchStrategy[Array]:
    return st.composite(_draw_numeric)(dtype, shape)


def _draw_numeric(draw: st.DrawFn, dtype: DType, shape: st.SearchStrategy[tuple[int, ...]]) -> Array:
    sizes = draw(shape)
    width = dtype.itemsize
    size = element_count(sizes) * width
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if size and draw(st.booleans()):
        at = draw(st.integers(0, size // width - 1)) * width
        data[at : at + width] = draw(st.sampled_from(_edges(width)))
    if dtype.array_dtype == np.bool_:
        data = bytearray(byte & 1 for byte in data)
    array = np.frombuffer(bytes(data), dtype.array_dtype).reshape(sizes)
    return draw(st.sampled_from(_LAYOUTS))(array)


def _edges(width: int) -> list[bytes]:
    """Bit patterns at the ends of ranges: zero, minus zero, infinities, NaNs that carry something, the extremes."""
    words = [np.dtype(f"f{size}") for size in (2, 4, 8) if size <= width]
    special = [np.array([value] * (width // word.itemsize), word) for word in words for value in _SPECIAL]
    plain = [b"\x00" * width, b"\xff" * width, b"\x00" * (width - 1) + b"\x80", b"\xff" * (width - 1) + b"\x7f"]
    return plain + [array.tobytes() for array in special]


_SPECIAL: Final = (float("nan"), float("inf"), float("-inf"), -0.0, 1.0)


def _as_it_is(array: Array) -> Array:
    return array


def _fortran(array: Array) -> Array:
    return np.asfortranarray(array)


def _reversed_array(array: Array) -> Array:
    """The same elements, lying in memory backwards."""
    backwards: tuple[Any, ...] = (..., *(slice(None, None, -1),) * array.ndim)  # with `...`, a scalar stays an array
    view: Array = np.ascontiguousarray(array[backwards]).reshape(array.shape)[backwards]
    return view


def _strided_array(array: Array) -> Array:
    """The same elements, lying in memory with others between them."""
    wide = np.zeros(tuple(2 * size + 1 for size in array.shape), array.dtype)
    between: tuple[Any, ...] = (..., *(slice(1, 2 * size + 1, 2) for size in array.shape))
    view: Array = wide[between]
    view[...] = array
    return view


def _byteswapped_array(array: Array) -> Array:
    """The same elements in the other byte order."""
    if array.dtype.itemsize == 1:
        return array
    other = array.dtype.newbyteorder()
    word = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    return np.ascontiguousarray(array).reshape(-1).view(f"u{word}").byteswap().view(other).reshape(array.shape)


def _swapped_and_strided(array: Array) -> Array:
    swapped = _byteswapped_array(array)
    wide = np.zeros((*swapped.shape, 2), f"V{swapped.dtype.itemsize}").view(swapped.dtype)
    wide[..., 0] = swapped
    return wide[..., 0]


def _writable(array: Array) -> Array:
    return array.copy()


_LAYOUTS: Final = (
    _as_it_is,
    _writable,
    _fortran,
    _reversed_array,
    _strided_array,
    _byteswapped_array,
    _swapped_and_strided,
)


def sources(
    dtype: DType, shape: st.SearchStrategy[tuple[int, ...]] | None = None
) -> st.SearchStrategy[Array | ArraySource]:
    """What can be saved as a tensor of exactly that type: an array where that says it all, else with the type."""
    return arrays(dtype, shape).map(lambda array: _as_source(array, dtype))


def _as_source(array: Array, dtype: DType) -> Array | ArraySource:
    needs_type = dtype.quantized or (dtype is VARIANT and not array.size)
    return ArraySource.of(array, dtype) if needs_type else array


_ODD_NAMES: Final = (
    "w", "dense/kernel", "dense/kernel/.ATTRIBUTES/VARIABLE_VALUE", "a b", " ", "\n", "'", '"', "\\", "//", "/", ":0",
    "naïve", "名前", "😀", "e\u0301", "*", "[1]", "?", "\x7f", "\u2028", "%s", "{}", "_CHECKPOINTABLE_OBJECT_GRAPH",
    "x" * 300, "very/" * 400 + "long", "ÿ" * 100,
)  # fmt: skip


def tensor_names() -> st.SearchStrategy[str]:
    """Names, the likely and the odd: with blanks, slashes, quotes, of any script, and very long."""
    text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
    return st.one_of(st.sampled_from(_ODD_NAMES), text)


def partitions(shape: Sequence[int]) -> st.SearchStrategy[tuple[TensorSlice, ...]]:
    """Ways to cut a tensor into slices that cover it: along one axis, in a grid, or again and again; in any order."""
    assert all(size > 0 for size in shape), "there is nothing to cut"
    return st.composite(_draw_partition)(tuple(shape))


def _draw_partition(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[TensorSlice, ...]:
    boxes = draw(st.one_of(_grids(shape), st.composite(_draw_cuts)(shape)))
    spell_out = draw(st.booleans())
    parts = [
        TensorSlice(
            tuple(
                None if (start, stop) == (0, size) and not spell_out else (start, stop - start)
                for (start, stop), size in zip(box, shape, strict=True)
            )
        )
        for box in boxes
    ]
    return tuple(draw(st.permutations(parts)))


_Box = tuple[tuple[int, int], ...]


def _grids(shape: tuple[int, ...]) -> st.SearchStrategy[list[_Box]]:
    """Every axis cut by itself; one axis alone is the usual case."""
    cuts = [st.sets(st.integers(1, size - 1), max_size=2) if size > 1 else st.just(set()) for size in shape]
    return st.tuples(*cuts).map(lambda axes: list(product(*map(_intervals, axes, shape))))


def _intervals(cuts: set[int], size: int) -> list[tuple[int, int]]:
    return list(pairwise((0, *sorted(cuts), size)))


def _draw_cuts(draw: st.DrawFn, shape: tuple[int, ...]) -> list[_Box]:
    """A box cut in two along some axis, then one of the pieces, and so on: not always a grid."""
    boxes: list[_Box] = [tuple((0, size) for size in shape)]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(boxes) - 1))
        axes = [axis for axis, (start, stop) in enumerate(boxes[at]) if stop - start > 1]
        if not axes:
            continue
        axis = draw(st.sampled_from(axes))
        box = boxes.pop(at)
        cut = draw(st.integers(box[axis][0] + 1, box[axis][1] - 1))
        boxes.append((*box[:axis], (box[axis][0], cut), *box[axis + 1 :]))
        boxes.append((*box[:axis], (cut, box[axis][1]), *box[axis + 1 :]))
    return boxes


def partitioned_arrays(dtype: DType) -> st.SearchStrategy[PartitionedArray]:
    """Tensors of a type, given in slices."""
    return st.composite(_draw_partitioned)(dtype)


def _draw_partitioned(draw: st.DrawFn, dtype: DType) -> PartitionedArray:
    shape = draw(shapes(min_side=1).filter(len))
    array = draw(arrays(dtype, st.just(shape)))
    parts = draw(partitions(shape))
    return PartitionedArray(shape, [(part, _as_source(cut_slice(array, part), dtype)) for part in parts])


def checkpoints(
    dtypes: Sequence[DType] = STORABLE,
    names: st.SearchStrategy[str] | None = None,
    *,
    min_size: int = 1,
    max_size: int = 5,
) -> st.SearchStrategy[dict[str, Saveable]]:
    """Whole checkpoints: names, and arrays of those types or tensors in slices."""
    tensor = st.sampled_from(tuple(dtypes)).flatmap(lambda dtype: st.one_of(sources(dtype), partitioned_arrays(dtype)))
    return st.dictionaries(tensor_names() if names is None else names, tensor, min_size=min_size, max_size=max_size)


def cut_slice(array: Array, part: TensorSlice) -> Array:
    """The slice of an array."""
    index: tuple[Any, ...] = (..., *(slice(start, stop) for start, stop in part.box(array.shape)))
    found: Array = array[index]
    return found


def contents(value: Saveable) -> tuple[DType, Array]:
    """The type and the elements that a reader has to find where `value` was saved."""
    if isinstance(value, PartitionedArray):
        pieces = [(part, *contents(source)) for part, source in value.sources()]
        dtype = pieces[0][1]
        whole: Array = np.empty(value.shape, dtype.array_dtype)
        for part, _, piece in pieces:
            cut_slice(whole, part)[...] = piece
        return dtype, whole
    source = ArraySource.of(value)
    chunks = [np.asarray(chunk) for chunk in source.chunks]
    array = chunks[0] if len(chunks) == 1 else np.concatenate([chunk.reshape(-1) for chunk in chunks])
    return source.dtype, array.reshape(source.shape)


def assert_identical(actual: Array, dtype: DType, expected: Array) -> None:
    """That an array was read as it was saved: its type, its shape, and every bit that counts."""
    assert actual.dtype == dtype.array_dtype, f"{actual.dtype} was read, {dtype} was saved"
    assert actual.dtype.isnative
    assert not dtype.is_object or {type(item) for item in actual.flat} <= {Variant if dtype is VARIANT else bytes}
    assert actual.shape == expected.shape
    assert _bits(actual, dtype) == _bits(expected, dtype)


def _bits(array: Array, dtype: DType) -> object:
    if dtype.is_object:
        return [item.encode() if isinstance(item, str) else bytes(item) for item in array.flat]
    if not array.dtype.isnative:
        array = _byteswapped_array(array)
    raw = np.frombuffer(array.tobytes(), np.uint8)
    return (raw & ((1 << dtype.bits) - 1) if dtype.bits else raw).tobytes()


def assert_saved(found: Mapping[str, Array], saved: Mapping[str, Saveable]) -> None:
    """That all that was saved was read, and nothing else."""
    assert list(found) == sorted(saved, key=lambda name: name.encode())
    for name, value in saved.items():
        assert_identical(found[name], *contents(value))
