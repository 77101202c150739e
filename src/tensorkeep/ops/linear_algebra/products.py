"""Matrix products, on as many threads as pay.

Threads pay for large products. Middling ones gain nothing, and where another process has the processor that a thread
was to run on, they wait for it for milliseconds (`io.blas` says why). So a product is computed

    up to 2**21 multiplications    on one thread
    up to 2**27                    on all threads, unless such products have been seen to wait lately
    beyond                         on all threads

Products of float32 that are worth the call are the compiled library's, where it is: it divides them among our threads,
and can let a chain of element-wise operations go over them meanwhile (`finished_product`). A left matrix that lies the
other way round, as in the gradients of weights, is read in that order if the right one has few columns, and turned some
rows at a time if it has many. A batch of one matrix is that matrix.
"""

from __future__ import annotations

from math import prod
from time import perf_counter
from typing import Final

import numpy as np

from tensorkeep.io.machine.blas import BLAS, ONE_THREAD, WAKES_THREADS, BlasThreads, all_threads, one_thread
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native import layers
from tensorkeep.native.finishing import Finish
from tensorkeep.native.layers import FLOAT
from tensorkeep.ops.shared.kernel_types import Array

SMALL: Final = 1 << 19  # multiplications, as are those below
_MIDDLING: Final = 1 << 21
_LARGE: Final = 1 << 27
_WORTH_A_CALL: Final = 1 << 21
_FEWEST_ROWS: Final = 8
_FEW_ROWS: Final = 168  # up to these, what they read stays in the cache while all columns pass
_FEWEST_TURNED_COLUMNS: Final = 2  # by a vector, the linear algebra library multiplies in a third of the time
_WORTH_A_COPY: Final = 256  # columns, for which each element of the left matrix is multiplied so often
_SHORTEST_PAUSE: Final = 0.1  # seconds
_LONGEST_PAUSE: Final = 2.0
_WAIT: Final = 1e-3  # seconds; what takes so much longer than it has ever taken has been waiting


class Products:
    """Computes products, and remembers whether several threads have paid of late."""

    def __init__(self, threads: BlasThreads) -> None:
        self._can_be_set = threads.can_be_set
        self._one, self._all = one_thread(threads), all_threads(threads)
        self._fastest = 2e-10  # seconds for a multiplication; any machine of ours can do as well
        self._pause = _SHORTEST_PAUSE
        self._resume = 0.0

    def product(self, left: Array, right: Array, work: int, out: Array | None = None) -> Array:
        """`left @ right`, each of whose matrices takes so many multiplications."""
        if work < WAKES_THREADS:
            return np.matmul(left, right, out=out)
        if work < _MIDDLING:
            with self._one:
                return np.matmul(left, right, out=out)
        if work > _LARGE:
            with self._all:
                return np.matmul(left, right, out=out)
        return self._watched(left, right, work, out)

    def _watched(self, left: Array, right: Array, work: int, out: Array | None) -> Array:
        """The product, on all threads, or on one for some time after waiting has been seen."""
        start = perf_counter()
        if start < self._resume and self._can_be_set:
            with self._one:
                return np.matmul(left, right, out=out)
        with self._all:
            product = np.matmul(left, right, out=out)
        end = perf_counter()
        self._note(end, end - start, work)
        return product

    def _note(self, now: float, elapsed: float, work: int) -> None:
        each = elapsed / work
        if each < self._fastest:
            self._fastest = each
        if elapsed > _WAIT + 4 * self._fastest * work:
            self._resume = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        else:
            self._pause = max(0.999 * self._pause, _SHORTEST_PAUSE)


_PRODUCTS: Final = Products(BLAS)


def multiply(left: Array, right: Array, out: Array | None = None) -> Array:
    """`left @ right`, of numbers with a fraction. Each has two dimensions or more, and NumPy's rules apply."""
    work = left.shape[-2] * left.shape[-1] * right.shape[-1]
    if work >= _WORTH_A_CALL and left.dtype == right.dtype == FLOAT and _is_one_matrix(left, right):
        found = _by_library(left, _matrix_of(right), out)
        if found is not None:
            return found
    result: Array = _PRODUCTS.product(left, right, work, out)
    return result


