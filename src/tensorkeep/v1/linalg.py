"""`tf.linalg`: linear algebra."""

from __future__ import annotations

from tensorkeep.tf1.functions.arrays.shapes import matrix_transpose
from tensorkeep.tf1.functions.arrays.shapes import matrix_transpose as transpose
from tensorkeep.tf1.functions.linear_algebra.matrices import (
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
from tensorkeep.tf1.functions.linear_algebra.matrices import diag as tensor_diag
from tensorkeep.tf1.functions.linear_algebra.matrices import diag_part as tensor_diag_part
from tensorkeep.tf1.functions.linear_algebra.matrices import log_matrix_determinant as slogdet
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_band_part as band_part
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_determinant as det
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag as diag
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag_part as diag_part
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_inverse as inv
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_logarithm as logm
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_set_diag as set_diag
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_solve as solve
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_solve_ls as lstsq
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_square_root as sqrtm
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_triangular_solve as triangular_solve
from tensorkeep.tf1.functions.linear_algebra.matrices import self_adjoint_eig as eigh
from tensorkeep.tf1.functions.linear_algebra.matrices import self_adjoint_eigvals as eigvalsh
from tensorkeep.tf1.functions.linear_algebra.products import einsum, matvec, tensordot
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.clipping import global_norm
from tensorkeep.tf1.functions.numbers.elementwise import cross
from tensorkeep.tf1.functions.ragged.dispatch import matmul

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
