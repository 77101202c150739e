"""DeepRec's older tables by key, `tf.hash_table`: tables that grow as keys appear, in one piece or cut by key.

    t/SimpleHashTable                   HashTableOp                     the keys, each with an id
    t/SimpleHashTable/Initializer       HashTableInitializeOp           (FalseInitializer: for a restore)
    t                                   TensibleVariableOp              rows by id; so is every slot
    t/Initializer/Initializer           TensibleVariableInitializeOp    (FalseInitializer/Initializer)

A table that is cut has such nodes below t/HashTable_0, t/HashTable_1 and so on; its parts are stored as one. Names,
arguments and nodes are those of DeepRec's hash_table.py. A table is no `tf.Variable`, but it is in the collections of
variables, where initializers, optimizers and savers find it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NoReturn, TypeAlias

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_operation, emit_tensors
from tensorkeep.graph.building import (
    chosen_name,
    colocate_with,
    control_dependencies,
    current_graph,
    name_scope,
)
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.conversion import convert, register_conversion
from tensorkeep.graph.function_graph import trace_function
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.scopes import free_name
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays.joining import parallel_dynamic_stitch
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import concat, dynamic_partition, reshape, size
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import add_n
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.variables.hash_tables.keys import (
    SLICE_SIZE,
    BehindHandle,
    ChangedByKey,
    SimpleHashTable,
    StoredAsNodes,
    restore_clear,
    restore_without_clear_scope,
)
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.variable import checked_collections

LOOK_UP: Final[list[Callable[..., tuple[Tensor, dict[str, Any]]]]] = []
"""Looks keys up, with the hooks that are open; entered by the module that can."""


InitFunction: TypeAlias = Callable[[], TensorLike]
"""Makes a segment of rows."""


class HashTable(BehindHandle, ChangedByKey):
    """A table, a part of one that is cut by key, or a slot of either."""

    DEFAULT_SLICE_SIZE: ClassVar = 4096
    """So many rows are made at a time."""

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike,
        distributed_name: str,
        initializer: Callable[..., TensorLike] | None = None,
        init_func: InitFunction | None = None,
        segment_size: int | None = None,
        collections: CollectionNames | None = None,
        trainable: bool | None = True,
        slicer: Sequence[int] | None = None,
        hash_table: SimpleHashTable | None = None,
        concurrent_read: bool = True,
        children: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        if (initializer is None) == (init_func is None):
            how = "must be specified" if initializer is None else "must not be specified both"
            raise InvalidArgumentError(f'hash table "{distributed_name}": initializer or init_func {how}.')
        self.distributed_name = distributed_name
        """What the table is called as a whole, and in a checkpoint."""
        self.slots: dict[str, HashTable] = {}
        self.children = list(children or ())
        self.dtype = DType.of(dtype).base_dtype
        self.shape = TensorShape(shape)
        """Of a row."""
        self.trainable = True if trainable is None else trainable
        self._concurrent_read = concurrent_read
        self._segment_shape = Shape((segment_size or self.DEFAULT_SLICE_SIZE, *self.shape.as_list()))
        with name_scope(chosen_name(name, "HashTable")) as scope:
            self.name = scope[:-1]
            self.hash_table = hash_table or SimpleHashTable(distributed_name, concurrent_read, slicer, self.children)
            with control_dependencies(None), colocate_with(self.hash_table.handle):
                make = init_func if initializer is None else self._initial_segment(initializer)
                assert make is not None  # one of the two was given
                self._factory = self._traced_factory(make)
                self.handle = emit(
                    "TensibleVariableOp", dtype=self.dtype, shape=self._segment_shape, shared_name=self.name, name=scope
                )
                with control_dependencies([self.hash_table.initializer]):
                    self.initializer = self.initializer_without_hashtable(True, "Initializer")
                    self.false_initializer = self.initializer_without_hashtable(False, "FalseInitializer")
        add_to_collections(current_graph(), checked_collections(collections, self.trainable), self)

    # ------------------------------------------------------------------------------------------ nodes

    def _initial_segment(self, initializer: Callable[..., TensorLike]) -> InitFunction:
        made: Any = initializer(self.dtype) if isinstance(initializer, type) else initializer
        return lambda: made(list(self._segment_shape.as_tuple()), dtype=self.dtype)

    def _traced_factory(self, init_func: InitFunction) -> FunctionRef:
        """The function of the graph that makes a segment of rows."""
        graph = current_graph()
        body, rows = trace_function(lambda: emit("CopyTensor", convert(init_func(), self.dtype)), graph)
        if body.captured:
            outside = ", ".join(tensor.name for tensor in body.captured)
            raise InvalidArgumentError(
                f'the initializer of hash table "{self.name}" uses tensors from outside of it, {outside}: it is called '
                "whenever rows are needed, and has to make all that it uses"
            )
        name = numbered_name("hash_table_factory", graph.functions)
        graph.functions[name] = function_def(name, body, [], [rows])
        return FunctionRef(name)

    def initializer_without_hashtable(self, initialized: bool = True, name: str | None = None) -> Operation:
        """An operation that makes the rows, of a table whose keys are there."""
        with name_scope(chosen_name(name, "Initializer")):
            return emit_operation(
                "TensibleVariableInitializeOp",
                self.handle,
                self.hash_table.handle,
                dtype=self.dtype,
                shape=self._segment_shape,
                factory=self._factory,
                initialized=initialized,
                name="Initializer",
            )

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it was initialized or restored, found when run."""
        return emit("TensibleVariableIsInitializedOp", self.handle, name=name)

    @property
    def slicer(self) -> Sequence[int] | None:
        """Which keys it has: see `SimpleHashTable.slicer`."""
        return self.hash_table.slicer

    @slicer.setter
    def slicer(self, slicer: Sequence[int] | None) -> None:
        self.hash_table.slicer = slicer

    @property
    def snapshot(self) -> Sequence[Tensor]:
        """All keys, and their ids."""
        return emit_tensors("HashTableSnapshotOp", self.hash_table.handle)

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        return f"<tf.hash_table.HashTable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def _as_graph_element(self) -> Tensor:
        return self.handle

    # ------------------------------------------------------------------------------------------ looking up

    def lookup(
        self,
        keys: TensorLike,
        admit_strategy: Tensor | None = None,
        frequencies: TensorLike | None = None,
        default_value: TensorLike = 0,
        name: str | None = None,
    ) -> Tensor:
        """The rows of keys; new keys are given rows. Those that the strategy does not let in have `default_value`."""
        with colocate_with(self.handle), name_scope(chosen_name(name, "tensible_variable_lookup")) as scope:
            return self.lookup_by_id(self.gen_ids(keys, admit_strategy, frequencies), default_value, scope)

    def gen_ids(
        self,
        keys: TensorLike,
        admit_strategy: Tensor | None = None,
        frequencies: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The ids of keys."""
        with colocate_with(self.handle):
            return self.hash_table.lookup(keys, admit_strategy, frequencies, name)

    def lookup_by_id(self, ids: Tensor, default_value: TensorLike = 0, name: str | None = None) -> Tensor:
        """The rows of ids."""
        default = convert(default_value, self.dtype)
        with colocate_with(self.handle):
            return emit("TensibleVariableGather", self.handle, ids, default, dtype=self.dtype, name=name)

    def _embedding_lookup(self, ids: TensorLike, name: str | None, *_: object) -> Tensor:
        """How `tf.nn.embedding_lookup` looks ids up."""
        return LOOK_UP[-1](self, ids, name=name)[0]

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        return self.hash_table.size(name)

    # ------------------------------------------------------------------------------------------ slots

    def get_slot(self, name: str) -> HashTable:
        """The slot of that name."""
        if name not in self.slots:
            there = ", ".join(self.slots) or "none"
            raise InvalidArgumentError(f'hash table "{self.name}" has no slot "{name}"; there are {there}')
        return self.slots[name]

    def get_or_create_slot(
        self,
        shape: ShapeLike,
        dtype: DTypeLike,
        distributed_name: str,
        initializer: Callable[..., TensorLike] | None = None,
        init_func: InitFunction | None = None,
        segment_size: int | None = None,
        collections: CollectionNames | None = None,
        trainable: bool = False,
        name: str | None = None,
    ) -> HashTable:
        """The slot of that name, found or made."""
        if distributed_name in self.slots:
            return self.slots[distributed_name]
        arguments = (initializer, init_func, segment_size, collections, trainable, name)
        return self.create_slot(shape, dtype, distributed_name, *arguments)

    def create_slot(
        self,
        shape: ShapeLike,
        dtype: DTypeLike,
        distributed_name: str,
        initializer: Callable[..., TensorLike] | None = None,
        init_func: InitFunction | None = None,
        segment_size: int | None = None,
        collections: CollectionNames | None = None,
        trainable: bool = False,
        name: str | None = None,
    ) -> HashTable:
        """More rows for the same keys, stored under `distributed_name`, with a number behind it if there is such."""
        chosen = free_name(distributed_name, self.slots)
        self.slots[chosen] = slot = HashTable(
            shape,
            dtype,
            chosen,
            initializer,
            init_func,
            segment_size,
            collections,
            trainable,
            None,
            self.hash_table,
            self._concurrent_read,
            self.children,
            name,
        )
        return slot

    # ------------------------------------------------------------------------------------------ changing rows

    def _scatter(self, change: str, keys: TensorLike, values: TensorLike, name: str | None) -> Operation:
        with colocate_with(self.handle), name_scope(chosen_name(name, f"tensible_scatter_{change.lower()}")) as scope:
            return self.scatter_by_id(change, self.gen_ids(keys), values, scope)

    def scatter_by_id(self, change: str, ids: Tensor, values: TensorLike, name: str | None = None) -> Operation:
        """Changes the rows of ids: `change` is Update, Add, Sub, Mul or Div."""
        rows = convert(values, self.dtype)
        return emit_operation(f"TensibleVariableScatter{change}", self.handle, ids, rows, name=name)


class FixedSizeHashTablePartitioner:
    """Cuts a table into so many parts, as equal as can be."""

    def __init__(self, part_num: int) -> None:
        if part_num < 1:
            raise InvalidArgumentError(f"part_num {part_num}: expected at least 1")
        self._part_num = part_num

    def __call__(self, slice_size: int) -> list[int]:
        """The first place of each part."""
        each, more = divmod(slice_size, self._part_num)
        return [number * each + min(number, more) for number in range(self._part_num)]


class DistributedHashTable(StoredAsNodes, ChangedByKey):
    """A table that is cut by key. Its parts are in the collections of variables, itself it is in none."""

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike,
        initializer: Callable[..., TensorLike] | None = None,
        init_func: InitFunction | None = None,
        segment_size: int | None = None,
        collections: CollectionNames | None = None,
        trainable: bool | None = True,
        partitioner: Callable[[int], Sequence[int]] | None = None,
        slice_size: int | None = None,
        slicer: Sequence[int] | None = None,
        hash_tables: Sequence[HashTable] | None = None,
        concurrent_read: bool = True,
        children: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.slice_size = SLICE_SIZE if slice_size is None else slice_size
        self.slicer = checked_slicer(slicer, partitioner, self.slice_size)
        self.shape = TensorShape(shape)
        self.dtype = DType.of(dtype).base_dtype
        if hash_tables is None:
            with name_scope(chosen_name(name, "DistributedHashTable")) as scope:
                ends = [*self.slicer[1:], self.slice_size]
                hash_tables = [
                    HashTable(
                        shape,
                        dtype,
                        scope[:-1],
                        initializer,
                        init_func,
                        segment_size,
                        collections,
                        trainable,
                        [begin, end, self.slice_size],
                        None,
                        concurrent_read,
                        children,
                        f"HashTable_{number}",
                    )
                    for number, (begin, end) in enumerate(zip(self.slicer, ends, strict=True))
                ]
        if len(hash_tables) != len(self.slicer):
            raise FailedPreconditionError(
                f"HashTable size should be equal to slicer size: {len(hash_tables)} tables, {len(self.slicer)} slices"
            )
        self.partitions = list(hash_tables)
        self.name = self.partitions[0].distributed_name

    @property
    def initializer(self) -> list[Operation]:
        """The operations that initialize the parts, one for each."""
        return [part.initializer for part in self.partitions]

    @property
    def device(self) -> list[str]:
        """The devices of the parts, one for each."""
        return [part.device for part in self.partitions]

    @property
    def graph(self) -> Graph:
        return self.partitions[0].graph

    @property
    def snapshot(self) -> list[Tensor]:
        """All keys, and their ids, which count for each part by itself."""
        found = [part.snapshot for part in self.partitions]
        return [concat([one[at] for one in found], 0) for at in (0, 1)]

    def get_shape(self) -> TensorShape:
        return self.shape

    def __repr__(self) -> str:
        return (
            f"<tf.hash_table.DistributedHashTable '{self.name}' of {len(self.partitions)} parts, rows of {self.shape} "
            f"{self.dtype.name}>"
        )

    def initializer_without_hashtable(self, name: str | None = None) -> list[Operation]:
        """Operations that make the rows, where keys are there."""
        with name_scope(chosen_name(name, "DistributedHashTable_Initializer")):
            return [part.initializer_without_hashtable() for part in self.partitions]

    def lookup(
        self,
        keys: TensorLike,
        admit_strategy_factory: Callable[[HashTable], Tensor | None] | None = None,
        frequencies: TensorLike | None = None,
        default_value: TensorLike = 0,
        name: str | None = None,
    ) -> Tensor:
        """The rows of keys; see `HashTable.lookup`. The factory gives the strategy of a part."""
        with name_scope(chosen_name(name, "DistributedHashTable_Lookup")):
            _, ids, indices, dense_shape = self.gen_ids(keys, admit_strategy_factory, frequencies)
            return self.lookup_by_id(ids, indices, dense_shape, default_value)

    def gen_ids(
        self,
        keys: TensorLike,
        admit_strategy_factory: Callable[[HashTable], Tensor | None] | None = None,
        frequencies: TensorLike | None = None,
        name: str | None = None,
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor], Tensor]:
        """For each part its keys, their ids and where they stand among all; and the shape of the keys."""
        asked = convert(keys, INT64)
        count = len(self.slicer)
        with name_scope(chosen_name(name, "DistributedHashTable_GenIds")):
            flat = reshape(asked, [-1])
            originals = span(size(flat, out_type=INT32))
            part_of_key = self._part_of(flat)
            keys_of_parts = dynamic_partition(flat, part_of_key, count)
            counts_of_parts: Sequence[Tensor | None] = [None] * count
            if frequencies is not None:
                counts_of_parts = dynamic_partition(reshape(convert(frequencies), [-1]), part_of_key, count)
            places = dynamic_partition(originals, part_of_key, count)
            ids = []
            for part, own, counts in zip(self.partitions, keys_of_parts, counts_of_parts, strict=True):
                strategy = None if admit_strategy_factory is None else admit_strategy_factory(part)
                ids.append(part.gen_ids(own, strategy, counts))
            return list(keys_of_parts), ids, list(places), shape_of(asked)

    def _part_of(self, flat: Tensor) -> Tensor:
        return emit("HashSlice", self.slicer, flat, segment_size=self.slice_size)

    def split_values_by_key(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> list[Tensor]:
        """Splits `values`, which has a row for each key, into one tensor per part, by the parts of the keys."""
        with name_scope(chosen_name(name, "DistributedHashTable_SplitValues")):
            part_of_key = self._part_of(reshape(convert(keys, INT64), [-1]))
            rows = reshape(convert(values, self.dtype), [-1, *self.shape.as_list()])
            return list(dynamic_partition(rows, part_of_key, len(self.slicer)))

    def lookup_by_id(
        self,
        gather_ids_per_device: Sequence[Tensor],
        indices_per_device: Sequence[Tensor],
        dense_shape: Tensor,
        default_value: TensorLike = 0,
        name: str | None = None,
    ) -> Tensor:
        """The rows of ids, in the order and shape of the keys that `gen_ids` was given."""
        with name_scope(chosen_name(name, "DistributedHashTable_LookupById")) as scope:
            rows = [
                part.lookup_by_id(ids, default_value)
                for part, ids in zip(self.partitions, gather_ids_per_device, strict=True)
            ]
            stitched = emit(parallel_dynamic_stitch, list(indices_per_device), rows, name=scope)
            sizes = emit("ConcatV2", [dense_shape, convert(self.shape.as_list(), INT32)], 0, name="concat")
            return reshape(stitched, sizes)

    def _embedding_lookup(self, ids: TensorLike, name: str | None, *_: object) -> Tensor:
        """How `tf.nn.embedding_lookup` looks ids up."""
        return LOOK_UP[-1](self, ids, name=name)[0]

    def size(self, name: str | None = None) -> Tensor:
        """How many keys there are."""
        with name_scope(chosen_name(name, "DistributedHashTable_Size")):
            return add_n([part.size() for part in self.partitions])

    def create_slot(
        self,
        shape: ShapeLike,
        dtype: DTypeLike,
        initializer: Callable[..., TensorLike] | None = None,
        init_func: InitFunction | None = None,
        segment_size: int | None = None,
        collections: CollectionNames | None = None,
        trainable: bool = False,
        name: str | None = None,
    ) -> DistributedHashTable:
        """More rows for the same keys, in the same parts."""
        with name_scope(chosen_name(name, "slot")) as scope:
            stored = f"{self.name}/slots/{scope[:-1]}"
            arguments = (initializer, init_func, segment_size, collections, trainable)
            slots = [part.create_slot(shape, dtype, stored, *arguments) for part in self.partitions]
        return DistributedHashTable(shape, dtype, hash_tables=slots, slice_size=self.slice_size, slicer=self.slicer)

    def _scatter(self, change: str, keys: TensorLike, values: TensorLike, name: str | None) -> Operation:
        with name_scope(chosen_name(name, f"DistributedHashTable_Scatter_{change}")):
            _, ids, _, _ = self.gen_ids(keys)
            rows = self.split_values_by_key(keys, values)
            parts = zip(self.partitions, ids, rows, strict=True)
            return group(*[part.scatter_by_id(change, own, some) for part, own, some in parts])


def checked_slicer(
    slicer: Sequence[int] | None, partitioner: Callable[[int], Sequence[int]] | None, size: int
) -> list[int]:
    """The first place of each part: `slicer`, or what the partitioner gives; refuses what is not in order."""
    if slicer is None:
        if partitioner is None:
            raise InvalidArgumentError("must specify slicer or partitioner")
        if not callable(partitioner):
            raise InvalidArgumentError(f"Partitioner must be callable, but received: {partitioner}")
        slicer = partitioner(size)
    begins = list(slicer)
    if not begins or begins[0] != 0 or begins != sorted(set(begins)) or begins[-1] >= size:
        raise InvalidArgumentError(
            f"slicer {begins}: expected the first places of parts, growing from 0 and below {size}; a partitioner of "
            "hash tables is tf.hash_table.FixedSizeHashTablePartitioner(parts)"
        )
    return begins


class HashTableKeyMapperFactory:
    """A base class for mappings of a table's keys to other keys. DeepRec has the class, and no op that uses it."""

    def __call__(self, hash_table: HashTable) -> Callable[[Tensor, Tensor], Tensor]:
        """A function of keys and ids that gives keys."""

        def mapped(keys: Tensor, ids: Tensor) -> NoReturn:
            raise UnimplementedError("HashTableKeyMapper map method not implemented")

        return mapped


def is_hash_table(value: object) -> bool:
    return isinstance(value, HashTable)


def _convert(value: HashTable, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    """A table as a tensor is its handle, as in DeepRec: what its ops take."""
    return value.handle


register_conversion(HashTable, _convert)

__all__ = [
    "SLICE_SIZE",
    "DistributedHashTable",
    "FixedSizeHashTablePartitioner",
    "HashTable",
    "HashTableKeyMapperFactory",
    "SimpleHashTable",
    "checked_slicer",
    "is_hash_table",
    "restore_clear",
    "restore_without_clear_scope",
]
