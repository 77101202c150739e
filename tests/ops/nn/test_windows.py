"""Sliding windows: how many fit, where they stand, and what their taps meet."""

from __future__ import annotations

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.ops.nn.windows import (
    Layout,
    Padding,
    Placement,
    Sliding,
    centered_part,
    layout_of,
    lowest,
    narrow_array,
    output_size,
    padding_size,
    paddings_of,
    place,
    place_over_space,
    place_windows,
    tap_indices,
    widen_array,
)

sizes = st.integers(0, 12)
small = st.integers(1, 5)
paddings = st.sampled_from([b"SAME", b"VALID"]) | st.tuples(st.integers(0, 5), st.integers(0, 5))


def slow_windows(size: int, window: int, stride: int, dilation: int, padding: Padding) -> list[list[int | None]]:
    """For each window, the elements that its taps meet, and None for padding: slid along until it no longer fits."""
    reach = (window - 1) * dilation + 1
    before, after = padding if isinstance(padding, tuple) else (0, 0)
    if padding == b"SAME":
        while (before + size + after - reach) // stride + 1 < -(-size // stride):
            before, after = (before, after + 1) if before == after else (before + 1, after)
    starts = [start for start in range(-before, size + after, stride) if start + reach <= size + after]
    if padding == b"SAME":
        starts = starts[: -(-size // stride)]
    taps = [[start + tap * dilation for tap in range(window)] for start in starts]
    return [[place if 0 <= place < size else None for place in met] for met in taps]


@given(sizes, small, small, small, paddings)
def test_windows_are_as_many_as_can_be_slid_along(
    size: int, window: int, stride: int, dilation: int, padding: Padding
) -> None:
    try:
        placed = place(size, window, stride, dilation, padding)
    except InvalidArgumentError:
        assert slow_windows(size, window, stride, dilation, padding) == []
        return
    expected = slow_windows(size, window, stride, dilation, padding)
    assert placed.output == len(expected)
    met: list[list[int | None]] = [[None] * window for _ in range(placed.output)]
    for tap, (outputs, inputs) in enumerate(placed.taps()):
        for output, element in zip(range(placed.output)[outputs], range(size)[inputs], strict=True):
            met[output][tap] = element
    assert met == expected


@pytest.mark.parametrize(
    ("size", "window", "stride", "expected"),
    [
        (28, 3, 1, (28, 1, 1)),
        (28, 3, 2, (14, 0, 1)),  # the odd element goes behind
        (28, 2, 2, (14, 0, 0)),
        (27, 2, 2, (14, 0, 1)),
        (224, 7, 2, (112, 2, 3)),
        (5, 4, 1, (5, 1, 2)),
        (7, 1, 3, (3, 0, 0)),
        (2, 5, 1, (2, 2, 2)),
        (0, 3, 2, (0, 0, 1)),
    ],
)
def test_same_padding_keeps_every_stride(size: int, window: int, stride: int, expected: tuple[int, int, int]) -> None:
    placed = place(size, window, stride, padding=b"SAME")
    assert (placed.output, placed.before, placed.after) == expected


def test_a_dilated_window_reaches_further() -> None:
    assert place(9, 3, dilation=4).output == 1
    assert place(20, 3, 2, 4, b"SAME").effective == 9


def test_a_window_that_lacks_less_than_a_stride_leaves_no_output() -> None:
    assert output_size(1, 4, stride=4) == 0
    assert output_size(2, 4, stride=3) == 0
    assert place(1, 4, stride=4).taps() == ((slice(0, 0), slice(0, 0)),) * 4


def test_a_window_that_lacks_a_stride_or_more_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"a window of 9 elements does not fit into 4 .*padding 1 and 0"):
        output_size(4, 3, stride=2, dilation=4, padding=(1, 0))


@pytest.mark.parametrize(("window", "stride", "dilation"), [(0, 1, 1), (1, 0, 1), (1, 1, 0), (2, -1, 1)])
def test_windows_strides_and_dilations_are_positive(window: int, stride: int, dilation: int) -> None:
    with pytest.raises(InvalidArgumentError, match="expected 1 or more of each"):
        output_size(5, window, stride, dilation)


@given(small, small, small, paddings)
def test_of_an_unknown_dimension_nothing_is_known_but_given_padding(
    window: int, stride: int, dilation: int, padding: Padding
) -> None:
    assert output_size(None, window, stride, dilation, padding) is None
    added = padding_size(None, window, stride, dilation, padding)
    assert added == {b"SAME": None, b"VALID": (0, 0)}.get(padding, padding)


def test_an_unknown_window_matters_only_where_its_size_does() -> None:
    assert output_size(7, None, stride=2, padding=b"SAME") == 4
    assert output_size(7, None, stride=2, padding=b"VALID") is None
    assert output_size(7, None, padding=(1, 1)) is None
    assert padding_size(7, None, stride=2, padding=b"SAME") is None


def test_a_window_that_nobody_could_go_through_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="a window of 1099511627776 over 5 elements"):
        place(5, 1 << 40, 1, 1, b"SAME")


