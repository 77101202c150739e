"""Reference variables: a tensor of a reference type leads to the value.

w                VariableV2       the place
w/initial_value  …                made of the value given, or by an initializer below w/Initializer
w/Assign         Assign           the initializer
w/read           Identity         the value, as other operations take it

Nodes and messages are those of TensorFlow's python/ops/ref_variable.py.
"""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, emit
from tensorkeep.graph.building import attr_scope, colocate_with, current_graph, device, init_scope, name_scope
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.scopes import strip_name_scope
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.state.variables import assign, assign_add, assign_sub, count_up_to, variable_v2
from tensorkeep.proto.messages import VariableDef
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.variables.assignments import batch_scatter_update
from tensorkeep.tf1.variables.initial_values import guard_initial_value
from tensorkeep.tf1.variables.modes import checked_modes
from tensorkeep.tf1.variables.options import VariableArguments
from tensorkeep.tf1.variables.row_changes import RowChanges
from tensorkeep.tf1.variables.variable import (
    Variable,
    checked_collections,
    checked_constraint,
    named_element,
    named_tensor,
    slice_info_of,
)


class RefVariable(RowChanges[Tensor], Variable):
    """A variable that a reference leads to."""

    def __init__(self, given: VariableArguments) -> None:
        self._save_slice_info = None
        self._constraint = checked_constraint(given.constraint)
        self._caching_device = given.caching_device
        if given.variable_def is not None:
            if given.initial_value is not None:
                raise InvalidArgumentError("variable_def and initial_value are mutually exclusive.")
            self._take_nodes(given.variable_def, given.import_scope)
            return
        if given.initial_value is None:
            raise InvalidArgumentError("initial_value must be specified.")
        self._synchronization, self._aggregation, self._trainable = checked_modes(
            given.synchronization, given.aggregation, given.trainable, given.name
        )
        keys = checked_collections(given.collections, self._trainable)
        with init_scope(), name_scope("Variable" if given.name is None else given.name) as scope:
            self._make_place(given, scope)
            self._make_readers(given.validate_shape, scope)
            add_to_collections(current_graph(), keys, self)

    # ------------------------------------------------------------------------------------------ nodes

    def _make_place(self, given: VariableArguments, scope: str) -> None:
        initial_value = given.initial_value
        dtype = None if given.dtype is None else DType.of(given.dtype).base_dtype
        if callable(initial_value):
            with attr_scope({"_class": (f"loc:@{scope[:-1]}".encode(),)}):
                with name_scope("Initializer"), device(None):
                    value = convert(initial_value(), dtype, name="initial_value")
                self._variable = self._place(value, given.shape, given.validate_shape, scope)
        else:
            value = convert(initial_value, dtype, name="initial_value")
            if value.op.control_flow_context is not None:
                raise InvalidArgumentError(
                    f"Initializer for variable {scope} is from inside a control-flow construct, such as a loop or "
                    "conditional. When creating a variable inside a loop or conditional, use a lambda as the "
                    "initializer."
                )
            self._variable = self._place(value, given.shape, given.validate_shape, scope)
        self._initial_value = value

    @staticmethod
    def _place(value: Tensor, shape: ShapeLike, validate_shape: bool, scope: str) -> Tensor:
        known = value.static_shape if validate_shape else UNKNOWN_SHAPE
        wanted = known if shape is None else plain_shape(shape)
        return emit(variable_v2, shape=wanted, dtype=value.dtype.base_dtype, name=scope)

    def _make_readers(self, validate_shape: bool, scope: str) -> None:
        value = self._initial_value
        assert value is not None
        if validate_shape and not value.static_shape.is_fully_known:
            raise InvalidArgumentError(f"initial_value must have a shape specified: {value}")
        safe = guard_initial_value(scope, value)
        self._initializer_op = emit(assign, self._variable, safe, validate_shape=validate_shape).op
        if self._caching_device is not None:
            with device(self._caching_device):
                self._snapshot = emit(identity, self._variable, name="read")
        else:
            with colocate_with(self._variable.op):
                self._snapshot = emit(identity, self._variable, name="read")

    def _take_nodes(self, proto: VariableDef, import_scope: str | None) -> None:
        """Finds the nodes that a VariableDef names."""
        self._variable = named_tensor(proto.variable_name, import_scope)
        self._initializer_op = named_element(proto.initializer_name, import_scope)
        self._snapshot = named_tensor(proto.snapshot_name, import_scope)
        named = proto.initial_value_name
        self._initial_value = named_tensor(named, import_scope) if named else None
        self._synchronization, self._aggregation, self._trainable = checked_modes(
            proto.synchronization, proto.aggregation, proto.trainable, proto.variable_name
        )
        self._save_slice_info = slice_info_of(proto, import_scope)

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The VariableDef, with names below `export_scope`; None if the variable is not in that scope."""
        proto = self._description(self._variable, export_scope)
        if proto is not None:
            proto.snapshot_name = strip_name_scope(self._snapshot.name, export_scope)
        return proto

    # ------------------------------------------------------------------------------------------ properties

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def op(self) -> Operation:
        return self._variable.op

    @property
    def dtype(self) -> DType:
        return self._variable.dtype

    @property
    def shape(self) -> TensorShape:
        return self._variable.shape

    def set_shape(self, shape: ShapeLike) -> None:
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    def _ref(self) -> Tensor:
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        return self._snapshot

    def read_value(self) -> Tensor:
        """The value at the place in the graph where this is called."""
        return emit(identity, self._variable, name="read")

    # ------------------------------------------------------------------------------------------ changes

    def assign(
        self, value: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Tensor | Operation:
        assigned = emit(assign, self._variable, value, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Tensor | Operation:
        assigned = emit(assign_add, self._variable, delta, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
    ) -> Tensor | Operation:
        assigned = emit(assign_sub, self._variable, delta, use_locking=use_locking, name=name)
        return assigned if read_value else assigned.op

    def _scatter(self, change: str, sparse_delta: IndexedSlices, use_locking: bool, name: str | None) -> Tensor:
        if not isinstance(sparse_delta, IndexedSlices):
            raise WrongTypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        rows = (sparse_delta.indices, sparse_delta.values)
        return emit(f"Scatter{change}", self._variable, *rows, use_locking=use_locking, name=name)

    def _scatter_nd(self, change: str, indices: TensorLike, updates: TensorLike, name: str | None) -> Tensor:
        return emit(f"ScatterNd{change}", self._variable, indices, updates, use_locking=True, name=name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Variable | Tensor:
        """Replaces rows of each matrix of a batch."""
        return batch_scatter_update(self, sparse_delta.indices, sparse_delta.values, use_locking, name)

    def _strided_slice_assign(self, *, name: str, **arguments: Any) -> Tensor:
        return emit("StridedSliceAssign", ref=self._variable, name=name, **arguments)

    def count_up_to(self, limit: int) -> Tensor:
        """Counts up by one when run, and gives the number before; an error once `limit` is reached."""
        return emit(count_up_to, self._variable, limit=limit)
