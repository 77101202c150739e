"""The nodes and functions of a graph that is being frozen, and what a change does to one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.dtypes import RESOURCE
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.proto.messages import AttrValue, FunctionDef, NameAttrList, NodeDef, TensorProto


@dataclass(frozen=True)
class Calling:
    """How an op calls functions: what comes before their arguments, which attributes name types and functions."""

    before: int
    types: str
    functions: tuple[str, ...]


_BRANCHES: Final = Calling(1, "Tin", ("then_branch", "else_branch"))
LOOP: Final = Calling(0, "T", ("body", "cond"))
_CALL: Final = Calling(0, "Tin", ("f",))
_CASES: Final = Calling(1, "Tin", ("branches",))
CALLERS: Final = {
    "If": _BRANCHES,
    "StatelessIf": _BRANCHES,
    "While": LOOP,
    "StatelessWhile": LOOP,
    "PartitionedCall": _CALL,
    "StatefulPartitionedCall": _CALL,
    "Case": _CASES,
    "StatelessCase": _CASES,
}
BY_NAME: Final = Calling(0, "", ())  # a node whose op is the function
FOR_RESOURCES: Final = frozenset(("StatelessCase",))  # with which TensorFlow does not bother when given plain values
PASSING_ON: Final = frozenset(("Enter", "Exit", "Identity", "NextIteration", "Switch", "_SwitchN"))
REFERENCES: Final = frozenset(("RefEnter", "RefExit", "RefIdentity", "RefNextIteration", "RefSwitch", "RefMerge"))
_DECIDED: Final = frozenset(("Switch", "_SwitchN", "RefSwitch"))  # by their second input, which they do not pass on


@dataclass(frozen=True)
class Constant:
    """A variable on its way to being a constant."""

    name: str
    dtype: int
    value: TensorProto


@dataclass(frozen=True)
class Edge:
    """A use of an output of a node, or of an argument of a function."""

    output: int
    consumer: Node | Function | Result
    index: int


@dataclass(eq=False)
class Node:
    """A node, of the graph or of a function."""

    proto: NodeDef
    op: str  # as it was at first
    function: Function | None
    uses: list[Edge] = field(default_factory=list)
    is_rewritten: bool = False  # an op on a variable that is one on a value now, or a call with one

    @property
    def text(self) -> str:
        return f"'{self.proto.name}'" + (f" of function '{self.function.name}'" if self.function else "")


@dataclass(eq=False)
class Result:
    """A result of a function."""

    function: Function
    name: str


@dataclass(eq=False)
class Function:
    """A function of the library."""

    proto: FunctionDef
    name: str  # as it was at first
    nodes: dict[str, Node] = field(default_factory=dict)
    arguments: list[list[Edge]] = field(default_factory=list)
    original: FunctionDef | None = None  # if it was changed

    def change(self) -> FunctionDef:
        if self.original is None:
            self.original = FunctionDef()
            self.original.CopyFrom(self.proto)
        return self.proto


# ------------------------------------------------------------------------------------------------------------- nodes

# What an op on a variable becomes, and the name of its output if that becomes another one ("output").
REWRITES: Final = {
    "ReadVariableOp": ("Identity", "value"),
    "ResourceGather": ("GatherV2", ""),
    "ResourceGatherNd": ("GatherNd", ""),
    "VariableShape": ("Shape", ""),
    "VarIsInitializedOp": ("Const", "is_initialized"),
    "IsVariableInitialized": ("Const", "is_initialized"),
}
# The attributes of what it becomes, and where they come from.
ATTRS: Final[dict[str, dict[str, str]]] = {
    "Identity": {"T": "dtype"},
    "GatherV2": {"Tparams": "dtype", "Tindices": "Tindices", "Taxis": "Tindices"},
    "GatherNd": {"Tparams": "dtype", "Tindices": "Tindices"},
    "Shape": {"out_type": "out_type"},
}


def make_constant(node: NodeDef, name: str, dtype: int, value: TensorProto) -> None:
    node.name, node.op = name, "Const"
    node.attr["dtype"].type = dtype
    node.attr["value"].tensor.CopyFrom(value)


def pass_on(node: Node, index: int, constant: Constant) -> Iterable[Edge]:
    """Changes a node that passes its input `index` on, which is now a value; gives the edges that the value goes to."""
    proto = node.proto
    if index and node.op in _DECIDED:
        return ()
    if node.op in ("Merge", "IdentityN"):
        types = proto.attr["T"].list.type
        before = proto.attr["T"].type if node.op == "Merge" else types[index] if index < len(types) else 0
        if before != RESOURCE.number:
            return ()  # a plain value
    set_type(node, "T", index if node.op == "IdentityN" else 0, constant.dtype)
    if "_output_shapes" in proto.attr:
        del proto.attr["_output_shapes"]
    if node.op in REFERENCES:
        proto.op = node.op.removeprefix("Ref")
    if node.op == "IdentityN":
        return [edge for edge in node.uses if edge.output == index]
    return [edge for edge in node.uses if edge.output == 0 or not node.op.endswith("Merge")]


def set_type(node: Node, attr: str, index: int, dtype: int) -> None:
    value = node.proto.attr[attr]
    if value.HasField("list") and index < len(value.list.type):
        value.list.type[index] = dtype
    elif value.HasField("type") and index == 0:
        value.type = dtype
    else:
        size = len(value.list.type) if value.HasField("list") else int(value.HasField("type"))
        raise InvalidArgumentError(
            f"`index` {index} is out of range for node({node.proto.name}).attr({attr}), which has {size} elements."
        )


def needs_variable(node: Node, index: int) -> bool:
    """Whether an input of the node is a variable, and not its value."""
    spec = find_op(node.op)
    at = 0
    for arg in spec.schema.inputs if spec is not None else ():
        listed = node.proto.attr.get(arg.number_attr or arg.type_list_attr)
        size = 1
        if arg.is_list:
            size = 0 if listed is None else listed.i if arg.number_attr else len(listed.list.type)
        if at <= index < at + size:
            if arg.type_list_attr and listed is not None:
                return listed.list.type[index - at] == RESOURCE.number
            return arg.is_ref or arg.dtype is RESOURCE
        at += size
    return False


def rename_output(node: Node, old: str) -> None:
    """Has all that take the output `old` of a node in a function's body take its output "output": they go by name."""
    for edge in node.uses:
        if isinstance(edge.consumer, Result):
            ret = edge.consumer.function.proto.ret
            ret[edge.consumer.name] = _with_output(ret[edge.consumer.name], old)
        elif isinstance(edge.consumer, Node):
            inputs = edge.consumer.proto.input
            inputs[edge.index] = _with_output(inputs[edge.index], old)


