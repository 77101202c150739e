"""Random tensors and their seeds."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, current_graph, graph_of, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import Dimension
from tensorkeep.ops.random import stateful as random_ops
from tensorkeep.ops.random import stateless
from tensorkeep.ops.random.philox import seeds_for
from tensorkeep.ops.shared.expressions import minus, over, plain, shape_of, times
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.reductions import reduce_all

_SEEDS_HANDED_OUT: Final = "random seeds handed out"
_FLOATS: Final = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)


# ---------------------------------------------------------------------------------------------------- Seeds


def set_random_seed(seed: int | None) -> None:
    """Sets the seed of the graph being built, with which operations without a seed of their own get one."""
    current_graph().seed = seed


def get_seed(op_seed: Any) -> tuple[Any, Any]:
    """The two seeds of an operation, from the graph's and its own; both None if neither is given. A seed of a dataset
    may be a tensor.
    """
    graph = current_graph()
    if graph.seed is None and op_seed is None:
        return None, None
    stand_in = 0
    if op_seed is None:
        stand_in = graph.extras.get(_SEEDS_HANDED_OUT, 0)
        graph.extras[_SEEDS_HANDED_OUT] = stand_in + 1
    return seeds_for(graph.seed, op_seed, stand_in)


def seed_attrs(op_seed: int | None) -> dict[str, Any]:
    """The attributes of an operation for its seed."""
    seed, seed2 = get_seed(op_seed)
    return {"seed": seed or 0, "seed2": seed2 or 0}


# ---------------------------------------------------------------------------------------------------- With state


def random_uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of [minval, maxval), each as likely as the others."""
    dtype = DType.of(dtype)
    _check_dtype(dtype, (*_FLOATS, INT32, INT64))
    if maxval is None:
        if dtype.is_integer:
            raise InvalidArgumentError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(chosen_name(name, "random_uniform"), _graph(shape, minval, maxval)) as scope:
        sizes = shape_tensor(shape)
        from_zero = isinstance(minval, int) and minval == 0
        to_one = isinstance(maxval, int) and maxval == 1
        if not from_zero or not to_one or dtype.is_integer:
            minval = convert(minval, dtype, "min")
            maxval = convert(maxval, dtype, "max")
        seeds = seed_attrs(seed)
        if dtype.is_integer:
            return emit(random_ops.random_uniform_int, sizes, minval, maxval, name=scope, **seeds)
        result = emit(random_ops.random_uniform, sizes, dtype=dtype, **seeds)
        if from_zero:
            return result if to_one else emit("Mul", result, maxval)
        return emit("AddV2", times(result, minus(maxval, minval)), minval, name=scope)


def random_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers around `mean`."""
    return _scaled_numbers("RandomStandardNormal", chosen_name(name, "random_normal"), shape, mean, stddev, dtype, seed)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers around `mean`, none of them further away than two deviations."""
    return _scaled_numbers("TruncatedNormal", chosen_name(name, "truncated_normal"), shape, mean, stddev, dtype, seed)


def _scaled_numbers(op: str, name: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None) -> Tensor:
    dtype = DType.of(dtype)
    with name_scope(name, _graph(shape, mean, stddev)) as scope:
        sizes = shape_tensor(shape)
        mean = convert(mean, dtype, "mean")
        stddev = convert(stddev, dtype, "stddev")
        numbers = emit(op, sizes, dtype=dtype, **seed_attrs(seed))
        return emit("AddV2", times(numbers, stddev), mean, name=scope)


