"""Targets for the bodies of requests by HTTP: any bytes are read, or refused by one of our errors.

input = which(1) body            which: a signature, and JSON or one of the binary forms
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from tensorkeep import TensorKeepError
from tensorkeep.dtypes import DType
from tensorkeep.io.files.numpy_files import encode_npy, encode_npz
from tensorkeep.native.json_tape import JsonError, JsonLimits, JsonTape, _by_python, read_json
from tensorkeep.proto.messages import SignatureDef
from tensorkeep.serving.rest.answers import outputs_body, predictions_body
from tensorkeep.serving.rest.binary_bodies import FORM, NPY, NPZ, inputs_of, read_binary
from tensorkeep.serving.rest.example_bodies import read_examples_body
from tensorkeep.serving.rest.predict_bodies import read_predict_body
from tensorkeep.serving.rest.requests import RefusedError, unpack_body

LIMITS = JsonLimits(depth=50, numbers=1 << 16, nodes=1 << 14)
KINDS = (NPY, NPZ, FORM)


def signature(*types: str) -> SignatureDef:
    made = SignatureDef()
    for name, kind in zip("xyz", types, strict=False):
        made.inputs[name].dtype = DType.of(kind).number
        made.inputs[name].name = f"{name}:0"
    return made


SIGNATURES = [
    signature("float32"), signature("int8"), signature("uint64"), signature("string"), signature("bool"),
    signature("float16"), signature("float32", "string"), signature("int64", "float64", "bool"), signature(),
]  # fmt: skip


def rest_predict(data: bytes) -> None:
    """Any bytes for the body of a predict request: what becomes arrays can be answered."""
    made = SIGNATURES[data[0] % len(SIGNATURES)] if data else SIGNATURES[0]
    with suppress(TensorKeepError):
        arrays, in_rows = read_predict_body(data[1:], LIMITS).arrays(made)
        assert in_rows or outputs_body(arrays)
        with suppress(TensorKeepError):
            assert predictions_body(arrays)


def rest_examples(data: bytes) -> None:
    """Any bytes for the body of a classify request."""
    with suppress(TensorKeepError):
        assert read_examples_body(data, LIMITS).examples


def rest_binary(data: bytes) -> None:
    """Any bytes for a body without JSON, or for one that is compressed."""
    which = data[0] if data else 0
    made = SIGNATURES[which // 4 % len(SIGNATURES)]
    with suppress(TensorKeepError, RefusedError):
        if which % 4 == 3:
            unpack_body(data[1:], 1 << 16)
        else:
            kind = KINDS[which % 4]
            inputs_of(read_binary(kind, f"{kind}; boundary=x", data[1:], 1 << 20), made)


def json_readers(data: bytes) -> None:
    """Any bytes for JSON: both readers say the same."""
    assert told(lambda: read_json(data, LIMITS)) == told(lambda: _by_python(memoryview(data), LIMITS))


def told(read: Callable[[], JsonTape]) -> Any:
    try:
        tape = read()
    except JsonError as error:
        return str(error)
    return tape.tape.tolist(), tape.numbers.tolist(), tape.strings, tape.keys, tape.end


def json_seeds() -> list[bytes]:
    return [
        b'{"instances": [[1, 2.5], [3, NaN]]}',
        b'{"signature_name": "s", "inputs": {"x": [[-1e3, 0.5e-7]], "y": ["a\\u00e9\\ud83d\\ude00", {"b64": "YQ=="}]}}',
        b'{"instances": [{"x": 1, "y": ["a", "b"]}, {"x": 2.5, "y": ["c", "\\n"]}]} rest',
        b'{"examples": [{"x": [1.5, 2.5], "y": true, "z": {"b64": "/w=="}}], "context": {"c": []}}',
        b'{"inputs": [[[], []], 18446744073709551615, -Infinity, null, true, false]}',
        b'{"inputs": [[1, 2], [3, 4]], "inputs": [[5]]}',
    ]


def predict_seeds() -> list[bytes]:
    return [bytes([which]) + seed for which in range(len(SIGNATURES)) for seed in json_seeds()]


def binary_seeds() -> list[bytes]:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    part = b'--x\r\nContent-Disposition: form-data; name="x"\r\n\r\n' + encode_npy(array) + b"\r\n--x--"
    return [b"\0" + encode_npy(array), b"\1" + encode_npz({"x": array}), b"\2" + part, b"\3\x1f\x8b\x08"]


SERVING_TARGETS = {
    "rest_predict": (rest_predict, predict_seeds),
    "rest_examples": (rest_examples, json_seeds),
    "rest_binary": (rest_binary, binary_seeds),
    "json_readers": (json_readers, json_seeds),
}
