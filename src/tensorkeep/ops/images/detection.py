"""Objects in images: which of many boxes are kept, and boxes drawn."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.images._boxes import (
    Kept,
    Limits,
    Overlap,
    keep_best,
    overlap_of_boxes,
    overlap_of_table,
    pad_with_zeros,
)
from tensorkeep.ops.shared.dimensions import constant_integer, merge_sizes, of_rank
from tensorkeep.ops.shared.kernel_types import Array, Value
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars, with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Suppression

_BOX_TYPE: Final = "T: {half, float} = float"
_THRESHOLD_TYPE: Final = "T_threshold: {half, float} = float"
_PADDED: Final = "pad_to_max_output_size: bool = false"

non_max_suppression = op(
    "NonMaxSuppression(boxes: float, scores: float, max_output_size: int32) -> selected_indices: int32",
    "iou_threshold: float = 0.5",
)
non_max_suppression_v2 = op(
    "NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold)"
    " -> selected_indices: int32",
    _BOX_TYPE,
    _THRESHOLD_TYPE,
)
non_max_suppression_v3 = op(
    "NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold) -> selected_indices: int32",
    _BOX_TYPE,
    _THRESHOLD_TYPE,
)
non_max_suppression_v4 = op(
    "NonMaxSuppressionV4(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold) -> selected_indices: int32, valid_outputs: int32",
    _BOX_TYPE,
    _THRESHOLD_TYPE,
    _PADDED,
)
non_max_suppression_v5 = op(
    "NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T) -> selected_indices: int32, selected_scores: T, valid_outputs: int32",
    _BOX_TYPE,
    _PADDED,
)
non_max_suppression_with_overlaps = op(
    "NonMaxSuppressionWithOverlaps(overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float) -> selected_indices: int32"
)
not_differentiable(non_max_suppression, non_max_suppression_v2, non_max_suppression_with_overlaps)


def _check_suppressed(boxes: Tensor, scores: Tensor, columns: int | None, *scalars: Tensor) -> None:
    count, width = of_rank(boxes.static_shape, 2)
    merge_sizes(count, with_rank(scores, 1)[0])
    merge_sizes(width, count if columns is None else columns)
    for scalar in scalars:
        with_rank(scalar, 0)


@non_max_suppression.shape
@non_max_suppression_v2.shape
@non_max_suppression_v3.shape
def non_max_suppression_shape(boxes: Tensor, scores: Tensor, *scalars: Tensor) -> Shape:
    _check_suppressed(boxes, scores, 4, *scalars)
    return Shape((None,))


@non_max_suppression_with_overlaps.shape
def non_max_suppression_with_overlaps_shape(overlaps: Tensor, scores: Tensor, *scalars: Tensor) -> Shape:
    _check_suppressed(overlaps, scores, None, *scalars)
    return Shape((None,))


def _kept_size(max_output_size: Tensor, is_padded: bool) -> Shape:
    size = constant_integer(max_output_size) if is_padded else None
    if size is not None and size < 0:
        raise InvalidArgumentError(f"max_output_size must be non-negative, got {size}")
    return Shape((size,))


@non_max_suppression_v4.shape
def non_max_suppression_v4_shape(
    boxes: Tensor, scores: Tensor, max_output_size: Tensor, *thresholds: Tensor, pad_to_max_output_size: bool
) -> tuple[Shape, Shape]:
    _check_suppressed(boxes, scores, 4, max_output_size, *thresholds)
    return _kept_size(max_output_size, pad_to_max_output_size), SCALAR


@non_max_suppression_v5.shape
def non_max_suppression_v5_shape(
    boxes: Tensor, scores: Tensor, max_output_size: Tensor, *thresholds: Tensor, pad_to_max_output_size: bool
) -> tuple[Shape, Shape, Shape]:
    _check_suppressed(boxes, scores, 4, max_output_size, *thresholds)
    kept = _kept_size(max_output_size, pad_to_max_output_size)
    return kept, kept, SCALAR


def _check_scalars(**values: Any) -> None:
    for name, value in values.items():
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be 0-D, got shape {list(np.shape(value))}")


def _suppress_boxes(
    boxes: Array, scores: Array, size: Any, iou_threshold: Any, score_threshold: Any = None, sigma: Any = 0.0
) -> Kept:
    """The boxes kept, after the checks that TensorFlow makes; without a threshold of scores, all finite ones count."""
    _check_scalars(max_output_size=size, iou_threshold=iou_threshold, score_threshold=score_threshold)
    kind = np.asarray(scores).dtype.type
    least = np.finfo(kind).min if score_threshold is None else kind(score_threshold)
    limits = Limits(int(size), kind(iou_threshold), least, kind(sigma))
    if not 0 <= limits.overlap <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], got {iou_threshold}")
    if np.ndim(boxes) != 2 or boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must be 2-D and have 4 columns, got shape {list(np.shape(boxes))}")
    return _checked_and_kept(len(boxes), scores, overlap_of_boxes(boxes), limits)


def _checked_and_kept(count: int, scores: Array, overlap: Overlap, limits: Limits) -> Kept:
    if np.shape(scores) != (count,):
        raise InvalidArgumentError(f"scores has incompatible shape {list(np.shape(scores))}: there are {count} boxes")
    return keep_best(scores, overlap, limits)


def _places(kept: Kept) -> Array:
    return np.array(kept.places, np.int32)


@non_max_suppression.kernel
def non_max_suppression_kernel(boxes: Array, scores: Array, max_output_size: Array, *, iou_threshold: float) -> Array:
    return _places(_suppress_boxes(boxes, scores, max_output_size, iou_threshold))


@non_max_suppression_v2.kernel
def non_max_suppression_v2_kernel(boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array) -> Array:
    return _places(_suppress_boxes(boxes, scores, max_output_size, iou_threshold))


@non_max_suppression_v3.kernel
def non_max_suppression_v3_kernel(
    boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array
) -> Array:
    return _places(_suppress_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold))


@non_max_suppression_v4.kernel
def non_max_suppression_v4_kernel(
    boxes: Array,
    scores: Array,
    max_output_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Value, Value]:
    kept = _suppress_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold)
    places = _places(kept)
    size = int(max_output_size) if pad_to_max_output_size else len(places)
    return pad_with_zeros(places, size), np.int32(len(places))


@non_max_suppression_v5.kernel
def non_max_suppression_v5_kernel(
    boxes: Array,
    scores: Array,
    max_output_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    soft_nms_sigma: Array,
    *,
    pad_to_max_output_size: bool,
) -> tuple[Value, Value, Value]:
    _check_scalars(soft_nms_sigma=soft_nms_sigma)
    if not soft_nms_sigma >= 0:
        raise InvalidArgumentError(f"soft_nms_sigma_val must be >= 0, got {soft_nms_sigma}")
    kept = _suppress_boxes(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma)
    places = _places(kept)
    size = int(max_output_size) if pad_to_max_output_size else len(places)
    return pad_with_zeros(places, size), pad_with_zeros(kept.scores, size), np.int32(len(places))


@non_max_suppression_with_overlaps.kernel
def non_max_suppression_with_overlaps_kernel(
    overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array
) -> Array:
    _check_scalars(
        max_output_size=max_output_size, overlap_threshold=overlap_threshold, score_threshold=score_threshold
    )
    if np.ndim(overlaps) != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise InvalidArgumentError(f"overlaps must be square, got shape {list(np.shape(overlaps))}")
    limits = Limits(int(max_output_size), np.float32(overlap_threshold), np.float32(score_threshold), np.float32(0))
    return _places(_checked_and_kept(len(overlaps), scores, overlap_of_table(overlaps), limits))


# ---------------------------------------------------------------------------------------------- Several classes

combined_non_max_suppression = op(
    "CombinedNonMaxSuppression(boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float, score_threshold: float) -> nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, "
    "valid_detections: int32",
    "pad_per_class: bool = false",
    "clip_boxes: bool = true",
)


@combined_non_max_suppression.shape
def combined_non_max_suppression_shape(
    boxes: Tensor,
    scores: Tensor,
    max_output_size_per_class: Tensor,
    max_total_size: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    *,
    pad_per_class: bool,
) -> tuple[Shape, Shape, Shape, Shape]:
    check_scalars(max_output_size_per_class, max_total_size, iou_threshold, score_threshold)
    batch, count, kinds, columns = of_rank(boxes.static_shape, 4)
    _, score_count, classes = of_rank(scores.static_shape, 3)
    merge_sizes(columns, 4)
    merge_sizes(count, score_count)
    if kinds not in (None, 1) and classes is not None and kinds != classes:
        raise InvalidArgumentError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    total = constant_integer(max_total_size)
    if total is not None and total <= 0:
        raise InvalidArgumentError(f"max_total_size should be > 0, got {total}")
    size = _detections(total, classes, constant_integer(max_output_size_per_class), pad_per_class)
    return Shape((batch, size, 4)), Shape((batch, size)), Shape((batch, size)), Shape((batch,))


def _detections(total: int | None, classes: int | None, per_class: int | None, pad_per_class: bool) -> int | None:
    if not pad_per_class or total is None:
        return total
    if per_class is not None and per_class <= 0:
        raise InvalidArgumentError(f"max_output_size_per_class should be > 0, got {per_class}")
    if per_class is None or classes is None:
        return None
    return min(total, classes * per_class)


@combined_non_max_suppression.kernel
def combined_non_max_suppression_kernel(
    boxes: Array,
    scores: Array,
    max_output_size_per_class: Array,
    max_total_size: Array,
    iou_threshold: Array,
    score_threshold: Array,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Array, Array, Array, Array]:
    per_class, total = _check_combined(boxes, scores, max_output_size_per_class, max_total_size)
    _check_scalars(iou_threshold=iou_threshold, score_threshold=score_threshold)
    if not 0 <= iou_threshold <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], got {iou_threshold}")
    classes = scores.shape[2]
    size = min(total, per_class * classes) if pad_per_class else total
    check_allocation((len(boxes), size, 6), np.float32)
    result_boxes = np.zeros((len(boxes), size, 4), np.float32)
    result_scores, result_classes = (np.zeros((len(boxes), size), np.float32) for _ in range(2))
    valid = np.zeros(len(boxes), np.int32)
    limits = Limits(per_class, np.float32(iou_threshold), np.float32(score_threshold), np.float32(0))
    for image in range(len(boxes)):
        found = _best_of_classes(boxes[image], scores[image], limits, size)
        count = len(found[1])
        corners, result_scores[image, :count], result_classes[image, :count] = found
        result_boxes[image, :count] = np.clip(corners, 0, 1) if clip_boxes else corners
        valid[image] = count
    return result_boxes, result_scores, result_classes, valid


def _check_combined(boxes: Array, scores: Array, per_class: Any, total: Any) -> tuple[int, int]:
    if np.ndim(boxes) != 4 or np.ndim(scores) != 3:
        raise InvalidArgumentError(
            f"boxes must be 4-D and scores 3-D, got shapes {list(np.shape(boxes))} and {list(np.shape(scores))}"
        )
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise InvalidArgumentError("third dimension of boxes must be either 1 or num classes")
    if boxes.shape[3] != 4:
        raise InvalidArgumentError("boxes must have 4 columns")
    if boxes.shape[:2] != scores.shape[:2]:
        raise InvalidArgumentError("boxes and scores must have same batch size and number of boxes")
    _check_scalars(max_size_per_class=per_class, max_total_size=total)
    if per_class <= 0 or total <= 0:
        raise InvalidArgumentError("max_size_per_class and max_total_size must be positive")
    return int(per_class), int(total)


def _best_of_classes(boxes: Array, scores: Array, limits: Limits, size: int) -> tuple[Array, Array, Array]:
    """The best boxes of one image over all classes: corners, scores, classes."""
    corners, values, classes = [np.zeros((0, 4), np.float32)], [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]
    for kind in range(scores.shape[1]):
        own = boxes[:, kind if boxes.shape[1] > 1 else 0]
        kept = keep_best(scores[:, kind], overlap_of_boxes(own), limits)
        corners.append(own[kept.places].reshape(-1, 4))
        values.append(kept.scores)
        classes.append(np.full(len(kept.places), kind, np.float32))
    merged = np.concatenate(values)
    order = np.argsort(-merged, kind="stable")[:size]
    return np.concatenate(corners)[order], merged[order], np.concatenate(classes)[order]


# ---------------------------------------------------------------------------------------------------- Proposals

generate_bounding_box_proposals = op(
    "GenerateBoundingBoxProposals(scores: float, bbox_deltas: float, image_info: float, anchors: float, "
    "nms_threshold: float, pre_nms_topn: int32, min_size: float) -> rois: float, roi_probabilities: float",
    "post_nms_topn: int = 300",
)
not_differentiable(generate_bounding_box_proposals)


@generate_bounding_box_proposals.shape
def generate_bounding_box_proposals_shape(
    scores: Tensor, bbox_deltas: Tensor, image_info: Tensor, anchors: Tensor, *_: Tensor, post_nms_topn: int
) -> tuple[Shape, Shape]:
    images = of_rank(scores.static_shape, 4)[0]
    return Shape((images, post_nms_topn, 4)), Shape((images, post_nms_topn))


# ---------------------------------------------------------------------------------------------------- Drawing

draw_bounding_boxes = op("DrawBoundingBoxes(images: T, boxes: float) -> output: T", "T: {float, half} = float")
draw_bounding_boxes_v2 = op(
    "DrawBoundingBoxesV2(images: T, boxes: float, colors: float) -> output: T", "T: {float, half} = float"
)
not_differentiable(draw_bounding_boxes)


@draw_bounding_boxes.shape
@draw_bounding_boxes_v2.shape
def draw_bounding_boxes_shape(images: Tensor, boxes: Tensor, *_: Tensor) -> Shape:
    return images.static_shape if images.static_shape.rank is not None else UNKNOWN_SHAPE


# TensorFlow's colors, and their order: core/kernels/image/draw_bounding_box_op.cc.
_COLORS: Final = np.array(
    [
        [1, 1, 0, 1],  # yellow
        [0, 0, 1, 1],  # blue
        [1, 0, 0, 1],  # red
        [0, 1, 0, 1],  # lime
        [0.5, 0, 0.5, 1],  # purple
        [0.5, 0.5, 0, 1],  # olive
        [0.5, 0, 0, 1],  # maroon
        [0, 0, 0.5, 1],  # navy blue
        [0, 1, 1, 1],  # aqua
        [1, 0, 1, 1],  # fuchsia
    ],
    np.float32,
)


@draw_bounding_boxes.kernel
def draw_bounding_boxes_kernel(images: Array, boxes: Array) -> Array:
    return _draw_boxes(images, boxes, np.zeros((0, 4), np.float32))


@draw_bounding_boxes_v2.kernel
def draw_bounding_boxes_v2_kernel(images: Array, boxes: Array, colors: Array) -> Array:
    if np.ndim(colors) != 2:
        raise InvalidArgumentError(f"colors must be a 2-D matrix, got shape {list(np.shape(colors))}")
    return _draw_boxes(images, boxes, colors)


def _draw_boxes(images: Array, boxes: Array, colors: Array) -> Array:
    """The images with the outlines of their boxes; boxes outside or inverted are left out."""
    if np.ndim(images) != 4 or np.ndim(boxes) != 3:
        raise InvalidArgumentError("The rank of the images should be 4, that of the boxes tensor 3")
    if len(images) != len(boxes) or boxes.shape[2] != 4:
        raise InvalidArgumentError(
            f"The batch sizes should be the same and boxes of 4 numbers, got {images.shape} and {boxes.shape}"
        )
    _, height, width, depth = images.shape
    if depth not in (1, 3, 4):
        raise InvalidArgumentError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if colors.shape[1] < depth:
        raise InvalidArgumentError(f"colors must have equal or more channels than the image provided: {colors.shape}")
    table = colors if colors.size else (np.ones_like(_COLORS) if depth == 1 else _COLORS)
    canvas = images.copy()
    edges = np.array([height - 1, width - 1, height - 1, width - 1], np.float32)
    for picture, own in zip(canvas, boxes, strict=True):
        scaled = np.nan_to_num(own * edges, nan=-(2.0**62), posinf=2.0**62, neginf=-(2.0**62))
        places = np.clip(scaled, -(2.0**62), 2.0**62).astype(np.int64)
        for number, (top, left, bottom, right) in enumerate(places.tolist()):
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[number % len(table), :depth].astype(images.dtype)
            rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
            for row in (top, bottom):
                if 0 <= row < height:
                    picture[row, columns] = color
            for column in (left, right):
                if 0 <= column < width:
                    picture[rows, column] = color
    return canvas
