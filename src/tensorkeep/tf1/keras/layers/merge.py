"""Layers of several inputs: sums, products, means, maxima, one beside the other, products along axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones_like
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.elementwise import cast, maximum, minimum
from tensorkeep.tf1.functions.numbers.reductions import reduce_all
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.backend.numbers import batch_dot
from tensorkeep.tf1.keras.engine.base_layer import Layer

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import LayerOptions

Masks: TypeAlias = "Sequence[Tensor | None] | None"


class _Merge(Layer):
    """What merging layers share: inputs are broadcast to each other."""

    _least = 2

    def __init__(self, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def merge(self, inputs: list[Tensor]) -> Tensor:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list | tuple) or isinstance(input_shape, TensorShape):
            raise InvalidArgumentError("A merge layer should be called on a list of inputs.")
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        if len(shapes) < self._least:
            raise InvalidArgumentError(
                f"A merge layer should be called on a list of at least {self._least} inputs. Got {len(shapes)} inputs."
            )
        batches = {shape[0] for shape in shapes if shape} - {None}
        if len(batches) > 1:
            raise InvalidArgumentError(
                f"Can not merge tensors with different batch sizes. Got tensors with shapes : {shapes}"
            )
        reduce(_broadcast_sizes, [shape[1:] for shape in shapes])
        self._needs_ranks = len({len(shape) for shape in shapes}) > 1
        self.built = True

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        if not isinstance(inputs, list | tuple):
            raise InvalidArgumentError("A merge layer should be called on a list of inputs.")
        given = list(inputs)
        if getattr(self, "_needs_ranks", False):
            ranks: list[Any] = [item.get_shape().rank for item in given]
            rank = max(ranks)
            given = [_with_rank(item, rank) for item in given]
        return self.merge(given)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        batches = {shape[0] for shape in shapes} - {None}
        inner = reduce(_broadcast_sizes, [shape[1:] for shape in shapes])
        return TensorShape([next(iter(batches)) if len(batches) == 1 else None, *inner])

    def compute_mask(self, inputs: Sequence[Tensor], mask: Masks = None) -> Tensor | None:
        if mask is None or all(item is None for item in flatten(mask)):
            return None
        if not isinstance(mask, list | tuple) or not isinstance(inputs, list | tuple) or len(mask) != len(inputs):
            raise InvalidArgumentError("`mask` and `inputs` should be lists of the same length.")
        known = [expand_dims(item, 0) for item in mask if item is not None]
        return reduce_all(concat(known, axis=0), axis=0, keepdims=False)


def _broadcast_sizes(some: list[Any], others: list[Any]) -> list[Any]:
    if len(some) < len(others):
        some, others = others, some
    found = list(some[: len(some) - len(others)])
    for one, other in zip(some[len(some) - len(others) :], others, strict=True):
        if one == 1:
            found.append(other)
        elif other == 1 or one == other:
            found.append(one)
        elif one is None or other is None:
            found.append(None)
        else:
            raise InvalidArgumentError(
                f"Operands could not be broadcast together with shapes {tuple(some)} {tuple(others)}"
            )
    return found


def _with_rank(value: Any, rank: int) -> Tensor:
    """A tensor with further axes of size one behind that of the batch."""
    for _unused in range(rank - value.get_shape().rank):
        value = expand_dims(value, axis=1)
    widened: Tensor = value
    return widened


class Add(_Merge):
    """The sum of inputs."""

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return reduce(lambda one, other: one + other, inputs)


class Subtract(_Merge):
    """The first input without the second."""

    def build(self, input_shape: TensorShape) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise InvalidArgumentError("A `Subtract` layer should be called on exactly 2 inputs")

    def merge(self, inputs: list[Tensor]) -> Tensor:
        if len(inputs) != 2:
            raise InvalidArgumentError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of inputs."""

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return reduce(lambda one, other: one * other, inputs)


class Average(_Merge):
    """The mean of inputs."""

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return reduce(lambda one, other: one + other, inputs) / len(inputs)


class Maximum(_Merge):
    """The greatest of inputs."""

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return reduce(maximum, inputs)


class Minimum(_Merge):
    """The least of inputs."""

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return reduce(minimum, inputs)


