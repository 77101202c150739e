"""DeepRec's columns: of embedding variables, adaptive, in several hashes, and those that are looked up together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

fc: Any = tf.feature_column


def run(build: Any, times: int = 1) -> tuple[list[str], list[Any]]:
    """The names of the variables but the global step, and what is built, run so many times."""
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build()
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        names = [variable.op.name for variable in tf.global_variables() if variable.op.name != "global_step"]
        return names, [session.run(outputs) for _ in range(times)]


def step_towards_one(output: Any) -> list[Any]:
    loss = tf.reduce_sum(tf.square(output - 1.0))
    with tf.control_dependencies([output]):
        return [tf.train.GradientDescentOptimizer(0.25).minimize(loss), output]


def test_a_column_of_keys_has_an_embedding_variable_that_learns_its_keys() -> None:
    def build() -> Any:
        column = fc.embedding_column(
            fc.categorical_column_with_embedding("id", tf.int64), 2, initializer=tf.ones_initializer()
        )
        layer = fc.input_layer({"id": tf.constant([[7], [2**40], [7]], tf.int64)}, [column])
        variable = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)[0]
        return step_towards_one(2.0 * layer), variable.total_count()

    names, values = run(build, 2)
    assert names == ["input_layer/id_embedding/embedding_weights"]
    (_, first), _ = values[0]
    (_, second), count = values[1]
    assert np.array_equal(first, np.full((3, 2), 2.0))
    assert np.array_equal(second[:, 0], [-2.0, 0.0, -2.0])  # the key that two examples have moved twice as far
    assert count.tolist() == [2, 2]


def test_text_is_hashed_to_keys_and_parts_are_shards() -> None:
    def build() -> Any:
        column = fc.embedding_column(
            fc.categorical_column_with_embedding("id", partition_num=3), 2, initializer=tf.ones_initializer()
        )
        return fc.input_layer({"id": tf.constant([["a", "b"], ["", "c"], ["", ""]])}, [column])

    names, values = run(build)
    assert names == [f"input_layer/id_embedding/embedding_weights/part_{number}" for number in range(3)]
    assert np.array_equal(values[0], [[1, 1], [1, 1], [0, 0]])


def test_keys_can_be_weighted_and_in_sequences() -> None:
    def build() -> Any:
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 4, 5], tf.int64), [2, 2])
        weights = tf.SparseTensor(ids.indices, [1.0, 3.0, 1.0], [2, 2])
        keys = fc.categorical_column_with_embedding("id", tf.int64)
        column = fc.embedding_column(
            fc.weighted_categorical_column(keys, "weight"), 1, combiner="sum", initializer=tf.ones_initializer()
        )
        return fc.input_layer({"id": ids, "weight": weights}, [column])

    assert run(build)[1][0].tolist() == [[4.0], [1.0]]


def test_a_linear_model_of_keys_has_a_weight_for_each() -> None:
    def build() -> Any:
        keys = fc.categorical_column_with_embedding("id", tf.int64)
        return step_towards_one(fc.linear_model({"id": tf.constant([[5], [6]], tf.int64)}, [keys]))

    names, values = run(build, 2)
    assert names == ["linear_model/id/weights", "linear_model/bias_weights"]
    assert values[1][1][:, 0].tolist() == [1.5, 1.5]


def test_an_adaptive_column_looks_frequent_ids_up_by_key_and_others_by_bucket() -> None:
    def build() -> Any:
        column = fc.embedding_column(
            fc.categorical_column_with_adaptive_embedding("id", 50, tf.int64), 2, initializer=tf.ones_initializer()
        )
        ids = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], tf.constant([7, 8, 9], tf.int64), [3, 1])
        layer = fc.input_layer({"id": ids}, [column], adaptive_mask_tensors={"id": tf.constant([0, 1, 0])})
        return step_towards_one(3.0 * layer)

    names, values = run(build, 2)
    assert names == ["input_layer/id_embedding/ev_weights", "input_layer/id_embedding/hash_weights"]
    assert np.array_equal(values[0][1], np.full((3, 2), 3.0))
    assert (values[1][1] < 3.0).all()


def test_an_adaptive_column_without_a_mask_says_what_is_missing() -> None:
    column = fc.embedding_column(fc.categorical_column_with_adaptive_embedding("id", 50, tf.int64), 2)
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=r'adaptive_mask_tensors=\{"id"'):
        fc.input_layer({"id": tf.constant([[7]], tf.int64)}, [column])


@pytest.mark.parametrize(("operation", "width"), [("concat", 5), ("add", 2), ("mul", 2)])
def test_ids_in_two_hashes(operation: str, width: int) -> None:
    def build() -> Any:
        keys = fc.categorical_column_with_multihash("id", (4, 4), operation=operation)
        dims = (2, 3) if operation == "concat" else (2, 2)
        column = fc.embedding_column(keys, dims, initializer=tf.constant_initializer(3.0))
        return fc.input_layer({"id": tf.constant([[5], [11]], tf.int64)}, [column])

    names, values = run(build)
    scope = "input_layer/id_embedding/embedding_weights"
    assert names == [f"{scope}_q", f"{scope}_r"]
    expected = {"concat": 3.0, "add": 6.0, "mul": 9.0}[operation]
    assert np.array_equal(values[0], np.full((2, width), expected))


# ---------------------------------------------------------------------------------------------------- Together


def columns_and_features(scope: Any) -> tuple[list[Any], dict[str, Any]]:
    with scope:
        columns = [
            fc.embedding_column(fc.categorical_column_with_embedding("a", tf.int64), 2, "sum", tf.ones_initializer()),
            fc.embedding_column(fc.categorical_column_with_identity("b", 9), 3, "mean", tf.ones_initializer()),
        ]
    features = {
        "a": tf.constant([[1, 2], [3, -1]], tf.int64),
        "b": tf.constant([[4, 5], [6, 7]], tf.int64),
        "price": tf.constant([[0.5], [1.5]]),
    }
    return [*columns, fc.numeric_column("price")], features


@pytest.mark.parametrize("scope", ["group_embedding_column_scope", "coalesced_embedding_scope"])
def test_columns_that_are_looked_up_together_give_what_they_give_alone(scope: str) -> None:
    def build() -> Any:
        columns, features = columns_and_features(getattr(fc, scope)(name="user"))
        return fc.input_layer(features, columns)

    names, values = run(build)
    assert names == ["input_layer/a_embedding/embedding_weights", "input_layer/b_embedding/embedding_weights"]
    assert values[0].tolist() == [[2, 2, 1, 1, 1, 0.5], [1, 1, 1, 1, 1, 1.5]]


def test_the_first_layer_that_uses_a_group_has_all_of_its_variables() -> None:
    def build() -> Any:
        columns, features = columns_and_features(fc.group_embedding_column_scope("user"))
        with tf.variable_scope("one"):
            first = fc.input_layer(features, [columns[1]])
        with tf.variable_scope("other"):
            second = fc.input_layer(features, [columns[0]])
        return first, second

    names, values = run(build)
    assert names == [
        "one/input_layer/a_embedding/embedding_weights",
        "one/input_layer/b_embedding/embedding_weights",
    ]
    assert values[0][1].tolist() == [[2, 2], [1, 1]]


def test_columns_made_after_a_group_are_not_in_it() -> None:
    with tf.Graph().as_default():
        with fc.group_embedding_column_scope() as group:
            inside = fc.embedding_column(fc.categorical_column_with_identity("b", 9), 3)
        outside = fc.embedding_column(fc.categorical_column_with_identity("c", 9), 3)
    assert group.embedding_columns == [inside]
    assert (inside.group_name, outside.group_name) == ("group_embedding_column_scope_0", "")


def test_a_name_is_in_a_group_once() -> None:
    with fc.group_embedding_column_scope("user"):
        fc.embedding_column(fc.categorical_column_with_identity("b", 9), 3)
        with pytest.raises(InvalidArgumentError, match="already exists"):
            fc.embedding_column(fc.categorical_column_with_identity("b", 9), 4)
