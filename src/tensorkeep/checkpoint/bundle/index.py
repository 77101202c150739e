"""The index of a V2 checkpoint, read. What stands in it is described in format.py."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from operator import lt
from typing import Final, NamedTuple

from tensorkeep.checkpoint.bundle.entry_columns import decode_entries
from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry, Header, decode_name, decode_names, encode_name
from tensorkeep.checkpoint.bundle.hash_tables import merge_hash_tables
from tensorkeep.checkpoint.bundle.small_tensors import Heads, has_usual_tail, head_of, is_usual, tail_of
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.errors import DataLossError, FailedPreconditionError, TensorKeepError
from tensorkeep.io.files.filesystem import RandomAccessFile
from tensorkeep.table.block import MOST_EXPANSION
from tensorkeep.table.block_loading import load_block
from tensorkeep.table.table import Table

_FEW: Final = 16  # entries that are looked up one by one, before all are worked out together
_MOST_NOTED: Final = 256  # types and shapes that are parsed before they are asked for


class _Contents(NamedTuple):
    """All of an index that is sound."""

    tensors: dict[str, bytes]
    slices: dict[bytes, bytes]  # entries of slices, by key
    damage: tuple[DataLossError, ...]


class BundleIndex:
    """An open index. Opening it reads the header; the entries are read, all together, on first use.

    Entries stay encoded until they are asked for. A damaged block is noted, and hides the entries in it alone.
    """

    def __init__(self, file: RandomAccessFile) -> None:
        self.path = file.path
        self._table = Table(file)
        self._is_closed = False
        self._infos: dict[bytes, TensorInfo] = {}  # by the beginning of an entry, if that is usual
        self._sliced: dict[str, TensorInfo] = {}  # by name; their lists of slices may be long
        self._lookups = 0
        self.infos: dict[str, TensorInfo | None] = {}  # by name, where they are usual, once some were asked for
        value = self._table.get(HEADER_KEY)
        if value is None:
            raise DataLossError(f'"{self.path}" is a table but not the index of a checkpoint: it has no header')
        self.header = Header.decode(value, f'"{self.path}": header')

    @property
    def tensors(self) -> dict[str, bytes]:
        """The entries of tensors by name, encoded. Those of slices are not among them."""
        return self._contents.tensors

    @property
    def damage(self) -> tuple[DataLossError, ...]:
        return self._contents.damage

    def slice_value(self, name: str, part: TensorSlice) -> bytes | None:
        """The entry of a slice, encoded."""
        return self._contents.slices.get(slice_key(encode_name(name), part))

    def info(self, name: str, value: bytes) -> TensorInfo:
        """What an entry says of type and shape. Few different ones occur: usual entries are looked up, not parsed."""
        self._lookups += 1
        if self._lookups == _FEW:
            self._note_infos()
        head = head_of(value)
        info = self._infos.get(head)
        if info is not None and has_usual_tail(value, head):
            return info
        info = self._sliced.get(name)
        if info is not None:
            return info
        entry = Entry.decode(name, value, f'"{self.path}"')
        info = TensorInfo(entry.dtype, entry.shape, entry.slices)
        if is_usual(value):
            self._infos[head] = info
        elif entry.slices:
            self._sliced[name] = info
        return info

    def all_infos(self) -> dict[str, TensorInfo]:
        """What the entries of all tensors say of type and shape."""
        if not self.infos:
            self._note_infos()
        tensors = self.tensors
        return {name: info or self.info(name, tensors[name]) for name, info in self.infos.items()}

    def _note_infos(self) -> None:
        """Works out `infos` for all usual entries together, except where there are too many different ones."""
        names, values = list(self.tensors), list(self.tensors.values())
        columns = decode_entries(values)
        numbers, firsts = Heads.of(values, columns)
        found: list[TensorInfo | None] = [self._quiet_info(names[at], values[at]) for at in firsts[:_MOST_NOTED]]
        found += [None] * (len(firsts) + 1 - len(found))  # the last stands for what is not usual
        self.infos = dict(zip(names, map(found.__getitem__, numbers.tolist()), strict=True))

    def _quiet_info(self, name: str, value: bytes) -> TensorInfo | None:
        try:
            return self.info(name, value)
        except TensorKeepError:
            return None  # reported when that tensor is asked for

    def decode(self, name: str, value: bytes) -> Entry:
        """An entry. `name` is for messages."""
        head = head_of(value)
        info = self._infos.get(head)
        tail = None if info is None else tail_of(value, head)
        if info is None or tail is None:
            return Entry.decode(name, value, f'"{self.path}"')
        return Entry(name, info.dtype, info.shape, *tail)

    def close(self) -> None:
        """What has been read stays; what has not can no longer be."""
        self._is_closed = True

    @cached_property
    def _contents(self) -> _Contents:
        if self._is_closed:
            raise FailedPreconditionError(f'"{self.path}" is closed')
        keys: list[bytes] = []
        values: list[bytes] = []
        damage: list[DataLossError] = []
        for handle, block in self._table.blocks():
            try:
                if isinstance(block, DataLossError):
                    raise block
                some_keys, some_values = load_block(block)
                if not some_keys:
                    continue
                if (keys and some_keys[0] <= keys[-1]) or not all(map(lt, some_keys, islice(some_keys, 1, None))):
                    raise DataLossError(f'"{self.path}": block at byte {handle.offset}: keys are not in order')
            except DataLossError as error:
                damage.append(error.with_traceback(None))  # there may be thousands
                continue
            keys += some_keys
            values += some_values
        if keys and keys[0] == HEADER_KEY:
            del keys[0], values[0]
        slices: dict[bytes, bytes] = {}
        if keys and keys[0][0] == 0:  # keys of slices begin with a zero byte, and so sort first
            entries = dict(zip(keys, values, strict=True))
            merge_hash_tables(entries)
            slices = self._take_slices(entries)
            keys, values = list(entries), list(entries.values())
        return _Contents(dict(zip(decode_names(keys), values, strict=True)), slices, tuple(damage))

    def _take_slices(self, entries: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Takes the entries of slices out: they are the ones that the entry of a tensor lists."""
        slices: dict[bytes, bytes] = {}
        for key, value in list(entries.items()):
            for part in self._listed_slices(key, value):
                at = slice_key(key, part)
                if at in entries:
                    slices[at] = entries.pop(at)
        return slices

    def _listed_slices(self, key: bytes, value: bytes) -> tuple[TensorSlice, ...]:
        try:
            parts = self.info(decode_name(key), value).slices
        except DataLossError:
            return ()  # reported when that tensor is asked for
        # More keys than the table can hold: they are found missing when that tensor is asked for.
        return () if len(parts) * len(key) > MOST_EXPANSION * self._table.size else parts
