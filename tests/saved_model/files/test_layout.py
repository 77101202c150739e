"""SavedModel directories: which file, which meta graph."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError, MissingFileError, NotFoundError
from tensorkeep.io.files.filesystem import Durability, atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SavedModel, TensorInfo, serialize
from tensorkeep.proto.text import format_text
from tensorkeep.saved_model.files.layout import (
    asset_files,
    contains_saved_model,
    join,
    meta_graph_with_tags,
    read_saved_model,
    signature_with_key,
)


def model(*tag_sets: list[str]) -> SavedModel:
    proto = SavedModel(saved_model_schema_version=1)
    for tags in tag_sets:
        proto.meta_graphs.add().meta_info_def.tags.extend(tags)
    return proto


def stored(files: dict[str, bytes]) -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_directory("m")
    for name, data in files.items():
        atomic_write(fs, f"m/{name}", data, Durability.CACHE)
    return fs


def test_bytes_are_read_before_text_and_text_if_there_are_no_bytes() -> None:
    as_bytes, as_text = serialize(model(["a"])), format_text(model(["b"])).encode()
    both = stored({"saved_model.pb": as_bytes, "saved_model.pbtxt": as_text})
    assert read_saved_model("m", both) == model(["a"])
    assert read_saved_model("m/", stored({"saved_model.pbtxt": as_text})) == model(["b"])


def test_a_directory_without_a_model_says_what_is_there_instead() -> None:
    start = r"SavedModel file does not exist at: m/\{saved_model\.pbtxt\|saved_model\.pb\}"
    with pytest.raises(MissingFileError, match=rf"{start} \(there is nothing\)"):
        read_saved_model("m/", stored({}))
    with pytest.raises(MissingFileError, match=rf"{start} \(there is checkpoint, model\.meta\)"):
        read_saved_model("m", stored({"model.meta": b"", "checkpoint": b""}))
    with pytest.raises(OSError, match=rf"{start} \(there is no such directory\)"):
        read_saved_model("m", MemoryFileSystem())
    versions = MemoryFileSystem({"m/1/saved_model.pb": b"", "m/20/saved_model.pbtxt": b"", "m/other/file": b""})
    with pytest.raises(MissingFileError, match=rf"{start} \(there are models in its folders 1, 20: name one of them\)"):
        read_saved_model("m", versions)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xff\xff", "not a valid SavedModel"),
        (b"", "it is an empty file"),
        (serialize(GraphDef(node=[{"name": "a", "op": "NoOp"}])), "it is a GraphDef"),
        (serialize(MetaGraphDef(meta_info_def={"tags": ["a"]}, graph_def={"node": [{"op": "b"}]})), "a MetaGraphDef"),
        (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        (b"<!DOCTYPE html>", "a web page"),
    ],
)
def test_a_file_that_is_no_model_is_called_what_it_is(data: bytes, words: str) -> None:
    with pytest.raises(OSError, match=rf"Cannot parse file m/saved_model\.pb: .*{words}") as refused:
        read_saved_model("m", stored({"saved_model.pb": data}))
    assert isinstance(refused.value, DataLossError)


def test_a_directory_contains_a_model_if_it_has_the_file_in_any_form() -> None:
    assert not contains_saved_model("m", stored({"other.pb": b""}))
    for name in ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb"):
        assert contains_saved_model("m", stored({name: b""}))
    assert not contains_saved_model("nowhere", stored({}))


def test_a_signature_that_is_not_there_is_an_error_that_describes_those_that_are() -> None:
    meta_graph = MetaGraphDef()
    signature = meta_graph.signature_def["score"]
    signature.inputs["x"].CopyFrom(TensorInfo(name="x:0", dtype=1, tensor_shape={"dim": [{"size": -1}, {"size": 3}]}))
    signature.outputs["y"].CopyFrom(TensorInfo(name="y:0", dtype=7, tensor_shape={"unknown_rank": True}))
    meta_graph.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "init"
    assert signature_with_key(meta_graph, "score") is signature
    with pytest.raises(ValueError, match=r'Could not find signature "x"\. Please choose from: score\n') as refused:
        signature_with_key(meta_graph, "x")
    assert 'signature "score": (x: float32 (?, 3)) -> (y: string of any shape)' in str(refused.value)
    assert "init_op" not in str(refused.value)


def test_a_meta_graph_has_all_tags_and_no_others() -> None:
    proto = model(["serve"], ["gpu", "serve"], [])
    assert meta_graph_with_tags(proto, ["serve"]) is proto.meta_graphs[0]
    assert meta_graph_with_tags(proto, ["serve", "gpu"]) is proto.meta_graphs[1]
    assert meta_graph_with_tags(proto, [""]) is proto.meta_graphs[2]


def test_tags_that_are_not_there_are_an_error_that_lists_those_that_are() -> None:
    with pytest.raises(RuntimeError, match=r"tag-set tpu could not be found.*\['serve', 'gpu,serve'\]") as refused:
        meta_graph_with_tags(model(["serve"], ["serve", "gpu"]), ["tpu"])
    assert isinstance(refused.value, NotFoundError)


def test_paths_are_joined_by_one_slash() -> None:
    assert join("a/b/", "c") == join("a/b", "c") == "a/b/c"


def test_a_damaged_asset_is_an_error_of_ours() -> None:
    meta_graph = MetaGraphDef()
    packed = meta_graph.collection_def["saved_model_assets"].any_list.value.add()
    packed.type_url = "type.googleapis.com/tensorflow.AssetFileDef"
    packed.value = b"\x0a\xff"
    with pytest.raises(DataLossError, match="saved_model_assets"):
        asset_files(meta_graph)
