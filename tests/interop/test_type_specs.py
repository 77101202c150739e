"""`tf.TensorSpec` and its kin: what they print, what they equal, and what goes together with them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.errors import TensorKeepError


def specs(tf: Any) -> list[Any]:
    return [
        tf.TensorSpec([2, None], tf.int32, "x"),
        tf.TensorSpec([2, None], tf.int32),
        tf.TensorSpec([2, 5], tf.int32),
        tf.TensorSpec(None),
        tf.TensorSpec([], tf.string),
        tf.SparseTensorSpec([2, None]),
        tf.SparseTensorSpec([2, 3]),
        tf.SparseTensorSpec(dtype=tf.int64),
        tf.RaggedTensorSpec([2, None]),
        tf.RaggedTensorSpec([None, None]),
        tf.RaggedTensorSpec([2, None, 3], tf.int32, 1, tf.int32),
        tf.RaggedTensorSpec(ragged_rank=2),
        tf.IndexedSlicesSpec([4, 2]),
        tf.IndexedSlicesSpec([None, 2], tf.float32, tf.int64, tf.int64, [3]),
    ]


def test_they_print_as_tensorflows() -> None:
    assert list(map(repr, specs(ours))) == list(map(repr, specs(tf.compat.v1)))


def test_they_compare_as_tensorflows() -> None:
    mine, theirs = specs(ours), specs(tf.compat.v1)
    for (a, b), (x, y) in zip(itertools.product(mine, mine), itertools.product(theirs, theirs), strict=True):
        assert (a == b) == (x == y), (x, y)
        assert a != b or hash(a) == hash(b)
        assert a.is_compatible_with(b) == x.is_compatible_with(y), (x, y)
        common, their_common = a.most_specific_common_supertype([b]), x.most_specific_common_supertype([y])
        assert repr(common) == repr(their_common), (x, y)


def values(tf: Any) -> list[Any]:
    return [
        tf.constant([[1, 2]]),
        tf.ragged.constant([[1], [2, 3]]),
        tf.SparseTensor([[0, 1]], [1.0], [2, 3]),
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])),
        tf.placeholder(tf.float32, [None, 3]),
        [1, 2],
        3.0,
        b"text",
    ]


def test_the_kind_of_a_value_is_tensorflows() -> None:
    with ours.Graph().as_default():
        mine = [repr(ours.type_spec_from_value(value)) for value in values(ours)]
    with tf.Graph().as_default():
        assert mine == [repr(tf.type_spec_from_value(value)) for value in values(tf.compat.v1)]


def test_a_spec_tells_what_it_says() -> None:
    spec = ours.RaggedTensorSpec([2, None, 3], ours.int32, 1, ours.int32)
    assert (spec.ragged_rank, spec.row_splits_dtype, spec.dtype) == (1, ours.int32, ours.int32)
    assert spec.shape.as_list() == [2, None, 3]
    named = ours.TensorSpec.from_spec(ours.TensorSpec([3]), "named")
    assert (named.name, named.shape.as_list(), named.dtype) == ("named", [3], ours.float32)


@pytest.mark.parametrize("arguments", [(None,), ([2, 2], "int32", 2)])
def test_ranks_that_cannot_be_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TensorKeepError):
        ours.RaggedTensorSpec(*arguments)
    with pytest.raises(ValueError, match="rank"):
        tf.RaggedTensorSpec(*arguments)
