"""Models of Keras read from SavedModels: made of the configuration that is stored, with the stored weights.

TensorFlow 1.15 keeps the configuration in the metadata of the root object, later versions in keras_metadata.pb beside
the model (a list of nodes(1), each with node_id(2), identifier(4) and metadata(5)), and `export_saved_model` in
assets/saved_model.json. Functions of the file are not used: whoever wants to run them loads the graph.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import DataLossError, InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.proto.wire import LENGTH_DELIMITED, fields
from tensorkeep.saved_model.files.layout import join, read_saved_model, variables_path
from tensorkeep.tf1.keras.engine.saving.directory_writing import CONFIG_FILE
from tensorkeep.tf1.keras.engine.saving.model_configs import model_from_config, model_from_json
from tensorkeep.tf1.keras.engine.saving.weight_files import read_whole

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model

LOG: Final = logging.getLogger("tensorkeep")
_METADATA_FILE: Final = "keras_metadata.pb"
_MADE_AGAIN: Final = ("Functional", "Model", "Sequential")
_NEW_OPTIMIZER: Final = "is_legacy_optimizer"
_NEW_OPTIONS: Final = frozenset(
    # Of optimizers since Keras 2.11; those before have none of them, and none is by default.
    ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum", "ema_overwrite_frequency",
     "jit_compile", _NEW_OPTIMIZER)
)  # fmt: skip


def read_directory(
    path: str,
    custom_objects: Mapping[str, Any] | None,
    compile_model: Callable[[Any, Mapping[str, Any], Mapping[str, Any] | None], None] | None,
) -> Model:
    """The model in a directory; compiled by the function given as it was, with the state of its optimizer."""
    told = _root_metadata(path)
    model = _made_model(told, path, custom_objects)
    training = told.get("training_config")
    if compile_model is not None and isinstance(training, Mapping):
        plain, has_state = _plain_training(training)
        try:
            compile_model(model, plain, custom_objects)
        except TensorKeepError as error:
            raise InvalidArgumentError(
                f'"{path}" cannot be compiled as it was: {error}. Load it with compile=False, and compile it anew'
            ) from error
        if has_state:
            model._make_train_function()
        else:
            LOG.warning('"%s": the state of its optimizer is of another kind, and not read: it starts anew', path)
    _read_weights(model, path)
    return model


def load_from_saved_model(saved_model_path: PathLike, custom_objects: Mapping[str, Any] | None = None) -> Model:
    """The model that `export_saved_model` wrote; it is not compiled."""
    path = path_text(saved_model_path)
    file = join(path, CONFIG_FILE)
    if not FILES.exists(file):
        raise InvalidArgumentError(
            f'"{path}" has no {CONFIG_FILE}, so export_saved_model did not write it: use tf.keras.models.load_model, '
            "or tensorkeep.load_saved_model, which runs any SavedModel"
        )
    model = model_from_json(read_whole(file).decode(), custom_objects)
    _read_weights(model, path)
    return model


def _read_weights(model: Any, path: str) -> None:
    if model.weights:
        model.load_weights(variables_path(path)).assert_existing_objects_matched()


def _made_model(told: Mapping[str, Any], path: str, custom_objects: Mapping[str, Any] | None) -> Model:
    described = told.get("model_config") or {key: told.get(key) for key in ("class_name", "config")}
    name, config = described.get("class_name"), described.get("config")
    if not isinstance(config, Mapping) or (name not in _MADE_AGAIN and name not in (custom_objects or {})):
        raise UnimplementedError(
            f'"{path}" is a model of the class {name!r}, which has no configuration to make it of, or is not '
            "known: give the class in `custom_objects`, or use tensorkeep.load_saved_model, which runs its functions"
        )
    try:
        model = model_from_config({"class_name": name, "config": config}, custom_objects)
    except (TensorKeepError, TypeError) as error:
        raise InvalidArgumentError(
            f'"{path}" cannot be made again: {error}. tensorkeep.load_saved_model runs its functions'
        ) from error
    shape = told.get("build_input_shape")
    if not model.weights and not model.built and shape:
        model.build(tuple(shape))
    return model


def _plain_training(training: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """What `compile` was told, in words of TensorFlow 1.15; and whether the optimizer's state is laid out as there."""
    plain = {**training, **{key: _plain_metrics(training.get(key)) for key in ("metrics", "weighted_metrics")}}
    optimizer = plain.get("optimizer_config") or {}
    config = dict(optimizer.get("config") or {})
    is_new = _NEW_OPTIMIZER in config or str(optimizer.get("class_name", "")).startswith("Custom>")
    if is_new:
        set_ones = [key for key in ("use_ema", "weight_decay", "global_clipnorm") if config.get(key)]
        if set_ones:
            raise UnimplementedError(f"the optimizer uses {set_ones}: load with compile=False, and compile it anew")
        kept = {key: value for key, value in config.items() if key not in _NEW_OPTIONS}
        kept.update({key: config[key] for key in ("clipnorm", "clipvalue") if config.get(key) is not None})
        name = str(optimizer["class_name"]).rpartition(">")[2]
        plain["optimizer_config"] = {"class_name": name, "config": kept}
    return plain, not is_new


