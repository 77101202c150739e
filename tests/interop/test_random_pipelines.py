"""Pipelines with random parts, beside TensorFlow: what begins anew, what goes on, and what is shared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow

from tests.interop.test_data_programs import OURS, THEIRS
from tests.support.depth import thinned

Program = Callable[[Any], Any]
_SEEDS = [3, None]
pytestmark = pytest.mark.filterwarnings("ignore:Seed 7 from outer graph")


def _number(tf: Any, seed: int | None = None) -> Any:
    return tf.random_uniform([], 0, 100, tf.int32, seed=seed)


def _mapped(tf: Any, seed: int | None = None, size: int = 4) -> Any:
    return tf.data.Dataset.range(size).map(lambda _: _number(tf, seed))


def _shuffled(tf: Any, seed: int | None = None, again: bool | None = True) -> Any:
    return tf.data.Dataset.range(6).shuffle(4, seed, reshuffle_each_iteration=again)


def _beside(tf: Any, dataset: Any) -> Any:
    return tf.data.Dataset.zip((dataset, dataset))


def _in_a_row(tf: Any, dataset: Any) -> Any:
    return dataset.concatenate(dataset)


def _capturing(tf: Any, dataset: Any) -> Any:
    return tf.data.Dataset.range(2).flat_map(lambda _: dataset)


def _inner(tf: Any, make: Callable[[], Any]) -> Any:
    return tf.data.Dataset.range(2).flat_map(lambda _: make())


def _without_rewriting(tf: Any, dataset: Any) -> Any:
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def _choices(tf: Any, _: int) -> Any:
    first = _number(tf, 5)
    return tf.cond(first < 50, lambda: _number(tf, 6), lambda: -_number(tf, 7))


def _grouped(tf: Any) -> Any:
    def shuffle(_: Any, window: Any) -> Any:
        return window.shuffle(4, seed=2).batch(2)

    grouping = tf.data.experimental.group_by_window(lambda n: tf.cast(n % 2, tf.int64), shuffle, 3)
    return _mapped(tf, 5, 6).apply(grouping)


_SEEDED: dict[str, Callable[[Any, int | None], Any]] = {
    "map": _mapped,
    "map again and again": lambda tf, seed: _mapped(tf, seed).repeat(2),
    "map twice": lambda tf, seed: _mapped(tf, seed).map(lambda n: (n, _number(tf, seed))),
    "map beside itself": lambda tf, seed: _beside(tf, _mapped(tf, seed)),
    "map after itself": lambda tf, seed: _in_a_row(tf, _mapped(tf, seed)),
    "cached map": lambda tf, seed: _mapped(tf, seed).cache().repeat(2),
    "filter": lambda tf, seed: tf.data.Dataset.range(12).filter(lambda _: _number(tf, seed) < 50),
    "scan": lambda tf, seed: tf.data.Dataset.range(4).scan(
        np.int32(0), lambda state, _: (state + _number(tf, seed), state)
    ),
    "inner map": lambda tf, seed: _inner(tf, lambda: _mapped(tf, seed)),
    "inner maps in turn": lambda tf, seed: tf.data.Dataset.range(3).interleave(
        lambda _: _mapped(tf, seed), cycle_length=2
    ),
    "shuffle beside itself": lambda tf, seed: _beside(tf, _shuffled(tf, seed)).repeat(2),
    "shuffle after itself": lambda tf, seed: _in_a_row(tf, _shuffled(tf, seed)).repeat(2),
    "one order beside itself": lambda tf, seed: _beside(tf, _shuffled(tf, seed, again=False)).repeat(2),
    "shuffle and repeat beside itself": lambda tf, seed: _beside(
        tf, tf.data.Dataset.range(6).apply(tf.data.experimental.shuffle_and_repeat(4, 2, seed))
    ),
    "inner shuffle": lambda tf, seed: _inner(tf, lambda: _shuffled(tf, seed).repeat(2)),
    "random numbers": lambda tf, seed: tf.data.Dataset.random(seed).take(3).repeat(2),
    "other random numbers": lambda tf, seed: tf.data.Dataset.random(seed, True).take(3).repeat(2),
    "sample": lambda tf, seed: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(6), tf.data.Dataset.range(100, 106)], seed=seed
    ).repeat(2),
    "other samples": lambda tf, seed: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(6), tf.data.Dataset.range(100, 106)],
        seed=seed,
        rerandomize_each_iteration=True,
    ).repeat(2),
}


def _with_seed(make: Callable[[Any, int | None], Any], seed: int | None) -> Program:
    return lambda tf: make(tf, seed)


PROGRAMS: dict[str, Program] = {
    **{f"{name}, seed {seed}": _with_seed(make, seed) for seed in _SEEDS for name, make in _SEEDED.items()},
    "capturing a shuffle": lambda tf: _beside(tf, _capturing(tf, _shuffled(tf, 5))),
    "capturing a map": lambda tf: _beside(tf, _capturing(tf, _mapped(tf, 5))),
    "captured and used": lambda tf: tf.data.Dataset.zip((_capturing(tf, dataset := _mapped(tf, 5)), dataset, dataset)),
    "beside itself inside": lambda tf: _inner(tf, lambda: _beside(tf, _shuffled(tf, 5))),
    "maps beside each other inside": lambda tf: _inner(tf, lambda: _beside(tf, _mapped(tf, 5))),
    "windows": lambda tf: _beside(tf, _shuffled(tf, 5).window(2).flat_map(lambda window: window.batch(2))),
    "groups": lambda tf: _beside(tf, _grouped(tf)),
    "cached beside itself": lambda tf: _beside(tf, _mapped(tf, 5).cache()),
    "prefetched": lambda tf: _in_a_row(tf, _shuffled(tf, 5).prefetch(1)).repeat(2),
    "choices inside": lambda tf: _beside(tf, tf.data.Dataset.range(5).map(lambda n: _choices(tf, n))),
    "a permutation inside": lambda tf: _beside(
        tf, tf.data.Dataset.range(3).map(lambda _: tf.random_shuffle(tf.range(5), seed=3))
    ),
    "candidates inside": lambda tf: _beside(
        tf,
        tf.data.Dataset.range(3).map(
            lambda _: tf.nn.uniform_candidate_sampler(tf.zeros([1, 1], tf.int64), 1, 3, False, 9, seed=3)[0]
        ),
    ),
    "an element inside": lambda tf: tf.data.Dataset.range(3).map(
        lambda _: tf.data.experimental.get_single_element(_mapped(tf, 5).batch(4))
    ),
    "a sum inside": lambda tf: tf.data.Dataset.range(3).map(
        lambda _: _mapped(tf, 5).reduce(np.int32(0), lambda state, n: state * 7 + n)
    ),
    "a map that is not rewritten": lambda tf: _without_rewriting(tf, _beside(tf, _mapped(tf, 5))),
    "a shuffle that is not rewritten": lambda tf: _without_rewriting(tf, _beside(tf, _shuffled(tf, 5))),
    "stateless numbers": lambda tf: (
        tf.data.Dataset.range(4)
        .map(lambda n: tf.random.stateless_uniform([], [n, 3], 0, 100, tf.int32), num_parallel_calls=2)
        .repeat(2)
    ),
}


def _passes(tf: Any, program: Program) -> list[Any]:
    """What two iterators over one dataset give, each of which is initialized twice, the first time for a moment."""
    found = []
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        dataset = program(tf)
        iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
        elements = [iterator.get_next() for iterator in iterators]
        with tf.Session() as session:
            for most in (2, 100):
                for iterator, element in zip(iterators, elements, strict=True):
                    session.run(iterator.initializer)
                    found.append(_taken(tf, session, element, most))
    return found


def _taken(tf: Any, session: Any, element: Any, most: int = 100) -> list[Any]:
    found: list[Any] = []
    while len(found) < most:
        try:
            found.append(tensorflow.nest.map_structure(lambda part: part.tolist(), session.run(element)))
        except tf.errors.OutOfRangeError:
            break
    return found


_their_passes = tensorflow.autograph.experimental.do_not_convert(_passes)


@pytest.mark.parametrize("name", thinned(list(PROGRAMS), 4))
def test_random_parts_give_tensorflows_sequences(name: str) -> None:
    assert _passes(OURS, PROGRAMS[name]) == _their_passes(THEIRS, PROGRAMS[name])


def _with_one_shot_iterators(tf: Any) -> Any:
    dataset = _beside(tf, _mapped(tf, 5).shuffle(3, seed=1))
    elements = [tf.data.make_one_shot_iterator(dataset).get_next() for _ in range(2)]
    with tf.Session() as session:
        return [_taken(tf, session, element) for element in elements]


def _by_one_structure(tf: Any) -> Any:
    dataset = _mapped(tf).shuffle(3)
    iterator = tf.data.Iterator.from_structure(tf.int32, [])
    element = iterator.get_next()
    initializers = [iterator.make_initializer(dataset), iterator.make_initializer(dataset.map(lambda n: -n))]
    found = []
    with tf.Session() as session:
        for at in (0, 1, 1, 0):
            session.run(initializers[at])
            found.append(_taken(tf, session, element))
    return found


def _summed(tf: Any) -> Any:
    dataset = _mapped(tf, 5).shuffle(4, seed=3)
    start = (np.int64(0), np.int64(0))

    def add(state: Any, pair: Any) -> Any:
        return tuple(total * 101 + tf.cast(part, tf.int64) for total, part in zip(state, pair, strict=True))

    total = _beside(tf, dataset).reduce(start, add)
    with tf.Session() as session:
        return [[int(part) for part in session.run(total)] for _ in range(2)]


def _single(tf: Any) -> Any:
    dataset = _mapped(tf, 5).shuffle(4, seed=3)
    element = tf.data.experimental.get_single_element(_beside(tf, dataset).batch(9))
    with tf.Session() as session:
        return [[part.tolist() for part in session.run(element)] for _ in range(2)]


@pytest.mark.parametrize("program", [_with_one_shot_iterators, _by_one_structure, _summed, _single])
def test_whoever_asks_for_elements_sees_tensorflows_sequences(program: Program) -> None:
    found = []
    for tf in (OURS, THEIRS):
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            run = program if tf is OURS else tensorflow.autograph.experimental.do_not_convert(program)
            found.append(run(tf))
    assert found[0] == found[1]


def _saved(tf: Any, dataset: Any, folder: Path, **options: Any) -> Any:
    """What comes after a moment, and after that moment is restored: here, and where the iterator went on meanwhile."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator, **options)
    saver = tf.train.Saver({"iterator": saveable})
    folder.mkdir()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        found.append(_taken(tf, session, element, 3))
        prefix = saver.save(session, str(folder / "state"), write_meta_graph=False)
        found.append(_taken(tf, session, element))
        session.run(iterator.initializer)
        saver.restore(session, prefix)
        found.append(_taken(tf, session, element))
    return found


