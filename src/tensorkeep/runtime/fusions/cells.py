"""Recurrent cells in small batches: products with the same matrices again and again, and what lies between them.

    concat → product with W → bias → split → sigmoid, tanh, … → concat → product with W → …        twenty steps of that

Each operation by itself takes microseconds, and its call as many; and each product puts the same matrix in order again.
So operations on matrices that have a row for each sequence, and of which no row depends on another, are computed by one
call of the library, where there are products with the same matrix among them: forwards, and backwards as gradients.
The rows are divided among threads for all of them together.

They are told before anything is named, and put one behind the other: what does not need them comes before, what needs
them behind. Nothing is moved past what may change the memory of a variable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native import layers
from tensorkeep.runtime.fusions.fusing import OF_EQUAL_SHAPES, changes_state, element_of
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Item, Loop, PartCall, Step

MOST_ROWS: Final = 168
"""Of more, products fill the processors by themselves."""
_FEWEST_PRODUCTS: Final = 3  # with the same matrix, which is put in order for all of them
_FEWEST_OPERATIONS: Final = 8
_MOST_CELLS: Final = 16  # of a stretch of steps; each takes a pass over it
_WIDEST: Final = 1 << 14  # columns
_PASSES_ON: Final = frozenset(("Identity", "StopGradient", "PreventGradient", "Enter"))
_KEEPS_ARRAYS: Final = ("Stack", "TensorArray", "RandomUniform", "RandomStandardNormal", "TruncatedNormal")

Key = tuple[Tensor, bool]  # a matrix, and whether it is transposed


@dataclass(frozen=True, eq=False)
class Cells:
    """Operations one behind the other, in the order in which they stand."""

    ops: tuple[Operation, ...]
    keeps_matrices: bool
    """Whether they run in each round of a loop in which the matrices stay what they are."""


def arrange_cells(block: Block, fed: frozenset[Tensor]) -> list[tuple[Cells, Block]]:
    """Finds what can be computed together in a block and in those inside it, and moves it together; none without the
    library. What is fed is not computed.
    """
    if layers.functions() is None:
        return []
    return list(_cells_in(block, fed, frozenset(), True))


def _cells_in(
    block: Block, fed: frozenset[Tensor], loop: frozenset[Operation], is_lasting: bool
) -> Iterator[tuple[Cells, Block]]:
    """`loop` are the operations of the outermost loop around the block; `is_lasting` says that none changes memory."""
    for begin, end in _stretches(block.items):
        ops = [item.op for item in block.items[begin:end] if isinstance(item, Step)]
        found, order = _Arranger(ops, fed, loop if is_lasting else frozenset()).cells_and_order()
        if found:
            block.items[begin:end] = [Step(op) for op in order]
            yield from ((cells, block) for cells in found)
    for item in block.items:
        if isinstance(item, Choice):
            yield from _cells_in(item.then, fed, loop, is_lasting)
            yield from _cells_in(item.otherwise, fed, loop, is_lasting)
        elif isinstance(item, Loop):
            inside = frozenset(_of_loop(item))
            lasts = is_lasting and not any(map(may_change_memory, inside))
            yield from _cells_in(item.body, fed, loop or inside, lasts)


def operations_of(block: Block) -> Iterator[Operation]:
    """The operations of a block and of those inside it."""
    for item in block.items:
        if isinstance(item, Step):
            yield item.op
        elif isinstance(item, Arm):
            yield item.merge
        elif isinstance(item, PartCall):
            yield from item.part.ops
        elif isinstance(item, Choice):
            yield from operations_of(item.then)
            yield from operations_of(item.otherwise)
        else:
            yield from _of_loop(item)


def _of_loop(loop: Loop) -> Iterator[Operation]:
    """The operations of a loop, and those that hold its variables."""
    yield from (variable.merge for variable in loop.variables)
    for part in (loop.header, loop.body, loop.after):
        yield from operations_of(part)


def _stretches(items: Sequence[Item]) -> Iterator[tuple[int, int]]:
    """Where steps stand that may change places."""
    begin = 0
    for at, item in enumerate(items):
        if not isinstance(item, Step) or may_change_memory(item.op):
            if at - begin >= _FEWEST_OPERATIONS:
                yield begin, at
            begin = at + 1
    if len(items) - begin >= _FEWEST_OPERATIONS:
        yield begin, len(items)


def may_change_memory(op: Operation) -> bool:
    """Whether an operation may write to an array that others see."""
    return changes_state(op) and not op.type.startswith(_KEEPS_ARRAYS)


def _source(tensor: Tensor) -> Tensor:
    while tensor.op.type in _PASSES_ON and not tensor.op.inputs[0].dtype.is_ref:
        tensor = tensor.op.inputs[0]
    return tensor


class _Arranger:
    """Finds cells in a stretch of steps."""

    def __init__(self, ops: Sequence[Operation], fed: frozenset[Tensor], loop: frozenset[Operation]) -> None:
        self._ops = ops
        self._fed = fed
        self._loop = loop
        self._factors = {op: key for op in ops if (key := _factor(op)) is not None}
        self._left = Counter(self._factors.values())
        self._rows: int | None = None
        self._cell: set[Operation] = set()

    def cells_and_order(self) -> tuple[list[Cells], list[Operation]]:
        """What is found, and all steps in an order in which each of these stands together."""
        left, done, found = list(self._ops), list[Operation](), list[Cells]()
        for _ in range(_MOST_CELLS):
            self._cell = set()
            first = next((op for op in left if self._is_product(op)), None)
            if first is None:
                break
            before, together, left = self._divide(left, first)
            products = Counter(self._factors[op] for op in together if op in self._factors)
            if len(together) >= _FEWEST_OPERATIONS and self._pays(products):
                found.append(Cells(tuple(together), bool(self._loop)))
            self._left.subtract(products)
            done += [*before, *together]
        return found, done + left

    def _pays(self, products: Counter[Key]) -> bool:
        return bool(self._loop) or max(products.values(), default=0) >= _FEWEST_PRODUCTS

    def _is_product(self, op: Operation) -> bool:
        """Whether an operation is a product with a matrix that is used often enough."""
        key = self._factors.get(op)
        if key is None or op.outputs[0] in self._fed:
            return False
        if self._loop:
            return key[0].op not in self._loop
        return key[0].op not in self._cell and self._left[key] >= _FEWEST_PRODUCTS

    def _divide(
        self, ops: list[Operation], first: Operation
    ) -> tuple[list[Operation], list[Operation], list[Operation]]:
        """What does not need the cell that has the product `first`, the cell, and what needs it."""
        dims = first.outputs[0].static_shape.dims
        assert dims is not None
        self._rows = dims[0]
        before, together, after = list[Operation](), list[Operation](), list[Operation]()
        cell, behind = self._cell, set[Operation]()
        last_change: Operation | None = None  # operations that change state keep their order
        for op in ops:
            needs = [*(tensor.op for tensor in op.inputs), *op.control_inputs]
            if changes_state(op):
                needs += [last_change] if last_change is not None else []
                last_change = op
            if any(need in behind for need in needs):
                behind.add(op)
                after.append(op)
            elif self._belongs(op, cell):
                cell.add(op)
                together.append(op)
            elif any(need in cell for need in needs):
                behind.add(op)
                after.append(op)
            else:
                before.append(op)
        return before, together, after

    # ------------------------------------------------------------------------------------- what can be part of it

    def _belongs(self, op: Operation, cell: set[Operation]) -> bool:
        if op.type in op.graph.functions or changes_state(op) or any(tensor in self._fed for tensor in op.outputs):
            return False
        if op.type in _PASSES_ON:
            return op.type != "Enter" and op.inputs[0].op in cell
        if op.type == "MatMul":
            return self._is_product(op) and self._is_matrix(op.inputs[0]) and self._is_matrix(op.outputs[0])
        if any(tensor.dtype is not FLOAT32 for tensor in op.outputs) or not all(map(self._is_matrix, op.outputs)):
            return False
        if op.type in ("Split", "SplitV", "ConcatV2", "Slice"):
            return self._moves_columns(op)
        if op.type in OF_EQUAL_SHAPES:
            return all(self._is_like(tensor, op.outputs[0]) for tensor in op.inputs)
        if element_of(op) is None or op.type == "Pow" or (op.type == "BiasAdd" and op.attr("data_format") != b"NHWC"):
            return False
        return all(self._is_like(tensor, op.outputs[0]) or is_row(tensor) for tensor in op.inputs)

    def _moves_columns(self, op: Operation) -> bool:
        if op.type == "Slice":
            return self._is_matrix(op.inputs[0]) and slice_columns(op) is not None
        if op.type == "ConcatV2":
            parts, axis = op.inputs[:-1], op.inputs[-1]
        elif op.type == "Split":
            parts, axis = op.inputs[1:], op.inputs[0]
        else:
            parts, axis = op.inputs[:1], op.inputs[2]
        found = constant_value(axis)
        return found is not None and int(found) in (1, -1) and all(map(self._is_matrix, parts))

    def _is_matrix(self, tensor: Tensor) -> bool:
        """Whether a tensor has a row for each sequence, and a known number of columns."""
        dims = tensor.static_shape.dims
        if tensor.dtype is not FLOAT32 or dims is None or len(dims) != 2 or dims[0] != self._rows:
            return False
        return dims[1] is not None and 0 < dims[1] <= _WIDEST

    def _is_like(self, tensor: Tensor, result: Tensor) -> bool:
        """Whether a tensor has the shape of a result, or may have, where that is not known."""
        if tensor.dtype is not FLOAT32:
            return False
        dims, wanted = tensor.static_shape.dims, result.static_shape.dims
        return dims is None or dims == wanted


def is_row(tensor: Tensor) -> bool:
    """Whether all rows see the same of a tensor: a number, or a vector."""
    dims = tensor.static_shape.dims
    if tensor.dtype is not FLOAT32 or dims is None:
        return False
    return len(dims) < 2 or (len(dims) == 2 and dims[0] == 1)


def slice_columns(op: Operation) -> tuple[int, int] | None:
    """The first of the columns that a Slice takes of all rows, and how many; None if it takes anything else."""
    begin, size = constant_value(op.inputs[1]), constant_value(op.inputs[2])
    dims, whole = op.outputs[0].static_shape.dims, op.inputs[0].static_shape.dims
    if begin is None or size is None or dims is None or whole is None or len(begin) != 2 or begin[0] != 0:
        return None
    if size[0] not in (-1, whole[0]) or dims[1] is None or whole[1] is None or begin[1] + dims[1] > whole[1]:
        return None
    return int(begin[1]), int(dims[1])


def _factor(op: Operation) -> Key | None:
    """The matrix that an operation multiplies rows with."""
    if op.type != "MatMul" or op.attr("transpose_a") or op.type in op.graph.functions:
        return None
    if any(tensor.dtype is not FLOAT32 for tensor in op.inputs):
        return None
    left, right, out = (tensor.static_shape.dims for tensor in (*op.inputs, *op.outputs))
    if left is None or out is None or right is None or len(left) != 2 or len(right) != 2 or None in right:
        return None
    if left[1] is None or out[1] is None or not 0 < max(left[1], out[1]) <= _WIDEST or not out[1] * left[1]:
        return None
    if out[0] is not None and not 0 < out[0] <= MOST_ROWS:
        return None
    return _source(op.inputs[1]), bool(op.attr("transpose_b"))
