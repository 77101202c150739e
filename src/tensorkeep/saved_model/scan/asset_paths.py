"""Where the path of a file that a graph reads comes from.

Every model reads its own variables, from a path that its loader gives, and its own assets. Any other path is somebody
else's file. Paths are followed backwards, from the op that reads, through identities, string variables and the
arguments of functions to what they begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from tensorkeep.dtypes import RESOURCE
from tensorkeep.graph.graph import PLACEHOLDERS
from tensorkeep.proto.messages import FunctionDef, GraphDef, NodeDef, TensorProto

_SAME: Final = frozenset(("Identity", "PlaceholderWithDefault", "StopGradient", "EnsureShape", "Reshape"))
_CHOICES: Final = frozenset(("Select", "SelectV2"))  # of their second and third input
_FED: Final = PLACEHOLDERS | {"Const", "PlaceholderWithDefault"}  # what a loader gives paths to; they have one output
_VARIABLES: Final = frozenset(("VarHandleOp", "_XlaAotOnlyVarHandleOp"))
_HARMLESS: Final = frozenset(("VarIsInitializedOp", "AssignVariableOp", "ReadVariableOp"))
_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_LOOPS: Final = frozenset(("While", "StatelessWhile"))
_BRANCHES: Final = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))  # their first input is no argument
_MOST_STEPS: Final = 200_000

_ANY: Final = b"\0"  # a variable whose name is not known
TOP: Final = ""  # the graph itself, among the functions


class Origin(Enum):
    """What a path begins with."""

    ASSET = "an asset of the model"
    SAVER = "the path that the loader gives"
    CALLER = "an input"
    CONSTANT = "a constant"
    JOINED = "with more text behind it"
    COMPUTED = "something computed"


LOADER: Final = frozenset((Origin.ASSET, Origin.SAVER))  # whose paths a loader gives


class Source(NamedTuple):
    """What a path begins with, and if that is a constant, its value."""

    origin: Origin
    text: str = ""


@dataclass(frozen=True)
class OwnFiles:
    """What is known of a model's own files: names of tensors, without ":0", and of functions' captured arguments."""

    assets: frozenset[str] = frozenset()
    saver_path: str = ""
    captures: Mapping[str, tuple[Origin, ...]] | None = None
    """For functions that objects call: what their last arguments are; the others are inputs."""


class Paths:
    """Follows paths backwards through one graph and its functions. All questions together take bounded time."""

    def __init__(self, graph_def: GraphDef, own: OwnFiles) -> None:
        self._graph_def = graph_def
        self._own = own
        self._steps = 0
        self._nodes: dict[str, dict[str, NodeDef]] = {}
        self._arguments: dict[str, dict[str, int]] = {}

    def sources(self, context: str, name: str, given: Set[Origin] = LOADER) -> frozenset[Source]:
        """What the tensor that a node takes begins with. `context` is the function that has the node, or TOP.

        `given` is what a loader gives paths for when it runs the node. Without it, constants are what they hold.
        """
        found: set[Source] = set()
        seen = {(context, _node_name(name))}
        pending = list(seen)
        while pending:
            for step in self._before(*pending.pop(), given):
                self._steps += 1
                if self._steps > _MOST_STEPS:
                    return frozenset((Source(Origin.COMPUTED),))
                if isinstance(step, Source):
                    found.add(step)
                elif step not in seen:
                    seen.add(step)
                    pending.append(step)
        return frozenset(found)

    def _before(self, context: str, name: str, given: Set[Origin]) -> Iterator[Source | tuple[str, str]]:
        node = self._nodes_of(context).get(name)
        origin = self._given_by_loader(name) if context == TOP else None
        if origin is not None:
            yield Source(origin)
            if origin in given and (node is None or node.op in _FED):
                return
        if node is None:
            yield from self._argument(context, name)
        elif node.op in _SAME and node.input:
            yield context, _node_name(node.input[0])
            if node.op == "PlaceholderWithDefault":
                yield Source(Origin.CALLER)
        elif node.op in _CHOICES:
            yield Source(Origin.JOINED)
            yield from ((context, _node_name(name)) for name in node.input[1:3])
        elif node.op == "Pack":
            yield Source(Origin.JOINED)
            yield from ((context, _node_name(name)) for name in node.input if not name.startswith("^"))
        elif node.op in ("StringJoin", "ShardedFilename") and node.input:
            parts = node.input[1:] if node.op == "StringJoin" else ()  # the others are numbers
            stays = all(self._stays_inside(context, name) for name in parts if not name.startswith("^"))
            yield Source(Origin.JOINED if stays else Origin.COMPUTED)
            yield context, _node_name(node.input[0])
        elif node.op == "ReadVariableOp" and node.input and context == TOP:
            yield from self._assigned_sources(_node_name(node.input[0]))
        elif node.op in PLACEHOLDERS:
            yield Source(Origin.CALLER)
        elif node.op == "Const":
            yield from self._constant(node)
        else:
            yield Source(Origin.COMPUTED)

    def _given_by_loader(self, name: str) -> Origin | None:
        if name in self._own.assets:
            return Origin.ASSET
        return Origin.SAVER if name and name == self._own.saver_path else None

    def _stays_inside(self, context: str, name: str) -> bool:
        """Whether what is put behind a path is one of some constants, none of which leads up from there."""
        seen = {_node_name(name)}
        pending = list(seen)
        while pending:
            self._steps += 1
            node = self._nodes_of(context).get(pending.pop())
            if node is None or self._steps > _MOST_STEPS:
                return False
            if node.op == "Const":
                parts = _texts(node)
                if not parts or any(b".." in part for part in parts):
                    return False
                continue
            if node.op not in _CHOICES and not (node.op in _SAME and node.op != "PlaceholderWithDefault"):
                return False
            follow = node.input[1:3] if node.op in _CHOICES else node.input[:1]
            new = {_node_name(source) for source in follow} - seen
            seen |= new
            pending.extend(new)
        return True

    def _constant(self, node: NodeDef) -> Iterator[Source]:
        values = _texts(node)[:10]
        yield from (Source(Origin.CONSTANT, value.decode("utf-8", "replace")[:200]) for value in values)
        if not values:
            yield Source(Origin.CONSTANT, "?")

    def _assigned_sources(self, variable: str) -> Iterator[Source | tuple[str, str]]:
        """What a variable of the graph can hold: what is assigned to it there, if nobody else can reach it."""
        users = self._users.get(variable, [])
        handle = self._nodes_of(TOP).get(variable)
        is_known = handle is not None and handle.op == "VarHandleOp" and self._is_alone(handle)
        if not is_known or any(user.op not in _HARMLESS for user in users):
            yield Source(Origin.COMPUTED)
            return
        assigned = [user for user in users if user.op == "AssignVariableOp" and len(user.input) > 1]
        yield from ((TOP, _node_name(user.input[1])) for user in assigned)
        if not assigned:
            yield Source(Origin.COMPUTED)

    def _is_alone(self, handle: NodeDef) -> bool:
        """Whether this is the only node that gives a handle of its variable. A constant handle could be one of any
        variable, so then none is.
        """
        name = handle.attr["shared_name"].s or handle.name.encode()
        return self._handles.get(name, 0) == 1 and _ANY not in self._handles

    @cached_property
    def _users(self) -> dict[str, list[NodeDef]]:
        found: dict[str, list[NodeDef]] = {}
        for node in self._graph_def.node:
            for name in node.input:
                if not name.startswith("^"):
                    found.setdefault(_node_name(name), []).append(node)
        return found

    @cached_property
    def _handles(self) -> dict[bytes, int]:
        """How many handles there are of each variable."""
        found: dict[bytes, int] = {}
        bodies = [self._graph_def.node, *(function.node_def for function in self._graph_def.library.function)]
        for name in (name for body in bodies for node in body for name in _variables_given(node)):
            found[name] = found.get(name, 0) + 1
        return found

    # ------------------------------------------------------------------------------------------------- functions

    def _argument(self, context: str, name: str) -> Iterator[Source | tuple[str, str]]:
        """Where the argument of a function comes from: from all that call it."""
        positions = self._positions(context)
        index = positions.get(name)
        if index is None:
            yield Source(Origin.COMPUTED)
            return
        yield from self._captured_sources(context, index, len(positions))
        for caller, node in self._callers.get(context, ()):
            self._steps += len(node.input)
            inputs = [source for source in node.input if not source.startswith("^")]
            shift = 0 if node.op in _CALLS | _LOOPS or node.op == context else 1 if node.op in _BRANCHES else None
            if shift is None or index + shift >= len(inputs) or context not in _named_functions(node):
                yield Source(Origin.COMPUTED)
            else:
                yield caller, _node_name(inputs[index + shift])
            if node.op in _LOOPS:
                yield self._next_round(node, index)

    def _next_round(self, loop: NodeDef, index: int) -> Source | tuple[str, str]:
        """What the body of a loop gives for one of its arguments, which is that argument from the second round on."""
        body = self._functions.get(loop.attr["body"].func.name) if "body" in loop.attr else None
        results = body.signature.output_arg if body is not None else ()
        if body is None or index >= len(results) or results[index].name not in body.ret:
            return Source(Origin.COMPUTED)
        return body.signature.name, _node_name(body.ret[results[index].name])

    def _positions(self, context: str) -> dict[str, int]:
        """The position of each argument of a function, by name."""
        if context not in self._arguments:
            function = self._functions.get(context)
            listed = function.signature.input_arg if function is not None else ()
            self._arguments[context] = {argument.name: place for place, argument in enumerate(listed)}
        return self._arguments[context]

    def _captured_sources(self, function: str, index: int, count: int) -> Iterator[Source]:
        captures = (self._own.captures or {}).get(function)
        if captures is None:
            return
        at = index - (count - len(captures))
        yield Source(captures[at]) if at >= 0 else Source(Origin.CALLER)

    @cached_property
    def _functions(self) -> dict[str, FunctionDef]:
        return {function.signature.name: function for function in self._graph_def.library.function}

    @cached_property
    def _callers(self) -> dict[str, list[tuple[str, NodeDef]]]:
        found: dict[str, list[tuple[str, NodeDef]]] = {}
        bodies = [(TOP, self._graph_def.node), *((name, item.node_def) for name, item in self._functions.items())]
        for context, body in bodies:
            for node in body:
                for name in called_names(node):
                    if name in self._functions:
                        found.setdefault(name, []).append((context, node))
        return found

    def _nodes_of(self, context: str) -> dict[str, NodeDef]:
        if context not in self._nodes:
            body = self._graph_def.node if context == TOP else self._functions[context].node_def
            self._nodes[context] = {node.name: node for node in body}
        return self._nodes[context]


def _variables_given(node: NodeDef) -> Iterator[bytes]:
    """The names of the variables that a node gives handles of."""
    if node.op in _VARIABLES:
        yield (node.attr["shared_name"].s if "shared_name" in node.attr else b"") or node.name.encode()
    elif node.op == "_VarHandlesOp":
        yield from node.attr["shared_names"].list.s if "shared_names" in node.attr else (_ANY,)
    elif node.op == "Const" and "dtype" in node.attr and node.attr["dtype"].type == RESOURCE.number:
        yield _ANY


def _texts(node: NodeDef) -> Sequence[bytes]:
    """The strings that a constant holds; none if they cannot be seen. Bytes of content go before all else."""
    tensor = node.attr["value"].tensor if "value" in node.attr else TensorProto()
    return () if tensor.tensor_content else tensor.string_val


def _named_functions(node: NodeDef) -> set[str]:
    """The functions that a node itself calls, and not some that it hands on to those by their attributes."""
    functions = [reference.name for value in node.attr.values() for reference in (value.func, *value.list.func)]
    return {node.op, *functions}


def called_names(node: NodeDef) -> set[str]:
    """All names that a node may mean functions by: its op, and what its attributes refer to."""
    found = {node.op}
    pending = list(node.attr.values())
    while pending:
        value = pending.pop()
        kind = value.WhichOneof("value")
        references = [value.func] if kind == "func" else value.list.func if kind == "list" else ()
        for reference in references:
            found.add(reference.name)
            pending.extend(reference.attr.values())
    return found


def _node_name(tensor: str) -> str:
    return tensor.lstrip("^").partition(":")[0]
