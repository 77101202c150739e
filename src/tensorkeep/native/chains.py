"""Chains of element-wise operations of float32, a piece of the arrays at a time: what lies between is never stored."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from functools import partial
from math import prod
from operator import ne
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.layers import FLOAT, SMALL, functions, in_parts, place_of

MOST_INPUTS: Final = 12  # as layers.cpp has it
MOST_REGISTERS: Final = 6
SMALLEST: Final = 1 << 12
"""Elements; of fewer, NumPy computes one operation after the other in less time."""
_SMALLEST_WITHOUT_POWERS: Final = 1 << 14  # if nothing in a chain takes long

_CACHED_PLANS: Final = 32
_AXES: Final = 3
_WHOLE: Final = 0
_BY_ROWS: Final = -1
_NUMBERS, _TRUTHS, _SUMS = range(3)  # what becomes of results, as elements.h numbers it
_BOOL: Final = np.dtype(np.bool_)

Shape = tuple[int, ...]


class Operation(IntEnum):
    """What can be in a chain, as elements.h numbers it. Those before NEGATE take two operands, and so do gradients: a
    result of the function, and the gradient of it; of RELU, the gradient first.

    LEAKY_RELU takes its slope below zero too, and so does its gradient, after what that of RELU takes. CHOOSE takes a
    truth, what counts where that is true, and what counts elsewhere. Truths are what comparisons make.
    """

    ADD = 0
    SUBTRACT = 1
    MULTIPLY = 2
    DIVIDE = 3
    MAXIMUM = 4
    MINIMUM = 5
    SQUARED_DIFFERENCE = 6
    NEGATE = 7
    RELU = 8
    RELU6 = 9
    SIGMOID = 10
    TANH = 11
    EXP = 12
    ERF = 13
    ERFC = 14
    RSQRT = 15
    SQRT = 16
    SQUARE = 17
    ABS = 18
    CUBE = 19
    SIGMOID_GRADIENT = 20
    TANH_GRADIENT = 21
    RELU_GRADIENT = 22
    LEAKY_RELU = 23
    LEAKY_RELU_GRADIENT = 24
    CHOOSE = 25
    GREATER = 26
    GREATER_EQUAL = 27
    LESS = 28
    LESS_EQUAL = 29


_WITH_POWERS: Final = frozenset((Operation.SIGMOID, Operation.TANH, Operation.EXP, Operation.ERF, Operation.ERFC))


class Instruction(NamedTuple):
    """An operation. Operands are numbers of inputs, or of instructions, counted on from inputs and constants.

    A bias is as long as the other operand's last axis; whoever wants other shapes is told elsewhere.
    """

    operation: Operation
    operands: tuple[int, ...]
    has_bias: bool = False


class _Plan(NamedTuple):
    """How arrays of some shapes are passed over: seen with three axes, and each input's steps along these and kind."""

    shape: Shape
    rows: int  # or elements, if all are one row
    cost: int
    numbers: tuple[int, int]  # the address of the inputs' steps, and how many inputs there are
    sizes_place: int
    kept: tuple[Array, Array]  # what these addresses are of

    @property
    def sizes(self) -> list[int]:
        return self.kept[1].tolist()  # type: ignore[no-any-return]


