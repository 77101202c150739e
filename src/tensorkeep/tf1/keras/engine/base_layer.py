"""`tf.keras.layers.Layer`: what all layers and models of Keras share.

A layer of Keras makes its variables under the name scope of its first call, and knows the calls that it took part in
(`nodes`), so that models can be made of their inputs and outputs. What its attributes hold is saved with it: variables,
layers, and lists and dictionaries of them.

A layer that `tf.layers` has too takes its `build` and `call` from there: `class Dense(core.Dense, Layer)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np

from tensorkeep._lazy import later
from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, Structure, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import identity
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import cast, truediv
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as
from tensorkeep.tf1.keras import constraints, initializers, regularizers
from tensorkeep.tf1.keras.engine.nodes import Node
from tensorkeep.tf1.keras.engine.serialization import described_attribute
from tensorkeep.tf1.keras.engine.tensor_notes import (
    has_any_history,
    history_of,
    is_unconditional,
    mask_of,
    reachable_from,
    set_mask,
    set_unconditional,
)
from tensorkeep.tf1.keras.named_objects import name_for, unique_object_name
from tensorkeep.tf1.keras.surroundings import settings
from tensorkeep.tf1.layers import base
from tensorkeep.tf1.layers.base import told_training, with_training
from tensorkeep.tf1.layers.input_spec import check_inputs
from tensorkeep.tf1.training.objects.trackable import AutoTrackable, NoDependency, TrackedDict, TrackedList
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization, trainable_when
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine import op_layers
    from tensorkeep.tf1.keras.engine import session_values as variable_values
    from tensorkeep.tf1.keras.metrics import base as metrics
else:  # they are made of layers
    metrics = later("tensorkeep.tf1.keras.metrics.base")
    op_layers = later("tensorkeep.tf1.keras.engine.op_layers")
    variable_values = later("tensorkeep.tf1.keras.engine.session_values")

Named: TypeAlias = "str | dict[str, Any] | Callable[..., Any] | None"
"""A function or an object as itself, by name, or by name and arguments."""
Additions: TypeAlias = "Structure | Callable[[], Any] | Sequence[Callable[[], Any]]"
"""Updates or losses, or functions that build them."""

Method = TypeVar("Method", bound=Callable[..., Any])
Made = TypeVar("Made", bound="Layer")

_calls: ContextVar[tuple[tuple[Any, Any], ...]] = ContextVar("calls", default=())  # layers being called, with inputs

_INPUT_OPTIONS = ("input_shape", "batch_input_shape", "batch_size", "input_dim")
_OPTIONS = (*_INPUT_OPTIONS, "weights", "activity_regularizer", "autocast", "experimental_autocast")


def untracked_method(method: Method) -> Method:
    """Lets a method set attributes that are not saved with the object."""

    @wraps(method)
    def setting(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).get("_tracks_attributes", True)
        vars(self)["_tracks_attributes"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            vars(self)["_tracks_attributes"] = before

    return setting  # type: ignore[return-value]


def layers_being_called() -> tuple[Any, ...]:
    """The layers whose `call` is being built, the outermost first."""
    return tuple(layer for layer, _ in _calls.get())


@contextmanager
def _calling(layer: Any, inputs: Any) -> Iterator[None]:
    token = _calls.set((*_calls.get(), (layer, inputs)))
    try:
        yield
    finally:
        _calls.reset(token)


class Layer(AutoTrackable, base.Layer):
    """A function from tensors to tensors with variables of its own.

    Override `build(input_shape)`, which makes the variables with `add_weight`, and `call(inputs, ...)`.
    """

    _configured: ClassVar[tuple[str, ...]] = ()
    """The attributes that `get_config` tells besides those of all layers."""
    _not_followed: ClassVar[frozenset[str]] = frozenset({"_weight_options"})
    """Attributes of layers of `tf.layers` that are containers, and none that is saved."""

    @untracked_method
    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if wrong := [key for key in kwargs if key not in _OPTIONS]:
            raise WrongTypeError(f"Keyword argument not understood: {', '.join(map(repr, wrong))}")
        if dynamic:
            raise UnimplementedError(
                f"layer {type(self).__name__} is dynamic, which needs eager mode; here a layer builds a graph. "
                "Leave `dynamic` out"
            )
        self._trainable = trainable
        self.built = False
        self.stateful = False
        self.supports_masking = False
        self.input_spec: Any = None
        self._dtype = None if dtype is None else DType.of(dtype).base_dtype
        self._name = name or unique_object_name(name_for(type(self)), zero_based=True)
        self.activity_regularizer = regularizers.get(kwargs.pop("activity_regularizer", None))
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._metrics: list[Any] = []
        vars(self).setdefault("_layers", [])
        self._inbound_nodes: list[Node] = []
        self._outbound_nodes: list[Node] = []
        self._scope = None
        self._current = None
        self._initial_weights = kwargs.get("weights")
        shape = _batch_input_shape(kwargs)
        if shape is not None:
            self._batch_input_shape = shape

    # ------------------------------------------------------------------------------------------ attributes

    def __setattr__(self, name: str, value: object) -> None:
        if not vars(self).get("_tracks_attributes", True) or name in self._not_followed:
            object.__setattr__(self, name, value)
            return
        super().__setattr__(name, value)
        if not isinstance(value, NoDependency) and name not in ("_layers", "_metrics"):
            self._follow(getattr(self, name, value))

    def _follow(self, stored: Any) -> None:
        """Counts a layer, a metric or a variable that was assigned to an attribute among those of this layer."""
        known = vars(self).setdefault("_layers", [])
        if isinstance(stored, Layer):
            if stored._is_metric:
                _append_new(vars(self).setdefault("_metrics", []), stored)
            elif not any(stored is other for other in known):
                known.append(stored)
        elif isinstance(stored, TrackedList | TrackedDict | tuple):
            if not any(stored is other for other in known) and (isinstance(stored, list | dict) or _layers_in(stored)):
                known.append(stored)
            for item in flatten(stored):
                self._follow_variable(item)
        else:
            self._follow_variable(stored)

    def _follow_variable(self, item: Any) -> None:
        if not isinstance(item, Variable) or "_trainable_weights" not in vars(self):
            return
        if not any(item is other for other in [*self._trainable_weights, *self._non_trainable_weights]):
            self._keep(item, bool(item.trainable))

    @property
    def _is_metric(self) -> bool:
        return False

    def __delattr__(self, name: str) -> None:
        value = vars(self).get(name)
        super().__delattr__(name)
        layers = vars(self).get("_layers", [])
        layers[:] = [layer for layer in layers if layer is not value]

    # ------------------------------------------------------------------------------------------ what it has

    @property
    def name(self) -> str:  # type: ignore[override]
        return self._name

    @property
    def dtype(self) -> str | None:  # type: ignore[override]
        return None if self._dtype is None else self._dtype.name

    @property
    def dynamic(self) -> bool:
        return False

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        vars(self)["_trainable"] = value
        for layer in self._own_layers():
            layer.trainable = value

    def _own_layers(self) -> list[Layer]:
        """The layers that the attributes hold, those in lists and dictionaries among them."""
        found: list[Layer] = []
        for item in vars(self).get("_layers", ()):
            for layer in [item] if isinstance(item, Layer) else _layers_in(item):
                _append_new(found, layer)
        return found

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The layers in this one, and in them, and so on."""
        found: list[Any] = []
        for layer in self._own_layers():
            for item in (layer, *layer.submodules):
                _append_new(found, item)
        return tuple(found)

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        inner = [weight for layer in self._own_layers() for weight in layer.trainable_weights]
        return _distinct([*self._trainable_weights, *inner])

    @property
    def non_trainable_weights(self) -> list[Any]:
        if self.trainable:
            inner = [weight for layer in self._own_layers() for weight in layer.non_trainable_weights]
            return _distinct([*self._non_trainable_weights, *inner])
        inner = [weight for layer in self._own_layers() for weight in layer.weights]
        return _distinct([*self._trainable_weights, *self._non_trainable_weights, *inner])

    @property
    def weights(self) -> list[Any]:
        return _distinct(self.trainable_weights + self.non_trainable_weights)

    @property
    def updates(self) -> list[Any]:
        """What a training step must run too, such as the updates of moving averages."""
        if not self.trainable and not self.stateful:
            return []
        return _distinct([*self._updates, *(update for layer in self._own_layers() for update in layer.updates)])

    @property
    def losses(self) -> list[Any]:
        """Losses of activities and of weights; those of weights are built anew, as in TensorFlow."""
        made = [loss() for loss in self._callable_losses]
        own = [*self._losses, *(loss for loss in made if loss is not None)]
        return [*own, *(loss for layer in self._own_layers() for loss in layer.losses)]

    @property
    def metrics(self) -> list[Any]:
        return [*self._metrics, *(metric for layer in self._own_layers() for metric in layer.metrics)]

    def get_updates_for(self, inputs: Structure) -> list[Any]:
        """The updates that depend on some tensors; None: those that depend on no inputs."""
        return _depending(self.updates, inputs)

    def get_losses_for(self, inputs: Structure) -> list[Any]:
        """The losses that depend on some tensors; None: those that depend on no inputs."""
        return _depending(self.losses, inputs)

    # ------------------------------------------------------------------------------------------ values

    def get_weights(self) -> list[Array]:
        """The values of the variables, in the session in force."""
        values: list[Array] = variable_values.batch_get_value(self.weights)
        return values

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives the variables other values, in the session in force."""
        variables, values = self.weights, list(weights)
        if len(variables) != len(values):
            raise InvalidArgumentError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of length {len(values)}, '
                f"but the layer was expecting {len(variables)} weights."
            )
        pairs = [(variable, np.asarray(value)) for variable, value in zip(variables, values, strict=True)]
        wrong = [
            f"{variable.name} has shape {tuple(variable.get_shape().as_list())}, the value {value.shape}"
            for variable, value in pairs
            if tuple(variable.get_shape().as_list()) != value.shape
        ]
        if wrong:
            raise InvalidArgumentError(f'Layer "{self.name}" weight shapes do not fit: {"; ".join(wrong)}')
        variable_values.batch_set_value(pairs)

    def _laid_out_values(self, values: Sequence[Any]) -> list[Any]:
        """Values of a file as the variables have them, where layers of other classes store them otherwise."""
        variables = [*self.trainable_weights, *self.non_trainable_weights]
        inner = [[*layer.trainable_weights, *layer.non_trainable_weights] for layer in self._own_layers()]
        if not any(inner) or len(variables) != len(values):
            return list(values)
        found = {id(variable): value for variable, value in zip(variables, values, strict=True)}
        for layer, own in zip(self._own_layers(), inner, strict=True):
            if all(id(variable) in found for variable in own):
                changed = layer._laid_out_values([found[id(variable)] for variable in own])
                found.update((id(variable), value) for variable, value in zip(own, changed, strict=True))
        return [found[id(variable)] for variable in variables]

    def count_params(self) -> int:
        """How many numbers the variables have together."""
        if not self.built:
            raise InvalidArgumentError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it "
                f"manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(variable.get_shape().num_elements() or 0 for variable in self.weights)

    # ------------------------------------------------------------------------------------------ configuration

    def get_config(self) -> dict[str, Any]:
        """What makes the layer anew, with variables of its own."""
        if not self._configured and type(self).get_config is Layer.get_config and _takes_arguments(type(self)):
            raise NotImplementedError(
                f"Layers with arguments in `__init__` must override `get_config`: {type(self).__name__} does not."
            )
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        return {**config, **{name: described_attribute(name, getattr(self, name)) for name in self._configured}}

    @classmethod
    def from_config(cls: type[Made], config: Mapping[str, Any]) -> Made:
        """The layer that `get_config` told of, here or in a later version of Keras."""
        return cls(**without_later(config))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of what the layer gives for inputs of a shape."""
        raise NotImplementedError(f"layer {type(self).__name__} does not say the shape of its outputs")

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs, for that of the inputs: true where a step of a sequence counts; None if all do."""
        if not self.supports_masking:
            if any(item is not None for item in flatten(mask)):
                raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
            return None
        return mask

    # ------------------------------------------------------------------------------------------ calling

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_inbound_nodes" not in vars(self):
            raise RuntimeError("You must call `super().__init__()` in the layer constructor.")
        inputs, args = self._first_argument(args, kwargs)
        inputs = map_structure(_as_tensor, inputs)
        parameters = signature(self.call).parameters
        masks = self._input_masks(inputs, args, kwargs, parameters)
        said = dict(kwargs)  # what the program said, which is what a model says again
        if masks is not None and "mask" in parameters and not _was_passed("mask", parameters, args, kwargs):
            kwargs["mask"] = masks
        told_args = args
        training, args, kwargs = _training_told(parameters, args, kwargs)
        if _needs_history(inputs):
            op_layers.create_history(inputs)
        with _calling(self, inputs), told_training(training):
            check_inputs(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._build_for(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise InvalidArgumentError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not None "
                        f"(layer: {self.name})."
                    )
                if _has_history(inputs):
                    outputs = self._note_call(inputs, outputs, _by_name(parameters, told_args, said))
                self._regularize_activity(outputs)
                self._note_masks(inputs, outputs, masks)
        self._after_call(inputs, outputs)
        return outputs

    def _after_call(self, inputs: Any, outputs: Any) -> None:
        """Called at the end of every call; models override it, to note the inputs and outputs of the first."""

    def _name_scope(self) -> str:
        return self.name

    def _first_argument(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        if args:
            return args[0], args[1:]
        first = next(iter(signature(self.call).parameters), "inputs")
        if first not in kwargs:
            raise InvalidArgumentError("The first argument to `Layer.call` must always be passed.")
        return kwargs.pop(first), ()

    def _input_masks(self, inputs: Any, args: Any, kwargs: Any, parameters: Any) -> Any:
        if "mask" in parameters and _was_passed("mask", parameters, args, kwargs):
            return _argument("mask", parameters, args, kwargs)
        masks = map_structure(mask_of, inputs)
        return None if all(mask is None for mask in flatten(masks)) else masks

    def _build_for(self, inputs: Any) -> None:
        if self.built:
            return
        first: Any = next(iter(flatten(inputs)), None)
        if self._dtype is None and hasattr(first, "dtype"):
            vars(self)["_dtype"] = first.dtype.base_dtype
        shapes = None
        if all(hasattr(item, "get_shape") for item in flatten(inputs)):
            shapes = map_structure(lambda item: item.get_shape(), inputs)
        self.build(shapes)
        vars(self)["built"] = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            vars(self)["_initial_weights"] = None

    def _note_call(self, inputs: Any, outputs: Any, arguments: dict[str, Any]) -> Any:
        given = flatten(inputs)
        if any(output is one for output in flatten(outputs) for one in given):  # outputs that are inputs are copied
            made = [identity(item) if any(item is one for one in given) else item for item in flatten(outputs)]
            outputs = pack_sequence_as(outputs, made)
        Node(self, inputs, outputs, arguments)
        return outputs

    def _regularize_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with name_scope("ActivityRegularizer"):
            for output in flatten(outputs):
                loss = convert(self.activity_regularizer(output))
                self._add_losses([truediv(loss, cast(shape_of(output)[0], loss.dtype))], unconditional=False)

    def _note_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        flat = flatten(outputs)
        if getattr(self, "_computes_masks_with_outputs", False) or all(mask_of(item) is not None for item in flat):
            return
        if not self.supports_masking and type(self).compute_mask is Layer.compute_mask:
            found = [None] * len(flat)
        else:
            made = self.compute_mask(inputs, masks)
            found = [None] * len(flat) if made is None else flatten(made)
        for output, mask in zip(flat, found, strict=False):
            set_mask(output, mask)

    # ------------------------------------------------------------------------------------------ making

    def add_weight(  # type: ignore[override]
        self,
        name: str | None = None,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        initializer: Named | TensorLike = None,
        regularizer: Named = None,
        trainable: bool | None = None,
        constraint: Named = None,
        partitioner: Partitioner | None = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Variable:
        """A variable of the layer, under the name scope in force."""
        if wrong := set(kwargs) - {"getter", "collections", "experimental_autocast", "autocast", "caching_device"}:
            raise WrongTypeError(f"Unknown keyword argument: {sorted(wrong)}")
        if kwargs.get("getter") is not None:
            raise UnimplementedError("a getter of one's own for the variables of a layer: override `add_weight`")
        if partitioner is not None:
            raise UnimplementedError("partitioned variables in layers of Keras: tf.layers has them")
        wanted = trainable_when(synchronization, trainable)
        kind = DType.of(dtype or self._dtype or settings().floatx)
        if self._dtype is None:
            vars(self)["_dtype"] = kind.base_dtype
        variable = Variable(
            initial_value=_first_value(initializers.get(initializer), shape, kind, f"{name} of layer {self.name}"),
            trainable=wanted,
            collections=kwargs.get("collections"),
            caching_device=kwargs.get("caching_device"),
            name=name or "Variable",
            dtype=kind.base_dtype,
            constraint=constraints.get(constraint),
            use_resource=use_resource is None or use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        function = regularizers.get(regularizer)
        if function is not None:
            self.add_loss(base.weight_loss(variable.op.name, variable, function))
        for arrays in (True, False):
            self._dependencies(arrays)[name or "Variable"] = variable
        self._keep(variable, wanted)
        return variable

    add_variable = add_weight  # type: ignore[assignment]

    def add_update(self, updates: Additions, inputs: Structure = None) -> None:
        """Operations that go with a call, such as those of moving averages; a training step must run them too."""
        if not all(layer.trainable for layer in (self, *layers_being_called())):
            return
        relevant = [inputs for _, inputs in _calls.get()[-1:]] or [node.inputs for node in self._inbound_nodes]
        for update in updates if isinstance(updates, list | tuple) else [updates]:
            made: Any = update() if callable(update) else update
            if not isinstance(made, Operation):
                made = made.op if hasattr(made, "op") else convert(made).op
            set_unconditional(made, made not in reachable_from(_tensors_of(relevant), [made]))
            self._updates.append(made)

    def add_loss(self, losses: Additions, inputs: Structure = None) -> None:
        """Losses that go with a call, such as those of regularizers; functions that build losses are welcome too."""
        for loss in losses if isinstance(losses, list | tuple) else [losses]:
            if loss is None:
                continue
            if callable(loss):
                self._callable_losses.append(partial(_unconditional_loss, loss))
            else:
                self._add_losses([convert(loss, DType.of(settings().floatx))], unconditional=inputs is None)

    def _add_losses(self, losses: Sequence[Tensor], unconditional: bool) -> None:
        for loss in losses:
            set_unconditional(loss, unconditional)
            self._losses.append(loss)

    def add_metric(self, value: Tensor, aggregation: str | None = None, name: str | None = None) -> None:
        """Adds a metric of a tensor, or the result of a metric, to those that training shows."""
        if aggregation not in (None, "mean"):
            raise InvalidArgumentError(
                f"We currently support only `mean` sample-wise metric aggregation. You provided aggregation="
                f"`{aggregation}`"
            )
        metric = metrics.metric_of_result(value)
        if metric is None:
            if aggregation is None:
                raise InvalidArgumentError(
                    "`aggregation` must be specified when passing a tensor to `add_metric`, for instance "
                    '`self.add_metric(value, name=..., aggregation="mean")`'
                )
            if name is None:
                raise InvalidArgumentError("Please provide a name for your metric like `self.add_metric(..., name=)`")
            known = [other for other in self._metrics if other.name == name]
            metric = known[0] if known else metrics.Mean(name=name, dtype=self.dtype)
            metric(value)
        _append_new(self._metrics, metric)

    # ------------------------------------------------------------------------------------------ nodes

    @property
    def inbound_nodes(self) -> list[Node]:
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Node]:
        return self._outbound_nodes

    def _node(self, index: int, what: str) -> Node:
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        if not -len(self._inbound_nodes) <= index < len(self._inbound_nodes):
            raise InvalidArgumentError(
                f"Asked to get {what} at node {index}, but the layer {self.name} has only {len(self._inbound_nodes)} "
                "inbound nodes."
            )
        return self._inbound_nodes[index]

    def _only(self, what: str, of: Callable[[Node], Any], *, by_shape: bool = False) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        found = [of(node) for node in self._inbound_nodes]
        if len(found) > 1 and not (by_shape and all(item == found[0] for item in found)):
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, hence the notion of "layer {what}" is '
                f"ill-defined. Use `get_{what.replace(' ', '_')}_at(node_index)` instead."
            )
        return found[0]

    def get_input_at(self, node_index: int) -> Any:
        return self._node(node_index, "input").inputs

    def get_output_at(self, node_index: int) -> Any:
        return self._node(node_index, "output").outputs

    def get_input_shape_at(self, node_index: int) -> Any:
        return _shapes_of(self._node(node_index, "input shape").inputs)

    def get_output_shape_at(self, node_index: int) -> Any:
        return _shapes_of(self._node(node_index, "output shape").outputs)

    def get_input_mask_at(self, node_index: int) -> Structure:
        found: Structure = map_structure(mask_of, self.get_input_at(node_index))
        return found

    def get_output_mask_at(self, node_index: int) -> Structure:
        found: Structure = map_structure(mask_of, self.get_output_at(node_index))
        return found

    @property
    def input(self) -> Any:
        return self._only("input", lambda node: node.inputs)

    @property
    def output(self) -> Any:
        return self._only("output", lambda node: node.outputs)

    @property
    def input_shape(self) -> Any:
        return self._only("input shape", lambda node: _shapes_of(node.inputs), by_shape=True)

    @property
    def output_shape(self) -> Any:
        return self._only("output shape", lambda node: _shapes_of(node.outputs), by_shape=True)

    @property
    def input_mask(self) -> Structure:
        found: Structure = map_structure(mask_of, self.input)
        return found

    @property
    def output_mask(self) -> Structure:
        found: Structure = map_structure(mask_of, self.output)
        return found


# ---------------------------------------------------------------------------------------------------- Parts


_LATER: Final = {
    "groups": 1,
    "keepdims": False,
    "optional": False,
    "renorm": False,
    "synchronized": False,
    "zero_output_for_mask": False,
}
"""What configurations of later versions of Keras say besides: the values that mean what there was before."""


def without_later(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without the keys of later versions of Keras whose values say what is so here anyway."""
    return {key: value for key, value in config.items() if key not in _LATER or value != _LATER[key]}


