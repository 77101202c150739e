"""DeepRec's hash tables in the index of a bundle: keys, rows and filters as tensors in slices by the hash of the key.

    <name>/ids  int64 [n]        <name>  [n, ...]        each slice has the keys of a range, modulo `size` (HashSlice)

As one process leaves it (DeepRec's SaveHashTable), and as DeepRec makes it when it merges the indexes of several, which
it does for a sharded saver alone (FixMergeHashTableBundles) and which is an ordinary tensor in slices:

               shape          listed slice                 key of its entry
    saved      [0, ...]       rows 0 .. n of the slice     name, range of keys
    merged     [total, ...]   its rows of all              name, its rows of all        slices without rows left out
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tensorkeep.checkpoint.slices.tensor_slice import TensorSlice, slice_key
from tensorkeep.errors import DataLossError, TensorKeepError
from tensorkeep.proto.messages import BundleEntryProto, parse, serialize

FLAG: Final = b"\xa0\x06\x01"
"""How `is_hash_table` is spelled, the last field of an entry."""

_MOST_ROWS: Final = 2**63 - 1


def merge_hash_tables(entries: dict[bytes, bytes]) -> None:
    """Changes the entries of hash tables in place, from the form that DeepRec saves to the one that merging makes.

    Entries that are damaged stay as they are, to be reported when their tensors are asked for.
    """
    for key, value in [item for item in entries.items() if item[1].endswith(FLAG)]:
        try:
            message = parse(BundleEntryProto, value, "entry of a hash table")
            if message.shape.dim and not message.shape.dim[0].size and message.slices:
                _merge(entries, key, message)
        except TensorKeepError:
            continue


def _merge(entries: dict[bytes, bytes], key: bytes, message: BundleEntryProto) -> None:
    moved: dict[bytes, bytes] = {}
    total = 0
    parts = sorted(message.slices, key=lambda part: part.hash_slice_begin)
    whole = BundleEntryProto.FromString(message.SerializeToString())
    whole.ClearField("slices")
    for part in parts:
        if not part.extent or part.hash_slice_begin < 0 or part.hash_slice_length < 0:
            raise DataLossError("a slice of a hash table without a range of keys")
        count = part.extent[0].length
        stored = slice_key(key, TensorSlice(((part.hash_slice_begin, part.hash_slice_length),)))
        if count > 0:
            listed = whole.slices.add()
            listed.CopyFrom(part)
            listed.extent[0].start = total
            total += count
            if stored in entries:
                moved[slice_key(key, TensorSlice.from_proto(listed))] = entries[stored]
        if total > _MOST_ROWS or count < 0:
            raise DataLossError("slices of a hash table with more rows than there can be")
        moved.setdefault(stored, b"")
    whole.shape.dim[0].size = total
    for stored, value in moved.items():
        if value:
            entries[stored] = value
        else:
            entries.pop(stored, None)
    entries[key] = serialize(whole)


def hash_slices(slices: Sequence[TensorSlice]) -> tuple[TensorSlice, ...]:
    """The slices of a tensor of a hash table, in the order of its rows; none if it is another tensor."""
    if any(part.keys is None for part in slices):
        return ()
    return tuple(sorted(slices, key=lambda part: part.extents[0] or (0, 0)))
