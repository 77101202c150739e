"""Layers of rows: dense ones, normalizations, embeddings, activations, and changes of shape and type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.layers.weights import (
    Sizes,
    array_of,
    check_input,
    check_sizes,
    known_sizes,
    optional_array,
    set_fields,
    weight,
)
from tensorkeep.tf1.functions.arrays.shapes import concat, identity, reshape, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import (
    bias_add,
    elu,
    leaky_relu,
    log_softmax,
    relu,
    relu6,
    selu,
    softmax,
    softplus,
    softsign,
)
from tensorkeep.tf1.functions.nn.normalization import batch_normalization, moments
from tensorkeep.tf1.functions.numbers.elementwise import (
    add,
    cast,
    erf,
    exp,
    multiply,
    pow,
    rsqrt,
    sigmoid,
    subtract,
    tanh,
    truediv,
)
from tensorkeep.tf1.functions.numbers.reductions import argmax

# -------------------------------------------------------------------------------------------------------- activations


def _silu(x: Tensor) -> Tensor:
    return multiply(x, sigmoid(x))


def _gelu(x: Tensor) -> Tensor:
    return multiply(multiply(x, 0.5), add(erf(multiply(x, 1 / sqrt(2))), 1.0))


def _gelu_tanh(x: Tensor) -> Tensor:
    inner = multiply(add(x, multiply(pow(x, 3.0), 0.044715)), sqrt(2 / pi))
    return multiply(multiply(x, 0.5), add(tanh(inner), 1.0))


ACTIVATIONS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "elu": elu,
    "exp": exp,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "leaky_relu": leaky_relu,
    "linear": identity,
    "log_softmax": log_softmax,
    "relu": relu,
    "relu6": relu6,
    "selu": selu,
    "sigmoid": sigmoid,
    "silu": _silu,
    "softmax": softmax,
    "softplus": softplus,
    "softsign": softsign,
    "swish": _silu,
    "tanh": tanh,
}


def check_activation(name: str | None) -> None:
    if name is not None and name not in ACTIVATIONS:
        raise InvalidArgumentError(f'there is no activation "{name}"; there are {", ".join(ACTIVATIONS)}')


def activated_tensor(x: Tensor, name: str | None) -> Tensor:
    return x if name is None else ACTIVATIONS[name](x)


@dataclass(frozen=True)
class Activation:
    """A function of each number, or (softmax, log_softmax) of the last dimension: see `ACTIVATIONS`."""

    name: str
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        check_activation(self.name)

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, None, None)
        with name_scope(self.name):
            return ACTIVATIONS[self.name](x)


# -------------------------------------------------------------------------------------------------------------- weights


@dataclass(frozen=True, eq=False)
class Dense:
    """x @ kernel + bias, along the last dimension. The kernel is [inputs, outputs]: PyTorch and scikit-learn have the
    transpose of it (`linear.weight.T`, `model.coef_.T`).
    """

    kernel: Any
    bias: Any = None
    activation: str | None = None

    def __post_init__(self) -> None:
        kernel, bias = array_of(self.kernel, (2,), "the kernel"), optional_array(self.bias, (1,), "the bias")
        check_sizes("Dense", kernel.shape[1], bias=bias)
        check_activation(self.activation)
        set_fields(self, kernel=kernel, bias=bias)

    @property
    def takes(self) -> Sizes:
        return (None, len(self.kernel))

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (2, 3, 4, 5, 6), len(self.kernel))
        with name_scope("dense"):
            return activated_tensor(linear(x, self.kernel, self.bias), self.activation)


def linear(x: Tensor, kernel: Array, bias: Array | None, suffix: str = "") -> Tensor:
    """x @ kernel + bias, of tensors of two dimensions and more."""
    found = matmul(x, weight(kernel, x.dtype, f"kernel{suffix}"))
    return found if bias is None else bias_add(found, weight(bias, x.dtype, f"bias{suffix}"))


@dataclass(frozen=True, eq=False)
class Embedding:
    """The rows of a table, by their numbers, which are int32 or int64."""

    table: Any
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        set_fields(self, table=array_of(self.table, (2, 3, 4), "the table"))

    def __call__(self, x: Tensor) -> Tensor:
        if not x.dtype.is_integer:
            raise InvalidArgumentError(f"Embedding takes integers, got {x.dtype}")
        with name_scope("embedding"):
            return gather(weight(self.table, DType.of(self.table.dtype), "table"), x)


@dataclass(frozen=True, eq=False)
class BatchNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, by channel, the last dimension."""

    mean: Any
    variance: Any
    scale: Any = None
    offset: Any = None
    epsilon: float = 1e-3

    def __post_init__(self) -> None:
        mean = array_of(self.mean, (1,), "the mean")
        others = {name: optional_array(getattr(self, name), (1,), name) for name in ("variance", "scale", "offset")}
        check_sizes("BatchNorm", len(mean), **others)
        set_fields(self, mean=mean, **others)

    @property
    def takes(self) -> Sizes | None:
        return None

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, (2, 3, 4, 5), len(self.mean))
        with name_scope("batch_norm"):
            mean, variance = weight(self.mean, x.dtype, "mean"), weight(self.variance, x.dtype, "variance")
            scale = None if self.scale is None else weight(self.scale, x.dtype, "scale")
            offset = None if self.offset is None else weight(self.offset, x.dtype, "offset")
            return batch_normalization(x, mean, variance, offset, scale, self.epsilon)


