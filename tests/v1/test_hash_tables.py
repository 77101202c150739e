"""DeepRec's older tables by key, `tf.hash_table`, as its programs use them.

Programs and values are those of its hash_table_test.py, embedding_test.py and admit_strategy_test.py where it has some.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep import load_saved_model, open_checkpoint
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.saved_model.edit.directory_edits import rewrite_model
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature

Parts = tf.hash_table.FixedSizeHashTablePartitioner
KEYS = [0, 1, 2, 60000, 60001, -7]


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def distributed(parts: int = 5, shape: Any = (2,), name: str = "t", value: float = 0.0, **arguments: Any) -> Any:
    return tf.hash_table.DistributedHashTable(
        list(shape),
        tf.float32,
        partitioner=Parts(parts),
        initializer=tf.constant_initializer(value),
        name=name,
        **arguments,
    )


def run(*fetches: Any, feeds: Any = None) -> Any:
    """What a new session gives, one thing after the other."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch, feeds) for fetch in fetches]


# Making


def test_nodes_and_names_are_deeprecs() -> None:
    table = distributed(2)
    first = table.partitions[0]
    assert (table.name, first.name, first.hash_table.name) == ("t", "t/HashTable_0", "t/HashTable_0/SimpleHashTable")
    assert first.slicer == [0, 32768, 65536]
    graph = tf.get_default_graph()
    kinds = {op.name: op.type for op in graph.get_operations() if op.name.startswith("t/HashTable_1")}
    assert kinds == {
        "t/HashTable_1": "TensibleVariableOp",
        "t/HashTable_1/SimpleHashTable": "HashTableOp",
        "t/HashTable_1/SimpleHashTable/Initializer": "HashTableInitializeOp",
        "t/HashTable_1/SimpleHashTable/FalseInitializer": "HashTableInitializeOp",
        "t/HashTable_1/Initializer/Initializer": "TensibleVariableInitializeOp",
        "t/HashTable_1/FalseInitializer/Initializer": "TensibleVariableInitializeOp",
    }
    assert graph.get_operation_by_name("t/HashTable_1").get_attr("shape").as_tuple() == (4096, 2)


def test_tables_are_in_the_collections_of_variables() -> None:
    tables = [
        tf.hash_table.HashTable([2], tf.float32, "a", tf.zeros_initializer(), name="a"),
        tf.hash_table.HashTable([2], tf.float32, "b", tf.zeros_initializer(), trainable=None, name="b"),
    ]
    fixed = tf.hash_table.HashTable([2], tf.float32, "c", tf.zeros_initializer(), trainable=False, name="c")
    assert tf.trainable_variables() == tables
    assert tf.global_variables() == [*tables, fixed]
    other = tf.hash_table.HashTable([2], tf.float32, "d", tf.zeros_initializer(), collections=["mine"], name="d")
    assert tf.get_collection("mine") == [other]


@pytest.mark.parametrize("arguments", [{}, {"initializer": tf.zeros_initializer(), "init_func": lambda: 0}])
def test_a_table_has_one_initializer(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"initializer or init_func must (not )?be specified"):
        tf.hash_table.HashTable([2], tf.float32, "a", **arguments)


def test_a_partitioner_shares_places_as_evenly_as_can_be() -> None:
    assert Parts(5)(65536) == [0, 13108, 26215, 39322, 52429]
    assert Parts(1)(65536) == [0]


