"""Models of which only a part was copied: loading says at once, and completely, what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
from tensorkeep.checkpoint.saving import SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import serialize
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import read_file, read_saved_model
from tensorkeep.tf1.saved_model.object_loading import load_objects
from tensorkeep.tf1.saved_model.session_loading import load
from tests.saved_model.models import build_model, store
from tests.support.golden import golden

INDEX, DATA = "m/variables/variables.index", "m/variables/variables.data-00000-of-00001"
WORDS = "m/assets/vocab.txt"
Change = Callable[[MemoryFileSystem], Any]


def graph_model() -> MemoryFileSystem:
    fs = store()
    build_model(fs)
    return fs


def object_model() -> MemoryFileSystem:
    folder = golden("g28_tf2_module") / "model"
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return as_vocabulary(MemoryFileSystem({f"m/{name}": path.read_bytes() for name, path in files.items()}))


def as_vocabulary(fs: MemoryFileSystem) -> MemoryFileSystem:
    """The model with its asset under the name that the other has for it."""
    model = read_saved_model("m", fs)
    model.meta_graphs[0].asset_file_def[0].filename = "vocab.txt"
    atomic_write(fs, "m/saved_model.pb", serialize(model))
    atomic_write(fs, WORDS, read_file("m/assets/_words.txt", fs))
    return fs


def native(fs: MemoryFileSystem) -> None:
    tk.load_saved_model("m", ["serve"], fs=fs).close()


def classic(fs: MemoryFileSystem) -> None:
    with Session(Graph(), filesystem=fs) as session:
        load(session, ["serve"], "m")
        assert session.graph.operations


def of_objects(fs: MemoryFileSystem) -> None:
    with building(Graph()):
        load_objects("m", fs=fs)


def cut(path: str) -> Change:
    return lambda fs: atomic_write(fs, path, read_file(path, fs)[:-3])


def gone(*paths: str) -> Change:
    return lambda fs: [fs.delete(path) for path in paths]


WAYS = [(graph_model, native), (graph_model, classic), (object_model, native), (object_model, of_objects)]


@pytest.mark.parametrize(("made", "loads"), WAYS, ids=lambda item: item.__name__)
@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (gone(DATA), MissingFileError, [f'"{DATA}" is missing: it has ']),
        (cut(DATA), DataLossError, [f'"{DATA}" has ', "bytes of at least ", "it lacks "]),
        (cut(INDEX), DataLossError, [f'"{INDEX}" is not a table']),
        (gone(DATA, WORDS), MissingFileError, [f'"{DATA}" is missing', f'"{WORDS}" is missing: the graph reads it']),
        (gone(INDEX, WORDS), MissingFileError, [f'"{INDEX}" is missing', f'"{WORDS}" is missing']),
    ],
    ids=["no data", "short data", "short index", "no data, no asset", "no index, no asset"],
)
@pytest.mark.filterwarnings("ignore:.*the model is not as it was exported")
def test_loading_says_all_that_is_missing(made: Any, loads: Any, change: Change, kind: Any, words: list[str]) -> None:
    fs = made()
    loads(fs)
    change(fs)
    with pytest.raises(kind, match='the model in "m" is not complete; copy or export it anew') as refused:
        loads(fs)
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_a_graph_is_not_touched_by_a_model_that_lacks_files() -> None:
    fs = graph_model()
    gone(DATA)(fs)
    with Session(Graph(), filesystem=fs) as session:
        with pytest.raises(MissingFileError):
            load(session, ["serve"], "m")
        assert not session.graph.operations


def test_without_any_values_the_classic_loader_has_tensorflows_words() -> None:
    fs = graph_model()
    gone(INDEX, DATA)(fs)
    with (
        Session(Graph(), filesystem=fs) as session,
        pytest.raises(InvalidArgumentError, match="not a valid checkpoint"),
    ):
        load(session, ["serve"], "m")
    with pytest.raises(MissingFileError, match=r"variables\.index\" is missing"):
        native(fs)


def test_an_asset_that_nothing_reads_may_be_missing() -> None:
    fs = graph_model()
    model = read_saved_model("m", fs)
    meta_graph = model.meta_graphs[0]
    del meta_graph.signature_def["word"]
    meta_graph.collection_def["saved_model_main_op"].node_list.value[:] = ["w/Assign"]
    meta_graph.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "w/Assign"
    atomic_write(fs, "m/saved_model.pb", serialize(model))
    gone(WORDS)(fs)
    with tk.load_saved_model("m", ["serve"], fs=fs) as loaded:
        assert loaded.signatures["serving_default"](x=np.ones((1, 2)), scale=1.0)["y"].shape == (1, 3)


def test_every_data_file_is_told_with_what_it_has() -> None:
    fs = graph_model()
    tensors = {name: np.ones((2, 3), np.float32) for name in ("w", "a", "b", "c", "d")}
    save_checkpoint("m/variables/variables", tensors, SaveOptions(sharding=ShardBySize(72)), fs=fs)
    files = [f"m/variables/variables.data-0000{shard}-of-00002" for shard in range(2)]
    native(fs)
    fs.delete(files[0])
    cut(files[1])(fs)
    with pytest.raises(MissingFileError) as refused:
        native(fs)
    first, second = str(refused.value).splitlines()[1:]
    assert first.startswith(f'  "{files[0]}" is missing: it has "')
    assert second.startswith(f'  "{files[1]}" has ')
