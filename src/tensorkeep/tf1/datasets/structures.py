"""The structure of a dataset's elements: what kinds of values they are made of, and as which tensors they travel.

    structure = leaf | tuple | named tuple | mapping | attrs class     of structures; a list is a tensor

A tensor travels as itself, a sparse one as a vector of three variants, a ragged one and a dataset as one variant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from tensorkeep.dtypes import INT64, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.runtime.composite_values import RaggedTensorValue, SparseTensorValue
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.type_specs import (
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    TypeSpec,
    type_spec_from_value,
)

Leaf = TypeVar("Leaf")


class AttrsStructure(Protocol):
    """An object of a class that attrs made: its attributes are parts of a structure."""

    __attrs_attrs__: ClassVar[Any]


class SelfTold(Protocol):
    """A value that says itself of what kind it is: a dataset, or one that may be missing."""

    @property
    def _type_spec(self) -> TypeSpec: ...


Nested: TypeAlias = "Leaf | tuple[Nested[Leaf], ...] | Mapping[Any, Nested[Leaf]] | AttrsStructure"
"""Leaves in tuples, mappings and classes of attrs of any depth."""
Specs: TypeAlias = "Nested[TypeSpec]"
"""The kinds of the values that elements are made of."""
Value: TypeAlias = "TensorLike | SparseTensor | SparseTensorValue | RaggedTensor | RaggedTensorValue | SelfTold | None"
"""What can be a leaf of an element."""
Element: TypeAlias = "Nested[Value]"
Types: TypeAlias = "Nested[DTypeLike]"
Shapes: TypeAlias = "ShapeLike | tuple[Shapes, ...] | Mapping[Any, Shapes] | AttrsStructure"
"""Shapes in the structure of elements: a tuple of sizes is a shape where they have a leaf."""
Classes: TypeAlias = "Nested[type | TypeSpec]"

# ---------------------------------------------------------------------------------------------------- Nested structures


def _parts(value: Any) -> list[Any] | None:
    """What a structure directly consists of; None for a leaf."""
    if isinstance(value, SparseTensorValue | RaggedTensorValue):
        return None
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    if hasattr(type(value), "__attrs_attrs__"):
        return [getattr(value, item.name) for item in type(value).__attrs_attrs__]
    return None


def flat(structure: object) -> list[Any]:
    """The leaves of a structure in order; mappings are walked in the order of their keys."""
    parts = _parts(structure)
    return [structure] if parts is None else [leaf for part in parts for leaf in flat(part)]


def pack_leaves(structure: object, leaves: Iterable[Leaf]) -> Nested[Leaf]:
    """A structure of the same form with other leaves."""
    found: Nested[Leaf] = _pack_next_leaves(structure, iter(leaves))
    return found


def _pack_next_leaves(structure: Any, leaves: Iterator[Any]) -> Any:
    parts = _parts(structure)
    if parts is None:
        return next(leaves)
    made = [_pack_next_leaves(part, leaves) for part in parts]
    if isinstance(structure, Mapping):
        found = dict(zip(sorted(structure), made, strict=True))
        ordered = {key: found[key] for key in structure}
        factory = getattr(structure, "default_factory", None)
        kind: Any = type(structure)
        return kind(factory, ordered) if factory is not None else kind(ordered)
    if hasattr(structure, "_fields") or hasattr(type(structure), "__attrs_attrs__"):
        return type(structure)(*made)
    return tuple(made)


def map_leaves(function: Callable[..., Leaf], *structures: object) -> Nested[Leaf]:
    """A structure of what a function gives for corresponding leaves of structures of one form."""
    columns = [flat(structure) for structure in structures]
    if len({len(column) for column in columns}) > 1:
        raise InvalidArgumentError(
            "The two structures don't have the same number of elements: "
            + "; ".join(f"{structure!r}" for structure in structures)
        )
    return pack_leaves(structures[0], [function(*leaves) for leaves in zip(*columns, strict=True)])


# --------------------------------------------------------------------------------------------------------------- Specs


class DatasetSpec(TypeSpec):
    """A dataset of elements of a kind, as an element of another one."""

    __slots__ = ("dataset_shape", "element_spec")

    def __init__(self, element_spec: Specs, dataset_shape: ShapeLike = ()) -> None:
        self.element_spec = element_spec
        self.dataset_shape = TensorShape(dataset_shape)
        self._said = (_Compared(element_spec), self.dataset_shape)

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, {self.dataset_shape!r})"


class _Compared:
    """A structure that is equal to another one of the same specs, and can be a key."""

    __slots__ = ("structure",)

    def __init__(self, structure: object) -> None:
        self.structure = structure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Compared) and repr(self.structure) == repr(other.structure)

    def __hash__(self) -> int:
        return hash(repr(self.structure))


class NoneTensorSpec(TypeSpec):
    """Nothing, in the place of a value."""

    __slots__ = ()


class OptionalSpec(TypeSpec):
    """An element of a kind that may be missing."""

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: Specs) -> None:
        self.element_spec = element_spec
        self._said = (_Compared(element_spec),)


def spec_of(value: Value) -> TypeSpec:
    """The kind of a leaf."""
    if value is None:
        return NoneTensorSpec()
    own = getattr(value, "_type_spec", None)
    plain: Any = value
    return own if isinstance(own, TypeSpec) else type_spec_from_value(plain)


def component_dtype(spec: TypeSpec) -> DType:
    """The type of the tensor that carries a value in a dataset."""
    found: DType = spec.dtype if isinstance(spec, TensorSpec) else VARIANT
    return found


def component_shape(spec: TypeSpec) -> Shape:
    """What is known of the shape of that tensor."""
    if isinstance(spec, TensorSpec):
        return spec.shape.plain
    if isinstance(spec, SparseTensorSpec):
        rank = spec.shape.ndims
        return Shape((3,)) if rank is None or rank <= 1 else Shape(None)
    if isinstance(spec, DatasetSpec):
        return spec.dataset_shape.plain
    return Shape(()) if not isinstance(spec, RaggedTensorSpec) or not spec.ragged_rank else Shape(None)


def travelling(specs: Specs) -> list[TypeSpec]:
    """The leaves of a structure of specs that are tensors."""
    return [spec for spec in flat(specs) if not isinstance(spec, NoneTensorSpec)]


def flat_kinds(specs: Specs) -> dict[str, Any]:
    """The attributes of an op that say of which tensors elements are made."""
    leaves = travelling(specs)
    return {
        "output_types": tuple(component_dtype(spec) for spec in leaves),
        "output_shapes": tuple(told_shape(spec) for spec in leaves),
    }


def told_shape(spec: TypeSpec) -> Shape:
    """The shape that ops are told: that of variants is left open where values may come in batches."""
    if isinstance(spec, SparseTensorSpec | RaggedTensorSpec):
        return Shape(None)
    return component_shape(spec)


# ------------------------------------------------------------------------------------------------------ Values, tensors


def normalize_element(element: Element, name: str = "normalize_element") -> Element:
    """A structure of values as one of tensors, sparse and ragged ones, and datasets."""
    with name_scope(name):
        leaves = [_normal(leaf, at) for at, leaf in enumerate(flat(element))]
    return pack_leaves(element, leaves)


def _normal(value: Any, at: int) -> Any:
    if value is None or isinstance(getattr(value, "_type_spec", None), TypeSpec):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        return RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits)
    if isinstance(value, SparseTensor | RaggedTensor):
        return value
    return convert(value, name=f"component_{at}")


def tensors_of(element: Element) -> list[Tensor]:
    """The tensors that carry a normalized element in a dataset."""
    return [_component(leaf) for leaf in flat(element) if leaf is not None]


def _component(value: Any) -> Tensor:
    if isinstance(value, SparseTensor):
        return emit("SerializeSparse", value.indices, value.values, value.dense_shape, out_type=VARIANT)
    if isinstance(value, RaggedTensor):
        return value._to_variant(batched_input=False)
    found = getattr(value, "_variant_tensor", value)
    assert isinstance(found, Tensor)
    return found


def batched_tensors_of(element: Element) -> list[Tensor]:
    """The tensors of a normalized element whose rows along the first dimension will be elements."""
    return [_rows_component(leaf) for leaf in flat(element) if leaf is not None]


def _rows_component(value: Any) -> Tensor:
    if isinstance(value, SparseTensor):
        return emit("SerializeManySparse", value.indices, value.values, value.dense_shape, out_type=VARIANT)
    if isinstance(value, RaggedTensor):
        return value._to_variant(batched_input=True)
    return _component(value)


def element_of(specs: Specs, tensors: Sequence[Tensor]) -> Element:
    """The element that tensors carry, in the structure of `specs`: the inverse of `tensors_of`."""
    left = iter(tensors)
    leaves = [None if isinstance(spec, NoneTensorSpec) else _value(spec, next(left)) for spec in flat(specs)]
    return pack_leaves(specs, leaves)


_BY_SPEC: dict[type, Callable[[Any, Tensor], Any]] = {}


def register_value(kind: type, make: Callable[[Any, Tensor], Any]) -> None:
    """Registers how a value of a kind is made of the tensor that carries it."""
    _BY_SPEC[kind] = make


def _value(spec: TypeSpec, tensor: Tensor) -> Any:
    if isinstance(spec, SparseTensorSpec):
        return _sparse_value(spec, tensor)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_value(spec, tensor)
    if type(spec) in _BY_SPEC:
        return _BY_SPEC[type(spec)](spec, tensor)
    if isinstance(spec, TensorSpec):
        tensor.set_shape(spec.shape)
    return tensor


def _sparse_value(spec: SparseTensorSpec, tensor: Tensor) -> SparseTensor:
    indices, values, sizes = emit_tensors("DeserializeSparse", tensor, dtype=spec.dtype)
    known = spec.shape.plain.dims
    if known is None:
        return SparseTensor(indices, values, sizes)
    indices.set_shape([None, len(known)])
    sizes.set_shape([len(known)])
    if any(size is not None for size in known):
        found = emit_tensors("Unpack", sizes, num=len(known), axis=0, name="unstack")
        told = [part if size is None else constant(size, INT64) for part, size in zip(found, known, strict=True)]
        sizes = emit("Pack", told, name="stack")
    sparse = SparseTensor(indices, values, sizes)
    sparse.set_shape(spec.shape)
    return sparse


def _ragged_value(spec: RaggedTensorSpec, tensor: Tensor) -> Any:
    found: Any = RaggedTensor._from_variant(
        tensor, spec.dtype, spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype
    )
    known = spec.shape.plain.dims
    if known is not None and isinstance(found, RaggedTensor):
        if known[0] is not None:
            found.row_splits.set_shape([known[0] + 1])
        found.flat_values.set_shape([None, *known[spec.ragged_rank + 1 :]])
    elif known is not None:
        found.set_shape(spec.shape)
    return found


# ---------------------------------------------------------------------------------------------- Types, shapes, classes


def spec_types(specs: Specs) -> Types:
    """The types of the values of a structure, as programs of TensorFlow 1 ask for them."""
    return map_leaves(lambda spec: spec_types(spec.element_spec) if _holds(spec) else spec.dtype, specs)


def spec_shapes(specs: Specs) -> Shapes:
    """The shapes of the values of a structure, in the same structure."""
    return map_leaves(lambda spec: spec_shapes(spec.element_spec) if _holds(spec) else spec.shape, specs)


def spec_classes(specs: Specs) -> Classes:
    """The Python classes of the values of a structure, such as Tensor or SparseTensor, in the same structure."""
    return map_leaves(lambda spec: spec if _holds(spec) else spec.value_type, specs)


def _holds(spec: object) -> bool:
    return isinstance(spec, DatasetSpec | OptionalSpec)


def specs_of(types: Types, shapes: Shapes = None, classes: Classes | None = None) -> Specs:
    """A structure of specs from types, shapes and classes, as iterators of TensorFlow 1 are told them."""
    kinds = map_leaves(DType.of, types)
    told = _shapes_like(kinds, shapes)
    chosen = pack_leaves(kinds, flat(classes)) if classes is not None else map_leaves(lambda _: Tensor, kinds)
    return map_leaves(_spec, kinds, told, chosen)


def _shapes_like(kinds: Types, shapes: Shapes) -> Shapes:
    if shapes is None:
        return map_leaves(lambda _: TensorShape(None), kinds)
    return pack_leaves(kinds, flat_shapes(kinds, shapes))


def flat_shapes(kinds: object, shapes: Any) -> list[TensorShape]:
    """Shapes that stand beside a structure: in it, a tuple, a list, a TensorShape and None are each a shape."""
    parts = _parts(kinds)
    if parts is None:
        return [TensorShape(shapes)]
    if isinstance(kinds, Mapping):
        if not isinstance(shapes, Mapping) or set(shapes) != set(kinds):
            raise WrongTypeError(f"shapes {shapes!r} do not have the structure of {kinds!r}")
        inner = [shapes[key] for key in sorted(kinds)]
    else:
        inner = list(shapes if not hasattr(type(shapes), "__attrs_attrs__") else _parts(shapes) or ())
    if len(inner) != len(parts):
        raise InvalidArgumentError(f"shapes {shapes!r} do not have the structure of {kinds!r}")
    return [shape for part, item in zip(parts, inner, strict=True) for shape in flat_shapes(part, item)]


def _spec(dtype: DType, shape: TensorShape, kind: Any) -> TypeSpec:
    if isinstance(kind, TypeSpec):
        return kind
    if kind is SparseTensor:
        return SparseTensorSpec(shape, dtype)
    if kind is RaggedTensor:
        return RaggedTensorSpec(shape, dtype)
    return TensorSpec(shape, dtype)


def with_rows(spec: TypeSpec, size: int | None) -> TypeSpec:
    """The kind of several values as one, along a new first dimension."""
    if isinstance(spec, TensorSpec):
        return TensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(TensorShape([size]).concatenate(spec.shape), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        shape = TensorShape([size]).concatenate(spec.shape)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, TensorShape([size]).concatenate(spec.dataset_shape))
    if isinstance(spec, NoneTensorSpec):
        return spec
    raise WrongTypeError(f"{spec!r} cannot be put into batches")


def without_rows(spec: Any) -> TypeSpec:
    """The kind of one of several values along the first dimension."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, spec.dataset_shape[1:])
    shape = spec.shape
    if shape.ndims == 0:
        raise InvalidArgumentError("Slicing a scalar is not supported: all components must have at least one dimension")
    inner = shape[1:] if shape.ndims is not None else TensorShape(None)
    if isinstance(spec, RaggedTensorSpec):
        if spec.ragged_rank == 1:  # its rows are ragged of no rank, which travel as variants too
            return RaggedTensorSpec(inner, spec.dtype, 0, spec.row_splits_dtype)
        return RaggedTensorSpec(inner, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(inner, spec.dtype)
    assert isinstance(spec, TensorSpec)
    return TensorSpec(inner, spec.dtype)


def common_specs(first: Specs, second: Specs) -> Specs:
    """The structure of the narrowest kinds that both structures are of."""
    if len(flat(first)) != len(flat(second)) or repr(pack_leaves(first, [0] * len(flat(first)))) != repr(
        pack_leaves(second, [0] * len(flat(second)))
    ):
        raise WrongTypeError(f"Incompatible dataset elements: {first!r} vs. {second!r}")

    def common(mine: TypeSpec, theirs: TypeSpec) -> TypeSpec:
        found = mine.most_specific_common_supertype([theirs])
        if found is None:
            raise WrongTypeError(f"No common supertype of {mine!r} and {theirs!r}: datasets have other elements")
        return found

    return map_leaves(common, first, second)
