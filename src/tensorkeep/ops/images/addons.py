"""Ops that TensorFlow 1 had in `tf.contrib`: beams gathered, boxes matched, images resampled.

No TensorFlow registers them by itself, so models that hold them load elsewhere only with those packages. TensorFlow
Addons has most of them since, and both names of an op are the same op: `GatherTree` of TensorFlow 1's contrib,
`Addons>GatherTree` of Addons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit_tensors
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import at_least, merge_sizes, part, size_at, with_size_at
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merged_shape, same, with_rank
from tensorkeep.shapes import Shape

_PREFIXES: Final = ("", "Addons>")

# ---------------------------------------------------------------------------------------------------- Beams

gather_trees = [
    op(
        f"{prefix}GatherTree(step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T) -> beams: T",
        "T: {int32}",
    )
    for prefix in _PREFIXES
]
not_differentiable(*gather_trees)


@gather_trees[0].shape
@gather_trees[1].shape
def gather_tree_shape(step_ids: Tensor, parent_ids: Tensor, max_sequence_lengths: Tensor, end_token: Tensor) -> Shape:
    for ids in (step_ids, parent_ids):
        with_rank(ids, 3)
    with_rank(max_sequence_lengths, 1)
    with_rank(end_token, 0)
    beams = merged_shape(step_ids, parent_ids).merge(Shape((None, None, None)))
    return with_size_at(beams, 1, merge_sizes(size_at(beams, 1), size_at(max_sequence_lengths.static_shape, 0)))


@gather_trees[0].kernel
@gather_trees[1].kernel
def gather_tree_kernel(step_ids: Array, parent_ids: Array, max_sequence_lengths: Array, end_token: Array) -> Array:
    _check_beams(step_ids, parent_ids, max_sequence_lengths, end_token)
    steps, batch, width = step_ids.shape
    beams = np.full(step_ids.shape, end_token, step_ids.dtype)
    rows = np.arange(batch)[:, None]
    parents = np.broadcast_to(np.arange(width), (batch, width))
    lengths = np.minimum(max_sequence_lengths, steps)[:, None]
    for step in range(steps - 1, -1, -1):
        within = step < lengths
        wrong = within & ((parents < 0) | (parents >= width))
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise InvalidArgumentError(
                f"Saw invalid parent id {parents[place]} at (batch, time, beam) == ({place[0]}, {step}, {place[1]}); "
                f"parents are below {width}"
            )
        beams[step] = np.where(within, step_ids[step][rows, np.where(within, parents, 0)], beams[step])
        parents = np.where(within, parent_ids[step][rows, np.where(within, parents, 0)], parents)
    ended = np.cumsum(beams == end_token, axis=0) > 0
    return np.where(ended, end_token, beams)


def _check_beams(step_ids: Any, parent_ids: Any, lengths: Any, end_token: Any) -> None:
    if np.ndim(end_token):
        raise InvalidArgumentError(f"end_token must be a scalar, saw shape: {list(np.shape(end_token))}")
    if np.ndim(step_ids) != 3 or np.shape(parent_ids) != np.shape(step_ids):
        raise InvalidArgumentError(
            "step_ids and parent_ids must be 3-tensors of one shape, saw shapes: "
            f"{list(np.shape(step_ids))} and {list(np.shape(parent_ids))}"
        )
    if np.shape(lengths) != (step_ids.shape[1],):
        raise InvalidArgumentError(
            f"max_sequence_lengths must be a vector of {step_ids.shape[1]}, saw shape: {list(np.shape(lengths))}"
        )


# ---------------------------------------------------------------------------------------------------- Boxes

bipartite_match = op(
    "BipartiteMatch(distance_mat: float, num_valid_rows: float) "
    "-> row_to_col_match_indices: int32, col_to_row_match_indices: int32",
    "top_k: int = -1",
)
not_differentiable(bipartite_match)


@bipartite_match.shape
def bipartite_match_shape(distance_mat: Tensor, num_valid_rows: Tensor) -> tuple[Shape, Shape]:
    distances = with_rank(distance_mat, 2)
    return Shape((size_at(distances, 0),)), Shape((size_at(distances, 1),))


@bipartite_match.kernel
def bipartite_match_kernel(distance_mat: Array, num_valid_rows: Array, *, top_k: int) -> tuple[Array, Array]:
    """Pairs rows and columns, those with the least distance first; -1 for what stays alone."""
    if np.ndim(distance_mat) != 2:
        raise InvalidArgumentError(f"The input distance_mat should be a matrix, and is {list(np.shape(distance_mat))}")
    if np.size(num_valid_rows) != 1:
        raise InvalidArgumentError(f"num_valid_rows should be one number, and has {np.size(num_valid_rows)}")
    rows, columns = distance_mat.shape
    said = float(np.reshape(num_valid_rows, ()))
    valid = rows if not 0 <= said < rows else int(said)
    row_to_column, column_to_row = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    left = min(valid, columns) if top_k < 0 else min(top_k, valid, columns)
    for place in np.argsort(distance_mat[:valid], axis=None, kind="stable"):
        if left == 0:
            break
        row, column = divmod(int(place), columns)
        if row_to_column[row] < 0 and column_to_row[column] < 0:
            row_to_column[row], column_to_row[column] = column, row
            left -= 1
    return row_to_column, column_to_row


# ---------------------------------------------------------------------------------------------------- Images

_REAL: Final = "T: {bfloat16, half, float, double}"
resamplers = [op(f"{prefix}Resampler(data: T, warp: T) -> output: T", _REAL) for prefix in _PREFIXES]
resampler_grads = [
    op(f"{prefix}ResamplerGrad(data: T, warp: T, grad_output: T) -> grad_data: T, grad_warp: T", _REAL)
    for prefix in _PREFIXES
]


@resamplers[0].shape
@resamplers[1].shape
def resampler_shape(data: Tensor, warp: Tensor) -> Shape:
    channels = size_at(at_least(data.static_shape, 1), -1)
    places = part(at_least(warp.static_shape, 1), 0, -1)
    return places if places.dims is None else Shape((*places.dims, channels))


@resamplers[0].kernel
@resamplers[1].kernel
def resampler_kernel(data: Array, warp: Array) -> Array:
    _check_resampling(data, warp)
    output = np.zeros((*warp.shape[:-1], data.shape[3]), data.dtype)
    for rows, columns, shares, inside in _corners(data, warp):
        output += np.where(inside, shares * _pixels(data, rows, columns), data.dtype.type(0))
    return output


def _check_resampling(data: Any, warp: Any) -> None:
    if np.ndim(data) != 4:
        raise UnimplementedError(
            "Only bilinear interpolation is supported: data must be [batch_size, data_height, data_width, "
            f"data_channels], but is {list(np.shape(data))}"
        )
    if np.ndim(warp) < 2 or warp.shape[-1] != 2:
        raise UnimplementedError(
            f"Only bilinear interpolation is supported: warp must be [batch_size, ..., 2], but is {list(warp.shape)}"
        )
    if data.shape[0] != warp.shape[0]:
        raise InvalidArgumentError(
            f"Batch size of data and warp tensor must be the same, but are {data.shape[0]} and {warp.shape[0]}"
        )


def _corners(data: Any, warp: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
    """The four pixels around each place: rows, columns, their shares, and whether they count.

    An image has a frame of zeros, one pixel wide; beyond it everything is zero.
    """
    one = data.dtype.type(1)
    x, y = warp[..., 0], warp[..., 1]
    near = (x > -1) & (y > -1) & (x < data.shape[2]) & (y < data.shape[1])
    left, top = (np.floor(np.where(near, axis, 0)).astype(np.int64) for axis in (x, y))
    from_right, from_bottom = (left + 1).astype(data.dtype) - x, (top + 1).astype(data.dtype) - y
    for down, right in ((0, 0), (1, 1), (1, 0), (0, 1)):
        rows, columns = top + down, left + right
        inside = near & (rows >= 0) & (columns >= 0) & (rows < data.shape[1]) & (columns < data.shape[2])
        share = (one - from_right if right else from_right) * (one - from_bottom if down else from_bottom)
        yield np.where(inside, rows, 0), np.where(inside, columns, 0), share[..., None], inside[..., None]


def _pixels(data: Any, rows: Any, columns: Any) -> Any:
    batch = np.arange(data.shape[0]).reshape(-1, *[1] * (rows.ndim - 1))
    return data[np.broadcast_to(batch, rows.shape), rows, columns]


def _resampler_gradient(op: Operation, dy: Tensor) -> Gradients:
    return list(emit_tensors(f"{op.type}Grad", *op.inputs, dy))


for spec in resamplers:
    spec.gradient(_resampler_gradient)


@resampler_grads[0].shape
@resampler_grads[1].shape
def resampler_grad_shape(data: Tensor, warp: Tensor, grad_output: Tensor) -> tuple[Shape, Shape]:
    return same(data), same(warp)


@resampler_grads[0].kernel
@resampler_grads[1].kernel
def resampler_grad_kernel(data: Array, warp: Array, grad_output: Array) -> tuple[Array, Array]:
    _check_resampling(data, warp)
    if grad_output.shape != (*warp.shape[:-1], data.shape[3]):
        raise InvalidArgumentError(
            f"grad_output must have the shape of the output, {[*warp.shape[:-1], data.shape[3]]}, "
            f"but has {list(grad_output.shape)}"
        )
    zero, one = data.dtype.type(0), data.dtype.type(1)
    grad_data, values = np.zeros_like(data), []
    batch = np.broadcast_to(np.arange(len(data)).reshape(-1, *[1] * (warp.ndim - 2)), warp.shape[:-1])
    for rows, columns, shares, inside in _corners(data, warp):
        np.add.at(grad_data, (batch, rows, columns), np.where(inside, grad_output * shares, zero))
        values.append(np.where(inside, _pixels(data, rows, columns), zero))
    top_left, bottom_right, bottom_left, top_right = values
    x, y = warp[..., :1], warp[..., 1:]
    near = (x > -1) & (y > -1) & (x < data.shape[2]) & (y < data.shape[1])
    dx, dy = np.floor(x) + one - x, np.floor(y) + one - y
    by_x = grad_output * ((one - dy) * (bottom_right - bottom_left) + dy * (top_right - top_left))
    by_y = grad_output * ((one - dx) * (bottom_right - top_right) + dx * (bottom_left - top_left))
    sums = [np.sum(np.where(near, by, zero), axis=-1, dtype=data.dtype) for by in (by_x, by_y)]
    return grad_data, np.stack(sums, axis=-1)


# ---------------------------------------------------------------------------------------------------- Parts of images

image_connected_components = op(
    "ImageConnectedComponents(image: dtype) -> components: int64",
    "dtype: {int64, int32, uint16, int16, uint8, int8, half, float, double, bool, string}",
)
not_differentiable(image_connected_components)


@image_connected_components.shape
def image_connected_components_shape(image: Tensor) -> Shape:
    return with_rank(image, 3)


@image_connected_components.kernel
def image_connected_components_kernel(image: Array) -> Array:
    """Numbers the parts in the order of their first pixels.

    Each pixel begins with its own number, and takes the least of its part, which halves the ways to it each time.
    """
    is_part = image.astype(bool) if image.dtype.kind != "O" else image != b""
    least = np.arange(image.size)
    pairs = _neighbors(image, is_part)
    while True:
        low, before = np.minimum(*(least[side] for side in pairs)), least.copy()
        for side in pairs:
            np.minimum.at(least, before[side], low)
            np.minimum.at(least, side, low)
        least = least[least]
        if np.array_equal(least, before):
            break
    found = np.zeros(image.size, np.int64)
    inside = is_part.ravel()
    found[inside] = np.unique(least[inside], return_inverse=True)[1].ravel() + 1
    return found.reshape(image.shape)


def _neighbors(image: Any, is_part: Any) -> Any:
    """The places of pixels that belong together, side by side or one above the other: two rows of numbers."""
    places = np.arange(image.size).reshape(image.shape)
    links = []
    for first, second in (((..., slice(None, -1)), (..., slice(1, None))), (np.s_[:, :-1], np.s_[:, 1:])):
        same = (image[first] == image[second]) & is_part[first]
        links.append(np.stack([places[first][same], places[second][same]]))
    return np.concatenate(links, axis=1)
