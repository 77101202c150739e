"""Readers: what is read when, how it is checked, and what becomes of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tensorkeep import (
    BundleReader,
    CheckpointFormat,
    Checksums,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MemoryFileSystem,
    MissingFileError,
    NotFoundError,
    PartitionedArray,
    ReadOptions,
    SaveOptions,
    ShardByName,
    SliceFileReader,
    TensorSlice,
    check_checkpoint,
    open_checkpoint,
    save_checkpoint,
)
from tensorkeep.checkpoint.slices.tensor_slice import slice_key
from tensorkeep.dtypes import ALL_DTYPES
from tensorkeep.io.coding.crc32c import crc32c
from tensorkeep.testing.filesystems import CountingFileSystem
from tests.checkpoint.crafting import block as raw_block
from tests.checkpoint.crafting import bundle, entry, header, peak_memory, put, same, table_of_blocks

V1 = SaveOptions(format=CheckpointFormat.V1)
BOTH = pytest.mark.parametrize("options", [SaveOptions(), V1], ids=["V2", "V1"])
POLICIES = pytest.mark.parametrize("policy", Checksums, ids=lambda policy: policy.value)

MATRIX = np.arange(400, dtype=np.float32).reshape(20, 20)


@pytest.fixture
def fs() -> MemoryFileSystem:
    return MemoryFileSystem()


class TestLaziness:
    def test_opening_reads_the_index_alone(self, fs):
        save_checkpoint("m", {f"t{number}": np.zeros(1000) for number in range(100)}, fs=fs)
        fs.delete("m.data-00000-of-00001")
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            assert len(reader) == 100
            assert reader["t7"].shape == (1000,)
            assert counting.paths_read == {"m.index"}
            with pytest.raises(MissingFileError, match=r'tensor "t7" \(bytes .*m\.data-00000-of-00001'):
                reader.read("t7")

    def test_opening_a_large_index_reads_only_its_ends(self, fs):
        save_checkpoint("m", {f"{number:05d}" + "x" * 100: np.zeros(1) for number in range(20000)}, fs=fs)
        size = len(fs.contents()["m.index"])
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            assert isinstance(reader, BundleReader)
            assert reader.shard_count == 1
            assert counting.bytes_read < size / 4
            assert len(reader) == 20000

    def test_only_the_data_file_of_a_tensor_is_opened(self, fs):
        save_checkpoint("m", {name: np.zeros(3) for name in "abc"}, SaveOptions(sharding=ShardByName(ord)), fs=fs)
        fs.delete("m.data-00000-of-00003")
        fs.delete("m.data-00002-of-00003")
        with open_checkpoint("m", fs=fs) as reader:
            assert reader.read("b").tolist() == [0, 0, 0]

    def test_a_part_costs_the_bytes_of_that_part(self, fs):
        save_checkpoint("m", {"w": np.zeros((1000, 1000))}, fs=fs)
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            assert len(reader) == 1
            counting.reset()
            reader.read("w", np.s_[500:502])
            assert counting.bytes_read == 2 * 8000

    def test_a_part_of_a_tensor_in_slices_costs_the_slices_it_touches(self, fs):
        save_checkpoint("m", {"w": PartitionedArray.split(np.zeros((1000, 100)), 10)}, fs=fs)
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            assert len(reader) == 1
            counting.reset()
            reader.read("w", np.s_[150:160])
            assert counting.bytes_read == 10 * 800

    def test_the_index_is_read_once(self, fs):
        save_checkpoint("m", {"a": np.zeros(3)}, fs=fs)
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            reader.read("a")
            counting.reset()
            reader.read("a")
            assert counting.paths_read == {"m.data-00000-of-00001"}

    def test_small_tensors_are_read_together(self, fs):
        save_checkpoint("m", {f"{number:04d}": np.full(5, number) for number in range(3000)}, fs=fs)
        counting = CountingFileSystem(fs)
        with open_checkpoint("m", fs=counting) as reader:
            assert len(reader) == 3000
            counting.reset()
            found = reader.read_many()
            assert len(counting.reads) <= 5
            assert all(found[f"{number:04d}"].tolist() == [number] * 5 for number in range(0, 3000, 71))


def flip(fs: MemoryFileSystem, path: str, at: int) -> Callable[[], None]:
    """Damages a byte of a file, in place; returns what mends it again."""
    node = fs._nodes[path]
    node.data[at] ^= 0x40

    def mend() -> None:
        node.data[at] ^= 0x40

    return mend


class Live(MemoryFileSystem):
    """A memory file system whose open files show changes, as a disk's do."""

    def open(self, path: str):  # type: ignore[no-untyped-def]
        file = super().open(path)
        file._view = memoryview(self._nodes[path].data)
        return file


