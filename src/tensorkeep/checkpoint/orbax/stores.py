"""Arrays in zarr, plain or within OCDBT, read by tensorstore: the library that Orbax itself reads and writes with.

Nothing is kept in memory between reads. Before anything is read, memory that it would take is compared with what there
is: files say shapes that nobody has to have written, for chunks that are missing are filled.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.orbax.tree import SavedTree
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.dtypes import dtype_of_array
from tensorkeep.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError, UnimplementedError
from tensorkeep.io.files.everywhere import is_on_disk
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.shapes import element_count

_BAND: Final = 16 << 20  # bytes of an array that are read together
_LARGEST_BAND: Final = 256 << 20  # bytes; more than that is not read for the sake of chunks
_MOST_CHUNKS: Final = 1 << 22  # of an array; no honest one has more
_METADATA_FILES: Final = (".zarray", "zarr.json")


class StoredChunks:
    """An array in a store, open."""

    def __init__(self, store: Any, label: str) -> None:
        self._store = store
        self._label = label
        shape = tuple(int(size) for size in store.shape)
        try:
            dtype = dtype_of_array(np.dtype(store.dtype.numpy_dtype))
        except InvalidArgumentError as error:
            raise UnimplementedError(f"{label}: {error}") from None
        if dtype.is_object:
            raise UnimplementedError(f"{label} is an array of {store.dtype.name}, which cannot be read")
        self.info = TensorInfo(dtype, shape)
        chunk = store.chunk_layout.read_chunk.shape or ()
        self._chunk = tuple(int(size) or 1 for size in chunk) if len(chunk) == len(shape) else shape
        self._check_chunks()

    def _check_chunks(self) -> None:
        count = math.prod(-(-size // step) for size, step in zip(self.info.shape, self._chunk, strict=True))
        if count > _MOST_CHUNKS:
            raise DataLossError(f"{self._label} would be {count} chunks of {list(self._chunk)}, more than any has")
        self._require_memory(element_count(self._chunk) * self.info.dtype.itemsize, "a chunk")

    def _require_memory(self, size: int, what: str) -> None:
        if size > available_memory():
            raise ResourceExhaustedError(
                f"{self._label} ({self.info}) does not fit in memory: {what} takes {size} bytes"
            )

    def read(self, box: Sequence[tuple[int, int]]) -> Array:
        """The elements of a box."""
        sizes = [stop - start for start, stop in box]
        self._require_memory(element_count(sizes) * self.info.dtype.itemsize, "what is read")
        if 0 in sizes:
            return np.empty(sizes, self.info.dtype.array_dtype)
        with translated_errors(self._label):
            return self._array(self._store[tuple(slice(start, stop) for start, stop in box)].read().result())

    def read_rows(self, rows: npt.NDArray[np.int64]) -> Array:
        """Some indices along the first axis."""
        shape = (rows.size, *self.info.shape[1:])
        self._require_memory(element_count(shape) * self.info.dtype.itemsize, "what is read")
        if 0 in shape:
            return np.empty(shape, self.info.dtype.array_dtype)
        with translated_errors(self._label):
            return self._array(self._store.oindex[rows].read().result())

    def bands(self) -> Iterator[Array]:
        """All elements in order, some whole rows at a time; rows of chunks together, so that each is decoded once."""
        shape = self.info.shape
        if not shape or 0 in shape:
            yield self.read([(0, size) for size in shape])
            return
        row = element_count(shape[1:]) * self.info.dtype.itemsize
        fitting, of_chunk = max(1, _BAND // row), self._chunk[0]
        step = fitting // of_chunk * of_chunk
        if not step:
            step = of_chunk if of_chunk * row <= _LARGEST_BAND else fitting
        for start in range(0, shape[0], step):
            yield self.read([(start, min(start + step, shape[0])), *((0, size) for size in shape[1:])])

    def _array(self, found: Any) -> Array:
        return np.require(found, self.info.dtype.array_dtype, ["C", "W"]).reshape(np.shape(found))


class ArrayStores:
    """The arrays of a tree, opened when they are asked for."""

    def __init__(self, tree: SavedTree, fs: FileSystem) -> None:
        if not is_on_disk(fs, tree.folder):
            raise UnimplementedError(
                f'"{tree.folder}" is a checkpoint of Orbax, which can be read from local files alone, and not from '
                f"{type(fs).__name__}; copy it to a disk"
            )
        self._tensorstore = _tensorstore()
        self._tree = tree
        self._fs = fs
        self._folder = fs.canonical(tree.folder)
        self._context = self._tensorstore.Context({"cache_pool": {"total_bytes_limit": 0}})

    def open(self, stored: str, label: str) -> StoredChunks:
        """The array of a name. `label` is what it is called in messages."""
        is_zarr3 = self._tree.is_zarr3
        if is_zarr3 is None:
            is_zarr3 = f"{stored}/zarr.json" in self._keys()
        spec = {
            "driver": "zarr3" if is_zarr3 else "zarr",
            "kvstore": {**self._base(), "path": f"{stored}/"} if self._tree.is_ocdbt else self._files(stored),
            "fill_missing_data_reads": not self._tree.has_all_chunks,
        }
        with translated_errors(label):
            store = self._tensorstore.open(spec, read=True, open=True, context=self._context).result()
        return StoredChunks(store, label)

    def names(self) -> list[str]:
        """The names of all arrays, where nothing else says what there is."""
        ends = tuple(f"/{name}" for name in _METADATA_FILES)
        return sorted({key.rpartition("/")[0] for key in self._keys() if key.endswith(ends)})

    def _keys(self) -> set[str]:
        if not self._tree.is_ocdbt:
            folder = self._tree.folder
            return {
                f"{name}/{file}"
                for name in self._fs.list(folder)
                for file in _METADATA_FILES
                if self._fs.exists(posixpath.join(folder, name, file))
            }
        with translated_errors(f'"{self._tree.folder}"'):
            store = self._tensorstore.KvStore.open(self._base(), context=self._context).result()
            return {key.decode("utf-8", "surrogateescape") for key in store.list().result()}

    def _base(self) -> dict[str, Any]:
        return {"driver": "ocdbt", "base": {"driver": "file", "path": f"{self._folder}/"}}

    def _files(self, stored: str) -> dict[str, Any]:
        return {"driver": "file", "path": f"{self._folder}/{stored}/"}


@contextmanager
def translated_errors(label: str) -> Iterator[None]:
    """What tensorstore says is wrong, as an error of ours."""
    try:
        yield
    except MemoryError:
        raise ResourceExhaustedError(f"{label} does not fit in memory") from None
    except (ValueError, OSError, RuntimeError, TypeError, OverflowError, NotImplementedError) as error:
        message = str(error).partition(" [tensorstore_spec=")[0].partition(" [source locations=")[0]
        if message.startswith("RESOURCE_EXHAUSTED"):
            raise ResourceExhaustedError(f"{label}: {message}") from error
        raise DataLossError(f"{label}: {message}") from error


def _tensorstore() -> Any:
    try:
        import tensorstore
    except ImportError as error:
        raise UnimplementedError(
            "checkpoints of Orbax need the package tensorstore, which cannot be imported "
            f'({error}): pip install "tensorkeep[orbax]"'
        ) from error
    return tensorstore
