"""The functions of a loaded TensorFlow 2 model, to be called with arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.graph.functions import FunctionBody, function_body
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.wrapping import unwrapped_body
from tensorkeep.proto.messages import FunctionSpec, SavedConcreteFunction
from tensorkeep.runtime.plans.calling import operations_that_always_run
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.structures import decode_structure, flat_values, pack, structure_text
from tensorkeep.saved_model.load.live_objects import LivingObjects
from tensorkeep.saved_model.load.object_graph import SavedObjects
from tensorkeep.saved_model.load.signature import Run
from tensorkeep.saved_model.load.surroundings import ModelSurroundings, run_of_any_shapes
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_LOOKUPS: Final = frozenset(("LookupTableFind", "LookupTableFindV2"))


class ConcreteFunctions:
    """The traced functions of a model by name. Each is made ready when it is first called."""

    def __init__(self, saved: SavedObjects, surroundings: ModelSurroundings) -> None:
        self._around = surroundings
        self._ready: dict[str, Callable[..., Sequence[Any]]] = {}
        self._sessions: dict[str, tuple[Session, FunctionBody, tuple[list[Any], list[Any]], list[Any]]] = {}
        self._ready_for_any_shapes: dict[str, Run] = {}
        self.objects = LivingObjects(saved, surroundings, self.call)

    def __contains__(self, name: object) -> bool:
        return name in self.objects.saved.concrete_functions and name in self._around.library.functions

    def call(self, name: str, arguments: Sequence[Any]) -> Sequence[Any]:
        """The results of a function, which is called with its own arguments only; captures are added."""
        return self.prepared_function(name)(*arguments)

    def prepared_function(self, name: str) -> Callable[..., Sequence[Any]]:
        """A function of its own arguments."""
        found = self._ready.get(name)
        if found is None:
            with self._around.lock:
                found = self._ready.get(name) or self._prepare(name)
                self._ready[name] = found
        return found

    def prepared_call(self, name: str, checked: Sequence[tuple[DType, Shape]]) -> Run:
        """A function of a list of its own arguments, of types and shapes that were checked."""
        self.prepared_function(name)
        session, body, (fetches, targets), captured = self._sessions[name]
        known = [*checked, *((tensor.dtype, tensor.static_shape) for tensor in body.inputs[len(checked) :])]
        run = session.make_callable(fetches, body.inputs, checked=known, captured=captured, targets=targets)
        return lambda arrays: run(*arrays, *captured)

    def joined_texts(self, name: str) -> list[int]:
        """Which of its own arguments a function that is ready also takes as `JoinedTexts`: what it only looks up in
        tables.
        """
        _, body, _, captured = self._sessions[name]
        return [
            number
            for number, tensor in enumerate(body.inputs[: len(body.inputs) - len(captured)])
            if tensor.dtype is STRING and tensor not in body.outputs and _is_only_looked_up(tensor)
        ]

    def _prepare(self, name: str) -> Callable[..., Sequence[Any]]:
        body, (fetches, targets), captured = self._body(name)
        own = len(body.inputs) - len(captured)
        session = self._around.open_session(body.graph, self._around.resources)
        run = session.make_callable(fetches, body.inputs, compiles=True, captured=captured, targets=targets)
        self._sessions[name] = (session, body, (fetches, targets), captured)

        def call(*arguments: Any) -> Sequence[Any]:
            if len(arguments) != own:
                raise InvalidArgumentError(f"function {name} takes {own} arguments, got {len(arguments)}")
            results: list[Any] = run(*arguments, *captured)
            return results

        return call

    def prepared_for_any_shapes(self, name: str) -> Run:
        """A function of arrays for its own arguments, of their types, which are not checked, and of any shapes."""
        found = self._ready_for_any_shapes.get(name)
        if found is None:
            with self._around.lock:
                found = self._ready_for_any_shapes.get(name) or self._prepare_for_any_shapes(name)
                self._ready_for_any_shapes[name] = found
        return found

    def _prepare_for_any_shapes(self, name: str) -> Run:
        body, fetches, captured = self._body(name)
        session = self._around.open_session(body.graph, self._around.resources)

        def open_doubting() -> Session:
            with self._around.lock:
                return self._around.open_session(body.graph, self._around.resources, trusts_shapes=False)

        run = run_of_any_shapes(list(fetches), body.inputs, session, open_doubting, captured)
        return lambda arrays: run(arrays)[0]

    def graph_of(self, name: str) -> tuple[FunctionBody, list[Any], Session]:
        """A function as a graph, what its last arguments are, and a session with it. It may not be allowed to run."""
        with self._around.lock:
            body, _, captured = self._body(name, may_run=False)
            return body, captured, self._around.open_session(body.graph, self._around.resources)

    def _body(self, name: str, *, may_run: bool = True) -> tuple[FunctionBody, tuple[list[Any], list[Any]], list[Any]]:
        """The body of a function, what is fetched and what is run of it, and what its last inputs are: all it captures
        but constants, which are operations of the body, so that engines know them.
        """
        library = self._around.library
        if name not in self:
            raise NotFoundError(f"the model has no function {name}")
        if may_run:
            library.check_function(name, self._around.permissions)
        bound = list(self.objects.saved.concrete_functions[name].bound_inputs)
        function = library.functions[name]
        own = len(function.signature.input_arg) - len(bound)
        if own < 0:
            raise DataLossError(f"function {name} captures {len(bound)} objects and takes {own + len(bound)} arguments")
        stored = ((at, self.objects.constant(number)) for at, number in enumerate(bound, start=own))
        constants = {at: value for at, value in stored if value is not None}
        given = [number for at, number in enumerate(bound, start=own) if at not in constants]
        shapes = [UNKNOWN_SHAPE] * own + [self.objects.shape(number) for number in given]
        body = function_body(function, library.functions, shapes=shapes, constants=constants)
        if may_run:
            body = unwrapped_body(body)
        always = (*body.controls, *operations_that_always_run(body))
        return body, (list(body.outputs), list(always)), self.objects.values(given)


def _is_only_looked_up(texts: Tensor) -> bool:
    """Whether strings are the keys of lookups, and nothing else."""
    takers = texts.consumers()
    return bool(takers) and all(
        op.type in _LOOKUPS and [tensor is texts for tensor in op.inputs] == [False, True, False] for op in takers
    )


@dataclass(frozen=True)
class Trace:
    """A concrete function with the structures of what it takes, ((positional), {keyword}), and gives."""

    name: str
    inputs: Any
    outputs: Any

    @classmethod
    def of(cls, name: str, proto: SavedConcreteFunction) -> Trace:
        inputs = decode_structure(proto.canonicalized_input_signature)
        if not (isinstance(inputs, tuple) and [type(item) for item in inputs] == [tuple, dict]):
            raise DataLossError(f"function {name}: its arguments are not a pair of positional and named ones")
        return cls(name, inputs, decode_structure(proto.output_signature))

    def __str__(self) -> str:
        positional, named = self.inputs
        listed = [*map(structure_text, positional), *(f"{key}={structure_text(named[key])}" for key in sorted(named))]
        return f"({', '.join(listed)}) -> {structure_text(self.outputs)}"


@dataclass(frozen=True)
class Parameters:
    """The parameters of a Python function, as far as calls need them."""

    names: tuple[str, ...] = ()
    defaults: Mapping[str, Any] | None = None
    takes_more: bool = False
    only_named: tuple[str, ...] = ()

    @classmethod
    def of(cls, proto: FunctionSpec) -> Parameters:
        found = decode_structure(proto.fullargspec)
        fields: dict[str, Any] = found._asdict() if hasattr(found, "_asdict") else {}
        names, only_named = _texts(fields.get("args")), _texts(fields.get("kwonlyargs"))
        if proto.is_method and names[:1] == ["self"]:
            names = names[1:]
        last = list(fields.get("defaults") or ())[-len(names) :] if names else []
        defaults = dict(zip(names[len(names) - len(last) :], last, strict=True))
        defaults.update(fields.get("kwonlydefaults") or {})
        return cls(tuple(names), defaults, fields.get("varargs") is not None, tuple(only_named))

    def bound(self, positional: Sequence[Any], named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call as traces have them: positional where that is possible, with defaults."""
        if len(positional) > len(self.names) and not self.takes_more:
            raise InvalidArgumentError(f"takes {len(self.names)} positional arguments, got {len(positional)}")
        rest = dict(named)
        filled = list(positional)
        defaults = self.defaults or {}
        for name in self.names[len(positional) :]:
            if name in rest:
                filled.append(rest.pop(name))
            elif name in defaults:
                filled.append(defaults[name])
            else:
                raise InvalidArgumentError(f'the argument "{name}" is missing')
        if twice := [name for name in self.names[: len(positional)] if name in rest]:
            raise InvalidArgumentError(f"given twice: {', '.join(twice)}")
        for name in self.only_named:
            if name not in rest and name in defaults:
                rest[name] = defaults[name]
        return tuple(filled), rest


