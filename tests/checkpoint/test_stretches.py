"""Stored tensors read in stretches: whoever reads them, and in whatever pieces, one checksum is compared for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import DataLossError, MemoryFileSystem, SaveOptions, open_checkpoint, save_checkpoint
from tensorkeep.checkpoint import stretches
from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.checkpoint.stretches import Compared, Placed, Stretch, check_through, in_order, in_step, read_through
from tests.embedding.crafting import damage

Bytes = npt.NDArray[np.uint8]

VALUES = np.arange(5000, dtype=np.float32)
OTHERS = np.arange(700, dtype=np.int64)


@pytest.fixture
def fs(monkeypatch: pytest.MonkeyPatch) -> MemoryFileSystem:
    monkeypatch.setattr(stretches, "_STRETCH", 3000)
    monkeypatch.setattr(stretches, "_AT_ONCE", 1000)
    monkeypatch.setattr(stretches, "_CHECKED_AT_ONCE", 700)
    fs = MemoryFileSystem()
    tensors: dict[str, Any] = {"x": VALUES, "y": OTHERS, "none": np.zeros((3, 0)), "text": np.array([b"a"], object)}
    save_checkpoint("d/x", tensors, fs=fs)
    return fs


def stored_in(reader: CheckpointReader, name: str) -> StoredBytes:
    stored = reader.stored_bytes(name)
    assert stored is not None
    return stored


def fresh(at: int, size: int) -> Bytes:
    return np.empty(min(size, 777), np.uint8)


def test_a_stretch_gives_its_pieces_and_then_their_checksum(fs: MemoryFileSystem) -> None:
    with open_checkpoint("d/x", fs=fs) as reader:
        stored = stored_in(reader, "x")
        whole = Stretch(stored, 0, stored.size, fresh)
        pieces = [(at, bytes(memory)) for at, memory in whole]
        assert b"".join(data for _, data in pieces) == VALUES.tobytes()
        assert [at for at, _ in pieces] == list(range(0, VALUES.nbytes, 777))
        stored.compare(whole.crc)
        with pytest.raises(DataLossError, match=r'tensor "x".*checksum'):
            stored.compare(whole.crc ^ 1)


def test_tensors_are_read_by_several_threads_to_where_they_are_wanted(fs: MemoryFileSystem) -> None:
    with open_checkpoint("d/x", fs=fs) as reader:
        blocks = [np.zeros(8000, np.uint8) for _ in range(3)]
        others = np.zeros(OTHERS.nbytes, np.uint8)
        read_through(
            [
                (stored_in(reader, "x"), Placed(blocks, begin=1500)),
                (stored_in(reader, "none"), Placed([np.zeros(0, np.uint8)])),
                (stored_in(reader, "y"), Placed([others])),
            ],
            threads=3,
        )
        assert np.concatenate(blocks)[1500 : 1500 + VALUES.nbytes].tobytes() == VALUES.tobytes()
        assert others.tobytes() == OTHERS.tobytes()


@pytest.mark.parametrize("changed", [None, 0, 2999, 3000, 19_999])
def test_tensors_are_compared_with_what_is_in_memory(fs: MemoryFileSystem, changed: int | None) -> None:
    memory = VALUES.copy().view(np.uint8)
    if changed is not None:
        memory[changed] ^= 1
    target = Compared(memory)
    with open_checkpoint("d/x", fs=fs) as reader:
        read_through([(stored_in(reader, "x"), target)])
    assert target.is_same == (changed is None)


def test_damage_is_raised_before_the_last_piece_is_handed_out(fs: MemoryFileSystem) -> None:
    damage(fs, "x")
    taken = 0
    with open_checkpoint("d/x", fs=fs) as reader, pytest.raises(DataLossError, match=r'tensor "x".*checksum'):  # noqa: PT012
        for piece in in_order(stored_in(reader, "x"), fresh):
            taken += piece.size
    assert 0 < taken < VALUES.nbytes


def test_of_several_tensors_the_damaged_one_is_named(fs: MemoryFileSystem) -> None:
    damage(fs, "y")
    with open_checkpoint("d/x", fs=fs) as reader:
        check_through([stored_in(reader, "x")])
        with pytest.raises(DataLossError, match=r'tensor "y".*checksum'):
            check_through([stored_in(reader, "x"), stored_in(reader, "y")])


def test_a_reader_that_wants_no_checksums_compares_none(fs: MemoryFileSystem) -> None:
    damage(fs, "x")
    with open_checkpoint("d/x", ReadOptions(checksums=Checksums.OFF), fs=fs) as reader:
        found = b"".join(map(bytes, in_order(stored_in(reader, "x"), fresh)))
    assert found[:-1] == VALUES.tobytes()[:-1]
    assert found != VALUES.tobytes()


def test_what_was_found_right_once_is_not_checked_again_by_who_asks_once(fs: MemoryFileSystem) -> None:
    with open_checkpoint("d/x", ReadOptions(checksums=Checksums.ONCE), fs=fs) as reader:
        reader.verify("x")
        stored = stored_in(reader, "x")
        assert stored.read(0, memoryview(bytearray(8))) == 0  # no checksum is worked out
        stored.compare(12345)


def test_an_empty_tensor_has_a_checksum_too(fs: MemoryFileSystem) -> None:
    with open_checkpoint("d/x", fs=fs) as reader:
        assert list(in_order(stored_in(reader, "none"), fresh)) == []


def test_only_what_lies_in_one_piece_as_in_memory_is_read_in_stretches(fs: MemoryFileSystem) -> None:
    save_checkpoint("d/v1", {"x": VALUES}, SaveOptions(CheckpointFormat.V1), fs=fs)
    with open_checkpoint("d/x", fs=fs) as reader, open_checkpoint("d/v1", fs=fs) as old:
        assert reader.stored_bytes("text") is None
        assert old.stored_bytes("x") is None
        renamed = stored_in(RenamedReader(reader, {"new": "x"}), "new")
        assert (renamed.dtype.name, renamed.shape, renamed.size) == ("float32", (5000,), 20_000)


def _chunks(array: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    ends = np.cumsum(sizes)
    return [chunk for chunk in np.split(array, ends[ends < array.size]) if chunk.size]


@given(st.integers(0, 50), st.lists(st.lists(st.integers(1, 20), max_size=10), min_size=1, max_size=4))
def test_chunks_begin_and_end_together_and_nothing_is_lost(size: int, cuts: list[list[int]]) -> None:
    arrays = [np.arange(size) + 100 * at for at in range(len(cuts))]
    rounds = list(in_step([iter(_chunks(array, sizes)) for array, sizes in zip(arrays, cuts, strict=True)]))
    for chunks in rounds:
        assert len({chunk.size for chunk in chunks}) == 1
    for at, array in enumerate(arrays):
        found = np.concatenate([chunks[at] for chunks in rounds]) if rounds else np.zeros(0, int)
        np.testing.assert_array_equal(found, array)
