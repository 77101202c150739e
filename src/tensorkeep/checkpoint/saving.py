"""Saving a set of arrays as a checkpoint, in either format, in one file or several."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.writer import BundleWriter, delete_quietly, remove_bundle
from tensorkeep.checkpoint.finding.file_names import shard_path, shard_pattern
from tensorkeep.checkpoint.slices.slice_files import SliceFileWriter
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, PartitionedArray, plain_dtype
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text, prepare_directory

__all__ = ["CheckpointFormat", "Piece", "SaveOptions", "ShardByName", "ShardBySize", "Sharding", "save_checkpoint"]


class CheckpointFormat(Enum):
    """The two formats of checkpoints."""

    V2 = "V2"
    """The tensor bundle, TensorFlow's default since 2016."""

    V1 = "V1"
    """Slice files, for old readers. They know fewer types and at most 2 GiB per tensor or slice."""


class Piece(NamedTuple):
    """Something that is stored by itself: a tensor, or one slice of a partitioned one."""

    name: str
    part: TensorSlice | None
    nbytes: int


class Sharding(Protocol):
    """Decides which file each piece goes to."""

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        """A number for each piece. Files are numbered anew, in order, without gaps."""
        ...


@dataclass(frozen=True)
class ShardBySize:
    """Fills one file after the other, none with more than `limit` bytes unless a single piece is larger."""

    limit: int

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InvalidArgumentError(f"a limit of {self.limit} bytes per file: expected at least 1")

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        numbers: list[int] = []
        number = used = 0
        for piece in pieces:
            if used and used + piece.nbytes > self.limit:
                number, used = number + 1, 0
            numbers.append(number)
            used += piece.nbytes
        return numbers


@dataclass(frozen=True)
class ShardByName:
    """Puts each tensor in the file that a function of its name says."""

    file_of: Callable[[str], int]

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return [self.file_of(piece.name) for piece in pieces]


@dataclass(frozen=True)
class OneFile:
    """Everything in one file."""

    def assign(self, pieces: Sequence[Piece]) -> Sequence[int]:
        return [0] * len(pieces)


_ONE_FILE = OneFile()


@dataclass(frozen=True)
class SaveOptions:
    """How a checkpoint is written. The defaults give the files that `tf.train.Saver` gives."""

    format: CheckpointFormat = CheckpointFormat.V2
    sharding: Sharding = _ONE_FILE
    alignment: int = 1
    """V2 only: every tensor starts at a multiple of this many bytes."""
    durability: Durability = Durability.DISK

    def __post_init__(self) -> None:
        expected = {"format": CheckpointFormat, "durability": Durability, "alignment": int}
        for name, kind in expected.items():
            if not isinstance(value := getattr(self, name), kind):
                raise InvalidArgumentError(f"{name}: expected {kind.__name__}, got {value!r}")
        if not hasattr(self.sharding, "assign"):
            raise InvalidArgumentError(
                f"sharding: expected ShardBySize, ShardByName or the like, got {self.sharding!r}"
            )


def save_checkpoint(
    prefix: PathLike,
    tensors: Mapping[str, ArrayLike | ArraySource | PartitionedArray],
    options: SaveOptions = SaveOptions(),
    *,
    fs: FileSystem = FILES,
) -> str:
    """Saves arrays under their names, sorted by name, and returns what `open_checkpoint` and TensorFlow open.

    That is `prefix` itself, except for V1 checkpoints in several files, which go by a pattern. Missing folders are
    made. An older checkpoint of that name is replaced in one step: whenever this is interrupted, it or the new one is
    whole.
    """
    path = path_text(prefix)
    if not isinstance(options, SaveOptions):
        raise InvalidArgumentError(f"options: expected SaveOptions, got {type(options).__name__}")
    if not isinstance(tensors, Mapping):
        raise InvalidArgumentError(f"tensors: expected a mapping from names to arrays, got {type(tensors).__name__}")
    if not tensors:
        raise InvalidArgumentError(f'no tensors to save to "{path}"')
    if wrong := [name for name in tensors if not isinstance(name, str)]:
        raise InvalidArgumentError(f"names of tensors are text, got {wrong[0]!r}")
    ready = {name: _prepared_source(name, tensors[name]) for name in sorted(tensors)}
    if options.format is CheckpointFormat.V1:
        return _save_slice_files(path, ready, _assign_files(ready, options.sharding), options, fs)
    files = _assign_files(ready, options.sharding)
    count = max(files, default=0) + 1
    with BundleWriter(path, alignment=options.alignment, durability=options.durability, shards=count, fs=fs) as writer:
        whole = {name: value for name, value in ready.items() if not isinstance(value, PartitionedArray)}
        if isinstance(options.sharding, OneFile) and len(whole) == len(ready):
            writer.reserve(sum(value.nbytes for value in whole.values()))
            writer.add_many(whole)
            return path
        for shard, size in enumerate(_file_sizes(ready, files)):
            writer.reserve(size, shard=shard)
        for shard, (name, part, shape, value) in zip(files, _pieces(ready), strict=True):
            if part is None:
                writer.add(name, value, shard=shard)
            else:
                writer.add_slice(name, shape, part, value, shard=shard)
    return path


