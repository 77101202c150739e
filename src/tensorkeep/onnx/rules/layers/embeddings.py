"""Embedding variables: rows by keys, one by one and combined line by line.

A table is a constant of its rows, in the order of its keys, with what keys that are not there are looked up as behind
them: the default rows, of which a key has its own by its remainder, or the row of those that a filter keeps out. A file
inserts no keys and counts none; a lookup that does gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.embedding.hash_table.admission import AdmitNobody
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.strings.tables import is_missing, positions, rows_at
from tensorkeep.onnx.rules.strings.text import leave_to_kernels
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.ops.embedding.session_hash_tables import AdmissionResource, HashTableResource, TensibleResource
from tensorkeep.ops.embedding.session_tables import EmbeddingResource

RowsOf: TypeAlias = Callable[[Term, Term], Term]
"""Rows of a table for keys."""


@dataclass(frozen=True)
class _Rows:
    """A table as constants."""

    keys: Array
    """Sorted."""
    rows: Term
    """Of the keys, and behind them of keys that are not there."""
    absent: int
    """How many rows are behind those of the keys."""


def _variable(to: OnnxGraph, resource: Term) -> EmbeddingResource:
    leave_to_kernels(to, "tables of embeddings")
    held = resource.held
    if not isinstance(held, EmbeddingResource):
        to.refuse("its table is not known before the model runs")
    if not held.is_built:
        to.refuse(f'the embedding variable "{held.name}" has no rows: restore or initialize it first')
    return held


def _table(to: OnnxGraph, variable: EmbeddingResource) -> _Rows:
    """The rows of a variable, once in the file however often they are looked up."""
    made = to.model.kept.get(("embedding", id(variable)))
    if made is None:
        table = variable.table
        absent = table.default(variable.column) if variable.column else table.absent_rows()
        if (absent == absent[:1]).all():
            absent = absent[:1]
        with table.snapshot() as snapshot:
            keys = np.asarray(snapshot.keys).astype(np.int64)
            order = np.argsort(keys, kind="stable")
            rows = np.empty((len(keys) + len(absent), variable.dim), absent.dtype)
            rows[: len(keys)] = snapshot.rows(variable.column, 0, len(keys))
        rows[: len(keys)] = rows[: len(keys)][order]
        rows[len(keys) :] = absent
        found = _Rows(keys[order], constant_term(rows, variable.value_dtype, variable.name), len(absent))
        made = to.model.kept[("embedding", id(variable))] = (variable, found)
    rows_of_table: _Rows = made[1]
    return rows_of_table


def _looked_up(to: OnnxGraph, resource: Term, keys: Term, initial: Term | None = None) -> Term:
    """The row of each key, [*keys, dim]; of keys that are not there `initial`, if there is such, as [*keys, dim]."""
    variable = _variable(to, resource)
    table = _table(to, variable)
    asked, count = to.cast(keys, INT64), len(table.keys)
    if not count:
        return initial or rows_at(to, table.rows, _remainders(to, asked, table.absent))
    if initial is None and table.absent == 1:
        return rows_at(to, table.rows, positions(to, asked, table.keys, count))
    places = positions(to, asked, table.keys, -1)
    is_new = is_missing(to, places)
    if initial is not None:
        rows = rows_at(to, table.rows, places)
        return to.node("Where", to.unsqueeze(is_new, [-1]), initial, rows, dtype=rows.dtype, dims=rows.dims)
    others = to.node("Add", _remainders(to, asked, table.absent), to.constant(count))
    return rows_at(to, table.rows, to.node("Where", is_new, others, places, dtype=INT64, dims=places.dims))


def _remainders(to: OnnxGraph, keys: Term, count: int) -> Term:
    """The remainder of each key by a count, never negative."""
    return to.node("Mod", keys, to.constant(count), dims=keys.dims)


@rule("KvResourceGather", "KvResourceGatherV1")
def gather(
    to: OnnxGraph, resource: Term, indices: Term, default_value: Term, *counts: Term, is_use_default_value_tensor: bool
) -> Term:
    initial = None
    if is_use_default_value_tensor:
        variable = _variable(to, resource)
        initial = to.reshape(default_value, to.concat([to.shape(indices), to.constant([variable.dim])], 0))
    return _looked_up(to, resource, indices, initial)


@rule("KvVariableShape")
def shape(to: OnnxGraph, input: Term, *, out_type: DType) -> Term:
    variable = _variable(to, input)
    return to.constant(np.array([variable.key_count, variable.dim]), out_type)


@rule("KvVarIsInitializedOp")
def is_initialized(to: OnnxGraph, resource: Term) -> Term:
    return to.constant(np.bool_(_variable(to, resource).is_initialized))


# ---------------------------------------------------------------------------------------------------- Many tables


@rule("GroupEmbeddingVarLookup", opset=16)
def group_lookup(
    to: OnnxGraph,
    resource: list[Term],
    sp_values: list[Term],
    sp_indices: list[Term],
    sp_weights: list[Term],
    dense_shape: list[Term],
    default_value: Term,
    *,
    ignore_weights: bool,
    is_use_default_value_tensor: bool,
    is_sequence: bool,
    combiner: bytes,
    dimension: int,
) -> tuple[list[Term], ...]:
    weights = [None] * len(sp_values) if ignore_weights else sp_weights
    rows_of = _rows_with(to, default_value if is_use_default_value_tensor else None, dimension)
    how = b"" if is_sequence else combiner
    return _group(to, rows_of, zip(resource, sp_values, sp_indices, weights, dense_shape, strict=True), how, dimension)


@rule("GroupVariableLookup", opset=16)
def group_variable_lookup(
    to: OnnxGraph,
    emb_variables: list[Term],
    sp_values: list[Term],
    sp_indices: list[Term],
    sp_weights: list[Term],
    dense_shape: list[Term],
    default_value: Term,
    *,
    ignore_weights: bool,
    is_sequence: bool,
    combiner: bytes,
    dimension: int,
) -> tuple[list[Term], ...]:
    leave_to_kernels(to, "tables of embeddings")
    weights = [None] * len(sp_values) if ignore_weights else sp_weights
    how = b"" if is_sequence else combiner
    features = zip(emb_variables, sp_values, sp_indices, weights, dense_shape, strict=True)
    return _group(to, _dense_rows(to), features, how, dimension)


@rule("GroupEmbeddingVarLookupDense")
def group_lookup_dense(
    to: OnnxGraph,
    resource: list[Term],
    dense_values: list[Term],
    default_value: Term,
    *,
    is_use_default_value_tensor: bool,
    dimension: int,
) -> tuple[list[Term], list[Term], list[Term]]:
    rows_of = _rows_with(to, default_value if is_use_default_value_tensor else None, dimension)
    return _group_dense(to, rows_of, resource, dense_values)


@rule("GroupVariableLookupDense")
def group_variable_lookup_dense(
    to: OnnxGraph, emb_variables: list[Term], dense_values: list[Term], default_value: Term
) -> tuple[list[Term], list[Term], list[Term]]:
    leave_to_kernels(to, "tables of embeddings")
    return _group_dense(to, _dense_rows(to), emb_variables, dense_values)


def _rows_with(to: OnnxGraph, initial: Term | None, dimension: int) -> RowsOf:
    """Rows of embedding variables, where keys that are not there have rows that the program gives, if any."""

    def rows_of(resource: Term, keys: Term) -> Term:
        if initial is None:
            return _looked_up(to, resource, keys)
        if initial.rank is None or initial.rank > 1:
            to.refuse("it is given a row for each occurrence of a key; give one row for all of them")
        wanted = to.concat([to.shape(keys), to.constant([dimension])], 0)
        return _looked_up(to, resource, keys, to.node("Expand", initial, wanted))

    return rows_of


def _dense_rows(to: OnnxGraph) -> RowsOf:
    return lambda table, keys: rows_at(to, table, keys)


def _group_dense(
    to: OnnxGraph, rows_of: RowsOf, tables: Sequence[Term], dense_values: Sequence[Term]
) -> tuple[list[Term], list[Term], list[Term]]:
    rows = [rows_of(table, keys) for table, keys in zip(tables, dense_values, strict=True)]
    flat = [_flat(to, keys) for keys in dense_values]
    return rows, flat, [_numbered_keys(to, keys) for keys in flat]


def _flat(to: OnnxGraph, term: Term) -> Term:
    return term if term.rank == 1 else to.reshape(term, [-1])


def _numbered_keys(to: OnnxGraph, keys: Term) -> Term:
    count = to.squeeze(to.shape(keys, 0, 1), [0])
    return to.cast(to.node("Range", to.constant(0), count, to.constant(1), dims=(keys.size(0),)), INT32)


def _group(
    to: OnnxGraph,
    rows_of: RowsOf,
    features: Iterable[tuple[Term, Term, Term, Term | None, Term]],
    combiner: bytes,
    dimension: int,
) -> tuple[list[Term], ...]:
    """Each feature's rows, combined, with the key of each occurrence, its number, and how many there are up to a line.

    `combiner` is empty for sequences, of which each occurrence has a place of its own.
    """
    found: list[tuple[Term, ...]] = []
    for table, values, indices, weights, sizes in features:
        keys, lines = _flat(to, values), _lines(to, indices)
        rows = rows_of(table, keys)
        if weights is not None:
            rows = to.node("Mul", rows, to.unsqueeze(to.cast(_flat(to, weights), rows.dtype), [1]))
        count = to.slice(sizes, [0], [1], [0])
        zeros = to.node("ConstantOfShape", count, dtype=INT64, dims=(None,), value=np.zeros(1, np.int64))
        ones = to.node("Expand", to.constant(1), to.shape(keys))
        counts = to.node("ScatterND", zeros, lines, ones, reduction="add")
        if combiner:
            combined = _combined_rows(to, rows, lines, counts, (count, combiner, dimension))
        else:
            whole = _zeros(to, to.concat([to.slice(sizes, [0], [2], [0]), to.constant([dimension])], 0), rows)
            combined = to.node("ScatterND", whole, to.slice(indices, [0], [2], [1]), rows)
        ends = to.cast(to.node("CumSum", counts, to.constant(0)), INT32)
        found.append((combined, keys, _numbered_keys(to, keys), ends))
    return tuple(list(terms) for terms in zip(*found, strict=True))


def _lines(to: OnnxGraph, indices: Term) -> Term:
    """The line of each occurrence, [count, 1]."""
    rank = to.known_rank(indices)
    return to.unsqueeze(indices, [1]) if rank == 1 else to.slice(indices, [0], [1], [1])


def _zeros(to: OnnxGraph, sizes: Term, like: Term) -> Term:
    return to.node("ConstantOfShape", sizes, dtype=like.dtype, value=np.zeros(1, like.dtype.array_dtype))


def _combined_rows(to: OnnxGraph, rows: Term, lines: Term, counts: Term, how: tuple[Term, bytes, int]) -> Term:
    """The sum of each line's rows, by its number of ids or the root of that."""
    count, combiner, dimension = how
    zeros = _zeros(to, to.concat([count, to.constant([dimension])], 0), rows)
    total = to.node("ScatterND", zeros, lines, rows, reduction="add")
    if combiner == b"sum":
        return total
    divisors = to.cast(to.node("Max", counts, to.constant(1)), rows.dtype)
    if combiner == b"sqrtn":
        divisors = to.node("Sqrt", divisors)
    return to.node("Div", total, to.unsqueeze(divisors, [1]))


