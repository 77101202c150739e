"""Products and the element-wise operations that follow them, computed together."""

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
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.native.implementations import implementation
from tests.runtime.flow import add, multiply

matmul, conv2d, bias_add, relu, reshape, squeeze, expand_dims = (
    get_op(name) for name in ("MatMul", "Conv2D", "BiasAdd", "Relu", "Reshape", "Squeeze", "ExpandDims")
)
sigmoid, depthwise, batch_matmul = (get_op(name) for name in ("Sigmoid", "DepthwiseConv2dNative", "BatchMatMulV2"))

RANDOM = np.random.default_rng(1)
WEIGHTS, BIAS = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((16, 32), (32,)))
FILTERS = RANDOM.standard_normal((3, 3, 16, 32)).astype(np.float32)
SLIDING: Any = {"strides": [1, 1, 1, 1], "padding": b"SAME"}

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="no compiled code for this processor")


def _dense(x: Tensor) -> Any:
    return relu(bias_add(matmul(x, constant(WEIGHTS)), constant(BIAS)))


def _convolved(x: Tensor) -> Any:
    return relu(bias_add(conv2d(x, constant(FILTERS), **SLIDING), constant(BIAS)))


def _normalized(x: Tensor) -> Any:
    y = conv2d(x, constant(FILTERS[:1, :1]), **SLIDING)
    y = add(multiply(y, constant(BIAS)), constant(BIAS))
    return multiply(y, sigmoid(y))


def _with_both_branches(x: Tensor) -> Any:
    first, second = (conv2d(x, constant(filters), **SLIDING) for filters in (FILTERS, FILTERS[:1, :1]))
    return relu(add(bias_add(first, constant(BIAS)), second))


def _by_channels(x: Tensor) -> Any:
    return relu(bias_add(depthwise(x, constant(FILTERS[..., :1]), **SLIDING), constant(BIAS[:16])))


def _of_transposed(x: Tensor) -> Any:
    filters = constant(RANDOM.standard_normal((3, 3, 32, 16)).astype(np.float32))
    y = get_op("Conv2DBackpropInput")(constant([40, 42]), filters, x, strides=[1, 2, 2, 1], padding=b"SAME")
    return relu(bias_add(y, constant(BIAS)))


def _of_joined(x: Tensor) -> Any:
    joined = get_op("ConcatV2")([x, x, x], constant(-1))
    filters = constant(RANDOM.standard_normal((3, 3, 48, 32)).astype(np.float32))
    return relu(bias_add(conv2d(joined, filters, **SLIDING), constant(BIAS)))


def _of_lines(x: Tensor) -> Any:
    y = conv2d(expand_dims(x, constant(1)), constant(FILTERS[:1]), strides=[1, 1, 1, 1], padding=b"VALID")
    return relu(bias_add(squeeze(y, squeeze_dims=[1]), constant(BIAS)))


def _of_heads(x: Tensor) -> Any:
    product = batch_matmul(x, constant(WEIGHTS))
    return add(reshape(product, constant([-1, 50, 4, 8])), constant(BIAS.reshape(4, 8)))


def _of_holes(x: Tensor) -> Any:
    block, amounts = constant([2]), constant([[2, 0]])
    cut = expand_dims(get_op("SpaceToBatchND")(x, block, amounts), constant(1))
    y = squeeze(conv2d(cut, constant(FILTERS[:1, :2]), strides=[1, 1, 1, 1], padding=b"VALID"), squeeze_dims=[1])
    return relu(bias_add(get_op("BatchToSpaceND")(y, block, constant([[0, 0]])), constant(BIAS)))


CASES: dict[str, tuple[Callable[[Tensor], Any], list[int | None]]] = {
    "dense": (_dense, [None, 16]),
    "convolution": (_convolved, [None, 20, 21, 16]),
    "pointwise": (_normalized, [None, 20, 21, 16]),
    "branches": (_with_both_branches, [None, 20, 21, 16]),
    "depthwise": (_by_channels, [None, 20, 21, 16]),
    "transposed": (_of_transposed, [None, 20, 21, 16]),
    "joined": (_of_joined, [None, 20, 21, 16]),
    "lines": (_of_lines, [None, 50, 16]),
    "heads": (_of_heads, [None, 50, 16]),
    "holes": (_of_holes, [None, 50, 16]),
}


def _graph(name: str) -> tuple[Graph, Tensor, Any, Callable[[int], Array]]:
    make, shape = CASES[name]
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=shape, name="x")
        result = make(x)
    return graph, x, result, lambda batch: RANDOM.standard_normal((batch, *shape[1:])).astype(np.float32)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("batch", [0, 1, 40, 1000])
def test_results_are_those_of_the_operations(name: str, batch: int) -> None:
    if batch == 1000 and CASES[name][1][2:] == [21, 16]:
        batch = 30
    graph, x, result, values = _graph(name)
    given = values(batch)
    before = given.copy()
    found = Session(graph).run(result, {x: given})
    with implementation("NumPy"):
        expected = Session(graph).run(result, {x: given})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("name", CASES)
