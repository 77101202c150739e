"""Parts of images taken at random, or where attention is: distorted boxes, random crops, glimpses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.images.resizing import stated_sizes
from tensorkeep.ops.random.distributions import standard_normal, uniform
from tensorkeep.ops.random.philox import WORDS, PhiloxGenerator, unit_singles
from tensorkeep.ops.random.sampling import seeded_generator, stream_of
from tensorkeep.ops.shared.dimensions import constant_integers, merge_sizes, of_rank
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

_BLOCKS_AT_ONCE: Final = 64


class Words:
    """The random words of a generator, one after the other, and small numbers made of them."""

    def __init__(self, generator: PhiloxGenerator) -> None:
        self._words = self._stream(generator)

    @staticmethod
    def _stream(generator: PhiloxGenerator) -> Iterator[int]:
        first = 0
        while True:
            yield from generator.words(_BLOCKS_AT_ONCE, first).reshape(-1).tolist()
            first += _BLOCKS_AT_ONCE

    def word(self) -> int:
        return next(self._words)

    def unit(self) -> np.float32:
        """A number of [0, 1)."""
        return np.float32(unit_singles(np.array([self.word()], np.uint32))[0])

    def below(self, limit: int) -> int:
        """A whole number below a limit, all alike: words that would favour some are passed over."""
        if not limit:
            return 0 * self.word()
        if not limit & (limit - 1):
            return self.word() & (limit - 1)
        rejected = (2**32 - 1) % limit + 1
        while (word := self.word()) < rejected:
            pass
        return word % limit


# ------------------------------------------------------------------------------------------------- Distorted boxes

_RANGES: Final = (
    "aspect_ratio_range: list(float) = [0.75, 1.33]",
    "area_range: list(float) = [0.05, 1.0]",
    "max_attempts: int = 100",
    "use_image_if_no_bounding_boxes: bool = false",
)
_SIZE_TYPE: Final = "T: {uint8, int8, int16, int32, int64}"
_RESULTS: Final = "begin: T, size: T, bboxes: float"
sample_distorted_bounding_box = op(
    f"SampleDistortedBoundingBox(image_size: T, bounding_boxes: float) -> {_RESULTS}",
    _SIZE_TYPE,
    "seed: int = 0",
    "seed2: int = 0",
    "min_object_covered: float = 0.1",
    *_RANGES,
    "stateful",
)
sample_distorted_bounding_box_v2 = op(
    f"SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float, min_object_covered: float) -> {_RESULTS}",
    _SIZE_TYPE,
    "seed: int = 0",
    "seed2: int = 0",
    *_RANGES,
    "stateful",
)
stateless_sample_distorted_bounding_box = op(
    "StatelessSampleDistortedBoundingBox(image_size: T, bounding_boxes: float, min_object_covered: float, seed: Tseed)"
    f" -> {_RESULTS}",
    _SIZE_TYPE,
    "Tseed: {int32, int64}",
    *_RANGES,
)
not_differentiable(sample_distorted_bounding_box, sample_distorted_bounding_box_v2)


def _distorted_shape(image_size: Tensor, bounding_boxes: Tensor, *_: Tensor) -> tuple[Shape, Shape, Shape]:
    merge_sizes(with_rank(image_size, 1)[0], 3)
    merge_sizes(of_rank(bounding_boxes.static_shape, 3)[2], 4)
    return Shape((3,)), Shape((3,)), Shape((1, 1, 4))


for _spec in (
    sample_distorted_bounding_box,
    sample_distorted_bounding_box_v2,
    stateless_sample_distorted_bounding_box,
):
    _spec.shape(_distorted_shape)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Whole pixels: from the first row and column, up to but without the last."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> np.float32:
        return np.float32((self.right - self.left) * (self.bottom - self.top))

    def intersection(self, other: Rectangle) -> Rectangle:
        left, top = max(self.left, other.left), max(self.top, other.top)
        right, bottom = min(self.right, other.right), min(self.bottom, other.bottom)
        return Rectangle(0, 0, 0, 0) if left > right or top > bottom else Rectangle(left, top, right, bottom)

    def covers_enough(self, least: np.float32, objects: list[Rectangle]) -> bool:
        """Whether the share of some object that lies inside is large enough."""
        if self.area < 1:
            return False
        seen = (item for item in objects if item.area >= 1)
        return any(np.float32(self.intersection(item).area / item.area) >= least for item in seen)


@dataclass(frozen=True, slots=True)
class Ranges:
    """What a box may be: its ratio of width to height, its share of the image, how often to try."""

    ratios: tuple[float, ...]
    areas: tuple[float, ...]
    attempts: int
    takes_whole: bool

    def check(self) -> None:
        for name, pair in (("Aspect ratio", self.ratios), ("Area", self.areas)):
            if len(pair) != 2:
                raise InvalidArgumentError(f"{name} range field must specify 2 dimensions, got {pair}")
            if min(pair) <= 0:
                raise InvalidArgumentError(f"{name} range must be non-negative: {list(pair)}")
        if max(self.areas) > 1:
            raise InvalidArgumentError(f"Area range must be less then or equal to 1.0: {list(self.areas)}")
        if self.attempts <= 0:
            raise InvalidArgumentError(f"Max attempts must be non-negative: {self.attempts}")


def _random_crop(whole: Rectangle, ranges: Ranges, ratio: np.float32, words: Words) -> Rectangle | None:
    """A box of that ratio and of an allowed area at a random place; None if rounding allows none."""
    width, height = whole.right, whole.bottom
    least_share, most_share = (np.float32(share) for share in ranges.areas)
    if most_share <= 0 or ratio <= 0 or width <= 0 or height <= 0 or least_share > most_share:
        return None
    least = np.float32(least_share * np.float32(width)) * np.float32(height)
    most = np.float32(most_share * np.float32(width)) * np.float32(height)
    rows, limit = (int(np.rint(np.sqrt(np.float32(area / ratio)))) for area in (least, most))
    if _broad(limit, ratio) > width:
        limit = int((width + 0.5 - float(np.float32(0.0000001))) / float(ratio))
        if _broad(limit, ratio) > width:
            limit -= 1
    limit = min(limit, height)
    rows = min(rows, limit)
    if rows < limit:
        rows += words.below(limit - rows + 1)
    columns = _broad(rows, ratio)
    if np.float32(columns * rows) < least:
        rows += 1
        columns = _broad(rows, ratio)
    if np.float32(columns * rows) > most:
        rows -= 1
        columns = _broad(rows, ratio)
    area = np.float32(columns * rows)
    if area < least or area > most or columns > width or rows > height or columns <= 0 or rows <= 0:
        return None
    top = words.below(height - rows) if rows < height else 0
    left = words.below(width - columns) if columns < width else 0
    return Rectangle(left, top, left + columns, top + rows)


def _broad(rows: int, ratio: np.float32) -> int:
    return int(np.rint(np.float32(np.float32(rows) * ratio)))


def _objects(boxes: Array, whole: Rectangle, takes_whole: bool) -> list[Rectangle]:
    if boxes.size and not ((boxes >= 0) & (boxes <= 1)).all():
        raise InvalidArgumentError("All bounding box coordinates must be in [0.0, 1.0]")
    width, height = np.float32(whole.right), np.float32(whole.bottom)
    found = [
        Rectangle(int(left * width), int(top * height), int(right * width), int(bottom * height))
        for top, left, bottom, right in boxes.reshape(-1, 4)
    ]
    if not found and not takes_whole:
        raise InvalidArgumentError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not "
            "provide any bounding boxes."
        )
    return found or [whole]


def _draw_crop(
    image_size: Array, boxes: Array, covered: Any, ranges: Ranges, generator: PhiloxGenerator
) -> tuple[Array, Array, Array]:
    """Where to slice, how much, and the same as a box."""
    if np.shape(image_size) != (3,):
        raise InvalidArgumentError(f"image_size must contain 3 elements, got shape {list(np.shape(image_size))}")
    if np.ndim(boxes) != 3 or boxes.shape[2] != 4:
        raise InvalidArgumentError(f"input boxes must be [batch, num_boxes, 4], got shape {list(np.shape(boxes))}")
    if np.ndim(covered) or not covered >= 0:
        raise InvalidArgumentError(f"Min object covered must be a non-negative number: {covered}")
    height, width = int(image_size[0]), int(image_size[1])
    if not (0 <= height < 2**31 - 1 and 0 <= width < 2**31 - 1):
        raise InvalidArgumentError(f"image height and width cannot be negative or >= int32 max: {height}, {width}")
    whole = Rectangle(0, 0, width, height)
    objects = _objects(boxes, whole, ranges.takes_whole)
    crop = _try_crops(whole, objects, np.float32(covered), ranges, Words(generator))
    begin = np.array([crop.top, crop.left, 0]).astype(image_size.dtype)
    size = np.array([crop.bottom - crop.top, crop.right - crop.left, -1]).astype(image_size.dtype)
    with np.errstate(all="ignore"):
        corners = np.array([crop.top, crop.left, crop.bottom, crop.right], np.float32)
        box = corners / np.array([height, width, height, width], np.float32)
    return begin, size, box.reshape(1, 1, 4)


def _try_crops(
    whole: Rectangle, objects: list[Rectangle], covered: np.float32, ranges: Ranges, words: Words
) -> Rectangle:
    """The first box that covers enough of some object; after all attempts the whole image."""
    low, high = (np.float32(ratio) for ratio in ranges.ratios)
    for _ in range(ranges.attempts):
        ratio = np.float32(np.float32(words.unit() * np.float32(high - low)) + low)
        crop = _random_crop(whole, ranges, ratio, words)
        if crop is not None and crop.covers_enough(covered, objects):
            return crop
    return whole


def _reserve_numbers(ctx: KernelContext, seed: int, seed2: int, ranges: Ranges) -> PhiloxGenerator:
    ranges.check()
    return stream_of(ctx, seed, seed2).reserve(-(-4 * ranges.attempts // WORDS))


@sample_distorted_bounding_box_v2.stateful_kernel
def sample_distorted_bounding_box_v2_kernel(
    ctx: KernelContext,
    image_size: Array,
    bounding_boxes: Array,
    min_object_covered: Array | float,
    *,
    seed: int,
    seed2: int,
    aspect_ratio_range: tuple[float, ...],
    area_range: tuple[float, ...],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Array, Array, Array]:
    ranges = Ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    generator = _reserve_numbers(ctx, seed, seed2, ranges)
    return _draw_crop(image_size, bounding_boxes, min_object_covered, ranges, generator)


@sample_distorted_bounding_box.stateful_kernel
def sample_distorted_bounding_box_kernel(
    ctx: KernelContext,
    image_size: Array,
    bounding_boxes: Array,
    *,
    min_object_covered: float,
    seed: int,
    seed2: int,
    aspect_ratio_range: tuple[float, ...],
    area_range: tuple[float, ...],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Array, Array, Array]:
    return sample_distorted_bounding_box_v2_kernel(
        ctx,
        image_size,
        bounding_boxes,
        min_object_covered,
        seed=seed,
        seed2=seed2,
        aspect_ratio_range=aspect_ratio_range,
        area_range=area_range,
        max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
    )


@stateless_sample_distorted_bounding_box.kernel
def stateless_sample_distorted_bounding_box_kernel(
    image_size: Array,
    bounding_boxes: Array,
    min_object_covered: Array,
    seed: Array,
    *,
    aspect_ratio_range: tuple[float, ...],
    area_range: tuple[float, ...],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Array, Array, Array]:
    ranges = Ranges(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    ranges.check()
    return _draw_crop(image_size, bounding_boxes, min_object_covered, ranges, seeded_generator(seed))


# ---------------------------------------------------------------------------------------------------- Random crop

random_crop = op(
    "RandomCrop(image: T, size: int64) -> output: T",
    "T: {uint8, int8, int16, int32, int64, float, double}",
    "seed: int = 0",
    "seed2: int = 0",
    "stateful",
    "deprecated 8 'Random crop is now pure Python'",
)
not_differentiable(random_crop)


@random_crop.shape
def random_crop_shape(image: Tensor, size: Tensor) -> Shape:
    channels = of_rank(image.static_shape, 3)[2]
    merge_sizes(with_rank(size, 1)[0], 2)
    sizes = constant_integers(size)
    height, width = sizes if sizes is not None else (None, None)
    return Shape((height, width, channels))


@random_crop.stateful_kernel
def random_crop_kernel(ctx: KernelContext, image: Array, size: Array, *, seed: int, seed2: int) -> Array:
    if np.ndim(image) != 3 or np.shape(size) != (2,):
        raise InvalidArgumentError(
            f"input must be 3-dimensional and its size two numbers, got {np.shape(image)}, {np.shape(size)}"
        )
    rows, columns = (int(number) for number in size)
    height, width, _ = image.shape
    if min(rows, columns) < 0:
        raise InvalidArgumentError(f"sizes must not be negative: {rows}, {columns}")
    if rows > height or columns > width:
        raise FailedPreconditionError(f"{rows} rows of {columns} pixels cannot be taken of {height} of {width}")
    words = Words(stream_of(ctx, seed, seed2).reserve(1))
    left = words.word() % (width - columns + 1) if width > columns else 0
    top = words.word() % (height - rows + 1) if height > rows else 0
    return image[top : top + rows, left : left + columns].copy()


# ------------------------------------------------------------------------------------------------------- Glimpses

_GLIMPSED: Final = (
    "centered: bool = true",
    "normalized: bool = true",
    "uniform_noise: bool = true",
    "noise: string = 'uniform'",
)
extract_glimpse = op("ExtractGlimpse(input: float, size: int32, offsets: float) -> glimpse: float", *_GLIMPSED)
extract_glimpse_v2 = op("ExtractGlimpseV2(input: float, size: int32, offsets: float) -> glimpse: float", *_GLIMPSED)
not_differentiable(extract_glimpse)


@extract_glimpse.shape
@extract_glimpse_v2.shape
def extract_glimpse_shape(input: Tensor, size: Tensor, offsets: Tensor) -> Shape:
    batch, _height, _width, channels = of_rank(input.static_shape, 4)
    count, axes = of_rank(offsets.static_shape, 2)
    batch = merge_sizes(batch, count)
    merge_sizes(axes, 2)
    return Shape((batch, *stated_sizes(size), channels))


def _noise_kind(uniform_noise: bool, noise: bytes) -> bytes:
    if uniform_noise and noise not in (b"", b"uniform"):
        raise InvalidArgumentError("The uniform_noise and noise could not be specified at the same time")
    if not noise:
        return b"uniform" if uniform_noise else b"gaussian"
    if noise not in (b"uniform", b"gaussian", b"zero"):
        raise InvalidArgumentError(f"The noise could only be uniform, gaussian, or zero, got {noise.decode()}")
    return noise


def _noise(ctx: KernelContext, kind: bytes, image: Array, sizes: tuple[int, int, int]) -> Array:
    """What a glimpse shows beyond its image: nothing, or numbers that are distributed as those of the image."""
    if kind == b"zero":
        return np.zeros(sizes, np.float32)
    generator = stream_of(ctx, 0, 0).reserve_outputs(int(np.prod(sizes)))
    if kind == b"uniform":
        least = image.min()
        spread: Array = uniform(generator, sizes, np.float32) * (image.max() - least) + least
        return spread
    normal = standard_normal(generator, sizes, np.float32)
    shaped = normal * image.std((0, 1), dtype=np.float32) + image.mean((0, 1), dtype=np.float32)
    clipped: Array = np.clip(shaped, image.min((0, 1)), image.max((0, 1))).astype(np.float32)
    return clipped


def _first_pixel(offset: Any, old: int, new: int, options: tuple[bool, bool, bool]) -> int:
    """Where along one axis of an image a glimpse begins."""
    centered, normalized, is_second = options
    place = np.float32(offset)
    half = np.float32(2)
    if normalized:
        place *= np.float32(old)
    if centered:
        if normalized or not is_second:
            place /= half
        place += np.float32(old) / half
    if not is_second or (normalized and centered):
        place -= np.float32(new) / half
    if not np.isfinite(place) or abs(place) > 2**62:
        raise InvalidArgumentError(f"a glimpse at offset {offset} is nowhere")
    return int(place)


def _glimpses(
    ctx: KernelContext, images: Array, size: Array, offsets: Array, options: tuple[bool, bool, bool], kind: bytes
) -> Array:
    if np.ndim(images) != 4 or np.shape(size) != (2,) or np.shape(offsets) != (len(images), 2):
        raise InvalidArgumentError(
            "a glimpse takes images of 4 dimensions, a size of two numbers and an offset of two for every image, got "
            f"shapes {list(np.shape(images))}, {list(np.shape(size))} and {list(np.shape(offsets))}"
        )
    new = (int(size[0]), int(size[1]))
    check_allocation((len(images), *new, images.shape[3]), np.float32, copies=2)
    result = np.zeros((len(images), *new, images.shape[3]), np.float32)
    for image, glimpse, offset in zip(images, result, offsets, strict=True):
        if not glimpse.size or not image.size:
            continue
        starts = [_first_pixel(offset[axis], image.shape[axis], new[axis], options) for axis in (0, 1)]
        if any(start < 0 or start + new[axis] >= image.shape[axis] for axis, start in enumerate(starts)):
            glimpse[...] = _noise(ctx, kind, image, glimpse.shape)
        seen = [
            slice(max(start, 0), max(0, min(start + new[axis], image.shape[axis]))) for axis, start in enumerate(starts)
        ]
        if any(part.stop <= part.start for part in seen):
            continue
        shown = [slice(part.start - start, part.stop - start) for part, start in zip(seen, starts, strict=True)]
        glimpse[tuple(shown)] = image[tuple(seen)]
    return result


@extract_glimpse.stateful_kernel
def extract_glimpse_kernel(
    ctx: KernelContext,
    input: Array,
    size: Array,
    offsets: Array,
    *,
    centered: bool,
    normalized: bool,
    uniform_noise: bool,
    noise: bytes,
) -> Array:
    kind = _noise_kind(uniform_noise, noise)
    return _glimpses(ctx, input, size, offsets, (centered, normalized, False), kind)


@extract_glimpse_v2.stateful_kernel
def extract_glimpse_v2_kernel(
    ctx: KernelContext,
    input: Array,
    size: Array,
    offsets: Array,
    *,
    centered: bool,
    normalized: bool,
    uniform_noise: bool,
    noise: bytes,
) -> Array:
    kind = _noise_kind(uniform_noise, noise)
    return _glimpses(ctx, input, size, offsets, (centered, normalized, True), kind)
