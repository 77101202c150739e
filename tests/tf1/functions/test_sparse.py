"""Sparse tensors: what they are made of, fetched and fed as, and what functions of them refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.sparse import tensors
from tensorkeep.tf1.functions.sparse.tensors import SparseTensor, SparseTensorValue, sparse_placeholder

INDICES = [[0, 0], [1, 2]]


def matrix() -> SparseTensor:
    return SparseTensor(INDICES, [1.0, 2.0], [2, 3])


def test_a_sparse_tensor_makes_tensors_of_its_parts() -> None:
    with building(Graph()):
        found = matrix()
    assert [part.name for part in (found.indices, found.values, found.dense_shape)] == [
        "SparseTensor/indices:0",
        "SparseTensor/values:0",
        "SparseTensor/dense_shape:0",
    ]
    assert (found.indices.dtype, found.dense_shape.dtype) == (INT64, INT64)
    assert (found.dtype, found.shape.as_list(), found.op.name) == (FLOAT32, [2, 3], "SparseTensor/values")


def test_parts_that_do_not_fit_are_refused() -> None:
    with building(Graph()):
        with pytest.raises(InvalidArgumentError, match="not compatible"):
            SparseTensor(INDICES, [1.0], [2, 3])
        with pytest.raises(InvalidArgumentError, match="not compatible"):
            SparseTensor(INDICES, [1.0, 2.0], [2, 3, 4])
        with pytest.raises(InvalidArgumentError):
            SparseTensor([1, 2], [1.0, 2.0], [2])


def test_what_is_known_of_the_shape_can_be_added_to() -> None:
    with building(Graph()):
        found = SparseTensor(INDICES, [1.0, 2.0], placeholder(INT64, [2]))
        assert found.shape.as_list() == [None, None]
        found.set_shape([2, None])
        assert found.get_shape().as_list() == [2, None]
        with pytest.raises(InvalidArgumentError):
            found.set_shape([3, None])


def test_a_sparse_tensor_is_fetched_and_fed_as_a_value() -> None:
    with building(Graph()) as graph:
        fed = sparse_placeholder(FLOAT32, name="s")
        dense = tensors.sparse_tensor_to_dense(fed)
    value = SparseTensorValue(np.array(INDICES), np.array([1.0, 2.0], np.float32), np.array([2, 3]))
    again, whole = Session(graph).run([fed, dense], {fed: value})
    assert again.indices.tolist() == INDICES
    assert whole.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


def test_consumers_are_those_of_all_parts() -> None:
    with building(Graph()):
        found = matrix()
        dense = tensors.sparse_tensor_to_dense(found)
    assert found.consumers() == [dense.op]


def test_a_value_becomes_a_sparse_tensor() -> None:
    with building(Graph()):
        found = SparseTensor.from_value(SparseTensorValue(INDICES, [1.0, 2.0], [2, 3]))
        assert found.shape.as_list() == [2, 3]
        with pytest.raises(WrongTypeError, match="neither"):
            SparseTensor.from_value([1, 2])


def test_functions_refuse_what_is_not_sparse() -> None:
    with building(Graph()):
        with pytest.raises(WrongTypeError, match="must be a SparseTensor"):
            tensors.sparse_reorder(np.ones((2, 2)))
        with pytest.raises(WrongTypeError, match="At least one"):
            tensors.sparse_add(np.ones(2), np.ones(2))
        with pytest.raises(InvalidArgumentError, match="Keyword arguments"):
            tensors.sparse_split(matrix(), num_split=2)
        with pytest.raises(InvalidArgumentError, match="axis is required"):
            tensors.sparse_split(sp_input=matrix(), num_split=2)


def test_a_reshape_to_another_number_of_elements_is_refused_when_built() -> None:
    with building(Graph()):
        with pytest.raises(InvalidArgumentError, match="6 elements"):
            tensors.sparse_reshape(matrix(), [4, 2])
        with pytest.raises(InvalidArgumentError, match="At most one"):
            tensors.sparse_reshape(matrix(), [-1, -1])


def test_places_outside_of_the_shape_are_refused_when_run() -> None:
    def build() -> Any:
        return tensors.sparse_tensor_to_dense(sparse_placeholder(FLOAT32, name="s"))

    with building(Graph()) as graph:
        dense = build()
    feeds = {"s/indices:0": [[5, 0]], "s/values:0": [1.0], "s/shape:0": [2, 2]}
    with pytest.raises(InvalidArgumentError, match=r"indices\[0\] = \[5,0\] is out of bounds"):
        Session(graph).run(dense, feeds)
