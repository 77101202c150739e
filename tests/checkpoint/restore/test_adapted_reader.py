"""Stored tensors as a program wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import (
    Adapt,
    InvalidArgumentError,
    MemoryFileSystem,
    NotFoundError,
    TensorSlice,
    Wanted,
    open_checkpoint,
    plan_restore,
    save_checkpoint,
)
from tensorkeep.checkpoint.restore.adapted_reader import AdaptedReader, adapt_array

shapes = st.integers(0, 3).flatmap(lambda rank: st.tuples(*[st.tuples(st.integers(0, 4), st.integers(0, 4))] * rank))


def counted(shape: Sequence[int], start: int = 0) -> np.ndarray[Any, Any]:
    return np.arange(start, start + int(np.prod(shape, dtype=int)), dtype=np.float32).reshape(shape)


def expected(stored: np.ndarray[Any, Any], initial: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What NumPy says: the initial values, with the stored ones in the leading part that both have."""
    out = initial.copy()
    for at in np.ndindex(*map(min, stored.shape, initial.shape)):
        out[at] = stored[at]
    return out


@given(shapes)
def test_adapting_is_assigning_the_leading_part(sizes: tuple[tuple[int, int], ...]) -> None:
    stored, initial = counted([have for have, _ in sizes]), counted([want for _, want in sizes], 1000)
    kept = initial.copy()
    found = adapt_array(stored, initial.shape, initial)
    assert np.array_equal(found, expected(stored, initial))
    assert np.array_equal(initial, kept)


@given(shapes, st.data())
def test_a_part_of_an_adapted_tensor_is_that_part(sizes: tuple[tuple[int, int], ...], data: st.DataObject) -> None:
    stored, initial = counted([have for have, _ in sizes]), counted([want for _, want in sizes], 1000)
    extents = []
    for _, size in sizes:
        start = data.draw(st.integers(0, size))
        extents.append((start, data.draw(st.integers(0, size - start))))
    part = TensorSlice(tuple(extents))
    seen = adapted({"v": stored}, {"v": initial}, Adapt(shape=("crop", "grow")))
    box = tuple(slice(start, start + length) for start, length in extents)
    assert np.array_equal(seen.read("v", part), expected(stored, initial)[box])
    assert np.array_equal(seen.read("v"), expected(stored, initial))


@given(st.lists(st.integers(0, 4), max_size=3), st.data())
def test_reshaping_keeps_the_elements(sizes: list[int], data: st.DataObject) -> None:
    stored, shape = counted(sizes), data.draw(st.permutations(sizes))
    if len(shape) > 1 and data.draw(st.booleans()):
        shape = [shape[0] * shape[1], *shape[2:]]
    seen = adapted({"v": stored}, {"v": np.zeros((*shape, 1), np.float32)}, Adapt(shape="reshape"))
    assert np.array_equal(seen.read("v"), stored.reshape(*shape, 1))
    whole = tuple(slice(0, size) for size in (*shape, 1))
    assert np.array_equal(seen.read("v", whole), stored.reshape(*shape, 1))


def test_arrays_of_other_rank_and_initial_values_of_other_shape_or_type_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be fitted"):
        adapt_array(np.zeros(2), (2, 1), np.zeros((2, 1)))
    with pytest.raises(InvalidArgumentError, match="nothing is given"):
        adapt_array(np.zeros(2), (3,))
    for initial in (np.zeros(4), np.zeros(3, np.float32)):
        with pytest.raises(InvalidArgumentError, match="initial values"):
            adapt_array(np.zeros(2), (3,), initial)


def adapted(
    stored: dict[str, Any], wanted: dict[str, Any], policy: Adapt | str, *, placeholders: bool = False, **options: Any
) -> AdaptedReader:
    fs = MemoryFileSystem()
    save_checkpoint("c", stored, fs=fs)
    reader = open_checkpoint("c", fs=fs)
    plan = plan_restore(wanted, reader, on_mismatch=policy, **options)
    return plan.reader(reader, lambda item: wanted[item.key], placeholders=placeholders)


