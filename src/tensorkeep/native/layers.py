"""Products, convolutions, pools, softmax, moments and chains of element-wise operations of float32, each in one pass.

Nothing is called where `functions()` is None: without the library, and on processors that it has no loops for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.io.machine.parallel import in_parallel, thread_limit
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.library import address, native

Floats = npt.NDArray[np.float32]
Ints = tuple[int, ...]

FLOAT: Final = np.dtype(np.float32)
_SMALLEST_SOFTMAX: Final = 512  # elements
_SMALLEST_MOMENTS: Final = 512
_SMALLEST_POOLED: Final = 512
_POOLED: Final = 16  # multiplications that take as long as it takes to look at a number
_WORTH_A_THREAD: Final = 1 << 24  # multiplications: about a quarter of a millisecond
_POWER: Final = 32  # multiplications that take as long as an exponential, and what is done with it
_PACKED: Final = 16  # multiplications that take as long as the move of a number
MOST_TURNED_COLUMNS: Final = 64
"""Columns of the right factor of `multiply_turned`, at most, as products.h has it."""
SMALL: Final = 2 * _WORTH_A_THREAD
"""Multiplications, or what takes as long, that one thread does."""


@dataclass(frozen=True, slots=True)
class Functions:
    """The compiled functions, and how many floats a vector of this processor has."""

    width: int
    pack: Callable[..., None]
    multiply: Callable[..., int]
    multiply_narrow: Callable[..., int]
    multiply_turned: Callable[..., None]
    attend: Callable[..., int]
    convolve: Callable[..., int]
    convolve_depthwise: Callable[..., None]
    pool_maxima: Callable[..., None]
    chain: Callable[..., None]
    sum_rows: Callable[..., None]
    softmax: Callable[..., None]
    cross_entropy: Callable[..., None]
    rounds: Callable[..., None]
    move: Callable[..., None]
    moments: Callable[..., None]
    filter_tiles: Callable[[int], int]
    filter_gradient: Callable[..., None]
    block_rows: Callable[[], int]
    sum_channels: Callable[..., None]
    sum_gradients: Callable[..., None]
    scale_channels: Callable[..., None]
    gradient_of_channels: Callable[..., None]


@cache
def functions() -> Functions | None:
    """The compiled functions; None if the library is not there, or has none for this processor."""
    library = native().library
    if library is None:
        return None
    library.layers_width.restype = ctypes.c_int64
    width = int(library.layers_width())
    if not width:
        return None
    pointer, integer = ctypes.c_void_p, ctypes.c_int64

    def function(name: str, *arguments: Any, result: Any = None) -> Callable[..., Any]:
        found = getattr(library, f"layers_{name}")
        found.argtypes, found.restype = arguments, result
        return found  # type: ignore[no-any-return]

    return Functions(
        width,
        function("pack", pointer, integer, integer, integer, integer, pointer),
        function(
            "multiply",
            *(pointer, integer, integer, pointer, pointer, integer, integer, integer, pointer, integer, integer),
            result=ctypes.c_int32,
        ),
        function(
            "multiply_narrow",
            *(pointer, integer, integer, pointer, integer, integer, pointer),
            *[integer] * 4,
            result=ctypes.c_int32,
        ),
        function("multiply_turned", pointer, integer, pointer, pointer, *[integer] * 4),
        function("attend", *[pointer] * 6, ctypes.c_float, integer, integer, result=ctypes.c_int32),
        function(
            "convolve",
            *(pointer, pointer, integer, pointer, pointer, integer),
            *[pointer] * 3,
            integer,
            integer,
            result=ctypes.c_int32,
        ),
        function("convolve_depthwise", *[pointer] * 5, integer, integer),
        function("pool_maxima", pointer, pointer, ctypes.c_float, pointer, integer, integer),
        function("chain", pointer, pointer, integer, pointer, integer, pointer, pointer, *[integer] * 3),
        function("sum_rows", pointer, integer, pointer, integer, integer),
        function("softmax", pointer, pointer, *[integer] * 3),
        function("cross_entropy", *[pointer] * 4, *[integer] * 3),
        function("rounds", pointer, pointer, *[integer] * 4),
        function("move", pointer, pointer, pointer, integer, integer),
        function("moments", pointer, pointer, pointer, *[integer] * 3),
        function("filter_tiles", integer, result=integer),
        function("filter_gradient", *[pointer] * 3, integer, integer, pointer, integer, pointer, integer, integer),
        function("block_rows", result=integer),
        function("sum_channels", pointer, integer, integer, pointer, pointer, integer, integer),
        function("sum_gradients", pointer, pointer, integer, integer, pointer, pointer, integer, integer),
        function("scale_channels", pointer, integer, *[pointer] * 4, integer, integer),
        function("gradient_of_channels", pointer, pointer, integer, *[pointer] * 5, integer, integer),
    )


def place_of(array: Array) -> int:
    """The address of an array's first element. Whoever passes it on keeps the array."""
    try:
        return ctypes.addressof(address(array))  # in a quarter of the time
    except (TypeError, ValueError, BufferError):  # it is not writable, or not in C order
        return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def packed_matrix(compiled: Functions, matrix: Array) -> Floats:
    """A matrix of float32, in any order, as products read it."""
    depth, columns = matrix.shape
    out = result_array((depth * (-(-columns // compiled.width) * compiled.width),), FLOAT)
    row_step, column_step = (step // 4 for step in matrix.strides)
    place, out_place, panel = place_of(matrix), place_of(out), 2 * compiled.width
    parts = max(1, columns // panel)  # the last is wider: few columns by themselves would be packed in another way

    def pack(begin: int, end: int) -> None:
        first, last = begin * panel, columns if end == parts else end * panel
        at, to = place + FLOAT.itemsize * first * column_step, out_place + FLOAT.itemsize * first * depth
        compiled.pack(at, depth, last - first, row_step, column_step, to)

    in_parts(pack, parts, _PACKED * matrix.size)
    return out


def multiply(compiled: Functions, left: Floats, packed: Floats, out: Floats, finish: int | None = None) -> None:
    """Rows of an array in C order, or a matrix in Fortran's, times a packed matrix, into an array in C order.

    Not by the linear algebra library, whose threads go on waiting for more work for a while: between calls of ours they
    would take the processors that ours need. `finish` is where the numbers of a chain are that goes over the rows.
    """
    depth, columns = left.shape[-1], out.shape[-1]
    rows = out.size // columns
    steps = (depth, 1) if left.flags.c_contiguous else (1, rows)
    places = place_of(left), *steps, place_of(packed), place_of(out), columns
    in_parts(partial(compiled.multiply, *places, depth, columns, finish), rows, rows * depth * columns)


def multiply_few_rows(compiled: Functions, left: Floats, right: Floats, out: Floats) -> None:
    """A matrix of few rows times another one; the right one may be in any order, the others are in C order.

    The columns are divided among threads, and each part of the right matrix is put in order where it is used.
    """
    (rows, depth), columns = left.shape, right.shape[1]
    row_step, column_step = (step // FLOAT.itemsize for step in right.strides)
    places = place_of(left), depth, rows, place_of(right), row_step, column_step, place_of(out)
    panels = -(-columns // (2 * compiled.width))
    in_parts(partial(compiled.multiply_narrow, *places, depth, columns), panels, rows * depth * columns)


def multiply_turned(compiled: Functions, matrix: Floats, right: Floats, out: Floats) -> None:
    """A matrix in C order, turned, times one of few columns: both have as many rows as products are summed.

    All three are in C order.
    """
    (depth, rows), columns = matrix.shape, right.shape[1]
    work = partial(compiled.multiply_turned, place_of(matrix), rows, place_of(right), place_of(out), depth, columns)
    in_parts(work, rows, depth * rows * columns)


def in_parts(work: Callable[[int, int], int | None], count: int, cost: int) -> None:
    """Does `work(begin, end)` for all of `count` items, which take so many multiplications together, by threads.

    Work that gives 0 had no memory, which is an error.
    """
    threads = threads_for(count, cost)
    if threads <= 1:
        results: Sequence[int | None] = (work(0, count),)
    else:
        edges = [count * part // threads for part in range(threads + 1)]
        results = in_parallel(lambda part: work(edges[part], edges[part + 1]), range(threads), threads)
    if 0 in results:
        raise MemoryError("no memory is left for the parts of a matrix, or of images, that are being multiplied")


def threads_for(count: int, cost: int) -> int:
    """How many threads are worth it for so many items that do not depend on each other."""
    return min(cost // _WORTH_A_THREAD + 1, thread_limit(), count) if cost > SMALL else 1


@dataclass(frozen=True, slots=True)
class Stretches:
    """What a window reads: `length` floats at each of `offsets` from where it begins."""

    offsets: npt.NDArray[np.int64]
    length: int

    @classmethod
    def of(cls, row: int, depth: int, taps: tuple[int, int], dilations: tuple[int, int] = (1, 1)) -> Stretches:
        """Those of a window of so many taps down and across, over rows of `row` floats and elements of `depth`."""
        (rows, columns), (down, across) = taps, dilations
        if across == 1:
            places, length = [tap * down * row for tap in range(rows)], columns * depth
        else:
            places = [tap * down * row + place * across * depth for tap in range(rows) for place in range(columns)]
            length = depth
        return cls(np.array(places, np.int64), length)


@dataclass(frozen=True, slots=True)
class Part:
    """A convolution by some of the taps, for some of the outputs: a Part of layers.cpp."""

    start: tuple[int, int]  # where the first window begins: row, less than 0 before the image; column with padding
    reach: int  # rows that a window lies across
    strides: tuple[int, int]
    outputs: tuple[int, int]  # rows and columns of one image
    target: int  # floats from where an image's output begins to the first one of these
    steps: tuple[int, int]  # floats from one row of outputs, and from one output, to the next
    columns: int  # numbers of an output
    stretches: Stretches

    @property
    def cost(self) -> int:
        """Multiplications for one image."""
        rows, columns = self.outputs
        return rows * columns * self.columns * len(self.stretches.offsets) * self.stretches.length

    def numbers(self) -> Ints:
        """Those of Part in layers.cpp, in their order. The address in it is that of the stretches' offsets."""
        place = place_of(self.stretches.offsets), self.stretches
        window = len(self.stretches.offsets), self.stretches.length, place[0]
        return (
            *self.start, self.reach, *self.strides, *self.outputs, self.target, *self.steps, self.columns, *window,
        )  # fmt: skip


class Convolution:
    """A convolution of images of one size, whatever their number: it may have several parts."""

    def __init__(
        self,
        image: Ints,
        parts: Sequence[Part],
        *,
        sides: tuple[int, int],
        lines: int,
        out: int,
        finished: tuple[int, int],
    ) -> None:
        """For images of (rows, columns, channels), with zeros beside them: `sides` are how many there are to the left,
        and how many columns there are then.

        An output has `out` floats, and `lines` of which each may be several rows; `finished` are the rows that a chain
        over it sees, of a line, and of all of it.
        """
        left, padded = sides
        self.parts = tuple(parts)
        self.lines = lines
        self.cost = sum(part.cost for part in parts)
        self.numbers = np.array([*image, left, padded, lines, out, *finished], np.int64)
        self.table = np.array([part.numbers() for part in parts], np.int64)


def convolve(
    compiled: Functions,
    convolution: Convolution,
    images: Sequence[Floats],
    filters: Sequence[Floats],
    out: Floats,
    finish: int | None = None,
) -> None:
    """Convolves images whose channels come from several arrays in C order, one behind the other.

    `filters` are packed, for each part. The output is in C order too. `finish` is where the numbers of a chain are that
    goes over the output.
    """
    sources = (ctypes.c_void_p * len(images))(*map(place_of, images))
    depths = (ctypes.c_int64 * len(images))(*(source.shape[3] for source in images))
    packed = (ctypes.c_void_p * len(filters))(*map(place_of, filters))
    table = convolution.table
    places = sources, depths, len(images), place_of(convolution.numbers), place_of(table), len(table), packed
    batch = len(images[0])
    work = partial(compiled.convolve, *places, place_of(out), finish)
    in_parts(work, batch * convolution.lines, batch * convolution.cost)


def add_filter_gradient(
    compiled: Functions,
    images: Floats,
    stretches: Stretches,
    strides: tuple[int, int],
    gradient: Floats,
    out: Floats,
) -> None:
    """Adds what images, padding among them, say of the gradient of filters to `out`: [floats of a window, outputs].

    `gradient` is that of the outputs, [images, rows, columns, outputs]. All are in C order.
    """
    numbers = np.array([*images.shape[1:], *strides, *gradient.shape[1:3]], np.int64)
    work = partial(
        compiled.filter_gradient,
        place_of(images),
        place_of(numbers),
        place_of(stretches.offsets),
        stretches.length,
        len(images),
        place_of(gradient),
        out.shape[-1],
        place_of(out),
    )
    parts = len(stretches.offsets) * compiled.filter_tiles(stretches.length)
    in_parts(work, parts, gradient.size * len(out))


def convolve_depthwise(
    compiled: Functions, images: Floats, filters: Floats, out: Floats, numbers: Ints, finish: int | None = None
) -> None:
    """A depthwise convolution, channels last. `numbers` are those of Depthwise in tiles.h.

    `finish` is where the numbers of a chain are that goes over the output.
    """
    rows = out.shape[0] * out.shape[1]
    work = partial(
        compiled.convolve_depthwise,
        place_of(images),
        place_of(filters),
        place_of(out),
        place_of(table := np.array(numbers, np.int64)),
        finish,
    )
    in_parts(work, rows, 2 * out.size * filters.shape[0] * filters.shape[1])
    del table


def pool_maxima(images: Array, numbers: Ints, outputs: tuple[int, int], floor: float) -> Array | None:
    """The largest numbers under windows over images, channels last; None if NumPy has to find them.

    `numbers` are those of Depthwise in tiles.h. NaN is below everything, and nothing is below the floor.
    """
    compiled = functions()
    if compiled is None or images.dtype != FLOAT or not images.flags.aligned or images.size < _SMALLEST_POOLED:
        return None
    images = np.ascontiguousarray(images)
    out = result_array((len(images), *outputs, images.shape[3]), FLOAT)
    table = np.array(numbers, np.int64)
    work = partial(compiled.pool_maxima, place_of(images), place_of(table), floor, place_of(out))
    in_parts(work, len(images) * outputs[0], _POOLED * images.size)
    return out


def softmax(logits: Array) -> Array | None:
    """The softmax along the last axis; None if NumPy has to compute it."""
    compiled = functions()
    if compiled is None or logits.dtype != FLOAT or not logits.flags.aligned or logits.size < _SMALLEST_SOFTMAX:
        return None
    logits = np.ascontiguousarray(logits)
    columns = logits.shape[-1]
    out = result_array(logits.shape, FLOAT)
    work = partial(compiled.softmax, place_of(logits), place_of(out), columns)
    in_parts(work, logits.size // columns, _POWER * logits.size)
    return out


def sparse_cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array] | None:
    """The losses of rows whose labels are among the classes, and their gradient; None if NumPy has to compute them."""
    compiled = functions()
    if compiled is None or logits.dtype != FLOAT or not logits.flags.aligned or logits.size < _SMALLEST_SOFTMAX:
        return None
    logits, classes = np.ascontiguousarray(logits), np.ascontiguousarray(labels, np.int64)
    rows, columns = logits.shape
    losses, gradient = np.empty(rows, FLOAT), result_array(logits.shape, FLOAT)
    places = place_of(logits), place_of(classes), place_of(losses), place_of(gradient)
    in_parts(partial(compiled.cross_entropy, *places, columns), rows, _POWER * logits.size)
    return losses, gradient


def moments(array: Array) -> tuple[Array, Array] | tuple[None, None]:
    """The means and variances along the last axis, which is kept with one element; None if NumPy has to find them."""
    compiled = functions()
    if compiled is None or type(array) is not np.ndarray or array.dtype != FLOAT or not array.flags.aligned:
        return None, None
    if array.size < _SMALLEST_MOMENTS or not array.ndim:
        return None, None
    array = np.ascontiguousarray(array)
    *outer, columns = array.shape
    means, variances = np.empty((*outer, 1), FLOAT), np.empty((*outer, 1), FLOAT)
    work = partial(compiled.moments, place_of(array), place_of(means), place_of(variances), columns)
    in_parts(work, means.size, 4 * array.size)
    return means, variances
