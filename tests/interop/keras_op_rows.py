"""Functions of `keras.ops` with small inputs, for one export: each public name has its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import keras
import numpy as np

from tests.interop.keras_sweep import BATCHES, Input, below, between, chosen, floats

ops = keras.ops


@dataclass(frozen=True)
class Row:
    """What a function is given, and how it is called with that: `call` takes the function and the tensors."""

    inputs: tuple[Input, ...]
    call: Callable[..., Any]
    batches: tuple[int, ...] = BATCHES
    refused: tuple[int, ...] = ()
    ours_alone: tuple[int, ...] = ()


ROWS: Final[dict[str, list[Row]]] = {}

NOT_EXPORTED: Final = {
    "convert_to_numpy": "leaves the graph",
    "is_tensor": "answers while the graph is made",
    "dtype": "answers while the graph is made",
    "ndim": "answers while the graph is made",
    "vectorize": "is a decorator of Python functions",
    "custom_gradient": "matters to gradients only",
    "jvp": "matters to gradients only",
}

# What Keras itself cannot trace: these ask a tensor for a number of Python's.
UNTRACEABLE: Final[dict[str, Callable[..., Any]]] = {
    "bartlett": lambda op, x: op(9),
    "corrcoef": lambda op, x: op(x),
    "isin": lambda op, x: op(x, ops.array([1.0, 3.0])),
    "kron": lambda op, x: op(x, ops.ones((3, 4))),
    "nanmedian": lambda op, x: op(x, axis=1),
    "nanpercentile": lambda op, x: op(x, 30.0, axis=1),
    "nanquantile": lambda op, x: op(x, 0.3, axis=1),
}

FLOATS = floats(None, 5)
GRID = floats(None, 4, 6)
IMAGE = between(0, 1)(None, 8, 9, 3)
VOLUME = floats(None, 5, 6, 4, 2)
UNIT = between(-0.95, 0.95)(None, 5)
POSITIVE = between(0.1, 3)(None, 5)
LARGE = between(1.1, 4)(None, 5)
BITS = chosen(False, True, dtype="bool")(None, 5)
WHOLE = below(7, -7)(None, 5)
COUNTS = below(6)(None, 5)
ODD = chosen(0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 1e-30, dtype="float32")(None, 5)
HOLES = chosen(0.5, -1.25, 3.0, np.nan, 2.0, dtype="float32")(None, 4, 6)
SQUARE = floats(None, 4, 4)
COMPLEX = (floats(None, 8), floats(None, 8))


def plain(op: Any, *x: Any) -> Any:
    return op(*x)


def rows(names: str, *inputs: Input, call: Callable[..., Any] = plain, **more: Any) -> None:
    """The same row for each of the functions."""
    for name in names.split():
        ROWS.setdefault(name, []).append(Row(inputs, call, **more))


def with_options(names: str, *inputs: Input, options: list[dict[str, Any]], **more: Any) -> None:
    """A row for each set of keyword arguments."""
    for chosen_options in options:
        rows(names, *inputs, call=lambda op, *x, o=chosen_options: op(*x, **o), **more)


def on_list(op: Any, *x: Any) -> Any:
    return op(list(x))


# One number in, one number out
rows(
    "abs absolute angle arcsinh arctan cbrt ceil conj conjugate copy cos cosh deg2rad erf erfc exp exp2 expm1 fabs "
    "floor i0 imag isfinite isinf isnan isneginf isposinf isreal negative nan_to_num ones_like rad2deg real round sign "
    "signbit sin sinc sinh size square stop_gradient tan tanh trunc zeros_like shape ravel logical_not array "
    "convert_to_tensor flip sort argsort transpose",
    FLOATS,
)
rows("median", FLOATS, refused=(0,))
rows("arccos arcsin arctanh erfinv", UNIT)
rows("log log10 log1p log2 reciprocal rsqrt sqrt", POSITIVE)
rows("arccosh", LARGE)
rows(
    "celu elu gelu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid log_softmax relu "
    "relu6 selu sigmoid silu swish soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid sparsemax "
    "squareplus tanh_shrink",
    FLOATS,
)
rows("elu relu softplus sigmoid softmax tanh gelu silu", floats(None, 5, dtype="float16"))
rows("exp log1p erf cbrt sinc tanh softplus gelu", floats(None, 5, dtype="float64"), call=lambda op, x: op(ops.abs(x)))
rows("isfinite isinf isnan isneginf isposinf nan_to_num sign signbit trunc round floor ceil relu sigmoid tanh", ODD)
rows("exp log sqrt square abs maximum minimum", ODD, call=lambda op, x: op(x, 1.0) if "imum" in op.__name__ else op(x))
rows("bitwise_invert bitwise_not abs negative sign square signbit sqrt exp mean", WHOLE)
rows("abs negative mean sum prod max", below(7, -7)(None, 5, dtype="int8"), call=lambda op, x: op(x))
rows("sum mean prod max min std var", below(200)(None, 5, dtype="uint8"), call=lambda op, x: op(x, axis=1))
with_options("celu elu", FLOATS, options=[{"alpha": 0.4}])
with_options("gelu", FLOATS, options=[{"approximate": False}])
with_options("leaky_relu", FLOATS, options=[{"negative_slope": 0.05}])
with_options("round", FLOATS, options=[{"decimals": 2}, {"decimals": -1}])
with_options("soft_shrink hard_shrink", FLOATS, options=[{"threshold": 0.1}])
with_options("softmax log_softmax sparsemax", GRID, options=[{"axis": 1}])
with_options("softmax log_softmax", floats(3, 4, 6), options=[{"axis": (1, 2)}])
rows("threshold", FLOATS, call=lambda op, x: op(x, 0.3, -1.0))
rows("glu", GRID)
rows("clip", FLOATS, call=lambda op, x: op(x, -0.5, 0.5))
rows("cast saturate_cast", between(-300, 300)(None, 5), call=lambda op, x: [op(x, t) for t in ("int32", "float16")])
rows("saturate_cast", between(-300, 300)(None, 5), call=lambda op, x: [op(x, t) for t in ("int8", "uint8")])
rows("view", FLOATS, call=lambda op, x: [op(x, "int32"), op(x, "uint8")])

# Two numbers in, one number out
rows(
    "add arctan2 divide divide_no_nan equal floor_divide fmax fmin fmod greater greater_equal heaviside hypot isclose "
    "less less_equal logaddexp logaddexp2 maximum minimum mod multiply nextafter not_equal subtract true_divide "
    "logical_and logical_or logical_xor allclose vdot append",
    FLOATS,
    FLOATS,
)
rows("power", POSITIVE, FLOATS)
rows("ldexp", FLOATS, below(5, -5)(None, 5))
rows("gcd lcm", below(7, -7)(3, 5), below(7, -7)(3, 5))
rows("bitwise_and bitwise_or bitwise_xor add subtract multiply divide maximum", WHOLE, WHOLE)
rows("mod floor_divide fmod divide_no_nan", WHOLE, below(7, 1)(None, 5))
rows("bitwise_left_shift bitwise_right_shift left_shift right_shift power", COUNTS, COUNTS)
rows("add maximum multiply less", FLOATS, WHOLE)
rows("logical_and logical_or logical_xor", BITS, BITS)
rows("fmax fmin hypot isclose arctan2 mod fmod floor_divide", ODD, FLOATS)
rows("logical_not all any count_nonzero", BITS)

# Along axes
_AXES: Any = [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}]
with_options("all amax amin any max mean median min prod ptp std sum var", GRID, options=_AXES[1:2])
with_options("all any mean prod std sum var", GRID, options=[_AXES[0], _AXES[2]])
with_options("amax amin max min median ptp", GRID, options=[_AXES[0], _AXES[2]], batches=(1, 3))
with_options("max min", GRID, options=[{"initial": 0.5}, {"axis": 2, "initial": -0.5}])
with_options("nanmax nanmean nanmin nanprod nanstd nansum nanvar", HOLES, options=_AXES[1:])
with_options(
    "nanargmax nanargmin argmax argmin", floats(None, 4, 6), options=[{"axis": 1}, {"axis": -1, "keepdims": True}]
)
with_options("argmax argmin nanargmax nanargmin", GRID, options=[{}], batches=(1, 3))
with_options("nancumsum nancumprod", HOLES, options=[{}, {"axis": 2}])
with_options("cumsum cumprod", GRID, options=[{}, {"axis": 1}, {"axis": 0, "dtype": "float64"}])
with_options("count_nonzero", GRID, options=[{}, {"axis": 1}])
with_options("logsumexp", GRID, options=[{}, {"axis": 1}, {"axis": (1, 2), "keepdims": True}])
with_options("sort argsort", GRID, options=[{"axis": 1}, {"axis": 0}])
with_options("flip", GRID, options=[{}, {"axis": 1}])
with_options("average", GRID, options=[{}, {"axis": 1}])
rows("average", GRID, between(0.1, 1)(None, 4, 6), call=lambda op, x, w: op(x, axis=2, weights=w))
for _method in ("linear", "lower", "higher", "nearest", "midpoint"):
    rows("quantile", GRID, call=lambda op, x, m=_method: op(x, [0.1, 0.5], axis=1, method=m))
    rows("percentile", GRID, call=lambda op, x, m=_method: op(x, 30.0, axis=2, method=m, keepdims=True))
with_options("diff", GRID, options=[{}, {"n": 2, "axis": 1}])
with_options("trapezoid", GRID, options=[{}, {"dx": 0.5, "axis": 1}])
with_options("moments", GRID, options=[{"axes": [0]}, {"axes": [1, 2], "keepdims": True}])
with_options("normalize", GRID, options=[{}, {"axis": 1, "order": 3}, {"axis": (1, 2), "order": 1}])
with_options("top_k", GRID, options=[{"k": 2}])
rows("top_k", GRID, call=lambda op, x: ops.sort(op(x, 3, sorted=False)[0]))  # in no certain order
rows("in_top_k", below(6)(None), floats(None, 6), call=lambda op, targets, x: op(targets, x, 2))
rows("argpartition", floats(6), call=lambda op, x: ops.take(x, op(x, 2))[2])

# Shapes
rows("expand_dims", GRID, call=lambda op, x: [op(x, 1), op(x, -1), op(x, (0, 2))])
rows("squeeze", floats(None, 1, 5, 1), call=lambda op, x: [op(x, 1), op(x, (1, 3))])
rows("reshape", GRID, call=lambda op, x: [op(x, (-1, 8, 3)), op(x, (-1,))])
rows("transpose", GRID, call=lambda op, x: op(x, (2, 0, 1)))
rows("swapaxes moveaxis", GRID, call=lambda op, x: op(x, 0, 2))
rows("rearrange", GRID, call=lambda op, x: [op(x, "b h w -> b (h w)"), op(x, "b (h k) w -> b w k h", k=2)])
rows("rot90", GRID, call=lambda op, x: [op(x), op(x, k=3, axes=(1, 2))])
rows("roll", GRID, call=lambda op, x: [op(x, 2), op(x, (1, -2), axis=(1, 2))])
rows("repeat", GRID, call=lambda op, x: [op(x, 2), op(x, 3, axis=1), op(x, [1, 0, 2, 1], axis=1)])
rows("tile", GRID, call=lambda op, x: [op(x, 2), op(x, (2, 1, 3))])
rows("broadcast_to", floats(None, 1, 5), call=lambda op, x: op(x, (ops.shape(x)[0], 3, 5)))
rows("fliplr flipud", GRID)
rows("stack hstack vstack dstack concatenate", GRID, GRID, call=on_list)
rows("concatenate stack", GRID, GRID, call=lambda op, *x: op(list(x), axis=-1))
rows("append", GRID, GRID, call=lambda op, *x: op(*x, axis=1))
rows("split", GRID, call=lambda op, x: [*op(x, 2, axis=1), *op(x, [1, 4], axis=2)])
rows("array_split", GRID, call=lambda op, x: op(x, 4, axis=2))
rows("hsplit", GRID, call=lambda op, x: op(x, 2))
rows("dsplit", GRID, call=lambda op, x: op(x, 3))
rows("vsplit", floats(4, 5), call=lambda op, x: op(x, 2))
rows("unstack", GRID, call=lambda op, x: op(x, axis=1))
for _mode in ("constant", "symmetric"):
    rows("pad", GRID, call=lambda op, x, m=_mode: op(x, ((0, 0), (1, 2), (0, 1)), mode=m))
rows("pad", GRID, call=lambda op, x: op(x, ((0, 0), (1, 2), (0, 1)), mode="reflect"), ours_alone=(0,))
rows("pad", GRID, call=lambda op, x: op(x, ((0, 1), (1, 1), (1, 1)), constant_values=3.0))
rows("diagonal trace", GRID, call=lambda op, x: [op(x, axis1=1, axis2=2), op(x, 1, 2, 1), op(x)])
rows("diag diagflat", floats(5), call=lambda op, x: [op(x), op(x, k=-2)])
rows("diag", floats(None, 5), call=lambda op, x: op(x, k=1))
rows("tril triu", GRID, call=lambda op, x: [op(x), op(x, k=-1)])
rows("meshgrid", floats(None), floats(4), call=lambda op, *x: [op(*x), op(*x, indexing="ij")])
rows("full_like", FLOATS, call=lambda op, x: [op(x, 3), op(x, 2, dtype="int32")])
rows("empty_like", FLOATS, call=lambda op, x: ops.shape(op(x)))
rows("empty", FLOATS, call=lambda op, x: ops.shape(op((2, 3))))
rows("zeros ones", FLOATS, call=lambda op, x: op((ops.shape(x)[0], 2)) + x[:, :2])
rows("full", FLOATS, call=lambda op, x: op((ops.shape(x)[0], 2), 7.5))
rows("arange", FLOATS, call=lambda op, x: [op(ops.shape(x)[0]), op(0.5, 3, 0.4)])
rows("eye identity", FLOATS, call=lambda op, x: op(ops.shape(x)[0]))
rows("tri", FLOATS, call=lambda op, x: [op(4), op(3, k=-1)])
rows("eye tri", FLOATS, call=lambda op, x: op(4, 5, k=1, dtype="int32"))
rows("linspace", FLOATS, FLOATS, call=lambda op, *x: [op(*x, num=4), op(*x, num=5, endpoint=False, axis=-1)])
rows("logspace", FLOATS, FLOATS, call=lambda op, *x: [op(*x, num=4), op(*x, num=5, base=2, endpoint=False)])
rows("geomspace", POSITIVE, POSITIVE, call=lambda op, *x: op(*x, num=4))
rows("blackman hamming hanning", FLOATS, call=lambda op, x: op(9))
rows("kaiser", FLOATS, call=lambda op, x: op(9, 5.0))
rows("vander", floats(None), call=lambda op, x: [op(x, N=3), op(x, N=4, increasing=True)])

# Choosing
rows("where", BITS, FLOATS, FLOATS)
rows("where nonzero", FLOATS, call=lambda op, x: op(x > 0))
rows("select", BITS, FLOATS, FLOATS, call=lambda op, b, x, y: op([b, x > 0], [x, y], default=2.5))
rows("take", GRID, below(4, -4)(3), call=lambda op, x, i: [op(x, i, axis=1), op(x, 2, axis=-1)])
rows("take", FLOATS, call=lambda op, x: op(x, [0, 1], axis=None), batches=(1, 3))
rows("take_along_axis", GRID, below(4)(None, 2, 6), call=lambda op, x, i: op(x, i, axis=1))
rows("get_item", GRID, call=lambda op, x: [op(x, (slice(None), 1)), op(x, (Ellipsis, slice(None, None, -2)))])
rows("slice", GRID, call=lambda op, x: op(x, (0, 1, 2), (ops.shape(x)[0], 2, 3)))
rows("slice_update", GRID, floats(None, 2, 3), call=lambda op, x, u: op(x, (0, 1, 2), u))
rows(
    "scatter",
    FLOATS,
    refused=(0,),
    call=lambda op, x: op([[1], [0], [1], [3], [2]], ops.transpose(x), (4, ops.shape(x)[0])),
)
for _reduction in (None, "add", "max", "min"):
    rows(
        "scatter_update",
        floats(6, 2),
        floats(3, 2),
        call=lambda op, x, u, r=_reduction: op(x, [[1], [4], [1 if r else 0]], u, reduction=r),
    )
rows(
    "searchsorted",
    floats(None, 5),
    call=lambda op, x: [op([-1.0, 0.0, 0.5], x[:, 0]), op([-1.0, 0.5], x[:, 1], "right")],
)
rows("digitize", FLOATS, call=lambda op, x: op(x, [-1.0, 0.0, 0.5]))
rows("bincount", COUNTS, call=lambda op, x: [op(x, minlength=7), op(x, weights=ops.cast(x, "float32"), minlength=8)])
rows("bincount", below(6)(5), call=lambda op, x: op(x, minlength=3))
rows("histogram", floats(7), call=lambda op, x: [op(x, bins=4, range=(-2, 2)), op(x, bins=3)])
rows("unique", COUNTS, call=lambda op, x: op(x, return_index=True, return_inverse=True, return_counts=True))
rows("unravel_index", below(6)(3, 5), call=lambda op, x: op(x, (2, 3)))
rows("one_hot", COUNTS, call=lambda op, x: [op(x, 6), op(x, 5, axis=1, dtype="int32"), op(x, 4)])
rows("one_hot multi_hot", below(6)(3, 5), call=lambda op, x: op(x, 6, sparse=True))
rows("multi_hot", COUNTS, call=lambda op, x: [op(x, 6), op(x, 6, axis=0, dtype="bool")])
for _name in ("segment_max", "segment_min", "segment_prod", "segment_sum"):
    rows(_name, floats(None, 3), below(4)(None), call=lambda op, x, i: op(x, i, 5))
    rows(_name, floats(6, 3), call=lambda op, x: op(x, ops.array([0, 0, 1, 3, 3, 3]), sorted=True))
