"""Boosted trees, as models that TensorFlow 1's estimators exported run them: restored, bucketized, predicted.

Ops that grow trees, and those that collect quantiles while training, have signatures only. No TensorFlow after 2.12 has
kernels for any of these ops.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.kernel_types import Array, Handle, Value
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars, merged_shape, with_rank
from tensorkeep.ops.training._trees import Ensemble, QuantileStreams
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape

_SHARING: Final = ("container: string = ''", "shared_name: string = ''", "stateful")


def _no_outputs(*_: Any) -> tuple[()]:
    return ()


def _handle(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise InvalidArgumentError(f"expected a handle to {kind.__name__}, got a {type(value).__name__}")
    return value


# ---------------------------------------------------------------------------------------------------- Ensembles

ensemble_handle = op("BoostedTreesEnsembleResourceHandleOp() -> resource: resource", *_SHARING)


@ensemble_handle.shape
def handle_shape() -> Shape:
    return SCALAR


@ensemble_handle.stateful_kernel
def ensemble_handle_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> Ensemble:
    return ctx.shared(container, shared_name, Ensemble, Ensemble)


is_ensemble_initialized = op(
    "IsBoostedTreesEnsembleInitialized(tree_ensemble_handle: resource) -> is_initialized: bool", "stateful"
)


@is_ensemble_initialized.shape
def is_ensemble_initialized_shape(tree_ensemble_handle: Tensor) -> Shape:
    with_rank(tree_ensemble_handle, 0)
    return SCALAR


@is_ensemble_initialized.kernel
def is_ensemble_initialized_kernel(tree_ensemble_handle: Handle) -> np.bool_:
    return np.bool_(_handle(tree_ensemble_handle, Ensemble).stamp is not None)


_LOADED: Final = "(tree_ensemble_handle: resource, stamp_token: int64, tree_ensemble_serialized: string)"
create_ensemble = op(f"BoostedTreesCreateEnsemble{_LOADED}", "stateful")
deserialize_ensemble = op(f"BoostedTreesDeserializeEnsemble{_LOADED}", "stateful")


@create_ensemble.shape
@deserialize_ensemble.shape
def loaded_ensemble_shape(
    tree_ensemble_handle: Tensor, stamp_token: Tensor, tree_ensemble_serialized: Tensor
) -> tuple[()]:
    check_scalars(tree_ensemble_handle, stamp_token, tree_ensemble_serialized)
    return ()


@create_ensemble.kernel
def create_ensemble_kernel(
    tree_ensemble_handle: Handle, stamp_token: Array, tree_ensemble_serialized: Array
) -> tuple[()]:
    """An ensemble that exists stays as it is, as in TensorFlow."""
    ensemble = _handle(tree_ensemble_handle, Ensemble)
    with ensemble.lock:
        if ensemble.stamp is None:
            ensemble.load(int(stamp_token), np.asarray(tree_ensemble_serialized).item())
    return ()


@deserialize_ensemble.kernel
def deserialize_ensemble_kernel(
    tree_ensemble_handle: Handle, stamp_token: Array, tree_ensemble_serialized: Array
) -> tuple[()]:
    ensemble = _handle(tree_ensemble_handle, Ensemble)
    ensemble.load(int(stamp_token), np.asarray(tree_ensemble_serialized).item())
    return ()


serialize_ensemble = op(
    "BoostedTreesSerializeEnsemble(tree_ensemble_handle: resource) -> stamp_token: int64, "
    "tree_ensemble_serialized: string",
    "stateful",
)


@serialize_ensemble.shape
def serialize_ensemble_shape(tree_ensemble_handle: Tensor) -> tuple[Shape, Shape]:
    with_rank(tree_ensemble_handle, 0)
    return SCALAR, SCALAR


@serialize_ensemble.kernel
def serialize_ensemble_kernel(tree_ensemble_handle: Handle) -> tuple[Value, Value]:
    ensemble = _handle(tree_ensemble_handle, Ensemble).checked()
    return np.int64(ensemble.stamp), np.array(ensemble.serialized, object)


get_ensemble_states = op(
    "BoostedTreesGetEnsembleStates(tree_ensemble_handle: resource) -> stamp_token: int64, num_trees: int32, "
    "num_finalized_trees: int32, num_attempted_layers: int32, last_layer_nodes_range: int32",
    "stateful",
)


@get_ensemble_states.shape
def get_ensemble_states_shape(tree_ensemble_handle: Tensor) -> tuple[Shape, Shape, Shape, Shape, Shape]:
    with_rank(tree_ensemble_handle, 0)
    return SCALAR, SCALAR, SCALAR, SCALAR, Shape((2,))


@get_ensemble_states.kernel
def get_ensemble_states_kernel(tree_ensemble_handle: Handle) -> tuple[Value, Value, Value, Value, Value]:
    ensemble = _handle(tree_ensemble_handle, Ensemble).checked()
    trees, growing = ensemble.message.tree_metadata, ensemble.message.growing_metadata
    count = len(ensemble.trees)
    unfinished = count > 0 and not (len(trees) >= count and trees[count - 1].is_finalized)
    return (
        np.int64(ensemble.stamp),
        np.int32(count),
        np.int32(count - unfinished),
        np.int32(growing.num_layers_attempted),
        np.array([growing.last_layer_node_start, max(1, growing.last_layer_node_end)], np.int32),
    )


# ---------------------------------------------------------------------------------------------------- Predictions

_ASKED: Final = "(tree_ensemble_handle: resource, bucketized_features: num_bucketized_features * int32)"
_SIZES: Final = ("num_bucketized_features: int >= 1", "logits_dimension: int", "stateful")
predict = op(f"BoostedTreesPredict{_ASKED} -> logits: float", *_SIZES)
example_debug_outputs = op(
    f"BoostedTreesExampleDebugOutputs{_ASKED} -> examples_debug_outputs_serialized: string", *_SIZES
)


@predict.shape
def predict_shape(tree_ensemble_handle: Tensor, bucketized_features: list[Tensor], *, logits_dimension: int) -> Shape:
    return Shape((_batch(bucketized_features), logits_dimension))


@example_debug_outputs.shape
def example_debug_outputs_shape(tree_ensemble_handle: Tensor, bucketized_features: list[Tensor]) -> Shape:
    return Shape((_batch(bucketized_features),))


def _batch(features: list[Tensor]) -> int | None:
    """How many examples there are, as far as the shapes of the features tell."""
    dims = merged_shape(*features).dims
    return None if not dims else dims[0]


@predict.kernel
def predict_kernel(tree_ensemble_handle: Handle, bucketized_features: list[Array], *, logits_dimension: int) -> Array:
    ensemble = _handle(tree_ensemble_handle, Ensemble).checked()
    result: Array = ensemble.logits(_checked_features(bucketized_features), logits_dimension)
    return result


@example_debug_outputs.kernel
def example_debug_outputs_kernel(
    tree_ensemble_handle: Handle, bucketized_features: list[Array], *, logits_dimension: int
) -> Array:
    if logits_dimension != 1:
        raise UnimplementedError(f"only logits of one dimension are explained, not of {logits_dimension}")
    ensemble = _handle(tree_ensemble_handle, Ensemble).checked()
    paths = ensemble.paths(_checked_features(bucketized_features))
    outputs = np.empty(len(paths), object)
    outputs[:] = paths
    return outputs


def _checked_features(features: list[Any]) -> list[Any]:
    """The features, which must have one row for each example."""
    shapes = [np.shape(feature) for feature in features]
    if any(len(shape) not in (1, 2) or shape[0] != shapes[0][0] for shape in shapes):
        raise InvalidArgumentError(f"features must be vectors or matrices of as many rows, got shapes {shapes}")
    return features


# ---------------------------------------------------------------------------------------------------- Buckets

bucketize = op(
    "BoostedTreesBucketize(float_values: num_features * float, bucket_boundaries: num_features * float)"
    " -> buckets: num_features * int32",
    "num_features: int >= 0",
)


@bucketize.shape
def bucketize_shape(float_values: list[Tensor], bucket_boundaries: list[Tensor]) -> list[Shape]:
    for boundaries in bucket_boundaries:
        with_rank(boundaries, 1)
    batch = with_rank(float_values[0], 1) if float_values else SCALAR
    for values in float_values[1:]:
        batch = batch.merge(with_rank(values, 1))
    return [batch for _ in float_values]


@bucketize.kernel
def bucketize_kernel(float_values: list[Array], bucket_boundaries: list[Array]) -> list[Array]:
    buckets = []
    for values, boundaries in zip(float_values, bucket_boundaries, strict=True):
        # A number above the last boundary is in the last bucket.
        last = max(np.size(boundaries) - 1, 0)
        found = np.searchsorted(np.reshape(boundaries, -1), np.reshape(values, -1), side="left")
        buckets.append(np.minimum(found, last).astype(np.int32))
    return buckets


streams_handle = op("BoostedTreesQuantileStreamResourceHandleOp() -> resource: resource", *_SHARING)
streams_handle.shape(handle_shape)


@streams_handle.stateful_kernel
def streams_handle_kernel(ctx: KernelContext, *, container: bytes, shared_name: bytes) -> QuantileStreams:
    return ctx.shared(container, shared_name, QuantileStreams, QuantileStreams)


are_streams_initialized = op(
    "IsBoostedTreesQuantileStreamResourceInitialized(quantile_stream_resource_handle: resource)"
    " -> is_initialized: bool",
    "stateful",
)
are_streams_initialized.shape(is_ensemble_initialized_shape)


@are_streams_initialized.kernel
def are_streams_initialized_kernel(quantile_stream_resource_handle: Handle) -> np.bool_:
    return np.bool_(_handle(quantile_stream_resource_handle, QuantileStreams).boundaries is not None)


create_streams = op(
    "BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle: resource, epsilon: float, "
    "num_streams: int64)",
    "max_elements: int = 1099511627776",
    "stateful",
)


@create_streams.shape
def create_streams_shape(quantile_stream_resource_handle: Tensor, epsilon: Tensor, num_streams: Tensor) -> tuple[()]:
    check_scalars(quantile_stream_resource_handle, epsilon, num_streams)
    return ()


@create_streams.kernel
def create_streams_kernel(quantile_stream_resource_handle: Handle, epsilon: Array, num_streams: Array) -> tuple[()]:
    if np.ndim(epsilon) or np.ndim(num_streams) or not epsilon > 0 or num_streams < 0:
        raise InvalidArgumentError(
            f"epsilon must be a number above zero and num_streams one not below, got {epsilon} and {num_streams}"
        )
    _handle(quantile_stream_resource_handle, QuantileStreams).create(int(num_streams))
    return ()


deserialize_streams = op(
    "BoostedTreesQuantileStreamResourceDeserialize(quantile_stream_resource_handle: resource, "
    "bucket_boundaries: num_streams * float)",
    "num_streams: int >= 1",
    "stateful",
)


@deserialize_streams.shape
def deserialize_streams_shape(quantile_stream_resource_handle: Tensor, bucket_boundaries: list[Tensor]) -> tuple[()]:
    with_rank(quantile_stream_resource_handle, 0)
    for boundaries in bucket_boundaries:
        with_rank(boundaries, 1)
    return ()


@deserialize_streams.kernel
def deserialize_streams_kernel(quantile_stream_resource_handle: Handle, bucket_boundaries: list[Array]) -> tuple[()]:
    streams = _handle(quantile_stream_resource_handle, QuantileStreams)
    with streams.lock:
        if len(streams.checked()) != len(bucket_boundaries):
            raise InvalidArgumentError(
                f"boundaries of {len(bucket_boundaries)} features for {len(streams.checked())} quantile streams"
            )
        streams.boundaries = [np.array(boundaries, np.float32).reshape(-1) for boundaries in bucket_boundaries]
    return ()


get_bucket_boundaries = op(
    "BoostedTreesQuantileStreamResourceGetBucketBoundaries(quantile_stream_resource_handle: resource)"
    " -> bucket_boundaries: num_features * float",
    "num_features: int >= 0",
    "stateful",
)


@get_bucket_boundaries.shape
def get_bucket_boundaries_shape(quantile_stream_resource_handle: Tensor, *, num_features: int) -> list[Shape]:
    with_rank(quantile_stream_resource_handle, 0)
    return [Shape((None,)) for _ in range(num_features)]


@get_bucket_boundaries.kernel
def get_bucket_boundaries_kernel(quantile_stream_resource_handle: Handle, *, num_features: int) -> list[Array]:
    boundaries = _handle(quantile_stream_resource_handle, QuantileStreams).checked()
    if len(boundaries) != num_features:
        raise InvalidArgumentError(f"{num_features} features are asked for, and {len(boundaries)} streams are there")
    return list(boundaries)
