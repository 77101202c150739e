"""Optimizers by name and configuration: `tf.keras.optimizers.get`, `serialize`, `deserialize`.

An optimizer of `tf.train` is taken as well, by `TFOptimizer` around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.keras.named_objects import deserialize_keras_object, serialize_keras_object
from tensorkeep.tf1.keras.optimizers.optimizer import OptimizerV2
from tensorkeep.tf1.keras.optimizers.rules import SGD, Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop
from tensorkeep.tf1.training.optimizers.base import Gradient, Optimizer, Trained
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.variable import Variable

_OPTIMIZERS: Final[dict[str, Any]] = {
    kind.__name__.lower(): kind for kind in (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
}


class TFOptimizer:
    """An optimizer of `tf.train` where Keras wants one of its own. It has no configuration and keeps no weights."""

    def __init__(self, optimizer: Optimizer, iterations: Step | None = None) -> None:
        self.optimizer = optimizer
        self._iterations: Any = iterations

    @property
    def iterations(self) -> Variable:
        """How many steps were taken: a variable."""
        if self._iterations is None:
            with name_scope(type(self).__name__):
                self._iterations = Variable(0, name="iterations", dtype=INT64, trainable=False, use_resource=True)
        steps: Variable = self._iterations
        return steps

    def get_gradients(self, loss: Tensor, params: Sequence[Any]) -> list[Any]:
        """The gradients of a loss."""
        return [gradient for gradient, _ in self.optimizer.compute_gradients(loss, params)]

    def get_updates(self, loss: Tensor, params: Sequence[Any]) -> list[Operation]:
        """The operations of one step."""
        if not params:
            with building(loss.graph):
                counted: Any = self.iterations.assign_add(1)
                return [counted.op]
        pairs = self.optimizer.compute_gradients(loss, params)
        return [self.optimizer.apply_gradients(pairs, self.iterations)]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Gradient | TensorLike | None, Trained]]) -> Operation:
        return self.optimizer.apply_gradients(grads_and_vars, self.iterations)

    @property
    def weights(self) -> list[Any]:
        raise UnimplementedError("optimizers of tf.train do not give their weights: save the variables of the graph")

    def get_config(self) -> dict[str, Any]:
        raise UnimplementedError("optimizers of tf.train have no configuration: use one of tf.keras.optimizers")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> TFOptimizer:
        raise UnimplementedError("optimizers of tf.train have no configuration: use one of tf.keras.optimizers")

    def _checkpoint_children(self) -> Mapping[str, Any]:
        return {"optimizer": self.optimizer}


OptimizerLike: TypeAlias = "OptimizerV2 | TFOptimizer | Optimizer | Mapping[str, Any] | str"
"""An optimizer, its name and configuration, or its name."""


def serialize(optimizer: OptimizerV2 | None) -> dict[str, Any] | str | None:
    """An optimizer as its name and its configuration."""
    told: dict[str, Any] | str | None = serialize_keras_object(optimizer)
    return told


def deserialize(config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None) -> OptimizerV2:
    """The optimizer that a name with a configuration stands for."""
    told = dict(config)
    if str(told.get("class_name")).lower() in _OPTIMIZERS:
        told["class_name"] = told["class_name"].lower()
    found: OptimizerV2 = deserialize_keras_object(told, _OPTIMIZERS, custom_objects, "optimizer")
    return found


def get(identifier: OptimizerLike) -> OptimizerV2 | TFOptimizer:
    """An optimizer by its name, by name and configuration, or as itself."""
    if isinstance(identifier, OptimizerV2 | TFOptimizer):
        return identifier
    if isinstance(identifier, Optimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    raise InvalidArgumentError(f"Could not interpret optimizer identifier: {identifier!r}")
