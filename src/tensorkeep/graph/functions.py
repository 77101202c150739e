"""Functions of a graph's library: FunctionDef messages and the graphs that are their bodies.

    input of a body's node = argument | argument ":" index | node ":" output ":" index | "^" node

A body refers to outputs by the names that the op's signature gives them, and may leave attributes open
(`placeholder`), to be filled in by those a call is made with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError
from tensorkeep.graph.graph import MOST_TENSORS, Graph, HandleShape, Operation, Tensor, is_index
from tensorkeep.graph.messages.attrs import Attr, FunctionRef, decode_attr, encode_attr, shape_to_proto
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.graph.registry.schema import ArgSchema, OpSchema
from tensorkeep.proto.messages import AttrValue, FunctionDef, GraphDef, NameAttrList, NodeDef, OpDef, TensorProto
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_LONGEST: Final = 99  # digits; what is longer is no number that anybody counted to


@dataclass(frozen=True)
class FunctionBody:
    """A function as a graph: placeholders for its arguments, tensors for its results, and what always runs."""

    name: str
    graph: Graph
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    controls: tuple[Operation, ...]


def numbered_name(base: str, taken: Iterable[str]) -> str:
    """A name for a function, with a number at its end that no other name has: fingerprints go by these numbers."""
    numbers = [number for name in taken if (number := function_number(name)) is not None]
    return f"__inference_{base}_{max(numbers, default=-1) + 1}"


def function_number(name: str) -> int | None:
    """What a name ends in after its last underscore, if that is a number of 63 bits."""
    tail = name.rsplit("_", 1)[-1]
    number = int(tail) if tail.isascii() and tail.isdecimal() and len(tail) < _LONGEST else -1
    return number if 0 <= number < 1 << 63 else None


def function_body(
    function: FunctionDef,
    library: Mapping[str, FunctionDef],
    attrs: Mapping[str, Attr] | None = None,
    shapes: Sequence[Shape] = (),
    constants: Mapping[int, TensorProto] | None = None,
) -> FunctionBody:
    """The body of a function called with these attributes, in a graph that has the library's functions.

    `constants` are arguments that are always the same, by their numbers: they are operations of the body, and not among
    its inputs. `shapes` are those of the inputs, as far as they are known.
    """
    body = _Body(function, library, attrs or {}, constants or {}).result()
    if shapes:
        _tell_shapes(body, shapes)
    return body


def _tell_shapes(body: FunctionBody, shapes: Sequence[Shape]) -> None:
    """Adds what is known of the arguments to what the function says of them, before anything else is inferred."""
    body.graph.infer_shapes(until=len(body.inputs))
    if len(shapes) != len(body.inputs):
        raise InvalidArgumentError(
            f"function '{body.name}' takes {len(body.inputs)} arguments, but is called with {len(shapes)}"
        )
    for tensor, shape in zip(body.inputs, shapes, strict=True):
        known = tensor.static_shape
        if isinstance(shape, HandleShape):
            tensor._shape = shape
        elif known.is_compatible(shape):
            tensor._shape = known.merge(shape)


class _Body:
    """One function on its way to being a graph."""

    def __init__(
        self,
        function: FunctionDef,
        library: Mapping[str, FunctionDef],
        attrs: Mapping[str, Attr],
        constants: Mapping[int, TensorProto],
    ) -> None:
        self._function = function
        self._constants = constants
        self._library = library
        self._attrs = _given_attrs(function.signature, attrs)
        self._proto = GraphDef()
        self._arguments: dict[str, list[str]] = {}  # of each argument, the nodes that stand for it
        self._taken = {node.name for node in function.node_def}  # names that no argument's node may have
        self._outputs: dict[str, dict[str, tuple[int, int]]] = {}  # of each node, outputs: position and count

    def result(self) -> FunctionBody:
        function = self._function
        name = function.signature.name
        for i, arg in enumerate(function.signature.input_arg):
            self._add_argument(i, arg)
        nodes = [self._instantiated_node(node) for node in function.node_def]
        for node in nodes:
            self._outputs[node.name] = self._output_positions(node)
        for node in nodes:
            edges = [edge for written in node.input for edge in self._edges(written, f"node '{node.name}'")]
            del node.input[:]
            # Data comes before control, also where an argument that is a list takes several edges.
            node.input.extend(edges)
            self._proto.node.add().CopyFrom(node)
        graph = Graph()
        graph.functions.update(self._library)
        import_graph(self._proto, graph, name="")
        given = [names for i, names in enumerate(self._arguments.values()) if i not in self._constants]
        inputs = [graph.operation(node).outputs[0] for names in given for node in names]
        outputs: list[Tensor] = []
        for arg in function.signature.output_arg:
            if arg.name not in function.ret:
                raise InvalidArgumentError(f"function '{name}' does not say what its result '{arg.name}' is")
            edges = self._edges(function.ret[arg.name], f"result '{arg.name}'")
            outputs.extend(graph.tensor(edge if ":" in edge else f"{edge}:0") for edge in edges)
        controls = tuple(graph.operation(node) for node in function.control_ret.values())
        return FunctionBody(name, graph, tuple(inputs), tuple(outputs), controls)

    # ------------------------------------------------------------------------------------------ arguments

    def _add_argument(self, index: int, arg: OpDef.ArgDef) -> None:
        dtypes = _dtypes_of(arg, self._attrs)
        told = self._function.arg_attr[index].attr if index in self._function.arg_attr else {}
        known = decode_attr(told["_output_shapes"]) if "_output_shapes" in told else None
        is_list = bool(arg.number_attr or arg.type_list_attr)
        names = []
        for i, dtype in enumerate(dtypes):
            name = f"{arg.name}_{i}" if is_list else arg.name
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            names.append(name)
            if index in self._constants:
                node = self._proto.node.add(name=name, op="Const")
                node.attr["dtype"].type = dtype.number
                node.attr["value"].tensor.CopyFrom(self._constants[index])
                continue
            node = self._proto.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = (dtype.ref if arg.is_ref else dtype).number
            shape = known[i] if isinstance(known, tuple) and i < len(known) else UNKNOWN_SHAPE
            node.attr["shape"].shape.CopyFrom(shape_to_proto(shape))
        self._arguments[arg.name] = names

    # ---------------------------------------------------------------------------------------------- nodes

    def _instantiated_node(self, node: NodeDef) -> NodeDef:
        copy = NodeDef()
        copy.CopyFrom(node)
        for value in copy.attr.values():
            self._fill_in(value)
        return copy

    def _fill_in(self, value: AttrValue) -> None:
        """Puts the function's attributes into the places left open for them."""
        kind = value.WhichOneof("value")
        if kind == "placeholder":
            given = self._attrs.get(value.placeholder)
            if given is None:
                raise InvalidArgumentError(
                    f"function '{self._function.signature.name}' is called without its attribute '{value.placeholder}'"
                )
            value.CopyFrom(given)
        elif kind == "func":
            self._fill_in_function(value.func)
        elif kind == "list":
            for function in value.list.func:
                self._fill_in_function(function)

    def _fill_in_function(self, function: NameAttrList) -> None:
        for value in function.attr.values():
            self._fill_in(value)

    def _output_positions(self, node: NodeDef) -> dict[str, tuple[int, int]]:
        found = find_op(node.op)
        if found is not None:
            schema: OpSchema | None = found.schema
        else:
            schema = OpSchema.of_op_def(self._library[node.op].signature) if node.op in self._library else None
        positions: dict[str, tuple[int, int]] = {}
        at = 0
        for arg in schema.outputs if schema is not None else ():
            count = _length(arg, node, schema) if schema is not None and arg.is_list else 1
            positions[arg.name] = (at, count)
            at += count
        return positions

    # ---------------------------------------------------------------------------------------------- edges

    def _edges(self, written: str, where: str) -> list[str]:
        """The edges of a graph that an input of the body stands for; several if it is a list."""
        if written.startswith("^"):
            source = written[1:]
            return [f"^{name}" for name in self._arguments.get(source, (source,))]
        source, *rest = written.split(":")
        if source in self._arguments:
            names = self._arguments[source]
            return self._picked_edges(names, rest[-1] if rest else "", written, where)
        if source not in self._outputs:
            raise InvalidArgumentError(
                f"function '{self._function.signature.name}', {where}: there is no argument or node '{written}'"
            )
        positions = self._outputs[source]
        output = rest[0] if rest else ""
        if output not in positions:
            if positions or not rest or not is_index(rest[-1]):
                raise InvalidArgumentError(
                    f"function '{self._function.signature.name}', {where}: '{written}' is no output of '{source}', "
                    f"which has {', '.join(positions) or 'none'}"
                )
            return [f"{source}:{int(rest[-1])}"]  # of an op that nobody knows; outputs count from its first
        start, count = positions[output]
        edges = [f"{source}:{start + i}" for i in range(count)]
        return self._picked_edges(edges, rest[1] if len(rest) > 1 else "", written, where)

    def _picked_edges(self, edges: list[str], index: str, written: str, where: str) -> list[str]:
        if not index:
            return edges
        if not is_index(index) or int(index) >= len(edges):
            raise InvalidArgumentError(
                f"function '{self._function.signature.name}', {where}: '{written}' is one of {len(edges)}"
            )
        return [edges[int(index)]]


