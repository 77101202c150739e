"""What a file leaves out: operations that print or check, and what only they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import PermissionDeniedError

X = np.array([1, 2], np.float32)


def run_file(target: Path) -> Any:
    return ort.InferenceSession(str(target), providers=["CPUExecutionProvider"]).run(["y"], {"x": X})[0]


@pytest.mark.parametrize("kind", ["print", "Print", "Assert"])
def test_what_has_no_equal_in_onnx_may_be_printed_and_checked(kind: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        told = tf.io.encode_base64(tf.as_string(x))
        if kind == "Print":
            y = tf.Print(x, [told]) * 2
        else:
            left_out: Any = tf.print("x:", x, told) if kind == "print" else tf.Assert(tf.equal(told[0], "a"), [told])
            with tf.control_dependencies([left_out]):
                y = x * 2
        done = tk.export_onnx(session, tmp_path / "m.onnx", outputs={"y": y})
    np.testing.assert_array_equal(run_file(tmp_path / "m.onnx"), X * 2)
    assert [item.op for item in done.dropped] == [{"print": "PrintV2"}.get(kind, kind)]
    how = {item.op: item.became for item in done.nodes}
    assert how["EncodeBase64"] == "nothing: only what is left out takes it"


def test_what_is_printed_and_taken_as_well_is_needed(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [None], name="x")
        told = tf.io.encode_base64(x)
        with tf.control_dependencies([tf.print(told)]):
            y = tf.identity(told)
        with pytest.raises(tk.TensorKeepError, match="EncodeBase64: ONNX has no operator that knows base64"):
            tk.export_onnx(session, tmp_path / "m.onnx", outputs={"y": y})
    assert not (tmp_path / "m.onnx").exists()


def test_a_model_that_prints_is_verified_if_it_may(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.multiply(tf.Print(x, [x], message="told: "), 2, name="y")
        path = tmp_path / "graph.pb"
        path.write_bytes(graph.as_graph_def().SerializeToString())
    with pytest.raises(PermissionDeniedError, match=r"cannot be verified.*\(Print\) prints.*allow=; --allow"):
        tk.export_onnx(path, tmp_path / "m.onnx", outputs=["y"], verify=True)
    assert not (tmp_path / "m.onnx").exists()
    tk.export_onnx(path, tmp_path / "m.onnx", tk.OnnxOptions(allow=["prints"]), outputs=["y"], verify=True)
    assert "told: " in caplog.text
    np.testing.assert_array_equal(run_file(tmp_path / "m.onnx"), X * 2)
