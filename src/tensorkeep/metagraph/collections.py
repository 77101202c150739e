"""Collections as CollectionDef messages, in and out.

    node_list    tensors and operations by name, and all else that has a name: "op:0", "op"
    bytes_list   text and bytes; and serialized messages, if the collection's name is registered for one
    int64_list   whole numbers
    float_list   other numbers, as float32
    any_list     google.protobuf.Any

The first item decides. A registered collection holds objects that turn into a message and back: variables, branches,
loops, savers, queue runners. Whoever defines such objects registers them (`register_proto_function`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import AlreadyExistsError, DataLossError, TensorKeepError, WrongTypeError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.scopes import prepend_name_scope, strip_name_scope
from tensorkeep.proto.messages import (
    CollectionDef,
    Message,
    VariableDef,
    is_any,
    parse,
    private_any,
    public_any,
)

LOG: Final = logging.getLogger("tensorkeep")
UNBOUND_PREFIX: Final = "$unbound_inputs_"  # of the names of inputs from outside an exported scope

VARIABLE_COLLECTIONS: Final = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.CONCATENATED_VARIABLES,
    GraphKeys.TRAINABLE_RESOURCE_VARIABLES,
    GraphKeys.EMBEDDING_VARIABLES,
)
_ONCE_UNREGISTERED: Final = (GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.METRIC_VARIABLES)


@dataclass(frozen=True, slots=True)
class ProtoFunctions:
    """What the items of a collection are stored as, and how they become that and come back."""

    proto_type: type[Message] | None
    to_proto: Callable[..., Any] | None  # (item, export_scope=…), None for an item outside of the scope
    from_proto: Callable[..., Any] | None  # (message, import_scope=…), while the graph is being built


_REGISTRY: Final[dict[str, ProtoFunctions]] = {}
_NONE: Final = ProtoFunctions(None, None, None)


def register_proto_function(
    collection_name: str,
    proto_type: type[Message] | None = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Says how the items of a collection are stored in a meta graph. A name can be registered once."""
    for what, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function is not None and not callable(function):
            raise WrongTypeError(f"{what} must be callable.")
    if collection_name in _REGISTRY:
        raise AlreadyExistsError(f"Registering two proto functions with name '{collection_name}'!")
    _REGISTRY[collection_name] = ProtoFunctions(proto_type, to_proto, from_proto)


def proto_functions(collection_name: str) -> ProtoFunctions:
    """The functions registered for the items of a collection; all three are None if nothing was registered."""
    return _REGISTRY.get(collection_name, _NONE)


# ---------------------------------------------------------------------------------------------------- Out


