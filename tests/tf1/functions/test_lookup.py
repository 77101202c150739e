"""Lookup tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    PermissionDeniedError,
    UnimplementedError,
    WrongTypeError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.resources import ResourceManager
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data import lookup_tables
from tensorkeep.tf1.functions.data.readers import write_file


def words() -> lookup_tables.KeyValueTensorInitializer:
    return lookup_tables.KeyValueTensorInitializer(["a", "b"], np.array([1, 2]))


def test_a_table_is_filled_by_its_initializer_and_no_sooner() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.StaticHashTable(words(), -1)
        found = table.lookup(constant([["b", "x"]]))
        size, one = table.size(), table[constant("a")]
        init = lookup_tables.tables_initializer()
    session = Session(graph)
    with pytest.raises(FailedPreconditionError, match="Table not initialized"):
        session.run(found)
    session.run(init)
    assert session.run(found).tolist() == [[2, -1]]
    assert session.run([size, one]) == [2, 1]
    assert get_collection(graph, GraphKeys.TABLE_INITIALIZERS) == [table.initializer]


def test_a_sparse_tensor_of_keys_gives_one_of_values() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.StaticHashTable(words(), -1)
        keys = SparseTensor(constant(np.array([[0, 1]])), constant(["b"]), constant(np.array([1, 2])))
        found = table.lookup(keys)
    session = Session(graph)
    session.run(table.initializer)
    assert session.run(found).values.tolist() == [2]


def test_unknown_keys_get_ids_behind_the_known_ones() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.StaticVocabularyTable(
            lookup_tables.KeyValueTensorInitializer(["a", "b"], np.array([0, 1])), 3
        )
        found = table.lookup(constant(["b", "new", "other"]))
        size = table.size()
    session = Session(graph)
    session.run(table.initializer)
    known, *others = session.run(found).tolist()
    assert known == 1
    assert all(2 <= other < 5 for other in others)
    assert session.run(size) == 5


def test_tables_with_a_shared_name_are_one() -> None:
    resources = ResourceManager()
    with building(Graph()) as graph:
        types: Any = {"key_dtype": DType.of("string"), "value_dtype": DType.of("int64")}
        first = get_op("MutableHashTableV2")(shared_name="t", name="first", **types)
        second = get_op("MutableHashTableV2")(shared_name="t", name="second", **types)
        insert = get_op("LookupTableInsertV2")(first, ["k"], np.array([5]))
        found = get_op("LookupTableFindV2")(second, ["k"], np.int64(0))
    Session(graph, resources=resources).run(insert)
    assert Session(graph, resources=resources).run(found).tolist() == [5]
    assert Session(graph).run(found).tolist() == [0]


def test_mutable_tables_change_while_the_graph_runs() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.MutableHashTable("int64", "float32", [0.0, 0.0])
        keys: Any = placeholder(dtype="int64", shape=[None])
        values: Any = placeholder(dtype="float32", shape=[None, 2])
        insert, remove, found = table.insert(keys, values), table.remove(keys), table.lookup(keys)
        contents = table.export()
    session = Session(graph)
    for start in range(0, 2000, 100):
        numbers = np.arange(start, start + 100)
        session.run(insert, {keys: numbers, values: np.stack([numbers, numbers * 2], 1)})
    session.run(remove, {keys: np.arange(1900)})
    session.run(insert, {keys: [7], values: [[1, 1]]})
    assert session.run(found, {keys: [1950, 7, 3]}).tolist() == [[1950, 3900], [1, 1], [0, 0]]
    exported, rows = session.run(contents)
    assert sorted(exported.tolist()) == [7, *range(1900, 2000)]
    assert rows[exported.tolist().index(1999)].tolist() == [1999, 3998]


def test_a_saveable_knows_what_to_write_and_how_to_read_it() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.MutableHashTable("string", "int64", 0, name="counts")
        (saveable,) = get_collection(graph, GraphKeys.SAVEABLE_OBJECTS)
        restore = saveable.restore([constant(["a", "b"]), constant(np.array([3, 4]))])
        found = table.lookup(["a", "b", "c"])
        insert = table.insert(["c"], np.array([9]))
    assert [spec.name for spec in saveable.specs] == ["counts-keys", "counts-values"]
    session = Session(graph)
    session.run(insert)
    session.run(restore)
    assert session.run(found).tolist() == [3, 4, 0]


def test_dense_tables_set_keys_aside_and_grow() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.DenseHashTable("int64", "int64", -1, empty_key=0, deleted_key=-1, initial_num_buckets=4)
        keys: Any = placeholder(dtype="int64", shape=[None])
        insert, found = table.insert(keys, keys), table.lookup(keys)
        contents = table.export()
    session = Session(graph)
    session.run(insert, {keys: np.arange(1, 101)})
    assert session.run(found, {keys: [50, 500]}).tolist() == [50, -1]
    buckets, values = session.run(contents)
    assert buckets.shape == values.shape == (128, 1)
    with pytest.raises(InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
        session.run(found, {keys: [0]})


def test_the_first_version_of_dense_tables_works_too() -> None:
    with building(Graph()) as graph:
        table = get_op("MutableDenseHashTable")(np.array(-1), value_dtype=DType.of("float32"))
        insert = get_op("LookupTableInsert")(table, np.array([4]), np.array([0.5], np.float32))
        found = get_op("LookupTableFind")(table, np.array([4, 5]), np.float32(0))
    session = Session(graph)
    session.run(insert)
    assert session.run(found).tolist() == [0.5, 0.0]


def test_vocabularies_are_read_through_the_sessions_file_system() -> None:
    files = MemoryFileSystem()
    with building(Graph()) as graph:
        table = lookup_tables.index_table_from_file("/words.txt")
        back = lookup_tables.index_to_string_table_from_file("/words.txt", default_value="?")
        ids, names = table.lookup(constant(["two", "x"])), back.lookup(constant(np.array([0, 9])))
        init = lookup_tables.tables_initializer()
        write = write_file("/words.txt", "one\ntwo\n")
    with pytest.raises(MissingFileError):
        Session(graph, filesystem=files).run(init)
    Session(graph, filesystem=files).run(write)
    session = Session(graph, filesystem=files)
    session.run(init)
    assert session.run(ids).tolist() == [1, -1]
    assert session.run(names).tolist() == [b"one", b"?"]
    assert len(get_collection(graph, GraphKeys.ASSET_FILEPATHS)) == 2
    with pytest.raises(PermissionDeniedError, match="reads files"):
        Session(graph, allow_io=False).run(init)


def test_misuse_is_refused() -> None:
    with building(Graph()) as graph:
        table = lookup_tables.StaticHashTable(words(), -1)
        with pytest.raises(WrongTypeError, match="Dtype of argument `keys` must be"):
            table.lookup(constant([1]))
        with pytest.raises(InvalidArgumentError, match="num_oov_buckets"):
            lookup_tables.StaticVocabularyTable(words(), 0)
        with pytest.raises(InvalidArgumentError, match="must be int64"):
            lookup_tables.TextFileInitializer("f", "string", 0, "int32", lookup_tables.TextFileIndex.LINE_NUMBER)
        with pytest.raises(WrongTypeError, match="Invalid value dtype for table"):
            lookup_tables.KeyValueTensorInitializer(["a"], [1.0]).initialize(table)
        insert = get_op("LookupTableInsertV2")(table.resource_handle, ["a"], np.array([1]))
        wrong = get_op("LookupTableFindV2")(table.resource_handle, ["a"], np.float32(0))
    session = Session(graph)
    with pytest.raises(UnimplementedError):
        session.run(insert)
    with pytest.raises(InvalidArgumentError, match="Conflicting key/value dtypes"):
        session.run(wrong)
