"""The embedding variables of a session: which table is behind a handle, and which of its columns.

A variable and its slots are columns of one table. Each has a handle of its own, and is initialized by an operation of
its own; in which order these run does not matter. What a table is made with is known to the one that owns it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from threading import RLock
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.embedding.stored.writing import StoredForm
from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep, KeepAll, L2Weight
from tensorkeep.embedding.table.tiers import Cache, FileTier, Memory
from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
    WrongTypeError,
)
from tensorkeep.graph.registry.capabilities import STORED_IN_FILES
from tensorkeep.io.machine.resources import is_switched_on
from tensorkeep.ops.embedding._recording import Recorder
from tensorkeep.ops.embedding._snapshots import SavedTables, saved_tables
from tensorkeep.ops.embedding.placements import TablePlacement
from tensorkeep.ops.shared.kernel_types import Array, Handle

_LAST_PLAIN_STORAGE: Final = 5  # kinds of storage above it keep frequencies and versions by themselves
_GIBIBYTE: Final = 1 << 30
_WITH_RECORDS: Final = frozenset((4, 12, 102))  # SSDHASH, DRAM_SSDHASH, HBM_DRAM_SSDHASH; LevelDB's rows are all saved


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What a table is made with, as the attributes of an initializer say it."""

    steps_to_live: int = 0
    filter_freq: int = 0
    max_element_size: int = 0
    counter_type: DType = field(default_factory=lambda: DType.of("uint64"))
    false_positive_probability: float = -1.0
    l2_weight_threshold: float = -1.0
    storage_type: int = 0
    storage_path: str = "."
    storage_size: tuple[int, ...] = ()
    no_permission: float = 0.0
    record_freq: bool = False
    record_version: bool = False
    is_mutable: bool = True
    cache_strategy: int = 1

    @property
    def admission(self) -> AdmitAll | CounterFilter | BloomFilter:
        """Which keys are let in."""
        if self.filter_freq <= 0:
            return AdmitAll()
        if self.false_positive_probability <= 0 or self.max_element_size <= 0:
            return CounterFilter(self.filter_freq)
        counters = np.dtype(self.counter_type.array_dtype)
        return BloomFilter(self.filter_freq, self.max_element_size, self.false_positive_probability, counters)

    @property
    def eviction(self) -> KeepAll | GlobalStep | L2Weight:
        """Which keys a save drops."""
        if self.steps_to_live > 0:
            return GlobalStep(self.steps_to_live)
        return L2Weight(self.l2_weight_threshold) if self.l2_weight_threshold > 0 else KeepAll()

    @property
    def _keeps_by_storage(self) -> bool:
        return self.storage_type > _LAST_PLAIN_STORAGE

    @property
    def keeps_frequencies(self) -> bool:
        return self.filter_freq > 0 or self.record_freq or self._keeps_by_storage

    @property
    def keeps_versions(self) -> bool:
        return self.steps_to_live > 0 or self.record_version or self._keeps_by_storage

    def form(self, key_dtype: DType) -> StoredForm:
        """What of a table is stored."""
        return StoredForm.as_upstream(
            filter_freq=max(self.filter_freq, 0),
            counter_filter=isinstance(self.admission, CounterFilter),
            steps_to_live=max(self.steps_to_live, 0),
            record_freq=self.record_freq,
            record_version=self.record_version,
            storage_type=self.storage_type,
            save_filtered=is_switched_on("TF_EV_SAVE_FILTERED_FEATURES", default=True),
            key_dtype=key_dtype.array_dtype,
        )

    def table(self, dim: int, matrix: Array, key_dtype: DType, value_dtype: DType) -> EmbeddingTable:
        """A new table of these settings."""
        return EmbeddingTable(
            dim,
            initial=matrix,
            key_dtype=key_dtype.array_dtype,
            value_dtype=value_dtype.array_dtype,
            admission=self.admission,
            eviction=self.eviction,
            keeps_frequencies=self.keeps_frequencies,
            keeps_versions=self.keeps_versions,
            no_permission=self.no_permission,
            storage=self.storage,
        )

    @property
    def leaves_records(self) -> bool:
        """Whether DeepRec leaves rows that are not in memory beside a checkpoint (DramSsdHashStorage)."""
        return self.storage_type in _WITH_RECORDS

    @property
    def storage(self) -> Memory | FileTier:
        """Where the rows are: in memory, or in a file behind it."""
        if self.storage_type not in STORED_IN_FILES:
            return Memory()
        memory = self.storage_size[0] if self.storage_size else _GIBIBYTE
        return FileTier(self.storage_path, memory, Cache.LFU if self.cache_strategy else Cache.LRU)


TABLE_ATTRIBUTES: Final = (
    "steps_to_live",
    "filter_freq",
    "max_element_size",
    "counter_type",
    "false_positive_probability",
    "l2_weight_threshold",
    "storage_type",
    "storage_path",
    "storage_size",
    "default_value_no_permission",
    "record_freq",
    "record_version",
    "emb_index",
    "slot_index",
)
"""The attributes of an initializer that matter for the table it makes."""


