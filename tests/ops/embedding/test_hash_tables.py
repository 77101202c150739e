"""The ops of DeepRec's hash tables, one by one."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.function_graph import trace_function
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.runtime.session import Session
from tests.ops.embedding_graphs import graph, keys
from tests.ops.samples.embedding.hash_tables import ELSEWHERE


@pytest.fixture(autouse=True)
def made_graph() -> Iterator[Graph]:
    with graph() as made:
        yield made


def table_of(shape: tuple[int, ...] = (2,), dtype: Any = tf.float32, fill: Any = 0) -> Any:
    return tf.hash_table.HashTable(list(shape), dtype, "t", tf.constant_initializer(fill), segment_size=4, name="t")


def session(made: Graph, files: MemoryFileSystem | None = None) -> Session:
    opened = Session(made, filesystem=files or MemoryFileSystem())
    opened.run(tf.global_variables_initializer())
    return opened


DEFINITIONS = {
    "HashTableOp": "() -> (hashtable:resource)",
    "HashTableInitializeOp": "(hashtable:resource) -> ()",
    "HashTableLookupOp": "(hashtable:resource keys:int64) -> (ids:int64)",
    "HashTableLookupWithAdmitOp": "(hashtable:resource keys:int64 admit_strategy:resource freq:int32) -> (ids:int64)",
    "TensibleVariableInitializeOp": "(resource:resource hashtable:resource) -> ()",
    "RestoreHashTable": "(file_pattern:string tensor_name:string shape_and_slices:string handles:resource) -> ()",
    "RestoreBloomFilter": "(file_pattern:string tensor_name:string shape_and_slice:string handle:resource) -> ()",
}


def test_whether_ops_have_state_is_as_deeprec_registers_it() -> None:
    """hash_ops.cc, hash_training_ops.cc and io_ops.cc: those without SetIsStateful."""
    without = {name for name in ELSEWHERE if not get_op(name).schema.is_stateful}
    assert without == {
        "HashTableLookupOp",
        "HashTableLookupWithAdmitOp",
        "HashTableSizeOp",
        "TensibleVariableIsInitializedOp",
        "TensibleVariableGather",
        "HashSlice",
        "BloomFilterIsInitializedOp",
        *(name for name in ELSEWHERE if name.startswith(("TensibleVariableScatter", "TensibleVariableApply"))),
    }


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_are_deeprecs(name: str) -> None:
    proto = get_op(name).schema.to_op_def()
    sides = [proto.input_arg, proto.output_arg]
    names = {3: "int32", 7: "string", 9: "int64", 20: "resource"}
    told = [" ".join(f"{arg.name}:{names[arg.type]}" for arg in side) for side in sides]
    assert f"({told[0]}) -> ({told[1]})" == DEFINITIONS[name]


# Keys


def test_keys_go_to_the_part_whose_range_has_their_remainder(made_graph: Graph) -> None:
    found = get_op("HashSlice")([0, 10, 60000], keys(0, 9, 10, 65535, 65536, -1), segment_size=65536)
    assert session(made_graph).run(found).tolist() == [0, 0, 1, 2, 0, 2]


def test_frequencies_are_one_for_each_key(made_graph: Graph) -> None:
    table = table_of()
    strategy = get_op("ReadOnlyHashTableAdmitStrategyOp")()
    ids = table.gen_ids([1, 2], strategy, [1, 2, 3])
    with pytest.raises(InvalidArgumentError, match="3 frequencies are given for 2 keys"):
        session(made_graph).run(ids)


def test_a_handle_of_something_else_is_told(made_graph: Graph) -> None:
    table = table_of()
    wrong = get_op("HashTableSizeOp")(table.handle)
    with pytest.raises(WrongTypeError, match="a handle leads to a TensibleResource, expected a hash table"):
        session(made_graph).run(wrong)


# Rows


@pytest.mark.parametrize("wrong", [4, -2])
def test_ids_that_no_lookup_gave_are_refused(made_graph: Graph, wrong: int) -> None:
    table = table_of()
    table.lookup([1])
    made = session(made_graph)
    made.run(table.lookup([1]))
    with pytest.raises(InvalidArgumentError, match=f"Id Out of range {wrong}"):
        made.run(table.lookup_by_id(tf.constant([0, wrong], tf.int64)))
    with pytest.raises(InvalidArgumentError, match=f"Id Out of range {wrong}"):
        made.run(table.scatter_by_id("Add", tf.constant([wrong], tf.int64), [[1.0, 1.0]]))


def test_keys_that_are_not_let_in_have_the_default_and_keep_it(made_graph: Graph) -> None:
    table = table_of((1,))
    ids = tf.constant([-1, 0], tf.int64)
    rows, change = table.lookup_by_id(ids, 7.0), table.scatter_by_id("Update", ids, [[3.0], [4.0]])
    made = session(made_graph)
    made.run(table.lookup([1]))
    made.run(change)
    assert made.run(rows).tolist() == [[7.0], [4.0]]


def test_the_default_is_a_scalar(made_graph: Graph) -> None:
    table = table_of()
    rows = table.lookup_by_id(tf.constant([-1], tf.int64), [1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match="default_value should be scalar"):
        session(made_graph).run(rows)


def test_updates_have_a_row_for_each_id(made_graph: Graph) -> None:
    table = table_of()
    rows = tf.placeholder(tf.float32)
    change = table.scatter_add([1, 2], rows)
    with pytest.raises(InvalidArgumentError, match=r"Data Shape Error \[2, 2\] vs \[2, 3\]"):
        session(made_graph).run(change, {rows: np.zeros((2, 3), np.float32)})
    with pytest.raises(InvalidArgumentError):
        table.scatter_add([1, 2], tf.zeros([2, 3]))


def test_whole_numbers_are_divided_towards_zero(made_graph: Graph) -> None:
    table = table_of((3,), tf.int64)
    made = session(made_graph)
    made.run(table.scatter_update([1], [[7, -7, 7]]))
    made.run(table.scatter_div([1], [[2, 2, -2]]))
    assert made.run(table.lookup([1])).tolist() == [[3, -3, -3]]
    with pytest.raises(InvalidArgumentError, match="Integer division by zero"):
        made.run(table.scatter_div([1], [[0, 1, 1]]))


def test_a_copy_is_an_array_of_its_own(made_graph: Graph) -> None:
    source = tf.placeholder(tf.float32)
    given = np.ones(3, np.float32)
    copied = session(made_graph).run(get_op("CopyTensor")(source), {source: given})
    given[0] = 5
    assert copied.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("nesterov", "wanted"), [(False, 0.9), (True, 0.81)])
def test_adam_may_look_ahead(made_graph: Graph, nesterov: bool, wanted: float) -> None:
    """No optimizer of DeepRec's asks for it. One step from zero moments: (1 - beta1) g + beta1 m in the place of m."""
    table = table_of((1,), fill=1.0)
    m, v = (table.create_slot([1], tf.float32, name, tf.zeros_initializer(), name=name) for name in ("m", "v"))
    numbers = [np.float32(value) for value in (0.9, 0.999, 0.1, 0.9, 0.999, 0.0)]
    ids = table.gen_ids([1])
    arguments = (table.handle, m.handle, v.handle, *numbers, np.ones((1, 1), np.float32), ids)
    train = get_op("TensibleVariableApplyAdam")(*arguments, use_nesterov=nesterov)
    made = session(made_graph)
    made.run(train)
    np.testing.assert_allclose(made.run(table.lookup([1])), [[wanted]], rtol=1e-5)


