"""Ops of datasets that no Python function makes any more, beside those that do the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

raw: Any = tf.raw_ops
data: Any = tf.data
KINDS: dict[str, Any] = {"output_types": [tf.int64], "output_shapes": [[]]}
NUMBER: Any = tf.TensorSpec([], tf.int64)
TEXT: Any = tf.TensorSpec([], tf.string)


def _variant(dataset: Any) -> Any:
    return data.experimental.to_variant(dataset)


def _dataset(variant: Any, spec: Any = NUMBER) -> Any:
    return data.experimental.from_variant(variant, spec)


def _rows(dataset: Any) -> list[Any]:
    element = tf.nest.flatten(data.make_initializable_iterator(dataset).get_next())
    begin = tf.get_default_graph().get_operations()
    found = []
    with tf.Session() as session:
        session.run([op for op in begin if op.type == "MakeIterator"])
        while True:
            try:
                found.append([np.asarray(value).tolist() for value in session.run(element)])
            except tf.errors.OutOfRangeError:
                return found


def _records(folder: Path) -> str:
    path = folder / "some.tfrecord"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in (b"a", b"bc", b""):
            writer.write(record)
    return str(path)


def _csv(folder: Path) -> dict[str, Any]:
    path = folder / "table.csv"
    path.write_bytes(b"1,2\n3,\n")
    return {
        "filenames": [str(path)],
        "compression_type": "",
        "buffer_size": 9,
        "header": False,
        "field_delim": ",",
        "use_quote_delim": True,
        "na_value": "",
        "select_cols": np.zeros(0, np.int64),
        "record_defaults": [np.array([7], np.int64), np.array([8], np.int64)],
        "output_shapes": [[], []],
    }


def _written(op: str, folder: Path) -> list[Any]:
    source = data.Dataset.from_tensor_slices([b"x", b"yz"])
    path = str(folder / op)
    with tf.Session() as session:
        session.run(getattr(raw, op)(input_dataset=_variant(source), filename=path, compression_type=""))
    return _rows(data.TFRecordDataset(path))


def _anonymous(op: str) -> list[int]:
    made = getattr(raw, op)(**KINDS)
    handle = made[0] if isinstance(made, tuple) else made
    begin = raw.MakeIterator(dataset=_variant(data.Dataset.range(5, 9)), iterator=handle)
    with tf.control_dependencies([begin]):
        (element,) = raw.IteratorGetNext(iterator=handle, **KINDS)
    with tf.Session() as session:
        return [int(session.run(element)) for _ in range(2)]


@pytest.mark.parametrize("op", ["AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"])
def test_an_anonymous_iterator_is_another_one_in_every_run(op: str) -> None:
    with tf.Graph().as_default():
        assert _anonymous(op) == [5, 5]


def test_an_iterator_that_is_deleted_gives_no_more() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle, deleter = raw.AnonymousIteratorV2(**KINDS)
        begin = raw.MakeIterator(dataset=_variant(data.Dataset.range(3)), iterator=handle)
        with tf.control_dependencies([begin]):
            gone = raw.DeleteIterator(handle=handle, deleter=deleter)
        with tf.control_dependencies([gone]):
            (element,) = raw.IteratorGetNext(iterator=handle, **KINDS)
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            session.run(element)


@pytest.mark.parametrize("op", ["CSVDataset", "ExperimentalCSVDataset"])
def test_older_fields_are_the_same(op: str, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        made = getattr(raw, op)(**_csv(tmp_path))
        assert _rows(_dataset(made, (NUMBER, NUMBER))) == [[1, 2], [3, 8]]


@pytest.mark.parametrize("op", ["DatasetToTFRecord", "ExperimentalDatasetToTFRecord"])
def test_a_dataset_is_written_to_a_record_file(op: str, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        assert _written(op, tmp_path) == [[b"x"], [b"yz"]]


def test_records_may_begin_in_the_middle_of_a_file(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        made = raw.TFRecordDatasetV2(
            filenames=[_records(tmp_path)], compression_type="", buffer_size=0, byte_offsets=[17]
        )
        assert _rows(_dataset(made, TEXT)) == [[b"bc"], [b""]]


def test_optionals_are_there_or_not() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        there, not_there = raw.OptionalFromValue(components=[np.int64(3)]), raw.OptionalNone()
        has = [raw.OptionalHasValue(optional=item) for item in (there, not_there)]
        assert session.run(has) == [True, False]
        assert session.run(raw.OptionalGetValue(optional=there, **KINDS)) == [3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            session.run(raw.OptionalGetValue(optional=not_there, **KINDS))


def test_a_padded_batch_of_the_first_generation_keeps_the_rest() -> None:
    with tf.Graph().as_default():
        source = data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
        made = raw.PaddedBatchDataset(
            input_dataset=_variant(source),
            batch_size=2,
            padded_shapes=[np.array([-1], np.int64)],
            padding_values=[np.int64(0)],
            output_shapes=[[None, None]],
        )
        rows = _rows(_dataset(made, tf.TensorSpec([None, None], tf.int64)))
        assert rows == [[[[1, 0], [2, 2]]], [[[3, 3, 3]]]]


def _example(value: int) -> bytes:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.append(value)
    example.features.feature["b"].float_list.value.extend([0.5] * value)
    found: bytes = example.SerializeToString()
    return found


@pytest.mark.parametrize("op", ["ParseExampleDataset", "ParseExampleDatasetV2"])
def test_examples_of_a_dataset_are_parsed(op: str) -> None:
    with tf.Graph().as_default():
        source = data.Dataset.from_tensor_slices([_example(2), _example(1)]).batch(2)
        made = getattr(raw, op)(
            input_dataset=_variant(source),
            num_parallel_calls=1,
            dense_defaults=[np.array(0, np.int64)],
            sparse_keys=["b"],
            dense_keys=["a"],
            sparse_types=[tf.float32],
            dense_shapes=[[]],
            output_types=[tf.int64, tf.variant],
            output_shapes=[[None], [3]],
        )
        specs = (tf.TensorSpec([None], tf.int64), tf.SparseTensorSpec([None, None], tf.float32))
        numbers, sparse = data.make_one_shot_iterator(_dataset(made, specs)).get_next()
        with tf.Session() as session:
            found = session.run([numbers, tf.sparse_tensor_to_dense(sparse)])
    assert found[0].tolist() == [2, 1]
    assert found[1].tolist() == [[0.5, 0.5], [0.5, 0.0]]


def _node(graph_def: Any, op: str) -> Any:
    (found,) = [node for node in graph_def.node if node.op == op]
    return found


def _older_interleave(older: str) -> list[int]:
    """What an older op of parallel interleaving gives, in a graph whose op of today it takes the place of."""
    with tf.Graph().as_default() as graph:
        inner = lambda n: data.Dataset.from_tensors(n).repeat(n)  # noqa: E731 - as programs write it
        dataset = data.Dataset.range(1, 5).interleave(inner, 2, 2, num_parallel_calls=2)
        iterator = data.make_initializable_iterator(dataset)
        name, begin = iterator.get_next().name, iterator.initializer.name
        tf.constant(False, name="sloppy")
        graph_def = graph.as_graph_def()
    node = _node(graph_def, "ParallelInterleaveDatasetV4")
    node.op = older
    source, cycle, block, outputs, inputs, calls = list(node.input)
    is_first = older in ("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset")
    del node.input[:]
    node.input.extend([source, cycle, block, *(["sloppy", outputs, inputs] if is_first else [calls])])
    for attr in ("deterministic", *(["metadata"] if older.startswith("Exp") else [])):
        if attr != "deterministic" or older != "ParallelInterleaveDatasetV3":
            node.attr.pop(attr, None)
    return _numbers_of(graph_def, begin, name)


def _numbers_of(graph_def: Any, begin: str, name: str) -> list[int]:
    found = []
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            session.run(graph.get_operation_by_name(begin))
            while True:
                try:
                    found.append(int(session.run(name)))
                except tf.errors.OutOfRangeError:
                    return found


@pytest.mark.parametrize(
    "op",
    [
        "ExperimentalParallelInterleaveDataset",
        "ParallelInterleaveDataset",
        "ParallelInterleaveDatasetV2",
        "ParallelInterleaveDatasetV3",
    ],
)
def test_an_op_does_what_its_sibling_does(op: str) -> None:
    with tf.Graph().as_default():
        inner = lambda n: data.Dataset.from_tensors(n).repeat(n)  # noqa: E731 - as programs write it
        wanted = [row[0] for row in _rows(data.Dataset.range(1, 5).interleave(inner, 2, 2))]
    assert _older_interleave(op) == wanted


def test_a_parallel_filter_keeps_what_a_filter_keeps() -> None:
    with tf.Graph().as_default() as graph:
        iterator = data.make_initializable_iterator(data.Dataset.range(6).filter(lambda n: n > 2))
        name, begin = iterator.get_next().name, iterator.initializer.name
        tf.constant(2, tf.int64, name="calls")
        graph_def = graph.as_graph_def()
    node = _node(graph_def, "FilterDataset")
    node.op = "ParallelFilterDataset"
    node.input.append("calls")
    assert _numbers_of(graph_def, begin, name) == [3, 4, 5]


def test_the_first_string_handle_op_finds_the_iterator() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = data.make_initializable_iterator(data.Dataset.range(3))
        handle = raw.IteratorFromStringHandle(string_handle=iterator.string_handle(), output_types=[tf.int64])
        (element,) = raw.IteratorGetNext(iterator=handle, **KINDS)
        session.run(iterator.initializer)
        assert [session.run(element) for _ in range(2)] == [0, 1]
