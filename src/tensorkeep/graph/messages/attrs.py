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
    write_shape(shape, proto)
    return proto


def write_shape(shape: Shape, proto: TensorShapeProto) -> None:
    """Fills in an empty message."""
    if shape.dims is None:
        proto.unknown_rank = True
    else:
        for size in shape.dims:
            proto.dim.add().size = -1 if size is None else size


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
    write_attr(value, proto)
    return proto


def write_attr(value: Attr, proto: AttrValue) -> None:
    """Fills in an empty message."""
    write = _WRITERS.get(type(value))
    if write is not None:
        write(proto, value)
    elif value is not None:
        _write_derived(proto, value)


def _write_string(proto: AttrValue, value: bytes) -> None:
    proto.s = value


def _write_int(proto: AttrValue, value: int) -> None:
    proto.i = value


def _write_float(proto: AttrValue, value: float) -> None:
    proto.f = value


def _write_bool(proto: AttrValue, value: bool) -> None:
    proto.b = value


def _write_type(proto: AttrValue, value: DType) -> None:
    proto.type = value.number


def _write_shape(proto: AttrValue, value: Shape) -> None:
    proto.shape.SetInParent()
    write_shape(value, proto.shape)


def _write_tensor(proto: AttrValue, value: TensorProto) -> None:
    proto.tensor.CopyFrom(value)


def _write_function(proto: AttrValue, value: FunctionRef) -> None:
    _fill_function(proto.func, value)


def _write_placeholder(proto: AttrValue, value: AttrPlaceholder) -> None:
    proto.placeholder = value.name


def _write_list(proto: AttrValue, value: tuple[Attr, ...]) -> None:
    proto.list.SetInParent()
    for item in value:
        _add(proto.list, item)


_WRITERS: Final[dict[type, Callable[[AttrValue, Any], None]]] = {
    bool: _write_bool,  # before int, which it also is
    bytes: _write_string,
    int: _write_int,
    float: _write_float,
    DType: _write_type,
    Shape: _write_shape,
    TensorProto: _write_tensor,
    FunctionRef: _write_function,
    AttrPlaceholder: _write_placeholder,
    tuple: _write_list,
}


def _write_derived(proto: AttrValue, value: Attr) -> None:
    """Fills in a value of a class that is made of one of those that attributes have."""
    for kind, write in _WRITERS.items():
        if isinstance(value, kind):
            write(proto, value)
            return
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
        proto.attr[name].SetInParent()
        write_attr(attr, proto.attr[name])
