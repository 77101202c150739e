"""Strings put together of parts: characters replaced, spaces taken away, strings joined by segments, runs of words.

ONNX splits strings and joins pairs of them. What replaces some characters splits at each of them, and joins the parts
again: with something else between them, or with nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.joining import as_vector
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.numbers.segments import by_segment, groups_of
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.sparse_tensors.ragged import flat_ranges, row_of_elements
from tensorkeep.onnx.rules.strings.patterns import Marks, marks_of_pattern
from tensorkeep.onnx.rules.strings.text import (
    joined_strings,
    leave_to_kernels,
    numbered_elements,
    split_strings,
    string_constant,
    text_of,
)
from tensorkeep.onnx.size_vectors import END, Part, axes_of, parts_of, product, reshaped_value, vector
from tensorkeep.onnx.terms import Term

_SPACES: Final = "\t\n\v\f\r "
_MOST_JOINED: Final = 64  # strings that become nodes one by one
_SINCE: Final = 20  # the version of ONNX that splits strings


class _Lines(NamedTuple):
    """Parts of strings, in order: of which string each is a part, and what stood behind it."""

    parts: Term
    lines: Term
    behind: Term


def joined_parts(to: OnnxGraph, parts: Term, lines: Term, count: Part) -> Term:
    """For each of `count` strings its parts put together, in their order. The lines that they are in are sorted."""
    ones = filled_array(to, to.shape(lines), to.constant(1))
    ones.dims = lines.dims = (None,)
    counts = by_segment(to, ones, lines, count, "add", 0)
    inside = _places_in_lines(to, lines, counts)
    most = to.reduce("ReduceMax", to.concat([counts, to.constant([0])], 0), [0])
    nothing = to.node("Expand", string_constant(b""), vector(to, [count]), dims=(None,))
    inner = to.inner()
    number, going = inner.input(INT64, (), to.own_name("number")), inner.input(BOOL, (), to.own_name("going"))
    before = inner.input(STRING, (None,), to.own_name("before"))
    is_next = inner.node("Equal", inside, number, dtype=BOOL)
    rows = inner.unsqueeze(inner.node("Compress", lines, is_next, axis=0, dims=(None,)), [1])
    added = inner.node("ScatterND", nothing, rows, inner.node("Compress", parts, is_next, axis=0, dims=(None,)))
    longer = inner.node("StringConcat", before, added, dims=(None,))
    body = inner.finished([number, going, before], [going, longer], "join")
    return to.node("Loop", most, to.constant(np.bool_(True)), nothing, dtype=STRING, dims=(None,), body=body)


def _places_in_lines(to: OnnxGraph, lines: Term, counts: Term) -> Term:
    """For each part its number among those of its line."""
    starts = to.node("CumSum", counts, to.constant(0), exclusive=1)
    return to.node("Sub", numbered_elements(to, lines), to.node("Gather", starts, lines, axis=0), dims=(None,))


def _split_lines(to: OnnxGraph, strings: Term, marks: str | list[str], most: int = -1) -> _Lines:
    """Strings split at several marks, and which of them each part was followed by."""
    found = _Lines(strings, numbered_elements(to, strings), _repeated(to, b"", strings))
    for mark in marks:
        pieces = split_strings(to, found.parts, mark, keeps_empty=True, most=most)
        count = to.shape(found.parts)
        behind = to.node("Gather", found.behind, pieces.lines, axis=0, dims=(None,))
        is_last = _is_last(to, pieces.lines, count)
        behind = to.node("Where", is_last, behind, string_constant(mark.encode()), dtype=STRING, dims=(None,))
        lines = to.node("Gather", found.lines, pieces.lines, axis=0, dims=(None,))
        found = _Lines(pieces.values, lines, behind)
    return found


def _repeated(to: OnnxGraph, text: bytes, like: Term) -> Term:
    return to.node("Expand", string_constant(text), to.shape(like), dims=(None,))


def _is_last(to: OnnxGraph, lines: Term, count: Part) -> Term:
    """Which parts are the last of their lines, all of which have some."""
    after = to.concat([to.slice(lines, [1], [END], [0]), to.cast(vector(to, [count]), INT64)], 0)
    return to.node("Not", to.node("Equal", after, lines, dtype=BOOL), dtype=BOOL, dims=(None,))


# ---------------------------------------------------------------------------------------------------- Replacing


@rule("StaticRegexReplace", opset=_SINCE)
def static_regex_replace(to: OnnxGraph, input: Term, *, pattern: bytes, rewrite: bytes, replace_global: bool) -> Term:
    """A pattern that stands for some characters, or for one text: strings are split there and joined again.

    A run of characters counts once, if the pattern says so: parts without text between others are dropped then.
    """
    leave_to_kernels(to, "strings")
    told = text_of(to, pattern, "the pattern")
    marks = marks_of_pattern(told)
    if marks is None or b"\\" in rewrite or not (replace_global or (len(marks.texts) == 1 and not marks.repeats)):
        to.refuse(
            f"ONNX replaces no patterns but those that stand for one text or for characters, and this is {told!r}; cut "
            "the graph behind it (--inputs) and give the model what it computes, or have it done beside (--split)"
        )
    text_of(to, rewrite, "what is put in the place of a pattern")
    return _elementwise(to, input, lambda flat: _replaced(to, flat, marks, rewrite, replace_global))


@rule("RegexReplace", opset=_SINCE)
def regex_replace(to: OnnxGraph, input: Term, pattern: Term, rewrite: Term, *, replace_global: bool) -> Term:
    told = to.known_array(pattern, "the pattern").item()
    by = to.known_array(rewrite, "what is put in its place").item()
    return static_regex_replace(to, input, pattern=told, rewrite=by, replace_global=replace_global)


def _replaced(to: OnnxGraph, flat: Term, marks: Marks, rewrite: bytes, everywhere: bool) -> Term:
    count = to.shape(flat)
    found = _split_lines(to, flat, marks.texts, -1 if everywhere else 1)
    parts, lines = found.parts, found.lines
    if marks.repeats and rewrite:
        is_first = _is_first(to, lines)
        has_text = to.node("Not", to.node("Equal", parts, string_constant(b""), dtype=BOOL))
        is_kept = to.node("Or", to.node("Or", is_first, has_text), _is_last(to, lines, count))
        parts, lines = (to.node("Compress", term, is_kept, axis=0, dims=(None,)) for term in (parts, lines))
    if rewrite:
        between = to.node(
            "Where", _is_last(to, lines, count), string_constant(b""), string_constant(rewrite), dtype=STRING,
            dims=(None,),
        )  # fmt: skip
        parts = to.node("StringConcat", parts, between, dims=(None,))
    return joined_parts(to, parts, lines, count)


def _is_first(to: OnnxGraph, lines: Term) -> Term:
    before = to.concat([to.constant([-1]), to.slice(lines, [0], [-1], [0])], 0)
    return to.node("Not", to.node("Equal", before, lines, dtype=BOOL), dtype=BOOL, dims=(None,))


def _elementwise(to: OnnxGraph, input: Term, change: Callable[[Term], Term]) -> Term:
    """What a change of a vector of strings makes of strings of any shape."""
    if input.element_count == 0:
        return input
    flat = as_vector(to, input)
    changed = change(flat)
    changed.dims = flat.dims
    return changed if input.rank == 1 else to.reshape(changed, to.shape(input))


@rule("StringStrip", opset=_SINCE)
def string_strip(to: OnnxGraph, input: Term) -> Term:
    """Strings without the spaces around them: split at all spaces, and joined from the first word to the last."""
    leave_to_kernels(to, "strings")
    return _elementwise(to, input, lambda flat: _stripped(to, flat))


def _stripped(to: OnnxGraph, flat: Term) -> Term:
    count = to.shape(flat)
    parts, lines, behind = _split_lines(to, flat, list(_SPACES))
    is_word = to.node("Not", to.node("Equal", parts, string_constant(b""), dtype=BOOL))
    words = to.cast(is_word, INT64)
    words.dims = (None,)
    totals = by_segment(to, words, lines, count, "add", 0)
    earlier = to.node("CumSum", words, to.constant(0))
    before = to.node("Sub", to.node("CumSum", totals, to.constant(0)), totals)
    seen = to.node("Sub", earlier, to.node("Gather", before, lines, axis=0), dims=(None,))
    all_seen = to.node("Equal", seen, to.node("Gather", totals, lines, axis=0), dtype=BOOL)
    is_inside = to.node("And", to.node("Greater", seen, to.constant(0), dtype=BOOL), to.node("Not", all_seen))
    is_kept = to.node("Or", is_word, is_inside, dtype=BOOL, dims=(None,))
    behind = to.node("Where", all_seen, string_constant(b""), behind, dtype=STRING, dims=(None,))
    whole = to.node("StringConcat", parts, behind, dims=(None,))
    kept, rows = (to.node("Compress", term, is_kept, axis=0, dims=(None,)) for term in (whole, lines))
    return joined_parts(to, kept, rows, count)


# ---------------------------------------------------------------------------------------------------- Joining


@rule("ReduceJoin")
def reduce_join(to: OnnxGraph, inputs: Term, reduction_indices: Term, *, keep_dims: bool, separator: bytes) -> Term:
    """Joins the strings along axes: by one StringConcat for each of them, or in a loop if there may be many."""
    leave_to_kernels(to, "strings")
    rank = to.known_rank(inputs)
    dims = inputs.dims or ()
    reduced = [int(axis) % rank for axis in to.known_array(reduction_indices, "which axes are joined").reshape(-1)]
    if not reduced:
        return inputs
    sizes = [dims[axis] for axis in reduced]
    count = int(np.prod([size or 0 for size in sizes]))
    kept = [axis for axis in range(rank) if axis not in reduced]
    rows = to.transpose(inputs, [*kept, *reversed(reduced)])
    if None in sizes or count > _MOST_JOINED:
        joined = _joined_rows(to, inputs, rows, (kept, reduced), separator)
    elif count:
        rows = rows if len(reduced) == 1 else to.reshape(rows, [*[0] * len(kept), count])
        parts = to.split(rows, [1] * count, len(kept))
        joined = joined_strings(to, [to.squeeze(part, [len(kept)]) for part in parts], separator)
    else:
        whole = to.shape(rows)
        joined = to.node("Expand", string_constant(b""), to.slice(whole, [0], [len(kept)], [0]))
    return to.unsqueeze(joined, sorted(reduced)) if keep_dims else joined


def _joined_rows(to: OnnxGraph, inputs: Term, rows: Term, axes: tuple[list[int], list[int]], separator: bytes) -> Term:
    """The strings of each row joined, where it is not known how many there are. `rows` has the axes that are joined at
    its end.
    """
    to.require_opset(_SINCE, "any number of strings to join")
    text_of(to, separator, "the separator")
    sizes = axes_of(inputs)
    kept, width = [sizes[axis] for axis in axes[0]], product(to, [sizes[axis] for axis in axes[1]])
    count = product(to, kept)
    parts = as_vector(to, rows)
    numbers = _counted(to, product(to, [count, width]))
    whole = to.node("Max", vector(to, [width]), to.constant([1]))
    lines = to.node("Div", numbers, whole, dims=(None,))
    if separator:
        parts = _with_separators(to, parts, lines, separator)
    found = joined_parts(to, parts, lines, count)
    return reshaped_value(to, found, kept) if kept else to.reshape(found, [])


def _with_separators(to: OnnxGraph, parts: Term, lines: Term, separator: bytes) -> Term:
    """Parts with a separator behind all but the last of each line."""
    some = to.concat([lines, to.constant([-1])], 0)
    is_last = to.node("Not", to.node("Equal", to.slice(some, [1], [END], [0]), lines, dtype=BOOL), dtype=BOOL)
    between = to.node("Where", is_last, string_constant(b""), string_constant(separator), dtype=STRING)
    return to.node("StringConcat", parts, between, dims=(None,))


@rule("UnsortedSegmentJoin", opset=_SINCE)
def unsorted_segment_join(
    to: OnnxGraph, inputs: Term, segment_ids: Term, num_segments: Term, *, separator: bytes
) -> Term:
    """The strings of each segment joined, in their order."""
    leave_to_kernels(to, "strings")
    text_of(to, separator, "the separator")
    depth = to.known_rank(segment_ids)
    to.known_rank(inputs)
    rest = axes_of(inputs, depth)
    segments, width = parts_of(to, num_segments, 1)[0], product(to, rest)
    ids = as_vector(to, to.cast(segment_ids, INT64))
    if rest:
        each = to.node("Mul", to.unsqueeze(ids, [1]), vector(to, [width]))
        ids = to.reshape(to.node("Add", each, _counted(to, width)), [-1])
    ids.dims = (None,)
    groups = groups_of(to, ids)
    lines = to.node("Gather", ids, groups.order, axis=0, dims=(None,))
    parts = to.node("Gather", as_vector(to, inputs), groups.order, axis=0, dims=(None,))
    count = product(to, [segments, width])
    if separator:
        parts = _with_separators(to, parts, lines, separator)
    found = joined_parts(to, parts, lines, count)
    return reshaped_value(to, found, [segments, *rest]) if rest else found


def _counted(to: OnnxGraph, size: Part) -> Term:
    return to.node("Range", to.constant(0), to.squeeze(vector(to, [size]), [0]), to.constant(1), dims=(None,))


# ---------------------------------------------------------------------------------------------------- Runs of words


@rule("StringNGrams", opset=_SINCE)
def string_ngrams(
    to: OnnxGraph, data: Term, data_splits: Term, *, separator: bytes, ngram_widths: list[int], left_pad: bytes,
    right_pad: bytes, pad_width: int, preserve_short_sequences: bool,
) -> tuple[Term, Term]:  # fmt: skip
    """Every so many words of a row that follow each other, joined; those of all widths, row by row."""
    leave_to_kernels(to, "strings")
    if preserve_short_sequences:
        to.refuse("rows that are too short are to be kept whole, whatever their length")
    if sum(ngram_widths) > 4 * _MOST_JOINED:
        to.refuse(f"ONNX joins pairs of strings, and here are runs of {max(ngram_widths)} words")
    for pad in (left_pad, right_pad):
        text_of(to, pad, "what rows are filled up with")
    splits = to.cast(data_splits, INT64)
    starts, ends = to.slice(splits, [0], [-1], [0]), to.slice(splits, [1], [END], [0])
    lengths = to.node("Sub", ends, starts, dims=(None,))
    has_words = to.cast(to.node("Greater", to.shape(data), to.constant(0), dtype=BOOL), INT64)
    found, keys, counts = [], [], to.node("Mul", lengths, to.constant(0), dims=(None,))
    for number, width in enumerate(ngram_widths):
        pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
        more = to.node("Add", lengths, to.constant(2 * pads - width + 1))
        many = to.node("Mul", to.node("Max", more, to.constant(0)), has_words, dims=(None,))
        places, all_ends = flat_ranges(to, to.node("Mul", lengths, to.constant(0)), many)
        rows = row_of_elements(to, to.slice(all_ends, [1], [END], [0]), numbered_elements(to, places))
        found.append(_ngrams(to, data, (rows, places, starts, lengths), width, pads, (left_pad, right_pad, separator)))
        keys.append(to.node("Add", to.node("Mul", rows, to.constant(len(ngram_widths))), to.constant(number)))
        counts = to.node("Add", counts, many, dims=(None,))
    ngrams = to.concat(found, 0) if found else string_constant([])
    if len(found) > 1:
        order = groups_of(to, to.concat(keys, 0)).order
        ngrams = to.node("Gather", ngrams, order, axis=0, dims=(None,))
    after = to.concat([to.slice(to.node("Mul", splits, to.constant(0)), [0], [1], [0]),
                       to.node("CumSum", counts, to.constant(0))], 0)  # fmt: skip
    return ngrams, to.cast(after, data_splits.dtype)


def _ngrams(
    to: OnnxGraph, data: Term, at: tuple[Term, Term, Term, Term], width: int, pads: int, texts: tuple[bytes, ...]
) -> Term:
    """The runs of one width that begin at some places of some rows."""
    rows, places, starts, lengths = at
    left, right, separator = texts
    start, length = (to.node("Gather", term, rows, axis=0) for term in (starts, lengths))
    words = []
    for step in range(width):
        place = to.node("Add", places, to.constant(step - pads))
        is_before = to.node("Less", place, to.constant(0), dtype=BOOL)
        is_behind = to.node("GreaterOrEqual", place, length, dtype=BOOL)
        is_out = to.node("Or", is_before, is_behind, dtype=BOOL)
        index = to.node("Where", is_out, to.constant(0), to.node("Add", start, place), dtype=INT64)
        word = to.node("Gather", data, index, axis=0, dims=(None,))
        if pads:
            pad = to.node("Where", is_before, string_constant(left), string_constant(right), dtype=STRING)
            word = to.node("Where", is_out, pad, word, dtype=STRING, dims=(None,))
        words.append(word)
    return joined_strings(to, words, separator)


# ---------------------------------------------------------------------------------------------------- Hashing


@rule("StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong")
def string_to_hash_bucket(to: OnnxGraph, input: Term, *, num_buckets: int) -> Term:
    """The only bucket there is. More of them have no rule: ONNX has no operator that hashes strings."""
    leave_to_kernels(to, "strings")
    if num_buckets > 1:
        to.refuse(
            f"ONNX has no operators that hash strings, which unknown words get their {num_buckets} buckets by; cut the "
            "graph behind it (--inputs) and give the model what it computes, or have it done beside (--split)"
        )
    return filled_array(to, to.shape(input), to.constant(0))
