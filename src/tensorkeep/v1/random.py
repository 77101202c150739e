"""`tf.random`: random numbers."""

from __future__ import annotations

from tensorkeep.functions.array import split
from tensorkeep.functions.candidate_sampling import (
    all_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
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
    "all_candidate_sampler",
    "categorical",
    "gamma",
    "get_seed",
    "log_uniform_candidate_sampler",
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
    "uniform_candidate_sampler",
]
