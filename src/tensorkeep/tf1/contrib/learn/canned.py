"""The estimators of `tf.contrib.learn` whose models are there already: linear ones, networks, and both together.

Models, losses and metrics are those of `tf.estimator` under the same names; losses are means over batches, as they were
in `tf.contrib.learn`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns.column import FeatureColumn
from tensorkeep.tf1.contrib.layers.feature_columns import WHOLE_ARRAY
from tensorkeep.tf1.contrib.learn.estimators import Engineering, Estimator, RunConfig
from tensorkeep.tf1.estimators import combined, linear, networks
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.losses import Reduction
from tensorkeep.tf1.training.optimizers.base import Optimizer

_MEAN: Final = Reduction.SUM_OVER_BATCH_SIZE

OptimizerLike: TypeAlias = "str | Optimizer | Callable[[], Optimizer] | None"
"""An optimizer, its name, or a function that makes it; None: the one that the model is known by."""


class _Canned(Estimator):
    """An estimator whose model is given. Features that are one tensor have the column of the whole array."""

    _outputs: Mapping[str, str]
    """What predictions are called there, by what they are called here."""
    _default: str
    """What is predicted if nothing is asked for."""

    def __init__(self, made: Any, engineered: Engineering | None = None) -> None:
        def model(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            named = features if isinstance(features, Mapping) else {WHOLE_ARRAY: features}
            spec: EstimatorSpec = made.model_fn(named, labels, mode, config)
            return spec

        super().__init__(model, made.model_dir, made.config, feature_engineering_fn=engineered)

    def predict(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Iterator[Any] | list[Any]:
        """What is predicted for each example; by name, if `outputs` names what is wanted."""
        wanted = [self._default] if outputs is None else list(outputs)
        if unknown := [name for name in wanted if name not in self._outputs]:
            raise InvalidArgumentError(f"no predictions {unknown}; there are {', '.join(self._outputs)}")
        keys = {name: self._outputs[name] for name in wanted}
        found = super().predict(x, input_fn, batch_size, list(keys.values()), True, iterate_batches)
        chosen = self._chosen(found, keys, outputs is not None, iterate_batches)
        return chosen if as_iterable else list(chosen)

    @staticmethod
    def _chosen(found: Any, keys: Mapping[str, str], are_named: bool, are_batches: bool) -> Iterator[Any]:
        """Predictions under our names; those that have one element for each example without its dimension."""
        for item in found:
            plain = {
                name: item[key]
                if name in ("probabilities", "logits")
                else item[key][..., 0]
                if item[key].shape[int(are_batches) :] == (1,)
                else item[key]
                for name, key in keys.items()
            }
            yield plain if are_named else next(iter(plain.values()))


class _Classifier(_Canned):
    _default = "classes"

    def __init__(self, made: Any, label_keys: Sequence[str] | None, engineered: Engineering | None) -> None:
        self._outputs = {
            "classes": "classes" if label_keys else "class_ids",
            "probabilities": "probabilities",
            "logits": "logits",
        }
        super().__init__(made, engineered)

    def predict_classes(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any] | list[Any]:
        """The likeliest class of each example: its number, or its name if classes have names."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)

    def predict_proba(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any] | list[Any]:
        """The probabilities of all classes for each example."""
        found = self.predict(x, input_fn, batch_size, ["probabilities"], True)
        chosen = (item["probabilities"] for item in found)
        return chosen if as_iterable else list(chosen)