def _with_output(written: str, old: str) -> str:
    parts = written.split(":")
    if len(parts) > 1 and parts[1] == old:
        parts[1] = "output"
    return ":".join(parts)


def output_index(written: str) -> int:
    last = written.rpartition(":")[2] if ":" in written else ""
    return int(last) if last.isascii() and last.isdigit() else 0


# --------------------------------------------------------------------------------------------------------- functions


def functions_of(node: NodeDef, attrs: Sequence[str] = ()) -> list[NameAttrList]:
    """The functions that attributes of a node name: some of them, in this order, or all."""
    found: list[NameAttrList] = []
    for name in [name for name in attrs if name in node.attr] if attrs else sorted(node.attr):
        value: AttrValue = node.attr[name]
        if value.HasField("func"):
            found.append(value.func)
        elif value.HasField("list"):
            found.extend(value.list.func)
    return found


def argument_type(function: Function, index: int) -> int:
    """The type that an argument had at first."""
    arguments = (function.original or function.proto).signature.input_arg
    return arguments[index].type if index < len(arguments) else 0


def result_type(function: Function, index: int) -> int:
    """The type that a result had at first."""
    return (function.original or function.proto).signature.output_arg[index].type


def takes(function: FunctionDef, types: Sequence[int]) -> bool:
    arguments = function.signature.input_arg
    return len(arguments) == len(types) and all(
        arg.type in (0, dtype) for arg, dtype in zip(arguments, types, strict=True)
    )


def forget_shape(value: AttrValue, index: int) -> None:
    if index < len(value.list.shape):
        shape = value.list.shape[index]
        shape.unknown_rank = True
        del shape.dim[:]


def name_parts(name: str) -> tuple[int, str, str]:
    """The number at the end of a function's name (-1 if it has none), what comes before it, and the whole."""
    base, _, number = name.rpartition("_")
    return (int(number), base, name) if base and number.isnumeric() and number.isascii() else (-1, name, name)
