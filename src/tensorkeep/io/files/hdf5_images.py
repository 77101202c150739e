"""HDF5 files as bytes, by h5py (the extra `convert`): made in memory, and read from there."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import DataLossError, UnimplementedError


def imported_h5py() -> Any:
    """The package h5py; UnimplementedError, which names the extra, if it is not there."""
    try:
        import h5py
    except ImportError as error:
        raise UnimplementedError(
            f'HDF5 needs the package h5py, which cannot be imported ({error}): pip install "tensorkeep[convert]"'
        ) from error
    return h5py


def new_image() -> Any:
    """An empty HDF5 file in memory."""
    return imported_h5py().File("image", "w", driver="core", backing_store=False)


def image_bytes(file: Any) -> bytes:
    """The bytes of a file that is in memory, which is closed."""
    file.flush()
    data: bytes = file.id.get_file_image()
    file.close()
    return data


def opened_image(data: bytes, path: str) -> Any:
    """A file of its bytes, to be read; `path` is for the error if it is none."""
    h5py = imported_h5py()
    try:
        return h5py.File(h5py.h5f.open_file_image(data))
    except (OSError, RuntimeError, ValueError) as error:
        raise DataLossError(f'"{path}" cannot be read as HDF5: {error}') from error
