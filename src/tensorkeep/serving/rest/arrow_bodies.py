"""Arrays as streams of Arrow: a column for each, a row of the table for each row of the batch.

Arrays of more than one dimension are fixed-shape tensors; lists of one size are taken for them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError as error:
        raise UnimplementedError(
            f'Arrow needs the package pyarrow, which cannot be imported ({error}): pip install "tensorkeep[tables]"'
        ) from error
    return pyarrow


def decode_arrow(body: bytes | bytearray | memoryview) -> dict[str, Array]:
    """The columns of a stream by name."""
    arrow = _pyarrow()
    try:
        with arrow.ipc.open_stream(arrow.py_buffer(body)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        return {name: _array(arrow, _one_chunk(arrow, table.column(name)), name) for name in table.column_names}
    except TensorKeepError:
        raise
    except Exception as error:  # what damaged streams raise is not documented
        raise DataLossError(f"the stream of Arrow is damaged: {error}") from error


def _one_chunk(arrow: Any, column: Any) -> Any:
    joined = column.combine_chunks()
    return joined.chunk(0) if isinstance(joined, arrow.ChunkedArray) and joined.num_chunks else joined


def _array(arrow: Any, column: Any, name: str) -> Array:
    kind = column.type
    if column.null_count:
        raise InvalidArgumentError(f"Column {name} has nulls, which tensors cannot have")
    if isinstance(column, arrow.FixedShapeTensorArray):
        return np.asarray(column.to_numpy_ndarray())
    if arrow.types.is_fixed_size_list(kind):
        inner = _array(arrow, column.flatten(), name)
        return inner.reshape(len(column), kind.list_size, *inner.shape[1:])
    if _holds_text(arrow.types, kind):
        found = np.empty(len(column), object)
        found[:] = [value.encode() if isinstance(value, str) else value for value in column.to_pylist()]
        return found
    if not (arrow.types.is_primitive(kind) and not arrow.types.is_temporal(kind)):
        raise InvalidArgumentError(f"Column {name} is of Arrow's type {kind}, which is not one of tensors")
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _holds_text(types: Any, kind: Any) -> bool:
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_string(kind) or types.is_large_string(kind)
    )


def encode_arrow(outputs: Mapping[str, Array]) -> bytes:
    """Outputs as a stream; InvalidArgumentError if they do not have the same number of rows."""
    arrow = _pyarrow()
    names = sorted(outputs)
    rows = len(outputs[names[0]]) if names and outputs[names[0]].ndim else 0
    for name in names:
        if not outputs[name].ndim:
            raise InvalidArgumentError(f"Tensor name: {name} has no shape information ")
        if len(outputs[name]) != rows:
            raise InvalidArgumentError(
                f"Tensor name: {name} has inconsistent batch size: {len(outputs[name])} expecting: {rows}"
            )
    columns = [_column(arrow, np.ascontiguousarray(outputs[name]), name) for name in names]
    batch = arrow.RecordBatch.from_arrays(columns, names)
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _column(arrow: Any, array: Array, name: str) -> Any:
    try:
        if array.dtype == object:
            column = arrow.array(array.reshape(-1).tolist(), arrow.binary())
            for size in array.shape[:0:-1]:
                column = arrow.FixedSizeListArray.from_arrays(column, size)
            return column
        if array.ndim == 1:
            return arrow.array(array)
        if array.dtype == bool or not array.size:
            column = arrow.array(array.reshape(-1))
            for size in array.shape[:0:-1]:
                column = arrow.FixedSizeListArray.from_arrays(column, size)
            return column
        return arrow.FixedShapeTensorArray.from_numpy_ndarray(array)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"Output {name} of type {array.dtype} has no form in Arrow: {error}") from error
