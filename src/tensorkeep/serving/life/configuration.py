"""Which models are to be served, as their owner says it: ModelServerConfig, checked, as values.

A configuration is checked whole before anything of it comes into force, against the one in force and the versions that
are available: names, paths, platforms and labels, in TensorFlow Serving's order and words.

The file that says it is looked into again and again, if it is to be.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, path_text
from tensorkeep.proto.messages import MessageType
from tensorkeep.proto.serving import LoggingConfig, ModelConfig, ModelServerConfig, ModelType
from tensorkeep.proto.text import TextFormatError, parse_configuration
from tensorkeep.saved_model.files.layout import read_file

PLATFORM: Final = "tensorflow"
"""The only platform there is."""

_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]|[A-Za-z][0-9A-Za-z.+-]+://")
_LIST: Final = "model_config_list"
_LOGGER: Final = logging.getLogger("tensorkeep.serving")


@dataclass(frozen=True, slots=True)
class Latest:
    """The versions with the highest numbers."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class All:
    """All versions that exist."""


@dataclass(frozen=True, slots=True)
class Specific:
    """The versions with these numbers, as far as they exist."""

    versions: tuple[int, ...]


Policy = Latest | All | Specific


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What is said of one model: where its versions lie, which of them are wished, and what they are called."""

    name: str
    base_path: str
    policy: Policy = Latest()
    labels: Mapping[str, int] = field(default_factory=dict)
    platform: str = PLATFORM
    logging: LoggingConfig | None = None
    """How requests are logged; None: not at all."""


@dataclass(frozen=True, slots=True)
class InForce:
    """What a new configuration is compared with."""

    settings: Mapping[str, ModelSettings]
    is_available: Callable[[str, int], bool]
    """Whether a version of a model is available at this moment."""
    allows_unavailable_labels: bool = False
    """Whether a label that is not in use for another version may name one that is not available."""


class ConfigurationFileError(InvalidArgumentError):
    """A configuration file that does not parse. `problem` is the line that the protobuf library has for it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"Invalid protobuf file: '{path}': {problem}")
        self.problem = problem


def read_configuration(message_type: type[MessageType], path: str, fs: FileSystem = FILES) -> MessageType:
    """The message in a file in text format. MissingFileError, or ConfigurationFileError if it does not parse."""
    try:
        return parse_configuration(message_type, read_file(path_text(path), fs))
    except TextFormatError as error:
        raise ConfigurationFileError(path, str(error)) from error


def one_model(name: str, base_path: str) -> ModelServerConfig:
    """The configuration of a single model, as flags name it."""
    config = ModelServerConfig()
    config.model_config_list.config.add(name=name, base_path=base_path, model_platform=PLATFORM)
    return config


def checked_settings(config: ModelServerConfig, in_force: InForce) -> dict[str, ModelSettings] | None:
    """The models of a configuration, by name; None for an empty one, which changes nothing.

    Raises what TensorFlow Serving answers if the configuration cannot come into force.
    """
    kind = config.WhichOneof("config")
    if kind is None:
        return None
    if kind != _LIST:
        raise FailedPreconditionError(
            "Cannot transition to requested config. It is only legal to transition from one ModelConfigList to another."
        )
    configs = list(config.model_config_list.config)
    _check_names(configs)
    _check_paths(configs)
    _check_unchanged_platforms(configs, in_force)
    for model in configs:
        _check_labels(model, in_force)
    return {model.name: settings_of(model) for model in configs}


def settings_of(model: ModelConfig) -> ModelSettings:
    """What a message says of one model. UnimplementedError for a path that no file system here can reach."""
    logging = LoggingConfig()
    logging.CopyFrom(model.logging_config)
    return ModelSettings(
        model.name,
        path_text(model.base_path),
        _policy_of(model),
        dict(model.version_labels),
        _known_platform(model),
        logging if model.HasField("logging_config") else None,
    )


