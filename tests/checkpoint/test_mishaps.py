"""Mishaps: odd arguments, errors at a bad moment, closing while reading, files made to take all memory."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tensorkeep import (
    ArraySource,
    BundleWriter,
    Checksums,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    ReadOptions,
    ResourceExhaustedError,
    SliceFileWriter,
    StorageError,
    TensorKeepError,
    TensorSlice,
    UnimplementedError,
    check_checkpoint,
    load_tensor,
    load_tensors,
    merge_bundles,
    open_checkpoint,
    save_checkpoint,
    write_checkpoint_state,
)
from tensorkeep.io.files.filesystem import RandomAccessFile, remove_abandoned, temporary_path
from tensorkeep.io.files.local import LOCAL
from tensorkeep.testing.filesystems import FileSystemWrapper
from tests.checkpoint.crafting import bundle, entry


class Unreliable(MemoryFileSystem):
    """Once it has begun to fail, opening and syncing fail, as when a process has run out of descriptors."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs_left: int | None = None

    def open(self, path: str) -> RandomAccessFile:  # type: ignore[override]
        if self.syncs_left is not None and self.syncs_left <= 0:
            raise StorageError("too many open files")
        return super().open(path)

    def sync_directory(self, path: str) -> None:
        if self.syncs_left is not None:
            self.syncs_left -= 1
            if self.syncs_left < 0:
                raise StorageError("too many open files")


@pytest.mark.parametrize("syncs", range(6))
@pytest.mark.parametrize("shards", [1, 2])
def test_an_error_that_keeps_us_from_looking_is_not_taken_for_absence(syncs: int, shards: int) -> None:
    old, new = {"a": np.arange(3), "b": np.arange(4)}, {"a": np.arange(5), "b": np.arange(6)}
    fs = Unreliable()
    save_checkpoint("run/m", old, fs=fs)
    fs.syncs_left = syncs

    def save() -> None:
        with BundleWriter("run/m", fs=fs) as writer:
            for at, (name, array) in enumerate(new.items()):
                writer.add(name, array, shard=at % shards)

    with suppress(TensorKeepError):
        save()
    fs.syncs_left = None
    found = {name: array.tolist() for name, array in load_tensors("run/m", fs=fs).items()}
    assert found in ({name: array.tolist() for name, array in each.items()} for each in (old, new))


