"""SavedModel directories: which file, which meta graph."""

from __future__ import annotations

import pytest

from tensorkeep.errors import DataLossError, MissingFileError, NotFoundError
from tensorkeep.io.filesystem import Durability, atomic_write
from tensorkeep.io.memory import MemoryFileSystem
from tensorkeep.proto.messages import SavedModel, serialize
from tensorkeep.proto.text import format_text
from tensorkeep.saved_model.layout import join, meta_graph_with_tags, read_saved_model


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


def test_a_directory_without_a_model_says_what_was_looked_for() -> None:
    with pytest.raises(MissingFileError, match=r"SavedModel file does not exist at: m; .*saved_model\.pb and"):
        read_saved_model("m", stored({}))
    with pytest.raises(DataLossError, match=r"m/saved_model\.pb: not a valid SavedModel"):
        read_saved_model("m", stored({"saved_model.pb": b"\xff\xff\xff"}))


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
