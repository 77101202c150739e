"""What ops do besides computing: the one table, which sessions, loaded models and `scan` all ask.

Every op of TensorFlow and DeepRec is classed by hand, with a reason, in one of three lists:

    computing_ops.py    outputs follow from inputs and attributes alone
    stateful_ops.py     keep state in memory, draw from chance, run functions of the graph
    effect_ops.py       do more, by class

A few ops do more only if an attribute says so, which is said here. An op of somebody else's is what was stated when it
was registered; without a statement it is code about which nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.computing_ops import COMPUTING_OPS
from tensorkeep.graph.registry.effect_ops import EFFECT_GROUPS, Capability
from tensorkeep.graph.registry.known_ops import KNOWN_OPS
from tensorkeep.graph.registry.op_families import OP_FAMILIES
from tensorkeep.graph.registry.stateful_ops import STATEFUL_OPS
from tensorkeep.proto.messages import AttrValue, NodeDef

_NOTHING: Final[frozenset[Capability]] = frozenset()
UNKNOWN_CODE: Final = frozenset((Capability.RUNS_UNKNOWN_CODE,))
_STATED: Final[dict[str, frozenset[Capability]]] = {}
"""What programs have said of ops of their own."""


@cache
def _table() -> dict[str, frozenset[Capability]]:
    only_computing = (names for groups in (COMPUTING_OPS, STATEFUL_OPS) for names in groups.values())
    classed = {name: _NOTHING for names in only_computing for name in names.split()}
    classed.update((name, frozenset(group.capabilities)) for group in EFFECT_GROUPS for name in group.names.split())
    return classed


@cache
def tensorflow_ops() -> frozenset[str]:
    """The names of all ops of TensorFlow and DeepRec."""
    known = (line.partition("(")[0] for line in KNOWN_OPS.splitlines() if line)
    return frozenset(known).union(*(names.split() for names in OP_FAMILIES.values()))


def classed_ops() -> Mapping[str, frozenset[Capability]]:
    """The table: what each op does, whatever its attributes."""
    return _table()


def state_capabilities(name: str, needs: Capability | Iterable[Capability] | None) -> None:
    """Says what an op of one's own does: some classes, none if it only computes, or None if that is not known.

    InvalidArgumentError for an op of TensorFlow that is not in the table, and for a statement about one that is.
    """
    if name in _table():
        if needs is not None:
            raise InvalidArgumentError(
                f"{name} is an op of TensorFlow: what it does is said in tensorkeep's table of capabilities, not where "
                "it is registered"
            )
    elif name in tensorflow_ops():
        raise InvalidArgumentError(
            f"{name} is an op of TensorFlow that has no capability class: add it to graph/registry/computing_ops.py or "
            "graph/registry/stateful_ops.py if it only computes, else to graph/registry/effect_ops.py"
        )
    else:
        listed = (needs,) if isinstance(needs, Capability) else needs
        _STATED[name] = UNKNOWN_CODE if listed is None else frozenset(listed)


def capabilities_of_op(name: str) -> frozenset[Capability]:
    """What an op does besides computing, whatever its attributes; `UNKNOWN_CODE` if nothing says what it does."""
    capabilities = _table().get(name)
    return _STATED.get(name, UNKNOWN_CODE) if capabilities is None else capabilities


def asked_attributes(name: str) -> frozenset[str]:
    """The attributes that say whether an op does more than the table says of it."""
    by_attribute = _BY_ATTRIBUTE.get(name)
    return frozenset() if by_attribute is None else frozenset(by_attribute.names)


def possible_capabilities(name: str) -> frozenset[Capability]:
    """What an op does if its attributes make it do all they can."""
    by_attribute = _BY_ATTRIBUTE.get(name)
    return capabilities_of_op(name) | (_NOTHING if by_attribute is None else by_attribute.most)


def capabilities_with(name: str, attribute: Callable[[str], object]) -> frozenset[Capability]:
    """What an op does besides computing, given its attributes: `attribute(name)` is one, None if absent."""
    by_attribute = _BY_ATTRIBUTE.get(name)
    if by_attribute is None:
        return capabilities_of_op(name)
    return capabilities_of_op(name) | frozenset(by_attribute.found(attribute))


def capabilities_of_node(node: NodeDef) -> frozenset[Capability]:
    """What a node does with its attributes; what a caller is to put in place of an attribute could be anything."""
    by_attribute = _BY_ATTRIBUTE.get(node.op)
    given = [name for name in by_attribute.names if name in node.attr] if by_attribute is not None else ()
    if any(node.attr[name].WhichOneof("value") == "placeholder" for name in given):
        return possible_capabilities(node.op)
    return capabilities_with(node.op, lambda name: _plain(node.attr[name]) if name in node.attr else None)


def _plain(value: AttrValue) -> object:
    kind = value.WhichOneof("value")
    return list(value.list.s) if kind == "list" else None if kind is None else getattr(value, kind)


@dataclass(frozen=True)
class Allowed:
    """What somebody is allowed: classes of things, and types of operations with all that these do."""

    classes: frozenset[Capability] = frozenset()
    operations: frozenset[str] = frozenset()

    def lacking(self, operation: str, capabilities: frozenset[Capability]) -> Capability | None:
        """The first of an operation's capabilities that is not allowed; None if all are."""
        if capabilities <= self.classes or operation in self.operations:
            return None
        return min(capabilities - self.classes, key=lambda capability: capability.name)


