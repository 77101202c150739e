"""Estimators made of others: with further metrics, or whose predictions also have features; and clipped gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.estimators.estimator import Estimator
from tensorkeep.tf1.estimators.export_outputs import PredictOutput
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.functions.numbers.clipping import clip_by_global_norm
from tensorkeep.tf1.functions.sparse.tensors import sparse_tensor_to_dense
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Trained
from tensorkeep.tf1.variables.global_step import Step

_TOLD_TO_METRICS: Final = ("labels", "features", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]) -> Estimator:
    """An estimator whose evaluations also have what `metric_fn` gives of some of labels, features, predictions and
    config, by its arguments.
    """
    wanted = set(signature(metric_fn).parameters)
    if unknown := sorted(wanted - set(_TOLD_TO_METRICS)):
        raise InvalidArgumentError(
            f"metric_fn ({metric_fn}) has following not expected args: {unknown}; it is told {list(_TOLD_TO_METRICS)}"
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec: EstimatorSpec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        known = {"labels": labels, "features": features, "predictions": spec.predictions, "config": config}
        new = metric_fn(**{name: value for name, value in known.items() if name in wanted})
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **new})

    return _beside(estimator, model_fn)


def forward_features(
    estimator: Estimator,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Estimator:
    """An estimator whose predictions also have features, all or those of some names, such as the keys of examples.

    Sparse features need a value in `sparse_default_values` for the places where they have none.
    """
    chosen = [keys] if isinstance(keys, str) else keys
    if chosen is not None and not (isinstance(chosen, list | tuple) and all(isinstance(key, str) for key in chosen)):
        raise WrongTypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    defaults = dict(sparse_default_values or {})

    def dense_feature(name: str, features: Mapping[str, Any]) -> Any:
        feature = features[name]
        if not isinstance(feature, SparseTensor):
            return feature
        if name not in defaults:
            raise InvalidArgumentError(f"Feature ({name}) is expected to be a `Tensor`; give it a sparse_default_value")
        return sparse_tensor_to_dense(feature, default_value=defaults[name])

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        before = dict(features)  # the model function may take features out
        spec: EstimatorSpec = estimator.model_fn(features, labels, mode, config)
        if not isinstance(spec.predictions, dict):
            raise InvalidArgumentError(
                f"Predictions should be a dict to be able to forward features: {spec.predictions}"
            )
        names = sorted(before) if chosen is None else chosen
        if missing := [name for name in names if name not in before]:
            raise InvalidArgumentError(f"keys should be exist in features: {missing} are not among {sorted(before)}")
        if taken := [name for name in names if name in spec.predictions]:
            raise InvalidArgumentError(f"Forwarded feature keys ({taken}) are already exist in predictions")
        added = {name: dense_feature(name, before) for name in names}
        outputs = spec.export_outputs
        if outputs is not None:
            outputs = {
                name: PredictOutput({**output.outputs, **added}) if isinstance(output, PredictOutput) else output
                for name, output in outputs.items()
            }
        return spec._replace(predictions={**spec.predictions, **added}, export_outputs=outputs)

    return _beside(estimator, model_fn)


def call_logit_fn(
    logit_fn: Callable[..., Any], features: object, mode: str, params: object, config: object
) -> Tensor | dict[str, Tensor]:
    """What a function that makes logits gives, told those of features, mode, params and config that it takes."""
    known = {"mode": mode, "params": params, "config": config}
    wanted = signature(logit_fn).parameters
    made: Tensor | dict[str, Tensor] = logit_fn(
        features=features, **{name: value for name, value in known.items() if name in wanted}
    )
    parts = list(made.values()) if isinstance(made, dict) else [made]
    if not all(isinstance(part, Tensor) for part in parts):
        raise InvalidArgumentError(f"logit_fn should return a Tensor or a dictionary of Tensors, got {made!r}")
    return made


def replicate_model_fn(
    model_fn: Callable[..., EstimatorSpec], loss_reduction: str = "weighted_sum", devices: Sequence[str] | None = None
) -> Callable[..., EstimatorSpec]:
    """The function itself: there is one device, and so one replica. More devices than one are refused."""
    if devices is not None and len(devices) > 1:
        raise InvalidArgumentError(
            f"replicate_model_fn: there is one device here, and so one replica, but {len(devices)} were named: "
            f"{', '.join(devices)}"
        )
    return model_fn


def tower_optimizer(optimizer: Optimizer | Callable[[], Optimizer]) -> Optimizer:
    """The optimizer of the one replica: what it is told, or what a function that it is told makes."""
    return optimizer() if callable(optimizer) else optimizer


def _beside(estimator: Estimator, model_fn: Callable[..., EstimatorSpec]) -> Estimator:
    return Estimator(model_fn, estimator.model_dir, estimator.config, warm_start_from=estimator._warm_start_settings)


class ClippingOptimizer(Optimizer):
    """Another optimizer, told gradients whose norm, of all together, is at most a number."""

    def __init__(self, optimizer: Optimizer, clip_norm: TensorLike) -> None:
        super().__init__(use_locking=False, name=f"ClipByNorm{optimizer.get_name()}")
        self._optimizer = optimizer
        self._clip_norm = clip_norm

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]],
        global_step: Step | None = None,
        name: str | None = None,
    ) -> Operation:
        pairs = list(grads_and_vars)
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], self._clip_norm)
        told = [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs, strict=True)]
        return self._optimizer.apply_gradients(told, global_step=global_step, name=name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: TensorLike) -> ClippingOptimizer:
    """An optimizer that clips the gradients it is told by their global norm."""
    return ClippingOptimizer(optimizer, clip_norm)
