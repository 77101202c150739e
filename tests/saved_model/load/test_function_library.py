"""Functions of strangers are looked at before they run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import tensorkeep.ops.every  # noqa: F401 - what ops do is known once they are imported
from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError
from tensorkeep.proto.messages import GraphDef
from tensorkeep.saved_model.load.function_library import FunctionLibrary
from tensorkeep.saved_model.load.permissions import Permissions
from tests.support.effort import at_most_lines


def graph_of(**calls: Sequence[str]) -> GraphDef:
    """Functions by name with what their nodes call or, in capitals, which ops these are."""
    proto = GraphDef()
    for name, called in calls.items():
        function = proto.library.function.add()
        function.signature.name = name
        for i, other in enumerate(called):
            node = function.node_def.add(name=f"n{i}", op=other if other[0].isupper() else "StatefulPartitionedCall")
            if not other[0].isupper():
                node.attr["f"].func.name = other
    return proto


@pytest.mark.parametrize("calls", [{"f": ["f"]}, {"f": ["g"], "g": ["h"], "h": ["f"]}])
def test_functions_that_call_themselves_are_refused(calls: dict[str, Sequence[str]]) -> None:
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        FunctionLibrary(graph_of(**calls))


def test_a_function_that_names_itself_in_a_list_or_as_an_op_is_refused() -> None:
    proto = graph_of(f=["NoOp"])
    proto.library.function[0].node_def[0].op = "f"
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        FunctionLibrary(proto)
    proto.library.function[0].node_def[0].op = "Case"
    proto.library.function[0].node_def[0].attr["branches"].list.func.add(name="f")
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        FunctionLibrary(proto)


def test_calls_that_double_with_every_level_are_refused_at_once() -> None:
    calls = {f"f{i}": [f"f{i + 1}"] * 2 for i in range(200)} | {"f200": ["NoOp"]}
    with at_most_lines(200_000), pytest.raises(InvalidArgumentError, match="no single call of it would end"):
        FunctionLibrary(graph_of(**calls))


def test_a_long_chain_of_calls_is_walked_without_recursion() -> None:
    calls = {f"f{i}": [f"f{i + 1}"] for i in range(5000)} | {"f5000": ["PrintV2"]}
    library = FunctionLibrary(graph_of(**calls))
    assert len(library.reachable(["f0"])) == 5001
    with pytest.raises(PermissionDeniedError, match="PrintV2"):
        library.check_function("f0", Permissions())


def test_what_a_called_function_does_counts_for_its_callers_only() -> None:
    library = FunctionLibrary(graph_of(f=["g"], g=["PrintV2", "WriteFile"], h=["NoOp"]))
    library.check_function("h", Permissions())
    with pytest.raises(PermissionDeniedError, match=r"\(PrintV2\) of function g prints.*\(WriteFile\).*writes files"):
        library.check_function("f", Permissions())


def test_what_is_allowed_is_allowed_by_op_or_by_class() -> None:
    library = FunctionLibrary(graph_of(f=["PrintV2"], g=["Print"]))
    library.check_function("f", Permissions.of(["PrintV2"]))
    library.check_function("g", Permissions.of(["prints"]))
    with pytest.raises(PermissionDeniedError):
        library.check_function("g", Permissions.of(["PrintV2"]))


def test_the_gradient_that_the_library_names_is_looked_at_before_it_runs() -> None:
    proto = graph_of(f=["g"], g=["NoOp"], h=["PrintV2"])
    proto.library.function[0].node_def[0].op = "SymbolicGradient"
    library = FunctionLibrary(proto)
    library.check_function("f", Permissions())
    proto.library.gradient.add(function_name="g", gradient_func="h")
    with pytest.raises(PermissionDeniedError, match=r"PrintV2\) of function h prints"):
        FunctionLibrary(proto).check_function("f", Permissions())


def test_a_gradient_that_calls_itself_is_refused() -> None:
    proto = graph_of(f=["f"])
    proto.library.function[0].node_def[0].op = "SymbolicGradient"
    proto.library.function.add().signature.name = "g"
    proto.library.gradient.add(function_name="f", gradient_func="f")
    with pytest.raises(InvalidArgumentError, match="calls itself"):
        FunctionLibrary(proto)
