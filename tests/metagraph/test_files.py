"""Meta graphs in files."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.metagraph.files import loaded_meta_graph, read_meta_graph_file, write_exported, write_meta_graph_file
from tensorkeep.proto.messages import GraphDebugInfo, MetaGraphDef
from tensorkeep.testing.filesystems import CrashingFileSystem, SimulatedCrash
from tests.support.golden import ROOT


def meta_graph(name: str = "é") -> MetaGraphDef:
    made = MetaGraphDef()
    made.graph_def.node.add(name="n", op="NoOp")
    made.collection_def["k"].bytes_list.value.extend([name.encode(), b"\xff"])
    made.collection_def["a"].int64_list.value.append(1)
    return made


@pytest.mark.parametrize("as_text", [False, True])
def test_a_file_is_read_whatever_its_form(as_text: bool) -> None:
    fs = MemoryFileSystem()
    write_meta_graph_file(meta_graph(), "new/folder/m.meta", as_text=as_text, fs=fs)
    assert read_meta_graph_file("new/folder/m.meta", fs) == meta_graph()
    assert loaded_meta_graph("new/folder/m.meta", fs) == meta_graph()


def test_a_message_is_loaded_already() -> None:
    proto = meta_graph()
    assert loaded_meta_graph(proto) is proto


def test_equal_messages_give_equal_bytes() -> None:
    fs = MemoryFileSystem()
    other = MetaGraphDef()
    other.collection_def["a"].int64_list.value.append(1)
    other.MergeFrom(meta_graph())
    del other.collection_def["a"].int64_list.value[1:]
    for name, proto in (("one", meta_graph()), ("two", other)):
        write_meta_graph_file(proto, name, fs=fs)
    one, two = (fs.open(name) for name in ("one", "two"))
    assert bytes(one.read(0, one.size)) == bytes(two.read(0, two.size))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(MissingFileError, match=r"no/such\.meta"):
        read_meta_graph_file("no/such.meta", MemoryFileSystem())


def test_the_name_of_the_checkpoint_instead_of_the_graph_s_is_put_right() -> None:
    fs = MemoryFileSystem()
    write_meta_graph_file(meta_graph(), "run/m-1.meta", fs=fs)
    with pytest.raises(MissingFileError, match=r'the graph of that checkpoint is in "run/m-1\.meta"'):
        read_meta_graph_file("run/m-1", fs)


def test_what_is_neither_bytes_nor_text_is_refused_with_both_reasons() -> None:
    fs = MemoryFileSystem()
    atomic_write(fs, "m.meta", b"\xff\xff not a graph")
    with pytest.raises(DataLossError, match=r"Cannot parse file m\.meta.*nor as text") as caught:
        read_meta_graph_file("m.meta", fs)
    assert isinstance(caught.value, OSError)  # as TensorFlow's, which old programs catch


@given(st.binary(max_size=200), st.integers(0, 100))
def test_hostile_bytes_are_read_or_refused(junk: bytes, at: int) -> None:
    fs = MemoryFileSystem()
    whole = meta_graph().SerializeToString(deterministic=True)
    at = min(at, len(whole))
    atomic_write(fs, "m.meta", whole[:at] + junk + whole[at:])
    with contextlib.suppress(DataLossError):
        read_meta_graph_file("m.meta", fs)


def test_nothing_is_written_without_a_name_and_debug_information_beside_the_file_if_asked_for() -> None:
    fs = MemoryFileSystem()
    write_exported(meta_graph(), None, fs=fs)
    assert not fs.exists("m.meta")
    write_exported(meta_graph(), "m.meta", save_debug_info=True, fs=fs)
    file = fs.open("m.debug")
    assert GraphDebugInfo.FromString(bytes(file.read(0, file.size))) == GraphDebugInfo()


def test_a_crash_leaves_the_old_file_or_the_new_one() -> None:
    for count in range(20):
        fs = MemoryFileSystem()
        write_meta_graph_file(meta_graph("old"), "m.meta", fs=fs)
        crashing = CrashingFileSystem(fs, count)
        try:
            write_meta_graph_file(meta_graph("new"), "m.meta", fs=crashing)
        except SimulatedCrash:
            assert read_meta_graph_file("m.meta", fs) in (meta_graph("old"), meta_graph("new"))
            continue
        assert read_meta_graph_file("m.meta", fs) == meta_graph("new")
        return
    pytest.fail("never got through")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("g26_tf1_simple_save/model/saved_model.pb", "it is a SavedModel"),
        ("g28_tf2_module/model/saved_model.pb", "it is a SavedModel"),
        ("g01_v2_single_ref/model.ckpt-100.index", "it is the index of a checkpoint"),
        ("g01_v2_single_ref/checkpoint", "it is a checkpoint state file"),
    ],
)
def test_another_file_is_called_what_it_is(name: str, words: str) -> None:
    with pytest.raises(DataLossError, match=words):
        read_meta_graph_file(ROOT / name)


def test_a_graph_is_no_meta_graph() -> None:
    fs = MemoryFileSystem()
    atomic_write(fs, "g.pb", meta_graph().graph_def.SerializeToString())
    with pytest.raises(DataLossError, match="it is a GraphDef"):
        read_meta_graph_file("g.pb", fs)
