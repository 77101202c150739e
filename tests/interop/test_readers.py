"""Readers beside TensorFlow's: the same nodes, the same records, the same counts, the same end."""

from __future__ import annotations

import gzip
import inspect
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tests.interop.programs import build, tensorflow_1

Make = Callable[[Any], Any]
LINES = {"a.txt": b"one\r\ntwo\n\nfour\rx\nlast", "b.txt": b"head\n", "empty.txt": b"", "c.txt": b"x1\nx2\nx3\r"}


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    """Files of lines."""
    for name, data in LINES.items():
        (tmp_path / name).write_bytes(data)
    return [str(tmp_path / name) for name in LINES]


@pytest.fixture
def records(tmp_path: Path) -> list[str]:
    """Record files."""
    paths = []
    for count in (0, 3, 2):
        paths.append(str(tmp_path / f"{count}.tfrecord"))
        with ours.python_io.TFRecordWriter(paths[-1]) as writer:
            for i in range(count):
                writer.write(bytes([i]) * (i * 7))
    return paths


def outcome(tf: Any, make: Make, files: list[str], up_to: int | None = None) -> list[Any]:
    """What is read until the end, and after each record how many there have been, and how many files."""
    found: list[Any] = []
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(20, [tf.string], [[]])
        reader = make(tf)
        record = reader.read(queue) if up_to is None else reader.read_up_to(queue, up_to)
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        session.run(queue.enqueue_many([files]))
        session.run(queue.close())
        for _ in range(50):
            try:
                key, value = session.run(record)
            except tf.errors.OutOfRangeError:
                break
            parts = [key, value] if up_to is None else [list(key), list(value)]
            found.append([*parts, *map(int, session.run(counts))])
        found.append(list(map(int, session.run(counts))))
        if reader.supports_serialize:
            found.append(session.run(reader.serialize_state()))
        session.run(reader.reset())
        found.append(list(map(int, session.run(counts))))
    return found


def expect_same(make: Make, files: list[str], up_to: int | None = None) -> None:
    with tensorflow_1():
        theirs = outcome(tf.compat.v1, make, files, up_to)
    assert outcome(ours, make, files, up_to) == theirs


@pytest.mark.parametrize("up_to", [None, 1, 2, 9])
def test_lines(names: list[str], up_to: int | None) -> None:
    expect_same(lambda tf: tf.TextLineReader(), names, up_to)
    expect_same(lambda tf: tf.TextLineReader(skip_header_lines=1), names, up_to)


@pytest.mark.parametrize("up_to", [None, 3])
def test_whole_files_and_names(names: list[str], up_to: int | None) -> None:
    expect_same(lambda tf: tf.WholeFileReader(), names, up_to)
    expect_same(lambda tf: tf.IdentityReader(), names, up_to)


@pytest.mark.parametrize("up_to", [None, 2])
def test_record_files(records: list[str], up_to: int | None) -> None:
    expect_same(lambda tf: tf.TFRecordReader(), records, up_to)


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_compressed_record_files(records: list[str], tmp_path: Path, kind: str) -> None:
    compress = zlib.compress if kind == "ZLIB" else gzip.compress
    packed = [f"{path}.packed" for path in records[1:]]
    for path, target in zip(records[1:], packed, strict=True):
        Path(target).write_bytes(compress(Path(path).read_bytes()))
    expect_same(lambda tf: tf.TFRecordReader(options=getattr(tf.python_io.TFRecordCompressionType, kind)), packed)


@pytest.mark.parametrize(
    "sizes",
    [
        {"record_bytes": 5},
        {"record_bytes": 5, "header_bytes": 2, "footer_bytes": 1},
        {"record_bytes": 6, "hop_bytes": 3},
        {"record_bytes": 3, "hop_bytes": 5},
        {"record_bytes": 40},
    ],
    ids=str,
)
def test_parts_of_one_size(tmp_path: Path, sizes: dict[str, int]) -> None:
    (tmp_path / "bytes").write_bytes(bytes(range(23)))
    expect_same(lambda tf: tf.FixedLengthRecordReader(**sizes), [str(tmp_path / "bytes")])


