"""Tensor lists: a list is no value that could be fed or fetched, so each op is shown in a graph of several."""

from __future__ import annotations

_LISTS = "tests/interop/test_functional.py::test_lists_give_tensorflows_values_and_static_shapes"

ELSEWHERE = {
    "EmptyTensorList": _LISTS,
    "TensorListReserve": _LISTS,
    "TensorListFromTensor": _LISTS,
    "TensorListSplit": _LISTS,
    "TensorListLength": _LISTS,
    "TensorListElementShape": _LISTS,
    "TensorListGetItem": _LISTS,
    "TensorListStack": _LISTS,
    "TensorListGather": _LISTS,
    "TensorListConcat": _LISTS,
    "TensorListConcatV2": _LISTS,
    "TensorListPushBack": _LISTS,
    "TensorListPopBack": _LISTS,
    "TensorListSetItem": _LISTS,
    "TensorListResize": _LISTS,
    "TensorListScatter": _LISTS,
    "TensorListScatterV2": _LISTS,
    "TensorListScatterIntoExistingList": _LISTS,
    "TensorListPushBackBatch": _LISTS,
    "TensorListConcatLists": _LISTS,
}
