"""The rounds of a loop over small matrices of float32 in one call, where Python would call a kernel for each step.

A loop is a list of instructions on operands, which are matrices of as many rows as sequences are computed together:
what earlier rounds left, what is the same in all rounds, or one row block after the other of a longer array.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.layers import Floats, Functions, place_of


class Move(IntEnum):
    """What a round can do besides element-wise operations, as rounds.h numbers it."""

    PRODUCT = 32
    """The first operand times the second, which is a packed matrix."""
    COPY = 33
    CHOOSE = 34
    """Rows of the second operand where the first, a number for each row, is not zero; else those of the third."""


class Instruction(NamedTuple):
    """An operation, the numbers of the operands that it writes and reads, and the columns of what it writes."""

    operation: int  # of Move, or of `chains.Operation`
    result: int
    operands: tuple[int, ...]
    columns: int
    depth: int = 0  # columns of the left factor of a product


class Operand(NamedTuple):
    """Where a matrix is: an address, and the floats from one round, and from one row, to the next."""

    address: int
    round_step: int = 0
    row_step: int = 0

    @classmethod
    def of_matrix(cls, matrix: Floats) -> Operand:
        """A matrix in C order that is the same in all rounds, or that rounds write to."""
        return cls(place_of(matrix), 0, matrix.shape[1])

    @classmethod
    def of_vector(cls, vector: Floats) -> Operand:
        """A vector that all rows see."""
        return cls(place_of(vector))

    @classmethod
    def of_sequence(cls, sequence: Floats, first_row: int = 0) -> Operand:
        """An array in C order: a matrix for each round, whose first row counts as this one."""
        _, rows, columns = sequence.shape
        return cls(place_of(sequence) - 4 * first_row * columns, rows * columns, columns)

    def from_column(self, column: int) -> Operand:
        return self._replace(address=self.address + 4 * column)


def code_of(instructions: Sequence[Instruction]) -> Array:
    """Instructions as the library reads them."""
    code = np.zeros((len(instructions), 7), np.int64)
    for at, (operation, result, operands, columns, depth) in enumerate(instructions):
        first, *others = operands
        second = others[0] if others else first
        code[at] = operation, result, first, second, others[1] if len(others) > 1 else first, columns, depth
    return code


def run_rounds(compiled: Functions, code: Array, operands: Sequence[Operand], rounds: int, rows: range) -> None:
    """Runs a loop for some rows of its operands, here and now. Whoever calls keeps what operands are of."""
    table = np.array(operands, np.int64)
    compiled.rounds(place_of(table), place_of(code), len(code), rounds, rows.start, rows.stop)
