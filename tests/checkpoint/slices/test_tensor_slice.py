"""Slices: text, boxes, keys, and which of them cover what."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import DataLossError, InvalidArgumentError, PartitionedArray, TensorSlice
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape, slice_key
from tensorkeep.checkpoint.slices.tiling import copies_for, intersection
from tensorkeep.proto.messages import TensorSliceProto, serialize

sizes = st.integers(0, 2**40)
extents = st.none() | st.tuples(sizes, sizes)
slices = st.builds(TensorSlice, st.lists(extents, max_size=5).map(tuple))


class TestText:
    @pytest.mark.parametrize(
        ("text", "extents"),
        [
            ("", ()),
            ("-", (None,)),
            ("0,3:-", ((0, 3), None)),
            ("-:-", (None, None)),
            ("10,4:0,3", ((10, 4), (0, 3))),
            ("2,0", ((2, 0),)),
        ],
    )
    def test_is_read_and_written(self, text, extents):
        assert TensorSlice.parse(text) == TensorSlice(extents)
        assert str(TensorSlice(extents)) == text

    @given(slices)
    def test_survives_a_round_trip(self, part):
        assert TensorSlice.parse(str(part)) == part

    @pytest.mark.parametrize(
        "text", ["2", "2:-", "1,", ",1", "a,b", "1,2,3", "-1,2", "1 ,2", ":", "0,1:", "0x1,2", " "]
    )
    def test_anything_else_is_refused_and_quoted(self, text):
        with pytest.raises(InvalidArgumentError) as caught:
            TensorSlice.parse(text)
        assert f'slice "{text}": expected "start,length" or "-" per dimension' in str(caught.value)

    def test_negative_numbers_are_refused(self):
        with pytest.raises(InvalidArgumentError, match="starts and lengths are 0 or more"):
            TensorSlice(((-1, 2),))
        with pytest.raises(InvalidArgumentError, match="starts and lengths are 0 or more"):
            TensorSlice(((0, -2),))


class TestMessages:
    def test_all_of_a_dimension_is_an_empty_extent(self):
        assert serialize(TensorSlice((None, None)).to_proto()) == bytes.fromhex("0a000a00")

    def test_a_start_of_zero_is_left_out_and_a_length_of_zero_is_not(self):
        assert serialize(TensorSlice(((0, 3), (2, 0))).to_proto()) == bytes.fromhex("0a0210030a0408021000")

    @given(slices)
    def test_survive_a_round_trip(self, part):
        assert TensorSlice.from_proto(part.to_proto()) == part

    def test_negative_numbers_are_damage(self):
        message = TensorSliceProto(extent=[{"start": -1, "length": 3}])
        with pytest.raises(DataLossError, match="start -1 and length 3: negative"):
            TensorSlice.from_proto(message)
        with pytest.raises(DataLossError, match="start 0 and length -3: negative"):
            TensorSlice.from_proto(TensorSliceProto(extent=[{"length": -3}]))


class TestBoxes:
    def test_a_slice_has_a_box_in_a_shape(self):
        assert TensorSlice.parse("2,3:-").box((10, 4)) == ((2, 5), (0, 4))
        assert TensorSlice(()).box(()) == ()
        assert TensorSlice.whole(2).box((3, 0)) == ((0, 3), (0, 0))

    def test_another_rank_is_refused(self):
        with pytest.raises(InvalidArgumentError) as caught:
            TensorSlice.parse("2,3").box((10, 4))
        assert str(caught.value) == "slice 2,3 has 1 dimensions, the tensor has shape [10, 4]"

    def test_a_box_beyond_the_shape_is_refused(self):
        with pytest.raises(InvalidArgumentError) as caught:
            TensorSlice.parse("8,3:-").box((10, 4))
        assert str(caught.value) == "slice 8,3:- reaches beyond the shape [10, 4]"

    def test_a_slice_may_be_the_whole_by_being_spelled_out(self):
        assert TensorSlice.parse("-:0,4").is_whole((10, 4))
        assert not TensorSlice.parse("-:0,3").is_whole((10, 4))
        assert TensorSlice(()).is_whole(())

    @pytest.mark.parametrize(
        ("part", "text"),
        [
            (slice(2, 5), "2,3:-"),
            (np.s_[2:5, 1:], "2,3:1,3"),
            (np.s_[:, :], "-:-"),
            (np.s_[-3:], "7,3:-"),
            (np.s_[5:2], "5,0:-"),
            (np.s_[8:99], "8,2:-"),
            (np.s_[::1], "-:-"),
            ((), "-:-"),
            (TensorSlice.parse("1,1:-"), "1,1:-"),
        ],
    )
    def test_parts_as_people_write_them(self, part, text):
        assert str(TensorSlice.of(part, (10, 4))) == text

    @pytest.mark.parametrize("part", [slice(0, 9, 2), 3, np.s_[1, :], np.s_[..., 1:2], np.s_[None], [slice(1)], "0,1"])
    def test_what_is_no_plain_slice_is_refused(self, part):
        with pytest.raises(InvalidArgumentError, match="a part is made of plain slices such as 3:8, without a step"):
            TensorSlice.of(part, (10, 4))

    def test_more_slices_than_dimensions_are_refused(self):
        with pytest.raises(InvalidArgumentError, match=r"3 slices for a tensor of shape \[10, 4\]"):
            TensorSlice.of(np.s_[:, :, :], (10, 4))

    @given(st.data())
    def test_a_part_selects_what_numpy_selects(self, data):
        shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple))
        bound = st.none() | st.integers(-8, 8)
        part = data.draw(st.tuples(*(st.builds(slice, bound, bound) for _ in shape)))
        array = np.arange(np.prod(shape)).reshape(shape)
        box = TensorSlice.of(part, shape).box(shape)
        assert np.array_equal(array[tuple(slice(*pair) for pair in box)], array[part])

    def test_intersections(self):
        assert intersection(((0, 5), (0, 4)), ((3, 9), (1, 2))) == ((3, 5), (1, 2))
        assert intersection(((0, 3),), ((3, 5),)) is None
        assert intersection(((0, 3),), ((1, 1),)) is None
        assert intersection((), ()) == ()


class TestKeys:
    @pytest.mark.parametrize(
        ("name", "text", "key"),
        [
            (b"w", "3,4:0,4", "00 77 0001 0102 83 84 80 84"),  # the example of the specification
            (b"w", "-:-", "00 77 0001 0102 80 7f 80 7f"),
            (b"w", "", "00 77 0001 00"),  # a scalar, in a V1 file
            (b"w", "0,63", "00 77 0001 0101 80 bf"),
            (b"w", "0,64", "00 77 0001 0101 80 c040"),
            (b"w", "8191,8192", "00 77 0001 0101 dfff e02000"),
            (b"a\x00b\xffc", "-", "00 61 00ff 62 ff00 63 0001 0101 80 7f"),
            (b"", "-", "00 0001 0101 80 7f"),
        ],
    )
    def test_bytes(self, name, text, key):
        assert slice_key(name, TensorSlice.parse(text)).hex() == key.replace(" ", "")

    @given(st.lists(st.tuples(st.binary(max_size=4), slices), min_size=2, unique=True))
    def test_no_two_slices_share_a_key(self, items):
        assert len({slice_key(name, part) for name, part in items}) == len(items)

    @given(st.binary(max_size=6), st.binary(max_size=6), slices)
    def test_keys_sort_by_name_first(self, first, second, part):
        keys = slice_key(first, part), slice_key(second, part)
        assert (keys[0] < keys[1]) == (first < second)


def cut(size: int, at: list[int]) -> list[tuple[int, int]]:
    edges = sorted({0, size, *(edge % (size + 1) for edge in at)})
    return list(pairwise(edges))


@st.composite
def tilings(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Box]]:
    """A shape of one to three dimensions, and boxes that tile it."""
    shape = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple))
    cuts = [cut(size, draw(st.lists(st.integers(0, 7), max_size=3))) for size in shape]
    boxes = [tuple(box) for box in product(*cuts)]
    return shape, draw(st.permutations(boxes))


@st.composite
def boxes_within(draw: st.DrawFn, shape: tuple[int, ...]) -> Box:
    box = []
    for size in shape:
        start = draw(st.integers(0, size))
        box.append((start, draw(st.integers(start, size))))
    return tuple(box)


class TestCovering:
    def test_one_box_that_is_all(self):
        assert copies_for(((0, 3),), [((0, 3),)]) == [(0, ((0, 3),))]

    def test_only_boxes_that_touch_are_named(self):
        assert copies_for(((2, 5),), [((0, 3),), ((3, 6),), ((6, 9),)]) == [(0, ((2, 3),)), (1, ((3, 5),))]

    def test_nothing_is_covered_by_nothing(self):
        assert copies_for(((2, 2),), []) == []
        assert copies_for(((2, 2),), [((0, 3),)]) == []

    def test_a_scalar_is_one_element(self):
        assert copies_for((), [()]) == [(0, ())]
        with pytest.raises(DataLossError, match=r"hold 0 of the 1 elements of \[\]"):
            copies_for((), [])
        with pytest.raises(DataLossError, match="a scalar is stored in more than one slice"):
            copies_for((), [(), ()])

    def test_a_gap_is_damage(self):
        with pytest.raises(DataLossError) as caught:
            copies_for(((0, 6), (0, 2)), [((0, 2), (0, 2)), ((3, 6), (0, 2))])
        assert str(caught.value) == "the stored slices hold 10 of the 12 elements of [0:6, 0:2]"

    def test_a_gap_elsewhere_does_no_harm(self):
        assert len(copies_for(((0, 2),), [((0, 2),), ((3, 6),)])) == 1

    def test_an_overlap_is_damage(self):
        with pytest.raises(DataLossError) as caught:
            copies_for(((0, 6),), [((0, 4),), ((3, 6),)])
        assert str(caught.value) == "stored slices [0:4] and [3:6] overlap"

    def test_an_overlap_and_a_gap_that_cancel_out_are_damage(self):
        with pytest.raises(DataLossError, match="overlap"):
            copies_for(((0, 6),), [((0, 3),), ((2, 5),)])

    def test_an_overlap_elsewhere_does_no_harm(self):
        assert len(copies_for(((0, 2),), [((0, 2),), ((2, 5),), ((4, 6),)])) == 1

    def test_empty_slices_overlap_nothing(self):
        assert copies_for(((0, 2),), [((0, 2),), ((1, 1),)]) == [(0, ((0, 2),))]

    @given(tilings(), st.data())
    def test_any_box_is_covered_by_a_tiling(self, tiling, data):
        shape, boxes = tiling
        wanted = data.draw(boxes_within(shape))
        count = np.zeros(shape, int)
        for at, shared in copies_for(wanted, boxes):
            assert intersection(shared, boxes[at]) == shared
            count[tuple(slice(*pair) for pair in shared)] += 1
        inside = np.zeros(shape, int)
        inside[tuple(slice(*pair) for pair in wanted)] = 1
        assert np.array_equal(count, inside)

    @given(tilings(), st.data())
    def test_a_tiling_without_one_piece_has_a_gap(self, tiling, data):
        shape, boxes = tiling
        lost = data.draw(st.integers(0, len(boxes) - 1))
        with pytest.raises(DataLossError, match=f"of the {np.prod(shape)} elements"):
            copies_for(tuple((0, size) for size in shape), [box for at, box in enumerate(boxes) if at != lost])

    @given(tilings(), st.data())
    def test_a_tiling_with_one_piece_too_many_overlaps(self, tiling, data):
        shape, boxes = tiling
        extra = data.draw(boxes_within(shape).filter(lambda box: 0 not in box_shape(box)))
        with pytest.raises(DataLossError, match="overlap"):
            copies_for(tuple((0, size) for size in shape), [*boxes, extra])


class TestSplitting:
    def test_larger_pieces_come_first_as_in_tensorflow(self):
        parts = PartitionedArray.split(np.arange(30).reshape(10, 3), 4).parts
        assert [str(part) for part, _ in parts] == ["0,3:0,3", "3,3:0,3", "6,2:0,3", "8,2:0,3"]

    def test_along_another_axis(self):
        whole = np.arange(14).reshape(2, 7)
        parts = PartitionedArray.split(whole, 3, axis=-1).parts
        assert [str(part) for part, _ in parts] == ["0,2:0,3", "0,2:3,2", "0,2:5,2"]
        assert np.array_equal(np.concatenate([piece for _, piece in parts], axis=1), whole)

    @pytest.mark.parametrize(("pieces", "axis"), [(0, 0), (-1, 0), (11, 0), (2, 2), (2, -3)])
    def test_what_cannot_be_cut_is_refused(self, pieces, axis):
        with pytest.raises(InvalidArgumentError, match=r"cannot cut shape \[10, 3\] into"):
            PartitionedArray.split(np.zeros((10, 3)), pieces, axis)

    def test_a_scalar_cannot_be_cut(self):
        with pytest.raises(InvalidArgumentError, match="cannot cut"):
            PartitionedArray.split(3.5, 1)
