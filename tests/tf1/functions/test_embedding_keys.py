"""Lookups in embedding variables: in one piece and in shards, by sparse ids, in groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

IDS = [5, -7, 5, 2**40, 1000, 0]


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("TF_RECORD_FREQ", raising=False)
    with tf.Graph().as_default():
        yield


def table(shards: int | None = None, name: str = "emb", **arguments: Any) -> Any:
    """A table in which the row of a key is that of its remainder by 7."""
    rows = np.arange(21, dtype=np.float32).reshape(7, 3)
    partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
    return tf.get_embedding_variable(name, 3, initializer=tf.constant(rows), partitioner=partitioner, **arguments)


def row(key: int) -> Any:
    return np.arange(21, dtype=np.float32).reshape(7, 3)[key % 7]


def run(*fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(fetch) for fetch in fetches]
    return found if len(found) > 1 else found[0]


@pytest.mark.parametrize("shards", [None, 1, 2, 4])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (0,)])
def test_rows_come_in_the_order_of_the_ids(shards: int | None, shape: tuple[int, ...]) -> None:
    chosen = np.array(IDS[: int(np.prod(shape))], np.int64).reshape(shape)
    rows = tf.nn.embedding_lookup(table(shards), chosen)
    assert rows.shape.as_list() == [*shape, 3]
    wanted = [row(key) for key in chosen.reshape(-1).tolist()]
    assert run(rows).tolist() == np.array(wanted, np.float32).reshape(*shape, 3).tolist()


def test_a_key_is_in_the_shard_of_its_bucket() -> None:
    whole = table(4)
    _, keys = run(
        tf.nn.embedding_lookup(whole, tf.range(5, 10, dtype=tf.int64)), [part.export().keys for part in whole]
    )
    assert [shard.tolist() for shard in keys] == [[8], [5, 9], [6], [7]]


def test_negative_ids_are_in_shards_like_others() -> None:
    whole = table(4)
    ids = tf.constant([-1, -2, -1000, -1001], tf.int64)
    _, keys = run(tf.nn.embedding_lookup(whole, ids), [part.export().keys for part in whole])
    assert [shard.tolist() for shard in keys] == [[-1000], [], [-2], [-1001, -1]]


def test_plain_lists_and_small_integers_are_widened() -> None:
    emb = table()
    assert run(tf.nn.embedding_lookup(emb, [1, 2])).tolist() == [row(1).tolist(), row(2).tolist()]
    assert run(tf.nn.embedding_lookup(emb, tf.constant([1], tf.int32))).tolist() == [row(1).tolist()]


def test_the_strategy_does_not_matter() -> None:
    whole = table(3)
    first, second = (tf.nn.embedding_lookup(whole, IDS, partition_strategy=word) for word in ("mod", "div"))
    a, b = run(first, second)
    assert a.tolist() == b.tolist()


def test_rows_are_shortened_to_a_norm() -> None:
    (found,) = run(tf.nn.embedding_lookup(table(), [1], max_norm=1.0))
    np.testing.assert_allclose(found, row(1) / np.linalg.norm(row(1)), rtol=1e-6)


def test_shards_of_different_kinds_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="shards of the same table"):
        tf.nn.embedding_lookup([table(), tf.get_variable("w", [3, 3])], [1])


@pytest.mark.parametrize("shards", [None, 3])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_lookups_combine_like_those_of_a_dense_table(shards: int | None, combiner: str, weighted: bool) -> None:
    dense = tf.get_variable("dense", initializer=np.arange(21, dtype=np.float32).reshape(7, 3))
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 2], [2, 0]], tf.constant([3, 1, 3, 3, 6], tf.int64), [3, 3])
    weights = tf.SparseTensor(ids.indices, tf.constant([0.5, 2.0, 1.0, 3.0, 0.25]), [3, 3]) if weighted else None
    found, wanted = (
        tf.nn.embedding_lookup_sparse(params, ids, weights, combiner=combiner) for params in (table(shards), dense)
    )
    a, b = run(found, wanted)
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_safe_lookups_drop_ids_below_0_and_fill_empty_rows() -> None:
    dense = tf.get_variable("dense", initializer=np.arange(21, dtype=np.float32).reshape(7, 3))
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, -1, -2], tf.int64), [4, 2])
    for default in (None, 5):
        found, wanted = (
            tf.nn.safe_embedding_lookup_sparse(params, ids, default_id=default)
            for params in (table(2, f"emb_{default}"), dense)
        )
        a, b = run(found, wanted)
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_ids_are_counted_where_that_matters() -> None:
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 3, 6], tf.int64), [2, 2])
    tf.nn.embedding_lookup_sparse(table(), ids, None)
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(2))
    tf.nn.embedding_lookup_sparse(table(name="counted", ev_option=option), ids, None)
    kinds = [op.type for op in tf.get_default_graph().get_operations() if op.type.startswith("KvResourceGather")]
    assert kinds == ["KvResourceGather", "KvResourceGatherV1"]


# ---------------------------------------------------------------------------------------------------- Groups


def test_a_group_looks_up_each_table_by_its_ids() -> None:
    wide = tf.get_embedding_variable("wide", 2, initializer=tf.ones_initializer())
    ragged = tf.RaggedTensor.from_row_splits(tf.constant([3, 1, 4, 1, 5], tf.int64), [0, 2, 2, 5, 5])
    found = tf.nn.group_embedding_lookup_sparse([table(), wide], [ragged, ragged], ["sum", "mean"])
    a, b = run(found)
    assert a.tolist() == [(row(3) + row(1)).tolist(), [0, 0, 0], (row(4) + row(1) + row(5)).tolist(), [0, 0, 0]]
    assert b.tolist() == [[1, 1], [0, 0], [1, 1], [0, 0]]


def test_weights_of_a_group_are_those_of_the_ids() -> None:
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, 2], tf.int64), [1, 2])
    weights = tf.SparseTensor(ids.indices, tf.constant([1.0, 3.0]), [1, 2])
    (found,) = tf.nn.group_embedding_lookup_sparse([table()], [ids], ["mean"], sp_weights=[weights])
    np.testing.assert_allclose(run(found)[0], (row(1) + 3 * row(2)) / 4, rtol=1e-6)


def test_a_sequence_keeps_the_rows_apart() -> None:
    ids = tf.SparseTensor([[0, 0], [0, 2], [1, 0]], tf.constant([1, 2, 3], tf.int64), [2, 3])
    (found,) = tf.nn.group_embedding_lookup_sparse([table()], [ids], ["sum"], is_sequence=True)
    zero = [0.0] * 3
    assert run(found).tolist() == [
        [row(1).tolist(), zero, row(2).tolist()],
        [row(3).tolist(), zero, zero],
    ]


def test_what_a_group_cannot_do_is_said_at_once() -> None:
    ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
    with pytest.raises(InvalidArgumentError) as caught:
        tf.nn.group_embedding_lookup_sparse([table(2)], [ids, ids], ["sqrtn"])
    for words in ("1 tables and 2 sp_ids", "'sqrtn'", '"emb" is in 2 parts'):
        assert words in str(caught.value)


def test_a_group_of_dense_ids() -> None:
    found = tf.nn.group_embedding_lookup([table(), table(name="b")], [[1], [2, 3]])
    assert [rows.shape for rows in run(found)] == [(1, 3), (2, 3)]
