"""Resource variables: a handle leads to the value.

    w                                   VarHandleOp          the handle
    w/Initializer/…                     …                    the initial value
    w/IsInitialized/VarIsInitializedOp  VarIsInitializedOp
    w/Assign                            AssignVariableOp     the initializer
    w/Read/ReadVariableOp               ReadVariableOp       the value, as a session fetches it

Every use of the value in the graph reads it anew.

Nodes and messages are those of TensorFlow's python/ops/resource_variable_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, emit, emit_operation
from tensorkeep.graph.building import (
    attr_scope,
    colocate_with,
    control_dependencies,
    current_graph,
    device,
    init_scope,
    name_scope,
    operation_of,
)
from tensorkeep.graph.collections import add_to_collections
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.scopes import strip_name_scope
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.state.variables import (
    assign_add_variable,
    assign_sub_variable,
    assign_variable,
    disable_copy_on_read,
    read_variable,
    resource_count_up_to,
    resource_gather,
    resource_gather_nd,
    var_handle,
    var_is_initialized,
)
from tensorkeep.proto.messages import VariableDef
from tensorkeep.tf1.variables.assignments import batch_scatter_update
from tensorkeep.tf1.variables.initial_values import guard_initial_value
from tensorkeep.tf1.variables.modes import checked_modes
from tensorkeep.tf1.variables.options import VariableArguments
from tensorkeep.tf1.variables.row_changes import RowChanges
from tensorkeep.tf1.variables.variable import (
    Changed,
    Variable,
    checked_collections,
    checked_constraint,
    named_element,
    named_tensor,
    slice_info_of,
)


def _refused_operator(sign: str, remedy: str) -> Callable[..., NoReturn]:
    """An operator that would make a variable's name stand for something else than the variable."""

    def refuse(self: BaseResourceVariable, other: TensorLike) -> NoReturn:
        raise RuntimeError(
            f"`variable {sign}= value` with `tf.Variable`s is not supported. Use `{remedy}` to modify the variable, or "
            f"`out = variable {sign} value` if you need to get a new output Tensor."
        )

    return refuse


def _checked_rows(sparse_delta: IndexedSlices) -> IndexedSlices:
    if not isinstance(sparse_delta, IndexedSlices):
        raise WrongTypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}")
    return sparse_delta