def _given_attrs(signature: OpDef, attrs: Mapping[str, Attr]) -> dict[str, AttrValue]:
    """The attributes of a call, by default those of the signature."""
    found = {attr.name: attr.default_value for attr in signature.attr if attr.HasField("default_value")}
    found.update((name, encode_attr(value)) for name, value in attrs.items())
    return found


def _dtypes_of(arg: OpDef.ArgDef, attrs: Mapping[str, AttrValue]) -> list[DType]:
    """The types of the tensors of an argument."""
    for name in (arg.type_list_attr, arg.number_attr, arg.type_attr):
        if name and name not in attrs:
            raise InvalidArgumentError(f"a function is called without its attribute '{name}'")
    if arg.type_list_attr:
        return list(decode_attr(attrs[arg.type_list_attr]))
    dtype = decode_attr(attrs[arg.type_attr]) if arg.type_attr else decode_attr(AttrValue(type=arg.type))
    return [dtype] * (_checked_count(attrs[arg.number_attr].i, arg.number_attr) if arg.number_attr else 1)


def _length(arg: ArgSchema, node: NodeDef, schema: OpSchema) -> int:
    """How many tensors are in an output that is a list: as an attribute of the node says, or its default."""
    name = arg.type_list_attr or arg.number_attr
    value = decode_attr(node.attr[name]) if name in node.attr else schema.attr_by_name[name].default
    if arg.number_attr:
        return _checked_count(value if isinstance(value, int) else 0, name)
    return len(value) if isinstance(value, tuple | list) else 0


