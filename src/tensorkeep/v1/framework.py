"""Graph building in TensorFlow 1's words: scopes, devices, conversion, collections, import, on the graph in force."""

from __future__ import annotations

import logging as python_logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from types import TracebackType
from typing import Any

from tensorkeep.arrays import Array
from tensorkeep.dtypes import QINT8, QINT16, QINT32, QUINT8, QUINT16, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph import building, collections
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike, Structure, TensorLike, TensorSource
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert, register_conversion
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.proto.messages import GraphDef, Message, OpList, TensorProto, parse, serialize
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.functions.constants import make_tensor_proto as core_make_tensor_proto
from tensorkeep.tf1.functions.control import tracing
from tensorkeep.tf1.functions.gradients import reverse_walk as core_gradients
from tensorkeep.tf1.functions.type_specs import TypeSpec
from tensorkeep.tf1.variables.scope import variable_state
from tensorkeep.tf1.variables.variable import Variable
from tensorkeep.v1.graphs import use_resource_variables

COMPILER_VERSION = "Clang 18.1.8"  # of the TensorFlow that this follows
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
QUANTIZED_DTYPES = frozenset((QINT8, QINT16, QINT32, QUINT8, QUINT16))


class name_scope:  # noqa: N801 - used as a function
    """Names of operations made inside begin with `name`, or with `default_name` if that is None.

    With neither, and without `values`, all scopes are left.
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None) -> None:
        self._name = default_name if name is None else name
        if self._name is None and values is not None:
            raise InvalidArgumentError("At least one of name (None) and default_name (None) must be provided.")
        graph = building.graph_of(values or ())
        self._graph_context = building.building(graph)
        self._scope = building.name_scope(self._name, graph)

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        self._graph_context.__enter__()
        return self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scope.__exit__(kind, error, trace)
        self._graph_context.__exit__(kind, error, trace)


@contextmanager
def op_scope(values: Sequence[Any], name: str | None, default_name: str | None = None) -> Iterator[str]:
    """The old spelling of `name_scope`."""
    with name_scope(name, default_name, values) as scope:
        yield scope


def device(device_name_or_function: DeviceLike) -> AbstractContextManager[None]:
    """Operations made inside are for a device, given by its name or by a function of the operation."""
    return building.device(device_name_or_function)


def control_dependencies(control_inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
    """Operations made inside run after some others; with None, after none that enclosing contexts name."""
    return building.control_dependencies(control_inputs)


def container(container_name: str) -> AbstractContextManager[str]:
    """Variables, queues and tables made inside belong to a container, which `Session.reset` empties."""
    return building.container(container_name)


def colocate_with(
    op: Operation | Tensor | TensorSource | IndexedSlices, ignore_existing: bool = False
) -> AbstractContextManager[None]:
    """Operations made inside are on the device of another one, whichever that will be."""
    return building.colocate_with(op, ignore_existing)


def init_scope() -> AbstractContextManager[None]:
    """Operations made inside are outside of control flow, and after no others: for what initializes variables."""
    return building.init_scope()


def add_to_collection(name: Hashable, value: object) -> None:
    """Adds a value to a collection of the graph in force, such as those named in `GraphKeys`."""
    collections.add_to_collection(building.current_graph(), name, value)


def add_to_collections(names: Hashable | Iterable[Hashable], value: object) -> None:
    """Adds a value to several collections of the graph in force, each once."""
    collections.add_to_collections(building.current_graph(), names, value)


def get_collection(key: Hashable, scope: str | None = None) -> list[Any]:
    """A copy of a collection; with `scope`, the items whose name matches that regular expression from its start."""
    return collections.get_collection(building.current_graph(), key, scope)


def get_collection_ref(key: Hashable) -> list[Any]:
    """A collection itself: changes to the list are changes to the graph."""
    return collections.get_collection_ref(building.current_graph(), key)


# ---------------------------------------------------------------------------------------------------- Conversion


def as_dtype(type_value: DTypeLike) -> DType:
    """The data type meant by a name, a NumPy type or a data type."""
    return DType.of(type_value)


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """The tensor of a value: of a tensor, a variable, a number, a nested list of them, an array."""
    hint = preferred_dtype or dtype_hint
    wanted = None if dtype is None else DType.of(dtype)
    return convert(value, wanted, name, preferred_dtype=None if hint is None else DType.of(hint))


def convert_to_tensor_or_indexed_slices(
    value: TensorLike | IndexedSlices, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """As `convert_to_tensor`; slices stay as they are."""
    return value if isinstance(value, IndexedSlices) else convert_to_tensor(value, dtype, name)


def convert_to_tensor_or_sparse_tensor(
    value: TensorLike | SparseTensor | SparseTensorValue, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | SparseTensor:
    """As `convert_to_tensor`; sparse tensors stay as they are, and a SparseTensorValue becomes one."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert_to_tensor(value, dtype, name)


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Lets objects of a type stand for tensors: `conversion_func(value, dtype, name, as_ref)` converts them."""

    def function(value: Any, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
        return conversion_func(value, dtype=dtype, name=name, as_ref=as_ref)

    register_conversion(base_type, function, priority)


def is_tensor(x: object) -> bool:
    """Whether it is a tensor, a variable, or a composite of tensors."""
    return isinstance(x, Tensor | Variable | IndexedSlices | SparseTensor)


def is_symbolic_tensor(tensor: object) -> bool:
    """Whether it is a tensor of a graph, as all tensors are here."""
    return is_tensor(tensor)


def get_static_value(tensor: Tensor | Array | None, partial: bool = False) -> Array | None:
    """The value of a tensor that is known without running anything, else None."""
    return constant_value(tensor) if isinstance(tensor, Tensor) else tensor


def make_ndarray(tensor: TensorProto) -> Array:
    """The array that a TensorProto holds."""
    return array_of_tensor(tensor).copy()


def make_tensor_proto(
    values: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The TensorProto of a value, as the nodes of constants hold it."""
    return core_make_tensor_proto(values, None if dtype is None else DType.of(dtype), shape, verify_shape)


