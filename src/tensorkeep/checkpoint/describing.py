"""What TensorFlow's own reader says of a checkpoint, in its words and in its order.

The order of maps, and of the lines about a V1 checkpoint, is that of a hash table of the C++ library which TensorFlow
is built with. It depends on nothing but the names and the order in which they were put in, so it can be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.format import decode_name, encode_name
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import box_shape, slice_key
from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.errors import InternalError, MissingFileError, NotFoundError, WrongTypeError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text

_SEED: Final = np.uint64(0xC70F6907)
_MULTIPLIER: Final = np.uint64(0xC6A4A7935BD1E995)
_LONGEST: Final = 1 << 16  # no honest name is longer; where such names would stand is not worth the time
# The numbers of buckets that a table grows through, each the first of the library's primes past twice the last.
_BUCKETS: Final = (
    13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697, 1447153, 2938679,
)  # fmt: skip


class CheckpointDescription:
    """An open checkpoint, as TensorFlow's reader shows it. Names and keys may be given as text or as bytes."""

    def __init__(self, reader: CheckpointReader) -> None:
        self._reader = reader
        self._is_of_slices = reader.format == "V1"  # of which TensorFlow has a reader of its own, with words of its own

    @classmethod
    def open(cls, path: PathLike, *, fs: FileSystem = FILES) -> CheckpointDescription:
        """Opens what `open_checkpoint` opens."""
        name = path_text(path)
        try:
            return cls(open_checkpoint(name, fs=fs))
        except MissingFileError as error:
            raise MissingFileError(
                f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {name} ({error})"
            ) from None

    def __enter__(self) -> CheckpointDescription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()

    def debug_string(self) -> bytes:
        """A line for each tensor: name, type and shape.

        Of a V2 checkpoint in order of key, with a line for each stored slice in place of one for the tensor; of a V1
        checkpoint with the number of slices.
        """
        if self._is_of_slices:
            lines = [_line_of_slices(name, self._reader[name]) for name in hash_order(self._reader.names_as_stored)]
        else:
            found = sorted(_stored_infos(self._reader), key=lambda item: item[0])
            lines = [_line(key, info.dtype, info.shape) for key, info in found]
        return b"".join(lines)

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all tensors, in the order of TensorFlow's maps."""
        names = hash_order(self._reader.names_as_stored)
        # The map of a V1 checkpoint is made from the table that the reader keeps.
        return hash_order(names) if self._is_of_slices else names

    def shapes(self) -> dict[str, list[int]]:
        return {name: list(self._reader[name].shape) for name in self.names}

    def dtypes(self) -> dict[str, DType]:
        return {name: self._reader[name].dtype for name in self.names}

    def has(self, key: str | bytes) -> bool:
        """Whether there is a tensor of that name or, in the index of a V2 checkpoint, any entry of that key."""
        name = _text(key)
        if name in self._reader or self._is_of_slices:
            return name in self._reader
        is_slice = name.startswith("\0") and encode_name(name) in dict(_stored_infos(self._reader))
        return not name or is_slice

    def value(self, key: str | bytes) -> Any:
        """A tensor: an array, but NumPy's scalar for a scalar, and `bytes` for a single string."""
        name, reader = _text(key), self._reader
        if name not in reader:
            raise NotFoundError(
                f"{name} not found in checkpoint file" if self._is_of_slices else f"Key {name} not found in checkpoint"
            )
        if reader[name].dtype is VARIANT:
            raise InternalError(f"Tensorflow type {VARIANT.number} not convertible to numpy dtype.")
        array: npt.NDArray[Any] = reader.read(name)
        return array[()] if array.ndim == 0 else array


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return decode_name(value)
    if not isinstance(value, str):
        raise WrongTypeError(f"Expected binary or unicode string, got {value!r}")
    return value


def _stored_infos(reader: CheckpointReader) -> Iterator[tuple[bytes, TensorInfo]]:
    """All that is stored, by key: whole tensors, and the slices of the others."""
    for name, info in reader.items():
        if not info.slices:
            yield encode_name(name), info
        for part in info.slices:
            yield slice_key(encode_name(name), part), TensorInfo(info.dtype, box_shape(part.box(info.shape)))


def _line(key: bytes, dtype: DType, shape: tuple[int, ...], more: str = "") -> bytes:
    sizes = ",".join(map(str, shape))
    return key + f" ({dtype.enum_name}) [{sizes}]{more}\n".encode()


def _line_of_slices(name: str, info: TensorInfo) -> bytes:
    count = len(info.slices)
    return _line(encode_name(name), info.dtype, info.shape, f", {count} slices" if count > 1 else "")


# The order of std::unordered_map of libstdc++


def hash_order(names: Iterable[str]) -> list[str]:
    """Names in the order in which the hash table of the C++ library lists them, if put in one by one as given.

    The table is one list, in which the names of a bucket stand together. A name goes to the front of its bucket, and a
    new bucket to the front of the list; when the table grows, its names go into a new one in the order of the list.
    """
    given = list(dict.fromkeys(names))
    hashes = dict(zip(given, _hashes([encode_name(name) for name in given]), strict=True))
    buckets = _Buckets(_BUCKETS[0])
    for count, name in enumerate(given):
        if count == buckets.count:
            buckets = buckets.grown(hashes)
        buckets.put(name, hashes[name])
    return buckets.names()


class _Buckets:
    """The buckets in use, the one last made first when listed; in each, the name last put in first."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._used: dict[int, list[str]] = {}

    def put(self, name: str, value: int) -> None:
        self._used.setdefault(value % self.count, []).append(name)

    def names(self) -> list[str]:
        return [name for bucket in reversed(self._used.values()) for name in reversed(bucket)]

    def grown(self, hashes: dict[str, int]) -> _Buckets:
        larger = _Buckets(next((count for count in _BUCKETS if count > self.count), 2 * self.count + 1))
        for name in self.names():
            larger.put(name, hashes[name])
        return larger


def _hashes(keys: Sequence[bytes]) -> list[int]:
    """The hashes of strings: MurmurHash64A, as the library has it, eight bytes of each at a time."""
    keys = [key if len(key) <= _LONGEST else b"" for key in keys]
    lengths = np.array([len(key) for key in keys], np.int64)
    values = _SEED ^ (lengths.astype(np.uint64) * _MULTIPLIER)
    left = np.flatnonzero(lengths)
    at = 0
    while left.size:
        words = np.frombuffer(b"".join(keys[key][at : at + 8].ljust(8, b"\0") for key in left.tolist()), "<u8")
        words = np.where(lengths[left] - at >= 8, _mix_bits(words * _MULTIPLIER) * _MULTIPLIER, words)
        values[left] = (values[left] ^ words) * _MULTIPLIER
        at += 8
        left = left[lengths[left] > at]
    found: list[int] = _mix_bits(_mix_bits(values) * _MULTIPLIER).tolist()
    return found


def _mix_bits(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return values ^ (values >> np.uint64(47))
