"""NumPy's archives: every tensor an .npy file in a zip archive, none of them a pickle.

.npy = "\\x93NUMPY" major minor length(2, or 4 from version 2 on)  header  elements
header = the text of a Python dict: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import check_shape
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box, whole_box
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.convert.arrays import FileArray, PermutedArray, checked_extent, stretches
from tensorkeep.convert.hub import OpenTensors, SinkOptions, StoredArray, Tensors, TensorSink, TensorSource, unholdable
from tensorkeep.convert.writing import BufferedFile
from tensorkeep.convert.zip_files import ArchiveWriter, Member, members_of, names_in_archive
from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.errors import DataLossError, PermissionDeniedError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem, RandomAccessFile
from tensorkeep.shapes import element_count

_MAGIC: Final = b"\x93NUMPY"
_HELD: Final = frozenset(
    dtype for dtype in ALL_DTYPES if not (dtype.is_object or dtype.quantized or dtype.numpy_name.startswith("."))
)
_LONGEST_NAME: Final = 16_000  # letters, which take up to 4 bytes each, of 65535
_MOST_HEADER: Final = 1 << 16
_CHUNK: Final = 1 << 20


class NpzFormat:
    """.npz archives."""

    name = "npz"
    endings = (".npz",)

    def holds(self, path: str, fs: FileSystem) -> bool:
        names = names_in_archive(path, fs)
        return names is not None and all(name.endswith(".npy") for name in names)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        file = fs.open(path)
        try:
            found = {name.removesuffix(".npy"): _array(file, member) for name, member in members_of(file).items()}
        except BaseException:
            file.close()
            raise
        return OpenTensors(path, self.name, found, file.close)

    def problems(self, tensors: Tensors) -> list[str]:
        return (
            unholdable(tensors, _HELD, "npz, without a pickle,")
            + [f'"{name}" cannot be the name of a file in an archive' for name in tensors if "\0" in name]
            + [f'"{name[:40]}…" is too long for the name of a file' for name in tensors if len(name) > _LONGEST_NAME]
        )

    def files(self, path: str, tensors: Tensors, options: SinkOptions) -> list[str]:
        return [path]

    def create_sink(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> TensorSink:
        return _NpzSink(path, tensors, options, fs)


class _NpzSink:
    def __init__(self, path: str, tensors: Tensors, options: SinkOptions, fs: FileSystem) -> None:
        self.order = tuple(tensors)
        self._file = BufferedFile(path, options, fs)
        self._archive = ArchiveWriter(self._file)

    def write(self, name: str, source: ArraySource) -> None:
        head = _header(source.dtype, source.shape)
        with self._archive.member(f"{name}.npy", len(head) + source.nbytes) as file:
            file.write(head)
            for buffer in source.buffers():
                file.write(buffer)

    def commit(self) -> None:
        self._archive.finish()
        self._file.commit()

    def abort(self) -> None:
        self._file.abort()


def _header(dtype: DType, shape: tuple[int, ...]) -> bytes:
    descr = dtype.array_dtype.newbyteorder("<").str
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (-(len(_MAGIC) + 4 + len(text) + 1) % 64) + "\n"
    return _MAGIC + b"\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1")


def _array(file: RandomAccessFile, member: Member) -> StoredArray:
    what = f'"{member.name}"'
    with member.opened() as opened:
        start = opened.read(min(member.size, 12))
        wide = start[6:7] in (b"\x02", b"\x03")
        length = int.from_bytes(start[8 : 12 if wide else 10], "little")
        if not start.startswith(_MAGIC) or length > _MOST_HEADER:
            raise DataLossError(f'"{file.path}": {what} is no .npy file')
        text = start[12 if wide else 10 :] + opened.read(max(length + (12 if wide else 10) - len(start), 0))
    dtype, shape, is_fortran, order = _parse_header(file.path, what, text)
    at = (12 if wide else 10) + length
    if at + element_count(shape) * dtype.itemsize != member.size:
        raise DataLossError(f'"{file.path}": {what} has {member.size - at} bytes, expected those of {dtype} {shape}')
    stored = shape[::-1] if is_fortran else shape
    if member.offset is None:
        check_shape(stored, dtype)
        plain: StoredArray = PackedArray(member, at, dtype, stored, order)
    else:
        found = checked_extent(file, member.offset + at, dtype, stored, what)
        plain = CheckedArray(FileArray(file, found.offset, dtype, stored, order), member, is_fortran)
    return PermutedArray(plain, tuple(range(len(shape)))[::-1]) if is_fortran and len(shape) > 1 else plain


def _parse_header(path: str, what: str, text: bytes) -> tuple[DType, tuple[int, ...], bool, str]:
    """The type, the shape, whether the first index runs fastest, and the order of the bytes."""
    try:
        fields = ast.literal_eval(text.decode("latin1").strip())
        descr, is_fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        array_dtype = np.dtype(descr) if isinstance(descr, str) else None
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError) as error:
        raise DataLossError(f'"{path}": {what} has a header that cannot be read: {error}') from None
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise DataLossError(f'"{path}": {what} has the shape {str(shape)[:100]}')
    if array_dtype is None or array_dtype.hasobject:
        raise PermissionDeniedError(
            f'"{path}": {what} holds {descr}: Python objects in a pickle, which would run code, or a structure'
        )
    try:
        dtype = DType.of(array_dtype)
    except TensorKeepError:
        dtype = None
    if dtype is None or dtype.is_object:
        raise DataLossError(f'"{path}": {what} is of NumPy\'s type {array_dtype}, for which there is no tensor')
    return dtype, shape, bool(is_fortran), ">" if array_dtype.byteorder == ">" else "<"


@dataclass(frozen=True)
class CheckedArray:
    """A tensor in a member of an archive that is not packed. Where all of it is read, its checksum is compared."""

    base: FileArray
    member: Member
    is_always_whole: bool
    """Whether parts are read only on the way to all of it: what is turned round is read so."""

    @property
    def info(self) -> TensorInfo:
        return self.base.info

    def read(self, box: Box) -> Array:
        if self.is_always_whole or box == whole_box(self.base.shape):
            self._require_sum(self._whole_sum)
        return self.base.read(box)

    def chunks(self) -> Iterator[Array]:
        crc = self._head_sum
        for chunk in self.base.chunks():
            crc = self._added(chunk, crc)
            yield chunk
        self._require_sum(crc)

    def _added(self, chunk: Array, crc: int) -> int:
        """The checksum with a chunk added, as its bytes are in the file."""
        if self.base.order == ">":
            width = chunk.itemsize // 2 if self.base.dtype.is_complex else chunk.itemsize
            return zlib.crc32(chunk.view(f"u{width}").byteswap().data.cast("B"), crc)
        return zlib.crc32(chunk.view(np.uint8).data, crc)

    @cached_property
    def _head_sum(self) -> int:
        start = self.member.offset or 0
        return zlib.crc32(self.base.file.read(start, self.base.offset - start))

    @cached_property
    def _whole_sum(self) -> int:
        crc = self._head_sum
        for data in stretches(self.base.file, self.base.offset, self.base.info.nbytes):
            crc = zlib.crc32(data.data, crc)
        return crc

    def _require_sum(self, crc: int) -> None:
        if crc != self.member.crc:
            raise DataLossError(
                f'"{self.base.file.path}": the checksum of "{self.member.name}" is {crc:#010x}, expected '
                f"{self.member.crc:#010x}: the file is damaged"
            )


@dataclass(frozen=True)
class PackedArray:
    """A tensor in a packed member of an archive, unpacked as it is read."""

    member: Member
    start: int
    dtype: DType
    shape: tuple[int, ...]
    order: str

    @property
    def info(self) -> TensorInfo:
        return TensorInfo(self.dtype, self.shape)

    def read(self, box: Box) -> Array:
        whole = np.empty(element_count(self.shape), self.dtype.array_dtype)
        at = 0
        for chunk in self.chunks():
            whole[at : at + chunk.size] = chunk
            at += chunk.size
        found: Any = whole.reshape(self.shape)[tuple(slice(start, stop) for start, stop in box)]
        return np.array(found)

    def chunks(self) -> Iterator[Array]:
        left = element_count(self.shape) * self.dtype.itemsize
        stored = self.dtype.array_dtype.newbyteorder(">" if self.order == ">" else "<")
        with self.member.opened() as file:
            file.read(self.start)
            while left:
                data = file.read(min(left, _CHUNK - _CHUNK % self.dtype.itemsize))
                if not data or len(data) % self.dtype.itemsize:
                    raise DataLossError(f'"{self.member.name}" ends {left} bytes too early')
                left -= len(data)
                yield np.frombuffer(data, stored).astype(self.dtype.array_dtype, copy=False)


NPZ: Final = NpzFormat()
