"""Lookup tables beside TensorFlow's: the same nodes, the same contents, the same complaints."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import DType
from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.control import control_flow
from tensorkeep.tf1.functions.data import lookup_tables
from tests.interop.programs import build, our_names, tensorflow_1, v1

Program = Callable[[Any], Any]
OURS = our_names(lookup_tables, SparseTensor=SparseTensor, cond=control_flow.cond)


class Theirs:
    """compat.v1 with all tables under one roof."""

    def __getattr__(self, name: str) -> Any:
        from tensorflow.python.ops import lookup_ops

        if name in ("StaticHashTable", "StaticVocabularyTable"):
            return getattr(v1.lookup, name)
        return getattr(lookup_ops if name in lookup_tables.__all__ else v1, name)


THEIRS = Theirs()


@pytest.fixture(autouse=True)
def same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names that are drawn at random are the same for both."""
    ours, theirs = count(), count()
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(theirs)))
    monkeypatch.setattr(lookup_tables, "uuid4", lambda: uuid.UUID(int=next(ours)))


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(b"one\t1\r\ntwo\t2\nthree\t3")
    return str(path)


def words(tf: Any) -> Any:
    return tf.KeyValueTensorInitializer(["a", "b", "c"], [1, 2, 3], value_dtype=tf.int64)


def looked_up(table: Any, keys: Any) -> Any:
    return [table.lookup(keys), table.size()]


STATIC: dict[str, Program] = {
    "strings": lambda tf: looked_up(tf.StaticHashTable(words(tf), -1), tf.constant([["b", "x"], ["", "a"]])),
    "numbers": lambda tf: looked_up(
        tf.StaticHashTable(tf.KeyValueTensorInitializer([1, 2], ["x", "y"], tf.int64), "?", name="n"),
        tf.constant(2, tf.int64),
    ),
    "floats": lambda tf: tf.StaticHashTable(
        tf.KeyValueTensorInitializer(["p"], [0.5], tf.string, tf.float32), 9.0
    ).lookup(tf.constant(["p", "q"])),
    "sparse": lambda tf: (
        tf.StaticHashTable(words(tf), -1)
        .lookup(tf.SparseTensor(tf.constant([[0, 0]], tf.int64), tf.constant(["c"]), tf.constant([1, 2], tf.int64)))
        .values
    ),
    "vocabulary": lambda tf: looked_up(tf.StaticVocabularyTable(words(tf), 5), tf.constant(["a", "zz", "c", "y"])),
    "vocabulary of numbers": lambda tf: tf.StaticVocabularyTable(
        tf.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), [0, 1], tf.int64, tf.int64), 3, tf.int32
    ).lookup(tf.constant([5, 6, 7, 8])),
    "buckets only": lambda tf: looked_up(tf.StaticVocabularyTable(None, 4), tf.constant(["a", "b"])),
    "buckets of a strong hash": lambda tf: tf.IdTableWithHashBuckets(
        tf.StaticHashTable(words(tf), -1), 7, tf.StrongHashSpec([1, 2])
    ).lookup(tf.constant(["a", "b", "zz"])),
    "index from tensor": lambda tf: [
        tf.index_table_from_tensor(["a", "b"]).lookup(tf.constant(["b", "c"])),
        tf.index_table_from_tensor(tf.constant(["a", "b"]), 2).lookup(tf.constant(["b", "c"])),
        tf.index_table_from_tensor([10, 20], 1, dtype=tf.int32).lookup(tf.constant([20, 30])),
    ],
    "strings from tensor": lambda tf: tf.index_to_string_table_from_tensor(["a", "b"]).lookup(
        tf.constant([1, 5], tf.int64)
    ),
    "export": lambda tf: tf.StaticHashTable(tf.KeyValueTensorInitializer(["k"], [4], value_dtype=tf.int32), 0).export(),
}


def initialized(program: Program) -> Program:
    def whole(tf: Any) -> Any:
        result = program(tf)
        tf.tables_initializer("init")
        return result

    return whole


@pytest.mark.parametrize("name", sorted(STATIC))
def test_static_tables_are_tensorflows(name: str) -> None:
    built = build(initialized(STATIC[name]), OURS, THEIRS)
    built.expect_same_values(prepare="init")
    ours, theirs = (flat(result) for result in (built.result, built.their_result))
    assert [tensor.shape.as_list() if tensor.shape.ndims is not None else None for tensor in ours] == [
        tensor.shape.as_list() if tensor.shape.rank is not None else None for tensor in theirs
    ]


def flat(result: Any) -> list[Any]:
    return [tensor for item in result for tensor in flat(item)] if isinstance(result, list | tuple) else [result]