def test_an_unknown_padding_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="expected SAME, VALID or EXPLICIT"):
        output_size(7, 2, padding=b"FULL")


def test_a_data_format_names_the_axes() -> None:
    assert layout_of(b"NHWC", 4) == Layout(channel=3, spatial=(1, 2))
    assert layout_of(b"NCHW", 4) == Layout(channel=1, spatial=(2, 3))
    assert layout_of(b"NDHWC", 5) == Layout(channel=4, spatial=(1, 2, 3))
    assert layout_of(b"NCDHW", 5) == Layout(channel=1, spatial=(2, 3, 4))
    assert layout_of(b"CHANNELS_LAST", 3) == Layout(channel=2, spatial=(1,))
    assert layout_of(b"CHANNELS_FIRST", 4) == layout_of(b"NCHW", 4)
    assert layout_of(b"NCHW", 4).is_channels_first
    assert not layout_of(b"NHWC", 4).is_channels_first


@pytest.mark.parametrize(("data_format", "rank"), [(b"NHWC", 5), (b"NCDHW", 4), (b"CHANNELS_LAST", 2)])
def test_a_data_format_fits_a_rank(data_format: bytes, rank: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"a tensor of rank {rank}"):
        layout_of(data_format, rank)


def test_an_unknown_data_format_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidArgumentError, match=r"NCHW_VECT_C.*expected one of .*NHWC"):
        layout_of(b"NCHW_VECT_C", 4)


def test_a_layout_puts_sizes_where_they_belong() -> None:
    assert layout_of(b"NCHW", 4).with_space((2, 3, 4, 5), (6, 7)) == (2, 3, 6, 7)
    assert layout_of(b"NHWC", 4).with_space((2, 3, 4, 5), (6, 7), 8) == (2, 6, 7, 8)


def test_explicit_paddings_come_in_pairs() -> None:
    assert paddings_of(b"EXPLICIT", (0, 0, 1, 2, 3, 4, 0, 0), 4) == ((0, 0), (1, 2), (3, 4), (0, 0))
    assert paddings_of(b"SAME", (), 4) == (b"SAME",) * 4


@pytest.mark.parametrize(
    ("padding", "explicit"), [(b"SAME", (0, 0)), (b"EXPLICIT", (0, 0)), (b"EXPLICIT", (0, 0, -1, 0)), (b"EXPLICIT", ())]
)
def test_explicit_paddings_go_with_explicit_padding_alone(padding: bytes, explicit: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="explicit_paddings"):
        paddings_of(padding, explicit, 2)


def test_windows_have_a_size_a_stride_and_a_dilation_for_each_axis() -> None:
    with pytest.raises(InvalidArgumentError, match="expected one of each per axis"):
        place_windows((1, 5, 5, 1), (1, 2, 2, 1), Sliding((1, 1, 1), b"SAME"))