def settings_of(attrs: Mapping[str, Any], is_mutable: bool = True) -> TableSettings:
    """The settings that the attributes of an initializer say."""
    own = {known.name for known in fields(TableSettings)}
    given = {name: attrs[name] for name in TABLE_ATTRIBUTES if name in own}
    given |= {"storage_path": attrs["storage_path"].decode(), "storage_size": tuple(attrs["storage_size"])}
    return TableSettings(**given, no_permission=attrs["default_value_no_permission"], is_mutable=is_mutable)


def owner_of(resource: EmbeddingResource, primary: Handle, attrs: Mapping[str, Any]) -> EmbeddingResource:
    """Whose table an initializer makes: a block has keys of its own, a slot those of its variable."""
    is_block = attrs["emb_index"] and not attrs["slot_index"]
    return resource if is_block else embedding_of(primary)


class EmbeddingResource:
    """An embedding variable: a column of a table. The one that is its own owner has the table."""

    def __init__(
        self,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        dim: int,
        placement: TablePlacement | None = None,
    ) -> None:
        self.name = name
        self.placement = placement
        """Who makes the table, if it is not in the session."""
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.dim = dim
        self.is_initialized = False
        """Whether there are rows to look up and to save: from the initializer or from a checkpoint."""
        self.began_by_initializer = False
        self.owner: EmbeddingResource = self
        self.settings = TableSettings()
        self._lock = RLock()  # of the owner: for making tables and columns
        self._matrix: Array | None = None
        self._table: EmbeddingTable | None = None
        self._columns: dict[str, EmbeddingResource] = {}
        self._recorder: Recorder | None = None

    # ------------------------------------------------------------------------------------------ making

    @property
    def column(self) -> str:
        """The name of the column in the table: what is behind the owner's name, where that is how it is called."""
        return "" if self.owner is self else self.name.removeprefix(f"{self.owner.name}/")

    @property
    def is_built(self) -> bool:
        """Whether there is a table with the column in it."""
        return self._matrix is not None and self.owner._table is not None

    def build(self, primary: EmbeddingResource, matrix: Array, settings: TableSettings) -> None:
        """Sees to it that there is a table with the column in it. What is there stays as it is."""
        owner = primary.owner
        with owner._lock:
            if not self.is_built:
                self._make(owner, matrix, settings)

    def initialize(self, primary: EmbeddingResource, matrix: Array, settings: TableSettings) -> None:
        """Makes the table anew, without keys; or, of a slot, the column, with its default row for every key."""
        owner = primary.owner
        with owner._lock:
            self._make(owner, matrix, settings)
            self.is_initialized = self.began_by_initializer = True

    def _make(self, owner: EmbeddingResource, matrix: Array, settings: TableSettings) -> None:
        if matrix.ndim != 2 or matrix.shape[1] != self.dim or not len(matrix):
            raise InvalidArgumentError(
                f'the default rows of "{self.name}" have the shape {list(matrix.shape)}, expected [rows, {self.dim}] '
                "with at least one row"
            )
        self.owner = owner
        self.settings = settings
        self._matrix = np.array(matrix)
        if owner is self:
            if self._recorder is not None and self._table is not None:
                self._recorder = Recorder()  # there is no full checkpoint of the new table
            self._make_table(self._matrix)
            return
        owner._columns[self.column] = self
        if owner._table is not None:
            self._add_to(owner._table)

    def _make_table(self, matrix: Array) -> None:
        if self.placement is None:
            self._table = self.settings.table(self.dim, matrix, self.key_dtype, self.value_dtype)
        else:
            self._table = self.placement.table(self.name, self.settings, matrix, self.key_dtype, self.value_dtype)
        for slot in self._columns.values():
            slot._add_to(self._table)

    def _add_to(self, table: EmbeddingTable) -> None:
        assert self._matrix is not None
        if self.column in [column.name for column in table.columns]:
            is_same = np.array_equal(table.default(self.column), self._matrix)
            if is_same and self.owner.placement is not None:
                return  # somebody else has made it, and may have changed it by now
            if is_same:
                with table.snapshot() as snapshot:
                    table.reset_column(self.column, snapshot.keys)
                return
            table.drop_column(self.column)
        table.add_column(self.column, self.dim, self._matrix, dtype=self.value_dtype.array_dtype)

    def record_touched(self) -> Recorder:
        """Has the keys of the table recorded that are touched from now on."""
        if self.placement is not None:
            raise UnimplementedError(
                f'the table of "{self.name}" is shared with other processes, whose changes this one does not see: save '
                "it incrementally by `tensorkeep.cluster`, whose parts record what is changed"
            )
        with self._lock:
            if self._recorder is None:
                self._recorder = Recorder()
            return self._recorder

    def touch(self, keys: Array) -> None:
        """Notes that the rows of keys changed, if that is recorded.

        It is noted after the change. So a change that a full checkpoint does not have is noted after that began, and
        is not forgotten with what it has.
        """
        if self._recorder is not None:
            self._recorder.touched.record(keys)

    def require_base(self) -> Recorder:
        """The recorder, of a table that was saved or restored whole before."""
        if self._recorder is None or not self._recorder.has_base:
            raise FailedPreconditionError(
                f'embedding variable "{self.name}" has not been saved whole yet: an incremental checkpoint holds what '
                "changed since the last full one, so save that first"
            )
        return self._recorder

    def mark_rebased(self, is_same: bool) -> None:
        """Says that the table is what a full checkpoint holds; or that no row of it is, for it was changed on the way.

        Then an incremental checkpoint would not go with that one, nor with any before the next full save.
        """
        if self.owner is self and self._recorder is not None:
            self._recorder.rebase()
            self._recorder.has_base = is_same

    def mark_restored(self) -> None:
        """Says that the variable has its values, though not from its initializer."""
        self.is_initialized = True

    def set_cache_strategy(self, strategy: int) -> None:
        """Says which rows a table in tiers keeps in memory: 0 those used last, 1 those used most."""
        if strategy not in (0, 1):
            raise InvalidArgumentError(f'cache strategy {strategy} of "{self.name}": expected 0 (LRU) or 1 (LFU)')
        with self._lock:
            if strategy == self.settings.cache_strategy:
                return
            self.settings = replace(self.settings, cache_strategy=strategy)
            if self._matrix is not None and self._table is not None and not len(self._table):
                self._make_table(self._matrix)

    def clear(self) -> None:
        """Forgets the rows."""
        self.is_initialized = self.began_by_initializer = False
        self._matrix = self._table = None

    # ------------------------------------------------------------------------------------------ using

    @property
    def table(self) -> EmbeddingTable:
        """The table that the variable is in."""
        table = self.owner._table
        if table is None or self._matrix is None:
            raise FailedPreconditionError(
                f'embedding variable "{self.name}" is not initialized: run its initializer '
                "(tf.global_variables_initializer()) or restore it from a checkpoint first"
            )
        return table

    def require_saveable(self) -> None:
        """Sees that there is something to save."""
        if not self.is_initialized or not self.is_built:
            raise NotFoundError(
                f'embedding variable "{self.name}" has neither been initialized nor restored, so there is nothing to '
                "save: run its initializer (tf.global_variables_initializer()) or restore it first"
            )

    def saved_with(
        self, stems: Sequence[str], resources: Sequence[EmbeddingResource], step: int, records: bool
    ) -> SavedTables:
        """What a save writes of variables that it is given by their handles."""
        for resource in resources:
            resource.require_saveable()
        return saved_tables(stems, resources, step, records=records)

    @property
    def default_matrix(self) -> Array:
        """The rows that new keys begin as."""
        assert self._matrix is not None
        return self._matrix

    @property
    def key_count(self) -> int:
        """How many keys are known, those among them that have no row yet."""
        table = self.table
        return len(table) + table.filtered_count

    def looked_up(self, keys: Array, initial: Array | None, *, inserts: bool) -> Array:
        """The rows of keys. With `inserts`, keys that are not there are given rows: `initial` or the default ones."""
        table, settings = self.table, self.owner.settings
        may_insert = inserts and settings.is_mutable and settings.filter_freq <= 0
        if not may_insert and initial is None:
            return table.lookup(keys, self.column)
        is_known = table.contains(keys)
        if may_insert and not is_known.all():  # else it is enough to read, as many threads may at a time
            counts = np.zeros(len(keys), np.int64)  # updates count, lookups do not
            if self.owner is self:
                rows = table.lookup_or_create(keys, counts, initial)
                self.touch(keys[~is_known])
                return rows
            table.touch(keys, counts)
            self.owner.touch(keys[~is_known])
        rows = table.lookup(keys, self.column)
        return rows if initial is None else np.where(is_known[:, None], rows, initial)


def embedding_of(value: Handle) -> EmbeddingResource:
    """The embedding variable that a handle leads to."""
    if not isinstance(value, EmbeddingResource):
        raise WrongTypeError(f"a handle leads to a {type(value).__name__}, expected an embedding variable")
    return value


class NumberedEmbeddings:
    """Embedding variables by number: what passes through a graph as a number, where DeepRec has an address."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._numbers: dict[int, EmbeddingResource] = {}

    def number_of(self, variable: EmbeddingResource) -> int:
        """The number of a variable, which stays the same."""
        with self._lock:
            number = id(variable)
            self._numbers[number] = variable
            return number

    def find(self, number: int) -> EmbeddingResource:
        found = self._numbers.get(number)
        if found is None:
            raise InvalidArgumentError(f"no embedding variable of this session has the number {number}")
        return found
