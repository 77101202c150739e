"""What is counted of requests, runs and models: the original's names, and ours.

The original's times are in microseconds, ours in seconds. Ours have the version, the signature and the protocol too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from tensorkeep.io.machine.resources import process_number, resident_memory
from tensorkeep.io.machine.shared_counters import CounterMemory, Numbers, read_counters
from tensorkeep.serving.batching.notes import BatchNote
from tensorkeep.serving.exchanges import Exchange
from tensorkeep.serving.models import REST, ModelOverview, State
from tensorkeep.serving.statuses import code_name
from tensorkeep.serving.traffic.registry import Family, Kind, Metric, Registry

_SERVING: Final = ":tensorflow:serving:"
_BATCHING: Final = f"{_SERVING}batching_session:"
_LOADING: Final = ":tensorflow:cc:saved_model:"
_CORE: Final = ":tensorflow:core:"
_MICROS: Final = 1e6
_MOST_TEXT: Final = 200  # letters of an error as the value of a label

_TIMES: Final = tuple(10 * 1.8**power for power in range(33))
_WAITS: Final = tuple(100 * 1.2**power for power in range(52))
_SIZES: Final = tuple(float(1 << power) for power in range(14))
_EXAMPLES: Final = tuple(float(1 << power) for power in range(15))
_SECONDS: Final = (
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
)  # fmt: skip

_UNCOUNTED: Final = frozenset(("MultiInference", "GetModelMetadata", "GetModelStatus"))  # by the original, over gRPC
_MODEL: Final = ("model",)
_VERSION: Final = ("model", "version")
_MOST_PLACES: Final = 1024
_IN_PLACE: Final = {"predict": "Predict", "classify": "Classify", "regress": "Regress"}

RESIDENT: Final = Metric("tensorkeep_process_resident_bytes", Kind.GAUGE, ("worker",))
AVAILABLE: Final = Metric("tensorkeep_versions_available", Kind.GAUGE, _MODEL)
STATE: Final = Metric("tensorkeep_version_state", Kind.GAUGE, (*_VERSION, "state"))


def counter_files(folder: str, workers: int) -> dict[int, str]:
    """The file that each worker of a server counts in, in a folder that is there."""
    return {worker: f"{folder}/worker-{worker}.counters" for worker in range(workers)}


_Asked: TypeAlias = tuple[str, int | None, str, str, str]
"""Of a request the model, the version and the signature that answered, the protocol and the method."""


class _Places(NamedTuple):
    """The slots of the counters that an answered request changes."""

    counters: tuple[int, ...]
    run_time: int
    latency: int | None
    """None for methods that the original does not count."""
    runtime: int
    seconds: int
    model_seconds: int


class ServerMetrics:
    """Counts what happens in a worker, and gives the page of all workers. To be used on the event loop."""

    def __init__(self, worker: int = 0, files: Mapping[int, str] | None = None) -> None:
        self._worker = worker
        self._files = dict(files or {})
        self._memory = CounterMemory(self._files.pop(worker, None))
        self._processes = {worker: process_number()}
        self._places: dict[_Asked, _Places] = {}
        self._registry = Registry(self._memory)
        self._declare_requests()
        self._declare_runs()
        self._declare_loading()
        self._declare_ours()

    # ------------------------------------------------------------------------------------------ What there is

    def _counter(self, name: str, *labels: str) -> Family:
        return self._registry.family(Metric(name, Kind.COUNTER, labels))

    def _gauge(self, name: str, *labels: str) -> Family:
        return self._registry.family(Metric(name, Kind.GAUGE, labels))

    def _histogram(self, name: str, limits: tuple[float, ...], *labels: str, is_short: bool = True) -> Family:
        return self._registry.family(Metric(name, Kind.HISTOGRAM, labels, limits, is_short))

    def _declare_requests(self) -> None:
        self._requests = self._counter(f"{_SERVING}request_count", "model_name", "status")
        self._latency = self._histogram(f"{_SERVING}request_latency", _TIMES, "model_name", "API", "entrypoint")
        self._runtime = self._histogram(f"{_SERVING}runtime_latency", _TIMES, "model_name", "API", "runtime")
        self._examples = self._histogram(f"{_SERVING}request_example_counts", _EXAMPLES, "model")
        self._example_total = self._counter(f"{_SERVING}request_example_count_total", "model")
        self._logs = self._counter(f"{_SERVING}request_log_count", "model_name", "status_code")

    def _declare_runs(self) -> None:
        self._batch_waits = self._histogram(f"{_BATCHING}queuing_latency", _WAITS, "thread_pool_name")
        self._batch_runs = self._counter(f"{_BATCHING}wrapped_run_count")
        self._batch_padding = self._histogram(f"{_BATCHING}padding_size", _SIZES, "execution_batch_size")
        self._batch_input = self._histogram(f"{_BATCHING}input_batch_size", _SIZES)
        self._batch_processed = self._histogram(f"{_BATCHING}processed_batch_size", _SIZES)
        self._graph_runs = self._counter(f"{_CORE}graph_runs")
        self._graph_time = self._counter(f"{_CORE}graph_run_time_usecs")
        self._session_runs = self._counter(f"{_CORE}direct_session_runs")

    def _declare_loading(self) -> None:
        self._warm_up = self._histogram(f"{_SERVING}model_warmup_latency", _TIMES, "model_path", "status")
        self._warm_up_records = self._counter(f"{_SERVING}model_warmup_records_read", "model_path", "status")
        self._loads = self._counter(f"{_LOADING}load_attempt_count", "model_path", "status")
        self._load_time = self._counter(f"{_LOADING}load_latency", "model_path")
        self._load_stages = self._histogram(f"{_LOADING}load_latency_by_stage", _TIMES, "model_path", "stage")

    def _declare_ours(self) -> None:
        by_signature = (*_VERSION, "signature", "protocol")
        self._seconds = self._histogram("tensorkeep_request_seconds", _SECONDS, *by_signature, is_short=False)
        self._model_seconds = self._histogram("tensorkeep_model_seconds", _SECONDS, *by_signature, is_short=False)
        self._failed = self._counter("tensorkeep_failed_requests_total", *by_signature, "status")
        self._running = self._gauge("tensorkeep_requests_in_flight", *_MODEL)
        self._waiting = self._gauge("tensorkeep_requests_waiting", *_MODEL)
        self._batch_queue = self._gauge("tensorkeep_batch_queue_length", *_VERSION)
        self._batch_rows = self._histogram("tensorkeep_batch_rows", _SIZES, *_VERSION, is_short=False)
        self._batch_requests = self._histogram("tensorkeep_batch_requests", _SIZES, *_VERSION, is_short=False)
        self._rejected = self._counter("tensorkeep_rejected_requests_total", *_MODEL, "reason")
        self._canaries = self._counter("tensorkeep_canary_requests_total", *_MODEL, "target")
        self._shadows = self._counter("tensorkeep_shadow_requests_total", *_MODEL, "target", "result")
        self._dropped_logs = self._counter("tensorkeep_dropped_logs_total", *_MODEL)

    # ------------------------------------------------------------------------------------------ What happens

    def finished(self, exchange: Exchange) -> None:
        """Counts a request for inference, answered or not."""
        asked, call = exchange.asked, exchange.call
        key = (asked.name, exchange.version, exchange.signature or asked.signature, call.protocol, call.method)
        if exchange.code:
            self._failed_request(key, exchange)
            return
        places = self._places.get(key) or self._places_of(key)
        seconds, model_seconds = exchange.seconds, exchange.model_seconds
        micros = model_seconds * _MICROS
        values = self._memory.values
        for place in places.counters:
            values[place] += 1.0
        values[places.run_time] += micros
        if places.latency is not None:
            self._latency.observe_at(places.latency, seconds * _MICROS)
        self._runtime.observe_at(places.runtime, micros)
        self._seconds.observe_at(places.seconds, seconds)
        self._model_seconds.observe_at(places.model_seconds, model_seconds)
        if call.method == "MultiInference":
            self._examples.observe((asked.name,), exchange.rows)
            self._example_total.add((asked.name,), exchange.rows)

    def _failed_request(self, key: _Asked, exchange: Exchange) -> None:
        name, version, signature, protocol, method = key
        if protocol == REST or method not in _UNCOUNTED:
            self.answered(name, exchange.code, method, protocol, exchange.seconds)
        told = "" if version is None else str(version)
        self._failed.add((name, told, signature, protocol, code_name(exchange.code)))

    def _places_of(self, key: _Asked) -> _Places:
        """Where the numbers of answered requests of a kind are, looked up once: every request counts nine of them."""
        name, version, signature, protocol, method = key
        is_counted = protocol == REST or method not in _UNCOUNTED
        labels = (name, "" if version is None else str(version), signature, protocol)
        counters = [self._graph_runs.slot(()), self._session_runs.slot(())]
        if is_counted:
            counters.append(self._requests.slot((name, code_name(0))))
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        found = self._places[key] = _Places(
            tuple(counters),
            self._graph_time.slot(()),
            self._latency.slot((name, method, protocol)) if is_counted else None,
            self._runtime.slot((name, _IN_PLACE.get(method, method), "TF1")),
            self._seconds.slot(labels),
            self._model_seconds.slot(labels),
        )
        return found

    def answered(self, model: str, code: int, method: str, protocol: str, seconds: float) -> None:
        """Counts any request as the original does; status and metadata over REST have the method ""."""
        self._requests.add((model, code_name(code)))
        if not code:
            self._latency.observe((model, method, protocol), seconds * _MICROS)

    def batched(self, note: BatchNote) -> None:
        """Counts a run of several requests."""
        self._batch_runs.add(())
        self._batch_input.observe((), note.rows)
        self._batch_processed.observe((), note.run_rows)
        self._batch_padding.observe((str(note.run_rows),), note.run_rows - note.rows)
        for wait in note.waits:
            self._batch_waits.observe(("",), wait * _MICROS)  # the original leaves the name of the threads empty
        labels = (note.model, str(note.version))
        self._batch_rows.observe(labels, note.rows)
        self._batch_requests.observe(labels, note.requests)
        self._batch_queue.put(labels, note.left)

    def loaded(self, path: str, seconds: float, *, has_failed: bool, stages: Mapping[str, float] | None = None) -> None:
        """Counts an attempt to load a version, and how long its stages took, such as "restore_graph"."""
        self._loads.add_anywhere((path, "fail" if has_failed else "success"))
        self._load_time.add_anywhere((path,), seconds * _MICROS)
        for stage, taken in (stages or {}).items():
            self._load_stages.observe_anywhere((path, stage), taken * _MICROS)

    def warmed_up(self, path: str, seconds: float, records: int, status: str = "OK") -> None:
        """Counts a warm-up of a version; the status is "OK" or the text of the error, or how it begins."""
        status = status[:_MOST_TEXT]
        self._warm_up.observe_anywhere((path, status), seconds * _MICROS)
        self._warm_up_records.add_anywhere((path, status), records)

    def began(self, model: str) -> None:
        """A request begins to be answered."""
        self._running.add((model,))

    def ended(self, model: str) -> None:
        """A request has ended."""
        self._running.add((model,), -1.0)

    def waits(self, model: str, count: int) -> None:
        """So many requests wait for others of their model to end."""
        self._waiting.put((model,), count)

    def rejected(self, model: str, reason: str) -> None:
        """Counts a request that was refused at once: "queue" or "deadline"."""
        self._rejected.add((model, reason))

    def redirected(self, model: str, target: str) -> None:
        """Counts a request that went to a canary."""
        self._canaries.add((model, target))

    def shadowed(self, model: str, target: str, result: str) -> None:
        """Counts a copy of a request: "same", "different", "failed" or "dropped"."""
        self._shadows.add((model, target, result))

    def logged(self, model: str, code: int) -> None:
        """Counts a request that was written to a log, or was to be. In any thread."""
        self._logs.add_anywhere((model, code_name(code)))

    def not_logged(self, model: str) -> None:
        """Counts a request that was to be logged while too many others were."""
        self._dropped_logs.add((model,))

    # ------------------------------------------------------------------------------------------ The page

    def page(self, overview: tuple[ModelOverview, ...] = ()) -> str:
        """Everything that all workers have counted, in Prometheus' text format."""
        states: dict[tuple[str, ...], float] = {
            (model.name, str(status.version), status.state.name): 1.0
            for model in overview
            for status in model.versions
            if status.state is not State.END
        }
        available: dict[tuple[str, ...], float] = {
            (model.name,): float(sum(status.state is State.AVAILABLE for status in model.versions))
            for model in overview
        }
        others = self._other_workers()
        return self._registry.page(others, {RESIDENT: self._resident(), AVAILABLE: available, STATE: states})

    def _other_workers(self) -> list[Mapping[bytes, Numbers]]:
        counted: list[Mapping[bytes, Numbers]] = []
        for worker, path in self._files.items():
            self._processes[worker], numbers = read_counters(path)
            counted.append(numbers)
        return counted

    def _resident(self) -> dict[tuple[str, ...], float]:
        sizes = {(str(worker),): resident_memory(process) for worker, process in self._processes.items() if process}
        return {labels: float(size) for labels, size in sizes.items() if size}

    def close(self) -> None:
        """Nothing is counted any more; what was counted stays for the other workers' pages."""
        self._memory.close()
