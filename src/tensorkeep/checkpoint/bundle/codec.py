"""Tensors as the bytes of a V2 data file, with their checksums.

    numeric = the elements, row-major, in the byte order the header names; one byte each for types below a byte
    string  = varint(length)*  masked_crc(4)  bytes of all elements
    variant = ( varint(length)  bytes of a VariantTensorDataProto  masked_crc(4) )*

The checksum of a numeric tensor is that of its bytes. That of strings runs over the lengths, each as a 4-byte integer
(8 if it does not fit), then over the stored 4 bytes, which are its masked value so far, then over the elements. That
of variants runs, for each element, over its length as an 8-byte integer, its bytes, and the stored 4 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.sources import ArraySource, Variant
from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.io.coding.crc32c import crc32c, mask
from tensorkeep.io.coding.varint import decode_varint, encode_varint
from tensorkeep.io.coding.varint_arrays import decode_varints, encode_varints
from tensorkeep.io.files.filesystem import Buffer
from tensorkeep.shapes import element_count

CHUNK: Final = 1 << 20  # small enough that a chunk is still in the cache when it is written after its checksum
MAX_RANK: Final = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32  # NumPy's


def write_tensor(source: ArraySource, write: Callable[[Buffer], None]) -> tuple[int, int]:
    """Writes the stored bytes of a tensor. Returns how many they are, and their checksum, not masked."""
    size = crc = 0
    for buffer, so_far in _encode(source):
        write(buffer)
        size += len(buffer)
        crc = so_far
    return size, crc


def _encode(source: ArraySource) -> Iterator[tuple[Buffer, int]]:
    """The stored bytes in chunks, each with the running checksum of the tensor after it."""
    if source.dtype is VARIANT:
        yield from _encode_variants(source.elements())
    elif source.dtype.is_object:
        yield from _encode_strings(source.elements())
    else:
        crc = 0
        for buffer in source.buffers():
            for at in range(0, len(buffer), CHUNK):
                chunk = buffer[at : at + CHUNK]
                crc = crc32c(chunk, crc)
                yield chunk, crc


def _encode_strings(elements: list[bytes]) -> Iterator[tuple[Buffer, int]]:
    lengths = np.fromiter(map(len, elements), dtype=np.uint64, count=len(elements))
    crc = _lengths_crc(lengths, "<")
    check = mask(crc).to_bytes(4, "little")
    crc = crc32c(check, crc)
    yield encode_varints(lengths) + check, crc
    at = 0
    while at < len(elements):
        end = at + 1
        size = len(elements[at])
        while end < len(elements) and size < CHUNK:
            size += len(elements[end])
            end += 1
        chunk = b"".join(elements[at:end])
        crc = crc32c(chunk, crc)
        yield chunk, crc
        at = end


def _encode_variants(elements: list[bytes]) -> Iterator[tuple[Buffer, int]]:
    crc = 0
    for element in elements:
        crc = crc32c(element, crc32c(len(element).to_bytes(8, "little"), crc))
        check = mask(crc).to_bytes(4, "little")
        crc = crc32c(check, crc)
        yield b"".join((encode_varint(len(element)), element, check)), crc


def check_shape(shape: tuple[int, ...], dtype: DType) -> None:
    """Refuses shapes that NumPy cannot hold. Those without a zero are as large as their data, which others check."""
    if len(shape) > MAX_RANK:
        raise UnimplementedError(f"{len(shape)} dimensions are more than the {MAX_RANK} that NumPy can hold")
    if 0 in shape and element_count([size or 1 for size in shape]) * (dtype.itemsize or 8) >= 1 << 63:
        raise UnimplementedError(f"a {dtype} array of shape {list(shape)} is more than NumPy can hold")


def decode_objects(dtype: DType, data: memoryview, shape: tuple[int, ...], order: str) -> tuple[Array, int]:
    """A string or variant tensor from its stored bytes ("<" or ">" gives their order), and its checksum."""
    count = element_count(shape)
    decode = _decode_variants if dtype is VARIANT else _decode_strings
    elements, crc = decode(data, count, order)
    array = np.empty(count, dtype=object)
    array[:] = elements
    return array.reshape(shape), crc


def _decode_strings(data: memoryview, count: int, order: str) -> tuple[list[bytes], int]:
    if count == 0 and len(data) == 0:
        return [], 0
    lengths, at = decode_varints(data, 0, count)
    crc = _lengths_crc(lengths, order)
    total = sum(lengths.tolist())
    if at + 4 + total != len(data):
        raise DataLossError(
            f"{count} strings take {at} bytes of lengths, 4 of checksum and {total} of text, but {len(data)} are stored"
        )
    _check_stored(data, at, crc, order, "the string lengths")
    crc = crc32c(data[at:], crc)
    text = bytes(data[at + 4 :])
    ends = np.cumsum(lengths).tolist()
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)], crc


def _decode_variants(data: memoryview, count: int, order: str) -> tuple[list[bytes], int]:
    if order != "<":
        raise UnimplementedError("variant tensors are not portable between byte orders; nor are they in TensorFlow")
    elements: list[bytes] = []
    crc = at = 0
    for number in range(count):
        length, at = decode_varint(data, at)
        if at + length + 4 > len(data):
            raise DataLossError(f"variant {number} of {length} bytes runs past the end of the {len(data)} stored bytes")
        element = data[at : at + length]
        crc = crc32c(element, crc32c(length.to_bytes(8, "little"), crc))
        at += length
        _check_stored(data, at, crc, order, f"variant {number}")
        crc = crc32c(data[at : at + 4], crc)
        at += 4
        elements.append(Variant(element))
    if at != len(data):
        raise DataLossError(f"{count} variants take {at} bytes, but {len(data)} are stored")
    return elements, crc


def _lengths_crc(lengths: npt.NDArray[np.uint64], order: str) -> int:
    if not lengths.size or lengths.max() <= 0xFFFFFFFF:
        return crc32c(lengths.astype(f"{order}u4").tobytes())
    crc = 0
    for length in lengths.tolist():
        width = 4 if length <= 0xFFFFFFFF else 8
        crc = crc32c(length.to_bytes(width, "little" if order == "<" else "big"), crc)
    return crc


def _check_stored(data: memoryview, at: int, crc: int, order: str, what: str) -> None:
    stored = int.from_bytes(data[at : at + 4], "little" if order == "<" else "big")
    if stored != mask(crc):
        raise DataLossError(f"{what} have checksum {mask(crc):#010x}, expected {stored:#010x} (masked, at byte {at})")
