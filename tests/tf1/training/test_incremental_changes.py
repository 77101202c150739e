"""Full and incremental checkpoints restored into programs that differ from the one that saved them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.checkpoint.restore.wanted_tensors import OnMismatch
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_REMOVED, DELTA_VERSIONS
from tensorkeep.errors import FailedPreconditionError, NotFoundError, TensorKeepError
from tests.support.deeprec import unset_switches


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


class Model:
    """A table that is trained by ids that are fed, with a saver that saves incrementally."""

    def __init__(self, dim: int = 3, optimizer: Any = None, name: str = "t", **arguments: Any) -> None:
        self.table = tf.get_embedding_variable(name, dim, initializer=tf.ones_initializer(), **arguments)
        self.ids = tf.placeholder(tf.int64, [None], name="ids")
        self.rows = tf.nn.embedding_lookup(self.table, self.ids)
        self.step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(self.rows))
        self.train = (optimizer or tf.train.AdagradOptimizer(0.1)).minimize(loss, global_step=self.step)
        self.saver = tf.train.Saver(incremental_save_restore=True)

    def run(self, session: Any, *batches: list[int]) -> None:
        for batch in batches:
            session.run(self.train, {self.ids: batch})

    def saved(self, folder: Path) -> tuple[str, str]:
        """A full checkpoint of keys 1 to 3, and an incremental one with a new row of 2, and 4."""
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.run(session, [1, 2, 3])
            full = self.saver.save(session, folder / "m", global_step=self.step)
            self.run(session, [2, 4])
            delta = self.saver.incremental_save(session, folder / "m", global_step=self.step)
            self.state = rows_of(session, self)
        assert isinstance(full, str)
        return full, delta


def rows_of(session: Any, model: Model) -> dict[int, list[float]]:
    exported = session.run(model.table.export())
    return {int(key): row.tolist() for key, row in zip(exported.keys, exported.values, strict=True)}


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("is_first_initialized", [True, False])
def test_a_delta_of_another_dimension_is_cut_or_extended_like_the_full_checkpoint(
    dim: int, is_first_initialized: bool, tmp_path: Path
) -> None:
    first = Model()
    full, _ = first.saved(tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model(dim)
        if is_first_initialized:
            session.run(tf.global_variables_initializer())
        model.saver.restore(session, full)
        extra = [float(is_first_initialized)] * max(dim - 3, 0)
        assert rows_of(session, model) == {key: row[:dim] + extra for key, row in first.state.items()}


def test_after_rows_were_extended_a_full_save_comes_before_the_next_delta(tmp_path: Path) -> None:
    full, _ = Model().saved(tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model(5)
        model.saver.restore(session, full)
        with pytest.raises(FailedPreconditionError, match="has not been saved whole yet"):
            model.saver.incremental_save(session, tmp_path / "m", global_step=8)
        model.saver.save(session, tmp_path / "m", global_step=9)
        model.run(session, [2])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=10)
    assert tf.train.load_variable(delta, f"t{DELTA_KEYS}").tolist() == [2]


def test_slots_of_another_optimizer_begin_anew(tmp_path: Path) -> None:
    first = Model()
    full, _ = first.saved(tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model(optimizer=tf.train.FtrlOptimizer(0.1))
        session.run(tf.global_variables_initializer())
        model.saver.restore(session, full)
        assert rows_of(session, model) == first.state
        model.run(session, [4])


def test_a_delta_is_restored_under_other_names_like_the_full_checkpoint(tmp_path: Path) -> None:
    first = Model()
    full, _ = first.saved(tmp_path)
    mapping = {"other": "t", "other/Adagrad": "t/Adagrad"}
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model(name="other")
        with pytest.raises(NotFoundError, match="other"):
            model.saver.restore(session, full)
        model.saver.restore(session, full, mapping=mapping)
        assert rows_of(session, model) == first.state


def test_an_embedding_variable_that_neither_checkpoint_has_may_stay_as_it_is(tmp_path: Path) -> None:
    first = Model()
    full, _ = first.saved(tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_embedding_variable("new", 2)
        model = Model()
        session.run(tf.global_variables_initializer())
        with pytest.raises(NotFoundError, match="new"):
            model.saver.restore(session, full)
        model.saver.restore(session, full, on_mismatch=OnMismatch.REPORT)
        assert rows_of(session, model) == first.state


def test_what_a_failed_save_dropped_and_stamped_is_in_the_next_delta(tmp_path: Path) -> None:
    option = tf.EmbeddingVariableOption(evict_option=tf.GlobalStepEvict(2))
    model = Model(ev_option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        session.run(model.rows, {model.ids: [7]})  # a key that no step has stamped yet
        model.run(session, [2], [2], [2], [2])
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(TensorKeepError):
            model.saver.save(session, tmp_path / "file" / "m", global_step=model.step)
        wanted = rows_of(session, model)
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        versions = session.run(model.table.get_version(np.array([1, 2, 7])))
    assert sorted(wanted) == [2, 7]
    assert versions.tolist() == [-1, 4, 5]
    assert tf.train.load_variable(delta, f"t{DELTA_REMOVED}").tolist() == [1]
    assert tf.train.load_variable(delta, f"t{DELTA_KEYS}").tolist() == [2, 7]
    assert tf.train.load_variable(delta, f"t{DELTA_VERSIONS}").tolist() == [4, 5]
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(ev_option=option)
        again.saver.restore(session, full)
        assert rows_of(session, again) == wanted
        assert session.run(again.table.get_version(np.array([2, 7]))).tolist() == [4, 5]
