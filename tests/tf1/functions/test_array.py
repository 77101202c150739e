"""Shapes, joins and fillings, as programs use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.shapes import placeholder_v2
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions import operators
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.gradients import reverse_walk

assert operators.__name__  # importing it installs what operators do

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with building(Graph()) as graph:
        yield graph


def run(fetch: Any, feeds: Any = None) -> Any:
    tensor = fetch[0] if isinstance(fetch, list | tuple) else fetch
    return Session(tensor.graph).run(fetch, feeds)


def matrix(shape: Any = (2, 3)) -> Tensor:
    return shapes.placeholder("float32", shape)


def test_an_old_placeholder_must_be_fed_too(graph: Graph) -> None:
    x = placeholder_v2(dtype=DType.of("float32"), shape=[2])
    with pytest.raises(InvalidArgumentError, match="must feed a value"):
        run(x)
    assert run(x, {x: [1, 2]}).tolist() == [1, 2]


def test_a_shape_is_a_constant_once_it_is_known() -> None:
    assert shapes.shape(matrix()).op.type == "Const"
    assert shapes.shape(matrix((None, 3))).op.type == "Shape"
    assert shapes.size(matrix((None, 0))).op.type == "Const"
    assert shapes.rank(matrix((None, 3))).op.type == "Const"
    assert shapes.rank(matrix(None)).op.type == "Rank"


def test_a_list_with_tensors_in_it_is_packed_with_names_for_its_numbers(graph: Graph) -> None:
    shapes.stack([shapes.rank(matrix()), 7, 8], name="sizes")
    names = [op.name for op in graph.operations]
    assert names == ["Placeholder", "Rank", "sizes/1", "sizes/2", "sizes"]


def test_small_fillings_are_constants_and_large_ones_are_not() -> None:
    assert shapes.zeros([999]).op.type == "Const"
    assert shapes.ones([1000]).op.type == "Fill"
    assert shapes.zeros_like(matrix()).op.type == "Const"
    assert shapes.zeros_like(matrix((None, 3))).op.type == "ZerosLike"


def test_an_open_size_becomes_known_when_the_others_are() -> None:
    assert shapes.reshape(matrix(), [-1, 2]).static_shape.dims == (3, 2)
    assert shapes.reshape(matrix((None, 3)), [-1, 3]).static_shape.dims == (None, 3)
    assert shapes.zeros([shapes.shape(matrix((None, 3)))[1], 4]).static_shape.dims == (3, 4)


def test_what_cannot_be_reshaped_is_refused_when_built_or_when_run() -> None:
    with pytest.raises(InvalidArgumentError, match="Cannot reshape a tensor with 6 elements"):
        shapes.reshape(matrix(), [4])
    x = matrix(None)
    with pytest.raises(InvalidArgumentError, match="6 values, but the requested shape has 4"):
        run(shapes.reshape(x, [4]), {x: MATRIX})


def test_old_and_new_argument_names_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        shapes.expand_dims(matrix(), axis=0, dim=0)
    with pytest.raises(ValueError, match="Must specify an axis"):
        shapes.expand_dims(matrix())


def test_parts_of_a_split_cover_the_whole() -> None:
    x = matrix()
    parts = shapes.split(x, [1, -1], axis=1)
    assert [part.static_shape.dims for part in parts] == [(2, 1), (2, 2)]
    assert run(shapes.concat(parts, 1), {x: MATRIX}).tolist() == MATRIX.tolist()


def test_an_identity_keeps_what_a_value_is_made_of() -> None:
    x, rows = matrix(), shapes.placeholder("int32", [None])
    slices = shapes.identity(IndexedSlices(x, rows))
    assert isinstance(slices, IndexedSlices)
    assert slices.values.op.inputs == [x]
    sparse = shapes.identity(shapes.sparse_placeholder("float32"))
    assert isinstance(sparse, SparseTensor)


def test_a_default_that_may_be_fed_is_no_constant() -> None:
    """Not even for static shapes: what is fed may be another value."""
    size = shapes.placeholder_with_default(2, [])
    x = shapes.zeros([size, 3])
    assert x.static_shape.dims == (None, 3)
    assert run(x, {size: 5}).shape == (5, 3)


def test_the_sign_of_zero_is_kept() -> None:
    assert np.signbit(run(shapes.fill([2], -0.0))).all()


def test_paddings_known_in_part_tell_part_of_the_shape() -> None:
    n = shapes.placeholder("int32", [])
    assert shapes.pad(matrix(), [[1, 1], [0, n]]).static_shape.dims == (4, None)


def test_rows_that_were_gathered_get_a_gradient_of_rows() -> None:
    x = matrix()
    (slices,) = reverse_walk.gradients(slicing.gather(x, [1, 1]), x)
    assert isinstance(slices, IndexedSlices)
    values, indices, _ = run(slices_parts(slices), {x: MATRIX})
    assert values.tolist() == np.ones((2, 3)).tolist()
    assert indices.tolist() == [1, 1]


def slices_parts(slices: IndexedSlices) -> list[Any]:
    return [slices.values, slices.indices, slices.dense_shape]