def _checked_count(count: int, attr: str) -> int:
    if not 0 <= count <= MOST_TENSORS:
        raise InvalidArgumentError(f"the attribute '{attr}' of a function or its body cannot be {count}")
    return count


_SHAPES: Final = object()  # the key of the shapes of results that were found, in `graph.extras`


def result_shapes(reference: FunctionRef, arguments: Sequence[Tensor], graph: Graph) -> tuple[Shape, ...] | None:
    """The shapes of a call's results, as the function's body tells; None if it does not.

    What is found for a function and shapes of arguments is found once for a graph and all that it calls.
    """
    found: dict[Any, tuple[Shape, ...] | None] = graph.extras.setdefault(_SHAPES, {})
    shapes = tuple(tensor.static_shape for tensor in arguments)
    key = (reference.name, tuple(map(shape_key, shapes)), attrs_key(reference.attrs))
    if key not in found:
        found[key] = None  # for whoever asks in the meantime: a function that calls itself
        if (function := graph.functions.get(reference.name)) is not None:
            found[key] = _body_shapes(function, graph, reference.attrs, shapes)
    return found[key]


def _body_shapes(
    function: FunctionDef, graph: Graph, attrs: Mapping[str, Attr], shapes: Sequence[Shape]
) -> tuple[Shape, ...] | None:
    try:
        body = function_body(function, graph.functions, attrs, shapes)
        body.graph.extras[_SHAPES] = graph.extras[_SHAPES]
        return tuple(tensor.static_shape for tensor in body.outputs)
    except TensorKeepError:  # a body that cannot be: running it says why
        return None


def shape_key(shape: Shape) -> tuple[tuple[int | None, ...] | None, tuple[DType, Shape] | None]:
    """A shape as a key of a dictionary."""
    held = (shape.element_dtype, shape.element_shape) if isinstance(shape, HandleShape) else None
    return shape.dims, held


def attrs_key(attrs: Mapping[str, Attr]) -> tuple[tuple[str, bytes], ...]:
    """Attributes as a key of a dictionary."""
    encoded = ((name, encode_attr(value).SerializeToString(deterministic=True)) for name, value in attrs.items())
    return tuple(sorted(encoded))


