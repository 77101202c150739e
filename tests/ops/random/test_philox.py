"""Random numbers: known answers of TensorFlow 2.21 and of Philox's authors, and what holds for any seed."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep import InvalidArgumentError
from tensorkeep.arrays import Array
from tensorkeep.ops.random import distributions as distributions
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
from tensorkeep.ops.random.philox import (
    AUTO_SELECT,
    BLOCKS_AT_ONCE,
    DEFAULT_GRAPH_SEED,
    PHILOX,
    THREEFRY,
    PhiloxGenerator,
    PhiloxStream,
    by_c_library,
    key_and_counter,
    log_singles,
    seeds_for,
    sines_and_cosines,
    unit_singles,
)

Draw = Callable[[PhiloxGenerator, Sequence[int], Any], Array]

FLOATS: Final = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
MAXIMUM_SEED: Final = 2**31 - 1
GENERATOR: Final = PhiloxGenerator.of_seeds(1, 2)

integers64 = st.integers(-(2**63), 2**63 - 1)
generators = st.builds(PhiloxGenerator, st.integers(0, 2**64 - 1), st.integers(0, 2**128 - 1))


def slow_block(key: int, counter: int) -> list[int]:
    """Philox as its paper states it, one word after the other."""
    mask = 2**32 - 1
    words = [counter >> 32 * place & mask for place in range(4)]
    keys = [key & mask, key >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ keys[0], second & mask, first >> 32 ^ words[3] ^ keys[1], first & mask]
        keys = [(keys[0] + 0x9E3779B9) & mask, (keys[1] + 0xBB67AE85) & mask]
    return words


# The generator.


@pytest.mark.parametrize(
    ("key", "counter", "block"),
    [
        (0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**64 - 1, 2**128 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (0x299F31D0_A4093822, 0x03707344_13198A2E_85A308D3_243F6A88, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_a_block_is_the_one_that_the_authors_of_philox_published(key: int, counter: int, block: str) -> None:
    (words,) = PhiloxGenerator(key, counter).words(1)
    assert " ".join(f"{word:08x}" for word in words) == block


@given(generators, st.integers(0, 5))
def test_the_stream_is_the_blocks_of_consecutive_counters(generator: PhiloxGenerator, count: int) -> None:
    expected = [slow_block(generator.key, (generator.counter + place) % 2**128) for place in range(count)]
    assert generator.words(count).tolist() == expected


@given(generators, st.integers(0, 2**62), st.integers(0, 2**62))
def test_skipping_twice_is_skipping_the_sum(generator: PhiloxGenerator, first: int, second: int) -> None:
    assert generator.skip(first).skip(second) == generator.skip(first + second)


@given(generators, st.integers(0, 2**62))
def test_blocks_can_be_read_from_anywhere(generator: PhiloxGenerator, first: int) -> None:
    expected = generator.skip(first).words(3)
    np.testing.assert_array_equal(generator.words(3, first), expected)
    np.testing.assert_array_equal(generator.words_at(np.array([first + 2, first])), expected[[2, 0]])


def test_many_blocks_are_those_of_several_calls() -> None:
    count = 2 * BLOCKS_AT_ONCE + 3
    words = GENERATOR.words(count)
    np.testing.assert_array_equal(
        words[BLOCKS_AT_ONCE - 1 :], GENERATOR.words(count, BLOCKS_AT_ONCE - 1)[: 4 + BLOCKS_AT_ONCE]
    )
    np.testing.assert_array_equal(GENERATOR.words_at(np.arange(count)), words)


def test_skipping_backwards_loses_the_carry_that_tensorflow_loses() -> None:
    once = PhiloxGenerator(0, 7 << 64).skip(-3)
    assert once.counter == 8 * 2**64 - 3
    assert once.skip(-3).counter == 8 * 2**64 - 6


@given(integers64, integers64)
def test_seeds_of_either_sign_are_taken_as_64_bits(seed: int, seed2: int) -> None:
    generator = PhiloxGenerator.of_seeds(seed, seed2)
    assert generator == PhiloxGenerator(seed % 2**64, seed2 % 2**64 << 64)


# The seeds of stateless operations.


def test_the_key_and_the_counter_of_a_stateless_seed() -> None:
    key, counter = key_and_counter([7, -8])
    assert key.dtype == counter.dtype == np.uint64
    assert key.tolist() == [18350891301105770929]
    assert counter.tolist() == [0, 11186871965487053919]


@given(integers64, integers64)
def test_a_stateless_seed_and_its_key_and_counter_make_one_generator(first: int, second: int) -> None:
    generator = PhiloxGenerator.of_stateless_seed([first, second])
    key, counter = key_and_counter(np.array([first, second]))
    for algorithm in (PHILOX, AUTO_SELECT):
        assert PhiloxGenerator.of_key_and_counter(key, counter, algorithm) == generator


def test_a_negative_seed_is_the_same_in_32_and_64_bits() -> None:
    narrow, wide = (key_and_counter(np.array([-1, -2], dtype)) for dtype in (np.int32, np.int64))
    assert [part.tolist() for part in narrow] == [part.tolist() for part in wide]


def test_an_algorithm_without_a_kernel_is_refused() -> None:
    key, counter = key_and_counter([1, 2])
    for algorithm in (0, THREEFRY, 4):
        with pytest.raises(InvalidArgumentError, match=f"Unsupported algorithm id: {algorithm}"):
            PhiloxGenerator.of_key_and_counter(key, counter, algorithm)


def test_seeds_keys_and_counters_of_a_wrong_shape_are_refused() -> None:
    one, two = np.zeros(1, np.uint64), np.zeros(2, np.uint64)
    with pytest.raises(InvalidArgumentError, match=r"seed must have shape \(2,\), not \(3,\)"):
        key_and_counter([1, 2, 3])
    with pytest.raises(InvalidArgumentError, match="key must have shape"):
        PhiloxGenerator.of_key_and_counter(two, two)
    with pytest.raises(InvalidArgumentError, match="counter must be a vector"):
        PhiloxGenerator.of_key_and_counter(one, one)


# The stream of a stateful operation.


def test_every_execution_continues_after_the_blocks_of_the_last() -> None:
    stream = PhiloxStream(3, -4)
    start = PhiloxGenerator.of_seeds(3, -4)
    assert stream.reserve(5) == start
    assert stream.reserve_outputs(2) == start.skip(5)
    assert stream.reserve(0) == stream.reserve(1) == start.skip(5 + 512)
    assert stream.reserve(1) == start.skip(5 + 513)


def test_threads_never_get_the_same_blocks() -> None:
    stream = PhiloxStream(0, 0)
    with ThreadPoolExecutor(8) as pool:
        reserved = list(pool.map(lambda _: stream.reserve(3).counter, range(2000)))
    assert sorted(reserved) == list(range(0, 6000, 3))


# The attributes that Python chooses.


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "seeds"),
    [
        (None, None, (0, 0)),
        (None, 5, (DEFAULT_GRAPH_SEED, 5)),
        (7, 5, (7, 5)),
        (7, None, (7, 42)),
        (0, 0, (0, MAXIMUM_SEED)),
        (MAXIMUM_SEED, 0, (0, MAXIMUM_SEED)),
        (-1, 2**40, (MAXIMUM_SEED - 1, 2**40 % MAXIMUM_SEED)),
    ],
)
def test_the_seeds_of_an_operation(graph_seed: int | None, op_seed: int | None, seeds: tuple[int, int]) -> None:
    assert seeds_for(graph_seed, op_seed, 42) == seeds


def test_the_first_operation_without_a_seed_in_a_graph_seeded_with_zero_is_not_unseeded() -> None:
    assert seeds_for(0, None, 0) == (0, MAXIMUM_SEED)


# Known answers: two executions by TensorFlow 2.21 of an operation with seed=123 and seed2=-456.


def expect_executions(reserve: Callable[[PhiloxStream], PhiloxGenerator], draw: Any, *expected: Any) -> None:
    stream = PhiloxStream(123, -456)
    for answer in expected:
        drawn = draw(reserve(stream))
        if drawn.dtype == np.float64:  # whose last bit is the C library's affair
            np.testing.assert_array_max_ulp(drawn, np.array(answer), maxulp=2)
        else:
            assert drawn.tolist() == np.array(answer, drawn.dtype).tolist()


@pytest.mark.parametrize(
    ("dtype", "first", "second"),
    [
        (
            np.float16,
            [0.3603515625, 0.0908203125, 0.091796875, 0.677734375, 0.919921875],
            [0.1162109375, 0.7578125, 0.0849609375, 0.892578125, 0.97265625],
        ),
        (
            ml_dtypes.bfloat16,
            [0.8828125, 0.7265625, 0.734375, 0.421875, 0.359375],
            [0.9296875, 0.0625, 0.6796875, 0.140625, 0.78125],
        ),
        (
            np.float32,
            [0.05509769916534424, 0.7679554224014282, 0.7076528072357178, 0.8233249187469482, 0.8718163967132568],
            [0.9417866468429565, 0.8218698501586914, 0.2528179883956909, 0.4700796604156494, 0.05736970901489258],
        ),
        (
            np.float64,
            [0.44078187787524503, 0.6612229641961398, 0.9745321106104494, 0.7195541078005854, 0.42157254605558747],
            [0.5342936940898557, 0.022544384878277146, 0.45895825503322163, 0.7033213050755751, 0.8852743639292415],
        ),
    ],
)
def test_uniform_numbers_are_those_of_tensorflow(dtype: Any, first: list[float], second: list[float]) -> None:
    expect_executions(lambda stream: stream.reserve_outputs(5), lambda g: uniform(g, (5,), dtype), first, second)


@pytest.mark.parametrize(
    ("dtype", "first", "second"),
    [
        (
            np.float16,
            [-2.392578125, 0.27099609375, -0.7451171875, 0.36962890625, -0.01080322265625],
            [-0.3115234375, 0.151123046875, 0.309814453125, -1.62890625, -0.744140625],
        ),
        (
            ml_dtypes.bfloat16,
            [-2.390625, 0.271484375, -0.74609375, 0.369140625, -0.01080322265625],
            [-0.3125, 0.1513671875, 0.310546875, -1.6328125, -0.74609375],
        ),
        (
            np.float32,
            [-2.3924508094787598, 0.2710608243942261, -0.744917631149292, 0.369731068611145, -0.010804307647049427],
            [-0.3116258382797241, 0.15113689005374908, 0.3099311590194702, -1.6291451454162598, -0.7443426251411438],
        ),
        (
            np.float64,
            [-1.0859814004378712, -0.6775357301844883, -0.2230031779417462, -0.04318798522782039, 0.950879897881631],
            [0.15806938365144374, 1.1084373119433821, -1.19474123472201, -0.36081217198171883, 0.2383820742210126],
        ),
    ],
)
def test_normal_numbers_are_those_of_tensorflow(dtype: Any, first: list[float], second: list[float]) -> None:
    def draw(generator: PhiloxGenerator) -> Array:
        return standard_normal(generator, (5,), dtype)

    expect_executions(lambda stream: stream.reserve_outputs(5), draw, first, second)


@pytest.mark.parametrize(
    ("dtype", "first", "second"),
    [
        (
            np.float16,
            [0.27099609375, -0.7451171875, 0.36962890625, -0.01080322265625, 0.13427734375],
            [-0.3115234375, 0.151123046875, 0.309814453125, -1.62890625, 1.9892578125],
        ),
        (
            ml_dtypes.bfloat16,
            [0.271484375, -0.74609375, 0.369140625, -0.01080322265625, 0.134765625],
            [-0.3125, 0.1513671875, 0.310546875, -1.6328125, 1.9921875],
        ),
        (
            np.float32,
            [0.2710608243942261, -0.744917631149292, 0.369731068611145, -0.010804307647049427, 0.13430805504322052],
            [-0.3116258382797241, 0.15113689005374908, 0.3099311590194702, -1.6291451454162598, 1.9891893863677979],
        ),
        (
            np.float64,
            [-1.0859814004378712, -0.6775357301844883, 0.04239352822205676, -1.160784711457582, -0.7741804336733986],
            [0.15806938365144374, 1.1084373119433821, -0.3730291900165737, -0.9693989173164957, 0.04778326586838469],
        ),
    ],
)
def test_truncated_normal_numbers_are_those_of_tensorflow(dtype: Any, first: list[float], second: list[float]) -> None:
    def draw(generator: PhiloxGenerator) -> Array:
        return truncated_normal(generator, (5,), dtype)

    expect_executions(lambda stream: stream.reserve_outputs(5), draw, first, second)


def test_integers_are_those_of_tensorflow() -> None:
    expect_executions(
        lambda stream: stream.reserve_outputs(5),
        lambda generator: uniform_integers(generator, (5,), -10, 1000, np.int32),
        [413, 263, 916, 888, 604],
        [245, 668, 87, 702, 82],
    )
    expect_executions(
        lambda stream: stream.reserve_outputs(3),
        lambda generator: uniform_integers(generator, (3,), -(2**63), 2**63 - 1, np.int64),
        [-3719326376373318287, 570095361903465566, 8898994579864262574],
        [-6424590253390025081, -8646052001225138258, -4138781777023503025],
    )
    drawn = uniform_full_integers(PhiloxGenerator.of_stateless_seed([7, -8]), (3,), np.uint64)
    assert drawn.tolist() == [17424766168095743017, 3962209283611954184, 17932117041482919745]


def test_a_shuffled_order_is_that_of_tensorflow() -> None:
    expect_executions(
        lambda stream: stream.reserve(shuffle_blocks((10,))),
        lambda generator: shuffle(generator, np.arange(10)),
        [3, 8, 1, 9, 6, 2, 0, 4, 5, 7],
        [9, 4, 2, 5, 1, 3, 7, 8, 6, 0],
    )


def test_samples_of_classes_are_those_of_tensorflow() -> None:
    logits = np.log([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])
    expect_executions(
        lambda stream: stream.reserve(multinomial_blocks(2, 8)),
        lambda generator: multinomial(generator, logits, 8),
        [[2, 3, 3, 3, 2, 1, 2, 1], [0, 0, 0, 1, 0, 0, 0, 3]],
        [[2, 3, 1, 3, 3, 3, 3, 3], [0, 0, 0, 0, 0, 0, 0, 0]],
    )


def test_gamma_samples_are_those_of_tensorflow() -> None:
    expect_executions(
        lambda stream: stream.reserve_outputs(6),
        lambda generator: gamma(generator, (2,), np.array([0.5, 1, 2.5], np.float32)),
        [
            [0.5481720566749573, 0.1628166288137436, 1.7622944116592407],
            [0.03597337380051613, 1.2963963747024536, 4.242053508758545],
        ],
        [
            [1.0141643285751343, 2.0502207279205322, 3.498267889022827],
            [0.014178617857396603, 0.298949271440506, 3.2413573265075684],
        ],
    )


def test_poisson_samples_are_those_of_tensorflow() -> None:
    expect_executions(
        lambda stream: stream.reserve_outputs(9),
        lambda generator: poisson(generator, (3,), np.array([0.5, 5.0, 50.0], np.float32), np.int32),
        [[1, 2, 40], [0, 3, 53], [0, 3, 59]],
        [[0, 4, 50], [1, 1, 43], [1, 4, 48]],
    )


def test_binomial_samples_are_those_of_tensorflow() -> None:
    counts, probabilities = np.array([10.0, 100.0, 1000.0, 20.0]), np.array([0.1, 0.5, 0.9, 1.0])
    drawn = binomial(PhiloxGenerator.of_stateless_seed([7, -8]), (2,), counts, probabilities, np.int32)
    assert drawn.tolist() == [[0, 51, 926, 20], [1, 50, 888, 20]]


def test_truncated_normal_numbers_with_parameters_are_those_of_tensorflow() -> None:
    values = ([0.0, 1.0, 0.0], [1.0, 2.0, 1.0], [-1.0, -np.inf, 3.0], [1.0, 0.0, 3.1])
    parameters = [np.array(value, np.float32) for value in values]
    expect_executions(
        lambda stream: stream.reserve(parameterized_truncated_normal_blocks((3, 2), [(3,)] * 4)),
        lambda generator: parameterized_truncated_normal(generator, (3, 2), parameters),
        [
            [0.41530561447143555, 0.6466498374938965],
            [-2.6978611946105957, -1.9242849349975586],
            [3.0662546157836914, 3.0057053565979004],
        ],
        [
            [-0.9628126621246338, -0.947101354598999],
            [-0.9198266267776489, -0.39180827140808105],
            [3.0685274600982666, 3.0347516536712646],
        ],
    )


# Elementary functions.


def test_logarithm_sine_and_cosine_of_every_possible_number_are_those_of_glibc() -> None:
    logarithms = sines = cosines = 0
    for start in range(0, 2**23, 2**18):
        units = unit_singles(np.arange(start, start + 2**18, dtype=np.uint32))
        sine, cosine = sines_and_cosines((units.astype(np.float64) * (2 * math.pi)).astype(np.float32))
        logarithms = zlib.crc32(log_singles(np.maximum(units, np.float32(1e-7))).astype("<f4"), logarithms)
        sines, cosines = zlib.crc32(sine.astype("<f4"), sines), zlib.crc32(cosine.astype("<f4"), cosines)
    assert (logarithms, sines, cosines) == (0x72ABAE31, 0x7EE05F56, 0xB1720D2C)


@pytest.mark.parametrize("function", [math.log, math.sin, math.cos, math.log1p])
def test_functions_of_double_precision_are_those_of_the_c_library(function: Callable[[float], float]) -> None:
    values = uniform(GENERATOR, (5000,), np.float64) + 0.001
    assert by_c_library(function, values).tolist() == [function(value) for value in values.tolist()]


# What holds for any seed.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("draw", [uniform, standard_normal, truncated_normal])
def test_fewer_numbers_are_the_first_of_more(draw: Draw, dtype: Any) -> None:
    many = draw(GENERATOR, (4 * BLOCKS_AT_ONCE + 5,), dtype)
    assert many.dtype == dtype
    for shape in [(), (0,), (1,), (3, 5), (2, 0, 4), (4 * BLOCKS_AT_ONCE + 1,)]:
        few = draw(GENERATOR, shape, dtype)
        assert few.shape == shape
        assert few.dtype == dtype
        assert few.reshape(-1).tolist() == many[: few.size].tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers_are_below_one(dtype: Any) -> None:
    numbers = uniform(GENERATOR, (10_000,), dtype).astype(np.float64)
    assert numbers.min() >= 0
    assert 0.98 < numbers.max() < 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_truncated_normal_numbers_lie_within_two_deviations(dtype: Any) -> None:
    numbers = truncated_normal(GENERATOR, (10_000,), dtype).astype(np.float64)
    assert np.abs(numbers).max() <= 2
    assert abs(numbers.std() - 0.88) < 0.02


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(data=st.data())
def test_integers_lie_within_their_bounds(dtype: Any, data: st.DataObject) -> None:
    limits = np.iinfo(dtype)
    low = data.draw(st.integers(int(limits.min), int(limits.max) - 1))
    high = data.draw(st.integers(low + 1, int(limits.max)))
    numbers = uniform_integers(GENERATOR, (50,), low, high, dtype)
    assert numbers.dtype == dtype
    assert all(low <= number < high for number in numbers.tolist())


def test_bounds_without_an_integer_between_them_are_refused_unless_nothing_is_drawn() -> None:
    with pytest.raises(InvalidArgumentError, match="Need minval < maxval, got 5 >= 5"):
        uniform_integers(GENERATOR, (1,), 5, 5, np.int32)
    assert uniform_integers(GENERATOR, (0,), 5, 5, np.int32).shape == (0,)


def test_a_type_without_numbers_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(InvalidArgumentError, match="bfloat16, float16, float32, float64"):
        uniform(GENERATOR, (1,), np.int32)
    with pytest.raises(InvalidArgumentError, match="int32, int64"):
        uniform_integers(GENERATOR, (1,), 0, 1, np.uint8)


@given(st.integers(0, 40), st.integers(1, 3))
def test_a_shuffle_keeps_all_rows(count: int, width: int) -> None:
    rows = np.arange(count * width).reshape(count, width)
    assert sorted(shuffle(GENERATOR, rows).tolist()) == rows.tolist()


def test_what_cannot_be_shuffled_is_copied_and_reserves_nothing() -> None:
    for values in (np.array(3), np.zeros((0, 2)), np.zeros((5, 0)), np.arange(4).reshape(1, 4)):
        assert shuffle_blocks(values.shape) == 0
        shuffled = shuffle(GENERATOR, values)
        assert shuffled is not values
        np.testing.assert_array_equal(shuffled, values)


def test_a_shuffle_reserves_a_word_for_every_row_but_one() -> None:
    assert [shuffle_blocks((count, 7)) for count in (2, 5, 6, 9, 10)] == [1, 1, 2, 2, 3]


def test_objects_can_be_shuffled() -> None:
    words = np.array([b"a", b"b", b"c", b"d"], object)
    assert sorted(shuffle(GENERATOR, words).tolist()) == words.tolist()


def test_impossible_classes_are_never_drawn() -> None:
    logits = np.array([[0.0, -np.inf, 1.0, np.nan, np.inf, 2.0]], np.float32)
    assert set(multinomial(GENERATOR, logits, 300)[0].tolist()) == {0, 2, 5}


def test_where_no_class_is_possible_the_answer_is_their_number() -> None:
    assert multinomial(GENERATOR, np.full((1, 3), -np.inf), 4, np.int32).tolist() == [[3, 3, 3, 3]]


def test_logits_of_any_size_do_not_overflow() -> None:
    assert set(multinomial(GENERATOR, np.array([[-1e300, 1e300, 0.0]]), 20)[0].tolist()) == {1}


def test_samples_of_no_rows_and_no_samples_reserve_nothing() -> None:
    assert multinomial_blocks(0, 5) == multinomial_blocks(5, 0) == 0
    assert multinomial(GENERATOR, np.zeros((0, 3)), 5).shape == (0, 5)
    assert multinomial(GENERATOR, np.zeros((5, 3)), 0).shape == (5, 0)


def test_logits_that_are_no_matrix_of_classes_are_refused() -> None:
    for logits, samples in ((np.zeros(3), 1), (np.zeros((2, 0)), 1), (np.zeros((2, 3)), -1)):
        with pytest.raises(InvalidArgumentError):
            multinomial(GENERATOR, logits, samples)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_gamma_samples_have_the_mean_of_their_alpha(dtype: Any) -> None:
    alpha = np.array([0.3, 1.0, 4.0], dtype)
    samples = gamma(GENERATOR, (20_000,), alpha)
    assert samples.dtype == dtype
    np.testing.assert_allclose(samples.astype(np.float64).mean(axis=0), alpha, rtol=0.05)


def test_a_gamma_sample_does_not_depend_on_the_others() -> None:
    alpha = np.array([0.3, 1.0, 4.0])
    three = gamma(GENERATOR, (5,), alpha)
    np.testing.assert_array_equal(gamma(GENERATOR, (5,), alpha[:1]), three[:, :1])
    np.testing.assert_array_equal(gamma(GENERATOR.skip(256 * 5), (5,), alpha[1:2]), three[:, 1:2])


def test_gamma_samples_too_small_for_their_type_are_zero() -> None:
    samples = gamma(GENERATOR, (2000,), np.array(0.01, np.float32))
    positive = samples[samples > 0]
    assert len(positive) < len(samples)
    assert positive.min() >= np.finfo(np.float32).tiny


def test_gamma_samples_of_an_impossible_alpha_are_not_numbers() -> None:
    assert np.isnan(gamma(GENERATOR, (3,), np.array([-1.0, np.nan]))).all()
    assert gamma(GENERATOR, (3,), np.array([0.0])).tolist() == [[0.0]] * 3


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
def test_poisson_samples_have_the_mean_of_their_rate(dtype: Any) -> None:
    rate = np.array([[0.0, 3.0], [10.0, 80.0]])
    samples = poisson(GENERATOR, (5000,), rate, dtype)
    assert samples.shape == (5000, 2, 2)
    assert samples.dtype == dtype
    np.testing.assert_allclose(samples.astype(np.float64).mean(axis=0), rate, rtol=0.03)


def test_an_infinite_rate_has_infinite_samples_or_as_integers_zeros() -> None:
    assert poisson(GENERATOR, (2,), np.array(np.inf), np.float32).tolist() == [np.inf, np.inf]
    assert poisson(GENERATOR, (2,), np.array(np.inf), np.int32).tolist() == [0, 0]


@pytest.mark.parametrize(("rate", "dtype"), [(np.nan, np.float32), (1e30, np.int32), (1e6, np.float16)])
def test_a_rate_for_which_tensorflow_would_search_forever_is_refused(rate: float, dtype: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="has no samples of type"):
        poisson(GENERATOR, (1,), np.array(rate), dtype)


def test_binomial_samples_have_the_mean_of_their_parameters() -> None:
    counts, probabilities = np.array([[5.0], [40.0], [1000.0]]), np.array([0.1, 0.5, 0.7])
    samples = binomial(GENERATOR, (5000,), counts, probabilities, np.float32)
    assert samples.shape == (5000, 3, 3)
    np.testing.assert_allclose(samples.mean(axis=0), counts * probabilities, rtol=0.05)
    assert (samples <= counts).all()


def test_binomial_samples_of_certain_events_are_certain() -> None:
    def draw(count: float, probability: float) -> list[float]:
        values: list[float] = binomial(GENERATOR, (2,), np.array(count), np.array(probability), np.float64).tolist()
        return values

    assert draw(7.0, 0.0) == draw(7.0, -1.0) == draw(0.0, 0.5) == draw(-3.0, np.nan) == [0.0, 0.0]
    assert draw(7.0, 1.0) == draw(7.0, 2.0) == [7.0, 7.0]
    assert np.isnan(draw(7.0, np.nan)).all()
    with pytest.raises(InvalidArgumentError, match="search forever"):
        draw(np.nan, 0.5)


def test_the_shape_of_samples_comes_before_that_of_the_parameters() -> None:
    assert sample_shape((5, 2, 3), (2, 3)) == (5,)
    assert sample_shape((2, 3), (2, 3)) == ()
    for shape in ((2, 3), (3,), ()):
        with pytest.raises(InvalidArgumentError, match="must end with"):
            sample_shape(shape, (5, 2, 3))


def number(value: float) -> Array:
    return np.array(value, np.float32)


@pytest.mark.parametrize(
    ("minimum", "maximum"), [(-1.5, 1.5), (0.1, 0.2), (-0.2, -0.1), (4.0, np.inf), (-np.inf, -4.0), (5.0, 5.5)]
)
def test_truncated_normal_numbers_with_parameters_lie_within_their_bounds(minimum: float, maximum: float) -> None:
    numbers = parameterized_truncated_normal(
        GENERATOR, (20, 25), [number(0), number(1), number(minimum), number(maximum)]
    )
    assert numbers.shape == (20, 25)
    assert (numbers >= np.float32(minimum)).all()
    assert (numbers <= np.float32(maximum)).all()
    assert len(np.unique(numbers)) > 400


def test_parameters_of_a_truncated_normal_distribution_that_leave_no_number_are_refused() -> None:
    for mean, deviation, minimum, maximum in ((0, 0, -1, 1), (0, 1, 1, 1), (0, 1, -np.inf, np.inf), (0, 1, np.nan, 1)):
        with pytest.raises(InvalidArgumentError, match="Invalid parameters"):
            parameterized_truncated_normal(
                GENERATOR, (2,), [number(mean), number(deviation), number(minimum), number(maximum)]
            )


def test_parameters_of_a_truncated_normal_distribution_that_do_not_fit_the_shape_are_refused() -> None:
    for shape, means in (((), ()), ((3,), (2,)), ((3,), (3, 1))):
        with pytest.raises(InvalidArgumentError):
            parameterized_truncated_normal_blocks(shape, [means, (), (), ()])


def test_reserving_for_more_than_a_million_truncated_normal_numbers_overflows_as_in_tensorflow() -> None:
    scalars: list[Sequence[int]] = [(), (), (), ()]
    assert parameterized_truncated_normal_blocks((1_040_000,), scalars) == 10_400 * 2000 * 103 // 4
    assert parameterized_truncated_normal_blocks((1_100_000,), scalars) == -((2**32 - 11_000 * 2000 * 103) // 4)


# How TensorFlow divides its work.


@given(st.integers(1, 5000), st.integers(1, 10**6), st.integers(1, 64))
def test_shards_cover_the_work_once(total: int, cost: int, threads: int) -> None:
    shards = list(distributions._shards(total, cost, threads))
    assert [start for start, _ in shards] == [0, *(stop for _, stop in shards[:-1])]
    assert shards[-1][1] == total
    assert len(shards) <= max(1, 4 * threads)


def test_little_work_and_one_thread_are_one_shard() -> None:
    assert list(distributions._shards(100, 1000, 8)) == [(0, 100)]
    assert list(distributions._shards(100, 10**6, 1)) == [(0, 100)]
    assert len(list(distributions._shards(100, 10**6, 8))) > 8


def test_with_one_row_threads_do_not_matter() -> None:
    logits = np.zeros((1, 1000))
    np.testing.assert_array_equal(
        multinomial(GENERATOR, logits, 500, threads=1), multinomial(GENERATOR, logits, 500, threads=8)
    )
