"""tensorkeep and TensorFlow in one process, whichever comes first, each at work before the other is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

OURS = """
import tensorkeep
tensorkeep.save_checkpoint("ours", {"a": [1.0, 2.0], "s": ["text"]})
assert tensorkeep.load_tensor("ours", "a").tolist() == [1.0, 2.0]
"""
THEIRS = """
import tensorflow as tf
tf.raw_ops.SaveV2(prefix="theirs", tensor_names=["a"], shape_and_slices=[""], tensors=[[3.0]])
assert tf.train.load_variable("theirs", "a").tolist() == [3.0]
"""
BOTH = """
assert tensorkeep.load_tensor("theirs", "a").tolist() == [3.0]
assert tf.train.load_variable("ours", "a").tolist() == [1.0, 2.0]
assert tf.train.load_variable("ours", "s").tolist() == [b"text"]
tensorkeep.write_checkpoint_state(".", "ours")
assert tf.train.latest_checkpoint(".") == "./ours"
path = tf.train.Checkpoint(v=tf.Variable(5.0)).save("objects")
with tensorkeep.RenamedReader.by_path(tensorkeep.open_checkpoint(path)) as reader:
    assert reader.read("v") == 5.0
"""


@pytest.mark.parametrize("first_two", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours first", "theirs first"])
def test_either_may_be_at_work_before_the_other_is_imported(tmp_path, first_two):
    program = "".join((*first_two, BOTH))
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
