"""`tf.contrib.framework` and the small parts of `tf.contrib.layers`: checks, branches, collections, initial values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.tf1.contrib.layers.collecting import convert_collection_to_dict
from tests.tf1.contrib.running import values

framework, layers = tf.contrib.framework, tf.contrib.layers


def test_shapes_are_checked_before_running_where_they_are_known_and_else_in_the_run() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        known, unknown = tf.constant([1, 2]), tf.placeholder(tf.int32)
        assert framework.with_shape([2], known) is known
        with pytest.raises(ValueError, match="Invalid shape"):
            framework.with_shape([3], known)
        checked = framework.with_shape([2], unknown)
        assert checked.get_shape().as_list() == [2]
        assert session.run(checked, {unknown: [5, 6]}).tolist() == [5, 6]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            session.run(checked, {unknown: [5]})
        alike = framework.with_same_shape(known, unknown)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(alike, {unknown: [5]})
        assert framework.get_placeholders(tf.get_default_graph()) == [unknown]


def test_of_branches_that_are_known_only_one_is_built() -> None:
    built: list[str] = []

    def branch(name: str) -> Any:
        def build() -> Any:
            built.append(name)
            return tf.constant(name)

        return build

    def choose() -> Any:
        pairs = [(False, branch("a")), (tf.constant(True), branch("b")), (True, branch("c"))]
        assert framework.smart_constant_value(tf.constant(False)) is False
        return framework.smart_case(pairs), framework.smart_case([(False, branch("d"))], default=branch("e"))

    found, _ = values(choose)
    assert found == (b"b", b"e")
    assert built == ["b", "e"]


def test_types_and_ranks() -> None:
    def build() -> Any:
        with pytest.raises(ValueError, match="int32 or int64"):
            framework.assert_scalar_int(tf.constant(1.0))
        framework.assert_scalar_int(3)
        first, second = framework.remove_squeezable_dimensions(tf.ones([3, 1]), tf.ones([3]))
        with tf.name_scope("outer"):
            assert framework.get_name_scope() == "outer"
        return first, second, framework.reduce_sum_n([tf.ones([2]), tf.ones([3])])

    (first, second, total), _ = values(build)
    assert first.shape == second.shape == (3,)
    assert total == 5.0


def test_variables_go_round_the_tasks_of_a_job() -> None:
    with tf.Graph().as_default(), tf.device(framework.VariableDeviceChooser(2)):
        made = tf.get_variable("v", [])
    assert made.device.startswith("/job:ps")
    chooser = framework.VariableDeviceChooser(2)
    operation: Any = None
    assert [chooser(operation) for _ in range(3)] == [f"/job:ps/task:{task}/device:CPU:0" for task in (0, 1, 0)]


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("mode", ["FAN_IN", "FAN_OUT", "FAN_AVG"])
def test_initial_values_have_the_variance_that_is_asked_for(mode: str, uniform: bool) -> None:
    initializer = layers.variance_scaling_initializer(factor=2.0, mode=mode, uniform=uniform, seed=1)
    found, _ = values(lambda: initializer([3, 3, 20, 60]))
    fans = {"FAN_IN": 180, "FAN_OUT": 540, "FAN_AVG": 360}
    assert np.var(found) == pytest.approx(2.0 / fans[mode], rel=0.06)
    with pytest.raises(TypeError, match="Unknown mode"):
        layers.variance_scaling_initializer(mode="FAN")


def test_regularizers_weigh_sizes_and_squares() -> None:
    weights = np.array([[1.0, -2.0]], np.float32)

    def build() -> Any:
        given = tf.constant(weights)
        some = [
            layers.l1_regularizer(0.5)(given),
            layers.l2_regularizer(0.5)(given),
            layers.l1_l2_regularizer(0.5, 0.5)(given),
            layers.apply_regularization(layers.l2_regularizer(1.0), [given, given]),
        ]
        assert layers.l1_regularizer(0.0)(given) is None
        assert layers.sum_regularizer([]) is None
        assert len(tf.losses.get_regularization_losses()) == 1
        return some

    found, _ = values(build)
    assert found == [1.5, 1.25, 2.75, 5.0]
    for wrong in (1, -0.5):
        with pytest.raises(ValueError, match="scale"):
            layers.l2_regularizer(wrong)


def test_end_points_are_tensors_by_the_names_of_their_scopes() -> None:
    with tf.Graph().as_default():
        net = layers.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, scope="one", outputs_collections="ends")
        layers.max_pool2d(net, 2, scope="two", outputs_collections="ends")
        ends = convert_collection_to_dict("ends", clear_collection=True)
        assert list(ends) == ["one", "two"]
        assert ends["one"] is net
        assert tf.get_collection("ends") == []


def test_sequences_and_bags_have_rows_of_one_table() -> None:
    def build() -> Any:
        rows = layers.embed_sequence([[1, 2], [2, 2]], vocab_size=3, embed_dim=4, scope="words")
        once = layers.embed_sequence(
            [[1, 2], [2, 2]], vocab_size=3, embed_dim=4, scope="words", reuse=True, unique=True
        )
        bag = layers.bow_encoder(tf.constant([[1, 2], [2, 2]]), 3, 4, sparse_lookup=False)
        return rows, once, bag

    (rows, once, bag), variables = values(build)
    np.testing.assert_array_equal(rows, variables["words/embeddings"][[[1, 2], [2, 2]]])
    np.testing.assert_array_equal(rows, once)
    np.testing.assert_allclose(bag[1], variables["bow_encoder/embeddings"][2], rtol=1e-6)
    with pytest.raises(ValueError, match="vocab size"):
        layers.embed_sequence([[1]])


def test_what_cannot_be_built_is_refused() -> None:
    images: Any = tf.zeros([2, 4, 4, 3])
    wrong: Any = 2.5
    for build, message in (
        (lambda: layers.conv2d(tf.zeros([2, 4, 3]), 2, 3), "rank 4"),
        (lambda: layers.conv2d(images, 2, 3, data_format="NWC"), "data_format"),
        (lambda: layers.fully_connected(images, wrong), "num_outputs"),
        (lambda: layers.group_norm(images, groups=2), "groups"),
        (lambda: layers.maxout(images, 2), "multiple"),
        (lambda: layers.stack(images, layers.conv2d, wrong), "list or tuple"),
        (lambda: layers.batch_norm(images, renorm=True, updates_collections=None), "renorm"),
        (lambda: layers.optimize_loss(tf.constant(1.0), None, 0.1, "Nothing"), "Optimizer name"),
    ):
        with pytest.raises(ValueError, match=message):
            build()
