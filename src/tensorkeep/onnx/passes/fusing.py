"""Neighbours that fit made one: constants into weights, zeros around images into windows, moments into their operator.

    Conv, Mul by a constant, Add of a constant          Conv with other weights and a bias
    MatMul, Add of a constant                           Gemm
    Pad with zeros, Conv                                Conv that pads
    Max with 0, Min with 6                              Clip
    ReduceMean, Reshape to the axes there were          ReduceMean that keeps its axes
    Reshape, Reshape                                    Reshape

Numbers stay what they were, but for rounding. What ONNX Runtime fuses itself whenever it loads a model (activations
into convolutions, x * sigmoid(x), GELU) is left to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    float_attribute,
    graphs_of,
    input_at,
    int_attribute,
    ints_attribute,
    ints_of,
    is_op,
    only_user,
    rank_of,
    size_of,
)

_WIDE: Final = {np.dtype(np.float32), np.dtype(np.float64)}
_NEVER_NEGATIVE: Final = frozenset(("Relu", "Sigmoid", "Abs", "Softplus", "Softmax", "Exp", "HardSigmoid", "Sqrt"))
_KEEPING_SIGNS: Final = frozenset(
    ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "MaxPool", "AveragePool", "Identity")
)
_DEEPEST: Final = 6  # nodes that are looked at to find out a sign
_MOST_ROUNDS: Final = 8


def fuse_neighbours(model: ir.Model) -> None:
    """Makes neighbours one wherever they fit, until nothing fits any more."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):  # before what it begins with goes into a bias
            if is_op(node, "Mul", "Div") and node.graph is not None:
                _hard_sigmoid(editor, node)
        for _ in range(_MOST_ROUNDS):
            if not sum([_fuse_node(editor, node) for node in list(graph)]):
                break
        for node in list(graph):
            _as_batch_normalisation(editor, node)


def _fuse_node(editor: Editor, node: ir.Node) -> bool:
    if node.graph is None or node.domain:
        return False
    return any(fuse(editor, node) for fuse in _FUSE.get(node.op_type, ()) if node.graph is not None)


def _replace_node(editor: Editor, node: ir.Node, by: ir.Value) -> bool:
    """Puts a value in the place of a node's output and takes the node out. Always True, for whoever asks whether
    something changed.
    """
    editor.take_place(node.outputs[0], by)
    editor.drop_unused([node])
    return True


# ------------------------------------------------------------------------------- constants into weights and biases


def _changes_nothing(editor: Editor, node: ir.Node) -> bool:
    """Takes out a product with ones, or a sum with zeros, that does not make its input larger."""
    found = _with_constant(node)
    if found is None:
        return False
    value, array, is_second = found
    neutral = 1 if node.op_type in ("Mul", "Div") else 0
    if not np.all(array == neutral) or (node.op_type in ("Sub", "Div") and not is_second):
        return False
    rank = rank_of(value)
    if rank is None or array.ndim > rank:
        return False
    sizes = [size_of(value, axis) for axis in range(rank - array.ndim, rank)]
    if any(size not in (1, had) for size, had in zip(array.shape, sizes, strict=True)):
        return False
    return _replace_node(editor, node, value)


def _with_constant(node: ir.Node) -> tuple[ir.Value, Array, bool] | None:
    """Of a node with two inputs one of which is known: the other, the known one, and whether that comes second."""
    first, second = node.inputs[0], node.inputs[1]
    for value, known, is_second in ((first, second, True), (second, first, False)):
        array = constant_of(known)
        if value is not None and array is not None and array.dtype in _WIDE and constant_of(value) is None:
            return value, array, is_second
    return None


def _by_channel(array: Array, rank: int, axis: int, count: int) -> Array | None:
    """A constant as one number for each channel, if it is the same along all other axes."""
    if array.ndim > rank:
        return None
    whole = array.reshape((1,) * (rank - array.ndim) + array.shape)
    if any(size != 1 for at, size in enumerate(whole.shape) if at != axis) or whole.shape[axis] not in (1, count):
        return None
    return np.broadcast_to(whole.reshape(-1), (count,)).astype(np.float64)


