# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.arrays.counting import bincount, confusion_matrix
from tensorkeep.tf1.functions.arrays.shapes import invert_permutation
from tensorkeep.tf1.functions.control.assertions import is_non_decreasing, is_strictly_increasing
from tensorkeep.tf1.functions.nn.activations import in_top_k, softmax, top_k, zero_fraction
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.elementwise import (
    accumulate_n, cumprod, cumulative_logsumexp, divide_no_nan, mod, polyval,
)
from tensorkeep.tf1.functions.numbers.reductions import (
    argmax, argmin, count_nonzero, reduce_euclidean_norm, reduce_logsumexp,
)
from tensorkeep.tf1.functions.numbers.segments import segment_max, segment_mean, segment_min, segment_prod, segment_sum
from tensorkeep.tf1.functions.numbers.special import betainc, igamma, igammac, lbeta, polygamma
from tensorkeep.tf1.functions.ragged.dispatch import (
    abs, acos, acosh, add, add_n, angle, asin, asinh, atan, atan2, atanh, bessel_i0, bessel_i0e, bessel_i1, bessel_i1e,
    ceil, conj, cos, cosh, cumsum, digamma, divide, equal, erf, erfc, erfcinv, erfinv, exp, expm1, floor, floordiv,
    floormod, greater, greater_equal, imag, is_finite, is_inf, is_nan, less, less_equal, lgamma, log, log1p,
    log_sigmoid, log_softmax, logical_and, logical_not, logical_or, logical_xor, maximum, minimum, multiply,
    multiply_no_nan, ndtri, negative, nextafter, not_equal, pow, real, reciprocal, reciprocal_no_nan, reduce_all,
    reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_std, reduce_sum, reduce_variance, rint, round,
    rsqrt, scalar_mul, sigmoid, sign, sin, sinh, softplus, softsign, sqrt, square, squared_difference, subtract, tan,
    tanh, truediv, unsorted_segment_max, unsorted_segment_mean, unsorted_segment_min, unsorted_segment_prod,
    unsorted_segment_sqrt_n, unsorted_segment_sum, xdivy, xlog1py, xlogy, zeta,
)
from tensorkeep.v1.math import special

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "argmax", "argmin", "asin", "asinh", "atan",
    "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc", "bincount", "ceil",
    "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "cumulative_logsumexp", "digamma",
    "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv", "erfinv", "exp", "expm1", "floor", "floordiv",
    "floormod", "greater", "greater_equal", "igamma", "igammac", "imag", "in_top_k", "invert_permutation", "is_finite",
    "is_inf", "is_nan", "is_non_decreasing", "is_strictly_increasing", "l2_normalize", "lbeta", "less", "less_equal",
    "lgamma", "log", "log1p", "log_sigmoid", "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal",
    "polygamma", "polyval", "pow", "real", "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_std", "reduce_sum", "reduce_variance", "rint", "round", "rsqrt", "scalar_mul", "segment_max",
    "segment_mean", "segment_min", "segment_prod", "segment_sum", "sigmoid", "sign", "sin", "sinh", "softmax",
    "softplus", "softsign", "special", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh", "top_k",
    "truediv", "unsorted_segment_max", "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod",
    "unsorted_segment_sqrt_n", "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy", "zero_fraction", "zeta",
]
