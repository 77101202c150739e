"""Python functions called by a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import (
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Operation
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.script import numpy_function, py_func, py_function


def called(function: Any, inputs: Any, tout: Any, **options: Any) -> Any:
    with building(Graph()) as graph:
        result = py_func(function, inputs, tout, **options)
    return Session(graph, allow_python=True).run(result)


def test_a_function_gets_arrays_and_scalars_as_numpy_has_them() -> None:
    seen: list[Any] = []

    def look(*arguments: Any) -> Any:
        seen.extend(arguments)
        return np.float32(1)

    assert called(look, [1.0, [1, 2], "s", ["a"], True], "float32") == 1.0
    assert [type(item) for item in seen] == [np.float32, np.ndarray, bytes, np.ndarray, np.bool_]


def test_what_it_returns_are_tensors() -> None:
    assert called(lambda: (1, 2), [], ["int64", "int64"]) == [1, 2]
    assert called(lambda: "text", [], "string") == b"text"
    assert called(lambda: np.array(["a", "bc"]), [], "string").tolist() == [b"a", b"bc"]
    assert called(lambda: np.array([b"a\0", "ü"], object), [], "string").tolist() == [b"a\0", "ü".encode()]
    assert called(lambda x: x + 1, [[1, 2]], "int32", stateful=False).tolist() == [2, 3]


def test_a_function_without_results_is_an_operation() -> None:
    calls: list[int] = []
    with building(Graph()) as graph:
        made = py_func(lambda: calls.append(1), [], [])
    assert isinstance(made, Operation)
    session = Session(graph, allow_python=True)
    session.run(made)
    session.run(made)
    assert calls == [1, 1]


@pytest.mark.parametrize(
    ("returned", "tout", "said"),
    [
        (1.0, "float32", "0-th value returned by pyfunc_.* is double, but expects float"),
        (np.float32(1), "int32", "0-th value returned by pyfunc_.* is float, but expects int32"),
        ((1, 2), ["int64"], "pyfunc_.* returns 2 values, but expects to see 1 values."),
        (None, "float32", "pyfunc_.* returns 0 values, but expects to see 1 values."),
    ],
)
def test_results_of_another_type_or_number_are_refused(returned: Any, tout: Any, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        called(lambda: returned, [], tout)


def test_results_that_no_tensor_holds_are_refused() -> None:
    with pytest.raises(InternalError, match="Unsupported object type dict"):
        called(dict, [], "bool")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), InvalidArgumentError),
        (TypeError("x"), InvalidArgumentError),
        (StopIteration("x"), OutOfRangeError),
        (NotImplementedError("x"), UnimplementedError),
        (MemoryError("x"), ResourceExhaustedError),
        (KeyError("x"), UnknownError),
        (ZeroDivisionError("x"), UnknownError),
        (NotFoundError("x"), UnknownError),
    ],
)
def test_what_a_function_raises_is_named_and_of_tensorflows_class(error: Exception, kind: type[Exception]) -> None:
    def fail() -> Any:
        raise error

    with pytest.raises(kind, match=f"{type(error).__name__}: ") as raised:
        called(fail, [], "int64")
    assert type(raised.value) is kind


def test_sessions_refuse_python_unless_it_is_allowed() -> None:
    with building(Graph()) as graph:
        made = py_func(lambda: 1, [], "int64")
    with pytest.raises(PermissionDeniedError, match=r"calls Python functions, .* allow_python=True"):
        Session(graph).run(made)


def test_a_loaded_graph_lacks_the_functions_of_the_program_that_built_it() -> None:
    with building(Graph()) as graph:
        py_func(lambda: 1, [], "int64", name="call")
    loaded = Graph()
    import_graph(export_graph(graph), loaded, name="")
    with pytest.raises(InvalidArgumentError, match="Could not find callback with key=pyfunc_"):
        Session(loaded, allow_python=True).run("call:0")


def test_functions_registered_after_a_session_was_made_can_be_called() -> None:
    with building(Graph()) as graph:
        session = Session(graph, allow_python=True)
        made = py_func(lambda: 5, [], "int64")
    assert session.run(made) == 5


def test_functions_of_eager_tensors_get_arrays_with_that_method() -> None:
    with building(Graph()) as graph:
        x: Any = placeholder(dtype="float32", shape=[2])
        doubled = py_function(lambda value: value.numpy() * 2, [x], "float32")
        number = py_function(lambda value: float(value.numpy()[0]), [x], ["float32"])
    results = Session(graph, allow_python=True).run([doubled, number], {x: [1.0, 2.0]})
    assert results[0].tolist() == [2.0, 4.0]
    assert results[1] == [1.0]


def test_a_function_may_be_decorated() -> None:
    @numpy_function(Tout="int32")
    def add(x: Any, y: Any) -> Any:
        return x + y

    with building(Graph()) as graph:
        total = add(constant(1), constant(2))
    assert Session(graph, allow_python=True).run(total) == 3
    for arguments in ({}, {"func": add}, {"inp": []}):
        with pytest.raises(TypeError):
            numpy_function(**arguments)
    with building(Graph()), pytest.raises(InvalidArgumentError, match="Expected func to be callable"):
        py_func(3, [], "int32")  # type: ignore[arg-type]
