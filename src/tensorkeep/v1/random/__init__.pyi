# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.nn.candidate_sampling import (
    all_candidate_sampler, fixed_unigram_candidate_sampler, log_uniform_candidate_sampler, uniform_candidate_sampler,
)
from tensorkeep.tf1.functions.random.numbers import (
    Algorithm, categorical, get_seed, multinomial, random_gamma as gamma, random_normal as normal,
    random_poisson as poisson, random_shuffle as shuffle, random_uniform as uniform, set_random_seed,
    stateless_categorical, stateless_fold_in as fold_in, stateless_multinomial,
    stateless_random_binomial as stateless_binomial, stateless_random_gamma as stateless_gamma,
    stateless_random_normal as stateless_normal, stateless_random_poisson as stateless_poisson,
    stateless_random_uniform as stateless_uniform, stateless_split as split, stateless_truncated_normal,
    truncated_normal,
)
from tensorkeep.tf1.variables.random_generators import (
    Generator, create_rng_state, get_global_generator, set_global_generator,
)
from tensorkeep.v1.random import experimental

__all__ = [
    "Algorithm", "Generator", "all_candidate_sampler", "categorical", "create_rng_state", "experimental",
    "fixed_unigram_candidate_sampler", "fold_in", "gamma", "get_global_generator", "get_seed",
    "log_uniform_candidate_sampler", "multinomial", "normal", "poisson", "set_global_generator", "set_random_seed",
    "shuffle", "split", "stateless_binomial", "stateless_categorical", "stateless_gamma", "stateless_multinomial",
    "stateless_normal", "stateless_poisson", "stateless_truncated_normal", "stateless_uniform", "truncated_normal",
    "uniform", "uniform_candidate_sampler",
]
