"""Whole models as HDF5: the configuration, the weights, what `compile` was told, and the weights of the optimizer.

attributes   keras_version, backend, model_config, training_config   the last two as JSON
groups       model_weights, optimizer_weights
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tensorkeep.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import path_text
from tensorkeep.io.files.hdf5_images import image_bytes, new_image, opened_image
from tensorkeep.tf1.keras import losses
from tensorkeep.tf1.keras.engine.saving.hdf5_texts import read_text
from tensorkeep.tf1.keras.engine.saving.model_configs import described_model, json_value, model_from_config
from tensorkeep.tf1.keras.engine.saving.weight_files import (
    is_hdf5_file,
    is_hdf5_name,
    read_layers,
    read_whole,
    stored_values,
    write_layers,
    write_variables,
    write_whole,
)
from tensorkeep.tf1.keras.named_objects import custom_object_scope
from tensorkeep.tf1.keras.optimizers import by_name as optimizers


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True, save_format: str | None = None
) -> None:
    """Writes a model as HDF5."""
    path = path_text(filepath)
    kind = save_format or ("h5" if is_hdf5_name(path) else "tf")
    if kind == "tf" and save_format is None:
        kind = "h5"  # as TensorFlow 1.15 has it where eager mode is off
    if kind not in ("h5", "hdf5"):
        raise UnimplementedError(
            f'a model of Keras as a SavedModel ("{path}"): save it as HDF5, by a name that ends in ".h5", or export '
            "its graph by tf.saved_model.simple_save(tf.keras.backend.get_session(), ...)"
        )
    if not model.weights and not model.built:
        raise InvalidArgumentError("Model cannot be saved because it has not been built: call it, or fit it, first")
    told = described_model(model)
    file = new_image()
    file.attrs["keras_version"] = told["keras_version"].encode()
    file.attrs["backend"] = b"tensorflow"
    described = {"class_name": told["class_name"], "config": told["config"]}
    file.attrs["model_config"] = json.dumps(described, default=json_value).encode()
    write_layers(file.create_group("model_weights"), model.layers)
    optimizer = getattr(model, "optimizer", None)
    if include_optimizer and optimizer is not None and not isinstance(optimizer, optimizers.TFOptimizer):
        file.attrs["training_config"] = json.dumps(_training_config(model), default=json_value).encode()
        if optimizer.weights:
            write_variables(file.create_group("optimizer_weights"), optimizer.weights)
    write_whole(path, image_bytes(file), overwrite)


def _training_config(model: Any) -> dict[str, Any]:
    told = model._compile_arguments
    return {
        "loss": told.loss,
        "metrics": told.metrics,
        "weighted_metrics": told.weighted_metrics,
        "sample_weight_mode": told.sample_weight_mode,
        "loss_weights": told.loss_weights,
        "optimizer_config": {
            "class_name": type(model.optimizer).__name__,
            "config": model.optimizer.get_config(),
        },
    }


def load_model(filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True) -> Any:
    """The model that `save` wrote."""
    path = path_text(filepath)
    if FILES.is_directory(path):
        raise UnimplementedError(
            f'"{path}" is a SavedModel: tensorkeep.load_saved_model and tf.saved_model.loader.load load its graph; as '
            "a model of Keras only HDF5 is read"
        )
    if not is_hdf5_file(path):
        if not FILES.exists(path):
            raise InvalidArgumentError(f'No file or directory found at "{path}"')
        raise DataLossError(f'"{path}" is no HDF5 file')
    with opened_image(read_whole(path), path) as file, custom_object_scope(custom_objects or {}):
        text = read_text(file, "model_config")
        if text is None:
            raise InvalidArgumentError(
                f'No model found in "{path}": it has weights only. Make the model, and use `load_weights`'
            )
        model = model_from_config(json.loads(text), custom_objects)
        read_layers(file["model_weights"], model.layers, path)
        training = read_text(file, "training_config")
        if compile and training is not None:
            _compile(model, json.loads(training), custom_objects)
            if "optimizer_weights" in file:
                _set_optimizer(model, stored_values(file["optimizer_weights"], path), path)
    return model


def _compile(model: Any, told: Mapping[str, Any], custom_objects: Mapping[str, Any] | None) -> None:
    model.compile(
        optimizer=optimizers.deserialize(told["optimizer_config"], custom_objects=custom_objects),
        loss=_each(told.get("loss"), lambda item: losses.deserialize(item, custom_objects)),
        metrics=told.get("metrics"),
        loss_weights=told.get("loss_weights"),
        sample_weight_mode=told.get("sample_weight_mode"),
        weighted_metrics=told.get("weighted_metrics"),
    )


def _each(told: Any, make: Any) -> Any:
    if told is None:
        return None
    if isinstance(told, list):
        return [_each(item, make) for item in told]
    if isinstance(told, dict) and "class_name" not in told:
        return {key: _each(item, make) for key, item in told.items()}
    return make(told) if isinstance(told, dict) else told


def _set_optimizer(model: Any, values: list[Any], path: str) -> None:
    if not values:
        return
    model._make_train_function()
    found = len(model.optimizer.weights)
    if found != len(values):
        raise InvalidArgumentError(
            f'"{path}" has {len(values)} weights of the optimizer, which has {found} here. Load the model with '
            "compile=False, and compile it anew"
        )
    model.optimizer.set_weights(values)
