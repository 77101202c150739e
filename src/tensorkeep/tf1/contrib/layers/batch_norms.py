"""Batch normalization.

Moving averages are updated by operations that a training step must run: they go to a collection, or with
`updates_collections=None` the outputs wait for them. Where `tf.layers` does the same, its layer is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tensorkeep.dtypes import FLOAT16, FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collections
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.collecting import (
    VariableCollections,
    data_format_name,
    get_variable_collections,
    last_dimension,
)
from tensorkeep.tf1.contrib.layers.model_layers import collect_variables, finish_outputs, model_scope
from tensorkeep.tf1.functions.arrays.shapes import identity, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond, smart_constant_value
from tensorkeep.tf1.functions.nn.normalization import batch_normalization as nn_batch_normalization
from tensorkeep.tf1.functions.nn.normalization import fused_batch_norm, moments, weighted_moments
from tensorkeep.tf1.layers.arguments import Function, Training
from tensorkeep.tf1.layers.normalization import BatchNormalization
from tensorkeep.tf1.training.optimizers.moving_averages import assign_moving_average
from tensorkeep.tf1.variables.initializers import Ones, Zeros
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import variable_scope

_FORMATS: Final = ("NCHW", "NHWC")
_KINDS: Final = ("moving_mean", "moving_variance", "beta", "gamma")
_BEGIN: Final[dict[str, Any]] = {"beta": Zeros(), "gamma": Ones(), "moving_mean": Zeros(), "moving_variance": Ones()}


@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: Tensor | float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: CollectionNames | None = GraphKeys.UPDATE_OPS,
    is_training: Training = True,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    batch_weights: TensorLike | None = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: str | VariableScope | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Function | None = None,
) -> Tensor:
    """The inputs normalized by mean and variance: those of the batch in training, else their moving averages."""
    told = dict(locals())
    found = told["inputs"] = convert(inputs)
    place = data_format_name(data_format, _FORMATS)
    is_usual = updates_collections is GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    rank = found.static_shape.rank
    can_be_fused = batch_weights is None and not renorm and rank in (2, 4) and adjustment is None
    if (fused is None or fused) and can_be_fused and (rank == 2 or not is_usual):
        with variable_scope(scope, "BatchNorm", [found], reuse=reuse) as opened:
            outputs = _Norm(told, opened).fused()
            return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)
    with model_scope(scope, "BatchNorm", found, reuse) as opened:
        if batch_weights is None and is_usual:
            outputs = _by_layer(told, opened, place)
        elif renorm:
            raise InvalidArgumentError(
                "renorm is not supported with batch_weights, updates_collections or zero_debias_moving_mean"
            )
        else:
            outputs = _Norm(told, opened).plain()
        return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)


def _by_layer(told: Mapping[str, Any], opened: VariableScope, place: str) -> Tensor:
    initializers = {**_BEGIN, **(told["param_initializers"] or {})}
    regularizers = told["param_regularizers"] or {}
    layer = BatchNormalization(
        axis=1 if place == "channels_first" else -1,
        momentum=told["decay"],
        epsilon=told["epsilon"],
        center=told["center"],
        scale=told["scale"],
        beta_initializer=initializers["beta"],
        gamma_initializer=initializers["gamma"],
        moving_mean_initializer=initializers["moving_mean"],
        moving_variance_initializer=initializers["moving_variance"],
        beta_regularizer=regularizers.get("beta"),
        gamma_regularizer=regularizers.get("gamma"),
        trainable=told["trainable"],
        renorm=told["renorm"],
        renorm_clipping=told["renorm_clipping"],
        renorm_momentum=told["renorm_decay"],
        adjustment=told["adjustment"],
        fused=told["fused"] is None or told["fused"],
        name=opened.name,
        _scope=opened,
        _reuse=told["reuse"],
    )
    outputs: Tensor = layer(told["inputs"], training=told["is_training"])
    collect_variables(layer, {kind: kind for kind in _KINDS}, told["variables_collections"])
    return outputs


class _Norm:
    """Batch normalization by functions, for what the layer does not do; built where a scope is open."""

    def __init__(self, told: Mapping[str, Any], opened: VariableScope) -> None:
        self.told = told
        self.scope = opened
        self.inputs: Tensor = told["inputs"]
        self.letters: str = told["data_format"]
        self.initializers = {**_BEGIN, **(told["param_initializers"] or {})}
        self.regularizers = told["param_regularizers"] or {}

    def _channels(self, inputs: Tensor) -> TensorShape:
        shape = inputs.get_shape()
        if shape.rank is None:
            raise InvalidArgumentError(f"Inputs {inputs.name} has undefined rank.")
        channels = shape[1:2] if self.letters == "NCHW" else shape[-1:]
        if not channels.is_fully_defined():
            raise InvalidArgumentError(f"Inputs {inputs.name} has undefined channels dimension {channels}.")
        return channels

    def _variable(self, kind: str, shape: Any, dtype: DType, is_trained: bool) -> Any:
        return model_variable(
            kind,
            shape=shape,
            dtype=dtype,
            initializer=self.initializers[kind],
            regularizer=self.regularizers.get(kind),
            collections=get_variable_collections(self.told["variables_collections"], kind),
            trainable=is_trained,
        )

    def _averages(self, shape: Any, dtype: DType) -> tuple[Any, Any]:
        """The moving averages, which are never partitioned."""
        with variable_scope(get_variable_scope()) as local:
            local.set_partitioner(None)
            mean = self._variable("moving_mean", shape, dtype, False)
            return mean, self._variable("moving_variance", shape, dtype, False)

    def _moved(self, averages: tuple[Any, Any], mean: Any, variance: Any) -> list[Any]:
        decay, debias = self.told["decay"], self.told["zero_debias_moving_mean"]
        return [
            assign_moving_average(averages[0], mean, decay, zero_debias=debias),
            assign_moving_average(averages[1], variance, decay, zero_debias=False),
        ]

    # -------------------------------------------------------------------------------------------- fused

    def fused(self) -> Tensor:
        inputs = self.inputs
        rank = inputs.get_shape().rank
        if rank == 2:
            channels = last_dimension(inputs.get_shape())
            inputs = reshape(inputs, [-1, channels, 1, 1] if self.letters == "NCHW" else [-1, 1, 1, channels])
        shape, told = self._channels(inputs), self.told
        trained = told["trainable"]
        beta = self._variable("beta", shape, FLOAT32, trained) if told["center"] else constant(0.0, FLOAT32, shape)
        gamma = self._variable("gamma", shape, FLOAT32, trained) if told["scale"] else constant(1.0, FLOAT32, shape)
        averages = self._averages(shape, FLOAT32)
        options: dict[str, Any] = {"epsilon": told["epsilon"], "data_format": self.letters}
        outputs, mean, variance = smart_cond(
            told["is_training"],
            lambda: fused_batch_norm(inputs, gamma, beta, **options),
            lambda: fused_batch_norm(
                inputs, gamma, beta, mean=averages[0], variance=averages[1], is_training=False, **options
            ),
        )
        if smart_constant_value(told["is_training"]) is not False:
            outputs = self._with_updates(outputs, averages, mean, variance)
        outputs.set_shape(inputs.get_shape())
        return self._as_rows(outputs) if rank == 2 else outputs

    def _with_updates(self, outputs: Any, averages: tuple[Any, Any], mean: Any, variance: Any) -> Any:
        told = self.told

        def forced() -> Any:
            with control_dependencies(self._moved(averages, mean, variance)):
                return identity(outputs)

        if told["updates_collections"] is None:
            return smart_cond(told["is_training"], forced, lambda: outputs)
        updates = smart_cond(
            told["is_training"], lambda: self._moved(averages, mean, variance), lambda: [*map(convert, averages)]
        )
        for update in updates:
            add_to_collections(current_graph(), told["updates_collections"], update)
        return outputs

    def _as_rows(self, outputs: Any) -> Tensor:
        sizes = self.inputs.get_shape().as_list()
        if sizes.count(None) > 1:
            return reshape(outputs, shape_of(self.inputs))
        return reshape(outputs, [-1 if size is None else size for size in sizes])

    # -------------------------------------------------------------------------------------------- plain

    def plain(self) -> Tensor:
        told, inputs = self.told, self.inputs
        dtype = inputs.dtype.base_dtype
        shape = self._channels(inputs)
        rank = inputs.get_shape().rank or 0
        is_first = self.letters == "NCHW"
        axes = [axis for axis in range(rank) if axis != (1 if is_first else rank - 1)]
        broadcast = [1, shape[0].value, *[1] * (rank - 2)] if is_first else None
        kind = FLOAT32 if dtype is FLOAT16 else dtype
        beta = self._variable("beta", shape, kind, told["trainable"]) if told["center"] else None
        gamma = self._variable("gamma", shape, kind, told["trainable"]) if told["scale"] else None
        averages = self._averages(shape, kind)

        def whole(value: Any) -> Any:
            return value if value is None or broadcast is None else reshape(value, broadcast)

        known = smart_constant_value(told["is_training"])
        if known is False:
            mean, variance = averages
        else:
            mean, variance = self._batch_moments(inputs, axes, averages, known)
        outputs = nn_batch_normalization(
            inputs, whole(mean), whole(variance), whole(beta), whole(gamma), told["epsilon"]
        )
        outputs.set_shape(inputs.get_shape())
        return outputs

    def _batch_moments(self, inputs: Any, axes: list[int], averages: tuple[Any, Any], known: bool | None) -> Any:
        told = self.told
        weights = told["batch_weights"]
        if weights is None:
            mean, variance = moments(inputs, axes)
        else:
            weights = reshape(convert(weights), [-1, *[1] * (inputs.get_shape().rank - 1)])
            mean, variance = weighted_moments(inputs, axes, weights)
        if told["updates_collections"] is None:

            def forced() -> Any:
                with control_dependencies(self._moved(averages, mean, variance)):
                    return identity(mean), identity(variance)

            return smart_cond(told["is_training"], forced, lambda: tuple(map(convert, averages)))
        updates = smart_cond(
            told["is_training"], lambda: self._moved(averages, mean, variance), lambda: [*map(convert, averages)]
        )
        for update in updates:
            add_to_collections(current_graph(), told["updates_collections"], update)
        return smart_cond(told["is_training"], lambda: (mean, variance), lambda: tuple(map(convert, averages)))
