"""Sets in rows, and ragged tensors that are made one value and taken apart again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.onnx.graphs import CannotTranslateError
from tests.onnx.small_graphs import Exported, emit, numbers

FIRST = np.array([[[5, 1, 1, 3]], [[2, 2, 2, 9]], [[4, 3, 2, 1]]], np.int64)
SECOND = np.array([[[1, 7]], [[2, 9]], [[8, 8]]], np.int64)


@pytest.mark.parametrize("operation", ["a-b", "b-a", "intersection", "union"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("rank", [2, 3])
def test_sets_of_any_number_of_groups(operation: str, dtype: Any, rank: int) -> None:
    sets = {"a": FIRST.astype(dtype), "b": SECOND.astype(dtype)}
    sets = {name: array.reshape(3, -1) if rank == 2 else array for name, array in sets.items()}
    exported = Exported(
        lambda a, b: list(emit("DenseToDenseSetOperation", a, b, set_operation=operation)),
        sets,
        shapes=dict.fromkeys(sets, (None,) * rank),
    )
    for theirs, ours in zip(exported.run(), exported.kernels(), strict=True):
        assert theirs.dtype == ours.dtype
        np.testing.assert_array_equal(theirs, ours)


def test_strings_are_not_sorted_by_onnx() -> None:
    words = {"a": np.array([[b"b", b"a"]], object)}
    with pytest.raises(CannotTranslateError, match="does not sort strings"):
        Exported(lambda a: list(emit("DenseToDenseSetOperation", a, a, set_operation="union")), words)


RAGGED = {"splits": np.array([0, 2, 2, 5], np.int64), "values": numbers(5, 2)}


@pytest.mark.parametrize("batched", [False, True])
def test_a_ragged_tensor_that_is_taken_apart_again_is_what_it_was(batched: bool) -> None:
    def build(splits: Any, values: Any) -> Any:
        whole = emit("RaggedTensorToVariant", [splits], values, batched_input=batched)
        inner = emit("Identity", whole)
        (again,), flat = emit(
            "RaggedTensorFromVariant",
            inner,
            input_ragged_rank=0 if batched else 1,
            output_ragged_rank=1,
            Tvalues=FLOAT32,
            Tsplits=INT64,
        )
        return [again, emit("Relu", flat)]

    exported = Exported(build, RAGGED)
    exported.assert_equal()
    assert set(exported.counts) <= {"Relu", "Identity"}


def test_rows_of_a_ragged_tensor_are_no_values_of_onnx() -> None:
    def build(splits: Any, values: Any) -> Any:
        rows = emit("RaggedTensorToVariant", [splits], values, batched_input=True)
        return emit("Shape", rows)

    with pytest.raises(CannotTranslateError):
        Exported(build, RAGGED)
