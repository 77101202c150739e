"""The models of a server, as its options name them: which, how they are loaded, and what runs them.

A rehearsal says what a server would serve, without serving it: the models are loaded, warmed up, and unloaded again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Event, Thread
from typing import Any, Final
from weakref import WeakKeyDictionary

from tensorkeep.errors import NotFoundError, TensorKeepError, UnknownError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.machine.parallel import compute_with, thread_limit
from tensorkeep.proto.messages import Message, parse
from tensorkeep.proto.serving import BatchingParameters, ModelServerConfig
from tensorkeep.saved_model.files.layout import join
from tensorkeep.serving.batching.notes import BatchNotes
from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.batching.threads import BatchThreads
from tensorkeep.serving.inference.replaying import replay, same_answers
from tensorkeep.serving.inference.running import ThreadRunner
from tensorkeep.serving.life.configuration import PLATFORM, ModelSettings, read_configuration
from tensorkeep.serving.life.finding import content_of, find_versions
from tensorkeep.serving.life.lifecycle import Transition
from tensorkeep.serving.life.loading import LoadOptions, LoadReport, load_servable
from tensorkeep.serving.life.options import LifeOptions, ModelExtras
from tensorkeep.serving.life.served_models import ServedModels
from tensorkeep.serving.life.versions import Retries
from tensorkeep.serving.life.warming import WarmUp, WarmUpReport
from tensorkeep.serving.models import ModelOverview, State, VersionStatus
from tensorkeep.serving.process.options import Loading, ServerOptions
from tensorkeep.serving.process.security import check_certificates
from tensorkeep.serving.process.traffic import check_rules, limits_of, tell_absent
from tensorkeep.serving.servables import Runner, Servable
from tensorkeep.serving.statuses import OK
from tensorkeep.serving.traffic.limits import EVERY_MODEL, ModelLimits
from tensorkeep.serving.traffic.metrics import ServerMetrics

LOG: Final = logging.getLogger("tensorkeep.serving")
_BATCHING_FILE: Final = "batching_params.pbtxt"
_THREADS_EACH: Final = 2  # for each that may compute: one that waits for a lock or for memory leaves room for another

_EXPECTED: Final = "expected a folder with a numbered folder for each version (DIR/1, DIR/2), or a SavedModel"
_SOON: Final = 0.5  # seconds
_RESOURCES: Final = Transition.PRESERVE_RESOURCES

Wait = Callable[[Coroutine[Any, Any, Message]], Message]
_UNDECIDED: Final = (State.START, State.LOADING)
_TICK: Final = 0.05  # seconds


def config_of(options: ServerOptions, carried: bytes | None = None) -> ModelServerConfig:
    """Which models are served: what a call has put in force before, what a file says, or what the options name."""
    if carried is not None:
        return parse(ModelServerConfig, carried, "the configuration")
    if options.config_file:
        return read_configuration(ModelServerConfig, options.config_file)
    config = ModelServerConfig()
    for model in options.models:
        config.model_config_list.config.add(name=model.name, base_path=model.path, model_platform=PLATFORM)
    return config


def models_of(options: ServerOptions, make_runners: Runners, wait: Wait, metrics: ServerMetrics | None) -> ServedModels:
    """The models, without a configuration yet."""
    loading = options.loading
    life = LifeOptions(
        poll_seconds=loading.poll_seconds,
        retries=Retries(loading.retries, loading.retry_seconds),
        load_threads=loading.load_threads,
        allows_unavailable_labels=loading.labels_may_wait,
        config_file=options.config_file,
        config_poll_seconds=loading.config_poll_seconds,
    )
    load_options = LoadOptions(
        make_runner=make_runners.plain,
        tags=frozenset(loading.tags),
        mapped=True if options.workers > 1 else None,
        engine=loading.engine,
        warm_up=_warm_up_of(loading, wait, metrics),
    )
    if metrics is not None:
        load_options = replace(load_options, report=partial(_count_load, metrics))
    limits = limits_of(options)

    def load(name: str, version: int, directory: str, extras: ModelExtras) -> Servable:
        taken = sum(max(0, size) for _, size, _ in content_of(directory, FILES))
        limits.get(name, limits.get(EVERY_MODEL, ModelLimits())).require_memory(name, version, taken)
        made = replace(load_options, make_runner=lambda servable: make_runners.of(servable, directory))
        return load_servable(name, version, directory, made, extras)

    return ServedModels(load, life, extras=model_extras(loading))


def wait_for(models: ServedModels, options: ServerOptions) -> None:
    """Comes back when every model has a version that answers, or has none that ever will, and something can be served.

    Where all models must be there, as for the original, one that failed is an error, and one of which no version is
    found is waited for. Where not, it is an error if there is nothing to serve at all.
    """
    if not options.is_lenient:
        models.wait_until_ready(lenient=False)
        return
    with suppress(UnknownError):  # it is told below, in a line
        models.wait_until_ready(lenient=True)
    overviews = models.overview()
    if models.settings and not any(map(_is_served, overviews)):
        found = {model.name: model.versions for model in overviews}
        reasons = (_absence_of(settings, found.get(settings.name, ())) for settings in models.settings.values())
        raise NotFoundError("there is nothing to serve: " + "; ".join(reasons))


def _is_served(model: ModelOverview) -> bool:
    return any(status.state is State.AVAILABLE for status in model.versions)


def _absence_of(settings: ModelSettings, versions: Sequence[VersionStatus]) -> str:
    """Why there is no version of a model, in a line."""
    failed = [f"version {status.version}: {' '.join(status.message.split())}" for status in versions if status.message]
    if failed:
        return f'model "{settings.name}", {", ".join(failed)}'
    where = f'model "{settings.name}": "{settings.base_path}"'
    if not FILES.is_directory(settings.base_path):
        problem = "is a file" if FILES.exists(settings.base_path) else "does not exist"
        return f"{where} {problem}; {_EXPECTED}"
    try:
        remarks = " ".join(find_versions(settings, FILES).remarks)
    except TensorKeepError as error:
        return str(error)
    return f"{where} holds no version; {_EXPECTED}" if remarks else f"{where} holds none of the versions asked for"


def _count_load(metrics: ServerMetrics, report: LoadReport) -> None:
    metrics.loaded(report.directory, report.seconds, has_failed=report.code != OK)


def _count_warm_up(metrics: ServerMetrics, report: WarmUpReport) -> None:
    metrics.warmed_up(report.directory, report.seconds, report.records, report.error or "OK")


def _warm_up_of(loading: Loading, wait: Wait, metrics: ServerMetrics | None) -> WarmUp | None:
    if not (loading.warms_up or loading.validates):
        return None
    warm_up = WarmUp(replay, same_answers, loading.warm_up_iterations, wait)
    return warm_up if metrics is None else replace(warm_up, report=partial(_count_warm_up, metrics))


def model_extras(loading: Loading) -> dict[str, ModelExtras]:
    """What the options say of models that no configuration has words for, by name; under "" for all others."""
    common = ModelExtras(validate=loading.validates)
    allowed, deltas = dict(loading.allowed), dict(loading.deltas)
    found = {"": common}
    for name in {*allowed, *deltas, *loading.unloads_first}:
        transition = _RESOURCES if name in loading.unloads_first else common.transition
        found[name] = replace(
            common, allow=allowed.get(name, ()), delta_path=deltas.get(name, ""), transition=transition
        )
    return found


class Runners:
    """Makes what runs requests one by one."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_THREADS_EACH * thread_limit(), thread_name_prefix="tensorkeep-run")

    def plain(self, servable: Servable) -> Runner:
        """What runs each request by itself."""
        return ThreadRunner(servable, self._executor)

    def of(self, servable: Servable, directory: str) -> Runner:
        """What runs requests to a version that lies in a directory."""
        return self.plain(servable)

    def reread(self) -> None:
        """Looks again at the files that say how requests are run."""

    def close(self) -> bool:
        """Ends the threads. False if one of them still computes."""
        return _end_threads(self._executor)


