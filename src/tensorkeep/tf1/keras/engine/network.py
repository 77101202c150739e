"""Networks: layers as one layer, either between given inputs and outputs, or by a `call` of the program's own."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, Structure
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.engine import network_configs
from tensorkeep.tf1.keras.engine.base_layer import Additions, Layer, layers_being_called, untracked_method
from tensorkeep.tf1.keras.engine.graph_maps import check_ends, map_graph
from tensorkeep.tf1.keras.engine.nodes import Node, node_of
from tensorkeep.tf1.keras.engine.op_layers import AddLoss, AddMetric, create_history
from tensorkeep.tf1.keras.engine.tensor_notes import history_of, is_unconditional, mask_of, reachable_from, set_mask
from tensorkeep.tf1.keras.named_objects import name_for, unique_object_name

Made = TypeVar("Made", bound="Network")


class Network(Layer):
    """Layers as one layer."""

    @untracked_method
    def __init__(self, *args: object, **kwargs: Any) -> None:
        given = _ends_of(args, kwargs)
        name = kwargs.pop("name", None)
        kwargs.pop("autocast", None)
        name = name or unique_object_name(name_for(type(self)), zero_based=True)
        super().__init__(name=name, trainable=kwargs.pop("trainable", True), dtype=kwargs.pop("dtype", None))
        if kwargs:
            raise TypeError(f"Invalid keyword arguments of {type(self).__name__}: {sorted(kwargs)}")
        self._is_graph_network = False
        self.inputs: Any = None
        self.outputs: Any = None
        self.input_names: list[str] = []
        self.output_names: list[str] = []
        self._nested_inputs: Any = None
        self._nested_outputs: Any = None
        self._build_input_shape: Any = None
        if given is not None:
            self._set_ends(*given)

    @untracked_method
    def _set_ends(self, inputs: Any, outputs: Any) -> None:
        """Makes a network of what lies between inputs and outputs."""
        self._is_graph_network = True
        inputs = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else inputs
        outputs = outputs[0] if isinstance(outputs, list) and len(outputs) == 1 else outputs
        self._nested_inputs, self._nested_outputs = inputs, outputs
        self.inputs, self.outputs = flatten(inputs), flatten(outputs)
        if any(history_of(tensor) is None for tensor in self.outputs):
            create_history(outputs)
        check_ends(self.inputs, self.outputs, self.name)
        self.built = True
        self.supports_masking = True
        self._computes_masks_with_outputs = True
        found = map_graph(self.inputs, self.outputs)
        self._nodes = list(found.nodes)
        self._layers = list(found.layers)
        self.input_names = [node_of(tensor).layer.name for tensor in self.inputs]
        self.output_names = _output_names(self.outputs)
        self._inbound_nodes = []
        Node(self, inputs, outputs, makes_outputs=False)

    @property
    def _input_layers(self) -> list[Any]:
        return [node_of(tensor).layer for tensor in self.inputs or ()]

    # ------------------------------------------------------------------------------------------ what it has

    @property
    def layers(self) -> list[Layer]:
        return self._own_layers()

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """A layer by its name, or by its place among `layers`."""
        layers = self.layers
        if index is not None:
            if index >= len(layers):
                raise InvalidArgumentError(
                    f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers."
                )
            return layers[index]
        if not name:
            raise InvalidArgumentError("Provide either a layer name or layer index.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise InvalidArgumentError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        inner = [weight for layer in self._own_layers() for weight in layer.trainable_weights]
        return _distinct([*inner, *self._trainable_weights])

    @property
    def non_trainable_weights(self) -> list[Any]:
        layers = self._own_layers()
        inner = [weight for layer in layers for weight in layer.non_trainable_weights]
        if self.trainable:
            return _distinct([*inner, *self._non_trainable_weights])
        trained = [weight for layer in layers for weight in layer.trainable_weights]
        return _distinct([*trained, *self._trainable_weights, *inner, *self._non_trainable_weights])

    @property
    def weights(self) -> list[Any]:
        inner = [weight for layer in self._own_layers() for weight in layer.weights]
        return _distinct([*inner, *self._trainable_weights, *self._non_trainable_weights])

    @property
    def stateful(self) -> bool:
        return any(getattr(layer, "stateful", False) for layer in vars(self).get("_layers", ()))

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """A network is stateful if a layer of it is."""

    def reset_states(self) -> None:
        """Sets the states of recurrent layers back to what they began with."""
        for layer in self._own_layers():
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of stateful layers, which predictions make too."""
        return [
            update
            for layer in self._own_layers()
            if getattr(layer, "stateful", False) and hasattr(layer, "updates")
            for update in layer.updates
        ]

    @property
    def updates(self) -> list[Any]:
        return self._relevant(super().updates)

    @property
    def losses(self) -> list[Any]:
        return self._relevant(super().losses)

    def _relevant(self, items: list[Any]) -> list[Any]:
        """Of losses or updates those that depend on inputs of this network, or on none: layers may be shared."""
        inputs = [tensor for node in self._inbound_nodes for tensor in flatten(node.inputs)]
        if not self._is_graph_network:
            inputs += list(self.inputs or ())
        if not inputs:
            return items
        reachable = reachable_from(inputs, items)
        wanted = [item for item in items if item in reachable]
        return _distinct([*wanted, *(item for item in items if is_unconditional(item))])

    @property
    def input_spec(self) -> None:
        """What inputs must be, as far as layers of networks ask: they are checked by the layers themselves."""
        return None

    @input_spec.setter
    def input_spec(self, value: object) -> None:
        """What a program says of its own network is not checked, as in TensorFlow 1.15."""

    # ------------------------------------------------------------------------------------------ calling

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variables of a network that was not called yet, for inputs of a shape."""
        if self._is_graph_network or self.built:
            vars(self)["built"] = True
            return
        if type(self).call is Network.call:
            raise InvalidArgumentError(f"model {self.name} has neither inputs and outputs nor a method `call`")
        if layers_being_called():  # its layers make their variables when they are called, in a moment
            vars(self)["built"] = True
            return
        if input_shape is None:
            raise InvalidArgumentError("Input shape must be defined when calling build on a model subclass network.")
        made = _placeholders(input_shape, self.dtype or floatx())
        parameters = _parameters(self.call)
        self.call(made, **({"training": False} if "training" in parameters else {}))
        vars(self).update(built=True, _build_input_shape=input_shape)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Calls the layers between the inputs and the outputs once more, for other inputs."""
        if not self._is_graph_network:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        return self._run_layers(self._in_order(inputs), None if mask is None else self._in_order(mask))

    def _in_order(self, inputs: Any) -> list[Any]:
        """Inputs in the order of the network's: given so, or by name."""
        if isinstance(inputs, Mapping) and not isinstance(self._nested_inputs, Mapping):
            missing = [name for name in self.input_names if name not in inputs]
            if missing:
                raise InvalidArgumentError(f"Model {self.name} was called without its inputs {missing}")
            return [inputs[name] for name in self.input_names]
        found: list[Any] = flatten(inputs)
        if len(found) != len(self.inputs):
            raise InvalidArgumentError(
                f"Model {self.name} has {len(self.inputs)} inputs, but was called with {len(found)}"
            )
        return found

    def _run_layers(self, inputs: list[Any], masks: list[Any] | None) -> Any:
        known: dict[int, Any] = {}
        for own, given, mask in zip(self.inputs, inputs, masks or [None] * len(inputs), strict=True):
            if mask is not None:
                set_mask(given, mask)
            known[id(own)] = given
        for node in self._nodes:
            tensors = node.tensors
            if node.is_input or any(id(tensor) not in known for tensor in tensors):
                continue

            def instead(item: Any) -> Any:
                return known.get(id(item), item)

            arguments = {key: map_structure(instead, value) for key, value in node.arguments.items()}
            outputs = node.layer(map_structure(instead, node.inputs), **arguments)
            known.update((id(own), made) for own, made in zip(flatten(node.outputs), flatten(outputs), strict=True))
        return pack_sequence_as(self._nested_outputs, [known[id(tensor)] for tensor in self.outputs])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if not self._is_graph_network:
            return None
        return map_structure(mask_of, self.call(inputs, mask=mask))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shapes of the outputs for inputs of some shapes: the layers are asked one after the other."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        shapes = [TensorShape(shape) for shape in _shape_list(input_shape, len(self.inputs))]
        known = {id(tensor): shape for tensor, shape in zip(self.inputs, shapes, strict=True)}
        for node in self._nodes:
            if node.is_input:
                continue
            found = node.layer.compute_output_shape(map_structure(lambda item: known[id(item)], node.inputs))
            made = [found] if isinstance(found, TensorShape) else list(_shape_list(found, len(flatten(node.outputs))))
            known.update(
                (id(tensor), TensorShape(shape)) for tensor, shape in zip(flatten(node.outputs), made, strict=True)
            )
        return pack_sequence_as(self._nested_outputs, [known[id(tensor)] for tensor in self.outputs])

    @untracked_method
    def _after_call(self, inputs: Any, outputs: Any) -> None:
        if self.inputs is None:
            self._note_ends(inputs, outputs)
        for status in vars(self).pop("_pending_restores", ()):  # of a checkpoint that was loaded before
            status.run_restore_ops()

    @untracked_method
    def _note_ends(self, inputs: Any, outputs: Any) -> None:
        """Notes with what a network of the program's own was called first, and what it gave."""
        self._nested_inputs, self._nested_outputs = inputs, outputs
        self.inputs = [item for item in flatten(inputs) if hasattr(item, "get_shape")]
        self.outputs = flatten(outputs)
        self.input_names = _input_names(inputs)
        self.output_names = (
            sorted(outputs) if isinstance(outputs, Mapping) else [f"output_{at + 1}" for at in range(len(self.outputs))]
        )
        self.built = True

    # ------------------------------------------------------------------------------------------ losses, metrics

    def add_loss(self, losses: Additions, inputs: Structure = None) -> None:
        """Adds losses: of a network between inputs and outputs, as a layer behind what they are computed of."""
        given = losses if isinstance(losses, list | tuple) else [losses]
        for loss in given:
            if self._is_graph_network and isinstance(loss, Tensor) and not layers_being_called():
                self._insert(create_history(loss), AddLoss(unconditional=False), loss)
            else:
                super().add_loss(loss, inputs)

    def add_metric(self, value: Tensor, aggregation: str | None = None, name: str | None = None) -> None:
        if self._is_graph_network and not layers_being_called() and aggregation is not None:
            self._insert(create_history(value), AddMetric(aggregation, name), value)
        else:
            super().add_metric(value, aggregation, name)

    @untracked_method
    def _insert(self, layers: list[Layer], last: Layer, value: Any) -> None:
        """Adds layers that lead to no output, the last of which is called here."""
        last(value)
        wanted = [*self.outputs, last._inbound_nodes[-1].outputs]
        found = map_graph(self.inputs, wanted)
        self._nodes = [*self._nodes, *(node for node in found.nodes if node not in self._nodes)]
        self._layers = [*self._layers, *(layer for layer in found.layers if layer not in self._layers)]

    # ------------------------------------------------------------------------------------------ configuration

    def get_config(self) -> dict[str, Any]:
        """The layers of the network, and how they are called."""
        if not self._is_graph_network:
            raise NotImplementedError(
                f"{type(self).__name__} is a subclass of Model with a `call` of its own: only code can say what it "
                "computes. Override `get_config`, or save its weights"
            )
        return network_configs.network_config(self)

    @classmethod
    def from_config(
        cls: type[Made], config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Made:
        """The network that `get_config` told of, with variables of its own."""
        inputs, outputs, made = network_configs.rebuilt_ends(config, custom_objects)
        network = cls(inputs=inputs, outputs=outputs, name=config.get("name"))
        network._take_in(list(made.values()))
        return network

    @untracked_method
    def _take_in(self, layers: list[Layer]) -> None:
        """Counts layers in that lead to no output, such as those of losses."""
        for layer in layers:
            if layer not in self._layers:
                self._layers = [*self._layers, layer]
                self._nodes = [*self._nodes, *layer._inbound_nodes]

    def _saved_objects(self, arrays: bool) -> dict[str, Any]:
        """The layers by their numbers, those with variables once more by theirs; then what was assigned."""
        if not (self._is_graph_network or self._is_listed):
            return self._dependencies(arrays)
        found: dict[str, Any] = {}
        count = 0
        for at, layer in enumerate(self._layers_to_save()):
            if layer.weights:
                found[f"layer_with_weights-{count}"] = layer
                count += 1
            found[f"layer-{at}"] = layer
        return {**found, **self._dependencies(arrays)}

    def _layers_to_save(self) -> list[Layer]:
        return self.layers

    @property
    def _is_listed(self) -> bool:
        """Whether the layers follow each other in a list."""
        return False


# ---------------------------------------------------------------------------------------------------- Parts


def _ends_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    """The inputs and outputs that a network is made with; None if it has a `call` of its own."""
    if len(args) >= 2:
        if len(args) > 2:
            kwargs["name"] = args[2]
        return args[0], args[1]
    if len(args) == 1 and "outputs" in kwargs:
        return args[0], kwargs.pop("outputs")
    if "inputs" in kwargs and "outputs" in kwargs:
        return kwargs.pop("inputs"), kwargs.pop("outputs")
    if args:
        kwargs["name"] = args[0]
    return None


def _output_names(outputs: list[Any]) -> list[str]:
    """Of each output the name of its layer; from the second on that have the same one, with a number."""
    names: list[str] = []
    counts: dict[str, int] = {}
    for tensor in outputs:
        name = node_of(tensor).layer.name
        counts[name] = counts.get(name, 0) + 1
        names.append(name if counts[name] == 1 else f"{name}_{counts[name] - 1}")
    return names


def _input_names(inputs: Any) -> list[str]:
    if isinstance(inputs, Mapping):
        return sorted(inputs)
    return [f"input_{at + 1}" for at in range(len(flatten(inputs)))]


def _distinct(items: list[Any]) -> list[Any]:
    return list({id(item): item for item in items}.values())


def _parameters(function: Any) -> Mapping[str, Any]:
    return signature(function).parameters


def _shape_list(shape: Any, count: int) -> list[Any]:
    if count == 1 and not (isinstance(shape, list) and shape and isinstance(shape[0], list | tuple | TensorShape)):
        return [shape]
    return list(shape.values()) if isinstance(shape, Mapping) else list(shape)


def _is_shape(value: Any) -> bool:
    if isinstance(value, TensorShape):
        return True
    return isinstance(value, tuple | list) and all(item is None or isinstance(item, int) for item in value)


def _placeholders(shape: Any, dtype: Any) -> Any:
    if _is_shape(shape):
        return placeholder(dtype, shape=shape)
    if isinstance(shape, Mapping):
        return {key: _placeholders(value, dtype) for key, value in shape.items()}
    return [_placeholders(item, dtype) for item in shape]
