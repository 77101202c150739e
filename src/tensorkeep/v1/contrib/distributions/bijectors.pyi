# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.distributions.bijectors.affine import Affine, AffineLinearOperator, AffineScalar
from tensorkeep.tf1.distributions.bijectors.autoregressive import (
    MaskedAutoregressiveFlow, masked_autoregressive_default_template, masked_dense,
)
from tensorkeep.tf1.distributions.bijectors.base import Bijector, ConditionalBijector
from tensorkeep.tf1.distributions.bijectors.batch_normalization import BatchNormalization
from tensorkeep.tf1.distributions.bijectors.combining import Chain, Inline, Invert, TransformDiagonal
from tensorkeep.tf1.distributions.bijectors.elementwise import (
    AbsoluteValue, Exp, Identity, PowerTransform, Sigmoid, Softplus, Softsign, Square,
)
from tensorkeep.tf1.distributions.bijectors.families import Gumbel, Kumaraswamy, SinhArcsinh, Weibull
from tensorkeep.tf1.distributions.bijectors.matrices import (
    CholeskyOuterProduct, FillTriangular, MatrixInverseTriL, MatvecLU, ScaleTriL,
)
from tensorkeep.tf1.distributions.bijectors.real_nvp import RealNVP, real_nvp_default_template
from tensorkeep.tf1.distributions.bijectors.vectors import Ordered, Permute, Reshape, SoftmaxCentered

__all__ = [
    "AbsoluteValue", "Affine", "AffineLinearOperator", "AffineScalar", "BatchNormalization", "Bijector", "Chain",
    "CholeskyOuterProduct", "ConditionalBijector", "Exp", "FillTriangular", "Gumbel", "Identity", "Inline", "Invert",
    "Kumaraswamy", "MaskedAutoregressiveFlow", "MatrixInverseTriL", "MatvecLU", "Ordered", "Permute", "PowerTransform",
    "RealNVP", "Reshape", "ScaleTriL", "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus", "Softsign", "Square",
    "TransformDiagonal", "Weibull", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template",
]
