"""What the functions of `tf.image` check of their images, before running where that can be, else when running."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions import operators as _operators
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, rank, shape, squeeze, unstack
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_greater_equal, assert_positive
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import equal, maximum, minimum

del _operators  # imported for what it installs

Size: TypeAlias = "Tensor | float"  # a number of pixels, or of parts of them


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Whether a value is known only when running: a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "handle")


def checks_that(condition: Tensor | bool, message: str) -> list[Any]:
    """The checks that a condition holds when running. One that is known to be false is an error now."""
    if is_tensor(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise InvalidArgumentError(message)
    return []


def dimensions(image: Tensor, count: int) -> list[Any]:
    """The sizes of an image: numbers where they are known, else tensors."""
    dims = image.static_shape.dims
    if dims is not None and None not in dims:
        return list(dims)
    found = unstack(shape(image), count)
    pairs = zip(known_sizes(image, count), found, strict=True)
    return [tensor if size is None else size for size, tensor in pairs]


def known_sizes(image: Tensor, count: int) -> tuple[int | None, ...]:
    """The sizes of an image of `count` dimensions, with None for those that are only known when running."""
    dims = image.static_shape.with_rank(count).dims
    assert dims is not None
    return dims


def image_checks(image: Tensor) -> list[Any]:
    """The checks that an image has three dimensions or more, and pixels."""
    found = image.static_shape
    if found.rank is not None and found.rank < 3:
        raise InvalidArgumentError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    dims = (None,) * 3 if found.dims is None else found.dims[-3:]
    if 0 in dims:
        raise InvalidArgumentError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")
    if None not in dims:
        return []
    return [
        assert_positive(shape(image)[-3:], ["inner 3 dims of 'image.shape' must be > 0."]),
        assert_greater_equal(rank(image), 3, message="'image' must be at least three-dimensional."),
    ]


def checked_image(image: Tensor) -> Tensor:
    """An image behind its checks."""
    return with_dependencies(image_checks(image), image)


def checked_grayscale(image: Tensor) -> Tensor:
    """An image of one channel, behind the check that it is one."""
    message = "Last dimension of a grayscale image should be size 1."
    found = image.static_shape
    if found.rank is not None and found.rank < 2:
        raise InvalidArgumentError(f"A grayscale image (shape {image.shape}) must be at least two-dimensional.")
    if found.dims is not None and None not in found.dims:
        if found.dims[-1] != 1:
            raise InvalidArgumentError(message)
        checks = []
    else:
        checks = [
            assert_equal(shape(image)[-1], 1, message=message),
            assert_greater_equal(rank(image), 3, message="A grayscale image must be at least two-dimensional."),
        ]
    return with_dependencies(checks, image)


def as_batch(image: TensorLike) -> tuple[Tensor, bool]:
    """Images as a batch, and whether they were one."""
    image = convert(image, name="image")
    count = image.static_shape.rank
    if count == 4:
        return image, True
    if count not in (3, None):
        raise InvalidArgumentError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    batch = expand_dims(image, 0)
    if count is None:
        batch.set_shape([None] * 4)
    return batch, False


def out_of_batch(images: Tensor, was_batch: bool) -> Tensor:
    """The opposite of `as_batch`."""
    return images if was_batch else squeeze(images, axis=[0])


def larger(x: Size, y: Size) -> Size:
    """The larger of two: a tensor if either is one, else a number."""
    return maximum(x, y) if is_tensor(x) or is_tensor(y) else max(x, y)


def smaller(x: Size, y: Size) -> Size:
    """The smaller of two: a tensor if either is one, else a number."""
    return minimum(x, y) if is_tensor(x) or is_tensor(y) else min(x, y)


def same(x: Size, y: Size) -> Tensor | bool:
    """Whether two are equal: a tensor if either is one, else whether they are."""
    return equal(x, y) if is_tensor(x) or is_tensor(y) else x == y


def known_size(size: Size) -> int | None:
    """A size, if it is known before running."""
    return None if isinstance(size, Tensor) or is_tensor(size) else int(size)
