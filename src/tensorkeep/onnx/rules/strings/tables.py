"""Lookup tables: keys to values.

A table is what it holds when the file is written, as attributes of ONNX's LabelEncoder; integer keys beyond a few
million are sorted and searched instead, as constants that may lie outside the file. A key that is no text in UTF-8
is left out: no string of ONNX is equal to it. Nor does a file fail where a table would, by a key that it reserves.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT64, STRING, DType
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.strings.text import leave_to_kernels, text_of
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.ops.state.lookup_table_values import StaticTable, Table

MACHINE_LEARNING: Final = "ai.onnx.ml"
_MOST_ENCODED: Final = 1 << 22  # keys that are attributes of a node; more are constants
_ATTRIBUTES: Final = {STRING: "strings", INT64: "int64s", FLOAT32: "floats"}
_DEFAULTS: Final = {STRING: "default_string", INT64: "default_int64", FLOAT32: "default_float"}


# ---------------------------------------------------------------------------------------------------- Positions


def wide_type(dtype: DType) -> DType:
    """The type that values are looked up as: ONNX's tables are of strings, int64 and float32."""
    if dtype.is_integer or dtype is BOOL:
        return INT64
    return FLOAT32 if dtype.is_floating and dtype is not FLOAT64 else dtype


def encoded_values(to: OnnxGraph, keys: Term, known: Array, values: Array, default: object) -> Term:
    """A value for each key, or the default: of strings, int64 or float32."""
    kinds = [STRING if array.dtype == object else DType.of(array.dtype) for array in (known, values)]
    attrs: dict[str, AttrValue | None] = {}
    if to.opset >= 20 and STRING not in kinds:
        attrs = {"keys_tensor": known, "values_tensor": values, "default_tensor": np.array([default], values.dtype)}
    else:
        for side, kind, array in zip(("keys", "values"), kinds, (known, values), strict=True):
            if kind not in _ATTRIBUTES:
                to.refuse(f"a table of {kind.name} needs opset 20, and {to.opset} is asked for")
            listed = array.reshape(-1).tolist()
            attrs[f"{side}_{_ATTRIBUTES[kind]}"] = (
                [text_of(to, item, "a value of a table") for item in listed] if kind is STRING else listed
            )
        attrs[_DEFAULTS[kinds[1]]] = (
            text_of(to, default, "the default") if isinstance(default, bytes) else np.asarray(default).item()
        )
    return to.node("LabelEncoder", keys, dtype=kinds[1], dims=keys.dims, domain=MACHINE_LEARNING, attrs=attrs)


def positions(to: OnnxGraph, keys: Term, known: Array, missing: int) -> Term:
    """The place of each key among known ones, integers of which are sorted; `missing` of one that is not there."""
    if len(known) <= _MOST_ENCODED or known.dtype != np.int64:
        return encoded_values(to, keys, known, np.arange(len(known)), missing)
    bits = len(known).bit_length()
    padded = np.full(2**bits, np.iinfo(np.int64).max)
    padded[: len(known)] = known
    sorted_keys = to.model.kept.setdefault(("sorted keys", id(known)), (known, to.constant(padded)))[1]
    place: Term | None = None
    for bit in reversed(range(bits)):
        step = to.constant(1 << bit)
        last = to.constant((1 << bit) - 1) if place is None else to.node("Add", place, to.constant((1 << bit) - 1))
        is_before = to.node("Less", to.node("Gather", sorted_keys, last, axis=0), keys, dtype=BOOL)
        further = to.node("Where", is_before, step, to.constant(0), dtype=INT64)
        place = further if place is None else to.node("Add", place, further)
    assert place is not None
    is_same = to.node("Equal", to.node("Gather", sorted_keys, place, axis=0), keys, dtype=BOOL)
    is_there = to.node("And", is_same, to.node("Less", place, to.constant(len(known)), dtype=BOOL))
    return to.node("Where", is_there, place, to.constant(missing), dtype=INT64, dims=keys.dims)


def rows_at(to: OnnxGraph, rows: Term, places: Term) -> Term:
    """Rows of a constant, by their places."""
    dims = None if places.dims is None else (*places.dims, *(rows.dims or ())[1:])
    return to.node("Gather", rows, places, dims=dims, axis=0)


