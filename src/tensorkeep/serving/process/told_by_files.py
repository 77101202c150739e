"""What configuration files say besides which models there are: metrics, and settings of the platform."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import parse, serialize
from tensorkeep.proto.serving import (
    MonitoringConfig,
    PlatformConfigMap,
    SavedModelBundleSourceAdapterConfig,
    SessionBundleConfig,
)
from tensorkeep.serving.life.configuration import PLATFORM, read_configuration
from tensorkeep.serving.process.options import METRICS_PATH, ServerOptions

LOG: Final = logging.getLogger("tensorkeep.serving")


def with_files(options: ServerOptions) -> ServerOptions:
    """The options with what the files say that they name."""
    if options.listening.monitoring_file:
        options = _with_monitoring(options, options.listening.monitoring_file)
    if options.loading.platform_file:
        options = _with_platform(options, options.loading.platform_file)
    return options


def _with_monitoring(options: ServerOptions, path: str) -> ServerOptions:
    said = read_configuration(MonitoringConfig, path).prometheus_config
    if said.enable and options.listening.rest_port is None:
        LOG.warning("%s asks for metrics, which are offered on the port of HTTP/REST, and there is none", path)
    listening = replace(options.listening, has_metrics=said.enable, metrics_path=said.path or METRICS_PATH)
    return replace(options, listening=listening)


def _with_platform(options: ServerOptions, path: str) -> ServerOptions:
    """The options, of which a file for the platform replaces those for batching, tags and warm-up."""
    platforms = read_configuration(PlatformConfigMap, path).platform_configs
    if PLATFORM not in platforms:
        raise InvalidArgumentError(f'"{path}" says nothing of the platform "{PLATFORM}"')
    said = _legacy(platforms[PLATFORM].source_adapter_config)
    if said.HasField("session_config"):
        LOG.warning("%s: session_config has no effect: there is no TensorFlow session here", path)
    warm_up = said.model_warmup_options
    loading = replace(
        options.loading,
        tags=tuple(said.saved_model_tags) or options.loading.tags,
        warms_up=said.enable_model_warmup,
        warm_up_iterations=warm_up.num_request_iterations.value,
    )
    batching = replace(
        options.batching,
        is_on=said.HasField("batching_parameters"),
        parameters_file="",
        by_model=said.enable_per_model_batching_params,
        needs_own=said.enable_per_model_batching_params,
        message=serialize(said.batching_parameters),
    )
    return replace(options, loading=loading, batching=batching)


def _legacy(packed: object) -> SessionBundleConfig:
    """The settings in an Any; its type is told by the end of its URL."""
    url, value = getattr(packed, "type_url", ""), getattr(packed, "value", b"")
    known = SavedModelBundleSourceAdapterConfig.DESCRIPTOR.full_name
    if url.rpartition("/")[2] != known:
        raise InvalidArgumentError(f'the platform is configured by "{url}", expected {known}')
    return parse(SavedModelBundleSourceAdapterConfig, value, "the platform's configuration").legacy_config
