"""How images differ, and where they change, under the names of TensorFlow 1's `tf.image`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, TensorSource
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    identity,
    pad,
    reshape,
    scope_of,
    shape,
    shape_n,
    size,
    stack,
    tile,
    unstack,
    zeros,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import Assert, cond
from tensorkeep.tf1.functions.images.colors import convert_image_dtype
from tensorkeep.tf1.functions.nn.activations import relu, softmax
from tensorkeep.tf1.functions.nn.convolution import depthwise_conv2d
from tensorkeep.tf1.functions.nn.pooling import avg_pool
from tensorkeep.tf1.functions.numbers.elementwise import (
    abs,
    cast,
    equal,
    greater_equal,
    log,
    not_equal,
    pow,
    range,
    square,
    squared_difference,
    subtract,
)
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_any, reduce_mean, reduce_prod, reduce_sum


def _readable(images: TensorLike) -> Tensor:
    """Images as a tensor: they may be a variable that is trained, as where a picture is painted in a style."""
    return images if isinstance(images, Tensor) else convert(images, name="images")


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the distances of neighbouring pixels, of each image."""
    with scope_of(name, "total_variation"):
        images = _readable(images)
        count = images.static_shape.rank
        if count == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            across = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif count == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise InvalidArgumentError("'images' must be either 3 or 4-dimensional.")
        return reduce_sum(abs(down), axis=axes) + reduce_sum(abs(across), axis=axes)


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """The differences of every pixel and the one below it, and the one beside it; zero in the last row or column."""
    image = _readable(image)
    if image.static_shape.rank != 4:
        raise InvalidArgumentError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.get_shape()}."
        )
    sizes = shape(image)
    batch, height, width, depth = unstack(sizes)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    across = image[:, :, 1:, :] - image[:, :, :-1, :]
    last = stack([batch, 1, width, depth])
    down = reshape(concat([down, zeros(last, image.dtype)], 1), sizes)
    last = stack([batch, height, 1, depth])
    across = reshape(concat([across, zeros(last, image.dtype)], 2), sizes)
    return down, across


_SOBEL: Final = [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]]


def sobel_edges(image: TensorLike) -> Tensor:
    """How steeply the image changes down and across, by Sobel's filters."""
    image = _readable(image)
    known = image.static_shape
    sizes = shape(image)
    kernels = np.expand_dims(np.transpose(np.asarray(_SOBEL), (1, 2, 0)), -2)
    filters = tile(constant(kernels, dtype=image.dtype), [1, 1, sizes[-1], 1], name="sobel_filters")
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    found = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    found = reshape(found, shape=concat([sizes, [len(_SOBEL)]], 0))
    found.set_shape(known.concatenate(Shape((len(_SOBEL),))))
    return found


