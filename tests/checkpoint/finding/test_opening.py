"""From what a person types to an open checkpoint."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from tensorkeep import (
    BundleReader,
    BundleWriter,
    CheckpointFormat,
    DataLossError,
    InvalidArgumentError,
    MemoryFileSystem,
    MissingFileError,
    NotFoundError,
    ReadOptions,
    SaveOptions,
    ShardByName,
    SliceFileReader,
    TensorInfo,
    latest_checkpoint,
    list_tensors,
    load_tensor,
    load_tensors,
    open_checkpoint,
    save_checkpoint,
    write_checkpoint_state,
)
from tensorkeep.dtypes import DType
from tests.checkpoint.crafting import put, store_of

V1 = SaveOptions(format=CheckpointFormat.V1)
V1_SHARDED = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(lambda name: ord(name[0])))
TENSORS = {"a": np.arange(3.0), "b": np.array([b"x"], object), "c/d": np.int32(7)}


def save(fs: MemoryFileSystem, path: str, marker: float = 0.0, options: SaveOptions = SaveOptions()) -> str:
    return save_checkpoint(path, {"marker": np.array(marker)}, options, fs=fs)


def marker(path: str, fs: MemoryFileSystem) -> float:
    return float(load_tensor(path, "marker", fs=fs))


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


class TestPrefixes:
    @pytest.mark.parametrize(
        "name",
        [
            "model",
            "model.ckpt-100",
            "a[1]",
            "a[1-3]",
            "b*c",
            "d?e",
            "back\\slash",
            "with space",
            " ",
            "naïve",
            "模型",
            "🐍",
            "new\nline",
            "quo'te\"s",
            "percent%05d",
            "tilde~",
            "$HOME",
            "x.data-00000-of-00001",
            "{curly}",
            "-dash",
        ],
    )
    @pytest.mark.parametrize("options", [SaveOptions(), V1], ids=["V2", "V1"])
    def test_are_taken_literally(self, tmp_path: Path, name: str, options: SaveOptions):
        decoy = {"decoy": np.zeros(1)}
        for other in ("a1", "a2", "bXc", "dXe", "backslash"):
            save_checkpoint(tmp_path / other, decoy)
        path = str(tmp_path / name)
        assert save_checkpoint(path, TENSORS, options) == path
        assert list(load_tensors(path)) == ["a", "b", "c/d"]
        with open_checkpoint(path) as reader:
            assert reader.path == path
            assert reader.format == options.format.value

    def test_a_v2_checkpoint_hides_a_v1_checkpoint_of_the_same_name(self, fs):
        save(fs, "m", 1, V1)
        with BundleWriter("m", fs=fs) as writer:
            writer.add("marker", np.array(2.0))
        assert marker("m", fs) == 2
        with open_checkpoint("m", fs=fs) as reader:
            assert isinstance(reader, BundleReader)

    def test_path_objects_will_do(self, tmp_path):
        save_checkpoint(tmp_path / "m", TENSORS)
        for path in (tmp_path / "m", os.fsencode(tmp_path / "m")):
            with open_checkpoint(path) as reader:
                assert len(reader) == 3

    @pytest.mark.parametrize("path", ["", "a\0b", 3, None, b"a\0b"])
    def test_what_is_no_path_is_refused(self, path, fs):
        with pytest.raises(InvalidArgumentError, match="path"):
            open_checkpoint(path, fs=fs)


class TestPastedFiles:
    """Somebody copied the name of a file out of a listing."""

    @pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001", ".meta"])
    def test_stand_for_their_checkpoint_with_a_warning(self, fs, suffix):
        save(fs, "run/m-7", 3)
        put(fs, "run/m-7.meta", b"graph")
        with pytest.warns(UserWarning, match=f'"run/m-7{suffix}" is one file of a checkpoint; opening "run/m-7"'):
            assert marker(f"run/m-7{suffix}", fs) == 3

    def test_the_warning_points_at_the_caller(self, fs):
        save(fs, "m")
        with pytest.warns(UserWarning, match="is one file of a checkpoint") as caught:
            open_checkpoint("m.index", fs=fs)
        assert caught[0].filename == __file__

    def test_a_data_file_of_another_number_will_do(self, fs):
        save(fs, "m", 3)
        with pytest.warns(UserWarning, match="is one file of a checkpoint"):
            assert marker("m.data-00007-of-00009", fs) == 3

    def test_the_meta_file_of_a_v1_checkpoint(self, fs):
        save(fs, "m", 3, V1)
        put(fs, "m.meta", b"graph")
        with pytest.warns(UserWarning, match='"m.meta" is one file of a checkpoint; opening "m"'):
            assert marker("m.meta", fs) == 3

    def test_a_meta_file_alone_is_no_checkpoint(self, fs):
        put(fs, "m.meta", b"graph, and long enough not to be too short for a table at any rate")
        with pytest.raises(DataLossError, match=r'"m\.meta" is not a table'):
            open_checkpoint("m.meta", fs=fs)

    def test_a_checkpoint_that_is_really_called_so_is_opened_without(self, fs):
        save(fs, "m.index", 3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert marker("m.index", fs) == 3


class TestFolders:
    def test_with_a_state_file(self, fs):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2)
        write_checkpoint_state("run", "run/m-1", fs=fs)
        assert latest_checkpoint("run", fs=fs) == "run/m-1"
        assert marker("run", fs) == 1

    def test_a_trailing_slash_does_no_harm(self, fs):
        save(fs, "run/m-1", 1)
        write_checkpoint_state("run", "run/m-1", fs=fs)
        assert marker("run/", fs) == 1

    def test_without_a_state_file_the_newest_counts(self, fs):
        save(fs, "run/m-9", 1)
        save(fs, "run/m-10", 2)
        save(fs, "run/a", 3)
        assert latest_checkpoint("run", fs=fs) == "run/a"
        assert marker("run", fs) == 3

    def test_of_either_format(self, fs):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2, V1)
        assert latest_checkpoint("run", fs=fs) == "run/m-2"
        assert save(fs, "run/m-3", 3, V1_SHARDED) == "run/m-3-?????-of-00001"
        assert latest_checkpoint("run", fs=fs) == "run/m-3-?????-of-00001"
        assert marker("run", fs) == 3

    def test_that_is_complete(self, fs):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2)
        fs.delete("run/m-2.data-00000-of-00001")
        assert latest_checkpoint("run", fs=fs) == "run/m-1"

    @pytest.mark.parametrize("kept", [0, 3, 7])
    def test_whose_data_is_not_cut_short(self, fs, kept):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2)
        data = fs.contents()["run/m-2.data-00000-of-00001"]
        put(fs, "run/m-2.data-00000-of-00001", data[:kept])
        assert latest_checkpoint("run", fs=fs) == "run/m-1"

    def test_whose_index_is_sound(self, fs):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2)
        index = fs.contents()["run/m-2.index"]
        put(fs, "run/m-2.index", index[:-1])
        assert latest_checkpoint("run", fs=fs) == "run/m-1"

    def test_of_which_every_file_is_there(self, fs):
        save(fs, "run/m-1", 1)
        options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
        save_checkpoint("run/m-2", {"a": np.zeros(1), "b": np.zeros(1)}, options, fs=fs)
        assert latest_checkpoint("run", fs=fs) == "run/m-2-?????-of-00002"
        fs.delete("run/m-2-00001-of-00002")
        assert latest_checkpoint("run", fs=fs) == "run/m-1"

    def test_that_is_no_other_kind_of_file(self, fs):
        save(fs, "run/m-1", 1)
        put(fs, "run/events.out.tfevents.123", b"x" * 1000)
        put(fs, "run/m-1.meta", b"y" * 1000)
        put(fs, "run/graph.pbtxt", b"")
        put(fs, "run/m-2.index.tensorkeep-0123456789abcdef.tmp", fs.contents()["run/m-1.index"])
        fs.make_directory("run/sub")
        assert latest_checkpoint("run", fs=fs) == "run/m-1"

    def test_a_folder_of_the_same_name_is_not_in_the_way(self, fs):
        save(fs, "run/m-1", 1)
        fs.make_directory("run/m-1")
        assert latest_checkpoint("run", fs=fs) == "run/m-1"
        assert marker("run/m-1", fs) == 1

    def test_a_folder_that_was_moved_is_found_by_the_names_in_it(self, fs):
        save(fs, "/old/run/m-1", 1)
        write_checkpoint_state("/old/run", "/old/run/m-1", fs=fs)
        moved = store_of({path.replace("/old/run", "new"): data for path, data in fs.contents().items()})
        assert latest_checkpoint("new", fs=moved) == "new/m-1"
        assert marker("new", moved) == 1

    def test_the_old_place_is_preferred_if_it_is_still_there(self, fs):
        save(fs, "/old/m-1", 1)
        save(fs, "new/m-1", 2)
        write_checkpoint_state("new", "/old/m-1", fs=fs)
        assert latest_checkpoint("new", fs=fs) == "/old/m-1"

    def test_a_sharded_v1_checkpoint_is_named_by_its_pattern(self, fs):
        pattern = save(fs, "run/m-1", 1, V1_SHARDED)
        write_checkpoint_state("run", pattern, fs=fs)
        assert latest_checkpoint("run", fs=fs) == pattern
        assert marker("run", fs) == 1

    def test_a_state_file_that_names_what_is_not_there(self, fs):
        save(fs, "run/m-1", 1)
        write_checkpoint_state("run", "run/m-2", fs=fs)
        assert latest_checkpoint("run", fs=fs) is None
        with pytest.raises(NotFoundError) as caught:
            open_checkpoint("run", fs=fs)
        assert str(caught.value) == (
            '"run/checkpoint" names "run/m-2" as the latest checkpoint, which does not exist; name another one by its '
            "prefix"
        )

    def test_a_damaged_state_file_is_not_passed_over(self, fs):
        save(fs, "run/m-1", 1)
        put(fs, "run/checkpoint", b"model_checkpoint_path: ")
        with pytest.raises(DataLossError, match='"run/checkpoint": not a valid CheckpointState'):
            open_checkpoint("run", fs=fs)

    def test_an_empty_one_holds_nothing(self, fs):
        fs.make_directory("run")
        assert latest_checkpoint("run", fs=fs) is None
        with pytest.raises(NotFoundError) as caught:
            open_checkpoint("run", fs=fs)
        assert str(caught.value) == 'folder "run" holds no checkpoint: neither a "checkpoint" file nor a complete one'

    def test_one_that_is_not_there_holds_nothing(self, fs):
        assert latest_checkpoint("run", fs=fs) is None

    def test_a_state_file_of_another_name(self, fs):
        save(fs, "run/m-1", 1)
        save(fs, "run/m-2", 2)
        write_checkpoint_state("run", "run/m-1", filename="best", fs=fs)
        write_checkpoint_state("run", "run/m-2", fs=fs)
        assert latest_checkpoint("run", "best", fs=fs) == "run/m-1"
        assert latest_checkpoint("run", fs=fs) == "run/m-2"

    def test_the_current_one(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        save_checkpoint("m-1", TENSORS)
        assert latest_checkpoint(".") == "./m-1"
        with open_checkpoint(".") as reader:
            assert len(reader) == 3


class TestV1InSeveralFiles:
    @pytest.fixture
    def sharded(self, fs) -> MemoryFileSystem:
        assert save_checkpoint("run/m", TENSORS, V1_SHARDED, fs=fs) == "run/m-?????-of-00003"
        return fs

    @pytest.mark.parametrize("path", ["run/m-?????-of-00003", "run/m"])
    def test_by_its_pattern_or_by_the_path_saved_to(self, sharded, path):
        with open_checkpoint(path, fs=sharded) as reader:
            assert isinstance(reader, SliceFileReader)
            assert reader.path == "run/m-?????-of-00003"
            assert list(reader) == ["a", "b", "c/d"]

    def test_in_the_folder_one_is_in(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert save_checkpoint("m", TENSORS, V1_SHARDED) == "m-?????-of-00003"
        assert list(list_tensors("m")) == ["a", "b", "c/d"]
        assert list(list_tensors("m-?????-of-00003")) == ["a", "b", "c/d"]

    def test_one_of_the_files_stands_for_all_of_them(self, sharded):
        with pytest.warns(UserWarning, match=r'is one file of a checkpoint; opening "run/m-\?\?\?\?\?-of-00003"'):
            assert list(list_tensors("run/m-00001-of-00003", fs=sharded)) == ["a", "b", "c/d"]

    def test_one_of_the_files_by_itself_takes_a_reader_of_files(self, sharded):
        with SliceFileReader("run/m-00001-of-00003", fs=sharded) as reader:
            assert list(reader) == ["b"]

    def test_two_of_different_numbers_are_ambiguous(self, sharded):
        options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(lambda name: name == "a"))
        save_checkpoint("run/m", TENSORS, options, fs=sharded)
        with pytest.raises(NotFoundError) as caught:
            open_checkpoint("run/m", fs=sharded)
        assert str(caught.value) == (
            '"run/m" could mean any of "run/m-?????-of-00002", "run/m-?????-of-00003"; say which'
        )
        assert list(list_tensors("run/m-?????-of-00002", fs=sharded)) == ["a", "b", "c/d"]

    def test_a_missing_file_is_an_error_for_what_lies_in_it(self, sharded):
        sharded.delete("run/m-00001-of-00003")
        with open_checkpoint("run/m", fs=sharded) as reader:
            assert reader.intact_names == ["a", "c/d"]
            assert load_tensor("run/m", "a", fs=sharded).tolist() == [0, 1, 2]
            (error,) = reader.damage
            assert isinstance(error, MissingFileError)
            assert "run/m-00001-of-00003" in str(error)
            for act in (lambda: reader.read("b"), lambda: list(reader), lambda: len(reader), lambda: "b" in reader):
                with pytest.raises(DataLossError, match="run/m-00001-of-00003"):
                    act()

    def test_none_of_the_files(self, fs):
        fs.make_directory("run")
        with pytest.raises(MissingFileError, match=r'"run/m-\?\?\?\?\?-of-00003" holds no checkpoint'):
            open_checkpoint("run/m-?????-of-00003", fs=fs)

    def test_a_question_mark_elsewhere_is_one(self, fs):
        save(fs, "run/m-?????", 1)
        assert marker("run/m-?????", fs) == 1


class TestNotFound:
    def test_lists_what_was_looked_for_and_what_is_there(self, fs):
        for name in ("model-1", "model-10", "other", "mod", "zzz", "yyy"):
            save(fs, f"run/{name}")
        with pytest.raises(MissingFileError) as caught:
            open_checkpoint("run/model", fs=fs)
        assert str(caught.value) == (
            '"run/model" holds no checkpoint: neither "run/model.index" (V2) nor "run/model" (V1) nor '
            '"run/model-00000-of-00001" or the like (V1 in several files) exists; the folder holds model-1, model-10, '
            "mod, other, yyy ..."
        )

    def test_in_an_empty_folder(self, fs):
        fs.make_directory("run")
        with pytest.raises(MissingFileError) as caught:
            open_checkpoint("run/model", fs=fs)
        assert str(caught.value).endswith("(V1 in several files) exists")

    def test_in_no_folder(self, fs):
        with pytest.raises(MissingFileError, match='exists; there is no folder "nowhere"'):
            open_checkpoint("nowhere/model", fs=fs)

    def test_is_what_python_expects(self, fs):
        with pytest.raises(FileNotFoundError):
            open_checkpoint("nowhere/model", fs=fs)
        with pytest.raises(KeyError):
            open_checkpoint("nowhere/model", fs=fs)

    def test_a_tensor(self, fs):
        save_checkpoint("m", {f"layer{number}/w": np.zeros(1) for number in range(7)}, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            with pytest.raises(NotFoundError) as caught:
                reader.read("w")
            assert str(caught.value) == (
                '"m" holds no tensor "w"; it holds "layer0/w", "layer1/w", "layer2/w", "layer3/w", "layer4/w" and 2 '
                "more"
            )
            with pytest.raises(NotFoundError) as caught:
                reader.read_many(["a", "layer1/w", "b", "c", "d", "e", "f"])
            assert '"m" holds no tensor "a", "b", "c", "d", "e" and 1 more; it holds' in str(caught.value)
            with pytest.raises(KeyError):
                reader["nope"]
            assert reader.get("nope") is None


class TestShortcuts:
    def test_list_tensors(self, fs):
        save_checkpoint("m", TENSORS, fs=fs)
        assert list_tensors("m", fs=fs) == {
            "a": TensorInfo(DType.of("float64"), (3,)),
            "b": TensorInfo(DType.of("string"), (1,)),
            "c/d": TensorInfo(DType.of("int32"), ()),
        }

    def test_load_tensor_and_a_part_of_one(self, fs):
        save_checkpoint("m", TENSORS, fs=fs)
        assert load_tensor("m", "a", fs=fs).tolist() == [0, 1, 2]
        assert load_tensor("m", "a", np.s_[1:], fs=fs).tolist() == [1, 2]
        assert load_tensor("m", "c/d", fs=fs).shape == ()

    def test_a_name_as_of_a_graph_s_tensor(self, fs):
        save_checkpoint("m", {"a": np.array(1), "b:0": np.array(2)}, fs=fs)
        assert load_tensor("m", "a:0", fs=fs) == 1
        assert load_tensor("m", "b:0", fs=fs) == 2

    def test_load_tensors(self, fs):
        save_checkpoint("m", TENSORS, fs=fs)
        found = load_tensors("m", fs=fs)
        assert {name: array.tolist() for name, array in found.items()} == {"a": [0, 1, 2], "b": [b"x"], "c/d": 7}

    def test_options_reach_the_reader(self, fs):
        save_checkpoint("m", TENSORS, fs=fs)
        options = ReadOptions(copy=False)
        with open_checkpoint("m", options, fs=fs) as reader:
            assert reader.options is options
            assert not reader.read("a").flags.writeable

    def test_a_reader_introduces_itself(self, fs):
        save_checkpoint("m", TENSORS, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            assert repr(reader) == '<BundleReader "m">'


def test_the_directory_of_a_saved_model_stands_for_its_variables() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("export/1/variables/variables", TENSORS, fs=fs)
    put(fs, "export/1/saved_model.pb", b"")
    with open_checkpoint("export/1", fs=fs) as reader:
        assert (reader.path, sorted(reader)) == ("export/1/variables/variables", ["a", "b", "c/d"])
    with pytest.raises(NotFoundError, match=r'folder "export" holds no checkpoint: .*; SavedModels are in it: 1$'):
        open_checkpoint("export", fs=fs)
