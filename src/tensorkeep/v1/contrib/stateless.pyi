# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.functions.random.numbers import (
    stateless_multinomial, stateless_random_normal, stateless_random_uniform, stateless_truncated_normal,
)

__all__ = [
    "stateless_multinomial", "stateless_random_normal", "stateless_random_uniform", "stateless_truncated_normal",
]
