"""Variables, placeholders, values, functions of placeholders, and the session in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Literal, Protocol, TypeAlias, overload

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.building import building, control_dependencies, current_graph
from tensorkeep.graph.building import name_scope as open_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.functions.arrays import shapes
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients as reverse_gradients
from tensorkeep.tf1.functions.random.numbers import random_normal, random_uniform
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_to_dense
from tensorkeep.tf1.keras.backend.settings import chosen_dtype, chosen_seed
from tensorkeep.tf1.keras.engine.session_values import batch_set_value, initialized_session
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.keras.surroundings import SessionInForce, surroundings
from tensorkeep.tf1.layers.base import known_learning_phase, set_learning_phase
from tensorkeep.tf1.variables.options import Constraint
from tensorkeep.tf1.variables.variable import Changed, Variable

_UIDS: Final = object()  # the key of the numbers by prefix, in `graph.extras`


def backend() -> str:
    """The name of the library that computes: "tensorflow"."""
    return "tensorflow"


# ---------------------------------------------------------------------------------------------------- Session


def get_session(op_input_list: object = ()) -> SessionInForce:
    """The session in force for the graph being built, with all variables initialized."""
    return initialized_session()


def set_session(session: SessionInForce) -> None:
    """Has Keras use a session."""
    surroundings().set_session(session)


def clear_session() -> None:
    """Begins a new graph and a new session."""
    surroundings().clear()


def get_graph() -> Graph:
    """The graph being built."""
    return current_graph()


def get_uid(prefix: str = "") -> int:
    """How often a name was asked for in the graph being built: 1, 2, and so on."""
    numbers: dict[str, int] = current_graph().extras.setdefault(_UIDS, defaultdict(int))
    numbers[prefix] += 1
    return numbers[prefix]


def reset_uids() -> None:
    """Has `get_uid` count from one again, for every prefix, in the graph in force."""
    current_graph().extras.pop(_UIDS, None)


def name_scope(name: str) -> AbstractContextManager[str]:
    """Names of operations made inside begin with `name`."""
    return open_scope(name)


@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Inside, layers are in training (1) or not (0)."""
    if value not in (0, 1):
        raise InvalidArgumentError(f"Expected learning phase to be 0 or 1, got {value}.")
    before = known_learning_phase()
    set_learning_phase(value)
    try:
        yield
    finally:
        set_learning_phase(before)


def manual_variable_initialization(value: bool) -> None:
    """Whether the program initializes variables itself. Those it has initialized are left alone in any case."""


# ---------------------------------------------------------------------------------------------------- Variables


class SparseMatrix(Protocol):
    """A matrix of SciPy's that is mostly zeros."""

    def tocoo(self) -> Any: ...


