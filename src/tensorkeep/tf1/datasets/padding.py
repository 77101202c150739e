"""To what elements are filled up that become one batch: shapes and values beside the structure of the elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.tf1.datasets.structures import Element, Shapes, Specs, flat, flat_shapes
from tensorkeep.tf1.functions.constants import constant


def padded_shape_tensors(specs: Specs, padded_shapes: Shapes) -> list[Tensor]:
    """The shape to which each component is filled up, -1 where the largest element says it."""
    if padded_shapes is None:
        shapes: list[Any] = [spec.shape for spec in flat(specs)]
        if any(shape.ndims is None for shape in shapes):
            raise InvalidArgumentError("You must provide `padded_shapes` argument because component has unknown rank.")
    else:
        shapes = _shape_leaves(specs, padded_shapes)
    found = []
    for shape, spec in zip(shapes, flat(specs), strict=True):
        if isinstance(shape, Tensor):
            found.append(emit("Cast", shape, DstT=INT64) if shape.dtype is not INT64 else shape)
            continue
        dims = plain_shape(shape).dims
        if dims is None or (spec.shape.ndims is not None and len(dims) != spec.shape.ndims):
            raise InvalidArgumentError(f"The padded shape {shape} is not compatible with the shape {spec.shape}.")
        for size, own in zip(dims, spec.shape.as_list() if spec.shape.ndims is not None else dims, strict=True):
            if size is not None and own is not None and size < own:
                raise InvalidArgumentError(
                    f"The padded shape {shape} is not compatible with the shape {spec.shape} of the corresponding input"
                )
        found.append(constant(np.array([-1 if size is None else size for size in dims], np.int64), INT64))
    return found


def _shape_leaves(specs: Any, shapes: Any) -> list[Any]:
    """Padded shapes beside a structure; a tensor may be one too."""
    if isinstance(shapes, Tensor):
        return [shapes]
    is_alike = not isinstance(specs, tuple) or (isinstance(shapes, tuple | list) and len(shapes) == len(specs))
    if isinstance(specs, Mapping):
        is_alike = isinstance(shapes, Mapping) and set(shapes) == set(specs)
    if not is_alike:
        raise WrongTypeError(
            f"`padded_shapes` {shapes!r} does not have the structure of the elements, {specs!r}: give one shape for "
            "each component, in the same structure"
        )
    if isinstance(specs, tuple):
        return [leaf for part, item in zip(specs, shapes, strict=True) for leaf in _shape_leaves(part, item)]
    if isinstance(specs, Mapping):
        return [leaf for key in sorted(specs) for leaf in _shape_leaves(specs[key], shapes[key])]
    return list(flat_shapes(specs, shapes))


def known_padded_shape(told: Tensor) -> TensorShape:
    """What is known of a shape that a tensor tells."""
    known = constant_value(told)
    if known is None:
        rank = told.static_shape.dims[0] if told.static_shape.dims else None
        return TensorShape(None) if rank is None else TensorShape([None] * rank)
    return TensorShape([None if size < 0 else int(size) for size in known])


def padding_value_tensors(specs: Specs, given: Element) -> list[Tensor]:
    """The value with which each component is filled up; zero, or an empty text, where none is given."""
    leaves = flat(specs)
    if given is None:
        values: list[Any] = [None] * len(leaves)
    elif isinstance(specs, tuple | Mapping):
        values = flat(given)
        if len(values) == 1 and len(leaves) > 1:
            values = values * len(leaves)
    else:
        values = [given]
    found = []
    for value, spec in zip(values, leaves, strict=True):
        zero: Any = b"" if spec.dtype is STRING else np.zeros((), spec.dtype.array_dtype)[()]
        tensor = convert(zero if value is None else value, spec.dtype, "padding_value")
        if tensor.static_shape.rank not in (0, None):
            raise InvalidArgumentError(f"Padding value should be a scalar, but is {tensor!r}.")
        found.append(tensor)
    return found
