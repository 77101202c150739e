"""tensorkeep and TensorFlow in one process, whichever comes first, each at work before the other is imported.

All of it is asked of the same two processes: importing TensorFlow is most of what it costs.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

OURS = """
import tensorkeep
import tensorkeep.proto.serving as our_serving
from tensorkeep.proto import messages, text
tensorkeep.save_checkpoint("ours", {"a": [1.0, 2.0], "s": ["text"]})
assert tensorkeep.load_tensor("ours", "a").tolist() == [1.0, 2.0]
"""
THEIRS = """
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2 as their_serving
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
MESSAGES = """
from google.protobuf import text_format
graph = tf.Graph()
with graph.as_default():
    tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
theirs = graph.as_graph_def()
ours = messages.parse(messages.GraphDef, theirs.SerializeToString(), "graph")
assert type(ours) is not type(theirs)
assert tf.compat.v1.GraphDef.FromString(messages.serialize(ours)) == theirs
their_text = text_format.MessageToString(theirs)
assert text.format_text(ours) == their_text
assert text.parse_text(messages.GraphDef, their_text, "graph") == ours
info = messages.MetaGraphDef.MetaInfoDef()
info.any_info.Pack(ours)
assert info.any_info.type_url == "type.googleapis.com/tensorflow.GraphDef", info
their_info = tf.compat.v1.MetaGraphDef.MetaInfoDef.FromString(messages.serialize(info))
unpacked = tf.compat.v1.GraphDef()
assert their_info.any_info.Unpack(unpacked) and unpacked == theirs
assert "x" in str(their_info)
request = their_serving.PredictRequest()
request.model_spec.name = "m"
assert our_serving.PredictRequest.FromString(request.SerializeToString()).model_spec.name == "m"
"""


@pytest.mark.parametrize("first_two", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours first", "theirs first"])
def test_either_may_be_at_work_before_the_other_is_imported(tmp_path, first_two):
    program = "".join((*first_two, BOTH, MESSAGES))
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
