"""Bodies of predict requests: JSON in rows ("instances") or in columns ("inputs"), as arrays by the signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.native.json_tape import JsonLimits, Kind
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.serving.rest.json_arrays import array_of, offence, regular_array, rows_array
from tensorkeep.serving.rest.json_values import JsonDocument, read_document
from tensorkeep.serving.statuses import code_name, code_of

Arrays = dict[str, Array]
Types = Mapping[str, DType]

_PER_TENSORINFO: Final = "as multiple input tensors required as per tensorinfo_map"


@dataclass(frozen=True, slots=True)
class PredictBody:
    """A body that has been read, before it is known what the signature wants of it."""

    document: JsonDocument
    signature: str

    def arrays(self, signature_def: SignatureDef) -> tuple[Arrays, bool]:
        """The inputs of the signature by name, and whether they came in rows."""
        types = {alias: DType.of(info.dtype) for alias, info in signature_def.inputs.items()}
        if not types:
            raise InvalidArgumentError(f"Failed to get input map for signature: {self.signature or 'DEFAULT'}")
        members = dict(self.document.members(0))
        instances, inputs = members.get(b"instances"), members.get(b"inputs")
        if instances is not None and inputs is not None:
            raise InvalidArgumentError(
                f"JSON Value: {self.document.text(0)} Not formatted correctly expecting only one of 'inputs' or "
                "'instances' keys to exist "
            )
        if instances is not None:
            return row_arrays(self.document, instances, types), True
        if inputs is not None:
            return column_arrays(self.document, inputs, types, signature_def.defaults), False
        raise InvalidArgumentError("Missing 'inputs' or 'instances' key")


def read_predict_body(data: bytes | bytearray | memoryview, limits: JsonLimits) -> PredictBody:
    """Reads a body; InvalidArgumentError if it is no JSON object."""
    document = read_document(data, limits)
    return PredictBody(document, signature_name(document))


def signature_name(document: JsonDocument) -> str:
    """The name of the signature that a body asks for, or an empty text."""
    node = document.member(0, b"signature_name")
    if node is None:
        return ""
    if not document.is_string(node):
        raise InvalidArgumentError(
            f"JSON Value: {document.text(0)} not formatted correctly. 'signature_name' key must be a string value."
        )
    return document.string(node).decode("utf-8", "replace")


# ------------------------------------------------------------------------------------------------------------ Columns


def column_arrays(document: JsonDocument, node: int, types: Types, defaults: Mapping[str, object]) -> Arrays:
    """The inputs of a body that has each of them whole."""
    if not document.is_object(node) or document.is_base64(node):
        if len(types) > 1:
            raise InvalidArgumentError(f"inputs is a plain value/list, but expecting an object {_PER_TENSORINFO}")
        ((alias, dtype),) = types.items()
        return {alias: array_of(document, node, dtype)}
    given = {key.decode("utf-8", "replace"): value for key, value in document.members(node)}
    found: Arrays = {}
    for alias, dtype in types.items():
        if alias in given:
            found[alias] = array_of(document, given[alias], dtype)
        elif alias not in defaults:
            raise InvalidArgumentError(f"Missing named input: {alias} in 'inputs' object.")
    return found


# --------------------------------------------------------------------------------------------------------------- Rows


def row_arrays(document: JsonDocument, node: int, types: Types) -> Arrays:
    """The inputs of a body that has a value or an object for each row."""
    if not document.is_list(node):
        raise InvalidArgumentError("Expecting 'instances' to be an list/array")
    count = document.count(node)
    if not count:
        raise InvalidArgumentError("No values in 'instances' array")
    if document.kind(node) == Kind.LIST and _is_row_object(document, node + 1):
        return _alike_objects(document, node, types) or _objects_one_by_one(document, node, types)
    if len(types) > 1:
        raise InvalidArgumentError(f"instances is a plain list, but expecting list of objects {_PER_TENSORINFO}")
    ((alias, dtype),) = types.items()
    found = regular_array(document, node, dtype)
    return {alias: found if found is not None else _values_one_by_one(document, node, dtype)}


def _is_row_object(document: JsonDocument, node: int) -> bool:
    return document.is_object(node) and not document.is_base64(node)


def _alike_objects(document: JsonDocument, node: int, types: Types) -> Arrays | None:
    """The inputs, if all objects have the same keys in the same order, and values that are alike."""
    count, nodes = document.count(node), document.nodes(node)[1:]
    if len(nodes) % count:
        return None
    rows = nodes.reshape(count, -1, 2)
    if np.any(rows[:, 0] != rows[0, 0]) or int(rows[0, 0, 1]) != rows.shape[1] - 1:
        return None
    members = {key.decode("utf-8", "replace"): value - node - 1 for key, value in document.members(node + 1)}
    if members.keys() != types.keys():
        return None
    found: Arrays = {}
    for alias, start in members.items():
        end = start + document.size(node + 1 + start)
        if np.any(rows[:, start - 1] != rows[0, start - 1]):
            return None
        array = rows_array(document, rows[:, start:end], types[alias])
        if array is None:
            return None
        found[alias] = array
    return found


def _objects_one_by_one(document: JsonDocument, node: int, types: Types) -> Arrays:
    pieces: dict[str, list[Array]] = {alias: [] for alias in types}
    for index, element in enumerate(document.elements(node)):
        if not _is_row_object(document, element):
            raise InvalidArgumentError(f"Expecting object but got list at item {index} of input list")
        if document.count(element) != len(types):
            raise InvalidArgumentError(
                f"Failed to process element: {index} of 'instances' list. JSON object: {document.text(element)} "
                f"keys must be equal to: {','.join(sorted(types))}"
            )
        for key, value in document.members(element):
            alias = key.decode("utf-8", "replace")
            try:
                if alias not in types:
                    raise InvalidArgumentError(f"JSON object: does not have named input: {alias}")
                _add(pieces[alias], array_of(document, value, types[alias]))
            except TensorKeepError as error:
                raise _in_row(error, index, f" key: {alias}") from None
    return {alias: _stacked_rows(arrays, types[alias]) for alias, arrays in pieces.items()}


def _values_one_by_one(document: JsonDocument, node: int, dtype: DType) -> Array:
    if document.kind(node) == Kind.NUMBERS:
        place, wrong = offence(document, node, dtype)
        raise _in_row(wrong, place // prod(document.shape(node)[1:]))
    pieces: list[Array] = []
    for index, element in enumerate(document.elements(node)):
        if _is_row_object(document, element):
            raise InvalidArgumentError(f"Expecting value/list but got object at item {index} of input list")
        try:
            _add(pieces, array_of(document, element, dtype))
        except TensorKeepError as error:
            raise _in_row(error, index) from None
    return _stacked_rows(pieces, dtype)


def _add(pieces: list[Array], array: Array) -> None:
    """Adds a row, which must have the shape of the first one."""
    if pieces and array.size != pieces[0].size:
        raise InvalidArgumentError(f"Expecting tensor size: {pieces[0].size} but got: {array.size}")
    if pieces and array.shape != pieces[0].shape:
        raise InvalidArgumentError(f"Expecting shape {_shape_text(pieces[0])} but got: {_shape_text(array)}")
    pieces.append(array)


def _shape_text(array: Array) -> str:
    return f"[{','.join(map(str, array.shape))}]"


def _stacked_rows(pieces: list[Array], dtype: DType) -> Array:
    found = np.empty((len(pieces), *pieces[0].shape), dtype.array_dtype)
    for index, piece in enumerate(pieces):
        found[index] = piece if piece.ndim else piece[()]
    return found


def _in_row(error: TensorKeepError, index: int, key: str = "") -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Failed to process element: {index}{key} of 'instances' list. Error: {code_name(code_of(error))}: {error}"
    )
