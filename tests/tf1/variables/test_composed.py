"""Multi-hash and dynamic-dimension variables are variables, made of others, for savers, optimizers and initializers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.tf1.training.savers.saver_graph import BaseSaverBuilder
from tensorkeep.tf1.variables.store import variable_store
from tests.support.deeprec import unset_switches

IDS = [0, 1, 7]


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


def multihash(**options: Any) -> tuple[Any, Any]:
    made = tf.get_multihash_variable("m", [[5, 6], [3, 6]], initializer=tf.ones_initializer(), **options)
    return made, tf.nn.embedding_lookup(made, tf.constant(IDS, tf.int64))


def dynamic(**options: Any) -> tuple[Any, Any]:
    made = tf.get_dynamic_dimension_embedding_variable("d", 2, 3, initializer=tf.ones_initializer(), **options)
    return made, tf.nn.embedding_lookup(made, tf.constant(IDS, tf.int64), blocknums=tf.constant([1, 3, 2]))


in_both = pytest.mark.parametrize("make", [multihash, dynamic])
in_parts = pytest.mark.parametrize("options", [{}, {"partitioner": tf.fixed_size_partitioner(2)}])
Make = Callable[..., tuple[Any, Any]]


@in_both
def test_they_are_variables_whose_parts_are_in_collections(make: Make) -> None:
    made, rows = make()
    assert isinstance(made, tf.Variable)
    assert made not in tf.global_variables()
    assert {part.name for part in made.parts} == {variable.name for variable in tf.global_variables()}
    assert (made.dtype.base_dtype, made.shape.as_list(), made.trainable) == (tf.float32, [6], True)
    assert rows.shape.as_list()[-1] in (6, None)
    assert made.graph is tf.get_default_graph()
    assert {made: "itself"}[made] == "itself"


@in_both
@in_parts
def test_a_saver_of_one_saves_its_parts_and_restores_them(make: Make, options: Any, tmp_path: Path) -> None:
    made, rows = make(**options)
    saver = tf.train.Saver([made])
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        trained = session.run(rows)
        prefix = saver.save(session, tmp_path / "x")
        session.run(train)
        assert not np.array_equal(session.run(rows), trained)
        saver.restore(session, prefix)
        np.testing.assert_array_equal(session.run(rows), trained)
    assert not any("Adagrad" in name for name in tk.list_tensors(prefix))


@in_both
@in_parts
def test_an_optimizer_of_one_trains_its_parts_alone(make: Make, options: Any) -> None:
    made, rows = make(**options)
    other = tf.get_variable("w", initializer=1.0)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows) * other, var_list=[made])
    with tf.Session() as session:
        session.run([tf.variables_initializer([made, other]), tf.train.get_or_create_global_step().initializer])
        before = session.run(rows)
        session.run(train)
        after = session.run([rows, other])
    assert after[1] == 1.0
    assert (after[0] <= before).all()
    assert (after[0] < before).any()


@in_both
def test_what_needs_the_whole_says_so(make: Make) -> None:
    made, _ = make()
    for use in (made.value, made.read_value, lambda: made.assign(1.0), lambda: made + 1.0, lambda: tf.identity(made)):
        with pytest.raises(UnimplementedError, match="has no value as a whole"):
            use()


def test_one_cannot_be_saved_under_another_name() -> None:
    made, _ = multihash()
    with pytest.raises(
        InvalidArgumentError, match='cannot be called "x": give each a name, m/multhash_Q, m/multhash_R'
    ):
        tf.train.Saver({"x": made})


def test_safe_lookups_take_them() -> None:
    made, _ = multihash()
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant(IDS, tf.int64), [3, 2])
    found = tf.nn.safe_embedding_lookup_sparse(made, ids, combiner="sum")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(found)[:, 0].tolist() == [4, 0, 2]


# What else DeepRec's classes have


def test_a_scope_finds_and_makes_embedding_variables() -> None:
    with tf.variable_scope("a") as scope:
        made = scope.get_embedding_variable(variable_store(), "e", shape=[3], initializer=tf.ones_initializer())
        again = scope.get_embedding_variable(variable_store(), "e", shape=3, reuse=True)
    assert made is again
    assert (made.name, made.dim, made.key_dtype) == ("a/e:0", 3, tf.int64)
    with pytest.raises(InvalidArgumentError, match="expected a shape of one number"):
        scope.get_embedding_variable(variable_store(), "f", shape=[2, 3])


def test_a_scope_tells_what_has_no_effect_on_an_embedding_variable(caplog: pytest.LogCaptureFixture) -> None:
    with tf.variable_scope("a") as scope:
        scope.get_embedding_variable(
            variable_store(), "e", shape=3, caching_device="/cpu:0", validate_shape=False, use_resource=False
        )
    assert 'caching_device, validate_shape, use_resource of "e": without effect' in caplog.text


def test_a_scope_takes_the_number_of_partitions(caplog: pytest.LogCaptureFixture) -> None:
    with tf.variable_scope("a") as scope:
        made = scope.get_embedding_variable(variable_store(), "e", shape=3, ht_partition_num=10)
        option = tf.EmbeddingVariableOption(ht_partition_num=20)
        scope.get_embedding_variable(variable_store(), "f", shape=3, ht_partition_num=10, evconfig=option)
    assert made.initializer.get_attr("ht_partition_num") == 10
    assert 'ht_partition_num of "f" is given twice; that of evconfig is taken' in caplog.text


def test_a_part_may_say_its_own_name() -> None:
    info = tf.Variable.SaveSliceInfo("whole", [4, 2], [0, 0], [2, 2], var_full_name="whole/part_0")
    assert (info.full_name, info.var_full_name) == ("whole", "whole/part_0")
    assert tf.Variable.SaveSliceInfo().var_full_name is None


def test_savers_of_deeprec_are_among_the_names_of_a_builder(tmp_path: Path) -> None:
    packed = tf.get_variable("tables", initializer=np.arange(10.0).reshape(5, 2))
    saver = tf.train.Saver([BaseSaverBuilder.CoalescedVariableSaveable(packed, {"user": 2, "item": 3})])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert sorted(tk.list_tensors(saver.save(session, tmp_path / "x"))) == ["item", "user"]


def test_a_data_source_is_refused_with_what_to_do() -> None:
    with pytest.raises(UnimplementedError, match=r"odps://p/tables/t.*paiio.*import_parquet"):
        tf.get_embedding_variable("e", 2, init_data_source="odps://p/tables/t")
