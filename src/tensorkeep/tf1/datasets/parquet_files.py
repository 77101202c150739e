"""Datasets of Parquet files, DeepRec's: batches of columns by name.

Without `fields` the columns, and their types, are those of the first file. Columns of lists are `DataFrame.Value`s.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.ops.data.passes.parquet import ParquetField, parquet_fields
from tensorkeep.tf1.datasets.arguments import AUTOTUNE, int64_of
from tensorkeep.tf1.datasets.data_frames import DataFrame, Field, check_complete
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.files import file_names, legacy_interleave

LOG: Final = logging.getLogger("tensorkeep")

Fields: TypeAlias = Sequence[Field | str] | None
"""Columns: with what is known of them, or by name; None is all of a file."""


class ParquetDataset(Dataset):
    """The rows of Parquet files, `batch_size` at a time: dictionaries of columns by name.

    Of several files one after the other is read, or `num_parallel_reads` at a time, `num_sequential_reads` batches of
    each in turn. With `partition_count` it is of every so many row groups of each file the one of `partition_index`. A
    batch is of one file; the last of a file may be smaller, and is left out with `drop_remainder`.
    """

    VERSION = 2002

    def __init__(
        self,
        filenames: Dataset | TensorLike,
        batch_size: TensorLike = 1,
        fields: Fields = None,
        partition_count: int = 1,
        partition_index: int = 0,
        drop_remainder: bool = False,
        num_parallel_reads: TensorLike | None = None,
        num_sequential_reads: TensorLike = 1,
    ) -> None:
        self._fields = _fields(filenames, fields)
        self._partition_count = partition_count
        self._partition_index = partition_index
        self._drop_remainder = drop_remainder
        rows = batch_size if drop_remainder and isinstance(batch_size, int) else None
        spec = {field.name: field.spec(rows) for field in self._fields}
        ordered = sorted(self._fields, key=lambda field: field.name)  # as the leaves of a dictionary are ordered

        def read_one_file(filename: Tensor) -> Dataset:
            variant = emit(
                "ParquetTabularDatasetV1",
                filename,
                int64_of(batch_size, "batch_size"),
                field_names=[field.name for field in ordered],
                field_dtypes=[field.dtype for field in ordered],
                field_ragged_ranks=[field.ragged_rank for field in ordered],
                partition_count=partition_count,
                partition_index=partition_index,
                drop_remainder=drop_remainder,
            )
            return Dataset(variant, spec)

        made = _of_files(file_names(filenames), read_one_file, num_parallel_reads, num_sequential_reads)
        super().__init__(made._variant_tensor, made.element_spec)

    @classmethod
    def read_schema(cls, filename: str, fields: Fields = None, lower: bool = False) -> tuple[Field, ...]:
        """The fields of a file: all, or those that are wanted. With `lower`, others are found by their lower case."""
        return _fields_of_file(FILES, filename, fields, lower)

    @property
    def fields(self) -> tuple[Field, ...]:
        return self._fields

    @property
    def partition_count(self) -> int:
        return self._partition_count

    @property
    def partition_index(self) -> int:
        return self._partition_index

    @property
    def drop_remainder(self) -> bool:
        return self._drop_remainder


def read_parquet(batch_size: TensorLike, fields: Fields = None, **options: Any) -> Callable[[Dataset], ParquetDataset]:
    """What makes a `ParquetDataset` of a dataset of names of files, for `Dataset.apply`."""
    return lambda filenames: ParquetDataset(filenames, batch_size, fields, **options)


def _of_files(
    names: Dataset, read_one_file: Callable[[Tensor], Dataset], parallel: TensorLike | None, block: TensorLike
) -> Dataset:
    if parallel is None:
        return names.flat_map(read_one_file)
    if parallel == AUTOTUNE:
        return names.interleave(read_one_file, num_parallel_calls=parallel)
    return legacy_interleave(names, read_one_file, parallel, block, True, None, 1)


# --------------------------------------------------------------------------------------------------------------- Fields


def _fields(filenames: Dataset | TensorLike, fields: Fields) -> tuple[Field, ...]:
    """The fields of a dataset. Of files whose names are not known while the graph is built they have to be said."""
    names = [filenames] if isinstance(filenames, str) else filenames
    if isinstance(names, tuple | list) and names and all(isinstance(name, str) for name in names):
        return _checked_fields(_fields_of_file(FILES, names[0], fields, lower=False))
    if not isinstance(filenames, Dataset | Tensor):
        raise InvalidArgumentError(
            f"`filenames` {filenames} must be a `tf.data.Dataset` of scalar `tf.string` elements or can be converted "
            "to a `tf.Tensor` of `tf.string`."
        )
    if isinstance(filenames, Tensor) and filenames.dtype is not STRING:
        raise WrongTypeError(f"`filenames` must be a `tf.Tensor` of `tf.string`, got {filenames}")
    wrong = [field for field in fields or () if not isinstance(field, Field)]
    if not fields or wrong:
        raise InvalidArgumentError(
            "`fields` must be specified as a list of `DataFrame.Field`s with dtype and ragged_rank, for the names of "
            f"the files are not known yet; got {fields}. ParquetDataset.read_schema(filename) gives those of a file"
        )
    given = tuple(field for field in fields if isinstance(field, Field))
    for field in given:
        check_complete(field)
    return _checked_fields(given)


def _checked_fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    shaped = [field.name for field in fields if field.shape is not None]
    if shaped:
        raise UnimplementedError(
            f"the fields {', '.join(shaped)} have a shape, of which readers of Parquet know nothing, as in DeepRec: "
            "leave it out, and reshape the values"
        )
    return fields


def _fields_of_file(fs: FileSystem, path: str, fields: Fields, lower: bool) -> tuple[Field, ...]:
    known, others = parquet_fields(fs, path)
    by_name = {field.name: field for field in known}
    if not by_name:
        raise InvalidArgumentError(f'No supported fields found in parquet file "{path}", which has {others}')
    if fields is None and others:
        LOG.warning('"%s" has columns that tensors cannot hold, which are left out: %s', path, ", ".join(others))
    wanted: Sequence[Any] = list(by_name) if fields is None else fields
    return tuple(_find_field(field, by_name, path, lower) for field in wanted)


def _find_field(wanted: Field | str, known: dict[str, ParquetField], path: str, lower: bool) -> Field:
    """What a file says of a field, which has to be what is known of it already."""
    if not isinstance(wanted, Field | str):
        raise InvalidArgumentError(f"Field {wanted} is not a DataFrame.Field or a string")
    field = Field(wanted) if isinstance(wanted, str) else wanted
    name = field.name.lower() if lower and field.name not in known else field.name
    if name not in known:
        raise InvalidArgumentError(
            f'Field {name} is not found in the parquet file "{path}", whose fields are {", ".join(known)}'
        )
    actual = known[name]
    if field.dtype not in (None, actual.dtype):
        raise InvalidArgumentError(f'Field {name} of "{path}" should have dtype {actual.dtype} not {field.dtype}')
    if field.ragged_rank not in (None, actual.ragged_rank):
        raise InvalidArgumentError(
            f'Field {name} of "{path}" should have ragged_rank {actual.ragged_rank} not {field.ragged_rank}'
        )
    shape = None if field.shape is None else field.shape.as_list()
    return Field(name, actual.dtype, actual.ragged_rank, shape)


__all__ = ["DataFrame", "ParquetDataset", "read_parquet"]
