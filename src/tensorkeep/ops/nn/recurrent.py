"""Fused recurrent cells: a step of an LSTM or GRU as one op, and a whole sequence of LSTM steps.

The gates of an LSTM stand side by side in the weights, in this order (the second generation of the op has another):

    BlockLSTM, LSTMBlockCell    input, cell, forget, output
    BlockLSTMV2                 input, forget, cell, output

    i = sigmoid(i + peephole wci * cs_prev)      f = sigmoid(f + forget_bias + peephole wcf * cs_prev)
    ci = tanh(ci)                                cs = clip(ci * i + cs_prev * f)
    o = sigmoid(o + peephole wco * cs)           co = tanh(cs)         h = co * o
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.linear_algebra.products import multiply
from tensorkeep.ops.nn._window_shapes import times
from tensorkeep.ops.nn.windows import narrow_array, widen_array
from tensorkeep.ops.shared.half_sums import half_products
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

_FIRST_ORDER: Final = (0, 1, 2, 3)  # where the input, cell, forget and output gates are
_SECOND_ORDER: Final = (0, 2, 1, 3)


class _Weights(NamedTuple):
    """The weights of an LSTM, and how they are meant."""

    w: Array
    wci: Array
    wcf: Array
    wco: Array
    b: Array
    use_peephole: bool
    order: tuple[int, ...] = _FIRST_ORDER
    forget_bias: float = 0.0
    cell_clip: float = 0.0

    @classmethod
    def of(
        cls,
        arrays: Sequence[Array],
        use_peephole: bool,
        order: tuple[int, ...] = _FIRST_ORDER,
    ) -> _Weights:
        """The weights for a gradient, which is computed in float32 and rounded once."""
        w, wci, wcf, wco, b = map(widen_array, arrays)
        return cls(w, wci, wcf, wco, b, use_peephole, order)

    @property
    def size(self) -> int:
        return int(self.b.shape[0]) // 4

    def split(self, gates: Array) -> list[Array]:
        """The input, cell, forget and output gates."""
        size = self.size
        return [gates[:, at * size : (at + 1) * size] for at in self.order]

    def join(self, gates: list[Array]) -> Array:
        placed = sorted(zip(self.order, gates, strict=True), key=lambda pair: pair[0])
        return np.concatenate([gate for _, gate in placed], axis=1)


def _sigmoid(x: Array) -> Array:
    if x.dtype == np.float16:  # of which TensorFlow rounds every step
        power = np.exp(x)
        return np.where(np.isinf(power), np.float16(1), power / (np.float16(1) + power))
    one = x.dtype.type(1)
    return one / (one + np.exp(-x))  # type: ignore[no-any-return]


def _step(x: Array, cs_prev: Array, h_prev: Array, weights: _Weights) -> tuple[Array, ...]:
    """One step: i, cs, f, o, ci, co, h. Of halves every operation is rounded, as in TensorFlow."""
    product = half_products if x.dtype == np.float16 else multiply
    i, ci, f, o = weights.split(product(np.concatenate((x, h_prev), axis=1), weights.w) + weights.b)
    f = f + f.dtype.type(weights.forget_bias)
    if weights.use_peephole:
        i, f = i + cs_prev * weights.wci, f + cs_prev * weights.wcf
    i, f, ci = _sigmoid(i), _sigmoid(f), np.tanh(ci)
    cs = ci * i + cs_prev * f
    if weights.cell_clip > 0:
        limit = cs.dtype.type(weights.cell_clip)
        cs = np.minimum(np.maximum(cs, -limit), limit)
    if weights.use_peephole:
        o = o + cs * weights.wco
    o, co = _sigmoid(o), np.tanh(cs)
    return i, cs, f, o, ci, co, co * o


class _StepGradient(NamedTuple):
    cs_prev: Array
    gates: Array
    wci: Array
    wcf: Array
    wco: Array


def _step_gradient(
    cs_prev: Array, kept: tuple[Array, ...], cs_grad: Array, h_grad: Array, weights: _Weights
) -> _StepGradient:
    """What a step hands back, given i, cs, f, o, ci and co of it."""
    i, cs, f, o, ci, co = kept
    one = i.dtype.type(1)
    do = o * (one - o) * h_grad * co
    dcs = (one - co * co) * h_grad * o + cs_grad
    if weights.use_peephole:
        dcs = dcs + do * weights.wco
    dci = (one - ci * ci) * dcs * i
    df = f * (one - f) * dcs * cs_prev
    di = i * (one - i) * dcs * ci
    back = dcs * f
    peepholes = [np.zeros(weights.size, i.dtype)] * 3
    if weights.use_peephole:
        back = back + di * weights.wci + df * weights.wcf
        peepholes = [np.add.reduce(part, axis=0) for part in (di * cs_prev, df * cs_prev, do * cs)]
    return _StepGradient(back, weights.join([di, dci, df, do]), *peepholes)


def _check_cell(x: Array, cs_prev: Array, h_prev: Array, weights: _Weights, *, skips_unused: bool = False) -> None:
    """Raises unless the arrays go together. `skips_unused`: weights of peepholes are looked at if there are any."""
    w, b = weights.w, weights.b
    if x.ndim < 2 or not cs_prev.ndim:
        raise InvalidArgumentError(f"x {list(x.shape)} and cs_prev {list(cs_prev.shape)} must be of rank 2")
    batch, size = x.shape[-2], cs_prev.shape[-1]
    fits = (
        cs_prev.shape == h_prev.shape == (batch, size)
        and w.shape == (x.shape[-1] + size, 4 * size)
        and b.shape == (4 * size,)
    )
    if not fits:
        raise InvalidArgumentError(
            f"x {list(x.shape)}, cs_prev {list(cs_prev.shape)}, h_prev {list(h_prev.shape)}, w {list(w.shape)} and "
            f"b {list(b.shape)} do not go together: expected [batch, inputs], [batch, cell], [batch, cell], "
            "[inputs + cell, 4 * cell] and [4 * cell]"
        )
    if weights.use_peephole or not skips_unused:
        _check_shapes((size,), wci=weights.wci, wcf=weights.wcf, wco=weights.wco)


def _check_shapes(shape: tuple[int, ...], **arrays: Array) -> None:
    """Raises unless all arrays are of one shape: NumPy would broadcast others."""
    others = {name: list(array.shape) for name, array in arrays.items() if array.shape != shape}
    if others:
        raise InvalidArgumentError(f"expected the shape {list(shape)}, got {others}")


# ------------------------------------------------------------------------------------------------------ One step

_CELL_INPUTS: Final = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_CELL_OUTPUTS: Final = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_CELL_TYPES: Final = "T: {half, float}"

lstm_block_cell = op(
    f"LSTMBlockCell({_CELL_INPUTS}) -> {_CELL_OUTPUTS}",
    "forget_bias: float = 1.0",
    "cell_clip: float = 3.0",
    "use_peephole: bool = false",
    _CELL_TYPES,
)


@lstm_block_cell.shape
def lstm_block_cell_shape(
    x: Tensor, cs_prev: Tensor, h_prev: Tensor, w: Tensor, wci: Tensor, wcf: Tensor, wco: Tensor, b: Tensor
) -> tuple[Shape, ...]:
    return (Shape((with_rank(x, 2)[0], with_rank(cs_prev, 2)[1])),) * 7


@lstm_block_cell.kernel
def lstm_block_cell_kernel(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Array, ...]:
    weights = _Weights(w, wci, wcf, wco, b, use_peephole, _FIRST_ORDER, forget_bias, cell_clip)
    _check_cell(x, cs_prev, h_prev, weights, skips_unused=True)  # as TensorFlow, for single steps only
    return _step(x, cs_prev, h_prev, weights)


lstm_block_cell_grad = op(
    f"LSTMBlockCellGrad({_CELL_INPUTS}, i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T) -> "
    "cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    "use_peephole: bool",
    _CELL_TYPES,
)


@lstm_block_cell_grad.shape
def lstm_block_cell_grad_shape(x: Tensor, cs_prev: Tensor, *_: Tensor) -> tuple[Shape, ...]:
    batch, size = with_rank(x, 2)[0], with_rank(cs_prev, 2)[1]
    return Shape((batch, size)), Shape((batch, times(size, 4))), *(Shape((size,)),) * 3


@lstm_block_cell_grad.kernel
def lstm_block_cell_grad_kernel(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Array, ...]:
    weights = _Weights.of((w, wci, wcf, wco, b), use_peephole)
    _check_cell(x, cs_prev, h_prev, weights)
    _check_shapes(cs_prev.shape, i=i, cs=cs, f=f, o=o, ci=ci, co=co, cs_grad=cs_grad, h_grad=h_grad)
    kept = tuple(widen_array(array) for array in (i, cs, f, o, ci, co))
    found = _step_gradient(widen_array(cs_prev), kept, widen_array(cs_grad), widen_array(h_grad), weights)
    return tuple(narrow_array(array, x.dtype) for array in found)


# ------------------------------------------------------------------------------------------------------ Sequences

block_lstm = op(
    f"BlockLSTM(seq_len_max: int64, {_CELL_INPUTS}) -> {_CELL_OUTPUTS}",
    "forget_bias: float = 1.0",
    "cell_clip: float = 3.0",
    "use_peephole: bool = false",
    _CELL_TYPES,
)
block_lstm_v2 = op(
    f"BlockLSTMV2(seq_len_max: int64, {_CELL_INPUTS}) -> {_CELL_OUTPUTS}",
    "cell_clip: float = 0.0",
    "use_peephole: bool = false",
    _CELL_TYPES,
)


@block_lstm.shape
@block_lstm_v2.shape
def block_lstm_shape(
    seq_len_max: Tensor,
    x: Tensor,
    cs_prev: Tensor,
    h_prev: Tensor,
    w: Tensor,
    wci: Tensor,
    wcf: Tensor,
    wco: Tensor,
    b: Tensor,
) -> tuple[Shape, ...]:
    steps, batch, _ = with_rank(x, 3)
    gates = with_rank(b, 1)[0]
    if gates is not None and gates % 4:
        raise InvalidArgumentError(f"Dimension size must be evenly divisible by 4 but is {gates}")
    return (Shape((steps, batch, None if gates is None else gates // 4)),) * 7


def _sequence(seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, weights: _Weights) -> tuple[Array, ...]:
    if x.ndim != 3:
        raise InvalidArgumentError(f"x must be 3D, got {list(x.shape)}")
    _check_cell(x, cs_prev, h_prev, weights)
    steps = _steps(seq_len_max, x)
    found = tuple(np.zeros((*x.shape[:2], weights.size), x.dtype) for _ in range(7))
    cs, h = cs_prev, h_prev
    for at in range(steps):
        results = _step(x[at], cs, h, weights)
        for target, result in zip(found, results, strict=True):
            target[at] = result
        cs, h = results[1], results[6]
    return found


def _steps(seq_len_max: Array, x: Array) -> int:
    steps = int(seq_len_max)
    if not 0 <= steps <= x.shape[0]:
        raise InvalidArgumentError(f"seq_len_max is {steps}: expected 0 to {x.shape[0]}")
    return steps


@block_lstm.kernel
def block_lstm_kernel(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Array, ...]:
    weights = _Weights(w, wci, wcf, wco, b, use_peephole, _FIRST_ORDER, forget_bias, cell_clip)
    return _sequence(seq_len_max, x, cs_prev, h_prev, weights)


@block_lstm_v2.kernel
def block_lstm_v2_kernel(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    *,
    cell_clip: float,
    use_peephole: bool,
) -> tuple[Array, ...]:
    weights = _Weights(w, wci, wcf, wco, b, use_peephole, _SECOND_ORDER, 0.0, cell_clip)
    return _sequence(seq_len_max, x, cs_prev, h_prev, weights)


def _block_gradient(op: Operation, grads: tuple[Any, ...], spec: OpSpec) -> Gradients:
    use_peephole = op.attr("use_peephole")
    found = spec(*op.inputs, *op.outputs, grads[1], grads[6], use_peephole=use_peephole)
    return None, *found


@block_lstm.gradient
@block_lstm_v2.gradient
def block_lstm_gradient(op: Operation, *grads: Tensor) -> Gradients:
    """The gradients of the inputs. TensorFlow computes those of BlockLSTMV2 with the op of BlockLSTM, too."""
    return _block_gradient(op, grads, block_lstm_grad)


_BLOCK_GRADS: Final = (
    f"(seq_len_max: int64, {_CELL_INPUTS}, {_CELL_OUTPUTS}, cs_grad: T, h_grad: T) -> "
    "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"
)
block_lstm_grad = op(f"BlockLSTMGrad{_BLOCK_GRADS}", "use_peephole: bool", _CELL_TYPES)
block_lstm_grad_v2 = op(f"BlockLSTMGradV2{_BLOCK_GRADS}", "use_peephole: bool", _CELL_TYPES)


@block_lstm_grad.shape
@block_lstm_grad_v2.shape
def block_lstm_grad_shape(seq_len_max: Tensor, x: Tensor, *others: Tensor) -> tuple[Shape, ...]:
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    return tuple(with_rank(tensor, rank) for tensor, rank in zip((x, *others[:7]), ranks, strict=True))


def _sequence_gradient(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    weights: _Weights,
    kept: tuple[Array, ...],
    grads: tuple[Array, Array],
) -> tuple[Array, ...]:
    """From the last step to the first: each hands its state's gradient to the one before."""
    if x.ndim != 3:
        raise InvalidArgumentError(f"x must be rank 3 but is rank {x.ndim}")
    _check_cell(x, cs_prev, h_prev, weights)
    names = ("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad")
    _check_shapes((*x.shape[:2], weights.size), **dict(zip(names, (*kept, *grads), strict=True)))
    dtype, wide = weights.w.dtype, widen_array(x)
    outputs, (cs_grad, h_grad) = [widen_array(array) for array in kept], map(widen_array, grads)
    x_grad = np.zeros(wide.shape, dtype)
    w_grad, b_grad = np.zeros_like(weights.w), np.zeros_like(weights.b)
    peepholes = [np.zeros(weights.size, dtype) for _ in range(3)]
    dcs, dh = np.zeros(cs_prev.shape, dtype), np.zeros(h_prev.shape, dtype)
    for at in reversed(range(_steps(seq_len_max, x))):
        before_cs, before_h = (
            (outputs[1][at - 1], outputs[6][at - 1]) if at else (widen_array(cs_prev), widen_array(h_prev))
        )
        step = _step_gradient(
            before_cs, tuple(array[at] for array in outputs[:6]), cs_grad[at] + dcs, h_grad[at] + dh, weights
        )
        back = multiply(step.gates, weights.w.T)
        x_grad[at], dh, dcs = back[:, : x.shape[2]], back[:, x.shape[2] :], step.cs_prev
        w_grad += multiply(np.concatenate((wide[at], before_h), axis=1).T, step.gates)
        b_grad += np.add.reduce(step.gates, axis=0)
        for total, part in zip(peepholes, step[2:], strict=True):
            total += part
    return x_grad, dcs, dh, w_grad, *peepholes, b_grad


