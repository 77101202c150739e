"""Types that ONNX Runtime's kernels take, and the wider ones that others are computed in.

ONNX lets most operators take most types; ONNX Runtime on a processor runs them for fewer. A value of a type that it
leaves out is carried by another type, which holds all of its values: cast to it, computed with, and cast back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tensorkeep.dtypes import DType
from tensorkeep.onnx.graphs import AttrValue, Input, OnnxGraph
from tensorkeep.onnx.terms import Dims, Term

_LEFT_OUT: Final = {
    "Add": "bool string float16 bfloat16 int8 int16 uint8 uint16",  # the small integers before opset 14
    "ArgMax": "bool string int16 uint16 uint32 uint64 float16 bfloat16",
    "Clip": "bool string int16 uint16 bfloat16",
    "CumSum": "bool string int8 int16 uint8 uint16 uint32 uint64 float16 bfloat16",
    "DepthToSpace": "bool string int8 uint8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16",
    "Equal": "string float16 bfloat16",
    "Expand": "bfloat16",
    "Less": "bool string float16 bfloat16",
    "Max": "bool string int16 uint16 bfloat16",
    "NonZero": "string int8 int16 uint16 uint32 uint64 float16 bfloat16 float64",
    "Pad": "string int16 uint16 float16 bfloat16",
    "Range": "bool string int8 uint8 uint16 uint32 uint64 float16 bfloat16",
    "ReduceMax": "bool string int16 uint16 uint32 uint64 float16 bfloat16",
    "ReduceSum": "bool string int8 int16 uint8 uint16 uint32 uint64 float16 bfloat16",
    "Tile": "float16 bfloat16",
    "TopK": "bool string uint16 uint32 uint64 float16 bfloat16",
    "Trilu": "string int8 int16 uint8 uint16 uint32 uint64 float16 bfloat16",
    "Unique": "bool int16 int32 uint8 uint16 uint32 uint64 float16 bfloat16",
    "Where": "bool int16 uint16 uint64 float16 bfloat16",
}
_SAME: Final = {
    "Sub": "Add", "Mul": "Add", "Div": "Add", "ArgMin": "ArgMax", "SpaceToDepth": "DepthToSpace", "CumProd": "CumSum",
    "LessOrEqual": "Less", "Greater": "Less", "GreaterOrEqual": "Less", "Min": "Max", "ReduceMin": "ReduceMax",
    "ReduceProd": "ReduceSum",
}  # fmt: skip
_WIDER: Final = {
    "bool": ("uint8", "int32", "int64"),
    "int8": ("int32", "int64"),
    "uint8": ("int32", "int64"),
    "int16": ("int32", "int64"),
    "uint16": ("int32", "int64"),
    "int32": ("int64",),
    "uint32": ("int64",),
    "uint64": ("int64",),  # as many bits: not where the order of numbers matters
    "float16": ("float32",),
    "bfloat16": ("float32",),
    "float64": ("bool",),  # where only zero matters
}
_ORDERING: Final = frozenset(("Less", "Max", "ReduceMax", "ArgMax", "TopK", "Clip", "Range"))


def carrier(op_type: str, dtype: DType) -> DType:
    """The type to compute an operator in: the value's own if ONNX Runtime takes that, or if no other holds it."""
    family = _SAME.get(op_type, op_type)
    left_out = _LEFT_OUT.get(family, "").split()
    name = dtype.base_dtype.name.removeprefix("q")
    if name not in left_out or (name == "uint64" and family in _ORDERING):
        return dtype.base_dtype
    return next((DType.of(wider) for wider in _WIDER.get(name, ()) if wider not in left_out), dtype.base_dtype)


def runs(op_type: str, dtype: DType) -> bool:
    """Whether ONNX Runtime runs an operator on values of a type as they are."""
    return dtype.base_dtype.name.removeprefix("q") not in _LEFT_OUT[_SAME.get(op_type, op_type)].split()


def carried_node(
    to: OnnxGraph,
    op_type: str,
    *inputs: Input,
    data: Sequence[int] = (0,),
    dtype: DType | None = None,
    dims: Dims | None = None,
    **attrs: AttrValue | None,
) -> Term:
    """A node whose inputs at the places `data` are carried by another type if need be, and whose result is of theirs.

    `dtype` says of what type the result is instead, if it is of another than the data.
    """
    first = inputs[data[0]]
    assert isinstance(first, Term)
    own = first.dtype.base_dtype
    wide = carrier(op_type, own)
    given = [to.cast(item, wide) if at in data and isinstance(item, Term) else item for at, item in enumerate(inputs)]
    found = to.node(op_type, *given, dtype=dtype or wide, dims=dims, attrs=attrs)
    return found if dtype is not None else to.cast(found, own)
