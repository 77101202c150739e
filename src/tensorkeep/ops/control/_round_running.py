"""Loops that `_round_finding` has written out, run by the compiled library: many rounds in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.functions import FunctionBody
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.machine.parallel import computing_with, thread_limit
from tensorkeep.native.layers import (
    FLOAT,
    Floats,
    Functions,
    functions,
    in_parts,
    multiply,
    packed_matrix,
    threads_for,
)
from tensorkeep.native.rounds import Move, Operand, code_of, run_rounds
from tensorkeep.ops.control._round_finding import Given, Loop, Steps, found_loop
from tensorkeep.ops.control._tensor_list_values import TensorList, the_list
from tensorkeep.runtime.limits import current_meter

Program = Callable[..., Sequence[Any]]
PartOf = Callable[[FunctionBody, Sequence[Tensor]], Program]

_FEWEST_ROUNDS: Final = 3
_MOST_AT_ONCE: Final = 1 << 17  # floats of what is computed for many steps before their rounds: it stays in the cache
_COST_OF_ELEMENT: Final = 20  # multiplications that an element-wise operation takes as long as


class WholeLoop:
    """A While that may be one that the library can run. What it is made of is looked at when it first runs."""

    def __init__(self, condition: Callable[[], FunctionBody], body: Callable[[], FunctionBody], part: PartOf) -> None:
        self._bodies = condition, body
        self._part = part
        self._was_looked_at = False
        self._loop: Loop | None = None

    def __call__(self, values: Sequence[Any]) -> list[Any] | None:
        """The variables after the loop; None if it has to be run round by round: nothing has been touched then."""
        compiled = functions()
        if compiled is None or current_meter() is not None:
            return None
        if not self._was_looked_at:
            self._look()
        if self._loop is None:
            return None
        try:
            return _Run(compiled, self._loop, self._code, values, self._fixed(*values)).results()
        except _UnlikeError:
            return None

    def _look(self) -> None:
        condition, body = (function() for function in self._bodies)
        self._condition_inputs = {tensor: number for number, tensor in enumerate(condition.inputs)}
        loop = found_loop(condition, body)
        if loop is not None:
            self._fixed = self._part(body, loop.fixed)
            self._code = code_of(loop.instructions)
            loop.limit_places = [self._place(limit) for limit in loop.condition_fixed]
        self._loop = loop
        self._was_looked_at = True

    def _place(self, limit: Tensor) -> int | Array:
        """A limit as the number of a variable, or as its value."""
        number = self._condition_inputs.get(limit)
        if number is not None:
            return number
        value = constant_value(limit)
        assert value is not None
        return value


class _UnlikeError(Exception):
    """Values have not the shapes or types that were expected of them."""


def _matrix(value: Any, columns: int) -> Floats:
    array = np.asarray(value)
    if array.dtype != FLOAT or array.ndim != 2 or array.shape[1] != columns:
        raise _UnlikeError
    return array


class _Run:
    """One run of a loop, with the values that its variables begin with."""

    def __init__(
        self, compiled: Functions, loop: Loop, code: Array, values: Sequence[Any], fixed: Sequence[Any]
    ) -> None:
        self._compiled = compiled
        self._loop = loop
        self._code = code
        self._values = values
        self._fixed = [np.asarray(value) for value in fixed]
        self._rounds = self._count_rounds()
        self._states = {number: np.array(_matrix(values[number], width)) for number, width in loop.states.items()}
        self._rows = len(next(iter(self._states.values())))
        if not self._rows or any(len(state) != self._rows for state in self._states.values()):
            raise _UnlikeError
        read = {given.number for given in loop.operands if given.kind == "steps"}
        self._items = {number: self._listed(loop.sequences[number]) for number in read}
        self._registers = [np.empty((self._rows, width), FLOAT) for width in loop.registers]
        self._kept: list[Array] = []
        self._packs: dict[int, Floats] = {}

    def _count_rounds(self) -> int:
        counts = []
        for counter, at in self._loop.limits:
            place = self._loop.limit_places[at]
            first, limit = (
                np.asarray(self._values[counter]),
                np.asarray(self._values[place] if isinstance(place, int) else place),
            )
            if first.ndim or limit.ndim:
                raise _UnlikeError
            counts.append(-((int(first) - int(limit)) // self._loop.counters[counter]))
        if min(counts) < _FEWEST_ROUNDS:
            raise _UnlikeError
        return min(counts)

    def _listed(self, steps: Steps) -> list[Any]:
        """The elements of a list that rounds will read."""
        first = int(self._values[steps.counter])
        found = the_list(self._values[steps.variable]).items[first : first + self._rounds]
        if first < 0 or len(found) != self._rounds:
            raise _UnlikeError
        wanted = np.dtype(bool) if steps.is_condition else FLOAT
        for item in found:
            shape = np.shape(item)
            is_row = shape in ((self._rows,), (self._rows, 1)) if steps.is_condition else len(shape) == 2
            if not isinstance(item, np.ndarray) or item.dtype != wanted or not is_row or shape[0] != self._rows:
                raise _UnlikeError
            if item.shape != found[0].shape:
                raise _UnlikeError
        return found

    # -------------------------------------------------------------------------------------------------- operands

    def _pack_matrices(self) -> None:
        """Puts the matrices in order that steps of the input are multiplied with."""
        for number, items in self._items.items():
            steps = self._loop.sequences[number]
            if steps.matrix is None or steps.is_condition:
                continue
            matrix = self._fixed[steps.matrix].T if steps.is_transposed else self._fixed[steps.matrix]
            if matrix.dtype != FLOAT or matrix.shape != (items[0].shape[1], steps.columns):
                raise _UnlikeError
            self._packs[number] = packed_matrix(self._compiled, np.ascontiguousarray(matrix))

    def _sequence(self, number: int, rounds: range, rows: range, rooms: dict[int, Floats]) -> Floats:
        """A step of the input for each of some rounds, of some rows, with what is computed of it alone.

        `rooms` is memory that is used again for the next rounds.
        """
        steps, items = self._loop.sequences[number], self._items[number]
        parts = [item[rows.start : rows.stop] for item in items[rounds.start : rounds.stop]]
        if steps.is_condition:
            truths = np.stack(parts).reshape(len(rounds), len(rows), 1)
            return (truths ^ steps.is_negated).astype(FLOAT)
        whole = np.stack(parts)
        if steps.matrix is not None:
            room = rooms.get(number)
            if room is None:
                room = rooms[number] = np.empty((len(rounds), len(rows), steps.columns), FLOAT)
            made = room[: len(rounds)]
            multiply(self._compiled, whole, self._packs[number], made)
            whole = made
        for vector in steps.vectors:
            whole += self._vector(vector, steps.columns)
        if whole.shape[2] != steps.columns:
            raise _UnlikeError
        return np.ascontiguousarray(whole)

    def _vector(self, number: int, columns: int) -> Floats:
        value = self._fixed[number]
        if value.dtype != FLOAT or value.size not in (1, columns) or value.ndim > 2:
            raise _UnlikeError
        found = np.array(np.broadcast_to(value.reshape(-1), (columns,)))
        self._kept.append(found)
        return found

    def _unchanging(self, given: Given) -> Operand:
        value = self._fixed[given.number]
        if value.ndim < 2 or len(value) == 1:
            return Operand.of_vector(self._vector(given.number, given.columns))
        if value.dtype != FLOAT or value.shape not in ((self._rows, given.columns), (self._rows, 1)):
            raise _UnlikeError
        matrix = np.array(np.broadcast_to(value, (self._rows, given.columns)), order="C")
        self._kept.append(matrix)
        return Operand.of_matrix(matrix)

    def _packed(self, given: Given, depth: int) -> Operand:
        value = self._fixed[given.number]
        matrix = value.T if given.column else value
        if matrix.dtype != FLOAT or matrix.shape != (depth, given.columns) or not matrix.flags.aligned:
            raise _UnlikeError
        found = packed_matrix(self._compiled, matrix)
        self._kept.append(found)
        return Operand(Operand.of_vector(found).address)

    def _same_in_all(self) -> list[Operand | None]:
        """The operands that stay where they are in all rounds."""
        depths = {item.operands[1]: item.depth for item in self._loop.instructions if item.operation == Move.PRODUCT}
        found: list[Operand | None] = []
        for at, given in enumerate(self._loop.operands):
            if given.kind == "state":
                found.append(Operand.of_matrix(self._states[given.number]).from_column(given.column))
            elif given.kind == "register":
                found.append(Operand.of_matrix(self._registers[given.number]).from_column(given.column))
            elif given.kind == "fixed":
                found.append(self._unchanging(given))
            elif given.kind == "matrix":
                found.append(self._packed(given, depths[at]))
            else:
                found.append(None)
        return found

    # ------------------------------------------------------------------------------------------------- the rounds

    def results(self) -> list[Any]:
        loop = self._loop
        written = {
            number: np.empty((self._rounds, self._rows, columns), FLOAT)
            for number, (counter, _, columns) in loop.lists.items()
            if counter is not None
        }
        self._check_lists()
        self._pack_matrices()
        same = self._same_in_all()
        cost = self._rounds * self._rows * self._cost_of_row()
        share = max(1, thread_limit() // threads_for(self._rows, cost))

        def run_rows(first: int, end: int) -> None:
            with computing_with(share):
                self._run_rows(same, written, range(first, end))

        in_parts(run_rows, self._rows, cost)
        return [self._after(number, value, written) for number, value in enumerate(self._values)]

    def _cost_of_row(self) -> int:
        """About how many multiplications a round takes for a row."""
        cost = sum(item.columns * (item.depth or _COST_OF_ELEMENT) for item in self._loop.instructions)
        return cost + sum(packed.size for packed in self._packs.values())

    def _run_rows(self, same: list[Operand | None], written: dict[int, Floats], rows: range) -> None:
        """Runs all rounds for some rows, on which no others depend."""
        widest = max([self._loop.sequences[number].columns for number in self._items], default=1)
        some = max(1, _MOST_AT_ONCE // (widest * len(rows)))
        rooms: dict[int, Floats] = {}
        for begin in range(0, self._rounds, some):
            rounds = range(begin, min(begin + some, self._rounds))
            sequences = {number: self._sequence(number, rounds, rows, rooms) for number in self._items}
            operands = []
            for given, found in zip(self._loop.operands, same, strict=True):
                if found is None and given.kind == "written":
                    found = Operand.of_sequence(written[given.number][begin : rounds.stop])
                elif found is None:
                    found = Operand.of_sequence(sequences[given.number], rows.start).from_column(given.column)
                operands.append(found)
            run_rounds(self._compiled, self._code, operands, len(rounds), rows)

    def _check_lists(self) -> None:
        """Sees that lists have room where they are to be written: else the error is that of the operation."""
        for number, (counter, place, columns) in self._loop.lists.items():
            found = the_list(self._values[number])
            if counter is None:
                index = np.asarray(self._fixed[place])
                first = last = int(index) if index.ndim == 0 else -1
            else:
                first = int(self._values[counter])
                last = first + self._rounds - 1
            shape = found.element_shape
            fits = shape.dims is None or (len(shape.dims) == 2 and shape.dims[0] in (None, self._rows))
            if first < 0 or last >= len(found.items) or found.element_dtype.array_dtype != FLOAT or not fits:
                raise _UnlikeError
            if shape.dims is not None and shape.dims[1] not in (None, columns):
                raise _UnlikeError

    def _after(self, number: int, value: Any, written: dict[int, Floats]) -> Any:
        """What a variable is after the loop."""
        loop = self._loop
        if number in loop.states:
            return self._states[number]
        if number in loop.counters:
            return np.asarray(value).dtype.type(int(value) + self._rounds * loop.counters[number])
        if number not in loop.lists:
            return value
        counter, place, _ = loop.lists[number]
        found: TensorList = the_list(value)
        items = list(found.items)
        if counter is None:
            items[int(self._fixed[place])] = self._last(loop.operands[loop.last_values[number]])
        else:
            first = int(self._values[counter])
            items[first : first + self._rounds] = list(written[number])
        return found.with_items(items)

    def _last(self, given: Given) -> Floats:
        whole = self._registers[given.number]
        return np.array(whole[:, given.column : given.column + given.columns])
