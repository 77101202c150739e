"""The inputs of a model as they are written on a command line, in TensorFlow's words.

    inputs         = key=file | key=file[name]            .npy, .npz
    input_exprs    = key=expression                       see `safe_expressions`
    input_examples = key=[{"feature": [value...]}...]     become serialized Examples

Several of a kind are separated by semicolons. What is given twice is taken from the last kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError, PermissionDeniedError, WrongTypeError
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.files.numpy_files import read_numpy_file
from tensorkeep.proto.messages import Example, serialize
from tensorkeep.saved_model.show.safe_expressions import evaluate

Warn = Callable[[str], None]


class BadInputError(InvalidArgumentError, RuntimeError):
    """An input is not written as inputs are."""


def parse_inputs(text: str) -> dict[str, tuple[str, str | None]]:
    """The file, and the name of the array in it if it is said, for each input."""
    found: dict[str, tuple[str, str | None]] = {}
    for item in filter(bool, text.split(";")):
        match = re.match(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?$", item)
        if match is None:
            raise BadInputError(
                f'--inputs "{item}" format is incorrect. Please follow"<input_key>=<filename>", or'
                '"<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = match[2], match[3]
    return found


def parse_expressions(text: str, option: str = "--input_exprs") -> dict[str, Any]:
    """The value for each input."""
    found = {}
    for item in filter(bool, text.split(";")):
        key, equals, expression = item.partition("=")
        if not equals:
            raise BadInputError(
                f'{option} "{item}" format is incorrect. Please follow"<input_key>=<python expression>"'
            )
        try:
            found[key] = evaluate(expression)
        except InvalidArgumentError as error:
            raise BadInputError(str(error)) from None
    return found


def parse_examples(text: str) -> dict[str, list[bytes]]:
    """The serialized Examples for each input."""
    found = {}
    for key, examples in parse_expressions(text, "--input_examples").items():
        if not isinstance(examples, list):
            raise InvalidArgumentError(
                f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}'
            )
        found[key] = [encode_example(example) for example in examples]
    return found


def encode_example(features: Mapping[str, Any]) -> bytes:
    """An Example with lists of floats, integers or strings, as the first item of each list is."""
    if not isinstance(features, Mapping):
        raise InvalidArgumentError(f'tf.Example input must be a dictionary, but "{features}" is {type(features)}')
    example = Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise InvalidArgumentError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        if values:
            _extend(example.features.feature[str(name)], values)
    return serialize(example)


def _extend(feature: Any, values: list[Any]) -> None:
    first = values[0]
    try:
        if isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, str | bytes):
            feature.bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in values)
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise InvalidArgumentError(f"Type {type(first)} for value {first} is not supported for tf.train.Feature.")
    except (TypeError, ValueError) as error:
        raise WrongTypeError(f"the values of a feature must be of one type: {error}") from None


def load_input(path: str, name: str | None, fs: FileSystem, allow_pickle: bool, warn: Warn) -> object:
    """The array of an input in a file."""
    try:
        found = read_numpy_file(path, fs, allow_pickle)
    except PermissionDeniedError as error:
        raise BadInputError(f"Input file {path} was not loaded: {error}. --allow_pickle allows it") from None
    if isinstance(found, np.ndarray) or not isinstance(found, Mapping):
        if name is not None:
            warn(f'Input file {path} contains a single ndarray. Name key "{name}" ignored.')
        return found
    if name is not None:
        if name not in found:
            raise BadInputError(f'Input file {path} does not contain variable with name "{name}".')
        return found[name]
    if len(found) != 1:
        raise BadInputError(
            f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use."
        )
    return next(iter(found.values()))


def collect_inputs(
    files: Mapping[str, Any], expressions: Mapping[str, Any], examples: Mapping[str, Any], warn: Warn
) -> dict[str, Any]:
    """All inputs together."""
    found = dict(files)
    for key, value in expressions.items():
        if key in found:
            warn(
                f"input_key {key} has been specified with both --inputs and --input_exprs options. Value in "
                "--input_exprs will be used."
            )
        found[key] = value
    for key, value in examples.items():
        if key in found:
            warn(f"input_key {key} has been specified in multiple options. Value in --input_examples will be used.")
        found[key] = value
    return found
