"""Normalisation by the moments of a layer, as frameworks write it out, made ONNX's LayerNormalization.

mean = ReduceMean(x)                             over the last axes
variance = ReduceMean((x - mean) ** 2)
inverse = 1 / sqrt(variance + epsilon) * scale
x * inverse + (offset - mean * inverse)          as Keras and `tf.nn.batch_normalization` have it
(x - mean) * inverse + offset                    as others do
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, sqrt
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    int_attribute,
    ints_attribute,
    ints_of,
    is_op,
    rank_of,
)
from tensorkeep.onnx.terms import Term

_LAYER_NORMALISATION: Final = 17  # the first opset that has it
_GELU: Final = 20


@dataclass(frozen=True)
class _Moments:
    """What a reciprocal deviation, 1 / sqrt(variance + epsilon), was computed from."""

    x: ir.Value
    mean: ir.Value
    axes: tuple[int, ...]
    epsilon: float
    scale: Array | None


def recognise_formulas(model: ir.Model) -> None:
    """Makes one operator of each formula that a graph has written out. Before axes are put into another order."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if node.graph is not None and is_op(node, "Add"):
                _layer_normalisation(editor, node)
            elif node.graph is not None and is_op(node, "Mul"):
                _gelu(editor, node)
        for node in reversed(list(graph)):  # where nothing is added: the outermost product first
            if node.graph is not None and is_op(node, "Mul", "Div"):
                _plain_normalisation(editor, node)


def _plain_normalisation(editor: Editor, node: ir.Node) -> bool:
    """Makes one operator of all that ends in this product, if it normalises a layer and adds nothing."""
    if editor.opset < _LAYER_NORMALISATION:
        return False
    moments = _divided_moments(node.outputs[0]) or _scaled_moments(node)
    return moments is not None and _put_normalisation(editor, node, moments, None)


def _scaled_moments(node: ir.Node) -> _Moments | None:
    """The moments of (x - mean) / deviation * scale, where this node is the last product and the scale is known."""
    for product, scale_value in _pairs(node if is_op(node, "Mul") else None):
        scale, moments = constant_of(scale_value), _divided_moments(product)
        if scale is not None and moments is not None and moments.scale is None:
            return _Moments(moments.x, moments.mean, moments.axes, moments.epsilon, scale)
    return None


def _layer_normalisation(editor: Editor, node: ir.Node) -> bool:
    """Makes one operator of all that ends in this sum, if it normalises a layer."""
    if editor.opset < _LAYER_NORMALISATION or node.graph is None:
        return False
    for left, right in _pairs(node):
        found = _keras(left, right) or _centered_moments(left, right)
        if found is not None:
            return _put_normalisation(editor, node, *found)
    return False


