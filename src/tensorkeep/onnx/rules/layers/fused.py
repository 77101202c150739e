"""Ops into which TensorFlow's optimizer has put their neighbours: a bias, a normalisation, an activation.

They are written out again; the passes fuse them as ONNX Runtime likes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.layers.activations import elu, leaky_relu, relu, relu6
from tensorkeep.onnx.rules.layers.convolutions import convolution, depthwise
from tensorkeep.onnx.rules.layers.normalisation import fused_batch_norm_v3, normalised_images
from tensorkeep.onnx.rules.layers.windows import has_channels_first
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term
from tensorkeep.ops.nn.windows import Ints, Sliding

_ACTIVATIONS: Final[dict[bytes, Callable[[OnnxGraph, Term], Term]]] = {
    b"Identity": lambda to, x: x,
    b"Relu": relu,
    b"Relu6": relu6,
    b"Elu": elu,
    b"Tanh": lambda to, x: to.node("Tanh", x, dims=x.dims),
    b"Sigmoid": lambda to, x: to.node("Sigmoid", x, dims=x.dims),
}


@rule("_FusedConv2D")
def fused_conv2d(
    to: OnnxGraph, input: Term, filter: Term, args: list[Term], host_args: list[Term], *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, filter_format: bytes, dilations: Ints,
    fused_ops: Sequence[bytes], epsilon: float, leakyrelu_alpha: float,
) -> Term:  # fmt: skip
    if host_args or filter_format != b"HWIO":
        to.refuse(f"its filters are in the order {filter_format.decode()}, or it is of whole numbers")
    sliding = Sliding(strides, padding, explicit_paddings, data_format, dilations)
    found = convolution(to, input, filter, sliding)
    return _continue_product(to, found, args, fused_ops, epsilon, leakyrelu_alpha, data_format)


@rule("_FusedDepthwiseConv2dNative")
def fused_depthwise_conv2d(
    to: OnnxGraph, input: Term, filter: Term, args: list[Term], *,
    strides: Ints, padding: bytes, data_format: bytes, dilations: Ints,
    fused_ops: Sequence[bytes], epsilon: float, leakyrelu_alpha: float,
) -> Term:  # fmt: skip
    found = depthwise(to, input, filter, Sliding(strides, padding, (), data_format, dilations))
    return _continue_product(to, found, args, fused_ops, epsilon, leakyrelu_alpha, data_format)


@rule("_FusedMatMul")
def fused_matmul(
    to: OnnxGraph, a: Term, b: Term, args: list[Term], *,
    transpose_a: bool, transpose_b: bool, fused_ops: Sequence[bytes], epsilon: float, leakyrelu_alpha: float,
) -> Term:  # fmt: skip
    a = to.transpose(a, [1, 0]) if transpose_a else a
    b = to.transpose(b, [1, 0]) if transpose_b else b
    product = to.node("MatMul", a, b, dims=(a.size(0), b.size(-1)))
    return _continue_product(to, product, args, fused_ops, epsilon, leakyrelu_alpha, b"NHWC")


@rule("_FusedBatchNormEx")
def fused_batch_norm_ex(
    to: OnnxGraph, x: Term, scale: Term, offset: Term, mean: Term, variance: Term, side_input: list[Term], *,
    epsilon: float, exponential_avg_factor: float, activation_mode: bytes, data_format: bytes, is_training: bool,
) -> tuple[Term, ...]:  # fmt: skip
    y, *others = fused_batch_norm_v3(
        to, x, scale, offset, mean, variance, epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor, data_format=data_format, is_training=is_training,
    )  # fmt: skip
    for term in side_input:
        y = to.node("Add", y, term, dims=x.dims)
    if activation_mode not in _ACTIVATIONS:
        to.refuse(f"it is followed by {activation_mode.decode()}, for which there is no rule")
    return _ACTIVATIONS[activation_mode](to, y), *others


def _continue_product(
    to: OnnxGraph, found: Term, args: Sequence[Term], fused_ops: Sequence[bytes], epsilon: float, alpha: float,
    data_format: bytes,
) -> Term:  # fmt: skip
    """What follows a product, step by step. `args` are what the steps take besides, in their order."""
    operation = to.operation
    assert operation is not None
    if found.dims is None:
        found.dims = operation.outputs[0].static_shape.dims
    given = list(args)
    for name in fused_ops:
        if name == b"BiasAdd":
            bias = given.pop(0)
            if has_channels_first(data_format):
                bias = to.unsqueeze(bias, list(range(1, to.known_rank(found) - 1)))
            found = to.node("Add", found, bias, dims=found.dims)
        elif name == b"FusedBatchNorm":
            scale, offset, mean, variance = (given.pop(0) for _ in range(4))
            found = normalised_images(to, found, scale, offset, mean, variance, epsilon, data_format)
        elif name == b"Add":
            found = to.node("Add", found, given.pop(0), dims=found.dims)
        elif name == b"LeakyRelu":
            found = leaky_relu(to, found, alpha=alpha)
        elif name in (b"GeluExact", b"GeluApproximate"):
            to.require_opset(20, "GELU in one op")
            form = "tanh" if name == b"GeluApproximate" else "none"
            found = to.node("Gelu", found, approximate=form, dims=found.dims)
        elif name in _ACTIVATIONS:
            found = _ACTIVATIONS[name](to, found)
        else:
            to.refuse(f"it is followed by {name.decode()}, for which there is no rule")
    return found