@block_lstm_grad.kernel
def block_lstm_grad_kernel(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Array, ...]:
    kept = (i, cs, f, o, ci, co, h)
    found = _sequence_gradient(
        seq_len_max, x, cs_prev, h_prev, _Weights.of((w, wci, wcf, wco, b), use_peephole), kept, (cs_grad, h_grad)
    )
    return tuple(narrow_array(array, x.dtype) for array in found)


@block_lstm_grad_v2.kernel
def block_lstm_grad_v2_kernel(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    *,
    use_peephole: bool,
) -> tuple[Array, ...]:
    weights = _Weights.of((w, wci, wcf, wco, b), use_peephole, _SECOND_ORDER)
    kept = (i, cs, f, o, ci, co, h)
    found = _sequence_gradient(seq_len_max, x, cs_prev, h_prev, weights, kept, (cs_grad, h_grad))
    return tuple(narrow_array(array, x.dtype) for array in found)


# ------------------------------------------------------------------------------------------------------ GRU

gru_block_cell = op(
    "GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> r: T, u: T, c: T, h: T", "T: {float}"
)


@gru_block_cell.shape
def gru_block_cell_shape(
    x: Tensor, h_prev: Tensor, w_ru: Tensor, w_c: Tensor, b_ru: Tensor, b_c: Tensor
) -> tuple[Shape, ...]:
    return (Shape((with_rank(x, 2)[0], with_rank(h_prev, 2)[1])),) * 4


