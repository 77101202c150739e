"""Samples of ragged tensors, counts, and runs of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import Sample, sample, strings


def ints(*items: int, dtype: Any = np.int64) -> Any:
    return np.array(items, dtype)


SPLITS = ints(0, 2, 2, 5)
OUTER = ints(0, 2, 3)
VALUES = np.arange(1, 6, dtype=np.float32)
ROWS = np.arange(10, dtype=np.float32).reshape(5, 2)
WORDS = strings([b"a", b"b", b"c", b"d", b"e"])
NONE = np.zeros(0, np.int64)


def densified() -> list[Sample]:
    splits = {"row_partition_types": [b"ROW_SPLITS"]}
    nested = {"row_partition_types": [b"ROW_SPLITS", b"ROW_SPLITS"]}
    ids = {"row_partition_types": [b"FIRST_DIM_SIZE", b"VALUE_ROWIDS"]}
    zero = np.float32(0)
    return [
        *(
            sample(shape, VALUES, zero, [SPLITS], constant=constant, **splits)
            for shape in (ints(-1, -1), ints(4, -1), ints(-1, 2), ints(2, 4), ints(0, 0))
            for constant in ((), (0,))
        ),
        sample(np.int64(-1), VALUES, zero, [SPLITS], constant=(0,), **splits),
        sample(np.int32(-1), VALUES, zero, [SPLITS.astype(np.int32)], constant=(0,), **splits),
        sample(ints(-1, -1), WORDS, strings(b"?"), [SPLITS], **splits),
        sample(ints(-1, -1, 2), ROWS, zero, [SPLITS], constant=(0,), **splits),
        sample(ints(-1, 4, -1), ROWS, np.array([7, 8], np.float32), [SPLITS], constant=(0,), **splits),
        sample(ints(-1, -1, -1), ROWS, np.array([7], np.float32), [SPLITS], **splits),
        sample(ints(-1, -1, -1), VALUES, np.float32(-1), [OUTER, SPLITS], **nested),
        sample(ints(3, 1, 2), VALUES, np.float32(-1), [OUTER, SPLITS], constant=(0,), **nested),
        sample(ints(-1, -1), VALUES, zero, [np.int64(4), ints(0, 0, 2, 2, 2)], **ids),
        sample(ints(2, 2), VALUES, zero, [np.int64(4), ints(0, 0, 2, 2, 2)], constant=(0,), **ids),
        sample(
            ints(-1, -1, -1),
            VALUES,
            zero,
            [np.int64(2), ints(0, 0, 1), ints(0, 0, 2, 2, 2)],
            row_partition_types=[b"FIRST_DIM_SIZE", b"VALUE_ROWIDS", b"VALUE_ROWIDS"],
        ),
        sample(ints(-1, -1), VALUES[:0], zero, [ints(0)], **splits),
        sample(ints(-1, -1), VALUES[:0], zero, [ints(0, 0, 0)], **splits),
        sample(ints(-1, -1), VALUES.astype(np.float16), np.float16(0), [SPLITS], gradient=False, **splits),
        sample(ints(-1, -1), VALUES.astype(np.int8), np.int8(3), [SPLITS], **splits),
        sample(np.int64(3), VALUES, zero, [SPLITS], fails=True, **splits),
        sample(ints(-1, -1, -1), VALUES, zero, [SPLITS], fails=True, **splits),
        sample(ints(-1, -1), VALUES, VALUES[:1], [SPLITS], fails=True, **splits),
        sample(ints(-1, -1, 3), ROWS, zero, [SPLITS], fails=True, **splits),
        sample(ints(-1, -1), VALUES, zero, [ints(0, 3, 2, 5)], fails=True, **splits),
        sample(ints(-1, -1), VALUES, zero, [NONE], fails=True, **splits),
        sample(ints(-1, -1), VALUES, zero, [SPLITS], fails=True, row_partition_types=[b"WHAT"]),
        sample(ints(-1, -1), VALUES, zero, [ints(0, 1)], fails=True, row_partition_types=[b"VALUE_ROWIDS"]),
    ]


def ranges() -> list[Sample]:
    types = (np.int32, np.int64, np.float32, np.float64)
    return [
        *(sample(*(np.array(part, dtype) for part in ([0, 5, 8], [3, 5, 2], [1, 1, -2]))) for dtype in types),
        *(sample(np.array(0, dtype), np.array([4, 0, 9], dtype), np.array(3, dtype)) for dtype in types),
        sample(np.int32(2), np.int32(9), np.int32(4)),
        sample(np.int32(2), np.int32(9), np.int32(4), Tsplits=np.int32),
        sample(np.float32(0), np.float32([1, 0.35]), np.float32(0.1)),
        sample(*(np.zeros(0, np.int32),) * 3),
        sample(np.int32(0), np.int32(5), np.int32(0), fails=True),
        sample(np.int32([0, 1]), np.int32([5, 6, 7]), np.int32(1), fails=True),
        sample(np.int32([[0]]), np.int32(5), np.int32(1), fails=True),
    ]


def gathered() -> list[Sample]:
    one = {"OUTPUT_RAGGED_RANK": 1}
    return [
        sample([SPLITS], VALUES, ints(2, 0, 2, 1), **one),
        sample([SPLITS.astype(np.int32)], VALUES, ints(2, 0, dtype=np.int32), **one),
        sample([SPLITS], ROWS, ints(2, 0), **one),
        sample([SPLITS], WORDS, ints(2, 0), **one),
        sample([SPLITS], VALUES, NONE, **one),
        sample([SPLITS], VALUES, np.int64(2), OUTPUT_RAGGED_RANK=0),
        sample([SPLITS], VALUES, ints(2, 0, 1, 1).reshape(2, 2), OUTPUT_RAGGED_RANK=2),
        sample([OUTER, SPLITS], VALUES, ints(1, 0, 0), OUTPUT_RAGGED_RANK=2),
        sample([OUTER, SPLITS], VALUES, ints(1, 0, 0, 1, 1, 1).reshape(1, 2, 3), OUTPUT_RAGGED_RANK=4),
        sample([OUTER, SPLITS], VALUES, np.int64(0), OUTPUT_RAGGED_RANK=1, gradient=False),
        sample([SPLITS], VALUES, ints(3), fails=True, **one),
        sample([SPLITS], VALUES, ints(-1), fails=True, **one),
        sample([ints(0, 9)], VALUES, ints(0), fails=True, **one),
    ]


def crossed() -> list[Sample]:
    numbers, words = ints(7, 8, 9, -3, 5), WORDS
    sparse = ([ints(0, 0, 2, 1, 2, 2).reshape(3, 2)], [words[:3]], [ints(3, 4)])
    none: Any = ([], [], [])
    dense = strings([[b"x", b"y"], [b"z", b""], [b"u", b"v"]])
    found = []
    for hashed in (False, True):
        options: dict[str, Any] = {
            "hashed_output": hashed,
            "num_buckets": 0,
            "hash_key": 956888297470,
            "out_values_type": np.int64 if hashed else np.object_,
            "out_row_splits_type": np.int64,
        }
        found += [
            sample([numbers, words], [SPLITS, SPLITS], *none, [], input_order=b"RR", **options),
            sample([words], [SPLITS], *none, [dense], input_order=b"DR", **options),
            sample([words], [SPLITS], *sparse, [dense], input_order=b"SRD", **options),
            sample([], [], *sparse, [dense], input_order=b"DS", **options),
            sample(
                [words],
                [SPLITS.astype(np.int32)],
                *none,
                [dense],
                input_order=b"RD",
                **{**options, "out_row_splits_type": np.int32},
            ),
            sample([words], [SPLITS], *none, [], input_order=b"R", **{**options, "num_buckets": 10}),
            sample([words], [SPLITS], *none, [dense[:2]], input_order=b"RD", fails=True, **options),
        ]
    return found


def filled() -> list[Sample]:
    return [
        sample(ints(0, 0, 2, 2), VALUES[:4], np.int64(4), np.float32(-1), constant=(2,)),
        sample(ints(0, 0, 2, 2), VALUES[:4], np.int64(4), np.float32(-1)),
        sample(ints(0, 1, 2, 2), VALUES[:4].astype(np.float64), np.int64(3), np.float64(-1)),
        sample(ints(2, 0, 2), ints(1, 2, 3), np.int64(4), np.int64(-1)),
        sample(ints(0, 3), WORDS[:2], np.int64(5), strings(b"?")),
        sample(NONE, VALUES[:0], np.int64(2), np.float32(7)),
        sample(NONE, VALUES[:0], np.int64(0), np.float32(7), unspecified=(0,)),
        sample(ints(0, 4), VALUES[:2], np.int64(4), np.float32(7), fails=True),
        sample(ints(0, -1), VALUES[:2], np.int64(4), np.float32(7), fails=True),
        sample(ints(0), VALUES[:2], np.int64(4), np.float32(7), fails=True),
        sample(ints(0), VALUES[:1], np.int64(0), np.float32(7), fails=True),
    ]


EXTENTS: list[dict[str, Any]] = [
    {},
    {"minlength": 9},
    {"maxlength": 4},
    {"minlength": 9, "maxlength": 3},
    {"binary_output": True},
]


def counts(*inputs: Any) -> list[Sample]:
    """Of inputs the last of which are the values, without weights."""
    found = []
    for extent in EXTENTS:
        attrs = {"binary_output": False, **extent}
        for dtype in (np.int32, np.int64, np.float32, np.float64):
            found.append(sample(*inputs, np.zeros((0,) * inputs[-1].ndim, dtype), output_type=dtype, **attrs))
    return found


MATRIX = np.array([[1, 3, 1, 5], [0, 0, 7, 3]], np.int32)
PLACES = ints(0, 0, 0, 3, 2, 1, 2, 2, 2, 3).reshape(5, 2)
NUMBERS = ints(3, 1, 5, 0, 5)
PLAIN: dict[str, Any] = {"binary_output": False, "output_type": np.float32}

SAMPLES = {
    "RaggedTensorToSparse": [
        sample([SPLITS], VALUES),
        sample([SPLITS.astype(np.int32)], VALUES.astype(np.float64)),
        sample([SPLITS], ROWS),
        sample([SPLITS], np.arange(30, dtype=np.int32).reshape(5, 2, 3)),
        sample([OUTER, SPLITS], VALUES),
        sample([OUTER, SPLITS], ROWS),
        sample([SPLITS], WORDS),
        sample([ints(0)], VALUES[:0]),
        sample([ints(0, 0, 0)], VALUES[:0]),
        sample([SPLITS], VALUES[:4], fails=True),
        sample([ints(1, 5)], VALUES, fails=True),
        sample([ints(0, 3, 2, 5)], VALUES, fails=True),
        sample([SPLITS], np.float32(1), fails=True),
    ],
    "RaggedTensorToTensor": densified(),
    "RaggedRange": ranges(),
    "RaggedGather": gathered(),
    "RaggedCross": crossed(),
    "RaggedFillEmptyRows": filled(),
    "RaggedFillEmptyRowsGrad": [
        sample(ints(0, 1, 3, 4), VALUES),
        sample(ints(0, 1, 3, 4), VALUES.astype(np.float64)),
        sample(ints(2), ints(1, 2, 3)),
        sample(NONE, VALUES),
        sample(NONE, VALUES[:0]),
        sample(ints(5), VALUES, fails=True),
        sample(ints(-1), VALUES, fails=True),
    ],
    "DenseCountSparseOutput": [
        *counts(MATRIX),
        *counts(ints(1, 3, 1)),
        sample(MATRIX, np.arange(8, dtype=np.float32).reshape(2, 4), **PLAIN),
        sample(MATRIX, np.arange(8, dtype=np.float32).reshape(2, 4), maxlength=4, **PLAIN),
        sample(ints(4, 1, 4), np.array([1, 2, 4], np.float32), **PLAIN),
        sample(NONE, np.zeros(0, np.float32), **PLAIN),
        sample(MATRIX[:0], np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(MATRIX, np.zeros(3, np.float32), fails=True, **PLAIN),
        sample(-MATRIX, np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(np.int32(3), np.zeros(0, np.float32), fails=True, **PLAIN),
    ],
    "SparseCountSparseOutput": [
        sample(PLACES, NUMBERS, ints(4, 4), np.zeros(0, np.float32), **PLAIN, **extent)
        for extent in ({}, {"minlength": 9}, {"maxlength": 4})
    ]
    + [
        sample(PLACES, NUMBERS.astype(np.int32), ints(4, 4), np.arange(5, dtype=np.float32), **PLAIN),
        sample(PLACES, NUMBERS, ints(4, 4), np.zeros(0, np.int64), binary_output=True, output_type=np.int64),
        sample(PLACES[:, 1:], NUMBERS, ints(4), np.zeros(0, np.float32), **PLAIN),
        sample(PLACES, NUMBERS[:4], ints(4, 4), np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(PLACES, NUMBERS, ints(2, 4), np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(PLACES, NUMBERS, ints(4, 4), np.zeros(2, np.float32), fails=True, **PLAIN),
    ],
    "RaggedCountSparseOutput": [
        *counts(SPLITS, NUMBERS),
        sample(SPLITS, NUMBERS, np.arange(5, dtype=np.float32), **PLAIN),
        sample(ints(0, 0), NONE, np.zeros(0, np.float32), **PLAIN),
        sample(ints(0), NONE, np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(ints(1, 5), NUMBERS, np.zeros(0, np.float32), fails=True, **PLAIN),
        sample(ints(0, 4), NUMBERS, np.zeros(0, np.float32), fails=True, **PLAIN),
    ],
    "StringNGrams": [
        sample(
            data,
            splits,
            separator=b"|",
            ngram_widths=widths,
            left_pad=b"<",
            right_pad=b">",
            pad_width=pads,
            preserve_short_sequences=short,
        )
        for data, splits in (
            (WORDS, SPLITS),
            (WORDS, ints(0, 1, 5, dtype=np.int32)),
            (WORDS[:0], ints(0)),
            (WORDS[:0], ints(0, 0, 0)),
        )
        for widths in ([2], [3, 1], [4], [])
        for pads in (-1, 0, 1, 5)
        for short in (False, True)
        if widths or not short
    ]
    + [
        sample(
            WORDS,
            SPLITS,
            separator=b" ",
            ngram_widths=[],
            left_pad=b"",
            right_pad=b"",
            pad_width=-1,
            preserve_short_sequences=True,
            fails=True,
        )
    ]
    + [
        sample(
            WORDS,
            splits,
            separator=b" ",
            ngram_widths=[width],
            left_pad=b"",
            right_pad=b"",
            pad_width=0,
            preserve_short_sequences=False,
            fails=True,
        )
        for splits, width in ((ints(0, 4), 2), (ints(1, 5), 2), (ints(0, 3, 2, 5), 2), (SPLITS, 0))
    ],
}

ELSEWHERE = dict.fromkeys(
    ("RaggedTensorToVariant", "RaggedTensorFromVariant", "RaggedTensorToVariantGradient"),
    "tests/interop/test_ragged_functions.py::test_ragged_tensors_become_variants_and_come_back",
)
