"""One op exported alone: what its file has, and what ONNX Runtime computes from it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import onnxruntime as ort

from tensorkeep.onnx.models import Translated, TranslateOptions, translate_graph
from tensorkeep.runtime.session import Session
from tests.onnx.walking import OPSETS, from_onnx, to_onnx
from tests.ops.sample import Sample
from tests.ops.walking import OneNode


def export_sample(
    name: str, sample: Sample, *, opset: int = OPSETS[-1], shapes: str = "known", for_engine: bool = False
) -> tuple[OneNode, Translated]:
    """The graph of one operation, and the model that it becomes. `shapes` is as of `OneNode`."""
    node = OneNode(name, sample, shapes)
    inputs = {f"x{number}": tensor for number, tensor in enumerate(node.feeds)}
    outputs = {f"y{tensor.index}": tensor for tensor in node.outputs}
    options = TranslateOptions(opset, is_for_engine=for_engine)
    return node, translate_graph(inputs, outputs, lambda op: None, options)


def nodes_of(name: str, sample: Sample, *, opset: int = OPSETS[-1], shapes: str = "known") -> Counter[str]:
    """How many nodes of each operator a file has."""
    _, translated = export_sample(name, sample, opset=opset, shapes=shapes)
    return Counter(node.op_type for node in translated.model.graph)


def run_sample(name: str, sample: Sample, *, opset: int = OPSETS[-1], shapes: str = "known") -> list[Any]:
    """What ONNX Runtime computes."""
    node, translated = export_sample(name, sample, opset=opset, shapes=shapes)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(translated.proto().SerializeToString(), options, providers=["CPUExecutionProvider"])
    taken = {item.name for item in session.get_inputs()}
    feeds = {f"x{number}": to_onnx(node.feeds[tensor], tensor.dtype) for number, tensor in enumerate(node.feeds)}
    found = session.run(None, {name: value for name, value in feeds.items() if name in taken})
    return [from_onnx(value, tensor.dtype) for value, tensor in zip(found, node.outputs, strict=True)]


def own_results(name: str, sample: Sample) -> list[Any]:
    """What our kernels compute."""
    node = OneNode(name, sample)
    return list(Session(node.graph).run(list(node.outputs), node.feeds))
