"""Static shapes of what slides windows over images: convolutions, pools and their gradients.

Sizes may be unknown, and then so is what depends on them. A window that does not fit is an error here, even where a
kernel would give an empty result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.nn.windows import Dimension, Layout, Padding, layout_of, paddings_of
from tensorkeep.ops.shared.dimensions import of_rank
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape


def windows_along(size: Dimension, window: Dimension, stride: int, dilation: int, padding: Padding) -> Dimension:
    """How many windows fit along a dimension."""
    if stride < 1 or dilation < 1:
        raise InvalidArgumentError(f"Stride must be > 0, but got {stride}; dilation must be >= 1, but got {dilation}")
    if padding == b"SAME":
        return None if size is None else (size + stride - 1) // stride
    if size is None or window is None:
        return None
    added = sum(padding) if isinstance(padding, tuple) else 0
    reach = (window - 1) * dilation + 1
    if size + added < reach:
        raise InvalidArgumentError(f"Negative dimension size caused by subtracting {reach} from {size + added}")
    return (size + added - reach + stride) // stride


def windows_over(
    dims: Sequence[Dimension],
    window: Sequence[Dimension],
    strides: Sequence[int],
    *,
    axes: Sequence[int],
    padding: bytes,
    explicit_paddings: Sequence[int] = (),
    dilations: Sequence[int] = (),
) -> list[Dimension]:
    """The sizes of a result of windows that slide along some axes; `window` and `strides` have one for each axis."""
    rank = len(dims)
    dilations = dilations or (1,) * rank
    for name, values in (("sliding window strides", strides), ("window sizes", window), ("dilations", dilations)):
        if len(values) != rank:
            raise InvalidArgumentError(f"the {name} must have {rank} dimensions, but are {list(values)}")
    if len(explicit_paddings) and padding == b"EXPLICIT" and len(explicit_paddings) != 2 * rank:
        raise InvalidArgumentError(f"explicit_paddings must have {2 * rank} values, but has {len(explicit_paddings)}")
    paddings = paddings_of(padding, tuple(explicit_paddings), rank)
    found = list(dims)
    for axis in axes:
        found[axis] = windows_along(dims[axis], window[axis], strides[axis], dilations[axis], paddings[axis])
    return found


def layout(data_format: bytes, rank: int) -> Layout:
    return layout_of(data_format, rank)


def of_sizes(sizes: Tensor, rank: int) -> Shape:
    """The shape that an input of sizes states, which must be of this rank."""
    known = sizes.static_shape
    of_rank(known, 1)
    stated = constant_shape(sizes)
    return of_rank(stated, rank)


def times(*sizes: Dimension) -> Dimension:
    """A product of sizes: known if all are, or if one is 0."""
    if 0 in sizes:
        return 0
    return None if None in sizes else prod(size for size in sizes if size is not None)


def dims_of(x: Tensor, rank: int) -> tuple[Dimension, ...]:
    """The sizes of a tensor that must have this rank."""
    dims = with_rank(x, rank).dims
    assert dims is not None
    return dims
