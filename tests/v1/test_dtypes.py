"""A data type given by its number, as messages hold it, wherever a type is taken."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

# What a program calls with a type; the names are those of the calls, for the reports of tests.
FLOATS: dict[str, Callable[[Any], Any]] = {
    "placeholder": lambda t: tf.placeholder(t, [2]),
    "sparse_placeholder": lambda t: tf.sparse_placeholder(t, [2, 3]),
    "ragged.placeholder": lambda t: tf.ragged.placeholder(t, 1),
    "constant": lambda t: tf.constant([1, 2], t),
    "convert_to_tensor": lambda t: tf.convert_to_tensor([1, 2], t),
    "convert_to_tensor, preferred": lambda t: tf.convert_to_tensor([1, 2], preferred_dtype=t),
    "indexed_slices": lambda t: tf.convert_to_tensor_or_indexed_slices([1, 2], t),
    "cast": lambda t: tf.cast([1, 2], t),
    "saturate_cast": lambda t: tf.saturate_cast(tf.constant([1, 2]), t),
    "bitcast": lambda t: tf.bitcast(tf.constant([1, 2]), t),
    "zeros": lambda t: tf.zeros([2], t),
    "ones": lambda t: tf.ones([2], t),
    "zeros_like": lambda t: tf.zeros_like([1, 2], t),
    "ones_like": lambda t: tf.ones_like([1, 2], t),
    "one_hot": lambda t: tf.one_hot([1, 2], 3, dtype=t),
    "eye": lambda t: tf.eye(3, dtype=t),
    "sparse.eye": lambda t: tf.sparse.eye(3, dtype=t),
    "range": lambda t: tf.range(3, dtype=t),
    "sequence_mask": lambda t: tf.sequence_mask([1, 2], dtype=t),
    "count_nonzero": lambda t: tf.count_nonzero([1, 2], dtype=t),
    "confusion_matrix": lambda t: tf.confusion_matrix([1, 2], [1, 2], dtype=t),
    "bincount": lambda t: tf.bincount([1, 2], dtype=t),
    "accumulate_n": lambda t: tf.accumulate_n([tf.constant([1.0])], tensor_dtype=t),
    "get_variable": lambda t: tf.get_variable("v", [2], t),
    "get_local_variable": lambda t: tf.get_local_variable("v", [2], t),
    "Variable": lambda t: tf.Variable([1, 2], dtype=t),
    "variable_scope": lambda t: _in_scope(t),
    "create_partitioned_variables": lambda t: tf.create_partitioned_variables(
        [4, 2], [2, 1], tf.zeros_initializer(), t, name="parts"
    ),
    "zeros_initializer": lambda t: tf.zeros_initializer(t)([2]),
    "constant_initializer": lambda t: tf.constant_initializer(3, t)([2]),
    "constant_initializer, call": lambda t: tf.constant_initializer(3)([2], t),
    "glorot_uniform": lambda t: tf.glorot_uniform_initializer(1, t)([2, 3]),
    "random_normal_initializer": lambda t: tf.random_normal_initializer(seed=1, dtype=t)([2]),
    "truncated_normal_initializer": lambda t: tf.truncated_normal_initializer(seed=1, dtype=t)([2]),
    "random_uniform_initializer": lambda t: tf.random_uniform_initializer(seed=1, dtype=t)([2]),
    "variance_scaling": lambda t: tf.variance_scaling_initializer(seed=1, dtype=t)([2, 3]),
    "orthogonal": lambda t: tf.orthogonal_initializer(seed=1, dtype=t)([2, 3]),
    "identity": lambda t: tf.initializers.identity(dtype=t)([2, 2]),
    "random_uniform": lambda t: tf.random_uniform([2], dtype=t, seed=1),
    "random_normal": lambda t: tf.random_normal([2], dtype=t, seed=1),
    "truncated_normal": lambda t: tf.truncated_normal([2], dtype=t, seed=1),
    "random_gamma": lambda t: tf.random_gamma([2], 1.0, dtype=t, seed=1),
    "random_poisson": lambda t: tf.random_poisson(1.0, [2], dtype=t, seed=1),
    "stateless_uniform": lambda t: tf.random.stateless_uniform([2], [1, 2], dtype=t),
    "decode_raw": lambda t: tf.decode_raw([b"abcd"], t),
    "parse_tensor": lambda t: tf.io.parse_tensor(b"", t),
    "string_to_number": lambda t: tf.string_to_number(["1"], t),
    "deserialize_many_sparse": lambda t: tf.deserialize_many_sparse([[b"", b"", b""]], t),
    "py_func": lambda t: tf.py_func(_nothing, [], t),
    "py_func, several": lambda t: tf.py_func(_nothing, [], [t, tf.int64]),
    "map_fn": lambda t: tf.map_fn(lambda x: tf.cast(x, t), tf.constant([1, 2]), dtype=t),
    "parse_example": lambda t: tf.parse_example(
        [b""],
        {"a": tf.FixedLenFeature([1], t), "b": tf.VarLenFeature(t), "c": tf.FixedLenSequenceFeature([1], t, True)},
    ),
    "parse_example, sparse": lambda t: tf.parse_example([b""], {"a": tf.SparseFeature("i", "v", t, 3)}),
    "parse_example, ragged": lambda t: tf.parse_example(
        [b""], {"a": tf.io.RaggedFeature(t, row_splits_dtype=tf.int32)}
    ),
    "FIFOQueue": lambda t: tf.FIFOQueue(2, [t, tf.int32]).dequeue(),
    "FIFOQueue, one type": lambda t: tf.FIFOQueue(2, t).dequeue(),
    "PaddingFIFOQueue": lambda t: tf.PaddingFIFOQueue(2, [t], [[None]]).dequeue(),
    "RandomShuffleQueue": lambda t: tf.RandomShuffleQueue(2, 1, [t], seed=1).dequeue(),
    "PriorityQueue": lambda t: tf.PriorityQueue(2, [t], [[]]).dequeue(),
    "TensorArray": lambda t: tf.TensorArray(t, 2).write(0, tf.cast(1, t)).stack(),
    "layers.dense": lambda t: tf.layers.dense(tf.placeholder(t, [2, 3]), 4),
    "layers.Dense": lambda t: tf.layers.Dense(4, dtype=t)(tf.placeholder(t, [2, 3])),
    "rnn_cell": lambda t: tf.nn.rnn_cell.BasicRNNCell(3, dtype=t)(tf.zeros([2, 3], t), tf.zeros([2, 3], t)),
    "zero_state": lambda t: tf.nn.rnn_cell.LSTMCell(3).zero_state(2, t),
    "dynamic_rnn": lambda t: tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.zeros([2, 4, 3], t), dtype=t),
    "static_rnn": lambda t: tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(3), [tf.zeros([2, 3], t)], dtype=t),
    "image.convert_image_dtype": lambda t: tf.image.convert_image_dtype(tf.zeros([1, 1, 3], tf.uint8), t),
    "image.decode_image": lambda t: tf.image.decode_image(b"", dtype=t),
    "signal.hann_window": lambda t: tf.signal.hann_window(4, dtype=t),
    "signal.kaiser_window": lambda t: tf.signal.kaiser_window(4, dtype=t),
    "signal.linear_to_mel_weight_matrix": lambda t: tf.signal.linear_to_mel_weight_matrix(4, dtype=t),
    "ragged.constant": lambda t: tf.ragged.constant([[1], [2, 3]], t),
    "ragged.range": lambda t: tf.ragged.range([1, 2], dtype=t),
    "embedding variable": lambda t: tf.get_embedding_variable("e", 3, tf.int64, t).handle,
    "embedding variable, counters": lambda t: (
        tf.get_embedding_variable(
            "e", 3, value_dtype=t, ev_option=tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(2))
        ).handle
    ),
    "multihash variable": lambda t: tf.nn.embedding_lookup(
        tf.get_multihash_variable("m", [[2, 4], [2, 4]], operation="add", dtype=t), [1]
    ),
    "quantization.dequantize": lambda t: tf.dequantize(tf.zeros([2], tf.quint8), 0.0, 1.0, dtype=t),
    "raw_ops.Cast": lambda t: tf.raw_ops.Cast(x=tf.constant([1]), DstT=t),
    "raw_ops.IdentityN": lambda t: tf.raw_ops.IdentityN(input=[tf.zeros([1], t), tf.ones([], tf.int32)]),
    "raw_ops.FIFOQueueV2": lambda t: tf.raw_ops.FIFOQueueV2(component_types=[t]),
    "assert_type": lambda t: tf.assert_type(tf.zeros([1]), t),
    "make_template": lambda t: tf.make_template("made", lambda: tf.get_variable("w", [1], t))(),
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "argmax": lambda t: tf.argmax([1.0, 2.0], output_type=t),
    "shape": lambda t: tf.shape(tf.placeholder(tf.int32, [None]), out_type=t),
    "shape_n": lambda t: tf.shape_n([tf.placeholder(tf.int32, [None])], out_type=t),
    "size": lambda t: tf.size(tf.placeholder(tf.int32, [None]), out_type=t),
    "searchsorted": lambda t: tf.searchsorted([1.0, 2.0], [1.5], out_type=t),
    "unique": lambda t: tf.unique([1.0, 2.0], t),
    "setdiff1d": lambda t: tf.setdiff1d([1, 2], [2], t),
    "multinomial": lambda t: tf.multinomial([[0.5, 0.5]], 2, seed=1, output_dtype=t),
    "histogram_fixed_width": lambda t: tf.histogram_fixed_width([1.0], [0.0, 2.0], 4, t),
    "linalg.lu": lambda t: tf.linalg.lu([[1.0]], t),
    "random_uniform": lambda t: tf.random_uniform([2], 0, 9, t, seed=1),
    "extract_jpeg_shape": lambda t: tf.image.extract_jpeg_shape(b"", t),
    "max_pool_with_argmax": lambda t: tf.nn.max_pool_with_argmax(
        tf.zeros([1, 2, 2, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID", Targmax=t
    ),
    "ragged.constant": lambda t: tf.ragged.constant([[1], []], row_splits_dtype=t),
    "row_splits_to_segment_ids": lambda t: tf.ragged.row_splits_to_segment_ids([0, 1, 3], out_type=t),
    "row_lengths": lambda t: tf.ragged.constant([[1], []]).bounding_shape(out_type=t),
    "lookup table": lambda t: tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([1, 2], ["a", "b"], t, tf.string), b""
    ).lookup(tf.constant([1], t)),
    "mutable table": lambda t: tf.lookup.experimental.DenseHashTable(t, tf.int64, -1, 0, -2).export(),
    "StaticVocabularyTable": lambda t: tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer([1, 2], [0, 1], tf.int64, tf.int64), 2, t
    ).lookup(tf.constant([1], t)),
    "embedding variable": lambda t: tf.get_embedding_variable("e", 3, t).handle,
}
CALLS = [
    *(pytest.param(tf.float32, call, id=name) for name, call in FLOATS.items()),
    *(pytest.param(tf.int64, call, id=name) for name, call in WHOLE.items()),
]


# What is called otherwise each time: functions of Python, and tables.
_NAMED_ANEW = r"(?<=pyfunc_)\d+|(?<=hash_table_)[-0-9a-f]{36}"


def _nothing() -> float:
    return 0.0


def _in_scope(dtype: Any) -> Any:
    with tf.variable_scope("scope", dtype=dtype):
        return tf.get_variable("v", [2])


def _graph_of(call: Callable[[Any], Any], dtype: Any) -> str:
    with tf.Graph().as_default() as graph:
        call(dtype)
        return re.sub(_NAMED_ANEW, "", str(graph.as_graph_def()))


@pytest.mark.parametrize(("dtype", "call"), CALLS)
@pytest.mark.parametrize("number", [int, np.int32], ids=["int", "NumPy's"])
def test_a_type_may_be_given_by_its_number(
    dtype: tf.DType, call: Callable[[Any], Any], number: Callable[[Any], Any]
) -> None:
    assert _graph_of(call, number(dtype)) == _graph_of(call, dtype)


def test_what_a_signature_says_of_a_tensor_is_the_type() -> None:
    with tf.Graph().as_default():
        info = tf.saved_model.utils.build_tensor_info(tf.placeholder(tf.float32, [1]))
    assert info.dtype == tf.float32
    assert tf.float32 == info.dtype
    assert info.dtype != tf.string
    assert info.dtype in (tf.int32, tf.float32)
    assert tf.as_dtype(info.dtype) is tf.DType(info.dtype) is tf.float32
    assert tf.as_dtype(101) is tf.float32.ref


def test_what_a_node_says_of_its_type_is_the_type() -> None:
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.string, name="x")
    (node,) = graph.as_graph_def().node
    assert node.attr["dtype"].type == tf.string
    assert {tf.string: "text"}[node.attr["dtype"].type] == "text"


def test_specs_by_number_are_those_of_the_type() -> None:
    assert tf.TensorSpec([1], 1) == tf.TensorSpec([1], tf.float32)
    assert tf.SparseTensorSpec([1, 2], 3).dtype is tf.int32
    assert tf.RaggedTensorSpec([1, None], 3, row_splits_dtype=9).dtype is tf.int32
    assert tf.IndexedSlicesSpec([1, 2], 1, 9).indices_dtype is tf.int64
    assert tf.layers.InputSpec(dtype=1).dtype == "float32"


def test_a_message_of_a_value_takes_the_type_by_number() -> None:
    assert tf.make_tensor_proto([1, 2], 2) == tf.make_tensor_proto([1, 2], tf.float64)


@pytest.mark.parametrize("number", [0, 34, 100, 134, -1, 1 << 40, True, False])
def test_a_number_of_no_type_is_refused(number: int) -> None:
    with pytest.raises(TypeError, match=rf"{number} is not a data type: their numbers are 1 to 33"):
        tf.as_dtype(number)
