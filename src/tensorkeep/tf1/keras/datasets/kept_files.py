"""The files that Keras keeps of datasets: NumPy archives, and pickles of plain values.

Of a pickle, nothing but numbers, text, lists, dictionaries and NumPy's arrays are made: whatever else it names is
refused.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.io.files.archives import archive_members
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.io.files.memory import file_of
from tensorkeep.tf1.keras.utils.downloads import get_file, read_bytes

_ALLOWED: Final = {
    (module, name)
    for package in ("numpy", "numpy.core", "numpy._core", "numpy.core.multiarray", "numpy._core.multiarray")
    for module in (package,)
    for name in ("_reconstruct", "ndarray", "dtype", "scalar")
} | {("_codecs", "encode")}
_MOST: Final = 1 << 34  # bytes of one array
_OF_PICKLES: Final = (
    *(pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, ValueError, TypeError),
    *(OverflowError, MemoryError, RecursionError, zlib.error),
)


@contextmanager
def tell_of_file(path: str) -> Iterator[None]:
    """Raises DataLossError, with the path, where a kept file does not hold what one of its kind does."""
    try:
        yield
    except TensorKeepError:
        raise
    except (AttributeError, EOFError, LookupError, OSError, RecursionError, TypeError, ValueError, zlib.error) as error:
        raise DataLossError(f'"{path}" does not hold what is expected: {error}. Delete it, and get it anew') from error


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise DataLossError(f"a pickle names {module}.{name}, which is no array: it is not loaded")
        return super().find_class(module, name)


def unpickle(data: bytes, what: str, encoding: str = "ASCII") -> Any:
    """The plain values of a pickle; DataLossError if it is damaged, or holds anything else."""
    try:
        return _Plain(file_of(data), encoding=encoding).load()
    except DataLossError as error:
        raise DataLossError(f'"{what}": {error}') from error
    except _OF_PICKLES as error:
        raise DataLossError(f'"{what}" is no pickle that can be read: {error}') from error


def load_archive(fname: PathLike, origin: str, names: Sequence[str], file_hash: str | None = None) -> list[Array]:
    """Arrays of a NumPy archive in the folder of kept files."""
    path = get_file(fname, origin=origin, file_hash=file_hash)
    found = {member.name.removesuffix(".npy"): member for member in archive_members(read_bytes(path), path, most=1000)}
    if missing := [name for name in names if name not in found]:
        raise DataLossError(f'"{path}" has no arrays {", ".join(missing)}; it has {", ".join(sorted(found))}')
    return [_array(found[name].read(_MOST), f"{path}: {name}") for name in names]


def _array(data: bytes, what: str) -> Array:
    """A NumPy file; one of objects, which is a pickle, holds lists of numbers."""
    file = file_of(data)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        _, _, dtype = read(file)
        if not dtype.hasobject:
            file.seek(0)
            found: Array = np.lib.format.read_array(file, allow_pickle=False)
            return found
    except (ValueError, EOFError) as error:
        raise DataLossError(f'"{what}" is no NumPy array: {error}') from error
    values: Array = unpickle(data[file.tell() :], what, encoding="latin1")
    return values
