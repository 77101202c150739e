"""What nodes say of their outputs beyond types."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.dtypes import DType
from tensorkeep.graph.messages.full_types import has_full_types, write_full_types
from tensorkeep.graph.registry.schema import parse_schema
from tensorkeep.proto.messages import FullTypeDef
from tensorkeep.proto.text import format_text

FLOAT, STRING, VARIANT, HALF8 = map(DType.of, ("float", "string", "variant", "bfloat16"))


def said(signature: str, **attrs: Any) -> str:
    proto = FullTypeDef()
    write_full_types(parse_schema(signature), attrs.get, proto)
    return " ".join(format_text(proto).split()).replace("type_id: ", "")


def test_attributes_are_replaced_by_their_values() -> None:
    signature = "Shape(x: T) -> y: out :: SHAPE_TENSOR[$out]; T: type; out: type"
    assert said(signature, out=DType.of("int32")) == "TFT_PRODUCT args { TFT_SHAPE_TENSOR args { TFT_INT32 } }"


def test_a_list_of_types_gives_one_part_for_each() -> None:
    signature = "Data() -> h: variant :: DATASET[FOR_EACH[PRODUCT, TENSOR[$t], $t]]; t: list(type)"
    parts = "args { TFT_TENSOR args { TFT_FLOAT } } args { TFT_TENSOR args { TFT_STRING } }"
    assert said(signature, t=(FLOAT, STRING)) == f"TFT_PRODUCT args {{ TFT_DATASET args {{ TFT_PRODUCT {parts} }} }}"
    assert said(signature, t=()) == "TFT_PRODUCT args { TFT_DATASET args { TFT_PRODUCT } }"


@pytest.mark.parametrize(
    ("dtype", "inside"),
    [(FLOAT, "args { TFT_TENSOR args { TFT_FLOAT } } "), (HALF8, "args { TFT_TENSOR args { } } "), (VARIANT, "")],
)
def test_of_some_types_nothing_is_said(dtype: DType, inside: str) -> None:
    found = said("List() -> h: variant :: ARRAY[TENSOR[$t]]; t: type", t=dtype)
    assert found == f"TFT_PRODUCT args {{ TFT_ARRAY {inside}}}"


def test_outputs_that_the_signature_says_nothing_of_have_an_empty_part() -> None:
    found = said("Two() -> a: float, b: variant :: MUTEX_LOCK")
    assert found == "TFT_PRODUCT args { } args { TFT_MUTEX_LOCK }"
    assert not has_full_types(parse_schema("One() -> a: float"))