@pytest.mark.parametrize("slicer", [[], [1, 5], [0, 5, 5], [0, 65536]])
def test_parts_begin_at_places_that_there_are(slicer: list[int]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected the first places of parts"):
        tf.hash_table.DistributedHashTable([2], tf.float32, tf.zeros_initializer(), slicer=slicer)


def test_a_table_that_is_cut_needs_a_way_to_cut_it() -> None:
    with pytest.raises(ValueError, match="must specify slicer or partitioner"):
        tf.hash_table.DistributedHashTable([2], tf.float32, tf.zeros_initializer())


def test_rows_of_a_random_initializer_differ() -> None:
    table = tf.hash_table.HashTable([3], tf.float32, "t", tf.random_normal_initializer(seed=3), segment_size=2)
    (rows,) = run(table.lookup(list(range(5))))
    assert len(np.unique(rows)) == 15


def test_an_initializer_cannot_use_what_is_outside() -> None:
    outside = tf.constant(3.0)
    with pytest.raises(InvalidArgumentError, match="uses tensors from outside of it, Const:0"):
        tf.hash_table.HashTable([2], tf.float32, "t", init_func=lambda: tf.ones([4096, 2]) * outside)


# Scopes


def scoped(name: str, **arguments: Any) -> Any:
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        return tf.get_hash_table(name, [2], dtype=tf.float32, initializer=tf.zeros_initializer(), **arguments)


def test_tables_are_found_again_by_name() -> None:
    table = scoped("a")
    assert scoped("a") is table
    assert table.name == "scope/a"
    cut = scoped("b", partitioner=Parts(2))
    assert scoped("b", partitioner=Parts(2)) is cut
    assert cut.name == "scope/b"
    assert [part.name for part in cut.partitions] == ["scope/b/HashTable_0", "scope/b/HashTable_1"]
    with pytest.raises(ValueError, match="specified partitioner split result is not equal to origin"):
        scoped("b", partitioner=Parts(3))


def test_variables_and_tables_are_not_taken_for_each_other() -> None:
    scoped("a")
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        tf.get_variable("c", [2])
        with pytest.raises(
            ValueError, match="Trying to reuse variable scope/a, but an existing variable is a HashTable"
        ):
            tf.get_variable("a", [2])
    with pytest.raises(ValueError, match="Trying to reuse hashtable variable scope/c"):
        scoped("c")


def test_scopes_say_how_tables_are_shared() -> None:
    tf.get_hash_table("a", [2], initializer=tf.zeros_initializer())
    with pytest.raises(ValueError, match="Hashtable variable with name a already exists"):
        tf.get_hash_table("a", [2], initializer=tf.zeros_initializer())
    with tf.variable_scope("other", reuse=True), pytest.raises(ValueError, match="Hashtable other/a does not exist"):
        tf.get_hash_table("a", [2], initializer=tf.zeros_initializer())
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            tf.get_hash_table("a", [3], initializer=tf.zeros_initializer())
        with pytest.raises(ValueError, match="specified dtype float64 and found dtype float32"):
            tf.get_hash_table("a", [2], tf.float64, initializer=tf.zeros_initializer())


def test_a_scope_has_defaults_for_tables() -> None:
    with tf.variable_scope("s", initializer=tf.ones_initializer(), partitioner=Parts(3), dtype=tf.float64):
        table = tf.get_hash_table("t", 2)
    assert len(table.partitions) == 3
    (rows,) = run(table.lookup([5]))
    assert (rows.dtype, rows.tolist()) == (np.float64, [[1.0, 1.0]])


# Looking up


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_new_keys_have_initial_rows_of_any_shape(shape: tuple[int, ...]) -> None:
    table = distributed(3, shape, value=2.0)
    rows, size = run(table.lookup([KEYS, KEYS]), table.size())
    np.testing.assert_array_equal(rows, np.full((2, 6, *shape), 2.0, np.float32))
    assert size == 6


def test_a_table_that_is_not_initialized_says_so() -> None:
    table = distributed(1)
    with tf.Session() as session, pytest.raises(FailedPreconditionError, match="HashTable is not initialized"):
        session.run(table.lookup([1]))
    names = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert session.run(names).tolist() == [b"t/HashTable_0"]
        session.run(tf.global_variables_initializer())
        assert session.run(names).tolist() == []


def test_initializing_again_keeps_what_is_there() -> None:
    """As in DeepRec: HashTableInitializeOp ignores that there is a table."""
    table = distributed(1)
    change, rows = table.scatter_update([1], [[3.0, 4.0]]), table.lookup([1])
    init = tf.global_variables_initializer()
    with tf.Session() as session:
        for op in (init, change, init):
            session.run(op)
        assert session.run(rows).tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize("is_cut", [False, True])
def test_rows_are_changed_by_key(is_cut: bool) -> None:
    if is_cut:
        table = distributed(5)
    else:
        table = tf.hash_table.HashTable([2], tf.float32, "t", tf.zeros_initializer(), name="t")
    changes = [
        table.scatter_update([0, 1, 5], [[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]]),
        table.scatter_add([0, 1, 5], [[1.0, 1.0], [-1.0, -1.0], [5.0, -5.0]]),
        table.scatter_sub([0, 1, 2], [[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]),
        table.scatter_mul([0, 1, 5], [[2.0, 0.5], [-1.0, -2.0], [0.1, 3.333]]),
        table.scatter_div([0, 1, 5], [[2.0, 0.5], [-0.1, 2.0], [10.0, 3.333]]),
    ]
    rows = table.lookup([0, 1, 2, 5])
    found = run(*(fetch for change in changes for fetch in (change, rows)))[1::2]
    wanted = [
        [[0, 0], [1, 1], [0, 0], [5, 5]],
        [[1, 1], [0, 0], [0, 0], [10, 0]],
        [[0, 0], [1, 1], [-1, 1], [10, 0]],
        [[0, 0], [-1, -2], [-1, 1], [1, 0]],
        [[0, 0], [10, -1], [-1, 1], [0.1, 0]],
    ]
    np.testing.assert_allclose(found, np.array(wanted, np.float32), rtol=1e-6)


def test_a_key_that_is_changed_twice_is_changed_twice() -> None:
    table = tf.hash_table.HashTable([1], tf.float32, "t", tf.zeros_initializer())
    _, rows = run(table.scatter_add([3, 3], [[1.0], [2.0]]), table.lookup([3]))
    assert rows.tolist() == [[3.0]]


@pytest.mark.parametrize("wrap", [lambda table: table, lambda table: [table]])
def test_embedding_lookup_takes_tables(wrap: Any) -> None:
    rows = tf.nn.embedding_lookup(wrap(distributed(2, (4,), value=1.0)), [[0, 60000], [1, 2]])
    assert run(rows)[0].tolist() == [[[1.0] * 4] * 2] * 2


def sparse(values: Any, dtype: Any = np.int64) -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], np.array(values, dtype), [4, 3])


