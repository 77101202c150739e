"""`tf.keras.Input`: where models begin."""

from __future__ import annotations

from typing import Any, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import placeholder, sparse_placeholder
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.engine.nodes import Node
from tensorkeep.tf1.keras.named_objects import unique_object_name
from tensorkeep.tf1.layers.input_spec import InputSpec

Value = TypeVar("Value")


class InputLayer(Layer):
    """The layer of an input: it gives what is fed, or a tensor of the program's own."""

    @untracked_method
    def __init__(
        self,
        input_shape: ShapeLike = None,
        batch_size: int | None = None,
        dtype: DTypeLike | None = None,
        input_tensor: Tensor | None = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: object,
    ) -> None:
        if ragged:
            raise InvalidArgumentError("Inputs that are ragged are not supported: pad them, or use sparse ones")
        shape = _batch_shape(input_shape, batch_size, kwargs.pop("batch_input_shape", None), input_tensor)
        if kwargs:
            raise InvalidArgumentError(f"Unrecognized keyword arguments: {sorted(kwargs)}")
        name = name or unique_object_name("input")
        if dtype is None:
            dtype = floatx() if input_tensor is None else input_tensor.dtype.base_dtype
        super().__init__(name=name, dtype=dtype)
        self.built = True
        self.sparse, self.ragged, self.batch_size = sparse, False, batch_size
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        self._batch_input_shape = tuple(TensorShape(shape).as_list())
        if input_tensor is None:
            make: Any = sparse_placeholder if sparse else placeholder
            input_tensor = make(self._dtype, shape=shape, name=name)
        elif getattr(input_tensor, "graph", None) is None:
            raise InvalidArgumentError(f"`input_tensor` must be a tensor, but is {input_tensor!r}")
        self.input_spec = InputSpec(dtype=self._dtype, shape=self._batch_input_shape)
        Node(self, input_tensor, input_tensor)

    def get_config(self) -> dict[str, Any]:
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }

    def call(self, inputs: Value, *args: object, **kwargs: object) -> Value:
        return inputs


def _batch_shape(shape: Any, batch_size: int | None, batch_shape: Any, tensor: Any) -> tuple[Any, ...]:
    if batch_shape is not None:
        if shape is not None:
            raise InvalidArgumentError("Only provide the input_shape OR batch_input_shape argument, not both")
        return tuple(TensorShape(batch_shape).as_list())
    if shape is not None:
        return (batch_size, *TensorShape(shape).as_list())
    if tensor is None:
        raise InvalidArgumentError("An Input layer should be passed either a `batch_input_shape` or an `input_shape`")
    return tuple(tensor.get_shape().as_list())


def Input(  # noqa: N802 - TensorFlow's name
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """A tensor that models begin with: a placeholder, or the `tensor` given.

    `shape` is that of one item; `batch_shape`, by name, that of the batch.
    """
    batch_shape = kwargs.pop("batch_shape", kwargs.pop("batch_input_shape", None))
    if kwargs:
        raise InvalidArgumentError(f"Unrecognized keyword arguments: {sorted(kwargs)}")
    if shape is not None and batch_shape is not None:
        raise InvalidArgumentError("Only provide the `shape` OR `batch_shape` argument to Input, not both.")
    if shape is None and batch_shape is None and tensor is None:
        raise InvalidArgumentError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not include the "
            "batch dimension."
        )
    if isinstance(shape, int):
        raise InvalidArgumentError(f"`shape` is a tuple such as ({shape},), but a number was given")
    layer = InputLayer(
        input_shape=shape,
        batch_size=batch_size,
        dtype=dtype,
        input_tensor=tensor,
        sparse=sparse,
        name=name,
        ragged=ragged,
        batch_input_shape=batch_shape,
    )
    return layer._inbound_nodes[0].outputs
