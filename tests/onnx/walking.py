"""One op on one sample: exported alone, checked, run by ONNX Runtime, and compared with our kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort

from tensorkeep.dtypes import STRING, DType
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.runtime.session import Session
from tests.onnx.left_open import why_left_open
from tests.ops.sample import Sample
from tests.ops.walking import TOLERANCES, OneNode, assert_close

COMMON_TYPES = frozenset(("float32", "int32", "int64", "bool", "string"))
"""Types that ONNX Runtime computes with wherever ONNX does; of others it leaves out many operators."""
OPSETS = (13, 18, 24)
FAILS_THERE = {"StringToNumber": "stod"}
"""Ops that ONNX Runtime fails on for some samples, with a word of its message: numbers beyond all that a type has."""


@dataclass(frozen=True)
class Seen:
    """What came of a sample: "equal", "refused" by the rule, "not run" by ONNX Runtime, or "left open", and why."""

    state: str
    reason: str = ""


def walk_sample(name: str, sample: Sample, opset: int, shapes: str = "known", what: str = "") -> Seen:
    """Compares an exported sample with our kernel. Raises AssertionError where they differ."""
    is_open = why_left_open(name, sample, shapes)
    if is_open:
        return Seen("left open", is_open)
    node = OneNode(name, sample, shapes)
    inputs = {f"x{number}": tensor for number, tensor in enumerate(node.feeds)}
    outputs = {f"y{tensor.index}": tensor for tensor in node.outputs}
    if not outputs:
        return Seen("refused", "there is nothing to compute")
    try:
        translated = translate_graph(inputs, outputs, lambda op: None, TranslateOptions(opset))
    except CannotTranslateError as error:
        return Seen("refused", str(error))
    ours = Session(node.graph).run(list(node.outputs), node.feeds)
    for value, array in zip(translated.model.graph.outputs, ours, strict=True):
        if value.shape is None:  # the checker wants to know how many axes there are, though the graph does not
            value.shape = ir.Shape([None] * (np.ndim(array) + np.iscomplexobj(array)))
    proto = translated.proto()
    if all(value.shape is not None for value in translated.model.graph.outputs):  # what the checker asks for
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
    if not all(_is_text(value) for tensor, value in node.feeds.items() if tensor.dtype is STRING):
        return Seen("not run", "strings of ONNX are text in UTF-8")
    taken = {item.name for item in session.get_inputs()}
    feeds = {key: to_onnx(node.feeds[tensor], tensor.dtype) for key, tensor in inputs.items() if key in taken}
    try:
        theirs = session.run(list(outputs), feeds)
    except Exception as error:
        if name not in FAILS_THERE or FAILS_THERE[name] not in str(error):
            raise AssertionError(f"{what}: ONNX Runtime fails: {error}") from error
        return Seen("not run", str(error))
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


def _is_text(value: Any) -> bool:
    try:
        for item in np.asarray(value).reshape(-1).tolist():
            item.decode()
    except UnicodeDecodeError:
        return False
    return True


def to_onnx(value: Any, dtype: DType) -> Any:
    """An array as ONNX Runtime takes it: text for strings, pairs for complex numbers."""
    array = np.asarray(value)
    if dtype is STRING:
        flat = np.empty(array.size, object)
        flat[:] = [item.decode() for item in array.reshape(-1).tolist()]
        return flat.reshape(array.shape)
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
        return np.ascontiguousarray(array).view(dtype.array_dtype)[..., 0]
    return array
