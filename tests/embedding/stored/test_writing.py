"""Snapshots become nine tensors per stem, in order, as equal bytes for equal tables."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import InvalidArgumentError, MemoryFileSystem, load_tensors
from tensorkeep.embedding.stored.writing import StoredForm, embedding_tensors, save_embeddings
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tests.embedding.crafting import EXTREMES, bytes_of, saved, snapshot_of

NINE = ["freqs", "freqs_filtered", "keys", "keys_filtered", "partition_filter_offset", "partition_offset", "values"]
NINE += ["versions", "versions_filtered"]


def test_a_stem_has_nine_tensors_and_so_has_each_slot() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of([1, 2], slots=("Adam", "Adam_1")), tensors={})
    names = [f"{stem}-{suffix}" for stem in ("emb", "emb/Adam", "emb/Adam_1") for suffix in NINE]
    assert sorted(load_tensors("d/x", fs=fs)) == sorted(names)


def test_the_golden_case_of_offsets() -> None:
    tensors = embedding_tensors("emb", snapshot_of([1002, 0, 1, 2, 1001, 1000]))
    offsets = tensors["emb-partition_offset"].gather()
    assert offsets.dtype == np.int32
    assert offsets.tolist() == [0, 2, 4, *[6] * 998]
    assert tensors["emb-keys"].gather().tolist() == [0, 1000, 1, 1001, 2, 1002]


def test_an_empty_table_has_all_tensors() -> None:
    tensors = embedding_tensors("emb", snapshot_of([], dim=5))
    assert tensors["emb-values"].shape == (0, 5)
    assert tensors["emb-partition_offset"].gather().tolist() == [0] * 1001
    assert [tensors[f"emb-{suffix}"].shape for suffix in ("keys", "freqs", "versions", "keys_filtered")] == [(0,)] * 4


def test_four_shards_of_the_golden_case() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(5, 10)), "b", shards=4)
    found = load_tensors("d/x", fs=fs)
    assert [found[f"b/part_{k}-keys"].tolist() for k in range(4)] == [[8], [5, 9], [6], [7]]


@given(st.permutations([*EXTREMES, 5, 1005, 77]))
def test_equal_tables_give_equal_bytes(keys: list[int]) -> None:
    files = []
    for order in (sorted(keys), keys):
        fs = MemoryFileSystem()
        freqs = [key % 7 for key in order]
        saved(fs, "d/x", snapshot_of(order, freqs=freqs, filtered_keys=[3, 2], filtered_freqs=[1, 2]))
        files.append(bytes_of(fs, "d/x"))
    assert files[0] == files[1]


def test_filtered_keys_have_counts_and_offsets_of_their_own() -> None:
    snapshot = snapshot_of([1], filtered_keys=[1003, 2, 3], filtered_freqs=[7, 2, 1], filtered_versions=[4, 5, 6])
    tensors = {name: source.gather() for name, source in embedding_tensors("e", snapshot).items()}
    assert tensors["e-keys_filtered"].tolist() == [2, 3, 1003]
    assert tensors["e-freqs_filtered"].tolist() == [2, 1, 7]
    assert tensors["e-versions_filtered"].tolist() == [5, 6, 4]
    assert tensors["e-partition_filter_offset"][[2, 3, 4]].tolist() == [0, 1, 3]


def test_rows_are_asked_for_in_stretches() -> None:
    asked = []

    class Watched(ArraySnapshot):
        def rows(self, column: str, start: int, stop: int) -> np.ndarray:
            asked.append((start, stop))
            return super().rows(column, start, stop)

    keys = np.arange(3000)
    plain = snapshot_of(keys, dim=1024)
    watched = Watched(plain.keys, plain.values)
    assert np.array_equal(embedding_tensors("e", watched)["e-values"].gather().reshape(3000, 1024), plain.values[""])
    assert asked == [(0, 2048), (2048, 3000)]


def full(**more: object) -> ArraySnapshot:
    return snapshot_of(
        [1, 2], freqs=[5, 9], versions=[3, 4], filtered_keys=[7], filtered_freqs=[1], filtered_versions=[2], **more
    )


@pytest.mark.parametrize(
    ("options", "freqs", "versions", "filtered", "filtered_versions"),
    [
        ({}, [], [], [], []),
        ({"record_freq": True}, [5, 9], [], [], []),
        ({"record_version": True}, [], [3, 4], [], []),
        ({"steps_to_live": 3}, [], [3, 4], [], []),
        ({"filter_freq": 3}, [3, 3], [], [7], []),
        ({"filter_freq": 3, "record_freq": True, "steps_to_live": 1}, [5, 9], [3, 4], [7], [2]),
        ({"filter_freq": 3, "save_filtered": False}, [3, 3], [], [], []),
        ({"filter_freq": 3, "counter_filter": False}, [3, 3], [], [], []),
        ({"storage_type": 11}, [5, 9], [3, 4], [], []),
        ({"storage_type": 6, "filter_freq": 3, "steps_to_live": 3}, [], [], [], []),
    ],
)
def test_what_is_present_follows_the_options_of_the_variable(
    options: dict, freqs: list, versions: list, filtered: list, filtered_versions: list
) -> None:
    found = embedding_tensors("e", full(), form=StoredForm.as_upstream(**options))
    assert found["e-freqs"].gather().tolist() == freqs
    assert found["e-versions"].gather().tolist() == versions
    assert found["e-keys_filtered"].gather().tolist() == filtered
    assert found["e-freqs_filtered"].shape == (len(filtered),)
    assert found["e-versions_filtered"].gather().tolist() == filtered_versions


def test_int32_keys_are_stored_as_such_if_they_fit() -> None:
    form = StoredForm(key_dtype=np.dtype(np.int32))
    assert embedding_tensors("e", snapshot_of([1, -5]), form=form)["e-keys"].gather().dtype == np.int32
    with pytest.raises(InvalidArgumentError, match=f'"e": key {2**40} does not fit in int32'):
        embedding_tensors("e", snapshot_of([1, 2**40]), form=form)
    with pytest.raises(InvalidArgumentError, match="expected int64 or int32, got float32"):
        StoredForm(key_dtype=np.dtype(np.float32))


def test_a_name_is_not_given_twice() -> None:
    with pytest.raises(InvalidArgumentError, match='"emb-keys" is the name of two tensors'):
        save_embeddings("d/x", {"emb": snapshot_of([1])}, {"emb-keys": np.zeros(1)}, fs=MemoryFileSystem())


def test_a_column_that_there_is_not() -> None:
    with pytest.raises(InvalidArgumentError, match='no column "Ftrl"; it has "", "Adagrad"'):
        embedding_tensors("e", snapshot_of([1]), "Ftrl")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": [1, 1], "values": np.zeros((2, 1))}, "not in order of \\(bucket, key\\), or one of them twice"),
        ({"keys": [1, 2], "values": np.zeros((3, 1))}, "expected 2, one for each key, got \\[3, 1\\]"),
        ({"keys": [1, 2], "values": np.zeros(2)}, "expected \\[2, dim\\], a row for each key, got \\[2\\]"),
        ({"keys": [1], "values": {"slot": np.zeros((1, 1))}}, "needs the primary column"),
        ({"keys": [1], "values": np.zeros((1, 1)), "freqs": [1, 2]}, "freqs: expected 1, one for each key"),
    ],
)
def test_a_snapshot_of_arrays_that_do_not_fit(arguments: dict, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        ArraySnapshot.of(**arguments)


def test_a_save_while_others_train_has_weights_and_slots_of_one_moment() -> None:
    table = EmbeddingTable(2, initial=0.0)
    table.add_column("Adagrad", 2, 0.0)
    keys = np.arange(5000)
    table.apply("Adagrad", np.ones((keys.size, 2)), keys, lr=1.0)
    done = threading.Event()

    def train(seed: int) -> None:
        random = np.random.default_rng(seed)
        while not done.is_set():
            chosen = random.choice(6000, 500, replace=False)
            table.apply("Adagrad", np.ones((500, 2)), chosen, lr=1.0)

    threads = [threading.Thread(target=train, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    fs = MemoryFileSystem()
    try:
        for number in range(5):
            with table.snapshot() as snapshot:
                save_embeddings(f"d/x-{number}", {"e": snapshot}, fs=fs)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    for number in range(5):
        found = load_tensors(f"d/x-{number}", fs=fs)
        assert np.array_equal(found["e-keys"], found["e/Adagrad-keys"])
        assert found["e-keys"].size >= 5000
        counts = found["e/Adagrad-values"].astype(np.int64)  # gradients of 1: the accumulator counts the steps
        weights = np.concatenate([[0], -np.cumsum(1 / np.sqrt(np.arange(1, counts.max() + 1)))])
        assert np.allclose(found["e-values"], weights[counts], rtol=1e-4, atol=1e-4)
