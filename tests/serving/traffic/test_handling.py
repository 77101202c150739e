"""All that is done with requests besides answering them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, UnavailableError
from tensorkeep.proto.serving import PredictionLog
from tensorkeep.serving.exchanges import Traffic
from tensorkeep.serving.models import GRPC, Call, ModelAsked
from tensorkeep.serving.traffic.canaries import Canary
from tensorkeep.serving.traffic.handling import ServerTraffic, TrafficSettings
from tensorkeep.serving.traffic.limits import ModelLimits
from tensorkeep.serving.traffic.replay import replay_log
from tensorkeep.serving.traffic.request_log import logging_of_text
from tensorkeep.serving.traffic.shadows import Shadow
from tests.serving.batching.test_queues import in_a_loop
from tests.serving.traffic.fakes import NamedModels, answered, predict_log


async def same(log: PredictionLog, asked: ModelAsked) -> PredictionLog:
    return log


@in_a_loop
async def test_a_request_is_routed_limited_counted_logged_and_copied(tmp_path: Path) -> None:
    settings = TrafficSettings(
        {"m": ModelLimits(concurrency=1)},
        [Canary("m", 2, 100)],
        [Shadow("m", 3, 100)],
        dict([logging_of_text(f"m={tmp_path}/m:1")]),
    )
    made = ServerTraffic(NamedModels(m=[1, 2, 3]), settings, answer=same, tags=("serve", "tpu"))
    traffic: Traffic = made
    asked, call = traffic.routed(ModelAsked("m")), Call(GRPC, "Predict")
    assert asked == ModelAsked("m", 2)
    async with traffic.admitted(asked, call):
        with pytest.raises(UnavailableError):
            async with traffic.admitted(asked, call):
                pass
        assert b'tensorkeep_requests_in_flight{model="m"} 1\n' in made.metrics_page()
    traffic.finished(answered(log=predict_log(y=np.ones(1, np.float32))))
    await made._shadows.drained()  # type: ignore[union-attr]
    await made.close()
    (path,) = tmp_path.iterdir()
    (log,) = replay_log(path)
    assert log.log_metadata.saved_model_tags == ["serve", "tpu"]
    page = made.metrics_page().decode()
    for line in (
        ':tensorflow:serving:request_count{model_name="m",status="OK"} 1',
        ':tensorflow:serving:request_log_count{model_name="m",status_code="OK"} 1',
        'tensorkeep_canary_requests_total{model="m",target="2"} 1',
        'tensorkeep_shadow_requests_total{model="m",target="3",result="same"} 1',
        'tensorkeep_rejected_requests_total{model="m",reason="queue"} 1',
        'tensorkeep_requests_in_flight{model="m"} 0',
        'tensorkeep_versions_available{model="m"} 3',
    ):
        assert f"{line}\n" in page
    assert made.shadow_report("m")["shadows"][0]["requests"] == 1


@in_a_loop
async def test_other_settings_are_put_in_force_as_a_whole() -> None:
    made = ServerTraffic(NamedModels(m=[1, 2]))
    assert made.shadow_report("m") == {"shadows": []}
    made.change(TrafficSettings(canaries=[Canary("m", 2, 100)], limits={"m": ModelLimits(concurrency=3)}))
    assert made.routed(ModelAsked("m")) == ModelAsked("m", 2)
    with pytest.raises(InvalidArgumentError):
        made.change(TrafficSettings(canaries=[Canary("m", 1, 60), Canary("m", 2, 60)]))
    assert made.limits_of("m") == ModelLimits(concurrency=3)
    await made.close()


@in_a_loop
async def test_what_goes_wrong_beside_a_request_does_not_reach_it(caplog: pytest.LogCaptureFixture) -> None:
    made = ServerTraffic(NamedModels())
    made.metrics.close()
    made.finished(answered())
    assert "a request to m could not be taken note of" in caplog.text
    await made.close()
