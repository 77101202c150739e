"""Layers of columns, and columns of sequences, beside those of TensorFlow's Keras 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow
from tf_keras.src.feature_column.dense_features import DenseFeatures
from tf_keras.src.feature_column.sequence_feature_column import SequenceFeatures

import tensorkeep.v1
from tests.interop.column_programs import columns, counting, features
from tests.interop.test_columns import assert_same

THEIRS: Any = tensorflow.compat.v1
OURS: Any = tensorkeep.v1
LAYERS: dict[Any, tuple[Any, Any]] = {
    THEIRS: (DenseFeatures, SequenceFeatures),
    OURS: (OURS.feature_column.DenseFeatures, OURS.feature_column.SequenceFeatures),
}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def steps(tf: Any) -> dict[str, Any]:
    """Features of sequences: three examples, the second without any step."""
    return {
        "ids": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([3, 7, 1], tf.int64), [3, 4]),
        "words": tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 0]], ["a", "b", "c", "a"], [3, 4, 2]),
        "pairs": tf.SparseTensor([[0, 0], [0, 1], [0, 2], [0, 3], [2, 0], [2, 1]], [1.0, 2, 3, 4, 5, 6], [3, 8]),
    }


def sequence_columns(tf: Any, folder: Path) -> list[Any]:
    fc = tf.feature_column
    path = folder / "words.txt"
    path.write_text("a\nc\n")
    return [
        fc.embedding_column(fc.sequence_categorical_column_with_identity("ids", 10), 3, initializer=counting(tf)),
        fc.indicator_column(fc.sequence_categorical_column_with_vocabulary_list("words", ["a", "b", "c"])),
        fc.sequence_numeric_column("pairs", shape=(2,)),
    ]


def outcome(tf: Any, build: Any) -> tuple[list[Any], Any]:
    """Names and shapes of variables, and the values of what is built."""
    with tf.Graph().as_default():
        outputs = build(tf)
        names = sorted((item.op.name, item.get_shape().as_list()) for item in tf.global_variables())
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            return names, session.run(outputs)


def expect_the_same(build: Any) -> list[Any]:
    names, values = outcome(OURS, build)
    expected, others = outcome(THEIRS, build)
    assert names == expected
    assert_same(values, others)
    return names


def test_dense_features() -> None:
    def build(tf: Any) -> Any:
        own, fc = columns(tf), tf.feature_column
        chosen = [
            own["price"],
            own["buckets"],
            fc.embedding_column(own["words"], 3, initializer=counting(tf)),
            fc.embedding_column(fc.crossed_column(["words", "flat"], 9), 2, initializer=counting(tf)),
            fc.indicator_column(own["flat"]),
        ]
        layer = LAYERS[tf][0](chosen)
        first = layer(features(tf))
        second = layer({**features(tf), "price": tf.constant([[4.0], [5.0], [6.0]])})
        return first, second, LAYERS[tf][0](chosen)(features(tf)), len(layer.trainable_weights) * tf.ones([])

    names = expect_the_same(build)
    assert [name for name, _ in names][:2] == [
        "dense_features/flat_X_words_embedding/embedding_weights",
        "dense_features/words_embedding/embedding_weights",
    ]


def test_sequence_features(tmp_path: Path) -> None:
    expect_the_same(lambda tf: LAYERS[tf][1](sequence_columns(tf, tmp_path))(steps(tf)))


def test_columns_that_share_a_table() -> None:
    def build(tf: Any) -> Any:
        fc = tf.feature_column
        # TensorFlow has it under this name in its second version alone.
        shared = fc.shared_embeddings if tf is OURS else tensorflow.feature_column.shared_embeddings
        found = shared(
            [fc.categorical_column_with_hash_bucket(key, 9) for key in ("words", "flat")], 3, initializer=counting(tf)
        )
        return LAYERS[tf][0](found)(features(tf))

    expect_the_same(build)


def test_the_sequence_input_layer_of_contrib_gives_what_the_layer_does(tmp_path: Path) -> None:
    def build(tf: Any) -> Any:
        if tf is THEIRS:
            return LAYERS[tf][1](sequence_columns(tf, tmp_path))(steps(tf))
        return tf.feature_column.sequence_input_layer(steps(tf), sequence_columns(tf, tmp_path))

    names, values = outcome(OURS, build)
    assert [name for name, _ in names] == ["sequence_input_layer/ids_embedding/embedding_weights"]
    assert_same(list(values), list(outcome(THEIRS, build)[1]))


def test_every_step_of_a_sequence_gets_the_numbers_of_its_example() -> None:
    with OURS.Graph().as_default(), OURS.Session() as session:
        joined = OURS.feature_column.concatenate_context_input(
            OURS.constant([[1.0, 2.0], [3.0, 4.0]]), OURS.zeros([2, 3, 1])
        )
        found = session.run(joined)
    assert found.shape == (2, 3, 3)
    assert np.array_equal(found[1, 2], [0.0, 3.0, 4.0])
