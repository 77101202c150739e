"""Recurrent cells as one call of the library: the instructions, and what each of their operands is.

    rows       a matrix of the run, with a row for each sequence         row       what all rows see: a vector, a number
    factor     the right matrix of products, put in order                made      a matrix that the instructions write

Of what is made, results that others use are new arrays; the rest lies in memory that is used again within the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native.chains import Operation as Element
from tensorkeep.native.layers import FLOAT, Functions, functions, in_parts, packed_matrix, place_of
from tensorkeep.native.rounds import Instruction, Move, code_of
from tensorkeep.runtime.fusions.cells import MOST_ROWS, is_row, slice_columns
from tensorkeep.runtime.fusions.fusing import element_of
from tensorkeep.runtime.plans.names import Names

_COST_OF_ELEMENT: Final = 8  # multiplications that take as long
_TOGETHER: Final = 1 << 20  # bytes of results that are one piece of memory: of a few of them, the others stay too
_FLOAT_SIZE: Final = FLOAT.itemsize

Packs = dict[int, list[Any]]


class _Place(NamedTuple):
    """A matrix that instructions see: some columns of something, of which there are several of each kind."""

    kind: str
    number: int
    column: int
    columns: int


class _Given(NamedTuple):
    """An argument: which one, and how many columns it is to have. Of a factor, rows and columns as it is multiplied."""

    at: int
    columns: int
    depth: int = 0
    is_transposed: bool = False


@dataclass(eq=False)
class CellCode:
    """Instructions for what cells compute, and where their operands lie."""

    inputs: list[str] = field(default_factory=list)
    """Names of values, in the order in which the call takes them."""
    outputs: list[str] = field(default_factory=list)
    """Names of values, in the order in which it gives them."""
    rows: list[_Given] = field(default_factory=list)
    vectors: list[_Given] = field(default_factory=list)
    factors: list[_Given] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)  # of what is made
    results: list[int] = field(default_factory=list)  # numbers of those that are outputs
    instructions: list[Instruction] = field(default_factory=list)
    operands: list[_Place] = field(default_factory=list)


def code_of_cells(ops: Sequence[Operation], names: Names) -> CellCode | None:
    """The instructions for operations; None if some of what they take is not there as arrays are."""
    return _Writer(ops, names).code()


class _Writer:
    def __init__(self, ops: Sequence[Operation], names: Names) -> None:
        self._ops = [op for op in ops if op not in names.silent]
        self._values = names.values
        self._names = names
        self._code = CellCode()
        self._numbers: dict[_Place, int] = {}
        self._given: dict[tuple[str, _Given], _Place] = {}
        self._made: dict[str, _Place] = {}
        taken = [self._values[tensor] for op in self._ops for tensor in op.inputs]
        made = [self._values[tensor] for op in self._ops for tensor in op.outputs]
        uses = names.lifetimes.uses
        self._wanted = {name for name in made if uses.get(name, 0) > taken.count(name)}

    def code(self) -> CellCode | None:
        taken = (self._values[tensor] for op in self._ops for tensor in op.inputs)
        if not self._ops or any(name in self._names.deferred or name[0] == "r" for name in taken):
            return None
        for op in self._ops:
            self._write(op)
        self._code.outputs = [name for name in self._made if name in self._wanted]
        self._code.results = [self._made[name].number for name in self._code.outputs]
        return self._code if self._code.instructions and self._code.rows else None

    def _write(self, op: Operation) -> None:
        out = op.outputs[0]
        if op.type in ("Split", "SplitV"):
            whole, column = self._operand(op.inputs[op.type == "Split"]), 0
            for tensor in op.outputs:
                width = _columns(tensor)
                self._pass_on(tensor, whole._replace(column=whole.column + column, columns=width))
                column += width
        elif op.type == "Slice":
            columns = slice_columns(op)
            assert columns is not None
            whole = self._operand(op.inputs[0])
            self._pass_on(out, whole._replace(column=whole.column + columns[0], columns=columns[1]))
        elif op.type == "ConcatV2":
            parts = [self._operand(tensor) for tensor in op.inputs[:-1]]
            result, column = self._make(out), 0
            for part in parts:
                self._emit(Move.COPY, result._replace(column=column, columns=part.columns), part)
                column += part.columns
        elif op.type == "MatMul":
            left, factor = self._operand(op.inputs[0]), self._factor(op)
            self._emit(Move.PRODUCT, self._make(out), left, factor, depth=left.columns)
        elif op.type == "AddN":
            parts = [self._operand(tensor, _columns(out)) for tensor in op.inputs]
            if len(parts) == 1:
                self._pass_on(out, parts[0])
                return
            result = self._make(out)
            for at, part in enumerate(parts[1:]):
                self._emit(Element.ADD, result, result if at else parts[0], part)
        else:
            element = element_of(op)
            assert element is not None
            parts = [self._operand(tensor, _columns(out)) for tensor in op.inputs]
            self._emit(element, self._make(out), *parts)

    def _emit(self, operation: int, result: _Place, *operands: _Place, depth: int = 0) -> None:
        numbers = tuple(map(self._number, operands))
        self._code.instructions.append(Instruction(operation, self._number(result), numbers, result.columns, depth))

    def _number(self, place: _Place) -> int:
        number = self._numbers.get(place)
        if number is None:
            number = self._numbers[place] = len(self._code.operands)
            self._code.operands.append(place)
        return number

    def _make(self, tensor: Tensor) -> _Place:
        width = _columns(tensor)
        self._code.widths.append(width)
        place = _Place("made", len(self._code.widths) - 1, 0, width)
        self._made[self._values[tensor]] = place
        return place

    def _pass_on(self, tensor: Tensor, place: _Place) -> None:
        """Lets a value be columns of another one, or a copy of these where others want it."""
        name = self._values[tensor]
        if name in self._wanted:
            self._emit(Move.COPY, self._make(tensor), place)
        else:
            self._made[name] = place

    def _operand(self, tensor: Tensor, columns: int | None = None) -> _Place:
        """What an instruction sees of a tensor; with `columns`, those of its result, that may be a row for all rows."""
        made = self._made.get(self._values[tensor])
        if made is not None:
            return made
        if columns is not None and is_row(tensor):
            return self._argument("row", tensor, _Given(0, columns), self._code.vectors)
        return self._argument("rows", tensor, _Given(0, columns or _columns(tensor)), self._code.rows)

    def _factor(self, op: Operation) -> _Place:
        left, out = _columns(op.inputs[0]), _columns(op.outputs[0])
        given = _Given(0, out, left, bool(op.attr("transpose_b")))
        return self._argument("factor", op.inputs[1], given, self._code.factors)

    def _argument(self, kind: str, tensor: Tensor, given: _Given, kept: list[_Given]) -> _Place:
        name = self._values[tensor]
        key = kind + name, given
        place = self._given.get(key)
        if place is None:
            if name not in self._code.inputs:
                self._code.inputs.append(name)
            kept.append(given._replace(at=self._code.inputs.index(name)))
            place = self._given[key] = _Place(kind, len(kept) - 1, 0, given.columns)
        return place


def _columns(tensor: Tensor) -> int:
    dims = tensor.static_shape.dims
    assert dims is not None
    assert dims[1] is not None
    return dims[1]


# ---------------------------------------------------------------------------------------------------- The call


class CellCall:
    """Called with the inputs of a CellCode, gives its outputs; None if the operations have to run one by one."""

    def __init__(self, code: CellCode) -> None:
        self._given = code
        self._code = code_of(code.instructions)
        self._cost = sum(item.columns * (item.depth or _COST_OF_ELEMENT) for item in code.instructions)
        self._starts, self._scratch = _scratch_places(code)
        pieces = _by_width(code)
        self._pieces = [(width, len(numbers)) for width, numbers in pieces]
        self._order = np.argsort([number for _, numbers in pieces for number in numbers], kind="stable").tolist()
        self._result_of = {number: at for at, number in enumerate(code.results)}
        self._bases, self._columns, self._steps = self._operand_table()

    def _operand_table(self) -> tuple[Array, Array, Array]:
        """Of each operand: which of the addresses of a run it is counted from, the first column, and the floats from
        one row to the next.
        """
        code = self._given
        kinds = ("rows", "row", "factor", "result")
        firsts = dict(zip(kinds, np.cumsum([0, len(code.rows), len(code.vectors), len(code.factors)]), strict=True))
        firsts["scratch"] = firsts["result"] + len(code.results)
        table = np.zeros((3, len(code.operands)), np.int64)
        for at, place in enumerate(code.operands):
            kind, number = place.kind, place.number
            step = 0
            if kind == "made":
                step = code.widths[number]
                kind, number = ("result", self._result_of[number]) if number in self._result_of else ("scratch", number)
            elif kind == "rows":
                step = code.rows[number].columns
            table[:, at] = firsts[kind] + number, place.column, step
        return table[0], table[1], table[2]

    def __call__(self, packs: Packs | None, *values: object) -> tuple[Array, ...] | None:
        """`packs` keeps matrices in order from round to round of a loop; None if they are not to be kept."""
        compiled = functions()
        first = values[self._given.rows[0].at]
        rows = len(first) if type(first) is np.ndarray and first.ndim == 2 else 0
        if compiled is None or not 0 < rows <= MOST_ROWS:
            return None
        arrays = self._arrays(values, rows)
        factors = None if arrays is None else self._factors(compiled, packs, values)
        if arrays is None or factors is None:
            return None
        results, result_places = self._results(rows)
        scratch = np.empty(rows * self._scratch, FLOAT)
        begin = place_of(scratch)
        places = [*map(place_of, arrays), *map(place_of, factors), *result_places]
        places += [begin + _FLOAT_SIZE * rows * start for start in self._starts]
        table = np.zeros((len(self._bases), 3), np.int64)
        table[:, 0] = np.array(places, np.int64)[self._bases] + _FLOAT_SIZE * self._columns
        table[:, 2] = self._steps
        work = partial(compiled.rounds, place_of(table), place_of(self._code), len(self._code), 1)
        in_parts(work, rows, rows * self._cost)
        return tuple(results)

    def _arrays(self, values: Sequence[Any], rows: int) -> list[Array] | None:
        """The matrices that have a row for each sequence, and the vectors, in C order; None if something is not one."""
        found = []
        for at, columns, _, _ in self._given.rows:
            value = values[at]
            if type(value) is not np.ndarray or value.dtype != FLOAT or value.shape != (rows, columns):
                return None
            flags = value.flags
            found.append(value if flags.c_contiguous and flags.aligned else np.array(value, order="C"))
        for at, columns, _, _ in self._given.vectors:
            vector = _vector(values[at], columns)
            if vector is None:
                return None
            found.append(vector)
        return found

    def _results(self, rows: int) -> tuple[list[Array], list[int]]:
        """New arrays for the outputs, and where they lie."""
        arrays, places = list[Array](), list[int]()
        for width, count in self._pieces:
            piece = np.empty((count, rows, width), FLOAT)
            begin = place_of(piece)
            arrays.extend(piece)
            places.extend(range(begin, begin + _FLOAT_SIZE * piece.size, _FLOAT_SIZE * rows * width))
        return [arrays[at] for at in self._order], [places[at] for at in self._order]

    def _factors(self, compiled: Functions, packs: Packs | None, values: Sequence[Any]) -> list[Array] | None:
        """The matrices in order, which a loop keeps."""
        kept = None if packs is None else packs.get(id(self))
        if kept is None:
            kept = self._pack_factors(compiled, values)
            if packs is not None and kept is not None:
                packs[id(self)] = kept
        return kept

    def _pack_factors(self, compiled: Functions, values: Sequence[Any]) -> list[Array] | None:
        found = []
        for at, columns, depth, is_transposed in self._given.factors:
            value = values[at]
            shape = (columns, depth) if is_transposed else (depth, columns)
            if type(value) is not np.ndarray or value.dtype != FLOAT or value.shape != shape or not value.flags.aligned:
                return None
            found.append(packed_matrix(compiled, value.T if is_transposed else value))
        return found


def _vector(value: Any, columns: int) -> Array | None:
    """A number or a vector as a vector of so many columns; None if it is neither."""
    array = np.asarray(value)
    if array.dtype != FLOAT or array.size not in (1, columns) or array.shape[:-1] not in ((), (1,)):
        return None
    if array.size == columns and array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.array(np.broadcast_to(array.reshape(-1), (columns,)))


def _by_width(code: CellCode) -> list[tuple[int, list[int]]]:
    """The numbers of outputs that are one piece of memory, and their columns."""
    found: list[tuple[int, list[int]]] = []
    by_width: dict[int, list[int]] = {}
    for at, number in enumerate(code.results):
        width = code.widths[number]
        most = max(1, _TOGETHER // (_FLOAT_SIZE * MOST_ROWS * width))
        numbers = by_width.get(width)
        if numbers is None or len(numbers) >= most:
            numbers = by_width[width] = []
            found.append((width, numbers))
        numbers.append(at)
    return found


def _scratch_places(code: CellCode) -> tuple[list[int], int]:
    """Where each matrix that is made lies in the memory for those that are no outputs, in columns from its beginning,
    and how many there are: what nothing reads any more makes room.
    """
    last: dict[int, int] = {}
    for at, instruction in enumerate(code.instructions):
        for number in (instruction.result, *instruction.operands):
            place = code.operands[number]
            if place.kind == "made":
                last[place.number] = at
    starts = [0] * len(code.widths)
    free: dict[int, list[int]] = {}
    total = 0
    seen = set(code.results)
    for at, instruction in enumerate(code.instructions):
        made = [code.operands[number] for number in (instruction.result, *instruction.operands)]
        numbers = {place.number for place in made if place.kind == "made"}
        for number in sorted(numbers - seen):
            seen.add(number)
            width = code.widths[number]
            if free.get(width):
                starts[number] = free[width].pop()
            else:
                starts[number], total = total, total + width
        for number in sorted(numbers.difference(code.results)):
            if last[number] == at:
                free.setdefault(code.widths[number], []).append(starts[number])
    return starts, total
