"""Maxima and means of windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.layers.collecting import collect_named_outputs, data_format_name, n_positive_integers
from tensorkeep.tf1.functions.nn.pooling import pool as nn_pool
from tensorkeep.tf1.layers.pooling import AveragePooling2D, AveragePooling3D, MaxPooling2D, MaxPooling3D
from tensorkeep.tf1.variables.options import CollectionNames

_IMAGES: Final = ("NCHW", "NHWC")
_VOLUMES: Final = ("NCDHW", "NDHWC")


def _pool_inputs(layer: type, default: str, formats: Sequence[str], told: Mapping[str, Any]) -> Tensor:
    data_format = data_format_name(told["data_format"], formats)
    with name_scope(told["scope"] or default) as opened:
        pooling = layer(
            pool_size=told["kernel_size"],
            strides=told["stride"],
            padding=told["padding"],
            data_format=data_format,
            _scope=opened,
        )
        outputs = pooling(convert(told["inputs"]))
        return collect_named_outputs(told["outputs_collections"], opened, outputs)


@add_arg_scope
def avg_pool2d(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    stride: IntegersLike = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The means of windows of images."""
    return _pool_inputs(AveragePooling2D, "AvgPool2D", _IMAGES, locals())


@add_arg_scope
def avg_pool3d(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    stride: IntegersLike = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The means of windows of volumes."""
    return _pool_inputs(AveragePooling3D, "AvgPool3D", _VOLUMES, locals())


@add_arg_scope
def max_pool2d(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    stride: IntegersLike = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The maxima of windows of images."""
    return _pool_inputs(MaxPooling2D, "MaxPool2D", _IMAGES, locals())


@add_arg_scope
def max_pool3d(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    stride: IntegersLike = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The maxima of windows of volumes."""
    return _pool_inputs(MaxPooling3D, "MaxPool3D", _VOLUMES, locals())


@add_arg_scope
def pool(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: IntegersLike = 1,
    stride: IntegersLike = 1,
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The maxima ("MAX") or means ("AVG") of windows in any number of dimensions."""
    with name_scope(scope or f"{pooling_type.lower()}_pool") as opened:
        found = convert(inputs)
        rank = found.static_shape.rank
        if rank is None:
            raise InvalidArgumentError("Rank of inputs must be known")
        if rank < 3:
            raise InvalidArgumentError(f"Rank of inputs must be >= 3, got {rank}")
        spatial = rank - 2
        outputs = nn_pool(
            found,
            window_shape=n_positive_integers(spatial, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(spatial, dilation_rate),
            strides=n_positive_integers(spatial, stride),
            name=opened,
        )
        return collect_named_outputs(outputs_collections, opened, outputs)
