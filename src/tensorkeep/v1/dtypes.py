"""`tf.dtypes`, and the types at the top of `tf`."""

from __future__ import annotations

from tensorkeep.dtypes import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    QINT8,
    QINT16,
    QINT32,
    QUINT8,
    QUINT16,
    RESOURCE,
    STRING,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    VARIANT,
    DType,
)
from tensorkeep.tf1.functions.ragged.dispatch import as_string, cast, complex, saturate_cast
from tensorkeep.v1.framework import as_dtype

bfloat16, bool = BFLOAT16, BOOL
complex64, complex128 = COMPLEX64, COMPLEX128
float16, float32, float64 = FLOAT16, FLOAT32, FLOAT64
half, double = FLOAT16, FLOAT64
int8, int16, int32, int64 = INT8, INT16, INT32, INT64
qint8, qint16, qint32, quint8, quint16 = QINT8, QINT16, QINT32, QUINT8, QUINT16
uint8, uint16, uint32, uint64 = UINT8, UINT16, UINT32, UINT64
resource, string, variant = RESOURCE, STRING, VARIANT
QUANTIZED_DTYPES = frozenset((QINT8, QINT16, QINT32, QUINT8, QUINT16))

__all__ = [
    "QUANTIZED_DTYPES",
    "DType",
    "as_dtype",
    "as_string",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "qint8",
    "qint16",
    "qint32",
    "quint8",
    "quint16",
    "resource",
    "saturate_cast",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]
