"""Initial values for a matrix whose rows or columns belong to a vocabulary, from a checkpoint made with another one.

Words that both vocabularies have keep their rows or columns, wherever they stand; the others begin as an initializer
says, and so do the rows and columns for words outside the vocabulary, which come last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.files.vocabulary_remapping import generate_vocab_remapping, load_and_remap_matrix
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.functions.numbers.elementwise import range as numbers_between
from tensorkeep.tf1.variables.initializers import zeros_initializer
from tensorkeep.tf1.variables.partitioned import PartitionInfo

Initializer: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Axis:
    """One axis of the new matrix: how many words, how many places for others, and what the words are."""

    size: int
    """Of the vocabulary; without files, of the axis."""
    extra: int = 0
    """Places after those of the vocabulary, for words outside it."""
    new_file: str | None = None
    old_file: str | None = None
    old_size: int = -1
    """How many words of the old vocabulary the checkpoint was made with; -1 for all."""

    @property
    def is_remapped(self) -> bool:
        return bool(self.new_file and self.old_file)

    def check(self, what: str) -> None:
        if self.extra < 0:
            raise InvalidArgumentError(f"num_{what}_oov_buckets must be >= 0, but received {self.extra}")
        if bool(self.new_file) != bool(self.old_file):
            raise InvalidArgumentError(
                f"old_{what}_vocab_file and new_{what}_vocab_file must both be specified or left unspecified. "
                f"old_{what}_vocab_file='{self.old_file}', new_{what}_vocab_file='{self.new_file}'"
            )


@dataclass(frozen=True)
class RemappedMatrix:
    """An initializer for a matrix, whole or in parts of some rows each, from a tensor of a checkpoint."""

    checkpoint: str
    tensor: str
    rows: Axis
    columns: Axis
    initializer: Initializer | None = None
    """For what the checkpoint does not have; zeros unless it is given."""

    def __call__(
        self, shape: Sequence[int], dtype: DType = FLOAT32, partition_info: PartitionInfo | None = None
    ) -> Tensor:
        if self.initializer is not None and not callable(self.initializer):
            raise WrongTypeError(
                f"initializer must be callable, instead of being {self.initializer} of type {type(self.initializer)}."
            )
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        self._check(shape, dtype, offset)
        extra = min(shape[0], max(0, offset + shape[0] - self.rows.size))
        if offset > self.rows.size:
            made: Tensor = self._missing(shape)
            return made
        return self._loaded(offset, shape[0] - extra, extra)

    def _check(self, shape: Sequence[int], dtype: DType, offset: int) -> None:
        if dtype is not FLOAT32:
            raise WrongTypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        if len(shape) != 2:
            raise InvalidArgumentError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise InvalidArgumentError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        rows, columns = self.rows, self.columns
        if shape[1] != columns.size + columns.extra:
            raise InvalidArgumentError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({columns.size}) + num_col_oov_buckets "
                f"({columns.extra}) = {columns.size + columns.extra}, but received shape: {shape}"
            )
        if offset + shape[0] > rows.size + rows.extra:
            raise InvalidArgumentError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been initialized, "
                f"which would exceed expected total row count of new_row_vocab_size ({rows.size}) + "
                f"num_row_oov_buckets ({rows.extra}) = {rows.size + rows.extra}."
            )

    def _missing(self, shape: Sequence[Any]) -> Any:
        return (zeros_initializer() if self.initializer is None else self.initializer)(shape)

    def _loaded(self, offset: int, count: int, extra: int) -> Tensor:
        """The matrix from row `offset` on: `count` rows of the vocabulary, `extra` for other words."""
        rows, columns = self.rows, self.columns
        rows.check("row")
        columns.check("col")
        if not (rows.is_remapped or columns.is_remapped):
            raise InvalidArgumentError(
                "Must provide either row or column vocab files. If no remapping is necessary, consider using "
                "`tf.contrib.framework.init_from_checkpoint` instead."
            )
        row_numbers, rows_present = self._row_numbers(offset, count)
        column_numbers, columns_present = self._column_numbers()
        values = self._missing([count * columns.size - rows_present * columns_present, 1])
        matrix: Tensor = load_and_remap_matrix(
            ckpt_path=self.checkpoint,
            old_tensor_name=self.tensor,
            row_remapping=row_numbers,
            col_remapping=column_numbers,
            initializing_values=values,
            num_rows=count,
            num_cols=columns.size,
            max_rows_in_memory=-1,
        )
        if extra > 0:
            matrix = concat([matrix, convert(self._missing([extra, columns.size]))], 0)
        if columns.extra > 0:
            matrix = concat([matrix, convert(self._missing([count + extra, columns.extra]))], 1)
        return matrix

    def _row_numbers(self, offset: int, count: int) -> tuple[Any, Any]:
        """Where each row was before, and how many were anywhere."""
        rows = self.rows
        if not rows.is_remapped:
            return numbers_between(offset, offset + count, dtype=INT64), count
        found: tuple[Any, Any] = generate_vocab_remapping(
            new_vocab_file=rows.new_file,
            old_vocab_file=rows.old_file,
            new_vocab_offset=offset,
            num_new_vocab=count,
            old_vocab_size=rows.old_size,
        )
        return found

    def _column_numbers(self) -> tuple[Any, Any]:
        columns = self.columns
        if not columns.is_remapped:
            return [], columns.size
        found: tuple[Any, Any] = generate_vocab_remapping(
            new_vocab_file=columns.new_file,
            old_vocab_file=columns.old_file,
            new_vocab_offset=0,
            num_new_vocab=columns.size,
        )
        return found
