"""Parsing functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.ops.parsing.serialization import deserialize_sparse, serialize_sparse
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.parsing import decoding, examples
from tensorkeep.tf1.functions.parsing.feature_configs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from tests.ops.samples.parsing.examples import example
from tests.ops.samples.parsing.sequence_examples import sequence

TWO = [example(age=[7], words=[b"a", b"b"], weights=[0.5, 0.25]), example(age=[8])]


def ran(make: Any) -> Any:
    with building(Graph()) as graph:
        made = make()
    return Session(graph).run(made)


def test_a_batch_becomes_a_tensor_for_each_feature() -> None:
    found = ran(
        lambda: examples.parse_example(
            TWO,
            {
                "age": FixedLenFeature([], "int64"),
                "words": VarLenFeature("string"),
                "weights": FixedLenSequenceFeature([], "float32", allow_missing=True, default_value=-1.0),
                "size": FixedLenFeature([2], "float32", default_value=[1, 2]),
            },
        )
    )
    assert found["age"].tolist() == [7, 8]
    assert found["words"].indices.tolist() == [[0, 0], [0, 1]]
    assert found["words"].values.tolist() == [b"a", b"b"]
    assert found["words"].dense_shape.tolist() == [2, 2]
    assert found["weights"].tolist() == [[0.5, 0.25], [-1, -1]]
    assert found["size"].tolist() == [[1, 2], [1, 2]]


def test_the_shapes_of_what_will_be_parsed_are_known_before() -> None:
    with building(Graph()):
        serialized = placeholder(dtype="string", shape=[None])
        found = examples.parse_example(
            serialized, {"a": FixedLenFeature([2, 3], "int64"), "b": VarLenFeature("string")}
        )
    assert found["a"].static_shape.dims == (None, 2, 3)
    assert found["b"].indices.static_shape.dims == (None, 2)


def test_an_empty_batch_has_no_rows() -> None:
    found = ran(
        lambda: examples.parse_example(
            np.empty(0, object), {"a": FixedLenFeature([2], "float32"), "b": VarLenFeature("int64")}
        )
    )
    assert found["a"].shape == (0, 2)
    assert found["b"].dense_shape.tolist() == [0, 0]


def test_a_single_example_has_no_dimension_for_a_batch() -> None:
    features = {"age": FixedLenFeature([], "int64"), "words": VarLenFeature("string")}
    found = ran(lambda: examples.parse_single_example(TWO[0], features))
    assert found["age"] == 7
    assert found["words"].indices.tolist() == [[0], [1]]


def test_features_make_up_sparse_and_ragged_tensors() -> None:
    data = [example(at=[3, 1], v=[1.0, 2.0], n=[1, 1]), example(at=[0], v=[5.0], n=[0, 1])]
    features = {
        "sparse": SparseFeature("at", "v2", "float32", 10),
        "ragged": RaggedFeature("float32", "v", [RaggedFeature.RowLengths("n")]),
    }
    with pytest.raises(InvalidArgumentError, match="must not intersect"):
        ran(lambda: examples.parse_example(data, {**features, "sparse": SparseFeature("at", "v", "float32", 10)}))
    found = ran(lambda: examples.parse_example(data, {"s": SparseFeature("at", "v", "float32", 10)}))["s"]
    assert found.indices.tolist() == [[0, 1], [0, 3], [1, 0]]
    assert found.values.tolist() == [2, 1, 5]
    with building(Graph()) as graph:
        ragged = examples.parse_example(data, {"r": features["ragged"]})["r"]
        parts = [ragged.flat_values, *ragged.nested_row_splits]
    values, outer, inner = Session(graph).run(parts)
    assert values.tolist() == [1, 2, 5]
    assert outer.tolist() == [0, 2, 4]
    assert inner.tolist() == [0, 1, 2, 2, 3]


def test_sequences_are_padded_and_their_lengths_told() -> None:
    data = [sequence({"id": [1]}, x=[[1.0, 2.0], [3.0, 4.0]]), sequence({"id": [2]}, x=[[5.0, 6.0]])]
    context, lists, lengths = ran(
        lambda: examples.parse_sequence_example(
            data, {"id": FixedLenFeature([], "int64")}, {"x": FixedLenSequenceFeature([2], "float32")}
        )
    )
    assert context["id"].tolist() == [1, 2]
    assert lists["x"].tolist() == [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]
    assert lengths["x"].tolist() == [2, 1]
    _, single = ran(lambda: examples.parse_single_sequence_example(data[1], None, {"x": VarLenFeature("float32")}))
    assert single["x"].dense_shape.tolist() == [1, 2]


def test_descriptions_of_ragged_features_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match="must be int64, float32, or bytes"):
        RaggedFeature("int32")
    with pytest.raises(InvalidArgumentError, match="row_splits_dtype"):
        RaggedFeature("int64", row_splits_dtype="float32")
    with pytest.raises(InvalidArgumentError, match="must not be empty"):
        RaggedFeature("int64", "")
    with pytest.raises(InvalidArgumentError, match="must be a string"):
        RaggedFeature("int64", 5)
    with pytest.raises(WrongTypeError, match="list or tuple"):
        RaggedFeature("int64", partitions=5)
    with pytest.raises(WrongTypeError, match="cannot be cast"):
        RaggedFeature("int64", partitions=[5])
    with pytest.raises(WrongTypeError, match="bool"):
        RaggedFeature("int64", validate=1)


def test_tensors_and_sparse_tensors_come_back_from_bytes() -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert ran(lambda: decoding.parse_tensor(decoding.serialize_tensor(array), "int16")).tolist() == array.tolist()

    def sparse(out_type: str) -> Any:
        tensor = SparseTensor([[0, 1], [2, 0]], ["a", "b"], [3, 4])
        return decoding.serialize_many_sparse(tensor, out_type=out_type)

    found = ran(lambda: decoding.deserialize_many_sparse(sparse("string"), "string", rank=2))
    assert found.indices.tolist() == [[0, 1], [2, 0]]
    assert found.values.tolist() == [b"a", b"b"]
    assert found.dense_shape.tolist() == [3, 4]


def test_sparse_tensors_pass_through_variants() -> None:
    def program() -> Any:
        shape = np.array([3], np.int64)
        variant = serialize_sparse(np.array([[1]], np.int64), [2.5], shape, out_type="variant")
        return list(deserialize_sparse(variant, dtype="float32"))

    indices, values, sizes = ran(program)
    assert (indices.tolist(), values.tolist(), sizes.tolist()) == ([[1]], [2.5], [3])


def test_what_cannot_be_decoded_says_so() -> None:
    with pytest.raises(DataLossError, match="inflate"):
        ran(lambda: decoding.decode_compressed("junk", "ZLIB"))
    with pytest.raises(UnimplementedError, match="ZSTD"):
        ran(lambda: decoding.decode_compressed("junk", "ZSTD"))
    with pytest.raises(InvalidArgumentError, match="Field 0 in record 1 is not a valid int32: x"):
        ran(lambda: decoding.decode_csv(["1", "x"], [[0]]))
    with pytest.raises(InvalidArgumentError, match="no such field: 'x'"):
        ran(lambda: decoding.decode_json_example('{"x": {}}'))
    with pytest.raises(InvalidArgumentError, match="Type mismatch"):
        ran(lambda: decoding.parse_tensor(decoding.serialize_tensor([1.0]), "int32"))
