"""Full types: what a node says, beyond types and shapes, of what its outputs hold.

An op's signature states it with attributes in it; a node, with their values. TensorFlow writes it into each node as
`experimental_type`: one part per output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.graph.messages.attrs import Attr
from tensorkeep.graph.registry.schema import FullType, OpSchema
from tensorkeep.proto.messages import FullTypeDef, FullTypeId

# The data types that have a full type; of the others TensorFlow says nothing.
_NAMED: Final = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("half", "float", "double", "complex64", "complex128", "string"),
)
_IDS: Final = {
    "variant": FullTypeId.TFT_LEGACY_VARIANT,
    **{label: FullTypeId.Value(f"TFT_{label.upper()}") for label in _NAMED},
}


def has_full_types(schema: OpSchema) -> bool:
    """Whether the op says anything of its outputs."""
    return any(arg.full_type is not None for arg in schema.outputs)


def write_full_types(schema: OpSchema, attr: Callable[[str], Attr], proto: FullTypeDef) -> None:
    """Fills in what a node with these attributes says of its outputs."""
    proto.type_id = FullTypeId.TFT_PRODUCT
    for arg in schema.outputs:
        part = proto.args.add()
        if arg.full_type is not None:
            _write(arg.full_type, attr, part)


def _write(full_type: FullType, attr: Callable[[str], Attr], proto: FullTypeDef) -> None:
    word, *parameters = full_type
    if word == "FOR_EACH":
        container, template, name = parameters
        proto.type_id = FullTypeId.Value(f"TFT_{container[0]}")
        for dtype in _types(attr(name)):
            _write(template, lambda _, dtype=dtype: dtype, proto.args.add())  # type: ignore[misc]
        return
    proto.type_id = FullTypeId.Value(f"TFT_{word}")
    for parameter in parameters:
        part = proto.args.add()
        if isinstance(parameter, str):
            _write_type(attr(parameter), part)
        else:
            _write(parameter, attr, part)
        if part.type_id == FullTypeId.TFT_TENSOR and part.args[0].type_id == FullTypeId.TFT_LEGACY_VARIANT:
            del proto.args[:]  # of variants TensorFlow says nothing
            return


def _types(value: Any) -> tuple[DType, ...]:
    return value if isinstance(value, tuple) else (value,)


def _write_type(value: Any, proto: FullTypeDef) -> None:
    if isinstance(value, tuple):
        proto.type_id = FullTypeId.TFT_PRODUCT
        for dtype in value:
            _write_type(dtype, proto.args.add())
    elif value is not None and value.label in _IDS:
        proto.type_id = _IDS[value.label]
