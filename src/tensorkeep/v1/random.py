"""`tf.random`: random numbers."""

from __future__ import annotations

from tensorkeep.functions.array import split
from tensorkeep.functions.random import (
    Algorithm,
    categorical,
    get_seed,
    multinomial,
    set_random_seed,
    stateless_categorical,
    stateless_multinomial,
    stateless_truncated_normal,
    truncated_normal,
)
from tensorkeep.functions.random import random_gamma as gamma
from tensorkeep.functions.random import random_normal as normal
from tensorkeep.functions.random import random_poisson as poisson
from tensorkeep.functions.random import random_shuffle as shuffle
from tensorkeep.functions.random import random_uniform as uniform

__all__ = [
    "Algorithm",
    "categorical",
    "gamma",
    "get_seed",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "split",
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_truncated_normal",
    "truncated_normal",
    "uniform",
]