class Chain:
    """A chain, to be run on arrays of any shapes. The last instruction's result is that of the chain."""

    def __init__(
        self,
        input_count: int,
        instructions: Sequence[Instruction],
        reusable: Sequence[int] = (),
        constants: Sequence[float] = (),
    ) -> None:
        """`reusable` are inputs that nobody else sees: the result may be written there. Constants count as inputs,
        after those that are given.
        """
        self._instructions = tuple(instructions)
        self._constants = [np.array(number, FLOAT) for number in constants]
        takes_long = any(instruction.operation in _WITH_POWERS for instruction in instructions)
        self.smallest = SMALLEST if takes_long else _SMALLEST_WITHOUT_POWERS
        """Elements; of fewer, it is not worth the call."""
        inputs = input_count + len(constants)
        truths = _truths(self._instructions)
        self._dtypes = [_BOOL if number in truths else FLOAT for number in range(inputs)]
        self._dtype = _BOOL if instructions[-1].operation >= Operation.GREATER else FLOAT
        self._reusable = tuple(at for at in reusable if self._dtypes[at] == self._dtype)
        self._code = _code(inputs, self._instructions)
        self._numbers = place_of(self._code), len(self._instructions)
        self._places = ctypes.c_void_p * inputs
        self._plans: dict[tuple[tuple[Shape, ...], int], _Plan | None] = {}

    @staticmethod
    def fits(input_count: int, instructions: Sequence[Instruction]) -> bool:
        """Whether there are not too many inputs, or results that are needed at the same time."""
        return input_count <= MOST_INPUTS and _code(input_count, tuple(instructions))[:, 1].max() < MOST_REGISTERS

    def __call__(self, *inputs: Any) -> Array | None:
        """The result; None if NumPy has to do it, or to say what is wrong: nothing has been touched then."""
        found = self._prepared(inputs, _WHOLE)
        if found is None:
            return None
        plan, arrays = found
        out = self._place(arrays, plan.shape)
        self._run(plan, arrays, out, _TRUTHS if self._dtype == _BOOL else _NUMBERS, plan.rows)
        return out

    def row_sums(self, keeps_axis: bool, *inputs: Any) -> Array | None:
        """The sums of the result along the last axis, which is kept with a size of 1, or not; None as above.

        The result itself, which has to be of numbers, is stored nowhere.
        """
        found = self._prepared(inputs, _BY_ROWS)
        if found is None:
            return None
        plan, arrays = found
        out = np.empty((*plan.shape[:-1], 1) if keeps_axis else plan.shape[:-1], FLOAT)
        self._run(plan, arrays, out, _SUMS, out.size)
        return out

    def _prepared(self, inputs: Sequence[Any], columns: int) -> tuple[_Plan, list[Array]] | None:
        """How to go over inputs, and these as the library reads them; None if it cannot. `columns` as in `_plan`."""
        if functions() is None:
            return None
        arrays = [value if type(value) is np.ndarray else np.asarray(value) for value in inputs] + self._constants
        shapes = tuple([array.shape for array in arrays])
        try:
            plan = self._plans[shapes, columns]
        except KeyError:
            plan = self._remember(shapes, columns)
        if plan is None or any(map(ne, [array.dtype for array in arrays], self._dtypes)):
            return None
        for at, array in enumerate(arrays):
            flags = array.flags
            if not flags.aligned:
                return None
            if not flags.c_contiguous:
                arrays[at] = np.ascontiguousarray(array)
        return plan, arrays

    def _run(self, plan: _Plan, arrays: list[Array], out: Array, gives: int, rows: int) -> None:
        compiled = functions()
        assert compiled is not None
        places = self._places(*map(place_of, arrays))
        work = partial(compiled.chain, places, *plan.numbers, *self._numbers, plan.sizes_place, place_of(out), gives)
        if plan.cost <= SMALL:
            work(0, rows)
        else:
            in_parts(work, rows, plan.cost)

    def _place(self, arrays: list[Array], shape: Shape) -> Array:
        for index in self._reusable:
            if arrays[index].shape == shape and arrays[index].flags.writeable:
                return arrays[index]
        return result_array(shape, self._dtype)

    def finish_numbers(self, arrays: Sequence[Array], out: Array, columns: int) -> tuple[Array, object] | None:
        """The numbers of Finish in products.h, for a product whose rows have so many columns, and what they are of.

        Among the arrays, all in C order, is `out`, the product, seen with the shape that the result has. None if the
        chain cannot go over it row by row, or takes other arrays.
        """
        arrays = [*arrays, *self._constants]
        if self._dtype != FLOAT or any(map(ne, [array.dtype for array in arrays], self._dtypes)):
            return None
        key = tuple([array.shape for array in arrays]), columns
        plan = self._plans[key] if key in self._plans else self._remember(*key)
        if plan is None or plan.shape != out.shape:
            return None
        places = self._places(*map(place_of, arrays))
        steps, count = plan.numbers
        table = [ctypes.addressof(places), steps, count, *self._numbers, *plan.sizes, place_of(out)]
        return np.array(table, np.int64), (places, plan, arrays)

    def _remember(self, shapes: tuple[Shape, ...], columns: int) -> _Plan | None:
        if len(self._plans) >= _CACHED_PLANS:
            self._plans = {}
        plan = self._plans[shapes, columns] = self._planned(shapes, columns)
        return plan

    def _planned(self, shapes: tuple[Shape, ...], columns: int) -> _Plan | None:
        found = list(shapes)
        for instruction in self._instructions:
            operands = [found[index] for index in instruction.operands]
            if instruction.has_bias and (len(operands[0]) < 2 or operands[1] != operands[0][-1:]):
                return None
            try:
                found.append(np.broadcast_shapes(*operands))
            except ValueError:
                return None
        shape = found[-1]
        if any(each != shape for each in found[len(shapes) :]) or prod(shape) < SMALLEST:
            return None
        return _plan(shapes, shape, self._dtypes, len(self._instructions), columns)


