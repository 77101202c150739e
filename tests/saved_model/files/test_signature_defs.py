"""Signatures: how they are built, and which a server can serve."""

from __future__ import annotations

import pytest

from tensorkeep.dtypes import FLOAT32, INT32, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.files.signature_defs import (
    build_signature_def,
    classification_signature_def,
    is_valid_signature,
    load_op_from_signature_def,
    op_signature_def,
    predict_signature_def,
    regression_signature_def,
    supervised_eval_signature_def,
    supervised_train_signature_def,
)
from tensorkeep.saved_model.files.tensor_info import build_tensor_info
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import no_op


def test_each_kind_of_signature_is_valid_and_has_its_names() -> None:
    with building(Graph()):
        text, number = placeholder(STRING, [None]), placeholder(FLOAT32, [None])
        made = [
            predict_signature_def({"a": number}, {"b": text}),
            classification_signature_def(text, text, number),
            classification_signature_def(text, None, number),
            classification_signature_def(text, text, None),
            regression_signature_def(text, number),
        ]
    assert all(map(is_valid_signature, made))
    assert [(sorted(item.inputs), sorted(item.outputs), item.method_name) for item in made] == [
        (["a"], ["b"], "tensorflow/serving/predict"),
        (["inputs"], ["classes", "scores"], "tensorflow/serving/classify"),
        (["inputs"], ["scores"], "tensorflow/serving/classify"),
        (["inputs"], ["classes"], "tensorflow/serving/classify"),
        (["inputs"], ["outputs"], "tensorflow/serving/regress"),
    ]


@pytest.mark.parametrize(
    "signature",
    [
        None,
        SignatureDef(),
        SignatureDef(method_name="tensorflow/serving/predict", inputs={"x": {"name": "x:0"}}),
        SignatureDef(method_name="tensorflow/serving/predict", outputs={"x": {"name": "x:0"}}),
        SignatureDef(
            method_name="tensorflow/serving/regress", inputs={"inputs": {"dtype": 1}}, outputs={"outputs": {"dtype": 1}}
        ),
        SignatureDef(
            method_name="tensorflow/serving/regress", inputs={"inputs": {"dtype": 7}}, outputs={"other": {"dtype": 1}}
        ),
        SignatureDef(method_name="tensorflow/serving/classify", inputs={"inputs": {"dtype": 7}}),
        SignatureDef(
            method_name="tensorflow/serving/classify",
            inputs={"inputs": {"dtype": 7}},
            outputs={"classes": {"dtype": 1}},
        ),
        SignatureDef(method_name="other", inputs={"inputs": {"dtype": 7}}, outputs={"classes": {"dtype": 7}}),
    ],
)
def test_signatures_that_no_server_serves_are_not_valid(signature: SignatureDef | None) -> None:
    assert not is_valid_signature(signature)


def test_training_and_evaluation_have_signatures_too() -> None:
    with building(Graph()):
        x = placeholder(FLOAT32, [None])
        train = supervised_train_signature_def({"x": x}, {"loss": x}, {"y": x}, {"m": x})
        evaluation = supervised_eval_signature_def({"x": x}, None, {"y": x})
        with pytest.raises(InvalidArgumentError, match="tensorflow/supervised/eval `inputs` cannot be None or empty"):
            supervised_eval_signature_def({}, None)
    assert (train.method_name, sorted(train.outputs)) == ("tensorflow/supervised/training", ["loss", "m", "y"])
    assert (evaluation.method_name, sorted(evaluation.outputs)) == ("tensorflow/supervised/eval", ["y"])


def test_inputs_may_have_constants_for_defaults() -> None:
    with building(Graph()):
        info = build_tensor_info(placeholder(INT32, [2]))
        made = build_signature_def({"x": info}, None, "m", {"x": constant([1, 2])})
        assert array_of_tensor(made.defaults["x"]).tolist() == [1, 2]
        with pytest.raises(ValueError, match="Unable to convert object"):
            build_signature_def({"x": info}, None, "m", {"x": placeholder(INT32)})


def test_operations_can_be_outputs_by_name() -> None:
    with building(Graph()) as graph:
        op = no_op(name="init")
        signature = op_signature_def(op, "key")
        info = signature.outputs["key"]
        assert (info.name, info.dtype, info.tensor_shape.unknown_rank) == ("init", 0, True)
        assert load_op_from_signature_def(signature, "key", graph) is op
