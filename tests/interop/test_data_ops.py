"""Ops of datasets that today's Python functions do not make: in graphs of other versions, and by their own names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interop.dataset_programs import PROGRAMS, Program
from tests.interop.test_data_programs import OURS, THEIRS, elements, same


def _variant(tf: Any, dataset: Any) -> Any:
    return tf.data.experimental.to_variant(dataset)


def _numbers(tf: Any, variant: Any) -> Any:
    return tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))


def _texts(tf: Any, variant: Any) -> Any:
    return tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.string))


def _through(name: str, **inputs: Any) -> Program:
    """A program with an op between a range and its iterator."""

    def program(tf: Any, folder: Path) -> Any:
        source = tf.data.Dataset.range(6)
        source = source.batch(2) if "Unbatch" in name else source
        made = getattr(tf.raw_ops, name)(
            input_dataset=_variant(tf, source), output_types=[tf.int64], output_shapes=[[]], **inputs
        )
        return _numbers(tf, made)

    return program


def _shuffled(name: str, generator: Callable[[Any], Any], **inputs: Any) -> Program:
    def program(tf: Any, folder: Path) -> Any:
        made = getattr(tf.raw_ops, name)(
            input_dataset=_variant(tf, tf.data.Dataset.range(9)),
            buffer_size=4,
            seed_generator=generator(tf),
            output_types=[tf.int64],
            output_shapes=[[]],
            **inputs,
        )
        return _numbers(tf, made).repeat(2)

    return program


def _records(tf: Any, folder: Path) -> str:
    path = folder / "some.tfrecord"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in (b"a", b"bc", b""):
            writer.write(record)
    return str(path)


RAW: dict[str, Program] = {
    **{
        name: _through(name)
        for name in (
            "ModelDataset",
            "FinalizeDataset",
            "NonSerializableDataset",
            "ExperimentalNonSerializableDataset",
            "UniqueDataset",
            "ExperimentalUniqueDataset",
            "ExperimentalIgnoreErrorsDataset",
            "ExperimentalUnbatchDataset",
        )
    },
    "MaxIntraOpParallelismDataset": _through("MaxIntraOpParallelismDataset", max_intra_op_parallelism=1),
    "ExperimentalMaxIntraOpParallelismDataset": _through(
        "ExperimentalMaxIntraOpParallelismDataset", max_intra_op_parallelism=1
    ),
    "PrivateThreadPoolDataset": _through("PrivateThreadPoolDataset", num_threads=1),
    "ExperimentalPrivateThreadPoolDataset": _through("ExperimentalPrivateThreadPoolDataset", num_threads=1),
    "OptimizeDataset": _through("OptimizeDataset", optimizations=["noop_elimination"]),
    "OptimizeDatasetV2": _through(
        "OptimizeDatasetV2",
        optimizations_enabled=["noop_elimination"],
        optimizations_disabled=["map_fusion"],
        optimizations_default=["map_and_batch_fusion"],
    ),
    "ShuffleDatasetV3": _shuffled(
        "ShuffleDatasetV3",
        lambda tf: tf.raw_ops.AnonymousSeedGenerator(seed=3, seed2=4, reshuffle=True)[0],
        seed=3,
        seed2=4,
    ),
    "ShuffleDatasetV3 alone": _shuffled(
        "ShuffleDatasetV3", lambda tf: tf.raw_ops.DummySeedGenerator(), seed=3, seed2=4
    ),
    "ShuffleAndRepeatDatasetV2": _shuffled(
        "ShuffleAndRepeatDatasetV2", lambda tf: tf.raw_ops.DummySeedGenerator(), seed=3, seed2=4, count=2
    ),
    "CacheDatasetV2": lambda tf, _: _numbers(
        tf,
        tf.raw_ops.CacheDatasetV2(
            input_dataset=_variant(tf, tf.data.Dataset.range(4)),
            filename="",
            cache=tf.raw_ops.AnonymousMemoryCache()[0],
            output_types=[tf.int64],
            output_shapes=[[]],
        ),
    ).repeat(2),
    "CacheDatasetV2 alone": lambda tf, _: _numbers(
        tf,
        tf.raw_ops.CacheDatasetV2(
            input_dataset=_variant(tf, tf.data.Dataset.range(4)),
            filename="",
            cache=tf.raw_ops.DummyMemoryCache(),
            output_types=[tf.int64],
            output_shapes=[[]],
        ),
    ).repeat(2),
    "RandomDatasetV2": lambda tf, _: _numbers(
        tf,
        tf.raw_ops.RandomDatasetV2(
            seed=3,
            seed2=4,
            seed_generator=tf.raw_ops.DummySeedGenerator(),
            output_types=[tf.int64],
            output_shapes=[[]],
        ),
    ).take(4),
    "MatchingFilesDataset": lambda tf, folder: _texts(
        tf, tf.raw_ops.MatchingFilesDataset(patterns=_records(tf, folder))
    ).map(lambda name: tf.strings.substr(name, -5, 5)),
    "ExperimentalMatchingFilesDataset": lambda tf, folder: _texts(
        tf, tf.raw_ops.ExperimentalMatchingFilesDataset(patterns=_records(tf, folder))
    ).map(lambda name: tf.strings.substr(name, -5, 5)),
    "DatasetCardinality": lambda tf, _: tf.data.Dataset.from_tensors(
        [
            tf.raw_ops.DatasetCardinality(input_dataset=_variant(tf, dataset))
            for dataset in (
                tf.data.Dataset.range(7).batch(2),
                tf.data.Dataset.range(7).repeat(),
                tf.data.Dataset.range(7).filter(lambda n: n > 1),
                tf.data.Dataset.range(7).skip(2).take(9).repeat(3),
                tf.data.Dataset.range(7).shuffle(3, seed=1).concatenate(tf.data.Dataset.range(2)).prefetch(1),
            )
        ]
    ),
    "ExperimentalDatasetCardinality": lambda tf, _: tf.data.Dataset.from_tensors(
        tf.raw_ops.ExperimentalDatasetCardinality(input_dataset=_variant(tf, tf.data.Dataset.range(7).shard(3, 0)))
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_an_op_gives_tensorflows_elements(name: str, tmp_path: Path) -> None:
    theirs = elements(THEIRS, RAW[name], tmp_path / "theirs", "initializable")
    same(elements(OURS, RAW[name], tmp_path / "ours", "initializable"), theirs)


def test_what_tensorflow_has_no_kernel_for_is_what_its_successor_is(tmp_path: Path) -> None:
    def shuffled(tf: Any, _: Path) -> Any:
        seeds = tf.raw_ops.AnonymousRandomSeedGenerator(seed=3, seed2=4)[0]
        source = _variant(tf, tf.data.Dataset.range(9))
        kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
        made = tf.raw_ops.ShuffleDatasetV2(input_dataset=source, buffer_size=4, seed_generator=seeds, **kinds)
        return _numbers(tf, made).repeat(2)

    def pieces(tf: Any, folder: Path) -> Any:
        sizes = {"header_bytes": 1, "record_bytes": 10, "footer_bytes": 0, "buffer_size": 0}
        return _texts(tf, tf.raw_ops.FixedLengthRecordDataset(filenames=_records(tf, folder), **sizes))

    def newer_pieces(tf: Any, folder: Path) -> Any:
        return tf.data.FixedLengthRecordDataset(_records(tf, folder), 10, 1)

    for program, newer in ((shuffled, RAW["ShuffleDatasetV3"]), (pieces, newer_pieces)):
        wanted = elements(OURS, newer, tmp_path, "initializable")
        same(elements(OURS, program, tmp_path, "initializable"), wanted)


OLDER = {
    "ExperimentalGroupByReducerDataset": ("group by reducer", "GroupByReducerDataset", ()),
    "ExperimentalGroupByWindowDataset": ("group by window", "GroupByWindowDataset", ("metadata",)),
    "ExperimentalMapAndBatchDataset": ("map and batch", "MapAndBatchDataset", ("metadata",)),
    "ExperimentalScanDataset": ("scan", "ScanDataset", ("metadata", "use_default_device")),
    "ExperimentalTakeWhileDataset": ("take while", "TakeWhileDataset", ("metadata",)),
    "ExperimentalDenseToSparseBatchDataset": ("sparse batch", "DenseToSparseBatchDataset", ()),
    "ExperimentalDirectedInterleaveDataset": ("choose", "DirectedInterleaveDataset", ("stop_on_empty_dataset",)),
    "ExperimentalRandomDataset": ("random", "RandomDataset", ("metadata",)),
    "Iterator": ("map", "IteratorV2", ()),
    "IteratorGetNextSync": ("map", "IteratorGetNext", ()),
}


@pytest.mark.parametrize("older", OLDER)
def test_an_op_under_its_older_name_does_the_same(older: str, tmp_path: Path) -> None:
    program, newer, dropped = OLDER[older]
    tf = OURS
    with tf.Graph().as_default() as graph:
        iterator = tf.data.make_initializable_iterator(PROGRAMS[program](tf, tmp_path))
        element = iterator.get_next()
        leaves = [getattr(leaf, "values", leaf) for leaf in tf.nest.flatten(element)]
        names, begin = [leaf.name for leaf in leaves], iterator.initializer.name
        graph_def = graph.as_graph_def()
    wanted = _elements(tf, graph_def, begin, names)
    nodes = [node for node in graph_def.node if node.op == newer]
    assert nodes
    for node in nodes:
        node.op = older
        for attr in dropped:
            node.attr.pop(attr, None)
    same(_elements(tf, graph_def, begin, names), wanted)


def _elements(tf: Any, graph_def: Any, begin: str, names: list[str]) -> list[Any]:
    found: list[Any] = []
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session() as session:
            session.run(graph.get_operation_by_name(begin))
            while len(found) < 50:
                try:
                    found.append(session.run(names))
                except tf.errors.OutOfRangeError:
                    break
    assert found
    return found
