"""Python functions as functions of a graph: `tf.function` where graphs are built.

A function is traced once for each kind of arguments: it is called with placeholders, and what it builds becomes a
function of the graph's library. Tensors and variables from outside that it uses become arguments that come last. A call
adds one operation to the graph.

What has effects takes place in the order in which the Python function asks for it, and always. Python's own control
flow stays what it is, it is not translated: a loop or branch on the value of a tensor is `tf.while_loop` or `tf.cond`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from itertools import count
from typing import Any, Final

from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import Structure
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.function_graph import FunctionGraph, function_graph
from tensorkeep.graph.functions import function_def, numbered_name
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.proto.messages import FunctionDef
from tensorkeep.tf1.functions.arrays.shapes import identity, placeholder
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as
from tensorkeep.tf1.functions.type_specs import TensorSpec, TypeSpec

_READING: Final = frozenset(
    ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp", "LookupTableFindV2")
)
_TRACES: Final = "traces"  # under which, and the function, a graph keeps what was traced in it
_BOUND: Final = "_bound_functions"  # of an object, which are made of the functions of its class
_ALWAYS_RUN: Final = frozenset(("Assert", "StatefulPartitionedCall", "Abort"))


@dataclass(frozen=True, eq=False)
class ConcreteFunction:
    """A function that was traced for one kind of arguments."""

    name: str
    """In the library of the graph."""
    captured: tuple[Tensor, ...]
    """The tensors from outside that it uses, which come after the other arguments."""
    arguments: tuple[Any, ...]
    """The structure of the positional arguments, with specs in the place of tensors."""
    keywords: Mapping[str, Any]
    structured_outputs: Any
    inputs: tuple[Any, ...]
    """What is known of its tensors, positional ones first, those with keywords in the order of their names."""
    outputs: tuple[Any, ...]
    definition: FunctionDef
    parameters: tuple[str, ...]
    """The names of its tensors, as a call by name has them."""
    python_signature: inspect.Signature | None = None

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        return self.arguments, dict(self.keywords)

    def __call__(self, *args: Structure, **kwargs: Structure) -> Any:
        given = dict(zip(self.parameters, args, strict=False))
        unknown = sorted(set(kwargs) - set(self.parameters)) + [str(value) for value in args[len(self.parameters) :]]
        missing = [name for name in self.parameters if name not in given and name not in kwargs]
        if unknown or missing:
            lists = [", ".join(names) or "none" for names in (self.parameters, missing, unknown)]
            raise WrongTypeError(f"{self.name} takes {lists[0]}; missing: {lists[1]}, not known: {lists[2]}")
        given.update(kwargs)
        return self.call([given[name] for name in self.parameters])

    def call(self, values: Sequence[Any]) -> Any:
        """What the function gives for tensors, in their order."""
        graph = current_graph()
        if self.name not in graph.functions:
            raise InvalidArgumentError(f'"{self.name}" was traced in another graph than that being built')
        tensors = [
            convert(value, wanted.dtype, name=name)
            for value, wanted, name in zip(values, self.inputs, self.parameters, strict=True)
        ]
        for tensor, wanted, name in zip(tensors, self.inputs, self.parameters, strict=True):
            if not wanted.shape.is_compatible_with(tensor.shape):
                raise InvalidArgumentError(f'"{name}" of {self.name} has shape {wanted.shape}, got {tensor.shape}')
        spec = get_op("StatefulPartitionedCall" if self.definition.signature.is_stateful else "PartitionedCall")
        dtypes = [tensor.dtype.base_dtype for tensor in self.outputs]
        made = spec([*tensors, *self.captured], f=FunctionRef(self.name), Tout=dtypes)
        op = made if isinstance(made, Operation) else made[0].op if isinstance(made, list | tuple) else made.op
        for output, traced_output in zip(op.outputs, self.outputs, strict=True):
            output.set_shape(traced_output.shape)
        found = [identity(output) for output in op.outputs]
        return _pack_values(self.structured_outputs, found)


@dataclass(eq=False)
class Function:
    """A Python function that is traced when it is called, once for each kind of arguments and each graph."""

    python_function: Callable[..., Any]
    input_signature: tuple[TypeSpec, ...] | None = None
    owner: Any = None

    def __post_init__(self) -> None:
        update_wrapper(self, self.python_function)
        for spec in self.input_signature or ():
            _check_spec(spec)

    def __get__(self, owner: object, kind: type | None = None) -> Function:
        """The function of one object, which is its first argument."""
        if owner is None:
            return self
        bound: dict[Function, Function] = vars(owner).setdefault(_BOUND, {})  # lives as long as the object
        if self not in bound:
            bound[self] = Function(self.python_function, self.input_signature, owner)
        return bound[self]

    @property
    def name(self) -> str:
        return getattr(self.python_function, "__name__", "function").strip("<>")

    @property
    def signature(self) -> inspect.Signature:
        """What the Python function takes, but for the object whose function it is."""
        found = inspect.signature(self.python_function)
        return found if self.owner is None else found.replace(parameters=list(found.parameters.values())[1:])

    def concrete_functions(self, graph: Graph) -> tuple[ConcreteFunction, ...]:
        """What was traced in a graph; with an input signature, that of it."""
        if self.input_signature is not None and not self.traces(graph):
            with building(graph):
                self.get_concrete_function()
        return tuple(self.traces(graph).values())

    def traces(self, graph: Graph) -> dict[Any, ConcreteFunction]:
        """What was traced in a graph, by the kinds of arguments. The graph keeps it."""
        found: dict[Any, ConcreteFunction] = graph.extras.setdefault((_TRACES, self), {})
        return found

    def get_concrete_function(self, *args: object, **kwargs: object) -> ConcreteFunction:
        """The function for arguments of this kind: specs of tensors, tensors, and whatever else Python has."""
        arguments, keywords = self._kinds(args, kwargs)
        outer = outermost_graph(current_graph())
        known = self.traces(outer)
        key = (_key(arguments), tuple((name, _key(keywords[name])) for name in sorted(keywords)))
        if key not in known:
            known[key] = self._trace(outer, arguments, keywords)
        return known[key]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        concrete = self.get_concrete_function(*args, **kwargs)
        given, named = self._bound_values(args, kwargs)
        if self.input_signature is not None:
            return concrete.call(given)
        values = [*given, *(named[name] for name in sorted(named))]
        is_given = [isinstance(leaf, TensorSpec) for leaf in _leaves_of(concrete)]
        return concrete.call([leaf for leaf, wanted in zip(flatten(values), is_given, strict=True) if wanted])

    def _bound_values(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments as TensorFlow has them: by position where that can be, with defaults where nothing is given."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise WrongTypeError(f"{self.name}{self.signature}: {error}") from None
        if self.input_signature is not None and len(bound.args) != len(self.input_signature):
            raise WrongTypeError(f"{self.name} takes {len(self.input_signature)} tensors, got {len(bound.args)}")
        if self.input_signature is None:
            bound.apply_defaults()
        return bound.args, bound.kwargs

    def _kinds(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self.input_signature is None:
            given, named = self._bound_values(args, kwargs)
            kinds = {name: map_structure(_kind, value) for name, value in named.items()}
            return tuple(map_structure(_kind, value) for value in given), kinds
        if args or kwargs:
            self._bound_values(args, kwargs)
        names = [*self.signature.parameters, *[None] * len(self.input_signature)]
        pairs = zip(self.input_signature, names, strict=False)
        return tuple(TensorSpec(spec.shape, spec.dtype, spec.name or name) for spec, name in pairs), {}  # type: ignore[attr-defined]

    def _trace(self, outer: Graph, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> ConcreteFunction:
        names = argument_names(self.signature, arguments, keywords)
        graph = function_graph(outer)
        inputs: list[Tensor] = []
        with building(graph):
            labels = iter(names)

            def given(leaf: Any) -> Any:
                if not isinstance(leaf, TensorSpec):
                    return leaf
                inputs.append(placeholder(leaf.dtype, leaf.shape, name=next(labels)))
                return inputs[-1]

            positional = [map_structure(given, item) for item in arguments]
            by_name = {name: map_structure(given, keywords[name]) for name in sorted(keywords)}
            owner = () if self.owner is None else (self.owner,)
            results = map_structure(_as_result, self.python_function(*owner, *positional, **by_name))
        outputs = [leaf for leaf in flatten(results) if leaf is not None]
        must_run = order_effects(graph)
        name = numbered_name(self.name, outer.functions)
        definition = function_def(name, graph, [*inputs, *graph.captured.values()], outputs, controls=must_run)
        for index, label in enumerate(names):
            definition.arg_attr[index].attr["_user_specified_name"].s = label.encode()
        outer.add_function(definition)
        return ConcreteFunction(
            name,
            tuple(graph.captured),
            arguments,
            dict(keywords),
            results,
            tuple(inputs),
            tuple(outputs),
            definition,
            tuple(names),
            self.signature,
        )


def function(
    func: Callable[..., Any] | None = None, input_signature: Sequence[TypeSpec] | None = None, **attributes: object
) -> Function | Callable[[Callable[..., Any]], Function]:
    """Makes a Python function one that is traced; as a decorator, with or without arguments.

    Attributes of the function, of which there are none but in TensorFlow, must be None.
    """
    if told := sorted(name for name, value in attributes.items() if value is not None):
        raise UnimplementedError(f"functions are not made with {', '.join(told)}")
    specs = None if input_signature is None else tuple(input_signature)
    if func is None:
        return lambda found: Function(found, specs)
    return Function(func, specs)


# ----------------------------------------------------------------------------------------------------------- arguments


def _check_spec(spec: Any) -> None:
    if not isinstance(spec, TensorSpec):
        raise WrongTypeError(f"an input signature is made of TensorSpecs, got {spec!r}")


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, TensorSpec | Tensor) or hasattr(value, "__array_interface__") or hasattr(value, "handle")


def _kind(value: Any) -> Any:
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, TypeSpec):
        raise WrongTypeError(f"functions take tensors; {value!r} is of several parts: give them one by one")
    if _is_tensor_like(value):
        tensor = convert(value)
        return TensorSpec(tensor.shape, tensor.dtype.base_dtype)
    return value


def _leaves_of(concrete: ConcreteFunction) -> list[Any]:
    """What a function takes, tensors or not, in the order of its arguments."""
    named = concrete.keywords
    return flatten([*concrete.arguments, *(named[name] for name in sorted(named))])


def _key(value: Any) -> Any:
    """What tells one kind of arguments from another."""
    leaves = flatten(value)
    return tuple(
        (leaf.dtype, str(leaf.shape), leaf.name) if isinstance(leaf, TensorSpec) else (type(leaf), leaf)
        for leaf in leaves
    )


def argument_names(
    signature: inspect.Signature, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[str, ...]:
    """A name for each tensor among the arguments: its own, or the parameter's, with a number if that has several."""
    parameters = [*signature.parameters, *(f"argument_{index}" for index in range(len(arguments)))]
    found: list[str] = []
    items = [*zip(parameters, arguments, strict=False), *((name, keywords[name]) for name in sorted(keywords))]
    for parameter, value in items:
        for leaf in flatten(value):
            if isinstance(leaf, TensorSpec):
                base = leaf.name or parameter
                name = next(name for i in count() if (name := f"{base}_{i}" if i else base) not in found)
                found.append(name)
    return tuple(found)


