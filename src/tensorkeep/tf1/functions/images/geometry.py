"""Images turned, cropped, padded and resized, under the names of TensorFlow 1's `tf.image`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.images import resizing
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, pad, rank, reshape, reverse, scope_of, shape, stack
from tensorkeep.tf1.functions.arrays.shapes import transpose as transpose_axes
from tensorkeep.tf1.functions.arrays.slicing import slice as slice_of
from tensorkeep.tf1.functions.control.cases import case
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.images.checks import (
    Size,
    as_batch,
    checked_image,
    checks_that,
    dimensions,
    image_checks,
    is_tensor,
    known_size,
    known_sizes,
    larger,
    out_of_batch,
    same,
    smaller,
)
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    divide,
    equal,
    floor,
    less,
    logical_or,
    maximum,
    minimum,
    rsqrt,
)
from tensorkeep.tf1.functions.numbers.elementwise import round as round_values
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean, reduce_prod, reduce_std
from tensorkeep.tf1.functions.random.numbers import random_uniform

# ---------------------------------------------------------------------------------------------------- Turned


def _by_rank(image: Tensor, single: Callable[[], Tensor], batch: Callable[[], Tensor]) -> Tensor:
    """What is done with one image or with a batch; which it is may be known only when running."""
    count = image.static_shape.rank
    if count is None:
        found: Tensor = cond(equal(rank(image), 3), single, batch)
        return found
    if count not in (3, 4):
        raise InvalidArgumentError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return single() if count == 3 else batch()


def _as_shaped_as(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None] * 3 if image.static_shape.rank is None else image.static_shape)
    return result


def _flip(image: Any, axis: int, name: str) -> Tensor:
    with scope_of(None, name, image):
        checked = checked_image(convert(image, name="image"))
        return _by_rank(
            checked,
            lambda: _as_shaped_as(checked, reverse(checked, [axis])),
            lambda: reverse(checked, [axis + 1]),
        )


def flip_left_right(image: TensorLike) -> Tensor:
    """The image, mirrored along its width."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: TensorLike) -> Tensor:
    """The image, mirrored along its height."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, name: str) -> Tensor:
    with scope_of(None, name, image) as scope:
        checked = checked_image(convert(image, name="image"))

        def single() -> Tensor:
            chance = less(random_uniform(shape=[], minval=0, maxval=1.0, seed=seed), 0.5)
            return _as_shaped_as(checked, cond(chance, lambda: reverse(checked, [axis]), lambda: checked, name=scope))

        def batch() -> Tensor:
            count = shape(checked)[0]
            chances = random_uniform(shape=[count], minval=0, maxval=1.0, seed=seed)
            flips: Tensor = cast(round_values(reshape(chances, [count, 1, 1, 1])), checked.dtype)
            flipped = reverse(checked, [axis + 1])
            return flips * flipped + (1 - flips) * checked

        return _by_rank(checked, single, batch)


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """The image, or as often the image mirrored along its height."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """The image, or as often the image mirrored along its width."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """The image turned against the clock, `k` times by a right angle."""
    with scope_of(name, "rot90", image, k) as scope:
        checked = checked_image(convert(image, name="image"))
        times = convert(k, INT32, "k")
        times.shape.assert_has_rank(0)
        turns = times % 4
        return _by_rank(
            checked, lambda: _turned_image(checked, turns, 0, scope), lambda: _turned_image(checked, turns, 1, scope)
        )


def _turned_image(image: Tensor, turns: Tensor, first: int, name: str) -> Tensor:
    """`first` is the axis of the rows."""
    axes = [0, 2, 1, 3] if first else [1, 0, 2]
    cases = [
        (equal(turns, 1), lambda: transpose_axes(reverse(image, [first + 1]), axes)),
        (equal(turns, 2), lambda: reverse(image, [first, first + 1])),
        (equal(turns, 3), lambda: reverse(transpose_axes(image, axes), [first + 1])),
    ]
    result: Tensor = case(cases, default=lambda: image, exclusive=True, name=name)
    if first:
        dims = result.static_shape.dims or (None,) * 4
        result.set_shape([dims[0], None, None, dims[3]])
    else:
        dims = image.static_shape.dims or (None,) * 3
        result.set_shape([None, None, dims[2]])
    return result


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """The image with its rows as columns."""
    with scope_of(name, "transpose", image):
        checked = checked_image(convert(image, name="image"))
        return _by_rank(
            checked,
            lambda: transpose_axes(checked, [1, 0, 2], name=name),
            lambda: transpose_axes(checked, [0, 2, 1, 3], name=name),
        )


transpose_image = transpose

# --------------------------------------------------------------------------------------------- Cropped and padded


def central_crop(image: TensorLike, central_fraction: Size) -> Tensor:
    """The middle of the image, a fraction of its height and of its width."""
    with scope_of(None, "central_crop", image):
        image = convert(image, name="image")
        fraction = static_value(central_fraction) if isinstance(central_fraction, Tensor) else central_fraction
        if fraction is None:
            within = logical_or(central_fraction > 0.0, central_fraction <= 1.0)
            image = with_dependencies(checks_that(within, "central_fraction must be within (0, 1]"), image)
        elif fraction <= 0.0 or fraction > 1.0:
            raise InvalidArgumentError("central_fraction must be within (0, 1]")
        elif fraction == 1.0:
            return image
        checked_image(image)
        count = image.static_shape.rank
        if count not in (3, 4):
            raise InvalidArgumentError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {count}."
            )
        sizes = [_size(image, axis) for axis in (count - 3, count - 2)]
        starts = [_middle(size, central_fraction, fraction) for size in sizes]
        lengths = [size - start * 2 for size, start in zip(sizes, starts, strict=True)]
        batch = [0] * (count - 3)
        begin = stack([*batch, *starts, 0])
        extent = stack([*[-1] * len(batch), *lengths, -1])
        result = slice_of(image, begin, extent)
        dims = known_sizes(image, count)
        result.set_shape([*dims[: count - 3], *map(known_size, lengths), dims[-1]])
        return result


def _size(image: Tensor, axis: int) -> Any:
    dims = image.static_shape.dims
    size = None if dims is None else dims[axis]
    return shape(image)[axis] if size is None else size


def _middle(size: Any, given: Any, fraction: Any) -> Any:
    """Where the middle part of that fraction begins."""
    if not is_tensor(size) and fraction is not None:
        return int((float(size) - float(size) * fraction) / 2)
    wide = cast(size, FLOAT64)
    return cast((wide - wide * cast(given, FLOAT64)) / 2, INT32)


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """The image at an offset in a larger one, which is zero around it."""
    with scope_of(None, "pad_to_bounding_box", image):
        images, was_batch = as_batch(image)
        batch, height, width, depth = dimensions(images, 4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        checks = image_checks(images)
        checks += checks_that(offset_height >= 0, "offset_height must be >= 0")
        checks += checks_that(offset_width >= 0, "offset_width must be >= 0")
        checks += checks_that(after_width >= 0, "width must be <= target - offset")
        checks += checks_that(after_height >= 0, "height must be <= target - offset")
        images = with_dependencies(checks, images)
        amounts = [0, 0, offset_height, after_height, offset_width, after_width, 0, 0]
        padded = pad(images, reshape(stack(amounts), [4, 2]))
        padded.set_shape([*map(known_size, (batch, target_height, target_width, depth))])
        return out_of_batch(padded, was_batch)


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: Size,
    offset_width: Size,
    target_height: Size,
    target_width: Size,
) -> Tensor:
    """A part of the image, by where it begins and how large it is."""
    with scope_of(None, "crop_to_bounding_box", image):
        images, was_batch = as_batch(image)
        checks = image_checks(images)
        batch, height, width, depth = dimensions(images, 4)
        checks += checks_that(offset_width >= 0, "offset_width must be >= 0.")
        checks += checks_that(offset_height >= 0, "offset_height must be >= 0.")
        checks += checks_that(target_width > 0, "target_width must be > 0.")
        checks += checks_that(target_height > 0, "target_height must be > 0.")
        checks += checks_that(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += checks_that(height >= target_height + offset_height, "height must be >= target + offset.")
        images = with_dependencies(checks, images)
        begin = stack([0, offset_height, offset_width, 0])
        cropped = slice_of(images, begin, stack([shape(images)[0], target_height, target_width, shape(images)[3]]))
        cropped.set_shape([*map(known_size, (batch, target_height, target_width, depth))])
        return out_of_batch(cropped, was_batch)


def _checked_target(image: Any, target_height: Any, target_width: Any) -> tuple[Tensor, bool, list[Any]]:
    images, was_batch = as_batch(image)
    checks = image_checks(images)
    checks += checks_that(target_width > 0, "target_width must be > 0.")
    checks += checks_that(target_height > 0, "target_height must be > 0.")
    return with_dependencies(checks, images), was_batch, checks


def resize_image_with_crop_or_pad(image: TensorLike, target_height: Size, target_width: Size) -> Tensor:
    """The image, cropped in its middle or with zeros around it, to a height and a width."""
    with scope_of(None, "resize_image_with_crop_or_pad", image):
        images, was_batch, checks = _checked_target(image, target_height, target_width)
        if is_tensor(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(images, 4)
        crop_width, pad_width = _halves(target_width - width)
        crop_height, pad_height = _halves(target_height - height)
        kept = smaller(target_height, height), smaller(target_width, width)
        cropped = crop_to_bounding_box(images, crop_height, crop_width, *kept)
        resized = pad_to_bounding_box(cropped, pad_height, pad_width, target_height, target_width)
        _, found_height, found_width, _ = dimensions(resized, 4)
        checks = checks_that(same(found_height, target_height), "resized height is not correct.")
        checks += checks_that(same(found_width, target_width), "resized width is not correct.")
        return out_of_batch(with_dependencies(checks, resized), was_batch)


def _halves(difference: Any) -> tuple[Any, Any]:
    """How much to crop before, and how much to pad before, to grow by a difference."""
    return larger(-difference // 2, 0), larger(difference // 2, 0)


resize_with_crop_or_pad = resize_image_with_crop_or_pad

# ---------------------------------------------------------------------------------------------------- Resized


class ResizeMethod:
    """The ways of interpolating pixels when an image is resized."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_RESIZERS: Final = {
    0: resizing.resize_bilinear,
    1: resizing.resize_nearest_neighbor,
    2: resizing.resize_bicubic,
    3: resizing.resize_area,
    "bilinear": resizing.resize_bilinear,
    "nearest": resizing.resize_nearest_neighbor,
    "bicubic": resizing.resize_bicubic,
    "area": resizing.resize_area,
}


