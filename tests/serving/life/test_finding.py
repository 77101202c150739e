"""Versions below a base path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import atomic_write
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.serving.life.configuration import All, Latest, ModelSettings, Policy, Specific
from tensorkeep.serving.life.finding import content_of, find_versions, version_number
from tests.support.stores import memory_bucket


def found(names: list[str], policy: Policy = Latest()) -> tuple[dict[int, str], tuple[str, ...]]:
    fs = MemoryFileSystem({f"/m/{name}/saved_model.pb": b"" for name in names})
    fs.make_directory("/m")
    result = find_versions(ModelSettings("m", "/m", policy), fs)
    return dict(result.paths), result.remarks


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("1", 1),
        ("00000123", 123),
        (" 7\t", 7),
        ("+5", 5),
        ("-5", -5),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("0" * 300 + "4", 4),
        ("1.0", None),
        ("v1", None),
        (".tmp", None),
        ("", None),
        ("1 2", None),
        ("1_000", None),
        ("\u0661", None),
        ("0x10", None),
        ("--1", None),
        ("9" * 5000, None),
    ],
)
def test_a_name_is_a_version_if_all_of_it_reads_as_a_number(name: str, number: int | None) -> None:
    assert version_number(name) == number


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_number_of_64_bits_is_a_version(number: int) -> None:
    assert version_number(str(number)) == number


def test_the_highest_numbers_are_the_latest() -> None:
    assert found(["1", "9", "10", "x"]) == ({10: "/m/10"}, ())
    assert found(["1", "9", "10"], Latest(2)) == ({9: "/m/9", 10: "/m/10"}, ())
    assert found(["1", "9"], Latest(5))[0].keys() == {1, 9}


def test_all_means_all() -> None:
    assert found(["1", "002"], All()) == ({1: "/m/1", 2: "/m/002"}, ())


def test_specific_versions_that_are_absent_are_told() -> None:
    paths, remarks = found(["1", "3"], Specific((1, 2)))
    assert paths == {1: "/m/1"}
    assert remarks == ("Version 2 of servable m, which was requested, was not found",)


def test_an_empty_list_of_specific_versions_wishes_nothing() -> None:
    paths, remarks = found(["1"], Specific(()))
    assert not paths
    assert remarks


def test_of_two_names_for_one_number_the_last_is_taken_and_told() -> None:
    paths, remarks = found(["1", "01"], All())
    assert paths == {1: "/m/1"}
    assert "both version 1" in remarks[0]


def test_an_empty_base_path_wishes_nothing() -> None:
    assert found([]) == (
        {},
        (
            "No versions of servable m found under base path /m. Did you forget to name your leaf directory as a "
            "number (eg. '/1/')?",
        ),
    )


def test_a_missing_base_path_is_an_error() -> None:
    with pytest.raises(NotFoundError) as caught:
        find_versions(ModelSettings("m", "/nowhere"), MemoryFileSystem())
    assert str(caught.value).startswith(
        "FileSystemStoragePathSource encountered a filesystem access error: Could not find base path /nowhere for "
        "servable m with error "
    )


def test_plain_files_count_as_versions() -> None:
    fs = MemoryFileSystem({"/m/4": b"a file"})
    assert find_versions(ModelSettings("m", "/m/"), fs).paths == {4: "/m/4"}


def test_content_changes_with_names_sizes_and_times() -> None:
    fs = MemoryFileSystem({"/v/a": b"1", "/v/sub/b": b"22"})
    before = content_of("/v", fs)
    assert content_of("/v/", fs) == before
    fs.set_modified("/v/sub/b", 1e6)
    changed = content_of("/v", fs)
    assert changed != before
    fs.delete("/v/a")
    assert content_of("/v", fs) not in (before, changed)
    assert content_of("/gone", fs) != ()


def test_a_version_in_a_store_is_one_when_its_graph_is_there() -> None:
    base = f"{memory_bucket()}/m"
    settings = ModelSettings("m", base, Latest())
    atomic_write(FILES, f"{base}/1/saved_model.pb", b"")
    assert find_versions(settings, FILES).paths == {1: f"{base}/1"}
    atomic_write(FILES, f"{base}/2/variables/variables.index", b"")  # an upload under way
    assert find_versions(settings, FILES).paths == {1: f"{base}/1"}
    atomic_write(FILES, f"{base}/2/saved_model.pb", b"")
    assert find_versions(settings, FILES).paths == {2: f"{base}/2"}
    assert {name for name, _, _ in content_of(f"{base}/2", FILES)} >= {"/saved_model.pb", "/variables/variables.index"}
