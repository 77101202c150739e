"""Parquet, by pyarrow (the extra `tables`): one embedding table, a row for each key."""

from __future__ import annotations

from typing import Final

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.convert.arrays import MemoryArray
from tensorkeep.convert.hub import ModelOptions, OpenTensors, SinkOptions, TensorSource, head_of, listed_names
from tensorkeep.dtypes import DType
from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, read_parquet
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.io.files.filesystem import FileSystem


class ParquetFormat:
    """Parquet files of embedding tables."""

    name = "parquet"
    endings = (".parquet",)

    def holds(self, path: str, fs: FileSystem) -> bool:
        return head_of(path, fs).startswith(b"PAR1")

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        """The columns as tensors; the table is in memory."""
        table = read_parquet(path, fs=fs)
        columns = {"keys": table.keys, "values": table.values[""], "freqs": table.freqs, "versions": table.versions}
        arrays = {
            name: MemoryArray(column, DType.of(column.dtype)) for name, column in columns.items() if column is not None
        }
        return OpenTensors(path, self.name, arrays)

    def make(
        self, source: str, path: str, model: ModelOptions, options: SinkOptions, fs: FileSystem, *, dry_run: bool
    ) -> list[str]:
        with open_checkpoint(source, fs=fs) as reader:
            tables = list(stored_embeddings(reader, fs=fs))
        if not tables:
            raise NotFoundError(f'"{source}" holds no embedding table, and Parquet is for these only')
        if model.table is None and len(tables) > 1:
            raise InvalidArgumentError(f'"{source}" holds {listed_names(tables)}: say which table is meant (table=...)')
        if dry_run:
            return [path]
        return export_parquet(source, path, model.table or tables[0], fs=fs)

    def restore(self, source: str, target: str, model: ModelOptions, fs: FileSystem, *, dry_run: bool) -> list[str]:
        """Makes a checkpoint of a table."""
        if model.table is None:
            raise InvalidArgumentError(f'"{source}" becomes a table of a checkpoint: say by what name (table=...)')
        if dry_run:
            return [target]
        return [import_parquet(source, target, model.table, fs=fs)]


PARQUET: Final = ParquetFormat()