def test_a_slot_of_another_table_is_refused(made_graph: Graph) -> None:
    table = table_of((1,))
    other = tf.hash_table.HashTable([1], tf.float32, "o", tf.ones_initializer(), name="o")
    gradient = np.ones((1, 1), np.float32)
    train = get_op("TensibleVariableApplyAdagrad")(
        table.handle, other.handle, np.float32(1), gradient, table.gen_ids([1])
    )
    with pytest.raises(InvalidArgumentError, match='"o" is no slot of "t"'):
        session(made_graph).run(train)


def test_gradients_have_the_shape_of_rows(made_graph: Graph) -> None:
    table = table_of((2,))
    gradient = np.ones((1, 3), np.float32)
    train = get_op("TensibleVariableApplyGradientDescent")(table.handle, np.float32(1), gradient, table.gen_ids([1]))
    with pytest.raises(InvalidArgumentError, match=r"grad shape mismatch \[1, 3\] vs \[1, 2\]"):
        session(made_graph).run(train)


# Dropping keys


def filter_op(made: Graph, table: Any, condition: Any, block_size: int = 3) -> Any:
    """Drops the keys for which a function of keys and ids is true."""
    inner: dict[str, Any] = {}

    def build() -> Any:
        inner["arguments"] = [tf.placeholder(tf.int64, [None]) for _ in range(2)]
        return condition(*inner["arguments"])

    body, mask = trace_function(build, made)
    made.functions["drops"] = function_def("drops", body, [*inner["arguments"], *body.captured.values()], [mask])
    handle, captured = table.hash_table.handle, list(body.captured)
    return get_op("HashTableFilterOp")(handle, captured, f=FunctionRef("drops"), block_size=block_size)