class TestChecksums:
    DATA = "m.data-00000-of-00001"

    @pytest.fixture
    def live(self) -> Live:
        fs = Live()
        save_checkpoint("m", {"w": MATRIX, "s": np.array([b"abc", b"de"], object)}, fs=fs)
        return fs

    def open(self, fs: MemoryFileSystem, policy: Checksums) -> BundleReader:
        reader = open_checkpoint("m", ReadOptions(checksums=policy), fs=fs)
        assert isinstance(reader, BundleReader)
        return reader

    WHOLE: ClassVar = {
        "read": lambda reader: reader.read("w"),
        "many": lambda reader: reader.read_many(["w"])["w"],
        "source": lambda reader: reader.source("w").gather(),
    }

    @pytest.mark.parametrize("way", WHOLE)
    def test_always_compares_at_every_read(self, live, way):
        with self.open(live, Checksums.ALWAYS) as reader:
            self.WHOLE[way](reader)
            mend = flip(live, self.DATA, 200)
            with pytest.raises(DataLossError, match=r'tensor "w".* its checksum is 0x.*, expected 0x'):
                self.WHOLE[way](reader)
            mend()
            self.WHOLE[way](reader)

    def test_always_does_not_compare_parts(self, live):
        with self.open(live, Checksums.ALWAYS) as reader:
            flip(live, self.DATA, 200)
            assert same(reader.read("w", np.s_[10:]), MATRIX[10:])
            assert same(reader.read_rows("w", [19]), MATRIX[[19]])

    def test_once_compares_before_the_first_use_and_not_again(self, live):
        with self.open(live, Checksums.ONCE) as reader:
            mend = flip(live, self.DATA, 200)
            for act in (
                lambda: reader.read("w"),
                lambda: reader.read("w", np.s_[10:]),
                lambda: reader.read_rows("w", [19]),
                lambda: reader.read("w", copy=False),
            ):
                with pytest.raises(DataLossError, match=r'tensor "w".* its checksum is'):
                    act()
            mend()
            assert same(reader.read("w", np.s_[10:]), MATRIX[10:])
            flip(live, self.DATA, 200)
            assert not same(reader.read("w"), MATRIX)
            assert reader.read("w", np.s_[:2]).shape == (2, 20)

    def test_once_is_once_for_each_tensor(self, live):
        with self.open(live, Checksums.ONCE) as reader:
            reader.read("w")
            flip(live, self.DATA, 5)  # the strings come first
            with pytest.raises(DataLossError, match='tensor "s"'):
                reader.read("s")

    def test_once_is_not_fooled_by_an_empty_tensor_at_the_same_place(self):
        fs = bundle({"empty": entry((0,)), "full": entry((2,), size=8, crc=123)}, bytes(8))
        with self.open_prefix(fs, "x", Checksums.ONCE) as reader:
            reader.read("empty")
            with pytest.raises(DataLossError, match='tensor "full"'):
                reader.read("full")
        with self.open_prefix(fs, "x", Checksums.ALWAYS) as reader:
            reader.read("empty", copy=False)
            with pytest.raises(DataLossError, match='tensor "full"'):
                reader.read("full", copy=False)

    def open_prefix(self, fs: MemoryFileSystem, prefix: str, policy: Checksums) -> BundleReader:
        return BundleReader(prefix, fs=fs, options=ReadOptions(checksums=policy))

    @pytest.mark.parametrize("way", WHOLE)
    def test_off_never_compares(self, live, way):
        with self.open(live, Checksums.OFF) as reader:
            flip(live, self.DATA, 200)
            assert not same(np.asarray(self.WHOLE[way](reader)).reshape(20, 20), MATRIX)
            reader.read("w", copy=False)

    def test_off_still_looks_at_the_lengths_of_strings(self, live):
        """They say where each string ends, so a wrong one is no matter of taste."""
        with self.open(live, Checksums.OFF) as reader:
            flip(live, self.DATA, 0)
            with pytest.raises(DataLossError, match='tensor "s"'):
                reader.read("s")

    def test_views_are_compared_once_by_default(self, live):
        with self.open(live, Checksums.ALWAYS) as reader:
            flip(live, self.DATA, 200)
            with pytest.raises(DataLossError, match='tensor "w"'):
                reader.read("w", copy=False)
            flip(live, self.DATA, 200)
            reader.read("w", copy=False)
            flip(live, self.DATA, 200)
            reader.read("w", copy=False)

    @POLICIES
    def test_the_index_is_always_compared(self, live, policy):
        flip(live, "m.index", 3)
        with pytest.raises(DataLossError, match=r'"m\.index": block at byte 0 .* is damaged: its checksum is'):
            self.open(live, policy)

    @POLICIES
    def test_v1_files_are_always_compared(self, policy):
        fs = Live()
        save_checkpoint("m", {"w": MATRIX}, V1, fs=fs)
        flip(fs, "m", 900)
        with pytest.raises(DataLossError, match=r'"m": block at byte 0 .* is damaged'):
            open_checkpoint("m", ReadOptions(checksums=policy), fs=fs)

    def test_slices_are_compared_one_by_one(self):
        fs = Live()
        save_checkpoint("m", {"w": PartitionedArray.split(MATRIX, 4)}, fs=fs)
        flip(fs, self.DATA, 0)
        with self.open(fs, Checksums.ALWAYS) as reader:
            assert same(reader.read("w", np.s_[5:]), MATRIX[5:])
            with pytest.raises(DataLossError, match=r'tensor "w \[0,5:0,20\]" \(bytes 0\.\.400 of data file 0\)'):
                reader.read("w")


