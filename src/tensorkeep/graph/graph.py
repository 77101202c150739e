"""Graphs, operations, tensors: plain data.

An operation is an instance of an op (its `spec`): a name, inputs, attributes. A tensor is one output of an operation.
The graph keeps operations by name, in the order in which they were added, which is an order in which they could run
but for the edges that close loops.

Static shapes are found by the ops' shape rules. A graph being built finds them at once, so that a mistake is reported
where it is made; an imported graph finds them when the first one is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from tensorkeep.dtypes import DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.messages.attrs import Attr, decode_attr, shape_of_proto, write_attr
from tensorkeep.graph.scopes import ControlFlowContext, NameTable, Scopes
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.io.showing.amounts import amount_of
from tensorkeep.io.showing.html_tables import html_table
from tensorkeep.proto.messages import AttrValue, FunctionDef, NodeDef, OpDef
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from tensorkeep.graph.arguments import IndexLike, SessionLike, ShapeLike, TensorLike
    from tensorkeep.graph.registry.opspec import OpSpec

FUNCTIONS_SINCE: Final = 12  # the version of GraphDef that first had functions
PRODUCER: Final = 2474  # the version of GraphDef that TensorFlow 2.21 writes
MOST_TENSORS: Final = 1 << 17  # in one list argument of a stored graph; more are an attack on our memory
PLACEHOLDERS: Final = frozenset(("Placeholder", "PlaceholderV2"))
"""The ops whose value a run is given."""
_LONGEST_INDEX: Final = 9  # digits


class HandleShape(Shape):
    """The shape of a resource handle, which also knows the type and shape of what the handle leads to."""

    element_dtype: DType
    element_shape: Shape
    __slots__ = ("element_dtype", "element_shape")

    def __init__(self, dims: tuple[int | None, ...] | None, dtype: DType, shape: Shape) -> None:
        super().__init__(dims)
        object.__setattr__(self, "element_dtype", dtype)
        object.__setattr__(self, "element_shape", shape)


class Tensor:
    """One output of an operation. Its value exists only while a session runs."""

    # Invariant: `__dict__` is for what programs hang onto tensors; it is not made before they do.
    __slots__ = ("__dict__", "__weakref__", "_consumers", "_shape", "dtype", "index", "op")
    __array_priority__ = 100  # NumPy leaves arithmetic with tensors to us

    def __init__(self, op: Operation, index: int, dtype: DType) -> None:
        self.op = op
        self.index = index
        self.dtype = dtype
        self._shape: Shape | None = None
        self._consumers: list[Operation] = []

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.index}"

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def value_index(self) -> int:
        return self.index

    @property
    def static_shape(self) -> Shape:
        """What is known of the shape before running."""
        if self._shape is None:
            self.op.graph.infer_shapes()
        return UNKNOWN_SHAPE if self._shape is None else self._shape

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.static_shape)

    def get_shape(self) -> TensorShape:
        return TensorShape(self.static_shape)

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds to what is known of the shape. A contradiction is an error."""
        known, told = self.static_shape, plain_shape(shape)
        if not known.is_compatible(told):
            raise InvalidArgumentError(f'Tensor "{self.name}" has shape {known}, which is not compatible with {told}')
        if not isinstance(known, HandleShape):
            self._shape = known.merge(told)
            if self._shape != known:
                self.op.graph.edits += 1

    def _shape_as_list(self) -> list[int | None] | None:
        """Private in TensorFlow, and used by programs: the sizes that are known, None if their number is not."""
        dims = self.static_shape.dims
        return None if dims is None else list(dims)

    def _rank(self) -> int | None:
        dims = self.static_shape.dims
        return None if dims is None else len(dims)

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input."""
        return list(dict.fromkeys(self._consumers))

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype}>"

    def __str__(self) -> str:
        shape = "" if self.static_shape.dims is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype})'

    __hash__ = object.__hash__  # which an own __eq__ would take away

    def __eq__(self, other: object) -> bool:
        return self is other

    def __bool__(self) -> bool:
        raise TypeError(
            f'"{self.name}" is a tensor of a graph and has no value yet: use `cond` or a session instead of `if`'
        )

    def __len__(self) -> int:
        raise TypeError(f'len() of "{self.name}", a tensor of a graph: use tf.shape(x)[0], or x.shape[0] if known')

    def __iter__(self) -> Iterator[Tensor]:
        dims = self.static_shape.dims
        if dims is None or not dims or dims[0] is None:
            raise TypeError(f'cannot iterate over "{self.name}": its first dimension is not known, in {self.shape}')
        return (self[i] for i in range(dims[0]))

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise NotImplementedError(f'"{self.name}" is a tensor of a graph and has no value yet: run it in a session')

    @property
    def assign(self) -> Callable[..., Any]:
        """Of a part of a variable, such as `variable[1:]`: assigns to that part. Other tensors have no such thing."""
        found: Callable[..., Any] | None = vars(self).get("assign")
        if found is None:
            raise AttributeError(f'"{self.name}" is no part of a variable: nothing can be assigned to it')
        return found

    @assign.setter
    def assign(self, found: Callable[..., Any]) -> None:
        vars(self)["assign"] = found

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: SessionLike | None = None) -> Any:
        """The value, from `session` or from the session in force."""
        return _call_extension("eval", self, feed_dict, session)

    # What operators mean is told by the layer that knows the ops.
    def __add__(self, other: TensorLike) -> Tensor:
        return OPERATORS["add"](self, other)

    def __radd__(self, other: TensorLike) -> Tensor:
        return OPERATORS["radd"](self, other)

    def __sub__(self, other: TensorLike) -> Tensor:
        return OPERATORS["sub"](self, other)

    def __rsub__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rsub"](self, other)

    def __mul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["mul"](self, other)

    def __rmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rmul"](self, other)

    def __truediv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["truediv"](self, other)

    def __rtruediv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rtruediv"](self, other)

    def __floordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["floordiv"](self, other)

    def __rfloordiv__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rfloordiv"](self, other)

    def __mod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["mod"](self, other)

    def __rmod__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rmod"](self, other)

    def __pow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["pow"](self, other)

    def __rpow__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rpow"](self, other)

    def __matmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["matmul"](self, other)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rmatmul"](self, other)

    def __and__(self, other: TensorLike) -> Tensor:
        return OPERATORS["and"](self, other)

    def __rand__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rand"](self, other)

    def __or__(self, other: TensorLike) -> Tensor:
        return OPERATORS["or"](self, other)

    def __ror__(self, other: TensorLike) -> Tensor:
        return OPERATORS["ror"](self, other)

    def __xor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["xor"](self, other)

    def __rxor__(self, other: TensorLike) -> Tensor:
        return OPERATORS["rxor"](self, other)

    def __lt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["lt"](self, other)

    def __le__(self, other: TensorLike) -> Tensor:
        return OPERATORS["le"](self, other)

    def __gt__(self, other: TensorLike) -> Tensor:
        return OPERATORS["gt"](self, other)

    def __ge__(self, other: TensorLike) -> Tensor:
        return OPERATORS["ge"](self, other)

    def __neg__(self) -> Tensor:
        return OPERATORS["neg"](self)

    def __abs__(self) -> Tensor:
        return OPERATORS["abs"](self)

    def __invert__(self) -> Tensor:
        return OPERATORS["invert"](self)

    def __getitem__(self, key: IndexLike) -> Tensor:
        return OPERATORS["getitem"](self, key)


def held_behind(handle: Tensor) -> HandleShape | None:
    """What is known of what a handle leads to; None if that is nothing, or if the tensor is no handle."""
    shape = handle.static_shape
    return shape if isinstance(shape, HandleShape) else None


def held_shape(handle: Tensor) -> Shape:
    """The shape of what a handle leads to, as far as it is known."""
    held = held_behind(handle)
    return UNKNOWN_SHAPE if held is None else held.element_shape


OPERATORS: Final[dict[str, Callable[..., Tensor]]] = {}
"""What Python's operators do with tensors, filled in by the layer above: "add", "radd", "neg", "getitem", …"""

