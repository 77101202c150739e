"""What a layer asks of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.structures import flatten


class InputSpec:
    """The type, the rank and the sizes that an input of a layer must have; what is None may be anything."""

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: ShapeLike = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | None] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else DType.of(dtype).name
        dims = TensorShape(shape).plain.dims
        self.shape = None if dims is None else tuple(dims)
        self.ndim = ndim if dims is None else len(dims)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.allow_last_axis_squeeze, self.name, self.optional = allow_last_axis_squeeze, name, optional
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (AttributeError, TypeError, ValueError):
            raise WrongTypeError(f"Argument `axes` must be a dict with integer keys. Received: axes={axes}") from None
        most = self.ndim if self.ndim is not None else max_ndim
        if self.axes and most is not None and max(self.axes) >= most:
            raise InvalidArgumentError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}")

    def __repr__(self) -> str:
        told = {name: getattr(self, name) for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}
        return f"InputSpec({', '.join(f'{name}={value}' for name, value in told.items() if value)})"

    def problem(self, value: Tensor) -> str | None:
        """What is wrong with an input, or None."""
        shape: TensorShape = value.get_shape()
        if shape.dims is None:
            return None
        return self._rank_problem(shape) or self._type_problem(value) or self._size_problem(shape)

    def _rank_problem(self, shape: TensorShape) -> str | None:
        rank = shape.rank or 0
        if self.ndim not in (None, rank) and not self.allow_last_axis_squeeze:
            return f"expected ndim={self.ndim}, found ndim={rank}. Full shape received: {shape}"
        if self.max_ndim is not None and rank > self.max_ndim:
            return f"expected max_ndim={self.max_ndim}, found ndim={rank}"
        if self.min_ndim is not None and rank < self.min_ndim:
            return f"expected min_ndim={self.min_ndim}, found ndim={rank}. Full shape received: {shape}"
        return None

    def _type_problem(self, value: Any) -> str | None:
        found = value.dtype.base_dtype.name
        return None if self.dtype in (None, found) else f"expected dtype={self.dtype}, found dtype={found}"

    def _size_problem(self, shape: TensorShape) -> str | None:
        sizes = shape.as_list()
        for axis, size in self.axes.items():
            if size is not None and sizes[axis] not in (size, None):
                return f"expected axis {axis} of input shape to have value {size}, but received shape {shape}"
        wanted = list(self.shape or ())
        if self.allow_last_axis_squeeze:
            sizes, wanted = _without_last_one(sizes), _without_last_one(wanted)
        if any(None not in pair and pair[0] != pair[1] for pair in zip(wanted, sizes, strict=False)):
            return f"expected shape={self.shape}, found shape={shape}"
        return None


def _without_last_one(sizes: list[int | None]) -> list[int | None]:
    return sizes[:-1] if sizes and sizes[-1] == 1 else sizes


def check_inputs(spec: InputSpec | Sequence[InputSpec | None] | None, inputs: Structure, layer: str) -> None:
    """Raises unless the inputs of a layer fit its `input_spec`."""
    if not spec:
        return
    specs, values = flatten(spec), flatten(inputs)
    for value in values:
        if value is not None and not hasattr(value, "get_shape"):
            raise WrongTypeError(
                f"Inputs to a layer should be tensors. Got '{value}' (of type {type(value)}) as input for layer "
                f"'{layer}'."
            )
    if len(values) != len(specs):
        raise InvalidArgumentError(
            f'Layer "{layer}" expects {len(specs)} input(s), but it received {len(values)} input tensors. '
            f"Inputs received: {values}"
        )
    for i, (one, value) in enumerate(zip(specs, values, strict=True)):
        problem = None if one is None or value is None else one.problem(value)
        if problem is not None:
            raise InvalidArgumentError(f'Input {i} of layer "{layer}" is incompatible with the layer: {problem}')
