"""Moving averages: what they become, update by update, and by which names they are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.training.optimizers.moving_averages import ExponentialMovingAverage, assign_moving_average
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.variable import Variable

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


@given(some.floats(0.0, 1.0), some.lists(some.floats(-8, 8, width=32), min_size=1, max_size=4), some.booleans())
def test_an_average_follows_its_variable(decay: float, values: list[float], use_resource: bool) -> None:
    with building(Graph()) as graph:
        variable = Variable(values[0], name="v", use_resource=use_resource)
        average = ExponentialMovingAverage(decay)
        update = average.apply([variable])
        init = global_variables_initializer()
    session = Session(graph)
    session.run(init)
    expected = values[0]
    for value in values:
        variable.load(value, session)
        session.run(update)
        expected = decay * expected + (1 - decay) * value
        assert session.run(average.average(variable)) == pytest.approx(expected, abs=1e-4)


@KINDS
def test_the_first_average_of_a_tensor_without_bias_is_the_tensor(use_resource: bool) -> None:
    with building(Graph()) as graph:
        average = Variable(np.zeros(2, np.float32), name="average", use_resource=use_resource)
        moved = assign_moving_average(average, constant([3.0, 5.0]), 0.9, zero_debias=True)
        init = global_variables_initializer()
    session = Session(graph)
    session.run(init)
    for _ in range(3):
        np.testing.assert_allclose(session.run(moved), [3.0, 5.0], rtol=1e-5)
    assert "average/biased" in graph
    assert "average/local_step" in graph


def test_few_updates_let_an_average_move_fast() -> None:
    with building(Graph()) as graph:
        variable = Variable(0.0, name="v")
        average = ExponentialMovingAverage(0.9, num_updates=2)
        update = average.apply([variable])
        init = global_variables_initializer()
    session = Session(graph)
    session.run(init)
    variable.load(1.0, session)
    session.run(update)
    assert session.run(average.average(variable)) == pytest.approx(1 - 3 / 12)


@KINDS
def test_names_tell_what_is_averaged_and_what_to_restore(use_resource: bool) -> None:
    with building(Graph()) as graph:
        options: Any = {"use_resource": use_resource}
        v, fixed = Variable(1.0, name="v", **options), Variable(2.0, name="fixed", trainable=False, **options)
        average = ExponentialMovingAverage(0.9, name="mean")
        assert average.name == "mean"
        assert average.average(v) is None
        before = average.variables_to_restore()
        assert before == {"v/mean": v, "fixed": fixed}
        average.apply([v])
        assert average.average(v).op.name == "v/mean"
        assert average.variables_to_restore() == before
        assert average.variables_to_restore([fixed])["fixed/mean"] is fixed
        assert get_collection(graph, GraphKeys.MOVING_AVERAGE_VARIABLES) == [v]
        assert not average.average(v).trainable


def test_a_name_that_is_taken_gets_a_number() -> None:
    with building(Graph()):
        v = Variable(1.0, name="v")
        ExponentialMovingAverage(0.9).apply([v])
        with name_scope("later"):
            assert ExponentialMovingAverage(0.9).average_name(v) == "later/v/ExponentialMovingAverage"
        assert ExponentialMovingAverage(0.9).average_name(v) == "v/ExponentialMovingAverage_1"


def test_all_that_cannot_be_averaged_is_named() -> None:
    with building(Graph()):
        variables = [Variable(1, name="a"), Variable(1.0, name="b"), Variable(True, name="c")]
        with pytest.raises(WrongTypeError, match="half, float, or double: a:0, c:0"):
            ExponentialMovingAverage(0.9).apply(variables)
