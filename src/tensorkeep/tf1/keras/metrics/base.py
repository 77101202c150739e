"""What all metrics share: variables that batches are added to; and sums and means of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, TensorSource
from tensorkeep.graph.building import control_dependencies, current_graph, init_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import identity, ones_like, size
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.nn.losses import broadcast_weights
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, multiply
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean, reduce_sum
from tensorkeep.tf1.keras.backend.settings import chosen_dtype
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.engine.session_values import batch_set_value, track_variable
from tensorkeep.tf1.keras.weighting import match_ranks, match_weights
from tensorkeep.tf1.layers.arguments import LayerOption
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.variable import Variable

_RESULTS: Final = object()  # the key of the results of metrics, in `graph.extras`
_CHANGES: Final = ("Assign", "ResourceScatter", "ResourceApply", "ResourceSparseApply", "Scatter")
_OWN: Final = __name__.rpartition(".")[0]

Change: TypeAlias = "Operation | Tensor | TensorSource | None"
"""What adds a batch to a metric when it is run; None where nothing is left to run."""


def metric_of_result(value: object) -> Metric | None:
    """The metric whose call gave a tensor, or None."""
    graph = getattr(value, "graph", None)
    found = None if graph is None else graph.extras.get(_RESULTS, {}).get(id(value))
    metric: Metric | None = None if found is None else found[1]
    return metric


class Metric(Layer):
    """A measure over several batches. Override `__init__`, which makes its variables with `add_weight`,
    `update_state`, which adds a batch to them, and `result`, which computes the measure of them.
    """

    _dtype: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        vars(made)["update_state"] = partial(_update, made, made.update_state)
        vars(made)["result"] = partial(_result, made, made.result)
        return made

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: LayerOption) -> None:
        super().__init__(name=name, dtype=chosen_dtype(dtype), **dict[str, Any](kwargs))
        self.stateful = True
        self.built = True

    @property
    def _is_metric(self) -> bool:
        return True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The measure after a batch has been added."""
        update = self.update_state(*args, **kwargs)
        with control_dependencies([] if update is None else [update]):
            result = self.result()
        result.graph.extras.setdefault(_RESULTS, {})[id(result)] = (result, self)
        return result

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch of values to what the metric has seen."""
        raise NotImplementedError(f"{type(self).__name__} has no method update_state")

    def result(self) -> Tensor:
        """The measure of what was added."""
        raise NotImplementedError(f"{type(self).__name__} has no method result")

    def reset_states(self) -> None:
        """Starts over, in the session in force."""
        batch_set_value([(variable, np.zeros(variable.get_shape().as_list())) for variable in self.weights])

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: ShapeLike = (),
        aggregation: VariableAggregation = VariableAggregation.SUM,
        synchronization: VariableSynchronization = VariableSynchronization.ON_READ,
        initializer: InitializerLike = None,
        dtype: DTypeLike | None = None,
        **kwargs: object,
    ) -> Variable:
        """A variable of the metric; it is in no collection, and no saver saves it."""
        with init_scope():
            variable: Variable = super().add_weight(
                name=name,
                shape=shape,
                dtype=self._dtype if dtype is None else dtype,
                trainable=False,
                initializer="zeros" if initializer is None else initializer,
                collections=[],
                synchronization=synchronization,
                aggregation=aggregation,
                **dict[str, Any](kwargs),
            )
        track_variable(variable)
        return variable

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}


def _update(metric: Metric, update: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What adds a batch. A class of a program's own may leave changes of variables behind that it does not return."""
    graph = current_graph()
    before = len(graph.operations)
    made = update(*args, **kwargs)
    if not type(metric).__module__.startswith(_OWN):
        changes = [op for op in graph.operations[before:] if op.type.startswith(_CHANGES)]
        made = group(*changes, *([] if made is None else [_operation(made)]))
    if made is not None:
        metric.add_update(made)
    return made


def _operation(made: Any) -> Any:
    return made if isinstance(made, Operation | Tensor) else made.op


def _result(metric: Metric, result: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    value = identity(result(*args, **kwargs))
    vars(metric)["_call_result"] = value
    return value


class Reduce(Metric):
    """The sum of values, or their mean by weight."""

    _is_mean = True

    def __init__(self, name: str | None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total", initializer="zeros")
        if self._is_mean:
            self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        values = cast(values, self._dtype)
        weights: Tensor | None = None
        if sample_weight is not None:
            values, weights = self._weighed(values, match_weights(values, cast(sample_weight, self._dtype)))
        total = reduce_sum(values)
        with control_dependencies([total]):
            added = self.total.assign_add(total)
        if not self._is_mean:
            return added
        with control_dependencies([added]):
            count = cast(size(values), self._dtype) if weights is None else reduce_sum(weights)
            return self.count.assign_add(count)

    def _weighed(self, values: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Values times weights; values of more dimensions are reduced to those of the weights first."""
        try:
            weights = broadcast_weights(weights, values)
        except InvalidArgumentError:
            axes = list(range(weights.static_shape.rank or 0, values.static_shape.rank or 0))
            values = (reduce_mean if self._is_mean else reduce_sum)(values, axis=axes)
        return multiply(values, weights), weights

    def result(self) -> Tensor:
        return div_no_nan(self.total, self.count) if self._is_mean else identity(self.total)


class Sum(Reduce):
    """The sum of values."""

    _is_mean = False

    def __init__(self, name: str | None = "sum", dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)


class Mean(Reduce):
    """The mean of values."""

    def __init__(self, name: str | None = "mean", dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions."""

    _fn_kwargs: dict[str, Any]

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: DTypeLike | None = None, **kwargs: object
    ) -> None:
        super().__init__(name, dtype)
        self._fn = fn
        vars(self)["_fn_kwargs"] = kwargs

    def update_state(  # type: ignore[override]
        self, y_true: TensorLike, y_pred: TensorLike, sample_weight: TensorLike | None = None
    ) -> Change:
        predictions, labels = match_ranks(cast(y_pred, self._dtype), cast(y_true, self._dtype))
        return super().update_state(self._fn(labels, predictions, **self._fn_kwargs), sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._fn_kwargs}


class MeanTensor(Metric):
    """The means of tensors of one shape, element by element."""

    def __init__(self, name: str | None = "mean_tensor", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None
        self._total: Any = None
        self._count: Any = None

    @property
    def total(self) -> Variable | None:
        kept: Variable | None = self._total
        return kept

    @property
    def count(self) -> Variable | None:
        kept: Variable | None = self._count
        return kept

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Change:
        values = cast(values, self._dtype)
        known = values.get_shape().as_list()
        if self._shape is None:
            self._shape = tuple(known)
            self._total = self.add_weight("total", shape=known, initializer="zeros")
            self._count = self.add_weight("count", shape=known, initializer="zeros")
        elif tuple(known) != self._shape:
            raise InvalidArgumentError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the first call): "
                f"{self._shape}. Got: {tuple(known)}"
            )
        counts = ones_like(values)
        if sample_weight is not None:
            weights = broadcast_weights(match_weights(values, cast(sample_weight, self._dtype)), values)
            counts, values = multiply(counts, weights), multiply(values, weights)
        with control_dependencies([self._total.assign_add(values)]):
            changed: Change = self._count.assign_add(counts)
        return changed

    def result(self) -> Tensor:
        if self._total is None:
            raise FailedPreconditionError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return div_no_nan(self._total, self._count)


def as_value(item: TensorLike, metric: Metric) -> Tensor:
    """A tensor in the type of a metric."""
    return cast(convert(item), metric._dtype)
