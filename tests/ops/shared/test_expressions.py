"""Pieces of graph that gradients are written with."""

from __future__ import annotations

import pytest

import tensorkeep.ops.every  # noqa: F401 - registers every op
from tensorkeep.dtypes import DType
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.shared.expressions import constant, number
from tensorkeep.runtime.session import Session


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bfloat16"])
def test_a_number_is_a_constant_of_float32_that_is_cast_as_in_tensorflow(dtype: str) -> None:
    with building(graph := Graph()):
        made = number(2.0, DType.of(dtype))
    assert made.dtype.name == dtype
    assert graph.operation("Cast/x").outputs[0].dtype.name == "float32"
    with Session(graph) as session:
        assert float(session.run(made)) == 2.0


@pytest.mark.parametrize(("value", "dtype"), [(0.1, "float64"), (2**24 + 1, "int64"), (2**53 - 1, "int64")])
def test_a_number_that_float32_would_round_is_refused_and_exact_as_a_constant(value: float, dtype: str) -> None:
    with building(graph := Graph()):
        with pytest.raises(AssertionError, match=f"no float32; make it a constant of {dtype}"):
            number(value, DType.of(dtype))
        made = constant(value, DType.of(dtype))
    with Session(graph) as session:
        assert session.run(made).item() == value
