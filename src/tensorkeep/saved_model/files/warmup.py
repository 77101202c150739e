"""Requests that TensorFlow Serving warms a model up with: `assets.extra/tf_serving_warmup_requests`.

The file is a TFRecord of PredictionLog. A server replays at most a thousand of them before it serves the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING, dtype_in_graph
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.io.coding.records import encode_record, read_records
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write
from tensorkeep.proto.messages import Example, MetaGraphDef, SignatureDef, parse, serialize
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.saved_model.files.constants import (
    CLASSIFY_METHOD_NAME,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    EXTRA_ASSETS_DIRECTORY,
    REGRESS_METHOD_NAME,
    SERVING,
    WARMUP_FILENAME,
)
from tensorkeep.saved_model.files.layout import (
    describe_signature,
    join,
    meta_graph_with_tags,
    read_saved_model,
    signature_with_key,
)
from tensorkeep.shapes import Shape

MOST_REQUESTS: Final = 1000  # a server refuses to load a model that brings more


def predict_log(
    meta_graph: MetaGraphDef, inputs: Mapping[str, Any], key: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY, model: str = ""
) -> PredictionLog:
    """A request to a signature with these values, which must be such as the signature takes."""
    signature = signature_with_key(meta_graph, key)
    log = PredictionLog()
    request = log.predict_log.request
    request.model_spec.name = model
    request.model_spec.signature_name = key
    for name, array in _checked_inputs(signature, key, inputs).items():
        request.inputs[name].CopyFrom(tensor_of_array(array, dtype_in_graph(signature.inputs[name].dtype)))
    return log


def example_log(
    meta_graph: MetaGraphDef, examples: Sequence[Example], key: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY, model: str = ""
) -> PredictionLog:
    """A request to classify or to regress, as the signature says."""
    method = signature_with_key(meta_graph, key).method_name
    log = PredictionLog()
    if method == CLASSIFY_METHOD_NAME:
        request: Any = log.classify_log.request
    elif method == REGRESS_METHOD_NAME:
        request = log.regress_log.request
    else:
        raise InvalidArgumentError(f'signature "{key}" is for {method}, which takes no examples; use predict_log')
    request.model_spec.name = model
    request.model_spec.signature_name = key
    request.input.example_list.examples.extend(examples)
    return log


def _checked_inputs(signature: SignatureDef, key: str, inputs: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    problems = [
        f'"{name}" is missing' for name in sorted(set(signature.inputs) - set(inputs) - set(signature.defaults))
    ]
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, value in inputs.items():
        if name not in signature.inputs:
            problems.append(f'"{name}" is no input')
            continue
        info = signature.inputs[name]
        dtype = dtype_in_graph(info.dtype)
        array = _strings(value) if dtype is STRING else np.asarray(value, dtype.array_dtype)
        if not Shape(array.shape).is_compatible(shape_of_proto(info.tensor_shape)):
            problems.append(f'"{name}" has shape {array.shape}')
        arrays[name] = array
    if problems:
        raise InvalidArgumentError(f'{"; ".join(problems)}. Signature "{key}" takes {describe_signature(signature)}')
    return arrays


def _strings(value: Any) -> np.ndarray[Any, Any]:
    given = np.asarray(value, object)
    array = np.empty(given.shape, object)
    array.reshape(-1)[:] = [item.encode() if isinstance(item, str) else item for item in given.reshape(-1).tolist()]
    return array


def write_warmup_requests(
    directory: PathLike,
    requests: Iterable[Mapping[str, Any] | PredictionLog],
    key: str = DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    tags: Iterable[str] = (SERVING,),
    *,
    model: str = "",
    fs: FileSystem = FILES,
    durability: Durability = Durability.DISK,
) -> str:
    """Gives a model requests to be warmed up with, in the place of those it had; gives the path of their file.

    A request is a log, or the values of the inputs of a signature.
    """
    meta_graph = meta_graph_with_tags(read_saved_model(directory, fs), tags)
    logs = [item if isinstance(item, PredictionLog) else predict_log(meta_graph, item, key, model) for item in requests]
    if not logs or len(logs) > MOST_REQUESTS:
        raise InvalidArgumentError(f"a model is warmed up with 1 to {MOST_REQUESTS} requests, got {len(logs)}")
    folder = join(directory, EXTRA_ASSETS_DIRECTORY)
    fs.make_directory(folder)
    path = join(folder, WARMUP_FILENAME)
    atomic_write(fs, path, b"".join(encode_record(serialize(log)) for log in logs), durability)
    return path


def read_warmup_requests(directory: PathLike, *, fs: FileSystem = FILES) -> list[PredictionLog]:
    """The requests that a model is warmed up with; none if it has no such file."""
    path = join(directory, f"{EXTRA_ASSETS_DIRECTORY}/{WARMUP_FILENAME}")
    return [parse(PredictionLog, record, path) for record in read_records(fs, path)] if fs.exists(path) else []
