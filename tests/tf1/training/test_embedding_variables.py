"""Training, saving and restoring models with embedding variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from tests.support.deeprec import unset_switches
from tests.support.depth import examples

ROWS = np.random.RandomState(0).randn(12, 3).astype(np.float32)
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "gradient descent": lambda step: tf.train.GradientDescentOptimizer(0.1),
    "Adagrad": lambda step: tf.train.AdagradOptimizer(0.1),
    "AdagradDecay": lambda step: tf.train.AdagradDecayOptimizer(0.1, step, accumulator_decay_step=1),
    "Adam": lambda step: tf.train.AdamOptimizer(0.1),
    "AdamW": lambda step: tf.train.AdamWOptimizer(0.01, 0.1),
    "AdamAsync": lambda step: tf.train.AdamAsyncOptimizer(0.1),
    "AdamAsync by RMSProp": lambda step: tf.train.AdamAsyncOptimizer(0.1, apply_sparse_rmsprop=True),
    # What l1 and shrinkage do is DeepRec's own: see test_deeprec_optimizers.py.
    "Ftrl": lambda step: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=0.01),
}
SLOTS = {
    "gradient descent": [],
    "Adagrad": ["Adagrad"],
    "AdagradDecay": ["AdagradDecay", "AdagradDecay_1"],
    "Adam": ["Adam", "Adam_1"],
    "AdamW": ["AdamW", "AdamW_1"],
    "AdamAsync": ["AdamAsync", "AdamAsync_1", "AdamAsync_2", "AdamAsync_3"],
    "AdamAsync by RMSProp": ["AdamAsync", "AdamAsync_1", "AdamAsync_2", "AdamAsync_3"],
    "Ftrl": ["Ftrl", "Ftrl_1"],
}


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


def trained(kind: str, optimizer: str, ids: list[int], shards: int | None = None) -> tuple[Any, Any, list[str]]:
    """All rows and a dense variable after one step, and the names of the table's slots."""
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        dense = tf.get_variable("dense", initializer=np.full((3, 2), 0.5, np.float32))
        if kind == "embedding":
            partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
            table = tf.get_embedding_variable("t", 3, initializer=tf.constant(ROWS), partitioner=partitioner)
        else:
            table = tf.get_variable("t", initializer=ROWS, use_resource=kind == "resource")
        rows = tf.nn.embedding_lookup(table, tf.constant(ids, tf.int64))
        weights = np.linspace(-1, 2, len(ids) * 3, dtype=np.float32).reshape(len(ids), 3)
        loss = tf.reduce_sum(tf.square(tf.matmul(rows * weights, dense)))
        train = OPTIMIZERS[optimizer](step).minimize(loss, global_step=step)
        everything = tf.nn.embedding_lookup(table, tf.range(12, dtype=tf.int64))
        names = [item.op.name[2:] for item in tf.global_variables() if item.op.name.startswith("t/")]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            found, other = session.run([everything, dense])
    return found, other, names


def looked_up_in_branches(table: Any, chosen: Any) -> Any:
    """The sum of rows that depend on which branch is taken."""

    def rows(*ids: int) -> Any:
        return tf.nn.embedding_lookup(table, tf.constant(ids, tf.int64))

    return tf.reduce_sum(tf.cond(chosen, lambda: rows(1, 2), lambda: rows(3))) + tf.reduce_sum(
        tf.cond(chosen, lambda: rows(4), lambda: tf.zeros([1, 3]))
    )


def looked_up_in_a_loop(table: Any, chosen: Any) -> Any:
    """The sum of rows that the rounds of a loop look up."""

    def body(i: Any, total: Any) -> Any:
        rows = tf.nn.embedding_lookup(table, tf.stack([i, tf.constant(5, tf.int64)]))
        return i + 1, total + tf.reduce_sum(rows, axis=0)

    start = (tf.constant(0, tf.int64), tf.zeros([3]))
    return tf.reduce_sum(tf.while_loop(lambda i, total: i < 3, body, start)[1])


