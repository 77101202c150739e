"""Objects in images: which of many boxes are kept."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


@rule("NonMaxSuppression")
def non_max_suppression(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size: Term, *, iou_threshold: float
) -> Term:  # fmt: skip
    return to.cast(_kept_boxes(to, boxes, scores, max_output_size, to.constant(iou_threshold, FLOAT32)), INT32)


@rule("NonMaxSuppressionV2")
def non_max_suppression_v2(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size: Term, iou_threshold: Term
) -> Term:  # fmt: skip
    return to.cast(_kept_boxes(to, boxes, scores, max_output_size, iou_threshold), INT32)


@rule("NonMaxSuppressionV3")
def non_max_suppression_v3(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size: Term, iou_threshold: Term, score_threshold: Term
) -> Term:  # fmt: skip
    return to.cast(_kept_boxes(to, boxes, scores, max_output_size, iou_threshold, score_threshold), INT32)


@rule("NonMaxSuppressionV4")
def non_max_suppression_v4(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size: Term, iou_threshold: Term, score_threshold: Term, *,
    pad_to_max_output_size: bool,
) -> tuple[Term, Term]:  # fmt: skip
    kept = _kept_boxes(to, boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = to.squeeze(to.shape(kept), [0])
    if pad_to_max_output_size:
        kept = _filled_vector(to, kept, count, max_output_size)
    return to.cast(kept, INT32), to.cast(count, INT32)


@rule("NonMaxSuppressionV5")
def non_max_suppression_v5(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size: Term, iou_threshold: Term, score_threshold: Term,
    soft_nms_sigma: Term, *, pad_to_max_output_size: bool,
) -> tuple[Term, Term, Term]:  # fmt: skip
    if to.known_array(soft_nms_sigma, "how much scores fall with overlaps") != 0:
        to.refuse("ONNX drops boxes that overlap, and cannot lower their scores instead")
    kept = _kept_boxes(to, boxes, scores, max_output_size, iou_threshold, score_threshold)
    count = to.squeeze(to.shape(kept), [0])
    values = to.node("Gather", scores, kept, axis=0)
    if pad_to_max_output_size:
        kept, values = (_filled_vector(to, item, count, max_output_size) for item in (kept, values))
    return to.cast(kept, INT32), values, to.cast(count, INT32)


def _kept_boxes(
    to: OnnxGraph, boxes: Term, scores: Term, count: Term, overlap: Term, score: Term | None = None
) -> Term:  # fmt: skip
    """The numbers of the boxes that are kept, best first. Without a least score, all that are finite count."""
    if to.model.is_for_engine:
        to.refuse("ONNX does not fail for thresholds that are out of their range")
    if any(term.dtype is not FLOAT32 for term in (boxes, scores)):
        to.refuse("overlaps and scores of halves are compared as halves, which ONNX Runtime does not do")
    least = to.constant(float(np.finfo(np.float32).min), FLOAT32) if score is None else to.cast(score, FLOAT32)
    vectors = [to.reshape(item, [1]) for item in (to.cast(count, INT64), to.cast(overlap, FLOAT32), least)]
    chosen = to.node(
        "NonMaxSuppression", to.unsqueeze(boxes, [0]), to.unsqueeze(scores, [0, 1]), *vectors, dtype=INT64
    )  # (kept, 3): of which image, class and box
    return to.squeeze(to.slice(chosen, [2], [3], [1]), [1])


def _filled_vector(to: OnnxGraph, values: Term, count: Term, size: Term) -> Term:
    """A vector with zeros after it up to a size."""
    lacking = to.node("Sub", to.cast(size, INT64), count)
    around = to.concat([to.constant([0]), to.unsqueeze(lacking, [0])], 0)
    return to.node("Pad", values, around)


@rule("CombinedNonMaxSuppression")
def combined_non_max_suppression(
    to: OnnxGraph, boxes: Term, scores: Term, max_output_size_per_class: Term, max_total_size: Term,
    iou_threshold: Term, score_threshold: Term, *, pad_per_class: bool, clip_boxes: bool,
) -> tuple[Term, Term, Term, Term]:  # fmt: skip
    """The best boxes of each image over all classes, each class for itself suppressed.

    Scores of boxes that are not kept become the least of all, so that the best come first when sorted.
    """
    if to.model.is_for_engine:
        to.refuse("ONNX does not fail for thresholds that are out of their range")
    total = int(to.known_array(max_total_size, "how many boxes an image has at most"))
    per_class = int(to.known_array(max_output_size_per_class, "how many boxes a class has at most"))
    count, kinds, classes = scores.size(1), boxes.size(2), scores.size(2)
    if count is None or kinds is None or classes is None:
        to.refuse("it is not known how many boxes or classes there are")
    by_class = to.transpose(scores, [0, 2, 1])  # (images, classes, boxes)
    if kinds == 1:
        chosen = _chosen_boxes(to, to.squeeze(boxes, [2]), by_class, per_class, iou_threshold, score_threshold)
    else:
        own = to.reshape(to.transpose(boxes, [0, 2, 1, 3]), [-1, count, 4])
        found = _chosen_boxes(to, own, to.reshape(by_class, [-1, 1, count]), per_class, iou_threshold, score_threshold)
        images, _, places = to.split(found, [1, 1, 1], 1)
        number = to.constant(classes)
        chosen = to.concat([to.node("Div", images, number), to.node("Mod", images, number), places], 1)
    lowest = to.constant(float(np.finfo(np.float32).min), FLOAT32)
    none = to.node("Expand", lowest, to.shape(by_class))
    kept = to.node("ScatterND", none, chosen, to.node("GatherND", by_class, chosen))
    size = min(total, classes * per_class) if pad_per_class else total
    flat = to.reshape(kept, [-1, classes * count])
    most = min(size, classes * count)
    values, order = to.node_with_outputs("TopK", [flat, to.constant([most])], 2, [None, INT64], attrs={"axis": 1})
    is_kept = to.node("Greater", values, lowest, dtype=BOOL)
    number = to.constant(count)
    kind, place = to.node("Div", order, number), to.node("Mod", order, number)
    corners = _corners(to, boxes, kind, place, kinds)
    if clip_boxes:
        corners = to.node("Clip", corners, to.constant(0, FLOAT32), to.constant(1, FLOAT32))
    zero = to.constant(0, FLOAT32)
    results = [
        to.node("Where", to.unsqueeze(is_kept, [2]), corners, zero, dtype=FLOAT32),
        to.node("Where", is_kept, values, zero, dtype=FLOAT32),
        to.node("Where", is_kept, to.cast(kind, FLOAT32), zero, dtype=FLOAT32),
    ]
    if most < size:
        lacking = [[0, 0, 0, 0, size - most, 0], [0, 0, 0, size - most], [0, 0, 0, size - most]]
        results = [to.node("Pad", item, to.constant(pads)) for item, pads in zip(results, lacking, strict=True)]
    valid = to.reduce("ReduceSum", to.cast(is_kept, INT32), [1])
    return results[0], results[1], results[2], valid


def _chosen_boxes(
    to: OnnxGraph, boxes: Term, scores: Term, per_class: int, iou_threshold: Term, score_threshold: Term
) -> Term:
    limits = [to.constant([per_class]), to.reshape(iou_threshold, [1]), to.reshape(score_threshold, [1])]
    return to.node("NonMaxSuppression", boxes, scores, *limits, dtype=INT64)


def _corners(to: OnnxGraph, boxes: Term, kind: Term, place: Term, kinds: int) -> Term:
    """The boxes (images, boxes, kinds, 4) of which kinds and places (images, best) are given."""
    flat = to.reshape(boxes, [0, -1, 4])
    if kinds > 1:
        place = to.node("Add", to.node("Mul", place, to.constant(kinds)), kind)
    return to.node("GatherND", flat, to.unsqueeze(place, [2]), batch_dims=1)
