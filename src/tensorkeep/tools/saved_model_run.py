"""The command `run` of `saved_model_cli`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from time import perf_counter
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.errors import AlreadyExistsError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.filesystem import Durability, prepare_directory
from tensorkeep.io.local import LOCAL
from tensorkeep.io.numpy_files import write_npy
from tensorkeep.saved_model.layout import NoSuchSignatureError
from tensorkeep.saved_model.loading import load_saved_model
from tensorkeep.saved_model.model import LoadedModel
from tensorkeep.saved_model.run_inputs import (
    collect_inputs,
    load_input,
    parse_examples,
    parse_expressions,
    parse_inputs,
)
from tensorkeep.saved_model.signature import Signature
from tensorkeep.saved_model.tensor_values import TensorSpec

_REPEATS: Final = 5


class MissingInputsError(InvalidArgumentError, AttributeError):
    """No inputs are given."""


class OutputExistsError(AlreadyExistsError, RuntimeError):
    """A file of an output is there already."""


def main(flags: argparse.Namespace) -> int:
    """Runs a signature with the inputs that the flags give, and prints what comes out."""
    _check(flags)
    values = _inputs(flags)
    start = perf_counter()
    with load_saved_model(flags.dir, _tags(flags.tag_set), allow=_names(flags.allow)) as model:
        signature = _signature(model, flags.signature_def)
        loaded = perf_counter()
        fed = _fed(signature, values)
        outputs = signature(**fed)
        first = perf_counter()
        _give(outputs, flags)
        if flags.timing:
            _print_times(signature, fed, loaded - start, first - loaded)
    return 0


def _check(flags: argparse.Namespace) -> None:
    if not (flags.inputs or flags.input_exprs or flags.input_examples):
        raise MissingInputsError("At least one of --inputs, --input_exprs or --input_examples must be required")
    asked = [name for name in ("worker", "init_tpu", "tf_debug") if getattr(flags, name)]
    if asked:
        raise UnimplementedError(f"--{', --'.join(asked)}: models run here, in this process; leave it out")


def _tags(text: str) -> list[str]:
    tags = [tag.strip() for tag in text.split(",") if tag.strip()]
    if not tags:
        raise InvalidArgumentError("tag_set must contain at least one non-empty item.")
    return tags


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _warn(text: str) -> None:
    print(f"WARNING: {text}", file=sys.stderr)


def _inputs(flags: argparse.Namespace) -> dict[str, Any]:
    files = {
        key: load_input(path, name, LOCAL, flags.allow_pickle, _warn)
        for key, (path, name) in parse_inputs(flags.inputs).items()
    }
    return collect_inputs(files, parse_expressions(flags.input_exprs), parse_examples(flags.input_examples), _warn)


def _signature(model: LoadedModel, key: str) -> Signature:
    if key not in model.signatures:
        raise NoSuchSignatureError(
            f'Could not find signature "{key}". Please choose from: {", ".join(model.signatures)}'
        )
    return model.signatures[key]


def _fed(signature: Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as sessions of TensorFlow take them: numbers become those of the tensor's type, whatever they are."""
    for key in values:
        if key not in signature.inputs:
            listed = '", "'.join(signature.inputs)
            raise InvalidArgumentError(
                f'"{key}" is not a valid input key. Please choose from "{listed}", or use --show option.'
            )
    return {key: _converted(signature, key, value) for key, value in values.items()}


def _converted(signature: Signature, key: str, value: Any) -> Any:
    spec = signature.inputs[key]
    if not isinstance(spec, TensorSpec) or spec.dtype is STRING:
        return value
    try:
        return np.asarray(value).astype(spec.dtype.array_dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(f'input "{key}" takes {spec}: {error}') from None


# -------------------------------------------------------------------------------------------------------------- outputs


def _give(outputs: Mapping[str, Any], flags: argparse.Namespace) -> None:
    if flags.json:
        sys.stdout.write(json.dumps({key: _plain(value) for key, value in outputs.items()}, indent=2) + "\n")
    for key in sorted(outputs):
        if not flags.json:
            sys.stdout.write(f"Result for output key {key}:\n{outputs[key]}\n")
        if flags.outdir:
            _save(key, outputs[key], flags)


def _plain(value: Any) -> Any:
    """A value for JSON. Bytes are text if they are that, and otherwise escaped."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, complex):
        return [value.real, value.imag]
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _save(key: str, value: Any, flags: argparse.Namespace) -> None:
    if "/" in key or "\0" in key or key in ("", ".", ".."):
        raise InvalidArgumentError(f"the output {key!r} cannot be the name of a file")
    prepare_directory(LOCAL, flags.outdir, Durability.CACHE)
    path = f"{flags.outdir.rstrip('/')}/{key}.npy"
    if not flags.overwrite and LOCAL.exists(path):
        raise OutputExistsError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
        )
    write_npy(path, np.asarray(value), LOCAL)
    if not flags.json:
        sys.stdout.write(f"Output {key} is saved to {path}\n")


def _print_times(signature: Signature, fed: Mapping[str, Any], loading: float, first: float) -> None:
    times = []
    for _ in range(_REPEATS):
        start = perf_counter()
        signature(**fed)
        times.append(perf_counter() - start)
    text = f"loading {loading * 1e3:.1f} ms, first run {first * 1e3:.1f} ms, then {min(times) * 1e3:.3f} ms a run"
    print(f"Timing: {text} (the best of {_REPEATS})", file=sys.stderr)


__all__ = ["MissingInputsError", "OutputExistsError", "main"]
