"""Embeddings are found and read in every form in which they have been stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep import BundleWriter, DataLossError, MemoryFileSystem, NotFoundError, open_checkpoint
from tensorkeep.embedding.stored.buckets import bucket_offsets, order_of
from tensorkeep.embedding.stored.embeddings import find_embedding, stored_embeddings
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, in_order
from tensorkeep.embedding.stored.rows import ALL_FIELDS, Fields
from tensorkeep.embedding.stored.writing import StoredForm, embedding_tensors
from tests.checkpoint.crafting import put
from tests.embedding.crafting import EXTREMES, contents, held_by, rows_for, save_raw, saved, snapshot_of

KEYS = [*EXTREMES, *range(1, 40), 5003, 7003]


@pytest.mark.parametrize("shards", [1, 2, 3, 4])
def test_what_was_written_is_read(shards: int) -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(KEYS, freqs=[abs(key) % 9 for key in KEYS], versions=range(len(KEYS)))
    saved(fs, "d/x", snapshot, shards=shards)
    assert contents(fs, "d/x") == held_by(snapshot)
    assert contents(fs, "d/x", column="Adagrad") == held_by(snapshot, "Adagrad")


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 4, 1001])
def test_a_part_has_the_keys_of_its_buckets_and_no_others(shards: int, count: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS), shards=shards)
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        for number in range(min(count, 4)):
            expected = {key for key in KEYS if key % 1000 % count == number}
            assert {key for batch in column.scan((number, count)) for key in batch.keys.tolist()} == expected
            assert {key for batch in in_order(column, (number, count)) for key in batch.keys.tolist()} == expected


def test_only_the_wanted_buckets_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(10_000)))
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        assert column.count == 10_000
        read = []
        plain = type(reader).read
        watched = lambda self, name, part=None: read.append(part) or plain(self, name, part)  # noqa: E731
        monkeypatch.setattr(type(reader), "read", watched)
        assert sum(batch.keys.size for batch in column.scan((3, 500), Fields(values=True))) == 20
        assert sum(part.stop - part.start for part in read) == 2 * 20


def without(tensors: dict[str, Any], *suffixes: str) -> dict[str, Any]:
    return {name: value for name, value in tensors.items() if not name.endswith(suffixes)}


def arrays(stem: str = "emb", **more: Any) -> dict[str, Any]:
    sources = embedding_tensors(stem, snapshot_of(KEYS, **more))
    return {name: source.gather().reshape(source.shape) for name, source in sources.items()}


FILTERED = ("_filtered", "-partition_filter_offset")


@pytest.mark.parametrize(
    "dropped",
    [
        FILTERED,
        (*FILTERED, "-partition_offset"),
        (*FILTERED, "-freqs", "-versions"),
        (*FILTERED, "-freqs", "-versions", "-partition_offset"),
    ],
    ids=["five tensors", "no offsets", "no freqs", "keys and values"],
)
def test_older_forms_are_read(dropped: tuple[str, ...]) -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", without(arrays(), *dropped))
    assert contents(fs, "d/x") == held_by(snapshot_of(KEYS))


def test_keys_without_offsets_may_lie_in_any_order() -> None:
    fs = MemoryFileSystem()
    keys = np.array(KEYS)[::-1]
    save_raw(fs, "d/x", {"emb-keys": keys, "emb-values": rows_for(keys, 3), "emb-freqs": np.arange(keys.size)})
    found = contents(fs, "d/x")
    assert {key: row for key, (row, _, _) in found.items()} == {k: tuple(rows_for([k], 3)[0].tolist()) for k in KEYS}
    assert {key: freq for key, (_, freq, _) in found.items()} == dict(zip(keys.tolist(), range(len(KEYS)), strict=True))
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        scanned = [key for batch in column.scan((1, 2)) for key in batch.keys.tolist()]
        assert scanned == [key for key in keys.tolist() if key % 1000 % 2 == 1]


def test_keys_of_a_bucket_may_lie_in_any_order() -> None:
    fs = MemoryFileSystem()
    keys = np.array([2003, 3, 1003, 4])
    save_raw(
        fs, "d/x",
        {"emb-keys": keys, "emb-values": rows_for(keys, 3), "emb-partition_offset": bucket_offsets(keys)},
    )  # fmt: skip
    assert list(contents(fs, "d/x")) == [3, 1003, 2003, 4]


def test_int32_keys_are_widened() -> None:
    fs = MemoryFileSystem()
    small = [key for key in KEYS if abs(key) < 2**31]
    saved(fs, "d/x", snapshot_of(small), form=StoredForm(key_dtype=np.dtype(np.int32)))
    assert contents(fs, "d/x") == held_by(snapshot_of(small))


def test_shards_of_tfra_are_found() -> None:
    fs = MemoryFileSystem()
    parts = {f"emb-{k + 1}of2": [key for key in KEYS if key % 2 == k] for k in range(2)}
    save_raw(
        fs, "d/x",
        {f"{stem}-{what}": value for stem, keys in parts.items()
         for what, value in (("keys", np.array(keys)), ("values", rows_for(keys, 3)))},
    )  # fmt: skip
    assert contents(fs, "d/x") == held_by(snapshot_of(KEYS))
    with open_checkpoint("d/x", fs=fs) as reader:
        assert stored_embeddings(reader)["emb"].shard_count == 2


def test_filtered_keys_are_read_with_their_counts() -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of([1], filtered_keys=[7, 3, 1003], filtered_freqs=[1, 2, 3], filtered_versions=[4, 5, 6])
    saved(fs, "d/x", snapshot, shards=2)
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        [batch] = filtered_in_order(column)
        assert [part.tolist() for part in (batch.keys, batch.freqs, batch.versions)] == [
            [3, 1003, 7],
            [2, 3, 1],
            [5, 6, 4],
        ]
        assert column.filtered_count == 3


# Names


def names_in(*stems: str, primaries: tuple[str, ...] = ()) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    fs = MemoryFileSystem()
    empty = {"keys": np.zeros(0, np.int64), "values": np.zeros((0, 2), np.float32)}
    save_raw(fs, "d/x", {f"{stem}-{what}": array for stem in stems for what, array in empty.items()})
    with open_checkpoint("d/x", fs=fs) as reader:
        found = stored_embeddings(reader, primaries=primaries)
        return {name: (tuple(entry.stems.values()), tuple(entry.slots)) for name, entry in found.items()}


def test_slots_are_told_from_variables() -> None:
    assert names_in("a", "a/Adagrad", "b/part_0", "b/part_1", "b/part_0/Adam", "b/part_1/Adam", "b/part_0/Adam_1") == {
        "a": (("a",), ("Adagrad",)),
        "b": (("b/part_0", "b/part_1"), ("Adam", "Adam_1")),
    }


def test_a_variable_below_another_is_one_if_it_has_slots_or_is_named() -> None:
    assert set(names_in("a", "a/b", "a/b/Adagrad", "a/Adagrad")) == {"a", "a/b"}
    assert set(names_in("a", "a/b")) == {"a"}
    assert set(names_in("a", "a/b", primaries=("a/b",))) == {"a", "a/b"}


def test_only_a_whole_component_names_a_shard() -> None:
    assert names_in("part_time/emb/part_0", "part_time/emb/part_1", "part_time/emb/part_1/Ftrl") == {
        "part_time/emb": (("part_time/emb/part_0", "part_time/emb/part_1"), ("Ftrl",)),
    }
    assert names_in("part_0/emb", "part_1/emb") == {
        "part_0/emb": (("part_0/emb",), ()),
        "part_1/emb": (("part_1/emb",), ()),
    }
    assert set(names_in("tower/part_0/emb", "tower/part_1/emb")) == {"tower/part_0/emb", "tower/part_1/emb"}
    assert set(names_in("x/part_3")) == {"x/part_3"}


def test_blocks_of_dynamic_dimension_are_tables_of_their_own() -> None:
    stems = [f"d/part_{k}/block{j}" for k in range(2) for j in range(2)]
    assert names_in(*stems, "d/part_0/block0/Adagrad", "d/part_1/block0/Adagrad") == {
        "d/block0": (("d/part_0/block0", "d/part_1/block0"), ("Adagrad",)),
        "d/block1": (("d/part_0/block1", "d/part_1/block1"), ()),
    }


def test_tables_for_lookup_are_not_embeddings() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {"t-keys": np.array([b"a"], object), "t-values": np.zeros(1, np.int64),
                         "u-keys": np.zeros(1, np.int64), "u-values": np.zeros(1, np.int64)})  # fmt: skip
    with open_checkpoint("d/x", fs=fs) as reader:
        assert stored_embeddings(reader) == {}


def test_a_missing_shard_is_an_error() -> None:
    fs = MemoryFileSystem()
    tensors = {name: value for k in (0, 2) for name, value in arrays(f"b/part_{k}").items()}
    save_raw(fs, "d/x", tensors)
    with open_checkpoint("d/x", fs=fs) as reader:
        entry = stored_embeddings(reader)["b"]
        assert entry.problems == ("shards 1 are missing",)
        with pytest.raises(DataLossError, match='"b" has no shard 1, but shard 2'):
            entry.open(reader, fs=fs)


@pytest.mark.parametrize(
    ("stem", "expected"),
    [("b", ("b", "")), ("b/part_7", ("b", "")), ("b/part_1/Adagrad", ("b", "Adagrad")), ("a/part_1", ("a", ""))],
)
def test_a_stem_means_a_variable_of_any_number_of_shards(stem: str, expected: tuple[str, str]) -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {**arrays("a"), **arrays("b/part_0"), **arrays("b/part_1"), **arrays("b/part_0/Adagrad")})
    with open_checkpoint("d/x", fs=fs) as reader:
        found = stored_embeddings(reader)
        assert find_embedding(reader, stem, found) == expected
        with pytest.raises(NotFoundError, match='holds no embedding "c/part_0"; it holds "a", "b", "b/Adagrad"'):
            find_embedding(reader, "c/part_0", found)


# The SSD tier


def with_records(
    fs: MemoryFileSystem, keys: list[int], dims: tuple[int, ...], offsets: Any = None, stride: int = 0
) -> None:
    records = b""
    for key in keys:
        for seed, dim in enumerate(dims):
            row = rows_for([key], dim, seed).tobytes()
            records += row + bytes(-len(row) % 16)
        records += np.array([key % 7, key % 5], "<i8").tobytes()
    stride = stride or len(records) // max(len(keys), 1)
    put(fs, "d/x-emb-emb_files/4.emb", records)
    with BundleWriter("d/x-emb-ssd_record", fs=fs) as writer:
        writer.add("keys", np.array(keys))
        writer.add("keys_file_id", np.full(len(keys), 4))
        writer.add("keys_offset", np.arange(len(keys)) * stride if offsets is None else np.asarray(offsets))
        writer.add("files", np.array([4]))
        writer.add("invalid_record_count", np.array([0]))
        writer.add("record_count", np.array([len(keys)]))


def test_records_of_an_ssd_tier_are_part_of_the_embedding() -> None:
    fs = MemoryFileSystem()
    hot, cold = [1, 2, 1003], [5, 3, 2, 2003]  # 2 is in both; memory comes first
    saved(fs, "d/x", snapshot_of(hot, dim=30, freqs=[9, 9, 9], versions=[8, 8, 8]))
    with_records(fs, cold, (30, 30), offsets=[0, 272, 544, 816])
    expected = {key: (tuple(rows_for([key], 30)[0].tolist()), 9, 8) if key in hot
                else (tuple(rows_for([key], 30)[0].tolist()), key % 7, key % 5) for key in {*hot, *cold}}  # fmt: skip
    assert contents(fs, "d/x") == expected
    slot = contents(fs, "d/x", column="Adagrad")
    assert {key: row for key, (row, _, _) in slot.items()} == {
        key: tuple(rows_for([key], 30, 1)[0].tolist()) for key in {*hot, *cold}
    }
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        assert {key for batch in column.scan((1, 2)) for key in batch.keys.tolist()} == {1, 3, 5, 1003, 2003}


def test_a_record_of_30_numbers_and_a_slot_takes_272_bytes() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1], dim=30))
    with_records(fs, [5], (30, 30), offsets=[100])
    with pytest.raises(DataLossError, match="begins at byte 100, expected a multiple of 272, the size of records with"):
        contents(fs, "d/x")


def test_a_record_beyond_its_file() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1], dim=30))
    with_records(fs, [5], (30, 30), offsets=[272])
    with pytest.raises(DataLossError, match=r"is 272 bytes long, but .* places a record at byte 272"):
        contents(fs, "d/x")


# Hostile files


def changed(**tensors: Any) -> str:
    fs = MemoryFileSystem()
    every = {**arrays(freqs=np.arange(len(KEYS)), versions=np.arange(len(KEYS)), filtered_keys=[1], filtered_freqs=[1])}
    every.update({"emb-" + name: value for name, value in tensors.items()})
    save_raw(fs, "d/x", every)
    with open_checkpoint("d/x", fs=fs) as reader:
        column = stored_embeddings(reader)["emb"].open(reader, fs=fs)
        for batch in in_order(column, fields=ALL_FIELDS):
            assert batch.values is not None
        list(filtered_in_order(column))
    return "read"


OFFSETS = bucket_offsets(np.array(KEYS))
ROWS = len(KEYS)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"values": np.zeros((3, 2), np.float32)}, rf"expected \[{ROWS}, dim\], a row for each key of \"emb-keys\""),
        ({"values": np.zeros((ROWS, 2, 2), np.float32)}, r"expected \[\d+, dim\]"),
        ({"values": np.zeros((ROWS, 0), np.float32)}, r"expected \[\d+, dim\]"),
        ({"values": np.zeros((ROWS, 2), np.int32)}, "expected rows of floating-point numbers"),
        ({"values": np.zeros((ROWS, 2), np.int8)}, "expected rows of floating-point numbers"),
        ({"values": np.zeros((ROWS, 2), np.int8), "scales": np.zeros(3, np.float32)}, r"expected float \[2\]"),
        ({"freqs": np.zeros(3, np.int64)}, f'"emb-freqs" has 3 numbers, expected {ROWS}, one for each key'),
        ({"versions": np.zeros(3, np.float32)}, '"emb-versions" is float32 .* expected a vector of int64'),
        ({"partition_offset": np.zeros(7, np.int32)}, "has 7 offsets, expected 1001"),
        ({"partition_offset": np.zeros(1001, np.int32)}, f"run from 0 to 0, expected 0 to {ROWS}"),
        ({"partition_offset": OFFSETS.astype(np.int32) + 1}, "run from 1 to"),
        ({"partition_offset": np.where(np.arange(1001) == 5, 999, OFFSETS).astype(np.int32)}, "fall after bucket 5"),
        ({"partition_offset": np.where(np.arange(1001) == 5, -9, OFFSETS).astype(np.int32)}, "fall after bucket 4"),
        ({"partition_offset": np.minimum(OFFSETS, 1) * ROWS}, "lies in bucket 0 by .* but its bucket is"),
        ({"partition_offset": OFFSETS.reshape(7, 143)}, "expected a vector of int32"),
        ({"keys": np.zeros((ROWS, 1), np.int64)}, "expected a vector of int64 or int32"),
        ({"keys_filtered": np.array([5, 6])}, "has 1 numbers, expected 2"),
        ({"keys_filtered": np.array([5])}, "key 5 at position 0 lies in bucket 1 by"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(tensors: dict[str, Any], message: str) -> None:
    with pytest.raises(DataLossError, match=message):
        changed(**tensors)


def test_a_key_in_two_places_is_an_error() -> None:
    fs = MemoryFileSystem()
    keys = np.array([5, 5, 6])
    save_raw(fs, "d/x", {"emb-keys": keys, "emb-values": rows_for(keys, 2)})
    with pytest.raises(DataLossError, match="key 5 is stored twice"):
        contents(fs, "d/x")
    save_raw(fs, "d/x", {**arrays("emb/part_0"), **arrays("emb/part_1")})
    with pytest.raises(DataLossError, match=r'"emb/part_0-keys", .*: key -1000 is stored twice'):
        contents(fs, "d/x")


def test_shards_of_different_dimension_are_an_error() -> None:
    fs = MemoryFileSystem()
    one = embedding_tensors("emb/part_0", snapshot_of([0], dim=2))
    two = embedding_tensors("emb/part_1", snapshot_of([1], dim=3))
    with BundleWriter("d/x", fs=fs) as writer:
        writer.add_many({**one, **two})
    with pytest.raises(DataLossError, match='the shards of "emb" have rows of 2, 3'):
        contents(fs, "d/x")


def test_damage_in_a_data_file_is_found() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(2000)))
    path = "d/x.data-00000-of-00001"
    data = bytearray(fs.open(path).read(0, fs.open(path).size))
    data[-20_000] ^= 1  # in the rows of the slot, which come last
    put(fs, path, bytes(data))
    with open_checkpoint("d/x", fs=fs) as reader:
        entry = stored_embeddings(reader)["emb"]
        slot = entry.open(reader, "Adagrad", fs=fs)
        entry.open(reader, fs=fs).verify()
        with pytest.raises(DataLossError, match=r'tensor "emb/Adagrad-values".*its checksum is'):
            slot.verify()


def test_the_order_of_sources_does_not_matter_to_the_order_of_keys() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS), shards=3)
    keys = np.array(list(contents(fs, "d/x")))
    assert np.array_equal(keys, keys[order_of(keys)])
