"""What the ops of optimizers refuse, and whose values they leave alone."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tests.ops.walking import import_all_ops

import_all_ops()


@pytest.mark.parametrize(
    ("slot", "gradient", "why"),
    [
        ((4, 3), (1, 1), "must match in all dimensions but the first"),
        ((2, 3), (1, 3), "do not have the same shape"),
        ((4, 3), (2, 3), "the same size as indices"),
    ],
)
def test_rows_are_not_stretched_to_fit(slot: tuple[int, ...], gradient: tuple[int, ...], why: str) -> None:
    with building(Graph()) as graph:
        handles = [
            get_op("VarHandleOp")(dtype="float32", shape=UNKNOWN_SHAPE, shared_name=name) for name in ("var", "accum")
        ]
        sizes = ((4, 3), slot)
        starts = [
            get_op("AssignVariableOp")(handle, np.zeros(shape, np.float32))
            for handle, shape in zip(handles, sizes, strict=True)
        ]
        rows = get_op("Placeholder")(dtype="float32", shape=UNKNOWN_SHAPE)
        update = get_op("ResourceSparseApplyMomentum")(*handles, 1.0, rows, [0], 0.9)
        read = get_op("ReadVariableOp")(handles[0], dtype="float32")
    session = Session(graph)
    session.run(starts)
    with pytest.raises(InvalidArgumentError, match=why):
        session.run(update, {rows: np.ones(gradient, np.float32)})
    assert not session.run(read).any()


@pytest.mark.parametrize("kind", ["ResourceApplyMomentum", "ResourceSparseApplyMomentum"])
def test_a_rate_that_is_no_scalar_is_an_error(kind: str) -> None:
    variables = [VariableResource(name, DType.of("float32"), Shape((3,))) for name in ("var", "accum")]
    for variable in variables:
        variable.assign(np.ones(3, np.float32))
    kernel = get_op(kind).kernel_function
    assert kernel is not None
    indices = [np.arange(3)] if "Sparse" in kind else []
    rate, momentum = np.ones(1, np.float32), np.ones((2, 1), np.float32)
    with pytest.raises(InvalidArgumentError, match=r"lr is not a scalar: \[1\]; momentum is not a scalar: \[2, 1\]"):
        kernel(*variables, rate, np.ones(3, np.float32), *indices, momentum, use_nesterov=False)
    assert all((variable.read() == 1).all() for variable in variables)


def _momentum(variables: list[VariableResource], gradient: np.ndarray) -> None:
    kernel = get_op("ResourceApplyMomentum").kernel_function
    assert kernel is not None
    kernel(*variables, np.float32(0.1), gradient, np.float32(0.9), use_nesterov=False)


def _filled(shape: tuple[int, ...]) -> list[VariableResource]:
    variables = [VariableResource(name, DType.of("float32"), Shape(shape)) for name in ("var", "accum")]
    for seed, variable in enumerate(variables):
        variable.assign(np.random.default_rng(seed).normal(size=shape).astype(np.float32))
    return variables


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (3, 200_001)])
@pytest.mark.parametrize("held", [(0,), (1,), (0, 1)])
def test_a_step_leaves_a_value_that_was_read_as_it_is(shape: tuple[int, ...], held: tuple[int, ...]) -> None:
    gradient = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    alone, read = _filled(shape), _filled(shape)
    kept = [read[which].read() for which in held]
    before = [array.copy() for array in kept]
    for variables in (alone, read):
        _momentum(variables, gradient)
    for ours, theirs in zip(alone, read, strict=True):
        np.testing.assert_array_equal(ours.read(), theirs.read())
    for array, value in zip(kept, before, strict=True):
        np.testing.assert_array_equal(array, value)
