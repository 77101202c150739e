"""Changed messages keep the bytes of what was not changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.proto.messages import GraphDef, MetaGraphDef, NodeDef, SavedModel, SignatureDef, serialize
from tensorkeep.proto.preserving import serialize_preserving
from tensorkeep.proto.wire import encode_bytes_field, encode_varint_field
from tests.support.golden import ROOT

MODELS = sorted(ROOT.glob("*/model*/saved_model.pb"))


def entry(key: str, info: bytes) -> bytes:
    return encode_bytes_field(1, key.encode()) + encode_bytes_field(2, info)


def awkward_signature() -> bytes:
    """Maps out of order, an unknown field in between, numbers written longer than they need be."""
    parts = [
        encode_bytes_field(1, entry("z", encode_bytes_field(1, b"z:0") + b"\x10\x81\x00")),
        encode_varint_field(900, 7),
        encode_bytes_field(1, entry("a", encode_bytes_field(1, b"a:0"))),
        encode_bytes_field(3, b"method"),
        encode_bytes_field(2, entry("y", encode_bytes_field(1, b"y:0"))),
    ]
    return b"".join(parts)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parts[-3])
def test_a_message_that_is_not_changed_keeps_all_its_bytes(path) -> None:
    data = path.read_bytes()
    assert serialize_preserving(SavedModel.FromString(data), data) == data


def test_one_changed_value_changes_only_its_own_bytes() -> None:
    data = awkward_signature()
    edited = SignatureDef.FromString(data)
    edited.inputs["a"].name = "longer:0"
    found = serialize_preserving(edited, data)
    assert SignatureDef.FromString(found) == edited
    assert found == data.replace(
        encode_bytes_field(1, entry("a", encode_bytes_field(1, b"a:0"))),
        encode_bytes_field(1, entry("a", encode_bytes_field(1, b"longer:0"))),
    )


def test_what_is_added_comes_after_what_was_there_and_what_is_removed_is_gone() -> None:
    data = awkward_signature()
    edited = SignatureDef.FromString(data)
    edited.inputs["b"].name = "b:0"
    del edited.inputs["z"]
    edited.ClearField("method_name")
    found = serialize_preserving(edited, data)
    assert SignatureDef.FromString(found) == edited
    kept = [encode_varint_field(900, 7), encode_bytes_field(2, entry("y", encode_bytes_field(1, b"y:0")))]
    assert all(part in found for part in kept)


def test_nodes_that_stay_keep_their_bytes_when_others_go() -> None:
    nodes = [NodeDef(name=f"n{i}", op="Const", attr={"b": {"i": i}, "a": {"f": float("nan")}}) for i in range(6)]
    raw = [
        encode_bytes_field(1, node.name.encode())
        + encode_bytes_field(2, b"Const")
        + b"".join(encode_bytes_field(5, entry(key, serialize(node.attr[key]))) for key in ("b", "a"))
        for node in nodes
    ]
    data = b"".join(encode_bytes_field(1, item) for item in raw)
    edited = GraphDef.FromString(data)
    del edited.node[1:3]
    assert serialize_preserving(edited, data) == b"".join(encode_bytes_field(1, raw[i]) for i in (0, 3, 4, 5))


@given(st.data())
def test_the_bytes_are_those_of_the_edited_message(data) -> None:
    original = MODELS[0].read_bytes()
    edited = SavedModel.FromString(original)
    meta_graph = edited.meta_graphs[0]
    for _ in range(data.draw(st.integers(1, 4))):
        action = data.draw(st.sampled_from(["tag", "rename", "drop node", "version", "collection", "clear"]))
        if action == "tag":
            meta_graph.meta_info_def.tags.append(data.draw(st.text(max_size=5)))
        elif action == "rename":
            key = data.draw(st.text(min_size=1, max_size=5))
            meta_graph.signature_def[key].method_name = "m"
        elif action == "drop node" and meta_graph.graph_def.node:
            del meta_graph.graph_def.node[data.draw(st.integers(0, len(meta_graph.graph_def.node) - 1))]
        elif action == "version":
            edited.saved_model_schema_version = data.draw(st.integers(-5, 5))
        elif action == "collection":
            meta_graph.collection_def["new"].int64_list.value.append(3)
        else:
            meta_graph.ClearField("saver_def")
    assert serialize(SavedModel.FromString(serialize_preserving(edited, original))) == serialize(edited)


def test_a_field_that_stands_twice_is_written_once_when_it_changes() -> None:
    half = MetaGraphDef()
    half.saver_def.filename_tensor_name = "f"
    other = MetaGraphDef()
    other.saver_def.restore_op_name = "r"
    data = serialize(half) + serialize(other)
    edited = MetaGraphDef.FromString(data)
    edited.saver_def.max_to_keep = 4
    assert serialize_preserving(edited, data) == serialize(edited)