def test_a_file_closed_by_another_thread_gives_its_bytes_or_says_that_it_is_closed(tmp_path: Path) -> None:
    data = os.urandom(1 << 16)
    (tmp_path / "f").write_bytes(data)
    wrong: list[object] = []

    def read(file: RandomAccessFile) -> None:
        for _ in range(50):
            try:
                if bytes(file.map(0, len(data))) != data or bytes(file.read(0, len(data))) != data:
                    wrong.append("other bytes")
            except FailedPreconditionError:
                return
            except Exception as error:
                wrong.append(error)
                return

    for _ in range(100):
        file = LOCAL.open(str(tmp_path / "f"))
        threads = [threading.Thread(target=read, args=(file,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        file.close()
        with open(tmp_path / "other", "wb") as other:  # which may get the number of the one that was closed
            other.write(b"x")
        for thread in threads:
            thread.join()
    assert wrong == []


@pytest.mark.parametrize("shape", [(5, 2**40, 2**40), (2**62, 0)])
def test_a_tensor_in_slices_whose_shape_numpy_cannot_hold(shape: tuple[int, ...]) -> None:
    part = TensorSlice(((0, 1), *((0, 1 if size else 0) for size in shape[1:])))
    fs = bundle({"w": entry(shape, slices=[part])})
    for checksums in Checksums:
        with open_checkpoint("x", ReadOptions(checksums), fs=fs) as reader:
            for ask in (
                lambda: reader.read_rows("w", []),
                lambda: reader.read("w", np.s_[0:0]),
                lambda: list(reader.source("w").chunks),
            ):
                try:
                    ask()
                except TensorKeepError:
                    continue


class Vast(FileSystemWrapper):
    """Data files are said to be larger than any memory."""

    def open(self, path: str) -> RandomAccessFile:
        file = super().open(path)
        if ".data-" in path:
            file.size = 1 << 60
        return file


def test_a_tensor_that_does_not_fit_in_memory() -> None:
    fs = Vast(bundle({"w": entry((1 << 58,), size=1 << 60)}))
    with open_checkpoint("x", fs=fs) as reader, pytest.raises(ResourceExhaustedError, match="does not fit in memory"):
        reader.read("w")


def test_entries_that_share_their_bytes_beyond_reason() -> None:
    names = [f"t{at:05}" for at in range(5000)]
    fs = bundle({name: entry((1 << 16,), dtype=4, size=1 << 16) for name in names}, data=bytes(1 << 16))
    with open_checkpoint("x", ReadOptions(Checksums.OFF), fs=fs) as reader:
        assert reader.read(names[-1]).sum() == 0
        with pytest.raises(DataLossError, match="entries overlap"):
            reader.read_many()


@pytest.mark.parametrize("value", [np.array([1, None], object), np.array(["a", 2.0], object), ["\ud800"]])
def test_arrays_of_objects_that_are_no_strings(value: object) -> None:
    with pytest.raises(InvalidArgumentError):
        save_checkpoint("m", {"a": value}, fs=MemoryFileSystem())  # type: ignore[dict-item]


def test_sweeping_leaves_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "my.tensorkeep-notes.tmp").write_text("mine")
    os.mkfifo(temporary_path(str(tmp_path / "pipe")))
    (tmp_path / "target").write_text("kept")
    os.symlink(tmp_path / "target", temporary_path(str(tmp_path / "link")))
    before = sorted(os.listdir(tmp_path))
    remove_abandoned(LOCAL, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == before


def test_odd_arguments_are_refused_by_one_of_our_errors(tmp_path: Path) -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"w": np.zeros((2, 3))}, fs=fs)
    reader = open_checkpoint("m", fs=fs)
    attempts = [
        (NotFoundError, lambda: reader.read(b"w")),  # type: ignore[arg-type]
        (NotFoundError, lambda: reader[None]),  # type: ignore[index]
        (NotFoundError, lambda: load_tensor("m", b"w", fs=fs)),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: reader.read_rows("w", [[1], [2, 3]])),  # type: ignore[list-item]
        (InvalidArgumentError, lambda: reader.read("w", slice(0.5, None))),
        (InvalidArgumentError, lambda: TensorSlice(((0.5, 1),))),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: ArraySource("float32", (None,), [])),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: ArraySource("float32", 5, [])),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: ArraySource("float32", (1 << 63, 0), [])),
        (InvalidArgumentError, lambda: ArraySource("float32", (1,) * 300, [])),
        (InvalidArgumentError, lambda: BundleWriter("n", fs=fs).add("a", 1, shard=1.0)),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: merge_bundles(Path("c"), "d", fs=fs)),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: SliceFileWriter("n", fs=fs).add(5, 1)),  # type: ignore[arg-type]
        (InvalidArgumentError, lambda: SliceFileWriter("n", fs=fs).add("", 1)),
        (InvalidArgumentError, lambda: write_checkpoint_state(tmp_path, "\udcff")),
        (InvalidArgumentError, lambda: write_checkpoint_state(tmp_path, tmp_path / "sub" / ".." / "checkpoint")),
    ]
    for kind, attempt in attempts:
        with pytest.raises(kind):
            attempt()


def test_a_slice_file_is_written_once(tmp_path: Path) -> None:
    with SliceFileWriter(tmp_path / "v1") as writer:
        writer.add("a", ArraySource("float32", (2,), iter([np.ones(2, np.float32)])))
        writer.commit()
        with pytest.raises(FailedPreconditionError):
            writer.add("b", 1)
    assert load_tensor(tmp_path / "v1", "a").tolist() == [1, 1]


def test_a_reader_of_a_checkpoint_replaced_by_one_of_more_files_says_so() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("m", {"a": np.zeros(2), "b": np.zeros(2)}, fs=fs)
    reader = open_checkpoint("m", fs=fs)
    with BundleWriter("m", fs=fs) as writer:
        writer.add("a", np.ones(2))
        writer.add("b", np.ones(2), shard=1)
    with pytest.raises(FailedPreconditionError, match="was replaced or deleted after it was opened"):
        reader.read("a")


def test_errors_of_the_system_keep_their_number_and_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        LOCAL.open(str(tmp_path / "nowhere"))
    assert (caught.value.errno, caught.value.filename) == (2, str(tmp_path / "nowhere"))


def test_a_rank_that_numpy_cannot_hold_is_told_with_the_tensor() -> None:
    fs = bundle({"deep": entry((1,) * 70, size=4)}, data=bytes(4))
    with open_checkpoint("x", fs=fs) as reader, pytest.raises(UnimplementedError, match='tensor "deep": 70 dimensions'):
        reader.read("deep")
    assert [problem.tensor for problem in check_checkpoint("x", fs=fs).problems] == ["deep"]
