"""Products of matrices, einsum, diagonals, and linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.jax.registry import lowering, same_function, traced_lowering

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing


def _accumulator_type(x: Any) -> Any:
    """The type that products are added up in: of halves, float32."""
    return jnp.float32 if x.dtype in (jnp.float16, jnp.bfloat16) else x.dtype


def _adjoint_if(x: Any, is_adjoint: bool) -> Any:
    return jnp.conj(jnp.swapaxes(x, -1, -2)) if is_adjoint else x


def product(tracing: Tracing, a: jax.Array, b: jax.Array) -> jax.Array:
    """A product of matrices, or of stacks of them, in the precision that was asked for."""
    wide = jnp.promote_types(_accumulator_type(a), _accumulator_type(b))
    found = jnp.matmul(a, b, precision=tracing.precision, preferred_element_type=wide)
    return found.astype(a.dtype)


@traced_lowering("MatMul", raw=False)
def matmul(tracing: Tracing, a: jax.Array, b: jax.Array, *, transpose_a: bool, transpose_b: bool) -> jax.Array:
    a = a.T if transpose_a else a
    return product(tracing, a, b.T if transpose_b else b)


@traced_lowering("SparseMatMul", raw=False)
def sparse_matmul(tracing: Tracing, a: jax.Array, b: jax.Array, *, transpose_a: bool, transpose_b: bool) -> jax.Array:
    a, b = a.astype(jnp.float32), b.astype(jnp.float32)
    return product(tracing, a.T if transpose_a else a, b.T if transpose_b else b)


@traced_lowering("BatchMatMul", "BatchMatMulV2", raw=False)
def batch_matmul(tracing: Tracing, x: jax.Array, y: jax.Array, *, adj_x: bool, adj_y: bool) -> jax.Array:
    return product(tracing, _adjoint_if(x, adj_x), _adjoint_if(y, adj_y))


@traced_lowering("BatchMatMulV3", raw=False)
def batch_matmul_typed(
    tracing: Tracing,
    x: jax.Array,
    y: jax.Array,
    *,
    adj_x: bool,
    adj_y: bool,
    Tout: DType,  # noqa: N803
) -> jax.Array:
    wanted = Tout.array_dtype
    wide = (
        wanted if jnp.issubdtype(wanted, jnp.integer) else jnp.promote_types(_accumulator_type(x), _accumulator_type(y))
    )
    return jnp.matmul(
        _adjoint_if(x, adj_x), _adjoint_if(y, adj_y), precision=tracing.precision, preferred_element_type=wide
    )


@traced_lowering("_FusedMatMul", raw=False)
def fused_matmul(
    tracing: Tracing,
    a: jax.Array,
    b: jax.Array,
    args: list[Any],
    *,
    transpose_a: bool,
    transpose_b: bool,
    fused_ops: Sequence[bytes],
) -> jax.Array:
    found = matmul(tracing, a, b, transpose_a=transpose_a, transpose_b=transpose_b)
    return with_fused(found, args, fused_ops)


def with_fused(found: jax.Array, args: list[Any], fused_ops: Sequence[bytes]) -> jax.Array:
    """A product with what TensorFlow's optimizer has put behind it: a bias, an activation."""
    named = {b"Relu": jax.nn.relu, b"Relu6": lambda x: jnp.clip(x, 0, 6), b"Elu": jax.nn.elu, b"Tanh": jnp.tanh,
             b"Sigmoid": jax.nn.sigmoid, b"GeluApproximate": jax.nn.gelu,
             b"GeluExact": lambda x: jax.nn.gelu(x, approximate=False)}  # fmt: skip
    for op in fused_ops:
        found = found + args[0] if op in (b"BiasAdd", b"Add") else named[bytes(op)](found)
    return found


@traced_lowering("Einsum", raw=False)
def einsum(tracing: Tracing, inputs: list[Any], *, equation: bytes) -> jax.Array:
    wide = _accumulator_type(inputs[0])
    text = equation.decode().replace(" ", "")
    left, arrow, result = text.partition("->")
    plain = left + arrow + _labels_without_repeats(result)
    found = jnp.einsum(plain, *inputs, precision=tracing.precision, preferred_element_type=wide)
    return _put_on_diagonals(found, result).astype(inputs[0].dtype)


def _labels_without_repeats(labels: str) -> str:
    """The labels of a result, each once, where it is met first; dots stay."""
    return "".join(label for at, label in enumerate(labels) if label == "." or label not in labels[:at])


def _put_on_diagonals(x: Any, labels: str) -> Any:
    """A value whose labels are repeated: along two axes with one label it is their diagonal, with zeros beside."""
    plain = _labels_without_repeats(labels)
    own = labels.replace("...", "." * (x.ndim - len(plain.replace(".", ""))))
    for at, label in enumerate(own):
        if label == "." or label not in own[:at]:
            continue
        first = own.index(label)
        size = x.shape[first]
        is_same = np.eye(size, dtype=bool).reshape([size if axis in (first, at) else 1 for axis in range(x.ndim + 1)])
        x = jnp.where(is_same, jnp.expand_dims(x, at), jnp.zeros((), x.dtype))
    return x


# ---------------------------------------------------------------------------------------------------------- diagonals


@lowering("Diag")
def diag(diagonal: jax.Array) -> jax.Array:
    flat = jnp.diag(diagonal.reshape(-1))
    return flat.reshape(*diagonal.shape, *diagonal.shape)


