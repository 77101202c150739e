"""What `compile` makes of a model: the loss to be minimized, metrics, and steps that train, test and predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.numbers.elementwise import add_n
from tensorkeep.tf1.keras.engine.data import Batch
from tensorkeep.tf1.keras.engine.endpoints import (
    Endpoint,
    loss_weights_by_output,
    losses_by_output,
    set_metrics,
)
from tensorkeep.tf1.keras.engine.session_values import initialized_session
from tensorkeep.tf1.keras.metrics.base import Mean
from tensorkeep.tf1.keras.optimizers import by_name as optimizers
from tensorkeep.tf1.layers.base import learning_phase

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


@dataclass
class CompileArguments:
    """What a program told `compile`."""

    optimizer: Any = "rmsprop"
    loss: Any = None
    metrics: Any = None
    loss_weights: Any = None
    sample_weight_mode: Any = None
    weighted_metrics: Any = None
    target_tensors: Any = None
    options: dict[str, Any] = field(default_factory=dict)


class Compiled:
    """The loss, the metrics and the steps of a model."""

    def __init__(self, model: Model, told: CompileArguments) -> None:
        self.model: Any = model
        self.told = told
        self.optimizer = optimizers.get(told.optimizer)
        self.graph = model.outputs[0].graph
        names = model.output_names
        losses = losses_by_output(told.loss, names)
        weights = loss_weights_by_output(told.loss_weights, names)
        self.endpoints = [
            Endpoint(name, output, loss, weight)
            for name, output, loss, weight in zip(names, model.outputs, losses, weights, strict=True)
        ]
        self._modes = _modes_by_output(told.sample_weight_mode, names)
        self.metrics = set_metrics(self.endpoints, told.metrics, told.weighted_metrics)
        self.total_loss: Any = None
        self._steps: dict[str, Step] = {}
        self._trained: list[Any] = []
        with building(self.graph):
            self._set_targets()
            self._build()

    def _set_targets(self) -> None:
        given = self.told.target_tensors
        wanted = [endpoint for endpoint in self.endpoints if endpoint.has_target]
        names = [endpoint.name for endpoint in wanted]
        tensors: list[Any] = [None] * len(wanted)
        if isinstance(given, Mapping):
            unknown = sorted(set(given) - set(names))
            if unknown:
                raise InvalidArgumentError(
                    f"Unknown entry in `target_tensors` dictionary: {unknown}. Expected: {names}"
                )
            tensors = [given.get(name) for name in names]
        elif isinstance(given, list | tuple):
            if given and len(given) != len(wanted):
                raise InvalidArgumentError(
                    f"When passing a list as `target_tensors`, it should have one entry per model output. The model "
                    f"has {len(wanted)} outputs, but you passed target_tensors={given}"
                )
            tensors = list(given) or tensors
        elif given is not None:
            tensors = [given]
        for endpoint, tensor in zip(wanted, tensors, strict=True):
            endpoint.set_target(tensor)

    def _build(self) -> None:
        """Builds losses and metrics for the weights that are fed."""
        for endpoint, mode in zip(self.endpoints, self._modes, strict=True):
            endpoint.set_weights(mode)
        self._build_measures()

    def _build_measures(self) -> None:
        with name_scope("metrics"):
            for endpoint in self.endpoints:
                if endpoint.has_target:
                    endpoint.build_metrics()
        self.total_loss = self._total_loss()
        self._steps = {}

    def _total_loss(self) -> Any:
        parts: list[Any] = []
        several = len(self.model.outputs) > 1
        with name_scope("loss"):
            for endpoint in self.endpoints:
                if not endpoint.has_target:
                    continue
                loss = endpoint.loss()
                if several:
                    if endpoint.loss_metric is None:
                        endpoint.loss_metric = Mean(name=f"{endpoint.name}_loss")
                    endpoint.loss_metric(loss)
                parts.append(endpoint.loss_weight * loss)
            own = [*self.model.get_losses_for(None), *self.model.get_losses_for(self.model.inputs)]
            if own:
                parts.append(add_n(own))
            if not parts:
                raise InvalidArgumentError(
                    "The model cannot be compiled because it has no loss to optimize: give `loss`, or call `add_loss`."
                )
            return add_n(parts)

    # ------------------------------------------------------------------------------------------ what it has

    @property
    def loss_metrics(self) -> list[Any]:
        """The means of the losses of several outputs."""
        return [endpoint.loss_metric for endpoint in self.endpoints if endpoint.loss_metric is not None]

    def all_metrics(self) -> list[Any]:
        """All metrics, in the order of their results."""
        return [*self.loss_metrics, *self.model.metrics]

    @property
    def metrics_names(self) -> list[str]:
        return ["loss", *(metric.name for metric in self.all_metrics())]

    @property
    def fed_targets(self) -> list[Endpoint]:
        return [endpoint for endpoint in self.endpoints if endpoint.is_fed]

    def reset_metrics(self) -> None:
        """Lets all metrics start over."""
        for metric in self.all_metrics():
            metric.reset_states()

    # ------------------------------------------------------------------------------------------ steps

    def take_weights(self, weights: Sequence[Any]) -> None:
        """Makes placeholders for weights of outputs that are given some for the first time, and builds losses anew."""
        wanted = [
            mode or ("samplewise" if weight is not None else None)
            for mode, weight in zip(self._modes, self._for_all(weights), strict=True)
        ]
        if wanted != self._modes:
            self._modes = wanted
            with building(self.graph):
                self._build()

    def take_targets(self, targets: Sequence[Any]) -> None:
        """Makes other placeholders for targets of another rank than their output, and builds losses anew."""
        with building(self.graph):
            pairs = list(zip(self.fed_targets, targets, strict=True))
            changed = [end for end, value in pairs if isinstance(value, np.ndarray) and end.take_rank(value.ndim)]
            if changed:
                self._build()

    def use_weights(self, weights: Sequence[Any]) -> None:
        """Weighs items by tensors of the program's own, one for each output that has a target."""
        wanted = [endpoint for endpoint in self.endpoints if endpoint.has_target]
        if len(weights) != len(wanted):
            raise InvalidArgumentError(f"{len(weights)} tensors with weights of items, for {len(wanted)} outputs")
        for endpoint, tensor in zip(wanted, weights, strict=True):
            endpoint.sample_weight = tensor
        with building(self.graph):
            self._build_measures()

    def _for_all(self, weights: Sequence[Any]) -> list[Any]:
        """Weights of those outputs that have targets, one for each output."""
        given = iter(weights)
        return [next(given, None) if endpoint.has_target else None for endpoint in self.endpoints]

    def values_of(self, batch: Batch) -> list[Any]:
        """What a step is fed of a batch."""
        with_place = [
            weight
            for endpoint, weight in zip(self.endpoints, self._for_all(batch.weights), strict=True)
            if endpoint.sample_weight is not None
        ]
        return [*batch.inputs, *batch.targets, *with_place]

    def _places(self) -> list[Any]:
        weights = [endpoint.sample_weight for endpoint in self.endpoints if endpoint.sample_weight is not None]
        return [*self.model._fed_inputs, *(endpoint.target for endpoint in self.fed_targets), *weights]

    def _results(self) -> list[Any]:
        return [self.total_loss, *(metric._call_result for metric in self.all_metrics())]

    def train_step(self) -> Step:
        """The step that trains: it minimizes the loss, and moves averages."""
        trained = self.model._collected_trainable_weights
        if "train" not in self._steps:
            with building(self.graph):
                with name_scope("training"):
                    updates = list(self.optimizer.get_updates(params=trained, loss=self.total_loss))
                    updates += [*self.model.get_updates_for(None), *self.model.get_updates_for(self.model.inputs)]
                self._steps["train"] = Step(self._places(), self._results(), _distinct(updates), phase=True)
        return self._steps["train"]

    def test_step(self) -> Step:
        """The step that computes loss and metrics."""
        if "test" not in self._steps:
            with building(self.graph):
                updates = _distinct(self.model.state_updates)
                self._steps["test"] = Step(self._places(), self._results(), updates, phase=False)
        return self._steps["test"]


