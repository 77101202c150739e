"""Checkpoints with DeepRec's hash tables: read as plain tensors, and copied so that DeepRec finds its tables again.

The layout is that of SaveHashTable (save_restore_tensor.cc) and FixMergeHashTableBundles (tensor_bundle.cc).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tensorkeep import MemoryFileSystem, open_checkpoint
from tensorkeep.checkpoint.bundle.merging import merge_bundles
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tensorkeep.checkpoint.slices.tensor_slice import HashSlice, TensorSlice, slice_key
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.coding.crc32c import masked_crc32c
from tensorkeep.proto.messages import BundleEntryProto, serialize
from tensorkeep.table.table import Table
from tests.checkpoint.crafting import DT_FLOAT, DT_INT64, bundle

SIZE = 65536
KEYS = [np.array([1, 65537], np.int64), np.array([40000, 100000, 40001], np.int64)]
ROWS = [np.arange(4, dtype=np.float32).reshape(2, 2), np.arange(4, 10, dtype=np.float32).reshape(3, 2)]
RANGES = [(0, 32768), (32768, 32768)]
NONE = [np.zeros(0, np.int64), np.zeros((0, 2), np.float32)]


class Files:
    """An index and a data file in the making, with hash tables as DeepRec writes them."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.data = bytearray()

    def add(self, name: str, parts: Sequence[np.ndarray], ranges: Sequence[tuple[int, int]], merged: bool) -> Files:
        kind, rank = (DT_INT64 if parts[0].dtype == np.int64 else DT_FLOAT), parts[0].ndim
        whole = BundleEntryProto(dtype=kind, is_hash_table=True)
        rows = 0
        for part, (begin, length) in zip(parts, ranges, strict=True):
            if merged and not len(part):
                continue
            listed = TensorSlice(((rows if merged else 0, len(part)), *(None,) * (rank - 1)))
            stored = listed if merged else TensorSlice(((begin, length),))
            message = listed.to_proto()
            message.hash_slice_begin, message.hash_slice_length, message.hash_slice_size = begin, length, SIZE
            whole.slices.append(message)
            self.entries[slice_key(name.encode(), stored)] = self._stored(part, kind)
            rows += len(part)
        for size in (rows if merged else 0, *parts[0].shape[1:]):
            whole.shape.dim.add(size=size)
        self.entries[name.encode()] = serialize(whole)
        return self

    def _stored(self, part: np.ndarray, kind: int) -> bytes:
        raw = part.tobytes()
        entry = BundleEntryProto(dtype=kind, offset=len(self.data), size=len(raw), crc32c=masked_crc32c(raw))
        for size in part.shape:
            entry.shape.dim.add(size=size)
        self.data += raw
        return serialize(entry)

    def store(self) -> MemoryFileSystem:
        return bundle(self.entries, bytes(self.data))


def tables(merged: bool, keys: Sequence[Any] = KEYS, rows: Sequence[Any] = ROWS, ranges: Any = RANGES) -> Files:
    return Files().add("user/ids", keys, ranges, merged).add("user", rows, ranges, merged)


def listed(fs: MemoryFileSystem, path: str, name: str) -> BundleEntryProto:
    return BundleEntryProto.FromString(dict(Table(fs.open(f"{path}.index")).items())[name.encode()])


def ranges_of(entry: BundleEntryProto) -> list[tuple[int, int, int]]:
    return [(part.hash_slice_begin, part.hash_slice_length, part.hash_slice_size) for part in entry.slices]


