"""Variables: what is read of them holds still, one at a time or many together."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.runtime.resources import VariableResource, dereference, dereferenced_values
from tensorkeep.shapes import Shape


def _variable(name: str, value: float | None) -> VariableResource:
    variable = VariableResource(name, DType.of("float32"), Shape((2,)), is_ref=True)
    if value is not None:
        variable.assign(np.full(2, value, np.float32))
    return variable


def test_many_are_read_as_one_by_one() -> None:
    variables = [_variable("a", 1.0), _variable("b", 2.0)]
    fed = np.float32(3.0)
    together = dereferenced_values([*variables, fed])
    assert [item is dereference(value) for item, value in zip(together, [*variables, fed], strict=True)] == [True] * 3


def test_a_variable_without_a_value_among_many_is_named() -> None:
    with pytest.raises(FailedPreconditionError, match="Attempting to use uninitialized value empty"):
        dereferenced_values([_variable("a", 1.0), _variable("empty", None)])


def test_a_value_that_was_read_with_others_is_not_changed_in_place() -> None:
    variable = _variable("a", 1.0)
    (held, _) = dereferenced_values([variable, _variable("b", 2.0)])
    with variable.lock:
        variable.writable()[:] = 5.0
    assert held.tolist() == [1.0, 1.0]
    assert variable.read().tolist() == [5.0, 5.0]


def test_a_change_in_place_that_has_begun_is_waited_for() -> None:
    variable, other = _variable("a", 1.0), _variable("b", 2.0)
    begun, found = threading.Event(), []

    def read() -> None:
        begun.wait()
        found.append(dereferenced_values([variable, other])[0].tolist())

    reader = threading.Thread(target=read)
    reader.start()
    with variable.lock:
        place = variable.writable()
        place[0] = 7.0
        begun.set()
        reader.join(0.05)
        assert not found
        place[1] = 7.0
        del place
    reader.join()
    assert found == [[7.0, 7.0]]
