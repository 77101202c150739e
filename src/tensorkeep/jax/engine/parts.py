"""A part on the device: compiled for the shapes that come, with the memory of variables used again.

    arrays, variables ──▶ one compiled call ──▶ outputs, new values of the variables that it changes

A call is compiled for the types and shapes of what it is given, and for the values of what decides shapes. The memory
of variables that it changes is given to it. A call in which our kernels would have failed gives all of them back as
they were, and our kernels run the part, so that the error is theirs. So they do where JAX cannot trace a part after
all; the operation at fault then stays on the host, and the rest of the part is split anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from tensorkeep.devices.jax_arrays import is_exhaustion
from tensorkeep.errors import AbortedError, ResourceExhaustedError, TensorKeepError, UnknownError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.jax.bodies import Bodies
from tensorkeep.jax.engine.device_values import DeviceValue, host_copy, lock_variables, value_on
from tensorkeep.jax.engine.step_tracing import FAILED, StepTracing, place_of, words_of
from tensorkeep.jax.survey import survey_items
from tensorkeep.jax.values import CannotTraceError, is_known, on_device
from tensorkeep.ops.random.philox import PhiloxStream
from tensorkeep.ops.random.sampling import stream_of
from tensorkeep.runtime.context import LOG
from tensorkeep.runtime.partitions.engines import Own, PlanToSplit, operations_in
from tensorkeep.runtime.plans.blocks import Block, Item, Step
from tensorkeep.runtime.plans.plan import Plan
from tensorkeep.runtime.resources import VariableResource

_MANY_SHAPES: Final = 16  # for which a part is compiled before that is said
_MOST_CALLS: Final = 64  # compiled calls of a part that are kept


@dataclass(eq=False)
class Device:
    """What the parts of an engine share: where they run, one at a time."""

    place: Any
    precision: Any
    bodies: Bodies = field(default_factory=Bodies)
    lock: Any = field(default_factory=RLock)
    refused: set[Operation] = field(default_factory=set)
    """Operations that turned out not to be traceable."""

    @contextmanager
    def settings(self) -> Iterator[None]:
        """Has JAX compute with all bits, on the device."""
        with jax.enable_x64(True), jax.default_device(self.place):
            yield


@dataclass(frozen=True, eq=False)
class PartEnds:
    """The items of a part, and what goes in and out."""

    items: tuple[Item, ...]
    arrays: tuple[Tensor, ...]
    """What it takes, but for handles."""
    handles: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    known: frozenset[Tensor]
    """Those of the arrays that decide shapes: a call is compiled for their values."""
    staying: frozenset[Tensor]
    """Those of the outputs that only other parts take, and that stay on the device."""


@dataclass(eq=False)
class _Call:
    """A compiled call, and how it is called."""

    run: Callable[..., Any]
    changed: tuple[int, ...]
    """Of the variables, those that it may change."""
    given: tuple[int, ...]
    """Of these, those that have a value before."""
    read: tuple[int, ...]
    """Variables that it reads only."""
    streams: tuple[tuple[PhiloxStream, Operation, bool], ...]
    """Streams of random numbers, and whether how far they get is known only afterwards."""
    traced: list[StepTracing] = field(default_factory=list)
    fixed: dict[int, Any] = field(default_factory=dict)
    """Outputs that were known when it was traced, and handles, by number."""


class JaxPart:
    """A part that runs on the device."""

    def __init__(self, device: Device, ends: PartEnds, question: PlanToSplit) -> None:
        self._device = device
        self._ends = ends
        self._question = question
        self._inner: dict[Operation, VariableResource] = {}
        self._calls: dict[Any, _Call] = {}
        self._compiled = 0
        self._instead: Own | None = None
        self._own: Own | None = None
        self._ops = tuple(dict.fromkeys(op for item in ends.items for op in operations_in(item)))

    def __call__(self, *values: Any) -> Sequence[Any]:
        if self._instead is not None:
            return self._instead(*map(_on_host, values))
        count = len(self._ends.arrays)
        arrays, handles = values[:count], values[count:]
        if any(type(handle) is not VariableResource for handle in handles):
            return self._by_kernels()(*map(_on_host, values))
        with self._device.lock:
            variables = self._variables(handles)
            with lock_variables(variables), self._device.settings():
                try:
                    return self._run(arrays, handles, variables)
                except TensorKeepError as error:
                    return self._run_otherwise(error, values, handles, variables)
                except _DeviceError as error:
                    raise error.told from error.__cause__

    def _variables(self, handles: Sequence[VariableResource]) -> list[VariableResource]:
        """The variables that it is given, and those that its functions find by their names, each once."""
        for op, known in self._inner.items():
            if self._question.kernels.lasting_resource(op) is not known:  # it was deleted, and made anew
                self._calls.clear()
                self._inner.clear()
                break
        return list(dict.fromkeys((*handles, *self._inner.values())))

    # ------------------------------------------------------------------------------------------------- one call

    def _run(
        self, arrays: Sequence[Any], handles: Sequence[VariableResource], variables: list[VariableResource]
    ) -> list[Any]:
        key = self._key(arrays, handles, variables)
        call = self._calls.get(key)
        if call is None:
            call = self._prepared(arrays, handles, variables)
        order = {variable: number for number, variable in enumerate(variables)}
        if any(variable not in order for variable in self._inner.values()):  # those of functions have just been found
            more = [variable for variable in dict.fromkeys(self._inner.values()) if variable not in order]
            with lock_variables(more):
                return self._run(arrays, handles, [*variables, *more])
        there = self._on_device([variables[at] for at in (*call.given, *call.read)])
        given, read = there[: len(call.given)], there[len(call.given) :]
        places = [words_of(stream.place) for stream, _, _ in call.streams]
        try:
            values = [self._sent(array) for tensor, array in zip(self._ends.arrays, arrays, strict=True)
                      if tensor not in self._ends.known]  # fmt: skip
            outputs, new, ends, failed = call.run(given, read, places, values)
            # The caller may change its arrays from now on: on a CPU they are in use until all is done, otherwise until
            # they have been brought to the device, which computes meanwhile.
            jax.block_until_ready((outputs, new) if self._device.place.platform == "cpu" else values)
        except TensorKeepError:
            raise
        except Exception as error:
            raise self._explained(error, variables, call, given) from error
        self._calls[key] = call
        traced = call.traced[0]
        is_failed = traced.has_checks and bool(np.asarray(failed))
        for at, value in zip(call.changed, new, strict=True):
            if not is_failed or at in call.given:
                variables[at].move(DeviceValue(value))
        if is_failed:
            raise _NotedError("our kernels would have failed")
        for (stream, op, is_inside), words in zip(call.streams, ends, strict=True):
            if is_inside:
                stream.go_on_at(place_of(words))
            else:
                stream.reserve(traced.drawn[op])
        return self._handed_back(call, outputs)

    def _on_device(self, variables: Sequence[VariableResource]) -> list[Any]:
        """The values of variables on the device. If they do not all fit, those brought just now are let go."""
        found: list[Any] = []
        brought: list[tuple[VariableResource, Any]] = []
        for variable in variables:
            before = variable.elsewhere
            try:
                found.append(value_on(self._device.place, variable))
            except jax.errors.JaxRuntimeError as error:
                for other, array in brought:
                    other.mirror(None)
                    array.delete()
                text = str(error).partition("\n")[0]
                kind = ResourceExhaustedError if is_exhaustion(error) else UnknownError
                told = f'{text}, on {self._device.place}, where the variable "{variable.name}" was to go'
                raise _DeviceError(kind(told)) from None
            if variable.elsewhere is not before:
                brought.append((variable, found[-1]))
        return found

    def _sent(self, array: Any) -> Any:
        """An array to be taken by a call: as it is, or on its way to the device, if that has other memory."""
        if isinstance(array, jax.Array):
            return array
        array = np.asarray(array)
        return array if self._device.place.platform == "cpu" else jax.device_put(array, self._device.place)

    def _handed_back(self, call: _Call, outputs: Sequence[Any]) -> list[Any]:
        """What the part gives. All that goes to the host is on its way before the first is waited for."""
        values = iter(outputs)
        found = [call.fixed[at] if at in call.fixed else next(values) for at in range(len(self._ends.outputs))]
        leaving = [
            at for at, tensor in enumerate(self._ends.outputs)
            if at not in call.fixed and tensor not in self._ends.staying
        ]  # fmt: skip
        for at in leaving:
            found[at].copy_to_host_async()
        for at in leaving:
            found[at] = host_copy(found[at])
        return found

    def _key(
        self, arrays: Sequence[Any], handles: Sequence[VariableResource], variables: Sequence[VariableResource]
    ) -> Any:
        """By what a compiled call is found again: types and shapes of its inputs, and the values that are known."""
        places = {id(variable): number for number, variable in enumerate(variables)}
        kinds = []
        for tensor, array in zip(self._ends.arrays, arrays, strict=True):
            kind = (np.shape(array), array.dtype)
            kinds.append((*kind, np.asarray(array).tobytes()) if tensor in self._ends.known else kind)
        return (
            tuple(kinds),
            tuple(places[id(handle)] for handle in handles),
            tuple((variable.value_shape, variable.dtype) for variable in variables),
        )

    # -------------------------------------------------------------------------------------------------- compiling

    def _prepared(
        self, arrays: Sequence[Any], handles: Sequence[VariableResource], variables: list[VariableResource]
    ) -> _Call:
        """A call for values like these; JAX traces and compiles it when it is first called."""
        ends = self._ends
        fixed = {tensor: np.asarray(array) for tensor, array in zip(ends.arrays, arrays, strict=True)
                 if tensor in ends.known}  # fmt: skip
        led = dict(zip(ends.handles, handles, strict=True))
        items = [(tuple(dict.fromkeys(operations_in(item))), not isinstance(item, Step)) for item in ends.items]
        surveyed = survey_items(items, led, ends.known, self._device.bodies, self._resource_of, ())
        found = surveyed.found
        known = list(dict.fromkeys((*variables, *self._inner.values())))
        changed = [at for at, variable in enumerate(known) if variable in found.changed]
        if any(not known[at].is_initialized for at in changed) and any(is_flow for _, is_flow in items):
            raise _NotNowError("a branch or loop may give a variable its first value")
        streams = tuple(
            (stream_of(self._question.kernels.context(op), op.attr("seed"), op.attr("seed2")), op, is_inside)
            for op, is_inside in found.random.items()
        )
        read = [at for at, variable in enumerate(known) if variable.is_initialized and at not in changed]
        given = tuple(at for at in changed if known[at].is_initialized)
        call = _Call(lambda *_: None, tuple(changed), given, tuple(read), streams)
        entering = [tensor for tensor in ends.arrays if tensor not in ends.known]

        def traced(given: list[Any], read: list[Any], places: list[Any], values: list[Any]) -> Any:
            return self._traced(call, known, {**led, **fixed, **dict(zip(entering, values, strict=True))},
                                (given, read, places))  # fmt: skip

        call.run = jax.jit(traced, donate_argnums=0)
        self._note_compiling()
        return call

    def _traced(
        self, call: _Call, known: Sequence[VariableResource], values: dict[Tensor, Any], state: Sequence[list[Any]]
    ) -> Any:
        """What JAX traces: the outputs, the new values of variables, the ends of streams, and whether it failed."""
        given, read, places = state
        before: dict[object, Any] = {known[at]: array for at, array in zip(call.given, given, strict=True)}
        begun: dict[object, Any] = {**before, FAILED: jnp.zeros((), bool)}
        begun.update((known[at], array) for at, array in zip(call.read, read, strict=True))
        begun.update((op, jnp.asarray(words)) for (_, op, _), words in zip(call.streams, places, strict=True))
        changing = [*(known[at] for at in call.changed), *(op for _, op, _ in call.streams), FAILED]
        tracing = StepTracing(
            self._device.bodies, self._resource_of, begun, changing=changing, precision=self._device.precision
        )
        tracing.run_block(Block(items=list(self._ends.items)), values)
        entered = {id(array) for group in state for array in group} | {id(array) for array in values.values()}
        outputs = self._outputs(call, values, entered)
        failed = tracing.state[FAILED]
        new = []
        for at in call.changed:
            after = tracing.state.get(known[at])
            if after is None:
                raise CannotTraceError(f'the variable "{known[at].name}" gets no value in every run')
            new.append(
                _value_unless_failed(
                    on_device(after), before.get(known[at]), failed if tracing.has_checks else None, entered
                )
            )
        call.traced[:] = [tracing]
        return outputs, new, [tracing.state[op] for _, op, _ in call.streams], failed

    def _outputs(self, call: _Call, values: Mapping[Tensor, Any], entered: set[int]) -> list[Any]:
        outputs = []
        for at, tensor in enumerate(self._ends.outputs):
            value = values.get(tensor)
            if value is None or not (is_known(value) or isinstance(value, jax.Array | VariableResource)):
                error = CannotTraceError(f'"{tensor.name}" is no array that could be handed back')
                error.op = tensor.op
                raise error
            if is_known(value) or isinstance(value, VariableResource):
                call.fixed[at] = value
            else:
                outputs.append(jnp.copy(value) if id(value) in entered else value)
        return outputs

    def _resource_of(self, op: Operation) -> object:
        """What an operation in a function gives that makes a variable."""
        found = self._question.kernels.shared_resource(op)
        if isinstance(found, VariableResource):
            self._inner[op] = found
        return found

    def _note_compiling(self) -> None:
        self._compiled += 1
        if len(self._calls) >= _MOST_CALLS:
            self._calls.pop(next(iter(self._calls)))
        if self._compiled == _MANY_SHAPES:
            LOG.warning(
                'engine "jax": the part of the graph that begins with "%s" (%s) has been compiled for %d different '
                "shapes of what it is given; each takes as long as the first. Batches of one size would be faster",
                self._ops[0].name, self._ops[0].type, _MANY_SHAPES,
            )  # fmt: skip

    # ---------------------------------------------------------------------------------------------- other than that

    def _run_otherwise(
        self, error: TensorKeepError, values: Sequence[Any], handles: Sequence[VariableResource],
        variables: Sequence[VariableResource],
    ) -> Sequence[Any]:  # fmt: skip
        """Has our kernels run the part. If they fail, variables are what they were; if not, the operation that could
        not be traced stays on the host from now on.
        """
        saved = [variable.held() for variable in variables]
        try:
            results = self._by_kernels()(*map(_on_host, values))
        except BaseException:
            for variable, held in zip(variables, saved, strict=True):
                variable.put_back(held)
            raise
        if not isinstance(error, _NotNowError):
            LOG.warning('engine "jax": an operation turned out not to be traceable, and runs on the host: %s', error)
            if isinstance(error.op, Operation) and error.op in self._ops:
                self._device.refused.add(error.op)
                led = dict(zip(self._ends.handles, handles, strict=True))
                self._instead = self._question.anew(self._plan, self._ends.items, led)
            else:
                self._instead = self._by_kernels()
        return results

    @property
    def _plan(self) -> Plan:
        return Plan((*self._ends.arrays, *self._ends.handles), self._ends.outputs, self._ops)

    def _by_kernels(self) -> Own:
        if self._own is None:
            self._own = self._question.own(self._plan, self._ends.items)
        return self._own

    def _explained(
        self, error: Exception, variables: Sequence[VariableResource], call: _Call, given: Sequence[Any]
    ) -> Exception:
        """What to raise for an error of JAX. Variables that are lost with it are named; where none is and memory is not
        the reason, our kernels run the part.
        """
        text = str(error).partition("\n")[0] or type(error).__name__
        lost = []
        for at, array in zip(call.given, given, strict=True):
            if array.is_deleted():
                variable = variables[at]
                if variable.held()[0] is None:
                    lost.append(variable.name)
                    variable.clear()
                else:
                    variable.mirror(None)
        where = f'on {self._device.place}, at "{self._ops[0].name}" ({self._ops[0].type}) and what follows it'
        if lost:  # a training loop restores its variables after an AbortedError
            return _DeviceError(AbortedError(
                f"{text}, {where}. The memory of variables was given to the step, and their values are lost: "
                f"{', '.join(lost)}. Restore them from a checkpoint"
            ))  # fmt: skip
        if "RESOURCE_EXHAUSTED" in text:
            return _DeviceError(ResourceExhaustedError(f"{text}, {where}"))
        return CannotTraceError(text)


def _value_unless_failed(after: Any, before: Any, failed: Any, entered: set[int]) -> Any:
    """The new value of a variable; the old one if the step failed. Never another variable's own memory."""
    if before is not None and after is not before and failed is not None:
        if after.shape != before.shape:
            raise CannotTraceError("a variable gets a value of another shape in a step that may fail")
        return jnp.where(failed, before, after)
    return jnp.copy(after) if after is not before and id(after) in entered else after


def _on_host(value: Any) -> Any:
    return host_copy(value) if isinstance(value, jax.Array) else value


class _NotNowError(TensorKeepError):
    """Our kernels run a part this time; the device may run it another time."""


class _NotedError(_NotNowError):
    """Something was noted on the device that our kernels refuse."""


class _DeviceError(Exception):
    """An error of the device, about which our kernels are not asked."""

    def __init__(self, told: TensorKeepError) -> None:
        super().__init__(str(told))
        self.told = told
