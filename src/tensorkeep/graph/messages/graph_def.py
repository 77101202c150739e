"""Graphs as GraphDef messages, in and out, without loss.

An imported operation keeps its NodeDef, and gives it back on export with whatever it had that we do not know. Ops
that nobody knows become opaque operations: they have a name, inputs, and as many outputs as others take from them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, name_scope, place_imported, share_devices
from tensorkeep.graph.graph import MOST_TENSORS, Graph, Operation, Tensor, is_index
from tensorkeep.graph.messages.attrs import encode_attr, write_shape
from tensorkeep.graph.messages.import_arguments import (
    mapped_names,
    open_scope,
    replacements,
    tensor_name_parts,
    wanted_names,
)
from tensorkeep.graph.messages.versions import bring_up_to_date, check_versions, merge_versions, versions_of
from tensorkeep.graph.ordering import LOOP_BACK, MERGES, topological
from tensorkeep.graph.registry.opspec import OpaqueSpec, OpSpec, find_op, spec_of_op_def
from tensorkeep.graph.registry.schema import AttrSchema, OpSchema
from tensorkeep.graph.undoing import all_or_nothing
from tensorkeep.io.machine.resources import collector_paused
from tensorkeep.proto.messages import AttrValue, GraphDef, NodeDef, OpDef, OpList

_FIELDS: Final = {  # of an AttrValue, by the kind of attribute
    "string": "s",
    "int": "i",
    "float": "f",
    "bool": "b",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}


def export_graph(
    graph: Graph, add_shapes: bool = False, from_version: int = 0, into: GraphDef | None = None
) -> GraphDef:
    """The graph as a message; with `add_shapes`, every node says in `_output_shapes` what is known of its shapes.

    `into` is an empty message to fill, which may be part of another one.
    """
    proto = GraphDef() if into is None else into
    proto.versions.CopyFrom(versions_of(graph))
    for op in graph.operations[from_version:]:
        node = proto.node.add()
        op.write_node(node)
        if add_shapes and op.outputs:
            shapes = node.attr["_output_shapes"].list.shape
            for tensor in op.outputs:
                write_shape(tensor.static_shape, shapes.add())
    for function in graph.functions.values():
        proto.library.function.add().CopyFrom(function)
    for name, gradient in graph.gradient_functions.items():
        proto.library.gradient.add(function_name=name, gradient_func=gradient)
    for name, gradient in graph.registered_gradients.items():
        proto.library.registered_gradients.add(registered_op_type=name, gradient_func=gradient)
    return proto


def import_graph(
    graph_def: GraphDef,
    graph: Graph,
    input_map: Mapping[str, Any] | Mapping[bytes, Any] | None = None,
    return_elements: Sequence[str | bytes] | None = None,
    name: str | None = None,
    producer_op_list: OpList | None = None,
) -> list[Tensor | Operation] | None:
    """Adds the nodes of a message to a graph, under a name scope; "" for none.

    `input_map` puts tensors of the graph in the place of some of the message's; `return_elements` names tensors and
    operations to return. If anything is wrong, no node is added.
    """
    wanted, mapped = wanted_names(return_elements), mapped_names(input_map)
    with building(graph):
        entered = open_scope(graph) if name == "" else name_scope("import" if name is None else name, graph)
        with entered as scope:
            prefix = scope[:-1] if scope else ""
            replaced = replacements(mapped, prefix, graph)
        importer = _Importer(graph_def, graph, prefix, replaced, producer_op_list)
        with all_or_nothing(graph):
            with collector_paused():
                importer.run()
            return importer.returned(wanted)


class _Importer:
    """One import. Finds an order, then adds node by node."""

    def __init__(
        self,
        graph_def: GraphDef,
        graph: Graph,
        prefix: str,
        replaced: dict[str, Tensor | Operation],
        producer_op_list: OpList | None,
    ) -> None:
        check_versions(graph_def.versions)
        self._proto = GraphDef()
        self._proto.CopyFrom(graph_def)
        self._graph = graph
        self._prefix = prefix
        self._replaced = replaced
        self._used: set[str] = set()
        self._ops: dict[str, Operation] = {}
        self._producer: dict[str, OpDef] = {op.name: op for op in producer_op_list.op} if producer_op_list else {}
        bring_up_to_date(self._proto, self._producer)
        self._specs: dict[str, OpSpec | None] = {}
        self._widths: dict[str, int] | None = None
        self._renamed = self._new_names()  # of nodes whose own names are taken
        self._undecided: list[Operation] = []  # without a device, and to be where others are
        self._open: list[tuple[Operation, list[str]]] = []  # heads of loops, and the edges that they still lack

    def run(self) -> None:
        graph, proto = self._graph, self._proto
        graph.check_not_finalized()
        self._import_functions()
        for node, sources in self._ordered_nodes():
            self._add(node, sources)
        self._close_loops()
        merge_versions(graph, proto.versions)
        place_imported(self._ops.values(), graph)
        share_devices(self._undecided)

    def _import_functions(self) -> None:
        graph = self._graph
        for function in self._proto.library.function:
            if find_op(function.signature.name) is not None:
                raise InvalidArgumentError(
                    f"Cannot add function '{function.signature.name}' because an op with the same name already exists."
                )
            known = graph.functions.get(function.signature.name)
            if known is not None and known != function:
                raise InvalidArgumentError(
                    f"Cannot add function '{function.signature.name}' because a different function with the same name "
                    "already exists."
                )
            graph.functions[function.signature.name] = function
        for gradient in self._proto.library.gradient:
            graph.gradient_functions[gradient.function_name] = gradient.gradient_func
        for registered in self._proto.library.registered_gradients:
            graph.registered_gradients[registered.registered_op_type] = registered.gradient_func

    # ------------------------------------------------------------------------------------------ order

    def _ordered_nodes(self) -> Iterable[tuple[NodeDef, list[str]]]:
        """The nodes, each after those it takes inputs from, with their inputs; earlier nodes first."""
        nodes = self._proto.node
        position: dict[str, int] = {}
        for i, node in enumerate(nodes):
            if node.name in position:
                raise InvalidArgumentError(f"Node '{node.name}' is not unique")
            position[node.name] = i
        inputs = [list(node.input) for node in nodes]
        wanted: list[list[int]] = []
        in_order = True
        for i, node in enumerate(nodes):
            before = self._sources(node, inputs[i], position)
            in_order = in_order and all(j < i for j in before)
            wanted.append(before)
        if in_order:
            return zip(nodes, inputs, strict=True)
        order = topological(wanted)
        if len(order) < len(nodes):
            stuck = sorted(set(range(len(nodes))) - set(order))
            raise InvalidArgumentError(
                f"{len(stuck)} nodes form a cycle that no loop closes, among them '{nodes[stuck[0]].name}'"
            )
        return [(nodes[i], inputs[i]) for i in order]

    def _sources(self, node: NodeDef, inputs: list[str], position: dict[str, int]) -> list[int]:
        """Where the nodes stand that this one must come after."""
        nodes = self._proto.node
        is_merge = node.op in MERGES
        found = []
        for edge in inputs:
            source = _source_name(edge)
            i = position.get(source)
            if i is None:
                if self._is_replaced(edge):
                    continue
                raise InvalidArgumentError(f"Node '{node.name}': Unknown input node '{edge}'")
            if is_merge and nodes[i].op in LOOP_BACK:
                continue
            found.append(i)
        return found

    def _is_replaced(self, edge: str) -> bool:
        key = edge if ":" in edge or edge.startswith("^") else f"{edge}:0"
        return key in self._replaced

    # ------------------------------------------------------------------------------------------ adding

    def _add(self, node: NodeDef, edges: list[str]) -> None:
        graph = self._graph
        original = node.name
        spec = self._spec(node)
        inputs: list[Tensor] = []
        controls: list[Operation] = []
        later: list[str] = []  # the edge that closes a loop, and all that follow it: they are added at the end
        for edge in edges:
            if edge.startswith("^"):
                controls.append(self._control(edge))
            elif later or (tensor := self._tensor(edge, original)) is None:
                later.append(edge)
            else:
                inputs.append(tensor)
        name = self._name(original)
        node.name = name
        if (self._prefix or self._renamed) and "_class" in node.attr:
            self._move_colocation(node)
        self._complete(node, spec)
        told = node.attr.pop("_output_shapes") if "_output_shapes" in node.attr else None
        op = graph.add_operation(spec, name, inputs, node, controls, node.device)
        spec.write_full_types(op.attr, node)
        if told is not None:
            graph.told_shapes[op] = told
        if not node.device and "_class" in node.attr:
            self._undecided.append(op)
        if later:
            self._open.append((op, later))
        elif not spec.is_opaque:
            check_inputs(op)
        self._ops[original] = op

    def _name(self, original: str) -> str:
        return self._renamed.get(original) or self._below(original)

    def _below(self, original: str) -> str:
        return f"{self._prefix}/{original}" if self._prefix else original

    def _new_names(self) -> dict[str, str]:
        """The names of nodes whose own the graph has already: numbered, and unlike any other of graph and message.

        A scope that operations are in has its name too (NameExistsInGraph in graph_constructor.cc).
        """
        if not len(self._graph):
            return {}
        scopes = _scopes_of(op.name for op in self._graph.operations)
        clashing = [
            node.name for node in self._proto.node if (name := self._below(node.name)) in self._graph or name in scopes
        ]
        if not clashing:
            return {}
        taken = {self._below(node.name) for node in self._proto.node}
        taken |= scopes | _scopes_of(list(taken))
        renamed: dict[str, str] = {}
        for name in clashing:
            renamed[name] = unique_from(self._below(name), self._graph, taken)
            taken.add(renamed[name])
        return renamed

    def _move_colocation(self, node: NodeDef) -> None:
        groups = node.attr["_class"].list.s
        groups[:] = [_moved_group(group, self._name) if group.startswith(b"loc:@") else group for group in groups]

    def _tensor(self, edge: str, user: str) -> Tensor | None:
        if self._replaced and self._is_replaced(edge):
            key = edge if ":" in edge else f"{edge}:0"
            self._used.add(key)
            found = self._replaced[key]
            assert isinstance(found, Tensor)
            return found
        source, index = _split_edge(edge)
        op = self._ops.get(source)
        if op is None:
            return None
        if not is_index(index) or int(index) >= len(op.outputs):
            raise InvalidArgumentError(
                f"Node '{user}': Connecting to invalid output {index} of source node {source} which has "
                f"{len(op.outputs)} outputs."
            )
        return op.outputs[int(index)]

    def _control(self, edge: str) -> Operation:
        replaced = self._replaced.get(edge)
        if replaced is not None:
            self._used.add(edge)
            assert isinstance(replaced, Operation)
            return replaced
        found = self._ops.get(edge[1:])
        if found is None:
            raise InvalidArgumentError(f"a node waits for '{edge[1:]}', which closes the loop that the node begins")
        return found

    def _close_loops(self) -> None:
        """Adds the inputs that come from later nodes: those of the merges at the heads of loops."""
        for op, edges in self._open:
            for edge in edges:
                tensor = self._tensor(edge, op.name)
                if tensor is None:
                    raise InvalidArgumentError(f"Node '{op.name}': Unknown input node '{edge}'")
                op.append_input(tensor)
            check_inputs(op)

    # ------------------------------------------------------------------------------------------ specs

    def _spec(self, node: NodeDef) -> OpSpec:
        name = node.op
        if name not in self._specs:
            self._specs[name] = self._find(name)
        found = self._specs[name]
        return found if found is not None else OpaqueSpec(name, self._width(node.name))

    def _find(self, name: str) -> OpSpec | None:
        found = find_op(name)
        if found is None and name in self._graph.functions:
            found = OpSpec(OpSchema.of_op_def(self._graph.functions[name].signature))
        if found is None and name in self._producer:
            found = spec_of_op_def(self._producer[name])
        return found

    def _width(self, name: str) -> int:
        """How many outputs of an opaque node are taken by others."""
        if self._widths is None:
            self._widths = {}
            for node in self._proto.node:
                for edge in node.input:
                    if not edge.startswith("^"):
                        source, index = _split_edge(edge)
                        if is_index(index) and int(index) < MOST_TENSORS:
                            self._widths[source] = max(self._widths.get(source, 0), int(index) + 1)
        return self._widths.get(name, 1)

    def _complete(self, node: NodeDef, spec: OpSpec) -> None:
        """Fills in defaults, and drops attributes that only a later op knows and that say nothing."""
        if spec.is_opaque:
            return
        attrs = node.attr
        for name, attr in spec.schema.attr_by_name.items():
            if name in attrs:
                check_attr(attr, attrs[name], node)
                continue
            default = _default_of(spec, name)
            if default is None:
                raise InvalidArgumentError(
                    f"NodeDef missing attr '{name}' from Op<{spec.schema}>; NodeDef: {node.name} = {node.op}"
                )
            attrs[name].CopyFrom(default)
        for name in spec.schema.counts:
            if name not in attrs or not 0 <= attrs[name].i <= max(MOST_TENSORS, len(node.input)):
                raise InvalidArgumentError(f"Node '{node.name}': '{name}' cannot be {attrs[name].i}: it counts tensors")
        if self._producer and len(attrs) > len(spec.schema.attr_by_name):
            self._drop_unknown(node, spec)

    def _drop_unknown(self, node: NodeDef, spec: OpSpec) -> None:
        producer = self._producer.get(node.op)
        if producer is None:
            return
        for attr in producer.attr:
            known = attr.name in spec.schema.attr_by_name or attr.name not in node.attr
            if not known and attr.HasField("default_value") and node.attr[attr.name] == attr.default_value:
                del node.attr[attr.name]

    # ------------------------------------------------------------------------------------------ results

    def returned(self, return_elements: Sequence[str] | None) -> list[Tensor | Operation] | None:
        unused = sorted(set(self._replaced) - self._used)
        if unused:
            unused = [key for key in unused if not self._is_known_source(key)]
        if unused:
            raise InvalidArgumentError(
                f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]"
            )
        return None if return_elements is None else [self._element(name) for name in return_elements]

    def _is_known_source(self, key: str) -> bool:
        """Whether the message has what a key of the input map names. That nothing takes it is no error in TensorFlow.

        Of an op that nobody knows, no output is known not to exist.
        """
        if key.startswith("^"):
            return key[1:] in self._ops
        source, index = tensor_name_parts(key)
        op = self._ops.get(source)
        return op is not None and (op.spec.is_opaque or index < len(op.outputs))

    def _element(self, name: str) -> Tensor | Operation:
        if ":" not in name:
            if name not in self._ops:
                raise InvalidArgumentError(f"Requested return node '{name}' not found in graph def")
            return self._ops[name]
        source, index = tensor_name_parts(name)
        if (replaced := self._replaced.get(f"{source}:{index}")) is not None:
            return replaced
        if source not in self._ops:
            raise InvalidArgumentError(f"Requested return tensor '{name}' not found in graph def")
        outputs = self._ops[source].outputs
        if index >= len(outputs):
            raise InvalidArgumentError(
                f"Invalid return output {index} of node '{source}', which has {len(outputs)} output(s)"
            )
        return outputs[index]


def _scopes_of(names: Iterable[str]) -> set[str]:
    """The scopes that names are in: "a" and "a/b" of "a/b/c"."""
    scopes: set[str] = set()
    for name in names:
        scope = name.rpartition("/")[0]
        while scope and scope not in scopes:
            scopes.add(scope)
            scope = scope.rpartition("/")[0]
    return scopes


def unique_from(name: str, graph: Graph, taken: Container[str] = ()) -> str:
    """`name_1`, `name_2`, …: the first that no operation has, and that is not taken otherwise."""
    count = 1
    while f"{name}_{count}" in graph or f"{name}_{count}" in taken:
        count += 1
    return f"{name}_{count}"


def _moved_group(group: bytes, name: Callable[[str], str]) -> bytes:
    """A colocation group after a change of names: "loc:@a" is "loc:@scope/a" if `name` makes "scope/a" of "a"."""
    try:
        return b"loc:@" + name(group[5:].decode()).encode()
    except UnicodeDecodeError:
        return group  # the name of no operation


def _default_of(spec: OpSpec, name: str) -> AttrValue | None:
    attr = spec.schema.attr_by_name[name]
    return encode_attr(attr.default) if attr.has_default else None


def _split_edge(edge: str) -> tuple[str, str]:
    """The node that a data edge comes from, and the index of its output as text."""
    source, colon, index = edge.rpartition(":")
    return (source, index) if colon else (edge, "0")


def _source_name(edge: str) -> str:
    return edge[1:] if edge.startswith("^") else _split_edge(edge)[0]


def check_attr(attr: AttrSchema, value: AttrValue, node: NodeDef) -> None:
    """Sees that an attribute of a node is of the kind that its op says."""
    kind = attr.kind
    is_list = kind.startswith("list(")
    found = value.WhichOneof("value")
    if is_list and found == "list":
        field = _FIELDS.get(kind[5:-1])
        fine = all(item.name == field for item, _ in value.list.ListFields())
    else:
        fine = found is not None and found == _FIELDS.get(kind)
    if not fine:
        raise InvalidArgumentError(
            f"AttrValue of node '{node.name}' has type '{found}', expected '{kind}' for attr '{attr.name}' of {node.op}"
        )


def check_inputs(op: Operation) -> None:
    """Compares the number and types of an operation's inputs with what its op takes."""
    expected, inputs = _input_types(op), op.inputs
    if len(expected) != len(inputs):
        wanted = ", ".join(dtype.label for dtype in expected)
        raise InvalidArgumentError(
            f"NodeDef expected inputs '{wanted}' do not match {len(inputs)} inputs specified; Op<{op.spec.schema}>; "
            f"NodeDef: {{{{node {op.name}}}}}"
        )
    for at, (dtype, tensor) in enumerate(zip(expected, inputs, strict=True)):
        actual = tensor.dtype
        if actual is dtype or not actual.number:
            continue
        if actual.base_dtype is not dtype.base_dtype or (dtype.is_ref and not actual.is_ref):
            raise InvalidArgumentError(
                f"Input {at} of node {op.name} was passed {actual.label} from {tensor.name} incompatible with "
                f"expected {dtype.label}."
            )


def _input_types(op: Operation) -> list[DType]:
    """The types of the inputs that an op takes, by the attributes of an operation."""
    expected: list[DType] = []
    for arg in op.spec.schema.inputs:
        if arg.type_list_attr:
            expected.extend(op.attr(arg.type_list_attr) or ())
            continue
        dtype: DType = arg.dtype or op.attr(arg.type_attr)
        count = op.attr(arg.number_attr) if arg.number_attr else 1
        expected.extend([dtype.ref if arg.is_ref else dtype] * count)
    return expected


__all__ = ["check_inputs", "export_graph", "import_graph", "unique_from"]
