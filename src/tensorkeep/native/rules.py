"""Steps of optimizers in NumPy, which dense variables and tables of rows share.

A rule changes blocks of a variable and of its slots in place, given the block of the gradient and numbers of their
type. `rules.h` has the same arithmetic, in the same order: both give the same bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array


def gradient_descent(var: Array, grad: Array, *, alpha: Array) -> None:
    """Against the gradient."""
    var -= grad * alpha


def adagrad(var: Array, accum: Array, grad: Array, *, lr: Array, update_slots: bool = True) -> None:
    """Against the gradient, less where squares of gradients have accumulated."""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / np.sqrt(accum)


def adam_rate(dtype: np.dtype[Any], lr: Array, beta1_power: Array, beta2_power: Array) -> Array:
    """The learning rate that makes up for moments that began with zero."""
    one = dtype.type(1)
    rate: Array = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    return rate


def adam_change(
    m: Array, v: Array, grad: Array, *, beta1: Array, beta2: Array, epsilon: Array, use_nesterov: bool = False
) -> Array:
    """Advances the moments, and returns what the variable changes by per learning rate.

    That lies in scratch memory, which the caller gives back.
    """
    one = m.dtype.type(1)
    work = take_scratch(m)
    np.multiply(grad, one - beta1, work)
    m *= beta1
    m += work
    np.multiply(grad, grad, work)
    work *= one - beta2
    v *= beta2
    v += work
    np.sqrt(v, work)
    work += epsilon
    np.divide(grad * (one - beta1) + m * beta1 if use_nesterov else m, work, work)
    return work


def adam(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    use_nesterov: bool = False,
) -> None:
    """By the mean of gradients, over the root of that of their squares."""
    work = adam_change(m, v, grad, beta1=beta1, beta2=beta2, epsilon=epsilon, use_nesterov=use_nesterov)
    work *= adam_rate(var.dtype, lr, beta1_power, beta2_power)
    var -= work
    give_back(work)


def ftrl(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
    multiply_linear_by_lr: bool = False,
    l2_shrinkage: Array | float = 0.0,
) -> None:
    """Follow the regularised leader, with shrinkage if it is not 0. Where a gradient is not a number, nor is a row."""
    two = var.dtype.type(2)
    grown = accum + grad * grad
    old, new = (np.sqrt(accum), np.sqrt(grown)) if lr_power == -0.5 else (accum**-lr_power, grown**-lr_power)
    shrunk = grad + two * l2_shrinkage * var if l2_shrinkage else grad
    if multiply_linear_by_lr:
        linear += shrunk * lr - (new - old) * var
        limit, weight = l1 * lr, new + two * l2 * lr
    else:
        linear += shrunk - (new - old) / lr * var
        limit, weight = l1, new / lr + two * l2
    var[...] = (np.clip(linear, -limit, limit) - linear) / weight
    accum[...] = grown


def ftrl_of_whole(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
    multiply_linear_by_lr: bool = False,
    l2_shrinkage: Array | float = 0.0,
) -> None:
    """The same for a whole variable: it is 0 unless the linear term is beyond the limit, and so where that is not a
    number.
    """
    numbers: dict[str, Any] = {"lr": lr, "l1": l1, "l2": l2, "lr_power": lr_power, "l2_shrinkage": l2_shrinkage}
    ftrl(var, accum, linear, grad, multiply_linear_by_lr=multiply_linear_by_lr, **numbers)
    limit = l1 * lr if multiply_linear_by_lr else l1
    np.copyto(var, 0, where=~((linear > limit) | (linear < -limit)))


# ---------------------------------------------------------------------------------------------------- Scratch memory

_SCRATCH: Final[list[Array]] = []  # memory that rules work in; who takes a piece has it alone until it is given back


def take_scratch(like: Array) -> Array:
    """An array to work in, of the shape and type of another: memory used before, for fresh memory costs more."""
    try:
        memory = _SCRATCH.pop()
    except IndexError:  # also if another thread was quicker
        memory = np.empty(0, np.uint8)
    if memory.nbytes < like.nbytes:
        memory = np.empty(like.nbytes, np.uint8)
    return memory[: like.nbytes].view(like.dtype).reshape(like.shape)


def give_back(work: Array) -> None:
    """Ends the use of an array that `take_scratch` gave."""
    memory = work
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    _SCRATCH.append(memory)