def _pairs(node: ir.Node | None) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The two inputs of a node, in both orders."""
    if node is not None and len(node.inputs) == 2 and node.inputs[0] is not None and node.inputs[1] is not None:
        yield node.inputs[0], node.inputs[1]
        yield node.inputs[1], node.inputs[0]


def _maker(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    producer = None if value is None else value.producer()
    return producer if is_op(producer, *op_types) else None


def _keras(left: ir.Value, right: ir.Value) -> tuple[_Moments, Array | None] | None:
    """The moments and the offset, if the sum of the two values is x * inverse + (offset - mean * inverse)."""
    for x, inverse in _pairs(_maker(left, "Mul")):
        moments = _inverse_deviation(inverse)
        if moments is None or moments.x is not x:
            continue
        if _is_mean_times(right, moments.mean, inverse, negated=True):
            return moments, None
        if (sub := _maker(right, "Sub")) is not None and _is_mean_times(sub.inputs[1], moments.mean, inverse):
            offset = constant_of(sub.inputs[0])
            return None if offset is None else (moments, offset)
        for product, offset_value in _pairs(_maker(right, "Add")):
            offset = constant_of(offset_value)
            if offset is not None and _is_mean_times(product, moments.mean, inverse, negated=True):
                return moments, offset
    return None


def _is_mean_times(value: ir.Value | None, mean: ir.Value, inverse: ir.Value, negated: bool = False) -> bool:
    """Whether a value is mean * inverse or, with `negated`, -mean * inverse."""
    if negated and (neg := _maker(value, "Neg")) is not None:
        return _is_mean_times(neg.inputs[0], mean, inverse)
    for first, second in _pairs(_maker(value, "Mul")):
        if second is not inverse:
            continue
        if not negated:
            return first is mean
        neg = _maker(first, "Neg")
        return neg is not None and neg.inputs[0] is mean
    return False


def _centered_moments(left: ir.Value, right: ir.Value) -> tuple[_Moments, Array | None] | None:
    """The moments and the offset, if the sum of the two values is (x - mean) * inverse + offset, or is divided by the
    deviation instead, with a scale before or after that.
    """
    offset = constant_of(right)
    if offset is None:
        return None
    for product, scale_value in [*_pairs(_maker(left, "Mul")), (left, None)]:
        scale = None if scale_value is None else constant_of(scale_value)
        if scale_value is not None and scale is None:
            continue
        moments = _divided_moments(product)
        if moments is not None and (scale is None or moments.scale is None):
            return _Moments(moments.x, moments.mean, moments.axes, moments.epsilon,
                            moments.scale if scale is None else scale), offset  # fmt: skip
    return None


def _divided_moments(value: ir.Value | None) -> _Moments | None:
    for centered, inverse in _pairs(_maker(value, "Mul")):
        moments = _inverse_deviation(inverse)
        if moments is not None and _is_difference(centered, moments.x, moments.mean):
            return moments
    div = _maker(value, "Div")
    if div is not None and div.inputs[1] is not None:
        moments = _deviation(_maker(div.inputs[1], "Sqrt"))
        if moments is not None and _is_difference(div.inputs[0], moments.x, moments.mean):
            return moments
    return None


def _is_difference(value: ir.Value | None, x: ir.Value, mean: ir.Value) -> bool:
    sub = _maker(value, "Sub")
    return sub is not None and sub.inputs[0] is x and sub.inputs[1] is mean


def _inverse_deviation(value: ir.Value) -> _Moments | None:
    """One over the deviation, times a scale that is known."""
    found = _plain_inverse(value)
    if found is not None:
        return found
    for inner, scale_value in _pairs(_maker(value, "Mul")):
        scale = constant_of(scale_value)
        found = None if scale is None else _plain_inverse(inner)
        if found is not None:
            return _Moments(found.x, found.mean, found.axes, found.epsilon, scale)
    return None


def _plain_inverse(value: ir.Value) -> _Moments | None:
    if (one_over := _maker(value, "Reciprocal")) is not None:
        return _deviation(_maker(one_over.inputs[0], "Sqrt"))
    if (div := _maker(value, "Div")) is not None:
        one = constant_of(div.inputs[0])
        return _deviation(_maker(div.inputs[1], "Sqrt")) if one is not None and np.all(one == 1) else None
    if (power := _maker(value, "Pow")) is not None:
        exponent = constant_of(power.inputs[1])
        return _variance(power.inputs[0]) if exponent is not None and np.all(exponent == -0.5) else None
    return None


def _deviation(sqrt: ir.Node | None) -> _Moments | None:
    return None if sqrt is None else _variance(sqrt.inputs[0])


def _variance(value: ir.Value | None) -> _Moments | None:
    """The moments of variance + epsilon, if a value is that."""
    for variance, epsilon_value in _pairs(_maker(value, "Add")):
        epsilon = constant_of(epsilon_value)
        mean_of = _maker(variance, "ReduceMean")
        if epsilon is None or epsilon.size != 1 or mean_of is None:
            continue
        x, mean = _squared_difference(mean_of.inputs[0])
        axes = _axes(mean_of)
        if x is None or mean is None or axes is None:
            return None
        first = _maker(mean, "ReduceMean")
        if first is None or first.inputs[0] is not x or _axes(first) != axes:
            return None
        return _Moments(x, mean, axes, float(epsilon.reshape(-1)[0]), None)
    return None


def _squared_difference(value: ir.Value | None) -> tuple[ir.Value | None, ir.Value | None]:
    """x and its mean, if a value is the square of their difference."""
    square = _maker(value, "Mul", "Pow")
    if square is None:
        return None, None
    if square.op_type == "Mul":
        if square.inputs[0] is not square.inputs[1]:
            return None, None
    else:
        exponent = constant_of(square.inputs[1])
        if exponent is None or not np.all(exponent == 2):
            return None, None
    sub = _maker(square.inputs[0], "Sub")
    if sub is None:
        return None, None
    for x, mean in ((sub.inputs[0], sub.inputs[1]), (sub.inputs[1], sub.inputs[0])):
        reduction = _maker(mean, "ReduceMean")
        if reduction is not None and reduction.inputs[0] is x:
            return x, mean
    return None, None


def _axes(node: ir.Node) -> tuple[int, ...] | None:
    """The axes that a mean is over, from the end, if it keeps them and they are the last ones."""
    if not int_attribute(node, "keepdims", 1) or node.inputs[0] is None:
        return None
    found = ints_of(input_at(node, 1)) if len(node.inputs) > 1 else ints_attribute(node, "axes")
    rank = rank_of(node.inputs[0])
    if not found or (rank is None and min(found) >= 0):
        return None
    axes = tuple(sorted(axis if axis < 0 else axis - (rank or 0) for axis in found))
    return axes if axes == tuple(range(-len(axes), 0)) else None


def _put_normalisation(editor: Editor, node: ir.Node, moments: _Moments, offset: Array | None) -> bool:
    if moments.x.shape is None or node.graph is None:
        return False
    sizes = [moments.x.shape[axis] for axis in moments.axes]
    shape = tuple(size for size in sizes if isinstance(size, int))
    if len(shape) != len(sizes) or moments.x.dtype not in (ir.DataType.FLOAT, ir.DataType.DOUBLE):
        return False
    vectors = []
    plain = np.dtype(np.float32 if moments.x.dtype == ir.DataType.FLOAT else np.float64)
    for array, name in ((moments.scale, "scale"), (offset, "offset")):
        if array is None:
            whole = np.ones(shape, plain) if name == "scale" else None
        else:
            more = max(0, array.ndim - len(shape))
            if not set(array.shape[:more]) <= {1} or 0 in array.shape or array.dtype != plain:
                return False
            small = array.reshape(array.shape[more:])
            try:
                whole = np.broadcast_to(small, shape)
            except ValueError:
                return False
        if whole is not None:
            vectors.append(editor.constant(np.ascontiguousarray(whole), f"{node.outputs[0].name}/{name}"))
    attrs = {"axis": -len(moments.axes), "epsilon": moments.epsilon}
    made = editor.node("LayerNormalization", [moments.x, *vectors], attrs, node.outputs[0])
    node.graph.insert_after(node, made)
    made.outputs[0].shape = node.outputs[0].shape
    editor.take_place(node.outputs[0], made.outputs[0])
    editor.drop_unused([node])
    return True


# ------------------------------------------------------------------------------------------------------------ GELU


def _gelu(editor: Editor, node: ir.Node) -> bool:
    """Makes one operator of half of x times what ends in an error function or a hyperbolic tangent."""
    for x, others in _halved_factors(node):
        for other in others:
            form = _gelu_form(other, x)
            if form is not None:
                return _made_gelu(editor, node, x, form)
    return False


def _halved_factors(node: ir.Node) -> Iterator[tuple[ir.Value, list[ir.Value]]]:
    """Of 0.5, x and a third factor, multiplied in any order: x, and what the third may be."""
    for left, right in _pairs(node):
        for x, half in _pairs(_maker(left, "Mul")):
            if _is_number(half, 0.5):
                yield x, [right]  # (0.5 * x) * third
            if _is_number(right, 0.5):
                yield x, [half]  # (x * third) * 0.5
        for third, half in _pairs(_maker(right, "Mul")):
            if _is_number(half, 0.5):
                yield left, [third]  # x * (0.5 * third)


def _gelu_form(value: ir.Value, x: ir.Value) -> str | None:
    """ "none" or "tanh", as Gelu calls its two forms, if a value is the factor that goes with half of x."""
    made_by = value.meta.get("made_by")
    if made_by is not None and made_by[0] == "Erfc":
        argument = made_by[1][0]
        return "none" if isinstance(argument, Term) and _is_share(argument.value, x, -sqrt(0.5)) else None
    for inner, one in _pairs(_maker(value, "Add")):
        if not _is_number(one, 1.0):
            continue
        if (erf := _maker(inner, "Erf")) is not None and _is_share(erf.inputs[0], x, sqrt(0.5)):
            return "none"
        if (tanh := _maker(inner, "Tanh")) is not None and _is_cubic(tanh.inputs[0], x):
            return "tanh"
    return None


def _is_number(value: ir.Value | None, number: float) -> bool:
    found = constant_of(value)
    if found is None or found.size != 1 or found.dtype.kind != "f":
        return False
    return abs(float(found.reshape(-1)[0]) - number) <= 1e-6 * abs(number)


def _is_share(value: ir.Value | None, x: ir.Value, factor: float) -> bool:
    """Whether a value is x times a number, or divided by its inverse."""
    for inner, known in _pairs(_maker(value, "Mul")):
        if _is_number(known, factor):
            return inner is x
        neg = _maker(inner, "Neg")
        if neg is not None and _is_number(known, -factor):
            return neg.inputs[0] is x
    if (div := _maker(value, "Div")) is not None:
        if _is_number(div.inputs[1], 1 / factor):
            return div.inputs[0] is x
        neg = _maker(div.inputs[0], "Neg")
        return neg is not None and neg.inputs[0] is x and _is_number(div.inputs[1], -1 / factor)
    return False


def _is_cubic(value: ir.Value | None, x: ir.Value) -> bool:
    """Whether a value is sqrt(2 / pi) * (x + 0.044715 * x ** 3)."""
    for total, known in _pairs(_maker(value, "Mul")):
        if not _is_number(known, sqrt(2 / pi)):
            continue
        for first, cube in _pairs(_maker(total, "Add")):
            if first is x and any(
                _is_number(factor, 0.044715) and _is_cube(power, x) for power, factor in _pairs(_maker(cube, "Mul"))
            ):
                return True
    return False


def _is_cube(value: ir.Value, x: ir.Value) -> bool:
    if (power := _maker(value, "Pow")) is not None:
        return power.inputs[0] is x and _is_number(power.inputs[1], 3.0)
    for square, single in _pairs(_maker(value, "Mul")):
        product = _maker(square, "Mul")
        if single is x and product is not None and product.inputs[0] is x and product.inputs[1] is x:
            return True
    return False


def _made_gelu(editor: Editor, node: ir.Node, x: ir.Value, form: str) -> bool:
    graph, output = node.graph, node.outputs[0]
    if graph is None or x.dtype != ir.DataType.FLOAT or (editor.opset < _GELU and form == "tanh"):
        return False
    if editor.opset >= _GELU:
        made = editor.node("Gelu", [x], {} if form == "none" else {"approximate": form}, output)
        graph.insert_after(node, made)
    else:
        numbers = {
            number: editor.constant(np.array(number, np.float32), f"{output.name}/number")
            for number in (sqrt(2), 1, 0.5)
        }
        share = editor.node("Div", [x, numbers[sqrt(2)]], {}, output)
        erf = editor.node("Erf", [share.outputs[0]], {}, output)
        more = editor.node("Add", [erf.outputs[0], numbers[1]], {}, output)
        double = editor.node("Mul", [x, more.outputs[0]], {}, output)
        made = editor.node("Mul", [double.outputs[0], numbers[0.5]], {}, output)
        graph.insert_after(node, [share, erf, more, double, made])
    made.outputs[0].shape = output.shape
    editor.take_place(output, made.outputs[0])
    editor.drop_unused([node])
    return True