def test_sparse_lookups_combine_rows() -> None:
    table, ids = distributed(2, (2,), value=1.0), sparse([0, 1, 2, 3])
    how = {"mean": [1, 1, 0, 1], "sum": [2, 1, 0, 1], "sqrtn": [2**0.5, 1, 0, 1]}
    found = run(*(tf.nn.embedding_lookup_sparse(table, ids, None, combiner=one) for one in how))
    for rows, wanted in zip(found, how.values(), strict=True):
        np.testing.assert_allclose(rows, np.outer(wanted, [1, 1]), rtol=1e-6)
    (tiled,) = run(tf.nn.embedding_lookup_sparse(table, ids, None, combiner="tile"))
    assert tiled.tolist() == [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0], [0] * 6, [1, 1, 0, 0, 0, 0]]


def test_sparse_lookups_weigh_rows() -> None:
    table, ids, weights = distributed(2, (1,), value=1.0), sparse([0, 1, 2, 3]), sparse([1, 0.5, 2, 0], np.float32)
    how = {"mean": [1, 1, 0, 0], "sum": [1.5, 2, 0, 0], "sqrtn": [1.341641, 1, 0, 0]}
    for combiner, wanted in how.items():
        (rows,) = run(tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner=combiner))
        np.testing.assert_allclose(rows[:, 0], wanted, rtol=1e-6)


def test_the_lookups_of_the_module_give_what_hooks_have_to_say() -> None:
    class Hook(tf.hash_table.EmbeddingLookupHook):
        def on_embedding_lookup(self, ctx: Any) -> None:
            ctx.add_result("keys", ctx.partitioned_keys())
            ctx.add_update_op(ctx.ids()[0])

    table = distributed(2, (2,), value=1.0)
    with Hook():
        rows, found = tf.hash_table.embedding_lookup(table, [1, 40000])
    outside = tf.hash_table.embedding_lookup(table, [1])[1]
    combined, _ = tf.hash_table.embedding_lookup_sparse(table, sparse([5, 5, 6, 7]), None, combiner="sum")
    values, keys, sums = run(rows, found["keys"], combined)
    assert values.tolist() == [[1.0, 1.0]] * 2
    assert [part.tolist() for part in keys] == [[1], [40000]]
    assert sums.tolist() == [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    assert outside == {}
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 1


def test_a_lookup_is_of_a_table() -> None:
    with pytest.raises(NotImplementedError, match="only support `DistributedHashTable` or `HashTable`"):
        tf.hash_table.embedding_lookup(tf.zeros([2, 2]), [1])


# Who lets keys in


def test_keys_are_let_in_by_a_bloom_filter() -> None:
    def strategy(part: Any) -> Any:
        return tf.hash_table.BloomFilterAdmitStrategy(10, slicer=part.slicer, hash_table=part).handle

    table = distributed(5, (2,), value=1.0)
    keys, counts = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int32, [None])
    rows = table.lookup(keys, strategy, counts)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(rows, {keys: [0, 1, 2, -10000, 50000], counts: [6, 10, 2, 2, 3]})
        second = session.run(rows, {keys: [2, 0, -10000], counts: [8, 10000, 7]})
    assert first[:, 0].tolist() == [0, 1, 0, 0, 0]
    assert second[:, 0].tolist() == [1, 1, 0]


def test_hooks_let_keys_in() -> None:
    table, ids = distributed(2, (1,), value=1.0), tf.placeholder(tf.int64, [None])
    with tf.hash_table.BloomFilterLookupHook(2, max_element_size=1000):
        counted = tf.nn.embedding_lookup(table, ids)
    with tf.hash_table.ReadOnlyHook():
        rows = tf.nn.embedding_lookup(table, ids)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(counted, {ids: [5, 6, 6]})[:, 0].tolist() == [0, 0, 1]
        assert session.run(rows, {ids: [5, 6, 7]})[:, 0].tolist() == [0, 1, 0]
        assert session.run(counted, {ids: [5]})[:, 0].tolist() == [1]
        assert session.run(table.size()) == 2


def test_only_one_hook_lets_keys_in() -> None:
    wrong = pytest.raises(FailedPreconditionError, match="Only one embedding hook should set admit strategy")
    with tf.hash_table.ReadOnlyHook(), tf.hash_table.BloomFilterLookupHook(2), wrong:
        tf.nn.embedding_lookup(distributed(1), [1])


def test_filters_of_parts_count_their_own_keys() -> None:
    filters = tf.hash_table.DistributedBloomFilterAdmitStrategy(2, 1000, partitioner=Parts(2))
    first, second = run(*(filters.admit([1, 40000, 1], [1, 2, 1]) for _ in range(2)))
    assert [part.tolist() for part in first] == [[False, True], [True]]
    assert [part.tolist() for part in second] == [[True, True], [True]]


# Training


