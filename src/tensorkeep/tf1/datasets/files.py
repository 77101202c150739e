"""Datasets of files: records, lines, pieces of one size, fields; and a writer of record files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.datasets.arguments import int64_of
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.functions import argument_types
from tensorkeep.tf1.datasets.mapping import inner_datasets
from tensorkeep.tf1.datasets.structures import DatasetSpec, flat_kinds
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.type_specs import TensorSpec

_RECORD_BUFFER = 256 * 1024


def file_names(filenames: Dataset | TensorLike) -> Dataset:
    """A dataset of names of files: one already, or a tensor of any shape."""
    if isinstance(filenames, Dataset):
        spec = filenames.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not STRING or spec.shape.ndims not in (0, None):
            raise WrongTypeError(f"The `filenames` argument must contain strings, got a dataset of {spec!r}.")
        return filenames
    tensor = convert(filenames, STRING)
    flat = emit("Reshape", tensor, constant([-1], name="flat_filenames/shape"), name="flat_filenames")
    spec = TensorSpec([], STRING)
    shapes = flat_kinds(spec)["output_shapes"]
    return Dataset(emit("TensorSliceDataset", [flat], output_shapes=shapes, is_files=True), spec)


def _of_files(
    filenames: Dataset | TensorLike, parallel: TensorLike | None, read_one_file: Callable[[Tensor], Dataset]
) -> Dataset:
    """The datasets of files one after the other, or several at a time."""
    names = file_names(filenames)
    if parallel is None:
        return names.flat_map(read_one_file)
    return legacy_interleave(names, read_one_file, parallel, 1, False, None, None)


def legacy_interleave(
    dataset: Dataset,
    map_func: Callable[..., Any],
    cycle: TensorLike,
    block: TensorLike,
    sloppy: bool | None,
    outputs: TensorLike | None,
    inputs: TensorLike | None,
) -> Dataset:
    """What `tf.data.experimental.parallel_interleave` makes of a dataset."""
    made = inner_datasets(dataset, map_func, "tf_data_experimental_parallel_interleave")
    assert isinstance(made.specs, DatasetSpec)
    order = b"default" if sloppy is None else b"false" if sloppy else b"true"
    buffers = [
        int64_of(2 * 1 if outputs is None else outputs, "buffer_output_elements"),
        int64_of(0 if inputs is None else inputs, "prefetch_input_elements"),
    ]
    return dataset._changed(
        "LegacyParallelInterleaveDatasetV2",
        list(made.captured),
        int64_of(cycle, "cycle_length"),
        int64_of(block, "block_length"),
        *buffers,
        spec=made.specs.element_spec,
        f=made.reference,
        Targuments=argument_types(made.captured),
        deterministic=order,
    )


def _text(value: TensorLike | None, name: str) -> Tensor:
    return convert("" if value is None else value, STRING, name)


_STRINGS = TensorSpec([], STRING)


def _records_of(
    filenames: Dataset | TensorLike,
    reading: str,
    compression: TensorLike | None,
    buffer_size: TensorLike | None,
    parallel: TensorLike | None,
) -> Dataset:
    """What the operation of that name reads of each file."""

    def read_one_file(filename: Tensor) -> Dataset:
        kind = _text(compression, "compression_type")
        size = int64_of(_RECORD_BUFFER if buffer_size is None else buffer_size, "buffer_size")
        return Dataset(emit(reading, filename, kind, size), _STRINGS)

    return _of_files(filenames, parallel, read_one_file)


class TFRecordDataset(Dataset):
    """The records of record files."""

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        made = _records_of(filenames, "TFRecordDataset", compression_type, buffer_size, num_parallel_reads)
        super().__init__(made._variant_tensor, made.element_spec)


class TextLineDataset(Dataset):
    """A dataset of the lines of text files, without their ends."""

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        num_parallel_reads: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        made = _records_of(filenames, "TextLineDataset", compression_type, buffer_size, num_parallel_reads)
        super().__init__(made._variant_tensor, made.element_spec)


class FixedLengthRecordDataset(Dataset):
    """Pieces of one size of files."""

    def __init__(
        self,
        filenames: TensorLike | Dataset,
        record_bytes: TensorLike,
        header_bytes: TensorLike | None = None,
        footer_bytes: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        compression_type: TensorLike | None = None,
        num_parallel_reads: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        def read_one_file(filename: Tensor) -> Dataset:
            size = int64_of(record_bytes, "record_bytes")
            header = int64_of(0 if header_bytes is None else header_bytes, "header_bytes")
            footer = int64_of(0 if footer_bytes is None else footer_bytes, "footer_bytes")
            buffer = int64_of(_RECORD_BUFFER if buffer_size is None else buffer_size, "buffer_size")
            kind = _text(compression_type, "compression_type")
            made = emit("FixedLengthRecordDatasetV2", filename, header, size, footer, buffer, kind)
            return Dataset(made, _STRINGS)

        made = _of_files(filenames, num_parallel_reads, read_one_file)
        super().__init__(made._variant_tensor, made.element_spec)


class CsvDataset(Dataset):
    """The records of files of comma-separated values: a tensor for each column."""

    def __init__(
        self,
        filenames: TensorLike,
        record_defaults: Sequence[Any],
        compression_type: TensorLike | None = None,
        buffer_size: TensorLike | None = None,
        header: TensorLike = False,
        field_delim: TensorLike = ",",
        use_quote_delim: TensorLike = True,
        na_value: TensorLike = "",
        select_cols: TensorLike | None = None,
        exclude_cols: TensorLike | None = None,
    ) -> None:
        if select_cols is not None and exclude_cols is not None:
            raise InvalidArgumentError("Either select_cols or exclude_cols should be empty.")
        names = convert(filenames, STRING, "filenames")
        inputs = [
            _text(compression_type, "compression_type"),
            int64_of(4 * 1024 * 1024 if buffer_size is None else buffer_size, "buffer_size"),
            convert(header, BOOL, "header"),
            _text(field_delim, "field_delim"),
            convert(use_quote_delim, BOOL, "use_quote_delim"),
            _text(na_value, "na_value"),
            int64_of(_columns(select_cols), "select_cols"),
        ]
        defaults = [_default(value) for value in record_defaults]
        excluded = int64_of(_columns(exclude_cols), "exclude_cols")
        spec = tuple(TensorSpec([], tensor.dtype) for tensor in defaults)
        variant = emit("CSVDatasetV2", names, *inputs, defaults, excluded, **flat_kinds(spec))
        super().__init__(variant, spec)


def _columns(numbers: TensorLike | None) -> TensorLike:
    return np.zeros(0, np.int64) if numbers is None else numbers


def _default(value: Any) -> Tensor:
    """What stands for a missing field; a type says that it may not be missing."""
    if isinstance(value, DType):
        return constant(np.zeros(0, value.array_dtype), value)
    found = convert(value, INT32 if isinstance(value, int) and not isinstance(value, bool) else None)
    return found if found.static_shape.rank else emit("ExpandDims", found, constant(0))


class RandomDataset(Dataset):
    """Random numbers of 32 bits, without end."""

    def __init__(
        self, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> None:
        made = Dataset.random(seed, rerandomize_each_iteration)
        super().__init__(made._variant_tensor, made.element_spec)


class TFRecordWriter:
    """Writes datasets of strings to a record file."""

    def __init__(self, filename: TensorLike, compression_type: TensorLike | None = None) -> None:
        self._filename = convert(filename, STRING, "filename")
        self._compression = _text(compression_type, "compression_type")

    def write(self, dataset: Dataset) -> Operation:
        """An operation that writes all elements."""
        if not isinstance(dataset, Dataset):
            raise WrongTypeError(f"`dataset` must be a `tf.data.Dataset` object, got {dataset!r}.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not STRING or spec.shape.ndims not in (0, None):
            raise WrongTypeError(f"`dataset` must produce scalar strings, got {spec!r}.")
        return emit_operation("DatasetToTFRecord", dataset._variant_tensor, self._filename, self._compression)