def test_windows_over_space_leave_batch_and_channels_alone() -> None:
    layout, placed = place_over_space((2, 3, 8, 9), (2, 3), Sliding((1, 1, 2, 3), b"VALID", (), b"NCHW"))
    assert layout.spatial == (2, 3)
    assert placed == (Placement(8, 2, 2, 1, 4, 0, 0), Placement(9, 3, 3, 1, 3, 0, 0))
    for sliding in (
        Sliding((2, 1, 1, 1), b"VALID"),
        Sliding((1, 1, 1, 3), b"VALID"),
        Sliding((1, 1, 1, 1), b"EXPLICIT", (0, 0, 0, 0, 0, 0, 1, 0)),
    ):
        with pytest.raises(UnimplementedError, match="only spatial axes"):
            place_over_space((2, 8, 9, 3), (2, 3), sliding)
    with pytest.raises(InvalidArgumentError, match="windows with 2 spatial dimensions"):
        place_over_space((2, 8, 3), (2, 3), Sliding((1, 1, 1), b"VALID"))


@given(st.tuples(sizes, sizes), st.tuples(small, small), st.tuples(small, small))
def test_taps_over_all_axes_are_those_of_each_in_row_major_order(
    shape: tuple[int, int], window: tuple[int, int], stride: tuple[int, int]
) -> None:
    placed = tuple(place(*axis, padding=b"SAME") for axis in zip(shape, window, stride, strict=True))
    array = np.arange(shape[0] * shape[1]).reshape(shape)
    expected = [(array[rows, columns], r, c) for (r, rows), (c, columns) in product(*(axis.taps() for axis in placed))]
    for (outputs, inputs), (elements, rows, columns) in zip(tap_indices(placed), expected, strict=True):
        np.testing.assert_array_equal(array[inputs], elements)
        output = np.zeros([axis.output for axis in placed])
        assert output[outputs].shape == output[rows, columns].shape == elements.shape


def test_an_axis_that_nothing_slides_along_is_taken_whole() -> None:
    placed = (place(4, 1), place(5, 2), place(6, 1))
    assert [inputs for _, inputs in tap_indices(placed)] == [
        (slice(None), slice(0, 4, 1), slice(None)),
        (slice(None), slice(1, 5, 1), slice(None)),
    ]


def test_what_three_dimensional_kernels_leave_over_lies_on_both_sides() -> None:
    array = np.arange(6).reshape(1, 6, 1, 1, 1)
    far_apart = Sliding((1, 3, 1, 1, 1), b"SAME")
    assert centered_part(array, (1, 1, 1), far_apart).ravel().tolist() == [1, 2, 3, 4]
    assert centered_part(array, (2, 1, 1), far_apart).ravel().tolist() == [0, 1, 2, 3, 4]
    assert centered_part(array, (3, 1, 1), far_apart).ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert centered_part(array, (5, 1, 1), far_apart).ravel().tolist() == [0, 1, 2, 3, 4, 5]
    assert centered_part(array, (1, 1, 1), far_apart._replace(padding=b"VALID")) is array


def test_half_types_are_computed_in_float32() -> None:
    for half in (np.float16, ml_dtypes.bfloat16):
        wide = widen_array(np.ones(2, half))
        assert wide.dtype == np.float32
        assert narrow_array(wide, np.dtype(half)).dtype == half
    for other in (np.float32, np.float64, np.int16, np.uint16, np.int32):
        array = np.ones(2, other)
        assert widen_array(array) is array
        assert narrow_array(array, array.dtype) is array


def test_the_lowest_number_of_a_type_is_finite() -> None:
    assert lowest(np.dtype(np.float32)) == np.finfo(np.float32).min
    assert lowest(np.dtype(np.float16)) == -65504
    assert float(lowest(np.dtype(ml_dtypes.bfloat16))) == -3.3895313892515355e38
    assert lowest(np.dtype(np.int8)) == -128
    assert lowest(np.dtype(np.uint16)) == 0
