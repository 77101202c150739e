"""Checking a checkpoint: everything that is wrong, at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorkeep import (
    CheckpointFormat,
    DataLossError,
    MemoryFileSystem,
    MissingFileError,
    NotFoundError,
    PartitionedArray,
    SaveOptions,
    ShardByName,
    TensorSlice,
    UnimplementedError,
    check_checkpoint,
    save_checkpoint,
)
from tests.checkpoint.crafting import (
    block,
    bundle,
    bundle_of_index,
    entry,
    header,
    peak_memory,
    put,
    slice_file,
    store_of,
    table_of_blocks,
)

V1 = SaveOptions(format=CheckpointFormat.V1)


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


def damage(fs: MemoryFileSystem, path: str, at: int) -> None:
    data = bytearray(fs.contents()[path])
    data[at] ^= 0xFF
    put(fs, path, bytes(data))


def problems(fs: MemoryFileSystem, path: str = "m") -> list[tuple[str | None, str]]:
    return [(problem.tensor, str(problem)) for problem in check_checkpoint(path, fs=fs).problems]


@pytest.mark.parametrize("options", [SaveOptions(), V1], ids=["V2", "V1"])
def test_a_sound_one(fs: MemoryFileSystem, options: SaveOptions) -> None:
    tensors = {"a": np.zeros(3), "b": np.array([b"x"], object), "w": PartitionedArray.split(np.zeros(4), 2)}
    save_checkpoint("run/m", tensors, options, fs=fs)
    report = check_checkpoint("run/m", fs=fs)
    assert report.is_intact
    assert report.path == "run/m"
    assert report.intact == ("a", "b", "w")
    assert report.problems == ()
    assert str(report) == '"run/m": all 3 tensors are intact'


def test_every_problem_is_reported_at_once(fs: MemoryFileSystem) -> None:
    tensors = {name: np.full(10, ord(name), np.uint8) for name in "abcdefg"}
    options = SaveOptions(sharding=ShardByName(lambda name: "abcdefg".index(name) // 2))
    save_checkpoint("m", {**tensors, "s": PartitionedArray.split(np.zeros(4, np.uint8), 2)}, SaveOptions(), fs=fs)
    save_checkpoint("m", tensors, options, fs=fs)
    damage(fs, "m.data-00000-of-00004", 3)  # a
    damage(fs, "m.data-00000-of-00004", 13)  # b
    fs.delete("m.data-00001-of-00004")  # c, d
    put(fs, "m.data-00002-of-00004", bytes(15))  # e is not zeros; f is cut short
    report = check_checkpoint("m", fs=fs)
    assert report.intact == ("g",)
    assert [problem.tensor for problem in report.problems] == ["a", "b", "c", "d", "e", "f"]
    kinds = [type(problem.error) for problem in report.problems]
    assert kinds == [DataLossError, DataLossError, MissingFileError, MissingFileError, DataLossError, DataLossError]
    lines = str(report).splitlines()
    assert lines[0] == '"m": 6 problems, 1 tensor is intact'
    assert lines[1].startswith('  "m.data-00000-of-00004": tensor "a" (bytes 0..10 of data file 0): its checksum is 0x')
    assert lines[3] == ('  tensor "c" (bytes 0..10 of data file 1): "m.data-00001-of-00004" does not exist')
    assert lines[6] == '  "m.data-00002-of-00004" is 15 bytes long, but tensor "f" lies at bytes 10..20'


def test_problems_of_files_come_first_and_have_no_tensor(fs: MemoryFileSystem) -> None:
    options = SaveOptions(format=CheckpointFormat.V1, sharding=ShardByName(ord))
    save_checkpoint("m", {name: np.zeros(3) for name in "abc"}, options, fs=fs)
    fs.delete("m-00001-of-00003")
    put(fs, "m-00002-of-00003", b"")
    report = check_checkpoint("m-?????-of-00003", fs=fs)
    assert report.intact == ("a",)
    assert [(problem.tensor, type(problem.error)) for problem in report.problems] == [
        (None, MissingFileError),
        (None, DataLossError),
    ]


def test_what_cannot_even_be_opened_is_one_problem(fs: MemoryFileSystem) -> None:
    put(fs, "m.index", b"short")
    assert problems(fs) == [(None, '"m.index" is not a table: it has 5 bytes, the footer alone takes 48')]
    put(fs, "n.index", table_of_blocks([(b"a", block([(0, b"", header(1, endianness=7))]))]))
    (problem,) = check_checkpoint("n", fs=fs).problems
    assert "1 data files in byte order 7; expected at least one file, and 0" in str(problem)


def test_what_opens_and_cannot_be_listed_is_a_report_too() -> None:
    """An index whose handles point nowhere, with every checksum right."""
    good = block([(0, b"", header()), (0, b"a", entry())])
    for handles in (
        lambda found: [(b"a", found[0].encode()), (b"b", b"\xff")],
        lambda found: [(b"a", found[0].encode()), (b"b", found[0].encode())],
    ):
        fs = bundle_of_index(table_of_blocks([(b"a", good)], index=handles))
        report = check_checkpoint("x", fs=fs)
        assert not report.is_intact
        assert all('"x.index"' in str(problem) for problem in report.problems)


def test_what_we_cannot_hold_is_a_problem_of_that_tensor() -> None:
    fs = bundle({"wide": entry((0,) * 100), "ok": entry((0,))})
    report = check_checkpoint("x", fs=fs)
    assert report.intact == ("ok",)
    (problem,) = report.problems
    assert (problem.tensor, type(problem.error)) == ("wide", UnimplementedError)


def test_slices_that_do_not_fit_are_a_problem_of_their_tensor() -> None:
    part, other = TensorSlice(((0, 2),)), TensorSlice(((1, 2),))
    fs = store_of({"x": slice_file({"w": (1, (3,), [part, other])}, {})})
    assert problems(fs, "x") == [("w", '"x": tensor "w": stored slices [0:2] and [1:3] overlap')]


def test_nothing_there_is_an_error_not_a_report(fs: MemoryFileSystem) -> None:
    with pytest.raises(NotFoundError, match='"nope" holds no checkpoint'):
        check_checkpoint("nope", fs=fs)
    fs.make_directory("folder")
    with pytest.raises(NotFoundError, match='folder "folder" holds no checkpoint'):
        check_checkpoint("folder", fs=fs)


def test_a_folder_stands_for_its_latest(fs: MemoryFileSystem) -> None:
    save_checkpoint("run/m-1", {"a": np.zeros(2)}, fs=fs)
    save_checkpoint("run/m-2", {"b": np.zeros(2)}, fs=fs)
    report = check_checkpoint("run", fs=fs)
    assert (report.path, report.intact) == ("run/m-2", ("b",))


def test_a_check_takes_little_memory(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "m", {"w": np.zeros(8 << 20)})
    report, peak = peak_memory(lambda: check_checkpoint(tmp_path / "m"))
    assert report.is_intact
    assert peak < 8 << 20  # of 64 MiB


def test_any_number_of_threads_finds_the_same(fs: MemoryFileSystem) -> None:
    save_checkpoint("m", {f"t{number:02d}": np.full(1000, number) for number in range(20)}, fs=fs)
    damage(fs, "m.data-00000-of-00001", 8000 * 7 + 5)
    for threads in (1, 4, None):
        report = check_checkpoint("m", threads=threads, fs=fs)
        assert [problem.tensor for problem in report.problems] == ["t07"]
        assert len(report.intact) == 19
