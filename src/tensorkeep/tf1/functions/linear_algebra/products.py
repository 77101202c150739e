"""Products of matrices and sums of products of tensors, under the names that TensorFlow 1 gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from numbers import Integral
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.linear_algebra import einsum as einsum_ops
from tensorkeep.ops.linear_algebra import matmul as products
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions import operators as _operators
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    rank,
    reshape,
    scope_of,
    setdiff1d,
    shape,
    squeeze,
    stack,
    transpose,
    where,
)
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod

del _operators  # imported for what it installs

# ---------------------------------------------------------------------------------------------------- Products


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
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
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices of which one is mostly zero."""
    return emit(
        products.sparse_matmul,
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )


def matvec(
    a: TensorLike,
    b: TensorLike,
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


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """The sum of products over axes of both: the last n of `a` and the first n of `b`, or a list of axes for each."""
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


def einsum(equation: str, *inputs: TensorLike, **kwargs: str | None) -> Tensor:
    """The sum of products that an equation states, such as "ij,jk->ik"."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise WrongTypeError(
            f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Valid arguments: name, optimize, greedy."
        )
    with scope_of(name, "einsum", *inputs):
        operands = list(inputs)
        parts, output = _resolved_labels(equation, len(operands))
        if len(operands) <= 2:
            return _summed_products(operands, f"{','.join(parts)}->{output}")
        sizes: dict[str, int] = {}
        for i, (labels, operand) in enumerate(zip(parts, operands, strict=True)):
            _note_sizes(labels, operand, sizes, i, equation)
        for places, step in _contraction_path(tuple(parts), output, tuple(sorted(sizes.items()))):
            chosen = [operands.pop(place) for place in places]
            operands.append(_summed_products(chosen, step))
        return convert(operands[0])


_ELLIPSIS: Final = "0"  # the label of "..." while an equation is worked on


def _summed_products(operands: Sequence[Any], equation: str) -> Tensor:
    return emit(einsum_ops.einsum, operands, equation=equation.replace(_ELLIPSIS, "..."))


def _resolved_labels(equation: str, count: int) -> tuple[list[str], str]:
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
