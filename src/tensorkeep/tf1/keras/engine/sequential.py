"""`tf.keras.Sequential`: layers one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import ShapeLike
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.engine.input_layer import Input, InputLayer
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.network import Network
from tensorkeep.tf1.keras.engine.nodes import node_of
from tensorkeep.tf1.keras.engine.tensor_notes import history_of

Made = TypeVar("Made", bound="Sequential")


class Sequential(Model):
    """Layers one after the other. Without the shape of its inputs, it is built when it is first called."""

    @untracked_method
    def __init__(self, layers: Sequence[Any] | Any = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self.supports_masking = True
        for layer in layers if isinstance(layers, list | tuple) else [layers] if layers is not None else []:
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        found = self._own_layers()
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    @property
    def _is_listed(self) -> bool:
        return True

    @untracked_method
    def add(self, layer: Any) -> None:
        """Adds a layer at the end."""
        if history_of(layer) is not None and isinstance(node_of(layer).layer, InputLayer):
            layer = node_of(layer).layer
        if not isinstance(layer, Layer):
            raise WrongTypeError(f"The added layer must be an instance of class Layer. Found: {layer!r}")
        if any(other.name == layer.name for other in self._own_layers()) and layer in self._own_layers():
            raise InvalidArgumentError(f"Layer {layer.name} is already in the model: make another one")
        vars(self)["built"] = False
        if not self._own_layers():
            self._begin_with(layer)
        elif self.outputs:
            output = layer(self.outputs[0])
            if len(flatten(output)) != 1:
                raise WrongTypeError(
                    "All layers in a Sequential model should have a single output tensor. For multi-output layers, "
                    "use the functional API."
                )
            self._layers = [*self._layers, layer]
            self._set_ends(self.inputs, [output])
            return
        else:
            self._layers = [*self._layers, layer]
        if self.inputs and self.outputs:
            self._set_ends(self.inputs, self.outputs)

    def _begin_with(self, layer: Any) -> None:
        if isinstance(layer, InputLayer):
            tensor = layer._inbound_nodes[-1].outputs
            self._layers = [layer]
            vars(self).update(inputs=[tensor], outputs=[tensor])
            return
        shape, dtype = _first_shape(layer)
        if shape is None:
            self._layers = [layer]
            return
        tensor = Input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input")
        output = layer(tensor)
        if len(flatten(output)) != 1:
            raise InvalidArgumentError(
                "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the "
                "functional API."
            )
        self._layers = [node_of(tensor).layer, layer]
        vars(self).update(inputs=[tensor], outputs=[output])

    @untracked_method
    def _set_ends(self, inputs: Any, outputs: Any) -> None:
        layers = self._layers
        super()._set_ends(inputs, outputs)
        self._layers = layers  # in the order in which they were added

    @untracked_method
    def pop(self) -> None:
        """Takes the last layer away."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        last = self._layers[-1]
        self._layers = self._layers[:-1]
        if not self.layers:
            self._layers = []
            vars(self).update(inputs=None, outputs=None, built=False, _is_graph_network=False)
        elif self._is_graph_network:
            self.layers[-1]._outbound_nodes = [
                node for node in self.layers[-1]._outbound_nodes if node.layer is not last
            ]
            self._set_ends(self.inputs, [self.layers[-1].output])

    def build(self, input_shape: ShapeLike = None) -> None:
        if self._is_graph_network:
            vars(self)["built"] = True
            return
        if input_shape is None:
            raise InvalidArgumentError("You must provide an `input_shape` argument.")
        super().build(input_shape)
        vars(self)["_build_input_shape"] = tuple(TensorShape(input_shape).as_list())

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        if self._is_graph_network:
            return Network.call(self, inputs, training, mask)
        outputs = inputs
        for layer in self.layers:
            outputs = layer(outputs)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return Network.compute_mask(self, inputs, mask)

    def predict_classes(self, x: object, batch_size: int = 32, verbose: int = 0) -> Array:
        """The most likely class of each item."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        classes: Array = found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")
        return classes

    def predict_proba(self, x: object, batch_size: int = 32, verbose: int = 0) -> Array:
        """What `predict` gives."""
        found: Array = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found

    def get_config(self) -> dict[str, Any]:
        layers = [{"class_name": type(layer).__name__, "config": layer.get_config()} for layer in self.layers]
        config: dict[str, Any] = {"name": self.name, "layers": layers}
        if self._build_input_shape is not None and not self._is_graph_network:
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(
        cls: type[Made],
        config: Mapping[str, Any] | Sequence[dict[str, Any]],
        custom_objects: Mapping[str, Any] | None = None,
    ) -> Made:
        told = config["layers"] if isinstance(config, Mapping) else config
        model = cls(name=config.get("name") if isinstance(config, Mapping) else None)
        for layer in told:
            model.add(serialization.deserialize(layer, custom_objects))
        shape = config.get("build_input_shape") if isinstance(config, Mapping) else None
        if not model.inputs and shape:
            model.build(shape)
        return model


def _first_shape(layer: Any) -> tuple[Any, Any]:
    """The shape of the inputs that a first layer was told, or that its own first layer was; and their type."""
    first = layer
    while isinstance(first, Network) and first.inputs is None and first.layers:
        first = first.layers[0]
    if isinstance(first, Network) and first.inputs:
        return tuple(first.inputs[0].get_shape().as_list()), first.inputs[0].dtype.base_dtype.name
    return getattr(first, "_batch_input_shape", None), first.dtype