def test_the_graph_is_tensorflows() -> None:
    def program(tf: Any) -> Any:
        queue = tf.FIFOQueue(3, [tf.string])
        made = [
            tf.TextLineReader(skip_header_lines=2, name="lines"),
            tf.WholeFileReader(),
            tf.FixedLengthRecordReader(4, header_bytes=1),
            tf.TFRecordReader(options=tf.python_io.TFRecordOptions("GZIP")),
            tf.IdentityReader(),
        ]
        for reader in made:
            reader.read(queue)
            reader.read_up_to(queue, 3, name="some")
            reader.num_records_produced()
            reader.num_work_units_completed()
            reader.restore_state(reader.serialize_state())
            reader.reset()
        return []

    build(program, ours)


def test_a_reader_goes_on_from_a_state(names: list[str]) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        queue = ours.FIFOQueue(20, [ours.string], [[]])
        reader = ours.WholeFileReader()
        read, state = reader.read(queue), reader.serialize_state()
        restore = reader.restore_state(state_in := ours.placeholder(ours.string, []))
        session.run(queue.enqueue_many([names]))
        session.run(read)
        saved = session.run(state)
        session.run(reader.reset())
        session.run(restore, {state_in: saved})
        assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [1, 1]
        with pytest.raises(InvalidArgumentError):
            session.run(restore, {state_in: b"\x10\x05"})


def test_a_pipeline_of_the_first_kind_runs(records: list[str]) -> None:
    with ours.Graph().as_default():
        files = ours.train.string_input_producer(records[1:], num_epochs=2, shuffle=False)
        _, value = ours.TFRecordReader().read(files)
        batch = ours.train.batch([ours.strings.length(value)], 5)
        with ours.Session() as session:
            session.run([ours.global_variables_initializer(), ours.local_variables_initializer()])
            coordinator = ours.train.Coordinator()
            threads = ours.train.start_queue_runners(session, coordinator)
            assert [session.run(batch).tolist() for _ in range(2)] == [[0, 7, 14, 0, 7]] * 2
            with pytest.raises(ours.errors.OutOfRangeError):
                session.run(batch)
            coordinator.request_stop()
            coordinator.join(threads)


@pytest.mark.parametrize("name", ["TextLineReader", "WholeFileReader", "TFRecordReader", "FixedLengthRecordReader"])
def test_signatures_are_those_of_compat_v1(name: str) -> None:
    mine, other = inspect.signature(getattr(ours, name)), inspect.signature(getattr(tf.compat.v1, name))
    assert [(p.name, p.default) for p in mine.parameters.values()] == [
        (p.name, p.default) for p in other.parameters.values()
    ]


def test_sizes_that_cannot_be_are_refused() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        for reader in (ours.FixedLengthRecordReader(0), ours.FixedLengthRecordReader(3, header_bytes=-1)):
            with pytest.raises(InvalidArgumentError):
                session.run(reader.num_records_produced())


def test_models_of_strangers_have_no_readers(names: list[str], tmp_path: Path) -> None:
    import tensorkeep as tk

    with tf.Graph().as_default(), tf.compat.v1.Session() as session, tensorflow_1():
        v1 = tf.compat.v1
        queue = v1.FIFOQueue(2, [tf.string])
        word = v1.placeholder(tf.string, [], name="word")
        with v1.control_dependencies([queue.enqueue(word)]):
            _, value = v1.WholeFileReader().read(queue)
        v1.saved_model.simple_save(session, str(tmp_path / "model"), {"word": word}, {"value": value})
    with tk.load_saved_model(tmp_path / "model") as model, pytest.raises(PermissionDeniedError):
        model.signatures["serving_default"](word=names[0])