def _plain_metrics(told: Any) -> Any:
    """Metrics, those that later versions write as a wrapper around a function by the name of the function."""
    if isinstance(told, list | tuple):
        return [_plain_metrics(item) for item in told if item is not None]
    if not isinstance(told, dict):
        return told
    function = (told.get("config") or {}).get("fn") if told.get("class_name") == "MeanMetricWrapper" else None
    if isinstance(function, str):
        return function
    return told if "class_name" in told else {key: _plain_metrics(item) for key, item in told.items()}


def _root_metadata(path: str) -> dict[str, Any]:
    """What is told of the root object; UnimplementedError if it is no model of Keras."""
    file = join(path, _METADATA_FILE)
    text = _root_of_file(read_whole(file), file) if FILES.exists(file) else _root_of_model(path)
    if not text:
        if FILES.exists(join(path, CONFIG_FILE)):
            return dict(_decoded_json(json.loads(read_whole(join(path, CONFIG_FILE)))))
        raise UnimplementedError(
            f'"{path}" is a SavedModel, but none of a Keras model: tensorkeep.load_saved_model runs it'
        )
    try:
        found = _decoded_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise DataLossError(f'"{path}": the metadata of the model is no JSON: {error}') from None
    if not isinstance(found, dict):
        raise DataLossError(f'"{path}": the metadata of the model is {type(found).__name__}, and not an object')
    return found


def _root_of_file(data: bytes, what: str) -> str:
    for number, wire_type, node in fields(memoryview(data), what):
        if number != 1 or wire_type != LENGTH_DELIMITED or not isinstance(node, memoryview):
            continue
        parts = {inner: value for inner, _, value in fields(node, what)}
        metadata = parts.get(5)
        if parts.get(2, 0) == 0 and isinstance(metadata, memoryview):
            return bytes(metadata).decode("utf-8", "replace")
    return ""


def _root_of_model(path: str) -> str:
    for meta_graph in read_saved_model(path).meta_graphs:
        nodes = meta_graph.object_graph_def.nodes
        if nodes and nodes[0].user_object.identifier.startswith("_tf_keras"):
            return str(nodes[0].user_object.metadata)
    return ""


def _decoded_json(value: Any) -> Any:
    """JSON with tuples and shapes as Keras writes them, as these."""
    if isinstance(value, list):
        return [_decoded_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") in ("__tuple__", "TensorShape") and isinstance(value.get("items"), list):
        return tuple(_decoded_json(item) for item in value["items"])
    return {key: _decoded_json(item) for key, item in value.items() if key != "shared_object_id"}