def _plan(
    shapes: tuple[Shape, ...], shape: Shape, dtypes: Sequence[np.dtype[Any]], instructions: int, columns: int
) -> _Plan | None:
    """Axes along which each input either varies or does not are seen as one; None if more than three remain.

    If `columns` is not _WHOLE, the last of them has that size, or that of the last axis, and there are rows.
    """
    if columns == _BY_ROWS:
        columns = shape[-1]
    sizes: list[int] = []
    varying: list[tuple[bool, ...]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        before = [axis - len(shape) + len(each) for each in shapes]
        pattern = tuple(at >= 0 and each[at] > 1 for at, each in zip(before, shapes, strict=True))
        begins_row = columns and prod(shape[axis:]) == columns
        if varying and varying[-1] == pattern and not begins_row:
            sizes[-1] *= size
        else:
            sizes.append(size)
            varying.append(pattern)
    if columns and (len(sizes) < 2 or sizes[-1] != columns):
        return None
    missing = _AXES - len(sizes)
    if missing < 0:
        return None
    sizes, varying = [1] * missing + sizes, [(False,) * len(shapes)] * missing + varying
    steps = np.zeros((len(shapes), _AXES + 1), np.int64)
    steps[:, _AXES] = [dtype == _BOOL for dtype in dtypes]
    for index in range(len(shapes)):
        step = 1
        for axis in reversed(range(_AXES)):
            if varying[axis][index]:
                steps[index, axis] = step
                step *= sizes[axis]
    rows = sizes[0] * sizes[1]
    kept = steps, np.array(sizes, np.int64)
    return _Plan(
        shape,
        sizes[2] if rows == 1 else rows,
        prod(shape) * (8 + 4 * instructions),
        (place_of(steps), len(shapes)),
        place_of(kept[1]),
        kept,
    )


def _truths(instructions: Sequence[Instruction]) -> frozenset[int]:
    """The numbers of operands that are truths."""
    return frozenset(each.operands[0] for each in instructions if each.operation == Operation.CHOOSE)


def _code(input_count: int, instructions: tuple[Instruction, ...]) -> npt.NDArray[np.int64]:
    """Instructions as numbers: operation, register of the result, operands."""
    last_use = {operand: at for at, instruction in enumerate(instructions) for operand in instruction.operands}
    registers: dict[int, int] = {}
    free: list[int] = []
    code = np.zeros((len(instructions), 5), np.int64)
    for at, instruction in enumerate(instructions):
        operands = [registers[item] + input_count if item in registers else item for item in instruction.operands]
        for item in set(instruction.operands):
            if item in registers and last_use[item] == at:
                free.append(registers.pop(item))
        register = min(free, default=len(registers))
        if free:
            free.remove(register)
        registers[input_count + at] = register
        code[at] = instruction.operation, register, operands[0], operands[min(1, len(operands) - 1)], operands[-1]
    return code
