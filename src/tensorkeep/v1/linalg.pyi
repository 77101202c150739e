# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.arrays.shapes import matrix_transpose, matrix_transpose as transpose
from tensorkeep.tf1.functions.linear_algebra.exponentials import matrix_exponential as expm
from tensorkeep.tf1.functions.linear_algebra.linear_operators.blocks import (
    LinearOperatorBlockDiag, LinearOperatorBlockLowerTriangular,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.circulants import (
    LinearOperatorCirculant, LinearOperatorCirculant2D, LinearOperatorCirculant3D,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import (
    LinearOperator, LinearOperatorAdjoint, LinearOperatorComposition, LinearOperatorInversion,
    LinearOperatorLowerTriangular,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import (
    LinearOperatorDiag, LinearOperatorScaledIdentity,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.identities import (
    LinearOperatorIdentity, LinearOperatorZeros,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.products import (
    LinearOperatorKronecker, LinearOperatorLowRankUpdate,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.structured import (
    LinearOperatorFullMatrix, LinearOperatorHouseholder, LinearOperatorPermutation, LinearOperatorToeplitz,
    LinearOperatorTridiag,
)
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    adjoint, cholesky, cholesky_solve, diag as tensor_diag, diag_part as tensor_diag_part, eye,
    log_matrix_determinant as slogdet, logdet, lu, lu_matrix_inverse, lu_reconstruct, lu_solve,
    matrix_band_part as band_part, matrix_determinant as det, matrix_diag as diag, matrix_diag_part as diag_part,
    matrix_inverse as inv, matrix_logarithm as logm, matrix_rank, matrix_set_diag as set_diag, matrix_solve as solve,
    matrix_solve_ls as lstsq, matrix_square_root as sqrtm, matrix_triangular_solve as triangular_solve, norm,
    normalize, pinv, qr, self_adjoint_eig as eigh, self_adjoint_eigvals as eigvalsh, svd, trace, tridiagonal_matmul,
    tridiagonal_solve,
)
from tensorkeep.tf1.functions.linear_algebra.products import einsum, matvec, tensordot
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.clipping import global_norm
from tensorkeep.tf1.functions.numbers.elementwise import cross
from tensorkeep.tf1.functions.ragged.dispatch import matmul

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition",
    "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorInversion", "LinearOperatorKronecker", "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros", "adjoint", "band_part", "cholesky",
    "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh", "eigvalsh", "einsum", "expm", "eye", "global_norm",
    "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse", "lu_reconstruct", "lu_solve",
    "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv", "qr", "set_diag", "slogdet",
    "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace", "transpose", "triangular_solve",
    "tridiagonal_matmul", "tridiagonal_solve",
]