def test_rows_are_trained_as_variables_are() -> None:
    """DeepRec's testGatherAndOptimizer: a row is updated as often as it is looked up by what is trained."""
    table, x = distributed(5, (2, 2)), tf.Variable(0.0)
    both, some = table.lookup([0, 1, 2, 60000, 60001]), table.lookup([0, 60000, 3])
    rows = table.lookup([0, 1, 2, 3, 60000, 60001])
    optimizer = tf.train.AdagradOptimizer(0.1)
    trains = [optimizer.minimize(loss) for loss in (both, some, x)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        once, twice = [session.run([trains[2], x])[1] and session.run(x) for _ in range(2)]
        session.run(trains[0])
        session.run(trains[1])
        wanted = [twice, once, once, once, twice, once]
        np.testing.assert_allclose(session.run(rows)[:, 0, 0], wanted, atol=1e-6)


OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "ProximalGradientDescent": lambda: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.5),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "AdagradDA": lambda: tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), 0.1, 0.01, 0.02),
    "ProximalAdagrad": lambda: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adam": lambda: tf.train.AdamOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5),
    "CenteredRMSProp": lambda: tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_optimizers_do_to_rows_what_they_do_to_dense_variables(kind: str) -> None:
    """Every row is in every step, so that rules agree which let rows rest that have no gradient."""
    start = np.array([[0.5, -1.0], [2.0, 0.25], [-0.75, 1.5]], np.float32)
    table = tf.hash_table.HashTable([2], tf.float32, "t", tf.zeros_initializer(), name="t")
    dense = tf.get_variable("v", initializer=start)
    rows = table.lookup([10, 20, 30])
    loss = tf.reduce_sum(tf.square(rows - 1.0)) + tf.reduce_sum(tf.square(dense - 1.0))
    train = OPTIMIZERS[kind]().minimize(loss, tf.train.get_or_create_global_step())
    fill = table.scatter_update([10, 20, 30], start)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fill)
        for _ in range(4):
            session.run(train)
        found, wanted = session.run([rows, dense])
    assert not np.allclose(wanted, start)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_ftrl_with_shrinkage_accumulates_the_gradient_with_the_shrinkage_in_it() -> None:
    """SimpleApplyFtrlV2 of kernels/hash_ops/training_ops.cc."""
    table = tf.hash_table.HashTable([1], tf.float32, "t", tf.ones_initializer(), name="t")
    optimizer = tf.train.FtrlOptimizer(0.5, l2_shrinkage_regularization_strength=0.25)
    train = optimizer.minimize(tf.reduce_sum(table.lookup([1])))
    accum = optimizer.get_slot(table, "accum")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        squares, row = session.run([accum.lookup([1]), table.lookup([1])])
    gradient = 1.0 + 2 * 0.25 * 1.0
    grown = 0.1 + gradient**2
    linear = gradient - (grown**0.5 - 0.1**0.5) / 0.5
    np.testing.assert_allclose(squares, [[grown]], rtol=1e-6)
    np.testing.assert_allclose(row, [[-linear / (grown**0.5 / 0.5)]], rtol=1e-5)


def test_keys_that_are_not_let_in_are_not_trained() -> None:
    table, ids = distributed(2, (1,), value=1.0), tf.placeholder(tf.int64, [None])
    with tf.hash_table.ReadOnlyHook():
        rows = tf.nn.embedding_lookup(table, ids)
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(rows))
    known = table.lookup([5])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(known)
        session.run(train, {ids: [5, 6]})
        assert session.run(table.size()) == 1
        np.testing.assert_allclose(session.run(known), [[0.9]], rtol=1e-5)


def test_gradients_of_several_lookups_of_a_key_are_added_up() -> None:
    table = tf.hash_table.HashTable([1], tf.float32, "t", tf.zeros_initializer())
    loss = tf.reduce_sum(table.lookup([[1, 1], [2, 1]])) + tf.reduce_sum(table.lookup([2]))
    _, rows = run(tf.train.GradientDescentOptimizer(1.0).minimize(loss), table.lookup([1, 2]))
    assert rows[:, 0].tolist() == [-3.0, -2.0]


def test_slots_are_called_after_their_table_and_optimizer() -> None:
    table = distributed(2)
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(table.lookup([1])))
    first = table.partitions[0]
    assert list(first.slots) == ["t/slots/Adam", "t/slots/Adam_1"]
    assert optimizer.get_slot(first, "m") is first.get_slot("t/slots/Adam")
    assert first.get_slot("t/slots/Adam").name == "t/HashTable_0/Adam/Adam"
    with pytest.raises(InvalidArgumentError, match='has no slot "x"; there are t/slots/Adam, t/slots/Adam_1'):
        first.get_slot("x")


@pytest.mark.parametrize(
    "optimizer",
    [lambda: tf.train.AdamWOptimizer(0.1), lambda: tf.train.AdamAsyncOptimizer()],
    ids=["AdamW", "AdamAsync"],
)
def test_an_optimizer_that_has_no_rule_for_tables_says_so(optimizer: Any) -> None:
    with pytest.raises(UnimplementedError, match='cannot train the hash table "t/HashTable_0"'):
        optimizer().minimize(tf.reduce_sum(distributed(1).lookup([1])))


def test_a_table_that_is_cut_stands_for_its_parts() -> None:
    table, other = distributed(2, (1,)), distributed(2, (1,), name="o")
    loss = tf.reduce_sum(table.lookup([1, 40000])) + tf.reduce_sum(other.lookup([1]))
    _, rows, untouched = run(
        tf.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=[table]),
        table.lookup([1, 40000]),
        other.lookup([1]),
    )
    assert (rows[:, 0].tolist(), untouched.tolist()) == ([-0.5, -0.5], [[0.0]])


