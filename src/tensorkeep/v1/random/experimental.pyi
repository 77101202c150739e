# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.random.numbers import Algorithm
from tensorkeep.tf1.variables.random_generators import (
    Generator, create_rng_state, get_global_generator, set_global_generator,
)

__all__ = [
    "Algorithm", "Generator", "create_rng_state", "get_global_generator", "set_global_generator",
]