Prepared = npt.NDArray[Any] | ArraySource | PartitionedArray


def _prepared_source(name: str, value: ArrayLike | ArraySource | PartitionedArray) -> Prepared:
    """The same array in a form we know. Mistakes in it are found here, before anything is written."""
    try:
        if isinstance(value, PartitionedArray):
            return PartitionedArray(value.shape, value.sources())
        if isinstance(value, np.ndarray) and plain_dtype(value) is not None:
            return value
        return ArraySource.of(value)
    except TensorKeepError as error:
        raise type(error)(f'tensor "{name}": {error}') from None


def _pieces(
    ready: Mapping[str, Prepared],
) -> Iterator[tuple[str, TensorSlice | None, tuple[int, ...], npt.NDArray[Any] | ArraySource]]:
    """What is stored by itself: name, slice if it is one, full shape, and the array.

    Made anew for each pass: thousands of small objects that stay around would keep the collector busy.
    """
    for name, value in ready.items():
        if isinstance(value, PartitionedArray):
            for part, source in value.sources():
                yield name, part, value.shape, source
        else:
            yield name, None, value.shape, value


def _assign_files(ready: Mapping[str, Prepared], sharding: Sharding) -> Sequence[int]:
    """The number of the file of each piece, the numbers a sharding gave made dense."""
    if isinstance(sharding, OneFile):
        return [0] * sum(len(value.parts) if isinstance(value, PartitionedArray) else 1 for value in ready.values())
    pieces = [Piece(name, part, value.nbytes) for name, part, _, value in _pieces(ready)]
    numbers = sharding.assign(pieces)
    if len(numbers) != len(pieces):
        raise InvalidArgumentError(f"the sharding gave {len(numbers)} numbers for {len(pieces)} pieces")
    order = {number: at for at, number in enumerate(sorted(set(numbers)))}
    return [order[number] for number in numbers]


def _file_sizes(ready: Mapping[str, Prepared], files: Sequence[int]) -> list[int]:
    sizes = [0] * (max(files) + 1)
    for number, (_, _, _, value) in zip(files, _pieces(ready), strict=True):
        sizes[number] += value.nbytes
    return sizes


def _save_slice_files(
    path: str, ready: Mapping[str, Prepared], numbers: Sequence[int], options: SaveOptions, fs: FileSystem
) -> str:
    """One file is replaced in one step. Several cannot be, for nothing ties them together; so they must be new."""
    is_sharded = not isinstance(options.sharding, OneFile)
    count = max(numbers) + 1
    files = [shard_path(path, number, count) for number in range(count)] if is_sharded else [path]
    if is_sharded:
        _require_new(files, fs)
    writers = [SliceFileWriter(file, fs=fs, durability=options.durability) for file in files]
    for number, (name, part, shape, value) in zip(numbers, _pieces(ready), strict=True):
        if part is None:
            writers[number].add(name, value)
        else:
            writers[number].add_slice(name, shape, part, value)
    folder = posixpath.dirname(path)
    prepare_directory(fs, folder, options.durability)
    with fs.locked(folder), ExitStack() as undo:
        if is_sharded:
            _require_new(files, fs)  # perhaps not any more
            undo.callback(delete_quietly, fs, files)
        for writer in writers:
            writer.commit()
        undo.pop_all()
    if not is_sharded:
        remove_bundle(fs, path, options.durability)  # it would hide the new one: where both exist, V2 is read
    return shard_pattern(path, count) if is_sharded else path


def _require_new(files: Sequence[str], fs: FileSystem) -> None:
    if existing := [file for file in files if fs.exists(file)]:
        raise AlreadyExistsError(
            f'"{existing[0]}" exists: a V1 checkpoint in several files cannot be replaced safely; delete it first, or '
            "save under another name"
        )
