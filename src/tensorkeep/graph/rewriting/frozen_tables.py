"""Embedding variables of frozen graphs: constants of keys and rows, and lookups made of ops that TensorFlow has.

    e                            Const [keys, dim]: the rows
    e/frozen_keys                Const [keys]: their keys, ascending
    e/frozen_default_rows        Const [rows, dim]: what a key that is not there has, by its remainder
    KvResourceGather             LowerBound in the keys, GatherV2 of the rows, SelectV2 by whether the key is there
    KvVarIsInitializedOp         Const: it is

DeepRec's ops are in no other TensorFlow; what a frozen graph has in their place runs everywhere. A lookup that gives
new keys rows of its own (`is_use_default_value_tensor`) takes these in the place of the default rows. Whatever else
takes the variable cannot be kept, and is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType, dtype_of_number
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.rewriting.freezing import EVERYTHING, Selection
from tensorkeep.graph.rewriting.pruning import source_of
from tensorkeep.graph.scopes import free_name
from tensorkeep.proto.messages import MOST_BYTES, GraphDef, NodeDef
from tensorkeep.proto.tensors import tensor_of_array

HANDLE: Final = "KvVarHandleOp"
_LOOKUPS: Final = frozenset(("KvResourceGather", "KvResourceGatherV1"))
_INT32: Final = DType.of("int32")
_BOOL: Final = DType.of("bool")


@dataclass(frozen=True)
class TableNode:
    """A node of a graph that stands for an embedding variable."""

    name: str
    key_dtype: DType
    value_dtype: DType
    dim: int
    container: str
    shared_name: str

    @property
    def resource_name(self) -> str:
        """What a session calls the variable."""
        return self.shared_name or self.name


@dataclass(frozen=True)
class TableRows:
    """What an embedding variable holds, and what it gives for keys that it does not have."""

    keys: Array
    rows: Array
    default_rows: Array

    @property
    def nbytes(self) -> int:
        return int(self.keys.nbytes + self.rows.nbytes + self.default_rows.nbytes)


def tables_of(graph_def: GraphDef, selection: Selection = EVERYTHING) -> list[TableNode]:
    """The embedding variables among the nodes of a graph, in their order."""
    return [_table(node) for node in graph_def.node if node.op == HANDLE and node.name in selection]


def check_no_hash_tables(graph_def: GraphDef, selection: Selection = EVERYTHING) -> None:
    """UnimplementedError, with all names, if a graph that is to be frozen has hash tables of DeepRec's.

    A lookup gives them keys, and rows that a function makes: as constants, they could not do what they did.
    """
    names = [node.name for node in graph_def.node if node.op == "HashTableOp" and node.name in selection]
    if names:
        raise UnimplementedError(
            f"hash tables cannot be frozen, for lookups add to them: {', '.join(names)}. Export a SavedModel, or keep "
            "them out of what is frozen by their names"
        )


def _table(node: NodeDef) -> TableNode:
    dims = [dim.size for dim in node.attr["shape"].shape.dim]
    if len(dims) != 1 or dims[0] < 1:
        raise InvalidArgumentError(f"Node '{node.name}' ({node.op}) has rows of shape {dims}, expected one dimension")
    types = [dtype_of_number(node.attr[key].type) for key in ("Tkeys", "dtype")]
    texts = [node.attr[key].s.decode("utf-8", "replace") for key in ("container", "shared_name")]
    return TableNode(node.name, types[0], types[1], dims[0], texts[0], texts[1])


def freeze_tables(graph_def: GraphDef, tables: Mapping[str, TableRows], *, most_bytes: int = MOST_BYTES) -> GraphDef:
    """The graph with constants in the place of the embedding variables that `tables` has rows of.

    InvalidArgumentError, with all names, if something in the graph takes such a variable and is no lookup, or if the
    result would be larger than a message can be.
    """
    if not tables:
        return graph_def
    _check(graph_def, tables, most_bytes)
    nodes = {node.name: node for node in tables_of(graph_def)}
    names = _Names(graph_def)
    frozen = GraphDef()
    frozen.library.CopyFrom(graph_def.library)
    frozen.versions.CopyFrom(graph_def.versions)
    for node in graph_def.node:
        handle = source_of(node.input[0]) if node.input else ""
        if node.name in tables:
            _add_table(frozen, nodes[node.name], tables[node.name], names)
        elif handle in tables and not node.input[0].startswith("^"):
            _add_use(frozen, node, nodes[handle], tables[handle], names)
        else:
            frozen.node.add().CopyFrom(node)
    return frozen


def _check(graph_def: GraphDef, tables: Mapping[str, TableRows], most_bytes: int) -> None:
    known = (*_LOOKUPS, "KvVarIsInitializedOp")
    problems = [
        f"'{node.name}' ({node.op}) takes '{source_of(name)}'"
        for node in graph_def.node
        for index, name in enumerate(node.input)
        if not name.startswith("^") and source_of(name) in tables and (index or node.op not in known)
    ]
    if problems:
        raise InvalidArgumentError(
            f"embedding variables that the graph does more with than look keys up cannot become constants: "
            f"{'; '.join(problems)}. Keep these as variables (Selection(keep=...), --variable_names_denylist), or give "
            "outputs that need less of the graph"
        )
    total = graph_def.ByteSize() + sum(table.nbytes for table in tables.values())
    if total > most_bytes:
        sizes = ", ".join(f"{name} ({len(table.keys)} keys, {table.nbytes} bytes)" for name, table in tables.items())
        raise InvalidArgumentError(
            f"the frozen graph would take {total} bytes, and a GraphDef can have {most_bytes} at most. Its embedding "
            f"variables are {sizes}. Keep some as variables and restore them from a checkpoint"
        )


class _Names:
    """Names for new nodes that the graph does not have yet; for the same wish, the same name."""

    def __init__(self, graph_def: GraphDef) -> None:
        self._taken = {node.name for node in graph_def.node}
        self._given: dict[str, str] = {}

    def __call__(self, wish: str) -> str:
        if wish not in self._given:
            name = free_name(wish, self._taken)
            self._taken.add(name)
            self._given[wish] = name
        return self._given[wish]


def _keys_of(table: TableNode, names: _Names) -> str:
    return names(f"{table.name}/frozen_keys")


def _default_rows_of(table: TableNode, names: _Names) -> str:
    return names(f"{table.name}/frozen_default_rows")


def _add_table(graph_def: GraphDef, node: TableNode, table: TableRows, names: _Names) -> None:
    order = np.argsort(table.keys, kind="stable")
    keys, rows = table.keys[order], table.rows[order]
    if not len(keys):  # one key with the row that it has anyway, so that there is something to gather
        keys, rows = np.zeros(1, node.key_dtype.array_dtype), table.default_rows[:1]
    _add_constant(graph_def, node.name, rows, node.value_dtype)
    _add_constant(graph_def, _keys_of(node, names), keys, node.key_dtype)
    _add_constant(graph_def, _default_rows_of(node, names), table.default_rows, node.value_dtype)


def _add_constant(graph_def: GraphDef, name: str, array: Array, dtype: DType) -> str:
    node = graph_def.node.add(name=name, op="Const")
    node.attr["dtype"].type = dtype.number
    node.attr["value"].tensor.CopyFrom(tensor_of_array(array, dtype))
    return name


def _add_use(graph_def: GraphDef, node: NodeDef, table: TableNode, held: TableRows, names: _Names) -> None:
    if node.op == "KvVarIsInitializedOp":
        _add_constant(graph_def, node.name, np.array(True), _BOOL)
    else:
        _Lookup(graph_def, node, table, held, names).add()


class _Lookup:
    """The nodes that stand in the place of one lookup."""

    def __init__(self, graph_def: GraphDef, node: NodeDef, table: TableNode, held: TableRows, names: _Names) -> None:
        self._graph_def = graph_def
        self._node = node
        self._table = table
        self._last_place = max(len(held.keys), 1) - 1
        self._defaults = len(held.default_rows)
        self._names = names
        self._constants: set[str] = set()

    def add(self) -> None:
        table, indices = self._table, self._node.input[1]
        key, value = table.key_dtype.number, table.value_dtype.number
        int32 = _INT32.number
        flat = self._op("asked", "Reshape", [indices, self._numbers("vector", [-1])], T=key, Tshape=int32)
        places = self._op(
            "places",
            "LowerBound",
            [
                self._op(
                    "row_of_keys",
                    "ExpandDims",
                    [_keys_of(table, self._names), self._number("first")],
                    T=key,
                    Tdim=int32,
                ),
                self._add_expand("row_of_asked", flat, 0, key),
            ],
            T=key,
            out_type=int32,
        )
        within = self._op(
            "places_within",
            "Minimum",
            [
                self._op("places_vector", "Reshape", [places, self._numbers("vector", [-1])], T=int32, Tshape=int32),
                self._number("last_place", self._last_place),
            ],
            T=int32,
        )
        found = self._add_gather("keys_there", _keys_of(table, self._names), within, key, int32)
        is_there = self._op("is_there", "Equal", [found, flat], T=key)
        column = self._add_expand("is_there_column", is_there, 1, _BOOL.number)
        rows = self._add_gather("rows", table.name, within, value, int32)
        chosen = self._op("chosen", "SelectV2", [column, rows, self._absent(flat)], T=value)
        shape = self._op("shape_of_keys", "Shape", [indices], T=key, out_type=int32)
        sizes = self._op(
            "sizes", "ConcatV2", [shape, self._numbers("dim", [table.dim]), self._number("first")],
            N=2, T=int32, Tidx=int32,
        )  # fmt: skip
        self._finish(chosen, sizes)

    def _absent(self, flat: str) -> str:
        """The rows of keys that are not there."""
        table, node = self._table, self._node
        value, key = table.value_dtype.number, table.key_dtype.number
        if node.attr["is_use_default_value_tensor"].b:
            shape = self._numbers("rows_shape", [-1, table.dim])
            return self._op("given_rows", "Reshape", [node.input[2], shape], T=value, Tshape=_INT32.number)
        count = self._constant("default_count", np.array(self._defaults, table.key_dtype.array_dtype), table.key_dtype)
        remainder = self._op("remainders", "FloorMod", [flat, count], T=key)
        return self._add_gather("absent_rows", _default_rows_of(table, self._names), remainder, value, key)

    def _finish(self, chosen: str, sizes: str) -> None:
        """The node that has the lookup's own name, device and control inputs."""
        made = self._graph_def.node.add(name=self._node.name, op="Reshape", device=self._node.device)
        made.input.extend([chosen, sizes, *(name for name in self._node.input if name.startswith("^"))])
        made.attr["T"].type = self._table.value_dtype.number
        made.attr["Tshape"].type = _INT32.number

    # ------------------------------------------------------------------------------------------------ nodes

    def _add_expand(self, name: str, value: str, axis: int, dtype: int) -> str:
        place = self._number("second" if axis else "first", axis)
        return self._op(name, "ExpandDims", [value, place], T=dtype, Tdim=_INT32.number)

    def _add_gather(self, name: str, params: str, indices: str, dtype: int, index_dtype: int) -> str:
        inputs = [params, indices, self._number("first")]
        return self._op(name, "GatherV2", inputs, Tparams=dtype, Tindices=index_dtype, Taxis=_INT32.number)

    def _op(self, name: str, op: str, inputs: Sequence[str], **attrs: int) -> str:
        node = self._graph_def.node.add(name=self._full(name), op=op, device=self._node.device)
        node.input.extend(inputs)
        for key, value in attrs.items():
            if key == "N":
                node.attr[key].i = value
            else:
                node.attr[key].type = value
        made: str = node.name
        return made

    def _number(self, name: str, value: int = 0) -> str:
        return self._constant(name, np.array(value, np.int32), _INT32)

    def _numbers(self, name: str, values: Sequence[int]) -> str:
        return self._constant(name, np.array(values, np.int32), _INT32)

    def _constant(self, name: str, array: Array, dtype: DType) -> str:
        full = self._full(name)
        if full not in self._constants:
            self._constants.add(_add_constant(self._graph_def, full, array, dtype))
        return full

    def _full(self, name: str) -> str:
        return self._names(f"{self._node.name}/frozen_lookup/{name}")
