"""Saving a set of arrays as a checkpoint, in either format, in one file or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from tensorkeep.checkpoint.bundle_writer import BundleWriter, remove_bundle
from tensorkeep.checkpoint.naming import index_path, shard_path, shard_pattern
from tensorkeep.checkpoint.slices import TensorSlice, copies_for
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, PartitionedArray
from tensorkeep.checkpoint.v1 import SliceFileWriter
from tensorkeep.errors import AlreadyExistsError, DataLossError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.local import LOCAL

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


def save_checkpoint(
    prefix: PathLike,
    tensors: Mapping[str, ArrayLike | ArraySource | PartitionedArray],
    options: SaveOptions = SaveOptions(),
    *,
    fs: FileSystem = LOCAL,
) -> str:
    """Saves arrays under their names, sorted by name, and returns what `open_checkpoint` and TensorFlow open.

    That is `prefix` itself, except for V1 checkpoints in several files, which go by a pattern. Missing folders are
    made. An older checkpoint of that name is replaced in one step: whenever this is interrupted, it or the new one is
    whole.
    """
    path = path_text(prefix)
    if not tensors:
        raise InvalidArgumentError(f'no tensors to save to "{path}"')
    if wrong := [name for name in tensors if not isinstance(name, str)]:
        raise InvalidArgumentError(f"names of tensors are text, got {wrong[0]!r}")
    stored = [item for name in sorted(tensors) for item in _stored(name, tensors[name])]
    numbers = options.sharding.assign([item.piece for item in stored])
    if len(numbers) != len(stored):
        raise InvalidArgumentError(f"the sharding gave {len(numbers)} numbers for {len(stored)} pieces")
    order = {number: at for at, number in enumerate(sorted(set(numbers)))}
    placed = [(order[number], item) for number, item in zip(numbers, stored, strict=True)]
    if options.format is CheckpointFormat.V1:
        return _save_slice_files(path, placed, len(order), options, fs)
    with BundleWriter(path, fs, alignment=options.alignment, durability=options.durability) as writer:
        for shard in range(len(order)):
            writer.reserve(sum(item.piece.nbytes for at, item in placed if at == shard), shard=shard)
        for shard, (piece, shape, source) in placed:
            if piece.part is None:
                writer.add(piece.name, source, shard=shard)
            else:
                writer.add_slice(piece.name, shape, piece.part, source, shard=shard)
    return path


class _Stored(NamedTuple):
    piece: Piece
    shape: tuple[int, ...]
    source: ArraySource


def _stored(name: str, value: ArrayLike | ArraySource | PartitionedArray) -> list[_Stored]:
    """What is to be stored for a tensor. Mistakes in it are found before anything is written."""
    try:
        if not isinstance(value, PartitionedArray):
            source = ArraySource.of(value)
            return [_Stored(Piece(name, None, source.nbytes), source.shape, source)]
        parts = [(part, ArraySource.of(array)) for part, array in value.parts]
        whole = tuple((0, size) for size in value.shape)
        copies_for(whole, [part.box(value.shape) for part, _ in parts])
    except DataLossError as error:
        raise InvalidArgumentError(f'tensor "{name}": {error}') from None
    except TensorKeepError as error:
        raise type(error)(f'tensor "{name}": {error}') from error
    return [_Stored(Piece(name, part, source.nbytes), value.shape, source) for part, source in parts]


def _save_slice_files(
    path: str, placed: Sequence[tuple[int, _Stored]], count: int, options: SaveOptions, fs: FileSystem
) -> str:
    """One file is replaced in one step. Several cannot be, for nothing ties them together; so they must be new."""
    is_sharded = not isinstance(options.sharding, OneFile)
    files = [shard_path(path, number, count) for number in range(count)] if is_sharded else [path]
    if is_sharded and (existing := [file for file in files if fs.exists(file)]):
        raise AlreadyExistsError(
            f'"{existing[0]}" exists: a V1 checkpoint in several files cannot be replaced safely; delete it first, or '
            "save under another name"
        )
    writers = [SliceFileWriter(file, fs, durability=options.durability) for file in files]
    for number, (piece, shape, source) in placed:
        if piece.part is None:
            writers[number].add(piece.name, source)
        else:
            writers[number].add_slice(piece.name, shape, piece.part, source)
    with ExitStack() as undo:
        for writer, file in zip(writers, files, strict=True):
            writer.commit()
            if is_sharded:
                undo.callback(fs.delete, file)
        undo.pop_all()
    if not is_sharded and fs.exists(index_path(path)):
        remove_bundle(fs, path)  # it would hide the new one: where both exist, V2 is read
    return shard_pattern(path, count) if is_sharded else path
