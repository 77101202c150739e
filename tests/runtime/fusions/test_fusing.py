"""Element-wise operations of large arrays, computed together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.native import layers
from tensorkeep.native.chains import SMALLEST
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.native.implementations import implementation
from tests.runtime.flow import add, less, multiply, repeat

sigmoid, relu, negative, reshape, greater = (get_op(name) for name in ("Sigmoid", "Relu", "Neg", "Reshape", "Greater"))

ROWS = SMALLEST

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _matrix(name: str = "x") -> Tensor:
    found: Tensor = placeholder(dtype="float32", shape=[None, 8], name=name)
    return found


def _values(seed: int = 1, rows: int = ROWS) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, 8)).astype(np.float32)


def _run_apart(graph: Graph, fetches: Any, feeds: Any) -> Any:
    """What a session without the library gives."""
    with implementation("NumPy"):
        return Session(graph).run(fetches, feeds)


def _scaled(x: Tensor) -> Any:
    scale, offset = constant(np.arange(8, dtype=np.float32)), constant(np.ones(8, np.float32))
    y = add(multiply(x, scale), offset)
    return multiply(y, sigmoid(y))


def test_they_are_one_call() -> None:
    with building(Graph()) as graph:
        x = _matrix()
        y = _scaled(x)
    session = Session(graph)
    session.run(y, {x: _values()})
    lines = session._programs.compiled[-1].text.splitlines()
    assert sum("is None:" in line for line in lines) == 1
    assert not any(line.startswith("    v") and "*" in line for line in lines)


@pytest.mark.parametrize("rows", [0, 1, ROWS], ids=["none", "few", "many"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: [_scaled(x)],
        lambda x: (lambda y: [relu(y), y])(_scaled(x)),  # fetched in between
        lambda x: (lambda y: [relu(y), get_op("Sum")(y, [0])])(negative(x)),  # used by others
        lambda x: (lambda y: [relu(reshape(y, [-1, 4]))])(_scaled(x)),  # seen with another shape
        lambda x: [add(multiply(x, x), get_op("Sum")(x, [0]))],  # a row beside a matrix
        lambda x: [add(x, get_op("Mean")(x, [1], keep_dims=True))],  # a column
        lambda x: [get_op("BiasAdd")(negative(x), constant(np.arange(8, dtype=np.float32)))],
        lambda x: [get_op("LeakyRelu")(negative(x), alpha=0.3)],
        lambda x: [get_op("LeakyRelu")(negative(get_op("LeakyRelu")(x, alpha=0.25)), alpha=2.0)],
        lambda x: [get_op("SelectV2")(greater(x, constant(0.5)), negative(x), constant(0.0))],
        lambda x: [greater(negative(x), constant(0.5))],
        lambda x: (lambda truths: [get_op("SelectV2")(truths, x, constant(1.0)), truths])(greater(x, constant(0.5))),
    ],
    ids=[
        "chain",
        "fetched",
        "used",
        "viewed",
        "row",
        "column",
        "bias",
        "leaky",
        "two slopes",
        "chosen",
        "truths",
        "both",
    ],
)
def test_results_are_those_of_the_operations(make: Callable[[Tensor], list[Tensor]], rows: int) -> None:
    with building(Graph()) as graph:
        x = _matrix()
        results = make(x)
    given = _values(rows=rows)
    before = given.copy()
    for actual, expected in zip(
        Session(graph).run(results, {x: given}), _run_apart(graph, results, {x: given}), strict=True
    ):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(given, before)


def test_what_is_known_to_be_large_is_one_call_though_no_input_is() -> None:
    """A column and a row: the sum has the shape of neither."""
    with building(Graph()) as graph:
        column = placeholder(dtype="float32", shape=[ROWS, 1], name="column")
        row = placeholder(dtype="float32", shape=[8], name="row")
        result = relu(add(column, row))
    given = {column: _values()[:, :1], row: np.arange(8, dtype=np.float32) - 4}
    session = Session(graph)
    found = session.run(result, given)
    np.testing.assert_array_equal(found, _run_apart(graph, result, given))
    assert sum("is None:" in line for line in session._programs.compiled[-1].text.splitlines()) == 1


def test_the_gradient_of_a_leaky_function_needs_equal_shapes() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[ROWS, 8], name="x")
        result = get_op("LeakyReluGrad")(negative(x), x, alpha=0.1)
    np.testing.assert_array_equal(Session(graph).run(result, {x: _values()}), _run_apart(graph, result, {x: _values()}))


def test_in_a_loop_each_round_has_its_own() -> None:
    with building(Graph()) as graph:
        x = _matrix()
        one, many, zero = constant(1.0), constant(3.0), constant(0.0)
        _, total = repeat(
            "frame",
            lambda i, total, one, many, x: less(i, many),
            lambda i, total, one, many, x: [add(i, one), add(negative(total), multiply(x, x))],
            [zero, identity(x)],
            [one, many, x],
        )
    given = _values()
    squares = given * given
    np.testing.assert_allclose(Session(graph).run(total, {x: given}), squares - given, rtol=1e-5, atol=1e-5)


def test_a_value_that_was_read_before_a_variable_changed_stays() -> None:
    """Nothing is put off until after a change of state."""
    with building(Graph()) as graph:
        handle = get_op("VarHandleOp")(dtype="float32", shape=[ROWS, 8], shared_name="w")
        x = _matrix()
        start = get_op("AssignVariableOp")(handle, x)
        read = get_op("ReadVariableOp")(handle, dtype="float32")
        negated = negative(read)
        with control_dependencies([negated.op]):
            change = get_op("AssignAddVariableOp")(handle, x)
        with control_dependencies([change]):
            result = relu(add(negated, get_op("ReadVariableOp")(handle, dtype="float32")))
    session = Session(graph)
    given = np.abs(_values())
    session.run(start, {x: given})
    np.testing.assert_allclose(session.run(result, {x: given}), given, rtol=1e-6)


def test_an_error_names_the_operation_that_does_not_fit() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, None], name="x")
        y = placeholder(dtype="float32", shape=[None, None], name="y")
        result = relu(add(multiply(x, x), y, name="sum"))
    with pytest.raises(InvalidArgumentError, match=r"Incompatible shapes(.|\n)*\[\[node sum \(Add"):
        Session(graph).run(result, {x: _values(), y: np.ones((ROWS + 1, 8), np.float32)})


def test_a_bias_of_another_length_is_refused_as_ever() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, None], name="x")
        bias = placeholder(dtype="float32", shape=[None], name="bias")
        result = relu(get_op("BiasAdd")(x, bias))
    with pytest.raises(InvalidArgumentError, match="as many biases"):
        Session(graph).run(result, {x: _values(), bias: np.ones(1, np.float32)})
