"""Restoring many embedding variables: the names of a checkpoint are gone through a few times in all, not for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorkeep
import tensorkeep.v1 as tf
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tests.support.deeprec import unset_switches


@pytest.fixture(autouse=True)
def _own_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    unset_switches(monkeypatch)


def model(count: int, optimizer: Any = tf.train.AdagradOptimizer) -> Any:
    tables = [tf.get_embedding_variable(f"t{number}", 2, initializer=tf.ones_initializer()) for number in range(count)]
    rows = [tf.nn.embedding_lookup(table, tf.constant([1, 2, 3], tf.int64)) for table in tables]
    return optimizer(0.1).minimize(tf.add_n([tf.reduce_sum(found) for found in rows]))


def saved(count: int, folder: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        train = model(count)
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix: str = tf.train.Saver().save(session, str(folder / f"m{count}"))
        return prefix


def looks_during_a_restore(
    count: int,
    prefix: str,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: Any = tf.train.AdagradOptimizer,
    **options: Any,
) -> int:
    looks = 0
    going_through = BundleReader.__iter__

    def counted(reader: BundleReader) -> Iterator[str]:
        nonlocal looks
        looks += 1
        return going_through(reader)

    with tf.Graph().as_default(), tf.Session() as session, monkeypatch.context() as patch:
        model(count, optimizer)
        saver = tf.train.Saver()
        patch.setattr(BundleReader, "__iter__", counted)
        saver.restore(session, prefix, **options)
        trained = session.run(tf.nn.embedding_lookup(tf.trainable_variables()[-1], [2]))
    assert (trained < 1).all()
    return looks


@pytest.mark.parametrize("has_mapping", [False, True])
def test_names_are_gone_through_as_often_for_many_tables_as_for_few(
    has_mapping: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    for count in (2, 9):
        mapping = {f"t{number}": f"t{number}" for number in range(count)}
        options = {"mapping": mapping} if has_mapping else {}
        looks.append(looks_during_a_restore(count, saved(count, tmp_path), monkeypatch, **options))
    assert looks[0] == looks[1]


def test_so_they_are_where_the_slots_of_another_optimizer_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = [
        looks_during_a_restore(
            count,
            saved(count, tmp_path),
            monkeypatch,
            tf.train.AdamOptimizer,
            on_mismatch=tensorkeep.Adapt(missing="skip"),
        )
        for count in (2, 9)
    ]
    assert looks[0] == looks[1]


def test_the_plan_hands_what_it_found_to_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looks_during_a_restore(3, saved(3, tmp_path), monkeypatch)
    assert looks == 2  # once for the embeddings, and once to tell what nobody restores
