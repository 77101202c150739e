"""Sequences in segments: what comes in which batch, and the states that go from one to the next.

TensorFlow 2 has none of it. What is expected is simulated in plain Python from the description of TensorFlow 1.15: of
the examples that wait, in the order in which they came, each batch takes the next segment of the first ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, NotFoundError, OutOfRangeError

STEPS = 3
STATE_SIZE = 4
LENGTHS = [4, 1, 7, 3, 9, 2]


def examples() -> list[np.ndarray]:
    generator = np.random.default_rng(5)
    return [generator.normal(size=(length, 2)).astype(np.float32) for length in LENGTHS]


def simulated(batch_size: int, capacity: int, small: bool) -> list[list[tuple[int, int]]]:
    """Which segments (example, number) each batch has, if all examples that there is room for are there."""
    counts = [-(-length // STEPS) for length in LENGTHS]
    waiting, batches = list(range(len(LENGTHS))), []
    here = [(waiting.pop(0), 0) for _ in range(min(capacity, len(waiting)))]
    while here:
        if len(here) < batch_size and not small:
            break
        batch, here = here[:batch_size], here[batch_size:]
        batches.append(batch)
        here = sorted([*here, *((which, number + 1) for which, number in batch if number + 1 < counts[which])])
        here += [(waiting.pop(0), 0) for _ in range(min(capacity - len(here), len(waiting)))]
    return batches


def key_of(which: int, number: int) -> bytes:
    count = -(-LENGTHS[which] // STEPS)
    return b"STOP:%d" % which if number == count else b"%05d_of_%05d:%d" % (number, count, which)


def padded(which: int, number: int) -> np.ndarray:
    whole = np.zeros((-(-LENGTHS[which] // STEPS) * STEPS, 2), np.float32)
    whole[: LENGTHS[which]] = examples()[which]
    return whole[number * STEPS : (number + 1) * STEPS]


def one_at_a_time() -> tuple[Any, Any]:
    """The key and the steps of one example after the other, until there are no more."""
    lengths = tf.constant(LENGTHS)
    number = tf.train.range_input_producer(len(LENGTHS), num_epochs=1, shuffle=False).dequeue()
    begin = tf.cumsum(lengths, exclusive=True)[number]
    steps = tf.constant(np.concatenate(examples()))[begin : begin + lengths[number]]
    steps.set_shape([None, 2])
    return tf.as_string(number), steps


def all_batches(build: Any, until: int = 100) -> list[Any]:
    """What each run gives until the input is over, with the threads of the graph's queue runners."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetched = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = []
        try:
            while len(found) < until:
                found.append(session.run(fetched))
        except OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=20)
    return found