def _is_one_matrix(left: Array, right: Array) -> bool:
    """Whether the right factor is one matrix, whatever the batches of the left one, whose shape the product has."""
    return right.ndim == 2 or (right.ndim <= left.ndim and prod(right.shape[:-2]) == 1)


def _matrix_of(batch: Array) -> Array:
    """The matrix of a batch of one."""
    return batch if batch.ndim == 2 else batch[(0,) * (batch.ndim - 2)]


def _by_library(left: Array, right: Array, out: Array | None) -> Array | None:
    """The product with a matrix by the compiled library; None if NumPy has to compute it, or to say what is wrong."""
    compiled = layers.functions()
    (depth, columns), rows = right.shape, left.size // max(1, left.shape[-1])
    if compiled is None or rows < _FEWEST_ROWS or left.shape[-1] != depth:
        return None
    if not left.flags.aligned or not right.flags.aligned or (out is not None and not out.flags.c_contiguous):
        return None
    is_turned = _is_turned(left)
    if not is_turned and not left.flags.c_contiguous:
        if columns < _WORTH_A_COPY:
            return None
        left = np.ascontiguousarray(left)
    result = result_array((*left.shape[:-1], columns), FLOAT) if out is None else out
    if is_turned and columns <= layers.MOST_TURNED_COLUMNS:
        if columns < _FEWEST_TURNED_COLUMNS:
            return None
        layers.multiply_turned(compiled, _matrix_of(left).T, np.ascontiguousarray(right), result)
    elif rows <= _FEW_ROWS and not is_turned:
        layers.multiply_few_rows(compiled, left.reshape(rows, depth), right, result)
    else:
        layers.multiply(compiled, left, layers.packed_matrix(compiled, right), result)
    return result


def _is_turned(left: Array) -> bool:
    """Whether the left factor is one matrix whose columns lie one behind the other, and its rows do not."""
    return prod(left.shape[:-2]) == 1 and not left.flags.c_contiguous and _matrix_of(left).T.flags.c_contiguous


def finished_product(left: Array, right: Array, finish: Finish) -> Array | None:
    """What a chain makes of the product with a matrix of float32; None if that has to be done step by step."""
    compiled = layers.functions()
    if compiled is None or left.dtype != FLOAT or right.dtype != FLOAT or left.ndim < 2 or right.ndim < 2:
        return None
    if not _is_one_matrix(left, right):
        return None
    right = _matrix_of(right)
    depth, columns = right.shape
    if left.shape[-1] != depth or left.size <= _FEW_ROWS * depth or not columns or not right.flags.aligned:
        return None
    product = result_array((*left.shape[:-1], columns), FLOAT)
    bound = finish.bound(product, columns)
    if bound is None:
        return None
    packed = layers.packed_matrix(compiled, right)
    whole = left if _is_turned(left) else np.ascontiguousarray(left)
    layers.multiply(compiled, whole, packed, product, bound.address)
    return bound.result


def multiply_in_parts(left: Array, right: Array, out: Array, work: int, fewest_rows: int) -> None:
    """Computes `left @ right`, so many rows at a time that each product has no more than so many multiplications.

    If these would be too few rows for a part, the product is computed at once.
    """
    rows, row = left.shape[-2], right.shape[-2] * right.shape[-1]
    part = work // max(1, row)
    if not fewest_rows <= part < rows:
        multiply(left, right, out)
        return
    split = rows - rows % part
    each = right if right.ndim == 2 else right[:, np.newaxis]
    with ONE_THREAD:
        np.matmul(_in_parts(left[..., :split, :], part), each, out=_in_parts(out[..., :split, :], part))
        if split < rows:
            np.matmul(left[..., split:, :], right, out=out[..., split:, :])


def _in_parts(matrix: Array, rows: int) -> Array:
    """The same memory as matrices of so many rows."""
    return matrix.reshape(*matrix.shape[:-2], -1, rows, matrix.shape[-1])