@lowering("DiagPart")
def diag_part(input: jax.Array) -> jax.Array:
    half = input.shape[: input.ndim // 2]
    count = int(np.prod(half))
    return jnp.diagonal(input.reshape(count, count)).reshape(half)


@lowering("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(diagonal: jax.Array) -> jax.Array:
    return jnp.where(np.eye(diagonal.shape[-1], dtype=bool), diagonal[..., None, :], jnp.zeros((), diagonal.dtype))


@lowering("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(input: jax.Array) -> jax.Array:
    return jnp.diagonal(input, axis1=-2, axis2=-1)


@lowering("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag(input: jax.Array, diagonal: jax.Array) -> jax.Array:
    count = min(input.shape[-2:])
    places = np.arange(count)
    return input.at[..., places, places].set(diagonal)


@lowering("MatrixBandPart", "BatchMatrixBandPart")
def matrix_band_part(input: jax.Array, num_lower: jax.Array, num_upper: jax.Array) -> jax.Array:
    rows = jnp.arange(input.shape[-2])[:, None]
    columns = jnp.arange(input.shape[-1])[None, :]
    below = (num_lower < 0) | (rows - columns <= num_lower)
    above = (num_upper < 0) | (columns - rows <= num_upper)
    return jnp.where(below & above, input, jnp.zeros((), input.dtype))


# ------------------------------------------------------------------------------------------------------- linear algebra

same_function(
    {
        "Cholesky": lambda x: jnp.linalg.cholesky(x) if x.size else x,
        "BatchCholesky": lambda x: jnp.linalg.cholesky(x) if x.size else x,
        "MatrixDeterminant": lambda x: _determinant(x),
        "BatchMatrixDeterminant": lambda x: _determinant(x),
    }
)


def _determinant(x: Any) -> Any:
    """JAX derives none of a matrix without elements, whose determinant is 1."""
    return jnp.linalg.det(x) if x.shape[-1] else jnp.ones(x.shape[:-2], x.dtype)


@lowering("LogMatrixDeterminant")
def log_determinant(input: jax.Array) -> tuple[Any, Any]:
    """TensorFlow's gradient is that of the logarithm alone."""
    sign, size = jnp.linalg.slogdet(input)
    return lax.stop_gradient(sign), size


@lowering("MatrixInverse", "BatchMatrixInverse")
def matrix_inverse(input: jax.Array, *, adjoint: bool) -> jax.Array:
    found = jnp.linalg.inv(input)
    return _adjoint_if(found, adjoint)


@lowering("MatrixSolve", "BatchMatrixSolve")
def matrix_solve(matrix: jax.Array, rhs: jax.Array, *, adjoint: bool) -> jax.Array:
    return jnp.linalg.solve(_adjoint_if(matrix, adjoint), rhs)


@lowering("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def triangular_solve(matrix: jax.Array, rhs: jax.Array, *, lower: bool, adjoint: bool) -> jax.Array:
    stacks = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    matrix = jnp.broadcast_to(matrix, (*stacks, *matrix.shape[-2:]))
    rhs = jnp.broadcast_to(rhs, (*stacks, *rhs.shape[-2:]))
    return lax.linalg.triangular_solve(
        matrix, rhs, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint and jnp.iscomplexobj(matrix)
    )


@lowering("SelfAdjointEigV2")
def self_adjoint_eigen(input: jax.Array, *, compute_v: bool) -> tuple[Any, Any]:
    # Only what is below the diagonal is read, and has a gradient.
    below = jnp.tril(input, -1)
    whole = jnp.tril(input) + jnp.conj(jnp.swapaxes(below, -1, -2))
    values, vectors = jnp.linalg.eigh(whole, symmetrize_input=False, UPLO="L")
    return values, vectors if compute_v else jnp.zeros((0,), input.dtype)


# ------------------------------------------------------------------------------------------------------------- Fourier

same_function(
    {
        **dict.fromkeys(("FFT", "BatchFFT"), jnp.fft.fft),
        **dict.fromkeys(("IFFT", "BatchIFFT"), jnp.fft.ifft),
        **dict.fromkeys(("FFT2D", "BatchFFT2D"), jnp.fft.fft2),
        **dict.fromkeys(("IFFT2D", "BatchIFFT2D"), jnp.fft.ifft2),
        **dict.fromkeys(("FFT3D", "BatchFFT3D"), lambda x: jnp.fft.fftn(x, axes=(-3, -2, -1))),
        **dict.fromkeys(("IFFT3D", "BatchIFFT3D"), lambda x: jnp.fft.ifftn(x, axes=(-3, -2, -1))),
    }
)


def _axes_of(lengths: Any) -> tuple[list[int], tuple[int, ...]]:
    wanted = [int(size) for size in lengths]
    return wanted, tuple(range(-len(wanted), 0))


@lowering("RFFT", "RFFT2D", "RFFT3D", known=("fft_length",))
def real_fourier(input: jax.Array, fft_length: Array) -> jax.Array:
    lengths, axes = _axes_of(fft_length)
    if not input.size or 0 in lengths:
        sizes = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
        return jnp.zeros((*input.shape[: input.ndim - len(lengths)], *sizes), jnp.complex64)
    return jnp.fft.rfftn(input, lengths, axes)


@lowering("IRFFT", "IRFFT2D", "IRFFT3D", known=("fft_length",))
def inverse_real_fourier(input: jax.Array, fft_length: Array) -> jax.Array:
    lengths, axes = _axes_of(fft_length)
    if not input.size or 0 in lengths:
        return jnp.zeros((*input.shape[: input.ndim - len(lengths)], *lengths), jnp.float32)
    return jnp.fft.irfftn(input, lengths, axes)
