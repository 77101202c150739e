"""What a round of a loop computes, as products with known weights, and activations of them.

    affine       x · W + h · R + b          sources of the round by known matrices, and a known bias
    activation   sigmoid(affine), …         by the name that ONNX's recurrent operators call it by

It does not matter in which pieces the graph computes it: with one matrix for all gates or one for each, with its
inputs side by side or apart, with the bias in one place or in two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array


@dataclass(frozen=True, eq=False)
class Affine:
    """Sources times matrices, of which each has a row per feature of its source, plus a bias."""

    weights: dict[ir.Value, Array]
    bias: Array

    @property
    def width(self) -> int:
        return int(self.bias.shape[0])

    def columns(self, begin: int, end: int) -> Affine:
        return Affine({source: matrix[:, begin:end] for source, matrix in self.weights.items()}, self.bias[begin:end])

    def plus(self, other: Affine) -> Affine:
        weights = dict(self.weights)
        for source, matrix in other.weights.items():
            weights[source] = weights[source] + matrix if source in weights else matrix
        return Affine(weights, self.bias + other.bias)


@dataclass(frozen=True)
class Activation:
    """An activation as ONNX's recurrent operators call it."""

    name: str
    alpha: float | None = None
    beta: float | None = None


LINEAR: Final = Activation("Affine", 1.0, 0.0)
_PLAIN: Final = frozenset(("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"))
_WITH_ALPHA: Final = {"Elu": 1.0, "LeakyRelu": 0.01, "ThresholdedRelu": 1.0}


