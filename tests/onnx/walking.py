"""One op on one sample: exported alone, checked, run by ONNX Runtime, and compared with our kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from tensorkeep.dtypes import STRING, DType
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.runtime.session import Session
from tests.ops.sample import Sample
from tests.ops.walking import TOLERANCES, OneNode, assert_close

COMMON_TYPES = frozenset(("float32", "int32", "int64", "bool", "string"))
"""Types that ONNX Runtime computes with wherever ONNX does; of others it leaves out many operators."""
OPSETS = (13, 18, 24)


@dataclass(frozen=True)
class Seen:
    """What came of a sample: "equal", "refused" by the rule, or "not run" by ONNX Runtime, and why."""

    state: str
    reason: str = ""


def walk_sample(name: str, sample: Sample, opset: int, shapes: str = "known", what: str = "") -> Seen:
    """Compares an exported sample with our kernel. Raises AssertionError where they differ."""
    node = OneNode(name, sample, shapes)
    inputs = {f"x{number}": tensor for number, tensor in enumerate(node.feeds)}
    outputs = {f"y{tensor.index}": tensor for tensor in node.outputs}
    try:
        translated = translate_graph(inputs, outputs, lambda op: None, TranslateOptions(opset))
    except CannotTranslateError as error:
        return Seen("refused", str(error))
    proto = translated.proto()
    onnx.checker.check_model(proto, full_check=True)
    try:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        types = {tensor.dtype.base_dtype.name for tensor in (*node.feeds, *node.outputs)}
        if types <= COMMON_TYPES:
            raise AssertionError(f"{what}: ONNX Runtime does not take it: {error}") from error
        return Seen("not run", str(error))
    if any(tensor.dtype.base_dtype.numpy_name.startswith(".") for tensor in (*node.feeds, *node.outputs)):
        return Seen("not run", "ONNX Runtime takes no arrays of the types of ml_dtypes")
    taken = {item.name for item in session.get_inputs()}
    feeds = {key: to_onnx(node.feeds[tensor], tensor.dtype) for key, tensor in inputs.items() if key in taken}
    theirs = session.run(list(outputs), feeds)
    ours = Session(node.graph).run(list(node.outputs), node.feeds)
    for tensor, mine, other in zip(node.outputs, ours, theirs, strict=True):
        if tensor.index not in sample.unspecified:
            given = from_onnx(other, tensor.dtype)
            assert_close(given, mine, tensor.dtype, _tolerance(sample, tensor.dtype), f"{what}, {tensor.name}")
    return Seen("equal")


def _tolerance(sample: Sample, dtype: DType) -> float | None:
    """What a sample allows, but at least what its type does.

    Some samples are equal to TensorFlow's results to the last bit, as our kernels round where TensorFlow's do; ONNX
    Runtime rounds where it likes.
    """
    usual = TOLERANCES.get(dtype.name, 0.0)
    return usual if sample.tolerance is not None and sample.tolerance < usual else sample.tolerance


def to_onnx(value: Any, dtype: DType) -> Any:
    """An array as ONNX Runtime takes it: text for strings, pairs for complex numbers."""
    array = np.asarray(value)
    if dtype is STRING:
        return np.array([item.decode("utf-8", "surrogateescape") for item in array.reshape(-1)], object).reshape(
            array.shape
        )
    if dtype.is_complex:
        part = np.float32 if array.dtype == np.complex64 else np.float64
        return np.stack([array.real, array.imag], -1).astype(part)
    return np.asarray(array, dtype.array_dtype)


def from_onnx(value: Any, dtype: DType) -> Any:
    """What ONNX Runtime gives, as our arrays."""
    array = np.asarray(value)
    if dtype is STRING:
        flat = np.empty(array.size, object)
        for number, item in enumerate(array.reshape(-1).tolist()):
            flat[number] = item.encode() if isinstance(item, str) else item
        return flat.reshape(array.shape)
    if dtype.is_complex:
        return (array[..., 0] + 1j * array[..., 1]).astype(dtype.array_dtype)
    return array
