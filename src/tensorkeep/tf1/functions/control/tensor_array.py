"""TensorArray: tensors by index, written and read by the rounds of a loop.

Whoever writes gets a new object: it has the same handle and another flow, a tensor that does nothing but order what
touches the array. Gradients follow the flow, and gather in an array of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, colocate_with, control_dependencies, device, graph_of, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.control.tensor_arrays import (
    tensor_array_close_v3,
    tensor_array_concat_v3,
    tensor_array_gather_v3,
    tensor_array_grad_v3,
    tensor_array_read_v3,
    tensor_array_scatter_v3,
    tensor_array_size_v3,
    tensor_array_split_v3,
    tensor_array_v3,
    tensor_array_write_v3,
)
from tensorkeep.ops.shared.expressions import cast, first_size, shape_of, span
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape


class TensorArray:
    """An array of tensors of one type. Every place is written at most once, and read once unless told otherwise."""

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            _check_wrapping(handle, flow, size, dynamic_size, clear_after_read, tensor_array_name, element_shape)
        elif size is None:
            raise InvalidArgumentError("Argument `size` must be provided if handle is not provided.")
        self._dtype = DType.of(dtype).base_dtype
        self._size = size
        self._dynamic_size = dynamic_size or False
        self._infer_shape = infer_shape
        # What all objects of one array share: the shape of its elements, and what it is placed with.
        self._element_shape = [UNKNOWN_SHAPE if element_shape is None else plain_shape(element_shape)]
        self._colocates = colocate_with_first_write_call
        self._colocated: list[Tensor] = []
        with name_scope(chosen_name(name, "TensorArray"), graph_of([handle, size, flow])) as scope:
            if handle is not None and flow is not None:
                self._handle, self._flow = handle, flow
                return
            options: dict[str, Any] = {
                "dtype": self._dtype,
                "element_shape": self._element_shape[0],
                "identical_element_shapes": infer_shape,
                "dynamic_size": self._dynamic_size,
                "clear_after_read": True if clear_after_read is None else clear_after_read,
                "tensor_array_name": tensor_array_name or "",
                "name": scope,
            }
            if self._colocates:
                with device(None), colocate_with(None, ignore_existing=True):
                    self._handle, self._flow = tensor_array_v3(size, **options)
            else:
                self._handle, self._flow = tensor_array_v3(size, **options)

    @property
    def handle(self) -> Tensor:
        return self._handle

    @property
    def flow(self) -> Tensor:
        """The tensor that waits for everything that has happened to the array."""
        return self._flow

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        return TensorShape(self._element_shape[0])

    def with_flow(self, flow: Tensor) -> TensorArray:
        """The array as it is at another point of its history, which `flow` stands for."""
        other = TensorArray(
            self._dtype,
            handle=self._handle,
            flow=flow,
            infer_shape=self._infer_shape,
            colocate_with_first_write_call=self._colocates,
        )
        other._dynamic_size, other._size = self._dynamic_size, self._size
        other._element_shape, other._colocated = self._element_shape, self._colocated
        return other

    def identity(self) -> TensorArray:
        return self.with_flow(identity(self._flow))

    # ------------------------------------------------------------------------------------------ reading

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        value = emit(tensor_array_read_v3, self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self._element_shape[0])
        return value

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor, along a new first axis."""
        with colocate_with(self._handle), name_scope(chosen_name(name, "TensorArrayStack"), self._handle.graph):
            value = self.gather(span(0, self.size()), name=name)
            known = self._element_shape[0]
            if known.dims is not None and not self._dynamic_size and self._size is not None:
                value.set_shape(Shape((_static_size(self._size), *known.dims)))
            return value

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """Some elements as one tensor."""
        known = self._element_shape[0]
        value = emit(
            tensor_array_gather_v3, self._handle, indices, self._flow, dtype=self._dtype, element_shape=known, name=name
        )
        if known.dims is not None:
            value.set_shape(Shape((None, *known.dims)))
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements one after the other, along their first axis."""
        known = self._element_shape[0]
        rest = UNKNOWN_SHAPE if known.dims is None else Shape(known.dims[1:])
        value: Tensor = tensor_array_concat_v3(
            self._handle, self._flow, dtype=self._dtype, element_shape_except0=rest, name=name
        )[0]
        if known.dims:
            rows: int | None = None
            if self._infer_shape:
                size = constant_value(self.size())
                if size is not None and known.dims[0] is not None:
                    rows = int(size) * known.dims[0]
            value.set_shape(Shape((rows, *known.dims[1:])))
        return value

    def size(self, name: str | None = None) -> Tensor:
        if not self._dynamic_size and self._size is not None:
            return convert(self._size, INT32)
        return emit(tensor_array_size_v3, self._handle, self._flow, name=name)

    # ------------------------------------------------------------------------------------------ writing

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        with name_scope(chosen_name(name, "TensorArrayWrite"), self._handle.graph):
            tensor = self._converted(value)
            self._merge_element_shape(tensor.static_shape)
            with self._colocated_with(tensor):
                flow = tensor_array_write_v3(self._handle, index, tensor, self._flow, name=name)
            return self.with_flow(flow)

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes the rows of `value`, from index 0 on."""
        with name_scope(chosen_name(name, "TensorArrayUnstack"), self._handle.graph):
            if not isinstance(value, Tensor):
                with name_scope("Shape") as scope:
                    shape = shape_of(convert(value), scope)
            else:
                shape = shape_of(value)
            return self.scatter(span(0, first_size(shape)), value, name=name)

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """Writes the rows of `value` to `indices`."""
        with name_scope(chosen_name(name, "TensorArrayScatter"), self._handle.graph):
            tensor = self._converted(value)
            dims = tensor.static_shape.dims
            self._merge_element_shape(UNKNOWN_SHAPE if dims is None else Shape(dims[1:]))
            with self._colocated_with(tensor):
                flow = tensor_array_scatter_v3(self._handle, indices, tensor, self._flow, name=name)
            return self.with_flow(flow)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """Splits `value` along its first dimension into parts of the given lengths, and writes part i at index i."""
        with name_scope(chosen_name(name, "TensorArraySplit"), self._handle.graph):
            tensor = convert(value, self._dtype, "value")
            with self._colocated_with(tensor):
                wide = _wide(lengths)
                self._merge_split_shape(tensor, wide)
                flow = tensor_array_split_v3(self._handle, tensor, wide, self._flow, name=name)
            return self.with_flow(flow)

    def _merge_split_shape(self, value: Tensor, lengths: Tensor) -> None:
        known, dims = constant_value(lengths), value.static_shape.dims
        if dims is not None and known is not None and known.ndim and known.max() == known.min():
            self._merge_element_shape(Shape((int(known[0]), *dims[1:])))

    def _converted(self, value: Any) -> Tensor:
        tensor = convert(value, name="value", preferred_dtype=self._dtype)
        if tensor.dtype.base_dtype is not self._dtype:
            raise InvalidArgumentError(
                f"Inconsistent dtype: trying to write {tensor.dtype.base_dtype} to a TensorArray of {self._dtype}"
            )
        return tensor

    def _merge_element_shape(self, shape: Shape) -> None:
        known = self._element_shape[0]
        if not known.is_compatible(shape):
            raise InvalidArgumentError(
                f"Inconsistent shapes: saw {TensorShape(shape)} but expected {TensorShape(known)} "
            )
        if self._infer_shape:
            self._element_shape[0] = known.merge(shape)

    @contextmanager
    def _colocated_with(self, value: Tensor) -> Iterator[None]:
        """The array goes where the first value goes that is written to it."""
        if not self._colocates:
            yield
            return
        if not self._colocated:
            self._colocated.append(value)
        with colocate_with(self._colocated[0]):
            yield

    # ------------------------------------------------------------------------------------------ the rest

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array in which the gradients of this one add up, for one call of `gradients`."""
        flow = self._flow if flow is None else flow
        with name_scope(chosen_name(name, "TensorArrayGrad"), self._handle.graph), colocate_with(self._handle):
            handle, _ = tensor_array_grad_v3(self._handle, flow, source=source, name=name)
            with control_dependencies([handle]):
                flow = identity(flow, name="gradient_flow")
            made = TensorArray(
                self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            made._element_shape = self._element_shape
            return made

    def close(self, name: str | None = None) -> Operation:
        """Gives the memory back."""
        made: Operation = tensor_array_close_v3(self._handle, name=name)
        return made


def _check_wrapping(
    handle: Any, flow: Any, size: Any, dynamic_size: Any, clear_after_read: Any, name: Any, element_shape: Any
) -> None:
    """What cannot be said of an array that exists already."""
    if name:
        raise InvalidArgumentError("Cannot provide both `handle` and `tensor_array_name` arguments at the same time.")
    if not isinstance(handle, Tensor):
        raise WrongTypeError(f"Expected `handle` to be a Tensor, but got `{handle}` of type `{type(handle)}` instead.")
    told = {
        "size": size,
        "element_shape": element_shape,
        "dynamic_size": dynamic_size,
        "clear_after_read": clear_after_read,
    }
    for what, value in told.items():
        if value is not None:
            raise InvalidArgumentError(f"Cannot provide both `handle` and `{what}` arguments at the same time.")
    if flow is None:
        raise InvalidArgumentError("flow must not be None if handle is not None.")


def _static_size(size: Any) -> int | None:
    if isinstance(size, Tensor):
        known = constant_value(size)
        return None if known is None else int(known)
    return int(size)


def _wide(lengths: Any) -> Tensor:
    with name_scope("Cast") as scope:
        tensor = lengths if isinstance(lengths, Tensor) else convert(lengths, name="x")
        return cast(tensor, INT64, scope)


# ---------------------------------------------------------------------------------------------------- Gradients


def _source(tensor: Tensor) -> str:
    """Which call of `gradients` a tensor belongs to, by its name: each has arrays of its own."""
    tokens = tensor.name.split("/")
    positions = [i for i, token in enumerate(tokens) if token.startswith("gradients")]
    if not positions:
        raise InvalidArgumentError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {tensor.name}. This means that "
            "a tf.gradients op with this op in its dependency path has a custom name that does not start with "
            "'gradients'. Please make sure all calls to tf.gradients that have non-empty `name` arguments use names "
            "that start with 'gradients'."
        )
    return "/".join(tokens[: positions[-1] + 1])


def _gradient_array(op: Operation, dtype: DType, flow: Tensor, source: str) -> TensorArray:
    array = TensorArray(dtype, handle=op.inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(source, flow)


def _after_write(op: Operation, flow: Tensor) -> Tensor:
    """The gradient's flow, behind the write that it undoes."""
    done = identity(op.outputs[0], name="flow_out")
    with control_dependencies([done]):
        barrier = emit(identity, flow, name="write_barrier")
    return barrier