EXTENSIONS: Final[dict[str, Callable[..., Any]]] = {}
"""What methods of tensors and operations do that need a session: "eval", "run"."""


def _call_extension(name: str, *arguments: Any) -> Any:
    if name not in EXTENSIONS:
        raise InvalidArgumentError(f"{name}() needs a session: call session.run(...) instead")
    return EXTENSIONS[name](*arguments)


class Operation:
    """A node of a graph."""

    __slots__ = (
        "__dict__",  # for what programs hang onto operations; it is not made before they do
        "__weakref__",
        "_attrs",
        "_control_outputs",
        "_decoded",
        "_extras",
        "_source",
        "control_flow_context",
        "control_inputs",
        "device",
        "graph",
        "index",
        "inputs",
        "name",
        "outputs",
        "spec",
    )

    def __init__(
        self,
        graph: Graph,
        spec: OpSpec,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Sequence[Operation],
        attrs: dict[str, Attr] | NodeDef,
        device: str,
    ) -> None:
        self.graph = graph
        self.spec = spec
        self.name = name
        self.inputs = list(inputs)
        self.control_inputs = list(control_inputs)
        self.device = device
        self.control_flow_context: ControlFlowContext | None = None
        self.index = -1
        self._source: NodeDef | None = None
        self._decoded: dict[str, Attr] = {}  # of an imported operation, the attributes asked for so far
        self._control_outputs: list[Operation] = []
        self._extras: dict[str, Any] | None = None
        if isinstance(attrs, dict):
            self._attrs: dict[str, Attr] | None = attrs
        else:
            self._source, self._attrs = attrs, None
        self.outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(spec.output_dtypes(self))]
        for tensor in self.inputs:
            tensor._consumers.append(self)
        for op in self.control_inputs:
            op._control_outputs.append(self)

    @property
    def type(self) -> str:
        return self.spec.name

    @property
    def attrs(self) -> Mapping[str, Attr]:
        """The attributes as Python values. Change them with `set_attr`."""
        return self._own_attrs()

    def _own_attrs(self) -> dict[str, Attr]:
        if self._attrs is None:
            assert self._source is not None
            self._attrs = {name: decode_attr(value) for name, value in self._source.attr.items()}
        return self._attrs

    def attr(self, name: str) -> Attr:
        """One attribute, without decoding the others."""
        if self._attrs is not None:
            return self._attrs.get(name)
        if name in self._decoded:
            return self._decoded[name]
        assert self._source is not None
        found = decode_attr(self._source.attr[name]) if name in self._source.attr else None
        self._decoded[name] = found
        return found

    def get_attr(self, name: str) -> Attr:
        """One attribute; an error that lists those there are if it is not among them."""
        attrs = self.attrs
        if name not in attrs:
            raise InvalidArgumentError(
                f"Operation '{self.name}' has no attr named '{name}'. It has: {', '.join(sorted(attrs)) or 'none'}"
            )
        return attrs[name]

    def set_attr(self, name: str, value: Attr) -> None:
        self.decorate(name, value)
        self.graph.changed()

    def decorate(self, name: str, value: Attr) -> None:
        """Sets an attribute that does not change what the operation computes."""
        self._own_attrs()[name] = value
        self._source = None

    def clear_attr(self, name: str) -> None:
        self._own_attrs().pop(name, None)
        self._source = None
        self.graph.changed()

    @property
    def node_def(self) -> NodeDef:
        node = NodeDef()
        self.write_node(node)
        return node

    def write_node(self, node: NodeDef) -> None:
        """Fills in a NodeDef. An imported operation gives back all that its own had, known to us or not."""
        if self._source is not None:
            node.CopyFrom(self._source)
            del node.input[:]
        else:
            node.op = self.spec.name
            for name, value in self._own_attrs().items():
                write_attr(value, node.attr[name])
            self.spec.write_full_types(self.attr, node)
        node.name, node.device = self.name, self.device
        node.input.extend(_edge(tensor) for tensor in self.inputs)
        if self.control_inputs:
            node.input.extend(sorted(f"^{op.name}" for op in self.control_inputs))

    @property
    def op_def(self) -> OpDef:
        return self.spec.schema.to_op_def()

    @property
    def control_outputs(self) -> list[Operation]:
        return list(self._control_outputs)

    @property
    def extras(self) -> dict[str, Any]:
        """Room for what other layers remember of an operation; it is not part of the graph and is not exported."""
        if self._extras is None:
            self._extras = {}
        return self._extras

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self.outputs)

    def set_input(self, index: int, tensor: Tensor) -> None:
        """Replaces one input."""
        if tensor.graph is not self.graph:
            raise InvalidArgumentError(f'"{tensor.name}" is of another graph than "{self.name}"')
        self.inputs[index]._consumers.remove(self)
        self.inputs[index] = tensor
        tensor._consumers.append(self)
        self.graph.changed()

    def append_input(self, tensor: Tensor) -> None:
        """Adds an input behind the others: how the edge that closes a loop comes to its Merge."""
        self.inputs.append(tensor)
        tensor._consumers.append(self)
        self.graph.changed()

    def append_outputs(self, dtypes: Iterable[DType], shapes: Iterable[Shape]) -> list[Tensor]:
        """Adds outputs behind the others: how a call comes to give what its gradient needs."""
        added = []
        for dtype, shape in zip(dtypes, shapes, strict=True):
            tensor = Tensor(self, len(self.outputs), dtype)
            tensor._shape = shape
            self.outputs.append(tensor)
            added.append(tensor)
        self.graph.changed()
        return added

    def add_control_inputs(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if op.graph is not self.graph:
                raise InvalidArgumentError(f'"{op.name}" is of another graph than "{self.name}"')
            if op not in self.control_inputs:
                self.control_inputs.append(op)
                op._control_outputs.append(self)
        self.graph.changed()

    def clear_control_inputs(self) -> None:
        for op in self.control_inputs:
            op._control_outputs.remove(self)
        self.control_inputs = []
        self.graph.changed()

    # What is private in TensorFlow, and programs that change graphs use all the same.

    _original_op: Operation | None = None

    @property
    def _id(self) -> int:
        """A number that grows from one operation to the next."""
        return self.index + 1

    @property
    def traceback(self) -> list[Any]:
        """Nothing: where an operation was made is not kept."""
        return []

    def _add_control_input(self, op: Operation) -> None:
        self.add_control_inputs([op])

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        self.add_control_inputs(ops)

    def _remove_all_control_inputs(self) -> None:
        self.clear_control_inputs()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        self.set_input(index, tensor)

    def _set_attr(self, attr_name: str, attr_value: AttrValue) -> None:
        self.set_attr(attr_name, decode_attr(attr_value))

    def _set_device(self, device: str) -> None:
        self.device = str(device)

    def _get_control_flow_context(self) -> ControlFlowContext | None:
        return self.control_flow_context

    def _set_control_flow_context(self, ctx: ControlFlowContext | None) -> None:
        self.control_flow_context = ctx

    def colocation_groups(self) -> list[bytes]:
        """The groups this operation must share a device with; its own if it names none."""
        named = self.attr("_class")
        groups = [name for name in named if name.startswith(b"loc:@")] if isinstance(named, tuple) else []
        return groups or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: SessionLike | None = None) -> None:
        """Runs it, in `session` or in the session in force."""
        _call_extension("run", self, feed_dict, session)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)


