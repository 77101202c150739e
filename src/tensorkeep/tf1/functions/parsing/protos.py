"""Serialized messages read and written, under the names of TensorFlow 1's `tf.io`."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.parsing import protos


def decode_proto(
    bytes: Any,
    message_type: Any,
    field_names: Any,
    output_types: Any,
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """How many values each field of each message has, and the values, padded with defaults."""
    return protos.decode_proto_v2(
        bytes,
        message_type=message_type,
        field_names=field_names,
        output_types=[DType.of(dtype) for dtype in output_types],
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


def encode_proto(
    sizes: Any,
    values: Any,
    field_names: Any,
    message_type: Any,
    descriptor_source: Any = "local://",
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


__all__ = ["decode_proto", "encode_proto"]
