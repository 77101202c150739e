"""Input pipelines, alone and with a training step: one text for TensorFlow 1 and for us.

The words of a program: the file of records. Pictures are 784 bytes and a label, as those of MNIST; clicks are a label,
13 numbers and 26 ids, as those of Criteo.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.step_programs import session_of

Work = Callable[[], float]

BATCH: Final = 128
RECORDS: Final = 8192  # in a file; programs go round and round
_SHUFFLED: Final = 2048
_NUMBERS, _IDS = 13, 26


def write_pictures(tf: Any, path: Path) -> None:
    """Writes a file of pictures, by whichever library."""
    random = np.random.default_rng(0)
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for label in random.integers(0, 10, RECORDS):
            picture = random.integers(0, 256, 784, np.uint8).tobytes()
            writer.write(_example(tf, {"label": [int(label)], "picture": [picture]}))


def write_clicks(tf: Any, path: Path) -> None:
    """Writes a file of clicks, by whichever library."""
    random = np.random.default_rng(0)
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for _ in range(RECORDS):
            features: dict[str, list[Any]] = {"label": [int(random.integers(0, 2))]}
            features |= {f"I{i}": [float(random.random())] for i in range(_NUMBERS)}
            features |= {f"C{i}": [int(random.integers(0, 1_000_000))] for i in range(_IDS)}
            writer.write(_example(tf, features))


def _example(tf: Any, values: dict[str, list[Any]]) -> bytes:
    features = {}
    for name, listed in values.items():
        if isinstance(listed[0], bytes):
            features[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=listed))
        elif isinstance(listed[0], float):
            features[name] = tf.train.Feature(float_list=tf.train.FloatList(value=listed))
        else:
            features[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=listed))
    written: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return written


def _picture_features(tf: Any) -> dict[str, Any]:
    return {"label": tf.FixedLenFeature([], tf.int64), "picture": tf.FixedLenFeature([], tf.string)}


def _click_features(tf: Any) -> dict[str, Any]:
    return {
        "label": tf.FixedLenFeature([], tf.int64),
        **{f"I{i}": tf.FixedLenFeature([], tf.float32) for i in range(_NUMBERS)},
        **{f"C{i}": tf.FixedLenFeature([], tf.int64) for i in range(_IDS)},
    }


def _as_numbers(tf: Any, parsed: dict[str, Any]) -> tuple[Any, Any]:
    pixels = tf.cast(tf.decode_raw(parsed["picture"], tf.uint8), tf.float32) / 255.0
    return pixels, tf.cast(parsed["label"], tf.int32)


def pictures_one_by_one(tf: Any, threads: int, path: str) -> Any:
    """Records, each parsed and mapped, shuffled, batched, prefetched."""
    features = _picture_features(tf)
    data = tf.data.TFRecordDataset(path)
    data = data.map(lambda record: _as_numbers(tf, tf.parse_single_example(record, features)), threads)
    return data.repeat().shuffle(_SHUFFLED, seed=1).batch(BATCH).prefetch(2)


def pictures_by_batches(tf: Any, threads: int, path: str) -> Any:
    """Records, shuffled, batched, parsed and mapped, prefetched."""
    features = _picture_features(tf)
    data = tf.data.TFRecordDataset(path).repeat().shuffle(_SHUFFLED, seed=1).batch(BATCH)
    return data.map(lambda records: _as_numbers(tf, tf.parse_example(records, features)), threads).prefetch(2)


def clicks_one_by_one(tf: Any, threads: int, path: str) -> Any:
    features = _click_features(tf)
    data = tf.data.TFRecordDataset(path).map(lambda record: tf.parse_single_example(record, features), threads)
    return data.repeat().shuffle(_SHUFFLED, seed=1).batch(BATCH).prefetch(2)


def clicks_by_batches(tf: Any, threads: int, path: str) -> Any:
    features = _click_features(tf)
    data = tf.data.TFRecordDataset(path).repeat().shuffle(_SHUFFLED, seed=1).batch(BATCH)
    return data.map(lambda records: tf.parse_example(records, features), threads).prefetch(2)


def alone(pipeline: Callable[[Any, int, str], Any]) -> Callable[[Any, int, str], Work]:
    """A program that asks for the next batch of a pipeline, and does nothing with it."""

    def program(tf: Any, threads: int, path: str) -> Work:
        following = tf.data.make_one_shot_iterator(pipeline(tf, threads, path)).get_next()
        last = following["label"] if isinstance(following, dict) else following[1]
        parts = list(following.values()) if isinstance(following, dict) else list(following)
        every = tf.group(*parts)
        session = session_of(tf, threads)
        return lambda: float(session.run([last, every])[0][0])

    return program


def _step(tf: Any, pixels: Any, labels: Any, units: int) -> Any:
    x = tf.reshape(pixels, [BATCH, 784])
    for number, (wide, high) in enumerate(((784, units), (units, units), (units, 10))):
        kernel = tf.get_variable(f"kernel_{number}", [wide, high], initializer=tf.glorot_uniform_initializer(seed=1))
        x = tf.matmul(x if not number else tf.nn.relu(x), kernel) + tf.get_variable(f"bias_{number}", [high])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(labels, [BATCH]), logits=x))
    return [tf.train.AdamOptimizer(1e-4).minimize(loss), loss]


def step_alone(tf: Any, threads: int, path: str, units: int = 1024) -> Work:
    """The step on one batch that is there already."""
    random = np.random.default_rng(0)
    pixels = tf.get_variable("pixels", [BATCH, 784], trainable=False)
    labels = tf.constant(random.integers(0, 10, BATCH).astype(np.int32))
    step = _step(tf, pixels, labels, units)
    session = session_of(tf, 1)
    return lambda: float(session.run(step)[1])


def step_overlapped(pipeline: Callable[[Any, int, str], Any], units: int = 1024) -> Callable[[Any, int, str], Work]:
    """The step on what a pipeline gives meanwhile."""

    def program(tf: Any, threads: int, path: str) -> Work:
        pixels, labels = tf.data.make_one_shot_iterator(pipeline(tf, threads, path)).get_next()
        step = _step(tf, pixels, labels, units)
        session = session_of(tf, 1)
        return lambda: float(session.run(step)[1])

    return program


PROGRAMS: Final[dict[str, Callable[..., Work]]] = {
    "pictures, parsed one by one": alone(pictures_one_by_one),
    "pictures, parsed by batches": alone(pictures_by_batches),
    "clicks, parsed one by one": alone(clicks_one_by_one),
    "clicks, parsed by batches": alone(clicks_by_batches),
    "the step alone": step_alone,
    "the step, pictures parsed one by one": step_overlapped(pictures_one_by_one),
    "the step, pictures parsed by batches": step_overlapped(pictures_by_batches),
}
