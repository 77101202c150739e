"""What all layers share: a variable scope, made on first use, in which variables are made and calls are built.

A layer that is called again uses its variables again. The scope is the given one, or is named after the layer's class
and made unique.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy, deepcopy
from inspect import Parameter, signature
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection, get_collection_ref
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph as CoreGraph
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import placeholder_with_default
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import cast, truediv
from tensorkeep.tf1.functions.structures import flatten, map_structure
from tensorkeep.tf1.layers.arguments import Function, LayerOption, Training, initializer_of
from tensorkeep.tf1.layers.input_spec import check_inputs
from tensorkeep.tf1.variables.initializers import GlorotUniform, Zeros
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization, trainable_when
from tensorkeep.tf1.variables.options import InitializerLike, Partitioner
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable

_NAMES: Final = object()  # the key of the numbers of layers by name, in `graph.extras`
_LEARNING_PHASE: Final = object()  # the key of the placeholder that says whether the graph is trained
_SHARED: Final = (CoreGraph, Operation, Tensor, Variable, PartitionedVariable)  # by copies of layers
_training: ContextVar[Training] = ContextVar("training", default=None)  # what the layer being called was told


class Layer:
    """Something that makes tensors of tensors, by variables of its own.

    Override `build(input_shape)`, which makes the variables with `add_weight`, and `call(inputs, ...)`. A layer that
    is called by another and is not told whether it is in `training` is told what the other was.
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: LayerOption,
    ) -> None:
        options: dict[str, Any] = dict(kwargs)
        scope, self._reuse = options.pop("_scope", None), options.pop("_reuse", None)
        self.activity_regularizer: Function | None = options.pop("activity_regularizer", None)
        options.pop("autocast", None)  # inputs are taken as they are: there is no policy of types
        if options:
            raise WrongTypeError(f"Keyword argument not understood by layer {type(self).__name__}: {sorted(options)}")
        self.trainable = trainable
        self.built = False
        self.input_spec: Any = None
        self._dtype = None if dtype is None else DType.of(dtype).base_dtype
        self._base_name, self.name = _names(name, type(self).__name__)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._weight_losses: list[Callable[[], Any]] = []
        self._current: VariableScope | None = None
        self._scope: VariableScope | None = None
        if scope:
            with variable_scope(scope) as captured:
                self._scope = captured

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        """A layer with settings of its own, which shares the variables and tensors: those belong to the graph."""
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in vars(self).items():
            shared = isinstance(value, _SHARED)
            vars(made)[name] = value if shared else copy(value) if _is_of_graph(value) else deepcopy(value, memo)
        return made

    def _forget_calls(self) -> None:
        """Makes it a layer that has not been called: its variables stay in the graph, under their names."""
        self.built = False
        self._scope = self._current = None
        for kept in (self._trainable_weights, self._non_trainable_weights, self._updates, self._losses):
            kept.clear()
        self._weight_losses.clear()

    # ------------------------------------------------------------------------------------------ what it has

    @property
    def dtype(self) -> DType | None:
        return self._dtype

    @property
    def scope_name(self) -> str:
        if self._scope is None:
            raise InvalidArgumentError(
                f'No name available for layer scope because the layer "{self.name}" has not been used yet. The scope '
                "name is determined the first time the layer instance is called."
            )
        return self._scope.name

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [*([] if self.trainable else self._trainable_weights), *self._non_trainable_weights]

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def updates(self) -> list[Any]:
        """What a training step must run too, such as the updates of moving averages."""
        return list(self._updates) if self.trainable else []

    @property
    def losses(self) -> list[Any]:
        """Losses of activities and of weights; those of weights are built anew, as in TensorFlow."""
        anew = [make() for make in self._weight_losses]
        return self._losses + [loss for loss in anew if loss is not None]

    def count_params(self) -> int:
        """How many numbers the variables have together."""
        if not self.built:
            raise FailedPreconditionError(f"layer {self.name} has not been built: it has no variables yet")
        return sum(variable.get_shape().num_elements() or 0 for variable in self.weights)

    # ------------------------------------------------------------------------------------------ calling

    def build(self, input_shape: TensorShape) -> None:
        """Makes the variables."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Builds what the layer computes."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of a shape, without building the layer."""
        raise UnimplementedError(f"{type(self).__name__} does not say the shape of its outputs: call the layer")

    def apply(self, *args: Any, **kwargs: Any) -> Any:
        return self(*args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        self._set_scope(kwargs.pop("scope", None))
        reuse = True if self.built else self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            self._current = scope
            inputs = map_structure(_as_tensor, inputs)
            parameters = signature(self.call).parameters
            training, args, kwargs = with_training(parameters, args, kwargs)
            if "scope" in parameters:
                kwargs["scope"] = scope
            check_inputs(self.input_spec, inputs, self.name)
            with told_training(training), name_scope(scope.original_name_scope):
                self._build_for(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise InvalidArgumentError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not None "
                        f"(layer: {self.name})."
                    )
                self._regularize_activity(outputs)
        _collect(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _build_for(self, inputs: Any) -> None:
        if self.built:
            return
        first: Any = next(iter(flatten(inputs)), None)
        if self._dtype is None and hasattr(first, "dtype"):
            self._dtype = first.dtype.base_dtype
        self.build(map_structure(lambda item: item.get_shape(), inputs))
        self.built = True

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = variable_scope(self._base_name if scope is None else scope)
        else:
            opened = variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _regularize_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in flatten(outputs):
                loss = convert(self.activity_regularizer(output))
                self.add_loss(truediv(loss, cast(shape_of(output)[0], loss.dtype)))

    # ------------------------------------------------------------------------------------------ making

    def add_weight(
        self,
        name: str,
        shape: ShapeLike,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = None,
        regularizer: Function | None = None,
        trainable: bool | None = None,
        constraint: Function | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Partitioner | None = None,
        **kwargs: bool,
    ) -> Variable | PartitionedVariable:
        """A variable of the layer, made or found in its scope."""
        if set(kwargs) - {"experimental_autocast"}:
            raise WrongTypeError(f"Unknown keyword argument: {sorted(kwargs)}")
        wanted = trainable_when(synchronization, trainable) and self.trainable
        kind = DType.of(dtype or self._dtype or FLOAT32)
        if self._dtype is None:
            self._dtype = kind.base_dtype
        before = set(map(id, get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES)))
        self._set_scope(None)
        with variable_scope(self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False) as scope:
            self._current = scope
            with name_scope(scope.original_name_scope):
                variable = get_variable(
                    name,
                    shape=() if shape is None else shape,
                    dtype=kind,
                    initializer=_initializer(scope.initializer if initializer is None else initializer, kind),
                    trainable=wanted,
                    constraint=constraint,
                    partitioner=partitioner,
                    use_resource=use_resource or scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer is not None and not any(id(part) in before for part in parts_of(variable)):
                    for part in parts_of(variable):
                        self.add_loss(weight_loss(name, part, regularizer))
        trained = set(map(id, get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES)))
        for part in parts_of(variable):
            self._keep(part, wanted and id(part) in trained)
        return variable

    add_variable = add_weight

    def _keep(self, variable: Any, is_trained: bool) -> None:
        """Counts a variable among those of the layer. Programs append to the lists, too."""
        (self._trainable_weights if is_trained else self._non_trainable_weights).append(variable)

    def add_update(
        self, updates: Structure | Callable[[], Any] | Sequence[Callable[[], Any]], inputs: Structure = None
    ) -> None:
        """Operations that go with a call, such as those of moving averages; a training step must run them too."""
        for update in updates if isinstance(updates, list | tuple) else [updates]:
            made: Any = update() if callable(update) else update
            if not isinstance(made, Operation):
                made = made.op if hasattr(made, "op") else convert(made)
            self._updates.append(made)

    def add_loss(
        self, losses: Structure | Callable[[], Any] | Sequence[Callable[[], Any]], inputs: Structure = None
    ) -> None:
        """Losses that go with a call, such as those of regularizers; functions that build losses are welcome too."""
        found = []
        functions = [loss for loss in flatten(losses) if callable(loss)]
        for loss in flatten(losses):
            if loss is not None and not callable(loss):
                found.append(loss if isinstance(loss, Tensor) else convert(loss, FLOAT32))
        self._losses.extend(found)
        self._weight_losses.extend(functions)
        built = [function() for function in functions]
        _collect([*found, *(loss for loss in built if loss is not None)], GraphKeys.REGULARIZATION_LOSSES)


# ---------------------------------------------------------------------------------------------------- Parts


def _names(name: Any, kind: str) -> tuple[str, str]:
    """The default name of a layer's scope, and the name of the layer."""
    if name and not isinstance(name, VariableScope):
        return name, name
    base = snake_case(kind)
    counts = name_counts()
    counts[base] = counts.get(base, 0) + 1
    return (name.name if name else base), f"{base}_{counts[base]}"


def name_counts() -> dict[str, int]:
    """How many layers and other objects of Keras took a name, in the graph being built."""
    counts: dict[str, int] = current_graph().extras.setdefault(_NAMES, {})
    return counts


def snake_case(name: str) -> str:
    """`Conv2DTranspose` as "conv2d_transpose"."""
    middle = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", middle).lower()


def _as_tensor(value: Any) -> Any:
    return convert(value) if isinstance(value, np.ndarray | float | int) else value


def _initializer(told: Any, dtype: DType) -> Any:
    """The initializer of a variable: if nothing is told, one that suits the type."""
    if told is not None:
        return initializer_of(told)
    if dtype.is_floating:
        return GlorotUniform()
    return Zeros() if dtype.is_integer or dtype.base_dtype is BOOL else None


def weight_loss(name: str, variable: TensorLike, regularizer: Function) -> Callable[[], Tensor | None]:
    """A function that builds the loss of a variable."""

    def loss() -> Tensor | None:
        with name_scope(f"{name}/Regularizer"):
            found = regularizer(variable)
        return found if found is None or isinstance(found, Tensor) else convert(found, FLOAT32)

    return loss


def _collect(items: list[Any], key: str) -> None:
    collection = get_collection_ref(current_graph(), key)
    for item in items:
        if not any(item is other for other in collection):
            collection.append(item)


def parts_of(variable: object) -> list[Any]:
    """The variables that a variable consists of: itself, or its partitions."""
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


# ---------------------------------------------------------------------------------------------------- Training


def learning_phase() -> Tensor | int:
    """What decides for layers which are not told whether they are trained: a placeholder, false unless fed.

    A program of Keras may have set a number in its place.
    """
    found: Tensor | int | None = current_graph().extras.get(_LEARNING_PHASE)
    if found is None:
        with name_scope(None):
            found = placeholder_with_default(False, (), name="keras_learning_phase")
        current_graph().extras[_LEARNING_PHASE] = found
    return found


def set_learning_phase(value: Training) -> None:
    """Sets what decides in the graph being built: 0, 1, a tensor, or None for a new placeholder."""
    current_graph().extras[_LEARNING_PHASE] = value


def known_learning_phase() -> int | None:
    """The number that was set for the graph being built, or None."""
    found = current_graph().extras.get(_LEARNING_PHASE)
    return found if isinstance(found, int) else None


@contextmanager
def told_training(training: Training) -> Iterator[None]:
    """Inside, layers whose call does not say `training` take this value for it."""
    token = _training.set(training)
    try:
        yield
    finally:
        _training.reset(token)


def _is_of_graph(value: Any) -> bool:
    """Whether copies share it: tensors, variables, graphs; of lists of them and of scopes what is in them."""
    if isinstance(value, list | tuple):
        return any(_is_of_graph(item) for item in value)
    return isinstance(value, (*_SHARED, VariableScope))


def with_training(
    parameters: Mapping[str, Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Training, tuple[Any, ...], dict[str, Any]]:
    """The `training` of a call, else that of the call around it; and the arguments, with it if the call takes it."""
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    at = list(parameters).index("training") - 1 if "training" in parameters else len(args)
    training = args[at] if at < len(args) else kwargs.get("training")
    if "training" not in parameters and not takes_any:
        kwargs.pop("training", None)
    if training is not None:
        return training, args, kwargs
    training = _training.get() if _training.get() is not None else known_learning_phase()
    if training is None:
        return training, args, kwargs
    if "training" in parameters:
        told = cast(training, BOOL) if isinstance(training, Tensor) else bool(training)
        after = zip(list(parameters)[at + 2 :], args[at + 1 :], strict=False)
        args, kwargs = args[:at], {**kwargs, "training": told, **dict(after)}
    return training, args, kwargs
