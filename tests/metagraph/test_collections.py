"""Collections as messages."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from google.protobuf import any_pb2, wrappers_pb2
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import AlreadyExistsError, DataLossError, NotFoundError, WrongTypeError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph import collections
from tensorkeep.metagraph.collections import (
    CollectionDecoder,
    encode_collection,
    is_included,
    proto_functions,
    register_proto_function,
)
from tensorkeep.proto.messages import CollectionDef, SaverDef, VariableDef
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.variables.variable import Variable


@pytest.fixture
def graph() -> Graph:
    made = Graph()
    with building(made), name_scope("s"):
        constant(1.0, name="c")
    return made


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "_REGISTRY", dict(collections._REGISTRY))


def there_and_back(items: list[Any], scope: str = "") -> list[Any]:
    proto = encode_collection("k", items)
    assert proto is not None
    return CollectionDecoder(Graph(), scope).decode("k", proto)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1))
def test_whole_numbers_come_back(items: list[int]) -> None:
    assert there_and_back(items) == items


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1))
def test_other_numbers_come_back(items: list[float]) -> None:
    assert there_and_back(items) == items


@given(st.lists(st.binary(), min_size=1))
def test_bytes_come_back_whatever_they_are(items: list[bytes]) -> None:
    assert there_and_back(items) == items


def test_text_comes_back_as_bytes_and_below_a_scope_as_if_it_were_a_name() -> None:
    assert there_and_back(["hello", b"you"]) == [b"hello", b"you"]
    assert there_and_back(["hello", b"\xff"], "imp") == ["imp/hello", b"\xff"]


def test_a_message_of_any_kind_comes_back_as_protobufs_own_any() -> None:
    packed = any_pb2.Any()
    packed.Pack(wrappers_pb2.Int64Value(value=7))
    (found,) = there_and_back([packed], "imp")
    assert isinstance(found, any_pb2.Any)
    assert found == packed


def test_tensors_and_operations_are_stored_by_name(graph: Graph) -> None:
    op = graph.operation("s/c")
    proto = encode_collection("k", [op, op.outputs[0]])
    assert proto is not None
    assert list(proto.node_list.value) == ["s/c", "s/c:0"]
    assert CollectionDecoder(graph, "").decode("k", proto) == [op, op.outputs[0]]


def test_a_scope_is_taken_off_names_and_what_is_outside_is_left_out(graph: Graph) -> None:
    with building(graph):
        outside = constant(1.0, name="outside")
    proto = encode_collection("k", [graph.tensor("s/c:0"), outside], "s")
    assert proto is not None
    assert list(proto.node_list.value) == ["c:0"]
    assert CollectionDecoder(graph, "s").decode("k", proto) == [graph.tensor("s/c:0")]


@pytest.mark.parametrize(
    "items",
    [[1, "a"], ["a", 1], [1, 2.5], [None], [object()], [1 << 63], [True], [{"a": 1}], [any_pb2.Any(), 1]],
    ids=["mixed", "mixed the other way", "numbers", "nothing", "an object", "too large", "a truth", "a dict", "any"],
)
def test_what_cannot_be_stored_is_left_out_with_a_warning(items: list[Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tensorkeep"):
        assert encode_collection("odd", items) is None
    assert "Issue encountered when serializing odd." in caplog.text


def test_a_sparse_tensor_is_left_out_rather_than_stored_in_part(graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    with building(graph):
        sparse = SparseTensor([[0]], [1.0], [2])
    with caplog.at_level(logging.WARNING, "tensorkeep"):
        assert encode_collection("odd", [sparse]) is None
    assert "Issue encountered when serializing odd." in caplog.text


def test_a_variable_in_two_collections_is_one_object() -> None:
    graph = Graph()
    with building(graph):
        variable = Variable(np.float32(1), name="v")
        first, second = (encode_collection(key, [variable]) for key in ("variables", "trainable_variables"))
        assert first is not None
        assert second is not None
        decoder = CollectionDecoder(graph, "")
        (one,), (two,) = decoder.decode("variables", first), decoder.decode("trainable_variables", second)
    assert one is two
    assert one is not variable
    assert one.name == "v:0"


def test_old_files_do_not_say_what_is_trainable_but_the_collection_does() -> None:
    graph = Graph()
    with building(graph):
        kept = Variable(np.float32(1), name="kept", trainable=False)
        learned = Variable(np.float32(1), name="learned")
        decoder = CollectionDecoder(graph, "", marks_trainable=False)

        def old(key: str, *variables: Any) -> list[Any]:
            proto = CollectionDef()
            for variable in variables:
                message = variable.to_proto()
                message.ClearField("trainable")
                proto.bytes_list.value.append(message.SerializeToString())
            return decoder.decode(key, proto)

        old("trainable_variables", learned)
        found = old("variables", kept, learned)
    assert [(variable.name, variable.trainable) for variable in found] == [("kept:0", False), ("learned:0", True)]


def test_a_collection_of_no_kind_is_skipped_with_a_message(caplog: pytest.LogCaptureFixture) -> None:
    assert CollectionDecoder(Graph(), "").decode("k", CollectionDef()) == []
    assert "Cannot identify data type for collection k" in caplog.text


def test_damaged_items_are_refused_with_the_name_of_the_collection() -> None:
    proto = CollectionDef()
    proto.bytes_list.value.append(b"\xff\xff")
    with pytest.raises(DataLossError, match="collection 'variables'"):
        CollectionDecoder(Graph(), "").decode("variables", proto)


def test_a_variable_of_nodes_that_are_none_of_a_variable_is_refused(graph: Graph) -> None:
    proto = CollectionDef()
    names = {"variable_name": "s/c", "initializer_name": "s/c", "snapshot_name": "s/c:0"}
    proto.bytes_list.value.append(VariableDef(is_resource=True, **names).SerializeToString())
    with building(graph), pytest.raises(DataLossError, match="collection 'variables': the graph has no such object"):
        CollectionDecoder(graph, "").decode("variables", proto)


def test_names_of_what_is_not_in_the_graph_are_refused() -> None:
    proto = CollectionDef()
    proto.node_list.value.append("nosuch:0")
    with pytest.raises(NotFoundError, match="nosuch"):
        CollectionDecoder(Graph(), "").decode("k", proto)


@pytest.mark.usefixtures("registry")
def test_a_collection_can_be_registered_once() -> None:
    class Thing:
        def __init__(self, count: int) -> None:
            self.count = count

    register_proto_function(
        "things",
        SaverDef,
        lambda thing, export_scope=None: SaverDef(max_to_keep=thing.count) if thing.count else None,
        lambda proto, import_scope=None: Thing(proto.max_to_keep),
    )
    proto = encode_collection("things", [Thing(3), Thing(0)])
    assert proto is not None
    (found,) = CollectionDecoder(Graph(), "").decode("things", proto)
    assert found.count == 3
    with pytest.raises(AlreadyExistsError, match="things"):
        register_proto_function("things")
    with pytest.raises(WrongTypeError, match="to_proto must be callable"):
        register_proto_function("other", to_proto=3)  # type: ignore[arg-type]


@pytest.mark.usefixtures("registry")
def test_a_message_of_another_type_than_registered_is_not_stored(caplog: pytest.LogCaptureFixture) -> None:
    register_proto_function("things", SaverDef, lambda thing, export_scope=None: VariableDef())
    assert encode_collection("things", [object()]) is None
    assert "not a SaverDef" in caplog.text


def test_variables_branches_and_loops_are_registered() -> None:
    for key in ("variables", "trainable_variables", "moving_average_variables", "local_variables", "model_variables"):
        assert proto_functions(key).proto_type is VariableDef
    for key in ("global_step", "metric_variables", "cond_context", "while_context"):
        assert proto_functions(key).from_proto is not None
    assert proto_functions("losses").to_proto is None


@pytest.mark.parametrize(
    ("item", "scope", "included"),
    [
        ("a/b", "a", True),
        ("ab/c", "a", True),
        ("b/a", "a", False),
        (7, "a", True),
        ("x", None, True),
        ("$unbound_inputs_x", "a", True),
        ("drop", None, False),
    ],
)
def test_a_scope_is_the_beginning_of_a_name(item: Any, scope: str | None, included: bool) -> None:
    assert is_included(item, scope, {"drop"}) is included
