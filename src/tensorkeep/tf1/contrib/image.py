"""`tf.contrib.image`: images rotated, shifted, and warped along flows of points; boxes matched.

A projective transform is a row a0 a1 a2 b0 b1 b2 c0 c1: the point (x, y) of the output has the value of the input at
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT8
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.images.addons import bipartite_match as bipartite_match_op
from tensorkeep.ops.images.warping import image_projective_transform_v2
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    meshgrid,
    ones,
    ones_like,
    reshape,
    stack,
    transpose,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.linear_algebra.matrices import eye, matrix_solve
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import cast, cos, floor, log, maximum, minimum, sin, sqrt, square
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum

_KINDS: Final = (UINT8, INT32, INT64, FLOAT16, FLOAT32, FLOAT64)
_LEAST: Final = 1e-10  # below which distances count as this: roots and logarithms have no slope at 0


def _as_batch(images: TensorLike) -> tuple[Tensor, int]:
    """Images as a batch, and how many axes they had."""
    given = convert(images, name="images")
    if given.dtype.base_dtype not in _KINDS:
        raise WrongTypeError(f"Invalid dtype {given.dtype}: images are of {', '.join(kind.name for kind in _KINDS)}")
    rank = given.static_shape.rank
    if rank is None:
        raise WrongTypeError("image_or_images rank must be statically known: set_shape tells it")
    if rank not in (2, 3, 4):
        raise WrongTypeError(f"Images should have rank between 2 and 4, and have {rank}.")
    batch: Tensor = given[None, :, :, None] if rank == 2 else given[None] if rank == 3 else given
    return batch, rank


def _unbatched_images(images: Tensor, rank: int) -> Tensor:
    found: Tensor = images[0, :, :, 0] if rank == 2 else images[0] if rank == 3 else images
    return found


def bipartite_match(
    distance_mat: TensorLike, num_valid_rows: TensorLike, top_k: int = -1, name: str = "bipartite_match"
) -> tuple[Tensor, Tensor]:
    """Pairs rows and columns of distances, the nearest first: of each row its column, and of each column its row.

    What stays alone has -1: rows from `num_valid_rows` on, unless that is negative, and what comes after `top_k` pairs.
    """
    rows, columns = emit_tensors(
        bipartite_match_op,
        convert(distance_mat, FLOAT32, "distance_mat"),
        cast(num_valid_rows, FLOAT32),
        top_k=top_k,
        name=name,
    )
    return rows, columns


def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Images seen through projective transforms: one for all, or one for each; zeros where they see nothing."""
    with name_scope(name or "transform"):
        batch, rank = _as_batch(images)
        rows = convert(transforms, FLOAT32, name="transforms")
        if rows.static_shape.rank not in (1, 2):
            raise WrongTypeError(f"Transforms should have rank 1 or 2, and have shape {rows.static_shape}.")
        rows = rows[None] if rows.static_shape.rank == 1 else rows
        size = shape_of(batch)[1:3] if output_shape is None else convert(output_shape, INT32, name="output_shape")
        found = image_projective_transform_v2(batch, rows, size, interpolation=interpolation.upper())
        return _unbatched_images(found, rank)


