"""Partitioned variables: one variable in several parts along one axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.tf1.functions.arrays.shapes import concat, split
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.variable import Changed, Variable


class PartitionInfo:
    """What an initializer is told of the part that it makes: the shape of the whole, and where the part begins."""

    __slots__ = ("full_shape", "var_offset")

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        for name, sizes in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(sizes, list | tuple):
                raise WrongTypeError(
                    f"`{name}` must be a sequence (like tuple or list) instead of {type(sizes).__name__}"
                )
        if len(var_offset) != len(full_shape):
            raise InvalidArgumentError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while full_shape is of length "
                f"{len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if not 0 <= offset < size:
                raise InvalidArgumentError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self.full_shape = full_shape
        self.var_offset = var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a part of that shape begins on the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The axis that is cut, if any is."""
        if not isinstance(shape, list | tuple):
            raise WrongTypeError(f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}")
        if len(shape) != len(self.full_shape):
            raise InvalidArgumentError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for axis, size in enumerate(shape):
            if self.var_offset[axis] + size > self.full_shape[axis]:
                raise InvalidArgumentError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would exceed "
                    f"self.full_shape={self.full_shape} in dimension {axis}."
                )
        cut = [axis for axis, size in enumerate(shape) if size != self.full_shape[axis]]
        if len(cut) > 1:
            raise InvalidArgumentError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape={self.full_shape} since slice "
                f"dim could be either dimension {cut[1]} or {cut[0]}."
            )
        return cut[0] if cut else None


class PartitionedVariable:
    """Variables that are the parts of one, in order. As a tensor it is the whole."""

    def __init__(
        self,
        name: str,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike,
        variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ) -> None:
        self._check(shape, variable_list, partitions)
        self._variable_list = sorted(variable_list, key=lambda part: list(_info(part).var_offset or ()))
        self._name = name
        self._shape = TensorShape(shape)
        self._dtype = DType.of(dtype)
        self._partitions = partitions

    @staticmethod
    def _check(shape: TensorShape | Sequence[int], parts: Sequence[Variable], partitions: Sequence[int]) -> None:
        if not isinstance(parts, list | tuple):
            raise WrongTypeError(f"variable_list is not a list or tuple: {parts}")
        if not isinstance(partitions, list | tuple):
            raise WrongTypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise InvalidArgumentError(f"partition values must be positive: {partitions}")
        if not parts:
            raise InvalidArgumentError("variable_list may not be empty")
        if any(part._get_save_slice_info() is None for part in parts):
            raise InvalidArgumentError(
                f"All variables must have a save_slice_info available: {[part.name for part in parts]}"
            )
        if len(shape) != len(partitions):
            raise InvalidArgumentError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        for part in parts:
            if TensorShape(_info(part).full_shape) != TensorShape(shape):
                raise InvalidArgumentError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                    f"{[_info(part).full_shape]}"
                )

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def graph(self) -> Graph:
        return self._variable_list[0].graph

    def get_shape(self) -> TensorShape:
        return self._shape

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise InvalidArgumentError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def _get_variable_list(self) -> list[Variable]:
        return self._variable_list

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        """The axes that are cut; the first if none is."""
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def _partition_axis(self, purpose: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise UnimplementedError(f"Cannot {purpose} along more than one dimension: {axes}.")
        return axes[0]

    def as_tensor(self) -> Tensor:
        """The whole: the values of the parts, one after the other."""
        with control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        parts = self._variable_list
        whole: Variable | Tensor = parts[0]
        if len(parts) > 1:
            axis = self._partition_axis("concatenate")
            with name_scope(f"{self._name}/ConcatPartitions/"):
                whole = concat(parts, axis)
        with name_scope(None):
            return emit(identity, whole, name=self._name)

    # ------------------------------------------------------------------------------------------ changes

    def _assign_parts(
        self, assign: Callable[[Variable, TensorLike], Changed], value: TensorLike, read_value: bool
    ) -> Sequence[Changed]:
        axis = self._partition_axis("do assign action")
        values: Sequence[TensorLike]
        if isinstance(value, list):
            values = value
        elif isinstance(value, PartitionedVariable):
            values = list(value)
        else:
            values = self._split(value, axis)
        if len(values) != len(self._variable_list):
            raise InvalidArgumentError(f"{len(values)} values for {len(self._variable_list)} parts of {self._name}")
        changed = [assign(part, one) for part, one in zip(self._variable_list, values, strict=True)]
        return changed if read_value else [item if isinstance(item, Operation) else item.op for item in changed]

    def _split(self, value: TensorLike, axis: int) -> list[Tensor]:
        sizes = [int(part.shape[axis]) for part in self._variable_list]
        return split(value, sizes, axis=axis)

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Sequence[Changed]:
        """Gives the whole a value: a tensor to cut up, or a list of one for each part."""
        return self._assign_parts(lambda part, one: part.assign(one, use_locking, name, read_value), value, read_value)

    def assign_add(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Sequence[Changed]:
        """Adds to the whole; the amount is given as to `assign`."""
        return self._assign_parts(
            lambda part, one: part.assign_add(one, use_locking, name, read_value), value, read_value
        )

    def assign_sub(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Sequence[Changed]:
        """Subtracts from the whole; the amount is given as to `assign`."""
        return self._assign_parts(
            lambda part, one: part.assign_sub(one, use_locking, name, read_value), value, read_value
        )


def _info(part: Variable) -> SaveSliceInfo:
    info = part._get_save_slice_info()
    assert info is not None  # `_check` has refused parts without one
    return info


def _convert(value: PartitionedVariable, dtype: DType | None, name: str | None, as_ref: bool) -> Tensor:
    if dtype is not None and dtype.base_dtype is not value.dtype.base_dtype:
        raise InvalidArgumentError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{value.dtype.name}'"
        )
    if as_ref:
        raise UnimplementedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_conversion(PartitionedVariable, _convert)

__all__ = ["PartitionedVariable"]