def _end_threads(executor: ThreadPoolExecutor) -> bool:
    """Ends threads that have nothing to do any more; False if one of them still computes."""
    ending = Thread(target=executor.shutdown, kwargs={"cancel_futures": True}, daemon=True)
    ending.start()
    ending.join(_SOON)
    return not ending.is_alive()


class BatchRunners(Runners):
    """Makes what runs requests several at a time."""

    def __init__(self, options: ServerOptions, notes: BatchNotes | None = None) -> None:
        super().__init__()
        self._options = options.batching
        self._directories: WeakKeyDictionary[BatchingRunner, str] = WeakKeyDictionary()
        self._settings = self._read()
        self._notes = notes
        count, name = self._settings.num_batch_threads, self._settings.thread_pool_name
        each = options.threads or max(1, thread_limit() // count)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name, initializer=compute_with, initargs=(each,))
        self._threads = BatchThreads(count, name, pool=self._pool)

    def _read(self) -> BatchSettings:
        batching = self._options
        message = parse(BatchingParameters, batching.message, "the batching parameters")
        if batching.parameters_file:
            message = read_configuration(BatchingParameters, batching.parameters_file)
        return BatchSettings.of(message)

    def of(self, servable: Servable, directory: str) -> Runner:
        settings = self._settings_in(directory)
        if settings is None:
            return self.plain(servable)
        runner = BatchingRunner(servable, settings, self._threads, self._notes)
        self._directories[runner] = directory
        return runner

    def reread(self) -> None:
        settings = self._read()
        if settings.num_batch_threads != self._threads.count:
            LOG.warning("num_batch_threads is %s until the server is started again", self._threads.count)
        self._settings = settings
        for runner, directory in list(self._directories.items()):
            runner.change(self._settings_in(directory) or settings)

    def _settings_in(self, directory: str) -> BatchSettings | None:
        """The settings of a version: those in its own folder, where it may have some; None if it is not batched."""
        path = join(directory, _BATCHING_FILE)
        if self._options.by_model and FILES.exists(path):
            return BatchSettings.of(read_configuration(BatchingParameters, path))
        return None if self._options.needs_own else self._settings

    def close(self) -> bool:
        return all([_end_threads(self._pool), super().close()])


def wait_in(loop: asyncio.AbstractEventLoop) -> Wait:
    """What runs a coroutine to its end in an event loop, from a thread beside it."""

    def wait(work: Coroutine[Any, Any, Message]) -> Message:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    return wait


def rehearse(options: ServerOptions) -> Sequence[ModelOverview]:
    """All models with the versions that were found, and what became of them. Nothing listens meanwhile."""
    check_certificates(options.security)
    runners = Runners()
    models = models_of(replace(options, workers=1), runners, asyncio.run, None)
    models.configure(config_of(options))
    rules = check_rules(options, models.settings)
    models.start()
    try:
        with suppress(UnknownError):  # which is told of each version
            models.wait_until_ready(lenient=True)
        _wait_for_all(models)
        tell_absent(rules, models)
        return models.overview()
    finally:
        models.close()
        runners.close()


def _wait_for_all(models: ServedModels) -> None:
    """Comes back when no version is being loaded: a model is ready with one, and the others are to be told of too."""
    changed = Event()
    models.on_change(lambda name, status: changed.set())
    while any(status.state in _UNDECIDED for model in models.overview() for status in model.versions):
        changed.wait(_TICK)
        changed.clear()
