"""Embedding lookups: rows by ids, over shards, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.embedding.lookups import (
    embedding_lookup,
    embedding_lookup_sparse,
    lookup_and_transform,
    safe_embedding_lookup_sparse,
)
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.sparse.tensors import SparseTensor

TABLE = np.arange(14, dtype=np.float32).reshape(7, 2)
IDS = np.array([[6, 0], [3, 3]])


def run(build: Any) -> Any:
    graph = Graph()
    with building(graph):
        fetched = build()
    return Session(graph).run(fetched)


def shards(strategy: str, count: int) -> list[Any]:
    if strategy == "mod":
        return [constant(TABLE[start::count]) for start in range(count)]
    return [constant(part) for part in np.array_split(TABLE, count)]


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_ids_find_their_rows_in_shards(strategy: str, count: int) -> None:
    found = run(lambda: embedding_lookup(shards(strategy, count), IDS, strategy))
    assert found.tolist() == TABLE[IDS].tolist()


def test_rows_are_shortened_to_a_norm() -> None:
    found = run(lambda: embedding_lookup(TABLE, [6, 1], max_norm=1.0))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1.0, 1.0], rtol=1e-6)


def test_rows_are_transformed_where_their_shard_is() -> None:
    found = run(lambda: lookup_and_transform(shards("mod", 2), IDS, transform=lambda rows: rows * 2.0))
    assert found.tolist() == (2 * TABLE[IDS]).tolist()


def test_the_gradient_of_a_table_is_rows() -> None:
    def build() -> Any:
        table = constant(TABLE)
        (gradient,) = gradients(embedding_lookup(table, IDS), table)
        assert isinstance(gradient, IndexedSlices)
        return gradient

    found = run(build)
    assert found.indices.tolist() == [6, 0, 3, 3]
    assert found.values.tolist() == np.ones((4, 2)).tolist()


def ids() -> SparseTensor:
    return SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 3, -1]), [4, 2])


def weights() -> SparseTensor:
    return SparseTensor([[0, 0], [0, 1], [2, 0]], [3.0, 1.0, 1.0], [4, 2])


@pytest.mark.parametrize(("combiner", "divisor"), [("sum", 1.0), ("mean", 4.0), ("sqrtn", 10**0.5)])
def test_rows_are_combined_by_weight_and_missing_ones_are_zero(combiner: str, divisor: float) -> None:
    found = run(lambda: safe_embedding_lookup_sparse(TABLE, ids(), weights(), combiner))
    np.testing.assert_allclose(found[0], (3 * TABLE[1] + TABLE[3]) / divisor, rtol=1e-6)
    assert not found[1:].any()


def test_a_default_id_stands_for_missing_ones() -> None:
    found = run(lambda: safe_embedding_lookup_sparse(TABLE, ids(), combiner="sum", default_id=5))
    assert found[1].tolist() == TABLE[5].tolist()


def test_what_cannot_be_looked_up_is_refused() -> None:
    with building(Graph()):
        with pytest.raises(InvalidArgumentError, match="at least one"):
            embedding_lookup([], [1])
        with pytest.raises(InvalidArgumentError, match="must be specified"):
            embedding_lookup(None, [1])
        with pytest.raises(InvalidArgumentError, match="hash"):
            embedding_lookup(shards("mod", 2), [1], "hash")
        with pytest.raises(InvalidArgumentError, match="combiner"):
            embedding_lookup_sparse(TABLE, ids(), None, combiner="max")
        with pytest.raises(WrongTypeError, match="sp_ids"):
            embedding_lookup_sparse(TABLE, [1, 2], None)
        with pytest.raises(WrongTypeError, match="sp_weights"):
            embedding_lookup_sparse(TABLE, ids(), [1.0])
