"""Loops that carry small matrices from round to round, found in the functions of a While: recurrent layers.

A round is written out as instructions of `native.rounds`, whichever cell it is: products with matrices that do not
change, element-wise operations, pieces of columns, choices by a mask. What a round computes of a step of the input
alone is computed for many steps at once, before. A loop that does anything else is not found, and runs as always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.functions import FunctionBody
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native.rounds import Instruction, Move
from tensorkeep.runtime.fusions.fusing import ELEMENTS, changes_state

_PASSES_ON: Final = frozenset(("Identity", "StopGradient", "PreventGradient", "Snapshot"))
_SAME_CONDITION: Final = frozenset(("Tile", "ExpandDims", "BroadcastTo", "Reshape", "Squeeze", *_PASSES_ON))
_SELECTS: Final = frozenset(("Select", "SelectV2"))


class _NotFoundError(Exception):
    """The loop is not one that can be written out."""


@dataclass(frozen=True)
class Given:
    """An operand that is there before the rounds: `kind` says what, `number` which one of these.

    state       a variable that rounds change                       number of the variable
    fixed       what does not change                                number in `Loop.fixed`
    matrix      a factor of products, to be packed                  number in `Loop.fixed`
    steps       an element of a list for each round                 number in `Loop.sequences`
    written     what rounds write, one after the other              number of the variable
    register    what a round makes                                  number of the register
    """

    kind: str
    number: int
    column: int = 0
    columns: int = 0


@dataclass(frozen=True)
class Steps:
    """What a loop reads one step of in each round: elements of a list, times a matrix, plus vectors."""

    variable: int
    columns: int
    counter: int
    is_condition: bool = False
    is_negated: bool = False
    matrix: int | None = None
    is_transposed: bool = False
    vectors: tuple[int, ...] = ()


@dataclass(eq=False)
class Loop:
    """A loop, written out. Variables are known by their numbers."""

    limits: list[tuple[int, int]] = field(default_factory=list)  # counters, and in `fixed` what they stay below
    counters: dict[int, int] = field(default_factory=dict)  # and how much they grow in a round
    states: dict[int, int] = field(default_factory=dict)  # and their columns
    lists: dict[int, tuple[int | None, int, int]] = field(default_factory=dict)
    """Lists that are written: by which counter, or None if always at one place, which is in `fixed`; columns."""
    fixed: list[Tensor] = field(default_factory=list)
    condition_fixed: list[Tensor] = field(default_factory=list)  # limits, in the condition's function
    sequences: list[Steps] = field(default_factory=list)
    operands: list[Given] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)  # the columns of each
    instructions: list[Instruction] = field(default_factory=list)
    limit_places: list[Any] = field(default_factory=list)
    """Of each limit, the number of the variable that it is, or its value."""
    last_values: dict[int, int] = field(default_factory=dict)
    """Of lists that are always written at one place, the operand whose last value is there in the end."""


def found_loop(condition: FunctionBody, body: FunctionBody) -> Loop | None:
    """The loop of these functions, written out; None if it is not one that can be."""
    try:
        return _Finder(condition, body).loop()
    except _NotFoundError:
        return None


def _plain(tensor: Tensor) -> Tensor:
    while tensor.op.type in _PASSES_ON:
        tensor = tensor.op.inputs[0]
    return tensor


def _known_value(tensor: Tensor) -> Any:
    value = constant_value(tensor)
    if value is None:
        raise _NotFoundError
    return value


class _Finder:
    def __init__(self, condition: FunctionBody, body: FunctionBody) -> None:
        self._condition = condition
        self._body = body
        self._number = {tensor: number for number, tensor in enumerate(body.inputs)}
        self._loop = Loop()
        self._made: dict[Tensor, Given] = {}
        self._operand_numbers: dict[Given, int] = {}
        self._lists: dict[int, Operation] = {}

    def loop(self) -> Loop:
        if len(self._condition.inputs) != len(self._body.inputs) or self._condition.controls:
            raise _NotFoundError
        for function in (self._condition, self._body):
            if any(changes_state(op) for op in function.graph.operations):
                raise _NotFoundError
        for number, tensor in enumerate(self._body.outputs):
            self._classify(number, _plain(tensor))
        if not self._loop.states:
            raise _NotFoundError
        self._varying = self._varying_tensors()
        self._find_limits(_plain(self._condition.outputs[0]))
        self._write()
        return self._loop

    def _classify(self, number: int, following: Tensor) -> None:
        """Sees what a variable is: one that stays, one that counts, a list that is written, a matrix."""
        given, op = self._body.inputs[number], following.op
        if following is given:
            return
        if op.type in ("Add", "AddV2") and following.dtype.is_integer and _plain(op.inputs[0]) is given:
            step = np.asarray(_known_value(op.inputs[1]))
            if step.ndim or step < 1:
                raise _NotFoundError
            self._loop.counters[number] = int(step)
        elif op.type == "TensorListSetItem" and _plain(op.inputs[0]) is given:
            self._lists[number] = op
        elif following.dtype is FLOAT32:
            self._loop.states[number] = self._columns(given)
        else:
            raise _NotFoundError

    @staticmethod
    def _columns(tensor: Tensor) -> int:
        dims = tensor.static_shape.dims
        if dims is None or len(dims) != 2 or dims[1] is None or not dims[1]:
            raise _NotFoundError
        return dims[1]

    def _varying_tensors(self) -> set[Tensor]:
        changing = (*self._loop.counters, *self._loop.states, *self._lists)
        varying = {self._body.inputs[number] for number in changing}
        for op in sorted(self._body.graph.operations, key=lambda op: op.index):
            if any(tensor in varying for tensor in op.inputs):
                varying.update(op.outputs)
        return varying

    # ------------------------------------------------------------------------------------------- how many rounds

    def _find_limits(self, condition: Tensor) -> None:
        op = condition.op
        if op.type == "LogicalAnd":
            for tensor in op.inputs:
                self._find_limits(_plain(tensor))
            return
        if op.type != "Less":
            raise _NotFoundError
        counter, limit = map(_plain, op.inputs)
        numbers = {tensor: number for number, tensor in enumerate(self._condition.inputs)}
        if numbers.get(counter) not in self._loop.counters:
            raise _NotFoundError
        if limit in numbers:
            number = numbers[limit]
            if self._body.inputs[number] in self._varying:
                raise _NotFoundError
        else:
            _known_value(limit)
        self._loop.condition_fixed.append(limit)
        self._loop.limits.append((numbers[counter], len(self._loop.condition_fixed) - 1))

    # ------------------------------------------------------------------------------------------------- the round

    def _write(self) -> None:
        loop = self._loop
        following = {number: self._value(self._body.outputs[number]) for number in loop.states}
        for number, op in self._lists.items():
            _, index, item = op.inputs
            value = self._value(item)
            place = _plain(index)
            if self._number.get(place) in loop.counters:
                counter = self._number[place]
                if loop.counters[counter] != 1:
                    raise _NotFoundError
                loop.lists[number] = counter, -1, value.columns
                self._emit(Move.COPY, Given("written", number, 0, value.columns), value)
            else:
                if value.kind != "register":
                    raise _NotFoundError
                loop.lists[number] = None, self._fixed(index), value.columns
                loop.last_values[number] = self._operand(value)
        for value in following.values():
            if value.kind != "register":
                raise _NotFoundError  # one variable's next value may be another's last
        for number, columns in loop.states.items():
            if following[number].columns != columns:
                raise _NotFoundError
            self._emit(Move.COPY, Given("state", number, 0, columns), following[number])

    def _value(self, tensor: Tensor) -> Given:
        tensor = _plain(tensor)
        found = self._made.get(tensor)
        if found is None:
            found = self._made[tensor] = self._made_value(tensor)
        return found

    def _made_value(self, tensor: Tensor) -> Given:
        if tensor.dtype is not FLOAT32:
            raise _NotFoundError
        if tensor not in self._varying:
            return Given("fixed", self._fixed(tensor), 0, self._width_of_fixed(tensor))
        if tensor in self._number:
            number = self._number[tensor]
            return Given("state", number, 0, self._loop.states[number])
        op = tensor.op
        if op.type in ELEMENTS:
            return self._element(op)
        write = _WRITERS.get(op.type)
        if write is None:
            raise _NotFoundError
        return write(self, op, tensor)

    def _width_of_fixed(self, tensor: Tensor) -> int:
        """The columns of what does not change: one if it is a single number."""
        dims = tensor.static_shape.dims
        if dims is None or len(dims) > 2 or (dims and not dims[-1]):
            raise _NotFoundError
        return dims[-1] or 1 if dims else 1

    def _fixed(self, tensor: Tensor) -> int:
        if tensor in self._varying:
            raise _NotFoundError
        if tensor not in self._loop.fixed:
            self._loop.fixed.append(tensor)
        return self._loop.fixed.index(tensor)

    def _operand(self, given: Given) -> int:
        number = self._operand_numbers.get(given)
        if number is None:
            number = self._operand_numbers[given] = len(self._loop.operands)
            self._loop.operands.append(given)
        return number

    def _emit(self, operation: int, result: Given, *operands: Given, depth: int = 0) -> None:
        numbers = tuple(self._operand(operand) for operand in operands)
        self._loop.instructions.append(Instruction(operation, self._operand(result), numbers, result.columns, depth))

    def _register(self, columns: int) -> Given:
        self._loop.registers.append(columns)
        return Given("register", len(self._loop.registers) - 1, 0, columns)

    # --------------------------------------------------------------------------------------------- what it can do

    def _element(self, op: Operation) -> Given:
        if op.type == "BiasAdd" and op.attr("data_format") != b"NHWC":
            raise _NotFoundError
        columns = self._columns(op.outputs[0])
        operands = [self._value(tensor) for tensor in op.inputs]
        operands = [self._spread(operand, columns) for operand in operands]
        if op.type in ("BiasAdd", "Add", "AddV2") and (whole := self._plus(operands, columns)) is not None:
            return whole
        result = self._register(columns)
        self._emit(ELEMENTS[op.type], result, *operands)
        return result

    @staticmethod
    def _spread(operand: Given, columns: int) -> Given:
        """An operand of so many columns: a single number for all of them."""
        if operand.columns == columns:
            return operand
        if (operand.kind, operand.columns) != ("fixed", 1):
            raise _NotFoundError
        return Given("fixed", operand.number, 0, columns)

    def _plus(self, operands: list[Given], columns: int) -> Given | None:
        """A vector added to what is computed for all steps before, if it can be added there."""
        for first, second in (operands, operands[::-1]):
            if first.kind == "steps" and second.kind == "fixed" and not first.column:
                steps = self._loop.sequences[first.number]
                if steps.columns == columns:
                    return self._steps(replace(steps, vectors=(*steps.vectors, second.number)))
        return None

    def _steps(self, steps: Steps) -> Given:
        if steps not in self._loop.sequences:
            self._loop.sequences.append(steps)
        return Given("steps", self._loop.sequences.index(steps), 0, steps.columns)

    def _product(self, op: Operation, tensor: Tensor) -> Given:
        if op.attr("transpose_a") or op.inputs[1].dtype is not FLOAT32:
            raise _NotFoundError
        left, columns = self._value(op.inputs[0]), self._columns(tensor)
        matrix, is_transposed = self._fixed(op.inputs[1]), bool(op.attr("transpose_b"))
        if left.kind == "fixed":
            raise _NotFoundError
        if left.kind == "steps" and not left.column:
            steps = self._loop.sequences[left.number]
            if steps.matrix is None and not steps.vectors and steps.columns == left.columns:
                return self._steps(replace(steps, columns=columns, matrix=matrix, is_transposed=is_transposed))
        result = self._register(columns)
        factor = Given("matrix", matrix, int(is_transposed), columns)
        self._emit(Move.PRODUCT, result, left, factor, depth=left.columns)
        return result

    def _item(self, op: Operation, tensor: Tensor) -> Given:
        return self._steps(self._item_of(op, self._columns(tensor)))

    def _item_of(self, op: Operation, columns: int) -> Steps:
        """What a round reads of a list that does not change, at the place that a counter says."""
        items, index = _plain(op.inputs[0]), _plain(op.inputs[1])
        counter = self._number.get(index)
        if items not in self._number or items in self._varying or counter not in self._loop.counters:
            raise _NotFoundError
        if self._loop.counters[counter] != 1:
            raise _NotFoundError
        return Steps(self._number[items], columns, counter)

    def _pieces(self, op: Operation, tensor: Tensor) -> Given:
        """One of the pieces that Split and SplitV make."""
        whole_at, axis_at = (1, 0) if op.type == "Split" else (0, 2)
        if int(np.asarray(_known_value(op.inputs[axis_at])).item()) not in (1, -1):
            raise _NotFoundError
        whole = self._value(op.inputs[whole_at])
        widths = [self._columns(output) for output in op.outputs]
        if sum(widths) != whole.columns:
            raise _NotFoundError
        at = op.outputs.index(tensor)
        return self._columns_of(whole, sum(widths[:at]), widths[at])

    @staticmethod
    def _columns_of(whole: Given, first: int, columns: int) -> Given:
        if first < 0 or first + columns > whole.columns:
            raise _NotFoundError
        return Given(whole.kind, whole.number, whole.column + first, columns)

    def _slice(self, op: Operation, tensor: Tensor) -> Given:
        """All rows, and columns that follow each other."""
        begin, _, strides = (np.asarray(_known_value(each)).tolist() for each in op.inputs[1:])
        masks = [op.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
        is_plain = strides == [1, 1] and len(begin) == 2 and masks[2:] == [0, 0, 0]
        if not is_plain or not (masks[0] & 1 and masks[1] & 1):
            raise _NotFoundError
        whole = self._value(op.inputs[0])
        first = 0 if masks[0] & 2 else begin[1]
        return self._columns_of(whole, first + whole.columns if first < 0 else first, self._columns(tensor))

    def _side_by_side(self, op: Operation, tensor: Tensor) -> Given:
        if int(np.asarray(_known_value(op.inputs[-1])).item()) not in (1, -1):
            raise _NotFoundError
        parts = [self._value(each) for each in op.inputs[:-1]]
        if any(part.kind == "fixed" for part in parts):
            raise _NotFoundError
        result, at = self._register(sum(part.columns for part in parts)), 0
        for part in parts:
            self._emit(Move.COPY, self._columns_of(result, at, part.columns), part)
            at += part.columns
        return result

    def _choice(self, op: Operation, tensor: Tensor) -> Given:
        condition, first, second = op.inputs
        columns = self._columns(tensor)
        values = [self._spread(self._value(each), columns) for each in (first, second)]
        result = self._register(columns)
        self._emit(Move.CHOOSE, result, self._mask(condition), *values)
        return result

    def _mask(self, condition: Tensor) -> Given:
        """A mask of rows: an element of a list, spread over columns."""
        is_negated = False
        while condition.op.type in _SAME_CONDITION or condition.op.type == "LogicalNot":
            is_negated ^= condition.op.type == "LogicalNot"
            condition = condition.op.inputs[0]
        if condition.dtype is not BOOL or condition.op.type != "TensorListGetItem":
            raise _NotFoundError
        dims = condition.static_shape.dims
        if dims is None or len(dims) not in (1, 2) or (len(dims) == 2 and dims[1] != 1):
            raise _NotFoundError
        return self._steps(replace(self._item_of(condition.op, 1), is_condition=True, is_negated=is_negated))


_Write = Callable[[_Finder, Operation, Tensor], Given]
_WRITERS: Final[dict[str, _Write]] = {
    "MatMul": _Finder._product,
    "TensorListGetItem": _Finder._item,
    "Split": _Finder._pieces,
    "SplitV": _Finder._pieces,
    "StridedSlice": _Finder._slice,
    "ConcatV2": _Finder._side_by_side,
    "Select": _Finder._choice,
    "SelectV2": _Finder._choice,
}
