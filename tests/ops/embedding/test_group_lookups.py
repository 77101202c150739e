"""Lookups in many tables by one op, as DeepRec's graphs have them: rows, what comes with them, and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.ops.embedding_graphs import graph, handle, initializer, keys, session

ROWS = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], np.float32)
VALUES = [keys(1, 2, 1), keys(2)]
PLACES = [np.array([[0, 0], [2, 0], [2, 1]], np.int64), np.array([[1, 1]], np.int64)]
SIZES = [np.array([3, 2], np.int64)] * 2
WEIGHTS = [np.array([1.0, 2.0, 4.0], np.float32), np.array([3.0], np.float32)]
ONES = [np.ones((), np.float32)] * 2


def _tables(is_embedding: bool) -> tuple[list[Any], list[Any]]:
    if is_embedding:
        tables = [handle("a"), handle("b")]
        return tables, [initializer(table, ROWS) for table in tables]
    return [get_op("Identity")(ROWS), get_op("Identity")(ROWS)], []


def _lookup(tables: list[Any], is_embedding: bool, combiner: str, *, weights: Any = None, **attrs: Any) -> Any:
    spec = get_op("GroupEmbeddingVarLookup" if is_embedding else "GroupVariableLookup")
    return spec(
        tables,
        VALUES,
        PLACES,
        ONES if weights is None else weights,
        SIZES,
        np.float32(1),
        combiner=combiner,
        dimension=2,
        ignore_weights=weights is None,
        **attrs,
    )


@pytest.mark.parametrize("is_embedding", [True, False])
@pytest.mark.parametrize(
    ("combiner", "weights", "wanted"),
    [
        ("sum", None, [[2, 20], [0, 0], [5, 50]]),
        ("mean", None, [[2, 20], [0, 0], [2.5, 25]]),
        ("sqrtn", None, [[2, 20], [0, 0], [5 / 2**0.5, 50 / 2**0.5]]),
        ("sum", WEIGHTS, [[2, 20], [0, 0], [14, 140]]),
        ("mean", WEIGHTS, [[2, 20], [0, 0], [7, 70]]),
    ],
)
def test_lines_are_combined_and_those_without_ids_are_zero(
    is_embedding: bool, combiner: str, weights: Any, wanted: Any
) -> None:
    with graph() as made:
        tables, init = _tables(is_embedding)
        found = _lookup(tables, is_embedding, combiner, weights=weights)
    with session(made) as run:
        run.run(init)
        rows, unique, index, ends = run.run([found.output, found.unique_keys, found.unique_idx, found.batch_nums])
    np.testing.assert_allclose(rows[0], np.array(wanted, np.float32), rtol=1e-6)
    assert rows[1].shape == (3, 2)
    assert [array.tolist() for array in unique] == [[1, 2, 1], [2]]
    assert [array.tolist() for array in index] == [[0, 1, 2], [0]]
    assert [array.tolist() for array in ends] == [[1, 1, 3], [0, 1, 1]]


@pytest.mark.parametrize("is_embedding", [True, False])
def test_a_sequence_is_not_combined(is_embedding: bool) -> None:
    with graph() as made:
        tables, init = _tables(is_embedding)
        found = _lookup(tables, is_embedding, "mean", is_sequence=True)
        assert found.output[0].static_shape.dims == (None, None, 2)
    with session(made) as run:
        run.run(init)
        first, second = run.run(found.output)
    assert first.tolist() == [[[2, 20], [0, 0]], [[0, 0], [0, 0]], [[3, 30], [2, 20]]]
    assert second[1].tolist() == [[0, 0], [3, 30]]


@pytest.mark.parametrize("is_embedding", [True, False])
@pytest.mark.parametrize(("weights", "share"), [(None, [1, 0.5, 0.5]), (WEIGHTS, [1, 1, 2])])
def test_the_gradient_of_a_key_is_that_of_every_line_it_is_in(is_embedding: bool, weights: Any, share: Any) -> None:
    upstream = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    with graph() as made:
        tables, init = _tables(is_embedding)
        found = _lookup(tables, is_embedding, "mean", weights=weights)
        slices = gradients([found.output[0]], tables[:1], grad_ys=[get_op("Identity")(upstream)])[0]
    with session(made) as run:
        run.run(init)
        values, indices = run.run([slices.values, slices.indices])
    assert indices.tolist() == [1, 2, 1]
    np.testing.assert_allclose(values, upstream[[0, 2, 2]] * np.array(share, np.float32)[:, None])


@pytest.mark.parametrize("is_embedding", [True, False])
def test_the_gradient_of_a_sequence_is_that_of_each_place(is_embedding: bool) -> None:
    upstream = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    with graph() as made:
        tables, init = _tables(is_embedding)
        found = _lookup(tables, is_embedding, "sum", is_sequence=True)
        slices = gradients([found.output[0]], tables[:1], grad_ys=[get_op("Identity")(upstream)])[0]
    with session(made) as run:
        run.run(init)
        assert run.run(slices.values).tolist() == [upstream[line, place].tolist() for line, place in PLACES[0]]


@pytest.mark.parametrize("is_embedding", [True, False])
def test_dense_ids_have_their_rows(is_embedding: bool) -> None:
    ids = [keys(1, 2, 1, 0).reshape(2, 2), keys(2)]
    with graph() as made:
        tables, init = _tables(is_embedding)
        spec = get_op("GroupEmbeddingVarLookupDense" if is_embedding else "GroupVariableLookupDense")
        found = spec(tables, ids, np.float32(1), dimension=2)
        slices = gradients([found.output[0]], tables[:1])[0]
        assert found.output[0].static_shape.dims == (2, 2, 2)
    with session(made) as run:
        run.run(init)
        rows, unique = run.run([found.output, found.unique_keys])
        values, indices = run.run([slices.values, slices.indices])
    assert rows[0].tolist() == ROWS[ids[0]].tolist()
    assert unique[0].tolist() == indices.tolist() == [1, 2, 1, 0]
    assert values.tolist() == np.ones((4, 2)).tolist()


def test_a_lookup_inserts_unless_it_is_for_inference() -> None:
    with graph() as made:
        tables, init = _tables(True)
        quiet, loud = (_lookup(tables, True, "sum", is_inference=flag) for flag in (True, False))
        count = get_op("KvVariableShape")(tables[0])
    with session(made) as run:
        run.run(init)
        run.run(quiet.output)
        assert run.run(count).tolist() == [0, 2]
        run.run(loud.output)
        assert run.run(count).tolist() == [2, 2]


def test_given_rows_are_what_new_keys_begin_as() -> None:
    with graph() as made:
        emb = handle("a")
        init = initializer(emb, ROWS)
        spec = get_op("GroupEmbeddingVarLookupDense")
        rows, wrong = (
            spec([emb], [keys(1, 2)], np.array(given, np.float32), dimension=2, is_use_default_value_tensor=True)
            for given in ([7, 8], [1, 2, 3])
        )
    with session(made) as run:
        run.run(init)
        assert run.run(rows.output[0]).tolist() == [[7, 8], [7, 8]]
        with pytest.raises(InvalidArgumentError, match="default rows"):
            run.run(wrong.output[0])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"places": [[0, 0], [3, 0], [2, 1]]}, "outside the whole"),
        ({"places": [[0, 0], [2, 0]]}, "have places of shape"),
        ({"weights": [1, 2]}, "have 2 weights"),
        ({"dimension": 3}, "rows of 2"),
        ({"values": [1, 9, 1]}, "id 9 is not among"),
    ],
)
def test_what_does_not_fit_is_said(change: dict[str, Any], match: str) -> None:
    with graph() as made:
        found = get_op("GroupVariableLookup")(
            [get_op("Identity")(ROWS)],
            [keys(*change.get("values", (1, 2, 1)))],
            [np.array(change.get("places", PLACES[0]), np.int64)],
            [np.array(change.get("weights", WEIGHTS[0]), np.float32)],
            SIZES[:1],
            np.float32(1),
            combiner="sum",
            dimension=change.get("dimension", 2),
        )
    with session(made) as run, pytest.raises(InvalidArgumentError, match=match):
        run.run(found.output)


def test_such_a_graph_is_imported_and_runs() -> None:
    with graph() as made:
        tables, init = _tables(True)
        found = _lookup(tables, True, "mean")
        names = [tensor.name for tensor in found.output]
    with graph() as again:
        import_graph(export_graph(made), again, name="")
    with session(again) as run:
        run.run([again.operation(op.name) for op in init])
        assert run.run([again.tensor(name) for name in names])[0][2].tolist() == [2.5, 25]