# ---------------------------------------------------------------------------------------------------- Older tables


@rule("HashTableLookupWithAdmitOp")
def hash_table_lookup(to: OnnxGraph, hashtable: Term, keys: Term, admit_strategy: Term, freq: Term) -> Term:
    """The ids of keys, -1 of those that are not there and not let in."""
    leave_to_kernels(to, "tables of embeddings")
    table, admission = hashtable.held, admit_strategy.held
    if not isinstance(table, HashTableResource) or not isinstance(admission, AdmissionResource):
        to.refuse("its table, or who lets keys in, is not known before the model runs")
    if not isinstance(admission.admission, AdmitNobody):
        to.refuse("it lets new keys in, which a file cannot: use an admission that is read-only")
    known, ids = table.table.items()
    if not len(known):
        return to.node("Expand", to.constant(-1), to.shape(keys))
    order = np.argsort(known, kind="stable")
    places = positions(to, keys, known[order], -1)
    if (ids[order] == np.arange(len(ids))).all():
        return places
    return rows_at(to, constant_term(np.append(ids[order], -1), INT64), places)


@rule("TensibleVariableGather")
def hash_table_rows(to: OnnxGraph, resource: Term, indices: Term, default_value: Term) -> Term:
    """Rows by ids; -1, the id of keys that were not let in, is the last row of the constant: the default."""
    leave_to_kernels(to, "tables of embeddings")
    held = resource.held
    if not isinstance(held, TensibleResource):
        to.refuse("its rows are not known before the model runs")
    made = to.model.kept.get(("rows", id(held)))
    if made is None:
        rows = held.rows.read(np.arange(held.rows.limit)).reshape(held.rows.limit, *held.rows.row_shape)
        made = to.model.kept[("rows", id(held))] = (held, rows)
    default = to.known_array(default_value, "the default")
    last = np.full((1, *held.rows.row_shape), default, held.dtype.array_dtype)
    return rows_at(to, constant_term(np.concatenate([made[1], last]), held.dtype, held.name), indices)


@rule("HashTableSizeOp")
def hash_table_size(to: OnnxGraph, hashtable: Term) -> Term:
    leave_to_kernels(to, "tables of embeddings")
    if not isinstance(hashtable.held, HashTableResource):
        to.refuse("its table is not known before the model runs")
    return to.constant(np.int64(len(hashtable.held.table)))


@rule("TensibleVariableIsInitializedOp")
def hash_table_is_initialized(to: OnnxGraph, resource: Term) -> Term:
    leave_to_kernels(to, "tables of embeddings")
    if not isinstance(resource.held, TensibleResource):
        to.refuse("its rows are not known before the model runs")
    return to.constant(np.bool_(resource.held.is_initialized))


@rule("CopyTensor", takes_complex=True)
def copy_tensor(to: OnnxGraph, src: Term) -> Term:
    return src
