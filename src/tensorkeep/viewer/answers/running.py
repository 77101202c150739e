"""Signatures: what they take, what they give, and values on the way. Only computing is allowed, as everywhere.

A run keeps within the limits of time and steps that the command line sets, and ends at its next round of a loop or call
of a function when its page is gone or has cancelled it.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final, TypeVar

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, NotFoundError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.numpy_files import decode_npy
from tensorkeep.runtime.limits import within_limits
from tensorkeep.saved_model.load.graph_parts import flat_part, named_components
from tensorkeep.saved_model.load.signature import Signature
from tensorkeep.saved_model.load.tensor_values import TensorSpec, fitted_array
from tensorkeep.saved_model.show.flag_values import DEFAULT_LIMITS
from tensorkeep.viewer.answers.arrays import array_data
from tensorkeep.viewer.asking import Asked

Result = TypeVar("Result")

_MOST_ELEMENTS: Final = 1 << 26  # of one input


def signatures(asked: Asked) -> Mapping[str, Any]:
    """What a model can do: for each signature, what it takes and gives."""
    model = asked.source.model
    return {
        "tags": sorted(model.tags),
        "signatures": [_signature_overview(name, signature) for name, signature in model.signatures.items()],
    }


def _signature_overview(name: str, signature: Signature) -> dict[str, Any]:
    return {
        "name": name,
        "method": signature.method_name,
        "inputs": [_spec(key, spec, key in signature.defaults) for key, spec in _parts(signature.inputs)],
        "outputs": [_spec(key, spec, False) for key, spec in _parts(signature.outputs)],
        "is_plain": all(isinstance(spec, TensorSpec) for spec in signature.inputs.values()),
    }


def _parts(specs: Mapping[str, Any]) -> Any:
    return named_components(specs).items()


def _spec(name: str, spec: TensorSpec, is_optional: bool) -> dict[str, Any]:
    shape = None if spec.shape.dims is None else list(spec.shape.dims)
    return {"name": name, "dtype": spec.dtype.name, "shape": shape, "is_optional": is_optional}


def run(asked: Asked) -> Mapping[str, Any]:
    """Runs a signature; gives what came out and how long it took."""
    model, name = asked.source.model, asked.text("signature")
    signature = model.signatures[name]
    if not all(isinstance(spec, TensorSpec) for spec in signature.inputs.values()):
        raise UnimplementedError(
            f'signature "{name}" takes values made of several tensors, sparse or ragged: tensorkeep.load_saved_model '
            "runs it from Python"
        )
    values = _given_values(asked, signature)
    start = perf_counter()
    _while_waited_for(asked, signature.prepare)
    ready = perf_counter()
    outputs = _while_waited_for(asked, lambda: signature(**values))
    done = perf_counter()
    return {
        "outputs": [{"name": key, **_output(value)} for key, value in outputs.items()],
        "seconds": done - ready,
        "preparing": ready - start,
    }


def _while_waited_for(asked: Asked, run: Callable[[], Result]) -> Result:
    """What `run` gives; CancelledError if nobody waits for the answer any more."""
    with within_limits(DEFAULT_LIMITS, lambda: asked.progress(0, 0)):
        return run()


def _output(value: Any) -> dict[str, Any]:
    """An output; one that is made of several arrays by each of them."""
    if isinstance(value, tuple) and not isinstance(value, np.ndarray):
        return {"parts": [array_data(part) for part in value if isinstance(part, np.ndarray)]}
    return array_data(value)


def _given_values(asked: Asked, signature: Signature) -> dict[str, Array]:
    """The values that a page sent, as arrays; one error with all that is wrong."""
    problems: list[str] = []
    found: dict[str, Array] = {}
    for name, value in asked.mapping("values").items():
        spec = signature.inputs.get(name)
        if not isinstance(spec, TensorSpec):
            problems.append(f'there is no input "{name}"')
            continue
        try:
            found[name] = decoded_input(value, spec)
        except TensorKeepError as error:
            problems.append(f'input "{name}": {error}')
    if problems:
        raise InvalidArgumentError("; ".join(problems))
    return found


def decoded_input(value: Any, spec: TensorSpec) -> Array:
    """A value as a page sends it: numbers or text as lists, the bytes of files, or an .npy file."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if kind == "list":
        array = _array_of_lists(value.get("value"), spec)
    elif kind == "npy":
        array = decode_npy(_bytes(value.get("data")), "the file")
    elif kind == "floats":
        array = _floats(value, spec)
    elif kind == "bytes":
        array = np.empty(1, object)
        array[0] = _bytes(value.get("data"))
        array = array.reshape(()) if spec.shape.rank == 0 else array
    else:
        raise InvalidArgumentError("no value was given")
    if array.size > _MOST_ELEMENTS:
        raise InvalidArgumentError(f"{array.size:,} elements are too many for a page")
    if spec.dtype is not STRING and array.dtype.kind not in "OSU":
        with np.errstate(all="ignore"):
            array = array.astype(spec.dtype.array_dtype)
    fitted: Array = fitted_array(spec, array)
    return fitted


