"""Bloom filters that let keys into hash tables once they have occurred often enough: DeepRec's admit_strategy.py.

    BloomFilter                 BloomFilterAdmitStrategyOp      the counters
    BloomFilter/Initializer     BloomFilterInitializeOp         (FalseInitializer: for a restore)

A filter is in the collection of variables, and is initialized and saved with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import chosen_name, control_dependencies, current_graph, device, name_scope
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import dynamic_partition, reshape
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.variables.hash_tables.keys import SLICE_SIZE, BehindHandle
from tensorkeep.tf1.variables.hash_tables.table import HashTable, checked_slicer
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.variable import checked_collections

_ELEMENTS: Final = 2**20
_FALSE_POSITIVE: Final = 0.01


class BloomFilterAdmitStrategy(BehindHandle):
    """Lets keys in that occurred `minimum_frequency` times, or, rarely, a little less often.

    `max_element_size` is how many keys there will be, `false_positive_probability` how likely one is let in too early.
    `slicer` is that of the part of a table that it is for. Its `handle` is what a lookup takes.
    """

    def __init__(
        self,
        minimum_frequency: int,
        max_element_size: int | None = None,
        false_positive_probability: float | None = None,
        slicer: Sequence[int] | None = None,
        hash_table: HashTable | None = None,
        distributed_name: str | None = None,
        collections: CollectionNames | None = None,
        name: str | None = None,
    ) -> None:
        self.minimum_frequency = minimum_frequency
        self.max_element_size = _ELEMENTS if max_element_size is None else max_element_size
        self.false_positive_probability = (
            _FALSE_POSITIVE if false_positive_probability is None else false_positive_probability
        )
        if not 0 < self.false_positive_probability < 1 or self.max_element_size < 1:
            raise InvalidArgumentError(
                f"a Bloom filter for {self.max_element_size} keys that is wrong with a probability of "
                f"{self.false_positive_probability}: expected at least one key, and a probability between 0 and 1"
            )
        begin, end, self.max_slice_size = (0, 1, 1) if slicer is None else slicer
        self.slice_offset, self.slice_size = begin, end - begin
        each = -(-self.max_element_size // self.max_slice_size)
        self._bucket_size = _buckets(each, self.false_positive_probability)
        self.shape = TensorShape([self.slice_size, self._bucket_size])
        self.dtype = _counter_dtype(minimum_frequency)
        with name_scope(chosen_name(name, "BloomFilter")) as scope, control_dependencies(None):
            self.name = scope[:-1]
            with device(None if hash_table is None else hash_table.device):
                self.handle = emit("BloomFilterAdmitStrategyOp", shared_name=self.name, name=scope)
                self.initializer = self._initializer_op(True, "Initializer")
                self.false_initializer = self._initializer_op(False, "FalseInitializer")
        self.distributed_name = self.name if distributed_name is None else distributed_name
        """What it is called in a checkpoint."""
        add_to_collections(current_graph(), checked_collections(collections, False), self)

    def _initializer_op(self, initialized: bool, name: str) -> Operation:
        return emit_operation(
            "BloomFilterInitializeOp",
            self.handle,
            min_frequency=self.minimum_frequency,
            num_hash_func=math.ceil(abs(math.log2(self.false_positive_probability))),
            slice_offset=self.slice_offset,
            max_slice_size=self.max_slice_size,
            dtype=self.dtype,
            shape=Shape((self.slice_size, self._bucket_size)),
            initialized=initialized,
            name=name,
        )

    @property
    def trainable(self) -> bool:
        return False

    def get_shape(self) -> TensorShape:
        return self.shape

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether it was initialized or restored, found when run."""
        return emit("BloomFilterIsInitializedOp", self.handle, name=name)

    def admit(self, keys: TensorLike, frequency: TensorLike) -> Tensor:
        """Counts keys, and says which have occurred often enough."""
        with device(self.device):
            counts = convert(frequency)
            if counts.dtype.name not in ("uint8", "uint16", "uint32"):
                counts = cast(counts, self.dtype)
            return emit("BloomFilterAdmitOp", self.handle, convert(keys, INT64), counts)

    def __repr__(self) -> str:
        return f"<tf.hash_table.BloomFilterAdmitStrategy '{self.name}' from {self.minimum_frequency} times on>"


class DistributedBloomFilterAdmitStrategy:
    """Bloom filters for the parts of a table that is cut by key.

    DeepRec's hands its arguments on in the wrong order, and fails; this does what its arguments say.
    """

    def __init__(
        self,
        minimum_frequency: int,
        max_element_size: int | None = None,
        false_positive_probability: float = _FALSE_POSITIVE,
        partitioner: Callable[[int], Sequence[int]] | None = None,
        slice_size: int | None = None,
        slicer: Sequence[int] | None = None,
        hash_tables: Sequence[HashTable] | None = None,
        collections: CollectionNames | None = None,
        name: str | None = None,
    ) -> None:
        self._slice_size = SLICE_SIZE if slice_size is None else slice_size
        self._slicer = checked_slicer(slicer, partitioner, self._slice_size)
        ends = [*self._slicer[1:], self._slice_size]
        tables = list(hash_tables or ()) + [None] * len(self._slicer)
        with name_scope(chosen_name(name, "DistributedBloomFilter")) as scope:
            self.name = scope[:-1]
            self.partitions = [
                BloomFilterAdmitStrategy(
                    minimum_frequency,
                    max_element_size,
                    false_positive_probability,
                    [begin, end, self._slice_size],
                    tables[number],
                    self.name,
                    collections,
                    f"BloomFilter_{number}",
                )
                for number, (begin, end) in enumerate(zip(self._slicer, ends, strict=True))
            ]

    @property
    def initializer(self) -> list[Operation]:
        """The operations that initialize the parts, one for each."""
        return [part.initializer for part in self.partitions]

    @property
    def device(self) -> list[str]:
        """The devices of the parts, one for each."""
        return [part.device for part in self.partitions]

    def admit(self, keys: TensorLike, frequency: TensorLike) -> list[Tensor]:
        """Counts keys, and says for each part which of its keys have occurred often enough."""
        flat = reshape(convert(keys, INT64), [-1])
        part_of_key = emit("HashSlice", self._slicer, flat, segment_size=self._slice_size)
        count = len(self._slicer)
        keys_of_parts = dynamic_partition(flat, part_of_key, count)
        counts_of_parts = dynamic_partition(reshape(convert(frequency), [-1]), part_of_key, count)
        parts = zip(self.partitions, keys_of_parts, counts_of_parts, strict=True)
        return [part.admit(own, counts) for part, own, counts in parts]


def _buckets(elements: int, false_positive: float) -> int:
    """How many counters a slice has: the least prime that keeps false positives below the probability."""
    count = math.ceil(abs(math.log(false_positive)) / math.log(2) ** 2 * elements)
    while not _is_prime(count):
        count += 1
    return count


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, math.isqrt(number) + 1))


def _counter_dtype(minimum_frequency: int) -> DType:
    """The smallest unsigned type that can hold `minimum_frequency`."""
    for dtype in (np.uint8, np.uint16, np.uint32):
        if 0 <= minimum_frequency <= np.iinfo(dtype).max:
            return DType.of(dtype)
    raise InvalidArgumentError(
        f"minimum_frequency {minimum_frequency}: Too large minimum_frequency is not supported; expected 0 to 2**32 - 1"
    )