def test_a_product_and_what_follows_are_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but that is run, once the arrays are large: the kernel of the product would fail."""
    graph, x, result, values = _graph(name)
    session = Session(graph)
    given = values(1000 if x.static_shape.rank in (2, 3) else 30)
    wanted = session.run(result, {x: given})
    program = session._programs.compiled[-1]
    lines = program.text.splitlines()
    start = next(at for at, line in enumerate(lines) if ".size >= 8192 else None" in line)
    inner = [line for line in lines[start + 2 :] if line.startswith("     ")]
    assert inner  # the operations one by one
    namespace = dict(program.function.__globals__)
    text = "\n".join(line for line in lines if line not in inner)
    text = text.replace("is None:", "is None: raise AssertionError")
    exec(text, namespace)
    np.testing.assert_array_equal(namespace["run"](given)[0], wanted)


def test_what_others_use_as_well_is_computed_by_itself() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, 16], name="x")
        product = matmul(x, constant(WEIGHTS))
        result = relu(bias_add(product, constant(BIAS)))
    given = RANDOM.standard_normal((2000, 16)).astype(np.float32)
    found, plain = Session(graph).run([result, product], {x: given})
    np.testing.assert_allclose(plain, given @ WEIGHTS, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found, np.maximum(given @ WEIGHTS + BIAS, 0), rtol=1e-4, atol=1e-4)


def test_images_that_are_joined_along_another_axis_or_used_elsewhere_are_joined_first() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, 20, 21, 16], name="x")
        y = placeholder(dtype="float32", shape=[None, None, None, None], name="y")
        higher, deeper = (get_op("ConcatV2")([x, y], constant(axis)) for axis in (1, 3))
        filters = constant(np.concatenate([FILTERS, FILTERS], axis=2))
        results = [
            relu(bias_add(conv2d(higher, constant(FILTERS), **SLIDING), constant(BIAS))),
            relu(bias_add(conv2d(deeper, filters, **SLIDING), constant(BIAS))),
            deeper,
        ]
    given = {each: RANDOM.standard_normal((30, 20, 21, 16)).astype(np.float32) for each in (x, y)}
    found = Session(graph).run(results, given)
    with implementation("NumPy"):
        expected = Session(graph).run(results, given)
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(InvalidArgumentError, match=r"\[\[node .*\(ConcatV2"):
        Session(graph).run(results[1], given | {y: given[y][:, 1:]})


def test_weights_are_those_from_before_a_change() -> None:
    with building(Graph()) as graph:
        handle = get_op("VarHandleOp")(dtype="float32", shape=[16, 32], shared_name="w")
        x = placeholder(dtype="float32", shape=[None, 16], name="x")
        start = get_op("AssignVariableOp")(handle, constant(WEIGHTS))
        product = matmul(x, get_op("ReadVariableOp")(handle, dtype="float32"))
        with control_dependencies([product.op]):
            change = get_op("AssignVariableOp")(handle, constant(2 * WEIGHTS))
        with control_dependencies([change]):
            result = relu(bias_add(product, constant(BIAS)))
    session = Session(graph)
    session.run(start)
    given = RANDOM.standard_normal((2000, 16)).astype(np.float32)
    np.testing.assert_allclose(
        session.run(result, {x: given}), np.maximum(given @ WEIGHTS + BIAS, 0), rtol=1e-4, atol=1e-4
    )


def test_an_error_names_the_operation_that_does_not_fit() -> None:
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, None], name="x")
        y = placeholder(dtype="float32", shape=[None, None], name="y")
        bias = placeholder(dtype="float32", shape=[None], name="bias")
        result = relu(bias_add(matmul(x, y, name="product"), bias, name="sum"))
    session, many = Session(graph), np.ones((2000, 16), np.float32)
    with pytest.raises(InvalidArgumentError, match=r"size-incompatible(.|\n)*\[\[node product \(MatMul"):
        session.run(result, {x: many, y: np.ones((15, 32), np.float32), bias: BIAS})
    with pytest.raises(InvalidArgumentError, match=r"as many biases(.|\n)*\[\[node sum \(BiasAdd"):
        session.run(result, {x: many, y: WEIGHTS, bias: BIAS[:5]})


def test_the_third_power_is_part_of_a_chain() -> None:
    """As the approximate GELU has it, of which NumPy takes twenty times as long as of a product."""
    with building(Graph()) as graph:
        x = placeholder(dtype="float32", shape=[None, 16], name="x")
        power = get_op("Pow")
        result = [
            multiply(x, power(x, constant(3.0))),
            add(power(x, constant(2.0)), x),
            add(power(x, constant(2.5)), x),
        ]
    given = RANDOM.standard_normal((2000, 16)).astype(np.float32)
    found = Session(graph).run(result, {x: given})
    with np.errstate(all="ignore"):
        expected = [given * given**3, given**2 + given, given**2.5 + given]
    for actual, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)