def rotate(images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images turned about their middle, against the clock, by one angle in radians or one for each."""
    with name_scope(name or "rotate"):
        batch, rank = _as_batch(images)
        size = cast(shape_of(batch), FLOAT32)
        rows = angles_to_projective_transforms(angles, size[1][None], size[2][None])
        return _unbatched_images(transform(batch, rows, interpolation), rank)


def translate(
    images: TensorLike, translations: TensorLike, interpolation: str = "NEAREST", name: str | None = None
) -> Tensor:
    """Images shifted by (x, y), the same for all or one for each."""
    with name_scope(name or "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: TensorLike, image_height: TensorLike, image_width: TensorLike, name: str | None = None
) -> Tensor:
    """The transforms that turn images about their middle."""
    with name_scope(name or "angles_to_projective_transforms"):
        given = convert(angles, FLOAT32, name="angles")
        if given.static_shape.rank not in (0, 1):
            raise WrongTypeError(f"Angles should have rank 0 or 1, and have shape {given.static_shape}.")
        turned = given[None] if given.static_shape.rank == 0 else given
        high, wide = convert(image_height) - 1, convert(image_width) - 1
        c, s = cos(turned), sin(turned)
        right = (wide - (c * wide - s * high)) / 2.0
        down = (high - (s * wide + c * high)) / 2.0
        columns = [value[:, None] for value in (c, -s, right, s, c, down)]
        return concat([*columns, zeros((shape_of(turned)[0], 2), FLOAT32)], 1)


def translations_to_projective_transforms(translations: TensorLike, name: str | None = None) -> Tensor:
    """The transforms that shift images."""
    with name_scope(name or "translations_to_projective_transforms"):
        given = convert(translations, FLOAT32, name="translations")
        if given.static_shape.rank not in (1, 2):
            raise WrongTypeError(f"Translations should have rank 1 or 2, and have shape {given.static_shape}.")
        moved = given[None] if given.static_shape.rank == 1 else given
        count = shape_of(moved)[0]
        one, none = ones((count, 1), FLOAT32), zeros((count, 1), FLOAT32)
        return concat([one, none, -moved[:, 0, None], none, one, -moved[:, 1, None], none, none], 1)


def compose_transforms(*transforms: TensorLike, name: str | None = None) -> Tensor:
    """The transform that does what several do, one after the other."""
    if not transforms:
        raise InvalidArgumentError("transforms cannot be empty")
    with name_scope(name or "compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for row in transforms[1:]:
            composed = matmul(composed, flat_transforms_to_matrices(row))
        return matrices_to_flat_transforms(composed)


def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Rows of eight numbers as matrices of 3 by 3, whose last number is 1."""
    rows = reshape(transforms, [-1, 8])
    return reshape(concat([rows, ones([shape_of(rows)[0], 1])], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Matrices of 3 by 3 as rows of eight numbers."""
    rows = reshape(transform_matrices, [-1, 9])
    found: Tensor = (rows / rows[:, 8:9])[:, :8]
    return found


# ---------------------------------------------------------------------------------------------------- Flows


def interpolate_bilinear(
    grid: TensorLike, query_points: TensorLike, name: str = "interpolate_bilinear", indexing: str = "ij"
) -> Tensor:
    """The values of a grid between its points, [batch, queries, channels]; beyond its edges, those at the edges."""
    if indexing not in ("ij", "xy"):
        raise InvalidArgumentError(f"Indexing mode must be 'ij' or 'xy', and is {indexing!r}")
    with name_scope(name):
        table, points = convert(grid), convert(query_points)
        if table.static_shape.rank != 4:
            raise InvalidArgumentError(f"Grid must be 4 dimensional, and has shape {table.static_shape}")
        if points.static_shape.rank != 3 or points.static_shape[2] not in (None, 2):
            raise InvalidArgumentError(f"Query points must be [batch, number, 2], and have shape {points.static_shape}")
        sizes = shape_of(table)
        batch, high, wide, depth = sizes[0], sizes[1], sizes[2], sizes[3]
        below, shares = [], []
        for axis, size in enumerate((high, wide)):
            query = points[..., axis if indexing == "ij" else 1 - axis]
            start = minimum(maximum(0.0, floor(cast(query, FLOAT32))), cast(size - 2, FLOAT32))
            below.append(cast(start, INT32))
            share = cast(cast(query, FLOAT32) - start, table.dtype.base_dtype)
            shares.append(expand_dims(minimum(maximum(share, 0), 1), 2))
        flat = reshape(table, [batch * high * wide, depth])
        offsets = reshape(range_of(batch) * high * wide, [-1, 1])

        def corner(down: int, right: int) -> Tensor:
            return gather(flat, offsets + (below[0] + down) * wide + below[1] + right)

        top = shares[1] * (corner(0, 1) - corner(0, 0)) + corner(0, 0)
        bottom = shares[1] * (corner(1, 1) - corner(1, 0)) + corner(1, 0)
        return shares[0] * (bottom - top) + top


def dense_image_warp(image: TensorLike, flow: TensorLike, name: str = "dense_image_warp") -> Tensor:
    """Images whose value at (y, x) is that of the given ones at (y, x) - flow."""
    with name_scope(name):
        given, moved = convert(image), convert(flow)
        sizes = shape_of(given)
        batch, high, wide, depth = sizes[0], sizes[1], sizes[2], sizes[3]
        across, down = meshgrid(range_of(wide), range_of(high))
        places = expand_dims(cast(stack([down, across], axis=2), moved.dtype.base_dtype), 0) - moved
        found = interpolate_bilinear(given, reshape(places, [batch, high * wide, 2]))
        return reshape(found, [batch, high, wide, depth])


def interpolate_spline(
    train_points: TensorLike,
    train_values: TensorLike,
    query_points: TensorLike,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """The values at points of a polyharmonic spline through others: 2 is the thin plate.

    sum of w_i phi(|x - c_i|) + v' (x, 1), with w and v from the linear system of that spline.
    """
    with name_scope(name):
        centers, values, queries = convert(train_points), convert(train_values), convert(query_points)
        width, depth = centers.static_shape[-1], values.static_shape[-1]
        if width is None or depth is None:
            raise InvalidArgumentError("the last axes of train_points and train_values must be known")
        kind = centers.dtype.base_dtype
        sizes = shape_of(centers)
        batch, count = sizes[0], sizes[1]
        bent = _bend(_distances(centers, centers), order)
        if regularization_weight > 0:
            bent += regularization_weight * expand_dims(eye(count, dtype=kind), 0)
        plane = concat([centers, ones_like(centers[..., :1])], 2)
        left = concat([bent, transpose(plane, [0, 2, 1])], 1)
        right = concat([plane, zeros([batch, width + 1, width + 1], kind)], 1)
        wanted = concat([values, zeros([batch, width + 1, depth], kind)], 1)
        solved = matrix_solve(concat([left, right], 2), wanted)
        along = concat([queries, ones_like(queries[..., :1])], 2)
        return matmul(_bend(_distances(queries, centers), order), solved[:, :count]) + matmul(along, solved[:, count:])


def _distances(x: Tensor, y: Tensor) -> Tensor:
    """The squares of the distances between rows."""
    lengths = expand_dims(reduce_sum(square(x), 2), 2), expand_dims(reduce_sum(square(y), 2), 1)
    return lengths[0] - 2 * matmul(x, y, adjoint_b=True) + lengths[1]


def _bend(squares: Tensor, order: int) -> Tensor:
    """How much a center counts at a distance."""
    least = maximum(squares, _LEAST)
    if order == 1:
        return sqrt(least)
    if order == 2:
        return 0.5 * squares * log(least)
    if order == 4:
        return 0.5 * square(squares) * log(least)
    return 0.5 * power(least, 0.5 * order) * log(least) if order % 2 == 0 else power(least, 0.5 * order)


def sparse_image_warp(
    image: TensorLike,
    source_control_point_locations: TensorLike,
    dest_control_point_locations: TensorLike,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Images that are pulled at some points from one place to another, and the flow; the edges can be held in place."""
    given, target = convert(image), convert(dest_control_point_locations)
    with name_scope(name):
        batch, high, wide, _ = given.shape.as_list()
        if batch is None or high is None or wide is None:
            raise InvalidArgumentError(f"the shape of the images must be known, and is {given.static_shape}")
        flows = target - convert(source_control_point_locations)
        if num_boundary_points > 0:
            held = _edge_points(high, wide, num_boundary_points - 1)
            target = concat([target, _for_each(held, batch, target)], 1)
            flows = concat([flows, _for_each(np.zeros_like(held), batch, flows)], 1)
        places = np.stack(np.meshgrid(np.arange(high), np.arange(wide), indexing="ij"), -1).reshape(-1, 2)
        found = interpolate_spline(
            target, flows, _for_each(places, batch, given), interpolation_order, regularization_weight
        )
        flow = reshape(found, [batch, high, wide, 2])
        return dense_image_warp(given, flow), flow


def _for_each(points: Any, batch: int, like: Tensor) -> Tensor:
    return constant(np.repeat(points[None], batch, 0), like.dtype.base_dtype)


def _edge_points(high: int, wide: int, between: int) -> Any:
    """Points along the edges of an image: its corners, and so many between them."""
    ys, xs = np.meshgrid(np.linspace(0, high - 1, between + 2), np.linspace(0, wide - 1, between + 2), indexing="ij")
    is_edge = (xs == 0) | (xs == wide - 1) | (ys == 0) | (ys == high - 1)
    return np.stack([ys[is_edge], xs[is_edge]], -1)
