"""`tensorflow.python.layers.utils`: the arguments of layers, understood."""

from __future__ import annotations

from tensorkeep.graph.arguments import IntegersLike
from tensorkeep.tf1.layers.arguments import data_format_of, numbers, output_length, padding_of, tensor_format


def convert_data_format(data_format: str, ndim: int) -> str:
    """How ops call a format that layers call `channels_last` or `channels_first`."""
    return tensor_format(data_format_of(data_format), ndim)


def normalize_tuple(value: IntegersLike, n: int, name: str) -> tuple[int, ...]:
    """So many numbers, of one or of as many."""
    return numbers(value, n, name)


def normalize_data_format(value: str) -> str:
    """`channels_last` or `channels_first`, in small letters."""
    return data_format_of(value)


def normalize_padding(value: str) -> str:
    """`valid` or `same`, in small letters."""
    return padding_of(value)


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How many places a window has along an axis."""
    return output_length(input_length, filter_size, padding, stride, dilation)


def conv_input_length(length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """How long an axis is along which a window has so many places."""
    if length is None:
        return None
    around = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (length - 1) * stride - 2 * around + filter_size


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """How long an axis becomes that a transposed convolution goes along."""
    if input_length is None:
        return None
    more = {"same": 0, "valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}[padding]
    return input_length * stride + more