def test_slots_of_ones_own_are_rows_too() -> None:
    table = distributed(2)
    slot = table.create_slot([3], tf.int64, tf.ones_initializer(tf.int64), name="steps")
    assert slot.name == "t/slots/steps"
    table.lookup([5])
    assert run(slot.lookup([5, 40000]))[0].tolist() == [[1, 1, 1]] * 2


# Saving


class Program:
    """A table and a variable that are trained, and a saver."""

    def __init__(self, parts: int = 2, optimizer: Any = None, scope: Any = None, **arguments: Any) -> None:
        self.table = distributed(parts, (2,), value=1.0, **arguments)
        self.weight = tf.get_variable("w", initializer=2.0)
        self.step = tf.train.get_or_create_global_step()
        rows = self.table.lookup(KEYS)
        loss = tf.reduce_sum(tf.square(rows)) * self.weight
        self.train = (optimizer or tf.train.AdagradOptimizer(0.1)).minimize(loss, self.step)
        self.rows, self.size = self.table.lookup(KEYS), self.table.size()
        self.slot = self.table.partitions[0].slots
        self.init = tf.global_variables_initializer()
        self.saver = tf.train.Saver(sharded=True)


def trained(folder: Path, parts: int = 2, steps: int = 3) -> tuple[str, Any]:
    """The checkpoint that a program leaves, and the rows that it had."""
    with tf.Graph().as_default(), tf.Session() as session:
        program = Program(parts)
        with tf.Session() as session:
            session.run(program.init)
            for _ in range(steps):
                session.run(program.train)
            prefix = program.saver.save(session, str(folder / "model"), global_step=program.step)
            return prefix, session.run(program.rows)


def test_a_checkpoint_has_the_names_and_slices_of_deeprec(tmp_path: Path) -> None:
    prefix, rows = trained(tmp_path, parts=2)
    with open_checkpoint(prefix) as reader:
        tables = {name: info for name, info in reader.items() if name.startswith("t")}
        assert {name: info.shape for name, info in tables.items()} == {
            "t/ids": (6,),
            "t": (6, 2),
            "t/slots/Adagrad": (6, 2),
        }
        for info in tables.values():
            assert [part.keys for part in info.slices] == [(0, 32768, 65536), (32768, 32768, 65536)]
            assert [part.extents[0] for part in info.slices] == [(0, 3), (3, 3)]
        stored = dict(zip(reader.read("t/ids").tolist(), reader.read("t").tolist(), strict=True))
    assert stored == dict(zip(KEYS, rows.tolist(), strict=True))


@pytest.mark.parametrize(("saved", "restored"), [(2, 2), (1, 4), (5, 2), (3, 1)])
def test_a_table_is_restored_into_another_number_of_parts(tmp_path: Path, saved: int, restored: int) -> None:
    prefix, rows = trained(tmp_path, saved)
    program = Program(restored)
    with tf.Session() as session:
        program.saver.restore(session, prefix)
        assert session.run(program.size) == len(KEYS)
        np.testing.assert_array_equal(session.run(program.rows), rows)
        session.run(program.train)
        assert session.run(program.step) == 4
        after = session.run(program.rows)
    with tf.Graph().as_default():
        again, _ = trained(tmp_path / "more", saved, steps=4)
    with open_checkpoint(again) as reader:
        wanted = dict(zip(reader.read("t/ids").tolist(), reader.read("t").tolist(), strict=True))
    np.testing.assert_allclose(after, [wanted[key] for key in KEYS], rtol=1e-6)


def test_what_a_table_had_before_a_restore_is_forgotten(tmp_path: Path) -> None:
    prefix, _ = trained(tmp_path)
    program = Program(2)
    with tf.Session() as session:
        session.run(program.init)
        session.run(program.table.lookup([777]))
        program.saver.restore(session, prefix)
        keys, _ = session.run(program.table.snapshot)
    assert sorted(keys.tolist()) == sorted(KEYS)


def test_new_keys_after_a_restore_have_initial_rows(tmp_path: Path) -> None:
    prefix, _ = trained(tmp_path)
    program = Program(2)
    more = program.table.lookup([777, 778])
    with tf.Session() as session:
        program.saver.restore(session, prefix)
        assert session.run(more).tolist() == [[1.0, 1.0]] * 2


def test_a_table_without_keys_is_saved_and_restored(tmp_path: Path) -> None:
    program = Program(3)
    with tf.Session() as session:
        session.run(program.init)
        prefix = program.saver.save(session, str(tmp_path / "model"))
        with open_checkpoint(prefix) as reader:
            assert (reader["t/ids"].shape, reader["t"].shape) == ((0,), (0, 2))
        session.run(program.table.lookup([1]))
        program.saver.restore(session, prefix)
        assert session.run(program.size) == 0


@pytest.mark.parametrize("key", [1, 40000])
def test_a_table_with_keys_in_one_part_only(tmp_path: Path, key: int) -> None:
    program = Program(2)
    with tf.Session() as session:
        session.run(program.init)
        session.run(program.table.lookup([key]))
        prefix = program.saver.save(session, str(tmp_path / "model"))
        program.saver.restore(session, prefix)
        assert session.run(program.table.snapshot)[0].tolist() == [key]


