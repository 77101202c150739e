"""Ragged tensors beside TensorFlow's: the same nodes, the same results."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise
from tensorkeep.tf1.functions.ragged import (
    arrays,
    crosses,
    dispatch,
    factories,
    ragged_strings,
    ragged_tensor,
    row_partition,
)
from tests.interop.programs import build, our_names, tensorflow_1, v1

Program = Callable[[Any], Any]
RAGGED = {name: getattr(factories, name) for name in factories.__all__}
STRINGS = {name: getattr(ragged_strings, name) for name in ragged_strings.__all__}
OURS = our_names(
    shapes,
    elementwise,
    reverse_walk,
    dispatch,
    RaggedTensor=ragged_tensor.RaggedTensor,
    string_split=ragged_strings.string_split,
    nn=SimpleNamespace(relu=dispatch.relu),
    math=SimpleNamespace(
        reduce_variance=dispatch.reduce_variance,
        reduce_std=dispatch.reduce_std,
        unsorted_segment_sum=dispatch.unsorted_segment_sum,
    ),
    strings=SimpleNamespace(
        **STRINGS,
        split=ragged_strings.strings_split,
        lower=dispatch.string_lower,
        length=dispatch.string_length,
        join=dispatch.string_join,
        reduce_join=dispatch.reduce_join,
        substr=dispatch.substr,
        regex_replace=dispatch.regex_replace,
        to_hash_bucket_fast=dispatch.string_to_hash_bucket_fast,
    ),
    ragged=SimpleNamespace(
        **RAGGED,
        stack=arrays.stack,
        cross=crosses.cross,
        cross_hashed=crosses.cross_hashed,
        stack_dynamic_partitions=crosses.stack_dynamic_partitions,
        boolean_mask=arrays.boolean_mask,
        row_splits_to_segment_ids=row_partition.row_splits_to_segment_ids,
        segment_ids_to_row_splits=row_partition.segment_ids_to_row_splits,
    ),
)

ROWS = [[1, 2], [], [3, 4, 5]]
DEEP = [[[1, 2], [3]], [], [[], [4, 5, 6]]]


def values_and_splits(tf: Any) -> tuple[Any, Any]:
    return tf.constant([1.0, 2.0, 3.0, 4.0, 5.0]), tf.constant([0, 2, 2, 5], tf.int64)


MAKING: dict[str, Program] = {
    "constants": lambda tf: [
        tf.ragged.constant(ROWS),
        tf.ragged.constant(DEEP, dtype=tf.float32, name="deep"),
        tf.ragged.constant([[[1, 2]], []], ragged_rank=1),
        tf.ragged.constant([["a"], []], row_splits_dtype=tf.int32),
        tf.ragged.constant([[], []], dtype=tf.int32),
        tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,)),
        tf.ragged.constant(5),
        tf.ragged.constant([1, 2]),
    ],
    "splits": lambda tf: [
        tf.RaggedTensor.from_row_splits(*values_and_splits(tf)),
        tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 3], name="named", validate=False),
        tf.RaggedTensor.from_row_splits(tf.constant([1, 2]), tf.placeholder(tf.int32, [None]), validate=False).values,
    ],
    "lengths": lambda tf: [
        tf.RaggedTensor.from_row_lengths(tf.constant([1, 2, 3]), [1, 0, 2]),
        tf.RaggedTensor.from_row_lengths([1, 2, 3], [3], validate=False),
    ],
    "row_ids": lambda tf: [
        tf.RaggedTensor.from_value_rowids(tf.constant([1, 2, 3]), [0, 0, 2]),
        tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=5, validate=False),
        tf.RaggedTensor.from_value_rowids([1, 2, 3], tf.stack([0, 0, 2]), validate=False),
    ],
    "starts_and_limits": lambda tf: [
        tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1, 1]),
        tf.RaggedTensor.from_row_limits([1, 2, 3], [1, 1, 3]),
    ],
    "uniform": lambda tf: [
        tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2),
        tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3]]), 1),
        tf.RaggedTensor.from_uniform_row_length(tf.constant([1, 2, 3, 4]), tf.stack([2, 1])[0] + 0),
        tf.RaggedTensor.from_uniform_row_length(np.zeros([0], np.int32), 0, nrows=3),
    ],
    "nested": lambda tf: [
        tf.RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 1, 3]]),
        tf.RaggedTensor.from_nested_row_lengths([1, 2, 3], [[1, 1], [1, 2]], name="lengths"),
        tf.RaggedTensor.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 1, 1]], [3, 2]),
    ],
    "dense": lambda tf: [
        tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]]),
        tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[2, 1]),
        tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0),
        tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2, name="deep"),
        tf.RaggedTensor.from_tensor([[[1, 2], [3, 4]]], lengths=([2], [1, 2])),
    ],
    "of_unknown_shape": lambda tf: [
        tf.RaggedTensor.from_tensor(tf.placeholder_with_default([[1, 2], [3, 4]], [None, None])),
        tf.RaggedTensor.from_tensor(
            tf.placeholder_with_default([[[1, 2]], [[3, 4]]], [None, None, None]), ragged_rank=2
        ),
    ],
    "ranges": lambda tf: [
        tf.ragged.range([3, 0, 2]),
        tf.ragged.range([1, 5], [4, 2], 1, name="steps"),
        tf.ragged.range(tf.constant([1, 5], tf.int64), 8, 2, row_splits_dtype=tf.int32),
        tf.ragged.range([0.0], [1.0], 0.25),
    ],
    "segments": lambda tf: [
        tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5]),
        tf.ragged.row_splits_to_segment_ids(tf.constant([0, 1]), out_type=tf.int64, name="ids"),
        tf.ragged.segment_ids_to_row_splits([0, 0, 2]),
        tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5, out_type=tf.int64),
    ],
    "mapped": lambda tf: [
        tf.ragged.map_flat_values(tf.add, tf.ragged.constant(ROWS), 1),
        tf.ragged.map_flat_values(tf.multiply, tf.ragged.constant(ROWS), tf.ragged.constant(ROWS)),
    ],
}


def ragged(tf: Any) -> Any:
    return tf.ragged.constant(ROWS)


def deep(tf: Any) -> Any:
    return tf.ragged.constant(DEEP)


def by_rows(tf: Any) -> Any:
    return tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4)


PARTS: dict[str, Program] = {
    "parts": lambda tf: [
        part
        for one in (ragged(tf), deep(tf), by_rows(tf))
        for part in (
            one.values,
            one.flat_values,
            one.row_splits,
            *one.nested_row_splits,
            one.value_rowids(),
            *one.nested_value_rowids(),
            one.nrows(),
            one.nrows(tf.int32),
            one.row_starts(),
            one.row_limits(),
            one.row_lengths(),
            *one.nested_row_lengths(),
        )
    ],
    "inner_lengths": lambda tf: [deep(tf).row_lengths(axis=2), deep(tf).row_lengths(axis=0)],
    "bounding_shapes": lambda tf: [
        deep(tf).bounding_shape(),
        deep(tf).bounding_shape(axis=0),
        deep(tf).bounding_shape(axis=1),
        deep(tf).bounding_shape(axis=2, out_type=tf.int32),
    ],
    "changed": lambda tf: [
        ragged(tf).with_values(tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])),
        deep(tf).with_flat_values(tf.constant(["a", "b", "c", "d", "e", "f"])),
        deep(tf).with_row_splits_dtype(tf.int32),
        deep(tf).merge_dims(0, 1),
        deep(tf).merge_dims(1, 2),
        tf.RaggedTensor.from_row_splits([[1, 2], [3, 4]], [0, 1, 2]).merge_dims(1, 2),
    ],
    "to_dense": lambda tf: [
        ragged(tf).to_tensor(),
        ragged(tf).to_tensor(default_value=-1, name="dense"),
        ragged(tf).to_tensor(shape=[None, 2]),
        ragged(tf).to_tensor(shape=[4, tf.constant(2)]),
        deep(tf).to_tensor(),
        by_rows(tf).to_tensor(),
        tf.ragged.constant([["a"], []]).to_tensor("?"),
    ],
    "to_sparse": lambda tf: [part for one in (ragged(tf), deep(tf)) for part in sparse_parts(one.to_sparse())],
    "from_sparse": lambda tf: tf.RaggedTensor.from_sparse(ragged(tf).to_sparse()),
}


ELEMENTS: dict[str, Program] = {
    "unary": lambda tf: [
        tf.abs(-ragged(tf)),
        tf.cast(deep(tf), tf.float32),
        tf.zeros_like(ragged(tf)),
        tf.square(tf.cast(ragged(tf), tf.float32), name="s"),
        tf.nn.relu(tf.ragged.constant([[-1.0, 2.0], [3.0]])),
        ~tf.ragged.constant([[True], [False, True]]),
    ],
    "beside_scalars": lambda tf: [
        ragged(tf) + 1,
        2 * ragged(tf),
        ragged(tf) - 3,
        1 - ragged(tf),
        ragged(tf) / 2,
        ragged(tf) // 2,
        ragged(tf) % 2,
        ragged(tf) ** 2,
        ragged(tf) > 2,
        ragged(tf) <= 3,
        tf.equal(ragged(tf), 4),
        tf.maximum(3, ragged(tf)),
    ],
    "reduced": lambda tf: [
        reduce(one, axis)
        for reduce in (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_prod, tf.reduce_mean)
        for one in (tf.cast(ragged(tf), tf.float32), tf.cast(deep(tf), tf.float32))
        for axis in (None, 0, 1, -1)
    ],
    "reduced_along_several": lambda tf: [
        tf.reduce_sum(deep(tf), [0, 2]),
        tf.reduce_sum(ragged(tf), 1, keepdims=True),
        tf.reduce_sum(ragged(tf), keepdims=True),
        tf.reduce_sum(ragged(tf), 0, keepdims=True, name="s"),
        tf.reduce_any(tf.ragged.constant([[True], [False, True]]), 1),
        tf.reduce_all(tf.ragged.constant([[True], [False, True]]), 0),
    ],
    "variances": lambda tf: [
        tf.math.reduce_variance(tf.ragged.constant([[1.0, 3.0], [5.0]]), 1),
        tf.math.reduce_std(tf.ragged.constant([[1.0, 3.0], [5.0]]), 0),
    ],
    "segments": lambda tf: tf.math.unsorted_segment_sum(ragged(tf), [0, 1, 0], 2),
    "sums": lambda tf: [tf.add_n([ragged(tf), ragged(tf)]), tf.cumsum(ragged(tf), 1), tf.cumsum(ragged(tf), 1, True)],
}

STRETCHED: dict[str, Program] = {
    "gathered": lambda tf: [
        tf.gather(ragged(tf), tf.ragged.constant([[1], [], [0, 2]]), axis=1, batch_dims=1),
        tf.gather(tf.ragged.constant([[1, 2], [3, 4]]), [1, 0], axis=1),
    ],
    "gradient": lambda tf: gradient_of_dense(tf, tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])),
    "of_two": lambda tf: [
        ragged(tf) + ragged(tf),
        tf.multiply(deep(tf), deep(tf)),
        tf.logical_and(tf.ragged.constant([[True], []]), tf.ragged.constant([[False], []])),
    ],
    "stretched": lambda tf: [
        ragged(tf) + tf.constant([[10], [20], [30]]),
        tf.constant([[10], [20], [30]]) + ragged(tf),
        deep(tf) * tf.constant(2),
        ragged(tf) * tf.constant([[1], [2], [3]]),
    ],
}

ARRAYS: dict[str, Program] = {
    "gathered": lambda tf: [
        tf.gather(ragged(tf), [2, 0]),
        tf.gather(deep(tf), [[2, 0], [0, 1]]),
        tf.gather(tf.constant([5, 6, 7]), tf.ragged.constant([[0], [2, 1]])),
        tf.gather(ragged(tf), tf.ragged.constant([[0], [2, 1]])),
    ],
    "joined": lambda tf: [
        tf.concat([ragged(tf), ragged(tf)], axis=0),
        tf.concat([ragged(tf), ragged(tf)], axis=1),
        tf.concat([deep(tf), deep(tf)], axis=0),
        tf.concat([ragged(tf), tf.constant([[7], [8], [9]])], axis=1),
    ],
    "stacked": lambda tf: [
        tf.stack([ragged(tf), ragged(tf)]),
        tf.stack([ragged(tf), ragged(tf)], axis=1),
        tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])]),
    ],
    "expanded": lambda tf: [
        tf.expand_dims(ragged(tf), 0),
        tf.expand_dims(ragged(tf), 1),
        tf.expand_dims(ragged(tf), -1),
        tf.tile(ragged(tf), [2, 3]),
        tf.tile(deep(tf), [1, 2, 1]),
        tf.size(ragged(tf)),
        tf.rank(deep(tf)),
    ],
    "crossed": lambda tf: [
        tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.constant([["x", "y"], ["z", "u"]])]),
        tf.ragged.cross_hashed([tf.ragged.constant([[1], [2, 3]]), tf.constant([["x"], ["z"]])], num_buckets=100),
        tf.ragged.cross([tf.ragged.constant([["a"], ["b"]]).to_sparse(), tf.ragged.constant([[1], [2]])], name="c"),
    ],
    "stacked_by_partition": lambda tf: [
        tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [1, 0, 1, 3], 5),
        tf.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1], [1, 0]], 3, name="s"),
    ],
    "masked": lambda tf: [
        tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]),
        tf.ragged.boolean_mask(ragged(tf), [True, False, True]),
        tf.ragged.boolean_mask(ragged(tf), tf.ragged.constant([[True, False], [], [False, True, True]])),
        tf.where(tf.ragged.constant([[True, False], [], [True]])),
        tf.where([True, False, True], ragged(tf), ragged(tf)),
    ],
}

INDEXING: dict[str, Program] = {
    "rows": lambda tf: [ragged(tf)[0], ragged(tf)[-1], deep(tf)[0], deep(tf)[2, 1], deep(tf)[2, 1, 0]],
    "slices": lambda tf: [ragged(tf)[1:], ragged(tf)[:2], ragged(tf)[::2], ragged(tf)[::-1], deep(tf)[1:, :1]],
    "columns": lambda tf: [
        ragged(tf)[:, :2],
        ragged(tf)[:, 1:],
        ragged(tf)[:, -2:],
        ragged(tf)[:, ::-1],
        deep(tf)[:, :, :1],
        deep(tf)[..., :1],
        ragged(tf)[:, tf.constant(1) :],
    ],
    "new_axes": lambda tf: [ragged(tf)[tf.newaxis], ragged(tf)[:, tf.newaxis], ragged(tf)[..., tf.newaxis]],
    "uniform": lambda tf: [
        tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [4], []]), 2)[:, 1],
        tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3], [4], []]), 2)[1:],
    ],
}

TEXTS = ["a b", "", "c  d e"]

TEXT: dict[str, Program] = {
    "split": lambda tf: [
        tf.strings.split(TEXTS, result_type="RaggedTensor"),
        tf.strings.split([TEXTS, TEXTS], " ", result_type="RaggedTensor", name="deep"),
        tf.strings.split("a b", result_type="RaggedTensor"),
        *sparse_parts(tf.strings.split([["a b"], ["c"]])),
        *sparse_parts(tf.strings.split(TEXTS, maxsplit=1)),
        tf.string_split(TEXTS, result_type="RaggedTensor"),
        *sparse_parts(tf.string_split(TEXTS, " ", skip_empty=False, name="s")),
        tf.strings.split(tf.ragged.constant([["a b"], []]), result_type="RaggedTensor"),
    ],
    "bytes": lambda tf: [
        tf.strings.bytes_split("abc"),
        tf.strings.bytes_split(TEXTS),
        tf.strings.bytes_split([["ab"], ["c"]]),
        tf.strings.bytes_split(tf.ragged.constant([["ab"], []]), name="b"),
    ],
    "decoded": lambda tf: [
        tf.strings.unicode_decode("äb", "UTF-8"),
        tf.strings.unicode_decode(["äb", "", "x"], "UTF-8", name="d"),
        tf.strings.unicode_decode([["äb", ""], ["x", "y"]], "UTF-8", errors="ignore"),
        tf.strings.unicode_decode(tf.ragged.constant([["ab"], []]), "UTF-8", replace_control_characters=True),
        *tf.strings.unicode_decode_with_offsets("äb", "UTF-8"),
        *tf.strings.unicode_decode_with_offsets(["äb", "", "x"], "UTF-8", replacement_char=63),
    ],
    "split_into_characters": lambda tf: [
        tf.strings.unicode_split("äb", "UTF-8"),
        tf.strings.unicode_split(["äb", "", "x"], "UTF-8"),
        *tf.strings.unicode_split_with_offsets(["äb", "", "x"], "UTF-8", name="s"),
    ],
    "encoded": lambda tf: [
        tf.strings.unicode_encode([228, 98], "UTF-8"),
        tf.strings.unicode_encode([[228, 98], [99, 100]], "UTF-16-BE"),
        tf.strings.unicode_encode(tf.ragged.constant([[228], [98, 99]]), "UTF-32-BE", errors="ignore"),
        tf.strings.unicode_encode(tf.ragged.constant([[[228], [98]], [[99]]]), "UTF-8", name="e"),
        tf.strings.unicode_encode([[[97, 98]], [[99, 100]]], "UTF-8"),
        tf.strings.unicode_transcode(["ä"], "UTF-8", "UTF-16-BE"),
        tf.strings.unicode_script([97, 1080]),
    ],
    "ngrams": lambda tf: [
        tf.strings.ngrams(["a", "b", "c"], 2),
        tf.strings.ngrams([["a", "b"], ["c", "d"]], 2, separator="-"),
        tf.strings.ngrams(tf.ragged.constant([["a", "b", "c"], ["d"]]), [1, 2], pad_values=("<", ">")),
        tf.strings.ngrams(tf.ragged.constant([["a"], ["d"]]), 3, pad_values="p", padding_width=1, name="n"),
        tf.strings.ngrams(tf.ragged.constant([["a"], ["d"]]), 3, preserve_short_sequences=True),
        tf.strings.ngrams(tf.ragged.constant([[["a", "b"]], [["d"]]]), 2),
    ],
    "ragged_text": lambda tf: [
        tf.strings.lower(tf.ragged.constant([["A", "B"], []])),
        tf.strings.length(tf.ragged.constant([["A", "BC"], []])),
        tf.strings.substr(tf.ragged.constant([["abc", "bcd"], []]), 1, 2),
        tf.strings.regex_replace(tf.ragged.constant([["abc", "bcd"], []]), "b", "x"),
        tf.strings.join([tf.ragged.constant([["a"], ["b"]]), tf.ragged.constant([["c"], ["d"]])], "-"),
        tf.strings.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), axis=1, separator=" "),
        tf.strings.to_hash_bucket_fast(tf.ragged.constant([["a", "b"], ["c"]]), 10),
    ],
}


def gradient_of_dense(tf: Any, x: Any) -> Any:
    dense = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5]).to_tensor(default_value=tf.reduce_sum(x))
    return tf.gradients(dense * dense, [x])


def sparse_parts(sparse: Any) -> Any:
    return [sparse.indices, sparse.values, sparse.dense_shape]


def leaves(value: Any) -> list[Any]:
    """The parts of ragged values, and other values, one after the other."""
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "nested_row_splits"):
        return [*value.nested_row_splits, value.flat_values]
    return [value]


def expect_same(program: Program, feeds: Any = None) -> None:
    built = build(program, OURS)
    for ours, theirs in built.run(feeds=feeds):
        for mine, other in zip(leaves(ours), leaves(theirs), strict=True):
            mine, other = np.asarray(mine), np.asarray(other)
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", sorted(MAKING))
def test_ragged_tensors_are_made_as_tensorflow_makes_them(name: str) -> None:
    expect_same(MAKING[name])


@pytest.mark.parametrize("name", sorted(PARTS))
def test_the_parts_of_ragged_tensors_are_tensorflows(name: str) -> None:
    expect_same(PARTS[name])


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_functions_of_ragged_tensors_are_tensorflows(name: str) -> None:
    expect_same(ELEMENTS[name])


@pytest.mark.parametrize("name", sorted(STRETCHED))
def test_ragged_tensors_are_stretched_to_one_shape_with_tensorflows_results(name: str) -> None:
    """By the nodes of TensorFlow 1.15, which are others than those of later versions."""
    graph = Graph()
    with building(graph):
        ours = Session(graph).run(STRETCHED[name](OURS))
    with tensorflow_1(), tf.Graph().as_default() as their_graph:
        made = STRETCHED[name](v1)
        with v1.Session(graph=their_graph) as session:
            theirs = session.run(made)
    for mine, other in zip(leaves(ours), leaves(theirs), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_ragged_tensors_are_gathered_and_joined_as_tensorflow_does(name: str) -> None:
    expect_same(ARRAYS[name])


@pytest.mark.parametrize("name", sorted(INDEXING))
def test_ragged_tensors_are_indexed_as_tensorflow_does(name: str) -> None:
    expect_same(INDEXING[name])


@pytest.mark.parametrize("name", sorted(TEXT))
def test_text_is_split_and_decoded_as_tensorflow_does(name: str) -> None:
    expect_same(TEXT[name])


def test_ragged_tensors_are_fed_and_fetched() -> None:
    def program(tf: Any) -> Any:
        fed = tf.ragged.placeholder(tf.int32, 2, name="fed")
        tf.identity(fed.flat_values, name="values")
        return fed, fed.to_tensor()

    built = build(program, OURS)
    value = factories.constant_value(DEEP, dtype=np.int32)
    ours = Session(built.graph).run(built.result, {built.result[0]: value})
    with tensorflow_1(), v1.Session(graph=built.their_graph) as session:
        theirs = session.run(
            built.their_result, {built.their_result[0]: v1.ragged.constant_value(DEEP, dtype=np.int32)}
        )
    assert ours[0].to_list() == theirs[0].to_list() == DEEP
    assert str(ours[0]) == str(theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize(
    "program",
    [
        lambda tf, x: tf.gather(tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5]), [2, 0, 2]).values,
        lambda tf, x: tf.reduce_sum(tf.RaggedTensor.from_row_lengths(x, [2, 0, 3]) * 2.0, 1),
        lambda tf, x: tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5]).to_sparse().values,
    ],
)
def test_gradients_of_ragged_tensors_are_tensorflows(program: Any) -> None:
    def gradient(tf: Any) -> Any:
        x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
        found = tf.gradients(program(tf, x), x)[0]
        return found.values if hasattr(found, "indices") else found

    expect_same(gradient)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("rows", [ROWS, DEEP])
def test_ragged_tensors_become_variants_and_come_back(rows: Any, batched: bool) -> None:
    def program(tf: Any) -> Any:
        given = tf.ragged.constant(rows, dtype=tf.float32)
        variant = given._to_variant(batched_input=batched)
        back = tf.RaggedTensor._from_variant(variant, tf.float32, output_ragged_rank=given.ragged_rank)
        return [back, tf.gradients(tf.square(back.flat_values), given.flat_values)[0]]

    expect_same(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1]),
        lambda tf: tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 3]),
        lambda tf: tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1]),
        lambda tf: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 1, 0]),
        lambda tf: tf.RaggedTensor.from_tensor([1, 2]),
        lambda tf: tf.RaggedTensor.from_uniform_row_length([1, 2, 3], 2),
        lambda tf: tf.ragged.constant([[1], 2]),
        lambda tf: tf.ragged.constant([[1, 2], [[3]]]),
        lambda tf: ragged(tf)[0, 0, 0],
        lambda tf: ragged(tf)[:, 0],
        lambda tf: ragged(tf) + tf.ragged.constant([[1], [2], [3]]),
        lambda tf: tf.concat([ragged(tf), tf.ragged.constant([[1]])], axis=1),
        lambda tf: tf.gather(ragged(tf), [3]),
        lambda tf: tf.strings.ngrams(["a"], 0),
        lambda tf: bool(ragged(tf)),
    ],
)
def test_what_is_no_ragged_tensor_is_refused_by_both(program: Program) -> None:
    with pytest.raises((TypeError, ValueError, IndexError, tf.errors.InvalidArgumentError)), tensorflow_1():
        run_theirs(program)
    graph = Graph()
    with pytest.raises((TensorKeepError, IndexError)), building(graph):
        Session(graph).run(program(OURS))


def run_theirs(program: Program) -> None:
    with tf.Graph().as_default() as graph:
        made = program(v1)
        with v1.Session(graph=graph) as session:
            session.run(made)
