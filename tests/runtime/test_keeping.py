"""What operations of functions keep, by who has the functions called."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread
from typing import Any

import tensorkeep.v1 as tf
from tensorkeep.runtime.keeping import Caller, Owner, called_by, current_caller, keeping_apart, kept_now, owned_call

OPERATION: Any = "an operation"


def _count() -> Sequence[int]:
    kept = kept_now()
    assert kept is not None
    numbers = kept.setdefault(OPERATION, {"calls": 0})
    numbers["calls"] += 1
    return [numbers["calls"]]


def test_each_caller_has_its_own_and_so_has_each_owner() -> None:
    first, second = owned_call(Owner(), _count), owned_call(Owner(), _count)
    one, other = Caller(), Caller()
    found = []
    for caller in (one, other, one):
        with called_by(caller):
            found.append([first()[0], first()[0], second()[0]])
    assert found == [[1, 2, 1], [1, 2, 1], [3, 4, 2]]
    assert list(one.keeping()) == [OPERATION, OPERATION]


def test_without_a_caller_it_is_the_owners() -> None:
    call = owned_call(Owner(), _count)
    with called_by(Caller()):
        call()
    assert [call()[0], call()[0]] == [1, 2]


def test_nothing_is_left_behind() -> None:
    call = owned_call(Owner(), _count)
    with called_by(Caller()), keeping_apart():
        assert kept_now() == {}
        call()
        assert kept_now() == {}
    assert kept_now() is None
    assert current_caller() is None


def test_threads_have_no_caller_unless_they_are_told() -> None:
    seen: list[Any] = []
    with called_by(Caller()):
        thread = Thread(target=lambda: seen.append(current_caller()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_a_counter_in_a_function_begins_anew_with_each_iterator() -> None:
    """`first_n` of Print is kept like the state of a generator."""
    lines: list[str] = []
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(3).map(lambda n: tf.Print(n, [n], first_n=2)).prefetch(1)
        iterators = [tf.data.make_initializable_iterator(dataset) for _ in range(2)]
        elements = [iterator.get_next() for iterator in iterators]
        with tf.Session(write_line=lines.append) as session:
            for iterator, element in zip(iterators, elements, strict=True):
                session.run(iterator.initializer)
                assert [session.run(element) for _ in range(3)] == [0, 1, 2]
    assert lines == ["[0]", "[1]", "[0]", "[1]"]