def _modes_by_output(mode: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(mode, Mapping):
        unknown = sorted(set(mode) - set(names))
        if unknown:
            raise InvalidArgumentError(f"Unknown entries in sample_weight_mode dictionary: {unknown}. Outputs: {names}")
        return [mode.get(name) for name in names]
    if isinstance(mode, list | tuple):
        if len(mode) != len(names):
            raise InvalidArgumentError(f"sample_weight_mode={mode}, but the model has {len(names)} outputs")
        return list(mode)
    return [mode] * len(names)


def _distinct(items: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(items))


class Step:
    """Runs outputs and updates of a graph, with values for some tensors, and the learning phase."""

    def __init__(self, places: Sequence[Any], outputs: Sequence[Any], updates: Sequence[Any], phase: bool) -> None:
        self._places = list(places)
        self._outputs = list(outputs)
        self.update = group(*updates) if updates else None
        self._phase = phase
        self._learning_phase = learning_phase()

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """The outputs."""
        feeds: dict[Any, Any] = {}
        for place, value in zip(self._places, values, strict=True):
            if value is not None:
                feeds[place] = _fed_value(place, value)
        if isinstance(self._learning_phase, Tensor) and self._learning_phase.op.type == "PlaceholderWithDefault":
            feeds[self._learning_phase] = self._phase
        session = initialized_session()
        found = session.run([self._outputs, self.update] if self.update is not None else [self._outputs], feeds)
        results: list[Any] = found[0]
        return results


def _fed_value(place: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray) and isinstance(place, Tensor) and value.dtype.kind in "fiub":
        return value.astype(place.dtype.base_dtype.as_numpy_dtype, copy=False)
    if hasattr(value, "tocoo"):  # SciPy's sparse matrices
        matrix = value.tocoo()
        order = np.lexsort((matrix.col, matrix.row))
        places = np.stack([matrix.row[order], matrix.col[order]], axis=1).astype(np.int64)
        if isinstance(place, Tensor):
            return value.toarray()
        return (places, matrix.data[order], np.asarray(matrix.shape, np.int64))
    return value
