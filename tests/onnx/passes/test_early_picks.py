"""Rows that are picked out at the end are picked before they are computed, and are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, ints, numbers

TOKENS, WIDTH, HEADS = 6, 8, 2


def picked(x: Any, index: int) -> Any:
    """x[:, index]."""
    return emit(
        "StridedSlice",
        x,
        ints([0, index]),
        ints([0, index + 1]),
        ints([1, 1]),
        begin_mask=1,
        end_mask=1,
        shrink_axis_mask=2,
    )


def product(x: Any, seed: int, width: int = WIDTH) -> Any:
    return emit("BatchMatMulV2", x, numbers(1, WIDTH, width, seed=seed))


def heads(x: Any) -> Any:
    return emit("Transpose", emit("Reshape", x, ints([-1, TOKENS, HEADS, WIDTH // HEADS])), ints([0, 2, 1, 3]))


def attended(x: Any) -> Any:
    """Attention with a residual, and a mask for pairs of tokens."""
    query, key, value = (heads(product(x, seed)) for seed in (1, 2, 3))
    scores = emit("AddV2", emit("BatchMatMulV2", query, key, adj_y=True), numbers(TOKENS, TOKENS, seed=4))
    mixed = emit("Transpose", emit("BatchMatMulV2", emit("Softmax", scores), value), ints([0, 2, 1, 3]))
    return emit("AddV2", x, product(emit("Reshape", mixed, ints([-1, TOKENS, WIDTH])), seed=5))


def sizes_of(exported: Exported, kind: str) -> list[Any]:
    return [list(node.outputs[0].shape or ()) for node in exported.translated.model.graph if node.op_type == kind]


@pytest.mark.parametrize("index", [0, 2, TOKENS - 1])
def test_attention_is_computed_for_the_one_token_that_is_picked(index: int) -> None:
    feeds = {"x": numbers(3, TOKENS, WIDTH)}
    exported = Exported(lambda x: emit("Tanh", picked(emit("Relu", attended(x)), index)), feeds)
    exported.assert_equal()
    assert sizes_of(exported, "Softmax") == [[3, HEADS, 1, TOKENS]]
    assert exported.counts["Slice"] == 1  # of x, for the query and for the sum


@pytest.mark.parametrize("index", [0, -1])
def test_the_number_of_rows_need_not_be_known_for_the_first_and_the_last(index: int) -> None:
    def build(x: Any) -> Any:
        return emit("GatherV2", emit("AddV2", x, product(emit("Relu", x), 1)), np.int32(index % 5), np.int32(1))

    def last(x: Any) -> Any:
        end = emit("StridedSlice", emit("AddV2", x, product(emit("Relu", x), 1)), ints([0, -1]), ints([0, 0]),
                   ints([1, 1]), begin_mask=1, end_mask=3, shrink_axis_mask=2)  # fmt: skip
        return emit("Neg", end)

    feeds = {"x": numbers(3, 5, WIDTH)}
    exported = Exported(build if index == 0 else last, feeds, {"x": (None, None, WIDTH)})
    for rows in (5, 1):
        exported.assert_equal({"x": numbers(3, rows, WIDTH)})
    assert exported.order.index("Slice") < exported.order.index("MatMul")


def test_rows_that_others_take_too_are_all_computed() -> None:
    def build(x: Any) -> Any:
        y = emit("Relu", product(x, 1))
        return picked(y, 0), emit("Sum", y, ints([1]))

    exported = Exported(build, {"x": numbers(3, TOKENS, WIDTH)})
    exported.assert_equal()
    assert sizes_of(exported, "MatMul") == [[3, TOKENS, WIDTH]]


def test_different_rows_are_picked_where_they_were() -> None:
    def build(x: Any) -> Any:
        y = emit("Relu", product(x, 1))
        return emit("AddV2", picked(y, 0), picked(y, 1))

    exported = Exported(build, {"x": numbers(3, TOKENS, WIDTH)})
    exported.assert_equal()
    assert sizes_of(exported, "MatMul") == [[3, TOKENS, WIDTH]]


def test_without_products_a_pick_stays_where_it_is() -> None:
    exported = Exported(lambda x: emit("Tanh", picked(emit("Exp", x), 1)), {"x": numbers(3, TOKENS, WIDTH)})
    exported.assert_equal()
    assert exported.order.index("Exp") == 0


def test_a_softmax_over_the_picked_axis_needs_all_of_it() -> None:
    def build(x: Any) -> Any:
        turned = emit("Transpose", emit("Softmax", emit("Transpose", product(x, 1), ints([0, 2, 1]))), ints([0, 2, 1]))
        return picked(turned, 0)

    exported = Exported(build, {"x": numbers(3, TOKENS, WIDTH)})
    exported.assert_equal()
    assert sizes_of(exported, "MatMul") == [[3, TOKENS, WIDTH]]
