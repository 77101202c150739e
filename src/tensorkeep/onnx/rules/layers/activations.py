"""What a layer does with its sums: activations and softmax."""

from __future__ import annotations

from typing import Final

from tensorkeep.dtypes import FLOAT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.layers.windows import widened_value
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

_INT32: Final = DType.of("int32")
_INT64: Final = DType.of("int64")
_NARROW: Final = {
    **dict.fromkeys(map(DType.of, ("int8", "int16", "uint8", "uint16")), _INT32),
    DType.of("uint32"): _INT64,
}
_SELU_ALPHA: Final = 1.6732632423543772848170429916717
_SELU_SCALE: Final = 1.0507009873554804934193349852946


@rule("Relu")
def relu(to: OnnxGraph, features: Term) -> Term:
    if features.dtype.is_floating:
        return to.cast(to.node("Relu", widened_value(to, features), dims=features.dims), features.dtype)
    x = to.cast(features, _NARROW.get(features.dtype, features.dtype))
    return to.cast(to.node("Max", x, to.like(x, 0)), features.dtype)


@rule("Relu6")
def relu6(to: OnnxGraph, features: Term) -> Term:
    x = to.cast(widened_value(to, features), _NARROW.get(features.dtype, widened_value(to, features).dtype))
    return to.cast(to.node("Clip", x, to.like(x, 0), to.like(x, 6), dims=features.dims), features.dtype)


@rule("LeakyRelu")
def leaky_relu(to: OnnxGraph, features: Term, *, alpha: float) -> Term:
    return to.cast(to.node("LeakyRelu", widened_value(to, features), alpha=alpha, dims=features.dims), features.dtype)


@rule("Elu")
def elu(to: OnnxGraph, features: Term) -> Term:
    return to.cast(to.node("Elu", widened_value(to, features), dims=features.dims), features.dtype)


@rule("Selu")
def selu(to: OnnxGraph, features: Term) -> Term:
    """ONNX has its two numbers as float32, too few digits for float64: there it is written out."""
    if features.dtype is FLOAT64:
        zero = to.like(features, 0)
        powers = to.node("Sub", to.node("Exp", to.node("Min", features, zero)), to.like(features, 1))
        negative = to.node("Mul", powers, to.like(features, _SELU_ALPHA * _SELU_SCALE))
        positive = to.node("Mul", to.node("Relu", features), to.like(features, _SELU_SCALE))
        return to.node("Add", negative, positive)
    found = to.node("Selu", widened_value(to, features), alpha=_SELU_ALPHA, gamma=_SELU_SCALE, dims=features.dims)
    return to.cast(found, features.dtype)


@rule("Softmax")
def softmax(to: OnnxGraph, logits: Term) -> Term:
    return to.cast(to.node("Softmax", widened_value(to, logits), axis=-1, dims=logits.dims), logits.dtype)


@rule("LogSoftmax")
def log_softmax(to: OnnxGraph, logits: Term) -> Term:
    return to.cast(to.node("LogSoftmax", widened_value(to, logits), axis=-1, dims=logits.dims), logits.dtype)
