"""Strings: joined, split, matched, in capitals or without, as numbers and back.

Strings of ONNX are text in UTF-8. Bytes that are no text cannot be given to a file, nor come out of it; what TensorFlow
does byte by byte has a rule where that is the same for all text. The second engine leaves strings to our kernels, which
take any bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, STRING, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term, constant_term

_SPACES: Final = ("\t", "\n", "\v", "\f", "\r", "")  # the last is a run of spaces; ONNX Runtime knows no others


def leave_to_kernels(to: OnnxGraph, what: str) -> None:
    """Refuses what the second engine does not take over."""
    if to.model.is_for_engine:
        to.refuse(f"{what} stay with our own kernels")


def text_of(to: OnnxGraph, value: bytes, what: str) -> str:
    """Bytes as text; refuses what is none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        to.refuse(f"{what} is {value[:40]!r}, and strings of ONNX are UTF-8: cut the graph there (--inputs, --outputs)")


def string_constant(value: bytes | Sequence[bytes]) -> Term:
    """A string as a scalar, or several as a vector."""
    is_one = isinstance(value, bytes)
    array = np.empty(() if is_one else len(value), object)
    array[...] = value
    return constant_term(array, STRING)


# ---------------------------------------------------------------------------------------------------- Joining


@rule("StringJoin")
def string_join(to: OnnxGraph, inputs: list[Term], *, separator: bytes) -> Term:
    leave_to_kernels(to, "strings")
    return joined_strings(to, inputs, separator)


def joined_strings(to: OnnxGraph, parts: Sequence[Term], separator: bytes) -> Term:
    """Strings of the same place in each of several arrays, with a separator between them."""
    if not parts:
        return string_constant(b"")
    text_of(to, separator, "the separator")
    result = parts[0]
    for part in parts[1:]:
        if separator:
            result = to.node("StringConcat", result, string_constant(separator), dims=result.dims)
        result = to.node("StringConcat", result, part)
    return result


# ---------------------------------------------------------------------------------------------------- Splitting


class _Pieces(NamedTuple):
    """Parts of strings: all of them one after the other, and of which string each is a part."""

    values: Term
    lines: Term
    counts: Term
    """Of the last split: how many parts each string had."""
    places: Term
    """Of the last split: its number and that of the part in it, [parts, 2]."""


@rule("StringSplitV2", opset=20)
def string_split_v2(to: OnnxGraph, input: Term, sep: Term, *, maxsplit: int) -> tuple[Term, Term, Term]:
    """Strings split at a mark, or at spaces of any kind, as a sparse matrix."""
    leave_to_kernels(to, "strings")
    mark = text_of(to, to.known_array(sep, "what strings are split at").item(), "what strings are split at")
    if maxsplit == 0:
        lines = numbered_elements(to, input)
        places = to.concat([to.unsqueeze(lines, [1]), to.unsqueeze(to.node("Sub", lines, lines), [1])], 1)
        return places, input, _shape_of(to, input, to.node("Min", to.shape(input), to.constant([1])))
    if mark:
        found = split_strings(to, input, mark, keeps_empty=True, most=max(maxsplit, -1))
        return found.places, found.values, _shape_of(to, input, _largest(to, found.counts))
    if maxsplit > 0:
        to.refuse("the rest of a string behind so many words is not what ONNX Runtime gives; split it without a limit")
    return _sparse(to, input, _split_at_each(to, input, _SPACES, keeps_empty=False))


@rule("StringSplit", opset=20)
def string_split(to: OnnxGraph, input: Term, delimiter: Term, *, skip_empty: bool) -> tuple[Term, Term, Term]:
    """Strings split at any of several characters, as a sparse matrix."""
    leave_to_kernels(to, "strings")
    marks = to.known_array(delimiter, "what strings are split at").item()
    if not marks or not marks.isascii():
        to.refuse("ONNX does not split strings into their bytes, nor at bytes that are no characters")
    marks = list(dict.fromkeys(marks.decode()))
    found = _split_at_each(to, input, marks, keeps_empty=not skip_empty)
    if len(marks) == 1 and not skip_empty:
        return found.places, found.values, _shape_of(to, input, _largest(to, found.counts))
    if skip_empty:
        is_some = to.node("Not", to.node("Equal", found.values, string_constant(b""), dtype=BOOL))
        values, lines = (to.node("Compress", term, is_some, axis=0) for term in (found.values, found.lines))
        found = found._replace(values=values, lines=lines)
    return _sparse(to, input, found)


def _split_at_each(to: OnnxGraph, input: Term, marks: Sequence[str], *, keeps_empty: bool) -> _Pieces:
    """Splits strings at one mark, the parts at the next, and so on. A string of nothing has no parts."""
    found = split_strings(to, input, marks[0], keeps_empty=False)
    for mark in marks[1:]:
        parts = split_strings(to, found.values, mark, keeps_empty=keeps_empty)
        found = parts._replace(lines=to.node("Gather", found.lines, parts.lines, axis=0))
    return found


