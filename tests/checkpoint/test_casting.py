"""What a cast loses, and what it merely rounds."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tensorkeep.checkpoint.casting import CastLoss, CastLossError, cast_array, counted_losses, refuse_losses
from tensorkeep.dtypes import DType

NAN, INF = math.nan, math.inf


def loss(values: Any, before: Any, after: str) -> dict[str, int]:
    """The counts that are not zero."""
    found = cast_array(np.array(values, before), DType.of(after))[1]
    assert found.elements == np.size(values)
    counts = ("zero", "infinite", "undefined", "out_of_range", "inexact", "imaginary", "rounded")
    return {name: getattr(found, name) for name in counts if getattr(found, name)}


@pytest.mark.parametrize(
    ("values", "before", "after", "counts"),
    [
        ([0.0, -0.0, 1.0, 65504.0, NAN, INF, -INF], np.float32, "float16", {}),
        ([1e-9, -1e-9, 0.0, 6e-8], np.float32, "float16", {"zero": 2, "rounded": 1}),
        ([1e6, -1e6, 65519.0, 65520.0], np.float32, "float16", {"infinite": 3, "rounded": 1}),
        ([0.1, 1 / 3, 0.5], np.float64, "float32", {"rounded": 2}),
        ([1e-50, 1e50], np.float64, "float32", {"zero": 1, "infinite": 1}),
        ([3.39e38, 1e-40, 1.0], np.float32, "bfloat16", {"rounded": 2}),
        ([3.4028235e38, 1e-45], np.float32, "bfloat16", {"infinite": 1, "zero": 1}),
        ([500.0, 448.0, 1e-9, NAN], np.float32, "float8_e4m3fn", {"infinite": 1, "zero": 1}),
        ([INF], np.float32, "float8_e4m3fn", {"undefined": 1}),
        ([6.0, 5.5, 100.0, NAN], np.float32, "float4_e2m1fn", {"out_of_range": 1, "undefined": 1, "rounded": 1}),
        ([1.0, -2.0, 1.5, 0.4, NAN, INF], np.float32, "int32", {"rounded": 1, "zero": 1, "undefined": 2}),
        ([127.9, 128.0, -128.0, -129.0], np.float32, "int8", {"rounded": 1, "out_of_range": 2}),
        ([2.0**63, -(2.0**63)], np.float64, "int64", {"out_of_range": 1}),
        ([7.0, 8.0, -9.0], np.float32, "int4", {"out_of_range": 2}),
        ([255, 256, -1], np.int32, "uint8", {"out_of_range": 2}),
        ([2**63, 1], np.uint64, "int64", {"out_of_range": 1}),
        ([-1, 5], np.int64, "uint64", {"out_of_range": 1}),
        ([2**53, 2**53 + 1, -3], np.int64, "float64", {"inexact": 1}),
        ([2**63 - 1], np.int64, "float64", {"inexact": 1}),
        ([2**64 - 1, 2**63], np.uint64, "float64", {"inexact": 1}),
        ([2049, 2048, 70000], np.int32, "float16", {"inexact": 1, "infinite": 1}),
        ([True, False], np.bool_, "float16", {}),
        ([0, 1, 2], np.int32, "bool", {"out_of_range": 1}),
        ([1 + 0j, 2 + 3j], np.complex64, "float32", {"imaginary": 1}),
        ([1e-50 + 1j, 1e50 + 1e50j, 1 + 1j], np.complex128, "complex64", {"zero": 1, "infinite": 1}),
        ([0.5, 1e50], np.float64, "complex64", {"infinite": 1}),
        ([], np.float32, "float16", {}),
        (1e-9, np.float32, "float16", {"zero": 1}),
        ([1e-9], ml_dtypes.bfloat16, "float16", {"zero": 1}),
    ],
)
def test_each_number_is_counted_by_what_became_of_it(
    values: Any, before: Any, after: str, counts: dict[str, int]
) -> None:
    assert loss(values, before, after) == counts


def test_a_cast_to_a_wider_type_loses_nothing() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    widened, found = cast_array(every, DType.of("float32"))
    assert found == CastLoss(elements=1 << 16)
    assert np.array_equal(widened, every.astype(np.float32), equal_nan=True)


def test_counts_of_chunks_add_up_and_one_number_is_shown() -> None:
    found = counted_losses([np.float32([1e-9, 1]), np.float32([1e9, 0.1])], DType.of("float16"))
    assert found == CastLoss(elements=4, zero=1, infinite=1, rounded=1, example="1e-09")
    assert str(found) == "of 4 numbers 1 to zero, 1 to infinity, 1 rounded (such as 1e-09)"


def test_a_refusal_names_tensors_that_lose_and_no_others() -> None:
    losses = {"a": CastLoss(2, zero=1, example="1e-09"), "b": CastLoss(2, rounded=2)}
    with pytest.raises(CastLossError, match=r'would lose numbers: "a": of 2 numbers 1 to zero') as caught:
        refuse_losses("a cast to float16", losses)
    assert list(caught.value.losses) == ["a"]
    refuse_losses("a cast to float16", {"b": losses["b"]})
    many = {f"t{at}": losses["a"] for at in range(12)}
    with pytest.raises(CastLossError, match="; and 2 tensors more"):
        refuse_losses("a cast", many)
