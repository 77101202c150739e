"""`tensorkeep print`."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import Any

import numpy as np

from tensorkeep.checkpoint.objects.reader import RenamedReader
from tensorkeep.cli.command import DONE, TENSOR_NAMES, Command, Parser
from tensorkeep.cli.looking.any_tensors import PATH_HELP, open_any
from tensorkeep.cli.output import Output, shape_text, shown_value
from tensorkeep.convert.hub import TensorSource
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saved_model.show.signature_runs import plain_value


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=PATH_HELP)
    parser.add_argument("name", metavar="NAME", help="the name of a tensor", values=TENSOR_NAMES)
    parser.add_argument("part", metavar="PART", nargs="?", default="", help="a part: 0:10 or 0:10,3 or :,-2:")
    parser.add_argument("--full", action="store_true", help="print all elements, however many there are")
    parser.add_argument("--precision", metavar="N", type=int, default=8, help="digits after the point")


def _run(given: Namespace, output: Output) -> int:
    with open_any(given.path) as opened:
        reader, name = _meant_tensor(opened, given.name)
        info = reader[name]
        array = _read(reader, name, given.part)
    if output.is_json:
        values = plain_value(array)
        data = {"path": reader.path, "name": name, "dtype": info.dtype.name, "shape": list(info.shape)}
        output.data("print/1", {**data, "part": given.part or None, "values": values})
        return DONE
    if output.is_table:
        output.line(output.styled(f"{shown_value(name)}  {info.dtype} {shape_text(info.shape)}", "bold"))
    threshold = array.size + 1 if given.full else 1000
    with np.printoptions(threshold=threshold, precision=given.precision, linewidth=max(output.terminal.width, 75)):
        output.line(str(array))
    return DONE


def _meant_tensor(reader: TensorSource, given: str) -> tuple[TensorSource, str]:
    """The open file that holds the wanted tensor, and the name of the tensor in it. Names in a graph and keys of a file
    are understood too.
    """
    if isinstance(reader, RenamedReader) and given not in reader and given in reader.stored:
        return reader.stored, given
    return reader, given if given in reader else given.removesuffix(":0")


def _read(reader: TensorSource, name: str, text: str) -> Any:
    """The tensor, or a part of it: only the rows that are wanted are read, and of these the rest is taken."""
    if not text:
        return reader.read(name)
    shape = reader[name].shape
    items = [_item(part.strip(), text) for part in text.strip("[] ").split(",")]
    if len(items) > len(shape):
        raise InvalidArgumentError(f'"{text}" has {len(items)} items, and "{name}" is {reader[name]}')
    kept = tuple(_slice(item, size, text) for item, size in zip(items, shape, strict=False))
    array = reader.read(name, kept)
    return array[tuple(0 if isinstance(item, int) else slice(None) for item in items)]


def _item(part: str, text: str) -> int | slice:
    found = re.fullmatch(r"(-?\d+)|(-?\d+)?:(-?\d+)?", part)
    if found is None:
        raise InvalidArgumentError(f'"{text}" is no part of a tensor: "{part}" is neither a number nor start:stop')
    if found[1]:
        return int(found[1])
    return slice(*(None if number is None else int(number) for number in (found[2], found[3])))


def _slice(item: int | slice, size: int, text: str) -> slice:
    if isinstance(item, slice):
        return slice(*item.indices(size)[:2])
    at = item + size if item < 0 else item
    if not 0 <= at < size:
        raise InvalidArgumentError(f'"{text}": {item} is out of range, there are {size}')
    return slice(at, at + 1)


COMMANDS = {
    "print": Command(
        "Prints a tensor of a checkpoint, or a part of it. Only that part is read.",
        (
            "print run/model-1000 dense/kernel",
            "print run/model-1000 dense/kernel 0:2          # the first two rows",
            "print run/model-1000 dense/kernel :,0 --full   # the first column, all of it",
            "print export/1 global_step --json",
        ),
        _add_arguments,
        _run,
    )
}
