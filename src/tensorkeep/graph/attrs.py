"""Attribute values: AttrValue messages and the Python values that stand for them.

    s        bytes                       shape    Shape
    i        int                         tensor   TensorProto, undecoded: it may be large
    f        float                       func     FunctionRef
    b        bool                        list     tuple of one of these; an empty tuple has no kind
    type     DType                       unset    None

`placeholder`, which occurs only inside function bodies, becomes an `AttrPlaceholder`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import DType, dtype_in_graph
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import AttrValue, NameAttrList, TensorProto, TensorShapeProto
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# Values are of the kinds in the table above; what an attribute holds is its schema's business.
Attr: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function of the graph's library by name, with the attributes it is instantiated with."""

    name: str
    attrs: Mapping[str, Attr] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class AttrPlaceholder:
    """Inside a function body: the value of the named attribute of the function."""

    name: str


def shape_of_proto(proto: TensorShapeProto) -> Shape:
    if proto.unknown_rank:
        return UNKNOWN_SHAPE
    return Shape(tuple(None if dim.size < 0 else dim.size for dim in proto.dim))


def shape_to_proto(shape: Shape) -> TensorShapeProto:
    proto = TensorShapeProto()
    if shape.dims is None:
        proto.unknown_rank = True
    else:
        for size in shape.dims:
            proto.dim.add().size = -1 if size is None else size
    return proto


def _function_of(proto: NameAttrList) -> FunctionRef:
    return FunctionRef(proto.name, {name: decode_attr(value) for name, value in proto.attr.items()})


def _same(value: Attr) -> Attr:
    return value


_DECODERS: Final[dict[str, Callable[[Any], Attr]]] = {
    "s": _same,
    "i": _same,
    "f": _same,
    "b": _same,
    "type": dtype_in_graph,
    "shape": shape_of_proto,
    "tensor": _same,
    "placeholder": AttrPlaceholder,
    "func": _function_of,
}
_LIST_KINDS: Final = ("s", "i", "f", "b", "type", "shape", "tensor", "func")


def decode_attr(proto: AttrValue) -> Attr:
    """The Python value of an attribute."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    if kind != "list":
        return _DECODERS[kind](getattr(proto, kind))
    for element in _LIST_KINDS:
        if values := getattr(proto.list, element):
            return tuple(map(_DECODERS[element], values))
    return ()


def encode_attr(value: Attr) -> AttrValue:
    """The message for a Python value. The type decides the field, so whole floats must be floats."""
    proto = AttrValue()
    if isinstance(value, tuple):
        proto.list.SetInParent()
        for item in value:
            _add(proto.list, item)
    elif value is not None:
        _set(proto, value)
    return proto


def _set(proto: AttrValue, value: Attr) -> None:
    if isinstance(value, bool):  # before int, which it also is
        proto.b = value
    elif isinstance(value, bytes):
        proto.s = value
    elif isinstance(value, int):
        proto.i = value
    elif isinstance(value, float):
        proto.f = value
    elif isinstance(value, DType):
        proto.type = value.number
    elif isinstance(value, Shape):
        proto.shape.CopyFrom(shape_to_proto(value))
    elif isinstance(value, TensorProto):
        proto.tensor.CopyFrom(value)
    elif isinstance(value, FunctionRef):
        _fill_function(proto.func, value)
    elif isinstance(value, AttrPlaceholder):
        proto.placeholder = value.name
    else:
        raise InvalidArgumentError(f"{value!r} of type {type(value).__name__} cannot be the value of an attribute")


def _add(proto: AttrValue.ListValue, item: Attr) -> None:
    if isinstance(item, bool):
        proto.b.append(item)
    elif isinstance(item, bytes):
        proto.s.append(item)
    elif isinstance(item, int):
        proto.i.append(item)
    elif isinstance(item, float):
        proto.f.append(item)
    elif isinstance(item, DType):
        proto.type.append(item.number)
    elif isinstance(item, Shape):
        proto.shape.append(shape_to_proto(item))
    elif isinstance(item, TensorProto):
        proto.tensor.append(item)
    elif isinstance(item, FunctionRef):
        _fill_function(proto.func.add(), item)
    else:
        raise InvalidArgumentError(f"{item!r} of type {type(item).__name__} cannot stand in an attribute's list")


def _fill_function(proto: NameAttrList, value: FunctionRef) -> None:
    proto.name = value.name
    for name, attr in value.attrs.items():
        proto.attr[name].CopyFrom(encode_attr(attr))