def test_parts_on_several_devices_are_merged(tmp_path: Path) -> None:
    tables = []
    for number, begin in enumerate((0, 30000)):
        with tf.device(f"/device:CPU:{number}"):
            end = (30000, 65536)[number]
            tables.append(
                tf.hash_table.HashTable(
                    [1],
                    tf.float32,
                    "t",
                    tf.ones_initializer(),
                    slicer=[begin, end, 65536],
                    name=f"t/HashTable_{number}",
                )
            )
    table = tf.hash_table.DistributedHashTable([1], tf.float32, hash_tables=tables, slicer=[0, 30000])
    saver = tf.train.Saver(sharded=True)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        session.run(table.lookup([1, 2, 40000, 40001]))
        prefix = saver.save(session, str(tmp_path / "model"))
        assert len(list(tmp_path.glob("model.data-*"))) == 2
        saver.restore(session, prefix)
        assert sorted(session.run(table.snapshot)[0].tolist()) == [1, 2, 40000, 40001]
    with open_checkpoint(prefix) as reader:
        assert sorted(reader.read("t/ids").tolist()) == [1, 2, 40000, 40001]
        assert [part.keys for part in reader["t/ids"].slices] == [(0, 30000, 65536), (30000, 35536, 65536)]


def test_a_table_in_one_piece_is_saved_as_the_only_part_of_one(tmp_path: Path) -> None:
    """DeepRec cannot save it: it looks for the slices that such a table does not have."""
    table = tf.get_hash_table("t", [1], initializer=tf.ones_initializer())
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.lookup([3, -1]))
        prefix = saver.save(session, str(tmp_path / "model"))
    with tf.Graph().as_default():
        cut = tf.get_hash_table("t", [1], initializer=tf.zeros_initializer(), partitioner=Parts(2))
        with tf.Session() as session:
            tf.train.Saver(sharded=True).restore(session, prefix)
            assert session.run(cut.lookup([3, -1, 4])).tolist() == [[1.0], [1.0], [0.0]]


def test_only_a_sharded_saver_saves_tables() -> None:
    distributed(1)
    with pytest.raises(ValueError, match="HashTable can only use sharded saver"):
        tf.train.Saver()


def test_a_save_before_initializing_names_the_table(tmp_path: Path) -> None:
    distributed(1)
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session, pytest.raises(FailedPreconditionError, match="t/HashTable_0"):
        saver.save(session, str(tmp_path / "model"))
    assert not list(tmp_path.glob("model*"))


def test_a_table_that_a_checkpoint_does_not_have_changes_nothing(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        weight = tf.get_variable("w", initializer=7.0)
        tf.train.get_or_create_global_step()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            prefix = tf.train.Saver([weight, tf.train.get_global_step()]).save(session, str(tmp_path / "plain"))
    program = Program(2)
    with tf.Session() as session:
        session.run(program.init)
        session.run(program.rows)
        with pytest.raises(NotFoundError, match=r'holds no hash table "t": there is no t/ids and no t$'):
            program.saver.restore(session, prefix)
        assert session.run([program.weight, program.size]) == [2.0, len(KEYS)]


def test_rows_of_another_shape_are_refused_before_anything_is_changed(tmp_path: Path) -> None:
    prefix, _ = trained(tmp_path)
    table = distributed(2, (3,))
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.lookup([9]))
        with pytest.raises(
            InvalidArgumentError, match=r'"t" has rows of float32 \[2\] in the checkpoint, expected float32 \[3\]'
        ):
            saver.restore(session, prefix)
        assert session.run(table.size()) == 1


def test_slots_that_a_checkpoint_does_not_have_begin_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default():
        table = distributed(2, (2,), value=5.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(table.lookup(KEYS))
            prefix = tf.train.Saver(sharded=True).save(session, str(tmp_path / "model"))
    table = distributed(2)
    tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(table.lookup(KEYS)))
    with tf.Session() as session:
        tf.train.Saver(sharded=True).restore(session, prefix)
        assert "does not hold t/slots/Adagrad: rows begin anew" in caplog.text
        slot = table.partitions[0].get_slot("t/slots/Adagrad").lookup([0])
        np.testing.assert_allclose(session.run(slot), [[0.1, 0.1]])
        assert session.run(table.lookup(KEYS)).tolist() == [[5.0, 5.0]] * 6


