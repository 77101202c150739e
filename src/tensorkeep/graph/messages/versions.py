"""How old a graph is: which program made it and which may read it, and nodes of older releases in today's form.

A VersionDef has three parts: the producer, the version of the program that made the graph, 0 if it says nothing;
the first consumer that may read it; and single consumers that may not. TensorFlow decides by the producer which ops
a graph may still have, so that a graph which is exported must not claim to be younger than its oldest nodes.

Nodes of DeepRec's older releases are brought into the form that its ops have today. The signatures in a meta graph's op
list say which form they have; without the list nothing is changed:

    2201      InitializeKvVariableOp and KvResourceImportV2 have an input `slotnum`, which is the attribute `slot_num`
    to 2204   their attribute `storage_size` is one number, and a list of numbers today
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import PRODUCER, Graph
from tensorkeep.proto.messages import GraphDef, NodeDef, OpDef, VersionDef
from tensorkeep.proto.tensors import array_of_tensor

_OPS: Final = ("InitializeKvVariableOp", "KvResourceImportV2")
_SLOT_INPUT: Final = "slotnum"
_SLOT_ATTRIBUTE: Final = "slot_num"
_SIZE: Final = "storage_size"


def versions_of(graph: Graph) -> VersionDef:
    """What a graph says of the programs that made it and that may read it."""
    return VersionDef(producer=graph.producer, min_consumer=graph.min_consumer, bad_consumers=graph.bad_consumers)


def merge_versions(graph: Graph, versions: VersionDef) -> None:
    """Merges the versions of imported nodes into a graph's: the older producer, the stricter demands on readers.

    As UpdateVersionDef in TensorFlow's graph_constructor.cc.
    """
    graph.producer = min(graph.producer, versions.producer)
    graph.min_consumer = max(graph.min_consumer, versions.min_consumer)
    if versions.bad_consumers:
        graph.bad_consumers = tuple(sorted({*graph.bad_consumers, *versions.bad_consumers}))


def check_versions(versions: VersionDef) -> None:
    """Sees that TensorFlow 2.21 may read a graph, in the words and the order of its CheckVersions."""
    if versions.producer < 0:
        raise InvalidArgumentError(
            f"GraphDef producer version {versions.producer} below min producer 0 supported by TensorFlow 2.21.0.  "
            "Please regenerate your graph."
        )
    if versions.min_consumer > PRODUCER:
        raise InvalidArgumentError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {PRODUCER} for TensorFlow "
            "2.21.0.  Please upgrade TensorFlow."
        )
    if PRODUCER in versions.bad_consumers:
        raise InvalidArgumentError(
            f"GraphDef disallows consumer version {PRODUCER}.  Please upgrade TensorFlow: this version is likely buggy."
        )


@dataclass(frozen=True, slots=True)
class _Form:
    """How the op of an older release differs from today's."""

    slot_input: int | None
    """Which of its inputs is the number of slots."""
    has_one_size: bool

    @classmethod
    def of(cls, op_def: OpDef) -> _Form:
        names = [argument.name for argument in op_def.input_arg]
        sizes = {attribute.name: attribute.type for attribute in op_def.attr}
        return cls(names.index(_SLOT_INPUT) if _SLOT_INPUT in names else None, sizes.get(_SIZE) == "int")

    @property
    def is_todays(self) -> bool:
        return self.slot_input is None and not self.has_one_size


def bring_up_to_date(graph_def: GraphDef, producer: Mapping[str, OpDef]) -> None:
    """Changes the nodes of a message whose ops had another form in the release that wrote it.

    The number of slots has to be a constant, as DeepRec makes it.
    """
    forms = {name: _Form.of(producer[name]) for name in _OPS if name in producer}
    forms = {name: form for name, form in forms.items() if not form.is_todays}
    if not forms:
        return
    constants = {node.name: node for node in graph_def.node if node.op == "Const"}
    for node in graph_def.node:
        if node.op in forms:
            _change(node, forms[node.op], constants)


def _change(node: NodeDef, form: _Form, constants: Mapping[str, NodeDef]) -> None:
    if form.slot_input is not None:
        taken = node.input[form.slot_input]
        source = constants.get(taken.removesuffix(":0"))
        if source is None:
            raise InvalidArgumentError(
                f'"{node.name}", a {node.op} of an early release of DeepRec, takes its number of slots from "{taken}", '
                "expected a constant: today's op has it as an attribute"
            )
        node.attr[_SLOT_ATTRIBUTE].i = int(array_of_tensor(source.attr["value"].tensor).reshape(-1)[0])
        del node.input[form.slot_input]
    if form.has_one_size and _SIZE in node.attr:
        size = node.attr[_SIZE].i
        node.attr[_SIZE].list.i[:] = [size]
