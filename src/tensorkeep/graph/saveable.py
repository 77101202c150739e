"""What a saver saves: named tensors, and how they are put back.

Anything that a checkpoint shall hold becomes a `Saveable`: a variable has one spec, a slice of a partitioned variable
too, a lookup table has two. A class of one's own needs `op`, `name`, `specs` and `restore`; deriving it from
`SaveableObject` is the usual way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.graph import Tensor


class SaveSpec:
    """One tensor that is saved: what, under which name, and as which slice of a whole.

    `tensor` may be a function that adds the tensor to the graph when it is asked for; then `dtype` and `device` have
    to be said.
    """

    def __init__(
        self,
        tensor: Tensor | Callable[[], Tensor],
        slice_spec: str,
        name: str,
        dtype: DType | None = None,
        device: str | None = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if isinstance(tensor, Tensor) or not callable(tensor):
            self.dtype = tensor.dtype
            self.device = tensor.device if device is None else device
        elif dtype is None or device is None:
            raise InvalidArgumentError(
                "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be provided."
            )
        else:
            self.dtype = dtype
            self.device = device

    @property
    def tensor(self) -> Tensor:
        found = self._tensor
        return found() if not isinstance(found, Tensor) and callable(found) else found


@runtime_checkable
class Saveable(Protocol):
    """Something that a checkpoint can hold."""

    op: Any
    """What is saved. Two saveables of one saver must not be of the same thing."""
    name: str
    specs: Sequence[Any]

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        """An operation that sets the thing to the values read for its specs, given other shapes if there are any."""
        ...


class SaveableObject:
    """The base for saveables of one's own."""

    custom_restore: ClassVar[bool] = False
    """Whether it reads a checkpoint by itself: then `restore` is given the prefix of that in the place of tensors."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> str:
        device: str = self.specs[0].device
        return device

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        raise UnimplementedError(f"{type(self).__name__} does not say how it is restored: it has no method `restore`")