def test_a_filter_is_saved_with_its_table(tmp_path: Path) -> None:
    def built(parts: int) -> tuple[Any, Any, Any]:
        table, ids = distributed(parts, (1,), value=1.0), tf.placeholder(tf.int64, [None])
        with tf.hash_table.BloomFilterLookupHook(3, max_element_size=100_000):
            rows = tf.nn.embedding_lookup(table, ids)
        return ids, rows, tf.train.Saver(sharded=True)

    ids, rows, saver = built(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(rows, {ids: [5, 5, 40000]})
        prefix = saver.save(session, str(tmp_path / "model"))
    with open_checkpoint(prefix) as reader:
        assert [part.keys for part in reader["t_BloomFilter"].slices] == [(0, 32768, 65536), (32768, 32768, 65536)]
    with tf.Graph().as_default():
        ids, rows, saver = built(3)
        with tf.Session() as session:
            saver.restore(session, prefix)
            assert session.run(rows, {ids: [5, 40000]})[:, 0].tolist() == [1, 0]


def test_children_are_stored_one_by_one(tmp_path: Path) -> None:
    """A key begins with the number of its child: 12 bits of 64 (CoalescedHashTable of hash_table.h)."""
    shift = 2**52

    def built() -> tuple[Any, Any]:
        table = distributed(2, (1,), name="both", children=["b", "a"])
        return table, tf.train.Saver(sharded=True)

    table, saver = built()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.scatter_update([5, shift + 5, shift + 6], [[1.0], [2.0], [3.0]]))
        prefix = saver.save(session, str(tmp_path / "model"))
    with open_checkpoint(prefix) as reader:
        assert sorted(reader) == ["a", "a/ids", "b", "b/ids"]
        assert (reader.read("b/ids").tolist(), reader.read("b").tolist()) == ([5], [[1.0]])
        assert (reader.read("a/ids").tolist(), reader.read("a").tolist()) == ([5, 6], [[2.0], [3.0]])
    with tf.Graph().as_default():
        table, saver = built()
        with tf.Session() as session:
            saver.restore(session, prefix)
            assert session.run(table.lookup([5, shift + 5, shift + 6]))[:, 0].tolist() == [1.0, 2.0, 3.0]
            assert session.run(table.size()) == 3


def test_children_that_a_checkpoint_does_not_have_may_stay(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        one = distributed(1, (1,), name="a", value=7.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(one.lookup([5]))
            prefix = tf.train.Saver(sharded=True).save(session, str(tmp_path / "model"))
    table = distributed(2, (1,), name="both", children=["a", "b"])
    with tf.hash_table.restore_without_clear_scope():
        adding = tf.train.Saver(sharded=True)
    clearing = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.lookup([9, 2**52 + 9]))
        adding.restore(session, prefix)
        assert sorted(session.run(table.snapshot)[0].tolist()) == [5, 2**52 + 9]
        clearing.restore(session, prefix)
        assert session.run(table.snapshot)[0].tolist() == [5]


def test_tables_are_restored_under_other_names(tmp_path: Path) -> None:
    prefix, rows = trained(tmp_path)
    table = distributed(3, (2,), name="new")
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        saver.restore(session, prefix, mapping={"new": "t"})
        np.testing.assert_array_equal(session.run(table.lookup(KEYS)), rows)


def test_a_dictionary_names_no_tables(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = distributed(1)
    saver = tf.train.Saver({"other": table.partitions[0]}, sharded=True)
    assert 'hash table "t/HashTable_0" is stored under its own name, not as "other"' in caplog.text
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, str(tmp_path / "model"))
    with open_checkpoint(prefix) as reader:
        assert sorted(reader) == ["t", "t/ids"]


def test_a_graph_that_was_imported_saves_and_restores_tables(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        program = Program(2)
        tf.identity(program.rows, name="rows")
        with tf.Session() as session:
            session.run(program.init)
            session.run(program.train)
            prefix = program.saver.save(session, str(tmp_path / "model"))
            rows = session.run(program.rows)
            session.run(program.train)
            after = session.run(program.rows)
    saver = tf.train.import_meta_graph(f"{prefix}.meta")
    graph = tf.get_default_graph()
    with tf.Session() as session:
        saver.restore(session, prefix)
        np.testing.assert_array_equal(session.run("rows:0"), rows)
        session.run(graph.get_collection(tf.GraphKeys.TRAIN_OP)[0])
        np.testing.assert_array_equal(session.run("rows:0"), after)
        again = saver.save(session, str(tmp_path / "again"))
    with open_checkpoint(again) as reader:
        assert reader["t/ids"].shape == (6,)


def test_a_meta_graph_as_deeprec_writes_it_saves_and_restores_tables(tmp_path: Path) -> None:
    """Its SaveV2 has two more attributes (io_ops.cc), and its functions are called by what their bodies hash to."""
    with tf.Graph().as_default():
        program = Program(2)
        tf.identity(program.rows, name="rows")
        with tf.Session() as session:
            session.run(program.init)
            prefix = program.saver.save(session, str(tmp_path / "model"))
        meta = tf.train.export_meta_graph(saver_def=program.saver.as_saver_def())
    for node in meta.graph_def.node:
        if node.op == "SaveV2":
            node.attr["has_ev"].b = False
            node.attr["ev_key_types"].list.SetInParent()
        elif node.op == "TensibleVariableInitializeOp":
            node.attr["factory"].func.name = "renamed_" + node.attr["factory"].func.name
        elif node.op == "MergeV2Checkpoints":
            del node.attr["allow_missing_files"]
    for function in meta.graph_def.library.function:
        function.signature.name = "renamed_" + function.signature.name
    for op in meta.meta_info_def.stripped_op_list.op:
        if op.name == "SaveV2":
            op.attr.add(name="has_ev", type="bool").default_value.b = False
            op.attr.add(name="ev_key_types", type="list(type)").default_value.list.SetInParent()
    saver = tf.train.import_meta_graph(meta)
    with tf.Session() as session:
        saver.restore(session, prefix)
        assert session.run("rows:0").tolist() == [[1.0, 1.0]] * 6
        session.run(tf.get_collection(tf.GraphKeys.TRAIN_OP)[0])
        again = saver.save(session, str(tmp_path / "again"))
    with open_checkpoint(again) as reader:
        assert sorted(reader.read("t/ids").tolist()) == sorted(KEYS)


def served(folder: Path) -> str:
    """A SavedModel that looks ids up in a table."""
    table, ids = distributed(2), tf.placeholder(tf.int64, [None])
    with tf.hash_table.ReadOnlyHook():
        rows = tf.nn.embedding_lookup(table, ids)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(table.scatter_update([5, 40000], [[1.0, 2.0], [3.0, 4.0]]))
        tf.saved_model.simple_save(session, str(folder / "served"), {"ids": ids}, {"rows": rows})
    return str(folder / "served")


def test_a_saved_model_answers_with_the_rows_of_tables(tmp_path: Path) -> None:
    path = served(tmp_path)
    rewrite_model(path, tmp_path / "pruned", partial(prune_to_signature, key="serving_default"))
    for folder in (path, tmp_path / "pruned"):
        with load_saved_model(folder) as model:
            found = model.signatures["serving_default"](ids=[40000, 6, 5])["rows"]
        assert found.tolist() == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]


def test_tables_are_not_frozen() -> None:
    """They would be empty: nothing restores them in a frozen graph."""
    rows = tf.identity(distributed(2).lookup([1]), name="rows")
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(rows)
        with pytest.raises(
            UnimplementedError, match="hash tables cannot be frozen, for lookups add to them: t/HashTab"
        ):
            tf.graph_util.convert_variables_to_constants(session, graph_def, ["rows"])


def test_a_table_as_a_tensor_is_its_handle() -> None:
    table = tf.hash_table.HashTable([1], tf.float32, "t", tf.ones_initializer(), name="t")
    ids = table.gen_ids([3])
    change = tf.raw_ops.TensibleVariableScatterUpdate(resource=table, indices=ids, updates=[[4.0]])
    assert tf.convert_to_tensor(table) is table.handle
    assert run(change, table.lookup([3]))[1].tolist() == [[4.0]]


def test_tables_and_embedding_variables_are_saved_together(tmp_path: Path) -> None:
    table = distributed(2, (2,), value=3.0)
    variable = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer())
    rows = table.lookup([1, 2]), tf.nn.embedding_lookup(variable, tf.constant([4, 5], tf.int64))
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(rows)
        prefix = saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        saver.restore(session, prefix)
        for found, wanted in zip(session.run(rows), before, strict=True):
            np.testing.assert_array_equal(found, wanted)
    with open_checkpoint(prefix) as reader:
        assert {"e-keys", "t/ids", "t"} <= set(reader)