def called_functions(node: NodeDef, library: Mapping[str, FunctionDef]) -> Iterator[str]:
    """The functions that a node refers to, each as often as it does."""
    if node.op in library:
        yield node.op
    for value in node.attr.values():
        yield from _referred_functions(value, library)


def _referred_functions(value: AttrValue, library: Mapping[str, FunctionDef]) -> Iterator[str]:
    kind = value.WhichOneof("value")
    if kind == "func":
        references = [value.func]
    elif kind == "list":
        references = list(value.list.func)
    else:
        return
    for reference in references:
        if reference.name in library:
            yield reference.name
        for inner in reference.attr.values():
            yield from _referred_functions(inner, library)


def find_function(name: str, library: Mapping[str, FunctionDef]) -> FunctionDef:
    """The function of that name; an error if there is none."""
    found = library.get(name)
    if found is None:
        known = ", ".join(sorted(library)[:10]) or "none"
        raise NotFoundError(f"Function {name} is not defined. The graph has: {known}")
    return found


# ------------------------------------------------------------------------------------------------- Graph -> message

_NOT_IN_A_NAME: Final = re.compile(r"[^a-z0-9]+")


def function_def(
    name: str,
    graph: Graph,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    *,
    output_names: Sequence[str] | None = None,
    controls: Iterable[Operation] = (),
    operations: Sequence[Operation] | None = None,
) -> FunctionDef:
    """The function that computes `outputs` from `inputs`, with some operations of the graph, or all, as its body.

    An operation that makes one of the inputs is not part of the body.
    """
    proto = FunctionDef()
    proto.signature.name = name
    made = {tensor.op for tensor in inputs}
    body = [op for op in (graph.operations if operations is None else operations) if op not in made]
    taken = {op.name for op in body}
    given = {tensor.op: tensor for tensor in inputs}
    inside = set(body)
    names: dict[Tensor, str] = {}
    for i, tensor in enumerate(inputs):
        names[tensor] = _argument_name(tensor.op.name, taken)
        arg = proto.signature.input_arg.add(name=names[tensor], type=tensor.dtype.base_dtype.number)
        arg.is_ref = tensor.dtype.is_ref
        shape = tensor.static_shape
        proto.arg_attr[i].attr["_output_shapes"].list.shape.add().CopyFrom(shape_to_proto(shape))
    for op in body:
        node = proto.node_def.add()
        op.write_node(node)
        del node.input[:]
        node.input.extend(names.get(tensor) or _edge(tensor) for tensor in op.inputs)
        before = [control for control in op.control_inputs if control in inside or control in given]
        node.input.extend(f"^{names[given[control]] if control in given else control.name}" for control in before)
    used: set[str] = set()
    for i, tensor in enumerate(outputs):
        chosen = output_names[i] if output_names is not None else _argument_name(tensor.op.name, used)
        arg = proto.signature.output_arg.add(name=chosen, type=tensor.dtype.base_dtype.number)
        arg.is_ref = tensor.dtype.is_ref
        proto.ret[chosen] = names.get(tensor) or _edge(tensor)
    for op in controls:
        proto.control_ret[op.name] = op.name
        proto.signature.control_output.append(op.name)
    proto.signature.is_stateful = any(op.spec.schema.is_stateful for op in body)
    return proto


def _argument_name(name: str, taken: set[str]) -> str:
    """A name as TensorFlow makes them for arguments: small letters, digits and underscores, and not taken."""
    base = _NOT_IN_A_NAME.sub("_", name.lower()).strip("_") or "unknown"
    if not base[0].isalpha():
        base = f"arg_{base}"
    found, count = base, 0
    while found in taken:
        found, count = f"{base}_{count}", count + 1
    taken.add(found)
    return found


def _edge(tensor: Tensor) -> str:
    """An output as a body names it."""
    at = tensor.index
    for arg in tensor.op.spec.schema.outputs:
        count = 1
        if arg.type_list_attr:
            count = len(tensor.op.attr(arg.type_list_attr) or ())
        elif arg.number_attr:
            count = tensor.op.attr(arg.number_attr)
        if at < count:
            return f"{tensor.op.name}:{arg.name}:{at}"
        at -= count
    return f"{tensor.op.name}:output:{at}"