def _check_gru(x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array) -> None:
    batch, size, inputs = h_prev.shape[0], h_prev.shape[-1], x.shape[-1]
    fits = (
        x.shape == (batch, inputs)
        and w_ru.shape == (inputs + size, 2 * size)
        and w_c.shape == (inputs + size, size)
        and b_ru.shape == (2 * size,)
        and b_c.shape == (size,)
    )
    if not fits:
        shapes = [list(array.shape) for array in (x, h_prev, w_ru, w_c, b_ru, b_c)]
        raise InvalidArgumentError(
            f"x, h_prev, w_ru, w_c, b_ru and b_c have the shapes {shapes}: expected [batch, inputs], [batch, cell], "
            "[inputs + cell, 2 * cell], [inputs + cell, cell], [2 * cell] and [cell]"
        )


@gru_block_cell.kernel
def gru_block_cell_kernel(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Array, Array, Array, Array]:
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    size = h_prev.shape[1]
    gates = _sigmoid(multiply(np.concatenate((x, h_prev), axis=1), w_ru) + b_ru)
    r, u = gates[:, :size].copy(), gates[:, size:].copy()
    c = np.tanh(multiply(np.concatenate((x, h_prev * r), axis=1), w_c) + b_c)
    return r, u, c, u * h_prev + (u.dtype.type(1) - u) * c


