"""Suppression of boxes in batches: tile by tile, by the ops of a graph, as TensorFlow's second form of it has it.

Boxes are sorted by score and padded to whole tiles. A tile first loses what overlaps boxes that earlier tiles kept, and
then, until nothing changes, what overlaps better boxes of its own. What is lost becomes a box of zeros.
"""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    pad,
    reshape,
    scope_of,
    shape,
    split,
    tile,
    transpose,
    where,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.arrays.slicing import slice as cut
from tensorkeep.tf1.functions.arrays.sorting import argsort
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond, while_loop
from tensorkeep.tf1.functions.nn.activations import top_k
from tensorkeep.tf1.functions.numbers.elementwise import cast, ceil, equal, less_equal, logical_and, maximum, minimum
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_any, reduce_max, reduce_min, reduce_sum

_NO_THRESHOLD: Final = float("-inf")
_TINY: Final = 1e-8


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Tensor, Tensor]:
    """Which boxes are kept, padded with zeros, and how many; of [..., boxes, 4] and [..., boxes]."""
    with scope_of(name, "non_max_suppression_padded"):
        boxes, scores = convert(boxes, name="boxes"), convert(scores, name="scores")
        rank = boxes.static_shape.rank
        if not pad_to_max_output_size and rank is not None and rank > 2:
            raise InvalidArgumentError(
                f"'pad_to_max_output_size' (value {pad_to_max_output_size}) must be True for batched input"
            )
        batch_dims = shape(boxes)[:-2]
        prepared = _prepare_boxes(boxes, scores, score_threshold, canonicalized_coordinates, sorted_input)
        kept, count = _kept_places(*prepared, max_output_size, iou_threshold, sorted_input, tile_size)
        if not pad_to_max_output_size:
            count = reshape(count, batch_dims)
            return kept[0, :count], count
        wanted = concat([batch_dims, expand_dims(max_output_size, 0)], 0)
        return reshape(kept, wanted), reshape(count, batch_dims)


def _prepare_boxes(
    boxes: Tensor, scores: Tensor, score_threshold: Any, is_canonical: bool, is_sorted: bool
) -> tuple[Tensor, Tensor]:
    """Boxes, [batch, boxes, 4], from their upper left corners on and by falling scores, and where each had been."""
    count = shape(boxes)[-2]
    boxes, scores = reshape(boxes, [-1, count, 4]), reshape(scores, [-1, count])
    if score_threshold != _NO_THRESHOLD:
        with name_scope("filter_by_score"):
            is_good = cast(scores > score_threshold, scores.dtype)
            scores = scores * is_good
            boxes = boxes * expand_dims(cast(is_good, boxes.dtype), 2)
    if not is_canonical:
        with name_scope("canonicalize_coordinates"):
            top, left, bottom, right = split(boxes, 4, axis=2)
            top, bottom = _in_order(top, bottom)
            left, right = _in_order(left, right)
            boxes = concat([top, left, bottom, right], axis=2)
    if is_sorted:
        return boxes, zeros_like(scores, dtype=INT32)
    with name_scope("sort_scores_and_boxes"):
        order = argsort(scores, axis=1, direction="DESCENDING")
        return gather(boxes, order, axis=1, batch_dims=1), order