FILES: dict[str, Callable[[Any, str], Any]] = {
    "ids": lambda tf, path: tf.index_table_from_file(path).lookup(tf.constant(["two\t2", "x"])),
    "ids with buckets": lambda tf, path: tf.index_table_from_file(path, 3).lookup(tf.constant(["two\t2", "x"])),
    "strings": lambda tf, path: tf.index_to_string_table_from_file(path, 2).lookup(tf.constant([0, 9], tf.int64)),
    "columns": lambda tf, path: tf.StaticHashTable(
        tf.TextFileInitializer(path, tf.string, 0, tf.int32, 1, name="columns"), -1
    ).lookup(tf.constant(["three", "x"])),
    "offset": lambda tf, path: tf.StaticHashTable(
        tf.TextFileInitializer(path, tf.string, 0, tf.int64, tf.TextFileIndex.LINE_NUMBER, 2, value_index_offset=5), -1
    ).lookup(tf.constant(["two", "three"])),
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_tables_from_files_are_tensorflows(name: str, vocabulary: str) -> None:
    def program(tf: Any) -> Any:
        return FILES[name](tf, vocabulary)

    built = build(initialized(program), OURS, THEIRS)
    built.expect_same_values(prepare="init")


MUTABLE: dict[str, Program] = {
    "scalars": lambda tf: tf.MutableHashTable(tf.string, tf.int64, -1),
    "vectors": lambda tf: tf.MutableHashTable(tf.string, tf.int64, [-1, -2], name="v"),
    "unnamed": lambda tf: tf.MutableHashTable(tf.string, tf.int64, -1, checkpoint=False),
    "dense": lambda tf: tf.DenseHashTable(tf.string, tf.int64, -1, "", "deleted"),
    "dense vectors": lambda tf: tf.DenseHashTable(tf.string, tf.int64, [7, 8], "", "deleted", 16, checkpoint=False),
}


@pytest.mark.parametrize("name", sorted(MUTABLE))
def test_mutable_tables_change_as_tensorflows_do(name: str) -> None:
    is_vector = "vectors" in name

    def program(tf: Any) -> Any:
        table = MUTABLE[name](tf)
        values = tf.placeholder(tf.int64, [None, 2] if is_vector else [None], name="values")
        keys = tf.placeholder(tf.string, [None], name="keys")
        return {
            "insert": table.insert(keys, values),
            "remove": table.remove(keys),
            "find": table.lookup(keys),
            "size": table.size(),
            "export": table.export(),
        }

    built = build(program, OURS, THEIRS)
    for what in ("find", "size", "export"):
        for mine, other in zip(flat(built.result[what]), flat(built.their_result[what]), strict=True):
            dims = None if other.shape.rank is None else tuple(other.shape.as_list())
            assert mine.static_shape.dims == dims, what
    ours = Session(built.graph)
    with v1.Session(graph=built.their_graph) as theirs:

        def both(what: str, keys: list[str], numbers: Sequence[int] = ()) -> Any:
            values = np.array([[n, n + 1] if is_vector else n for n in numbers], np.int64)
            feeds = {
                "keys:0": np.array(keys, object),
                "values:0": values.reshape(-1, 2) if is_vector else values,
            }
            mine = ours.run(built.result[what], feeds)
            other = theirs.run(built.their_result[what], feeds)
            return mine, other

        for step in (
            ("insert", ["a", "b", "a"], [1, 2, 3]),
            ("find", ["a", "b", "c"], []),
            ("size", [], []),
            ("remove", ["b", "zz"], []),
            ("insert", ["c", "d"], [4, 5]),
            ("find", ["d", "b", "a", "c"], []),
            ("size", [], []),
        ):
            mine, other = both(*step)
            np.testing.assert_array_equal(mine, other) if mine is not None else None
        (my_keys, my_values), (keys, values) = both("export", [])
        assert my_keys.shape == keys.shape
        assert my_values.shape == values.shape
        mine, other = (
            {key: value.tolist() for key, value in zip(ks.reshape(-1).tolist(), vs, strict=True) if key not in RESERVED}
            for ks, vs in ((my_keys, my_values), (keys, values))
        )
        assert mine == other


RESERVED = (b"", b"deleted")


@pytest.mark.parametrize("key_dtype", ["string", "int64"])
def test_the_exported_buckets_of_a_dense_table_can_be_imported_by_tensorflow(key_dtype: str) -> None:
    keys: Any = [f"k{i}" for i in range(40)] if key_dtype == "string" else list(range(-20, 20))
    unused = ("", "deleted") if key_dtype == "string" else (-100, -101)

    def program(tf: Any) -> Any:
        table = tf.DenseHashTable(getattr(tf, key_dtype), tf.float32, [0.0, 0.0], *unused, 16, checkpoint=False)
        buckets = tf.placeholder(getattr(tf, key_dtype), None, name="buckets")
        rows = tf.placeholder(tf.float32, None, name="rows")
        values = tf.constant(np.arange(80, dtype=np.float32).reshape(40, 2))
        loaded = lookup_tables.TableSaveable(table, "t").restore([buckets, rows]) if tf is OURS else None
        if loaded is None:
            loaded = v1.raw_ops.LookupTableImportV2(table_handle=table.resource_handle, keys=buckets, values=rows)
        return table.insert(keys, values), table.export(), loaded, table.lookup(keys)

    with building(Graph()) as graph:
        ours = program(OURS)
    with tensorflow_1(), tf.Graph().as_default() as their_graph:
        theirs = program(THEIRS)
    mine, other = Session(graph), v1.Session(graph=their_graph)
    mine.run(ours[0])
    buckets, rows = mine.run(ours[1])
    assert len(buckets) == 64
    other.run(theirs[2], {"buckets:0": buckets, "rows:0": rows})
    np.testing.assert_array_equal(other.run(theirs[3]), mine.run(ours[3]))
    back = other.run(theirs[1])
    again = Session(graph)
    again.run(ours[2], {"buckets:0": back[0], "rows:0": back[1]})
    np.testing.assert_array_equal(again.run(ours[3]), mine.run(ours[3]))
    other.close()


def test_a_lookup_may_bring_a_default_for_every_key() -> None:
    def program(tf: Any) -> Any:
        table = tf.MutableHashTable(tf.int64, tf.float32, 0.0)
        return table.lookup(tf.constant([[1, 2]], tf.int64), tf.constant([[5.0, 6.0]]))

    build(program, OURS, THEIRS).expect_same_values()


@pytest.mark.parametrize("kind", ["StaticHashTable", "MutableHashTable", "of tensors", "DenseHashTable"])
def test_an_anonymous_table_lasts_for_one_run(kind: str) -> None:
    def program(tf: Any) -> Any:
        keys = tf.constant(["a", "x"])
        if kind == "StaticHashTable":
            table = tf.StaticHashTable(words(tf), -1, experimental_is_anonymous=True)
            with tf.control_dependencies([table.initializer]):
                return table.lookup(keys)
        default = [0, 0] if kind == "of tensors" else 0
        more: Any = {"checkpoint": False, "experimental_is_anonymous": True}
        if kind == "DenseHashTable":
            table = tf.DenseHashTable(tf.string, tf.int64, default, "", "-", **more)
        else:
            table = tf.MutableHashTable(tf.string, tf.int64, default, **more)
        with tf.control_dependencies([table.insert(["a"], [[3, 4]] if kind == "of tensors" else [3])]):
            return table.lookup(keys)

    build(program, OURS, THEIRS).expect_same_values(times=2)


def test_the_first_versions_of_the_ops_do_what_tensorflows_do(vocabulary: str) -> None:
    """Built by us, run by both."""
    graph = Graph()
    with building(graph):
        static = get_op("HashTable")(key_dtype=DType.of("string"), value_dtype=DType.of("int64"), name="static")
        get_op("InitializeTable")(static, ["a", "b"], np.array([1, 2]), name="fill")
        get_op("LookupTableFind")(static, ["b", "c"], np.int64(-1), name="found")
        get_op("LookupTableSize")(static, name="size")
        lines = get_op("HashTable")(key_dtype=DType.of("string"), value_dtype=DType.of("int64"), name="lines")
        get_op("InitializeTableFromTextFile")(lines, vocabulary, key_index=0, value_index=1, name="load")
        get_op("LookupTableFind")(lines, ["three"], np.int64(-1), name="line")
        for number, (op, attrs) in enumerate(
            (
                ("MutableHashTable", {}),
                ("MutableHashTableOfTensors", {"value_shape": [2]}),
            )
        ):
            types: Any = {"key_dtype": DType.of("int64"), "value_dtype": DType.of("float32")}
            table = get_op(op)(name=f"table{number}", **types, **attrs)
            values = np.ones((1, 2) if attrs else (1,), np.float32)
            get_op("LookupTableInsert")(table, np.array([4]), values, name=f"insert{number}")
            get_op("LookupTableImport")(table, np.array([5]), values, name=f"import{number}")
            default = np.zeros(2 if attrs else (), np.float32)
            get_op("LookupTableFind")(table, np.array([4, 5]), default, name=f"found{number}")
            exported: Any = {"Tkeys": DType.of("int64"), "Tvalues": DType.of("float32")}
            get_op("LookupTableExport")(table, name=f"export{number}", **exported)
    twin = tf.Graph()
    with twin.as_default():
        tf.import_graph_def(v1.GraphDef.FromString(export_graph(graph).SerializeToString()), name="")
    ours = Session(graph)
    with v1.Session(graph=twin) as theirs:
        for steps in (["fill", "load"], ["insert0", "insert1"]):
            ours.run([graph.operation(step) for step in steps])
            theirs.run(steps)
        names = ["found:0", "size:0", "line:0", *(f"found{i}:0" for i in range(2))]
        names += [f"export{i}:{part}" for i in range(2) for part in (0, 1)]
        for name, mine, other in zip(names, ours.run(names), theirs.run(names), strict=True):
            np.testing.assert_array_equal(mine, other, err_msg=name)
        for step in ("import0", "import1"):
            ours.run(graph.operation(step))
            theirs.run(step)
        for name in ("found0:0", "found1:0"):
            np.testing.assert_array_equal(ours.run(name), theirs.run(name))
        for tensor in (name for op in graph.operations for name in (t.name for t in op.outputs)):
            shape = twin.get_tensor_by_name(tensor).shape
            dims = None if shape.rank is None else tuple(shape.as_list())
            assert graph.tensor(tensor).static_shape.dims == dims, tensor


BAD: dict[str, tuple[Program, str]] = {
    "not initialized": (lambda tf: tf.StaticHashTable(words(tf), -1).lookup(tf.constant("a")), "Table not initialized"),
    "two values for a key": (
        lambda tf: (
            tf.StaticHashTable(tf.KeyValueTensorInitializer(["a", "a"], [1, 2], value_dtype=tf.int64), 0).initializer
        ),
        "HashTable has different value for same key. Key a has 1 and trying to add value 2",
    ),
    "an unusable key": (
        lambda tf: tf.DenseHashTable(tf.int64, tf.int64, 0, 5, 6).lookup(tf.constant([5], tf.int64)),
        "Using the empty_key as a table key is not allowed",
    ),
    "a deleted key": (
        lambda tf: tf.DenseHashTable(tf.int64, tf.int64, 0, 5, 6).insert(tf.constant([6], tf.int64), [1]),
        "Using the deleted_key as a table key is not allowed",
    ),
    "equal unusable keys": (
        lambda tf: tf.DenseHashTable(tf.int64, tf.int64, 0, 5, 5).size(),
        "Empty and deleted keys cannot be equal",
    ),
    "odd buckets": (lambda tf: tf.DenseHashTable(tf.int64, tf.int64, 0, 5, 6, 12).size(), "Number of buckets must be"),
    "values of another shape": (
        lambda tf: tf.MutableHashTable(tf.int64, tf.int64, 0).insert([1, 2], [1]),
        "Expected shape [2] for value, got [1]",
    ),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_what_goes_wrong_is_said_in_tensorflows_words(name: str) -> None:
    program, said = BAD[name]
    built = build(program, OURS, THEIRS)
    with pytest.raises(TensorKeepError) as ours:
        Session(built.graph).run(built.result)
    with v1.Session(graph=built.their_graph) as session, pytest.raises(tf.errors.OpError) as theirs:
        session.run(built.their_result)
    assert said in theirs.value.message
    assert said in str(ours.value)
    assert type(ours.value).__name__ == type(theirs.value).__name__


def test_a_table_may_be_initialized_again_with_as_many_entries() -> None:
    def program(tf: Any) -> Any:
        table = tf.StaticHashTable(words(tf), -1)
        again = tf.KeyValueTensorInitializer(["x", "y"], [8, 9], value_dtype=tf.int64).initialize(table)
        return [table.initializer, again]

    built = build(program, OURS, THEIRS)
    with tensorflow_1(), v1.Session(graph=built.their_graph) as theirs:
        ours = Session(built.graph)
        for _ in range(2):
            ours.run(built.result[0])
            theirs.run(built.their_result[0])
        with pytest.raises(tf.errors.FailedPreconditionError, match="different data"):
            theirs.run(built.their_result[1])
        with pytest.raises(TensorKeepError, match="different data"):
            ours.run(built.result[1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a\t1\n\nb\t2\n", "empty line found"),
        (b"a\nb\t2\n", "Invalid number of columns"),
        (b"a\tx\n", "Field x in line 0 is not a valid int64"),
        (b"a\t1\n", "Invalid vocab_size"),
    ],
)
def test_bad_files_are_refused_as_tensorflow_refuses_them(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(text)

    def program(tf: Any) -> Any:
        return tf.StaticHashTable(tf.TextFileInitializer(str(path), tf.string, 0, tf.int64, 1, 2), -1).initializer

    built = build(program, OURS, THEIRS)
    with pytest.raises(TensorKeepError, match=said):
        Session(built.graph).run(built.result)
    with v1.Session(graph=built.their_graph) as session, pytest.raises(tf.errors.InvalidArgumentError, match=said):
        session.run(built.their_result)
