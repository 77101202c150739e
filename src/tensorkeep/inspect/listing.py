"""What a checkpoint holds, told from its index.

A small index is read here, without NumPy, whose import takes longer than all the rest. What is large, damaged, or of
the first version is left to the readers of checkpoints (see reader_listing.py), which know how to deal with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tensorkeep import inspect
from tensorkeep._lazy import later
from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry, Header, encode_name
from tensorkeep.checkpoint.bundle.index_contents import IndexContents, read_contents
from tensorkeep.checkpoint.finding.file_names import IN_MODEL, data_path, index_path, prefix_of_file
from tensorkeep.checkpoint.slices.tensor_slice import slice_key
from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of, size_text
from tensorkeep.shapes import element_count
from tensorkeep.table.table import Table

if TYPE_CHECKING:
    from tensorkeep.io.showing import html_tables
else:  # a program that lists tensors does without
    html_tables = later("tensorkeep.io.showing.html_tables")

_MOST_BYTES: Final = 1 << 17  # of an index that is read here: some two thousand tensors
_MOST_FILES: Final = 10_000  # that are looked for; no honest checkpoint has more


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor in a checkpoint."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    nbytes: int | None
    """The bytes that it takes in the data files; None where only reading it would tell."""
    shards: tuple[int, ...] = ()
    """The numbers of the data files that it is in."""
    slices: int = 0
    """How many slices it is stored in; 0 if it is stored whole."""
    key: str | None = None
    """What it is called in the file, where that is not its name."""

    @property
    def elements(self) -> int:
        return element_count(self.shape)


@dataclass(frozen=True, slots=True)
class CheckpointListing:
    """What a checkpoint holds."""

    path: str
    """The prefix, or the pattern of several files."""
    format: str
    """"V1", "V2" or "Orbax"; of another file of tensors, what `tensorkeep.convert` calls its format."""
    files: Mapping[str, int | None]
    """The paths of its files, with their sizes; None for one that is missing."""
    tensors: tuple[StoredTensor, ...]
    remarks: tuple[str, ...] = ()
    """What is to be known of the names: which are left out or could not be told."""

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors whose size is known."""
        return sum(tensor.nbytes or 0 for tensor in self.tensors)

    @property
    def elements(self) -> int:
        return sum(tensor.elements for tensor in self.tensors)

    def _repr_html_(self) -> str:
        """What a notebook shows: the first tensors."""
        rows = ((item.name, item.dtype, list(item.shape), _size(item.nbytes)) for item in self.tensors)
        caption = f"{self.path} ({self.format}): {amount_of(len(self.tensors), 'tensor')}, {size_text(self.nbytes)}"
        return html_tables.html_table(caption, ("name", "type", "shape", "bytes"), rows, len(self.tensors))

    @property
    def types(self) -> dict[str, int]:
        """How many tensors there are of each type, the most frequent first."""
        counts = Counter(tensor.dtype.name for tensor in self.tensors)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _size(nbytes: int | None) -> str:
    return "?" if nbytes is None else size_text(nbytes)


def list_checkpoint(path: PathLike, *, fs: FileSystem = FILES) -> CheckpointListing:
    """What the checkpoint at a path holds, in order of name: a prefix, one of its files, a folder, or a SavedModel."""
    given = path_text(path)
    prefix = _bundle_prefix(given, fs)
    if prefix is not None:
        with closing(fs.open(index_path(prefix))) as file:
            if file.size <= _MOST_BYTES:
                try:
                    return _list_bundle(prefix, Table(file), fs)
                except DataLossError:  # the reader says what is left
                    return inspect.list_with_reader(prefix, fs=fs)
    return inspect.list_with_reader(given if prefix is None else prefix, fs=fs)


def _bundle_prefix(given: str, fs: FileSystem) -> str | None:
    """The prefix of the V2 checkpoint that is meant, if it is plain which."""
    candidates = (given, prefix_of_file(given), f"{given.rstrip('/')}/{IN_MODEL}")
    return next((prefix for prefix in candidates if prefix and fs.exists(index_path(prefix))), None)


def _list_bundle(prefix: str, table: Table, fs: FileSystem) -> CheckpointListing:
    where = f'"{table.path}"'
    header = Header.decode(table.get(HEADER_KEY) or b"", f"{where}: header")
    contents = read_contents(table)
    if contents.damage:
        raise contents.damage[0]
    tensors = [
        _stored_tensor(Entry.decode(name, value, where), contents, where) for name, value in contents.tensors.items()
    ]
    return CheckpointListing(prefix, "V2", bundle_files(prefix, header.shard_count, fs), tuple(tensors))


def _stored_tensor(entry: Entry, contents: IndexContents, where: str) -> StoredTensor:
    keys = [slice_key(encode_name(entry.name), part) for part in entry.slices]
    slices = [contents.slices[key] for key in keys if key in contents.slices]
    parts = [Entry.decode(entry.name, value, where) for value in slices] if entry.slices else [entry]
    shards = tuple(sorted({part.shard for part in parts}))
    return StoredTensor(
        entry.name, entry.dtype, entry.shape, sum(part.size for part in parts), shards, len(entry.slices)
    )


def bundle_files(prefix: str, shard_count: int, fs: FileSystem) -> dict[str, int | None]:
    """The files of a V2 checkpoint, with their sizes."""
    shards = range(min(shard_count, _MOST_FILES))
    paths = [index_path(prefix), *(data_path(prefix, shard, shard_count) for shard in shards)]
    return {path: file_size(path, fs) for path in paths}


def file_size(path: str, fs: FileSystem) -> int | None:
    """The size of a file; None if there is none."""
    if not fs.exists(path):
        return None
    with closing(fs.open(path)) as file:
        return file.size


__all__ = ["CheckpointListing", "StoredTensor", "bundle_files", "file_size", "list_checkpoint"]
