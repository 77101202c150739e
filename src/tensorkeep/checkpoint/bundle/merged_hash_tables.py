"""Merging hash tables of which several checkpoints have parts: their slices, by the keys that they have, one behind the
other (DeepRec's FixMergeHashTableBundles).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice, TensorSlice, slice_key
from tensorkeep.errors import InvalidArgumentError


@dataclass
class MergedHashTables:
    """The tensors of hash tables, and their slices, of the checkpoints so far."""

    _tensors: dict[bytes, Entry] = field(default_factory=dict)
    _slices: dict[bytes, list[tuple[HashSlice, TensorSlice, Entry]]] = field(default_factory=dict)

    def keys_in(self, entries: Mapping[bytes, Entry]) -> set[bytes]:
        """The keys of those entries of a checkpoint that are of hash tables.

        A part without rows looks like an empty tensor; it is one of a table if another checkpoint has rows of it, or
        has had.
        """
        found: set[bytes] = set()
        for key, entry in entries.items():
            if entry.slices and all(part.keys is not None for part in entry.slices):
                found.add(key)
                found.update(slice_key(key, part) for part in entry.slices)
            elif key in self._tensors and _is_empty(entry):
                found.add(key)
        return found

    def add(self, entries: Mapping[bytes, Entry], prefix: str) -> None:
        """Takes the entries of hash tables of one more checkpoint."""
        for key, entry in entries.items():
            for part in entry.slices:
                assert part.keys is not None
                self._slices.setdefault(key, []).append((part.keys, part, entries[slice_key(key, part)]))
            if entry.slices or key in self._tensors:
                known = self._tensors.setdefault(key, entry)
                if (known.dtype, known.shape[1:]) != (entry.dtype, entry.shape[1:]):
                    raise InvalidArgumentError(
                        f'cannot merge: the rows of "{entry.name}" are {entry.dtype} {list(entry.shape[1:])} in '
                        f'"{prefix}", but {known.dtype} {list(known.shape[1:])} in an earlier one'
                    )

    def finish(self, merged: dict[bytes, Entry]) -> None:
        """Adds the merged hash tables to the entries of all other tensors. An entry under the key of a table that is
        there already has to be without rows, and is replaced.
        """
        for key, entry in self._tensors.items():
            if key in merged and not _is_empty(merged[key]):
                raise InvalidArgumentError(f'cannot merge: "{entry.name}" is a hash table in one, and none in another')
            rows, listed, reached = 0, [], 0
            for keys, part, stored in sorted(self._slices.get(key, []), key=lambda item: item[0]):
                if keys.begin < reached:
                    raise InvalidArgumentError(
                        f'cannot merge: keys {keys.begin} to {reached} of "{entry.name}" are in two of them'
                    )
                reached = keys.begin + keys.length
                count = stored.shape[0]
                placed = TensorSlice(((rows, count), *part.extents[1:]), keys)
                merged[slice_key(key, placed)] = stored
                listed.append(placed)
                rows += count
            merged[key] = entry._replace(shape=(rows, *entry.shape[1:]), slices=tuple(listed))


def _is_empty(entry: Entry) -> bool:
    return not entry.slices and entry.shape[:1] == (0,)
