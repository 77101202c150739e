"""Element-wise mathematics: arithmetic, functions of one number, conversions, sequences."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar, overload

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    VARIANT,
    DType,
)
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike, TensorSource, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import convert, register_conversion
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, get_op
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays import casting
from tensorkeep.ops.numbers import arithmetic, comparisons, cumulative
from tensorkeep.ops.numbers import elementwise as math_ops
from tensorkeep.ops.numbers import special as special_ops
from tensorkeep.ops.shared.expressions import ones_like, real_dtype, zeros_like
from tensorkeep.shapes import UNKNOWN_SHAPE
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.constants import constant

_Composite = TypeVar("_Composite", IndexedSlices, SparseTensor)

# What two whole numbers are divided as, so that the quotient has a fraction.
_DIVIDED_AS: Final = {
    DType.of(name): DType.of(wide) if wide else None
    for name, wide in {
        "uint8": "float32",
        "int8": "float32",
        "uint16": "float32",
        "int16": "float32",
        "uint32": "float64",
        "int32": "float64",
        "uint64": "float64",
        "int64": "float64",
        "bfloat16": None,
        "float16": None,
        "float32": None,
        "float64": None,
        "complex64": None,
        "complex128": None,
    }.items()
}


class UnaryFunction(Protocol):
    """A function of the elements of one tensor."""

    def __call__(self, x: TensorLike, name: str | None = None) -> Tensor: ...


class BinaryFunction(Protocol):
    """A function of corresponding elements of two tensors."""

    def __call__(self, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor: ...


def _unary(spec: OpSpec, doc: str) -> UnaryFunction:
    def function(x: TensorLike, name: str | None = None) -> Tensor:
        return emit(spec, x, name=name)

    function.__doc__ = doc
    return function


def _binary(spec: OpSpec, doc: str) -> BinaryFunction:
    def function(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
        return emit(spec, x, y, name=name)

    function.__doc__ = doc
    return function


# ---------------------------------------------------------------------------------------------------- One number

negative = _unary(math_ops.neg, "`-x`, element by element.")
square = _unary(math_ops.square, "`x * x`, element by element.")
sqrt = _unary(math_ops.sqrt, "The square root.")
rsqrt = _unary(math_ops.rsqrt, "One over the square root.")
reciprocal = _unary(math_ops.reciprocal, "`1 / x`.")
exp = _unary(math_ops.exp, "e to the power of `x`.")
expm1 = _unary(math_ops.expm1, "`exp(x) - 1`, exact near zero.")
log = _unary(math_ops.log, "The natural logarithm.")
log1p = _unary(math_ops.log1p, "`log(1 + x)`, exact near zero.")
sin = _unary(math_ops.sin, "The sine.")
cos = _unary(math_ops.cos, "The cosine.")
tan = _unary(math_ops.tan, "The tangent.")
asin = _unary(math_ops.asin, "The inverse sine.")
acos = _unary(math_ops.acos, "The inverse cosine.")
atan = _unary(math_ops.atan, "The inverse tangent.")
sinh = _unary(math_ops.sinh, "The hyperbolic sine.")
cosh = _unary(math_ops.cosh, "The hyperbolic cosine.")
tanh = _unary(math_ops.tanh, "The hyperbolic tangent.")
asinh = _unary(math_ops.asinh, "The inverse hyperbolic sine.")
acosh = _unary(math_ops.acosh, "The inverse hyperbolic cosine.")
atanh = _unary(math_ops.atanh, "The inverse hyperbolic tangent.")
floor = _unary(math_ops.floor, "The largest whole number that is not larger.")
ceil = _unary(math_ops.ceil, "The smallest whole number that is not smaller.")
rint = _unary(math_ops.rint, "The nearest whole number, the even one of two.")
is_nan = _unary(math_ops.is_nan, "Whether an element is not a number.")
is_inf = _unary(math_ops.is_inf, "Whether an element is infinite.")
is_finite = _unary(math_ops.is_finite, "Whether an element is a finite number.")
erf = _unary(special_ops.erf, "The error function.")
erfc = _unary(special_ops.erfc, "What the error function leaves to one.")
lgamma = _unary(special_ops.lgamma, "The logarithm of the absolute value of the gamma function.")
digamma = _unary(special_ops.digamma, "The derivative of `lgamma`.")
logical_not = _unary(comparisons.logical_not, "`not x`.")
bitwise_invert = _unary(comparisons.invert, "Every bit inverted.")


def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value; of complex numbers the length."""
    with scope_of(name, "Abs", x) as scope:
        x = convert(x, name="x")
        if x.dtype.is_complex:
            return emit(math_ops.complex_abs, x, Tout=real_dtype(x.dtype), name=scope)
        return emit(math_ops.absolute, x, name=scope)


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1; a complex number divided by its absolute value."""
    x = convert(x)
    if x.dtype.is_complex:
        length = math_ops.complex_abs(x, Tout=real_dtype(x.dtype))
        return emit(arithmetic.div_no_nan, x, cast(length, x.dtype), name=name)
    return emit(math_ops.sign, x, name=name)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / (1 + exp(-x))`."""
    with scope_of(name, "Sigmoid", x) as scope:
        return emit(math_ops.sigmoid, convert(x, name="x"), name=scope)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """`log(sigmoid(x))`, exact where the sigmoid is small."""
    with scope_of(name, "LogSigmoid", x) as scope:
        x = convert(x, name="x")
        return emit(math_ops.neg, emit("Softplus", math_ops.neg(x)), name=scope)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest whole number, the even one of two; whole numbers are themselves."""
    x = convert(x, name="x")
    return x if x.dtype.is_integer else emit(math_ops.round_half_even, x, name=name)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """`1 / x`, and 0 where `x` is 0."""
    with scope_of(name, "reciprocal_no_nan", x) as scope:
        x = convert(x, name="x")
        one = constant(1, x.dtype.base_dtype, name="one")
        return emit(arithmetic.div_no_nan, one, x, name=scope)


# ---------------------------------------------------------------------------------------------------- Two numbers

multiply = _binary(arithmetic.mul, "`x * y`, with broadcasting.")
subtract = _binary(arithmetic.sub, "`x - y`, with broadcasting.")
realdiv = _binary(arithmetic.real_div, "`x / y` of numbers with a fraction.")
floor_div = _binary(arithmetic.floor_div, "The quotient, rounded down.")
truncatediv = _binary(arithmetic.truncate_div, "The quotient, rounded towards zero.")
floormod = _binary(arithmetic.floor_mod, "What rounding the quotient down leaves; of the divisor's sign.")
truncatemod = _binary(arithmetic.truncate_mod, "What rounding the quotient towards zero leaves.")
mod = floormod
maximum = _binary(arithmetic.maximum, "The larger of two.")
minimum = _binary(arithmetic.minimum, "The smaller of two.")
squared_difference = _binary(arithmetic.squared_difference, "`(x - y) * (x - y)`.")
xlogy = _binary(arithmetic.xlogy, "`x * log(y)`, and 0 where `x` is 0.")
equal = _binary(comparisons.equal, "`x == y`, element by element.")
not_equal = _binary(comparisons.not_equal, "`x != y`, element by element.")
less = _binary(comparisons.less, "`x < y`, element by element.")
less_equal = _binary(comparisons.less_equal, "`x <= y`, element by element.")
greater = _binary(comparisons.greater, "`x > y`, element by element.")
greater_equal = _binary(comparisons.greater_equal, "`x >= y`, element by element.")
logical_and = _binary(comparisons.logical_and, "`x and y`.")
logical_or = _binary(comparisons.logical_or, "`x or y`.")
bitwise_and = _binary(comparisons.bitwise_and, "Bits that both have.")
bitwise_or = _binary(comparisons.bitwise_or, "Bits that either has.")
bitwise_xor = _binary(comparisons.bitwise_xor, "Bits that one of them has.")
left_shift = _binary(comparisons.left_shift, "Bits moved up by `y`.")
right_shift = _binary(comparisons.right_shift, "Bits moved down by `y`.")


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (x, y)."""
    return emit(arithmetic.atan2, y, x, name=name)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next number after `x1` on the way to `x2`."""
    return emit(arithmetic.next_after, x1, x2, name=name)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross product of vectors of three, along the last axis."""
    return emit(arithmetic.cross, a, b, name=name)


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x + y`, with broadcasting; strings one after the other."""
    with scope_of(name, "Add", x, y) as scope:
        x = convert(x, name="x")
        y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
        spec = arithmetic.add if x.dtype.base_dtype is STRING else arithmetic.add_v2
        return emit(spec, x, y, name=scope)


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x` to the power of `y`."""
    with scope_of(name, "Pow", x, y) as scope:
        return emit(arithmetic.power, x, y, name=scope)


def scalar_mul(scalar: TensorLike, x: Tensor | TensorSource | Array, name: str | None = None) -> Tensor | IndexedSlices:
    """A tensor, or slices, times a number."""
    scalar = convert(scalar, DType.of(x.dtype).base_dtype, name="scalar")
    if scalar.static_shape.rank != 0:
        raise InvalidArgumentError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(emit(arithmetic.mul, scalar, x.values, name=name), x.indices, x.dense_shape)
    return emit(arithmetic.mul, scalar, x, name=name)


def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x // y`: the quotient, rounded down."""
    with scope_of(name, "floordiv", x, y) as scope:
        return emit(arithmetic.floor_div, x, y, name=scope)


