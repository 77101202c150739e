"""Datasets of files: their records, lines, pieces and fields, names that match a pattern, and caches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.files.record_files import RecordCompression, RecordFileWriter
from tensorkeep.ops.data._dataset_ops import KINDS, METADATA, dataset_op, texts_op
from tensorkeep.ops.data.passes.basics import Dataset, dataset_of, scalar_count
from tensorkeep.ops.data.passes.caching import MemoryCache, remember_elements, store_elements
from tensorkeep.ops.data.passes.files import (
    CsvOptions,
    csv_opening,
    line_opening,
    parts_of,
    piece_opening,
    record_opening,
)
from tensorkeep.ops.data.passes.rows import Columns
from tensorkeep.ops.data.passes.sources import dataset_of_rows
from tensorkeep.ops.files.whole_files import matching_files_kernel
from tensorkeep.ops.shared.kernel_types import Array, Handle, string_array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.keeping import Caller, called_by


def _paths(filenames: Array) -> list[str]:
    if np.ndim(filenames) > 1:
        raise InvalidArgumentError("`filenames` must be a scalar or a vector.")
    return [bytes(name).decode() for name in np.asarray(filenames).reshape(-1).tolist()]


def text_of(value: Array, what: str) -> str:
    """The text that a scalar holds."""
    if np.ndim(value):
        raise InvalidArgumentError(f"{what} must be a scalar")
    found: bytes = np.asarray(value).item()
    return found.decode()


# ----------------------------------------------------------------------------------------------- Records, lines, pieces

tf_record_dataset = texts_op(
    "TFRecordDataset(filenames: string, compression_type: string, buffer_size: int64)", METADATA, "stateful"
)


@tf_record_dataset.stateful_kernel
def tf_record_dataset_kernel(
    ctx: KernelContext, filenames: Array, compression_type: Array, buffer_size: Array
) -> Dataset:
    _check_buffer(buffer_size)
    return parts_of(_paths(filenames), record_opening(ctx.filesystem, text_of(compression_type, "compression_type")))


def _check_buffer(buffer_size: Array) -> None:
    if scalar_count(buffer_size, "buffer_size") < -1:
        raise InvalidArgumentError(
            "`buffer_size` must be >= 0 (0 == no buffering), or -1 for one of the reader's choice"
        )


tf_record_dataset_v2 = texts_op(
    "TFRecordDatasetV2(filenames: string, compression_type: string, buffer_size: int64, byte_offsets: int64)",
    METADATA,
    "stateful",
)


@tf_record_dataset_v2.stateful_kernel
def tf_record_dataset_v2_kernel(
    ctx: KernelContext, filenames: Array, compression_type: Array, buffer_size: Array, byte_offsets: Array
) -> Dataset:
    paths, offsets = _paths(filenames), np.asarray(byte_offsets).reshape(-1).tolist()
    if offsets and len(offsets) != len(paths):
        raise InvalidArgumentError(f"{len(offsets)} byte_offsets are given for {len(paths)} files")
    opened = record_opening(ctx.filesystem, text_of(compression_type, "compression_type"))
    begins = dict(zip(paths, offsets, strict=False))
    return parts_of(paths, lambda path, position: opened(path, position or begins.get(path, 0)))


text_line_dataset = texts_op(
    "TextLineDataset(filenames: string, compression_type: string, buffer_size: int64)", METADATA, "stateful"
)


@text_line_dataset.stateful_kernel
def text_line_dataset_kernel(
    ctx: KernelContext, filenames: Array, compression_type: Array, buffer_size: Array
) -> Dataset:
    _check_buffer(buffer_size)
    return parts_of(_paths(filenames), line_opening(ctx.filesystem, text_of(compression_type, "compression_type")))


_PIECES = "(filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64"
fixed_length_record_dataset = texts_op(f"FixedLengthRecordDataset{_PIECES})", METADATA, "stateful")
fixed_length_record_dataset_v2 = texts_op(
    f"FixedLengthRecordDatasetV2{_PIECES}, compression_type: string)", METADATA, "stateful"
)


@fixed_length_record_dataset_v2.stateful_kernel
def fixed_length_record_dataset_v2_kernel(
    ctx: KernelContext,
    filenames: Array,
    header_bytes: Array,
    record_bytes: Array,
    footer_bytes: Array,
    buffer_size: Array,
    compression_type: Array,
) -> Dataset:
    named = (("header_bytes", header_bytes), ("record_bytes", record_bytes), ("footer_bytes", footer_bytes))
    header, size, footer = (scalar_count(value, name) for name, value in named)
    if header < 0 or footer < 0:
        raise InvalidArgumentError("`header_bytes` and `footer_bytes` must be >= 0")
    if size < 1:
        raise InvalidArgumentError("`record_bytes` must be > 0")
    _check_buffer(buffer_size)
    kind = text_of(compression_type, "compression_type")
    return parts_of(_paths(filenames), piece_opening(ctx.filesystem, kind, header, size, footer))


@fixed_length_record_dataset.stateful_kernel
def fixed_length_record_dataset_kernel(
    ctx: KernelContext,
    filenames: Array,
    header_bytes: Array,
    record_bytes: Array,
    footer_bytes: Array,
    buffer_size: Array,
) -> Dataset:
    plain = string_array([b""], ())
    return fixed_length_record_dataset_v2_kernel(
        ctx, filenames, header_bytes, record_bytes, footer_bytes, buffer_size, plain
    )


# -------------------------------------------------------------------------------------------------------------- Fields


def _csv(name: str, more: str) -> OpSpec:
    made = dataset_op(
        f"{name}(filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
        f"use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types{more})",
        "output_types: list({float, double, int32, int64, string}) >= 1",
        "output_shapes: list(shape) >= 1",
        "stateful",
    )
    made.stateful_kernel(csv_dataset_kernel)
    return made


def csv_dataset_kernel(
    ctx: KernelContext,
    filenames: Array,
    compression_type: Array,
    buffer_size: Array,
    header: Array,
    field_delim: Array,
    use_quote_delim: Array,
    na_value: Array,
    select_cols: Array,
    record_defaults: list[Array],
    *exclude_cols: Array,
    output_types: Sequence[DType],
) -> Dataset:
    options = CsvOptions(
        delimiter=text_of(field_delim, "field_delim").encode(),
        quotes=bool(use_quote_delim),
        missing=text_of(na_value, "na_value").encode(),
        selected=np.asarray(select_cols).reshape(-1).tolist(),
        excluded=[number for columns in exclude_cols for number in np.asarray(columns).reshape(-1).tolist()],
        dtypes=output_types,
        defaults=record_defaults,
    )
    kind = text_of(compression_type, "compression_type")
    return parts_of(_paths(filenames), csv_opening(ctx.filesystem, kind, options, bool(header)))


csv_dataset = _csv("CSVDataset", "")
csv_dataset_v2 = _csv("CSVDatasetV2", ", exclude_cols: int64")
experimental_csv_dataset = _csv("ExperimentalCSVDataset", "")


# --------------------------------------------------------------------------------------------------------------- Names


def _matching(name: str) -> OpSpec:
    made = texts_op(f"{name}(patterns: string)", "stateful")

    @made.stateful_kernel
    def matching_files_dataset_kernel(ctx: KernelContext, patterns: Array) -> Dataset:
        return dataset_of_rows(Columns([np.asarray(matching_files_kernel(ctx, patterns))]))

    return made


matching_files_dataset = _matching("MatchingFilesDataset")
experimental_matching_files_dataset = _matching("ExperimentalMatchingFilesDataset")


# -------------------------------------------------------------------------------------------------------------- Caches

cache_dataset = dataset_op("CacheDataset(input_dataset: variant, filename: string)", *KINDS, METADATA)


@cache_dataset.stateful_kernel
def cache_dataset_kernel(
    ctx: KernelContext, input_dataset: Handle, filename: Array, *, output_types: Sequence[DType]
) -> Dataset:
    path = text_of(filename, "filename")
    source = dataset_of(input_dataset)
    return (
        store_elements(source, ctx.filesystem, path, len(output_types))
        if path
        else remember_elements(source, MemoryCache())
    )


cache_dataset_v2 = dataset_op(
    "CacheDatasetV2(input_dataset: variant, filename: string, cache: resource)", *KINDS, METADATA, "stateful"
)


@cache_dataset_v2.stateful_kernel
def cache_dataset_v2_kernel(
    ctx: KernelContext, input_dataset: Handle, filename: Array, cache: Handle, *, output_types: Sequence[DType]
) -> Dataset:
    path = text_of(filename, "filename")
    source = dataset_of(input_dataset)
    if path:
        return store_elements(source, ctx.filesystem, path, len(output_types))
    return remember_elements(source, cache if isinstance(cache, MemoryCache) else MemoryCache())


dummy_memory_cache = op("DummyMemoryCache() -> handle: resource", "stateful")
dummy_memory_cache.shape(lambda: SCALAR)


@dummy_memory_cache.kernel
def dummy_memory_cache_kernel() -> MemoryCache:
    return MemoryCache()


anonymous_memory_cache = op("AnonymousMemoryCache() -> handle: resource, deleter: variant", "stateful")
anonymous_memory_cache.shape(lambda: (SCALAR, SCALAR))


@anonymous_memory_cache.kernel
def anonymous_memory_cache_kernel() -> tuple[MemoryCache, None]:
    return MemoryCache(), None


# ------------------------------------------------------------------------------------------------------------- Writing


def _writing(name: str) -> OpSpec:
    made = op(f"{name}(input_dataset: variant, filename: string, compression_type: string)", "stateful")
    made.shape(lambda *_: ())

    @made.stateful_kernel
    def dataset_to_tf_record_kernel(
        ctx: KernelContext, input_dataset: Handle, filename: Array, compression_type: Array
    ) -> tuple[()]:
        compression = RecordCompression(text_of(compression_type, "compression_type"))
        path = text_of(filename, "filename")
        with RecordFileWriter(ctx.filesystem, path, compression) as writer, called_by(Caller()):
            for element in dataset_of(input_dataset).copied().elements():
                writer.write(_record(element))
        return ()

    return made


def _record(element: tuple[Any, ...]) -> bytes:
    if len(element) != 1 or np.ndim(element[0]):
        raise InvalidArgumentError("a record is made of one scalar string")
    found: bytes = np.asarray(element[0]).item()
    return found


dataset_to_tf_record = _writing("DatasetToTFRecord")
experimental_dataset_to_tf_record = _writing("ExperimentalDatasetToTFRecord")