@pytest.mark.parametrize("look_up", [looked_up_in_branches, looked_up_in_a_loop])
@pytest.mark.parametrize("shards", [None, 2])
def test_rows_that_branches_and_loops_look_up_are_trained(look_up: Callable[[Any, Any], Any], shards: Any) -> None:
    after = []
    for is_dense in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
            if is_dense:
                table = tf.get_variable("t", initializer=ROWS, use_resource=True)
            else:
                table = tf.get_embedding_variable("t", 3, initializer=tf.constant(ROWS), partitioner=partitioner)
            chosen = tf.placeholder(tf.bool)
            train = tf.train.AdagradOptimizer(0.1).minimize(look_up(table, chosen))
            session.run(tf.global_variables_initializer())
            session.run(train, {chosen: True})
            if not is_dense and shards is None and look_up is looked_up_in_branches:
                assert sorted(session.run(table.export()).keys.tolist()) == [1, 2, 4]
            session.run(train, {chosen: False})
            after.append(session.run(tf.nn.embedding_lookup(table, tf.range(12, dtype=tf.int64))))
    np.testing.assert_array_equal(after[0], after[1])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", ["reference", "resource"])
def test_one_step_equals_that_on_a_dense_variable(optimizer: str, kind: str) -> None:
    ids = [3, 1, 3, 7, 0, 1, 3]
    mine, theirs = trained("embedding", optimizer, ids), trained(kind, optimizer, ids)
    np.testing.assert_allclose(mine[0], theirs[0], rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(mine[1], theirs[1], rtol=2e-6, atol=1e-6)
    assert np.abs(mine[0] - ROWS).max() > 0.05
    assert mine[2] == SLOTS[optimizer]


@given(ids=st.lists(st.integers(0, 11), min_size=1, max_size=8), optimizer=st.sampled_from(sorted(OPTIMIZERS)))
@examples(20, deadline=None)
def test_one_step_equals_that_on_a_dense_variable_for_any_ids(ids: list[int], optimizer: str) -> None:
    mine, theirs = trained("embedding", optimizer, ids, shards=3), trained("resource", optimizer, ids)
    np.testing.assert_allclose(mine[0], theirs[0], rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(mine[1], theirs[1], rtol=2e-6, atol=1e-6)


def test_optimizers_without_ops_for_tables_say_so() -> None:
    table = tf.get_embedding_variable("t", 3)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
    with pytest.raises(UnimplementedError, match='MomentumOptimizer cannot train the embedding variable "t"'):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


def test_a_gradient_that_is_no_slices_is_refused() -> None:
    table = tf.get_embedding_variable("t", 3)
    with pytest.raises(InvalidArgumentError, match="expected IndexedSlices"):
        tf.train.GradientDescentOptimizer(0.1).apply_gradients([(tf.ones([3]), table)])


# ---------------------------------------------------------------------------------------------------- Golden cases


class Model:
    """A table that is trained by ids that are fed."""

    def __init__(self, option: Any = None, sparse: bool = False, dim: int = 3, shards: int | None = None) -> None:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        self.table = tf.get_embedding_variable(
            "t", dim, initializer=tf.ones_initializer(), ev_option=option, partitioner=partitioner
        )
        self.ids = tf.placeholder(tf.int64, [None])
        self.step = tf.train.get_or_create_global_step()
        if sparse:
            count = tf.size(self.ids, out_type=tf.int64)
            places = tf.stack([tf.zeros_like(self.ids), tf.range(count)], axis=1)
            ids = tf.SparseTensor(places, self.ids, tf.stack([tf.constant(1, tf.int64), count]))
            self.rows = tf.nn.embedding_lookup_sparse(self.table, ids, None, combiner="sum")
        else:
            self.rows = tf.nn.embedding_lookup(self.table, self.ids)
        self.train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(self.rows), global_step=self.step)
        self.saver = tf.train.Saver()

    def run(self, session: Any, *batches: list[int]) -> None:
        for batch in batches:
            session.run(self.train, {self.ids: batch})


@pytest.mark.parametrize("sparse", [False, True])
def test_two_steps_of_six_ids_count_each_occurrence(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    model = Model(sparse=sparse)
    asked = [model.table.get_frequency([1, 2, 3]), model.table.get_version([1, 2, 3])]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 1, 2, 2, 3], [1, 1, 1, 2, 2, 3])
        assert [found.tolist() for found in session.run(asked)] == [[6, 4, 2], [1, 1, 1]]


def test_the_counts_of_two_lookups_of_one_table_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    table = tf.get_embedding_variable("t", 2)
    ids = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], tf.constant([1, 1, 2], tf.int64), [1, 3])
    loss = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, ids, None))
    loss += tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([1, 3], tf.int64)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table.get_frequency([1, 2, 3])).tolist() == [3, 1, 1]


