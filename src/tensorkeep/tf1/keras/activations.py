"""`tf.keras.activations`: functions between layers, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.nn import activations as nn
from tensorkeep.tf1.functions.numbers import elementwise
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum
from tensorkeep.tf1.keras.backend.activating import elu, hard_sigmoid, relu, sigmoid, softplus, softsign, tanh
from tensorkeep.tf1.keras.named_objects import by_name_or_config, deserialize_keras_object

Value = TypeVar("Value")


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Numbers as probabilities along an axis."""
    values = convert(x)
    rank = values.get_shape().rank
    if rank == 2:
        return nn.softmax(values)
    if rank is not None and rank > 2:
        weights = elementwise.exp(values - reduce_max(values, axis=axis, keepdims=True))
        return weights / reduce_sum(weights, axis=axis, keepdims=True)
    raise InvalidArgumentError(f"Cannot apply softmax to a tensor that is 1D. Received input: {values}")


def selu(x: TensorLike) -> Tensor:
    """`elu`, scaled so that means and variances stay."""
    return nn.selu(x)


def swish(x: TensorLike) -> Tensor:
    """`x * sigmoid(x)`."""
    return nn.swish(x)


def exponential(x: TensorLike) -> Tensor:
    """e to the power of `x`."""
    return elementwise.exp(x)


def linear(x: Value) -> Value:
    """`x` itself."""
    return x


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function
    for function in (
        elu,
        exponential,
        hard_sigmoid,
        linear,
        relu,
        selu,
        sigmoid,
        softmax,
        softplus,
        softsign,
        swish,
        tanh,
    )
}


def serialize(activation: Callable[..., Any]) -> str:
    """The name of a function."""
    return str(activation.__name__)


def deserialize(name: object, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Tensor]:
    """The function of that name."""
    found: Callable[..., Tensor] = deserialize_keras_object(name, _FUNCTIONS, custom_objects, "activation function")
    return found


def get(identifier: object) -> Callable[..., Tensor]:
    """A function by its name, or as itself; without one, the linear one."""
    if identifier is None:
        return linear
    found: Callable[..., Tensor] = by_name_or_config(
        identifier, deserialize, "activation function", calls_classes=False
    )
    return found
