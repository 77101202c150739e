"""Products, norms, systems, factors and diagonals of matrices, under the names that TensorFlow 1 gives them.

What TensorFlow has in its module `linalg` under another name than at the top is in `LINALG`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from numbers import Integral
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.functions import operators as _operators
from tensorkeep.functions.array import (
    broadcast_dynamic_shape,
    broadcast_to,
    concat,
    either,
    expand_dims,
    invert_permutation,
    matrix_transpose,
    ones,
    pad,
    rank,
    reshape,
    scope_of,
    setdiff1d,
    shape,
    squeeze,
    stack,
    transpose,
    where,
    where_v2,
)
from tensorkeep.functions.control_flow import cond
from tensorkeep.functions.math import abs as absolute
from tensorkeep.functions.math import cast, conj, log, maximum, real, sqrt
from tensorkeep.functions.math import pow as power
from tensorkeep.functions.math import range as span
from tensorkeep.functions.reductions import reduce_max, reduce_prod, reduce_sum
from tensorkeep.functions.slicing import gather, gather_nd
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.opspec import OpSpec
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops import _matrices, decompositions, diagonals
from tensorkeep.ops import einsum as einsum_ops
from tensorkeep.ops import matmul as products
from tensorkeep.shapes import Shape

del _operators  # imported for what it installs

# ---------------------------------------------------------------------------------------------------- Products


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, or of batches of them."""
    return products.matmul(
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        output_type=None if output_type is None else DType.of(output_type),
        grad_a=grad_a,
        grad_b=grad_b,
        name=name,
    )


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices of which one is mostly zero."""
    found: Tensor = products.sparse_matmul(
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )
    return found


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices and vectors."""
    with scope_of(name, "MatVec", a, b):
        column = expand_dims(b, axis=-1)
        product = matmul(
            a,
            column,
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return squeeze(product, axis=-1)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over axes of both: so many last and first ones, or a list for each."""
    with scope_of(name, "Tensordot", a, b, axes) as scope:
        a, b = convert(a, name="a"), convert(b, name="b")
        a_axes, b_axes = _contracted_axes(a, axes)
        a_matrix, a_free, a_known = _as_matrix(a, a_axes, False)
        b_matrix, b_free, b_known = _as_matrix(b, b_axes, True)
        product = matmul(a_matrix, b_matrix)
        if isinstance(a_free, list) and isinstance(b_free, list):
            if product.static_shape.dims == (*a_free, *b_free):
                return product
            return reshape(product, [*a_free, *b_free], name=scope)
        sizes = concat([convert(a_free, INT32), convert(b_free, INT32)], 0)
        found = reshape(product, sizes, name=scope)
        if a_known is not None and b_known is not None:
            found.set_shape(Shape((*a_known, *b_known)))
        return found


def _contracted_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, Integral):
        count, known = int(axes), a.static_shape.rank
        if count < 0:
            raise InvalidArgumentError(f"`axes` must be at least 0. Received: {axes}.")
        if known is None:
            last = rank(a)
            return span(last - count, last, dtype=INT32), span(count, dtype=INT32)
        if count > known:
            raise InvalidArgumentError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}. Received {axes}, vs tensor "
                f"dimensions {known}."
            )
        return list(range(known - count, known)), list(range(count))
    if isinstance(axes, list | tuple):
        if len(axes) != 2:
            raise InvalidArgumentError(f"`axes` must be an integer or have length 2. Received {axes}.")
        first, second = ([part] if isinstance(part, Integral) else part for part in axes)
        if not isinstance(first, Tensor) and len(first) != len(second):
            raise InvalidArgumentError(
                f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
            )
        return first, second
    axes = convert(axes, INT32, name="axes")
    return axes[0], axes[1]


def _as_matrix(a: Tensor, axes: Any, flipped: bool) -> tuple[Tensor, Any, Any]:
    """A tensor as a matrix of free axes by contracted ones; the sizes of the free axes, and what is known of them."""
    dims = a.static_shape.dims
    if dims is not None and isinstance(axes, list | tuple):
        axes = [axis + len(dims) if axis < 0 else axis for axis in axes]
        free = [axis for axis in range(len(dims)) if axis not in axes]
        sizes = [dims[axis] for axis in free]
        if None not in dims:
            order = [*axes, *free] if flipped else [*free, *axes]
            pair = [prod(dims[axis] or 0 for axis in part) for part in (free, axes)]
            turned = transpose(a, order) if order != list(range(len(dims))) else a
            wanted = pair[::-1] if flipped else pair
            same = turned.static_shape.dims == tuple(wanted)
            return (turned if same else reshape(turned, wanted)), sizes, sizes
        known: Any = sizes
        axes = convert(np.array(axes, np.int32), INT32, name="axes")
        places = convert(np.array(free, np.int32), INT32, name="free")
        whole = shape(a)
    else:
        known = None
        whole, count = shape(a), rank(a)
        axes = convert(axes, INT32, name="axes")
        axes = where(axes >= 0, axes, axes + count)
        places, _ = setdiff1d(span(count), axes)
    free_sizes = gather(whole, places)
    axes_sizes = gather(whole, axes)
    free_count, axes_count = reduce_prod(free_sizes), reduce_prod(axes_sizes)
    permutation = concat([axes, places] if flipped else [places, axes], 0)
    counts = stack([axes_count, free_count] if flipped else [free_count, axes_count])
    return reshape(transpose(a, permutation), counts), free_sizes, known


# ---------------------------------------------------------------------------------------------------- Einstein's sums


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that an equation states, such as "ij,jk->ik"."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise WrongTypeError(
            f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Valid arguments: name, optimize, greedy."
        )
    with scope_of(name, "einsum", *inputs):
        operands = list(inputs)
        parts, output = _resolved(equation, len(operands))
        if len(operands) <= 2:
            return _summed_products(operands, f"{','.join(parts)}->{output}")
        sizes: dict[str, int] = {}
        for i, (labels, operand) in enumerate(zip(parts, operands, strict=True)):
            _note_sizes(labels, operand, sizes, i, equation)
        for places, step in _contraction_path(tuple(parts), output, tuple(sorted(sizes.items()))):
            chosen = [operands.pop(place) for place in places]
            operands.append(_summed_products(chosen, step))
        return operands[0]  # type: ignore[no-any-return]


_ELLIPSIS: Final = "0"  # the label of "..." while an equation is worked on


def _summed_products(operands: Sequence[Any], equation: str) -> Tensor:
    found: Tensor = einsum_ops.einsum(operands, equation=equation.replace(_ELLIPSIS, "..."))
    return found


def _resolved(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each input and of the result, which need not be stated."""
    text = equation.replace(" ", "")
    if _ELLIPSIS in text:
        raise InvalidArgumentError(f'Invalid character "{_ELLIPSIS}" in equation: {equation}.')
    text = text.replace("...", _ELLIPSIS)
    left, arrow, output = text.partition("->")
    if not all(label in ",0" or (label.isascii() and label.isalpha()) for label in left + output) or "," in output:
        raise InvalidArgumentError(f"Subscripts have incorrect format: {text}")
    parts = left.split(",")
    if len(parts) != count:
        raise InvalidArgumentError(f'Got {count} inputs for equation "{equation}", expecting {len(parts)}')
    if not arrow:
        output = "".join(sorted(label for label in set(left) if label != "," and left.count(label) == 1))
    if len(set(output)) != len(output):
        raise InvalidArgumentError(f"Output subscripts contain a label appearing more than once: {equation}")
    for label in output:
        if label != _ELLIPSIS and label not in left:
            raise InvalidArgumentError(
                f"Output subscripts contain the label {label} not present in the input subscripts."
            )
    return parts, output


def _note_sizes(labels: str, operand: Any, sizes: dict[str, int], number: int, equation: str) -> None:
    """Adds to what is known of the sizes of labels; of those under an ellipsis, how many elements they are."""
    for label in labels:
        sizes.setdefault(label, 1)
    dims = convert(operand).static_shape.dims if not isinstance(operand, Tensor) else operand.static_shape.dims
    if dims is None:
        return
    found = list(dims)
    start = labels.find(_ELLIPSIS)
    if start >= 0:
        if len(labels) > len(found) + 1:
            raise InvalidArgumentError(
                f"Too many named labels in {number}th subscript string of equation {equation} for input shape {found}"
            )
        end = start + len(found) + 1 - len(labels)
        found[start:end] = [int(np.prod([size for size in found[start:end] if size], dtype=np.int64))]
    elif len(labels) != len(found):
        raise InvalidArgumentError(
            f"Number of named labels in input #{number} of equation {equation} must be equal to the number of "
            f"dimensions in shape {found}"
        )
    for label, size in zip(labels, found, strict=True):
        if size is not None:
            sizes[label] = max(sizes[label], size)


@lru_cache(128)
def _contraction_path(
    inputs: tuple[str, ...], output: str, known_sizes: tuple[tuple[str, int], ...]
) -> tuple[tuple[tuple[int, int], str], ...]:
    """Which two operands to multiply, one pair after the other, and by which equations.

    Greedily, the pair whose product is smallest beside what it replaces; pairs that share no label come last.
    """
    sizes = dict(known_sizes)
    terms = list(enumerate(inputs))
    wanted = set(output) | set.intersection(*map(set, inputs))
    steps = []
    while len(terms) > 1:
        first, second = _cheapest(terms, wanted, sizes)
        a, b = terms[first][1], terms[second][1]
        others = {label for i, (_, labels) in enumerate(terms) if i not in (first, second) for label in labels}
        places = (max(first, second), min(first, second))
        labels = terms[places[0]][1] + terms[places[1]][1]
        kept = {label for label in a + b if label in others or label in output}
        result = output if len(terms) == 2 else "".join(sorted(kept, key=labels.find))
        steps.append((places, f"{terms[places[0]][1]},{terms[places[1]][1]}->{result}"))
        number = max(term[0] for term in terms) + 1
        for place in places:
            terms.pop(place)
        terms.append((max(number, len(inputs) + len(steps) - 1), result))
    return tuple(steps)


def _cheapest(terms: list[tuple[int, str]], wanted: set[str], sizes: Mapping[str, int]) -> tuple[int, int]:
    def size(labels: set[str]) -> int:
        count = 1
        for label in labels:
            count *= sizes[label]
        return count

    best: tuple[Any, tuple[int, int]] | None = None
    for i, (first_id, first) in enumerate(terms):
        for j in range(i + 1, len(terms)):
            second_id, second = terms[j]
            a, b = set(first), set(second)
            is_same = a == b
            if not is_same and not (a & b) - wanted:
                continue
            others = {label for k, (_, labels) in enumerate(terms) if k not in (i, j) for label in labels}
            product = {label for label in a | b if label in wanted or label in others}
            cost = (not is_same, size(product) - size(a) - size(b), max(first_id, second_id), min(first_id, second_id))
            if best is None or cost < best[0]:
                best = (cost, (i, j))
    if best is not None:
        return best[1]
    by_size = sorted(range(len(terms)), key=lambda i: (size(set(terms[i][1]) & wanted), terms[i][0]))
    return by_size[0], by_size[1]


# ---------------------------------------------------------------------------------------------------- Norms and traces


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along an axis, of matrices along two, or of all elements."""
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, list | tuple) and len(axis) == 2
    axes: Any = axis
    if is_matrix:
        axes = tuple(axis)
        if not all(isinstance(one, int) for one in axes) or axes[0] == axes[1]:
            raise InvalidArgumentError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise InvalidArgumentError(
                f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}"
            )
    else:
        if not (isinstance(axis, int) or axis is None):
            raise InvalidArgumentError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
            raise InvalidArgumentError(f"'ord' must be a supported vector norm, got {ord}")
        axes = None if axis is None else (axis,)
    with scope_of(name, "norm", tensor):
        x = convert(tensor)
        if ord in ("fro", "euclidean", 2):
            if is_matrix and ord == 2:
                found = _spectral_norm(x, axes)
            else:
                found = sqrt(reduce_sum(x * conj(x), axes, keepdims=True))
        else:
            found = _other_norm(absolute(x), ord, axes, is_matrix)
        return found if keepdims else squeeze(found, axes)


def _spectral_norm(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The largest singular value, of matrices along two axes of a tensor whose rank is known."""
    known = x.static_shape.rank
    if known is None:
        raise UnimplementedError("the spectral norm of a tensor whose rank is not known before running")
    last = [axis % known for axis in axes]
    order = [axis for axis in range(known) if axis not in last] + last
    values, _, _ = decompositions.svd_op(transpose(x, order), compute_uv=False)
    largest = expand_dims(reduce_max(absolute(values), axis=-1, keepdims=True), axis=-1)
    return transpose(largest, [order.index(axis) for axis in range(known)])


def _other_norm(x: Tensor, ord: Any, axes: Any, is_matrix: bool) -> Tensor:
    if ord == 1:
        found = reduce_sum(x, None if axes is None else axes[0], keepdims=True)
        return reduce_max(found, axes[-1], keepdims=True) if is_matrix else found
    if ord == np.inf:
        found = reduce_sum(x, axes[1], keepdims=True) if is_matrix else x
        return reduce_max(found, None if axes is None else axes[0], keepdims=True)
    return power(reduce_sum(power(x, ord), axes, keepdims=True), 1.0 / ord)


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum along the diagonal of matrices."""
    with scope_of(name, "Trace", x) as scope:
        x = convert(x, name="x")
        return reduce_sum(diagonals.matrix_diag_part(x), [-1], name=scope)


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of matrices that are positive definite."""
    with scope_of(name, "logdet", matrix):
        factor = cholesky(matrix)
        total = reduce_sum(log(real(diagonals.matrix_diag_part(factor))), axis=[-1])
        return 2.0 * total


# ---------------------------------------------------------------------------------------------------- Diagonals


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = FLOAT32, name: str | None = None
) -> Tensor:
    """Identity matrices, or rectangles with ones on the diagonal."""
    for size in (num_rows, num_columns):
        if not (size is None or isinstance(size, Tensor | Integral)):
            raise WrongTypeError(
                "Arguments `num_rows` and `num_columns` must be positive integer values. Received: "
                f"num_rows={num_rows}, num_columns={num_columns}"
            )
    return _matrices.eye(num_rows, num_columns, batch_shape, dtype=DType.of(dtype), name=name)