def dimension_value(dimension: Dimension | int | None) -> int | None:
    """The size of a `Dimension`, None if it is unknown. Anything else is given back as it is."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """One dimension of a shape; an unknown one if the rank is not known."""
    return Dimension(None if shape.rank is None else shape[index])


def import_graph_def(
    graph_def: Message,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: object = None,
    producer_op_list: Message | None = None,
) -> list[Tensor | Operation] | None:
    """Adds the nodes of a GraphDef to the graph in force, their names under `name` ("import" unless given).

    `input_map` puts tensors of the graph in the place of the GraphDef's. Returns the operations and tensors that
    `return_elements` names, or None.
    """
    descriptor = getattr(graph_def, "DESCRIPTOR", None)
    if getattr(descriptor, "full_name", None) != "tensorflow.GraphDef":
        raise WrongTypeError(f"Argument `graph_def` must be a GraphDef proto; got {type(graph_def).__name__}")
    ops = None if producer_op_list is None else parse(OpList, serialize(producer_op_list), "producer_op_list")
    message = graph_def if isinstance(graph_def, GraphDef) else parse(GraphDef, serialize(graph_def), "graph_def")
    return import_graph(message, building.current_graph(), input_map, return_elements, name, ops)


# ---------------------------------------------------------------------------------------------------- Gradients


class AggregationMethod:
    """How gradients that meet are added up. All ways give the same sum."""

    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(Enum):
    """What stands for the gradient where there is no path: nothing, or zeros."""

    NONE = "none"
    ZERO = "zero"


def gradients(
    ys: Structure,
    xs: Structure,
    grad_ys: Structure = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Structure = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Tensor | IndexedSlices | None]:
    """The gradients of the sum of `ys`, weighted by `grad_ys`, one for each of `xs`; None where there is no path.

    Tensors of `stop_gradients` count as constants. A gradient may be `IndexedSlices` where only rows are used.
    """
    return core_gradients.gradients(
        ys,
        xs,
        grad_ys,
        name,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        stop_gradients=stop_gradients,
        unconnected_gradients=str(getattr(unconnected_gradients, "value", unconnected_gradients)),
    )


class RegisterGradient:
    """Decorates a function that is to be the gradient of the ops of a type."""

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        core_gradients.register_gradient(self._op_type, f)
        return f


def no_gradient(op_type: str) -> None:
    """Says that ops of a type have no gradient."""
    core_gradients.register_gradient(op_type, None)


NoGradient = NotDifferentiable = no_gradient


# ---------------------------------------------------------------------------------------------------- Modes


def executing_eagerly() -> bool:
    """Never: operations are nodes of graphs here."""
    return False


def executing_eagerly_outside_functions() -> bool:
    """Never: operations are nodes of graphs here."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do: there are only graphs here."""


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Raises: there are only graphs here."""
    raise FailedPreconditionError("tensorkeep.v1 builds graphs and runs them in sessions: there is no eager execution")


def disable_v2_behavior() -> None:
    """Nothing to do: this is TensorFlow 1."""


def enable_v2_behavior() -> None:
    """Raises: this is TensorFlow 1."""
    raise FailedPreconditionError("tensorkeep.v1 is TensorFlow 1's interface: there is no second behaviour to enable")


disable_control_flow_v2 = disable_tensor_equality = disable_v2_tensorshape = disable_v2_behavior
enable_control_flow_v2 = enable_tensor_equality = enable_v2_tensorshape = enable_v2_behavior


def control_flow_v2_enabled() -> bool:
    """Never: `cond` and `while_loop` make the nodes of TensorFlow 1."""
    return False


def disable_resource_variables() -> None:
    """Variables are references unless they say otherwise, as TensorFlow 1 has it."""
    use_resource_variables(False)


def enable_resource_variables() -> None:
    """Variables are resources unless they say otherwise."""
    use_resource_variables(True)


def resource_variables_enabled() -> bool:
    """Whether variables are resources unless they say otherwise."""
    return variable_state().use_resource


def get_logger() -> python_logging.Logger:
    """The logger that everything here logs to."""
    return python_logging.getLogger("tensorkeep")


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[TypeSpec] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: object = None,
    experimental_attributes: object = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> tracing.Function | Callable[[Callable[..., Any]], tracing.Function]:
    """Makes a function of a graph of a Python function. Python's control flow is not translated: `tf.cond` is."""
    named = {"experimental_implements": experimental_implements, "experimental_attributes": experimental_attributes}
    return tracing.function(func, input_signature, **named)