def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: TensorLike = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """The images in another height and width."""
    with scope_of(name, "resize", images, size):
        images = convert(images, name="images")
        count = images.static_shape.rank
        if count is None:
            raise InvalidArgumentError("'images' contains no shape.")
        if count not in (3, 4):
            raise InvalidArgumentError("'images' must have either 3 or 4 dimensions.")
        batch = images if count == 4 else expand_dims(images, 0)
        sizes = _converted_size(size)
        if preserve_aspect_ratio:
            sizes = _fitting_size(batch, sizes)
        wanted = _known_sizes(sizes)
        if None not in wanted and known_sizes(batch, 4)[1:3] == wanted:
            return out_of_batch(batch, count == 4)
        resizer = _RESIZERS.get(method)
        if resizer is None:
            raise InvalidArgumentError(f"Resize method is not implemented: {method!s}")
        resized = resizer(batch, sizes, align_corners=align_corners)
        resized.set_shape([None, *wanted, None])
        return out_of_batch(resized, count == 4)


resize = resize_images


def _converted_size(size: Any) -> Tensor:
    try:
        sizes = convert(size, INT32, "size")
    except (TypeError, ValueError):
        raise InvalidArgumentError("'size' must be a 1-D int32 Tensor") from None
    if not sizes.shape.is_compatible_with([2]):
        raise InvalidArgumentError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return sizes


