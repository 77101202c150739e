"""Writing V2 checkpoints. The files are described in format.py.

How a checkpoint is replaced without a moment in which neither the old nor the new one is whole:

Data files are written under temporary names, and moved into place before the index that speaks of them. The index
names the number of data files, and data files carry that number in their names; so as long as old and new have
different numbers, no data file of the old one is touched before the index is replaced, in one step. If they have the
same number, N, the new data first goes by the names of a checkpoint of N + 1 files whose first is empty of tensors,
with an index to match; then, the old one being gone, by its proper names, with its proper index. Every state on the
way is a checkpoint that TensorFlow reads too.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.codec import write_tensor
from tensorkeep.checkpoint.bundle.entry_columns import encode_entries
from tensorkeep.checkpoint.bundle.format import (
    HEADER_KEY,
    Entry,
    Header,
    encode_entry,
    encode_name,
    encode_type_and_shape,
)
from tensorkeep.checkpoint.bundle.linking import LinkedTensors, renumbered_entries
from tensorkeep.checkpoint.bundle.objects import Claim, ObjectDataFile, data_totals, replace_bundle
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.small_tensors import ArrayKinds
from tensorkeep.checkpoint.finding.file_names import data_path, index_path, parse_data_path
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice, Part, TensorSlice, slice_key
from tensorkeep.checkpoint.slices.tiling import SlicedTensor
from tensorkeep.checkpoint.sources import ArrayLike, ArraySource, checked_slice
from tensorkeep.checkpoint.storage import Linkable
from tensorkeep.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    TensorKeepError,
)
from tensorkeep.io.coding.crc32c import mask
from tensorkeep.io.coding.crc32c_arrays import mask_array
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import (
    Buffer,
    Durability,
    FileSystem,
    PathLike,
    TemporaryFile,
    path_text,
    prepare_directory,
    temporary_path,
)
from tensorkeep.native.checksums import crc32c_of_stretches
from tensorkeep.table.table_writer import TableWriter

Integers = npt.NDArray[np.int64]

_BUFFER: Final = 1 << 20  # small tensors are collected to this size before they are written
_SMALL: Final = _BUFFER // 16  # what counts as small
_BYTE_ORDER: Final = Header(1).byte_order
_PUSH: Final = 8 << 20  # after so many bytes the disk is set to work, if the data has to reach it anyway


class BundleWriter:
    """Writes a V2 checkpoint, tensor by tensor. Use it with `with`.

    Tensors are stored in the order they are added, as by one SaveV2 operation of TensorFlow, whose files it equals
    byte for byte. Leaving the block commits the checkpoint; leaving it by an exception leaves nothing behind.

    `shard` puts a tensor in that data file; those numbers must run from 0 without a gap. `alignment` pads with zeros
    so that every tensor starts at a multiple of it. `shards` says how many data files there will be, as far as that is
    known: in a store, where nothing can be renamed, they are then sent to their final names at once.
    """

    def __init__(
        self,
        prefix: PathLike,
        *,
        alignment: int = 1,
        durability: Durability = Durability.DISK,
        shards: int = 1,
        fs: FileSystem = FILES,
    ) -> None:
        if alignment < 1:
            raise InvalidArgumentError(f"alignment {alignment}: expected 1 or more")
        self._prefix = path_text(prefix)
        if not posixpath.basename(self._prefix):
            raise InvalidArgumentError(f'"{self._prefix}" is a folder; a checkpoint needs a name in it')
        self._fs = fs
        self._alignment = alignment
        self._durability = durability
        self._shards: dict[int, _DataFile] = {}
        self._entries: dict[bytes, bytes] = {}  # encoded at once: many small objects would keep the collector busy
        self._sliced: dict[str, SlicedTensor] = {}
        self._hashed: dict[str, Entry] = {}
        self._linked = LinkedTensors()
        self._puts = fs.puts(self._prefix)
        self._claim: Claim | None = None
        self._expected_shards = max(shards, 1)
        self._is_open = True
        self._failure: BaseException | None = None
        prepare_directory(fs, posixpath.dirname(self._prefix), durability)

    def add(self, name: str, value: ArrayLike | ArraySource, *, shard: int = 0) -> None:
        """Stores a tensor whole."""
        key = self._new_key(name)
        self._entries[key] = self._store(ArraySource.of(value), shard)

    def add_many(self, tensors: Mapping[str, ArrayLike | ArraySource], *, shard: int = 0) -> None:
        """Stores tensors whole, in the order of the mapping: as `add` does, with less ado for each small array."""
        self._shard(shard)
        kinds = ArrayKinds()
        for names, values in _batches(tensors):
            numbers = kinds.numbers(values) if self._alignment == 1 else np.full(len(values), -1)
            for first, last in pairwise([0, *(np.flatnonzero(np.diff(numbers < 0)) + 1).tolist(), len(names)]):
                keys = self._new_keys(names[first:last]) if numbers[first] >= 0 else None
                if keys is not None:
                    self._store_small(keys, values[first:last], kinds, numbers[first:last], shard)
                    continue
                for name, value in zip(names[first:last], values[first:last], strict=True):
                    self.add(name, value, shard=shard)

    def add_slice(
        self, name: str, shape: Sequence[int], part: Part, value: ArrayLike | ArraySource, *, shard: int = 0
    ) -> None:
        """Stores one slice of a tensor of that full shape. A slice that covers it is stored as a whole tensor."""
        shape, part, source = checked_slice(name, shape, part, value)
        if part.is_whole(shape):
            self.add(name, source, shard=shard)
            return
        tensor = self._sliced.get(name)
        if tensor is None:
            self._new_key(name)
            tensor = SlicedTensor(name, source.dtype, shape)
        key = slice_key(encode_name(name), part)
        if key in self._entries and part not in tensor.parts:
            raise InvalidArgumentError(
                f'slice {part} of "{name}" is stored as {key!r}, the name of a tensor added before'
            )
        tensor.add(part, source.dtype, shape, shard)
        self._entries[key] = self._store(source, shard)
        self._sliced[name] = tensor

    def add_hash_slice(self, name: str, keys: HashSlice, value: ArrayLike | ArraySource, *, shard: int = 0) -> None:
        """Stores the rows of a hash table's tensor that belong to a range of keys: as DeepRec does, unmerged.

        `merge_bundles` makes of it a tensor in slices as others are (`checkpoint/bundle/hash_tables.py`).
        """
        source = ArraySource.of(value)
        count, *row = source.shape
        part = TensorSlice(((0, count), *(None,) * len(row)), keys)
        known = self._hashed.get(name)
        if known is None:
            self._new_key(name)
            known = Entry(name, source.dtype, (0, *row), shard)
        if (known.dtype, known.shape[1:]) != (source.dtype, tuple(row)):
            raise InvalidArgumentError(
                f'"{name}" has rows of {known.dtype} {list(known.shape[1:])} before, and of {source.dtype} {row} now'
            )
        if any(one.keys == keys for one in known.slices):
            raise InvalidArgumentError(f'keys {keys.begin} to {keys.begin + keys.length} of "{name}" were added before')
        stored = slice_key(encode_name(name), TensorSlice(((keys.begin, keys.length),)))
        self._entries[stored] = self._store(source, shard)
        self._hashed[name] = known._replace(slices=(*known.slices, part))

    def link(self, reader: Linkable, names: Mapping[str, str]) -> None:
        """Takes over tensors of another checkpoint as they are stored, whole or in slices, without copying them.

        `names` has the new name of each by the one it is stored under. The data files get names beside those they
        have, and the numbers after those of the files written here; where there are no links they are copied.
        """
        self._require_open()
        new = list(names.values())
        if repeated := [name for name, count in Counter(new).items() if count > 1]:
            raise InvalidArgumentError(f"tensors cannot share the name {repeated[0]!r}")
        for name in new:
            self._new_key(name)
        self._linked.add(reader, names)

    def reserve(self, size: int, *, shard: int = 0) -> None:
        """Says that a data file will have about that size. It is then found out early if the disk cannot hold it."""
        self._shard(shard).reserve(size)

    def commit(self) -> None:
        """Makes the checkpoint appear under its name. Leaving a `with` block does this."""
        self._require_open()
        self._is_open = False
        try:
            if not self._shards and not self._linked:
                self._shard_file(0)
            count = max(self._shards, default=-1) + 1
            if len(self._shards) != count:
                raise InvalidArgumentError(f"data files {sorted(self._shards)} were used: expected 0..{count - 1}")
            files = [self._shards[number] for number in range(count)]
            for file in files:
                file.finish()
            for tensor in self._sliced.values():
                tensor.check_disjoint()
                self._entries[encode_name(tensor.name)] = _sliced_entry(tensor).encode()
            self._entries.update((encode_name(name), entry.encode()) for name, entry in self._hashed.items())
            self._commit_files([file.place for file in files])
        finally:
            self._close()

    def _commit_files(self, place: list[Callable[[str], None]]) -> None:
        order = self._linked.byte_order or _BYTE_ORDER
        if self._shards and order != _BYTE_ORDER:
            raise InvalidArgumentError("data files in big-endian order cannot be shared by a checkpoint with new ones")
        entries = self._entries | self._linked.entries(len(place))
        for path in self._linked.files:
            if self._durability is Durability.DISK:
                self._fs.sync(path)
            place.append(partial(place_link, self._fs, path))
        claim, self._claim = self._claim, None
        commit_bundle(self._fs, self._prefix, place, entries, self._durability, byte_order=order, claim=claim)

    def abort(self) -> None:
        """Gives up: nothing of what was added remains."""
        self._is_open = False
        self._close()

    def _new_key(self, name: str) -> bytes:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"{name!r} cannot be the name of a tensor: expected text that is not empty")
        key = encode_name(name)
        if key in self._entries or name in self._sliced or name in self._hashed or key in self._linked:
            raise InvalidArgumentError(f'tensor "{name}" was added before')
        return key

    def _new_keys(self, names: Sequence[str]) -> list[bytes] | None:
        """What `_new_key` gives for names that differ; None if there is anything to say against one of them."""
        if set(map(type, names)) != {str} or not all(names):
            return None
        if not self._sliced.keys().isdisjoint(names) or not self._hashed.keys().isdisjoint(names):
            return None
        try:
            keys = list(map(str.encode, names))
        except UnicodeEncodeError:
            return None
        return keys if self._entries.keys().isdisjoint(keys) and self._linked.isdisjoint(keys) else None

    def _store_small(
        self, keys: list[bytes], arrays: list[Any], kinds: ArrayKinds, numbers: Integers, shard: int
    ) -> None:
        """Writes the data of small arrays, some at a time, and notes their entries."""
        sizes = np.array(kinds.sizes, np.int64)[numbers]
        ends = np.cumsum(sizes)
        first = done = 0
        while first < len(keys):
            last = int(np.searchsorted(ends, done + _BUFFER, side="right"))
            last = max(last, first + 1)
            data = b"".join(map(np.ndarray.tobytes, arrays[first:last]))
            file = self._shard(shard)
            starts, lengths = ends[first:last] - sizes[first:last] - done, sizes[first:last]
            crcs = mask_array(crc32c_of_stretches(data, starts, lengths))
            offsets = starts + file.offset
            file.write(data)
            shards = np.full(lengths.size, shard, np.int64)
            entries = encode_entries(kinds.heads, numbers[first:last], shards, offsets, lengths, crcs)
            self._entries.update(zip(keys[first:last], entries, strict=True))
            first, done = last, int(ends[last - 1])

    def _store(self, source: ArraySource, shard: int) -> bytes:
        """Writes the data of a tensor or slice. Returns its entry, encoded."""
        file = self._shard(shard)
        offset = file.offset
        try:
            size, crc = write_tensor(source, file.write)
        except BaseException as error:
            self._fail(error)  # part of a tensor may stand in the file
            raise
        file.pad(self._alignment)
        return encode_entry(encode_type_and_shape(source.dtype.number, source.shape), shard, offset, size, mask(crc))

    def _shard(self, number: int) -> _DataFile:
        self._require_open()
        return self._shards.get(number) or self._shard_file(number)

    def _shard_file(self, number: int) -> _DataFile:
        if not isinstance(number, int) or number < 0:
            raise InvalidArgumentError(f"data file {number}: they are numbered from 0")
        file = self._shards[number] = _DataFile(self._begun_file(number), self._durability, self._fail)
        return file

    def _begun_file(self, number: int) -> TemporaryFile | ObjectDataFile:
        if self._puts is None:
            return TemporaryFile(self._fs, f"{self._prefix}.data-{number:05d}")
        count = max(self._expected_shards, number + 1)
        if self._claim is None:
            self._claim = Claim.of(self._fs, self._puts, self._prefix, count)
        if number < self._claim.count:
            return ObjectDataFile(self._fs, self._puts, self._claim.name(number))
        return ObjectDataFile(self._fs, self._puts, f"{temporary_path(self._prefix)}-{number}")  # copied in the end

    def _require_open(self) -> None:
        if self._failure is not None:
            raise FailedPreconditionError(
                f'nothing is saved to "{self._prefix}", for writing to it failed: {self._failure}'
            )
        if not self._is_open:
            raise FailedPreconditionError(f'the writer of "{self._prefix}" is closed')

    def _fail(self, error: BaseException) -> None:
        """What stands in the data files is no longer known: this writer can save nothing any more."""
        self._failure = error
        self.abort()

    def _close(self) -> None:
        for file in self._shards.values():
            file.close()
        if self._claim is not None:
            self._claim.give_up()

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abort()
        elif self._is_open or self._failure is not None:
            self.commit()


def _batches(
    tensors: Mapping[str, ArrayLike | ArraySource],
) -> Iterator[tuple[list[str], list[ArrayLike | ArraySource]]]:
    """Names and values: all of a dict, or so many of another mapping, which may make them as it goes, as are small.

    After an error too: whoever survives it keeps the tensors before it.
    """
    if type(tensors) is dict and tensors:
        yield list(tensors), list(tensors.values())
        return
    batch: dict[str, ArrayLike | ArraySource] = {}
    size = 0
    try:
        for name, value in tensors.items():
            batch[name] = value
            size += value.nbytes if isinstance(value, np.ndarray) else _BUFFER
            if size >= _BUFFER:
                yield list(batch), list(batch.values())
                batch, size = {}, 0
    except Exception:
        if batch:
            yield list(batch), list(batch.values())
        raise
    if batch:
        yield list(batch), list(batch.values())


def _sliced_entry(tensor: SlicedTensor) -> Entry:
    parts = sorted(tensor.parts, key=tensor.parts.__getitem__)
    # The data file of a tensor in slices means nothing; TensorFlow leaves that of the first slice there.
    return Entry(tensor.name, tensor.dtype, tensor.shape, tensor.parts[parts[0]], slices=tuple(parts))


class _DataFile:
    """A data file in the making, which collects small writes."""

    def __init__(
        self, file: TemporaryFile | ObjectDataFile, durability: Durability, fail: Callable[[BaseException], None]
    ) -> None:
        self._file = file
        self._fail = fail
        self._buffer = bytearray()
        self._durability = durability
        self._pushed = 0
        self.offset = 0
        self.reserve = self._file.reserve
        self.place = self._file.rename
        self.close = self._file.close

    def write(self, data: Buffer) -> None:
        self.offset += len(data)
        if len(data) > _SMALL:
            self._flush()
            self._write(data)
            if self._durability is Durability.DISK and self.offset - self._pushed >= _PUSH:
                self._file.push()
                self._pushed = self.offset
            return
        self._buffer += data
        if len(self._buffer) >= _BUFFER:
            self._flush()

    def pad(self, alignment: int) -> None:
        if alignment > 1 and (excess := self.offset % alignment):
            self.write(bytes(alignment - excess))

    def finish(self) -> None:
        self._flush()
        if self._durability is Durability.DISK:
            self._file.sync()

    def _flush(self) -> None:
        if self._buffer:
            buffer, self._buffer = self._buffer, bytearray()
            self._write(buffer)

    def _write(self, data: Buffer) -> None:
        try:
            self._file.write(data)
        except BaseException as error:
            self._fail(error)
            raise


def commit_bundle(
    fs: FileSystem,
    prefix: str,
    place: Sequence[Callable[[str], None]],
    entries: Mapping[bytes, bytes],
    durability: Durability,
    byte_order: str = "<",
    claim: Claim | None = None,
) -> None:
    """Replaces the checkpoint `prefix`: `place[i]` moves the finished data file `i` to the name it is given.

    `entries` are the entries of the index, encoded, by key.

    Whenever this is interrupted, the old checkpoint or the new one is whole. Others who replace it meanwhile, in this
    process or another one, do so before or after: who comes last has it.
    """
    if (puts := fs.puts(prefix)) is not None:
        replace_bundle(
            puts,
            fs,
            prefix,
            place,
            lambda total, shift: _index_bytes(Header(total, byte_order), entries, shift),
            claim,
            partial(_shard_count, fs, prefix),
        )
        return
    with fs.locked(posixpath.dirname(prefix)):
        _replace_bundle(fs, prefix, place, entries, durability, byte_order)


def _replace_bundle(
    fs: FileSystem,
    prefix: str,
    place: Sequence[Callable[[str], None]],
    entries: Mapping[bytes, bytes],
    durability: Durability,
    byte_order: str,
) -> None:
    count = len(place)
    staged = 1 if _shard_count(fs, prefix) == count else 0
    names = [data_path(prefix, number + staged, count + staged) for number in range(count)]
    moved: list[str] = []  # data files that no index speaks of yet
    try:
        for move, name in zip(place, names, strict=True):
            move(name)
            moved.append(name)
        _write_index(fs, prefix, Header(max(count + staged, 1), byte_order), entries, durability, moved, shift=staged)
    except BaseException:
        delete_quietly(fs, moved)
        raise
    if staged:
        for number, name in enumerate(names):
            place_link(fs, name, data_path(prefix, number, count))
        _write_index(fs, prefix, Header(count, byte_order), entries, durability, [])
    _remove_stale_data(fs, prefix, count)


def place_link(fs: FileSystem, source: str, target: str) -> None:
    """Gives a data file the name `target` beside the one it has. No index may speak of `target` at this time.

    Without a temporary name: to rename one name of a file to another name of the same file does nothing.
    """
    if fs.exists(target):
        fs.delete(target)
    fs.link(source, target)


def _shard_count(fs: FileSystem, prefix: str) -> int | None:
    """The number of data files of the checkpoint that is there now; None if there is none, or a damaged one.

    Any other error means that it could not be looked at; then nothing may be done that assumes it is not there.
    """
    try:
        with BundleReader(prefix, fs=fs) as reader:
            return reader.shard_count
    except (MissingFileError, DataLossError):
        return None


def _write_index(
    fs: FileSystem,
    prefix: str,
    header: Header,
    entries: Mapping[bytes, bytes],
    durability: Durability,
    moved: list[str],
    shift: int = 0,
) -> None:
    """Writes the index and puts it in place. From that moment on it speaks of the data files: `moved` is emptied."""
    directory = posixpath.dirname(prefix)
    with TemporaryFile(fs, index_path(prefix)) as file:
        _write_entries(TableWriter(file), header, entries, shift)
        if durability is Durability.DISK:
            file.sync()
            fs.sync_directory(directory)  # the names of the data files come before that of the index
        file.rename(index_path(prefix))
        moved.clear()
        if durability is Durability.DISK:
            fs.sync_directory(directory)


def _index_bytes(header: Header, entries: Mapping[bytes, bytes], shift: int) -> bytes:
    collected = _Collected()
    _write_entries(TableWriter(collected), header, entries, shift)
    return b"".join(collected.pieces)


class _Collected:
    """What is written, in memory."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: Buffer) -> None:
        self.pieces.append(bytes(data))


