"""Random numbers beside TensorFlow's: the same bits, in the first execution of an operation and in later ones."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.arrays import Array
from tensorkeep.ops.random.distributions import (
    binomial,
    gamma,
    multinomial,
    multinomial_blocks,
    parameterized_truncated_normal,
    parameterized_truncated_normal_blocks,
    poisson,
    sample_shape,
    shuffle,
    shuffle_blocks,
    standard_normal,
    truncated_normal,
    uniform,
    uniform_full_integers,
    uniform_integers,
)
from tensorkeep.ops.random.philox import PHILOX, PhiloxGenerator, PhiloxStream, key_and_counter, seeds_for

Draw = Callable[[PhiloxGenerator, Sequence[int], Any], Array]

raw: Final = tf.raw_ops
v1: Final = tf.compat.v1

FLOATS: Final = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
SHAPES: Final = ((), (0,), (1,), (2, 0, 3), (5,), (3, 7), (10_007,), (40_000,))
SEEDS: Final = ((1, 2), (-5, 2**62), (87654321, 0), (0, 2**31 - 1), (-(2**63), 2**63 - 1))
STATELESS_SEEDS: Final = ((0, 0), (1, 2), (-1, 2**40), (-(2**63), 2**63 - 1))
EXECUTIONS: Final = 3

with_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or platform.machine() != "x86_64",
    reason="TensorFlow takes logarithms and sines from the C library, and ours are those of glibc on x86-64",
)


def threads() -> int:
    """How many threads TensorFlow runs a kernel with, if no session before asked for another number."""
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    asked = tf.config.threading.get_intra_op_parallelism_threads() or int(os.environ.get("TF_NUM_INTRAOP_THREADS", "0"))
    return asked or processors


def expect_same(ours: Array, theirs: Array) -> None:
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    bits = f"u{ours.dtype.itemsize}"
    np.testing.assert_array_equal(np.ascontiguousarray(ours).view(bits), np.ascontiguousarray(theirs).view(bits))


class Cases:
    """Operations of one graph, with what we have for each; executed together several times in one session."""

    def __init__(self) -> None:
        self._graph = tf.Graph()
        self._ours: list[Callable[[], Array]] = []
        self._theirs: list[Any] = []

    def add(
        self,
        operation: Callable[..., Any],
        inputs: dict[str, Any],
        draw: Callable[[PhiloxGenerator], Array],
        blocks: int | None = None,
        seeds: tuple[int, int] = (11, -12),
    ) -> None:
        """An operation, and what draws the same from a reserved generator; by default reserved by its outputs."""
        with self._graph.as_default():
            output = operation(**inputs, seed=seeds[0], seed2=seeds[1])
        stream = PhiloxStream(*seeds)
        count = 256 * int(np.prod(output.shape.as_list())) if blocks is None else blocks
        self._theirs.append(output)
        self._ours.append(lambda: draw(stream.reserve(count)))

    def expect_same(self) -> None:
        with v1.Session(graph=self._graph) as session:
            for _ in range(EXECUTIONS):
                for ours, theirs in zip(self._ours, session.run(self._theirs), strict=True):
                    expect_same(ours(), theirs)


def vector(values: Sequence[int]) -> Array:
    return np.array(values, np.int32)


# Operations with a state.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("operation", "draw"),
    [
        (raw.RandomUniform, uniform),
        pytest.param(raw.RandomStandardNormal, standard_normal, marks=with_glibc),
        pytest.param(raw.TruncatedNormal, truncated_normal, marks=with_glibc),
    ],
)
def test_uniform_and_normal_numbers_have_the_same_bits(operation: Any, draw: Draw, dtype: Any) -> None:
    cases = Cases()
    for shape in SHAPES:
        for seeds in SEEDS if np.prod(shape) < 100 else SEEDS[:2]:
            inputs = {"shape": vector(shape), "dtype": dtype}
            cases.add(operation, inputs, lambda g, shape=shape: draw(g, shape, dtype), seeds=seeds)
    cases.expect_same()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_are_the_same(dtype: Any) -> None:
    least, greatest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    cases = Cases()
    for low, high in ((0, 10), (-5, 7), (3, 4), (least, greatest), (least, 0), (0, greatest), (least, least + 3)):
        for shape in SHAPES:
            inputs = {"shape": vector(shape), "minval": dtype(low), "maxval": dtype(high)}
            cases.add(
                raw.RandomUniformInt,
                inputs,
                lambda g, shape=shape, low=low, high=high: uniform_integers(g, shape, low, high, dtype),
            )
    cases.expect_same()


def test_rows_are_shuffled_into_the_same_order() -> None:
    cases = Cases()
    for shape in ((), (0,), (1,), (2,), (7,), (20_001,), (33, 2), (5, 0), (1, 4), (4, 1, 3)):
        values = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        draw = lambda g, values=values: shuffle(g, values)  # noqa: E731
        cases.add(raw.RandomShuffle, {"value": values}, draw, blocks=shuffle_blocks(shape))
    cases.expect_same()


def some_logits(rows: int, classes: int, dtype: Any) -> Array:
    logits = (np.random.default_rng(rows).standard_normal((rows, classes)) * 3).astype(dtype)
    if rows > 2 and classes > 1:
        logits[0, 0], logits[1, 1], logits[2] = np.inf, np.nan, -np.inf
    return logits


@pytest.mark.parametrize("dtype", FLOATS)
def test_classes_are_the_same(dtype: Any) -> None:
    cases = Cases()
    for rows, classes, samples in (
        (1, 1, 1),
        (3, 5, 7),
        (50, 20, 11),
        (900, 30, 9),
        (7, 1000, 501),
        (0, 3, 2),
        (2, 3, 0),
    ):
        logits = some_logits(rows, classes, dtype)
        cases.add(
            raw.Multinomial,
            {"logits": logits, "num_samples": samples, "output_dtype": tf.int32},
            lambda g, logits=logits, samples=samples: multinomial(g, logits, samples, np.int32, threads=threads()),
            blocks=multinomial_blocks(rows, samples),
        )
    cases.expect_same()


@with_glibc
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gamma_samples_have_the_same_bits(dtype: Any) -> None:
    cases = Cases()
    alpha = np.array([[0.01, 0.1, 0.5], [0.999, 1.0, 1.5], [3.0, 20.0, 1000.0]]).astype(dtype)
    for shape in ((), (0,), (1,), (7, 3), (3000,)):
        inputs = {"shape": vector(shape), "alpha": alpha}
        cases.add(raw.RandomGamma, inputs, lambda g, shape=shape: gamma(g, shape, alpha))
    cases.expect_same()


@pytest.mark.parametrize("rate_type", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_poisson_samples_are_the_same(rate_type: Any) -> None:
    cases = Cases()
    rate = np.array([0, 1, 3.5, 9, 10, 25, 400, 5000, -1]).astype(rate_type)
    for dtype in (np.float16, np.float32, np.float64, np.int32, np.int64):
        for shape in ((), (0,), (2, 3), (1500,)):
            inputs = {"shape": vector(shape), "rate": rate, "dtype": dtype}
            cases.add(raw.RandomPoissonV2, inputs, lambda g, shape=shape, dtype=dtype: poisson(g, shape, rate, dtype))
    cases.expect_same()


def test_poisson_samples_of_the_first_version_are_the_same() -> None:
    rate = np.array([0.5, 50.0])
    with tf.Graph().as_default() as graph:
        tf.constant(vector((100,)), name="shape")
        tf.constant(rate, name="rate")
    definition = graph.as_graph_def()
    definition.versions.producer = 24  # the last for which the operation exists
    node = definition.node.add(name="samples", op="RandomPoisson", input=["shape", "rate"])
    node.attr["seed"].i, node.attr["seed2"].i = 5, 6
    node.attr["S"].type, node.attr["dtype"].type = tf.int32.as_datatype_enum, tf.float64.as_datatype_enum
    with tf.Graph().as_default() as graph:
        (samples,) = tf.import_graph_def(definition, return_elements=["samples:0"])
    stream = PhiloxStream(5, 6)
    with v1.Session(graph=graph) as session:
        for _ in range(EXECUTIONS):
            expect_same(poisson(stream.reserve_outputs(200), (100,), rate, np.float64), session.run(samples))


BOUNDS: Final = (
    *((0, 1, -2, 2), (1, 2, -np.inf, 3), (0, 1, 4, np.inf), (0, 1, 5, 6), (0, 1, 0.1, 0.2), (3, 0.5, -9, 2)),
    *((0, 1, -3, -2.9), (0, 1, -1, 1)),
)


@with_glibc
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_truncated_normal_numbers_with_parameters_have_the_same_bits(dtype: Any) -> None:
    cases = Cases()
    scalars = [(shape, bounds) for bounds in BOUNDS for shape in ((1,), (250,), (3, 511))]
    vectors = [(shape, tuple(zip(*BOUNDS, strict=True))) for shape in ((8,), (8, 7), (8, 300))]
    for shape, bounds in [*scalars, ((9_000,), BOUNDS[0]), ((0, 3), BOUNDS[0]), *vectors]:
        parameters = [np.array(bound, dtype) for bound in bounds]
        names = ("means", "stdevs", "minvals", "maxvals")
        inputs = {"shape": vector(shape), **dict(zip(names, parameters, strict=True))}
        cases.add(
            raw.ParameterizedTruncatedNormal,
            inputs,
            lambda g, shape=shape, parameters=parameters: parameterized_truncated_normal(
                g, shape, parameters, threads=threads()
            ),
            blocks=parameterized_truncated_normal_blocks(shape, [parameter.shape for parameter in parameters]),
        )
    cases.expect_same()


@with_glibc
def test_reserving_overflows_beyond_a_million_truncated_normal_numbers() -> None:
    count = 1_100_000
    parameters = [np.array(value, np.float32) for value in (0, 1, -2, 2)]
    with tf.Graph().as_default() as graph:
        numbers = raw.ParameterizedTruncatedNormal(
            shape=[count], means=0.0, stdevs=1.0, minvals=-2.0, maxvals=2.0, seed=5, seed2=7
        )
        first = numbers[:50]
    stream = PhiloxStream(5, 7)
    with v1.Session(graph=graph) as session:
        for _ in range(EXECUTIONS):
            generator = stream.reserve(parameterized_truncated_normal_blocks((count,), [()] * 4))
            expect_same(parameterized_truncated_normal(generator, (50,), parameters), session.run(first))


# Operations without a state.


@pytest.mark.parametrize("seed", STATELESS_SEEDS)
def test_a_stateless_seed_becomes_the_same_key_and_counter(seed: tuple[int, int]) -> None:
    key, counter = key_and_counter(seed)
    theirs = raw.StatelessRandomGetKeyCounterAlg(seed=np.array(seed, np.int64))
    for ours, tensor in zip((key, counter, np.array(PHILOX, np.int32)), theirs, strict=True):
        expect_same(ours, tensor.numpy())
    for ours, tensor in zip((key, counter), raw.StatelessRandomGetKeyCounter(seed=np.array(seed)), strict=True):
        expect_same(ours, tensor.numpy())
    assert raw.StatelessRandomGetAlg().numpy() == PHILOX


def test_a_stateless_seed_of_32_bits_becomes_the_same_key_and_counter() -> None:
    seed = np.array([-1, 2**31 - 1], np.int32)
    for ours, tensor in zip(key_and_counter(seed), raw.StatelessRandomGetKeyCounter(seed=seed), strict=True):
        expect_same(ours, tensor.numpy())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("StatelessRandomUniform", uniform),
        pytest.param("StatelessRandomNormal", standard_normal, marks=with_glibc),
        pytest.param("StatelessTruncatedNormal", truncated_normal, marks=with_glibc),
    ],
)
def test_stateless_uniform_and_normal_numbers_have_the_same_bits(name: str, draw: Draw, dtype: Any) -> None:
    first, second = getattr(raw, name), getattr(raw, f"{name}V2")
    for seed in STATELESS_SEEDS:
        generator = PhiloxGenerator.of_stateless_seed(seed)
        key, counter = key_and_counter(seed)
        for shape in SHAPES[:-1]:
            ours = draw(generator, shape, dtype)
            expect_same(ours, first(shape=vector(shape), seed=np.array(seed, np.int64), dtype=dtype).numpy())
            for algorithm in (1, 3):
                inputs = {"key": key, "counter": counter, "alg": algorithm, "dtype": dtype}
                expect_same(ours, second(shape=vector(shape), **inputs).numpy())


@pytest.mark.parametrize("counter", [(2**64 - 3, 5), (2**64 - 3, 2**64 - 1), (2**32 - 2, 7), (2**64 - 700, 2**32 - 1)])
def test_counters_carry_alike(counter: tuple[int, int]) -> None:
    key, counters = np.array([2**64 - 1], np.uint64), np.array(counter, np.uint64)
    generator = PhiloxGenerator.of_key_and_counter(key, counters)
    inputs = {"shape": [40], "key": key, "counter": counters, "alg": 1, "dtype": tf.float32}
    expect_same(uniform(generator, (40,), np.float32), raw.StatelessRandomUniformV2(**inputs).numpy())
    # Its groups lie 256 blocks apart.
    expect_same(truncated_normal(generator, (40,), np.float32), raw.StatelessTruncatedNormalV2(**inputs).numpy())


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_stateless_integers_are_the_same(dtype: Any) -> None:
    for seed in STATELESS_SEEDS:
        generator = PhiloxGenerator.of_stateless_seed(seed)
        seeds = np.array(seed, np.int64)
        key, counter = key_and_counter(seed)
        for shape in SHAPES[:-1]:
            ours = uniform_full_integers(generator, shape, dtype)
            theirs = raw.StatelessRandomUniformFullInt(shape=vector(shape), seed=seeds, dtype=dtype)
            expect_same(ours, theirs.numpy())
            if np.dtype(dtype).kind == "i":
                bounds = {"minval": dtype(-100), "maxval": dtype(2**31 - 1)}
                ours = uniform_integers(generator, shape, -100, 2**31 - 1, dtype)
                expect_same(ours, raw.StatelessRandomUniformInt(shape=vector(shape), seed=seeds, **bounds).numpy())
                theirs = raw.StatelessRandomUniformIntV2(shape=vector(shape), key=key, counter=counter, alg=1, **bounds)
                expect_same(ours, theirs.numpy())


@pytest.mark.parametrize("dtype", FLOATS)
def test_stateless_classes_are_the_same(dtype: Any) -> None:
    for rows, classes, samples in ((1, 2, 3), (20, 7, 5), (1000, 9, 10)):
        logits = some_logits(rows, classes, dtype)
        theirs = raw.StatelessMultinomial(logits=logits, num_samples=samples, seed=np.array([3, rows], np.int64))
        generator = PhiloxGenerator.of_stateless_seed([3, rows])
        expect_same(multinomial(generator, logits, samples, threads=threads()), theirs.numpy())


@with_glibc
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_stateless_gamma_samples_have_the_same_bits(dtype: Any) -> None:
    alpha = np.array([[0.02], [0.7], [1.0], [30.0], [0.0], [np.inf]]).astype(dtype)
    shape = (500, 6, 1)
    for seed in STATELESS_SEEDS:
        ours = gamma(PhiloxGenerator.of_stateless_seed(seed), sample_shape(shape, alpha.shape), alpha)
        theirs = raw.StatelessRandomGammaV2(shape=vector(shape), seed=np.array(seed, np.int64), alpha=alpha)
        expect_same(ours, theirs.numpy())
        key, counter = key_and_counter(seed)
        theirs = raw.StatelessRandomGammaV3(shape=vector(shape), key=key, counter=counter, alg=1, alpha=alpha)
        expect_same(ours, theirs.numpy())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_stateless_poisson_samples_are_the_same(dtype: Any) -> None:
    rate = np.array([0.1, 9.99, 10.0, 60.0, 65_400.0, np.inf])
    for seed in STATELESS_SEEDS:
        theirs = raw.StatelessRandomPoisson(shape=[300, 6], seed=np.array(seed, np.int64), lam=rate, dtype=dtype)
        expect_same(poisson(PhiloxGenerator.of_stateless_seed(seed), (300,), rate, dtype), theirs.numpy())


@pytest.mark.parametrize("parameter_type", [np.float16, np.float32, np.float64])
def test_binomial_samples_are_the_same(parameter_type: Any) -> None:
    counts = np.array([[0.0], [1], [10], [30], [100], [1000], [-3]]).astype(parameter_type)
    probabilities = np.array([0, 0.1, 0.3, 0.5, 0.6, 0.95, 1.0, 1.5, -1]).astype(parameter_type)
    for dtype in (np.float16, np.float32, np.float64, np.int32, np.int64):
        inputs = {"shape": [200, 7, 9], "seed": np.array([5, 6], np.int64), "dtype": dtype}
        theirs = raw.StatelessRandomBinomial(**inputs, counts=counts, probs=probabilities)
        ours = binomial(PhiloxGenerator.of_stateless_seed([5, 6]), (200,), counts, probabilities, dtype)
        expect_same(ours, theirs.numpy())


def test_a_stateless_shuffle_is_the_same() -> None:
    key, counter = key_and_counter([1, 2])
    generator = PhiloxGenerator.of_stateless_seed([1, 2])
    for shape in ((2,), (1001,), (33, 2)):
        values = np.arange(np.prod(shape)).reshape(shape)
        theirs = raw.StatelessShuffle(value=values, key=key, counter=counter, alg=1)
        expect_same(shuffle(generator, values), theirs.numpy())


# Seeds that Python chooses.


@pytest.mark.parametrize("graph_seed", [None, 0, 1, -1, 2**31 - 1, 2**40, -(2**31)])
def test_an_operation_gets_the_same_seeds(graph_seed: int | None) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(0)
        if graph_seed is not None:
            v1.set_random_seed(graph_seed)
        op_seeds = (None, 5, None, 0, -3, 2**31 - 1, None, 2**35)
        for op_seed in op_seeds:
            v1.random_uniform([1], seed=op_seed)
        operations = [operation for operation in graph.get_operations() if operation.type == "RandomUniform"]
    unseeded = 0
    for op_seed, operation in zip(op_seeds, operations, strict=True):
        theirs = (operation.get_attr("seed"), operation.get_attr("seed2"))
        assert seeds_for(graph_seed, op_seed, unseeded) == theirs
        unseeded += op_seed is None


_DIVIDED = """
import sys
{imported}
tf.set_random_seed(3)
draws = tf.multinomial(tf.zeros([64, 500]), 300, seed=4)
with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=3)) as session:
    sys.stdout.write(session.run(draws).astype("int64").tobytes().hex())
"""


def test_draws_are_divided_among_as_many_threads_as_a_session_is_told() -> None:
    """In processes of their own: TensorFlow's first session says how many threads there are for all."""
    drawn = [
        subprocess.run(
            [sys.executable, "-c", _DIVIDED.format(imported=imported)], capture_output=True, text=True, check=True
        ).stdout
        for imported in (
            "import tensorflow.compat.v1 as tf; tf.disable_eager_execution()",
            "import tensorkeep.v1 as tf",
        )
    ]
    assert drawn[0]
    assert drawn[0] == drawn[1]
