"""Serialized messages read and written, under the names of TensorFlow 1's `tf.io`."""

from __future__ import annotations

from collections.abc import Sequence

from tensorkeep.dtypes import DType
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.parsing import protos


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[DTypeLike],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """How many values each field of each message has, and the values, padded with defaults."""
    sizes, values = protos.decode_proto_v2(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=[DType.of(dtype) for dtype in output_types],
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )
    return sizes, values


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Messages with as many of the values in each field as the sizes say."""
    return emit(
        protos.encode_proto,
        sizes,
        values,
        field_names=field_names,
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
