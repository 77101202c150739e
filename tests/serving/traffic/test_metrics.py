"""What is counted, and the page that shows it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tensorkeep.serving.batching.notes import BatchNote
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.models import GRPC, REST, Call, ModelAsked, ModelOverview, State, VersionStatus
from tensorkeep.serving.traffic import registry
from tensorkeep.serving.traffic.metrics import ServerMetrics, counter_files
from tensorkeep.serving.traffic.registry import OTHER, Kind, Metric, Registry
from tests.serving.traffic.fakes import answered


def values(page: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """The samples of a page by name and values of labels, as a client of Prometheus reads them.

    It gives counters the ending of newer ones if they have none.
    """
    return {
        (
            sample.name if f"{sample.name}{{" in page else sample.name.removesuffix("_total"),
            tuple(sample.labels.values()),
        ): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


def test_a_page_is_as_the_original_writes_it() -> None:
    registry = Registry()
    counts = registry.family(Metric(":tensorflow:serving:request_count", Kind.COUNTER, ("model_name", "status")))
    runs = registry.family(Metric(":tensorflow:core:graph_runs", Kind.COUNTER))
    times = registry.family(
        Metric(
            ":tensorflow:serving:request_latency",
            Kind.HISTOGRAM,
            ("model_name", "API"),
            (10.0, 18.0, 104.976, 188.9568),
        )
    )
    registry.family(Metric(":tensorflow:serving:untouched", Kind.COUNTER, ("x",)))
    counts.add(("m", "OK"), 2)
    counts.add(('a"b\\c', "NOT_FOUND"))
    runs.add((), 12345678)
    times.observe(("m", "Predict"), 18.0)
    times.observe(("m", "Predict"), 1234567.0)
    assert registry.page() == (
        "# TYPE :tensorflow:core:graph_runs counter\n"
        ":tensorflow:core:graph_runs{} 12345678\n"
        "# TYPE :tensorflow:serving:request_count counter\n"
        ':tensorflow:serving:request_count{model_name="a\\"b\\\\c",status="NOT_FOUND"} 1\n'
        ':tensorflow:serving:request_count{model_name="m",status="OK"} 2\n'
        "# TYPE :tensorflow:serving:request_latency histogram\n"
        ':tensorflow:serving:request_latency_bucket{model_name="m",API="Predict",le="10"} 0\n'
        ':tensorflow:serving:request_latency_bucket{model_name="m",API="Predict",le="18"} 1\n'
        ':tensorflow:serving:request_latency_bucket{model_name="m",API="Predict",le="104.976"} 1\n'
        ':tensorflow:serving:request_latency_bucket{model_name="m",API="Predict",le="188.957"} 1\n'
        ':tensorflow:serving:request_latency_bucket{model_name="m",API="Predict",le="+Inf"} 2\n'
        ':tensorflow:serving:request_latency_sum{model_name="m",API="Predict"} 1.23458e+06\n'
        ':tensorflow:serving:request_latency_count{model_name="m",API="Predict"} 2\n'
        "# TYPE :tensorflow:serving:untouched counter\n"
    )


def test_all_names_of_the_original_are_there_from_the_start() -> None:
    lines = ServerMetrics().page().splitlines()
    types = dict(line.split()[2:] for line in lines if line.startswith("# TYPE"))
    assert list(types) == sorted(types)
    serving, batching = ":tensorflow:serving:", ":tensorflow:serving:batching_session:"
    assert {name: kind for name, kind in types.items() if name.startswith(":")} == {
        f"{serving}request_count": "counter",
        f"{serving}request_latency": "histogram",
        f"{serving}runtime_latency": "histogram",
        f"{serving}request_example_counts": "histogram",
        f"{serving}request_example_count_total": "counter",
        f"{serving}request_log_count": "counter",
        f"{serving}model_warmup_latency": "histogram",
        f"{serving}model_warmup_records_read": "counter",
        f"{batching}queuing_latency": "histogram",
        f"{batching}wrapped_run_count": "counter",
        f"{batching}padding_size": "histogram",
        f"{batching}input_batch_size": "histogram",
        f"{batching}processed_batch_size": "histogram",
        ":tensorflow:cc:saved_model:load_attempt_count": "counter",
        ":tensorflow:cc:saved_model:load_latency": "counter",
        ":tensorflow:cc:saved_model:load_latency_by_stage": "histogram",
        ":tensorflow:core:graph_runs": "counter",
        ":tensorflow:core:graph_run_time_usecs": "counter",
        ":tensorflow:core:direct_session_runs": "counter",
    }


def test_a_request_is_counted_under_the_originals_names_and_ours() -> None:
    metrics = ServerMetrics()
    metrics.finished(answered(seconds=0.002, model_seconds=0.001))
    rest = Exchange(ModelAsked("m"), Call(REST, "predict"), 0.0, version=2, signature="s", seconds=0.02)
    metrics.finished(rest)
    metrics.finished(Exchange(ModelAsked("gone"), Call(GRPC, "Predict"), 0.0, code=5, error="Servable not found"))
    page = metrics.page()
    found = values(page)
    serving = ":tensorflow:serving:"
    assert found[f"{serving}request_count", ("m", "OK")] == 2
    assert found[f"{serving}request_count", ("gone", "NOT_FOUND")] == 1
    assert found[f"{serving}request_latency_sum", ("m", "Predict", "GRPC")] == 2000
    assert found[f"{serving}request_latency_count", ("m", "predict", "REST")] == 1
    assert found[f"{serving}runtime_latency_count", ("m", "Predict", "TF1")] == 2
    assert (f"{serving}request_latency_count", ("gone", "Predict", "GRPC")) not in found
    assert found["tensorkeep_request_seconds_sum", ("m", "1", "serving_default", "GRPC")] == 0.002
    assert found["tensorkeep_request_seconds_count", ("m", "2", "s", "REST")] == 1
    assert found["tensorkeep_failed_requests_total", ("gone", "", "", "GRPC", "NOT_FOUND")] == 1
    assert page.count(':request_latency_bucket{model_name="m",API="Predict",entrypoint="GRPC",le=') == 34
    for limit in ("10", "18", "32.4", "58.32", "104.976", "188.957"):
        assert f'API="Predict",entrypoint="GRPC",le="{limit}"}} 0\n' in page


def test_what_the_original_does_not_count_is_counted_under_our_names_only() -> None:
    metrics = ServerMetrics()
    metrics.finished(
        Exchange(ModelAsked("m"), Call(GRPC, "MultiInference"), 0.0, version=1, signature="s", rows=3, seconds=0.1)
    )
    found = values(metrics.page())
    assert (":tensorflow:serving:request_count", ("m", "OK")) not in found
    assert found["tensorkeep_request_seconds_count", ("m", "1", "s", "GRPC")] == 1
    assert found[":tensorflow:serving:request_example_count_total", ("m",)] == 3


def test_a_run_of_several_requests_is_counted() -> None:
    metrics = ServerMetrics()
    metrics.batched(BatchNote("m", 1, "batch_threads", 2, 3, 4, (0.001, 0.002), left=5))
    found = values(metrics.page())
    batching = ":tensorflow:serving:batching_session:"
    assert found[f"{batching}wrapped_run_count", ()] == 1
    assert found[f"{batching}queuing_latency_sum", ("",)] == 3000
    assert found[f"{batching}padding_size_sum", ("4",)] == 1
    assert found[f"{batching}input_batch_size_sum", ()] == 3
    assert found[f"{batching}processed_batch_size_sum", ()] == 4
    assert found["tensorkeep_batch_requests_sum", ("m", "1")] == 2
    assert found["tensorkeep_batch_queue_length", ("m", "1")] == 5


def test_loading_and_warming_up_are_counted() -> None:
    metrics = ServerMetrics()
    metrics.loaded("models/m/1", 0.5, has_failed=False, stages={"restore_graph": 0.25})
    metrics.loaded("models/m/2", 0.5, has_failed=True)
    metrics.warmed_up("models/m/1", 0.1, 7)
    found = values(metrics.page())
    assert found[":tensorflow:cc:saved_model:load_attempt_count", ("models/m/1", "success")] == 1
    assert found[":tensorflow:cc:saved_model:load_attempt_count", ("models/m/2", "fail")] == 1
    assert found[":tensorflow:cc:saved_model:load_latency", ("models/m/1",)] == 500_000
    assert found[":tensorflow:cc:saved_model:load_latency_by_stage_sum", ("models/m/1", "restore_graph")] == 250_000
    assert found[":tensorflow:serving:model_warmup_records_read", ("models/m/1", "OK")] == 7


def test_versions_and_memory_are_on_the_page() -> None:
    statuses = (VersionStatus(3, State.LOADING), VersionStatus(2, State.AVAILABLE), VersionStatus(1, State.END))
    found = values(ServerMetrics().page((ModelOverview("m", statuses),)))
    assert found["tensorkeep_versions_available", ("m",)] == 1
    assert found["tensorkeep_version_state", ("m", "3", "LOADING")] == 1
    assert not any("END" in labels for _, labels in found)
    if sys.platform == "linux":
        assert found["tensorkeep_process_resident_bytes", ("0",)] > 1 << 20


# ------------------------------------------------------------------------------------------ Several workers


def test_any_worker_gives_the_page_of_all(tmp_path: Path) -> None:
    files = counter_files(str(tmp_path), 3)
    first, second = ServerMetrics(0, files), ServerMetrics(1, files)
    first.finished(answered())
    second.finished(answered())
    second.finished(answered("other"))
    second.began("m")
    for metrics in (first, second):
        found = values(metrics.page())
        assert found[":tensorflow:serving:request_count", ("m", "OK")] == 2
        assert found[":tensorflow:serving:request_count", ("other", "OK")] == 1
        assert found[":tensorflow:serving:request_latency_sum", ("m", "Predict", "GRPC")] == 4000
        assert found["tensorkeep_requests_in_flight", ("m",)] == 1


def test_a_worker_that_takes_the_place_of_a_dead_one_goes_on_counting(tmp_path: Path) -> None:
    files = counter_files(str(tmp_path), 2)
    other = ServerMetrics(1, files)
    code = (
        "import os, sys; from tensorkeep.serving.traffic.metrics import *\n"
        f"metrics = ServerMetrics(0, {files!r})\n"
        "metrics.answered('m', 0, 'Predict', 'GRPC', 0.001); metrics.began('m'); os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert values(other.page())[":tensorflow:serving:request_count", ("m", "OK")] == 1
    again = ServerMetrics(0, files)
    again.answered("m", 0, "Predict", "GRPC", 0.001)
    found = values(other.page())
    assert found[":tensorflow:serving:request_count", ("m", "OK")] == 2
    assert found["tensorkeep_requests_in_flight", ("m",)] == 0


# ------------------------------------------------------------------------------------------ Bounds


def test_names_that_clients_make_up_do_not_fill_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    metrics = ServerMetrics()
    for number in range(2500):
        metrics.answered(f"made-up-{number}", 5, "Predict", "GRPC", 0.0)
    found = values(metrics.page())
    assert found[":tensorflow:serving:request_count", (OTHER, OTHER)] == 500
    assert len(caplog.records) == 1


def test_long_names_that_clients_make_up_leave_room_for_those_of_models() -> None:
    metrics = ServerMetrics()
    for number in range(20):
        metrics.answered(str(number) * (1 << 20), 5, "Predict", "GRPC", 0.0)
    metrics.answered("m", 0, "Predict", "GRPC", 0.5)
    metrics.warmed_up("/m/1", 0.5, 1, "an error " * 1000)
    found = values(metrics.page())
    assert found[":tensorflow:serving:request_count", (OTHER, OTHER)] == 20
    assert found[":tensorflow:serving:request_count", ("m", "OK")] == 1
    assert found[":tensorflow:serving:request_latency_count", ("m", "Predict", "GRPC")] == 1
    assert found[":tensorflow:serving:model_warmup_records_read", ("/m/1", ("an error " * 1000)[:200])] == 1


def test_times_are_counted_in_any_thread_when_there_are_too_many_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_MOST_SERIES", 2)
    metrics = ServerMetrics()

    def load() -> None:
        for number in range(4):
            metrics.warmed_up(f"/m/{number}", 0.5, 1)

    loading = Thread(target=load, daemon=True)
    loading.start()
    loading.join(5)
    assert not loading.is_alive(), "it waits for itself"
    counted = values(metrics.page())
    assert counted[":tensorflow:serving:model_warmup_latency_count", ("(other)", "(other)")] == 2


def test_counting_a_request_takes_microseconds_and_a_page_milliseconds() -> None:
    metrics = ServerMetrics()
    for number in range(250):  # four series each
        metrics.finished(answered(f"m{number}"))
    exchange = answered("m0")
    counting = min(_taken(lambda: [metrics.finished(exchange) for _ in range(1000)]) for _ in range(5)) / 1000
    page = min(_taken(metrics.page) for _ in range(5))
    assert counting < 30e-6  # 3 here; a busy machine may take longer
    assert page < 0.1  # 0.013 here


def _taken(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start
