"""Ensembles of decision trees: created, restored from a checkpoint, asked, explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.proto.messages import serialize
from tensorkeep.proto.op_messages import DebugOutput, TreeEnsemble
from tensorkeep.proto.text import parse_text

# Tree 0 is a bias of 0.5. Tree 1 asks feature 1 (bucket <= 2), then on the left whether feature 0 is category 3.
TREES = """
trees { nodes { leaf { scalar: 0.5 } } }
trees {
  nodes { bucketized_split { feature_id: 1 threshold: 2 left_id: 1 right_id: 2 } metadata { gain: 7 } }
  nodes {
    categorical_split { feature_id: 0 value: 3 left_id: 3 right_id: 4 }
    metadata { original_leaf { scalar: -0.25 } }
  }
  nodes { leaf { scalar: 2 } }
  nodes { leaf { scalar: 10 } }
  nodes { leaf { scalar: -4 } }
}
tree_weights: 1 tree_weights: 0.1
tree_metadata { is_finalized: true } tree_metadata { num_layers_grown: 2 }
growing_metadata { num_layers_attempted: 3 last_layer_node_start: 3 last_layer_node_end: 5 }
"""
FEATURES = [np.array([3, 3, 0, 1], np.int32), np.array([2, 3, 0, 9], np.int32)]
LOGITS = np.array([[0.5 + 1], [0.5 + 0.2], [0.5 - 0.4], [0.5 + 0.2]], np.float32)


def serialized(text: str = TREES) -> bytes:
    return serialize(parse_text(TreeEnsemble, text, "trees"))


class Model:
    """A graph with an ensemble, and a session that has created it."""

    def __init__(self, trees: bytes | None, dimensions: int = 1, features: list[Any] = FEATURES) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.handle = get_op("BoostedTreesEnsembleResourceHandleOp")(shared_name="trees")
            self.is_initialized = get_op("IsBoostedTreesEnsembleInitialized")(self.handle)
            given = [tf.constant(feature) for feature in features]
            self.logits = get_op("BoostedTreesPredict")(self.handle, given, logits_dimension=dimensions)
            self.paths = get_op("BoostedTreesExampleDebugOutputs")(self.handle, given, logits_dimension=dimensions)
            self.states = get_op("BoostedTreesGetEnsembleStates")(self.handle)
            self.stored = get_op("BoostedTreesSerializeEnsemble")(self.handle)
            self.session = tf.Session(graph=self.graph)
            if trees is not None:
                self.session.run(get_op("BoostedTreesCreateEnsemble")(self.handle, tf.constant(7, tf.int64), trees))

    def run(self, fetches: Any) -> Any:
        return self.session.run(fetches)


def test_the_weighted_leaves_of_all_trees_are_added_up() -> None:
    model = Model(serialized())
    np.testing.assert_allclose(model.run(model.logits), LOGITS)


def test_an_ensemble_without_trees_gives_zeros() -> None:
    model = Model(b"")
    assert model.run(model.logits).tolist() == [[0.0]] * 4


def test_leaves_of_several_logits_are_vectors() -> None:
    model = Model(serialized("trees { nodes { leaf { vector { value: [1, 2] } } } } tree_weights: 0.5"), dimensions=2)
    assert model.run(model.logits).tolist() == [[0.5, 1.0]] * 4


def test_a_leaf_of_another_number_of_logits_is_an_error() -> None:
    model = Model(serialized(), dimensions=2)
    with pytest.raises(InvalidArgumentError, match="has 1 logits, and 2 are wanted"):
        model.run(model.logits)


def test_columns_of_a_feature_are_asked_by_their_number() -> None:
    text = """
    trees {
      nodes { bucketized_split { feature_id: 0 threshold: 1 dimension_id: 1 left_id: 1 right_id: 2 } }
      nodes { leaf { scalar: 1 } } nodes { leaf { scalar: 2 } }
    }
    tree_weights: 1"""
    model = Model(serialized(text), features=[np.array([[9, 1], [0, 2]], np.int32)])
    assert model.run(model.logits).tolist() == [[1.0], [2.0]]


def test_the_path_of_an_example_names_features_and_the_logits_after_each() -> None:
    model = Model(serialized())
    outputs = [DebugOutput.FromString(path) for path in model.run(model.paths)]
    assert [list(output.feature_ids) for output in outputs] == [[1, 0], [1], [1, 0], [1]]
    np.testing.assert_allclose(outputs[0].logits_path, [0.5, 0.5 - 0.025, 1.5], rtol=1e-6)
    np.testing.assert_allclose(outputs[1].logits_path, [0.5, 0.7], rtol=1e-6)


def test_states_tell_how_far_the_last_tree_has_grown() -> None:
    model = Model(serialized())
    states = model.run(list(model.states))
    assert [np.asarray(state).tolist() for state in states] == [7, 2, 1, 3, [3, 5]]


def test_an_ensemble_is_there_once_it_is_created_and_creating_it_again_changes_nothing() -> None:
    model = Model(None)
    assert not model.run(model.is_initialized)
    with pytest.raises(FailedPreconditionError, match='"trees" has not been created'):
        model.run(model.logits)
    with model.graph.as_default():
        for trees in (serialized(), b""):
            model.run(get_op("BoostedTreesCreateEnsemble")(model.handle, tf.constant(1, tf.int64), trees))
    assert model.run(model.is_initialized)
    np.testing.assert_allclose(model.run(model.logits), LOGITS)


def test_an_ensemble_is_saved_and_restored_through_a_checkpoint(tmp_path: Path) -> None:
    model = Model(serialized())
    stamp, stored = model.run(list(model.stored))
    assert (stamp, stored) == (7, serialized())
    prefix = str(tmp_path / "model")
    tk.save_checkpoint(prefix, {"boosted_trees:0_stamp": stamp, "boosted_trees:0_serialized": np.array(stored, object)})
    other = Model(b"")
    with other.graph.as_default():
        names = ["boosted_trees:0_stamp", "boosted_trees:0_serialized"]
        read = get_op("RestoreV2")(prefix, names, ["", ""], dtypes=[tf.int64, tf.string])
        other.run(get_op("BoostedTreesDeserializeEnsemble")(other.handle, *read))
    np.testing.assert_allclose(other.run(other.logits), LOGITS)


@pytest.mark.parametrize(
    ("trees", "error", "message"),
    [
        (b"\xff\xff", DataLossError, "not a valid TreeEnsemble"),
        (serialized("trees { nodes { leaf {} } }"), DataLossError, "1 trees and 0 weights"),
        (serialized("trees {} tree_weights: 1"), DataLossError, "has no nodes"),
        (
            serialized("trees { nodes { bucketized_split { left_id: 5 } } } tree_weights: 1"),
            DataLossError,
            "leads to node 5, and the tree has 1",
        ),
        (
            serialized("trees { nodes { bucketized_split { left_id: 0 right_id: 0 } } } tree_weights: 1"),
            DataLossError,
            "in a circle",
        ),
        (serialized("trees { nodes { dense_split {} } } tree_weights: 1"), UnimplementedError, "dense_split"),
    ],
)
def test_trees_that_cannot_be_walked_are_refused_when_they_are_loaded(trees: bytes, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Model(trees)


def test_a_tree_that_asks_for_a_feature_that_is_not_there_is_an_error() -> None:
    model = Model(serialized(), features=FEATURES[:1])
    with pytest.raises(InvalidArgumentError, match="asks for feature 1, and 1 are given"):
        model.run(model.logits)


def test_buckets_are_found_by_boundaries_that_are_restored() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = get_op("BoostedTreesQuantileStreamResourceHandleOp")(shared_name="quantiles")
        is_initialized = get_op("IsBoostedTreesQuantileStreamResourceInitialized")(handle)
        boundaries = get_op("BoostedTreesQuantileStreamResourceGetBucketBoundaries")(handle, num_features=2)
        values = [tf.constant([-1.0, 0.5, 0.6, 9.0]), tf.constant([1.0, 2.0, 3.0, 4.0])]
        buckets = get_op("BoostedTreesBucketize")(values, boundaries)
        assert not session.run(is_initialized)
        session.run(get_op("BoostedTreesCreateQuantileStreamResource")(handle, 0.01, tf.constant(2, tf.int64)))
        assert session.run(is_initialized)
        assert [part.tolist() for part in session.run(boundaries)] == [[], []]
        assert [part.tolist() for part in session.run(buckets)] == [[0] * 4] * 2
        restored = [tf.constant([0.0, 0.5, 3.0]), tf.constant([2.0])]
        session.run(get_op("BoostedTreesQuantileStreamResourceDeserialize")(handle, restored))
        assert [part.tolist() for part in session.run(boundaries)] == [[0.0, 0.5, 3.0], [2.0]]
        assert [part.tolist() for part in session.run(buckets)] == [[0, 1, 2, 2], [0, 0, 0, 0]]
