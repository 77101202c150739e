"""Models exported to ONNX: from every kind of source, cut anywhere, told shapes; and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tensorkeep as tk
import tensorkeep.onnx.rules.every
import tensorkeep.v1 as tf
from tensorkeep.convert.onnx import files
from tensorkeep.convert.onnx.options import OnnxTolerance
from tensorkeep.convert.onnx.verifying import WrongExportError
from tensorkeep.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    UnimplementedError,
    WrongTypeError,
)
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.onnx.rules.registry import RULES
from tests.convert.onnx_models import BIAS, KERNEL, X, expected, network, run_file, saved_model
from tests.support.golden import golden


@pytest.fixture
def model(tmp_path: Path) -> str:
    return saved_model(tmp_path)


# ----------------------------------------------------------------------------------------------------------- sources


def test_a_saved_model_becomes_a_file_with_the_names_of_its_signature(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", verify=True)
    assert dict(done.inputs) == {"features": "float [features_0, 3]"}
    assert list(done.outputs) == ["scores"]
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", features=X)["scores"], expected(), rtol=1e-6)
    assert done.verification is not None
    assert [dict(item) for item in done.verification.shapes] == [{"features": (size, 3)} for size in (1, 2, 5)]


def test_a_signature_by_its_name(model: str, tmp_path: Path) -> None:
    tk.export_onnx(model, tmp_path / "m.onnx", signature="products")
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", features=X)["products"], X @ KERNEL, rtol=1e-6)


def test_a_loaded_model(model: str, tmp_path: Path) -> None:
    with tk.load_saved_model(model) as loaded:
        tk.export_onnx(loaded, tmp_path / "m.onnx")
        assert loaded.signatures["serving_default"](features=X)["scores"].shape == (2, 4)
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", features=X)["scores"], expected(), rtol=1e-6)


def test_a_live_graph_with_its_session(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        _, y = network()
        session.run(tf.global_variables_initializer())
        tk.export_onnx(session, tmp_path / "tensors.onnx", outputs=[y], verify=True)
        tk.export_onnx(session, tmp_path / "names.onnx", outputs={"result": "y:0"}, inputs=["features=x"])
    np.testing.assert_allclose(run_file(tmp_path / "tensors.onnx", x=X)["y"], expected(), rtol=1e-6)
    np.testing.assert_allclose(run_file(tmp_path / "names.onnx", features=X)["result"], expected(), rtol=1e-6)


def test_a_frozen_graph_with_named_outputs(model: str, tmp_path: Path) -> None:
    for name in ("frozen.pb", "frozen.pbtxt"):
        tk.convert.convert(model, tmp_path / name)
        tk.export_onnx(tmp_path / name, tmp_path / "m.onnx", outputs=["y"], overwrite=True)
        np.testing.assert_allclose(run_file(tmp_path / "m.onnx", x=X)["y"], expected(), rtol=1e-6)


def test_a_meta_graph_with_its_checkpoint(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        network()
        session.run(tf.global_variables_initializer())
        prefix = str(tf.train.Saver().save(session, str(tmp_path / "run" / "model"), global_step=7))
    for source in (prefix, f"{prefix}.meta", tmp_path / "run"):
        tk.export_onnx(source, tmp_path / "m.onnx", outputs=["scores=y"], overwrite=True)
        np.testing.assert_allclose(run_file(tmp_path / "m.onnx", x=X)["scores"], expected(), rtol=1e-6)


def test_a_graph_whose_checkpoint_lies_elsewhere(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        network()
        message = export_graph(tf.get_default_graph())
    tk.save_checkpoint(tmp_path / "weights", {"kernel": KERNEL, "bias": BIAS})
    options = tk.OnnxOptions(checkpoint=tmp_path / "weights", outputs=["y"])
    tk.export_onnx(message, tmp_path / "m.onnx", options)
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", x=X)["y"], expected(), rtol=1e-6)


_CUT: dict[str, Any] = {"inputs": ["x=cat_1/concat"], "outputs": ["y=h_1/BiasAdd"]}


def test_a_model_of_keras_is_cut_inside_the_functions_that_it_calls(tmp_path: Path) -> None:
    source = str(golden("g29_keras_dense") / "model")
    done = tk.export_onnx(source, tmp_path / "m.onnx", verify=True, **_CUT)
    assert {"MatMul", "Gemm"} & set(done.node_counts)
    assert done.nodes[-1].node == "StatefulPartitionedCall/functional_1/h_1/BiasAdd"
    tk.export_onnx(source, tmp_path / "n.onnx", inputs=_CUT["inputs"], outputs=[f"{done.nodes[-1].node}:0"])


def test_a_function_by_its_path_or_by_the_name_of_a_trace(tmp_path: Path) -> None:
    source = str(golden("g29_keras_dense") / "model")
    for name in ("serve", "__inference___call___154"):
        options = tk.OnnxOptions(function=name, overwrite=True)
        assert list(tk.export_onnx(source, tmp_path / "m.onnx", options, **_CUT).outputs) == ["y"]
    with pytest.raises(NotFoundError, match='the model has no function "nothing"; it has "serve"'):
        tk.export_onnx(source, tmp_path / "n.onnx", tk.OnnxOptions(function="nothing"))


# -------------------------------------------------------------------------------------------------------------- cuts


def test_the_graph_can_be_cut_anywhere(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", inputs=["p=product"], outputs=["sum", "t=scores"])
    assert list(done.inputs) == ["p"]
    found = run_file(tmp_path / "m.onnx", p=X @ KERNEL)
    np.testing.assert_allclose(found["sum"], X @ KERNEL + BIAS, rtol=1e-6)
    np.testing.assert_allclose(found["t"], expected(), rtol=1e-6)


def test_an_output_that_is_called_as_an_input_gets_another_name(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        done = tk.export_onnx(session, tmp_path / "m.onnx", inputs={"x": x}, outputs={"x": tf.tanh(x)})
    assert list(done.outputs) == ["x_output"]
    assert 'the output "x" is called as an input is' in done.remarks[0]


def test_inputs_that_are_lacking_are_said(model: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = (tf.placeholder(tf.float32, [2], name=name) for name in "ab")
        with pytest.raises(InvalidArgumentError, match='the outputs also need "b": name them among the inputs'):
            tk.export_onnx(session, tmp_path / "m.onnx", inputs=[a], outputs=[tf.add(a, b, name="c")])


# ------------------------------------------------------------------------------------------------------ shapes, axes


def test_shapes_are_inferred_anew_through_the_whole_graph(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", shapes={"features": (7, 3)})
    assert dict(done.inputs) == {"features": "float [7, 3]"}
    assert dict(done.outputs) == {"scores": "float [7, 4]"}


def test_shapes_of_a_cut_are_told_too(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", inputs=["p=product:0"], shapes={"p": (2, None)}, verify=True)
    assert dict(done.outputs) == {"scores": "float [2, 4]"}


def test_shapes_reach_into_functions(tmp_path: Path) -> None:
    source = str(golden("g29_keras_dense") / "model")
    done = tk.export_onnx(source, tmp_path / "m.onnx", shapes={"x": (3, None)}, **_CUT)
    assert done.inputs["x"].startswith("float [3, ")
    assert done.outputs["y"].startswith("float [3, ")


def test_axes_get_names(model: str, tmp_path: Path) -> None:
    tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(axes={"features": {0: "batch"}}))
    dims = onnx.load(str(tmp_path / "m.onnx")).graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in dims] == ["batch", 3]


# -------------------------------------------------------------------------------------------------------------- files


def test_the_bytes_are_the_same_from_run_to_run(model: str, tmp_path: Path) -> None:
    program = "import sys, tensorkeep as tk; tk.export_onnx(sys.argv[1], sys.argv[2])"
    for seed, name in (("1", "a.onnx"), ("2", "b.onnx")):
        subprocess.run(
            [sys.executable, "-c", program, model, str(tmp_path / name)],
            check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_file_says_who_wrote_it_and_from_what(model: str, tmp_path: Path) -> None:
    tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(metadata={"team": "search"}))
    found = onnx.load(str(tmp_path / "m.onnx"))
    assert (found.producer_name, found.producer_version) == ("tensorkeep", tk.__version__)
    assert {item.key: item.value for item in found.metadata_props} == {
        "source": model, "signature": "serving_default", "team": "search",
    }  # fmt: skip


def test_weights_can_lie_in_a_second_file(tmp_path: Path) -> None:
    kernel = np.random.default_rng(1).standard_normal((300, 40)).astype(np.float32)
    x = np.ones((2, 300), np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        tensor = tf.placeholder(tf.float32, [None, 300], name="x")
        y = tf.matmul(tensor, tf.constant(kernel), name="y")
        options = tk.OnnxOptions(external_data=True, verify=True)
        done = tk.export_onnx(session, tmp_path / "m.onnx", options, outputs=[y])
    assert list(done.files) == [str(tmp_path / "m.onnx"), str(tmp_path / "m.onnx.data")]
    assert (tmp_path / "m.onnx").stat().st_size < 2000
    assert (tmp_path / "m.onnx.data").stat().st_size == kernel.nbytes
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", x=x)["y"], x @ kernel, rtol=1e-4)
    with tk.convert.open_tensors(tmp_path / "m.onnx") as opened:
        (name,) = opened
        np.testing.assert_array_equal(opened.read(name), kernel)


def test_what_is_too_large_for_one_file_becomes_two(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST", 10)
    monkeypatch.setattr(files, "_OUTSIDE", 10)
    assert len(tk.export_onnx(model, tmp_path / "m.onnx", verify=True).files) == 2
    np.testing.assert_allclose(run_file(tmp_path / "m.onnx", features=X)["scores"], expected(), rtol=1e-6)


def test_a_file_in_memory(model: str, tmp_path: Path) -> None:
    fs = tk.MemoryFileSystem()
    with tk.load_saved_model(model) as loaded:
        tk.export_onnx(loaded, "m.onnx", fs=fs)
    assert fs.exists("m.onnx")
    assert fs.list("") == ["m.onnx"]


def test_what_is_there_is_replaced_only_if_asked(model: str, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"mine")
    with pytest.raises(AlreadyExistsError, match=r'm.onnx" exists already; say so if it shall be replaced'):
        tk.export_onnx(model, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == b"mine"
    tk.export_onnx(model, tmp_path / "m.onnx", overwrite=True)
    assert run_file(tmp_path / "m.onnx", features=X)


def test_old_weights_outside_go_with_the_model_that_they_were_of(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 32], name="x")
        y = tf.matmul(x, tf.constant(np.eye(32, dtype=np.float32)), name="y")
        tk.export_onnx(session, tmp_path / "m.onnx", tk.OnnxOptions(external_data=True), outputs=[y])
        assert (tmp_path / "m.onnx.data").exists()
        tk.export_onnx(session, tmp_path / "m.onnx", outputs=[y], overwrite=True)
        assert not (tmp_path / "m.onnx.data").exists()
        (tmp_path / "m.onnx.data").write_bytes(b"of somebody else")
        tk.export_onnx(session, tmp_path / "m.onnx", outputs=[y], overwrite=True)
    assert (tmp_path / "m.onnx.data").read_bytes() == b"of somebody else"
    assert run_file(tmp_path / "m.onnx", x=np.ones((1, 32), np.float32))


def test_a_signature_with_two_names_for_one_tensor_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = network()
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"a": x, "b": x}, {"y": y})
    with pytest.raises(InvalidArgumentError, match=r'the inputs "a" and "b" are one tensor, "x:0": name it once'):
        tk.export_onnx(tmp_path / "model", tmp_path / "m.onnx")
    assert list(tk.export_onnx(tmp_path / "model", tmp_path / "m.onnx", inputs=["b"]).inputs) == ["b"]


def test_a_fault_in_a_rule_is_an_error_of_ours_that_names_the_node(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_: Any, **__: Any) -> Any:
        raise ValueError("nobody thought of this")

    monkeypatch.setitem(RULES, "Tanh", replace(RULES["Tanh"], function=faulty))
    with pytest.raises(UnimplementedError) as caught:
        tk.export_onnx(model, tmp_path / "m.onnx")
    assert 'Tanh: its rule fails, which is our mistake: ValueError: nobody thought of this: "y"' in str(caught.value)
    assert "--custom-op Tanh=my.domain" in str(caught.value)
    assert not (tmp_path / "m.onnx").exists()


def test_a_dry_run_writes_nothing(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(dry_run=True))
    assert done.is_dry_run
    assert done.nbytes > 100
    assert not (tmp_path / "m.onnx").exists()


def test_the_opset_that_is_asked_for(model: str, tmp_path: Path) -> None:
    for opset in (13, 17, 21):
        tk.export_onnx(model, tmp_path / f"{opset}.onnx", opset=opset, verify=True)
        assert onnx.load(str(tmp_path / f"{opset}.onnx")).opset_import[0].version == opset


def test_a_custom_op_stays_a_node_for_others(model: str, tmp_path: Path) -> None:
    tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(custom_ops={"Tanh": "my.domain"}))
    (node,) = (item for item in onnx.load(str(tmp_path / "m.onnx")).graph.node if item.domain)
    assert (node.domain, node.op_type) == ("my.domain", "Tanh")


def test_nothing_is_folded_if_that_is_not_wanted(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.add(x, tf.tanh(tf.constant(1.0)), name="y")
        folded = tk.export_onnx(session, tmp_path / "a.onnx", outputs=[y])
        whole = tk.export_onnx(session, tmp_path / "b.onnx", tk.OnnxOptions(folds=False), outputs=[y])
    assert (folded.node_counts, whole.node_counts) == ({"Add": 1}, {"Add": 1, "Tanh": 1})


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"signature": "servin_default"}, NotFoundError,
         'has no signature "servin_default"; it has "products", "serving_default"; did you mean \'serving_default\'?'),
        ({"outputs": ["scorse"]}, InvalidArgumentError, "there is no output \"scorse\"; did you mean 'scores'?"),
        ({"inputs": ["nothing"], "outputs": ["nowhere"]}, InvalidArgumentError,
         'no input "nothing".*no output "nowhere"'),
        ({"outputs": ["y:3"]}, InvalidArgumentError, "Tanh has 1 output;"),
        ({"opset": 12, "outputs": ["nowhere"], "shapes": {"features": (2, 4), "x": (1,)}}, InvalidArgumentError,
         'no output "nowhere".*contradicts the graph.*given for "x".*opset 12 cannot be written'),
        ({"opset": 12}, InvalidArgumentError, "opset 12 cannot be written: those from 13 to"),
        ({"opset": 99}, InvalidArgumentError, "opset 99 cannot be written"),
        ({"shapes": {"features": (2, 4)}}, InvalidArgumentError,
         r'the shape \[2, 4\] of "features" contradicts the graph, where it is \[\?, 3\]'),
        ({"shapes": {"feature": (2, 4)}}, InvalidArgumentError, "no input; did you mean 'features'?"),
        ({"options": tk.OnnxOptions(axes={"features": {1: "width"}})}, InvalidArgumentError, "axis 1 .* is 3 always"),
        ({"options": tk.OnnxOptions(axes={"features": {5: "width"}})}, InvalidArgumentError, "2 axes, and no axis 5"),
        ({"options": tk.OnnxOptions(axes={"nothing": ["a"]})}, InvalidArgumentError, "the inputs are \"features\""),
        ({"options": tk.OnnxOptions(channels_first=["features"])}, InvalidArgumentError, "no image"),
        ({"options": tk.OnnxOptions(function="f", signature="s")}, InvalidArgumentError, "both are given"),
        ({"options": tk.OnnxOptions(tags="train")}, tk.TensorKeepError, "train"),
        ({"shapes": {"features": (1 << 70, 3)}}, InvalidArgumentError, "no axis is larger than 9,223,372,"),
        ({"options": tk.OnnxOptions(axes={"features": ["5"]})}, InvalidArgumentError,
         r"axis 0 of \"features\" cannot be called '5': .* sizes are told by shapes= \(--shape\)"),
        ({"options": tk.OnnxOptions(axes={"features": {0: 5}})}, InvalidArgumentError, "cannot be called 5"),
        ({"options": tk.OnnxOptions(checkpoint="run/model-7")}, InvalidArgumentError,
         r'model" has the values of its variables: a checkpoint \(checkpoint=, --checkpoint\) is for graphs'),
    ],
)  # fmt: skip
def test_bad_input_is_said_and_no_file_is_left(
    model: str, tmp_path: Path, keywords: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(
        error, match=message.replace("?'", r"\?'") if "?'" in message else message.replace("'?", r"'\?")
    ):
        tk.export_onnx(model, tmp_path / "m.onnx", **keywords)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["model"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": "scores"}, r"outputs is a list of names or tensors: write \['scores'\]"),
        ({"outputs": []}, "outputs is empty"),
        ({"outputs": ["y=scores", "y=logits"]}, "outputs: a name in the file is given twice"),
        ({"outputs": [3]}, "outputs: expected a name or a tensor, got 3"),
        ({"inputs": {"a": "features", "b": "features"}}, 'the inputs "a" and "b" are one tensor, "x:0"'),
        ({"opset": "17"}, "opset is a number, got '17'"),
        ({"shapes": [1, 3]}, r"shapes is a dict by names, got \[1, 3\]"),
        ({"shapes": {"features": 3}}, 'the shape of "features" is a list of sizes, got 3'),
        ({"axes": {"features": "batch"}}, 'the names of the axes of "features" are a list, or a dict by axis'),
        ({"channels_first": "features"}, r"channels_first is a list of inputs: write \['features'\]"),
        ({"custom_ops": {"Tanh": ""}}, 'the domain of the custom op "Tanh" is a name such as "my.domain"'),
        ({"metadata": {"version": 3}}, 'what the metadata say of "version" is a text, got 3'),
        ({"tolerance": 1e-3}, "tolerance is an OnnxTolerance"),
    ],
)
def test_options_of_a_wrong_kind_are_said(model: str, tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(**options))
    assert not (tmp_path / "m.onnx").exists()


@pytest.mark.parametrize("option", ["signature", "function", "tags", "checkpoint"])
def test_what_a_session_does_not_have_is_refused(tmp_path: Path, option: str) -> None:
    options: Any = {option: "serve"}
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.add(tf.placeholder(tf.float32, [2]), 1.0)
        with pytest.raises(InvalidArgumentError, match=f"a session has values .* of its own: {option}= cannot"):
            tk.export_onnx(session, tmp_path / "m.onnx", tk.OnnxOptions(**options), outputs=[y])
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_for_a_graph_without_variables_is_refused(model: str, tmp_path: Path) -> None:
    tk.convert.convert(model, tmp_path / "frozen.pb")
    tk.save_checkpoint(tmp_path / "weights", {"kernel": KERNEL, "bias": BIAS})
    with pytest.raises(InvalidArgumentError, match=r"no variables without a value: the checkpoint .* of no use"):
        tk.export_onnx(
            tmp_path / "frozen.pb", tmp_path / "m.onnx", tk.OnnxOptions(checkpoint=tmp_path / "weights"), outputs=["y"]
        )


def test_a_graph_without_operations(tmp_path: Path) -> None:
    (tmp_path / "empty.pb").write_bytes(b"")
    with pytest.raises(InvalidArgumentError, match=r'empty.pb": it is a graph of which nothing comes out'):
        tk.export_onnx(tmp_path / "empty.pb", tmp_path / "m.onnx")


def test_an_input_whose_channels_come_first_is_turned_once_however_often_it_is_named(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4, 5, 3], name="x")
        done = tk.export_onnx(
            session, tmp_path / "m.onnx", tk.OnnxOptions(channels_first=["x", "x"]), outputs=[tf.tanh(x)], verify=True
        )
    assert done.inputs["x"] == "float [x_0, 3, 4, 5]"


def test_a_custom_op_that_is_not_there_is_remarked_on(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", tk.OnnxOptions(custom_ops={"Tanhh": "my.domain"}))
    assert list(done.remarks) == ['nothing that is exported is of the custom op "Tanhh"']


def test_a_folder_is_no_target(model: str, tmp_path: Path) -> None:
    with pytest.raises(AlreadyExistsError, match="is a folder: name a file in it"):
        tk.export_onnx(model, tmp_path, overwrite=True)


def test_a_frozen_graph_without_outputs_names_candidates(model: str, tmp_path: Path) -> None:
    tk.convert.convert(model, tmp_path / "frozen.pb")
    with pytest.raises(InvalidArgumentError, match=r'name outputs, by outputs= \(--outputs\), such as "y"'):
        tk.export_onnx(tmp_path / "frozen.pb", tmp_path / "m.onnx")


def test_all_that_cannot_be_exported_is_listed_with_what_to_do(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [None], name="x")
        y = tf.io.decode_base64(x, name="decoded")
        z = tf.io.decode_raw(y, tf.int32, name="raw")
        with pytest.raises(UnimplementedError) as caught:
            tk.export_onnx(session, tmp_path / "m.onnx", outputs=[z, tf.io.decode_raw(x, tf.uint8, name="bytes")])
    message = str(caught.value)
    for part in ("DecodeBase64: ", '"decoded"', "DecodeRaw: ", '"bytes"', "--outputs", "--custom-op", "--split"):
        assert part in message
    assert not list(tmp_path.iterdir())


def test_a_variable_without_a_value(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        _, y = network()
        with pytest.raises(UnimplementedError, match='the variable "kernel" has no value: restore or initialize it'):
            tk.export_onnx(session, tmp_path / "m.onnx", outputs=[y])


def test_nothing_there_and_nothing_that_could_be_exported(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        tk.export_onnx(tmp_path / "nothing", tmp_path / "m.onnx", outputs=["y"])
    with pytest.raises(WrongTypeError, match="got int"):
        tk.export_onnx(7, tmp_path / "m.onnx")  # type: ignore[arg-type]


def test_a_missing_package_names_the_extra(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.convert.onnx.exporting.find_spec", lambda name: None)
    with pytest.raises(UnimplementedError, match=r'onnx, onnx-ir\): pip install "tensorkeep\[onnx\]"'):
        tk.export_onnx(model, tmp_path / "m.onnx")


# ----------------------------------------------------------------------------------------------------- verification


def test_a_file_that_is_wrong_is_not_left(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "Tanh", RULES["Sigmoid"])
    with pytest.raises(WrongExportError, match=r'output "scores" differs by .* is allowed.*No file was left'):
        tk.export_onnx(model, tmp_path / "m.onnx", verify=True)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["model"]


def test_more_may_be_allowed(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "Tanh", RULES["Sigmoid"])
    options = tk.OnnxOptions(verify=True, tolerance=OnnxTolerance(absolute=10))
    found = tk.export_onnx(model, tmp_path / "m.onnx", options).verification
    assert found is not None
    assert 0.1 < found.outputs[0].absolute < 10


def test_inputs_to_verify_with_can_be_given(model: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", features=X)
    for given in ({"features": X}, tmp_path / "inputs.npz"):
        options = tk.OnnxOptions(verify=True, verify_inputs=given, overwrite=True)
        found = tk.export_onnx(model, tmp_path / "m.onnx", options).verification
        assert found is not None
        assert [dict(item) for item in found.shapes] == [{"features": (2, 3)}]
    for wrong, message in (
        ({"x": X}, 'there is no input "x"; input "features" is missing'),
        ({"features": X.T}, "expected"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            tk.export_onnx(model, tmp_path / "n.onnx", tk.OnnxOptions(verify=True, verify_inputs=wrong))
    assert not (tmp_path / "n.onnx").exists()


def test_a_model_that_takes_none_of_the_inputs_asks_for_some(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        checked = tf.tanh(tf.debugging.check_numerics(x * np.float32(np.inf), "no"), name="y")
        with pytest.raises(FailedPreconditionError, match=r"nothing could be verified: .*--verify-inputs FILE.npz"):
            tk.export_onnx(session, tmp_path / "m.onnx", outputs=[checked], verify=True)
    assert not list(tmp_path.iterdir())


def test_a_report_says_what_became_of_each_operation(model: str, tmp_path: Path) -> None:
    done = tk.export_onnx(model, tmp_path / "m.onnx", verify=True)
    text = done.report()
    for line in ("product (MatMul): MatMul", "y (Tanh): Tanh", "verified in 3 runs", "scores: "):
        assert line in text
    data = json.loads(done.report_json())
    assert {"node": "sum", "op": "BiasAdd", "became": "Add"} in data["nodes"]
    assert data["node_counts"]["Tanh"] == 1


# --------------------------------------------------------------------------------------------------- files as sources


def test_the_weights_of_a_file_are_tensors(model: str, tmp_path: Path) -> None:
    tk.export_onnx(model, tmp_path / "m.onnx")
    tk.convert.convert(tmp_path / "m.onnx", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as found:
        np.testing.assert_array_equal(found["kernel"], KERNEL)


@pytest.mark.parametrize("data", [b"", b"\x08", b"\x08\x0a\xff\xff\xff\xff", b"\x08\x0a" + b"\x3a\x05abc", b"nothing"])
def test_a_damaged_file_is_one_of_our_errors(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(tk.TensorKeepError):
        tk.convert.convert(tmp_path / "m.onnx", tmp_path / "m.npz")
    assert not (tmp_path / "m.npz").exists()


@pytest.mark.parametrize("place", ["../secret", "/etc/passwd", "", ".."])
def test_weights_outside_the_folder_are_not_read(tmp_path: Path, place: str) -> None:
    (tmp_path / "secret").write_bytes(b"\0" * 64)
    tensor = onnx.TensorProto(name="w", dims=[4], data_type=onnx.TensorProto.FLOAT, data_location="EXTERNAL")
    tensor.external_data.add(key="location", value=place)
    graph = onnx.helper.make_graph([], "g", [], [], initializer=[tensor])
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
    with tk.convert.open_tensors(tmp_path / "in" / "m.onnx") as opened, pytest.raises(tk.DataLossError):
        opened.read("w")
