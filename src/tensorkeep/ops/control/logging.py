"""Ops that tell a person something: prints, assertions, the time."""

from __future__ import annotations

import time
from itertools import count

import numpy as np

from tensorkeep.errors import InvalidArgumentError, MissingFileError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.files.filesystem import Durability, FileSystem, atomic_write
from tensorkeep.ops.shared.dimensions import of_rank
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import same, scalar
from tensorkeep.ops.shared.value_text import summary_of_tensor
from tensorkeep.runtime.context import KernelContext

print_op = op(
    "Print(input: T, data: U) -> output: T",
    "T: type",
    "U: list(type) >= 0",
    "message: string = ''",
    "first_n: int = -1",
    "summarize: int = 3",
    "stateful",
)
print_op.shape(same)


@print_op.stateful_kernel
def print_kernel(
    ctx: KernelContext, input: Array, data: list[Array], *, message: bytes, first_n: int, summarize: int
) -> Array:
    if first_n < 0 or next(ctx.keep("calls", count)) < first_n:
        line = message + b"".join(b"[" + summary_of_tensor(item, summarize) + b"]" for item in data)
        ctx.surroundings.write_line(line.decode(errors="replace"))
    return input


@print_op.gradient
def print_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [dy, *[None] * (len(op.inputs) - 1)]


print_v2 = op(
    "PrintV2(input: string)",
    "output_stream: string = 'stderr'",
    "end: string = '\\n'",
    "stateful",
)

_STREAMS = (b"stdout", b"stderr", b"log(info)", b"log(warning)", b"log(error)")


@print_v2.shape
def print_v2_shape(input: Tensor) -> tuple[()]:
    of_rank(input.static_shape, 0)
    return ()


@print_v2.stateful_kernel
def print_v2_kernel(ctx: KernelContext, input: Array, *, output_stream: bytes, end: bytes) -> tuple[()]:
    text = np.asarray(input)[()]
    if not isinstance(text, bytes):
        raise InvalidArgumentError(f"Input is expected to be scalar, but got {list(np.shape(input))}")
    if output_stream.startswith(b"file://"):
        _append(ctx.filesystem, output_stream.removeprefix(b"file://").decode(), text + end)
    elif output_stream in _STREAMS:
        line = text + end
        ctx.surroundings.write_line(line.removesuffix(b"\n").decode(errors="replace"))
    else:
        raise InvalidArgumentError(f"Unknown output stream: {output_stream.decode(errors='replace')}")
    return ()


def _append(filesystem: FileSystem, path: str, text: bytes) -> None:
    """Adds to the end of a file by writing it anew, which is all that every store can do."""
    try:
        file = filesystem.open(path)
    except MissingFileError:
        before = b""
    else:
        try:
            before = bytes(file.read(0, file.size))
        finally:
            file.close()
    atomic_write(filesystem, path, before + text, Durability.CACHE)


assert_op = op("Assert(condition: bool, data: T)", "T: list(type) >= 1", "summarize: int = 3", "stateful")


@assert_op.shape
def assert_shape(condition: Tensor, data: list[Tensor]) -> tuple[()]:
    return ()


@assert_op.kernel
def assert_kernel(condition: Array, data: list[Array], *, summarize: int) -> tuple[()]:
    if np.ndim(condition):
        raise InvalidArgumentError(f"In[0] should be a scalar: {list(np.shape(condition))}")
    if not condition:
        shown = b" ".join(b"[" + summary_of_tensor(item, summarize) + b"]" for item in data)
        raise InvalidArgumentError(f"assertion failed: {shown.decode(errors='replace')}")
    return ()


timestamp = op("Timestamp() -> ts: double", "stateful")
timestamp.shape(scalar)


@timestamp.stateful_kernel
def timestamp_kernel(ctx: KernelContext) -> np.float64:
    return np.float64(time.time())


debug_gradient_identity = op("DebugGradientIdentity(input: T) -> output: T", "T: type", "allows_uninitialized_input")
debug_gradient_identity.shape(same)


@debug_gradient_identity.kernel
def debug_gradient_identity_kernel(input: Array) -> Array:
    return input


not_differentiable(timestamp)