def _texts(value: Any) -> list[str]:
    found = list(value or ()) if isinstance(value, list | tuple | type(None)) else [value]
    if not all(isinstance(item, str) for item in found):
        raise DataLossError(f"the names of a function's parameters are {value!r}")
    return found


class RestoredFunction:
    """A function that the model's author wrote. Call it as it was called there, with arrays in the place of tensors.

    It has a trace for each kind of arguments it was used with before it was saved, and can do what these can.
    """

    def __init__(
        self, path: str, parameters: Parameters, traces: Sequence[Trace], functions: ConcreteFunctions
    ) -> None:
        self.path = path
        self.parameters = parameters
        self.traces = tuple(traces)
        self._functions = functions

    def __call__(self, *positional: Any, **named: Any) -> Any:
        try:
            given = self.parameters.bound(positional, named)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f'function "{self.path}": {error}. {self._accepted_text()}') from None
        for exact in (True, False):
            for trace in self.traces:
                flat = flat_values(trace.inputs, given, exact)
                if flat is not None:
                    return pack(trace.outputs, iter(self._functions.call(trace.name, flat)))
        raise InvalidArgumentError(
            f'function "{self.path}" was not saved for these arguments: {_given_text(given)}. {self._accepted_text()}'
        )

    def _accepted_text(self) -> str:
        listed = "; ".join(map(str, self.traces))
        return f"It takes {listed}" if listed else "It was never called before it was saved, so it can do nothing"

    def __repr__(self) -> str:
        return f"<RestoredFunction {self.path}: {'; '.join(map(str, self.traces)) or 'no traces'}>"


def _given_text(given: tuple[tuple[Any, ...], dict[str, Any]]) -> str:
    def text(value: Any) -> str:
        dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
        return repr(value)[:80] if dtype is None else f"{dtype} {list(shape or ())}"

    positional, named = given
    return f"({', '.join([*map(text, positional), *(f'{key}={text(value)}' for key, value in named.items())])})"


def restored_function(number: int, path: str, functions: ConcreteFunctions) -> RestoredFunction:
    """The function that an object is."""
    saved = functions.objects.saved
    item = saved[number]
    if saved.kind(number) == "function":
        names, spec = list(item.function.concrete_functions), item.function.function_spec
    else:
        names, spec = [item.bare_concrete_function.concrete_function_name], item.bare_concrete_function.function_spec
    traces = [Trace.of(name, saved.concrete_functions[name]) for name in names if name in functions]
    return RestoredFunction(path, Parameters.of(spec), traces, functions)
