"""Objects as messages: what each is, what it leads to, and how functions are called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.messages.attrs import shape_to_proto
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.proto.messages import MetaGraphDef, SavedObject, StructuredValue
from tensorkeep.saved_model.files.argument_specs import (
    ArgumentSpec,
    encode_other,
    encode_structure,
    encode_tensor_spec,
    write_argument_spec,
)
from tensorkeep.tf1.functions.control.tracing import ConcreteFunction, Function
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.saved_model.object_tables import write_table
from tensorkeep.tf1.saved_model.object_tree import Asset, Captured, ObjectTree
from tensorkeep.tf1.training.objects.trackable import TrackedDict, TrackedList
from tensorkeep.tf1.variables.resource import ResourceVariable

_LISTS: Final = "trackable_list_wrapper"
_DICTS: Final = "trackable_dict_wrapper"
_TUPLES: Final = "trackable_tuple_wrapper"
_PLAIN: Final = "_generic_user_object"
_CONSTANT: Final = "tf.TrackableConstant"


@encode_other.register
def _encode_spec(spec: TensorSpec, proto: StructuredValue) -> None:
    encode_tensor_spec(spec.dtype, spec.shape, spec.name, proto)


def write_objects(
    meta_graph: MetaGraphDef,
    objects: ObjectTree,
    captured: Captured,
    tensors: Mapping[Tensor, Tensor],
    functions: Sequence[ConcreteFunction],
    files: Sequence[Tensor],
) -> None:
    """Writes all objects. `files` are the paths and tables that files belong to, in the order of the model's files."""
    proto = meta_graph.object_graph_def
    for item, children in zip(objects.items, objects.children, strict=True):
        node = proto.nodes.add()
        for name, number in children.items():
            node.children.add(node_id=number, local_name=name)
        if isinstance(item, Asset):
            node.asset.asset_file_def_index = files.index(item.asset_path)
        else:
            _write_kind(node, item, objects)
        if isinstance(item, ConcreteFunction):
            for index, tensor in enumerate(item.captured):
                if tensor not in captured.variables and tensor not in captured.assets:
                    node.children.add(node_id=captured.number(tensor), local_name=f"capture_{index}")
    for tensor in captured.values:
        node = proto.nodes.add(registered_name=_CONSTANT)
        node.constant.operation = tensors[tensor].op.name
    for handle, table in captured.tables.items():
        write_table(proto, table, files.index(handle) if handle in files else None)
    for concrete in functions:
        saved = proto.concrete_functions[concrete.name]
        saved.bound_inputs.extend(captured.number(tensor) for tensor in concrete.captured)
        encode_structure((concrete.arguments, dict(concrete.keywords)), saved.canonicalized_input_signature)
        encode_structure(concrete.structured_outputs, saved.output_signature)


def _write_kind(node: SavedObject, item: Any, objects: ObjectTree) -> None:
    if isinstance(item, ResourceVariable):
        variable = node.variable
        variable.dtype = item.dtype.base_dtype.number
        variable.shape.CopyFrom(shape_to_proto(plain_shape(item.shape)))
        variable.trainable = bool(item.trainable)
        variable.name = item.op.name
        variable.synchronization = item.synchronization.value
        variable.aggregation = item.aggregation.value
    elif isinstance(item, Function):
        node.function.concrete_functions.extend(trace.name for trace in item.concrete_functions(objects.graph))
        write_argument_spec(node.function.function_spec, _argument_spec(item.signature), item.input_signature)
    elif isinstance(item, ConcreteFunction):
        bare = node.bare_concrete_function
        bare.concrete_function_name = item.name
        bare.argument_keywords.extend(item.parameters)
        bare.allowed_positional_arguments = len(flatten(item.arguments))
        if item.python_signature is not None:
            write_argument_spec(bare.function_spec, _argument_spec(item.python_signature))
    else:
        kinds = ((TrackedList, _LISTS), (TrackedDict, _DICTS), (tuple, _TUPLES))
        plain = next((name for kind, name in kinds if isinstance(item, kind)), _PLAIN)
        identifier, metadata = objects.extras.identity(item) or (plain, "")
        node.user_object.identifier, node.user_object.metadata = identifier, metadata
        node.user_object.version.producer = node.user_object.version.min_consumer = 1


def _argument_spec(signature: inspect.Signature) -> ArgumentSpec:
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    positional = [item for item in parameters if item.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    keywords = [item for item in parameters if item.kind is kinds.KEYWORD_ONLY]

    def of_kind(kind: Any) -> Iterator[str]:
        return (item.name for item in parameters if item.kind is kind)

    defaults = tuple(item.default for item in positional if item.default is not kinds.empty)
    return ArgumentSpec(
        tuple(item.name for item in positional),
        next(of_kind(kinds.VAR_POSITIONAL), None),
        next(of_kind(kinds.VAR_KEYWORD), None),
        defaults or None,
        tuple(item.name for item in keywords),
        {item.name: item.default for item in keywords if item.default is not kinds.empty},
    )
