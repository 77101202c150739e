"""Samples of ops on serialized messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from tests.ops.sample import sample, strings

KINDS = (
    *("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "message", "bytes"),
    *("uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"),
)
TYPES: dict[str, Any] = {
    "double": np.float64,
    "float": np.float32,
    "int64": np.int64,
    "uint64": np.uint64,
    "int32": np.int32,
    "fixed64": np.uint64,
    "fixed32": np.uint32,
    "bool": np.bool_,
    "uint32": np.uint32,
    "enum": np.int32,
    "sfixed32": np.int32,
    "sfixed64": np.int64,
    "sint32": np.int32,
    "sint64": np.int64,
}


def _schema() -> descriptor_pb2.FileDescriptorProto:
    """A message with a field of every kind: single, repeated, and packed."""
    file = descriptor_pb2.FileDescriptorProto(name="every.proto", package="sample", syntax="proto2")
    enum = file.enum_type.add(name="Enum")
    for number in (3, 5):
        enum.value.add(name=f"E{number}", number=number)
    message = file.message_type.add(name="Every")
    for at, kind in enumerate(KINDS):
        for variant, suffix in enumerate(("", "_list", "_packed")):
            field = message.field.add(name=kind + suffix, number=60 - 3 * at - variant, label=3 if variant else 1)
            field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
            if kind in ("message", "enum"):
                field.type_name = ".sample.Every" if kind == "message" else ".sample.Enum"
            if variant == 2 and kind in TYPES:
                field.options.packed = True
            if not variant and kind in ("int32", "string"):
                field.default_value = "7"
    return file


SCHEMA = _schema()
SOURCE = b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[SCHEMA]).SerializeToString()
_POOL = DescriptorPool()
_POOL.Add(SCHEMA)
Every: Any = GetMessageClass(_POOL.FindMessageTypeByName("sample.Every"))


def message(count: int, sign: int = 1) -> bytes:
    """A message with so many values in each list."""
    made = Every()
    for kind in KINDS:
        value: Any = {"bool": True, "string": "té", "bytes": b"\xff\x00", "enum": 5}.get(kind, 100)
        if kind in ("double", "float"):
            value = 1.5 * sign
        elif kind in TYPES and np.dtype(TYPES[kind]).kind == "i" and kind != "enum":
            value = 12345678 * sign
        if kind == "message":
            made.message.int32 = 5
            for _ in range(count):
                made.message_list.add(string="inner")
            continue
        setattr(made, kind, value)
        for suffix in ("_list", "_packed"):
            getattr(made, kind + suffix).extend([value] * count)
    data: bytes = made.SerializeToString()
    return data


def attrs(kind: str, **more: Any) -> dict[str, Any]:
    return {"message_type": "sample.Every", "descriptor_source": SOURCE, **more}


def dtype_of(kind: str) -> Any:
    return TYPES.get(kind, object)


NAMES = [kind + suffix for kind in KINDS for suffix in ("", "_list", "_packed")]
ALL = {"field_names": NAMES, "output_types": [dtype_of(name.partition("_")[0]) for name in NAMES]}
BATCH = strings([[message(2), b""], [message(0, -1), message(3, -1)]])
WIDE = ["float", "int32_list", "fixed32", "uint32_packed", "sfixed32", "sint32_list"]
WIDE_TYPES: list[Any] = [np.float64, np.int64, np.uint64, np.uint64, np.int64, np.int64]
EXAMPLE = b"\n\x03\x01\x02\x03"  # tensorflow.Int64List with 1, 2, 3
TEXT = strings(['int32: -3 string: "a" int64_list: [1, 2]', "float_packed: 0.5"])
LIST: dict[str, Any] = {"message_type": "tensorflow.Int64List", "field_names": ["value"], "output_types": [np.int64]}


def encoding(names: list[str], sizes: Any, *values: Any, **more: Any) -> Any:
    return sample(np.array(sizes, np.int32), list(values), field_names=names, **attrs("", **more))


SAMPLES = {
    "DecodeProtoV2": [
        sample(BATCH, **attrs("", **ALL)),
        sample(strings(message(1)), **attrs("", **ALL)),
        sample(strings([]), fails=True, **attrs("", **ALL)),
        sample(BATCH, **attrs("", field_names=WIDE, output_types=WIDE_TYPES)),
        sample(BATCH, **attrs("", **ALL, sanitize=True)),
        sample(
            TEXT,
            **attrs("", field_names=["int32", "string", "int64_list", "float_packed"]),
            output_types=[np.int32, object, np.int64, np.float32],
            message_format="text",
        ),
        sample(strings([EXAMPLE, b"", b"\x08\x05\x08\x06"]), **LIST),
        sample(strings([b"\x08\x05\x08\x06\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]), **LIST),
        sample(strings([b"\n"]), fails=True, **LIST),
        sample(strings([EXAMPLE]), fails=True, **{**LIST, "message_type": "tensorflow.Nothing"}),
        sample(strings([EXAMPLE]), fails=True, **{**LIST, "field_names": ["nothing"]}),
        sample(strings([EXAMPLE]), fails=True, **{**LIST, "output_types": [np.int32]}),
        sample(strings([EXAMPLE]), fails=True, message_format="json", **LIST),
        sample(strings([EXAMPLE]), fails=True, message_format="text", **LIST),
        sample(strings([EXAMPLE]), fails=True, descriptor_source=b"bytes://??", **LIST),
    ],
    "EncodeProto": [
        encoding(
            ["int32_list", "string"], [[2, 1], [0, 0]], np.array([[-3, 4], [5, 6]], np.int32), strings([[b"a"], [b""]])
        ),
        encoding(
            [f"{kind}_list" for kind in TYPES],
            [[2] * len(TYPES)],
            *(np.array([[3, 5]]).astype(TYPES[kind]) for kind in TYPES),
        ),
        encoding(
            [f"{kind}_packed" for kind in TYPES],
            [[2] * len(TYPES)],
            *(np.array([[3, 5]]).astype(TYPES[kind]) for kind in TYPES),
        ),
        encoding(
            ["sint32", "sint64", "int64", "sfixed32", "sfixed64"],
            [[1] * 5],
            *(np.array([[-7]]).astype(TYPES[kind]) for kind in ("sint32", "sint64", "int64", "sfixed32", "sfixed64")),
        ),
        encoding(
            ["message", "bytes_list", "message_list"],
            [[1, 2, 1]],
            strings([[b"\x08\x01"]]),
            strings([[b"x", b"\xff"]]),
            strings([[b""]]),
        ),
        encoding(
            ["float", "int32", "uint32", "fixed32"],
            [[1, 1, 1, 1]],
            np.array([[0.1]]),
            np.array([[-9]]),
            np.array([[9]], np.uint64),
            np.array([[9]], np.uint64),
        ),
        encoding(["int32_list"], np.zeros((0, 1)), np.zeros((0, 3), np.int32)),
        encoding(["int32_list"], [[3]], np.array([[1, 2]], np.int32), fails=True),
        encoding(["nothing"], [[1]], np.array([[1]], np.int32), fails=True),
        encoding(["int32_list"], [[1]], np.array([[1]], np.uint8), fails=True),
        encoding(["int32_list"], [1], np.array([1], np.int32), fails=True),
        encoding(["int32_list"], [[1], [1]], np.array([[1]], np.int32), fails=True),
    ],
}
