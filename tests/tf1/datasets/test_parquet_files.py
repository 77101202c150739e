"""Parquet files as datasets: columns of all kinds, batches, parts, and files that are wrong."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError, WrongTypeError
from tensorkeep.tf1.datasets.data_frames import DataFrame, input_fields, to_sparse, unbatch_and_to_sparse
from tensorkeep.tf1.datasets.parquet_files import ParquetDataset, read_parquet


@pytest.fixture(autouse=True)
def _own_graph() -> Any:
    with tf.Graph().as_default():
        yield


def written(path: Path, columns: dict[str, Any], **options: Any) -> str:
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)
    return str(path)


def elements(dataset: Any) -> list[Any]:
    """All elements of a dataset."""
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Ten rows in row groups of four."""
    columns = {
        "number": pyarrow.array(range(10), pyarrow.int64()),
        "text": [f"t{i}" for i in range(10)],
        "list": [[0.5 * i] * (i % 3) for i in range(10)],
        "deep": [[[i], [i, i]] if i % 2 else [] for i in range(10)],
    }
    return written(tmp_path / "table.parquet", columns, row_group_size=4)


def test_columns_have_their_types_and_levels(table: str) -> None:
    dataset = ParquetDataset(table, batch_size=4)
    assert [repr(field) for field in dataset.fields] == [
        "number (dtype=int64, shape=unknown)",
        "text (dtype=string, shape=unknown)",
        "list (dtype=list<float64>, shape=unknown)",
        "deep (dtype=list^2<int64>, shape=unknown)",
    ]
    assert tf.data.get_output_types(dataset)["deep"] == (tf.int64, (tf.int32, tf.int32))
    assert tf.data.get_output_shapes(dataset)["number"].as_list() == [None]


def test_batches_go_across_row_groups_and_the_last_is_smaller(table: str) -> None:
    found = elements(ParquetDataset(table, batch_size=3))
    assert [batch["number"].tolist() for batch in found] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert found[0]["text"].tolist() == [b"t0", b"t1", b"t2"]
    assert found[1]["list"].values.tolist() == [2.0, 2.5, 2.5]
    assert found[1]["list"].nested_row_splits[0].tolist() == [0, 0, 1, 3]
    assert [splits.tolist() for splits in found[1]["deep"].nested_row_splits] == [[0, 2, 2, 4], [0, 1, 3, 4, 6]]
    assert found[1]["deep"].nested_row_splits[0].dtype == np.int32
    assert found[3]["list"].values.dtype == np.float64