@tensor_array_read_v3.gradient
def tensor_array_read_gradient(op: Operation, dy: Tensor) -> tuple[None, None, Tensor]:
    _, index, flow = op.inputs
    array = _gradient_array(op, op.get_attr("dtype"), flow, _source(dy))
    return None, None, array.write(index, dy).flow


@tensor_array_write_v3.gradient
def tensor_array_write_gradient(op: Operation, dflow: Tensor) -> tuple[None, None, Tensor, Tensor]:
    source = _source(dflow)
    flow = _after_write(op, dflow)
    array = _gradient_array(op, op.get_attr("T"), flow, source)
    return None, None, array.read(op.inputs[1]), flow


@tensor_array_gather_v3.gradient
def tensor_array_gather_gradient(op: Operation, dy: Tensor) -> tuple[None, None, Tensor]:
    _, indices, flow = op.inputs
    array = _gradient_array(op, op.get_attr("dtype"), flow, _source(dy))
    return None, None, array.scatter(indices, dy).flow


@tensor_array_scatter_v3.gradient
def tensor_array_scatter_gradient(op: Operation, dflow: Tensor) -> tuple[None, None, Tensor, Tensor]:
    source = _source(dflow)
    flow = _after_write(op, dflow)
    array = _gradient_array(op, op.get_attr("T"), flow, source)
    return None, None, array.gather(op.inputs[1]), flow


@tensor_array_concat_v3.gradient
def tensor_array_concat_gradient(op: Operation, dy: Tensor, _: Tensor | None) -> tuple[None, Tensor]:
    array = _gradient_array(op, op.get_attr("dtype"), op.inputs[1], _source(dy))
    return None, array.split(dy, op.outputs[1]).flow


@tensor_array_split_v3.gradient
def tensor_array_split_gradient(op: Operation, dflow: Tensor) -> tuple[None, Tensor, None, Tensor]:
    source = _source(dflow)
    flow = _after_write(op, dflow)
    array = _gradient_array(op, op.get_attr("T"), flow, source)
    return None, array.concat(), None, flow


__all__ = ["TensorArray"]
