"""Sums of products, as gradients of matrices that are used many times are: one product of what stands below each other.

    AddN([MatMul(a, b, transpose_a=True), …])        the same as the product of all a, and of all b, one below the other
    total = total + MatMul(a, b, transpose_a=True)   in each round of a loop: the same, of those of many rounds

Others may be among what is added. Nothing of the size of the sum is made for each product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.fusions.cells import may_change_memory, operations_of
from tensorkeep.runtime.fusions.finishing import nothing_changes
from tensorkeep.runtime.plans.blocks import Block, Loop
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

_FEWEST: Final = 3  # products
_DEEPEST: Final = 1 << 10  # rows of factors that wait to be multiplied
_FLOAT: Final = np.dtype(np.float32)


@dataclass(frozen=True, eq=False)
class Sum:
    """Operations in their order, the sum last; the factors of its products, and what else is added."""

    ops: tuple[Operation, ...]
    lefts: tuple[Tensor, ...]
    rights: tuple[Tensor, ...]
    others: tuple[Tensor, ...]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (*self.lefts, *self.rights, *self.others)

    def applied(self, multiply: Callable[..., Any]) -> Callable[..., Any]:
        """What computes it of the inputs by the kernel of MatMul; None if the operations have to."""
        count = len(self.lefts)

        def summed(*values: Any) -> Any:
            lefts, rights, others = values[:count], values[count : 2 * count], values[2 * count :]
            if not all(type(value) is np.ndarray and value.dtype == _FLOAT for value in values):
                return None
            shape = lefts[0].shape[1:] + rights[0].shape[1:]
            if len(shape) != 2 or not all(map(_fit, lefts, rights)):
                return None
            if any(left.shape[1:] + right.shape[1:] != shape for left, right in zip(lefts, rights, strict=True)):
                return None
            if any(other.shape != shape for other in others):
                return None
            total = multiply(np.concatenate(lefts), np.concatenate(rights), transpose_a=True, transpose_b=False)
            for other in others:
                np.add(total, other, out=total)
            return total

        return summed


def _fit(left: Any, right: Any) -> bool:
    return bool(left.ndim == right.ndim == 2 and len(left) == len(right))


# ----------------------------------------------------------------------------------------------------------- In loops


class Pending:
    """A sum to which products are yet to be added."""

    __slots__ = ("_depth", "_lefts", "_multiply", "_rights", "total")

    def __init__(self, total: Array, multiply: Callable[..., Any]) -> None:
        self.total = total
        self._multiply = multiply
        self._lefts: list[Any] = []
        self._rights: list[Any] = []
        self._depth = 0

    def add(self, left: Array, right: Array) -> None:
        self._lefts.append(left)
        self._rights.append(right)
        self._depth += len(left)
        if self._depth >= _DEEPEST:
            self.finish()

    def finish(self) -> Array:
        """The sum of all that has been added so far."""
        if self._lefts:
            lefts, rights = np.concatenate(self._lefts), np.concatenate(self._rights)
            product = self._multiply(lefts, rights, transpose_a=True, transpose_b=False)
            self.total = np.add(product, self.total, out=product)
            self._lefts, self._rights, self._depth = [], [], 0
        return self.total


def finish_sum(total: Any) -> Any:
    """What a loop has added up, as an array. Compiled functions call it."""
    return total.finish() if type(total) is Pending else total


@dataclass(frozen=True, eq=False)
class LoopSum:
    """What a round of a loop adds to a variable of it: the product, and the sum."""

    ops: tuple[Operation, Operation]
    variable: Tensor

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return (self.variable, *self.ops[0].inputs)

    def applied(self, multiply: Callable[..., Any]) -> Callable[..., Any]:
        """What adds to the sum, by the kernel of MatMul; None if the operations have to."""

        def add_product(total: Any, left: Any, right: Any) -> Pending | None:
            pending = total if type(total) is Pending else None
            before = total if pending is None else pending.total
            for value in (before, left, right):
                if type(value) is not np.ndarray or value.dtype != _FLOAT or value.ndim != 2:
                    return None
            rows, columns = before.shape
            if left.shape[1] != rows or right.shape[1] != columns or len(left) != len(right) or not len(left):
                return None
            if len(left) * (rows + columns) > rows * columns:
                return None
            found = Pending(total, multiply) if pending is None else pending
            found.add(left, right)
            return found

        return add_product


def find_loop_sums(loop: Loop, names: Names, taken: frozenset[Operation]) -> list[tuple[LoopSum, int]]:
    """Those of the body of a loop, with the number of each one's item; none if the loop may change memory."""
    inside = [op for part in (loop.header, loop.body) for op in operations_of(part)]
    if any(may_change_memory(op) for op in inside):
        return []
    makers = Makers(loop.body, names)
    taken_here = (tensor for op in inside if op not in names.silent for tensor in op.inputs)
    uses = Counter(names.values.get(tensor) for tensor in taken_here)  # what never runs has no name
    uses.update(names.values[variable.following] for variable in loop.variables)
    uses.update((names.values[loop.condition],))
    found = []
    for variable in loop.variables:
        total = variable.merge.outputs[0]
        if total.dtype is not FLOAT32 or variable.condition or uses[names.values[total]] != 1:
            continue
        each = _loop_sum(total, variable.following, makers, names, taken)
        if each is not None:
            found.append((each, makers.places[each.ops[1]]))
    return found


