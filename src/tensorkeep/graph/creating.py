"""Operations made of an op's name, tensors and attributes as messages: what `Graph.create_op` is asked for.

Attributes that the tensors tell are worked out (how many there are, and of what types), others get their defaults, and
what is given may not contradict either, as in TensorFlow's node_def_builder.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import add
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import Attr, decode_attr
from tensorkeep.graph.messages.graph_def import check_inputs
from tensorkeep.graph.registry.opspec import OpSpec, find_op, get_op, spec_of_op_def
from tensorkeep.graph.registry.schema import ArgSchema, OpSchema
from tensorkeep.graph.undoing import all_or_nothing
from tensorkeep.proto.messages import AttrValue, Message, OpDef, parse, serialize


def create_operation(
    graph: Graph,
    op_type: str,
    inputs: Sequence[Tensor],
    name: str | None = None,
    attrs: Mapping[str, Any] | None = None,
    op_def: Message | None = None,
) -> Operation:
    """Adds an operation with tensors as its inputs, and AttrValue messages as its attributes.

    `op_def` says what an op is like that is not known here. If anything is wrong, nothing is added.
    """
    for i, tensor in enumerate(inputs):
        if not isinstance(tensor, Tensor):
            raise WrongTypeError(f"Input #{i} is not a tensor: {tensor!r}")
    given = {key: _decoded_attr(key, value) for key, value in (attrs or {}).items()}
    spec = _spec(op_type, op_def)
    complete = _completed_attrs(spec, inputs, given, name or op_type)
    with all_or_nothing(graph):
        op = add(spec, list(inputs), complete, name, graph)
        check_inputs(op)
    return op


def _spec(op_type: str, op_def: Message | None) -> OpSpec:
    found = find_op(op_type)
    if found is None and op_def is not None:
        return spec_of_op_def(parse(OpDef, serialize(op_def), "op_def"))
    return found if found is not None else get_op(op_type)


def _decoded_attr(key: str, value: Any) -> Attr:
    if getattr(getattr(value, "DESCRIPTOR", None), "full_name", None) != "tensorflow.AttrValue":
        raise WrongTypeError(f"the value of attribute '{key}' must be an AttrValue message, got {value!r}")
    return decode_attr(value if isinstance(value, AttrValue) else parse(AttrValue, serialize(value), key))


def _completed_attrs(spec: OpSpec, inputs: Sequence[Tensor], given: Mapping[str, Attr], name: str) -> dict[str, Attr]:
    told = _told_by_inputs(spec.schema, inputs, given)
    for key, value in told.items():
        if given.get(key, value) != value:
            raise InvalidArgumentError(
                f"Inconsistent values for attr '{key}' {_attr_text(value)} vs. {_attr_text(given[key])} while building "
                f"NodeDef '{name}' using Op<{spec.schema}>"
            )
    attrs = {**given, **told}
    for attr in spec.schema.attrs:
        if attr.name not in attrs:
            if not attr.has_default:
                raise InvalidArgumentError(
                    f"NodeDef missing attr '{attr.name}' from Op<{spec.schema}>; NodeDef: {name} = {spec.name}"
                )
            attrs[attr.name] = attr.default
    return attrs


def _told_by_inputs(schema: OpSchema, inputs: Sequence[Tensor], given: Mapping[str, Attr]) -> dict[str, Attr]:
    """The attributes that tensors tell: of each argument their number, and their type or types."""
    told: dict[str, Attr] = {}
    at = 0
    for position, arg in enumerate(schema.inputs):
        rest = len(inputs) - at - sum(not other.is_list for other in schema.inputs[position + 1 :])
        count = _count(arg, given, rest)
        dtypes = tuple(tensor.dtype.base_dtype for tensor in inputs[at : at + count])
        at += count
        if arg.number_attr:
            told.setdefault(arg.number_attr, count)
        if arg.type_list_attr:
            told.setdefault(arg.type_list_attr, dtypes)
        elif arg.type_attr and dtypes:
            told.setdefault(arg.type_attr, dtypes[0])
    if at != len(inputs):
        raise InvalidArgumentError(f"{len(inputs)} inputs specified, but {at} are expected by Op<{schema}>")
    return told


def _count(arg: ArgSchema, given: Mapping[str, Attr], rest: int) -> int:
    """How many tensors an argument takes: as many as are said, or all that are left for it."""
    if not arg.is_list:
        return 1
    if arg.number_attr in given:
        return int(given[arg.number_attr])
    if arg.type_list_attr in given:
        return len(given[arg.type_list_attr])
    return max(rest, 0)


def _attr_text(value: Attr) -> str:
    return str(getattr(value, "enum_name", value))
