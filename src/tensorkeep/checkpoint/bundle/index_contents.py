"""All that stands in an index, sorted: entries of tensors, entries of slices, and what cannot be read of it.

It does without NumPy, so that a small checkpoint is listed before that is imported. What stands in an index is
described in format.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from operator import lt
from typing import NamedTuple, TypeAlias

from tensorkeep.checkpoint.bundle.format import HEADER_KEY, Entry, decode_name, decode_names
from tensorkeep.checkpoint.bundle.hash_tables import merge_hash_tables
from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.errors import DataLossError
from tensorkeep.table.block import MOST_EXPANSION, Block
from tensorkeep.table.table import Table

__all__ = ["IndexContents", "read_contents"]

LoadBlock: TypeAlias = Callable[[Block], tuple[list[bytes], list[bytes]]]


class IndexContents(NamedTuple):
    """All of an index that is sound, but for the header."""

    tensors: dict[str, bytes]
    """The entries of tensors, encoded, by name."""
    slices: dict[bytes, bytes]
    """The entries of slices, encoded, by key."""
    damage: tuple[DataLossError, ...]
    """What is wrong with each block that is damaged, whose entries are hidden."""


def read_contents(table: Table, load: LoadBlock = Block.load) -> IndexContents:
    """Reads an index. `load` takes a block apart."""
    keys: list[bytes] = []
    values: list[bytes] = []
    damage: list[DataLossError] = []
    for handle, block in table.blocks():
        try:
            if isinstance(block, DataLossError):
                raise block
            some_keys, some_values = load(block)
            if not some_keys:
                continue
            if (keys and some_keys[0] <= keys[-1]) or not all(map(lt, some_keys, islice(some_keys, 1, None))):
                raise DataLossError(f'"{table.path}": block at byte {handle.offset}: keys are not in order')
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
        slices = _take_slices(entries, table)
        keys, values = list(entries), list(entries.values())
    return IndexContents(dict(zip(decode_names(keys), values, strict=True)), slices, tuple(damage))


def _take_slices(entries: dict[bytes, bytes], table: Table) -> dict[bytes, bytes]:
    """Takes the entries of slices out: they are the ones that the entry of a tensor lists."""
    slices: dict[bytes, bytes] = {}
    for key, value in list(entries.items()):
        for part in _listed_slices(key, value, table):
            at = slice_key(key, part)
            if at in entries:
                slices[at] = entries.pop(at)
    return slices


def _listed_slices(key: bytes, value: bytes, table: Table) -> tuple[TensorSlice, ...]:
    try:
        parts = Entry.decode(decode_name(key), value, f'"{table.path}"').slices
    except DataLossError:
        return ()  # reported when that tensor is asked for
    # More keys than the table can hold: they are found missing when that tensor is asked for.
    return () if len(parts) * len(key) > MOST_EXPANSION * table.size else parts
