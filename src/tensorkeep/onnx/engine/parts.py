"""A part that ONNX Runtime runs: for the variables as they are, for all sizes, by our kernels if it fails.

The values of variables are constants of the model that is run, so that ONNX Runtime can prepare them. Before each run
it is seen that they still are the values; a variable that was assigned to makes a new model, and one that keeps
changing becomes an input. What ONNX Runtime cannot run, our kernels do, so that answers and errors are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import FailedPreconditionError, TensorKeepError
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.onnx.engine.sessions import OnnxSession
from tensorkeep.runtime.context import LOG
from tensorkeep.runtime.partitions.engines import Own
from tensorkeep.runtime.resources import VariableResource

_MOST_CHANGES: Final = 2  # of a variable, for which a new model is made; one that changes oftener becomes an input
_MOST_MODELS: Final = 4  # for other sets of variables, which functions are called with
_MOST_FAILURES: Final = 3  # runs that our kernels had to do, before ONNX Runtime is not asked any more

# What the names of a session's inputs begin with, before the number; no operation has such a name.
ARRAY: Final = ":i"
VARIABLE: Final = ":v"

Constants: TypeAlias = Sequence[Array | None]
"""For each variable its value, or None where it is to be an input."""
Build: TypeAlias = Callable[[Sequence[VariableResource], Constants], OnnxSession]


def note_fault(error: Exception) -> None:
    """Tells of an error that nobody foresaw, of a rule or of ONNX Runtime: our kernels run the part instead."""
    if not isinstance(error, TensorKeepError | RecursionError | MemoryError):
        LOG.warning("a part of a graph stays with our kernels, as it could not be translated", exc_info=error)


class _Model:
    """A session of ONNX Runtime, and the values of variables that are constants of its model."""

    def __init__(
        self, session: OnnxSession, arrays: int, resources: Sequence[VariableResource], constants: Constants
    ) -> None:
        self.session = session
        self.run, self.outputs = session.run, session.outputs
        self.places = [(name, int(name[2:]) + (0 if name.startswith(ARRAY) else arrays)) for name in session.inputs]
        """Which of the values that the part is called with each input of the session is."""
        self.resources = list(resources)
        self.constants = list(constants)

    def fits(self, variables: Sequence[VariableResource]) -> bool:
        for variable, array in zip(variables, self.constants, strict=True):
            if array is not None and not variable.holds(array):
                return False
        return True

    def rows(self, feed: Mapping[str, Array]) -> int:
        """How many rows it is given that it may be given some of at a time; 0 if it is not known that it may."""
        counts = {feed[name].shape[:1] for name in self.session.by_row}
        return counts.pop()[0] if len(counts) == 1 else 0

    def run_some(self, feed: Mapping[str, Array], count: int) -> list[Any]:
        """The results of a run in which it is given so many rows at a time, if it may be; else of one with all."""
        total = self.rows(feed)
        if total <= count:
            return self.run(self.outputs, dict(feed), None)
        results: list[Array] = []
        for start in range(0, total, count):
            some = {name: array[start : start + count] if name in self.session.by_row else array
                    for name, array in feed.items()}  # fmt: skip
            found = self.run(self.outputs, some, None)
            if not results:
                results = [result_array((total, *array.shape[1:]), array.dtype) for array in found]
            for result, array in zip(results, found, strict=True):
                place = result[start : start + count]
                assert len(array) == len(place), "an output has as many rows as it is given"
                place[...] = array
        return results


class OnnxPart:
    """A part of a plan that ONNX Runtime runs. Called with its arrays and then its variables, it gives its results."""

    def __init__(self, arrays: int, build: Build, make_own: Callable[[], Own]) -> None:
        """`build` makes a session, whose inputs are named by ARRAY or VARIABLE and the number among these."""
        self.arrays = arrays
        self._build = build
        self._make_own = make_own
        self._own: Own | None = None
        self._models: list[_Model] = []
        self._changes: dict[int, int] = {}
        self._failures = 0
        self._lock = Lock()
        # The model of the last call, and for which variables, after which change of any: seen at once to fit again.
        self._last: tuple[int, Sequence[VariableResource], _Model | None] = (-1, (), None)

    def prepare(self, variables: Sequence[VariableResource]) -> None:
        """Makes the model for the values that variables have. Raises what hinders it."""
        self._make_model(variables)

    def __call__(self, *values: Any) -> Sequence[Any]:
        return self.results(values)

    def results(self, values: Sequence[Any], at_a_time: int = 0) -> Sequence[Any]:
        """The results of the part for the arrays and then the variables that it is called with. ONNX Runtime is given
        so many rows of these at a time, if it may be; 0 for all of them.
        """
        model = self._model_for(values)
        feed = None if model is None else _fed_values(model, values)
        if model is None or feed is None:
            return self.own(*values)
        try:
            return model.run_some(feed, at_a_time) if at_a_time else model.run(model.outputs, feed, None)
        except Exception:  # whatever it is, our kernels say what is wrong, or have an answer
            results = self.own(*values)
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                self._last = (-1, (), None)
            return results

    def rows(self, values: Sequence[Any]) -> int:
        """How many rows of these values ONNX Runtime may be given some at a time; 0 if it may not."""
        model = self._model_for(values)
        feed = None if model is None else _fed_values(model, values)
        return 0 if model is None or feed is None else model.rows(feed)

    def _model_for(self, values: Sequence[Any]) -> _Model | None:
        """The model for the variables among what the part is called with, as `_current_model`."""
        variables = values[self.arrays :]
        change, same, model = self._last
        if change != VariableResource.last_change or same != variables:
            change = VariableResource.last_change  # before the values are looked at: what comes after is another change
            model = self._current_model(variables)
            self._last = (change, variables, model)
        return model

    @property
    def is_running(self) -> bool:
        """Whether ONNX Runtime is still asked: it has not failed too often."""
        return self._failures < _MOST_FAILURES

    @property
    def own(self) -> Own:
        """The results of the part, computed by our kernels."""
        if self._own is None:
            with self._lock:
                self._own = self._own or _without_warnings(self._make_own())
        return self._own

    def _current_model(self, variables: Sequence[VariableResource]) -> _Model | None:
        """The model for variables as they are, made if there is none; None if ONNX Runtime is not to be asked."""
        if self._failures >= _MOST_FAILURES:
            return None
        with self._lock:
            for model in self._models:
                if model.fits(variables):
                    self._models = [model, *(other for other in self._models if other is not model)]
                    return model
            try:
                return self._make_model(variables)
            except FailedPreconditionError:  # a variable has no value yet, which our kernels say in their words
                return None
            except Exception as error:
                note_fault(error)
                self._failures = _MOST_FAILURES
                return None

    def _make_model(self, variables: Sequence[VariableResource]) -> _Model:
        old = next((model for model in self._models if _are_same(model.resources, variables)), None)
        if old is not None:
            for at, (variable, array) in enumerate(zip(variables, old.constants, strict=True)):
                if array is not None and not variable.holds(array):
                    self._changes[at] = self._changes.get(at, 0) + 1
        constants = [
            None if self._changes.get(at, 0) > _MOST_CHANGES else variable.read()
            for at, variable in enumerate(variables)
        ]
        # Also of a variable that became an input, for looking up: something else may have been made of its value.
        model = _Model(self._build(variables, constants), self.arrays, variables, constants)
        others = [other for other in self._models if other is not old]
        self._models = [model, *others[: _MOST_MODELS - 1]]
        return model


def _without_warnings(own: Own) -> Own:
    """The same function, with NumPy's warnings switched off while it runs, as ONNX Runtime gives none either."""

    def run(*values: Any) -> Sequence[Any]:
        with np.errstate(all="ignore"):
            return own(*values)

    return run


def _fed_values(model: _Model, values: Sequence[Any]) -> dict[str, Array] | None:
    """What a session is given; None if that is empty: some of its kernels end the process then (`empty_arrays`)."""
    feed: dict[str, Array] = {}
    for name, at in model.places:
        value = values[at]
        if type(value) is not np.ndarray:  # a variable that is an input, or one of NumPy's scalars
            value = value.read() if isinstance(value, VariableResource) else np.asarray(value)
        if not value.size:
            return None
        feed[name] = value
    return feed


def _are_same(first: Sequence[object], second: Sequence[object]) -> bool:
    return all(one is other for one, other in zip(first, second, strict=True))
