"""A model as a function of JAX: parameters and inputs in, outputs out, and nothing else happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.devices.jax_arrays import is_exhaustion
from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, UnknownError, WrongTypeError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.scopes import free_name
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.io.showing.amounts import some_of
from tensorkeep.jax.bodies import Bodies
from tensorkeep.jax.host_parts import HostPart, format_refused, host_part, split_for_jax
from tensorkeep.jax.survey import Survey, survey
from tensorkeep.jax.tracing import KEY, Tracing
from tensorkeep.jax.values import CannotTraceError, device_type, on_device
from tensorkeep.runtime.partitions.part_graphs import PartGraph, graph_of_part
from tensorkeep.runtime.plans.plan import Plan, make_plan
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.shapes import Shape

_LISTED: Final = 20
_UNTOLD: Final = np.array(b"", object)
Params = Mapping[str, Any]


@dataclass(frozen=True)
class Ends:
    """Some of a graph as a function: what goes in, what comes out, and a session that has what its operations keep."""

    where: str
    session: Session
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    captured: Mapping[Tensor, object] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    targets: tuple[Operation, ...] = ()
    """Operations that run whenever the function is called, whether or not an output needs them."""
    names: Mapping[VariableResource, str] = field(default_factory=dict)
    """What variables are called, where that is not the name they have in the graph."""


class JaxFunction:
    """A model as a pure function: `outputs = fn(params, x=array)`.

    `params` are the values of its variables, by name; `fn.params` those that the model has. A model that changes
    variables takes their values as a second argument, and gives the new ones beside its outputs:
    `outputs, state = fn(params, fn.state, x=array)`. One that draws random numbers takes a key of `jax.random` as the
    last argument. It can be jitted, differentiated, batched, exported, and given parameters on several devices.
    """

    def __init__(
        self, ends: Ends, *, flatten: Callable[[], Ends], save: Callable[[dict[str, Array], PathLike], None],
        close: Callable[[], None], precision: Any = None,
    ) -> None:  # fmt: skip
        self._close = close
        self._save = save
        self._precision = precision
        self._bodies = Bodies()
        self._resources: dict[tuple[str, str], object] = {}
        self._ends = ends
        self._found = self._surveyed(ends)
        if self._found.refused:
            self._ends = flatten()
            self._found = self._surveyed(self._ends)
        if self._found.inside:
            raise CannotTraceError(
                f"{ends.where} cannot become a function of JAX, as these operations are inside branches or loops and "
                f"have to stay on the host:\n{format_refused(self._found.inside)}"
            )
        self._cut()
        self._names = _unique_names(self._found.variables, self._ends.names)
        changed = self._found.changed
        self._params = {name: item for item, name in self._names.items() if item not in changed}
        self._state = {name: item for item, name in self._names.items() if item in changed}
        self._stored = {name: item.read() for item, name in self._names.items() if item.is_initialized}
        self._values: dict[str, Any] = {}
        self._jitted = jax.jit(self._traced)

    def _resource_of(self, op: Operation) -> object:
        """What an operation gives that makes a variable or a table, the same also when the session has been closed."""
        key = (op.type, op.name)
        if key not in self._resources:
            self._resources[key] = self._ends.session.lasting_resource(op)
        return self._resources[key]

    def _surveyed(self, ends: Ends) -> Survey:
        self._plan = make_plan(tuple(ends.outputs.values()), ends.targets, (*ends.inputs.values(), *ends.captured))
        return survey(self._plan, ends.captured, self._bodies, self._resource_of)

    def _cut(self) -> None:
        """Divides the plan into what runs on the host and what JAX runs."""
        ends = self._ends
        self._before: HostPart | None = None
        self._after: HostPart | None = None
        inputs = [tensor for tensor in self._plan.feeds if tensor not in ends.captured]
        self._entering, self._leaving = _without_strings(inputs), list(self._plan.fetches)
        self._middle: PartGraph | None = None
        if not self._found.refused:
            return
        split = split_for_jax(self._plan, self._found, ends.captured)
        held = {
            tensor: item
            for tensor, item in (
                *ends.captured.items(),
                *((op.outputs[0], self._resource_of(op)) for op in self._plan.ops
                  if op.outputs and not op.inputs),
            )
            if isinstance(item, VariableResource)
        }  # fmt: skip
        self._before = host_part(split.before, ends.session, ends.captured, held)
        self._after = host_part(split.after, ends.session, ends.captured, held)
        self._entering = _without_strings(tensor for tensor in split.middle.inputs if tensor not in ends.captured)
        self._leaving = list(split.middle.outputs)
        self._middle = graph_of_part(split.middle, ends.session.graph)
        inner = Plan(split.middle.inputs, split.middle.outputs, split.middle.ops)
        middle = survey(inner, ends.captured, self._bodies, self._resource_of)
        host_changes = [op for op in self._found.refused if any(isinstance(held.get(tensor), VariableResource)
                        and op.spec.schema.is_stateful for tensor in op.inputs)]  # fmt: skip
        if host_changes:
            refused = [self._found.refused[op] for op in host_changes]
            raise CannotTraceError(f"{ends.where} changes variables on the host:\n{format_refused(refused)}")
        middle.variables.update(self._found.variables)
        middle.refused = self._found.refused
        self._found = middle

    # ---------------------------------------------------------------------------------------------- what there is

    @property
    def params(self) -> dict[str, jax.Array]:
        """The values that the model has for the variables that it reads and does not change, by name."""
        return self._arrays(self._params)

    @property
    def state(self) -> dict[str, jax.Array]:
        """The values that the model has for the variables that it changes, by name; empty if there are none."""
        return self._arrays(self._state)

    @property
    def needs_key(self) -> bool:
        """Whether it draws random numbers, and takes a key for them."""
        return bool(self._found.random)

    @property
    def inputs(self) -> dict[str, str]:
        """What it takes, by name: types and shapes."""
        return {name: _spec(tensor, self._shape(name)) for name, tensor in self._ends.inputs.items()}

    @property
    def outputs(self) -> dict[str, str]:
        """What it gives, by name: types and shapes."""
        return {name: _spec(tensor, tensor.static_shape) for name, tensor in self._ends.outputs.items()}

    def _shape(self, name: str) -> Shape:
        return self._ends.shapes.get(name, self._ends.inputs[name].static_shape)

    def _arrays(self, variables: Mapping[str, VariableResource]) -> dict[str, jax.Array]:
        """Values of variables on the device. If they do not all fit, none of those that were not there stays."""
        new: dict[str, jax.Array] = {}
        for name, variable in variables.items():
            if name not in self._values:
                try:
                    new[name] = on_device(self._stored[name] if name in self._stored else variable.read())
                except CannotTraceError as error:
                    raise CannotTraceError(f'{self._ends.where}, variable "{name}": {error}') from error
                except jax.errors.JaxRuntimeError as error:
                    for array in new.values():
                        array.delete()
                    kind = ResourceExhaustedError if is_exhaustion(error) else UnknownError
                    text = f"could not be brought to its device: {error}"
                    raise kind(f'{self._ends.where}, variable "{name}" {text}') from None
        self._values.update(new)
        return {name: self._values[name] for name in variables}

    def describe(self) -> str:
        """What goes in and comes out, what it keeps and draws, and which operations stay on the host."""
        lines = [f"{self._ends.where} as a function of JAX"]
        lines += [f"  input {name}: {text}" for name, text in self.inputs.items()]
        lines += [f"  output {name}: {text}" for name, text in self.outputs.items()]
        count = sum(self._stored[name].size for name in self._params if name in self._stored)
        lines.append(f"  params: {len(self._params)} variables, {count:,} numbers")
        if self._state:
            lines.append(f"  state: {len(self._state)} variables that it changes, {some_of(list(self._state), 5)}")
        if self.needs_key:
            lines.append(f"  key: {len(self._found.random)} operations draw random numbers")
        if self._found.unchecked:
            lines.append(f"  not done: {len(self._found.unchecked)} checks, {some_of(self._found.unchecked, 5)}")
        for word, part in (("before", self._before), ("after", self._after)):
            if part is not None:
                own = [self._found.refused[op] for op in part.part.ops if op in self._found.refused]
                lines.append(f"  on the host {word} JAX: {len(part.part.ops)} operations, for the sake of")
                lines.append(format_refused(own))
        if self._before is not None or self._after is not None:
            lines.append(f"  into JAX: {', '.join(tensor.name for tensor in self._entering)}")
            lines.append(f"  out of JAX: {', '.join(tensor.name for tensor in self._leaving)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<JaxFunction of {self._ends.where}: {', '.join(self._ends.inputs)} -> {', '.join(self._ends.outputs)}>"

    # ------------------------------------------------------------------------------------------------------ calling

    def __call__(self, params: Params, /, *rest: Any, **inputs: Any) -> Any:
        """The outputs by name for these parameters and inputs; beside them the new state, if there is one."""
        state, key = self._of_rest(rest)
        given = self._checked(inputs)
        if self._before is None and self._after is None:
            found, new = self._jitted(params, state, key, [given[name] for name in self._ends.inputs])
            outputs = dict(zip(self._ends.outputs, found, strict=True))
            return (outputs, new) if self._state else outputs
        values = self._on_host_before(params, state, given)
        found, new = self._jitted(params, state, key, [values[tensor] for tensor in self._entering])
        values.update(zip(self._leaving, found, strict=True))
        outputs = self._on_host_after(params, new if self._state else state, values)
        return (outputs, new) if self._state else outputs

    def before(self, params: Params, /, *rest: Any, **inputs: Any) -> dict[str, Any]:
        """What goes into JAX, by the names of tensors: the part of the work that is done on the host before.

        Of a function without such a part, the inputs themselves. Call this outside of `jax.jit`, and `inside` in it.
        """
        values = self._on_host_before(params, self._of_rest((*rest, None) if self.needs_key and len(rest) ==
                                      bool(self._state) else rest)[0], self._checked(inputs))  # fmt: skip
        return {tensor.name: values[tensor] for tensor in self._entering}

    def inside(self, params: Params, /, *rest: Any, **arrays: Any) -> Any:
        """What JAX computes, by the names of tensors, of what `before` gives: pure, whatever stays on the host."""
        state, key = self._of_rest(rest)
        wanted = [tensor.name for tensor in self._entering]
        if sorted(arrays) != sorted(wanted):
            raise InvalidArgumentError(
                f"{self._ends.where} takes {some_of(wanted, _LISTED)} inside; got {sorted(arrays)}"
            )
        found, new = self._jitted(params, state, key, [arrays[name] for name in wanted])
        outputs = {tensor.name: value for tensor, value in zip(self._leaving, found, strict=True)}
        return (outputs, new) if self._state else outputs

    def _on_host_before(self, params: Params, state: Params, given: Mapping[str, Any]) -> dict[Tensor, Any]:
        values = {self._ends.inputs[name]: value for name, value in given.items()}
        if self._before is not None:
            self._require_concrete([values[tensor] for tensor in self._before.inputs])
            values.update(self._before.run(values, self._variables(params, state)))
        return values

    def _on_host_after(self, params: Params, state: Params, values: dict[Tensor, Any]) -> dict[str, Any]:
        if self._after is not None:
            self._require_concrete([values[tensor] for tensor in self._after.inputs])
            values.update(self._after.run(values, self._variables(params, state)))
        return {name: values[tensor] for name, tensor in self._ends.outputs.items()}

    def _variables(self, params: Params, state: Params) -> dict[VariableResource, Any]:
        given = {**params, **state}
        return {item: given[name] for item, name in self._names.items()}

    def _require_concrete(self, values: list[Any]) -> None:
        if any(isinstance(value, jax.core.Tracer) for value in values):
            raise CannotTraceError(
                f"{self._ends.where} does some of its work on the host, which no transformation of JAX can trace: call "
                "`fn.before` outside, and `fn.inside` where it is traced; `fn.describe()` shows the cut"
            )

    def _of_rest(self, rest: tuple[Any, ...]) -> tuple[Params, Any]:
        """The state and the key among the arguments behind the parameters."""
        wanted = ["state"] * bool(self._state) + ["key"] * self.needs_key
        if len(rest) != len(wanted):
            raise InvalidArgumentError(
                f"{self._ends.where} takes {', '.join(['params', *wanted])}, and inputs by name; got {len(rest) + 1} "
                f"arguments by position"
            )
        state = rest[0] if self._state else {}
        return state, rest[-1] if self.needs_key else None

    def _checked(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs as arrays of the types that they must have; one error with all that is wrong."""
        problems = [f'there is no input "{name}"' for name in inputs if name not in self._ends.inputs]
        problems += [f'the input "{name}" is missing' for name in self._ends.inputs if name not in inputs]
        found: dict[str, Any] = {}
        for name, tensor in self._ends.inputs.items():
            if name in inputs:
                try:
                    found[name] = _as_input(inputs[name], tensor, self._shape(name))
                except (TypeError, ValueError, CannotTraceError) as error:
                    problems.append(f'"{name}": {error}')
        if problems:
            listed_inputs = ", ".join(f"{name} ({text})" for name, text in self.inputs.items())
            raise InvalidArgumentError(f"{self._ends.where}: {'; '.join(problems)}. It takes {listed_inputs}")
        return found

    def _traced(self, params: Params, state: Params, key: Any, entering: list[Any]) -> tuple[list[Any], Any]:
        """What JAX traces: all that does not stay on the host."""
        self._check_tree("params", params, self._params)
        self._check_tree("state", state, self._state)
        values: dict[object, Any] = {item: params[name] for name, item in self._params.items()}
        values.update((item, state[name]) for name, item in self._state.items())
        changing: list[object] = list(self._state.values())
        if self.needs_key:
            values[KEY] = key
            changing.append(KEY)
        tracing = Tracing(self._bodies, self._resource_of, values, changing=changing, precision=self._precision)
        given = dict(zip(self._entering, entering, strict=True))
        given.update((tensor, item) for tensor, item in self._ends.captured.items())
        fetches, targets = self._leaving, self._ends.targets
        middle = self._middle
        taken = self._plan.feeds if middle is None else tuple(middle.inputs)
        given.update((tensor, _UNTOLD) for tensor in taken if tensor.dtype is STRING and tensor not in given)
        if middle is not None:
            given = {own: given[tensor] for tensor, own in middle.inputs.items()}
            fetches = [middle.outputs[tensor] for tensor in self._leaving]
            targets = tuple(middle.graph.operation(op.name) for op in targets if op.name in middle.graph)
        found = tracing.compute(fetches, given, targets)
        outputs = [on_device(value) for value in found]
        return outputs, {name: on_device(tracing.state[item]) for name, item in self._state.items()}

    def _check_tree(self, word: str, given: Params, wanted: Mapping[str, object]) -> None:
        if not isinstance(given, Mapping):
            raise WrongTypeError(f"{word} is a dict of arrays by the names of variables, got {type(given).__name__}")
        missing = [name for name in wanted if name not in given]
        unknown = [name for name in given if name not in wanted]
        if missing or unknown:
            said = [f"without {some_of(missing, 5)}"] * bool(missing) + [f"with {some_of(unknown, 5)}"] * bool(unknown)
            raise InvalidArgumentError(
                f"{self._ends.where}: {word} {' and '.join(said)}; fn.{word} shows what it takes"
            )

    # ------------------------------------------------------------------------------------------------------- saving

    def save(self, params: Params, target: PathLike, state: Params | None = None) -> None:
        """Writes the model with these parameters: a copy of the SavedModel, or a checkpoint of the graph's variables.

        `state` are the values of variables that the model changes, if not those that it had.
        """
        self._check_tree("params", params, self._params)
        given = self.state if state is None else state
        self._check_tree("state", given, self._state)
        by_name = {**self._params, **self._state}
        values: dict[str, Array] = {}
        for name, value in {**params, **given}.items():
            own = by_name[name].dtype.array_dtype
            array = np.asarray(value)
            values[name] = array if array.dtype == own else array.astype(own)
        self._save(values, target)

    def close(self) -> None:
        """Gives files and memory of the model back. The function cannot be traced anew afterwards."""
        self._close()

    def __enter__(self) -> JaxFunction:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _without_strings(tensors: Iterable[Tensor]) -> list[Tensor]:
    """What JAX is given: strings that reach what it traces are only told by checks, which are not done."""
    return [tensor for tensor in tensors if tensor.dtype is not STRING]