def _policy_of(model: ModelConfig) -> Policy:
    policy = model.model_version_policy
    kind = policy.WhichOneof("policy_choice")
    if kind == "all":
        return All()
    if kind == "specific":
        return Specific(tuple(policy.specific.versions))
    return Latest(policy.latest.num_versions or 1)


def _check_names(configs: list[ModelConfig]) -> None:
    seen: set[str] = set()
    for model in configs:
        if model.name in seen:
            raise InvalidArgumentError(f"Illegal to list model {model.name} multiple times in config list")
        seen.add(model.name)


def _check_paths(configs: list[ModelConfig]) -> None:
    for model in configs:
        if not _ABSOLUTE.match(model.base_path):
            raise InvalidArgumentError(
                f"Expected model {model.name} to have an absolute path or URI; got base_path()={model.base_path}"
            )


def _check_unchanged_platforms(configs: list[ModelConfig], in_force: InForce) -> None:
    for model in configs:
        known = in_force.settings.get(model.name)
        if known is not None and (asked := _platform_of(model)) != known.platform:
            raise InvalidArgumentError(
                f"Illegal to change a model's platform. For model {model.name} platform was {known.platform} and new "
                f"platform requested is {asked}"
            )


def _platform_of(model: ModelConfig) -> str:
    if model.model_type != ModelType.MODEL_TYPE_UNSPECIFIED and model.model_platform:
        raise InvalidArgumentError(
            "Illegal setting both ModelServerConfig::model_type (deprecated) and ModelServerConfig::model_platform, "
            f"model name is {model.name}"
        )
    if model.model_platform:
        return str(model.model_platform)
    if model.model_type == ModelType.TENSORFLOW:
        return PLATFORM
    if model.model_type == ModelType.OTHER:
        return "other"
    raise InvalidArgumentError(
        "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, "
        f"model name is {model.name}"
    )


def _known_platform(model: ModelConfig) -> str:
    platform = _platform_of(model)
    if platform != PLATFORM:
        raise InvalidArgumentError(f"Model {model.name} requests unsupported platform {platform}")
    return platform


def _check_labels(model: ModelConfig, in_force: InForce) -> None:
    """A label must not lead requests to a version that cannot answer.

    A model that is new has no requests to mislead: its labels may stand in the first configuration that names it. And
    a label that says what it said before is fine.
    """
    known = in_force.settings.get(model.name)
    if known is None:
        return
    for label, version in sorted(model.version_labels.items()):
        before = known.labels.get(label)
        if in_force.is_available(model.name, version) or before == version:
            continue
        if before is None and in_force.allows_unavailable_labels:
            continue
        raise FailedPreconditionError(
            f"Request to assign label to version {version} of model {model.name}, which is not currently available "
            "for inference"
        )


class ConfigFile:
    """A configuration file that is read again every `seconds`, for the first time after that: the start has read it."""

    def __init__(self, path: str, seconds: float, fs: FileSystem) -> None:
        self._path = path
        self._seconds = seconds
        self._fs = fs
        self._due: float | None = None
        self._told = ""

    def read_if_due(self, now: float) -> ModelServerConfig | None:
        """What the file says, if it is time to look; None if it is not, or if it does not parse, which is told."""
        if not self._path or self._seconds <= 0:
            return None
        is_due = self._due is not None and now >= self._due
        if is_due or self._due is None:
            self._due = now + self._seconds
        if not is_due:
            return None
        try:
            return read_configuration(ModelServerConfig, self._path, self._fs)
        except TensorKeepError as error:
            self._tell(f"Failed to read ModelServerConfig file: {error}")
            return None

    def apply(self, config: ModelServerConfig, configure: Callable[[ModelServerConfig], object]) -> None:
        """Puts a configuration in force; one that cannot be is told, and the one before stays."""
        try:
            configure(config)
            self._told = ""
        except TensorKeepError as error:
            self._tell(f"The ModelServerConfig in {self._path} cannot come into force: {error}")

    def _tell(self, problem: str) -> None:
        """Says what is wrong once, not at every look."""
        if problem != self._told:
            _LOGGER.error("%s. The configuration in force stays", problem)
        self._told = problem