def _affine(node: ir.Node) -> tuple[ir.Value, Array | None, Array | None] | None:
    """What a node multiplies its input with, and what it adds, if both are known."""
    found = _with_constant(node)
    if found is None:
        return None
    value, array, is_second = found
    wide = array.astype(np.float64)
    if node.op_type == "Mul":
        return value, wide, None
    if node.op_type == "Add":
        return value, None, wide
    if node.op_type == "Sub":
        return (value, None, -wide) if is_second else (value, np.array(-1.0), wide)
    if node.op_type == "Div" and is_second and np.all(wide):
        return value, 1 / wide, None
    return None


def _into_weights(editor: Editor, node: ir.Node) -> bool:
    """Puts a Mul, Div, Add or Sub with a constant into the weights of the convolution or matrix product before it."""
    found = _affine(node)
    if found is None:
        return False
    value, factor, shift = found
    producer = value.producer()
    if producer is None or only_user(value) is not node or producer.graph is not node.graph:
        return False
    if is_op(producer, "Conv", "ConvTranspose"):
        return _into_convolution(editor, node, producer, factor, shift)
    if is_op(producer, "MatMul", "Gemm"):
        return _into_product(editor, node, producer, factor, shift)
    if is_op(producer, "Add") and factor is not None and shift is None:
        return _before_sum(editor, node, producer, factor)
    return False


def _before_sum(editor: Editor, node: ir.Node, add: ir.Node, factor: Array) -> bool:
    """A factor after the sum of a product with a constant, put before it: (a @ b + c) * d as a @ (b * d) + c * d."""
    found = _with_constant(add)
    product = None if found is None else found[0].producer()
    if found is None or product is None or not is_op(product, "MatMul") or only_user(found[0]) is not add:
        return False
    value, array, is_second = found
    weights, rank = constant_of(product.inputs[1]), rank_of(value)
    if weights is None or weights.ndim != 2 or weights.dtype not in _WIDE or rank is None or rank < 2:
        return False
    factors = _by_channel(factor, rank, rank - 1, weights.shape[1])
    if factors is None or array.ndim > rank or product.inputs[1] is None or add.inputs[1] is None:
        return False
    scaled = (weights * factors).astype(weights.dtype)
    editor.replace_constant(product, 1, scaled)
    moved = (array.astype(np.float64) * factors).astype(array.dtype)
    add.replace_input_with(int(is_second), editor.constant(moved, f"{add.outputs[0].name}/bias"))
    return _replace_node(editor, node, add.outputs[0])


def _into_convolution(
    editor: Editor, node: ir.Node, conv: ir.Node, factor: Array | None, shift: Array | None
) -> bool:  # fmt: skip
    weights, bias = constant_of(conv.inputs[1]), input_at(conv, 2)
    known_bias = constant_of(bias)
    if weights is None or weights.dtype not in _WIDE or (bias is not None and known_bias is None):
        return False
    groups = int_attribute(conv, "group", 1)
    count = weights.shape[0] if conv.op_type == "Conv" else weights.shape[1] * groups
    factors = None if factor is None else _by_channel(factor, weights.ndim, 1, count)
    shifts = None if shift is None else _by_channel(shift, weights.ndim, 1, count)
    if (factor is not None and factors is None) or (shift is not None and shifts is None):
        return False
    total = np.zeros(count) if known_bias is None else known_bias.astype(np.float64)
    if factors is not None:
        wide = weights.astype(np.float64)
        if conv.op_type == "Conv":
            wide *= factors.reshape(-1, *(1,) * (weights.ndim - 1))
        else:
            by_group = wide.reshape(groups, -1, *weights.shape[1:])
            by_group *= factors.reshape(groups, 1, weights.shape[1], *(1,) * (weights.ndim - 2))
        editor.replace_constant(conv, 1, wide.astype(weights.dtype))
        total = total * factors
    if shifts is not None:
        total = total + shifts
    if shifts is not None or known_bias is not None:
        _set_bias(editor, conv, total.astype(weights.dtype))
    return _replace_node(editor, node, conv.outputs[0])


def _set_bias(editor: Editor, conv: ir.Node, bias: Array) -> None:
    if len(conv.inputs) < 3:
        conv.resize_inputs(3)
    conv.replace_input_with(2, editor.constant(bias, f"{conv.outputs[0].name}/bias"))


