"""How hash tables and their filters are saved and restored: by operations that are given the table itself.

<save>/SaveV2               among other tensors: the handles of a table and its variables, one behind the other
<save>/RestoreHashTable     reads the keys and rows of a part of a table, however many parts it was saved in
<save>/RestoreBloomFilter   reads the counters of a filter
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import colocate_with, control_dependencies
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.tf1.functions.arrays.shapes import stack
from tensorkeep.tf1.variables.hash_tables.admission import BloomFilterAdmitStrategy
from tensorkeep.tf1.variables.hash_tables.keys import SLICE_SIZE, SimpleHashTable, restore_clear
from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable

LOG: Final = logging.getLogger("tensorkeep")

_IDS: Final = "/ids"


class HashTableSaveable(SaveableObject):
    """A part of a table: its keys, its rows and those of its slots.

    `restore_tensor_names` are other names for the rows than those of the tables.
    """

    custom_restore = True

    def __init__(self, hash_tables: Sequence[HashTable], restore_tensor_names: Sequence[str] | None = None) -> None:
        table = hash_tables[0].hash_table
        self._initializers = [one.false_initializer for one in hash_tables]
        self._names = _stored_names(table, hash_tables, restore_tensor_names)
        # DeepRec cannot save a table that is not cut: such a one has all places, as the only part of one would.
        begin, end, size = table.slicer or (0, SLICE_SIZE, SLICE_SIZE)
        self._slice = f"{size} {begin},{end - begin}"
        with colocate_with(table.handle):
            self._handles = stack([table.handle, *(one.handle for one in hash_tables)])
        super().__init__(self._handles, [SaveSpec(self._handles, self._slice, "|".join(self._names))], table.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> Operation:
        """An operation that reads the table from the checkpoint whose prefix is the first tensor."""
        with colocate_with(self._handles), control_dependencies(self._initializers):
            places = (self._names, self._slice, self._handles)
            return emit_operation("RestoreHashTable", restored_tensors[0], *places, clear=restore_clear())


def _stored_names(table: SimpleHashTable, hash_tables: Sequence[HashTable], given: Sequence[str] | None) -> list[str]:
    """What tensors are called in a checkpoint: those of a table, or of each of its children."""
    if given is not None:
        return [";".join([given[0] + _IDS, *given])]
    names = [table.distributed_name + _IDS, *(one.distributed_name for one in hash_tables)]
    children = table.children or [table.distributed_name]
    return sorted(";".join(name.replace(table.distributed_name, child) for name in names) for child in children)


class BloomFilterSaveable(SaveableObject):
    """The counters of a Bloom filter."""

    custom_restore = True

    def __init__(self, bloom_filter: BloomFilterAdmitStrategy) -> None:
        self._filter = bloom_filter
        self._slice = f"{bloom_filter.max_slice_size} {bloom_filter.slice_offset},{bloom_filter.slice_size}"
        spec = SaveSpec(bloom_filter.handle, self._slice, bloom_filter.distributed_name)
        super().__init__(bloom_filter.handle, [spec], bloom_filter.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[Tensor] | None) -> Operation:
        """An operation that reads the filter from the checkpoint whose prefix is the first tensor."""
        handle = self._filter.handle
        with colocate_with(handle), control_dependencies([self._filter.false_initializer]):
            places = (self._filter.distributed_name, self._slice, handle)
            return emit_operation("RestoreBloomFilter", restored_tensors[0], *places)


def with_hash_tables(items: Mapping[str, Any] | Collection[Any]) -> Mapping[str, Any] | Collection[Any]:
    """What to save, with each hash table replaced by one saveable that also holds those of its slots that are there.

    Hash tables are stored under their own names, also where a dictionary has others.
    """
    if isinstance(items, Mapping):
        plain = {name: item for name, item in items.items() if not _is_of_tables(item)}
        tables = {name: item for name, item in items.items() if _is_of_tables(item)}
        for name, item in tables.items():
            if name not in (item.name, item.distributed_name if hasattr(item, "distributed_name") else item.name):
                LOG.warning('hash table "%s" is stored under its own name, not as "%s"', item.name, name)
        return {**plain, **{saveable.name: saveable for saveable in _saveables(tables.values())}}
    if not isinstance(items, list | tuple | set) or not any(map(_is_of_tables, items)):
        return items
    return [*(item for item in items if not _is_of_tables(item)), *_saveables(filter(_is_of_tables, items))]


def _is_of_tables(item: object) -> bool:
    return isinstance(item, HashTable | DistributedHashTable | BloomFilterAdmitStrategy)


def _saveables(items: Iterable[HashTable | DistributedHashTable | BloomFilterAdmitStrategy]) -> list[SaveableObject]:
    groups: dict[SimpleHashTable, list[HashTable]] = {}
    filters: list[SaveableObject] = []
    for item in items:
        if isinstance(item, BloomFilterAdmitStrategy):
            filters.append(BloomFilterSaveable(item))
            continue
        for part in item.partitions if isinstance(item, DistributedHashTable) else [item]:
            tables = groups.setdefault(part.hash_table, [])
            if part not in tables:
                tables.append(part)
    return [*filters, *(HashTableSaveable(tables) for tables in groups.values())]