def test_a_function_says_which_keys_are_dropped(made_graph: Graph) -> None:
    table, limit = table_of((1,)), tf.placeholder(tf.int64, [])
    drop = filter_op(made_graph, table, lambda keys, ids: tf.greater(keys, limit))
    made = session(made_graph)
    made.run(table.scatter_update(list(range(8)), np.ones((8, 1), np.float32)))
    made.run(drop, {limit: 2})
    assert made.run(table.snapshot)[0].tolist() == [0, 1, 2]
    assert made.run(table.lookup([1, 5])).tolist() == [[1.0], [0.0]]


def test_a_filter_says_yes_or_no_for_each_key(made_graph: Graph) -> None:
    table = table_of((1,))
    drop = filter_op(made_graph, table, lambda keys, ids: tf.cast(keys, tf.float32))
    made = session(made_graph)
    made.run(table.lookup([1]))
    with pytest.raises(InvalidArgumentError, match="expected a truth value for each"):
        made.run(drop)


# Who lets keys in


def black_list_file(*records: tuple[bytes, int, float]) -> bytes:
    return b"".join(struct.pack("<i", len(name)) + name + struct.pack("<qd", *rest) for name, *rest in records)


def test_keys_are_kept_out_that_files_name(made_graph: Graph) -> None:
    files = MemoryFileSystem()
    data = black_list_file((b"user", 5, 0.1), (b"user", 6, 0.9), (b"item", 7, 0.0), (b"user", 300, 0.0))
    atomic_write(files, "list", data)
    table = table_of((1,), fill=1.0)
    strategy = get_op("BlackListHashTableAdmitStrategyOp")(shared_name="black")
    fill = get_op("InitBlackList")(
        tf.stack([strategy]), [b"user"], np.array([[0, 40]]), np.array([0.5]), np.array([b"list"], object)
    )
    rows = table.lookup([5, 6, 7, 300], strategy)
    made = session(made_graph, files)
    made.run(fill)
    assert made.run(rows)[:, 0].tolist() == [0.0, 1.0, 1.0, 1.0]


def test_a_list_that_is_cut_off_is_told(made_graph: Graph) -> None:
    files = MemoryFileSystem()
    atomic_write(files, "list", black_list_file((b"user", 5, 0.1))[:-1])
    strategy = get_op("BlackListHashTableAdmitStrategyOp")()
    fill = get_op("InitBlackList")(
        tf.stack([strategy]), [b"user"], np.array([[0, 256]]), np.array([0.5]), np.array([b"list"], object)
    )
    with pytest.raises(DataLossError, match='"list": the record at byte 0'):
        session(made_graph, files).run(fill)


def test_a_filter_that_is_not_initialized_says_so(made_graph: Graph) -> None:
    made = tf.hash_table.BloomFilterAdmitStrategy(2, max_element_size=100, name="f")
    opened = Session(made_graph, filesystem=MemoryFileSystem())
    assert not opened.run(made.is_initialized())
    with pytest.raises(FailedPreconditionError, match='run the initializer of "f"'):
        opened.run(made.admit([1], [1]))
    opened.run(made.initializer)
    assert opened.run(made.is_initialized())
    assert opened.run(made.admit([1, 1], [1, 1])).tolist() == [False, True]


@pytest.mark.parametrize(("frequency", "dtype"), [(255, "uint8"), (256, "uint16"), (65536, "uint32")])
def test_counters_are_as_wide_as_they_have_to_be(frequency: int, dtype: str) -> None:
    made = tf.hash_table.BloomFilterAdmitStrategy(frequency, max_element_size=10)
    assert made.dtype.name == dtype
    assert made.shape.as_list() == [1, 97]  # the next prime after |ln 0.01| / (ln 2)² · 10 = 96
    assert made.op.type == "BloomFilterAdmitStrategyOp"


def test_frequencies_beyond_32_bits_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="Too large minimum_frequency is not supported"):
        tf.hash_table.BloomFilterAdmitStrategy(2**32)
