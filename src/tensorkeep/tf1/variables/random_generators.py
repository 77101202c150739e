"""`tf.random.Generator`: random numbers of a state that is a variable, and that checkpoints keep.

The state of Philox is a counter of two whole numbers and a key, that of ThreeFry a counter and a key. A draw takes the
numbers at the counter, and moves it on.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, INT64, UINT64, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, current_graph, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import bitcast, concat, reshape, stack, zeros, zeros_like
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod
from tensorkeep.tf1.functions.random.numbers import Algorithm, shape_tensor
from tensorkeep.tf1.variables.variable import Variable

_STATE_SIZES: Final = {1: 3, 2: 2}
_NAMES: Final = {"philox": 1, "threefry": 2, "auto_select": 1}
_WORD: Final = 2**64


def algorithm_number(alg: Any) -> int:
    """1 for Philox, 2 for ThreeFry, of a number, a name or what `tf.random.Algorithm` has."""
    number = _NAMES.get(alg) if isinstance(alg, str) else int(alg.value if isinstance(alg, Algorithm) else alg)
    if number not in _STATE_SIZES:
        raise InvalidArgumentError(f"alg {alg!r} is no algorithm of random numbers: want 'philox' or 'threefry'")
    return number


def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """The state that a seed begins: a whole number of any length, from its low end, or a vector of such, put last."""
    size = _STATE_SIZES[algorithm_number(alg)]
    if isinstance(seed, int | np.integer):
        words = [(int(seed) >> (64 * at)) % _WORD for at in range(size)]
        return convert(np.array(words, np.uint64).view(np.int64))
    given = convert(seed if isinstance(seed, Tensor) else np.array(_words(seed)), name="seed")
    flat = cast(reshape(given, [-1]), INT64)
    count = flat.static_shape[0]
    if count is None:
        raise InvalidArgumentError("a seed that is a tensor needs a shape that is known: set_shape tells it")
    return concat([zeros([max(size - count, 0)], INT64), flat[:size]], 0)


def _words(seed: Sequence[int]) -> Any:
    return np.array([int(item) % _WORD for item in np.ravel(seed)], np.uint64).view(np.int64)


class Generator:
    """Draws numbers, each time further ones, of a state in a variable."""

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise InvalidArgumentError("Generator takes copy_from, or state and alg, and not both")
            state, alg = copy_from.state.initialized_value(), copy_from.algorithm
        if state is None or alg is None:
            raise InvalidArgumentError("Generator needs state and alg: from_seed and its like make one")
        self._alg = algorithm_number(alg)
        with name_scope("random_generator"):
            self._state: Any = Variable(self._checked(state), trainable=False, use_resource=True, name="StateVar")

    def _checked(self, state: Any) -> Tensor:
        given = state if isinstance(state, Tensor) else convert(_words(state))
        size = _STATE_SIZES[self._alg]
        if not given.static_shape.is_compatible(convert(np.zeros(size, np.int64)).static_shape):
            raise InvalidArgumentError(f"state has shape {given.shape}, and this algorithm one of {size} numbers")
        return cast(given, INT64)

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator of a state as it is."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that begins with a seed."""
        alg = "philox" if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that begins somewhere: elsewhere each time the program runs."""
        alg = "philox" if alg is None else alg
        return cls(state=[secrets.randbits(64) for _ in range(_STATE_SIZES[algorithm_number(alg)])], alg=alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator of a key, one whole number, at a counter of the others."""
        return cls(state=_joined_state(key, counter, algorithm_number(alg)), alg=alg)

    @property
    def state(self) -> Any:
        """The variable."""
        return self._state

    @property
    def algorithm(self) -> int:
        return self._alg

    @property
    def key(self) -> Tensor:
        found: Tensor = self._state.read_value()[-1]
        return found

    def reset(self, state: Any) -> Any:
        """What sets the state."""
        return self._state.assign(self._checked(state))

    def reset_from_seed(self, seed: Any) -> Any:
        """What has it begin with a seed."""
        return self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """What has it begin with a key, at a counter."""
        return self._state.assign(self._checked(_joined_state(key, counter, self._alg)))

    def skip(self, delta: TensorLike) -> Tensor:
        """Moves on by what 256 times so many numbers take, and gives the state before."""
        return emit("RngReadAndSkip", self._state.handle, convert(self._alg, INT32), cast(delta, UINT64))

    def _drawn(self, op: str, shape: ShapeLike, *bounds: Tensor, **types: Any) -> Tensor:
        sizes = shape_tensor(shape)
        state = self.skip(reduce_prod(cast(sizes, INT64)))
        key, counter = bitcast(state[-1:], UINT64), bitcast(state[:-1], UINT64)
        return emit(op, sizes, key, counter, convert(self._alg, INT32), *bounds, **types)

    def normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = FLOAT32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers."""
        return self._scaled("StatelessRandomNormalV2", "stateful_normal", shape, mean, stddev, dtype, name)

    def truncated_normal(
        self,
        shape: ShapeLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = FLOAT32,
        name: str | None = None,
    ) -> Tensor:
        """Normal numbers, none of them further from the mean than two deviations."""
        return self._scaled("StatelessTruncatedNormalV2", "truncated_normal", shape, mean, stddev, dtype, name)

    def _scaled(self, op: str, scope: str, shape: Any, mean: Any, stddev: Any, dtype: Any, name: str | None) -> Tensor:
        kind = DType.of(dtype)
        with name_scope(chosen_name(name, scope)):
            drawn = self._drawn(op, shape, dtype=kind)
            return drawn * convert(stddev, kind) + convert(mean, kind)

    def uniform(
        self,
        shape: ShapeLike,
        minval: TensorLike = 0,
        maxval: TensorLike | None = None,
        dtype: DTypeLike = FLOAT32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers of [minval, maxval), up to 1 if there is none; for whole ones it is needed."""
        kind = DType.of(dtype)
        with name_scope(chosen_name(name, "stateful_uniform")):
            if maxval is None and kind.is_integer:
                raise InvalidArgumentError(f"Must specify maxval for integer dtype {kind!r}")
            low, high = convert(minval, kind), convert(1 if maxval is None else maxval, kind)
            if kind.is_integer:
                return self._drawn("StatelessRandomUniformIntV2", shape, low, high)
            return self._drawn("StatelessRandomUniformV2", shape, dtype=kind) * (high - low) + low

    def uniform_full_int(self, shape: ShapeLike, dtype: DTypeLike = UINT64, name: str | None = None) -> Tensor:
        """Any whole numbers of a type."""
        with name_scope(chosen_name(name, "stateful_uniform_full_int")):
            return self._drawn("StatelessRandomUniformFullIntV2", shape, dtype=DType.of(dtype))

    def binomial(
        self,
        shape: ShapeLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = INT32,
        name: str | None = None,
    ) -> Tensor:
        """How many of so many attempts succeed."""
        with name_scope(chosen_name(name, "binomial")):
            sizes = convert(shape, preferred_dtype=INT32)
            chances = convert(probs, preferred_dtype=FLOAT32)
            attempts = convert(counts, chances.dtype.base_dtype)
            return emit(
                "StatefulRandomBinomial",
                self._state.handle,
                convert(self._alg, INT64),
                sizes,
                attempts,
                chances,
                dtype=DType.of(dtype),
            )

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds [2, count] for stateless functions."""
        keys = self.uniform_full_int([count], INT64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Is refused, as by TensorFlow in a graph: the states would begin with what is only drawn later."""
        raise UnimplementedError(
            "Generator.split: variables of a graph cannot begin with what another one draws; use make_seeds, or "
            "tf.random.Generator.from_seed with seeds of your own"
        )


def _joined_state(key: Any, counter: Any, alg: int) -> Any:
    parts = [*np.ravel(counter), *np.ravel(key)]
    if len(parts) != _STATE_SIZES[alg]:
        raise InvalidArgumentError(f"a counter of {_STATE_SIZES[alg] - 1} and a key of 1 are needed, got {len(parts)}")
    return [int(item) for item in parts]


_OF_GRAPHS: Final = ("global_random_generator",)  # no text, so that meta graphs leave the collection out


def get_global_generator() -> Generator:
    """The generator of the graph being built: one that begins anywhere, unless another was set."""
    kept = current_graph().collections.setdefault(_OF_GRAPHS, [])
    if not kept:
        kept.append(Generator.from_non_deterministic_state())
    found: Generator = kept[0]
    return found


def set_global_generator(generator: Generator) -> None:
    """Lets a generator be that of the graph being built."""
    current_graph().collections[_OF_GRAPHS] = [generator]
