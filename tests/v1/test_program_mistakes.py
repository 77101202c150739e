"""Mistakes in programs as `tests/interop/tf1_graph_programs` has them: TensorFlow's classes, our words, an end.

Each is what such a program meets first: a file that is not there or is cut off, records of another kind, a generator
that raises, shapes that do not fit, a checkpoint of another model.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

slim = tf.contrib.slim
LIMIT = 20.0


@pytest.fixture(autouse=True)
def _threads_end() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(LIMIT)
        assert not thread.is_alive(), thread


def write_examples(path: Path, count: int = 6, width: int = 2) -> str:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(count):
            values = tf.train.Feature(float_list=tf.train.FloatList(value=[float(number)] * width))
            label = tf.train.Feature(int64_list=tf.train.Int64List(value=[number % 2]))
            features = tf.train.Features(feature={"x": values, "y": label})
            writer.write(tf.train.Example(features=features).SerializeToString())
    return str(path)


def parse(record: Any) -> Any:
    found = tf.parse_single_example(
        record, {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    )
    return {"x": found["x"]}, found["y"]


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    logits = tf.layers.dense(features["x"], params["classes"], name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def train(folder: Path, dataset: Any, classes: int = 2) -> Any:
    made = tf.estimator.Estimator(model_fn, str(folder / "model"), params={"classes": classes})
    return made.train(dataset, steps=5)


def records(path: str) -> Any:
    return tf.data.TFRecordDataset(path).map(parse, num_parallel_calls=2).repeat().batch(2).prefetch(1)


def test_a_file_of_records_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"nothing\.tfrecord"):
        train(tmp_path, lambda: records(str(tmp_path / "nothing.tfrecord")))


@pytest.mark.parametrize("kept", [10, -3])
def test_a_file_of_records_that_is_cut_off(tmp_path: Path, kept: int) -> None:
    path = write_examples(tmp_path / "cut.tfrecord")
    Path(path).write_bytes(Path(path).read_bytes()[:kept])
    with pytest.raises(tf.errors.DataLossError, match=r"cut\.tfrecord"):
        train(tmp_path, lambda: records(path))


def test_records_of_another_kind(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "wide.tfrecord", width=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x.*(3|shape)"):
        train(tmp_path, lambda: records(path))
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"no example")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?i)parse"):
        train(tmp_path, lambda: records(path))


def test_a_generator_that_raises(tmp_path: Path) -> None:
    def rows() -> Any:
        yield {"x": [1.0, 2.0]}, 1
        raise ValueError("row 2 of the sheet is torn")

    def dataset() -> Any:
        made = tf.data.Dataset.from_generator(rows, ({"x": tf.float32}, tf.int64), ({"x": [2]}, []))
        return made.batch(2).prefetch(2)

    with pytest.raises(tf.errors.InvalidArgumentError, match="row 2 of the sheet is torn"):
        train(tmp_path, dataset)


def test_elements_that_do_not_fit_their_batch_or_their_model(tmp_path: Path) -> None:
    def lengths() -> Any:
        rows = tf.data.Dataset.range(1, 5).map(lambda n: ({"x": tf.ones([n])}, n))
        return rows.batch(2)

    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=r"(?i)shape|batch|last dimension"):
        train(tmp_path, lengths)
    with pytest.raises(ValueError, match=r"(?i)shape|rank"):
        train(tmp_path, lambda: tf.data.Dataset.from_tensors(({"x": np.ones((2, 2), np.float32)}, np.ones((3, 1)))))


def test_the_folder_of_another_model(tmp_path: Path) -> None:
    path = write_examples(tmp_path / "a.tfrecord")
    train(tmp_path, lambda: records(path))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"logits/(kernel|bias)"):
        train(tmp_path, lambda: records(path), classes=3)


def test_a_vocabulary_that_is_not_there(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_file(str(tmp_path / "words.txt"))
        found = table.lookup(tf.constant(["a"]))
        with pytest.raises(tf.errors.NotFoundError, match=r"words\.txt"):
            session.run(tf.tables_initializer())
        with pytest.raises(tf.errors.FailedPreconditionError, match=r"(?i)initialized"):
            session.run(found)


def provided(path: str) -> Any:
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"x": tf.FixedLenFeature([2], tf.float32)}, {"x": slim.tfexample_decoder.Tensor("x")}
    )
    dataset = slim.dataset.Dataset(path, tf.TFRecordReader, decoder, 6, {"x": "two numbers"})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, common_queue_min=1)
    return tf.train.batch(provider.get(["x"]), 2)


def train_by_slim(path: str, folder: Path) -> None:
    with tf.Graph().as_default():
        loss = tf.losses.mean_squared_error(tf.layers.dense(provided(path), 1), tf.zeros([2, 1]))
        step = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
        slim.learning.train(step, str(folder / "log"), number_of_steps=50)


def test_slim_s_loop_ends_when_its_queues_do(tmp_path: Path) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No data files found"):
        provided(str(tmp_path / "nothing-*"))
    with pytest.raises(tf.errors.NotFoundError, match=r"nothing\.tfrecord"):
        train_by_slim(str(tmp_path / "nothing.tfrecord"), tmp_path)
    path = write_examples(tmp_path / "cut.tfrecord")
    Path(path).write_bytes(Path(path).read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError, match=r"cut\.tfrecord"):
        train_by_slim(path, tmp_path)
