"""What becomes of a graph when a variable in it becomes a constant.

    VarHandleOp, VariableV2, Variable       Const
    ReadVariableOp                          Identity
    ResourceGather, ResourceGatherNd        GatherV2 with a new constant "<name>/axis", GatherNd
    VariableShape                           Shape
    VarIsInitializedOp, ...                 Const: it is
    Identity, Switch, Enter and the like    the same, of the value's type; RefSwitch becomes Switch
    calls, branches, loops                  the same, of functions "<base>_frozen_<number>" whose argument is the value

A change begins at the variable and follows the edges. Whatever else takes the variable itself, and not its value,
cannot be: the graph changes the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

import numpy as np

from tensorkeep.dtypes import BOOL, RESOURCE, dtype_of_number
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.rewriting.frozen_nodes import (
    ATTRS,
    BY_NAME,
    CALLERS,
    FOR_RESOURCES,
    LOOP,
    PASSING_ON,
    REFERENCES,
    REWRITES,
    Constant,
    Edge,
    Function,
    Node,
    Result,
    argument_type,
    forget_shape,
    functions_of,
    make_constant,
    name_parts,
    needs_variable,
    output_index,
    pass_on,
    rename_output,
    result_type,
    set_type,
    takes,
)
from tensorkeep.graph.rewriting.pruning import source_of
from tensorkeep.proto.messages import GraphDef, NodeDef, TensorProto
from tensorkeep.proto.tensors import tensor_of_array


class Conversion:
    """A copy of a graph in which variables become constants, one after the other."""

    def __init__(self, graph_def: GraphDef) -> None:
        self._proto = GraphDef()
        self._proto.CopyFrom(graph_def)
        self._nodes = {node.name: Node(node, node.op, None) for node in self._proto.node}
        self._functions: dict[str, Function] = {}
        self._callers: dict[str, list[Node]] = {}  # of each function
        self._problems: list[str] = []
        for proto in self._proto.library.function:
            self._functions[proto.signature.name] = Function(proto, proto.signature.name)
        for node in self._nodes.values():
            self._connect(node, self._nodes, {})
        for function in self._functions.values():
            self._connect_body(function)

    def freeze(self, name: str, dtype: int, value: TensorProto) -> None:
        """Makes the variable a constant, and changes all that its handle or reference leads to."""
        constant = Constant(name, dtype, value)
        node = self._nodes[name]
        node.proto.Clear()
        make_constant(node.proto, name, dtype, value)
        seen: set[tuple[int, int]] = set()
        waiting = node.uses[::-1]
        while waiting:
            edge = waiting.pop()
            key = (id(edge.consumer), edge.index)
            if key not in seen:
                seen.add(key)
                waiting.extend(reversed(list(self._follow(edge, constant))))

    def result(self) -> GraphDef:
        """The graph. InvalidArgumentError, with everything that is wrong, if it cannot be frozen like this."""
        self._rename_functions()
        if self._problems:
            raise InvalidArgumentError(
                "variables that the graph changes cannot become constants: " + "; ".join(dict.fromkeys(self._problems))
            )
        return self._proto

    # ----------------------------------------------------------------------------------------------- edges

    def _connect(self, node: Node, nodes: dict[str, Node], arguments: dict[str, list[Edge]]) -> None:
        """Adds the node's inputs to the uses of what they come from, and itself to the callers of its functions."""
        for index, written in enumerate(node.proto.input):
            if written.startswith("^"):
                continue
            source = source_of(written)
            edge = Edge(output_index(written), node, index)
            if source in nodes:
                nodes[source].uses.append(edge)
            elif source in arguments:
                arguments[source].append(edge)
            else:
                raise InvalidArgumentError(f"Node {node.text}: Unknown input node '{written}'")
        for reference in functions_of(node.proto):
            self._callers.setdefault(reference.name, []).append(node)
        if node.op in self._functions:
            self._callers.setdefault(node.op, []).append(node)

    def _connect_body(self, function: Function) -> None:
        proto = function.proto
        function.nodes = {node.name: Node(node, node.op, function) for node in proto.node_def}
        arguments: dict[str, list[Edge]] = {arg.name: [] for arg in proto.signature.input_arg}
        function.arguments = list(arguments.values())
        for node in function.nodes.values():
            self._connect(node, function.nodes, arguments)
        for index, arg in enumerate(proto.signature.output_arg):
            written = proto.ret.get(arg.name, "")
            edge = Edge(output_index(written), Result(function, arg.name), index)
            source = source_of(written)
            if source in function.nodes:
                function.nodes[source].uses.append(edge)
            elif source in arguments:
                arguments[source].append(edge)

    def _follow(self, edge: Edge, constant: Constant) -> Iterable[Edge]:
        """Changes what the edge leads to, and gives the edges on which the change goes on."""
        consumer = edge.consumer
        if isinstance(consumer, Function):
            return self._change_argument(consumer, edge.index, constant)
        if isinstance(consumer, Result):
            return self._change_result(consumer, edge.index, constant)
        if consumer.function is not None:
            consumer.function.change()
        if consumer.op in CALLERS or consumer.op in self._functions:
            return self._change_call(consumer, edge.index, constant)
        if consumer.op in PASSING_ON or consumer.op in REFERENCES or consumer.op in ("Merge", "IdentityN"):
            return pass_on(consumer, edge.index, constant)
        self._change_use(consumer, edge.index, constant)
        return ()

    # -------------------------------------------------------------------------------------- uses of a value

    def _change_use(self, node: Node, index: int, constant: Constant) -> None:
        if index == 0 and node.op in REWRITES:
            if not node.is_rewritten:
                node.is_rewritten = True
                self._rewrite(node, constant)
        elif needs_variable(node, index):
            self._problems.append(
                f"node {node.text} ({node.op}) needs the variable '{constant.name}' itself. Ask for outputs that do "
                "not depend on it, or keep the variable (variable_names_blacklist, Selection(keep=...))"
            )

    def _rewrite(self, node: Node, constant: Constant) -> None:
        """Replaces an op on a variable by one on its value, as TensorFlow does: without device and control inputs."""
        old = NodeDef()
        old.CopyFrom(node.proto)
        op, output = REWRITES[node.op]
        new = node.proto
        new.Clear()
        new.name, new.op = old.name, op
        if op == "Const":
            make_constant(new, old.name, BOOL.number, tensor_of_array(np.array(True)))
        else:
            new.input.extend(edge for edge in old.input if not edge.startswith("^"))
            for attr, source in ATTRS[op].items():
                if source in old.attr:
                    new.attr[attr].CopyFrom(old.attr[source])
            if op == "Shape":
                new.attr["T"].type = constant.dtype
            elif op == "GatherV2":
                self._add_axis(node, old)
        if "_class" in old.attr:
            new.attr["_class"].CopyFrom(old.attr["_class"])
        if node.function and output:
            rename_output(node, output)

    def _add_axis(self, node: Node, old: NodeDef) -> None:
        """Gives a GatherV2 its third input."""
        scope = node.function.nodes if node.function else self._nodes
        name = f"{old.name}/axis"
        number = count(1)
        while name in scope:
            name = f"{old.name}/axis_{next(number)}"
        proto = node.function.proto.node_def.add() if node.function else self._proto.node.add()
        axis = old.attr["batch_dims"].i
        dtype = old.attr["Tindices"].type
        value = np.array(axis, dtype_of_number(dtype).array_dtype)
        make_constant(proto, name, dtype, tensor_of_array(value))
        scope[name] = Node(proto, "Const", node.function)
        node.proto.input.append(f"{name}:output:0" if node.function else name)
        if axis:
            node.proto.attr["batch_dims"].i = axis

    # ---------------------------------------------------------------------------------------------- functions

    def _change_call(self, node: Node, index: int, constant: Constant) -> Iterator[Edge]:
        calling = CALLERS.get(node.op, BY_NAME)
        at = index - calling.before
        if at < 0:
            return  # what decides on the branch
        names = [node.op]
        if calling is not BY_NAME:
            names = [reference.name for reference in functions_of(node.proto, calling.functions)]
        functions = [self._functions[name] for name in names if name in self._functions]
        if len(functions) < max(1, len(names)):
            raise InvalidArgumentError(
                f"Node {node.text} calls {', '.join(names) or 'nothing'}, which are not all in the library"
            )
        was_resource = any(argument_type(function, at) == RESOURCE.number for function in functions)
        if not was_resource and (calling is BY_NAME or node.op in FOR_RESOURCES):
            return
        node.is_rewritten = True
        if calling.types:
            set_type(node, calling.types, at, constant.dtype)
        for function in functions:
            yield Edge(0, function, at)
        if calling is LOOP:
            yield from self._change_loop(node, at, constant, functions[0], was_resource)

    def _change_loop(
        self, node: Node, at: int, constant: Constant, body: Function, was_resource: bool
    ) -> Iterator[Edge]:
        """A loop gives what it takes, at the same place."""
        shapes = node.proto.attr["output_shapes"].list.shape
        if was_resource and at < len(shapes):
            shapes[at].CopyFrom(constant.value.tensor_shape)
        if was_resource and "_output_shapes" in node.proto.attr:
            forget_shape(node.proto.attr["_output_shapes"], at)
        results = body.change().signature.output_arg
        if at < len(results):
            results[at].type = constant.dtype
        if was_resource:
            yield from (edge for edge in node.uses if edge.output == at)

    def _change_argument(self, function: Function, index: int, constant: Constant) -> Iterable[Edge]:
        proto = function.change()
        if index >= len(proto.signature.input_arg):
            raise InvalidArgumentError(f"function '{function.name}' is called with more arguments than it has")
        proto.signature.input_arg[index].type = constant.dtype
        if "_input_shapes" in proto.attr:
            forget_shape(proto.attr["_input_shapes"], index)
        attrs = proto.arg_attr[index].attr
        if "_output_shapes" in attrs:
            forget_shape(attrs["_output_shapes"], 0)
        return function.arguments[index]

    def _change_result(self, result: Result, index: int, constant: Constant) -> Iterator[Edge]:
        """A function that gives back a variable's handle gives its value now, and so do its calls."""
        function = result.function
        if result_type(function, index) != RESOURCE.number:
            return
        function.change().signature.output_arg[index].type = constant.dtype
        for node in self._callers.get(function.name, ()):
            if node.is_rewritten and CALLERS.get(node.op) is not LOOP:
                if node.function is not None:
                    node.function.change()
                if "Tout" in node.proto.attr:
                    set_type(node, "Tout", index, constant.dtype)
                if "_output_shapes" in node.proto.attr:
                    forget_shape(node.proto.attr["_output_shapes"], index)
                yield from (edge for edge in node.uses if edge.output == index)

    def _rename_functions(self) -> None:
        """Gives changed functions new names, in all that calls them.

        A call whose types did not change goes on calling the function as it was, which then is kept.
        """
        kept: list[Function] = []
        taken = set(self._functions)
        for number, name in enumerate(sorted(self._functions, key=name_parts), start=1):
            function = self._functions[name]
            if function.original is None:
                continue
            new_name = f"{name_parts(name)[1]}_frozen_{number}"
            while new_name in taken:
                new_name += "_"
            taken.add(new_name)
            function.proto.signature.name = new_name
            renamed = [self._rename_call(node, function, new_name) for node in self._callers.get(name, ())]
            if not all(renamed):
                kept.append(function)
        self._keep(kept)

    def _keep(self, functions: list[Function]) -> None:
        """Adds functions to the library as they were at first, and what they call."""
        seen: set[str] = set()
        while functions:
            function = functions.pop()
            if function.original is None or function.name in seen:
                continue
            seen.add(function.name)
            self._proto.library.function.add().CopyFrom(function.original)
            for node in function.original.node_def:
                called = [node.op, *(reference.name for reference in functions_of(node))]
                functions.extend(self._functions[name] for name in called if name in self._functions)

    def _rename_call(self, node: Node, function: Function, new_name: str) -> bool:
        """Lets a node call the changed function by its new name, if the node's arguments fit that; says whether it does
        so.
        """
        assert function.original is not None
        calling = CALLERS.get(node.op)
        if calling is None:
            if node.op == function.name and node.is_rewritten:
                node.proto.op = new_name
            return node.proto.op == new_name
        given = list(node.proto.attr[calling.types].list.type)
        if takes(function.proto, given):
            for reference in functions_of(node.proto, calling.functions):
                if reference.name == function.name:
                    reference.name = new_name
            return True
        if not takes(function.original, given):
            self._problems.append(
                f"function '{function.name}' is called with variables that become constants, and by node {node.text} "
                "with others in their place. Freeze all of them or none"
            )
        return False
