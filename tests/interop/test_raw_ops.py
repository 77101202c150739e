"""`tf.raw_ops`: every function has TensorFlow's arguments, and adds TensorFlow's node."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import tensorflow as tf

from tensorkeep import v1
from tensorkeep.dtypes import DType
from tests.interop.programs import build

NAMES = [name for name in dir(tf.raw_ops) if not name.startswith("_")]


def plain(default: Any) -> Any:
    """A default that can be compared: data types by their names, numbers as numbers."""
    if isinstance(default, DType | tf.DType):
        return default.name
    if hasattr(default, "SerializeToString"):
        return default.SerializeToString()
    return [plain(item) for item in default] if isinstance(default, list) else default


def parameters(function: Any) -> list[tuple[str, Any]]:
    return [(name, plain(found.default)) for name, found in inspect.signature(function).parameters.items()]


def test_there_are_as_many_as_we_think() -> None:
    assert len(NAMES) > 1400


@pytest.mark.parametrize("letter", sorted({name[0] for name in NAMES}))
def test_every_function_has_tensorflows_arguments_and_defaults(letter: str) -> None:
    wrong = {}
    for name in NAMES:
        if name.startswith(letter):
            ours, theirs = parameters(getattr(v1.raw_ops, name)), parameters(getattr(tf.raw_ops, name))
            if ours != theirs:
                wrong[name] = (ours, theirs)
    assert not wrong


RENAMED: dict[str, dict[str, Any]] = {
    "All": {"input": [True, False], "axis": [0]},
    "EuclideanNorm": {"input": [3.0, 4.0], "axis": [0], "keep_dims": True},
    "ExpandDims": {"input": [1.0], "axis": -1},
    "Select": {"condition": [True, False], "x": [1, 2], "y": [3, 4]},
    "Split": {"axis": 0, "value": [1.0, 2.0], "num_split": 2},
    "SplitV": {"value": [1.0, 2.0, 3.0], "size_splits": [1, 2], "axis": 0, "num_split": 2},
    "Squeeze": {"input": [[1.0]], "axis": [1]},
    "Sum": {"input": [1.0, 2.0], "axis": [0], "name": "total"},
    "Where": {"condition": [True, False]},
}


@pytest.mark.parametrize("name", RENAMED)
def test_arguments_that_python_renames_make_tensorflows_node(name: str) -> None:
    build(lambda tf: getattr(tf.raw_ops, name)(**RENAMED[name]), v1).expect_same_values()


def test_a_default_that_python_changes_is_in_the_node() -> None:
    def program(tf: Any) -> Any:
        return tf.raw_ops.SdcaOptimizerV2(
            sparse_example_indices=[],
            sparse_feature_indices=[],
            sparse_feature_values=[],
            dense_features=[[[1.0]]],
            example_weights=[1.0],
            example_labels=[1.0],
            sparse_indices=[],
            sparse_weights=[],
            dense_weights=[[1.0]],
            example_state_data=[[0.0, 0.0, 0.0, 0.0]],
            loss_type="logistic_loss",
            l1=0.0,
            l2=1.0,
            num_loss_partitions=1,
            num_inner_iterations=1,
        )

    built = build(program, v1)
    assert built.graph.operation("SdcaOptimizerV2").attr("adaptive") is True


@pytest.mark.parametrize("arguments", [{"positional": ([1], 0)}, {"input": [1], "reduction_indices": 0}])
def test_other_arguments_are_type_errors_in_both(arguments: dict[str, Any]) -> None:
    positional = arguments.pop("positional", ())
    for module in (v1, tf.compat.v1):
        with module.Graph().as_default(), pytest.raises(TypeError):
            module.raw_ops.Sum(*positional, **arguments)
