"""The state file: absent, present, damaged, moved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tensorkeep import (
    CheckpointState,
    DataLossError,
    InvalidArgumentError,
    LocalFileSystem,
    MemoryFileSystem,
    read_checkpoint_state,
    write_checkpoint_state,
)
from tests.checkpoint.crafting import store_of

# No NUL and no slash at either end: names of files, or paths of them.
paths = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=20)


def store(text: str | bytes) -> MemoryFileSystem:
    return store_of({"run/checkpoint": text.encode() if isinstance(text, str) else text})


class TestReading:
    def test_none_is_none(self):
        fs = MemoryFileSystem()
        fs.make_directory("run")
        assert read_checkpoint_state("run", fs=fs) is None
        assert read_checkpoint_state("elsewhere", fs=fs) is None

    def test_none_on_a_disk(self, tmp_path: Path):
        assert read_checkpoint_state(tmp_path) is None
        assert read_checkpoint_state(tmp_path / "absent") is None

    def test_relative_paths_are_of_the_folder_and_absolute_ones_are_not(self):
        fs = store(
            'model_checkpoint_path: "m-2"\nall_model_checkpoint_paths: "/a/m-1"\nall_model_checkpoint_paths: "m-2"'
        )
        assert read_checkpoint_state("run", fs=fs) == CheckpointState("run/m-2", ("/a/m-1", "run/m-2"))

    def test_the_current_folder_is_kept_as_it_was_given(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        write_checkpoint_state(".", "m-1")
        state = read_checkpoint_state(".")
        assert state is not None
        assert state.latest == "./m-1"

    def test_escapes(self):
        fs = store(r'model_checkpoint_path: "a\"b\'c\\d\n\303\251"')
        state = read_checkpoint_state("run", fs=fs)
        assert state is not None
        assert state.latest == "run/a\"b'c\\d\né"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", '"run/checkpoint" names no latest checkpoint (model_checkpoint_path is absent or empty)'),
            ("\n\n", '"run/checkpoint" names no latest checkpoint'),
            ('model_checkpoint_path: ""', '"run/checkpoint" names no latest checkpoint'),
            ('all_model_checkpoint_paths: "m-1"', '"run/checkpoint" names no latest checkpoint'),
            ("model_checkpoint_path", '"run/checkpoint": not a valid CheckpointState in text format: '),
            ('model_checkpoint_path: "m', '"run/checkpoint": not a valid CheckpointState in text format: '),
            ('model_checkpoint_path: "m" what: 3', '"run/checkpoint": not a valid CheckpointState in text format: '),
            ("model_checkpoint_path: 3", '"run/checkpoint": not a valid CheckpointState in text format: '),
            ("<html>", '"run/checkpoint": not a valid CheckpointState in text format: '),
            (b"\xff\xfe", '"run/checkpoint": not a valid CheckpointState in text format: '),
            (b'model_checkpoint_path: "\xff"', '"run/checkpoint": not a valid CheckpointState in text format: '),
            (r'model_checkpoint_path: "\377"', '"run/checkpoint": not a valid CheckpointState in text format: '),
            ('last_preserved_timestamp: "x"', '"run/checkpoint": not a valid CheckpointState in text format: '),
            (bytes(100), '"run/checkpoint": not a valid CheckpointState in text format: '),
        ],
    )
    def test_one_that_cannot_be_understood_is_never_taken_for_absent(self, text, message):
        with pytest.raises(DataLossError) as caught:
            read_checkpoint_state("run", fs=store(text))
        assert str(caught.value).startswith(message)

    def test_a_folder_in_its_place_is_an_error(self, tmp_path):
        (tmp_path / "checkpoint").mkdir()
        with pytest.raises(InvalidArgumentError, match='checkpoint" is a folder, expected a file'):
            read_checkpoint_state(tmp_path)

    def test_a_wrong_file_is_not_swallowed_whole(self, tmp_path):
        with (tmp_path / "checkpoint").open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(DataLossError, match="1099511627776 bytes are too many for a state file"):
            read_checkpoint_state(tmp_path)

    @pytest.mark.parametrize("name", ["", "a/b", "/etc/passwd", "sub/"])
    def test_a_state_file_is_a_name_without_a_path(self, name):
        with pytest.raises(InvalidArgumentError, match="a state file is given by its name in the folder"):
            read_checkpoint_state("run", name, fs=MemoryFileSystem())

    @pytest.mark.parametrize("folder", [3, None, b"a\0b", "", "a\0b"])
    def test_a_folder_is_a_path(self, folder):
        with pytest.raises(InvalidArgumentError, match="path"):
            read_checkpoint_state(folder, fs=MemoryFileSystem())


class TestWriting:
    def write(self, *arguments: object, **options: object) -> str:
        fs = MemoryFileSystem()
        fs.make_directory(str(arguments[0]))
        write_checkpoint_state(*arguments, fs=fs, **options)
        (written,) = fs.contents().values()
        return written.decode()

    def test_the_latest_alone(self):
        assert self.write("run", "run/m-1") == 'model_checkpoint_path: "m-1"\nall_model_checkpoint_paths: "m-1"\n'

    def test_the_latest_is_added_if_it_is_not_the_last(self):
        text = self.write("/run", "/run/m-3", ["/run/m-3", "/run/m-2"])
        assert [line.split('"')[1] for line in text.splitlines()] == ["/run/m-3", "/run/m-3", "/run/m-2", "/run/m-3"]

    def test_an_absolute_path_stays_unless_told_otherwise(self):
        assert '"/run/m-1"' in self.write("/run", "/run/m-1")
        assert '"m-1"' in self.write("/run", "/run/m-1", relative=True)
        assert '"../other/m-1"' in self.write("/run", "/other/m-1", relative=True)

    def test_characters_of_all_kinds(self):
        text = self.write("run", "run/a\"b'c\\d\ne é")
        assert text.splitlines()[0] == r'model_checkpoint_path: "a\"b\'c\\d\ne é"'

    def test_times(self):
        text = self.write("run", "run/m-2", ["run/m-1", "run/m-2"], timestamps=[1.5, 2.25], last_preserved=0.5)
        assert text.splitlines()[3:] == [
            "all_model_checkpoint_timestamps: 1.5",
            "all_model_checkpoint_timestamps: 2.25",
            "last_preserved_timestamp: 0.5",
        ]

    def test_as_many_times_as_checkpoints(self):
        with pytest.raises(
            InvalidArgumentError, match="Checkpoint timestamps, if provided, must match checkpoint paths"
        ):
            self.write("run", "run/m-2", ["run/m-1", "run/m-2"], timestamps=[1.5])

    def test_a_checkpoint_of_the_same_name_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="would be overwritten by the state file of that name"):
            self.write("/run", "/run/checkpoint")

    def test_another_name(self):
        fs = MemoryFileSystem()
        fs.make_directory("run")
        write_checkpoint_state("run", "run/m-1", filename="latest", fs=fs)
        assert list(fs.contents()) == ["run/latest"]

    def test_the_old_one_is_replaced(self, tmp_path):
        for number in range(3):
            write_checkpoint_state(tmp_path, tmp_path / f"m-{number}")
        assert os.listdir(tmp_path) == ["checkpoint"]
        state = read_checkpoint_state(tmp_path)
        assert state is not None
        assert state.latest == f"{tmp_path}/m-2"

    def test_paths_may_be_path_objects(self, tmp_path):
        write_checkpoint_state(tmp_path, tmp_path / "m", [tmp_path / "l", tmp_path / "m"], fs=LocalFileSystem())
        state = read_checkpoint_state(tmp_path)
        assert state is not None
        assert state.all_paths == (f"{tmp_path}/l", f"{tmp_path}/m")

    @given(paths, st.lists(paths, max_size=3), st.floats(allow_nan=False, allow_infinity=False, min_value=0))
    def test_what_is_written_is_read(self, latest, older, time):
        fs = MemoryFileSystem()
        fs.make_directory("/run")
        everything = ["/run/" + path for path in (*older, latest)]
        assume(fs.canonical(everything[-1]) != "/run/checkpoint")  # refused: the state file itself would go there
        times = [time] * len(everything)
        write_checkpoint_state("/run", everything[-1], everything, timestamps=times, last_preserved=time, fs=fs)
        assert read_checkpoint_state("/run", fs=fs) == CheckpointState(
            everything[-1], tuple(everything), tuple(times), time
        )
