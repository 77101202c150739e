"""A graph as a computation of JAX: its operations are gone through in order, and each is computed by its lowering.

What depends on known values alone is computed now, by our kernels: shapes, and all that is worked out from them. What
depends on parameters or inputs is JAX's. Functions are gone through where they are called; branches and loops are those
of `branches_and_loops`. An operation that cannot be traced raises an error that names it and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import jax
import numpy as np

import tensorkeep.jax.lowerings.every  # noqa: F401 - makes the lowerings known
from tensorkeep.dtypes import RESOURCE, STRING
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import flatten, group, kernel_of, keyword_names
from tensorkeep.jax.bodies import CALLS, VARIABLES, Bodies, Facts
from tensorkeep.jax.branches_and_loops import Rounds, choose, known_truth, repeat
from tensorkeep.jax.philox import Generator
from tensorkeep.jax.values import UNKNOWN, CannotTraceError, NotKnownError, Value, as_type, is_known, on_device
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Loop, Step, merged_in
from tensorkeep.runtime.plans.program import as_strings
from tensorkeep.runtime.resources import VariableResource

ResourceOf = Callable[[Operation], object]
"""What an operation gives that makes a resource: a variable, a table. None if that cannot be had."""

KEY: Final = "the key of random numbers"
"""What the state of a trace has the key of the next random number under."""

_PASSING: Final = frozenset(("Enter", "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit", "RefNextIteration"))
_SWITCHES: Final = frozenset(("Switch", "RefSwitch"))
_SPREADING: Final = frozenset(("Fill", "BroadcastTo", "Tile", "ZerosLike", "OnesLike", "OneHot", "MatrixDiagV3"))
_MOST_SPREAD: Final = 1 << 14  # elements; what is larger is made on the device
_DEEPEST: Final = 100  # calls in each other


class Tracing:
    """One trace of a model: the values of what it changes, and the operation that is being traced."""

    def __init__(
        self,
        bodies: Bodies,
        resource_of: ResourceOf,
        state: Mapping[object, Value],
        *,
        changing: Sequence[object] = (),
        precision: Any = None,
    ) -> None:
        """`state` has the values of variables, and a key under `KEY` if random numbers may be drawn. What is in
        `changing` may have another value in the end.
        """
        self.bodies = bodies
        self.state = dict(state)
        self.changing = list(changing)
        self.precision = jax.lax.Precision.HIGHEST if precision is None else precision
        self.only_known = False
        self.is_certain = True
        """Whether what is traced runs whenever the function does: not the sides of branches, nor rounds of loops."""
        self.scope = ""
        self.operation: Operation | None = None
        self._resource_of = resource_of
        self._depth = 0

    # ------------------------------------------------------------------------------------------------ state

    def read(self, variable: object) -> Value:
        """The value that a variable has now."""
        found = self.state.get(variable)
        if found is None:
            name = getattr(variable, "name", variable)
            raise CannotTraceError(f'the variable "{name}" has no value: restore or initialize it first')
        return found

    def assign(self, variable: object, value: Value) -> None:
        """Gives a variable another value."""
        if variable not in self.changing:
            self.changing.append(variable)
        self.state[variable] = value

    def next_key(self) -> Any:
        """A key for random numbers, another one at each call."""
        if self.only_known:
            raise CannotTraceError("random numbers are not known")
        key = self.state.get(KEY)
        if key is None:
            raise CannotTraceError("it draws random numbers, and no key is given")
        following, own = jax.random.split(key)
        self.state[KEY] = following
        return own

    def generator(self, count: int) -> Generator:
        """A place in a stream of random words, for the operation that is traced and draws so many numbers."""
        return Generator(jax.random.key_data(self.next_key()).astype("uint32")[:2], jax.numpy.zeros(4, "uint32"))

    @contextmanager
    def with_state(self, values: Mapping[object, Value]) -> Iterator[None]:
        """Lets variables have other values for a while; afterwards the state is what it was."""
        saved, self.state = self.state, {**self.state, **values}
        was_certain, self.is_certain = self.is_certain, False
        try:
            yield
        finally:
            self.state, self.is_certain = saved, was_certain

    @contextmanager
    def leaving_open(self) -> Iterator[None]:
        """Computes only what is known for a while; everything else is UNKNOWN."""
        saved, self.only_known = self.only_known, True
        try:
            with self.with_state({key: UNKNOWN for key in self.changing if key in self.state}):
                yield
        finally:
            self.only_known = saved

    # ----------------------------------------------------------------------------------------------- graphs

    def compute(
        self, fetches: Sequence[Tensor], given: Mapping[Tensor, Value], targets: Sequence[Operation] = ()
    ) -> list[Value]:
        """The values of tensors, given those of others."""
        values = dict(given)
        self.run_block(self.bodies.block(fetches, targets, tuple(given)), values)
        missing = [tensor.name for tensor in fetches if tensor not in values]
        if missing:
            raise CannotTraceError(f'"{self.scope}{missing[0]}" has a value only if a branch is taken')
        return [values[tensor] for tensor in fetches]

    def run_block(self, block: Block, values: dict[Tensor, Value]) -> None:
        """Computes what is in a block: operations, and the branches and loops of TensorFlow 1."""
        earlier: dict[tuple[Tensor, bool], list[Block]] = {}
        for item in block.items:
            if isinstance(item, Step):
                self.step(item.op, values)
            elif isinstance(item, Arm):
                _take_arm(item, values)
            elif isinstance(item, Choice):
                self._choice(item, values, earlier)
            else:
                assert isinstance(item, Loop), "a plan that is traced has no parts that another engine runs"
                self._loop(item, values)

    def _choice(
        self, item: Choice, values: dict[Tensor, Value], earlier: dict[tuple[Tensor, bool], list[Block]]
    ) -> None:
        """A branch of TensorFlow 1: what merges take are the results of both sides.

        A side may use what the same side of an earlier branch by the same predicate computes; that is computed again.
        """
        predicate, blocks = item.predicate, (item.then, item.otherwise)
        merges = [merge for merge in merged_in(item.then) if merge in set(merged_in(item.otherwise))]
        wanted = [tensor for merge in merges for tensor in merge.outputs if not tensor.index or tensor.consumers()]
        known = known_truth(values[predicate])
        if known is not None:  # what it computes may be used by others that are chosen with it
            self.run_block(blocks[not known], values)
            return
        if self.only_known:
            values.update((tensor, UNKNOWN) for tensor in wanted)
            return

        def side(truth: bool) -> Callable[[], list[Value]]:
            def compute() -> list[Value]:
                own = dict(values)
                for block in earlier.get((predicate, truth), ()):
                    self.run_block(block, own)
                self.run_block(blocks[not truth], own)
                return [own[tensor] for tensor in wanted]

            return compute

        at = merges[0] if merges else predicate.op
        found = self._at(at, lambda: choose(self, values[predicate], [side(False), side(True)]))
        values.update(zip(wanted, found, strict=True))
        for truth in (True, False):
            earlier.setdefault((predicate, truth), []).append(blocks[not truth])

    def _loop(self, item: Loop, values: dict[Tensor, Value]) -> None:
        """A loop of TensorFlow 1."""
        variables = [variable for variable in item.variables if variable.start in values]

        def with_variables(given: Sequence[Value]) -> dict[Tensor, Value]:
            own = dict(values)
            own.update((variable.merge.outputs[0], value) for variable, value in zip(variables, given, strict=True))
            return own

        def goes_on(given: Sequence[Value]) -> Value:
            own = with_variables(given)
            self.run_block(item.header, own)
            return own[item.condition]

        def once(given: Sequence[Value]) -> list[Value]:
            own = with_variables(given)
            self.run_block(item.header, own)
            self.run_block(item.body, own)
            return [own[variable.following] for variable in variables]

        rounds = Rounds([values[variable.start] for variable in variables], goes_on, once)
        own = with_variables(self._at(item.op, lambda: repeat(self, rounds)))
        self.run_block(item.header, own)
        self.run_block(item.after, own)
        for tensor, value in own.items():
            values.setdefault(tensor, value)

    # -------------------------------------------------------------------------------------------- operations

    def step(self, op: Operation, values: dict[Tensor, Value]) -> None:
        """Computes one operation."""
        if op.outputs and all(tensor in values for tensor in op.outputs):
            return
        missing = [tensor.name for tensor in op.inputs if tensor not in values]
        if missing:
            raise CannotTraceError(f'"{self.scope}{op.name}" ({op.type}): its input "{missing[0]}" has no value here')
        inputs = [values[tensor] for tensor in op.inputs]
        if self.only_known:
            results = self._known_results(op, inputs)
        else:
            results = self._at(op, lambda: self._results(op, inputs))
        values.update(zip(op.outputs, results, strict=True))

    def _at(self, op: Operation, function: Callable[[], Any]) -> Any:
        """Calls a function, and has its errors name an operation."""
        saved, self.operation = self.operation, op
        try:
            return function()
        except TensorKeepError as error:
            raise _error_naming(error, self.scope, op) from error
        except RecursionError as error:
            text = "its functions, branches and loops are too deep in each other"
            raise _error_naming(CannotTraceError(text), self.scope, op) from error
        except (TypeError, ValueError, IndexError, NotImplementedError) as error:
            raise _error_naming(InvalidArgumentError(str(error).partition("\n")[0]), self.scope, op) from error
        finally:
            self.operation = saved

    def _known_results(self, op: Operation, inputs: list[Value]) -> list[Value]:
        """What is known of an operation's results, where only that is wanted."""
        if any(value is UNKNOWN for value in inputs) and not _calls(op):
            return [UNKNOWN] * len(op.outputs)
        try:
            results = self._at(op, lambda: self._results(op, inputs))
        except TensorKeepError:
            return [UNKNOWN] * len(op.outputs)
        return [UNKNOWN if isinstance(value, jax.Array) else value for value in results]

    def _results(self, op: Operation, inputs: list[Value]) -> list[Value]:
        facts = self.bodies.facts(op)
        if facts.constant is not None:
            return [facts.constant]
        if op.type in _SWITCHES:
            return [inputs[0], inputs[0]]
        if op.type in _PASSING:
            return [inputs[0]]
        if op.type in VARIABLES or any(tensor.dtype is RESOURCE for tensor in op.outputs):
            held = self._resource_of(op)
            if held is not None:
                return [held for _ in op.outputs]
        if any(facts.reads):
            inputs = [self._read(value) if reads else value for value, reads in zip(inputs, facts.reads, strict=True)]
        if _calls(op):
            return self._called(op, inputs)
        if facts.is_pure and all(map(is_known, inputs)) and not _spreads(op, inputs):
            return self._computed(op, inputs)
        return self.lowered(op, facts, inputs)

    def _read(self, value: Value) -> Value:
        return self.read(value) if isinstance(value, VariableResource) else value

    def _computed(self, op: Operation, inputs: list[Value]) -> list[Value]:
        """What an operation's kernel gives for known inputs."""
        kernel = kernel_of(op.spec)
        arrays: list[Any] = [np.asarray(value) for value in inputs]
        arguments = group(op.spec.schema.inputs, arrays, op.attr) if op.spec.has_list_inputs else arrays
        with np.errstate(all="ignore"):
            found = flatten(kernel(*arguments, **{name: op.attr(name) for name in keyword_names(kernel)}))
        if any(tensor.dtype is STRING for tensor in op.outputs):
            found = as_strings(found)
        return [np.asarray(item) for item in found]

    def lowered(self, op: Operation, facts: Facts, inputs: list[Value]) -> list[Value]:
        """What an operation's lowering gives."""
        found = facts.lowering
        if found is None:
            raise CannotTraceError(f"{op.type} has no lowering to JAX")
        if self.only_known and not (found.of_shapes or found.raw):
            raise CannotTraceError("it is not known")
        arguments = group(op.spec.schema.inputs, inputs, op.attr) if op.spec.has_list_inputs else inputs
        if not found.raw:
            names = found.function.__code__.co_varnames[found.takes_tracing : found.function.__code__.co_argcount]
            arguments = [
                _known_argument(value, names[at])
                if at < len(names) and names[at] in found.known
                else _device_argument(value)
                for at, value in enumerate(arguments)
            ]
        first = [self] if found.takes_tracing else []
        attrs = {name: op.attr(name) for name in found.attrs}
        results = flatten(found.function(*first, *arguments, **attrs))
        assert len(results) == len(op.outputs), f"{op.type} gave {len(results)} of {len(op.outputs)} results"
        return [as_type(value, tensor.dtype) for value, tensor in zip(results, op.outputs, strict=True)]

    # --------------------------------------------------------------------------------------------- functions

    def call(self, op: Operation, reference: FunctionRef, arguments: Sequence[Value]) -> list[Value]:
        """What a function of the graph's library gives."""
        if self._depth >= _DEEPEST:
            raise CannotTraceError(f"functions call each other more than {_DEEPEST} deep")
        body = self.bodies.body(op, reference)
        if len(arguments) != len(body.inputs):
            raise InvalidArgumentError(
                f"function '{reference.name}' takes {len(body.inputs)} arguments, but is called with {len(arguments)}"
            )
        saved, self.scope = self.scope, f"{self.scope}{op.name}/"
        self._depth += 1
        try:
            return self.compute(body.outputs, dict(zip(body.inputs, arguments, strict=True)), body.controls)
        finally:
            self.scope = saved
            self._depth -= 1

    def _called(self, op: Operation, inputs: list[Value]) -> list[Value]:
        if op.type not in CALLS:
            return self.call(op, FunctionRef(op.type, dict(op.attrs)), inputs)
        reference = op.attr("f")
        assert isinstance(reference, FunctionRef)
        return self.call(op, reference, inputs[1:] if op.type == "RemoteCall" else inputs)


