"""What a save writes of embedding variables: one snapshot for a table and all its slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorkeep.checkpoint.bundle_writer import BundleWriter
from tensorkeep.embedding.snapshot import TableSnapshot
from tensorkeep.embedding.table import EmbeddingTable
from tensorkeep.embedding.writing import StoredForm, add_embedding

if TYPE_CHECKING:
    from tensorkeep.ops._embedding import EmbeddingResource


@dataclass(frozen=True, slots=True)
class SavedColumn:
    """A column of a snapshot that is written under a stem."""

    stem: str
    snapshot: TableSnapshot
    column: str
    form: StoredForm


@dataclass(frozen=True, slots=True)
class SavedTables:
    """The columns that a save writes. Their snapshots are closed when it is over."""

    columns: Sequence[SavedColumn] = ()

    def add_to(self, writer: BundleWriter) -> None:
        """Writes all columns to a checkpoint in the making."""
        for column in self.columns:
            add_embedding(writer, column.stem, column.snapshot, column.column, column.form)

    def close(self) -> None:
        """Lets go of the snapshots."""
        for snapshot in {id(column.snapshot): column.snapshot for column in self.columns}.values():
            snapshot.close()


def saved_tables(stems: Sequence[str], variables: Sequence[EmbeddingResource], step: int) -> SavedTables:
    """What is to be written of variables under stems, after tables have dropped what is due at a step."""
    for variable in variables:
        if variable.owner is variable:
            swept = variable.table.sweep(step)
            variable.touch(swept.removed)  # in case that no full checkpoint comes of it
            variable.touch(swept.beside)
    snapshots: dict[EmbeddingTable, TableSnapshot] = {}
    found = []
    for stem, variable in sorted(zip(stems, variables, strict=True), key=lambda pair: pair[0]):
        table = variable.table
        if table not in snapshots:
            snapshots[table] = table.snapshot()
        form = variable.owner.settings.form(variable.key_dtype)
        found.append(SavedColumn(stem, snapshots[table], variable.column, form))
    return SavedTables(found)