def _spec(tensor: Tensor, shape: Shape) -> str:
    return f"{tensor.dtype.base_dtype.name} {shape}"


def _as_input(value: Any, tensor: Tensor, shape: Shape) -> Any:
    """An input as an array of its type. Whole numbers may be of fewer bits than they are said to be."""
    dtype = tensor.dtype.base_dtype
    is_array = isinstance(value, jax.Array)
    array = value if is_array else np.asarray(value, dtype.array_dtype if not hasattr(value, "dtype") else None)
    if not Shape(array.shape).is_compatible(shape):
        raise InvalidArgumentError(f"expected {_spec(tensor, shape)}, got the shape {list(array.shape)}")
    if dtype is STRING:
        return array
    own, wanted = np.dtype(array.dtype), device_type(dtype)
    if own == wanted:
        return array
    if own == dtype.array_dtype and not is_array:
        return on_device(array)
    if np.dtype(own).kind in "iu" and np.can_cast(own, dtype.array_dtype):
        return array.astype(wanted)
    raise WrongTypeError(f"expected {_spec(tensor, shape)}, got {own}")


def _unique_names(
    variables: Mapping[VariableResource, None], names: Mapping[VariableResource, str]
) -> dict[VariableResource, str]:
    found: dict[VariableResource, str] = {}
    taken: set[str] = set()
    for variable in variables:
        name = free_name(names.get(variable, variable.name), taken)
        taken.add(name)
        found[variable] = name
    return found