def _array_of_lists(value: Any, spec: TensorSpec) -> Array:
    try:
        if spec.dtype is STRING:
            texts = np.asarray(value, dtype=object)
            return np.vectorize(lambda item: str(item).encode(), otypes=[object])(texts) if texts.size else texts
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"the lists have no even shape: {error}") from None
    if array.dtype.kind in "OSU":
        try:
            array = array.astype(np.float64)  # "NaN" and "Infinity" travel as texts
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"expected numbers for {spec}") from None
    return array


def _floats(value: Mapping[str, Any], spec: TensorSpec) -> Array:
    """Numbers of a picture or a sound, which the page has decoded."""
    shape = value.get("shape")
    data = np.frombuffer(_bytes(value.get("data")), "<f4")
    if not isinstance(shape, list) or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise InvalidArgumentError("a picture or a sound comes with its shape")
    if int(np.prod(shape, dtype=np.int64)) != data.size:
        raise InvalidArgumentError(f"{data.size} numbers are not those of the shape {shape}")
    if spec.dtype.array_dtype.kind in "iu":
        data = np.rint(data)
    return data.reshape(shape)


def _bytes(data: Any) -> bytes:
    try:
        return b64decode(data if isinstance(data, str) else "", validate=True)
    except binascii.Error as error:
        raise InvalidArgumentError(f"the bytes of a file are not as they were sent: {error}") from None


# -------------------------------------------------------------------------------------------------- values on the way


def node_value(asked: Asked) -> Mapping[str, Any]:
    """The values that a node gives while a signature runs."""
    model, name = asked.source.model, asked.text("signature")
    signature = model.signatures[name]
    number = asked.integer("node")
    shown = asked.graph.shown.nodes
    if not 0 <= number < len(shown):
        raise InvalidArgumentError(f"the graph has no node {number}")
    values = _given_values(asked, signature)
    part = asked.source.kept(f"flat {name}", lambda: flat_part(model.signature_part(name)))
    graph, inner = part.session.graph, "/".join((*shown[number].place.calls[1:], shown[number].place.node))
    if inner not in graph:
        raise NotFoundError(
            f'"{shown[number].name}" has no value when "{name}" runs: it belongs to another signature, or to the '
            "inside of a loop or a branch"
        )
    operation = graph.operation(inner)
    wanted = [tensor for tensor in operation.outputs if not tensor.dtype.base_dtype.is_object or tensor.dtype is STRING]
    if not wanted:
        raise InvalidArgumentError(f'"{shown[number].name}" gives no tensors of numbers or text')
    feeds = {tensor: values[key] for key, tensor in part.inputs.items() if key in values}
    start = perf_counter()
    found = _while_waited_for(asked, lambda: part.session.run(wanted, {**feeds, **part.captured}))
    return {"outputs": [array_data(item) for item in found], "seconds": perf_counter() - start}