def _compatible_checks(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """The shapes of two images, and the checks that they can be compared."""
    shapes = [image.static_shape for image in (first, second)]
    for found in shapes:
        if found.rank is not None and found.rank < 3:
            raise InvalidArgumentError(f"Shape {found} must have rank at least 3")
    dims = [found.dims for found in shapes]
    if dims[0] is not None and dims[1] is not None:
        Shape(dims[0][-3:]).merge(Shape(dims[1][-3:]))
        for one, other in zip(reversed(dims[0][:-3]), reversed(dims[1][:-3]), strict=False):
            if 1 not in (one, other) and None not in (one, other) and one != other:
                raise InvalidArgumentError(f"Two images are not compatible: {shapes[0]} and {shapes[1]}")
    sizes = shape_n([first, second])
    checks = [
        Assert(greater_equal(size(sizes[0]), 3), list(sizes), summarize=10),
        Assert(reduce_all(equal(sizes[0][-3:], sizes[1][-3:])), list(sizes), summarize=10),
    ]
    return sizes[0], sizes[1], checks


def psnr(a: Tensor | TensorSource, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """The ratio of the largest signal to the noise that tells two images apart, in decibels."""
    with scope_of(name, "PSNR", a, b):
        most = convert_image_dtype(cast(max_val, a.dtype), FLOAT32)
        first = convert_image_dtype(a, FLOAT32)
        second = convert_image_dtype(b, FLOAT32)
        error = reduce_mean(squared_difference(first, second), [-3, -2, -1])
        found = subtract(
            20 * log(most) / log(10.0),
            np.float32(10 / np.log(10)) * log(error),
            name="psnr",
        )
        _, _, checks = _compatible_checks(first, second)
        with control_dependencies(checks):
            return identity(found)


def _luminance_and_structure(
    x: Tensor, y: Tensor, reducer: Callable[[Tensor], Tensor], most: Any, constants: tuple[float, float]
) -> tuple[Tensor, Tensor]:
    k1, k2 = constants
    c1 = (k1 * most) ** 2
    c2 = (k2 * most) ** 2
    mean0 = reducer(x)
    mean1 = reducer(y)
    num0 = mean0 * mean1 * 2.0
    den0 = square(mean0) + square(mean1)
    luminance = (num0 + c1) / (den0 + c1)
    num1 = reducer(x * y) * 2.0
    den1 = reducer(square(x) + square(y))
    c2 *= 1.0
    structure = (num1 - num0 + c2) / (den1 - den0 + c2)
    return luminance, structure


def _gaussian(size: Any, sigma: Any) -> Tensor:
    """A square window of weights that fall like a bell, and add up to one."""
    size = convert(size, INT32)
    sigma = convert(sigma)
    places = cast(range(size), sigma.dtype)
    places -= cast(size - 1, sigma.dtype) / 2.0
    weights: Any = square(places)
    weights *= -0.5 / square(sigma)
    weights = reshape(weights, shape=[1, -1]) + reshape(weights, shape=[-1, 1])
    weights = softmax(reshape(weights, shape=[1, -1]))
    return reshape(weights, shape=[size, size, 1, 1])


def _similarity_per_channel(
    first: Tensor,
    second: Tensor,
    most: Any,
    window: tuple[int, float],
    constants: tuple[float, float],
    is_map: bool = False,
) -> tuple[Tensor, Tensor]:
    filter_size = constant(window[0], dtype=INT32)
    filter_sigma = constant(window[1], dtype=first.dtype)
    sizes = shape_n([first, second])
    checks = [
        Assert(reduce_all(greater_equal(found[-3:-1], filter_size)), [found, filter_size], summarize=8)
        for found in sizes
    ]
    with control_dependencies(checks):
        first = identity(first)
    kernel = _gaussian(filter_size, filter_sigma)
    kernel = tile(kernel, multiples=[1, 1, sizes[0][-1], 1])

    def reducer(x: Tensor) -> Tensor:
        inside = shape(x)
        flat = reshape(x, shape=concat([[-1], inside[-3:]], 0))
        found = depthwise_conv2d(flat, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return reshape(found, concat([inside[:-3], shape(found)[1:]], 0))

    luminance, structure = _luminance_and_structure(first, second, reducer, most, constants)
    if is_map:
        return luminance * structure, structure
    axes = constant([-3, -2], dtype=INT32)
    similarity = reduce_mean(luminance * structure, axes)
    return similarity, reduce_mean(structure, axes)


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """How alike two images look: the structural similarity, 1 for the same image."""
    with scope_of(None, "SSIM", img1, img2):
        first = convert(img1, name="img1")
        second = convert(img2, name="img2")
        _, _, checks = _compatible_checks(first, second)
        with control_dependencies(checks):
            first = identity(first)
        most = convert_image_dtype(cast(max_val, first.dtype), FLOAT32)
        first = convert_image_dtype(first, FLOAT32)
        second = convert_image_dtype(second, FLOAT32)
        window = (filter_size, filter_sigma)
        found, _ = _similarity_per_channel(first, second, most, window, (k1, k2), return_index_map)
        return reduce_mean(found, [-1])


_SCALE_WEIGHTS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Sequence[float] = _SCALE_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """How alike two images look at several scales, each half as large as the one before."""
    with scope_of(None, "MS-SSIM", img1, img2):
        first = convert(img1, name="img1")
        second = convert(img2, name="img2")
        shape1, shape2, checks = _compatible_checks(first, second)
        with control_dependencies(checks):
            first = identity(first)
        most = convert_image_dtype(cast(max_val, first.dtype), FLOAT32)
        images = [convert_image_dtype(first, FLOAT32), convert_image_dtype(second, FLOAT32)]
        heads = [sizes[:-3] for sizes in (shape1, shape2)]
        tails = [sizes[-3:] for sizes in (shape1, shape2)]
        divisor = constant([2, 2, 1], dtype=INT32)
        structures: list[Tensor] = []
        similarity: Any = None
        for scale, _ in enumerate(power_factors):
            with scope_of(None, f"Scale{scale}", *images):
                if scale:
                    images, tails = _halved_images(images, heads, tails, divisor)
                similarity, structure = _similarity_per_channel(
                    images[0], images[1], most, (filter_size, filter_sigma), (k1, k2)
                )
                structures.append(relu(structure))
        structures.pop()
        levels = stack([*structures, relu(similarity)], axis=-1)
        return reduce_mean(reduce_prod(pow(levels, power_factors), [-1]), [-1])


def _halved_images(
    images: Sequence[Tensor], heads: Sequence[Tensor], tails: Sequence[Tensor], divisor: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """Images of half the size, and their inner sizes; odd ones are first mirrored at their last row or column."""
    flat = [reshape(x, concat([[-1], tail], 0)) for x, tail in zip(images, tails, strict=True)]
    remainder = tails[0] % divisor
    is_odd = reduce_any(not_equal(remainder, 0))

    def extended() -> list[Tensor]:
        amounts = pad(expand_dims(remainder, -1), [[1, 0], [1, 0]])
        return [pad(x, amounts, mode="SYMMETRIC") for x in flat]

    even = cond(is_odd, extended, lambda: flat)
    halves = [avg_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID") for x in even]
    sizes = [found[1:] for found in shape_n(halves)]
    parts = zip(halves, heads, sizes, strict=True)
    return [reshape(x, concat([head, tail], 0)) for x, head, tail in parts], sizes