@pytest.mark.parametrize(
    "name", ["shuffle beside itself, seed 3", "other random numbers, seed 3", "other samples, seed 3"]
)
def test_a_saved_iterator_goes_on_in_tensorflows_sequence(name: str, tmp_path: Path) -> None:
    found = []
    for tf, folder in ((OURS, "ours"), (THEIRS, "theirs")):
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            found.append(_saved(tf, PROGRAMS[name](tf), tmp_path / folder))
    assert found[0] == found[1]
    assert found[0][1] == found[0][2]


@pytest.mark.parametrize("tf", [OURS, THEIRS], ids=["ours", "theirs"])
def test_an_iterator_whose_functions_drew_numbers_is_not_saved(tf: Any, tmp_path: Path) -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniformInt is stateful"),
    ):
        _saved(tf, _mapped(tf, 5), tmp_path / "a")


def test_random_numbers_begin_anew_in_a_restored_iterator_if_that_is_asked_for(tmp_path: Path) -> None:
    with OURS.Graph().as_default():
        before, _, after = _saved(OURS, _mapped(OURS, 5, 6), tmp_path / "a", external_state_policy="ignore")
    assert after == before


def test_parallel_calls_draw_random_numbers_in_the_order_of_elements() -> None:
    tf = OURS

    def slow(n: Any) -> Any:
        return _number(tf, 5), tf.reduce_sum(tf.random_normal([50_000], seed=1)) * 0 + tf.cast(n, tf.float32)

    sequences = []
    for calls in (None, 4):
        with tf.Graph().as_default():
            sequences.append(_passes(tf, lambda tf, calls=calls: tf.data.Dataset.range(12).map(slow, calls)))  # type: ignore[misc]
    assert sequences[0] == sequences[1]


def test_iterators_that_are_initialized_in_one_run_give_the_same_order() -> None:
    """TensorFlow has them share the seeds of passes, and which of them comes first is left to its threads."""
    tf = OURS
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = _shuffled(tf, 5)
        iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
        elements = [iterator.get_next() for iterator in iterators]
        session.run([iterator.initializer for iterator in iterators])
        first, second = (_taken(tf, session, element) for element in elements)
    assert first == second