def _into_product(
    editor: Editor, node: ir.Node, product: ir.Node, factor: Array | None, shift: Array | None
) -> bool:  # fmt: skip
    weights = constant_of(product.inputs[1])
    if weights is None or weights.dtype not in _WIDE or weights.ndim != 2:
        return False
    is_gemm = product.op_type == "Gemm"
    if is_gemm and (int_attribute(product, "transB", 0) or float_attribute(product, "alpha", 1) != 1):
        return False
    if is_gemm and (float_attribute(product, "beta", 1) != 1 or constant_of(input_at(product, 2)) is None):
        return False
    ranks = [rank_of(value) for value in (node.outputs[0], product.outputs[0], product.inputs[0]) if value is not None]
    rank = 2 if is_gemm else next((found for found in ranks if found is not None), None)
    if rank is None or rank < 2:
        return False
    count = weights.shape[1]
    factors = None if factor is None else _by_channel(factor, rank, rank - 1, count)
    shifts = None if shift is None else _by_channel(shift, rank, rank - 1, count)
    if (factor is not None and factors is None) or (shift is not None and shifts is None):
        return False
    if shifts is not None and not is_gemm and (rank != 2 or not _is_matrix(product.inputs[0])):
        return False
    if factors is not None:
        assert product.inputs[1] is not None
        scaled = (weights * factors).astype(weights.dtype)
        editor.replace_constant(product, 1, scaled)
    total = np.zeros(count)
    if is_gemm:
        old = constant_of(product.inputs[2])
        assert old is not None
        total = np.broadcast_to(old.reshape(-1), (count,)) * (1 if factors is None else factors)
    if shifts is not None:
        total = total + shifts
    if is_gemm:
        product.replace_input_with(2, editor.constant(total.astype(weights.dtype), f"{product.outputs[0].name}/bias"))
    elif shifts is not None:
        bias = editor.constant(total.astype(weights.dtype), f"{product.outputs[0].name}/bias")
        gemm = editor.node("Gemm", [*product.inputs[:2], bias], {}, product.outputs[0])
        assert product.graph is not None
        product.graph.insert_after(product, gemm)
        gemm.outputs[0].shape = product.outputs[0].shape
        _replace_node(editor, node, gemm.outputs[0])
        editor.drop_unused([product])
        return True
    return _replace_node(editor, node, product.outputs[0])


def _is_matrix(value: ir.Value | None) -> bool:
    return value is not None and rank_of(value) == 2


def _normalised_into_weights(editor: Editor, node: ir.Node) -> bool:
    """Puts a BatchNormalization with constants into the weights of the convolution before it."""
    vectors = [constant_of(value) for value in node.inputs[1:5]]
    producer = None if node.inputs[0] is None else node.inputs[0].producer()
    if len(node.outputs) != 1 or producer is None or not is_op(producer, "Conv", "ConvTranspose"):
        return False
    scale, offset, mean, variance = (None if item is None else item.astype(np.float64) for item in vectors)
    if scale is None or offset is None or mean is None or variance is None:
        return False
    if only_user(producer.outputs[0]) is not node or producer.inputs[1] is None:
        return False
    weights = constant_of(producer.inputs[1])
    if weights is None:
        return False
    own = (-1, *(1,) * (weights.ndim - 2))
    factor = scale / np.sqrt(variance + float_attribute(node, "epsilon", 1e-5))
    shift = offset - mean * factor
    return _into_convolution(editor, node, producer, factor.reshape(own), shift.reshape(own))


def _as_batch_normalisation(editor: Editor, node: ir.Node) -> None:
    """Makes one BatchNormalization of a product and a sum by channel that no weights before them could take."""
    if node.graph is None or not is_op(node, "Add"):
        return
    added = _with_constant(node)
    product = None if added is None else added[0].producer()
    if added is None or product is None or not is_op(product, "Mul") or only_user(added[0]) is not node:
        return
    times = _with_constant(product)
    if times is None or times[1].dtype != np.float32 or product.graph is not node.graph:
        return
    rank = rank_of(times[0])
    count = max(times[1].size, added[1].size)
    if rank is None or rank < 3 or size_of(times[0], 1) not in (None, count) or count == 1:
        return
    if size_of(times[0], 1) is None and (times[1].size != count or added[1].size != count):
        return
    scale, offset = (_by_channel(array, rank, 1, count) for array in (times[1], added[1]))
    if scale is None or offset is None:
        return
    names = ("scale", "offset", "mean", "variance")
    arrays = (scale, offset, np.zeros(count), np.ones(count))
    base = node.outputs[0].name
    vectors = [
        editor.constant(array.astype(np.float32), f"{base}/{name}") for name, array in zip(names, arrays, strict=True)
    ]
    made = editor.node("BatchNormalization", [times[0], *vectors], {"epsilon": 0.0}, node.outputs[0])
    node.graph.insert_after(node, made)
    made.outputs[0].shape = node.outputs[0].shape
    _replace_node(editor, node, made.outputs[0])