@pytest.mark.parametrize(("batch_size", "capacity", "small"), [(2, 2, True), (2, 2, False), (3, 4, True), (1, 1, True)])
def test_states_go_from_segment_to_segment(batch_size: int, capacity: int, small: bool) -> None:
    """Each state counts the steps and adds them up, so that the last of an example is its sum."""

    def build() -> Any:
        key, steps = one_at_a_time()
        batch = tf.contrib.training.batch_sequences_with_states(
            key,
            {"steps": steps},
            {"twice": tf.string_join([key, key])},
            None,
            {"sum": tf.zeros([2]), "count": tf.constant(10)},
            num_unroll=STEPS,
            batch_size=batch_size,
            num_threads=1,
            capacity=capacity,
            allow_small_batch=small,
        )
        total = batch.state("sum") + tf.reduce_sum(batch.sequences["steps"], 1)
        saved = [batch.save_state("sum", total), batch.save_state("count", batch.state("count") + batch.length)]
        return {
            "key": batch.key,
            "next": batch.next_key,
            "steps": batch.sequences["steps"],
            "twice": batch.context["twice"],
            "sum": batch.state("sum"),
            "count": batch.state("count"),
            "sizes": (batch.length, batch.total_length, batch.sequence, batch.sequence_count, batch.batch_size),
            "saved": saved,
        }

    found = all_batches(build)
    if capacity == batch_size:  # else the examples that come in next race with the segments
        assert [batch["key"].tolist() for batch in found] == [
            [key_of(*segment) for segment in batch] for batch in simulated(batch_size, capacity, small)
        ]
    done = {}
    for batch in found:
        length, total_length, sequence, sequence_count, size = batch["sizes"]
        assert size == len(batch["key"]) <= batch_size
        for row, key in enumerate(batch["key"]):
            which, number = int(key.split(b":")[1]), int(key[:5])
            done[which, number] = key
            before = examples()[which][: number * STEPS]
            assert (key, batch["next"][row]) == (key_of(which, number), key_of(which, number + 1))
            assert (sequence[row], sequence_count[row]) == (number, -(-LENGTHS[which] // STEPS))
            assert (length[row], total_length[row]) == (min(STEPS, LENGTHS[which] - number * STEPS), LENGTHS[which])
            assert batch["twice"][row] == b"%d%d" % (which, which)
            np.testing.assert_array_equal(batch["steps"][row], padded(which, number))
            np.testing.assert_allclose(batch["sum"][row], before.sum(0), rtol=1e-5, atol=1e-6)
            assert batch["count"][row] == 10 + len(before)
    if small:
        assert sorted(done) == [(w, n) for w, length in enumerate(LENGTHS) for n in range(-(-length // STEPS))]


def test_a_cell_goes_on_where_the_last_segment_ended() -> None:
    """The last state of an example is the one that the cell has after the whole of it, unrolled in one piece."""

    def build() -> Any:
        key, steps = one_at_a_time()
        cell = tf.nn.rnn_cell.BasicLSTMCell(STATE_SIZE)
        zeros = tf.zeros([STATE_SIZE])
        batch = tf.contrib.training.batch_sequences_with_states(
            key, {"x": steps}, {}, None, {"c": zeros, "h": zeros}, num_unroll=STEPS, batch_size=2, capacity=2
        )
        inputs = tf.unstack(batch.sequences["x"], axis=1)
        weights = tf.constant_initializer(0.3)
        with tf.variable_scope("rnn", initializer=weights):
            _, state = tf.nn.static_state_saving_rnn(cell, inputs, batch, ("c", "h"), batch.length, "net")
        return {"key": batch.key, "next": batch.next_key, "h": state[1]}

    def whole(which: int) -> np.ndarray:
        with tf.Graph().as_default(), tf.Session() as session:
            cell = tf.nn.rnn_cell.BasicLSTMCell(STATE_SIZE)
            with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.3)):
                _, state = tf.nn.dynamic_rnn(cell, examples()[which][None], dtype=tf.float32)
            session.run(tf.global_variables_initializer())
            return session.run(state[1])[0]

    last = {
        int(key.split(b":")[1]): state
        for batch in all_batches(build)
        for key, state in zip(batch["next"], batch["h"], strict=True)
        if key.startswith(b"STOP")
    }
    assert sorted(last) == list(range(len(LENGTHS)))
    for which, state in last.items():
        np.testing.assert_allclose(state, whole(which), rtol=1e-5)


def test_sparse_sequences_come_out_sparse() -> None:
    def build() -> Any:
        sparse = tf.SparseTensor(tf.constant([[0, 1], [3, 0]], tf.int64), [7, 8], tf.constant([4, 5], tf.int64))
        batch = tf.contrib.training.batch_sequences_with_states(
            "fixed",
            {"s": sparse},
            {"c": sparse},
            None,
            {"n": 0},
            num_unroll=3,
            batch_size=2,
            capacity=2,
            make_keys_unique=True,
            make_keys_unique_seed=3,
        )
        saved = batch.save_state("n", batch.state("n") + 1)
        return batch.key, tf.sparse.to_dense(batch.sequences["s"]), tf.sparse.to_dense(batch.context["c"]), saved

    (keys, first, context, _), (_, second, _, _) = all_batches(build, until=2)
    whole = np.zeros((6, 5), np.int32)
    whole[0, 1], whole[3, 0] = 7, 8
    np.testing.assert_array_equal(first, [whole[:3]] * 2)
    np.testing.assert_array_equal(second, [whole[3:]] * 2)
    np.testing.assert_array_equal(context, [whole[:4]] * 2)
    assert all(key.startswith(b"00000_of_00002:fixed:") for key in keys)
    assert len(set(keys)) == 2


def saver(**other: Any) -> Any:
    given: dict[str, Any] = {
        "batch_size": 1,
        "num_unroll": 2,
        "input_length": 2,
        "input_key": "k",
        "input_sequences": {"x": tf.zeros([4, 3])},
        "input_context": {},
        "initial_states": {"s": 0.0},
    }
    return tf.contrib.training.SequenceQueueingStateSaver(**{**given, **other})


@pytest.mark.parametrize(
    ("other", "kind", "said"),
    [
        ({"capacity": 1, "batch_size": 2}, ValueError, "capacity must be larger or equal to batch_size"),
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": [0.0]}, TypeError, "states must be given as a dict"),
        ({"initial_states": {"a:b": 0.0}}, ValueError, "may not have a colon: 'a:b'"),
        ({"input_sequences": {}}, ValueError, "at least one sequence"),
        ({"input_sequences": {3: [1.0, 2.0]}}, TypeError, "sequence key must be string: 3"),
        ({"input_length": np.int64(2)}, TypeError, "length dtype must be int32"),
        ({"input_length": [2]}, ValueError, "length must be a scalar"),
        ({"input_length": None}, ValueError, "pad=True"),
        ({"input_key": 3}, TypeError, "key dtype must be string"),
    ],
)
def test_what_cannot_be_cut_is_refused_at_once(other: Any, kind: type[Exception], said: str) -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=said) as failure:
        saver(**other)
    assert isinstance(failure.value, kind)


def test_shapes_have_to_be_known_but_for_time() -> None:
    with tf.Graph().as_default():
        loose = tf.placeholder(tf.float32, [None, None])
        with pytest.raises(InvalidArgumentError, match=r"sequence x is not fully defined \(ignoring first dimension\)"):
            saver(input_sequences={"x": loose})
        with pytest.raises(InvalidArgumentError, match="state s is not fully defined"):
            saver(initial_states={"s": loose})


@pytest.mark.parametrize(
    ("other", "sizes", "said"),
    [
        ({"num_unroll": 3}, [4], "should be a multiple of: 3, but saw value: 4. Consider setting pad=True"),
        ({"input_length": 5}, [4], "Input length should be <= than length from sequences"),
        ({}, [4, 6], "should be: 4, received: 6|lengths must match"),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_wrong_lengths_are_refused(other: Any, sizes: list[int], said: str, is_known: bool) -> None:
    given = [np.zeros((size, 1)) for size in sizes]
    with tf.Graph().as_default(), tf.Session() as session:
        items = given if is_known else [tf.placeholder_with_default(item, [None, 1]) for item in given]
        sequences = {f"x{i}": item for i, item in enumerate(items)}
        with pytest.raises(InvalidArgumentError, match=said):
            session.run(saver(input_sequences=sequences, **other).prefetch_op)


def test_states_are_known_by_name_and_keep_their_shape() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = saver()
        with pytest.raises(NotFoundError, match="state was not declared: other; there are s"):
            made.next_batch.save_state("other", 0.0)
        with pytest.raises(NotFoundError, match="state was not declared: other"):
            made.next_batch.state("other")
        loose = tf.placeholder(tf.float32)
        save = made.next_batch.save_state("s", loose)
        session.run(made.prefetch_op)
        with pytest.raises(InvalidArgumentError, match="state s should have the shape of the state"):
            session.run(save, {loose: [1.0, 2.0]})


def test_a_runner_goes_with_the_graph_into_another() -> None:
    with tf.Graph().as_default():
        key, steps = one_at_a_time()
        batch = tf.contrib.training.batch_sequences_with_states(
            key, {"x": steps}, {}, None, {"n": 0}, num_unroll=STEPS, batch_size=1
        )
        names = [batch.key.name, batch.save_state("n", batch.state("n") + 1).name]
        stored = tf.train.export_meta_graph()

    def build() -> Any:
        tf.train.import_meta_graph(stored)
        graph = tf.get_default_graph()
        return graph.get_tensor_by_name(names[0]), graph.get_operation_by_name(names[1])

    assert len(all_batches(build)) == sum(-(-length // STEPS) for length in LENGTHS)
