"""Samples of ops that decode bytes."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings
from tests.ops.samples.parsing.examples import texts

BYTES = bytes(range(1, 33))
F32, F64, I32, I64, TEXT = np.float32, np.float64, np.int32, np.int64, np.dtype(object)
ZLIB, GZIP = zlib.compress(b"hello world" * 9), gzip.compress(b"hello world" * 9, mtime=0)
TYPES: list[Any] = [
    np.float16,
    F32,
    F64,
    I32,
    np.uint16,
    np.uint8,
    np.int16,
    np.int8,
    I64,
    np.complex64,
    np.complex128,
    np.bool_,
    ml_dtypes.bfloat16,
]
PADDED: list[Any] = [F32, F64, I32, np.uint16, np.uint8, np.int16, np.int8, I64, ml_dtypes.bfloat16]

ONE, WORD = [np.array([7], I32)], [np.empty(0, object)]
ALL = [np.array([1.5], F32), np.array([2.5], F64), I32(3), np.array([4], I64), strings(b"five")]


def csv(*records: bytes, defaults: Any = ALL, **attrs: Any) -> Sample:
    return sample(texts(*records), defaults, gradient=False, **attrs)


def feature(value: str) -> bytes:
    return f'{{"features": {{"feature": {{"a": {value}}}}}}}'.encode()


JSON = [
    b"{}",
    b' {"features" : {} } ',
    b'{"features": null}',
    b'{"features":{"feature":{"b":{"bytesList":{"value":["YWI=","YQ"]}},"a":{"int64List":{"value":["5",6,7.0,1e2,-1]}},'
    b'"c":{"floatList":{"value":[1,2.5,"NaN","-Infinity","3.5"]}}}}}',
    b'{"features":{"feature":{"b":{"bytes_list":{"value":[]}},"z":{},"m":{"bytesList":null}}}}',
    feature('{"int64List": {"value": [null]}}'),
    feature('{"int64List": {"value": 5}}'),
    feature('{"bytesList": {"value": ["_-8", "+/8="]}}'),
    feature('{"int64List": {"value": ["-9223372036854775808", 9223372036854775807]}}'),
    b'{"features":{"feature":{"\\u00e4\\n":{}}}}',
    b'{"features":{},"features":{}}',
]
NO_JSON = [
    b"",
    b"[]",
    b"5",
    b"{",
    b'{"x": 1}',
    b'{"features": {}} x',
    b"[" * 5000,
    feature("5"),
    feature('{"int64List": {"value": ["x"]}}'),
    feature('{"int64List": {"value": [1.5]}}'),
    feature('{"int64List": {"value": [" 5"]}}'),
    feature('{"int64List": {"value": [9223372036854775808]}}'),
    feature('{"int64List": {"value": [true]}}'),
    feature('{"int64List": {"value": [1]}, "floatList": {"value": [1]}}'),
    feature('{"floatList": {"value": [1e39]}}'),
    feature('{"bytesList": {"value": ["!!"]}}'),
    feature('{"bytesList": {"value": [5]}}'),
    b'{"features":{"feature":{"a":{},"a":{}}}}',
]

SAMPLES: dict[str, list[Sample]] = {
    "DecodeRaw": [
        *(sample(texts(BYTES, BYTES[::-1]), out_type=dtype) for dtype in TYPES),
        *(sample(texts(BYTES, BYTES[::-1]), out_type=dtype, little_endian=False) for dtype in TYPES),
        sample(strings(b"\x00\x02\x01"), out_type=np.bool_),
        sample(strings([[b"ab"], [b"cd"]]), out_type=np.uint8),
        sample(strings(b""), out_type=F32),
        sample(texts(b"", b""), out_type=F32),
        sample(np.empty((2, 0), object), out_type=F32),
        sample(texts(b"abcd", b"ab"), out_type=np.uint8, fails=True),
        sample(strings(b"abc"), out_type=F32, fails=True),
    ],
    "DecodePaddedRaw": [
        *(sample(texts(BYTES, b"abc", b""), I32(16), out_type=dtype) for dtype in PADDED),
        *(sample(texts(BYTES, b"abc"), I32(8), out_type=dtype, little_endian=False, constant=(1,)) for dtype in PADDED),
        sample(strings(b"abcdef"), I32(4), out_type=np.uint8, constant=(1,)),
        sample(strings(b"abcdef"), I32(4), out_type=np.float16, oracle=False),  # no such kernel in TensorFlow
        sample(np.empty((0, 2), object), I32(4), out_type=np.uint8),
        sample(strings(b"abc"), I32(3), out_type=F32, fails=True),
        sample(strings(b"abc"), I32(3), out_type=F32, constant=(1,), fails=True),
        sample(strings(b"abc"), I32(0), out_type=F32, fails=True),
        sample(strings(b"abc"), I32(-4), out_type=F32, fails=True),
        sample(strings(b"abc"), np.array([4], I32), out_type=F32, fails=True),
    ],
    "DecodeCSV": [
        csv(b"1,2,3,4,five", b" 1.5 ,1e3,-3, +4 ,six", b",,,,"),
        csv(b"inf,nan,0,0,\xff", b"-Infinity,.5,00,9223372036854775807,"),
        csv(b'"1","2","3","4","a,b"', b'1,2,3,4,"say ""hi"""', b'1,2,3,4,""'),
        csv(b"\n1,2,3,4,five", b'\r\n1,2,3,4,"a\nb"'),
        csv(b"1;2;3;4;x", field_delim=b";"),
        csv(b"1\t2\t3\t4\tx", field_delim=b"\t"),
        csv(b'1,2,3,4,"x', b'1,2,3,4,a"b"', use_quote_delim=False),
        csv(b"NA,NA,NA,NA,NA", b",2,3,4,x", na_value=b"NA"),
        csv(b"a,7,c,d", b"b,,c,d,e", defaults=ONE, select_cols=[1]),
        csv(b"a,7,c", b"b,,", defaults=[I32(7), strings(b"z")], select_cols=[1, 2]),
        sample(strings([[b"1"], [b"2"]]), ONE),
        sample(strings(b"5"), ONE),
        sample(np.empty(0, object), ALL, gradient=False),
        csv(b"x", defaults=WORD),
        *(
            csv(*records, defaults=ONE, fails=True)
            for records in (
                [b""],
                [b"1,2"],
                [b"1", b""],
                [b"x"],
                [b"1.5"],
                [b"2147483648"],
                [b"1_0"],
                [b" "],
                [b'"1'],
                [b'1"2"'],
                [b'"1"2'],
                [b'"""'],
                [b"1\n"],
            )
        ),
        csv(b",", defaults=[np.empty(0, I32), I32(1)], fails=True),
        csv(b"", defaults=WORD, fails=True),
        csv(b"1,2", defaults=[I32(1), I32(1)], select_cols=[1, 0], fails=True),
        csv(b"1,2", defaults=[I32(1)], select_cols=[-1], fails=True),
        csv(b"1,2", defaults=[I32(1)], select_cols=[0, 1], fails=True),
        csv(b"1,2", defaults=[I32(1)], select_cols=[2], fails=True),
        csv(b"1,2", defaults=[I32(1)], field_delim=b",,", fails=True),
        csv(b"1", defaults=[np.ones(2, I32)], fails=True),
        csv(b"1", defaults=[np.ones((1, 1), I32)], fails=True),
    ],
    "DecodeCompressed": [
        sample(texts(ZLIB, zlib.compress(b"")), compression_type=b"ZLIB"),
        sample(texts(GZIP, GZIP + GZIP, b""), compression_type=b"GZIP"),
        sample(texts(ZLIB + ZLIB, ZLIB[:-3], ZLIB[:10], b"", ZLIB + b"more"), compression_type=b"ZLIB"),
        sample(strings(GZIP[:15]), compression_type=b"GZIP"),
        sample(strings([[b"any", b"thing"]])),
        sample(strings(GZIP), compression_type=b"ZLIB", fails=True),
        sample(strings(ZLIB), compression_type=b"GZIP", fails=True),
        sample(strings(GZIP + b"junk"), compression_type=b"GZIP", fails=True),
        sample(strings(ZLIB[:-1] + b"\0"), compression_type=b"ZLIB", fails=True),
        sample(strings(b"x"), compression_type=b"RAW", fails=True),
    ],
    "DecodeJSONExample": [
        sample(texts(*JSON)),
        sample(strings(JSON[3])),
        sample(np.empty((0, 2), object)),
        *(sample(texts(JSON[3], text), fails=True) for text in NO_JSON),
    ],
}
