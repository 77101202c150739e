"""`tf.staged`: records computed ahead by threads, which end; errors, which are told; the end of the input."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, WrongTypeError
from tensorkeep.v1 import defaults


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(defaults, "is_own_python_allowed", lambda: True)
    with tf.Graph().as_default():
        yield
    assert not [thread.name for thread in threading.enumerate() if "Prefetch" in thread.name or "Cancel" in thread.name]


def taken(staged: Any, most: int = 100, stops: bool = True) -> list[Any]:
    """What a session takes of something that was staged, until the end; unless it `stops`, whatever threads say."""
    found: list[Any] = []
    with tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session:
        while len(found) < most and not (stops and session.should_stop()):
            found.append(session.run(staged))
    return found


def numbers(count: int) -> Any:
    return tf.data.Dataset.range(count).make_one_shot_iterator().get_next()


@pytest.mark.parametrize(("threads", "capacity"), [(1, 1), (1, 40), (4, 3), (4, 40)])
def test_every_record_is_taken_once_and_then_comes_the_end(threads: int, capacity: int) -> None:
    found = taken(tf.staged(numbers(25), num_threads=threads, capacity=capacity))
    assert sorted(found) == list(range(25))
    assert threads > 1 or found == sorted(found)


def test_structures_keep_their_form_and_shapes() -> None:
    number = numbers(3)
    features = {
        "dense": tf.fill([2, 3], number),
        "sparse": tf.sparse.from_dense([[0, 1], [2, 0]]),
        "ragged": tf.ragged.constant([[1], [2, 3]]),
        "nothing": None,
    }
    staged = tf.staged((features, [number]), name="ahead")
    assert staged[0]["dense"].shape.as_list() == [2, 3]
    assert isinstance(staged[0]["sparse"], tf.SparseTensor)
    assert staged[0]["nothing"] is None
    found = taken((staged[0]["dense"], staged[0]["sparse"], staged[0]["ragged"], staged[1][0]))
    assert [int(last) for *_, last in found] == [0, 1, 2]
    assert found[1][0].tolist() == [[1, 1, 1], [1, 1, 1]]
    assert found[1][1].values.tolist() == [1, 2]
    assert found[1][2].to_list() == [[1], [2, 3]]


def test_the_next_record_is_computed_while_a_step_runs() -> None:
    """The first step ends only when the second record has been begun: were they not at the same time, neither would."""
    begun: list[int] = []
    second = threading.Event()

    def make(number: int) -> int:
        begun.append(int(number))
        if len(begun) > 1:
            second.set()
        return number

    def step(number: int) -> int:
        assert second.wait(60), "no record was begun while the step ran"
        return number

    record = tf.staged(tf.py_func(make, [numbers(3)], tf.int64))
    assert taken(tf.py_func(step, [record], tf.int64)) == [0, 1, 2]


def test_no_more_is_computed_ahead_than_there_is_room_for() -> None:
    begun: list[int] = []
    record = tf.staged(tf.py_func(lambda number: begun.append(number) or number, [numbers(50)], tf.int64), capacity=3)
    assert taken(record, most=2) == [0, 1]
    assert len(begun) <= 2 + 3 + 1


def test_an_error_reaches_the_step_after_the_records_before_it() -> None:
    whole = tf.data.Dataset.range(9).map(lambda number: tf.div(tf.constant(60, tf.int64), 5 - number))
    found: list[int] = []
    staged = tf.staged(whole.make_one_shot_iterator().get_next(), capacity=9)
    kept = tf.py_func(lambda number: found.append(int(number)) or number, [staged], tf.int64)
    with pytest.raises(InvalidArgumentError, match="division by zero"):
        taken(kept, stops=False)
    assert found == [12, 15, 20, 30, 60]


def test_python_that_raises_is_told() -> None:
    def fail() -> None:
        raise ValueError("no data today")

    staged = tf.staged(tf.py_func(fail, [], tf.int64))
    with pytest.raises(InvalidArgumentError, match="no data today"):
        taken(staged)


def test_errors_can_be_passed_over_or_be_the_end(caplog: pytest.LogCaptureFixture) -> None:
    def make(number: int) -> int:
        if number % 3 == 2:
            raise ValueError(f"record {number} is cut")
        return number

    record = tf.py_func(make, [numbers(6)], tf.int64)
    assert taken(tf.staged(record, ignored_exception_types=[tf.errors.INVALID_ARGUMENT], capacity=9)) == [0, 1, 3, 4]
    assert caplog.text.count("a record is passed over") == 2
    record = tf.py_func(make, [numbers(6)], tf.int64)
    ending = tf.staged(record, closed_exception_types=(OutOfRangeError, InvalidArgumentError), name="again")
    with tf.Session() as session:  # the other runner is of no use here
        coordinator = tf.train.Coordinator()
        tf.make_prefetch_hook().after_create_session(session, coordinator)
        assert [session.run(ending), session.run(ending)] == [0, 1]
        with pytest.raises(OutOfRangeError, match="EOF reached"):
            session.run(ending)
        coordinator.request_stop()
        coordinator.join()


def test_what_is_fed_is_computed_for_each_record() -> None:
    x = tf.placeholder(tf.int64, [])
    pair = tf.sparse_placeholder(tf.int64)
    made = tf.sparse.from_dense(tf.reshape(numbers(4), [1, 1]) + 1)
    staged = tf.staged((x * 10, pair), feed_dict={x: numbers(4), pair: made})
    assert [(int(number), value.values.tolist()) for number, value in taken(staged)] == [
        (0, [1]), (10, [2]), (20, [3]), (30, [4]),
    ]  # fmt: skip
    with pytest.raises(WrongTypeError, match="The value of a feed must be"):
        tf.staged(x, feed_dict={x: 5})


def test_inputs_of_several_sources_are_joined() -> None:
    first, second = numbers(3), numbers(3) + 100
    found = taken(tf.prefetch_join([{"n": first}, {"n": second}], capacity=2))
    assert sorted(int(record["n"]) for record in found) == [0, 1, 2, 100, 101, 102]
    joined = tf.prefetch_join([tf.zeros([2, 3]), tf.zeros([2, 4])], name="shapes")
    assert joined.shape.ndims is None
    with pytest.raises(InvalidArgumentError, match="one structure: float32; int64"):
        tf.prefetch_join([tf.constant(1.0), tf.constant(1, tf.int64)], name="types")
    with pytest.raises(InvalidArgumentError, match="at least one element"):
        tf.prefetch_join([])


def test_a_session_that_stops_early_leaves_no_threads() -> None:
    endless = tf.data.Dataset.from_tensors(1).repeat().make_one_shot_iterator().get_next()
    assert taken(tf.staged(endless, num_threads=3, capacity=2), most=4) == [1] * 4


def test_a_step_that_fails_is_what_is_told() -> None:
    staged = tf.staged(numbers(9), num_threads=2)

    def fail(_: int) -> None:
        raise ValueError("wrong step")

    with pytest.raises(InvalidArgumentError, match="wrong step"):
        taken(tf.py_func(fail, [staged], tf.int64))


def test_two_stages_follow_each_other() -> None:
    first = tf.staged(numbers(5) * 2, name="read")
    assert taken(tf.staged(first + 1, name="prepared")) == [1, 3, 5, 7, 9]


def test_a_hook_without_stages_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert taken(tf.constant(3), most=1) == [3]
    assert "nothing was staged" in caplog.text


def test_arguments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="num_threads must >= 1"):
        tf.staged(tf.constant(1), num_threads=0)


def test_gradients_do_not_flow_into_what_was_staged() -> None:
    x = tf.get_variable("x", initializer=2.0)
    staged = tf.staged(x * 3)
    assert tf.gradients(staged * 2, [x]) == [None]
