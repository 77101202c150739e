"""Samples of string ops."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.sample import Sample, sample, strings

WORDS = strings([[b"a", b"", b"Abc"], ["äöü ß".encode(), b"\xff\x00z", b" x y\n"]])
TEXT = strings([[b"a", b"", b"Abc"], ["äöÜ ß".encode(), b"Z\x7f[@`{", b" x y\n"]])
EMPTY = np.empty((0, 2), object)
ONE = strings(b"Hello World")
I32 = np.int32


def texts(*items: bytes) -> Any:
    return strings(list(items))


def elementwise(**attrs: Any) -> list[Sample]:
    return [sample(WORDS, **attrs), sample(EMPTY, **attrs), sample(ONE, **attrs)]


def vector(*items: int) -> Any:
    return np.array(items, np.int32)


FLOATS = np.array([0.0, -0.0, 1.5, 1 / 3, 1e10, 1e-10, np.nan, np.inf, -np.inf, -123456.789])
HALVES = FLOATS[[0, 1, 2, 3, 6, 7]].astype(np.float16)
LONG = texts(*(bytes(range(n % 256))[: n % 256] * (1 + n // 256) for n in range(0, 300, 7)))

NUMBERS = texts(b"1", b" -2 ", b"+3", b"0004")
FRACTIONS = texts(b"1", b"-2.5", b" 3e2 ", b".5", b"6.", b"nan", b"inf", b"-Infinity", b"1e-3", b"+7")

SAMPLES: dict[str, list[Sample]] = {
    "StringJoin": [
        sample([WORDS, ONE, WORDS], separator=b"-"),
        sample([TEXT, ONE, TEXT], separator=b"-"),
        sample([ONE, ONE]),
        sample([WORDS]),
        sample([EMPTY, ONE]),
        sample([], separator=b"-"),
        sample([texts(b"a"), texts(b"a", b"b")], fails=True),
    ],
    "ReduceJoin": [
        sample(WORDS, vector(0), constant=(1,)),
        *(
            sample(TEXT, vector(*axes), constant=(1,), separator=b",", keep_dims=kept)
            for axes in ((0,), (-1,), (0, 1), (1, 0))
            for kept in (False, True)
        ),
        sample(WORDS, vector(-1), constant=(1,), separator=b","),
        sample(WORDS, vector(0, 1), constant=(1,), keep_dims=True),
        sample(WORDS, vector(1, 0)),
        sample(WORDS, np.int32(1), constant=(1,)),
        sample(WORDS, vector(), constant=(1,)),
        sample(WORDS, vector(1), keep_dims=True),
        sample(EMPTY, vector(0), constant=(1,)),
        sample(EMPTY, vector(1), constant=(1,)),
        sample(WORDS, vector(2), fails=True),
        sample(WORDS, vector(0, 0), fails=True),
    ],
    "UnsortedSegmentJoin": [
        sample(texts(b"a", b"b", b"c"), vector(2, 0, 2), I32(4), constant=(2,), separator=b":"),
        sample(WORDS, vector(1, 1), I32(2), constant=(2,)),
        sample(WORDS, np.array([[0, 1, 0], [1, 1, 0]], np.int64), np.int64(2)),
        sample(WORDS, vector(1), I32(2), fails=True),
        sample(texts(b"a"), vector(5), I32(2), fails=True),
        sample(texts(b"a"), vector(0), I32(0), fails=True),
        sample(texts(b"a"), vector(0), I32(-1), fails=True),
        sample(strings(b"a"), I32(0), I32(1), fails=True),
        *(sample(np.empty((0, 2), object), np.empty(ids, np.int32), I32(3)) for ids in ((0,), (0, 2))),
        sample(np.empty((2, 0), object), vector(1, 0), I32(3)),
        sample(np.empty(0, object), np.empty(0, np.int64), I32(0)),
    ],
    "StringFormat": [
        sample([FLOATS, FLOATS.astype(np.float32)], template=b"<%s> %s!", summarize=20),
        sample([np.arange(24).reshape(2, 3, 4), np.bool_(True), ONE], template=b"{} {} {}", placeholder=b"{}"),
        sample([WORDS], summarize=1),
        sample([WORDS, np.array([True, False])], template=b"%s,%s", summarize=-1),
        sample([np.arange(9).reshape(3, 3), np.zeros((0, 3)), np.zeros((3, 0))], template=b"%s|%s|%s", summarize=0),
        sample([HALVES, np.complex64(1), np.uint8(255)], template=b"%s%s%s"),
        sample([], template=b"no"),
        sample([ONE], template=b"no", fails=True),
    ],
    "StringSplit": [
        sample(texts(b"a b c", b"", b" d  e "), strings(b" "), constant=(1,)),
        sample(texts(b"a,b;c", b";", b",,x", b""), strings(b",;"), constant=(1,), skip_empty=False),
        sample(texts(b"a,b;c", b";", b",,x", b""), strings(b",;"), constant=(1,)),
        sample(texts(b"a,b", b"", b",,x"), strings(b","), constant=(1,), skip_empty=False),
        sample(texts(b"abc", b"", b"d"), strings(b"")),
        sample(texts(b"abc", b""), strings(b""), skip_empty=False),
        sample(np.empty(0, object), strings(b" "), constant=(1,)),
        sample(ONE, strings(b" "), fails=True),
        sample(texts(b"a"), texts(b" "), fails=True),
    ],
    "StringSplitV2": [
        sample(texts(b"a  b c", b"", b" d\te\n "), strings(b""), constant=(1,)),
        sample(texts(b"a\tb\x0bc\r\nd \x0c  e", b"", b"  ", b"f"), strings(b""), constant=(1,)),
        sample(texts(b"a  b c", b" d\te\n f "), strings(b""), constant=(1,), maxsplit=1),
        sample(texts(b"1<>2<>3", b"<><>", b""), strings(b"<>"), constant=(1,)),
        sample(texts(b"", b""), strings(b"<>"), constant=(1,)),
        sample(texts(b"1<>2<>3", b"<><>", b""), strings(b"<>"), constant=(1,), maxsplit=1),
        *(
            sample(texts(b"", b" a  b c ", b"a,b,,c", b"  ", b"abc  "), strings(mark), constant=(1,), maxsplit=most)
            for mark in (b"", b",")
            for most in (-2, 0, 1, 2, 3)
        ),
        sample(np.empty(0, object), strings(b" "), constant=(1,)),
        sample(ONE, strings(b" "), fails=True),
    ],
    "Fingerprint": [
        *(
            sample(data, strings(b"farmhash64"), constant=(1,))
            for data in (texts(b"", b"abc", b"x" * 300), WORDS, np.arange(6).reshape(2, 3), np.array([True, False]))
        ),
        sample(strings([[b"a"], [b""]]), strings(b"farmhash64")),
        sample(np.zeros((0, 2)), strings(b"farmhash64")),
        sample(np.zeros((2, 0)), strings(b"farmhash64")),
        sample(np.float32(3), strings(b"farmhash64"), fails=True),
        sample(WORDS, strings(b"md5"), fails=True),
    ],
    "StringLower": [
        *elementwise(),
        sample(TEXT),
        *elementwise(encoding=b"utf-8")[2:],
        sample(strings("ÄÖÜ ΑΣ".encode()), encoding=b"utf-8"),
    ],
    "StringUpper": [*elementwise(), sample(TEXT), sample(strings("äöü ß é".encode()), encoding=b"utf-8")],
    "StringStrip": [*elementwise(), sample(texts(b"  a b\t\n", b"\x0b\x0cx\r", b"   ", b"a  b", b""))],
    "StringLength": [*elementwise(), *elementwise(unit=b"UTF8_CHAR")],
    "Substr": [
        sample(texts(b"hello", b"world"), I32(1), I32(3)),
        sample(texts(b"hello", b"world"), vector(-3, 5), vector(2, 1)),
        sample(strings([[b"ten", b"eleven"], [b"six", b"fourteen"]]), vector(1, 2), vector(1, 20)),
        sample(ONE, vector(0, 6), vector(5, 100)),
        sample(texts("äöü".encode(), "a€b".encode()), I32(1), I32(1), unit=b"UTF8_CHAR"),
        sample(texts("äöü".encode(), "a€b".encode()), np.int64(-2), np.int64(5), unit=b"UTF8_CHAR"),
        sample(EMPTY, I32(0), I32(1)),
        sample(texts(b"ab"), I32(3), I32(1), fails=True),
        sample(texts(b"ab"), vector(0, 1, 1), vector(0, 1, 2), gradient=False),
        sample(texts(b"ab"), vector(0), I32(1), fails=True),
    ],
    "StaticRegexFullMatch": [
        sample(texts(b"s3://bucket/x", b"/local", b""), pattern=b"^s3://.*"),
        sample(WORDS, pattern=rb"[a-zA-Z]*"),
        sample(EMPTY, pattern=b"a"),
        sample(ONE, pattern=rb"\w+ \w+"),
        sample(ONE, pattern=b"(", fails=True),
        sample(ONE, pattern=rb"(?=H).*", fails=True),
    ],
    "RegexFullMatch": [
        sample(WORDS, strings(rb"\w+")),
        sample(ONE, strings(b".*"), constant=(1,)),
        sample(TEXT, strings(rb"\w+"), constant=(1,)),
        sample(ONE, texts(b"a"), fails=True),
        sample(ONE, strings(b"*"), fails=True),
    ],
    "StaticRegexReplace": [
        sample(texts(b"a1b22", b"", b"x"), pattern=rb"\d", rewrite=b"#"),
        sample(texts(b"a1b22", b"", b"x"), pattern=rb"(\w)(\d)", rewrite=rb"\2\1\\\0", replace_global=False),
        sample(texts(b"aaa", b"ba"), pattern=b"x*", rewrite=b"-"),
        sample(ONE, pattern=b"(o)|(l)", rewrite=rb"<\1\2>"),
        sample(ONE, pattern=b"o", rewrite=rb"\1"),
        sample(ONE, pattern=b"[", rewrite=b"", fails=True),
        *(
            sample(texts(b"Hi, you!", b"", b"--a-b", b"x.y\\z]"), pattern=pattern, rewrite=rewrite)
            for pattern in (rb"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']", b"[[:punct:]]+", b"-", b"i|-", rb"\.")
            for rewrite in (b"", b"_", b"-")
        ),
        *(sample(texts(b" a\t\n b ", b"\n", b"ab"), pattern=pattern, rewrite=b" ") for pattern in (rb"\s+", rb"\s")),
        sample(strings([[b"a<br />b<br />", b"<br"]]), pattern=b"<br />", rewrite=b" "),
        sample(texts(b"a-b-c", b"-", b""), pattern=b"-", rewrite=b"+", replace_global=False),
        sample(texts("äöä".encode(), b"-"), pattern="ä".encode(), rewrite="é".encode()),
        sample(np.empty((0, 2), object), pattern=b"[a-c]", rewrite=b""),
    ],
    "RegexReplace": [
        sample(texts(b"a.b", b""), strings(rb"\."), strings(b""), constant=(1, 2)),
        sample(WORDS, strings(b"[a-z]"), strings(b"*")),
        sample(ONE, strings(b"l+"), strings(rb"[\0]"), replace_global=False),
        sample(ONE, strings(b"["), strings(b""), fails=True),
        sample(ONE, texts(b"a", b"b"), strings(b""), fails=True),
    ],
    "AsString": [
        *(sample(FLOATS.astype(dtype)) for dtype in (np.float64, np.float32, ml_dtypes.bfloat16)),
        sample(HALVES),
        sample(FLOATS, scientific=True),
        sample(FLOATS, shortest=True),
        sample(FLOATS, precision=2, width=12),
        sample(FLOATS[:5], precision=3, width=9, fill=b"0"),
        *(
            sample(np.array([np.nan, -np.nan, np.inf, -np.inf]), width=width, fill=fill)
            for width in (-1, 9)
            for fill in (b"", b"0", b"+", b" ", b"-")
            if width >= 0 or not fill
        ),
        sample(np.array([1 + 2j, -0.5j]), precision=1),
        sample(np.array([1 + 2j, -0.5j], np.complex64)),
        *(sample(np.array([1, 0, 100], dtype)) for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.uint32)),
        sample(np.array([-(2**63), 2**63 - 1])),
        sample(np.array([2**64 - 1], np.uint64)),
        sample(np.array([[-7, 42]], np.int32), width=5, fill=b"0"),
        sample(np.array([-7, 42], np.int32), width=5, fill=b"-"),
        sample(np.array([-7, 42], np.int32), width=5, fill=b"+"),
        sample(np.array([True, False])),
        sample(WORDS),
        sample(np.zeros((0, 2))),
        sample(np.int32(1), precision=2, fails=True),
        sample(np.float32(1), scientific=True, shortest=True, fails=True),
        sample(np.float32(1), width=3, fill=b"xy", fails=True),
    ],
    "StringToNumber": [
        sample(FRACTIONS),
        sample(FRACTIONS, out_type=np.float64),
        *(sample(NUMBERS[[0, 2, 3]], out_type=dtype) for dtype in (np.int32, np.int64, np.uint32, np.uint64)),
        sample(NUMBERS, out_type=np.int32),
        sample(strings(b"18446744073709551615"), out_type=np.uint64),
        sample(np.empty(0, object)),
        sample(strings(b"1e400"), out_type=np.float64),
        *(sample(strings(text), fails=True) for text in (b"", b"x", b"1x", b"1_0", b"--1")),
        *(sample(strings(text), out_type=np.int32, fails=True) for text in (b"1.5", b"2147483648", b"", b"0x10")),
        sample(strings(b"-1"), out_type=np.uint32, fails=True),
    ],
    "StringToHashBucketFast": [
        sample(LONG, num_buckets=2**62 + 11),
        *elementwise(num_buckets=10),
        *elementwise(num_buckets=1),
    ],
    "StringToHashBucketStrong": [
        sample(LONG, num_buckets=2**62 + 11, key=[123, 2**62]),
        *elementwise(num_buckets=10, key=[1, 2]),
        *elementwise(num_buckets=1, key=[1, 2]),
        sample(ONE, num_buckets=10, key=[1], fails=True),
    ],
    "StringToHashBucket": [
        sample(LONG, num_buckets=2**62 + 11),
        *elementwise(num_buckets=10),
        *elementwise(num_buckets=1),
    ],
    "EncodeBase64": [*elementwise(), *elementwise(pad=True), sample(texts(b"\xfb\xff\xfe", b"\x00\x01"))],
    "DecodeBase64": [
        sample(texts(b"", b"SGVsbG8", b"SGVsbG8=", b"-__-", b"AA", b"AA==")),
        sample(np.empty(0, object)),
        *(sample(strings(text), fails=True) for text in (b"+/+/", b"A", b"a b=", b"AA=", b"AAA==")),
    ],
}
