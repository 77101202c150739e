"""Passes over what functions make of elements: one element each, some of them, or one after the other with a state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from threading import Condition
from time import perf_counter
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, TensorKeepError
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.ops.data.passes.background import WORKERS, ahead
from tensorkeep.ops.data.passes.basics import UNKNOWN, Dataset, Pass, State, chunked_over, next_of, stepping_over
from tensorkeep.ops.data.passes.rows import Columns, Element, Rows, as_columns
from tensorkeep.runtime.keeping import called_by, current_caller
from tensorkeep.runtime.limits import current_meter

_WORTH_A_THREAD: Final = 5e-4  # seconds of a call; handing over one that is quicker takes longer than it
_FEWEST: Final = 2  # rows that are worth a call for all of them together

ManyRows = Callable[[Columns], Columns]


class RowFunction:
    """A function of an element. Where it can, it computes many elements in one call, with the same results."""

    def __init__(
        self, one: Callable[..., Sequence[Any]], captured: Sequence[Any], many: ManyRows | None, draws: bool = False
    ) -> None:
        self.draws = draws
        """Whether it draws random numbers, so that elements are computed in their order."""
        self._one = one
        self._captured = tuple(captured)
        self._many = many

    @property
    def is_row_wise(self) -> bool:
        """Whether many elements can be computed in one call."""
        return self._many is not None

    def __call__(self, element: Element) -> Element:
        return tuple(self._one(*element, *self._captured))

    def of_rows(self, rows: Rows) -> Columns | None:
        """The results of all rows; None if they have to be computed one by one, as where one of them fails."""
        if self._many is None or len(rows) < _FEWEST or current_meter() is not None:
            return None
        columns = as_columns(rows)
        if columns is None:
            return None
        try:
            return self._many(columns)
        except Exception:  # which of the rows it was, and with which words, is found one by one
            return None


class _Mapped:
    """What a function makes of each element of a pass."""

    def __init__(self, source: Pass, function: RowFunction, threads: int, preserves: bool) -> None:
        self._source = source
        self._function = function
        self._threads = threads
        self._preserves = preserves  # whether a function that runs out of range is an error, and not the end
        self._rows: Rows = []  # taken from the source, and not given as results so far
        self._outcomes: deque[Element | Exception] = deque()  # of the first of these rows, if they are computed
        self._at = 0  # elements so far
        self._is_over = False
        self._seconds = inf  # that a call has taken of late

    def more(self, most: int) -> Rows:
        if self._is_over:
            return []
        if not self._rows:
            self._rows = self._source.take(most)
            if not self._rows:
                return []
            found = self._function.of_rows(self._rows)
            if found is not None:
                self._at += len(self._rows)
                self._rows = []
                return found
        if not self._outcomes:
            self._outcomes.extend(self._computed(self._rows))
        return self._given(most)

    def _given(self, most: int) -> Rows:
        """The results up to the first error; that error if it is the first."""
        found: list[Element] = []
        while self._outcomes and len(found) < most and not isinstance(self._outcomes[0], Exception):
            found.append(self._outcomes.popleft())  # type: ignore[arg-type]
        if found:
            self._rows = self._rows[len(found) :]
            self._at += len(found)
            return found
        error = self._outcomes.popleft()
        assert isinstance(error, Exception)
        self._rows = self._rows[1:]
        self._at += 1
        if isinstance(error, OutOfRangeError) and not self._preserves:
            self._is_over = True
            return []
        raise self._of_element(error)

    def _of_element(self, error: Exception) -> Exception:
        if isinstance(error, OutOfRangeError):
            error = InvalidArgumentError(f"Function invocation produced OutOfRangeError: {error.message}")
        if isinstance(error, TensorKeepError):
            error.message = f"{error.message}\n\t [[element {self._at - 1} of what was mapped]]"
            error.args = (error.message,)
        return error

    def _computed(self, rows: Rows) -> Sequence[Element | Exception]:
        if self._threads <= 1 or len(rows) < _FEWEST or self._seconds < _WORTH_A_THREAD:
            return [self._outcome(row) for row in rows]
        return in_threads(self._outcome, rows, self._threads)

    def _outcome(self, row: Element) -> Element | Exception:
        start = perf_counter()
        try:
            return self._function(row)
        except Exception as error:
            return error
        finally:
            self._seconds = min(
                perf_counter() - start, 2 * self._seconds + 1e-6
            )  # one that had to wait is not taken for slow

    def place(self) -> State:
        return {"rows": list(self._rows), "at": self._at, "over": self._is_over}

    def go_to(self, place: State) -> None:
        self._rows, self._at, self._is_over = place["rows"], place["at"], place["over"]
        self._outcomes.clear()


def in_threads(work: Callable[[Element], Any], rows: Rows, threads: int) -> list[Any]:
    """The results of `work`, which raises nothing, on every row, in order; some threads share the rows."""
    results: list[Any] = [None] * len(rows)
    changed = Condition()
    waiting = deque(enumerate(rows))
    busy = [min(threads, len(rows))]
    interrupts: list[BaseException] = []
    caller = current_caller()

    def run() -> None:
        try:
            with called_by(caller):
                while waiting:
                    at, row = waiting.popleft()
                    results[at] = work(row)
        except IndexError:  # another thread was quicker
            pass
        except BaseException as error:  # an interrupt: for who waits for the rows
            interrupts.append(error)
            waiting.clear()
        finally:
            with changed:
                busy[0] -= 1
                changed.notify_all()

    for _ in range(busy[0] - 1):
        WORKERS.do(run)
    run()
    with changed:
        while busy[0]:
            changed.wait()
    if interrupts:
        raise interrupts[0]
    return results


def map_elements(source: Dataset, function: RowFunction, *, preserves: bool, parallel: int = 1) -> Dataset:
    """What a function makes of each element of a dataset; `parallel` calls at a time, as many as it likes if negative.

    Parallel calls are made before their results are asked for. A function that computes many elements in one call is
    not called in parallel: that is quicker; nor is one that draws random numbers: each element gets those of its place.
    """
    size = source.cardinality if preserves else UNKNOWN
    count = thread_limit() if parallel < 0 else parallel
    threads = 1 if function.is_row_wise or function.draws else count
    made = chunked_over(source, lambda rows: _Mapped(rows, function, threads, preserves), size)
    if threads <= 1 and (parallel == 1 or function.is_row_wise):
        return made
    return ahead(made, max(count, 1), max(threads, 1))


class _Chosen:
    """The elements of a pass of which a predicate is true; with `stops`, only those before the first of which not."""

    def __init__(self, source: Pass, holds: Callable[[Element], bool], stops: bool) -> None:
        self._source = source
        self._holds = holds
        self._stops = stops
        self._is_over = False

    def next(self) -> Element | None:
        while not self._is_over:
            element = next_of(self._source)
            if element is None:
                return None
            if self._holds(element):
                return element
            self._is_over = self._stops
        return None

    def place(self) -> State:
        return {"over": self._is_over}

    def go_to(self, place: State) -> None:
        self._is_over = place["over"]


def filter_elements(source: Dataset, holds: Callable[[Element], bool], *, stops: bool = False) -> Dataset:
    """The elements of a dataset of which a predicate is true; with `stops`, those before the first of which not."""
    return stepping_over(source, lambda rows: _Chosen(rows, holds, stops), source.cardinality and UNKNOWN)


class _Scanned:
    """What a function makes of a state and each element; the first of its results are the next state."""

    def __init__(self, source: Pass, first: Sequence[Any], function: Callable[..., Sequence[Any]]) -> None:
        self._source = source
        self._function = function
        self._state = tuple(first)

    def next(self) -> Element | None:
        element = next_of(self._source)
        if element is None:
            return None
        results = self._function(*self._state, *element)
        count = len(self._state)
        self._state = tuple(results[:count])
        return tuple(results[count:])

    def place(self) -> State:
        return {"state": self._state}

    def go_to(self, place: State) -> None:
        self._state = tuple(place["state"])


def scan_elements(
    source: Dataset, first: Sequence[Any], function: Callable[..., Sequence[Any]], preserves: bool
) -> Dataset:
    """What a function makes of a state and each element of a dataset, one after the other."""
    size = source.cardinality if preserves else UNKNOWN
    return stepping_over(source, lambda rows: _Scanned(rows, first, function), size)