@pytest.mark.parametrize("saves_filtered", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_counter_filter_lets_in_what_occurs_three_times(
    saves_filtered: bool, sparse: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not saves_filtered:
        monkeypatch.setenv("TF_EV_SAVE_FILTERED_FEATURES", "false")
    model = Model(tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=3)), sparse)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 1, 2, 2, 3])
        prefix = model.saver.save(session, tmp_path / "m")
    assert tf.train.load_variable(prefix, "t-keys").tolist() == [1]
    filtered = tf.train.load_variable(prefix, "t-keys_filtered").tolist()
    counts = tf.train.load_variable(prefix, "t-freqs_filtered").tolist()
    assert (filtered, counts) == (([2, 3], [2, 1]) if saves_filtered else ([], []))


def test_a_key_that_is_looked_up_once_a_step_is_let_in_by_the_third() -> None:
    option = tf.EmbeddingVariableOption(
        filter_option=tf.CounterFilter(3), init_option=tf.InitializerOption(default_value_no_permission=0.5)
    )
    model = Model(option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            assert session.run(model.rows, {model.ids: [7]}).tolist() == [[0.5] * 3]
            model.run(session, [7])
        (found,) = session.run(model.rows, {model.ids: [7]})
    np.testing.assert_allclose(found, 1 - 0.1 / np.sqrt(1.1), rtol=1e-6)


def test_frequencies_and_versions_of_filtered_and_unknown_keys() -> None:
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3), evict_option=tf.GlobalStepEvict(2))
    model = Model(option)
    asked = [model.table.get_frequency(range(1, 8)), model.table.get_version(range(1, 8)), model.table.total_count()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3], [1, 3, 5], [1, 5, 7])
        frequencies, versions, count = session.run(asked)
    assert frequencies.tolist() == [3, 1, 2, 0, 2, 0, 1]
    assert versions.tolist() == [2, 0, 1, -1, 2, -1, 2]
    assert count.tolist() == [5, 3]


def test_a_bloom_filter_lets_in_about_what_occurs_often_enough() -> None:
    chosen = tf.CBFFilter(filter_freq=3, max_element_size=100, false_positive_probability=0.01)
    model = Model(tf.EmbeddingVariableOption(filter_option=chosen))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 1, 2, 2, 3], [2])
        assert session.run(model.table.export().keys).tolist() == [1, 2]


def test_a_save_drops_keys_that_have_not_been_updated_for_long(tmp_path: Path) -> None:
    model = Model(tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(steps_to_live=2)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3], [2, 3], [2, 3], [2, 3])
        prefix = model.saver.save(session, tmp_path / "m", global_step=model.step)
    for stem in ("t", "t/Adagrad"):
        assert tf.train.load_variable(prefix, f"{stem}-keys").tolist() == [2, 3]
        assert tf.train.load_variable(prefix, f"{stem}-versions").tolist() == [3, 3]


def test_only_updates_insert_where_that_is_asked_for() -> None:
    model = Model(tf.EmbeddingVariableOption(inserts_on_lookup=False))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(model.rows, {model.ids: [1, 2]})
        assert session.run(model.table.total_count()).tolist() == [0, 3]
        model.run(session, [1, 2])
        assert session.run(model.table.total_count()).tolist() == [2, 3]


# ---------------------------------------------------------------------------------------------------- Saving


RESHARDED = [
    (optimizer, before, after)
    for optimizer in OPTIMIZERS
    for before, after in [(None, None), (2, None), (None, 3), (2, 5), (4, 4)]
]


@pytest.mark.parametrize(("optimizer", "before", "after"), RESHARDED)
@pytest.mark.parametrize("sharded", [False, True])
def test_training_goes_on_where_it_was_saved(
    optimizer: str, before: int | None, after: int | None, sharded: bool, tmp_path: Path
) -> None:
    def build(shards: int | None) -> tuple[Any, Any, Any]:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        table = tf.get_embedding_variable("t", 3, initializer=tf.constant(ROWS), partitioner=partitioner)
        rows = tf.nn.embedding_lookup(table, tf.constant([1, -1, 5, 1, 10**12], tf.int64))
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[optimizer](step).minimize(tf.reduce_sum(tf.square(rows)), global_step=step)
        return rows, train, tf.train.Saver(sharded=sharded)

    rows, train, saver = build(before)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix = saver.save(session, tmp_path / "m")
        saved = session.run(rows)
        session.run(train)
        wanted = session.run(rows)
    with tf.Graph().as_default(), tf.Session() as session:
        rows, train, saver = build(after)
        saver.restore(session, prefix)
        assert session.run(rows).tolist() == saved.tolist()
        session.run(train)
        assert session.run(rows).tolist() == wanted.tolist()