def _loop_sum(
    total: Tensor, following: Tensor, makers: Makers, names: Names, taken: frozenset[Operation]
) -> LoopSum | None:
    root = makers.sole_maker(following)
    if root is None or root.type not in ("Add", "AddV2") or root in taken:
        return None
    for one, other in (root.inputs, root.inputs[::-1]):
        product = makers.sole(other, "MatMul")
        if names.values[one] != names.values[total] or product is None or product in taken:
            continue
        if product.attr("transpose_a") and not product.attr("transpose_b"):
            is_plain = all(tensor.dtype is FLOAT32 for tensor in product.inputs)
            if is_plain and not any(names.values[tensor] in names.deferred for tensor in product.inputs):
                return LoopSum((product, root), total)
    return None


# ---------------------------------------------------------------------------------------------------- Of one operation


def find_sums(block: Block, names: Names, taken: frozenset[Operation]) -> list[tuple[Sum, int]]:
    """Those of a block, and not of blocks inside it, with the number of each one's item; of operations not `taken`."""
    makers = Makers(block, names)
    found = (_sum(op, makers, names, taken) for op in makers.all("AddN") if op not in taken)
    sums = [(each, makers.places[each.ops[-1]]) for each in found if each is not None]
    return [(each, at) for each, at in sums if nothing_changes(block, min(makers.places[op] for op in each.ops), at)]


def _sum(root: Operation, makers: Makers, names: Names, taken: frozenset[Operation]) -> Sum | None:
    if root.outputs[0].dtype is not FLOAT32:
        return None
    products: list[Operation] = []
    others: list[Tensor] = []
    for tensor in root.inputs:
        product = makers.sole(tensor, "MatMul")
        if product is None or product in taken or not _is_small(product):
            others.append(tensor)
        else:
            products.append(product)
    if len(products) < _FEWEST:
        return None
    inputs = [tensor for product in products for tensor in product.inputs]
    if any(tensor.dtype is not FLOAT32 or names.values[tensor] in names.deferred for tensor in (*inputs, *others)):
        return None
    products.sort(key=makers.places.__getitem__)
    lefts, rights = (tuple(product.inputs[at] for product in products) for at in range(2))
    return Sum((*products, root), lefts, rights, tuple(others))


def _is_small(product: Operation) -> bool:
    """Whether the factors of a product, which have to be kept until the sum is made, are smaller than the product."""
    if not product.attr("transpose_a") or product.attr("transpose_b"):
        return False
    left, right = (tensor.static_shape.dims for tensor in product.inputs)
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return False
    depth, (rows, columns) = left[0] if left[0] is not None else right[0], (left[1], right[1])
    if depth is None or rows is None or columns is None:
        return False
    return bool(depth * (rows + columns) <= rows * columns)