STORED = {
    "same": counted((2, 2)),
    "there": counted((3,)),
    "long": counted((5, 2)),
    "half": counted((3,)).astype(np.float16),
    "text": np.array([b"a", b"b"], object),
    "other": counted((2,)),
}
WANTED = {
    "same": np.zeros((2, 2), np.float32),
    "here": np.zeros(3, np.float32),
    "long": np.zeros((3, 3), np.float32),
    "half": np.zeros(3, np.float32),
    "text": np.array([b"x", b"y", b"z"], object),
    "other": np.zeros((2, 2, 2), np.int32),
    "none": np.zeros(2, np.int64),
}
POLICY = Adapt(missing="skip", shape=("crop", "grow", "skip"), dtype=("cast", "skip"))


def test_an_adapted_reader_gives_the_wanted_names_types_and_shapes() -> None:
    seen = adapted(STORED, WANTED, POLICY, mapping={"here": "there"})
    assert list(seen) == ["half", "here", "long", "same", "text"]
    assert len(seen) == 5
    assert seen.intact_names == list(seen)
    assert not seen.damage
    for name in seen:
        array = seen.read(name)
        assert (array.dtype, array.shape) == (WANTED[name].dtype, WANTED[name].shape)
        assert (seen[name].dtype.array_dtype, seen[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(seen.source(name).gather(), array.reshape(-1))
        assert np.array_equal(seen.read_rows(name, [1, 0]), array[[1, 0]])
        filled = np.empty_like(array)
        seen.read_into(name, filled)
        assert np.array_equal(filled, array)
        seen.verify(name)
    assert seen.read("text").tolist() == [b"a", b"b", b"z"]
    assert seen.read("here").tolist() == [0, 1, 2]
    assert set(seen.read_many()) == set(seen)


def test_skipped_names_are_not_there_and_say_why() -> None:
    seen = adapted(STORED, WANTED, POLICY)
    assert "none" not in seen
    with pytest.raises(NotFoundError, match='"none" is not restored: it is not in the checkpoint'):
        seen.read("none")
    with pytest.raises(NotFoundError, match=r'"other" is not restored: .*int32 \[2,2,2\] is wanted'):
        seen.read("other")
    with pytest.raises(NotFoundError, match="holds no tensor"):
        seen.read("what")


def test_placeholders_stand_for_skipped_names() -> None:
    seen = adapted(
        {**STORED, "name": np.array(b"a", object)}, {**WANTED, "name": np.zeros(2)}, POLICY, placeholders=True
    )
    assert {"none", "other", "name"} <= set(seen)
    for name in ("none", "other", "name"):
        array = seen.read(name)
        assert (array.dtype, array.shape) == (WANTED.get(name, np.zeros(2)).dtype, WANTED.get(name, np.zeros(2)).shape)
        seen.verify(name)
    assert seen.read("other", (slice(0, 1),)).shape == (1, 2, 2)


def test_initial_values_of_one_part_are_not_taken_for_another() -> None:
    fs = MemoryFileSystem()
    save_checkpoint("c", {"w": counted((2,))}, fs=fs)
    reader = open_checkpoint("c", fs=fs)
    wanted = [Wanted("w", None, (6,), TensorSlice.parse("2,2"))]
    seen = plan_restore(wanted, reader, on_mismatch=Adapt(shape="grow")).reader(reader, lambda item: counted((2,), 7))
    assert seen.read("w", TensorSlice.parse("2,2")).tolist() == [7, 8]
    assert seen.read("w", TensorSlice.parse("0,2")).tolist() == [0, 1]
    with pytest.raises(InvalidArgumentError, match="of that part only"):
        seen.read("w", TensorSlice.parse("4,2"))


def test_closing_it_closes_the_checkpoint() -> None:
    with adapted(STORED, WANTED, POLICY) as seen:
        pass
    with pytest.raises(Exception, match="closed"):
        seen.read("same")
