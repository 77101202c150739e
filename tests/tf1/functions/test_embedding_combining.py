"""DeepRec's other lookups by sparse ids, against what they say in plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, WrongTypeError

TABLE = np.arange(1, 15, dtype=np.float32).reshape(7, 2)
# Two items; of the first, lines 0 and 2 with ids 1, 3 and 5, of the second line 1 with id 6; no third item.
INDICES = [[0, 0, 0], [0, 0, 2], [0, 2, 1], [1, 1, 0]]
VALUES = [1, 3, 5, 6]
WEIGHTS = np.array([1, 3, 2, 0.5], np.float32)
SHAPE = [3, 3, 3]


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def ids(values: Any = VALUES, indices: Any = INDICES, shape: Any = SHAPE) -> tf.SparseTensor:
    return tf.SparseTensor(np.array(indices, np.int64), np.array(values, np.int64), np.array(shape, np.int64))


def weights() -> tf.SparseTensor:
    return tf.SparseTensor(np.array(INDICES, np.int64), WEIGHTS, np.array(SHAPE, np.int64))


def run(fetched: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetched, feeds)


PLAIN = {
    "sum": lambda rows, weights: rows.sum(0),
    "mean": lambda rows, weights: rows.sum(0) / weights.sum(),
    "sqrtn": lambda rows, weights: rows.sum(0) / np.sqrt((weights**2).sum()),
    "max": lambda rows, weights: rows.max(0),
    "min": lambda rows, weights: rows.min(0),
}


def combined(combiners: Any, given: Any = None, weight_axis: int = 2) -> Any:
    """The same by loops: along the last axis, then along the one before it."""
    level = {
        tuple(place): (TABLE[value] * weight, weight)
        for place, value, weight in zip(INDICES, VALUES, np.ones(4) if given is None else given, strict=True)
    }
    for axis in (2, 1):
        groups: dict[Any, list[Any]] = {}
        for place, item in level.items():
            groups.setdefault(place[:axis], []).append((place[axis], *item))
        level = {}
        for place, items in groups.items():
            rows, own = np.array([item[1] for item in items]), np.array([item[2] for item in items])
            if combiners[axis - 1] == "tile":
                row = np.zeros((SHAPE[axis], rows.shape[1]))
                row[[item[0] for item in items]] = rows
                level[place] = (row.reshape(-1), own.mean())
            else:
                used = own if given is not None and axis == weight_axis else np.ones(len(own))
                level[place] = (PLAIN[combiners[axis - 1]](rows, used), own.mean())
    found = np.zeros((SHAPE[0], len(level[(0,)][0])))
    for place, (row, _) in level.items():
        found[place] = row
    return found


@pytest.mark.parametrize("first", ["sum", "mean", "sqrtn", "max", "min", "tile"])
@pytest.mark.parametrize("last", ["sum", "mean", "sqrtn", "max", "min", "tile"])
@pytest.mark.parametrize("weight_axis", [None, 1, 2])
def test_each_axis_is_combined_in_its_own_way(first: str, last: str, weight_axis: int | None) -> None:
    is_weighted = weight_axis is not None
    found = tf.nn.embedding_lookup_sparse_multi_dim(
        tf.constant(TABLE),
        ids(),
        weights() if is_weighted else None,
        combiners=[first, last],
        weight_axis=weight_axis or -1,
    )
    wanted = combined((first, last), WEIGHTS if is_weighted else None, weight_axis or 2)
    np.testing.assert_allclose(run(found), wanted, rtol=1e-6)


def test_ids_of_another_rank_than_the_combiners_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="of rank 3 are combined along 2 axes, and 1 combiners are given"):
        tf.nn.embedding_lookup_sparse_multi_dim(TABLE, ids(), None, combiners=["sum"])
    with pytest.raises(InvalidArgumentError, match=r"combiner must be one of 'mean'.*'sum'.*got 'prod'"):
        tf.nn.embedding_lookup_sparse_multi_dim(TABLE, ids(), None, combiners=["sum", "prod"])
    with pytest.raises(WrongTypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse_multi_dim(TABLE, [1], None)


def test_axes_without_a_combiner_stay() -> None:
    found = run(tf.nn.safe_embedding_lookup_multi_dim(tf.constant(TABLE), ids(), combiners=["sum"]))
    assert found.shape == (3, 3, 2)
    assert found[0].tolist() == [(TABLE[1] + TABLE[3]).tolist(), [0, 0], TABLE[5].tolist()]
    assert not found[2].any()


def test_invalid_ids_are_left_out_over_several_axes_unless_they_are_wanted() -> None:
    table = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer())
    negative = ids([1, -3, 5, 6])
    pruned = tf.nn.safe_embedding_lookup_multi_dim(table, negative, combiners=["sum", "sum"])
    whole = tf.nn.safe_embedding_lookup_multi_dim(table, negative, combiners=["sum", "sum"], prune=False)
    assert run([pruned[:, 0], whole[:, 0]]) == [pytest.approx([2, 1, 0]), pytest.approx([3, 1, 0])]


def test_gradients_go_through_several_axes() -> None:
    table = tf.get_variable("t", initializer=TABLE)
    found = tf.nn.embedding_lookup_sparse_multi_dim(table, ids(), None, combiners=["sum", "mean"])
    gradient = run(tf.convert_to_tensor(tf.gradients(found, table)[0]))
    assert gradient[:, 0].tolist() == [0, 0.5, 0, 0.5, 0, 1, 1]


# Pruning


def test_safe_lookups_keep_negative_keys_on_request() -> None:
    table = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer())
    two = ids([-4, 7], [[0, 0], [0, 1]], [2, 2])
    sums = [tf.nn.safe_embedding_lookup_sparse(table, two, combiner="sum", prune=prune) for prune in (True, False)]
    assert [found[:, 0].tolist() for found in run(sums)] == [[1, 0], [2, 0]]


# Two tables


def test_an_id_is_in_the_table_that_the_mask_says_and_new_keys_begin_as_plain_rows() -> None:
    plain = tf.get_variable("plain", initializer=TABLE)
    keyed = tf.get_embedding_variable("keyed", 2, initializer=tf.zeros_initializer())
    lines = ids([4, 1000, 2, 1001], [[0, 0], [1, 0], [2, 0], [3, 0]], [4, 1])
    found = tf.nn.adaptive_embedding_lookup_sparse(
        plain, keyed, lines, tf.constant([6, 0], tf.int64), None, adaptive_mask_tensor=tf.constant([0, 1, 0, 1])
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found).tolist() == TABLE[[4, 6, 2, 0]].tolist()
        keys = session.run(tf.nn.embedding_lookup(keyed, tf.constant([1000, 1001], tf.int64)))
    assert keys.tolist() == TABLE[[6, 0]].tolist()


def test_lines_without_an_id_are_zero_in_two_tables() -> None:
    plain = tf.get_variable("plain", initializer=TABLE)
    keyed = tf.get_embedding_variable("keyed", 2, initializer=tf.zeros_initializer())
    lines = ids([4, -1, 1001], [[0, 0, 0], [0, 1, 0], [1, 1, 0]], [2, 2, 1])
    arguments = (plain, keyed, lines, tf.constant([3], tf.int64))
    mask = tf.constant([0, 0, 0, 1])
    zero = tf.nn.safe_adaptive_embedding_lookup_sparse(*arguments, adaptive_mask_tensor=mask)
    other = tf.nn.safe_adaptive_embedding_lookup_sparse(*arguments, default_id=5, adaptive_mask_tensor=mask)
    found = run([zero, other])
    assert found[0].tolist() == [[TABLE[4].tolist(), [0, 0]], [[0, 0], TABLE[3].tolist()]]
    assert found[1].tolist() == [[TABLE[4].tolist(), TABLE[5].tolist()], [TABLE[5].tolist(), TABLE[3].tolist()]]


def test_what_an_adaptive_lookup_does_not_take_is_refused() -> None:
    keyed = tf.get_embedding_variable("keyed", 2)
    with pytest.raises(InvalidArgumentError, match="takes no weights"):
        tf.nn.adaptive_embedding_lookup_sparse(TABLE, keyed, ids(), [0], weights(), adaptive_mask_tensor=[0])
    with pytest.raises(InvalidArgumentError, match="which table it is in"):
        tf.nn.adaptive_embedding_lookup_sparse(TABLE, keyed, ids(), [0], None)


# Fused


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("default_id", [None, 3])
def test_a_fused_lookup_is_a_safe_one(combiner: str, default_id: int | None) -> None:
    shards = [tf.constant(TABLE[:4]), tf.constant(TABLE[4:])]
    lines = ids([1, -1, 6, 2], [[0, 0], [0, 1], [2, 0], [2, 1]], [4, 2])
    options = {"combiner": combiner, "default_id": default_id, "max_norm": 5.0}
    fused = tf.nn.fused_embedding_lookup_sparse(shards, lines, None, "div", prune_invalid_ids=True, **options)
    safe = tf.nn.safe_embedding_lookup_sparse(shards, lines, **options)
    found, wanted = run([fused, safe])
    np.testing.assert_array_equal(found, wanted)


def test_the_second_form_of_fused_lookups_may_leave_rows_empty() -> None:
    table = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer())
    lines = ids([1, -1, 6], [[0, 0], [0, 1], [2, 0]], [4, 2])
    found = tf.nn.fused_embedding_lookup_sparse_v2([table], lines, combiner="sum", prune=True, fill_empty_row=False)
    assert run(found)[:, 0].tolist() == [1, 0, 1]
    with pytest.raises(InvalidArgumentError, match="take no sparse_weights"):
        tf.nn.fused_embedding_lookup_sparse([table], lines, lines)


# Gathering


def test_keys_that_are_gathered_begin_as_the_rows_that_are_given() -> None:
    table = tf.get_embedding_variable("e", 2, initializer=tf.zeros_initializer())
    found = tf.gather(table, tf.constant([8, 9], tf.int64), ev_init_value=TABLE[:2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(found)
        assert session.run(tf.gather(table, tf.constant([9], tf.int64))).tolist() == TABLE[1:2].tolist()


def test_gathered_keys_count_as_often_as_is_said() -> None:
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=3))
    table = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer(), ev_option=option)
    keys = tf.constant([8, 9], tf.int64)
    found = tf.gather(table, keys, counts=tf.constant([3, 2]))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(found), tf.train.create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table.get_frequency(keys)).tolist() == [3, 2]


def test_gather_refuses_them_for_other_tables() -> None:
    with pytest.raises(InvalidArgumentError, match="ev_init_value and counts: only the keys of embedding variables"):
        tf.gather(tf.constant(TABLE), [1], ev_init_value=TABLE[:1], counts=[1])
