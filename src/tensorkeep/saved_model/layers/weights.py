"""Arrays as the weights of layers: what they must be, and the variables that they become."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.variables.variable import Variable

Sizes: TypeAlias = tuple[int | None, ...]


class Layer(Protocol):
    """A step of a model: a value that, called with a tensor, adds nodes to its graph and gives the result.

    Its weights become variables of the graph, with the arrays as first values, in the type of the tensor.
    """

    @property
    def takes(self) -> Sizes | None:
        """The shape of what it takes, with the batch first, as far as weights say it; None if they do not."""

    def __call__(self, x: Tensor) -> Tensor: ...


def array_of(value: object, ranks: tuple[int, ...], what: str) -> Array:
    """The numbers of an array, a tensor of PyTorch, a list; InvalidArgumentError if they have another rank."""
    found = np.asarray(value)
    if found.dtype.kind not in "fiub" and found.dtype.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        raise WrongTypeError(f"{what} must be an array of numbers, got {found.dtype} {found.shape}")
    if found.ndim not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise InvalidArgumentError(f"{what} must have {wanted} dimensions, got shape {found.shape}")
    return found


def optional_array(value: object, ranks: tuple[int, ...], what: str) -> Array | None:
    return None if value is None else array_of(value, ranks, what)


def check_sizes(what: str, wanted: int, **arrays: Array | None) -> None:
    """InvalidArgumentError, about all of them, if the last dimension of some array is not as wanted."""
    wrong = [
        f"{name} has shape {array.shape}"
        for name, array in arrays.items()
        if array is not None and array.shape[-1:] not in ((wanted,), ())
    ]
    if wrong:
        raise InvalidArgumentError(f"{what}: {', '.join(wrong)}; the last dimension must be {wanted}")


def set_fields(layer: object, **values: object) -> None:
    """Gives a frozen value its fields in the form in which they are kept."""
    for name, value in values.items():
        object.__setattr__(layer, name, value)


def check_input(layer: object, x: Tensor, ranks: tuple[int, ...] | None, size: int | None) -> int:
    """The rank of a tensor of floats, whose last dimension is `size`; InvalidArgumentError if it is something else."""
    who = type(layer).__name__
    if not x.dtype.is_floating:
        raise InvalidArgumentError(
            f"{who} takes floating point numbers, got {x.dtype}; put a Cast before it, or an Embedding"
        )
    sizes = known_sizes(layer, x)
    if ranks is not None and len(sizes) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise InvalidArgumentError(f"{who} takes tensors of {wanted} dimensions, with the batch, got shape {x.shape}")
    if size is not None and sizes[-1:] not in ((size,), (None,)):
        raise InvalidArgumentError(f"{who} takes tensors whose last dimension is {size}, got shape {x.shape}")
    return len(sizes)


def known_sizes(layer: object, x: Tensor) -> Sizes:
    if x.shape.rank is None:
        raise InvalidArgumentError(f"{type(layer).__name__} has to know how many dimensions its input has")
    return tuple(x.shape.as_list())


def weight(value: Array, dtype: DType, name: str) -> Variable:
    """A variable of the graph being built, of this type, whose first value is an array."""
    return Variable(value.astype(dtype.array_dtype), name=name, use_resource=True)