# ------------------------------------------------------------------------------------------------ padding, clipping


def _padding_into_windows(editor: Editor, node: ir.Node) -> bool:
    """Makes a Pad with zeros the padding of the convolution or pool behind it, where that gives the same."""
    value = node.inputs[0]
    pad = None if value is None else value.producer()
    if pad is None or not is_op(pad, "Pad") or len(node.outputs) != 1:
        return False
    mode, source, pads = pad.attributes.get("mode"), pad.inputs[0], ints_of(input_at(pad, 1))
    filled = input_at(pad, 2)
    with_zeros = filled is None or (constant_of(filled) is not None and not np.any(constant_of(filled)))
    if source is None or pads is None or input_at(pad, 3) is not None or not with_zeros or min(pads) < 0:
        return False
    own_mode = node.attributes.get("auto_pad")
    if mode is not None and mode.as_string() != "constant":
        return False
    if own_mode is not None and own_mode.as_string() not in ("NOTSET", "VALID"):
        return False
    rank = len(pads) // 2
    if pads[0] or pads[1] or pads[rank] or pads[rank + 1]:
        return False
    own = ints_attribute(node, "pads") or [0] * (2 * rank - 4)
    total = [a + b for a, b in zip(own, [*pads[2:rank], *pads[rank + 2 :]], strict=True)]
    if node.op_type != "Conv":
        kernel = ints_attribute(node, "kernel_shape") or []
        if any(after >= size for after, size in zip(total, kernel * 2, strict=True)) or any(own):
            return False
        if node.op_type == "MaxPool" and not _is_never_negative(source):
            return False
        if int_attribute(node, "ceil_mode", 0):
            return False
        if node.op_type == "AveragePool":
            node.attributes["count_include_pad"] = ir.AttrInt64("count_include_pad", 1)
    node.attributes.pop("auto_pad", None)
    node.attributes["pads"] = ir.AttrInt64s("pads", total)
    node.replace_input_with(0, source)
    editor.drop_unused([pad])
    return True


def _is_never_negative(value: ir.Value | None, depth: int = 0) -> bool:
    """Whether all elements of a value are 0 or more, by the nodes that make it."""
    producer = None if value is None else value.producer()
    if producer is None or depth > _DEEPEST:
        return False
    if is_op(producer, *_KEEPING_SIGNS):
        return _is_never_negative(producer.inputs[0], depth + 1)
    if is_op(producer, "Add", "Mul", "Concat", "Max"):
        return all(_is_never_negative(item, depth + 1) for item in producer.inputs)
    if is_op(producer, "Clip"):
        least = constant_of(input_at(producer, 1))
        return least is not None and bool(np.all(least >= 0))
    return is_op(producer, *_NEVER_NEGATIVE)


def _scalar(value: ir.Value | None) -> float | None:
    found = constant_of(value)
    return float(found.reshape(-1)[0]) if found is not None and found.size == 1 and found.dtype.kind == "f" else None


