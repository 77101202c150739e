"""The hash tables of a session: what is behind the handles of tables, of their variables, and of who lets keys in.

A table (`HashTableOp`) numbers keys; a variable (`TensibleVariableOp`) has rows by these numbers, and so has a slot.
Each has an initializer, which makes it where it is not there yet. One that is there keeps its keys and rows, however
often it is initialized, as in DeepRec: `HashTableInitializeOp` ignores that there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.slices.tensor_slice import HashSlice
from tensorkeep.dtypes import DType
from tensorkeep.embedding.hash_table.admission import AdmitFrequent
from tensorkeep.embedding.hash_table.files import SavedFilter, SavedHashTable, TensorNames
from tensorkeep.embedding.hash_table.table import NOT_ADMITTED, HashTable, KeyAdmission, SegmentedRows
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.ops.shared.kernel_types import Array, Handle, Value
from tensorkeep.shapes import Shape

Ids: TypeAlias = npt.NDArray[np.int64]
Kind = TypeVar("Kind")


class HashTableResource:
    """A table, once it was initialized."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_initialized = False
        self._table: HashTable | None = None

    def initialize(self, children: Sequence[str], is_initialized: bool) -> None:
        """Makes the table, unless there is one. Before a restore it does not count as initialized."""
        if self._table is None:
            self._table = HashTable(children)
        self.is_initialized = is_initialized

    @property
    def table(self) -> HashTable:
        if self._table is None:
            raise FailedPreconditionError(
                f'HashTable is not initialized: run the initializer of "{self.name}" '
                "(tf.global_variables_initializer()) or restore it from a checkpoint first"
            )
        return self._table

    def saved_in_slices(self, name: str, part: HashSlice, resources: Sequence[Any]) -> SavedHashTable:
        """What a save writes of the table and of its variables, under names: of keys and rows, or of children."""
        variables = [variable_of(resource) for resource in resources[1:]]
        if not self.is_initialized:
            raise FailedPreconditionError(
                f'hash table "{self.name}" has neither been initialized nor restored, so there is nothing to save: run '
                "its initializer (tf.global_variables_initializer()) or restore it first"
            )
        names = [TensorNames.parse(one) for one in name.split("|")]
        return SavedHashTable(self.table, [variable.rows for variable in variables], names, part)


class TensibleResource:
    """Rows of a table, once they were initialized."""

    def __init__(self, name: str, dtype: DType, shape: Shape) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        """Of a segment: how many rows are made at a time, and the shape of a row."""
        self.is_initialized = False
        self.owner: HashTableResource | None = None
        self._rows: SegmentedRows | None = None

    def initialize(self, owner: HashTableResource, make_segment: Callable[[], Array], is_initialized: bool) -> None:
        """Makes the rows, unless there are some, and says what makes new ones from now on."""
        table = owner.table
        if self._rows is None:
            self._rows = SegmentedRows(self.shape.as_tuple(), self.dtype.array_dtype, make_segment)
            table.add_column(self._rows)
            self.owner = owner
        else:
            self._rows.make_segment = make_segment
        self.is_initialized = is_initialized

    @property
    def rows(self) -> SegmentedRows:
        if self._rows is None:
            raise FailedPreconditionError(
                f'TensibleVariable is not initialized: run the initializer of "{self.name}" '
                "(tf.global_variables_initializer()) or restore it from a checkpoint first"
            )
        return self._rows

    @property
    def table(self) -> HashTable:
        """The table that the rows belong to."""
        assert self.rows is not None
        assert self.owner is not None
        return self.owner.table

    def read(self, ids: Ids, default: Value) -> Array:
        """The rows of ids, in their shape; of keys that were not let in rows of the default."""
        flat, rows = ids.reshape(-1), self.rows
        values = np.full((len(flat), rows.row_size), default, rows.dtype)
        is_known = flat != NOT_ADMITTED
        with self.table.lock.reading:
            self._check(flat[is_known])
            values[is_known] = rows.read(flat[is_known])
        return values.reshape(*ids.shape, *rows.row_shape)

    def _check(self, ids: Ids) -> None:
        if len(ids) and (ids.min() < 0 or ids.max() >= self.rows.limit):
            wrong = ids[(ids < 0) | (ids >= self.rows.limit)][0]
            raise InvalidArgumentError(
                f'Id Out of range {wrong}: "{self.name}" has rows for ids below {self.rows.limit}; ids are those that '
                "a lookup of its table gave"
            )


@contextmanager
def rows_to_change(variables: Sequence[TensibleResource], ids: Ids) -> Iterator[list[SegmentedRows]]:
    """The rows of a variable and of its slots, which nobody else may use meanwhile. Ids have been checked."""
    table = variables[0].table
    for variable in variables[1:]:
        if variable.table is not table:
            raise InvalidArgumentError(
                f'"{variable.name}" is no slot of "{variables[0].name}": their tables are others'
            )
    with table.lock.writing:
        for variable in variables:
            variable._check(ids)
        yield [variable.rows for variable in variables]


class AdmissionResource:
    """Who lets keys into tables; a Bloom filter once it was initialized."""

    def __init__(self, name: str, admission: KeyAdmission | None = None) -> None:
        self.name = name
        self.is_initialized = admission is not None
        self._admission = admission

    def initialize(self, make: Callable[[], AdmitFrequent], is_initialized: bool) -> None:
        """Makes the filter, unless there is one."""
        if self._admission is None:
            self._admission = make()
        self.is_initialized = is_initialized

    @property
    def admission(self) -> KeyAdmission:
        if self._admission is None:
            raise FailedPreconditionError(
                f'BloomFilterAdmitStrategy not initialized: run the initializer of "{self.name}" '
                "(tf.global_variables_initializer()) or restore it from a checkpoint first"
            )
        return self._admission

    def as_kind(self, kind: type[Kind]) -> Kind:
        """The one behind it, which has to be of that kind."""
        if not isinstance(self.admission, kind):
            raise WrongTypeError(f'"{self.name}" is {type(self.admission).__name__}, expected {kind.__name__}')
        return self.admission

    def saved_in_slices(self, name: str, part: HashSlice, resources: Sequence[Any]) -> SavedFilter:
        """What a save writes of a Bloom filter."""
        return SavedFilter(name, self.as_kind(AdmitFrequent).copy(), part)


def _resource_of(value: Any, kind: type[Kind], what: str) -> Kind:
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
    if not isinstance(value, kind):
        raise WrongTypeError(f"a handle leads to a {type(value).__name__}, expected {what}")
    return value


def table_of(value: Handle) -> HashTableResource:
    """The hash table that a handle leads to."""
    return _resource_of(value, HashTableResource, "a hash table")


def variable_of(value: Handle) -> TensibleResource:
    """The rows of a hash table that a handle leads to."""
    return _resource_of(value, TensibleResource, "rows of a hash table")


def admission_of(value: Handle) -> AdmissionResource:
    """The admission of keys that a handle leads to."""
    return _resource_of(value, AdmissionResource, "who lets keys into a hash table")
