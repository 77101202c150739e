"""How optimizers change rows.

The rules are those of DeepRec's ops for embedding variables (training_ali_ops.cc). Where these are TensorFlow's for
dense variables, they are shared with them; the others are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.rules import adagrad, adam, adam_change, adam_rate, give_back, gradient_descent


@dataclass(frozen=True, slots=True)
class Rule:
    """The update rule of an optimizer: how many slots it has, its hyperparameters with their defaults, and the function
    that takes a step.
    """

    name: str
    slots: int
    numbers: tuple[str, ...]
    step: Callable[..., None]
    defaults: tuple[tuple[str, float], ...] = ()
    whole: tuple[tuple[str, int], ...] = ()
    """The numbers that count something, each with the least that it may be. The others have the weights' type."""
    narrow_slot: int | None = None
    """The slot that may also have a single number for each key, counted from 0."""


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
    """Adagrad of which the accumulator decays: once in `decay_step` steps, and not below `baseline`.

    How often it has is the first number of a row of `accum_decay_power`. Others that the row has stay as they are.
    """
    periods = var.dtype.type(int(global_step) // int(decay_step))
    due = periods > accum_decay_power[:, :1]
    decayed = accum * decay_rate
    np.copyto(accum, np.where(decayed < baseline, baseline, decayed), where=due)
    accum_decay_power[:, :1] += due
    adagrad(var, accum, grad, lr=lr)


def ftrl(
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    *,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    l2_shrinkage: Any = 0.0,
) -> None:
    """Follow the regularised leader, row by row.

    A row becomes 0 unless its linear term is longer than `l1`, and is shortened as a whole otherwise; TensorFlow's rule
    for dense variables compares each element. The accumulator grows by the gradient without shrinkage, but what else is
    done at this step sees it grown by the one with. Where the length is not a number the row becomes 0, as in DeepRec.
    """
    two = var.dtype.type(2)
    push = grad + two * l2_shrinkage * var if l2_shrinkage else grad
    grown = accum + push * push
    old, new = (np.sqrt(accum), np.sqrt(grown)) if lr_power == -0.5 else (accum**-lr_power, grown**-lr_power)
    linear += push - (new - old) / lr * var
    length = np.sqrt(_sums_of_rows(linear * linear))[:, None]
    shortened = (l1 - length) / ((new / lr + two * l2) * length) * linear
    var[...] = np.where(length > l1, shortened, var.dtype.type(0))
    accum += grad * grad


def _sums_of_rows(values: Array) -> Array:
    """The sum of each row, its elements added one after the other as in rules.h. NumPy's order depends on the size."""
    sums = values[:, 0].copy()
    for column in range(1, values.shape[1]):
        sums += values[:, column]
    return sums


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
    work = adam_change(m, v, grad, beta1=beta1, beta2=beta2, epsilon=epsilon)
    work *= adam_rate(var.dtype, lr, beta1_power, beta2_power)
    work += var * weight_decay
    var -= work
    give_back(work)


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


_ADAM: Final = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule("GradientDescent", 0, ("alpha",), gradient_descent),
            Rule("Adagrad", 1, ("lr",), adagrad),
            Rule(
                "AdagradDecay",
                2,
                ("lr", "decay_step", "decay_rate", "baseline", "global_step"),
                adagrad_decay,
                whole=(("decay_step", 1), ("global_step", 0)),
                narrow_slot=1,
            ),
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
                ftrl,
                (("lr_power", -0.5),),
            ),
        )
    }
)
"""The rules, by the names that DeepRec's ops have behind `KvResourceSparseApply`."""
