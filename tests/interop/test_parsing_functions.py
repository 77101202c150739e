"""Parsing and decoding functions beside TensorFlow's: the same nodes, the same results."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1.io as our_io
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.parsing import decoding, examples, feature_configs
from tests.interop.programs import build, our_names, v1
from tests.ops.samples.parsing.examples import BARE, FULL, MIXED, example
from tests.ops.samples.parsing.sequence_examples import EMPTY, LONG, SHORT

Program = Callable[[Any], Any]
OURS = our_names(examples, decoding, feature_configs, SparseTensor=SparseTensor)


class Theirs:
    def __getattr__(self, name: str) -> Any:
        return getattr(v1.io, name, None) or getattr(v1, name)


THEIRS = Theirs()
BATCH = [FULL, BARE, MIXED]
SPARSE = [example(x=[1, 5], y=[0, 2], v=[1.5, 2.5]), example(x=[3], y=[1], v=[7.0])]


def flat(value: Any) -> list[Any]:
    """Tensors of dictionaries, in the order of their keys; sparse and ragged ones as their parts."""
    if isinstance(value, dict):
        return [item for key in sorted(value) for item in flat(value[key])]
    if isinstance(value, list | tuple):
        return [item for part in value for item in flat(part)]
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape]
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


def every_kind(tf: Any) -> dict[str, Any]:
    return {
        "f": tf.FixedLenFeature([2], tf.float32),
        "name": tf.FixedLenFeature([], tf.string),
        "one": tf.FixedLenFeature((1,), tf.int64),
        "mat": tf.FixedLenFeature([2, 2], tf.float32, [[1, 2], [3, 4]]),
        "a b/c": tf.FixedLenFeature([1], tf.string, "none"),
        "i": tf.VarLenFeature(tf.int64),
        "s": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="pad"),
        "gone": tf.FixedLenSequenceFeature([2], tf.float32, True),
    }


PROGRAMS: dict[str, Program] = {
    "a batch": lambda tf: tf.parse_example(BATCH, every_kind(tf)),
    "a named batch": lambda tf: tf.parse_example(tf.constant(BATCH), every_kind(tf), "parse", ["a", "b", "c"]),
    "dense": lambda tf: tf.parse_example(BATCH, {"f": tf.FixedLenFeature([2], "float32")}),
    "one of a batch": lambda tf: tf.parse_example(FULL, every_kind(tf)),
    "single": lambda tf: tf.parse_single_example(FULL, every_kind(tf)),
    "a named single": lambda tf: tf.parse_single_example(FULL, every_kind(tf), "one", "example"),
    "a default tensor": lambda tf: tf.parse_example(
        [b""], {"f": tf.FixedLenFeature([2], tf.float32, tf.constant([1.0, 2.0]))}
    ),
    "sequences": lambda tf: tf.parse_sequence_example(
        [LONG, SHORT, EMPTY],
        {"c": tf.FixedLenFeature([2], tf.float32), "i": tf.VarLenFeature(tf.int64)},
        {
            "f": tf.FixedLenSequenceFeature([2], tf.float32),
            "k": tf.FixedLenSequenceFeature([1], tf.int64, allow_missing=True),
            "w": tf.VarLenFeature(tf.string),
        },
    ),
    "named sequences": lambda tf: tf.parse_sequence_example(
        tf.constant([LONG, SHORT]), {"n": tf.FixedLenFeature([], tf.string, "x")}, None, ["a", "b"], "parse"
    ),
    "a single sequence": lambda tf: tf.parse_single_sequence_example(
        LONG,
        {"c": tf.FixedLenFeature([2], tf.float32), "s": tf.VarLenFeature(tf.string)},
        {"f": tf.FixedLenSequenceFeature([2], tf.float32), "w": tf.VarLenFeature(tf.string)},
    ),
    "a named single sequence": lambda tf: tf.parse_single_sequence_example(
        tf.constant(SHORT), None, {"k": tf.FixedLenSequenceFeature([1], tf.int64)}, "example", "one"
    ),
    "raw": lambda tf: [
        tf.decode_raw(["abcd"], tf.uint8),
        tf.decode_raw(tf.constant(b"abcdefgh"), tf.float32, little_endian=False, name="raw"),
        tf.decode_raw(bytes=["ab"], out_type="int16"),
    ],
    "records": lambda tf: [
        *tf.decode_csv(["1,2.5,x", ",,"], [[0], [0.0], ["none"]]),
        *tf.decode_csv(tf.constant("1;2;NA"), [tf.constant([1], tf.int64), [9]], ";", False, "csv", "NA", [0, 2]),
    ],
    "compressed": lambda tf: [tf.decode_compressed(["a"]), tf.decode_compressed(b"", "ZLIB", name="z")],
    "JSON": lambda tf: tf.decode_json_example(['{"features": {"feature": {"a": {"int64List": {"value": [5]}}}}}']),
    "tensors": lambda tf: tf.parse_tensor(tf.serialize_tensor([1.5, 2.5], name="s"), tf.float32, name="p"),
    "sparse tensors": lambda tf: [
        tf.serialize_sparse(tf.SparseTensor([[0, 1]], ["a"], [2, 3])),
        tf.deserialize_many_sparse(
            tf.serialize_many_sparse(tf.SparseTensor([[0, 1], [1, 0]], [1, 2], [2, 3]), name="m"), tf.int32, 2
        ),
    ],
}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_parsing_functions_are_tensorflows(name: str) -> None:
    build(lambda tf: flat(PROGRAMS[name](tf)), OURS, THEIRS).expect_same_values()


def test_sparse_features_are_tensorflows() -> None:
    def program(tf: Any) -> Any:
        features = {
            "one": tf.SparseFeature("x", "v", tf.float32, 10),
            "two": tf.SparseFeature(["x", "y"], "v", tf.float32, [10, 3], already_sorted=True),
            "v": tf.VarLenFeature(tf.float32),
        }
        return flat(tf.parse_example(tf.placeholder(tf.string, [None], name="p"), features))

    build(program, OURS, THEIRS).expect_same_values(feeds={"p:0": SPARSE})


def test_an_example_of_unknown_rank_is_checked_to_be_one() -> None:
    def program(tf: Any) -> Any:
        example = tf.placeholder(tf.string, None, name="p")
        first = tf.parse_single_example(example, {"f": tf.FixedLenFeature([2], tf.float32)})
        rest = tf.parse_single_sequence_example(example, None, {"w": tf.VarLenFeature(tf.string)})
        return flat([first, rest])[:1]

    build(program, OURS, THEIRS).expect_same_values(feeds={"p:0": FULL})


R = feature_configs.RaggedFeature
VALUES = [
    example(
        v=[3, 1, 4, 1, 5, 9], s=[0, 2, 3, 3, 6], n=[2, 1, 0, 3], st=[0, 2, 3, 3], l=[2, 3, 3, 6], i=[0, 0, 1, 3, 3, 3]
    ),
    example(v=[2, 7, 1, 8], s=[0, 3, 4], n=[3, 1], st=[0, 3], l=[3, 4], i=[0, 0, 0, 1]),
]
PARTITIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda ragged: [],
    "splits": lambda ragged: [ragged.RowSplits("s")],
    "lengths": lambda ragged: [ragged.RowLengths("n")],
    "starts": lambda ragged: [ragged.RowStarts("st")],
    "limits": lambda ragged: [ragged.RowLimits("l")],
    "ids": lambda ragged: [ragged.ValueRowIds("i")],
    "uniform": lambda ragged: [ragged.UniformRowLength(2)],
    "uniform twice": lambda ragged: [ragged.UniformRowLength(1), ragged.UniformRowLength(2)],
    "lengths and uniform": lambda ragged: [ragged.UniformRowLength(2), ragged.RowLengths("n")],
}


@pytest.mark.parametrize("kind", sorted(PARTITIONS))
@pytest.mark.parametrize("serialized", [VALUES, VALUES[0]], ids=["batch", "single"])
def test_ragged_features_are_tensorflows(kind: str, serialized: Any) -> None:
    def program(tf: Any) -> Any:
        feature = tf.RaggedFeature(tf.int64, "v", PARTITIONS[kind](tf.RaggedFeature))
        return flat(tf.parse_example(serialized, {"r": feature}))

    build(program, OURS, THEIRS).expect_same_values()


def test_ragged_sequences_are_tensorflows() -> None:
    def program(tf: Any) -> Any:
        features = {"w": tf.RaggedFeature(tf.string), "k": tf.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)}
        context = {"i": tf.RaggedFeature(tf.int64)}
        return flat(
            [
                tf.parse_sequence_example([LONG, SHORT, EMPTY], context, features),
                tf.parse_single_sequence_example(LONG, context, features),
            ]
        )

    build(program, OURS, THEIRS).expect_same_values()


REFUSED: dict[str, Program] = {
    "no features": lambda tf: tf.parse_example([b""], {}),
    "no features of one": lambda tf: tf.parse_single_example(b"", None),
    "no lists": lambda tf: tf.parse_sequence_example([b""]),
    "an open shape": lambda tf: tf.parse_example([b""], {"a": tf.FixedLenFeature([None], tf.float32)}),
    "an inner open shape": lambda tf: tf.parse_example([b""], {"a": tf.FixedLenFeature([2, None], tf.float32)}),
    "no shape": lambda tf: tf.parse_example([b""], {"a": tf.FixedLenFeature(None, tf.float32)}),
    "no type": lambda tf: tf.parse_example([b""], {"a": tf.VarLenFeature(None)}),
    "another type": lambda tf: tf.parse_example([b""], {"a": tf.VarLenFeature(tf.int32)}),
    "not missing": lambda tf: tf.parse_example([b""], {"a": tf.FixedLenSequenceFeature([], tf.float32)}),
    "a foreign kind": lambda tf: tf.parse_sequence_example([b""], {"a": tf.SparseFeature("i", "v", tf.float32, 2)}),
    "not a scalar": lambda tf: tf.parse_single_example([b""], {"a": tf.VarLenFeature(tf.int64)}),
    "two forms": lambda tf: tf.parse_example(
        [b""], {"v": tf.FixedLenFeature([], tf.float32), "a": tf.SparseFeature("i", "v", tf.float32, 2)}
    ),
    "two types": lambda tf: tf.parse_example(
        [b""], {"v": tf.VarLenFeature(tf.int64), "a": tf.SparseFeature("i", "v", tf.float32, 2)}
    ),
    "a default of a list": lambda tf: tf.parse_sequence_example(
        [b""], None, {"a": tf.FixedLenSequenceFeature([], tf.float32, True, 1.0)}
    ),
    "no order": lambda tf: tf.decode_csv(["a"], [[1], [1]], select_cols=[1, 0]),
    "negative": lambda tf: tf.decode_csv(["a"], [[1]], select_cols=[-1]),
    "other columns": lambda tf: tf.decode_csv(["a"], [[1]], select_cols=[0, 1]),
    "no raw type": lambda tf: tf.decode_raw(["a"]),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_tensorflow_refuses_is_refused(name: str) -> None:
    with building(Graph()), pytest.raises(InvalidArgumentError):
        REFUSED[name](OURS)
    with tf.Graph().as_default(), pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        REFUSED[name](THEIRS)


PUBLIC = [*examples.__all__, *decoding.__all__, *feature_configs.__all__]


@pytest.mark.parametrize("name", PUBLIC)
def test_signatures_are_tensorflows(name: str) -> None:
    ours, theirs = getattr(our_io, name), getattr(v1.io, name)
    mine, other = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
    assert list(mine) == list(other)
    for key, parameter in other.items():
        if parameter.default is not inspect.Parameter.empty:
            assert mine[key].default == getattr(parameter.default, "name", parameter.default)


def test_a_wide_batch_parses_as_in_tensorflow() -> None:
    many = [example(a=np.arange(i % 4, dtype=np.int64), b=[b"x" * (i % 3)], c=[float(i)] * (i % 2)) for i in range(300)]

    def program(tf: Any) -> Any:
        features = {"a": tf.VarLenFeature(tf.int64), "b": tf.FixedLenFeature([], tf.string)}
        rows = tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1)
        return flat(tf.parse_example(tf.placeholder(tf.string, [None], name="p"), {**features, "c": rows}))

    build(program, OURS, THEIRS).expect_same_values(feeds={"p:0": many})
