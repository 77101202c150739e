"""Tensors of requests as arrays, and arrays as tensors of answers."""

from __future__ import annotations

from math import prod
from typing import Final

from tensorkeep.dtypes import dtype_of_number
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import array_of_tensor, content_tensor, listed_tensor
from tensorkeep.serving.servables import Array

__all__ = ["MOST_BYTES", "array_of_request", "content_tensor", "listed_tensor"]

MOST_BYTES: Final = 1 << 31  # of one tensor; one listed element can stand for any number of them
_STRING_BYTES: Final = 8  # of an element that is no number


def array_of_request(alias: str, proto: TensorProto) -> Array:
    """The array that a client sent for an input; it may be read-only, and one element may stand for all.

    InvalidArgumentError "tensor parsing error: ALIAS" for what is no tensor, and ResourceExhaustedError for one that is
    too large.
    """
    shape = proto.tensor_shape
    sizes = [dim.size for dim in shape.dim]
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
