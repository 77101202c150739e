"""Samples of text as characters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import Sample, sample, strings

TEXTS = [
    b"plain",
    b"",
    "äß€ 😀 \u00a0\n\t".encode(),
    b"\xef\xbb\xbfmarked",
]
WRONG = [
    b"a\xffb",
    b"a\xe4\xb8b",
    b"\xe4\xb8",
    b"\xf0\x9f\x98a",
    b"\xed\xa0\x80x",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\x00\x01\x1f \x7f",
    b"\xe0\x80\x80",
    b"\xf1\x80\x80",
]
WIDE = {
    b"UTF-16-BE": [
        b"\x00a\xd8=\xde\x00",
        b"\x00a\xd8=",
        b"\x00a\xd8=\x00b",
        b"\x00a\xde\x00\x00b",
        b"\xfe\xff\x00a",
        b"a\x00b",
    ],
    b"UTF-16": [b"\x00a\xd8=\xde\x00", b"\xfe\xff\x00a\x00b", b"\xff\xfea\x00b\x00", b"a\x00b", b"\x00a\xde\x00\x00b"],
    b"UTF-16LE": [b"a\x00=\xd8\x00\xde", b"\xff\xfea\x00", b"=\xd8b\x00", b"a\x00b"],
    b"UTF-32-BE": [
        b"\x00\x00\x00a\x00\x01\xf6\x00",
        b"\x00\x11\x00\x00\x00\x00\x00b",
        b"\x00\x00\xd8\x00",
        b"\x00\x00\x00a\x00\x00",
    ],
    b"UTF-32": [b"\x00\x00\xfe\xff\x00\x00\x00a\x00\x00\x00b", b"\x00\x00\x00a"],
    b"US-ASCII": [b"a\x80b", b"abc"],
    b"ISO-8859-1": [b"a\x81\xe4\xff"],
    b"latin1": [b"\xe4"],
    b"windows-1252": [b"a\x81\x82\xa0\x80"],
    b"koi8-r": [b"\x81\xc1\xc2"],
    b"ibm-850": [b"\x81\x82"],
    b"shift_jis": [b"a\x82\xa0\xb1b"],
    b"EUC-JP": [b"a\xa4\xa2b"],
    b"GBK": [b"a\xc4\xe3\xba\xc3"],
    b"Big5": [b"\xa7A\xa6n"],
    b"utf_8": [b"\xc3\xa4"],
}


def decoded() -> list[Sample]:
    found = [
        sample(strings(TEXTS), input_encoding=b"UTF-8"),
        sample(strings(TEXTS).reshape(2, 2), input_encoding=b"UTF-8"),
        sample(strings(TEXTS[2]), input_encoding=b"UTF-8"),
        sample(strings([]), input_encoding=b"UTF-8"),
        sample(strings(TEXTS), input_encoding=b"UTF-8", errors=b"strict"),
        *(
            sample(strings(WRONG), input_encoding=b"UTF-8", errors=errors, replace_control_characters=control)
            for errors in (b"replace", b"ignore")
            for control in (False, True)
        ),
        sample(strings(WRONG), input_encoding=b"UTF-8", replacement_char=ord("?")),
        sample(strings([b"\x01"]), input_encoding=b"UTF-8", errors=b"strict", replace_control_characters=True),
        *(
            sample(strings(texts), input_encoding=encoding, errors=errors)
            for encoding, texts in WIDE.items()
            for errors in (b"replace", b"ignore")
        ),
        *(sample(strings([text]), input_encoding=b"UTF-8", errors=b"strict", fails=True) for text in WRONG[:4]),
        sample(strings(TEXTS), input_encoding=b"nonsense", fails=True),
        sample(strings(TEXTS), input_encoding=b"hex", fails=True),
        sample(strings(TEXTS), input_encoding=b"UTF-8", replacement_char=0x110000, fails=True),
    ]
    return found


def transcoded() -> list[Sample]:
    found = []
    for encoding in (b"UTF-8", b"UTF-16-BE", b"UTF-32-BE"):
        for one in decoded():
            attrs: dict[str, Any] = {**one.attrs, "output_encoding": encoding}
            refuses = one.fails or (attrs.get("errors") == b"strict" and "replace_control_characters" in attrs)
            found.append(Sample(one.inputs, attrs, fails=refuses))
    return found


POINTS = np.array([0x61, 0xE4, 0x20AC, 0x1F600, 0x10FFFD, 0], np.int32)
NOT_POINTS = np.array([0x61, 0xD800, 0xDFFF, 0xFDD0, 0xFFFE, 0x1FFFF, 0x110000, -1, 0x62], np.int32)
ENCODINGS = (b"UTF-8", b"UTF-16-BE", b"UTF-32-BE")

SAMPLES = {
    "UnicodeDecode": [*decoded(), sample(strings(TEXTS), input_encoding=b"UTF-8", Tsplits=np.int32)],
    "UnicodeDecodeWithOffsets": decoded(),
    "UnicodeTranscode": transcoded(),
    "UnicodeEncode": [
        *(sample(POINTS, np.array([0, 2, 2, 6], np.int64), output_encoding=encoding) for encoding in ENCODINGS),
        *(
            sample(NOT_POINTS, np.array([0, 4, 9], np.int32), output_encoding=encoding, errors=errors)
            for encoding in ENCODINGS
            for errors in (b"replace", b"ignore")
        ),
        sample(NOT_POINTS, np.array([0, 9], np.int64), output_encoding=b"UTF-8", replacement_char=ord("?")),
        sample(POINTS, np.array([0, 6], np.int64), output_encoding=b"UTF-8", errors=b"strict"),
        sample(POINTS[:0], np.array([0], np.int64), output_encoding=b"UTF-8"),
        sample(NOT_POINTS, np.array([0, 9], np.int64), output_encoding=b"UTF-8", errors=b"strict", fails=True),
        sample(POINTS, np.array([0, 5], np.int64), output_encoding=b"UTF-8", fails=True),
        sample(POINTS, np.array([1, 6], np.int64), output_encoding=b"UTF-8", fails=True),
        sample(POINTS, np.array([0, 4, 3, 6], np.int64), output_encoding=b"UTF-8", fails=True),
        sample(POINTS, np.zeros(0, np.int64), output_encoding=b"UTF-8", fails=True),
    ],
    "UnicodeScript": [
        sample(np.arange(0x110000, dtype=np.int32)),
        sample(np.array([[0x61, -1], [0x110000, 0x4E00]], np.int32)),
        sample(np.int32(0x416)),
        sample(np.zeros(0, np.int32)),
    ],
}
