"""Stages as nodes, and threads that wait at them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import CancelledError, InternalError, InvalidArgumentError, ResourceExhaustedError
from tensorkeep.graph.arguments import emit_operation
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data.staging_areas import MapStagingArea, StagingArea

FLOAT, INT, LONG = DType.of("float32"), DType.of("int32"), DType.of("int64")


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def in_thread(function: Callable[[], Any]) -> tuple[Thread, list[Any]]:
    """A thread that calls the function, and where its result or its error comes."""
    found: list[Any] = []

    def call() -> None:
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    thread = Thread(target=call, daemon=True)
    thread.start()
    return thread, found


def test_what_one_run_puts_in_a_later_one_takes(graph: Graph) -> None:
    area = StagingArea([FLOAT, INT], shapes=[(2,), ()])
    number = placeholder(dtype=INT, shape=())
    put, got, second = area.put([constant([1.0, 2.0]), number]), area.get(), area.peek(1)
    session = Session(graph)
    for value in (7, 8, 9):
        session.run(put, {number: value})
    assert session.run(area.size()) == 3
    assert [part.tolist() for part in session.run(second)] == [[1.0, 2.0], 8]
    assert [session.run(got[1]) for _ in range(2)] == [7, 8]
    session.run(area.clear())
    assert session.run(area.size()) == 0


def test_what_is_fed_may_be_changed_afterwards(graph: Graph) -> None:
    area = StagingArea([FLOAT])
    fed = placeholder(dtype=FLOAT, shape=(2,))
    put, (got,) = area.put(fed), area.get()
    session = Session(graph)
    values = np.ones(2, np.float32)
    session.run(put, {fed: values})
    values[:] = 5
    assert session.run(got).tolist() == [1.0, 1.0]


def test_what_was_looked_at_may_be_changed_too(graph: Graph) -> None:
    area = StagingArea([FLOAT])
    put, (peeked,) = area.put(constant([1.0])), area.peek(0)
    session = Session(graph)
    session.run(put)
    session.run(peeked)[:] = 5
    assert session.run(peeked).tolist() == [1.0]


@pytest.mark.parametrize("bounds", [{"capacity": 1}, {"memory_limit": 4}])
def test_who_finds_it_full_waits_for_another_thread(graph: Graph, bounds: dict[str, int]) -> None:
    area = StagingArea([FLOAT], **bounds)
    put, (got,), size = area.put(constant(1.0)), area.get(), area.size()
    session = Session(graph)
    session.run(put)
    thread, found = in_thread(lambda: session.run(put))
    thread.join(0.05)
    assert thread.is_alive()
    assert session.run(size) == 1
    session.run(got)
    thread.join(20)
    assert found == [None]
    assert session.run(size) == 1


def test_a_step_takes_from_a_full_area_what_it_fills_again(graph: Graph) -> None:
    area = StagingArea([INT], capacity=1)
    number = placeholder(dtype=INT, shape=())
    put, (got,) = area.put(number), area.get()
    session = Session(graph)
    session.run(put, {number: 0})
    thread, found = in_thread(lambda: [session.run([got, put], {number: i})[0] for i in range(1, 5)])
    thread.join(20)
    assert found == [[0, 1, 2, 3]]


@pytest.mark.parametrize("kind", ["get", "peek", "put", "map get", "map peek", "map any", "map put"])
def test_nobody_waits_longer_than_the_session_lasts(graph: Graph, kind: str) -> None:
    area, by_key = StagingArea([FLOAT], capacity=1), MapStagingArea([FLOAT], capacity=1)
    key, other, value = constant(1, LONG), constant(2, LONG), constant(1.0)
    waiting: dict[str, Any] = {
        "get": area.get(),
        "peek": area.peek(0),
        "put": area.put(value),
        "map get": by_key.get(key)[1],
        "map peek": by_key.peek(key),
        "map any": by_key.get()[1],
        "map put": by_key.put(other, [value], [0]),
    }
    session = Session(graph)
    if kind.endswith("put"):
        session.run([area.put(value), by_key.put(key, [value], [0])])
    thread, found = in_thread(lambda: session.run(waiting[kind]))
    thread.join(0.05)
    assert thread.is_alive()
    session.close()
    thread.join(20)
    assert [type(error) for error in found] == [CancelledError]
    assert kind.split()[-1].replace("any", "get") in str(found[0])


def test_what_never_fits_is_refused_at_once(graph: Graph) -> None:
    session = Session(graph)
    for put in (
        StagingArea([FLOAT], memory_limit=8).put(constant([1.0, 2.0, 3.0])),
        MapStagingArea([FLOAT], memory_limit=8).put(constant(1, LONG), [constant([1.0, 2.0, 3.0])], [0]),
    ):
        with pytest.raises(ResourceExhaustedError, match=r"tensors of 12 bytes .* limit of 8 bytes"):
            session.run(put)
    with pytest.raises(ResourceExhaustedError, match="34 bytes"):
        session.run(StagingArea([DType.of("string")], memory_limit=30).put(constant("d" * 10)))


def test_an_element_of_other_types_stays_where_it_is(graph: Graph) -> None:
    floats = StagingArea([FLOAT], shared_name="area")
    put, (got,) = floats.put(constant(1.0)), floats.get()
    integers, pairs = (StagingArea(types, shared_name="area").get() for types in ([INT], [FLOAT, FLOAT]))
    session = Session(graph)
    session.run(put)
    with pytest.raises(InternalError, match="got an element of float32, wanted one of int32"):
        session.run(integers)
    with pytest.raises(InvalidArgumentError, match="wanted one of float32, float32"):
        session.run(pairs)
    assert session.run(got) == 1.0


def test_sessions_do_not_share_what_is_staged(graph: Graph) -> None:
    area = StagingArea([FLOAT])
    put, size = area.put(constant(1.0)), area.size()
    one, other = Session(graph), Session(graph)
    one.run(put)
    assert (one.run(size), other.run(size)) == (1, 0)


@pytest.mark.parametrize("ordered", [False, True])
def test_an_element_is_there_when_all_its_components_are(graph: Graph, ordered: bool) -> None:
    area = MapStagingArea([FLOAT, INT], names=["x", "y"], ordered=ordered)
    key = placeholder(dtype=LONG, shape=())
    x, y = {"x": constant(1.5)}, {"y": constant(7)}
    begun, ended, whole = area.put(key, x), area.put(key, y), area.put(key, {**x, **y})
    sizes, seen = [area.size(), area.incomplete_size()], area.peek(key, ["y"])
    part, other, rest = area.get(key, ["x"])[1], area.get(key, ["y"])[1], area.get()
    session = Session(graph)
    session.run(begun, {key: 5})
    assert session.run(sizes) == [0, 1]
    with pytest.raises(InvalidArgumentError, match=r"key 5 already has components \[0\]"):
        session.run(begun, {key: 5})
    session.run(ended, {key: 5})
    assert session.run(sizes) == [1, 0]
    with pytest.raises(InvalidArgumentError, match="key 5 is there already"):
        session.run(whole, {key: 5})
    assert session.run(seen, {key: 5}) == {"y": 7}
    assert session.run(part, {key: 5}) == {"x": 1.5}
    with pytest.raises(InvalidArgumentError, match=r"of key 5 components \[1\] are there"):
        session.run(part, {key: 5})
    assert session.run(other, {key: 5}) == {"y": 7}
    for number in (9, 1, 4):
        session.run(whole, {key: number})
    assert [session.run(rest)[0] for _ in range(3)] == ([1, 4, 9] if ordered else [9, 1, 4])
    session.run(begun, {key: 2})
    session.run(area.clear())
    assert session.run(sizes) == [0, 0]


def test_numbers_of_components_are_checked(graph: Graph) -> None:
    key, value = constant(1, LONG), constant(1.0)
    session = Session(graph)

    def stage(indices: Any, values: list[Any], which: Any = key) -> None:
        session.run(emit_operation("MapStage", which, indices, values, dtypes=[FLOAT, INT], shared_name="a"))

    for call, said in [
        (lambda: stage([2], [value]), r"components 0 to 1, got \[2\]"),
        (lambda: stage([0, 1], [value]), "a number for each of 1 components"),
        (lambda: stage([0, 0], [value, value]), r"put in once, got numbers \[0, 0\]"),
        (lambda: stage([0], [value], constant([1, 2], LONG)), r"one number, got shape \(2,\)"),
    ]:
        with pytest.raises(InvalidArgumentError, match=said):
            call()
    with pytest.raises(InternalError, match="wanted one of int32"):
        stage([1], [value])
    with pytest.raises(InvalidArgumentError, match="numbers from 0 on"):
        session.run(StagingArea([FLOAT]).peek(-1))


def test_what_does_not_fit_is_refused_when_the_graph_is_built(graph: Graph) -> None:
    area, named = StagingArea([FLOAT], shapes=[(2,)]), StagingArea([FLOAT], names=["x"])
    by_key = MapStagingArea([FLOAT], names=["x"])
    key = constant(1, LONG)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: area.put([constant([1.0, 2.0])] * 2), "Unexpected number of inputs 2 vs 1"),
        (lambda: area.put(constant([1, 2])), "Received val.dtype int32 and dtype float32"),
        (lambda: area.put(constant([1.0])), "incompatible"),
        (lambda: area.put({"x": constant(1.0)}), "must have names"),
        (lambda: named.put(constant(1.0)), "must enqueue a dictionary"),
        (lambda: named.put({"y": constant(1.0)}), "do not match names"),
        (lambda: StagingArea([FLOAT, INT]).put([constant(1.0)]), r"none was given for \[1\]"),
        (lambda: StagingArea([FLOAT], shapes=[(), ()]), "shapes must be the same length"),
        (lambda: StagingArea([FLOAT], names=["a", "b"]), "names must be the same length"),
        (lambda: StagingArea([FLOAT], shared_name=3), "must be a string, got 3"),  # type: ignore[arg-type]
        (lambda: by_key.get(key, [7]), "numbers 0 to 0"),
        (lambda: by_key.get(key, ["q"]), "not in Staging Area names"),
        (lambda: by_key.get(key, []), "Empty indices"),
    ]
    for call, said in calls:
        with pytest.raises(ValueError, match=said):
            call()
    for indices in (["x", 1], 0):
        with pytest.raises(TypeError, match="ndices"):
            by_key.get(key, indices)  # type: ignore[arg-type]