class TestVerifying:
    """Reading for the sake of checksums alone, whatever the policy of the reader."""

    TENSORS: ClassVar = {
        "w": MATRIX,
        "p": PartitionedArray.split(MATRIX, 3),
        "s": np.array([b"abc", b""], object),
        "e": np.zeros((0, 2)),
        "scalar": np.float32(3),
    }

    @BOTH
    @POLICIES
    def test_what_is_sound_passes(self, fs, options, policy):
        save_checkpoint("m", self.TENSORS, options, fs=fs)
        with open_checkpoint("m", ReadOptions(checksums=policy), fs=fs) as reader:
            for name in reader:
                assert reader.verify(name) is None

    @POLICIES
    @pytest.mark.parametrize("name", ["w", "p", "s", "scalar"])
    def test_what_is_damaged_does_not(self, policy, name):
        live = Live()
        save_checkpoint("m", self.TENSORS, fs=live)
        with open_checkpoint("m", ReadOptions(checksums=policy), fs=live) as reader:
            assert isinstance(reader, BundleReader)
            part = reader[name].slices[-1] if reader[name].slices else None
            place = reader.entry(name, part)
            reader.verify(name)
            flip(live, "m.data-00000-of-00001", place.offset + place.size - 1)
            with pytest.raises(DataLossError, match=f'"m.*tensor "{name}'):
                reader.verify(name)
            for other in set(reader) - {name}:
                reader.verify(other)

    def test_slices_must_fit_together(self):
        parts = [TensorSlice(((0, 2),)), TensorSlice(((3, 1),))]
        entries = {slice_key(b"w", part): entry((part.extents[0][1],), size=4 * part.extents[0][1]) for part in parts}
        fs = bundle({"w": entry((4,), slices=parts), **entries}, bytes(8))
        with open_checkpoint("x", fs=fs) as reader, pytest.raises(DataLossError, match="hold 3 of the 4 elements"):
            reader.verify("w")

    @BOTH
    def test_what_is_not_there_is_not_found(self, fs, options):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader, pytest.raises(NotFoundError, match='holds no tensor "v"'):
            reader.verify("v")

    def test_it_takes_little_memory(self, tmp_path):
        array = np.zeros((1 << 20, 8), np.float32)
        save_checkpoint(tmp_path / "m", {"w": array, "p": PartitionedArray.split(array, 2)})
        with open_checkpoint(tmp_path / "m") as reader:
            for name in ("w", "p"):
                _, peak = peak_memory(lambda name=name: reader.verify(name))
                assert peak < 4 << 20  # of 32 MiB


