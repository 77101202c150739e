"""Python code in what Keras stores beside a graph: Lambda layers, and objects that are named for import.

keras_metadata.pb = SavedMetadata: node*(1), of each the metadata(5), JSON
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tensorkeep.errors import DataLossError
from tensorkeep.proto.wire import LENGTH_DELIMITED, fields

_TRUSTED: Final = frozenset(("keras", "tf_keras", "tensorflow", "keras_nlp", "keras_cv", "keras_hub", "builtins"))
_DANGEROUS: Final = frozenset(("eval", "exec", "compile", "__import__", "open", "getattr", "breakpoint", "input"))
_GADGETS: Final = frozenset(
    # Functions of Keras and TensorFlow that fetch, load, read, write or call what they are told to.
    (
        "deserialize_keras_object",
        "enable_unsafe_deserialization",
        "get_file",
        "load_img",
        "load_library",
        "load_model",
        "load_op_library",
        "load_weights",
        "model_from_json",
        "numpy_function",
        "py_func",
        "py_function",
        "read_file",
        "write_file",
    )
)
_COMPILED: Final = ("Lambda", "__lambda__")
_PICKLED: Final = "TorchModuleWrapper"
_MOST: Final = 1 << 28  # bytes of JSON


class PythonCode(NamedTuple):
    """Something of Python in a configuration."""

    subject: str
    message: str


def metadata_texts(data: bytes | memoryview, what: str) -> Iterator[str]:
    """The JSON texts in `keras_metadata.pb`. DataLossError if it is something else."""
    for number, wire_type, value in fields(memoryview(data), what):
        if number != 1 or wire_type != LENGTH_DELIMITED or not isinstance(value, memoryview):
            continue
        for inner, inner_type, text in fields(value, what):
            if inner == 5 and inner_type == LENGTH_DELIMITED and isinstance(text, memoryview):
                yield bytes(text).decode("utf-8", "replace")


def python_in_json(text: str, what: str) -> Iterator[PythonCode]:
    """The Python code that a configuration of Keras has or names. DataLossError if it is not JSON."""
    if len(text) > _MOST:
        raise DataLossError(f"{what}: {len(text)} bytes of JSON are too many")
    try:
        pending = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"{what}: not JSON: {type(error).__name__}: {error}") from None
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield from _in_object(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _in_object(item: dict[str, Any]) -> Iterator[PythonCode]:
    name = item.get("class_name")
    if not isinstance(name, str):
        return
    config = item.get("config")
    if name.rpartition(">")[2] in _COMPILED:
        yield from _lambda(name, config if isinstance(config, dict) else {})
    if name.rpartition(">")[2] == _PICKLED:
        yield PythonCode(name, f"a {name} layer holds a pickle, which runs Python code when it is loaded")
    module = item.get("module")
    if isinstance(module, str) and (module.partition(".")[0] not in _TRUSTED or _is_dangerous(module, name, config)):
        yield PythonCode(f"{module}.{name}", f"names the Python object {module}.{name}, which Keras imports")


def _is_dangerous(module: str, name: str, config: Any) -> bool:
    names = {name, config} if isinstance(config, str) else {name}
    return not names.isdisjoint(_GADGETS) or (module == "builtins" and not names.isdisjoint(_DANGEROUS))


def _lambda(name: str, config: dict[str, Any]) -> Iterator[PythonCode]:
    function = config.get("function", config.get("code"))
    if isinstance(function, dict) and isinstance(function.get("config"), str):
        function = function["config"]
    if isinstance(function, str) and config.get("function_type") == "function":
        yield PythonCode(name, f"a {name} layer calls the Python function {function!r}")
    else:
        yield PythonCode(name, f"a {name} layer holds compiled Python code, which Keras runs")
