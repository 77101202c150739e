"""Maps of sparse tensors: state that lasts from run to run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.sparse.maps import (
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant


def indices(*rows: Any) -> Any:
    return np.array(rows, np.int64)


def test_sparse_tensors_are_kept_under_numbers_and_taken_as_one() -> None:
    with building(Graph()) as graph:
        shape = constant(np.array([2, 3], np.int64))
        one = add_sparse_to_tensors_map(indices([0, 1]), ["a"], shape, shared_name="map")
        many = add_many_sparse_to_tensors_map(
            indices([0, 0, 1], [1, 1, 2]), ["b", "c"], np.array([2, 4, 3], np.int64), shared_name="map"
        )
        numbers = placeholder(dtype="int64", shape=[None])
        taken = take_many_sparse_from_tensors_map(numbers, dtype="string", shared_name="map")
    session = Session(graph)
    first = int(session.run(one))
    rest = session.run(many).tolist()
    assert len({first, *rest}) == 3
    found, values, sizes = session.run(taken, {numbers: [rest[1], first, rest[0]]})
    assert found.tolist() == [[0, 1, 2], [1, 0, 1], [2, 0, 1]]
    assert values.tolist() == [b"c", b"a", b"b"]
    assert sizes.tolist() == [3, 4, 3]
    with pytest.raises(InvalidArgumentError, match=f"Unable to find SparseTensor: {first} in map: map"):
        session.run(taken, {numbers: [first]})


def test_tensors_of_other_types_and_ranks_do_not_go_together() -> None:
    with building(Graph()) as graph:
        flat = add_sparse_to_tensors_map(indices([0]), [1.5], np.array([2], np.int64), shared_name="m")
        deep = add_sparse_to_tensors_map(indices([0, 0]), [1.5], np.array([2, 2], np.int64), shared_name="m")
        numbers = placeholder(dtype="int64", shape=[None])
        taken = take_many_sparse_from_tensors_map(numbers, dtype="float32", shared_name="m")
        others = take_many_sparse_from_tensors_map(numbers, dtype="int32", shared_name="m")
    session = Session(graph)
    both = [int(session.run(flat)), int(session.run(deep))]
    with pytest.raises(InvalidArgumentError, match="Inconsistent shape across SparseTensors"):
        session.run(taken, {numbers: both})
    with pytest.raises(InvalidArgumentError, match="Requested SparseTensor of type int32"):
        session.run(others, {numbers: [int(session.run(flat))]})
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        session.run(taken, {numbers: []})
