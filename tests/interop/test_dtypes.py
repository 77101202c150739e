"""Data types by number, beside TensorFlow's: what they equal, where they are found, what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tensorkeep.dtypes import ALL_DTYPES

theirs = tensorflow.compat.v1
# Those that the TensorFlow beside us knows.
NUMBERS = [
    dtype.number for dtype in ALL_DTYPES if hasattr(tensorflow.dtypes.experimental, dtype.name) or dtype.number < 24
]


def facts(tf: Any, number: int) -> list[Any]:
    """What a program can find out of the type with a number, and of a reference to it."""
    dtype, other = tf.as_dtype(number), tf.as_dtype(number % 23 + 1)
    reference = tf.as_dtype(number + 100)
    return [
        dtype.name,
        tf.DType(number).name,
        reference.name,
        tf.DType(number + 100).name,
        dtype == number,
        number == dtype,
        np.int64(number) == dtype,
        dtype != number,
        other == number,
        reference == number,
        reference == number + 100,
        hash(dtype),
        hash(reference),
        int(dtype),
        {number: "known"}.get(dtype),
        {dtype: "known"}.get(number),
        number in [other, dtype],
        number in (other, reference),
        dtype in {number, -1},
        dtype == None,  # noqa: E711 - it is the comparison that is asked
        dtype == "nothing",
        dtype == 0,
        dtype == 1000,
        dtype.is_compatible_with(number),
        dtype.is_compatible_with(number + 100),
        reference.is_compatible_with(number),
        tf.as_dtype(np.int32(number)) is dtype,
    ]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_type_by_number_is_as_tensorflow_s(number: int) -> None:
    assert facts(ours, number) == facts(theirs, number)


@pytest.mark.parametrize("number", [0, -1, 100, 1000, 1 << 40])
def test_what_tensorflow_refuses_is_refused(number: int) -> None:
    for tf in (ours, theirs):
        with pytest.raises(TypeError):
            tf.as_dtype(number)


def test_truth_is_a_type_to_tensorflow_alone() -> None:
    assert theirs.as_dtype(True) is theirs.float32
    with pytest.raises(TypeError, match="True is not a data type"):
        ours.as_dtype(True)
