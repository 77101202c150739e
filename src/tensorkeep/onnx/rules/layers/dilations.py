"""Convolutions between SpaceToBatchND and BatchToSpaceND, as TensorFlow writes those with dilations.

    SpaceToBatchND, ExpandDims, Conv2D, Squeeze, BatchToSpaceND        Conv with dilations

Each place of a block is an image of its own for a while, so that neighbours are as far from each other as a block is
large: a convolution of the whole images with so much dilation. What was put around the images so that blocks fit is
cut off again, often as much as is only known when the model runs; the difference of both is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.layers.convolutions import convolution, depthwise
from tensorkeep.onnx.terms import Term
from tensorkeep.ops.nn.windows import Sliding
from tensorkeep.proto.tensors import array_of_tensor

Form: TypeAlias = tuple[tuple[str, int] | None, int]
"""A number as a graph computes it: an element of a tensor, if one is in it, and what is added to it."""

_STEPS = frozenset(("Squeeze", "Conv2D", "DepthwiseConv2dNative", "Conv3D", "ExpandDims", "SpaceToBatchND"))


def dilated_convolution(to: OnnxGraph, input: Term, blocks: Sequence[int], crops: Term) -> Term | None:
    """What BatchToSpaceND gives of a convolution between it and a SpaceToBatchND; None if that is not what it is."""
    steps = _steps_before(to, input)
    conv = next((op for op, _ in steps if op.type.startswith(("Conv", "Depthwise"))), None)
    if to.operation is None or conv is None or not steps or steps[-1][0].type != "SpaceToBatchND":
        return None
    first, (images, earlier, paddings) = steps[-1]
    filters = next(terms[1] for op, terms in steps if op is conv)
    if not _is_plain(conv) or earlier.array is None or list(earlier.array.reshape(-1)) != list(blocks):
        return None
    added = _pads(first.inputs[2], paddings, to.operation.inputs[2], crops, len(blocks))
    rank = images.rank
    if added is None or min(min(pair) for pair in added) < 0 or filters.array is None or rank != len(blocks) + 2:
        return None
    if len(steps) == 4:
        if not _widens(steps, rank) or filters.array.shape[0] != 1:
            return None
        filters = to.squeeze(filters, [0])
    elif len(steps) != 2:
        return None
    around = [0, 0, *(amount for pair in added for amount in pair), 0, 0]
    sliding = Sliding((1,) * rank, b"EXPLICIT", tuple(around), dilations=(1, *blocks, 1))
    return (depthwise if conv.type.startswith("Depthwise") else convolution)(to, images, filters, sliding)


def _steps_before(to: OnnxGraph, input: Term) -> list[tuple[Operation, tuple[Term, ...]]]:
    """The operations that made a value, from the last to the SpaceToBatchND, with what each was given."""
    found: list[tuple[Operation, tuple[Term, ...]]] = []
    if to.operation is None:
        return found
    op, term = to.operation.inputs[0].op, input
    while op.type in _STEPS and len(found) < 4 and term.value is not None:
        made_by = term.value.meta.get("made_by")
        if made_by is None or made_by[0] != op.type:
            break
        found.append((op, made_by[1]))
        if op.type == "SpaceToBatchND":
            break
        op, term = op.inputs[0].op, made_by[1][0]
    return found


def _is_plain(conv: Operation) -> bool:
    """Whether a convolution visits every place of images with their channels last, and pads nothing."""
    strides, dilations = conv.attr("strides"), conv.attr("dilations")
    is_last = conv.attr("data_format") in (b"NHWC", b"NDHWC")
    return is_last and conv.attr("padding") == b"VALID" and set(strides) == {1} and set(dilations) <= {1}


def _widens(steps: Sequence[tuple[Operation, tuple[Term, ...]]], rank: int) -> bool:
    """Whether an axis is added before the convolution that is dropped behind it: the one after the batch."""
    (squeeze, _), _, (expand, given), _ = steps
    if (squeeze.type, expand.type) != ("Squeeze", "ExpandDims") or given[1].array is None:
        return False
    dropped = [axis % (rank + 1) for axis in squeeze.attr("squeeze_dims")]
    return dropped == [1] and int(given[1].array.reshape(-1)[0]) % (rank + 1) == 1


def _pads(padded: Tensor, paddings: Term, cropped: Tensor, crops: Term, count: int) -> list[list[int]] | None:
    """For each axis, how much more is put around than is cut off again, if that is the same for all images."""
    forms = [
        [(None, int(number)) for number in term.array.reshape(-1)] if term.array is not None else _forms(tensor)
        for tensor, term in ((padded, paddings), (cropped, crops))
    ]
    more, less = forms
    if more is None or less is None or not len(more) == len(less) == 2 * count:
        return None
    if any(one[0] != other[0] for one, other in zip(more, less, strict=True)):
        return None
    numbers = [one[1] - other[1] for one, other in zip(more, less, strict=True)]
    return [numbers[2 * axis : 2 * axis + 2] for axis in range(count)]


def _forms(tensor: Tensor, depth: int = 12) -> list[Form] | None:
    """The elements of a tensor as far as a graph tells what is added to what."""
    shape = tensor.static_shape.dims
    if shape is None or None in shape or depth == 0:
        return None
    count = int(np.prod([size for size in shape if size is not None], dtype=np.int64))
    own: list[Form] = [((tensor.name, at), 0) for at in range(count)]
    op = tensor.op
    if op.type == "Const":
        return [(None, int(number)) for number in array_of_tensor(op.attr("value"), op.name).reshape(-1)]
    if op.type == "Identity":
        return _forms(op.inputs[0], depth - 1)
    if op.type == "Pack" and (op.attr("axis") == 0 or count == len(op.inputs) == 1):
        parts = [_forms(item, depth - 1) for item in op.inputs]
        return None if None in parts else [form for part in parts if part is not None for form in part]
    if op.type == "StridedSlice":
        places = _places(op)
        whole = _forms(op.inputs[0], depth - 1)
        return own if places is None or whole is None else [whole[int(at)] for at in places.reshape(-1)]
    if op.type in ("Add", "AddV2"):
        return _sums([_forms(item, depth - 1) for item in op.inputs], count) or own
    return own


def _sums(sides: Sequence[list[Form] | None], count: int) -> list[Form] | None:
    """The sums of both sides, if at most one of their terms is not known."""
    one, other = sides
    if one is None or other is None or not {len(one), len(other)} <= {1, count}:
        return None
    pairs = [(one[at % len(one)], other[at % len(other)]) for at in range(count)]
    if any(first[0] is not None and second[0] is not None for first, second in pairs):
        return None
    return [(first[0] or second[0], first[1] + second[1]) for first, second in pairs]


def _places(op: Operation) -> Array | None:
    """Which elements of its first input a StridedSlice of constants takes."""
    shape = op.inputs[0].static_shape.dims
    bounds = [item.op for item in op.inputs[1:]]
    if shape is None or None in shape or any(item.type != "Const" for item in bounds):
        return None
    masks = [op.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    if masks[2] or masks[3]:
        return None
    sizes = [size for size in shape if size is not None]
    whole = np.arange(int(np.prod(sizes, dtype=np.int64))).reshape(sizes)
    index: list[int | slice] = []
    begins, ends, strides = (array_of_tensor(item.attr("value"), item.name).reshape(-1) for item in bounds)
    for axis, (begin, end, stride) in enumerate(zip(begins, ends, strides, strict=True)):
        open_begin, open_end, _, _, shrinks = (bool(mask >> axis & 1) for mask in masks)
        index.append(
            int(begin) if shrinks
            else slice(None if open_begin else int(begin), None if open_end else int(end), int(stride))
        )  # fmt: skip
    try:
        return np.asarray(whole[tuple(index)])
    except IndexError:
        return None
