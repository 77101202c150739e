"""`tf.Graph`: a graph with TensorFlow 1's methods, each a line over the core."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tensorkeep.graph import building, collections
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, TensorSource
from tensorkeep.graph.creating import create_operation
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.function_graph import FunctionGraph
from tensorkeep.graph.graph import Graph as CoreGraph
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import decode_attr
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.messages.versions import versions_of
from tensorkeep.proto.messages import GraphDef, Message, VersionDef
from tensorkeep.runtime.elements import element_of
from tensorkeep.tf1.variables.scope import variable_state

_RESOURCE_VARIABLES = [False]  # what `enable_resource_variables` says for graphs that are yet to be made


def _attr_of(value: Any) -> Any:
    """An attribute of a message, or the function that gives one for an operation."""
    if callable(value):
        return lambda op: None if (found := value(op.node_def)) is None else decode_attr(found)
    return None if value is None else decode_attr(value)


def use_resource_variables(enabled: bool) -> None:
    """Whether variables are resources unless they say otherwise: in the graph in force, and in later ones."""
    _RESOURCE_VARIABLES[0] = enabled
    variable_state(building.current_graph()).use_resource = enabled


class Graph(CoreGraph):
    """A graph to build with `with graph.as_default():`."""

    def __init__(self) -> None:
        super().__init__()
        variable_state(self).use_resource = _RESOURCE_VARIABLES[0]

    def as_default(self) -> AbstractContextManager[Any]:
        return building.building(self)

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        return building.name_scope(name, self)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        return building.unique_name(name, self, mark_as_used)

    def get_name_scope(self) -> str:
        return self.scopes.name

    def device(self, device_name_or_function: DeviceLike) -> AbstractContextManager[None]:
        return building.device(device_name_or_function, self)

    def _apply_device_functions(self, op: Any) -> None:
        """Tells an object the device in force, as Keras asks for it; nothing if there is none."""
        if device := building.current_device(self):
            if hasattr(op, "_set_device_from_string"):
                op._set_device_from_string(device)
            else:
                op._set_device(DeviceSpec.from_string(device))

    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
        return building.control_dependencies(control_inputs, self)

    def colocate_with(
        self, op: Operation | Tensor | TensorSource, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        return building.colocate_with(op, ignore_existing, self)

    def container(self, container_name: str) -> AbstractContextManager[str]:
        return building.container(container_name, self)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> AbstractContextManager[None]:
        return building.gradient_override_map(op_type_map, self)

    def add_to_collection(self, name: Hashable, value: object) -> None:
        collections.add_to_collection(self, name, value)

    def add_to_collections(self, names: Hashable | Iterable[Hashable], value: object) -> None:
        collections.add_to_collections(self, names, value)

    def get_collection(self, name: Hashable, scope: str | None = None) -> list[Any]:
        return collections.get_collection(self, name, scope)

    def get_collection_ref(self, name: Hashable) -> list[Any]:
        return collections.get_collection_ref(self, name)

    def get_all_collection_keys(self) -> list[str]:
        return collections.collection_keys(self)

    def clear_collection(self, name: Hashable) -> None:
        collections.clear_collection(self, name)

    def get_operation_by_name(self, name: str) -> Operation:
        operation: Operation = element_of(self, name, allow_tensor=False)
        return operation

    def get_tensor_by_name(self, name: str) -> Tensor:
        tensor: Tensor = element_of(self, name, allow_operation=False)
        return tensor

    def as_graph_element(
        self, obj: object, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        element: Tensor | Operation = element_of(self, obj, allow_tensor, allow_operation)
        return element

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        return export_graph(self, add_shapes, from_version or 0)

    @property
    def graph_def_versions(self) -> VersionDef:
        return versions_of(self)

    @property
    def building_function(self) -> bool:
        return False

    def _get_control_flow_context(self) -> Any:
        """The branch or loop that operations are being added to; libraries look for XLA in it."""
        return self.scopes.control_flow

    def _set_control_flow_context(self, ctx: Any) -> None:
        self.scopes.control_flow = ctx

    @property
    def _nodes_by_name(self) -> dict[str, Operation]:
        return {op.name: op for op in self.operations}

    @property
    def _collections(self) -> dict[Any, list[Any]]:
        return self.collections

    def _unsafe_unfinalize(self) -> None:
        self.unfinalize()

    def _attr_scope(self, attr_map: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Operations made inside also have these attributes, given as messages."""
        return building.attr_scope({name: _attr_of(value) for name, value in attr_map.items()}, self)

    def _kernel_label_map(self, op_to_kernel_label_map: Mapping[str, str]) -> AbstractContextManager[None]:
        """Operations made inside ask for kernels with labels, of which there are none here: without effect."""
        return nullcontext()

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self.unfeedable

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self.unfetchable

    def prevent_feeding(self, tensor: Tensor) -> None:
        self.unfeedable.add(tensor)

    def prevent_fetching(self, op: Operation) -> None:
        self.unfetchable.add(op)

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DTypeLike] | None = None,
        input_types: Sequence[DTypeLike] | None = None,
        name: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        op_def: Message | None = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds an operation, given by its op, tensors and AttrValue messages.

        As in TensorFlow the types of the outputs are those that the op says, whatever `dtypes` says.
        """
        return create_operation(self, op_type, inputs, name, attrs, op_def)


class BodyGraph(FunctionGraph, Graph):
    """The body of a function, while it is built."""

    @property
    def building_function(self) -> bool:
        return True


Graph.body_class = BodyGraph