def _fuse_clip(editor: Editor, node: ir.Node) -> bool:
    """Makes one Clip of a Min with a constant of a Max with a constant, or of a Relu."""
    found = _with_constant(node) if len(node.inputs) == 2 else None
    producer = None if found is None else found[0].producer()
    if found is None or producer is None or only_user(found[0]) is not node or found[1].size != 1:
        return False
    if is_op(producer, "Relu"):
        source, least = producer.inputs[0], 0.0
    elif is_op(producer, "Max") and len(producer.inputs) == 2 and (inner := _with_constant(producer)) is not None:
        if inner[1].size != 1:
            return False
        source, least = inner[0], float(inner[1].reshape(-1)[0])
    else:
        return False
    most = float(found[1].reshape(-1)[0])
    if found[1].ndim > (rank_of(found[0]) or 0) or least > most or source is None:
        return False
    bounds = [
        editor.constant(np.array(item, found[1].dtype), f"{node.outputs[0].name}/bound") for item in (least, most)
    ]
    clip = editor.node("Clip", [source, *bounds], {}, node.outputs[0])
    assert node.graph is not None
    node.graph.insert_after(node, clip)
    clip.outputs[0].shape = node.outputs[0].shape
    return _replace_node(editor, node, clip.outputs[0])


def _hard_sigmoid(editor: Editor, node: ir.Node) -> bool:
    """(x + b) cut off at 0 and c, divided by c: x / c + b / c, cut off at 0 and 1."""
    divisor = _scalar(node.inputs[1])
    clip = None if node.inputs[0] is None else node.inputs[0].producer()
    if divisor is None and node.op_type == "Mul":
        divisor = _scalar(node.inputs[0])
        clip = None if node.inputs[1] is None else node.inputs[1].producer()
    if not divisor or clip is None or not is_op(clip, "Clip") or only_user(clip.outputs[0]) is not node:
        return False
    limit = divisor if node.op_type == "Div" else 1 / divisor
    add = None if clip.inputs[0] is None else clip.inputs[0].producer()
    least, most = _scalar(input_at(clip, 1)), _scalar(input_at(clip, 2))
    if least != 0 or most is None or abs(most - limit) > 1e-6 * limit or add is None or not is_op(add, "Add"):
        return False
    found = _with_constant(add)
    if found is None or found[1].size != 1 or found[1].dtype != np.float32 or only_user(add.outputs[0]) is not clip:
        return False
    if found[1].ndim > (rank_of(found[0]) or 0):
        return False
    shift = float(found[1].reshape(-1)[0])
    made = editor.node("HardSigmoid", [found[0]], {"alpha": 1 / limit, "beta": shift / limit}, node.outputs[0])
    assert node.graph is not None
    node.graph.insert_after(node, made)
    made.outputs[0].shape = node.outputs[0].shape
    return _replace_node(editor, node, made.outputs[0])


# ---------------------------------------------------------------------------------------------- shapes and types


def _reshaped_twice(editor: Editor, node: ir.Node) -> bool:
    """Lets a Reshape of a Reshape take the value before both."""
    value, sizes = node.inputs[0], ints_of(input_at(node, 1))
    if value is None or int_attribute(node, "allowzero", 0):
        return False
    if sizes is not None and _has_these_sizes(value, sizes):
        return _replace_node(editor, node, value)
    producer = value.producer()
    if producer is None or producer.graph is not node.graph or not is_op(producer, "Reshape", "Squeeze", "Unsqueeze"):
        return False
    source = producer.inputs[0]
    if source is None or sizes is None:
        return False
    if 0 in sizes:
        kept = _kept_in_place(producer)
        if any(size == 0 and at >= kept for at, size in enumerate(sizes)):
            return False
    node.replace_input_with(0, source)
    editor.drop_unused([producer])
    return True


def _kept_in_place(node: ir.Node) -> int:
    """How many axes at the front of a node's output are those of its input."""
    given = ints_of(input_at(node, 1))
    source = node.inputs[0]
    if given is None or source is None:
        return 0
    if node.op_type == "Reshape":
        count = 0
        while count < len(given) and (
            given[count] == 0
            or ((rank_of(source) or 0) > count and given[count] > 0 and given[count] == size_of(source, count))
        ):
            count += 1
        return count
    rank = rank_of(source)
    if rank is None:
        return 0
    rank += len(given) if node.op_type == "Unsqueeze" else 0
    return min((axis % rank for axis in given), default=0)


def _has_these_sizes(value: ir.Value, sizes: list[int]) -> bool:
    """Whether a value has such axes already: of one that is -1 it is known from the others."""
    if rank_of(value) != len(sizes) or sizes.count(-1) > 1:
        return False
    return all(size in (0, -1) or size == size_of(value, axis) for axis, size in enumerate(sizes))


