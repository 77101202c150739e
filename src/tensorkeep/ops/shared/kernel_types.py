"""What kernels take and give, and what rules of gradients do, as types; and arrays of strings.

Array      the value of a tensor. One without dimensions may come as a NumPy scalar, which has an array's attributes
           and methods: kernels do not ask which of the two it is.
Handle     what a tensor of a resource or reference type holds: the resource itself, of whatever kind the op that gave
           it makes. A kernel asks for the kind that it works on (`variable_of`, …), and refuses others.
Value      what a kernel gives for one output where it makes such a scalar itself
Variant    what a tensor of type variant holds where gradients flow through it
Gradient   what flows back through one tensor: another tensor, some rows of one, or nothing
Gradients  what a rule gives: one gradient per input, and without a list if there is one input
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Tensor


@runtime_checkable
class Variant(Protocol):
    """The value of a tensor of type variant, where gradients flow through it: a list of tensors, or a ragged one."""

    def zeros_like(self) -> Variant:
        """The same with zeros in the place of all elements."""
        ...


Handle: TypeAlias = object
Value: TypeAlias = Array | np.generic
Gradient: TypeAlias = Tensor | IndexedSlices | None
Gradients: TypeAlias = Gradient | Sequence[Gradient]

__all__ = ["Array", "Gradient", "Gradients", "Handle", "Value", "Variant", "string_array"]


def string_array(items: Iterable[bytes], shape: Sequence[int]) -> Array:
    """Strings as an array of a shape."""
    flat = np.empty(prod(shape), object)
    flat[:] = list(items)
    return flat.reshape(tuple(shape))