class CustomScaleLayer(Layer):
    """The first input, and the second by a number."""

    _configured = ("scale",)

    def __init__(self, scale: float, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        return inputs[0] + inputs[1] * self.scale

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        return TensorShape(input_shape[0])


class Concatenate(_Merge):
    """Inputs one beside the other, along an axis."""

    _configured = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: TensorShape) -> None:
        if not isinstance(input_shape, list | tuple) or len(input_shape) < 2:
            raise InvalidArgumentError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        for shape in shapes:
            if shape:
                del shape[self.axis]
        for other in shapes[1:]:
            differ = len(other) != len(shapes[0]) or any(
                None not in pair and pair[0] != pair[1] for pair in zip(other, shapes[0], strict=True)
            )
            if differ:
                raise InvalidArgumentError(
                    "A `Concatenate` layer requires inputs with matching shapes except for the concat axis. Got inputs "
                    f"shapes: {[tuple(TensorShape(shape).as_list()) for shape in input_shape]}"
                )
        self.built = True

    def merge(self, inputs: list[Tensor]) -> Tensor:
        return concat(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        sizes = [shape[self.axis] for shape in shapes]
        known = [size for size in sizes if size is not None]
        found = list(shapes[0])
        found[self.axis] = sum(known) if len(known) == len(sizes) else None
        return TensorShape(found)

    def compute_mask(self, inputs: Sequence[Tensor], mask: Masks = None) -> Tensor | None:
        if mask is None or all(item is None for item in flatten(mask)):
            return None
        masks = []
        pairs: Any = zip(inputs, mask, strict=True)
        for item, its_mask in pairs:
            if its_mask is None:
                masks.append(cast(ones_like(item), "bool"))
            elif its_mask.get_shape().rank < item.get_shape().rank:
                masks.append(expand_dims(its_mask, axis=-1))
            else:
                masks.append(its_mask)
        return reduce_all(concat(masks, axis=self.axis), axis=-1, keepdims=False)


class Dot(_Merge):
    """The products of two inputs along an axis of each."""

    _configured = ("axes", "normalize")

    def __init__(self, axes: int | Sequence[int], normalize: bool = False, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int) and (not isinstance(axes, list | tuple) or len(axes) != 2):
            raise InvalidArgumentError(f"Invalid type for `axes` - should be a list of 2 ints, or an int: {axes}")
        self.axes, self.normalize = axes, normalize

    def _axes_of(self, ranks: list[int]) -> list[int]:
        given = [self.axes, self.axes] if isinstance(self.axes, int) else list(self.axes)
        return [axis % rank for axis, rank in zip(given, ranks, strict=True)]

    def build(self, input_shape: TensorShape) -> None:
        if not isinstance(input_shape, list | tuple) or len(input_shape) != 2:
            raise InvalidArgumentError("A `Dot` layer should be called on a list of 2 inputs.")
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        first, second = self._axes_of([len(shape) for shape in shapes])
        if None not in (shapes[0][first], shapes[1][second]) and shapes[0][first] != shapes[1][second]:
            raise InvalidArgumentError(
                f"Dimension incompatibility {shapes[0][first]} != {shapes[1][second]}. Layer shapes: {shapes}. Chosen "
                f"axes: {first}, {second}"
            )
        self.built = True

    def merge(self, inputs: list[Tensor]) -> Tensor:
        x, y = inputs
        ranks: list[Any] = [x.get_shape().rank, y.get_shape().rank]
        axes = self._axes_of(ranks)
        if self.normalize:
            x, y = l2_normalize(x, axis=axes[0]), l2_normalize(y, axis=axes[1])
        return batch_dot(x, y, axes)

    def call(self, inputs: Sequence[Tensor]) -> Tensor:
        if not isinstance(inputs, list | tuple) or len(inputs) != 2:
            raise InvalidArgumentError("A `Dot` layer should be called on exactly 2 inputs")
        return self.merge(list(inputs))

    def compute_output_shape(self, input_shape: TensorShape) -> TensorShape:
        shapes = [TensorShape(shape).as_list() for shape in input_shape]
        first, second = self._axes_of([len(shape) for shape in shapes])
        x = [size for axis, size in enumerate(shapes[0]) if axis != first]
        y = [size for axis, size in enumerate(shapes[1]) if axis not in (0, second)]
        found = x + y
        return TensorShape(found if len(found) > 1 else [*found, 1])

    def compute_mask(self, inputs: Sequence[Tensor], mask: Masks = None) -> Tensor | None:
        return None


def _function_of(layer: type) -> Any:
    def function(inputs: Any, **kwargs: Any) -> Any:
        return layer(**kwargs)(inputs)

    function.__name__ = function.__qualname__ = layer.__name__.lower()
    function.__doc__ = layer.__doc__
    return function


add, subtract, multiply = _function_of(Add), _function_of(Subtract), _function_of(Multiply)
average = _function_of(Average)
maximum_of, minimum_of = _function_of(Maximum), _function_of(Minimum)


def concatenate(inputs: Sequence[Tensor], axis: int = -1, **kwargs: Unpack[LayerOptions]) -> Tensor:
    """Inputs one beside the other, along an axis."""
    found: Tensor = Concatenate(axis=axis, **kwargs)(inputs)
    return found


def dot(
    inputs: Sequence[Tensor], axes: int | Sequence[int], normalize: bool = False, **kwargs: Unpack[LayerOptions]
) -> Tensor:
    """The products of two inputs along an axis of each."""
    found: Tensor = Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
    return found
