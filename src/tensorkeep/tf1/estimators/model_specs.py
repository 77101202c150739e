"""What a model function returns: predictions, a loss, what trains it, what measures it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.estimators.export_outputs import Outputs, checked_outputs
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from tensorkeep.tf1.training.optimizers.base import Update


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Tensor | None
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: dict[str, Any] | None
    training_chief_hooks: tuple[SessionRunHook, ...]
    training_hooks: tuple[SessionRunHook, ...]
    scaffold: Scaffold
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class EstimatorSpec(_Fields):
    """What a model is in one mode; what the mode needs must be there.

    Training needs `loss` and `train_op`, evaluation `loss`, prediction `predictions`. `eval_metric_ops` are pairs, of a
    value and an operation that updates it, as `tf.metrics` gives them.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Outputs | None = None,
        loss: Tensor | None = None,
        train_op: Update | None = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Iterable[SessionRunHook] | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> EstimatorSpec:
        graph = current_graph()
        made = _checked_predictions(predictions, mode, graph)
        if scaffold is not None and not isinstance(scaffold, Scaffold):
            raise WrongTypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls,
            mode,
            made,
            _checked_loss(loss, mode, graph),
            _checked_train_op(train_op, mode, graph),
            _checked_metrics(eval_metric_ops, graph),
            checked_outputs(export_outputs, made) if mode == ModeKeys.PREDICT else _as_dict(export_outputs),
            checked_hooks(training_chief_hooks),
            checked_hooks(training_hooks),
            surroundings().scaffold() if scaffold is None else scaffold,
            checked_hooks(evaluation_hooks),
            checked_hooks(prediction_hooks),
        )

    def _replace(self, **changes: Any) -> EstimatorSpec:
        """The same with other values; the mode stays."""
        if changes.get("mode", self.mode) != self.mode:
            raise InvalidArgumentError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **changes})


def _as_dict(outputs: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if outputs is None else dict(outputs)


def checked_hooks(hooks: Iterable[Any] | None) -> tuple[SessionRunHook, ...]:
    """Hooks as a tuple, if all are hooks."""
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise WrongTypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return found


def _in_graph(what: str, name: str, item: Any, graph: Graph) -> None:
    if item.graph is not graph:
        raise InvalidArgumentError(
            f'{what} with "{name}" must be from the default graph. Possible causes of this error include: \n\n'
            f"1) {what} was created outside the context of the default graph.\n\n2) The object passed through to "
            'EstimatorSpec was not created in the most recent call to "model_fn".'
        )


def _checked_train_op(train_op: Update | None, mode: str, graph: Graph) -> Operation | Tensor | None:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise InvalidArgumentError("Missing train_op.")
        return None
    if isinstance(train_op, Variable):
        train_op = train_op.op
    if not isinstance(train_op, Operation | Tensor):
        raise WrongTypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    _in_graph("train_op", train_op.name, train_op, graph)
    return train_op


def _checked_loss(loss: Tensor | None, mode: str, graph: Graph) -> Tensor | None:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise InvalidArgumentError("Missing loss.")
        return None
    if not isinstance(loss, Tensor):
        raise WrongTypeError(f"loss must be Tensor, given: {loss}")
    _in_graph("loss", loss.name, loss, graph)
    if loss.shape.num_elements() not in (None, 1):
        raise InvalidArgumentError(f"Loss must be scalar, given: {loss}")
    return loss if loss.shape.is_compatible_with([]) else reshape(loss, [])


def _checked_predictions(predictions: Outputs | None, mode: str, graph: Graph) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise InvalidArgumentError("Missing predictions.")
        return {}
    items = predictions if isinstance(predictions, Mapping) else {"predictions": predictions}
    for key, value in items.items():
        if not isinstance(value, Tensor):
            raise WrongTypeError(f"predictions[{key}] must be Tensor, given: {value}")
        _in_graph("prediction values", f"{key}: {value.name}", value, graph)
    return dict(predictions) if isinstance(predictions, Mapping) else predictions


def _checked_metrics(metrics: Mapping[str, Any] | None, graph: Graph) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise WrongTypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, value in metrics.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise WrongTypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {value} for key: {key}"
            )
        for item in flatten(value):
            _in_graph("eval_metric_ops", f"{key}: {getattr(item, 'name', item)}", item, graph)
    return dict(metrics)
