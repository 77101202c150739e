"""Rows of many tables side by side, as models with embedded columns begin: looked up in one table of all, at once.

    Concat(…, Reshape(Gather(table, Slice(keys, column))), …)       a table for each column of keys
    Concat(…, Unsqueeze(Gather(table, Gather(keys, column))), …)

become one Gather of all tables below each other, by the keys and where the table of each column begins. A key that its
table does not have is made one that none has, so that it fails as before; below zero, keys count from the end of their
own table. Of 26 columns, four nodes in five are gone, and rows are copied once.

The tables are copied, which a file would keep twice: so this is for parts that run on the processor, which copy them in
any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    int_attribute,
    ints_of,
    is_op,
    only_user,
    rank_of,
    size_of,
)

_FEWEST: Final = 6  # lookups; of fewer, about as many nodes would be left
_MOST_BYTES: Final = 32 << 20  # of all tables that are joined
_INTEGERS: Final = (ir.DataType.INT32, ir.DataType.INT64)


@dataclass(frozen=True)
class _Lookup:
    """Rows of a table by one column of a matrix of keys."""

    table: ir.Value
    keys: ir.Value
    column: int

    @property
    def rows(self) -> Array:
        found = constant_of(self.table)
        assert found is not None
        return found

    @property
    def kind(self) -> tuple[object, ...]:
        """What lookups have in common that can be one."""
        return self.keys, self.rows.shape[1], self.table.dtype


_Places: TypeAlias = "dict[tuple[ir.Value, tuple[tuple[int, int], ...]], ir.Value]"
"""Where rows are in tables that were joined, by the keys, their columns, and how many rows each table has."""


def join_tables(model: ir.Model) -> None:
    """Looks rows of many tables up at once that are put side by side."""
    editor = Editor(model)
    remaining = _MOST_BYTES
    for graph in graphs_of(model):
        places: _Places = {}
        for node in list(graph):
            if is_op(node, "Concat") and int_attribute(node, "axis", 0) in (1, 1 - (rank_of(node.outputs[0]) or 0)):
                remaining = _join_runs(editor, node, places, remaining)


def _join_runs(editor: Editor, node: ir.Node, places: _Places, remaining: int) -> int:
    """Joins the lookups among what a node puts side by side. So many bytes may be joined, and then so many are left."""
    found = [(value, _lookup(value, node)) for value in node.inputs]
    columns: list[ir.Value | None] = []
    for kind, run in groupby(found, lambda each: each[1] and each[1].kind):
        values, lookups = zip(*run, strict=True)
        size = sum(lookup.rows.nbytes for lookup in lookups) if kind else 0
        if kind is None or len(lookups) < _FEWEST or size > remaining:
            columns += values
            continue
        remaining -= size
        columns.append(_joined(editor, node, lookups, places))
    if len(columns) < len(found):
        old = node.outputs[0]
        joint = editor.node("Concat", columns, {"axis": 1}, old)
        joint.outputs[0].shape = old.shape
        assert node.graph is not None
        node.graph.insert_before(node, joint)
        editor.take_place(old, joint.outputs[0])
        editor.drop_unused([node])
    return remaining


# -------------------------------------------------------------------------------------------------------- what is there


def _lookup(value: ir.Value | None, user: ir.Node) -> _Lookup | None:
    """The lookup that a value is, in rows of [width] or [1, width], if only `user` takes it."""
    if value is None or only_user(value) is not user:
        return None
    maker = value.producer()
    if maker is not None and _keeps_rows(maker) and maker.inputs[0] is not None and only_user(maker.inputs[0]) is maker:
        maker = maker.inputs[0].producer()
    if maker is None or not is_op(maker, "Gather") or int_attribute(maker, "axis", 0):
        return None
    table, chosen = maker.inputs[0], _column(maker.inputs[1])
    known = constant_of(table)
    if table is None or chosen is None or known is None or known.ndim != 2 or not known.size:
        return None
    return _Lookup(table, *chosen)


def _keeps_rows(node: ir.Node) -> bool:
    """Whether a node only adds or drops an axis of one element before the last, the first being the rows."""
    source, result = node.inputs[0], node.outputs[0]
    if source is None or source.shape is None or result.shape is None:
        return False
    ranks = len(source.shape), len(result.shape)
    if ranks not in ((2, 3), (3, 2)) or source.shape[-1] != result.shape[-1]:
        return False
    longer = source.shape if ranks[0] == 3 else result.shape
    if longer[1] != 1:
        return False
    if is_op(node, "Reshape"):
        return True
    return is_op(node, "Squeeze", "Unsqueeze") and ints_of(input_at(node, 1)) in ([1], [-2])


def _column(value: ir.Value | None) -> tuple[ir.Value, int] | None:
    """The matrix of keys that a column is cut from, and its number: [rows] or [rows, 1]."""
    node = None if value is None else value.producer()
    keys = None if node is None else node.inputs[0]
    if node is None or keys is None or rank_of(keys) != 2 or keys.dtype not in _INTEGERS:
        return None
    count, first = size_of(keys, 1), ints_of(input_at(node, 1))
    if count is None or first is None or len(first) != 1:
        return None
    if is_op(node, "Gather") and int_attribute(node, "axis", 0) in (1, -1):
        return (keys, first[0] % count) if -count <= first[0] < count else None
    is_one = ints_of(input_at(node, 2)) == [first[0] + 1] and ints_of(input_at(node, 3)) in ([1], [-1])
    is_next = input_at(node, 4) is None or ints_of(input_at(node, 4)) == [1]
    return (keys, first[0]) if is_op(node, "Slice") and is_one and is_next and 0 <= first[0] < count else None


# ------------------------------------------------------------------------------------------------- what takes its place


def _joined(editor: Editor, node: ir.Node, lookups: Sequence[_Lookup], places: _Places) -> ir.Value:
    """The rows of all lookups side by side, as a node that puts them so takes them."""
    first, result = lookups[0], node.outputs[0]
    counts = [len(lookup.rows) for lookup in lookups]
    key = (first.keys, tuple(zip((lookup.column for lookup in lookups), counts, strict=True)))
    if key not in places:
        places[key] = _places(editor, node, first.keys, [lookup.column for lookup in lookups], counts)
    table = editor.constant_like(np.concatenate([lookup.rows for lookup in lookups]), first.table)
    rows = _before(editor, node, "Gather", [table, places[key]], result, axis=0)
    width = first.rows.shape[1]
    if rank_of(result) == 3:
        rows.shape = ir.Shape([None, len(lookups), width])
        return rows
    sizes = editor.constant(np.array([0, len(lookups) * width], np.int64), "sizes")
    rows = _before(editor, node, "Reshape", [rows, sizes], result)
    rows.shape = ir.Shape([None, len(lookups) * width])
    return rows


def _places(
    editor: Editor, node: ir.Node, keys: ir.Value, columns: Sequence[int], counts: Sequence[int]
) -> ir.Value:  # fmt: skip
    """Where the rows of keys are in tables that lie below each other, with so many rows each: [rows, columns]."""
    assert keys.dtype is not None
    dtype = keys.dtype.numpy()

    def constant(values: Array | Sequence[int] | int) -> ir.Value:
        return editor.constant(np.asarray(values, dtype), "joined")

    def made(op_type: str, *inputs: ir.Value, like: ir.Value = keys) -> ir.Value:
        return _before(editor, node, op_type, inputs, like)

    starts = np.array([0, *accumulate(counts)])
    total, ends = int(starts[-1]), starts[1:]
    if list(columns) != list(range(size_of(keys, 1) or 0)):
        keys = _before(
            editor, node, "Gather", [keys, editor.constant(np.asarray(columns, np.int64), "columns")], keys, axis=1
        )
    truth = ir.Value(name=keys.name, type=ir.TensorType(ir.DataType.BOOL))
    is_below_zero = made("Less", keys, constant(0), like=truth)
    place = made("Add", keys, made("Where", is_below_zero, constant(ends), constant(starts[:-1])))
    is_before = made("Less", place, constant(starts[:-1]), like=truth)
    is_behind = made("Less", constant(ends - 1), place, like=truth)
    return made("Where", made("Or", is_before, is_behind, like=truth), constant(total), place)


def _before(
    editor: Editor, node: ir.Node, op_type: str, inputs: Sequence[ir.Value | None], like: ir.Value, **attrs: int
) -> ir.Value:
    """What a new node gives that stands before another."""
    made = editor.node(op_type, inputs, attrs, like)
    assert node.graph is not None
    node.graph.insert_before(node, made)
    return made.outputs[0]
