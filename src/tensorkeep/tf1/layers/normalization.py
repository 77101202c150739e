"""Batch normalization."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike, TensorLike
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape, stop_gradient, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond, smart_constant_value
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.normalization import batch_normalization as nn_batch_normalization
from tensorkeep.tf1.functions.nn.normalization import fused_batch_norm, moments, weighted_moments
from tensorkeep.tf1.functions.numbers.elementwise import cast, sqrt
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean
from tensorkeep.tf1.layers.arguments import Function, LayerOption, Training, initializer_of
from tensorkeep.tf1.layers.base import Layer, learning_phase
from tensorkeep.tf1.layers.input_spec import InputSpec
from tensorkeep.tf1.layers.moving import assign_moving_average, assign_new_value, ones_like, renormalize_batch
from tensorkeep.tf1.variables.initializers import Ones, Zeros
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import InitializerLike

_FORMATS: Final = {(4, 1): "NCHW", (4, 3): "NHWC", (5, 1): "NCDHW", (5, 4): "NDHWC"}  # by rank and axis
_CLIPPING: Final = ("rmax", "rmin", "dmax")


class BatchNormalization(Layer):
    """Gives its inputs the mean `beta` and the standard deviation `gamma`, along all axes but some.

    Training uses the moments of the batch and moves the averages, by operations in the collection UPDATE_OPS;
    otherwise the averages are used. `fused` asks for one operation that does it all, where that is possible.
    """

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: Tensor | float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: InitializerLike = Zeros(),
        gamma_initializer: InitializerLike = Ones(),
        moving_mean_initializer: InitializerLike = Zeros(),
        moving_variance_initializer: InitializerLike = Ones(),
        beta_regularizer: Function | None = None,
        gamma_regularizer: Function | None = None,
        beta_constraint: Function | None = None,
        gamma_constraint: Function | None = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
        **kwargs: LayerOption,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **dict[str, Any](kwargs))
        if not isinstance(axis, int | list | tuple):
            raise WrongTypeError(
                f"Expected an int or a list/tuple of ints for the argument 'axis', but received: {axis!r}"
            )
        self.axis: list[int] = [axis] if isinstance(axis, int) else list(axis)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer = initializer_of(beta_initializer)
        self.gamma_initializer = initializer_of(gamma_initializer)
        self.moving_mean_initializer = initializer_of(moving_mean_initializer)
        self.moving_variance_initializer = initializer_of(moving_variance_initializer)
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.fused = fused is None or fused
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = dict(renorm_clipping or {})
        if renorm and set(self.renorm_clipping) - set(_CLIPPING):
            raise InvalidArgumentError(
                f"Received invalid keys for `renorm_clipping` argument: {renorm_clipping}. Supported values: "
                f"{list(_CLIPPING)}."
            )
        self.gamma: Any = None
        self.beta: Any = None

    @property
    def _parameter_dtype(self) -> DType:
        return FLOAT32 if self._dtype in (None, FLOAT16, BFLOAT16) else self._dtype

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        return TensorShape(input_shape)

    # ------------------------------------------------------------------------------------------ variables

    def build(self, input_shape: TensorShape) -> None:
        input_shape = TensorShape(input_shape)
        self._resolve_axes(input_shape)
        sizes = self._sizes(input_shape)
        if self.scale:
            self.gamma = self._weight("gamma", sizes)
        if self.center:
            self.beta = self._weight("beta", sizes)
        with self._without_partitioner():
            self.moving_mean = self._average("moving_mean", sizes, self.moving_mean_initializer)
            self.moving_variance = self._average("moving_variance", sizes, self.moving_variance_initializer)
            if self.renorm:
                self._build_renorm(sizes)
        self.built = True

    @contextmanager
    def _without_partitioner(self) -> Iterator[None]:
        """Moving averages are never partitioned."""
        if self._scope is None:  # a layer of Keras, whose variables never are
            yield
            return
        partitioner = self._scope.partitioner
        self._scope.set_partitioner(None)
        try:
            yield
        finally:
            self._scope.set_partitioner(partitioner)

    def _resolve_axes(self, input_shape: TensorShape) -> None:
        rank = input_shape.rank
        if not rank:
            raise InvalidArgumentError(f"Input has undefined rank. Received: input_shape={input_shape}")
        self.axis = [axis + rank if axis < 0 else axis for axis in self.axis]
        if any(not 0 <= axis < rank for axis in self.axis):
            raise InvalidArgumentError(
                f"Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank={rank}). "
                f"Received: axis={tuple(self.axis)}"
            )
        if len(self.axis) != len(set(self.axis)):
            raise InvalidArgumentError(f"Duplicate axis: {tuple(self.axis)}")
        self._check_virtual_batches()
        can_be_fused = not (
            self.renorm
            or len(self.axis) > 1
            or self.virtual_batch_size is not None
            or self.adjustment is not None
            or self._dtype not in (None, FLOAT16, BFLOAT16, FLOAT32)
        )
        self._data_format = _FORMATS.get((rank, self.axis[0]), "")
        self.fused = self.fused and can_be_fused and self._data_format != ""

    def _check_virtual_batches(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise InvalidArgumentError(
                "`virtual_batch_size` must be a positive integer that divides the true batch size of the input "
                f"tensor. Received: virtual_batch_size={self.virtual_batch_size}"
            )
        if 0 in self.axis:
            raise InvalidArgumentError(
                "When using `virtual_batch_size`, the batch dimension must be 0 and thus axis cannot include 0. "
                f"Received axis={self.axis}"
            )
        if self.adjustment is not None:
            raise InvalidArgumentError("When using `virtual_batch_size`, adjustment cannot be specified")

    def _sizes(self, input_shape: TensorShape) -> list[int]:
        """The shape of the variables: that of the axis, or if there are several that of the inputs with ones."""
        dims = input_shape.as_list()
        known = {axis: dims[axis] for axis in self.axis}
        if None in known.values():
            raise InvalidArgumentError(
                f"Input has undefined `axis` dimension. Received input with shape {input_shape} and "
                f"axis={tuple(self.axis)}"
            )
        self.input_spec = InputSpec(ndim=len(dims), axes=known)
        if len(known) == 1 and self.virtual_batch_size is None:
            return [size for size in known.values() if size is not None]
        sizes = [known.get(axis) or 1 for axis in range(len(dims))]
        if self.virtual_batch_size is not None:
            sizes.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        return sizes

    def _weight(self, name: str, sizes: list[int]) -> Any:
        return self.add_weight(
            name,
            sizes,
            dtype=self._parameter_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
        )

    def _average(self, name: str, sizes: list[int], initializer: Any) -> Any:
        return self.add_weight(
            name,
            sizes,
            dtype=self._parameter_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
        )

    def _build_renorm(self, sizes: list[int]) -> None:
        def deviation(*args: Any, **kwargs: Any) -> Any:
            initializer: Any = self.moving_variance_initializer
            return sqrt(initializer(*args, **kwargs))

        with colocate_with(self.moving_variance):
            self.moving_stddev = self._average("moving_stddev", sizes, deviation)
        with colocate_with(self.moving_mean):
            self.renorm_mean = self._average("renorm_mean", sizes, self.moving_mean_initializer)
        with colocate_with(self.moving_stddev):
            self.renorm_stddev = self._average("renorm_stddev", sizes, deviation)

    # ------------------------------------------------------------------------------------------ calls

    def call(self, inputs: Tensor, training: Training = False, mask: TensorLike | None = None) -> Tensor:
        assert self._dtype is not None  # since the first call
        inputs = cast(inputs, self._dtype)
        if training is None:
            training = learning_phase()
        if self.virtual_batch_size is not None:
            known = shape_of(inputs)
            sizes = concat([constant([-1]), known[1:]], axis=0)
            inputs = reshape(inputs, concat([constant([self.virtual_batch_size, -1]), sizes[1:]], axis=0))
            return reshape(self._normalized(inputs, training, mask), sizes)
        if self.fused:
            return self._fused(inputs, training)
        return self._normalized(inputs, training, mask)

    def _fused(self, inputs: Any, training: Any) -> Tensor:
        dtype, sizes = self._parameter_dtype, self.moving_mean.get_shape().as_list()
        beta = self.beta if self.center else constant(0.0, dtype=dtype, shape=sizes)
        gamma = self.gamma if self.scale else constant(1.0, dtype=dtype, shape=sizes)

        def normalized(is_training: bool) -> Any:
            return fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                epsilon=self.epsilon,
                is_training=is_training,
                data_format=self._data_format,
            )

        output: Tensor
        output, mean, variance = smart_cond(training, lambda: normalized(True), lambda: normalized(False))
        known = smart_constant_value(training)
        if known is not False:
            momentum = convert(self.momentum) if known else smart_cond(training, lambda: self.momentum, lambda: 1.0)
            self.add_update(lambda: assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(lambda: assign_moving_average(self.moving_variance, variance, momentum))
        return output

    def _normalized(self, inputs: Any, training: Any, mask: Any) -> Tensor:
        dtype = inputs.dtype.base_dtype
        if dtype in (FLOAT16, BFLOAT16):
            inputs = cast(inputs, FLOAT32)
        shape = inputs.get_shape()
        rank = shape.rank
        reduced = [axis for axis in range(rank) if axis not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]  # the moments are those of each virtual batch
        sizes = [shape[axis].value if axis == self.axis[0] else 1 for axis in range(rank)]

        def broadcast(value: Any) -> Any:
            if value is None or value.get_shape().rank == rank or reduced == list(range(rank - 1)):
                return value
            return reshape(value, sizes)

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        if smart_constant_value(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment is not None:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance = self._moments(inputs, reduced, training, mask)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = reduce_mean(mean, axis=1, keepdims=True)
                new_variance = reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = renormalize_batch(self, new_mean, new_variance, training)
                r = broadcast(stop_gradient(r, name="renorm_r"))
                d = broadcast(stop_gradient(d, name="renorm_d"))
                scale, offset = _then(r, d, scale, offset)
            self._move_averages(new_mean, new_variance, training)
        mean, variance = cast(mean, inputs.dtype), cast(variance, inputs.dtype)
        offset = None if offset is None else cast(offset, inputs.dtype)
        scale = None if scale is None else cast(scale, inputs.dtype)
        outputs = nn_batch_normalization(inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon)
        if dtype in (FLOAT16, BFLOAT16):
            outputs = cast(outputs, dtype)
        outputs.set_shape(shape)
        return outputs

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        assert self.adjustment is not None
        factor, bias = self.adjustment(shape_of(inputs))
        factor_used = smart_cond(training, lambda: factor, lambda: ones_like(factor))
        bias_used = smart_cond(training, lambda: bias, lambda: zeros_like(bias))
        return _then(factor_used, bias_used, scale, offset)

    def _moments(self, inputs: Any, reduced: list[int], training: Any, mask: Any) -> tuple[Any, Any]:
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        inputs = cast(inputs, self._parameter_dtype)
        if mask is None:
            mean, variance = moments(inputs, reduced, keep_dims=keep)
        else:
            assert self._dtype is not None  # since the first call
            weights = expand_dims(cast(mask, self._dtype, name="mask_weights"), -1, name="mask_weights_broadcasted")
            mean, variance = weighted_moments(inputs, reduced, weights, keep_dims=keep)
        return (
            smart_cond(training, lambda: mean, lambda: convert(self.moving_mean)),
            smart_cond(training, lambda: variance, lambda: convert(self.moving_variance)),
        )

    def _move_averages(self, mean: Any, variance: Any, training: Any) -> None:
        def move_mean() -> Any:
            return assign_moving_average(self.moving_mean, mean, self.momentum)

        def move_variance() -> Any:
            if not self.renorm:
                return assign_moving_average(self.moving_variance, variance, self.momentum)
            deviation = assign_moving_average(self.moving_stddev, sqrt(variance + self.epsilon), self.momentum)
            return assign_new_value(self.moving_variance, relu(deviation * deviation - self.epsilon))

        self.add_update(lambda: smart_cond(training, move_mean, lambda: self.moving_mean))
        self.add_update(lambda: smart_cond(training, move_variance, lambda: self.moving_variance))


def _then(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """One scale and offset after another, as one."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


def batch_normalization(
    inputs: TensorLike,
    axis: int | Sequence[int] = -1,
    momentum: Tensor | float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: InitializerLike = Zeros(),
    gamma_initializer: InitializerLike = Ones(),
    moving_mean_initializer: InitializerLike = Zeros(),
    moving_variance_initializer: InitializerLike = Ones(),
    beta_regularizer: Function | None = None,
    gamma_regularizer: Function | None = None,
    beta_constraint: Function | None = None,
    gamma_constraint: Function | None = None,
    training: Training = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Tensor:
    """Inputs with the mean `beta` and the standard deviation `gamma` along all axes but some."""
    layer = BatchNormalization(
        axis,
        momentum,
        epsilon,
        center,
        scale,
        beta_initializer,
        gamma_initializer,
        moving_mean_initializer,
        moving_variance_initializer,
        beta_regularizer,
        gamma_regularizer,
        beta_constraint,
        gamma_constraint,
        renorm,
        renorm_clipping,
        renorm_momentum,
        fused,
        trainable,
        virtual_batch_size,
        adjustment,
        name,
        _reuse=reuse,
        _scope=name,
    )
    outputs: Tensor = layer(inputs, training=training)
    return outputs
