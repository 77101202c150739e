"""Branches and loops: JAX's `cond`, `scan` and `while_loop`, made of pieces of a graph that others know how to compute.

A branch whose predicate is known is taken now. Of a loop, what is known in every round is found first, by computing
nothing else: how many rounds there are, what stays the same, and what counts. If the number of rounds is known, the
loop is a `scan`, which can be differentiated either way; else it is a `while_loop`. Variables that rounds or branches
change are carried along. A loop of known length whose values change their shapes is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.errors import TensorKeepError
from tensorkeep.jax.forms import Form, put_together, require_same, require_same_shapes, taken_apart
from tensorkeep.jax.values import UNKNOWN, CannotTraceError, ListValue, Value, is_known, is_on_device, on_device

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing

_MOST_COUNTED: Final = 100_000  # rounds; a loop of more is left to JAX as one of unknown length
_MOST_WRITTEN_OUT: Final = 256  # rounds of a loop whose values change their shapes
_SMALL: Final = 4096  # elements of what may count rounds


def known_truth(value: Value) -> bool | None:
    """Whether a condition holds, if that is known: a scalar that is not zero, or another array that has elements."""
    if is_known(value):
        array = np.asarray(value)
        return array.size > 0 if array.ndim else bool(array.item())
    if is_on_device(value) and value.ndim:
        return bool(value.size)
    return None


# ---------------------------------------------------------------------------------------------------------- branches


def choose(tracing: Tracing, index: Value, sides: Sequence[Callable[[], list[Value]]]) -> list[Value]:
    """What one of several sides gives, by a number that the device computes; of two sides, by a truth value.

    Each gives as many values, of the same types and shapes. What is known and equal on all sides stays known.
    """
    keys = [key for key in tracing.changing if key in tracing.state]
    seen: list[tuple[list[Value], list[Form]]] = []

    def traced(side: Callable[[], list[Value]]) -> Callable[[], list[jax.Array]]:
        def compute() -> list[jax.Array]:
            with tracing.with_state({}):
                values = side()
                values = [*values, *(tracing.state[key] for key in keys)]
            arrays, forms = taken_apart(values)
            if seen:
                require_same(seen[0][1], forms, "what the branches give")
                require_same_shapes(seen_arrays, arrays, "what the branches give,")
            else:
                seen_arrays.extend(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)
            seen.append((values, forms))
            return arrays

        return compute

    seen_arrays: list[Any] = []
    number = on_device(index)
    branches = [traced(side) for side in sides]
    if len(branches) == 2:
        found = lax.cond(number != 0, branches[1], branches[0])
    else:
        count = len(branches)
        number = jnp.where((number < 0) | (number >= count), count - 1, number)
        found = lax.switch(number, branches)
    values = put_together(seen[0][1], found)
    for at in range(len(values)):
        given = [side[at] for side, _ in seen]
        if all(map(is_known, given)) and all(np.array_equal(given[0], other) for other in given[1:]):
            values[at] = given[0]
    results = values[: len(values) - len(keys)]
    tracing.state.update(zip(keys, values[len(results) :], strict=True))
    return results


# ------------------------------------------------------------------------------------------------------------- loops


@dataclass(frozen=True)
class Rounds:
    """A loop: what its variables are at first, whether another round comes, and what they are after it."""

    starts: list[Value]
    goes_on: Callable[[Sequence[Value]], Value]
    once: Callable[[Sequence[Value]], list[Value]]


@dataclass
class _Known:
    """What is known of a loop before it runs."""

    count: int | None = None
    """How many rounds it has."""
    same: dict[int, Value] = field(default_factory=dict)
    """Variables that stay what they are at first."""
    series: dict[int, list[Value]] = field(default_factory=dict)
    """Variables whose value is known in every round, and after the last."""


def repeat(tracing: Tracing, rounds: Rounds) -> list[Value]:
    """What the variables of a loop are after its last round."""
    if tracing.only_known:
        return _repeat_known(rounds)
    keys = [key for key in tracing.changing if key in tracing.state]
    with_state = _with_state(tracing, rounds, keys)
    with tracing.leaving_open():
        known = _known_of(rounds)
    found = _run_rounds(with_state, known)
    results = found[: len(rounds.starts)]
    tracing.state.update(zip(keys, found[len(results) :], strict=True))
    return results


def _run_rounds(rounds: Rounds, known: _Known) -> list[Value]:
    """What the variables of a loop are after its last round: by JAX's `while_loop`, or by `scan` if the number of
    rounds is known; a few rounds that cannot be scanned are written out.
    """
    if known.count is None:
        return _JaxLoop(rounds, known).run_while()
    if known.count == 0:
        return list(rounds.starts)
    if known.count == 1:
        return rounds.once(rounds.starts)
    try:
        return _JaxLoop(rounds, known).run_scan()
    except CannotTraceError:
        if known.count > _MOST_WRITTEN_OUT:
            raise
    values = list(rounds.starts)
    for _ in range(known.count):
        values = rounds.once(values)
    return values


def _with_state(tracing: Tracing, rounds: Rounds, keys: Sequence[object]) -> Rounds:
    """The loop with the variables that it may change, or that are changed with them, among its own."""
    count = len(rounds.starts)

    def goes_on(values: Sequence[Value]) -> Value:
        with tracing.with_state(dict(zip(keys, values[count:], strict=True))):
            return rounds.goes_on(values[:count])

    def once(values: Sequence[Value]) -> list[Value]:
        with tracing.with_state(dict(zip(keys, values[count:], strict=True))):
            found = rounds.once(values[:count])
            return [*found, *(tracing.state[key] for key in keys)]

    return Rounds([*rounds.starts, *(tracing.state[key] for key in keys)], goes_on, once)


def _repeat_known(rounds: Rounds) -> list[Value]:
    """A loop where only known values are computed."""
    values = list(rounds.starts)
    for _ in range(_MOST_COUNTED):
        goes_on = known_truth(rounds.goes_on(values))
        if goes_on is None:
            raise CannotTraceError("it is not known how often the loop runs")
        if not goes_on:
            return values
        values = rounds.once(values)
    raise CannotTraceError("the loop runs too often to be followed")


def _known_of(rounds: Rounds) -> _Known:
    """What is known of a loop. Only known values are computed meanwhile."""
    starts = rounds.starts
    held = [at for at, value in enumerate(starts) if not is_known(value) and not is_on_device(value)
            and not isinstance(value, ListValue) and value is not UNKNOWN]  # fmt: skip
    known = {at: value for at, value in enumerate(starts) if is_known(value) and value.size <= _SMALL}
    try:
        known = _stable(rounds, {**known, **{at: starts[at] for at in held}})
        same = _unchanged_values(rounds, known)
    except TensorKeepError:
        return _Known(same={at: starts[at] for at in held})
    found = _Known(same=same)
    _count(rounds, known, found)
    return found


def _partly_known_values(rounds: Rounds, known: dict[int, Value]) -> list[Value]:
    return [known.get(at, UNKNOWN) for at in range(len(rounds.starts))]


def _stable(rounds: Rounds, known: dict[int, Value]) -> dict[int, Value]:
    """Those of some variables that are known after a round if they are known before it."""
    return _lasting(rounds, known, _same_kind)


def _unchanged_values(rounds: Rounds, known: dict[int, Value]) -> dict[int, Value]:
    """Those of some variables that are the same after a round, whatever the others are."""
    return _lasting(rounds, known, _equal)


def _lasting(rounds: Rounds, known: dict[int, Value], lasts: Callable[[Value, Value], bool]) -> dict[int, Value]:
    """Those of some variables that last through a round in which no others are known."""
    kept = known
    while kept:
        before, after = kept, rounds.once(_partly_known_values(rounds, kept))
        kept = {at: value for at, value in before.items() if lasts(value, after[at])}
        if len(kept) == len(before):
            break
    return kept


def _same_kind(before: Value, after: Value) -> bool:
    if not is_known(before):
        return before is after
    return is_known(after) and after.shape == before.shape and after.dtype == before.dtype


def _equal(before: Value, after: Value) -> bool:
    return before is after or (is_known(before) and is_known(after) and np.array_equal(before, after))


def _count(rounds: Rounds, known: dict[int, Value], found: _Known) -> None:
    """Follows the known variables through all rounds, if they alone say how many there are."""
    varying = [at for at in known if at not in found.same]
    series: dict[int, list[Value]] = {at: [known[at]] for at in varying}
    values = dict(known)
    for number in range(_MOST_COUNTED):
        goes_on = known_truth(rounds.goes_on(_partly_known_values(rounds, values)))
        if goes_on is None:
            return
        if not goes_on:
            found.count, found.series = number, series
            return
        after = rounds.once(_partly_known_values(rounds, values))
        if not all(_same_kind(value, after[at]) for at, value in values.items()):
            return
        values = {at: after[at] for at in values}
        for at in varying:
            series[at].append(values[at])


class _JaxLoop:
    """A loop on its way to JAX: which variables it carries, and how."""

    def __init__(self, rounds: Rounds, known: _Known) -> None:
        self._rounds = rounds
        self._known = known
        self._starts = list(rounds.starts)
        self._fixed: dict[int, Value] = dict(known.same)
        """Variables that are the same in every round."""
        self._steps: dict[int, int] = {}
        """Lists that rounds add to or take from: by how many tensors each."""
        self._carried = [at for at in range(len(self._starts)) if at not in self._fixed and at not in known.series]

    def run_scan(self) -> list[Value]:
        """Runs a loop of known length."""
        self._settle()
        count = self._known.count
        assert count is not None
        given = {at: on_device(np.stack(values[:count])) for at, values in self._known.series.items()}
        arrays, forms = taken_apart([self._starts[at] for at in self._carried])

        def body(carry: list[jax.Array], known: dict[int, jax.Array]) -> tuple[list[jax.Array], None]:
            after = self._once(put_together(forms, carry), known)
            return self._checked(carry, forms, after), None

        last, _ = lax.scan(body, arrays, given, length=count)
        return self._finished(put_together(forms, last))

    def run_while(self) -> list[Value]:
        """Runs a loop until its condition does not hold any more."""
        self._settle()
        if self._steps:
            raise CannotTraceError(
                "rounds of a loop add to a list or take from it, and how many rounds there are is not known"
            )
        arrays, forms = taken_apart([self._starts[at] for at in self._carried])

        def goes_on(carry: Sequence[jax.Array]) -> Any:
            condition = self._rounds.goes_on(self._values(put_together(forms, carry), {}))
            truth = known_truth(condition)
            return on_device(condition) != 0 if truth is None else jnp.asarray(truth)

        def body(carry: Sequence[jax.Array]) -> Sequence[jax.Array]:
            return self._checked(carry, forms, self._once(put_together(forms, carry), {}))

        return self._finished(put_together(forms, lax.while_loop(goes_on, body, arrays)))

    def _values(self, carried: Sequence[Value], known: dict[int, Any]) -> list[Value]:
        by_place = {**self._fixed, **known, **dict(zip(self._carried, carried, strict=True))}
        return [by_place[at] for at in range(len(self._starts))]

    def _once(self, carried: Sequence[Value], known: dict[int, Any]) -> list[Value]:
        after = self._rounds.once(self._values(carried, known))
        return [after[at] for at in self._carried]

    def _checked(self, carry: Sequence[jax.Array], forms: Sequence[Form], after: list[Value]) -> list[jax.Array]:
        arrays, own = taken_apart(after)
        require_same(forms, own, "what rounds of the loop give")
        require_same_shapes(carry, arrays, "what rounds of the loop give,")
        return arrays

    def _finished(self, carried: Sequence[Value]) -> list[Value]:
        last = {at: values[-1] for at, values in self._known.series.items()}
        values = self._values(carried, last)
        for at, step in self._steps.items():  # how long lists are is known again
            count, before = self._known.count, self._rounds.starts[at]
            assert count is not None
            values[at] = values[at].replaced(values[at].rows, before.known_length + step * count)
        return values

    # ------------------------------------------------------------------------------------------------ lists

    def _settle(self) -> None:
        """Finds out, by tracing a round and forgetting it, what stays the same and how lists grow."""
        for _ in range(4):
            arrays, forms = taken_apart([self._starts[at] for at in self._carried])
            known = {at: on_device(values[0]) for at, values in self._known.series.items()}
            before: list[Value] = []
            after: list[Value] = []

            def trial(carry: list[jax.Array], known: dict[int, Any], forms: list[Form] = forms,
                      before: list[Value] = before, after: list[Value] = after) -> list[jax.Array]:  # fmt: skip
                before[:] = put_together(forms, carry)
                after[:] = self._once(before, known)
                return []

            jax.eval_shape(trial, arrays, known)
            if not self._changed_by(before, after):
                return
        raise CannotTraceError("the shapes of its lists change from round to round")

    def _changed_by(self, before: Sequence[Value], after: Sequence[Value]) -> bool:
        """Takes what a round did as what every round does; says whether another must be looked at."""
        again = False
        for at, old, new in zip(list(self._carried), before, after, strict=True):
            if old is new:
                self._carried.remove(at)
                self._fixed[at] = self._starts[at]
            elif isinstance(old, ListValue) and isinstance(new, ListValue):
                again = self._settle_list(at, old, new) or again
        return again

    def _settle_list(self, at: int, old: ListValue, new: ListValue) -> bool:
        start = self._starts[at]
        step = new.length - old.length if isinstance(new.length, int) and isinstance(old.length, int) else 0
        if old.rows is None and new.rows is not None and not step:
            self._starts[at] = start.with_rows(new.rows.shape[1:])
            return True
        if not step:
            return False
        self._steps[at] = step
        if self._known.count is None:
            return False
        length = start.known_length
        capacity = length + max(step, 0) * self._known.count
        held = new.rows if new.rows is not None else old.rows
        assert held is not None, "a list that rounds add to or take from has rows after one"
        element = held.shape[1:]
        roomy = start.with_rows(element)
        rows = jnp.asarray(roomy.rows)
        rows = jnp.pad(rows, [(0, max(capacity - rows.shape[0], 0))] + [(0, 0)] * (rows.ndim - 1))
        self._starts[at] = roomy.replaced(rows, jnp.asarray(length, jnp.int32))
        return True
