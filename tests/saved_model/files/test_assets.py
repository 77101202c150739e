"""Files that travel with a model: their names, and which of them are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, MissingFileError
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import Durability
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import AssetFileDef, MetaGraphDef, SavedModel
from tensorkeep.saved_model.files.assets import add_assets, asset_name, asset_path_of, copy_assets, have_same_contents
from tensorkeep.saved_model.files.layout import asset_files
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.constants import constant
from tests.support.golden import ROOT


def names(paths: list[str], contents: dict[str, bytes]) -> list[str]:
    """The names that files get, one after the other."""
    known: dict[str, str] = {}
    found = []
    for path in paths:
        name = asset_name(path, known, lambda one, other: contents[one] == contents[other])
        known[name] = path
        found.append(name)
    return found


def test_files_keep_their_names_and_others_of_the_same_name_get_numbers() -> None:
    contents = {"a/v": b"1", "b/v": b"1", "c/v": b"2", "d/v": b"3", "d/w": b"1"}
    assert names(["a/v", "d/w"], contents) == ["v", "w"]
    assert names(["a/v", "a/v", "b/v"], contents) == ["v", "v", "v"]
    assert names(["a/v", "c/v", "d/v"], contents) == ["v", "v_1", "v_2"]


def test_a_file_listed_twice_is_kept_twice_if_another_has_its_name_as_by_tensorflow() -> None:
    contents = {"a/vocab.txt": b"1", "b/vocab.txt": b"1", "c/vocab.txt": b"2"}
    listed = ["a/vocab.txt", "b/vocab.txt", "c/vocab.txt", "a/vocab.txt", "c/vocab.txt", "b/vocab.txt"]
    found = names(listed, contents)
    assert found == ["vocab.txt", "vocab.txt", "vocab.txt_1", "vocab.txt", "vocab.txt_2", "vocab.txt"]
    data = (ROOT / "g27_tf1_multi" / "model" / "saved_model.pb").read_bytes()
    theirs = asset_files(_first_meta_graph(data))
    assert [asset.filename for asset in theirs] == found


def _first_meta_graph(data: bytes) -> MetaGraphDef:
    return SavedModel.FromString(data).meta_graphs[0]


def test_assets_are_listed_in_the_graphs_collection_in_order() -> None:
    fs = MemoryFileSystem({"a/v": b"1", "b/v": b"2"})
    with building(Graph()) as graph:
        tensors = [constant(path, name=path[0]) for path in ("a/v", "b/v", "a/v")]
        assert add_assets(graph, tensors, fs) == {"v": "a/v", "v_1": "b/v"}
    listed = []
    for item in get_collection(graph, "saved_model_assets"):
        assert item.type_url == "type.googleapis.com/tensorflow.AssetFileDef"
        asset = AssetFileDef.FromString(item.value)
        listed.append((asset.tensor_info.name, asset.filename))
    assert listed == [("a:0", "v"), ("b:0", "v_1"), ("a_1:0", "v")]


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: "path", TypeError, "must be a Tensor"),
        (lambda: placeholder("string", []), TypeError, "must be of type constant"),
        (lambda: constant(1), TypeError, "must be of dtype string"),
        (lambda: constant(["a", "b"]), TypeError, "must be a scalar"),
        (lambda: constant(""), ValueError, "is invalid"),
    ],
)
def test_what_is_no_path_is_refused(make, kind, words) -> None:
    with building(Graph()), pytest.raises(kind, match=words) as refused:
        asset_path_of(make())
    assert isinstance(refused.value, InvalidArgumentError)


def test_paths_need_not_be_text() -> None:
    with building(Graph()):
        assert asset_path_of(constant(b"dir/\xff.txt")) == "dir/\udcff.txt"
        assert asset_path_of(constant(np.array("ü"))) == "ü"


def test_contents_are_compared_to_the_last_byte() -> None:
    long = bytes(3_000_000)
    fs = MemoryFileSystem({"a": long, "b": long, "c": long[:-1] + b"x", "d": long[:-1]})
    assert have_same_contents(fs, "a", "b")
    assert not have_same_contents(fs, "a", "c")
    assert not have_same_contents(fs, "a", "d")
    with pytest.raises(MissingFileError):
        have_same_contents(fs, "a", "nowhere")


def test_files_are_copied_once_and_missing_ones_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    fs = MemoryFileSystem({"a/v": b"1", "b/v": b"2"})
    copied: set[str] = set()
    copy_assets(fs, {"v": "a/v", "w": "nowhere"}, "m", copied, Durability.CACHE)
    copy_assets(fs, {"v": "b/v"}, "m", copied, Durability.CACHE)
    assert fs.contents()["m/assets/v"] == b"1"
    assert copied == {"v"}
    assert 'asset "nowhere" does not exist' in caplog.text
