"""Attribute values and the messages that carry them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import ALL_DTYPES, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.attrs import AttrPlaceholder, FunctionRef, decode_attr, encode_attr
from tensorkeep.proto.messages import AttrValue, TensorProto
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

SCALARS = st.one_of(
    st.binary(max_size=8),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(width=32, allow_nan=False),
    st.booleans(),
    st.sampled_from(ALL_DTYPES).flatmap(lambda dtype: st.sampled_from([dtype, dtype.ref])),
    st.lists(st.none() | st.integers(0, 9), max_size=3).map(lambda dims: Shape(tuple(dims))),
    st.just(UNKNOWN_SHAPE),
)


@given(SCALARS)
def test_a_value_survives_its_message(value: object) -> None:
    decoded = decode_attr(AttrValue.FromString(encode_attr(value).SerializeToString()))
    assert decoded == value
    assert type(decoded) is type(value)


@given(SCALARS.flatmap(lambda value: st.lists(st.just(value), min_size=1, max_size=3)))
def test_a_list_survives_its_message(values: list[object]) -> None:
    assert decode_attr(encode_attr(tuple(values))) == tuple(values)


def test_an_empty_list_is_not_an_unset_value() -> None:
    assert decode_attr(encode_attr(())) == ()
    assert encode_attr(()).WhichOneof("value") == "list"
    assert decode_attr(AttrValue()) is None
    assert encode_attr(None).WhichOneof("value") is None


def test_functions_and_placeholders_survive() -> None:
    function = FunctionRef("f", {"T": DType.of("float32"), "n": 3})
    assert decode_attr(encode_attr(function)) == function
    assert decode_attr(encode_attr((function, FunctionRef("g")))) == (function, FunctionRef("g"))
    assert decode_attr(encode_attr(AttrPlaceholder("T"))) == AttrPlaceholder("T")


def test_a_tensor_is_kept_as_its_message() -> None:
    proto = TensorProto(dtype=1, float_val=[1.5])
    assert decode_attr(encode_attr(proto)) == proto


@pytest.mark.parametrize("value", [object(), np.zeros(2), [1, 2], {"a": 1}])
def test_what_no_attribute_holds_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot"):
        encode_attr(value)
