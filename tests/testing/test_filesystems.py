"""The file systems for tests do the one thing each is there for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import Checksums, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat, SaveOptions, ShardBySize, save_checkpoint
from tensorkeep.checkpoint.sources import PartitionedArray
from tensorkeep.errors import ResourceExhaustedError
from tensorkeep.io.files.filesystem import FileSystem, atomic_write, remove_abandoned
from tensorkeep.io.files.memory import MemoryFileSystem
from tensorkeep.testing.filesystems import (
    Change,
    CountingFileSystem,
    CrashingFileSystem,
    CutOutcome,
    FailingFileSystem,
    PowerCutFileSystem,
    Read,
    SimulatedCrash,
    UnsyncedContents,
)


def write(fs: FileSystem, path: str, *pieces: bytes) -> None:
    file = fs.create(path)
    for piece in pieces:
        file.write(piece)
    file.close()


# Crashing


def all_changes(fs: FileSystem) -> None:
    """One change of each kind."""
    fs.make_directory("folder")
    file = fs.create("folder/a")
    file.reserve(100)
    file.write(b"one")
    file.push()
    file.sync()
    file.close()
    fs.link("folder/a", "folder/b")
    fs.rename("folder/b", "folder/c")
    fs.sync("folder/c")
    fs.sync_directory("folder")
    fs.delete("folder/a")
    fs.delete("folder/c")
    fs.remove_directory("folder")


ALL_CHANGES = [
    Change("make_directory", "folder"),
    Change("create", "folder/a"),
    Change("write", "folder/a"),
    Change("sync", "folder/a"),
    Change("link", "folder/a", "folder/b"),
    Change("rename", "folder/b", "folder/c"),
    Change("sync", "folder/c"),
    Change("sync_directory", "folder"),
    Change("delete", "folder/a"),
    Change("delete", "folder/c"),
    Change("remove_directory", "folder"),
]


def test_left_alone_a_crashing_file_system_logs_every_change() -> None:
    fs = CrashingFileSystem(MemoryFileSystem())
    all_changes(fs)
    assert fs.log == ALL_CHANGES
    assert fs.changes_made == len(ALL_CHANGES)
    assert str(fs.log[5]) == 'rename "folder/b" to "folder/c"'


@pytest.mark.parametrize("changes", range(len(ALL_CHANGES)))
def test_it_makes_so_many_changes_and_dies_before_the_next(changes: int) -> None:
    fs = CrashingFileSystem(MemoryFileSystem(), changes)
    with pytest.raises(SimulatedCrash):
        all_changes(fs)
    assert fs.has_crashed
    assert fs.log == ALL_CHANGES[:changes]


def test_after_a_crash_nothing_works_any_more() -> None:
    fs = CrashingFileSystem(MemoryFileSystem(), changes=3)
    fs.make_directory("folder")
    file = fs.create("folder/a")
    file.write(b"abc")
    reader = fs.open("folder/a")
    with pytest.raises(SimulatedCrash):
        file.sync()
    buffer = memoryview(bytearray(1))
    attempts: list[Callable[[], object]] = [
        lambda: fs.open("folder/a"),
        lambda: fs.exists("folder/a"),
        lambda: fs.is_directory("folder"),
        lambda: fs.list("folder"),
        lambda: fs.modified("folder/a"),
        lambda: fs.delete_abandoned("folder/a"),
        lambda: fs.delete("folder/a"),
        lambda: fs.create("folder/b"),
        lambda: reader.read(0, 1),
        lambda: reader.read_into(0, buffer),
        lambda: reader.map(0, 1),
        lambda: file.write(b"more"),
        lambda: file.reserve(1),
        lambda: fs.sync("folder/a"),
        file.push,
        reader.is_current,
        file.close,
        reader.close,
    ]
    for attempt in attempts:
        with pytest.raises(SimulatedCrash):
            attempt()


def test_no_handler_of_errors_stops_a_crash_or_tidies_up_after_it() -> None:
    memory = MemoryFileSystem()
    with pytest.raises(SimulatedCrash):
        atomic_write(CrashingFileSystem(memory, changes=2), "a", b"one")
    assert list(memory.contents().values()) == [b"one"]


def test_what_a_crashed_writer_was_writing_is_abandoned() -> None:
    memory = MemoryFileSystem()
    with pytest.raises(SimulatedCrash):
        atomic_write(CrashingFileSystem(memory, changes=3), "a", b"one")
    remove_abandoned(memory, "")
    assert memory.contents() == {}


# Failing


def test_a_failing_file_system_fails_once_and_goes_on() -> None:
    memory = MemoryFileSystem()
    fs = FailingFileSystem(memory, 1, ResourceExhaustedError("full"))
    write(fs, "a")
    with pytest.raises(ResourceExhaustedError, match="full"):
        fs.create("b")
    assert fs.failed == Change("create", "b")
    write(fs, "c", b"fine")
    assert memory.contents() == {"a": b"", "c": b"fine"}


def test_of_a_write_that_fails_half_arrives() -> None:
    memory = MemoryFileSystem()
    fs = FailingFileSystem(memory, 2, ResourceExhaustedError("full"))
    file = fs.create("a")
    file.write(b"1234")
    with pytest.raises(ResourceExhaustedError):
        file.write(b"5678")
    file.write(b"9")
    assert memory.contents() == {"a": b"1234569"}


# Counting


def test_a_counting_file_system_notes_what_is_read() -> None:
    memory = MemoryFileSystem()
    write(memory, "a", bytes(100))
    fs = CountingFileSystem(memory)
    file = fs.open("a")
    file.read(10, 20)
    file.read_into(30, memoryview(bytearray(5)))
    file.map(50, 40)
    assert fs.reads == [Read("a", 10, 20), Read("a", 30, 5), Read("a", 50, 40, is_mapped=True)]
    assert (fs.bytes_read, fs.bytes_mapped, fs.paths_read) == (25, 40, {"a"})
    assert fs.calls == {"open": 1, "read": 2, "map": 1}
    fs.reset()
    assert (fs.bytes_read, fs.reads, dict(fs.calls)) == (0, [], {})


def counted(tensors: dict[str, object], options: SaveOptions = SaveOptions()) -> CountingFileSystem:
    memory = MemoryFileSystem()
    save_checkpoint("model", tensors, options, fs=memory)  # type: ignore[arg-type]
    return CountingFileSystem(memory)


BIG = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)


def test_opening_and_listing_read_the_index_alone() -> None:
    fs = counted({"big": BIG})
    with open_checkpoint("model", fs=fs) as reader:
        assert list(reader) == ["big"]
    assert fs.paths_read == {"model.index"}
    assert fs.bytes_read < 1000


def test_opening_a_v1_checkpoint_reads_the_list_of_tensors_alone() -> None:
    fs = counted({"big": BIG}, SaveOptions(CheckpointFormat.V1))
    with open_checkpoint("model", fs=fs) as reader:
        assert list(reader) == ["big"]
    assert fs.bytes_read < 1000


def test_reading_a_tensor_reads_its_bytes_and_no_other() -> None:
    fs = counted({"big": BIG, "small": BIG[:3, :5]})
    with open_checkpoint("model", fs=fs) as reader:
        reader["small"]
        fs.reset()
        reader.read("small")
        assert fs.bytes_read == 3 * 5 * 4
        fs.reset()
        reader.read("big")
        assert fs.bytes_read == BIG.nbytes


def test_a_part_is_read_from_only_the_bytes_it_needs() -> None:
    fs = counted({"big": BIG})
    with open_checkpoint("model", fs=fs) as reader:
        reader["big"]
        for part, most in ((np.s_[10:12], 2 * 4096), (np.s_[5:6, 7:9], 8), (np.s_[::, :1][:1], 1024 * 4096)):
            fs.reset()
            assert np.array_equal(reader.read("big", part), BIG[part])
            assert fs.bytes_read <= most


def test_rows_are_read_from_little_more_than_the_bytes_they_need() -> None:
    fs = counted({"big": BIG})
    with open_checkpoint("model", fs=fs) as reader:
        reader["big"]
        fs.reset()
        assert np.array_equal(reader.read_rows("big", [900, 3, 500]), BIG[[900, 3, 500]])
        assert fs.bytes_read == 3 * 4096


def test_a_part_of_a_partitioned_tensor_is_read_from_the_slices_it_touches() -> None:
    fs = counted({"big": PartitionedArray.split(BIG, 8)}, SaveOptions(sharding=ShardBySize(1)))
    with open_checkpoint("model", fs=fs) as reader:
        assert np.array_equal(reader.read("big", np.s_[130:140]), BIG[130:140])
    assert fs.paths_read == {"model.index", "model.data-00001-of-00008"}


def test_checked_once_a_tensor_is_read_whole_before_its_first_part_and_then_no_more() -> None:
    fs = counted({"big": BIG})
    with open_checkpoint("model", ReadOptions(checksums=Checksums.ONCE), fs=fs) as reader:
        reader["big"]
        fs.reset()
        reader.read("big", np.s_[0:1])
        assert fs.bytes_read == BIG.nbytes + 4096
        fs.reset()
        reader.read("big", np.s_[1:2])
        assert fs.bytes_read == 4096


def test_without_copies_nothing_is_copied() -> None:
    fs = counted({"big": BIG})
    with open_checkpoint("model", ReadOptions(copy=False), fs=fs) as reader:
        reader["big"]
        fs.reset()
        reader.read("big")
    assert (fs.bytes_read, fs.bytes_mapped) == (0, BIG.nbytes)


def test_many_small_tensors_that_lie_together_are_read_together() -> None:
    fs = counted({f"w{number:03}": np.full(10, number) for number in range(500)})
    with open_checkpoint("model", fs=fs) as reader:
        list(reader)
        fs.reset()
        reader.read_many()
    assert len(fs.reads) <= 3


# Power cuts

ALL = 1.0
NONE = 0.0


def after(fs: PowerCutFileSystem, contents: UnsyncedContents, kept_names: float = ALL) -> dict[str, bytes]:
    return fs.after_cut(CutOutcome(contents, kept_names)).contents()


@pytest.mark.parametrize(
    ("fate", "expected"),
    [
        (UnsyncedContents.KEPT, b"syncedwritten"),
        (UnsyncedContents.LOST, b"synced"),
        (UnsyncedContents.HALF, b"syncedwri"),
        (UnsyncedContents.GARBAGE, b"syncedwri\xa5\xa5\xa5\xa5"),
    ],
)
def test_contents_that_were_not_synced_have_one_of_four_fates(fate: UnsyncedContents, expected: bytes) -> None:
    fs = PowerCutFileSystem()
    file = fs.create("a")
    file.write(b"synced")
    file.sync()
    file.write(b"written")
    assert after(fs, fate) == {"a": expected}


def test_a_file_that_was_never_synced_may_be_empty() -> None:
    fs = PowerCutFileSystem()
    write(fs, "a", b"written")
    fs.sync_directory("")
    assert after(fs, UnsyncedContents.LOST, NONE) == {"a": b""}


def test_a_file_can_be_synced_by_somebody_else_under_any_of_its_names() -> None:
    fs = PowerCutFileSystem()
    write(fs, "a", b"written")
    fs.link("a", "b")
    fs.sync_directory("")
    fs.sync("b")
    assert after(fs, UnsyncedContents.LOST, NONE) == {"a": b"written", "b": b"written"}


def test_names_that_were_not_synced_may_be_lost_and_old_ones_come_back() -> None:
    fs = PowerCutFileSystem()
    for name in ("renamed", "deleted", "replaced"):
        write(fs, name, name.encode())
    fs.sync_directory("")
    fs.rename("renamed", "replaced")
    fs.delete("deleted")
    write(fs, "created", b"new")
    old = {"renamed": b"renamed", "deleted": b"deleted", "replaced": b"replaced"}
    assert after(fs, UnsyncedContents.KEPT, NONE) == old
    assert after(fs, UnsyncedContents.KEPT, ALL) == {"replaced": b"renamed", "created": b"new"}
    assert after(fs, UnsyncedContents.KEPT, 0.67) == {"replaced": b"renamed"}
    assert fs.exists("created"), "the store itself goes on"


def test_syncing_a_folder_keeps_its_names_and_no_other_folder_s() -> None:
    fs = PowerCutFileSystem()
    for folder in ("a", "b"):
        fs.make_directory(folder)
        fs.sync_directory("")
        write(fs, f"{folder}/f", folder.encode())
    fs.sync_directory("a")
    assert after(fs, UnsyncedContents.KEPT, NONE) == {"a/f": b"a"}


def test_a_folder_whose_name_was_not_synced_is_lost_with_all_in_it() -> None:
    fs = PowerCutFileSystem()
    fs.make_directory("a/b")
    write(fs, "a/b/f", b"x")
    fs.sync_directory("a/b")
    fs.sync_directory("a")
    assert after(fs, UnsyncedContents.KEPT, NONE) == {}
    fs.sync_directory("")
    assert after(fs, UnsyncedContents.KEPT, NONE) == {"a/b/f": b"x"}


def test_a_link_shares_the_fate_of_the_file() -> None:
    fs = PowerCutFileSystem()
    file = fs.create("a")
    file.write(b"one")
    fs.link("a", "b")
    file.write(b"two")
    file.sync()
    fs.sync_directory("")
    assert after(fs, UnsyncedContents.LOST, NONE) == {"a": b"onetwo", "b": b"onetwo"}


def test_what_was_there_at_first_is_there_for_good() -> None:
    memory = MemoryFileSystem()
    memory.make_directory("run/empty")
    write(memory, "run/f", b"x")
    remains = PowerCutFileSystem(memory).after_cut(CutOutcome(UnsyncedContents.LOST, NONE))
    assert remains.contents() == {"run/f": b"x"}
    assert remains.is_directory("run/empty")


def test_seeds_keep_various_numbers_of_the_oldest_changes_and_always_the_same() -> None:
    fs = PowerCutFileSystem()
    for number in range(10):
        write(fs, f"{number}")
    outcomes = [CutOutcome(UnsyncedContents.KEPT, seed=seed) for seed in range(20)]
    kept = [sorted(fs.after_cut(outcome).contents()) for outcome in outcomes]
    assert kept == [sorted(fs.after_cut(outcome).contents()) for outcome in outcomes]
    assert all(names == [str(number) for number in range(len(names))] for names in kept)
    assert len({len(names) for names in kept}) > 4
    assert len(list(CutOutcome.variety(seeds=3))) == 4 * 5
