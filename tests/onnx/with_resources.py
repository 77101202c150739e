"""Graphs that look into tables: exported, run by ONNX Runtime, and compared with the session that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

import tensorkeep.onnx.rules.every  # noqa: F401 - makes the rules known
from tensorkeep.graph.graph import Tensor
from tensorkeep.onnx.models import NEWEST_OPSET, Translated, TranslateOptions, translate_graph
from tensorkeep.runtime.session import Session
from tests.onnx.walking import from_onnx, to_onnx
from tests.ops.walking import assert_close

NEWEST_THAT_RUNS = min(NEWEST_OPSET, 24)


def translated(
    session: Session, feeds: Sequence[Tensor], fetches: Sequence[Tensor], opset: int = NEWEST_THAT_RUNS, **options: Any
) -> Translated:
    """The model of some tensors, x0, x1, … to y0, y1, …, with what the session holds."""
    inputs = {f"x{number}": tensor for number, tensor in enumerate(feeds)}
    outputs = {f"y{number}": tensor for number, tensor in enumerate(fetches)}
    return translate_graph(
        inputs, outputs, lambda op: session.run(op.outputs[0]), TranslateOptions(opset=opset, **options)
    )


def assert_same(
    session: Session, feeds: Mapping[Tensor, Any], fetches: Sequence[Tensor], opset: int = NEWEST_THAT_RUNS
) -> list[str]:
    """Asserts that ONNX Runtime computes what the session does; gives the ops of the nodes."""
    model = translated(session, list(feeds), fetches, opset)
    proto = model.proto()
    onnx.checker.check_model(proto, full_check=True)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    engine = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    taken = {item.name for item in engine.get_inputs()}
    given = {f"x{number}": to_onnx(value, tensor.dtype) for number, (tensor, value) in enumerate(feeds.items())}
    theirs = engine.run(None, {name: value for name, value in given.items() if name in taken})
    for tensor, mine, other in zip(fetches, session.run(list(fetches), dict(feeds)), theirs, strict=True):
        assert_close(from_onnx(other, tensor.dtype), np.asarray(mine), tensor.dtype, None, tensor.name)
    return [node.op_type for node in proto.graph.node]
