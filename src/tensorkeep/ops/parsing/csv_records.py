"""Records of comma-separated values, as TensorFlow reads them.

    record = field (delimiter field)*              line ends before a field are skipped
    field  = characters other than delimiter, quote and line ends
           | '"' (character other than '"' | '""')* '"'

A record that ends with a delimiter has one more field, an empty one; an empty record has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Value, string_array

_FRACTION: Final = re.compile(
    rb"\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])\s*"
)
_WHOLE: Final = re.compile(rb"\s*[+-]?\d{1,40}\s*")
_QUOTE: Final = ord('"')
_LINE_ENDS: Final = b"\r\n"


def split_record(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """The fields of a record."""
    if (quotes and b'"' in record) or b"\n" in record or b"\r" in record:
        return _split_carefully(record, delimiter, quotes)
    return record.split(delimiter) if record else []


def _split_carefully(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    fields = []
    at = 0
    while at < len(record):
        if record[at] in _LINE_ENDS:
            at += 1
            continue
        read = _read_quoted_field if quotes and record[at] == _QUOTE else _plain
        field, at = read(record, at, delimiter, quotes)
        fields.append(field)
    if record.endswith(delimiter):
        fields.append(b"")
    return fields


def _plain(record: bytes, at: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    end = record.find(delimiter, at)
    end = len(record) if end < 0 else end
    field = record[at:end]
    if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
        raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside")
    return field, end + 1


def _read_quoted_field(record: bytes, at: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    """The field of a record whose opening quote is at a position, and the position after its delimiter."""
    parts = []
    at += 1
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        parts.append(record[at:end])
        following = record[end + 1 : end + 2]
        if following in (b"", delimiter):
            return b"".join(parts), end + 2
        if following != b'"':
            raise InvalidArgumentError("Quote inside a string has to be escaped by another quote")
        if end + 2 == len(record):  # a quote that is escaped, and nothing after it
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        parts.append(b'"')
        at = end + 2


def column(fields: Sequence[bytes], number: int, dtype: DType, default: Value, missing: bytes) -> Array:
    """The values of a field in all records; the default where it is empty or the word for a missing value."""
    given = np.asarray(default).reshape(-1)
    absent = {b"", missing}
    values: list[Any] = []
    for record, field in enumerate(fields):
        if field not in absent:
            values.append(field if dtype is STRING else _number(field, dtype, number, record))
        elif given.size == 1:
            values.append(given[0])
        else:
            raise InvalidArgumentError(f"Field {number} is required but missing in record {record}!")
    return string_array(values, (len(values),)) if dtype is STRING else np.array(values, dtype.array_dtype)


def _number(field: bytes, dtype: DType, number: int, record: int) -> int | float:
    if dtype.is_floating:
        if _FRACTION.fullmatch(field):
            return float(field)
    elif _WHOLE.fullmatch(field):
        limits = np.iinfo(dtype.array_dtype)
        value = int(field)
        if limits.min <= value <= limits.max:
            return value
    shown = field[:100].decode(errors="backslashreplace")
    raise InvalidArgumentError(f"Field {number} in record {record} is not a valid {dtype.label}: {shown}")
