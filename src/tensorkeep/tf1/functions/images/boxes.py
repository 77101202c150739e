"""Boxes on images, under the names of TensorFlow 1's `tf.image`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.images import detection, distortion, warping
from tensorkeep.tf1.functions.arrays.shapes import either, scope_of

_LOWEST = float("-inf")


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """The numbers of the best boxes, without those that overlap a better one too much."""
    with scope_of(name, "non_max_suppression"):
        iou_threshold = convert(iou_threshold, name="iou_threshold")
        score_threshold = convert(score_threshold, name="score_threshold")
        return emit(detection.non_max_suppression_v3, boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    soft_nms_sigma: TensorLike = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, and the scores; with a sigma these fall where boxes overlap, and none is dropped."""
    with scope_of(name, "non_max_suppression_with_scores"):
        iou_threshold = convert(iou_threshold, name="iou_threshold")
        score_threshold = convert(score_threshold, name="score_threshold")
        soft_nms_sigma = convert(soft_nms_sigma, name="soft_nms_sigma")
        places, kept, _ = detection.non_max_suppression_v5(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            soft_nms_sigma,
            pad_to_max_output_size=False,
        )
        return places, kept


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> Tensor:
    """As `non_max_suppression`, with overlaps that are given for every pair."""
    with scope_of(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert(overlap_threshold, name="overlap_threshold")
        return emit(
            detection.non_max_suppression_with_overlaps,
            overlaps,
            scores,
            max_output_size,
            overlap_threshold,
            score_threshold,
        )


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Sequence[Tensor]:
    """The best boxes of several images and classes: boxes, scores, classes and how many there are."""
    with scope_of(name, "combined_non_max_suppression"):
        iou_threshold = convert(iou_threshold, FLOAT32, "iou_threshold")
        score_threshold = convert(score_threshold, FLOAT32, "score_threshold")
        max_total_size = convert(max_total_size)
        return emit_tensors(
            detection.combined_non_max_suppression,
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike | None = None
) -> Tensor:
    """The images with the outlines of their boxes."""
    found: Tensor = (
        detection.draw_bounding_boxes(images, boxes, name=name)
        if colors is None
        else detection.draw_bounding_boxes_v2(images, boxes, colors, name=name)
    )
    return found


def generate_bounding_box_proposals(
    scores: TensorLike,
    bbox_deltas: TensorLike,
    image_info: TensorLike,
    anchors: TensorLike,
    nms_threshold: TensorLike = 0.7,
    pre_nms_topn: TensorLike = 6000,
    min_size: TensorLike = 16,
    post_nms_topn: int = 300,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Boxes that may hold objects. The graph can be built; TensorFlow runs it on GPUs only, nothing runs it here."""
    return emit_tensors(
        detection.generate_bounding_box_proposals,
        scores,
        bbox_deltas,
        image_info,
        anchors,
        nms_threshold,
        pre_nms_topn,
        min_size,
        post_nms_topn=post_nms_topn,
        name=name,
    )


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """A random part of an image that covers enough of some object: where to slice, how much, and as a box."""
    with scope_of(name, "sample_distorted_bounding_box"):
        return emit_tensors(
            distortion.sample_distorted_bounding_box_v2,
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Parts of images, all in one size."""
    return emit(
        warping.crop_and_resize,
        image,
        boxes,
        either("box_indices", box_indices, "box_ind", box_ind),
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def extract_glimpse(
    input: TensorLike,
    size: TensorLike,
    offsets: TensorLike,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Tensor:
    """A part of each image around an offset; beyond the image there is noise."""
    return emit(
        distortion.extract_glimpse,
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )
