"""Embedding lookups beside TensorFlow's: the same nodes, gradients among them, and the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorkeep.tf1.functions.embedding import lookups
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.numbers import elementwise
from tensorkeep.tf1.functions.sparse import tensors
from tensorkeep.tf1.variables import listing, partitioners, scopes
from tensorkeep.tf1.variables.variable import Variable
from tests.interop.programs import build, our_names, v1

OURS = our_names(
    tensors,
    partitioners,
    listing,
    scopes,
    Variable=Variable,
    gradients=reverse_walk.gradients,
    square=elementwise.square,
    nn=SimpleNamespace(**{name: getattr(lookups, name) for name in lookups.__all__}),
)
Program = Callable[[Any], Any]

TABLE = np.arange(22, dtype=np.float32).reshape(11, 2) / 7 - 1
IDS = np.array([[3, 0, 10], [7, 3, 4]], np.int64)


def _variable(tf: Any, use_resource: bool = False, parts: int | None = None) -> Any:
    partitioner = None if parts is None else tf.fixed_size_partitioner(parts)
    return tf.get_variable("table", [11, 2], initializer=_initial, use_resource=use_resource, partitioner=partitioner)


def _initial(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    start = 0 if partition_info is None else partition_info.var_offset[0]
    return TABLE[start : start + int(shape[0])]


def _shards(tf: Any, sizes: tuple[int, ...] = (4, 4, 3)) -> list[Any]:
    starts = np.cumsum((0, *sizes))
    return [tf.constant(TABLE[start : start + count]) for start, count in zip(starts, sizes, strict=False)]


def _ids(tf: Any) -> Any:
    return tf.SparseTensor(tf.placeholder(tf.int64, [None, 2], "at"), tf.placeholder(tf.int64, [None], "ids"), [4, 3])


def _weights(tf: Any) -> Any:
    indices = tf.placeholder(tf.int64, [None, 2], "weights_at")
    return tf.SparseTensor(indices, tf.placeholder(tf.float32, [None], "weights"), [4, 3])


AT = [[0, 0], [0, 1], [1, 0], [3, 2]]
FEEDS = {"at:0": AT, "ids:0": [3, 7, 3, 10], "weights_at:0": AT, "weights:0": [0.5, 2.0, 1.5, -1.0]}
WILD_FEEDS = {**FEEDS, "ids:0": [3, -1, 3, 10]}


DENSE: dict[str, Program] = {
    "a tensor": lambda tf: tf.nn.embedding_lookup(tf.constant(TABLE), IDS),
    "an array": lambda tf: tf.nn.embedding_lookup(TABLE, [1, 2], name="rows"),
    "a reference variable": lambda tf: tf.nn.embedding_lookup(_variable(tf), IDS),
    "a resource variable": lambda tf: tf.nn.embedding_lookup(_variable(tf, use_resource=True), IDS),
    "one id": lambda tf: tf.nn.embedding_lookup(_variable(tf), 3),
    "shards, mod": lambda tf: tf.nn.embedding_lookup(_shards(tf), IDS),
    "shards, div": lambda tf: tf.nn.embedding_lookup(_shards(tf), IDS, "div", name="rows"),
    "a partitioned variable, mod": lambda tf: tf.nn.embedding_lookup(_variable(tf, parts=3), IDS),
    "a partitioned variable, div": lambda tf: tf.nn.embedding_lookup(
        _variable(tf, parts=3), IDS, partition_strategy="div"
    ),
    "partitioned resources, div": lambda tf: tf.nn.embedding_lookup(
        _variable(tf, True, 3), IDS, partition_strategy="div"
    ),
    "clipped": lambda tf: tf.nn.embedding_lookup(_variable(tf), IDS, max_norm=0.5),
    "clipped shards": lambda tf: tf.nn.embedding_lookup(_shards(tf), IDS, max_norm=0.5),
    "int32 ids": lambda tf: tf.nn.embedding_lookup(_shards(tf), IDS.astype(np.int32), "div"),
}


def _combined(combiner: str, weighted: bool, **options: Any) -> Program:
    def program(tf: Any) -> Any:
        weights = _weights(tf) if weighted else None
        return tf.nn.embedding_lookup_sparse(_variable(tf, **options), _ids(tf), weights, combiner=combiner)

    return program


KINDS: dict[str, dict[str, Any]] = {"reference": {}, "resource": {"use_resource": True}, "shards": {"parts": 3}}

SPARSE: dict[str, Program] = {
    **{
        f"{combiner}, {'weighted' if weighted else 'plain'}, {kind}": _combined(combiner, weighted, **options)
        for combiner in ("sum", "mean", "sqrtn")
        for weighted in (False, True)
        for kind, options in KINDS.items()
    },
    "a tensor": lambda tf: tf.nn.embedding_lookup_sparse(tf.constant(TABLE), _ids(tf), None),
    "an array": lambda tf: tf.nn.embedding_lookup_sparse(TABLE, _ids(tf), None, combiner="sum", name="e"),
    "clipped": lambda tf: tf.nn.embedding_lookup_sparse(_variable(tf), _ids(tf), None, combiner="sum", max_norm=0.5),
    "fast": lambda tf: tf.nn.embedding_lookup_sparse(
        _variable(tf), _ids(tf), _weights(tf), combiner="mean", allow_fast_lookup=True
    ),
    "div": lambda tf: tf.nn.embedding_lookup_sparse(_variable(tf, parts=3), _ids(tf), None, "div"),
    "safe": lambda tf: tf.nn.safe_embedding_lookup_sparse(_variable(tf), _ids(tf)),
    "safe, resource": lambda tf: tf.nn.safe_embedding_lookup_sparse(_variable(tf, True), _ids(tf)),
    "safe, shards": lambda tf: tf.nn.safe_embedding_lookup_sparse(_variable(tf, parts=3), _ids(tf), combiner="sum"),
    "safe, weighted": lambda tf: tf.nn.safe_embedding_lookup_sparse([_variable(tf)], _ids(tf), _weights(tf)),
    "safe, default": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        _variable(tf), _ids(tf), _weights(tf), combiner="sqrtn", default_id=2, name="safe"
    ),
    "safe, rank 3": lambda tf: tf.nn.safe_embedding_lookup_sparse(
        _variable(tf), tf.sparse_placeholder(tf.int64, [2, None, 3], "cube")
    ),
}


CUBE = {"cube/indices:0": [[0, 0, 0], [1, 1, 2]], "cube/values:0": [1, 5], "cube/shape:0": [2, 2, 3]}


def _check(program: Program) -> None:
    def whole(tf: Any) -> Any:
        found = program(tf)
        tf.global_variables_initializer()
        return found

    built = build(whole, OURS)
    names = {op.name for op in built.graph.operations}
    for feeds in (FEEDS, WILD_FEEDS) if "embedding_lookup/SparseReshape" in names else (FEEDS,):
        given = {key: value for key, value in {**feeds, **CUBE}.items() if key[:-2] in names}
        for ours, theirs in built.run(feeds=given, prepare="init"):
            _same(ours, theirs)


def _same(ours: Any, theirs: Any) -> None:
    if isinstance(ours, list | tuple):
        for mine, other in zip(ours, theirs, strict=True):
            if other is not None:
                _same(mine, other)
        return
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(DENSE))
def test_lookups_are_tensorflows(name: str) -> None:
    _check(DENSE[name])


@pytest.mark.parametrize("name", sorted(SPARSE))
def test_lookups_by_sparse_ids_are_tensorflows(name: str) -> None:
    _check(SPARSE[name])


@pytest.mark.parametrize("name", sorted([*DENSE, *SPARSE]))
def test_gradients_of_lookups_are_tensorflows(name: str) -> None:
    program = DENSE.get(name) or SPARSE[name]

    def differentiated(tf: Any) -> Any:
        rows = program(tf)
        variables = tf.global_variables()
        return tf.gradients(tf.square(rows), variables) if variables else rows

    _check(differentiated)


def test_theirs_and_ours_refuse_an_unknown_strategy() -> None:
    with pytest.raises(ValueError, match="strategy"):
        build(lambda tf: tf.nn.embedding_lookup(_shards(tf), IDS, "hash"), OURS, v1)
