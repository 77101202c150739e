"""Messages that were cut into chunks, joined again."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.proto.chunked import ChunkedMessage, ChunkMetadata, FieldIndex, join_chunks
from tensorkeep.proto.messages import GraphDef, NodeDef, SavedModel, serialize


def way(*steps: int | str | tuple[int]) -> list[FieldIndex]:
    """Numbers are fields, texts are keys of maps, numbers in brackets are places in lists."""
    found = []
    for step in steps:
        if isinstance(step, tuple):
            found.append(FieldIndex(index=step[0]))
        elif isinstance(step, str):
            found.append(FieldIndex(map_key={"s": step}))
        else:
            found.append(FieldIndex(field=step))
    return found


def joined(message_type, chunks: list[bytes], root: int | None, *fields: tuple[list[FieldIndex], int]):
    metadata = ChunkMetadata()
    if root is not None:
        metadata.message.chunk_index = root
    for tags, index in fields:
        metadata.message.chunked_fields.add(field_tag=tags, message={"chunk_index": index})
    return join_chunks(message_type, metadata, lambda index: chunks[index])


def test_a_message_is_its_first_chunk_and_what_is_merged_into_it() -> None:
    base = SavedModel(saved_model_schema_version=1, meta_graphs=[{"meta_info_def": {"tags": ["serve"]}}])
    graph = GraphDef(node=[{"name": "a", "op": "NoOp"}])
    found = joined(SavedModel, [serialize(base), serialize(graph)], 0, (way(2, (0,), 2), 1))
    base.meta_graphs[0].graph_def.CopyFrom(graph)
    assert found == base


def test_parts_of_a_list_are_joined_in_order() -> None:
    parts = [GraphDef(node=[{"name": f"n{i}", "op": "NoOp"}]) for i in range(3)]
    found = joined(GraphDef, [serialize(part) for part in parts], None, ([], 1), ([], 0), ([], 2))
    assert [node.name for node in found.node] == ["n0", "n1", "n2"]


def test_bytes_of_a_constant_are_a_chunk_of_their_own() -> None:
    base = GraphDef(node=[{"name": "c", "op": "Const"}])
    base.node[0].attr["value"].tensor.dtype = 1
    found = joined(GraphDef, [serialize(base), b"\0\0\x80\x3f"], 0, (way(1, (0,), 5, "value", 8, 4), 1))
    assert found.node[0].attr["value"].tensor.tensor_content == b"\0\0\x80\x3f"
    assert found.node[0].attr["value"].tensor.dtype == 1


def test_what_contains_comes_before_what_is_contained_whatever_the_order() -> None:
    node = serialize(NodeDef(name="second", op="NoOp"))
    first = serialize(NodeDef(name="first", op="NoOp"))
    found = joined(GraphDef, [node, first], None, (way(1, (1,)), 0), (way(1, (0,)), 1))
    assert [item.name for item in found.node] == ["first", "second"]


def test_trees_of_chunks_are_joined() -> None:
    metadata = ChunkMetadata()
    inner = ChunkedMessage(chunk_index=0)
    inner.chunked_fields.add(field_tag=way(2), message={"chunk_index": 1})
    metadata.message.chunked_fields.add(field_tag=way(1, (0,)), message=inner)
    chunks = [serialize(NodeDef(name="n")), b"Identity"]
    assert join_chunks(GraphDef, metadata, chunks.__getitem__).node[0].op == "Identity"


@pytest.mark.parametrize(
    "tags",
    [way(99), way("key"), way((0,)), way(1, (1 << 40,)), way(1), way(1, (0,), 1, 3), way(1, (0,), (0,)), way(3, "a")],
)
def test_places_that_a_message_does_not_have_are_damage(tags: list[FieldIndex]) -> None:
    with pytest.raises(DataLossError):
        joined(GraphDef, [b"\x0a\x01x"], None, (tags, 0))


def test_endless_nesting_and_wrong_chunks_are_damage() -> None:
    metadata = ChunkMetadata()
    message = metadata.message
    for _ in range(90):
        message = message.chunked_fields.add().message
    join_chunks(GraphDef, metadata, lambda index: b"")
    for _ in range(50):
        message = message.chunked_fields.add().message
    with pytest.raises(DataLossError, match="deeper"):
        join_chunks(GraphDef, metadata, lambda index: b"")
    with pytest.raises(DataLossError, match="not a valid GraphDef"):
        joined(GraphDef, [b"\xff"], 0)


def test_chunks_of_a_later_version_are_refused() -> None:
    with pytest.raises(UnimplementedError, match="version 9"):
        join_chunks(GraphDef, ChunkMetadata(version={"join_version": 9}), lambda index: b"")