class BaseResourceVariable(RowChanges["UnreadVariable"], Variable):
    """A variable behind a handle: what all of them do, however they came to their handle."""

    _handle: Tensor
    _graph_element: Tensor
    _cached_value: Tensor | None
    _is_initialized_op: Tensor | None
    _handle_name: str
    _dtype: DType
    _shape: TensorShape
    _validate_shape: bool

    # ------------------------------------------------------------------------------------------ properties

    @property
    def name(self) -> str:
        return self._handle_name

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def op(self) -> Operation:
        return self._handle.op

    @property
    def create(self) -> Changed:
        return self._initializer_op

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def device(self) -> str:
        return self._handle.device

    def set_shape(self, shape: ShapeLike) -> None:
        self._shape = self._shape.merge_with(shape)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value, found when run."""
        return emit(var_is_initialized, self._handle, name=name)

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """The VariableDef, with names below `export_scope`; None if the variable is not in that scope."""
        proto = self._description(self._handle, export_scope)
        if proto is not None:
            snapshot = self._graph_element if self._cached_value is None else self._cached_value
            proto.snapshot_name = strip_name_scope(snapshot.name, export_scope)
            proto.is_resource = True
        return proto

    # ------------------------------------------------------------------------------------------ reading

    def value(self) -> Tensor:
        """The value at the place in the graph where this is called, or the cached one."""
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True):
            return self._read_variable_op()

    def _read_variable_op(self, no_copy: bool = False) -> Tensor:
        if self._caching_device is None:
            return self._read(no_copy)
        with colocate_with(None, ignore_existing=True), device(self._caching_device):
            return self._read(no_copy)

    def _read(self, no_copy: bool) -> Tensor:
        if no_copy:
            disable_copy_on_read(self._handle)
        return emit(read_variable, self._handle, dtype=self._dtype)

    def read_value(self) -> Tensor:
        """The value at the place in the graph where this is called."""
        with name_scope("Read"):
            value = self._read_variable_op()
        return emit(identity, value)

    def read_value_no_copy(self) -> Tensor:
        """The value, read as a saver reads it."""
        with name_scope("Read"):
            value = self._read_variable_op(no_copy=True)
        return emit(identity, value)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        with name_scope("Gather" if name is None else name) as scope:
            return emit(resource_gather, self._handle, indices, dtype=self._dtype, name=scope)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements or slices at coordinates."""
        with name_scope("GatherNd" if name is None else name) as scope:
            value = emit(resource_gather_nd, self._handle, indices, dtype=self._dtype, name=scope)
        return emit(identity, value)

    # ------------------------------------------------------------------------------------------ changes

    @contextmanager
    def _assign_dependencies(self) -> Iterator[None]:
        """A change comes after the read that was cached before it."""
        if self._cached_value is None:
            yield
        else:
            with control_dependencies([self._cached_value]):
                yield

    def _lazy_read(self, op: Operation) -> UnreadVariable:
        return UnreadVariable(self, op)

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        tensor = convert(value, self._dtype)
        if not self._shape.is_compatible_with(tensor.shape):
            raise InvalidArgumentError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape {self._shape}, and "
                f"the assigned value shape {tensor.shape} are incompatible."
            )
        checks = self._validate_shape and self._shape.is_fully_defined()
        op = emit_operation(assign_variable, self._handle, tensor, validate_shape=checks, name=name)
        return self._lazy_read(op) if read_value else op

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        with self._assign_dependencies():
            op = emit_operation(assign_add_variable, self._handle, convert(delta, self._dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        with self._assign_dependencies():
            op = emit_operation(assign_sub_variable, self._handle, convert(delta, self._dtype), name=name)
        return self._lazy_read(op) if read_value else op

    def _scatter(self, change: str, sparse_delta: IndexedSlices, use_locking: bool, name: str | None) -> UnreadVariable:
        rows = _checked_rows(sparse_delta)
        updates = convert(rows.values, self._dtype)
        return self._lazy_read(
            emit_operation(f"ResourceScatter{change}", self._handle, rows.indices, updates, name=name)
        )

    def _scatter_nd(self, change: str, indices: TensorLike, updates: TensorLike, name: str | None) -> UnreadVariable:
        tensor = convert(updates, self._dtype)
        return self._lazy_read(emit_operation(f"ResourceScatterNd{change}", self._handle, indices, tensor, name=name))

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> UnreadVariable:
        """Replaces rows of each matrix of a batch."""
        rows = _checked_rows(sparse_delta)
        changed = batch_scatter_update(self, rows.indices, rows.values, use_locking, name)
        return self._lazy_read(operation_of(changed))

    def _strided_slice_assign(self, *, name: str, **arguments: Any) -> UnreadVariable:
        arguments["value"] = convert(arguments["value"], self._dtype)
        with self._assign_dependencies():
            return self._lazy_read(
                emit_operation("ResourceStridedSliceAssign", ref=self._handle, name=name, **arguments)
            )

    def count_up_to(self, limit: int) -> Tensor:
        """Counts up by one when run, and gives the number before; an error once `limit` is reached."""
        return emit(resource_count_up_to, self._handle, limit=limit, T=self._dtype)

    def _ref(self) -> Tensor:
        return self.read_value().op.inputs[0]

    def __bool__(self) -> bool:
        return bool(self.read_value())  # refused: a value exists only while a session runs

    __iadd__ = _refused_operator("+", "variable.assign_add(value)")
    __isub__ = _refused_operator("-", "variable.assign_sub(value)")
    __imul__ = _refused_operator("*", "variable.assign(variable * value)")
    __itruediv__ = _refused_operator("/", "variable.assign(variable / value)")
    __ipow__ = _refused_operator("**", "variable.assign(variable ** value)")


class ResourceVariable(BaseResourceVariable):
    """A variable that is given its handle, its initializer and its reader."""

    def __init__(self, given: VariableArguments) -> None:
        self._save_slice_info = None
        self._constraint = checked_constraint(given.constraint)
        self._caching_device = given.caching_device
        self._validate_shape = given.validate_shape
        self._cached_value = None
        self._is_initialized_op = None
        if given.variable_def is not None:
            if given.initial_value is not None:
                raise InvalidArgumentError(
                    "The variable_def and initial_value args to `tf.Variable` are mutually exclusive, but got both: "
                    f"variable_def={given.variable_def},\ninitial_value={given.initial_value}"
                )
            self._take_nodes(given.variable_def, given.import_scope)
            return
        if given.initial_value is None:
            raise InvalidArgumentError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
            )
        self._synchronization, self._aggregation, self._trainable = checked_modes(
            given.synchronization, given.aggregation, given.trainable, given.name
        )
        keys = checked_collections(given.collections, self._trainable)
        with init_scope(), name_scope("Variable" if given.name is None else given.name) as scope:
            self._make_handle(given, scope)
            self._make_readers(scope)
            add_to_collections(current_graph(), keys, self)

    def _make_handle(self, given: VariableArguments, scope: str) -> None:
        own_name, shape, initial_value = scope[:-1], given.shape, given.initial_value
        dtype = None if given.dtype is None else DType.of(given.dtype).base_dtype
        with attr_scope({"_class": (f"loc:@{own_name}".encode(),)}):
            with name_scope("Initializer"), device(None):
                made = initial_value() if callable(initial_value) else initial_value
                value = convert(made, dtype, name="initial_value")
            if shape is not None and not value.shape.is_compatible_with(shape):
                raise InvalidArgumentError(
                    f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with "
                    f"the explicitly supplied `shape` argument ({shape})."
                )
            self._shape = TensorShape(value.static_shape if shape is None else shape)
            self._dtype = value.dtype.base_dtype
            self._handle = emit(
                var_handle, shape=plain_shape(self._shape), dtype=self._dtype, shared_name=own_name, debug_name=scope,
                name=scope,
            )  # fmt: skip
        if value.op.control_flow_context is not None:
            raise InvalidArgumentError(
                f"The `initial_value` passed to `tf.Variable` {scope} is from inside a control-flow  construct, such "
                "as a loop or conditional. When creating a `tf.Variable` inside a loop or conditional, use a lambda as "
                f"the `initial_value`. Got: initial_value=({value})"
            )
        self._initial_value = value
        self._handle_name = f"{own_name}:0"

    def _make_readers(self, scope: str) -> None:
        handle, initial_value = self._handle, self._initial_value
        with name_scope("IsInitialized"):
            self._is_initialized_op = emit(var_is_initialized, handle)
        with name_scope("Assign") as assign_scope, colocate_with(None, ignore_existing=True), device(handle.device):
            safe = guard_initial_value(scope, initial_value)
            self._initializer_op = emit_operation(assign_variable, handle, safe, name=assign_scope)
        with name_scope("Read"):
            with device(handle.device):
                self._graph_element = emit(read_variable, handle, dtype=self._dtype)
            if self._caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(self._caching_device):
                    self._cached_value = emit(identity, self._graph_element)

    def _take_nodes(self, proto: VariableDef, import_scope: str | None) -> None:
        """Finds the nodes that a VariableDef names."""
        if not proto.is_resource:
            raise InvalidArgumentError(
                "The `variable_def` you passed to `tf.Variable` is Trying to restore a TF 1.x Reference Variable as a "
                f"TF 2.x ResourceVariable. This is unsupported. Got variable_def={proto}"
            )
        self._handle = named_tensor(proto.variable_name, import_scope)
        self._handle_name = self._handle.name
        self._shape = TensorShape(self._handle.op.get_attr("shape"))
        self._dtype = self._handle.op.get_attr("dtype")
        self._initializer_op = named_element(proto.initializer_name, import_scope)
        named = proto.initial_value_name
        self._initial_value = named_tensor(named, import_scope) if named else None
        self._synchronization, self._aggregation, self._trainable = checked_modes(
            proto.synchronization, proto.aggregation, proto.trainable, proto.variable_name
        )
        if proto.snapshot_name:
            snapshot = named_tensor(proto.snapshot_name, import_scope)
            if snapshot.op.type != "ReadVariableOp":
                self._cached_value = snapshot
            while snapshot.op.type != "ReadVariableOp":
                snapshot = snapshot.op.inputs[0]
            self._graph_element = snapshot
        else:
            self._graph_element = current_graph().tensor(f"{self._handle.op.name}/Read/ReadVariableOp:0")
        self._save_slice_info = slice_info_of(proto, import_scope)


class UnreadVariable(BaseResourceVariable):
    """A variable as it is after a change: reading it waits for the operation that makes the change."""

    def __init__(self, origin: BaseResourceVariable, parent_op: Operation) -> None:
        self._handle = origin.handle
        self._handle_name = f"{origin.handle.name}:0"
        self._dtype = origin.dtype
        self._shape = origin._shape
        self._parent_op = parent_op
        self._synchronization, self._aggregation, self._trainable = checked_modes(None, None, None, None)
        self._save_slice_info = None
        self._initial_value = None
        self._cached_value = None
        self._caching_device = None
        self._constraint = None
        self._is_initialized_op = None
        self._validate_shape = True
        with control_dependencies([parent_op]):
            self._graph_element = emit(read_variable, self._handle, dtype=self._dtype)

    @property
    def name(self) -> str:
        return self._parent_op.name

    @property
    def op(self) -> Operation:
        return self._parent_op

    def value(self) -> Tensor:
        return self._read_variable_op()

    def read_value(self) -> Tensor:
        return self._read_variable_op()

    def _read_variable_op(self, no_copy: bool = False) -> Tensor:
        with control_dependencies([self._parent_op]):
            return emit(read_variable, self._handle, dtype=self._dtype)

    def assign(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        with control_dependencies([self._parent_op]):
            return super().assign(value, use_locking, name, read_value)

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        with control_dependencies([self._parent_op]):
            return super().assign_add(delta, use_locking, name, read_value)

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ) -> UnreadVariable | Operation:
        with control_dependencies([self._parent_op]):
            return super().assign_sub(delta, use_locking, name, read_value)

    def _scatter(self, change: str, sparse_delta: IndexedSlices, use_locking: bool, name: str | None) -> UnreadVariable:
        with control_dependencies([self._parent_op]):
            return super()._scatter(change, sparse_delta, use_locking, name)

    def _scatter_nd(self, change: str, indices: TensorLike, updates: TensorLike, name: str | None) -> UnreadVariable:
        with control_dependencies([self._parent_op]):
            return super()._scatter_nd(change, indices, updates, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> UnreadVariable:
        with control_dependencies([self._parent_op]):
            return super().batch_scatter_update(sparse_delta, use_locking, name)
