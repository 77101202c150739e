"""The index of a V2 checkpoint, read. What stands in it is described in format.py."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from tensorkeep.checkpoint.bundle.entry_columns import decode_entries
from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry, Header, encode_name, tail_of
from tensorkeep.checkpoint.bundle.index_contents import IndexContents, read_contents
from tensorkeep.checkpoint.bundle.small_tensors import Heads
from tensorkeep.checkpoint.reader import TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.errors import DataLossError, FailedPreconditionError, TensorKeepError
from tensorkeep.io.files.filesystem import RandomAccessFile
from tensorkeep.native import blocks
from tensorkeep.table.block import MOST_EXPANSION, Block
from tensorkeep.table.table import Table

_FEW: Final = 16  # entries that are looked up one by one, before all are worked out together
_MOST_NOTED: Final = 256  # types and shapes that are parsed before they are asked for


class BundleIndex:
    """An open index. Opening it reads the header; the entries are read, all together, on first use.

    Entries stay encoded until they are asked for. A damaged block is noted, and hides the entries in it alone.
    """

    def __init__(self, file: RandomAccessFile) -> None:
        self.path = file.path
        self._table = Table(file)
        self._is_closed = False
        self._lookups = 0
        self._are_all_noted = False
        self.infos: dict[str, TensorInfo] = {}
        """What is known of tensors by name: of those that were asked for, and of all usual ones once they are many."""
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
        """What the entry of a tensor says of type and shape."""
        info = self.infos.get(name)
        if info is not None:
            return info
        self._lookups += 1
        if self._lookups == _FEW:
            self._note_infos()
            info = self.infos.get(name)
        if info is None:
            entry = Entry.decode(name, value, f'"{self.path}"')
            info = self.infos[name] = TensorInfo(entry.dtype, entry.shape, entry.slices)
        return info

    def all_infos(self) -> dict[str, TensorInfo]:
        """What the entries of all tensors say of type and shape."""
        if self._lookups < _FEW:
            self._lookups = _FEW
            self._note_infos()
        known = self.infos
        if self._are_all_noted:  # in their order, too
            return dict(known)
        return {name: known.get(name) or self.info(name, value) for name, value in self.tensors.items()}

    def _note_infos(self) -> None:
        """Works out `infos` for all usual entries together, except where there are too many different ones."""
        names, values = list(self.tensors), list(self.tensors.values())
        numbers, firsts = Heads.of(values, decode_entries(values))
        found: list[TensorInfo | None] = [self._quiet_info(names[at], values[at]) for at in firsts[:_MOST_NOTED]]
        found += [None] * (len(firsts) + 1 - len(found))  # the last stands for what is not usual
        noted = dict(zip(names, map(found.__getitem__, numbers.tolist()), strict=True))
        self._are_all_noted = None not in found[:-1] and bool((numbers >= 0).all())
        self.infos = {name: info for name, info in noted.items() if info is not None}

    def _quiet_info(self, name: str, value: bytes) -> TensorInfo | None:
        try:
            entry = Entry.decode(name, value, f'"{self.path}"')
        except TensorKeepError:
            return None  # reported when that tensor is asked for
        return TensorInfo(entry.dtype, entry.shape, entry.slices)

    def decode(self, name: str, value: bytes) -> Entry:
        """The entry of a tensor."""
        info = self.info(name, value)
        tail = tail_of(value)
        return self.decode_slice(name, value) if tail is None else Entry(name, info.dtype, info.shape, *tail)

    def decode_slice(self, label: str, value: bytes) -> Entry:
        """The entry of a slice, decoded from `value`; errors name it by `label`."""
        return Entry.decode(label, value, f'"{self.path}"')

    def close(self) -> None:
        """Entries that have been read stay; asking for others raises FailedPreconditionError."""
        self._is_closed = True

    @cached_property
    def _contents(self) -> IndexContents:
        if self._is_closed:
            raise FailedPreconditionError(f'"{self.path}" is closed')
        return read_contents(self._table, load_block)


def load_block(block: Block) -> tuple[list[bytes], list[bytes]]:
    """All keys and all values of a block."""
    data, end = block.contents
    found = blocks.load(data, end, MOST_EXPANSION * len(data))
    return block.load() if found is None else found