def _calls(op: Operation) -> bool:
    return op.type in CALLS or op.type in op.graph.functions


def _spreads(op: Operation, inputs: Sequence[Value]) -> bool:
    """Whether an operation makes so much of known inputs that it had better be computed on the device than copied
    there.
    """
    if op.type not in _SPREADING:
        return False
    if op.type in ("Fill", "BroadcastTo"):
        return int(np.prod(inputs[0 if op.type == "Fill" else 1], dtype=np.int64)) > _MOST_SPREAD
    return bool(inputs[0].size * (np.prod(inputs[1], dtype=np.int64) if len(inputs) > 1 else 1) > _MOST_SPREAD)


def _device_argument(value: Value) -> Value:
    return [on_device(item) for item in value] if isinstance(value, list) else on_device(value)


def _known_argument(value: Value, name: str) -> Value:
    if isinstance(value, list):
        return [_known_argument(item, name) for item in value]
    if not is_known(value):
        raise not_known(name, value)
    return value


def not_known(name: str, value: Value) -> CannotTraceError:
    """The error of an operation that needs a value while it is traced, and is given one that is computed."""
    from_where = "is computed from what the function is given" if isinstance(value, jax.Array) else "is not known"
    return NotKnownError(
        f'its input "{name}" decides the shape of its result, and {from_where}: shapes must be known when JAX traces'
    )


def _error_naming(error: TensorKeepError, scope: str, op: Operation) -> TensorKeepError:
    """An error whose message begins with an operation, unless it names one already. Its `op` is the outermost of those
    that it came through.
    """
    named = error if error.op is not None else type(error)(f'"{scope}{op.name}" ({op.type}): {error}')
    named.op = op
    return named


def _take_arm(arm: Arm, values: dict[Tensor, Value]) -> None:
    """Has a merge take one of its inputs, and say which."""
    merge = arm.merge
    values[merge.outputs[0]] = values[merge.inputs[arm.index]]
    values[merge.outputs[1]] = np.array(arm.index, np.int32)
