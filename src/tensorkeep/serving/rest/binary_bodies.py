"""Arrays in bodies without JSON: NumPy's .npy and .npz, forms with an .npy for each input, streams of Arrow.

    application/x-npy                      one array, for the only input
    application/x-npz                      arrays by the names of inputs
    multipart/form-data                    parts by the names of inputs, each an .npy
    application/vnd.apache.arrow.stream    columns by the names of inputs; a row of the table is a row of the batch

Nothing is converted, so arrays must have the types that the signature has; strings are of NumPy's types S or U, and of
Arrow's binary or text types. Pickles are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.numpy_files import decode_npy, decode_npz, encode_npy, encode_npz
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.serving.rest.arrow_bodies import decode_arrow, encode_arrow

Arrays = dict[str, Array]
Body = bytes | bytearray | memoryview

JSON: Final = "application/json"
NPY: Final = "application/x-npy"
NPZ: Final = "application/x-npz"
FORM: Final = "multipart/form-data"
ARROW: Final = "application/vnd.apache.arrow.stream"
BINARY: Final = (NPY, NPZ, FORM, ARROW)

_BOUNDARY: Final = re.compile(r'boundary=(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)
_PART_NAME: Final = re.compile(rb'content-disposition:[^\r\n]*?[;\s]name="([^"\r\n]*)"', re.IGNORECASE)
_ONLY: Final = ""  # the name of an array that has none


def read_binary(kind: str, content_type: str, body: Body, most_bytes: int) -> Arrays:
    """The arrays of a body by name; the array of an .npy has an empty one. InvalidArgumentError for what is none."""
    try:
        if kind == NPY:
            return {_ONLY: decode_npy(body, "body")}
        if kind == NPZ:
            return decode_npz(body, "body", most_bytes)
        if kind == ARROW:
            return decode_arrow(body)
        return {name: decode_npy(part, name) for name, part in form_parts(content_type, bytes(body)).items()}
    except InvalidArgumentError:
        raise
    except TensorKeepError as error:
        raise InvalidArgumentError(f"Failed to read a body of type {kind}: {error}") from error


def form_parts(content_type: str, body: bytes) -> dict[str, bytearray]:
    """The parts of a form by name."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise InvalidArgumentError(f'Content-Type "{content_type}" does not say what its boundary is')
    mark = b"\r\n--" + (boundary.group(1) or boundary.group(2)).encode("latin-1", "replace")
    pieces = (b"\r\n" + body).split(mark)
    if len(pieces) < 2 or not pieces[-1].startswith(b"--"):
        raise InvalidArgumentError("The form in the body is not closed by its boundary")
    found: dict[str, bytearray] = {}
    for piece in pieces[1:-1]:
        head, blank, content = piece.partition(b"\r\n\r\n")
        name = _PART_NAME.search(head)
        if not blank or name is None:
            raise InvalidArgumentError("A part of the form in the body has no name")
        found[name.group(1).decode("utf-8", "replace")] = bytearray(content)
    return found


def inputs_of(arrays: Arrays, signature_def: SignatureDef) -> Arrays:
    """Arrays by the names of inputs, strings as bytes; the array without a name is for the only input."""
    if arrays.keys() == {_ONLY}:
        if len(signature_def.inputs) != 1:
            names = ",".join(sorted(signature_def.inputs))
            raise InvalidArgumentError(f"The body has one array, but expecting arrays for several inputs: {names}")
        (alias,) = signature_def.inputs
        arrays = {alias: arrays[_ONLY]}
    return {alias: _native(array, signature_def, alias) for alias, array in arrays.items()}


def _native(array: Array, signature_def: SignatureDef, alias: str) -> Array:
    """An array as the runtime holds it: in C order and this machine's byte order, strings as bytes."""
    kind = array.dtype.kind
    if kind == "S":
        return array.astype(object)
    if kind == "U":
        return np.char.encode(array, "utf-8").astype(object)
    if kind == "V" and alias in signature_def.inputs:  # what NumPy makes of types it does not know
        wanted = DType.of(signature_def.inputs[alias].dtype).array_dtype
        if wanted.itemsize == array.dtype.itemsize and array.dtype.names is None:
            return np.ascontiguousarray(array).view(wanted)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array) if array.ndim else array


def answer_kind(accept: str, kind: str) -> str:
    """The type of an answer: the first that `accept` names of those there are, otherwise that of the request."""
    for item in accept.lower().split(","):
        named = item.partition(";")[0].strip()
        if named in (JSON, NPY, NPZ, ARROW):
            return named
    return NPZ if kind == FORM else kind


def binary_answer(kind: str, outputs: Mapping[str, Array]) -> tuple[str, bytes]:
    """Outputs as a body, and its type: several where an .npy was wanted make an .npz."""
    if kind == ARROW:
        return ARROW, encode_arrow(outputs)
    plain = {name: _without_objects(outputs[name], name) for name in sorted(outputs)}
    if kind == NPY and len(plain) == 1:
        return NPY, encode_npy(next(iter(plain.values())))
    return NPZ, encode_npz(plain)


def _without_objects(array: Array, name: str) -> Array:
    if array.dtype != object:
        return array
    if any(value.endswith(b"\0") for value in array.reshape(-1).tolist()):
        raise InvalidArgumentError(
            f"Output {name} has strings that end in zero bytes, which NumPy's files cannot hold; ask for {ARROW} or "
            f"{JSON}"
        )
    return array.astype(np.bytes_) if array.size else np.empty(array.shape, "S1")
