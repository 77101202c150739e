"""DeepRec's hash tables, merged, are tensors in slices for TensorFlow, too; so is a copy of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.checkpoint.bundle_writer import BundleWriter
from tests.checkpoint.test_hash_tables import KEYS, ROWS, tables


def test_tensorflow_reads_merged_hash_tables_and_copies_of_them(tmp_path: Path) -> None:
    for name, data in tables(merged=True).store().contents().items():
        (tmp_path / name).write_bytes(data)
    with BundleReader(tmp_path / "x") as reader, BundleWriter(tmp_path / "y") as writer:
        writer.add("step", np.int64(1))
        writer.link(reader, {name: name for name in reader})
    for prefix in ("x", "y"):
        stored = tf.train.load_checkpoint(str(tmp_path / prefix))
        np.testing.assert_array_equal(stored.get_tensor("user/ids"), np.concatenate(KEYS))
        np.testing.assert_array_equal(stored.get_tensor("user"), np.concatenate(ROWS))
