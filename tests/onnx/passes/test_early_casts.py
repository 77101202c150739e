"""Casts of transposed values that products take come before the transposition: ONNX Runtime opens such a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.onnx.small_graphs import Exported, emit, ints, numbers

ROWS = {"x": np.arange(24, dtype=np.int32).reshape(2, 3, 4)}


@pytest.mark.parametrize("folds", [True, False])
def test_a_cast_of_transposed_rows_comes_first(folds: bool) -> None:
    """Opened as it stands in the graph, it ends the process."""

    def build(x: Any) -> Any:
        turned = emit("Transpose", x, ints([1, 0, 2]))
        return emit("BatchMatMulV2", emit("Cast", turned, DstT="float32"), numbers(1, 4, 5))

    exported = Exported(build, ROWS, folds=folds)
    assert [op for op in exported.order if op in ("Cast", "Transpose", "MatMul")] == ["Cast", "Transpose", "MatMul"]
    exported.assert_equal()


def test_what_else_takes_the_transposed_rows_still_does() -> None:
    def build(x: Any) -> Any:
        turned = emit("Transpose", x, ints([1, 0, 2]))
        cast = emit("Cast", turned, DstT="float32")
        return [emit("BatchMatMulV2", cast, numbers(1, 4, 5)), emit("Neg", turned), emit("Identity", cast)]

    exported = Exported(build, ROWS)
    exported.assert_equal()
    assert exported.counts["Transpose"] == 2


def test_casts_before_anything_else_stay() -> None:
    exported = Exported(
        lambda x: emit("Neg", emit("Cast", emit("Transpose", x, ints([1, 0, 2])), DstT="float32")), ROWS
    )
    exported.assert_equal()
    assert exported.order.index("Transpose") < exported.order.index("Cast")
