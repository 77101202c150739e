"""Random functions beside TensorFlow's: the same nodes, and the same numbers run after run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.gradients import reverse_walk
from tensorkeep.tf1.functions.nn import candidate_sampling
from tensorkeep.tf1.functions.random import numbers as random
from tests.interop.programs import build, our_names, tensorflow_1, v1

OURS = our_names(random, candidate_sampling, gradients=reverse_walk.gradients)
NAMES = {
    "stateless_random_uniform": v1.random.stateless_uniform,
    "stateless_random_normal": v1.random.stateless_normal,
    "stateless_truncated_normal": v1.random.stateless_truncated_normal,
    "stateless_random_gamma": v1.random.stateless_gamma,
    "stateless_random_poisson": v1.random.stateless_poisson,
    "stateless_random_binomial": v1.random.stateless_binomial,
    "stateless_multinomial": v1.random.stateless_multinomial,
    "stateless_categorical": v1.random.stateless_categorical,
    "stateless_shuffle": v1.random.experimental.stateless_shuffle,
    "stateless_split": v1.random.experimental.stateless_split,
    "stateless_fold_in": v1.random.experimental.stateless_fold_in,
    "categorical": v1.random.categorical,
    "uniform_candidate_sampler": v1.random.uniform_candidate_sampler,
    "log_uniform_candidate_sampler": v1.random.log_uniform_candidate_sampler,
    "fixed_unigram_candidate_sampler": v1.random.fixed_unigram_candidate_sampler,
    "all_candidate_sampler": v1.random.all_candidate_sampler,
    "compute_accidental_hits": v1.nn.compute_accidental_hits,
}


class Theirs:
    """compat.v1, with the functions of its submodule `random` under our names."""

    def __getattr__(self, name: str) -> Any:
        return NAMES.get(name) or getattr(v1, name)


THEIRS = Theirs()
Program = Callable[[Any], Any]

TRUE_CLASSES = np.array([[1, 3], [0, 7]])

STATEFUL: dict[str, Program] = {
    "uniform": lambda tf: tf.random_uniform([2, 3]),
    "uniform with bounds": lambda tf: [tf.random_uniform([5], -1.5, 2.5), tf.random_uniform((4,), maxval=3.0)],
    "uniform with a seed": lambda tf: [tf.random_uniform([3], seed=4), tf.random_uniform([3], seed=4)],
    "uniform types": lambda tf: [
        tf.random_uniform([7], dtype=dtype) for dtype in (tf.float16, tf.bfloat16, tf.float32, tf.float64)
    ],
    "uniform integers": lambda tf: [
        tf.random_uniform([5], maxval=10, dtype=tf.int32),
        tf.random_uniform([5], -(2**40), 2**41, dtype=tf.int64, name="many"),
    ],
    "a scalar": lambda tf: tf.random_uniform([]),
    "nothing": lambda tf: [tf.random_uniform([0, 2]), tf.random_uniform([0], maxval=3, dtype=tf.int32)],
    "a shape of int64": lambda tf: tf.random_normal(tf.constant([2, 2], tf.int64)),
    "normal": lambda tf: [tf.random_normal([3, 3]), tf.random_normal([4], 5.0, 0.5, seed=1, name="n")],
    "normal types": lambda tf: [tf.random_normal([9], dtype=dtype) for dtype in (tf.float16, tf.bfloat16, tf.float32)],
    "truncated": lambda tf: [tf.truncated_normal([50]), tf.truncated_normal([4], 1.0, stddev=0.1, dtype=tf.float16)],
    "shuffle": lambda tf: [tf.random_shuffle(tf.constant(list(range(20)))), tf.random_shuffle([["a"], ["b"], ["c"]])],
    "multinomial": lambda tf: tf.multinomial([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]], 8, output_dtype=tf.int32),
    "categorical": lambda tf: tf.categorical(tf.constant([[0.5, 0.5]], tf.float64), 4, seed=3, name="c"),
    "gamma": lambda tf: [tf.random_gamma([4], [0.5, 2.0]), tf.random_gamma([], 3.0, beta=[1.0, 2.0])],
    "poisson": lambda tf: [
        tf.random_poisson([0.5, 20.0], [6]),
        tf.random_poisson(tf.constant(4.0, tf.float64), [3], tf.int32),
    ],
    "crop": lambda tf: tf.random_crop(tf.constant(np.arange(60).reshape(5, 4, 3)), [2, 3, 3]),
    "uniform candidates": lambda tf: [
        tf.uniform_candidate_sampler(TRUE_CLASSES, 2, 7, unique, range_max)
        for unique in (True, False)
        for range_max in (8, 100, 2**40)
    ],
    "log uniform candidates": lambda tf: [
        tf.log_uniform_candidate_sampler(TRUE_CLASSES, 2, 7, True, 9),
        tf.log_uniform_candidate_sampler(TRUE_CLASSES, 2, 50, False, 1000),
        tf.log_uniform_candidate_sampler(TRUE_CLASSES, 2, 600, True, 100_000, name="many"),
    ],
    "unigram candidates": lambda tf: [
        tf.fixed_unigram_candidate_sampler(TRUE_CLASSES, 2, 6, True, 9, unigrams=[1, 5, 2, 0, 9, 3, 3, 1, 8]),
        tf.fixed_unigram_candidate_sampler(
            TRUE_CLASSES, 2, 300, False, 8, distortion=0.75, num_reserved_ids=2, unigrams=[4, 1, 7, 2, 2, 30], name="u"
        ),
        tf.fixed_unigram_candidate_sampler(
            TRUE_CLASSES, 2, 500, False, 1000, unigrams=[1000 / (i + 1) for i in range(3000)], num_shards=3, shard=1
        ),
    ],
    "all candidates": lambda tf: tf.all_candidate_sampler(TRUE_CLASSES, 2, 8, True),
    "accidental hits": lambda tf: tf.compute_accidental_hits(TRUE_CLASSES, np.array([3, 1, 9, 3]), 2),
    "several of one kind": lambda tf: [tf.random_uniform([3]) for _ in range(4)],
}


@pytest.mark.parametrize("seed", [None, 0, 7])
@pytest.mark.parametrize("name", sorted(STATEFUL))
def test_seeded_graphs_give_tensorflows_numbers_run_after_run(name: str, seed: int | None) -> None:
    built = build(STATEFUL[name], OURS, THEIRS, seed)
    if seed is not None:
        # How often a candidate was to be expected is the C library's affair, in its last bit.
        built.expect_same_values(times=3, tolerance=3e-7 if "candidates" in name else 0)


def test_an_operation_continues_however_a_run_reaches_it() -> None:
    def program(tf: Any) -> Any:
        first, second = tf.random_uniform([2], seed=1), tf.random_normal([2], seed=2)
        return [first, second]

    built = build(program, OURS, THEIRS)
    with tensorflow_1(), v1.Session(graph=built.their_graph) as theirs:
        ours = Session(built.graph)
        for picked in ([0], [1], [0, 1], [1], [0]):
            mine = ours.run([built.result[i] for i in picked])
            other = theirs.run([built.their_result[i] for i in picked])
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_parameterized_truncated_normal_and_old_poisson_give_tensorflows_numbers(dtype: Any) -> None:
    from tensorflow.python.ops import random_ops

    def program(tf: Any) -> Any:
        module = random if tf is OURS else random_ops
        bounded = module.parameterized_truncated_normal([250], 1.0, 2.0, 0.0, 3.0, dtype=dtype, seed=5)
        rows = module.parameterized_truncated_normal([2, 30], [1.0, 2.0], 2.0, [0.0, -1.0], 3.0, dtype=dtype, seed=5)
        return [bounded, rows]

    build(program, OURS, THEIRS).expect_same_values(times=2)


STATELESS: dict[str, Program] = {
    "uniform": lambda tf: [
        tf.stateless_random_uniform([3, 2], [1, 2]),
        tf.stateless_random_uniform([3], [1, 2], -1.0, 4.0, tf.float64),
        tf.stateless_random_uniform([3], [1, 2], 0, 40, tf.int32, name="i"),
        tf.stateless_random_uniform([3], [1, 2], None, None, tf.uint64),
    ],
    "normal": lambda tf: [
        tf.stateless_random_normal([5], [3, 4]),
        tf.stateless_truncated_normal([5], tf.constant([3, 4], tf.int64), 1.0, 0.5),
    ],
    "others": lambda tf: [
        tf.stateless_random_gamma([4, 2], [5, 6], [0.5, 3.0]),
        tf.stateless_random_gamma([4, 2], [5, 6], [0.5, 3.0], 2.0, name="g"),
        tf.stateless_random_poisson([4, 2], [5, 6], [0.5, 30.0]),
        tf.stateless_random_binomial([4, 2], [5, 6], [10.0, 30.0], 0.25),
        tf.stateless_multinomial([[0.1, 0.4]], 5, [7, 8]),
        tf.stateless_categorical([[0.1, 0.4]], 5, [7, 8], tf.int32),
        tf.stateless_shuffle([1, 2, 3, 4, 5], [9, 10]),
    ],
    "seeds": lambda tf: [tf.stateless_split([1, 2], 3), tf.stateless_fold_in([1, 2], 5)],
}


@pytest.mark.parametrize("name", sorted(STATELESS))
def test_stateless_functions_are_tensorflows(name: str) -> None:
    build(STATELESS[name], OURS, THEIRS).expect_same_values(times=2)


def test_gradients_flow_through_gamma_samples() -> None:
    def program(tf: Any) -> Any:
        alpha = tf.constant([[0.4], [1.5]])
        beta = tf.constant([2.0, 3.0])
        samples = tf.random_gamma([5], alpha, beta, seed=3)
        return tf.gradients(samples, [alpha, beta])

    for ours, theirs in build(program, OURS, THEIRS).run(2):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4)


def test_unseeded_operations_differ_between_sessions() -> None:
    graph = Graph()
    with building(graph):
        numbers = random.random_uniform([4])
    first, second = Session(graph).run(numbers), Session(graph).run(numbers)
    assert first.tolist() != second.tolist()


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float64])
def test_normal_numbers_of_every_type_have_the_same_bits(dtype: Any) -> None:
    def program(tf: Any) -> Any:
        return [tf.random_normal([11], dtype=dtype, seed=1), tf.truncated_normal([11], dtype=dtype, seed=1)]

    build(program, OURS, THEIRS).expect_same_values(times=2)


def test_wrong_arguments_are_refused_as_tensorflow_refuses_them() -> None:
    for bad in (
        lambda tf: tf.random_uniform([2], dtype=tf.int32),
        lambda tf: tf.random_uniform([2], dtype=tf.uint8, maxval=3),
        lambda tf: tf.multinomial([[0.1]], 1, output_dtype=tf.int8),
        lambda tf: tf.stateless_random_uniform([2], [1, 2], minval=1, dtype=tf.int32),
        lambda tf: tf.stateless_random_uniform([2], [1, 2], 0, 3, dtype=tf.uint32),
        lambda tf: tf.random_normal([-2]),
    ):
        with building(Graph()), pytest.raises(InvalidArgumentError):
            bad(OURS)
        with tensorflow_1(), tf.Graph().as_default(), pytest.raises(ValueError, match=r"."):
            bad(THEIRS)
