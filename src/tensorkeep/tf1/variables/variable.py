"""Variables as programs see them: what both kinds have in common.

`Variable(...)` makes a `RefVariable` or a `ResourceVariable`, as the program, the scope or the graph says. Both are
handles to nodes of a graph: a place that holds a value, an operation that gives it its first one, and one that reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph, init_scope
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.graph.graph import OPERATORS, Graph, Operation, Tensor
from tensorkeep.graph.prefixes import prepend_name_scope
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.state.variables import is_variable_initialized as is_initialized_op
from tensorkeep.proto.messages import VariableDef
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.slices import SaveSliceInfo as SliceInfo

CREATE: Final[list[Callable[..., Any]]] = []
"""Makes a variable of either kind; told by the module that knows both."""


def operator(name: str) -> Callable[..., Any]:
    """What an operator does with a variable: the same as with its value."""

    def apply(self: Any, *others: Any) -> Any:
        return getattr(Tensor, name)(self.value(), *others)

    apply.__name__ = name
    return apply


class Reference:
    """A key for a variable in dictionaries and sets."""

    __slots__ = ("_referred",)

    def __init__(self, referred: Any) -> None:
        self._referred = referred

    def deref(self) -> Any:
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
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def _create(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> Variable:
        """Asks the creators that are in force, the innermost first, and at last makes the variable."""
        create = CREATE[-1]
        for creator in variable_state().creators:
            create = _through(creator, create)
        made: Variable = create(
            initial_value=initial_value,
            trainable=trainable,
            validate_shape=validate_shape,
            caching_device=caching_device,
            name=name,
            variable_def=variable_def,
            dtype=dtype,
            import_scope=import_scope,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=VariableAggregation.NONE if aggregation is None else aggregation,
            shape=shape,
            expected_shape=expected_shape,
            collections=collections,
            use_resource=use_resource,
        )
        return made

    # What both kinds have, each in its own way.
    _initializer_op: Operation
    _initial_value: Tensor | None
    _constraint: Callable[..., Any] | None
    _caching_device: Any
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
            self, value: Any, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Any: ...

        def assign_add(
            self, delta: Any, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Any: ...

        def assign_sub(
            self, delta: Any, use_locking: bool | None = False, name: str | None = None, read_value: bool = True
        ) -> Any: ...

        def to_proto(self, export_scope: str | None = None) -> VariableDef | None: ...

        def _ref(self) -> Tensor: ...

        def _as_graph_element(self) -> Tensor: ...

        def _strided_slice_assign(self, *, name: str, **arguments: Any) -> Any: ...

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable that a VariableDef describes, whose nodes are in the graph being built."""
        made: Variable = CREATE[-1](
            variable_def=variable_def, import_scope=import_scope, use_resource=variable_def.is_resource
        )
        return made

    # ------------------------------------------------------------------------------------------ properties

    @property
    def initializer(self) -> Operation:
        """The operation that gives the variable its initial value."""
        return self._initializer_op

    @property
    def initial_value(self) -> Tensor | None:
        return self._initial_value

    @property
    def constraint(self) -> Callable[..., Any] | None:
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

    # ------------------------------------------------------------------------------------------ values

    def initialized_value(self) -> Tensor:
        """The value, or the initial value while there is none."""
        with init_scope(self.graph):
            initialized = is_variable_initialized(self)
            found: Tensor = cond(initialized, self.read_value, lambda: self._initial_value)
            return found

    def eval(self, session: Any = None) -> Any:
        """The value, from `session` or from the session in force."""
        element = self._as_graph_element()
        return element.eval() if session is None else session.run(element)

    def load(self, value: Any, session: Any = None) -> None:
        """Gives the variable a value at once, by running its initializer with another initial value."""
        feeds: Mapping[Any, Any] = {self.initializer.inputs[1]: value}
        if session is None:
            self.initializer.run(feeds)
        else:
            session.run(self.initializer, feeds)

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

    def __getitem__(self, key: Any) -> Tensor:
        """A part of the value. What it gives has a method `assign`, which changes that part of the variable."""
        part = OPERATORS["getitem"](self.value(), key)
        if part.op.type == "StridedSlice":
            part.op.extras["assign"] = _SlicedAssign(self, part)
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


def _through(creator: Callable[..., Any], previous: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **arguments: creator(previous, **arguments)


class _SlicedAssign:
    """Assigns to the part of a variable that a tensor was taken from."""

    def __init__(self, variable: Variable, part: Tensor) -> None:
        self._variable = variable
        self._part = part

    def __call__(self, value: Any, name: str | None = None) -> Any:
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


def is_variable_initialized(variable: Any) -> Tensor:
    """Whether a variable, or the variable behind a reference, has a value; found when run."""
    initialized: Tensor = is_initialized_op(variable) if variable.dtype.is_ref else variable.is_initialized()
    return initialized


def checked_collections(collections: Any, trainable: bool) -> list[Any]:
    """The collections that a new variable goes into."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    if not isinstance(collections, list | tuple | set):
        raise InvalidArgumentError(
            "collections argument to Variable constructor must be a list, tuple, or set. Got "
            f"{collections} of type {type(collections)}"
        )
    listed = list(collections)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in listed:
        listed.append(GraphKeys.TRAINABLE_VARIABLES)
    return listed


def checked_constraint(constraint: Any) -> Callable[..., Any] | None:
    if constraint is not None and not callable(constraint):
        raise InvalidArgumentError("The `constraint` argument must be a callable.")
    return constraint  # type: ignore[no-any-return]


def element_of(name: str, import_scope: str | None) -> Any:
    """The tensor or operation of the graph being built that a VariableDef names."""
    return current_graph().element(prepend_name_scope(name, import_scope))


def slice_info_of(variable_def: VariableDef, import_scope: str | None) -> SliceInfo | None:
    if not variable_def.HasField("save_slice_info_def"):
        return None
    return SliceInfo(save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope)


def _convert(value: Variable, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    if dtype is not None and dtype.base_dtype is not value.dtype.base_dtype:
        raise InvalidArgumentError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}' (Variable: {value})."
        )
    return value._ref() if as_ref else value.value()


register_conversion(Variable, _convert)
