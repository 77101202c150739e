"""Tensors of requests as arrays, and arrays as tensors of answers."""

from __future__ import annotations

from math import prod
from operator import attrgetter
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32, INT64, dtype_of_number
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import array_of_tensor, content_tensor, listed_tensor

__all__ = ["MOST_BYTES", "array_of_request", "content_tensor", "listed_tensor"]

# Of the types that nearly all requests have, NumPy's type and the field of a TensorProto.
_PLAIN: Final = {
    dtype.number: (dtype.array_dtype, attrgetter(dtype.proto_field)) for dtype in (FLOAT32, FLOAT64, INT32, INT64)
}
MOST_BYTES: Final = 1 << 31  # of one tensor; one listed element can stand for any number of them
_MOST_AXES: Final = 32  # of NumPy's arrays, in each of its releases
_STRING_BYTES: Final = 8  # of an element that is no number


def _plain_array(proto: TensorProto, sizes: list[int]) -> Array | None:
    """The array of a usual tensor with all its elements; None for any other, which is looked at with more care."""
    plain = _PLAIN.get(proto.dtype)
    if plain is None or proto.tensor_shape.unknown_rank or min(sizes, default=1) < 1 or len(sizes) > _MOST_AXES:
        return None
    dtype, field = plain
    if content := proto.tensor_content:
        return np.frombuffer(content, dtype).reshape(sizes) if len(content) == prod(sizes) * dtype.itemsize else None
    listed = field(proto)
    return np.array(listed, dtype).reshape(sizes) if len(listed) == prod(sizes) else None


def array_of_request(alias: str, proto: TensorProto) -> Array:
    """The array that a client sent for an input; it may be read-only, and one element may stand for all.

    InvalidArgumentError "tensor parsing error: ALIAS" for what is no tensor, and ResourceExhaustedError for one that is
    too large.
    """
    shape = proto.tensor_shape
    sizes = [dim.size for dim in shape.dim]
    if (found := _plain_array(proto, sizes)) is not None:
        return found
    try:
        dtype = dtype_of_number(proto.dtype)
        if dtype.is_ref or shape.unknown_rank or min(sizes, default=0) < 0:
            raise InvalidArgumentError("neither its type nor its shape may be open")
        if prod(sizes) * (dtype.itemsize or _STRING_BYTES) > MOST_BYTES:
            raise ResourceExhaustedError(f"tensor {alias} of shape {sizes} takes more than {MOST_BYTES} bytes")
        return array_of_tensor(proto, alias)
    except ResourceExhaustedError:
        raise
    except TensorKeepError as error:
        raise InvalidArgumentError(f"tensor parsing error: {alias}") from error
