"""Convolutions of joined channels as sums of convolutions, for ONNX Runtime's kernels that take channels in blocks.

    Concat, Conv, Relu                          Conv of each, Add, Relu

ONNX Runtime adds the sum and the activation to the second convolution as it computes it. Joined, what is in blocks is
put in rows again where the other is not, both are copied, and all of it is put in blocks anew; and of channels that do
not fill blocks together, the whole convolution is computed by copying its windows.

A graphics processor has no blocks and gains nothing, so this is for parts that run on the processor, and not for files.
"""

from __future__ import annotations

import math
from typing import Final

import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    int_attribute,
    is_op,
    only_user,
    size_of,
)
from tensorkeep.onnx.passes.layout import ELEMENT_BY_ELEMENT, UNARY

_CHANNELS: Final = 1  # the axis of an image, and of filters
_BLOCK: Final = 16  # channels that the kernels compute together, with the widest vectors
_FEW: Final = 8  # fewer channels than a block of any processor has: a convolution takes them as they lie
_FEWEST_TAPS: Final = 9  # with fewer, writing the sum and reading it again takes longer than what is saved
_NARROWER: Final = 2  # the output has at most such a part of the channels that are joined


def convolve_apart(model: ir.Model) -> None:
    """Takes apart convolutions of two images that are joined, where that is faster on a processor."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            weights = constant_of(input_at(node, 1)) if is_op(node, "Conv") else None
            if weights is None or weights.ndim != 4 or int_attribute(node, "group", 1) != 1:
                continue
            images = _joined(node)
            if images is not None and _is_faster(images, weights):
                _take_apart(editor, node, images, weights)


def _joined(node: ir.Node) -> list[ir.Value] | None:
    """The two images whose channels a convolution takes, if nothing else takes them joined."""
    source = node.inputs[0]
    joint = None if source is None else source.producer()
    if joint is None or source is None or not is_op(joint, "Concat") or only_user(source) is not node:
        return None
    images = [value for value in joint.inputs if value is not None]
    return images if int_attribute(joint, "axis", 0) == _CHANNELS and len(images) == 2 else None


def _is_faster(images: list[ir.Value], weights: Array) -> bool:
    """Whether the convolutions of the images by themselves take less time, with their sum, than that of both."""
    sizes = [size_of(image, _CHANNELS) for image in images]
    outputs, inputs, *taps = weights.shape
    if math.prod(taps) < _FEWEST_TAPS or any(size is None or size <= 0 for size in sizes):
        return False
    counts = [size for size in sizes if size is not None]
    if sum(counts) != inputs:
        return False
    whole = [count % _BLOCK == 0 for count in counts]
    if all(whole):
        return outputs * _NARROWER <= inputs and any(map(_is_in_rows, images))
    return any(whole) and all(is_whole or count < _FEW for is_whole, count in zip(whole, counts, strict=True))


def _is_in_rows(image: ir.Value) -> bool:
    """Whether an image comes from an operator that does not give its channels in blocks."""
    node = image.producer()
    while (
        node is not None and not node.domain and node.op_type in (UNARY | ELEMENT_BY_ELEMENT | {"BatchNormalization"})
    ):
        source = next((value for value in node.inputs if value is not None and constant_of(value) is None), None)
        node = None if source is None else source.producer()
    return is_op(node, "ConvTranspose")


def _take_apart(editor: Editor, node: ir.Node, images: list[ir.Value], weights: Array) -> None:
    old, filters, graph = node.outputs[0], input_at(node, 1), node.graph
    assert filters is not None
    assert graph is not None
    results: list[ir.Value] = []
    at = 0
    for image in images:
        count = size_of(image, _CHANNELS)
        assert count is not None
        some = editor.constant_like(weights[:, at : at + count], filters)
        at += count
        bias = [] if results else node.inputs[2:]
        made = editor.node("Conv", [image, some, *bias], {}, old)
        made.attributes.update({attr.name: attr for attr in node.attributes.values()})
        graph.insert_before(node, made)
        made.outputs[0].shape = old.shape
        results.append(made.outputs[0])
    total = editor.node("Add", results, {}, old)
    graph.insert_before(node, total)
    total.outputs[0].shape = old.shape
    editor.take_place(old, total.outputs[0])
    editor.drop_unused([node])
    if filters.name is not None and filters.is_initializer() and not filters.uses():
        del editor.model.graph.initializers[filters.name]
        filters.const_value = None