class Round:
    """The nodes of one round of a loop."""

    def __init__(self, nodes: Iterable[ir.Node], inputs: Iterable[ir.Value]) -> None:
        self._made = {value: node for node in nodes for value in node.outputs}
        self._inputs = set(inputs)
        self._affine: dict[ir.Value, Affine | None] = {}

    def is_inside(self, value: ir.Value) -> bool:
        """Whether a value differs from round to round."""
        return value in self._made or value in self._inputs

    def node(self, value: ir.Value | None, *op_types: str) -> ir.Node | None:
        """The node of the round that makes a value, if it is of one of some types."""
        found = None if value is None else self._made.get(value)
        return found if found is not None and not found.domain and found.op_type in op_types else None

    def plain(self, value: ir.Value) -> ir.Value:
        """The value before all nodes that only pass it on."""
        while (node := self.node(value, "Identity")) is not None and node.inputs[0] is not None:
            value = node.inputs[0]
        return value

    def pairs(self, value: ir.Value | None, op_type: str) -> Iterator[tuple[ir.Value, ir.Value]]:
        """The two inputs of the node that makes a value, in both orders; nothing if it is of another type."""
        node = self.node(value, op_type)
        if node is not None and len(node.inputs) == 2:
            first, second = node.inputs
            if first is not None and second is not None:
                yield self.plain(first), self.plain(second)
                yield self.plain(second), self.plain(first)

    def constant(self, value: ir.Value | None) -> Array | None:
        """The numbers of a value that is known before the model runs."""
        if value is None or value.const_value is None or value.const_value.dtype == ir.DataType.STRING:
            return None
        return value.const_value.numpy()

    def number(self, value: ir.Value | None) -> float | None:
        """A value that is one known number."""
        found = self.constant(value)
        return float(found.reshape(())) if found is not None and found.size == 1 else None

    # ---------------------------------------------------------------------------------------------- affine

    def affine(self, value: ir.Value) -> Affine | None:
        """What a matrix of a row per sequence is, as products with known weights; None if it is something else."""
        value = self.plain(value)
        if value not in self._affine:
            self._affine[value] = None  # while it is looked at
            self._affine[value] = self._find_affine(value)
        return self._affine[value]

    def _find_affine(self, value: ir.Value) -> Affine | None:
        node = self._made.get(value)
        if node is None or node.domain:
            return None
        if node.op_type == "MatMul":
            return self._product(node.inputs[0], self.constant(node.inputs[1]))
        if node.op_type == "Gemm":
            return self._general_product(node)
        if node.op_type == "Add":
            return self._sum(*node.inputs)
        if node.op_type == "Sub":
            taken = self.constant(node.inputs[1])
            first = None if node.inputs[0] is None else self.affine(node.inputs[0])
            return None if taken is None or first is None else _with_bias(first, -taken)
        if node.op_type in ("Split", "Slice") and node.inputs[0] is not None:
            whole = self.affine(node.inputs[0])
            return None if whole is None else self._columns(node, value, whole)
        return None

    def _columns(self, node: ir.Node, value: ir.Value, whole: Affine) -> Affine | None:
        """The columns that a Split or Slice gives of the whole as one of its outputs."""
        return self._part(node, value, whole) if node.op_type == "Split" else self._slice(node, whole)

    def _product(self, value: ir.Value | None, matrix: Array | None) -> Affine | None:
        if value is None or matrix is None or matrix.ndim != 2:
            return None
        weights: dict[ir.Value, Array] = {}
        at = 0
        for source in self._side_by_side(self.plain(value)):
            width = _width(source)
            if width is None:
                if at:
                    return None
                width = matrix.shape[0]
            rows = matrix[at : at + width]
            weights[source] = weights[source] + rows if source in weights else rows
            at += width
        if at != matrix.shape[0]:
            return None
        return Affine(weights, np.zeros(matrix.shape[1], matrix.dtype))

    def _side_by_side(self, value: ir.Value) -> list[ir.Value]:
        """What a matrix is made of whose columns come from several others."""
        node = self.node(value, "Concat")
        if node is None or node.attributes["axis"].as_int() not in (1, -1):
            return [value]
        parts = [self.plain(part) for part in node.inputs if part is not None]
        if any(_width(part) is None for part in parts):
            return [value]
        return [source for part in parts for source in self._side_by_side(part)]

    def _general_product(self, node: ir.Node) -> Affine | None:
        attrs = {name: attr.value for name, attr in node.attributes.items()}
        matrix = self.constant(node.inputs[1])
        if matrix is None or attrs.get("transA") or attrs.get("alpha", 1.0) != 1.0 or attrs.get("beta", 1.0) != 1.0:
            return None
        found = self._product(node.inputs[0], matrix.T if attrs.get("transB") else matrix)
        if found is None or len(node.inputs) < 3 or node.inputs[2] is None:
            return found
        bias = self.constant(node.inputs[2])
        return None if bias is None else _with_bias(found, bias)

    def _sum(self, first: ir.Value | None, second: ir.Value | None) -> Affine | None:
        if first is None or second is None:
            return None
        for one, other in ((first, second), (second, first)):
            known = self.constant(other)
            if known is not None:
                found = self.affine(one)
                return None if found is None else _with_bias(found, known)
        parts = self.affine(first), self.affine(second)
        if parts[0] is None or parts[1] is None or parts[0].width != parts[1].width:
            return None
        return parts[0].plus(parts[1])

    def _part(self, node: ir.Node, value: ir.Value, whole: Affine) -> Affine | None:
        axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 0
        if axis not in (1, -1):
            return None
        given = self.constant(node.inputs[1]) if len(node.inputs) > 1 else None
        count = len(node.outputs)
        if given is not None:
            sizes = [int(size) for size in given]
        elif whole.width % count == 0:
            sizes = [whole.width // count] * count
        else:
            return None
        at = sum(sizes[: (number := list(node.outputs).index(value))])
        return whole.columns(at, at + sizes[number])

    def _slice(self, node: ir.Node, whole: Affine) -> Affine | None:
        bounds = [self.constant(value) for value in node.inputs[1:] if value is not None]
        if len(bounds) < 3 or any(bound is None for bound in bounds):
            return None
        starts, ends, axes, *steps = [bound.reshape(-1).tolist() for bound in bounds if bound is not None]
        if any(step != 1 for step in (steps[0] if steps else ())):
            return None
        for start, end, axis in zip(starts, ends, axes, strict=True):
            if axis in (1, -1):
                begin, stop, _ = slice(start, end).indices(whole.width)
                whole = whole.columns(begin, max(begin, stop))
            elif axis != 0 or start != 0 or end < np.iinfo(np.int32).max:
                return None
        return whole

    # ------------------------------------------------------------------------------------------ activations

    def activation(self, value: ir.Value) -> tuple[Activation, ir.Value]:
        """The activation that makes a value, and what it is applied to: the value itself if there is none."""
        value = self.plain(value)
        node = self._made.get(value)
        if node is None or node.domain or not node.inputs or node.inputs[0] is None:
            return LINEAR, value
        inner = self.plain(node.inputs[0])
        if node.op_type in _PLAIN:
            return Activation(node.op_type), inner
        if node.op_type in _WITH_ALPHA:
            attr = node.attributes.get("alpha")
            return Activation(node.op_type, attr.as_float() if attr is not None else _WITH_ALPHA[node.op_type]), inner
        if node.op_type == "HardSigmoid":
            alpha, beta = (node.attributes.get(name) for name in ("alpha", "beta"))
            return Activation(
                "HardSigmoid", 0.2 if alpha is None else alpha.as_float(), 0.5 if beta is None else beta.as_float()
            ), inner
        return self._hard_sigmoid(value) or (LINEAR, value)

    def activated(self, value: ir.Value) -> tuple[Activation, Affine] | None:
        """A value as an activation of products; of gates that are activated side by side, one of them."""
        value = self.plain(value)
        node = self.node(value, "Split", "Slice")
        if node is not None and node.inputs[0] is not None and self.affine(value) is None:
            whole = self.activated(node.inputs[0])
            if whole is None:
                return None
            part = self._columns(node, value, whole[1])
            return None if part is None else (whole[0], part)
        activation, inner = self.activation(value)
        found = self.affine(inner)
        return None if found is None else (activation, found)

    def _hard_sigmoid(self, value: ir.Value) -> tuple[Activation, ir.Value] | None:
        """A line that is cut off at 0 and 1, however it is computed."""
        outer, outer_scale, outer_shift = self._line(value)
        cut = self._clipped_value(outer)
        if cut is None or outer_shift or outer_scale <= 0:
            return None
        inner, low, high = cut
        if low != 0 or abs(high * outer_scale - 1.0) > 1e-6:
            return None
        source, scale, shift = self._line(inner)
        return Activation("HardSigmoid", scale * outer_scale, shift * outer_scale), source

    def _clipped_value(self, value: ir.Value) -> tuple[ir.Value, float, float] | None:
        """Of a value that is clipped between two known numbers: what is clipped, and the two numbers."""
        node = self.node(value, "Clip")
        if node is not None and len(node.inputs) == 3 and node.inputs[0] is not None:
            low, high = self.number(node.inputs[1]), self.number(node.inputs[2])
            return None if low is None or high is None else (self.plain(node.inputs[0]), low, high)
        for outer, inner in (("Min", "Max"), ("Max", "Min")):
            for cut, bound in self.pairs(value, outer):
                first = self.number(bound)
                for source, other in self.pairs(cut, inner):
                    second = self.number(other)
                    if first is not None and second is not None:
                        return (source, second, first) if outer == "Min" else (source, first, second)
        return None

    def _line(self, value: ir.Value) -> tuple[ir.Value, float, float]:
        """A value as factor * x + number: x, and the two known numbers."""
        scale, shift = 1.0, 0.0
        while True:
            value = self.plain(value)
            node = self.node(value, "Add", "Mul", "Div")
            if node is None or len(node.inputs) != 2:
                return value, scale, shift
            first, second = node.inputs
            known, rest = self.number(second), first
            if known is None and node.op_type != "Div":
                known, rest = self.number(first), second
            if known is None or rest is None or not np.isfinite(known):
                return value, scale, shift
            if node.op_type == "Add":
                shift += scale * known
            elif known == 0:
                return value, scale, shift
            else:
                scale = scale * known if node.op_type == "Mul" else scale / known
            value = rest


def _with_bias(found: Affine, bias: Array) -> Affine | None:
    """The same products with another known bias added: a number for each column, or one for all."""
    flat = bias.reshape(-1)
    if bias.ndim > 2 or (bias.ndim == 2 and bias.shape[0] != 1) or flat.size not in (1, found.width):
        return None
    return Affine(found.weights, found.bias + flat)


def _width(value: ir.Value) -> int | None:
    """How many features a source has."""
    shape = value.shape
    size = shape[len(shape) - 1] if shape is not None and len(shape) else None
    return size if isinstance(size, int) else None


def same_activations(activations: Sequence[Activation]) -> bool:
    """Whether several gates have one activation."""
    return all(item == activations[0] for item in activations)
