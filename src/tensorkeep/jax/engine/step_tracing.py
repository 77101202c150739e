"""A part as JAX traces it: checks are noted, and random numbers are those of the host's streams.

What was noted, and how far each stream of random numbers has got, is part of the state, which branches and loops carry.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.graph import Operation
from tensorkeep.jax.bodies import Facts
from tensorkeep.jax.engine.checks import checks
from tensorkeep.jax.philox import Generator
from tensorkeep.jax.tracing import Tracing
from tensorkeep.jax.values import Value
from tensorkeep.ops.random.philox import BLOCKS_PER_OUTPUT, PhiloxGenerator
from tensorkeep.runtime.resources import VariableResource

FAILED: Final = "whether something was noted that our kernels refuse"
"""What the state of a trace has that truth value under."""

_CHECKS: Final = checks()
_WORD: Final = 32
_MASK: Final = 0xFFFFFFFF
_KEY: Final = 2  # words of a key; those of a counter follow


class StepTracing(Tracing):
    """A trace whose state has, by operation, the places of streams of random numbers, and what was noted."""

    has_checks = False
    """Whether something is checked at all."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.drawn: Counter[Operation] = Counter()
        """How many blocks of random words operations have drawn, those in branches and loops left aside."""

    def generator(self, count: int) -> Generator:
        assert self.operation is not None
        blocks = count * BLOCKS_PER_OUTPUT
        self.drawn[self.operation] += blocks
        words = self.state[self.operation]
        low = _join_words(words[_KEY], words[_KEY + 1])
        total = low + np.uint64(blocks)
        high = _join_words(words[_KEY + 2], words[_KEY + 3]) + (total < low).astype(jnp.uint64)
        self.state[self.operation] = jnp.stack([words[0], words[1], *_split_words(total), *_split_words(high)])
        return Generator(words[:_KEY], words[_KEY:])

    def lowered(self, op: Operation, facts: Facts, inputs: list[Value]) -> list[Value]:
        check = None if self.only_known else _CHECKS.get(op.type)
        given = (
            [self.read(value) if isinstance(value, VariableResource) else value for value in inputs] if check else []
        )
        results = super().lowered(op, facts, inputs)
        is_taken = None if check is None else check(op, given, results)
        if is_taken is not None:
            self.has_checks = True
            self.state[FAILED] = self.state[FAILED] | ~jnp.asarray(is_taken)
        return results


def _join_words(low: Any, high: Any) -> Any:
    return low.astype(jnp.uint64) | high.astype(jnp.uint64) << _WORD


def _split_words(number: Any) -> tuple[Any, Any]:
    return (number & np.uint64(_MASK)).astype(jnp.uint32), (number >> _WORD).astype(jnp.uint32)


def words_of(place: PhiloxGenerator) -> Array:
    """A place in a stream as words: two of its key, four of its counter."""
    key = [place.key >> _WORD * at & _MASK for at in range(_KEY)]
    return np.array([*key, *(place.counter >> _WORD * at & _MASK for at in range(4))], np.uint32)


def place_of(words: jax.Array) -> PhiloxGenerator:
    """The place that words stand for."""
    numbers = [int(word) for word in np.asarray(words)]
    counter = sum(word << _WORD * at for at, word in enumerate(numbers[_KEY:]))
    return PhiloxGenerator(numbers[0] | numbers[1] << _WORD, counter)
