"""Embeddings in Parquet, npz, text and RESP, and back."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    DataLossError,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.embedding.formats.csv import export_csv, import_csv, read_csv
from tensorkeep.embedding.formats.npz import export_npz
from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, read_parquet
from tensorkeep.embedding.formats.resp import RedisHashes, RedisStrings, export_resp
from tensorkeep.embedding.stored.writing import save_embeddings
from tensorkeep.embedding.table.snapshot import ArraySnapshot
from tensorkeep.embedding.tools.quantising import quantise_checkpoint
from tests.checkpoint.crafting import put
from tests.embedding.crafting import EXTREMES, bytes_of, rows_for, saved, snapshot_of

KEYS = [*EXTREMES, *range(1, 30), 5003]


def rich(**more: Any) -> ArraySnapshot:
    return snapshot_of(
        KEYS, freqs=range(len(KEYS)), versions=range(3, len(KEYS) + 3), filtered_keys=[99, 1099, 98],
        filtered_freqs=[1, 2, 3], filtered_versions=[4, 5, 6], **more,
    )  # fmt: skip


def held(fs: MemoryFileSystem, path: str) -> bytes:
    file = fs.open(path)
    return bytes(file.read(0, file.size))


# Parquet


def test_the_layout_of_parquet() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=2, tensors={"global_step": np.int64(120)})
    assert export_parquet("d/x", "out/x.parquet", "emb", fs=fs) == ["out/x.parquet"]
    table = pq.read_table(io.BytesIO(held(fs, "out/x.parquet")))
    assert [str(field.type) for field in table.schema] == [
        "int64",
        "fixed_size_list<element: float>[3]",
        "int64",
        "int64",
        "bool",
    ]
    assert table.schema.names == ["key", "embedding", "freq", "version", "admitted"]
    told = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert told["tensorkeep.name"] == "emb"
    assert (told["tensorkeep.dim"], told["tensorkeep.global_step"], told["tensorkeep.keys"]) == (
        "3",
        "120",
        str(len(KEYS)),
    )
    snapshot = rich()
    assert table["key"].to_pylist() == [*snapshot.keys.tolist(), 98, 99, 1099]
    assert table["admitted"].to_pylist() == [True] * len(KEYS) + [False] * 3
    assert table["embedding"].to_pylist()[: len(KEYS)] == snapshot.values[""].tolist()
    assert table["embedding"].to_pylist()[len(KEYS) :] == [None] * 3
    assert table["freq"].to_pylist() == [*snapshot.freqs.tolist(), 3, 1, 2]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("shards", [1, 2])
def test_parquet_and_back_is_the_same_checkpoint(parts: int, shards: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(slots=()), shards=shards, tensors={})
    paths = export_parquet("d/x", "out/x.parquet", "emb", parts=parts, fs=fs)
    if parts == 3:
        assert paths[1] == "out/x-00001-of-00003.parquet"
    import_parquet(paths, "d/y", "emb", shards=shards, fs=fs)
    assert bytes_of(fs, "d/y") == bytes_of(fs, "d/x")


def test_slots_are_exported_by_their_name() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich())
    export_parquet("d/x", "out/x.parquet", "emb", "Adagrad", filtered=False, fs=fs)
    found = read_parquet("out/x.parquet", fs=fs)
    assert np.array_equal(found.values[""], rich().values["Adagrad"])
    assert found.filtered_keys.size == 0
    with pytest.raises(NotFoundError, match='without a slot "Adam"; its slots are: "Adagrad"'):
        export_parquet("d/x", "out/x.parquet", "emb", "Adam", fs=fs)
    with pytest.raises(NotFoundError, match='holds no embedding "other"'):
        export_parquet("d/x", "out/y.parquet", "other", fs=fs)
    assert not fs.exists("out/y.parquet")


def test_bfloat16_becomes_float() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich())
    quantise_checkpoint("d/x", "d/y", "bfloat16", fs=fs)
    export_parquet("d/y", "out/x.parquet", "emb", fs=fs)
    assert read_parquet("out/x.parquet", fs=fs).values[""].dtype == np.float32


def parquet_of(fs: MemoryFileSystem, **columns: Any) -> str:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    put(fs, "out/x.parquet", sink.getvalue())
    return "out/x.parquet"


@pytest.mark.parametrize(
    "columns",
    [
        {"key": [5, 3], "embedding": [[1.0, 2.0], [3.0, 4.0]]},
        {"id": pa.array([5, 3], pa.int32()), "embedding": ["1.0,2", "3,4.0"]},
        {
            "key_id": [5, 3],
            "embedding": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2)),
            "freq": [None, 1],
        },
    ],
)
def test_tables_of_others_are_read(columns: dict[str, Any]) -> None:
    fs = MemoryFileSystem()
    found = read_parquet(parquet_of(fs, **columns), fs=fs)
    assert found.keys.tolist() == [3, 5]
    assert found.values[""].tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert found.freqs is None


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1], "embedding": [[1.0]]}, 'has the columns a, embedding; expected "key" and "embedding"'),
        ({"key": [1.5], "embedding": [[1.0]]}, 'column "key" is double, expected integers without nulls'),
        ({"key": [1, None], "embedding": [[1.0], [1.0]]}, "expected integers without nulls"),
        ({"key": [1, 2], "embedding": [[1.0], [1.0, 2.0]]}, "rows of different lengths|rows of 1, 2 numbers"),
        ({"key": [1, 2, 3, 4], "embedding": [[1.0], [1.0, 2.0, 3.0]] * 2}, "rows of 1, 3 numbers"),
        ({"key": [1, 2], "embedding": ["1", "1,2"]}, "rows of 1, 2 numbers"),
        ({"key": [1, 2], "embedding": [1.0, 2.0]}, "is double, expected lists or text"),
        ({"key": [1, 1], "embedding": [[1.0], [2.0]]}, "key 1 is there twice"),
        ({"key": pa.array([], pa.int64()), "embedding": pa.array([], pa.list_(pa.float32()))}, "holds no row"),
    ],
)
def test_tables_that_are_none_are_refused(columns: dict[str, Any], message: str) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(InvalidArgumentError, match=message):
        read_parquet(parquet_of(fs, **columns), fs=fs)


@pytest.mark.parametrize(
    ("keys", "rows", "error", "message"),
    [
        (pa.array([2**63 + 5], pa.uint64()), [[1.0]], InvalidArgumentError, "which is more than an int64 holds"),
        ([7], pa.array([[1e39]]), DataLossError, r"the row of key 7 has 1e\+39, which is more than a float32 holds"),
        ([7], ["1,x"], InvalidArgumentError, "has text that is no numbers: .*'x'"),
        ([7], ["1e39"], DataLossError, r"the row of key 7 has 1e\+39"),
        ([7], [["a"]], InvalidArgumentError, "expected lists of numbers"),
    ],
)
def test_parquet_whose_numbers_are_none_that_a_table_holds(
    keys: Any, rows: Any, error: type[Exception], message: str
) -> None:
    fs, file = MemoryFileSystem(), io.BytesIO()
    pq.write_table(pa.table({"key": keys, "embedding": rows}), file)
    put(fs, "out/x.parquet", file.getvalue())
    with pytest.raises(error, match=message):
        read_parquet("out/x.parquet", fs=fs)


def test_bytes_that_are_no_parquet() -> None:
    fs = MemoryFileSystem()
    put(fs, "out/x.parquet", b"PAR1 and nothing more")
    with pytest.raises(DataLossError, match=r'"out/x.parquet" cannot be read as Parquet'):
        read_parquet("out/x.parquet", fs=fs)


def test_parquet_that_is_damaged_anywhere_is_data_loss_or_a_table() -> None:
    fs = MemoryFileSystem()
    path = parquet_of(fs, key=[5, 3], embedding=[[1.0, 2.0], [3.0, 4.0]])
    data = held(fs, path)
    refused = 0
    for at in range(4, len(data), 7):
        put(fs, path, data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            read_parquet(path, fs=fs)
        except TensorKeepError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("rows", [["1,x"], [{"a": 1.0}], [["x"]], [[[1.0]]]], ids=["text", "struct", "words", "deeper"])
def test_rows_of_other_things_than_numbers_are_refused(rows: list[Any]) -> None:
    fs = MemoryFileSystem()
    with pytest.raises(TensorKeepError, match=r"out/x\.parquet"):
        read_parquet(parquet_of(fs, key=[1], embedding=rows), fs=fs)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnimplementedError, match=r"tensorkeep\[tables\]"):
        export_parquet("d/x", "out/x.parquet", "emb", fs=MemoryFileSystem())


# npz


@pytest.mark.parametrize("shards", [1, 3])
def test_npz_is_read_by_numpy(shards: int) -> None:
    fs = MemoryFileSystem()
    snapshot = rich()
    saved(fs, "d/x", snapshot, shards=shards)
    told: list[tuple[int, int]] = []
    export_npz("d/x", "out/x.npz", "emb", progress=lambda done, total: told.append((done, total)), fs=fs)
    found = np.load(io.BytesIO(held(fs, "out/x.npz")))
    expected = {
        "keys": snapshot.keys, "values": snapshot.values[""], "values/Adagrad": snapshot.values["Adagrad"],
        "freqs": snapshot.freqs, "versions": snapshot.versions, "keys_filtered": snapshot.filtered_keys,
        "freqs_filtered": snapshot.filtered_freqs, "versions_filtered": snapshot.filtered_versions,
    }  # fmt: skip
    assert set(found) == set(expected)
    assert all(np.array_equal(found[name], array) for name, array in expected.items())
    assert told[-1] == (2 * len(KEYS), 2 * len(KEYS))


def test_npz_leaves_out_what_is_not_stored() -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(KEYS))
    export_npz("d/x", "out/x.npz", "emb", slots=False, fs=fs)
    assert set(np.load(io.BytesIO(held(fs, "out/x.npz")))) == {"keys", "values"}


# Text

ROW = st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=2)


def test_the_text_of_an_embedding() -> None:
    fs = MemoryFileSystem()
    snapshot = ArraySnapshot.of([7, -5], np.array([[0.1, -1.5], [1e-20, 3]], np.float32), freqs=[2, 3])
    save_embeddings("d/x", {"emb": snapshot}, fs=fs)
    export_csv("d/x", "out/x.csv", "emb", fs=fs)
    assert held(fs, "out/x.csv").decode() == 'id,embedding\n7,"0.1,-1.5"\n-5,"1e-20,3.0"\n'
    export_csv("d/x", "out/x.csv", "emb", numbers=True, header=False, separator="\t", fs=fs)
    assert held(fs, "out/x.csv").decode() == "7\t0.1,-1.5\t2\t-1\n-5\t1e-20,3.0\t3\t-1\n"


@given(
    st.dictionaries(st.integers(-(2**63), 2**63 - 1), ROW, min_size=1, max_size=20),
    st.booleans(),
    st.sampled_from([",", "\t", "|"]),
)
def test_text_and_back_is_the_same_checkpoint(rows: dict[int, list[float]], numbers: bool, separator: str) -> None:
    fs = MemoryFileSystem()
    more = {"freqs": range(len(rows)), "versions": range(len(rows))} if numbers else {}
    snapshot = ArraySnapshot.of(list(rows), np.array(list(rows.values()), np.float32), **more)
    save_embeddings("d/x", {"emb": snapshot}, fs=fs)
    export_csv("d/x", "out/x.csv", "emb", numbers=numbers, separator=separator, fs=fs)
    import_csv("out/x.csv", "d/y", "emb", separator=separator, fs=fs)
    assert bytes_of(fs, "d/y") == bytes_of(fs, "d/x")


def test_text_without_a_header_is_key_and_row() -> None:
    fs = MemoryFileSystem()
    put(fs, "out/x.csv", b'5,"1,2"\n\n3,"3, 4.5"')
    found = read_csv("out/x.csv", fs=fs)
    assert (found.keys.tolist(), found.values[""].tolist()) == ([3, 5], [[3.0, 4.5], [1.0, 2.0]])


def test_a_mark_of_the_encoding_is_no_part_of_the_first_column() -> None:
    fs = MemoryFileSystem()
    for text in ('id,embedding\r\n5,"1,2"\r\n', '5,"1,2"\n'):
        put(fs, "out/x.csv", b"\xef\xbb\xbf" + text.encode())
        assert read_csv("out/x.csv", fs=fs).keys.tolist() == [5]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", InvalidArgumentError, "is empty"),
        ("id,embedding\n", InvalidArgumentError, "holds no row"),
        ("a,b\n1,2\n", InvalidArgumentError, 'has the columns a, b; expected "id" and "embedding"'),
        ('id,embedding\n1,"1,2"\n2,"1"\n', DataLossError, "row 2 has an embedding of 1 numbers, expected 2"),
        ('id,embedding\n1,"1,2"\n2,"1,x"\n', DataLossError, "row 2 has 'x' in its embedding, expected a number"),
        ('id,embedding\n1.5,"1,2"\n', DataLossError, "row 1 has '1.5' for id, expected a whole number"),
        (f'id,embedding\n1,"1,2"\n{2**64},"1,2"\n', DataLossError, f"row 2 has '{2**64}' for id, expected a whole"),
        ('id,embedding,freq\n1,"1,2",x\n', DataLossError, "row 1 has 'x' for freq, expected a whole number"),
        (
            'id,embedding\n1,"1,2"\n2,"1,1e39"\n',
            DataLossError,
            r"row of key 2 has 1e\+39, which is more than a float32 holds",
        ),
        ("id,embedding\n1\n", DataLossError, "row 1 has 1 columns, expected more"),
        ('1,"1"\n1,"2"\n', InvalidArgumentError, "key 1 is there twice"),
    ],
)
def test_text_that_is_none_is_refused(text: str, error: type[Exception], message: str) -> None:
    fs = MemoryFileSystem()
    put(fs, "out/x.csv", text.encode())
    with pytest.raises(error, match=message):
        read_csv("out/x.csv", fs=fs)


def test_a_separator_that_is_in_numbers() -> None:
    with pytest.raises(InvalidArgumentError, match="one character that is in no number, got '-'"):
        export_csv("d/x", "out/x.csv", "emb", separator="-", fs=MemoryFileSystem())


# RESP


def words_of(data: bytes) -> list[list[bytes]]:
    """What Redis makes of a stream of commands."""
    commands = []
    at = 0
    while at < len(data):
        end = data.index(b"\r\n", at)
        assert data[at : at + 1] == b"*"
        count, at = int(data[at + 1 : end]), end + 2
        words = []
        for _ in range(count):
            end = data.index(b"\r\n", at)
            assert data[at : at + 1] == b"$"
            size, at = int(data[at + 1 : end]), end + 2
            words.append(data[at : at + size])
            assert data[at + size : at + size + 2] == b"\r\n"
            at += size + 2
        commands.append(words)
    return commands


@pytest.mark.parametrize("hashed", [False, True])
def test_commands_for_redis(hashed: bool) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(), shards=2)
    layout = RedisHashes(100, "e{name}/") if hashed else RedisStrings()
    export_resp("d/x", "out/x.resp", "emb", layout=layout, fs=fs)
    expected = []
    for key in rich().keys.tolist():
        row = rows_for([key], 3).astype("<f4").tobytes()
        where = (
            [b"HSET", f"eemb/{key % 100}".encode(), str(key).encode()] if hashed else [b"SET", f"emb:{key}".encode()]
        )
        expected.append([*where, row])
    assert words_of(held(fs, "out/x.resp")) == expected


def test_no_hashes_at_all() -> None:
    with pytest.raises(InvalidArgumentError, match="0 hashes: expected at least 1"):
        RedisHashes(0)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_import_tells_how_far_it_is(kind: str) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", snapshot_of(range(500)))
    told: list[tuple[int, int]] = []
    exports, imports = (export_csv, import_csv) if kind == "csv" else (export_parquet, import_parquet)
    exports("d/x", f"out/x.{kind}", "emb", fs=fs)
    imports(f"out/x.{kind}", "d/y", "emb", progress=lambda done, total: told.append((done, total)), fs=fs)
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize("shards", [0, 1001, 10**20])
def test_a_table_is_not_imported_into_more_shards_than_there_are_buckets(shards: int) -> None:
    fs = MemoryFileSystem()
    saved(fs, "d/x", rich(slots=()), tensors={})
    export_csv("d/x", "t.csv", "emb", fs=fs)
    with pytest.raises(InvalidArgumentError, match=f'"emb" in {shards} shards: expected 1 to 1000'):
        import_csv("t.csv", "d/y", "emb", shards=shards, fs=fs)
    assert not fs.exists("d/y.index")
