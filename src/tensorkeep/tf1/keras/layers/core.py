"""Dense layers, dropout, reshaping, masking, and functions as layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import getfullargspec
from math import prod
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, Structure
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, identity, reshape, squeeze, tile, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.nn.activations import dropout as nn_dropout
from tensorkeep.tf1.functions.numbers.elementwise import cast, not_equal
from tensorkeep.tf1.functions.numbers.reductions import reduce_any
from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.engine.tensor_notes import set_mask
from tensorkeep.tf1.keras.layers.function_texts import function_as_text, function_of_text
from tensorkeep.tf1.layers import core
from tensorkeep.tf1.layers.arguments import Function, Training
from tensorkeep.tf1.layers.base import learning_phase
from tensorkeep.tf1.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

    from tensorkeep.tf1.keras.layers.options import (
        ActivationOption,
        ConstraintOption,
        InitializerOption,
        LayerOptions,
        NamedOptions,
        RegularizerOption,
        ShapesLike,
    )


class Dense(core.Dense, Layer):
    """activation(inputs @ kernel + bias)"""

    _configured = (
        "units", "activation", "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer",
        "bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint",
    )  # fmt: skip

    def __init__(
        self,
        units: int,
        activation: ActivationOption = None,
        use_bias: bool = True,
        kernel_initializer: InitializerOption = "glorot_uniform",
        bias_initializer: InitializerOption = "zeros",
        kernel_regularizer: RegularizerOption = None,
        bias_regularizer: RegularizerOption = None,
        activity_regularizer: RegularizerOption = None,
        kernel_constraint: ConstraintOption = None,
        bias_constraint: ConstraintOption = None,
        **kwargs: Unpack[NamedOptions],
    ) -> None:
        super().__init__(
            units,
            activations.get(activation),
            use_bias,
            initializers.get(kernel_initializer),
            initializers.get(bias_initializer),
            regularizers.get(kernel_regularizer),
            regularizers.get(bias_regularizer),
            regularizers.get(activity_regularizer),
            constraints.get(kernel_constraint),
            constraints.get(bias_constraint),
            **dict[str, Any](kwargs),
        )
        self.supports_masking = True

    def build(self, input_shape: TensorShape) -> None:
        core.Dense.build(self, TensorShape(input_shape))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([*sizes[:-1], self.units])


class Dropout(core.Dropout, Layer):
    """Sets a part of its inputs to zero while training, and scales up the rest."""

    _configured = ("rate", "noise_shape", "seed")

    def __init__(
        self,
        rate: Tensor | float,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(rate, noise_shape, seed, **dict[str, Any](kwargs))
        self.supports_masking = True

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        """Every call of the layer has the same seed, as in Keras."""

        def dropped() -> Tensor:
            return nn_dropout(inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate)

        is_trained = learning_phase() if training is None else training
        outputs: Tensor = smart_cond(is_trained, dropped, lambda: identity(inputs))
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return TensorShape(input_shape)


class _SpatialDropout(Dropout):
    """Drops whole channels."""

    _configured = ("rate", "noise_shape", "seed")
    _rank = 3

    def __init__(self, rate: Tensor | float, data_format: str | None = None, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(rate, **kwargs)
        if data_format not in (None, "channels_last", "channels_first"):
            raise InvalidArgumentError('data_format must be in {"channels_last", "channels_first"}')
        self.data_format = data_format or "channels_last"
        self.input_spec = InputSpec(ndim=self._rank)

    def _noise_shape(self, inputs: Any) -> Any:
        sizes = shape_of(inputs)
        ones = [1] * (self._rank - 2)
        if self.data_format == "channels_first":
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self._rank - 1])


class SpatialDropout1D(_SpatialDropout):
    """Drops whole channels of rows."""

    def __init__(self, rate: Tensor | float, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(rate, **kwargs)


class SpatialDropout2D(_SpatialDropout):
    """Drops whole channels of images."""

    _rank = 4


class SpatialDropout3D(_SpatialDropout):
    """Drops whole channels of space."""

    _rank = 5


class Activation(Layer):
    """A function of the inputs."""

    _configured = ("activation",)

    def __init__(self, activation: ActivationOption, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.activation(inputs)
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


class Flatten(core.Flatten, Layer):
    """Each item of a batch as one row."""

    _configured = ("data_format",)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        inner: list[Any] = sizes[1:] or [1]
        return TensorShape([sizes[0], None if None in inner else prod(inner)])


class Reshape(Layer):
    """Each item of a batch in another shape, of which one size may be -1."""

    _configured = ("target_shape",)

    def __init__(self, target_shape: Sequence[int], **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes: list[Any] = TensorShape(input_shape).as_list()
        if None in sizes[1:]:
            return TensorShape([sizes[0], *(None if size == -1 else size for size in self.target_shape)])
        return TensorShape([sizes[0], *self._inferred(sizes[1:])])

    def _inferred(self, sizes: list[int]) -> list[int]:
        whole, known = prod(sizes), prod(size for size in self.target_shape if size != -1)
        unknown = self.target_shape.count(-1)
        if unknown > 1 or (unknown == 0 and whole != known) or (unknown == 1 and (known == 0 or whole % known)):
            raise InvalidArgumentError(
                f"total size of new array must be unchanged, input_shape = {sizes}, output_shape = {self.target_shape}"
            )
        return [whole // known if size == -1 else size for size in self.target_shape]

    def call(self, inputs: Tensor) -> Tensor:
        made = reshape(inputs, (shape_of(inputs)[0], *self.target_shape))
        made.set_shape(self.compute_output_shape(inputs.get_shape()))
        return made


class Permute(Layer):
    """The axes of each item in another order; the first of them has the number 1."""

    _configured = ("dims",)

    def __init__(self, dims: Sequence[int], **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise InvalidArgumentError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in `dims` must be "
                "consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])

    def call(self, inputs: Tensor) -> Tensor:
        return transpose(inputs, perm=(0, *self.dims))


class RepeatVector(Layer):
    """Each row `n` times."""

    _configured = ("n",)

    def __init__(self, n: int, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], self.n, sizes[1]])

    def call(self, inputs: Tensor) -> Tensor:
        return tile(expand_dims(inputs, 1), [1, self.n, 1])


class Masking(Layer):
    """Masks the steps of sequences all of whose numbers are `mask_value`."""

    _configured = ("mask_value",)

    def __init__(self, mask_value: float = 0.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._computes_masks_with_outputs = True

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return reduce_any(not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Tensor) -> Tensor:
        is_there = reduce_any(not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * cast(is_there, inputs.dtype)
        set_mask(outputs, squeeze(is_there, axis=-1))
        return outputs

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


class ActivityRegularization(Layer):
    """Adds a loss of its inputs, and gives them back."""

    _configured = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: ShapeLike) -> ShapeLike:
        return input_shape


def _argument_names(function: Function) -> set[str]:
    try:
        return set(getfullargspec(function).args)
    except TypeError:  # of what is written in C, nothing is known
        return set()


class Lambda(Layer):
    """A function of a program's own as a layer. Variables that it uses are not the layer's."""

    _not_followed = Layer._not_followed | {"arguments", "function", "mask"}

    def __init__(
        self,
        function: Function,
        output_shape: ShapeLike | Function = None,
        mask: Structure | Function = None,
        arguments: Mapping[str, Any] | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.function = function
        self.arguments = dict(arguments or {})
        self.mask = mask
        self.supports_masking = mask is not None
        self._output_shape = output_shape
        self._takes = {"training", "mask"} & _argument_names(function)

    def compute_output_shape(self, input_shape: ShapesLike) -> ShapesLike:
        told = self._output_shape
        if told is None:
            raise NotImplementedError(
                f"We could not automatically infer the shape of the outputs of Lambda layer {self.name}. Please "
                "specify `output_shape` for this Lambda."
            )
        if callable(told):
            found: ShapesLike = told(input_shape)
            return found
        first: Any = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(first).as_list()
        inner: Any = told
        return TensorShape([sizes[0], *inner])

    def call(self, inputs: Structure, mask: Structure = None, training: Training = None) -> Structure:
        given = dict(self.arguments)
        if "mask" in self._takes:
            given.setdefault("mask", mask)
        if "training" in self._takes:
            given.setdefault("training", training)
        outputs: Structure = self.function(inputs, **given)
        return outputs

    def compute_mask(self, inputs: Structure, mask: Structure = None) -> Structure:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self) -> dict[str, Any]:
        config = dict(Layer.get_config(self).items())
        function, kind = function_as_text(self.function)
        config.update(function=function, function_type=kind, module=self.function.__module__)
        shape, kind_of_shape = function_as_text(self._output_shape)
        config.update(output_shape=shape, output_shape_type=kind_of_shape)
        mask, kind_of_mask = function_as_text(self.mask)
        if self.mask is not None:
            config.update(mask=mask, mask_type=kind_of_mask)
        return {**config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Lambda:
        given = dict(config)
        given.pop("module", None)
        given.pop("output_shape_module", None)
        given.pop("mask_module", None)
        for name in ("function", "output_shape", "mask"):
            kind = given.pop(f"{name}_type", None)
            if name in given:
                given[name] = function_of_text(given[name], kind, custom_objects)
        return cls(**given)
