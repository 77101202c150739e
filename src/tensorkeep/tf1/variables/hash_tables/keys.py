"""The keys of DeepRec's hash tables, and what the tables, their parts, slots and filters have in common.

t/SimpleHashTable                   HashTableOp                     the keys, each with an id
t/SimpleHashTable/Initializer       HashTableInitializeOp           (FalseInitializer: for a restore)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import chosen_name, colocate_with, control_dependencies, current_graph, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.functions.constants import constant

SLICE_SIZE: Final = 65536
"""Into so many places keys are put by their remainders; a part of a table has some of them."""

_CLEARS: Final = "hash tables are cleared before a restore"  # in `graph.extras`


@contextmanager
def restore_without_clear_scope() -> Iterator[None]:
    """A saver that is made inside restores into tables of children without forgetting other children."""
    extras = current_graph().extras
    before = extras.get(_CLEARS, True)
    extras[_CLEARS] = False
    try:
        yield
    finally:
        extras[_CLEARS] = before


def restore_clear() -> bool:
    """Whether a saver that is made here has tables cleared before they are restored."""
    return bool(current_graph().extras.get(_CLEARS, True))


class StoredAsNodes:
    """What is in the collections of variables without a message of its own: a meta graph has its nodes."""

    name: str

    def to_proto(self, export_scope: str | None = None) -> None:
        """None: a meta graph has the nodes."""

    def __lt__(self, other: StoredAsNodes | str) -> bool:
        return self.name < (other.name if isinstance(other, StoredAsNodes) else other)


class BehindHandle(StoredAsNodes):
    """Keys, rows or counters of a session, to which a handle leads."""

    handle: Tensor

    @property
    def op(self) -> Operation:
        return self.handle.op

    @property
    def device(self) -> str:
        return self.handle.device

    @property
    def graph(self) -> Graph:
        return self.handle.graph


class SimpleHashTable(BehindHandle):
    """The keys of a table, and their ids."""

    def __init__(
        self,
        distributed_name: str,
        concurrent_read: bool,
        slicer: Sequence[int] | None = None,
        children: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.distributed_name = distributed_name
        """What the table is called as a whole."""
        self.slicer = slicer
        """Of a part of a table: its first place, the one behind its last, and how many there are."""
        self.children = list(children or ())
        with name_scope(chosen_name(name, "SimpleHashTable")) as scope, control_dependencies(None):
            self.name = scope[:-1]
            self.handle = emit("HashTableOp", shared_name=self.name, name=scope)
            with colocate_with(self.handle):
                self.initializer = self._initializer_op(True, concurrent_read, "Initializer")
                self.false_initializer = self._initializer_op(False, concurrent_read, "FalseInitializer")

    def _initializer_op(self, initialized: bool, concurrent_read: bool, name: str) -> Operation:
        settings = {"initialized": initialized, "concurrent_read": concurrent_read, "children": self.children}
        return emit_operation("HashTableInitializeOp", self.handle, name=name, **settings)

    def lookup(
        self,
        keys: TensorLike,
        admit_strategy: Tensor | None = None,
        frequencies: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The ids of keys; -1 for those that the strategy does not let in."""
        with colocate_with(self.handle):
            asked = convert(keys, INT64)
            if admit_strategy is None:
                return emit("HashTableLookupOp", self.handle, asked, name=name)
            counts = constant([], INT32) if frequencies is None else convert(frequencies, INT32)
            return emit("HashTableLookupWithAdmitOp", self.handle, asked, admit_strategy, counts, name=name)

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        with colocate_with(self.handle):
            return emit("HashTableSizeOp", self.handle, name=name)


class ChangedByKey(ABC):
    """Changes of rows by their keys, which a table and a table in parts make each in its own way."""

    def scatter_update(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Sets the rows of keys."""
        return self._scatter("Update", keys, values, name)

    def scatter_add(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Adds to the rows of keys."""
        return self._scatter("Add", keys, values, name)

    def scatter_sub(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Subtracts from the rows of keys."""
        return self._scatter("Sub", keys, values, name)

    def scatter_mul(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Multiplies the rows of keys."""
        return self._scatter("Mul", keys, values, name)

    def scatter_div(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """Divides the rows of keys."""
        return self._scatter("Div", keys, values, name)

    @abstractmethod
    def _scatter(self, change: str, keys: TensorLike, values: TensorLike, name: str | None) -> Operation:
        """Changes the rows of keys: `change` is Update, Add, Sub, Mul or Div."""
