"""Matrices of a checkpoint whose rows or columns belong to the words of a vocabulary, when the vocabulary changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import FLOAT32, INT64, STRING
from tensorkeep.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    UnimplementedError,
)
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.state.lookup_table_values import LINE_NUMBER, WHOLE_LINE, TextColumns
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

generate_vocab_remapping = op(
    "GenerateVocabRemapping(new_vocab_file: string, old_vocab_file: string) -> remapping: int64, num_present: int32",
    "new_vocab_offset: int >= 0",
    "num_new_vocab: int >= 0",
    "old_vocab_size: int >= -1 = -1",
)


@generate_vocab_remapping.shape
def generate_vocab_remapping_shape(
    new_vocab_file: Tensor, old_vocab_file: Tensor, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int
) -> tuple[Shape, Shape]:
    return Shape((num_new_vocab,)), Shape(())


@generate_vocab_remapping.stateful_kernel
def generate_vocab_remapping_kernel(
    ctx: KernelContext,
    new_vocab_file: Array,
    old_vocab_file: Array,
    *,
    new_vocab_offset: int,
    num_new_vocab: int,
    old_vocab_size: int,
) -> tuple[Array, Array]:
    new = _vocabulary(ctx, new_vocab_file, "new_vocab_file", -1)
    last = new_vocab_offset + num_new_vocab
    if last > len(new):
        raise InvalidArgumentError(
            f"lookup table size must be larger than last new vocab entry's line: the new vocabulary has {len(new)} "
            f"lines, {last} are needed"
        )
    numbers: dict[bytes, int] = {}
    for number, word in enumerate(_vocabulary(ctx, old_vocab_file, "old_vocab_file", old_vocab_size)):
        if numbers.setdefault(word, number) != number:
            raise FailedPreconditionError(
                f"HashTable has different value for same key. Key {word.decode(errors='replace')} has {numbers[word]} "
                f"and trying to add value {number}"
            )
    found = np.array([numbers.get(word, -1) for word in new[new_vocab_offset:last]], np.int64)
    return found, np.asarray(np.count_nonzero(found != -1), np.int32)


def _vocabulary(ctx: KernelContext, name: Any, what: str, count: int) -> list[bytes]:
    """The first words of a file that has one on each line; all of them if `count` is -1."""
    if np.ndim(name):
        raise InvalidArgumentError(f"{what} should be a single string, but got {list(np.shape(name))}")
    path = np.asarray(name).item().decode()
    if not path:
        raise InvalidArgumentError("new vocab filename cannot be empty.")
    file = ctx.filesystem.open(path)
    try:
        text = bytes(file.read(0, file.size))
    finally:
        file.close()
    columns = TextColumns(path, WHOLE_LINE, LINE_NUMBER, b"\t", 0)
    words, _ = columns.read(text, count, (STRING, INT64))
    if not words.size:
        raise OutOfRangeError(f'"{path}": a vocabulary has at least one word, this has {count if text else "none"}')
    found: list[bytes] = words.tolist()
    return found


load_and_remap_matrix = op(
    "LoadAndRemapMatrix(ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float) -> output_matrix: float",
    "num_rows: int >= 0",
    "num_cols: int >= 1",
    "max_rows_in_memory: int = -1",
    "stateful",
)


@load_and_remap_matrix.shape
def load_and_remap_matrix_shape(
    ckpt_path: Tensor,
    old_tensor_name: Tensor,
    row_remapping: Tensor,
    col_remapping: Tensor,
    initializing_values: Tensor,
    *,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int,
) -> Shape:
    at_most(old_tensor_name.static_shape, 1)
    return Shape((num_rows, num_cols))


@load_and_remap_matrix.stateful_kernel
def load_and_remap_matrix_kernel(
    ctx: KernelContext,
    ckpt_path: Array,
    old_tensor_name: Array,
    row_remapping: Array,
    col_remapping: Array,
    initializing_values: Array,
    *,
    num_rows: int,
    num_cols: int,
    max_rows_in_memory: int,
) -> Array:
    """A stored matrix with its rows and columns in another order, and new ones where there are none. Only the rows that
    are wanted are read, so `max_rows_in_memory` changes nothing.
    """
    rows, columns = (
        _checked_remapping(row_remapping, "row_remapping"),
        _checked_remapping(col_remapping, "col_remapping"),
    )
    if rows.size != num_rows:
        raise InvalidArgumentError(
            f"Size of row_remapping is {rows.size} instead of being equal to num_rows={num_rows}"
        )
    if columns.size and columns.size != num_cols:
        raise InvalidArgumentError(
            f"Provided col_remapping, but its size is {columns.size} instead of being equal to num_cols={num_cols}"
        )
    there = np.outer(rows >= 0, columns >= 0 if columns.size else np.ones(num_cols, bool))
    found = np.zeros((num_rows, num_cols), np.float32)
    with open_checkpoint(_single(ckpt_path, "ckpt_path"), fs=ctx.filesystem) as reader:
        name = _single(old_tensor_name, "old_tensor_name")
        height, width = _matrix_shape(reader, name)
        if not columns.size and width != num_cols:
            raise InvalidArgumentError(
                f"Tensor {name} has shape [{height},{width}], where the size of its 2nd dimension is {width} instead "
                f"of being equal to num_cols={num_cols}"
            )
        _check_range(rows, height, name, "row")
        _check_range(columns, width, name, "column")
        stored = reader.read_rows(name, rows[rows >= 0])
    if there.any():
        found[there] = (stored[:, columns[columns >= 0]] if columns.size else stored).reshape(-1)
    found[~there] = _fitting(np.reshape(initializing_values, -1), int(there.size - np.count_nonzero(there)))
    return found


def _single(value: Any, what: str) -> str:
    array = np.asarray(value).reshape(-1)
    if array.size != 1:
        raise InvalidArgumentError(
            f"The `{what}` tensor must have exactly one element, got tensor of shape {array.size}"
        )
    text: str = array[0].decode("utf-8", "surrogateescape")
    return text


def _checked_remapping(remapping: Any, what: str) -> Array:
    """Where each new row or column was before; below zero if it is new. No old one may be wanted twice."""
    numbers = np.asarray(remapping)
    if numbers.ndim != 1:
        sizes = ",".join(map(str, numbers.shape))
        raise InvalidArgumentError(f"The `{what}` tensor must be 1-D, got a tensor of shape [{sizes}]")
    first: dict[int, int] = {}
    for new, old in enumerate(numbers.tolist()):
        if old >= 0 and first.setdefault(old, new) != new:
            raise UnimplementedError(
                f"Old ID {old} is mapped to both new ID {first[old]} and {new}, which is not supported."
            )
    return numbers


def _matrix_shape(reader: CheckpointReader, name: str) -> tuple[int, int]:
    if name not in reader:
        raise NotFoundError(f"Key {name} not found in checkpoint")
    info = reader[name]
    if info.dtype is not FLOAT32:
        raise InvalidArgumentError(f"Tensor {name} has invalid type {info.dtype.label} instead of expected type float")
    if len(info.shape) != 2:
        sizes = ",".join(map(str, info.shape))
        raise InvalidArgumentError(
            f"Tensor {name} has shape [{sizes}] of invalid rank {len(info.shape)} instead of expected shape of rank 2."
        )
    return info.shape[0], info.shape[1]


def _check_range(numbers: Array, size: int, name: str, what: str) -> None:
    if numbers.size and int(numbers.max()) >= size:
        raise InternalError(
            f"Extent out of bounds: {what} {int(numbers.max())} of tensor {name} is wanted, which has {size}: the old "
            "vocabulary is longer than the one that the checkpoint was made with"
        )


def _fitting(values: Array, count: int) -> Array:
    if values.size < count:
        raise InvalidArgumentError(
            f"initializing_values contained {values.size} elements, but more missing values remain."
        )
    if values.size > count:
        raise InvalidArgumentError(
            f"initializing_values contained {values.size} elements, but only {count} elements were used to fill in "
            "missing values."
        )
    return values
