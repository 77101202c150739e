"""Models of Keras written as SavedModels: objects with their metadata, a function that calls the model, signatures.

Each layer is an object whose metadata tells its class and its configuration, as TensorFlow 1.15 stores them. The root
is the model, with its whole configuration and what `compile` was told.
"""

from __future__ import annotations

import json
import logging
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.saved_model.files.constants import ASSETS_DIRECTORY, DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tensorkeep.tf1.functions.control.tracing import Function
from tensorkeep.tf1.functions.type_specs import TensorSpec
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.engine.saving.model_configs import described_model, json_value
from tensorkeep.tf1.keras.engine.session_values import initialized_session
from tensorkeep.tf1.layers.base import set_learning_phase
from tensorkeep.tf1.saved_model.object_exporting import Signatures, save_objects_as_model
from tensorkeep.tf1.saved_model.object_tree import Extras
from tensorkeep.tf1.saved_model.save_options import SaveOptions

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model

LOG: Final = logging.getLogger("tensorkeep")
CONFIG_FILE: Final = posixpath.join(ASSETS_DIRECTORY, "saved_model.json")
MODEL_KIND: Final = "_tf_keras_model"
SEQUENTIAL_KIND: Final = "_tf_keras_sequential"
_LAYER_KIND: Final = "_tf_keras_layer"
_NOTED: Final = ("_losses", "_updates", "_callable_losses", "_inbound_nodes", "_outbound_nodes")


def write_directory(
    model: Model,
    path: str,
    *,
    overwrite: bool = True,
    training_config: Mapping[str, Any] | None = None,
    signatures: Signatures = None,
    options: SaveOptions | None = None,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Writes a model as a SavedModel. Without a configuration of its training, its optimizer is not written."""
    if not overwrite and FILES.exists(path):
        raise InvalidArgumentError(f'"{path}" exists already, and `overwrite` is False: give another name')
    if model.inputs is None or not all(isinstance(tensor, Tensor) for tensor in model.inputs):
        raise InvalidArgumentError(
            f"Model {model.name} cannot be saved because its inputs are not known as tensors: call it, or fit it, first"
        )
    graph = model.outputs[0].graph
    with building(graph), _unnoted_calls(model), _without_optimizer(model, training_config is None):
        calls, serving = _functions(model)
        extras = Extras(
            functions={"__call__": calls},
            files=dict(files or {}),
            identity=lambda item: _identity(item, model, training_config),
            with_slots=True,
        )
        session: Any = initialized_session()
        save_objects_as_model(
            model,
            path,
            {DEFAULT_SERVING_SIGNATURE_DEF_KEY: serving} if signatures is None else signatures,
            session=getattr(session, "core", session),
            options=options or SaveOptions(),
            extras=extras,
        )


def export_saved_model(
    model: Model,
    saved_model_path: PathLike,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: object = None,
    serving_only: bool = False,
) -> None:
    """Writes a model for serving, with its configuration in assets/saved_model.json for `load_from_saved_model`.

    There is one graph, that which is served, also where `serving_only` is False.
    """
    if as_text or input_signature is not None:
        raise UnimplementedError(
            "export_saved_model writes bytes, with the inputs of the model: leave `as_text` and `input_signature` out"
        )
    text = json.dumps(described_model(model), default=json_value)
    write_directory(model, path_text(saved_model_path), overwrite=False, files={CONFIG_FILE: text.encode()})


def _functions(model: Any) -> tuple[Function, Function]:
    """What calls the model, traced with and without a word on training; and what is served."""
    names = model.input_names
    specs = [
        TensorSpec(tensor.get_shape(), tensor.dtype.base_dtype, name)
        for tensor, name in zip(model.inputs, names, strict=True)
    ]

    def call(inputs: Any, training: Any = None) -> Any:
        set_learning_phase(0)
        return model(inputs, training=False)

    def serve(*inputs: Any) -> dict[str, Any]:
        set_learning_phase(0)
        found = model(list(inputs) if len(inputs) > 1 else inputs[0], training=False)
        outputs = found if isinstance(found, list | tuple) else [found]
        return dict(zip(model.output_names, outputs, strict=True))

    calls = Function(call)
    given: Any = specs if len(specs) > 1 else specs[0]
    calls.get_concrete_function(given)
    calls.get_concrete_function(given, training=False)
    return calls, Function(serve, tuple(specs))


@contextmanager
def _unnoted_calls(model: Any) -> Iterator[None]:
    """Calls inside leave no losses, updates and nodes behind in the layers: they belong to functions."""
    layers = [model, *(item for item in model.submodules if isinstance(item, Layer))]
    kept = [{name: list(vars(layer)[name]) for name in _NOTED if name in vars(layer)} for layer in layers]
    try:
        yield
    finally:
        for layer, lists in zip(layers, kept, strict=True):
            for name, before in lists.items():
                vars(layer)[name][:] = before


@contextmanager
def _without_optimizer(model: Any, is_left_out: bool) -> Iterator[None]:
    """Inside, the optimizer is no part of the model, if it shall be left out."""
    removed = [model._dependencies(arrays).pop("optimizer", None) if is_left_out else None for arrays in (True, False)]
    try:
        yield
    finally:
        for arrays, item in zip((True, False), removed, strict=True):
            if item is not None:
                model._dependencies(arrays)["optimizer"] = item


def _identity(item: Any, root: Any, training_config: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """The kind of a layer, and its metadata as JSON."""
    if not isinstance(item, Layer) or item._is_metric:
        return None
    told: dict[str, Any] = {"name": item.name, "trainable": item.trainable, "class_name": type(item).__name__}
    try:
        told["config"] = item.get_config()
    except (NotImplementedError, UnimplementedError):  # a class of the program's own
        LOG.warning("%s has no configuration: it is saved without one", item.name)
    network: Any = item if hasattr(item, "_is_graph_network") else None
    kind = _LAYER_KIND
    if network is not None:
        kind = SEQUENTIAL_KIND if network._is_listed else MODEL_KIND
        told["is_graph_network"] = bool(network._is_graph_network)
    if item is root and "config" in told:
        described = described_model(item)
        told.update(keras_version=described["keras_version"], backend="tensorflow")
        told["model_config"] = {"class_name": described["class_name"], "config": described["config"]}
        if training_config is not None:
            told["training_config"] = training_config
    return kind, json.dumps(told, default=json_value)
