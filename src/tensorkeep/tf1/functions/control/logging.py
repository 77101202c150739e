"""Printing, asserting, and looking for numbers that are none."""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from collections.abc import Sequence
from pprint import pformat
from random import Random
from typing import Any, Final

from tensorkeep.dtypes import FLOAT16, FLOAT32, FLOAT64, STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_operation
from tensorkeep.graph.building import (
    chosen_name,
    colocate_with,
    control_dependencies,
    current_graph,
    graph_of,
    name_scope,
)
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.control import logging as logging_ops
from tensorkeep.tf1.functions.arrays.shapes import either
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import group, with_dependencies
from tensorkeep.tf1.functions.parsing.strings import string_format
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as

_LEVELS: Final = {
    logging.INFO: "log(info)",
    logging.WARNING: "log(warning)",
    logging.ERROR: "log(error)",
    "info": "log(info)",
    "warning": "log(warning)",
    "warn": "log(warning)",
    "error": "log(error)",
}


def Print(  # noqa: N802 - TensorFlow's name
    input_: TensorLike,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The same value; whenever it is computed, `data` are printed."""
    attrs: dict[str, Any] = {"message": message, "first_n": first_n, "summarize": summarize}
    given = {key: value for key, value in attrs.items() if value is not None}
    return emit(logging_ops.print_op, input_, data, name=name, **given)


def print_v2(*inputs: object, **kwargs: object) -> Operation:
    """An operation that prints its inputs, structures of tensors and of other values, as Python's `print` does."""
    options: dict[str, Any] = dict(kwargs)
    stream = options.pop("output_stream", "stderr")
    name = options.pop("name", None)
    summarize = options.pop("summarize", 3)
    separator = options.pop("sep", " ")
    end = options.pop("end", "\n")
    if options:
        raise InvalidArgumentError(f"Unrecognized keyword arguments for tf.print: {options}")
    place = _stream_name(stream)
    if len(inputs) == 1 and _is_text(inputs[0]):
        line: Any = inputs[0]
    else:
        template, tensors, mark = _template(inputs, separator)
        line = string_format(template, tensors, mark, summarize, name=f"{name}_format" if name else None)
    return emit_operation(logging_ops.print_v2, line, output_stream=place, end=end, name=name)


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if stream == "stdout" or stream is sys.stdout:
        return "stdout"
    if stream == "stderr" or stream is sys.stderr:
        return "stderr"
    found = _LEVELS.get(stream if isinstance(stream, int) else getattr(stream, "__name__", None) or "")
    if found is None:
        raise InvalidArgumentError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
            "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of "
            "'file://<filepath>'."
        )
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is STRING and value.static_shape.rank == 0


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor | SparseTensor) or hasattr(value, "op")


def _template(inputs: Sequence[Any], separator: str) -> tuple[str, list[Any], str]:
    """The text around the tensors, the tensors, and what stands for one in the text."""
    ordered = [OrderedDict(sorted(item.items())) if isinstance(item, OrderedDict) else item for item in inputs]
    without = map_structure(lambda leaf: "" if _is_tensor(leaf) else leaf, ordered)
    mark = _unused_mark(" ".join(map(pformat, without)))
    tensors: list[Any] = []
    parts = []
    for item in inputs:
        shown = []
        for leaf in flatten(item):
            if isinstance(leaf, SparseTensor):
                tensors.extend([leaf.indices, leaf.values, leaf.dense_shape])
                shown.append(f"SparseTensor(indices={mark}, values={mark}, shape={mark})")
            elif _is_tensor(leaf):
                tensors.append(leaf)
                shown.append(mark)
            else:
                shown.append(leaf)
        parts.append(item if isinstance(item, str) else pformat(pack_sequence_as(item, shown)))
    return separator.join(parts).replace(f"'{mark}'", mark), tensors, mark


def _unused_mark(text: str) -> str:
    mark, digits = "{}", Random(5)
    while mark in text:
        mark += str(digits.randint(0, 9))
    return mark


# ---------------------------------------------------------------------------------------------------- Checks


def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """The same value, once it is known that it has no infinities and nothing that is not a number."""
    x = either("x", x, "t", t)
    message = either("message", message, "msg", msg)
    with name_scope(chosen_name(name, "VerifyFinite"), graph_of([x])):
        x = convert(x, name="x")
        with colocate_with(x):
            checked = emit("CheckNumerics", x, message=message)
            verified: Tensor = with_dependencies([checked], x)
            return verified


def add_check_numerics_ops() -> Operation:
    """An operation that checks every floating-point tensor of the graph, one after the other."""
    check: list[Tensor] = []
    for op in current_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (FLOAT16, FLOAT32, FLOAT64):
                continue
            if op.control_flow_context is not None:
                raise InvalidArgumentError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations such as "
                    "`tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(check):
                check = [emit("CheckNumerics", output, message=output.name)]
    return group(*check)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """The same value; an error that begins with `message` if it has infinities or what is not a number."""
    return emit("CheckNumerics", tensor, message=message, name=name)


def timestamp(name: str | None = None) -> Tensor:
    """The seconds since 1970."""
    return emit(logging_ops.timestamp, name=name)


__all__ = [
    "Assert",
    "Print",
    "add_check_numerics_ops",
    "check_numerics",
    "print_v2",
    "timestamp",
    "verify_tensor_all_finite",
]
