"""Functions of tensors that take ragged tensors too: the same functions, which hand these to their ragged forms."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from tensorkeep.graph.graph import OPERATORS
from tensorkeep.runtime.composite_values import RaggedTensorValue
from tensorkeep.tf1.functions import operators  # noqa: F401 - which are given their ragged forms below
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import either, scope_of
from tensorkeep.tf1.functions.control import assertions
from tensorkeep.tf1.functions.embedding import lookups
from tensorkeep.tf1.functions.images import colors
from tensorkeep.tf1.functions.linear_algebra import products
from tensorkeep.tf1.functions.nn import activations
from tensorkeep.tf1.functions.numbers import clipping, reductions, segments, special
from tensorkeep.tf1.functions.numbers import elementwise as math
from tensorkeep.tf1.functions.parsing import decoding, strings
from tensorkeep.tf1.functions.ragged import (
    arrays,
    broadcasting,
    gradients,  # noqa: F401 - so that ragged tensors have gradients
    indexing,  # noqa: F401 - so that ragged tensors can be indexed
    ragged_math,
    ragged_products,
    ragged_strings,
    rearranging,
)
from tensorkeep.tf1.functions.ragged.ragged_tensor import RAGGED_OPERATORS, RaggedTensor

Function = TypeVar("Function", bound=Callable[..., Any])

_RAGGED = (RaggedTensor, RaggedTensorValue)


def _has_ragged(values: Any) -> bool:
    for value in values:
        if isinstance(value, _RAGGED):
            return True
        if isinstance(value, list | tuple) and any(isinstance(item, _RAGGED) for item in value):
            return True
    return False


def _dispatched_function(function: Function, ragged: Callable[..., Any]) -> Function:
    """The function, and for ragged tensors its ragged form, which takes the same arguments."""

    @wraps(function)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        if _has_ragged(args) or _has_ragged(kwargs.values()):
            return ragged(*args, **kwargs)
        return function(*args, **kwargs)

    return dispatching  # type: ignore[return-value]


def _elementwise(function: Function, count: int, ragged: Callable[..., Any]) -> Function:
    """An element-wise function of its first arguments. With a name, that is the scope of what is added."""
    parameters = signature(function)
    names = list(parameters.parameters)

    def elementwise(*args: Any, **kwargs: Any) -> Any:
        given = dict(parameters.bind(*args, **kwargs).arguments)
        name = given.pop("name", None)
        values = [given.pop(word) for word in names[:count] if word in given]
        if name is None:
            return ragged(function, *values, **given)
        with scope_of(name, name, *values):
            return ragged(function, *values, **given)

    return _dispatched_function(function, elementwise)


def _unary(function: Function) -> Function:
    return _elementwise(function, 1, broadcasting.unary)


def _binary(function: Function) -> Function:
    return _elementwise(function, 2, broadcasting.binary)


def _reduction(function: Function, ragged: Callable[..., Any]) -> Function:
    """A reduction, whose ragged form has no names but the new ones for its arguments."""
    parameters = signature(function)

    def renamed(*args: Any, **kwargs: Any) -> Any:
        given = parameters.bind(*args, **kwargs).arguments
        axis = either("axis", given.get("axis"), "reduction_indices", given.get("reduction_indices"))
        keepdims = either("keepdims", given.get("keepdims"), "keep_dims", given.get("keep_dims"))
        more = {name: given[name] for name in ("name", "separator") if name in given}
        value = given.get("input_tensor", given.get("inputs"))
        return ragged(value, axis, keepdims if keepdims is not None else False, **more)

    return _dispatched_function(function, renamed)


# ------------------------------------------------------------------------------------------------- Element-wise

check_numerics = _unary(shapes.check_numerics)
ones_like = _unary(shapes.ones_like)
zeros_like = _unary(shapes.zeros_like)
abs = _unary(math.abs)
acos = _unary(math.acos)
acosh = _unary(math.acosh)
angle = _unary(math.angle)
asin = _unary(math.asin)
asinh = _unary(math.asinh)
atan = _unary(math.atan)
atanh = _unary(math.atanh)
cast = _unary(math.cast)
ceil = _unary(math.ceil)
conj = _unary(math.conj)
cos = _unary(math.cos)
cosh = _unary(math.cosh)
digamma = _unary(math.digamma)
erf = _unary(math.erf)
erfc = _unary(math.erfc)
exp = _unary(math.exp)
expm1 = _unary(math.expm1)
floor = _unary(math.floor)
imag = _unary(math.imag)
is_finite = _unary(math.is_finite)
is_inf = _unary(math.is_inf)
is_nan = _unary(math.is_nan)
lgamma = _unary(math.lgamma)
log = _unary(math.log)
log1p = _unary(math.log1p)
log_sigmoid = _unary(math.log_sigmoid)
logical_not = _unary(math.logical_not)
negative = _unary(math.negative)
nextafter = _unary(math.nextafter)
real = _unary(math.real)
reciprocal = _unary(math.reciprocal)
reciprocal_no_nan = _unary(math.reciprocal_no_nan)
rint = _unary(math.rint)
round = _unary(math.round)
rsqrt = _unary(math.rsqrt)
saturate_cast = _unary(math.saturate_cast)
sigmoid = _unary(math.sigmoid)
sign = _unary(math.sign)
sin = _unary(math.sin)
sinh = _unary(math.sinh)
sqrt = _unary(math.sqrt)
square = _unary(math.square)
tan = _unary(math.tan)
tanh = _unary(math.tanh)
to_bfloat16 = _unary(math.to_bfloat16)
to_complex128 = _unary(math.to_complex128)
to_complex64 = _unary(math.to_complex64)
to_double = _unary(math.to_double)
to_float = _unary(math.to_float)
to_int32 = _unary(math.to_int32)
to_int64 = _unary(math.to_int64)
elu = _unary(activations.elu)
leaky_relu = _unary(activations.leaky_relu)
log_softmax = _unary(activations.log_softmax)
relu = _unary(activations.relu)
relu6 = _unary(activations.relu6)
selu = _unary(activations.selu)
silu = _unary(activations.silu)
softplus = _unary(activations.softplus)
softsign = _unary(activations.softsign)
bessel_i0 = _unary(special.bessel_i0)
bessel_i0e = _unary(special.bessel_i0e)
bessel_i1 = _unary(special.bessel_i1)
bessel_i1e = _unary(special.bessel_i1e)
erfcinv = _unary(special.erfcinv)
erfinv = _unary(special.erfinv)
ndtri = _unary(special.ndtri)
as_string = _unary(strings.as_string)
decode_base64 = _unary(strings.decode_base64)
encode_base64 = _unary(strings.encode_base64)
regex_full_match = _unary(strings.regex_full_match)
regex_replace = _unary(strings.regex_replace)
string_length = _unary(strings.string_length)
string_lower = _unary(strings.string_lower)
string_strip = _unary(strings.string_strip)
string_to_hash_bucket = _unary(strings.string_to_hash_bucket)
string_to_hash_bucket_fast = _unary(strings.string_to_hash_bucket_fast)
string_to_hash_bucket_strong = _unary(strings.string_to_hash_bucket_strong)
string_to_number = _unary(strings.string_to_number)
string_upper = _unary(strings.string_upper)
substr = _unary(strings.substr)
clip_by_value = _unary(clipping.clip_by_value)
unicode_script = _unary(ragged_strings.unicode_script)
unicode_transcode = _unary(ragged_strings.unicode_transcode)
bitwise_invert = _unary(math.bitwise_invert)
decode_compressed = _unary(decoding.decode_compressed)
adjust_brightness = _unary(colors.adjust_brightness)
adjust_gamma = _unary(colors.adjust_gamma)
convert_image_dtype = _unary(colors.convert_image_dtype)
random_brightness = _unary(colors.random_brightness)
bessel_j0 = _unary(special.bessel_j0)
bessel_j1 = _unary(special.bessel_j1)
bessel_k0 = _unary(special.bessel_k0)
bessel_k0e = _unary(special.bessel_k0e)
bessel_k1 = _unary(special.bessel_k1)
bessel_k1e = _unary(special.bessel_k1e)
bessel_y0 = _unary(special.bessel_y0)
bessel_y1 = _unary(special.bessel_y1)
dawsn = _unary(special.dawsn)
expint = _unary(special.expint)
fresnel_cos = _unary(special.fresnel_cos)
fresnel_sin = _unary(special.fresnel_sin)
spence = _unary(special.spence)

add = _binary(math.add)
atan2 = _binary(math.atan2)
bitwise_and = _binary(math.bitwise_and)
bitwise_or = _binary(math.bitwise_or)
bitwise_xor = _binary(math.bitwise_xor)
complex = _binary(math.complex)
div = _binary(math.div)
div_no_nan = _binary(math.div_no_nan)
divide = _binary(math.divide)
equal = _binary(math.equal)
floor_div = _binary(math.floor_div)
floordiv = _binary(math.floordiv)
floormod = _binary(math.floormod)
greater = _binary(math.greater)
greater_equal = _binary(math.greater_equal)
left_shift = _binary(math.left_shift)
less = _binary(math.less)
less_equal = _binary(math.less_equal)
logical_and = _binary(math.logical_and)
logical_or = _binary(math.logical_or)
logical_xor = _binary(math.logical_xor)
maximum = _binary(math.maximum)
minimum = _binary(math.minimum)
multiply = _binary(math.multiply)
multiply_no_nan = _binary(math.multiply_no_nan)
not_equal = _binary(math.not_equal)
pow = _binary(math.pow)
realdiv = _binary(math.realdiv)
right_shift = _binary(math.right_shift)
scalar_mul = _binary(math.scalar_mul)
squared_difference = _binary(math.squared_difference)
subtract = _binary(math.subtract)
truediv = _binary(math.truediv)
truncatediv = _binary(math.truncatediv)
truncatemod = _binary(math.truncatemod)
xdivy = _binary(math.xdivy)
xlog1py = _binary(math.xlog1py)
xlogy = _binary(math.xlogy)
zeta = _binary(special.zeta)

# --------------------------------------------------------------------------------- Of whole rows and dimensions

concat = _dispatched_function(shapes.concat, arrays.concat)
stack = _dispatched_function(shapes.stack, arrays.stack)
expand_dims = _dispatched_function(shapes.expand_dims, arrays.expand_dims)
tile = _dispatched_function(shapes.tile, arrays.tile)
size = _dispatched_function(shapes.size, arrays.size)
rank = _dispatched_function(shapes.rank, arrays.rank)
where = _dispatched_function(shapes.where, arrays.where)
gather = _dispatched_function(slicing.gather, arrays.gather)
reduce_sum = _reduction(reductions.reduce_sum, ragged_math.reduce_sum)
reduce_prod = _reduction(reductions.reduce_prod, ragged_math.reduce_prod)
reduce_min = _reduction(reductions.reduce_min, ragged_math.reduce_min)
reduce_max = _reduction(reductions.reduce_max, ragged_math.reduce_max)
reduce_mean = _reduction(reductions.reduce_mean, ragged_math.reduce_mean)
reduce_all = _reduction(reductions.reduce_all, ragged_math.reduce_all)
reduce_any = _reduction(reductions.reduce_any, ragged_math.reduce_any)
reduce_variance = _reduction(reductions.reduce_variance, ragged_math.reduce_variance)
reduce_std = _reduction(reductions.reduce_std, ragged_math.reduce_std)
reduce_join = _reduction(strings.reduce_join, ragged_math.reduce_join)
string_join = _dispatched_function(strings.string_join, ragged_strings.string_join)
unsorted_segment_sum = _dispatched_function(segments.unsorted_segment_sum, ragged_math.segment_sum)
unsorted_segment_prod = _dispatched_function(segments.unsorted_segment_prod, ragged_math.segment_prod)
unsorted_segment_min = _dispatched_function(segments.unsorted_segment_min, ragged_math.segment_min)
unsorted_segment_max = _dispatched_function(segments.unsorted_segment_max, ragged_math.segment_max)
add_n = _dispatched_function(math.add_n, ragged_math.add_n)
cumsum = _dispatched_function(math.cumsum, ragged_math.running_sum)
batch_gather = _dispatched_function(slicing.batch_gather, rearranging.batch_gather)
gather_nd = _dispatched_function(slicing.gather_nd, rearranging.gather_nd)
bitcast = _dispatched_function(shapes.bitcast, rearranging.bitcast)
dynamic_partition = _dispatched_function(shapes.dynamic_partition, rearranging.dynamic_partition)
one_hot = _dispatched_function(shapes.one_hot, rearranging.one_hot)
reverse = _dispatched_function(shapes.reverse, rearranging.reverse)
split = _dispatched_function(shapes.split, rearranging.split)
squeeze = _dispatched_function(shapes.squeeze, rearranging.squeeze)
matmul = _dispatched_function(products.matmul, ragged_products.matmul)
dropout = _dispatched_function(activations.dropout, ragged_products.dropout)
embedding_lookup = _dispatched_function(lookups.embedding_lookup, ragged_products.embedding_lookup)
embedding_lookup_sparse = _dispatched_function(lookups.embedding_lookup_sparse, ragged_products.embedding_lookup_sparse)
safe_embedding_lookup_sparse = _dispatched_function(
    lookups.safe_embedding_lookup_sparse, ragged_products.safe_embedding_lookup_sparse
)
unsorted_segment_mean = _dispatched_function(segments.unsorted_segment_mean, ragged_products.segment_mean)
unsorted_segment_sqrt_n = _dispatched_function(segments.unsorted_segment_sqrt_n, ragged_products.segment_sqrt_n)
assert_type = _dispatched_function(assertions.assert_type, ragged_products.assert_type)

# --------------------------------------------------------------------------------------------------- Operators


def _operator(word: str, function: Callable[..., Any]) -> None:
    """Gives ragged tensors an operator, and tensors the same one beside a ragged tensor."""
    RAGGED_OPERATORS[word] = function
    RAGGED_OPERATORS[f"r{word}"] = lambda y, x: function(x, y)
    dense = OPERATORS.get(word)
    if dense is None:
        return

    def beside_ragged(x: Any, y: Any) -> Any:
        if not isinstance(y, _RAGGED):
            return dense(x, y)
        if word in _COMPARISONS:
            return function(x, y)
        with scope_of(None, word, x, y):
            return function(x, y)

    OPERATORS[word] = beside_ragged


_COMPARISONS = ("lt", "le", "gt", "ge")

for _word, _function in {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "truediv": truediv,
    "floordiv": floordiv,
    "mod": floormod,
    "pow": pow,
    "and": logical_and,
    "or": logical_or,
    "xor": logical_xor,
    "lt": less,
    "le": less_equal,
    "gt": greater,
    "ge": greater_equal,
}.items():
    _operator(_word, _function)

RAGGED_OPERATORS["neg"] = negative
RAGGED_OPERATORS["abs"] = abs
RAGGED_OPERATORS["invert"] = logical_not

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "adjust_brightness",
    "adjust_gamma",
    "angle",
    "as_string",
    "asin",
    "asinh",
    "assert_type",
    "atan",
    "atan2",
    "atanh",
    "batch_gather",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "bitcast",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "check_numerics",
    "clip_by_value",
    "complex",
    "concat",
    "conj",
    "convert_image_dtype",
    "cos",
    "cosh",
    "cumsum",
    "dawsn",
    "decode_base64",
    "decode_compressed",
    "digamma",
    "div",
    "div_no_nan",
    "divide",
    "dropout",
    "dynamic_partition",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "encode_base64",
    "equal",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expand_dims",
    "expint",
    "expm1",
    "floor",
    "floor_div",
    "floordiv",
    "floormod",
    "fresnel_cos",
    "fresnel_sin",
    "gather",
    "gather_nd",
    "greater",
    "greater_equal",
    "imag",
    "is_finite",
    "is_inf",
    "is_nan",
    "leaky_relu",
    "left_shift",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "multiply_no_nan",
    "ndtri",
    "negative",
    "nextafter",
    "not_equal",
    "one_hot",
    "ones_like",
    "pow",
    "random_brightness",
    "rank",
    "real",
    "realdiv",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_join",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "regex_full_match",
    "regex_replace",
    "relu",
    "relu6",
    "reverse",
    "right_shift",
    "rint",
    "round",
    "rsqrt",
    "safe_embedding_lookup_sparse",
    "saturate_cast",
    "scalar_mul",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "size",
    "softplus",
    "softsign",
    "spence",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stack",
    "string_join",
    "string_length",
    "string_lower",
    "string_strip",
    "string_to_hash_bucket",
    "string_to_hash_bucket_fast",
    "string_to_hash_bucket_strong",
    "string_to_number",
    "string_upper",
    "substr",
    "subtract",
    "tan",
    "tanh",
    "tile",
    "to_bfloat16",
    "to_complex64",
    "to_complex128",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "truediv",
    "truncatediv",
    "truncatemod",
    "unicode_script",
    "unicode_transcode",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
    "where",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zeros_like",
    "zeta",
]
