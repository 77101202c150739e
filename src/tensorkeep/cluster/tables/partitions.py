"""One part of a table, in a process of its own: an EmbeddingTable, what was touched of it, and what is being saved.

It knows nothing of Ray: what asks for it calls methods by name (`call`), from any thread.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.cluster.tables.specs import TableSpec, read_state
from tensorkeep.embedding.restore.incremental import TouchedKeys, table_delta_tensors
from tensorkeep.embedding.restore.reports import ColumnReport
from tensorkeep.embedding.restore.restoring_deltas import restore_delta
from tensorkeep.embedding.restore.restoring_rows import Extend, restore_table
from tensorkeep.embedding.stored.naming import part_stem
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.embedding.table.table_snapshots import TakenSnapshot
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.io.files.filesystem import Durability

Keys = npt.NDArray[np.int64]

# What changes rows of keys that are given, and where these stand among the arguments.
_CHANGES: Final = {
    "touch": 0,
    "apply": 2,
    "assign_columns": 0,
    "assign_filtered": 0,
    "remove": 0,
    "lookup_or_create": 0,
}


@dataclass(frozen=True)
class PartStatus:
    """Which part this is, since when it lives, and what it came back with."""

    number: int
    life: str
    """Another one whenever the part has come back in another process."""
    saved_text: str
    step: int | None


@dataclass
class _Frozen:
    """What a part held at one moment, kept until it is written."""

    snapshot: TakenSnapshot
    touched: Keys
    generation: int


class Partition:
    """Part `number` of a table."""

    def __init__(self, spec: TableSpec, number: int) -> None:
        self._spec = spec
        self._number = number
        self._life = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._touched = TouchedKeys()
        self._has_base = False
        self._frozen: dict[str, _Frozen] = {}
        self._table = spec.table()
        state = read_state(spec)
        for name, default in state.columns:
            self._table.add_column(name, default.shape[1], default, dtype=default.dtype)
        if state.full is not None:
            self.restore(state.full, spec.name, state.delta)
        self._status = PartStatus(number, self._life, state.saved_text, state.step)

    def status(self) -> PartStatus:
        return self._status

    def call(self, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Does what a method of the table does, or of the part, if it has one of that name."""
        own = getattr(self, method, None)
        if own is not None and method in _OWN:
            return own(*arguments, **named)
        result = getattr(self._table, method)(*arguments, **named)
        if method in _CHANGES:
            self._touched.record(np.asarray(arguments[_CHANGES[method]]).reshape(-1))
        if method == "touch":
            return result.rows
        return result

    # ------------------------------------------------------------------------------------------ what it holds

    def amounts(self) -> tuple[int, int, int]:
        """How many keys have rows, how many are only counted, and how many bytes of memory all take."""
        return len(self._table), self._table.filtered_count, self._table.nbytes

    def slot_defaults(self) -> list[tuple[str, Array]]:
        """The slots in their order, with their default rows."""
        return [(column.name, self._table.default(column.name)) for column in self._table.columns if column.name]

    def add_column(self, name: str, default: Array) -> None:
        self._table.add_column(name, default.shape[1], default, dtype=default.dtype)

    def clear(self) -> None:
        with self._table.snapshot() as snapshot:
            self._touched.record(snapshot.keys)
            self._touched.record(snapshot.filtered_keys)
        self._table.clear()

    def retain(self, keys: Keys) -> int:
        with self._table.snapshot() as snapshot:
            self._touched.record(np.setdiff1d(np.concatenate([snapshot.keys, snapshot.filtered_keys]), keys))
        return self._table.retain(keys)

    def reset_column(self, column: str, keys: Keys | None) -> None:
        """Gives keys, or all, their default rows in a column."""
        with self._table.snapshot() as snapshot:
            chosen = snapshot.keys if keys is None else keys
        self._table.reset_column(column, chosen)
        self._touched.record(chosen)

    def sweep(self, step: int) -> tuple[Keys, Keys]:
        """Drops what is due at a step: the keys that had rows, and those that had none or were stamped."""
        swept = self._table.sweep(step)
        self._touched.record(swept.removed)
        self._touched.record(swept.beside)
        return swept.removed, swept.beside

    # ------------------------------------------------------------------------------------------ saving

    def freeze(self, token: str, step: int | None) -> tuple[Any, ...]:
        """Keeps what the part holds now under a token, after what is due at a step is dropped, if there is a step.

        Gives its keys in order, frequencies, versions, and those of keys that are only counted.
        """
        if step is not None:
            self.sweep(step)
        with self._lock:
            generation = self._touched.begin()
            snapshot = self._table.snapshot()
            self._frozen[token] = _Frozen(snapshot, self._touched.keys(), generation)
        return (
            snapshot.keys,
            snapshot.freqs,
            snapshot.versions,
            snapshot.filtered_keys,
            snapshot.filtered_freqs,
            snapshot.filtered_versions,
        )

    def freeze_quietly(self, token: str, step: int | None) -> int:
        """The same, for a save by this process: gives how many keys there are."""
        return int(self.freeze(token, step)[0].size)

    def frozen_rows(self, token: str, column: str, start: int, stop: int) -> Array:
        return self._kept(token).snapshot.rows(column, start, stop)

    def write(self, token: str, prefix: str, *, delta: bool, durability: str) -> int:
        """Writes what was kept as a checkpoint of its own: all of it, or what was touched since the last full one."""
        frozen, spec = self._kept(token), self._spec
        if delta and not self._has_base:
            raise FailedPreconditionError(
                f'part {self._number} of "{spec.name}" has not been saved whole yet: an incremental checkpoint holds '
                "what changed since the last full one, so save that first"
            )
        stem = part_stem(spec.name, self._number, spec.partitions)
        tensors: dict[str, ArraySource]
        if delta:
            tensors = table_delta_tensors(stem, frozen.snapshot, frozen.touched, spec.form)
        else:
            tensors = table_tensors(stem, frozen.snapshot, spec.form)
        with BundleWriter(prefix, durability=Durability(durability), fs=spec.fs) as writer:
            for name, source in tensors.items():
                writer.add(name, source)
        return sum(source.nbytes for source in tensors.values())

    def release(self, token: str, is_saved: bool) -> None:
        """Lets go of what was kept; with a full checkpoint that has it, what was touched before is forgotten."""
        with self._lock:
            frozen = self._frozen.pop(token, None)
        if frozen is None:
            return
        frozen.snapshot.close()
        if is_saved:
            self._touched.forget_before(frozen.generation)
            self._has_base = True

    def _kept(self, token: str) -> _Frozen:
        with self._lock:
            if token not in self._frozen:
                raise FailedPreconditionError(
                    f'part {self._number} of "{self._spec.name}" keeps nothing under "{token}": it has come back since'
                )
            return self._frozen[token]

    # ------------------------------------------------------------------------------------------ restoring

    def restore(
        self, prefix: str, stem: str, delta: str | None = None, extend: Extend = "error"
    ) -> tuple[ColumnReport, ...]:
        """Restores the part from a checkpoint, whatever the number of parts there, and a delta over it."""
        partition = (self._number, self._spec.partitions)
        with open_checkpoint(prefix, fs=self._spec.fs) as reader:
            reports = restore_table(self._table, reader, stem, partition=partition, extend=extend, fs=self._spec.fs)
        self._touched = TouchedKeys()
        if delta is not None:
            with open_checkpoint(delta, fs=self._spec.fs) as changes:
                for column in self._table.columns:
                    restore_delta(
                        self._table,
                        changes,
                        stem if not column.name else f"{stem}/{column.name}",
                        column=column.name,
                        partition=partition,
                        primary=stem,
                        note=self._touched.record,
                    )
        self._has_base = all(report.stored_dim in (None, report.dim) for report in reports)
        return reports


_OWN: Final = frozenset(
    (
        "add_column",
        "amounts",
        "clear",
        "freeze",
        "freeze_quietly",
        "frozen_rows",
        "release",
        "reset_column",
        "restore",
        "retain",
        "slot_defaults",
        "status",
        "sweep",
        "write",
    )
)
