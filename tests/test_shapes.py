"""Shapes, known in full, in part, or not at all."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, bracketed_shape, element_count

LARGEST = 4
sizes = st.integers(0, LARGEST)
known = st.lists(sizes, max_size=4).map(tuple)
partial = st.lists(st.none() | sizes, max_size=4).map(tuple)
shapes = st.none().map(Shape) | partial.map(Shape)


def could_be(shape: Shape, array_shape: tuple[int, ...]) -> bool:
    """Whether an array of that shape is one that `shape` speaks of."""
    return shape.dims is None or (
        len(shape.dims) == len(array_shape)
        and all(mine is None or mine == size for mine, size in zip(shape.dims, array_shape, strict=True))
    )


def instances(shape: Shape, rank: int = 2) -> list[tuple[int, ...]]:
    """The arrays' shapes that `shape` speaks of, as far as they have sizes that occur in these tests."""
    dims = (None,) * rank if shape.dims is None else shape.dims
    return list(product(*(range(LARGEST + 1) if size is None else [size] for size in dims)))


def test_a_shape_is_taken_as_people_write_it() -> None:
    assert Shape.of([2, 3]) == Shape((2, 3))
    assert Shape.of((2, None, -1)) == Shape((2, None, None))
    assert Shape.of(None) == UNKNOWN_SHAPE
    assert Shape.of(()) == Shape(())
    assert Shape.of(np.zeros((4, 5)).shape) == Shape((4, 5))
    assert Shape.of([np.int32(3)]) == Shape((3,))
    assert Shape.of(Shape((1,))) == Shape((1,))


@pytest.mark.parametrize("dims", [(-2,), (1, -7)])
def test_a_negative_size_is_refused(dims: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="sizes are 0 or more"):
        Shape.of(dims)


def test_shapes_are_shown_as_tensorflow_shows_them() -> None:
    assert [str(shape) for shape in (Shape((2, None)), Shape(()), UNKNOWN_SHAPE)] == ["[2,?]", "[]", "<unknown>"]
    assert [bracketed_shape(sizes) for sizes in ((2, None), (), np.zeros((3, 1)).shape)] == ["[2,?]", "[]", "[3,1]"]


def test_a_shape_is_a_sequence_if_its_rank_is_known() -> None:
    shape = Shape((2, None, 4))
    assert (shape.rank, len(shape), list(shape), shape[0], shape[-1]) == (3, 3, [2, None, 4], 2, 4)
    assert UNKNOWN_SHAPE.rank is None
    for look in (len, list, lambda shape: shape[0]):
        with pytest.raises(InvalidArgumentError, match="rank of this shape is unknown"):
            look(UNKNOWN_SHAPE)


def test_a_tuple_is_to_be_had_only_of_a_fully_known_shape() -> None:
    assert Shape((2, 0)).as_tuple() == (2, 0)
    assert Shape(()).as_tuple() == ()
    for shape in (Shape((2, None)), UNKNOWN_SHAPE):
        assert not shape.is_fully_known
        with pytest.raises(InvalidArgumentError, match="is not fully known"):
            shape.as_tuple()


@given(known)
def test_elements_are_counted_as_numpy_counts_them(dims: tuple[int, ...]) -> None:
    assert element_count(dims) == np.empty(dims).size == Shape(dims).element_count()


def test_the_number_of_elements_is_open_while_a_size_is_unless_another_is_zero() -> None:
    assert Shape((2, None)).element_count() is None
    assert UNKNOWN_SHAPE.element_count() is None
    assert Shape((None, 0)).element_count() == 0


def test_sizes_too_large_for_a_machine_word_are_still_counted() -> None:
    assert element_count((1 << 40, 1 << 40)) == 1 << 80


@given(shapes, shapes)
def test_shapes_are_compatible_if_an_array_could_have_both(first: Shape, second: Shape) -> None:
    rank = first.rank if first.rank is not None else second.rank if second.rank is not None else 0
    shared = [shape for shape in instances(first, rank) if could_be(second, shape)]
    assert first.is_compatible(second) == bool(shared)
    assert first.is_compatible(second) == second.is_compatible(first)


@given(shapes, shapes)
def test_merging_knows_what_either_knows(first: Shape, second: Shape) -> None:
    if not first.is_compatible(second):
        with pytest.raises(InvalidArgumentError, match="not compatible"):
            first.merge(second)
        return
    merged = first.merge(second)
    assert merged == second.merge(first)
    assert merged.merge(first) == merged
    for shape in instances(merged):
        assert could_be(first, shape)
        assert could_be(second, shape)


@given(shapes, shapes)
def test_concatenating_joins_the_dimensions(first: Shape, second: Shape) -> None:
    joined = first.concatenate(second)
    if first.dims is None or second.dims is None:
        assert joined == UNKNOWN_SHAPE
    else:
        assert joined.dims == first.dims + second.dims


def test_a_rank_can_be_asked_for() -> None:
    assert UNKNOWN_SHAPE.with_rank(2) == Shape((None, None))
    assert Shape((3, None)).with_rank(2) == Shape((3, None))
    with pytest.raises(InvalidArgumentError, match="not compatible"):
        Shape((3,)).with_rank(2)


@given(known, known)
def test_known_shapes_broadcast_as_in_numpy(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(first, second)
    except ValueError:
        with pytest.raises(InvalidArgumentError, match="do not broadcast"):
            Shape(first).broadcast(Shape(second))
    else:
        assert Shape(first).broadcast(Shape(second)) == Shape(expected)


@given(partial, partial)
def test_whatever_unknown_sizes_turn_out_to_be_broadcasting_foresaw_it(
    first: tuple[int | None, ...], second: tuple[int | None, ...]
) -> None:
    possible = []
    for one in instances(Shape(first)):
        for other in instances(Shape(second)):
            try:
                possible.append(np.broadcast_shapes(one, other))
            except ValueError:
                continue
    try:
        foreseen = Shape(first).broadcast(Shape(second))
    except InvalidArgumentError:
        assert possible == []
        return
    assert all(could_be(foreseen, shape) for shape in possible)
    assert foreseen == Shape(second).broadcast(Shape(first))


def test_broadcasting_with_the_unknown_is_unknown() -> None:
    assert UNKNOWN_SHAPE.broadcast(Shape((2,))) == UNKNOWN_SHAPE
    assert Shape((2,)).broadcast(UNKNOWN_SHAPE) == UNKNOWN_SHAPE


def test_shapes_are_values() -> None:
    assert {Shape((1, None)): "x"}[Shape.of([1, -1])] == "x"
    with pytest.raises(AttributeError):
        Shape((1,)).dims = (2,)  # type: ignore[misc]
