"""`tf.random`: random numbers."""

from __future__ import annotations

from tensorkeep.tf1.functions.nn.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tensorkeep.tf1.functions.random.numbers import (
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
from tensorkeep.tf1.functions.random.numbers import random_gamma as gamma
from tensorkeep.tf1.functions.random.numbers import random_normal as normal
from tensorkeep.tf1.functions.random.numbers import random_poisson as poisson
from tensorkeep.tf1.functions.random.numbers import random_shuffle as shuffle
from tensorkeep.tf1.functions.random.numbers import random_uniform as uniform
from tensorkeep.tf1.functions.random.numbers import stateless_fold_in as fold_in
from tensorkeep.tf1.functions.random.numbers import stateless_random_binomial as stateless_binomial
from tensorkeep.tf1.functions.random.numbers import stateless_random_gamma as stateless_gamma
from tensorkeep.tf1.functions.random.numbers import stateless_random_normal as stateless_normal
from tensorkeep.tf1.functions.random.numbers import stateless_random_poisson as stateless_poisson
from tensorkeep.tf1.functions.random.numbers import stateless_random_uniform as stateless_uniform
from tensorkeep.tf1.functions.random.numbers import stateless_split as split

__all__ = [
    "Algorithm",
    "all_candidate_sampler",
    "categorical",
    "fixed_unigram_candidate_sampler",
    "fold_in",
    "gamma",
    "get_seed",
    "log_uniform_candidate_sampler",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "split",
    "stateless_binomial",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]
