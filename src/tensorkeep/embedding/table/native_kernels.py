"""The work on keys and rows, done by the compiled library: large batches in several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import BUCKETS
from tensorkeep.embedding.table.chunks import Chunks
from tensorkeep.embedding.table.index import KeyIndex, Keys, RowNumbers
from tensorkeep.embedding.table.kernels import Kernels, NumPyKernels
from tensorkeep.embedding.table.native_index import NativeIndex, in_parts, parts_of
from tensorkeep.embedding.table.reused_memory import new_rows
from tensorkeep.embedding.table.update_rules import Rule
from tensorkeep.errors import FailedPreconditionError, ResourceExhaustedError
from tensorkeep.io.machine.parallel import default_threads, in_parallel
from tensorkeep.native.embedding import STEP_RULES, Functions, functions, place
from tensorkeep.native.library import address, native

Integers: TypeAlias = npt.NDArray[np.int64]

_NUMPY: Final = NumPyKernels()
_SORTED_AT_ONCE: Final = 1 << 16  # keys that are worth a thread that sorts


def kernels_for(is_native: bool | None, threads: int | None = None) -> Kernels:
    """Who does the work: the compiled library if it is there, unless something else is asked for."""
    compiled = None if is_native is False else functions()
    if compiled is None:
        if is_native:
            raise FailedPreconditionError(f"the native library is asked for, and is {native().state}")
        return _NUMPY
    return NativeKernels(compiled, default_threads() if threads is None else threads)


class NativeKernels:
    """The work done by the compiled library; by NumPy what that cannot do."""

    def __init__(self, compiled: Functions, threads: int) -> None:
        self._compiled = compiled
        self._threads = max(threads, 1)

    def new_index(self) -> KeyIndex:
        return NativeIndex(self._compiled, self._threads)

    def read(self, index: KeyIndex, keys: Keys, rows: Chunks, absent: Array) -> Array:
        if isinstance(index, NativeIndex):
            return index.read(keys, rows, absent)
        return _NUMPY.read(index, keys, rows, absent)

    def gather(self, rows: Chunks, numbers: RowNumbers) -> Array:
        values = new_rows((len(numbers), rows.dim), rows.dtype)
        out = _bytes_of(values)

        def work(part: slice) -> None:
            mine = numbers[part]
            chunks = (address(rows.addresses), rows.bits, rows.row_bytes)
            self._compiled.gather(*chunks, place(mine), len(mine), address(out[part]))

        in_parts(work, len(numbers), self._threads)
        return values

    def scatter(self, rows: Chunks, numbers: RowNumbers, values: Array) -> None:
        given = _bytes_of(np.ascontiguousarray(values))
        stride = 0 if len(given) == 1 else rows.row_bytes
        chunks = (address(rows.addresses), rows.bits, rows.row_bytes)
        self._compiled.scatter(*chunks, place(numbers), len(numbers), place(given), stride)

    def scatter_defaults(self, rows: Chunks, numbers: RowNumbers, keys: Keys, matrix: Array) -> None:
        given = _bytes_of(matrix)

        def work(part: slice) -> None:
            mine, of_keys = numbers[part], keys[part]
            self._compiled.scatter_defaults(
                address(rows.addresses),
                rows.bits,
                rows.row_bytes,
                place(mine),
                place(of_keys),
                len(mine),
                place(given),
                len(matrix),
            )

        in_parts(work, len(numbers), self._threads)

    def groups_of(self, values: Integers, limit: int | None = None) -> tuple[Integers, Integers] | None:
        if limit is not None and not self._compiled.has_repeated(place(values), len(values), limit):
            return None
        first, group = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
        count = self._compiled.group(place(values), len(values), address(first), address(group))
        if count < 0:
            raise ResourceExhaustedError(f"no memory is left to bring {len(values)} keys together")
        return None if count == len(values) else (first[:count], group)

    def summed(self, values: Array, first: Integers, group: Integers) -> Array:
        function = self._compiled.sum.get(values.dtype)
        if function is None:
            return _NUMPY.summed(values, first, group)
        count, dim = values.shape
        sums = np.empty((len(first), dim), values.dtype)
        function(place(values), count, dim, place(first), place(group), address(sums))
        return sums

    def step(
        self, rule: Rule, columns: Sequence[Chunks], numbers: RowNumbers, gradient: Array, values: Sequence[Any]
    ) -> None:
        function = self._compiled.step.get(gradient.dtype)
        if function is None:
            _NUMPY.step(rule, columns, numbers, gradient, values)
            return
        work = _Step(function, rule, columns, numbers, np.ascontiguousarray(gradient), values)
        if not work(slice(0, 0)):
            _NUMPY.step(rule, columns, numbers, gradient, values)
            return
        in_parts(work, len(numbers), self._threads)

    def in_order(self, keys: Keys, numbers: RowNumbers) -> tuple[Keys, RowNumbers]:
        threads = self._threads if len(keys) > _SORTED_AT_ONCE else 1
        parts = parts_of(len(keys), threads, least=1)
        counts = np.zeros((len(parts), BUCKETS), np.int64)
        items = np.empty((len(keys), 2), np.int64)

        def count(part: int) -> None:
            mine = keys[parts[part]]
            self._compiled.count_buckets(place(mine), len(mine), address(counts[part]))

        in_parallel(count, range(len(parts)), threads)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))])
        starts = offsets[:-1] + np.cumsum(counts, axis=0) - counts

        def distribute(part: int) -> None:
            mine, rows = keys[parts[part]], numbers[parts[part]]
            self._compiled.place_by_bucket(place(mine), place(rows), len(mine), address(starts[part]), address(items))

        in_parallel(distribute, range(len(parts)), threads)
        return self._sort_buckets(items, offsets, threads)

    def _sort_buckets(self, items: Integers, offsets: Integers, threads: int) -> tuple[Keys, RowNumbers]:
        """Keys and rows that stand by bucket, sorted within each."""
        keys, numbers = np.empty(len(items), np.int64), np.empty(len(items), np.int64)

        def work(part: slice) -> None:
            places = (address(items), address(offsets), part.start, part.stop, address(keys), address(numbers))
            if not self._compiled.sort_buckets(*places):
                raise ResourceExhaustedError(f"no memory is left to sort {len(keys)} keys")

        in_parts(work, BUCKETS, threads, least=1)
        return keys, numbers


class _Step:
    """An optimizer's step on part of the rows, which tells whether it was done."""

    def __init__(
        self,
        function: Callable[..., int],
        rule: Rule,
        columns: Sequence[Chunks],
        numbers: RowNumbers,
        gradient: Array,
        values: Sequence[Any],
    ) -> None:
        self._function = function
        self._rule = STEP_RULES.index(rule.name)
        places = [(rows.addresses.ctypes.data, rows.bits, rows.dim) for rows in columns]
        self._places = np.array(places + [(0, 0, 0)] * (3 - len(columns)), np.int64)
        self._numbers = numbers
        self._gradient = gradient
        self._values = np.array([float(value) for value in values])

    def __call__(self, part: slice) -> int:
        mine, gradient = self._numbers[part], self._gradient[part]
        return self._function(
            self._rule,
            place(mine),
            place(gradient),
            len(mine),
            address(self._places),
            address(self._values),
        )


def _bytes_of(values: Array) -> npt.NDArray[np.uint8]:
    """A matrix as its bytes, a row for each of its rows. Types that only NumPy knows have no other way out."""
    return values.view(np.uint8) if values.shape[-1] else np.zeros((len(values), 0), np.uint8)
