"""What configuration files say besides which models there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.proto.messages import parse
from tensorkeep.proto.serving import BatchingParameters
from tensorkeep.runtime.limits import NO_LIMITS
from tensorkeep.serving.life.lifecycle import Transition
from tensorkeep.serving.life.options import ModelExtras
from tensorkeep.serving.process.loading import model_extras
from tensorkeep.serving.process.options import METRICS_PATH, Listening, Loading, ServerOptions
from tensorkeep.serving.process.told_by_files import with_files
from tensorkeep.serving.process.traffic import limits_of, traffic_settings

PLATFORM = """
platform_configs {
  key: "tensorflow"
  value {
    source_adapter_config {
      [type.googleapis.com/tensorflow.serving.SavedModelBundleSourceAdapterConfig] {
        legacy_config {
          batching_parameters { max_batch_size { value: 7 } }
          saved_model_tags: "serve"
          saved_model_tags: "tpu"
          enable_model_warmup: true
          model_warmup_options { num_request_iterations { value: 3 } }
        }
      }
    }
  }
}
"""


def monitored(text: str, folder: Path) -> Listening:
    (folder / "monitoring.config").write_text(text)
    listening = Listening(has_metrics=False, monitoring_file=str(folder / "monitoring.config"))
    return with_files(ServerOptions(listening=listening)).listening


def test_a_file_says_whether_there_are_metrics_and_where(tmp_path: Path) -> None:
    found = monitored("prometheus_config { enable: true }", tmp_path)
    assert (found.has_metrics, found.metrics_path) == (True, METRICS_PATH)
    found = monitored('prometheus_config { enable: true path: "/metrics" }', tmp_path)
    assert (found.has_metrics, found.metrics_path) == (True, "/metrics")
    assert not monitored("", tmp_path).has_metrics


def test_a_file_for_the_platform_replaces_flags_for_batching_tags_and_warm_up(tmp_path: Path) -> None:
    path = tmp_path / "platform.config"
    path.write_text(PLATFORM)
    found = with_files(ServerOptions(loading=Loading(platform_file=str(path))))
    assert (found.loading.tags, found.loading.warms_up, found.loading.warm_up_iterations) == (("serve", "tpu"), True, 3)
    assert found.batching.is_on
    assert parse(BatchingParameters, found.batching.message, "a test").max_batch_size.value == 7


@pytest.mark.parametrize("text", ["", PLATFORM.replace("SavedModelBundleSourceAdapterConfig", "SessionBundleConfig")])
def test_a_file_for_another_platform_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "platform.config"
    path.write_text(text.replace("legacy_config {", "").replace("}\n        }\n", "}\n", 1))
    with pytest.raises(InvalidArgumentError):
        with_files(ServerOptions(loading=Loading(platform_file=str(path))))


def told(**rules: tuple[str, ...]) -> ServerOptions:
    options = ServerOptions(workers=2)
    return replace(options, traffic=replace(options.traffic, **rules))


def test_workers_share_the_limits_of_a_model() -> None:
    limits = limits_of(told(limits=("m=concurrency:8,queue:64", "*=deadline_seconds:2")))
    assert (limits["m"].concurrency, limits["m"].queue, limits[""].deadline_seconds) == (4, 32, 2)


def test_a_sample_of_requests_is_logged_where_the_options_say() -> None:
    logs = traffic_settings(told(request_logs=("m=/logs/a:b:0.25",)), {}).logs
    assert logs["m"].log_collector_config.filename_prefix == "/logs/a:b"
    assert logs["m"].sampling_config.sampling_rate == 0.25


def test_what_is_said_of_a_model_holds_together() -> None:
    loading = Loading(validates=True, allowed=(("a", ("prints",)),), deltas=(("a", "/run"),), unloads_first=("a", "b"))
    extras = model_extras(loading)
    assert extras["a"] == ModelExtras(("prints",), NO_LIMITS, Transition.PRESERVE_RESOURCES, True, delta_path="/run")
    assert extras["b"] == ModelExtras(transition=Transition.PRESERVE_RESOURCES, validate=True)
    assert extras[""] == ModelExtras(validate=True)


@pytest.mark.parametrize(
    "rules",
    [
        {"limits": ("m",)},
        {"limits": ("m=speed:8",)},
        {"canaries": ("m=1",)},
        {"shadows": ("m=1:200",)},
        {"request_logs": ("m=/logs",)},
        {"request_logs": ("m=/logs:2",)},
    ],
)
def test_rules_that_cannot_be_read_are_refused(rules: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(InvalidArgumentError):
        traffic_settings(told(**rules), {})