def _same_dtype(x: Tensor, y: Tensor) -> DType:
    found, other = x.dtype.base_dtype, y.dtype.base_dtype
    if found is not other:
        raise WrongTypeError(f"`x` and `y` must have the same dtype, got {found} != {other}.")
    return found


def _with_fractions(x: Tensor, y: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """Two numbers as they are divided: whole ones as numbers with a fraction."""
    dtype = _same_dtype(x, y)
    if dtype not in _DIVIDED_AS:
        raise WrongTypeError(f"Invalid dtype {dtype} in {what}. Expected one of {', '.join(map(str, _DIVIDED_AS))}.")
    wide = _DIVIDED_AS[dtype]
    return (x, y) if wide is None else (cast(x, wide), cast(y, wide))


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`; whole numbers are divided as numbers with a fraction."""
    with scope_of(name, "truediv", x, y) as scope:
        x = convert(x, name="x")
        y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
        x, y = _with_fractions(x, y, "__truediv__")
        return emit(arithmetic.real_div, x, y, name=scope)


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as Python divides."""
    if name is None and not isinstance(x, Tensor):
        x = convert(x, y.dtype.base_dtype if isinstance(y, Tensor) else None)
    return truediv(x, y, name)


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y` as Python 2 divides: whole numbers are rounded down."""
    with scope_of(name, "div", x, y) as scope:
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, name="y")
        dtype = _same_dtype(x, y)
        spec = arithmetic.real_div if dtype.is_floating or dtype.is_complex else arithmetic.floor_div
        return emit(spec, x, y, name=scope)


def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, and 0 where `y` is 0."""
    with scope_of(name, "div_no_nan", x, y) as scope:
        if not isinstance(x, Tensor) and isinstance(y, Tensor):
            x = convert(x, y.dtype.base_dtype, name="x")
        else:
            x = convert(x, name="x")
            y = convert(y, name="y", preferred_dtype=x.dtype.base_dtype)
        x, y = _with_fractions(x, y, "tf.math.divide_no_nan")
        return emit(arithmetic.div_no_nan, x, y, name=scope)


divide_no_nan = div_no_nan


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * y`, and 0 where `y` is 0, whatever `x` is."""
    with scope_of(name, "multiply_no_nan", x, y) as scope:
        x = convert(x, name="x")
        y = convert(y, x.dtype.base_dtype, name="y")
        return emit(arithmetic.mul_no_nan, x, y, name=scope)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x / y`, and 0 where `x` is 0."""
    with scope_of(name, "xdivy", x, y):
        return emit(arithmetic.xdivy, x, y)


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """`x * log1p(y)`, and 0 where `x` is 0."""
    with scope_of(name, "xlog1py", x, y):
        return emit(arithmetic.xlog1py, x, y)


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Whether one of two is true, and not the other."""
    either = comparisons.logical_or(x, y)
    both = comparisons.logical_not(comparisons.logical_and(x, y))
    return emit(comparisons.logical_and, either, both, name=name)


# ---------------------------------------------------------------------------------------------------- Many numbers


def as_tensors(values: Iterable[Any]) -> list[Any]:
    """Each value as a tensor, but slices as they are."""
    return [value if isinstance(value, IndexedSlices) else convert(value) for value in values]


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """The sum of tensors of one type and shape."""
    problem = "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
    if isinstance(inputs, str) or not isinstance(inputs, Iterable):
        raise InvalidArgumentError(problem)
    tensors = as_tensors(inputs)
    if not tensors:
        raise InvalidArgumentError(problem)
    if len(tensors) > 1:
        return emit(arithmetic.add_n, tensors, name=name)
    only = convert(tensors[0])
    return emit("Identity", only, name=name) if name else only


def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of tensors of one type and shape; `shape` and `tensor_dtype` state these if they are not known."""
    problem = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, list | tuple) or not inputs:
        raise InvalidArgumentError(problem)
    tensors = as_tensors(inputs)
    if not all(isinstance(x, Tensor) and x.dtype.base_dtype is tensors[0].dtype.base_dtype for x in tensors):
        raise InvalidArgumentError(problem)
    known = UNKNOWN_SHAPE if shape is None else plain_shape(shape)
    for tensor in tensors:
        known = known.merge(tensor.static_shape)
    if tensor_dtype is not None and DType.of(tensor_dtype) is not tensors[0].dtype.base_dtype:
        raise WrongTypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but `input` is of type {tensors[0].dtype}. These must be "
            "equal. Try casting the input to the desired type."
        )
    if len(tensors) == 1:
        return tensors[0] if name is None else emit("Identity", tensors[0], name=name)
    return add_n(tensors, name)


def polyval(coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None) -> Tensor:
    """A polynomial at `x`, the coefficient of the highest power first."""
    if not isinstance(coeffs, list):
        raise InvalidArgumentError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with scope_of(name, "polyval", *coeffs, x) as scope:
        x = convert(x, name="x")
        if not coeffs:
            return zeros_like(x, scope)
        tensors = [convert(item, name=f"coeff_{i}") for i, item in enumerate(coeffs)]
        total = tensors[0]
        for item in tensors[1:]:
            total = arithmetic.add_v2(item, arithmetic.mul(total, x, name="mul"), name="add")
        return total


# ---------------------------------------------------------------------------------------------------- Types


@overload
def cast(x: _Composite, dtype: DTypeLike, name: str | None = None) -> _Composite: ...  # type: ignore[overload-overlap]
@overload
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
def cast(x: Any, dtype: DTypeLike, name: str | None = None) -> Tensor | IndexedSlices | SparseTensor:
    """The elements as another type. What has that type already, a resource variable too, is given back as it is."""
    target = DType.of(dtype).base_dtype
    if (isinstance(x, Tensor) or hasattr(x, "handle")) and x.dtype is target:
        same: Tensor = x
        return same
    with scope_of(name, "Cast", x) as scope:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, target, scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, target, scope), x.indices, x.dense_shape)
        x = convert(x, name="x")
        return x if x.dtype is target else emit(casting.cast, x, DstT=target, name=scope)


def to_float(x: TensorLike, name: str | None = "ToFloat") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as float32."""
    return cast(x, FLOAT32, name)


def to_double(x: TensorLike, name: str | None = "ToDouble") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as float64."""
    return cast(x, FLOAT64, name)


def to_int32(x: TensorLike, name: str | None = "ToInt32") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as int32."""
    return cast(x, INT32, name)


def to_int64(x: TensorLike, name: str | None = "ToInt64") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as int64."""
    return cast(x, INT64, name)


def to_bfloat16(x: TensorLike, name: str | None = "ToBFloat16") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as bfloat16."""
    return cast(x, BFLOAT16, name)


def to_complex64(x: TensorLike, name: str | None = "ToComplex64") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as complex64."""
    return cast(x, COMPLEX64, name)


def to_complex128(x: TensorLike, name: str | None = "ToComplex128") -> Tensor | IndexedSlices | SparseTensor:
    """The elements as complex128."""
    return cast(x, COMPLEX128, name)


def limits(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest finite number of a type."""
    kind = dtype.array_dtype
    if dtype is BOOL:
        return 0, 1
    if dtype.is_integer:
        info: Any = np.iinfo(kind) if kind.kind in "iu" else None
        if info is None:
            raise WrongTypeError(f"the limits of {dtype} are not known")
        return int(info.min), int(info.max)
    if dtype is BFLOAT16:
        return float.fromhex("-0x1.FEp127"), float.fromhex("0x1.FEp127")
    found = np.finfo(kind)
    return found.min, found.max


def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """The elements as another type; what it has no room for becomes its smallest or largest number."""
    with scope_of(name, "saturate_cast", value) as scope:
        value = convert(value, name="value")
        target, source = DType.of(dtype).base_dtype, value.dtype.base_dtype
        if source.is_complex:
            if target.is_complex:
                return _saturate_complex(value, source, target, scope)
            value = real(value)
            source = real_dtype(source)
        low, high = _shared_limits(source, real_dtype(target) if target.is_complex else target)
        clamped = emit(comparisons.clip_by_value, value, constant(low, source), constant(high, source), name="clamp")
        return cast(clamped, target, scope)


def _saturate_complex(value: Tensor, source: DType, target: DType, scope: str) -> Tensor:
    (low_in, high_in), (low, high) = limits(real_dtype(source)), limits(real_dtype(target))
    if low_in < low or high_in > high:
        value = comparisons.clip_by_value(
            value,
            constant(builtins.complex(low, low), source),
            constant(builtins.complex(high, high), source),
            name="clamp",
        )
    return cast(value, target, scope)


def _shared_limits(source: DType, target: DType) -> tuple[Any, Any]:
    """The range of `target`, in numbers of `source`, rounded inwards."""
    kind: Any = source.array_dtype.type
    (low_in, high_in), (low_out, high_out) = limits(source), limits(target)
    low, high = kind(np.maximum(low_in, low_out)), kind(np.minimum(float(high_in), float(high_out)))
    try:
        common: Any = np.promote_types(source.array_dtype, target.array_dtype)
    except TypeError:
        common = float
    if np.array(low, common) < np.array(low_out, common):
        low = np.nextafter(low, kind(0), dtype=kind)
    if np.array(high, common) > np.array(high_out, common):
        high = np.nextafter(high, kind(0), dtype=kind)
    return low, high


# ---------------------------------------------------------------------------------------------------- Complex numbers


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Complex numbers from their parts."""
    real, imag = convert(real, name="real"), convert(imag, name="imag")
    with scope_of(name, "Complex", real, imag) as scope:
        kinds = (real.dtype.base_dtype, imag.dtype.base_dtype)
        if kinds == (FLOAT64, FLOAT64):
            target = COMPLEX128
        elif kinds == (FLOAT32, FLOAT32):
            target = COMPLEX64
        else:
            raise WrongTypeError(
                f"The `real` and `imag` components have incorrect types: {kinds[0]} {kinds[1]}. They must be "
                "consistent, and one of float32, float64"
            )
        return emit(math_ops.complex_number, real, imag, Tout=target, name=scope)


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part; of a real number, the number itself."""
    with scope_of(name, "Real", input) as scope:
        input = convert(input, name="input")
        if input.dtype.is_complex:
            return emit(math_ops.real, input, Tout=real_dtype(input.dtype), name=scope)
        if input.dtype.is_floating or input.dtype.is_integer:
            return input
        raise WrongTypeError(f"input must be a numeric tensor, but got tensor with dtype {input.dtype}")


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part; that of real numbers is zero."""
    with scope_of(name, "Imag", input) as scope:
        input = convert(input, name="input")
        if input.dtype.is_complex:
            return emit(math_ops.imag, input, Tout=real_dtype(input.dtype), name=scope)
        return zeros_like(input)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The angle of a complex number; 0 or pi of a real one."""
    with scope_of(name, "Angle", input) as scope:
        input = convert(input, name="input")
        if input.dtype.is_complex:
            return emit(math_ops.angle, input, Tout=real_dtype(input.dtype), name=scope)
        is_negative = comparisons.less(input, 0)
        ones = ones_like(input)
        with name_scope("mul") as product:
            half_turn = arithmetic.mul(constant(np.pi, ones.dtype, name="x"), ones, name=product)
        return emit(comparisons.select, is_negative, half_turn, zeros_like(input))


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate; of a real number, the number itself."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with scope_of(name, "Conj", x) as scope:
        x = convert(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype is VARIANT:
            return emit(math_ops.conjugate, x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise WrongTypeError(f"Expected numeric or variant tensor, got dtype {x.dtype}.")


# ---------------------------------------------------------------------------------------------------- Sequences

_WIDENING: Final = (INT32, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64)


def range(
    start: TensorLike,
    limit: TensorLike | None = None,
    delta: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = "range",
) -> Tensor:
    """Numbers from `start` until `limit`, `delta` apart; with one argument, from 0 until that."""
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else DType.of(dtype)
    with scope_of(name, "Range", start, limit, delta) as scope:
        parts = [
            value if isinstance(value, Tensor) else convert(value, wanted, what)
            for value, what in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        if wanted is None:
            odd = [part.dtype for part in parts if part.dtype.base_dtype not in _WIDENING]
            if odd:
                raise WrongTypeError(f"a range is of numbers that can be counted, got {odd[0]}")
            wanted = max((part.dtype.base_dtype for part in parts), key=_WIDENING.index)
        return emit(cumulative.range_, *(cast(part, wanted) for part in parts), name=scope)


def _convert_range(value: builtins.range, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    return range(value.start, value.stop, value.step, dtype, name)


register_conversion(builtins.range, _convert_range, 100)


def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: int = 0) -> Tensor:
    """`num` numbers from `start` to `stop`, both included, at equal distances, along a new axis."""
    with scope_of(name, "linspace", start, stop):
        start = convert(start, name="start")
        stop = convert(stop, start.dtype.base_dtype, name="stop")
        count = convert(num, name="num", preferred_dtype=INT32)
        if not count.dtype.is_integer:
            raise WrongTypeError(f"num must be an integer tensor, got {count.dtype}")
        count = casting.cast(count, DstT=INT32)
        cast(count, start.dtype)  # TensorFlow makes it and does not use it
        return _line(start, stop, count, axis)


lin_space = linspace


def _line(start: Tensor, stop: Tensor, count: Tensor, axis: Any) -> Tensor:
    """The middle of the line between its ends, which are exact."""
    shape_of_both = emit("BroadcastArgs", _shape(start), _shape(stop))
    spread, expand = get_op("BroadcastTo"), get_op("ExpandDims")
    start, stop = spread(start, shape_of_both), spread(stop, shape_of_both)
    start, stop = expand(start, axis), expand(stop, axis)
    shape = _shape(start)
    rank = _shape(shape)[0]
    select = comparisons.select_v2
    is_front = axis >= 0
    where = select(is_front, axis, rank + axis)
    inner = arithmetic.maximum(count - 2, 0)
    steps = arithmetic.maximum(count - 1, 1)
    distance = (stop - start) / cast(steps, stop.dtype)
    start, stop = cast(start, distance.dtype), cast(stop, distance.dtype)
    end = select(count >= 0, steps, -1)
    numbers = cast(range(1, end, dtype=INT64), distance.dtype)
    is_axis = comparisons.equal(where, range(rank))
    numbers = emit("Reshape", numbers, select(is_axis, inner, 1))
    middle = start + distance * numbers
    concat = get_op("ConcatV2")
    whole = concat([start, middle, stop], where, name="concat")
    begin = zeros_like(shape)
    before = shape[0:where]
    size = concat([before, emit("Reshape", count, [1]), shape[where + 1 :]], 0, name="concat")
    return emit("Slice", whole, begin, size)


def _shape(x: Tensor) -> Tensor:
    known = x.static_shape
    if known.is_fully_known:
        return constant(np.array(known.as_tuple(), np.int32), INT32, name="Shape")
    return emit("Shape", x)


def cumsum(
    x: TensorLike, axis: int | Tensor = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Sums of all elements up to each, along an axis."""
    return _running(cumulative.cumsum, "Cumsum", x, axis, (exclusive, reverse), name)


def cumprod(
    x: TensorLike, axis: int | Tensor = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Products of all elements up to each, along an axis."""
    return _running(cumulative.cumprod, "Cumprod", x, axis, (exclusive, reverse), name)


def cumulative_logsumexp(
    x: TensorLike, axis: int | Tensor = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Logarithms of the sums of exponentials of all elements up to each, along an axis."""
    return _running(cumulative.cumulative_logsumexp, "CumulativeLogsumexp", x, axis, (exclusive, reverse), name)


def _running(
    spec: OpSpec, default: str, x: TensorLike, axis: AxisLike, flags: Sequence[bool], name: str | None
) -> Tensor:
    with scope_of(name, default, x, axis) as scope:
        x = convert(x, name="x")
        return emit(spec, x, axis, exclusive=flags[0], reverse=flags[1], name=scope)


__all__ = [
    "abs",
    "accumulate_n",
    "acos",
    "acosh",
    "add",
    "add_n",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "complex",
    "conj",
    "cos",
    "cosh",
    "cross",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "div",
    "div_no_nan",
    "divide",
    "divide_no_nan",
    "equal",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "floor_div",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "imag",
    "is_finite",
    "is_inf",
    "is_nan",
    "left_shift",
    "less",
    "less_equal",
    "lgamma",
    "lin_space",
    "linspace",
    "log",
    "log1p",
    "log_sigmoid",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "negative",
    "nextafter",
    "not_equal",
    "polyval",
    "pow",
    "range",
    "real",
    "realdiv",
    "reciprocal",
    "reciprocal_no_nan",
    "right_shift",
    "rint",
    "round",
    "rsqrt",
    "saturate_cast",
    "scalar_mul",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tan",
    "tanh",
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
    "xdivy",
    "xlog1py",
    "xlogy",
]