def parameterized_truncated_normal(
    shape: ShapeLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    dtype: DTypeLike = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers between bounds."""
    dtype = DType.of(dtype)
    graph = _graph(shape, means, stddevs, minvals, maxvals)
    with name_scope(chosen_name(name, "parameterized_truncated_normal"), graph):
        sizes = shape_tensor(shape)
        named = (("means", means), ("stddevs", stddevs), ("minvals", minvals), ("maxvals", maxvals))
        parameters = [convert(value, dtype, what) for what, value in named]
        return emit(random_ops.parameterized_truncated_normal, sizes, *parameters, **seed_attrs(seed))


def random_shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of a tensor in another order."""
    return emit(random_ops.random_shuffle, value, name=name, **seed_attrs(seed))


def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: int | None = None,
    name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:
    """Samples of classes, for each row of unnormalised logarithms of their probabilities."""
    with name_scope(chosen_name(name, "multinomial"), _graph(logits)):
        return _classes(logits, num_samples, output_dtype, seed)


def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of classes, for each row of unnormalised logarithms of their probabilities."""
    with name_scope(chosen_name(name, "categorical"), _graph(logits)):
        return _classes(logits, num_samples, dtype, seed)


def _classes(logits: Any, num_samples: Any, dtype: Any, seed: int | None) -> Tensor:
    logits = convert(logits, name="logits")
    dtype = DType.of(dtype) if dtype else INT64
    _check_dtype(dtype, (INT32, INT64))
    return emit(random_ops.multinomial, logits, num_samples, output_dtype=dtype, **seed_attrs(seed))


def random_gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = FLOAT32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions, `shape` of them for each alpha and beta."""
    dtype = DType.of(dtype)
    with name_scope(chosen_name(name, "random_gamma"), _graph(shape, alpha, beta)):
        sizes = convert(shape, INT32, "shape")

        def draw(alphas: Tensor) -> Any:
            return random_ops.random_gamma(sizes, alphas, **seed_attrs(seed))

        return _gamma(draw, alpha, beta, dtype)


def _gamma(draw: Callable[[Tensor], Any], alpha: Any, beta: Any, dtype: DType) -> Tensor:
    alpha = convert(alpha, dtype, "alpha")
    beta = convert(1 if beta is None else beta, dtype, "beta")
    together = emit("BroadcastArgs", shape_of(alpha), shape_of(beta))
    samples = draw(emit("BroadcastTo", alpha, together))
    least = np.finfo(dtype.array_dtype).tiny
    return emit("Maximum", least, over(samples, beta), name="Maximum")


def random_poisson(
    lam: TensorLike, shape: ShapeLike, dtype: DTypeLike = FLOAT32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Samples of Poisson distributions, `shape` of them for each rate."""
    with name_scope(chosen_name(name, "random_poisson"), _graph(lam, shape)):
        sizes = convert(shape, INT32, "shape")
        return emit(random_ops.random_poisson_v2, sizes, lam, dtype=DType.of(dtype), **seed_attrs(seed))


def random_crop(value: TensorLike, size: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of that size, from anywhere in a tensor."""
    with name_scope(chosen_name(name, "random_crop"), _graph(value, size)) as scope:
        value = convert(value, name="value")
        size = convert(size, INT32, "size")
        sizes = shape_of(value)
        fits = reduce_all(emit("GreaterEqual", sizes, size))
        check = Assert(fits, ["Need value.shape >= size, got ", sizes, size], summarize=1000)
        sizes = with_dependencies([check], sizes)
        limit = plain("AddV2", minus(sizes, size), 1, "add")
        most = int(np.iinfo(np.int32).max)
        offset = random_uniform(shape_of(sizes), maxval=most, dtype=INT32, seed=seed)
        return emit("Slice", value, plain("FloorMod", offset, limit, "mod"), size, name=scope)


# ---------------------------------------------------------------------------------------------------- Stateless


class Algorithm(Enum):
    """The generators that TensorFlow names. A CPU has Philox only."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def stateless_random_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
    alg: TensorLike = "auto_select",
) -> Tensor:
    """Numbers of [minval, maxval) that `seed` decides; of integers without bounds, any of their type."""
    dtype = DType.of(dtype)
    _check_dtype(dtype, (*_FLOATS, INT32, INT64, UINT32, UINT64))
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise InvalidArgumentError(
                f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both None or not "
                f"None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and dtype in (UINT32, UINT64):
            raise InvalidArgumentError(
                f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. Please don't use "
                "unsigned integers in this case."
            )
    elif maxval is None:
        maxval = 1
    with name_scope(chosen_name(name, "stateless_random_uniform"), _graph(shape, seed, minval, maxval)) as scope:
        sizes = shape_tensor(shape)
        if dtype.is_integer and minval is None:
            keys = _keys(seed, alg)
            return emit(stateless.stateless_full_int_v2, sizes, *keys, dtype=dtype, name=scope)
        minval = convert(minval, dtype, "min")
        maxval = convert(maxval, dtype, "max")
        keys = _keys(seed, alg)
        if dtype.is_integer:
            return emit(stateless.stateless_uniform_int_v2, sizes, *keys, minval, maxval, name=scope)
        numbers = stateless.stateless_uniform_v2(sizes, *keys, dtype=dtype)
        return emit("AddV2", times(numbers, minus(maxval, minval)), minval, name=scope)


def stateless_random_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Tensor:
    """Normal numbers that `seed` decides."""
    return _stateless_scaled(
        "StatelessRandomNormalV2", chosen_name(name, "stateless_random_normal"), shape, seed, (mean, stddev), dtype, alg
    )


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
    alg: TensorLike = "auto_select",
) -> Tensor:
    """Normal numbers that `seed` decides, none of them further from the mean than two deviations."""
    return _stateless_scaled(
        "StatelessTruncatedNormalV2",
        chosen_name(name, "stateless_truncated_normal"),
        shape,
        seed,
        (mean, stddev),
        dtype,
        alg,
    )


def _stateless_scaled(
    op: str, name: str, shape: Any, seed: Any, scaling: tuple[Any, Any], dtype: Any, alg: Any
) -> Tensor:
    dtype = DType.of(dtype)
    with name_scope(name, _graph(shape, seed, *scaling)) as scope:
        sizes = shape_tensor(shape)
        mean = convert(scaling[0], dtype, "mean")
        stddev = convert(scaling[1], dtype, "stddev")
        numbers = emit(op, sizes, *_keys(seed, alg), dtype=dtype)
        return emit("AddV2", times(numbers, stddev), mean, name=scope)


def stateless_random_gamma(
    shape: ShapeLike,
    seed: TensorLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = FLOAT32,
    name: str | None = None,
) -> Tensor:
    """Samples of gamma distributions that `seed` decides; `shape` is that of the result."""
    dtype = DType.of(dtype)
    with name_scope(chosen_name(name, "stateless_random_gamma"), _graph(shape, seed, alpha, beta)):
        sizes = shape_tensor(shape)

        def draw(alphas: Tensor) -> Any:
            return stateless.stateless_gamma_v3(sizes, *_keys(seed, "auto_select"), alphas)

        return _gamma(draw, alpha, beta, dtype)


def stateless_random_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = INT32, name: str | None = None
) -> Tensor:
    """Samples of Poisson distributions that `seed` decides; `shape` is that of the result."""
    with name_scope(chosen_name(name, "stateless_random_poisson"), _graph(shape, seed, lam)):
        sizes = shape_tensor(shape)
        return emit(stateless.stateless_poisson, sizes, seed, lam, dtype=DType.of(dtype))


def stateless_random_binomial(
    shape: ShapeLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = INT32,
    name: str | None = None,
) -> Tensor:
    """Samples of binomial distributions that `seed` decides; `shape` is that of the result."""
    with name_scope(chosen_name(name, "stateless_random_binomial"), _graph(shape, seed, counts, probs)):
        sizes = shape_tensor(shape)
        probs = convert(probs, name="probs", preferred_dtype=FLOAT32)
        counts = convert(counts, name="counts", preferred_dtype=probs.dtype.base_dtype)
        return emit(stateless.stateless_binomial, sizes, seed, counts, probs, dtype=DType.of(output_dtype))


def stateless_multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: TensorLike,
    output_dtype: DTypeLike = INT64,
    name: str | None = None,
) -> Tensor:
    """Samples of classes that `seed` decides."""
    with name_scope(chosen_name(name, "stateless_multinomial"), _graph(logits, seed)):
        return _stateless_classes(logits, num_samples, output_dtype, seed)


def stateless_categorical(
    logits: TensorLike, num_samples: TensorLike, seed: TensorLike, dtype: DTypeLike = INT64, name: str | None = None
) -> Tensor:
    """Samples of classes that `seed` decides."""
    with name_scope(chosen_name(name, "stateless_categorical"), _graph(logits, seed)):
        return _stateless_classes(logits, num_samples, dtype, seed)


def _stateless_classes(logits: Any, num_samples: Any, dtype: Any, seed: Any) -> Tensor:
    logits = convert(logits, name="logits")
    dtype = DType.of(dtype) if dtype else INT64
    _check_dtype(dtype, (INT32, INT64))
    return emit(stateless.stateless_multinomial, logits, num_samples, seed, output_dtype=dtype)


def stateless_shuffle(
    value: TensorLike, seed: TensorLike, alg: TensorLike = "auto_select", name: str | None = None
) -> Tensor:
    """The rows of a tensor in an order that `seed` decides."""
    with name_scope(chosen_name(name, "stateless_shuffle"), _graph(value, seed)):
        return emit(stateless.stateless_shuffle, value, *_keys(seed, alg))


def stateless_split(seed: TensorLike, num: int = 2, alg: TensorLike = "auto_select") -> Tensor:
    """`num` new seeds, a row each, made of one."""
    seed = convert(seed)
    return stateless_random_uniform([num, 2], seed, None, None, seed.dtype.base_dtype, alg=alg)


def stateless_fold_in(seed: TensorLike, data: TensorLike, alg: TensorLike = "auto_select") -> Tensor:
    """A new seed, made of one and of a number such as that of a step."""
    data = convert(data)
    first = stateless_random_uniform([], seed, None, None, data.dtype.base_dtype, alg=alg)
    return emit("Pack", [first, data], axis=0, name="stack")


def _keys(seed: Any, alg: Any) -> tuple[Any, Any, Any]:
    """Key, counter and algorithm of a seed."""
    number = _algorithm(alg)
    if number == Algorithm.AUTO_SELECT.value:
        key, counter = stateless.get_key_counter(seed)
        return key, counter, number
    raise InvalidArgumentError(
        f"Argument `alg` got unsupported value {alg}: on a CPU the algorithm is Philox, under the name 'auto_select'"
    )


def _algorithm(alg: Any) -> int:
    if alg is None:
        return Algorithm.AUTO_SELECT.value
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, int):
        return alg
    if isinstance(alg, str):
        found = {"philox": 1, "threefry": 2, "autoselect": 3}.get(alg.strip().lower().replace("-", "").replace("_", ""))
        if found is not None:
            return found
        raise InvalidArgumentError(f"Argument `alg` got unsupported value {alg}.")
    raise WrongTypeError(f"Can't convert argument `alg` (of value {alg} and type {type(alg)}) to int.")


# ---------------------------------------------------------------------------------------------------- Arguments


def shape_tensor(shape: ShapeLike) -> Tensor:
    """A shape as a tensor named "shape": of int32 where that will do."""
    if isinstance(shape, list | tuple):
        if not shape:
            return convert(shape, INT32, "shape")
        shape = tuple(int(size) if isinstance(size, Dimension) else size for size in shape)
    return convert(shape, name="shape")


def _graph(*values: Any) -> Graph:
    flat = [item for value in values for item in (value if isinstance(value, list | tuple) else (value,))]
    return graph_of(flat)


def _check_dtype(dtype: DType, accepted: tuple[DType, ...]) -> None:
    if dtype not in accepted:
        raise InvalidArgumentError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {', '.join(map(str, accepted))}."
        )


__all__ = [
    "Algorithm",
    "categorical",
    "get_seed",
    "multinomial",
    "parameterized_truncated_normal",
    "random_crop",
    "random_gamma",
    "random_normal",
    "random_poisson",
    "random_shuffle",
    "random_uniform",
    "seed_attrs",
    "set_random_seed",
    "shape_tensor",
    "stateless_categorical",
    "stateless_fold_in",
    "stateless_multinomial",
    "stateless_random_binomial",
    "stateless_random_gamma",
    "stateless_random_normal",
    "stateless_random_poisson",
    "stateless_random_uniform",
    "stateless_shuffle",
    "stateless_split",
    "stateless_truncated_normal",
    "truncated_normal",
]