def test_the_last_batch_can_be_left_out_and_sizes_are_known_then(table: str) -> None:
    dataset = ParquetDataset(table, 4, ["list", "number"], drop_remainder=True)
    shapes = tf.data.get_output_shapes(dataset)
    assert shapes["number"].as_list() == [4]
    assert shapes["list"].nested_row_splits[0].as_list() == [5]
    assert [batch["number"].tolist() for batch in elements(dataset)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_parts_are_of_row_groups(table: str) -> None:
    found = [
        [batch["number"].tolist() for batch in elements(ParquetDataset(table, 3, ["number"], 2, part))]
        for part in (0, 1)
    ]
    assert found == [[[0, 1, 2], [3, 8, 9]], [[4, 5, 6], [7]]]
    assert elements(ParquetDataset(table, 3, ["number"], 9, 8)) == []


def test_files_are_read_one_after_the_other_or_together(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{i}.parquet", {"x": [i * 10 + j for j in range(3)]}) for i in range(3)]
    ordered = [batch["x"].tolist() for batch in elements(ParquetDataset(paths, 2))]
    assert ordered == [[0, 1], [2], [10, 11], [12], [20, 21], [22]]
    for parallel in (2, tf.data.experimental.AUTOTUNE):
        found = elements(ParquetDataset(paths, 2, num_parallel_reads=parallel))
        assert sorted(value for batch in found for value in batch["x"].tolist()) == sorted(
            value for batch in ordered for value in batch
        )
    names = tf.data.Dataset.from_tensor_slices(paths)
    given = names.apply(read_parquet(2, [DataFrame.Field("x", tf.int64, 0)]))
    assert [batch["x"].tolist() for batch in elements(given)] == ordered


def test_fields_are_found_in_the_file_and_compared_with_it(table: str) -> None:
    field = ParquetDataset.read_schema(table, ["NUMBER"], lower=True)[0]
    assert (field.name, field.dtype, field.ragged_rank) == ("number", tf.int64, 0)
    for fields, message in [
        (["missing"], "Field missing is not found"),
        ([DataFrame.Field("number", tf.int32)], "should have dtype int64 not int32"),
        ([DataFrame.Field("list", ragged_rank=2)], "should have ragged_rank 1 not 2"),
        ([3], "is not a DataFrame.Field or a string"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            ParquetDataset(table, fields=fields)
    with pytest.raises(UnimplementedError, match="list have a shape"):
        ParquetDataset(table, fields=[DataFrame.Field("list", shape=[2])])


def test_of_files_that_are_not_known_yet_fields_are_to_be_said(table: str) -> None:
    names = tf.data.Dataset.from_tensor_slices([table])
    for fields in (None, ["number"], [DataFrame.Field("number")]):
        with pytest.raises(InvalidArgumentError, match=r"fields|incomplete"):
            ParquetDataset(names, fields=fields)
    with pytest.raises(WrongTypeError, match=r"must be a `tf\.Tensor` of `tf\.string`"):
        ParquetDataset(tf.constant([1]), fields=[DataFrame.Field("x", tf.int64, 0)])
    with pytest.raises(InvalidArgumentError, match="must be a"):
        ParquetDataset([3])


def test_what_the_file_turns_out_to_be_is_compared_too(table: str) -> None:
    for field, error in [
        (DataFrame.Field("other", tf.int64, 0), NotFoundError),
        (DataFrame.Field("number", tf.float32, 0), InvalidArgumentError),
        (DataFrame.Field("list", tf.float64, 0), InvalidArgumentError),
    ]:
        with pytest.raises(error):
            elements(ParquetDataset(tf.constant(table), fields=[field]))


@pytest.mark.parametrize(
    "options", [{"batch_size": 0}, {"partition_count": 2, "partition_index": 2}, {"partition_index": -1}]
)
def test_numbers_that_make_no_sense_are_refused(table: str, options: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError):
        elements(ParquetDataset(table, **options))


def test_columns_that_tensors_cannot_hold_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path / "t.parquet", {"x": [1], "when": pyarrow.array([0], pyarrow.timestamp("s"))})
    assert [field.name for field in ParquetDataset(path).fields] == ["x"]
    assert "left out: when (timestamp" in caplog.text
    alone = written(tmp_path / "alone.parquet", {"when": pyarrow.array([0], pyarrow.timestamp("s"))})
    with pytest.raises(InvalidArgumentError, match="No supported fields found"):
        ParquetDataset(alone)


@pytest.mark.parametrize("column", [[1, None], [[1, None], [2]], [[1], None]])
def test_missing_values_are_refused(tmp_path: Path, column: list[Any]) -> None:
    path = written(tmp_path / "t.parquet", {"x": column})
    with pytest.raises(InvalidArgumentError, match=r"column x .* has 1 missing values"):
        elements(ParquetDataset(path, 2))


def test_files_that_are_missing_or_damaged_are_told(tmp_path: Path, table: str) -> None:
    with pytest.raises(NotFoundError):
        ParquetDataset(str(tmp_path / "nothing.parquet"))
    data = Path(table).read_bytes()
    for name, damaged in (("cut", data[: len(data) // 2]), ("text", b"clicked,I1\n"), ("empty", b"")):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(DataLossError, match="cannot be read as Parquet"):
            ParquetDataset(str(tmp_path / name))


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "uint64", "float16", "float32", "bool_", "large_string"])
def test_other_kinds_of_values(tmp_path: Path, kind: str) -> None:
    made = getattr(pyarrow, kind)()
    values = ["a", "", "é"] if kind == "large_string" else np.array([0, 1, 0]).astype(made.to_pandas_dtype())
    path = written(tmp_path / "t.parquet", {"x": pyarrow.array(values, made)})
    found = elements(ParquetDataset(path, 3))[0]["x"]
    assert found.tolist() == ([b"a", b"", "é".encode()] if kind == "large_string" else values.tolist())


def test_lists_of_one_size_and_values_that_occur_often(tmp_path: Path) -> None:
    fixed = pyarrow.array([[1, 2], [3, 4], [5, 6]], pyarrow.list_(pyarrow.int32(), 2))
    often = pyarrow.array(["a", "b", "a"]).dictionary_encode()
    path = written(tmp_path / "t.parquet", {"fixed": fixed, "often": often})
    batch = elements(ParquetDataset(path, 2))[1]
    assert (batch["fixed"].values.tolist(), batch["often"].tolist()) == ([5, 6], [b"a"])
    assert batch["fixed"].nested_row_splits[0].tolist() == [0, 2]


def test_a_pass_goes_on_in_the_middle_of_a_file(table: str, tmp_path: Path) -> None:
    dataset = ParquetDataset(table, 3, ["number", "deep"])
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    saver = tf.train.Saver({"input": tf.data.experimental.make_saveable_from_iterator(iterator)})
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        session.run(following)
        saver.save(session, str(tmp_path / "m"))
        wanted = session.run(following)
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, str(tmp_path / "m"))
        found = session.run(following)
    assert found["number"].tolist() == wanted["number"].tolist() == [6, 7, 8]
    assert found["deep"].values.tolist() == wanted["deep"].values.tolist()


def test_random_tables_come_back_whole(tmp_path: Path) -> None:
    """Whatever the sizes of row groups, pages and batches are."""
    for seed in range(6):
        chance = random.Random(seed)
        rows = [[chance.randrange(9) for _ in range(chance.randrange(4))] for _ in range(chance.randrange(1, 40))]
        texts = ["x" * chance.randrange(5) for _ in rows]
        path = written(
            tmp_path / f"{seed}.parquet",
            {"list": pyarrow.array(rows, pyarrow.list_(pyarrow.int32())), "text": texts},
            row_group_size=chance.randrange(1, 20), data_page_size=64,
        )  # fmt: skip
        size = chance.randrange(1, 12)
        found = elements(ParquetDataset(path, size))
        assert [len(batch["text"]) for batch in found[:-1]] == [size] * (len(found) - 1)
        assert [text.decode() for batch in found for text in batch["text"]] == texts
        split = [
            batch["list"].values[start:end].tolist()
            for batch in found
            for start, end in zip(
                batch["list"].nested_row_splits[0], batch["list"].nested_row_splits[0][1:], strict=False
            )
        ]
        assert split == rows


# ---------------------------------------------------------------------------------------------------- frames


def test_lists_become_sparse_tensors(table: str) -> None:
    dataset = ParquetDataset(table, 3, ["list", "number", "deep"]).apply(to_sparse())
    batch = elements(dataset)[1]
    assert batch["list"].indices.tolist() == [[1, 0], [2, 0], [2, 1]]
    assert batch["list"].dense_shape.tolist() == [3, 2]
    assert batch["deep"].dense_shape.tolist() == [3, 2, 2]
    row = elements(ParquetDataset(table, 1, ["list", "deep"]).apply(unbatch_and_to_sparse(2)))[5]
    assert (row["list"].values.tolist(), row["list"].dense_shape.tolist()) == ([2.5, 2.5], [2])
    assert row["deep"].dense_shape.tolist() == [2, 2]


def test_other_things_have_no_sparse_form() -> None:
    ragged = tf.ragged.constant([[1], [2, 3]])
    with tf.Session() as session:
        assert session.run(DataFrame.to_sparse({"r": ragged}))["r"].dense_shape.tolist() == [2, 2]
    with pytest.raises(InvalidArgumentError, match="not supported"):
        DataFrame.to_sparse("text")


def test_fields_of_a_dataset_are_found(table: str) -> None:
    dataset = ParquetDataset(table, 3, ["number"])
    assert input_fields(dataset) is dataset.fields
    with pytest.raises(InvalidArgumentError, match="`fields` must be specified"):
        input_fields(tf.data.Dataset.range(3))
    with pytest.raises(InvalidArgumentError, match="incomplete shape"):
        DataFrame.Field("x", shape=[None])
    with pytest.raises(InvalidArgumentError, match="nested list"):
        DataFrame.Field("x", ragged_rank=2, shape=[2])
    with pytest.raises(InvalidArgumentError, match="is incomplete"):
        _ = DataFrame.Field("x").output_types
