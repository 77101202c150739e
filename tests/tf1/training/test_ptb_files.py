"""The text of the Penn Treebank as numbers: what batches consist of, and what is wrong with files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.tf1.training.inputs.ptb_files import (
    build_vocabulary,
    ptb_iterator,
    ptb_producer,
    ptb_raw_data,
    read_words,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The most frequent word is "the"; "a" and "dog" are equally so, and "<eos>" stands before both."""
    (tmp_path / "ptb.train.txt").write_text(" the dog saw the cat \n a dog saw the a \n")
    (tmp_path / "ptb.valid.txt").write_text(" the bird saw a cat \n")
    (tmp_path / "ptb.test.txt").write_text(" cat \n")
    return tmp_path


def test_words_are_numbered_by_how_often_they_are_there(folder: Path) -> None:
    assert read_words(str(folder / "ptb.test.txt")) == ["cat", "<eos>"]
    numbers = build_vocabulary(str(folder / "ptb.train.txt"))
    assert numbers == {"the": 0, "<eos>": 1, "a": 2, "dog": 3, "saw": 4, "cat": 5}
    train, valid, test, count = ptb_raw_data(str(folder))
    assert train == [0, 3, 4, 0, 5, 1, 2, 3, 4, 0, 2, 1]
    assert (valid, test, count) == ([0, 4, 2, 5, 1], [5, 1], 6)  # nobody has seen the bird


def test_batches_are_stretches_of_equal_parts_and_the_same_one_word_later() -> None:
    batches = list(ptb_iterator(range(21), 2, 3))
    assert [x.tolist() for x, _ in batches] == [[[0, 1, 2], [10, 11, 12]], [[3, 4, 5], [13, 14, 15]],
                                                [[6, 7, 8], [16, 17, 18]]]  # fmt: skip
    assert all(np.array_equal(y, x + 1) for x, y in batches)
    with pytest.raises(InvalidArgumentError, match="epoch_size == 0, decrease batch_size or num_steps: 6 words make"):
        list(ptb_iterator(range(6), 2, 3))


def test_a_producer_gives_the_batches_of_the_iterator_again_and_again() -> None:
    expected = list(ptb_iterator(range(21), 2, 3))
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = ptb_producer(list(range(21)), 2, 3)
        assert (x.op.name.split("/")[0], x.shape.as_list(), y.shape.as_list()) == ("PTBProducer", [2, 3], [2, 3])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for wanted in [*expected, *expected]:
            np.testing.assert_array_equal(session.run([x, y]), wanted)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
    with tf.Graph().as_default(), tf.Session() as session:
        made = ptb_producer(tf.placeholder(tf.int32, [None]), 2, 3)[0].op.graph.get_operation_by_name(
            "PTBProducer/epoch_size"
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="epoch_size == 0, decrease batch_size or num_steps"):
            session.run(made, {"Placeholder:0": list(range(6))})


def test_files_that_are_missing_or_no_text_are_named(folder: Path) -> None:
    (folder / "ptb.test.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DataLossError, match=r'ptb\.test\.txt" is no text in UTF-8'):
        ptb_raw_data(str(folder))
    (folder / "ptb.test.txt").unlink()
    with pytest.raises(NotFoundError, match=r"there is no .*ptb\.test\.txt, and nothing is fetched"):
        ptb_raw_data(str(folder))
