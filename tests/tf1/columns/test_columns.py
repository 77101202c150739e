"""Columns as values, and what is refused: wrong arguments when a column is made, wrong features when it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.tf1.columns.categorical import line_count

fc: Any = tf.feature_column


def test_columns_are_equal_by_what_they_say_and_sort_by_it() -> None:
    assert fc.numeric_column("a") == fc.numeric_column("a", shape=1)
    assert len({fc.numeric_column("a"), fc.numeric_column("a"), fc.numeric_column("b")}) == 2
    assert sorted([fc.numeric_column("b"), fc.numeric_column("a")])[0].key == "a"


def test_a_column_says_how_its_features_are_parsed() -> None:
    price = fc.numeric_column("price", shape=(2,), default_value=(1, 2))
    words = fc.categorical_column_with_hash_bucket("words", 5)
    crossed = fc.crossed_column(["words", fc.bucketized_column(fc.numeric_column("age"), [1.0])], 5)
    spec = fc.make_parse_example_spec([price, fc.embedding_column(words, 3), crossed])
    assert spec == {
        "price": tf.FixedLenFeature((2,), tf.float32, (1, 2)),
        "words": tf.VarLenFeature(tf.string),
        "age": tf.FixedLenFeature((1,), tf.float32, None),
    }
    assert words._parse_example_spec == {"words": tf.VarLenFeature(tf.string)}
    assert (words._num_buckets, price._variable_shape.as_list()) == (5, [2])


def test_features_that_columns_parse_otherwise_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="different parse_spec for key a"):
        fc.make_parse_example_spec([fc.numeric_column("a"), fc.categorical_column_with_identity("a", 3)])


@pytest.mark.parametrize(
    ("default", "expected"), [(None, None), (3, (3, 3)), (2.5, (2.5, 2.5)), ([1, 2], (1, 2)), (np.ones(2), (1.0, 1.0))]
)
def test_a_default_is_as_long_as_the_number(default: Any, expected: Any) -> None:
    assert fc.numeric_column("a", shape=[2], default_value=default).default_value == expected


@pytest.mark.parametrize(("data", "count"), [(b"a\nb\nc\n", 3), (b"a\nb", 2), (b"", 0), (b"\n", 1)])
def test_the_last_line_of_a_vocabulary_may_lack_its_end(data: bytes, count: int) -> None:
    fs = MemoryFileSystem()
    atomic_write(fs, "words", data)
    assert line_count("words", fs) == count


def test_the_size_of_a_vocabulary_is_the_number_of_its_lines(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a\nb\nc")
    column = fc.categorical_column_with_vocabulary_file("k", str(tmp_path / "words"), num_oov_buckets=2)
    assert (column.vocabulary_size, column.num_buckets) == (3, 5)


def identity(**options: Any) -> Any:
    return fc.categorical_column_with_identity("id", 5, **options)


REFUSED: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "size 0": (InvalidArgumentError, "greater than 0", lambda: fc.numeric_column("a", shape=[2, 0])),
    "size as text": (WrongTypeError, "must be integer", lambda: fc.numeric_column("a", shape=["2"])),
    "text as numbers": (InvalidArgumentError, "convertible to float", lambda: fc.numeric_column("a", dtype=tf.string)),
    "key": (InvalidArgumentError, "key must be a string", lambda: fc.numeric_column(3)),
    "normalizer": (WrongTypeError, "must be a callable", lambda: fc.numeric_column("a", normalizer_fn=3)),
    "long default": (
        InvalidArgumentError,
        "equal to given shape",
        lambda: fc.numeric_column("a", shape=2, default_value=[1, 2, 3]),
    ),
    "fraction as a default": (
        WrongTypeError,
        "compatible with dtype",
        lambda: fc.numeric_column("a", dtype=tf.int64, default_value=1.5),
    ),
    "no boundaries": (
        InvalidArgumentError,
        "sorted list",
        lambda: fc.bucketized_column(fc.numeric_column("a"), []),
    ),
    "boundaries in disorder": (
        InvalidArgumentError,
        "sorted list",
        lambda: fc.bucketized_column(fc.numeric_column("a"), [2.0, 1.0]),
    ),
    "buckets of a matrix": (
        InvalidArgumentError,
        "one-dimensional",
        lambda: fc.bucketized_column(fc.numeric_column("a", shape=(2, 2)), [1.0]),
    ),
    "buckets of ids": (InvalidArgumentError, "numeric_column", lambda: fc.bucketized_column(identity(), [1.0])),
    "no buckets": (
        InvalidArgumentError,
        "at least 1",
        lambda: fc.categorical_column_with_hash_bucket("a", 0),
    ),
    "hashed fractions": (
        InvalidArgumentError,
        "string or integer",
        lambda: fc.categorical_column_with_hash_bucket("a", 3, tf.float32),
    ),
    "no vocabulary": (
        InvalidArgumentError,
        "non-empty",
        lambda: fc.categorical_column_with_vocabulary_list("a", []),
    ),
    "a word twice": (
        InvalidArgumentError,
        "Duplicate keys",
        lambda: fc.categorical_column_with_vocabulary_list("a", ["x", "x"]),
    ),
    "numbers for words": (
        InvalidArgumentError,
        "do not match",
        lambda: fc.categorical_column_with_vocabulary_list("a", ["x"], dtype=tf.int64),
    ),
    "two answers to unknown words": (
        InvalidArgumentError,
        "both num_oov_buckets and default_value",
        lambda: fc.categorical_column_with_vocabulary_list("a", ["x"], default_value=0, num_oov_buckets=2),
    ),
    "a file that is not there": (
        InvalidArgumentError,
        "does not exist",
        lambda: fc.categorical_column_with_vocabulary_file("a", "/nowhere/at/all"),
    ),
    "a default that is no id": (InvalidArgumentError, "not in range", lambda: identity(default_value=5)),
    "a cross of one": (InvalidArgumentError, "length > 1", lambda: fc.crossed_column(["a"], 5)),
    "a cross of hashes": (
        InvalidArgumentError,
        "not supported for crossing",
        lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 5)], 5),
    ),
    "a cross of numbers": (
        InvalidArgumentError,
        "Unsupported key type",
        lambda: fc.crossed_column(["a", fc.numeric_column("b")], 5),
    ),
    "rows of nothing": (InvalidArgumentError, "Invalid dimension 0", lambda: fc.embedding_column(identity(), 0)),
    "half a checkpoint": (
        InvalidArgumentError,
        "none of them",
        lambda: fc.embedding_column(identity(), 2, ckpt_to_load_from="a"),
    ),
    "an initial value": (
        InvalidArgumentError,
        "must be callable",
        lambda: fc.embedding_column(identity(), 2, initializer=3.0),
    ),
    "an indicator of numbers": (
        InvalidArgumentError,
        "must be a CategoricalColumn",
        lambda: fc.indicator_column(fc.numeric_column("a")),
    ),
    "tables of unlike columns": (
        InvalidArgumentError,
        "the same type",
        lambda: fc.shared_embedding_columns([identity(), fc.categorical_column_with_hash_bucket("b", 5)], 2),
    ),
    "tables of unlike sizes": (
        InvalidArgumentError,
        "same number of buckets",
        lambda: fc.shared_embedding_columns([identity(), fc.categorical_column_with_identity("b", 6)], 2),
    ),
    "an unknown operation": (
        InvalidArgumentError,
        "not supported",
        lambda: fc.categorical_column_with_multihash("a", (2, 2), operation="max"),
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_makes_no_column_is_refused(case: str) -> None:
    kind, words, make = REFUSED[case]
    with pytest.raises(kind, match=words):
        make()


LAYERS: dict[str, tuple[str, Callable[[], Any]]] = {
    "no columns": ("must not be empty", lambda: fc.input_layer({}, [])),
    "a dictionary of columns": ("found dict", lambda: fc.input_layer({}, {"a": fc.numeric_column("a")})),
    "what is no column": ("must be a FeatureColumn", lambda: fc.input_layer({}, ["a"])),
    "two columns of a name": (
        "Duplicate feature column name",
        lambda: fc.input_layer({}, [fc.numeric_column("a"), fc.numeric_column("a", shape=2)]),
    ),
    "ids in a dense layer": ("must be a DenseColumn", lambda: fc.input_layer({"id": [[1]]}, [identity()])),
    "a feature that is missing": (
        "Feature a is not in features dictionary. It has \\['b'\\]",
        lambda: fc.input_layer({"b": [[1.0]]}, [fc.numeric_column("a")]),
    ),
    "a number for a batch": (
        "cannot have rank 0",
        lambda: fc.input_layer({"a": tf.constant(1.0)}, [fc.numeric_column("a")]),
    ),
    "batches of different sizes": (
        "Batch size .* must be same",
        lambda: fc.input_layer({"a": [[1.0]], "b": [[1.0], [2.0]]}, [fc.numeric_column("a"), fc.numeric_column("b")]),
    ),
    "sparse numbers": (
        "SparseTensor is not supported",
        lambda: fc.input_layer({"a": tf.SparseTensor([[0, 0]], [1.0], [1, 1])}, [fc.numeric_column("a")]),
    ),
    "fractions as ids": (
        "not integer",
        lambda: fc.linear_model({"id": [[1.5]]}, [identity()]),
    ),
    "words where numbers were said": (
        "must be compatible",
        lambda: fc.linear_model({"a": [["x"]]}, [fc.categorical_column_with_hash_bucket("a", 5, tf.int64)]),
    ),
    "weights of another type": (
        "Bad dtype",
        lambda: fc.linear_model(
            {"id": [[1]], "w": tf.constant([[1]])}, [fc.weighted_categorical_column(identity(), "w")]
        ),
    ),
    "a cross of weighted ids": (
        "does not support weight_tensor",
        lambda: fc.linear_model(
            {"id": [[1]], "w": [[1.0]], "b": [["x"]]},
            [fc.crossed_column([fc.weighted_categorical_column(identity(), "w"), "b"], 9)],
        ),
    ),
    "sequences in a dense layer": (
        "must not be of type SequenceCategoricalColumn",
        lambda: fc.input_layer(
            {"id": [[1]]}, [fc.embedding_column(fc.sequence_categorical_column_with_identity("id", 5), 2)]
        ),
    ),
    "no sequences in a layer of them": (
        "must be of type SequenceCategoricalColumn",
        lambda: fc.sequence_input_layer({"id": [[1]]}, [fc.embedding_column(identity(), 2)]),
    ),
    "a list for a layer": ("expected a dictionary", lambda: fc.DenseFeatures([fc.numeric_column("a")])([[1.0]])),
}


@pytest.mark.parametrize("case", sorted(LAYERS))
def test_what_makes_no_layer_is_refused(case: str) -> None:
    words, build = LAYERS[case]
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=words):
        build()


def test_a_feature_whose_rank_is_known_when_it_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32)
        layer = fc.input_layer({"a": fed}, [fc.numeric_column("a")])
        assert session.run(layer, {fed: [1.0, 2.0]}).tolist() == [[1.0], [2.0]]
        assert session.run(layer, {fed: [[1.0], [2.0]]}).tolist() == [[1.0], [2.0]]
        with pytest.raises(InvalidArgumentError, match="cannot have rank 0"):
            session.run(layer, {fed: 1.0})


def test_an_input_layer_as_an_object_uses_its_variables_again() -> None:
    with tf.Graph().as_default():
        layer = fc.InputLayer([fc.embedding_column(identity(), 2)])
        first, second = layer({"id": [[1]]}), layer({"id": [[2], [3]]})
        names = [variable.op.name for variable in tf.global_variables()]
        assert [variable.op.name for variable in layer.variables] == names
    assert (first.shape.as_list()[1], second.shape.as_list()[1]) == (2, 2)
    assert names == ["feature_column_input_layer/id_embedding/embedding_weights"]


def test_an_id_outside_of_the_buckets_is_an_error_when_it_runs() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = fc.input_layer({"id": [[7]]}, [fc.embedding_column(identity(), 2)])
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(layer)