def outermost_graph(graph: Graph) -> Graph:
    """The graph that a function's body is built in, and in which functions are traced."""
    while isinstance(graph, FunctionGraph):
        graph = graph.outer
    return graph


# ------------------------------------------------------------------------------------------------------------- results


def _as_result(value: Any) -> Tensor | None:
    if value is None or isinstance(value, Operation):
        return None
    graph, tensor = current_graph(), convert(value)
    inner = tensor if tensor.graph is graph else graph.capture(tensor)
    found: Tensor = identity(inner)
    return found


def _pack_values(structure: Any, values: Sequence[Tensor]) -> Any:
    left = iter(values)
    return pack_sequence_as(structure, [None if leaf is None else next(left) for leaf in flatten(structure)])


def order_effects(graph: FunctionGraph) -> list[Operation]:
    """Has what touches the same resource wait for each other, as asked for; gives what must run."""
    last_write: dict[Tensor, Operation] = {}
    reads: dict[Tensor, list[Operation]] = {}
    last_effect: Operation | None = None
    must_run: list[Operation] = []
    for op in list(graph.operations):
        handles = [tensor for tensor in dict.fromkeys(op.inputs) if tensor.dtype in (RESOURCE, VARIANT)]
        if not op.spec.schema.is_stateful or not (handles or op.spec.capabilities or op.type in _ALWAYS_RUN):
            continue
        if op.control_flow_context is not None:
            continue  # a branch or a loop has an order of its own
        known = op.attr("_read_only_resource_inputs") or ()
        before: list[Operation] = []
        for handle in handles:
            is_reading = op.type in _READING or all(i in known for i, item in enumerate(op.inputs) if item is handle)
            before += [last_write[handle]] if handle in last_write else []
            if is_reading:
                reads.setdefault(handle, []).append(op)
            else:
                before += reads.pop(handle, [])
                last_write[handle] = op
        if not handles:
            before += [] if last_effect is None else [last_effect]
            last_effect = op
        op.add_control_inputs([item for item in dict.fromkeys(before) if item is not op])
        if op.type not in _READING:
            must_run.append(op)
    return must_run
