"""Steps agree with NumPy, whatever box is asked for, and large tensors go through in pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import whole_box
from tensorkeep.convert.arrays import boxes, transposed_copy
from tensorkeep.convert.steps import (
    AddToBlock,
    Cast,
    Insert,
    Lazy,
    Merge,
    Remove,
    Reorder,
    Split,
    Step,
    Take,
    Transpose,
    Zeros,
    concatenated_tensors,
    sum_of_tensors,
)
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError

FLOAT32 = DType.of("float32")


def lazy(array: Array) -> Lazy:
    return Lazy(DType.of(array.dtype), array.shape, lambda box: array[tuple(slice(*extent) for extent in box)])


def numbered(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


CASES: dict[str, tuple[Step | Callable[[Lazy], Lazy], Array, Array]] = {
    "transpose": (Transpose((2, 0, 1)), numbered(4, 6, 2), numbered(4, 6, 2).transpose(2, 0, 1)),
    "merge": (Merge(1), numbered(2, 3, 4, 2), numbered(2, 3, 4, 2).reshape(2, 12, 2)),
    "split": (Split(1, 4), numbered(2, 12, 2), numbered(2, 12, 2).reshape(2, 3, 4, 2)),
    "insert": (Insert(1), numbered(2, 3), numbered(2, 1, 3)),
    "remove": (Remove(1), numbered(2, 1, 3), numbered(2, 3)),
    "reorder": (Reorder(1, (2, 0, 1)), numbered(2, 6), numbered(2, 6)[:, [4, 5, 0, 1, 2, 3]]),
    "take": (Take(0, 1, 3), numbered(4, 2), numbered(4, 2)[1:3]),
    "add": (AddToBlock(1, 3, 10.0), numbered(6), numbered(6) + np.float32([0, 0, 10, 10, 0, 0])),
    "zeros": (Zeros(), numbered(2, 2), np.zeros((2, 2), np.float32)),
    "cast": (Cast(DType.of("int16")), numbered(2, 2), numbered(2, 2).astype(np.int16)),
    "sum": (lambda tensor: sum_of_tensors([tensor, tensor]), numbered(3, 2), 2 * numbered(3, 2)),
    "joined": (
        lambda tensor: concatenated_tensors([tensor, tensor], 1),
        numbered(3, 2),
        np.concatenate([numbered(3, 2), numbered(3, 2)], 1),
    ),
}


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
def test_every_box_of_a_step_is_what_numpy_makes(case: str, data: st.DataObject) -> None:
    step, before, after = CASES[case]
    made = step(lazy(before))
    assert made.shape == after.shape
    box = tuple(tuple(sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size))))) for size in after.shape)
    found = made.read(box)  # type: ignore[arg-type]
    assert found.dtype == after.dtype
    np.testing.assert_array_equal(found, after[tuple(slice(*extent) for extent in box)])
    np.testing.assert_array_equal(np.concatenate([chunk.reshape(-1) for chunk in made.chunks()]), after.reshape(-1))


@given(
    shape=st.lists(st.integers(0, 5), max_size=4).map(tuple),
    most=st.integers(1, 30),
)
def test_boxes_cover_an_array_in_order_and_none_is_too_large(shape: tuple[int, ...], most: int) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape)
    found = [array[tuple(slice(*extent) for extent in box)] for box in boxes(shape, most)]
    assert all(piece.size <= most for piece in found)
    assert [item for piece in found for item in piece.reshape(-1).tolist()] == array.reshape(-1).tolist()


def test_a_large_tensor_is_transposed_in_pieces() -> None:
    asked: list[int] = []
    array = np.arange(12 << 20, dtype=np.float32).reshape(6 << 10, 2 << 10)

    def read(box: Any) -> Array:
        part = array[tuple(slice(*extent) for extent in box)]
        asked.append(part.nbytes)
        return part

    made = Transpose((1, 0))(Lazy(FLOAT32, array.shape, read))
    at = 0
    for chunk in made.chunks():
        np.testing.assert_array_equal(chunk, array.T[at : at + len(chunk)])
        at += len(chunk)
    assert at == 2 << 10
    assert max(asked) <= 16 << 20


@pytest.mark.parametrize(
    "step",
    [Transpose((0,)), Merge(1), Split(0, 3), Remove(0), Reorder(0, (0, 1, 2)), Take(0, 1, 9), AddToBlock(0, 3, 1)],
)
def test_steps_that_do_not_fit_are_refused_before_anything_is_read(step: Step) -> None:
    def unread(box: Any) -> Array:
        raise AssertionError("read")

    with pytest.raises(InvalidArgumentError, match=r"shape \[2, 2\]"):
        step(Lazy(FLOAT32, (2, 2), unread))


def test_a_chunk_of_strings_is_the_whole_tensor() -> None:
    texts = np.array([b"a", b"b"], object)
    tensor = Lazy(DType.of("string"), (2,), lambda box: texts)
    assert [chunk.tolist() for chunk in tensor.chunks()] == [[b"a", b"b"]]
    assert whole_box(tensor.shape) == ((0, 2),)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "bool", "complex128", "float8_e4m3fn", "int64"])
def test_matrices_of_every_width_are_transposed(name: str) -> None:
    array = np.arange(37 * 21).reshape(37, 21).astype(DType.of(name).array_dtype)
    for matrix in (array, array[::2, 3:], np.asfortranarray(array)):
        found = transposed_copy(matrix, (1, 0))
        assert (found.shape, found.dtype) == (matrix.shape[::-1], matrix.dtype)
        assert found.flags.c_contiguous
        assert found.tobytes() == matrix.T.tobytes()
