"""How optimizers change rows.

Where TensorFlow has the op for dense variables, the rule is that of its op; what only DeepRec has is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.native.rules import adagrad, adam, adam_change, adam_rate, ftrl, give_back, gradient_descent

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """An optimizer's step: how many slots it has, the numbers it takes, with their defaults, and what it does."""

    name: str
    slots: int
    numbers: tuple[str, ...]
    step: Callable[..., None]
    defaults: tuple[tuple[str, float], ...] = ()


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
                ftrl,
                (("lr_power", -0.5),),
            ),
        )
    }
)
"""The rules, by the names that DeepRec's ops have behind `KvResourceSparseApply`."""
