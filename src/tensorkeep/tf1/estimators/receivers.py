"""What a served model is fed: features by name, or serialized examples that are parsed into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.estimators.export_outputs import Outputs
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.parsing.examples import parse_example
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor

_FEATURE: Final = "feature"
_RECEIVER: Final = "input"
_LABEL: Final = "label"


class _Serving(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, Any] | None


class ServingInputReceiver(_Serving):
    """Features for the model, and what is fed for them; other sets of tensors may be fed instead."""

    def __new__(
        cls,
        features: Outputs,
        receiver_tensors: Outputs,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> ServingInputReceiver:
        others = None
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, Mapping):
                raise InvalidArgumentError(
                    f"receiver_tensors_alternatives must be a dict: {receiver_tensors_alternatives}."
                )
            others = {
                name: _named_tensors(fed, "receiver_tensors_alternative", _RECEIVER)
                for name, fed in receiver_tensors_alternatives.items()
            }
        return super().__new__(
            cls,
            _named_tensors(features, "feature", _FEATURE),
            _named_tensors(receiver_tensors, "receiver_tensor", _RECEIVER),
            others,
        )


class TensorServingInputReceiver(_Serving):
    """The same for a model function whose features are one tensor."""

    def __new__(
        cls,
        features: Outputs,
        receiver_tensors: Outputs,
        receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise InvalidArgumentError("features must be defined.")
        _check_tensor(features, "feature", _FEATURE)
        whole = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls, whole.features[_FEATURE], whole.receiver_tensors, whole.receiver_tensors_alternatives
        )


class SupervisedInputReceiver(NamedTuple):
    """Features and labels for the model, and what is fed for them: for exported graphs that train or evaluate."""

    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


def _named_tensors(tensors: Any, word: str, single: str) -> dict[Any, Any]:
    if tensors is None:
        raise InvalidArgumentError(f"{word}s must be defined.")
    found = dict(tensors) if isinstance(tensors, Mapping) else {single: tensors}
    for name, tensor in found.items():
        if not isinstance(name, str | int):
            raise InvalidArgumentError(f"{word} keys must be strings: {name}.")
        _check_tensor(tensor, word, name)
    return found


def _check_tensor(tensor: Any, word: str, name: object) -> None:
    if not isinstance(tensor, Tensor | SparseTensor | RaggedTensor):
        raise InvalidArgumentError(f"{word} {name} must be a Tensor, SparseTensor, or RaggedTensor.")


# ---------------------------------------------------------------------------------------------------- Making


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes features of serialized examples, which are fed as "examples"."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = placeholder(STRING, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, dict(feature_spec)), {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Tensor], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function whose features are fed as they are, in batches of any size or of the given one."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        fed = {name: _fed_for(tensor, default_batch_size) for name, tensor in features.items()}
        return ServingInputReceiver(fed, fed)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Tensor | Mapping[str, Tensor],
    labels: Tensor | Mapping[str, Tensor],
    default_batch_size: int | None = None,
) -> Callable[[], SupervisedInputReceiver]:
    """A function whose features and labels are fed as they are."""
    named_features = features if isinstance(features, Mapping) else {_RECEIVER: features}
    named_labels = labels if isinstance(labels, Mapping) else {_LABEL: labels}
    both = sorted(set(named_features) & set(named_labels))
    if both:
        raise InvalidArgumentError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = {name: _fed_for(tensor, default_batch_size) for name, tensor in named_features.items()}
        fed_labels = {name: _fed_for(tensor, default_batch_size) for name, tensor in named_labels.items()}
        return SupervisedInputReceiver(
            fed_features if isinstance(features, Mapping) else fed_features[_RECEIVER],
            fed_labels if isinstance(labels, Mapping) else fed_labels[_LABEL],
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def _fed_for(tensor: Tensor, batch_size: int | None) -> Tensor:
    dims = tensor.static_shape.dims
    shape = None if dims is None else TensorShape([batch_size, *dims[1:]])
    return placeholder(tensor.dtype.base_dtype, shape, name=tensor.op.name)
