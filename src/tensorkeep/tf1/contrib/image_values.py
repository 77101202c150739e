"""`tf.contrib.image`: colors turned in YIQ, and the connected parts of images."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, reshape, squeeze, stack
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.images.colors import convert_image_dtype
from tensorkeep.tf1.functions.linear_algebra.products import tensordot
from tensorkeep.tf1.functions.numbers.elementwise import cast, cos, sin
from tensorkeep.tf1.functions.random.numbers import random_uniform

_TO_YIQ: Final = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))


def adjust_hsv_in_yiq(
    image: TensorLike,
    delta_hue: TensorLike = 0,
    scale_saturation: TensorLike = 1,
    scale_value: TensorLike = 1,
    name: str | None = None,
) -> Tensor:
    """Images whose hue is turned by radians, and whose saturation and value are scaled, by one product with a matrix.

    In YIQ the hue is the angle of I and Q, and the saturation how long they are. Only data types clip.
    """
    with name_scope(name or "adjust_hsv_in_yiq"):
        given = convert(image, name="image")
        colors = convert_image_dtype(given, FLOAT32)
        hue, saturation, value = (cast(item, FLOAT32) for item in (delta_hue, scale_saturation, scale_value))
        turn, across = saturation * cos(hue), saturation * sin(hue)
        one, none = constant(1.0), constant(0.0)
        turned = reshape(stack([one, none, none, none, turn, -across, none, across, turn]), [3, 3]) * value
        there = np.array(_TO_YIQ)
        back, forth = (constant(item.astype(np.float32)) for item in (np.linalg.inv(there), there))
        matrix = tensordot(back, tensordot(turned, forth, 1), 1)
        changed = tensordot(colors, matrix, [[-1], [1]])
        changed.set_shape(given.shape)
        return convert_image_dtype(changed, given.dtype, saturate=True)


def random_hsv_in_yiq(
    image: TensorLike,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Tensor:
    """The same, by a turn and scales that are drawn anew each time."""
    if max_delta_hue < 0:
        raise InvalidArgumentError("max_delta must be non-negative.")
    for word, lower, upper in (
        ("saturation", lower_saturation, upper_saturation),
        ("value", lower_value, upper_value),
    ):
        if lower < 0:
            raise InvalidArgumentError(f"lower_{word} must be non-negative.")
        if lower > upper:
            raise InvalidArgumentError(f"lower_{word} must be < upper_{word}.")
    hue = random_uniform([], -max_delta_hue, max_delta_hue, seed=seed)
    saturation = random_uniform([], lower_saturation, upper_saturation, seed=seed)
    value = random_uniform([], lower_value, upper_value, seed=seed)
    drawn = (
        0 if max_delta_hue == 0 else hue,
        1.0 if lower_saturation == upper_saturation == 1 else saturation,
        1.0 if lower_value == upper_value == 1 else value,
    )
    return adjust_hsv_in_yiq(image, *drawn)


def connected_components(images: TensorLike) -> Tensor:
    """The number of the part that each pixel of an image, or of a batch of them, belongs to; 0 where it is 0.

    Pixels side by side, or one above the other, with the same value belong together. Parts are numbered from 1, in the
    order in which their first pixels come, through the whole batch.
    """
    given = convert(images, name="images")
    rank = given.static_shape.rank
    if rank not in (2, 3):
        raise InvalidArgumentError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.shape}")
    batch = given if rank == 3 else expand_dims(given, 0)
    parts = emit("ImageConnectedComponents", batch)
    return parts if rank == 3 else squeeze(parts, [0])
