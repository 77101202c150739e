"""Answers as JSON bodies.

The lines are those of TensorFlow Serving: a row's values follow the bracket on one line, objects are spread over lines.
Two things differ: arrays of columns stay on one line, and what is large has no blanks behind commas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.json_text import message_json
from tensorkeep.proto.messages import parse
from tensorkeep.proto.serving import (
    ClassificationResult,
    GetModelMetadataResponse,
    GetModelStatusResponse,
    RegressionResult,
    SignatureDefMap,
)
from tensorkeep.serving.models import ModelOverview, VersionStatus
from tensorkeep.serving.rest.json_text import (
    array_text,
    check_written,
    is_text,
    numbers_text,
    quoted_text,
)
from tensorkeep.serving.statuses import code_name

_SPACED_BELOW: Final = 1 << 16  # bytes


def error_body(message: str) -> bytes:
    """The body of an error."""
    return b'{\n    "error": ' + quoted_text(message.encode("utf-8", "replace")) + b"\n}"


# ------------------------------------------------------------------------------------------------------------ Predict


def predictions_body(outputs: Mapping[str, Array]) -> bytes:
    """Outputs in rows: bare values if there is one output, otherwise an object for each row."""
    names = sorted(outputs)
    count = _rows(names, outputs)
    if not count:
        return b'{\n    "predictions": []\n}'
    if len(names) == 1:
        text = _spaced_text(array_text(outputs[names[0]], names[0]), outputs[names[0]])
        return b'{\n    "predictions": ' + text[:-1] + b"\n    ]\n}"
    columns = [row_texts(outputs[name], name) for name in names]
    heads = [b"            %b: " % quoted_text(name.encode()) for name in names]
    rows = [
        b",\n".join([head + value for head, value in zip(heads, values, strict=True)])
        for values in zip(*columns, strict=True)
    ]
    joined = b"\n        },\n        {\n".join(rows)
    return b'{\n    "predictions": [\n        {\n' + joined + b"\n        }\n    ]\n}"


def _rows(names: Sequence[str], outputs: Mapping[str, Array]) -> int:
    """How many rows all outputs have; InvalidArgumentError if they do not have the same number."""
    count: int | None = None
    for name in names:
        check_written(outputs[name])
        if not outputs[name].ndim:
            raise InvalidArgumentError(f"Tensor name: {name} has no shape information ")
        rows = len(outputs[name])
        if count is not None and rows != count:
            raise InvalidArgumentError(f"Tensor name: {name} has inconsistent batch size: {rows} expecting: {count}")
        count = rows
    return count or 0


def row_texts(array: Array, name: str) -> list[bytes]:
    """The text of each row of an array that has rows."""
    if is_text(array) or not array.size:
        return [array_text(np.asarray(row), name) for row in array]
    rank = array.ndim
    text = numbers_text(np.ascontiguousarray(array))
    opening, closing = b"[" * (rank - 1), b"]" * (rank - 1)
    rows = [opening + piece + closing for piece in text[rank:-rank].split(closing + b"," + opening)]
    return [row.replace(b",", b", ") for row in rows] if len(text) < _SPACED_BELOW else rows


def _spaced_text(text: bytes, array: Array) -> bytes:
    return text if is_text(array) or len(text) >= _SPACED_BELOW else text.replace(b",", b", ")


def outputs_body(outputs: Mapping[str, Array]) -> bytes:
    """Outputs in columns: the value of the only one, or an object of all."""
    names = sorted(outputs)
    texts = [_spaced_text(array_text(outputs[name], name), outputs[name]) for name in names]
    if len(names) == 1:
        return b'{\n    "outputs": ' + texts[0] + b"\n}"
    members = [b"        " + quoted_text(name.encode()) + b": " + text for name, text in zip(names, texts, strict=True)]
    return b'{\n    "outputs": {\n' + b",\n".join(members) + b"\n    }\n}"


# ----------------------------------------------------------------------------------------------- Classify and regress


def classifications_body(result: ClassificationResult) -> bytes:
    """Labels and scores of each example."""
    examples = []
    for classifications in result.classifications:
        scores = _floats([each.score for each in classifications.classes])
        labels = [quoted_text(each.label.encode()) for each in classifications.classes]
        pairs = [b"[%b, %b]" % pair for pair in zip(labels, scores, strict=True)]
        examples.append(b"[" + b", ".join(pairs) + b"]")
    return b'{\n    "results": [' + b", ".join(examples) + b"\n    ]\n}"


def regressions_body(result: RegressionResult) -> bytes:
    """The value of each example."""
    return b'{\n    "results": [' + b", ".join(_floats([each.value for each in result.regressions])) + b"]\n}"


def _floats(values: list[float]) -> list[bytes]:
    return numbers_text(np.array(values, np.float32))[1:-1].split(b",") if values else []


# -------------------------------------------------------------------------------------------------- About the models


def status_body(response: GetModelStatusResponse) -> bytes:
    """The states of versions."""
    return (message_json(response) + "\n").encode()


def metadata_body(response: GetModelMetadataResponse) -> bytes:
    """The signatures of a version."""
    signatures = parse(SignatureDefMap, response.metadata["signature_def"].value, "signatures")
    return (
        f'{{\n"model_spec":{message_json(response.model_spec)}\n,\n"metadata": {{"signature_def": '
        f"{message_json(signatures)}\n}}\n}}\n"
    ).encode()


def models_body(models: Sequence[ModelOverview]) -> bytes:
    """All models with the states of their versions, in the form of a status."""
    return b'{\n "models": [' + b",".join(map(_model_text, models)) + b"]\n}\n"


def _model_text(model: ModelOverview) -> bytes:
    versions = b",".join(map(_version_text, model.versions))
    labels = b",".join(
        quoted_text(name.encode()) + b': "%d"' % version for name, version in sorted(model.labels.items())
    )
    name = quoted_text(model.name.encode())
    return b'\n  {"name": %b, "labels": {%b}, "model_version_status": [%b]}' % (name, labels, versions)


def _version_text(status: VersionStatus) -> bytes:
    return b'\n   {"version": "%d", "state": "%b", "status": {"error_code": "%b", "error_message": %b}}' % (
        status.version,
        status.state.name.encode(),
        code_name(status.code).encode(),
        quoted_text(status.message.encode("utf-8", "replace")),
    )
