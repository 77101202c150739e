"""`tf.linalg`: linear algebra."""

from __future__ import annotations

from tensorkeep.functions.array import matrix_transpose
from tensorkeep.functions.array import matrix_transpose as transpose
from tensorkeep.functions.clipping import global_norm
from tensorkeep.functions.linear_algebra import (
    adjoint,
    cholesky,
    cholesky_solve,
    eye,
    logdet,
    lu,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_rank,
    norm,
    normalize,
    pinv,
    qr,
    svd,
    trace,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from tensorkeep.functions.linear_algebra import diag as tensor_diag
from tensorkeep.functions.linear_algebra import diag_part as tensor_diag_part
from tensorkeep.functions.linear_algebra import log_matrix_determinant as slogdet
from tensorkeep.functions.linear_algebra import matrix_band_part as band_part
from tensorkeep.functions.linear_algebra import matrix_determinant as det
from tensorkeep.functions.linear_algebra import matrix_diag as diag
from tensorkeep.functions.linear_algebra import matrix_diag_part as diag_part
from tensorkeep.functions.linear_algebra import matrix_inverse as inv
from tensorkeep.functions.linear_algebra import matrix_logarithm as logm
from tensorkeep.functions.linear_algebra import matrix_set_diag as set_diag
from tensorkeep.functions.linear_algebra import matrix_solve as solve
from tensorkeep.functions.linear_algebra import matrix_solve_ls as lstsq
from tensorkeep.functions.linear_algebra import matrix_square_root as sqrtm
from tensorkeep.functions.linear_algebra import matrix_triangular_solve as triangular_solve
from tensorkeep.functions.linear_algebra import self_adjoint_eig as eigh
from tensorkeep.functions.linear_algebra import self_adjoint_eigvals as eigvalsh
from tensorkeep.functions.math import cross
from tensorkeep.functions.normalization import l2_normalize
from tensorkeep.functions.products import einsum, matvec, tensordot
from tensorkeep.functions.ragged_dispatch import matmul

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
