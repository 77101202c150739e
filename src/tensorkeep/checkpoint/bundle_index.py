"""The index of a V2 checkpoint, read. What stands in it is described in bundle.py."""

from __future__ import annotations

from functools import cached_property
from operator import lt
from typing import NamedTuple

from tensorkeep.checkpoint.bundle import HEADER_KEY, Entry, Header, decode_name, encode_name
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices import TensorSlice, slice_key
from tensorkeep.checkpoint.small_tensors import has_usual_tail, head_of, is_usual, tail_of
from tensorkeep.errors import DataLossError, FailedPreconditionError
from tensorkeep.io.filesystem import RandomAccessFile
from tensorkeep.table.block import MOST_EXPANSION
from tensorkeep.table.table import Table


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

    def is_known(self, head: bytes) -> bool:
        """Whether entries that begin so were seen to be of the usual form."""
        return head in self._infos

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
        entries: dict[bytes, bytes] = {}
        damage: list[DataLossError] = []
        last: bytes | None = None
        for handle, block in self._table.blocks():
            try:
                if isinstance(block, DataLossError):
                    raise block
                keys, values = block.load()
                if not keys:
                    continue
                if (last is not None and keys[0] <= last) or not all(map(lt, keys, keys[1:])):
                    raise DataLossError(f'"{self.path}": block at byte {handle.offset}: keys are not in order')
            except DataLossError as error:
                damage.append(error.with_traceback(None))  # there may be thousands
                continue
            last = keys[-1]
            entries.update(zip(keys, values, strict=True))
        entries.pop(HEADER_KEY, None)
        slices = self._take_slices(entries)
        return _Contents({decode_name(key): value for key, value in entries.items()}, slices, tuple(damage))

    def _take_slices(self, entries: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Takes the entries of slices out: they are the ones that the entry of a tensor lists."""
        slices: dict[bytes, bytes] = {}
        if next(iter(entries), b"\xff")[0] != 0:  # keys of slices begin with a zero byte, and so sort first
            return slices
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
