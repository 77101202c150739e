"""Arrays in NumPy's own files: .npy, one array; .npz, a zip of several."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, PermissionDeniedError, ResourceExhaustedError, TensorKeepError
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.io.machine.resources import available_memory

_NPY: Final = b"\x93NUMPY"
_MOST_HEADER: Final = 1 << 14
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")


class PickleRefusedError(PermissionDeniedError, ValueError):
    """A file holds a Python pickle, and loading these was not allowed."""


def read_numpy_file(path: str, fs: FileSystem, allow_pickle: bool = False) -> Array | Mapping[str, Array] | Any:
    """The array of an .npy file, the arrays of an .npz file by name, or what a pickle holds if that is allowed.

    What a file is, its content says. A pickle is a program: PickleRefusedError, unless it is allowed to run it.
    """
    file = fs.open(path)
    try:
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    is_numpy = data.startswith((_NPY, *_ZIP))
    if not is_numpy and not allow_pickle:
        raise PickleRefusedError(
            f'"{path}" is neither an .npy nor an .npz file. If it is a pickle, loading it runs the Python code in it, '
            "which must be allowed; better, save the array with numpy.save"
        )
    with _explained_errors(path):
        found = np.load(BytesIO(data), allow_pickle=allow_pickle)
        if not isinstance(found, np.lib.npyio.NpzFile):
            return found
        members = zipfile.ZipFile(BytesIO(data)).infolist()
        size = sum(member.file_size for member in members)
        if size > available_memory():
            raise ResourceExhaustedError(f'"{path}" takes {size} bytes unpacked, for which there is no memory')
        return {name: found[name] for name in found.files}


@contextmanager
def _explained_errors(path: str) -> Iterator[None]:
    """One of our errors for whatever NumPy, and what it stands on, raise for damaged files, which is not documented."""
    try:
        yield
    except TensorKeepError:
        raise
    except Exception as error:
        if "allow_pickle" in str(error):
            raise PickleRefusedError(
                f'"{path}" holds Python objects in a pickle: loading it runs the Python code in it, which must be '
                "allowed; better, save numbers, or text with a dtype such as S10"
            ) from None
        raise DataLossError(f'"{path}" is damaged: {error}') from error


def encode_npy(array: Array) -> bytes:
    """An .npy file. Objects, such as strings of any length, become a pickle in it, as `numpy.save` makes them."""
    target = BytesIO()
    np.save(target, array)
    return target.getvalue()


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """What an .npy file begins with, before the elements of an array in the order of C."""
    target = BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(target, described)
    return target.getvalue()


def decode_npy(data: bytes | bytearray | memoryview, what: str) -> Array:
    """The array of an .npy file in memory, as a view of it. Never a pickle: PickleRefusedError."""
    view = memoryview(data)
    with _explained_errors(what):
        start, dtype, fortran, shape = _npy_header(bytes(view[:_MOST_HEADER]))
        if dtype.hasobject:
            raise PickleRefusedError(f'"{what}" holds Python objects in a pickle: save numbers, or text such as S10')
        if not dtype.itemsize:
            raise DataLossError(f'"{what}" has elements without bytes')
        size = prod(shape) * dtype.itemsize
        if len(view) - start < size:
            raise DataLossError(f'"{what}" is damaged: {len(view) - start} bytes of data, expected {size}')
        flat = np.frombuffer(view, dtype, prod(shape), start) if size else np.empty(prod(shape), dtype)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _npy_header(data: bytes) -> tuple[int, np.dtype[Any], bool, tuple[int, ...]]:
    """Where the elements begin, their type, whether columns come first, and the shape."""
    major = data[6] if data.startswith(_NPY) and len(data) > 8 else 0
    width = {1: 2, 2: 4, 3: 4}.get(major)
    if width is None:
        raise DataLossError("it is not an .npy file")
    end = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    if end > len(data):
        raise DataLossError("its header is cut off")
    return end, *_header_fields(data[8 + width : end], "utf-8" if major == 3 else "latin-1")


@lru_cache(256)
def _header_fields(header: bytes, encoding: str) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    fields = ast.literal_eval(header.decode(encoding))
    shape = tuple(fields["shape"])
    if fields.keys() != {"descr", "fortran_order", "shape"} or not all(type(n) is int and n >= 0 for n in shape):
        raise DataLossError("its header is not that of an .npy file")
    return np.dtype(fields["descr"]), bool(fields["fortran_order"]), shape


def decode_npz(data: bytes | bytearray | memoryview, what: str, most_bytes: int) -> dict[str, Array]:
    """The arrays of an .npz file in memory, by name; ResourceExhaustedError if they take more than so many bytes."""
    found: dict[str, Array] = {}
    with _explained_errors(what), zipfile.ZipFile(BytesIO(data)) as archive:
        members = archive.infolist()
        size = sum(member.file_size for member in members)
        if size > most_bytes:
            raise ResourceExhaustedError(f'"{what}" takes {size} bytes unpacked, and at most {most_bytes} are taken')
        for member in members:
            with archive.open(member) as file:
                content = file.read(member.file_size)
            found[member.filename.removesuffix(".npy")] = decode_npy(bytearray(content), member.filename)
    return found


def encode_npz(arrays: Mapping[str, Array]) -> bytes:
    """An .npz file. Names may be any, those of `numpy.savez`'s own arguments too."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), encode_npy(array))
    return target.getvalue()


def write_npy(path: str, array: Array, fs: FileSystem) -> None:
    """Writes an .npy file, whole or not at all."""
    atomic_write(fs, path, encode_npy(array), Durability.CACHE)


def write_npz(path: str, arrays: Mapping[str, Array], fs: FileSystem) -> None:
    """Writes an .npz file, whole or not at all. Names may be any, those of `numpy.savez`'s own arguments too."""
    atomic_write(fs, path, encode_npz(arrays), Durability.CACHE)
