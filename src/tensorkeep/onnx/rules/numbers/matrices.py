"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import complex_of_parts, conj, part
from tensorkeep.onnx.rules.numbers.elementwise import broadcast_dims, computed_in, elementwise, is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term

_GEMM: Final = frozenset(("float16", "float32", "float64"))

# ---------------------------------------------------------------------------------------------------- Products


def product(to: OnnxGraph, a: Term, b: Term) -> Term:
    """The product of matrices, or of batches of them that are stretched to each other."""
    if a.is_complex:
        return product_of_parts(to, a, b, lambda x, y: product(to, x, y))
    own, dims = a.dtype, _product_dims(a, b)
    if is_empty(dims):
        return nothing(own, dims)
    wide = computed_in(to, "MatMul", own)
    found = to.node("MatMul", to.cast(a, wide), to.cast(b, wide), dims=dims)
    return to.cast(found, own)


def _product_dims(a: Term, b: Term) -> Dims | None:
    if a.dims is None or b.dims is None or len(a.dims) < 2 or len(b.dims) < 2:
        return None
    batch = broadcast_dims(Term(a.dtype, a.dims[:-2]), Term(b.dtype, b.dims[:-2]))
    return None if batch is None else (*batch, a.dims[-2], b.dims[-1])


def product_of_parts(to: OnnxGraph, a: Term, b: Term, multiply: Callable[[Term, Term], Term]) -> Term:
    """A product of complex numbers by products of their parts."""
    (ar, ai), (br, bi) = ((part(to, z, 0), part(to, z, 1)) for z in (a, b))
    real = elementwise(to, "Sub", multiply(ar, br), multiply(ai, bi))
    imaginary = elementwise(to, "Add", multiply(ar, bi), multiply(ai, br))
    return complex_of_parts(to, real, imaginary, a.dtype)


def _matrix_transposed(to: OnnxGraph, x: Term) -> Term:
    """A matrix, or each of a batch, with its rows as columns."""
    rank = to.known_rank(x)
    order = [*range(rank - 2), rank - 1, rank - 2]
    if not x.is_complex or x.array is not None:
        return to.transpose(x, order)
    dims = None if x.dims is None else tuple(x.dims[axis] for axis in order)
    return to.node("Transpose", x, dims=dims, perm=[*order, rank])


@rule("MatMul", takes_complex=True)
def matmul(to: OnnxGraph, a: Term, b: Term, *, transpose_a: bool, transpose_b: bool) -> Term:
    """A product of two matrices. One that is computed and turned is turned by ONNX's Gemm."""
    turns = (transpose_a and a.array is None, transpose_b and b.array is None)
    if any(turns) and a.dtype.name in _GEMM:
        a = a if turns[0] or not transpose_a else _matrix_transposed(to, a)
        b = b if turns[1] or not transpose_b else _matrix_transposed(to, b)
        rows, columns = a.size(1 if turns[0] else 0), b.size(0 if turns[1] else 1)
        marks = {"transA": turns[0] or None, "transB": turns[1] or None}
        return to.node("Gemm", a, b, dims=(rows, columns), attrs=marks)
    a = _matrix_transposed(to, a) if transpose_a else a
    b = _matrix_transposed(to, b) if transpose_b else b
    return product(to, a, b)


@rule("SparseMatMul")
def sparse_matmul(to: OnnxGraph, a: Term, b: Term, *, transpose_a: bool, transpose_b: bool) -> Term:
    """The product in float32: that much is zero changes how TensorFlow computes it, not what."""
    wide = (to.cast(a, FLOAT32), to.cast(b, FLOAT32))
    return matmul(to, *wide, transpose_a=transpose_a, transpose_b=transpose_b)


def _adjoint(to: OnnxGraph, x: Term) -> Term:
    return _matrix_transposed(to, conj(to, x))


def _check_batches(to: OnnxGraph, x: Term, y: Term, equal: bool) -> None:
    """Refuses what ONNX would multiply and our kernel would not: vectors, and batches that had to be equal."""
    if not to.model.is_for_engine:
        return
    if x.dims is None or y.dims is None or len(x.dims) < 2 or len(y.dims) < 2:
        to.refuse("it is not known whether its inputs are matrices")
    if equal and (None in x.dims[:-2] or x.dims[:-2] != y.dims[:-2]):
        to.refuse("it is not known whether there are as many matrices on both sides")


@rule("BatchMatMul", "BatchMatMulV2", takes_complex=True)
def batch_matmul(to: OnnxGraph, x: Term, y: Term, *, adj_x: bool, adj_y: bool) -> Term:
    operation = to.operation
    _check_batches(to, x, y, operation is not None and operation.type == "BatchMatMul")
    return product(to, _adjoint(to, x) if adj_x else x, _adjoint(to, y) if adj_y else y)


@rule("BatchMatMulV3", takes_complex=True)
def batch_matmul_v3(to: OnnxGraph, x: Term, y: Term, *, adj_x: bool, adj_y: bool, Tout: DType) -> Term:  # noqa: N803
    """A product in the type of the result."""
    if Tout.is_complex and not (x.dtype is Tout and y.dtype is Tout):
        to.refuse("a product of complex numbers and others has no rule")
    return batch_matmul(to, to.cast(x, Tout), to.cast(y, Tout), adj_x=adj_x, adj_y=adj_y)


@rule("BiasAdd", "BiasAddV1")
def bias_add(to: OnnxGraph, value: Term, bias: Term) -> Term:
    """A number for each channel, which is the last axis or the second one."""
    operation = to.operation
    assert operation is not None
    if operation.type == "BiasAdd" and operation.attr("data_format") == b"NCHW":
        bias = to.unsqueeze(bias, list(range(1, to.known_rank(value) - 1)))
    return elementwise(to, "Add", value, bias)
