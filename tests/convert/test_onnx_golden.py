"""Models that TensorFlow wrote, exported to ONNX: what comes out of each file is what came out of TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime as ort
import pytest

import tensorkeep as tk
from tensorkeep.convert.onnx.reports import OnnxExport
from tensorkeep.dtypes import dtype_of_array
from tensorkeep.errors import UnimplementedError
from tests.onnx.walking import from_onnx, to_onnx
from tests.support.golden import cases, decode, expected, golden

REFUSED: Final = {
    "g27_tf1_multi": "ParseExampleV2: ONNX has no operators that take tf.train.Example apart",
}
TRACES: Final = {"poly_infer": "__inference_poly_179"}
"""Of functions with several traces, the one that a run is of."""
NOT_WHOLE: Final = {"g23_meta_scoped"}
"""Graphs that are parts of others: what they take has to be put in first."""


def runs() -> list[Any]:
    """Every run of a model that TensorFlow's answers are known of, but those that train it."""
    return [
        pytest.param(case, run, id=f"{case}-{run['run']}")
        for case in cases()
        for run in expected(case).get("runs", [])
        if case not in NOT_WHOLE and not run.get("train_steps")
    ]


def exported(case: str, run: dict[str, Any], target: Path) -> OnnxExport:
    """Exports what a run is of: a signature or function of a SavedModel, or tensors of a graph."""
    about, folder = expected(case), golden(case)
    options = tk.OnnxOptions(tags=run.get("tags"), verify=True)
    if "dir" in about:
        chosen = {"function" if "function" in run else "signature": TRACES.get(run["run"], run.get("signature"))}
        return tk.export_onnx(folder / about["dir"], target, tk.OnnxOptions(**{**vars(options), **chosen}))
    source = folder / (run.get("frozen") or about["meta"])
    ends = [{_plain(name): name for name in run[side]} for side in ("inputs", "outputs")]
    return tk.export_onnx(source, target, options, inputs=ends[0], outputs=ends[1])


def _plain(name: str) -> str:
    return name.removesuffix(":0")


@pytest.mark.parametrize(("case", "run"), runs())
def test_a_golden_model_gives_what_tensorflow_gave(case: str, run: dict[str, Any], tmp_path: Path) -> None:
    target = tmp_path / "model.onnx"
    if case in REFUSED:
        with pytest.raises(UnimplementedError, match=REFUSED[case]):
            exported(case, run, target)
        assert not target.exists()
        return
    done = exported(case, run, target)
    assert done.verification is not None
    session = ort.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    arrays = {_plain(name): decode(case, entry, "inputs") for name, entry in run["inputs"].items()}
    given = {name: to_onnx(array, dtype_of_array(array.dtype)) for name, array in arrays.items()}
    taken = {item.name for item in session.get_inputs()}
    found = session.run(None, {name: array for name, array in given.items() if name in taken})
    names = [item.name.removesuffix("_output") for item in session.get_outputs()]
    answer = dict(zip(names, found, strict=True))
    for name, entry in run["outputs"].items():
        wanted = decode(case, entry, "outputs")
        ours = from_onnx(answer[_plain(name)] if _plain(name) in answer else found[0], dtype_of_array(wanted.dtype))
        assert (ours.dtype, ours.shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)
        else:
            assert ours.tolist() == wanted.tolist()
