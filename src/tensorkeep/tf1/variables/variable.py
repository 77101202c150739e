"""Variables as programs see them: what both kinds have in common.

`Variable(...)` makes a `RefVariable` or a `ResourceVariable`, as the program, the scope or the graph says. Both are
handles to nodes of a graph: a place that holds a value, an operation that gives it its first one, and one that reads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import (
    DeviceLike,
    DTypeLike,
    Feeds,
    IndexLike,
    Scalar,
    SessionLike,
    ShapeLike,
    TensorLike,
    emit,
)
from tensorkeep.graph.building import current_graph, init_scope, operation_of
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.graph.graph import OPERATORS, Graph, Operation, Tensor
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.state.variables import is_variable_initialized as is_initialized_op
from tensorkeep.proto.messages import VariableDef
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import (
    AggregationLike,
    CollectionNames,
    Constraint,
    InitializerLike,
    SynchronizationLike,
    VariableArguments,
)
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.slices import SaveSliceInfo as SliceInfo

CREATE: Final[list[Callable[..., Variable]]] = []
"""Makes a variable of either kind; told by the module that knows both."""


class _Valued(Protocol):
    def value(self) -> Tensor: ...


def operator(name: str) -> Callable[..., Tensor]:
    """What an operator does with a variable: the same as with its value."""

    def apply(self: _Valued, *others: TensorLike) -> Tensor:
        result: Tensor = getattr(Tensor, name)(self.value(), *others)
        return result

    apply.__name__ = name
    return apply


class Reference:
    """A key for a variable in dictionaries and sets."""

    __slots__ = ("_referred",)

    def __init__(self, referred: Variable) -> None:
        self._referred = referred

    def deref(self) -> Variable:
        return self._referred

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._referred is other._referred

    def __hash__(self) -> int:
        return id(self._referred)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referred!r}>"


class VariableType(type):
    """Lets `Variable(...)` decide what kind of variable it makes."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            return cls._create(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class Variable(metaclass=VariableType):
    """A value that lasts from run to run and that operations may change."""

    SaveSliceInfo: TypeAlias = SliceInfo
    __array_priority__ = 100

    def __init__(
        self,
        initial_value: InitializerLike = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        validate_shape: bool = True,
        caching_device: DeviceLike = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: DTypeLike | None = None,
        expected_shape: ShapeLike = None,
        import_scope: str | None = None,
        constraint: Constraint | None = None,
        use_resource: bool | None = None,
        synchronization: SynchronizationLike = VariableSynchronization.AUTO,
        aggregation: AggregationLike = VariableAggregation.NONE,
        shape: ShapeLike = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def _create(cls, *args: Any, **kwargs: Any) -> Variable:
        """Asks the creators that are in force, the innermost first, and at last makes the variable."""
        given = VariableArguments(*args, **kwargs)
        if given.aggregation is None:
            given = replace(given, aggregation=VariableAggregation.NONE)
        create = CREATE[-1]
        for creator in variable_state().creators:
            create = partial(creator, create)
        return create(**vars(given))

    # What both kinds have, each in its own way.
    _initializer_op: Changed  # an operation, until something like `init_from_checkpoint` replaces it
    _initial_value: Tensor | None
    _constraint: Constraint | None
    _caching_device: DeviceLike
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _save_slice_info: SliceInfo | None

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

        @property
        def op(self) -> Operation: ...

        @property
        def dtype(self) -> DType: ...

        @property
        def shape(self) -> TensorShape: ...

        def value(self) -> Tensor: ...

        def read_value(self) -> Tensor: ...

        def assign(
            self, value: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Changed: ...

        def assign_add(
            self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Changed: ...

        def assign_sub(
            self, delta: TensorLike, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Changed: ...

        def to_proto(self, export_scope: str | None = None) -> VariableDef | None: ...

        def _ref(self) -> Tensor: ...

        def _as_graph_element(self) -> Tensor: ...

        def _strided_slice_assign(self, *, name: str, **arguments: Any) -> Changed: ...

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef describes, whose nodes are in the graph being built."""
        return CREATE[-1](variable_def=variable_def, import_scope=import_scope, use_resource=variable_def.is_resource)

    # ------------------------------------------------------------------------------------------ properties

    @property
    def initializer(self) -> Changed:
        """What gives the variable its initial value when run: an operation, or the tensor that an operation gives."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        return self._initial_value

    @property
    def constraint(self) -> Constraint | None:
        """What an optimizer applies to the variable after changing it."""
        return self._constraint

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    def get_shape(self) -> TensorShape:
        return self.shape

    def _set_save_slice_info(self, save_slice_info: SliceInfo | None) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SliceInfo | None:
        return self._save_slice_info

    def _description(self, element: Tensor, export_scope: str | None) -> VariableDef | None:
        """The VariableDef of a variable of which the graph has this tensor, with names below `export_scope`; None if it
        is not in that scope. A snapshot, and whether it is a resource, are for the kind of variable to add.
        """
        if export_scope is not None and not element.name.startswith(export_scope):
            return None
        proto = VariableDef(
            variable_name=strip_name_scope(element.name, export_scope),
            initializer_name=strip_name_scope(self.initializer.name, export_scope),
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self._initial_value is not None:
            proto.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        part = None if self._save_slice_info is None else self._save_slice_info.to_proto(export_scope)
        if part is not None:
            proto.save_slice_info_def.MergeFrom(part)
        return proto

    # ------------------------------------------------------------------------------------------ values

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while there is none."""
        with init_scope(self.graph):
            initialized = is_variable_initialized(self)
            value: Tensor = cond(initialized, self.read_value, lambda: self._initial_value)
            return value

    def eval(self, session: SessionLike | None = None) -> Array | np.generic | bytes:
        """The value, from `session` or from the session in force."""
        element = self._as_graph_element()
        value: Array | np.generic | bytes = element.eval() if session is None else session.run(element)
        return value

    def load(self, value: Array | Scalar | Sequence[Any], session: SessionLike | None = None) -> None:
        """Gives the variable a value at once, by running its initializer with another initial value."""
        initializer = operation_of(self.initializer)
        feeds: Feeds = {initializer.inputs[1]: value}
        if session is None:
            initializer.run(feeds)
        else:
            session.run(initializer, feeds)

    def ref(self) -> Reference:
        return Reference(self)

    def experimental_ref(self) -> Reference:
        return Reference(self)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype}>"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.read_value())

    def __getitem__(self, key: IndexLike) -> Tensor:
        """A part of the value. What it gives has a method `assign`, which changes that part of the variable."""
        part: Tensor = OPERATORS["getitem"](self.value(), key)
        if part.op.type == "StridedSlice":
            part.assign = _SlicedAssign(self, part)
        return part

    __add__ = operator("__add__")
    __radd__ = operator("__radd__")
    __sub__ = operator("__sub__")
    __rsub__ = operator("__rsub__")
    __mul__ = operator("__mul__")
    __rmul__ = operator("__rmul__")
    __truediv__ = operator("__truediv__")
    __rtruediv__ = operator("__rtruediv__")
    __floordiv__ = operator("__floordiv__")
    __rfloordiv__ = operator("__rfloordiv__")
    __mod__ = operator("__mod__")
    __rmod__ = operator("__rmod__")
    __pow__ = operator("__pow__")
    __rpow__ = operator("__rpow__")
    __matmul__ = operator("__matmul__")
    __rmatmul__ = operator("__rmatmul__")
    __and__ = operator("__and__")
    __rand__ = operator("__rand__")
    __or__ = operator("__or__")
    __ror__ = operator("__ror__")
    __xor__ = operator("__xor__")
    __rxor__ = operator("__rxor__")
    __lt__ = operator("__lt__")
    __le__ = operator("__le__")
    __gt__ = operator("__gt__")
    __ge__ = operator("__ge__")
    __neg__ = operator("__neg__")
    __abs__ = operator("__abs__")
    __invert__ = operator("__invert__")


Changed: TypeAlias = Variable | Tensor | Operation
"""What a change gives: of a reference the reference, of a resource variable one that is read after the change, and
the operation alone where the value is not asked for."""


class _SlicedAssign:
    """Assigns to the part of a variable that a tensor was taken from."""

    def __init__(self, variable: Variable, part: Tensor) -> None:
        self._variable = variable
        self._part = part

    def __call__(self, value: TensorLike, name: str | None = None) -> Changed:
        op = self._part.op
        masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        return self._variable._strided_slice_assign(
            begin=op.inputs[1],
            end=op.inputs[2],
            strides=op.inputs[3],
            value=value,
            name=name or f"{op.name}/_assign",
            **{mask: op.attr(mask) for mask in masks},
        )


@runtime_checkable
class Initializable(Protocol):
    """What can tell whether it has a value: a resource variable, an embedding variable, a hash table."""

    @property
    def dtype(self) -> DType: ...

    def is_initialized(self, name: str | None = None) -> Tensor: ...


def is_variable_initialized(variable: Variable | Tensor | Initializable) -> Tensor:
    """Whether a variable, or the variable behind a reference, has a value; found when run."""
    if variable.dtype.is_ref:
        return emit(is_initialized_op, variable)
    if not isinstance(variable, Initializable):
        raise WrongTypeError(f"{variable!r} cannot tell whether it has a value: expected a variable")
    return variable.is_initialized()


def checked_collections(collections: CollectionNames | None, trainable: bool) -> list[Hashable]:
    """The collections that a new variable goes into."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise InvalidArgumentError(
            "collections argument to Variable constructor must be a list, tuple, or set. Got "
            f"{collections} of type {type(collections)}"
        )
    listed: list[Hashable] = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in listed:
        listed.append(GraphKeys.TRAINABLE_VARIABLES)
    return listed


def checked_constraint(constraint: Constraint | None) -> Constraint | None:
    """The function that programs pass to be applied after each change; refuses what cannot be called."""
    if constraint is not None and not callable(constraint):
        raise InvalidArgumentError("The `constraint` argument must be a callable.")
    return constraint


def named_tensor(name: str, import_scope: str | None) -> Tensor:
    """The tensor of the graph being built that a VariableDef names."""
    found = named_element(name, import_scope)
    if not isinstance(found, Tensor):
        raise TypeError(f'"{name}" is an operation, expected the name of a tensor')  # who decodes says of which file
    return found


def named_element(name: str, import_scope: str | None) -> Tensor | Operation:
    """The operation of the graph being built that a VariableDef names; the output, if it names that."""
    return current_graph().element(prepend_name_scope(name, import_scope))


def slice_info_of(variable_def: VariableDef, import_scope: str | None) -> SliceInfo | None:
    if not variable_def.HasField("save_slice_info_def"):
        return None
    return SliceInfo(save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope)


def _convert(value: Variable, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    if dtype is not None and dtype.base_dtype is not value.dtype.base_dtype:
        raise InvalidArgumentError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}' (Variable: {value})."
        )
    return value._ref() if as_ref else value.value()


register_conversion(Variable, _convert)
