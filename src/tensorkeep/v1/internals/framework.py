"""What `tensorflow.python.framework.ops` and its neighbours have besides the names of `tf`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final, SupportsInt

from tensorkeep.dtypes import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UINT8,
    UINT16,
)
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph import building
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, SizeLike, TensorLike
from tensorkeep.graph.collections import collection_keys
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.capabilities import tensorflow_ops
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.metagraph import collections as proto_functions
from tensorkeep.metagraph.op_list import known_op_def
from tensorkeep.proto.messages import Message, OpDef, TensorProto
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.functions.gradients.reverse_walk import gradient_function
from tensorkeep.tf1.variables.resource import BaseResourceVariable
from tensorkeep.v1.framework import convert_to_tensor, convert_to_tensor_or_indexed_slices, is_tensor

DEFAULT_GRAPH_SEED: Final = 87654321
_NUMBERS: Final = count()

bool_ref, float32_ref, float64_ref = BOOL.ref, FLOAT32.ref, FLOAT64.ref
int32_ref, int64_ref, string_ref = INT32.ref, INT64.ref, STRING.ref
bfloat16_ref, float16_ref, half_ref, int8_ref = BFLOAT16.ref, FLOAT16.ref, FLOAT16.ref, INT8.ref
int16_ref, uint8_ref, uint16_ref = INT16.ref, UINT8.ref, UINT16.ref
complex64_ref, complex128_ref, double_ref = COMPLEX64.ref, COMPLEX128.ref, FLOAT64.ref


class EagerTensor:
    """The type of tensors that have values at once, of which there are none here."""


class NullContextmanager:
    """A context that does nothing."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class RegisterShape:
    """Decorates what TensorFlow before 1.0 took for the shape rule of an op; the op has its own."""

    def __init__(self, op_type: str) -> None:
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return f


def convert_n_to_tensor(
    values: Sequence[TensorLike],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
) -> list[Tensor]:
    """The tensors of several values."""
    names = [None if name is None else f"{name}_{index}" for index in range(len(values))]
    return [convert_to_tensor(value, dtype, one, preferred_dtype) for value, one in zip(values, names, strict=True)]


def convert_n_to_tensor_or_indexed_slices(
    values: Iterable[Any], dtype: DTypeLike | None = None, name: str | None = None
) -> list[Any]:
    """The tensors of several values; slices, and None, stay as they are."""
    return [
        value if value is None else convert_to_tensor_or_indexed_slices(value, dtype, name and f"{name}_{index}")
        for index, value in enumerate(values)
    ]


def internal_convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
    preferred_dtype: DTypeLike | None = None,
    **others: object,
) -> Tensor:
    """As `tf.convert_to_tensor`; of a variable, with `as_ref`, what it is assigned by."""
    if as_ref and isinstance(reference := getattr(value, "_ref", lambda: None)(), Tensor):
        return reference
    return convert_to_tensor(value, dtype, name, preferred_dtype)


