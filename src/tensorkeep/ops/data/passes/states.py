"""Where a pass stands, as bytes: the one element of a variant tensor, as checkpoints store them.

    variant  = VariantTensorDataProto { type_name = "tensorkeep::IteratorState", metadata = json, tensors = arrays }
    json     = null | true | number | text | [json …] | {name: json …}
             | {"@array": index} | {"@dataset": [json …]} | {"@tuple": [json …]} | {"@bytes": text}
             | {"@tensor": index} | {"@ragged": [[index …], index]} | {"@variants": [json …], "shape": [number …]}

The state is ours: TensorFlow's is one for each of its own classes, under the names that its optimizer has given the
pipeline, and means nothing to another implementation.
"""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.ops.data.passes.basics import Dataset, State
from tensorkeep.ops.data.passes.rows import Columns
from tensorkeep.ops.data.passes.sources import dataset_of_rows
from tensorkeep.ops.parsing.stored_tensors import StoredTensor, bytes_of_tensor, tensor_of_bytes
from tensorkeep.ops.ragged.rows import RaggedVariant
from tensorkeep.proto.wire import encode_bytes_field, fields

TYPE_NAME: Final = b"tensorkeep::IteratorState"
_NAME, _METADATA, _TENSOR = 1, 2, 3


def encoded_state(state: State) -> bytes:
    """A state as bytes."""
    tensors: list[Array] = []
    text = json.dumps(_plain(state, tensors)).encode()
    parts = [encode_bytes_field(_NAME, TYPE_NAME), encode_bytes_field(_METADATA, text)]
    parts.extend(encode_bytes_field(_TENSOR, bytes_of_tensor(tensor)) for tensor in tensors)
    return b"".join(parts)


def _plain(value: Any, tensors: list[Array]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, dict):
        return {name: _plain(item, tensors) for name, item in value.items()}
    if isinstance(value, Columns):
        return [_plain(row, tensors) for row in value]
    if isinstance(value, list):
        return [_plain(item, tensors) for item in value]
    if isinstance(value, tuple):
        return {"@tuple": [_plain(item, tensors) for item in value]}
    return _plain_component(value, tensors)


def _plain_component(value: Any, tensors: list[Array]) -> Any:
    def kept(array: Any) -> int:
        tensors.append(np.asarray(array))
        return len(tensors) - 1

    if isinstance(value, bytes):
        return {"@bytes": value.decode("latin-1")}
    if isinstance(value, Dataset) and value.rows is not None:
        return {"@dataset": _plain(list(value.rows), tensors)}
    if isinstance(value, StoredTensor):
        return {"@tensor": kept(value.array)}
    if isinstance(value, RaggedVariant):
        return {"@ragged": [[kept(splits) for splits in value.nested_splits], kept(value.values)]}
    array = np.asarray(value)
    if array.dtype != object or all(isinstance(item, bytes) for item in array.reshape(-1).tolist()):
        return {"@array": kept(array)}
    items = array.reshape(-1).tolist()
    if all(isinstance(item, StoredTensor | RaggedVariant) for item in items):
        return {"@variants": [_plain_component(item, tensors) for item in items], "shape": list(array.shape)}
    kinds = ", ".join(sorted({type(item).__name__ for item in items}))
    raise UnimplementedError(f"the state of an iterator holds a {kinds}, which cannot be stored")


def decoded_state(data: bytes) -> State:
    """The state that bytes stand for."""
    name, text, tensors = b"", b"{}", []
    for number, _, value in fields(data, "the state of an iterator"):
        if number == _NAME:
            name = bytes(value)
        elif number == _METADATA:
            text = bytes(value)
        elif number == _TENSOR:
            tensors.append(tensor_of_bytes(bytes(value)))
    if name != TYPE_NAME:
        raise InvalidArgumentError(
            f'the state of an iterator is "{name.decode(errors="replace")}", expected "{TYPE_NAME.decode()}": it was '
            "written by TensorFlow, whose iterators keep a state of their own classes. Begin the data anew, or skip "
            "what was used"
        )
    try:
        found = _value(json.loads(text), tensors)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise DataLossError(f"the state of an iterator is damaged: {error}") from None
    if not isinstance(found, dict):
        raise DataLossError("the state of an iterator is damaged: it is no table")
    return found


def _value(plain: Any, tensors: list[Array]) -> Any:
    if isinstance(plain, list):
        return [_value(item, tensors) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "@tuple" in plain:
        return tuple(_value(item, tensors) for item in plain["@tuple"])
    if "@dataset" in plain:
        return dataset_of_rows(_value(plain["@dataset"], tensors))
    if "@bytes" in plain:
        return plain["@bytes"].encode("latin-1")
    if "@array" in plain:
        return tensors[plain["@array"]]
    if "@tensor" in plain:
        return StoredTensor(tensors[plain["@tensor"]])
    if "@ragged" in plain:
        splits, values = plain["@ragged"]
        return RaggedVariant([tensors[at] for at in splits], tensors[values])
    if "@variants" in plain:
        items = np.empty(len(plain["@variants"]), object)
        items[:] = [_value(item, tensors) for item in plain["@variants"]]
        return items.reshape(plain["shape"])
    return {name: _value(item, tensors) for name, item in plain.items()}
