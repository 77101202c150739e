"""Prints what a checkpoint holds: `python -m tensorkeep.tools.inspect_checkpoint`, with the flags of TensorFlow's tool.

python -m tensorkeep.tools.inspect_checkpoint --file_name=model.ckpt-100 [--tensor_name=NAME | --all_tensors]

What it prints is what TensorFlow's prints. The status is 1 if something could not be read or was not found, where
TensorFlow's is 0; a tensor that cannot be read does not keep those after it from being printed; and one of a
checkpoint's files, `model.ckpt-100.index`, stands for the checkpoint.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.checkpoint.describing import CheckpointDescription
from tensorkeep.errors import InternalError, TensorKeepError
from tensorkeep.io.showing.terminal import abandon

_USAGE: Final = (
    "Usage: inspect_checkpoint --file_name=checkpoint_file_name [--tensor_name=tensor_to_print] [--all_tensors] "
    "[--all_tensor_names] [--count_exclude_pattern] [--printoptions]"
)
_PIPE_CLOSED: Final = 141  # as the shell has it of a program that SIGPIPE ended
_TRUTHS: Final = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints a tensor, all of them, or their names, types and shapes; and how many numbers there are.

    What goes wrong is printed too.
    """
    _print_checkpoint(file_name, tensor_name, all_tensors, all_tensor_names, count_exclude_pattern)


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets one of NumPy's print options, given as "threshold=1000"; any but those that are None by default."""
    name, equals, text = kv_str.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    options: dict[str, Any] = dict(np.get_printoptions())
    if name not in options:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(options[name])
    if kind is type(None):
        raise argparse.ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    try:
        changed: dict[str, Any] = {name: _truth(text) if kind is bool else kind(text)}
        np.set_printoptions(**changed)
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError("Non-boolean argument to boolean flag", text)
    return _TRUTHS[text.lower()]


def _print_checkpoint(
    file_name: str, tensor_name: str | None, all_tensors: bool, all_tensor_names: bool, count_exclude_pattern: str
) -> bool:
    """Prints what is asked for, and says whether all of it could be."""
    try:
        with _open_named(file_name) as checkpoint:
            is_whole = True
            if all_tensors or all_tensor_names:
                is_whole = _print_all(checkpoint, with_values=all_tensors)
            elif not tensor_name:
                print(checkpoint.debug_string().decode("utf-8", errors="ignore"))
            elif not checkpoint.has(tensor_name):
                print(f"Tensor {tensor_name} not found in checkpoint")
                return False
            else:
                is_whole = _print_tensor(checkpoint, tensor_name)
            _print_count(checkpoint.shapes(), count_exclude_pattern)
            return is_whole
    except (TensorKeepError, re.error) as error:
        print(error)
        return False


def _open_named(file_name: str) -> CheckpointDescription:
    """The checkpoint, with a word on standard error if it is not quite the one that was named."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checkpoint = CheckpointDescription.open(file_name)
    for warning in caught:
        print(warning.message, file=sys.stderr)
    return checkpoint


def _print_all(checkpoint: CheckpointDescription, *, with_values: bool) -> bool:
    shapes, dtypes = checkpoint.shapes(), checkpoint.dtypes()
    is_whole = True
    for name in sorted(shapes):
        print(f"tensor: {_printable(name)} ({dtypes[name].name}) {shapes[name]}")
        if with_values:
            is_whole = _print_value(checkpoint, name) and is_whole
    return is_whole


def _print_tensor(checkpoint: CheckpointDescription, name: str) -> bool:
    shapes, dtypes = checkpoint.shapes(), checkpoint.dtypes()
    if name not in shapes:
        print(f"'{_printable(name)}' is the key of an entry, but not the name of a tensor")
        return False
    print(f"tensor: {_printable(name)} ({dtypes[name].name}) {shapes[name]}")
    return _print_value(checkpoint, name)


def _print_value(checkpoint: CheckpointDescription, name: str) -> bool:
    try:
        print(checkpoint.value(name))
    except InternalError:
        print("<not convertible to a numpy dtype>")
    except TensorKeepError as error:
        print(error)
        return False
    return True


def _print_count(shapes: Mapping[str, Sequence[int]], exclude: str) -> None:
    """The number of elements of all tensors, but for those whose names the expression finds."""
    sizes = {name: math.prod(shape) for name, shape in shapes.items()}
    if exclude:
        pattern = re.compile(exclude)
        excluded = [name for name in sizes if pattern.search(name)]
        count = sum(sizes.pop(name) for name in excluded)
        print(f"# Excluding {len(excluded)} tensors ({count} params) that match {exclude} when counting.")
    print(f"# Total number of params: {sum(sizes.values())}")


def _printable(name: str) -> str:
    """A name whose bytes, if they are not UTF-8, do not keep it from being printed."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="inspect_checkpoint", description="Prints what a checkpoint holds.")
    parser.register("type", "bool", lambda text: text.lower() == "true")
    parser.add_argument(
        "--file_name",
        default="",
        help="Checkpoint filename. Note, if using Checkpoint V2 format, file_name is the shared prefix between all "
        "files in the checkpoint.",
    )
    parser.add_argument("--tensor_name", default="", help="Name of the tensor to inspect")
    parser.add_argument(
        "--count_exclude_pattern",
        default="",
        help="Pattern to exclude tensors, e.g., from optimizers, when counting.",
    )
    for name, text in (
        ("--all_tensors", "If True, print the names and values of all the tensors."),
        ("--all_tensor_names", "If True, print the names of all the tensors."),
    ):
        parser.add_argument(name, nargs="?", const=True, type="bool", default=False, help=text)
    parser.add_argument(
        "--printoptions",
        nargs="*",
        type=parse_numpy_printoption,
        help="Argument for numpy.set_printoptions(), in the form 'k=v'.",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool and gives the status of the process."""
    given = _parser().parse_args(argv)
    if not given.file_name:
        print(_USAGE)
        return 1
    try:
        is_whole = _print_checkpoint(
            given.file_name, given.tensor_name, given.all_tensors, given.all_tensor_names, given.count_exclude_pattern
        )
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        abandon(sys.stdout)
        return _PIPE_CLOSED
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
