"""Models in chunks."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError, UnimplementedError
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.chunked import ChunkInfo, ChunkMetadata, FieldIndex
from tensorkeep.proto.messages import SavedModel, serialize
from tensorkeep.saved_model.edit.directory_edits import rewrite_model
from tensorkeep.saved_model.edit.message_edits import strip_devices
from tensorkeep.saved_model.files.layout import contains_saved_model, read_saved_model
from tests.support.golden import ROOT
from tests.support.riegeli import RiegeliWriter
from tests.support.riegeli_samples import chunked_model


def chunked(model: SavedModel, index: int = 0, size: int = 0) -> bytes:
    """A model whose graph is a chunk of its own, and one constant of that graph another."""
    rest = SavedModel()
    rest.CopyFrom(model)
    graph = rest.meta_graphs[0].graph_def
    place = next(i for i, node in enumerate(graph.node) if node.attr["value"].tensor.tensor_content)
    content = graph.node[place].attr["value"].tensor.tensor_content
    graph.node[place].attr["value"].tensor.ClearField("tensor_content")
    parts = [b"", serialize(graph), content]
    rest.meta_graphs[0].ClearField("graph_def")
    parts[0] = serialize(rest)
    writer = RiegeliWriter()
    positions = [*writer.write(parts[:2]), *writer.write(parts[2:])]
    kinds = (ChunkInfo.MESSAGE, ChunkInfo.MESSAGE, ChunkInfo.BYTES)
    metadata = ChunkMetadata(version={"splitter_version": 1})
    for part, kind, position in zip(parts, kinds, positions, strict=True):
        metadata.chunks.add(type=kind, size=len(part) + size, offset=position)
    metadata.message.chunk_index = index
    metadata.message.chunked_fields.add(
        field_tag=[FieldIndex(field=2), FieldIndex(index=0), FieldIndex(field=2)], message={"chunk_index": 1}
    )
    way = [2, (0,), 2, 1, (place,), 5, "value", 8, 4]
    tags = [
        FieldIndex(index=step[0])
        if isinstance(step, tuple)
        else FieldIndex(map_key={"s": step})
        if isinstance(step, str)
        else FieldIndex(field=step)
        for step in way
    ]
    metadata.message.chunked_fields.add(field_tag=tags, message={"chunk_index": 2})
    writer.write([serialize(metadata)])
    return bytes(writer.data)


@pytest.mark.parametrize("case", ["g26_tf1_simple_save", "g28_tf2_module", "g30_keras_conv_bn"])
def test_a_model_in_chunks_is_the_model(case: str) -> None:
    model = SavedModel.FromString((ROOT / case / "model" / "saved_model.pb").read_bytes())
    if not any(node.attr["value"].tensor.tensor_content for node in model.meta_graphs[0].graph_def.node):
        node = model.meta_graphs[0].graph_def.node.add(name="added", op="Const")
        node.attr["value"].tensor.tensor_content = b"content"
    model = SavedModel.FromString(serialize(model))
    fs = MemoryFileSystem({"m/saved_model.cpb": chunked(model)})
    assert contains_saved_model("m", fs)
    found = read_saved_model("m", fs)
    # Looking at an attribute makes it; both are compared as they are written.
    for proto in (found, model):
        for node in proto.meta_graphs[0].graph_def.node:
            _ = node.attr["value"].tensor
    assert found == model


def test_chunks_that_are_not_there_or_of_another_size_are_damage() -> None:
    model = SavedModel.FromString((ROOT / "g28_tf2_module" / "model" / "saved_model.pb").read_bytes())
    model.meta_graphs[0].graph_def.node.add(name="c", op="Const").attr["value"].tensor.tensor_content = b"c"
    for data, words in (
        (chunked(model, index=9), "has 3 chunks, but number 9 is wanted"),
        (chunked(model, size=1), "expected"),
        (b"not riegeli at all" * 10, "signature|hash"),
    ):
        with pytest.raises(DataLossError, match=words):
            read_saved_model("m", MemoryFileSystem({"m/saved_model.cpb": data}))


def test_a_model_in_chunks_is_not_written() -> None:
    model = SavedModel.FromString((ROOT / "g28_tf2_module" / "model" / "saved_model.pb").read_bytes())
    model.meta_graphs[0].graph_def.node.add(name="c", op="Const").attr["value"].tensor.tensor_content = b"c"
    fs = MemoryFileSystem({"m/saved_model.cpb": chunked(model)})
    with pytest.raises(UnimplementedError, match="in chunks"):
        rewrite_model("m", "n", strip_devices, fs=fs)


def test_a_model_in_chunks_that_the_riegeli_library_compressed_by_brotli_is_the_model() -> None:
    folder = ROOT / "g26_tf1_simple_save" / "model"
    fs = MemoryFileSystem({"m/saved_model.cpb": chunked_model()})
    assert read_saved_model("m", fs) == SavedModel.FromString((folder / "saved_model.pb").read_bytes())