# ------------------------------------------------------------------------------------------------------ by attributes


@dataclass(frozen=True)
class _ByAttribute:
    """What some ops do depending on their attributes: the names of these attributes, a function of their values, and
    all that the ops could do.
    """

    names: tuple[str, ...]
    found: Callable[[Callable[[str], object]], Iterator[Capability]]
    most: frozenset[Capability]


def _strings(value: object) -> list[str]:
    """The strings of an attribute that is one or a list of them, without empty ones."""
    items: Iterable[object] = value if isinstance(value, list | tuple) else () if value is None else (value,)
    texts = (item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item) for item in items)
    return [text for text in texts if text]


def _destination(url: str) -> Capability | None:
    """What it takes to send to an address; None for one in memory. Schemes may be in capitals, as in TensorFlow."""
    lowered = url.lower()
    if any(scheme in lowered for scheme in ("grpc://", "http://", "https://")):
        return Capability.USES_NETWORK
    return None if lowered.startswith("memcbk://") else Capability.WRITES_FILES


def _debugger_capabilities(attribute: Callable[[str], object]) -> Iterator[Capability]:
    """What an op of the debugger does: it sends what it sees to the addresses in its attributes."""
    urls = _strings(attribute("debug_urls"))
    for specification in _strings(attribute("debug_ops_spec")):
        urls += specification.split(";")[1:2]
    yield from (capability for url in urls if (capability := _destination(url)) is not None)


def _printing_capabilities(attribute: Callable[[str], object]) -> Iterator[Capability]:
    if any(stream.startswith("file:") for stream in _strings(attribute("output_stream"))):
        yield Capability.WRITES_FILES


def _parsing_capabilities(attribute: Callable[[str], object]) -> Iterator[Capability]:
    """What an op that parses messages does: it reads their description from a file, unless the attribute holds it or
    names our own.
    """
    if any(not source.startswith(("local://", "bytes://")) for source in _strings(attribute("descriptor_source"))):
        yield Capability.READS_FILES


def _sampling_capabilities(attribute: Callable[[str], object]) -> Iterator[Capability]:
    if _strings(attribute("vocab_file")):
        yield Capability.READS_FILES


STORED_IN_FILES: Final = frozenset((4, 5, 12, 14, 101, 102))
"""The kinds of storage of an embedding variable that keep rows in a file."""
_MAPPED_TO_FILES: Final = frozenset((3, 11))
"""Those on persistent memory, for which DeepRec maps a file at `storage_path` (`experimental_pmem_allocator`)."""


def _storage_capabilities(attribute: Callable[[str], object]) -> Iterator[Capability]:
    """What the initializer of an embedding variable does: with some storage types it keeps rows in a file, in a folder
    that the attributes name.
    """
    if attribute("storage_type") in STORED_IN_FILES | _MAPPED_TO_FILES:
        yield Capability.WRITES_FILES


_READS: Final = frozenset((Capability.READS_FILES,))
_WRITES: Final = frozenset((Capability.WRITES_FILES,))
_DEBUGGED: Final = _ByAttribute(
    ("debug_urls", "debug_ops_spec"), _debugger_capabilities, _WRITES | {Capability.USES_NETWORK}
)
_BY_ATTRIBUTE: Final[dict[str, _ByAttribute]] = {
    **dict.fromkeys(("Copy", "CopyHost"), _DEBUGGED),
    **dict.fromkeys(("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3", "DebugNanCount"), _DEBUGGED),
    "DebugNumericSummary": _DEBUGGED,
    "PrintV2": _ByAttribute(("output_stream",), _printing_capabilities, _WRITES),
    **dict.fromkeys(
        ("DecodeProtoV2", "EncodeProto"), _ByAttribute(("descriptor_source",), _parsing_capabilities, _READS)
    ),
    "FixedUnigramCandidateSampler": _ByAttribute(("vocab_file",), _sampling_capabilities, _READS),
    **dict.fromkeys(
        ("InitializeKvVariableOp", "InitializeKvVariableV2Op", "KvResourceImportV2"),
        _ByAttribute(("storage_type",), _storage_capabilities, _WRITES),
    ),
}


__all__ = [
    "STORED_IN_FILES",
    "UNKNOWN_CODE",
    "Allowed",
    "Capability",
    "asked_attributes",
    "capabilities_of_node",
    "capabilities_of_op",
    "capabilities_with",
    "classed_ops",
    "possible_capabilities",
    "state_capabilities",
    "tensorflow_ops",
]