def is_included(item: object, export_scope: str | None, excluded: Collection[str] = ()) -> bool:
    """Whether an item, or a text taken for a name, belongs to what is exported. What has no name does."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    if not isinstance(name, str):
        return True
    if name in excluded:
        return False
    return not export_scope or name.startswith((UNBOUND_PREFIX, export_scope))


def encode_collection(key: str, items: Sequence[Any], export_scope: str | None = None) -> CollectionDef | None:
    """The items as a message, without the scope that is exported; None, after a warning, if they cannot be stored."""
    proto = CollectionDef()
    try:
        if proto_functions(key).to_proto is not None:
            _encode_registered(key, items, export_scope, proto)
        else:
            _encode_plain(items, export_scope, proto)
    except Exception as error:  # of whatever kind: it comes from a class that the program may have defined
        LOG.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the items don't match field "
            "type in CollectionDef. Note this is a warning and probably safe to ignore.\n%s",
            key,
            error,
        )
        return None
    return proto


def _encode_registered(key: str, items: Iterable[Any], export_scope: str | None, proto: CollectionDef) -> None:
    functions = proto_functions(key)
    assert functions.to_proto is not None
    for item in items:
        message = functions.to_proto(item, export_scope=export_scope)
        if message is None:
            continue
        if functions.proto_type is not None and not isinstance(message, functions.proto_type):
            raise WrongTypeError(f"{item!r} gave a {type(message).__name__}, not a {functions.proto_type.__name__}")
        proto.bytes_list.value.append(message.SerializeToString())


def _encode_plain(items: Sequence[Any], export_scope: str | None, proto: CollectionDef) -> None:
    first = items[0]
    if isinstance(first, str | bytes):
        proto.bytes_list.value.extend(_as_bytes(item) for item in items)
    elif isinstance(first, int):
        proto.int64_list.value.extend(items)
    elif isinstance(first, float):
        proto.float_list.value.extend(items)
    elif is_any(first):
        proto.any_list.value.extend(private_any(item) for item in items)
    else:
        names = [item.name for item in items]
        proto.node_list.value.extend(
            strip_name_scope(name, export_scope) for name in names if not export_scope or name.startswith(export_scope)
        )


def _as_bytes(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if isinstance(item, bytes):
        return item
    raise WrongTypeError(f"Expected binary or unicode string, got {item!r}")


# ---------------------------------------------------------------------------------------------------- In


class CollectionDecoder:
    """Reads the collections of one meta graph whose nodes are in the graph already, below `scope`.

    A variable that is in several collections is one object: it is known by its bytes. `marks_trainable` is false for
    files that do not say of a variable whether it is trainable: then it is if it is in that collection, which has to
    be read first.
    """

    def __init__(self, graph: Graph, scope: str, *, marks_trainable: bool = True) -> None:
        self._graph = graph
        self._scope = scope
        self._marks_trainable = marks_trainable
        self._variables: dict[bytes, Any] = {}

    def decode(self, key: str, proto: CollectionDef) -> list[Any]:
        """The items of a collection; none, after a message to the log, if it does not say of what kind they are."""
        kind = proto.WhichOneof("kind")
        if kind is None:
            LOG.error("Cannot identify data type for collection %s. Skipping.", key)
            return []
        functions = proto_functions(key)
        if functions.from_proto is not None and kind == "bytes_list":
            make = self._variable if key in VARIABLE_COLLECTIONS else self._object
            return [make(key, value, functions) for value in proto.bytes_list.value]
        if key in _ONCE_UNREGISTERED:
            LOG.warning(
                "The saved meta_graph is possibly from an older release:\n'%s' collection should be of type "
                "'byte_list', but instead is of type '%s'.",
                key,
                kind,
            )
        return [self._plain(kind, value) for value in getattr(proto, kind).value]

    def _plain(self, kind: str, value: Any) -> Any:
        if kind == "node_list":
            return self._graph.element(prepend_name_scope(value, self._scope))
        if kind == "bytes_list":
            return _moved_text(value, self._scope)
        return public_any(value) if kind == "any_list" else value

    def _variable(self, key: str, value: bytes, functions: ProtoFunctions) -> Any:
        if value not in self._variables:
            proto = parse(VariableDef, value, f"collection '{key}'")
            if not self._marks_trainable:
                proto.trainable = key == GraphKeys.TRAINABLE_VARIABLES
            self._variables[value] = self._made_items(key, proto, functions)
        return self._variables[value]

    def _object(self, key: str, value: bytes, functions: ProtoFunctions) -> Any:
        if functions.proto_type is None:
            return self._made_items(key, value, functions)
        return self._made_items(key, parse(functions.proto_type, value, f"collection '{key}'"), functions)

    def _made_items(self, key: str, proto: Message | bytes, functions: ProtoFunctions) -> Any:
        assert functions.from_proto is not None
        try:
            return functions.from_proto(proto, import_scope=self._scope)
        except TensorKeepError:
            raise
        except (AssertionError, AttributeError, LookupError, TypeError) as error:
            # It names nodes that are not of the kinds that such an object has.
            raise DataLossError(f"collection '{key}': the graph has no such object as {proto!r}: {error}") from error


def _moved_text(value: bytes, scope: str) -> str | bytes:
    """A text below the scope, as if it were a name: as TensorFlow has it. Bytes that are no text stay as they are."""
    if not scope:
        return value
    try:
        return prepend_name_scope(value.decode(), scope)
    except UnicodeDecodeError:
        return value


__all__ = [
    "CollectionDecoder",
    "ProtoFunctions",
    "UNBOUND_PREFIX",
    "encode_collection",
    "is_included",
    "proto_functions",
    "register_proto_function",
]