@dataclass(frozen=True, eq=False)
class LayerNorm:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, of the numbers of the last dimension."""

    scale: Any
    offset: Any = None
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        scale, offset = array_of(self.scale, (1,), "the scale"), optional_array(self.offset, (1,), "the offset")
        check_sizes("LayerNorm", len(scale), offset=offset)
        set_fields(self, scale=scale, offset=offset)

    @property
    def takes(self) -> Sizes | None:
        return None

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, None, len(self.scale))
        with name_scope("layer_norm"):
            mean, variance = moments(x, [-1], keep_dims=True)
            centred = multiply(subtract(x, mean), rsqrt(add(variance, self.epsilon)))
            scaled = multiply(centred, weight(self.scale, x.dtype, "scale"))
            return scaled if self.offset is None else add(scaled, weight(self.offset, x.dtype, "offset"))


@dataclass(frozen=True, eq=False)
class Normalize:
    """(x - mean) / scale, each a number or one number for each place of the last dimension: a StandardScaler's `mean_`
    and `scale_`.
    """

    mean: Any = 0.0
    scale: Any = 1.0

    def __post_init__(self) -> None:
        mean, scale = array_of(self.mean, (0, 1), "the mean"), array_of(self.scale, (0, 1), "the scale")
        size = max(array.size for array in (mean, scale))
        check_sizes("Normalize", size, mean=mean, scale=scale)
        if not np.all(scale):
            raise InvalidArgumentError("Normalize: the scale is zero in places, and nothing can be divided by it")
        set_fields(self, mean=mean, scale=scale)

    @property
    def takes(self) -> Sizes | None:
        sizes: set[int] = {len(array) for array in (self.mean, self.scale) if array.ndim}
        return (None, max(sizes)) if sizes else None

    def __call__(self, x: Tensor) -> Tensor:
        check_input(self, x, None, None if self.takes is None else self.takes[-1])
        with name_scope("normalize"):
            return truediv(subtract(x, weight(self.mean, x.dtype, "mean")), weight(self.scale, x.dtype, "scale"))


# ----------------------------------------------------------------------------------------------------- shapes and types


@dataclass(frozen=True)
class Cast:
    """The same numbers in another type."""

    dtype: Any
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        set_fields(self, dtype=DType.of(self.dtype))

    def __call__(self, x: Tensor) -> Tensor:
        found: Tensor = cast(x, self.dtype)
        return found


@dataclass(frozen=True)
class Reshape:
    """Each example in another shape, which does not count the batch; one size may be -1."""

    shape: Sequence[int]
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        sizes = tuple(self.shape)
        if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
            raise InvalidArgumentError(f"Reshape: one size may be -1, and none less, got {sizes}")
        set_fields(self, shape=sizes)

    def __call__(self, x: Tensor) -> Tensor:
        known_sizes(self, x)
        with name_scope("reshape"):
            if -1 not in self.shape:
                return reshape(x, [-1, *self.shape])
            return reshape(x, concat([shape_of(x)[:1], list(self.shape)], 0))


@dataclass(frozen=True)
class Flatten:
    """Each example as a row."""

    takes: Sizes | None = None

    def __call__(self, x: Tensor) -> Tensor:
        sizes = known_sizes(self, x)[1:]
        if None in sizes:
            raise InvalidArgumentError(
                f"Flatten has to know the shape of an example, and its input is {x.shape}; say it in Input(shape=...)"
            )
        return Reshape((int(np.prod([size for size in sizes if size is not None])),))(x)


@dataclass(frozen=True)
class Transpose:
    """The dimensions in another order, the batch among them: (0, 2, 3, 1) takes images of PyTorch."""

    order: Sequence[int]
    takes: Sizes | None = None

    def __post_init__(self) -> None:
        order = tuple(self.order)
        if sorted(order) != list(range(len(order))):
            raise InvalidArgumentError(f"Transpose: {order} does not name each dimension once")
        set_fields(self, order=order)

    def __call__(self, x: Tensor) -> Tensor:
        if len(known_sizes(self, x)) != len(self.order):
            raise InvalidArgumentError(f"Transpose takes tensors of {len(self.order)} dimensions, got {x.shape}")
        return transpose(x, self.order)


@dataclass(frozen=True)
class ArgMax:
    """The place of the greatest number of the last dimension, as int64."""

    takes: Sizes | None = None

    def __call__(self, x: Tensor) -> Tensor:
        return argmax(x, axis=-1)
