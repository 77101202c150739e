"""Record files beside TensorFlow: each reads what the other writes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from tensorkeep import v1 as ours
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError

theirs = tf.compat.v1
RECORDS = [b"", b"one", bytes(range(256)) * 40, b"x" * 300_000]
OPTIONS: dict[str, Any] = {
    "plain": lambda io: None,
    "an empty type": lambda io: "",
    "zlib": lambda io: "ZLIB",
    "gzip": lambda io: io.TFRecordCompressionType.GZIP,
    "options": lambda io: io.TFRecordOptions("GZIP"),
    "a level": lambda io: io.TFRecordOptions("ZLIB", compression_level=9, window_bits=12, mem_level=3),
    "a strategy": lambda io: io.TFRecordOptions(io.TFRecordCompressionType.ZLIB, compression_strategy=2),
}


def write(io: Any, path: Path, options: Any) -> bytes:
    with io.TFRecordWriter(str(path), options) as writer:
        for record in RECORDS:
            writer.write(record)
    return path.read_bytes()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_each_reads_what_the_other_writes(name: str, tmp_path: Path) -> None:
    option = OPTIONS[name]
    write(ours.python_io, tmp_path / "ours", option(ours.python_io))
    write(theirs.python_io, tmp_path / "theirs", option(theirs.python_io))
    assert list(ours.python_io.tf_record_iterator(tmp_path / "theirs", option(ours.io))) == RECORDS
    assert list(theirs.python_io.tf_record_iterator(str(tmp_path / "ours"), option(theirs.io))) == RECORDS


def test_plain_files_are_the_same_bytes(tmp_path: Path) -> None:
    assert write(ours.io, tmp_path / "a", None) == write(theirs.io, tmp_path / "b", None)


def test_a_missing_file_and_a_damaged_one_raise_the_same_classes(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"junk that is no record")
    for io, missing, damaged in (
        (ours.io, NotFoundError, DataLossError),
        (theirs.io, tf.errors.NotFoundError, tf.errors.DataLossError),
    ):
        with pytest.raises(missing):
            list(io.tf_record_iterator(str(tmp_path / "none")))
        with pytest.raises(damaged):
            list(io.tf_record_iterator(str(tmp_path / "bad")))
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        theirs.io.TFRecordOptions("LZ4")
    with pytest.raises(InvalidArgumentError, match="Not a valid compression_type"):
        ours.io.TFRecordOptions("LZ4")


@pytest.mark.parametrize("name", ["TFRecordOptions", "TFRecordWriter", "tf_record_iterator"])
def test_signatures_are_tensorflows(name: str) -> None:
    mine = inspect.signature(getattr(ours.python_io, name)).parameters
    other = inspect.signature(getattr(theirs.python_io, name)).parameters
    assert [(key, p.default) for key, p in mine.items()] == [(key, p.default) for key, p in other.items()]
