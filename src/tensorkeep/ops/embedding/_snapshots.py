"""What a save writes of embedding variables: one snapshot for a table and all its slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.embedding.stored.naming import slot_stem
from tensorkeep.embedding.stored.record_writing import WithoutRecords, write_records
from tensorkeep.embedding.stored.writing import StoredForm, add_embedding
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import TableSnapshot
from tensorkeep.embedding.table.table_snapshots import TakenSnapshot
from tensorkeep.io.files.filesystem import Durability, FileSystem

if TYPE_CHECKING:
    from tensorkeep.ops.embedding.session_tables import EmbeddingResource


Positions: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SavedColumn:
    """A column of a snapshot that is written under a stem."""

    stem: str
    snapshot: TableSnapshot
    column: str
    form: StoredForm


@dataclass(frozen=True, slots=True)
class SavedRecords:
    """The rows of a table that are written as records beside the checkpoint."""

    stem: str
    snapshot: TableSnapshot
    positions: Positions
    key_dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class SavedTables:
    """The columns and records that a save writes. Their snapshots are closed when it is over."""

    columns: Sequence[SavedColumn] = ()
    records: Sequence[SavedRecords] = ()
    snapshots: Sequence[TableSnapshot] = ()

    def add_to(self, writer: BundleWriter) -> None:
        """Writes all columns to a checkpoint in the making."""
        for column in self.columns:
            add_embedding(writer, column.stem, column.snapshot, column.column, column.form)

    def write_beside(self, fs: FileSystem, prefix: str, durability: Durability) -> None:
        """Writes the records beside a checkpoint of that prefix."""
        for part in self.records:
            write_records(
                prefix,
                part.stem,
                part.snapshot,
                part.positions,
                key_dtype=part.key_dtype,
                durability=durability,
                fs=fs,
            )

    def close(self) -> None:
        """Lets go of the snapshots."""
        for snapshot in self.snapshots:
            snapshot.close()


def saved_tables(
    stems: Sequence[str], variables: Sequence[EmbeddingResource], step: int, *, records: bool = False
) -> SavedTables:
    """What is to be written of variables under stems, after tables have dropped what is due at a step.

    With `records`, the rows of an SSD tier that are not in memory lie beside the checkpoint.
    """
    for variable in variables:
        if variable.owner is variable:
            swept = variable.table.sweep(step)
            variable.touch(swept.removed)  # in case that no full checkpoint comes of it
            variable.touch(swept.beside)
    ordered = sorted(zip(stems, variables, strict=True), key=lambda pair: pair[0])
    snapshots: dict[EmbeddingTable, TakenSnapshot] = {}
    for _, variable in ordered:
        if variable.table not in snapshots:
            snapshots[variable.table] = variable.table.snapshot()
    beside = _records(ordered, snapshots) if records else {}
    kept: dict[EmbeddingTable, TableSnapshot] = {**snapshots}
    kept |= {table: WithoutRecords(snapshots[table], part.positions) for table, part in beside.items()}
    columns = [
        SavedColumn(stem, kept[variable.table], variable.column, variable.owner.settings.form(variable.key_dtype))
        for stem, variable in ordered
    ]
    return SavedTables(columns, tuple(beside.values()), tuple(snapshots.values()))


def _records(
    ordered: Sequence[tuple[str, EmbeddingResource]], snapshots: Mapping[EmbeddingTable, TakenSnapshot]
) -> dict[EmbeddingTable, SavedRecords]:
    """The tables of which rows are written as records, as DeepRec's DramSsdHashStorage leaves them.

    A reader finds the columns of a record by their stems in the checkpoint. So all columns are saved, each under its
    own name; of any other table all rows are in the checkpoint.
    """
    beside: dict[EmbeddingTable, SavedRecords] = {}
    for stem, owner in ordered:
        if owner.owner is not owner or not owner.settings.leaves_records:
            continue
        snapshot = snapshots[owner.table]
        saved = {name for name, variable in ordered if variable.table is owner.table}
        expected = {slot_stem(stem, column.name) for column in snapshot.columns}
        has_plain_rows = all(column.dtype == np.float32 for column in snapshot.columns)
        if saved == expected and has_plain_rows and snapshot.positions_in_file.size:
            key_dtype = np.dtype(owner.key_dtype.array_dtype)
            beside[owner.table] = SavedRecords(stem, snapshot, snapshot.positions_in_file, key_dtype)
    return beside