class TestDamagedIndex:
    """A table of one entry per block, one of which is damaged."""

    @pytest.fixture
    def reader(self) -> BundleReader:
        value = entry((), size=4, crc=0x48674BC7)  # of four zeros
        index = bytearray(
            table_of_blocks(
                [
                    (b"a", raw_block([(0, b"", bytes.fromhex("08011a020801")), (0, b"a", value)])),
                    (b"b", raw_block([(0, b"b", value)])),
                    (b"c", raw_block([(0, b"c", value)])),
                ]
            )
        )
        at = bytes(index).index(b"b" + value)
        index[at] ^= 1
        fs = bundle({}, bytes(4))
        put(fs, "x.index", bytes(index))
        return BundleReader("x", fs=fs)

    def test_what_lies_in_sound_blocks_is_read(self, reader):
        assert reader.intact_names == ["a", "c"]
        assert reader.read("c") == 0
        assert reader.read_many(["a", "c"]) == {"a": 0, "c": 0}

    def test_what_may_lie_in_the_damaged_one_is_an_error(self, reader):
        for act in (
            lambda: reader.read("b"),
            lambda: reader["zzz"],
            lambda: "b" in reader,
            lambda: reader.read_many(["a", "b"]),
        ):
            with pytest.raises(DataLossError, match="is not in the parts of the index that can be read: "):
                act()

    def test_so_is_listing_and_counting(self, reader):
        with pytest.raises(DataLossError, match="the index cannot be listed in full"):
            list(reader)
        with pytest.raises(DataLossError, match="the index cannot be counted in full"):
            len(reader)
        with pytest.raises(DataLossError, match="the index cannot be listed in full"):
            reader.read_many()
        with pytest.raises(DataLossError, match="the index cannot be read in full"):
            reader.entries()

    def test_the_damage_says_where(self, reader):
        (error,) = reader.damage
        assert str(error).startswith('"x.index": block at byte 37 (')
        assert "is damaged: its checksum is" in str(error)

    def test_a_slice_without_an_entry(self):
        part = TensorSlice(((0, 2),))
        fs = bundle({"w": entry((2,), slices=[part])})
        with BundleReader("x", fs=fs) as reader, pytest.raises(DataLossError) as caught:
            reader.read("w")
        assert str(caught.value) == ('"x": tensor "w": "x.index": tensor "w" lists the slice 0,2, which has no entry')

    def test_a_slice_that_is_stored_as_something_else(self):
        part = TensorSlice(((0, 2),))
        for wrong in (entry((3,), size=12), entry((2,), dtype=9, size=16), entry((2,), slices=[part])):
            fs = bundle({"w": entry((2,), slices=[part]), slice_key(b"w", part): wrong})
            with BundleReader("x", fs=fs) as reader, pytest.raises(DataLossError) as caught:
                reader.read("w")
            assert 'slice 0,2 of tensor "w" is stored as' in str(caught.value)
            assert "expected float32 [2]" in str(caught.value)

    def test_keys_of_slices_are_no_tensors(self):
        part = TensorSlice(((0, 2),))
        fs = bundle({"w": entry((2,), slices=[part]), slice_key(b"w", part): entry((2,), size=8)}, bytes(8))
        with BundleReader("x", fs=fs) as reader:
            assert list(reader) == ["w"]

    def test_an_orphaned_slice_is_a_tensor_of_a_strange_name(self):
        key = slice_key(b"w", TensorSlice(((0, 2),)))
        fs = bundle({key: entry((2,), size=8, crc=0x8C28B28A)}, bytes(8))
        with BundleReader("x", fs=fs) as reader:
            assert list(reader) == [key.decode("utf-8", "surrogateescape")]
            assert reader.read_many()


