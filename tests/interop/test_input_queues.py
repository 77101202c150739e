"""Input by queues: the same graphs, queue runners and batches as TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1

theirs = tensorflow.compat.v1
PROGRAMS: list[Callable[[Any], Any]] = []
IMAGES = np.arange(14, dtype=np.float32).reshape(7, 2)
LABELS = np.arange(7, dtype=np.int64)


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


def slices(tf: Any, **options: Any) -> Any:
    return tf.train.slice_input_producer([tf.constant(IMAGES), LABELS], num_epochs=2, **options)


@program
def rows_in_order(tf: Any) -> Any:
    return slices(tf, shuffle=False)


@program
def batches_of_rows(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    return tf.train.batch([image, label], batch_size=3)


@program
def the_last_batch_may_be_smaller(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    return tf.train.batch([image, label], 4, allow_smaller_final_batch=True, capacity=8, name="mine")


@program
def batches_as_dictionaries(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    both = tf.train.batch({"image": image, "label": label}, 2)
    return [both["image"], both["label"]]


@program
def batches_of_one(tf: Any) -> Any:
    (label,) = tf.train.slice_input_producer([tf.constant(LABELS)], num_epochs=1, shuffle=False)
    return [tf.train.batch({"only": label}, 2)["only"]]


@program
def several_examples_at_once(tf: Any) -> Any:
    queue = tf.train.input_producer(tf.constant(IMAGES), num_epochs=1, shuffle=False, summary_name="full")
    pair = queue.dequeue_many(2)
    return [tf.train.batch([pair], 3, enqueue_many=True)]


@program
def padded_batches(tf: Any) -> Any:
    limit = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    return [tf.train.batch([tf.range(limit)], 2, dynamic_pad=True, shapes=[[None]])]


@program
def only_some_examples(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    return tf.train.maybe_batch([image, label], tf.equal(label % 2, 0), 2)


@program
def only_some_of_several_examples(tf: Any) -> Any:
    queue = tf.train.input_producer(tf.constant(LABELS), num_epochs=1, shuffle=False, element_shape=[])
    found = queue.dequeue_many(3)
    return [tf.train.maybe_batch([found, found + 1], found > 1, 2, enqueue_many=True)[1]]


@program
def strings_in_order(tf: Any) -> Any:
    return [tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False).dequeue()]


@program
def strings_of_a_tensor(tf: Any) -> Any:
    names = tf.constant(["a", "b", "c"])
    return [tf.train.string_input_producer(names, num_epochs=1, shuffle=False, name="names").dequeue()]


@program
def one_input_after_the_other(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    return tf.train.batch_join([[image, label]], 7)


def sparse(tf: Any, number: Any) -> Any:
    """A tensor of 3 rows and 2 columns with an element in one of the rows."""
    row = tf.cast(number % 3, tf.int64)
    return tf.SparseTensor(tf.stack([[row, tf.zeros_like(row)]]), tf.reshape(number, [1]), [3, 2])


@program
def batches_of_sparse_tensors(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    return tf.train.batch([image, sparse(tf, label), label], 3)


@program
def sparse_tensors_alone(tf: Any) -> Any:
    _, label = slices(tf, shuffle=False)
    return [tf.train.batch([sparse(tf, label)], 2)]


@program
def sparse_tensors_in_a_dictionary(tf: Any) -> Any:
    image, label = slices(tf, shuffle=False)
    both = tf.train.batch({"s": sparse(tf, label), "image": image}, 2, dynamic_pad=True)
    return [both["s"], both["image"]]


@program
def some_sparse_tensors(tf: Any) -> Any:
    _, label = slices(tf, shuffle=False)
    return tf.train.maybe_batch([label, sparse(tf, label)], tf.equal(label % 2, 0), 2)


@program
def several_sparse_examples_at_once(tf: Any) -> Any:
    queue = tf.train.input_producer(tf.constant(LABELS), num_epochs=1, shuffle=False, element_shape=[])
    found = queue.dequeue()
    return tf.train.batch([sparse(tf, found), tf.fill([3], found)], 2, enqueue_many=True)


@program
def some_of_several_sparse_examples(tf: Any) -> Any:
    queue = tf.train.input_producer(tf.constant(LABELS), num_epochs=1, shuffle=False, element_shape=[])
    found = queue.dequeue()
    kept = tf.constant([True, False, True])
    return tf.train.maybe_batch([sparse(tf, found), tf.fill([3], found)], kept, 2, enqueue_many=True)


@program
def several_sparse_examples_if_at_all(tf: Any) -> Any:
    queue = tf.train.input_producer(tf.constant(LABELS), num_epochs=1, shuffle=False, element_shape=[])
    found = queue.dequeue()
    return tf.train.maybe_batch([sparse(tf, found), tf.fill([3], found)], found > 2, 2, enqueue_many=True)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_the_same_graph_and_the_same_batches(program: Any) -> None:
    graphs, found = [], []
    for tf in (ours, theirs):
        with tensorflow_1(), tf.Graph().as_default() as graph:
            fetches = program(tf)
            init = tf.local_variables_initializer()
            graphs.append(graph)
            found.append(_all(tf, fetches, init))
    _assert_same(*graphs)
    assert found[0] == found[1]
    assert found[0]


def _all(tf: Any, fetches: Any, init: Any) -> list[Any]:
    """All that a program gives until its input ends."""
    values = []
    with tf.Session() as session:
        session.run(init)
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                values.append([_listed(value) for value in session.run(fetches)])
        coordinator.join(threads)
    return values


def _listed(value: Any) -> Any:
    if hasattr(value, "dense_shape"):
        return [part.tolist() for part in (value.indices, value.values, value.dense_shape)]
    return np.asarray(value).tolist()


def _assert_same(graph: Any, their_graph: Any) -> None:
    mine, other = our_nodes(graph), their_nodes(their_graph)
    assert_same_nodes(mine, other)
    assert list(mine) == list(other)
    runners = []
    for found in (graph, their_graph):
        with found.as_default():  # outside, the names of TensorFlow's queues are others
            runners.append([item.to_proto().SerializeToString() for item in found.get_collection("queue_runners")])
    assert runners[0] == runners[1]


def shuffled(tf: Any) -> Any:
    image, label = slices(tf, seed=3)
    return tf.train.shuffle_batch([image, label], 2, capacity=9, min_after_dequeue=4, seed=5, num_threads=2)


def shuffled_of_several(tf: Any) -> Any:
    inputs = [slices(tf, seed=3), slices(tf, shuffle=False)]
    return tf.train.shuffle_batch_join(inputs, 2, capacity=9, min_after_dequeue=4, seed=5)


def some_shuffled(tf: Any) -> Any:
    image, label = slices(tf, seed=3)
    return tf.train.maybe_shuffle_batch([image, label], 2, 9, 4, label > 2, seed=5)


def some_shuffled_of_several(tf: Any) -> Any:
    inputs = [slices(tf, seed=3), slices(tf, shuffle=False)]
    return tf.train.maybe_shuffle_batch_join(inputs, 2, 9, 4, inputs[0][1] > 2, seed=5)


def shuffled_sparse_tensors_of_several(tf: Any) -> Any:
    inputs = [[sparse(tf, label), label] for _, label in (slices(tf, seed=3), slices(tf, shuffle=False))]
    return tf.train.shuffle_batch_join(inputs, 2, capacity=9, min_after_dequeue=4, seed=5)


def some_of_several(tf: Any) -> Any:
    inputs = [slices(tf, shuffle=False), slices(tf, shuffle=False)]
    return tf.train.maybe_batch_join(inputs, inputs[0][1] > 2, 2)


@pytest.mark.parametrize(
    "program",
    [
        *(shuffled, shuffled_of_several, some_shuffled, some_shuffled_of_several, some_of_several),
        shuffled_sparse_tensors_of_several,
    ],
)
def test_graphs_of_what_comes_in_any_order_are_the_same(program: Any) -> None:
    graphs = []
    for tf in (ours, theirs):
        with tensorflow_1(), tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            program(tf)
            graphs.append(graph)
    _assert_same(*graphs)


def test_every_row_is_among_the_shuffled_batches() -> None:
    with ours.Graph().as_default():
        image, label = shuffled(ours)
        found = _all(ours, [image, label], ours.local_variables_initializer())
    assert sorted(value for _, labels in found for value in labels) == sorted([*range(7)] * 2)
    for images, labels in found:
        assert images == IMAGES[labels].tolist()


def test_the_names_of_files_are_found_once(tmp_path: Path) -> None:
    graphs, found = [], []
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).touch()
    for tf in (ours, theirs):
        with tensorflow_1(), tf.Graph().as_default() as graph, tf.Session() as session:
            names = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
            session.run(tf.local_variables_initializer())
            found.append(session.run(names).tolist())
            graphs.append(graph)
    _assert_same(*graphs)
    assert found[0] == found[1] == [str(tmp_path / name).encode() for name in ("a.txt", "b.txt")]


def test_the_same_is_refused_in_the_same_words() -> None:
    def attempts(tf: Any) -> list[Callable[[], Any]]:
        train, unknown = tf.train, tf.placeholder(tf.float32)
        return [
            lambda: train.limit_epochs(tf.constant(1), 0),
            lambda: train.string_input_producer([]),
            lambda: train.input_producer(tf.placeholder(tf.float32, [3, None])),
            lambda: train.slice_input_producer([]),
            lambda: train.batch([], 2),
            lambda: train.batch_join([], 2),
            lambda: train.batch_join([{"a": 1}, {"b": 1}], 2),
            lambda: train.batch_join([[1], [1.0]], 2),
            lambda: train.shuffle_batch([1], 2, capacity=3, min_after_dequeue=3),
            lambda: train.maybe_batch([1], tf.placeholder(tf.bool), 2),
            lambda: train.maybe_batch([1], [True], 2),
            lambda: train.maybe_batch([[1]], [[True]], 2, enqueue_many=True),
            lambda: train.batch([unknown], 2),
        ]

    told: list[list[tuple[Any, str]]] = []
    for tf in (ours, theirs):
        with tensorflow_1(), tf.Graph().as_default():
            told.append([])
            for attempt in attempts(tf):
                with pytest.raises((ValueError, TypeError)) as caught:
                    attempt()
                told[-1].append((caught.errisinstance(TypeError), str(caught.value)))
    assert told[0] == told[1]


def test_sparse_examples_of_another_form_are_refused() -> None:
    for tf in (ours, theirs):
        with tensorflow_1(), tf.Graph().as_default():
            flat, deep = tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[0, 0]], [1], [2, 2])
            with pytest.raises(ValueError, match="Inconsistent SparseTensors list"):
                tf.train.batch_join([[flat], [deep]], 2)
            with pytest.raises(ValueError, match="Inconsistent SparseTensors list"):
                tf.train.batch_join([[flat], [tf.constant([1])]], 2)
