"""Whole models as HDF5: the configuration, the weights, what `compile` was told, and the weights of the optimizer.

attributes   keras_version, backend, model_config, training_config   the last two as JSON
groups       model_weights, optimizer_weights
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.hdf5_images import image_bytes, new_image, opened_image
from tensorkeep.tf1.keras import losses
from tensorkeep.tf1.keras.engine.saving.directory_reading import read_directory
from tensorkeep.tf1.keras.engine.saving.directory_writing import write_directory
from tensorkeep.tf1.keras.engine.saving.model_configs import described_model, json_value, model_from_config
from tensorkeep.tf1.keras.engine.saving.weight_files import (
    is_hdf5_file,
    is_hdf5_name,
    read_layers,
    read_text,
    read_whole,
    stored_values,
    write_layers,
    write_variables,
    write_whole,
)
from tensorkeep.tf1.keras.named_objects import custom_object_scope
from tensorkeep.tf1.keras.optimizers import by_name as optimizers
from tensorkeep.tf1.saved_model.object_exporting import Signatures
from tensorkeep.tf1.saved_model.save_options import SaveOptions

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model

LOG: Final = logging.getLogger("tensorkeep")


def save_model(
    model: Model,
    filepath: PathLike,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Signatures = None,
    options: SaveOptions | None = None,
) -> None:
    """Writes a model as HDF5, or with `save_format="tf"` as a SavedModel."""
    path = path_text(filepath)
    kind = save_format or ("h5" if is_hdf5_name(path) else "tf")
    if kind == "tf" and save_format is None:
        kind = "h5"  # as TensorFlow 1.15 has it where eager mode is off
    if kind in ("tf", "tensorflow"):
        if is_hdf5_name(path):
            raise InvalidArgumentError(
                f'"{path}" is named as an HDF5 file, but save_format is "tf": leave one of them out'
            )
        told = _training_config(model) if include_optimizer and _has_optimizer(model) else None
        write_directory(model, path, overwrite=overwrite, training_config=told, signatures=signatures, options=options)
        return
    if kind not in ("h5", "hdf5"):
        raise InvalidArgumentError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if not model.weights and not model.built:
        raise InvalidArgumentError("Model cannot be saved because it has not been built: call it, or fit it, first")
    told = described_model(model)
    file = new_image()
    file.attrs["keras_version"] = told["keras_version"].encode()
    file.attrs["backend"] = b"tensorflow"
    described = {"class_name": told["class_name"], "config": told["config"]}
    file.attrs["model_config"] = json.dumps(described, default=json_value).encode()
    write_layers(file.create_group("model_weights"), model.layers)
    if include_optimizer and _has_optimizer(model):
        file.attrs["training_config"] = json.dumps(_training_config(model), default=json_value).encode()
        if model.optimizer.weights:
            write_variables(file.create_group("optimizer_weights"), model.optimizer.weights)
    write_whole(path, image_bytes(file), overwrite)


def _has_optimizer(model: Any) -> bool:
    """Whether there is an optimizer that can be told by its configuration."""
    optimizer = getattr(model, "optimizer", None)
    if isinstance(optimizer, optimizers.TFOptimizer):
        LOG.warning(
            "%s: optimizers of tf.train are not saved with models: compile it anew when it is loaded", model.name
        )
        return False
    return optimizer is not None


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


def load_model(filepath: PathLike, custom_objects: Mapping[str, Any] | None = None, compile: bool = True) -> Model:
    """The model that `save` wrote."""
    path = path_text(filepath)
    if FILES.is_directory(path):
        return read_directory(path, custom_objects, _compile if compile else None)
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
