"""A table whose parts are in processes of their own, with the interface of EmbeddingTable."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.cluster.ray_start import connect
from tensorkeep.cluster.tables.gathered_snapshots import GatheredSnapshot
from tensorkeep.cluster.tables.links import LocalLink, PartitionLink, RayLink, Request
from tensorkeep.cluster.tables.routing import Routed
from tensorkeep.cluster.tables.saving import TableFiles
from tensorkeep.cluster.tables.specs import TableSpec, TableState, read_state, with_column, write_state
from tensorkeep.embedding.restore.reports import ColumnReport
from tensorkeep.embedding.restore.restoring_rows import Extend
from tensorkeep.embedding.stored.writing import StoredForm
from tensorkeep.embedding.table.admission import Touched
from tensorkeep.embedding.table.arguments import (
    checked_column,
    checked_counts,
    checked_dim,
    checked_integers,
    checked_keys,
    checked_new,
    checked_rows,
    checked_rule,
    checked_slots,
    checked_step,
)
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import Swept
from tensorkeep.embedding.table.index import ABSENT
from tensorkeep.embedding.table.initial_rows import DEFAULT_ROWS, Initial, default_matrix
from tensorkeep.embedding.table.native_kernels import kernels_for
from tensorkeep.embedding.table.rows import Column
from tensorkeep.embedding.table.snapshot import ColumnInfo
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text
from tensorkeep.io.showing.amounts import amount_of

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]
LOG: Final = logging.getLogger("tensorkeep")


class ShardedEmbeddingTable:
    """Rows of numbers by integer key, in parts, each of which is an actor of a Ray cluster.

    It has the interface of EmbeddingTable. A batch goes to all parts at the same time, each key once. `name` is what
    the table is stored as, and by which other processes attach to it; `home` is a folder that all machines reach, in
    which what was saved is noted: a part that dies comes back from there, and the next call says so
    (PartitionLostError). A table whose home has notes of one of the same name begins with what was saved of that, slots
    included, and logs so. The other arguments are those of EmbeddingTable.
    """

    def __init__(
        self,
        dim: int,
        *,
        name: str,
        partitions: int,
        initial: Initial = 0.0,
        default_rows: int = DEFAULT_ROWS,
        home: PathLike | None = None,
        form: StoredForm = StoredForm(),
        processors: float = 1,
        memory: int | None = None,
        address: str | None = None,
        in_process: bool = False,
        fs: FileSystem = FILES,
        **options: Any,
    ) -> None:
        """`processors` and `memory` are what each part is given of its machine. `in_process` does without Ray."""
        dtype = np.dtype(options.get("value_dtype", np.float32))
        matrix = default_matrix(initial, checked_dim(dim), dtype, default_rows)
        place = None if home is None else fs.canonical(path_text(home))
        if place is not None:
            fs.make_directory(place)
        spec = TableSpec(name, partitions, dim, matrix, options, form, place, fs)
        self._begin(_link(spec, in_process, address, processors, memory))
        if self._state.full is not None or self._state.columns:
            LOG.warning('table "%s" is in "%s" already, and begins %s', name, place, self._state.saved_text)

    @classmethod
    def attached(cls, name: str, *, address: str | None = None) -> ShardedEmbeddingTable:
        """The table of that name, which another process has made on the cluster."""
        connect(address)
        table = cls.__new__(cls)
        table._begin(RayLink.found(name))
        return table

    def _begin(self, link: PartitionLink) -> None:
        self._link = link
        self._pattern = link.spec.table()  # without keys: it knows what arguments mean
        self._kernels = kernels_for(None, None)
        self._state = read_state(link.spec)
        self._columns: dict[str, Column] = {"": _column(self._pattern, "")}
        for known, default in link.ask({0: Request("slot_defaults")})[0]:
            self._add_pattern(known, default)
        self._files = TableFiles(link)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process attaches to the same parts."""
        if not isinstance(self._link, RayLink):
            raise InvalidArgumentError(f'"{self.name}" has its parts in this process, which others cannot reach')
        return _attach_table, (self.name,)

    # ------------------------------------------------------------------------------------------------ What it is

    @property
    def name(self) -> str:
        """What the table is stored as."""
        return self._link.spec.name

    @property
    def partitions(self) -> int:
        """How many parts there are."""
        return self._link.spec.partitions

    @property
    def dim(self) -> int:
        return self._pattern.dim

    @property
    def key_dtype(self) -> np.dtype[Any]:
        return self._pattern.key_dtype

    @property
    def value_dtype(self) -> np.dtype[Any]:
        return self._pattern.value_dtype

    @property
    def admission(self) -> Any:
        return self._pattern.admission

    @property
    def eviction(self) -> Any:
        return self._pattern.eviction

    @property
    def storage(self) -> Any:
        return self._pattern.storage

    @property
    def keeps_frequencies(self) -> bool:
        return self._pattern.keeps_frequencies

    @property
    def keeps_versions(self) -> bool:
        return self._pattern.keeps_versions

    @property
    def columns(self) -> Sequence[ColumnInfo]:
        """The columns, the weights first, named ""."""
        return self._pattern.columns

    @property
    def filtered_count(self) -> int:
        """How many keys are counted and have no row yet."""
        return sum(counted for _, counted, _ in self._everywhere("amounts"))

    @property
    def nbytes(self) -> int:
        """The memory that keys and rows take, in all parts."""
        return sum(size for _, _, size in self._everywhere("amounts"))

    @property
    def can_be_filled(self) -> bool:
        """Never: each part fills itself when it is restored."""
        return False

    def __len__(self) -> int:
        """How many keys have rows."""
        return sum(count for count, _, _ in self._everywhere("amounts"))

    def __repr__(self) -> str:
        return (
            f'<ShardedEmbeddingTable "{self.name}": dim {self.dim} {self.value_dtype}, '
            f"{amount_of(self.partitions, 'part')}>"
        )

    def default(self, column: str = "") -> Array:
        """The default rows of a column."""
        return self._pattern.default(column)

    def absent_rows(self) -> Array:
        """The rows that keys which are not there are looked up as, by their remainders."""
        return self._pattern.absent_rows()

    def add_column(
        self,
        name: str,
        dim: int | None = None,
        initial: Initial = 0.0,
        *,
        dtype: npt.DTypeLike | None = None,
        default_rows: int = DEFAULT_ROWS,
    ) -> None:
        """Adds a column, in which each key has its default row."""
        checked_new(name, self._columns)
        width = self.dim if dim is None else checked_dim(dim)
        matrix = default_matrix(initial, width, np.dtype(dtype or self.value_dtype), default_rows)
        self._note(with_column(self._state, name, matrix))
        self._everywhere("add_column", name, matrix)
        self._add_pattern(name, matrix)

    def drop_column(self, name: str) -> None:
        """Forgets a column with all its rows. The weights stay."""
        self._pattern.drop_column(name)
        self._columns.pop(name)
        self._note(with_column(self._state, name, None))
        self._everywhere("drop_column", name)

    def _add_pattern(self, name: str, matrix: Array) -> None:
        self._pattern.add_column(name, matrix.shape[1], matrix, dtype=matrix.dtype)
        self._columns[name] = _column(self._pattern, name)

    # ------------------------------------------------------------------------------------------------ Looking up

    def lookup(self, keys: npt.ArrayLike, column: str = "") -> Array:
        """The row of each key, without inserting any."""
        found = checked_column(column, self._columns)
        routed, shape = self._route_keys(keys)
        answers = self._ask_parts("lookup", {n: (part, column) for n, part in routed.keys.items()})
        return routed.gathered(answers, np.empty((0, found.dim), found.dtype)).reshape(*shape, found.dim)

    def lookup_or_create(
        self, keys: npt.ArrayLike, counts: npt.ArrayLike | None = None, initial: npt.ArrayLike | None = None
    ) -> Array:
        """The row of each key; those that are not there are inserted, if they are let in."""
        routed, shape = self._route_keys(keys)
        weights = self._columns[""]
        given = routed.counts(checked_counts(counts, shape))
        first = routed.firsts(None if initial is None else checked_rows(initial, shape, weights))
        asked = {n: (part, given[n], first[n]) for n, part in routed.keys.items()}
        answers = self._ask_parts("lookup_or_create", asked)
        return routed.gathered(answers, np.empty((0, self.dim), self.value_dtype)).reshape(*shape, self.dim)

    def contains(self, keys: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """For each key whether it has a row."""
        return self._told_by_parts("contains", keys, np.dtype(np.bool_))

    def frequencies(self, keys: npt.ArrayLike) -> Integers:
        """How often each key occurred."""
        return self._told_by_parts("frequencies", keys, np.dtype(np.int64))

    def versions(self, keys: npt.ArrayLike) -> Integers:
        """The step of each key's last update; -1 if there was none, or that is not kept."""
        return self._told_by_parts("versions", keys, np.dtype(np.int64))

    def tiers(self, keys: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Where the row of each key is: 0 in memory, 1 in a file, -1 nowhere."""
        return self._told_by_parts("tiers", keys, np.dtype(np.int32))

    def _told_by_parts(self, what: str, keys: npt.ArrayLike, dtype: np.dtype[Any]) -> Array:
        routed, shape = self._route_keys(keys)
        answers = self._ask_parts(what, {n: (part,) for n, part in routed.keys.items()})
        return routed.gathered(answers, np.empty(0, dtype)).reshape(shape)

    # ------------------------------------------------------------------------------------------------ Changing

    def touch(self, keys: npt.ArrayLike, counts: npt.ArrayLike | None = None, step: int | None = None) -> Touched:
        """Finds keys, inserts those that are let in, counts their occurrences and stamps them with the step.

        Row numbers are those within each part, times the number of parts, plus that of the part.
        """
        routed, shape = self._route_keys(keys)
        given, stamp = routed.counts(checked_counts(counts, shape)), checked_step(step)
        answers = self._ask_parts("touch", {n: (part, given[n], stamp) for n, part in routed.keys.items()})
        rows = {n: np.where(found == ABSENT, ABSENT, found * self.partitions + n) for n, found in answers.items()}
        return Touched(routed.gathered(rows, np.empty(0, np.int64)).reshape(shape))

    def apply(
        self,
        rule: str,
        gradients: npt.ArrayLike,
        keys: npt.ArrayLike,
        *,
        slots: Sequence[str] | None = None,
        counts: npt.ArrayLike | None = None,
        step: int | None = None,
        **numbers: Any,
    ) -> None:
        """Takes an optimizer's step on the rows of some keys, in all parts at the same time.

        Gradients of a key that is there several times are added up before they travel.
        """
        routed, shape = self._route_keys(keys)
        found, _ = checked_rule(rule, numbers, self.value_dtype)
        columns = [column.name for column in checked_slots(found, slots, self._columns)]
        given, stamp = routed.counts(checked_counts(counts, shape)), checked_step(step)
        sums = routed.sums(checked_rows(gradients, shape, self._columns[""]))
        named = {"slots": columns, "step": stamp, **numbers}
        self._link.ask(
            {
                n: Request("apply", (rule, sums[n], part), {**named, "counts": given[n]})
                for n, part in routed.keys.items()
            }
        )

    def assign(
        self,
        keys: npt.ArrayLike,
        rows: npt.ArrayLike,
        column: str = "",
        freqs: npt.ArrayLike | None = None,
        versions: npt.ArrayLike | None = None,
    ) -> None:
        """Stores rows, inserting the keys that are not there, whatever a filter says."""
        self.assign_columns(keys, {column: rows}, freqs, versions)

    def assign_columns(
        self,
        keys: npt.ArrayLike,
        rows: Mapping[str, npt.ArrayLike],
        freqs: npt.ArrayLike | None = None,
        versions: npt.ArrayLike | None = None,
    ) -> None:
        """Stores rows of several columns at once, by name. Of rows for the same key the last is kept."""
        routed, shape = self._route_keys(keys)
        values = {
            name: routed.lasts(checked_rows(block, shape, checked_column(name, self._columns)))
            for name, block in rows.items()
        }
        given = routed.lasts(checked_integers("freqs", freqs, shape))
        stamps = routed.lasts(checked_integers("versions", versions, shape))
        asked = {
            n: (part, {name: blocks[n] for name, blocks in values.items()}, given[n], stamps[n])
            for n, part in routed.keys.items()
        }
        self._ask_parts("assign_columns", asked)

    def assign_filtered(self, keys: npt.ArrayLike, freqs: npt.ArrayLike, versions: npt.ArrayLike | None = None) -> int:
        """Stores counts of keys that have no row, and returns how many keys were stored."""
        routed, shape = self._route_keys(keys)
        given = routed.lasts(checked_integers("freqs", freqs, shape))
        stamps = routed.lasts(checked_integers("versions", versions, shape))
        asked = {n: (part, given[n], stamps[n]) for n, part in routed.keys.items()}
        return sum(self._ask_parts("assign_filtered", asked).values())

    def reset_column(self, column: str, keys: npt.ArrayLike) -> None:
        """Gives keys their default rows in a column. Keys that are not there are passed over."""
        checked_column(column, self._columns)
        routed, _ = self._route_keys(keys)
        self._ask_parts("reset_column", {n: (column, part) for n, part in routed.keys.items()})

    def remove(self, keys: npt.ArrayLike) -> int:
        """Forgets keys, their counts too, and returns how many of them had rows."""
        routed, _ = self._route_keys(keys)
        return sum(self._ask_parts("remove", {n: (part,) for n, part in routed.keys.items()}).values())

    def retain(self, keys: npt.ArrayLike) -> int:
        """Forgets all keys but these, with rows or without, and returns how many of those had rows."""
        routed, _ = self._route_keys(keys)
        nothing = np.zeros(0, np.int64)
        asked = {n: (routed.keys.get(n, nothing),) for n in range(self.partitions)}
        return sum(self._ask_parts("retain", asked).values())

    def clear(self) -> None:
        """Forgets everything but the columns."""
        self._everywhere("clear")

    def evict(self, step: int = 0) -> Keys:
        """Drops what the policy says is to be dropped at a step, and returns the keys that had rows, in order."""
        return self.sweep(step).removed

    def sweep(self, step: int = 0) -> Swept:
        """What `evict` does, with all that it changed."""
        found = self._everywhere("sweep", step)
        removed = np.concatenate([part for part, _ in found])
        order = self._kernels.in_order(removed, np.arange(removed.size))[0]
        return Swept(order, np.concatenate([beside for _, beside in found]))

    def settle(self) -> None:
        """Has those rows in memory that were used most or last, in tables of which some are in files."""
        self._everywhere("settle")

    def reserve(self, count: int) -> None:
        """Makes room for so many keys in all."""
        self._everywhere("reserve", -(-count // self.partitions))

    # ------------------------------------------------------------------------------------------------ Files

    def snapshot(self) -> GatheredSnapshot:
        """What all parts hold now, each at its own moment. Close it when it has been read."""
        return GatheredSnapshot(self._link, self.columns)

    def save(
        self,
        prefix: PathLike,
        tensors: Mapping[str, Any] | None = None,
        *,
        step: int | None = None,
        durability: Durability = Durability.DISK,
    ) -> str:
        """Saves the table, and other tensors by name, as one checkpoint, which DeepRec reads too.

        All parts write at the same time, what each held when it was asked. With a step, what is due is dropped first.
        """
        path = self._files.save(prefix, tensors or {}, step=step, is_delta=False, durability=durability)
        self._note(replace(self._state, full=path, delta=None, step=step))
        return path

    def save_delta(
        self,
        prefix: PathLike,
        tensors: Mapping[str, Any] | None = None,
        *,
        step: int | None = None,
        durability: Durability = Durability.DISK,
    ) -> str:
        """Saves what changed since the last full save, as an incremental checkpoint."""
        path = self._files.save(prefix, tensors or {}, step=step, is_delta=True, durability=durability)
        self._note(replace(self._state, delta=path, step=step))
        return path

    def restore(
        self,
        prefix: PathLike,
        delta: PathLike | None = None,
        *,
        stem: str | None = None,
        step: int | None = None,
        extend: Extend = "error",
    ) -> tuple[ColumnReport, ...]:
        """Restores all parts at the same time, whatever the number of parts that were saved; and a delta over that."""
        full, over = self._files.place(prefix), None if delta is None else self._files.place(delta)
        found = self._everywhere("restore", full, stem or self.name, over, extend)
        if stem in (None, self.name):
            self._note(replace(self._state, full=full, delta=over, step=step))
        return tuple(report for reports in found for report in reports)

    @property
    def link(self) -> PartitionLink:
        """How its parts are reached."""
        return self._link

    def note_saved(self, full: str, delta: str | None, step: int | None) -> None:
        """Notes what was saved of the table by somebody who saves several tables together."""
        self._note(replace(self._state, full=full, delta=delta, step=step))

    def rollback(self) -> int | None:
        """Takes all parts back to what was saved last, and returns the step of that, if it is known."""
        state = self._state = read_state(self._link.spec)
        if state.full is None:
            self.clear()
        else:
            self._everywhere("restore", state.full, self.name, state.delta)
        return state.step

    @property
    def saved_step(self) -> int | None:
        """The step of what was saved, or restored, last."""
        return read_state(self._link.spec).step

    def close(self) -> None:
        """Ends the parts, if this process has made them."""
        self._link.close()

    def __enter__(self) -> ShardedEmbeddingTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ Asking

    def _route_keys(self, keys: npt.ArrayLike) -> tuple[Routed, tuple[int, ...]]:
        asked, shape = checked_keys(keys, self.key_dtype)
        return Routed.of(asked, self.partitions, self._kernels), shape

    def _ask_parts(self, method: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        return self._link.ask({number: Request(method, given) for number, given in arguments.items()})

    def _everywhere(self, method: str, *arguments: Any) -> list[Any]:
        """What all parts answer, in order."""
        return list(self._ask_parts(method, dict.fromkeys(range(self.partitions), arguments)).values())

    def _note(self, state: TableState) -> None:
        write_state(self._link.spec, state)
        self._state = state


def _link(
    spec: TableSpec, in_process: bool, address: str | None, processors: float, memory: int | None
) -> PartitionLink:
    if in_process:
        return LocalLink(spec)
    connect(address)
    return RayLink.made(spec, processors=processors, memory=memory)


def _attach_table(name: str) -> ShardedEmbeddingTable:
    return ShardedEmbeddingTable.attached(name)


def _column(pattern: EmbeddingTable, name: str) -> Column:
    return pattern._column(name)
