"""Running a signature of a model once, with inputs as a command line gives them: what `saved-model run` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from time import perf_counter
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, prepare_directory
from tensorkeep.io.files.numpy_files import write_npy, write_npz
from tensorkeep.io.files.paths import is_plain_name
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.runtime.limits import NO_LIMITS, Limits
from tensorkeep.saved_model.files.layout import NoSuchSignatureError
from tensorkeep.saved_model.load.model import LoadedModel
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tensorkeep.saved_model.load.signature import Signature
from tensorkeep.saved_model.load.tensor_values import TensorSpec
from tensorkeep.saved_model.show.run_inputs import (
    Warn,
    collect_inputs,
    load_input,
    parse_examples,
    parse_expressions,
    parse_inputs,
)

REPEATS: Final = 5  # runs that are timed
_NO_INPUTS: Final = "At least one of --inputs, --input_exprs or --input_examples must be required"


class MissingInputsError(InvalidArgumentError, AttributeError):
    """No inputs are given."""


class UnknownInputError(InvalidArgumentError):
    """An input is given that the signature does not have."""

    def __init__(self, key: str, signature: str, inputs: Mapping[str, object]) -> None:
        takes = ", ".join(f'"{name}" ({spec})' for name, spec in inputs.items()) or "no inputs"
        super().__init__(f'"{signature}" has no input "{key}": it takes {takes}; `saved-model show` lists them')
        self.key = key
        self.inputs = tuple(inputs)


class OutputExistsError(AlreadyExistsError, RuntimeError):
    """A file of an output is there already."""


@dataclass(frozen=True)
class InputTexts:
    """Inputs as they are written on a command line; see `run_inputs`."""

    files: str = ""
    expressions: str = ""
    examples: str = ""
    allow_pickle: bool = False

    def values(self, warn: Warn, fs: FileSystem = FILES, *, may_be_none: bool = False) -> dict[str, Any]:
        """The value of each input. What is taken in a way that one might not expect is said by `warn`."""
        if not (self.files or self.expressions or self.examples or may_be_none):
            raise MissingInputsError(_NO_INPUTS)
        files = {
            key: load_input(path, name, fs, self.allow_pickle, warn)
            for key, (path, name) in parse_inputs(self.files).items()
        }
        return collect_inputs(files, parse_expressions(self.expressions), parse_examples(self.examples), warn)


@dataclass(frozen=True)
class RunRequest:
    """Which signature of which model is run. Without tags, it is the meta graph that there is, or that serves."""

    directory: str
    tags: Sequence[str] | None
    signature: str
    allow: Sequence[str] = ()
    limits: Limits = NO_LIMITS
    engine: str = "numpy"


@dataclass(frozen=True)
class RunResult:
    """What came out, and the seconds that it took."""

    outputs: Mapping[str, Any]
    loading: float
    first_run: float
    best_run: float | None = None
    """Of some further runs, if these were wanted."""


def run_signature(
    request: RunRequest, values: Mapping[str, Any], *, timing: bool = False, fs: FileSystem = FILES
) -> RunResult:
    """Loads a model and runs one of its signatures."""
    start = perf_counter()
    with load_saved_model(
        request.directory, request.tags, allow=request.allow, limits=request.limits, engine=request.engine, fs=fs
    ) as model:
        signature = _signature(model, request.signature)
        loaded = perf_counter()
        fed = _fed_values(signature, values, request.signature)
        outputs = signature(**fed)
        first = perf_counter()
        best = min(_seconds(signature, fed) for _ in range(REPEATS)) if timing else None
        return RunResult(outputs, loaded - start, first - loaded, best)


def _seconds(signature: Signature, fed: Mapping[str, Any]) -> float:
    start = perf_counter()
    signature(**fed)
    return perf_counter() - start


def _signature(model: LoadedModel, key: str) -> Signature:
    if key not in model.signatures:
        raise NoSuchSignatureError(
            f'Could not find signature "{key}". Please choose from: {", ".join(model.signatures)}'
        )
    return model.signatures[key]


def _fed_values(signature: Signature, values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values as sessions of TensorFlow take them: numbers become those of the tensor's type, whatever they are."""
    if not values and set(signature.inputs) - set(signature.defaults):
        raise MissingInputsError(_NO_INPUTS)
    for key in values:
        if key not in signature.inputs:
            raise UnknownInputError(key, name, signature.inputs)
    return {key: _converted_value(signature, key, value) for key, value in values.items()}


def _converted_value(signature: Signature, key: str, value: Any) -> Any:
    spec = signature.inputs[key]
    if not isinstance(spec, TensorSpec) or spec.dtype is STRING:
        return value
    try:
        return np.asarray(value).astype(spec.dtype.array_dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f'input "{key}" takes {spec}: {error}') from None


def output_paths(outputs: Mapping[str, Any], directory: str, *, overwrite: bool, fs: FileSystem = FILES) -> list[str]:
    """The files that the outputs go to, sorted by key: an error if one cannot be, or is there already."""
    for key in sorted(outputs):
        if not is_plain_name(key):
            raise InvalidArgumentError(f"the output {key!r} cannot be the name of a file")
    paths = [f"{directory.rstrip('/')}/{key}.{'npz' if _parts(outputs[key]) else 'npy'}" for key in sorted(outputs)]
    for path in paths:
        if not overwrite and fs.exists(path):
            raise OutputExistsError(
                f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
            )
    return paths


def save_outputs(
    outputs: Mapping[str, Any], directory: str, *, overwrite: bool = False, fs: FileSystem = FILES
) -> dict[str, str]:
    """Writes each output to a .npy file of its name, after a look whether all can be; gives their paths.

    One that is made of several arrays, a sparse or ragged one, goes to a .npz file.
    """
    paths = output_paths(outputs, directory, overwrite=overwrite, fs=fs)
    prepare_directory(fs, directory, Durability.CACHE)
    for key, path in zip(sorted(outputs), paths, strict=True):
        if parts := _parts(outputs[key]):
            write_npz(path, parts, fs)
        else:
            write_npy(path, np.asarray(outputs[key]), fs)
    return dict(zip(sorted(outputs), paths, strict=True))


def _parts(value: Any) -> dict[str, Any]:
    """The arrays that a ragged or sparse value is made of, by name; an empty dict for a plain array."""
    if isinstance(value, RaggedTensorValue):
        splits = {f"row_splits_{number}": item for number, item in enumerate(value.nested_row_splits)}
        return {"values": value.flat_values, **splits}
    if isinstance(value, tuple):
        names = getattr(value, "_fields", [f"part_{number}" for number in range(len(value))])
        return {name: item for name, item in zip(names, value, strict=True) if item is not None}
    return {}


def plain_value(value: object) -> object:
    """A value for JSON. Bytes are text if they are that, and otherwise escaped; so are numbers that JSON has not.

    Ragged values are lists of lists, sparse ones objects of their parts.
    """
    if isinstance(value, RaggedTensorValue):
        return plain_value(value.to_list())
    if parts := _parts(value):
        return {name: plain_value(part) for name, part in parts.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, np.ndarray | np.generic):
        return plain_value(value.tolist())
    if isinstance(value, complex):
        return [plain_value(value.real), plain_value(value.imag)]
    return [plain_value(item) for item in value] if isinstance(value, list) else value


def timing_text(result: RunResult) -> str:
    """The times of a run in a line."""
    text = f"loading {result.loading * 1e3:.1f} ms, first run {result.first_run * 1e3:.1f} ms"
    if result.best_run is None:
        return text
    return f"{text}, then {result.best_run * 1e3:.3f} ms a run (the best of {REPEATS})"
