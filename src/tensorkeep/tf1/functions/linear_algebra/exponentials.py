"""The exponential of matrices, by Padé's approximation of a small multiple, squared until it is that of the whole.

See Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).
"""

from __future__ import annotations

from math import log
from typing import Any, Final

from tensorkeep.dtypes import COMPLEX64, FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, ones_like, shape, where_v2
from tensorkeep.tf1.functions.control.control_flow import while_loop
from tensorkeep.tf1.functions.linear_algebra.matrices import eye, matrix_solve
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, ceil, less, maximum
from tensorkeep.tf1.functions.numbers.elementwise import log as log_of
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum

# The norm up to which an approximation of that degree is as precise as the numbers are.
_DEGREES: Final = {"single": (7, 3.925724783138660), "double": (13, 5.371920351148152)}


def matrix_exponential(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential I + A + A A / 2 + A A A / 6 + … of each matrix of a batch [..., n, n]."""
    with name_scope(name or "matrix_exponential"):
        matrix = convert(input, name="matrix")
        sizes = matrix.static_shape.dims
        if sizes is not None and (len(sizes) < 2 or (None not in sizes[-2:] and sizes[-2] != sizes[-1])):
            raise InvalidArgumentError(f"expm takes square matrices [..., n, n], got {matrix.shape}")
        if 0 in (sizes or ()):
            return matrix
        is_single = matrix.dtype in (FLOAT32, COMPLEX64) or matrix.dtype.size == 2
        degree, most = _DEGREES["single" if is_single else "double"]
        norm = reduce_max(reduce_sum(absolute(matrix), axis=-2), axis=-1)
        halvings = maximum(ceil(log_of(maximum(norm / most, 1e-30)) / log(2.0)), 0.0)
        scale = expand_dims(expand_dims(power(2.0 * ones_like(halvings), halvings), -1), -1)
        found = _squared(_pade(matrix / cast(scale, matrix.dtype), degree), halvings)
        found.set_shape(matrix.shape)
        return found


def _pade(matrix: Tensor, degree: int) -> Tensor:
    """The approximation of a degree: (V - U)^-1 (V + U), with the odd powers in U and the even ones in V."""
    numbers = [1.0]
    for at in range(1, degree + 1):
        numbers.append(numbers[-1] * (degree - at + 1) / (at * (2 * degree - at + 1)))
    square = matmul(matrix, matrix)
    one = eye(shape(matrix)[-1], dtype=matrix.dtype)
    even: Any = numbers[degree - 1] * one
    odd: Any = numbers[degree] * one
    for at in range(degree - 3, -1, -2):  # Horner's scheme in the square
        even = _times(even, square) + numbers[at] * one
        odd = _times(odd, square) + numbers[at + 1] * one
    odd = _times(odd, matrix)
    return matrix_solve(even - odd, even + odd)


def _times(left: Tensor, right: Tensor) -> Tensor:
    """The product; `left` may be one matrix for all of a batch."""
    return matmul(left + 0 * right, right)


def _squared(matrix: Tensor, times: Tensor) -> Tensor:
    """Each matrix of a batch squared so many times."""
    most = cast(reduce_max(times), INT32)

    def step(at: Tensor, found: Tensor) -> tuple[Tensor, Tensor]:
        due = expand_dims(expand_dims(less(cast(at, times.dtype), times), -1), -1)
        return at + 1, where_v2(due, matmul(found, found), found)

    loop: Any = while_loop(lambda at, found: less(at, most), step, (convert(0), matrix))
    result: Tensor = loop[1]
    return result
