"""`tf.image.non_max_suppression_padded` chooses the boxes that TensorFlow chooses.

TensorFlow puts the work into a function that the graph calls; here it is in the graph itself.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.errors import InvalidArgumentError
from tests.interop.programs import tensorflow_1


def boxes_and_scores(*batch: int, count: int = 40) -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    corners = random.uniform(0, 1, (*batch, count, 2))
    boxes = np.concatenate([corners, corners + random.uniform(0.1, 0.5, (*batch, count, 2))], -1)
    return boxes.astype(np.float32), random.permutation(np.prod((*batch, count))).reshape(*batch, count) / np.float32(
        np.prod((*batch, count))
    )


def chosen(tf: Any, boxes: Any, scores: Any, *arguments: Any, **options: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.placeholder(tf.float32, [None] * value.ndim) for value in (boxes, scores)]
        found = tf.image.non_max_suppression_padded(*given, *arguments, **options)
        return session.run(found, dict(zip(given, (boxes, scores.astype(np.float32)), strict=True)))


@pytest.mark.parametrize("batch", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"iou_threshold": 0.2, "score_threshold": 0.4},
        {"tile_size": 16},
        {"tile_size": 8, "iou_threshold": 0.3, "canonicalized_coordinates": True},
    ],
    ids=["plain", "thresholds", "tiles", "small tiles"],
)
def test_the_boxes_chosen_are_tensorflows(batch: tuple[int, ...], options: dict[str, Any]) -> None:
    boxes, scores = boxes_and_scores(*batch)
    if options.get("canonicalized_coordinates") is None:
        boxes = boxes[..., [2, 3, 0, 1]]
    with tensorflow_1():
        theirs = chosen(tf.compat.v1, boxes, scores, 15, pad_to_max_output_size=True, **options)
    ours = chosen(tk, boxes, scores, 15, pad_to_max_output_size=True, **options)
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_array_equal(mine, other)


def test_without_padding_there_are_as_many_as_are_chosen() -> None:
    boxes, scores = boxes_and_scores()
    with tensorflow_1():
        theirs = chosen(tf.compat.v1, boxes, scores, 30, 0.1)
    ours = chosen(tk, boxes, scores, 30, 0.1)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert len(ours[0]) == ours[1] < 30
    with pytest.raises(InvalidArgumentError, match="must be True for batched input"):
        chosen(tk, *boxes_and_scores(2), 3)


def test_boxes_that_are_sorted_already_stay_in_order() -> None:
    boxes, scores = boxes_and_scores(2)
    order = np.argsort(-scores, axis=1)
    boxes = np.take_along_axis(boxes, order[..., None], 1)
    scores = np.take_along_axis(scores, order, 1)
    options: dict[str, Any] = {"pad_to_max_output_size": True, "sorted_input": True, "tile_size": 8}
    with tensorflow_1():
        theirs = chosen(tf.compat.v1, boxes, scores, 12, 0.3, **options)
    for mine, other in zip(chosen(tk, boxes, scores, 12, 0.3, **options), theirs, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_the_signature_is_that_of_compat_v1() -> None:
    mine = inspect.signature(tk.image.non_max_suppression_padded)
    other = inspect.signature(tf.compat.v1.image.non_max_suppression_padded)
    assert [(p.name, p.default) for p in mine.parameters.values()] == [
        (p.name, p.default) for p in other.parameters.values()
    ]
