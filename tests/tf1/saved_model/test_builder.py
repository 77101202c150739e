"""Building SavedModels: files, refusals, and a directory that appears whole or not at all."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.collections import get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.io.files.directories import files_below
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.layout import contains_saved_model, read_saved_model
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.saved_model.builder import BuilderStateError, GraphOptions, SavedModelBuilder
from tests.saved_model.models import WORDS, build_model, store, y_of

WANTED = [
    "assets/vocab.txt",
    "saved_model.pb",
    "variables/variables.data-00000-of-00001",
    "variables/variables.index",
]


def test_a_model_is_a_directory_with_graphs_variables_and_assets() -> None:
    fs = store()
    build_model(fs, "deep/down/m")
    assert list(files_below(fs, "deep/down/m")) == WANTED
    assert fs.contents()["deep/down/m/assets/vocab.txt"] == WORDS
    assert fs.list("deep/down") == ["m"]
    model = read_saved_model("deep/down/m", fs)
    assert model.saved_model_schema_version == 1
    assert [list(item.meta_info_def.tags) for item in model.meta_graphs] == [["serve"], ["train"]]
    assert y_of(fs, "deep/down/m") == [[5, 7, 9]]


def test_text_and_bytes_say_the_same_and_may_lie_side_by_side() -> None:
    fs = store()
    builder = build_model(fs, as_text=True)
    text = read_saved_model("m", fs)
    assert builder.save() == "m/saved_model.pb"
    assert read_saved_model("m", fs) == text
    assert sorted(fs.list("m")) == ["assets", "saved_model.pb", "saved_model.pbtxt", "variables"]


def test_a_model_that_nobody_could_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorkeep.saved_model.files.layout.MOST_BYTES", 1000)  # in place of 2 GiB
    with pytest.raises(
        UnimplementedError, match=r"the model is \d{4,} bytes, .* of more than 1000\. Keep large constants"
    ):
        build_model(fs := store())
    assert not fs.exists("m/saved_model.pb")
    build_model(fs := store(), as_text=True)
    assert contains_saved_model("m", fs)


def test_graphs_may_be_added_after_the_model_was_saved() -> None:
    fs = store()
    builder = build_model(fs)
    with building(Graph()):
        constant(1.0)
        builder.add_meta_graph(["later"])
    assert len(read_saved_model("m", fs).meta_graphs) == 2
    builder.save()
    assert [list(item.meta_info_def.tags) for item in read_saved_model("m", fs).meta_graphs][2] == ["later"]


def test_a_directory_with_something_in_it_is_refused() -> None:
    fs = MemoryFileSystem({"m/file": b"x"})
    with pytest.raises(AssertionError, match="Export directory m already exists, and isn't empty") as refused:
        SavedModelBuilder("m", fs=fs)
    assert isinstance(refused.value, BuilderStateError)
    fs.make_directory("empty")
    SavedModelBuilder("empty", fs=fs)


def test_variables_are_saved_once_and_first() -> None:
    fs = store()
    builder = SavedModelBuilder("m", fs=fs)
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["serve"])
        builder.add_meta_graph_and_variables(session, ["serve"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, ["serve"])


def test_a_graph_without_variables_has_no_saver() -> None:
    fs = store()
    builder = SavedModelBuilder("m", fs=fs)
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        constant(1.0, name="one")
        builder.add_meta_graph_and_variables(session, ["serve"])
    builder.save()
    assert not read_saved_model("m", fs).meta_graphs[0].HasField("saver_def")
    assert list(files_below(fs, "m")) == ["saved_model.pb"]


@pytest.mark.parametrize(
    ("signature", "kind", "words"),
    [
        ({"a": SignatureDef(inputs={"x": {"dtype": 1}})}, AssertionError, "one of the 'encoding' fields"),
        ({"a": SignatureDef(outputs={"x": {"name": "x:0"}})}, AssertionError, "must have the dtype field set"),
        ({"__saved_model_init_op": SignatureDef()}, KeyError, "reserved for initialization"),
        ({"__saved_model_train_op": SignatureDef()}, KeyError, "reserved for the train op"),
    ],
)
def test_signatures_that_nobody_could_use_are_refused(signature, kind, words) -> None:
    fs = store()
    builder = SavedModelBuilder("m", fs=fs)
    with building(Graph()) as graph, pytest.raises(kind, match=words) as refused:
        builder.add_meta_graph_and_variables(Session(graph, filesystem=fs), ["serve"], signature)
    assert isinstance(refused.value, InvalidArgumentError)


def test_a_main_op_is_one_operation() -> None:
    fs = store()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        builder = SavedModelBuilder("m", fs=fs)
        with pytest.raises(WrongTypeError, match="to be an Operation"):
            builder.add_meta_graph_and_variables(session, ["a"], options=GraphOptions(main_op=constant(1)))  # type: ignore[arg-type]
        builder.add_meta_graph_and_variables(session, ["a"], options=GraphOptions(main_op=no_op()))
        with pytest.raises(InvalidArgumentError, match="already contains one or more main ops under the collection"):
            builder.add_meta_graph(["b"], options=GraphOptions(main_op=no_op()))


def test_a_train_op_is_kept_in_its_collection() -> None:
    fs = store()
    with building(Graph()) as graph, Session(graph, filesystem=fs) as session:
        builder = SavedModelBuilder("m", fs=fs)
        with pytest.raises(WrongTypeError, match="needs to be a Tensor or Op"):
            builder.add_meta_graph_and_variables(session, ["a"], options=GraphOptions(train_op="x"))  # type: ignore[arg-type]
        builder.add_meta_graph_and_variables(session, ["a"], options=GraphOptions(train_op=no_op(name="step")))
        assert [op.name for op in get_collection(graph, "saved_model_train_op")] == ["step"]


def test_what_is_discarded_never_was() -> None:
    fs = store()
    build_model(fs, "top/m", save=False).discard()
    assert fs.list("top") == []


def test_files_that_a_program_adds_meanwhile_are_kept() -> None:
    fs = store()
    builder = build_model(fs, save=False)
    fs.make_directory("m/assets.extra")
    file = fs.create("m/assets.extra/note")
    file.write(b"mine")
    file.close()
    builder.save()
    assert sorted(files_below(fs, "m")) == sorted([*WANTED, "assets.extra/note"])
    assert y_of(fs, "m") == [[5, 7, 9]]


def test_a_crash_at_any_moment_leaves_no_model_or_all_of_it() -> None:
    log = CrashingFileSystem(store())
    build_model(log, "top/m")
    assert log.changes_made > 20
    seen = set()
    for changes in range(log.changes_made):
        fs = store()
        try:
            build_model(CrashingFileSystem(fs, changes), "top/m")
        except SimulatedCrash:
            fs.forget_writers()
            seen.add(fs.exists("top/m"))
            if fs.exists("top/m"):
                assert contains_saved_model("top/m", fs)
                assert list(files_below(fs, "top/m")) == WANTED
                assert y_of(fs, "top/m") == [[5, 7, 9]]
            else:
                build_model(fs, "top/m")
                assert fs.list("top") == ["m"]
            continue
        pytest.fail(f"no crash at change {changes}")
    assert seen == {False, True}
