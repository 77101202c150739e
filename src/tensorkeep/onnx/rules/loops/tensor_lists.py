"""TensorFlow 2's lists of tensors, which its loops read from and write to."""

from __future__ import annotations

from dataclasses import replace

from tensorkeep.dtypes import DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.tensor_lists import (
    HeldList,
    Rows,
    Unset,
    as_rows,
    chained_lists,
    held_list,
    item_at,
    items_at,
    joined_elements,
    length,
    list_of_parts,
    list_term,
    resized_list,
    told_dims,
    told_list,
    with_item,
    with_more,
    with_rows,
    without_last,
)
from tensorkeep.onnx.terms import Term
from tensorkeep.shapes import Shape


@rule("EmptyTensorList")
def empty_tensor_list(to: OnnxGraph, element_shape: Term, max_num_elements: Term, *, element_dtype: DType) -> Term:
    """A list without elements. How many it may have at most is not looked at."""
    return list_term(HeldList(element_dtype, told_dims(element_shape), Unset(to.constant(0))))


@rule("TensorListReserve")
def tensor_list_reserve(to: OnnxGraph, element_shape: Term, num_elements: Term, *, element_dtype: DType) -> Term:
    """A list of elements that have not been set."""
    return list_term(HeldList(element_dtype, told_dims(element_shape), Unset(num_elements), num_elements))


@rule("TensorListFromTensor")
def tensor_list_from_tensor(to: OnnxGraph, tensor: Term, element_shape: Term, *, element_dtype: DType) -> Term:
    """The rows of a tensor: the tensor itself."""
    return list_term(told_list(element_dtype, told_dims(element_shape), tensor))


@rule("TensorListSplit")
def tensor_list_split(to: OnnxGraph, tensor: Term, element_shape: Term, lengths: Term, *, element_dtype: DType) -> Term:
    held = HeldList(element_dtype, told_dims(element_shape), Rows(tensor))
    return list_term(list_of_parts(to, tensor, lengths, held))


@rule("TensorListLength")
def tensor_list_length(to: OnnxGraph, input_handle: Term) -> Term:
    return length(to, held_list(to, input_handle))


@rule("TensorListElementShape")
def tensor_list_element_shape(to: OnnxGraph, input_handle: Term, *, shape_type: DType) -> Term:
    """What the list was told of its elements, which is known here if it tells all of it."""
    element = held_list(to, input_handle).element
    if element is None or None in element:
        to.refuse("the shape of the list's elements is not known before the model runs")
    return to.constant([size for size in element if size is not None], shape_type)


@rule("TensorListGetItem")
def tensor_list_get_item(to: OnnxGraph, input_handle: Term, index: Term, element_shape: Term) -> Term:
    return item_at(to, held_list(to, input_handle), index, told_dims(element_shape))


@rule("TensorListStack")
def tensor_list_stack(to: OnnxGraph, input_handle: Term, element_shape: Term) -> Term:
    return as_rows(to, held_list(to, input_handle), told_dims(element_shape))


@rule("TensorListGather")
def tensor_list_gather(to: OnnxGraph, input_handle: Term, indices: Term, element_shape: Term) -> Term:
    return items_at(to, held_list(to, input_handle), indices, told_dims(element_shape))


@rule("TensorListConcat")
def tensor_list_concat(to: OnnxGraph, input_handle: Term, *, element_shape: Shape) -> tuple[Term, Term]:
    return joined_elements(to, held_list(to, input_handle), element_shape.dims)


@rule("TensorListConcatV2")
def tensor_list_concat_v2(
    to: OnnxGraph, input_handle: Term, element_shape: Term, leading_dims: Term
) -> tuple[Term, Term]:
    """Elements one after the other. How long elements are that have not been set is told by `leading_dims`."""
    held = held_list(to, input_handle)
    if isinstance(held.form, Unset):
        to.refuse("it reads a list none of whose elements has been set")
    return joined_elements(to, held, told_dims(element_shape))


@rule("TensorListPushBack")
def tensor_list_push_back(to: OnnxGraph, input_handle: Term, tensor: Term) -> Term:
    return list_term(with_more(to, held_list(to, input_handle), tensor))


@rule("TensorListPopBack")
def tensor_list_pop_back(to: OnnxGraph, input_handle: Term, element_shape: Term) -> tuple[Term, Term]:
    rest, last = without_last(to, held_list(to, input_handle), told_dims(element_shape))
    return list_term(rest), last


@rule("TensorListSetItem")
def tensor_list_set_item(
    to: OnnxGraph, input_handle: Term, index: Term, item: Term, *, resize_if_index_out_of_bounds: bool
) -> Term:
    return list_term(with_item(to, held_list(to, input_handle), index, item, grows=resize_if_index_out_of_bounds))


@rule("TensorListResize")
def tensor_list_resize(to: OnnxGraph, input_handle: Term, size: Term) -> Term:
    return list_term(resized_list(to, held_list(to, input_handle), size))


@rule("TensorListScatter")
def tensor_list_scatter(
    to: OnnxGraph, tensor: Term, indices: Term, element_shape: Term, *, element_dtype: DType
) -> Term:
    """A list as long as the largest index says, with the rows of a tensor as elements."""
    held = HeldList(element_dtype, told_dims(element_shape), Unset(to.constant(0)))
    return list_term(with_rows(to, held, indices, tensor, grows=True))


@rule("TensorListScatterV2")
def tensor_list_scatter_v2(
    to: OnnxGraph, tensor: Term, indices: Term, element_shape: Term, num_elements: Term, *, element_dtype: DType
) -> Term:
    held = HeldList(element_dtype, told_dims(element_shape), Unset(num_elements), num_elements)
    known = to.known_array(num_elements, "the number of elements")
    if int(known) == -1:
        held = replace(held, form=Unset(to.constant(0)), count=None)
    return list_term(with_rows(to, held, indices, tensor, grows=int(known) == -1))


@rule("TensorListScatterIntoExistingList")
def tensor_list_scatter_into_existing_list(to: OnnxGraph, input_handle: Term, tensor: Term, indices: Term) -> Term:
    """Rows as some elements of a list, which grows where an index is beyond its end."""
    return list_term(with_rows(to, held_list(to, input_handle), indices, tensor, grows=True))


@rule("TensorListPushBackBatch")
def tensor_list_push_back_batch(to: OnnxGraph, input_handles: Term, tensor: Term) -> Term:
    """One more element for a list. Several lists in one tensor have no form in ONNX."""
    return list_term(with_more(to, held_list(to, input_handles), tensor))


@rule("TensorListConcatLists")
def tensor_list_concat_lists(to: OnnxGraph, input_a: Term, input_b: Term) -> Term:
    return list_term(chained_lists(to, held_list(to, input_a), held_list(to, input_b)))
