"""TensorInfo: a tensor of a graph, or several that are one value, by name, with dtype and shape.

name                 a dense tensor, "x:0"
coo_sparse           the three parts of a sparse tensor
composite_tensor     the parts of any other composite, with its type
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from tensorkeep.dtypes import DType, dtype_in_graph
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.scopes import prepend_name_scope
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.proto.messages import DataType, TensorInfo, TensorShapeProto, TypeSpecProto
from tensorkeep.runtime.elements import element_of

_SHAPE_OF_OPERATION: Final = TensorShapeProto(unknown_rank=True)


def build_tensor_info(tensor: Tensor) -> TensorInfo:
    """What is known of a tensor, variable or composite before running."""
    if isinstance(tensor, IndexedSlices):
        return _indexed_slices_info(tensor)
    if hasattr(tensor, "nested_row_splits"):
        return _ragged_info(tensor)
    info = TensorInfo(dtype=_number(tensor.dtype), tensor_shape=TensorShape(tensor.get_shape()).as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def build_tensor_info_from_op(op: Operation) -> TensorInfo:
    """An operation by name, in the form of a tensor that has no dtype."""
    return TensorInfo(dtype=DataType.DT_INVALID, tensor_shape=_SHAPE_OF_OPERATION, name=op.name)


def _number(dtype: DType) -> int:
    return dtype.number


def _composite_info(spec: TypeSpecProto, components: Iterable[Any]) -> TensorInfo:
    info = TensorInfo()
    info.composite_tensor.type_spec.CopyFrom(spec)
    info.composite_tensor.components.extend(build_tensor_info(component) for component in components)
    return info


def _indexed_slices_info(slices: IndexedSlices) -> TensorInfo:
    components = [slices.values, slices.indices, *([slices.dense_shape] if slices.dense_shape is not None else [])]
    # Without a dense shape what is known is the shape of the rows, however many there are.
    shape = slices.values.static_shape if slices.dense_shape is None else slices.shape.plain
    spec = TypeSpecProto(
        type_spec_class=TypeSpecProto.INDEXED_SLICES_SPEC,
        type_spec_class_name="IndexedSlicesSpec",
        num_flat_components=len(components),
    )
    state = spec.type_state.tuple_value.values
    state.add().tensor_shape_value.CopyFrom(TensorShape(shape).as_proto())
    state.add().tensor_dtype_value = slices.values.dtype.number
    state.add().tensor_dtype_value = slices.indices.dtype.number
    if slices.dense_shape is None:
        state.add().none_value.SetInParent()
    else:
        state.add().tensor_dtype_value = slices.dense_shape.dtype.number
    state.add().tensor_shape_value.CopyFrom(slices.indices.shape.as_proto())
    return _composite_info(spec, components)


def _ragged_info(ragged: Any) -> TensorInfo:
    """A RaggedTensor, known by its parts, so that who has none need not load what they are made of."""
    components = [ragged.flat_values, *ragged.nested_row_splits]
    spec = TypeSpecProto(
        type_spec_class=TypeSpecProto.RAGGED_TENSOR_SPEC,
        type_spec_class_name="RaggedTensorSpec",
        num_flat_components=len(components),
    )
    state = spec.type_state.tuple_value.values
    state.add().tensor_shape_value.CopyFrom(TensorShape(ragged.shape).as_proto())
    state.add().tensor_dtype_value = ragged.dtype.number
    state.add().int64_value = ragged.ragged_rank
    state.add().tensor_dtype_value = components[-1].dtype.number
    return _composite_info(spec, components)


# ------------------------------------------------------------------------------------------------------ back to tensors

CompositeMaker = Callable[[TypeSpecProto, list[Any]], Any]

_MAKERS: Final[dict[int, CompositeMaker]] = {
    TypeSpecProto.INDEXED_SLICES_SPEC: lambda spec, parts: IndexedSlices(*parts),
    TypeSpecProto.SPARSE_TENSOR_SPEC: lambda spec, parts: SparseTensor(*parts),
}


def register_composite(type_spec_class: int, make: CompositeMaker) -> None:
    """Says how a value of a type is made of its parts."""
    _MAKERS[type_spec_class] = make


def get_tensor_from_tensor_info(tensor_info: TensorInfo, graph: Graph, import_scope: str | None = None) -> Any:
    """The tensor or composite of a graph that a TensorInfo describes; NotFoundError if the graph does not have it."""

    def tensor(name: str) -> Any:
        return element_of(graph, prepend_name_scope(name, import_scope), allow_operation=False)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        parts = (names.indices_tensor_name, names.values_tensor_name, names.dense_shape_tensor_name)
        return SparseTensor(*map(tensor, parts))
    if encoding == "composite_tensor":
        spec = tensor_info.composite_tensor.type_spec
        make = _MAKERS.get(spec.type_spec_class)
        if make is None:
            raise InvalidArgumentError(
                f"a value of type {spec.type_spec_class_name or spec.type_spec_class} is not made here; its parts are "
                f"{', '.join(part.name for part in tensor_info.composite_tensor.components)}"
            )
        return make(spec, [tensor(part.name) for part in tensor_info.composite_tensor.components])
    raise InvalidArgumentError(
        f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse`, `composite_tensor`, or `name` for a dense "
        "tensor."
    )


def get_element_from_tensor_info(
    tensor_info: TensorInfo, graph: Graph, import_scope: str | None = None
) -> Tensor | Operation:
    """The tensor or operation of a graph that a TensorInfo names; NotFoundError if the graph does not have it."""
    found: Tensor | Operation = element_of(graph, prepend_name_scope(tensor_info.name, import_scope))
    return found


# ----------------------------------------------------------------------------------------------------------- properties


def tensor_names(tensor_info: TensorInfo) -> list[str]:
    """The names of all tensors that a TensorInfo is about."""
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        return [names.values_tensor_name, names.indices_tensor_name, names.dense_shape_tensor_name]
    if encoding == "composite_tensor":
        return [name for part in tensor_info.composite_tensor.components for name in tensor_names(part)]
    return [tensor_info.name] if tensor_info.name else []


def describe_tensor_info(tensor_info: TensorInfo) -> str:
    """Dtype and shape, as "float32 (?, 6)"; of a composite also of what kind it is. Never fails."""
    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "composite_tensor":
        spec = tensor_info.composite_tensor.type_spec
        parts = ", ".join(map(describe_tensor_info, tensor_info.composite_tensor.components))
        return f"{spec.type_spec_class_name or 'composite'} of ({parts})"
    kind = "sparse " if encoding == "coo_sparse" else ""
    return f"{kind}{_dtype_name(tensor_info.dtype)} {_shape_text(tensor_info.tensor_shape)}"


def _dtype_name(number: int) -> str:
    try:
        return dtype_in_graph(number).name
    except DataLossError:
        return f"dtype {number}"


def _shape_text(shape: TensorShapeProto) -> str:
    if shape.unknown_rank:
        return "of any shape"
    return f"({', '.join('?' if dim.size < 0 else str(dim.size) for dim in shape.dim)})"