def swapped(array: np.ndarray) -> bytes:
    """The bytes of an array as a big-endian machine stores them: of complex numbers, each half by itself."""
    width = array.dtype.itemsize // 2 if array.dtype.kind == "c" else array.dtype.itemsize
    return np.ascontiguousarray(array).reshape(-1).view(f"u{width}").byteswap().tobytes()


class TestBigEndian:
    """Files of a machine of the other byte order. The golden ones have few types, so here are all."""

    @pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if not dtype.is_object], ids=str)
    def test_every_type_every_way(self, dtype):
        generator = np.random.default_rng(dtype.number)
        raw = generator.integers(0, 2 if dtype.name == "bool" else 256, 60 * dtype.itemsize, np.uint8)
        if dtype.bits:
            raw &= (1 << dtype.bits) - 1
        array = raw.view(dtype.array_dtype).reshape(10, 6)
        data = swapped(array)
        parts = [TensorSlice(((0, 4), None)), TensorSlice(((4, 6), None))]
        pieces = [data[: 24 * dtype.itemsize], data[24 * dtype.itemsize :]]
        entries = {
            "whole": entry(array.shape, dtype=dtype.number, size=len(data), crc=crc32c(data)),
            "sliced": entry(array.shape, dtype=dtype.number, slices=parts),
        }
        offset = 0
        for part, piece in zip(parts, pieces, strict=True):
            shape = (len(piece) // dtype.itemsize // 6, 6)
            entries[slice_key(b"sliced", part)] = entry(
                shape, dtype=dtype.number, size=len(piece), offset=offset, crc=crc32c(piece)
            )
            offset += len(piece)
        fs = bundle(entries, data, head=header(1, endianness=1))
        for options in (ReadOptions(), ReadOptions(checksums=Checksums.ONCE), ReadOptions(copy=False)):
            with open_checkpoint("x", options, fs=fs) as reader:
                many = reader.read_many()
                for name in ("whole", "sliced"):
                    assert same(reader.read(name), array)
                    assert same(many[name], array)
                    assert same(reader.read(name, np.s_[3:8, 1:4]), array[3:8, 1:4])
                    assert same(reader.read_rows(name, [9, 0, 0]), array[[9, 0, 0]])
                    assert same(reader.source(name).gather().reshape(10, 6), array)
        assert check_checkpoint("x", fs=fs).is_intact

    def test_damage_is_noticed(self):
        fs = bundle({"a": entry((2,), size=8, crc=1)}, bytes(8), head=header(1, endianness=1))
        with open_checkpoint("x", fs=fs) as reader, pytest.raises(DataLossError, match='tensor "a"'):
            reader.read("a")


class TestViews:
    def test_are_views_only_where_the_bytes_are_right(self, tmp_path: Path):
        save_checkpoint(tmp_path / "m", {"w": MATRIX, "s": np.array([b"x"], object), "e": np.zeros((0, 3))})
        with open_checkpoint(tmp_path / "m", ReadOptions(copy=False)) as reader:
            assert not reader.read("w").flags.writeable
            assert reader.read("w", copy=True).flags.writeable
            assert reader.read("s").tolist() == [b"x"]
            assert reader.read("e").shape == (0, 3)
            assert all(not array.flags.writeable for name, array in reader.read_many(["w"]).items())

    def test_outlive_the_reader_and_the_file(self, tmp_path):
        save_checkpoint(tmp_path / "m", {"w": MATRIX})
        with open_checkpoint(tmp_path / "m") as reader:
            view = reader.read("w", copy=False)
        (tmp_path / "m.data-00000-of-00001").unlink()
        assert same(view, MATRIX)


class TestClosing:
    @BOTH
    def test_a_closed_reader_reads_nothing(self, fs, options):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        reader = open_checkpoint("m", fs=fs)
        assert "w" in reader
        reader.close()
        for act in (
            lambda: reader.read("w"),
            lambda: reader.read("w", np.s_[:2]),
            lambda: reader.read_rows("w", [1]),
            lambda: reader.read_many(),
        ):
            with pytest.raises(FailedPreconditionError, match='the reader of "m" is closed'):
                act()

    @BOTH
    def test_on_a_disk_too(self, tmp_path, options):
        save_checkpoint(tmp_path / "m", {"w": MATRIX}, options)
        reader = open_checkpoint(tmp_path / "m")
        reader.read("w")
        reader.close()
        with pytest.raises(FailedPreconditionError, match="is closed"):
            reader.read("w")

    def test_a_reader_closed_before_its_index_was_read(self, tmp_path):
        save_checkpoint(tmp_path / "m", {"w": MATRIX})
        reader = open_checkpoint(tmp_path / "m")
        reader.close()
        for act in (lambda: reader.read("w"), lambda: reader.read("w", copy=False), lambda: reader.read_many()):
            with pytest.raises(FailedPreconditionError, match="is closed"):
                act()

    @BOTH
    def test_closing_twice_is_fine(self, fs, options):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            reader.close()

    def test_a_reader_that_fails_to_open_leaves_no_file_open(self, fs):
        opened: list[int] = []

        class Watching(MemoryFileSystem):
            def open(self, path: str):  # type: ignore[no-untyped-def]
                file = super().open(path)
                opened.append(1)
                file.close = lambda: opened.pop()  # type: ignore[method-assign]
                return file

        watching = Watching()
        put(watching, "m.index", bytes(100))
        put(watching, "v1", bytes(100))
        for path in ("m", "v1"):
            with pytest.raises(DataLossError, match="is not a table"):
                open_checkpoint(path, fs=watching)
        assert opened == []


class TestArguments:
    @BOTH
    @pytest.mark.parametrize(
        "rows", [[20], [-21], [0.5], [[1]], 3, ["a"], [True], [2**64 - 1], [2**70], np.array([2**64 - 1], np.uint64)]
    )
    def test_rows_that_are_none(self, fs, options, rows):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader, pytest.raises(InvalidArgumentError, match='rows of "w"'):
            reader.read_rows("w", rows)

    @BOTH
    def test_rows_of_all_kinds(self, fs, options):
        save_checkpoint("m", {"w": MATRIX, "e": np.zeros((0, 2))}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            for rows in ([], [3], [-1, 0, -20], np.array([5, 5], np.uint8), range(3), (1, 2)):
                wanted = MATRIX[np.asarray(rows, np.int64)]
                assert same(reader.read_rows("w", rows), wanted)
            assert reader.read_rows("e", []).shape == (0, 2)

    @BOTH
    def test_a_scalar_has_no_rows(self, fs, options):
        save_checkpoint("m", {"w": np.float32(1)}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader, pytest.raises(InvalidArgumentError, match="at least one dimension"):
            reader.read_rows("w", [0])

    @BOTH
    def test_a_part_beyond_the_tensor(self, fs, options):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            with pytest.raises(InvalidArgumentError, match=r"slice 18,3:- reaches beyond the shape \[20, 20\]"):
                reader.read("w", TensorSlice.parse("18,3:-"))
            with pytest.raises(InvalidArgumentError, match="has 1 dimensions"):
                reader.read("w", TensorSlice.parse("1,3"))
            assert reader.read("w", np.s_[18:30]).shape == (2, 20)

    @BOTH
    def test_no_names_are_no_arrays(self, fs, options):
        save_checkpoint("m", {"w": MATRIX}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            assert reader.read_many([]) == {}

    @BOTH
    def test_many_come_in_the_order_asked_for(self, fs, options):
        save_checkpoint("m", {name: np.zeros(2) for name in "abc"}, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            assert list(reader.read_many(["c", "a"])) == ["c", "a"]
            assert list(reader.read_many(iter("ba"))) == ["b", "a"]

    def test_what_is_known_without_reading(self, fs):
        save_checkpoint("m", {"w": MATRIX, "s": np.array([[b"x", b"y"]], object)}, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            info = reader["w"]
            assert (info.size, info.nbytes, str(info)) == (400, 1600, "float32 [20, 20]")
            assert (reader["s"].size, str(reader["s"])) == (2, "string [1, 2]")


class TestThreads:
    @BOTH
    def test_a_reader_may_be_shared(self, tmp_path, options):
        tensors = {f"t{number}": np.full((50, 40), number, np.float32) for number in range(40)}
        tensors["big"] = np.arange(1 << 20)
        save_checkpoint(tmp_path / "m", tensors, options)
        start = threading.Barrier(8)
        with open_checkpoint(tmp_path / "m") as reader:

            def work(seed: int) -> None:
                generator = np.random.default_rng(seed)
                start.wait()
                for _ in range(30):
                    name = f"t{generator.integers(40)}"
                    assert same(reader.read(name), tensors[name])
                    assert same(reader.read(name, np.s_[3:9, 2:]), tensors[name][3:9, 2:])
                    assert same(reader.read(name, copy=False), tensors[name])
                assert same(reader.read("big"), tensors["big"])
                assert len(reader.read_many(threads=2)) == 41

            with ThreadPoolExecutor(8) as pool:
                list(pool.map(work, range(8)))

    @BOTH
    @pytest.mark.parametrize("threads", [None, 1, 3])
    def test_any_number_of_them_reads_the_same(self, fs, options, threads):
        tensors = {f"t{number:02d}": np.arange(number * 1000) for number in range(30)}
        save_checkpoint("m", tensors, options, fs=fs)
        with open_checkpoint("m", fs=fs) as reader:
            found = reader.read_many(threads=threads)
        assert all(same(found[name], tensors[name]) for name in tensors)

    def test_an_error_in_one_is_the_error(self, fs):
        live = Live()
        save_checkpoint("m", {f"t{number:02d}": np.zeros(50_000) for number in range(8)}, fs=live)
        flip(live, "m.data-00000-of-00001", 400_000 * 5 + 7)
        with open_checkpoint("m", fs=live) as reader, pytest.raises(DataLossError, match='tensor "t05"'):
            reader.read_many(threads=4)

    def test_tensors_larger_than_one_thread_s_share(self, tmp_path):
        """Its checksum is put together from those of its pieces."""
        array = np.arange(9 << 20, dtype=np.float64)  # 72 MiB, in shares of 32
        save_checkpoint(tmp_path / "m", {"w": array})
        with open_checkpoint(tmp_path / "m") as reader:
            assert same(reader.read("w"), array)
            assert same(reader.read_many(threads=3)["w"], array)


class TestV1:
    def test_two_files_that_contradict_each_other(self, fs):
        save_checkpoint("m-00000-of-00002", {"w": np.zeros(2), "a": np.zeros(1)}, V1, fs=fs)
        save_checkpoint("m-00001-of-00002", {"w": np.zeros(3)}, V1, fs=fs)
        with open_checkpoint("m-?????-of-00002", fs=fs) as reader:
            assert isinstance(reader, SliceFileReader)
            with pytest.raises(DataLossError) as caught:
                reader.read("w")
            assert str(caught.value) == (
                '"m-?????-of-00002": tensor "w": float64 [3] in one file, float64 [2] in another'
            )
            assert reader.read("a").tolist() == [0]

    def test_a_slice_in_two_files(self, fs):
        for number in range(2):
            save_checkpoint(f"m-0000{number}-of-00002", {"w": np.zeros(2)}, V1, fs=fs)
        with (
            open_checkpoint("m-?????-of-00002", fs=fs) as reader,
            pytest.raises(DataLossError, match="slice - is stored twice, so which is right cannot be told"),
        ):
            reader.read("w")

    def test_a_damaged_later_block_harms_what_lies_in_it(self, fs):
        live = Live()
        tensors = {name: np.full(200_000, ord(name), np.float32) for name in "abc"}
        save_checkpoint("m", tensors, V1, fs=live)
        flip(live, "m", 900_000)
        with open_checkpoint("m", fs=live) as reader:
            assert same(reader.read("a"), tensors["a"])
            with pytest.raises(DataLossError, match=r'"m": tensor "b": "m": block at byte \d+ .* is damaged'):
                reader.read("b")
            assert same(reader.read("c"), tensors["c"])
