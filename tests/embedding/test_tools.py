"""The offline tools: each writes a new checkpoint, streaming, and carries everything else along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    BundleWriter,
    DataLossError,
    EmbeddingTable,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    PartitionedArray,
    list_tensors,
    load_tensors,
    open_checkpoint,
)
from tensorkeep.checkpoint.casting import CastLossError
from tensorkeep.embedding.restore.incremental import table_delta_tensors
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.writing import embedding_tensors, save_embeddings
from tensorkeep.embedding.tools.pruning import (
    KeepByNorm,
    KeepFrequent,
    KeepTop,
    KeepUpdatedSince,
    drop_slots,
    prune_checkpoint,
)
from tensorkeep.embedding.tools.quantising import plan_quantising, quantise_checkpoint
from tensorkeep.embedding.tools.querying import look_up
from tensorkeep.embedding.tools.repairing import compare_keys, repair_checkpoint
from tensorkeep.embedding.tools.repartitioning import repartition_checkpoint
from tensorkeep.embedding.tools.statistics import embedding_statistics
from tests.embedding.crafting import EXTREMES, bytes_of, contents, held_by, rows_for, save_raw, saved, snapshot_of

KEYS = [*EXTREMES, *range(1, 60), 5003, 7003]


def rich(keys: Any = KEYS, **more: Any) -> Any:
    keys = list(keys)
    return snapshot_of(
        keys,
        freqs=[abs(key) % 11 for key in keys],
        versions=[abs(key) % 7 for key in keys],
        filtered_keys=[100_001, 100_002, -100_003],
        filtered_freqs=[1, 2, 3],
        filtered_versions=[4, 5, 6],
        **more,
    )


# Re-partitioning


@pytest.mark.parametrize("stored", [1, 2, 4])
@pytest.mark.parametrize("wanted", [1, 3, 4])
def test_another_number_of_shards_gives_the_bytes_of_a_save_in_so_many(stored: int, wanted: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=stored)
    saved(fs, "d/expected", rich(), shards=wanted)
    assert repartition_checkpoint("d/x", "d/y", wanted, fs=fs) == "d/y"
    assert bytes_of(fs, "d/y") == bytes_of(fs, "d/expected")


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3000, 3000), unique=True, max_size=50), st.integers(1, 9)
)
def test_there_and_back_is_the_same(keys: list[int], count: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(keys, slots=()))
    repartition_checkpoint("d/x", "d/y", count, fs=fs)
    repartition_checkpoint("d/y", "d/z", 1, fs=fs)
    assert bytes_of(fs, "d/z") == bytes_of(fs, "d/x")


def test_only_the_named_are_spread() -> None:
    fs = MemoryFileSystem()
    with BundleWriter("d/x", fs=fs) as writer:
        for name in ("a", "b"):
            for tensor, source in embedding_tensors(name, snapshot_of(KEYS)).items():
                writer.add(tensor, source)
    repartition_checkpoint("d/x", "d/y", {"b": 2}, fs=fs)
    with open_checkpoint("d/y", fs=fs) as reader:
        assert {name: entry.shard_count for name, entry in stored_embeddings(reader).items()} == {"a": 1, "b": 2}
    assert contents(fs, "d/y", "b") == held_by(snapshot_of(KEYS))


def test_everything_else_is_carried_along() -> None:
    fs = MemoryFileSystem()
    other = {
        "sliced": PartitionedArray.split(np.arange(40.0).reshape(10, 4), 3),
        "text": np.array([b"a", b"", b"long"], object),
        "scalar": np.int64(7),
        "half": np.ones((2, 3), np.float16),
    }
    saved(fs, "d/x", rich(), shards=2, tensors=other)
    repartition_checkpoint("d/x", "d/y", 3, fs=fs)
    old, new = list_tensors("d/x", fs=fs), list_tensors("d/y", fs=fs)
    assert {name: new[name] for name in other} == {name: old[name] for name in other}
    found = load_tensors("d/y", fs=fs)
    assert np.array_equal(found["sliced"], np.arange(40.0).reshape(10, 4))
    assert found["text"].tolist() == [b"a", b"", b"long"]


@pytest.mark.parametrize("count", [0, 1001])
def test_shards_are_made_of_1000_buckets(count: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich())
    with pytest.raises(InvalidArgumentError, match=f'"emb" in {count} shards: expected 1 to 1000'):
        repartition_checkpoint("d/x", "d/y", count, fs=fs)
    assert not fs.exists("d/y.index")


def test_a_name_that_there_is_not() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich())
    with pytest.raises(NotFoundError, match='holds no embedding "b"; it holds "emb"'):
        repartition_checkpoint("d/x", "d/y", {"b": 2}, fs=fs)
    with pytest.raises(InvalidArgumentError, match="expected several names of embeddings, got the text 'emb'"):
        compare_keys("d/x", names="emb", fs=fs)


@pytest.mark.parametrize(
    "work",
    [
        lambda path, fs: repartition_checkpoint(path, "d/y", 2, fs=fs),
        lambda path, fs: prune_checkpoint(path, "d/y", KeepTop(3), fs=fs),
        lambda path, fs: quantise_checkpoint(path, "d/y", "int8", fs=fs),
        lambda path, fs: repair_checkpoint(path, "d/y", fs=fs),
        lambda path, fs: drop_slots(path, "d/y", fs=fs),
        lambda path, fs: compare_keys(path, fs=fs),
        lambda path, fs: embedding_statistics(path, fs=fs),
    ],
)
def test_a_checkpoint_without_tables_is_not_taken_for_one_that_is_done(work: Callable[[str, Any], object]) -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/plain", {"w": [1.0]})
    delta = table_delta_tensors("emb", snapshot_of([1]), np.array([1]))
    with BundleWriter("d/delta", fs=fs) as writer:
        for name, source in delta.items():
            writer.add(name, source)
    with pytest.raises(NotFoundError, match='"d/plain" has no embedding tables: no tensor is called like'):
        work("d/plain", fs)
    with pytest.raises(NotFoundError, match='"d/delta" has no embedding tables, for it is an incremental checkpoint'):
        work("d/delta", fs)
    assert not fs.exists("d/y.index")


def test_blocks_of_dynamic_dimension_in_shards_are_refused() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {f"e/part_{k}/block0-{what}": value for k in range(2)
                         for what, value in (("keys", np.array([k])), ("values", rows_for([k], 3)))})  # fmt: skip
    with pytest.raises(InvalidArgumentError, match='"e/block0" is a block of a variable of dynamic dimension'):
        repartition_checkpoint("d/x", "d/y", 3, fs=fs)


def test_progress_is_told() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich())
    told: list[tuple[int, int]] = []
    repartition_checkpoint("d/x", "d/y", 2, progress=lambda done, total: told.append((done, total)), fs=fs)
    assert told == sorted(told)
    assert told[-1] == (2 * len(KEYS), 2 * len(KEYS))


def test_damage_is_found_before_anything_is_written() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(range(3000)))
    path = "d/x.data-00000-of-00001"
    file = fs.open(path)
    data = bytearray(file.read(0, file.size))
    data[-30_000] ^= 1
    fs.delete(path)
    damaged = fs.create(path)
    damaged.write(bytes(data))
    damaged.close()
    with pytest.raises(DataLossError, match="checksum"):
        repartition_checkpoint("d/x", "d/y", 2, fs=fs)
    assert not fs.exists("d/y.index")


# Pruning


def pruned(rule: Any, keep: Callable[[int], bool], shards: int = 2, **options: Any) -> Any:
    """Prunes, and compares with a save of the keys that should be left."""
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=shards)
    report = prune_checkpoint("d/x", "d/y", rule, fs=fs, **options)["emb"]
    expected = held_by(rich(), "")
    assert contents(fs, "d/y") == {key: value for key, value in expected.items() if keep(key)}
    assert set(contents(fs, "d/y", column="Adagrad")) == {key for key in KEYS if keep(key)}
    assert (report.kept, report.removed) == (sum(map(keep, KEYS)), sum(not keep(key) for key in KEYS))
    assert compare_keys("d/y", fs=fs)["emb"].is_consistent
    return report


def test_rare_keys_are_left_out() -> None:
    report = pruned(KeepFrequent(3), lambda key: abs(key) % 11 >= 3)
    assert (report.filtered_kept, report.filtered_removed) == (1, 2)


def test_old_keys_are_left_out() -> None:
    report = pruned(KeepUpdatedSince(5), lambda key: abs(key) % 7 >= 5)
    assert (report.filtered_kept, report.filtered_removed) == (2, 1)


def test_small_rows_are_left_out() -> None:
    norms = {key: float(np.linalg.norm(rows_for([key], 3))) for key in KEYS}
    report = pruned(KeepByNorm(100.0), lambda key: norms[key] >= 100.0)
    assert report.filtered_removed == 0


@pytest.mark.parametrize("count", [0, 1, 10, 30, 1000])
@pytest.mark.parametrize("by", ["frequency", "version", "norm"])
def test_the_best_are_kept_and_of_equals_the_first(count: int, by: Any) -> None:
    ordered = rich().keys.tolist()
    score = {"frequency": lambda key: abs(key) % 11, "version": lambda key: abs(key) % 7,
             "norm": lambda key: float(np.linalg.norm(rows_for([key], 3)))}[by]  # fmt: skip
    best = set(sorted(ordered, key=lambda key: (-score(key), ordered.index(key)))[:count])
    pruned(KeepTop(count, by), best.__contains__, allow_empty=count == 0)


def test_rows_that_are_no_numbers_are_the_worst() -> None:
    fs = MemoryFileSystem()
    values = np.array([[1, 1], [np.nan, 9], [3, 3], [2, 2]], np.float32)
    save_raw(fs, "d/x", {"emb-keys": np.array([1, 2, 3, 4]), "emb-values": values})
    prune_checkpoint("d/x", "d/y", KeepTop(2, "norm"), fs=fs)
    assert list(contents(fs, "d/y")) == [3, 4]
    prune_checkpoint("d/x", "d/y", KeepByNorm(0.0), fs=fs)
    assert list(contents(fs, "d/y")) == [1, 3, 4]


def test_counted_keys_are_left_out_on_request() -> None:
    report = pruned(KeepFrequent(0), lambda key: True, keep_filtered=False)
    assert (report.filtered_kept, report.filtered_removed) == (0, 3)
    assert str(report) == f"{len(KEYS)} keys kept, 0 removed; 0 counted ones kept, 3 removed"


def test_what_is_not_stored_cannot_choose() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS))
    with pytest.raises(InvalidArgumentError, match='"emb" is stored without frequencies, by which keys were to be'):
        prune_checkpoint("d/x", "d/y", KeepFrequent(1), fs=fs)
    with pytest.raises(InvalidArgumentError, match="expected a count of 0 or more"):
        KeepTop(-1)


# Comparing and repairing


def drifted(fs: MemoryFileSystem) -> None:
    with BundleWriter("d/x", fs=fs) as writer:
        for seed, (stem, keys) in enumerate(
            {"emb": range(2000), "emb/m": range(5, 2003), "emb/v": range(1999)}.items()
        ):
            column = snapshot_of(keys, slots=(), freqs=np.arange(len(keys)))
            tensors = embedding_tensors(stem, column)
            tensors |= embedding_tensors(stem, type(column)(column.keys, {"": column.values[""] + seed}, column.freqs))
            writer.add_many(tensors)


def test_drift_is_counted_with_examples() -> None:
    fs = MemoryFileSystem()
    drifted(fs)
    found = compare_keys("d/x", fs=fs)["emb"]
    m, v = found.slots
    assert (m.count, m.missing, m.surplus) == (1998, 5, 3)
    assert (v.count, v.missing, v.surplus) == (1999, 1, 0)
    assert set(m.examples) <= {0, 1, 2, 3, 4, 2000, 2001, 2002}
    assert not found.is_consistent
    assert '"m" lacks 5 and has 3 more' in str(found)


@pytest.mark.parametrize(
    ("fill", "kept"),
    [(None, range(5, 1999)), ({"m": 0.5}, range(1999)), ({"m": 0.5, "v": 0.25}, range(2000))],
)
def test_repaired_checkpoints_have_the_same_keys_everywhere(fill: dict[str, float] | None, kept: range) -> None:
    fs = MemoryFileSystem()
    drifted(fs)
    repair_checkpoint("d/x", "d/y", fill=fill, fs=fs)
    found = compare_keys("d/y", fs=fs)["emb"]
    assert found.is_consistent
    assert str(found) == f'"emb": {len(kept)} keys, the same in weights and 2 slots'
    before = contents(fs, "d/x")
    assert contents(fs, "d/y") == {key: before[key] for key in kept}
    slot = contents(fs, "d/y", column="m")
    stored = contents(fs, "d/x", column="m")
    assert {key: row for key, (row, _, _) in slot.items()} == {
        key: stored[key][0] if key in stored else (0.5,) * 3 for key in kept
    }


def test_a_fill_for_a_slot_that_there_is_not() -> None:
    fs = MemoryFileSystem()
    drifted(fs)
    with pytest.raises(NotFoundError, match='fill: no embedding has a slot "w"; there are "m", "v"'):
        repair_checkpoint("d/x", "d/y", fill={"w": 1.0}, fs=fs)


def test_pruning_what_has_drifted_asks_for_a_repair() -> None:
    fs = MemoryFileSystem()
    drifted(fs)
    with pytest.raises(DataLossError, match=r'"emb/m" has no row for key 0, which "emb" has; .*repair_checkpoint'):
        prune_checkpoint("d/x", "d/y", KeepFrequent(0), fs=fs)


# Quantising


@pytest.mark.parametrize(("precision", "dtype"), [("bfloat16", ml_dtypes.bfloat16), ("half", np.float16)])
def test_values_in_half_the_bits(precision: Any, dtype: Any) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=2)
    quantise_checkpoint("d/x", "d/y", precision, fs=fs)
    old, new = load_tensors("d/x", fs=fs), load_tensors("d/y", fs=fs)
    assert set(new) == set(old)
    for name, array in old.items():
        if name.endswith("-values") and "Adagrad" not in name:
            assert new[name].dtype == dtype
            assert np.array_equal(new[name], array.astype(dtype))
        else:
            assert new[name].dtype == array.dtype
            assert np.array_equal(new[name], array)


def test_int8_has_a_scale_for_each_column() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=2)
    quantise_checkpoint("d/x", "d/y", "int8", slots=True, fs=fs)
    old, new = load_tensors("d/x", fs=fs), load_tensors("d/y", fs=fs)
    for stem in ("emb/part_0", "emb/part_1/Adagrad"):
        values, scales = old[f"{stem}-values"], new[f"{stem}-scales"]
        assert np.allclose(scales, np.abs(values).max(axis=0) / 127)
        assert new[f"{stem}-values"].dtype == np.int8
        assert np.all(np.abs(new[f"{stem}-values"] * scales - values) <= scales / 2 + 1e-6)
    assert list(contents(fs, "d/y")) == list(contents(fs, "d/x"))
    found = look_up("d/y", "emb", [7, 5003], fs=fs)
    assert found.values.dtype == np.float32
    assert np.allclose(found.values, rows_for([7, 5003], 3), atol=32)


def test_what_is_not_finite_has_no_scale() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {"emb-keys": np.array([3, 4]), "emb-values": np.array([[1, 2], [np.inf, 0]], np.float32)})
    with pytest.raises(InvalidArgumentError, match='"emb": the row of key 4 is not finite'):
        quantise_checkpoint("d/x", "d/y", "int8", fs=fs)
    with pytest.raises(InvalidArgumentError, match="precision: expected one of bfloat16, half, int8, got 'int4'"):
        quantise_checkpoint("d/x", "d/y", "int4", fs=fs)  # type: ignore[arg-type]


def test_rows_of_zeros_stay_zeros() -> None:
    fs = MemoryFileSystem()
    save_raw(fs, "d/x", {"emb-keys": np.array([3, 4]), "emb-values": np.zeros((2, 2), np.float32)})
    quantise_checkpoint("d/x", "d/y", "int8", fs=fs)
    assert {row for row, _, _ in contents(fs, "d/y").values()} == {(0.0, 0.0)}


# Looking up


@pytest.mark.parametrize("shards", [1, 3])
def test_single_keys_are_looked_up_in_the_file(shards: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=shards)
    asked = [7003, 12345, 7, -(2**63), 100_002, 7]
    found = look_up("d/x", "emb", asked, fs=fs)
    assert found.is_stored.tolist() == [True, False, True, True, False, True]
    assert found.is_filtered.tolist() == [False, False, False, False, True, False]
    there = [asked[at] for at in np.flatnonzero(found.is_stored)]
    assert np.array_equal(found.values[found.is_stored], rows_for(there, 3))
    assert not found.values[~found.is_stored].any()
    assert found.freqs.tolist() == [7003 % 11, 0, 7, 2**63 % 11, 2, 7]
    assert found.versions.tolist() == [7003 % 7, -1, 0, 2**63 % 7, 5, 0]
    slot = look_up("d/x", "emb", [7], "Adagrad", fs=fs)
    assert np.array_equal(slot.values, rows_for([7], 3, 1))
    assert np.array_equal(look_up("d/x", "emb/Adagrad", [7], fs=fs).values, slot.values)


def test_keys_are_looked_up_in_a_full_checkpoint_under_an_incremental_one() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1, 2, 3, 4], freqs=[1, 2, 3, 4]))
    later = snapshot_of([1, 3, 5], freqs=[1, 30, 50], filtered_keys=[4], filtered_freqs=[9])
    later = type(later)(later.keys, {name: rows + 1 for name, rows in later.values.items()}, later.freqs,
                        filtered_keys=later.filtered_keys, filtered_freqs=later.filtered_freqs)  # fmt: skip
    touched = np.array([2, 3, 4, 5])
    save_raw(fs, "d/delta", {name: source.gather().reshape(source.shape)
                             for name, source in table_delta_tensors("emb", later, touched).items()})  # fmt: skip
    asked = [1, 2, 3, 4, 5, 6]
    found = look_up("d/x", "emb", asked, delta="d/delta", fs=fs)
    assert found.is_stored.tolist() == [True, False, True, False, True, False]
    assert found.is_filtered.tolist() == [False, False, False, True, False, False]
    assert found.freqs.tolist() == [1, 0, 30, 9, 50, 0]
    assert np.array_equal(found.values[[0, 2, 4]], rows_for([1, 3, 5], 3) + np.array([[0], [1], [1]]))
    assert not found.values[[1, 3, 5]].any()
    slot = look_up("d/x", "emb", [3], "Adagrad", delta="d/delta", fs=fs)
    assert np.array_equal(slot.values, rows_for([3], 3, 1) + 1)


def test_only_the_keys_of_the_bucket_and_the_row_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(10_000), dim=8))
    read: list[int] = []
    kind = type(fs.open("d/x.data-00000-of-00001"))
    for method in ("read", "read_into"):
        plain = getattr(kind, method)

        def watched(self: Any, offset: int, what: Any, plain: Any = plain) -> Any:
            if ".data-" in self.path:
                read.append(what if isinstance(what, int) else len(what))
            return plain(self, offset, what)

        monkeypatch.setattr(kind, method, watched)
    assert look_up("d/x", "emb", [4242], fs=fs).is_stored.all()
    assert sum(read) < 2 * 4004 + 10 * 8 + 8 + 32 + 64  # offsets, a bucket of keys, a key, a row


# Statistics


def test_statistics() -> None:
    fs = MemoryFileSystem()
    keys = [1, 2, 3, 4, -5]
    values = np.array([[3, 4], [0, 0], [0, np.nan], [0.3, 0.4], [30, 40]], np.float32)
    snapshot = snapshot_of(keys, dim=2, slots=())
    snapshot = type(snapshot).of(keys, values, freqs=[0, 1, 2, 3, 9], versions=[5, 6, -1, 7, 8],
                                 filtered_keys=[9], filtered_freqs=[2], filtered_versions=[1])  # fmt: skip
    saved(fs, "d/x", snapshot, shards=2)
    told: list[tuple[int, int]] = []
    found = embedding_statistics("d/x", progress=lambda done, total: told.append((done, total)), fs=fs)["emb"]
    assert (found.admitted, found.filtered, found.keys, found.shards, found.dim) == (5, 1, 6, 2, 2)
    assert (found.keys_from, found.keys_to) == (-5, 4)
    assert (found.versions_from, found.versions_to) == (-1, 8)
    assert (found.zero_rows, found.not_finite) == (1, 1)
    frequencies = found.frequencies.trimmed()
    assert (frequencies.edges, frequencies.counts) == ((0, 1, 2, 4, 8), (1, 1, 2, 0, 1))
    assert found.filtered_frequencies.trimmed().counts == (1,)
    assert found.norms.total == 4
    assert found.nbytes == sum(info.nbytes for name, info in list_tensors("d/x", fs=fs).items() if name != "dense")
    assert told[-1] == (5, 5)
    assert str(found).startswith('"emb": 5 keys with rows of float32 [2], 1 counted, in 2 shards; slots: none;')


def test_statistics_of_an_empty_table() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([]))
    found = embedding_statistics("d/x", fs=fs)["emb"]
    assert (found.admitted, found.keys_from, found.frequencies, found.norms.total) == (0, None, None, 0)
    assert found.slots == ("Adagrad",)


# Slots that are left out


@pytest.mark.parametrize("shards", [1, 3])
def test_without_slots_are_the_bytes_of_a_save_that_had_none(shards: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(slots=("m", "v")), shards=shards)
    saved(fs, "d/none", rich(slots=()), shards=shards)
    saved(fs, "d/one", rich(slots=("m",)), shards=shards)
    told: list[tuple[int, int]] = []
    (name,) = gone = drop_slots("d/x", "d/y", progress=lambda done, total: told.append((done, total)), fs=fs)
    assert gone[name] == ("m", "v")
    assert told[-1][0] == told[-1][1] == len(KEYS)
    assert bytes_of(fs, "d/y") == bytes_of(fs, "d/none")
    assert drop_slots("d/x", "d/z", ["v"], fs=fs) == {name: ("v",)}
    assert bytes_of(fs, "d/z") == bytes_of(fs, "d/one")


def test_a_slot_that_nothing_has_cannot_be_left_out() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(slots=("m",)))
    with pytest.raises(NotFoundError, match='no embedding has a slot "q"; there are "m"'):
        drop_slots("d/x", "d/y", ["q"], fs=fs)
    with pytest.raises(InvalidArgumentError, match="several names"):
        drop_slots("d/x", "d/y", "m", fs=fs)
    assert not fs.exists("d/y.index")


def test_values_that_fewer_bits_lose_are_counted_and_refused_unless_allowed() -> None:
    fs = MemoryFileSystem()
    rows = np.array([[1e-9, 1], [0.1, 1e9]], np.float32)
    table = EmbeddingTable(2)
    table.assign(np.array([1, 2]), rows)
    save_embeddings("d/x", {"emb": table.snapshot()}, fs=fs)
    with pytest.raises(CastLossError, match='"emb": of 4 numbers 1 to zero, 1 to infinity, 1 rounded'):
        quantise_checkpoint("d/x", "d/y", "half", fs=fs)
    assert not fs.exists("d/y.index")
    assert plan_quantising("d/x", "half", fs=fs)["emb"].lost == 2
    quantise_checkpoint("d/x", "d/y", "half", allow_loss=True, fs=fs)
    steps = plan_quantising("d/x", "int8", fs=fs)["emb"]
    assert (steps.elements, steps.zero) == (4, 2)  # beside 0.1 and 1e9, each in its column
    quantise_checkpoint("d/x", "d/z", "int8", fs=fs)