def matrix_diag(
    diagonal: Any,
    name: str | None = "diag",
    k: Any = 0,
    num_rows: Any = -1,
    num_cols: Any = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with these diagonals."""
    return diagonals.matrix_diag(
        diagonal, k=k, num_rows=num_rows, num_cols=num_cols, padding_value=padding_value, align=align, name=name
    )


def matrix_diag_part(
    input: Any, name: str | None = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Diagonals of matrices."""
    return diagonals.matrix_diag_part(input, k=k, padding_value=padding_value, align=align, name=name)


def matrix_set_diag(
    input: Any, diagonal: Any, name: str | None = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """Matrices with other diagonals."""
    return diagonals.matrix_set_diag(input, diagonal, k=k, align=align, name=name)


def matrix_band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices, zero but for a band around the main diagonal; a negative width is all."""
    return diagonals.matrix_band_part(input, num_lower, num_upper, name)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank, with the elements on its diagonal."""
    found: Tensor = diagonals.diag(diagonal, name=name)
    return found


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor of even rank."""
    found: Tensor = diagonals.diag_part(input, name=name)
    return found


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The last two dimensions exchanged, and conjugated."""
    with scope_of(name, "adjoint", matrix):
        return matrix_transpose(convert(matrix, name="matrix"), conjugate=True)


# ---------------------------------------------------------------------------------------------------- Systems


def _of_one(spec: OpSpec, doc: str) -> Callable[..., Tensor]:
    def function(input: Any, name: str | None = None) -> Tensor:
        found: Tensor = spec(input, name=name)
        return found

    function.__doc__ = doc
    return function


cholesky = _of_one(decompositions.cholesky, "The lower triangular factors of matrices that are positive definite.")
matrix_determinant = _of_one(decompositions.matrix_determinant, "The determinants of matrices.")
matrix_square_root = _of_one(decompositions.matrix_square_root, "The principal square roots of matrices.")
matrix_logarithm = _of_one(decompositions.matrix_logarithm, "The principal logarithms of complex matrices.")


def log_matrix_determinant(input: Any, name: str | None = None) -> Any:
    """The signs of determinants, and the logarithms of their absolute values."""
    return decompositions.log_matrix_determinant(input, name=name)


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of matrices, or of their adjoints."""
    found: Tensor = decompositions.matrix_inverse(input, adjoint=adjoint, name=name)
    return found


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of linear systems."""
    found: Tensor = decompositions.matrix_solve(matrix, rhs, adjoint=adjoint, name=name)
    return found


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of linear systems whose matrices are triangles."""
    with scope_of(name, "triangular_solve", matrix, rhs):
        found: Tensor = decompositions.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)
        return found


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The solutions of linear systems of whose matrices these are the Cholesky factors."""
    return _matrices.cholesky_solve(chol, rhs, name)


def matrix_solve_ls(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The solutions of linear systems, or what comes nearest to one."""
    if isinstance(matrix, Tensor):
        known = matrix.static_shape
    else:
        known = (matrix := convert(matrix, name="matrix")).static_shape
    if not fast or not _is_composed(known, matrix.dtype.array_dtype.itemsize):
        found: Tensor = decompositions.matrix_solve_ls(matrix, rhs, l2_regularizer, fast=fast, name=name)
        return found
    with scope_of(name, "matrix_solve_ls", matrix, rhs, l2_regularizer):
        dims = (None, None) if known.dims is None else known.dims[-2:]
        if dims[0] is not None and dims[1] is not None:
            solve = _solved_tall if dims[0] >= dims[1] else _solved_wide
            return solve(matrix, rhs, l2_regularizer)
        sizes = shape(matrix)[-2:]
        either_way: Tensor = cond(
            sizes[-2] >= sizes[-1],
            lambda: _solved_tall(matrix, rhs, l2_regularizer),
            lambda: _solved_wide(matrix, rhs, l2_regularizer),
        )
        return either_way


def _is_composed(known: Shape, itemsize: int) -> bool:
    """Whether least squares are a graph of several operations rather than one, as TensorFlow decides it."""
    if not known.is_fully_known:
        return True
    sizes = known.as_tuple()
    return int(np.prod(sizes)) * itemsize <= 256000 or int(np.prod(sizes[:-2])) <= min(sizes[-2:])


def _regularized_factor(matrix: Tensor, regularizer: Any, tall: bool) -> Tensor:
    gramian = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    if isinstance(regularizer, Tensor) or regularizer != 0:
        sizes = shape(matrix)
        batch = sizes[:-2]
        small = sizes[-1] if tall else sizes[-2]
        identity_ = eye(small, batch_shape=batch, dtype=matrix.dtype.base_dtype)
        dims = matrix.static_shape.dims
        if dims is not None:
            identity_.set_shape(TensorShape([*dims[:-2], *(dims[-1 if tall else -2],) * 2]))
        gramian = gramian + regularizer * identity_
    return cholesky(gramian)


def _solved_tall(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _regularized_factor(matrix, regularizer, True)
    return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))


def _solved_wide(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _regularized_factor(matrix, regularizer, False)
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """The solutions of linear systems whose matrices have three diagonals."""
    if perturb_singular and not partial_pivoting:
        raise InvalidArgumentError("partial_pivoting must be True if perturb_singular is.")
    three = _three_diagonals(diagonals, diagonals_format)
    rhs = convert(rhs)
    options = {"partial_pivoting": partial_pivoting, "perturb_singular": perturb_singular}
    rows, row = three.static_shape.rank, rhs.static_shape.rank
    if rows is not None and rows < 2:
        raise InvalidArgumentError(f"Expected diagonals to have rank at least 2, got {rows}")
    is_vector = rows is not None and row is not None and row == rows - 1
    if is_vector:
        rhs = expand_dims(conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    found: Tensor = decompositions.tridiagonal_solve_op(three, rhs, **options, name=name)
    return squeeze(found, -1) if is_vector else found


def _three_diagonals(values: Any, layout: str) -> Tensor:
    """The upper, main and lower diagonals as three rows."""
    if layout == "compact":
        return convert(values)
    if layout == "sequence":
        if not isinstance(values, list | tuple) or len(values) != 3:
            raise InvalidArgumentError("Expected diagonals to be a sequence of length 3.")
        upper, main, lower = values
        size = main.static_shape[-1]
        lower = _as_long(lower, size, [1, 0], "subdiagonal")
        return stack((_as_long(upper, size, [0, 1], "superdiagonal"), main, lower), axis=-2)
    if layout == "matrix":
        return matrix_diag_part(values, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
    raise InvalidArgumentError(f"Unrecognized diagonals_format: {layout}")


def _as_long(row: Tensor, size: int | None, around: list[int], word: str) -> Tensor:
    own = row.static_shape[-1]
    if not own or own == size:
        return row
    if size is not None and own == size - 1:
        return pad(row, [[0, 0]] * (len(row.static_shape) - 1) + [around])
    raise InvalidArgumentError(f"Expected {word} to be have length {size} or {(size or 0) - 1}, got {own}.")


def tridiagonal_matmul(diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None) -> Tensor:
    """The products of matrices of three diagonals with others."""
    if diagonals_format == "compact":
        upper, main, lower = (diagonals[..., row, :] for row in builtins.range(3))
    elif diagonals_format == "sequence":
        upper, main, lower = diagonals
    elif diagonals_format == "matrix":
        three = matrix_diag_part(diagonals, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")
        upper, main, lower = (three[..., row, :] for row in builtins.range(3))
    else:
        raise InvalidArgumentError(f"Unrecognized diagonals_format: {diagonals_format}")
    rows = [expand_dims(row, -2) for row in (upper, main, lower)]
    found: Tensor = decompositions.tridiagonal_matmul_op(*rows, rhs, name=name)
    return found


# ---------------------------------------------------------------------------------------------------- Factors


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """The orthogonal and triangular factors of matrices."""
    return decompositions.qr_op(input, full_matrices=full_matrices, name=name)


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular values of matrices, and their left and right vectors if asked for."""
    s, u, v = decompositions.svd_op(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)


def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of self-adjoint matrices."""
    values, vectors = decompositions.self_adjoint_eig_v2(tensor, compute_v=True, name=name)
    return values, vectors


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices."""
    values, _ = decompositions.self_adjoint_eig_v2(tensor, compute_v=False, name=name)
    return values  # type: ignore[no-any-return]


def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of matrices, complex numbers all."""
    tensor = convert(tensor)
    values, vectors = decompositions.eig_op(tensor, Tout=_complex_of(tensor), compute_v=True, name=name)
    return values, vectors


def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of matrices, complex numbers all."""
    tensor = convert(tensor)
    values, _ = decompositions.eig_op(tensor, Tout=_complex_of(tensor), compute_v=False, name=name)
    return values  # type: ignore[no-any-return]


def _complex_of(tensor: Tensor) -> DType:
    return COMPLEX128 if tensor.dtype.base_dtype in (FLOAT64, COMPLEX128) else COMPLEX64


def lu(input: Any, output_idx_type: Any = INT32, name: str | None = None) -> Any:
    """The triangular factors of matrices, both in one, and the order of their rows."""
    return decompositions.lu_op(input, output_idx_type=DType.of(output_idx_type), name=name)


def lu_solve(lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The solutions of linear systems by their triangular factors."""
    with name_scope(name or "lu_solve"):
        factors, order = _factors(lower_upper, perm)
        rhs = convert(rhs, name="rhs", preferred_dtype=factors.dtype.base_dtype)
        if rhs.static_shape.rank is not None and rhs.static_shape.rank < 2:
            raise InvalidArgumentError("Input `rhs` must have at least 2 dimensions.")
        if rhs.static_shape.rank == 2 and order.static_shape.rank == 1:
            permuted = gather(rhs, order, axis=-2)
        else:
            permuted = _permuted_batches(rhs, order)
        lower = matrix_set_diag(
            matrix_band_part(factors, num_lower=-1, num_upper=0), ones(shape(factors)[:-1], factors.dtype)
        )
        return matrix_triangular_solve(factors, matrix_triangular_solve(lower, permuted), lower=False)


def _factors(lower_upper: Any, perm: Any) -> tuple[Tensor, Tensor]:
    factors = convert(lower_upper, name="lower_upper", preferred_dtype=FLOAT32)
    order = convert(perm, name="perm", preferred_dtype=INT32)
    if factors.static_shape.rank is not None and factors.static_shape.rank < 2:
        raise InvalidArgumentError("Input `lower_upper` must have at least 2 dimensions.")
    return factors, order


def _permuted_batches(rhs: Tensor, order: Tensor) -> Tensor:
    sizes = shape(rhs)
    batch = broadcast_dynamic_shape(sizes[:-2], shape(order)[:-1])
    rows, columns = sizes[-2], sizes[-1]
    whole = concat([batch, [rows, columns]], axis=0)
    wide = reshape(broadcast_to(rhs, whole), [-1, rows, columns])
    orders = reshape(broadcast_to(order, whole[:-1]), [-1, rows])
    count = reduce_prod(batch)
    numbers = broadcast_to(span(count)[:, None], [count, rows])
    return reshape(gather_nd(wide, stack([numbers, orders], axis=-1)), whole)


def lu_matrix_inverse(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The inverses of matrices by their triangular factors."""
    with name_scope(name or "lu_matrix_inverse"):
        factors, order = _factors(lower_upper, perm)
        sizes = shape(factors)
        rhs = eye(sizes[-1], batch_shape=sizes[:-2], dtype=factors.dtype)
        return lu_solve(factors, order, rhs, validate_args=False)


def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The matrix of which these are the triangular factors."""
    with name_scope(name or "lu_reconstruct"):
        factors, order = _factors(lower_upper, perm)
        if factors.static_shape.rank != 2:
            raise UnimplementedError("lu_reconstruct of several matrices, or of ones of unknown rank")
        sizes = shape(factors)
        lower = matrix_set_diag(matrix_band_part(factors, num_lower=-1, num_upper=0), ones(sizes[:-1], factors.dtype))
        upper = matrix_band_part(factors, num_lower=0, num_upper=-1)
        found = gather(matmul(lower, upper), invert_permutation(order))
        found.set_shape(factors.static_shape)
        return found


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values of matrices are not negligible."""
    with name_scope(name or "matrix_rank"):
        a = _checked_matrix(convert(a, name="a", preferred_dtype=FLOAT32))
        values = svd(a, compute_uv=False)
        if tol is None:
            dims = (a.static_shape.dims or (None, None))[-2:]
            largest: Any = np.int64(max(dims)) if None not in dims else reduce_max(shape(a)[-2:])
            smallest = np.finfo(a.dtype.array_dtype).eps
            tol = smallest * cast(largest, a.dtype) * reduce_max(values, axis=-1, keepdims=True)
        return reduce_sum(cast(values > tol, INT32), axis=-1)


def _checked_matrix(a: Tensor) -> Tensor:
    if not a.dtype.is_floating:
        raise WrongTypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.static_shape.rank is not None and a.static_shape.rank < 2:
        raise InvalidArgumentError(f"Input `a` must have at least 2 dimensions (saw: {a.static_shape.rank}).")
    return a


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverses of matrices, by their singular values."""
    with name_scope(name or "pinv"):
        a = _checked_matrix(convert(a, name="a"))
        dtype = a.dtype.base_dtype
        dims = a.static_shape.dims
        if rcond is None:
            sizes = [shape(a)[at] if dims is None or dims[at] is None else dims[at] for at in (-2, -1)]
            known = all(isinstance(size, int) for size in sizes)
            largest: Any = float(max(sizes)) if known else cast(maximum(*sizes), dtype)  # type: ignore[arg-type]
            rcond = 10.0 * largest * np.finfo(dtype.array_dtype).eps
        rcond = convert(rcond, dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reduce_max(values, axis=-1)
        values = where_v2(values > expand_dims(cutoff, -1), values, np.array(np.inf, dtype.array_dtype))
        found = matmul(right / expand_dims(values, -2), left, adjoint_b=True)
        if dims is not None:
            found.set_shape(TensorShape([*dims[:-2], dims[-1], dims[-2]]))
        return found


LINALG: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "adjoint": adjoint,
        "band_part": matrix_band_part,
        "cholesky": cholesky,
        "cholesky_solve": cholesky_solve,
        "det": matrix_determinant,
        "diag": matrix_diag,
        "diag_part": matrix_diag_part,
        "eigh": self_adjoint_eig,
        "eigvalsh": self_adjoint_eigvals,
        "einsum": einsum,
        "eye": eye,
        "inv": matrix_inverse,
        "logdet": logdet,
        "logm": matrix_logarithm,
        "lstsq": matrix_solve_ls,
        "lu": lu,
        "lu_matrix_inverse": lu_matrix_inverse,
        "lu_reconstruct": lu_reconstruct,
        "lu_solve": lu_solve,
        "matmul": matmul,
        "matrix_rank": matrix_rank,
        "matrix_transpose": matrix_transpose,
        "matvec": matvec,
        "norm": norm,
        "pinv": pinv,
        "qr": qr,
        "set_diag": matrix_set_diag,
        "slogdet": log_matrix_determinant,
        "solve": matrix_solve,
        "sqrtm": matrix_square_root,
        "svd": svd,
        "tensor_diag": diag,
        "tensor_diag_part": diag_part,
        "tensordot": tensordot,
        "trace": trace,
        "transpose": matrix_transpose,
        "triangular_solve": matrix_triangular_solve,
        "tridiagonal_matmul": tridiagonal_matmul,
        "tridiagonal_solve": tridiagonal_solve,
    }
)
"""The functions of `tf.linalg`, by the names they have there."""


__all__ = [
    "LINALG",
    "adjoint",
    "cholesky",
    "cholesky_solve",
    "diag",
    "diag_part",
    "eig",
    "eigvals",
    "einsum",
    "eye",
    "log_matrix_determinant",
    "logdet",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_band_part",
    "matrix_determinant",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_inverse",
    "matrix_logarithm",
    "matrix_rank",
    "matrix_set_diag",
    "matrix_solve",
    "matrix_solve_ls",
    "matrix_square_root",
    "matrix_triangular_solve",
    "matvec",
    "norm",
    "pinv",
    "qr",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "sparse_matmul",
    "svd",
    "tensordot",
    "trace",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