def _keeps_axes(editor: Editor, node: ir.Node) -> bool:
    """Lets a reduction keep its axes, where a Reshape or Unsqueeze behind it only puts them back."""
    value, given = node.inputs[0], ints_of(input_at(node, 1))
    reduction = None if value is None else value.producer()
    if value is None or given is None or reduction is None or not reduction.op_type.startswith("Reduce"):
        return False
    source = reduction.inputs[0]
    if source is None or only_user(value) is not node or int_attribute(reduction, "keepdims", 1):
        return False
    axes = ints_of(input_at(reduction, 1)) if len(reduction.inputs) > 1 else ints_attribute(reduction, "axes")
    rank = rank_of(source)
    if rank is None and (left := rank_of(value)) is not None and axes:
        rank = left + len(axes)
    if not axes or rank is None:
        return False
    gone = {axis % rank for axis in axes}
    if node.op_type == "Unsqueeze":
        if {axis % rank for axis in given} != gone:
            return False
    else:
        kept = [axis for axis in range(rank) if axis not in gone]
        if len(given) != rank or given.count(-1) > 1 or any(given[axis] != 1 for axis in gone):
            return False
        for at, axis in enumerate(kept):
            size = size_of(value, at) if value.shape is not None else size_of(source, axis) if source.shape else None
            if not (
                given[axis] == -1 or (given[axis] == 0 and at == axis) or (size is not None and given[axis] == size)
            ):
                return False
    reduction.attributes["keepdims"] = ir.AttrInt64("keepdims", 1)
    shape = node.outputs[0].shape
    _replace_node(editor, node, value)
    value.shape = shape
    return True


_INTEGERS: Final = ("INT8", "INT16", "INT32", "INT64")
_FLOATS: Final = ("FLOAT16", "FLOAT", "DOUBLE")


def _cast_twice(editor: Editor, node: ir.Node) -> bool:
    """Takes out a Cast to the type that a value has already, and the first of two Casts if it loses nothing."""
    value = node.inputs[0]
    if value is None:
        return False
    wanted = ir.DataType(int_attribute(node, "to", 0))
    if value.dtype == wanted:
        return _replace_node(editor, node, value)
    producer = value.producer()
    if producer is None or not is_op(producer, "Cast") or producer.inputs[0] is None:
        return False
    first, middle = producer.inputs[0].dtype, value.dtype
    if first is None or middle is None or producer.graph is not node.graph:
        return False
    keeps = any(
        first.name in kind and middle.name in kind and kind.index(middle.name) >= kind.index(first.name)
        for kind in (_INTEGERS, _FLOATS)
    )
    if not keeps:
        return False
    if first == wanted:
        return _replace_node(editor, node, producer.inputs[0])
    node.replace_input_with(0, producer.inputs[0])
    editor.drop_unused([producer])
    return True


def _squeezed_back(editor: Editor, node: ir.Node) -> bool:
    """Takes out an Unsqueeze and a Squeeze of the same axes, one after the other."""
    value = node.inputs[0]
    producer = None if value is None else value.producer()
    other = "Squeeze" if node.op_type == "Unsqueeze" else "Unsqueeze"
    if producer is None or not is_op(producer, other) or producer.inputs[0] is None:
        return False
    axes, before = ints_of(input_at(node, 1)), ints_of(input_at(producer, 1))
    if axes is None or before is None or sorted(axes) != sorted(before) or producer.graph is not node.graph:
        return False
    return _replace_node(editor, node, producer.inputs[0])


_FUSE: Final[dict[str, tuple[Callable[[Editor, ir.Node], bool], ...]]] = {
    "Add": (_changes_nothing, _into_weights),
    "Sub": (
        _changes_nothing,
        _into_weights,
    ),
    "Mul": (_changes_nothing, _into_weights, _hard_sigmoid),
    "Div": (_changes_nothing, _into_weights, _hard_sigmoid),
    "BatchNormalization": (_normalised_into_weights,),
    "Conv": (_padding_into_windows,),
    "MaxPool": (_padding_into_windows,),
    "AveragePool": (_padding_into_windows,),
    "Min": (_fuse_clip,),
    "Reshape": (_keeps_axes, _reshaped_twice),
    "Squeeze": (_squeezed_back,),
    "Unsqueeze": (_keeps_axes, _squeezed_back),
    "Cast": (_cast_twice,),
}