def _in_order(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The two coordinates in ascending order; the first box decides for all."""
    is_in_order = reduce_all(less_equal(first[0, 0, 0], second[0, 0, 0]))
    lesser, greater = cond(is_in_order, lambda: (first, second), lambda: (second, first))
    return lesser, greater


def _kept_places(
    boxes: Tensor, order: Tensor, most: Any, iou_threshold: Any, is_sorted: bool, tile_size: int
) -> tuple[Tensor, Tensor]:
    """The places of the boxes kept, `most` of each batch, zeros after them; and how many they are."""
    batch, count = shape(boxes)[0], shape(boxes)[1]
    tiles = cast(ceil(cast(maximum(count, most), FLOAT32) / cast(tile_size, FLOAT32)), INT32)
    padded_count = tiles * tile_size
    padded = pad(cast(boxes, FLOAT32), [[0, 0], [0, padded_count - count], [0, 0]])
    left, found = _suppress_boxes(padded, batch, tiles, most, convert(iou_threshold, FLOAT32), tile_size)
    found = minimum(found, most)
    is_kept = cast(reduce_any(left > 0, [2]), INT32)
    backwards = expand_dims(number_range(padded_count, 0, -1), 0)
    places = padded_count - cast(top_k(is_kept * backwards, most)[0], INT32)
    places = minimum(places, count - 1)
    if not is_sorted:
        flat = reshape(places + expand_dims(number_range(batch) * count, 1), [-1])
        places = reshape(gather(reshape(order, [-1]), flat), [batch, -1])
    is_found = expand_dims(number_range(most), 0) < expand_dims(found, 1)
    return where(is_found, places, zeros([batch, most], dtype=INT32)), found


def _suppress_boxes(
    boxes: Tensor, batch: Tensor, tiles: Tensor, most: Any, iou_threshold: Tensor, tile_size: int
) -> tuple[Tensor, Tensor]:
    """Selects boxes tile by tile until there are enough: the boxes, suppressed ones as zeros, and the count."""

    def goes_on(_: Tensor, found: Tensor, index: Tensor) -> Tensor:
        return logical_and(reduce_min(found) < most, index < tiles)

    def step(boxes: Tensor, found: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        with name_scope("suppression_loop_body"):
            here = cut(boxes, [0, index * tile_size, 0], [batch, tile_size, 4])
            here = _without_kept_before(boxes, here, batch, iou_threshold, index, tile_size)
            here = _without_better_ones(here, batch, iou_threshold, tile_size)
            is_here = reshape(cast(equal(number_range(tiles), index), boxes.dtype), [1, -1, 1, 1])
            others = reshape(boxes, [batch, tiles, tile_size, 4]) * (1 - is_here)
            replaced = tile(expand_dims(here, [1]), [1, tiles, 1, 1]) * is_here + others
            more = reduce_sum(cast(reduce_any(here > 0, [2]), INT32), [1])
            return reshape(replaced, [batch, -1, 4]), found + more, index + 1

    start = [boxes, zeros([batch], INT32), constant(0)]
    boxes, found, _ = while_loop(goes_on, step, start, shape_invariants=_shapes([None, None, 4], [None], []))
    return boxes, found


def _shapes(*sizes: list[int | None]) -> list[Any]:
    return [TensorShape(size) for size in sizes]


def _without_kept_before(
    boxes: Tensor, here: Tensor, batch: Tensor, iou_threshold: Tensor, index: Tensor, tile_size: int
) -> Tensor:
    """A tile without what overlaps the boxes that are left of the tiles before."""

    def step(here: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        before = cut(boxes, [0, other * tile_size, 0], [batch, tile_size, 4])
        is_free = reduce_all(_overlaps(before, here) < iou_threshold, [1])
        return expand_dims(cast(is_free, here.dtype), 2) * here, other + 1

    left, _ = while_loop(
        lambda _, other: other < index, step, [here, constant(0)], shape_invariants=_shapes([None, None, 4], [])
    )
    found: Tensor = left
    return found


def _without_better_ones(here: Tensor, batch: Tensor, iou_threshold: Tensor, tile_size: int) -> Tensor:
    """A tile without what overlaps boxes before it in the tile that nothing suppresses."""
    overlaps = _overlaps(here, here)
    numbers = number_range(tile_size)
    is_later = expand_dims(reshape(numbers, [1, -1]) > reshape(numbers, [-1, 1]), 0)
    overlaps = overlaps * cast(logical_and(is_later, overlaps >= iou_threshold), overlaps.dtype)

    def step(overlaps: Tensor, _: Tensor, total: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        is_free = reshape(reduce_max(overlaps, 1) < iou_threshold, [batch, -1, 1])
        by_free = reduce_max(cast(is_free, overlaps.dtype) * overlaps, 1)
        left = reshape(cast(by_free < iou_threshold, overlaps.dtype), [batch, -1, 1]) * overlaps
        new_total = reduce_sum(left, [1, 2])
        return left, reduce_any(total - new_total > iou_threshold), new_total

    start = [overlaps, constant(True), reduce_sum(overlaps, [1, 2])]
    invariants = _shapes([None, None, None], [], [None])
    overlaps, _, _ = while_loop(lambda _, goes_on, __: goes_on, step, start, shape_invariants=invariants)
    is_suppressed = reduce_sum(overlaps, 1) > 0
    return here * expand_dims(1.0 - cast(is_suppressed, here.dtype), 2)


def _overlaps(first: Tensor, second: Tensor) -> Tensor:
    """Intersection over union of every box with every other: [batch, of the first, of the second]."""
    with name_scope("bbox_overlap"):
        top, left, bottom, right = split(first, 4, axis=2)
        edges = split(second, 4, axis=2)
        their_top, their_left, their_bottom, their_right = [transpose(edge, [0, 2, 1]) for edge in edges]
        width = maximum(minimum(right, their_right) - maximum(left, their_left), 0)
        height = maximum(minimum(bottom, their_bottom) - maximum(top, their_top), 0)
        common = width * height
        area = (bottom - top) * (right - left)
        their_area = (their_bottom - their_top) * (their_right - their_left)
        found: Tensor = common / (area + their_area - common + _TINY)
        return found
