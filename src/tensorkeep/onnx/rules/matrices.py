"""Products of matrices."""

from __future__ import annotations

from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


@rule("MatMul")
def matmul(to: OnnxGraph, a: Term, b: Term, *, transpose_a: bool, transpose_b: bool) -> Term:
    a = to.transpose(a, [1, 0]) if transpose_a else a
    b = to.transpose(b, [1, 0]) if transpose_b else b
    return to.node("MatMul", a, b)


@rule("BiasAdd", "BiasAddV1")
def bias_add(to: OnnxGraph, value: Term, bias: Term) -> Term:
    """A number for each channel, which is the last axis or the second one."""
    operation = to.operation
    assert operation is not None
    if operation.type == "BiasAdd" and operation.attr("data_format") == b"NCHW":
        bias = to.unsqueeze(bias, list(range(1, to.known_rank(value) - 1)))
    return to.node("Add", value, bias)
