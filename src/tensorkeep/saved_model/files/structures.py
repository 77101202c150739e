"""Structures of tensors as SavedModels store them: what a function takes, and what it gives.

    structure = TensorSpec | CompositeSpec | None | number | text | bool | dtype | shape | array
              | list, tuple, named tuple or dict of structures

A composite value (sparse, ragged, …) is several tensors. Tensors stand in the order in which they are found, those of
a dict in the order of its sorted keys.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, Final

from tensorkeep.dtypes import INT64, RESOURCE, VARIANT, DType, dtype_in_graph
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.proto.messages import StructuredValue, TypeSpecProto
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.composite_values import IndexedSlicesValue, RaggedTensorValue, SparseTensorValue
from tensorkeep.saved_model.load.tensor_values import TensorSpec, fits_exactly, fitted_array, shape_text
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_MOST_COMPONENTS: Final = 1 << 10  # of one composite value; no real one comes near
_DEEPEST: Final = 100

_Kinds = TypeSpecProto


@dataclass(frozen=True, slots=True)
class CompositeSpec:
    """A value made of several tensors."""

    kind: str
    dtype: DType | None
    shape: Shape
    components: tuple[TensorSpec, ...]

    def __str__(self) -> str:
        dtype = "" if self.dtype is None else f" of {self.dtype}"
        return f"{self.kind}{dtype} {shape_text(self.shape)}"

    def pack(self, parts: Sequence[Any]) -> Any:
        """The value that is made of these parts."""
        return _PACKERS.get(self.kind, tuple)(parts)

    def parts(self, value: object) -> list[Any] | None:
        """The parts of a value, None if it is none of this kind."""
        if isinstance(value, RaggedTensorValue) and self.kind == "RaggedTensor":
            value = (value.flat_values, *value.nested_row_splits)
        if not isinstance(value, tuple | list) or len(value) != len(self.components):
            return None
        return list(value)


def _packed_ragged(parts: Sequence[Any]) -> Any:
    value, *splits = parts
    for rows in reversed(splits):
        value = RaggedTensorValue(value, rows)
    return value


def _packed_slices(parts: Sequence[Any]) -> IndexedSlicesValue:
    return IndexedSlicesValue(parts[0], parts[1], parts[2] if len(parts) > 2 else None)


_PACKERS: Final[dict[str, Callable[[Sequence[Any]], Any]]] = {
    "SparseTensor": lambda parts: SparseTensorValue(*parts),
    "RaggedTensor": _packed_ragged,
    "IndexedSlices": _packed_slices,
}

# ---------------------------------------------------------------------------------------------------------- decoding


def decode_structure(proto: StructuredValue, depth: int = 0) -> Any:
    """The structure that a message stands for."""
    if depth > _DEEPEST:
        raise DataLossError(f"a structure of arguments or results is more than {_DEEPEST} levels deep")
    kind = proto.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    found = _DECODERS.get(kind)
    return found(getattr(proto, kind)) if found is not None else _decode_nested(proto, kind, depth + 1)


def _decode_nested(proto: StructuredValue, kind: str, depth: int) -> Any:
    if kind == "list_value":
        return [decode_structure(item, depth) for item in proto.list_value.values]
    if kind == "tuple_value":
        return tuple(decode_structure(item, depth) for item in proto.tuple_value.values)
    if kind == "dict_value":
        fields = proto.dict_value.fields
        return {key: decode_structure(fields[key], depth) for key in sorted(fields)}
    assert kind == "named_tuple_value", kind
    pairs = proto.named_tuple_value.values
    values = [decode_structure(pair.value, depth) for pair in pairs]
    name = proto.named_tuple_value.name
    is_name = name.isidentifier() and not iskeyword(name)
    made = namedtuple(name if is_name else "Values", [pair.key for pair in pairs], rename=True)  # type: ignore[misc]
    return made(*values)


def decode_type_spec(proto: TypeSpecProto) -> CompositeSpec:
    """The composite value that a message stands for."""
    state = decode_structure(proto.type_state)
    number = proto.type_spec_class
    try:
        if number == _Kinds.SPARSE_TENSOR_SPEC:
            return sparse_spec(*state[:2])
        if number == _Kinds.RAGGED_TENSOR_SPEC:
            return _ragged_spec(*state[:4])
        if number == _Kinds.INDEXED_SLICES_SPEC:
            return _slices_spec(*state[:4])
    except (TypeError, ValueError, AttributeError) as error:
        raise DataLossError(f"the state of a {proto.type_spec_class_name or number} is {state!r}: {error}") from None
    return _other_spec(proto)


def sparse_spec(shape: Shape, dtype: DType) -> CompositeSpec:
    """A sparse tensor: indices, values, shape."""
    rank = shape.rank
    parts = (
        TensorSpec(INT64, Shape((None, rank))),
        TensorSpec(dtype, Shape((None,))),
        TensorSpec(INT64, Shape((rank,))),
    )
    return CompositeSpec("SparseTensor", dtype, shape, parts)


def _ragged_spec(shape: Shape, dtype: DType, ragged_rank: int, splits_dtype: DType) -> CompositeSpec:
    if not 0 <= ragged_rank < _MOST_COMPONENTS:
        raise ValueError(f"{ragged_rank} ragged dimensions")
    inner = UNKNOWN_SHAPE if shape.dims is None else Shape((None, *shape.dims[ragged_rank + 1 :]))
    splits = (TensorSpec(splits_dtype, Shape((None,))),) * ragged_rank
    return CompositeSpec("RaggedTensor", dtype, shape, (TensorSpec(dtype, inner), *splits))


def _slices_spec(shape: Shape, dtype: DType, indices_dtype: DType, shape_dtype: DType | None) -> CompositeSpec:
    parts = [TensorSpec(dtype, UNKNOWN_SHAPE), TensorSpec(indices_dtype, Shape((None,)))]
    if shape_dtype is not None:
        parts.append(TensorSpec(shape_dtype, Shape((shape.rank,))))
    return CompositeSpec("IndexedSlices", dtype, shape, tuple(parts))


def _other_spec(proto: TypeSpecProto) -> CompositeSpec:
    """The spec of a composite value of which only the number of its tensors is known."""
    name = proto.type_spec_class_name or f"kind {proto.type_spec_class}"
    count = proto.num_flat_components or 1
    if not 0 < count < _MOST_COMPONENTS:
        raise DataLossError(f"a {name} of {count} tensors")
    dtype = RESOURCE if proto.type_spec_class == _Kinds.VARIABLE_SPEC else VARIANT
    return CompositeSpec(name, None, UNKNOWN_SHAPE, (TensorSpec(dtype, UNKNOWN_SHAPE),) * count)


def _spec_of(proto: Any) -> TensorSpec:
    return TensorSpec(dtype_in_graph(proto.dtype), shape_of_proto(proto.shape), proto.name)


def _same(value: Any) -> Any:
    return value


_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "float64_value": _same,
    "int64_value": _same,
    "string_value": _same,
    "bool_value": _same,
    "tensor_shape_value": shape_of_proto,
    "tensor_dtype_value": dtype_in_graph,
    "tensor_spec_value": _spec_of,
    "bounded_tensor_spec_value": _spec_of,
    "type_spec_value": decode_type_spec,
    "tensor_value": array_of_tensor,
    "numpy_value": array_of_tensor,
}

# ------------------------------------------------------------------------------------------------------------ walking


def tensors_of(structure: object) -> Iterator[TensorSpec]:
    """The tensors of a structure, in their order."""
    if isinstance(structure, TensorSpec):
        yield structure
    elif isinstance(structure, CompositeSpec):
        yield from structure.components
    elif isinstance(structure, Mapping):
        for key in sorted(structure):
            yield from tensors_of(structure[key])
    elif isinstance(structure, list | tuple):
        for item in structure:
            yield from tensors_of(item)


def pack(structure: Any, values: Iterator[Any]) -> Any:
    """The structure with values in the place of its tensors."""
    if isinstance(structure, TensorSpec):
        return next(values)
    if isinstance(structure, CompositeSpec):
        return structure.pack([next(values) for _ in structure.components])
    if isinstance(structure, Mapping):
        return {key: pack(structure[key], values) for key in sorted(structure)}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(pack(item, values) for item in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(pack(item, values) for item in structure)
    return structure


def flat_values(structure: object, value: object, exact: bool) -> list[Any] | None:
    """The arrays of a value of that structure, in their order; None if it is none.

    `exact` takes arrays of the very types only; otherwise numbers are converted where nothing of them is lost.
    """
    if isinstance(structure, TensorSpec):
        return _flat_tensor(structure, value, exact)
    if isinstance(structure, CompositeSpec):
        parts = structure.parts(value)
        return None if parts is None else _flat_items(structure.components, parts, exact)
    if isinstance(structure, Mapping):
        if not isinstance(value, Mapping) or set(value) != set(structure):
            return None
        keys = sorted(structure)
        return _flat_items([structure[key] for key in keys], [value[key] for key in keys], exact)
    if isinstance(structure, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(structure):
            return None
        return _flat_items(structure, value, exact)
    return [] if _is_same(structure, value) else None


def _flat_items(structures: Sequence[Any], values: Sequence[Any], exact: bool) -> list[Any] | None:
    found: list[Any] = []
    for structure, value in zip(structures, values, strict=True):
        flat = flat_values(structure, value, exact)
        if flat is None:
            return None
        found.extend(flat)
    return found


def _flat_tensor(spec: TensorSpec, value: Any, exact: bool) -> list[Any] | None:
    if exact:
        return [value] if fits_exactly(spec, value) else None
    if value is None or isinstance(value, Mapping):
        return None
    try:
        return [fitted_array(spec, value)]
    except InvalidArgumentError:
        return None


def _is_same(wanted: Any, value: Any) -> bool:
    """Whether a Python value is the one that a function was made for. True is not 1 here."""
    if type(value).__module__ == "numpy":
        return False
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def structure_text(structure: object) -> str:
    """A structure in a line."""
    if isinstance(structure, Mapping):
        return "{" + ", ".join(f"{key}: {structure_text(structure[key])}" for key in sorted(structure)) + "}"
    if isinstance(structure, list | tuple):
        listed = ", ".join(map(structure_text, structure))
        return f"[{listed}]" if isinstance(structure, list) else f"({listed})"
    return str(structure) if isinstance(structure, TensorSpec | CompositeSpec) else repr(structure)