def test_equal_tables_are_equal_bytes(tmp_path: Path) -> None:
    def saved(order: list[int], name: str) -> bytes:
        with tf.Graph().as_default(), tf.Session() as session:
            model = Model()
            session.run(tf.global_variables_initializer())
            session.run(model.rows, {model.ids: order})
            return Path(f"{model.saver.save(session, tmp_path / name)}.data-00000-of-00001").read_bytes()

    assert saved([1, 2, 1001, -5], "a") == saved([-5, 1001, 2, 1], "b")


def test_a_restore_replaces_what_was_there(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        prefix = model.saver.save(session, tmp_path / "m")
        model.run(session, [2, 3])
        model.saver.restore(session, prefix)
        assert session.run(model.table.export().keys).tolist() == [1, 2]


def test_saving_before_initializing_names_every_table(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session, pytest.raises(NotFoundError) as caught:
        model.saver.save(session, tmp_path / "m")
    assert '"t"' in str(caught.value)
    assert '"t/Adagrad"' in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_every_table_that_a_checkpoint_lacks_is_named_before_anything_changes(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = model.saver.save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        tables = [tf.get_embedding_variable(name, 3) for name in ("t", "a", "b")]
        saver = tf.train.Saver()
        with pytest.raises(NotFoundError, match='lacks 2 embedding variables: "a", "b"'):
            saver.restore(session, prefix)
        assert not session.run(tables[0].is_initialized())
        saver.restore(session, prefix, on_mismatch="report")
        assert [session.run(table.is_initialized()) for table in tables] == [True, False, False]
        saver.restore(session, prefix, mapping={"a": "t", "b": "t"})
        assert session.run(tables[2].is_initialized())


def test_slots_of_another_optimizer_begin_anew(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        prefix = model.saver.save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("t", 3, initializer=tf.ones_initializer())
        rows = tf.nn.embedding_lookup(table, [1, 2])
        optimizer = tf.train.FtrlOptimizer(0.1)
        optimizer.minimize(tf.reduce_sum(rows))
        slot = optimizer.get_slot(table, "accum")
        tf.train.Saver([table, slot, optimizer.get_slot(table, "linear")]).restore(session, prefix)
        assert session.run(slot.export().values).tolist() == [[np.float32(0.1)] * 3] * 2


def test_a_table_is_restored_from_a_dense_variable(tmp_path: Path) -> None:
    tf.get_variable("t", initializer=ROWS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, tmp_path / "m")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("t", 3)
        tf.train.Saver().restore(session, prefix)
        assert session.run(tf.nn.embedding_lookup(table, [11, 0])).tolist() == ROWS[[11, 0]].tolist()


@pytest.mark.parametrize("shards", [None, 2])
def test_a_dense_variable_is_restored_from_a_table_of_all_its_rows(shards: int | None, tmp_path: Path) -> None:
    def table_of(keys: list[int], name: str) -> tuple[str, Any]:
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_embedding_variable(
                "t", 3, initializer=tf.constant(ROWS), partitioner=tf.fixed_size_partitioner(3)
            )
            rows = tf.nn.embedding_lookup(table, keys)
            session.run(tf.global_variables_initializer())
            found = session.run(rows)
            return tf.train.Saver().save(session, tmp_path / name), found

    prefix, wanted = table_of([0, 1, 2, 3, 4, 5], "whole")
    other, _ = table_of([0, 1, 2, 3, 4, 7], "gap")
    partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
    dense = tf.get_variable("t", [6, 3], partitioner=partitioner)
    saver = tf.train.Saver()
    with tf.Session() as session:
        saver.restore(session, prefix)
        assert session.run(tf.convert_to_tensor(dense)).tolist() == wanted.tolist()
        with pytest.raises(InvalidArgumentError, match="key 7"):
            saver.restore(session, other)


def test_a_save_in_the_background_is_that_of_its_moment(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        saved = session.run(model.rows, {model.ids: [1]})
        handle = model.saver.save(session, tmp_path / "m", wait=False)
        model.run(session, [1, 2])
        prefix = handle.result()
    assert tf.train.load_variable(prefix, "t-keys").tolist() == [1]
    assert tf.train.load_variable(prefix, "t-values").tolist() == saved.tolist()


def test_tables_and_slots_are_of_one_moment_while_others_train(tmp_path: Path) -> None:
    model = Model(dim=2)
    stop = Event()

    def work(session: Any, seed: int) -> None:
        numbers = np.random.RandomState(seed)
        while not stop.is_set():
            session.run(model.train, {model.ids: numbers.randint(-(2**40), 2**40, 50)})

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [Thread(target=work, args=(session, seed)) for seed in range(3)]
        for thread in threads:
            thread.start()
        try:
            prefixes = [model.saver.save(session, tmp_path / "m", global_step=number) for number in range(4)]
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    for prefix in prefixes:
        keys, slots = (tf.train.load_variable(prefix, f"{stem}-keys") for stem in ("t", "t/Adagrad"))
        assert keys.tolist() == slots.tolist()
        rows, sums = (tf.train.load_variable(prefix, f"{stem}-values") for stem in ("t", "t/Adagrad"))
        is_trained = sums[:, 0] > 0.11  # a key that has been looked up is there before it is trained
        np.testing.assert_allclose(rows[~is_trained], 1.0)
        assert (rows[is_trained] < 1.0).all()


def test_the_old_format_has_no_place_for_tables() -> None:
    tf.get_embedding_variable("t", 3)
    with pytest.raises(InvalidArgumentError, match='"t"'):
        tf.train.Saver(write_version=tf.train.SaverDef.V1)


def test_a_saver_of_some_variables_saves_these_under_the_names_given(tmp_path: Path) -> None:
    whole = tf.get_embedding_variable("t", 2, partitioner=tf.fixed_size_partitioner(2))
    other = tf.get_embedding_variable("u", 2)
    saver = tf.train.Saver({"mine": whole, "yours": other})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, tmp_path / "m")
    names = {name for name, _ in tf.train.list_variables(prefix) if name.endswith("-keys")}
    assert names == {"mine/part_0-keys", "mine/part_1-keys", "yours-keys"}


# ---------------------------------------------------------------------------------------------------- From a checkpoint


def scoped(scope: str, fill: float, shards: int | None, dim: int = 3) -> tuple[Any, Any]:
    with tf.variable_scope(scope):
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        initializer = tf.constant_initializer(fill)
        table = tf.get_embedding_variable("t", dim, initializer=initializer, partitioner=partitioner)
    rows = tf.nn.embedding_lookup(table, [1, 2, 3])
    return rows, tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows))


@pytest.mark.parametrize("shards", [None, 2, 3])
def test_tables_and_slots_are_initialized_from_a_checkpoint(shards: int | None, tmp_path: Path) -> None:
    rows, train = scoped("old", 1.0, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix = tf.train.Saver().save(session, tmp_path / "m")
        saved = session.run(rows)
        session.run(train)
        wanted = session.run(rows)
    with tf.Graph().as_default(), tf.Session() as session:
        rows, train = scoped("new", 5.0, shards)
        tf.train.init_from_checkpoint(prefix, {"old/": "new/"})
        session.run(tf.global_variables_initializer())
        assert session.run(rows).tolist() == saved.tolist()
        session.run(train)
        assert session.run(rows).tolist() == wanted.tolist()
    with tf.Graph().as_default(), tf.Session() as session:
        rows, _ = scoped("new", 5.0, shards, dim=4)
        tf.train.init_from_checkpoint(prefix, {"old/t": "new/t"})
        session.run(tf.global_variables_initializer())
        assert session.run(rows)[:, 3].tolist() == [5.0] * 3
    with tf.Graph().as_default():
        scoped("new", 5.0, shards)
        with pytest.raises(ValueError, match="other"):
            tf.train.init_from_checkpoint(prefix, {"other/t": "new/t"})


KEYS = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30, unique=True)


@given(keys=KEYS, before=st.integers(0, 7), after=st.integers(0, 7), seed=st.integers(0, 100))
@examples(25, deadline=None)
def test_any_keys_come_back_from_any_number_of_shards(keys: list[int], before: int, after: int, seed: int) -> None:
    def table(shards: int) -> tuple[Any, Any, Any]:
        partitioner = tf.fixed_size_partitioner(shards) if shards else None
        found = tf.get_embedding_variable(
            "t", 3, initializer=tf.random_normal_initializer(seed=seed), partitioner=partitioner
        )
        rows = tf.nn.embedding_lookup(found, tf.constant(keys, tf.int64))
        train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows)))
        return rows, train, list(found) if shards else [found]

    with TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.Session() as session:
            rows, train, _ = table(before)
            session.run(tf.global_variables_initializer())
            session.run(train)
            wanted = session.run(rows)
            prefix = tf.train.Saver().save(session, f"{folder}/m")
        with tf.Graph().as_default(), tf.Session() as session:
            rows, _, parts = table(after)
            tf.train.Saver().restore(session, prefix)
            assert sum(int(session.run(part.total_count())[0]) for part in parts) == len(keys)
            assert session.run(rows).tolist() == wanted.tolist()
