"""Arrays in NumPy's own files: .npy, one array; .npz, a zip of several."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, PermissionDeniedError, ResourceExhaustedError, TensorKeepError
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.io.machine.resources import available_memory

_NPY: Final = b"\x93NUMPY"
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
    with _explained(path):
        found = np.load(BytesIO(data), allow_pickle=allow_pickle)
        if not isinstance(found, np.lib.npyio.NpzFile):
            return found
        members = zipfile.ZipFile(BytesIO(data)).infolist()
        size = sum(member.file_size for member in members)
        if size > available_memory():
            raise ResourceExhaustedError(f'"{path}" takes {size} bytes unpacked, for which there is no memory')
        return {name: found[name] for name in found.files}


@contextmanager
def _explained(path: str) -> Iterator[None]:
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


def write_npy(path: str, array: Array, fs: FileSystem) -> None:
    """Writes an .npy file, whole or not at all."""
    atomic_write(fs, path, encode_npy(array), Durability.CACHE)


def write_npz(path: str, arrays: Mapping[str, Array], fs: FileSystem) -> None:
    """Writes an .npz file, whole or not at all. Names may be any, those of `numpy.savez`'s own arguments too."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), encode_npy(array))
    atomic_write(fs, path, target.getvalue(), Durability.CACHE)
