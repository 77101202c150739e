"""Files and folders with TensorFlow's manners."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import errors
from tensorkeep.io.files import gfile
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.io.files.globbing import matching_paths, name_pattern
from tensorkeep.io.files.places import place_of


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    with GFile(tmp_path / "new", "w"):
        assert not (tmp_path / "new").exists()
    assert not (tmp_path / "new").exists()


def test_text_is_written_and_read_as_utf8(tmp_path: Path) -> None:
    with GFile(tmp_path / "file", "w") as file:
        file.write("é\n")
        file.write(b"two")
    assert (tmp_path / "file").read_bytes() == b"\xc3\xa9\ntwo"
    assert GFile(str(tmp_path / "file")).read() == "é\ntwo"
    assert GFile(os.fsencode(tmp_path / "file"), "rb").readlines() == [b"\xc3\xa9\n", b"two"]


def test_positions_are_of_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    file = GFile(tmp_path / "file")
    file.seek(-3, 2)
    assert (file.read(2), file.tell()) == ("78", 9)
    file.seek(-1, 1)
    assert file.read() == "89"


def test_seeking_beyond_the_end_stays_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    file = GFile(tmp_path / "file")
    with pytest.raises(errors.OutOfRangeError, match="reached end of file"):
        file.seek(4)
    assert file.tell() == 3


def test_a_folder_has_no_lines(tmp_path: Path) -> None:
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        GFile(tmp_path).readlines()


def test_a_request_for_far_too_much_gets_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert GFile(tmp_path / "file").read(1 << 60) == "abc"


@pytest.mark.parametrize("mode", ["", "x", "rt", "+r", "rw", "U"])
def test_a_mode_that_does_not_exist_is_refused(mode: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="mode is not"):
        GFile("file", mode)


def test_a_value_that_cannot_be_written_leaves_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
        GFile(tmp_path / "file", "w").write(3)
    assert (tmp_path / "file").read_text() == "old"


def test_a_file_copied_onto_itself_keeps_its_contents(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    gfile.copy(tmp_path / "file", tmp_path / "file", overwrite=True)
    gfile.copy(tmp_path / "file", tmp_path / "link", overwrite=True)
    assert (tmp_path / "file").read_text() == "old"
    assert (tmp_path / "link").is_symlink()


def test_a_copy_has_the_permissions_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "file").chmod(0o700)
    gfile.copy(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(tmp_path)) == ["copy", "file"]


def test_a_copy_into_a_device_does_not_replace_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    gfile.copy(tmp_path / "file", "/dev/null", overwrite=True)
    assert not os.path.isfile("/dev/null")


def test_removing_a_folder_spares_what_links_in_it_lead_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "link").symlink_to(tmp_path / "kept")
    gfile.remove_tree(tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["kept"]
    assert (tmp_path / "kept" / "file").read_text() == "x"


def test_a_folder_taken_out_of_the_list_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    seen = []
    for path, folders, _ in gfile.walk(tmp_path):
        seen.append(path)
        if "a" in folders:
            folders.remove("a")
    assert seen == [str(tmp_path), str(tmp_path / "c")]


def test_a_folder_that_is_missing_is_reported_and_passed_over(tmp_path: Path) -> None:
    reported: list[Exception] = []
    assert list(gfile.walk(tmp_path / "none", on_error=reported.append)) == []
    assert [type(error) for error in reported] == [errors.MissingFileError]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("", ""),
        ("a//b/./c/..", "a/b"),
        ("file:///tmp/x", "/tmp/x"),
        ("file://localhost/x/", "/x"),
        ("file://", "/"),
        ("//a", "/a"),
        ("x://a", "x:/a"),
        (b"a", "a"),
        (Path("a/b"), "a/b"),
    ],
)
def test_a_path_leads_to_a_place(path: object, place: str) -> None:
    assert place_of(path) == place


def test_a_store_that_is_not_there_is_named() -> None:
    with pytest.raises(
        errors.UnimplementedError, match=r"File system scheme 'hdfs' not implemented .*file:///… .*are served"
    ):
        place_of("hdfs://bucket/file")
    with pytest.raises(errors.UnimplementedError, match='of the machine "host"'):
        place_of("file://host/x")
    with pytest.raises(errors.InvalidArgumentError, match="NUL"):
        place_of("a\0b")


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("*", ["", "a", ".hidden"], ["a/b"]),
        ("a?c", ["abc", "a.c"], ["ac", "a/c"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "-x"]),
        ("[^a-c]x", ["dx"], ["ax", "/x"]),
        ("[!a]", ["b"], ["a"]),
        (r"\*", ["*"], ["a"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[a", ["[a"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("[c-a]", [], ["a", "b", "c"]),
    ],
)
def test_a_pattern_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    assert [name for name in [*matching, *others] if name_pattern(pattern).fullmatch(name)] == matching


@given(st.text(alphabet="ab*?[]!^-\\./"))
def test_any_text_is_a_pattern(pattern: str) -> None:
    found = matching_paths(pattern, exists=lambda path: False, names_in=lambda path: ["a", "b", "-"])
    assert all(isinstance(path, str) for path in found)


def test_a_pattern_without_a_folder_is_of_the_current_one() -> None:
    names = {".": ["a", "b"], "./a": ["x.txt"], "./b": ["y.txt"]}
    found = matching_paths("*/*.txt", exists=lambda path: False, names_in=lambda path: names.get(path, []))
    assert found == ["./a/x.txt", "./b/y.txt"]
