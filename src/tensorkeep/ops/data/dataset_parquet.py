"""Datasets of Parquet files: DeepRec's, of batches of columns."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.data.dataset_files import text_of
from tensorkeep.ops.data.passes.basics import Dataset, scalar_count
from tensorkeep.ops.data.passes.parquet import ParquetField, ParquetOptions, parquet_batches
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.context import KernelContext

parquet_tabular_dataset_v1 = op(
    "ParquetTabularDatasetV1(filename: string, batch_size: int64) -> handle: variant",
    "field_names: list(string) >= 1",
    "field_dtypes: list(type) >= 1",
    "field_ragged_ranks: list(int) >= 1",
    "partition_count: int = 1",
    "partition_index: int = 0",
    "drop_remainder: bool = false",
    "stateful",
)
parquet_tabular_dataset_v1.shape(scalar)


@parquet_tabular_dataset_v1.stateful_kernel
def parquet_tabular_dataset_v1_kernel(
    ctx: KernelContext,
    filename: Array,
    batch_size: Array,
    *,
    field_names: Sequence[bytes],
    field_dtypes: Sequence[DType],
    field_ragged_ranks: Sequence[int],
    partition_count: int,
    partition_index: int,
    drop_remainder: bool,
) -> Dataset:
    counts = {len(field_names), len(field_dtypes), len(field_ragged_ranks)}
    if len(counts) > 1:
        raise InvalidArgumentError(
            f"{len(field_names)} names of fields, {len(field_dtypes)} types and {len(field_ragged_ranks)} ragged ranks "
            "are given: as many of each were wanted"
        )
    named = zip(field_names, field_dtypes, field_ragged_ranks, strict=True)
    fields = tuple(ParquetField(name.decode(), dtype, rank) for name, dtype, rank in named)
    size = scalar_count(batch_size, "batch_size")
    options = ParquetOptions(fields, size, partition_count, partition_index, drop_remainder)
    return parquet_batches(ctx.filesystem, [text_of(filename, "filename")], options)