gru_block_cell_grad = op(
    "GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T) -> "
    "d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    "T: {float}",
)


@gru_block_cell_grad.shape
def gru_block_cell_grad_shape(x: Tensor, h_prev: Tensor, w_ru: Tensor, *others: Tensor) -> tuple[Shape, ...]:
    batch, size = with_rank(x, 2)[0], with_rank(h_prev, 2)[1]
    gates = with_rank(w_ru, 2)[1]
    state = Shape((batch, size))
    return with_rank(x, 2), state, state, Shape((batch, gates))


@gru_block_cell_grad.kernel
def gru_block_cell_grad_kernel(
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    b_ru: Array,
    b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> tuple[Array, Array, Array, Array]:
    _check_gru(x, h_prev, w_ru, w_c, b_ru, b_c)
    _check_shapes(h_prev.shape, r=r, u=u, c=c, d_h=d_h)
    inputs, one = x.shape[1], x.dtype.type(1)
    d_c_bar = d_h * (one - u) * (one - c * c)
    from_c = multiply(d_c_bar, w_c.T)
    gated = from_c[:, inputs:]
    d_u_bar = d_h * (h_prev - c) * u * (one - u)
    d_r_bar = gated * h_prev * r * (one - r)
    d_gates = np.concatenate((d_r_bar, d_u_bar), axis=1)
    from_gates = multiply(d_gates, w_ru.T)
    d_x = from_gates[:, :inputs] + from_c[:, :inputs]
    return d_x, from_gates[:, inputs:] + gated * r + d_h * u, d_c_bar, d_gates
