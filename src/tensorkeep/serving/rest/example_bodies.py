"""Bodies of classify and regress requests: JSON objects of features, as serialized `tf.Example` messages."""

from __future__ import annotations

from dataclasses import dataclass

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.json_tape import MIXED, JsonLimits, Kind
from tensorkeep.proto.messages import Example, Feature
from tensorkeep.serving.rest.json_values import JsonDocument, read_document
from tensorkeep.serving.rest.predict_bodies import signature_name

_FLOAT, _INT64, _BYTES = "float", "int64", "bytes"


@dataclass(frozen=True, slots=True)
class ExamplesBody:
    """What a body asks for."""

    signature: str
    examples: list[bytes]
    context: bytes


def read_examples_body(data: bytes | bytearray | memoryview, limits: JsonLimits) -> ExamplesBody:
    """Reads a body; InvalidArgumentError if it is not what it should be."""
    document = read_document(data, limits)
    signature = signature_name(document)
    context = document.member(0, b"context")
    serialized = b"" if context is None else _example(document, context, "Context")
    examples = document.member(0, b"examples")
    if examples is None:
        raise InvalidArgumentError(
            f"JSON Value: {document.text(0)} When method is classify, key 'examples' is expected and was not found"
        )
    if not document.is_list(examples):
        raise InvalidArgumentError("Expecting 'examples' value to be an list/array")
    if not document.count(examples):
        raise InvalidArgumentError("'examples' value is an empty array")
    if document.kind(examples) == Kind.NUMBERS:
        raise _no_object("Example", "Number" if len(document.shape(examples)) == 1 else "Array")
    return ExamplesBody(
        signature, [_example(document, element, "Example") for element in document.elements(examples)], serialized
    )


def _no_object(what: str, type_name: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{what} must be JSON object but got JSON {type_name}")


def _example(document: JsonDocument, node: int, what: str) -> bytes:
    if not document.is_object(node):
        raise _no_object(what, document.type_name(node))
    message = Example()
    for key, value in document.members(node):
        name = key.decode("utf-8", "replace")
        _fill(message.features.feature[name], document, value, name)
    return message.SerializeToString()


def _fill(feature: Feature, document: JsonDocument, node: int, name: str) -> None:
    if document.kind(node) == Kind.NUMBERS:
        _fill_numbers(feature, document, node, name)
        return
    kind = ""
    elements = document.elements(node) if document.kind(node) == Kind.LIST else (node,)
    for element in elements:
        found, value = _element(document, element, name)
        if kind and found != kind:
            raise InvalidArgumentError(f"Unexpected element type in feature: {name} expecting type: {kind}")
        kind = found
        if isinstance(value, bytes):
            feature.bytes_list.value.append(value)
        elif kind == _FLOAT:
            feature.float_list.value.append(value)
        else:
            feature.int64_list.value.append(int(value))


def _fill_numbers(feature: Feature, document: JsonDocument, node: int, name: str) -> None:
    if len(document.shape(node)) > 1:
        raise InvalidArgumentError(f"Feature: {name} has element with unexpected JSON type: Array")
    flat = document.flat_numbers(node)
    head = int(document.nodes(node)[0, 0])
    if head & MIXED:
        first = _INT64 if head >> 24 else _FLOAT
        raise InvalidArgumentError(f"Unexpected element type in feature: {name} expecting type: {first}")
    if document.has_floats(node):
        feature.float_list.value.extend(flat.tolist())
    elif flat.size:
        feature.int64_list.value.extend(flat.tolist())


def _element(document: JsonDocument, node: int, name: str) -> tuple[str, int | float | bytes]:
    """One value of a feature, and which list it belongs in."""
    kind = document.kind(node)
    if kind == Kind.FLOAT:
        return _FLOAT, document.number(node)
    if kind == Kind.UINT:
        raise InvalidArgumentError(f"Feature: {name} has uint64_t element. Only int64_t is supported.")
    if kind == Kind.INT:
        return _INT64, document.number(node)
    if kind in (Kind.FALSE, Kind.TRUE):
        return _INT64, int(kind == Kind.TRUE)
    if document.is_string(node):
        return _BYTES, document.string(node)
    if document.is_base64(node):
        return _BYTES, document.base64(node)
    raise InvalidArgumentError(f"Feature: {name} has element with unexpected JSON type: {document.type_name(node)}")
