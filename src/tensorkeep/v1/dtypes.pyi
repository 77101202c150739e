# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.dtypes import (
    BFLOAT16 as bfloat16, BOOL as bool, COMPLEX128 as complex128, COMPLEX64 as complex64, DType, FLOAT16 as float16,
    FLOAT16 as half, FLOAT32 as float32, FLOAT64 as double, FLOAT64 as float64, INT16 as int16, INT32 as int32,
    INT64 as int64, INT8 as int8, QINT16 as qint16, QINT32 as qint32, QINT8 as qint8, QUINT16 as quint16,
    QUINT8 as quint8, RESOURCE as resource, STRING as string, UINT16 as uint16, UINT32 as uint32, UINT64 as uint64,
    UINT8 as uint8, VARIANT as variant,
)
from tensorkeep.tf1.functions.ragged.dispatch import as_string, cast, complex, saturate_cast
from tensorkeep.v1.framework import QUANTIZED_DTYPES, as_dtype

__all__ = [
    "DType", "QUANTIZED_DTYPES", "as_dtype", "as_string", "bfloat16", "bool", "cast", "complex", "complex128",
    "complex64", "double", "float16", "float32", "float64", "half", "int16", "int32", "int64", "int8", "qint16",
    "qint32", "qint8", "quint16", "quint8", "resource", "saturate_cast", "string", "uint16", "uint32", "uint64",
    "uint8", "variant",
]
