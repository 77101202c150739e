"""Tensors and composites by name, with dtype and shape, and back."""

from __future__ import annotations

import pytest

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.proto.messages import TensorInfo, TypeSpecProto
from tensorkeep.saved_model.files.tensor_info import (
    build_tensor_info,
    describe_tensor_info,
    get_element_from_tensor_info,
    get_tensor_from_tensor_info,
    tensor_names,
)
from tensorkeep.tf1.functions.arrays.shapes import placeholder, sparse_placeholder


@pytest.mark.parametrize("scope", [None, "outer"])
def test_a_tensor_a_sparse_one_and_slices_come_back_as_they_were(scope: str | None) -> None:
    with building(Graph()) as graph, name_scope(scope):
        dense = placeholder(FLOAT32, [None, 3], "x")
        sparse = sparse_placeholder(FLOAT32, [None, 4], "s")
        slices = IndexedSlices(dense, placeholder(INT64, [None], "i"))
        infos = [build_tensor_info(item) for item in (dense, sparse, slices)]
        again = [get_tensor_from_tensor_info(info, graph) for info in infos]
    assert again[0] is dense
    assert isinstance(again[1], SparseTensor)
    assert again[1].indices is sparse.indices
    assert isinstance(again[2], IndexedSlices)
    assert (again[2].values, again[2].indices) == (slices.values, slices.indices)
    prefix = f"{scope}/" if scope else ""
    assert tensor_names(infos[1]) == [f"{prefix}s/values:0", f"{prefix}s/indices:0", f"{prefix}s/shape:0"]
    assert tensor_names(infos[2]) == [f"{prefix}x:0", f"{prefix}i:0"]


def test_names_are_looked_up_below_a_scope() -> None:
    with building(Graph()) as graph, name_scope("outer"):
        x = placeholder(FLOAT32, [], "x")
    info = TensorInfo(name="x:0", dtype=1)
    assert get_tensor_from_tensor_info(info, graph, "outer") is x
    assert get_element_from_tensor_info(TensorInfo(name="x"), graph, "outer") is x.op
    with pytest.raises(NotFoundError):
        get_tensor_from_tensor_info(info, graph)


def test_what_names_nothing_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"Invalid TensorInfo\.encoding: None"):
        get_tensor_from_tensor_info(TensorInfo(), Graph())
    info = TensorInfo()
    info.composite_tensor.type_spec.type_spec_class = TypeSpecProto.DATA_DATASET_SPEC
    info.composite_tensor.type_spec.type_spec_class_name = "DatasetSpec"
    with pytest.raises(InvalidArgumentError, match="DatasetSpec is not made here"):
        get_tensor_from_tensor_info(info, Graph())


def test_descriptions_have_dtype_shape_and_kind() -> None:
    with building(Graph()):
        values = placeholder(FLOAT32, [None, 3])
        described = [
            build_tensor_info(values),
            build_tensor_info(placeholder(INT64, [])),
            build_tensor_info(placeholder(INT64)),
            build_tensor_info(sparse_placeholder(FLOAT32, [2, None])),
            build_tensor_info(IndexedSlices(values, placeholder(INT64, [None]))),
            TensorInfo(dtype=9999),
        ]
    assert [describe_tensor_info(info) for info in described] == [
        "float32 (?, 3)",
        "int64 ()",
        "int64 of any shape",
        "sparse float32 (2, ?)",
        "IndexedSlicesSpec of (float32 (?, 3), int64 (?))",
        "dtype 9999 ()",
    ]
