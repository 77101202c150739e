"""What can be written: arrays of all kinds, given whole or in chunks.

An `ArraySource` knows its type and shape before its first element, so a writer can plan; its elements come in
chunks, in row-major order, so a tensor need never be in memory at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import Part, TensorSlice, box_shape, whole_box
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.dtypes import RESOURCE, VARIANT, DType, dtype_of_array, dtype_of_plain_array
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.shapes import checked_shape, element_count

_BUFFER_ELEMENTS: Final = 1 << 18  # for arrays that must be gathered or byte-swapped on the way out


class SupportsDLPack(Protocol):
    """An array of another library that can be shared by the DLPack protocol."""

    def __dlpack__(self) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


ArrayLike = npt.ArrayLike | SupportsDLPack


class Variant(bytes):
    """One element of a variant tensor: a serialized VariantTensorDataProto, carried along unopened."""


class ArraySource:
    """An array to be written: its type, its shape, and its elements in chunks.

    `chunks` yields arrays of the type's NumPy dtype (any shape) that together hold the elements in row-major order.
    It is gone through once, when the tensor is written.
    """

    __slots__ = ("chunks", "dtype", "shape")

    def __init__(self, dtype: DType | npt.DTypeLike, shape: Sequence[int], chunks: Iterable[npt.ArrayLike]) -> None:
        self.dtype = DType.of(dtype)
        self.shape = checked_shape(shape)
        self.chunks = chunks
        if self.dtype is RESOURCE:
            raise InvalidArgumentError("resource handles cannot be stored in a checkpoint")

    def __repr__(self) -> str:
        return f"<ArraySource: {self.dtype} {list(self.shape)}>"

    @classmethod
    def of(cls, value: ArrayLike | ArraySource, dtype: DType | npt.DTypeLike | None = None) -> ArraySource:
        """A source for anything that is an array: NumPy, ml_dtypes, `__array__`, `__dlpack__`, or Python numbers.

        `dtype` names the stored type where the array alone does not: "qint8" for an int8 array, "variant" for bytes.
        """
        if isinstance(value, ArraySource):
            return value
        array = _as_array(value)
        if dtype is not None:
            stored = DType.of(dtype)
        elif array.dtype == object and array.size and all(isinstance(item, Variant) for item in array.reshape(-1)):
            stored = VARIANT
        else:
            stored = dtype_of_array(array.dtype)
        return cls(stored, array.shape, (_checked_array(array, stored),))

    @property
    def nbytes(self) -> int:
        """The bytes its elements take in a file. Strings are counted only if they are at hand, not if they stream."""
        if not self.dtype.is_object:
            return element_count(self.shape) * self.dtype.itemsize
        at_hand = self.chunks if isinstance(self.chunks, tuple) else ()
        return sum(len(item) + 1 for chunk in at_hand for item in np.asarray(chunk).reshape(-1))

    def gather(self) -> Array:
        """The whole array, in memory, one-dimensional."""
        if self.dtype.is_object:
            items = self.elements()
            array = np.empty(len(items), dtype=object)
            array[:] = items
            return array
        # Each is copied at once: `join` would first collect them all, by when they are no longer valid.
        return np.frombuffer(b"".join(map(bytes, self.buffers())), self.dtype.array_dtype)

    def elements(self) -> list[bytes]:
        """All elements of a string or variant tensor."""
        found: list[bytes] = []
        for chunk in self.chunks:
            found += [_as_bytes(item, len(found) + at) for at, item in enumerate(np.asarray(chunk).reshape(-1))]
        self._check_count(len(found))
        return found

    def buffers(self) -> Iterator[memoryview]:
        """The bytes of a numeric tensor, little-endian, as chunks that stay valid until the next one is asked for."""
        expected = self.dtype.array_dtype
        count = 0
        for chunk in self.chunks:
            array = np.asarray(chunk)
            if array.dtype != expected and dtype_of_array(array.dtype).array_dtype != expected:
                raise InvalidArgumentError(f"a chunk of {array.dtype} in a source of {self.dtype}")
            for piece in _contiguous_pieces(array, self.dtype):
                count += piece.nbytes // self.dtype.itemsize
                yield piece
        self._check_count(count)

    def _check_count(self, count: int) -> None:
        if count != element_count(self.shape):
            raise InvalidArgumentError(
                f"a source of shape {list(self.shape)} gave {count} elements, expected {element_count(self.shape)}"
            )


@dataclass(frozen=True)
class PartitionedArray:
    """A tensor given in slices, to be stored in slices under one name, as partitioned variables are.

    A slice is a TensorSlice, or written as `np.s_[0:5]`. Together they must cover the tensor, and none may overlap
    another. (To write some slices here and others elsewhere, use `BundleWriter.add_slice` and `merge_bundles`.)
    """

    shape: tuple[int, ...]
    parts: Sequence[tuple[Part, ArrayLike | ArraySource]]

    def sources(self) -> list[tuple[TensorSlice, ArraySource]]:
        """The slices, checked against the shape and against each other."""
        found = [(TensorSlice.of(part, self.shape), ArraySource.of(array)) for part, array in self.parts]
        boxes = [part.box(self.shape) for part, _ in found]
        for (part, source), box in zip(found, boxes, strict=True):
            if source.shape != box_shape(box):
                raise InvalidArgumentError(
                    f"slice {part} has shape {list(box_shape(box))}, got an array of {list(source.shape)}"
                )
            if source.dtype is not found[0][1].dtype:
                raise InvalidArgumentError(f"slice {part} is {source.dtype}, the first one {found[0][1].dtype}")
        try:
            copies_for(whole_box(self.shape), boxes)
        except DataLossError as error:
            raise InvalidArgumentError(str(error)) from None
        return found

    @classmethod
    def split(cls, array: ArrayLike, pieces: int, axis: int = 0) -> PartitionedArray:
        """An array cut along an axis into nearly equal pieces, the larger ones first, as TensorFlow partitions."""
        whole = _as_array(array)
        if not -whole.ndim <= axis < whole.ndim or not 1 <= pieces <= max(whole.shape[axis], 1):
            raise InvalidArgumentError(f"cannot cut shape {list(whole.shape)} into {pieces} pieces along axis {axis}")
        parts: list[tuple[Part, ArrayLike | ArraySource]] = []
        start = 0
        for piece in np.array_split(whole, pieces, axis):
            extents = [(0, size) for size in whole.shape]
            extents[axis] = (start, piece.shape[axis])
            parts.append((TensorSlice(tuple(extents)), piece))
            start += piece.shape[axis]
        return cls(whole.shape, tuple(parts))


def checked_slice(
    name: str, shape: Sequence[int], part: Part, value: ArrayLike | ArraySource
) -> tuple[tuple[int, ...], TensorSlice, ArraySource]:
    """The full shape, the slice and the array of one slice of a tensor, which must fit each other."""
    shape = tuple(shape)
    part = TensorSlice.of(part, shape)
    source = ArraySource.of(value)
    expected = box_shape(part.box(shape))
    if source.shape != expected:
        raise InvalidArgumentError(
            f'slice {part} of "{name}" {list(shape)} has shape {list(expected)}, got an array of {list(source.shape)}'
        )
    return shape, part, source


def plain_dtype(value: object) -> DType | None:
    """The type of an array that lies in memory just as it is stored; None for anything else.

    Most arrays do, and many are small: for them it pays to know at once that there is nothing to prepare.
    """
    if type(value) is not np.ndarray or not value.flags.c_contiguous:
        return None
    dtype = dtype_of_plain_array(value.dtype)
    return None if dtype is None or dtype.bits else dtype


def _as_array(value: ArrayLike) -> Array:
    """An array that shares memory with `value` where that is possible."""
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgumentError("a masked array cannot be stored with its mask; fill it first: array.filled(value)")
    if isinstance(value, np.ndarray):
        wrong = _wrong_element(value)
        if wrong is not None:
            _as_bytes(value.reshape(-1)[wrong], wrong)
        return value
    what = f"cannot take {type(value).__name__} for an array"
    try:
        if hasattr(value, "__dlpack__"):
            return _foreign_array(value)
        # NumPy's own types for text drop zeros at the end, and would make numbers of a subclass of bytes.
        array = np.array(value, dtype=object) if isinstance(value, bytes | str) else np.asarray(value)
        if array.dtype.kind in "SU":
            array = np.array(value, dtype=object)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError) as error:
        raise InvalidArgumentError(f"{what}: {error}") from error
    if _wrong_element(array) is not None:
        raise InvalidArgumentError(f"{what}: its elements are neither numbers of up to 64 bits nor bytes or text")
    return array


def _wrong_element(array: Array) -> int | None:
    """The position of an element that cannot be stored, in an array of objects; None if all can."""
    if array.dtype.kind not in "OT":
        return None
    return next((at for at, item in enumerate(array.reshape(-1)) if not isinstance(item, bytes | str)), None)


def _foreign_array(value: Any) -> Array:
    """An array of another library, brought to the CPU and detached from any gradient first."""
    if type(value).__module__.partition(".")[0] == "cupy":
        return np.asarray(value.get())  # NumPy is not let at memory of a GPU
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "resolve_conj"):
        value = value.resolve_conj().resolve_neg()  # which PyTorch notes, and does when it must
    if hasattr(value, "cpu") and value.__dlpack_device__()[0] != 1:
        value = value.cpu()
    if hasattr(value, "__array__"):
        try:
            return np.asarray(value)
        except TypeError:
            pass  # PyTorch has types, such as bfloat16, that NumPy lacks
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        stored = DType.of(str(value.dtype).removeprefix("torch."))
        bits = value.contiguous().view(torch.uint8 if stored.itemsize == 1 else torch.int16)
        return np.asarray(bits).view(stored.array_dtype)
    return np.from_dlpack(value)


def _checked_array(array: Array, dtype: DType) -> Array:
    if array.dtype == dtype.array_dtype:
        return array
    if dtype.is_object:
        if array.dtype.kind not in "OSUT":
            raise InvalidArgumentError(f"{dtype} tensors hold bytes or text, got an array of {array.dtype}")
        return array
    if array.dtype.names is not None:
        array = array[array.dtype.names[0]]  # TensorFlow's structured spelling of a quantised type
    if array.dtype.newbyteorder("=") != dtype.array_dtype:
        raise InvalidArgumentError(f"{dtype} tensors are stored from {dtype.array_dtype} arrays, got {array.dtype}")
    return array


def _as_bytes(item: object, at: int) -> bytes:
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        try:
            return item.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"element {at} of a string tensor, {item!r}: {error.reason}") from None
    raise InvalidArgumentError(f"element {at} of a string tensor is {type(item).__name__}, expected bytes or str")


def _contiguous_pieces(array: Array, dtype: DType) -> Iterator[memoryview]:
    """The elements in row-major order and little-endian: the array's own memory if it is so already."""
    swapped = array.dtype.newbyteorder("<") != array.dtype
    if dtype.bits:
        # Bits above the type's own mean nothing in memory; in a file they are zero.
        low = np.uint8((1 << dtype.bits) - 1)
        raw = array.view(np.uint8)
        pieces: Iterable[Array] = (piece & low for piece in _buffered_chunks(raw, raw.dtype))
    elif array.flags.c_contiguous and not swapped:
        pieces = (array,)
    elif dtype.array_dtype.kind == "V" or array.dtype.type.__module__ == ml_dtypes.bfloat16.__module__:
        bits = np.dtype(f"<u{array.dtype.itemsize}")  # NumPy's iterator does not know these types, but knows their bits
        pieces = _buffered_chunks(array.view(bits.newbyteorder(">") if swapped else bits), bits)
    else:
        pieces = _buffered_chunks(array, array.dtype.newbyteorder("<"))
    for piece in pieces:
        if piece.size:
            yield piece.reshape(-1).view(np.uint8).data


def _buffered_chunks(array: Array, dtype: np.dtype[Any]) -> Iterator[Array]:
    flags: Any = ["external_loop", "buffered", "zerosize_ok"]
    with np.nditer(
        array, flags=flags, op_dtypes=[dtype], casting="equiv", order="C", buffersize=_BUFFER_ELEMENTS
    ) as pieces:
        for piece in pieces:
            yield np.ascontiguousarray(piece)