def is_missing(to: OnnxGraph, places: Term) -> Term:
    return to.node("Less", places, to.constant(0), dtype=BOOL, dims=places.dims)


# ---------------------------------------------------------------------------------------------------- Lookups


def _table(to: OnnxGraph, handle: Term) -> Table:
    """The table that a handle leads to, with contents."""
    leave_to_kernels(to, "tables")
    held = handle.held
    if not isinstance(held, Table):
        to.refuse("its table is not known before the model runs")
    if isinstance(held, StaticTable) and not held.is_initialized:
        to.refuse(f'the table "{held.name}" is empty: initialize it first')
    return held


def _contents(to: OnnxGraph, table: Table) -> tuple[Array, Array]:
    """Keys that can be asked for, as strings, int64, float32 or float64, and their values; integers are sorted."""
    if table.key_shape:
        to.refuse(f"its keys are vectors of {list(table.key_shape)}, and keys of ONNX are single values")
    if table.value_dtype.is_complex or table.key_dtype.is_complex:
        to.refuse("ONNX has no tables of complex numbers")
    made = to.model.kept.get(("table", id(table)))
    if made is None:
        keys, values = Table.export(table)
        if table.key_dtype is STRING:
            chosen = np.array([_is_text(key) for key in keys.tolist()], np.bool_)
        else:
            keys = keys.astype(wide_type(table.key_dtype).array_dtype)
            chosen = keys == keys  # no key is equal to one that is no number
        keys, values = keys[chosen], values[chosen]
        if keys.dtype == np.int64:
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
        if table.value_dtype is not STRING:
            values = values.astype(wide_type(table.value_dtype).array_dtype)
        made = to.model.kept[("table", id(table))] = (table, keys, values)
    _, keys, values = made
    return keys, values


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


@rule("LookupTableFind", "LookupTableFindV2")
def find(to: OnnxGraph, table_handle: Term, keys: Term, default_value: Term) -> Term:
    """The value of each key, or the default, which may be one for each key."""
    table = _table(to, table_handle)
    known, values = _contents(to, table)
    kind = wide_type(table.value_dtype)
    default = to.cast(default_value, kind)
    asked = keys if keys.dtype is STRING else to.cast(keys, wide_type(keys.dtype))
    return to.cast(_found_values(to, table, asked, known, values, default), table.value_dtype)


def _found_values(to: OnnxGraph, table: Table, keys: Term, known: Array, values: Array, default: Term) -> Term:
    if not len(known):
        dims = None if keys.dims is None else (*keys.dims, *values.shape[1:])
        wanted = to.concat([to.shape(keys), to.constant(np.array(values.shape[1:], np.int64))], 0)
        return to.node("Expand", default, wanted, dims=dims)
    if default.array is not None and default.dims == ():
        is_small = len(known) <= _MOST_ENCODED or known.dtype != np.int64
        if values.ndim == 1 and default.dtype in _ATTRIBUTES and known.dtype != np.float64 and is_small:
            return encoded_values(to, keys, known, values, default.array[()])
    if default.array is not None and default.array.shape == table.value_shape:
        rows = np.concatenate([values, default.array[None]])
        return rows_at(to, constant_term(rows, default.dtype), positions(to, keys, known, len(known)))
    places = positions(to, keys, known, -1)
    found = rows_at(to, constant_term(values, default.dtype), places)
    to_replace = is_missing(to, places)
    if values.ndim > 1:
        to_replace = to.unsqueeze(to_replace, [-1 - axis for axis in range(values.ndim - 1)])
    return to.node("Where", to_replace, default, found, dtype=default.dtype, dims=found.dims)


@rule("LookupTableSize", "LookupTableSizeV2")
def size(to: OnnxGraph, table_handle: Term) -> Term:
    return to.constant(np.int64(len(_table(to, table_handle))))


@rule("LookupTableExport", "LookupTableExportV2")
def export(to: OnnxGraph, table_handle: Term) -> tuple[Term, Term]:
    table = _table(to, table_handle)
    keys, values = table.export()
    return constant_term(keys, table.key_dtype), constant_term(values, table.value_dtype)
