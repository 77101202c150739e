"""Embedding variables as programs make them: options, scopes, shards, lookups and questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.tf1.variables.store import variable_store
from tests.support.deeprec import unset_switches


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


def ids(*values: int) -> Any:
    return tf.constant(values, tf.int64)


def values_of(*fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run(fetch) for fetch in fetches]
    return found if len(found) > 1 else found[0]


# ---------------------------------------------------------------------------------------------------- Options


def test_options_have_the_names_and_defaults_of_deeprec() -> None:
    option = tf.EmbeddingVariableOption()
    assert (option.ht_type, option.ht_partition_num, option.evict, option.filter_strategy) == ("", 1000, None, None)
    assert option.init.default_value_dim == 4096
    assert option.storage_option.storage_size == (1 << 30,) * 4
    assert option.storage_option.cache_strategy == tf.CacheStrategy.LFU


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.CBFFilter(filter_freq=3, false_positive_probability=0.0, max_element_size=5),
        lambda: tf.CBFFilter(filter_freq=3, false_positive_probability=0.1),
        lambda: tf.CBFFilter(filter_freq=3, max_element_size=5),
        lambda: tf.CBFFilter(filter_freq=3, counter_type=tf.float32),
        lambda: tf.CounterFilter(filter_freq=65536),
        lambda: tf.InitializerOption(default_value_dim=0),
        lambda: tf.StorageOption(storage_type=tf.StorageType.SSDHASH),
        lambda: tf.StorageOption(storage_size=1024),
    ],
)
def test_options_that_contradict_themselves_are_refused(make: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.CounterFilter("3"), "filter_freq is '3', expected a whole number"),
        (lambda: tf.CBFFilter(3, 1e6, 0.01), "max_element_size is 1000000.0, expected a whole number"),
        (lambda: tf.CBFFilter(3, 100, 1.0), "false_positive_probability is 1.0, expected less than 1"),
        (lambda: tf.GlobalStepEvict("x"), "steps_to_live is 'x', expected a whole number"),
        (lambda: tf.GlobalStepEvict(-1), "steps_to_live is -1, expected 0"),
        (lambda: tf.L2WeightEvict("x"), "l2_weight_threshold is 'x', expected a number"),
        (lambda: tf.InitializerOption(default_value_dim=None), "default_value_dim is None, expected a whole number"),
        (lambda: tf.StorageOption(storage_size=[0.5]), "storage_size is 0.5, expected a whole number"),
        (lambda: tf.get_embedding_variable("e", "8"), "embedding_dim of \"e\" is '8', expected a whole number"),
        (lambda: tf.get_embedding_variable("e", [8]), 'embedding_dim of "e" is \\[8\\], expected a whole number'),
        (
            lambda: tf.get_embedding_variable("e", 8, ev_option=tf.CounterFilter(3)),
            'ev_option of "e" is CounterFilter.*expected an EmbeddingVariableOption',
        ),
        (
            lambda: tf.EmbeddingVariableOption(filter_option=tf.GlobalStepEvict(3), evict_option=tf.CounterFilter(3)),
            "evict_option is CounterFilter.*expected GlobalStepEvict or L2WeightEvict; filter_option is Global",
        ),
    ],
)
def test_options_of_other_kinds_are_refused(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError), match=message):
        make()


def test_steps_to_live_is_another_way_to_say_what_the_option_says() -> None:
    old = tf.get_embedding_variable("old", 2, steps_to_live=5)
    evict = tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(steps_to_live=7))
    both = tf.get_embedding_variable("both", 2, steps_to_live=5, ev_option=evict)
    assert [variable.initializer.get_attr("steps_to_live") for variable in (old, both)] == [5, 7]
    weights = tf.EmbeddingVariableOption(evict_option=tf.L2WeightEvict(l2_weight_threshold=0.5))
    with pytest.raises(InvalidArgumentError, match="at same time"):
        tf.get_embedding_variable("wrong", 2, steps_to_live=5, ev_option=weights)


def test_options_are_attributes_of_the_initializer() -> None:
    option = tf.EmbeddingVariableOption(
        filter_option=tf.CBFFilter(3, 10, 0.01, tf.uint16),
        evict_option=tf.L2WeightEvict(0.5),
        init_option=tf.InitializerOption(default_value_dim=8, default_value_no_permission=0.25),
    )
    attr = tf.get_embedding_variable("v", 4, ev_option=option).initializer.get_attr
    assert (attr("filter_freq"), attr("max_element_size"), attr("counter_type")) == (3, 10, tf.uint16)
    assert attr("false_positive_probability") == pytest.approx(0.01)
    assert (attr("l2_weight_threshold"), attr("default_value_dim")) == (0.5, 8)
    assert attr("default_value_no_permission") == 0.25


def test_the_switches_of_the_environment_are_read_when_a_variable_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tf.get_embedding_variable("before", 2)
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    after = tf.get_embedding_variable("after", 2)
    kept = [variable.initializer.get_attr("record_freq") for variable in (before, after)]
    assert kept == [variable.initializer.get_attr("record_version") for variable in (before, after)] == [False, True]
    assert [before.needs_counts, after.needs_counts] == [False, True]


# ---------------------------------------------------------------------------------------------------- Making


def test_a_variable_is_named_by_its_scope_and_is_in_the_collections() -> None:
    with tf.variable_scope("user"):
        variable = tf.get_embedding_variable("emb", 3)
    assert variable.name == "user/emb:0"
    assert variable.op.type == "KvVarHandleOp"
    assert tf.global_variables() == tf.trainable_variables() == tf.get_collection("embedding_variables") == [variable]
    assert (variable.shape.as_list(), variable.dim, variable.key_dtype, variable.dtype) == (
        [3],
        3,
        tf.int64,
        tf.float32,
    )


def test_a_variable_is_found_again_where_the_scope_says_so() -> None:
    first = tf.get_embedding_variable("emb", 3)
    with pytest.raises(InvalidArgumentError, match="already exists"):
        tf.get_embedding_variable("emb", 3)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        assert tf.get_embedding_variable("emb", 3) is first
        with pytest.raises(InvalidArgumentError, match="embedding_dim 4 and found embedding_dim 3"):
            tf.get_embedding_variable("emb", 4)
        with pytest.raises(InvalidArgumentError, match="found int64"):
            tf.get_embedding_variable("emb", 3, key_dtype=tf.int32)
    with tf.variable_scope("", reuse=True), pytest.raises(InvalidArgumentError, match="does not exist"):
        tf.get_embedding_variable("other", 3)


def test_a_partitioner_makes_shards_whose_numbers_are_in_their_slices() -> None:
    whole = tf.get_embedding_variable("emb", 3, partitioner=tf.fixed_size_partitioner(4))
    assert [part.name for part in whole] == [f"emb/part_{number}:0" for number in range(4)]
    assert [part.partition for part in whole] == [(number, 4) for number in range(4)]
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        assert len(list(tf.get_embedding_variable("emb", 3))) == 2
    with pytest.raises(InvalidArgumentError, match="cut by keys"):
        tf.get_embedding_variable("wide", 4, partitioner=lambda shape, dtype: [1, 2])


def test_keys_are_int64_or_int32() -> None:
    with pytest.raises(WrongTypeError, match="string"):
        tf.get_embedding_variable("emb", 3, key_dtype=tf.string)
    small = tf.get_embedding_variable("small", 2, key_dtype=tf.int32, initializer=tf.ones_initializer())
    assert values_of(tf.nn.embedding_lookup(small, tf.constant([1, -5]))).tolist() == [[1, 1], [1, 1]]
    with pytest.raises(WrongTypeError, match="cast the ids"):
        tf.nn.embedding_lookup(small, ids(1))


@pytest.mark.parametrize(
    ("initializer", "rows"),
    [
        (tf.constant_initializer(3.0), 1),
        (np.array([1.0, 2.0], np.float32), 1),
        (2.5, 1),
        (np.ones((5, 2), np.float32), 5),
        (tf.ones_initializer(), 8),
        (tf.ones_initializer, 8),
        (None, 8),
    ],
)
def test_default_rows_are_one_where_all_are_the_same(initializer: Any, rows: int) -> None:
    option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(default_value_dim=8))
    variable = tf.get_embedding_variable("emb", 2, initializer=initializer, ev_option=option)
    assert variable.initial_value.shape.as_list() == [rows, 2]


def test_a_key_takes_the_default_row_of_its_remainder() -> None:
    option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(default_value_dim=8))
    variable = tf.get_embedding_variable("emb", 4, initializer=tf.random_normal_initializer(seed=1), ev_option=option)
    rows = tf.nn.embedding_lookup(variable, ids(8, 9, 10, -1))
    found, matrix = None, None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(rows)
        exported = session.run(variable.export())
    matrix = {int(key): row for key, row in zip(exported.keys, exported.values, strict=True)}
    assert found.tolist() == [matrix[key].tolist() for key in (8, 9, 10, -1)]
    dense = tf.get_variable("dense", [8, 4], initializer=tf.random_normal_initializer(seed=1))
    assert dense.shape.as_list() == [8, 4]


def test_the_initializer_of_the_option_wins() -> None:
    option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(initializer=tf.ones_initializer()))
    variable = tf.get_embedding_variable("emb", 2, initializer=tf.zeros_initializer(), ev_option=option)
    assert values_of(tf.nn.embedding_lookup(variable, ids(1))).tolist() == [[1, 1]]


def test_an_external_source_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="checkpoint"):
        tf.get_embedding_variable("emb", 2, init_data_source="odps://project/tables/t")


def test_a_regularizer_of_all_rows_is_refused_and_that_of_a_scope_passed_over() -> None:
    with pytest.raises(UnimplementedError, match="rows that are looked up"):
        tf.get_embedding_variable("emb", 2, regularizer=tf.nn.l2_loss)
    with tf.variable_scope("s", regularizer=tf.nn.l2_loss):
        tf.get_embedding_variable("emb", 2)
    assert not tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)


def test_a_constraint_is_refused_by_optimizers() -> None:
    table = tf.get_embedding_variable("emb", 2, constraint=lambda rows: rows)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
    with pytest.raises(RuntimeError, match="constraint"):
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_a_custom_getter_is_asked() -> None:
    asked: list[str] = []

    def getter(getter: Any, name: str, **arguments: Any) -> Any:
        asked.append(name)
        return getter(name, **arguments)

    with tf.variable_scope("s", custom_getter=getter):
        variable = tf.get_embedding_variable("emb", 2)
    assert asked == ["s/emb"]
    assert variable.op.name == "s/emb"


# ---------------------------------------------------------------------------------------------------- What it is not


@pytest.mark.parametrize("method", ["value", "read_value", "initialized_value", "eval"])
def test_it_has_no_value_as_a_whole(method: str) -> None:
    variable = tf.get_embedding_variable("emb", 2)
    with pytest.raises(NotImplementedError, match='"emb" has no'):
        getattr(variable, method)()
    with pytest.raises(NotImplementedError):
        tf.convert_to_tensor(variable)


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub", "load"])
def test_it_cannot_be_assigned(method: str) -> None:
    with pytest.raises(NotImplementedError, match='"emb" has no'):
        getattr(tf.get_embedding_variable("emb", 2), method)(1.0)


# ---------------------------------------------------------------------------------------------------- Asking


def test_a_lookup_inserts_unless_only_updates_may() -> None:
    eager = tf.get_embedding_variable("eager", 2)
    option = tf.EmbeddingVariableOption(inserts_on_lookup=False)
    late = tf.get_embedding_variable("late", 2, ev_option=option)
    rows = [tf.nn.embedding_lookup(variable, ids(1, 2, 2)) for variable in (eager, late)]
    found = values_of(rows, rows, rows, [eager.total_count(), late.total_count()])
    assert [count.tolist() for count in found[-1]] == [[2, 2], [0, 2]]
    assert found[0][1].tolist() == found[2][1].tolist()


def test_nothing_inserts_in_inference_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFERENCE_MODE", "1")
    variable = tf.get_embedding_variable("emb", 2)
    _, count = values_of(tf.nn.embedding_lookup(variable, ids(1)), variable.total_count())
    assert count.tolist() == [0, 2]


def test_an_uninitialized_variable_is_reported() -> None:
    tf.get_embedding_variable("emb", 2)
    missing = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert session.run(missing).tolist() == [b"emb"]
        session.run(tf.global_variables_initializer())
        assert session.run(missing).tolist() == []


def test_tiers_and_exports_can_be_asked_for() -> None:
    variable = tf.get_embedding_variable("emb", 2, initializer=tf.ones_initializer())
    _, tiers, exported = values_of(
        tf.nn.embedding_lookup(variable, ids(3, 1003)), variable.lookup_tier(ids(3, 4)), variable.export()
    )
    assert tiers.tolist() == [0, -1]
    assert (exported.keys.tolist(), exported.values.tolist()) == ([3, 1003], [[1, 1], [1, 1]])


# ---------------------------------------------------------------------------------------------------- Of blocks


def test_blocks_that_an_id_does_not_have_are_zero() -> None:
    variable = tf.get_dynamic_dimension_embedding_variable("emb", 6, 4, initializer=tf.ones_initializer())
    blocknums = [4, 1, 4, 3, 1]
    rows = tf.nn.embedding_lookup(variable, ids(1, 2, 3, 4, 5), blocknums=tf.constant(blocknums))
    found = values_of(rows)
    assert found.shape == (5, 24)
    for row, blocks in zip(found, blocknums, strict=True):
        assert row.tolist() == [1.0] * (6 * blocks) + [0.0] * (24 - 6 * blocks)
    assert [shards[0].op.name for shards in variable.blocks] == [f"emb/block{number}" for number in range(4)]


def test_blocks_in_shards_keep_the_ids() -> None:
    variable = tf.get_dynamic_dimension_embedding_variable(
        "emb", 2, 2, initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(3)
    )
    rows = tf.nn.embedding_lookup(variable, ids(1, 2, 1003), blocknums=tf.constant([2, 1, 0]))
    keys = [shard.export().keys for shard in variable.blocks[0]]
    found, stored = values_of(rows, keys)
    assert found.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert [shard.tolist() for shard in stored] == [[], [1], [2]]
    with pytest.raises(InvalidArgumentError, match="blocknums"):
        tf.nn.embedding_lookup(variable, ids(1))


def test_of_an_id_that_is_there_twice_the_larger_number_of_blocks_counts() -> None:
    variable = tf.get_dynamic_dimension_embedding_variable("emb", 1, 3, initializer=tf.ones_initializer())
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ids(7, 8, 7), [2, 2])
    found = values_of(
        tf.nn.embedding_lookup_sparse(variable, sparse, None, combiner="sum", blocknums=tf.constant([1, 1, 3]))
    )
    assert found.tolist() == [[2, 1, 1], [1, 1, 1]]


def blocks_of_scope(name: str, **arguments: Any) -> Any:
    scope = tf.get_variable_scope()
    return scope.get_dynamic_dimension_embedding_variable(variable_store(), name, **arguments)


def test_a_scope_gives_blocks_in_the_words_of_deeprec() -> None:
    with tf.variable_scope("user", initializer=tf.ones_initializer()):
        made = blocks_of_scope("emb", shape=[3], embedding_block_num=2, partitioner=tf.fixed_size_partitioner(2))
    with tf.variable_scope("user", reuse=True):
        again = blocks_of_scope("emb", shape=3, embedding_block_num=2, partitioner=tf.fixed_size_partitioner(2))
    assert (made.name, made.block_dim, made.blocknum()) == ("user/emb", 3, 2)
    assert [[shard.op.name for shard in block] for block in made.blocks] == [
        ["user/emb/part_0/block0", "user/emb/part_1/block0"],
        ["user/emb/part_0/block1", "user/emb/part_1/block1"],
    ]
    assert again.blocks == made.blocks
    rows = values_of(tf.nn.embedding_lookup(made, ids(1, 2), blocknums=tf.constant([2, 1])))
    assert rows.tolist() == [[1] * 6, [1] * 3 + [0] * 3]


def test_a_scope_takes_options_and_keys_of_blocks() -> None:
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    made = blocks_of_scope(
        "emb", shape=2, embedding_block_num=1, evconfig=option, invalid_key=np.int32(-1), dtype=tf.float64
    )
    block = made.mainev()
    assert (block.initializer.get_attr("filter_freq"), block.dtype.base_dtype) == (3, tf.float64)
    assert block.handle.op.get_attr("Tkeys") == tf.int32


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"shape": 2}, "embedding_block_num"),
        ({"shape": [2, 3], "embedding_block_num": 1}, "a shape of one number"),
        ({"shape": 2, "embedding_block_num": 0}, "at least one block"),
    ],
)
def test_a_scope_refuses_what_are_no_blocks(arguments: dict[str, Any], wanted: str) -> None:
    with pytest.raises(InvalidArgumentError, match=wanted):
        blocks_of_scope("emb", **arguments)


def test_what_blocks_cannot_have_is_refused() -> None:
    with pytest.raises(UnimplementedError, match="regularizer"):
        tf.get_dynamic_dimension_embedding_variable("emb", 2, 2, regularizer=tf.nn.l2_loss)
    with pytest.raises(UnimplementedError, match="init_data_source"):
        tf.get_dynamic_dimension_embedding_variable("emb", 2, 2, init_data_source="odps://t")


# ---------------------------------------------------------------------------------------------------- Multi-hash


@pytest.mark.parametrize("operation", ["add", "mul", "concat"])
def test_quotients_and_remainders_choose_the_rows(operation: str) -> None:
    variable = tf.get_multihash_variable(
        "emb", [[5, 6], [3, 6]], operation=operation, initializer=tf.random_normal_initializer(seed=3)
    )
    assert [table.op.name for table in variable.val_list] == ["emb/multhash_Q", "emb/multhash_R"]
    found = values_of(tf.nn.embedding_lookup(variable, ids(0, 1, 2, 4, 6, 7)))
    assert found.shape == (6, 12 if operation == "concat" else 6)


def test_the_rows_of_a_multihash_variable_are_those_of_its_tables() -> None:
    variable = tf.get_multihash_variable("emb", [[5, 6], [3, 6]], initializer=tf.random_normal_initializer(seed=3))
    rows = tf.nn.embedding_lookup(variable, ids(0, 1, 2, 4, 6, 7))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, first, second = session.run([rows, *variable.val_list])
    np.testing.assert_allclose(found, first[[0, 0, 0, 0, 1, 1]] + second[[0, 1, 2, 1, 0, 1]])


@pytest.mark.parametrize(
    "arguments",
    [
        {"dims": [[5, 6]]},
        {"dims": [[5, 6], [3, 4]]},
        {"dims": [[5, 6], [3, 6]], "operation": "mult"},
        {"dims": [[5, 6], [3, 6]], "complementary_strategy": "hash"},
    ],
)
def test_multihash_variables_of_other_kinds_are_refused(arguments: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        tf.get_multihash_variable("emb", **arguments)


# ---------------------------------------------------------------------------------------------------- Tiers


@pytest.mark.parametrize("strategy", [tf.CacheStrategy.LRU, tf.CacheStrategy.LFU])
def test_rows_that_do_not_fit_into_memory_are_in_a_file(strategy: Any, tmp_path: Path) -> None:
    storage = tf.StorageOption(
        storage_type=tf.StorageType.DRAM_SSDHASH,
        storage_path=str(tmp_path),
        storage_size=[4 * 64],
        cache_strategy=strategy,
    )
    option = tf.EmbeddingVariableOption(storage_option=storage)
    table = tf.get_embedding_variable("emb", 4, initializer=tf.ones_initializer(), ev_option=option)
    keys = tf.placeholder(tf.int64, [None])
    rows = tf.nn.embedding_lookup(table, keys)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows))
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for first in range(0, 64, 4):
            session.run(train, {keys: list(range(first, first + 4))})
        tiers = session.run(table.lookup_tier(list(range(65))))
        assert set(tiers.tolist()) == {-1, 0, 1}
        everything = session.run(rows, {keys: list(range(64))})
        np.testing.assert_allclose(everything, 1 - 0.1 / np.sqrt(1.1), rtol=1e-6)
        prefix = saver.save(session, tmp_path / "m")
    with tf.Session() as session:
        saver.restore(session, prefix)
        assert session.run(rows, {keys: list(range(64))}).tolist() == everything.tolist()
    in_memory = int((tiers == 0).sum())  # those of the file lie in records beside the checkpoint, as with DeepRec
    assert tf.train.load_variable(prefix, "emb-keys").shape == (in_memory,)
    assert tf.train.load_variable(prefix, "emb-freqs").tolist() == [1] * in_memory


@pytest.mark.parametrize(("before", "after"), [(None, None), (3, 2), (None, 2), (2, None)])
def test_blocks_are_saved_each_by_itself_and_come_back(before: int | None, after: int | None, tmp_path: Path) -> None:
    def build(shards: int | None) -> tuple[Any, Any]:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        variable = tf.get_dynamic_dimension_embedding_variable(
            "emb", 2, 2, initializer=tf.ones_initializer(), partitioner=partitioner
        )
        rows = tf.nn.embedding_lookup(variable, ids(1, 2, -3), blocknums=tf.constant([2, 1, 2]))
        return rows, tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows)))

    rows, train = build(before)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix = tf.train.Saver().save(session, tmp_path / "m")
        saved = session.run(rows)
        session.run(train)
        wanted = session.run(rows)
    with tf.Graph().as_default(), tf.Session() as session:
        rows, train = build(after)
        tf.train.Saver().restore(session, prefix)
        assert session.run(rows).tolist() == saved.tolist()
        session.run(train)
        assert session.run(rows).tolist() == wanted.tolist()


def test_default_rows_are_those_of_a_dense_variable_with_the_same_seed() -> None:
    tf.set_random_seed(7)
    option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(default_value_dim=8192))
    initializer = tf.glorot_uniform_initializer(seed=3)
    table = tf.get_embedding_variable("emb", 4, initializer=initializer, ev_option=option)
    dense = tf.get_variable("dense", [8192, 4], initializer=initializer)
    keys = [0, 5, 8191, 8192, -1]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, wanted = session.run([tf.nn.embedding_lookup(table, keys), dense])
    assert found.tolist() == wanted[[0, 5, 8191, 0, 8191]].tolist()
