"""Hashes of the parts of a meta graph as TensorFlow puts them in fingerprints: without what differs from run to run.

Names of functions end in a number that counts the functions of the process that made them, as in
"__inference_call_42". Such numbers are left out where functions are called by name, and order the functions where they
are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.graph.functions import function_number
from tensorkeep.proto.messages import GraphDef, NodeDef, SavedObjectGraph, SignatureDef
from tensorkeep.saved_model.files.canonical_bytes import canonical_bytes
from tensorkeep.saved_model.files.long_hashes import fingerprint64, joined_fingerprints

_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_STRING: Final = DType.of("string").number


class UnhashableError(Exception):
    """There is no hash: a part is one that only a later version knows, or a function has no number of its own."""


def program_hash(graph_def: GraphDef) -> int:
    """The hash of the nodes of a graph. Its functions do not count, nor do the values of constant strings."""
    copy = GraphDef()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        _regularize(node)
    copy.library.Clear()  # empty from now on, but there
    copy.versions.Clear()
    return fingerprint64(_bytes(copy))


def signatures_hash(signatures: Mapping[str, SignatureDef]) -> int:
    """The hash of all signatures with their names."""
    found = 0
    for name in sorted(signatures):
        found = joined_fingerprints(found, fingerprint64(name.encode()))
        found = joined_fingerprints(found, fingerprint64(_bytes(signatures[name])))
    return found


def objects_hash(objects: SavedObjectGraph) -> int:
    """The hash of the functions that an object graph leads to, in the order of their numbers."""
    numbered: dict[int, str] = {}
    for name in sorted(objects.concrete_functions):
        number = function_number(name)
        if number is None or number in numbered:
            raise UnhashableError(f'the name of the function "{name}" does not end in a number of its own')
        numbered[number] = name
    found = 0
    for number, name in sorted(numbered.items()):
        found = joined_fingerprints(found, fingerprint64(name.removesuffix(str(number)).encode()))
        found = joined_fingerprints(found, fingerprint64(_bytes(objects.concrete_functions[name])))
    return found


def _regularize(node: NodeDef) -> None:
    if node.op in _CALLS and "f" in node.attr:
        function = node.attr["f"].func
        number = function_number(function.name)
        if number is not None:
            function.name = function.name.removesuffix(str(number))
        if "config_proto" in node.attr:
            node.attr["config_proto"].s = b""
    if node.op == "Const" and node.attr["dtype"].type == _STRING:
        node.attr["value"].Clear()


def _bytes(message: Any) -> bytes:
    data = canonical_bytes(message)
    if data is None:
        raise UnhashableError("a message has fields that are not known here")
    return data
