"""How optimizers change rows, in NumPy.

A rule changes blocks of the rows and of its slots in place, given the block of the gradient and numbers of the rows'
type. Where TensorFlow has the op for dense variables, the arithmetic is that of `ops/training.py`, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """An optimizer's step: how many slots it has, the numbers it takes, with their defaults, and what it does."""

    name: str
    slots: int
    numbers: tuple[str, ...]
    step: Callable[..., None]
    defaults: tuple[tuple[str, float], ...] = ()


def gradient_descent(var: Array, grad: Array, *, alpha: Any) -> None:
    """Against the gradient."""
    var -= grad * alpha


def adagrad(var: Array, accum: Array, grad: Array, *, lr: Any) -> None:
    """Against the gradient, less where squares of gradients have accumulated."""
    accum += grad * grad
    var -= grad * lr / np.sqrt(accum)


def adagrad_decay(
    var: Array,
    accum: Array,
    accum_decay_power: Array,
    grad: Array,
    *,
    lr: Any,
    decay_step: Any,
    decay_rate: Any,
    baseline: Any,
    global_step: Any,
) -> None:
    """Adagrad of which the accumulator decays: once in `decay_step` steps, and not below `baseline`."""
    due = np.floor(global_step / decay_step) > accum_decay_power
    decayed = accum * decay_rate
    np.copyto(accum, np.where(decayed < baseline, baseline, decayed), where=due)
    accum_decay_power += due
    adagrad(var, accum, grad, lr=lr)


def _moments(m: Array, v: Array, grad: Array, beta1: Any, beta2: Any) -> None:
    one = m.dtype.type(1)
    m *= beta1
    m += grad * (one - beta1)
    v *= beta2
    v += grad * grad * (one - beta2)


def _adam_rate(dtype: np.dtype[Any], lr: Any, beta1_power: Any, beta2_power: Any) -> Any:
    one = dtype.type(1)
    return lr * np.sqrt(one - beta2_power) / (one - beta1_power)


def adam(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
) -> None:
    """Adam, of the rows that have a gradient."""
    _moments(m, v, grad, beta1, beta2)
    var -= m / (np.sqrt(v) + epsilon) * _adam_rate(var.dtype, lr, beta1_power, beta2_power)


def adam_w(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    weight_decay: Any,
) -> None:
    """Adam with rows that shrink by a share of themselves, whatever the learning rate."""
    _moments(m, v, grad, beta1, beta2)
    var -= m / (np.sqrt(v) + epsilon) * _adam_rate(var.dtype, lr, beta1_power, beta2_power) + var * weight_decay


def adam_async(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    *,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    apply_sparse_rmsprop: Any,
) -> None:
    """Adam, or RMSProp with momentum `beta1` if so asked. Powers of the betas belong to whoever calls."""
    if not apply_sparse_rmsprop:
        adam(
            var,
            m,
            v,
            grad,
            beta1_power=beta1_power,
            beta2_power=beta2_power,
            lr=lr,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        return
    v *= beta2
    v += grad * grad * (v.dtype.type(1) - beta2)
    m *= beta1
    m += grad * lr / np.sqrt(v + epsilon)
    var -= m


def ftrl_v2(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
) -> None:
    """Follow the regularised leader, with shrinkage."""
    two = var.dtype.type(2)
    grown = accum + grad * grad
    if lr_power == -0.5:
        new_root, old_root = np.sqrt(grown), np.sqrt(accum)
    else:
        new_root, old_root = grown**-lr_power, accum**-lr_power
    shrunk = grad + two * l2_shrinkage * var if l2_shrinkage != 0 else grad
    linear += shrunk - (new_root - old_root) / lr * var
    weight = new_root / lr + two * l2
    var[...] = (np.clip(linear, -l1, l1) - linear) / weight
    accum[...] = grown


def ftrl(var: Array, accum: Array, linear: Array, grad: Array, *, lr: Any, l1: Any, l2: Any, lr_power: Any) -> None:
    """Follow the regularised leader."""
    zero = var.dtype.type(0)
    ftrl_v2(var, accum, linear, grad, lr=lr, l1=l1, l2=l2, l2_shrinkage=zero, lr_power=lr_power)


_ADAM: Final = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule("GradientDescent", 0, ("alpha",), gradient_descent),
            Rule("Adagrad", 1, ("lr",), adagrad),
            Rule("AdagradDecay", 2, ("lr", "decay_step", "decay_rate", "baseline", "global_step"), adagrad_decay),
            Rule("Adam", 2, _ADAM, adam),
            Rule("AdamW", 2, (*_ADAM, "weight_decay"), adam_w),
            Rule(
                "AdamAsync",
                2,
                (*_ADAM, "apply_sparse_rmsprop"),
                adam_async,
                (("apply_sparse_rmsprop", 0),),
            ),
            Rule("Ftrl", 2, ("lr", "l1", "l2", "lr_power"), ftrl, (("lr_power", -0.5),)),
            Rule(
                "FtrlV2",
                2,
                ("lr", "l1", "l2", "l2_shrinkage", "lr_power"),
                ftrl_v2,
                (("lr_power", -0.5),),
            ),
        )
    }
)
"""The rules, by the names that DeepRec's ops have behind `KvResourceSparseApply`."""