class _Regressor(_Canned):
    _default = "scores"
    _outputs: Mapping[str, str] = {"scores": "predictions"}

    def predict_scores(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Iterator[Any] | list[Any]:
        """What is predicted for each example."""
        return self.predict(x, input_fn, batch_size, None, as_iterable)


def _refuse(**given: Any) -> None:
    """Refuses arguments that would change the model."""
    if told := sorted(name for name, value in given.items() if value):
        raise UnimplementedError(
            f"{', '.join(told)}: not here. Clip or scale gradients by an optimizer of your own (`optimizer`); models "
            f"of tf.estimator have a bias without it"
        )


class LinearClassifier(_Classifier):
    """A linear model that classifies."""

    def __init__(
        self,
        feature_columns: Sequence[FeatureColumn],
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            _joint_weight=_joint_weight,
        )
        made = linear.LinearClassifier(
            feature_columns, model_dir, n_classes, weight_column_name, label_keys, optimizer or "Ftrl",
            config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, label_keys, feature_engineering_fn)


class LinearRegressor(_Regressor):
    """A linear model that predicts numbers."""

    def __init__(
        self,
        feature_columns: Sequence[FeatureColumn],
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            _joint_weights=_joint_weights,
        )
        made = linear.LinearRegressor(
            feature_columns, model_dir, label_dimension, weight_column_name, optimizer or "Ftrl",
            config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, feature_engineering_fn)


class DNNClassifier(_Classifier):
    """A network that classifies."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[FeatureColumn],
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike | None = None,
        activation_fn: Callable[..., Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
        embedding_lr_multipliers: object = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_min_slice_size=input_layer_min_slice_size,
        )
        made = networks.DNNClassifier(
            hidden_units, feature_columns, model_dir, n_classes, weight_column_name, label_keys,
            optimizer or "Adagrad", activation_fn, dropout, config=config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, label_keys, feature_engineering_fn)


class DNNRegressor(_Regressor):
    """A network that predicts numbers."""

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[FeatureColumn],
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        optimizer: OptimizerLike | None = None,
        activation_fn: Callable[..., Any] = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: object = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_min_slice_size=input_layer_min_slice_size,
        )
        made = networks.DNNRegressor(
            hidden_units, feature_columns, model_dir, label_dimension, weight_column_name, optimizer or "Adagrad",
            activation_fn, dropout, config=config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, feature_engineering_fn)


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a network that classify together."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[FeatureColumn] | None = None,
        linear_optimizer: OptimizerLike | None = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[FeatureColumn] | None = None,
        dnn_optimizer: OptimizerLike | None = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
        embedding_lr_multipliers: object = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = True,  # a step counts once here, whatever is said
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_min_slice_size=input_layer_min_slice_size,
            _joint_linear_weights=_joint_linear_weights,
        )
        made = combined.DNNLinearCombinedClassifier(
            model_dir, linear_feature_columns, linear_optimizer or "Ftrl", dnn_feature_columns,
            dnn_optimizer or "Adagrad", dnn_hidden_units, dnn_activation_fn, dnn_dropout, n_classes, weight_column_name,
            label_keys, config=config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, label_keys, feature_engineering_fn)


class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and a network that predict numbers together."""

    def __init__(
        self,
        model_dir: PathLike | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[FeatureColumn] | None = None,
        linear_optimizer: OptimizerLike | None = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[FeatureColumn] | None = None,
        dnn_optimizer: OptimizerLike | None = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: RunConfig | None = None,
        feature_engineering_fn: Engineering | None = None,
        embedding_lr_multipliers: object = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = True,  # a step counts once here, whatever is said
    ) -> None:
        _refuse(
            gradient_clip_norm=gradient_clip_norm,
            enable_centered_bias=enable_centered_bias,
            embedding_lr_multipliers=embedding_lr_multipliers,
            input_layer_min_slice_size=input_layer_min_slice_size,
            _joint_linear_weights=_joint_linear_weights,
        )
        made = combined.DNNLinearCombinedRegressor(
            model_dir, linear_feature_columns, linear_optimizer or "Ftrl", dnn_feature_columns,
            dnn_optimizer or "Adagrad", dnn_hidden_units, dnn_activation_fn, dnn_dropout, label_dimension,
            weight_column_name, config=config or RunConfig(), loss_reduction=_MEAN,
        )  # fmt: skip
        super().__init__(made, feature_engineering_fn)
