"""Work queues in programs: files that are taken once, what is left of them in checkpoints."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError

WorkQueue = tf.python.ops.work_queue.WorkQueue


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four files of two lines."""
    paths = [tmp_path / f"{name}.txt" for name in "abcd"]
    for path in paths:
        path.write_text(f"{path.stem}0\n{path.stem}1\n")
    return [str(path) for path in paths]


def read(tensor: Any, most: int = 100, **options: Any) -> list[Any]:
    """What a monitored session reads until the end."""
    found: list[Any] = []
    with tf.train.MonitoredTrainingSession(log_step_count_steps=None, **options) as session:
        while len(found) < most and not session.should_stop():
            found.append(session.run(tensor))
    return found


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_line_of_every_epoch_is_read_once(files: list[str], shuffle: bool) -> None:
    works = WorkQueue(files, num_epochs=2, shuffle=shuffle, seed=3)
    iterator = tf.data.TextLineDataset(works.input_dataset()).make_initializable_iterator()
    lines = read(iterator.get_next(), scaffold=scaffold_of(iterator))
    assert Counter(lines) == Counter({f"{name}{i}".encode(): 2 for name in "abcd" for i in range(2)})
    assert (lines == sorted(lines[:8]) * 2) != shuffle
    assert len(works) == 4


def test_a_queue_of_works_is_kept_filled(files: list[str]) -> None:
    works = WorkQueue(files, shuffle=False, prefix="file:")
    queue = works.input_producer()
    assert [found[0].decode() for found in read(queue.dequeue())] == [f"file:{path}" for path in files]
    assert not [thread.name for thread in threading.enumerate() if "QueueRunner" in thread.name]


def test_readers_of_queues_take_it(files: list[str]) -> None:
    _, line = tf.TextLineReader().read(WorkQueue(files, shuffle=False).input_producer())
    assert [found.decode() for found in read(line)] == ["a0", "a1", "b0", "b1", "c0", "c1", "d0", "d1"]


def scaffold_of(iterator: Any) -> Any:
    return tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer(), iterator.initializer))


def _trained(files: list[str], folder: Path, most: int) -> list[bytes]:
    with tf.Graph().as_default():
        count = tf.assign_add(tf.train.create_global_step(), 1)
        works = WorkQueue(files, shuffle=False, name="works")
        iterator = tf.data.TextLineDataset(works.input_dataset()).make_initializable_iterator()
        scaffold = scaffold_of(iterator)
        found = read((iterator.get_next(), count), most, scaffold=scaffold, checkpoint_dir=str(folder))
        return [line for line, _ in found]


def test_a_program_goes_on_with_what_nobody_had_taken(files: list[str], tmp_path: Path) -> None:
    """What was begun is not repeated: the second line of b is not read again, as in DeepRec."""
    assert _trained(files, tmp_path / "run", most=3) == [b"a0", b"a1", b"b0"]
    reader = tf.train.load_checkpoint(str(tmp_path / "run"))
    assert reader.get_tensor("works_digest") == ",".join(files).encode()
    assert [Path(work.decode()).stem for work in reader.get_tensor("works_works")] == ["c", "d"]
    assert _trained(files, tmp_path / "run", most=99) == [b"c0", b"c1", b"d0", b"d1"]
    assert _trained(files, tmp_path / "run", most=99) == []


def test_other_files_than_those_of_the_checkpoint_are_read_from_the_first_on(
    files: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _trained(files, tmp_path / "run", most=3)
    with caplog.at_level("INFO", "tensorkeep"):
        assert _trained(files[:1], tmp_path / "run", most=99) == [b"a0", b"a1"]
    assert "the work queue works of the checkpoint is of other works: it is filled anew" in caplog.text


def test_works_that_nobody_asks_for_stay_in_the_queue(files: list[str]) -> None:
    works = WorkQueue(files, shuffle=False)
    works.input_dataset()
    works.add_summary()
    summary = tf.summary.merge_all()
    with tf.train.MonitoredTrainingSession(log_step_count_steps=None) as session:
        message = tf.Summary.FromString(session.run(summary))
        assert [(value.tag, value.simple_value) for value in message.value] == [("work_queue/fraction_of_4_full", 1.0)]


def test_two_queues_have_names_of_their_own(files: list[str]) -> None:
    assert [WorkQueue(files).name, WorkQueue(files).name] == ["work_queue", "work_queue_1"]


@pytest.mark.parametrize("works", [[], "a", [3], None])
def test_works_are_a_list_of_names(works: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="requires works as a list of strings"):
        WorkQueue(works)


def test_other_arguments_are_refused_with_a_word() -> None:
    with pytest.raises(InvalidArgumentError, match="num_epochs must be > 0"):
        WorkQueue(["a"], num_epochs=0)
    with pytest.raises(UnimplementedError, match="local_work_mgr"):
        WorkQueue(["a"], local_work_mgr=object())
