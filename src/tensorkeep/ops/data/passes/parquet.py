"""Passes through Parquet files, by pyarrow (the extra `tables`): some columns, as batches of rows.

A column is numbers or text, or lists of these in any number of levels. An element has the values of each column, in one
tensor, and for each level of lists where their rows end: `[1, 2], [], [3]` are the values 1, 2, 3 and the splits
0, 2, 2, 3. The state of a pass is how many rows of its row groups it has given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.embedding.formats.parquet import import_pyarrow
from tensorkeep.embedding.formats.streams import Input
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.data.passes.basics import Dataset
from tensorkeep.ops.data.passes.files import FileReader, parts_of
from tensorkeep.ops.data.passes.rows import Element, Rows

_NUMBERS: Final = {
    "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "halffloat": "float16", "float": "float32",
    "double": "float64",
}  # fmt: skip
_TEXTS: Final = ("string", "large_string", "binary", "large_binary")


@dataclass(frozen=True)
class ParquetField:
    """A column that is read: its name, what its values are, and how many levels of lists they are in."""

    name: str
    dtype: DType
    ragged_rank: int


@dataclass(frozen=True)
class ParquetOptions:
    """What is read of a file: columns, so many rows at a time, and of every `partition_count` row groups one."""

    fields: tuple[ParquetField, ...]
    batch_size: int
    partition_count: int = 1
    partition_index: int = 0
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise InvalidArgumentError(f"batch_size is {self.batch_size}, and must be at least 1")
        if not 0 <= self.partition_index < self.partition_count:
            raise InvalidArgumentError(
                f"Partition index {self.partition_index} must be at least 0 and smaller than partition count "
                f"{self.partition_count}"
            )


# -------------------------------------------------------------------------------------------------------------- Schemas


def parquet_fields(fs: FileSystem, path: str) -> tuple[list[ParquetField], list[str]]:
    """The columns of a file that can be read, in its order, and those that cannot, with their types."""
    file = Input(fs.open(path))
    try:
        with _translate_arrow_errors(path):
            schema = import_pyarrow()[1].ParquetFile(file).schema_arrow
            return _known_fields(path, schema)
    finally:
        file.close()


def _known_fields(path: str, schema: Any) -> tuple[list[ParquetField], list[str]]:
    if len(set(schema.names)) < len(schema.names):
        raise InvalidArgumentError(f'"{path}" must have distinct column names, and has {schema.names}')
    found = [(column.name, str(column.type), _kind(column.type)) for column in schema]
    known = [ParquetField(name, *kind) for name, _, kind in found if kind is not None]
    return known, [f"{name} ({text})" for name, text, kind in found if kind is None]


def _kind(found: Any) -> tuple[DType, int] | None:
    """The type of the values of a column and the number of levels of lists; None for what tensors cannot hold."""
    rank = 0
    while hasattr(found, "value_field") and not hasattr(found, "key_field"):  # lists, and not maps
        found, rank = found.value_type, rank + 1
    if hasattr(found, "index_type"):  # a dictionary of values that occur often
        found = found.value_type
    text = str(found)
    name = "string" if text in _TEXTS else _NUMBERS.get(text)
    return None if name is None else (DType.of(name), rank)


@contextmanager
def _translate_arrow_errors(path: str) -> Iterator[None]:
    """What pyarrow says of a file that it cannot read, as an error of ours."""
    arrow, _ = import_pyarrow()
    try:
        yield
    except TensorKeepError:
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataLossError(f'"{path}" cannot be read as Parquet: {error}') from error


# -------------------------------------------------------------------------------------------------------------- Batches


class _Batches:
    """The batches of one open file."""

    def __init__(self, path: str, file: Input, options: ParquetOptions, position: int) -> None:
        self._path = path
        self._file = file
        self._options = options
        self.position = position
        self._arrow, parquet = import_pyarrow()
        with _translate_arrow_errors(path):
            stored = parquet.ParquetFile(file)
            self._check(stored.schema_arrow)
            groups, self._skipped = self._groups_from(stored.metadata, position)
            names = [field.name for field in options.fields]
            self._stored: Iterator[Any] = stored.iter_batches(options.batch_size, row_groups=groups, columns=names)
        self._pending: list[Any] = []  # batches of the file that are not given yet
        self._count = 0  # of their rows

    def _check(self, schema: Any) -> None:
        """Sees that every column is there and is what it is said to be; all that is wrong is one error."""
        known = {field.name: field for field in _known_fields(self._path, schema)[0]}
        missing = [field.name for field in self._options.fields if field.name not in schema.names]
        if missing:
            raise NotFoundError(
                f'No column called {", ".join(missing)} found in "{self._path}", which has {schema.names}'
            )
        wrong = [
            f"{wanted.name} has {known.get(wanted.name, schema.field(wanted.name).type)}, which should be {wanted}"
            for wanted in self._options.fields
            if known.get(wanted.name) != wanted
        ]
        if wrong:
            raise InvalidArgumentError(f'fields of "{self._path}" have unexpected types: {"; ".join(wrong)}')

    def _groups_from(self, metadata: Any, position: int) -> tuple[list[int], int]:
        """The row groups of this part that hold what comes after a position, and how many rows of them come before."""
        options = self._options
        groups = list(range(options.partition_index, metadata.num_row_groups, options.partition_count))
        while groups and position >= metadata.row_group(groups[0]).num_rows:
            position -= metadata.row_group(groups.pop(0)).num_rows
        return groups, position

    def more(self, most: int) -> Rows:
        with _translate_arrow_errors(self._path):
            self._read_up_to(self._options.batch_size)
            size = min(self._count, self._options.batch_size)
            if not size or (size < self._options.batch_size and self._options.drop_remainder):
                return []
            element = self._element(self._table(size))
        self.position += size
        return [element]

    def _read_up_to(self, count: int) -> None:
        """Reads on until so many rows are there, or the file is at its end."""
        while self._count < count:
            batch = next(self._stored, None)
            if batch is None:
                break
            batch = batch.slice(self._skipped)
            self._skipped = 0
            self._pending.append(batch)
            self._count += batch.num_rows

    def _table(self, size: int) -> Any:
        """The first rows of what has been read, as one stretch."""
        whole = self._arrow.Table.from_batches(self._pending)
        self._count -= size
        self._pending = whole.slice(size).to_batches() if self._count else []
        return whole.slice(0, size).combine_chunks()

    def _element(self, table: Any) -> Element:
        tensors: list[Any] = []
        for field in self._options.fields:
            tensors += self._tensors(field, table.column(field.name).combine_chunks())
        return tuple(tensors)

    def _tensors(self, field: ParquetField, column: Any) -> list[Any]:
        """The values of a column, and where its rows end, from the outermost lists inwards."""
        splits = []
        column = column.chunk(0) if hasattr(column, "chunk") else column
        for _ in range(field.ragged_rank):
            self._check_whole(field, column)
            splits.append(_splits(column))
            column = column.flatten()
        self._check_whole(field, column)
        if hasattr(column, "dictionary"):
            column = column.dictionary_decode()
        if field.dtype.name == "string":
            column = column.cast(self._arrow.large_binary())
        return [column.to_numpy(zero_copy_only=False), *splits]

    def _check_whole(self, field: ParquetField, column: Any) -> None:
        if column.null_count:
            raise InvalidArgumentError(
                f'column {field.name} of "{self._path}" has {column.null_count} missing values after row '
                f"{self.position}, which tensors cannot have: write the file with values in their place"
            )

    def close(self) -> None:
        self._file.close()


def _splits(lists: Any) -> Any:
    """Where the rows of lists end in their values, and a 0 before them."""
    if hasattr(lists.type, "list_size"):
        return np.arange(len(lists) + 1, dtype=np.int32) * np.int32(lists.type.list_size)
    offsets = lists.offsets.to_numpy()
    return (offsets - offsets[0]).astype(np.int32)


def parquet_batches(fs: FileSystem, paths: Sequence[str], options: ParquetOptions) -> Dataset:
    """The dataset of the batches of files."""

    def opened(path: str, position: int) -> FileReader:
        file = Input(fs.open(path))
        try:
            return _Batches(path, file, options, position)
        except BaseException:
            file.close()
            raise

    return parts_of(paths, opened)
