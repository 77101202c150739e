"""Embedding tables in ONNX: keys and rows are in the file, and what keys that are not there are looked up as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.rules.strings import tables
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tests.onnx.walking import OPSETS
from tests.onnx.with_resources import assert_same, translated
from tests.ops.embedding_graphs import gathered, graph, handle, initializer, keys, session

ROWS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], np.float32)
KNOWN = keys(7, -3, 2**62, 0)
ASKED = keys(-3, 5, 0, -4, 7, 2**62, -(2**63), 7).reshape(2, 4)


@pytest.fixture(autouse=True)
def made() -> Iterator[Graph]:
    with graph() as built:
        yield built


def trained(run: Session, table: Any, init: Any, known: Any = KNOWN) -> None:
    """Initializes a table and gives some keys rows of their own."""
    run.run(init)
    resource = run.run(table)
    rows = np.arange(2 * len(known), dtype=np.float32).reshape(-1, 2) + 100
    resource.table.assign(known, rows)


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("rows", [ROWS, ROWS[:1]])
@pytest.mark.parametrize("attrs", [{}, {"is_inference": True}])
def test_keys_have_their_rows_and_others_the_default_row_of_their_remainder(
    made: Graph, rows: Any, attrs: Any, opset: int
) -> None:
    table = handle()
    init, fed = initializer(table, rows), placeholder(dtype=INT64, shape=[None, 4])
    found, shape = gathered(table, fed, **attrs), get_op("KvVariableShape")(table)
    with session(made) as run:
        run.run(init)
        assert_same(run, {fed: ASKED}, [found], opset)  # no key is known yet
        trained(run, table, init)
        assert_same(run, {}, [shape], opset)
        nodes = assert_same(run, {fed: ASKED}, [found], opset)
    if len(rows) == 1:
        assert nodes == ["LabelEncoder", "Gather"]


def test_keys_of_32_bits_and_a_program_that_gives_new_rows(made: Graph) -> None:
    table = handle(key_dtype=INT32)
    init, fed = initializer(table, ROWS), placeholder(dtype=INT32, shape=[None])
    new = placeholder(dtype=FLOAT32, shape=[None, 2])
    found = get_op("KvResourceGather")(table, fed, new, is_use_default_value_tensor=True, is_inference=True)
    counted = get_op("KvResourceGatherV1")(table, fed, np.float32(0), np.array([1], np.int32), is_inference=True)
    with session(made) as run:
        trained(run, table, init, np.array([7, -3], np.int32))
        feeds = {fed: np.array([7, 8, -3], np.int32), new: np.arange(6, dtype=np.float32).reshape(3, 2)}
        assert_same(run, feeds, [found, counted])


def test_a_key_that_a_filter_keeps_out_has_the_row_of_those(made: Graph) -> None:
    table = handle()
    init = initializer(table, ROWS, filter_freq=3, default_value_no_permission=9.0)
    fed = placeholder(dtype=INT64, shape=[None])
    with session(made) as run:
        trained(run, table, init)
        assert_same(run, {fed: ASKED.reshape(-1)}, [gathered(table, fed)])


def test_a_slot_has_rows_of_its_own(made: Graph) -> None:
    table, slot = handle(), handle("emb/momentum")
    inits = [initializer(table, ROWS), initializer(slot, ROWS * 2, table)]
    fed = placeholder(dtype=INT64, shape=[None])
    with session(made) as run:
        for init in inits:
            run.run(init)
        run.run(table).table.assign(KNOWN, np.ones((4, 2), np.float32))
        assert_same(run, {fed: ASKED.reshape(-1)}, [gathered(slot, fed), gathered(table, fed)])


def test_rows_are_in_the_file_once_however_often_they_are_looked_up(made: Graph) -> None:
    table = handle()
    init, fed = initializer(table, ROWS[:1]), placeholder(dtype=INT64, shape=[None])
    with session(made) as run:
        trained(run, table, init, np.arange(100))
        model = translated(run, [fed], [gathered(table, fed), gathered(table, fed + 1)])
    assert [value.name for value in model.model.graph.initializers.values() if "emb" in str(value.name)] == ["emb"]


def test_keys_beyond_millions_are_searched(made: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST_ENCODED", 3)
    table = handle()
    init, fed = initializer(table, ROWS), placeholder(dtype=INT64, shape=[None, None])
    with session(made) as run:
        trained(run, table, init)
        assert "LabelEncoder" not in assert_same(run, {fed: ASKED}, [gathered(table, fed)])


# ------------------------------------------------------------------------------------------------ Many tables

PLACES = [np.array([[0, 0], [2, 0], [2, 1]], np.int64), np.array([[1, 1]], np.int64)]
SIZES = np.array([3, 2], np.int64)
WEIGHTS = [np.array([1.0, 2.0, 4.0], np.float32), np.array([3.0], np.float32)]


@pytest.mark.parametrize("opset", [16, 24])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["sum", "mean", "sqrtn", "sequence"])
@pytest.mark.parametrize("op", ["GroupEmbeddingVarLookup", "GroupVariableLookup"])
def test_lines_of_many_tables_are_combined(made: Graph, op: str, how: str, weighted: bool, opset: int) -> None:
    is_embedding = op == "GroupEmbeddingVarLookup"
    sources = [handle("a"), handle("b")] if is_embedding else [placeholder(dtype=FLOAT32, shape=[3, 2])] * 2
    inits = [initializer(source, ROWS) for source in sources] if is_embedding else []
    fed = [placeholder(dtype=INT64, shape=[None]) for _ in PLACES]
    places = [placeholder(dtype=INT64, shape=[None, 2]) for _ in PLACES]
    size = placeholder(dtype=INT64, shape=[2])
    found = get_op(op)(
        sources, fed, places, WEIGHTS, [size, size], np.float32(1), combiner="mean" if how == "sequence" else how,
        dimension=2, ignore_weights=not weighted, is_sequence=how == "sequence",
    )  # fmt: skip
    feeds = dict(zip([*fed, *places], [keys(1, 2, 1), keys(2), *PLACES], strict=True)) | {size: SIZES}
    if not is_embedding:
        feeds[sources[0]] = ROWS
    with session(made) as run:
        for source, init in zip(sources, inits, strict=False):
            trained(run, source, init, keys(1, 5))
        assert_same(run, feeds, [tensor for tensors in found for tensor in tensors], opset)


@pytest.mark.parametrize("op", ["GroupEmbeddingVarLookupDense", "GroupVariableLookupDense"])
@pytest.mark.parametrize("is_given", [False, True])
def test_rows_of_many_tables(made: Graph, op: str, is_given: bool) -> None:
    is_embedding = op.startswith("GroupEmb")
    source = handle("a") if is_embedding else placeholder(dtype=FLOAT32, shape=[3, 2])
    init = initializer(source, ROWS) if is_embedding else None
    fed = placeholder(dtype=INT64, shape=[None, 2])
    attrs: dict[str, Any] = {"is_use_default_value_tensor": is_given} if is_embedding else {}
    found = get_op(op)([source], [fed], np.array([5.0, 6.0], np.float32), dimension=2, **attrs)
    with session(made) as run:
        if is_embedding:
            trained(run, source, init, keys(1, 5))
        feeds = {fed: keys(1, 2, 0, 1).reshape(2, 2)} | ({} if is_embedding else {source: ROWS})
        assert_same(run, feeds, [tensor for tensors in found for tensor in tensors])


# ------------------------------------------------------------------------------------------------ Older tables


def hash_table() -> Any:
    return tf.hash_table.HashTable([2], tf.float32, "t", tf.constant_initializer(3), segment_size=4, name="t")


def test_an_older_table_that_lets_no_keys_in_has_its_rows_and_a_default(made: Graph) -> None:
    table = hash_table()
    fed = placeholder(dtype=INT64, shape=[None])
    new_ids = get_op("HashTableLookupOp")(table.hash_table.handle, KNOWN)
    nobody = get_op("ReadOnlyHashTableAdmitStrategyOp")()
    ids = get_op("HashTableLookupWithAdmitOp")(table.hash_table.handle, fed, nobody, np.zeros(0, np.int32))
    rows = get_op("TensibleVariableGather")(table.handle, ids, np.float32(-1))
    change = get_op("TensibleVariableScatterUpdate")(
        table.handle, new_ids, np.arange(8, dtype=np.float32).reshape(4, 2)
    )
    asked = [
        get_op("HashTableSizeOp")(table.hash_table.handle),
        get_op("TensibleVariableIsInitializedOp")(table.handle),
    ]
    with Session(made) as run:
        run.run(tf.global_variables_initializer())
        run.run(change)
        assert_same(run, {fed: ASKED.reshape(-1)}, [ids, get_op("CopyTensor")(rows), *asked])


def test_an_older_table_that_lets_keys_in_is_refused_with_what_to_do(made: Graph) -> None:
    table = hash_table()
    fed = placeholder(dtype=INT64, shape=[None])
    with Session(made) as run:
        run.run(tf.global_variables_initializer())
        with pytest.raises(CannotTranslateError, match=r"new rows, which a file cannot; look up with .*WithAdmit"):
            translated(run, [fed], [get_op("HashTableLookupOp")(table.hash_table.handle, fed)])


def test_a_table_without_rows_is_refused_and_the_engine_takes_none(made: Graph) -> None:
    table = handle()
    init, fed = initializer(table, ROWS), placeholder(dtype=INT64, shape=[None])
    found = gathered(table, fed)
    with session(made) as run:
        with pytest.raises(CannotTranslateError, match="restore or initialize it first"):
            translated(run, [fed], [found])
        run.run(init)
        with pytest.raises(CannotTranslateError, match="embeddings stay with our own kernels"):
            translated(run, [fed], [found], is_for_engine=True)
