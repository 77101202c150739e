"""ONNX Runtime: which version of the operators it runs, and models in memory that it runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import onnx
import onnxruntime as ort

from tensorkeep.arrays import Array
from tensorkeep.onnx.graphs import OLDEST_OPSET
from tensorkeep.onnx.models import NEWEST_OPSET, format_of_opset


@cache
def newest_opset() -> int:
    """The newest version of ONNX's operators that both the installed `onnx` and the installed ONNX Runtime know.

    ONNX Runtime has no word for it, so it is asked to take the smallest of models, newest first.
    """
    for opset in range(NEWEST_OPSET, OLDEST_OPSET, -1):
        model = _smallest_model(opset)
        try:
            opened_session(model)
        except Exception:  # ONNX Runtime has many, and says by any of them that it is too new
            continue
        return opset
    return OLDEST_OPSET


def _smallest_model(opset: int) -> bytes:
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "probe", ends[:1], ends[1:])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=format_of_opset(opset)
    )
    return model.SerializeToString()


def opened_session(model: bytes, weights: Mapping[str, Array] | None = None) -> Any:
    """A session of ONNX Runtime with a model; `weights` has the arrays of initializers that are not in its bytes."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in (weights or {}).items()}
    if values:
        options.add_external_initializers(list(values), list(values.values()))
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