def split_strings(to: OnnxGraph, strings: Term, mark: str, *, keeps_empty: bool, most: int = -1) -> _Pieces:
    """Splits strings at a mark. ONNX Runtime says that a string of nothing has no parts, others that it has one."""
    given = to.concat([strings, string_constant([b"-"])], 0) if keeps_empty else strings
    attrs = {"delimiter": mark, "maxsplit": most if most > 0 else None}
    parts, counts = to.node_with_outputs(
        "StringSplit", [given], 2, [STRING, INT64], [(None, None), (None,)], attrs=attrs
    )
    if keeps_empty:  # the last string is there so that the parts have a column
        counts = to.slice(to.node("Max", counts, to.constant([1])), [0], [-1], [0])
    width = to.squeeze(to.shape(parts, 1, 2), [0])
    numbers = to.node("Range", to.constant(0), width, to.constant(1), dims=(None,))
    is_part = to.node("Less", numbers, to.unsqueeze(counts, [1]), dtype=BOOL)
    found = to.node("NonZero", is_part, dtype=INT64, dims=(2, None))
    places = to.transpose(found, [1, 0])
    lines = to.node("Gather", found, to.constant(0), axis=0, dims=(None,))
    return _Pieces(to.node("GatherND", parts, places, dims=(None,)), lines, counts, places)


def numbered_elements(to: OnnxGraph, term: Term) -> Term:
    """0, 1, 2, … for each element of a vector."""
    return to.node("Range", to.constant(0), to.squeeze(to.shape(term, 0, 1), [0]), to.constant(1), dims=(None,))


def _largest(to: OnnxGraph, counts: Term) -> Term:
    """The largest of some counts, 0 if there are none, as a vector of one."""
    return to.reduce("ReduceMax", to.concat([counts, to.constant([0])], 0), [0], keepdims=True)


def _shape_of(to: OnnxGraph, input: Term, width: Term) -> Term:
    return to.concat([to.shape(input), width], 0)


def _sparse(to: OnnxGraph, input: Term, found: _Pieces) -> tuple[Term, Term, Term]:
    """Parts as a sparse matrix: their lines, which are in order, and their places in these are counted."""
    ones = to.node("Expand", to.constant(1), to.shape(found.lines))
    none = to.node("ConstantOfShape", to.shape(input), dtype=INT64, dims=(None,), value=np.zeros(1, np.int64))
    counts = to.node("ScatterElements", none, found.lines, ones, axis=0, reduction="add")
    starts = to.node("CumSum", counts, to.constant(0), exclusive=1)
    columns = to.node("Sub", numbered_elements(to, found.lines), to.node("Gather", starts, found.lines, axis=0))
    places = to.concat([to.unsqueeze(found.lines, [1]), to.unsqueeze(columns, [1])], 1)
    return places, found.values, _shape_of(to, input, _largest(to, counts))


# ---------------------------------------------------------------------------------------------------- Characters


@rule("StringLower", "StringUpper")
def change_case(to: OnnxGraph, input: Term, *, encoding: bytes) -> Term:
    """StringNormalizer, for letters of ASCII alone: beyond those, runtimes change the case of different letters."""
    leave_to_kernels(to, "strings")
    assert to.operation is not None
    if encoding:
        to.refuse("ONNX changes the case of letters beyond ASCII otherwise; use an encoding of '', or cut there")
    if input.element_count == 0:
        return input
    action = to.operation.type.removeprefix("String").upper()
    flat = input if input.rank == 1 else to.reshape(input, [-1])
    if input.element_count is not None:
        changed = _normalized_case(to, flat, action)
    else:  # ONNX wants at least one string
        more = to.concat([flat, string_constant([b""])], 0)
        changed = to.slice(_normalized_case(to, more, action), [0], [-1], [0])
    return changed if input.rank == 1 else to.reshape(changed, to.shape(input))


def _normalized_case(to: OnnxGraph, strings: Term, action: str) -> Term:
    return to.node("StringNormalizer", strings, dims=strings.dims, case_change_action=action, locale="C")


@rule("StaticRegexFullMatch", opset=20)
def static_regex_full_match(to: OnnxGraph, input: Term, *, pattern: bytes) -> Term:
    """RegexFullMatch: TensorFlow and ONNX both take patterns of RE2."""
    leave_to_kernels(to, "strings")
    told = text_of(to, pattern, "the pattern")
    return to.node("RegexFullMatch", input, dtype=BOOL, dims=input.dims, pattern=told)


@rule("RegexFullMatch", opset=20)
def regex_full_match(to: OnnxGraph, input: Term, pattern: Term) -> Term:
    return static_regex_full_match(to, input, pattern=to.known_array(pattern, "the pattern").item())


# ---------------------------------------------------------------------------------------------------- Numbers


@rule("AsString")
def as_string(to: OnnxGraph, input: Term, *, width: int) -> Term:
    """Whole numbers and truth values as text. Fractions are refused: ONNX does not say how many digits they get."""
    leave_to_kernels(to, "strings")
    if input.dtype is STRING:
        return input
    if input.dtype is BOOL:
        return to.node("Where", input, string_constant(b"true"), string_constant(b"false"), dtype=STRING)
    if not input.dtype.is_integer or width >= 0:
        to.refuse("ONNX writes numbers with a fraction with other digits, and fills up none; give them as numbers")
    return to.cast(input, STRING)


@rule("StringToNumber")
def string_to_number(to: OnnxGraph, string_tensor: Term, *, out_type: DType) -> Term:
    """Strings as numbers. TensorFlow refuses a string that is no number; ONNX Runtime takes what it begins with."""
    leave_to_kernels(to, "strings")
    return to.cast(string_tensor, out_type)
