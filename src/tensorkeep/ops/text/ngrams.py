"""Runs of words: every so many that follow each other in a row, joined."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.ragged.rows import checked_splits, splits_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

string_ngrams = op(
    "StringNGrams(data: string, data_splits: Tsplits) -> ngrams: string, ngrams_splits: Tsplits",
    "separator: string",
    "ngram_widths: list(int) >= 0",
    "left_pad: string",
    "right_pad: string",
    "pad_width: int",
    "preserve_short_sequences: bool",
    "Tsplits: {int32, int64} = int64",
)


@string_ngrams.shape
def string_ngrams_shape(data: Tensor, data_splits: Tensor) -> tuple[Shape, Shape]:
    with_rank(data, 1)
    return Shape((None,)), with_rank(data_splits, 1)


@string_ngrams.kernel
def string_ngrams_kernel(
    data: Array,
    data_splits: Array,
    *,
    separator: bytes,
    ngram_widths: tuple[int, ...],
    left_pad: bytes,
    right_pad: bytes,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Array, Array]:
    if any(width <= 0 for width in ngram_widths):
        raise InvalidArgumentError(f"ngram_widths must contain positive values, got {list(ngram_widths)}")
    if data_splits.size:
        checked_splits(data_splits, len(data), "data_splits")
    if not data_splits.size or not len(data):  # TensorFlow pads empty rows only where another row has words
        return np.empty(0, object), data_splits
    rows: list[list[bytes]] = []
    words, ends = data.tolist(), data_splits.tolist()
    for start, end in pairwise(ends):
        found: list[bytes] = []
        for width in ngram_widths:
            pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            padded = [left_pad] * pads + words[start:end] + [right_pad] * pads
            found += [separator.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if not found and preserve_short_sequences and end > start:
            if pad_width < 0:
                raise InvalidArgumentError(
                    f"Pad width should be >= 0 when preserve_short_sequences is True, got {pad_width}"
                )
            found.append(separator.join([left_pad] * pad_width + words[start:end] + [right_pad] * pad_width))
        rows.append(found)
    ngrams = np.empty(sum(map(len, rows)), object)
    ngrams[:] = [ngram for row in rows for ngram in row]
    return ngrams, splits_of([len(row) for row in rows], data_splits.dtype)