def _fitting_size(images: Tensor, sizes: Tensor) -> Tensor:
    """The largest size within another at which an image is as broad for its height as before."""
    _, height, width, _ = dimensions(images, 4)
    by_height = cast(sizes[0], FLOAT32) / cast(height, FLOAT32)
    by_width = cast(sizes[1], FLOAT32) / cast(width, FLOAT32)
    factor = minimum(by_height, by_width)
    scaled = [cast(round_values(factor * cast(old, FLOAT32)), INT32) for old in (height, width)]
    return convert(scaled, INT32, "size")


def _known_sizes(sizes: Tensor) -> tuple[int | None, int | None]:
    """What TensorFlow's Python knows of a height and a width before running."""
    value = static_value(sizes)
    if value is not None:
        return int(value[0]), int(value[1])
    if sizes.op.type == "Pack":
        parts = [static_value(part) for part in sizes.op.inputs]
        height, width = (None if part is None else int(part) for part in parts)
        return height, width
    found = constant_shape(sizes) if sizes.op.type in ("StridedSlice", "ConcatV2", "Shape") else None
    if found is None or found.dims is None or len(found.dims) != 2:
        return None, None
    return found.dims[0], found.dims[1]


def resize_image_with_pad(
    image: TensorLike,
    target_height: Size,
    target_width: Size,
    method: TensorLike = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """The image as large as it can be in a height and a width without being distorted, with zeros around it."""
    with scope_of(None, "resize_image_with_pad", image):
        images, was_batch, _ = _checked_target(image, target_height, target_width)
        _, height, width, _ = dimensions(images, 4)
        sizes = [cast(size, dtype=FLOAT32) for size in (height, width, target_height, target_width)]
        ratio = larger(sizes[1] / sizes[3], sizes[0] / sizes[2])
        resized_sizes = [sizes[0] / ratio, sizes[1] / ratio]
        new_sizes = [cast(floor(size), dtype=INT32) for size in resized_sizes]
        gaps = [(target - size) / 2 for target, size in zip(sizes[2:], resized_sizes, strict=True)]
        whole_gaps = [floor(gap) for gap in gaps]
        above, beside = (larger(0, cast(gap, dtype=INT32)) for gap in whole_gaps)
        resized = resize_images(images, new_sizes, method, align_corners=align_corners)
        padded = pad_to_bounding_box(resized, above, beside, target_height, target_width)
        dimensions(padded, 4)
        return out_of_batch(padded, was_batch)


def resize_bicubic(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """The images in another size, by cubic polynomials."""
    return emit(
        resizing.resize_bicubic,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_bilinear(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """The images in another size, by linear interpolation."""
    return emit(
        resizing.resize_bilinear,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_nearest_neighbor(
    images: TensorLike,
    size: TensorLike,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:
    """The images in another size, by their nearest pixels."""
    return emit(
        resizing.resize_nearest_neighbor,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
        name=name,
    )


def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """The images in another size, by the means of what each pixel covers."""
    return emit(resizing.resize_area, images, size, align_corners=align_corners, name=name)


def per_image_standardization(image: TensorLike) -> Tensor:
    """The image with a mean of zero and a variance of one."""
    with scope_of(None, "per_image_standardization", image) as scope:
        image = checked_image(convert(image, name="image"))
        image = cast(image, dtype=FLOAT32)
        count = reduce_prod(shape(image)[-3:])
        mean = reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = rsqrt(cast(count, FLOAT32))
        adjusted = maximum(deviation, least)
        return divide(image - mean, adjusted, name=scope)
