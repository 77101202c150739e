"""Structures of arguments and results as messages: what a function of a model takes, and how it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.messages.attrs import shape_to_proto
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.proto.messages import FunctionSpec, StructuredValue


@dataclass(frozen=True)
class ArgumentSpec:
    """What a Python function takes, as `inspect.getfullargspec` says it."""

    positional: tuple[str, ...] = ()
    rest: str | None = None
    other_keywords: str | None = None
    defaults: tuple[Any, ...] | None = None
    keywords: tuple[str, ...] = ()
    keyword_defaults: Mapping[str, Any] = field(default_factory=dict)


def write_argument_spec(proto: FunctionSpec, spec: ArgumentSpec, input_signature: Sequence[Any] | None = None) -> None:
    values = {
        "args": list(spec.positional),
        "varargs": spec.rest,
        "varkw": spec.other_keywords,
        "defaults": spec.defaults,
        "kwonlyargs": list(spec.keywords),
        "kwonlydefaults": dict(spec.keyword_defaults) or None,
        "annotations": {},
    }
    made = proto.fullargspec.named_tuple_value
    made.name = "FullArgSpec"
    for name, value in values.items():
        encode_structure(value, made.values.add(key=name).value)
    encode_structure(None if input_signature is None else tuple(input_signature), proto.input_signature)


def encode_structure(value: object, proto: StructuredValue) -> None:
    """Writes a structure: containers, plain values of Python, types, shapes, and tensors by what is known of them."""
    if value is None:
        proto.none_value.SetInParent()
    elif isinstance(value, bool):
        proto.bool_value = value
    elif isinstance(value, int):
        proto.int64_value = value
    elif isinstance(value, float):
        proto.float64_value = value
    elif isinstance(value, str):
        proto.string_value = value
    elif isinstance(value, DType):
        proto.tensor_dtype_value = value.number
    elif isinstance(value, TensorShape):
        proto.tensor_shape_value.CopyFrom(shape_to_proto(plain_shape(value)))
    else:
        encode_other(value, proto)


@singledispatch
def encode_other(value: object, proto: StructuredValue) -> None:
    """Writes what is neither a plain value nor a type nor a shape. Register what else there is (`register`)."""
    _encode_container(value, proto)


@encode_other.register
def _encode_tensor(value: Tensor, proto: StructuredValue) -> None:
    encode_tensor_spec(value.dtype, value.shape, None, proto)


def encode_tensor_spec(dtype: DType, shape: TensorShape, name: str | None, proto: StructuredValue) -> None:
    """Writes what is known of a tensor: its type, its shape, and its name if it has one."""
    spec = proto.tensor_spec_value
    spec.dtype = dtype.base_dtype.number
    spec.shape.CopyFrom(shape_to_proto(plain_shape(shape)))
    if name:
        spec.name = name


def _encode_container(value: Any, proto: StructuredValue) -> None:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        proto.named_tuple_value.name = type(value).__name__
        for name, item in zip(value._fields, value, strict=True):
            encode_structure(item, proto.named_tuple_value.values.add(key=name).value)
    elif isinstance(value, list | tuple):
        items = proto.list_value if isinstance(value, list) else proto.tuple_value
        items.SetInParent()
        for item in value:
            encode_structure(item, items.values.add())
    elif isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        proto.dict_value.SetInParent()
        for key in sorted(value):
            encode_structure(value[key], proto.dict_value.fields[key])
    else:
        raise UnimplementedError(
            f"a function that takes or gives {value!r} cannot be saved: tensors, numbers, texts, None, and tuples, "
            "lists and dicts of these can"
        )