def _edge(tensor: Tensor) -> str:
    return f"{tensor.op.name}:{tensor.index}" if tensor.index else tensor.op.name


class Graph:
    """Operations by name, and what goes with them: collections, functions, seed, versions."""

    body_class: ClassVar[Any] = None
    """The class of graphs for bodies of functions that are built inside of it; None for `FunctionGraph`."""

    def __init__(self) -> None:
        self._operations: dict[str, Operation] = {}
        self._order: list[Operation] = []
        self._inferred = 0  # how many operations, in order, have been through shape inference
        self._is_inferring = False
        self.names = NameTable()
        self.scopes = Scopes()
        self.collections: dict[Any, list[Any]] = {}
        self.told_shapes: dict[Operation, AttrValue] = {}  # by a stored graph; used once, by inference
        self.functions: dict[str, FunctionDef] = {}
        self.gradient_functions: dict[str, str] = {}
        self.registered_gradients: dict[str, str] = {}  # by the type of op that names them
        self.seed: int | None = None
        self.producer = PRODUCER
        self.min_consumer = 0
        self.bad_consumers: tuple[int, ...] = ()
        self.edits = 0  # grows when operations that are there already change, so that plans know they are out of date
        self.unfeedable: set[Tensor] = set()
        self.unfetchable: set[Any] = set()
        self.extras: dict[Any, Any] = {}  # what other layers remember of the graph, each under a key of its own
        self._finalized = False

    @property
    def operations(self) -> Sequence[Operation]:
        return self._order

    def get_operations(self) -> list[Operation]:
        return list(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: str) -> bool:
        return name in self._operations

    def __repr__(self) -> str:
        functions = f", {amount_of(len(self.functions), 'function')}" if self.functions else ""
        return f"<Graph: {amount_of(len(self._order), 'operation')}{functions}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: how many operations there are of each kind."""
        kinds = Counter(op.type for op in self._order).most_common()
        return html_table(repr(self).strip("<>"), ("op", "count"), kinds, len(kinds))

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def unfinalize(self) -> None:
        self._finalized = False

    def check_not_finalized(self) -> None:
        if self._finalized:
            raise FailedPreconditionError("Graph is finalized and cannot be modified.")

    def changed(self) -> None:
        self.edits += 1

    def add_function(self, function: FunctionDef) -> None:
        """Adds a function to the library. Graphs that have any need a TensorFlow that knows of functions."""
        self.functions[function.signature.name] = function
        self.min_consumer = max(self.min_consumer, FUNCTIONS_SINCE)

    def captures_from(self, other: Graph) -> bool:
        """Whether operations here may use tensors of another graph: only in the body of a function."""
        return False

    def capture(self, tensor: Tensor) -> Tensor:
        """The tensor of this graph that stands for one of another graph."""
        raise InvalidArgumentError(f'"{tensor.name}" is of another graph than the operation that is to use it')

    @property
    def version(self) -> int:
        """How many operations have been added."""
        return len(self._order)

    def add_operation(
        self,
        spec: OpSpec,
        name: str,
        inputs: Sequence[Tensor],
        attrs: dict[str, Attr] | NodeDef,
        control_inputs: Sequence[Operation] = (),
        device: str = "",
    ) -> Operation:
        """Adds a node under exactly this name. Scopes and the like are the builder's business."""
        if self._finalized:
            self.check_not_finalized()
        if name in self._operations:
            raise InvalidArgumentError(f"Duplicate node name in graph: '{name}'")
        op = Operation(self, spec, name, inputs, control_inputs, attrs, device)
        op.index = len(self._order)
        self._operations[name] = op
        self._order.append(op)
        self.names.claim(name)
        return op

    def remove_last_operation(self, op: Operation) -> None:
        """Takes back the operation added last, as if it had never been: how a failed shape rule leaves no trace."""
        assert self._order[-1] is op
        self._order.pop()
        del self._operations[op.name]
        self._inferred = min(self._inferred, len(self._order))
        for tensor in op.inputs:
            tensor._consumers.remove(op)
        for control in op.control_inputs:
            control._control_outputs.remove(op)

    def infer_shapes(self, until: int | None = None) -> None:
        """Runs the shape rules of all operations that have not been through them, or of as many as are first."""
        if self._is_inferring:  # a loop's head asks for what comes later: it is not known
            return
        order = self._order
        self._is_inferring = True
        try:
            while self._inferred < (len(order) if until is None else until):
                op = order[self._inferred]
                self._inferred += 1
                op.spec.infer(op)
                if self.told_shapes and (told := self.told_shapes.pop(op, None)) is not None:
                    _merge_told(op, told)
        finally:
            self._is_inferring = False

    def operation(self, name: str) -> Operation:
        op = self._operations.get(name)
        if op is None:
            raise NotFoundError(f"The name '{name}' refers to an Operation not in the graph. {self._neighbours(name)}")
        return op

    def tensor(self, name: str) -> Tensor:
        op_name, index = split_tensor_name(name)
        op = self._operations.get(op_name)
        if op is None:
            raise NotFoundError(
                f"The name '{name}' refers to a Tensor which does not exist. "
                f"The operation, '{op_name}', does not exist in the graph. {self._neighbours(op_name)}"
            )
        if index >= len(op.outputs):
            raise NotFoundError(
                f"The name '{name}' refers to a Tensor which does not exist. The operation, '{op_name}', "
                f"exists but only has {len(op.outputs)} outputs."
            )
        return op.outputs[index]

    def element(self, name: str) -> Tensor | Operation:
        """The tensor "op:0" or the operation "op"."""
        return self.tensor(name) if ":" in name else self.operation(name)

    def _neighbours(self, name: str) -> str:
        last = name.rsplit("/", 1)[-1].lower()
        near = [other for other in self._operations if last and last in other.lower()][:5]
        return f"Did you mean {', '.join(near)}?" if near else f"The graph has {len(self._order)} operations."


def _merge_told(op: Operation, told: AttrValue) -> None:
    """Adds to the inferred shapes what a stored graph says of them, as far as that is no contradiction."""
    for tensor, proto in zip(op.outputs, told.list.shape, strict=False):
        known, shape = tensor.static_shape, shape_of_proto(proto)
        if not isinstance(known, HandleShape) and known != shape and known.is_compatible(shape):
            tensor._shape = known.merge(shape)


def is_index(text: str) -> bool:
    """Whether a text is the number of an output of an operation, as far as there can be so many."""
    return text.isdecimal() and len(text) <= _LONGEST_INDEX


def split_tensor_name(name: str) -> tuple[str, int]:
    """("op", 0) of "op:0"."""
    op_name, colon, index = name.rpartition(":")
    if not colon or not op_name or not is_index(index):
        raise InvalidArgumentError(
            f"The name '{name}' looks like an Operation name, not a Tensor: a tensor's name is of the form "
            '"<op_name>:<output_index>"'
        )
    return op_name, int(index)