@pytest.mark.parametrize("merged", [True, False])
def test_keys_and_rows_are_plain_tensors_in_the_order_of_the_ranges(merged: bool) -> None:
    with open_checkpoint("x", fs=tables(merged).store()) as reader:
        assert {name: reader[name].shape for name in reader} == {"user": (5, 2), "user/ids": (5,)}
        np.testing.assert_array_equal(reader.read("user/ids"), np.concatenate(KEYS))
        np.testing.assert_array_equal(reader.read("user"), np.concatenate(ROWS))


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(
    ("keys", "rows", "count"),
    [([NONE[0]] * 2, [NONE[1]] * 2, 0), ([NONE[0], KEYS[1]], [NONE[1], ROWS[1]], 3)],
)
def test_ranges_without_keys_are_left_out(merged: bool, keys: Any, rows: Any, count: int) -> None:
    """DeepRec gives a table without keys no checksum."""
    with open_checkpoint("x", fs=tables(merged, keys, rows).store()) as reader:
        assert (reader.read("user/ids").shape, reader.read("user").shape) == ((count,), (count, 2))
        reader.verify_many(["user/ids", "user"])


def test_rows_of_one_range_may_lie_where_the_keys_of_another_did() -> None:
    """The key of an entry is that of rows once merged, that of a range of keys before."""
    keys = [np.arange(3, dtype=np.int64), np.arange(3, 8, dtype=np.int64), np.array([8], np.int64)]
    files = Files().add("t/ids", keys, [(0, 2), (2, 1), (3, 5)], False)
    with open_checkpoint("x", fs=files.store()) as reader:
        assert reader.read("t/ids").tolist() == list(range(9))


def test_a_slice_that_is_missing_is_told() -> None:
    files = tables(False)
    del files.entries[slice_key(b"user", TensorSlice(((32768, 32768),)))]
    with open_checkpoint("x", fs=files.store()) as reader:
        np.testing.assert_array_equal(reader.read("user/ids"), np.concatenate(KEYS))
        with pytest.raises(DataLossError, match="user"):
            reader.read("user")


@pytest.mark.parametrize("wrong", [{"hash_slice_begin": -1}, {"hash_slice_length": -1}, {"extent": -5}])
def test_a_damaged_range_is_told(wrong: dict[str, int]) -> None:
    files = tables(False)
    message = BundleEntryProto.FromString(files.entries[b"user"])
    for name, value in wrong.items():
        if name == "extent":
            message.slices[0].extent[0].length = value
        else:
            setattr(message.slices[0], name, value)
    files.entries[b"user"] = serialize(message)
    with open_checkpoint("x", fs=files.store()) as reader, pytest.raises(DataLossError, match="user"):
        reader.read("user")


@pytest.mark.parametrize("merged", [True, False])
def test_a_copy_that_links_the_data_keeps_the_ranges_of_keys(merged: bool) -> None:
    """DeepRec restores nothing from a slice that names none. The tensor before has the files numbered anew."""
    fs = tables(merged).store()
    with BundleReader("x", fs=fs) as reader, BundleWriter("y", fs=fs) as writer:
        writer.add("step", np.int64(1))
        writer.link(reader, {"user/ids": "item/ids", "user": "item"})
    for name in ("item", "item/ids"):
        entry = listed(fs, "y", name)
        assert entry.is_hash_table
        assert ranges_of(entry) == [(*one, SIZE) for one in RANGES]
    with open_checkpoint("y", fs=fs) as reader:
        np.testing.assert_array_equal(reader.read("item"), np.concatenate(ROWS))


def test_slices_are_equal_whatever_keys_they_have() -> None:
    part = TensorSlice(((0, 2),), HashSlice(0, 5, 10))
    assert part == TensorSlice(((0, 2),))
    assert TensorSlice.from_proto(part.to_proto()).keys == (0, 5, 10)


# Written here


PART = [HashSlice(*one, SIZE) for one in RANGES]


def written(fs: MemoryFileSystem, path: str, parts: Sequence[int], keys: Sequence[Any] = KEYS) -> None:
    """Some parts of the table, as a process that has them writes them."""
    rows = [np.arange(len(some) * 2, dtype=np.float32).reshape(-1, 2) + some[:1].sum() for some in keys]
    with BundleWriter(path, fs=fs) as writer:
        writer.add(f"own/{path}", np.int64(1))
        for part in parts:
            writer.add_hash_slice("user/ids", PART[part], keys[part])
            writer.add_hash_slice("user", PART[part], rows[part])


