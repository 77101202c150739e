"""DeepRec's hash tables, merged, are tensors in slices for TensorFlow, too; so is a copy of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.writer import BundleWriter
from tests.checkpoint.bundle.test_hash_tables import KEYS, ROWS, tables


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


def test_tensorflow_reads_what_programs_with_hash_tables_save(tmp_path: Path) -> None:
    """In one part, whose only slice is the whole tensor, in several, and without keys."""
    for name, parts, keys in (("one", 1, [3, -1]), ("several", 3, [3, 30000, 60000, -1]), ("none", 2, [])):
        with tk.Graph().as_default(), tk.Session() as session:
            table = tk.get_hash_table(
                "t",
                [2],
                initializer=tk.ones_initializer(),
                partitioner=tk.hash_table.FixedSizeHashTablePartitioner(parts),
            )
            rows = table.lookup(np.array(keys, np.int64))
            train = tk.train.AdagradOptimizer(0.1).minimize(tk.reduce_sum(rows))
            session.run(tk.global_variables_initializer())
            session.run(train)
            wanted = dict(zip(keys, session.run(rows).tolist(), strict=True))
            prefix = tk.train.Saver(sharded=True).save(session, str(tmp_path / name))
        stored = tf.train.load_checkpoint(prefix)
        found = [stored.get_tensor(one) for one in ("t/ids", "t", "t/slots/Adagrad")]
        assert dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) == wanted
        assert found[2].shape == (len(keys), 2)
