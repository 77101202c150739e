"""Components of elements as tensors of a checkpoint: parts of sparse tensors and ragged ones as TensorFlow's variants.

variant = VariantTensorDataProto { type_name, tensors }
type_name = "tensorflow::Tensor" (one tensor) | "RaggedTensorVariant" (its splits, then its values)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.sources import Variant
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.ops.data.passes.rows import as_component
from tensorkeep.ops.parsing.stored_tensors import StoredTensor, bytes_of_tensor, tensor_of_bytes
from tensorkeep.ops.ragged.rows import RaggedVariant
from tensorkeep.proto.wire import encode_bytes_field, fields

_TENSOR: Final = b"tensorflow::Tensor"
_RAGGED: Final = b"RaggedTensorVariant"
_NAME, _METADATA, _TENSORS = 1, 2, 3


def stored_component(component: object) -> Array:
    """A component as a tensor that can be written."""
    array = as_component(component)
    if array.dtype != object or all(isinstance(item, bytes) for item in array.reshape(-1).tolist()):
        return array
    return _array_like(array, [_variant_of(item) for item in array.reshape(-1).tolist()])


def component_of_stored(array: Array) -> Array:
    """The component that a tensor was written for."""
    items = array.reshape(-1).tolist() if array.dtype == object else []
    if not any(isinstance(item, Variant) for item in items):
        return array
    return _array_like(array, [_value_of(item) for item in items])


def _array_like(array: Array, items: list[Any]) -> Array:
    made = np.empty(len(items), object)
    made[:] = items
    return made.reshape(array.shape)


def _variant_of(item: Any) -> Variant:
    if isinstance(item, StoredTensor):
        name, tensors = _TENSOR, [item.array]
    elif isinstance(item, RaggedVariant):
        name, tensors = _RAGGED, [*item.nested_splits, item.values]
    else:
        raise UnimplementedError(f"a {type(item).__name__} in an element cannot be kept in a file: cache it in memory")
    parts = [encode_bytes_field(_NAME, name), encode_bytes_field(_METADATA, b"")]
    return Variant(b"".join([*parts, *(encode_bytes_field(_TENSORS, bytes_of_tensor(part)) for part in tensors)]))


def _value_of(variant: bytes) -> Any:
    name, tensors = b"", []
    for number, _, value in fields(variant, "a component in a file"):
        if number == _NAME:
            name = bytes(value)
        elif number == _TENSORS:
            tensors.append(tensor_of_bytes(bytes(value)))
    if name == _TENSOR and len(tensors) == 1:
        return StoredTensor(tensors[0])
    if name == _RAGGED and tensors:
        return RaggedVariant(tensors[:-1], tensors[-1])
    raise InvalidArgumentError(f'a file that caches elements holds a variant "{name.decode(errors="replace")}"')
