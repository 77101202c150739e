"""Rows written as the records of an SSD tier: to the byte as DeepRec lays them out, and read back by our reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.embedding.restore.restoring_rows import restore_table
from tensorkeep.embedding.stored import record_writing
from tensorkeep.embedding.stored.embeddings import stored_embeddings
from tensorkeep.embedding.stored.writing import StoredForm, save_embeddings
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.memory import MemoryFileSystem

KEYS = [1, 5, 1001, 7, 3005]


def snapshot_of(dim: int, dtype: Any = np.float32, **more: Any) -> ArraySnapshot:
    rows = np.arange(len(KEYS) * dim, dtype=dtype).reshape(len(KEYS), dim)
    return ArraySnapshot.of(KEYS, {"": rows, "Adagrad": rows + dtype(0.5)}, **more)


def contents(fs: MemoryFileSystem, path: str) -> bytes:
    file = fs.open(path)
    return bytes(file.read(0, file.size))


def tensors_of(fs: MemoryFileSystem, prefix: str) -> dict[str, list[int]]:
    with BundleReader(prefix, ReadOptions(), fs=fs) as reader:
        return {name: reader.read(name).tolist() for name in reader}


def test_records_are_rows_padded_to_16_bytes_with_frequency_and_version() -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(3, freqs=[11, 12, 13, 14, 15], versions=[21, 22, 23, 24, 25])
    save_embeddings("d/x", {"a/b": snapshot}, records={"a/b": [7, 5]}, fs=fs)
    # In order of bucket, so 5 before 7: a row of 12 bytes and 4 of padding, the slot's row, and two numbers.
    five = np.array([3, 4, 5, 0, 3.5, 4.5, 5.5, 0], "<f4").tobytes() + np.array([12, 22], "<i8").tobytes()
    seven = np.array([9, 10, 11, 0, 9.5, 10.5, 11.5, 0], "<f4").tobytes() + np.array([14, 24], "<i8").tobytes()
    assert contents(fs, "d/x-a_b-emb_files/0.emb") == five + seven
    assert tensors_of(fs, "d/x-a_b-ssd_record") == {
        "files": [0],
        "invalid_record_count": [0],
        "keys": [5, 7],
        "keys_file_id": [0, 0],
        "keys_offset": [0, 48],
        "record_count": [2],
    }
    with BundleReader("d/x", ReadOptions(), fs=fs) as reader:
        assert reader.read("a/b-keys").tolist() == reader.read("a/b/Adagrad-keys").tolist() == [1, 1001, 3005]
        assert reader.read("a/b-freqs").tolist() == [11, 13, 15]
        assert reader.read("a/b-values")[:, 0].tolist() == [0, 6, 12]
        assert reader.read("a/b-partition_offset")[[0, 1, 2, 5, 6, 1000]].tolist() == [0, 0, 2, 2, 3, 3]


def test_a_record_of_30_numbers_and_a_slot_is_272_bytes_apart_from_the_next() -> None:
    fs = MemoryFileSystem()
    save_embeddings("d/x", {"e": snapshot_of(30)}, records={"e": [1, 5, 7]}, fs=fs)
    assert tensors_of(fs, "d/x-e-ssd_record")["keys_offset"] == [0, 272, 544]
    unknown = np.frombuffer(contents(fs, "d/x-e-emb_files/0.emb")[256:272], "<i8")
    assert unknown.tolist() == [0, -1]  # neither frequencies nor versions are kept


@pytest.mark.parametrize("cold", [[], [5], [1, 7, 3005], KEYS])
def test_what_is_written_as_records_is_read_back(cold: list[int]) -> None:
    fs = MemoryFileSystem()
    snapshot = snapshot_of(5, freqs=[11, 12, 13, 14, 15], versions=[21, 22, 23, 24, 25])
    save_embeddings("d/x", {"e": snapshot}, records={"e": cold}, fs=fs)
    table = EmbeddingTable(5, keeps_frequencies=True, keeps_versions=True)
    table.add_column("Adagrad", 5)
    with open_checkpoint("d/x", fs=fs) as reader:
        assert stored_embeddings(reader, fs=fs)["e"].open(reader, fs=fs).count == len(KEYS)
        restore_table(table, reader, "e", fs=fs)
    rows = np.arange(25, dtype=np.float32).reshape(5, 5)
    np.testing.assert_array_equal(table.lookup(KEYS), rows)
    np.testing.assert_array_equal(table.lookup(KEYS, "Adagrad"), rows + 0.5)
    assert table.frequencies(KEYS).tolist() == [11, 12, 13, 14, 15]
    assert table.versions(KEYS).tolist() == [21, 22, 23, 24, 25]


def test_records_fill_several_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_writing, "FILE_BYTES", 2 * 48)
    fs = MemoryFileSystem()
    save_embeddings("d/x", {"e": snapshot_of(3)}, records={"e": KEYS}, form=StoredForm(key_dtype=np.dtype("i4")), fs=fs)
    found = tensors_of(fs, "d/x-e-ssd_record")
    assert found["keys_file_id"] == [0, 0, 1, 1, 2]
    assert found["keys_offset"] == [0, 48, 0, 48, 0]
    assert (found["files"], found["record_count"]) == ([0, 1, 2], [2, 2, 1])
    with open_checkpoint("d/x", fs=fs) as reader:
        assert stored_embeddings(reader, fs=fs)["e"].open(reader, fs=fs).count == len(KEYS)
    with BundleReader("d/x-e-ssd_record", ReadOptions(), fs=fs) as reader:
        assert reader["keys"].dtype.name == "int32"


@pytest.mark.parametrize("records", [None, {"e": [5]}])
def test_records_of_another_checkpoint_are_not_mixed_with_a_new_one(records: Any) -> None:
    fs = MemoryFileSystem()
    save_embeddings("d/x", {"e": snapshot_of(3)}, records={"e": [1]}, fs=fs)
    with pytest.raises(
        AlreadyExistsError, match=r'"d/x-e-ssd_record" holds records .* delete it and "d/x-e-emb_files"'
    ):
        save_embeddings("d/x", {"e": snapshot_of(3)}, records=records, fs=fs)


@pytest.mark.parametrize(
    ("records", "dtype", "message"),
    [
        ({"e": [2]}, np.float32, '"e" has no key 2, which is to be written as a record'),
        ({"f": [1]}, np.float32, 'records of "f" are asked for, which is no table'),
        ({"e": [1]}, np.float64, 'records have rows of float32; "e" has the columns "" of float64'),
    ],
)
def test_records_that_cannot_be_are_refused_before_anything_is_written(records: Any, dtype: Any, message: str) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(InvalidArgumentError, match=message):
        save_embeddings("d/x", {"e": snapshot_of(3, dtype)}, records=records, fs=fs)
    assert not fs.exists("d/x-e-emb_files")
    assert not fs.exists("d/x.index")