def _append_new(items: list[Any], item: Any) -> None:
    if not any(item is other for other in items):
        items.append(item)


def _distinct(items: Iterable[Any]) -> list[Any]:
    found: dict[int, Any] = {}
    for item in items:
        found.setdefault(id(item), item)
    return list(found.values())


def _layers_in(container: Any) -> list[Layer]:
    """The layers in lists, tuples and dictionaries."""
    items: Iterable[Any] = container.values() if isinstance(container, dict) else container
    found: list[Layer] = []
    for item in items:
        if isinstance(item, Layer):
            found.append(item)
        elif isinstance(item, list | tuple | dict):
            found += _layers_in(item)
    return found


def _batch_input_shape(options: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The shape of inputs that a layer was told, with that of the batch before it."""
    if options.get("batch_input_shape") is not None:
        return _plain_sizes(options["batch_input_shape"])
    shape = options.get("input_shape")
    if shape is None and options.get("input_dim") is not None:
        shape = (options["input_dim"],)
    return None if shape is None else (options.get("batch_size"), *_plain_sizes(shape))


def _plain_sizes(shape: Any) -> tuple[Any, ...]:
    return tuple(TensorShape(shape).as_list())


def _takes_arguments(kind: type) -> bool:
    own = vars(kind).get("__init__", Layer.__init__)
    if own is Layer.__init__:
        return False
    named = [item for item in signature(own).parameters.values() if item.kind is not Parameter.VAR_KEYWORD]
    return len(named) > 1 and not {item.name for item in named[1:]} <= {"trainable", "name", "dtype", "dynamic"}


def _as_tensor(value: Any) -> Any:
    return convert(value) if isinstance(value, np.ndarray | float | int) else value


def _was_passed(name: str, parameters: Mapping[str, Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    return name in kwargs or (name in parameters and list(parameters).index(name) - 1 < len(args))


def _argument(name: str, parameters: Mapping[str, Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return kwargs[name] if name in kwargs else args[list(parameters).index(name) - 1]


def _by_name(parameters: Mapping[str, Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that follow the inputs, by the names of the parameters of `call`."""
    return {**dict(zip(list(parameters)[1:], args, strict=False)), **kwargs}


def _training_told(
    parameters: Mapping[str, Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    training, args, kwargs = with_training(parameters, args, kwargs)
    if training is not None and "training" in parameters and isinstance(kwargs.get("training"), Tensor):
        kwargs["training"] = cast(kwargs["training"], BOOL)
    return training, args, kwargs


def _needs_history(inputs: Any) -> bool:
    """Whether a model whose layer this becomes would lack the operations before it. Never inside of another layer's
    call: that layer has them.
    """
    if _calls.get():
        return False
    items = [item for item in flatten(inputs) if isinstance(item, Tensor)]
    if not items or not has_any_history(items[0].graph) or all(history_of(item) is not None for item in items):
        return False
    return op_layers.comes_from_input(items)


def _has_history(inputs: Any) -> bool:
    items = flatten(inputs)
    return bool(items) and all(
        isinstance(item, Tensor | SparseTensor) and history_of(item) is not None for item in items
    )


def _tensors_of(structure: Any) -> list[Tensor]:
    return [item for item in flatten(structure) if isinstance(item, Tensor)]


def _shapes_of(tensors: Any) -> Any:
    """Shapes as tuples of numbers, in the structure of the tensors."""
    return map_structure(
        lambda tensor: tuple(tensor.get_shape().as_list()) if tensor.get_shape().rank is not None else None, tensors
    )


def _depending(items: Sequence[Any], inputs: Any) -> list[Any]:
    if inputs is None:
        return [item for item in items if is_unconditional(item)]
    wanted = [item for item in items if not is_unconditional(item)]
    reachable = reachable_from(flatten(inputs), wanted)
    return [item for item in wanted if item in reachable]


def _unconditional_loss(make: Callable[[], Any]) -> Any:
    loss = make()
    if loss is None:
        return None
    found = loss if isinstance(loss, Tensor) else convert(loss, DType.of(settings().floatx))
    set_unconditional(found, True)
    return found


def _first_value(initializer: Any, shape: Any, dtype: DType, what: str) -> Any:
    """A function that makes the initial value of a variable; without an initializer, the default one of its type."""
    if initializer is None:
        if dtype.is_floating:
            initializer = initializers.get("glorot_uniform")
        elif dtype.is_integer or dtype.base_dtype is BOOL:
            initializer = Zeros()
        else:
            raise InvalidArgumentError(f"An initializer for variable {what} of type {dtype.base_dtype} is required")
    sizes = () if shape is None else _plain_sizes(shape)
    if None in sizes:
        raise InvalidArgumentError(f"The shape of variable {what} must be known, but is {sizes}")
    if not callable(initializer):
        return initializer
    return lambda: initializer(sizes, dtype=dtype.base_dtype)
