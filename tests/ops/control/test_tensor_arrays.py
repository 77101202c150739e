"""Stacks and arrays of tensors as nodes, in all their generations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import AbortedError, InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.ops.walking import import_all_ops

import_all_ops()

VERSIONS = ["", "V2", "V3"]
ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


class Array:
    """An array of one generation."""

    def __init__(self, version: str, size: int = 3, **attrs: Any) -> None:
        self._version = version
        made = get_op(f"TensorArray{version}")(size, dtype="float32", **attrs)
        self.handle, self.flow = made if version == "V3" else (made, constant(0.0))

    def __call__(self, what: str, *inputs: Any, **attrs: Any) -> Any:
        return get_op(f"TensorArray{what}{self._version}")(self.handle, *inputs, self.flow, **attrs)

    def then(self, what: str, *inputs: Any) -> Array:
        self.flow = self(what, *inputs)
        return self

    def gradient(self) -> Array:
        """Another array object for its gradients."""
        other = object.__new__(Array)
        other._version = self._version
        made = get_op(f"TensorArrayGrad{self._version}")(self.handle, self.flow, source="gradients")
        other.handle = made[0] if self._version == "V3" else made
        other.flow = self.flow
        return other


@pytest.mark.parametrize("version", VERSIONS)
def test_writing_and_reading(graph: Graph, version: str) -> None:
    array = Array(version).then("Write", 1, ROWS[0]).then("Scatter", [2, 0], ROWS[1:])
    value = array("Read", 1, dtype="float32")
    rest = array("Gather", [0, 2], dtype="float32")
    found = Session(graph).run([value, rest, array("Size")])
    assert [np.asarray(item).tolist() for item in found] == [[0.0, 1.0], [[4.0, 5.0], [2.0, 3.0]], 3]


@pytest.mark.parametrize("version", VERSIONS)
def test_splitting_and_joining(graph: Graph, version: str) -> None:
    array = Array(version, 2).then("Split", ROWS, np.array([1, 2]))
    value, lengths = array("Concat", dtype="float32")
    found = Session(graph).run([value, lengths])
    np.testing.assert_array_equal(found[0], ROWS)
    assert found[1].tolist() == [1, 2]


@pytest.mark.parametrize("version", VERSIONS)
def test_gradients_add_up_and_are_zero_elsewhere(graph: Graph, version: str) -> None:
    gradient = Array(version).then("Scatter", [0, 1, 2], ROWS).gradient()
    gradient = gradient.then("Write", 0, ROWS[1]).then("Write", 0, ROWS[2])
    value = gradient("Gather", [0, 1, 2], dtype="float32")
    assert Session(graph).run(value).tolist() == [[6.0, 8.0], [0.0, 0.0], [0.0, 0.0]]


def test_gradients_may_have_more_dimensions(graph: Graph) -> None:
    array = Array("V3").then("Scatter", [0, 1, 2], ROWS)
    handle, flow = get_op("TensorArrayGradWithShape")(array.handle, array.flow, [4], source="gradients")
    value = get_op("TensorArrayReadV3")(handle, 1, flow, dtype="float32")
    assert Session(graph).run(value).shape == (4, 2)


@pytest.mark.parametrize("version", VERSIONS)
def test_closing(graph: Graph, version: str) -> None:
    array = Array(version).then("Write", 0, ROWS[0])
    with control_dependencies([array.flow]):
        closed = get_op(f"TensorArrayClose{version}")(array.handle)
    with control_dependencies([closed]):
        value = array("Read", 0, dtype="float32")
    with pytest.raises(InvalidArgumentError, match="closed"):
        Session(graph).run(value)


def test_packing_and_unpacking_of_the_first_generation(graph: Graph) -> None:
    array = Array("").then("Unpack", ROWS)
    np.testing.assert_array_equal(Session(graph).run(array("Pack", dtype="float32")), ROWS)


@pytest.mark.parametrize(
    ("what", "inputs", "message"),
    [
        ("Write", (3, ROWS[0]), "not resizeable"),
        ("Write", (-1, ROWS[0]), "not resizeable"),
        ("Write", (0, np.array([1])), "dtype"),
        ("Scatter", ([0, 1], ROWS), "len"),
        ("Scatter", ([0, 7, 1], ROWS), "not resizeable"),
        ("Split", (ROWS, np.array([1, 1, 5])), "sum of lengths"),
        ("Split", (ROWS, np.array([4, -1, 0])), "sum of lengths"),
        ("Split", (ROWS, np.array([3])), "not equal"),
    ],
)
def test_what_does_not_fit_is_refused(graph: Graph, what: str, inputs: tuple[Any, ...], message: str) -> None:
    array = Array("V3")
    with pytest.raises(InvalidArgumentError, match=message):
        Session(graph).run(array(what, *inputs))


def test_elements_of_several_shapes_do_not_stack(graph: Graph) -> None:
    array = Array("V3", 2).then("Write", 0, ROWS[0]).then("Write", 1, ROWS)
    with pytest.raises(InvalidArgumentError, match="inconsistent shapes"):
        Session(graph).run(array("Gather", [0, 1], dtype="float32"))
    with pytest.raises(InvalidArgumentError, match="inconsistent shapes"):
        Session(graph).run(array("Concat", dtype="float32"))


def test_an_array_without_elements_stacks_if_their_shape_is_known(graph: Graph) -> None:
    known, unknown = Array("V3", 0, element_shape=[2]), Array("V3", 0)
    nothing = np.zeros(0, np.int32)
    session = Session(graph)
    assert session.run(known("Gather", nothing, dtype="float32", element_shape=[2])).shape == (0, 2)
    assert session.run(known("Concat", dtype="float32", element_shape_except0=[4])[0]).shape == (0, 4)
    with pytest.raises(InvalidArgumentError, match="zero"):
        session.run(unknown("Gather", nothing, dtype="float32"))


def test_the_handle_tells_the_shape_of_elements(graph: Graph) -> None:
    array = Array("V3", element_shape=[2, None], identical_element_shapes=True)
    assert array("Read", 0, dtype="float32").static_shape.dims == (2, None)
    assert array("Gather", [0, 1], dtype="float32").static_shape.dims == (2, 2, None)
    with pytest.raises(InvalidArgumentError):
        array("Write", 0, np.zeros((3, 1), np.float32))


# ---------------------------------------------------------------------------------------------------- Stacks


def stack(version: str, **attrs: Any) -> Tensor:
    inputs = [attrs.pop("max_size", -1)] if version == "V2" else []
    made: Tensor = get_op(f"Stack{version}")(*inputs, elem_type="float32", **attrs)
    return made


@pytest.mark.parametrize("version", ["", "V2"])
def test_a_stack_gives_back_the_last_value_first(graph: Graph, version: str) -> None:
    handle = stack(version)
    push, pop = get_op(f"StackPush{version}"), get_op(f"StackPop{version}")
    with control_dependencies([push(handle, 1.0)]):
        second = push(handle, 2.0)
    with control_dependencies([second]):
        top = pop(handle, elem_type="float32")
    with control_dependencies([top]):
        bottom = pop(handle, elem_type="float32")
    assert Session(graph).run([top, bottom]) == [2.0, 1.0]


@pytest.mark.parametrize("version", ["", "V2"])
def test_an_empty_or_closed_stack_has_nothing(graph: Graph, version: str) -> None:
    pop = get_op(f"StackPop{version}")
    with pytest.raises(InvalidArgumentError, match="empty"):
        Session(graph).run(pop(stack(version), elem_type="float32"))
    handle = stack(version)
    with control_dependencies([get_op(f"StackClose{version}")(handle)]):
        value = pop(handle, elem_type="float32")
    with pytest.raises(InvalidArgumentError, match="closed"):
        Session(graph).run(value)


def test_a_stack_may_have_a_limit(graph: Graph) -> None:
    handle = stack("V2", max_size=1)
    push = get_op("StackPushV2")
    with control_dependencies([push(handle, 1.0)]):
        second = push(handle, 2.0)
    with pytest.raises(InvalidArgumentError, match="overflowed"):
        Session(graph).run(second)


# ---------------------------------------------------------------------------------------------------- References


def test_a_reference_is_passed_on(graph: Graph) -> None:
    variables = [get_op("VariableV2")(shape=[], dtype="float32", name=name) for name in ("a", "b")]
    starts = [get_op("Assign")(variable, value) for variable, value in zip(variables, (1.0, 2.0), strict=True)]
    session = Session(graph)
    session.run(starts)
    chosen = get_op("RefSelect")(1, variables)
    changed = get_op("AssignAdd")(get_op("RefIdentity")(chosen), 5.0)
    assert session.run(changed) == 7.0
    assert session.run(variables) == [1.0, 7.0]
    with pytest.raises(InvalidArgumentError, match="range"):
        session.run(get_op("RefSelect")(2, variables))


def test_abort_ends_the_run(graph: Graph) -> None:
    with pytest.raises(AbortedError, match="that is it"):
        Session(graph).run(get_op("Abort")(error_msg="that is it"))