def test_what_is_written_is_what_deeprec_writes() -> None:
    fs = MemoryFileSystem()
    with BundleWriter("y", fs=fs) as writer:
        for part in (0, 1):
            writer.add_hash_slice("user/ids", PART[part], KEYS[part])
            writer.add_hash_slice("user", PART[part], ROWS[part])
    theirs = dict(Table(tables(False).store().open("x.index")).items())
    ours = dict(Table(fs.open("y.index")).items())
    for name in (b"user", b"user/ids"):
        wanted, found = (BundleEntryProto.FromString(entries[name]) for entries in (theirs, ours))
        assert found == wanted
    assert ours.keys() == theirs.keys()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(
    "keys",
    [KEYS, [KEYS[0], KEYS[1][:2]], [NONE[0], KEYS[1]], [KEYS[0], NONE[0]], [NONE[0], NONE[0]]],
    ids=["both", "as many rows in each", "none in the first", "none in the second", "none"],
)
def test_parts_of_several_checkpoints_are_merged(order: tuple[int, int], keys: Sequence[Any]) -> None:
    fs = MemoryFileSystem()
    for part in (0, 1):
        written(fs, f"s{part}", [part] if len(keys[part]) or part == 0 else [], keys)
    merge_bundles([f"s{part}" for part in order], "m", fs=fs)
    with open_checkpoint("m", fs=fs) as reader:
        np.testing.assert_array_equal(reader.read("user/ids"), np.concatenate(keys))
        assert reader["user"].shape == (sum(map(len, keys)), 2)
        reader.verify_many(list(reader))
        begins = [part.keys.begin for part in reader["user"].slices if part.keys is not None]
        assert begins == [one.begin for one, some in zip(PART, keys, strict=True) if len(some)]


def test_parts_that_share_keys_are_not_merged() -> None:
    fs = MemoryFileSystem()
    for name in ("a", "b"):
        written(fs, name, [0])
    with pytest.raises(InvalidArgumentError, match=r'keys 0 to 32768 of "user/?i?d?s?" are in two of them'):
        merge_bundles(["a", "b"], "m", fs=fs)


def test_rows_of_other_shapes_are_not_merged() -> None:
    fs = MemoryFileSystem()
    for number, width in enumerate((2, 3)):
        with BundleWriter(f"s{number}", fs=fs) as writer:
            writer.add_hash_slice("user", PART[number], np.zeros((1, width), np.float32))
    with pytest.raises(InvalidArgumentError, match=r'the rows of "user" are float32 \[3\] in "s1", but float32 \[2\]'):
        merge_bundles(["s0", "s1"], "m", fs=fs)


def test_a_hash_table_and_another_tensor_are_not_merged() -> None:
    fs = MemoryFileSystem()
    written(fs, "a", [0])
    with BundleWriter("b", fs=fs) as writer:
        writer.add("user", np.ones((2, 2), np.float32))
    with pytest.raises(InvalidArgumentError, match='"user" is a hash table in one, and none in another'):
        merge_bundles(["a", "b"], "m", fs=fs)


def test_a_range_of_keys_is_added_once_and_alike() -> None:
    with BundleWriter("y", fs=MemoryFileSystem()) as writer:
        writer.add_hash_slice("user", PART[0], ROWS[0])
        with pytest.raises(InvalidArgumentError, match='keys 0 to 32768 of "user" were added before'):
            writer.add_hash_slice("user", PART[0], ROWS[0])
        with pytest.raises(InvalidArgumentError, match=r"has rows of float32 \[2\] before, and of float32 \[3\] now"):
            writer.add_hash_slice("user", PART[1], np.zeros((1, 3), np.float32))
        with pytest.raises(InvalidArgumentError, match='tensor "user" was added before'):
            writer.add("user", ROWS[0])
