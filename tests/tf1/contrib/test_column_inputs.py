"""First layers and linear models of columns: numbers as NumPy computes them of the variables of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tests.tf1.contrib.running import values

layers: Any = tf.contrib.layers
AGES = np.array([[3.0], [20.0], [70.0]], np.float32)
WORDS = ["a", "b", "c", "d"]


def features() -> dict[Any, Any]:
    """Ages, words (of the first example two, of the last one that is in no vocabulary), sizes of two numbers."""
    return {
        "age": tf.constant(AGES),
        "word": tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], ["b", "d", "b", "x"], [3, 2]),
        "sizes": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    }


def columns() -> dict[str, Any]:
    word = layers.sparse_column_with_keys("word", WORDS)
    age = layers.real_valued_column("age")
    return {
        "word": word,
        "age": age,
        "sizes": layers.real_valued_column("sizes", dimension=2),
        "bucket": layers.bucketized_column(age, [18.0, 65.0]),
        "one_hot": layers.one_hot_column(word),
        "embedding": layers.embedding_column(word, 2, combiner="mean"),
        "wide_embedding": layers.embedding_column(word, 16, combiner="mean"),
    }


ONE_HOT = np.array([[0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]], np.float32)
BUCKETS = np.eye(3, dtype=np.float32)


def test_first_layers_have_columns_in_the_order_of_tensorflow() -> None:
    def build() -> Any:
        chosen = columns()
        return layers.input_from_feature_columns(features(), list(chosen.values())[1:])

    layer, variables = values(build)
    # Buckets, embeddings (16 before 2: these are texts), one-hot, real values by name.
    wide, narrow = (variables[f"input_from_feature_columns/{name}/weights"] for name in NAMES)
    mean = ONE_HOT / np.maximum(ONE_HOT.sum(1, keepdims=True), 1)
    expected = [BUCKETS, mean @ wide, mean @ narrow, ONE_HOT, AGES, [[1, 2], [3, 4], [5, 6]]]
    np.testing.assert_allclose(layer, np.concatenate(expected, 1), rtol=1e-5, atol=1e-6)
    assert sorted(variables) == sorted(f"input_from_feature_columns/{name}/weights" for name in NAMES)
    assert (wide.shape, narrow.shape) == ((4, 16), (4, 2))


NAMES = ("word_embedding", "word_embedding_1")


def test_embeddings_begin_by_the_number_of_ids() -> None:
    def build() -> Any:
        ids = layers.sparse_column_with_hash_bucket("word", 10_000)
        return layers.input_from_feature_columns(features(), [layers.embedding_column(ids, 4)], scope="deep")

    _, variables = values(build)
    drawn = variables["deep/word_embedding/weights"]
    # A truncated normal: its deviation is 0.88 of that of the whole.
    np.testing.assert_allclose(drawn.std(), 0.88 / np.sqrt(10_000), rtol=0.02)


def test_weighted_sums_have_a_variable_for_each_column() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = columns()
        used = [chosen[name] for name in ("word", "bucket", "sizes")]
        sums, by_column, bias = layers.weighted_sum_from_feature_columns(
            features(), used, num_outputs=2, weight_collections=["mine"]
        )
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        drawn = np.random.default_rng(1)
        for variable in tf.global_variables():
            variable.load(drawn.normal(size=variable.shape.as_list()).astype("f"), session)
        found, weights, base = session.run((sums, [by_column[column][0] for column in used], bias))
        names = [by_column[column][0].op.name for column in used]
        scope = "weighted_sum_from_feature_columns"
        assert names == [f"{scope}/word/weights", f"{scope}/age_bucketized/weights", f"{scope}/sizes/weight"]
        assert bias.op.name == f"{scope}/bias_weight"
        assert {item.op.name for item in tf.get_collection("mine")} == {*names, bias.op.name}
        assert len(tf.contrib.framework.get_model_variables()) == 4
    sizes = np.array([[1, 2], [3, 4], [5, 6]])
    np.testing.assert_allclose(
        found, ONE_HOT @ weights[0] + BUCKETS @ weights[1] + sizes @ weights[2] + base, rtol=1e-5, atol=1e-6
    )


def test_joint_sums_have_one_variable_and_unknown_words_no_weight() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = columns()
        sums, weights, bias = layers.joint_weighted_sum_from_feature_columns(
            features(), [chosen["word"], chosen["bucket"]], num_outputs=1
        )
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        (whole,) = weights
        whole.load(np.arange(7, dtype=np.float32)[:, None], session)
        scope = "joint_weighted_sum_from_feature_columns"
        assert whole.op.name == f"{scope}/linear_weights/weights"
        assert bias.op.name == f"{scope}/bias_weight"
        # Buckets come first: rows 0, 1, 2; then words: 3 to 6.
        np.testing.assert_array_equal(session.run(sums), [[0 + 4 + 6], [1 + 4], [2]])


def test_examples_are_parsed_and_what_columns_make_of_them_is_used_again() -> None:
    def example(age: float, words: list[bytes]) -> bytes:
        features = {
            "age": tf.train.Feature(float_list=tf.train.FloatList(value=[age])),
            "word": tf.train.Feature(bytes_list=tf.train.BytesList(value=words)),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    with tf.Graph().as_default(), tf.Session() as session:
        chosen = columns()
        used = [chosen["bucket"], chosen["one_hot"]]
        assert set(layers.create_feature_spec_for_parsing(used)) == {"age", "word"}
        parsed = layers.parse_feature_columns_from_examples([example(30, [b"a"]), example(1, [])], used)
        assert {"age", "word", *used} <= set(parsed)
        layer = layers.input_from_feature_columns(parsed, used)
        made = layers.transform_features({"age": AGES}, [chosen["bucket"]])
        assert list(made) == [chosen["bucket"]]
        session.run(tf.tables_initializer())
        np.testing.assert_array_equal(session.run(layer), [[0, 1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]])
        np.testing.assert_array_equal(session.run(made[chosen["bucket"]]), [[0], [1], [2]])


def test_sequences_keep_their_steps() -> None:
    def build() -> Any:
        word = layers.sparse_column_with_keys("word", WORDS)
        given = {
            "word": tf.constant([[["a", "b"], ["c", ""]], [["", ""], ["d", "d"]]]),
            "level": tf.constant([[1.0, 2.0], [3.0, 4.0]]),
            "pair": tf.ones([2, 2, 2]),
        }
        used = [
            layers.embedding_column(word, 3, combiner="sum"),
            layers.one_hot_column(word),
            layers.real_valued_column("level"),
            layers.real_valued_column("pair", dimension=2),
        ]
        found = layers.sequence_input_from_feature_columns(given, used)
        assert found.shape.as_list() == [2, 2, 10]
        return found

    layer, variables = values(build)
    rows = variables["sequence_input_from_feature_columns/word_embedding/weights"]
    counts = np.array([[[1, 1, 0, 0], [0, 0, 1, 0]], [[0, 0, 0, 0], [0, 0, 0, 2]]])
    np.testing.assert_allclose(layer[..., :3], counts @ rows, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(layer[..., 3:7], counts)
    np.testing.assert_array_equal(layer[..., 7], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(layer[..., 8:], np.ones((2, 2, 2)))


@pytest.mark.parametrize(
    ("function", "names", "said"),
    [
        ("input_from_feature_columns", ["word"], "embedding_column or indicator_column"),
        ("input_from_feature_columns", ["age", "age"], "Duplicate feature column key"),
        ("input_from_feature_columns", [], "must not be empty"),
        ("sequence_input_from_feature_columns", ["bucket"], "not currently supported for sequence"),
        ("sequence_input_from_feature_columns", ["sizes"], "has to have 3 dimensions"),
    ],
)
def test_what_makes_no_first_layer_is_refused(function: str, names: list[str], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=said):
        getattr(layers, function)(features(), [columns()[name] for name in names])


@pytest.mark.parametrize(
    ("function", "name", "said"),
    [
        ("weighted_sum_from_feature_columns", "embedding", "not supported in linear models"),
        ("joint_weighted_sum_from_feature_columns", "age", "Real-valued columns are not supported"),
    ],
)
def test_what_makes_no_linear_model_is_refused(function: str, name: str, said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=said):
        getattr(layers, function)(features(), [columns()[name]], 1)


# ---------------------------------------------------------------------------------------------------- Normalization


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("is_first", [False, True])
def test_channels_are_divided_by_what_they_are_together(rank: int, is_first: bool) -> None:
    x = np.random.default_rng(2).normal(size=(*range(2, rank + 1), 3)).astype("f")
    given = np.moveaxis(x, -1, 1) if is_first else x

    def build(inverse: bool) -> Any:
        format_ = "channels_first" if is_first else "channels_last"
        return layers.gdn(tf.constant(given), inverse=inverse, gamma_init=0.3, data_format=format_, name="norm")

    pool = np.sqrt(1 + 0.3 * x**2)
    for inverse, expected in ((False, x / pool), (True, x * pool)):
        found, variables = values(lambda inverse=inverse: build(inverse))
        np.testing.assert_allclose(np.moveaxis(found, 1, -1) if is_first else found, expected, rtol=1e-4, atol=1e-5)
        assert {name: value.shape for name, value in variables.items()} == {
            "norm/reparam_beta": (3,),
            "norm/reparam_gamma": (3, 3),
        }


def test_roots_below_their_bound_may_grow_and_do_not_fall() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[[1.0, 2.0]]])
        y = layers.gdn(x, beta_min=0.25, name="norm")
        beta, _ = tf.trainable_variables()
        up, down = tf.gradients(tf.reduce_sum(y), beta)[0], tf.gradients(-tf.reduce_sum(y), beta)[0]
        session.run(tf.global_variables_initializer())
        beta.load(np.array([0.1, 1.0], np.float32), session)
        rising, falling = session.run((up, down))
    # A greater beta makes less of y: the first gradient is below zero, which leads upwards.
    assert rising[0] < 0
    assert falling[0] == 0
    assert rising[1] == -falling[1] != 0


def test_formats_and_ranks_that_are_not_there_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(InvalidArgumentError, match="Unsupported `data_format`"):
            layers.gdn(tf.zeros([1, 2, 2]), data_format="NHWC")
        with pytest.raises(InvalidArgumentError, match="one to three other dimensions"):
            layers.gdn(tf.zeros([1, 2]))
