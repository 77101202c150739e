"""Datasets of files of comma-separated values, whose columns and types are found in the files: `make_csv_dataset`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.gfile import glob
from tensorkeep.io.files.local import LOCAL
from tensorkeep.io.files.record_files import RecordCompression
from tensorkeep.ops.data.passes.files import LineReader
from tensorkeep.ops.parsing.csv_records import split_record
from tensorkeep.tf1.datasets.arguments import AUTOTUNE
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.feature_files import shuffled_and_repeated
from tensorkeep.tf1.datasets.files import CsvDataset, legacy_interleave

_KINDS = (INT32, INT64, FLOAT32, FLOAT64, STRING)


def make_csv_dataset(
    file_pattern: str | Sequence[str],
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of columns by name; with `label_name`, pairs of columns and that one."""
    paths = _paths(file_pattern)
    reading = _Reading(paths, field_delim, use_quote_delim, compression_type or "")
    names = list(column_names) if column_names is not None else _names(reading, header)
    if len(set(names)) != len(names):
        raise InvalidArgumentError("Cannot have duplicate column names.")
    chosen = _chosen_columns(names, select_columns)
    defaults = (
        column_defaults
        if column_defaults is not None
        else reading.defaults(chosen, len(names), header, na_value, num_rows_for_inference)
    )
    if len(defaults) != len(chosen):
        raise InvalidArgumentError(f"{len(chosen)} columns are read, and {len(defaults)} defaults are given")
    kept = [names[at] for at in chosen]
    if label_name is not None and label_name not in kept:
        raise InvalidArgumentError(f"`label_name` provided must be one of the columns: {kept}.")

    def opened(filename: Any) -> Dataset:
        return CsvDataset(
            filename,
            list(defaults),
            compression_type=compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=list(chosen),
        )

    dataset = Dataset.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)
    dataset = legacy_interleave(dataset, opened, num_parallel_reads or 1, 1, sloppy, None, None)
    dataset = dataset.ignore_errors() if ignore_errors else dataset
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)

    def by_name(*columns: Any) -> Any:
        found = OrderedDict(zip(kept, columns, strict=True))
        return found if label_name is None else (found, found.pop(label_name))

    return dataset.map(by_name).prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _paths(file_pattern: str | Sequence[str]) -> list[str]:
    found = glob(file_pattern)
    if not found:
        raise InvalidArgumentError(f"No files match `file_pattern` {file_pattern}.")
    return sorted(found)


def _names(reading: _Reading, header: bool) -> list[str]:
    if not header:
        raise InvalidArgumentError("Expected `column_names` or `header=True`.")
    return reading.header()


def _chosen_columns(names: Sequence[str], select: Sequence[Any] | None) -> list[int]:
    """The numbers of columns that are chosen by number or name; all if nothing is said."""
    if select is None:
        return list(range(len(names)))
    numbers = []
    for item in select:
        if isinstance(item, str):
            if names.count(item) != 1:
                raise InvalidArgumentError(f"`select_columns` has {item!r}, which is not one of the columns: {names}")
            numbers.append(names.index(item))
        elif 0 <= item < len(names):
            numbers.append(item)
        else:
            raise InvalidArgumentError(f"`select_columns` has {item}, and there are {len(names)} columns")
    if len(set(numbers)) != len(numbers):
        raise InvalidArgumentError("`select_columns` contains duplicate columns")
    return sorted(numbers)


class _Reading:
    """Looks into the files while the graph is built."""

    def __init__(
        self, paths: Sequence[str], delimiter: str, quotes: bool, compression: str, fs: FileSystem = LOCAL
    ) -> None:
        self._paths = paths
        self._delimiter = delimiter.encode()
        self._quotes = quotes
        self._compression = RecordCompression(compression)
        self._fs = fs

    def _rows(self, path: str, most: int | None) -> list[list[bytes]]:
        reader = LineReader(self._fs.open(path), self._compression, 0)
        try:
            rows: list[list[bytes]] = []
            while (most is None or len(rows) < most) and (lines := reader.lines(1)):
                rows.append(split_record(lines[0], self._delimiter, self._quotes))
            return rows
        finally:
            reader.close()

    def header(self) -> list[str]:
        """The names of the columns, which all files must have."""
        heads = [self._rows(path, 1) for path in self._paths]
        if not all(heads) or any(head != heads[0] for head in heads):
            raise InvalidArgumentError("Files have different column names in the header row.")
        return [name.decode() for name in heads[0][0]]

    def defaults(
        self, chosen: Sequence[int], count: int, header: bool, missing: str, most: int | None
    ) -> list[DType | Any]:
        """What stands for missing values of each column: nothing of the narrowest type that holds what is there."""
        kinds: list[DType | None] = [None] * len(chosen)
        left = most
        for path in self._paths:
            rows = self._rows(path, None if left is None else left + int(header))[int(header) :]
            for row in rows:
                if len(row) != count:
                    raise InvalidArgumentError(
                        f"Problem inferring types: CSV row has different number of fields than expected ({path}: "
                        f"{len(row)}, expected {count})."
                    )
                kinds = [_widened_type(kind, row[at], missing.encode()) for kind, at in zip(kinds, chosen, strict=True)]
            left = None if left is None else left - len(rows)
            if left is not None and left <= 0:
                break
        return [_zero(kind or STRING) for kind in kinds]


def _widened_type(kind: DType | None, text: bytes, missing: bytes) -> DType | None:
    """The narrowest type that holds a field too, from int32 over int64, float32 and float64 to string."""
    if text in (b"", missing):
        return kind
    first = 0 if kind is None else _KINDS.index(kind)
    return next(found for found in _KINDS[first:] if _holds(found, text))


def _holds(kind: DType, text: bytes) -> bool:
    if kind is STRING:
        return True
    try:
        if kind.is_integer:
            return int(kind.min) <= int(text) <= int(kind.max)
        value = float(text)
        return kind is FLOAT64 or bool(np.isinf(value)) or not np.isinf(np.float32(value))
    except ValueError:
        return False


def _zero(kind: DType) -> Any:
    return [b""] if kind is STRING else np.zeros(1, kind.array_dtype)