@overload
def variable(
    value: SparseMatrix, dtype: DTypeLike | None = None, name: str | None = None, constraint: Constraint | None = None
) -> SparseTensor: ...
@overload
def variable(
    value: TensorLike | Callable[[], TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    constraint: Constraint | None = None,
) -> Variable: ...
def variable(
    value: SparseMatrix | TensorLike | Callable[[], TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    constraint: Constraint | None = None,
) -> Variable | SparseTensor:
    """A variable with a first value."""
    if hasattr(value, "tocoo"):
        coordinates = value.tocoo()
        places = np.stack([coordinates.row, coordinates.col], axis=1)
        return SparseTensor(places, coordinates.data, coordinates.shape)
    kind = value.dtype if dtype is None and isinstance(value, Tensor) else chosen_dtype(dtype)
    first = value if isinstance(value, Tensor) or callable(value) else np.asarray(value, DType.of(kind).as_numpy_dtype)
    return Variable(first, dtype=DType.of(kind).base_dtype, name=name, constraint=constraint, use_resource=True)


@overload
def placeholder(
    shape: ShapeLike = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: Literal[False] = False,
    name: str | None = None,
) -> Tensor: ...
@overload
def placeholder(
    shape: ShapeLike = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor: ...
def placeholder(
    shape: ShapeLike = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor | SparseTensor:
    """A tensor that is fed."""
    sizes = [None] * ndim if shape is None and ndim else shape
    if sparse:
        return shapes.sparse_placeholder(chosen_dtype(dtype), shape=sizes, name=name)
    return shapes.placeholder(chosen_dtype(dtype), shape=sizes, name=name)


def is_placeholder(x: object) -> bool:
    """Whether a tensor is one that is fed."""
    return isinstance(x, Tensor) and x.op.type == "Placeholder"


def is_keras_tensor(x: object) -> bool:
    """Whether a tensor was made by a layer of Keras; an error for what is no tensor."""
    if not isinstance(x, Tensor | Variable | SparseTensor):
        raise InvalidArgumentError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance."
        )
    return history_of(x) is not None


def is_sparse(tensor: object) -> bool:
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """A sparse tensor as a dense one; a dense one as it is."""
    return sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def get_value(x: Any) -> Any:
    """The value of a variable or a tensor, in the session in force."""
    if not isinstance(x, Tensor | Variable | SparseTensor):
        return x
    return eval(x)


def eval(x: Any) -> Any:
    """The value of a variable or a tensor as an array, sparse ones made dense, in the session in force."""
    with building(x.graph):
        return initialized_session().run(to_dense(x))


def set_value(x: TensorLike, value: TensorLike) -> None:
    """Gives a variable a value, in the session in force."""
    batch_set_value([(x, value)])


def count_params(x: Any) -> int:
    """How many numbers a variable has."""
    return int(np.prod(x.get_shape().as_list()))


def update(x: Variable, new_x: TensorLike) -> Changed:
    return x.assign(new_x)


def update_add(x: Variable, increment: TensorLike) -> Changed:
    return x.assign_add(increment)


def update_sub(x: Variable, decrement: TensorLike) -> Changed:
    return x.assign_sub(decrement)


def moving_average_update(x: Variable, value: Tensor | float, momentum: float) -> Changed:
    """Moves a variable towards a value."""
    return x.assign(x * momentum + value * (1.0 - momentum))


def random_uniform_variable(
    shape: ShapeLike,
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """A variable of uniform numbers."""
    kind = chosen_dtype(dtype)
    made: Variable = variable(random_uniform(shape, low, high, kind, seed=chosen_seed(seed)), dtype=kind, name=name)
    return made


def random_normal_variable(
    shape: ShapeLike,
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """A variable of normal numbers."""
    kind = chosen_dtype(dtype)
    made: Variable = variable(random_normal(shape, mean, scale, kind, seed=chosen_seed(seed)), dtype=kind, name=name)
    return made


def gradients(loss: Structure, variables: Structure) -> list[Any]:
    """The gradients of a loss."""
    return list(reverse_gradients(loss, variables))


# ---------------------------------------------------------------------------------------------------- Functions


_Output: TypeAlias = "TensorLike | Operation"
Outputs: TypeAlias = "_Output | list[_Output] | tuple[_Output, ...] | dict[str, _Output]"


class GraphExecutionFunction:
    """A function of the values of placeholders; each call is a run of the session in force."""

    def __init__(
        self,
        inputs: Sequence[Any],
        outputs: Outputs,
        updates: Sequence[Any] = (),
        name: str | None = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
    ) -> None:
        if not isinstance(inputs, list | tuple):
            raise WrongTypeError("`inputs` to a Keras backend function should be a list or tuple.")
        self.inputs = list(inputs)
        self.is_single = not isinstance(outputs, list | tuple | dict)
        self._named = outputs if isinstance(outputs, dict) else None
        listed: Any = (
            list(outputs.values()) if isinstance(outputs, dict) else outputs if not self.is_single else [outputs]
        )
        self.outputs = [item if isinstance(item, Operation) else convert(item) for item in listed]
        self.feed_dict = dict(feed_dict or {})
        self.fetches = list(fetches or ())
        self.name = name
        graph = self.outputs[0].graph if self.outputs else current_graph()
        with (
            building(graph),
            control_dependencies([item for item in self.outputs[:1] if not is_placeholder(item)]),
        ):
            made = [item[0].assign(item[1]) if isinstance(item, tuple) else item for item in updates]
            self.updates_op = group(*[getattr(item, "op", item) for item in made]) if made else None

    def __call__(self, inputs: Sequence[Any]) -> Any:
        """The outputs for some values of the inputs; the updates are made too."""
        values = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(values) != len(self.inputs):
            raise InvalidArgumentError(f"a function of {len(self.inputs)} inputs was given {len(values)}")
        feeds = {**self.feed_dict}
        fixed = {place: value for place, value in zip(self.inputs, values, strict=True) if value is not None}
        feeds.update(fixed)
        with building(self._graph()):
            session = initialized_session()
            wanted = [self.outputs, self.fetches, [] if self.updates_op is None else [self.updates_op]]
            found: list[Any] = session.run(wanted, feed_dict=feeds)[0]
        if self._named is not None:
            return dict(zip(self._named, found, strict=True))
        return found[0] if self.is_single else found

    def _graph(self) -> Any:
        for item in [*self.outputs, *self.inputs]:
            return item.graph
        return current_graph()


def function(
    inputs: Sequence[Any],
    outputs: Outputs,
    updates: Sequence[Any] | None = None,
    name: str | None = None,
    **kwargs: Any,
) -> Callable[[Sequence[Any]], Any]:
    """A function of the values of placeholders that gives the values of outputs, and makes updates."""
    if wrong := set(kwargs) - {"feed_dict", "fetches"}:
        raise InvalidArgumentError(f"a function of the backend has no argument {', '.join(sorted(wrong))}")
    return GraphExecutionFunction(inputs, outputs, updates or (), name, **kwargs)