def _write_entries(writer: TableWriter, header: Header, entries: Mapping[bytes, bytes], shift: int) -> None:
    writer.add(HEADER_KEY, header.encode())
    keys = sorted(entries)
    values = list(map(entries.__getitem__, keys))
    writer.add_many(keys, renumbered_entries(values, np.arange(header.shard_count) + shift) if shift else values)
    writer.finish()


def remove_bundle(fs: FileSystem, prefix: str, durability: Durability) -> None:
    """Deletes a V2 checkpoint, or what is left of one: the index first, so that it ceases to exist, then the data."""
    folder = posixpath.dirname(prefix)
    if (puts := fs.puts(prefix)) is not None:
        total = _shard_count(fs, prefix)
        if puts.version(index_path(prefix)) is not None:
            fs.delete(index_path(prefix))
        delete_quietly(fs, [path for found, path in data_totals(puts, prefix) if found == total])
        return
    with fs.locked(folder):
        if fs.exists(index_path(prefix)):
            fs.delete(index_path(prefix))
            if durability is Durability.DISK:
                fs.sync_directory(folder)
        _remove_stale_data(fs, prefix, 0)


def _remove_stale_data(fs: FileSystem, prefix: str, count: int) -> None:
    """Deletes data files of numbers other than `count`, of which no index speaks any more."""
    directory, base = posixpath.split(prefix)
    stale: list[str] = []
    for name in fs.list(directory):
        found = parse_data_path(name)
        if found and found[0] == base and (found[2] != count or found[1] >= count):
            stale.append(posixpath.join(directory, name))
    delete_quietly(fs, stale)


def delete_quietly(fs: FileSystem, paths: Sequence[str]) -> None:
    """Tidies up. What cannot be deleted stays: whether the checkpoint is whole does not depend on it."""
    for path in paths:
        try:
            fs.delete(path)
        except TensorKeepError:
            continue
