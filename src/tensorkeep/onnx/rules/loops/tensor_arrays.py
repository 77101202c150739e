"""Arrays of tensors of TensorFlow 1: the handle says what an array is, and the flow holds its elements.

What changes an array gives another flow, and what reads it takes the flow, so that a flow is a list as TensorFlow 2
has them. That an element is read or written once, which TensorFlow checks, is not checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensorkeep.dtypes import FLOAT32, RESOURCE, STRING, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.tensor_lists import (
    HeldList,
    Unset,
    as_rows,
    item_at,
    items_at,
    joined_elements,
    length,
    list_of_parts,
    told_list,
    with_item,
    with_rows,
)
from tensorkeep.onnx.terms import Term
from tensorkeep.shapes import Shape


@dataclass(frozen=True, eq=False)
class HeldArray:
    """What the handle of an array of tensors holds."""

    start: HeldList
    """The array before anything has been written to it."""
    is_dynamic: bool
    """Whether it grows where something is written beyond its end."""


def _array(to: OnnxGraph, handle: Term) -> HeldArray:
    if not isinstance(handle.held, HeldArray):
        to.refuse("its array of tensors is not known before the model runs")
    return handle.held


def _elements(to: OnnxGraph, handle: Term, flow: Term) -> HeldList:
    """The elements that a flow holds: of an array that has not been written to, those of the handle."""
    return flow.held if isinstance(flow.held, HeldList) else _array(to, handle).start


def _flow(held: HeldList) -> Term:
    return Term(FLOAT32, (), held=held)


def _made_array(size: Term, dtype: DType, element_shape: Shape, dynamic_size: bool) -> HeldArray:
    return HeldArray(HeldList(dtype, element_shape.dims, Unset(size), None if dynamic_size else size), dynamic_size)


@rule("TensorArrayV3")
def tensor_array_v3(
    to: OnnxGraph, size: Term, *, dtype: DType, element_shape: Shape, dynamic_size: bool
) -> tuple[Term, Term]:
    held = _made_array(size, dtype, element_shape, dynamic_size)
    return Term(RESOURCE, (2,), held=held), _flow(held.start)


@rule("TensorArrayV2", "TensorArray")
def tensor_array(to: OnnxGraph, size: Term, *, dtype: DType, element_shape: Shape, dynamic_size: bool) -> Term:
    """Before the third generation, the handle is a string, and the first flow is any number."""
    return Term(STRING, (2,), held=_made_array(size, dtype, element_shape, dynamic_size))


@rule("TensorArrayWriteV3", "TensorArrayWriteV2", "TensorArrayWrite", takes_complex=True)
def tensor_array_write(to: OnnxGraph, handle: Term, index: Term, value: Term, flow_in: Term) -> Term:
    grows = _array(to, handle).is_dynamic
    return _flow(with_item(to, _elements(to, handle, flow_in), index, value, grows=grows))


@rule("TensorArrayReadV3", "TensorArrayReadV2", "TensorArrayRead")
def tensor_array_read(to: OnnxGraph, handle: Term, index: Term, flow_in: Term) -> Term:
    return item_at(to, _elements(to, handle, flow_in), index)


@rule("TensorArrayGatherV3", "TensorArrayGatherV2", "TensorArrayGather")
def tensor_array_gather(to: OnnxGraph, handle: Term, indices: Term, flow_in: Term, *, element_shape: Shape) -> Term:
    return items_at(to, _elements(to, handle, flow_in), indices, element_shape.dims)


@rule("TensorArrayPack")
def tensor_array_pack(to: OnnxGraph, handle: Term, flow_in: Term, *, element_shape: Shape) -> Term:
    return as_rows(to, _elements(to, handle, flow_in), element_shape.dims)


@rule("TensorArrayScatterV3", "TensorArrayScatterV2", "TensorArrayScatter")
def tensor_array_scatter(to: OnnxGraph, handle: Term, indices: Term, value: Term, flow_in: Term) -> Term:
    grows = _array(to, handle).is_dynamic
    return _flow(with_rows(to, _elements(to, handle, flow_in), indices, value, grows=grows))


@rule("TensorArrayUnpack")
def tensor_array_unpack(to: OnnxGraph, handle: Term, value: Term, flow_in: Term) -> Term:
    """The rows of a tensor become the elements."""
    held = _elements(to, handle, flow_in)
    return _flow(replace(told_list(held.dtype, held.element, value), count=held.count))


@rule("TensorArrayConcatV3", "TensorArrayConcatV2", "TensorArrayConcat")
def tensor_array_concat(
    to: OnnxGraph, handle: Term, flow_in: Term, *, element_shape_except0: Shape
) -> tuple[Term, Term]:
    rest = element_shape_except0.dims
    return joined_elements(to, _elements(to, handle, flow_in), None if rest is None else (None, *rest))


@rule("TensorArraySplitV3", "TensorArraySplitV2", "TensorArraySplit")
def tensor_array_split(to: OnnxGraph, handle: Term, value: Term, lengths: Term, flow_in: Term) -> Term:
    return _flow(list_of_parts(to, value, lengths, _elements(to, handle, flow_in)))


@rule("TensorArraySizeV3", "TensorArraySizeV2", "TensorArraySize")
def tensor_array_size(to: OnnxGraph, handle: Term, flow_in: Term) -> Term:
    return length(to, _elements(to, handle, flow_in))
