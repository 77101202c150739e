"""The trees that Orbax has saved in a step, as a checkpoint: every array under its keys, joined by "/".

Texts are arrays of one string. `None` and empty containers, items of a step that are no trees, and trees of which
nothing says what is in them are told in `remarks`.
"""

from __future__ import annotations

import posixpath
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.orbax.folders import METADATA, SavedStep, saved_step
from tensorkeep.checkpoint.orbax.stores import ArrayStores, StoredChunks
from tensorkeep.checkpoint.orbax.tree import SavedTree, read_tree
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions, TensorInfo, local_path
from tensorkeep.checkpoint.slices.stitched_reading import Rows
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, whole_box
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.dtypes import STRING
from tensorkeep.errors import DataLossError, FailedPreconditionError, MissingFileError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.io.showing.amounts import some_of

_MOST_FILES: Final = 10_000  # that are listed
_MOST_TOLD: Final = 8
_TEXT: Final = TensorInfo(STRING, ())


class OrbaxReader(CheckpointReader):
    """A checkpoint of Orbax, open for reading: a folder of steps, one of them, or one tree.

    Opening reads what the trees are made of; an array is looked at when it is asked for. Its values have no checksums,
    but for those that the stores have of their own.
    """

    format = "Orbax"

    def __init__(self, path: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = FILES) -> None:
        given = path_text(path)
        step = saved_step(given, fs)
        if step is None:
            raise MissingFileError(f'"{given}" holds no checkpoint of Orbax: there is no "{METADATA}" in it')
        self.path = step.path
        self.options = options
        self._fs = fs
        self._is_closed = False
        self._step = step
        trees = {item: read_tree(folder, fs) for item, folder in step.trees.items()}
        self._arrays: dict[str, tuple[ArrayStores, str]] = {}
        self._texts: dict[str, str] = {}
        for item, tree in trees.items():
            self._add(tree, f"{item}/" if len(trees) > 1 else "")
        self._names = sorted({*self._arrays, *self._texts})
        self._opened: dict[str, StoredChunks] = {}
        self.remarks = tuple(_remarks(step, trees))

    def _add(self, tree: SavedTree, prefix: str) -> None:
        stores = ArrayStores(tree, self._fs)
        arrays = {name: name for name in stores.names()} if tree.arrays is None else tree.arrays
        for name, stored in arrays.items():
            self._arrays[prefix + name] = (stores, stored)
        self._texts.update((prefix + name, text) for name, text in tree.texts.items())

    def _reopening(self) -> tuple[object, ...]:
        return (local_path(self.path, self._fs), self.options)

    def _identity(self) -> object:
        names = (METADATA, "manifest.ocdbt", "_strings.json")
        paths = [posixpath.join(folder, name) for folder in self._step.trees.values() for name in names]
        return [sha256(_contents(path, self._fs)).hexdigest() for path in paths if self._fs.exists(path)]

    # The mapping

    def __getitem__(self, name: str) -> TensorInfo:
        return _TEXT if name in self._texts else self._chunks(name).info

    def __contains__(self, name: object) -> bool:
        return name in self._texts or name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def infos(self) -> dict[str, TensorInfo]:
        return dict(zip(self._names, in_parallel(self.__getitem__, self._names), strict=True))

    @property
    def damage(self) -> Sequence[TensorKeepError]:
        return ()

    @property
    def intact_names(self) -> Sequence[str]:
        return list(self._names)

    @property
    def files(self) -> Sequence[str]:
        found: list[str] = []
        folders = deque(self._step.trees.values())
        while folders and len(found) < _MOST_FILES:
            folder = folders.popleft()
            for name in sorted(self._fs.list(folder)):
                path = posixpath.join(folder, name)
                (folders if self._fs.is_directory(path) else found).append(path)
        return found[:_MOST_FILES]

    def _chunks(self, name: str) -> StoredChunks:
        """An array, opened on first use."""
        found = self._opened.get(name)
        if found is not None and not self._is_closed:
            return found
        if name not in self._arrays:
            raise self._not_found(name)
        if self._is_closed:
            raise FailedPreconditionError(f'the reader of "{self.path}" is closed')
        stores, stored = self._arrays[name]
        return self._opened.setdefault(name, stores.open(stored, f'"{self.path}": tensor "{name}"'))

    # Reading

    def source(self, name: str) -> ArraySource:
        info = self[name]
        if name in self._texts or not info.shape:
            return ArraySource.of(self.read(name), info.dtype)
        return ArraySource(info.dtype, info.shape, self._chunks(name).bands())

    def verify(self, name: str) -> None:
        """Reads all of an array. There is nothing to compare it with, but what cannot be decoded is found."""
        if name not in self._texts:
            deque(self._chunks(name).bands(), maxlen=0)

    def close(self) -> None:
        self._is_closed = True
        self._opened.clear()

    def _read_whole(self, name: str, info: TensorInfo, copy: bool) -> Array:
        if name in self._texts:
            text = np.empty((), object)
            text[()] = self._texts[name].encode("utf-8", "surrogatepass")
            return text
        return self._chunks(name).read(whole_box(info.shape))

    def _read_part(self, name: str, info: TensorInfo, part: TensorSlice, copy: bool) -> Array:
        return (
            self._read_whole(name, info, copy) if name in self._texts else self._chunks(name).read(part.box(info.shape))
        )

    def _read_rows(self, name: str, info: TensorInfo, rows: Rows) -> Array:
        return self._chunks(name).read_rows(rows)

    def _read_many(self, names: list[str], threads: int | None, copy: bool) -> dict[str, Array]:
        return dict(zip(names, in_parallel(self.read, names, threads), strict=True))


def _remarks(step: SavedStep, trees: Mapping[str, SavedTree]) -> Iterator[str]:
    for item, tree in trees.items():
        of_item = f' of item "{item}"' if len(trees) > 1 else ""
        if tree.empty:
            told = _some_items([f'"{name}" ({what})' for name, what in tree.empty.items()])
            yield f"leaves without a value{of_item} are left out: {told}"
        if tree.arrays is None:
            yield f'there is no "{METADATA}"{of_item}: arrays go by the names of the store, their keys joined by "."'
    if step.others:
        yield f"items that are no trees of arrays are left out: {some_of(step.others, 8)}"


def _contents(path: str, fs: FileSystem) -> bytes:
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    except DataLossError:
        return b""
    finally:
        file.close()


def _some_items(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST_TOLD]) + (f" and {len(items) - _MOST_TOLD} more" if items[_MOST_TOLD:] else "")
