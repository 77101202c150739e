"""Iterators of `tf.data`, beside TensorFlow: all kinds of them, their states, and graphs that cross over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop.dataset_programs import PROGRAMS
from tests.interop.test_data_programs import OURS, THEIRS, same, session_of

BOTH = pytest.mark.parametrize("tf", [OURS, THEIRS], ids=["ours", "theirs"])


def _all(tf: Any, session: Any, fetch: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(fetch))
        except tf.errors.OutOfRangeError:
            return found


@BOTH
def test_a_one_shot_iterator_goes_through_once(tf: Any) -> None:
    with tf.Graph().as_default(), session_of(tf) as session:
        element = tf.data.Dataset.range(3).map(lambda n: n + 1).make_one_shot_iterator().get_next()
        assert _all(tf, session, element) == [1, 2, 3]
        assert _all(tf, session, element) == []


@BOTH
def test_a_one_shot_iterator_takes_no_placeholders(tf: Any) -> None:
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(tf.placeholder(tf.int64, []))
        with pytest.raises(ValueError, match="by value"):
            tf.data.make_one_shot_iterator(dataset)


@BOTH
def test_an_iterator_begins_anew_when_it_is_initialized(tf: Any) -> None:
    with tf.Graph().as_default(), session_of(tf) as session:
        count = tf.placeholder(tf.int64, [])
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(count))
        element = iterator.get_next()
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            session.run(element)
        for size in (2, 4):
            session.run(iterator.initializer, {count: size})
            assert _all(tf, session, element) == list(range(size))


@BOTH
def test_one_iterator_serves_several_datasets(tf: Any) -> None:
    with tf.Graph().as_default(), session_of(tf) as session:
        train, test = tf.data.Dataset.range(4).batch(2), tf.data.Dataset.range(10, 13).batch(3)
        iterator = tf.data.Iterator.from_structure(tf.int64, [None])
        element = iterator.get_next()
        for dataset, wanted in ((train, [[0, 1], [2, 3]]), (test, [[10, 11, 12]])):
            session.run(iterator.make_initializer(dataset))
            assert [row.tolist() for row in _all(tf, session, element)] == wanted
        with pytest.raises(TypeError):
            iterator.make_initializer(tf.data.Dataset.from_tensors([1.0]))


@BOTH
def test_a_feedable_iterator_is_the_one_whose_handle_is_fed(tf: Any) -> None:
    with tf.Graph().as_default(), session_of(tf) as session:
        first = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3))
        second = tf.data.make_initializable_iterator(tf.data.Dataset.range(10, 12))
        handle = tf.placeholder(tf.string, [])
        element = tf.data.Iterator.from_string_handle(handle, first.output_types, first.output_shapes).get_next()
        handles = session.run([first.string_handle(), second.string_handle()])
        session.run(second.initializer)
        order = [session.run(element, {handle: handles[at]}) for at in (0, 1, 0, 1, 0)]
        assert order == [0, 10, 1, 11, 2]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(element, {handle: b"nothing"})


@BOTH
def test_an_optional_says_whether_there_is_an_element(tf: Any) -> None:
    with tf.Graph().as_default(), session_of(tf) as session:
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(2))
        optional = tf.data.experimental.get_next_as_optional(iterator)
        fetches = tf.cond(optional.has_value(), lambda: optional.get_value(), lambda: np.int64(-1))
        session.run(iterator.initializer)
        assert [session.run(fetches) for _ in range(3)] == [0, 1, -1]


SAVED = (
    "map",
    "parallel map",
    "batch",
    "padded",
    "unbatch",
    "repeat",
    "shuffle",
    "shuffle again",
    "repeat and shuffle",
    "shuffle and repeat",
    "shuffle in batches",
    "interleave",
    "parallel interleave",
    "flat map",
    "filter",
    "zip",
    "concatenate",
    "scan",
    "window",
    "group by window",
    "buckets",
    "unique",
    "cache",
    "prefetch",
    "sample",
    "records",
    "zipped records",
    "text lines",
    "pieces",
    "csv",
    "sparse rows",
    "ragged rows",
    "map and batch",
)


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_iterator_goes_on_in_the_middle(name: str, tmp_path: Path) -> None:
    tf = OURS
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        iterator = tf.data.make_initializable_iterator(PROGRAMS[name](tf, tmp_path))
        element = iterator.get_next()
        saver = tf.train.Saver({"iterator": tf.data.experimental.make_saveable_from_iterator(iterator)})
        with tf.Session() as session:
            session.run(iterator.initializer)
            before = [session.run(element) for _ in range(2)]
            prefix = saver.save(session, str(tmp_path / "state"), write_meta_graph=False)
            wanted = _all(tf, session, element)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, prefix)
            found = _all(tf, session, element)
    assert len(before) == 2
    same(found, wanted)


def test_an_iterator_over_a_generator_says_that_it_cannot_be_saved(tmp_path: Path) -> None:
    tf = OURS
    with tf.Graph().as_default(), session_of(tf) as session:
        dataset = tf.data.Dataset.from_generator(lambda: iter(range(5)), tf.int64, [])
        iterator = tf.data.make_initializable_iterator(dataset)
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        session.run(iterator.get_next())
        with pytest.raises(tf.errors.UnimplementedError, match="generator"):
            saver.save(session, str(tmp_path / "state"), write_meta_graph=False)


CROSSING = (
    "map",
    "parallel map",
    "dictionary",
    "padded pairs",
    "unbatch",
    "filter",
    "flat map",
    "interleave",
    "parallel interleave",
    "shuffle again",
    "shuffle and repeat",
    "window",
    "group by window",
    "buckets",
    "scan",
    "map and batch",
    "sparse rows",
    "ragged rows",
    "options",
    "prefetch",
    "cache",
    "records",
    "csv",
    "sample",
    "examples",
)


@pytest.mark.parametrize("kind", ["one shot", "initializable"])
@pytest.mark.parametrize("name", CROSSING)
@pytest.mark.parametrize("builder", [OURS, THEIRS], ids=["built here", "built there"])
def test_a_graph_runs_in_both(builder: Any, name: str, kind: str, tmp_path: Path) -> None:
    with builder.Graph().as_default() as graph:
        builder.set_random_seed(3)
        dataset = PROGRAMS[name](builder, tmp_path)
        if kind == "one shot":
            iterator = builder.data.make_one_shot_iterator(dataset)
        else:
            iterator = builder.data.make_initializable_iterator(dataset)
        element = _tensors(builder, iterator.get_next())
        names = [tensor.name for tensor in element]
        begin = None if kind == "one shot" else iterator.initializer.name
        data = graph.as_graph_def().SerializeToString()
    ours, theirs = (_run(tf, data, begin, names) for tf in (OURS, THEIRS))
    same(ours, theirs)


def _sparse_parts(leaf: Any) -> list[Any]:
    return [leaf.indices, leaf.values, leaf.dense_shape] if hasattr(leaf, "dense_shape") else [leaf]


def _tensors(tf: Any, element: Any) -> list[Any]:
    leaves = tf.nest.flatten(element)
    leaves = [part for leaf in leaves for part in _sparse_parts(leaf)]
    ragged = [
        [*leaf.nested_row_splits, leaf.flat_values] if hasattr(leaf, "flat_values") else [leaf] for leaf in leaves
    ]
    return [tensor for parts in ragged for tensor in parts]


def _run(tf: Any, data: bytes, begin: str | None, names: list[str]) -> list[Any]:
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(data)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            if begin is not None:
                session.run(graph.get_operation_by_name(begin))
            return _all(tf, session, names)
