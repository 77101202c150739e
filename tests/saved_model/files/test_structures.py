"""Structures of arguments and results, from their messages to arrays and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import DType
from tensorkeep.errors import DataLossError
from tensorkeep.proto.messages import StructuredValue, TypeSpecProto
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.saved_model.files.structures import decode_structure, flat_values, pack, tensors_of
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.shapes import Shape

SPEC = TensorSpec(DType.of("float32"), Shape((None,)))

STRUCTURES = st.recursive(
    st.sampled_from([SPEC, None, 3, "text", True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(STRUCTURES)
def test_what_is_packed_is_taken_apart_into_the_same_arrays(structure: Any) -> None:
    arrays = [np.full(2, i, np.float32) for i, _ in enumerate(tensors_of(structure))]
    value = pack(structure, iter(arrays))
    found = flat_values(structure, value, exact=True)
    assert found is not None
    assert [id(array) for array in found] == [id(array) for array in arrays]


@given(STRUCTURES, STRUCTURES)
def test_values_of_another_structure_are_not_taken(structure: Any, other: Any) -> None:
    value = pack(other, iter([np.zeros(1, np.float32)] * len(list(tensors_of(other)))))
    found = flat_values(structure, value, exact=True)
    assert found is None or len(found) == len(list(tensors_of(structure)))


def test_true_is_not_one() -> None:
    assert flat_values((True,), (1,), exact=False) is None
    assert flat_values((1,), (True,), exact=False) is None
    assert flat_values((True,), (True,), exact=False) == []


def test_a_named_tuple_keeps_its_names() -> None:
    proto = StructuredValue()
    proto.named_tuple_value.name = "Pair"
    for key in ("left", "right"):
        proto.named_tuple_value.values.add(key=key).value.int64_value = len(key)
    found = decode_structure(proto)
    assert (type(found).__name__, found.left, found.right) == ("Pair", 4, 5)


@pytest.mark.parametrize("name", ["class", "1x", "_private", "a b"])
def test_names_that_python_does_not_know_make_no_trouble(name: str) -> None:
    proto = StructuredValue()
    proto.named_tuple_value.name = "Pair"
    proto.named_tuple_value.values.add(key=name).value.int64_value = 1
    assert tuple(decode_structure(proto)) == (1,)
    proto.named_tuple_value.name = name
    assert tuple(decode_structure(proto)) == (1,)


def ragged(state: list[Any]) -> StructuredValue:
    proto = StructuredValue()
    spec = proto.type_spec_value
    spec.type_spec_class = TypeSpecProto.RAGGED_TENSOR_SPEC
    values = spec.type_state.tuple_value.values
    for item in state:
        if isinstance(item, Shape):
            values.add().tensor_shape_value.unknown_rank = True
        elif isinstance(item, DType):
            values.add().tensor_dtype_value = item.number
        else:
            values.add().int64_value = item
    return proto


def test_a_ragged_value_has_a_row_of_splits_for_each_ragged_dimension() -> None:
    spec = decode_structure(ragged([Shape(None), DType.of("float32"), 2, DType.of("int64")]))
    assert len(spec.components) == 3
    flat, outer, inner = np.arange(3, dtype=np.float32), np.array([0, 1, 2]), np.array([0, 2, 3])
    value = RaggedTensorValue(RaggedTensorValue(flat, inner), outer)
    found = flat_values(spec, value, exact=True)
    assert found is not None
    assert [id(part) for part in found] == [id(flat), id(outer), id(inner)]
    assert spec.pack(found).to_list() == value.to_list() == [[[0.0, 1.0]], [[2.0]]]


@pytest.mark.parametrize("rank", [-1, 1 << 40])
def test_an_absurd_number_of_dimensions_is_damage(rank: int) -> None:
    with pytest.raises(DataLossError):
        decode_structure(ragged([Shape(None), DType.of("float32"), rank, DType.of("int64")]))


def test_a_state_of_another_form_is_damage() -> None:
    with pytest.raises(DataLossError):
        decode_structure(ragged([1]))