def start_by_map(prefix: str, table: Any) -> None:
    tf.train.init_from_checkpoint(prefix, {"/": "/"})


def start_by_table(prefix: str, table: Any) -> None:
    tf.train.init_from_checkpoint(prefix, {"t": table, "w": "w"})


def start_by_name(prefix: str, table: Any) -> None:
    tf.train.init_from_checkpoint(prefix, {"t": "t", "w": "w"})


@pytest.mark.parametrize(
    "start", [start_by_map, start_by_table, start_by_name, lambda prefix, _: tf.train.warm_start(prefix)]
)
def test_tables_may_begin_as_those_of_a_checkpoint(tmp_path: Path, start: Any) -> None:
    prefix, rows = trained(tmp_path, parts=2)
    table = tf.get_hash_table("t", [2], initializer=tf.zeros_initializer(), partitioner=Parts(3))
    weight = tf.get_variable("w", initializer=0.0)
    start(prefix, table)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(table.lookup([1])))
    found, slot, begun = run(table.lookup(KEYS), table.partitions[0].get_slot("t/slots/Adagrad").lookup([0]), weight)
    np.testing.assert_array_equal(found, rows)
    np.testing.assert_allclose(slot, [[0.1, 0.1]])
    assert begun != 0
    run(train)


def test_rows_of_another_shape_are_no_beginning(tmp_path: Path) -> None:
    prefix, _ = trained(tmp_path)
    table = tf.get_hash_table("t", [3], initializer=tf.zeros_initializer(), partitioner=Parts(3))
    with pytest.raises(InvalidArgumentError, match=r"t/HashTable_0 \(\(3,\)\) doesn't match .* t \(\[6, 2\]\)"):
        tf.train.init_from_checkpoint(prefix, {"t": table})


def test_a_session_for_training_keeps_tables(tmp_path: Path) -> None:
    for steps in (2, 4):
        with tf.Graph().as_default():
            table, step = distributed(2, (1,), value=1.0), tf.train.get_or_create_global_step()
            rows = table.lookup([1])
            train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows), step)
            with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), save_checkpoint_steps=1) as session:
                while session.run(step) < steps:
                    session.run(train)
                found = session.run(rows)
            assert found.tolist() == [[1.0 - 0.5 * steps]]