def convert_to_tensor_v2(
    value: TensorLike, dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """`tf.convert_to_tensor` with the arguments of TensorFlow 2."""
    return convert_to_tensor(value, dtype, name, dtype_hint)


def convert_to_sparse_tensor(value: object) -> SparseTensor:
    """The sparse tensor of a sparse value; WrongTypeError of anything else."""
    found = SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value
    if not isinstance(found, SparseTensor):
        raise WrongTypeError("Input must be a SparseTensor.")
    return found


def is_sparse(x: object) -> bool:
    """Whether it is a sparse tensor, or the value of one."""
    return isinstance(x, SparseTensor | SparseTensorValue)


def is_dense_tensor_like(x: object) -> bool:
    """Whether it is a tensor or stands for one, as a variable does."""
    return is_tensor(x) and not isinstance(x, SparseTensor | IndexedSlices)


def is_resource_variable(var: object) -> bool:
    """Whether it is a variable that is a resource, or the like of one."""
    return isinstance(var, BaseResourceVariable) or hasattr(var, "_should_act_as_resource_variable")


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Nothing to do: what can be converted stands for a tensor."""


def register_proto_function(
    collection_name: str,
    proto_type: type[Message] | None = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Says how the items of a collection become messages in meta graphs, and come back."""
    proto_functions.register_proto_function(collection_name, proto_type, to_proto, from_proto)


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """What makes a message of an item of a collection; None if nobody has said."""
    return proto_functions.proto_functions(collection_name).to_proto


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """What makes an item of a collection of its message; None if nobody has said."""
    return proto_functions.proto_functions(collection_name).from_proto


# ------------------------------------------------------------------------------------------------------------- names


def get_name_scope() -> str:
    """The name scope that is open, without a slash behind it."""
    return building.current_graph().scopes.name


def name_from_scope_name(name: str) -> str:
    """A scope's name without the slash behind it."""
    return name[:-1] if name.endswith("/") else name


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with, also where it is that of a control input or of a colocation."""
    for mark in ("loc:@", "^", ""):
        if export_scope and name.startswith(f"{mark}{export_scope.rstrip('/')}/"):
            return mark + name[len(mark) + len(export_scope.rstrip("/")) + 1 :]
    return name


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name with a scope in front of it, also where it is that of a control input or of a colocation."""
    if not import_scope:
        return name
    mark = next(mark for mark in ("loc:@", "^", "") if name.startswith(mark))
    return f"{mark}{import_scope.rstrip('/')}/{name[len(mark) :]}"


def uid() -> int:
    """A number that has not been given yet in this process."""
    return next(_NUMBERS)


def tensor_id(tensor: object) -> int:
    """A number that tells a tensor from the others there are."""
    return id(tensor)


def get_all_collection_keys() -> list[Any]:
    """The names of the collections of the graph being built."""
    return list(collection_keys(building.current_graph()))


def graph_from_inputs(op_input_list: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph that some values are of; the one being built if none of them is of a graph."""
    return graph or building.graph_of(op_input_list)


# --------------------------------------------------------------------------------------------------- ops and gradients


def get_gradient_function(op: Operation) -> Callable[..., Any] | None:
    """The function that builds the gradient of an operation; None if it has none."""
    return gradient_function(op) if op.inputs else None


def get_registered_ops() -> dict[str, OpDef]:
    """The signatures of all ops, by name."""
    found = ((name, known_op_def(name)) for name in sorted(tensorflow_ops()))
    return {name: op_def for name, op_def in found if op_def is not None}


def unchanged_shape(op: Operation) -> list[TensorShape]:
    """The shape of the first input, as the shapes that an operation gives."""
    return [op.inputs[0].shape]


# -------------------------------------------------------------------------------------------------------------- shapes


def as_shape(shape: ShapeLike) -> TensorShape:
    """The shape that is meant by sizes, or a shape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None, **kwargs: int) -> TensorShape:
    """A shape of which nothing but, if given, its rank is known."""
    known = rank if rank is not None else kwargs.get("ndims")
    return TensorShape(None if known is None else [None] * known)


def scalar() -> TensorShape:
    """The shape of a number alone."""
    return TensorShape([])


def vector(length: SizeLike) -> TensorShape:
    """The shape of so many numbers."""
    return TensorShape([length])


def matrix(rows: SizeLike, cols: SizeLike) -> TensorShape:
    """The shape of rows of columns."""
    return TensorShape([rows, cols])


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """What is known without running anything of the shape that a tensor holds."""
    return TensorShape(constant_shape(tensor))


def ShapeEquals(tensor_proto: TensorProto, shape: Iterable[SupportsInt]) -> bool:  # noqa: N802 - as TensorFlow calls it
    """Whether a TensorProto has a shape."""
    return [dim.size for dim in tensor_proto.tensor_shape.dim] == [int(size) for size in shape]


def set_shapes_for_outputs(op: Operation) -> None:
    """Nothing to do: an operation knows its shapes from its making."""


def tensor_of_shape(
    s: TensorShape, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """The tensor of a shape that is wholly known."""
    return convert_to_tensor(s, dtype, name or "shape_as_tensor")


def tensor_of_dimension(
    d: Dimension, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """The tensor of a size that is known."""
    return convert_to_tensor(d, dtype, name)


def tensor_of_constant(
    v: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """The tensor of a value of Python or NumPy."""
    return convert_to_tensor(v, dtype, name)
